// Linear least squares by Householder QR, dependent columns left out.
//
//   min || A x - b ||,   Q^T A = R (staircase),   R x = Q^T b
//
// Golub and Van Loan, Matrix Computations, 4th ed., 5.2.2 and 5.3.2. There is no column exchange:
// the caller orders the columns by worth (quasi-Newton methods: newest first), and a column that
// adds nothing to those before it is left out with x_j = 0 instead of blowing the answer up.
//
// Assumes m >= n.
#include <math.h>

#include "linalg/linalg_dense.h"

// 2-norm of rows first .. m-1 of column j, scaled so that squares neither over- nor underflow.
static double column_norm(size_t m, size_t n, const double A[], size_t first, size_t j) {
  double largest = 0.0;
  for (size_t i = first; i < m; i++) {
    const double a = fabs(A[i * n + j]);
    if (isnan(a)) {
      return a;
    }
    largest = fmax(largest, a);
  }
  if (largest == 0.0) {
    return 0.0;
  }
  double sum = 0.0;
  for (size_t i = first; i < m; i++) {
    // |a| = max |a_i| sqrt(sum (a_i / max)^2): each square is at most 1
    const double a = A[i * n + j] / largest;
    sum += a * a;
  }
  return largest * sqrt(sum);
}

// The reflection I - beta v v^T that turns rows r .. m-1 of column j into (r_jj, 0, ..., 0).
// v (v_r = 1) takes the place of the zeros; *r_jj is written, beta returned.
static double make_reflection(size_t m, size_t n, double A[], size_t r, size_t j, double norm,
                              double* r_jj) {
  // the sign is chosen against cancellation in v_r
  const double head = A[r * n + j];
  const double alpha = head > 0.0 ? -norm : norm;
  const double v_r = head - alpha;
  for (size_t i = r + 1; i < m; i++) {
    A[i * n + j] /= v_r;
  }
  *r_jj = alpha;

  // beta = 2 / (v^T v) = -v_r / alpha for v scaled to v_r = 1
  return -v_r / alpha;
}

// Columns after j of A, and b, through the reflection kept in column j.
static void reflect(size_t m, size_t n, double A[], double b[], size_t r, size_t j, double beta,
                    double w[]) {
  // w := v^T A, row by row
  double w_b = b[r];
  for (size_t l = j + 1; l < n; l++) {
    w[l] = A[r * n + l];
  }
  for (size_t i = r + 1; i < m; i++) {
    const double v = A[i * n + j];
    w_b += v * b[i];
    for (size_t l = j + 1; l < n; l++) {
      w[l] += v * A[i * n + l];
    }
  }

  // A -= beta v w
  for (size_t i = r; i < m; i++) {
    const double v = beta * (i == r ? 1.0 : A[i * n + j]);
    b[i] -= v * w_b;
    for (size_t l = j + 1; l < n; l++) {
      A[i * n + l] -= v * w[l];
    }
  }
}

// R x = Q^T b over the columns kept (diagonal not 0), last first.
static void solve_staircase(size_t n, const double A[], const double b[], const double diagonal[],
                            size_t rank, double x[]) {
  size_t r = rank;
  for (size_t j = n; j-- > 0;) {
    // x_j = (b_r - sum_l r_jl x_l) / r_jj; columns left out keep x_j = 0 and own no row
    x[j] = 0.0;
    if (diagonal[j] != 0.0) {
      r--;
      double sum = b[r];
      for (size_t l = j + 1; l < n; l++) {
        sum -= A[r * n + l] * x[l];
      }
      x[j] = sum / diagonal[j];
    }
  }
}

size_t yoke__least_squares(size_t m, size_t n, double A[], double b[], double x[], double drop,
                           double work[]) {
  double *w = work, *diagonal = work + n;

  // a column is judged against the longest one, so that `drop` has no unit
  double scale = 0.0;
  for (size_t j = 0; j < n; j++) {
    scale = fmax(scale, column_norm(m, n, A, 0, j));
  }

  size_t rank = 0;
  for (size_t j = 0; j < n; j++) {
    // what is left of column j below the rows used so far: its part that the kept columns do not
    // span
    const double norm = rank < m ? column_norm(m, n, A, rank, j) : 0.0;
    diagonal[j] = 0.0;
    if (!(norm <= drop * scale)) {  // a NaN is kept and shows in x
      const double beta = make_reflection(m, n, A, rank, j, norm, &diagonal[j]);
      reflect(m, n, A, b, rank, j, beta, w);
      rank++;
    }
  }
  solve_staircase(n, A, b, diagonal, rank, x);
  return rank;
}
