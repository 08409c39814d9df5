// Active part, scale, error bands and their course over time (quality_band.h).
//
//   active part   samples 0 .. K-1, K = 2 + the last k with |y_k - y_N| > 0.01 range, at least 21: a settled tail does
//                 not count, so that a longer run has the same band
//   scale         min(s(y), s(a)), s(z) = max(standard deviation over the active part, range / 4)
//   at rest       range <= 1e-9 of the largest magnitude, or below 1e-12 of the largest range among signals of its kind
//   digits        1 + floor(log10(largest / (2 band)))
//
// Sums are of numbers divided by the largest of them, so that squares neither overflow nor vanish.
#include "quality/quality_band.h"

#include <math.h>

#include "base/base_check.h"

#define SETTLED      0.01   // of the range: the signal has arrived
#define AT_REST      1e-9   // of the largest magnitude: rounding
#define ROUNDING     1e-12  // of the largest range among signals of a kind
#define BEYOND       1e100  // diverged
#define COURSE_SHARE 0.05   // of the run, on both sides of a sample

enum { MIN_ACTIVE = 21, MIN_COURSE = 2, MAX_DIGITS = 15 };

// What bounds the error, by the companions there are.
typedef struct factors {
  double d, x;          // band
  double low_d, low_x;  // low
} factors;

static factors factors_of(bool has_a, bool has_b) {
  if (has_a && has_b) {
    return (factors){2.5, 1.2, 1.2, 0.7};
  }
  return has_a ? (factors){YOKE_BAND_HALF, 0.0, 1.2, 0.0} : (factors){0.0, 3.0, 0.0, 0.4};
}

// Samples of one signal in one run.
typedef struct series {
  const double* z;
  size_t n, stride;
  double low, high, largest;
  bool is_usable;  // there, finite and within bounds
} series;

static double sample(const series* s, size_t k) {
  return s->z[k * s->stride];
}

static series series_of(const double z[], size_t n, size_t stride) {
  series s = {.z = z, .n = n, .stride = stride, .is_usable = z != NULL && n > 0};
  if (!s.is_usable) {
    return s;
  }
  s.low = s.high = z[0];
  for (size_t k = 0; k < n; k++) {
    const double value = sample(&s, k);
    if (!(fabs(value) <= BEYOND)) {
      s.is_usable = false;
      return s;
    }
    s.low = value < s.low ? value : s.low;
    s.high = value > s.high ? value : s.high;
  }
  s.largest = fmax(fabs(s.low), fabs(s.high));
  return s;
}

static bool is_at_rest(const series* s) {
  return s->high - s->low <= AT_REST * s->largest;
}

static size_t active_part(const series* y) {
  const double bound = SETTLED * (y->high - y->low), end = sample(y, y->n - 1);
  size_t k = y->n;
  while (k > 0 && !(fabs(sample(y, k - 1) - end) > bound)) {
    k--;
  }
  // k - 1 is the last index outside
  const size_t active = k + 1 > MIN_ACTIVE ? k + 1 : MIN_ACTIVE;
  return active < y->n ? active : y->n;
}

// max(standard deviation over the active part, range / 4). Of v = (z - low) / range between 0 and 1: where the deviation
// is the larger one its square is above 1/16, and the difference of the two means loses no digits.
static double scale_of(const series* s, size_t active) {
  const double range = s->high - s->low;
  if (range == 0.0) {
    return 0.0;
  }
  double sum = 0.0, squares = 0.0;
  for (size_t k = 0; k < active; k++) {
    const double v = (sample(s, k) - s->low) / range;
    sum += v;
    squares += v * v;
  }
  const double mean = sum / (double)active;
  const double variance = squares / (double)active - mean * mean;
  return range * fmax(sqrt(fmax(variance, 0.0)), 0.25);
}

static double largest_difference(const series* y, const series* z, double weight, double* worst,
                                 size_t* at) {
  double largest = 0.0;
  for (size_t k = 0; k < y->n; k++) {
    const double difference = fabs(sample(y, k) - sample(z, k));
    largest = difference > largest ? difference : largest;
    if (weight * difference > *worst) {
      *worst = weight * difference;
      *at = k;
    }
  }
  return largest;
}

static double rms_difference(const series* y, const series* z, size_t active, double largest) {
  if (largest == 0.0) {
    return 0.0;
  }
  double squares = 0.0;
  for (size_t k = 0; k < active; k++) {
    const double v = (sample(y, k) - sample(z, k)) / largest;
    squares += v * v;
  }
  return largest * sqrt(squares / (double)active);
}

