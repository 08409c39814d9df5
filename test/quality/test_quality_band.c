// Error bands from two companions: golden numbers, missing companions, scale, settled tails, signals at rest, and the band
// over time against a slow twin.
#include "quality/quality_band.h"

#include "quality/trust_pair.h"
#include "support/check.h"

// One signal of three runs.
static yoke_band judge(const pair_runs* runs, size_t i) {
  yoke_band band;
  yoke__band_judge(runs->y + i, runs->a + i, runs->b + i, runs->n, PAIR, &band);
  return band;
}

// -------------------------------------------------------------------------------------------------
// golden numbers

typedef struct golden {
  double H;
  bool is_iterated;
  size_t signal;
  size_t active;
  double d, x, scale, band;
  double relative, relative_digit;  // printed with six digits: half of the last one
  double low, low_digit;
  int digits;
  double truth;  // true error relative to the movement, four places
} golden;

static const golden goldens[] = {
    // clang-format off
    {0.1,   false, 0, 36,  0.015336612,    0.0252177178,   0.289140066,  0.0383415299,  0.132605,  5e-7, 0.0610514,  5e-8, 2, 0.1003},
    {0.1,   false, 1, 32,  0.00784472581,  0.0129123661,   0.0839514801, 0.0196118145,  0.233609,  5e-7, 0.107665,   5e-7, 1, 0.1863},
    {0.02,  false, 0, 120, 0.00303310389,  0.00524677067,  0.318302913,  0.00758275973, 0.0238225, 5e-8, 0.0114348,  5e-8, 2, 0.0189},
    {0.02,  false, 1, 158, 0.00131325468,  0.00226959184,  0.0789771284, 0.0032831367,  0.0415707, 5e-8, 0.0199539,  5e-8, 2, 0.0332},
    {0.005, false, 0, 477, 0.000736296798, 0.00128481044,  0.314130601,  0.00184074199, 0.0058598, 5e-8, 0.0028127,  5e-8, 3, 0.0047},
    {0.005, false, 1, 629, 0.00031821476,  0.000555129822, 0.078174213,  0.0007955369,  0.0101765, 5e-8, 0.0048847,  5e-8, 3, 0.0081},
    {0.1,   true,  0, 25,  0.00121060603,  0.00331498092,  0.330410147,  0.0039779771,  0.0120395, 5e-8, 0.00439674, 5e-9, 3, 0.0049},
    {0.1,   true,  1, 33,  0.000591202637, 0.00133048278,  0.0771667812, 0.00159657934, 0.02069,   5e-8, 0.00919363, 5e-9, 2, 0.0102},
    // clang-format on
};

// Error of the run over the active part of the truth, relative to the movement of the truth. The pair as a whole is
// x' = A x with A + 1.5 I = ((0.5, -4), (1, -0.5)), whose square is -3.75 I.
static double true_error(const pair_runs* runs, double H, size_t i) {
  double truth[1000];
  const double w = sqrt(3.75);
  assert_true(runs->n <= sizeof truth / sizeof truth[0]);
  for (size_t k = 0; k < runs->n; k++) {
    const double t = (double)k * H;
    truth[k] = exp(-1.5 * t) * (i == 0 ? cos(w * t) + 0.5 * sin(w * t) / w : sin(w * t) / w);
  }
  double run[1000];
  for (size_t k = 0; k < runs->n; k++) {
    run[k] = runs->y[PAIR * k + i];
  }
  yoke_band alone, band;
  yoke__band_judge(truth, NULL, NULL, runs->n, 1, &alone);
  yoke__band_judge(truth, run, NULL, runs->n, 1, &band);
  return band.d / alone.scale;
}

