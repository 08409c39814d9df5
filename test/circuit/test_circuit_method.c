// Integration formulas: the order conditions of Runge-Kutta methods, stage order, stability and the BDF coefficients.
#include <complex.h>

#include "circuit/circuit_method.h"
#include "support/check.h"

#define MAX_ROWS (YOKE_METHOD_MAX_STAGES + 1)

// A Butcher tableau read back from the stages; row and column 0 are the explicit stage.
typedef struct butcher {
  size_t n;
  double a[MAX_ROWS][MAX_ROWS], c[MAX_ROWS];
} butcher;

static const double h = 0.37;

static butcher butcher_of(yoke_circuit_method method) {
  yoke_method_plan plan;
  check_ok(yoke__method_plan_make(method, YOKE_STARTUP_TR_XI, h, &plan));
  butcher b = {.n = plan.regular.n_stages + 1};
  for (size_t s = 1; s < b.n; s++) {
    const yoke_method_stage* stage = &plan.regular.stages[s - 1];
    const double gamma = 1.0 / (stage->a0 * h);
    for (uint32_t j = 0; j < stage->n_d; j++) {
      b.a[s][j] = -stage->d_weight[j] * gamma;
    }
    b.a[s][s] = gamma;
    b.c[s] = stage->theta;
    check_near(stage->x_weight[0], -stage->a0, 1e-12);
  }
  return b;
}

// y = A v
static void apply(const butcher* b, const double v[], double y[]) {
  for (size_t i = 0; i < b->n; i++) {
    y[i] = 0.0;
    for (size_t j = 0; j < b->n; j++) {
      y[i] += b->a[i][j] * v[j];
    }
  }
}

// sum of weights b_i (the last row) with u_i v_i
static double weigh(const butcher* b, const double u[], const double v[]) {
  double sum = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    sum += b->a[b->n - 1][i] * u[i] * v[i];
  }
  return sum;
}

static void check_order(yoke_circuit_method method, int order) {
  const butcher b = butcher_of(method);
  double one[MAX_ROWS] = {0}, c2[MAX_ROWS] = {0}, c3[MAX_ROWS] = {0};
  double ac[MAX_ROWS], ac2[MAX_ROWS], aac[MAX_ROWS];
  for (size_t i = 0; i < b.n; i++) {
    one[i] = 1.0;
    c2[i] = b.c[i] * b.c[i];
    c3[i] = c2[i] * b.c[i];
  }
  apply(&b, b.c, ac);
  apply(&b, c2, ac2);
  apply(&b, ac, aac);

  // rows sum to c; stage order 2: sum_j a_ij c_j = c_i^2 / 2
  for (size_t i = 1; i < b.n; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < b.n; j++) {
      sum += b.a[i][j];
    }
    check_near(sum, b.c[i], 1e-12);
    check_near(ac[i], 0.5 * c2[i], 1e-12);
  }
  check_near(weigh(&b, one, one), 1.0, 1e-14);
  check_near(weigh(&b, one, b.c), 1.0 / 2.0, 1e-14);
  if (order >= 3) {
    check_near(weigh(&b, one, c2), 1.0 / 3.0, 1e-14);
    check_near(weigh(&b, one, ac), 1.0 / 6.0, 1e-14);
  }
  if (order >= 4) {
    check_near(weigh(&b, one, c3), 1.0 / 4.0, 1e-14);
    check_near(weigh(&b, b.c, ac), 1.0 / 8.0, 1e-14);
    check_near(weigh(&b, one, ac2), 1.0 / 12.0, 1e-14);
    check_near(weigh(&b, one, aac), 1.0 / 24.0, 1e-14);
  }
}

static void test_order_conditions(void** state) {
  (void)state;
  check_order(YOKE_CIRCUIT_TRBDF2, 2);
  check_order(YOKE_CIRCUIT_ESDIRK3, 3);
  check_order(YOKE_CIRCUIT_ESDIRK4, 4);
  check_order(YOKE_CIRCUIT_TR, 2);
}

