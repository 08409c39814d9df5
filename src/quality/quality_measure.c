// Error measures between two sampled signals on different time grids.
//
// The reference r is read as a polygon through its samples. With the samples (t_i, y_i), i = 1..n,
// of the result that lie in the common interval [t_first, t_last]:
//
//   d_i   = y_i - r(t_i)                         rmse  = sqrt(sum d_i^2 / n)
//   max   = max |d_i|                            nrmse = rmse / (max r - min r), over the interval
//   end   = y(t_last) - r(t_last), y read as a polygon too
//   error = mean |d_i| / (max r - min r + 1e-12) without the first sample of the result, where nothing is coupled yet
//   roughness = sqrt of the noise variance of the d_i (quality_noise.c)
//
//   reference  *-----*-----*-----*-----*-----*           the grids differ; the samples of
//   result            o---o---o---o---o---o---o---o      the result decide where they are compared
//                     |-- common interval ---|
//
// Every sample of the result weighs the same, whatever the distance to its neighbours.
// Assumes that both signals are sampled finely enough for straight lines between the samples; the
// error of that is h^2/8 max|r''| and is not distinguished from the deviation.
#include "quality/quality_measure.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/base_check.h"
#include "quality/quality_noise.h"

// times closer than this part of the distance between two samples are one time; two clocks that
// count 0.1 + 0.1 + ... and k * 0.1 differ by some roundings only
#define SNAP_PART  1e-9
#define SNAP_ROUND (4 * DBL_EPSILON)
// the ends of the interval are looser: a solver may stop a little before or behind the last
// exchange point
#define END_PART 1e-3
// a range of some roundings of the values is none
#define RANGE_ROUND (64 * DBL_EPSILON)
// distances between samples that differ by less than this part are equal: times in files are rounded, and clocks are
// read a little late
#define EQUAL_PART 0.01

yoke_status yoke__samples_of(const yoke_csv* csv, size_t column, yoke_arena* arena,
                             yoke_samples* out) {
  const double *t = csv->columns[0].values, *y = csv->columns[column].values;
  *out = (yoke_samples){t, y, csv->n_rows};
  if (csv->columns[column].n_missing == 0) {
    return YOKE_OK;
  }
  double* kept_t = yoke__arena_array(arena, csv->n_rows, sizeof *kept_t);
  double* kept_y = yoke__arena_array(arena, csv->n_rows, sizeof *kept_y);
  YOKE_TRY_MEMORY(kept_t && kept_y);
  *out = (yoke_samples){kept_t, kept_y, 0};
  for (size_t i = 0; i < csv->n_rows; i++) {
    if (!yoke__csv_is_missing(y[i])) {
      kept_t[out->n] = t[i];
      kept_y[out->n++] = y[i];
    }
  }
  return YOKE_OK;
}

// Reads a polygon at times that never decrease.
typedef struct reader {
  const yoke_samples* from;
  size_t i;  // last sample not behind the time asked for last
} reader;

// What the loop over the points adds up. The sum of squares is largest^2 * sum, which cannot
// overflow.
typedef struct sums {
  double largest, sum;
  double max, t_max;
  double sizes;                 // of |d_i|, the start left out
  size_t n_sizes;               // of them
  double* kept;                 // NULL, or room for all differences
  double shortest, t_shortest;  // distance between two points, and where it begins
  double longest, t_longest;
  double t_last;  // of the points so far
  size_t n_points, n_skipped, n_not_finite;
} sums;

static bool is_one_time(double a, double b, double distance) {
  return fabs(a - b) <= fmax(SNAP_PART * distance, SNAP_ROUND * fmax(fabs(a), fabs(b)));
}

// The value at time t. wants_left: at a jump the value before it, else the one behind it.
static double read_at(reader* r, double t, bool wants_left) {
  const double* times = r->from->t;
  const double* y = r->from->y;
  const size_t n = r->from->n;

  // forward to the last sample at or before t; a sample just behind t is at t, and so are all of a
  // jump
  while (r->i + 1 < n && (times[r->i + 1] <= fmax(t, times[r->i]) ||
                          is_one_time(times[r->i + 1], t, times[r->i + 1] - times[r->i]))) {
    r->i++;
  }
  const size_t i = r->i;
  const double step = i + 1 < n ? times[i + 1] - times[i] : 0;
  if (step <= 0 || t <= times[i] || is_one_time(t, times[i], step)) {
    // at a sample, or behind the last one by less than the tolerance of the ends
    size_t first = i;
    while (wants_left && first > 0 && times[first - 1] >= times[i]) {
      first--;
    }
    return y[first];
  }
  const double w = (t - times[i]) / step;
  return (1 - w) * y[i] + w * y[i + 1];  // exact at both ends, no overflow of a difference
}

