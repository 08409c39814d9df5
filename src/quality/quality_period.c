// memory: sums of the samples, and the direction along which deviations count.
#include "quality/quality_period.h"

#include <math.h>
#include <string.h>

size_t yoke__period_numbers(size_t n) {
  return 2 * n;
}

void yoke__period_start(yoke_period* period, size_t n, double memory[], const double action[]) {
  *period = (yoke_period){.length = YOKE_PERIOD_LEAST, .n_samples = 1};
  memset(memory, 0, yoke__period_numbers(n) * sizeof *memory);
  for (size_t i = 0; i < n; i++) {
    memory[i] = action[i] * 0 == 0 ? action[i] : 0;
  }
}

// without a call: this runs in every exchange
static double larger(double a, double b) {
  return b > a ? b : a;
}

// The deviation from the mean times the number of samples, along the axis; 0: only rounding, or not finite.
static double deviation(const yoke_period* period, size_t n, const double sums[], double axis[],
                        const double action[]) {
  double size = 0, largest = 0;
  for (size_t i = 0; i < n; i++) {
    const double change = fabs(action[i] * period->n_samples - sums[i]);
    size = larger(size, fabs(action[i]));
    largest = larger(largest, change);
  }
  if (!(largest > YOKE_ROUNDING * period->n_samples * size)) {
    return 0;
  }
  if (period->sign == 0) {
    for (size_t i = 0; i < n; i++) {
      axis[i] = (action[i] * period->n_samples - sums[i]) / largest;
    }
  }
  double along = 0;
  for (size_t i = 0; i < n; i++) {
    along += (action[i] * period->n_samples - sums[i]) * axis[i];
  }
  return along;
}

bool yoke__period_observe(yoke_period* period, double exchanges, size_t n, double memory[],
                          const double action[]) {
  double *sums = memory, *axis = memory + n;
  period->age += exchanges;
  for (size_t i = 0; i < n; i++) {
    if (!(action[i] * 0 == 0)) {
      return false;
    }
  }
  period->n_samples += 1;
  for (size_t i = 0; i < n; i++) {
    sums[i] += action[i];
  }
  const double along = deviation(period, n, sums, axis, action);
  const int sign = along > 0 ? 1 : along < 0 ? -1 : 0;
  if (sign == 0 || sign == period->sign) {
    return false;
  }
  const bool is_change = period->sign != 0;
  period->sign = sign;
  if (!is_change) {
    return false;
  }
  period->n_changes++;
  period->last = period->age;
  if (period->n_changes == 1) {
    period->first = period->age;
    return false;
  }
  const double mean = (period->last - period->first) / (period->n_changes - 1);
  const double length = fmax(YOKE_PERIOD_LEAST, 2 * mean);
  const bool is_new = length != period->length;
  period->length = length;
  return is_new;
}
