// Noise levels from differences of a record, and from innovations.
#include "estimate/estimate_noise.h"

#include <math.h>
#include <stdlib.h>

#define FEWEST  16   // differences that an estimate needs
#define SMALLER 0.9  // a higher order is better if it leaves less than this of the noise
#define OUTLIER 4.0  // standard deviations
#define MAD_SIGMA                                                                                  \
  1.482602218505602           // of a normal distribution: sigma / median of the absolute values
#define WITHIN     0.9989293  // variance that a normal distribution has within OUTLIER, over the whole
#define SAME_LEVEL 1e-9       // values nearer than this part of the range are the same

// ---- order statistics

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median_of_sorted(size_t n, const double x[]) {
  return n % 2 == 1 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

// Smallest distance of different values if the record has clearly more samples than values, and all are multiples of it apart.
static double find_step(size_t n, const double values[], double sorted[]) {
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    if (isfinite(values[i])) {
      sorted[m++] = values[i];
    }
  }
  qsort(sorted, m, sizeof *sorted, compare);
  const double same = m > 0 ? SAME_LEVEL * (sorted[m - 1] - sorted[0]) : 0;
  double step = (double)INFINITY;

  // distances at rounding level are not levels
  size_t n_levels = 1;
  for (size_t i = 1; i < m; i++) {
    const double gap = sorted[i] - sorted[i - 1];
    if (gap > same) {
      step = fmin(step, gap);
      n_levels++;
    }
  }

  // twice as many samples as levels: a quantised record
  if (n_levels < 2 || 2 * n_levels > m) {
    return 0;
  }
  // a thousandth of a step is left to those who rounded the numbers when they wrote them
  for (size_t i = 1; i < m; i++) {
    const double steps = (sorted[i] - sorted[i - 1]) / step;
    if (fabs(steps - round(steps)) > 1e-3 * (1 + steps)) {
      return 0;
    }
  }
  return step;
}

// ---- differences

// Binomial coefficients with alternating signs; returns the sum of their squares.
static double coefficients(int order, double c[YOKE_NOISE_ORDERS + 1]) {
  double squares = 1;
  c[0] = 1;

  // c_i = (-1)^i binomial(order, i)
  for (int i = 1; i <= order; i++) {
    c[i] = -c[i - 1] * (order - i + 1) / i;
    squares += c[i] * c[i];
  }
  return squares;
}

// Absolute differences of an order in units of the noise they are made of. Returns how many there are.
static size_t differences(size_t n, const double values[], int order, double d[]) {
  double c[YOKE_NOISE_ORDERS + 1];

  // white noise of sigma gives differences of sigma sqrt(sum c^2)
  const double scale = 1 / sqrt(coefficients(order, c));
  size_t m = 0;
  for (size_t i = (size_t)order; i < n; i++) {
    double sum = 0;
    for (int j = 0; j <= order; j++) {
      sum += c[j] * values[i - (size_t)j];
    }
    if (isfinite(sum)) {
      d[m++] = fabs(sum) * scale;
    }
  }
  return m;
}

// Neighbours share samples: variance of the mean square is 2 / n sum of rho^2 over all distances, rho the correlation of
// differences.
static double shared(int order) {
  double c[YOKE_NOISE_ORDERS + 1];
  const double squares = coefficients(order, c);
  double sum = 0;
  for (int lag = -order; lag <= order; lag++) {
    double rho = 0;
    for (int j = 0; j <= order; j++) {
      // rho(lag) = sum c_j c_(j + lag) / sum c^2
      rho += j + lag >= 0 && j + lag <= order ? c[j] * c[j + lag] / squares : 0;
    }
    sum += rho * rho;
  }
  return sum;
}

static yoke_noise_level level_of_order(size_t n, const double values[], int order, double d[]) {
  yoke_noise_level level = {.order = order};
  const size_t m = differences(n, values, order, d);
  if (m < FEWEST) {
    return level;
  }
  qsort(d, m, sizeof *d, compare);
  // of a record that mostly rests the median is 0: then all count
  // median and not mean square: jumps of the signal are outliers of the difference
  const double robust = MAD_SIGMA * median_of_sorted(m, d);
  const double limit = robust > 0 ? OUTLIER * robust : (double)INFINITY;
  double squares = 0;

  // sorted: those within the limit come first
  while (level.n_used < m && d[level.n_used] <= limit) {
    squares += d[level.n_used] * d[level.n_used];
    level.n_used++;
  }
  level.n_out = m - level.n_used;

  // cutting at 4 sigma takes 0.1 % of the variance of normal noise away
  const double part = robust > 0 ? WITHIN : 1;
  level.sigma = sqrt(squares / ((double)level.n_used * part));

  // sd(sigma) / sigma = sqrt(shared / (2 n))
  level.sd = level.sigma * sqrt(0.5 * shared(order) / (double)level.n_used);
  return level;
}

yoke_status yoke__noise_of_record(size_t n, const double values[], yoke_noise_level* out,
                                  double work[]) {
  yoke_noise_level best = level_of_order(n, values, 1, work);
  if (best.n_used == 0) {
    return YOKE_BAD_ARG;
  }

  // differences of order k remove polynomials of degree k - 1: higher orders as long as signal is
  // left
  for (int order = 2; order <= YOKE_NOISE_ORDERS; order++) {
    const yoke_noise_level next = level_of_order(n, values, order, work);
    if (next.n_used == 0 || !(next.sigma < SMALLER * best.sigma)) {
      break;
    }
    best = next;
  }
  best.step = find_step(n, values, work);

  // at least the noise of rounding to multiples of step: step / sqrt(12)
  best.sigma = fmax(best.sigma, best.step / sqrt(12));
  *out = best;
  return YOKE_OK;
}

// ---- running

void yoke__noise_start(yoke_noise* noise, double sigma, double low, double high, double trust,
                       double memory) {
  *noise = (yoke_noise){.memory = memory,
                        .trust = trust,
                        .low = low,
                        .high = high,
                        .sigma = sigma,
                        .weight = trust,
                        .sum = trust * sigma * sigma};
}

double yoke__noise_add(yoke_noise* noise, double innovation, double sd, double sigma) {
  // e^2 = r + H P H' on average, so that e^2 - (S - r) is a sample of r; its variance goes with
  // S^2, hence the weight (r / S)^2
  const double S = sd * sd, r = sigma * sigma, w = r / S * (r / S);
  const double sample = w * (innovation * innovation - (S - r));
  if (!isfinite(sample) || !isfinite(w)) {
    return noise->sigma;
  }
  // the first samples suffer from what was believed at the start: they are forgotten sooner
  const double memory = fmin(noise->memory, noise->trust + 0.5 * (double)noise->n);

  // exponential memory of so many samples; at least 2
  const double keep = 1 - 1 / fmax(memory, 2);
  noise->sum = keep * noise->sum + sample;
  noise->weight = keep * noise->weight + w;
  noise->n++;
  const double variance = noise->sum / noise->weight;
  const double low = noise->low * noise->low, high = noise->high * noise->high;
  noise->sigma = sqrt(variance < low ? low : variance > high ? high : variance);
  return noise->sigma;
}