// x_{k+1} / x_k of x' = lambda x, one-step methods
static double complex growth(yoke_circuit_method method, double complex z) {
  const butcher b = butcher_of(method);
  double complex rates[MAX_ROWS] = {z};  // h xdot with x_k = 1
  double complex x = 1.0;
  for (size_t s = 1; s < b.n; s++) {
    double complex sum = 1.0;
    for (size_t j = 0; j < s; j++) {
      sum += b.a[s][j] * rates[j];
    }
    x = sum / (1.0 - b.a[s][s] * z);
    rates[s] = z * x;
  }
  return x;
}

// not every compiler has CMPLX
static double complex imaginary(double y) {
  const double parts[] = {0.0, y};
  double complex z = 0.0;
  memcpy(&z, parts, sizeof z);
  return z;
}

static void test_l_stability(void** state) {
  (void)state;
  const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TRBDF2, YOKE_CIRCUIT_ESDIRK3,
                                         YOKE_CIRCUIT_ESDIRK4};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    // on the imaginary axis nothing grows: A-stable, since the poles lie on the right
    for (int k = 0; k < 307; k++) {
      check_between(cabs(growth(methods[i], imaginary(1e-3 * pow(1.07, k)))), 0.0, 1.0 + 1e-9);
    }
    // infinitely fast modes are gone in one step; the rest is rounding of coefficients, times z
    const double far = cabs(growth(methods[i], -1e8));
    check_between(far, 0.0, 1e-5);
    check_between(far / cabs(growth(methods[i], -1e4)), 0.0, 1e-2);
  }
  // the trapezoidal rule keeps them: that is what rings
  check_near(creal(growth(YOKE_CIRCUIT_TR, -1e8)), -1.0, 1e-6);
}

static void test_bdf_coefficients(void** state) {
  (void)state;
  const double uniform[] = {0, 1, 2, 3};
  const double want[3][4] = {{-1, 1}, {-1.5, 2, -0.5}, {-11.0 / 6.0, 3, -1.5, 1.0 / 3.0}};
  for (int order = 1; order <= 3; order++) {
    double beta[4] = {0};
    check_ok(yoke__method_bdf(order, uniform, beta));
    for (int j = 0; j <= order; j++) {
      check_near(beta[j], want[order - 1][j], 1e-14);
    }
  }
  // an uneven grid differentiates polynomials of its order exactly: xdot = -(1/h) sum beta_j x(t - s_j h)
  const double uneven[] = {0, 0.7, 1.9, 2.4};
  double beta[4];
  check_ok(yoke__method_bdf(3, uneven, beta));
  double slope = 0.0;
  for (int j = 0; j <= 3; j++) {
    const double t = 2.0 - uneven[j] * h;
    slope -= beta[j] / h * (t * t * t - 4.0 * t);
  }
  check_near(slope, 3.0 * 4.0 - 4.0, 1e-12);
  assert_int_equal(yoke__method_bdf(4, uniform, beta), YOKE_BAD_ARG);
}

static void test_startup_policies(void** state) {
  (void)state;
  yoke_method_plan plan;
  for (int order = 1; order <= 3; order++) {
    const yoke_circuit_method method = (yoke_circuit_method)(YOKE_CIRCUIT_BDF1 + order - 1);
    check_ok(yoke__method_plan_make(method, YOKE_STARTUP_TR_XI, h, &plan));
    assert_int_equal(plan.n_first, order);
    assert_int_equal(plan.n_slots, 2);
    check_ok(yoke__method_plan_make(method, YOKE_STARTUP_TR_XI_MINUS_1, h, &plan));
    assert_int_equal(plan.n_first, order - 1);
    check_ok(yoke__method_plan_make(method, YOKE_STARTUP_CONST, h, &plan));
    assert_int_equal(plan.n_first, 0);
    assert_int_equal(plan.n_slots, 1);
    assert_int_equal(plan.n_stage_rates, 0);
  }
  assert_int_equal(yoke__method_plan_make(YOKE_CIRCUIT_RK4, YOKE_STARTUP_TR_XI, h, &plan),
                   YOKE_BAD_ARG);
  assert_int_equal(yoke__method_plan_make(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 0.0, &plan),
                   YOKE_BAD_ARG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_conditions),
      cmocka_unit_test(test_l_stability),
      cmocka_unit_test(test_bdf_coefficients),
      cmocka_unit_test(test_startup_policies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
