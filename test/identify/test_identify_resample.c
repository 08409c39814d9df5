// Models for another step: exact for whole ratios (MP-11), between their neighbours otherwise.
#include "identify/identify_rls.h"
#include "support/check.h"

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// MP-11: whole ratios give what the model gives when stepped with a held input, to 1e-12
static void test_whole_ratios_MP_11(void** state) {
  (void)state;
  static const double factors[] = {0.95, -0.6, 0.0, 1.0, 0.3, -0.99};
  uint64_t seed = 31;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    for (int ratio = 1; ratio <= 100; ratio++) {
      const double a = factors[i], b[2] = {0.4, -7.0};
      double a_to = 0, b_to[2], y = random_number(&seed);
      const double u[2] = {random_number(&seed), random_number(&seed)};
      check_ok(yoke__rls_resample(a, 2, b, ratio, &a_to, b_to));
      const double long_step = a_to * y + b_to[0] * u[0] + b_to[1] * u[1];
      for (int k = 0; k < ratio; k++) {
        y = a * y + b[0] * u[0] + b[1] * u[1];
      }
      check_near(long_step, y, 1e-12 * fmax(1.0, fabs(y)));
    }
  }
}

// In between: a line from one whole ratio to the next.
static void test_ratios_between(void** state) {
  (void)state;
  const double a = -0.8, b = 0.5;
  double a_low, b_low, a_high, b_high, a_mid, b_mid;
  check_ok(yoke__rls_resample(a, 1, &b, 3, &a_low, &b_low));
  check_ok(yoke__rls_resample(a, 1, &b, 4, &a_high, &b_high));
  check_ok(yoke__rls_resample(a, 1, &b, 3.25, &a_mid, &b_mid));
  check_near(a_mid, 0.75 * a_low + 0.25 * a_high, 1e-15);
  check_near(b_mid, 0.75 * b_low + 0.25 * b_high, 1e-15);

  // quotients of decimal steps that are meant to be whole: 0.3 / 0.1 is 2.9999999999999996
  check_ok(yoke__rls_resample(a, 1, &b, 0.3 / 0.1, &a_mid, &b_mid));
  assert_true(a_mid == a_low && b_mid == b_low);
}

// A first-order lag sampled at h and at q h: the steady gain b / (1 - a) does not depend on the step.
static void test_gain_is_kept(void** state) {
  (void)state;
  const double a = exp(-0.01), b = 3 * (1 - a);
  for (int whole = 1; whole < 5000; whole *= 7) {
    const double ratio = whole;
    double a_to, b_to;
    check_ok(yoke__rls_resample(a, 1, &b, ratio, &a_to, &b_to));
    check_relative(b_to / (1 - a_to), 3.0, 1e-11);
    check_relative(a_to, exp(-0.01 * ratio), 1e-11);
  }
}

static void test_refusals(void** state) {
  (void)state;
  static const double bad[] = {0.5, 0, -1, (double)NAN, (double)INFINITY, 1e10};
  double a_to = 7, b_to = 7;
  const double b = 1;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(yoke__rls_resample(0.5, 1, &b, bad[i], &a_to, &b_to), YOKE_BAD_ARG);
  }
  assert_true(a_to == 7 && b_to == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_ratios_MP_11),
      cmocka_unit_test(test_ratios_between),
      cmocka_unit_test(test_gain_is_kept),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
