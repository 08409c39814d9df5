// Trying settings one after the other.
//
//   1. as given, then every setting of the list at the given step H, `auto` first: the run, then its companions. Companion B
//      is the same for all that do not use its method, so it is run once. With B the band is at least 1.2 x, x the
//      difference between run and B: what is 1.5 times worse than the best by that alone needs no companion A.
//   2. if none is trustworthy, the two best with steps H/2, H/4, H/8, until one is
//   3. if all are, the chosen one with 2 H
//
// A file that is left to `auto` gets smaller steps before the list: what the list has is rarely better at the same step
// (docs/couple_auto.md).
//
// Cost is counted in calls of units, so that the outcome does not depend on the machine.
#include "study/study_advise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_hash.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "master/master_run.h"

#define N_REFINED    2  // settings that get smaller steps
#define MAX_DIVISOR  8
#define ITERATIONS   4.0  // of iterative schemes, as long as none was seen
#define REFINED_COST 6.0  // runs that a setting with half the step needs: itself 2, companion A 4
// planned before anything is run, as a multiple of a run: with companions A (2) and B (8, or 4 at the same step)
#define GIVEN_COST 11.0
#define AUTO_COST  7.0

const char* const yoke__advised_status_names[] = {"left out", "refused",  "judged", "bounded",
                                                  "same",     "diverges", "failed"};

typedef struct advisor {
  const yoke_advise_settings* settings;
  yoke_advice* advice;
  const yoke_sink* sink;
  yoke_companion_store* store;
  yoke_companion_unit* units;  // of the given system
  yoke_system* given;
  bool is_left_to_auto;  // the given system is
  double given_calls;    // of units, by the given run
  double iterations;     // seen in the last run of an iterative scheme
  double spent;          // calls of units
  double budget;         // the same; infinite: none
  int64_t start_ns;
  yoke_status shortage;  // while a setting was looked at; YOKE_OK: none
} advisor;

// ---- systems

const char** yoke__advise_sets(const yoke_advise_settings* settings, const yoke_advised* setting,
                               yoke_arena* arena, size_t* n) {
  const char** all = yoke__arena_array(arena, settings->n_sets + setting->n_sets + 1, sizeof *all);
  *n = 0;
  for (size_t i = 0; all != NULL && i < settings->n_sets; i++) {
    const size_t n_path = strcspn(settings->sets[i], "=") + 1;
    bool is_replaced = false;
    for (size_t k = 0; k < setting->n_sets; k++) {
      is_replaced = is_replaced || strncmp(settings->sets[i], setting->sets[k], n_path) == 0;
    }
    if (!is_replaced) {
      all[(*n)++] = settings->sets[i];
    }
  }
  for (size_t i = 0; all != NULL && i < setting->n_sets; i++) {
    all[(*n)++] = setting->sets[i];
  }
  return all;
}

// As `yoke run` reads and builds it.
static yoke_status build(const advisor* a, const char* const sets[], size_t n_sets,
                         yoke_messages* messages, yoke_system** out) {
  const yoke_advised setting = {.sets = sets, .n_sets = n_sets};
  yoke_arena arena = {0};
  yoke_scenario* scenario = NULL;
  size_t n = 0;
  *out = NULL;
  const char** all = yoke__advise_sets(a->settings, &setting, &arena, &n);
  yoke_status status =
      all == NULL ? YOKE_NO_MEMORY
                  : yoke__scenario_read_file(a->settings->path, all, n, messages, &scenario);
  status = status < 0 ? status : yoke__master_build(scenario, NULL, messages, out);
  yoke__arena_free(&arena);
  return status;
}

// A shortage is not the answer no: it ends the search.
static bool accepts(void* to, const char* const sets[], size_t n) {
  advisor* a = to;
  yoke_messages messages = {0};
  yoke_system* system = NULL;
  const yoke_status status = build(a, sets, n, &messages, &system);
  if (yoke__status_is_shortage(status)) {
    a->shortage = status;
  }
  const bool is_accepted = status >= 0 && messages.n_errors == 0;
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  return is_accepted;
}

static bool goes_on(void* to) {
  const advisor* a = to;
  return a->settings->goes_on == NULL || a->settings->goes_on(a->settings->to);
}

