// Spring-damper elements: laws, derivatives, and the spring as a unit of its own between two masses
// (CS-26: three units instead of two).
#include "models/spring/spring.h"
#include "support/trial.h"

static void set_ends(trial* d, double x1, double v1, double x2, double v2) {
  const double u[] = {x1, v1, x2, v2};
  check_ok(yoke__unit_set_inputs(&d->unit, u));
}

static void test_linear(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_spring_damper, NULL, 0);
  trial_check_description(&d);
  assert_true((d.unit.info->flags & YOKE_UNIT_ALGEBRAIC) != 0);
  trial_set(&d, "k", 100.0);
  trial_set(&d, "c", 0.5);
  set_ends(&d, 0.3, 2.0, 0.1, -4.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "f"), 23.0, 1e-14);
  set_ends(&d, 0.1, -4.0, 0.3, 2.0);  // ends exchanged: the force turns round
  (void)trial_step(&d, 0.0, 1e-3);
  check_near(trial_get(&d, "f"), -23.0, 1e-14);
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-8);
  trial_check_rollback(&d, 0.0, 1e-3);
  double D[4];
  yoke_linear model = {.D = D};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_inputs, 4);
  assert_true(D[0] == 100.0 && D[1] == 0.5 && D[2] == -100.0 && D[3] == -0.5);
  trial_close(&d);
}

static void test_nonlinear(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_spring_damper_nonlinear, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "k", 100.0);
  trial_set(&d, "c", 0.001);
  set_ends(&d, 0.0, 0.0, 0.25, 30.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "f"), -50.0 - 0.9, 1e-13);
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-4);  // third derivative of the root times delta^2
  trial_check_rollback(&d, 0.0, 1e-3);

  // each law alone
  trial_set_whole(&d, "spring", 0);
  trial_refresh(&d, 0.0);
  check_near(trial_get(&d, "f"), -25.0 - 0.9, 1e-13);
  trial_set_whole(&d, "damper", 0);
  trial_refresh(&d, 0.0);
  check_near(trial_get(&d, "f"), -25.0 - 0.03, 1e-13);
  trial_close(&d);
}

// the square-root spring gives back its potential 2/3 k |e|^(3/2): Simpson's rule along the way
static void test_potential(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_spring_damper_nonlinear, NULL, 0);
  const double k = 100.0, from = 0.5, to = 2.0;
  trial_set(&d, "k", k);
  const int n = 1000;
  double work = 0.0;
  for (int i = 0; i <= n; i++) {
    set_ends(&d, from + (to - from) * i / n, 0.0, 0.0, 0.0);
    trial_refresh(&d, 0.0);
    const double weight = i == 0 || i == n ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0);
    work += weight * trial_get(&d, "f") * (to - from) / (3.0 * n);
  }
  check_relative(work, 2.0 / 3.0 * k * (pow(to, 1.5) - pow(from, 1.5)), 1e-12);
  trial_close(&d);
}

// The linear oscillator, case 1 (masses of 1 kg, springs of 10, 100, 1000 N/m, 100 m/s and
// -100 m/s), cut into mass, spring and mass; explicit Jacobi with 1 ms, semi-implicit Euler in the
// masses. Returns the mechanical energy after 10 s.
static double run_three_units(bool is_refreshed) {
  const double H = 1e-3, k1 = 10.0, kc = 100.0, k2 = 1000.0;
  double x1 = 0.0, v1 = 100.0, x2 = 0.0, v2 = -100.0;
  trial d;
  trial_open(&d, &yoke__model_spring_damper, NULL, 0);
  trial_set(&d, "k", kc);
  set_ends(&d, x1, v1, x2, v2);
  trial_start(&d, 0.0);
  for (int k = 0; k < 10000; k++) {
    const double f = trial_get(&d, "f");
    set_ends(&d, x1, v1, x2, v2);
    (void)trial_step(&d, k * H, H);
    v1 += H * (-k1 * x1 - f);
    x1 += H * v1;
    v2 += H * (-k2 * x2 + f);
    x2 += H * v2;
    if (is_refreshed) {
      set_ends(&d, x1, v1, x2, v2);
      trial_refresh(&d, (k + 1) * H);
    }
  }
  trial_close(&d);
  const double e = x1 - x2;
  return 0.5 * (v1 * v1 + v2 * v2 + k1 * x1 * x1 + k2 * x2 * x2 + kc * e * e);
}

// the same with the force computed between the steps: force-force coupling
static double run_force_force(void) {
  const double H = 1e-3, k1 = 10.0, kc = 100.0, k2 = 1000.0;
  double x1 = 0.0, v1 = 100.0, x2 = 0.0, v2 = -100.0;
  for (int k = 0; k < 10000; k++) {
    const double f = kc * (x1 - x2);
    v1 += H * (-k1 * x1 - f);
    x1 += H * v1;
    v2 += H * (-k2 * x2 + f);
    x2 += H * v2;
  }
  const double e = x1 - x2;
  return 0.5 * (v1 * v1 + v2 * v2 + k1 * x1 * x1 + k2 * x2 * x2 + kc * e * e);
}

static void test_cs_26_spring_as_a_unit(void** state) {
  (void)state;
  check_near(run_three_units(false), 28870.943, 1e-3);  // CS-26: three decimals are published
  check_relative(run_three_units(true), run_force_force(), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_nonlinear),
      cmocka_unit_test(test_potential),
      cmocka_unit_test(test_cs_26_spring_as_a_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
