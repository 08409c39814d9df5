// Balancing of a matrix by powers of two, row by row until nothing changes.
//
// Source: E. E. Osborne, On pre-conditioning of matrices, J. ACM 7 (1960) 338-345; the rule of the gain: B. N. Parlett and
// C. Reinsch, Numer. Math. 13 (1969) 293-304. The two rules are kept apart because which one is used decides the last bits
// of every run with provided models.
#include "linalg/linalg_scale.h"

#include <math.h>
#include <stdbool.h>

#include "base/base_check.h"

// Sweeps over the rows by either rule; sizes of units under the second one.
enum { MAX_SWEEPS_GAIN = 20, MAX_SWEEPS_FACTOR = 12, MAX_EXPONENT = 200 };

// 1-norm of D^-1 A D.
static double scaled_norm(size_t n, const double A[], const double d[]) {
  double largest = 0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      // (D^-1 A D)_ij = a_ij d_j / d_i
      sum += fabs(A[i * n + j]) / d[i] * d[j];
    }
    largest = sum > largest ? sum : largest;
  }
  return largest;
}

// Off-diagonal sums of |D^-1 A D| over row and column i.
static void sums_at(size_t n, const double A[], const double d[], size_t i, double* row,
                    double* column) {
  *row = *column = 0;
  for (size_t j = 0; j < n; j++) {
    if (j != i) {
      *row += fabs(A[i * n + j]) / d[i] * d[j];
      *column += fabs(A[j * n + i]) / d[j] * d[i];
    }
  }
}

static bool rescale_by_gain(double row, double column, double* d) {
  int e = 0;
  if (!yoke__is_finite(row / column)) {
    return false;
  }

  // f = 2^(e-1) <= sqrt(row / column) < 2 f: the power of two next below the optimum
  (void)frexp(sqrt(row / column), &e);
  const double f = ldexp(1.0, e - 1);

  // Parlett and Reinsch: only what lowers the sum of row and column by 5 % is worth a step
  if (column * f + row / f >= 0.95 * (column + row)) {
    return false;
  }
  *d *= f;
  return true;
}

static bool rescale_by_factor(double row, double column, double* d) {
  int e = 0, present = 0;
  if (!yoke__is_finite(row) || !yoke__is_finite(column)) {
    return false;
  }

  // f = 2^e; e of 0 or 1: row and column are within a factor of four of each other, nothing to do
  (void)frexp(sqrt(row / column), &e);
  (void)frexp(*d, &present);
  if (e == 0 || e == 1 || present + e > MAX_EXPONENT || present + e < -MAX_EXPONENT) {
    return false;
  }
  *d = ldexp(*d, e);
  return true;
}

void yoke__scale_find(size_t n, const double A[], yoke_scale_rule rule, double d[]) {
  const bool is_gain = rule == YOKE_SCALE_BY_GAIN;
  for (size_t i = 0; i < n; i++) {
    d[i] = 1;
  }

  // the second rule has no criterion of gain, so the norm before is kept to compare with
  const double before = is_gain ? 0 : scaled_norm(n, A, d);
  bool has_changed = true;
  for (int sweep = 0; sweep < (is_gain ? MAX_SWEEPS_GAIN : MAX_SWEEPS_FACTOR) && has_changed;
       sweep++) {
    has_changed = false;
    for (size_t i = 0; i < n; i++) {
      double row = 0, column = 0;
      sums_at(n, A, d, i, &row, &column);
      if (row > 0 && column > 0 &&
          (is_gain ? rescale_by_gain(row, column, &d[i]) : rescale_by_factor(row, column, &d[i]))) {
        has_changed = true;
      }
    }
  }

  // a scaling that did not lower the norm is withdrawn
  if (!is_gain && !(scaled_norm(n, A, d) < before)) {
    for (size_t i = 0; i < n; i++) {
      d[i] = 1;
    }
  }
}

void yoke__scale_apply(size_t n, const double d[], double A[]) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      A[i * n + j] = A[i * n + j] / d[i] * d[j];
    }
  }
}

void yoke__scale_undo(size_t n, const double d[], double X[]) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      X[i * n + j] = X[i * n + j] * d[i] / d[j];
    }
  }
}
