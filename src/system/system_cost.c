// What a step of an FMU costs, where that decides whether a second thread pays, or how many calls `calls: auto` makes.
//
// A file says nothing about its cost; so the FMU is made once beforehand, in a process and a folder of its own, takes a few
// steps from its start values, and is thrown away: whatever it does, writes or prints there, the run does not suffer. That
// takes some 10 ms, and is done only if the answer matters.
//
// Threads: all calls to a unit come from the one thread it is made in, so the threads must be known before the units are.
// It matters if threads are left to Yoke, there are at least two such units, more than one processor, and a run long
// enough.
//
// Calls: it matters if they are left to `calls: auto` and no loop asks for more than the usual ten. A macro step in n calls takes
//
//   cost(n) = a n + b        a: each call whatever its length, b: the work for the time that passes
//
// known from one call and from ten. The largest n of 10, 5, 2, 1 with cost(n) <= 3 cost(1) is worth it, and ten where all of
// them together cost next to nothing. The unit of an FMU that starts an integrator anew in each call gets 2, one that only
// works for the time that passes gets 10.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_temp.h"
#include "system/system.h"
#include "unit/host/unit_host.h"

#define MIN_STEPS 2000  // of the run: below this nothing is gained
#define N_TRIED   8     // steps
#define TIMEOUT_S 1.0   // for one call
#define BUDGET_S  0.5   // for all steps of one file

#define N_MACRO        5       // macro steps of a trial of calls
#define CALL_TIMEOUT_S 5.0     // for one call, that of the initialisation too
#define MOST_RATIO     3.0     // times one call that calls may cost
#define CHEAP_S        100e-6  // of ten calls: next to nothing

// ---- a copy of an FMU, for a trial

typedef double trial(const yoke_unit* unit, const yoke_unit_file_settings* settings, double t);

// What `run` says of a copy in a process of its own; 0: nothing.
static double try_copy(yoke_system* system, const yoke_system_unit* unit,
                       yoke_unit_file_settings settings, double timeout_s, trial* run) {
  yoke_unit_store* store = NULL;
  const yoke_unit_ops* ops = NULL;
  yoke_messages nobody_reads = {0};
  yoke_system_unit copy;
  yoke_temp* temp = NULL;
  char path[4096];
  double cost = 0;
  if (yoke__unit_store_create(&store) < 0 || yoke__temp_create(&temp, NULL) < 0) {
    yoke__unit_store_destroy(&store);
    return 0;
  }
  yoke__os_path_absolute(settings.path, path, sizeof path);
  settings.path = path;
  settings.trial_folder = yoke__temp_path(temp);
  settings.is_isolated = true;
  settings.wait = YOKE_WAIT_SLEEP;
  settings.timeout_s =
      settings.timeout_s > 0 && settings.timeout_s < timeout_s ? settings.timeout_s : timeout_s;
  settings.is_logging = false;
  if (yoke__unit_store_open(store, &settings, &nobody_reads, &ops) >= 0 &&
      yoke__system_make_copy(system, unit, ops, &nobody_reads, &copy) >= 0) {
    cost = run(&copy.unit, &settings, system->scenario->start.value);
    yoke__unit_terminate(&copy.unit);
    yoke__unit_close(&copy.unit);
  }
  yoke__messages_free(&nobody_reads);
  yoke__unit_store_destroy(&store);
  yoke__temp_remove(&temp);
  return cost;
}

// ---- threads

static bool is_worth_trying(const yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  size_t n_files = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_scenario_unit* unit = &s->units[i];
    n_files += unit->kind == YOKE_KIND_FMU && unit->type != NULL && unit->cost_s <= 0;
  }
  return s->threads == 0 && !s->has_errors && n_files >= 2 && yoke__os_n_processors() > 1 &&
         (s->scheme == YOKE_JACOBI || s->scheme == YOKE_ITERATIVE_JACOBI) && s->step.value > 0 &&
         (s->stop.value - s->start.value) / s->step.value >= MIN_STEPS;
}

