// Bands and verdicts from the samples of the run and of its companions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "trust/trust.h"

static const double* usable_values(const yoke_trust* trust, size_t i) {
  const yoke_companion* c = &trust->companions[i];
  return c->result != NULL && c->is_usable ? c->result->values : NULL;
}

// The samples of a signal: n of them, `stride` numbers apart.
typedef struct samples {
  const double *y, *a, *b;
  size_t n, stride, every;
} samples;

static samples samples_of(const yoke_trust* trust, size_t i) {
  const size_t n_signals = trust->n_signals;
  const double* a = usable_values(trust, YOKE_COMPANION_A);
  const double* b = usable_values(trust, YOKE_COMPANION_B);
  // thinned rows do not know exchanges any more
  const int64_t every = trust->plan.thin > 1 ? 1 : trust->system->judged[i].every;
  samples s = {.every = (size_t)every, .stride = (size_t)every * n_signals};
  s.n =
      trust->samples == NULL || trust->n_rows == 0 ? 0 : (size_t)((trust->n_rows - 1) / every) + 1;
  s.y = trust->samples == NULL ? NULL : trust->samples + i;
  s.a = a == NULL || s.n == 0 ? NULL : a + i;
  s.b = b == NULL || s.n == 0 ? NULL : b + i;
  // no companion A can make a band smaller than one that agrees
  s.a = trust->is_bound ? s.y : s.a;
  return s;
}

// ---- what is needed to judge a signal

static const char* why_no_estimate(const yoke_trust* trust) {
  if (trust->none[0] != '\0') {
    return trust->none;
  }
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    if (trust->companions[i].result != NULL && trust->companions[i].why[0] != '\0') {
      return trust->companions[i].why;
    }
  }
  return NULL;
}

// The ledger's word for a loop: the worst of the bonds between its units.
static yoke_verdict ledger_of(const yoke_trust* trust, size_t loop) {
  yoke_verdict worst = YOKE_VERDICT_NONE;
  const yoke_system* system = trust->system;
  for (size_t i = 0; trust->state->ledger != NULL && i < system->n_bonds; i++) {
    yoke_ledger_result r;
    if (loop != YOKE_NOT_FOUND && system->unit_loops[system->bonds[i].action_unit] == loop) {
      yoke__ledger_result(trust->state->ledger, i, &r);
      worst = r.verdict > worst ? r.verdict : worst;
    }
  }
  return worst == YOKE_TRUSTWORTHY ? YOKE_VERDICT_NONE : worst;
}

// Totals of a companion that came to where the run ended; NULL: it did not, or is not usable.
static const double* totals_of(const yoke_trust* trust, size_t i) {
  const double* values = usable_values(trust, i);
  const double near = 1e-6 * yoke__clock_seconds(&trust->system->clock, trust->system->macro);
  return values != NULL && fabs(trust->companions[i].result->t - trust->state->t) <= near
             ? values + (size_t)trust->plan.n_rows * trust->plan.n
             : NULL;
}

// Amount, magnitude and step of the sender in a companion that sees more of a flow than the run; unknown: it does not.
static const double* finer_totals(const yoke_trust* trust, size_t i, size_t flow,
                                  const double unknown[]) {
  const double* totals = totals_of(trust, i);
  if (totals == NULL) {
    return unknown;
  }
  const yoke_companion* c = &trust->companions[i];
  const double* own = totals + trust->system->n_bonds + YOKE_FLOW_TOTALS * flow;
  const bool is_called_more =
      own[2] < (1 - 1e-9) * yoke__companion_sender_step(trust->system, flow);
  const bool is_integrated = trust->system->flows[flow].integral != YOKE_NOT_FOUND;
  return is_called_more || (is_integrated && c->ways[c->way].recipe.is_halved) ? own : unknown;
}

yoke_flow_check yoke__trust_check(const yoke_trust* trust, size_t flow) {
  static const double unknown[YOKE_FLOW_TOTALS] = {(double)NAN, (double)NAN, (double)NAN};
  const double* a = finer_totals(trust, YOKE_COMPANION_A, flow, unknown);
  const double* b = finer_totals(trust, YOKE_COMPANION_B, flow, unknown);
  yoke_flow_result r;
  yoke__master_flow(trust->system, trust->state, flow, &r);
  yoke_flow_check check = yoke__trust_check_flow(r.sent, r.size, a, b);
  // the sentence names the one with most calls
  if (a[2] < b[2]) {
    check.finer = a[0];
    check.share = yoke__trust_check_flow(r.sent, r.size, a, unknown).share;
  }
  return check;
}

