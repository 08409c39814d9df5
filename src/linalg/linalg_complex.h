// Small dense complex matrices, row by row: what a transfer matrix at one frequency needs. No heap.
#ifndef YOKE_LINALG_COMPLEX_H
#define YOKE_LINALG_COMPLEX_H

#include <complex.h>
#include <stddef.h>

#include "yoke/status.h"

// C (m x n) := A (m x k) * B (k x n); C must not overlap.
void yoke__complex_mul(size_t m, size_t k, size_t n, const double complex A[],
                       const double complex B[], double complex C[]);
// LU with partial pivoting, in place; pivots: n. YOKE_SINGULAR if a pivot is 0 or not finite.
yoke_status yoke__complex_lu_factor(size_t n, double complex A[], size_t pivots[]);
// b := A \ b with the factors.
void yoke__complex_lu_solve(size_t n, const double complex lu[], const size_t pivots[],
                            double complex b[]);
double complex yoke__complex_lu_determinant(size_t n, const double complex lu[],
                                            const size_t pivots[]);
// Largest and smallest singular value of A (m x n), either may be NULL. work: yoke__complex_norm_work_size doubles.
// Fails as yoke__svd.
yoke_status yoke__complex_norm(size_t m, size_t n, const double complex A[], double* largest,
                               double* smallest, double work[]);
size_t yoke__complex_norm_work_size(size_t m, size_t n);

#endif