// The golden table of the specification. Quotients are printed there with fewer digits than the tolerance: they are
// checked to half of the last digit, and to 1e-8 against the quotient of the numbers before them.
static void test_TR_01_golden_bands(void** state) {
  (void)state;
  const double tolerance = 1e-8;
  for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
    const golden* g = &goldens[i];
    pair_runs runs = pair_run(&pair_golden, g->H, (size_t)lround(4.0 / g->H), g->is_iterated);
    const yoke_band band = judge(&runs, g->signal);
    print_message(
        "H = %g%s, x%zu: K = %zu, d = %.9g, x = %.9g, s = %.9g, band %.9g, relative %.6g\n", g->H,
        g->is_iterated ? " iterated" : "", g->signal + 1, band.active, band.d, band.x, band.scale,
        band.band, band.relative);
    assert_int_equal(band.active, g->active);
    check_relative(band.d, g->d, tolerance);
    check_relative(band.x, g->x, tolerance);
    check_relative(band.scale, g->scale, tolerance);
    check_relative(band.band, g->band, tolerance);
    check_near(band.relative, g->relative, g->relative_digit);
    check_relative(band.relative, g->band / g->scale, 2 * tolerance);
    check_near(band.low_relative, g->low, g->low_digit);
    check_relative(band.low_relative, fmin(1.2 * g->d, 0.7 * g->x) / g->scale, 2 * tolerance);
    assert_int_equal(band.digits, g->digits);
    assert_true(band.has_a && band.has_b && !band.is_constant && !band.is_diverged);
    const double truth = true_error(&runs, g->H, g->signal);
    check_near(truth, g->truth, 5e-5);
    assert_true(band.low_relative < truth && truth < band.relative);
    pair_free(&runs);
  }
}

// The trajectories themselves, from the table of iterated schemes: x(1).
static void test_TR_01_golden_trajectories(void** state) {
  (void)state;
  pair_runs held = pair_run(&pair_golden, 0.1, 40, false);
  pair_runs mean = pair_run(&pair_golden, 0.1, 40, true);
  check_relative(held.y[20], -0.07458742457, 1e-9);
  check_relative(held.y[21], 0.1236045821, 1e-9);
  check_relative(mean.y[20], -0.02686488552, 1e-9);
  check_relative(mean.y[21], 0.1090127431, 1e-9);
  pair_free(&held);
  pair_free(&mean);
}

// -------------------------------------------------------------------------------------------------
// missing companions

static void test_one_companion_alone(void** state) {
  (void)state;
  pair_runs runs = pair_run(&pair_golden, 0.1, 40, false);
  const yoke_band both = judge(&runs, 1);
  yoke_band a, b, none;
  yoke__band_judge(runs.y + 1, runs.a + 1, NULL, runs.n, PAIR, &a);
  yoke__band_judge(runs.y + 1, NULL, runs.b + 1, runs.n, PAIR, &b);
  yoke__band_judge(runs.y + 1, NULL, NULL, runs.n, PAIR, &none);

  assert_true(a.has_a && !a.has_b && b.has_b && !b.has_a && !none.has_a && !none.has_b);
  check_relative(a.band, 4.0 * both.d, 1e-15);
  check_relative(a.low, 1.2 * both.d, 1e-15);
  check_relative(a.band_max, 4.0 * both.d_max, 1e-15);
  check_relative(a.low_max, 1.2 * both.d_max, 1e-15);
  check_relative(a.scale, both.scale, 1e-15);
  check_relative(b.band, 3.0 * both.x, 1e-15);
  check_relative(b.low, 0.4 * both.x, 1e-15);
  check_relative(b.band_max, 3.0 * both.x_max, 1e-15);
  check_relative(b.low_max, 0.4 * both.x_max, 1e-15);
  assert_true(isnan(a.x) && isnan(b.d) && isnan(none.band) && isnan(none.relative));
  assert_true(!none.is_constant && !none.is_diverged && none.scale > 0 && !none.is_exact);
  pair_free(&runs);
}

// The scale without A is the smaller of run and B.
static void test_scale_is_the_smaller_one(void** state) {
  (void)state;
  double y[100], small[100], large[100];
  for (int k = 0; k < 100; k++) {
    y[k] = sin(0.2 * k);
    small[k] = 0.5 * y[k];
    large[k] = 2.0 * y[k];
  }
  yoke_band band, alone;
  yoke__band_judge(y, NULL, NULL, 100, 1, &alone);
  yoke__band_judge(y, small, large, 100, 1, &band);
  check_relative(band.scale, 0.5 * alone.scale, 1e-14);
  yoke__band_judge(y, large, small, 100, 1, &band);  // B does not count where there is A
  check_relative(band.scale, alone.scale, 1e-14);
  yoke__band_judge(y, NULL, small, 100, 1, &band);
  check_relative(band.scale, 0.5 * alone.scale, 1e-14);
}

