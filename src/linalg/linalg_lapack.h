// LAPACK by its Fortran names: matrices column by column, every argument by pointer, the lengths of
// character arguments at the end. Off the step path: LAPACK and BLAS may take memory.
#ifndef YOKE_LINALG_LAPACK_H
#define YOKE_LINALG_LAPACK_H

#include <stddef.h>

// QR of A (m x n): R above the diagonal.
extern void dgeqrf_(const int* m, const int* n, double a[], const int* lda, double tau[],
                    double work[], const int* lwork, int* info);
// Singular values and vectors of A (m x n), which is overwritten.
extern void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double a[],
                    const int* lda, double s[], double u[], const int* ldu, double vt[],
                    const int* ldvt, double work[], const int* lwork, int* info, size_t jobu_length,
                    size_t jobvt_length);
// Least squares of smallest norm, A (m x n) and B are overwritten.
extern void dgelsd_(const int* m, const int* n, const int* nrhs, double a[], const int* lda,
                    double b[], const int* ldb, double s[], const double* rcond, int* rank,
                    double work[], const int* lwork, int iwork[], int* info);
// Real Schur form; A becomes T.
extern void dgees_(const char* jobvs, const char* sort, int (*select)(const double*, const double*),
                   const int* n, double a[], const int* lda, int* sdim, double wr[], double wi[],
                   double vs[], const int* ldvs, double work[], const int* lwork, int bwork[],
                   int* info, size_t jobvs_length, size_t sort_length);

#if defined(__GNUC__)
extern void openblas_set_num_threads(int n) __attribute__((weak));

// Threads would change the order of sums and cost more than they bring at our sizes. The symbol is
// weak: another BLAS does not have it.
static inline void yoke__lapack_use_one_thread(void) {
  if (openblas_set_num_threads != NULL) {
    openblas_set_num_threads(1);
  }
}
#else
static inline void yoke__lapack_use_one_thread(void) {}
#endif

#endif
