// A system against a reference; see study_assess_system.h.
//
// Units need not be able to go back, so every repetition builds the system anew; only the stepping
// is timed. A sample between two macro steps is interpolated linearly: give a step that divides the
// distance of the samples where that is not good enough.
#include "study/study_assess_system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "master/master.h"
#include "scenario/scenario_circuit.h"
#include "system/system.h"

#define SAME_TIME 1e-9  // of a step: a sample at the time of a step

typedef struct run {
  const yoke_assess_problem* problem;
  double step;  // 0: as the file says
  yoke_messages* messages;
  yoke_arena arena;
  yoke_system* system;
  yoke_state* state;
  // per monitor: where it is read, its values at the last two steps, the sum of squares
  const double* values[YOKE_ASSESS_MAX_MONITORS];
  double before[YOKE_ASSESS_MAX_MONITORS], now[YOKE_ASSESS_MAX_MONITORS];
  double squares[YOKE_ASSESS_MAX_MONITORS];
} run;

// ---- set-up

static yoke_status build(run* r) {
  const yoke_assess_problem* problem = r->problem;
  char digits[YOKE_NUMBER_SIZE], step[64], stop[64];
  const char* sets[3] = {"threads=1", stop, step};
  yoke_scenario* scenario = NULL;
  yoke__number_format(problem->t[problem->n_samples - 1], digits);
  snprintf(stop, sizeof stop, "time.stop=%s", digits);
  yoke__number_format(r->step, digits);
  snprintf(step, sizeof step, "time.step=%s", digits);
  yoke_status status = yoke__scenario_read_parts(problem->path, sets, r->step > 0 ? 3 : 2, 0,
                                                 r->messages, &scenario);
  if (scenario != NULL) {
    const yoke_status built = yoke__master_build(scenario, NULL, r->messages, &r->system);
    status = status < 0 ? status : built;
  }
  YOKE_TRY(status);
  return yoke__master_create(r->system, r->messages, &r->state);
}

// The unit a column names, and what is left of its name.
static yoke_status find_endpoint(run* r, const char* name, yoke_scenario_endpoint* endpoint) {
  const yoke_scenario* scenario = r->system->scenario;
  const char* dot = strchr(name, '.');
  const size_t n = dot == NULL ? 0 : (size_t)(dot - name);
  *endpoint = (yoke_scenario_endpoint){.place = {.source = "--reference"}};
  for (size_t i = 0; i < r->system->n_units; i++) {
    const char* unit = r->system->units[i].name;
    if (dot != NULL && strlen(unit) == n && strncmp(unit, name, n) == 0) {
      endpoint->unit = unit;
      endpoint->variable = yoke__scenario_quantity(scenario, unit, dot + 1, &r->arena);
      return YOKE_OK;
    }
  }
  // one unit alone: its variables need no unit in front
  if (r->system->n_units == 1) {
    endpoint->unit = r->system->units[0].name;
    endpoint->variable = yoke__scenario_quantity(scenario, endpoint->unit, name, &r->arena);
    return YOKE_OK;
  }
  return yoke__error(r->messages, endpoint->place,
                     "column '%.120s' does not match a unit of the system; expected UNIT.VARIABLE",
                     name);
}

static yoke_status bind(run* r, size_t i) {
  const char* name = r->problem->monitors[i].name;
  yoke_scenario_endpoint endpoint;
  size_t unit_index = 0, variable = 0, element = 0, n = 0;
  YOKE_TRY(find_endpoint(r, name, &endpoint));
  yoke_messages* before = r->system->messages;
  r->system->messages = r->messages;
  const bool is_found =
      yoke__system_resolve(r->system, &endpoint, "signal", &unit_index, &variable, &element, &n);
  r->system->messages = before;
  if (!is_found) {
    return YOKE_BAD_INPUT;
  }
  const yoke_system_unit* unit = &r->system->units[unit_index];
  const yoke_variable* v = &unit->unit.info->variables[variable];
  const size_t dense = unit->unit.dense[variable];
  if (n != 1 || dense == YOKE_NOT_DENSE ||
      (v->causality != YOKE_OUTPUT && v->causality != YOKE_INPUT)) {
    return yoke__error(r->messages, endpoint.place,
                       "'%.120s' cannot be compared; expected one real output or input", name);
  }
  r->values[i] = v->causality == YOKE_OUTPUT ? r->state->y + unit->y + dense + element
                                             : r->state->u + unit->u + dense + element;
  return YOKE_OK;
}

