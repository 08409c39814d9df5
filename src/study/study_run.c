// One run in memory: read, build, step, judge. Several at once: study_batch.c.
#include "study/study_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_path.h"
#include "base/base_status.h"
#include "master/master_pace.h"
#include "quality/quality_ledger.h"
#include "record/record_read.h"
#include "scenario/scenario_circuit.h"

#define MAX_SYSTEM_SIZE (64u << 20)

const char* const yoke__run_status_names[YOKE_RUN_N_STATUSES] = {
#define YOKE_RUN_NAME(name, text) [YOKE_RUN_##name] = (text),
    YOKE_RUN_LIST(YOKE_RUN_NAME)
#undef YOKE_RUN_NAME
};

// A run on its way.
typedef struct run {
  const yoke_study_plan* plan;
  yoke_arena arena;
  yoke_messages* messages;
  yoke_system* system;
  yoke_state* state;
  yoke_probe* probes;  // of the measures, then of the limits
  yoke_trust* trust;   // companions, if a measure or a limit needs them; else NULL
  size_t n_alarms;     // looked at
  yoke_csv reference;  // of this point, if the plan makes one
  const atomic_bool* is_cancelled;
  yoke_study_result* result;
  yoke_status error;  // of the judge of a run with a machine
} run;

// ---- outcome

