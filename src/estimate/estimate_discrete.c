// One step of x' = A x + b, exact for constant and for linear b.
//
//   Psi2 = h^2 sum_j (A h)^j / (j + 2)!,   Psi1 = h I + A Psi2,   E = I + A Psi1
//
// for a step h so short that the norm of A h is at most 1/2; then, doubling h,
//
//   Psi2 := Psi2 + h Psi1 + E Psi2,   Psi1 := Psi1 + E Psi1,   E := E E
//
// Errors of the slow modes double with each doubling: after k of them some 2^k units in the last place are wrong, which is what an
// error of one unit in A does too. Source: the integrals of C. F. Van Loan, IEEE Trans. Automatic Control 23 (1978) 395-404,
// blockwise.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_model.h"

#define NORM         0.5    // of A h where the series is used: at most 12 products
#define TRUNCATION   1e-17  // first term left out, relative to the first one
#define MAX_DOUBLING 31     // norm 1e9: 2^31 units in the last place still leave six digits

// C := A B
static void multiply(size_t n, const double* restrict A, const double* restrict B,
                     double* restrict C) {
  memset(C, 0, n * n * sizeof *C);
  for (size_t i = 0; i < n; i++) {
    double* restrict c = C + i * n;
    for (size_t k = 0; k < n; k++) {
      const double a = A[i * n + k];
      const double* restrict b = B + k * n;
      for (size_t j = 0; j < n; j++) {
        c[j] += a * b[j];
      }
    }
  }
}

// Largest row sum of |A|; NaN if A holds one.
static double norm_of(size_t n, const double A[]) {
  double most = 0.0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) {
      sum += fabs(A[i * n + j]);
    }
    most = sum > most || isnan(sum) ? sum : most;
  }
  return most;
}

// X := A h0 with a norm of at most NORM, h0 = h / 2^doublings. Returns the norm.
static yoke_status scale(size_t n, const double A[], double h, double X[], int* doublings,
                         double* norm) {
  // || A h ||_inf
  const double whole = norm_of(n, A) * fabs(h);
  *doublings = 0;
  if (!yoke__is_finite(whole)) {
    return YOKE_DIVERGED;
  }
  if (whole > NORM) {
    // whole / NORM = f 2^k, f in [1/2, 1): k halvings bring the norm to NORM f
    frexp(whole / NORM, doublings);
    if (*doublings > MAX_DOUBLING) {
      return YOKE_DIVERGED;
    }
  }
  *norm = ldexp(whole, -*doublings);
  const double h0 = ldexp(h, -*doublings);
  for (size_t i = 0; i < n * n; i++) {
    X[i] = A[i] * h0;
  }
  return YOKE_OK;
}

// S := sum over j of X^j offset! / (j + offset)!, by Horner's rule; other: n * n.
static void sum_series(size_t n, const double X[], double norm, int offset, double S[],
                       double other[]) {
  int n_terms = 0;

  // the j-th term is at most norm^j offset! / (j + offset)!
  for (double term = 1.0; term > TRUNCATION; n_terms++) {
    term *= norm / (n_terms + 1 + offset);
  }

  // from behind: S := I + X S / (j + offset); source and target change places, so that the last one is S
  double *from = n_terms % 2 == 0 ? S : other, *to = n_terms % 2 == 0 ? other : S;
  memset(from, 0, n * n * sizeof *S);
  for (size_t i = 0; i < n; i++) {
    from[i * n + i] = 1.0;
  }
  for (int j = n_terms; j > 0; j--) {
    multiply(n, X, from, to);
    const double factor = 1.0 / (j + offset);
    for (size_t i = 0; i < n * n; i++) {
      to[i] *= factor;
    }
    for (size_t i = 0; i < n; i++) {
      to[i * n + i] += 1.0;
    }
    double* swap = from;
    from = to;
    to = swap;
  }
}

static void add_diagonal(size_t n, double a, double A[]) {
  for (size_t i = 0; i < n; i++) {
    A[i * n + i] += a;
  }
}

static void add_to(size_t n, const double* restrict from, double* restrict to) {
  for (size_t i = 0; i < n; i++) {
    to[i] += from[i];
  }
}

