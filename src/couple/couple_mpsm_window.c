// Compares two windows of samples (Chow's test).
//
//   F = ((r_all - r_1 - r_2) / q) / ((r_1 + r_2 + least) / (n - 2 q))
//
// r: sum of the squares that the least squares of q parameters leave in the windows 1, 2 and in both. With one model for both
// and normal errors that are independent F is about 1, and above 4 in fewer than one of a thousand. Errors here are neither, so
// whoever asks has a larger limit. least: models that are exact leave round-off only.
//
// r from the sums M = sum z z^T, z = (regressors, output): the square of the last pivot of the Cholesky factor of M. A ridge of
// RIDGE times the diagonal keeps it positive where regressors depend on each other. It must stay small against what tells them
// apart, so lags should come as differences.
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
  const size_t n_slots = w->setup.n_blocks + 1, n_sums = w->n_sums, behind = first + n;
  memcpy(to, block_of(w, i, (w->newest + n_slots - first) % n_slots), n_sums * sizeof(double));
  for (size_t j = first + 1; j < behind; j += 2) {
    // two at a time: most of the work is to fetch and store the sums
    const double* a = block_of(w, i, (w->newest + n_slots - j) % n_slots);
    if (j + 1 == behind) {
      for (size_t k = 0; k < n_sums; k++) {
        to[k] += a[k];
      }
      return;
    }
    const double* b = block_of(w, i, (w->newest + n_slots - j - 1) % n_slots);
    for (size_t k = 0; k < n_sums; k++) {
      to[k] = to[k] + a[k] + b[k];
    }
  }
}

// What least squares leave in three sets of sums, M[v]; they become their factors. All three at once, since each one alone
// waits for its own sums, roots and quotients most of the time.
enum { SETS = 3 };

// Columns 0 to r - 1 of row r, which begins at `row`; pivot: loses their squares.
static void factor_row(double* const M[SETS], size_t row, size_t r, double pivot[SETS]) {
  double *a = M[0] + row, *b = M[1] + row, *c = M[2] + row;
  double pivot_a = pivot[0], pivot_b = pivot[1], pivot_c = pivot[2];
  for (size_t j = 0, other = 0; j < r; other += ++j) {
    const double *x = M[0] + other, *y = M[1] + other, *z = M[2] + other;
    double sum_a = a[j], sum_b = b[j], sum_c = c[j];
    for (size_t k = 0; k < j; k++) {
      sum_a -= a[k] * x[k];
      sum_b -= b[k] * y[k];
      sum_c -= c[k] * z[k];
    }
    // the diagonal holds the inverse of the pivot, 0 for a regressor that was never there
    sum_a *= x[j];
    sum_b *= y[j];
    sum_c *= z[j];
    pivot_a -= sum_a * sum_a;
    pivot_b -= sum_b * sum_b;
    pivot_c -= sum_c * sum_c;
    a[j] = sum_a;
    b[j] = sum_b;
    c[j] = sum_c;
  }
  pivot[0] = pivot_a;
  pivot[1] = pivot_b;
  pivot[2] = pivot_c;
}

static void left_over(size_t q, double* const M[SETS], double left[SETS]) {
  for (size_t r = 0, row = 0; r <= q; row += ++r) {
    for (int v = 0; v < SETS; v++) {
      left[v] = r < q ? M[v][row + r] * (1 + RIDGE) : M[v][row + r];
    }
    factor_row(M, row, r, left);
    for (int v = 0; v < SETS && r < q; v++) {
      M[v][row + r] = left[v] > 0 ? 1 / sqrt(left[v]) : 0;
    }
  }
  for (int v = 0; v < SETS; v++) {
    left[v] = left[v] > 0 ? left[v] : 0;
  }
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
  double left[SETS];
  left_over(q, (double* const[SETS]){now, before, both}, left);
  // round-off must not make it less than nothing: that would be no evidence
  const double parts = left[0] + left[1] + floor, more = fmax(left[2] + floor - parts, 0);
  return parts > 0 ? more / (double)q / (parts / (n - 2 * (double)q)) : -1;
}
