// Whiteness of the innovations of one sensor: sums, and a periodogram by a Fourier transform of 128 complex numbers whose stages
// are spread over the samples that follow.
#include "estimate/estimate_innovation_part.h"

#include <math.h>
#include <string.h>

enum {
  HALF = YOKE_WHITE_SEGMENT / 2,
  N_STAGES = 7,        // 2^7 = HALF; the stage after them takes the result
  EIGHTH = 16,         // of the bins
  FIRST_SEGMENTS = 4,  // the spectrum is judged from so many on: before, its distribution is skewed
  N_STATISTICS = 5,    // of a sensor
};

#define LIMIT_MEAN     0.1
#define LIMIT_VARIANCE 0.1
#define LIMIT_LAG      0.1
#define LIMIT_LOW_HIGH 0.22314355131420976  // ln 1.25
#define LIMIT_FLATNESS 0.03
// more at high frequencies, no more variance: over-cautious
#define CAUTIOUS_LOW_HIGH 0.9
#define CAUTIOUS_VARIANCE 1.0
#define LARGEST           1e6  // e beyond it counts as it, so that the sums stay finite

void yoke__white_clear(yoke_white* w) {
  memset(w, 0, sizeof *w);
  w->before = (double)NAN;
}

// ---- periodogram

_Static_assert(YOKE_WHITE_BINS == HALF - 1, "bins and segment belong together");

static size_t reversed(size_t i) {
  size_t r = 0;

  // the index with its 7 bits turned round, the order of decimation in time
  for (int bit = 0; bit < N_STAGES; bit++) {
    r = r << 1 | (i >> bit & 1);
  }
  return r;
}

// Even samples are real parts and odd ones imaginary parts, in the order in which the stages want them. The mean of the segment
// need not be taken off: it is in bin 0 alone.
static void open_transform(yoke_white* w) {
  for (size_t i = 0; i < HALF; i++) {
    const size_t r = reversed(i);
    w->transform[2 * r] = w->segment[2 * i];
    w->transform[2 * r + 1] = w->segment[2 * i + 1];
  }
  w->stage = 1;
}

// Transforms of `half` numbers become transforms of 2 half.
static void combine(double z[YOKE_WHITE_SEGMENT], size_t half) {
  // turns exp(-pi j k / half) by a recurrence: 64 products round to about 1e-14
  const double angle = -3.14159265358979323846 / (double)half;
  const double step_re = cos(angle), step_im = sin(angle);
  double re = 1, im = 0;
  for (size_t k = 0; k < half; k++) {
    for (size_t i = k; i < HALF; i += 2 * half) {
      double *a = z + 2 * i, *b = z + 2 * (i + half);
      // a + t b and a - t b
      const double t_re = re * b[0] - im * b[1], t_im = re * b[1] + im * b[0];
      b[0] = a[0] - t_re;
      b[1] = a[1] - t_im;
      a[0] += t_re;
      a[1] += t_im;
    }
    const double next = re * step_re - im * step_im;
    im = re * step_im + im * step_re;
    re = next;
  }
}

// The transform of the real samples from that of the pairs, Z: with E and O those of the even and the odd ones,
// E_k = (Z_k + conj Z_-k) / 2, i O_k = (Z_k - conj Z_-k) / 2, X_k = E_k + exp(-i pi k / 128) O_k.
static void add_spectrum(const double z[YOKE_WHITE_SEGMENT], double spectrum[YOKE_WHITE_BINS]) {
  const double angle = -3.14159265358979323846 / HALF;
  const double step_re = cos(angle), step_im = sin(angle);
  double re = step_re, im = step_im;
  for (size_t k = 1; k < HALF; k++) {
    // Z_k and Z_(128 - k)
    const double *a = z + 2 * k, *b = z + 2 * (HALF - k);
    const double even_re = 0.5 * (a[0] + b[0]), even_im = 0.5 * (a[1] - b[1]);
    // O_k = (Z_k - conj Z_-k) / (2 i)
    const double odd_re = 0.5 * (a[1] + b[1]), odd_im = -0.5 * (a[0] - b[0]);
    const double x_re = even_re + re * odd_re - im * odd_im;
    const double x_im = even_im + re * odd_im + im * odd_re;
    // periodogram |X_k|^2
    spectrum[k - 1] += x_re * x_re + x_im * x_im;
    const double next = re * step_re - im * step_im;
    im = re * step_im + im * step_re;
    re = next;
  }
}

static void work_on_transform(yoke_white* w) {
  if (w->stage <= N_STAGES) {
    combine(w->transform, (size_t)1 << (w->stage - 1));
    w->stage++;
    return;
  }
  add_spectrum(w->transform, w->sums.spectrum);
  w->sums.n_segments++;
  w->stage = 0;
}

void yoke__white_add(yoke_white* w, double e) {
  if (!isfinite(e)) {
    return;
  }
  e = e > LARGEST ? LARGEST : e < -LARGEST ? -LARGEST : e;
  w->sums.n++;
  w->sums.sum += e;

  // sums of e, e^2 and e_k e_(k-1)
  w->sums.sum_squares += e * e;
  w->sums.sum_lag += isnan(w->before) ? 0 : e * w->before;
  w->before = e;

  // one stage per sample: the work of a step is bounded
  if (w->stage > 0) {
    work_on_transform(w);
  }
  w->segment[w->n_filled++] = e;
  if (w->n_filled == YOKE_WHITE_SEGMENT) {
    open_transform(w);
    w->n_filled = 0;
  }
}

// ---- report

static double mean_of(size_t n, const double x[]) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i];
  }
  return sum / (double)n;
}