yoke_status yoke__study_result_reason(yoke_study_result* result, const char* reason) {
  const size_t n = strlen(reason);
  result->reason = n > 0 ? malloc(n + 1) : NULL;
  if (result->reason != NULL) {
    memcpy(result->reason, reason, n + 1);
  }
  return n > 0 && result->reason == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

yoke_status yoke__study_result_set(yoke_study_result* result, yoke_run_status status, double t,
                                   const double values[], size_t n, const char* reason) {
  YOKE_TRY(yoke__study_result_reason(result, reason));
  result->status = status;
  result->t = t;
  for (size_t i = 0; i < n; i++) {
    result->values[i] = values[i];
  }
  return YOKE_OK;
}

static yoke_status note(run* r, yoke_run_status status, const char* reason) {
  r->result->status = status;
  return yoke__study_result_reason(r->result, reason);
}

static yoke_status note_message(run* r, yoke_run_status status, const yoke_message* message) {
  char text[YOKE_MESSAGE_TEXT_SIZE] = "";
  yoke_message_format(message, text, sizeof text);
  return note(r, status, text);
}

// The first error, as the user would see it; a table has room for one line.
static yoke_status note_refusal(run* r, yoke_status status) {
  for (size_t i = 0; i < r->messages->n; i++) {
    if (r->messages->all[i].severity == YOKE_ERROR) {
      return note_message(r, YOKE_RUN_REFUSED, &r->messages->all[i]);
    }
  }
  return note(r, YOKE_RUN_REFUSED, yoke_status_text(status));
}

// Whatever was known of the run does not count. The reason is the message of the shortage, or none where memory is out.
static void note_shortage(run* r, yoke_status status) {
  free(r->result->reason);
  r->result->reason = NULL;
  r->result->t = (double)NAN;
  for (size_t i = 0; i < r->plan->n_measures; i++) {
    r->result->values[i] = (double)NAN;
  }
  for (size_t i = 0; i < r->messages->n; i++) {
    const yoke_message* m = &r->messages->all[i];
    if (m->severity == YOKE_ERROR && m->status == status) {
      (void)note_message(r, YOKE_RUN_SHORTAGE, m);
      return;
    }
  }
  (void)note(r, YOKE_RUN_SHORTAGE, yoke_status_text(status));
}

// ---- start

// The settings of the plan, then of the point; the last word has the number of threads.
static const char** collect_sets(const yoke_study_plan* plan, size_t point, size_t repeat,
                                 bool is_reference, yoke_arena* arena, size_t* n) {
  const yoke_grid* grid = plan->grid;
  const size_t n_most = plan->n_sets + grid->n_axes + plan->n_current + plan->n_reference_sets + 2;
  const char** sets = yoke__arena_array(arena, n_most, sizeof *sets);
  const size_t seed_size = plan->seed == NULL ? 0 : strlen(plan->seed) + 32;
  char* seed = yoke__arena_take(arena, seed_size);
  if (sets == NULL || seed == NULL) {
    return NULL;
  }
  *n = 0;
  for (size_t i = 0; i < plan->n_sets; i++) {
    sets[(*n)++] = plan->sets[i];
  }
  for (size_t i = 0; point < grid->n_points && i < grid->n_axes; i++) {
    sets[(*n)++] = grid->axes[i].sets[yoke__grid_index(grid, point, i)];
  }
  for (size_t i = 0; point >= grid->n_points && i < plan->n_current; i++) {
    sets[(*n)++] = plan->current[i];
  }
  if (repeat > 0 && plan->seed != NULL) {
    snprintf(seed, seed_size, "%s=%zu", plan->seed, repeat);
    sets[(*n)++] = seed;
  }
  for (size_t i = 0; is_reference && i < plan->n_reference_sets; i++) {
    sets[(*n)++] = plan->reference_sets[i];
  }
  sets[(*n)++] = "threads=1";
  return sets;
}

yoke_status yoke__study_read_scenario(const yoke_study_plan* plan, const char* const sets[],
                                      size_t n, yoke_messages* messages, yoke_scenario** out) {
  // the text around a lone netlist depends on the settings
  return yoke__path_is_netlist(plan->path)
             ? yoke__scenario_read_file(plan->path, sets, n, messages, out)
             : yoke__scenario_read(plan->bytes, plan->n_bytes, plan->path, sets, n, messages, out);
}

static yoke_status build(const yoke_study_plan* plan, const char* const sets[], size_t n_sets,
                         yoke_messages* messages, yoke_system** system, yoke_state** state) {
  yoke_scenario* scenario = NULL;
  YOKE_TRY(yoke__study_read_scenario(plan, sets, n_sets, messages, &scenario));
  YOKE_TRY(yoke__master_build(scenario, NULL, messages, system));
  return yoke__master_create(*system, messages, state);
}

yoke_status yoke__study_step_to(const yoke_system* system, yoke_state* state, double t,
                                const yoke_sink* sink) {
  // half a step of grace: times are those of the grid
  const double step = yoke__clock_seconds(&system->clock, system->macro);
  while (state->t < t - 0.5 * step) {
    const yoke_status status = yoke__master_step(system, state);
    if (status < 0) {
      yoke_send(sink, &state->failure.message);
      return status;
    }
    if (status == YOKE_ENDED) {
      break;
    }
  }
  return YOKE_OK;
}

void yoke__study_destroy(yoke_system** system, yoke_state** state) {
  if (*system != NULL) {
    yoke__master_destroy(*system, state);
  }
  yoke__system_destroy(system);
}

yoke_status yoke__study_start(yoke_system* system, const yoke_sink* sink, yoke_state** state) {
  yoke_messages messages = {0};
  const yoke_status status = yoke__master_create(system, &messages, state);
  yoke__system_report(system, sink);
  yoke__messages_send(&messages, sink);
  yoke__messages_free(&messages);
  return status;
}

yoke_status yoke__study_read_files(const char* path, const char* reference, char** bytes,
                                   yoke_csv* table, yoke_study_plan* plan, const yoke_sink* sink) {
  YOKE_TRY(yoke__os_read_file(path, MAX_SYSTEM_SIZE, bytes, &plan->n_bytes, sink));
  plan->path = path;
  plan->bytes = *bytes;
  if (reference != NULL) {
    YOKE_TRY(yoke__record_read(reference, table, sink));
    plan->reference = table;
  }
  return YOKE_OK;
}

// What one of these settings is refused for, said of the option that gave it.
static void name_option(const char* option, const char* const sets[], size_t n,
                        yoke_messages* messages) {
  static const char from[] = "--set ";
  const size_t n_from = sizeof from - 1;
  for (size_t k = 0; k < messages->n; k++) {
    yoke_message* m = &messages->all[k];
    if (m->file == NULL || strncmp(m->file, from, n_from) != 0) {
      continue;
    }
    const char* path = m->file + n_from;
    const size_t n_path = strlen(path);
    bool is_one = false;
    for (size_t i = 0; i < n && !is_one; i++) {
      is_one = strcspn(sets[i], "=") == n_path && strncmp(sets[i], path, n_path) == 0;
    }
    const size_t size = strlen(option) + n_path + 2;
    char* named = is_one ? yoke__arena_take(&messages->arena, size) : NULL;
    if (named != NULL) {
      snprintf(named, size, "%s %s", option, path);
      m->file = named;
    }
  }
}

static yoke_status build_point(const yoke_study_plan* plan, size_t point, size_t repeat,
                               bool is_reference, yoke_messages* messages, yoke_system** system,
                               yoke_state** state) {
  *system = NULL;
  *state = NULL;
  yoke_arena arena = {0};
  size_t n_sets = 0;
  const char** sets = collect_sets(plan, point, repeat, is_reference, &arena, &n_sets);
  const yoke_status status =
      sets == NULL ? YOKE_NO_MEMORY : build(plan, sets, n_sets, messages, system, state);
  // the setting that counts is the last one
  if (is_reference) {
    name_option("--reference-set", plan->reference_sets, plan->n_reference_sets, messages);
  }
  if (sets != NULL && point < plan->grid->n_points) {
    name_option("--vary", sets + plan->n_sets, plan->grid->n_axes, messages);
  }
  yoke__arena_free(&arena);
  if (status < 0) {
    yoke__study_destroy(system, state);
  }
  return status;
}

yoke_status yoke__study_build(const yoke_study_plan* plan, size_t point, size_t repeat,
                              yoke_messages* messages, yoke_system** system, yoke_state** state) {
  return build_point(plan, point, repeat, false, messages, system, state);
}

// The reference of this point, run to its end unless the run itself is only checked.
static yoke_status make_reference(run* r, size_t point, size_t repeat) {
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  YOKE_TRY(build_point(r->plan, point, repeat, true, r->messages, &system, &state));
  const char* machine = yoke__rig_machine(system);
  if (machine != NULL) {
    yoke__error(r->messages, (yoke_place){0},
                "--reference-set: unit '%s' is a real machine, which is not run twice for a point: "
                "use its model (port: none)",
                machine);
    yoke__study_destroy(&system, &state);
    return YOKE_BAD_INPUT;
  }
  const yoke_status status =
      yoke__study_reference(r->plan, r->system, system, state, r->result != NULL, r->is_cancelled,
                            r->messages, &r->reference);
  yoke__study_destroy(&system, &state);
  return status;
}

// All probes, so that all mistakes are reported in one go.
static yoke_status bind_probes(run* r) {
  const yoke_study_plan* plan = r->plan;
  yoke_status worst = YOKE_OK;
  r->probes = yoke__arena_array(&r->arena, plan->n_measures + plan->n_limits, sizeof *r->probes);
  YOKE_TRY_MEMORY(r->probes);
  for (size_t i = 0; i < plan->n_measures + plan->n_limits; i++) {
    const bool is_limit = i >= plan->n_measures;
    const yoke_study_measure* measure =
        is_limit ? &plan->limits[i - plan->n_measures].measure : &plan->measures[i];
    const yoke_status status =
        yoke__probe_bind(measure, is_limit ? "--limit" : "--measure",
                         plan->n_reference_sets > 0 ? &r->reference : plan->reference, r->system,
                         r->state, &r->arena, r->messages, &r->probes[i]);
    if (yoke__status_is_shortage(status)) {
      return status;
    }
    worst = status < 0 ? status : worst;
  }
  return worst;
}

// ---- the machine

static void leave_machine(run* r, yoke_run_state state) {
  r->result->ended = state;
  if (yoke__rig_machine(r->system) != NULL) {
    r->result->is_latched = state != YOKE_RUN_SAFE;
    if (r->plan->rig != NULL) {
      r->plan->rig->state = state;
    }
  }
}

// A machine of which nothing is known is led to the safe state first; then the run has a system of its own. Negative: it is
// not there, and the result says why.
static yoke_status reach_safe(run* r, size_t point, size_t repeat) {
  const bool is_known = r->plan->rig != NULL && r->plan->rig->state == YOKE_RUN_SAFE;
  if (r->result == NULL || yoke__rig_machine(r->system) == NULL) {
    return YOKE_OK;
  }
  if (!is_known) {
    yoke_rig_end end;
    YOKE_TRY(yoke__rig_run(r->system, r->state, NULL, &end));
    leave_machine(r, end.state);
    if (end.state != YOKE_RUN_SAFE) {
      char why[YOKE_MESSAGE_TEXT_SIZE] = "", reason[YOKE_MESSAGE_TEXT_SIZE + 64];
      yoke_message_format(&end.failure.message, why, sizeof why);
      snprintf(reason, sizeof reason, "not in SAFE before the run: %s", why);
      YOKE_TRY(note(r, YOKE_RUN_FAILED, reason));
      return YOKE_UNIT_FAILED;
    }
    yoke__study_destroy(&r->system, &r->state);
    YOKE_TRY(yoke__study_build(r->plan, point, repeat, r->messages, &r->system, &r->state));
  }
  r->result->began = YOKE_RUN_SAFE;
  return YOKE_OK;
}

// Nobody answers where a machine was: nothing is known of its state, and the setting is not to blame.
static yoke_status note_absence(run* r, yoke_status status) {
  if (status != YOKE_IO || r->plan->rig == NULL || r->plan->rig->machine[0] == '\0') {
    return note_refusal(r, status);
  }
  YOKE_TRY(note_refusal(r, status));
  r->result->status = YOKE_RUN_FAILED;
  r->result->ended = r->plan->rig->state = YOKE_RUN_FAULT;
  r->result->is_latched = true;
  return YOKE_OK;
}

static void look_for_machine(const run* r) {
  const char* machine = yoke__rig_machine(r->system);
  if (r->plan->rig != NULL && machine != NULL) {
    snprintf(r->plan->rig->machine, sizeof r->plan->rig->machine, "%s", machine);
    r->plan->rig->has_actions = r->system->n_actions > 0;
  }
}

// ---- start, all of it

static yoke_status prepare(run* r, size_t point, size_t repeat) {
  yoke_status status =
      yoke__study_build(r->plan, point, repeat, r->messages, &r->system, &r->state);
  status = status < 0 ? status : reach_safe(r, point, repeat);
  if (status >= 0 && r->plan->n_reference_sets > 0) {
    status = make_reference(r, point, repeat);
  }
  status = status < 0 ? status : bind_probes(r);
  return yoke__messages_status(r->messages, status);
}

static bool needs_companions(const yoke_study_plan* plan) {
  bool is_any = false;
  for (size_t i = 0; i < plan->n_measures; i++) {
    is_any = is_any || yoke__study_needs_companions(&plan->measures[i]);
  }
  for (size_t i = 0; i < plan->n_limits; i++) {
    is_any = is_any || yoke__study_needs_companions(&plan->limits[i].measure);
  }
  return is_any;
}

// The same on every machine: nothing is left out since it takes long.
static yoke_status begin_trust(run* r) {
  if (!needs_companions(r->plan)) {
    return YOKE_OK;
  }
  const yoke_companions wanted = r->system->scenario->trust.companions;
  const yoke_trust_mode mode = wanted == YOKE_COMPANIONS_HALF    ? YOKE_TRUST_HALF
                               : wanted == YOKE_COMPANIONS_CHEAP ? YOKE_TRUST_CHEAP
                                                                 : YOKE_TRUST_BOTH;
  return yoke__trust_begin_alone(r->system, r->state, mode, &r->trust);
}

static void clean_up(run* r) {
  yoke__trust_destroy(&r->trust);
  yoke__study_destroy(&r->system, &r->state);
  yoke__csv_free(&r->reference);
  yoke__arena_free(&r->arena);
}

yoke_status yoke__study_check(const yoke_study_plan* plan, size_t point, size_t repeat,
                              yoke_messages* messages) {
  run r = {.plan = plan, .messages = messages};
  const yoke_status status = prepare(&r, point, repeat);
  if (status >= 0) {
    look_for_machine(&r);
  }
  clean_up(&r);
  return status;
}

// ---- limits

// The first violated limit ends the run; at the end all of them are looked at.
static yoke_status check_limits(run* r, bool is_end) {
  const yoke_study_plan* plan = r->plan;
  for (size_t i = 0; i < plan->n_limits; i++) {
    const yoke_study_limit* limit = &plan->limits[i];
    if (!is_end && !yoke__study_limit_is_early(limit)) {
      continue;
    }
    const double value = yoke__probe_value(&r->probes[plan->n_measures + i], r->state);
    const bool is_missing = isnan(value);
    if ((is_missing && !is_end) || !yoke__study_limit_is_violated(limit, value)) {
      continue;
    }
    char reason[320];
    if (is_missing) {
      snprintf(reason, sizeof reason,
               "%.120s is not defined in this run: the limit %.120s cannot be checked, remove it",
               limit->measure.text, limit->text);
    } else {
      snprintf(reason, sizeof reason, "%.120s is %.6g at t = %.9g s; limit %.120s",
               limit->measure.text, value, r->state->t, limit->text);
    }
    return note(r, YOKE_RUN_LIMIT, reason);
  }
  return YOKE_OK;
}

// The system's own stop limits: of signals, and as the ledger has noted them.
static yoke_status check_quality(run* r) {
  if (r->state->watch.limited_by != YOKE_NOT_FOUND && r->state->is_stopped) {
    char reason[320];
    yoke__master_limit_text(r->system, r->state, r->state->watch.limited_by, reason, sizeof reason);
    return note(r, YOKE_RUN_QUALITY, reason);
  }
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms =
      r->state->ledger == NULL ? NULL : yoke__ledger_alarms(r->state->ledger, &n, &n_more);
  for (; r->n_alarms < n; r->n_alarms++) {
    if (alarms[r->n_alarms].level == YOKE_ALARM_STOP) {
      char reason[320];
      yoke__ledger_alarm_text(r->state->ledger, &alarms[r->n_alarms], reason, sizeof reason);
      return note(r, YOKE_RUN_QUALITY, reason);
    }
  }
  return YOKE_OK;
}

// ---- steps

static bool goes_on(void* to) {
  const run* r = to;
  return !atomic_load_explicit(r->is_cancelled, memory_order_relaxed);
}

// At the end: what companions say.
static yoke_status finish_trust(run* r) {
  if (r->trust == NULL) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__trust_finish(r->trust, YOKE_OK, 0, goes_on, r));
  YOKE_TRY(yoke__trust_shortage(r->trust));
  for (size_t i = 0; i < r->plan->n_measures + r->plan->n_limits; i++) {
    yoke__probe_judge(&r->probes[i], r->trust);
  }
  return YOKE_OK;
}

