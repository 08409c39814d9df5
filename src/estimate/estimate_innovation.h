// Is the filter what it says? The innovations of a filter whose model and noise are right are white, with the variance that the
// filter expects. Statistics per sensor (e = innovation / its standard deviation) and of all sensors together (NIS: the squares
// of all e of a step; where the readings are taken one after another these are independent, and their sum is chi-square with as
// many degrees of freedom). In fixed room, no heap.
//
// Readings that are missing are left out, and the others follow each other as if nothing had been between: the innovations of a
// right model are independent whatever is missing. So a sensor of a lower rate needs no special care.
#ifndef YOKE_ESTIMATE_INNOVATION_H
#define YOKE_ESTIMATE_INNOVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"

#define YOKE_WHITE_SEGMENT 256  // samples of one periodogram
#define YOKE_WHITE_BINS    127  // without bin 0 and the last one

// ---- statistics of one sensor

typedef struct yoke_white_sums {     // what lies between two of them is their difference
  uint64_t n, n_segments;            // samples and periodograms that count
  double sum, sum_squares, sum_lag;  // of e, e^2, e e_before
  double spectrum[YOKE_WHITE_BINS];  // of |X|^2
} yoke_white_sums;

// A full segment is transformed while the next one is being filled, a stage of the Fourier transform with each sample: no sample
// costs more than some 0.3 us, and the sensors of a twin, whose segments end in the same step, do not add up to a late step.
typedef struct yoke_white {
  yoke_white_sums sums;
  double before;      // the last sample; NaN: none
  uint32_t n_filled;  // of the segment
  uint32_t stage;     // of the transform that comes next; 0: there is none
  double segment[YOKE_WHITE_SEGMENT];
  double transform[YOKE_WHITE_SEGMENT];  // 128 complex numbers
} yoke_white;

typedef struct yoke_white_report {
  uint64_t n, n_segments;
  double mean, variance;  // 0 and 1; variance about the mean
  double lag;             // correlation with the sample before: 0
  double
      low_high;  // lowest eighth of the bins over the highest: 1; above: coloured at low frequencies, Q too small
  double flatness,
      flatness_expected;  // geometric over arithmetic mean of the spectrum; exp(psi(K) - ln K) of K segments
  bool is_white;      // all within their limits, see below
} yoke_white_report;  // NaN: too few samples

void yoke__white_clear(yoke_white* w);
// A sample; nothing happens if it is not finite (no reading). Bounded work.
void yoke__white_add(yoke_white* w, double e);
yoke_white_report yoke__white_report_of(const yoke_white* w);

// ---- limits

typedef enum yoke_statistic {
  YOKE_STATISTIC_NONE,
  YOKE_STATISTIC_MEAN,
  YOKE_STATISTIC_VARIANCE,
  YOKE_STATISTIC_LAG,
  YOKE_STATISTIC_LOW_HIGH,
  YOKE_STATISTIC_FLATNESS,
  YOKE_STATISTIC_NIS,  // mean square of e, all sensors
} yoke_statistic;

// A statistic with the limits that hold for its number of samples.
typedef struct yoke_finding {
  yoke_statistic statistic;
  size_t sensor;  // not of NIS
  double value, low, high;
  double excess;  // distance from what is expected over that of the limit: beyond it if > 1
} yoke_finding;

// The statistic of a report that is nearest to its limit or furthest beyond it. Beyond a limit is what matters (|mean| > 0.1,
// variance off by more than 10 %, |lag| > 0.1, low_high outside 0.8 .. 1.25, flatness 0.03 below what is expected) and is not
// chance: a right model goes beyond one limit with a probability of at most `chance`.
yoke_finding yoke__white_judge(const yoke_white_report* report, double chance);

// Probability of a chi-square variable with k degrees of freedom to be below x, and the x of a probability (in 0 .. 1).
double yoke__chi_square_below(double x, double k);
double yoke__chi_square_quantile(double probability, double k);
// psi(x) = d ln Gamma / dx and its derivative, x > 0.
double yoke__digamma(double x);
double yoke__trigamma(double x);

// ---- running judgement of all sensors

typedef enum yoke_twin_verdict {
  YOKE_TWIN_STARTING,  // too few readings to say
  YOKE_TWIN_CONSISTENT,
  YOKE_TWIN_INCONSISTENT,  // the innovations are not what model and noise make them
  YOKE_TWIN_DIVERGED,      // the filter says so, or innovations are ten times what it expects
} yoke_twin_verdict;

// Each sensor is judged in windows of 2^14 readings, and within a window after 2^8, 2^9, .. of them. Longer windows would see
// nothing more: there the limits are what matters, not chance. A verdict of inconsistency stays until a whole window is without.
//
// A right model is called inconsistent at any time of a run of any length with a probability of at most 1 % in all: window k, look
// and statistic get shares of it, the windows in proportion to 1 / k^2.
#define YOKE_CONSISTENCY_CHANCE     0.01
#define YOKE_CONSISTENCY_FIRST_LOOK 256
#define YOKE_CONSISTENCY_WINDOW     16384
#define YOKE_CONSISTENCY_LOST                                                                      \
  100.0  // mean square of e from which on the filter has lost what it follows

typedef struct yoke_consistency_window {
  uint64_t n_windows;      // full ones
  uint64_t look;           // samples of the window at the next look
  yoke_finding last, now;  // of the last full window and of the last look since
} yoke_consistency_window;

typedef struct yoke_consistency_sensor {
  uint64_t n_skipped;
  yoke_white white;
  yoke_white_sums start;  // at the start of the window
  yoke_consistency_window window;
} yoke_consistency_sensor;

// One block without pointers: a copy is a saved state.
typedef struct yoke_consistency {
  size_t n_sensors;
  uint64_t n_skip;  // readings of each sensor that belong to the start-up
  uint64_t n_looks, n_bad_looks;
  uint64_t n, n_start;   // of all sensors: readings, and those before the window
  double squares_start;  // e^2 of these
  yoke_consistency_window window;
  yoke_consistency_sensor sensors[];
} yoke_consistency;

size_t yoke__consistency_size(size_t n_sensors);
// NULL: out of memory, which the arena notes.
yoke_consistency* yoke__consistency_prepare(size_t n_sensors, uint64_t n_skip, yoke_arena* arena);
void yoke__consistency_clear(yoke_consistency* c);
// The normalised innovations of a step, one per sensor; not finite: no reading. Bounded work.
void yoke__consistency_add(yoke_consistency* c, const double e[]);
// why (may be NULL): what is furthest beyond its limit, or nearest to it.
yoke_twin_verdict yoke__consistency_verdict(const yoke_consistency* c, bool has_diverged,
                                            yoke_finding* why);
const char* yoke__statistic_text(yoke_statistic statistic);

#endif
