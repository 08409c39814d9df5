// Compensated sums (Neumaier's form without a branch): a meter adds 3.6e7 terms per hour, and the total of a long run
// must not depend on how many small terms came before.
#ifndef YOKE_ENERGY_SUM_H
#define YOKE_ENERGY_SUM_H

typedef struct yoke_sum {
  double high, low;
} yoke_sum;

static inline void yoke__sum_add(yoke_sum* sum, double x) {
  // two-sum: high + x = s + (exact rounding error), which goes to low
  const double s = sum->high + x;
  const double part = s - sum->high;
  sum->low += (sum->high - (s - part)) + (x - part);
  sum->high = s;
}

// Two of them side by side, which compilers add at once.
typedef struct yoke_sum_pair {
  double high[2], low[2];
} yoke_sum_pair;

static inline void yoke__sum_pair_add(yoke_sum_pair* sum, double a, double b) {
  const double x[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    const double s = sum->high[i] + x[i];
    const double part = s - sum->high[i];
    sum->low[i] += (sum->high[i] - (s - part)) + (x[i] - part);
    sum->high[i] = s;
  }
}

static inline double yoke__sum_value(const yoke_sum* sum) {
  return sum->high + sum->low;
}

#endif