// ---- budget

static double elapsed_s(const advisor* a) {
  return (double)(yoke__os_now_ns() - a->start_ns) * 1e-9;
}

// Whether so many calls fit in.
static bool can_afford(const advisor* a, double calls) {
  if (a->spent + calls > a->budget * (1 + 1e-12)) {
    return false;
  }
  const double s_per_call = a->spent > 0 ? elapsed_s(a) / a->spent : 0;
  return a->settings->budget_s <= 0 || elapsed_s(a) + calls * s_per_call <= a->settings->budget_s;
}

static bool has_default_budget(const advisor* a) {
  return a->settings->budget <= 0 && a->settings->budget_s <= 0;
}

// ---- one setting

typedef struct trial {
  advisor* a;
  yoke_advised* setting;
  yoke_system* system;
  yoke_state* state;
  yoke_trust* trust;
  double reserve;    // calls that are to be left over
  bool is_flexible;  // fewer companions are better than none
  bool is_auto;      // by the default budget it comes on top
} trial;

static void note(yoke_advised* setting, yoke_advised_status status, const char* reason) {
  setting->status = status;
  snprintf(setting->reason, sizeof setting->reason, "%.300s", reason);
}

static void leave_out(trial* t) {
  note(t->setting, YOKE_ADVISED_LEFT_OUT, "");
  t->a->advice->is_exhausted = true;
}

// Error of a signal over what is allowed.
static double excess(const yoke_trust_signal* s) {
  const double x = isnan(s->limits.absolute) ? s->band.relative / s->limits.limit
                                             : s->band.band_max / s->limits.absolute;
  return s->rule == YOKE_RULE_DIVERGED || isnan(x) ? (double)INFINITY
                                                   : fmax(x, yoke__trust_loss(s));
}

// The worst wanted signal. YOKE_NOT_FOUND: none moves.
static size_t find_worst(const yoke_trust* trust, double* score) {
  size_t worst = YOKE_NOT_FOUND;
  *score = 0;
  for (size_t i = 0; i < trust->n_signals; i++) {
    const yoke_trust_signal* s = &trust->signals[i];
    if (s->is_wanted && s->rule != YOKE_RULE_AT_REST &&
        (worst == YOKE_NOT_FOUND || excess(s) > *score)) {
      worst = i;
      *score = excess(s);
    }
  }
  return worst;
}

static yoke_status take_verdict(trial* t, yoke_advised_status status) {
  const yoke_trust* trust = t->trust;
  yoke_advised* setting = t->setting;
  const size_t worst = find_worst(trust, &setting->score);
  setting->verdict = trust->run.verdict;
  note(setting, status, trust->run.reason == NULL ? "" : trust->run.reason);
  if (worst == YOKE_NOT_FOUND) {
    return YOKE_OK;
  }
  const yoke_trust_signal* s = &trust->signals[worst];
  setting->signal = yoke__arena_text(&t->a->advice->arena, s->name, strlen(s->name));
  setting->dim = yoke__arena_text(&t->a->advice->arena, s->dim, strlen(s->dim));
  setting->band = s->band.band;
  setting->band_max = s->band.band_max;
  setting->relative = s->band.relative;
  setting->is_lossy = yoke__trust_loss(s) > 1;
  if (s->rule == YOKE_RULE_DIVERGED) {
    note(setting, YOKE_ADVISED_DIVERGES, s->reason);
  }
  return setting->signal == NULL || setting->dim == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// The setting before it whose run has the same bits; its own index if there is none.
static size_t find_same(const trial* t) {
  const yoke_advice* advice = t->a->advice;
  size_t i = 0;
  while (&advice->all[i] != t->setting &&
         !(advice->all[i].hash == t->setting->hash && advice->all[i].step == t->setting->step &&
           advice->all[i].status >= YOKE_ADVISED_JUDGED &&
           advice->all[i].status != YOKE_ADVISED_FAILED)) {
    i++;
  }
  return i;
}

static uint64_t hash_samples(const yoke_state* state, const yoke_system* system) {
  const yoke_trace* trace = state->watch.trace;
  uint64_t hash = YOKE_HASH_START;
  if (trace != NULL) {
    hash = yoke__hash_bytes(hash, trace->values, (size_t)trace->n_kept * trace->n * sizeof(double));
  }
  return yoke__hash_bytes(hash, state->y, system->n_y * sizeof(double));
}

static double best_score(const yoke_advice* advice) {
  double best = (double)INFINITY;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    best = s->status == YOKE_ADVISED_JUDGED && s->score < best ? s->score : best;
  }
  return best;
}