// A companion that is not finite, or beyond 1e100, is as good as none.
static void test_unusable_values_of_a_companion(void** state) {
  (void)state;
  const double bad[] = {(double)NAN, (double)INFINITY, 1.0001e100, -2e200};
  pair_runs runs = pair_run(&pair_golden, 0.1, 40, false);
  const yoke_band both = judge(&runs, 0);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const double good = runs.b[PAIR * 30];
    runs.b[PAIR * 30] = bad[i];
    yoke_band band = judge(&runs, 0);
    assert_true(band.has_a && !band.has_b && !band.is_diverged);
    check_relative(band.band, 4.0 * both.d, 1e-15);
    runs.b[PAIR * 30] = good;

    const double own = runs.y[PAIR * 40];
    runs.y[PAIR * 40] = bad[i];
    band = judge(&runs, 0);
    assert_true(band.is_diverged && !band.is_constant && isinf(band.band) && isinf(band.relative));
    assert_true(band.digits == 0 && band.low == 0);
    runs.y[PAIR * 40] = own;
  }
  pair_free(&runs);
}

// -------------------------------------------------------------------------------------------------
// scale and offset

static void transform_runs(pair_runs* runs, double factor, double offset) {
  for (size_t k = 0; k < 3 * PAIR * runs->n; k++) {
    runs->y[k] = factor * runs->y[k] + offset;
  }
}

// TR-13 for the judge: all values times a factor change no relative figure.
static void test_TR_13_scale_invariance(void** state) {
  (void)state;
  const double factors[] = {1e-16, 1e16, 1e-200, 1e-300, 1e99, -1e-16};
  for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
    pair_runs runs = pair_run(&pair_golden, 0.02, 200, false);
    const yoke_band plain = judge(&runs, 1);
    transform_runs(&runs, factors[i], 0.0);
    const yoke_band band = judge(&runs, 1);
    check_relative(band.relative, plain.relative, 1e-9);
    check_relative(band.low_relative, plain.low_relative, 1e-9);
    check_relative(band.scale / fabs(factors[i]), plain.scale, 1e-9);
    check_relative(band.band_max / fabs(factors[i]), plain.band_max, 1e-9);
    assert_true(band.active == plain.active && band.at == plain.at);
    assert_int_equal(band.digits, plain.digits);
    pair_free(&runs);
  }
}

// An offset changes the digits, which count from the largest magnitude, and nothing else.
static void test_offset(void** state) {
  (void)state;
  pair_runs runs = pair_run(&pair_golden, 0.02, 200, false);
  const yoke_band plain = judge(&runs, 0);
  transform_runs(&runs, 1.0, 1e4);
  const yoke_band band = judge(&runs, 0);
  check_relative(band.relative, plain.relative, 1e-7);  // 1e4 has 1e-12 of rounding, d is 3e-3
  check_relative(band.scale, plain.scale, 1e-9);
  assert_int_equal(band.active, plain.active);
  assert_int_equal(plain.digits, 2);
  assert_int_equal(band.digits, 6);
  pair_free(&runs);
}

// -------------------------------------------------------------------------------------------------
// settled tails and rest

// TR-14 for the judge: 10, 100 and 1000 times the settling time. The pair settles to 1 % in about 4 s.
static void test_TR_14_settled_tail(void** state) {
  (void)state;
  const double H = 0.02;
  yoke_band first[PAIR];
  for (size_t times = 10; times <= 1000; times *= 10) {
    pair_runs runs = pair_run(&pair_golden, H, times * 200, false);
    for (size_t i = 0; i < PAIR; i++) {
      const yoke_band band = judge(&runs, i);
      if (times == 10) {
        first[i] = band;
      }
      assert_true(band.active < 200 && band.active == first[i].active);
      assert_int_equal(band.digits, first[i].digits);
      check_relative(band.relative, first[i].relative, 1e-12);
      check_relative(band.low_relative, first[i].low_relative, 1e-12);
      check_relative(band.band_max, first[i].band_max, 1e-12);
    }
    pair_free(&runs);
  }
}

