// Frequency response from recorded signals; see quality_frf.h.
//
// The frequencies are those of the grid, not those of a record: a chirp transform evaluates each segment there, so that two
// records with different steps are compared without interpolation.
#include "quality/quality_frf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "linalg/linalg_fft.h"

#define PI         3.14159265358979323846
#define EQUAL_PART 0.01  // steps that differ by less are equal: times in files are rounded
#define UP_TO      0.8   // of half the sampling rate
#define N_HALVES   9     // half segments in a record: 8 segments
#define MIN_ROWS   16    // of a segment
#define POWERLESS  1e-4  // of the largest density: leakage of the window, in input and output alike
#define FIRST      2     // times the resolution: below it the window lets the mean through
#define FLAT       (64 * DBL_EPSILON)

// ---- records

static const char* const sides[2] = {"result", "reference"};

static double step_of(const yoke_samples* s) {
  return (s->t[s->n - 1] - s->t[0]) / (double)(s->n - 1);
}

static yoke_status check_values(const yoke_samples* s, const char* what, const yoke_sink* sink) {
  for (size_t i = 0; i < s->n; i++) {
    if (!yoke__is_finite(s->y[i])) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "frf: the %s is not a finite number at %.9g s", what,
                       s->t[i]);
    }
  }
  return YOKE_OK;
}

static yoke_status check_record(const yoke_samples* s, const char* side, const yoke_sink* sink) {
  if (s->n < YOKE_FRF_MIN_ROWS) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: expected at least %d rows in the %s, found %zu: record more often or "
                     "longer",
                     YOKE_FRF_MIN_ROWS, side, s->n);
  }
  const double step = step_of(s);
  for (size_t i = 1; i < s->n; i++) {
    const double distance = s->t[i] - s->t[i - 1];
    if (!(fabs(distance - step) <= EQUAL_PART * step)) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "frf: expected rows that are equally far apart, found %.6g s behind %.9g s "
                       "in the %s, %.6g s on average: record with a fixed step",
                       distance, s->t[i - 1], side, step);
    }
  }
  double low = s->y[0], high = s->y[0];
  YOKE_TRY(check_values(s, "input", sink));
  for (size_t i = 0; i < s->n; i++) {
    low = fmin(low, s->y[i]);
    high = fmax(high, s->y[i]);
  }
  if (high - low <= FLAT * fmax(fabs(low), fabs(high))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: the input is constant (%.9g) in the %s: nothing excites the system; "
                     "drive it with a chirp, steps or noise",
                     low, side);
  }
  return YOKE_OK;
}

// Rows from t_first to t_last.
static yoke_samples part_of(const yoke_samples* s, const yoke_frf_grid* grid) {
  const double slack = 0.5 * step_of(s);
  size_t from = 0, n = 0;
  while (from < s->n && s->t[from] < grid->t_first - slack) {
    from++;
  }
  while (from + n < s->n && s->t[from + n] <= grid->t_last + slack) {
    n++;
  }
  return (yoke_samples){s->t + from, s->y + from, n};
}

yoke_status yoke__frf_grid_of(const yoke_samples inputs[2], double resolution, yoke_frf_grid* out,
                              const yoke_sink* sink) {
  double coarse = 0, first = -(double)INFINITY, last = (double)INFINITY;
  for (int k = 0; k < 2; k++) {
    YOKE_TRY(check_record(&inputs[k], sides[k], sink));
    coarse = fmax(coarse, step_of(&inputs[k]));
    first = fmax(first, inputs[k].t[0]);
    last = fmin(last, inputs[k].t[inputs[k].n - 1]);
  }
  const double duration = last - first;
  if (!(duration >= (YOKE_FRF_MIN_ROWS - 1) * coarse * (1 - EQUAL_PART))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: the results have only %.6g s in common, at least %.6g s are needed",
                     fmax(duration, 0), YOKE_FRF_MIN_ROWS * coarse);
  }
  *out = (yoke_frf_grid){.t_first = first, .t_last = last};
  out->length = resolution > 0 ? 1 / resolution : duration * 2 / N_HALVES;
  if (!(out->length <= duration) || !(out->length >= MIN_ROWS * coarse * (1 - EQUAL_PART))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: expected a resolution from %.4g Hz (the whole record) to %.4g Hz, found "
                     "%.6g Hz",
                     1 / duration, 1 / (MIN_ROWS * coarse), resolution);
  }
  out->resolution = 1 / out->length;
  // of at most as many numbers as there are rows
  out->n = (size_t)floor(UP_TO * out->length / (2 * coarse)) - (FIRST - 1);
  return YOKE_OK;
}

// ---- spectra

typedef struct spectra {
  size_t rows;            // of a segment
  double mean_x, mean_y;  // of the record
  double* window;         // rows
  double* segment;        // rows
  double complex *X, *Y;
  double *xx, *yy;
  double complex* xy;
  yoke_chirp chirp;
} spectra;

static double mean_of(const yoke_samples* s) {
  double mean = 0;
  for (size_t i = 0; i < s->n; i++) {
    mean += s->y[i] / (double)s->n;
  }
  return mean;
}

