// The junction law: values, derivatives, overflow, breakdown and limiting.
#include "circuit/network/circuit_junction.h"
#include "support/check.h"

// benchmark 3: 1 fA, n = 1.5, 300 K
static yoke_junction_model silicon(void) {
  return (yoke_junction_model){
      .is = 1e-15, .n = 1.5, .vt = 1.380649e-23 * 300.0 / 1.602176634e-19, .bv = (double)INFINITY};
}

static void test_values(void** state) {
  (void)state;
  const yoke_junction_model model = silicon();
  yoke_junction junction;
  double i = 0.0;
  double g = 0.0;
  yoke__junction_init(&junction, &model, 0.0);
  check_near(junction.nvt, 0.0387779996796533, 1e-15);
  yoke__junction_evaluate(&junction, 0.0, &i, &g);
  check_near(i, 0.0, 0.0);
  check_relative(g, 1e-15 / junction.nvt, 1e-14);
  yoke__junction_evaluate(&junction, 1.4, &i, &g);
  check_relative(i, 1e-15 * expm1(1.4 / junction.nvt), 1e-12);
  yoke__junction_evaluate(&junction, -5.0, &i, &g);
  check_relative(i, -1e-15, 1e-12);

  // gmin is a conductance in parallel
  yoke__junction_init(&junction, &model, 1e-12);
  yoke__junction_evaluate(&junction, -5.0, &i, &g);
  check_relative(i, -1e-15 - 5e-12, 1e-12);
}

// g is the derivative of i everywhere, also beyond the linear continuation and in breakdown
static void test_derivative(void** state) {
  (void)state;
  yoke_junction_model model = silicon();
  model.bv = 20.0;
  model.ibv = 1e-3;
  yoke_junction junction;
  yoke__junction_init(&junction, &model, 1e-12);
  for (int k = 0; k < 938; k++) {
    const double v = -25.0 + 0.0373 * k;
    double i_up = 0.0, i_down = 0.0, g = 0.0, i = 0.0;
    const double d = 1e-6;
    yoke__junction_evaluate(&junction, v + d, &i_up, &g);
    yoke__junction_evaluate(&junction, v - d, &i_down, &g);
    yoke__junction_evaluate(&junction, v, &i, &g);
    const double numeric = (i_up - i_down) / (2.0 * d);
    check_near(g, numeric, 1e-6 * fabs(g) + 1e-9 * fabs(i) + 1e-15);
  }
  // the current at -BV is IBV
  double i = 0.0;
  double g = 0.0;
  yoke__junction_evaluate(&junction, -20.0, &i, &g);
  check_relative(i, -1e-3, 1e-6);
}

// TT stores charge of the breakdown current too: q(-BV) = -TT IBV, and C = dq/dv on both sides of
// the knee
static void test_charge_in_breakdown(void** state) {
  (void)state;
  yoke_junction_model model = silicon();
  model.bv = 20.0;
  model.ibv = 1e-3;
  model.tt = 1e-6;
  double C = 0.0;
  double slope = 0.0;
  check_relative(yoke__junction_charge(&model, -20.0, &C), -1e-9, 1e-6);
  check_relative(yoke__junction_charge(&model, -5.0, &C), -1e-21, 1e-9);
  yoke_junction junction;
  yoke__junction_init(&junction, &model, 0.0);
  const double d = 1e-5;
  for (int k = 0; k < 700; k++) {
    const double v = -25.0 + 0.0373 * k;
    double i = 0.0, g = 0.0, C_up = 0.0, C_down = 0.0;
    yoke__junction_evaluate(&junction, v, &i, &g);
    check_relative(yoke__junction_charge(&model, v, &C), model.tt * i, 1e-9);
    check_relative(C, model.tt * g, 1e-12);
    check_relative(yoke__junction_capacitance(&model, v, &slope), C, 1e-12);
    (void)yoke__junction_charge(&model, v + d, &C_up);
    (void)yoke__junction_charge(&model, v - d, &C_down);
    check_near(slope, (C_up - C_down) / (2.0 * d), 1e-6 * fabs(slope) + 1e-10 * C / d);
  }
  // the knee that the network keeps is the same
  model.bv_knee = yoke__junction_knee(&model);
  check_relative(yoke__junction_charge(&model, -20.0, &C), -1e-9, 1e-6);
  check_between(model.bv_knee, 18.0, 20.0);
}

static void test_no_overflow(void** state) {
  (void)state;
  yoke_junction_model model = silicon();
  model.bv = 20.0;
  model.ibv = 1e-3;
  yoke_junction junction;
  yoke__junction_init(&junction, &model, 0.0);
  const double far[] = {27.5, 1e3, 1e9, -1e3, -1e9};
  for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
    double i = 0.0;
    double g = 0.0;
    yoke__junction_evaluate(&junction, far[k], &i, &g);
    assert_true(isfinite(i) && isfinite(g) && g > 0.0);
  }
}

