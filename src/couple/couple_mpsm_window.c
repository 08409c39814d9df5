// Compares two windows of samples (Chow's test).
//
//   F = ((r_all - r_1 - r_2) / q) / ((r_1 + r_2 + least) / (n - 2 q))
//
// r: sum of the squares that the least squares of q parameters leave in the windows 1, 2 and in both. With one model for both
// and normal errors that are independent F is about 1, and above 4 in fewer than one of a thousand. Errors here are neither, so
// whoever asks has a larger limit. least: models that are exact leave round-off only.
//
// r from the sums M = sum z z^T, z = (regressors, output): the square of the last pivot of the Cholesky factor of M. A ridge of
// RIDGE times the diagonal keeps it positive where regressors depend on each other.
// Source: G. C. Chow, Econometrica 28 (1960) 591-605.
#include "couple/couple_mpsm_window.h"

#include <math.h>
#include <string.h>

#define RIDGE 1e-10

// Samples per parameter that a window must have.
enum { N_LEAST = 3 };

static size_t count_products(size_t q) {
  return (q + 1) * (q + 2) / 2;
}

void yoke__mpsm_window_lay(yoke_pieces* from, const yoke_mpsm_window_setup* setup,
                           yoke_mpsm_window* to) {
  const size_t n_sums = count_products(setup->q) + 2;
  *to = (yoke_mpsm_window){.setup = *setup, .n_sums = n_sums};
  to->sums = yoke__take(from, setup->n * (setup->n_blocks + 1) * n_sums, sizeof(double));
  to->now = yoke__take(from, n_sums, sizeof(double));
  to->before = yoke__take(from, n_sums, sizeof(double));
  to->both = yoke__take(from, n_sums, sizeof(double));
}

static double* block_of(const yoke_mpsm_window* w, size_t i, size_t block) {
  return w->sums + (i * (w->setup.n_blocks + 1) + block) * w->n_sums;
}

void yoke__mpsm_window_add(yoke_mpsm_window* window, size_t i, const double row[], double motion) {
  const size_t q = window->setup.q;
  double* at = block_of(window, i, window->newest);
  for (size_t r = 0; r <= q; r++) {
    for (size_t c = 0; c <= r; c++) {
      *at++ += row[r] * row[c];
    }
  }
  at[0] += 1;
  at[1] += motion * motion;
}

static void empty_newest(yoke_mpsm_window* window) {
  for (size_t i = 0; i < window->setup.n; i++) {
    memset(block_of(window, i, window->newest), 0, window->n_sums * sizeof(double));
  }
}

void yoke__mpsm_window_next(yoke_mpsm_window* window) {
  window->newest = (window->newest + 1) % (window->setup.n_blocks + 1);
  window->n_whole += window->n_whole < window->setup.n_blocks;
  empty_newest(window);
}

void yoke__mpsm_window_clear(yoke_mpsm_window* window) {
  window->n_whole = 0;
  empty_newest(window);
}

// to := sum of the blocks that are first to first + n - 1 back from the one being filled
static void sum_blocks(const yoke_mpsm_window* w, size_t i, size_t first, size_t n, double to[]) {
  const size_t n_slots = w->setup.n_blocks + 1;
  memset(to, 0, w->n_sums * sizeof(double));
  for (size_t j = first; j < first + n; j++) {
    const double* from = block_of(w, i, (w->newest + n_slots - j) % n_slots);
    for (size_t k = 0; k < w->n_sums; k++) {
      to[k] += from[k];
    }
  }
}

// What least squares leave; M becomes its factor.
static double left_over(size_t q, double M[]) {
  double* row = M;
  for (size_t r = 0; r <= q; row += ++r) {
    double pivot = r < q ? row[r] * (1 + RIDGE) : row[r];
    const double* other = M;
    for (size_t c = 0; c < r; other += ++c) {
      double sum = row[c];
      for (size_t k = 0; k < c; k++) {
        sum -= row[k] * other[k];
      }
      // the diagonal holds the inverse of the pivot, 0 for a regressor that was never there
      row[c] = sum * other[c];
      pivot -= row[c] * row[c];
    }
    if (r == q) {
      return pivot > 0 ? pivot : 0;
    }
    row[r] = pivot > 0 ? 1 / sqrt(pivot) : 0;
  }
  return 0;
}

double yoke__mpsm_window_compare(const yoke_mpsm_window* window, size_t i, size_t n_now,
                                 size_t n_before) {
  const size_t q = window->setup.q, at = count_products(q);
  double *now = window->now, *before = window->before, *both = window->both;
  sum_blocks(window, i, 1, n_now, now);
  sum_blocks(window, i, n_now + 1, n_before, before);
  const double n = now[at] + before[at], least = (double)(N_LEAST * q);
  if (!(now[at] >= least && before[at] >= least)) {
    return -1;
  }
  for (size_t k = 0; k < at; k++) {
    both[k] = now[k] + before[k];
  }
  const double floor = window->setup.least_share * (now[at + 1] + before[at + 1]);
  const double parts = left_over(q, now) + left_over(q, before) + floor;
  const double more = left_over(q, both) + floor - parts;
  return parts > 0 ? more / (double)q / (parts / (n - 2 * (double)q)) : -1;
}