// Companion B is known: is that enough to drop the setting?
static bool is_dropped(trial* t) {
  if (yoke__trust_bound(t->trust) < 0) {
    return false;
  }
  double score = 0;
  const size_t worst = find_worst(t->trust, &score);
  // who looks for the cheapest setting wants all that may be good enough
  if (worst == YOKE_NOT_FOUND || !(score > YOKE_ADVISE_NEAR * best_score(t->a->advice)) ||
      score <= t->a->settings->keep) {
    return false;
  }
  return take_verdict(t, YOKE_ADVISED_BOUNDED) >= 0;
}

// Calls of units that the companions will make.
static double companion_calls(const trial* t) {
  return yoke__trust_cost(t->trust, YOKE_COMPANION_A) +
         yoke__trust_cost(t->trust, YOKE_COMPANION_B);
}

static bool is_given(const trial* t) {
  return t->setting == t->a->advice->all;
}

// Whether so many calls of this setting fit in, or may come on top.
static bool fits(const trial* t, double calls) {
  const advisor* a = t->a;
  return is_given(t) || can_afford(a, calls + t->reserve) ||
         (t->is_auto && has_default_budget(a) && calls <= YOKE_ADVISE_AUTO * a->given_calls);
}

static yoke_status judge(trial* t, yoke_status status, double cpu_s) {
  advisor* a = t->a;
  // iterations make every call several
  const double each = t->setting->cost * a->given_calls / (double)yoke__companion_calls(t->system);
  if (!fits(t, each * companion_calls(t))) {
    leave_out(t);
    return YOKE_OK;
  }
  YOKE_TRY(yoke__trust_finish(t->trust, status, cpu_s, goes_on, a));
  YOKE_TRY(yoke__trust_shortage(t->trust));
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    a->spent += (double)t->trust->companions[i].n_calls_made;
  }
  a->advice->is_over = a->advice->is_over || (is_given(t) && !can_afford(a, 0));
  return take_verdict(t, YOKE_ADVISED_JUDGED);
}

static bool is_iterative(const trial* t) {
  return t->system->scenario->scheme == YOKE_ITERATIVE_JACOBI ||
         t->system->scenario->scheme == YOKE_ITERATIVE_GAUSS_SEIDEL;
}

// The run has ended.
static yoke_status assess(trial* t, const yoke_loop_info* info, yoke_status status, double cpu_s) {
  advisor* a = t->a;
  yoke_advised* setting = t->setting;
  const double calls = (double)yoke__companion_calls_made(t->system, t->state);
  a->spent += calls;
  if (is_given(t)) {
    // a run that ended early is not the measure of cost
    const double planned = (double)yoke__companion_calls(t->system);
    a->given_calls = status < 0 || calls < planned ? planned : calls;
    a->budget =
        a->settings->budget > 0 || a->settings->budget_s <= 0
            ? a->given_calls * (a->settings->budget > 0 ? a->settings->budget : YOKE_ADVISE_BUDGET)
            : (double)INFINITY;
  }
  setting->cost = calls / a->given_calls;
  if (is_iterative(t) && status >= 0) {
    a->iterations = calls / (double)yoke__companion_calls(t->system);
  }
  if (status == YOKE_NOT_FINITE || status == YOKE_DIVERGED) {
    note(setting, YOKE_ADVISED_DIVERGES, "a value became NaN or infinite");
    return YOKE_OK;
  }
  if (status < 0 || status == YOKE_STOPPED) {
    const char* why = info->failure.message.text;
    note(setting, YOKE_ADVISED_FAILED, why == NULL ? yoke_status_text(status) : why);
    return YOKE_OK;
  }
  setting->hash = hash_samples(t->state, t->system);
  const size_t same = find_same(t);
  if (&a->advice->all[same] != setting) {
    note(setting, YOKE_ADVISED_SAME, a->advice->all[same].name);
    return YOKE_OK;
  }
  return !is_given(t) && is_dropped(t) ? YOKE_OK : judge(t, status, cpu_s);
}

