// What a coupling leaves of a sine: its error at the receiver's calls, with the steps that exchanges make in it or without.
//
// A sine exp(j w t) is sampled every Dt = M h. Within an exchange interval the receiver gets
//
//   u~(t_n + i h) = exp(j w t_n) g_i,  i = 0 .. M - 1             hold: g_i = 1;  straight line: 1 + (i / M) (1 - exp(-j w Dt));
//                                                                element: the smoother's answer to samples behind the lead
//   mean    |1 - P|,  P = (1 / M) sum of g_i exp(-j w i h)        what a slow receiver sees: steps average out
//   all     sqrt of (1 / M) sum of |g_i - exp(j w i h)|^2         root mean square, images of the sampling included
//
// A delay tau multiplies every g_i by exp(-j w tau). Page: docs/synth.md, "Equations".
#ifndef YOKE_SYNTH_ERROR_H
#define YOKE_SYNTH_ERROR_H

#include "synth/synth_design.h"

typedef enum yoke_synth_path {
  YOKE_SYNTH_PATH_HOLD,
  YOKE_SYNTH_PATH_LINE,  // hold, order 1
  YOKE_SYNTH_PATH_ELEMENT,
  YOKE_SYNTH_N_PATHS,
} yoke_synth_path;
extern const char* const
    yoke__synth_path_names[YOKE_SYNTH_N_PATHS];  // "hold", "order 1", "element"

typedef struct yoke_synth_error {
  double mean, all;  // of the amplitude of the sine
} yoke_synth_error;

// At w [rad/s], up to pi / Dt. Takes Dt / h operations.
yoke_synth_error yoke__synth_error_at(const yoke_synth_design* design, yoke_synth_path path,
                                      double w);

// How the lead amplifies the deviation of white noise: root of the sum of squares of its impulse response.
double yoke__synth_noise_gain(const yoke_synth_element* element);

#endif
