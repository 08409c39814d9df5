// Random sparse matrices for the tests of linalg_sparse: the same numbers on every machine.
#ifndef YOKE_TEST_SPARSE_CASES_H
#define YOKE_TEST_SPARSE_CASES_H

#include "linalg/linalg_sparse.h"
#include "support/check.h"

#define CASE_N_MAX 200

typedef struct sparse_case {
  int32_t n;
  int32_t starts[CASE_N_MAX + 1];
  int32_t rows[CASE_N_MAX * CASE_N_MAX];
  uint8_t varying[CASE_N_MAX * CASE_N_MAX];
  double values[CASE_N_MAX * CASE_N_MAX];
  double b[CASE_N_MAX];
} sparse_case;

static inline double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static inline int32_t random_index(uint64_t* seed, int32_t n) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int32_t)((*seed >> 33) % (uint64_t)n);
}

// A full map, row by row, becomes columns; values stay to be set.
static inline void case_from_map(sparse_case* c, int32_t n, const uint8_t map[]) {
  c->n = n;
  int32_t e = 0;
  c->starts[0] = 0;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t i = 0; i < n; i++) {
      if (map[i * n + j]) {
        c->rows[e++] = i;
      }
    }
    c->starts[j + 1] = e;
  }
  memset(c->varying, 1, (size_t)e);
}

// One entry per row and column at random places (so mostly off the diagonal), and n_more anywhere.
// strong: the entries of that permutation dominate their columns, so that any order of pivots from
// among them is stable and the matrix is well conditioned.
static inline void case_random(sparse_case* c, int32_t n, int32_t n_more, double strong,
                               uint64_t* seed) {
  static uint8_t map[CASE_N_MAX * CASE_N_MAX];
  int32_t row_of[CASE_N_MAX];
  memset(map, 0, sizeof map);
  for (int32_t j = 0; j < n; j++) {
    row_of[j] = j;
  }
  for (int32_t j = n - 1; j > 0; j--) {
    const int32_t k = random_index(seed, j + 1), swapped = row_of[j];
    row_of[j] = row_of[k];
    row_of[k] = swapped;
  }
  for (int32_t j = 0; j < n; j++) {
    map[row_of[j] * n + j] = 1;
  }
  for (int32_t k = 0; k < n_more; k++) {
    const int32_t i = random_index(seed, n), j = random_index(seed, n);
    map[i * n + j] = 1;
  }
  case_from_map(c, n, map);
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
      const double a = random_number(seed);
      const double count = (double)(c->starts[j + 1] - c->starts[j]);
      c->values[e] = a;
      if (strong > 0.0 && c->rows[e] == row_of[j]) {
        c->values[e] = (a < 0.0 ? -1.0 : 1.0) * strong * (count + fabs(a));
      }
    }
    c->b[j] = random_number(seed);
  }
}

static inline yoke_sparse_pattern case_pattern(const sparse_case* c) {
  return (yoke_sparse_pattern){c->n, c->starts, c->rows, c->varying};
}

// max |A x - b| over max |A| max |x| + max |b|, in long double: the backward error.
static inline double case_residual(const sparse_case* c, const double values[], const double x[]) {
  long double r[CASE_N_MAX] = {0.0L}, row[CASE_N_MAX] = {0.0L}, worst = 0.0L, size = 0.0L;
  long double x_max = 0.0L, b_max = 0.0L;
  for (int32_t j = 0; j < c->n; j++) {
    for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
      r[c->rows[e]] += (long double)values[e] * (long double)x[j];
      row[c->rows[e]] += fabsl((long double)values[e]);
    }
    x_max = fmaxl(x_max, fabsl((long double)x[j]));
    b_max = fmaxl(b_max, fabsl((long double)c->b[j]));
  }
  for (int32_t i = 0; i < c->n; i++) {
    const long double off = fabsl(r[i] - (long double)c->b[i]);
    worst = off <= worst ? worst : off;
    size = fmaxl(size, row[i]);
  }
  return (double)(worst / (size * x_max + b_max));
}

#endif
