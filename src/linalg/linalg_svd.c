// Singular values of small dense matrices, the pseudo inverse, and condition numbers.
//
// One-sided Jacobi: the columns w_i of A (of its transpose if A is wide) are made orthogonal to each
// other by plane rotations; then A Z = W, the singular values are the lengths of the columns, and W
// and Z hold the vectors. Pairs are visited row by row, the longer column first.
// Source: J. Demmel, K. Veselic, Jacobi's method is more accurate than QR, SIAM J. Matrix Anal.
// Appl. 13 (1992) 1204-1245; Golub and Van Loan, Matrix Computations, 4th ed., section 8.6.3.
//
// Condition of an LU: |A^-1|_1 by N. J. Higham's variant of Hager's method (ACM Trans. Math. Softw.
// 14 (1988) 381-396, algorithm 4.1): a few solves with A and its transpose, and one with a vector of
// alternating signs.
//
// Assumes sizes up to about 64. Sums run in ascending order of the index, so that results are the
// same on every machine as long as contraction is off.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define N_SWEEPS    60
#define TINY_LENGTH 1e-140  // of a column, relative to the largest element: squares stay normal

static double dot(size_t n, const double a[], const double b[]) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void rotate(size_t n, double a[], double b[], double c, double s) {
  for (size_t i = 0; i < n; i++) {
    const double x = a[i], y = b[i];
    a[i] = c * x + s * y;
    b[i] = c * y - s * x;
  }
}

static void swap(size_t n, double a[], double b[]) {
  for (size_t i = 0; i < n; i++) {
    const double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

// ---- rotations

// k vectors w of length l, and the k x k matrix Z of the rotations so far, both row by row.
typedef struct columns {
  size_t k, l;
  double *W, *Z;
} columns;

// Makes two columns orthogonal, the longer one first. Returns 1 if there was something to do.
static int treat_pair(const columns* t, size_t i, size_t j) {
  // squared lengths and the inner product of the pair
  double *wi = t->W + i * t->l, *wj = t->W + j * t->l;
  double *zi = t->Z + i * t->k, *zj = t->Z + j * t->k;
  double aa = dot(t->l, wi, wi), bb = dot(t->l, wj, wj);
  const double ab = dot(t->l, wi, wj);
  int is_changed = 0;

  // the longer column first keeps the values in descending order
  if (bb > aa) {
    swap(t->l, wi, wj);
    swap(t->k, zi, zj);
    const double other = aa;
    aa = bb;
    bb = other;
    is_changed = 1;
  }

  // a column of length 0 is orthogonal to all; round-off of the sum grows with sqrt(l)
  const double tolerance = DBL_EPSILON * sqrt((double)t->l);
  if (bb <= TINY_LENGTH * TINY_LENGTH || fabs(ab) <= tolerance * sqrt(aa) * sqrt(bb)) {
    return is_changed;
  }

  // the smaller of the two angles: tan 2 theta = 2 ab / (aa - bb), aa >= bb
  const double zeta = (aa - bb) / (2.0 * ab);
  const double tangent = fabs(zeta) > 1e8
                             ? 0.5 / zeta  // zeta^2 may overflow
                             : copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));

  // c = 1 / sqrt(1 + t^2), s = c t with t = tan theta; |theta| <= 45 degrees makes the sweeps
  // converge
  const double c = 1.0 / sqrt(1.0 + tangent * tangent);

  // the same rotation on W and Z keeps A Z = W
  rotate(t->l, wi, wj, c, c * tangent);
  rotate(t->k, zi, zj, c, c * tangent);
  return 1;
}

static yoke_status orthogonalise(const columns* t) {
  // convergence is quadratic once the angles are small: about 6 to 10 sweeps are usual
  for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
    int n_changed = 0;
    for (size_t i = 0; i + 1 < t->k; i++) {
      for (size_t j = i + 1; j < t->k; j++) {
        n_changed += treat_pair(t, i, j);
      }
    }
    if (n_changed == 0) {
      return YOKE_OK;
    }
  }
  return YOKE_NO_CONVERGENCE;
}

// ---- vectors of length one

// Row i of W := a unit vector orthogonal to the rows before it: of all axes the one with the largest
// remainder, twice orthogonalised.
static void complete(const columns* t, size_t i, double trial[]) {
  double* w = t->W + i * t->l;
  double best = -1.0;
  for (size_t axis = 0; axis < t->l; axis++) {
    memset(trial, 0, t->l * sizeof *trial);
    trial[axis] = 1.0;
    // twice: the first pass leaves rounding of the size of the part that was taken out
    for (int pass = 0; pass < 2; pass++) {
      for (size_t j = 0; j < i; j++) {
        const double part = dot(t->l, trial, t->W + j * t->l);
        for (size_t e = 0; e < t->l; e++) {
          trial[e] -= part * t->W[j * t->l + e];
        }
      }
    }
    const double length = sqrt(dot(t->l, trial, trial));
    // a remainder above 1/2 is as good as any
    if (length > best) {
      best = length;
      for (size_t e = 0; e < t->l; e++) {
        w[e] = trial[e] / length;
      }
    }
    if (best > 0.5) {
      return;
    }
  }
}