// The worst of the flows that an output feeds.
static void find_flow(yoke_trust* trust, const yoke_system_signal* source, yoke_trust_flow* out) {
  const yoke_system* system = trust->system;
  const yoke_system_unit* unit = &system->units[source->unit];
  double worst = -1;
  for (size_t i = unit->first_flow; i < unit->first_flow + unit->n_flows; i++) {
    yoke_flow_result r;
    yoke__master_flow(system, trust->state, i, &r);
    const yoke_flow_check check = yoke__trust_check(trust, i);
    const double loss = fmax(fmax(isnan(r.balance) ? 0 : r.balance, check.missed), r.unsure);
    if (system->flows[i].from == source->y && loss > worst) {
      char name[512];
      yoke__system_flow_end(system, i, name, sizeof name);
      *out = (yoke_trust_flow){.to = yoke__arena_text(&trust->arena, name, strlen(name)),
                               .dim = system->flows[i].dim,
                               .sent = r.due_sent,
                               .arrived = r.due_arrived,
                               .balance = r.balance,
                               .unsure = r.unsure,
                               .check = check};
      worst = loss;
    }
  }
}

// The first receiver that gets only samples of an output that carries a fast flow.
static const char* find_sampler(yoke_trust* trust, const yoke_system_signal* source) {
  const yoke_system* system = trust->system;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->is_flow_sampled && link->from_unit == source->unit &&
        link->from_variable == source->variable && source->element >= link->from_element &&
        source->element < link->from_element + link->n) {
      const yoke_system_unit* to = &system->units[link->to_unit];
      char name[512];
      yoke__system_element_name(to, &to->unit.info->variables[link->to_variable],
                                link->to_element + source->element - link->from_element, name,
                                sizeof name);
      return yoke__arena_text(&trust->arena, name, strlen(name));
    }
  }
  return NULL;
}

// Of a signal whose samples were not kept.
static yoke_band no_band(double largest) {
  const double unknown = (double)NAN;
  return (yoke_band){.is_diverged = !(largest <= YOKE_GROWTH_LARGEST),
                     .largest = largest,
                     .range = unknown,
                     .widest = unknown,
                     .scale = unknown,
                     .d = unknown,
                     .x = unknown,
                     .d_max = unknown,
                     .x_max = unknown,
                     .band = unknown,
                     .low = unknown,
                     .relative = unknown,
                     .low_relative = unknown,
                     .band_max = unknown,
                     .low_max = unknown};
}

// A band from the run itself; else why there is none.
static bool is_estimated(const yoke_trust* trust, size_t i, yoke_trust_signal* s) {
  const char* why = NULL;
  if (trust->online == NULL) {
    return false;
  }
  const bool is_known = yoke__trust_online_band(trust->online, i, &s->band, &why);
  s->no_online = why;
  return is_known;
}

static void fill_signal(yoke_trust* trust, size_t i, yoke_trust_signal* s) {
  const yoke_system* system = trust->system;
  const yoke_system_signal* source = &system->judged[i];
  const yoke_variable* v = &system->units[source->unit].unit.info->variables[source->variable];
  char name[512];
  yoke__system_signal_name(system, source, name, sizeof name);
  const samples its = samples_of(trust, i);
  *s = (yoke_trust_signal){
      .name = yoke__arena_text(&trust->arena, name, strlen(name)),
      .dim = v->dim == NULL || strcmp(v->dim, "1") == 0 ? "" : v->dim,
      .loop = source->loop,
      .is_wanted = yoke__system_decides(system, source->unit, source->variable, source->element),
      .limits = {system->scenario->trust.limit, system->scenario->trust.wrong,
                 yoke__system_error_limit(system, source->unit, source->variable, source->element)},
      .ledger = ledger_of(trust, source->loop),
      .no_estimate = why_no_estimate(trust)};
  yoke_signal_growth growth;
  yoke__master_growth(system, trust->state, i, &growth);
  if (is_estimated(trust, i, s)) {
    // the run itself says it
  } else if (its.n > 0) {
    yoke__band_judge(its.y, its.a, its.b, its.n, its.stride, &s->band);
    // it grew, and whatever it was compared with has left the range of numbers
    const bool is_lost = (its.a != NULL || its.b != NULL) && !s->band.has_a && !s->band.has_b;
    s->band.is_diverged = s->band.is_diverged || (is_lost && growth.alarm.is_latched);
  } else {
    s->band = no_band(growth.alarm.largest);
  }
  s->growth = growth.alarm;
  s->growth_from_s = growth.t_from;
  s->growth_to_s = growth.t_to;
  find_flow(trust, source, &s->flow);
  s->sampled_by = find_sampler(trust, source);
}

