// The offline design of coupling elements: published coefficients, constraints, step response, settings that are refused.
// Numbers: HINF specification 8.5.
#include <complex.h>

#include "support/check.h"
#include "support/heard.h"
#include "synth/synth_design.h"

#define PI 3.14159265358979323846

static HEAR(err);

typedef struct published {
  yoke_synth_recipe recipe;
  double interval, step, f2, a, f_w, delay, gamma;
  double c[5];
} published;

static const published table[] = {
    {YOKE_RECIPE_T,
     0.05,
     1e-3,
     100,
     300,
     3,
     0,
     0.023387,
     {7.161006016, 97.671127733, -282.913053977, 256.193931451, -77.113011223}},
    {YOKE_RECIPE_T,
     0.02,
     1e-3,
     250,
     750,
     7.5,
     0,
     0.025146,
     {-32.355237081, 237.398613383, -468.094951596, 365.215242130, -101.163666836}},
    {YOKE_RECIPE_T,
     0.01,
     1e-3,
     500,
     1500,
     3,
     0,
     0.001204,
     {-66.174745430, 340.272039016, -577.576600719, 410.461296873, -105.981989739}},
    {YOKE_RECIPE_T,
     0.02,
     1e-4,
     250,
     750,
     3,
     0,
     0.003670,
     {204.982536949, -692.571512282, 915.865777733, -561.809435657, 134.532633256}},
    {YOKE_RECIPE_T,
     0.01,
     1e-4,
     500,
     1500,
     3,
     0,
     0.000900,
     {57.062476707, -93.571611130, -5.688344253, 75.941845832, -32.744367155}},
    {YOKE_RECIPE_L, 0.05, 1e-3, 100, 40, 3, 0, 0.178436, {3.184844719, -3.299658671, 1.114813951}},
    {YOKE_RECIPE_L, 0.02, 1e-4, 50, 40, 3, 0, 0.090567, {2.124305087, -1.670548638, 0.546243551}},
    {YOKE_RECIPE_L, 0.01, 1e-4, 50, 40, 3, 0, 0.054679, {1.738882117, -1.099702698, 0.360820581}},
    {YOKE_RECIPE_L,
     0.005,
     1e-4,
     100,
     40,
     3,
     0.01,
     0.099695,
     {2.111498491, -1.634966214, 0.523467723}},
};

