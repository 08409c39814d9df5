// Small helpers everybody needs.
#ifndef YOKE_BASE_CHECK_H
#define YOKE_BASE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A function that must stay out of those that run in every step: inlined there it would cost them registers.
#define YOKE_NOINLINE __attribute__((noinline))
// A function whose constant arguments make two of it: a short one for every step and one for all cases.
#define YOKE_INLINE inline __attribute__((always_inline))

#define YOKE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// True if x is neither NaN nor infinite; works under any compiler flags.
static inline int yoke__is_finite(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
}

// The same of n numbers.
static inline int yoke__are_finite(size_t n, const double x[]) {
  for (size_t i = 0; i < n; i++) {
    if (!yoke__is_finite(x[i])) {
      return 0;
    }
  }
  return 1;
}

// A blank or the end of a line.
static inline bool yoke__is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