// ---- rounding

// Signals whose movements can be compared: of one physical dimension; without dimensions, of one name.
typedef struct kind {
  const char* name;  // of their variables; NULL: they have a dimension
  yoke_dim dim;
  double largest;  // range among them, in SI units
} kind;

static kind kind_of(const yoke_trust* trust, size_t i) {
  const yoke_system_signal* source = &trust->system->judged[i];
  kind k = {0};
  if (trust->signals[i].dim[0] == '\0' || !yoke__dim_parse(trust->signals[i].dim, &k.dim)) {
    k.dim.factor = 1;
    k.name = trust->system->units[source->unit].unit.info->variables[source->variable].name;
  }
  return k;
}

static bool is_same_kind(const kind* a, const kind* b) {
  if (a->name != NULL || b->name != NULL) {
    return a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0;
  }
  return memcmp(a->dim.exponents, b->dim.exponents, sizeof a->dim.exponents) == 0;
}

// Index of a kind among the n that are known; n: it is new.
static size_t find_kind(const kind kinds[], size_t n, const kind* wanted) {
  size_t at = 0;
  while (at < n && !is_same_kind(&kinds[at], wanted)) {
    at++;
  }
  return at;
}

// A movement that is rounding beside others of its kind is none, unless the file names the signal.
static yoke_status settle(yoke_trust* trust) {
  kind* kinds = calloc(trust->n_signals + 1, sizeof *kinds);
  YOKE_TRY_MEMORY(kinds);
  size_t n = 0;
  for (size_t i = 0; i < trust->n_signals; i++) {
    const yoke_band* band = &trust->signals[i].band;
    kind own = kind_of(trust, i);
    const size_t at = find_kind(kinds, n, &own);
    if (at == n) {
      kinds[n++] = own;
    }
    const double range = fabs(own.dim.factor) * band->range;
    if (!band->is_diverged && range > kinds[at].largest) {
      kinds[at].largest = range;
    }
  }
  const bool is_named = trust->system->scenario->trust.n_signals > 0;
  for (size_t i = 0; i < trust->n_signals; i++) {
    if (!is_named || !trust->signals[i].is_wanted) {
      const kind own = kind_of(trust, i);
      yoke__band_settle(&trust->signals[i].band,
                        kinds[find_kind(kinds, n, &own)].largest / fabs(own.dim.factor));
    }
  }
  free(kinds);
  return YOKE_OK;
}

// ---- the whole

// Insertion sort of indices: qsort cannot be handed the signals.
static void rank(yoke_trust* trust) {
  for (size_t i = 0; i < trust->n_signals; i++) {
    size_t at = i;
    for (; at > 0 &&
           yoke__trust_compare(&trust->signals[i], &trust->signals[trust->ranked[at - 1]]) < 0;
         at--) {
      trust->ranked[at] = trust->ranked[at - 1];
    }
    trust->ranked[at] = i;
  }
}

