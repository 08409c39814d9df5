// Products and LU of small dense matrices, row by row.
//
// P A = L U with partial pivoting, row-wise right-looking elimination (Golub and Van Loan, Matrix
// Computations, 4th ed., algorithm 3.4.1). Sums run in ascending index order, so results do not
// depend on compiler or machine as long as contraction is off.
//
// Assumes sizes of a few dozen: no blocking. Larger problems belong to LAPACK.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

void yoke__mat_mul(size_t m, size_t k, size_t n, const double A[], const double B[], double C[]) {
  memset(C, 0, m * n * sizeof *C);

  // row of C as a sum of rows of B: all three matrices are walked along their rows
  for (size_t i = 0; i < m; i++) {
    double* c = C + i * n;
    for (size_t l = 0; l < k; l++) {
      const double a = A[i * k + l];
      const double* b = B + l * n;
      for (size_t j = 0; j < n; j++) {
        c[j] += a * b[j];
      }
    }
  }
}

// Four rows at once: each sum is a chain of additions that wait for one another, four chains do not.
static void four_rows(size_t n, const double A[], const double x[], double sums[4]) {
  const double *a = A, *b = a + n, *c = b + n, *d = c + n;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  for (size_t j = 0; j < n; j++) {
    s0 += a[j] * x[j];
    s1 += b[j] * x[j];
    s2 += c[j] * x[j];
    s3 += d[j] * x[j];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

static double one_row(size_t n, const double a[], const double x[]) {
  double sum = 0.0;
  for (size_t j = 0; j < n; j++) {
    sum += a[j] * x[j];
  }
  return sum;
}

void yoke__mat_vec(size_t m, size_t n, const double A[], const double x[], double y[]) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    four_rows(n, A + i * n, x, y + i);
  }
  for (; i < m; i++) {
    y[i] = one_row(n, A + i * n, x);
  }
}

void yoke__mat_vec_add(size_t m, size_t n, const double A[], const double x[], double y[]) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    double sums[4];
    four_rows(n, A + i * n, x, sums);
    for (size_t k = 0; k < 4; k++) {
      y[i + k] += sums[k];
    }
  }
  for (; i < m; i++) {
    y[i] += one_row(n, A + i * n, x);
  }
}

// The row at or below k with the largest element in column k. A NaN is taken at once, so that it
// ends as a refused pivot and not in the factors.
static size_t find_pivot(size_t n, const double A[], size_t k) {
  size_t best = k;
  for (size_t i = k; i < n; i++) {
    const double a = fabs(A[i * n + k]);
    if (isnan(a)) {
      return i;
    }
    if (a > fabs(A[best * n + k])) {
      best = i;
    }
  }
  return best;
}

static void swap_rows(size_t n, double A[], size_t i, size_t j) {
  for (size_t l = 0; l < n; l++) {
    const double a = A[i * n + l];
    A[i * n + l] = A[j * n + l];
    A[j * n + l] = a;
  }
}

yoke_status yoke__lu_factor(size_t n, double A[], size_t pivots[]) {
  for (size_t k = 0; k < n; k++) {
    // the largest element as pivot keeps |l_ik| <= 1, so that factors grow by at most 2^(n-1)
    const size_t p = find_pivot(n, A, k);
    const double pivot = A[p * n + k];
    // a NaN fails the second test: the factors hold finite numbers only
    if (pivot == 0.0 || !yoke__is_finite(pivot)) {
      return YOKE_SINGULAR;
    }
    pivots[k] = p;
    if (p != k) {
      swap_rows(n, A, p, k);
    }

    // rows below lose their element in column k; the factor takes its place
    for (size_t i = k + 1; i < n; i++) {
      const double factor = A[i * n + k] / pivot;
      A[i * n + k] = factor;
      for (size_t j = k + 1; j < n && factor != 0.0; j++) {
        A[i * n + j] -= factor * A[k * n + j];
      }
    }
  }
  return YOKE_OK;
}

void yoke__lu_solve(size_t n, const double lu[], const size_t pivots[], double b[]) {
  // b := P b in the order in which the rows were swapped
  for (size_t k = 0; k < n; k++) {
    const double swapped = b[pivots[k]];
    b[pivots[k]] = b[k];
    b[k] = swapped;
  }

  // L y = b with ones on the diagonal: y_i = b_i - sum_j l_ij y_j
  for (size_t i = 1; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      b[i] -= lu[i * n + j] * b[j];
    }
  }

  // U x = y, last row first: x_i = (y_i - sum_j u_ij x_j) / u_ii
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) {
      b[i] -= lu[i * n + j] * b[j];
    }
    b[i] /= lu[i * n + i];
  }
}

yoke_status yoke__solve(size_t n, double A[], double b[], size_t pivots[]) {
  YOKE_TRY(yoke__lu_factor(n, A, pivots));
  yoke__lu_solve(n, A, pivots, b);
  return YOKE_OK;
}

double yoke__norm_1(size_t n, const double A[]) {
  // max over j of sum_i |a_ij|
  double largest = 0.0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
      sum += fabs(A[i * n + j]);
    }
    // fmax would drop a NaN
    if (isnan(sum)) {
      return sum;
    }
    largest = fmax(largest, sum);
  }
  return largest;
}
