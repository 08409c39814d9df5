// The pendulum units on their own and in a hand-written Jacobi loop (CS-04, CS-05, CS-19 in part).
#include "base/base_message.h"
#include "models/pendulum/pendulum.h"

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/mechanics_unit.h"
#include "support/mechanics_whole.h"

// dense outputs of pendulum.force: F[2], tip[2], vtip[2], ...; pendulum.mass has no F
enum { FORCE_FX, FORCE_FY };
enum { MASS_X, MASS_Y, MASS_VX, MASS_VY };

static mech_unit open_pendulum(bool is_first, const char* formulation) {
  mech_unit unit =
      mech_unit_open(is_first ? &yoke__model_pendulum_force : &yoke__model_pendulum_mass);
  mech_unit_set(&unit, "m", 0, is_first ? 1.0 : 2.0);
  mech_unit_set(&unit, "l", 0, is_first ? 2.5 : 3.5);
  mech_unit_set(&unit, "pin", 0, is_first ? 0.0 : 7.0);
  mech_unit_set(&unit, "theta", 0, whole_pendula_start[is_first ? 0 : 2]);
  mech_unit_choose(&unit, "formulation", formulation);
  return unit;
}

static mech_loop open_loop(mech_unit units[2], const char* formulation, double H) {
  units[0] = open_pendulum(true, formulation);
  units[1] = open_pendulum(false, formulation);
  mech_loop loop = {.units = {&units[0], &units[1]},
                    .source = {{MASS_X, MASS_Y, MASS_VX, MASS_VY}, {FORCE_FX, FORCE_FY}},
                    .calls = {1, 1},
                    .H = H,
                    .n_bond = 2,
                    .action = {FORCE_FX, FORCE_FY},
                    .rate = {MASS_VX, MASS_VY}};
  mech_loop_start(&loop);
  return loop;
}

static void close_pair(mech_unit units[2]) {
  mech_unit_close(&units[0]);
  mech_unit_close(&units[1]);
}

static void get_state(const mech_unit units[2], double x[4]) {
  for (size_t i = 0; i < 2; i++) {
    x[2 * i] = mech_unit_get(&units[i], "theta", 0);
    x[2 * i + 1] = mech_unit_get(&units[i], "omega", 0);
  }
}

// energy and force at the start
static void test_start(void** state) {
  (void)state;
  mech_unit units[2];
  (void)open_loop(units, "minimal", 1e-3);
  check_near(mech_unit_get(&units[0], "F", 0), -35.040010, 5e-7);
  check_near(mech_unit_get(&units[0], "F", 1), 10.074361, 5e-7);
  const double* F =
      (const double[]){mech_unit_get(&units[0], "F", 0), mech_unit_get(&units[0], "F", 1)};
  const double spring = 0.5 * (F[0] * F[0] + F[1] * F[1]) / 6.0;
  check_near(mech_unit_get(&units[0], "E", 0) + mech_unit_get(&units[1], "E", 0) + spring,
             25.806046, 5e-7);
  close_pair(units);
}

// CS-04, CS-05 and the uncorrected half of CS-19: 10 s at 1 ms
static void test_golden_run_cs04_cs05_cs19(void** state) {
  (void)state;
  mech_unit units[2];
  mech_loop loop = open_loop(units, "minimal", 1e-3);
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (int k = 1; k <= 10000; k++) {
    mech_loop_run(&loop, k);
    if (k == 1) {
      check_relative(loop.dP, 0.592357, 1e-6);
    }
    low = fmin(low, loop.dP);
    high = fmax(high, loop.dP);
  }
  check_between(low, 0.19, 0.70);
  check_between(high, 0.19, 0.70);
  double x[4];
  get_state(units, x);
  check_relative(x[0], 1.005795014, 1e-7);
  check_relative(x[1], 0.5960153413, 1e-7);
  check_relative(x[2], -1.189592735, 1e-7);
  check_relative(x[3], 2.156654717, 1e-7);
  check_relative(loop.dE, 3.963251870, 1e-7);
  check_relative(whole_pendula_energy(x), 27.47837012, 1e-7);
  close_pair(units);
}

// Angles of both formulations after 1 s at step H, and the largest constraint violation over 10 s.
static double formulation_gap(double H, double* violation) {
  mech_unit minimal[2];
  mech_unit augmented[2];
  mech_loop loop_m = open_loop(minimal, "minimal", H);
  mech_loop loop_a = open_loop(augmented, "augmented-lagrangian", H);
  double gap = 0.0;
  *violation = 0.0;
  const int n = (int)lround(10.0 / H);
  for (int k = 1; k <= n; k++) {
    mech_loop_run(&loop_m, k);
    mech_loop_run(&loop_a, k);
    for (int i = 0; i < 2; i++) {
      *violation = fmax(*violation, fabs(mech_unit_get(&augmented[i], "Phi", 0)));
      if (k <= n / 10) {
        gap = fmax(gap, fabs(mech_unit_get(&augmented[i], "theta", 0) -
                             mech_unit_get(&minimal[i], "theta", 0)));
      }
    }
  }
  close_pair(minimal);
  close_pair(augmented);
  return gap;
}

