// Noise on everything that is exchanged: units of the study registered a second time, as `noisy0`, `noisy1`, ..., with the
// operations of the model and outputs
//
//   y_i(t) + s_i z_i(t),    z normal, white: one number per unit, output and instant
//
// Only what is read is noisy; states are not. Feedthrough, linear model and derivatives are those of the model: nothing is hidden
// that the clean unit shows, and the noise drops out of differences at one instant. Noise is added at the very end, so that the
// clean signal is what was read less s_i z_i(t), which coupling_noise_at knows.
#ifndef YOKE_BENCH_COUPLING_NOISE_H
#define YOKE_BENCH_COUPLING_NOISE_H

#include <math.h>
#include <string.h>

#include "models/models_random.h"
#include "yoke/registry.h"

enum { COUPLING_NOISY = 4, COUPLING_NOISY_OUTPUTS = 8 };

typedef struct coupling_noisy {
  const yoke_unit_ops* model;
  double deviations[COUPLING_NOISY_OUTPUTS];  // s_i
  int64_t seed;
  double H;
  double t;  // of the outputs
} coupling_noisy;

// One system runs at a time.
static coupling_noisy coupling_noises[COUPLING_NOISY];

// Instants are distinguished by millionths of an exchange interval, whatever calls it is divided into.
static inline double coupling_noise_at(size_t unit, size_t output, double t) {
  const coupling_noisy* c = &coupling_noises[unit];
  if (c->deviations[output] == 0) {
    return 0;
  }
  const uint64_t k = (uint64_t)llround(t / c->H * 1e6);
  return c->deviations[output] *
         yoke__random_normal(c->seed, 16 + unit * COUPLING_NOISY_OUTPUTS + output, k);
}

static inline yoke_status coupling_noisy_step(size_t unit, void* self, double t, double h,
                                              yoke_step_result* result) {
  coupling_noises[unit].t = t + h;
  return coupling_noises[unit].model->step(self, t, h, result);
}

static inline yoke_status coupling_noisy_refresh(size_t unit, void* self, double t) {
  coupling_noises[unit].t = t;
  return coupling_noises[unit].model->refresh(self, t);
}

static inline yoke_status coupling_noisy_read(size_t unit, const void* self, double y[],
                                              size_t n_y) {
  const coupling_noisy* c = &coupling_noises[unit];
  const yoke_unit_info* info = c->model->info != NULL ? c->model->info : c->model->describe(self);
  size_t n = 0;
  for (size_t i = 0; i < info->n_variables && n < n_y; i++) {
    if (info->variables[i].causality == YOKE_OUTPUT) {
      memcpy(&y[n], (const char*)self + info->variables[i].offset, sizeof y[n]);
      y[n] += coupling_noise_at(unit, n, c->t);
      n++;
    }
  }
  return YOKE_OK;
}

// A unit is told nothing but `self`: one set of functions for each place in the system.
#define COUPLING_PLACE(i)                                                                          \
  static yoke_status coupling_step_##i(void* self, double t, double h, yoke_step_result* result) { \
    return coupling_noisy_step(i, self, t, h, result);                                             \
  }                                                                                                \
  static yoke_status coupling_refresh_##i(void* self, double t) {                                  \
    return coupling_noisy_refresh(i, self, t);                                                     \
  }                                                                                                \
  static yoke_status coupling_read_##i(const void* self, double y[], size_t n_y) {                 \
    return coupling_noisy_read(i, self, y, n_y);                                                   \
  }
COUPLING_PLACE(0)
COUPLING_PLACE(1)
COUPLING_PLACE(2)
COUPLING_PLACE(3)
#undef COUPLING_PLACE

static inline const yoke_unit_ops* coupling_find_model(const char* name) {
  const yoke_unit_ops* ops = NULL;
  for (size_t i = 0; (ops = yoke_registry_unit(NULL, i)) != NULL; i++) {
    if (strcmp(ops->name, name) == 0) {
      break;
    }
  }
  return ops;
}

// Adds noisyN for place N; the table lives on. deviations: of its outputs, in the order of its variables.
static inline yoke_status coupling_add_noisy(yoke_registry* registry, size_t place,
                                             const char* model, const double deviations[],
                                             size_t n_outputs, int64_t seed, double H) {
  static const char* const names[COUPLING_NOISY] = {"noisy0", "noisy1", "noisy2", "noisy3"};
  static yoke_status (*const steps[COUPLING_NOISY])(void*, double, double, yoke_step_result*) = {
      coupling_step_0, coupling_step_1, coupling_step_2, coupling_step_3};
  static yoke_status (*const refreshes[COUPLING_NOISY])(void*, double) = {
      coupling_refresh_0, coupling_refresh_1, coupling_refresh_2, coupling_refresh_3};
  static yoke_status (*const reads[COUPLING_NOISY])(const void*, double[], size_t) = {
      coupling_read_0, coupling_read_1, coupling_read_2, coupling_read_3};
  static yoke_unit_ops tables[COUPLING_NOISY];
  coupling_noisy* c = &coupling_noises[place];
  *c = (coupling_noisy){.model = coupling_find_model(model), .seed = seed, .H = H};
  if (c->model == NULL || n_outputs > COUPLING_NOISY_OUTPUTS) {
    return YOKE_BAD_ARG;
  }
  memcpy(c->deviations, deviations, n_outputs * sizeof *deviations);
  const yoke_unit_ops head = {YOKE_UNIT_HEAD};
  tables[place] = *c->model;
  tables[place].table_size = head.table_size;
  tables[place].table_version = head.table_version;
  tables[place].name = names[place];
  tables[place].step = steps[place];
  tables[place].refresh = refreshes[place];
  tables[place].get_outputs = reads[place];
  return yoke_registry_add_unit(registry, &tables[place], NULL);
}

#endif