// A run at its end whose signals explode is not done; where companions explode alike, the plant does.
static yoke_status check_growth(run* r) {
  yoke_signal_growth growth;
  if (r->trust != NULL) {
    const yoke_trust_signal* first = yoke__trust_find_diverged(r->trust);
    return first == NULL ? YOKE_OK : note(r, YOKE_RUN_DIVERGED, first->reason);
  }
  const size_t signal = yoke__master_find_diverged(r->system, r->state, NULL, &growth);
  if (signal == YOKE_NOT_FOUND) {
    return YOKE_OK;
  }
  char reason[512];
  yoke__master_growth_text(r->system, signal, &growth, reason, sizeof reason);
  return note(r, YOKE_RUN_DIVERGED, reason);
}

// After a step, or at the start: samples and everything that ends a run. The result has a status then.
static yoke_status judge(run* r, bool is_end) {
  YOKE_TRY(check_quality(r));
  return r->result->status == YOKE_RUN_PENDING ? check_limits(r, is_end) : YOKE_OK;
}

static yoke_status fail_run(run* r, yoke_status status, const yoke_message* message) {
  if (yoke__status_is_shortage(status)) {
    return status;
  }
  YOKE_TRY(check_quality(r));
  return r->result->status != YOKE_RUN_PENDING
             ? YOKE_OK
             : note_message(r, status == YOKE_DIVERGED ? YOKE_RUN_DIVERGED : YOKE_RUN_FAILED,
                            message);
}

