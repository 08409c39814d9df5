// What the files of the loop analysis share: the evaluation of one frequency.
#ifndef YOKE_SYNTH_LOOP_PART_H
#define YOKE_SYNTH_LOOP_PART_H

#include "base/base_arena.h"
#include "synth/synth_loop.h"

// What is wanted of one frequency; each has all that is before it.
typedef enum yoke_synth_loop_part {
  YOKE_SYNTH_LOOP_GAINS,    // gain and held_gain, at any frequency above 0
  YOKE_SYNTH_LOOP_SAMPLED,  // all but mu and mu_turned, which are NaN
  YOKE_SYNTH_LOOP_BOUND,    // mu of several signals may be too large: one d instead of the best
  YOKE_SYNTH_LOOP_ALL,
} yoke_synth_loop_part;

typedef struct yoke_synth_loop_eval {
  yoke_arena arena;  // owns everything below
  const yoke_synth_loop* loop;
  yoke_linear held[2];           // F, G, C, D
  size_t n_1, n_2;               // outputs of side 1 and of side 2
  double complex *big, *column;  // largest number of states squared, and once
  double complex *Q1, *Q2, *Q1d, *Q2d, *L1, *L2, *H, *T, *M;
  double* norm_work;
  size_t* pivots;
  bool is_scalar;
} yoke_synth_loop_eval;

// Checks the loop and takes memory; free in any case.
yoke_status yoke__synth_loop_open(const yoke_synth_loop* loop, yoke_synth_loop_eval* self);
void yoke__synth_loop_close(yoke_synth_loop_eval* self);

yoke_status yoke__synth_loop_at(yoke_synth_loop_eval* self, double w, yoke_synth_loop_part part,
                                yoke_synth_loop_point* to);
// Norm of D1 D2, the gain at infinite frequency.
yoke_status yoke__synth_loop_direct(yoke_synth_loop_eval* self, double* gain);

// A + B L (I - D L)^-1 C of both sides together, the coupled system: n x n with n states of both. YOKE_SINGULAR: an
// algebraic loop without solution.
yoke_status yoke__synth_loop_whole(const yoke_linear sides[2], double A[]);
// Eigenvalues of A (n x n) that are 0, counted by kernels: also those of chains, which rounding moves away from 0.
yoke_status yoke__synth_loop_count_zeros(size_t n, const double A[], size_t* n_zeros);
yoke_status yoke__synth_loop_check(const yoke_linear sides[2]);

#endif
