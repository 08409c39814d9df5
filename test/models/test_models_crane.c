// The crane units on their own and in a hand-written Jacobi loop (CS-05, CS-20).
#include "base/base_message.h"
#include "models/crane/crane.h"

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/mechanics_unit.h"
#include "support/mechanics_whole.h"

// dense outputs of crane.hydraulics: f_h, p1, p2, kappa; without f_h for the pressure form;
// of the arms: s, v, theta1, theta2, E
enum { HYDRAULICS_F };
enum { PRESSURE_P1, PRESSURE_P2 };
enum { ARM_S, ARM_V };

static mech_loop open_force_loop(mech_unit units[2], double H, int calls, int order) {
  units[0] = mech_unit_open(&yoke__model_crane_hydraulics);
  units[1] = mech_unit_open(&yoke__model_crane_arm);
  mech_loop loop = {.units = {&units[0], &units[1]},
                    .source = {{ARM_S, ARM_V}, {HYDRAULICS_F}},
                    .calls = {calls, 1},
                    .order = order,
                    .H = H,
                    .n_bond = 1,
                    .action = {HYDRAULICS_F},
                    .rate = {ARM_V}};
  return loop;
}

static void close_pair(mech_unit units[2]) {
  mech_unit_close(&units[0]);
  mech_unit_close(&units[1]);
}

// CS-20: the static start
static void test_static_start_cs20(void** state) {
  (void)state;
  mech_unit units[2];
  mech_loop loop = open_force_loop(units, 1.0, 1, 0);
  mech_unit_choose(&units[0], "manoeuvre", "none");
  mech_loop_start(&loop);
  check_near(mech_unit_get(&units[0], "kappa0", 0), 0.45434559, 5e-9);
  check_near(mech_unit_get(&units[0], "kappa0", 0), whole_crane_kappa0(), 2e-16);
  check_near(mech_unit_get(&units[0], "p1", 0), 3170846.15, 5e-3);
  check_near(mech_unit_get(&units[0], "p2", 0), 4529153.85, 5e-3);
  check_near(mech_unit_get(&units[0], "f_h", 0), 8829.0, 1e-9);
  check_near(mech_unit_get(&units[1], "s", 0), 0.5, 2e-16);
  check_relative(mech_unit_get(&units[1], "E", 0), 1716.75, 1e-14);

  // one step of 1 s of both first-order formulas moves by exactly the rates at rest
  const double p1 = mech_unit_get(&units[0], "p1", 0);
  const double p2 = mech_unit_get(&units[0], "p2", 0);
  mech_loop_run(&loop, 1);
  check_near(mech_unit_get(&units[0], "p1", 0), p1, 1e-3);
  check_near(mech_unit_get(&units[0], "p2", 0), p2, 1e-3);
  check_near(mech_unit_get(&units[1], "omega1", 0), 0.0, 1e-12);
  check_near(mech_unit_get(&units[1], "omega2", 0), 0.0, 1e-12);
  close_pair(units);
}

// eigenvalues of the whole system at rest, from central differences of its right-hand side
static void test_eigenvalues_at_rest_cs20(void** state) {
  (void)state;
  double A[36];
  for (int j = 0; j < 6; j++) {
    double x[6];
    double low[6];
    double high[6];
    const double d = 1e-6;
    whole_crane_start(x);
    x[j] -= d;
    whole_crane_rhs(whole_crane_kappa0(), x, low);
    x[j] += 2.0 * d;
    whole_crane_rhs(whole_crane_kappa0(), x, high);
    for (int i = 0; i < 6; i++) {
      A[6 * i + j] = (high[i] - low[i]) / (2.0 * d);
    }
  }
  double re[6];
  double im[6];
  check_ok(yoke__eigenvalues(6, A, re, im));
  // printed digits decide the tolerance
  static const double want[][3] = {{-4653, 0, 0.5},        {-4624, 0, 0.5},
                                   {-57.66, 0, 0.005},     {0.2447, 0, 5e-5},
                                   {-0.0107, 4.431, 5e-4}, {-0.0107, -4.431, 5e-4}};
  for (int i = 0; i < 6; i++) {
    double nearest = HUGE_VAL;
    for (int j = 0; j < 6; j++) {
      nearest = fmin(nearest, hypot(re[j] - want[i][0], im[j] - want[i][1]));
    }
    check_near(nearest, 0.0, want[i][2]);
  }
}