// Starts with the most companions that the budget leaves: B, the B that is known already, or A alone. False: left out.
static yoke_status begin(trial* t, bool* is_left_out) {
  static const yoke_trust_mode modes[] = {YOKE_TRUST_BOTH, YOKE_TRUST_CHEAP, YOKE_TRUST_HALF};
  const double each = is_iterative(t) ? t->a->iterations : 1;
  const double calls = each * (double)yoke__companion_calls(t->system);
  *is_left_out = false;
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    t->setting->mode = modes[i];
    YOKE_TRY(
        yoke__trust_begin_stored(t->system, t->state, t->setting->mode, t->a->store, &t->trust));
    const double all = calls + (t->is_flexible ? each * companion_calls(t) : 0);
    if (fits(t, all)) {
      return YOKE_OK;
    }
    yoke__trust_destroy(&t->trust);
    if (!t->is_flexible) {
      break;
    }
  }
  *is_left_out = true;
  leave_out(t);
  return YOKE_OK;
}

// Macro steps to the end. How many iterations a scheme makes is not known before: one that has used up a third of what is left
// could not pay for companion A, which costs twice as much.
static yoke_status go(trial* t, yoke_loop_info* info, bool* is_too_dear) {
  const yoke_loop_settings loop = {.progress = goes_on, .to = t->a};
  if (!is_iterative(t) || is_given(t)) {
    return yoke__master_loop(t->system, t->state, &loop, info);
  }
  yoke_status status = YOKE_OK;
  while (status == YOKE_OK && t->state->n_slots < t->system->n_slots) {
    if (!goes_on(t->a)) {
      return YOKE_INTERRUPTED;
    }
    if (!fits(t, 3 * (double)yoke__companion_calls_made(t->system, t->state))) {
      *is_too_dear = true;
      return YOKE_OK;
    }
    status = yoke__master_timed_step(t->system, t->state, info);
  }
  if (status < 0) {
    yoke__failure_copy(&info->failure, &t->state->failure);
  }
  return status;
}

static yoke_status run(trial* t) {
  advisor* a = t->a;
  bool is_left_out = false;
  YOKE_TRY(begin(t, &is_left_out));
  if (is_left_out) {
    return YOKE_OK;
  }
  yoke_loop_info* info = calloc(1, sizeof *info);
  YOKE_TRY_MEMORY(info);
  bool is_too_dear = false;
  const int64_t cpu_ns = yoke__os_cpu_ns();
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = go(t, info, &is_too_dear);
  yoke__os_float_mode_restore(mode);
  const double cpu_s = (double)(yoke__os_cpu_ns() - cpu_ns) * 1e-9;
  if (is_too_dear) {
    a->spent += (double)yoke__companion_calls_made(t->system, t->state);
    leave_out(t);
    status = YOKE_OK;
  } else if (status != YOKE_INTERRUPTED && !yoke__status_is_shortage(status)) {
    status = assess(t, info, status, cpu_s);
  }
  free(info);
  return status;
}

// The first error, for a setting that cannot be started.
static const char* first_error(const yoke_messages* messages, yoke_status status) {
  for (size_t i = 0; i < messages->n; i++) {
    if (messages->all[i].severity == YOKE_ERROR && messages->all[i].text != NULL) {
      return messages->all[i].text;
    }
  }
  return yoke_status_text(status);
}

