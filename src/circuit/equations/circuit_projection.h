// Derivatives that satisfy the differentiated equations:
//
//   min |xdot - xdot*|^2 / 2   subject to   Ahat xdot + bhat = 0
//   Ahat = [Phi_x ; A], bhat = [Phi_t ; b]
//
// The trapezoidal rule reuses xdot, of which its own formula fixes only p combinations; without the
// projection the rest grows. Also used for the first derivatives of a run. Source: B. Rodriguez,
// F. Gonzalez, M. A. Naya, J. Cuadrado, Energies 13 (2020) 1354. Page: docs/circuit_methods.md,
// "Projection of the derivatives".
#ifndef YOKE_CIRCUIT_PROJECTION_H
#define YOKE_CIRCUIT_PROJECTION_H

#include "circuit/circuit_solver.h"
#include "circuit/equations/circuit_equations.h"

typedef struct yoke_projection_settings {
  yoke_circuit_projection kind;
  bool is_scaled;  // each row in its own measure, differential ones firmer
  double alpha;    // penalty factor
  int n_passes;    // of the augmented Lagrangian
  // `auto` takes the direct solution when the smallest pivot over the largest exceeds this
  double well_conditioned;
  bool is_refactored;  // factor anew also where Ahat is constant
  yoke_sparse_kernel kernel;
} yoke_projection_settings;

typedef struct yoke_projection yoke_projection;  // circuit_projection.c

yoke_status yoke__projection_create(const yoke_projection_settings* settings,
                                    yoke_equations* equations, yoke_signals* signals,
                                    yoke_arena* arena, yoke_projection** out);
void yoke__projection_destroy(yoke_projection** self);  // NULL is fine

// Chooses pivots, and with `auto` the kind, at x; takes heap. Signals with their rates are up to
// date at the time of x. YOKE_SINGULAR if a direct solution was asked for and Ahat is singular;
// *singular_column (may be NULL) says where.
yoke_status yoke__projection_start(yoke_projection* self, const double x[],
                                   int32_t* singular_column);
// The matrix has jumped (a switch moved): factors of a constant one are renewed at the next call.
void yoke__projection_invalidate(yoke_projection* self);
// xdot := the projected one, at x; signals with their rates are up to date. No heap. If the matrix
// cannot be factored xdot stays as it is and the status is YOKE_SINGULAR.
yoke_status yoke__projection_apply(yoke_projection* self, const double x[], double xdot[]);

uint64_t yoke__projection_n_repivots(const yoke_projection* self);

#endif