// CS-05: manoeuvre M2, force coupling
static void test_golden_runs_cs05(void** state) {
  (void)state;
  static const struct {
    int order;
    double s1, s5, s10, dE;
  } rows[] = {{0, 0.493909679, 0.487761884, 0.468149877, 149.9186},
              {1, 0.494225522, 0.488196408, 0.468861507, 137.1016}};
  for (int i = 0; i < 2; i++) {
    mech_unit units[2];
    mech_loop loop = open_force_loop(units, 10e-3, 40, rows[i].order);
    mech_loop_start(&loop);
    mech_loop_run(&loop, 100);
    check_near(mech_unit_get(&units[1], "s", 0), rows[i].s1, 1e-7);
    mech_loop_run(&loop, 500);
    check_near(mech_unit_get(&units[1], "s", 0), rows[i].s5, 1e-7);
    mech_loop_run(&loop, 1000);
    check_near(mech_unit_get(&units[1], "s", 0), rows[i].s10, 1e-7);
    check_near(loop.dE, rows[i].dE, 5.1e-5);  // half of the last printed digit
    close_pair(units);
  }
  mech_unit units[2];
  mech_loop loop = open_force_loop(units, 0.2e-3, 1, 0);
  mech_loop_start(&loop);
  mech_loop_run(&loop, 50000);
  check_near(mech_unit_get(&units[1], "s", 0), 0.470006996, 1e-7);
  close_pair(units);
}

// four printed samples of M2; m5 and m1 by their corners
static void test_manoeuvres(void** state) {
  (void)state;
  static const struct {
    const char* manoeuvre;
    double t, kappa, tolerance;
  } rows[] = {
      {"m2", 0.125, 0.44866627, 5e-9}, {"m2", 0.625, 0.42594899, 5e-9},
      {"m2", 1.125, 0.40891103, 5e-9}, {"m2", 8.625, 0.43730763, 5e-9},
      {"m2", 9.5, 0.45434559, 5e-9},   {"none", 3.3, 0.45434559, 5e-9},
      {"m1", 1.999, 0.45434559, 5e-9}, {"m1", 2.0005, 0.44934559, 1e-8},
      {"m1", 5.0, 0.44434559, 5e-9},   {"m1", 6.001, 0.45934559, 1e-8},
      {"m1", 7.0, 0.47434559, 5e-9},   {"m5", 0.9, 0.45434559, 5e-9},
      {"m5", 1.1, 0.45934559, 1e-8},   {"m5", 3.0, 0.46434559, 5e-9},
      {"m5", 4.5, 0.45434559, 5e-9},   {"m5", 6.0, 0.44434559, 5e-9},
      {"m5", 9.0, 0.45434559, 5e-9},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit unit = mech_unit_open(&yoke__model_crane_hydraulics);
    mech_unit_choose(&unit, "manoeuvre", rows[i].manoeuvre);
    mech_unit_init(&unit);
    mech_unit_refresh(&unit, rows[i].t);
    check_near(mech_unit_get(&unit, "kappa", 0), rows[i].kappa, rows[i].tolerance);
    mech_unit_close(&unit);
  }
}

