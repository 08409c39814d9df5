// Times in logarithmic classes: 16 per factor of two, so quantiles are good to about 5 %. Fixed size, no heap.
#ifndef YOKE_BASE_HISTOGRAM_H
#define YOKE_BASE_HISTOGRAM_H

#include <stdint.h>

#define YOKE_HISTOGRAM_SIZE (64 * 16)

typedef struct yoke_histogram {
  uint64_t n;
  int64_t min, max;
  uint32_t counts[YOKE_HISTOGRAM_SIZE];
} yoke_histogram;

// The least time of a class, which ends where the next one begins.
double yoke__histogram_bound(int index);
void yoke__histogram_add(yoke_histogram* histogram, int64_t ns);
// The value below which the fraction q of all times lies; 0 if there are none.
double yoke__histogram_quantile(const yoke_histogram* histogram, double q);

#endif
