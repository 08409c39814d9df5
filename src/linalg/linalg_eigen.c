// Eigenvalues of general real matrices: LAPACK's dgeev (Hessenberg form, shifted QR).
//
// A and its transpose have the same eigenvalues, so the row-by-row matrix is handed over as it is.
// LAPACK is called by its Fortran name with the hidden lengths of the character arguments.
// Off the step path: takes memory.
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_lapack.h"

extern void dgeev_(const char* jobvl, const char* jobvr, const int* n, double a[], const int* lda,
                   double wr[], double wi[], double vl[], const int* ldvl, double vr[],
                   const int* ldvr, double work[], const int* lwork, int* info, size_t jobvl_length,
                   size_t jobvr_length);

// dgeev without vectors. Called with n_work = -1 it writes the best size of work into work[0].
static int eigenvalues_of(int n, double A[], double re[], double im[], double work[], int n_work) {
  const int one = 1;
  int info = 0;
  dgeev_("N", "N", &n, A, &n, re, im, NULL, &one, NULL, &one, work, &n_work, &info, 1, 1);
  return info;
}

static yoke_status run_lapack(int n, double copy[], double re[], double im[]) {
  double wanted = 0.0;

  // a first call asks for the best work size only
  if (eigenvalues_of(n, copy, re, im, &wanted, -1) != 0 || wanted > (double)INT_MAX) {
    return YOKE_BAD_ARG;
  }
  const int n_work = (int)wanted;
  double* work = malloc((size_t)n_work * sizeof *work);
  YOKE_TRY_MEMORY(work);
  const int info = eigenvalues_of(n, copy, re, im, work, n_work);
  free(work);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__eigenvalues(size_t n, const double A[], double re[], double im[]) {
  if (n == 0) {
    return YOKE_OK;
  }
  if (n > 32000) {  // n^2 must fit LAPACK's int
    return YOKE_BAD_ARG;
  }

  // LAPACK does not promise to return when it meets a NaN
  if (!yoke__are_finite(n * n, A)) {
    return YOKE_BAD_ARG;
  }
  double* copy = malloc(n * n * sizeof *copy);
  YOKE_TRY_MEMORY(copy);
  memcpy(copy, A, n * n * sizeof *copy);
  yoke__lapack_use_one_thread();
  const yoke_status status = run_lapack((int)n, copy, re, im);
  free(copy);
  return status;
}

yoke_status yoke__spectral_radius(size_t n, const double A[], double* radius) {
  *radius = 0.0;
  if (n == 0) {
    return YOKE_OK;
  }
  if (n > SIZE_MAX / (2 * sizeof(double))) {
    return YOKE_NO_MEMORY;
  }
  double* parts = malloc(2 * n * sizeof *parts);
  YOKE_TRY_MEMORY(parts);
  const yoke_status status = yoke__eigenvalues(n, A, parts, parts + n);
  for (size_t i = 0; status == YOKE_OK && i < n; i++) {
    // |lambda| by hypot: no overflow of squares
    *radius = fmax(*radius, hypot(parts[i], parts[n + i]));
  }
  free(parts);
  return status;
}
