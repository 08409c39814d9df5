// Is the filter what it says? The innovations of a filter whose model and noise are right are white, with the variance that the
// filter expects. Statistics over a run, per sensor (e = innovation / its standard deviation) and of all sensors together
// (NIS = sum of e^2 over the readings of a step, chi-square with as many degrees of freedom where the readings are taken one
// after another). In fixed room, no heap.
#ifndef YOKE_ESTIMATE_INNOVATION_H
#define YOKE_ESTIMATE_INNOVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_WHITE_SEGMENT 256  // samples of one periodogram

typedef struct yoke_white {  // of one sensor
  uint64_t n;                // samples that count
  double sum, sum_squares, sum_lag;  // of e, e^2, e e_before
  double before;
  uint64_t n_segments;
  size_t n_filled;
  double segment[YOKE_WHITE_SEGMENT];
  double spectrum[YOKE_WHITE_SEGMENT / 2];  // sums of |X|^2 over the segments, bins 1 .. 127
} yoke_white;

typedef struct yoke_white_report {
  uint64_t n, n_segments;
  double mean, variance;  // 0 and 1
  double flatness, flatness_expected;  // geometric over arithmetic mean of the spectrum; exp(psi(K) - ln K)
  double low_high;        // lowest eighth of the bins over the highest: 1; above: coloured at low frequencies, Q too small
  double lag;             // correlation with the sample before
  bool is_white;          // mean, variance, flatness and low_high within their limits
} yoke_white_report;

void yoke__white_clear(yoke_white* w);
// A sample; one that is not finite (no reading) breaks the segment that is being filled.
void yoke__white_add(yoke_white* w, double e);
yoke_white_report yoke__white_report_of(const yoke_white* w);

// Probability of a chi-square variable with k degrees of freedom to be below x, and the x of a probability.
double yoke__chi_square_below(double x, double k);
double yoke__chi_square_quantile(double probability, double k);

typedef enum yoke_twin_verdict {
  YOKE_TWIN_STARTING,      // too few readings to say
  YOKE_TWIN_CONSISTENT,
  YOKE_TWIN_INCONSISTENT,  // the innovations are not what model and noise make them
  YOKE_TWIN_DIVERGED,
} yoke_twin_verdict;

// Running judgement of all sensors together: the mean of NIS over windows against its bounds, and the bias of each sensor.
typedef struct yoke_nis {
  uint64_t n_readings;    // since the start-up
  double sum;             // of e^2
  double window_sum;      // of the window that is being filled
  uint64_t window_n;
  uint64_t n_windows, n_high, n_low;  // beyond the bounds of 99.9 %
  double last_mean;       // of e^2 in the last full window
} yoke_nis;

#endif
