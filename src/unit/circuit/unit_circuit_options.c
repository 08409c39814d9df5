// The options of the solver: the system file goes before the netlist's `.yoke`, that before `.tran`
// and `.options`.
//
// The solver's step must divide the interval at which the unit is called. With H that interval and
// w the step that is wanted, it is H / n with the smallest n for which H / n <= w, so that a call
// is always whole steps and no step is longer than was asked for.
#include <math.h>
#include <string.h>

#include "unit/circuit/unit_circuit_part.h"

#define MAX_INNER 1e9  // steps of the solver in one call

// index of text among names (NULL at their end); -1: none
static int find_name(const char* const names[], const char* text) {
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp(names[i], text) == 0) {
      return i;
    }
  }
  return -1;
}

static size_t count_names(const char* const names[]) {
  size_t n = 0;
  while (names[n] != NULL) {
    n++;
  }
  return n;
}

// A choice by its name; text NULL: as it is. False after a message.
static bool choose(const char* const names[], const char* text, const char* what, yoke_place place,
                   yoke_messages* messages, int* out) {
  if (text == NULL) {
    return true;
  }
  const int found = find_name(names, text);
  if (found >= 0) {
    *out = found;
    return true;
  }
  const char* nearest = yoke__nearest_name(text, names, count_names(names));
  yoke__error_near(messages, place, nearest, "unknown %s '%s'", what, text);
  return false;
}

// 0: nobody has said
static double wanted_step(const yoke_circuit_run* run, const yoke_unit_file_settings* settings) {
  if (settings->solver_step > 0) {
    return settings->solver_step;
  }
  if (run->step_exact > 0) {
    return run->step_exact;
  }
  if (run->max_step > 0 && (run->step <= 0 || run->max_step < run->step)) {
    return run->max_step;
  }
  return run->step;
}

static yoke_status choose_step(const yoke_network* network, const yoke_unit_file_settings* settings,
                               yoke_messages* messages, double* out) {
  const double wanted = wanted_step(&network->run, settings), called = settings->call_step;
  *out = wanted;
  if (called <= 0) {
    return YOKE_OK;  // without any step the solver says what is missing
  }
  if (wanted <= 0) {
    *out = called;
    return YOKE_OK;
  }
  // a rounding error above a whole number is none
  const double n = fmax(1, ceil(called / wanted * (1 - 1e-12)));
  if (n > MAX_INNER) {
    yoke__error(messages, settings->place,
                "the solver's step %g s is too small for a unit that is called every %g s", wanted,
                called);
    return YOKE_BAD_INPUT;
  }
  *out = called / n;
  return YOKE_OK;
}

static bool is_explicit(int method) {
  return method == YOKE_CIRCUIT_EULER || method == YOKE_CIRCUIT_RK4;
}

// The explicit methods exist for one formulation, and that has no others: what is named decides about what is not. A
// formulation of the system file goes before a method of the netlist that does not fit it, and a
// method of the system file before such a formulation of the netlist.
static void complete(const yoke_unit_file_settings* settings, int* method, int* formulation) {
  if (settings->solver != NULL && settings->solver_formulation == NULL &&
      is_explicit(*method) != (*formulation == YOKE_FORMULATION_ODE)) {
    *formulation = -1;
  }
  const bool is_ode = *formulation == YOKE_FORMULATION_ODE;
  const bool is_replaced = settings->solver == NULL && settings->solver_formulation != NULL &&
                           is_explicit(*method) != is_ode;
  if (*method < 0 || is_replaced) {
    *method = is_ode ? YOKE_CIRCUIT_RK4 : YOKE_CIRCUIT_TRBDF2;
  }
  if (*formulation < 0) {
    *formulation = is_explicit(*method) ? YOKE_FORMULATION_ODE : YOKE_FORMULATION_NODAL;
  }
}

yoke_status yoke__circuit_choose_options(const yoke_network* network,
                                         const yoke_unit_file_settings* settings,
                                         yoke_messages* messages, yoke_circuit_options* out) {
  const yoke_circuit_run* run = &network->run;
  const yoke_place place = {network->path, 0, 0};
  int method = -1, formulation = -1, startup = YOKE_STARTUP_TR_XI;
  const bool is_known =
      choose(yoke__circuit_method_names, run->method, "method", place, messages, &method) &&
      choose(yoke__circuit_method_names, settings->solver, "method", settings->place, messages,
             &method) &&
      choose(yoke__circuit_formulation_names, run->formulation, "formulation", place, messages,
             &formulation) &&
      choose(yoke__circuit_formulation_names, settings->solver_formulation, "formulation",
             settings->place, messages, &formulation) &&
      choose(yoke__circuit_startup_names, run->startup, "start-up", place, messages, &startup);
  if (!is_known) {
    return YOKE_BAD_INPUT;
  }
  complete(settings, &method, &formulation);
  *out = (yoke_circuit_options){
      .formulation = (yoke_circuit_formulation)formulation,
      .method = (yoke_circuit_method)method,
      .startup = (yoke_circuit_startup)startup,
      .iterations = settings->solver_iterations > 0 ? settings->solver_iterations : run->iterations,
      .max_iterations = run->max_iterations,
      .tolerance = settings->solver_tolerance > 0 ? settings->solver_tolerance : run->tolerance,
      .is_operating_point = !run->is_uic,
  };
  return choose_step(network, settings, messages, &out->step);
}
