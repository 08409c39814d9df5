// Exponentials of surrogate models and their integrals.
//
//   exp([[A, I, 0], [0, 0, I/h], [0, 0, 0]] h) = [[e^z, h phi1(z), h phi2(z)], ...],   z = A h
//
// The interface Jacobians of one cluster mix metres, metres per second and newtons, so that A holds
// elements of 1 beside elements of 1e9 although its eigenvalues are mild. Scaling and squaring
// pays for the norm: each doubling costs a product and a bit of accuracy. A diagonal change of the
// units of the signals (powers of two, hence exact) takes most of the norm away before.
// Balancing in linalg_scale.c.
#include "couple/couple_mpsm_matrix.h"

#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_scale.h"

void yoke__mpsm_balance(size_t n, const double A[], double d[]) {
  yoke__scale_find(n, A, YOKE_SCALE_BY_FACTOR, d);
}

yoke_status yoke__mpsm_expm(size_t n, double A[], const double d[], double E[], double work[],
                            size_t pivots[]) {
  // exp(D^-1 A D) = D^-1 exp(A) D, D powers of two: exact
  yoke__scale_apply(n, d, A);
  YOKE_TRY(yoke__expm_in(n, A, E, work, pivots));
  yoke__scale_undo(n, d, E);
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

  // blocks [A h, h I, 0; 0, 0, I; 0, 0, 0]
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * N + j] = A[i * n + j] * h;
    }
    big[i * N + n + i] = h;
    big[(n + i) * N + 2 * n + i] = 1;
  }
  YOKE_TRY(yoke__mpsm_expm(N, big, d, exponential, rest, pivots));

  // first block row of the exponential: e^z, h phi1(z), h phi2(z)
  for (size_t i = 0; i < n; i++) {
    memcpy(E + i * n, exponential + i * N, n * sizeof *E);
    memcpy(F1 + i * n, exponential + i * N + n, n * sizeof *F1);
    memcpy(F2 + i * n, exponential + i * N + 2 * n, n * sizeof *F2);
  }
  return YOKE_OK;
}
