// Prediction, correction by one number, and square root of a covariance. Everything runs along rows; P keeps its exact symmetry
// because every sum is made of products a_i b_j + b_i a_j, which round alike on both sides of the diagonal (contraction is off).
#include "estimate/estimate_kalman.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"

// noise below this part of s: what rounding leaves of the covariance along H is as large as what should be left, and is removed
#define SMALL_NOISE 1e-6

// part of a variance that rounding of many steps may have left below 0, where one state follows from others
#define MAX_NEGATIVE 1e-9

// y += a x. Four elements at a time become two instructions of two.
static inline void add_scaled(size_t n, double a, const double* restrict x, double* restrict y) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] += a * x[i];
    y[i + 1] += a * x[i + 1];
    y[i + 2] += a * x[i + 2];
    y[i + 3] += a * x[i + 3];
  }
  for (; i < n; i++) {
    y[i] += a * x[i];
  }
}

// y -= a u + b w.
static inline void subtract_two(size_t n, double a, const double* restrict u, double b,
                                const double* restrict w, double* restrict y) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] -= a * u[i] + b * w[i];
    y[i + 1] -= a * u[i + 1] + b * w[i + 1];
    y[i + 2] -= a * u[i + 2] + b * w[i + 2];
    y[i + 3] -= a * u[i + 3] + b * w[i + 3];
  }
  for (; i < n; i++) {
    y[i] -= a * u[i] + b * w[i];
  }
}

// y := sum over k < m of a_k (row k of X); rows are n apart in memory and only elements from `first` on are wanted. The sums of eight
// elements, then of four, stay in registers. Zeros, of which the matrices of filters have many, cost next to nothing.
static inline void combine_rows(size_t m, size_t n, size_t first, const double* restrict a,
                                const double* restrict X, double* restrict y) {
  size_t j = first;
  for (; j + 8 <= n; j += 8) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0, s5 = 0.0, s6 = 0.0, s7 = 0.0;
    for (size_t k = 0; k < m; k++) {
      const double a_k = a[k], *x = X + k * n + j;
      if (a_k != 0.0) {
        s0 += a_k * x[0];
        s1 += a_k * x[1];
        s2 += a_k * x[2];
        s3 += a_k * x[3];
        s4 += a_k * x[4];
        s5 += a_k * x[5];
        s6 += a_k * x[6];
        s7 += a_k * x[7];
      }
    }
    y[j] = s0;
    y[j + 1] = s1;
    y[j + 2] = s2;
    y[j + 3] = s3;
    y[j + 4] = s4;
    y[j + 5] = s5;
    y[j + 6] = s6;
    y[j + 7] = s7;
  }
  for (; j + 4 <= n; j += 4) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (size_t k = 0; k < m; k++) {
      const double a_k = a[k], *x = X + k * n + j;
      if (a_k != 0.0) {
        s0 += a_k * x[0];
        s1 += a_k * x[1];
        s2 += a_k * x[2];
        s3 += a_k * x[3];
      }
    }
    y[j] = s0;
    y[j + 1] = s1;
    y[j + 2] = s2;
    y[j + 3] = s3;
  }
  for (; j < n; j++) {
    double sum = 0.0;
    for (size_t k = 0; k < m; k++) {
      sum += a[k] != 0.0 ? a[k] * X[k * n + j] : 0.0;
    }
    y[j] = sum;
  }
}

static inline double dot(size_t n, const double* restrict a, const double* restrict b) {
  // two chains of additions side by side; their order is fixed, so that results repeat
  double even = 0.0, odd = 0.0;
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < n) {
    even += a[i] * b[i];
  }
  return even + odd;
}

// ---- prediction

void yoke__kalman_predict(size_t n, const double F[], const double Q[], double P[], double work[]) {
  yoke__kalman_predict_rows(n, n, F, Q, P, work);
}

