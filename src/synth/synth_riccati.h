// Algebraic Riccati equations, continuous and discrete, with weights of any sign.
//
//   continuous   A'X + X A + Q - (X B + S) R^-1 (B'X + S') = 0                      F = -R^-1 (B'X + S')
//   discrete     A'X A - X + Q - (A'X B + S) (R + B'X B)^-1 (B'X A + S') = 0        F = -(R + B'X B)^-1 (B'X A + S')
//
// X is symmetric and stabilising: A + B F has all eigenvalues in the open left half-plane (the open unit disk).
#ifndef YOKE_SYNTH_RICCATI_H
#define YOKE_SYNTH_RICCATI_H

#include "synth/synth_matrix.h"
#include "yoke/status.h"

typedef struct yoke_riccati {
  bool is_discrete;
  yoke_matrix A, B, Q, R, S;  // n x n, n x m, n x n symmetric, m x m symmetric, n x m
} yoke_riccati;

typedef struct yoke_riccati_solution {
  yoke_matrix X, F;  // n x n, m x n
  double residual;   // largest element of the equation's left side, relative to that of its terms
  double least;      // smallest eigenvalue of X
  double size;       // what rounding of X is to be measured against: |X| + |Q| / max(|A|, 1)
} yoke_riccati_solution;

// Takes memory. YOKE_SINGULAR: there is no stabilising solution, as far as rounding lets that be told (a residual above 1e-4
// counts as none); YOKE_BAD_ARG: an element is NaN or infinite; YOKE_NO_MEMORY, YOKE_NO_CONVERGENCE.
yoke_status yoke__riccati_solve(yoke_arena* w, const yoke_riccati* problem,
                                yoke_riccati_solution* solution);

// Eigenvalues of the symmetric matrix A, ascending, n x 1: Jacobi's rotations.
yoke_matrix yoke__matrix_eigenvalues_symmetric(yoke_arena* w, yoke_matrix A);

#endif