// one internal step is forward Euler with the opening at its start, semi-implicit Euler
// for the arm:
// both against the right-hand side of the whole system
static void test_one_step_against_the_whole_system(void** state) {
  (void)state;
  const double h = 1e-4;
  const double t = 0.37;
  double x[6];
  double dx[6];
  whole_crane_start(x);
  x[0] += 0.05;
  x[1] -= 0.03;
  x[2] = 0.2;
  x[3] = -0.3;
  x[4] += 0.2;
  whole_crane_rhs(whole_crane_m2(t), x, dx);
  double s;
  double v;
  double f_h;
  whole_crane_cylinder(x, &s, &v, &f_h);
  for (int is_pressure = 0; is_pressure < 2; is_pressure++) {
    mech_unit hydraulics = mech_unit_open(is_pressure != 0 ? &yoke__model_crane_hydraulics_pressure
                                                           : &yoke__model_crane_hydraulics);
    mech_unit arm =
        mech_unit_open(is_pressure != 0 ? &yoke__model_crane_arm_pressure : &yoke__model_crane_arm);
    const double p[2] = {1e6 * x[4], 1e6 * x[5]};
    const double motion[2] = {s, v};
    mech_unit_init(&hydraulics);
    mech_unit_set(&hydraulics, "p1", 0, p[0]);
    mech_unit_set(&hydraulics, "p2", 0, p[1]);
    mech_unit_inputs(&hydraulics, motion);
    mech_unit_set(&arm, "theta1", 0, x[0]);
    mech_unit_set(&arm, "theta2", 0, x[1]);
    mech_unit_set(&arm, "omega1", 0, x[2]);
    mech_unit_set(&arm, "omega2", 0, x[3]);
    mech_unit_init(&arm);
    mech_unit_inputs(&arm, is_pressure != 0 ? p : &f_h);
    check_relative(mech_unit_get(&arm, "s", 0), s, 1e-15);
    check_relative(mech_unit_get(&arm, "v", 0), v, 1e-14);
    check_relative(mech_unit_get(&arm, "E", 0), whole_crane_energy(x), 1e-14);
    assert_int_equal(mech_unit_step(&hydraulics, t, h, NULL), YOKE_OK);
    assert_int_equal(mech_unit_step(&arm, t, h, NULL), YOKE_OK);
    check_relative(mech_unit_get(&hydraulics, "p1", 0), p[0] + h * 1e6 * dx[4], 1e-12);
    check_relative(mech_unit_get(&hydraulics, "p2", 0), p[1] + h * 1e6 * dx[5], 1e-12);
    for (int i = 0; i < 2; i++) {
      const double w = x[2 + i] + h * dx[2 + i];
      check_relative(mech_unit_get(&arm, i == 0 ? "omega1" : "omega2", 0), w, 1e-13);
      check_relative(mech_unit_get(&arm, i == 0 ? "theta1" : "theta2", 0), x[i] + h * w, 1e-13);
    }
    mech_unit_close(&hydraulics);
    mech_unit_close(&arm);
  }
}

// without force and friction the arm keeps its energy; RK4 leaves (w h)^4
static void test_free_arm_keeps_its_energy(void** state) {
  (void)state;
  mech_unit arm = mech_unit_open(&yoke__model_crane_arm);
  const double f_h = 0.0;
  double drift[2];
  for (int i = 0; i < 2; i++) {
    const int n = i == 0 ? 500 : 1000;
    mech_unit_set(&arm, "theta1", 0, 0.5);
    mech_unit_set(&arm, "theta2", 0, -1.0);
    mech_unit_set(&arm, "omega1", 0, 0.0);
    mech_unit_set(&arm, "omega2", 0, 0.0);
    mech_unit_choose(&arm, "solver", "rk4");
    mech_unit_init(&arm);
    mech_unit_inputs(&arm, &f_h);
    const double E0 = mech_unit_get(&arm, "E", 0);
    for (int k = 0; k < n; k++) {
      assert_int_equal(mech_unit_step(&arm, 2.0 * k / n, 2.0 / n, NULL), YOKE_OK);
    }
    drift[i] = fabs(mech_unit_get(&arm, "E", 0) - E0);
  }
  // at least order 4 (energy errors of RK4 often fall with h^5), and small
  check_between(log2(drift[0] / drift[1]), 3.7, 5.5);
  check_near(drift[1], 0.0, 1e-4);
  mech_unit_close(&arm);
}

