// Numbers to text and back: bitwise round trip, shortness and nearness against a brute-force search
// with the C library, correct rounding of halfway texts, strictness of the parser, independence of
// locale and float mode. YOKE_FULL in the environment runs millions of random patterns instead of
// 2e5.
#include "base/base_number.h"

#include <inttypes.h>
#include <locale.h>

#include "base/base_os.h"
#include "support/check.h"

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1du;
}

static size_t n_random(void) {
  return getenv("YOKE_FULL") != NULL ? 5000000 : 200000;
}

static double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t to_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void check_round_trip(double x) {
  char text[YOKE_NUMBER_SIZE];
  const size_t n = yoke__number_format(x, text);
  if (n != strlen(text) || n >= YOKE_NUMBER_SIZE - 1) {
    fail_msg("%a: length %zu of '%s'", x, n, text);
  }
  double back = 0;
  if (!yoke__number_parse(text, &back) || to_bits(back) != to_bits(x)) {
    fail_msg("%a -> '%s' -> %a", x, text, back);
  }
  if (to_bits(strtod(text, NULL)) != to_bits(x)) {
    fail_msg("%a -> '%s', which the C library reads as %a", x, text, strtod(text, NULL));
  }
}

// fewest digits that read back, by trying; the C library rounds to the nearest such text
static void check_shortest(double x) {
  uint64_t digits = 0;
  int exponent = 0;
  yoke__number_shortest(x, &digits, &exponent);
  char mine[64], best[64];
  snprintf(mine, sizeof mine, "%" PRIu64, digits);
  const int n_mine = (int)strlen(mine);
  int n_best = 1;
  for (; n_best <= 17; n_best++) {
    snprintf(best, sizeof best, "%.*e", n_best - 1, fabs(x));
    if (strtod(best, NULL) == fabs(x)) {
      break;
    }
  }

  // at the lower end of a binade the nearest n-digit text may lie outside the interval while a
  // farther one is inside, so the search above can miss a text of fewer digits, never the other way
  // round
  if (n_mine > n_best || (mine[n_mine - 1] == '0')) {
    fail_msg("%a: '%s'e%d has %d digits, '%s' has %d", x, mine, exponent, n_mine, best, n_best);
  }
  if (n_mine == n_best) {
    // equal length: the nearest text, so the same digits and exponent
    char normal[128];
    snprintf(normal, sizeof normal, "%c%s%se%+03d", mine[0], n_mine > 1 ? "." : "", mine + 1,
             exponent + n_mine - 1);
    if (strcmp(normal, best) != 0) {
      fail_msg("%a: '%s', but '%s' is nearer", x, normal, best);
    }
  }
  if (n_mine < n_best && (to_bits(x) & 0xfffffffffffffu) != 0) {
    fail_msg("%a: brute force found no text of %d digits", x, n_mine);
  }
}

static void random_patterns_round_trip(void** state) {
  (void)state;
  for (size_t i = 0; i < n_random(); i++) {
    const double x = from_bits(random_bits());
    if (isfinite(x)) {
      check_round_trip(x);
    }
  }
}

static void random_patterns_are_shortest(void** state) {
  (void)state;
  for (size_t i = 0; i < n_random() / 10; i++) {
    const double x = from_bits(random_bits());
    if (isfinite(x) && x != 0) {
      check_shortest(x);
    }
    // few digits, as people and sensors write them
    const double short_x = (double)(random_bits() % 1000000) / 1000.0;
    if (short_x != 0) {
      check_shortest(short_x);
      check_round_trip(short_x);
    }
  }
}

static void edges_round_trip_and_are_shortest(void** state) {
  (void)state;
  for (int e = -1074; e <= 1023; e++) {
    const uint64_t power = to_bits(ldexp(1, e));
    for (int step = -2; step <= 2; step++) {
      const double x = from_bits(power + (uint64_t)(int64_t)step);
      if (isfinite(x) && x > 0) {
        check_round_trip(x);
        check_shortest(x);
        check_round_trip(-x);
      }
    }
  }
  for (int e = -324; e <= 308; e++) {
    char text[16];
    snprintf(text, sizeof text, "1e%d", e);
    const uint64_t power = to_bits(strtod(text, NULL));
    for (int step = -3; step <= 3; step++) {
      const double x = from_bits(power + (uint64_t)(int64_t)step);
      if (isfinite(x) && x > 0) {
        check_round_trip(x);
        check_shortest(x);
      }
    }
  }
  // all of the smallest subnormals, random others, and the ends
  for (uint64_t bits = 1; bits < 2000; bits++) {
    check_round_trip(from_bits(bits));
    check_shortest(from_bits(bits));
  }
  for (int i = 0; i < 20000; i++) {
    const double x = from_bits(random_bits() & 0xfffffffffffffu);
    if (x > 0) {
      check_round_trip(x);
      check_shortest(x);
    }
  }
  check_round_trip(1.7976931348623157e308);
  check_round_trip(-0.0);
  check_round_trip(0.0);
}