// A step that was taken.
static yoke_status look_at_step(run* r, yoke_status status) {
  r->result->t = r->state->t;
  for (size_t i = 0; i < r->plan->n_measures + r->plan->n_limits; i++) {
    yoke__probe_sample(&r->probes[i], r->system, r->state);
  }
  const bool is_end = r->state->n_slots >= r->system->n_slots;
  const bool is_last = is_end || status == YOKE_ENDED || status == YOKE_STOPPED;
  if (is_last) {
    YOKE_TRY(finish_trust(r));
  }
  YOKE_TRY(judge(r, is_last));
  if (r->result->status == YOKE_RUN_PENDING && is_last) {
    YOKE_TRY(check_growth(r));
  }
  if (r->result->status == YOKE_RUN_PENDING && status == YOKE_STOPPED) {
    return note(r, YOKE_RUN_QUALITY, yoke_status_text(status));  // the alarm itself was not kept
  }
  if (r->result->status == YOKE_RUN_PENDING && is_last) {
    r->result->status = is_end ? YOKE_RUN_DONE : YOKE_RUN_ENDED;
  }
  return YOKE_OK;
}

// Why a good run has no number, or one of few rows, where the probes know it.
static yoke_status note_remarks(run* r) {
  char reason[1024] = "";
  size_t n = 0;
  for (size_t i = 0; i < r->plan->n_measures && n + 1 < sizeof reason; i++) {
    char remark[320] = "";
    yoke__probe_remark(&r->probes[i], remark, sizeof remark);
    if (remark[0] != '\0') {
      n += (size_t)snprintf(reason + n, sizeof reason - n, "%s%s", n == 0 ? "" : "; ", remark);
    }
  }
  return note(r, r->result->status, reason);
}

