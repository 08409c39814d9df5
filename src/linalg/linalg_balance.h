// Fewer states for x' = A x + B u, y = C x: balanced truncation with its error bound.
#ifndef YOKE_LINALG_BALANCE_H
#define YOKE_LINALG_BALANCE_H

#include "base/base_arena.h"
#include "yoke/status.h"

// A system as it is given; matrices row by row: n x n, n x n_u, n_y x n.
typedef struct yoke_balance_model {
  size_t n, n_u, n_y;
  const double *A, *B, *C;
} yoke_balance_model;

// The reduced one; arrays lie in the arena of the call.
typedef struct yoke_reduction {
  size_t n;        // states kept
  size_t n_apart;  // of them: the last, not stable, kept as they are
  double *A, *B, *C;
  double* T;       // n x n of the model: reduced state = T x
  double* hankel;  // Hankel singular values of the stable part, descending
  size_t n_hankel;
  // For all inputs of finite energy, from a zero state: ||y - y_reduced|| <= bound ||u||, norms
  // over time and over all outputs and inputs. Twice the sum of the singular values that were
  // dropped.
  double bound;
} yoke_reduction;

// Off the step path: takes memory; LAPACK. order > 0: that many states if there are so many worth
// keeping; order 0: as few as keep the bound at or below the tolerance. YOKE_BAD_ARG: an element is
// NaN or infinite, or there are more than 2000 states; YOKE_NO_CONVERGENCE.
yoke_status yoke__balance_reduce(const yoke_balance_model* model, size_t order, double tolerance,
                                 yoke_arena* arena, yoke_reduction* out);

#endif