static yoke_synth_design make(const yoke_synth_settings* s) {
  yoke_synth_design d;
  heard_clear(&err);
  if (yoke__synth_design(s, YOKE_SYNTH_SWEEPS, &d, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return d;
}

static yoke_synth_settings settings_of(const published* p) {
  yoke_synth_settings s = yoke__synth_settings_default(p->recipe, p->interval, p->step);
  s.band_hz = p->f_w;
  s.smoother_hz = p->f2;
  s.delay = p->delay;
  return s;
}

// The response of lead, hold and smoother at z = exp(q h), by its definition.
static double complex path_at(const yoke_synth_design* d, double complex q) {
  const yoke_synth_settings* s = &d->settings;
  const double complex z = cexp(q * s->step), at = 2 / s->step * (z - 1) / (z + 1);
  const double M = s->interval / s->step, w = 2 * PI * s->smoother_hz;
  const double complex H = (1 - cexp(-q * s->interval)) / (1 - 1 / z) / M * cexp(-q * s->delay);
  const double complex K2 = w * w / (at * at + 2 * 0.7071 * w * at + w * w);
  double complex K1 = 0, power = 1;
  for (size_t i = 0; i <= s->order; i++) {
    K1 += d->element.c[i] * power;
    power *= s->pole / (at + s->pole);
  }
  return K1 * H * K2;
}

// Value and slope at 0 by a sum over 64 points of a circle.
static void check_slope(const yoke_synth_design* d) {
  const double radius = 0.05 / d->settings.interval;
  double complex value = 0, slope = 0;
  for (int k = 0; k < 64; k++) {
    const double complex turn = cexp((double complex)I * (2 * PI * k / 64));
    value += path_at(d, radius * turn) / 64;
    slope += path_at(d, radius * turn) / (turn * radius) / 64;
  }
  check_near(creal(value), 1, 1e-9);
  check_near(creal(slope) / d->settings.interval, 0, 1e-9);
}

// HI-07
static void test_published(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const published* p = &table[i];
    const yoke_synth_settings s = settings_of(p);
    const yoke_synth_design d = make(&s);
    check_relative(s.pole, p->a, 1e-12);
    check_relative(d.gamma, p->gamma, 5e-3);
    for (size_t k = 0; k <= s.order; k++) {
      check_relative(d.element.c[k], p->c[k], 2e-3);
    }
    double misses[3];
    yoke__synth_constraints(&s, d.element.c, misses);
    check_near(misses[0], 0, 1e-9);
    check_near(misses[1], 0, 1e-9);
    check_near(misses[2], 0, 1e-9);
    check_slope(&d);
    if (s.is_transparent) {
      check_near(d.direct_gain, 1, 1e-9);
    }
  }
}

// HI-07: more sweeps move the coefficients a little, gamma hardly; it never grows
static void test_sweeps(void** state) {
  (void)state;
  const yoke_synth_settings s = settings_of(&table[4]);
  yoke_synth_design few, many;
  check_ok(yoke__synth_design(&s, 300, &few, NULL));
  check_ok(yoke__synth_design(&s, 3000, &many, NULL));
  assert_true(many.gamma <= few.gamma);
  check_relative(many.gamma, few.gamma, 5e-3);
  check_relative(many.element.c[0], few.element.c[0], 5e-3);
}

// HI-07: filters and step response of the first row
static void test_filters(void** state) {
  (void)state;
  static const double response[] = {15.633657, 23.858827, 20.133795,
                                    12.654582, 5.292462,  -0.429326};
  const yoke_synth_settings s = settings_of(&table[0]);
  const yoke_synth_design d = make(&s);
  const yoke_synth_element* e = &d.element;
  check_near(e->g, 0.130434783, 1e-9);
  check_near(e->p, 0.739130435, 1e-9);
  check_near(e->b[0], 0.0639645615, 1e-10);
  check_near(e->b[1], 0.127929123, 1e-9);
  check_near(e->b[2], 0.0639645615, 1e-10);
  check_near(e->a[0], -1.1682638932, 1e-10);
  check_near(e->a[1], 0.4241221391, 1e-10);
  check_near(yoke__synth_lead_gain(e), 15.633656775, 1e-6);
  yoke_synth_lead lead;
  yoke__synth_lead_start(e, 0, &lead);
  double y = 0;
  for (size_t k = 0; k <= 1000; k++) {
    y = yoke__synth_lead_step(e, &lead, 1);
    if (k < sizeof response / sizeof *response) {
      check_near(y, response[k], 1e-5);
    }
    if (k == 50) {
      check_near(y, 1.006518, 1e-6);
    }
  }
  check_near(y, 1, 1e-9);
}

// What is left in the base band, against the published numbers and against the definition.
static void test_response(void** state) {
  (void)state;
  static const double angles[] = {0.1, 0.2, 0.5, 1, 2, PI};
  static const double left[] = {0.0003, 0.0014, 0.0085, 0.0317, 0.0977, 0.2042};
  const yoke_synth_settings s = settings_of(&table[0]);
  const yoke_synth_design d = make(&s);
  double largest = 0;
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
    const double w = angles[i] / s.interval;
    const yoke_synth_point p = yoke__synth_response(&d, w);
    const double complex path = p.lead * p.hold * p.smoother;
    check_near(cabs(1 - path), left[i], 5.1e-5);
    check_near(cabs(path - path_at(&d, (double complex)I * w)), 0, 1e-12);
    largest = fmax(largest, cabs(p.lead));
  }
  assert_true(d.largest_gain >= largest);
  // nothing happens at frequency 0
  const yoke_synth_point zero = yoke__synth_response(&d, 0);
  check_near(cabs(zero.lead * zero.hold * zero.smoother - 1), 0, 1e-12);
}

