// Exact decimals and the tick that all steps of a system share.
#include "base/base_clock.h"

#include <math.h>
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
  *clock = (yoke_clock){start, divisor, den, exponent, 1};
  return YOKE_OK;
}

yoke_status yoke__clock_divide(yoke_clock* clock, int64_t parts) {
  if (parts < 1 || parts > MAX_COUNT) {
    return YOKE_BAD_ARG;
  }
  const int64_t common = yoke__gcd(clock->num, parts), rest = parts / common;
  const double den = clock->den * (double)rest;
  int64_t all = 0;
  // the product must be exact
  if (fma(clock->den, (double)rest, -den) != 0 ||
      __builtin_mul_overflow(clock->parts, rest, &all) || all > MAX_COUNT) {
    return YOKE_FULL;
  }
  clock->num /= common;
  clock->den = den;
  clock->parts = all;
  return YOKE_OK;
}

// 128 bits without sign, 38 digits; compilers for 32-bit machines have no such type
typedef struct wide {
  uint64_t high, low;
} wide;

static int compare(wide a, wide b) {
  if (a.high != b.high) {
    return a.high < b.high ? -1 : 1;
  }
  return a.low < b.low ? -1 : a.low > b.low;
}

// a - b for a >= b
static wide difference(wide a, wide b) {
  return (wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

// a * b, in halves of 32 bits
static wide product(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
  const uint64_t low = a0 * b0;
  const uint64_t middle = a1 * b0 + (low >> 32);
  const uint64_t other = a0 * b1 + (middle & UINT32_MAX);
  return (wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & UINT32_MAX)};
}

// d * by; false if it does not fit
static bool times(wide d, uint64_t by, wide* out) {
  const wide low = product(by, d.low);
  const wide high = product(by, d.high);
  *out = (wide){high.low + low.high, low.low};
  return high.high == 0 && high.low <= UINT64_MAX - low.high;
}

// d * 10^shift; false if it does not fit
static bool shifted(wide d, int shift, wide* out) {
  for (; shift > 0 && (d.high | d.low) != 0; shift--) {
    if (!times(d, 10, &d)) {
      return false;
    }
  }
  *out = d;
  return true;
}

// floor(a / b) bit by bit, b > 0; the rest stays in *rest
static wide quotient(wide a, wide b, wide* rest) {
  wide q = {0, 0}, r = {0, 0};
  for (int i = 0; i < 128; i++) {
    // the next bit of a comes into r, which may grow by one bit beyond its type
    const bool is_beyond = r.high >> 63 != 0;
    r = (wide){r.high << 1 | r.low >> 63, r.low << 1 | a.high >> 63};
    a = (wide){a.high << 1 | a.low >> 63, a.low << 1};
    const bool fits = is_beyond || compare(r, b) >= 0;
    r = fits ? difference(r, b) : r;
    q = (wide){q.high << 1 | q.low >> 63, q.low << 1 | fits};
  }
  *rest = r;
  return q;
}

static wide magnitude(int64_t x) {
  return (wide){0, x < 0 ? 0 - (uint64_t)x : (uint64_t)x};
}

// to - from, given by magnitude and sign; YOKE_BAD_ARG if it is negative, YOKE_FULL if it does not fit
static yoke_status span(wide from, bool is_from_negative, wide to, bool is_to_negative, wide* out) {
  if (is_from_negative && !is_to_negative) {
    const uint64_t low = from.low + to.low;
    const uint64_t carry = low < from.low;
    const uint64_t high = from.high + to.high;
    *out = (wide){high + carry, low};
    return high < from.high || high > UINT64_MAX - carry ? YOKE_FULL : YOKE_OK;
  }
  // of two negative numbers the later one is nearer to zero
  const wide more = is_to_negative ? from : to;
  const wide less = is_to_negative ? to : from;
  if ((is_to_negative && !is_from_negative) || compare(more, less) < 0) {
    return YOKE_BAD_ARG;
  }
  *out = difference(more, less);
  return YOKE_OK;
}

yoke_status yoke__clock_count(const yoke_clock* clock, yoke_decimal start, yoke_decimal stop,
                              int64_t period, int64_t* n, bool* is_whole) {
  // everything in units of the smallest power of ten at hand
  int exponent = start.exponent < stop.exponent ? start.exponent : stop.exponent;
  exponent = clock->exponent < exponent ? clock->exponent : exponent;
  wide from = {0, 0}, to = {0, 0}, length = {0, 0}, distance = {0, 0}, rest = {0, 0};
  if (!shifted(magnitude(start.mantissa), start.exponent - exponent, &from) ||
      !shifted(magnitude(stop.mantissa), stop.exponent - exponent, &to) ||
      !shifted(product((uint64_t)period, (uint64_t)clock->num), clock->exponent - exponent,
               &length)) {
    return YOKE_FULL;
  }
  YOKE_TRY(span(from, start.mantissa < 0, to, stop.mantissa < 0, &distance));
  if (!times(distance, (uint64_t)clock->parts, &distance)) {
    return YOKE_FULL;
  }
  const wide count = quotient(distance, length, &rest);
  if (count.high != 0 || count.low > INT64_MAX) {
    return YOKE_FULL;
  }
  *n = (int64_t)count.low;
  *is_whole = (rest.high | rest.low) == 0;
  return YOKE_OK;
}
