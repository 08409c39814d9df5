// The rotor units in hand-written Jacobi and Gauss-Seidel loops against the sample trajectories of
// the torque-speed benchmark (TE-05), and on their own.
#include "base/base_message.h"
#include "models/rotor/rotor.h"

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/mechanics_unit.h"
#include "support/mechanics_whole.h"

static void open_pair(mech_unit units[2]) {
  units[0] = mech_unit_open(&yoke__model_rotor_shaft);
  units[1] = mech_unit_open(&yoke__model_rotor_load);
  mech_unit_set(&units[0], "phi", 0, 0.1);
  mech_unit_set(&units[0], "omega", 0, 0.1);
  mech_unit_set(&units[0], "phi_other", 0, 0.2);
  mech_unit_set(&units[1], "phi", 0, 0.2);
  mech_unit_set(&units[1], "omega", 0, 0.1);
  mech_unit_init(&units[1]);
  mech_unit_init(&units[0]);
  const double omega = mech_unit_get(&units[1], "omega", 0);
  mech_unit_inputs(&units[0], &omega);
  mech_unit_refresh(&units[0], 0.0);
}

static void close_pair(mech_unit units[2]) {
  mech_unit_close(&units[0]);
  mech_unit_close(&units[1]);
}

static void hand_speed(mech_unit units[2]) {
  const double omega = mech_unit_get(&units[1], "omega", 0);
  mech_unit_inputs(&units[0], &omega);
}

static void hand_torque(mech_unit units[2]) {
  const double tau = mech_unit_get(&units[0], "tau", 0);
  mech_unit_inputs(&units[1], &tau);
}

typedef enum master { JACOBI_FRESH, JACOBI_STALE, GAUSS_SEIDEL_21, GAUSS_SEIDEL_12 } master;

// One macro step of length h from t = k h.
static void run_step(master kind, mech_unit units[2], int k, double h) {
  const int first = kind == GAUSS_SEIDEL_21 ? 1 : 0;
  if (kind == JACOBI_STALE) {
    hand_torque(units);  // as it stands after the last step
    hand_speed(units);
  } else if (kind == JACOBI_FRESH) {
    hand_speed(units);
    mech_unit_refresh(&units[0], k * h);  // the torque sees the new speed
    hand_torque(units);
  }
  for (int i = 0; i < 2; i++) {
    const int unit = i == 0 ? first : 1 - first;
    if (kind == GAUSS_SEIDEL_21 || kind == GAUSS_SEIDEL_12) {
      if (unit == 0) {
        hand_speed(units);
      } else {
        hand_torque(units);
      }
    }
    assert_int_equal(mech_unit_step(&units[unit], k * h, h, NULL), YOKE_OK);
  }
}

