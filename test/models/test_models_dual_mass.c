// The dual mass oscillator on its own: arithmetic of a step, pulses, the linear case against
// state_space, order and energy of the solver, feedthrough, derivatives, refusals.
#include "base/base_message.h"
#include "models/dual_mass/dual_mass.h"

#include "models/state_space/state_space.h"
#include "support/trial.h"

static const yoke_unit_ops* const left_ops = &yoke__model_dual_mass_left;
static const yoke_unit_ops* const right_ops = &yoke__model_dual_mass_right;

// the nonlinear coupling element of the specification (10.2)
static void open_nonlinear(trial* d, int64_t micro_steps) {
  trial_open(d, right_ops, NULL, 0);
  trial_set(d, "kc", 5e5);
  trial_set(d, "kc_exponent", 0.5);
  trial_set(d, "cc_exponent", 0.5);
  trial_set_whole(d, "micro_steps", micro_steps);
}

static double force(double e, double rate) {
  const double ck = fmax(fmin(5e5 * sqrt(fabs(e)), 2.5e5), 2.5e4);
  const double dk = fmax(fmin(1e3 * sqrt(fabs(rate)), 3e3), 5e2);
  return ck * e + dk * rate;
}

static void test_description(void** state) {
  (void)state;
  trial left, right;
  trial_open(&left, left_ops, NULL, 0);
  open_nonlinear(&right, 10);
  trial_check_description(&left);
  trial_check_description(&right);
  trial_set(&left, "x", 0.1);
  trial_set(&left, "pulse_amplitude", 5e5);
  trial_set(&right, "x", 0.1);
  trial_set(&right, "v", 0.7);
  trial_start(&left, 0.0);
  trial_start(&right, 0.0);
  check_near(trial_get(&right, "f"), force(-0.1, -0.7), 0.0);
  trial_check_feedthrough(&left, 0.0);
  trial_check_feedthrough(&right, 0.0);
  trial_check_rollback(&left, 0.0, 1e-3);
  trial_check_rollback(&right, 0.0, 1e-3);
  trial_check_derivative(&left, 0.0, 1e-9);
  trial_check_derivative(&right, 0.0, 1.0);  // of 1e5; the difference is taken over a curved law
  trial_close(&left);
  trial_close(&right);
}

// Both masses written out by hand, inputs held over 1 ms: the units must give the same bits.
static void test_step_is_the_written_arithmetic(void** state) {
  (void)state;
  const int n = 100;
  const double h = 1e-3 / n;
  trial left, right;
  trial_open(&left, left_ops, NULL, 0);
  open_nonlinear(&right, n);
  trial_set_whole(&left, "micro_steps", n);
  trial_set(&left, "x", 0.1);
  trial_set(&left, "pulse_amplitude", 5e5);
  trial_set(&right, "x", 0.1);
  trial_start(&left, 0.0);
  trial_start(&right, 0.0);
  double x1 = 0.1, v1 = 0, x2 = 0, v2 = 0, f = force(-0.1, 0);
  for (int k = 0; k < 400; k++) {
    const double u_f = f, u_x = x1, u_v = v1;
    const int n_pulse = k / 50;
    const double pulse = k % 50 == 0 ? 5e5 * sin(10 * (n_pulse * 0.05)) : 0;
    for (int j = 0; j < n; j++) {
      const double a1 = (-1e6 * x1 - 1 * v1 + u_f + pulse) / 10;
      const double a2 = (-1e7 * x2 - 2 * v2 - force(x2 - u_x, v2 - u_v)) / 10;
      x1 += h * v1;
      v1 += h * a1;
      x2 += h * v2;
      v2 += h * a2;
    }
    f = force(x2 - u_x, v2 - u_v);
    trial_set(&left, "f", u_f);
    trial_set(&right, "x", u_x);
    trial_set(&right, "v", u_v);
    (void)trial_step(&left, k * 1e-3, 1e-3);
    (void)trial_step(&right, k * 1e-3, 1e-3);
    check_near(trial_get(&left, "x"), x1, 0.0);
    check_near(trial_get(&left, "v"), v1, 0.0);
    check_near(trial_get(&right, "f"), f, 0.0);
  }
  trial_close(&left);
  trial_close(&right);
}

