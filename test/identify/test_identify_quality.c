// The quality of models: values by hand, invariance (MP-12), numbers that are not finite.
#include "identify/identify_jacobian.h"
#include "identify/identify_quality.h"
#include "support/check.h"

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void test_by_hand(void** state) {
  (void)state;
  double low[2], high[2];
  yoke_identify_range range = {2, low, high};
  yoke__identify_range_start(&range);
  yoke__identify_range_observe(&range, (const double[]){1, -10});
  yoke__identify_range_observe(&range, (const double[]){3, (double)NAN});
  yoke__identify_range_observe(&range, (const double[]){2, 30});
  assert_true(low[0] == 1 && high[0] == 3 && low[1] == -10 && high[1] == 30);
  // (0.5 / 2 + 4 / 40) / 2
  const double e = yoke__identify_error(&range, (const double[]){2, 30}, (const double[]){2.5, 26});
  check_near(e, 0.175, 1e-12);
  check_near(yoke__identify_error_of_all(2, (const double[]){0.3, 0.4}), 0.5, 1e-15);
  check_near(yoke__identify_error_of_all(0, NULL), 0.0, 0.0);
}

// MP-12: y -> alpha y + beta of a signal, done consistently to the model, changes e by at most 1e-9
static void test_invariance_MP_12(void** state) {
  (void)state;
  static const double maps[][2] = {{1, 0}, {1e3, 0}, {-1e-3, 0}, {1, 50}, {-20, 3}};
  double first = 0.0;
  for (size_t c = 0; c < sizeof maps / sizeof *maps; c++) {
    const double alpha = maps[c][0], beta = maps[c][1];
    // y_1 is mapped; the model of y_1' = alpha y_1 + beta has its offset as an input that is 1
    double Sy[4] = {0.8, 0.1 * alpha, -0.3 / alpha, 0.5}, S0[6] = {0};
    double S1[6] = {0.2 * alpha, 0.1 * alpha, 0.2 * beta, 0.4, -0.6, 0.3 / alpha * beta};
    const yoke_jacobian_discrete model = {2, 3, Sy, S0, S1};
    double low[2], high[2], y[2] = {0.3, -0.2}, e = 0.0;
    yoke_identify_range range = {2, low, high};
    yoke__identify_range_start(&range);
    uint64_t seed = 41;
    double u_before[3] = {0, 0, 1};
    for (int k = 0; k < 50; k++) {
      // the true system has other numbers than the model
      const double u[3] = {random_number(&seed), random_number(&seed), 1};
      const double next[2] = {0.75 * y[0] + 0.12 * y[1] + 0.25 * u[0] + 0.1 * u[1],
                              -0.25 * y[0] + 0.45 * y[1] + 0.4 * u[0] - 0.7 * u[1]};
      const double seen_before[2] = {alpha * y[0] + beta, y[1]};
      const double seen[2] = {alpha * next[0] + beta, next[1]};
      double y_bar[2];
      yoke__jacobian_predict(&model, seen_before, u_before, u, y_bar);
      yoke__identify_range_observe(&range, k == 0 ? seen_before : seen);
      yoke__identify_range_observe(&range, seen);
      e = yoke__identify_error(&range, seen, y_bar);
      memcpy(y, next, sizeof y);
      memcpy(u_before, u, sizeof u);
    }
    if (c == 0) {
      first = e;
      check_between(e, 1e-3, 0.2);
    }
    check_near(e, first, 1e-9);
  }
}

// Whatever is not finite ends as infinity, which no limit lets pass; a NaN would.
static void test_not_finite(void** state) {
  (void)state;
  double low[1], high[1];
  yoke_identify_range range = {1, low, high};
  yoke__identify_range_start(&range);
  const double one = 1, bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  assert_true(isinf(yoke__identify_error(&range, &one, &one)));  // nothing seen yet
  yoke__identify_range_observe(&range, &one);
  check_near(yoke__identify_error(&range, &one, &one), 0.0, 0.0);
  for (size_t i = 0; i < 3; i++) {
    assert_true(isinf(yoke__identify_error(&range, &one, &bad[i])));
    assert_true(isinf(yoke__identify_error(&range, &bad[i], &one)));
    const double errors[2] = {0.1, bad[i]};
    const double all = yoke__identify_error_of_all(2, errors);
    assert_true(isinf(all) && all > 0);
  }
  // a signal that never moved is measured by its size: round-off is no error, a tenth is one
  const double near = 1 + 1e-13, far = 1.1;
  assert_true(yoke__identify_error(&range, &one, &near) < 1e-12);
  check_near(yoke__identify_error(&range, &one, &far), 0.1, 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_invariance_MP_12),
      cmocka_unit_test(test_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
