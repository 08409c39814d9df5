// Other units for the rows and columns of a matrix before its exponential is taken: D^-1 A D, D diagonal with powers of two,
// hence exact. Scaling and squaring pays for the norm with products and digits; metres beside newtons make a large one
// although the eigenvalues are mild. No heap.
#ifndef YOKE_LINALG_SCALE_H
#define YOKE_LINALG_SCALE_H

#include <stddef.h>

// When a row and a column are worth another unit.
typedef enum yoke_scale_rule {
  YOKE_SCALE_BY_GAIN,  // the sum of both falls by 5 % or more
  YOKE_SCALE_BY_FACTOR,  // they differ by more than a factor of four; all units stay 1 if the 1-norm does not fall
} yoke_scale_rule;

// d: n powers of two such that rows and columns of D^-1 A D weigh about the same. A matrix that falls apart into blocks has
// no best D: the sweeps are bounded.
void yoke__scale_find(size_t n, const double A[], yoke_scale_rule rule, double d[]);
// A := D^-1 A D.
void yoke__scale_apply(size_t n, const double d[], double A[]);
// X := D X D^-1.
void yoke__scale_undo(size_t n, const double d[], double X[]);

#endif
