// How far a signal is from a reference on the same time points: the measure of the studies of scenarios/dual-mass.
#ifndef YOKE_TEST_RANGE_ERROR_H
#define YOKE_TEST_RANGE_ERROR_H

#include <math.h>
#include <stddef.h>

// Mean of |y - reference| over the points first .. n - 1, divided by the range of the reference over all n
// (+ 1e-12). Infinite if a value is not finite, 0 if there is no point.
static inline double range_error(size_t n, size_t first, const double y[],
                                 const double reference[]) {
  if (first >= n) {
    return 0.0;
  }
  double low = reference[0], high = reference[0], sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    low = fmin(low, reference[i]);
    high = fmax(high, reference[i]);
    sum += i >= first ? fabs(y[i] - reference[i]) : 0.0;
  }
  const double error = sum / (double)(n - first) / (high - low + 1e-12);
  return isfinite(error) ? error : (double)INFINITY;
}

#endif
