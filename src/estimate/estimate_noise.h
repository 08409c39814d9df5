// Noise of sensors when nobody has measured it: from a record, and in the running filter.
//
// From a record: differences of order p cancel a polynomial of order p - 1 in the signal and leave the noise, with the variance
// sigma^2 (2p)! / p!^2. The order goes up while that makes the noise clearly smaller, that is, while there was signal in it. Outliers
// do not count (median of the absolute differences, then their mean square within four standard deviations of it). What comes in
// steps has at least the noise of rounding, step / sqrt(12).
//
// In the filter: with an innovation v, its expected variance S = H P H' + r and the believed r, the estimate
//
//   r := sum w (v^2 - H P H') / sum w,    w = (r / S)^2
//
// is maximum likelihood by scoring (v^2 has the variance 2 S^2); old samples are forgotten.
#ifndef YOKE_ESTIMATE_NOISE_H
#define YOKE_ESTIMATE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

#define YOKE_NOISE_ORDERS 4  // largest order of differences

typedef struct yoke_noise_level {
  double sigma;
  double sd;      // of sigma, by its statistics
  double step;    // of a quantised record; 0: it is not
  int order;      // of the differences
  size_t n_used;  // differences that count
  size_t n_out;   // and outliers
} yoke_noise_level;

// values: n samples at equal distances; not finite: missing. work: 2 n doubles. YOKE_BAD_ARG: fewer than 16 differences of the
// first order.
yoke_status yoke__noise_of_record(size_t n, const double values[], yoke_noise_level* out,
                                  double work[]);

// ---- running

typedef struct yoke_noise {
  double sum, weight;    // of w (v^2 - H P H') and of w
  double memory, trust;  // in readings
  double low, high;      // bounds of sigma
  double sigma;
  uint64_t n;
} yoke_noise;

// A first guess, which counts as `trust` readings do, and its bounds. memory: readings until an old one counts 1 / e.
void yoke__noise_start(yoke_noise* noise, double sigma, double low, double high, double trust,
                       double memory);
// An innovation, the standard deviation that the filter expected of it and the sigma with which it did; NaN counts for nothing.
// Returns the sigma to go on with. Bounded work.
double yoke__noise_add(yoke_noise* noise, double innovation, double sd, double sigma);

#endif
