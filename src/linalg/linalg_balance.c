// Balanced truncation by the square-root method.
//
//   A P + P A^T + B B^T = 0,   A^T Q + Q A + C^T C = 0,   P = Lc Lc^T,  Q = Lo Lo^T
//   Lo^T Lc = U S V^T,   T_left = S^-1/2 U^T Lo^T,   T_right = Lc V S^-1/2
//
// The factors Lc, Lo come directly from the triangular form of A, without P and Q, so that small
// singular values are right to rounding of the largest instead of to its root. States whose
// eigenvalues are not clearly in the left half-plane (integrators) have no such P and Q: they are
// split off first by a block-diagonal form and kept.
//
// Sources: B. Moore, IEEE Trans. Autom. Control 26 (1981) 17; K. Glover, Int. J. Control 39 (1984)
// 1115 (bound); S. Hammarling, IMA J. Numer. Anal. 2 (1982) 303 (factors); M. Tombs, I.
// Postlethwaite, Int. J. Control 46 (1987) 1319 (square root). Matrices in here are column by
// column.
#include "linalg/linalg_balance.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_lapack.h"

#define MAX_STATES 2000
// real parts above this times the largest eigenvalue: not stable, as far as rounding shows
#define APART 1e-11
// singular values below this times the largest are rounding
#define FLOOR 1e-14

typedef double _Complex number;

extern void dgebal_(const char* job, const int* n, double a[], const int* lda, int* ilo, int* ihi,
                    double scale[], int* info, size_t job_length);
extern void dtrsen_(const char* job, const char* compq, const int select[], const int* n,
                    double t[], const int* ldt, double q[], const int* ldq, double wr[],
                    double wi[], int* m, double* s, double* sep, double work[], const int* lwork,
                    int iwork[], const int* liwork, int* info, size_t job_length,
                    size_t compq_length);
extern void dtrsyl_(const char* trana, const char* tranb, const int* isgn, const int* m,
                    const int* n, const double a[], const int* lda, const double b[],
                    const int* ldb, double c[], const int* ldc, double* scale, int* info,
                    size_t trana_length, size_t tranb_length);
extern void zgees_(const char* jobvs, const char* sort, int (*select)(const number*), const int* n,
                   number a[], const int* lda, int* sdim, number w[], number vs[], const int* ldvs,
                   number work[], const int* lwork, double rwork[], int bwork[], int* info,
                   size_t jobvs_length, size_t sort_length);

typedef struct balance {
  yoke_balance_model model;
  yoke_arena scratch;
  size_t n1, n2;          // stable, apart
  double *A, *Q, *scale;  // triangular form of the scaled A; x = scale Q ...
  double* X;              // n1 x n2
  double *W, *V;          // W^T: n x n, V: n x n: x = scale V z, z = W^T x / scale
  double *B, *C;          // n x n_u, n_y x n in z
  double *Lc, *Lo;        // n1 x 2 n1
  double *U, *S, *Vt;     // of Lo^T Lc
} balance;

static void* take(balance* b, size_t count, size_t size) {
  return yoke__arena_array(&b->scratch, count + 1, size);
}

// C (m x n) := A (m x k) B (k x n), leading dimensions given
static void mul(size_t m, size_t k, size_t n, const double A[], size_t lda, const double B[],
                size_t ldb, double C[], size_t ldc) {
  for (size_t j = 0; j < n; j++) {
    memset(C + j * ldc, 0, m * sizeof *C);
    for (size_t s = 0; s < k; s++) {
      const double factor = B[s + j * ldb];
      for (size_t i = 0; i < m; i++) {
        C[i + j * ldc] += factor * A[i + s * lda];
      }
    }
  }
}

// Rows of `to` := columns of `from`: between the orders of LAPACK and of C.
static void turn(size_t m, size_t n, const double from[], size_t ld, double to[], size_t stride) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      to[i * stride + j] = from[i + j * ld];
    }
  }
}

