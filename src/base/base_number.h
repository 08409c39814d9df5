// Numbers to text and back, without locale and without heap.
#ifndef YOKE_BASE_NUMBER_H
#define YOKE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_NUMBER_SIZE 32  // room that any formatted number fits in, NUL included

// The shortest digits that read back to the same double, NUL-terminated; of several the nearest to
// x. "0.001", "1500", "123456.789", "-0"; with exponent ("1e-6", "1.5e22") outside 1e-5..1e17 and
// where that saves more than four characters. NaN is "nan", infinities "inf" and "-inf". Returns
// the length.
size_t yoke__number_format(double x, char to[YOKE_NUMBER_SIZE]);
size_t yoke__number_format_integer(int64_t x, char to[YOKE_NUMBER_SIZE]);
// A number for people: two significant digits, three after a leading 1, without exponent from 1e-4 to 1e6: "0.0026", "570",
// "12.3", "1.5e-7"; "unknown", "infinite". Returns to.
const char* yoke__number_brief(double x, char to[YOKE_NUMBER_SIZE]);
// Significant digits and exponent: |x| = digits * 10^exponent, shortest, digits without trailing
// zeros; x finite and not 0.
void yoke__number_shortest(double x, uint64_t* digits, int* exponent);

// The whole text must be one number; leading and trailing white space is refused. Always '.' as
// decimal point. Correctly rounded (to nearest, ties to even). "nan", "inf" and "infinity" are read
// in any case. False also for numbers beyond the largest double; numbers too small for a double are
// 0.
bool yoke__number_parse(const char* text, double* out);
// The same with a suffix as SPICE has them, in any case: t g meg k m u n p f, mil; letters behind it
// name a unit and are passed over. "10k", "4.7uF", "1meg", "5V", "2A". Finite numbers only; 10u is
// 1e-5 to the last bit.
bool yoke__number_parse_suffix(const char* text, double* out);
// The first character behind such a number and its letters, or NULL if there is none or it is too
// large. The text need not end with NUL.
const char* yoke__number_scan_suffix(const char* at, const char* end, double* out);
// The factor of the suffix at the start of [at, end), 1 if there is none. *next is behind it.
double yoke__number_scale(const char* at, const char* end, const char** next);
// Decimal digits with an optional sign; false if the value does not fit.
bool yoke__number_parse_integer(const char* text, int64_t* out);

// Reads the longest number at the start of [text, end), which need not end with NUL. Returns the
// first character behind it, or NULL if there is no number or it is beyond the largest double.
const char* yoke__number_scan(const char* text, const char* end, double* out);

#endif