yoke_status yoke__trust_judge(yoke_trust* trust) {
  const yoke_system* system = trust->system;
  trust->n_signals = system->n_judged;
  trust->n_loops = system->n_unit_loops;
  trust->signals = yoke__arena_array(&trust->arena, trust->n_signals + 1, sizeof *trust->signals);
  trust->ranked = yoke__arena_array(&trust->arena, trust->n_signals + 1, sizeof(size_t));
  trust->loops = yoke__arena_array(&trust->arena, trust->n_loops + 1, sizeof *trust->loops);
  YOKE_TRY(yoke__arena_status(&trust->arena));
  for (size_t i = 0; i < trust->n_signals; i++) {
    fill_signal(trust, i, &trust->signals[i]);
  }
  YOKE_TRY(yoke__arena_status(&trust->arena));
  YOKE_TRY(settle(trust));
  for (size_t i = 0; i < trust->n_signals; i++) {
    yoke__trust_judge_signal(&trust->signals[i]);
  }
  rank(trust);
  yoke__trust_judge_run(trust->signals, trust->n_signals, trust->loops, trust->n_loops,
                        &trust->run);
  if (trust->n_signals == 0) {
    trust->run.reason =
        system->n_links == 0 ? "nothing is connected" : "no real number is exchanged";
  }
  trust->is_judged = true;
  return YOKE_OK;
}

const yoke_trust_signal* yoke__trust_find_diverged(const yoke_trust* trust) {
  for (size_t i = 0; i < trust->n_signals; i++) {
    const yoke_trust_signal* s = &trust->signals[trust->ranked[i]];
    if (s->rule == YOKE_RULE_DIVERGED && s->is_wanted) {
      return s;
    }
  }
  return NULL;
}

bool yoke__trust_has_bands(const yoke_trust* trust) {
  for (size_t i = 0; trust->online != NULL && trust->is_judged && i < trust->n_signals; i++) {
    if (trust->signals[i].band.has_estimate) {
      return true;
    }
  }
  return trust->companions[YOKE_COMPANION_A].is_usable ||
         trust->companions[YOKE_COMPANION_B].is_usable;
}

double yoke__trust_given_half(const yoke_trust* trust, size_t bond) {
  const yoke_companion* a = &trust->companions[YOKE_COMPANION_A];
  const double* totals = totals_of(trust, YOKE_COMPANION_A);
  // the same method with half the steps
  return totals != NULL && a->ways[a->way].recipe.method == NULL ? totals[bond] : (double)NAN;
}

// ---- over time

double yoke__trust_time(const yoke_trust* trust, int64_t row) {
  const yoke_companion_plan* plan = &trust->plan;
  return plan->times != NULL
             ? plan->times[row]
             : yoke__clock_time(&trust->system->clock, row * plan->thin * trust->system->macro);
}

double yoke__trust_worst_time(const yoke_trust* trust, size_t i) {
  const samples its = samples_of(trust, i);
  return its.a == NULL && its.b == NULL && !trust->signals[i].band.has_estimate
             ? (double)NAN
             : yoke__trust_time(trust, (int64_t)(trust->signals[i].band.at * its.every));
}

// The same from estimated errors: what companion A alone would say if it were off by so much. NaN behind the last.
static yoke_status estimated_course(const yoke_trust* trust, size_t i, const samples* its,
                                    double out[]) {
  double factor = 0;
  size_t n = 0, stride = 1;
  const double* e = yoke__trust_online_errors(trust->online, i, &factor, &n, &stride);
  double* work = calloc(4 * its->n + 1, sizeof *work);
  YOKE_TRY_MEMORY(work);
  double *y = work + 2 * its->n, *none = work + 3 * its->n;
  for (size_t k = 0; k < n; k++) {
    y[k] = factor / YOKE_BAND_HALF * e[k * stride];
  }
  yoke__band_course(y, none, NULL, n, 1, work, work + its->n);
  for (int64_t k = 0; k < trust->n_rows; k++) {
    const size_t at = (size_t)k / its->every;
    out[k] = at < n ? work[its->n + at] : (double)NAN;
  }
  free(work);
  return YOKE_OK;
}

yoke_status yoke__trust_course(const yoke_trust* trust, size_t i, double out[]) {
  const samples its = samples_of(trust, i);
  if (trust->is_judged && trust->signals[i].band.has_estimate) {
    return estimated_course(trust, i, &its, out);
  }
  if (its.n == 0 || (its.a == NULL && its.b == NULL)) {
    return YOKE_NO_SUPPORT;
  }
  double* work = calloc(2 * its.n, sizeof *work);
  YOKE_TRY_MEMORY(work);
  yoke__band_course(its.y, its.a, its.b, its.n, its.stride, work, work + its.n);
  for (int64_t k = 0; k < trust->n_rows; k++) {
    out[k] = work[its.n + (size_t)k / its.every];
  }
  free(work);
  return YOKE_OK;
}