static void transform(spectra* s, const double y[], double mean, double complex to[]) {
  for (size_t i = 0; i < s->rows; i++) {
    s->segment[i] = s->window[i] * (y[i] - mean);
  }
  yoke__chirp_transform(&s->chirp, s->segment, to);
}

// The transform begins at frequency 0.
static void add_segment(spectra* s, const double x[], const double y[], size_t n) {
  transform(s, x, s->mean_x, s->X);
  transform(s, y, s->mean_y, s->Y);
  for (size_t k = 0; k < n; k++) {
    const double complex X = s->X[k + FIRST], Y = s->Y[k + FIRST];
    s->xx[k] += creal(X * conj(X));
    s->yy[k] += creal(Y * conj(Y));
    s->xy[k] += conj(X) * Y;
  }
}

static yoke_status open_spectra(const yoke_frf_grid* grid, double step, yoke_arena* arena,
                                spectra* s) {
  s->rows = (size_t)floor(grid->length / step * (1 + 1e-9));
  s->window = yoke__arena_array(arena, s->rows, sizeof *s->window);
  s->segment = yoke__arena_array(arena, s->rows, sizeof *s->segment);
  s->X = yoke__arena_array(arena, grid->n + FIRST, sizeof *s->X);
  s->Y = yoke__arena_array(arena, grid->n + FIRST, sizeof *s->Y);
  s->xx = yoke__arena_array(arena, grid->n, sizeof *s->xx);
  s->yy = yoke__arena_array(arena, grid->n, sizeof *s->yy);
  s->xy = yoke__arena_array(arena, grid->n, sizeof *s->xy);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < s->rows; i++) {
    s->window[i] = (1 - cos(2 * PI * (double)i / (double)s->rows)) / 2;
  }
  return yoke__chirp_open(s->rows, grid->n + FIRST, 2 * PI * grid->resolution * step, &s->chirp);
}

static yoke_status finish(const spectra* s, size_t n, yoke_arena* arena, yoke_frf* out) {
  double largest = 0;
  out->n = n;
  out->response = yoke__arena_array(arena, n, sizeof *out->response);
  out->coherence = yoke__arena_array(arena, n, sizeof *out->coherence);
  out->power = yoke__arena_array(arena, n, sizeof *out->power);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t k = 0; k < n; k++) {
    largest = fmax(largest, s->xx[k]);
  }
  for (size_t k = 0; k < n; k++) {
    out->response[k] = s->xy[k] / s->xx[k];
    const double size = cabs(s->xy[k]);
    out->coherence[k] =
        s->xx[k] > 0 && s->yy[k] > 0 ? size / s->xx[k] * (size / s->yy[k]) : (double)NAN;
    out->power[k] = s->xx[k] / largest;
  }
  return YOKE_OK;
}

yoke_status yoke__frf_estimate(const yoke_samples* input, const yoke_samples* output,
                               const yoke_frf_grid* grid, yoke_arena* arena, yoke_frf* out,
                               const yoke_sink* sink) {
  spectra s = {0};
  *out = (yoke_frf){0};
  if (input->n != output->n) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: input and output must have values in the same rows, found %zu and %zu",
                     input->n, output->n);
  }
  YOKE_TRY(check_values(output, "output", sink));
  const yoke_samples x = part_of(input, grid), y = part_of(output, grid);
  YOKE_TRY(open_spectra(grid, step_of(input), arena, &s));
  s.mean_x = mean_of(&x);
  s.mean_y = mean_of(&y);
  // the last segment ends with the record at the latest
  const double half = grid->length / step_of(input) / 2;
  for (size_t k = 0; (size_t)round((double)k * half) + s.rows <= x.n; k++) {
    const size_t from = (size_t)round((double)k * half);
    add_segment(&s, x.y + from, y.y + from, grid->n);
    out->n_segments++;
  }
  yoke__chirp_close(&s.chirp);
  return finish(&s, grid->n, arena, out);
}

double yoke__frf_frequency(const yoke_frf_grid* grid, size_t k) {
  return (double)(k + FIRST) * grid->resolution;
}

bool yoke__frf_is_trusted(const yoke_frf* frf, size_t k, double trusted) {
  return frf->coherence[k] >= trusted && frf->power[k] >= POWERLESS;
}

yoke_frf_difference yoke__frf_compare(const yoke_frf* result, const yoke_frf* reference,
                                      const yoke_frf_grid* grid, double trusted) {
  yoke_frf_difference d = {0};
  for (size_t k = 0; k < grid->n; k++) {
    if (!yoke__frf_is_trusted(result, k, trusted) || !yoke__frf_is_trusted(reference, k, trusted)) {
      continue;
    }
    const double f = yoke__frf_frequency(grid, k);
    const double complex ratio = result->response[k] / reference->response[k];
    const double db = 20 * log10(cabs(ratio)), degrees = carg(ratio) * 180 / PI;
    d.n_trusted++;
    if (d.n_trusted == 1 || fabs(db) > fabs(d.db)) {
      d.db = db;
      d.f_db = f;
    }
    if (d.n_trusted == 1 || fabs(degrees) > fabs(d.degrees)) {
      d.degrees = degrees;
      d.f_degrees = f;
    }
  }
  return d;
}
