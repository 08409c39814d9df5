// The principal matrix logarithm by inverse scaling and squaring.
//
//   log A = 2^s log(A^(1/2^s)),   log B = 2 (Z + Z^3/3 + Z^5/5 + ...),   Z = (B - I)(B + I)^-1
//
// Square roots by the product form of the Denman-Beavers iteration, M -> I, X -> A^(1/2) from M = X = A:
//
//   M := (2 I + M + M^-1) / 4,   X := X (I + M^-1) / 2        both from the old M
//
// Source: S. H. Cheng, N. J. Higham, C. S. Kenney, A. J. Laub, Approximating the logarithm of a matrix to specified accuracy,
// SIAM J. Matrix Anal. Appl. 22 (2001) 1112-1125.
//
// Assumes that A has no eigenvalue on the closed negative real axis. Each root doubles the error that round-off leaves: 2^s
// times the condition of the roots. Off line: takes memory.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"

#define NEAR      0.3  // 1-norm of A - I below which the series is summed
#define N_TERMS   12   // (0.3 / 1.7)^25 is below the round-off
#define MOST_ROOT 60
#define MOST_STEP 40
#define SETTLED   1e-7  // of the iteration, which converges quadratically: one step is left

typedef struct room {
  double *X, *M, *inverse, *work, *column;
  size_t* pivots;
} room;

// to := A^-1
static yoke_status invert(size_t n, const double A[], double to[], const room* r) {
  memcpy(r->work, A, n * n * sizeof *A);
  YOKE_TRY(yoke__lu_factor(n, r->work, r->pivots));

  // column by column: A x = e_j
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      r->column[i] = i == j ? 1 : 0;
    }
    yoke__lu_solve(n, r->work, r->pivots, r->column);
    for (size_t i = 0; i < n; i++) {
      to[i * n + j] = r->column[i];
    }
  }
  return YOKE_OK;
}

// 1-norm of A - I
static double distance(size_t n, const double A[]) {
  double largest = 0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      sum += fabs(A[i * n + j] - (i == j ? 1 : 0));
    }
    largest = fmax(largest, sum);
  }
  return largest;
}

// r->X := its square root
static yoke_status take_root(size_t n, const room* r) {
  memcpy(r->M, r->X, n * n * sizeof *r->M);
  bool is_last = false;
  for (int k = 0; k < MOST_STEP; k++) {
    YOKE_TRY(invert(n, r->M, r->inverse, r));
    // M := (2 I + M + M^-1) / 4 and (I + M^-1) / 2, element by element from the same old M
    for (size_t i = 0; i < n * n; i++) {
      const double one = i % (n + 1) == 0 ? 1 : 0;
      r->M[i] = 0.25 * (2 * one + r->M[i] + r->inverse[i]);
      r->inverse[i] = 0.5 * (one + r->inverse[i]);
    }
    // X := X (I + M^-1) / 2
    yoke__mat_mul(n, n, n, r->X, r->inverse, r->work);
    memcpy(r->X, r->work, n * n * sizeof *r->X);
    if (!yoke__are_finite(n * n, r->X)) {
      return YOKE_NO_CONVERGENCE;
    }
    if (is_last) {
      return YOKE_OK;
    }
    // |M - I| of 1e-7 is followed by one of about 1e-14
    is_last = distance(n, r->M) < SETTLED;
  }
  return YOKE_NO_CONVERGENCE;
}

// L := log X for X near I
static yoke_status sum_series(size_t n, double scale, double L[], const room* r) {
  double *Z = r->M, *power = r->inverse, *next = r->work;

  // Z = (X - I)(X + I)^-1; the factors commute, both being functions of X
  for (size_t i = 0; i < n * n; i++) {
    power[i] = r->X[i] + (i % (n + 1) == 0 ? 1 : 0);
  }
  YOKE_TRY(invert(n, power, Z, r));
  for (size_t i = 0; i < n * n; i++) {
    power[i] = r->X[i] - (i % (n + 1) == 0 ? 1 : 0);
  }
  yoke__mat_mul(n, n, n, power, Z, next);
  memcpy(Z, next, n * n * sizeof *Z);
  memcpy(power, Z, n * n * sizeof *Z);
  memset(L, 0, n * n * sizeof *L);

  // L = scale * 2 sum over odd powers Z^(2k+1) / (2k+1)
  for (int term = 0; term < N_TERMS; term++) {
    for (size_t i = 0; i < n * n; i++) {
      L[i] += 2 * scale * power[i] / (2 * term + 1);
    }
    // from Z^(2k+1) to Z^(2k+3)
    yoke__mat_mul(n, n, n, power, Z, next);
    yoke__mat_mul(n, n, n, next, Z, power);
  }
  return YOKE_OK;
}

yoke_status yoke__logm(size_t n, const double A[], double L[]) {
  if (!yoke__are_finite(n * n, A)) {
    return YOKE_BAD_ARG;
  }
  double* numbers = calloc(4 * n * n + n + 1, sizeof *numbers);
  size_t* pivots = calloc(n + 1, sizeof *pivots);
  yoke_status status = numbers == NULL || pivots == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0 && n > 0) {
    const room r = {
        numbers, numbers + n * n, numbers + 2 * n * n, numbers + 3 * n * n, numbers + 4 * n * n,
        pivots};
    double scale = 1;
    memcpy(r.X, A, n * n * sizeof *A);
    // each root halves log A; the scale makes up for it
    for (int k = 0; k < MOST_ROOT && distance(n, r.X) > NEAR && status >= 0; k++) {
      status = take_root(n, &r);
      scale *= 2;
    }
    status = status >= 0 ? sum_series(n, scale, L, &r) : status;
  }
  free(numbers);
  free(pivots);
  return status;
}
