// What every test uses: cmocka plus checks that print the measured number when they fail.
#ifndef YOKE_TEST_CHECK_H
#define YOKE_TEST_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// |got - want| <= tolerance, absolute. NaN fails.
#define check_near(got, want, tolerance)                                                           \
  do {                                                                                             \
    const double check_got = (got), check_want = (want), check_tol = (tolerance);                  \
    if (!(fabs(check_got - check_want) <= check_tol)) {                                            \
      fail_msg("%s = %.17g, expected %.17g +- %.3g (off by %.3g)", #got, check_got, check_want,    \
               check_tol, check_got - check_want);                                                 \
    }                                                                                              \
  } while (0)

// |got - want| <= tolerance * |want|.
#define check_relative(got, want, tolerance)                                                       \
  do {                                                                                             \
    const double check_rgot = (got), check_rwant = (want), check_rtol = (tolerance);               \
    if (!(fabs(check_rgot - check_rwant) <= check_rtol * fabs(check_rwant))) {                     \
      fail_msg("%s = %.17g, expected %.17g (relative difference %.3g, allowed %.3g)", #got,        \
               check_rgot, check_rwant, (check_rgot - check_rwant) / check_rwant, check_rtol);     \
    }                                                                                              \
  } while (0)

#define check_between(got, low, high)                                                              \
  do {                                                                                             \
    const double check_bgot = (got), check_low = (low), check_high = (high);                       \
    if (!(check_bgot >= check_low && check_bgot <= check_high)) {                                  \
      fail_msg("%s = %.17g, expected between %.9g and %.9g", #got, check_bgot, check_low,          \
               check_high);                                                                        \
    }                                                                                              \
  } while (0)

// a negative status fails with its text
#define check_ok(expression)                                                                       \
  do {                                                                                             \
    const yoke_status check_status = (expression);                                                 \
    if (check_status < 0) {                                                                        \
      fail_msg("%s: status %d (%s)", #expression, (int)check_status,                               \
               yoke_status_text(check_status));                                                    \
    }                                                                                              \
  } while (0)

#define check_contains(text, part)                                                                 \
  do {                                                                                             \
    if (strstr((text), (part)) == NULL) {                                                          \
      fail_msg("'%s' not found in:\n%s", (part), (text));                                          \
    }                                                                                              \
  } while (0)

#endif
