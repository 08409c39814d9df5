// Step responses of a unit, kept at times that lie closer together early and further apart late, so that time constants of very
// different length show in little room, and a linear model of low order from them.
//
// s_k: what output i does k steps after input j was moved by one unit and held, less what it would have done without; s_0 = 0.
// The model is
//
//   x_{k+1} = A x_k + B u_k,  y_k = C x_k,  x_0 = 0
//
// An output that follows at once, within the step in which the input is moved, is a state with an eigenvalue of 0.
//
// Method: an input that is moved for j steps and then moved back leaves a state x_j, and what follows is
// H_ij = s_{i+j} - s_i = C A^i x_j, a matrix whose rank is the order. Its singular vectors give C A^i and x_j up to the basis.
// A follows from sums of the free response instead of differences from step to step, so that a slow mode, which hardly moves in
// a step, is seen as well as a fast one; the sums forget with a factor zeta > 1 near the horizon, so that an integrator is seen too:
//
//   G_ij = sum_{l < i} zeta^(-1-l) H_lj,   zeta^-i C A^i (zeta I - A)^-1 x_j = const_j - G_ij
//
// B is what fits the responses best, given A and C. Times i, j are 1, 2, 3, 4, 6, 8, 12, 16, ...: the equations hold for any.
// Source: the eigensystem realisation of J.-N. Juang and R. S. Pappa, J. Guidance 8 (1985) 620-627, with times that are not equally
// spaced and the pencil (zeta I - A)^-1 in place of A.
#ifndef YOKE_ESTIMATE_RESPONSE_H
#define YOKE_ESTIMATE_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"

#define YOKE_RESPONSE_MAX_LEVEL 28  // the longest time is 2^29 steps
#define YOKE_RESPONSE_SCALES    7   // zeta - 1 = 16^-1 .. 16^-7

typedef struct yoke_response {
  size_t n_outputs, n_inputs;
  unsigned max_level;
  uint64_t k;  // steps done
  size_t n_lags, n_kept;
  const uint64_t* lags;  // ascending
  double* s;             // n_lags x n_outputs x n_inputs
  double* sums;          // scales x the same: sum_{l < k} zeta^(-1-l) s_l
  double* running;       // scales x n_outputs x n_inputs
  double weight[YOKE_RESPONSE_SCALES];
  double* last;  // n_outputs x n_inputs: s_k
} yoke_response;

// Level L needs responses over 2^(L+1) steps. NULL: out of memory, which the arena notes.
yoke_response* yoke__response_prepare(size_t n_outputs, size_t n_inputs, unsigned max_level,
                                      yoke_arena* arena);
void yoke__response_clear(yoke_response* r);
// s_1, s_2, ...: n_outputs x n_inputs. Bounded work, no heap. What was kept never changes, so that another thread may read it.
void yoke__response_add(yoke_response* r, const double s[]);
// The highest level that is complete; -1: none yet.
int yoke__response_level(const yoke_response* r);

typedef struct yoke_low_model {
  size_t order, n_outputs, n_inputs;
  double *A, *B, *C;  // order x order, order x n_inputs, n_outputs x order
  double
      error;  // largest difference of a step response from the model's, over the largest of that output and input
  uint64_t steps;    // the longest time that it was made from
  bool is_restless;  // does not come to rest in twice that time
} yoke_low_model;

typedef struct yoke_realise yoke_realise;  // work space

// NULL: out of memory, which the arena notes.
yoke_realise* yoke__realise_prepare(const yoke_response* r, size_t max_order, yoke_arena* arena);
yoke_low_model yoke__low_model_prepare(const yoke_response* r, size_t max_order, yoke_arena* arena);
// The model from the responses of a level; singular values below tolerance times the first do not count, and order is at most max_order. rests: the responses are
// known to come to rest within the level, so a model that does not is wrong. No heap, not for the step path. YOKE_SINGULAR: no input moves an output; YOKE_NO_CONVERGENCE: no order gives a model that stays bounded.
yoke_status yoke__realise(yoke_realise* work, const yoke_response* r, unsigned level,
                          double tolerance, size_t max_order, bool rests, yoke_low_model* model);

// x after a step of k steps in each input, order x n_inputs: sum_{l < k} A^l B. work: 10 order^2.
void yoke__low_model_after(const yoke_low_model* model, uint64_t k, double x[], double work[]);
// T (to->order x from->order): the state of `to` that goes on like a state of `from`. YOKE_SINGULAR: nothing of it shows.
yoke_status yoke__low_model_transfer(yoke_realise* work, const yoke_low_model* from,
                                     const yoke_low_model* to, double T[]);

#endif