// A free mass takes up the momentum of all pulses, whatever the steps it is called with: edges fall
// on internal steps, not on calls.
static void test_pulses_keep_their_momentum(void** state) {
  (void)state;
  static const struct {
    double h;
    int64_t n_micro;
  } calls[] = {{1e-3, 100}, {3e-3, 300}, {8e-3, 800}, {1e-5, 1}, {7e-3, 700}};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    trial left;
    trial_open(&left, left_ops, NULL, 0);
    trial_set(&left, "k", 0.0);
    trial_set(&left, "c", 0.0);
    trial_set(&left, "pulse_amplitude", 5e5);
    trial_set_whole(&left, "micro_steps", calls[i].n_micro);
    trial_start(&left, 0.0);
    const int n = (int)floor(0.98 / calls[i].h + 1e-6);
    double want = 0.0;
    for (int l = 0; l < 20; l++) {
      want += 5e5 * sin(10 * 0.05 * l) * 1e-3 / 10;
    }
    for (int k = 0; k < n; k++) {
      (void)trial_step(&left, k * calls[i].h, calls[i].h);
    }
    check_relative(trial_get(&left, "v"), want, 1e-11);
    trial_close(&left);
  }
}

// Without exponents the units are the state spaces of the specification (10.1), to round-off.
static void test_linear_case_is_state_space(void** state) {
  (void)state;
  const double A1[] = {0, 1, -1e5, -0.1}, B1[] = {0, 0.1}, x0[] = {0.1, 0};
  const double A2[] = {0, 1, -1.01e6, -100.2}, B2[] = {0, 0, 1e4, 100}, C2[] = {1e5, 1e3};
  const double D2[] = {-1e5, -1e3};
  const yoke_argument first[] = {trial_matrix("A", 2, 2, A1), trial_matrix("B", 2, 1, B1),
                                 trial_matrix("x0", 2, 1, x0)};
  const yoke_argument second[] = {trial_matrix("A", 2, 2, A2), trial_matrix("B", 2, 2, B2),
                                  trial_matrix("C", 1, 2, C2), trial_matrix("D", 1, 2, D2)};
  trial left, right, ss1, ss2;
  trial_open(&left, left_ops, NULL, 0);
  trial_open(&right, right_ops, NULL, 0);
  trial_open(&ss1, &yoke__model_state_space, first, 3);
  trial_open(&ss2, &yoke__model_state_space, second, 4);
  trial* const all[] = {&left, &right, &ss1, &ss2};
  for (size_t i = 0; i < 4; i++) {
    trial_set_whole(all[i], "micro_steps", 100);
    if (i >= 2) {
      trial_set_whole(all[i], "solver", 1);  // euler
    }
  }
  trial_set(&left, "x", 0.1);
  for (size_t i = 0; i < 4; i++) {
    trial_start(all[i], 0.0);
  }
  for (int k = 0; k < 300; k++) {
    const double x = trial_get(&left, "x"), v = trial_get(&left, "v"), f = trial_get(&right, "f");
    check_near(x, trial_get(&ss1, "y1"), 1e-11);
    check_near(v, trial_get(&ss1, "y2"), 1e-8);
    check_near(f, trial_get(&ss2, "y1"), 1e-5);  // of 1e4
    trial_set(&left, "f", f);
    trial_set(&ss1, "u1", f);
    trial_set(&right, "x", x);
    trial_set(&ss2, "u1", x);
    trial_set(&right, "v", v);
    trial_set(&ss2, "u2", v);
    for (size_t i = 0; i < 4; i++) {
      (void)trial_step(all[i], k * 1e-3, 1e-3);
    }
  }

  // and so is the linear model
  double A[4], B[4], C[4], D[4];
  yoke_linear model = {.A = A, .B = B, .C = C, .D = D};
  check_ok(left.unit.ops->linearise(left.unit.self, &model));
  assert_true(model.n_states == 2 && model.n_inputs == 1 && model.n_outputs == 2);
  for (size_t i = 0; i < 4; i++) {
    check_near(A[i], A1[i], 1e-9);
    check_near(C[i], i % 3 == 0 ? 1.0 : 0.0, 0.0);
  }
  check_near(B[1], 0.1, 1e-15);
  check_ok(right.unit.ops->linearise(right.unit.self, &model));
  assert_true(model.n_states == 2 && model.n_inputs == 2 && model.n_outputs == 1);
  for (size_t i = 0; i < 4; i++) {
    check_near(A[i], A2[i], 1e-8);
    check_near(B[i], B2[i], 1e-10);
  }
  for (size_t i = 0; i < 2; i++) {
    check_near(C[i], C2[i], 0.0);
    check_near(D[i], D2[i], 0.0);
  }
  for (size_t i = 0; i < 4; i++) {
    trial_close(all[i]);
  }
}

