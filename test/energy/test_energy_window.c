// Sliding sums against the list of all values: bounds of what is covered, long intervals, no drift, bad values.
#include "energy/energy_window.h"

#include "support/check.h"

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

// what lies in the last `length` seconds before now of intervals that end at t[i]
static double brute_sum(int n, const double t[], const double dt[], const double v[],
                        double length) {
  const double begin = t[n - 1] - length;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double inside = fmin(dt[i], t[i] - begin);
    sum += inside > 0 ? v[i] * inside / dt[i] : 0;
  }
  return sum;
}

// positive values: the sum lies between the true sums over W and over W (1 + 1/64)
static void test_bounds(void** state) {
  (void)state;
  enum { N = 3000 };
  static double t[N], dt[N], v[N];
  static const double lengths[] = {1, 0.3, 20};
  for (int w = 0; w < 3; w++) {
    uint64_t seed = 5;
    yoke_window window;
    yoke__window_start(&window, lengths[w]);
    for (int k = 0; k < N; k++) {
      // from far below to far above the length of a part
      dt[k] = exp(-9 + 8 * uniform(&seed));
      t[k] = (k > 0 ? t[k - 1] : 0) + dt[k];
      v[k] = uniform(&seed) * dt[k];
      yoke__window_add(&window, dt[k], (double[]){v[k], 0, -v[k], dt[k]});
      const double low = brute_sum(k + 1, t, dt, v, lengths[w]);
      const double high = brute_sum(k + 1, t, dt, v, lengths[w] * 65 / 64);
      check_between(window.sums[0], low - 1e-12, high + 1e-12);
      check_near(window.sums[2], -window.sums[0], 1e-12);
      check_near(window.sums[3], fmin(t[k], window.sums[3]), 1e-12);
      assert_true(t[k] < lengths[w] || window.sums[3] >= lengths[w] - 1e-9);
      assert_true(window.sums[3] <= lengths[w] * 65 / 64 + 1e-9);
    }
  }
}

// an interval longer than the window leaves its last part
static void test_long_interval(void** state) {
  (void)state;
  yoke_window window;
  yoke__window_start(&window, 1);
  yoke__window_add(&window, 0.5, (double[]){99, 0, 0, 0});
  yoke__window_add(&window, 1000, (double[]){2000, 0, 0, 0});
  check_between(window.sums[0], 2.0 - 1e-9, 2.0 * 65 / 64 + 1e-9);
}

// exact values: after any time the sum is that of the parts, to the last bit
static void test_no_drift(void** state) {
  (void)state;
  yoke_window window;
  yoke__window_start(&window, 1);
  for (int k = 0; k < 1000000; k++) {
    yoke__window_add(&window, 1.0 / 1024, (double[]){k < 500000 ? 1e9 / 3 : 1.0 / 3, 0, 0, 0});
  }
  check_between(window.sums[0], 1024.0 / 3 - 1e-10, 1024.0 / 3 * 65 / 64 + 1e-10);
}

static void test_special_lengths(void** state) {
  (void)state;
  yoke_window all, last;
  yoke__window_start(&all, HUGE_VAL);
  yoke__window_start(&last, 0);
  for (int k = 1; k <= 1000; k++) {
    const double v[4] = {k, 1, 0, 0};
    yoke__window_add(&all, 3, v);
    yoke__window_add(&last, 3, v);
  }
  assert_true(all.sums[0] == 500500 && last.sums[0] == 1000);
}

static void test_bad_values(void** state) {
  (void)state;
  yoke_window window;
  yoke__window_start(&window, 1);
  yoke__window_add(&window, 0.1, (double[]){(double)NAN, 1, HUGE_VAL, -HUGE_VAL});
  yoke__window_add(&window, 0.1, (double[]){2, 1, 3, 4});
  yoke__window_add(&window, 0, (double[]){1, 0, 0, 0});
  check_near(window.sums[0], 3, 1e-15);
  check_near(window.sums[1], 2, 1e-15);
  check_near(window.sums[2], 3, 1e-15);
  yoke__window_add(&window, (double)NAN, (double[]){1, 0, 0, 0});
  check_near(window.sums[0], 4, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),     cmocka_unit_test(test_long_interval),
      cmocka_unit_test(test_no_drift),   cmocka_unit_test(test_special_lengths),
      cmocka_unit_test(test_bad_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
