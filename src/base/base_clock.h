// Exact time: every step of a system is an integer number of ticks, and time is computed from an integer,
// never summed. Steps are read as decimal numbers, so 0.1 means one tenth and not the double next to it.
#ifndef YOKE_BASE_CLOCK_H
#define YOKE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "yoke/status.h"

// mantissa * 10^exponent, mantissa without trailing zeros (0 is 0 * 10^0).
typedef struct yoke_decimal {
  int64_t mantissa;
  int exponent;
} yoke_decimal;

// Reads a decimal number ("1e-3", "-0.25", "10"). False if text is no such number or has more than 18 digits.
bool yoke__decimal_parse(const char* text, yoke_decimal* out);
// The shortest decimal that reads back as x. False for NaN and infinities.
bool yoke__decimal_from(double x, yoke_decimal* out);
double yoke__decimal_value(yoke_decimal d);

// time of tick k = start + k * num / den. Products stay exact below 2^53, so the quotient is correctly rounded.
typedef struct yoke_clock {
  double start;
  int64_t num;   // one tick is num / den seconds
  double den;    // 10^-exponent * parts
  int exponent;  // 0 or negative
  int64_t parts;
} yoke_clock;

// The largest tick of which all n durations (positive) are integer multiples; ticks[i] is duration i in ticks.
// YOKE_BAD_ARG if one is not positive, YOKE_FULL if the counts do not fit (durations more than 15 decades apart).
yoke_status yoke__clock_fit(double start, const yoke_decimal durations[], int n, yoke_clock* clock,
                            int64_t ticks[]);

// Makes ticks `parts` times shorter: what was n ticks long is n * parts then, and lasts exactly as long. YOKE_FULL if such a
// tick cannot be counted exactly; the clock is as it was then.
yoke_status yoke__clock_divide(yoke_clock* clock, int64_t parts);

static inline double yoke__clock_seconds(const yoke_clock* clock, int64_t ticks) {
  return (double)(ticks * clock->num) / clock->den;
}

static inline double yoke__clock_time(const yoke_clock* clock, int64_t ticks) {
  return clock->start + yoke__clock_seconds(clock, ticks);
}

// How many whole periods (in ticks) fit between start and stop, and whether nothing is left over; exact decimals, so
// 1000 to 1000.3 is 0.3 and not the difference of two doubles. YOKE_BAD_ARG if stop is before start, YOKE_FULL if the
// count does not fit.
yoke_status yoke__clock_count(const yoke_clock* clock, yoke_decimal start, yoke_decimal stop,
                              int64_t period, int64_t* n, bool* is_whole);

int64_t yoke__gcd(int64_t a, int64_t b);
// 0 if the least common multiple does not fit.
int64_t yoke__lcm(int64_t a, int64_t b);

#endif