// a few steps from the start; the median of what the unit itself took
static double try_steps(const yoke_unit* unit, const yoke_unit_file_settings* settings, double t) {
  const double h = settings->call_step;
  if (yoke__unit_enter_init(unit, t, t + N_TRIED * h, NULL) < 0 || yoke__unit_exit_init(unit) < 0) {
    return 0;
  }
  const int64_t end = yoke__os_now_ns() + (int64_t)(BUDGET_S * 1e9);
  for (int k = 0; k < N_TRIED && yoke__os_now_ns() < end; k++) {
    const double t_k = t + k * h;
    yoke_step_result result = {.t_reached = t_k + h};
    if (unit->ops->step(unit->self, t_k, h, &result) < 0 || result.flags != 0) {
      break;
    }
  }
  yoke_host_statistics seen;
  yoke__host_statistics(unit->self, &seen);
  return seen.n_steps > 0 ? seen.inner_median_s : 0;
}

static double try_unit(yoke_system* system, const yoke_system_unit* unit) {
  const yoke_scenario* s = system->scenario;
  yoke_unit_file_settings settings;
  if (yoke__system_file_settings(system, unit, &settings) < 0) {
    return 0;
  }
  settings.call_step = unit->source->step.is_given ? unit->source->step.value : s->step.value;
  return try_copy(system, unit, settings, TIMEOUT_S, try_steps);
}

// what an earlier unit of the same file has shown
static double find_tried(const yoke_system* system, size_t unit) {
  const char* path = system->units[unit].source->type;
  for (size_t i = 0; i < unit; i++) {
    const yoke_scenario_unit* other = system->units[i].source;
    if (other->kind == YOKE_KIND_FMU && strcmp(other->type, path) == 0 && other->cost_s <= 0) {
      return system->units[i].cost_s;
    }
  }
  return -1;
}

void yoke__system_try_costs(yoke_system* system) {
  if (!is_worth_trying(system)) {
    return;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    if (unit->source->kind == YOKE_KIND_FMU && unit->cost_s <= 0) {
      const double known = find_tried(system, i);
      unit->cost_s = known >= 0 ? known : try_unit(system, unit);
    }
  }
}

// ---- calls

// The least that a macro step in n_calls calls takes [s]; 0: not known. Time on the processor counts, whoever else computes
// meanwhile; of the time off it what no call goes without, as of an FMU that asks another program.
static double try_macro_steps(const yoke_unit* unit, const yoke_unit_file_settings* settings,
                              double t) {
  const int64_t n = settings->n_calls;
  const double h = settings->call_step;
  double least = (double)INFINITY, least_away = (double)INFINITY, sum = 0;
  int64_t n_summed = 0;
  if (yoke__unit_enter_init(unit, t, t + N_MACRO * (double)n * h, NULL) < 0 ||
      yoke__unit_exit_init(unit) < 0) {
    return 0;
  }
  yoke__host_measure(unit->self);
  const int64_t end = yoke__os_now_ns() + (int64_t)(BUDGET_S * 1e9);
  for (int64_t k = 0; k < N_MACRO * n && yoke__os_now_ns() < end; k++) {
    const double t_k = t + (double)k * h;
    double wall = 0, cpu = 0;
    yoke_step_result result = {.t_reached = t_k + h};
    if (unit->ops->step(unit->self, t_k, h, &result) < 0 || result.flags != 0) {
      break;
    }
    yoke__host_last_step(unit->self, &wall, &cpu);
    least_away = fmin(least_away, fmax(0, wall - cpu));
    sum += cpu;
    if (++n_summed == n) {
      least = fmin(least, sum);
      sum = 0;
      n_summed = 0;
    }
  }
  if (!isfinite(least) && n_summed > 0) {
    least = sum / (double)n_summed * (double)n;  // there was no time for a whole one
  }
  return isfinite(least) ? least + (double)n * least_away : 0;
}

