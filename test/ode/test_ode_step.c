// What theory says about the integrators beyond their order: growth and conservation of energy,
// A-stability, the corrector's limits, and that nothing outside the work space is touched.
#include <float.h>

#include "ode/ode.h"
#include "support/check.h"

static void oscillator(void* self, double t, const double q[], const double v[], double a[]) {
  const double w = *(const double*)self;
  (void)t;
  (void)v;
  a[0] = -w * w * q[0];
}

static double energy(double w, double q, double v) {
  return 0.5 * (v * v + w * w * q * q);
}

// forward Euler multiplies the energy of an oscillator by exactly 1 + h^2 w^2 in every step
static void test_euler_grows_as_theory_says(void** state) {
  (void)state;
  double w = 10.0, q = 0.0, v = 1.0, work[1];
  const double h = 1e-3;
  const int n = 100000;
  for (int k = 0; k < n; k++) {
    check_ok(yoke__ode_step2(YOKE_ODE_EULER, oscillator, &w, k * h, h, 1, &q, &v, work, NULL));
  }
  const double amplitude = pow(1.0 + h * h * w * w, 0.5 * n);
  check_relative(sqrt(energy(w, q, v) / energy(w, 0.0, 1.0)), amplitude, 1e-10);
  check_between(amplitude, 148.0, 149.0);  // e^5 less a little: far from a small error
}

// semi-implicit Euler conserves v^2 + w^2 q^2 - h w^2 q v (symplectic), so the energy swings by a
// relative h w / 2 and never drifts
static void test_semi_implicit_euler_is_symplectic(void** state) {
  (void)state;
  double w = 10.0, q = 0.0, v = 1.0, work[1], worst = 0.0, last = 0.0;
  const double h = 1e-3;
  for (int k = 0; k < 100000; k++) {
    check_ok(yoke__ode_step2(YOKE_ODE_SEMI_IMPLICIT_EULER, oscillator, &w, k * h, h, 1, &q, &v,
                             work, NULL));
    worst = fmax(worst, fabs(energy(w, q, v) / 0.5 - 1.0));
    last = v * v + w * w * q * q - h * w * w * q * v;
  }
  const double swing = 0.5 * h * w;
  check_between(worst, 0.5 * swing, 1.02 * swing / (1.0 - swing));
  check_near(last, 1.0, 1e-10);
}

// the trapezoidal rule (Newmark 1/4, 1/2) conserves the energy of a linear oscillator, whatever h
static void test_newmark_conserves(void** state) {
  (void)state;
  const double steps[] = {1e-3, 0.1, 1.0};
  for (int i = 0; i < 3; i++) {
    double w = 10.0, q = 0.2, v = 1.0, work[YOKE_ODE_WORK_SIZE(1)];
    const double start = energy(w, q, v);
    for (int k = 0; k < 10000; k++) {
      check_ok(yoke__ode_step2(YOKE_ODE_TRAPEZOIDAL, oscillator, &w, k * steps[i], steps[i], 1, &q,
                               &v, work, NULL));
    }
    check_relative(energy(w, q, v), start, 1e-8);  // 10000 corrector tolerances of 1e-12
  }
}

// x' = -1000 (x - cos t): h = 0.1 is 50 times the limit of the explicit methods
typedef struct stiff {
  double lambda;
  int n_calls;
} stiff;

static void stiff_rhs(void* self, double t, const double x[], double dx[]) {
  stiff* s = self;
  s->n_calls++;
  dx[0] = -s->lambda * (x[0] - cos(t));
  dx[1] = -0.5 * x[1] + 1e-3 * x[0];
}

