// Exact time: decimals are read as written, all steps share one tick, and the time of tick k is the
// double nearest to its exact value, for any k.
#include "base/base_clock.h"

#include <float.h>

#include "base/base_check.h"
#include "support/check.h"

static yoke_decimal decimal(const char* text) {
  yoke_decimal d = {0, 0};
  if (!yoke__decimal_parse(text, &d)) {
    fail_msg("'%s' was refused", text);
  }
  return d;
}

// ---------------------------------------------------------------------------------------------------------
// decimals

static void test_decimals_are_read(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int64_t mantissa;
    int exponent;
  } cases[] = {
      {"0", 0, 0},
      {"-0", 0, 0},
      {"0.000", 0, 0},
      {"0e300", 0, 0},
      {"1", 1, 0},
      {"+1", 1, 0},
      {"10", 1, 1},
      {"1e-3", 1, -3},
      {"1E-3", 1, -3},
      {"1e+3", 1, 3},
      {"0.001", 1, -3},
      {"000.0010", 1, -3},
      {"-0.25", -25, -2},
      {".5", 5, -1},
      {"5.", 5, 0},
      {"1.50e2", 15, 1},
      {"1200", 12, 2},
      {"0.1", 1, -1},
      {"0.3333333333333333", 3333333333333333, -16},
      {"123456789012345678", 123456789012345678, 0},  // 18 digits
      {"-999999999999999999", -999999999999999999, 0},
      {"0.000000000000000000000000000123456789012345678", 123456789012345678, -45},
      {"123456789012345678.000000", 123456789012345678, 0},
      {"1.0000000000000000000000000000", 1, 0},
      {"00000000000000000000000000000001", 1, 0},
      {"1e400", 1, 400},
      {"1e-400", 1, -400},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    const yoke_decimal d = decimal(cases[i].text);
    if (d.mantissa != cases[i].mantissa || d.exponent != cases[i].exponent) {
      fail_msg("'%s' read as %lld e %d", cases[i].text, (long long)d.mantissa, d.exponent);
    }
  }
}

static void test_no_decimals_are_refused(void** state) {
  (void)state;
  static const char* const texts[] = {
      "",
      "-",
      "+",
      ".",
      "-.",
      "e5",
      ".e5",
      "1e",
      "1e+",
      "1e-",
      "1e 5",
      "1e--5",
      "1e5.0",
      " 1",
      "1 ",
      "1,5",
      "1..5",
      "1.2.3",
      "--1",
      "+-1",
      "0x10",
      "nan",
      "inf",
      "1s",
      "1e401",
      "1e-401",
      "1e99999999999999999999",
      "1e-99999999999999999999",
      "1234567890123456789",  // 19 digits
      "0.1234567890123456789",
      "1.0000000000000000001",
      "123456789012345678.000001",
      "100000000000000000000",
  };
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    yoke_decimal d;
    if (yoke__decimal_parse(texts[i], &d)) {
      fail_msg("'%s' read as %lld e %d", texts[i], (long long)d.mantissa, d.exponent);
    }
  }
}

