// How well a model predicts the step that just ended, as one number per unit and one for all.
#ifndef YOKE_IDENTIFY_QUALITY_H
#define YOKE_IDENTIFY_QUALITY_H

#include <stddef.h>

// Running range of n outputs; both arrays belong to the caller.
typedef struct yoke_identify_range {
  size_t n;
  double *low, *high;
} yoke_identify_range;

// Nothing seen yet.
void yoke__identify_range_start(yoke_identify_range* range);
// Takes in a sample; values that are not finite are left out.
void yoke__identify_range_observe(yoke_identify_range* range, const double y[]);

// Mean over the outputs of |y - y_bar| / (high - low + 1e-12), or over the size of an output whose range is below 1e-6 of
// it: y as read, y_bar as the model has it
// (yoke__jacobian_predict), the range with this y in it. INFINITY if a number is not finite, so that
// any limit holds it back. 0 for n = 0.
double yoke__identify_error(const yoke_identify_range* range, const double y[],
                            const double y_bar[]);
// sqrt(e_1^2 + .. + e_n^2) over the units; INFINITY if one is not finite.
double yoke__identify_error_of_all(size_t n_units, const double errors[]);

#endif
