// Models for another step: exact for whole ratios (MP-11), between their neighbours otherwise; several lags against models
// that are learnt at the new step.
#include "base/base_message.h"
#include "identify/identify_rls.h"
#include "linalg/linalg_dense.h"
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

// ---- several lags

// A unit with two states, two inputs and two outputs, sampled with held inputs: x' = A x + B u, y = C x.
static const double A[] = {0, 1, -30, -1.5}, B[] = {0, 0.4, 2, -1}, C[] = {1, 0, 0.3, 1};

// Parameters that least squares of two lags learn from 400 samples at step h; to: 2 x 6.
static void learn(double h, double to[]) {
  static _Alignas(64) unsigned char block[8192];
  const yoke_rls_setup setup = {2, 2, 2, 2, 1.0, 1e12};
  YOKE_CATCH(err);
  yoke_rls rls;
  assert_true(yoke__rls_size(&setup) <= sizeof block);
  check_ok(yoke__rls_prepare(&rls, &setup, block, &err.sink));
  double E[16] = {0}, x[2] = {1, 0}, u[2] = {0, 0};
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < 2; j++) {
      E[4 * i + j] = A[2 * i + j] * h;
      E[4 * i + 2 + j] = B[2 * i + j] * h;
    }
  }
  check_ok(yoke__expm(4, E, E));
  uint64_t seed = 8;
  for (int k = 0; k < 400; k++) {
    double y[2], z[4] = {x[0], x[1], u[0], u[1]}, next[4];
    yoke__mat_vec(2, 2, C, x, y);
    yoke__rls_update(&rls, y, u);
    u[0] = z[2] = random_number(&seed);
    u[1] = z[3] = random_number(&seed);
    yoke__mat_vec(4, 4, E, z, next);
    memcpy(x, next, sizeof x);
  }
  yoke__rls_read(&rls, to);
}

// Learnt at 0.05 s and resampled, or learnt at the new step: the same model, at longer and shorter steps, whole or not.
static void test_lags_are_those_of_the_new_step(void** state) {
  (void)state;
  static const double ratios[] = {2, 3, 10, 1.5, 2.7, 0.5, 0.3};
  double from[12];
  learn(0.05, from);
  for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
    double to[12], want[12], worst = 0, largest = 0;
    memcpy(to, from, sizeof to);
    learn(0.05 * ratios[r], want);
    for (size_t i = 0; i < 2; i++) {
      check_ok(yoke__rls_resample_lags(2, 2, to + 6 * i, to + 6 * i + 2, 2, ratios[r]));
    }
    for (size_t i = 0; i < 12; i++) {
      worst = fmax(worst, fabs(to[i] - want[i]));
      largest = fmax(largest, fabs(want[i]));
    }
    print_message("ratio %g: parameters off by %.1e of %.2g\n", ratios[r], worst, largest);
    check_between(worst / largest, 0, 1e-8);
  }
}

// A model of any lags and poles, stepped with a held input: what it gives every q samples is what the resampled one gives.
static void test_lags_stepped(void** state) {
  (void)state;
  uint64_t seed = 77;
  for (size_t n = 1; n <= YOKE_RLS_MAX_LAGS; n++) {
    for (int q = 1; q <= 5; q++) {
      double a[YOKE_RLS_MAX_LAGS], b[YOKE_RLS_MAX_LAGS], a_to[YOKE_RLS_MAX_LAGS],
          b_to[YOKE_RLS_MAX_LAGS], y[400] = {0}, u[400] = {0};
      for (size_t i = 0; i < n; i++) {
        a_to[i] = a[i] = 0.9 * random_number(&seed) / (double)n;
        b_to[i] = b[i] = random_number(&seed);
      }
      check_ok(yoke__rls_resample_lags(n, 1, a_to, b_to, n, q));
      const int first = 20 * q, last = 60 * q;
      for (int k = first; k <= last; k++) {
        u[k] = (k - 1) % q == 0 || k == first ? random_number(&seed) : u[k - 1];
        for (int i = 0; i < (int)n; i++) {
          y[k] += a[i] * y[k - 1 - i] + b[i] * u[k - i];
        }
      }
      // samples at multiples of q; the input of the interval that ends at k is u[k]
      for (int k = first + (int)n * q + q; k <= last; k += q) {
        double expected = 0;
        for (int i = 0; i < (int)n; i++) {
          expected += a_to[i] * y[k - (i + 1) * q] + b_to[i] * u[k - i * q];
        }
        check_near(expected, y[k], 1e-10);
      }
    }
  }
}

// A pole below 0 has no continuous equivalent: a line between whole ratios, and no shorter step.
static void test_lags_without_continuous_equivalent(void** state) {
  (void)state;
  // poles 0.8 and -0.5
  double at[3][4];
  static const double ratios[] = {2, 3, 2.25};
  for (size_t i = 0; i < 3; i++) {
    const double p[4] = {0.3, 0.4, 1, -0.2};
    memcpy(at[i], p, sizeof p);
    check_ok(yoke__rls_resample_lags(2, 1, at[i], at[i] + 2, 2, ratios[i]));
  }
  // the trace is linear in the matrix
  check_near(at[2][0], 0.75 * at[0][0] + 0.25 * at[1][0], 1e-14);
  double p[4] = {0.3, 0.4, 1, -0.2};
  assert_int_equal(yoke__rls_resample_lags(2, 1, p, p + 2, 2, 0.5), YOKE_NO_SUPPORT);
  assert_int_equal(yoke__rls_resample_lags(2, 1, p, p + 2, 2, 0), YOKE_BAD_ARG);
  assert_int_equal(yoke__rls_resample_lags(9, 1, p, p + 2, 2, 2), YOKE_BAD_ARG);
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
      cmocka_unit_test(test_lags_are_those_of_the_new_step),
      cmocka_unit_test(test_lags_stepped),
      cmocka_unit_test(test_lags_without_continuous_equivalent),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