static void text_has_the_promised_form(void** state) {
  (void)state;
  static const struct {
    double x;
    const char* text;
  } cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-1, "-1"},
      {0.1, "0.1"},
      {0.3, "0.3"},
      {0.1 + 0.2, "0.30000000000000004"},
      {0.001, "0.001"},
      {0.00001, "0.00001"},
      {0.000012345, "0.000012345"},
      {0.000001, "1e-6"},
      {1.5e-7, "1.5e-7"},
      {1500, "1500"},
      {100000, "100000"},
      {1e6, "1000000"},
      {1e7, "1e7"},
      {-2.5e10, "-2.5e10"},
      {12345678, "12345678"},
      {123456.789, "123456.789"},
      {9007199254740993.0, "9007199254740992"},
      {12345678901234567.0, "12345678901234568"},
      {123456789012345680.0, "1.2345678901234568e17"},
      {1e22, "1e22"},
      {1e23, "1e23"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e308"},
      {-1.7976931348623157e-300, "-1.7976931348623157e-300"},
      {9.5, "9.5"},
      {299792458, "299792458"},
  };
  char text[YOKE_NUMBER_SIZE];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke__number_format(cases[i].x, text);
    assert_string_equal(text, cases[i].text);
  }
  yoke__number_format((double)NAN, text);
  assert_string_equal(text, "nan");
  yoke__number_format(-HUGE_VAL, text);
  assert_string_equal(text, "-inf");
  yoke__number_format(HUGE_VAL, text);
  assert_string_equal(text, "inf");
}

static void integers_format_and_parse(void** state) {
  (void)state;
  static const int64_t cases[] = {0,     7,       -7,        10,        99,           100,
                                  12345, -100000, INT64_MAX, INT64_MIN, INT64_MIN + 1};
  char text[YOKE_NUMBER_SIZE], want[YOKE_NUMBER_SIZE];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    snprintf(want, sizeof want, "%" PRId64, cases[i]);
    assert_int_equal(yoke__number_format_integer(cases[i], text), strlen(want));
    assert_string_equal(text, want);
    int64_t back = 1;
    assert_true(yoke__number_parse_integer(text, &back));
    assert_true(back == cases[i]);
  }
  for (int i = 0; i < 10000; i++) {
    const int64_t x = (int64_t)(random_bits() >> (random_bits() % 64));
    yoke__number_format_integer(x, text);
    snprintf(want, sizeof want, "%" PRId64, x);
    assert_string_equal(text, want);
  }
  static const char* const bad[] = {"",
                                    "-",
                                    "+",
                                    " 1",
                                    "1 ",
                                    "1.0",
                                    "0x1",
                                    "1e3",
                                    "--1",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999",
                                    "nan"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int64_t value = 42;
    if (yoke__number_parse_integer(bad[i], &value) || value != 42) {
      fail_msg("'%s' was read as %" PRId64, bad[i], value);
    }
  }
  int64_t value = 0;
  assert_true(yoke__number_parse_integer("+0012", &value) && value == 12);
}

// 10u is the double nearest to 1e-5, as if it had been written so
static void suffixes_are_exponents(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double x;
  } good[] = {{"10u", 10e-6},
              {"47n", 47e-9},
              {"4.7uF", 4.7e-6},
              {"1meg", 1e6},
              {"1MEGOhm", 1e6},
              {"3M", 3e-3},
              {"2T", 2e12},
              {"-0.3G", -0.3e9},
              {"5V", 5},
              {"1e-3", 1e-3},
              {"7p", 7e-12},
              {"1f", 1e-15},
              {"2A", 2},
              {"3\xc2\xb5"
               "F",
               3e-6},
              {"+4.7k", 4700},
              {"2.5kOhm", 2500},
              {"0m", 0},
              {"12", 12}};
  static const char* const bad[] = {"",    "u",   "k1",  "1k1",    "1 k", " 1k",
                                    "1k ", "inf", "nan", "1e308t", "ten"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double value = 42;
    if (!yoke__number_parse_suffix(good[i].text, &value) || to_bits(value) != to_bits(good[i].x)) {
      fail_msg("'%s' was read as %.17g, not %.17g", good[i].text, value, good[i].x);
    }
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double value = 42;
    if (yoke__number_parse_suffix(bad[i], &value) || value != 42) {
      fail_msg("'%s' was read as %.17g", bad[i], value);
    }
  }
  // with an exponent of its own the factor is multiplied: one rounding more
  double value = 0;
  assert_true(yoke__number_parse_suffix("1e-3n", &value) && fabs(value / 1e-12 - 1) < 1e-15);
  assert_true(yoke__number_parse_suffix("2mil", &value) && fabs(value / 50.8e-6 - 1) < 1e-15);
}

