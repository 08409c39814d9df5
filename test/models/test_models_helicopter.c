// The helicopter, its controller and its pilot: published figures of the matrices (MP-14), limits of
// held signals, and what every unit must do.
#include <float.h>

#include "base/base_message.h"
#include "identify/identify_jacobian.h"
#include "study/study_stability.h"
#include "support/helicopter_whole.h"

static helicopter heli;

static int open_all(void** state) {
  (void)state;
  helicopter_open(&heli);
  return 0;
}

static void test_units(void** state) {
  (void)state;
  const yoke_unit_ops* const ops[] = {&yoke__model_helicopter_airframe,
                                      &yoke__model_helicopter_controller};
  for (size_t i = 0; i < 2; i++) {
    trial d;
    trial_open(&d, ops[i], NULL, 0);
    trial_check_description(&d);
    trial_set_whole(&d, "micro_steps", 50);
    trial_set(&d, i == 0 ? "main" : "heave", 0.3);
    trial_set(&d, i == 0 ? "tail" : "pitch_rate", -0.2);
    trial_start(&d, 0.0);
    trial_check_feedthrough(&d, 0.0);
    trial_check_rollback(&d, 0.0, 0.1);
    trial_check_derivative(&d, 0.0, 1e-9);
    trial_close(&d);
  }
}

// Names lead to the right rows and columns: steps of explicit Euler by hand with the linear model.
static void check_steps(const yoke_unit_ops* ops, const char* input, const char* const outputs[],
                        const yoke_linear* model, size_t driven) {
  double x[HELI_N2] = {0}, dx[HELI_N2], u[HELI_Y] = {0}, y[HELI_Y];
  trial d;
  trial_open(&d, ops, NULL, 0);
  trial_set(&d, input, 0.25);
  trial_start(&d, 0.0);
  u[driven] = 0.25;
  for (int k = 0; k < 500; k++) {
    (void)trial_step(&d, k * HELI_MICRO, HELI_MICRO);
    yoke__mat_vec(model->n_states, model->n_states, model->A, x, dx);
    yoke__mat_vec_add(model->n_states, model->n_inputs, model->B, u, dx);
    for (size_t i = 0; i < model->n_states; i++) {
      x[i] += HELI_MICRO * dx[i];
    }
    yoke__mat_vec(model->n_outputs, model->n_states, model->C, x, y);
    for (size_t i = 0; i < model->n_outputs; i++) {
      check_near(trial_get(&d, outputs[i]), y[i], 1e-12 * (1 + fabs(y[i])));
    }
  }
  trial_close(&d);
}

static void test_step_is_the_written_arithmetic(void** state) {
  (void)state;
  static const char* const motion[] = {"heave", "pitch", "roll", "turn", "roll_rate", "pitch_rate"};
  static const char* const controls[] = {"main", "longitudinal", "lateral", "tail"};
  const yoke_linear one = {HELI_N1, HELI_U, HELI_Y, heli.A1, heli.B1, heli.C1, heli.D1};
  const yoke_linear two = {HELI_N2, HELI_Y, HELI_U, heli.A2, heli.B2, heli.C2, heli.D2};
  for (size_t i = 0; i < HELI_U; i++) {
    check_steps(&yoke__model_helicopter_airframe, controls[i], motion, &one, i);
  }
  for (size_t i = 0; i < HELI_Y; i++) {
    check_steps(&yoke__model_helicopter_controller, motion[i], controls, &two, i);
  }
}

static void test_refuses_micro_steps(void** state) {
  (void)state;
  const yoke_unit_ops* const ops[] = {&yoke__model_helicopter_airframe,
                                      &yoke__model_helicopter_controller};
  for (size_t i = 0; i < 2; i++) {
    trial d;
    YOKE_CATCH(err);
    trial_open(&d, ops[i], NULL, 0);
    trial_set_whole(&d, "micro_steps", 0);
    assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
    check_contains(err.text, "micro_steps is 0, expected 1 to 1000000");
    trial_close(&d);
  }
}

static double largest_real(size_t n, const double A[], double* second) {
  double re[HELI_N], im[HELI_N], most = -DBL_MAX;
  check_ok(yoke__eigenvalues(n, A, re, im));
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, re[i]);
    if (second != NULL) {
      *second = fmin(*second, re[i]);
    }
  }
  return most;
}