// The linear model of the nonlinear unit against differences, within the limits and beyond them.
static void test_linear_model_is_the_slope(void** state) {
  (void)state;
  static const double points[][2] = {{0.1, 4.0}, {0.4, 20.0}, {1e-4, 0.01}, {-0.1, -4.0}};
  for (size_t i = 0; i < 4; i++) {
    trial d;
    open_nonlinear(&d, 1);
    trial_set(&d, "x2", points[i][0]);
    trial_set(&d, "v2", points[i][1]);
    trial_start(&d, 0.0);
    double A[4], B[4], C[2], D[2];
    yoke_linear model = {.A = A, .B = B, .C = C, .D = D};
    check_ok(d.unit.ops->linearise(d.unit.self, &model));
    const double e = 1e-6;
    const double ks =
        (force(points[i][0] + e, points[i][1]) - force(points[i][0] - e, points[i][1])) / (2 * e);
    const double cs =
        (force(points[i][0], points[i][1] + e) - force(points[i][0], points[i][1] - e)) / (2 * e);
    check_relative(C[0], ks, 1e-6);
    check_relative(C[1], cs, 1e-6);
    check_relative(-D[0], ks, 1e-6);
    check_relative(A[2], -(1e7 + ks) / 10, 1e-9);
    check_relative(B[2], ks / 10, 1e-6);
    check_relative(B[3], cs / 10, 1e-6);
    trial_close(&d);
  }
}

// Energy of the mass, its wall spring and a coupling spring f = kc |e|^n e to a fixed point:
// the potential is kc |e|^(n+2) / (n+2). Without dampers explicit Euler feeds it in proportion to
// its step; so the drift halves with the step, and the motion is of first order.
static void drift(int64_t n_micro, double* energy, double* x2) {
  trial d;
  trial_open(&d, right_ops, NULL, 0);
  trial_set(&d, "k", 1e4);
  trial_set(&d, "c", 0.0);
  trial_set(&d, "kc", 5e5);
  trial_set(&d, "kc_exponent", 0.5);
  trial_set(&d, "kc_min", 0.0);
  trial_set(&d, "kc_max", 1e9);
  trial_set(&d, "cc", 0.0);
  trial_set(&d, "x2", 0.2);
  trial_set_whole(&d, "micro_steps", n_micro);
  trial_start(&d, 0.0);
  for (int k = 0; k < 50; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  const double x = trial_get(&d, "x2"), v = trial_get(&d, "v2");
  *energy = 5 * v * v + 0.5e4 * x * x + 5e5 / 2.5 * pow(fabs(x), 2.5);
  *x2 = x;
  trial_close(&d);
}

static void test_order_and_energy(void** state) {
  (void)state;
  const double start = 0.5e4 * 0.04 + 5e5 / 2.5 * pow(0.2, 2.5);
  double energy = 0, x = 0, fine = 0, last_drift = 0, last_error = 0;
  drift(200000, &energy, &fine);
  check_relative(energy, start, 1e-3);
  for (int i = 0; i < 4; i++) {
    const int64_t n = 100 << i;
    drift(n, &energy, &x);
    const double gain = energy - start, error = fabs(x - fine);
    print_message("%d steps per ms: energy +%.4g of %.4g J, x off by %.3g m\n", (int)n, gain, start,
                  error);
    assert_true(gain > 0);
    if (i > 0) {
      check_between(log2(last_drift / gain), 0.9, 1.1);
      check_between(log2(last_error / error), 0.85, 1.15);
    }
    last_drift = gain;
    last_error = error;
  }
}

static void refused(const yoke_unit_ops* ops, const char* name, double value, const char* part) {
  trial d;
  YOKE_CATCH(err);
  trial_open(&d, ops, NULL, 0);
  trial_set(&d, name, value);
  assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
  check_contains(err.text, part);
  trial_close(&d);
}

static void test_refusals(void** state) {
  (void)state;
  refused(left_ops, "m", 0, "m must be above 0");
  refused(left_ops, "k", (double)NAN, "k and c must be finite");
  refused(left_ops, "pulse_length", 0.1, "not longer than pulse_period");
  refused(left_ops, "pulse_omega", (double)INFINITY, "must be finite");
  refused(right_ops, "m", -1, "m must be above 0");
  refused(right_ops, "kc_exponent", -0.5, "0 or above");
  refused(right_ops, "cc_min", 1e4, "must not be above the upper one");
  trial d;
  YOKE_CATCH(err);
  trial_open(&d, right_ops, NULL, 0);
  trial_set_whole(&d, "micro_steps", 0);
  assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
  check_contains(err.text, "micro_steps");
  trial_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_description),
      cmocka_unit_test(test_step_is_the_written_arithmetic),
      cmocka_unit_test(test_pulses_keep_their_momentum),
      cmocka_unit_test(test_linear_case_is_state_space),
      cmocka_unit_test(test_linear_model_is_the_slope),
      cmocka_unit_test(test_order_and_energy),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
