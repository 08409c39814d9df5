// Exponentials of surrogate models and their integrals.
//
//   exp([[A, I, 0], [0, 0, I/h], [0, 0, 0]] h) = [[e^z, h phi1(z), h phi2(z)], ...],   z = A h
//
// The interface Jacobians of one cluster mix metres, metres per second and newtons, so that A holds
// elements of 1 beside elements of 1e9 although its eigenvalues are mild. Scaling and squaring
// pays for the norm: each doubling costs a product and a bit of accuracy. A diagonal change of the
// units of the signals (powers of two, hence exact) takes most of the norm away before.
// Source: MPSM specification 2.1; balancing after E. E. Osborne, On
// pre-conditioning of matrices, J. ACM 7 (1960) 338-345.
#include "couple/couple_mpsm_matrix.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

// Sweeps over the rows; a matrix whose graph is not strongly connected has no balanced form and
// would go on for ever.
enum { MAX_SWEEPS = 12, MAX_EXPONENT = 200 };

// 1-norm of D^-1 A D.
static double scaled_norm(size_t n, const double A[], const double d[]) {
  double largest = 0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      sum += fabs(A[i * n + j]) / d[i] * d[j];
    }
    largest = sum > largest ? sum : largest;
  }
  return largest;
}

// Makes row i and column i of D^-1 A D weigh the same to within a factor of two. True if d changed.
static int balance_row(size_t n, const double A[], double d[], size_t i) {
  double row = 0, column = 0;
  for (size_t j = 0; j < n; j++) {
    if (j != i) {
      row += fabs(A[i * n + j]) / d[i] * d[j];
      column += fabs(A[j * n + i]) / d[j] * d[i];
    }
  }
  if (!(row > 0) || !(column > 0) || !yoke__is_finite(row) || !yoke__is_finite(column)) {
    return 0;
  }
  int e = 0, present = 0;
  (void)frexp(sqrt(row / column), &e);
  (void)frexp(d[i], &present);
  if (e == 0 || e == 1 || present + e > MAX_EXPONENT || present + e < -MAX_EXPONENT) {
    return 0;
  }
  d[i] = ldexp(d[i], e);
  return 1;
}

void yoke__mpsm_balance(size_t n, const double A[], double d[]) {
  for (size_t i = 0; i < n; i++) {
    d[i] = 1;
  }
  const double before = scaled_norm(n, A, d);
  int has_changed = 1;
  for (int sweep = 0; sweep < MAX_SWEEPS && has_changed; sweep++) {
    has_changed = 0;
    for (size_t i = 0; i < n; i++) {
      has_changed |= balance_row(n, A, d, i);
    }
  }
  if (!(scaled_norm(n, A, d) < before)) {
    for (size_t i = 0; i < n; i++) {
      d[i] = 1;
    }
  }
}

yoke_status yoke__mpsm_expm(size_t n, double A[], const double d[], double E[], double work[],
                            size_t pivots[]) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      A[i * n + j] = A[i * n + j] / d[i] * d[j];
    }
  }
  YOKE_TRY(yoke__expm_in(n, A, E, work, pivots));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      E[i * n + j] = E[i * n + j] * d[i] / d[j];
    }
  }
  return YOKE_OK;
}

size_t yoke__mpsm_phi_work_size(size_t n) {
  return 18 * n * n + 3 * n + yoke__expm_work_size(3 * n);
}

yoke_status yoke__mpsm_phi(size_t n, const double A[], double h, double E[], double F1[],
                           double F2[], double work[], size_t pivots[]) {
  const size_t N = 3 * n;
  double *big = work, *exponential = big + N * N, *d = exponential + N * N, *rest = d + N;
  yoke__mpsm_balance(n, A, d);

  // the same units in all three blocks keep the identities what they are
  memcpy(d + n, d, n * sizeof *d);
  memcpy(d + 2 * n, d, n * sizeof *d);
  memset(big, 0, N * N * sizeof *big);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * N + j] = A[i * n + j] * h;
    }
    big[i * N + n + i] = h;
    big[(n + i) * N + 2 * n + i] = 1;
  }
  YOKE_TRY(yoke__mpsm_expm(N, big, d, exponential, rest, pivots));
  for (size_t i = 0; i < n; i++) {
    memcpy(E + i * n, exponential + i * N, n * sizeof *E);
    memcpy(F1 + i * n, exponential + i * N + n, n * sizeof *F1);
    memcpy(F2 + i * n, exponential + i * N + 2 * n, n * sizeof *F2);
  }
  return YOKE_OK;
}
