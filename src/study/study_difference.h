// A linear model of a unit that says nothing about its slopes: by differences of its steps.
//
//   pulse:     one input is moved by +d and by -d during one call; half the difference of what follows, over d, is
//              h_1 = C B + D,  h_k = C A^(k-1) B          (Markov parameters)
//   D:         the same of `refresh`, which moves no state
//   H_ij:      h_(i+j+1) = U S V^T,  C and A from U, B by least squares on all responses
//
// The model is one of the unit's calls, x := A x + B u; the logarithm makes it one of continuous time, x' = A x + B u.
// Source: J.-N. Juang, R. S. Pappa, An eigensystem realization algorithm, J. Guidance 8 (1985) 620-627.
#ifndef YOKE_STUDY_DIFFERENCE_H
#define YOKE_STUDY_DIFFERENCE_H

#include "study/study_linear.h"

// The unit stands at time t with inputs u, and stands there again afterwards: it must be able to save its state. *to has the
// sizes; matrices, is_of_calls and solver_text are filled in, or `why`. Fails only for want of memory.
yoke_status yoke__linear_by_differences(const yoke_system_unit* unit, double t, const double u[],
                                        yoke_arena* arena, yoke_linear_unit* to);

#endif