static yoke_status keep_values(run* r) {
  if (!yoke__run_is_good(r->result->status)) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < r->plan->n_measures; i++) {
    r->result->values[i] = yoke__probe_value(&r->probes[i], r->state);
  }
  return note_remarks(r);
}

static yoke_status step(run* r) {
  const yoke_status status = yoke__master_step(r->system, r->state);
  return status < 0 ? fail_run(r, status, &r->state->failure.message) : look_at_step(r, status);
}

static yoke_status step_to_end(run* r) {
  while (r->result->status == YOKE_RUN_PENDING) {
    if (!goes_on(r)) {
      return YOKE_INTERRUPTED;
    }
    YOKE_TRY(step(r));
  }
  return keep_values(r);
}

// Before the safe actions change anything: what they do is not measured.
static yoke_status judge_step(void* to, yoke_status status) {
  run* r = to;
  if (atomic_load_explicit(&r->state->pace->n_failed, memory_order_relaxed) > 0) {
    return status;  // outputs of a unit that has failed are held: no sample
  }
  r->error = look_at_step(r, status);
  r->error = r->error < 0 ? r->error : keep_values(r);
  return r->error < 0 || r->result->status != YOKE_RUN_PENDING ? YOKE_STOPPED : YOKE_OK;
}

static yoke_status run_to_safe(run* r) {
  const yoke_rig_calls calls = {judge_step, r, r->is_cancelled};
  const bool is_over = r->result->status != YOKE_RUN_PENDING;
  yoke_rig_end end;
  const yoke_status began = yoke__rig_run(r->system, r->state, is_over ? NULL : &calls, &end);
  if (began < 0) {
    return yoke__status_is_shortage(began) ? began
           : is_over                       ? YOKE_OK
                     : note_message(r, YOKE_RUN_REFUSED, &end.failure.message);
  }
  leave_machine(r, end.state);
  if (r->result->status != YOKE_RUN_PENDING) {
    return YOKE_OK;
  }
  if (end.status == YOKE_INTERRUPTED || r->error == YOKE_INTERRUPTED) {
    return note(r, YOKE_RUN_CUT, "");
  }
  YOKE_TRY(r->error);
  return end.status == YOKE_LATE ? note_message(r, YOKE_RUN_LATE, &end.failure.message)
                                 : fail_run(r, end.status, &end.failure.message);
}

