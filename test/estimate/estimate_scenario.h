// A circuit or inverter that is measured with noise, and a filter beside it, step by step. The plant is exact for inputs that are
// held over a step.
#ifndef YOKE_TEST_ESTIMATE_SCENARIO_H
#define YOKE_TEST_ESTIMATE_SCENARIO_H

#include "base/base_message.h"
#include "estimate/estimate_filter.h"
#include "estimate_benchmarks.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"

#define NO_BOUND ((double)INFINITY)

// standard deviation per square root of a second of what has this variance per step
static inline double walk_of(double variance_per_step, double h) {
  return sqrt(variance_per_step / h);
}

// ---- the plant

typedef struct plant {
  yoke_heat_model model;
  double h, z[8], x[16];
} plant;

static inline plant plant_make(const yoke_heat_network* network, const double g[], const double c[],
                               const double z0[], double h, yoke_arena* arena) {
  plant self = {.h = h};
  check_ok(yoke__heat_model_prepare(network, g, c, arena, &self.model, NULL));
  memcpy(self.z, z0, self.model.p * sizeof *z0);
  return self;
}

// All temperatures with the inputs of now.
static inline const double* plant_read(plant* self, const double v[]) {
  yoke__heat_model_temperatures(&self->model, self->z, v, self->x);
  return self->x;
}

// To t + h with inputs v + slope s (slope may be NULL).
static inline void plant_step(plant* self, const double v[], const double slope[]) {
  const yoke_heat_model* m = &self->model;
  double E[64], Psi1[64], Psi2[64], work[256], push[8], next[8];
  check_ok(yoke__discrete(m->p, m->Fc, self->h, E, Psi1, Psi2, work));
  yoke__mat_vec(m->p, m->p, E, self->z, next);
  yoke__mat_vec(m->p, m->r, m->Gc, v, push);
  yoke__mat_vec_add(m->p, m->p, Psi1, push, next);
  if (slope != NULL) {
    yoke__mat_vec(m->p, m->r, m->Gc, slope, push);
    yoke__mat_vec_add(m->p, m->p, Psi2, push, next);
  }
  memcpy(self->z, next, m->p * sizeof *next);
}

// ---- the filter

static const uint32_t target_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

// One resistor, capacity, input or sensor.
static inline yoke_unknown unknown_of(yoke_unknown_kind kind, const char* name, uint32_t target,
                                      double start, double sd) {
  return (yoke_unknown){.kind = kind,
                        .name = name,
                        .targets = &target_numbers[target],
                        .n_targets = 1,
                        .start = start,
                        .sd = sd,
                        .lower = -NO_BOUND,
                        .upper = NO_BOUND};
}

static inline yoke_sensor sensor_of(const char* name, uint32_t node, double sigma) {
  return (yoke_sensor){name, {YOKE_ROW_TEMPERATURE, node, 0}, sigma};
}

static inline yoke_estimate* filter_make(const yoke_estimate_setup* setup, yoke_arena* arena,
                                         yoke_caught* err) {
  yoke_estimate* f = NULL;
  if (yoke__estimate_prepare(setup, arena, &f, &err->sink) < 0) {
    fail_msg("%s", err->text);
  }
  return f;
}

static inline double filter_value(const yoke_estimate* f, size_t unknown) {
  double value, sd;
  yoke__estimate_unknown(f, unknown, &value, &sd);
  return value;
}

#endif
