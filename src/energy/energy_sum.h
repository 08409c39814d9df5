// Compensated sums (Neumaier's form without a branch): a meter adds 3.6e7 terms per hour, and the total of a long run
// must not depend on how many small terms came before.
#ifndef YOKE_ENERGY_SUM_H
#define YOKE_ENERGY_SUM_H

typedef struct yoke_sum {
  double high, low;
} yoke_sum;

static inline void yoke__sum_add(yoke_sum* sum, double x) {
  const double s = sum->high + x;
  const double part = s - sum->high;
  sum->low += (sum->high - (s - part)) + (x - part);
  sum->high = s;
}

static inline double yoke__sum_value(const yoke_sum* sum) {
  return sum->high + sum->low;
}

#endif
