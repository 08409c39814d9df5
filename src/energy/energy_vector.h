// Products and lengths of the short vectors of a bond. One component, the usual case, costs one operation and its
// length is exact.
#ifndef YOKE_ENERGY_VECTOR_H
#define YOKE_ENERGY_VECTOR_H

#include <math.h>
#include <stddef.h>

#include "base/base_check.h"

static inline double yoke__bond_dot(size_t n, const double a[], const double b[]) {
  double sum = n > 0 ? a[0] * b[0] : 0;
  for (size_t i = 1; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// |a - b|; b may be NULL. hypot neither overflows nor underflows on the way.
static inline double yoke__bond_distance(size_t n, const double a[], const double b[]) {
  double length = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = b == NULL ? a[i] : a[i] - b[i];
    length = i == 0 ? fabs(x) : hypot(length, x);
  }
  return length;
}

#endif