static yoke_status run_to_end(run* r) {
  r->result->t = r->state->t;
  YOKE_TRY(judge(r, r->state->n_slots >= r->system->n_slots));
  return yoke__rig_is_one(r->system) ? run_to_safe(r) : step_to_end(r);
}

yoke_status yoke__study_run(const yoke_study_plan* plan, size_t point, size_t repeat,
                            const atomic_bool* is_cancelled, yoke_study_result* result) {
  yoke_messages messages = {0};
  run r = {.plan = plan, .result = result, .messages = &messages, .is_cancelled = is_cancelled};
  result->status = YOKE_RUN_PENDING;
  result->reason = NULL;
  result->t = (double)NAN;
  result->began = result->ended = YOKE_RUN_INIT;
  result->is_latched = false;
  if (plan->rig != NULL && plan->rig->state == YOKE_RUN_FAULT) {
    return YOKE_INTERRUPTED;
  }
  for (size_t i = 0; i < plan->n_measures; i++) {
    result->values[i] = (double)NAN;
  }
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = prepare(&r, point, repeat);
  if (status >= 0) {
    status = begin_trust(&r);
    status = status < 0 ? status : run_to_end(&r);
  } else if (result->status != YOKE_RUN_PENDING) {
    status = YOKE_OK;  // the machine could not be led to the safe state, and the result says so
  } else if (!yoke__status_is_shortage(status) && status != YOKE_INTERRUPTED) {
    status = note_absence(&r, status);
  }
  if (yoke__status_is_shortage(status)) {
    note_shortage(&r, status);
    status = YOKE_OK;
  }
  clean_up(&r);
  yoke__messages_free(&messages);
  yoke__os_float_mode_restore(mode);
  return status;
}
