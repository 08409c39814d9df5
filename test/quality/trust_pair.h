// Two coupled units of first order and the three runs that the judge compares.
//
//   x_i' = a_i x_i + b_i u_i,   y = x,   u_1 = c_1 y_2,   u_2 = c_2 y_1
//
// Units are exact for a held input. Companion A halves the exchange step H; companion B extrapolates linearly with four
// calls per exchange at H/2: each call gets the value at its start, the first exchange is held.
#ifndef YOKE_TEST_TRUST_PAIR_H
#define YOKE_TEST_TRUST_PAIR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define PAIR ((size_t)2)

enum { PAIR_ITERATIONS = 200 };

typedef struct pair_system {
  double a[PAIR], b[PAIR], c[PAIR], x0[PAIR];
} pair_system;

// The system of the golden numbers: x1' = -x1 + u1, x2' = -2 x2 + u2, u1 = -4 y2, u2 = y1.
static const pair_system pair_golden = {.a = {-1, -2}, .b = {1, 1}, .c = {-4, 1}, .x0 = {1, 0}};

typedef struct pair_runs {
  size_t n;           // samples: 0 .. N
  double *y, *a, *b;  // sample k of signal i: [PAIR * k + i]
} pair_runs;

static inline double pair_advance(const pair_system* s, size_t i, double x, double u, double h) {
  return exp(s->a[i] * h) * x + s->b[i] * expm1(s->a[i] * h) / s->a[i] * u;
}

static inline void pair_inputs(const pair_system* s, const double y[PAIR], double u[PAIR]) {
  u[0] = s->c[0] * y[1];
  u[1] = s->c[1] * y[0];
}

// Jacobi with n_calls per exchange and inputs held or extrapolated linearly; every thin-th sample is kept.
static inline void pair_extrapolate(const pair_system* s, double H, size_t n_exchanges, int n_calls,
                                    bool is_linear, size_t thin, double out[]) {
  double x[PAIR] = {s->x0[0], s->x0[1]}, before[PAIR];
  pair_inputs(s, x, before);
  for (size_t k = 0; k <= n_exchanges; k++) {
    if (k % thin == 0) {
      out[k / thin * PAIR] = x[0];
      out[k / thin * PAIR + 1] = x[1];
    }
    double u[PAIR];
    pair_inputs(s, x, u);
    for (size_t i = 0; i < PAIR; i++) {
      const double slope = is_linear ? (u[i] - before[i]) / n_calls : 0.0;
      for (int c = 0; c < n_calls; c++) {
        x[i] = pair_advance(s, i, x[i], u[i] + slope * c, H / n_calls);
      }
      before[i] = u[i];
    }
  }
}

// Iterated until nothing changes; a call gets the mean of its input at start and end.
static inline void pair_iterate(const pair_system* s, double H, size_t n_exchanges, size_t thin,
                                double out[]) {
  double x[PAIR] = {s->x0[0], s->x0[1]};
  for (size_t k = 0; k <= n_exchanges; k++) {
    if (k % thin == 0) {
      out[k / thin * PAIR] = x[0];
      out[k / thin * PAIR + 1] = x[1];
    }
    double u[PAIR], y[PAIR] = {x[0], x[1]};
    pair_inputs(s, x, u);
    double change = 1.0;
    for (int i = 0; i < PAIR_ITERATIONS && change > 1e-16; i++) {
      double end[PAIR];
      pair_inputs(s, y, end);
      change = 0.0;
      for (size_t j = 0; j < PAIR; j++) {
        const double next = pair_advance(s, j, x[j], 0.5 * (u[j] + end[j]), H);
        change = fmax(change, fabs(next - y[j]));
        y[j] = next;
      }
    }
    x[0] = y[0];
    x[1] = y[1];
  }
}

// The three runs over n_exchanges of the step H. Free with pair_free.
static inline pair_runs pair_run(const pair_system* s, double H, size_t n_exchanges,
                                 bool is_iterated) {
  const size_t n = n_exchanges + 1;
  pair_runs runs = {.n = n};
  runs.y = malloc(3 * PAIR * n * sizeof(double));
  if (runs.y == NULL) {
    abort();
  }
  runs.a = runs.y + PAIR * n;
  runs.b = runs.a + PAIR * n;
  if (is_iterated) {
    pair_iterate(s, H, n_exchanges, 1, runs.y);
    pair_iterate(s, 0.5 * H, 2 * n_exchanges, 2, runs.a);
  } else {
    pair_extrapolate(s, H, n_exchanges, 1, false, 1, runs.y);
    pair_extrapolate(s, 0.5 * H, 2 * n_exchanges, 1, false, 2, runs.a);
  }
  pair_extrapolate(s, 0.5 * H, 2 * n_exchanges, 4, true, 2, runs.b);
  return runs;
}

static inline void pair_free(pair_runs* runs) {
  free(runs->y);
  *runs = (pair_runs){0};
}

#endif
