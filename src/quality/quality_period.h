// Signal period of a bond, in exchanges: how long its action takes for one swing.
//
//   T = max(20, 2 x mean distance between sign changes of B - B_mean),   B_mean: mean of all samples so far
//
// Learnt from the first 20 sign changes, then fixed; 20 exchanges before the second one. A change that is as small as
// rounding is none. Several components count along the direction in which they first moved.
// Page: docs/ledger.md, "Times".
#ifndef YOKE_QUALITY_PERIOD_H
#define YOKE_QUALITY_PERIOD_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#define YOKE_PERIOD_LEAST   20                  // [exchanges]
#define YOKE_PERIOD_CHANGES 20                  // sign changes from which it is learnt
#define YOKE_ROUNDING       (64 * DBL_EPSILON)  // a change of a sample below this share of it is rounding

typedef struct yoke_period {
  double length;       // [exchanges]
  double age;          // exchanges since the start
  double first, last;  // age at the first and at the last sign change
  double n_samples;
  int n_changes;
  int sign;  // of the deviation, 0: none yet
} yoke_period;

// Numbers of memory for n components.
size_t yoke__period_numbers(size_t n);
// The first sample. memory: yoke__period_numbers(n) numbers that live as long as the period.
void yoke__period_start(yoke_period* period, size_t n, double memory[], const double action[]);
// The sample so many exchanges later. True if the length has changed.
bool yoke__period_observe(yoke_period* period, double exchanges, size_t n, double memory[],
                          const double action[]);
static inline bool yoke__period_is_learnt(const yoke_period* period) {
  return period->n_changes >= YOKE_PERIOD_CHANGES;
}

#endif