static void parser_is_strict(void** state) {
  (void)state;
  static const char* const bad[] = {"",
                                    " ",
                                    " 1",
                                    "1 ",
                                    "1,5",
                                    ".",
                                    "-",
                                    "+",
                                    "e5",
                                    ".e5",
                                    "1e",
                                    "1e+",
                                    "1..2",
                                    "1.2.3",
                                    "0x10",
                                    "1f",
                                    "--1",
                                    "+-1",
                                    "nanx",
                                    "in",
                                    "infi",
                                    "1e5 ",
                                    "1\n",
                                    "1e999",
                                    "-1e400",
                                    "1_000",
                                    "nan(1)",
                                    "1e1.5",
                                    "1e99999999999999999999",
                                    "\xd9\xa1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double value = 42;
    if (yoke__number_parse(bad[i], &value) || value != 42) {
      fail_msg("'%s' was read as %g", bad[i], value);
    }
  }
  static const struct {
    const char* text;
    double x;
  } good[] = {{"1", 1},
              {"+1", 1},
              {"-1.", -1},
              {".5", 0.5},
              {"1E3", 1000},
              {"1e+3", 1000},
              {"0e999", 0},
              {"-0", -0.0},
              {"1e-999", 0},
              {"-1e-99999999999999999999", -0.0},
              {"0.00000000000000000000000000000000000000000001e44", 1},
              {"100000000000000000000000000000000000000000000e-44", 1},
              {"Infinity", HUGE_VAL},
              {"-INF", -HUGE_VAL}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double value = 42;
    if (!yoke__number_parse(good[i].text, &value) || to_bits(value) != to_bits(good[i].x)) {
      fail_msg("'%s' was read as %g", good[i].text, value);
    }
  }
  double value = 0;
  assert_true(yoke__number_parse("NaN", &value) && isnan(value));

  // a number inside other text ends where it ends
  const char* text = "12.5e3e4,7";
  assert_ptr_equal(yoke__number_scan(text, text + strlen(text), &value), text + 6);
  check_near(value, 12500, 0);
  assert_ptr_equal(yoke__number_scan(text, text + 3, &value), text + 3);
  check_near(value, 12, 0);
  assert_null(yoke__number_scan(text, text, &value));
}

static void check_like_library(const char* text) {
  double mine = 42;
  const double want = strtod(text, NULL);
  if (!yoke__number_parse(text, &mine)) {
    if (isfinite(want)) {
      fail_msg("'%.60s...' (%zu characters) was refused", text, strlen(text));
    }
  } else if (to_bits(mine) != to_bits(want)) {
    fail_msg("'%.60s...' (%zu characters): %a, correctly rounded is %a", text, strlen(text), mine,
             want);
  }
}

static void random_texts_are_correctly_rounded(void** state) {
  (void)state;
  char text[128];
  for (size_t i = 0; i < n_random(); i++) {
    const int n_digits = 1 + (int)(random_bits() % 25);
    size_t n = 0;
    for (int d = 0; d < n_digits; d++) {
      text[n++] = (char)('0' + random_bits() % 10);
      if (d == 2) {
        text[n++] = '.';
      }
    }
    snprintf(text + n, sizeof text - n, "e%d", (int)(random_bits() % 700) - 350);
    check_like_library(text);
  }
}

