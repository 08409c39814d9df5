// H-infinity norm: the largest gain of a stable system over all frequencies.
#ifndef YOKE_SYNTH_NORM_H
#define YOKE_SYNTH_NORM_H

#include "synth/synth_system.h"

typedef struct yoke_synth_norm {
  double norm;  // attained at the peak; the true one is at most 1 + tolerance times larger
  double
      frequency;  // of the peak: rad/s, infinity allowed; of a discrete system rad per sample, 0 to pi
  size_t n_steps;  // eigenvalue problems solved
} yoke_synth_norm;

// Takes memory. tolerance: relative, 1e-14 to 0.1. norm and frequency are those of the imaginary axis (unit circle) also of an unstable
// system. norm = infinity: a pole lies on it. YOKE_BAD_ARG: an element is NaN or infinite; YOKE_NO_MEMORY, YOKE_NO_CONVERGENCE.
yoke_status yoke__synth_norm(yoke_synth_system G, double tolerance, yoke_synth_norm* result);

#endif