// From a large forward overdrive Newton's method alone needs (dv / nVt) iterations; with limiting a handful.
static void test_limiting(void** state) {
  (void)state;
  const yoke_junction_model model = silicon();
  yoke_junction junction;
  yoke__junction_init(&junction, &model, 0.0);
  int n_plain = 0;
  int n_limited = 0;
  for (int is_limited_run = 0; is_limited_run < 2; is_limited_run++) {
    // junction fed by 100 V over 1 ohm
    double v = 0.0;
    double v_at = 0.0;
    int n = 0;
    for (bool is_limited = true; n < 5000; n++) {
      double i = 0.0;
      double g = 0.0;
      yoke__junction_evaluate(&junction, v_at, &i, &g);
      const double v_new = (100.0 - i + g * v_at) / (1.0 + g);
      if (fabs(v_new - v) < 1e-9 && !is_limited) {
        break;
      }
      v = v_new;
      is_limited = false;
      v_at = is_limited_run ? yoke__junction_limit(&junction, v_new, v_at, &is_limited) : v_new;
    }
    if (is_limited_run) {
      n_limited = n;
    } else {
      n_plain = n;
    }
    double i = 0.0;
    double g = 0.0;
    yoke__junction_evaluate(&junction, v, &i, &g);
    check_near(i + v, 100.0, 1e-6);
  }
  print_message("iterations from 100 V: plain %d, limited %d\n", n_plain, n_limited);
  assert_true(n_limited < 20);
  assert_true(n_plain > 3 * n_limited);

  bool is_limited = false;
  check_near(yoke__junction_limit(&junction, 0.3, 0.1, &is_limited), 0.3, 0.0);
  assert_false(is_limited);
}

// Depletion charge: slope by differences, no jump at FC VJ.
static void test_capacitance(void** state) {
  (void)state;
  yoke_junction_model model = silicon();
  model.cjo = 1e-12;
  model.vj = 0.8;
  model.m = 0.45;
  model.fc = 0.5;
  model.tt = 1e-9;
  double slope = 0.0;
  double unused = 0.0;
  for (int k = 0; k < 112; k++) {
    const double v = -5.0 + 0.0531 * k;
    const double d = 1e-6;
    const double numeric = (yoke__junction_capacitance(&model, v + d, &unused) -
                            yoke__junction_capacitance(&model, v - d, &unused)) /
                           (2.0 * d);
    const double c = yoke__junction_capacitance(&model, v, &slope);
    check_near(slope, numeric, 1e-6 * fabs(slope) + 1e-8 * c);
  }
  check_relative(yoke__junction_capacitance(&model, 0.4 - 1e-12, &slope),
                 yoke__junction_capacitance(&model, 0.4 + 1e-12, &slope), 1e-9);
}

// q is the integral of C from 0 V: its slope by differences, no jump at FC VJ, and M = 1 is a limit like any other.
static void test_charge(void** state) {
  (void)state;
  yoke_junction_model model = silicon();
  model.cjo = 1e-12;
  model.vj = 0.8;
  model.fc = 0.5;
  model.tt = 1e-9;
  const double grades[] = {0.33, 0.5, 1.0, 1.3};
  for (size_t k = 0; k < sizeof grades / sizeof *grades; k++) {
    model.m = grades[k];
    double unused = 0.0;
    double slope = 0.0;
    check_near(yoke__junction_charge(&model, 0.0, &unused), 0.0, 1e-28);
    for (int i = 0; i < 170; i++) {
      const double v = -5.0 + 0.0531 * i;
      const double d = 1e-6;
      double c = 0.0;
      const double q = yoke__junction_charge(&model, v, &c);
      const double numeric = (yoke__junction_charge(&model, v + d, &unused) -
                              yoke__junction_charge(&model, v - d, &unused)) /
                             (2.0 * d);
      check_near(c, numeric, 1e-6 * c + 1e-9 * fabs(q));
      check_relative(c, yoke__junction_capacitance(&model, v, &slope), 1e-13);
    }
  }
  // just below M = 1 and at it
  double c = 0.0;
  model.m = 1.0 - 1e-6;
  const double below = yoke__junction_charge(&model, -3.0, &c);
  model.m = 1.0;
  check_relative(yoke__junction_charge(&model, -3.0, &c), below, 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_derivative),
      cmocka_unit_test(test_charge_in_breakdown),
      cmocka_unit_test(test_no_overflow),
      cmocka_unit_test(test_limiting),
      cmocka_unit_test(test_capacitance),
      cmocka_unit_test(test_charge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
