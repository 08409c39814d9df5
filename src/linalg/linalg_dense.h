// Small dense matrices, row by row, sizes known to the caller. No heap where nothing else is said:
// the caller brings the work space.
#ifndef YOKE_LINALG_DENSE_H
#define YOKE_LINALG_DENSE_H

#include <stddef.h>

#include "yoke/status.h"

// C (m x n) := A (m x k) * B (k x n); C must not overlap.
void yoke__mat_mul(size_t m, size_t k, size_t n, const double A[], const double B[], double C[]);
// y := A x, A m x n; y must not overlap.
void yoke__mat_vec(size_t m, size_t n, const double A[], const double x[], double y[]);
// y += A x.
void yoke__mat_vec_add(size_t m, size_t n, const double A[], const double x[], double y[]);

// LU with partial pivoting, in place; pivots: n. YOKE_SINGULAR if a pivot is 0 or not finite.
yoke_status yoke__lu_factor(size_t n, double A[], size_t pivots[]);
// b := A \ b with the factors.
void yoke__lu_solve(size_t n, const double lu[], const size_t pivots[], double b[]);
// Factor and solve; A and b are overwritten.
yoke_status yoke__solve(size_t n, double A[], double b[], size_t pivots[]);

// E := exp(A), n x n, by scaling and squaring with a [13/13] Pade approximant. E may be A. Takes
// its own memory. YOKE_BAD_ARG if an element of A is NaN or infinite, YOKE_DIVERGED if exp(A)
// overflows.
yoke_status yoke__expm(size_t n, const double A[], double E[]);
// The same without heap. work: yoke__expm_work_size(n) doubles; pivots: n.
yoke_status yoke__expm_in(size_t n, const double A[], double E[], double work[], size_t pivots[]);
size_t yoke__expm_work_size(size_t n);

// L := log(A), n x n, the principal logarithm. Takes its own memory. YOKE_BAD_ARG if an element of A is NaN or infinite;
// YOKE_SINGULAR or YOKE_NO_CONVERGENCE if A has an eigenvalue of 0, or a negative real one.
yoke_status yoke__logm(size_t n, const double A[], double L[]);

// Eigenvalues of A (re, im: n), conjugate pairs side by side, positive imaginary part first. Takes
// its own memory; LAPACK. YOKE_BAD_ARG if an element is NaN or infinite or n is beyond LAPACK.
yoke_status yoke__eigenvalues(size_t n, const double A[], double re[], double im[]);
// Largest |eigenvalue|; 0 for n = 0.
yoke_status yoke__spectral_radius(size_t n, const double A[], double* radius);

// min ||A x - b||, A m x n (m >= n) by Householder QR in the given order of columns, so that
// earlier columns win: one whose part independent of those before it, |r_jj|, is at or below
// drop * (largest column norm of A) gives x_j = 0. A and b are overwritten (then the residual norm
// is that of b[rank..m-1]); work: 2 n. Returns the rank: the number of columns kept.
size_t yoke__least_squares(size_t m, size_t n, double A[], double b[], double x[], double drop,
                           double work[]);

// Thin singular value decomposition A = U diag(s) V^T by one-sided Jacobi, without heap. A: m x n;
// k = min(m, n): U is m x k, s has k values in descending order, V is n x k; U and V have
// orthonormal columns, also where s is 0. The first element of a column of V that has at least half
// the size of its largest one is positive. work: yoke__svd_work_size doubles. YOKE_BAD_ARG if an
// element is NaN or infinite; YOKE_NO_CONVERGENCE after 60 sweeps (none known).
yoke_status yoke__svd(size_t m, size_t n, const double A[], double U[], double s[], double V[],
                      double work[]);
size_t yoke__svd_work_size(size_t m, size_t n);
// X (n x m) := Moore-Penrose inverse of A (m x n); singular values below drop * (the largest) count
// as 0, and *rank (may be NULL) is the number of the others. work: yoke__pseudo_inverse_work_size
// doubles. Fails as yoke__svd; then X is 0.
yoke_status yoke__pseudo_inverse(size_t m, size_t n, const double A[], double drop, double X[],
                                 size_t* rank, double work[]);
size_t yoke__pseudo_inverse_work_size(size_t m, size_t n);

// Largest column sum of |A|, n x n; NaN if A holds one.
double yoke__norm_1(size_t n, const double A[]);

#endif
