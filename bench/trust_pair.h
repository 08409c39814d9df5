// Random nonlinear pairs for the study of the error bands: two masses with springs and dampers to ground and between them,
// square-root springs, quadratic dampers or both (models/oscillator), cut as force-displacement with a bond or as
// displacement-displacement without. Units integrate by rk4. The reference is the undivided system by rk4 with 200 steps
// per exchange; at the relaxed square-root spring, whose slope is infinite, that is still 20 times finer than the units.
#ifndef YOKE_BENCH_TRUST_PAIR_H
#define YOKE_BENCH_TRUST_PAIR_H

#include <stdbool.h>
#include <string.h>

#include "bench/trust_text.h"
#include "models/models_random.h"

typedef struct pair {
  int64_t seed;
  bool has_bond;  // force-displacement; otherwise displacement-displacement
  bool is_root, is_quadratic;
  double m[2], k[3], c[3];  // masses; left, between, right
  double start[4];          // x1, v1, x2, v2
  double omega;             // of the faster mass at unit amplitude [rad/s]
} pair;

static inline double pair_draw(const pair* p, uint64_t k, double low, double high) {
  return low * pow(high / low, yoke__random_uniform(p->seed, 2, k));
}

static inline void pair_make(pair* p, int64_t seed) {
  *p = (pair){.seed = seed};
  p->has_bond = yoke__random_uniform(seed, 3, 0) < 0.6;
  const int laws = (int)(3 * yoke__random_uniform(seed, 3, 1));
  p->is_root = laws != 1;
  p->is_quadratic = laws != 0;
  for (uint64_t i = 0; i < 2; i++) {
    p->m[i] = pair_draw(p, i, 0.1, 10);
    p->k[2 * i] = pair_draw(p, 2 + i, 1, 100);
  }
  p->k[1] = sqrt(p->k[0] * p->k[2]) * pair_draw(p, 4, 1, 100);
  const double masses[3] = {p->m[0], p->m[0] * p->m[1] / (p->m[0] + p->m[1]), p->m[1]};
  for (uint64_t i = 0; i < 3; i++) {
    // a quadratic damper takes as much as a linear one at the speed sqrt(k/m)
    const double zeta = pair_draw(p, 5 + i, 0.003, 1), m = masses[i];
    p->c[i] = 2 * zeta * (p->is_quadratic ? m : sqrt(p->k[i] * m));
  }
  for (uint64_t i = 0; i < 2; i++) {
    p->start[2 * i] = 2 * yoke__random_uniform(seed, 4, 2 * i) - 1;
    p->start[2 * i + 1] =
        (2 * yoke__random_uniform(seed, 4, 2 * i + 1) - 1) * sqrt(p->k[2 * i] / p->m[i]);
    p->omega = fmax(p->omega, sqrt((p->k[2 * i] + p->k[1]) / p->m[i]));
  }
}

// What follows the unit's model and solver. has_joint: the unit holds the element between the masses.
static inline void pair_print_settings(study_text* t, const pair* p, size_t i, bool has_joint) {
  study_print(t, ", m: %.17g, k: %.17g, c: %.17g", p->m[i], p->k[2 * i], p->c[2 * i]);
  if (has_joint) {
    study_print(t, ", kc: %.17g, cc: %.17g", p->k[1], p->c[1]);
  }
  study_print(t, "%s%s}, start: {x: %.17g, v: %.17g}}\n", p->is_root ? ", spring: square-root" : "",
              p->is_quadratic ? ", damper: quadratic" : "", p->start[2 * i], p->start[2 * i + 1]);
}

static inline void pair_print_unit(study_text* t, const pair* p, const char* name,
                                   const char* model, size_t i, const study_way* way,
                                   study_step h) {
  study_print(t, "  %s: {model: oscillator.%s, ", name, model);
  study_print_step(t, way, h);
  study_print(t, "with: {solver: rk4");
  pair_print_settings(t, p, i, strcmp(model, "mass") != 0);
}

static inline void pair_print_link(study_text* t, const study_way* way, const char* from,
                                   const char* to) {
  study_print(t, "  - {from: %s, to: %s", from, to);
  study_print_order(t, way);
  study_print(t, "}\n");
}