static void test_trapezoidal_is_a_stable(void** state) {
  (void)state;
  const yoke_ode_corrector_kind kinds[] = {YOKE_ODE_CORRECT_AUTO, YOKE_ODE_CORRECT_NEWTON};
  for (int i = 0; i < 2; i++) {
    stiff s = {.lambda = 1000.0};
    yoke_ode_corrector corrector = {.kind = kinds[i]};
    double x[] = {2.0, 1.0}, work[YOKE_ODE_WORK_SIZE(2)];
    const double h = 0.1, z = -s.lambda * h;

    // the linear step in closed form: x+ = R x + forcing, |R| < 1 for every h
    const double R = (1.0 + 0.5 * z) / (1.0 - 0.5 * z);
    double want = 2.0;
    for (int k = 0; k < 200; k++) {
      want = R * want - 0.5 * z * (cos(k * h) + cos(k * h + h)) / (1.0 - 0.5 * z);
      check_ok(
          yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, stiff_rhs, &s, k * h, h, 2, x, work, &corrector));
      assert_int_equal(corrector.n_jacobians, 1);
      check_near(x[0], want, 1e-9);
    }
    check_near(x[0], cos(20.0), 5e-3);  // the transient 0.92^200 is gone, h^2 / 12 remains
  }

  // the same problem stays out of reach for the fixed point, and the explicit method explodes
  stiff s = {.lambda = 1000.0};
  yoke_ode_corrector fixed = {.kind = YOKE_ODE_CORRECT_FIXED_POINT};
  double x[] = {2.0, 1.0}, work[YOKE_ODE_WORK_SIZE(2)];
  assert_int_equal(
      yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, stiff_rhs, &s, 0.0, 0.1, 2, x, work, &fixed),
      YOKE_NO_CONVERGENCE);
  assert_int_equal(fixed.n_jacobians, 0);
  for (int k = 0; k < 20; k++) {
    check_ok(yoke__ode_step(YOKE_ODE_EULER, stiff_rhs, &s, k * 0.1, 0.1, 2, x, work, NULL));
  }
  check_between(fabs(x[0]), 1e30, HUGE_VAL);
}

// a stiff, nonlinear, coupled pair (van der Pol, mu = 1000) on its slow branch, where
// v = x / (mu (1 - x^2)) up to O(mu^-3): h is 3000 times the explicit limit
static void van_der_pol(void* self, double t, const double x[], double dx[]) {
  (void)self;
  (void)t;
  dx[0] = x[1];
  dx[1] = 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0];
}

static void test_newton_nonlinear_stiff(void** state) {
  (void)state;
  double x[] = {2.0, -2.0 / 3000.0}, work[YOKE_ODE_WORK_SIZE(2)];
  int most = 0;
  for (int k = 0; k < 500; k++) {
    yoke_ode_corrector corrector = {0};
    check_ok(
        yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, van_der_pol, NULL, k, 1.0, 2, x, work, &corrector));
    most = corrector.n_iterations > most ? corrector.n_iterations : most;
  }

  // slow flow: ln x - x^2 / 2 = t / mu + const
  check_near(log(x[0]) - 0.5 * x[0] * x[0], log(2.0) - 2.0 + 0.5, 1e-4);
  check_between(most, 3, 10);
}

// Newmark with Newton on a stiff chain: two masses with w = 1e4 against a soft ground spring
static void chain(void* self, double t, const double q[], const double v[], double a[]) {
  (void)self;
  (void)t;
  const double f = 1e8 * (q[0] - q[1]) + 10.0 * (v[0] - v[1]);
  a[0] = -q[0] - f;
  a[1] = f;
}

static void test_newmark_stiff(void** state) {
  (void)state;
  double q[] = {1.0, 1.0}, v[] = {0.0, 0.0}, work[YOKE_ODE_WORK_SIZE(2)];
  const double h = 0.01;  // 100 times the explicit limit 2 / w of the stiff spring
  for (int k = 0; k < 1000; k++) {
    yoke_ode_corrector corrector = {0};
    check_ok(
        yoke__ode_step2(YOKE_ODE_TRAPEZOIDAL, chain, NULL, k * h, h, 2, q, v, work, &corrector));
  }

  // rigid pair on the soft spring: w = sqrt(1 / 2), stiff mode excited by 1e-8 only
  check_near(q[0], cos(10.0 / sqrt(2.0)), 1e-4);
  check_near(q[1], q[0], 1e-7);
}