// The exact decimal expansion of the midpoint between x and its upper neighbour, and texts a hair
// off it.
static void halfway_texts_are_correctly_rounded(void** state) {
  (void)state;
  char text[1300];
  for (int i = 0; i < 3000; i++) {
    // long double holds the midpoint (64 bit mantissa) where its exponent range does; the C library
    // prints it exactly
    uint64_t bits = random_bits() & 0x7fffffffffffffffu;
    bits = i % 3 == 0 ? bits & 0xfffffffffffffu : bits;  // subnormals
    bits = i % 3 == 1 ? (bits & 0xfffffffffffffu) | ((uint64_t)(1000 + i % 100) << 52) : bits;
    const double x = from_bits(bits), next = from_bits(bits + 1);
    if (!isfinite(x) || !isfinite(next)) {
      continue;
    }
    const long double middle = ((long double)x + (long double)next) / 2;
    snprintf(text, sizeof text - 8, "%.1150Lf", middle);
    if (strlen(text) > 1200 || fabs(x) > 1e40) {
      snprintf(text, sizeof text - 8, "%.800Le", middle);
      check_like_library(text);
      continue;
    }
    check_like_library(text);  // tie: to even
    const size_t n = strlen(text);
    memcpy(text + n, "0001", 5);
    check_like_library(text);  // above, by a digit far behind
    text[n] = '\0';
    for (size_t d = n; d-- > 0;) {  // below: the last digit that is not 0 down by one
      if (text[d] >= '1' && text[d] <= '9') {
        text[d]--;
        break;
      }
    }
    check_like_library(text);
  }

  // integers at ties, the largest double's upper midpoint and neighbours, classic hard cases
  static const char* const hard[] = {
      "9007199254740993",
      "9007199254740993.0000000000000000000000000000001",
      "9007199254740992.9999999999999999999999999999999",
      "9007199254740995",
      "1.7976931348623158e308",
      "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
      "7587207096330286"
      "41669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
      "5730270069855571"
      "366959622842914819860834936475292719074168444365510704342711559699508093042880",
      "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
      "7587207096330286"
      "41669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
      "5730270069855571"
      "366959622842914819860834936475292719074168444365510704342711559699508093042879",
      "2.4703282292062327208e-324",
      "2.4703282292062328e-324",
      "2.2250738585072011e-308",
      "2.2250738585072012e-308",
      "6.631236871469758276785396630275672e-308",
      "3."
      "23788391330290128958835241250153217486303766942310805990129704955230197067067656578683574258"
      "7799557860615776"
      "55983828343551439108415316925268919056439645957739461803892836530514346395510035669666562920"
      "201733134403173004"
      "43693602052583458034314716600326995807313009548483639755486900107515300188817581841745696521"
      "73110473696022749934"
      "63842538062336977473656000899740406096749802838919187896396857543922220641698146269011334252"
      "40027243859416510512"
      "9355232577421208e-319",
      "8.98846567431158e307",
      "7.2057594037927933e16",
      "1e23",
      "8.5e22",
  };
  for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
    check_like_library(hard[i]);
  }
}

static void locale_and_float_mode_do_not_matter(void** state) {
  (void)state;
  // a comma locale where one is installed; without one the library still must not depend on the C
  // library's state
  static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_AT.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (setlocale(LC_ALL, names[i]) != NULL) {
      break;
    }
  }
  const uint64_t mode = yoke__os_float_mode_set();
  char text[YOKE_NUMBER_SIZE];
  double back = 0;
  yoke__number_format(1234.5, text);
  const bool is_read = yoke__number_parse("1234.5", &back) && back == 1234.5;
  const bool is_comma_read = yoke__number_parse("1234,5", &back);
  char tiny[YOKE_NUMBER_SIZE];
  yoke__number_format(from_bits(1), tiny);
  double tiny_back = 0;
  const bool is_tiny_read = yoke__number_parse("5e-324", &tiny_back);
  yoke__os_float_mode_restore(mode);
  setlocale(LC_ALL, "C");
  assert_string_equal(text, "1234.5");
  assert_true(is_read);
  assert_false(is_comma_read);
  assert_string_equal(tiny, "5e-324");
  assert_true(is_tiny_read);
  assert_true(to_bits(tiny_back) == 1);
}

static void numbers_for_people(void** state) {
  (void)state;
  const struct {
    double value;
    const char* text;
  } cases[] = {{0.0026, "0.0026"},
               {0.00254, "0.0025"},
               {570.3, "570"},
               {1234.5, "1230"},
               {12.34, "12.3"},
               {12.0, "12"},
               {0.1, "0.1"},
               {999.6, "1000"},
               {0.999, "1"},
               {123456, "123000"},
               {999999, "1e6"},
               {1.5e7, "1.5e7"},
               {2e-4, "0.0002"},
               {1.234e-5, "1.23e-5"},
               {4.56e-300, "4.6e-300"},
               {1e100, "1e100"},
               {-3e-320, "-3e-320"},
               {0, "0"},
               {-0.0026, "-0.0026"},
               {5, "5"},
               {20, "20"},
               {100, "100"},
               {1.96, "1.96"},
               {1.999, "2"},
               {0.00010049, "0.0001"}};
  char text[YOKE_NUMBER_SIZE];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_string_equal(yoke__number_brief(cases[i].value, text), cases[i].text);
  }
  assert_string_equal(yoke__number_brief((double)INFINITY, text), "infinite");
  assert_string_equal(yoke__number_brief((double)NAN, text), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_patterns_round_trip),
      cmocka_unit_test(random_patterns_are_shortest),
      cmocka_unit_test(edges_round_trip_and_are_shortest),
      cmocka_unit_test(text_has_the_promised_form),
      cmocka_unit_test(integers_format_and_parse),
      cmocka_unit_test(suffixes_are_exponents),
      cmocka_unit_test(parser_is_strict),
      cmocka_unit_test(random_texts_are_correctly_rounded),
      cmocka_unit_test(halfway_texts_are_correctly_rounded),
      cmocka_unit_test(locale_and_float_mode_do_not_matter),
      cmocka_unit_test(numbers_for_people),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
