// Schur form by LAPACK's dgees, the generalised one by dgges (QZ with exchange of eigenvalues), dggev, and QR by dgeqrf and dorgqr.
//
// LAPACK stores matrices column by column, so that a matrix row by row is its transpose there: copies are transposed.
//
// Source: Golub and Van Loan, Matrix Computations, 4th ed., section 7.7.
#include "linalg/linalg_schur.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "linalg/linalg_lapack.h"

#define MAX_SIZE 2000

typedef int select_function(const double* re, const double* im, const double* beta);

extern void dgges_(const char* jobvsl, const char* jobvsr, const char* sort,
                   select_function* selctg, const int* n, double a[], const int* lda, double b[],
                   const int* ldb, int* sdim, double alphar[], double alphai[], double beta[],
                   double vsl[], const int* ldvsl, double vsr[], const int* ldvsr, double work[],
                   const int* lwork, int bwork[], int* info, size_t jobvsl_length,
                   size_t jobvsr_length, size_t sort_length);
extern void dggev_(const char* jobvl, const char* jobvr, const int* n, double a[], const int* lda,
                   double b[], const int* ldb, double alphar[], double alphai[], double beta[],
                   double vl[], const int* ldvl, double vr[], const int* ldvr, double work[],
                   const int* lwork, int* info, size_t jobvl_length, size_t jobvr_length);
extern void dorgqr_(const int* m, const int* n, const int* k, double a[], const int* lda,
                    const double tau[], double work[], const int* lwork, int* info);

static void transpose(size_t n, const double from[], double to[]) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      to[j * n + i] = from[i * n + j];
    }
  }
}

static int is_left(const double* re, const double* im, const double* beta) {
  (void)im;
  // beta is not negative
  return *re < 0 && *beta > 0;
}

static int is_inside(const double* re, const double* im, const double* beta) {
  return hypot(*re, *im) < *beta;
}

static bool is_fit(size_t n, const double M[], const double N[]) {
  return n <= MAX_SIZE && yoke__are_finite(n * n, M) && yoke__are_finite(n * n, N);
}

yoke_status yoke__pencil_eigenvalues(size_t n, const double M[], const double N[], double re[],
                                     double im[], double beta[]) {
  if (n == 0) {
    return YOKE_OK;
  }
  if (!is_fit(n, M, N)) {
    return YOKE_BAD_ARG;
  }
  const size_t n_work = 16 * n + 64;
  double* block = malloc((2 * n * n + n_work) * sizeof *block);
  YOKE_TRY_MEMORY(block);
  double *a = block, *b = a + n * n, *work = b + n * n;
  transpose(n, M, a);
  transpose(n, N, b);
  yoke__lapack_use_one_thread();
  const int size = (int)n, one = 1, length = (int)n_work;
  int info = 0;

  // eigenvalues are (re + j im) / beta; beta = 0 stands for an infinite one
  dggev_("N", "N", &size, a, &size, b, &size, re, im, beta, NULL, &one, NULL, &one, work, &length,
         &info, 1, 1);
  free(block);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__stable_subspace(size_t n, const double M[], const double N[], bool is_discrete,
                                  double Z[], size_t* n_stable) {
  *n_stable = 0;
  if (n == 0) {
    return YOKE_OK;
  }
  if (!is_fit(n, M, N)) {
    return YOKE_BAD_ARG;
  }
  const size_t n_work = 8 * n + 16 + 64;
  double* block = malloc((3 * n * n + 3 * n + n_work) * sizeof *block);
  int* flags = malloc(n * sizeof *flags);
  if (block == NULL || flags == NULL) {
    free(block);
    free(flags);
    return YOKE_NO_MEMORY;
  }
  double *a = block, *b = a + n * n, *vectors = b + n * n, *values = vectors + n * n;
  double* work = values + 3 * n;
  transpose(n, M, a);
  transpose(n, N, b);
  yoke__lapack_use_one_thread();
  const int size = (int)n, one = 1, length = (int)n_work;
  int info = 0, n_found = 0;

  // with the selected eigenvalues first, the leading columns of `vectors` span their subspace
  dgges_("N", "V", "S", is_discrete ? is_inside : is_left, &size, a, &size, b, &size, &n_found,
         values, values + n, values + 2 * n, NULL, &one, vectors, &size, work, &length, flags,
         &info, 1, 1, 1);
  transpose(n, vectors, Z);
  free(block);
  free(flags);
  *n_stable = (size_t)n_found;
  // n + 2: after the exchange some eigenvalues changed sides by rounding; the caller's residual tells
  return info == 0 || info == size + 2 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__schur(size_t n, const double A[], double T[], double Z[]) {
  if (n == 0) {
    return YOKE_OK;
  }
  if (n > MAX_SIZE || !yoke__are_finite(n * n, A)) {
    return YOKE_BAD_ARG;
  }
  const size_t n_work = 8 * n;
  double* block = malloc((2 * n * n + 2 * n + n_work) * sizeof *block);
  YOKE_TRY_MEMORY(block);
  double *a = block, *vectors = a + n * n, *values = vectors + n * n, *work = values + 2 * n;
  transpose(n, A, a);
  yoke__lapack_use_one_thread();
  const int size = (int)n, length = (int)n_work;
  int info = 0, n_sorted = 0;

  // A = Z T Z^T
  dgees_("V", "N", NULL, &size, a, &size, &n_sorted, values, values + n, vectors, &size, work,
         &length, NULL, &info, 1, 1);
  transpose(n, a, T);
  transpose(n, vectors, Z);
  free(block);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__complement(size_t m, size_t n, const double A[], double Q[]) {
  if (m > MAX_SIZE || n > m || !yoke__are_finite(m * n, A)) {
    return YOKE_BAD_ARG;
  }
  if (m == 0) {
    return YOKE_OK;
  }
  const size_t n_work = 32 * m;
  double* block = calloc(m * m + m + n_work, sizeof *block);
  YOKE_TRY_MEMORY(block);
  double *a = block, *tau = a + m * m, *work = tau + m;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      a[j * m + i] = A[i * n + j];
    }
  }
  yoke__lapack_use_one_thread();
  const int rows = (int)m, columns = (int)n, length = (int)n_work;
  int info = 0;

  // A = Q R by Householder reflections, kept in factored form below the diagonal
  if (n > 0) {
    dgeqrf_(&rows, &columns, a, &rows, tau, work, &length, &info);
  }

  // all m columns of Q, of which the last m - n are orthogonal to the range of A
  if (info == 0) {
    dorgqr_(&rows, &rows, &columns, a, &rows, tau, work, &length, &info);
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t j = n; j < m; j++) {
      Q[i * (m - n) + j - n] = a[j * m + i];
    }
  }
  free(block);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}