// The active part has at least 21 samples, and never more than there are.
static void test_active_part(void** state) {
  (void)state;
  double y[60] = {0};
  yoke_band band;
  y[0] = 1.0;
  yoke__band_judge(y, NULL, NULL, 60, 1, &band);
  assert_int_equal(band.active, 21);
  yoke__band_judge(y, NULL, NULL, 12, 1, &band);
  assert_int_equal(band.active, 12);
  y[40] = 0.02;
  yoke__band_judge(y, NULL, NULL, 60, 1, &band);
  assert_int_equal(band.active, 42);
  y[40] = 0.005;  // within 1 % of the range: settled
  yoke__band_judge(y, NULL, NULL, 60, 1, &band);
  assert_int_equal(band.active, 21);
  y[59] = 1.0;  // all before the last sample is away from the end
  yoke__band_judge(y, NULL, NULL, 60, 1, &band);
  assert_int_equal(band.active, 60);
}

// TR-24 for the judge: constants, also with rounding on them.
static void test_TR_24_constants(void** state) {
  (void)state;
  double y[50], a[50], b[50];
  yoke_band band;
  for (int k = 0; k < 50; k++) {
    y[k] = a[k] = b[k] = 293.15 * (1.0 + (k % 2) * 5e-10);
  }
  yoke__band_judge(y, a, b, 50, 1, &band);
  assert_true(band.is_constant && !band.is_diverged);
  memset(y, 0, sizeof y);
  yoke__band_judge(y, y, y, 50, 1, &band);
  assert_true(band.is_constant && band.is_exact);
  yoke__band_judge(y, NULL, NULL, 50, 1, &band);
  assert_true(band.is_constant);
  yoke__band_judge(y, y, y, 0, 1, &band);  // nothing is known
  assert_true(!band.is_constant && !band.has_a && !band.has_b && isnan(band.relative));

  // a run at rest whose companion leaves late is no constant, and its error is larger than its movement
  for (int k = 0; k < 50; k++) {
    a[k] = k < 40 ? 0.0 : 1.0;
  }
  yoke__band_judge(y, a, y, 50, 1, &band);
  assert_true(!band.is_constant && !band.is_exact && band.band > 0 && isinf(band.relative));
  check_relative(band.band_max, 2.5, 1e-15);
  assert_int_equal(band.digits, 0);
  assert_int_equal(band.at, 40);
}

// A run at exactly 0 whose companion moves by rounding: at rest beside a signal that moves 1e12 times as much, by any factor.
static void test_TR_24_rounding(void** state) {
  (void)state;
  const double factors[] = {1e-200, 1e-16, 1.0, 1e16, 1e99};
  double y[50] = {0}, a[50] = {0};
  for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
    yoke_band band;
    a[49] = 1e-27 * factors[i];
    yoke__band_judge(y, a, y, 50, 1, &band);
    assert_true(!band.is_constant && band.range == 0 && band.widest == a[49]);
    yoke__band_settle(&band, 0.0);
    yoke__band_settle(&band, 0.99e-15 * factors[i]);
    assert_false(band.is_constant);
    yoke__band_settle(&band, 1.01e-15 * factors[i]);
    assert_true(band.is_constant);
  }
  // what is lost is no rounding, and of nothing nothing is known
  yoke_band lost;
  y[10] = (double)NAN;
  yoke__band_judge(y, a, a, 50, 1, &lost);
  yoke__band_settle(&lost, (double)INFINITY);
  assert_true(!lost.is_constant && lost.is_diverged);
  yoke__band_judge(y, a, a, 0, 1, &lost);
  yoke__band_settle(&lost, 1.0);
  assert_false(lost.is_constant);
}

// -------------------------------------------------------------------------------------------------
// digits

static int digits_with(double largest, double difference) {
  double y[41], a[41];
  for (int k = 0; k < 41; k++) {
    y[k] = k % 2 == 0 ? largest : -largest;
    a[k] = y[k] + difference;
  }
  yoke_band band;
  yoke__band_judge(y, a, NULL, 41, 1, &band);
  return band.digits;
}