static yoke_status check_samples(const yoke_samples* s, const char* name, const yoke_sink* sink) {
  if (s->n == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the %s has no samples", name);
  }
  for (size_t i = 0; i < s->n; i++) {
    if (!yoke__is_finite(s->t[i])) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the time of sample %zu of the %s is not finite",
                       i + 1, name);
    }
    if (i > 0 && s->t[i] < s->t[i - 1]) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "time goes back from %.9g to %.9g s at sample %zu of the %s", s->t[i - 1],
                       s->t[i], i + 1, name);
    }
  }
  return YOKE_OK;
}

// Distance by which a sample of the result may lie outside the interval and still count as its end.
static double end_slack(const yoke_samples* result) {
  const double first = result->t[0], last = result->t[result->n - 1];
  const double mean_step = result->n > 1 ? (last - first) / (double)(result->n - 1) : 0;
  return fmax(END_PART * mean_step, SNAP_ROUND * fmax(fabs(first), fabs(last)));
}

static yoke_status find_interval(const yoke_samples* result, const yoke_samples* reference,
                                 double slack, yoke_deviation* d, const yoke_sink* sink) {
  const double result_last = result->t[result->n - 1], last = reference->t[reference->n - 1];
  d->t_first = fmax(result->t[0], reference->t[0]);
  d->t_last = fmin(result_last, last);
  if (d->t_first > d->t_last + slack) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the time ranges do not overlap: result %.9g .. %.9g s, reference %.9g .. %.9g s",
        result->t[0], result_last, reference->t[0], last);
  }
  d->t_first = fmin(d->t_first, d->t_last);
  return YOKE_OK;
}

static void add_distance(sums* s, double t) {
  const double distance = t - s->t_last;
  if (s->n_points == 1 || (s->n_points > 0 && distance < s->shortest)) {
    s->shortest = distance;
    s->t_shortest = s->t_last;
  }
  if (s->n_points == 1 || (s->n_points > 0 && distance > s->longest)) {
    s->longest = distance;
    s->t_longest = s->t_last;
  }
  s->t_last = t;
}

static void add_point(sums* s, double t, double difference, bool is_start) {
  const double size = fabs(difference);
  add_distance(s, t);
  if (s->kept != NULL) {
    s->kept[s->n_points] = difference;
  }
  s->n_points++;
  s->sizes += is_start ? 0 : size;
  s->n_sizes += is_start ? 0 : 1;
  if (!yoke__is_finite(size)) {
    // the first one marks the maximum, and nothing behind it can be larger
    s->t_max = s->n_not_finite == 0 ? t : s->t_max;
    s->n_not_finite++;
    return;
  }
  if (s->n_not_finite == 0 && (s->n_points == 1 || size > s->max)) {
    s->max = size;
    s->t_max = t;
  }
  if (size > s->largest) {
    const double ratio = s->largest / size;
    s->sum = 1 + s->sum * ratio * ratio;
    s->largest = size;
  } else if (size > 0) {
    const double ratio = size / s->largest;
    s->sum += ratio * ratio;
  }
}

static void add_points(const yoke_samples* result, const yoke_samples* reference, double slack,
                       const yoke_deviation* d, sums* s) {
  reader r = {reference, 0};
  for (size_t i = 0; i < result->n && result->t[i] <= d->t_last + slack; i++) {
    if (result->t[i] < d->t_first - slack) {
      continue;
    }
    const double t = fmin(fmax(result->t[i], d->t_first), d->t_last);
    // the first of two samples at one time stands before the jump; a single one sees what is behind
    // it
    const bool is_left = i + 1 < result->n && result->t[i + 1] <= result->t[i] &&
                         (i == 0 || result->t[i - 1] < result->t[i]);
    const double wanted = read_at(&r, t, is_left);
    if (!yoke__is_finite(wanted)) {
      s->n_skipped++;
      continue;
    }
    add_point(s, result->t[i], result->y[i] - wanted, i == 0);
  }
}

typedef struct range {
  double low, high;
} range;

static void widen(range* r, double y) {
  if (yoke__is_finite(y)) {
    r->low = fmin(r->low, y);
    r->high = fmax(r->high, y);
  }
}

