// Mean of a signal over an exchange interval from the samples its source makes in between, by the trapezoidal rule:
//
//   start sample, value after step 1, 2, ... n - 1 of the source, end sample          n steps of equal length
//
// Kept as the distance from the start sample, so that the mean of a constant is exact to the last bit. Without samples in
// between it is half the change. Steps that were not reported are bridged by a straight line.
#ifndef YOKE_COUPLE_MEAN_H
#define YOKE_COUPLE_MEAN_H

#include <stdint.h>

typedef struct yoke_mean {
  double start;  // sample at the start of the interval
  double last;   // distance of the last sample from it
  double area;   // so far, in steps of the source
  int64_t j;     // steps so far
} yoke_mean;

static inline void yoke__mean_start(yoke_mean* m, double y) {
  *m = (yoke_mean){.start = y};
}

static inline void yoke__mean_add(yoke_mean* m, int64_t j, double y) {
  const double distance = y - m->start;

  // trapezoid of the distances from the start sample
  m->area += (double)(j - m->j) * (distance + m->last) / 2;
  m->last = distance;
  m->j = j;
}

// After step j of n; the last one is the end sample's business.
static inline void yoke__mean_send(yoke_mean* m, int64_t j, int64_t n, double y) {
  if (j > m->j && j < n) {
    yoke__mean_add(m, j, y);
  }
}

// Mean minus start sample; y: the end sample.
static inline double yoke__mean_end(yoke_mean* m, int64_t n, double y) {
  yoke__mean_add(m, n, y);
  return m->area / (double)n;
}

#endif
