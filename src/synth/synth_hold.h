// Holds in the frequency domain: what a held signal is in relation to the signal that was sampled, and its images.
//
//   u~(s) = hold(s Dt) sum over n of u(s - j n w_s),   w_s = 2 pi / Dt
//
//   x = s Dt
//   ZOH  (1 - e^-x) / x
//   FOH  (1 + x) ((1 - e^-x) / x)^2
//   SOH  (1/2 - e^-x + e^-2x/2)(2 - e^-x (x^2 + 2 x + 2)) / x^3
//        + (3/2 - 2 e^-x + e^-2x/2)(1 - e^-x - x e^-x) / x^2 + (1 - e^-x) / x
//
// All are divided by Dt: 1 at s = 0. Source: W. Chen, licentiate thesis, Chalmers 2019, paper III. Page:
// docs/loop.md, "The holds".
#ifndef YOKE_SYNTH_HOLD_H
#define YOKE_SYNTH_HOLD_H

#include <complex.h>

typedef enum yoke_synth_hold {
  YOKE_SYNTH_ZOH,  // the last sample
  YOKE_SYNTH_FOH,  // a straight line through the last two
  YOKE_SYNTH_SOH,  // a parabola through the last three
  YOKE_SYNTH_N_HOLDS,
} yoke_synth_hold;

// "ZOH", "FOH", "SOH".
const char* yoke__synth_hold_name(yoke_synth_hold hold);
// The hold at x = s Dt. Safe at and near 0.
double complex yoke__synth_hold_at(yoke_synth_hold hold, double complex x);
// hold - 1, the distortion of the base band (phi), with all digits also where it is small.
double complex yoke__synth_hold_error(yoke_synth_hold hold, double complex x);
// Gain by which a signal of frequency w [rad/s] comes out at w + n w_s; n = 0 is the base band.
double complex yoke__synth_hold_image(yoke_synth_hold hold, double w, double step, int n);
// Largest |hold| over all frequencies and the w Dt at which it is: by how much the hold can raise a loop gain.
double yoke__synth_hold_peak(yoke_synth_hold hold, double* at);

#endif