// TE-05: h = 1 s, k = 0..5
static void test_sample_trajectories_te05(void** state) {
  (void)state;
  static const struct {
    master kind;
    bool has_tau;
    double omega[6];
    double tau[6];  // as recorded after the step
  } rows[] = {
      {JACOBI_FRESH,
       true,
       {0.1, 0.050789, 0.011887, -0.016684, -0.036641, -0.049985},
       {-0.1, -0.131629, -0.062237, -0.019861, -0.005974, -0.012778}},
      {JACOBI_STALE, false, {0.1, 0.050789, 0.003115, -0.030013, -0.048727, -0.057216}, {0.0}},
      {GAUSS_SEIDEL_21,
       true,
       {0.1, 0.050789, 0.013958, -0.012803, -0.032050, -0.045610},
       {-0.1, -0.009980, 0.042177, 0.059148, 0.051481, 0.031613}},
      {GAUSS_SEIDEL_12, false, {0.1, 0.047970, 0.007866, -0.021565, -0.042225, -0.055724}, {0.0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit units[2];
    open_pair(units);
    for (int k = 0; k < 6; k++) {
      if (k > 0) {
        run_step(rows[i].kind, units, k - 1, 1.0);
      }
      check_near(mech_unit_get(&units[1], "omega", 0), rows[i].omega[k], 1e-6);
      if (rows[i].has_tau) {
        check_near(mech_unit_get(&units[0], "tau", 0), rows[i].tau[k], 1e-6);
      }
    }
    close_pair(units);
  }
}

// TE-05: the monolithic rows, which every loop approaches with order 1
static void test_loops_converge_to_the_whole_system_te05(void** state) {
  (void)state;
  static const double omega[6] = {0.1, 0.054270, 0.017361, -0.011386, -0.033117, -0.048772};
  static const double tau[6] = {-0.1, -0.028106, 0.019777, 0.040573, 0.039119, 0.023846};
  for (int k = 0; k < 6; k++) {
    double x[4];
    memcpy(x, whole_rotor_start, sizeof x);
    whole_rotor_exact(k, x);
    check_near(x[3], omega[k], 1e-6);
    check_near(x[0] - x[2] + 2.0 * (x[1] - x[3]), tau[k], 1e-6);
  }
  for (int kind = JACOBI_FRESH; kind <= GAUSS_SEIDEL_12; kind++) {
    double x[4];
    double error[4];
    memcpy(x, whole_rotor_start, sizeof x);
    whole_rotor_exact(5.0, x);
    for (int i = 0; i < 4; i++) {
      const int n = 500 << i;
      mech_unit units[2];
      open_pair(units);
      for (int k = 0; k < n; k++) {
        run_step((master)kind, units, k, 5.0 / n);
      }
      error[i] = hypot(mech_unit_get(&units[1], "omega", 0) - x[3],
                       mech_unit_get(&units[1], "phi", 0) - x[2]);
      close_pair(units);
      if (i > 0) {
        check_near(log2(error[i - 1] / error[i]), 1.0, 0.1);
      }
    }
  }
}

// the torque ends at an offset, because the shaft integrates the speed on its own
static void test_torque_offset(void** state) {
  (void)state;
  static const struct {
    master kind;
    double tau;
  } rows[] = {{JACOBI_FRESH, -0.0197}, {GAUSS_SEIDEL_21, 0.0150}};
  for (int i = 0; i < 2; i++) {
    mech_unit units[2];
    open_pair(units);
    for (int k = 0; k < 50; k++) {
      run_step(rows[i].kind, units, k, 1.0);
    }
    check_near(mech_unit_get(&units[0], "tau", 0), rows[i].tau, 5e-5);
    close_pair(units);
  }
}

// `exact` at one large step is the limit of the other solvers, each with its order
static void test_exact_solver_and_orders(void** state) {
  (void)state;
  static const struct {
    const char* solver;
    double order;
  } rows[] = {{"euler", 1.0}, {"rk4", 4.0}, {"trapezoidal", 2.0}};
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      double coarse = 0.0;
      for (int n = 8; n <= 64; n *= 2) {
        mech_unit exact[2];
        mech_unit other[2];
        open_pair(exact);
        open_pair(other);
        mech_unit_choose(&other[side], "solver", rows[i].solver);
        mech_unit_set(&other[side], "micro_steps", 0, n);
        assert_int_equal(mech_unit_step(&exact[side], 0.0, 2.0, NULL), YOKE_OK);
        assert_int_equal(mech_unit_step(&other[side], 0.0, 2.0, NULL), YOKE_OK);
        const double fine = hypot(
            mech_unit_get(&exact[side], "phi", 0) - mech_unit_get(&other[side], "phi", 0),
            mech_unit_get(&exact[side], "omega", 0) - mech_unit_get(&other[side], "omega", 0));
        if (n > 8) {
          check_near(log2(coarse / fine), rows[i].order, 0.15);
        }
        coarse = fine;
        close_pair(exact);
        close_pair(other);
      }
    }
  }
}