// `yoke run` tries how long the calls of an FMU take and may make fewer, the search does not: its number of calls goes into the
// command. n_sets is unchanged where there is none.
static yoke_status pin_calls(trial* t) {
  yoke_advised* setting = t->setting;
  yoke_arena* arena = &t->a->advice->arena;
  const size_t n_most = setting->n_sets + t->system->n_units;
  const char** sets = yoke__arena_array(arena, n_most + 1, sizeof *sets);
  size_t n = setting->n_sets;
  YOKE_TRY_MEMORY(sets);
  memcpy(sets, setting->sets, n * sizeof *sets);
  for (size_t i = 0; i < t->system->n_units; i++) {
    const yoke_system_unit* unit = &t->system->units[i];
    if (unit->source->kind == YOKE_KIND_FMU && unit->is_paced) {
      char line[512];
      snprintf(line, sizeof line, "units.%.400s.calls=%" PRId64, unit->name, unit->n_calls);
      sets[n++] = yoke__arena_text(arena, line, strlen(line));
    }
  }
  setting->sets = sets;
  setting->n_sets = n;
  return yoke__arena_status(arena);
}

// As its command will say it. Where that names calls, it is built again with them.
static yoke_status build_setting(trial* t, yoke_messages* messages) {
  yoke_advised* setting = t->setting;
  const size_t n = setting->n_sets;
  YOKE_TRY(build(t->a, setting->sets, n, messages, &t->system));
  if (is_given(t)) {
    return YOKE_OK;
  }
  YOKE_TRY(pin_calls(t));
  if (setting->n_sets == n) {
    return YOKE_OK;
  }
  yoke__system_destroy(&t->system);
  return build(t->a, setting->sets, setting->n_sets, messages, &t->system);
}

// is_scaled: its steps are not the given ones.
static yoke_status try_setting(advisor* a, yoke_advised* setting, double reserve, bool is_scaled) {
  yoke_messages messages = {0};
  const bool is_auto = yoke__advise_is_auto(setting->recipe) && !is_scaled;
  trial t = {.a = a,
             .setting = setting,
             .reserve = reserve,
             .is_flexible = is_scaled || is_auto,
             .is_auto = is_auto};
  yoke_status status = build_setting(&t, &messages);
  status = status < 0 ? status : yoke__master_create(t.system, &messages, &t.state);
  if (status >= 0) {
    setting->step = t.system->scenario->step.value;
    status = run(&t);
  } else if (!yoke__status_is_shortage(status)) {
    note(setting, YOKE_ADVISED_REFUSED, first_error(&messages, status));
    status = YOKE_OK;
  }
  yoke__trust_destroy(&t.trust);
  if (t.state != NULL) {
    yoke__master_destroy(t.system, &t.state);
  }
  yoke__system_destroy(&t.system);
  yoke__messages_free(&messages);
  return status < 0 ? status : yoke__companion_store_status(a->store);
}

// ---- the list

static yoke_advise_list list_of(advisor* a) {
  return (yoke_advise_list){&a->advice->arena, a->settings, a->given, a->units, accepts, a};
}

// A place for one more setting; NULL: there is none.
static yoke_advised* add_setting(advisor* a, const yoke_advised* setting) {
  yoke_advice* advice = a->advice;
  if (advice->n == advice->n_room) {
    return NULL;
  }
  advice->all[advice->n] = *setting;
  return &advice->all[advice->n++];
}

// by: what the steps are divided by; a setting with other steps than the given ones takes the companions it can get.
static yoke_status try_one(advisor* a, size_t recipe, int by, double reserve, yoke_advised** out) {
  const yoke_advise_list list = list_of(a);
  yoke_advised made;
  *out = NULL;
  if (!goes_on(a)) {
    return YOKE_INTERRUPTED;
  }
  const bool is_made = yoke__advise_make(&list, recipe, by, &made);
  YOKE_TRY(a->shortage);
  YOKE_TRY(yoke__arena_status(&a->advice->arena));
  if (!is_made) {
    return YOKE_OK;
  }
  *out = add_setting(a, &made);
  if (*out == NULL) {
    return YOKE_OK;
  }
  if (a->settings->progress != NULL) {
    a->settings->progress(a->settings->to, a->advice->n, yoke__advise_n_recipes(), made.name);
  }
  return try_setting(a, *out, reserve, by != 1);
}

static bool is_trustworthy(const yoke_advised* s) {
  return s->status == YOKE_ADVISED_JUDGED && s->verdict == YOKE_TRUSTWORTHY;
}

static bool has_trustworthy(const yoke_advice* advice) {
  for (size_t i = 0; i < advice->n; i++) {
    if (is_trustworthy(&advice->all[i])) {
      return true;
    }
  }
  return false;
}