static yoke_status bind_all(run* r) {
  yoke_status worst = YOKE_OK;
  for (size_t i = 0; i < r->problem->n_monitors; i++) {
    const yoke_status status = bind(r, i);
    worst = status < 0 ? status : worst;
  }
  return worst;
}

// ---- stepping

static void read_values(run* r) {
  for (size_t i = 0; i < r->problem->n_monitors; i++) {
    r->before[i] = r->now[i];
    r->now[i] = *r->values[i];
  }
}

// Samples in (t_before, t_now].
static size_t compare(run* r, size_t sample, double t_before, double t_now) {
  const yoke_assess_problem* p = r->problem;
  const double h = t_now - t_before;
  for (; sample < p->n_samples && p->t[sample] <= t_now + SAME_TIME * h; sample++) {
    const double s = fmin(1, (p->t[sample] - t_before) / h);
    for (size_t i = 0; i < p->n_monitors; i++) {
      const double y = r->before[i] + s * (r->now[i] - r->before[i]);
      const double d = (s > 1 - SAME_TIME ? r->now[i] : y) - p->monitors[i].reference[sample];
      r->squares[i] += d * d;
    }
  }
  return sample;
}

static yoke_status step_all(run* r, yoke_assess_result* result) {
  const yoke_assess_problem* problem = r->problem;
  size_t sample = 0;
  int64_t ns = 0;
  result->n_steps = 0;
  result->options.step = yoke__clock_seconds(&r->system->clock, r->system->macro);
  read_values(r);
  while (sample < problem->n_samples && r->state->n_slots < r->system->n_slots) {
    const double t_before = r->state->t;
    const int64_t start = yoke__os_now_ns();
    const yoke_status status = yoke__master_step(r->system, r->state);
    ns += yoke__os_now_ns() - start;
    if (status < 0) {
      const yoke_sink list = yoke__messages_sink(r->messages);
      yoke_context about;
      yoke__context_init(&about, &list, (yoke_place){.source = problem->path}, NULL, r->state->t);
      yoke_send(&about.sink, &r->state->failure.message);
      return status;
    }
    result->n_steps++;
    read_values(r);
    sample = compare(r, sample, t_before, r->state->t);
    if (status == YOKE_ENDED || status == YOKE_STOPPED) {
      break;
    }
  }
  if (sample < problem->n_samples) {
    yoke__error(r->messages, (yoke_place){.source = problem->path},
                "the run ended at %.9g s, before the last sample at %.9g s", r->state->t,
                problem->t[problem->n_samples - 1]);
    return YOKE_UNIT_FAILED;
  }
  result->ns_per_step = fmin(result->ns_per_step, (double)ns / (double)result->n_steps);
  return YOKE_OK;
}

static yoke_status run_once(const yoke_assess_problem* problem, double step,
                            yoke_messages* messages, yoke_assess_result* result) {
  run r = {.problem = problem, .step = step, .messages = messages};
  yoke_status status = build(&r);
  status = status < 0 ? status : bind_all(&r);
  status = status < 0 ? status : step_all(&r, result);
  for (size_t i = 0; status >= 0 && i < problem->n_monitors; i++) {
    result->error[i] = sqrt(r.squares[i] / (double)problem->n_samples);
    status = yoke__is_finite(result->error[i]) ? status : YOKE_DIVERGED;
  }
  if (r.system != NULL) {
    yoke__master_destroy(r.system, &r.state);
  }
  yoke__system_destroy(&r.system);
  yoke__arena_free(&r.arena);
  return status;
}

yoke_status yoke__assess_system(const yoke_assess_problem* problem, double step,
                                const yoke_assess_effort* effort, yoke_messages* messages,
                                yoke_assess_result* result) {
  const int64_t start = yoke__os_now_ns();
  result->ns_per_step = (double)INFINITY;
  for (int i = 0; i == 0 || i < effort->n_repetitions; i++) {
    YOKE_TRY(run_once(problem, step, messages, result));
    if ((double)(yoke__os_now_ns() - start) * 1e-9 > effort->seconds) {
      break;
    }
  }
  return YOKE_OK;
}