static double upper(const yoke_band* b, double d, double x) {
  const factors f = factors_of(b->has_a, b->has_b);
  const double by_a = b->has_a ? f.d * d : 0.0, by_b = b->has_b ? f.x * x : 0.0;
  return by_a > by_b ? by_a : by_b;
}

static double lower(const yoke_band* b, double d, double x) {
  const factors f = factors_of(b->has_a, b->has_b);
  const double by_a = b->has_a ? f.low_d * d : (double)INFINITY;
  const double by_b = b->has_b ? f.low_x * x : (double)INFINITY;
  return by_a < by_b ? by_a : by_b;
}

void yoke__band_combine(double d, double x, double* band, double* low) {
  const yoke_band b = {.has_a = !isnan(d), .has_b = !isnan(x)};
  *band = upper(&b, b.has_a ? d : 0, b.has_b ? x : 0);
  *low = lower(&b, b.has_a ? d : 0, b.has_b ? x : 0);
}

static int digits_of(double largest, double band) {
  if (band <= 0.0) {
    return MAX_DIGITS;
  }
  const double digits = 1.0 + floor(log10(largest / band / 2.0));
  return digits >= MAX_DIGITS ? MAX_DIGITS : digits > 0.0 ? (int)digits : 0;
}

// In parts of the scale. Of two runs at rest with nothing between them there is no error.
static double relative_to(double scale, double error) {
  return error == 0.0 ? 0.0 : error / scale;
}

static void compare(const series* y, const series* a, const series* b, yoke_band* out) {
  const factors f = factors_of(out->has_a, out->has_b);
  double worst = 0.0;
  if (out->has_a) {
    out->d_max = largest_difference(y, a, f.d, &worst, &out->at);
    out->d = rms_difference(y, a, out->active, out->d_max);
  }
  if (out->has_b) {
    out->x_max = largest_difference(y, b, f.x, &worst, &out->at);
    out->x = rms_difference(y, b, out->active, out->x_max);
  }
  out->band = upper(out, out->d, out->x);
  out->band_max = upper(out, out->d_max, out->x_max);
  out->low = lower(out, out->d, out->x);
  out->low_max = lower(out, out->d_max, out->x_max);
  out->relative = relative_to(out->scale, out->band);
  out->low_relative = relative_to(out->scale, out->low);
  out->digits = digits_of(out->largest, out->band);
  out->is_exact = out->band_max == 0.0;
}

void yoke__band_judge(const double y[], const double a[], const double b[], size_t n, size_t stride,
                      yoke_band* out) {
  const double unknown = (double)NAN;
  *out = (yoke_band){.n = n,
                     .d = unknown,
                     .x = unknown,
                     .d_max = unknown,
                     .x_max = unknown,
                     .band = unknown,
                     .band_max = unknown,
                     .low = unknown,
                     .low_max = unknown,
                     .relative = unknown,
                     .low_relative = unknown};
  if (n == 0) {
    return;
  }
  const series own = series_of(y, n, stride);
  const series half = series_of(a, n, stride), other = series_of(b, n, stride);
  out->has_a = half.is_usable;
  out->has_b = other.is_usable;
  if (!own.is_usable) {
    out->is_diverged = true;
    out->active = n;
    out->range = out->widest = out->scale = out->largest = (double)INFINITY;
    out->band = out->band_max = out->relative = (double)INFINITY;
    out->low = out->low_max = out->low_relative = 0.0;
    return;
  }
  out->range = out->widest = own.high - own.low;
  out->widest = out->has_a ? fmax(out->widest, half.high - half.low) : out->widest;
  out->widest = out->has_b ? fmax(out->widest, other.high - other.low) : out->widest;
  out->largest = own.largest;
  out->active = active_part(&own);
  const bool is_still = is_at_rest(&own);
  out->is_constant =
      is_still && (!out->has_a || is_at_rest(&half)) && (!out->has_b || is_at_rest(&other));
  if (is_still && !out->is_constant) {
    // a run at rest has no active part of its own: all of it counts against companions that move
    out->active = n;
  }
  out->scale = scale_of(&own, out->active);
  if (out->has_a || out->has_b) {
    out->scale = fmin(out->scale, scale_of(out->has_a ? &half : &other, out->active));
    compare(&own, &half, &other, out);
  }
}

void yoke__band_settle(yoke_band* band, double largest) {
  if (band->n > 0 && !band->is_diverged && band->widest < ROUNDING * largest) {
    band->is_constant = true;
  }
}

