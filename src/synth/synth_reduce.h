// Fewer states for an element, the gain at frequency 0 kept exactly.
#ifndef YOKE_SYNTH_REDUCE_H
#define YOKE_SYNTH_REDUCE_H

#include "synth/synth_system.h"
#include "yoke/message.h"

typedef struct yoke_synth_reduction {
  yoke_synth_system system;
  yoke_matrix hankel;  // all Hankel singular values, descending, a column
  double bound;        // || G - system ||_inf is at most this: twice the sum of the values dropped
} yoke_synth_reduction;

// Takes memory; the result lies in w. order > 0: that many states, or all if there are not so many; 0: as few as keep the bound at
// or below the tolerance. YOKE_BAD_INPUT with a message: the system is not stable or a number is not finite; YOKE_NO_MEMORY,
// YOKE_NO_CONVERGENCE.
yoke_status yoke__synth_reduce(yoke_arena* w, yoke_synth_system G, size_t order, double tolerance,
                               yoke_synth_reduction* result, const yoke_sink* sink);

#endif
