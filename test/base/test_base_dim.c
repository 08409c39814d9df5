// Dimensions: what is understood, with which exponents and factor, and how pairs are related.
// Expected values are definitions (BIPM 2019), so tolerances are a few roundings.
#include "base/base_dim.h"
#include "support/check.h"

#define PI  3.14159265358979323846
#define EPS 4e-16  // two roundings

// exponents in the order kg m s A K mol cd rad
typedef struct known {
  const char* text;
  int8_t exponents[YOKE_DIM_N_BASES];
  double factor, offset;
} known;

// clang-format off
static const known knowns[] = {
    {"1",            { 0,  0,  0,  0,  0, 0, 0, 0}, 1, 0},
    {"-",            { 0,  0,  0,  0,  0, 0, 0, 0}, 1, 0},
    {"%",            { 0,  0,  0,  0,  0, 0, 0, 0}, 0.01, 0},
    {"ppm",          { 0,  0,  0,  0,  0, 0, 0, 0}, 1e-6, 0},
    {"kg",           { 1,  0,  0,  0,  0, 0, 0, 0}, 1, 0},
    {"N",            { 1,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"kN",           { 1,  1, -2,  0,  0, 0, 0, 0}, 1e3, 0},
    {"daN",          { 1,  1, -2,  0,  0, 0, 0, 0}, 10, 0},
    {"m/s",          { 0,  1, -1,  0,  0, 0, 0, 0}, 1, 0},
    {"m/s2",         { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m/s^2",        { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m/s**2",       { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m/s/s",        { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m.s-2",        { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m s^-2",       { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m*s^(-2)",     { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"m / s \xC2\xB2", {0, 0,  0,  0,  0, 0, 0, 0}, 0, 0},  // blank before the exponent
    {"m/s\xC2\xB2",  { 0,  1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"N.m",          { 1,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"N*m",          { 1,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"N m",          { 1,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"Nm",           { 1,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"N\xC2\xB7m",   { 1,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"N.m.s/rad",    { 1,  2, -1,  0,  0, 0, 0, -1}, 1, 0},
    {"kg.m2",        { 1,  2,  0,  0,  0, 0, 0, 0}, 1, 0},
    {"rad/s",        { 0,  0, -1,  0,  0, 0, 0, 1}, 1, 0},
    {"1/s",          { 0,  0, -1,  0,  0, 0, 0, 0}, 1, 0},
    {"Hz",           { 0,  0, -1,  0,  0, 0, 0, 1}, 2 * PI, 0},
    {"rpm",          { 0,  0, -1,  0,  0, 0, 0, 1}, 2 * PI / 60, 0},
    {"1/min",        { 0,  0, -1,  0,  0, 0, 0, 1}, 2 * PI / 60, 0},
    {"rev/min",      { 0,  0, -1,  0,  0, 0, 0, 1}, 2 * PI / 60, 0},
    {"deg",          { 0,  0,  0,  0,  0, 0, 0, 1}, PI / 180, 0},
    {"Pa",           { 1, -1, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"MPa",          { 1, -1, -2,  0,  0, 0, 0, 0}, 1e6, 0},
    {"bar",          { 1, -1, -2,  0,  0, 0, 0, 0}, 1e5, 0},
    {"m3/s",         { 0,  3, -1,  0,  0, 0, 0, 0}, 1, 0},
    {"l/min",        { 0,  3, -1,  0,  0, 0, 0, 0}, 1e-3 / 60, 0},
    {"cm3",          { 0,  3,  0,  0,  0, 0, 0, 0}, 1e-6, 0},
    {"mm",           { 0,  1,  0,  0,  0, 0, 0, 0}, 1e-3, 0},
    {"um",           { 0,  1,  0,  0,  0, 0, 0, 0}, 1e-6, 0},
    {"\xC2\xB5m",    { 0,  1,  0,  0,  0, 0, 0, 0}, 1e-6, 0},
    {"min",          { 0,  0,  1,  0,  0, 0, 0, 0}, 60, 0},
    {"ms",           { 0,  0,  1,  0,  0, 0, 0, 0}, 1e-3, 0},
    {"km/h",         { 0,  1, -1,  0,  0, 0, 0, 0}, 1 / 3.6, 0},
    {"V",            { 1,  2, -3, -1,  0, 0, 0, 0}, 1, 0},
    {"mV",           { 1,  2, -3, -1,  0, 0, 0, 0}, 1e-3, 0},
    {"A",            { 0,  0,  0,  1,  0, 0, 0, 0}, 1, 0},
    {"Ohm",          { 1,  2, -3, -2,  0, 0, 0, 0}, 1, 0},
    {"k\xCE\xA9",    { 1,  2, -3, -2,  0, 0, 0, 0}, 1e3, 0},
    {"uF",           {-1, -2,  4,  2,  0, 0, 0, 0}, 1e-6, 0},
    {"kWh",          { 1,  2, -2,  0,  0, 0, 0, 0}, 3.6e6, 0},
    {"W/K",          { 1,  2, -3,  0, -1, 0, 0, 0}, 1, 0},
    {"W/degC",       { 1,  2, -3,  0, -1, 0, 0, 0}, 1, 0},
    {"W/(m2.K)",     { 1,  0, -3,  0, -1, 0, 0, 0}, 1, 0},
    {"J/(kg.K)",     { 0,  2, -2,  0, -1, 0, 0, 0}, 1, 0},
    {"(m/s)2",       { 0,  2, -2,  0,  0, 0, 0, 0}, 1, 0},
    {"K",            { 0,  0,  0,  0,  1, 0, 0, 0}, 1, 0},
    {"degC",         { 0,  0,  0,  0,  1, 0, 0, 0}, 1, 273.15},
    {"\xC2\xB0""C",  { 0,  0,  0,  0,  1, 0, 0, 0}, 1, 273.15},
    {"degF",         { 0,  0,  0,  0,  1, 0, 0, 0}, 5.0 / 9, 459.67 * 5 / 9},
    {"mol",          { 0,  0,  0,  0,  0, 1, 0, 0}, 1, 0},
    {"cd",           { 0,  0,  0,  0,  0, 0, 1, 0}, 1, 0},
    {" m ",          { 0,  1,  0,  0,  0, 0, 0, 0}, 1, 0},
};
// clang-format on

static void test_known_texts(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
    const known* want = &knowns[i];
    yoke_dim got;
    if (yoke__dim_parse(want->text, &got) != (want->factor > 0)) {
      fail_msg("'%s': %s", want->text, want->factor > 0 ? "not understood" : "understood");
    }
    if (want->factor <= 0) {
      continue;
    }
    for (int j = 0; j < YOKE_DIM_N_BASES; j++) {
      if (got.exponents[j] != want->exponents[j]) {
        fail_msg("'%s': exponent %d is %d, expected %d", want->text, j, got.exponents[j],
                 want->exponents[j]);
      }
    }
    if (fabs(got.factor - want->factor) > EPS * want->factor || got.offset != want->offset) {
      fail_msg("'%s': %.17g x + %.17g, expected %.17g x + %.17g", want->text, got.factor,
               got.offset, want->factor, want->offset);
    }
  }
}

static void test_unknown_texts(void** state) {
  (void)state;
  static const char* const texts[] = {
      "",
      " ",
      "furlong",
      "m/",
      "/s",
      "m//s",
      ".",
      "m..s",
      "m^",
      "m^x",
      "m12",
      "m^-",
      "J/kg.K",
      "(m",
      "m)",
      "((m))",
      "()",
      "10",
      "2 m",
      "sqrt(m)",
      "mmin",
      "kdegC",
      "N-m",
      "\xFF",
      "m\xC2",
      "m\n",
      "k",
      "m9.m9.m9.m9.m9.m9.m9.m9.m9.m9.m9.m9",  // the power 108 is beyond any dimension
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    yoke_dim dim = {.num = 42};
    if (yoke__dim_parse(texts[i], &dim)) {
      fail_msg("'%s' was understood, factor %g", texts[i], dim.factor);
    }
    check_near(dim.num, 42, 0);  // left alone
  }
  yoke_dim dim;
  assert_false(yoke__dim_parse(NULL, &dim));

  // longer than any dimension
  char long_text[1000];
  memset(long_text, 'm', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  assert_false(yoke__dim_parse(long_text, &dim));
}

typedef struct pair {
  const char *from, *to;
  yoke_dim_kinship answer;
  double factor, offset;
} pair;

static const pair pairs[] = {
    {"N", "N", YOKE_DIM_SAME, 1, 0},
    {"N.m", "J", YOKE_DIM_SAME, 1, 0},
    {"W", "V.A", YOKE_DIM_SAME, 1, 0},
    {"kg.m/s2", "N", YOKE_DIM_SAME, 1, 0},
    {"N", "V", YOKE_DIM_DIFFERENT, 1, 0},
    {"m", "m/s", YOKE_DIM_DIFFERENT, 1, 0},
    {"K", "1", YOKE_DIM_DIFFERENT, 1, 0},
    {"", "N", YOKE_DIM_UNKNOWN, 1, 0},
    {"N", NULL, YOKE_DIM_UNKNOWN, 1, 0},
    {"smoot", "m", YOKE_DIM_UNKNOWN, 1, 0},
    {"mm", "m", YOKE_DIM_SCALED, 0.001, 0},
    {"m", "mm", YOKE_DIM_SCALED, 1000, 0},
    {"m/s", "km/h", YOKE_DIM_SCALED, 3.6, 0},
    {"bar", "MPa", YOKE_DIM_SCALED, 0.1, 0},
    {"%", "1", YOKE_DIM_SCALED, 0.01, 0},
    {"degC", "K", YOKE_DIM_SCALED, 1, 273.15},
    {"K", "degC", YOKE_DIM_SCALED, 1, -273.15},
    {"degC", "degC", YOKE_DIM_SAME, 1, 0},
    {"W/degC", "W/K", YOKE_DIM_SAME, 1, 0},
    // angles
    {"rad/s", "1/s", YOKE_DIM_SAME, 1, 0},
    {"N.m/rad", "N.m", YOKE_DIM_SAME, 1, 0},
    {"mrad", "1", YOKE_DIM_SCALED, 0.001, 0},
    {"deg", "rad", YOKE_DIM_SCALED, PI / 180, 0},
    {"rpm", "rad/s", YOKE_DIM_SCALED, PI / 30, 0},
    {"1/min", "rad/s", YOKE_DIM_SCALED, PI / 30, 0},
    {"rad/s", "rpm", YOKE_DIM_SCALED, 30 / PI, 0},
    {"rpm", "1/min", YOKE_DIM_SAME, 1, 0},
    {"rpm", "1/s", YOKE_DIM_SCALED, 1.0 / 60, 0},
    {"Hz", "rpm", YOKE_DIM_SCALED, 60, 0},
    {"Hz", "1/s", YOKE_DIM_SAME, 1, 0},
    {"Hz", "rad/s", YOKE_DIM_SCALED, 2 * PI, 0},
};

static void test_relations(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const pair* p = &pairs[i];
    double factor = 7, offset = 7;
    const yoke_dim_kinship answer = yoke__dim_relation(p->from, p->to, &factor, &offset);
    if (answer != p->answer || fabs(factor - p->factor) > EPS * p->factor || offset != p->offset) {
      fail_msg("%s -> %s: answer %d, %.17g x + %.17g; expected %d, %.17g x + %.17g", p->from,
               p->to == NULL ? "NULL" : p->to, (int)answer, factor, offset, (int)p->answer,
               p->factor, p->offset);
    }
  }
}

// Exact definitions must give exact decimal factors: no 3.5999999999999996.
static void test_exact_factors(void** state) {
  (void)state;
  double factor = 0;
  yoke__dim_relation("m/s", "km/h", &factor, NULL);
  check_near(factor, 3.6, 0);
  yoke__dim_relation("MPa", "bar", &factor, NULL);
  check_near(factor, 10, 0);
  yoke__dim_relation("m3/s", "l/min", &factor, NULL);
  check_near(factor, 60000, 0);
  yoke__dim_relation("uF", "nF", &factor, NULL);
  check_near(factor, 1000, 0);
}

// There and back is the identity, for every pair of known texts that converts.
static void test_round_trips(void** state) {
  (void)state;
  const size_t n = sizeof knowns / sizeof knowns[0];
  size_t n_pairs = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      double f = 0, o = 0, g = 0, p = 0;
      const yoke_dim_kinship there = yoke__dim_relation(knowns[i].text, knowns[j].text, &f, &o);
      assert_int_equal(there, yoke__dim_relation(knowns[j].text, knowns[i].text, &g, &p));
      check_relative(g * f, 1, 4 * EPS);
      check_near(g * (f * 20 + o) + p, 20, 1e-12);  // offsets of some hundred: their roundings
      n_pairs += there == YOKE_DIM_SCALED;
    }
  }
  if (n_pairs < 50) {
    fail_msg("only %zu pairs convert: the loop shows little", n_pairs);
  }
}

// degF and degC meet at -40.
static void test_temperatures(void** state) {
  (void)state;
  double factor = 0, offset = 0;
  assert_int_equal(yoke__dim_relation("degF", "degC", &factor, &offset), YOKE_DIM_SCALED);
  check_near(factor * -40 + offset, -40, 1e-12);
  check_near(factor * 212 + offset, 100, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_texts), cmocka_unit_test(test_unknown_texts),
      cmocka_unit_test(test_relations),   cmocka_unit_test(test_exact_factors),
      cmocka_unit_test(test_round_trips), cmocka_unit_test(test_temperatures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