size_t yoke__discrete_work_size(size_t n) {
  return 4 * n * n;
}

yoke_status yoke__discrete(size_t n, const double A[], double h, double E[], double Psi1[],
                           double Psi2[], double work[]) {
  double *X = work, *other = work + n * n;
  int doublings = 0;
  double norm = 0.0;
  YOKE_TRY(scale(n, A, h, X, &doublings, &norm));

  // the short step: Psi2 = h0^2 / 2 S, and X instead of A saves a scaling
  double h0 = ldexp(h, -doublings);
  sum_series(n, X, norm, 2, Psi2, other);
  for (size_t i = 0; i < n * n; i++) {
    Psi2[i] *= 0.5 * h0;
  }

  // Psi1 = h0 I + A Psi2, with X = A h0 and Psi2 / h0 in place of A and Psi2
  multiply(n, X, Psi2, Psi1);
  add_diagonal(n, h0, Psi1);
  for (size_t i = 0; i < n * n; i++) {
    Psi2[i] *= h0;
  }

  // E = I + A Psi1
  multiply(n, A, Psi1, E);
  add_diagonal(n, 1.0, E);

  // from h to 2 h: int_0^2h = int_0^h + E int_0^h
  for (int k = 0; k < doublings; k++) {
    multiply(n, E, Psi2, other);
    for (size_t i = 0; i < n * n; i++) {
      Psi2[i] += h0 * Psi1[i] + other[i];
    }
    multiply(n, E, Psi1, other);
    add_to(n * n, other, Psi1);
    multiply(n, E, E, other);
    memcpy(E, other, n * n * sizeof *E);
    h0 *= 2.0;
  }
  return yoke__are_finite(n * n, E) && yoke__are_finite(n * n, Psi2) ? YOKE_OK : YOKE_DIVERGED;
}

// M := (X M + M X') / j for symmetric M; other: n * n.
static void next_term(size_t n, const double X[], int j, double M[], double other[]) {
  // M symmetric: M X' is the transpose of X M
  multiply(n, X, M, other);
  const double factor = 1.0 / j;
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      M[a * n + b] = factor * (other[a * n + b] + other[b * n + a]);
    }
  }
}

// Q := Q + E Q E'; other: n * n.
static void double_noise(size_t n, const double E[], double Q[], double other[]) {
  multiply(n, E, Q, other);
  for (size_t a = 0; a < n; a++) {
    for (size_t b = a; b < n; b++) {
      double sum = 0.0;
      for (size_t k = 0; k < n; k++) {
        sum += other[a * n + k] * E[b * n + k];
      }
      Q[a * n + b] += sum;
      Q[b * n + a] = Q[a * n + b];
    }
  }
}

yoke_status yoke__discrete_noise(size_t n, const double A[], const double W[], double h, double Q[],
                                 double work[]) {
  double *X = work, *other = work + n * n, *E = work + 2 * n * n, *M = work + 3 * n * n;
  int doublings = 0;
  double norm = 0.0;
  YOKE_TRY(scale(n, A, h, X, &doublings, &norm));
  sum_series(n, X, norm, 0, E, other);

  // Q = int_0^h exp(A s) W exp(A' s) ds, term by term in powers of h
  // Q = sum of M_j, M_1 = W h0, M_(j+1) = (X M_j + M_j X') / (j + 1)
  const double h0 = ldexp(h, -doublings);
  for (size_t i = 0; i < n * n; i++) {
    Q[i] = M[i] = W[i] * h0;
  }
  double term = 1.0;

  // || M_(j+1) || <= 2 norm / (j + 1) || M_j ||: the loop ends when the bound is below rounding
  for (int j = 2; term > TRUNCATION; j++) {
    next_term(n, X, j, M, other);
    add_to(n * n, M, Q);
    term *= 2.0 * norm / j;
  }

  // Q(2h) = Q(h) + E Q(h) E', E(2h) = E^2
  for (int k = 0; k < doublings; k++) {
    double_noise(n, E, Q, other);
    multiply(n, E, E, other);
    memcpy(E, other, n * n * sizeof *E);
  }
  return yoke__are_finite(n * n, Q) ? YOKE_OK : YOKE_DIVERGED;
}