static const yoke_unit_ops* const all_units[] = {
    &yoke__model_crane_hydraulics, &yoke__model_crane_hydraulics_pressure, &yoke__model_crane_arm,
    &yoke__model_crane_arm_pressure};

static void test_feedthrough_is_as_declared(void** state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    mech_unit unit = mech_unit_open(all_units[i]);
    mech_unit_init(&unit);
    mech_unit_probe(&unit, 0.3, 0.125);
    mech_unit_close(&unit);
  }
}

// n internal steps are n calls with the same inputs; the valve moves between them
static void test_micro_steps(void** state) {
  (void)state;
  static const double inputs[4][2] = {{0.51, 0.02}, {0.51, 0.02}, {9000.0, 0.0}, {3.1e6, 4.5e6}};
  for (int i = 0; i < 4; i++) {
    const double h = 1.0 / 8192.0;
    mech_unit one = mech_unit_open(all_units[i]);
    mech_unit many = mech_unit_open(all_units[i]);
    double y[2][MECH_MAX];
    mech_unit_set(&one, "micro_steps", 0, 8.0);
    mech_unit_init(&one);
    mech_unit_init(&many);
    mech_unit_inputs(&one, inputs[i]);
    mech_unit_inputs(&many, inputs[i]);
    assert_int_equal(mech_unit_step(&one, 0.375, 8.0 * h, NULL), YOKE_OK);
    for (int k = 0; k < 8; k++) {
      assert_int_equal(mech_unit_step(&many, 0.375 + k * h, h, NULL), YOKE_OK);
    }
    mech_unit_outputs(&one, y[0]);
    mech_unit_outputs(&many, y[1]);
    assert_memory_equal(y[0], y[1], one.n_y * sizeof y[0][0]);
    mech_unit_close(&one);
    mech_unit_close(&many);
  }
}

static void test_save_and_restore(void** state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    static const double inputs[4][2] = {{0.51, 0.02}, {0.51, 0.02}, {9000.0, 0.0}, {3.1e6, 4.5e6}};
    mech_unit unit = mech_unit_open(all_units[i]);
    mech_unit_init(&unit);
    mech_unit_inputs(&unit, inputs[i]);
    assert_int_equal(mech_unit_step(&unit, 0.0, 1e-4, NULL), YOKE_OK);
    mech_unit image = mech_unit_copy(&unit);
    for (int k = 1; k < 20; k++) {
      assert_int_equal(mech_unit_step(&unit, k * 1e-4, 1e-4, NULL), YOKE_OK);
      assert_int_equal(mech_unit_step(&image, k * 1e-4, 1e-4, NULL), YOKE_OK);
    }
    assert_memory_equal(unit.self, image.self, unit.ops->info->self_size);
    mech_unit_close(&unit);
    mech_unit_close(&image);
  }
}

