// Invariant and deflating subspaces, ordered; eigenvalues of pencils; complements. Off the step path: takes memory; LAPACK.
#ifndef YOKE_LINALG_SCHUR_H
#define YOKE_LINALG_SCHUR_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/status.h"

// Eigenvalues of the pencil M - lambda N, n x n row by row, as (re + j im) / beta; beta 0: infinite. Conjugate pairs side by side,
// positive imaginary part first. YOKE_BAD_ARG: an element is NaN or infinite; YOKE_NO_MEMORY, YOKE_NO_CONVERGENCE.
yoke_status yoke__pencil_eigenvalues(size_t n, const double M[], const double N[], double re[],
                                     double im[], double beta[]);

// Real Schur form A = Z T Z^T, T upper triangular with 2 x 2 blocks for complex pairs (exact zeros below), Z orthogonal; all n x n row
// by row. Fails as above.
yoke_status yoke__schur(size_t n, const double A[], double T[], double Z[]);

// Z (n x n, orthogonal, row by row): its first *n_stable columns span the deflating subspace of M - lambda N of the eigenvalues with
// Re < 0, or |lambda| < 1 if is_discrete. Fails as above.
yoke_status yoke__stable_subspace(size_t n, const double M[], const double N[], bool is_discrete,
                                  double Z[], size_t* n_stable);

// Q (m x (m - n)): orthonormal columns, Q^T A = 0 of A (m x n), m >= n. Fails as above.
yoke_status yoke__complement(size_t m, size_t n, const double A[], double Q[]);

#endif
