// Identified models for another step, the input held over it.
//
// One lag, y^{k+1} = a y^k + b u^{k+1}, from step H to q H, D = floor(q), d = q - D:
//
//   a~ = (1 - d) a^D + d a^(D+1),   b~ = b [ (1 - d) (1 + a + .. + a^(D-1)) + d (1 + a + .. + a^D) ]
//
// Whole q are exact for an input held over the long step. Between them a line, not a^q: a may be
// negative. Source: doctoral thesis on model-based pre-step stabilisation (Graz 2020), limits of the
// sums corrected.
//
// Several lags: the same model with states, x^{k+1} = A x^k + B u^{k+1}, y = x_1,
//
//   A = [a_1 1 0 ..; a_2 0 1 ..; ..; a_L 0 .. 0],   B = [b_1; ..; b_L]
//
// goes to A~ = A^q, B~ = (1 + A + .. + A^(q-1)) B, and back: a~ from the characteristic polynomial of A~
// (Faddeev, LeVerrier), b~_l = h_(l-1) - sum a~_i h_(l-1-i), h_i = (A~^i B~)_1. The part d of a step is that of the
// continuous model with the same samples: A^d from square roots, one for each binary digit of d, and
// S_d B from S_(d/2) = (1 + A^(d/2))^-1 S_d. Poles at 0 or below have no such model: then the line between
// whole q. Source: own; N. J. Higham, Functions of Matrices (2008), chapter 6 (Denman-Beavers iteration).
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "identify/identify_rls.h"
#include "linalg/linalg_dense.h"

#define MAX_RATIO 1e9  // a longer step than this is a mistake

// *power := a^n and *sum := 1 + a + .. + a^(n-1), by doubling: few roundings, few multiplications.
static void powers_of(double a, uint64_t n, double* power, double* sum) {
  *power = 1.0;
  *sum = 0.0;

  // a^(2i) = (a^i)^2, sum_(2i) = sum_i + a^i sum_i; then one more where the bit is set
  for (int bit = 63; bit >= 0; bit--) {
    *sum += *sum * *power;
    *power *= *power;
    if ((n >> bit & 1) != 0) {
      *sum = 1.0 + a * *sum;
      *power *= a;
    }
  }
}

// Whole and broken part; a quotient of two steps that is whole but for its last bits is meant to be whole.
static double split(double ratio, double* share) {
  const double whole = floor(ratio);
  *share = ratio - whole;
  if (*share > 1.0 - 1e-9) {
    *share = 0.0;
    return whole + 1.0;
  }
  *share = *share < 1e-9 ? 0.0 : *share;
  return whole;
}

yoke_status yoke__rls_resample(double a, size_t m, const double b[], double ratio, double* a_to,
                               double b_to[]) {
  if (!(ratio >= 1.0 && ratio <= MAX_RATIO)) {
    return YOKE_BAD_ARG;
  }
  double share = 0.0, power = 0.0, sum = 0.0;
  const double whole = split(ratio, &share);
  powers_of(a, (uint64_t)whole, &power, &sum);

  // (1 - d) (1 + .. + a^(D-1)) + d (1 + .. + a^D)
  const double factor = (1.0 - share) * sum + share * (1.0 + a * sum);
  *a_to = (1.0 - share) * power + share * power * a;
  for (size_t j = 0; j < m; j++) {
    b_to[j] = b[j] * factor;
  }
  return YOKE_OK;
}

// ---- several lags

enum { MAX = YOKE_RLS_MAX_LAGS, SIZE = MAX * MAX };

#define MIN_RATIO 1e-6
#define DIGITS    40    // binary ones of a part of a step: 1e-12 of it is left out
#define TURNS     60    // of Denman and Beavers: a digit each until poles are about 1, then few
#define ROOT      1e-9  // that a square root may be off, of the matrix

// A part of a step or several of them: x := power x + sum B u.
typedef struct stretch {
  double power[SIZE], sum[SIZE];
} stretch;

static void set_identity(size_t n, double A[]) {
  memset(A, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    A[i * n + i] = 1.0;
  }
}

// to := to, then `next`.
static void append(size_t n, const stretch* next, stretch* to) {
  double product[SIZE];

  // x := P2 (P1 x + S1 B u) + S2 B u: sum = P2 S1 + S2
  yoke__mat_mul(n, n, n, next->power, to->sum, product);
  for (size_t i = 0; i < n * n; i++) {
    to->sum[i] = product[i] + next->sum[i];
  }
  yoke__mat_mul(n, n, n, next->power, to->power, product);
  memcpy(to->power, product, n * n * sizeof *product);
}

// to := n_steps times `one`, by doubling.
static void repeat(size_t n, const stretch* one, uint64_t n_steps, stretch* to) {
  set_identity(n, to->power);
  memset(to->sum, 0, n * n * sizeof *to->sum);
  for (int bit = 63; bit >= 0; bit--) {
    // twice what there is, from the highest bit down
    const stretch half = *to;
    append(n, &half, to);
    if ((n_steps >> bit & 1) != 0) {
      append(n, one, to);
    }
  }
}

static bool invert(size_t n, const double A[], double to[]) {
  double lu[SIZE], column[MAX];
  size_t pivots[MAX];
  memset(to, 0, n * n * sizeof *to);
  memcpy(lu, A, n * n * sizeof *A);
  if (yoke__lu_factor(n, lu, pivots) < 0) {
    return false;
  }
  for (size_t j = 0; j < n; j++) {
    memset(column, 0, sizeof column);
    column[j] = 1.0;
    yoke__lu_solve(n, lu, pivots, column);
    for (size_t i = 0; i < n; i++) {
      to[i * n + j] = column[i];
    }
  }
  return yoke__are_finite(n * n, to);
}