static void test_recipes(void** state) {
  (void)state;
  yoke_synth_recipe recipe = YOKE_RECIPE_CUSTOM;
  assert_true(yoke__synth_recipe_find("T", &recipe) && recipe == YOKE_RECIPE_T);
  assert_true(yoke__synth_recipe_find("L", &recipe) && recipe == YOKE_RECIPE_L);
  assert_true(yoke__synth_recipe_find("custom", &recipe) && recipe == YOKE_RECIPE_CUSTOM);
  assert_false(yoke__synth_recipe_find("t", &recipe));
  assert_string_equal(yoke__synth_recipe_name(YOKE_RECIPE_L), "L");

  // any order that the constraints leave room for, with and without transparency; more freedom is never worse
  double before = (double)INFINITY;
  for (size_t n = 2; n <= 5; n++) {
    yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_CUSTOM, 0.05, 1e-3);
    s.smoother_hz = 60;
    s.pole = 300;
    s.order = n;
    s.is_transparent = true;
    const yoke_synth_design bound = make(&s);
    s.is_transparent = false;
    const yoke_synth_design loose = make(&s);
    assert_true(bound.gamma <= before * (1 + 1e-3) && loose.gamma <= bound.gamma * (1 + 1e-3));
    before = bound.gamma;
  }
}

static void refuse(const yoke_synth_settings* s, const char* text) {
  yoke_synth_design d;
  heard_clear(&err);
  assert_int_equal(yoke__synth_design(s, 10, &d, &err.sink), YOKE_BAD_INPUT);
  assert_int_equal(err.n, 1);
  check_contains(err.text, text);
}

#define REFUSE(change, text)                                                                       \
  do {                                                                                             \
    yoke_synth_settings s = good;                                                                  \
    s.change;                                                                                      \
    refuse(&s, text);                                                                              \
  } while (0)

static void test_refused(void** state) {
  (void)state;
  const yoke_synth_settings good = yoke__synth_settings_default(YOKE_RECIPE_T, 0.05, 1e-3);
  REFUSE(interval = 0, "expected the exchange interval Dt above 0 [s], found 0");
  REFUSE(interval = (double)NAN, "expected the exchange interval Dt above 0");
  REFUSE(step = -1, "expected the step h above 0 [s], found -1");
  REFUSE(step = 0.05, "an element needs 2 to 1000000 steps in an exchange interval");
  REFUSE(step = 1e-9, "an element needs 2 to 1000000 steps");
  REFUSE(step = 0.0011,
         "the exchange interval Dt = 0.05 s is not a multiple of the step h = 0.0011 s");
  REFUSE(smoother_hz = 0, "expected the smoother frequency f2 above 0 [Hz], found 0");
  REFUSE(pole = (double)INFINITY, "expected the pole a above 0 [rad/s], found inf");
  REFUSE(band_hz = -3, "expected the band f_w above 0 [Hz], found -3");
  REFUSE(delay = -0.01, "expected a delay of 0 or more [s], found -0.01");
  REFUSE(order = 1, "expected an order n from 2 (transparent) to 8, found 1");
  REFUSE(order = 9, "to 8, found 9");
  REFUSE(order = 3, "recipe T has the order n = 4, found 3; another one makes it custom");
  REFUSE(pole = 299, "recipe T has the pole a = 300 rad/s, found 299");
  REFUSE(smoother_hz = 99, "recipe T has the smoother frequency f2 = 5 / Dt = 100 Hz, found 99");
  REFUSE(is_transparent = false, "recipe T is transparent; the other makes it custom");
  REFUSE(recipe = YOKE_RECIPE_L, "recipe L has the pole a = 40 rad/s, found 300");

  // no element: the smoother lets nothing through at the instant, so that nothing finite makes D1 D2 = 1
  yoke_synth_settings s = good;
  s.recipe = YOKE_RECIPE_CUSTOM;
  s.smoother_hz = 1e-7;
  s.pole = 1e-6;
  refuse(&s, "no element has gain 1, slope 0 and D1 D2 = 1 with f2 = 1e-07 Hz");
}

// Times that are written as decimal fractions differ in their last bits.
static void test_last_bits(void** state) {
  (void)state;
  const yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_T, 3 * 0.1, 0.1 / 3);
  assert_true(s.interval / s.step != 9);
  (void)make(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published), cmocka_unit_test(test_sweeps),
      cmocka_unit_test(test_filters),   cmocka_unit_test(test_response),
      cmocka_unit_test(test_recipes),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_last_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
