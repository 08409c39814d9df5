// Small systems without zeros to skip: P A = L U with partial pivoting, row by row, pivots as
// reciprocals (Golub and Van Loan, Matrix Computations, 4th ed., algorithm 3.4.1). Pivots are
// chosen anew each time, so nothing can grow and nothing needs to be repaired. A row is measured in
// its largest element: a heat capacity over a microsecond, 1e9 W/K, beside a law of currents must
// not become the pivot of an electric unknown.
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg_sparse_part.h"

// The row at or below k with the largest element in column k, a NaN at once.
static inline int32_t find_pivot(int32_t n, const double A[], const double measure[], int32_t k) {
  int32_t best = k;

  // sizes are compared after scaling of the rows: |a_ik| / max |row i|
  double largest = fabs(A[k * n + k]) * (measure != NULL ? measure[k] : 1.0);
  for (int32_t i = k + 1; i < n; i++) {
    const double a = fabs(A[i * n + k]) * (measure != NULL ? measure[i] : 1.0);
    // `!(a <= largest)` is true for a NaN, which then ends as a refused pivot
    if (!(a <= largest)) {
      best = i;
      largest = a;
    }
  }
  return best;
}

static inline void swap_rows(int32_t n, double A[], double measure[], int32_t rows[], int32_t i,
                             int32_t j) {
  for (int32_t c = 0; c < n; c++) {
    const double a = A[i * n + c];
    A[i * n + c] = A[j * n + c];
    A[j * n + c] = a;
  }
  if (measure != NULL) {
    const double m = measure[i];
    measure[i] = measure[j];
    measure[j] = m;
  }
  const int32_t row = rows[i];
  rows[i] = rows[j];
  rows[j] = row;
}

// Elimination in place; returns the first column without a pivot above its limit, n: none.
// limits NULL: any pivot but 0 will do.
static inline int32_t eliminate(int32_t n, double A[], double measure[], int32_t rows[],
                                const double limits[]) {
  for (int32_t k = 0; k < n; k++) {
    const int32_t p = find_pivot(n, A, measure, k);
    const double pivot = A[p * n + k], limit = limits == NULL ? 0.0 : limits[k];
    // refuses pivots at or below the limit, infinities and NaN in one test
    if (!(fabs(pivot) > limit && fabs(pivot) <= DBL_MAX)) {
      return k;
    }
    if (p != k) {
      swap_rows(n, A, measure, rows, p, k);
    }
    // reciprocal pivots: solve multiplies, which is several times faster than dividing
    const double inverse = 1.0 / pivot;
    A[k * n + k] = inverse;
    const double* restrict u = A + (ptrdiff_t)k * n;
    for (int32_t i = k + 1; i < n; i++) {
      double* restrict a = A + (ptrdiff_t)i * n;
      if (a[k] == 0.0) {
        continue;  // often, in a circuit
      }
      const double l = a[k] * inverse;
      a[k] = l;
      for (int32_t c = k + 1; c < n; c++) {
        a[c] -= l * u[c];
      }
    }
  }
  return n;
}

// The matrix with all its zeros; false if a value is NaN or infinite, which zero factors would hide.
static bool scatter(int32_t n, int32_t n_nonzeros, const int32_t place[], const double values[],
                    double lu[], int32_t rows[]) {
  memset(lu, 0, (size_t)n * (size_t)n * sizeof *lu);
  double check = 0.0;
  for (int32_t e = 0; e < n_nonzeros; e++) {
    lu[place[e]] = values[e];
    // 0 * v is 0 for finite v and NaN otherwise
    check += 0.0 * values[e];
  }
  for (int32_t i = 0; i < n; i++) {
    rows[i] = i;
  }
  return check == 0.0;
}

static inline int32_t eliminate_measured(int32_t n, double A[], double measure[], int32_t rows[]) {
  // 1 / max |row|: a zero row keeps 1 and fails at its pivot
  for (int32_t i = 0; i < n; i++) {
    double largest = 0.0;
    for (int32_t c = 0; c < n; c++) {
      const double a = fabs(A[i * n + c]);
      largest = a > largest ? a : largest;
    }
    measure[i] = largest > 0.0 ? 1.0 / largest : 1.0;
  }
  return eliminate(n, A, measure, rows, NULL);
}

yoke_status yoke__sparse_dense_refactor(int32_t n, int32_t n_nonzeros, const int32_t place[],
                                        const double values[], double lu[], int32_t rows[],
                                        double measure[], int32_t* column) {
  if (!scatter(n, n_nonzeros, place, values, lu, rows)) {
    return YOKE_SINGULAR;
  }
  int32_t done = 0;

  // with n known to the compiler, loops of small systems are unrolled
  switch (n) {
  case 1:
    done = eliminate_measured(1, lu, measure, rows);
    break;
  case 2:
    done = eliminate_measured(2, lu, measure, rows);
    break;
  case 3:
    done = eliminate_measured(3, lu, measure, rows);
    break;
  case 4:
    done = eliminate_measured(4, lu, measure, rows);
    break;
  default:
    done = eliminate_measured(n, lu, measure, rows);
    break;
  }
  if (done < n && column != NULL) {
    *column = done;
  }
  return done == n ? YOKE_OK : YOKE_SINGULAR;
}

yoke_status yoke__sparse_dense_rank(int32_t n, int32_t n_nonzeros, const int32_t place[],
                                    const double values[], double lu[], int32_t rows[],
                                    double limits[], int32_t* column) {
  if (!scatter(n, n_nonzeros, place, values, lu, rows)) {
    return YOKE_SINGULAR;
  }

  // rows scaled to a largest element of 1
  for (int32_t i = 0; i < n; i++) {
    double largest = 0.0;
    for (int32_t c = 0; c < n; c++) {
      largest = fmax(largest, fabs(lu[i * n + c]));
    }
    for (int32_t c = 0; c < n && largest > 0.0; c++) {
      lu[i * n + c] /= largest;
    }
  }

  // what rounding leaves of a cancellation is no pivot
  for (int32_t c = 0; c < n; c++) {
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
      largest = fmax(largest, fabs(lu[i * n + c]));
    }
    limits[c] = 2.0 * DBL_EPSILON * largest;
  }
  const int32_t done = eliminate(n, lu, NULL, rows, limits);
  if (done < n && column != NULL) {
    *column = done;
  }
  return done == n ? YOKE_OK : YOKE_SINGULAR;
}

static inline void substitute(int32_t n, const double lu[], const int32_t rows[], double b[],
                              double w[]) {
  // L y = P b, ones on the diagonal
  for (int32_t i = 0; i < n; i++) {
    double s = b[rows[i]];
    for (int32_t c = 0; c < i; c++) {
      s -= lu[i * n + c] * w[c];
    }
    w[i] = s;
  }

  // U x = y, the diagonal holding 1 / u_ii
  for (int32_t i = n; i-- > 0;) {
    double s = w[i];
    for (int32_t c = n - 1; c > i; c--) {
      s -= lu[i * n + c] * b[c];
    }
    b[i] = s * lu[i * n + i];
  }
}

void yoke__sparse_dense_solve(int32_t n, const double lu[], const int32_t rows[], double b[],
                              double w[]) {
  switch (n) {
  case 1:
    substitute(1, lu, rows, b, w);
    break;
  case 2:
    substitute(2, lu, rows, b, w);
    break;
  case 3:
    substitute(3, lu, rows, b, w);
    break;
  case 4:
    substitute(4, lu, rows, b, w);
    break;
  default:
    substitute(n, lu, rows, b, w);
    break;
  }
}
