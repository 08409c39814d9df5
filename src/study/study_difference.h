// A linear model of a unit that says nothing about its slopes: by differences of its steps.
//
//   pulse:     one input is moved by +d and by -d during one call; half the difference of what follows, over d, is
//              h_1 = C B + D,  h_k = C A^(k-1) B          (Markov parameters)
//   D:         the same of `refresh`, which moves no state
//   H_ij:      h_(r_i+r_j+1) = U S V^T,  A = S^-1/2 U^T H' V S^-1/2 (H': one call later),  C from U, B by least squares
//
// The offsets r are 0, 1, 2, ... While the last responses are the largest, the trial is too short for the unit's slow motions:
// it is made four times as long, and later offsets grow apart.
//
// The model is one of the unit's calls, x := A x + B u; the logarithm makes it one of continuous time, x' = A x + B u, unless
// the unit counts its calls or its solver turns over.
// Source: J.-N. Juang, R. S. Pappa, An eigensystem realization algorithm, J. Guidance 8 (1985) 620-627.
#ifndef YOKE_STUDY_DIFFERENCE_H
#define YOKE_STUDY_DIFFERENCE_H

#include "study/study_linear.h"

#define YOKE_DIFFERENCE_ORDER 40  // states at most

typedef struct yoke_difference_known yoke_difference_known;

// Where a unit stands, and what of it counts: the rest is taken as 0.
typedef struct yoke_difference {
  const yoke_system_unit* unit;
  double t;
  const double* u;             // its inputs
  const bool* is_output_used;  // n_y
  const bool* is_input_used;   // n_u
  int64_t
      n_calls;  // that a pulse lasts, where its inputs change less often than it is called: it may sample them at its own pace
  const yoke_linear_unit* continuous;  // found of pulses as long as in the file; NULL: not known
  double call;                         // those [s]: shorter ones show too little of the unit
  double*
      fine;  // outputs of the first n_fine calls of a trial with longer pulses, n_fine x n_y x n_u
  size_t n_fine;
  double ran_on;                 // how far a unit that cannot go back has moved [s]
  yoke_arena* arena;             // keeps what was found: every method asks for the same steps
  yoke_difference_known* known;  // the last one first
} yoke_difference;

// The model of calls of length h: A, B, C, D of *to; for calls shorter than those of the file from its continuous model. Else it is tried:
// *to has a model, or `why` there is none. The unit stands afterwards as it did before, unless it cannot
// save its state: then its inputs are shaken while it runs on, and it stays there. Fails only for want of memory.
yoke_status yoke__difference(yoke_difference* self, double h, yoke_arena* arena,
                             yoke_linear_unit* to);
// Whether a model of continuous time, found of pulses of several calls, also gives what these calls showed: it does not where a
// motion is so fast that it looks like a slow one between pulses. Fails only for want of memory.
yoke_status yoke__difference_repeats(const yoke_difference* self, const yoke_linear_unit* unit,
                                     bool* out);
// A and B of calls of length h become those of continuous time. False: they cannot.
bool yoke__difference_continuous(double h, yoke_linear_unit* unit);

#endif
