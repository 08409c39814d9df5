// Quasi-Newton acceleration of a fixed-point iteration x = g(x) (interface quasi-Newton with least squares, equal to
// Anderson mixing): from the last m differences of residuals r = g - x and images g,
//
//   gamma = argmin || r_k - dR gamma ||,   x_{k+1} = g_k - dG gamma
//
// Finds the solution of a linear problem with n unknowns in at most n + 2 evaluations, also where plain iteration
// diverges. J. Degroote, K.-J. Bathe, J. Vierendeels, Computers and Structures 87 (2009).
#ifndef YOKE_LINALG_ANDERSON_H
#define YOKE_LINALG_ANDERSON_H

#include <stddef.h>

#define YOKE_ANDERSON_MEMORY                                                                       \
  12  // differences kept; more than the independent directions of usual interfaces

typedef struct yoke_anderson {
  size_t n;          // unknowns
  size_t n_columns;  // differences stored
  size_t n_seen;     // evaluations since the reset
  double *dr, *dg;   // column by column, n each
  double *r_last, *g_last;
  double *a, *b, *gamma, *work;
} yoke_anderson;

// Doubles that init needs for n unknowns.
size_t yoke__anderson_size(size_t n);
void yoke__anderson_init(yoke_anderson* self, size_t n, double memory[]);
void yoke__anderson_reset(yoke_anderson* self);
// x: in the point, out the next one. g: g(x). weight: scales residuals of different kinds. The first step after a reset is
// x + relaxation (g - x).
void yoke__anderson_next(yoke_anderson* self, double x[], const double g[], const double weight[],
                         double relaxation);

#endif