static yoke_status try_list(advisor* a) {
  for (size_t i = 1; i < yoke__advise_n_recipes(); i++) {
    yoke_advised* one = NULL;
    // while nothing is good enough, half the step must still be affordable, unless it was tried before
    const bool is_saved = !has_trustworthy(a->advice) && !a->is_left_to_auto;
    const double reserve = is_saved ? REFINED_COST * a->given_calls : 0, before = a->spent;
    YOKE_TRY(try_one(a, i, 1, reserve, &one));
    if (yoke__advise_is_auto(i) && has_default_budget(a) && !can_afford(a, reserve)) {
      a->budget += a->spent - before;
    }
  }
  return YOKE_OK;
}

// ---- smaller and larger steps

// The settings at the given step that are best, or would be if they did not diverge.
static size_t pick_best(const advisor* a, size_t to[N_REFINED]) {
  const yoke_advice* advice = a->advice;
  size_t n = 0;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    const bool is_refined = a->is_left_to_auto && s->recipe == 0;
    if ((s->status != YOKE_ADVISED_JUDGED && s->status != YOKE_ADVISED_DIVERGES) || is_refined) {
      continue;
    }
    size_t at = n;
    while (at > 0 && s->score < advice->all[to[at - 1]].score) {
      at--;
    }
    if (at < N_REFINED) {
      for (size_t k = n < N_REFINED ? n : N_REFINED - 1; k > at; k--) {
        to[k] = to[k - 1];
      }
      to[at] = i;
      n += n < N_REFINED;
    }
  }
  return n;
}

// Half the step, and half of that, for n settings, until one is trustworthy.
static yoke_status refine(advisor* a, const size_t recipes[], size_t n) {
  bool is_out[N_REFINED] = {false};
  for (int by = 2; by <= MAX_DIVISOR; by *= 2) {
    for (size_t i = 0; i < n; i++) {
      yoke_advised* one = NULL;
      if (!is_out[i]) {
        YOKE_TRY(try_one(a, recipes[i], by, 0, &one));
      }
      if (one != NULL && is_trustworthy(one)) {
        return YOKE_OK;
      }
      // smaller steps cost more still
      is_out[i] = is_out[i] || (one != NULL && one->status == YOKE_ADVISED_LEFT_OUT);
    }
  }
  return YOKE_OK;
}

static yoke_status refine_best(advisor* a) {
  size_t best[N_REFINED], recipes[N_REFINED];
  const size_t n = pick_best(a, best);
  for (size_t i = 0; i < n; i++) {
    recipes[i] = a->advice->all[best[i]].recipe;
  }
  return refine(a, recipes, n);
}

// ---- choice

static void rank(yoke_advice* advice) {
  advice->n_ranked = 0;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    if (s->status != YOKE_ADVISED_JUDGED && s->status != YOKE_ADVISED_BOUNDED) {
      continue;
    }
    size_t at = advice->n_ranked++;
    for (; at > 0 && s->score < advice->all[advice->ranked[at - 1]].score; at--) {
      advice->ranked[at] = advice->ranked[at - 1];
    }
    advice->ranked[at] = i;
  }
}

static bool is_cheaper(const yoke_advised* a, const yoke_advised* b) {
  const double nearly = 1e-12 * b->cost;
  return a->cost < b->cost - nearly || (a->cost <= b->cost + nearly && a->score < b->score);
}

// The cheapest of those that are about as good as the best; only trustworthy ones if there are any.
static size_t choose(const yoke_advice* advice) {
  const bool is_strict = has_trustworthy(advice);
  double best = (double)INFINITY;
  size_t chosen = YOKE_NOT_FOUND;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    if (s->status == YOKE_ADVISED_JUDGED && (!is_strict || is_trustworthy(s)) && s->score < best) {
      best = s->score;
    }
  }
  for (size_t i = 0; i < advice->n && isfinite(best); i++) {
    const yoke_advised* s = &advice->all[i];
    if (s->status == YOKE_ADVISED_JUDGED && (!is_strict || is_trustworthy(s)) &&
        s->score <= YOKE_ADVISE_NEAR * best &&
        (chosen == YOKE_NOT_FOUND || is_cheaper(s, &advice->all[chosen]))) {
      chosen = i;
    }
  }
  return chosen;
}