// A := its principal square root; false: there is none.
static bool take_root(size_t n, double A[]) {
  double Y[SIZE], Z[SIZE], Y_inverse[SIZE], Z_inverse[SIZE];
  memcpy(Y, A, n * n * sizeof *A);

  // Denman and Beavers: Y -> A^(1/2), Z -> A^(-1/2)
  set_identity(n, Z);
  for (int turn = 0; turn < TURNS; turn++) {
    if (!invert(n, Y, Y_inverse) || !invert(n, Z, Z_inverse)) {
      return false;
    }
    double moved = 0.0, size = 0.0;
    // both updates from the old Y and Z
    for (size_t i = 0; i < n * n; i++) {
      const double next = 0.5 * (Y[i] + Z_inverse[i]);
      moved = fmax(moved, fabs(next - Y[i]));
      size = fmax(size, fabs(next));
      Y[i] = next;
      Z[i] = 0.5 * (Z[i] + Y_inverse[i]);
    }
    if (moved <= 1e-15 * size) {
      break;
    }
  }

  // tried by squaring: poles on the negative real axis give something that is no root
  double square[SIZE], off = 0.0, size = 0.0;
  yoke__mat_mul(n, n, n, Y, Y, square);
  for (size_t i = 0; i < n * n; i++) {
    off = fmax(off, fabs(square[i] - A[i]));
    size = fmax(size, fabs(A[i]));
  }
  memcpy(A, Y, n * n * sizeof *A);
  return off <= ROOT * size;
}

// one := half of it.
static bool halve(size_t n, stretch* one) {
  double sum[SIZE], inverse[SIZE];
  if (!take_root(n, one->power)) {
    return false;
  }

  // S_(d/2) = (1 + A^(d/2))^-1 S_d
  memcpy(sum, one->power, n * n * sizeof *sum);
  for (size_t i = 0; i < n; i++) {
    sum[i * n + i] += 1.0;
  }
  if (!invert(n, sum, inverse)) {
    return false;
  }
  yoke__mat_mul(n, n, n, inverse, one->sum, sum);
  memcpy(one->sum, sum, n * n * sizeof *sum);
  return true;
}

// to := to, then `share` (0 to 1) of `one`; false: that has no continuous equivalent, to is lost.
static bool append_share(size_t n, const stretch* one, double share, stretch* to) {
  stretch part = *one;
  for (int digit = 0; digit < DIGITS && share > 0.0; digit++) {
    if (!halve(n, &part)) {
      return false;
    }
    // binary digits of the share, the highest first
    share *= 2.0;
    if (share >= 1.0) {
      append(n, &part, to);
      share -= 1.0;
    }
  }
  return true;
}

// a (n) of the characteristic polynomial z^n - a_1 z^(n-1) - .. - a_n of A.
static void find_lags(size_t n, const double A[], double a[]) {
  double M[SIZE], next[SIZE];
  set_identity(n, M);

  // Faddeev and LeVerrier: a_k = trace(A M_k) / k, M_(k+1) = A M_k - a_k I
  for (size_t k = 0; k < n; k++) {
    double trace = 0.0;
    yoke__mat_mul(n, n, n, A, M, next);
    for (size_t i = 0; i < n; i++) {
      trace += next[i * n + i];
    }
    a[k] = trace / (double)(k + 1);
    for (size_t i = 0; i < n; i++) {
      next[i * n + i] -= a[k];
    }
    memcpy(M, next, n * n * sizeof *M);
  }
}

// b of one input, in place: from the state space of the old step to the lags of the new one.
static void carry_input(size_t n, const stretch* over, const double a[], double b[]) {
  double x[MAX], next[MAX], h[MAX];

  // h_i = (A~^i B~)_1; b~_l = h_(l-1) - sum a~_i h_(l-1-i)
  yoke__mat_vec(n, n, over->sum, b, x);
  for (size_t l = 0; l < n; l++) {
    h[l] = x[0];
    b[l] = h[l];
    for (size_t i = 0; i < l; i++) {
      b[l] -= a[i] * h[l - 1 - i];
    }
    yoke__mat_vec(n, n, over->power, x, next);
    memcpy(x, next, n * sizeof *x);
  }
}

yoke_status yoke__rls_resample_lags(size_t n, size_t m, double a[], double b[], size_t b_stride,
                                    double ratio) {
  if (n < 1 || n > MAX || !(ratio >= MIN_RATIO && ratio <= MAX_RATIO)) {
    return YOKE_BAD_ARG;
  }
  stretch one, over;
  memset(one.power, 0, sizeof one.power);

  // companion form: first column a, ones above the diagonal; B = [b_1; ..; b_L]
  set_identity(n, one.sum);
  for (size_t i = 0; i < n; i++) {
    one.power[i * n] = a[i];
    if (i + 1 < n) {
      one.power[i * n + i + 1] = 1.0;
    }
  }
  double share = 0.0;
  const double whole = split(ratio, &share);
  repeat(n, &one, (uint64_t)whole, &over);
  stretch low = over;
  if (!append_share(n, &one, share, &over)) {
    if (whole < 1.0) {
      return YOKE_NO_SUPPORT;
    }
    // a line between whole steps instead
    over = low;
    append(n, &one, &over);
    for (size_t i = 0; i < n * n; i++) {
      over.power[i] = (1.0 - share) * low.power[i] + share * over.power[i];
      over.sum[i] = (1.0 - share) * low.sum[i] + share * over.sum[i];
    }
  }
  find_lags(n, over.power, a);
  for (size_t j = 0; j < m; j++) {
    carry_input(n, &over, a, b + j * b_stride);
  }
  return YOKE_OK;
}
