// How fast do unknown inputs drift? As fast as makes the innovation white: with walks too small it is coloured at low frequencies
// (low_high > 1, see estimate_innovation.h), with walks too large at high ones. Bisection on the logarithm of a factor on all of
// them. z' has to be allowed to jump with the input; the filters do that themselves (estimate_filter_derivative.c).
#ifndef YOKE_ESTIMATE_WHITEN_H
#define YOKE_ESTIMATE_WHITEN_H

#include "estimate/estimate_fit.h"

typedef enum yoke_whiten_end {
  YOKE_WHITEN_FOUND,
  YOKE_WHITEN_ALL_TOO_LARGE,  // factor: the smallest; the inputs may as well be constant
  YOKE_WHITEN_ALL_TOO_SMALL,  // factor: the largest; it is something else that colours the innovation
} yoke_whiten_end;

typedef struct yoke_whiten_settings {
  double smallest, largest;  // factors
  double tolerance;          // of the factor: ends when it is known up to 1 + tolerance
  size_t n_skip;             // steps of the record that belong to the start-up of the filter
} yoke_whiten_settings;

// 1e-6 .. 1e6, 2 %, 500 steps.
yoke_whiten_settings yoke__whiten_default(void);

typedef struct yoke_whiten_result {
  yoke_whiten_end end;
  double factor;  // on the walks
  double ratio;   // low_high there, all sensors together; NaN: not run exactly there
  double sd;      // of ln ratio for white noise, 0 if unknown: how far from 1 is chance
  size_t n_runs;
} yoke_whiten_result;

// ratio: low over high for a factor; NaN counts as too small, as a filter that is too stiff may fail. It should fall with the factor.
void yoke__whiten_search(double (*ratio)(void* to, double factor), void* to,
                         const yoke_whiten_settings* settings, yoke_whiten_result* result);

// The same with runs of a filter over a record, with the walks of all unknown inputs of the setup. YOKE_BAD_ARG with a message: no
// input walks, or the record has fewer than two segments behind the start-up. Off the step path: takes heap.
yoke_status yoke__whiten(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                         const yoke_whiten_settings* settings, yoke_whiten_result* result,
                         const yoke_sink* sink);

#endif