size_t yoke__advise_cheapest(const yoke_advice* advice) {
  size_t chosen = YOKE_NOT_FOUND;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    if (is_trustworthy(s) && (chosen == YOKE_NOT_FOUND || is_cheaper(s, &advice->all[chosen]))) {
      chosen = i;
    }
  }
  for (size_t i = 0; chosen == YOKE_NOT_FOUND && i < advice->n_ranked; i++) {
    if (advice->all[advice->ranked[i]].status == YOKE_ADVISED_JUDGED &&
        isfinite(advice->all[advice->ranked[i]].score)) {
      return advice->ranked[i];
    }
  }
  return chosen;
}

// "0.0017 m (rms 7.7 % of its movement)"
static void describe_band(const yoke_advised* s, char* to, size_t size) {
  char error[YOKE_NUMBER_SIZE], share[YOKE_NUMBER_SIZE];
  snprintf(to, size, "%s %s%s%s (rms %s %% of its movement)", s->signal,
           yoke__number_brief(s->band_max, error), s->dim[0] == '\0' ? "" : " ", s->dim,
           yoke__number_brief(100 * s->relative, share));
}

static void decide(yoke_advice* advice) {
  char band[256], before[256];
  rank(advice);
  advice->chosen = choose(advice);
  if (advice->chosen == YOKE_NOT_FOUND) {
    snprintf(advice->text, sizeof advice->text,
             "no setting is usable: every one tried diverges or fails");
    return;
  }
  const yoke_advised *given = &advice->all[0], *s = &advice->all[advice->chosen];
  if (s->signal == NULL) {
    advice->chosen = 0;
    snprintf(advice->text, sizeof advice->text, "nothing moves: there is nothing to judge");
    return;
  }
  describe_band(s, band, sizeof band);
  const bool is_known = given->status == YOKE_ADVISED_JUDGED && isfinite(given->score);
  if (is_known && !(given->score >= YOKE_ADVISE_NEAR * s->score)) {
    advice->chosen = 0;
    describe_band(&advice->all[advice->ranked[0]], band, sizeof band);
    const bool is_lost = given->is_lossy;
    snprintf(advice->text, sizeof advice->text,
             "no setting tried is better by a factor of %g; %s%s", YOKE_ADVISE_NEAR,
             is_lost ? "" : "the smallest band is ", is_lost ? given->reason : band);
    return;
  }
  if (is_known) {
    describe_band(given, before, sizeof before);
    snprintf(advice->text, sizeof advice->text, "%s: %s, error up to %s instead of %s", s->name,
             yoke_verdict_text(s->verdict), band, before);
  } else {
    snprintf(advice->text, sizeof advice->text, "%s: %s, error up to %s; as given it %s", s->name,
             yoke_verdict_text(s->verdict), band,
             given->status == YOKE_ADVISED_FAILED ? "fails" : "diverges");
  }
}

// ---- all