// `exact` against the library's exponential, also after a change of the step
static void test_exact_solver_against_exponential(void** state) {
  (void)state;
  static const double steps[] = {1.0, 0.125, 40.0};
  mech_unit units[2];
  open_pair(units);
  for (int i = 0; i < 3; i++) {
    double A[16] = {0.0, 1.0, 0.0, 0.0, -0.2, -0.3, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0};
    double E[16];
    const double z[4] = {mech_unit_get(&units[0], "phi", 0), mech_unit_get(&units[0], "omega", 0),
                         mech_unit_get(&units[0], "phi_other", 0),
                         mech_unit_get(&units[0], "omega_other", 0)};
    double want[4];
    for (int j = 0; j < 16; j++) {
      A[j] *= steps[i];
    }
    check_ok(yoke__expm(4, A, E));
    yoke__mat_vec(4, 4, E, z, want);
    assert_int_equal(mech_unit_step(&units[0], 0.0, steps[i], NULL), YOKE_OK);
    check_near(mech_unit_get(&units[0], "phi", 0), want[0], 1e-13);
    check_near(mech_unit_get(&units[0], "omega", 0), want[1], 1e-13);
    check_near(mech_unit_get(&units[0], "phi_other", 0), want[2], 1e-13);
  }
  close_pair(units);
}

// damping takes energy away, and exactly as much as the model says: dE/dt = -d omega^2
static void test_energy_of_the_load(void** state) {
  (void)state;
  mech_unit units[2];
  open_pair(units);
  double dissipated = 0.0;
  const double h = 1e-3;
  const double E0 = mech_unit_get(&units[1], "E", 0);
  for (int k = 0; k < 5000; k++) {
    const double before = mech_unit_get(&units[1], "omega", 0);
    assert_int_equal(mech_unit_step(&units[1], k * h, h, NULL), YOKE_OK);
    const double after = mech_unit_get(&units[1], "omega", 0);
    dissipated += 0.5 * h * 2.0 * (before * before + after * after);
  }
  // trapezoidal sum: h^2 / 12 times the change of the slope of the power
  check_near(mech_unit_get(&units[1], "E", 0), E0 - dissipated, 1e-8);
  close_pair(units);
}

static void test_feedthrough_is_as_declared(void** state) {
  (void)state;
  mech_unit units[2];
  open_pair(units);
  mech_unit_probe(&units[0], 0.0, 0.125);
  mech_unit_probe(&units[1], 0.0, 0.125);
  close_pair(units);
}

static void test_save_and_restore(void** state) {
  (void)state;
  mech_unit units[2];
  open_pair(units);
  for (int i = 0; i < 2; i++) {
    mech_unit image = mech_unit_copy(&units[i]);
    for (int k = 0; k < 10; k++) {
      assert_int_equal(mech_unit_step(&units[i], k * 0.1, 0.1, NULL), YOKE_OK);
      assert_int_equal(mech_unit_step(&image, k * 0.1, 0.1, NULL), YOKE_OK);
    }
    assert_memory_equal(units[i].self, image.self, image.ops->info->self_size);
    mech_unit_close(&image);
  }
  close_pair(units);
}