static inline void pair_print_system(const void* self, study_method method, int64_t n, study_step H,
                                     study_step h, study_text* t) {
  const pair* p = self;
  const study_way* way = &study_ways[method];
  t->n = 0;
  study_print_head(t, way, H, h);
  study_print(t, "name: trust study, nonlinear pair %" PRId64 ", %s\n", p->seed, way->name);
  study_print(t, "time: {stop: %" PRId64 "e%d, step: %" PRId64 "e%d}\n%sunits:\n", n * H.mantissa,
              H.exponent, H.mantissa, H.exponent, way->top);
  pair_print_unit(t, p, "left", p->has_bond ? "force" : "displacement", 0, way, h);
  pair_print_unit(t, p, "right", p->has_bond ? "mass" : "displacement", 1, way, h);
  study_print(t, "connections:\n");
  pair_print_link(t, way, "right.x", "left.x_other");
  if (p->has_bond) {
    study_print(t, "bonds:\n  spring: {action: left.f -> right.f, rate: right.v -> left.v_other");
    if (way->order > 0) {
      study_print(t, ", coupling: {method: hold, order: %d}", way->order);
    }
    study_print(t, "}\n");
  } else {
    pair_print_link(t, way, "right.v", "left.v_other");
    pair_print_link(t, way, "left.x", "right.x_other");
    pair_print_link(t, way, "left.v", "right.v_other");
  }
  if (way->coupling != NULL) {
    study_print(t, "couplings: {loop: {%s, members: [left, right]}}\n", way->coupling);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the undivided system

static inline double pair_force(const pair* p, size_t i, double e, double rate) {
  const double spring = p->is_root ? copysign(sqrt(fabs(e)), e) : e;
  return p->k[i] * spring + p->c[i] * (p->is_quadratic ? rate * fabs(rate) : rate);
}

static inline void pair_rate(const pair* p, const double x[4], double dx[4]) {
  const double f = pair_force(p, 1, x[0] - x[2], x[1] - x[3]);
  dx[0] = x[1];
  dx[1] = (-pair_force(p, 0, x[0], x[1]) - f) / p->m[0];
  dx[2] = x[3];
  dx[3] = (-pair_force(p, 2, x[2], x[3]) + f) / p->m[1];
}

static inline void pair_step(const pair* p, double h, double x[4]) {
  static const double part[4] = {0, 0.5, 0.5, 1};
  double k[4][4], z[4];
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 4; i++) {
      z[i] = x[i] + (s > 0 ? h * part[s] * k[s - 1][i] : 0);
    }
    pair_rate(p, z, k[s]);
  }
  for (int i = 0; i < 4; i++) {
    x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

static inline void pair_read(const pair* p, const double x[4], double y[]) {
  if (p->has_bond) {
    y[0] = pair_force(p, 1, x[0] - x[2], x[1] - x[3]);
    y[1] = x[2];
    y[2] = x[3];
  } else {
    memcpy(y, x, 4 * sizeof *y);
  }
}

// truth: n + 1 rows of left.f, right.x, right.v, or of left.x, left.v, right.x, right.v
static inline void pair_solve(const pair* p, int64_t n, double H, double truth[]) {
  enum { FINER = 200 };
  double x[4];
  memcpy(x, p->start, sizeof x);
  for (int64_t k = 0; k <= n; k++) {
    pair_read(p, x, &truth[(p->has_bond ? 3 : 4) * k]);
    for (int j = 0; j < FINER; j++) {
      pair_step(p, H / FINER, x);
    }
  }
}

// Over H, with steps that keep the difference of one step and two halves below `tolerance`; *h: the step to begin with, and to
// go on with. A relaxed square-root spring makes it short.
static inline void pair_advance(const pair* p, double H, double tolerance, double* h, double x[4]) {
  const double least = 1e-9 / p->omega;
  for (double t = 0; t < H;) {
    const bool is_last = *h >= H - t;
    const double step = is_last ? H - t : *h;
    double whole[4], halves[4], error = 0;
    memcpy(whole, x, sizeof whole);
    memcpy(halves, x, sizeof halves);
    pair_step(p, step, whole);
    pair_step(p, step / 2, halves);
    pair_step(p, step / 2, halves);
    for (int i = 0; i < 4; i++) {
      error = fmax(error, fabs(whole[i] - halves[i]) / (i % 2 == 0 ? 1 : p->omega));
    }
    if (error <= tolerance || step <= least) {
      memcpy(x, halves, sizeof halves);
      t = is_last ? H : t + step;
    }
    const double factor = fmin(fmax(0.9 * pow(tolerance / (error + 1e-300), 0.2), 0.2), 4);
    // the last step is short because H ends, which says little about the next
    *h = is_last && factor > 1 ? fmax(*h, step * factor) : fmax(step * factor, least);
    *h = fmin(*h, 0.1 / p->omega);
  }
}

// The same as pair_solve to `tolerance` per step.
static inline void pair_solve_within(const pair* p, int64_t n, double H, double tolerance,
                                     double truth[]) {
  double x[4], h = 1e-3 / p->omega;
  memcpy(x, p->start, sizeof x);
  for (int64_t k = 0; k <= n; k++) {
    pair_read(p, x, &truth[(p->has_bond ? 3 : 4) * k]);
    pair_advance(p, H, tolerance, &h, x);
  }
}

#endif
