// What a linear filter is made of.
#include "estimate/estimate_filter_constants.h"

#include "estimate/estimate_filter_part.h"

yoke_status yoke__estimate_constants_of(const yoke_estimate* f, yoke_estimate_constants* out) {
  if (f->method != YOKE_ESTIMATE_LINEAR) {
    return YOKE_NO_SUPPORT;
  }

  // a filter that has moved is no longer the one that the constants describe
  bool is_moved = f->head->counts.n_steps > 0 || f->head->counts.n_readings > 0 ||
                  f->head->reason != YOKE_ESTIMATE_SOUND;
  for (size_t j = 0; j < f->n_rho; j++) {
    is_moved = is_moved || f->frozen_sd[j] >= 0.0;
  }
  if (is_moved) {
    return YOKE_BAD_ARG;
  }
  *out = (yoke_estimate_constants){.setup = &f->setup,
                                   .model = &f->model,
                                   .n = f->n,
                                   .p = f->p,
                                   .r = f->r,
                                   .n_rho = f->n_rho,
                                   .is_unknown_input = f->is_unknown_input,
                                   .lower = f->lower,
                                   .upper = f->upper,
                                   .F = f->F,
                                   .Psi1 = f->Psi1,
                                   .Psi2 = f->Psi2,
                                   .Q = f->Q,
                                   .q = f->q,
                                   .P = f->P,
                                   .v = f->v};
  return YOKE_OK;
}

void yoke__estimate_sensor_line(const yoke_estimate* f, size_t sensor, double H[]) {
  yoke__filter_sensor(f, sensor, H);
}

void yoke__estimate_output_line(const yoke_estimate* f, size_t output, double H[]) {
  yoke__filter_row(f, f->setup.outputs[output], H);
}