// Geometric mean over arithmetic mean.
static double flatness_of(const double spectrum[YOKE_WHITE_BINS]) {
  double sum = 0;
  for (size_t i = 0; i < YOKE_WHITE_BINS; i++) {
    sum += log(spectrum[i]);
  }
  return exp(sum / YOKE_WHITE_BINS) / mean_of(YOKE_WHITE_BINS, spectrum);
}

yoke_white_report yoke__white_report_of_sums(const yoke_white_sums* s) {
  yoke_white_report r = {s->n, s->n_segments, .flatness_expected = 1};
  const double n = (double)s->n, K = (double)s->n_segments;
  r.mean = r.variance = r.lag = r.low_high = r.flatness = (double)NAN;

  // mean, unbiased variance and correlation with the sample before
  if (s->n > 1) {
    r.mean = s->sum / n;
    r.variance = (s->sum_squares - n * r.mean * r.mean) / (n - 1);
    r.lag = (s->sum_lag / n - r.mean * r.mean) / r.variance;
  }
  if (s->n_segments > 0) {
    r.low_high =
        mean_of(EIGHTH, s->spectrum) / mean_of(EIGHTH, s->spectrum + YOKE_WHITE_BINS - EIGHTH);
    r.flatness = flatness_of(s->spectrum);
    // expected flatness of K averaged periodograms: exp(psi(K)) / K, below 1 because the log is
    // concave
    r.flatness_expected = exp(yoke__digamma(K) - log(K));
  }
  // chance of a thousandth for each of the statistics
  r.is_white =
      s->n >= YOKE_CONSISTENCY_FIRST_LOOK && yoke__white_judge(&r, N_STATISTICS * 1e-3).excess <= 1;
  return r;
}

yoke_white_report yoke__white_report_of(const yoke_white* w) {
  return yoke__white_report_of_sums(&w->sums);
}

// ---- limits
//
// With a chance p for one statistic and x = ln(2 / p), |z| > sqrt(2 x) of a normal variable has a probability below p (Chernoff),
// and a chi-square variable leaves k - 2 sqrt(k x) .. k + 2 sqrt(k x) + 2 x with one below p (Laurent, Massart 2000, lemma 1).

static double larger(double a, double b) {
  return a > b ? a : b;
}

// expected: between low and high. A value that is not a number lies beyond.
static void offer(yoke_finding* worst, yoke_statistic statistic, double value, double expected,
                  double low, double high) {
  // distance from the expected value over the room there is on that side: 1 lies on the limit
  const double room = value < expected ? expected - low : high - expected;
  const double excess = fabs(value - expected) / room;
  if (worst->statistic == YOKE_STATISTIC_NONE || !(excess <= worst->excess)) {
    *worst =
        (yoke_finding){statistic, 0, value, low, high, isnan(excess) ? (double)INFINITY : excess};
  }
}

// Mean square of n variables of variance 1.
void yoke__white_judge_square(yoke_finding* worst, yoke_statistic statistic, double value, double n,
                              double x) {
  // Laurent and Massart: n - 2 sqrt(n x) .. n + 2 sqrt(n x) + 2 x, divided by n
  const double low = 2 * sqrt(x / n), high = low + 2 * x / n;
  offer(worst, statistic, value, 1, 1 - larger(LIMIT_VARIANCE, low),
        1 + larger(LIMIT_VARIANCE, high));
}

// Standard deviations: ln low_high of two means of 16 K exponential variables each, sqrt(2 / (16 K)); ln flatness of 127 means of
// K, sqrt((psi'(K) - 1 / K) / 127).
//
// More at high than at low frequencies, with no more variance than expected: walks are larger than need be, and the printed
// deviations too large. Nobody is misled by that, so it is no fault.
static void judge_spectrum(yoke_finding* worst, const yoke_white_report* r, double z) {
  const double K = (double)r->n_segments;
  if (r->low_high < CAUTIOUS_LOW_HIGH && r->variance < CAUTIOUS_VARIANCE) {
    return;
  }

  // limits symmetric in the logarithm
  const double band = exp(larger(LIMIT_LOW_HIGH, z * sqrt(2 / (EIGHTH * K))));
  offer(worst, YOKE_STATISTIC_LOW_HIGH, r->low_high, 1, 1 / band, band);
  const double sd = sqrt((yoke__trigamma(K) - 1 / K) / YOKE_WHITE_BINS);
  const double flat = r->flatness_expected;

  // only too little flatness is a fault
  offer(worst, YOKE_STATISTIC_FLATNESS, r->flatness, flat,
        flat - larger(LIMIT_FLATNESS, flat * (1 - exp(-z * sd))), (double)INFINITY);
}

yoke_finding yoke__white_judge(const yoke_white_report* r, double chance) {
  yoke_finding worst = {.statistic = YOKE_STATISTIC_NONE};

  // the chance is shared by the statistics, two-sided
  const double n = (double)r->n, x = log(2 * N_STATISTICS / chance), z = sqrt(2 * x);
  if (r->n < 2) {
    return worst;
  }

  // of n independent values mean and lag have the standard deviation 1 / sqrt(n)
  const double mean = larger(LIMIT_MEAN, z / sqrt(n)), lag = larger(LIMIT_LAG, z / sqrt(n));
  offer(&worst, YOKE_STATISTIC_MEAN, r->mean, 0, -mean, mean);
  yoke__white_judge_square(&worst, YOKE_STATISTIC_VARIANCE, r->variance, n - 1, x);
  offer(&worst, YOKE_STATISTIC_LAG, r->lag, 0, -lag, lag);
  if (r->n_segments >= FIRST_SEGMENTS) {
    judge_spectrum(&worst, r, z);
  }
  return worst;
}