void yoke__kalman_predict_rows(size_t n, size_t m, const double F[], const double Q[], double P[],
                               double work[]) {
  // rows of F beyond m are rows of the identity
  // W = F P, of which the part beside the square is final
  double *W = work, *turned = work + m * n;
  for (size_t i = 0; i < m; i++) {
    combine_rows(n, n, 0, F + i * n, P, W + i * n);
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t k = 0; k < n; k++) {
      turned[k * m + i] = W[i * n + k];
    }
  }

  // columns of W' side by side, so that sums run along rows
  // upper half of F P F', then the lower one
  for (size_t i = 0; i < m; i++) {
    double* row = P + i * n;
    combine_rows(n, m, i, F + i * n, turned, row);
    memcpy(row + m, W + i * n + m, (n - m) * sizeof *row);
    for (size_t j = i + 1; j < n; j++) {
      // P is exactly symmetric: the lower half is copied, not summed again
      P[j * n + i] = row[j];
    }
  }
  if (Q != NULL) {
    add_scaled(n * n, 1.0, Q, P);
  }
}

// ---- correction

double yoke__kalman_variance(size_t n, const double P[], const double H[], double r, double PH[]) {
  combine_rows(n, n, 0, H, P, PH);

  // H P H' + r
  return dot(n, H, PH) + r;
}

// P := P - k f' - f k' with e = P H' - r k and f = e - (H e) k / 2: after this P H' = r k again, as it should be.
static void remove_rounding(size_t n, double P[], const double H[], double r, const double k[],
                            double f[]) {
  // e = P H' - r k
  combine_rows(n, n, 0, H, P, f);
  add_scaled(n, -r, k, f);

  // f = e - (H e) k / 2
  add_scaled(n, -0.5 * dot(n, H, f), k, f);
  for (size_t i = 0; i < n; i++) {
    subtract_two(n, k[i], f, f[i], k, P + i * n);
  }
}

// With k = P H' / s the three products of Joseph's form fall together in one, P - s k k'. What his form has beyond that: it does not
// leave rounding errors in the covariance along H, where they are large if r is small against H P H'. The second pass removes
// them: its result is (I - k H) P (I - k H)' + (1 + r / s) r k k' of the P that the first one rounded.
yoke_status yoke__kalman_correct(size_t n, double q[], double P[], const double H[], double r,
                                 double e, double s, double PH[], double work[]) {
  if (!(s > 0.0) || !yoke__is_finite(s)) {
    return YOKE_SINGULAR;
  }

  // q += P H' e / s
  add_scaled(n, e / s, PH, q);

  // P - g g' with g = P H' / sqrt(s)
  const double scale = 1.0 / sqrt(s);
  for (size_t i = 0; i < n; i++) {
    work[i] = scale * PH[i];
  }
  for (size_t i = 0; i < n; i++) {
    if (work[i] != 0.0) {
      add_scaled(n, -work[i], work, P + i * n);
    }
  }

  // where r is small against s the rounding along H is taken out, with k = P H' / s
  if (r < SMALL_NOISE * s) {
    for (size_t i = 0; i < n; i++) {
      PH[i] /= s;
    }
    remove_rounding(n, P, H, r, PH, work);
  }
  return YOKE_OK;
}

// ---- square root

yoke_status yoke__kalman_root(size_t n, const double P[], double L[]) {
  // Cholesky, row by row: l_ij = (p_ij - sum l_ik l_jk) / l_jj
  memset(L, 0, n * n * sizeof *L);
  for (size_t i = 0; i < n; i++) {
    double* row = L + i * n;
    for (size_t j = 0; j < i; j++) {
      const double pivot = L[j * n + j];
      // a state of variance 0 has no column
      row[j] = pivot > 0.0 ? (P[i * n + j] - dot(j, row, L + j * n)) / pivot : 0.0;
    }
    // what is left of the variance once the states before are known
    const double variance = fabs(P[i * n + i]), square = P[i * n + i] - dot(i, row, row);
    if (!(square >= -MAX_NEGATIVE * variance) || !yoke__is_finite(square)) {
      return YOKE_SINGULAR;
    }
    // at rounding level the state follows from those before it
    row[i] = square > 8.0 * (double)n * DBL_EPSILON * variance ? sqrt(square) : 0.0;
  }
  return YOKE_OK;
}
