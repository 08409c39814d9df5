// Charges of junctions as states of the full equations.
//
//   I - i(v) - q' = 0,   q' = a0 q(v) + c,   c = sum_j w_j q(v_{k-j}) + sum_s d_s q'_s
//
// with the weights of the integration formula (circuit_method.h). The charge that flows in over a
// step is then what q has changed by, whatever the step; with C(v) v' it is only so to the order of
// the method, and a step from conducting to blocking makes or loses charge. Nothing is kept from step
// to step: q follows from past values x, and the rate at x_k from the equation itself, q' = I - i(v).
#include "circuit/circuit_method.h"
#include "circuit/equations/circuit_equations.h"

yoke_status yoke__equations_take_charges(yoke_equations* self, yoke_arena* arena) {
  const size_t n = self->has_charges ? self->n_junctions : 0;
  self->charge_c = yoke__arena_array(arena, (YOKE_METHOD_MAX_STAGES + 2) * n, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  self->charge_rate = self->charge_c + n;
  return YOKE_OK;
}

static double charge_of(const yoke_stamp* stamp, const double x[]) {
  double capacitance = 0.0;
  return yoke__junction_charge(stamp->charge, x[stamp->a] - x[stamp->b], &capacitance);
}

void yoke__equations_note_charges(yoke_equations* self, uint32_t s, const double x[]) {
  for (uint32_t k = 0; self->has_charges && k < self->n_junctions; k++) {
    const yoke_stamp* stamp = &self->stamps[self->junctions[k]];
    double i = 0.0;
    double g = 0.0;
    yoke__junction_evaluate(&stamp->junction, x[stamp->a] - x[stamp->b], &i, &g);
    // q' = I - i(v), from the equation itself
    self->charge_rate[(size_t)s * self->n_junctions + k] = x[stamp->i] - i;
  }
}

void yoke__equations_begin_charges(yoke_equations* self, const double x[]) {
  self->is_charge_stage = self->has_charges;
  yoke__equations_note_charges(self, 0, x);
}

void yoke__equations_gather_charges(yoke_equations* self, const yoke_method_stage* stage,
                                    const double* const x[]) {
  for (uint32_t k = 0; self->has_charges && k < self->n_junctions; k++) {
    const yoke_stamp* stamp = &self->stamps[self->junctions[k]];
    double c = 0.0;
    for (uint32_t j = 0; stamp->charge != NULL && j < stage->n_x; j++) {
      // sum w_j q(v_{k-j})
      c += stage->x_weight[j] * charge_of(stamp, x[j]);
    }
    for (uint32_t j = 0; j < stage->n_d; j++) {
      // sum d_s q'_s
      c += stage->d_weight[j] * self->charge_rate[(size_t)j * self->n_junctions + k];
    }
    self->charge_c[k] = c;
  }
}

void yoke__equations_end_charges(yoke_equations* self) {
  self->is_charge_stage = false;
}
