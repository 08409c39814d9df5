// The signal period of a bond: how it is learnt, and that neither sizes nor offsets change it.
#include "quality/quality_period.h"

#include <math.h>

#include "support/check.h"

static const double pi = 3.14159265358979323846;

typedef struct fixture {
  yoke_period period;
  double memory[4];
  int n_new;  // times the length changed
} fixture;

// n_samples of offset + size sin(2 pi k / turn), starting at a quarter turn
static fixture swing(double turn, double size, double offset, int n_samples) {
  fixture f = {0};
  yoke__period_start(&f.period, 1, f.memory, &(double){offset + size});
  for (int k = 1; k < n_samples; k++) {
    const double y = offset + size * cos(2 * pi * k / turn);
    f.n_new += yoke__period_observe(&f.period, 1, 1, f.memory, &y);
  }
  return f;
}

static void test_a_sine(void** state) {
  (void)state;
  // from the first 20 changes, which a running mean shifts a little
  for (int i = 0; i < 5; i++) {
    const double turn = 25 * pow(2.7, i);
    const fixture f = swing(turn, 1, 0, (int)(15 * turn));
    check_relative(f.period.length, turn, 0.02);
    assert_true(yoke__period_is_learnt(&f.period));
    assert_int_equal(f.period.n_changes >= YOKE_PERIOD_CHANGES, true);
  }
  // never shorter than 20 exchanges
  check_near(swing(7, 1, 0, 500).period.length, 20, 0);
}

static void test_sizes_and_offsets_TR_13(void** state) {
  (void)state;
  const double want = swing(90, 1, 0.3, 400).period.length;
  check_near(swing(90, 1e-16, 0.3e-16, 400).period.length, want, 0);
  check_near(swing(90, 1e16, 0.3e16, 400).period.length, want, 0);
  // an offset takes a few exchanges until the mean has it
  check_relative(swing(90, 1, 1e6, 1000).period.length, want, 0.02);
}

static void test_before_the_second_change(void** state) {
  (void)state;
  fixture f = {0};
  yoke__period_start(&f.period, 1, f.memory, &(double){1});
  for (int k = 1; k <= 1000; k++) {
    const double y = exp(-0.001 * k);
    assert_false(yoke__period_observe(&f.period, 1, 1, f.memory, &y));
  }
  check_near(f.period.length, 20, 0);
  assert_int_equal(f.period.n_changes, 0);
  check_near(f.period.age, 1000, 0);
}

// two changes give the length, each further one the mean so far
static void test_updates(void** state) {
  (void)state;
  fixture f = {0};
  const double lengths[] = {100, 60, 80, 40};
  double last = 20, sum = 0, y = 1;
  yoke__period_start(&f.period, 1, f.memory, &(double){0});
  // a value held, then its opposite: the mean stays in between
  for (size_t i = 0; i < 4; i++) {
    for (int k = 0; k < (int)lengths[i]; k++) {
      const bool is_new = yoke__period_observe(&f.period, 1, 1, f.memory, &y);
      assert_int_equal(is_new, f.period.length != last);
      last = f.period.length;
    }
    sum += i > 0 ? lengths[i] : 0;
    assert_int_equal(f.period.n_changes, i);
    // distances between changes: all but the first stretch and the one in progress
    check_near(f.period.length, i < 2 ? 20 : 2 * (sum - lengths[i]) / (double)(i - 1), 1e-12);
    y = -y;
  }
}

static void test_rounding_and_rest(void** state) {
  (void)state;
  fixture f = {0};
  yoke__period_start(&f.period, 1, f.memory, &(double){1e3});
  for (int k = 1; k <= 500; k++) {
    const double y = 1e3 * (1 + (k % 3 - 1) * 4 * DBL_EPSILON);
    yoke__period_observe(&f.period, 1, 1, f.memory, &y);
  }
  assert_int_equal(f.period.n_changes, 0);
  // what is not finite is left out
  yoke__period_observe(&f.period, 1, 1, f.memory, &(double){(double)INFINITY});
  yoke__period_observe(&f.period, 1, 1, f.memory, &(double){(double)NAN});
  check_near(f.period.age, 502, 0);
  check_near(f.period.n_samples, 501, 0);
  assert_true(isfinite(f.memory[0]));
}

// two components count along one direction: a turn has two changes, whatever its shape
static void test_components(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    fixture f = {0};
    const double flat = i * 0.5;
    yoke__period_start(&f.period, 2, f.memory, (double[]){1, 0});
    for (int k = 1; k < 2000; k++) {
      const double w = 2 * pi * k / 110;
      yoke__period_observe(&f.period, 1, 2, f.memory, (double[]){cos(w), flat * sin(w)});
    }
    check_relative(f.period.length, 110, 0.02);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sine),
      cmocka_unit_test(test_sizes_and_offsets_TR_13),
      cmocka_unit_test(test_before_the_second_change),
      cmocka_unit_test(test_updates),
      cmocka_unit_test(test_rounding_and_rest),
      cmocka_unit_test(test_components),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
