// The elements of the steering: what every unit must do, friction against its own law, balances of
// the whole at rest and in a steady turn, and that other calls and internal steps change nothing
// they should not.
#include "models/steering/steering.h"
#include "support/trial.h"

static const yoke_unit_ops* const units[] = {
    &yoke__model_steering_whole,      &yoke__model_steering_epas,
    &yoke__model_steering_chassis,    &yoke__model_steering_epas_rod,
    &yoke__model_steering_wheels,     &yoke__model_steering_rack_belt,
    &yoke__model_steering_motor,      &yoke__model_steering_rack,
    &yoke__model_steering_motor_belt, &yoke__model_steering_mechanics,
    &yoke__model_steering_controller,
};

static bool has(const trial* d, const char* name) {
  return yoke__unit_find(&d->unit, name) != (size_t)-1;
}

static void set_if(trial* d, const char* name, double value) {
  if (has(d, name)) {
    trial_set(d, name, value);
  }
}

static void test_every_unit(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    trial d;
    trial_open(&d, units[i], NULL, 0);
    trial_check_description(&d);
    trial_start(&d, 0.0);
    set_if(&d, "T_s", 1.5);
    set_if(&d, "T_bar", 0.7);
    set_if(&d, "T_belt", 0.1);
    for (int k = 0; k < 20; k++) {
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    trial_check_feedthrough(&d, 0.02);
    trial_check_rollback(&d, 0.02, 1e-3);
    trial_close(&d);
  }
}

static void expect_refusal(const yoke_unit_ops* ops, const char* name, double value,
                           const char* part) {
  trial d;
  HEAR(err);
  trial_open(&d, ops, NULL, 0);
  trial_set(&d, name, value);
  assert_true(yoke__unit_enter_init(&d.unit, 0.0, 1.0, &err.sink) < 0);
  check_contains(err.text, part);
  trial_close(&d);
}

static void test_refusals(void** state) {
  (void)state;
  expect_refusal(&yoke__model_steering_whole, "m_rack", 0.0, "m_rack");
  expect_refusal(&yoke__model_steering_epas, "rack_stiction", 10.0, "stiction");
  expect_refusal(&yoke__model_steering_epas, "column_stribeck", 0.0, "stribeck");
  expect_refusal(&yoke__model_steering_rack, "rack_sigma1", -1.0, "sigma1");
  expect_refusal(&yoke__model_steering_rack, "i_motor", 0.0, "i_motor");
  expect_refusal(&yoke__model_steering_motor, "lag", -1.0, "lag");
  expect_refusal(&yoke__model_steering_motor, "period", 0.0, "period");
  expect_refusal(&yoke__model_steering_controller, "T_max", (double)NAN, "T_max");
  expect_refusal(&yoke__model_steering_chassis, "relaxation", 0.0, "relaxation");
  expect_refusal(&yoke__model_steering_wheels, "inner_step", 0.0, "inner_step");
}

// At constant speed the bristles settle where z' = 0, and T_s carries F = g(v) sign(v) + sigma2 v
// of the column. A column alone: the torsion bar has no stiffness.
static void test_friction_settles(void** state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    const double v = 0.05 * (1 << k);
    trial d;
    trial_open(&d, &yoke__model_steering_rack, NULL, 0);
    trial_set(&d, "k_bar", 0.0);
    trial_set(&d, "c_bar", 0.0);
    trial_set(&d, "J_column", 1e6);  // keeps its speed
    trial_set(&d, "w_column", v);
    trial_start(&d, 0.0);
    double before = 0.0;
    for (int j = 0; j < 40; j++) {
      before = trial_get(&d, "w_column");
      (void)trial_step(&d, j * 0.05, 0.05);
    }
    const double friction = (before - trial_get(&d, "w_column")) / 0.05 * 1e6;
    const double want = 0.25 + 0.10 * exp(-v * v / 0.01) + 0.02 * v;
    check_near(friction, want, 1e-4 * want + 1e-5);
    trial_close(&d);
  }
}

