// A cluster of two units for what mpsm costs, served through the method's table. Unit k has n[k] outputs, which are its states,
// and n[1 - k] inputs, the outputs of the other one.
//
//   x_i' = -a_i x_i + sum_j b_ij u_j + d_i         d: random, another one at every exchange; no model knows it
#ifndef YOKE_BENCH_MPSM_PLANT_H
#define YOKE_BENCH_MPSM_PLANT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "couple/couple_mpsm.h"

enum { PLANT_UNITS = 2, PLANT_SIGNALS = 16 };
#define PLANT_STEP 1e-3

static inline double plant_uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

typedef struct plant {
  const char* name;
  size_t n[PLANT_UNITS], width;
  int source, n_exchanges;  // 0 rls, 1 moesp, 2 provided, 3 rls as published
  double a[PLANT_SIGNALS], b[PLANT_SIGNALS][PLANT_SIGNALS];
  double L[PLANT_SIGNALS * PLANT_SIGNALS], offset[PLANT_SIGNALS], parameters[64];
  int orders[PLANT_SIGNALS];
  int64_t n_sends[PLANT_SIGNALS];
  yoke_coupling_unit units[PLANT_UNITS];
  yoke_coupling_sink sinks[PLANT_UNITS];
  yoke_coupling_cluster cluster;
  yoke_coupling_setup setup;
  double* samples;  // n_exchanges x width
  void* self;
  size_t size;
  double x[PLANT_SIGNALS];
  uint64_t seed;
} plant;

static inline void plant_set(plant* p, const char* name, double value) {
  for (size_t i = 0; i < yoke__couple_mpsm.n_parameters; i++) {
    if (strcmp(yoke__couple_mpsm.parameters[i].name, name) == 0) {
      p->parameters[i] = value;
    }
  }
}

static inline double plant_health_of(const plant* p, const char* name) {
  double values[64];
  yoke__couple_mpsm.health(p->self, values);
  for (size_t i = 0; i < yoke__couple_mpsm.n_health; i++) {
    if (strcmp(yoke__couple_mpsm.health_names[i], name) == 0) {
      return values[i];
    }
  }
  return -1;
}

static inline void plant_describe(plant* p) {
  const size_t n = p->n[0], m = p->n[1], all = n + m;
  size_t n_linear = 0;
  for (size_t k = 0; k < PLANT_UNITS; k++) {
    const size_t outputs = p->n[k], inputs = p->n[1 - k];
    p->units[k] = (yoke_coupling_unit){.name = k == 0 ? "first" : "second",
                                       .first_output = k == 0 ? 0 : n,
                                       .n_outputs = outputs,
                                       .first_signal = k == 0 ? 0 : m,
                                       .n_signals = inputs,
                                       .has_linear = p->source == 2,
                                       .n_states = outputs,
                                       .first_linear = n_linear};
    p->sinks[k] = (yoke_coupling_sink){k == 0 ? 0 : m, inputs, PLANT_STEP};
    n_linear += p->source == 2 ? 2 * outputs * (outputs + inputs) : 0;
  }
  // signal i of the first unit is output n + i, signal m + i (of the second one) is output i
  for (size_t i = 0; i < all; i++) {
    p->L[i * all + (i < m ? n + i : i - m)] = 1;
    p->n_sends[i] = 1;
  }
  p->cluster = (yoke_coupling_cluster){.n_units = PLANT_UNITS,
                                       .units = p->units,
                                       .n_outputs = all,
                                       .n_linear = n_linear,
                                       .L = p->L,
                                       .offset = p->offset};
  p->width = 2 * all + n_linear;
  p->setup = (yoke_coupling_setup){.n_signals = all,
                                   .orders = p->orders,
                                   .n_sinks = PLANT_UNITS,
                                   .sinks = p->sinks,
                                   .interval = PLANT_STEP,
                                   .n_probes = all + n_linear,
                                   .parameters = p->parameters,
                                   .cluster = &p->cluster,
                                   .n_sends = p->n_sends};
}

static inline void plant_fail(const char* text) {
  fprintf(stderr, "mpsm_plant: %s\n", text);
  exit(1);
}