// s := lengths of the rows of W, which become unit vectors.
static void normalise(const columns* t, double s[], double trial[]) {
  for (size_t i = 0; i < t->k; i++) {
    // A Z = W: column lengths are the singular values
    double* w = t->W + i * t->l;
    const double length = sqrt(dot(t->l, w, w));
    s[i] = length <= TINY_LENGTH ? 0.0 : length;
    for (size_t e = 0; s[i] > 0.0 && e < t->l; e++) {
      w[e] /= length;
    }
    if (s[i] == 0.0) {
      complete(t, i, trial);
    }
  }
}

// -1 if the sign of the right vector (length n) must turn
static double sign_of(size_t n, const double v[]) {
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(v[i]));
  }

  // the sign of a pair of vectors is free; the first large element decides, so that results repeat
  for (size_t i = 0; i < n; i++) {
    if (fabs(v[i]) >= 0.5 * largest) {
      return v[i] < 0.0 ? -1.0 : 1.0;
    }
  }
  return 1.0;
}

// column j of X (rows x k) := sign * v
static void put_column(size_t rows, size_t k, size_t j, double sign, const double v[], double X[]) {
  for (size_t i = 0; i < rows; i++) {
    X[i * k + j] = sign * v[i];
  }
}

// ---- decomposition

size_t yoke__svd_work_size(size_t m, size_t n) {
  const size_t k = m < n ? m : n, l = m < n ? n : m;
  return k * l + k * k + l;
}

// The exponent that brings the largest element to [1/2, 1); 0 for a zero matrix.
static yoke_status find_exponent(size_t count, const double A[], int* exponent) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    if (!yoke__is_finite(A[i])) {
      return YOKE_BAD_ARG;
    }
    largest = fmax(largest, fabs(A[i]));
  }
  *exponent = 0;
  if (largest > 0.0) {
    (void)frexp(largest, exponent);
  }
  return YOKE_OK;
}

yoke_status yoke__svd(size_t m, size_t n, const double A[], double U[], double s[], double V[],
                      double work[]) {
  const int is_wide = m < n;
  columns t = {.k = is_wide ? m : n, .l = is_wide ? n : m};
  t.W = work;
  t.Z = t.W + t.k * t.l;
  double* trial = t.Z + t.k * t.k;
  int exponent = 0;
  YOKE_TRY(find_exponent(m * n, A, &exponent));

  // a power of two in front keeps squares in range and changes no digit of normal numbers
  for (size_t i = 0; i < t.k; i++) {
    for (size_t e = 0; e < t.l; e++) {
      t.W[i * t.l + e] = ldexp(is_wide ? A[i * n + e] : A[e * n + i], -exponent);
    }
  }
  memset(t.Z, 0, t.k * t.k * sizeof *t.Z);
  for (size_t i = 0; i < t.k; i++) {
    t.Z[i * t.k + i] = 1.0;
  }
  YOKE_TRY(orthogonalise(&t));
  normalise(&t, s, trial);

  // back to the caller's layout: roles of W and Z change for the transpose of a wide matrix
  for (size_t j = 0; j < t.k; j++) {
    const double *w = t.W + j * t.l, *z = t.Z + j * t.k;
    const double sign = sign_of(n, is_wide ? w : z);
    put_column(m, t.k, j, sign, is_wide ? z : w, U);
    put_column(n, t.k, j, sign, is_wide ? w : z, V);
    s[j] = ldexp(s[j], exponent);
  }
  return YOKE_OK;
}

size_t yoke__pseudo_inverse_work_size(size_t m, size_t n) {
  const size_t k = m < n ? m : n;
  return k * (m + n + 1) + yoke__svd_work_size(m, n);
}

yoke_status yoke__pseudo_inverse(size_t m, size_t n, const double A[], double drop, double X[],
                                 size_t* rank, double work[]) {
  const size_t k = m < n ? m : n;
  double *U = work, *V = U + m * k, *s = V + n * k;
  const yoke_status status = yoke__svd(m, n, A, U, s, V, s + k);
  memset(X, 0, n * m * sizeof *X);
  size_t kept = 0;

  // values below drop * largest count as zero
  while (status == YOKE_OK && kept < k && s[kept] > 0.0 && s[kept] >= drop * s[0]) {
    kept++;
  }

  // X = sum of v u^T / s over the values that count, the largest contributions last
  for (size_t j = kept; j-- > 0;) {
    for (size_t i = 0; i < n; i++) {
      const double factor = V[i * k + j] / s[j];
      for (size_t e = 0; e < m; e++) {
        X[i * m + e] += factor * U[e * k + j];
      }
    }
  }
  if (rank != NULL) {
    *rank = kept;
  }
  return status;
}
