// The quality of identified models by their last prediction.
//
//   e_i    = (1 / n_i) sum_j |y^k_j - ybar^k_j| / (max y_j - min y_j + 1e-12)
//   e_glob = sqrt(sum_i e_i^2)
//
// ybar from the present model and the data of the step that ended: a residual after the fact, which
// is smaller than a true prediction error. Dividing by the range makes the number independent of
// scale and offset of a signal; it also makes it blind after large oscillations, which leave a large
// range behind: who decides by it needs a second guard.
// Source: doctoral thesis on model-based pre-step stabilisation (Graz 2020), (2.92) and (2.93).
#include "identify/identify_quality.h"

#include <math.h>

#include "base/base_check.h"

#define REST           1e-6   // range over size below which an output counts as at rest
#define SMALLEST_RANGE 1e-12  // keeps a signal that never moved from dividing by 0

void yoke__identify_range_start(yoke_identify_range* range) {
  for (size_t i = 0; i < range->n; i++) {
    range->low[i] = (double)INFINITY;
    range->high[i] = -(double)INFINITY;
  }
}

void yoke__identify_range_observe(yoke_identify_range* range, const double y[]) {
  for (size_t i = 0; i < range->n; i++) {
    if (yoke__is_finite(y[i])) {
      range->low[i] = y[i] < range->low[i] ? y[i] : range->low[i];
      range->high[i] = y[i] > range->high[i] ? y[i] : range->high[i];
    }
  }
}

double yoke__identify_error(const yoke_identify_range* range, const double y[],
                            const double y_bar[]) {
  if (range->n == 0) {
    return 0.0;
  }
  double sum = 0.0;
  for (size_t i = 0; i < range->n; i++) {
    const double spread = range->high[i] - range->low[i];
    const double size = fmax(fabs(range->high[i]), fabs(range->low[i]));
    // an output at rest has a range of round-off: its error is measured by its size
    sum += fabs(y[i] - y_bar[i]) /
           (spread > REST * size ? spread + SMALLEST_RANGE : size + SMALLEST_RANGE);
  }
  // a range that was never observed is -infinity: the quotient would be 0
  const double spread = range->high[0] - range->low[0];
  return yoke__is_finite(sum) && yoke__is_finite(spread) ? sum / (double)range->n
                                                         : (double)INFINITY;
}

double yoke__identify_error_of_all(size_t n_units, const double errors[]) {
  double sum = 0.0;
  for (size_t i = 0; i < n_units; i++) {
    // Euclidean sum over the units
    sum += errors[i] * errors[i];
  }
  return yoke__is_finite(sum) ? sqrt(sum) : (double)INFINITY;
}
