// What a step of an FMU costs, where that decides whether a second thread pays.
//
// All calls to a unit come from the one thread it is made in, so the threads must be known before the units are. A file
// says nothing about its cost; so each FMU is made once beforehand, in a process of its own, takes a few steps from its
// own start values, and is thrown away. That is done only if the answer matters: threads are left to Yoke, there are at
// least two such units, more than one processor, and a run long enough. It takes some 10 ms per file, one second at most.
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "system/system.h"
#include "unit/host/unit_host.h"

#define MIN_STEPS 2000  // of the run: below this nothing is gained
#define N_TRIED   8     // steps
#define TIMEOUT_S 1.0   // for one call
#define BUDGET_S  0.5   // for all steps of one file

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
static double try_steps(const yoke_unit* unit, double t, double h) {
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
  yoke_unit_store* store = NULL;
  yoke_unit_file_settings settings;
  const yoke_unit_ops* ops = NULL;
  yoke_messages nobody_reads = {0};
  double cost = 0;
  if (yoke__system_file_settings(system, unit, &settings) < 0 ||
      yoke__unit_store_create(&store) < 0) {
    return 0;
  }
  settings.is_isolated = true;
  settings.wait = YOKE_WAIT_SLEEP;
  settings.timeout_s = TIMEOUT_S;
  settings.is_logging = false;
  if (yoke__unit_store_open(store, &settings, &nobody_reads, &ops) >= 0) {
    yoke_arena arena = {0};
    yoke_unit trial = {0};
    const yoke_unit_args args = {unit->name, system->scenario->directory, NULL, 0, ops->context};
    if (yoke__unit_create(ops, &args, &arena, &trial, NULL) >= 0) {
      const yoke_scenario* s = system->scenario;
      cost = try_steps(&trial, s->start.value,
                       unit->source->step.is_given ? unit->source->step.value : s->step.value);
      yoke__unit_terminate(&trial);
      yoke__unit_close(&trial);
    }
    yoke__arena_free(&arena);
  }
  yoke__messages_free(&nobody_reads);
  yoke__unit_store_destroy(&store);
  return cost;
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
