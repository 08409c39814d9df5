// The coupling methods that the study compares, and the systems of bench/trust_loop.h and bench/trust_pair.h as files that use
// them. What a method is: lines at the top of the file, an order, a coupling, and who calls the units how often.
#ifndef YOKE_BENCH_COUPLING_WAY_H
#define YOKE_BENCH_COUPLING_WAY_H

#include "bench/trust_loop.h"
#include "bench/trust_pair.h"

typedef enum coupling_method {
  COUPLING_HOLD,
  COUPLING_HOLD_10,
  COUPLING_LINEAR,
  COUPLING_ORDER_1,
  COUPLING_ORDER_1_10,
  COUPLING_ORDER_2,
  COUPLING_ORDER_2_10,
  COUPLING_NEPCE,
  COUPLING_MPSM,
  COUPLING_AUTO_1,
  COUPLING_AUTO,
  COUPLING_METHODS
} coupling_method;

typedef struct coupling_way {
  const char *key, *name, *top, *coupling;
  int order;       // -1: the file names none
  bool has_steps;  // units are called ten times per exchange, otherwise they exchange at every call
} coupling_way;

static const coupling_way coupling_ways[COUPLING_METHODS] = {
    {"hold", "hold, 1 call", "inputs: start\ncalls: 1\n", NULL, 0, false},
    {"hold10", "hold, 10 calls", "inputs: start\ncalls: 10\n", NULL, 0, false},
    {"linear", "linear, 10 calls", "inputs: start\n", NULL, 1, true},
    {"order1", "order 1, mean, 1 call", "inputs: mean\ncalls: 1\n", NULL, 1, false},
    {"order1x10", "order 1, mean, 10 calls", "inputs: mean\ncalls: 10\n", NULL, 1, false},
    {"order2", "order 2, mean, 1 call", "inputs: mean\ncalls: 1\n", NULL, 2, false},
    {"order2x10", "order 2, mean, 10 calls", "inputs: mean\ncalls: 10\n", NULL, 2, false},
    {"nepce", "nepce, 10 calls", "", "method: nepce", -1, true},
    {"mpsm", "mpsm, 10 calls", "", "method: mpsm", -1, true},
    {"auto1", "auto, 1 call", "calls: 1\n", NULL, -1, false},
    {"auto", "**auto**", "", NULL, -1, false},
};

// What units a file is made of.
typedef enum coupling_units {
  COUPLING_NATIVE,
  COUPLING_WITH_NOISE,  // bench/coupling_noise.h
  COUPLING_FMUS,        // bench/coupling_fmu.h
} coupling_units;

typedef struct coupling_file {
  coupling_method method;
  coupling_units units;
  int64_t n;  // exchanges
  study_step H;
} coupling_file;

static inline void coupling_print_head(study_text* t, const coupling_file* f, int64_t seed) {
  const coupling_way* way = &coupling_ways[f->method];
  t->n = 0;
  study_print(t, "yoke: 1\nname: coupling study, seed %" PRId64 ", %s\n%s", seed, way->key,
              way->top);
  study_print(t, "time: {stop: %" PRId64 "e%d, step: %" PRId64 "e%d}\nunits:\n",
              f->n * f->H.mantissa, f->H.exponent, f->H.mantissa, f->H.exponent);
}

// "  u0: {model: state_space, step: 12e-5, "
static inline void coupling_print_unit(study_text* t, const coupling_file* f, const char* name,
                                       const char* model, size_t i) {
  study_print(t, "  %s: {model: ", name);
  if (f->units == COUPLING_WITH_NOISE) {
    study_print(t, "noisy%zu, ", i);
  } else {
    study_print(t, "%s, ", model);
  }
  if (coupling_ways[f->method].has_steps) {
    const study_step h = study_divide(f->H, 10);
    study_print(t, "step: %" PRId64 "e%d, ", h.mantissa, h.exponent);
  }
}

static inline void coupling_print_order(study_text* t, const coupling_file* f) {
  const int order = coupling_ways[f->method].order;
  if (order >= 0) {
    study_print(t, ", order: %d", order);
  }
  study_print(t, "}\n");
}

static inline void coupling_print_loop(const void* self, const coupling_file* f, study_text* t) {
  const loop* s = self;
  const coupling_way* way = &coupling_ways[f->method];
  coupling_print_head(t, f, s->seed);
  for (size_t i = 0; i < s->n_units; i++) {
    if (f->units == COUPLING_FMUS) {
      study_print(t, "  u%zu: {fmu: u%zu.fmu}\n", i, i);
      continue;
    }
    char name[24];
    snprintf(name, sizeof name, "u%zu", i);
    coupling_print_unit(t, f, name, "state_space", i);
    loop_print_settings(t, &s->units[i]);
  }
  bool is_first = true;
  for (size_t i = 0; i < s->n_links; i++) {
    if (s->links[i].bond < 0) {
      study_print(t, "%s  - {from: ", is_first ? "connections:\n" : "");
      loop_print_link(t, s, &s->links[i], ", to: ");
      coupling_print_order(t, f);
      is_first = false;
    }
  }
  study_print(t, "%s", s->n_bonds > 0 ? "bonds:\n" : "");
  for (int b = 0; b < s->n_bonds; b++) {
    loop_print_bond(t, s, b, way->order);
  }
  if (way->coupling != NULL) {
    study_print(t, "couplings:\n  loop: {%s, members: [", way->coupling);
    for (size_t i = 0; i < s->n_units; i++) {
      study_print(t, "%su%zu", i > 0 ? ", " : "", i);
    }
    study_print(t, "]}\n");
  }
}

// Internal steps of a call: rk4 with at most 0.1 radians of the faster mass, so that what is off is the coupling.
static inline int coupling_micro_steps(const pair* p, study_step H) {
  const double n = ceil(study_seconds(H) * p->omega / 0.1);
  return n < 1 ? 1 : (int)n;
}

static inline void coupling_print_pair(const void* self, const coupling_file* f, study_text* t) {
  static const char* const links[2][4] = {{"right.x, to: left.x_other", "right.v, to: left.v_other",
                                           "left.x, to: right.x_other",
                                           "left.v, to: right.v_other"},
                                          {"right.x, to: left.x_other", NULL, NULL, NULL}};
  const pair* p = self;
  const coupling_way* way = &coupling_ways[f->method];
  coupling_print_head(t, f, p->seed);
  for (size_t i = 0; i < 2; i++) {
    const bool has_joint = i == 0 || !p->has_bond;
    coupling_print_unit(t, f, i == 0 ? "left" : "right",
                        !p->has_bond ? "oscillator.displacement"
                        : i == 0     ? "oscillator.force"
                                     : "oscillator.mass",
                        i);
    study_print(t, "with: {solver: rk4, micro_steps: %d", coupling_micro_steps(p, f->H));
    pair_print_settings(t, p, i, has_joint);
  }
  study_print(t, "connections:\n");
  for (size_t i = 0; i < 4 && links[p->has_bond][i] != NULL; i++) {
    study_print(t, "  - {from: %s", links[p->has_bond][i]);
    coupling_print_order(t, f);
  }
  if (p->has_bond) {
    study_print(t, "bonds:\n  spring: {action: left.f -> right.f, rate: right.v -> left.v_other");
    if (way->order > 0) {
      study_print(t, ", coupling: {method: hold, order: %d}", way->order);
    }
    study_print(t, "}\n");
  }
  if (way->coupling != NULL) {
    study_print(t, "couplings: {loop: {%s, members: [left, right]}}\n", way->coupling);
  }
}

#endif
