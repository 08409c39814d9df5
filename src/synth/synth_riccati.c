// Riccati equations by the deflating subspace of an extended pencil.
//
// With the input u = F x and the costate X x the solutions of the optimal control problem satisfy M v = lambda N v,
//
//   continuous   M = [ A   0   B ]   N = diag(I, I, 0)        discrete   M = [ A   0  B ]   N = [ I   0   0 ]
//                    [-Q  -A' -S ]                                           [-Q   I -S ]       [ 0   A'  0 ]
//                    [ S'  B'  R ]                                           [ S'  0  R ]       [ 0  -B'  0 ]
//
// R is never inverted: the m rows that belong to u are removed by an orthogonal complement of the last columns of M. The stable
// deflating subspace of the rest is the span of [I; X].
//
// Source: P. Van Dooren, A generalized eigenvalue approach for solving Riccati equations, SIAM J. Sci. Stat. Comput. 2 (1981)
// 121-135.
#include "synth/synth_riccati.h"

#include <math.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_schur.h"

#define RESIDUAL 1e-4  // what is worse is no solution; rounding alone makes 1e-16 X
#define SYMMETRIC                                                                                  \
  1e-4  // X - X' relative to X: a subspace without this is not the one of a solution
#define SWEEPS 60

static yoke_matrix t(yoke_arena* w, yoke_matrix A) {
  return yoke__matrix_transpose(w, A);
}

// M and N of (2 n + m) rows; the columns of u in N are 0.
static void extended_pencil(yoke_arena* w, const yoke_riccati* p, yoke_matrix* M, yoke_matrix* N) {
  const size_t n = p->A.n_rows, m = p->B.n_columns;
  const yoke_matrix O = yoke__matrix_zero(w, n, n), I = yoke__matrix_identity(w, n, 1);
  const yoke_matrix minus_q = yoke__matrix_scale(w, p->Q, -1), B_t = t(w, p->B);
  const yoke_matrix minus_s = yoke__matrix_scale(w, p->S, -1), no = yoke__matrix_zero(w, m, n);

  // -A' (continuous) or I (discrete) for the costate
  const yoke_matrix second = p->is_discrete ? I : yoke__matrix_scale(w, t(w, p->A), -1);
  const yoke_matrix states = yoke__matrix_blocks(w, p->A, O, minus_q, second);
  const yoke_matrix inputs = yoke__matrix_above(w, p->B, minus_s);
  const yoke_matrix last = yoke__matrix_beside(w, t(w, p->S), p->is_discrete ? no : B_t);
  *M = yoke__matrix_blocks(w, states, inputs, last, p->R);
  const yoke_matrix left = yoke__matrix_blocks(w, I, O, O, p->is_discrete ? t(w, p->A) : I);
  const yoke_matrix below =
      yoke__matrix_beside(w, no, p->is_discrete ? yoke__matrix_scale(w, B_t, -1) : no);
  *N = yoke__matrix_above(w, left, below);
}

// Z, 2 n x 2 n: its first n columns span the stable deflating subspace.
static yoke_status subspace(yoke_arena* w, const yoke_riccati* p, yoke_matrix* Z) {
  const size_t n = p->A.n_rows, m = p->B.n_columns;
  yoke_matrix M, N;
  extended_pencil(w, p, &M, &N);

  // the columns of u: an orthogonal complement of them removes u without inverting R
  const yoke_matrix inputs = yoke__matrix_block(w, M, 0, 2 * n, 2 * n + m, m);
  const yoke_matrix Q = yoke__matrix_zero(w, 2 * n + m, 2 * n);
  *Z = yoke__matrix_zero(w, 2 * n, 2 * n);
  YOKE_TRY(yoke__arena_status(w));
  YOKE_TRY(yoke__complement(2 * n + m, m, inputs.a, Q.a));

  // Q' M and Q' N, 2 n x 2 n
  const yoke_matrix small =
      yoke__matrix_mul(w, t(w, Q), yoke__matrix_block(w, M, 0, 0, 2 * n + m, 2 * n));
  const yoke_matrix other = yoke__matrix_mul(w, t(w, Q), N);
  YOKE_TRY(yoke__arena_status(w));
  size_t n_stable = 0;
  YOKE_TRY(yoke__stable_subspace(2 * n, small.a, other.a, p->is_discrete, Z->a, &n_stable));

  // n stable eigenvalues exactly: else some lie on the boundary, and there is no stabilising X
  return n_stable == n ? YOKE_OK : YOKE_SINGULAR;
}

