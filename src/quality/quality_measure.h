// Error measures between two sampled signals on different time grids. The concept page is
// docs/compare.md.
#ifndef YOKE_QUALITY_MEASURE_H
#define YOKE_QUALITY_MEASURE_H

#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_csv.h"
#include "yoke/message.h"

// A sampled signal: n values over times that never decrease. Two samples at one time are a jump:
// the value before and the value after it.
typedef struct yoke_samples {
  const double* t;
  const double* y;
  size_t n;
} yoke_samples;

// The samples of a column of a table whose first one is the time: an empty cell is none. Where cells are empty they are
// copied to the arena.
yoke_status yoke__samples_of(const yoke_csv* csv, size_t column, yoke_arena* arena,
                             yoke_samples* out);

typedef enum yoke_measure {
  YOKE_MEASURE_NRMSE,  // rmse / scale
  YOKE_MEASURE_RMSE,   // root of the mean of (result - reference)^2 over all points
  YOKE_MEASURE_MAX,    // largest |result - reference|
  YOKE_MEASURE_END,    // |result - reference| at the last common time
  YOKE_MEASURE_ERROR,  // mean |result - reference| over the range of the reference, the start left out
  YOKE_MEASURE_ROUGHNESS,  // root of the noise variance of result - reference (quality_noise.h)
  YOKE_N_MEASURES,
} yoke_measure;

// By what rmse was divided to get nrmse.
typedef enum yoke_measure_scale {
  YOKE_SCALE_RANGE,  // largest minus smallest value of the reference
  YOKE_SCALE_VALUE,  // the reference is constant: its magnitude
  YOKE_SCALE_ONE,    // the reference is 0 throughout: nrmse is rmse
  YOKE_N_SCALES,
} yoke_measure_scale;

// How far a result is from its reference. Differences are result - reference.
typedef struct yoke_deviation {
  double t_first, t_last;  // the common interval [s]
  size_t n_points;         // samples of the result in it that were compared
  size_t n_skipped;        // samples in it where the reference is not a number
  size_t
      n_not_finite;  // compared samples where the result is NaN or infinite: the sums are NaN then
  double rmse, nrmse;
  double scale;  // rmse / nrmse
  yoke_measure_scale scale_kind;
  double max;    // NaN as soon as the result is not finite somewhere
  double t_max;  // time of max, the first of equals [s]
  double end;    // signed difference at t_last
  double end_result, end_reference;
  double error;      // NaN as rmse, and of a single point
  double roughness;  // NaN until yoke__deviation_roughness
} yoke_deviation;

// Compares result with reference. No heap. Failures (the message says which, *out is unchanged):
//   YOKE_BAD_INPUT  a signal has no samples, a time is not finite or goes back, the time ranges do
//                   not overlap, no sample of the result lies in the common interval, or the
//                   reference is NaN all over it
yoke_status yoke__deviation_compute(const yoke_samples* result, const yoke_samples* reference,
                                    yoke_deviation* out, const yoke_sink* sink);

// Fills in the roughness of what yoke__deviation_compute has found; NaN if the result is not finite. work:
// yoke__deviation_work_size(result) doubles. Takes a time proportional to the square of the points. Failures (the message
// says which, the roughness is NaN):
//   YOKE_BAD_INPUT  there are fewer than three points, or their distances differ by more than a hundredth
yoke_status yoke__deviation_roughness(const yoke_samples* result, const yoke_samples* reference,
                                      double work[], yoke_deviation* deviation,
                                      const yoke_sink* sink);
size_t yoke__deviation_work_size(const yoke_samples* result);

// "nrmse", "rmse", "max", "end", "error", "roughness".
const char* yoke__measure_name(yoke_measure measure);
// The number a limit is held against: never negative, NaN if the result is not finite.
double yoke__measure_value(const yoke_deviation* deviation, yoke_measure measure);

#endif