// outside the cylinder or the range of the bulk modulus the unit stops with its reason
static void test_guards_of_diverging_runs(void** state) {
  (void)state;
  static const struct {
    double s, v, p1;
    const char* reason;
  } rows[] = {{0.5 + 0.2211, 0.0, 3e6, "piston"},
              {0.5 - 0.2211, 0.0, 3e6, "piston"},
              {0.5, 0.0, 275e6, "pressure"},
              {0.5, 0.0, -3e9, "pressure"},
              {0.5, HUGE_VAL, 3e6, "pressure"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double u[2] = {rows[i].s, rows[i].v};
    const char* message = NULL;
    mech_unit unit = mech_unit_open(&yoke__model_crane_hydraulics);
    mech_unit_init(&unit);
    mech_unit_set(&unit, "p1", 0, rows[i].p1);
    mech_unit_inputs(&unit, u);
    assert_int_equal(mech_unit_step(&unit, 0.0, 1e-4, &message), YOKE_DIVERGED);
    assert_non_null(message);
    check_contains(message, rows[i].reason);
    mech_unit_close(&unit);
  }
  const double f_h = HUGE_VAL;
  const char* message = NULL;
  mech_unit arm = mech_unit_open(&yoke__model_crane_arm);
  mech_unit_init(&arm);
  mech_unit_inputs(&arm, &f_h);
  assert_int_equal(mech_unit_step(&arm, 0.0, 1e-3, &message), YOKE_DIVERGED);
  assert_non_null(message);
  mech_unit_close(&arm);
}

// a run beyond the stability limit ends with a status, not with NaN
// (CS-24 in part: FOH fails at 12 ms)
static void test_unstable_run_is_stopped_cs24(void** state) {
  (void)state;
  static const struct {
    double H;
    bool is_stable;
  } rows[] = {{11e-3, true}, {12e-3, false}};
  for (int i = 0; i < 2; i++) {
    mech_unit units[2];
    mech_loop loop = open_force_loop(units, rows[i].H, (int)lround(rows[i].H / 1e-4), 1);
    yoke_status status = YOKE_OK;
    mech_loop_start(&loop);
    for (int k = 0; k < (int)(10.0 / rows[i].H) && status >= 0; k++) {
      status = mech_loop_step(&loop);
    }
    assert_int_equal(status, rows[i].is_stable ? YOKE_OK : YOKE_DIVERGED);
    close_pair(units);
  }
}

static void test_bad_parameters_are_refused(void** state) {
  (void)state;
  static const struct {
    const yoke_unit_ops* ops;
    const char* name;
    double value;
    const char* reason;
  } rows[] = {{&yoke__model_crane_hydraulics, "f_start", 5e4, "no static start"},
              {&yoke__model_crane_hydraulics, "p_P", 0.05e6, "p_P"},
              {&yoke__model_crane_hydraulics, "a_p", 0.0, "above 0"},
              {&yoke__model_crane_hydraulics, "solver", 1.0, "semi-implicit-euler"},
              {&yoke__model_crane_hydraulics_pressure, "micro_steps", 0.0, "micro_steps"},
              {&yoke__model_crane_arm, "l1", -1.0, "l1"},
              {&yoke__model_crane_arm, "b", 0.5, "b must differ"},
              {&yoke__model_crane_arm_pressure, "m3", 0.0, "m3"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit unit = mech_unit_open(rows[i].ops);
    YOKE_CATCH(err);
    mech_unit_set(&unit, rows[i].name, 0, rows[i].value);
    assert_int_equal(unit.ops->enter_init(unit.self, 0.0, 1.0, &err.sink), YOKE_BAD_ARG);
    check_contains(err.text, rows[i].reason);
    mech_unit_close(&unit);
  }
}

// a start of the user's own is left alone
static void test_given_start(void** state) {
  (void)state;
  mech_unit unit = mech_unit_open(&yoke__model_crane_hydraulics);
  mech_unit_set(&unit, "static_start", 0, 0.0);
  mech_unit_set(&unit, "p1", 0, 3e6);
  mech_unit_set(&unit, "p2", 0, 5e6);
  mech_unit_set(&unit, "kappa0", 0, 0.4);
  mech_unit_init(&unit);
  check_near(mech_unit_get(&unit, "f_h", 0), 65e-4 * 2e6, 1e-9);
  check_near(mech_unit_get(&unit, "kappa", 0), 0.4, 0.0);
  mech_unit_close(&unit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_static_start_cs20),
      cmocka_unit_test(test_eigenvalues_at_rest_cs20),
      cmocka_unit_test(test_golden_runs_cs05),
      cmocka_unit_test(test_manoeuvres),
      cmocka_unit_test(test_one_step_against_the_whole_system),
      cmocka_unit_test(test_free_arm_keeps_its_energy),
      cmocka_unit_test(test_feedthrough_is_as_declared),
      cmocka_unit_test(test_micro_steps),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_guards_of_diverging_runs),
      cmocka_unit_test(test_unstable_run_is_stopped_cs24),
      cmocka_unit_test(test_bad_parameters_are_refused),
      cmocka_unit_test(test_given_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
