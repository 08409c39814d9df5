// Exact decimals and the tick that all steps of a system share.
#include "base/base_clock.h"

#include <stdlib.h>

#include "base/base_number.h"

#define MAX_DIGITS 18                  // fits int64_t
#define MAX_COUNT  (INT64_C(1) << 53)  // up to here every integer is a double

static yoke_decimal normalised(int64_t mantissa, int exponent) {
  while (mantissa != 0 && mantissa % 10 == 0) {
    mantissa /= 10;
    exponent++;
  }
  return (yoke_decimal){mantissa, mantissa == 0 ? 0 : exponent};
}

bool yoke__decimal_parse(const char* text, yoke_decimal* out) {
  const char* at = text;
  const bool is_negative = *at == '-';
  at += *at == '-' || *at == '+';

  // digits with at most one point; zeros in front do not count as digits
  int64_t mantissa = 0;
  int exponent = 0, n_digits = 0, n_seen = 0;
  bool has_point = false;
  for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
    if (*at == '.') {
      has_point = true;
      continue;
    }
    n_seen++;
    n_digits += n_digits > 0 || *at != '0';
    if (n_digits > MAX_DIGITS) {
      // zeros behind a point carry nothing; anything else does not fit
      if (*at != '0' || !has_point) {
        return false;
      }
      continue;
    }
    mantissa = mantissa * 10 + (*at - '0');
    exponent -= has_point;
  }
  if (n_seen == 0) {
    return false;
  }
  if (*at == 'e' || *at == 'E') {
    char* end = NULL;
    const char* digits = at + 1 + (at[1] == '-' || at[1] == '+');
    const long power = strtol(at + 1, &end, 10);
    if (*digits < '0' || *digits > '9' || power < -400 || power > 400) {
      return false;
    }
    exponent += (int)power;
    at = end;
  }
  if (*at != '\0') {
    return false;
  }
  *out = normalised(is_negative ? -mantissa : mantissa, exponent);
  return true;
}

bool yoke__decimal_from(double x, yoke_decimal* out) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format(x, text);
  return yoke__decimal_parse(text, out);
}

double yoke__decimal_value(yoke_decimal d) {
  char text[2 * YOKE_NUMBER_SIZE];
  size_t n = yoke__number_format_integer(d.mantissa, text);
  text[n++] = 'e';
  yoke__number_format_integer(d.exponent, text + n);
  double value = 0;
  return yoke__number_parse(text, &value) ? value : 0;
}

int64_t yoke__gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

int64_t yoke__lcm(int64_t a, int64_t b) {
  if (a == 0 || b == 0) {
    return 0;
  }
  const int64_t factor = a / yoke__gcd(a, b);
  int64_t product = 0;
  return __builtin_mul_overflow(factor, b, &product) ? 0 : product;
}

// d as an integer multiple of 10^exponent; false if it does not fit
static bool scaled(yoke_decimal d, int exponent, int64_t* out) {
  int64_t value = d.mantissa;
  for (int e = d.exponent; e > exponent; e--) {
    if (__builtin_mul_overflow(value, (int64_t)10, &value)) {
      return false;
    }
  }
  *out = value;
  return true;
}

yoke_status yoke__clock_fit(double start, const yoke_decimal durations[], int n, yoke_clock* clock,
                            int64_t ticks[]) {
  int exponent = 0;
  for (int i = 0; i < n; i++) {
    if (durations[i].mantissa <= 0) {
      return YOKE_BAD_ARG;
    }
    exponent = durations[i].exponent < exponent ? durations[i].exponent : exponent;
  }
  if (exponent < -22) {
    return YOKE_FULL;  // 10^22 is the largest power of ten that a double holds exactly
  }

  // all durations as integers over one power of ten; their greatest common divisor is the tick
  int64_t divisor = 0;
  for (int i = 0; i < n; i++) {
    if (!scaled(durations[i], exponent, &ticks[i]) || ticks[i] > MAX_COUNT) {
      return YOKE_FULL;
    }
    divisor = yoke__gcd(divisor, ticks[i]);
  }
  divisor = divisor == 0 ? 1 : divisor;
  for (int i = 0; i < n; i++) {
    ticks[i] /= divisor;
  }
  double den = 1;
  for (int e = exponent; e < 0; e++) {
    den *= 10;
  }
  *clock = (yoke_clock){start, divisor, den, exponent};
  return YOKE_OK;
}

__extension__ typedef __int128 wide;  // 38 digits

// d * 10^shift; false if it does not fit
static bool shifted(wide d, int shift, wide* out) {
  for (; shift > 0; shift--) {
    if (__builtin_mul_overflow(d, (wide)10, &d)) {
      return false;
    }
  }
  *out = d;
  return true;
}

yoke_status yoke__clock_count(const yoke_clock* clock, yoke_decimal start, yoke_decimal stop,
                              int64_t period, int64_t* n, bool* is_whole) {
  // everything in units of the smallest power of ten at hand
  int exponent = start.exponent < stop.exponent ? start.exponent : stop.exponent;
  exponent = clock->exponent < exponent ? clock->exponent : exponent;
  wide from = 0, to = 0, length = 0;
  if (!shifted(start.mantissa, start.exponent - exponent, &from) ||
      !shifted(stop.mantissa, stop.exponent - exponent, &to) ||
      !shifted((wide)period * clock->num, clock->exponent - exponent, &length)) {
    return YOKE_FULL;
  }
  if (to < from) {
    return YOKE_BAD_ARG;
  }
  const wide count = (to - from) / length;
  if (count > INT64_MAX) {
    return YOKE_FULL;
  }
  *n = (int64_t)count;
  *is_whole = (to - from) % length == 0;
  return YOKE_OK;
}
