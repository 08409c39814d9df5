// Drawings of frequency responses as SVG: Nyquist curves with the critical point +1, and Bode diagrams.
#ifndef YOKE_STUDY_LOOP_FIGURE_H
#define YOKE_STUDY_LOOP_FIGURE_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base_text.h"
#include "synth/synth_loop.h"

#define YOKE_CURVES_MAX 8

// One response over the frequencies of the drawing. Values that are not finite leave a gap.
typedef struct yoke_curve {
  const char* name;
  const double complex* values;
  const double* coherence;  // NULL: not drawn
  bool is_dashed;
} yoke_curve;

typedef struct yoke_curves {
  const char *title, *subtitle;
  const char* axis;  // "frequency [Hz]"
  const double* x;   // n, ascending, above 0
  size_t n;
  yoke_curve of[YOKE_CURVES_MAX];
  size_t n_curves;
} yoke_curves;

// Magnitude [dB] and phase [degrees] over the logarithm of x, and the coherence below where a curve has one.
void yoke__figure_bode(const yoke_curves* curves, yoke_text* svg);

// Curves in the complex plane with their mirror images (negative frequencies), the point +1 and the circle of radius margin
// around it that the first curve just touches; margin 0: no circle. What is far away is cut off.
void yoke__figure_nyquist(const yoke_curves* curves, double margin, yoke_text* svg);

// Both for a loop: Nyquist of H_open; Bode of the loop of the coupled system, of H_open and of the distortion G. Fails as
// yoke__synth_loop_analyse.
yoke_status yoke__figure_loop(const yoke_synth_loop* loop, const yoke_synth_loop_report* report,
                              const char* title, yoke_text* nyquist, yoke_text* bode);

#endif