// F and the residual of X.
static yoke_status finish(yoke_arena* w, const yoke_riccati* p, yoke_riccati_solution* s) {
  const yoke_matrix X = s->X, A_t = t(w, p->A), B_t = t(w, p->B);
  yoke_matrix weight = p->R, cross, direct;
  if (p->is_discrete) {
    // R + B'XB, B'XA + S', A'XA - X
    weight = yoke__matrix_add(w, p->R, yoke__matrix_mul3(w, B_t, X, p->B), 1);
    cross = yoke__matrix_add(w, yoke__matrix_mul3(w, B_t, X, p->A), t(w, p->S), 1);
    direct = yoke__matrix_add(w, yoke__matrix_mul3(w, A_t, X, p->A), X, -1);
  } else {
    // B'X + S', XA + A'X
    cross = yoke__matrix_add(w, yoke__matrix_mul(w, B_t, X), t(w, p->S), 1);
    direct = yoke__matrix_mul(w, X, p->A);
    direct = yoke__matrix_add(w, direct, t(w, direct), 1);
  }
  bool is_singular = false;

  // F = -weight^-1 cross
  s->F = yoke__matrix_scale(w, yoke__matrix_solve(w, weight, cross, &is_singular), -1);
  if (is_singular) {
    return YOKE_SINGULAR;
  }

  // residual: direct + Q - cross' weight^-1 cross
  const yoke_matrix square = yoke__matrix_mul(w, t(w, cross), s->F);
  const yoke_matrix rest = yoke__matrix_add(w, yoke__matrix_add(w, direct, p->Q, 1), square, 1);
  const double size =
      fmax(yoke__matrix_largest(direct), yoke__matrix_largest(square)) + yoke__matrix_largest(p->Q);

  // relative to the largest of its terms
  s->residual = size > 0 ? yoke__matrix_largest(rest) / size : 0;
  const yoke_matrix values = yoke__matrix_eigenvalues_symmetric(w, X);
  YOKE_TRY(yoke__arena_status(w));
  s->least = values.a != NULL && values.n_rows > 0 ? values.a[0] : 0;
  return s->residual <= RESIDUAL ? YOKE_OK : YOKE_SINGULAR;
}

yoke_status yoke__riccati_solve(yoke_arena* w, const yoke_riccati* p, yoke_riccati_solution* s) {
  const size_t n = p->A.n_rows;
  yoke_matrix Z;
  *s = (yoke_riccati_solution){0};
  YOKE_TRY(yoke__arena_status(w));
  YOKE_TRY(subspace(w, p, &Z));

  // X = Z2 Z1^-1
  bool is_singular = false;

  // [Z1; Z2] spans the stable subspace: X = Z2 Z1^-1, symmetric up to rounding
  const yoke_matrix Z1 = yoke__matrix_block(w, Z, 0, 0, n, n);
  const yoke_matrix Z2 = yoke__matrix_block(w, Z, n, 0, n, n);
  const yoke_matrix X_t = yoke__matrix_solve(w, t(w, Z1), t(w, Z2), &is_singular);
  if (is_singular) {
    return YOKE_SINGULAR;
  }
  const yoke_matrix X = t(w, X_t);
  s->X = yoke__matrix_scale(w, yoke__matrix_add(w, X, X_t, 1), 0.5);
  // an X of 0 is rounding of what would be there without S
  s->size =
      yoke__matrix_largest(X) + yoke__matrix_largest(p->Q) / fmax(yoke__matrix_largest(p->A), 1);
  const double skew = yoke__matrix_largest(yoke__matrix_add(w, X, X_t, -1));
  if (!(skew <= SYMMETRIC * s->size)) {
    return YOKE_SINGULAR;
  }
  return finish(w, p, s);
}

// ---- eigenvalues

// Zeroes A(p, q) by a rotation of rows and columns p and q (Golub and Van Loan, section 8.5).
static void rotate(size_t n, double A[], size_t p, size_t q) {
  const double apq = A[p * n + q];
  if (apq == 0) {
    return;
  }

  // tan 2 theta = 2 a_pq / (a_qq - a_pp); the smaller root keeps the rotation below 45 degrees
  const double tau = (A[q * n + q] - A[p * n + p]) / (2 * apq);
  const double tangent = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
  const double c = 1 / hypot(1, tangent), s = tangent * c;
  for (size_t k = 0; k < n; k++) {
    const double x = A[k * n + p], y = A[k * n + q];
    A[k * n + p] = c * x - s * y;
    A[k * n + q] = s * x + c * y;
  }
  for (size_t k = 0; k < n; k++) {
    const double x = A[p * n + k], y = A[q * n + k];
    A[p * n + k] = c * x - s * y;
    A[q * n + k] = s * x + c * y;
  }
}

// Sum of squares beside the diagonal.
static double off_diagonal(size_t n, const double A[]) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      sum += A[i * n + j] * A[i * n + j];
    }
  }
  return sum;
}

static void sort(size_t n, double x[]) {
  for (size_t i = 1; i < n; i++) {
    const double value = x[i];
    size_t j = i;
    for (; j > 0 && x[j - 1] > value; j--) {
      x[j] = x[j - 1];
    }
    x[j] = value;
  }
}

yoke_matrix yoke__matrix_eigenvalues_symmetric(yoke_arena* w, yoke_matrix A) {
  const size_t n = A.n_rows;
  const yoke_matrix values = yoke__matrix_zero(w, n, 1), B = yoke__matrix_copy(w, A);
  if (values.a == NULL || B.a == NULL) {
    return (yoke_matrix){n, 1, NULL};
  }
  const double size = yoke__matrix_largest(A);

  // Jacobi: 1e-32 of squares is 1e-16 of elements
  for (size_t sweep = 0; sweep < SWEEPS && off_diagonal(n, B.a) > 1e-32 * size * size; sweep++) {
    for (size_t p = 0; p + 1 < n; p++) {
      for (size_t q = p + 1; q < n; q++) {
        rotate(n, B.a, p, q);
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    values.a[i] = B.a[i * n + i];
  }
  sort(n, values.a);
  return values;
}