// Below stiction nothing moves but the bristles.
static void test_sticks(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_steering_rack, NULL, 0);
  trial_start(&d, 0.0);
  trial_set(&d, "F_rod", 25.0);
  for (int k = 0; k < 3000; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  const double there = trial_get(&d, "x_rack");
  for (int k = 3000; k < 4000; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  // pre-sliding displacement: below F / sigma0
  assert_true(fabs(there) < 25.0 / 4e5);
  check_near(trial_get(&d, "x_rack"), there, 1e-9);
  trial_close(&d);
}

// Steady turn with the rack held: yaw rate of the linear single-track model, r = V w / (l + K V^2),
// K = m (l_r c_r - l_f c_f) / (c_f c_r l).
static void test_steady_turn(void** state) {
  (void)state;
  const double V = 19.444, l = 1.45 + 1.53, cf = 150e3, cr = 190e3;
  const double K = 2100 * (1.53 * cr - 1.45 * cf) / (cf * cr * l);
  trial d;
  trial_open(&d, &yoke__model_steering_chassis, NULL, 0);
  trial_set(&d, "x_inner", 0.005);
  trial_start(&d, 0.0);
  for (int k = 0; k < 2000; k++) {
    (void)trial_step(&d, k * 0.01, 0.01);
  }
  const double turn = trial_get(&d, "d_wheel"), yaw = trial_get(&d, "yaw_rate");
  check_near(yaw / turn, V / (l + K * V * V), 1e-9);
  // moments about the steering axis: lever F_rod = trail F_f, and F_f = m V r l_r / l
  check_near(0.14 * trial_get(&d, "F_rod"), 0.045 * 2100 * V * yaw * 1.53 / l, 1e-6);
  trial_close(&d);
}

// The whole is called in steps of 0.1 ms or 10 ms: the same inner steps, the same bytes.
static void test_calls_do_not_matter(void** state) {
  (void)state;
  double angle[2];
  for (int i = 0; i < 2; i++) {
    trial d;
    trial_open(&d, &yoke__model_steering_whole, NULL, 0);
    trial_start(&d, 0.0);
    trial_set(&d, "T_s", 2.0);
    const double h = i == 0 ? 1e-4 : 1e-2;
    for (int k = 0; k < (i == 0 ? 5000 : 50); k++) {
      (void)trial_step(&d, k * h, h);
    }
    angle[i] = trial_get(&d, "angle");
    trial_close(&d);
  }
  check_near(angle[0], angle[1], 1e-9);
  assert_true(angle[0] > 0.1);
}

// Halved internal steps halve the difference: order 1.
static void test_order(void** state) {
  (void)state;
  double angle[4];
  for (int i = 0; i < 4; i++) {
    trial d;
    trial_open(&d, &yoke__model_steering_whole, NULL, 0);
    trial_set(&d, "inner_step", 1e-4 / (1 << i));
    trial_start(&d, 0.0);
    trial_set(&d, "T_s", 2.0);
    for (int k = 0; k < 300; k++) {
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    angle[i] = trial_get(&d, "angle");
    trial_close(&d);
  }
  const double coarse = angle[0] - angle[1], middle = angle[1] - angle[2],
               fine = angle[2] - angle[3];
  print_message("differences of the angle: %.3g %.3g %.3g\n", coarse, middle, fine);
  check_near(log2(coarse / middle), 1.0, 0.15);
  check_near(log2(middle / fine), 1.0, 0.15);
}

// The controller samples every millisecond, however it is called.
static void test_controller_samples(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_steering_motor, NULL, 0);
  trial_start(&d, 3.0);
  int n_changes = 0;
  double before = 0.0;
  for (int k = 0; k < 1000; k++) {
    trial_set(&d, "T_bar", 1e-3 * (k + 1));
    (void)trial_step(&d, 3.0 + k * 1e-4, 1e-4);
    const double now = trial_get(&d, "T_request");
    n_changes += now != before;
    before = now;
  }
  assert_int_equal(n_changes, 100);
  trial_set(&d, "T_bar", 1000.0);
  (void)trial_step(&d, 3.1, 1e-3);
  check_near(trial_get(&d, "T_request"), 5.0, 0.0);
  trial_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_unit),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_friction_settles),
      cmocka_unit_test(test_sticks),
      cmocka_unit_test(test_steady_turn),
      cmocka_unit_test(test_calls_do_not_matter),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_controller_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
