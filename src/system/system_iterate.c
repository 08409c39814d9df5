// What the iterative schemes ask of the units, and which inputs a repeated call gets.
//
// The inputs of a macro step go straight from those at its start to those at its end, U(s) for s from 0 to 1. A unit that
// holds its inputs gets over call j of n
//
//   mode mean           (U(j/n) + U((j+1)/n)) / 2     second order: the trapezoid rule
//   mode interpolate    U(j/n)                        first order; the undivided result of explicit Euler solvers
//   mode hold-end       U(1)                          first order
//
// One that takes input derivatives gets U(j/n) and the slope under mode mean. Outputs with feedthrough must be read with
// U(1): the mean would leave them D h u'/2 off, and the scheme of first order.
#include <stdlib.h>

#include "base/base_check.h"
#include "system/system.h"
#include "unit/fmu/unit_fmu.h"

double yoke__system_call_place(const yoke_system* system, const yoke_system_unit* unit, int64_t j) {
  const double n = (double)unit->n_steps;
  switch (system->scenario->iteration.mode) {
  case YOKE_ITERATE_MEAN:
    return unit->takes_slope ? (double)j / n : ((double)j + 0.5) / n;
  case YOKE_ITERATE_INTERPOLATE:
    return (double)j / n;
  case YOKE_ITERATE_HOLD_END:
    break;
  }
  return 1;
}

bool yoke__system_is_iteration_idle(const yoke_system* system) {
  if (!yoke__system_is_iterative(system) ||
      system->scenario->iteration.mode != YOKE_ITERATE_INTERPOLATE) {
    return false;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (!unit->is_law && (unit->period != system->macro || unit->unit.info->n_feedthrough > 0)) {
      return false;
    }
  }
  return true;
}

static const char* scheme_of(const yoke_system* system) {
  return system->scenario->scheme == YOKE_ITERATIVE_JACOBI ? "iterative-jacobi"
                                                           : "iterative-gauss-seidel";
}

static void check_rollback(yoke_system* system, const yoke_system_unit* unit) {
  if (yoke__unit_image_size(&unit->unit) > 0) {
    return;
  }
  const bool is_physical = (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0;
  char why[256] = "", help[128] = "";
  if (yoke__system_is_fmu(unit)) {
    yoke__fmu_no_rollback(unit->unit.ops, why, sizeof why, help, sizeof help);
  }
  yoke__error(system->messages, unit->source->place,
              "%s repeats steps, but unit '%s' (%s) %s%s%s; use scheme: jacobi or gauss-seidel%s%s",
              scheme_of(system), unit->name, unit->unit.ops->name,
              is_physical ? "is a real machine" : "cannot save and restore its state",
              why[0] == '\0' ? "" : ": ", why, help[0] == '\0' ? "" : ", or ", help);
}

// The variables whose directional derivatives are wanted: outputs with feedthrough, then inputs. False: not all are scalars.
static bool list_through(const yoke_unit* unit, const bool is_fed[], size_t list[],
                         size_t* n_outputs) {
  static const yoke_causality kinds[] = {YOKE_OUTPUT, YOKE_INPUT};
  size_t n = 0;
  bool is_scalar = true;
  for (size_t k = 0; k < YOKE_COUNT(kinds); k++) {
    *n_outputs = n;
    for (size_t i = 0; i < unit->info->n_variables; i++) {
      const yoke_variable* v = &unit->info->variables[i];
      const bool is_wanted = v->causality == kinds[k] && unit->dense[i] != YOKE_NOT_DENSE;
      if (is_wanted && (kinds[k] == YOKE_INPUT || is_fed[i])) {
        list[n++] = i;
        is_scalar = is_scalar && yoke__variable_count(v) == 1;
      }
    }
  }
  return is_scalar;
}

// The list, for a unit that can tell directional derivatives; NO_MEMORY.
static yoke_status choose_derivatives(yoke_system* system, yoke_system_unit* unit) {
  const yoke_unit_info* info = unit->unit.info;
  if (unit->unit.ops->derivative == NULL) {
    return YOKE_OK;
  }
  bool* is_fed = calloc(info->n_variables + 1, sizeof *is_fed);
  size_t* list = yoke__arena_array(&system->arena, info->n_variables + 1, sizeof *list);
  for (size_t i = 0; is_fed != NULL && i < info->n_feedthrough; i++) {
    is_fed[info->feedthrough[i].output] = true;
  }
  if (is_fed != NULL && list != NULL && list_through(&unit->unit, is_fed, list, &unit->n_through)) {
    unit->through = list;
  }
  const bool is_whole = is_fed != NULL && list != NULL;
  free(is_fed);
  return is_whole ? YOKE_OK : YOKE_NO_MEMORY;
}

// How outputs with feedthrough come by the inputs at the end of the step: these acted, or the unit evaluates them again, or
// its derivatives say what they lack. Else nobody knows.
static yoke_status choose_reading(yoke_system* system, yoke_system_unit* unit) {
  const yoke_iteration_mode mode = system->scenario->iteration.mode;
  if (unit->unit.info->n_feedthrough == 0 || unit->unit.n_u == 0 || unit->takes_slope ||
      mode == YOKE_ITERATE_HOLD_END || yoke__unit_can_refresh(&unit->unit) ||
      yoke__system_reserve_linear(system, unit)) {
    return YOKE_OK;
  }
  YOKE_TRY(choose_derivatives(system, unit));
  if (unit->through == NULL) {
    char why[256] = "", help[128];
    if (yoke__system_is_fmu(unit)) {
      yoke__fmu_no_refresh(unit->unit.ops, why, sizeof why, help, sizeof help);
    }
    yoke__message_add(
        system->messages, YOKE_WARNING, unit->source->place,
        "%s needs the outputs of '%s' (%s) with inputs at the end of the step; the unit can "
        "neither "
        "compute them again nor give their derivatives. They are read with %s of its last call, so "
        "the scheme is only of first order%s%s%s",
        scheme_of(system), unit->name, unit->unit.ops->name,
        mode == YOKE_ITERATE_MEAN ? "the mean inputs" : "the inputs at the start",
        why[0] == '\0' ? "" : " (no step can be tried and taken back: ", why,
        why[0] == '\0' ? "" : ")");
  }
  return YOKE_OK;
}

yoke_status yoke__system_check_iteration(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    if (unit->is_law) {
      continue;
    }
    unit->takes_slope = system->scenario->iteration.mode == YOKE_ITERATE_MEAN &&
                        unit->unit.ops->set_input_derivatives != NULL && unit->unit.n_u > 0;
    check_rollback(system, unit);
    YOKE_TRY(choose_reading(system, unit));
  }
  return YOKE_OK;
}