// Smallest and largest value of the reference over the interval, its two ends included.
static range find_range(const yoke_samples* reference, double t_first, double t_last) {
  range found = {HUGE_VAL, -HUGE_VAL};
  reader r = {reference, 0};
  widen(&found, read_at(&r, t_first, false));
  for (size_t i = 0; i < reference->n && reference->t[i] <= t_last; i++) {
    if (reference->t[i] >= t_first) {
      widen(&found, reference->y[i]);
    }
  }
  widen(&found, read_at(&r, t_last, false));
  return found;
}

static void set_scale(range r, yoke_deviation* d) {
  const double magnitude = fmax(fabs(r.low), fabs(r.high));
  d->scale = r.high - r.low;
  d->scale_kind = YOKE_SCALE_RANGE;
  if (d->scale <= RANGE_ROUND * magnitude) {
    d->scale = magnitude > 0 ? magnitude : 1;
    d->scale_kind = magnitude > 0 ? YOKE_SCALE_VALUE : YOKE_SCALE_ONE;
  }
}

static void set_end(const yoke_samples* result, const yoke_samples* reference, yoke_deviation* d) {
  reader y = {result, 0}, r = {reference, 0};
  d->end_result = read_at(&y, d->t_last, false);
  d->end_reference = read_at(&r, d->t_last, false);
  d->end = d->end_result - d->end_reference;
}

yoke_status yoke__deviation_compute(const yoke_samples* result, const yoke_samples* reference,
                                    yoke_deviation* out, const yoke_sink* sink) {
  YOKE_TRY(check_samples(result, "result", sink));
  YOKE_TRY(check_samples(reference, "reference", sink));
  yoke_deviation d = {0};
  const double slack = end_slack(result);
  YOKE_TRY(find_interval(result, reference, slack, &d, sink));

  sums s = {0};
  add_points(result, reference, slack, &d, &s);
  if (s.n_points == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     s.n_skipped > 0
                         ? "the reference is not a number anywhere in %.9g .. %.9g s"
                         : "no sample of the result lies in the common interval %.9g .. %.9g s",
                     d.t_first, d.t_last);
  }

  d.n_points = s.n_points;
  d.n_skipped = s.n_skipped;
  d.n_not_finite = s.n_not_finite;
  d.rmse = s.largest * sqrt(s.sum / (double)s.n_points);
  d.max = s.max;
  d.t_max = s.t_max;
  if (s.n_not_finite > 0) {
    d.rmse = d.max = (double)NAN;
  }
  const range r = find_range(reference, d.t_first, d.t_last);
  d.error = s.n_sizes == 0 || s.n_not_finite > 0
                ? (double)NAN
                : s.sizes / (double)s.n_sizes / (r.high - r.low + 1e-12);
  d.roughness = (double)NAN;
  set_scale(r, &d);
  d.nrmse = d.rmse / d.scale;
  set_end(result, reference, &d);
  *out = d;
  return YOKE_OK;
}

size_t yoke__deviation_work_size(const yoke_samples* result) {
  return result->n + yoke__noise_work_size(result->n);
}

yoke_status yoke__deviation_roughness(const yoke_samples* result, const yoke_samples* reference,
                                      double work[], yoke_deviation* deviation,
                                      const yoke_sink* sink) {
  sums s = {.kept = work};
  double variance = (double)NAN;
  deviation->roughness = (double)NAN;
  add_points(result, reference, end_slack(result), deviation, &s);
  if (s.n_points < 3) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "roughness: expected at least 3 points, found %zu from %.9g to %.9g s",
                     s.n_points, deviation->t_first, deviation->t_last);
  }
  if (s.longest - s.shortest > EQUAL_PART * s.longest) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "roughness: expected points that are equally far apart, found %.6g s behind %.9g s and "
        "%.6g s behind %.9g s",
        s.shortest, s.t_shortest, s.longest, s.t_longest);
  }
  if (yoke__noise_variance(s.n_points, work, work + result->n, &variance) >= 0) {
    deviation->roughness = sqrt(variance);
  }
  return YOKE_OK;
}

const char* yoke__measure_name(yoke_measure measure) {
  static const char* const names[YOKE_N_MEASURES] = {"nrmse", "rmse",  "max",
                                                     "end",   "error", "roughness"};
  return names[measure];
}

double yoke__measure_value(const yoke_deviation* deviation, yoke_measure measure) {
  switch (measure) {
  case YOKE_MEASURE_NRMSE:
    return deviation->nrmse;
  case YOKE_MEASURE_RMSE:
    return deviation->rmse;
  case YOKE_MEASURE_MAX:
    return deviation->max;
  case YOKE_MEASURE_ERROR:
    return deviation->error;
  case YOKE_MEASURE_ROUGHNESS:
    return deviation->roughness;
  default:
    return fabs(deviation->end);
  }
}
