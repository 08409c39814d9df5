// Error measures: cases whose answer is known in closed form, and every way in which a comparison
// can be impossible.
#include "base/base_message.h"
#include "quality/quality_measure.h"
#include "support/check.h"

#define PI      3.14159265358979323846
#define UNKNOWN ((double)NAN)
#define N_MANY  4000
#define SAMPLES(name, ...)                                                                         \
  static const double name##_table[][2] = __VA_ARGS__;                                             \
  double name##_t[sizeof name##_table / sizeof name##_table[0]];                                   \
  double name##_y[sizeof name##_table / sizeof name##_table[0]];                                   \
  const yoke_samples name =                                                                        \
      split(name##_table, sizeof name##_table / sizeof name##_table[0], name##_t, name##_y)

// pairs (time, value) to the form the measures take
static yoke_samples split(const double table[][2], size_t n, double t[], double y[]) {
  for (size_t i = 0; i < n; i++) {
    t[i] = table[i][0];
    y[i] = table[i][1];
  }
  return (yoke_samples){t, y, n};
}

static yoke_deviation compare(const yoke_samples* result, const yoke_samples* reference) {
  yoke_deviation d = {0};
  YOKE_CATCH(err);
  const yoke_status status = yoke__deviation_compute(result, reference, &d, &err.sink);
  if (status != YOKE_OK) {
    fail_msg("status %d: %s", (int)status, err.text);
  }
  return d;
}

static void check_refused(const yoke_samples* result, const yoke_samples* reference,
                          const char* reason) {
  yoke_deviation d = {.rmse = 42};
  YOKE_CATCH(err);
  assert_int_equal(yoke__deviation_compute(result, reference, &d, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, reason);
  check_near(d.rmse, 42, 0);  // left alone
}

static void test_equal_signals(void** state) {
  (void)state;
  SAMPLES(a, {{0, 1}, {0.5, -2}, {2, 7}});
  const yoke_deviation d = compare(&a, &a);
  assert_int_equal(d.n_points, 3);
  check_near(d.t_first, 0, 0);
  check_near(d.t_last, 2, 0);
  check_near(d.rmse, 0, 0);
  check_near(d.nrmse, 0, 0);
  check_near(d.max, 0, 0);
  check_near(d.end, 0, 0);
  check_near(d.scale, 9, 0);
}

// differences 3 and -4: rmse sqrt(25/2), the range of the reference is 10
static void test_known_numbers(void** state) {
  (void)state;
  SAMPLES(result, {{0, 3}, {1, 6}});
  SAMPLES(reference, {{0, 0}, {1, 10}});
  const yoke_deviation d = compare(&result, &reference);
  check_relative(d.rmse, sqrt(12.5), 4e-16);
  check_relative(d.nrmse, sqrt(12.5) / 10, 4e-16);
  check_near(d.max, 4, 0);
  check_near(d.t_max, 1, 0);
  check_near(d.end, -4, 0);
  check_near(d.end_result, 6, 0);
  check_near(d.end_reference, 10, 0);
  check_near(yoke__measure_value(&d, YOKE_MEASURE_END), 4, 0);
  check_near(yoke__measure_value(&d, YOKE_MEASURE_MAX), 4, 0);
  check_near(yoke__measure_value(&d, YOKE_MEASURE_RMSE), d.rmse, 0);
  check_near(yoke__measure_value(&d, YOKE_MEASURE_NRMSE), d.nrmse, 0);
  assert_string_equal(yoke__measure_name(YOKE_MEASURE_NRMSE), "nrmse");
  assert_string_equal(yoke__measure_name(YOKE_MEASURE_END), "end");
}

// sin + 0.1 cos against sin over whole periods: the mean of cos^2 on an even grid is 1/2 exactly
static void test_sine(void** state) {
  (void)state;
  static double t[N_MANY], y[N_MANY], r[N_MANY];
  for (int i = 0; i < N_MANY; i++) {
    t[i] = 3 * 2 * PI * i / N_MANY;
    r[i] = sin(t[i]);
    y[i] = r[i] + 0.1 * cos(t[i]);
  }
  const yoke_samples result = {t, y, N_MANY}, reference = {t, r, N_MANY};
  const yoke_deviation d = compare(&result, &reference);
  // 4000 roundings of the sum, each of half an ulp
  check_relative(d.rmse, 0.1 / sqrt(2), N_MANY * 1.2e-16);
  check_relative(d.scale, 2,
                 1e-5);  // the grid misses the peak by at most half a step: 1 - cos(0.0024)
  check_near(d.max, 0.1, 1e-15);
  check_near(d.t_max, 0, 0);
}

// A straight line is interpolated exactly, whatever the grids.
static void test_line_on_other_grid(void** state) {
  (void)state;
  SAMPLES(result, {{0.25, 0.5}, {0.5, 1}, {1.75, 3.5}, {2, 4}});
  SAMPLES(reference, {{0, 0}, {1, 2}, {3, 6}});
  const yoke_deviation d = compare(&result, &reference);
  assert_int_equal(d.n_points, 4);
  check_near(d.max, 0, 0);
  check_near(d.t_first, 0.25, 0);
  check_near(d.t_last, 2, 0);
  // the range is that of the polygon on [0.25, 2], not of the reference's samples
  check_near(d.scale, 3.5, 0);
}

// The parabola t^2 at the middle between two samples is off by exactly h^2/4: second order.
static void test_interpolation_order(void** state) {
  (void)state;
  double coarse = 0;
  for (int level = 3; level <= 7; level++) {
    const int n = 1 << level;
    const double h = 1.0 / n;
    double rt[129], ry[129], t[128], y[128];
    for (int i = 0; i <= n; i++) {
      rt[i] = i * h;
      ry[i] = rt[i] * rt[i];
    }
    for (int i = 0; i < n; i++) {
      t[i] = (i + 0.5) * h;
      y[i] = t[i] * t[i];
    }
    const yoke_samples result = {t, y, (size_t)n}, reference = {rt, ry, (size_t)n + 1};
    const double fine = compare(&result, &reference).max;
    check_near(fine, h * h / 4, 2.3e-16);  // values up to 1: one rounding
    if (level > 3) {
      check_near(log2(coarse / fine), 2, 1e-10);
    }
    coarse = fine;
  }
}

// Only what both have counts; the end lies between samples of the result and is interpolated.
static void test_partial_overlap(void** state) {
  (void)state;
  SAMPLES(result, {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  SAMPLES(reference, {{0.5, 1.5}, {2.5, 3.5}});
  const yoke_deviation d = compare(&result, &reference);
  assert_int_equal(d.n_points, 2);
  check_near(d.t_first, 0.5, 0);
  check_near(d.t_last, 2.5, 0);
  check_near(d.rmse, 1, 0);
  check_near(d.nrmse, 0.5, 0);
  check_near(d.end_result, 2.5, 0);
  check_near(d.end_reference, 3.5, 0);
  check_near(d.end, -1, 0);
}

static void test_constant_reference(void** state) {
  (void)state;
  SAMPLES(result, {{0, -5.5}, {1, -4.5}});
  SAMPLES(five, {{0, -5}, {1, -5}});
  yoke_deviation d = compare(&result, &five);
  assert_int_equal(d.scale_kind, YOKE_SCALE_VALUE);
  check_near(d.rmse, 0.5, 0);
  check_near(d.nrmse, 0.1, 1e-17);

  // noise of one rounding is no range
  SAMPLES(noisy, {{0, -5}, {1, -5.0000000000000009}});
  d = compare(&result, &noisy);
  assert_int_equal(d.scale_kind, YOKE_SCALE_VALUE);
  check_relative(d.nrmse, 0.1, 1e-14);

  SAMPLES(zero, {{0, 0}, {1, 0}});
  d = compare(&five, &zero);
  assert_int_equal(d.scale_kind, YOKE_SCALE_ONE);
  check_near(d.nrmse, 5, 0);
}

// Both sides of a jump are compared with the same side; a single sample at the jump sees what is
// behind it.
static void test_jumps(void** state) {
  (void)state;
  SAMPLES(reference, {{0, 0}, {1, 0}, {1, 10}, {2, 10}});
  yoke_deviation d = compare(&reference, &reference);
  assert_int_equal(d.n_points, 4);
  check_near(d.max, 0, 0);

  SAMPLES(single, {{0, 0}, {1, 10}, {2, 10}});
  check_near(compare(&single, &reference).max, 0, 0);
  // just before the jump it is still low
  SAMPLES(before, {{0, 0}, {0.999, 0}, {2, 10}});
  check_near(compare(&before, &reference).max, 0, 0);
  // the reference has no jump: both samples of the result meet the same value
  SAMPLES(smooth, {{0, 0}, {1, 4}, {2, 10}});
  d = compare(&reference, &smooth);
  check_near(d.max, 6, 0);
  check_near(d.t_max, 1, 0);
  // a jump at the very end: the end is the value behind it
  SAMPLES(at_end, {{0, 0}, {1, 0}, {1, 10}});
  check_near(compare(&at_end, &reference).end, 0, 0);
}

// Clocks that add up steps meet jumps and the end of clocks that do not: 0.1 added ten times is not
// 1.
static void test_clocks_with_rounding(void** state) {
  (void)state;
  double t[11], y[11];
  double sum = 0;
  for (int i = 0; i <= 10; i++) {
    t[i] = sum;
    sum += 0.1;
    y[i] = i < 8 ? 0 : 10;
  }
  assert_true(t[8] < 0.8 && t[10] < 1);  // 0.79999999999999993 and 0.99999999999999989
  const yoke_samples result = {t, y, 11};
  SAMPLES(reference, {{0, 0}, {0.8, 0}, {0.8, 10}, {1, 10}});
  yoke_deviation d = compare(&result, &reference);
  assert_int_equal(d.n_points, 11);
  check_near(d.max, 0, 0);

  // and the other way round: the last sample lies one rounding behind the end
  d = compare(&reference, &result);
  assert_int_equal(d.n_points, 4);
  check_near(d.end, 0, 0);
}

static void test_single_samples(void** state) {
  (void)state;
  SAMPLES(one, {{0.5, 3}});
  SAMPLES(line, {{0, 0}, {1, 4}});
  yoke_deviation d = compare(&one, &line);
  assert_int_equal(d.n_points, 1);
  check_near(d.rmse, 1, 0);
  check_near(d.end, 1, 0);
  check_near(d.scale, 2, 0);  // a single time: the value there
  assert_int_equal(d.scale_kind, YOKE_SCALE_VALUE);

  SAMPLES(other, {{0.5, 2}});
  d = compare(&one, &other);
  assert_int_equal(d.n_points, 1);
  check_near(d.nrmse, 0.5, 0);

  // the reference is one point between the result's samples: nothing to compare
  check_refused(&line, &one, "no sample of the result lies in the common interval 0.5 .. 0.5 s");
}

static void test_impossible(void** state) {
  (void)state;
  SAMPLES(early, {{0, 0}, {1, 1}});
  SAMPLES(late, {{2, 0}, {3, 1}});
  SAMPLES(back, {{0, 0}, {1, 1}, {0.5, 2}});
  SAMPLES(no_time, {{0, 0}, {UNKNOWN, 1}});
  SAMPLES(no_value, {{0, UNKNOWN}, {1, UNKNOWN}});
  const yoke_samples none = {NULL, NULL, 0};
  check_refused(&early, &late, "do not overlap: result 0 .. 1 s, reference 2 .. 3 s");
  check_refused(&late, &early, "do not overlap");
  check_refused(&none, &early, "the result has no samples");
  check_refused(&early, &none, "the reference has no samples");
  check_refused(&back, &early, "goes back from 1 to 0.5 s at sample 3 of the result");
  check_refused(&early, &no_time, "time of sample 2 of the reference is not finite");
  check_refused(&early, &no_value, "reference is not a number anywhere in 0 .. 1 s");
}

// A result that is not a number cannot be good: every sum is NaN, and the time says where it began.
static void test_result_not_finite(void** state) {
  (void)state;
  SAMPLES(result, {{0, 5}, {1, UNKNOWN}, {2, HUGE_VAL}, {3, 3}});
  SAMPLES(reference, {{0, 0}, {3, 3}});
  const yoke_deviation d = compare(&result, &reference);
  assert_int_equal(d.n_points, 4);
  assert_int_equal(d.n_not_finite, 2);
  assert_true(isnan(d.rmse) && isnan(d.nrmse) && isnan(d.max));
  check_near(d.t_max, 1, 0);
  check_near(d.end, 0, 0);
}

// Where the reference is unknown nothing is compared, and that is counted.
static void test_reference_not_finite(void** state) {
  (void)state;
  SAMPLES(result, {{0, 0}, {0.5, 0}, {1, 0}, {1.5, 0}, {2, 3}});
  SAMPLES(reference, {{0, 0}, {1, UNKNOWN}, {2, 2}});
  const yoke_deviation d = compare(&result, &reference);
  assert_int_equal(d.n_points, 2);
  assert_int_equal(d.n_skipped, 3);
  check_near(d.max, 1, 0);
  check_relative(d.rmse, sqrt(0.5), 4e-16);
  check_near(d.scale, 2, 0);
}

// Squares of 1e200 overflow and those of 1e-200 vanish; the measure must not.
static void test_extreme_sizes(void** state) {
  (void)state;
  SAMPLES(zero, {{0, 0}, {1, 0}, {2, 0}});
  SAMPLES(large, {{0, 0}, {1, 3e200}, {2, 4e200}});
  SAMPLES(small, {{0, 4e-200}, {1, 3e-200}, {2, 0}});
  check_relative(compare(&large, &zero).rmse, 5e200 / sqrt(3), 1e-15);
  check_relative(compare(&small, &zero).rmse, 5e-200 / sqrt(3), 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_signals),
      cmocka_unit_test(test_known_numbers),
      cmocka_unit_test(test_sine),
      cmocka_unit_test(test_line_on_other_grid),
      cmocka_unit_test(test_interpolation_order),
      cmocka_unit_test(test_partial_overlap),
      cmocka_unit_test(test_constant_reference),
      cmocka_unit_test(test_jumps),
      cmocka_unit_test(test_clocks_with_rounding),
      cmocka_unit_test(test_single_samples),
      cmocka_unit_test(test_impossible),
      cmocka_unit_test(test_result_not_finite),
      cmocka_unit_test(test_reference_not_finite),
      cmocka_unit_test(test_extreme_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
