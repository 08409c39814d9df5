// Interface quasi-Newton update; see the header for the equations.
#include "linalg/linalg_anderson.h"

#include <assert.h>
#include <string.h>

#include "linalg/linalg_dense.h"

#define DROP 1e-10  // columns that repeat older directions to ten digits add only noise

static size_t columns_for(size_t n) {
  return n < YOKE_ANDERSON_MEMORY ? n : YOKE_ANDERSON_MEMORY;
}

size_t yoke__anderson_size(size_t n) {
  const size_t m = columns_for(n);
  return 2 * m * n + 2 * n + m * n + n + m + 2 * m + 8;
}

void yoke__anderson_init(yoke_anderson* self, size_t n, double memory[]) {
  const size_t m = columns_for(n);
  *self = (yoke_anderson){.n = n};
  self->dr = memory;
  self->dg = self->dr + m * n;
  self->r_last = self->dg + m * n;
  self->g_last = self->r_last + n;
  self->a = self->g_last + n;
  self->b = self->a + m * n;
  self->gamma = self->b + n;
  self->work = self->gamma + m;
  assert(self->work + 2 * m <= memory + yoke__anderson_size(n));
}

void yoke__anderson_reset(yoke_anderson* self) {
  self->n_columns = 0;
  self->n_seen = 0;
}

// newest difference first; the oldest falls out
static void push_difference(yoke_anderson* self, const double x[], const double g[]) {
  const size_t n = self->n, m = columns_for(n);
  memmove(self->dr + n, self->dr, (m - 1) * n * sizeof *self->dr);
  memmove(self->dg + n, self->dg, (m - 1) * n * sizeof *self->dg);
  for (size_t i = 0; i < n; i++) {
    // differences of residuals r = g - x and of maps g, newest in row 0
    self->dr[i] = (g[i] - x[i]) - self->r_last[i];
    self->dg[i] = g[i] - self->g_last[i];
  }
  self->n_columns = self->n_columns < m ? self->n_columns + 1 : m;
}

void yoke__anderson_next(yoke_anderson* self, double x[], const double g[], const double weight[],
                         double relaxation) {
  const size_t n = self->n;
  if (n == 0) {
    return;
  }
  if (self->n_seen++ > 0) {
    push_difference(self, x, g);
  }

  // residual of the fixed-point map, r = g(x) - x
  for (size_t i = 0; i < n; i++) {
    self->r_last[i] = g[i] - x[i];
    self->g_last[i] = g[i];
  }
  const size_t m = self->n_columns;
  if (m == 0) {
    // no difference yet: plain relaxation x + omega r
    for (size_t i = 0; i < n; i++) {
      x[i] += relaxation * self->r_last[i];
    }
    return;
  }

  // min || W (r - dR gamma) ||, W = diag(weight), so that signals of different units weigh alike
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < m; j++) {
      self->a[i * m + j] = weight[i] * self->dr[j * n + i];
    }
    self->b[i] = weight[i] * self->r_last[i];
  }
  yoke__least_squares(n, m, self->a, self->b, self->gamma, DROP, self->work);

  // x := g - dG gamma: the step that would carry the linear part of the residual to zero
  for (size_t i = 0; i < n; i++) {
    double next = g[i];
    for (size_t j = 0; j < m; j++) {
      next -= self->dg[j * n + i] * self->gamma[j];
    }
    x[i] = next;
  }
}
