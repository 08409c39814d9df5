// Orders of the integrators, measured: halving h divides the error by 2^p. First- and second-order
// forms; nonlinear, with explicit time, so that every stage time matters.
#include "ode/ode.h"
#include "support/check.h"

// forcing terms make the exact solution x = (sin(t) + 2, cos(t)); both equations are nonlinear
static void forced(void* self, double t, const double x[], double dx[]) {
  (void)self;
  const double exact = sin(t) + 2.0;
  dx[0] = cos(t) - (x[0] * x[0] - exact * exact);
  dx[1] = -sin(t) - x[0] * (x[1] - cos(t));
}

static double first_order_error(yoke_ode_method method, int n_steps) {
  double x[] = {2.0, 1.0}, work[YOKE_ODE_WORK_SIZE(2)];
  const double h = 1.0 / n_steps;
  for (int k = 0; k < n_steps; k++) {
    check_ok(yoke__ode_step(method, forced, NULL, k * h, h, 2, x, work, NULL));
  }
  return hypot(x[0] - (sin(1.0) + 2.0), x[1] - cos(1.0));
}

// q = sin(t) for both, coupled and damped through terms that vanish on the solution
static void pushed(void* self, double t, const double q[], const double v[], double a[]) {
  (void)self;
  a[0] = -q[0] - 0.5 * (v[0] - cos(t)) + q[1] * (q[0] - sin(t));
  a[1] = -sin(t) - 2.0 * (q[1] * q[1] - sin(t) * sin(t)) - v[0] * (v[1] - cos(t));
}

static double second_order_error(yoke_ode_method method, int n_steps) {
  double q[] = {0.0, 0.0}, v[] = {1.0, 1.0}, work[YOKE_ODE_WORK_SIZE(2)];
  const double h = 1.0 / n_steps;
  for (int k = 0; k < n_steps; k++) {
    check_ok(yoke__ode_step2(method, pushed, NULL, k * h, h, 2, q, v, work, NULL));
  }
  return hypot(hypot(q[0] - sin(1.0), q[1] - sin(1.0)), hypot(v[0] - cos(1.0), v[1] - cos(1.0)));
}

// n, 2n, 4n, 8n, 16n steps: four slopes, each within 0.15 of p. RK4 starts coarse so that its last
// error (1e-9) stays far above round-off.
static void check_order(double (*error)(yoke_ode_method, int), yoke_ode_method method, int n,
                        double p) {
  double coarse = error(method, n);
  for (int i = 1; i <= 4; i++) {
    const double fine = error(method, n << i);
    check_near(log2(coarse / fine), p, 0.15);
    coarse = fine;
  }
}

static void test_euler(void** state) {
  (void)state;
  check_order(first_order_error, YOKE_ODE_EULER, 64, 1.0);
  check_order(second_order_error, YOKE_ODE_EULER, 64, 1.0);
}

static void test_semi_implicit_euler(void** state) {
  (void)state;
  check_order(second_order_error, YOKE_ODE_SEMI_IMPLICIT_EULER, 64, 1.0);
}

static void test_rk4(void** state) {
  (void)state;
  check_order(first_order_error, YOKE_ODE_RK4, 16, 4.0);
  check_order(second_order_error, YOKE_ODE_RK4, 16, 4.0);
}

static void test_trapezoidal(void** state) {
  (void)state;
  check_order(first_order_error, YOKE_ODE_TRAPEZOIDAL, 32, 2.0);
  check_order(second_order_error, YOKE_ODE_TRAPEZOIDAL, 32, 2.0);
}

// a(q, v) written as a first-order system with x = (q, v)
static void as_first_order(void* self, double t, const double x[], double dx[]) {
  dx[0] = x[2];
  dx[1] = x[3];
  pushed(self, t, x, x + 2, dx + 2);
}

// the two forms are the same method: equal up to rounding (trapezoidal: up to its tolerance)
static void test_forms_agree(void** state) {
  (void)state;
  static const yoke_ode_method methods[] = {YOKE_ODE_EULER, YOKE_ODE_RK4, YOKE_ODE_TRAPEZOIDAL};
  for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
    double q[] = {0.3, -0.2}, v[] = {1.0, 0.5}, x[] = {0.3, -0.2, 1.0, 0.5};
    double work[YOKE_ODE_WORK_SIZE(4)];
    for (int k = 0; k < 100; k++) {
      check_ok(yoke__ode_step(methods[m], as_first_order, NULL, k * 0.01, 0.01, 4, x, work, NULL));
      check_ok(yoke__ode_step2(methods[m], pushed, NULL, k * 0.01, 0.01, 2, q, v, work, NULL));
    }
    const double tolerance = methods[m] == YOKE_ODE_TRAPEZOIDAL ? 1e-10 : 1e-13;
    for (size_t i = 0; i < 2; i++) {
      check_near(q[i], x[i], tolerance);
      check_near(v[i], x[2 + i], tolerance);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_euler),       cmocka_unit_test(test_semi_implicit_euler),
      cmocka_unit_test(test_rk4),         cmocka_unit_test(test_trapezoidal),
      cmocka_unit_test(test_forms_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
