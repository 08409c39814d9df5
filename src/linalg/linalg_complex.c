// Complex matrices; see linalg_complex.h.
//
// Singular values of A = R + j X come from the real matrix [R, -X; X, R], which has each of them twice.
#include "linalg/linalg_complex.h"

#include <math.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

void yoke__complex_mul(size_t m, size_t k, size_t n, const double complex A[],
                       const double complex B[], double complex C[]) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      double complex sum = 0;
      for (size_t l = 0; l < k; l++) {
        sum += A[i * k + l] * B[l * n + j];
      }
      C[i * n + j] = sum;
    }
  }
}

static void swap_rows(size_t n, double complex A[], size_t i, size_t k) {
  for (size_t j = 0; j < n; j++) {
    const double complex a = A[i * n + j];
    A[i * n + j] = A[k * n + j];
    A[k * n + j] = a;
  }
}

yoke_status yoke__complex_lu_factor(size_t n, double complex A[], size_t pivots[]) {
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++) {
      best = cabs(A[i * n + k]) > cabs(A[best * n + k]) ? i : best;
    }
    // `!(size > 0)` also refuses a NaN
    const double size = cabs(A[best * n + k]);
    if (!(size > 0) || !yoke__is_finite(size)) {
      return YOKE_SINGULAR;
    }
    pivots[k] = best;
    if (best != k) {
      swap_rows(n, A, k, best);
    }
    // row_i := row_i - (a_ik / a_kk) row_k
    for (size_t i = k + 1; i < n; i++) {
      const double complex factor = A[i * n + k] / A[k * n + k];
      A[i * n + k] = factor;
      for (size_t j = k + 1; factor != 0 && j < n; j++) {
        A[i * n + j] -= factor * A[k * n + j];
      }
    }
  }
  return YOKE_OK;
}

void yoke__complex_lu_solve(size_t n, const double complex lu[], const size_t pivots[],
                            double complex b[]) {
  // P b
  for (size_t k = 0; k < n; k++) {
    const double complex swapped = b[pivots[k]];
    b[pivots[k]] = b[k];
    b[k] = swapped;
  }

  // L y = P b, ones on the diagonal
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      b[i] -= lu[i * n + j] * b[j];
    }
  }

  // U x = y
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) {
      b[i] -= lu[i * n + j] * b[j];
    }
    b[i] /= lu[i * n + i];
  }
}

double complex yoke__complex_lu_determinant(size_t n, const double complex lu[],
                                            const size_t pivots[]) {
  // det A = (-1)^swaps prod u_ii: a swap at i turns the sign once
  double complex product = 1;
  for (size_t i = 0; i < n; i++) {
    product *= pivots[i] == i ? lu[i * n + i] : -lu[i * n + i];
  }
  return product;
}

size_t yoke__complex_norm_work_size(size_t m, size_t n) {
  const size_t k = m < n ? m : n;
  return 4 * m * n + 4 * m * k + 4 * n * k + 2 * k + yoke__svd_work_size(2 * m, 2 * n);
}

yoke_status yoke__complex_norm(size_t m, size_t n, const double complex A[], double* largest,
                               double* smallest, double work[]) {
  const size_t k = m < n ? m : n;
  double *real = work, *U = real + 4 * m * n, *V = U + 4 * m * k, *s = V + 4 * n * k;
  double high = 0, low = 0;
  if (k == 1) {
    // a row or a column: its length
    for (size_t i = 0; i < m * n; i++) {
      high = hypot(high, cabs(A[i]));
    }
    low = high;
  } else if (k > 1) {
    // [R, -X; X, R]: multiplying (Re v, Im v) by it is multiplying v by A
    for (size_t i = 0; i < m; i++) {
      for (size_t j = 0; j < n; j++) {
        const double complex a = A[i * n + j];
        real[i * 2 * n + j] = real[(m + i) * 2 * n + n + j] = creal(a);
        real[(m + i) * 2 * n + j] = cimag(a);
        real[i * 2 * n + n + j] = -cimag(a);
      }
    }
    YOKE_TRY(yoke__svd(2 * m, 2 * n, real, U, s, V, s + 2 * k));
    // values come in equal pairs, so that the last of 2 k is the smallest of A
    high = s[0];
    low = s[2 * k - 1];
  }
  if (largest != NULL) {
    *largest = high;
  }
  if (smallest != NULL) {
    *smallest = low;
  }
  return YOKE_OK;
}