static void test_doubles_to_decimals_and_back(void** state) {
  (void)state;
  yoke_decimal d;
  assert_true(yoke__decimal_from(0.1, &d));
  assert_true(d.mantissa == 1 && d.exponent == -1);
  assert_true(yoke__decimal_from(1e-5, &d));
  assert_true(d.mantissa == 1 && d.exponent == -5);
  assert_true(yoke__decimal_from(1.0 / 3.0, &d));
  assert_true(d.mantissa == 3333333333333333 && d.exponent == -16);
  assert_true(yoke__decimal_from(-2500, &d));
  assert_true(d.mantissa == -25 && d.exponent == 2);
  assert_false(yoke__decimal_from((double)NAN, &d));
  assert_false(yoke__decimal_from((double)INFINITY, &d));
  assert_false(yoke__decimal_from(-(double)INFINITY, &d));

  const double edges[] = {0, DBL_MIN, DBL_MAX, -DBL_MAX, 5e-324, 1e22, 9007199254740993.0};
  for (size_t i = 0; i < YOKE_COUNT(edges); i++) {
    assert_true(yoke__decimal_from(edges[i], &d));
    assert_true(yoke__decimal_value(d) == edges[i]);
  }
  uint64_t random = 3;
  for (int i = 0; i < 100000; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t bits = random ^ (random >> 29);
    double x = 0;
    memcpy(&x, &bits, sizeof x);
    if (yoke__is_finite(x)) {
      assert_true(yoke__decimal_from(x, &d));
      if (yoke__decimal_value(d) != x) {
        fail_msg("%.17g comes back as %.17g", x, yoke__decimal_value(d));
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the common tick

static yoke_status fit(const char* const texts[], int n, yoke_clock* clock, int64_t ticks[]) {
  yoke_decimal durations[8];
  for (int i = 0; i < n; i++) {
    durations[i] = decimal(texts[i]);
  }
  return yoke__clock_fit(0, durations, n, clock, ticks);
}

static void check_fit(const char* const texts[], int n, int64_t num, double den,
                      const int64_t want[]) {
  yoke_clock clock;
  int64_t ticks[8] = {0};
  check_ok(fit(texts, n, &clock, ticks));
  if (clock.num != num || clock.den != den) {
    fail_msg("%s ...: tick %lld / %g, expected %lld / %g", texts[0], (long long)clock.num,
             clock.den, (long long)num, den);
  }
  for (int i = 0; i < n; i++) {
    if (ticks[i] != want[i]) {
      fail_msg("%s is %lld ticks, expected %lld", texts[i], (long long)ticks[i],
               (long long)want[i]);
    }
    double value = strtod(texts[i], NULL);
    assert_true(yoke__clock_seconds(&clock, ticks[i]) == value);
  }
}

static void test_common_ticks(void** state) {
  (void)state;
  check_fit((const char* const[]){"1e-5", "1e-3", "1e-1"}, 3, 1, 1e5,
            (const int64_t[]){1, 100, 10000});
  check_fit((const char* const[]){"1e-3", "2.5e-4"}, 2, 25, 1e5, (const int64_t[]){4, 1});
  check_fit((const char* const[]){"0.3", "0.2"}, 2, 1, 10, (const int64_t[]){3, 2});
  check_fit((const char* const[]){"0.02", "0.06", "0.1"}, 3, 2, 100, (const int64_t[]){1, 3, 5});
  check_fit((const char* const[]){"3600", "60"}, 2, 60, 1, (const int64_t[]){60, 1});
  check_fit((const char* const[]){"1e3"}, 1, 1000, 1, (const int64_t[]){1});
  check_fit((const char* const[]){"0.1"}, 1, 1, 10, (const int64_t[]){1});
  // thirds, as written
  check_fit((const char* const[]){"0.333", "0.5"}, 2, 1, 1e3, (const int64_t[]){333, 500});
  check_fit((const char* const[]){"0.3333333333333333", "0.001"}, 2, 1, 1e16,
            (const int64_t[]){3333333333333333, 10000000000000});
  check_fit((const char* const[]){"0.3333333333333333", "0.6666666666666666"}, 2, 3333333333333333,
            1e16, (const int64_t[]){1, 2});
  // 15 decades apart
  check_fit((const char* const[]){"1", "1e-15"}, 2, 1, 1e15,
            (const int64_t[]){1000000000000000, 1});
}

static void test_durations_that_cannot_be_counted(void** state) {
  (void)state;
  static const struct {
    const char* texts[2];
    yoke_status status;
  } cases[] = {
      {{"1", "1e-16"}, YOKE_FULL},  // 10^16 is beyond 2^53
      {{"1e-16", "1"}, YOKE_FULL},
      {{"10", "1e-15"}, YOKE_FULL},
      {{"1", "1e-17"}, YOKE_FULL},
      {{"1", "1e-22"}, YOKE_FULL},
      {{"1e300", "1"}, YOKE_FULL},
      {{"1e16", "1"}, YOKE_FULL},
      {{"1", "0.33333333333333333"}, YOKE_FULL},
      {{"1e-23", "1e-23"}, YOKE_FULL},
      {{"1e-400", "1e400"}, YOKE_FULL},
      {{"9007199254740993", "1"}, YOKE_FULL},  // 2^53 + 1 is no double
      {{"0", "1"}, YOKE_BAD_ARG},
      {{"1", "-1"}, YOKE_BAD_ARG},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    yoke_clock clock;
    int64_t ticks[2];
    const yoke_status status = fit(cases[i].texts, 2, &clock, ticks);
    if (status != cases[i].status) {
      fail_msg("%s and %s: status %d, expected %d", cases[i].texts[0], cases[i].texts[1],
               (int)status, (int)cases[i].status);
    }
  }
}

// random steps: ticks times tick is the duration, in integers, and the tick is the largest such
static void test_random_durations(void** state) {
  (void)state;
  uint64_t random = 11;
  for (int trial = 0; trial < 20000; trial++) {
    yoke_decimal d[4];
    for (int i = 0; i < 4; i++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      const int64_t mantissa = 1 + (int64_t)((random >> 33) % 999);
      d[i] = (yoke_decimal){mantissa, -(int)((random >> 45) % 8)};
    }
    yoke_clock clock;
    int64_t ticks[4];
    check_ok(yoke__clock_fit(0, d, 4, &clock, ticks));
    int64_t common = 0;
    for (int i = 0; i < 4; i++) {
      // duration * den as an integer; den is a power of ten at least as fine
      const int64_t scaled = d[i].mantissa * (int64_t)llround(clock.den * pow(10, d[i].exponent));
      assert_true(ticks[i] > 0 && ticks[i] * clock.num == scaled);
      common = yoke__gcd(common, ticks[i]);
    }
    assert_int_equal(common, 1);
  }
}

// ---------------------------------------------------------------------------------------------------------
// times

// tick k of a step with `digits` decimals, as text: the C library rounds it correctly
static double time_by_text(int64_t product, int digits) {
  char text[64];
  int64_t power = 1;
  for (int i = 0; i < digits; i++) {
    power *= 10;
  }
  snprintf(text, sizeof text, "%lld.%0*lld", (long long)(product / power), digits,
           (long long)(product % power));
  return strtod(text, NULL);
}

static void test_times_are_correctly_rounded(void** state) {
  (void)state;
  static const struct {
    const char* step;
    int64_t num;
    int digits;
  } steps[] = {{"0.1", 1, 1},     {"1e-3", 1, 3},   {"1e-5", 1, 5},       {"2.5e-4", 25, 5},
               {"0.333", 333, 3}, {"7e-6", 7, 6},   {"1e-9", 1, 9},       {"1.25e-2", 125, 4},
               {"0.0001", 1, 4},  {"3e-15", 3, 15}, {"0.99999", 99999, 5}};
  uint64_t random = 5;
  for (size_t i = 0; i < YOKE_COUNT(steps); i++) {
    yoke_clock clock;
    int64_t ticks = 0;
    check_ok(fit(&steps[i].step, 1, &clock, &ticks));
    assert_true(ticks == 1 && clock.num == steps[i].num);
    const int64_t most = (INT64_C(1) << 53) / steps[i].num;
    for (int64_t n = 0; n < 20000; n++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      // the first ticks, then any up to the limit, short and long
      const int64_t k = n < 5000 ? n : (int64_t)(random >> 11) % ((most >> (n % 40)) + 1);
      const double got = yoke__clock_time(&clock, k);
      const double want = time_by_text(k * steps[i].num, steps[i].digits);
      if (got != want) {
        fail_msg("tick %lld of %s s: %.17g, expected %.17g", (long long)k, steps[i].step, got,
                 want);
      }
    }
  }
}

// summing would drift; counting does not
static void test_no_drift(void** state) {
  (void)state;
  yoke_clock clock;
  int64_t ticks = 0;
  const char* const step = "1e-5";
  check_ok(fit(&step, 1, &clock, &ticks));
  clock.start = 100;
  double sum = 100;
  for (int64_t k = 0; k < 10000000; k++) {
    sum += 1e-5;
  }
  assert_true(yoke__clock_time(&clock, 10000000) == 200);
  assert_true(fabs(sum - 200) > 1e-9);  // what is avoided
}

// ---------------------------------------------------------------------------------------------------------

static void test_gcd_and_lcm(void** state) {
  (void)state;
  assert_int_equal(yoke__gcd(12, 18), 6);
  assert_int_equal(yoke__gcd(0, 5), 5);
  assert_int_equal(yoke__gcd(5, 0), 5);
  assert_int_equal(yoke__gcd(0, 0), 0);
  assert_int_equal(yoke__gcd(-12, 18), 6);
  assert_int_equal(yoke__gcd(INT64_MAX, INT64_MAX - 1), 1);
  assert_int_equal(yoke__lcm(4, 6), 12);
  assert_int_equal(yoke__lcm(7, 7), 7);
  assert_int_equal(yoke__lcm(0, 7), 0);
  assert_int_equal(yoke__lcm(INT64_MAX, 1), INT64_MAX);
  assert_int_equal(yoke__lcm(INT64_MAX, INT64_MAX), INT64_MAX);
  assert_int_equal(yoke__lcm(INT64_C(3037000501), INT64_C(3037000500)), 0);  // beyond 2^63
  assert_int_equal(yoke__lcm(INT64_C(1) << 62, 3), 0);
  assert_int_equal(yoke__lcm(INT64_C(1) << 61, 3), (INT64_C(1) << 61) * 3);
  assert_int_equal(yoke__lcm(INT64_MAX, 2), 0);
}

// steps between two decimals: exact where the difference of doubles is not
static void test_count(void** state) {
  (void)state;
  static const struct {
    const char *start, *stop, *step;
    int64_t n;
    bool is_whole;
  } cases[] = {
      {"0", "10", "1e-3", 10000, true},
      {"1000", "1000.3", "1e-6", 300000, true},
      {"1e9", "1000000000.3", "0.1", 3, true},
      {"3600.9", "3610.3", "0.1", 94, true},
      {"86400.6", "86401", "0.2", 2, true},
      {"-0.3", "0.3", "0.1", 6, true},
      {"0", "10", "3e-3", 3333, false},
      {"0", "0.99999", "1", 0, false},
      {"0", "100000", "1e-4", 1000000000, true},
      {"-2", "-1.25", "0.25", 3, true},
      // products beyond 64 bits
      {"0", "123456789012.345678", "7e-7", INT64_C(176366841446208111), false},
      {"-1e12", "1e12", "4e-7", INT64_C(5000000000000000000), true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_decimal start, stop, step;
    assert_true(yoke__decimal_parse(cases[i].start, &start));
    assert_true(yoke__decimal_parse(cases[i].stop, &stop));
    assert_true(yoke__decimal_parse(cases[i].step, &step));
    yoke_clock clock;
    int64_t period = 0, n = -1;
    bool is_whole = false;
    check_ok(yoke__clock_fit(yoke__decimal_value(start), &step, 1, &clock, &period));
    check_ok(yoke__clock_count(&clock, start, stop, period, &n, &is_whole));
    assert_int_equal(n, cases[i].n);
    assert_int_equal(is_whole, cases[i].is_whole);
    assert_int_equal(n == 0 ? YOKE_OK
                            : yoke__clock_count(&clock, stop, start, period, &n, &is_whole),
                     n == 0 ? YOKE_OK : YOKE_BAD_ARG);
  }
}

// Parts of a step that no decimal can write: the ends of whole steps are the same doubles, and counts stay exact.
static void test_parts_of_steps(void** state) {
  (void)state;
  static const char* const steps[] = {"0.1", "1e-3", "2.5e-4", "0.333", "7e-6", "1e-9", "3"};
  static const int64_t parts[] = {1, 2, 3, 7, 10, 16, 53, 97, 200};
  for (size_t i = 0; i < YOKE_COUNT(steps); i++) {
    for (size_t p = 0; p < YOKE_COUNT(parts); p++) {
      yoke_clock whole;
      int64_t ticks = 0, n = 0;
      check_ok(fit(&steps[i], 1, &whole, &ticks));
      yoke_clock divided = whole;
      check_ok(yoke__clock_divide(&divided, parts[p]));
      for (int64_t k = 0; k < 20000; k += 1 + k / 50) {
        assert_true(yoke__clock_time(&divided, k * parts[p]) == yoke__clock_time(&whole, k));
      }
      // a part times their number is the step, to the last bit or the one before it
      const double step = yoke__clock_seconds(&whole, 1);
      const double part = yoke__clock_seconds(&divided, 1);
      assert_true(fabs(part * (double)parts[p] - step) <= 2.3e-16 * step);
      bool is_whole = false;
      const yoke_decimal zero = decimal("0"),
                         stop = {decimal(steps[i]).mantissa * 1001, decimal(steps[i]).exponent};
      check_ok(yoke__clock_count(&divided, zero, stop, 1, &n, &is_whole));
      assert_true(n == 1001 * parts[p] && is_whole);
      check_ok(yoke__clock_count(&divided, zero, stop, 2 * parts[p], &n, &is_whole));
      assert_true(n == 500 && !is_whole);
    }
  }
  // 5^22 * 3 is the last odd part that a double holds
  const char* const least = "1e-22";
  yoke_clock clock;
  int64_t ticks = 0;
  check_ok(fit(&least, 1, &clock, &ticks));
  const yoke_clock before = clock;
  assert_int_equal(yoke__clock_divide(&clock, 7), YOKE_FULL);
  assert_true(clock.den == before.den && clock.num == before.num && clock.parts == 1);
  check_ok(yoke__clock_divide(&clock, 3));
  assert_int_equal(yoke__clock_divide(&clock, 0), YOKE_BAD_ARG);
}

// more steps than can be counted, and numbers too far apart for 38 digits
static void test_counts_that_do_not_fit(void** state) {
  (void)state;
  static const struct {
    const char *start, *stop, *step;
  } cases[] = {
      {"0", "1e10", "1e-9"},  {"-5e9", "5e9", "1e-9"},   {"0", "1e30", "1e-9"},
      {"-3e29", "1", "1e-9"}, {"-2e29", "2e29", "1e-9"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_decimal start, stop, step;
    assert_true(yoke__decimal_parse(cases[i].start, &start));
    assert_true(yoke__decimal_parse(cases[i].stop, &stop));
    assert_true(yoke__decimal_parse(cases[i].step, &step));
    yoke_clock clock;
    int64_t period = 0, n = -1;
    bool is_whole = false;
    check_ok(yoke__clock_fit(yoke__decimal_value(start), &step, 1, &clock, &period));
    assert_int_equal(yoke__clock_count(&clock, start, stop, period, &n, &is_whole), YOKE_FULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_count),
      cmocka_unit_test(test_counts_that_do_not_fit),
      cmocka_unit_test(test_parts_of_steps),
      cmocka_unit_test(test_decimals_are_read),
      cmocka_unit_test(test_no_decimals_are_refused),
      cmocka_unit_test(test_doubles_to_decimals_and_back),
      cmocka_unit_test(test_common_ticks),
      cmocka_unit_test(test_durations_that_cannot_be_counted),
      cmocka_unit_test(test_random_durations),
      cmocka_unit_test(test_times_are_correctly_rounded),
      cmocka_unit_test(test_no_drift),
      cmocka_unit_test(test_gcd_and_lcm),
  };
  return cmocka_run_group_tests_name("base_clock", tests, NULL, NULL);
}