// The airframe grows with 0.2342 1/s, the loop decays with 1.43272e-3 1/s; poles of the controller span
// a factor of 3.6e5 (published: 3.4e5 for the controller that this one stands in for).
static void test_poles(void** state) {
  (void)state;
  check_near(largest_real(HELI_N1, heli.A1, NULL), 0.23420, 5e-6);
  double fastest = 0, loop[HELI_N * HELI_N] = {0};
  const double slowest = largest_real(HELI_N2, heli.A2, &fastest);
  check_relative(fastest / slowest, 3.6e5, 0.01);

  // A of the undivided system, column by column
  for (size_t j = 0; j < HELI_N; j++) {
    double x[HELI_N] = {0}, y[HELI_Y + HELI_U];
    x[j] = 1;
    helicopter_advance(&heli, 0, x, y);  // no command at t = 0
    for (size_t i = 0; i < HELI_N; i++) {
      loop[i * HELI_N + j] = (x[i] - (i == j ? 1 : 0)) / HELI_MICRO;
    }
  }
  check_relative(largest_real(HELI_N, loop, NULL), -1.43272e-3, 1e-5);
}

// Appendix A: spectral radius of the loop with held signals.
static void test_MP_14_radii_of_held_signals(void** state) {
  (void)state;
  static const double rows[][2] = {
      {0.10, 0.9998567}, {0.16, 0.9997708}, {0.18, 1.0501464}, {0.20, 1.1061884}};
  double L[(HELI_U + HELI_Y) * (HELI_U + HELI_Y)];
  helicopter_coupling(L);
  const yoke_stability_unit units[] = {
      {HELI_N1, HELI_U, HELI_Y, heli.A1, heli.B1, heli.C1, heli.D1},
      {HELI_N2, HELI_Y, HELI_U, heli.A2, heli.B2, heli.C2, heli.D2},
  };
  yoke_stability_case c = yoke__stability_case_default();
  c.units = units;
  c.n_units = 2;
  c.L = L;
  c.micro_step = HELI_MICRO;
  c.method = YOKE_STABILITY_ZOH;
  for (size_t i = 0; i < 4; i++) {
    double radius = 0;
    c.step = rows[i][0];
    check_ok(yoke__stability_radius(&c, &radius));
    print_message("held, %.2f s: spectral radius %.7f\n", rows[i][0], radius);
    check_near(radius, rows[i][1], 6e-8);
  }
}

// Exact Jacobians of units with more states than outputs: the coupled surrogate of the stable loop
// grows, so they are refused.
static void test_MP_14_exact_jacobians_are_refused(void** state) {
  (void)state;
  double Jy1[HELI_Y * HELI_Y], Ju1[HELI_Y * HELI_U], Jd1[HELI_Y * HELI_U];
  double Jy2[HELI_U * HELI_U], Ju2[HELI_U * HELI_Y], Jd2[HELI_U * HELI_Y];
  double L[(HELI_U + HELI_Y) * (HELI_U + HELI_Y)], growth = 0;
  YOKE_CATCH(err);
  const yoke_identify_states one = {HELI_N1, HELI_Y, HELI_U, heli.A1, heli.B1, heli.C1, heli.D1};
  const yoke_identify_states two = {HELI_N2, HELI_U, HELI_Y, heli.A2, heli.B2, heli.C2, heli.D2};
  yoke_jacobian_continuous J[] = {{HELI_Y, HELI_U, Jy1, Ju1, Jd1}, {HELI_U, HELI_Y, Jy2, Ju2, Jd2}};
  const size_t size = yoke__jacobian_states_work_size(&one) + yoke__jacobian_states_work_size(&two);
  double* work = malloc(size * sizeof *work);
  check_ok(yoke__jacobian_of_states(&one, &J[0], NULL, work));
  check_ok(yoke__jacobian_of_states(&two, &J[1], NULL, work));
  free(work);

  // the airframe's as printed (specification 10.3); of the controller's only C B is free of the basis of
  // its states: 13 % from what was printed for the one that it stands in for
  check_near(Jy1[0], -2.91e-1, 5e-4);
  check_near(Ju1[0], 4.82, 5e-3);
  static const double printed[] = {63.4,  190,  -49.3, 187,   -26.8, 12.5,  284,   1120,
                                   -286,  1080, -155,  73.3,  27.7,  106,   -45.8, 116,
                                   -16.0, 5.33, -304,  -1190, 332,   -1250, 169,   -76.6};
  double off = 0, all = 0;
  for (size_t i = 0; i < (size_t)HELI_U * HELI_Y; i++) {
    off += (Ju2[i] - printed[i]) * (Ju2[i] - printed[i]);
    all += printed[i] * printed[i];
  }
  check_near(sqrt(off / all), 0.13, 0.005);

  helicopter_coupling(L);
  assert_int_equal(yoke__jacobian_check_growth(2, J, L, &growth, &err.sink), YOKE_BAD_INPUT);
  print_message("%s\n", err.text);
  assert_true(growth > 0.1);  // 0.44 with modal states; 0.58 with those of the design
}