// -------------------------------------------------------------------------------------------------
// an estimate of the run itself

#define TOO_LARGE    0.5  // of the movement: an estimated error that says nothing
#define ESTIMATE_LOW 0.5  // of an estimated error: surely there

// s(y - e) over the active part of y
static double corrected_scale(const series* y, const series* e, size_t active) {
  double low = sample(y, 0) - sample(e, 0), high = low;
  for (size_t k = 0; k < e->n; k++) {
    const double value = sample(y, k) - sample(e, k);
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  const double range = high - low;
  const size_t n = active < e->n ? active : e->n;
  double sum = 0.0, squares = 0.0;
  for (size_t k = 0; k < n && range > 0.0; k++) {
    const double v = (sample(y, k) - sample(e, k) - low) / range;
    sum += v;
    squares += v * v;
  }
  const double mean = sum / (double)n;
  return range * fmax(sqrt(fmax(squares / (double)n - mean * mean, 0.0)), 0.25);
}

static double rms_of(const series* e, size_t n) {
  double squares = 0.0;
  for (size_t k = 0; k < n && e->largest > 0.0; k++) {
    const double v = sample(e, k) / e->largest;
    squares += v * v;
  }
  return e->largest * sqrt(squares / (double)n);
}

bool yoke__band_estimate(const double y[], const double e[], size_t n, size_t n_known,
                         size_t stride, double factor, yoke_band* out) {
  yoke__band_judge(y, NULL, NULL, n, stride, out);
  const series own = series_of(y, n, stride), error = series_of(e, n_known, stride);
  if (!own.is_usable || !error.is_usable || out->is_constant) {
    return false;
  }
  // the part of a run that is not known does not count, however it is judged
  const size_t n_active = out->active < n_known ? out->active : n_known;
  const double scale = fmin(out->scale, corrected_scale(&own, &error, out->active));
  const double rms = rms_of(&error, n_active);
  if (!(rms <= TOO_LARGE * scale)) {
    return false;
  }
  out->has_estimate = true;
  out->is_partial = n_known < out->active;
  out->is_rough = factor > YOKE_BAND_ESTIMATE;
  out->scale = scale;
  out->band = factor * rms;
  out->band_max = factor * error.largest;
  out->low = ESTIMATE_LOW * rms;
  out->low_max = ESTIMATE_LOW * error.largest;
  out->relative = relative_to(scale, out->band);
  out->low_relative = relative_to(scale, out->low);
  out->digits = digits_of(out->largest, out->band);
  out->is_exact = out->band_max == 0.0;
  for (size_t k = 0; k < n_known; k++) {
    if (fabs(sample(&error, k)) >= error.largest) {
      out->at = k;
      break;
    }
  }
  return true;
}

// -------------------------------------------------------------------------------------------------
// course

// Weighted difference at one sample.
static double difference_at(const double y[], const double a[], const double b[], size_t at,
                            const factors* f) {
  const double by_a = a == NULL ? 0.0 : f->d * fabs(y[at] - a[at]);
  const double by_b = b == NULL ? 0.0 : f->x * fabs(y[at] - b[at]);
  const double largest = by_a > by_b ? by_a : by_b;
  return yoke__is_finite(by_a) && yoke__is_finite(by_b) ? largest : (double)INFINITY;
}

void yoke__band_course(const double y[], const double a[], const double b[], size_t n,
                       size_t stride, double work[], double out[]) {
  if (a == NULL && b == NULL) {
    for (size_t k = 0; k < n; k++) {
      out[k] = (double)NAN;
    }
    return;
  }
  const factors f = factors_of(a != NULL, b != NULL);
  const size_t share = n == 0 ? 0 : (size_t)(COURSE_SHARE * (double)(n - 1) + 0.5);
  const size_t w = share > MIN_COURSE ? share : MIN_COURSE;

  // work[first .. end-1]: samples of the window that may still become its largest, in order, their differences falling
  size_t first = 0, end = 0, next = 0;
  for (size_t k = 0; k < n; k++) {
    for (; next < n && next <= k + w; next++) {
      const double here = difference_at(y, a, b, next * stride, &f);
      while (end > first && difference_at(y, a, b, (size_t)work[end - 1] * stride, &f) <= here) {
        end--;
      }
      work[end++] = (double)next;
    }
    while ((size_t)work[first] + w < k) {
      first++;
    }
    out[k] = difference_at(y, a, b, (size_t)work[first] * stride, &f);
  }
}