// C (m x n) := A^T B, A k x m, B k x n
static void mul_transposed(size_t m, size_t k, size_t n, const double A[], size_t lda,
                           const double B[], size_t ldb, double C[], size_t ldc) {
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < m; i++) {
      double sum = 0.0;
      for (size_t s = 0; s < k; s++) {
        sum += A[s + i * lda] * B[s + j * ldb];
      }
      C[i + j * ldc] = sum;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// triangular form, the stable part first

static yoke_status schur(balance* b, double wr[], double wi[]) {
  const int n = (int)b->model.n;
  int low = 0, high = 0, info = 0, n_selected = 0, n_work = -1;
  double wanted = 0.0;

  // scaling by powers of two only ("S"): no permutation, so that `scale` alone undoes it
  dgebal_("S", &n, b->A, &n, &low, &high, b->scale, &info, 1);
  dgees_("V", "N", NULL, &n, b->A, &n, &n_selected, wr, wi, b->Q, &n, &wanted, &n_work, NULL, &info,
         1, 1);
  n_work = (int)wanted;
  double* work = take(b, (size_t)n_work, sizeof *work);
  YOKE_TRY(yoke__arena_status(&b->scratch));
  dgees_("V", "N", NULL, &n, b->A, &n, &n_selected, wr, wi, b->Q, &n, work, &n_work, NULL, &info, 1,
         1);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

static yoke_status stable_first(balance* b, double wr[], double wi[]) {
  const int n = (int)b->model.n;
  const int n_work = n * n > 1 ? n * n : 1;
  int info = 0, n_stable = 0;
  double largest = 0.0, s = 0.0, sep = 0.0;
  int* select = take(b, b->model.n, sizeof *select);
  int* whole = take(b, (size_t)n_work, sizeof *whole);
  double* work = take(b, (size_t)n_work, sizeof *work);
  YOKE_TRY(yoke__arena_status(&b->scratch));

  // an eigenvalue within rounding of the axis counts as not stable: its Gramian would be rounding
  for (int i = 0; i < n; i++) {
    largest = fmax(largest, hypot(wr[i], wi[i]));
  }
  for (int i = 0; i < n; i++) {
    select[i] = wr[i] < -APART * largest;
  }

  // reordering by orthogonal swaps keeps A = Q T Q^T, the selected eigenvalues first
  dtrsen_("N", "V", select, &n, b->A, &n, b->Q, &n, wr, wi, &n_stable, &s, &sep, work, &n_work,
          whole, &n_work, &info, 1, 1);
  b->n1 = (size_t)n_stable;
  b->n2 = b->model.n - b->n1;
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// T11 X - X T22 = -T12, then V = Q [1 X; 0 1], W^T = [1 -X; 0 1] Q^T
static yoke_status split(balance* b) {
  const size_t n = b->model.n;
  const int n_all = (int)n, n1 = (int)b->n1, n2 = (int)b->n2, minus = -1;
  const int ld = n1 > 0 ? n1 : 1;
  double scale = 1.0;

  // coupling block with its sign turned: T11 X - X T22 = -T12
  int info = 0;
  for (size_t j = 0; j < b->n2; j++) {
    for (size_t i = 0; i < b->n1; i++) {
      b->X[i + j * b->n1] = -b->A[i + (b->n1 + j) * n];
    }
  }
  if (n1 > 0 && n2 > 0) {
    dtrsyl_("N", "N", &minus, &n1, &n2, b->A, &n_all, b->A + b->n1 * n + b->n1, &n_all, b->X, &ld,
            &scale, &info, 1, 1);
  }
  if (info < 0) {
    return YOKE_NO_CONVERGENCE;
  }

  // LAPACK solves T11 X - X T22 = scale * C to avoid overflow
  for (size_t j = 0; j < b->n1 * b->n2; j++) {
    b->X[j] /= scale;
  }

  // [V1 V2] = [Q1, Q2 + Q1 X]; W^T = [Q1^T - X Q2^T; Q2^T]: W^T V = I by construction
  memcpy(b->V, b->Q, n * n * sizeof *b->V);
  turn(n, n, b->Q, n, b->W, n);
  for (size_t j = 0; j < b->n2; j++) {
    for (size_t k = 0; k < b->n1; k++) {
      const double x = b->X[k + j * b->n1];
      for (size_t i = 0; i < n; i++) {
        b->V[i + (b->n1 + j) * n] += x * b->Q[i + k * n];
        b->W[k + i * n] -= x * b->Q[i + (b->n1 + j) * n];
      }
    }
  }
  return YOKE_OK;
}

// B and C in the new coordinates
static void transform(balance* b) {
  const yoke_balance_model* m = &b->model;

  // back from the balanced coordinates x = D x': V := D V, W^T := W^T D^-1
  for (size_t i = 0; i < m->n; i++) {
    for (size_t j = 0; j < m->n; j++) {
      b->V[i + j * m->n] *= b->scale[i];
      b->W[j + i * m->n] /= b->scale[i];
    }
  }

  // B in z: W^T B
  for (size_t i = 0; i < m->n; i++) {
    for (size_t j = 0; j < m->n_u; j++) {
      double sum = 0.0;
      for (size_t s = 0; s < m->n; s++) {
        sum += b->W[i + s * m->n] * m->B[s * m->n_u + j];
      }
      b->B[i + j * m->n] = sum;
    }
  }

  // C in z: C V
  for (size_t i = 0; i < m->n_y; i++) {
    for (size_t j = 0; j < m->n; j++) {
      double sum = 0.0;
      for (size_t s = 0; s < m->n; s++) {
        sum += m->C[i * m->n + s] * b->V[s + j * m->n];
      }
      b->C[i + j * m->n_y] = sum;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// factors of the Gramians

// (T + shift) u = r for the leading n rows of the upper triangular T (leading dimension ld), in
// place
static void solve_upper(size_t n, const number T[], size_t ld, number shift, number r[]) {
  for (size_t j = n; j-- > 0;) {
    // back substitution column by column, T walked along its columns
    r[j] /= T[j + j * ld] + shift;
    for (size_t i = 0; i < j; i++) {
      r[i] -= T[i + j * ld] * r[j];
    }
  }
}

// U upper triangular with T U U^H + U U^H T^H + B B^H = 0, T n x n upper triangular and stable, B n
// x m. Column by column from the last: with b the last row of B and l the last eigenvalue
//   tau = |b| / sqrt(-2 Re l),  (T1 + conj(l)) u = -(t tau + B1 b^H / tau),  B1 := B1 - u b / tau
// B is overwritten.
static void factor(size_t n, size_t m, const number T[], number B[], number U[]) {
  for (size_t k = n; k-- > 0;) {
    const number lambda = T[k + k * n];
    // |b| by hypot: squares of small rows do not vanish
    double size = 0.0;
    for (size_t j = 0; j < m; j++) {
      size = hypot(size, cabs(B[k + j * n]));
    }
    const double tau = size / sqrt(-2.0 * creal(lambda));
    number* u = U + k * n;
    u[k] = tau;
    // a row without input adds nothing: u stays zero there, and tau in the divisor is avoided
    if (!(tau > 0.0)) {
      continue;
    }
    // right-hand side -(t tau + B1 b^H / tau)
    for (size_t i = 0; i < k; i++) {
      number sum = T[i + k * n] * tau;
      for (size_t j = 0; j < m; j++) {
        sum += B[i + j * n] * conj(B[k + j * n]) / tau;
      }
      u[i] = -sum;
    }
    // Re(l) < 0 for all eigenvalues, so no divisor T_jj + conj(l) is zero
    solve_upper(k, T, n, conj(lambda), u);
    // B1 := B1 - u b / tau, the input of the leading rows that is left
    for (size_t j = 0; j < m; j++) {
      const number b = B[k + j * n] / tau;
      for (size_t i = 0; i < k; i++) {
        B[i + j * n] -= u[i] * b;
      }
    }
  }
}

// L := [Re F, Im F], F = Z U, columns of Z possibly in reverse order: F F^H is real.
static void spread(size_t n, const number Z[], bool is_reversed, const number U[], double L[]) {
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      // U is upper triangular: column j has entries up to row j only
      number sum = 0.0;
      for (size_t s = 0; s <= j; s++) {
        sum += Z[i + (is_reversed ? n - 1 - s : s) * n] * U[s + j * n];
      }
      // F F^H = Re F Re F^T + Im F Im F^T because F F^H is real: 2 n real columns stand for n
      // complex ones
      L[i + j * n] = creal(sum);
      L[i + (n + j) * n] = cimag(sum);
    }
  }
}

static yoke_status complex_schur(balance* b, number T[], number Z[]) {
  const int n = (int)b->n1;
  int info = 0, n_selected = 0, n_work = -1;
  number wanted = 0.0;
  number* w = take(b, b->n1, sizeof *w);
  double* rwork = take(b, b->n1, sizeof *rwork);
  YOKE_TRY(yoke__arena_status(&b->scratch));

  // the stable block of the real form is the start, so that both forms have the same basis
  for (size_t j = 0; j < b->n1; j++) {
    for (size_t i = 0; i < b->n1; i++) {
      T[i + j * b->n1] = b->A[i + j * b->model.n];
    }
  }
  zgees_("V", "N", NULL, &n, T, &n, &n_selected, w, Z, &n, &wanted, &n_work, rwork, NULL, &info, 1,
         1);
  n_work = (int)creal(wanted);
  number* work = take(b, (size_t)n_work, sizeof *work);
  YOKE_TRY(yoke__arena_status(&b->scratch));
  zgees_("V", "N", NULL, &n, T, &n, &n_selected, w, Z, &n, work, &n_work, rwork, NULL, &info, 1, 1);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// the controllability factor with T and Z^H B
static void factor_controllability(const balance* b, const number T[], const number Z[], number R[],
                                   number U[]) {
  const size_t n = b->n1;

  // right-hand side Z^H B
  for (size_t j = 0; j < b->model.n_u; j++) {
    for (size_t i = 0; i < n; i++) {
      number sum = 0.0;
      for (size_t s = 0; s < n; s++) {
        sum += conj(Z[s + i * n]) * b->B[s + j * b->model.n];
      }
      R[i + j * n] = sum;
    }
  }
  factor(n, b->model.n_u, T, R, U);
  spread(n, Z, false, U, b->Lc);
}

// the observability factor: the same with T^H, which is upper triangular with its order reversed
static void factor_observability(const balance* b, const number T[], const number Z[], number R[],
                                 number reversed[], number U[]) {
  const size_t n = b->n1, m = b->model.n_y;

  // with J the reversal of order, J T^H J is upper triangular again
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      reversed[i + j * n] = conj(T[(n - 1 - j) + (n - 1 - i) * n]);
    }
  }

  // J Z^H C^T, the input of the dual equation
  for (size_t j = 0; j < m; j++) {
    for (size_t i = 0; i < n; i++) {
      number sum = 0.0;
      for (size_t s = 0; s < n; s++) {
        sum += conj(Z[s + (n - 1 - i) * n]) * b->C[j + s * m];
      }
      R[i + j * n] = sum;
    }
  }

  // a row without input leaves its column of U as it is: nothing may remain from the other factor
  memset(U, 0, n * n * sizeof *U);
  factor(n, m, reversed, R, U);
  spread(n, Z, true, U, b->Lo);
}

static yoke_status find_factors(balance* b) {
  const size_t n = b->n1;
  const size_t m = b->model.n_u > b->model.n_y ? b->model.n_u : b->model.n_y;
  number* T = take(b, n * n, sizeof *T);
  number* Z = take(b, n * n, sizeof *Z);
  number* U = take(b, n * n, sizeof *U);
  number* reversed = take(b, n * n, sizeof *reversed);
  number* R = take(b, n * m, sizeof *R);
  YOKE_TRY(yoke__arena_status(&b->scratch));
  YOKE_TRY(complex_schur(b, T, Z));
  factor_controllability(b, T, Z, R, U);
  factor_observability(b, T, Z, R, reversed, U);
  return YOKE_OK;
}

// Lo^T Lc = U S Vt
static yoke_status find_values(balance* b) {
  const size_t n = b->n1, wide = 2 * n;
  const int size = (int)wide;
  int info = 0, n_work = -1;
  double wanted = 0.0;
  double* product = take(b, wide * wide, sizeof *product);
  YOKE_TRY(yoke__arena_status(&b->scratch));

  // Lo^T Lc: its singular values are the Hankel singular values
  mul_transposed(wide, n, wide, b->Lo, n, b->Lc, n, product, wide);
  dgesvd_("A", "A", &size, &size, product, &size, b->S, b->U, &size, b->Vt, &size, &wanted, &n_work,
          &info, 1, 1);
  n_work = (int)wanted;
  double* work = take(b, (size_t)n_work, sizeof *work);
  YOKE_TRY(yoke__arena_status(&b->scratch));
  dgesvd_("A", "A", &size, &size, product, &size, b->S, b->U, &size, b->Vt, &size, work, &n_work,
          &info, 1, 1);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// -------------------------------------------------------------------------------------------------
// the reduced model

// How many of the stable states stay.
static size_t choose(const balance* b, size_t order, double tolerance) {
  // a value at rounding level has no direction of its own: its 1/sqrt(s) would be noise
  size_t n_real = 0;
  while (n_real < b->n1 && b->S[n_real] > FLOOR * b->S[0]) {
    n_real++;
  }
  if (order > 0) {
    const size_t left = order > b->n2 ? order - b->n2 : 0;
    return left < n_real ? left : n_real;
  }

  // the error bound || G - G_r || <= 2 sum of the dropped values (Glover 1984), smallest first
  double dropped = 0.0;
  for (size_t i = b->n1; i-- > n_real;) {
    dropped += 2.0 * b->S[i];
  }
  while (n_real > 0 && dropped + 2.0 * b->S[n_real - 1] <= tolerance) {
    dropped += 2.0 * b->S[--n_real];
  }
  return n_real;
}

// T_left (r x n1) and T_right (n1 x r)
static void projections(const balance* b, size_t r, double left[], double right[]) {
  const size_t n = b->n1, wide = 2 * n;
  for (size_t k = 0; k < r; k++) {
    // S^-1/2 turns U^T Lo^T and Lc V into a pair with T_left T_right = I
    const double weight = 1.0 / sqrt(b->S[k]);
    for (size_t i = 0; i < n; i++) {
      double sum_left = 0.0, sum_right = 0.0;
      for (size_t s = 0; s < wide; s++) {
        sum_left += b->U[s + k * wide] * b->Lo[i + s * n];
        sum_right += b->Vt[k + s * wide] * b->Lc[i + s * n];
      }
      left[k + i * r] = weight * sum_left;
      right[i + k * n] = weight * sum_right;
    }
  }
}

// The stable part, projected, into the leading rows and columns of the result.
static yoke_status put_stable(balance* b, size_t r, yoke_reduction* out) {
  const yoke_balance_model* m = &b->model;
  const size_t n = b->n1;
  double* left = take(b, r * n, sizeof *left);
  double* right = take(b, n * r, sizeof *right);
  double* AR = take(b, n * r, sizeof *AR);
  double* small = take(b, r * (r + m->n + m->n_u) + m->n_y * r, sizeof *small);
  YOKE_TRY(yoke__arena_status(&b->scratch));
  projections(b, r, left, right);

  // A_r = T_left T11 T_right
  mul(n, n, r, b->A, m->n, right, n, AR, n);
  mul(r, n, r, left, r, AR, n, small, r);
  turn(r, r, small, r, out->A, out->n);

  // B_r = T_left B1
  mul(r, n, m->n_u, left, r, b->B, m->n, small, r);
  turn(r, m->n_u, small, r, out->B, m->n_u);

  // T_r = T_left W1^T, from states of the full model to those of the reduced one
  mul(r, n, m->n, left, r, b->W, m->n, small, r);
  turn(r, m->n, small, r, out->T, m->n);

  // C_r = C1 T_right
  mul(m->n_y, n, r, b->C, m->n_y, right, n, small, m->n_y);
  turn(m->n_y, r, small, m->n_y, out->C, out->n);
  return YOKE_OK;
}

// What is not stable, as it is, behind it.
static void put_apart(const balance* b, size_t r, yoke_reduction* out) {
  const yoke_balance_model* m = &b->model;

  // the block T22 and its rows of B and W^T and columns of C, untouched
  turn(b->n2, b->n2, b->A + b->n1 + b->n1 * m->n, m->n, out->A + r * out->n + r, out->n);
  turn(b->n2, m->n_u, b->B + b->n1, m->n, out->B + r * m->n_u, m->n_u);
  turn(b->n2, m->n, b->W + b->n1, m->n, out->T + r * m->n, m->n);
  turn(m->n_y, b->n2, b->C + b->n1 * m->n_y, m->n_y, out->C + r, out->n);
}

static yoke_status put(balance* b, size_t r, yoke_arena* arena, yoke_reduction* out) {
  const yoke_balance_model* m = &b->model;
  const size_t n = r + b->n2;
  *out = (yoke_reduction){.n = n, .n_apart = b->n2, .n_hankel = b->n1};
  out->A = yoke__arena_array(arena, n * n + 1, sizeof(double));
  out->B = yoke__arena_array(arena, n * m->n_u + 1, sizeof(double));
  out->C = yoke__arena_array(arena, m->n_y * n + 1, sizeof(double));
  out->T = yoke__arena_array(arena, n * m->n + 1, sizeof(double));
  out->hankel = yoke__arena_array(arena, b->n1 + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  memcpy(out->hankel, b->S, b->n1 * sizeof(double));

  // smallest first, so that small values are not lost beside large ones
  for (size_t i = b->n1; i-- > r;) {
    out->bound += 2.0 * b->S[i];
  }
  put_apart(b, r, out);
  return put_stable(b, r, out);
}

static yoke_status take_memory(balance* b) {
  const yoke_balance_model* m = &b->model;
  const size_t n = m->n;
  b->A = take(b, n * n, sizeof(double));
  b->Q = take(b, n * n, sizeof(double));
  b->scale = take(b, n, sizeof(double));
  b->X = take(b, n * n, sizeof(double));
  b->W = take(b, n * n, sizeof(double));
  b->V = take(b, n * n, sizeof(double));
  b->B = take(b, n * m->n_u, sizeof(double));
  b->C = take(b, m->n_y * n, sizeof(double));
  b->Lc = take(b, 2 * n * n, sizeof(double));
  b->Lo = take(b, 2 * n * n, sizeof(double));
  b->U = take(b, 4 * n * n, sizeof(double));
  b->S = take(b, 2 * n, sizeof(double));
  b->Vt = take(b, 4 * n * n, sizeof(double));
  return yoke__arena_status(&b->scratch);
}

static yoke_status run(balance* b, size_t n_wanted, double tolerance, yoke_arena* arena,
                       yoke_reduction* out) {
  const yoke_balance_model* m = &b->model;
  YOKE_TRY(take_memory(b));
  double* wr = take(b, m->n, sizeof *wr);
  double* wi = take(b, m->n, sizeof *wi);
  YOKE_TRY(yoke__arena_status(&b->scratch));

  // from rows to columns
  turn(m->n, m->n, m->A, m->n, b->A, m->n);
  if (m->n > 0) {
    YOKE_TRY(schur(b, wr, wi));
    YOKE_TRY(stable_first(b, wr, wi));
    YOKE_TRY(split(b));
    transform(b);
  }
  if (b->n1 > 0) {
    YOKE_TRY(find_factors(b));
    YOKE_TRY(find_values(b));
  }
  return put(b, choose(b, n_wanted, tolerance), arena, out);
}

yoke_status yoke__balance_reduce(const yoke_balance_model* model, size_t order, double tolerance,
                                 yoke_arena* arena, yoke_reduction* out) {
  const size_t n = model->n;
  // LAPACK does not promise to return when it meets a NaN
  if (n > MAX_STATES || !yoke__are_finite(n * n, model->A) ||
      !yoke__are_finite(n * model->n_u, model->B) || !yoke__are_finite(model->n_y * n, model->C)) {
    return YOKE_BAD_ARG;
  }
  balance b = {.model = *model};
  yoke__lapack_use_one_thread();
  const yoke_status status = run(&b, order, tolerance, arena, out);
  yoke__arena_free(&b.scratch);
  return status;
}
