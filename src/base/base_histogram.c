// Class of a time: its leading bit and the four bits behind it.
#include "base/base_histogram.h"

static int class_of(int64_t ns) {
  if (ns < 16) {
    return ns < 0 ? 0 : (int)ns;
  }
  const int shift = 59 - __builtin_clzll((unsigned long long)ns);  // leaves 5 bits
  return 16 * (shift + 1) + (int)((ns >> shift) & 15);
}

double yoke__histogram_bound(int index) {
  if (index < 16) {
    return index;
  }
  const int shift = index / 16 - 1;
  return (double)(16 + index % 16) * (double)(INT64_C(1) << shift);
}

void yoke__histogram_add(yoke_histogram* histogram, int64_t ns) {
  histogram->min = histogram->n == 0 || ns < histogram->min ? ns : histogram->min;
  histogram->max = histogram->n == 0 || ns > histogram->max ? ns : histogram->max;
  histogram->n++;
  histogram->counts[class_of(ns)]++;
}

double yoke__histogram_quantile(const yoke_histogram* histogram, double q) {
  const double target = q * (double)histogram->n;
  double seen = 0;
  for (int i = 0; i < YOKE_HISTOGRAM_SIZE; i++) {
    seen += histogram->counts[i];
    if (histogram->counts[i] > 0 && seen >= target) {
      // the middle of the class (of its whole numbers: small ones are exact), never outside what was seen
      const double middle = (yoke__histogram_bound(i) + yoke__histogram_bound(i + 1) - 1) / 2;
      const double low = (double)histogram->min, high = (double)histogram->max;
      return middle < low ? low : middle > high ? high : middle;
    }
  }
  return 0;
}
