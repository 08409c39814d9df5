// The matrix exponential by scaling and squaring.
//
//   exp(A) = (r(A / 2^s))^(2^s),   r = q(-X)^-1 q(X),   q of degree 13
//
// with s the smallest number that brings the 1-norm of A / 2^s below theta = 5.37..., where the
// backward error of the [13/13] Pade approximant is below the unit round-off.
// Source: N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM
// J. Matrix Anal. Appl. 26 (2005) 1179-1193, table 2.3 and algorithm 2.3 (always degree 13 here:
// the exponential is never on the step path, so the cheaper low degrees are not worth their code).
//
// Assumes nothing about A. The relative error grows with the norm (about norm * unit round-off for
// normal matrices); a nilpotent matrix of large norm is scaled more than it needs.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define THETA_13 5.371920351148152

// coefficients of q: b[j] = (26 - j)! 13! / (26! (13 - j)! j!), made integers
static const double pade[14] = {
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
};

// C := A B, n x n. Most exponentials here are of block matrices with much of nothing in them: an element of A that is 0 is
// passed over, which changes no bit as long as B is finite.
static void multiply(size_t n, const double A[], const double B[], double C[]) {
  memset(C, 0, n * n * sizeof *C);
  for (size_t i = 0; i < n; i++) {
    double* c = C + i * n;
    for (size_t l = 0; l < n; l++) {
      const double a = A[i * n + l];
      const double* b = B + l * n;
      for (size_t j = 0; j < n && a != 0.0; j++) {
        c[j] += a * b[j];
      }
    }
  }
}

// row := row - factor * other
static void subtract_row(size_t n, double factor, const double other[], double row[]) {
  for (size_t j = 0; j < n && factor != 0.0; j++) {
    row[j] -= factor * other[j];
  }
}

// X := A \ X for n right-hand sides with the factors of A: the sums of yoke__lu_solve, all columns side by side.
static void solve_all(size_t n, const double lu[], const size_t pivots[], double X[]) {
  for (size_t k = 0; k < n; k++) {
    for (size_t j = 0; j < n; j++) {
      const double swapped = X[pivots[k] * n + j];
      X[pivots[k] * n + j] = X[k * n + j];
      X[k * n + j] = swapped;
    }
  }
  for (size_t i = 1; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      subtract_row(n, lu[i * n + j], X + j * n, X + i * n);
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) {
      subtract_row(n, lu[i * n + j], X + j * n, X + i * n);
    }
    for (size_t j = 0; j < n; j++) {
      X[i * n + j] /= lu[i * n + i];
    }
  }
}

// P := b[6] X6 + b[4] X4 + b[2] X2 + b[0] I
static void even_polynomial(size_t n, const double b[], const double X2[], const double X4[],
                            const double X6[], double P[]) {
  for (size_t i = 0; i < n * n; i++) {
    P[i] = b[6] * X6[i] + b[4] * X4[i] + b[2] * X2[i];
  }
  for (size_t i = 0; i < n; i++) {
    P[i * n + i] += b[0];
  }
}

// V := even part of q(X): X6 (b12 X6 + b10 X4 + b8 X2) + b6 X6 + b4 X4 + b2 X2 + b0 I with
// first = 0; the same with the odd coefficients and first = 1 (then X V is the odd part). T: work.
static void half_of_q(size_t n, int first, const double X2[], const double X4[], const double X6[],
                      double T[], double V[]) {
  // T = b12 X6 + b10 X4 + b8 X2 (odd half: b13, b11, b9)
  for (size_t i = 0; i < n * n; i++) {
    T[i] = pade[12 + first] * X6[i] + pade[10 + first] * X4[i] + pade[8 + first] * X2[i];
  }

  // V = X6 T: six products in all instead of one per power
  multiply(n, X6, T, V);
  even_polynomial(n, pade + first, X2, X4, X6, T);
  for (size_t i = 0; i < n * n; i++) {
    V[i] += T[i];
  }
}

// E := r(X) = (V - U)^-1 (V + U), U the odd part of q. work: 6 n^2.
static yoke_status rational(size_t n, const double X[], double E[], double work[],
                            size_t pivots[]) {
  const size_t nn = n * n;
  double *X2 = work, *X4 = X2 + nn, *X6 = X4 + nn, *U = X6 + nn, *V = U + nn, *T = V + nn;

  // even powers suffice: q(X) = V + X V_odd, q(-X) = V - X V_odd
  multiply(n, X, X, X2);
  multiply(n, X2, X2, X4);
  multiply(n, X4, X2, X6);
  half_of_q(n, 1, X2, X4, X6, T, V);

  // U = X V_odd, the odd part of q
  multiply(n, X, V, U);
  half_of_q(n, 0, X2, X4, X6, T, V);

  // the powers are no longer needed: X2 takes the denominator
  for (size_t i = 0; i < nn; i++) {
    X2[i] = V[i] - U[i];
    T[i] = V[i] + U[i];
  }

  // r(X) = q(-X)^-1 q(X); the denominator is well conditioned below theta
  YOKE_TRY(yoke__lu_factor(n, X2, pivots));
  solve_all(n, X2, pivots, T);
  memcpy(E, T, nn * sizeof *E);
  return YOKE_OK;
}

size_t yoke__expm_work_size(size_t n) {
  return 7 * n * n;
}

yoke_status yoke__expm_in(size_t n, const double A[], double E[], double work[], size_t pivots[]) {
  // the norm of finite numbers may still overflow: then exp(A) has no finite value worth having
  const double norm = yoke__norm_1(n, A);
  if (isnan(norm) || !yoke__are_finite(n * n, A)) {
    return YOKE_BAD_ARG;
  }
  if (!yoke__is_finite(norm)) {
    return YOKE_DIVERGED;
  }

  // X = A / 2^s, exact; s is bounded because the norm is finite
  double* X = work;

  // frexp gives norm / theta = f 2^s with f in [1/2, 1): 2^-s brings the norm to theta f < theta
  int s = 0;
  if (norm > THETA_13) {
    (void)frexp(norm / THETA_13, &s);
  }
  for (size_t i = 0; i < n * n; i++) {
    X[i] = ldexp(A[i], -s);
  }
  YOKE_TRY(rational(n, X, E, work + n * n, pivots));

  // exp(A) = r(X)^(2^s) by s squarings, each of which may double the relative error
  for (int i = 0; i < s; i++) {
    memcpy(X, E, n * n * sizeof *E);
    multiply(n, X, X, E);
  }
  return yoke__are_finite(n * n, E) ? YOKE_OK : YOKE_DIVERGED;
}

yoke_status yoke__expm(size_t n, const double A[], double E[]) {
  if (n == 0) {
    return YOKE_OK;
  }
  if (n > SIZE_MAX / n / (8 * sizeof(double))) {
    return YOKE_NO_MEMORY;
  }
  double* work = calloc(yoke__expm_work_size(n), sizeof *work);
  size_t* pivots = calloc(n, sizeof *pivots);
  yoke_status status = YOKE_NO_MEMORY;
  if (work != NULL && pivots != NULL) {
    status = yoke__expm_in(n, A, E, work, pivots);
  }
  free(work);
  free(pivots);
  return status;
}