// the directional derivative of the torque, and its agreement with the linear model
static void test_derivative_and_linear_model(void** state) {
  (void)state;
  mech_unit units[2];
  open_pair(units);
  const size_t tau = mech_unit_index(&units[0], "tau");
  const size_t knowns[4] = {mech_unit_index(&units[0], "phi"), mech_unit_index(&units[0], "omega"),
                            mech_unit_index(&units[0], "phi_other"),
                            mech_unit_index(&units[0], "omega_other")};
  double A[9];
  double B[3];
  double C[12];
  double D[4];
  yoke_linear model = {.A = A, .B = B, .C = C, .D = D};
  check_ok(units[0].ops->linearise(units[0].self, &model));
  assert_int_equal(model.n_states, 3);
  assert_int_equal(model.n_inputs, 1);
  assert_int_equal(model.n_outputs, 4);
  static const char* const names[] = {"phi", "omega", "phi_other", "omega_other"};
  for (int j = 0; j < 4; j++) {
    const double seed = 1.0;
    double slope = 0.0;
    check_ok(units[0].ops->derivative(units[0].self, &tau, 1, &knowns[j], 1, &seed, &slope));
    mech_unit moved = mech_unit_copy(&units[0]);
    mech_unit_set(&moved, names[j], 0, mech_unit_get(&moved, names[j], 0) + 0.5);
    mech_unit_refresh(&moved, 0.0);
    const double difference =
        (mech_unit_get(&moved, "tau", 0) - mech_unit_get(&units[0], "tau", 0)) / 0.5;
    check_near(slope, difference, 1e-14);
    check_near(j < 3 ? C[j] : D[0], slope, 0.0);
    mech_unit_close(&moved);
  }
  double seed = 1.0;
  double out = 0.0;
  const size_t J = mech_unit_index(&units[0], "J");
  assert_int_equal(units[0].ops->derivative(units[0].self, &tau, 1, &J, 1, &seed, &out),
                   YOKE_BAD_ARG);

  // both linear models joined have the eigenvalues of the whole system and the free
  // integral at 0
  double A2[4];
  double B2[2];
  yoke_linear load = {.A = A2, .B = B2};
  check_ok(units[1].ops->linearise(units[1].self, &load));
  assert_int_equal(load.n_states, 2);
  double whole[25] = {0};
  for (size_t i = 0; i < 3; i++) {
    memcpy(&whole[5 * i], &A[3 * i], 3 * sizeof A[0]);
    whole[5 * i + 4] = B[i];  // omega of the load
  }
  for (size_t i = 0; i < 2; i++) {
    memcpy(&whole[5 * (3 + i) + 3], &A2[2 * i], 2 * sizeof A2[0]);
    for (size_t j = 0; j < 3; j++) {
      whole[5 * (3 + i) + j] += B2[i] * C[j];
    }
    whole[5 * (3 + i) + 4] += B2[i] * D[0];
  }
  double re[5];
  double im[5];
  static const double want[][2] = {{-0.27531, 0.46990},
                                   {-0.27531, -0.46990},
                                   {-0.07469, 0.30914},
                                   {-0.07469, -0.30914},
                                   {0.0, 0.0}};
  check_ok(yoke__eigenvalues(5, whole, re, im));
  for (int i = 0; i < 5; i++) {
    double nearest = HUGE_VAL;
    for (int j = 0; j < 5; j++) {
      nearest = fmin(nearest, hypot(re[j] - want[i][0], im[j] - want[i][1]));
    }
    check_near(nearest, 0.0, 1e-5);
  }
  close_pair(units);
}

static void test_bad_parameters_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double value;
    const char* reason;
  } rows[] = {{"J", 0.0, "J must be above 0"},
              {"ck", HUGE_VAL, "finite"},
              {"micro_steps", -3.0, "micro_steps"},
              {"solver", 4.0, "solver"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit unit = mech_unit_open(&yoke__model_rotor_shaft);
    YOKE_CATCH(err);
    mech_unit_set(&unit, rows[i].name, 0, rows[i].value);
    assert_int_equal(unit.ops->enter_init(unit.self, 0.0, 1.0, &err.sink), YOKE_BAD_ARG);
    check_contains(err.text, rows[i].reason);
    mech_unit_close(&unit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample_trajectories_te05),
      cmocka_unit_test(test_loops_converge_to_the_whole_system_te05),
      cmocka_unit_test(test_torque_offset),
      cmocka_unit_test(test_exact_solver_and_orders),
      cmocka_unit_test(test_exact_solver_against_exponential),
      cmocka_unit_test(test_energy_of_the_load),
      cmocka_unit_test(test_feedthrough_is_as_declared),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_derivative_and_linear_model),
      cmocka_unit_test(test_bad_parameters_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