// constraint violation 1.2e-2 m^2 at 1 ms and 1.2e-3 at 0.1 ms; both formulations have order 1,
// so their distance falls tenfold as well
static void test_formulations_agree_within_the_step_error(void** state) {
  (void)state;
  double coarse_violation;
  double fine_violation;
  const double coarse = formulation_gap(1e-3, &coarse_violation);
  const double fine = formulation_gap(1e-4, &fine_violation);
  check_near(coarse_violation, 1.2e-2, 0.05e-2);
  check_near(fine_violation, 1.2e-3, 0.05e-3);
  check_near(coarse / fine, 10.0, 1.0);
}

// the split solve along and across the rod against the 2 x 2 systems as they are written
static void test_augmented_lagrangian_against_full_solve(void** state) {
  (void)state;
  mech_unit unit = open_pendulum(false, "augmented-lagrangian");
  const double F[2] = {3.0, -4.0};
  const double h = 1.0 / 1024.0;
  mech_unit_set(&unit, "omega", 0, 0.7);
  mech_unit_set(&unit, "alpha", 0, 1e3);  // few digits lost in the plain solve
  mech_unit_set(&unit, "iterations", 0, 3.0);
  mech_unit_init(&unit);
  mech_unit_inputs(&unit, F);
  double d[2];
  double v[2];
  double a[2] = {F[0] / 2.0, F[1] / 2.0 - 9.81};
  for (size_t i = 0; i < 2; i++) {
    d[i] = mech_unit_get(&unit, "tip", i) - (i == 0 ? 7.0 : 0.0);
    v[i] = mech_unit_get(&unit, "vtip", i);
  }
  const double Phi = d[0] * d[0] + d[1] * d[1] - 3.5 * 3.5;
  const double dPhi = 2.0 * (d[0] * v[0] + d[1] * v[1]);
  const double drift = 2.0 * (v[0] * v[0] + v[1] * v[1]) + 2.0 * 10.0 * dPhi + 100.0 * Phi;
  for (int i = 0; i < 3; i++) {
    double M[4] = {2.0 + 4e3 * d[0] * d[0], 4e3 * d[0] * d[1], 4e3 * d[0] * d[1],
                   2.0 + 4e3 * d[1] * d[1]};
    size_t pivots[2];
    for (int j = 0; j < 2; j++) {
      a[j] = 2.0 * a[j] - 1e3 * 2.0 * d[j] * drift;
    }
    check_ok(yoke__solve(2, M, a, pivots));
  }
  assert_int_equal(mech_unit_step(&unit, 0.0, h, NULL), YOKE_OK);
  for (size_t i = 0; i < 2; i++) {
    // condition of M is 1e3 * 4 * 3.5^2 / 2 = 2.5e4
    check_near(mech_unit_get(&unit, "vtip", i), v[i] + h * a[i], 1e-11);
  }
  mech_unit_close(&unit);
}

// A free pendulum from 1 rad after 1 s: angle and angular velocity.
static void free_motion(const char* solver, int n_steps, double x[2]) {
  mech_unit unit = open_pendulum(false, "minimal");
  mech_unit_set(&unit, "theta", 0, 1.0);
  mech_unit_choose(&unit, "solver", solver);
  mech_unit_init(&unit);
  for (int i = 0; i < n_steps; i++) {
    assert_int_equal(mech_unit_step(&unit, (double)i / n_steps, 1.0 / n_steps, NULL), YOKE_OK);
  }
  x[0] = mech_unit_get(&unit, "theta", 0);
  x[1] = mech_unit_get(&unit, "omega", 0);
  mech_unit_close(&unit);
}

// Error of both against 8192 steps of RK4; one alone may pass through zero and hide the order.
static double free_error(const char* solver, int n_steps) {
  double exact[2];
  double x[2];
  free_motion("rk4", 8192, exact);
  free_motion(solver, n_steps, x);
  return hypot(x[0] - exact[0], x[1] - exact[1]);
}