// The band of A alone is four times the difference: digits = 1 + floor(log10(largest / (8 difference))).
static void test_digits(void** state) {
  (void)state;
  assert_int_equal(digits_with(1.0, 1.0), 0);
  assert_int_equal(digits_with(8.1, 1.0), 1);
  assert_int_equal(digits_with(7.9, 1.0), 0);
  assert_int_equal(digits_with(81.0, 1.0), 2);
  assert_int_equal(digits_with(79.0, 1.0), 1);
  assert_int_equal(digits_with(1e-30, 1e-36), 6);
  assert_int_equal(digits_with(1.0, 5e-16), 15);
  assert_int_equal(digits_with(1.0, 0.0), 15);
  assert_int_equal(digits_with(1e99, 1e-9), 15);

  double y[30];
  for (int k = 0; k < 30; k++) {
    y[k] = k;
  }
  yoke_band band;
  yoke__band_judge(y, y, y, 30, 1, &band);
  assert_true(band.is_exact && band.band == 0 && band.relative == 0);
}

// -------------------------------------------------------------------------------------------------
// band over time

static uint64_t seed = 11;

static double uniform(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 9007199254740992.0;
}

// The largest difference within w samples, one window after the other.
static double slow_course(const double y[], const double a[], const double b[], size_t n,
                          size_t stride, size_t k) {
  const size_t N = n - 1;
  size_t w = (size_t)lround(0.05 * (double)N);
  w = w < 2 ? 2 : w;
  double largest = 0.0;
  for (size_t j = k < w ? 0 : k - w; j <= N && j <= k + w; j++) {
    const double d = a == NULL ? 0 : fabs(y[j * stride] - a[j * stride]);
    const double x = b == NULL ? 0 : fabs(y[j * stride] - b[j * stride]);
    const double c = b == NULL ? 4 * d : a == NULL ? 3 * x : fmax(2.5 * d, 1.2 * x);
    largest = fmax(largest, c);
  }
  return largest;
}

static void test_course_against_slow_twin(void** state) {
  (void)state;
  enum { MAX = 700, STRIDE = 3 };
  static double y[MAX * STRIDE], a[MAX * STRIDE], b[MAX * STRIDE], work[MAX], out[MAX];
  const size_t counts[] = {1, 2, 3, 4, 5, 6, 20, 41, 50, 51, 99, 200, 333, MAX};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const size_t n = counts[i];
    for (size_t k = 0; k < n * STRIDE; k++) {
      y[k] = uniform();
      a[k] = y[k] + 0.01 * (uniform() - 0.5) * exp(0.01 * (double)k);
      // long flat parts: equal differences side by side
      b[k] = k % 50 < 30 ? y[k] : y[k] + 0.02;
    }
    const double* const as[] = {a, a, NULL};
    const double* const bs[] = {b, NULL, b};
    for (int c = 0; c < 3; c++) {
      yoke__band_course(y, as[c], bs[c], n, STRIDE, work, out);
      double largest = 0.0;
      for (size_t k = 0; k < n; k++) {
        assert_true(out[k] == slow_course(y, as[c], bs[c], n, STRIDE, k));
        largest = fmax(largest, out[k]);
      }
      // its largest value is the band of the largest error
      yoke_band band;
      yoke__band_judge(y, as[c], bs[c], n, STRIDE, &band);
      if (!band.is_constant) {
        check_relative(largest, band.band_max, 1e-15);
      }
    }
  }
}

static void test_course_of_bad_values(void** state) {
  (void)state;
  double y[100] = {0}, a[100] = {0}, work[100], out[100];
  y[50] = (double)NAN;
  yoke__band_course(y, a, a, 100, 1, work, out);
  for (size_t k = 0; k < 100; k++) {
    assert_true(k >= 45 && k <= 55 ? isinf(out[k]) : out[k] == 0.0);
  }
  yoke__band_course(a, NULL, NULL, 100, 1, work, out);
  assert_true(isnan(out[0]) && isnan(out[99]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_TR_01_golden_bands),
      cmocka_unit_test(test_TR_01_golden_trajectories),
      cmocka_unit_test(test_one_companion_alone),
      cmocka_unit_test(test_scale_is_the_smaller_one),
      cmocka_unit_test(test_unusable_values_of_a_companion),
      cmocka_unit_test(test_TR_13_scale_invariance),
      cmocka_unit_test(test_offset),
      cmocka_unit_test(test_TR_14_settled_tail),
      cmocka_unit_test(test_active_part),
      cmocka_unit_test(test_TR_24_constants),
      cmocka_unit_test(test_TR_24_rounding),
      cmocka_unit_test(test_digits),
      cmocka_unit_test(test_course_against_slow_twin),
      cmocka_unit_test(test_course_of_bad_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
