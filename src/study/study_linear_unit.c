// The linear model of one unit, and how it is solved; see study_linear.h.
#include <math.h>
#include <stdio.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"
#include "study/study_linear_part.h"

// Its sizes and matrices, or why there are none.
static yoke_status take_model(const yoke_unit* unit, yoke_arena* arena, yoke_linear_unit* to) {
  yoke_linear model = {0};
  if (unit->ops->linearise == NULL) {
    to->why = "its model provides no derivatives";
    return YOKE_OK;
  }

  // asked twice: sizes first, then the matrices
  yoke_status status = unit->ops->linearise(unit->self, &model);
  const bool fits = model.n_inputs == unit->n_u && model.n_outputs == unit->n_y;
  if (status >= 0 && fits) {
    const size_t n = model.n_states, m = model.n_inputs, p = model.n_outputs;
    model.A = yoke__linear_numbers(arena, n * n);
    model.B = yoke__linear_numbers(arena, n * m);
    model.C = yoke__linear_numbers(arena, p * n);
    model.D = yoke__linear_numbers(arena, p * m);
    YOKE_TRY_MEMORY(model.A && model.B && model.C && model.D);
    status = unit->ops->linearise(unit->self, &model);
  }
  if (status < 0 || !fits) {
    YOKE_CATCH(reason);
    yoke__unit_reason(unit, &reason.sink);
    to->why = yoke__linear_text(
        arena, !fits && status >= 0 ? "its linear model has other inputs or outputs than the unit"
               : reason.text[0] != '\0' ? reason.text
                                        : "it has no linear model at this point");
    return to->why == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  to->has_model = true;
  to->n_states = model.n_states;
  to->n_inputs = model.n_inputs;
  to->n_outputs = model.n_outputs;
  to->A = model.A;
  to->B = model.B;
  to->C = model.C;
  to->D = model.D;
  return YOKE_OK;
}

yoke_status yoke__linear_look_at(yoke_arena* arena, yoke_linear_unit* to) {
  const size_t n = to->n_states, m = to->n_inputs, p = to->n_outputs;
  if (!yoke__are_finite(n * n, to->A) || !yoke__are_finite(n * m, to->B) ||
      !yoke__are_finite(p * n, to->C) || !yoke__are_finite(p * m, to->D)) {
    to->has_model = false;
    to->why = "its linear model holds NaN or infinity at this point";
    return YOKE_OK;
  }

  // feedthrough and eigenvalues of the unit by itself
  for (size_t i = 0; i < p * m; i++) {
    to->n_feedthrough += to->D[i] != 0;
  }
  double *re = yoke__linear_numbers(arena, n), *im = yoke__linear_numbers(arena, n);
  YOKE_TRY_MEMORY(re && im);
  if (n > 0) {
    YOKE_TRY(yoke__eigenvalues(n, to->A, re, im));
  }
  for (size_t i = 0; i < n; i++) {
    const double size = hypot(re[i], im[i]);
    to->slowest = i == 0 ? size : fmin(to->slowest, size);
    to->fastest = i == 0 ? size : fmax(to->fastest, size);
    to->growth = i == 0 ? re[i] : fmax(to->growth, re[i]);
  }
  return YOKE_OK;
}

// How the unit is solved: by explicit Euler in internal steps, or otherwise, which is taken as exact.
static yoke_status find_solver(const yoke_system_unit* unit, yoke_arena* arena,
                               yoke_linear_unit* to) {
  char text[96] = "treated as exact";
  double step = 0;
  const yoke_solver_method method = yoke__unit_solver(&unit->unit, unit->step, &step);
  if (unit->is_law) {
    snprintf(text, sizeof text, "none");
  } else if (method == YOKE_SOLVER_EXACT || (to->has_model && to->n_states == 0)) {
    snprintf(text, sizeof text, "exact");
  } else if (method == YOKE_SOLVER_EULER || (method == YOKE_SOLVER_UNKNOWN && step > 0)) {
    to->solver.micro_step = step;
    snprintf(text, sizeof text, "explicit Euler%s, %.6g s",
             method == YOKE_SOLVER_UNKNOWN ? " assumed" : "", step);
  } else if (method == YOKE_SOLVER_UNKNOWN) {
    to->is_solver_unknown = true;
  } else if (method != YOKE_SOLVER_OTHER) {
    to->semi_implicit_step = method == YOKE_SOLVER_SEMI_IMPLICIT_EULER ? step : 0;
    snprintf(text, sizeof text, "treated as exact: %s", yoke_solver_text(method));
  }
  to->solver_text = yoke__linear_text(arena, text);
  return to->solver_text == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

yoke_status yoke__linear_unit_of(const yoke_system* system, size_t unit, yoke_arena* arena,
                                 yoke_linear_unit* to) {
  const yoke_system_unit* from = &system->units[unit];
  *to = (yoke_linear_unit){.unit = unit,
                           .name = from->name,
                           .model = from->unit.ops->name,
                           .n_inputs = from->unit.n_u,
                           .n_outputs = from->unit.n_y,
                           .slowest = (double)NAN,
                           .fastest = (double)NAN,
                           .growth = (double)NAN};
  YOKE_TRY(take_model(&from->unit, arena, to));
  if (to->has_model) {
    YOKE_TRY(yoke__linear_look_at(arena, to));
  }
  return find_solver(from, arena, to);
}

yoke_status yoke__linear_select(const yoke_linear_unit* unit, const size_t outputs[],
                                size_t n_outputs, const size_t inputs[], size_t n_inputs,
                                yoke_arena* arena, yoke_stability_unit* to) {
  const size_t n = unit->n_states, m = n_inputs, p = n_outputs;
  double *B = yoke__linear_numbers(arena, n * m), *C = yoke__linear_numbers(arena, p * n),
         *D = yoke__linear_numbers(arena, p * m);
  YOKE_TRY_MEMORY(B && C && D);

  // columns of B and D and rows of C and D of what travels in loops
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < m; j++) {
      B[i * m + j] = unit->B[i * unit->n_inputs + inputs[j]];
    }
  }
  for (size_t i = 0; i < p; i++) {
    memcpy(C + i * n, unit->C + outputs[i] * n, n * sizeof *C);
    for (size_t j = 0; j < m; j++) {
      D[i * m + j] = unit->D[outputs[i] * unit->n_inputs + inputs[j]];
    }
  }
  *to = (yoke_stability_unit){n, m, p, unit->A, B, C, D};
  return YOKE_OK;
}