static inline void plant_open(plant* p, const char* name, size_t n, size_t m, int source,
                              int n_exchanges) {
  uint64_t seed = 7;
  *p = (plant){.name = name, .n = {n, m}, .source = source, .n_exchanges = n_exchanges};
  for (size_t i = 0; i < n + m; i++) {
    p->a[i] = 20.0 + 7.0 * (double)i;
    for (size_t j = 0; j < (i < n ? m : n); j++) {
      p->b[i][j] = (i < n ? -40.0 : 40.0) * (0.5 + plant_uniform(&seed)) / (double)(n > m ? n : m);
    }
  }
  for (size_t i = 0; i < yoke__couple_mpsm.n_parameters; i++) {
    p->parameters[i] = yoke__couple_mpsm.parameters[i].start;
  }
  plant_set(p, "jacobians", source == 3 ? 0 : source);
  if (source == 1) {
    // as recommended for subspace models
    plant_set(p, "th_signal", 4.22);
    plant_set(p, "th_modified", 1.72);
  }
  if (source == 3) {
    plant_set(p, "form", 1);
    plant_set(p, "level", 1);
  }
  plant_describe(p);
  p->size = (yoke__couple_mpsm.size(&p->setup) + 63) / 64 * 64;
  p->self = aligned_alloc(64, p->size);
  p->samples = calloc((size_t)n_exchanges * p->width, sizeof(double));
  if (p->self == NULL || p->samples == NULL) {
    plant_fail("no memory");
  }
}

static inline void plant_close(plant* p) {
  free(p->self);
  free(p->samples);
}

static inline void plant_prepare(plant* p) {
  YOKE_CATCH(err);
  memset(p->self, 0, p->size);
  if (yoke__couple_mpsm.prepare(p->self, &p->setup, &err.sink) < 0) {
    plant_fail(err.text);
  }
}

static inline void plant_exchange(plant* p, int k, const yoke_coupling_worker* worker, double u[]) {
  const yoke_coupling_moment now = {
      .k = k, .h_last = k == 0 ? 0 : PLANT_STEP, .h_next = PLANT_STEP, .worker = worker};
  yoke__couple_mpsm.observe(p->self, &now, p->samples + (size_t)k * p->width, k == 0 ? NULL : u);
  for (size_t i = 0; i < PLANT_UNITS; i++) {
    yoke__couple_mpsm.input(p->self, i, 0, u + p->sinks[i].first);
  }
}

// What the units tell at exchange k; linear models as well if they are wanted.
static inline void plant_tell(plant* p, int k) {
  const size_t n = p->n[0], m = p->n[1], all = n + m;
  double *sample = p->samples + (size_t)k * p->width, *linear = sample + 2 * all;
  for (size_t i = 0; i < all; i++) {
    sample[i] = p->x[i < m ? n + i : i - m];
    sample[all + i] = p->x[i];
  }
  for (size_t unit = 0; unit < PLANT_UNITS && p->source == 2; unit++) {
    const size_t outputs = p->n[unit], inputs = p->n[1 - unit], first = unit == 0 ? 0 : n;
    double *A = linear, *B = A + outputs * outputs, *C = B + outputs * inputs;
    for (size_t i = 0; i < outputs; i++) {
      A[i * outputs + i] = -p->a[first + i];
      C[i * outputs + i] = 1;
      memcpy(B + i * inputs, p->b[first + i], inputs * sizeof(double));
    }
    linear += 2 * outputs * (outputs + inputs);
  }
}

// One exchange interval by small steps.
static inline void plant_advance(plant* p, const double u[]) {
  enum { N_SMALL = 10 };
  const size_t n = p->n[0], m = p->n[1], all = n + m;
  double d[PLANT_SIGNALS];
  for (size_t i = 0; i < all; i++) {
    d[i] = 100 * (plant_uniform(&p->seed) - 0.5);
  }
  for (int j = 0; j < N_SMALL; j++) {
    for (size_t i = 0; i < all; i++) {
      const double* mine = u + (i < n ? 0 : m);
      double rate = -p->a[i] * p->x[i] + d[i];
      for (size_t c = 0; c < (i < n ? m : n); c++) {
        rate += p->b[i][c] * mine[c];
      }
      p->x[i] += PLANT_STEP / N_SMALL * rate;
    }
  }
}

#endif