static void test_corrector_cap(void** state) {
  (void)state;
  double w = 10.0, work[YOKE_ODE_WORK_SIZE(1)];

  // h w / 2 = 0.25: the error falls by 1/16 per iteration; 1e-12 needs about ten, never three
  for (int cap = 1; cap <= 3; cap++) {
    double q = 0.0, v = 1.0;
    yoke_ode_corrector corrector = {.max_iterations = cap, .kind = YOKE_ODE_CORRECT_FIXED_POINT};
    assert_int_equal(yoke__ode_step2(YOKE_ODE_TRAPEZOIDAL, oscillator, &w, 0.0, 0.05, 1, &q, &v,
                                     work, &corrector),
                     YOKE_NO_CONVERGENCE);
    assert_int_equal(corrector.n_iterations, cap);

    // the last iterate is there: v_cap = sum of the first terms of 1 - s + s^2 ..., s = (h w / 2)^2
    const double s = 0.0625;
    double want = 1.0;
    for (int i = 0; i < cap; i++) {
      want = 1.0 - s * (1.0 + want);
    }
    check_near(v, want, 4 * DBL_EPSILON);
  }

  // every iteration costs one evaluation, plus one at the start: bounded work
  stiff count = {.lambda = 1e9};
  yoke_ode_corrector corrector = {.max_iterations = 5, .tolerance = 1e-300};
  double x[] = {2.0, 1.0}, work2[YOKE_ODE_WORK_SIZE(2)];
  assert_int_equal(
      yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, stiff_rhs, &count, 0.0, 1.0, 2, x, work2, &corrector),
      YOKE_NO_CONVERGENCE);
  assert_int_equal(corrector.n_iterations, 5);
  check_between(corrector.n_jacobians, 1, 3);
  assert_int_equal(count.n_calls, 1 + 5 + 2 * corrector.n_jacobians);

  // a loose tolerance is met early
  corrector = (yoke_ode_corrector){.tolerance = 1e-3, .kind = YOKE_ODE_CORRECT_FIXED_POINT};
  double q = 0.0, v = 1.0;
  check_ok(yoke__ode_step2(YOKE_ODE_TRAPEZOIDAL, oscillator, &w, 0.0, 0.05, 1, &q, &v, work,
                           &corrector));
  assert_int_equal(corrector.n_iterations, 3);  // changes: 1/8, 1/128, 1/2048
}

static void blow_up(void* self, double t, const double x[], double dx[]) {
  (void)self;
  (void)t;
  dx[0] = exp(x[0]);
}

static void test_bad_arguments_and_nan(void** state) {
  (void)state;
  double x = 1.0, work[YOKE_ODE_WORK_SIZE(1)];
  assert_int_equal(
      yoke__ode_step(YOKE_ODE_SEMI_IMPLICIT_EULER, blow_up, NULL, 0, 1, 1, &x, work, NULL),
      YOKE_BAD_ARG);
  check_near(x, 1.0, 0.0);
  x = 800.0;
  assert_int_equal(yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, blow_up, NULL, 0, 1, 1, &x, work, NULL),
                   YOKE_DIVERGED);
}

// every method stays inside the work size it names, and the names fit the methods
static void test_work_size_and_names(void** state) {
  (void)state;
  static const char* const names[] = {"euler", "semi-implicit-euler", "rk4", "trapezoidal"};
  for (int m = 0; m < 4; m++) {
    assert_string_equal(yoke__ode_method_names[m], names[m]);
    const yoke_ode_method method = (yoke_ode_method)m;
    for (size_t n = 1; n <= 12; n++) {
      assert_true(yoke__ode_work_size(method, n) <= YOKE_ODE_WORK_SIZE(n));
    }

    // heap blocks of the exact size: a write beyond is seen by the guard, or by ASan
    const size_t size = yoke__ode_work_size(method, 1);
    double* work = malloc((size + 1) * sizeof *work);
    assert_non_null(work);
    work[size] = 123.0;
    double w = 1000.0, q = 0.0, v = 1.0;
    check_ok(yoke__ode_step2(method, oscillator, &w, 0, 0.1, 1, &q, &v, work, NULL));
    check_near(work[size], 123.0, 0.0);
    free(work);
  }
  assert_null(yoke__ode_method_names[4]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_euler_grows_as_theory_says),
      cmocka_unit_test(test_semi_implicit_euler_is_symplectic),
      cmocka_unit_test(test_newmark_conserves),
      cmocka_unit_test(test_trapezoidal_is_a_stable),
      cmocka_unit_test(test_newton_nonlinear_stiff),
      cmocka_unit_test(test_newmark_stiff),
      cmocka_unit_test(test_corrector_cap),
      cmocka_unit_test(test_bad_arguments_and_nan),
      cmocka_unit_test(test_work_size_and_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