static double try_in_calls(yoke_system* system, const yoke_system_unit* unit, int64_t n) {
  yoke_unit_file_settings settings;
  if (yoke__system_file_settings(system, unit, &settings) < 0) {
    return 0;
  }
  settings.n_calls = n;
  settings.call_step = system->scenario->step.value / (double)n;
  return try_copy(system, unit, settings, CALL_TIMEOUT_S, try_macro_steps);
}

int64_t yoke__system_worth_calls(double one_s, double ten_s, bool is_even) {
  static const int64_t choices[] = {10, 5, 2};
  if (ten_s <= CHEAP_S) {
    return choices[0];
  }
  for (size_t i = 0; i < YOKE_COUNT(choices); i++) {
    const double n = (double)choices[i];
    if (one_s + (n - 1) / 9 * (ten_s - one_s) <= MOST_RATIO * one_s &&
        !(is_even && choices[i] % 2 != 0)) {
      return choices[i];
    }
  }
  return 1;
}

static yoke_scenario_trial try_both(yoke_system* system, const yoke_system_unit* unit,
                                    bool is_even) {
  yoke_scenario_trial t = {.ten_s = try_in_calls(system, unit, YOKE_AUTO_CALLS)};
  if (t.ten_s > CHEAP_S) {
    t.one_s = try_in_calls(system, unit, 1);
  }
  if (t.ten_s > 0 && (t.one_s > 0 || t.ten_s <= CHEAP_S)) {
    t.calls = yoke__system_worth_calls(t.one_s, t.ten_s, is_even);
  }
  return t;
}

// At least as many as the loops ask for; 0 stays unknown.
static int64_t raise_calls(int64_t calls, int64_t least, bool is_even) {
  while (calls > 0 && calls < least && calls < YOKE_AUTO_CALLS) {
    calls = calls == 1 ? 2 : calls == 2 && !is_even ? 5 : YOKE_AUTO_CALLS;
  }
  return calls;
}

// Two units of the same file with the same settings behave alike.
static size_t find_twin(const yoke_system* system, size_t unit) {
  const yoke_scenario_unit* own = system->units[unit].source;
  for (size_t i = 0; i < unit; i++) {
    const yoke_scenario_unit* other = system->units[i].source;
    if (other->kind == own->kind && strcmp(other->type, own->type) == 0 &&
        other->n_with + own->n_with + other->n_values + own->n_values == 0) {
      return i;
    }
  }
  return YOKE_NOT_FOUND;
}

// Whose calls are left to us, and are not limited by steps of its own.
static bool is_tried(const yoke_system_unit* unit) {
  return unit->source->kind == YOKE_KIND_FMU && unit->is_paced && unit->n_calls == YOKE_AUTO_CALLS;
}

bool yoke__system_try_calls(yoke_system* system, int64_t least, yoke_scenario_trial trials[]) {
  bool is_even = false, is_fewer = false, has_two = false;
  for (size_t i = 0; i < system->n_units; i++) {
    const uint32_t flags = system->units[i].unit.info->flags;
    if ((flags & YOKE_UNIT_PHYSICAL) != 0) {
      return false;  // nothing is tried beside a machine
    }
    // a companion that cannot be called twice as often has half of these calls
    is_even = is_even || (flags & YOKE_UNIT_FIXED_STEP) != 0;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (is_tried(unit)) {
      const size_t twin = find_twin(system, i);
      trials[i] = twin != YOKE_NOT_FOUND && is_tried(&system->units[twin])
                      ? trials[twin]
                      : try_both(system, unit, is_even);
      trials[i].calls = raise_calls(trials[i].calls, least, is_even);
      has_two = has_two || trials[i].calls == 2;
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    int64_t* calls = &trials[i].calls;
    // units with 2 and with 5 calls would meet at the ends of macro steps only
    *calls = *calls == 5 && has_two ? 2 : *calls;
    is_fewer = is_fewer || (*calls > 0 && *calls < system->units[i].n_calls);
  }
  return is_fewer;
}