// Reads the system, with all messages; nothing is run.
static yoke_status open_system(advisor* a) {
  yoke_messages messages = {0};
  const yoke_status status = build(a, NULL, 0, &messages, &a->given);
  yoke__messages_send(&messages, a->sink);
  yoke__messages_free(&messages);
  YOKE_TRY(status);
  if (a->given->n_judged == 0 || a->given->n_links == 0) {
    return yoke_fail(a->sink, YOKE_BAD_INPUT,
                     "%s has no connection of real numbers between units: there is nothing to "
                     "advise",
                     a->settings->path);
  }
  for (size_t i = 0; i < a->given->n_units; i++) {
    const yoke_system_unit* unit = &a->given->units[i];
    if ((unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
      return yoke_fail(a->sink, YOKE_BAD_INPUT,
                       "unit '%s' is a real machine and is not run repeatedly to search settings; "
                       "`port: none` puts its model in its place",
                       unit->name);
    }
  }
  yoke_advice* advice = a->advice;
  advice->n_room = 4 * yoke__advise_n_recipes();
  advice->all = yoke__arena_array(&advice->arena, advice->n_room, sizeof *advice->all);
  advice->ranked = yoke__arena_array(&advice->arena, advice->n_room, sizeof *advice->ranked);
  a->units = yoke__arena_array(&advice->arena, a->given->n_units + 1, sizeof *a->units);
  YOKE_TRY(yoke__arena_status(&advice->arena));
  yoke__trust_units(a->given, a->units);
  const yoke_advise_list list = list_of(a);
  a->is_left_to_auto = yoke__advise_has_auto(&list);
  return yoke__arena_status(&advice->arena);
}

static yoke_status try_all(advisor* a) {
  yoke_advised* given = NULL;
  YOKE_TRY(try_one(a, 0, 1, 0, &given));
  if (given == NULL || given->status == YOKE_ADVISED_REFUSED) {
    return yoke_fail(a->sink, YOKE_BAD_INPUT, "the system cannot be started: %s",
                     given == NULL ? "no setting could be tried" : given->reason);
  }
  if (a->is_left_to_auto && !is_trustworthy(given)) {
    YOKE_TRY(refine(a, &(size_t){0}, 1));
  }
  YOKE_TRY(try_list(a));
  if (!has_trustworthy(a->advice)) {
    YOKE_TRY(refine_best(a));
  } else if (is_trustworthy(given)) {
    yoke_advised* one = NULL;
    const size_t chosen = choose(a->advice);
    YOKE_TRY(try_one(a, a->advice->all[chosen].recipe, -2, 0, &one));
  }
  return YOKE_OK;
}

yoke_status yoke__advise(const yoke_advise_settings* settings, yoke_advice* out,
                         const yoke_sink* sink) {
  *out = (yoke_advice){.chosen = YOKE_NOT_FOUND};
  advisor a = {.settings = settings,
               .advice = out,
               .sink = sink,
               .store = yoke__companion_store_create(),
               .iterations = ITERATIONS,
               .budget = (double)INFINITY,
               .start_ns = yoke__os_now_ns()};
  yoke_status status = a.store == NULL ? YOKE_NO_MEMORY : open_system(&a);
  status = status < 0 ? status : try_all(&a);
  if (status >= 0) {
    out->spent = a.given_calls > 0 ? a.spent / a.given_calls : 0;
    decide(out);
  }
  yoke__system_destroy(&a.given);
  yoke__companion_store_destroy(&a.store);
  return status;
}

void yoke__advise_free(yoke_advice* advice) {
  yoke__arena_free(&advice->arena);
  *advice = (yoke_advice){0};
}

// Calls of units of a setting, as a multiple of those of the given one; 0: it cannot be built.
static double planned_cost(const advisor* a, const yoke_advised* setting) {
  yoke_messages messages = {0};
  yoke_system* system = NULL;
  double cost = 0;
  if (build(a, setting->sets, setting->n_sets, &messages, &system) >= 0) {
    cost = (double)yoke__companion_calls(system) / (double)yoke__companion_calls(a->given);
  }
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  return cost;
}

yoke_status yoke__advise_count(const yoke_advise_settings* settings, size_t* n, double* cost) {
  yoke_advice advice = {0};
  advisor a = {.settings = settings, .advice = &advice};
  yoke_status status = open_system(&a);
  double on_top = 0;
  *n = 0;
  for (size_t i = 1; status >= 0 && i < yoke__advise_n_recipes(); i++) {
    const yoke_advise_list list = list_of(&a);
    yoke_advised made;
    if (yoke__advise_make(&list, i, 1, &made)) {
      (*n)++;
      on_top += yoke__advise_is_auto(i) ? AUTO_COST * planned_cost(&a, &made) : 0;
    }
    status = a.shortage < 0 ? a.shortage : yoke__arena_status(&advice.arena);
  }
  on_top = on_top > YOKE_ADVISE_BUDGET - GIVEN_COST ? fmin(on_top, YOKE_ADVISE_AUTO) : 0;
  *cost = fmin(3.0 * (double)*n + 8, YOKE_ADVISE_BUDGET) + on_top;
  yoke__system_destroy(&a.given);
  yoke__advise_free(&advice);
  return status;
}