// ---- pilot

static void open_pilot(trial* d, int64_t version) {
  trial_open(d, &yoke__model_helicopter_pilot, NULL, 0);
  trial_set_whole(d, "version", version);
  trial_start(d, 0.0);
}

// Version 1 moves one command at a time, without jumps, and is what the tests take for it.
static void test_pilot_version_1(void** state) {
  (void)state;
  static const char* const names[] = {"heave", "pitch", "roll", "turn"};
  trial d;
  open_pilot(&d, 1);
  trial_check_description(&d);
  trial_check_rollback(&d, 0.0, 0.1);
  double last[HELI_U] = {0};
  for (int k = 0; k < 15000; k++) {
    const yoke_step_result result = trial_step(&d, k * 0.01, 0.01);
    double want[HELI_U];
    int n_active = 0;
    helicopter_commands(result.t_reached, want);
    assert_int_equal(result.flags, 0);
    for (int i = 0; i < HELI_U; i++) {
      const double r = trial_get(&d, names[i]);
      check_near(r, want[i], 1e-14);
      check_near(r, last[i], 0.01 * 0.32 * (i == 0 ? 1 : 0.1));  // pi a / 10 at most
      n_active += r != 0;
      last[i] = r;
    }
    assert_true(n_active <= 1);
  }
  trial_close(&d);
}

// The others: within their ranges, and a jump is announced, nothing else.
static void test_pilot_other_versions(void** state) {
  (void)state;
  static const char* const names[] = {"heave", "pitch", "roll", "turn"};
  for (int64_t version = 2; version <= 5; version++) {
    trial d;
    open_pilot(&d, version);
    double last[HELI_U], peak[HELI_U] = {0};
    for (int i = 0; i < HELI_U; i++) {
      last[i] = trial_get(&d, names[i]);
    }
    int n_announced = 0;
    for (int k = 0; k < 15000; k++) {
      const yoke_step_result result = trial_step(&d, k * 0.01, 0.01);
      bool has_jumped = false;
      for (int i = 0; i < HELI_U; i++) {
        const double r = trial_get(&d, names[i]);
        has_jumped = has_jumped || fabs(r - last[i]) > 0.02;  // smooth parts: 0.01 in 10 ms at most
        peak[i] = fmax(peak[i], fabs(r));
        last[i] = r;
      }
      assert_int_equal(has_jumped, (result.flags & YOKE_STEP_EVENT_NEEDED) != 0);
      n_announced += has_jumped;
    }
    print_message("version %d: %d jumps, peaks %.3g %.3g %.3g %.3g\n", (int)version, n_announced,
                  peak[0], peak[1], peak[2], peak[3]);
    assert_true(peak[0] <= 1 && peak[1] <= 0.1 && peak[2] <= 0.1 && peak[3] <= 0.1);
    assert_int_equal(n_announced == 0, version == 4);
    trial_close(&d);
  }
  trial d;
  YOKE_CATCH(err);
  trial_open(&d, &yoke__model_helicopter_pilot, NULL, 0);
  trial_set_whole(&d, "version", 6);
  assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
  check_contains(err.text, "version is 6, expected 1 to 5");
  trial_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_step_is_the_written_arithmetic),
      cmocka_unit_test(test_refuses_micro_steps),
      cmocka_unit_test(test_poles),
      cmocka_unit_test(test_MP_14_radii_of_held_signals),
      cmocka_unit_test(test_MP_14_exact_jacobians_are_refused),
      cmocka_unit_test(test_pilot_version_1),
      cmocka_unit_test(test_pilot_other_versions),
  };
  return cmocka_run_group_tests(tests, open_all, NULL);
}