static void test_orders_of_the_solvers(void** state) {
  (void)state;
  static const struct {
    const char* solver;
    double order;
  } rows[] = {{"euler", 1.0}, {"semi-implicit-euler", 1.0}, {"rk4", 4.0}, {"trapezoidal", 2.0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double coarse = free_error(rows[i].solver, 32);
    for (int n = 64; n <= 256; n *= 2) {
      const double fine = free_error(rows[i].solver, n);
      check_near(log2(coarse / fine), rows[i].order, 0.15);
      coarse = fine;
    }
  }
}

// a free pendulum keeps its energy under RK4 to h^4 and does not drift under semi-implicit Euler;
// both formulations
static void test_energy_is_kept(void** state) {
  (void)state;
  static const char* const formulations[] = {"minimal", "augmented-lagrangian"};
  for (int i = 0; i < 2; i++) {
    mech_unit unit = open_pendulum(false, formulations[i]);
    mech_unit_set(&unit, "theta", 0, 1.0);
    mech_unit_choose(&unit, "solver", "rk4");
    mech_unit_init(&unit);
    const double E0 = mech_unit_get(&unit, "E", 0);
    check_relative(E0, -2.0 * 9.81 * 3.5 * cos(1.0), 1e-14);
    for (int k = 0; k < 10000; k++) {
      assert_int_equal(mech_unit_step(&unit, k * 1e-3, 1e-3, NULL), YOKE_OK);
    }
    // RK4 damps by (w h)^6 / 72 per step: 1.4e-10 in 10^4 steps even for the stabilisation,
    // w = 10 rad/s
    check_near(mech_unit_get(&unit, "E", 0), E0, 1.4e-10 * fabs(E0));
    mech_unit_close(&unit);
  }
}

// a full turn: the angle of the augmented formulation goes on counting
static void test_angle_counts_on(void** state) {
  (void)state;
  mech_unit unit = open_pendulum(false, "augmented-lagrangian");
  mech_unit_set(&unit, "g", 0, 0.0);
  mech_unit_set(&unit, "theta", 0, 0.0);
  mech_unit_set(&unit, "omega", 0, 4.0);
  mech_unit_choose(&unit, "solver", "rk4");
  mech_unit_init(&unit);
  for (int k = 0; k < 5000; k++) {
    assert_int_equal(mech_unit_step(&unit, k * 1e-3, 1e-3, NULL), YOKE_OK);
  }
  check_near(mech_unit_get(&unit, "theta", 0), 20.0, 1e-6);
  check_near(mech_unit_get(&unit, "omega", 0), 4.0, 1e-6);
  mech_unit_close(&unit);
}

static void test_feedthrough_is_as_declared(void** state) {
  (void)state;
  mech_unit units[2];
  (void)open_loop(units, "minimal", 1e-3);
  mech_unit_set(&units[0], "c", 0, 0.5);
  mech_unit_probe(&units[0], 0.0, 0.125);
  mech_unit_probe(&units[1], 0.0, 0.125);
  close_pair(units);
}

static void test_save_and_restore(void** state) {
  (void)state;
  static const char* const formulations[] = {"minimal", "augmented-lagrangian"};
  for (int i = 0; i < 2; i++) {
    mech_unit units[2];
    mech_loop loop = open_loop(units, formulations[i], 1e-3);
    mech_loop_run(&loop, 10);
    for (int j = 0; j < 2; j++) {
      mech_unit image = mech_unit_copy(&units[j]);
      for (int k = 0; k < 10; k++) {
        assert_int_equal(mech_unit_step(&units[j], k * 1e-3, 1e-3, NULL), YOKE_OK);
        assert_int_equal(mech_unit_step(&image, k * 1e-3, 1e-3, NULL), YOKE_OK);
      }
      assert_memory_equal(units[j].self, image.self, image.ops->info->self_size);
      mech_unit_close(&image);
    }
    close_pair(units);
  }
}

static void test_bad_parameters_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double value;
    const char* reason;
  } rows[] = {{"m", -1.0, "above 0"},
              {"l", 0.0, "above 0"},
              {"g", HUGE_VAL, "finite"},
              {"alpha", 0.0, "alpha"},
              {"iterations", 0.0, "iterations"},
              {"micro_steps", 0.0, "micro_steps"},
              {"solver", -1.0, "solver"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit unit = open_pendulum(true, "minimal");
    YOKE_CATCH(err);
    mech_unit_set(&unit, rows[i].name, 0, rows[i].value);
    assert_int_equal(unit.ops->enter_init(unit.self, 0.0, 1.0, &err.sink), YOKE_BAD_ARG);
    check_contains(err.text, rows[i].reason);
    mech_unit_close(&unit);
  }
}

static void test_divergence_is_reported(void** state) {
  (void)state;
  const double F[2] = {HUGE_VAL, 0.0};
  const char* message = NULL;
  mech_unit unit = open_pendulum(false, "minimal");
  mech_unit_init(&unit);
  mech_unit_inputs(&unit, F);
  assert_int_equal(mech_unit_step(&unit, 0.0, 1e-3, &message), YOKE_DIVERGED);
  assert_non_null(message);
  mech_unit_close(&unit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_start),
      cmocka_unit_test(test_golden_run_cs04_cs05_cs19),
      cmocka_unit_test(test_formulations_agree_within_the_step_error),
      cmocka_unit_test(test_augmented_lagrangian_against_full_solve),
      cmocka_unit_test(test_orders_of_the_solvers),
      cmocka_unit_test(test_energy_is_kept),
      cmocka_unit_test(test_angle_counts_on),
      cmocka_unit_test(test_feedthrough_is_as_declared),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_bad_parameters_are_refused),
      cmocka_unit_test(test_divergence_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
