// The pair of Dormand and Prince: order of the solution and of the error estimate, the sizes of errors, and when it says that
// it stands at the bound of stability.
#include "ode/ode.h"
#include "support/check.h"

// forcing terms make the exact solution x = (sin(t) + 2, cos(t)); both equations are nonlinear
static void forced(void* self, double t, const double x[], double dx[]) {
  if (self != NULL) {
    ++*(int*)self;
  }
  const double exact = sin(t) + 2.0;
  dx[0] = cos(t) - (x[0] * x[0] - exact * exact);
  dx[1] = -sin(t) - x[0] * (x[1] - cos(t));
}

// Errors at t = 1 of n steps, and the estimate of the local error in the first of them.
static void run(int n_steps, double* global, double* estimate) {
  double x[] = {2.0, 1.0}, slope[2], slope_end[2], error[2], work[YOKE_ODE_PAIR_WORK_SIZE(2)];
  yoke_ode_pair_step step = {.slope = slope, .slope_end = slope_end, .error = error};
  const double h = 1.0 / n_steps;
  int n_calls = 0;
  forced(NULL, 0, x, slope);
  for (int k = 0; k < n_steps; k++) {
    double x_end[2], again[2];
    yoke__ode_pair_step(forced, &n_calls, k * h, h, 2, x, x_end, &step, work);
    if (k == 0) {
      *estimate = hypot(error[0], error[1]);
    }
    // the last slope is the first of the next step
    forced(NULL, k * h + h, x_end, again);
    assert_memory_equal(again, slope_end, sizeof again);
    memcpy(x, x_end, sizeof x);
    memcpy(slope, slope_end, sizeof slope);
  }
  assert_int_equal(n_calls, 6 * n_steps);
  *global = hypot(x[0] - (sin(1.0) + 2.0), x[1] - cos(1.0));
}

// halving h divides the error at the end by 2^5, and the estimate of one step, whose local error is that of order 4, by 2^5 too
static void test_order(void** state) {
  (void)state;
  double coarse = 0, coarse_estimate = 0;
  run(16, &coarse, &coarse_estimate);
  for (int i = 1; i <= 3; i++) {
    double fine = 0, estimate = 0;
    run(16 << i, &fine, &estimate);
    print_message("%d steps: error %.3g, order %.3f; estimate %.3g, order %.3f\n", 16 << i, fine,
                  log2(coarse / fine), estimate, log2(coarse_estimate / estimate));
    check_near(log2(coarse / fine), 5, 0.3);
    check_near(log2(coarse_estimate / estimate), 5, 0.3);
    coarse = fine;
    coarse_estimate = estimate;
  }
}

// x' = 5 t^4 is integrated exactly by order 5; the embedded solution of order 4 is not, and the estimate shows it
static void fourth_power(void* self, double t, const double x[], double dx[]) {
  (void)self, (void)x;
  dx[0] = 5 * t * t * t * t;
}

static void third_power(void* self, double t, const double x[], double dx[]) {
  (void)self, (void)x;
  dx[0] = 4 * t * t * t;
}

static void test_exactness(void** state) {
  (void)state;
  double x[1] = {0}, x_end[1], slope[1] = {0}, slope_end[1], error[1],
         work[YOKE_ODE_PAIR_WORK_SIZE(1)];
  yoke_ode_pair_step step = {.slope = slope, .slope_end = slope_end, .error = error};
  yoke__ode_pair_step(third_power, NULL, 0, 2, 1, x, x_end, &step, work);
  check_near(x_end[0], 16, 1e-13);
  check_near(error[0], 0, 1e-13);
  yoke__ode_pair_step(fourth_power, NULL, 0, 2, 1, x, x_end, &step, work);
  check_near(x_end[0], 32, 1e-13);
  assert_true(fabs(error[0]) > 1e-3);
}

// x' = -lambda x: h_lambda is what it says, at the bound of stability and elsewhere
static void decay(void* self, double t, const double x[], double dx[]) {
  (void)t;
  dx[0] = -*(const double*)self * x[0];
}

static void test_h_lambda(void** state) {
  (void)state;
  static const double lambdas[] = {0.1, 1, 3.3, 100};
  for (int i = 0; i < 4; i++) {
    double lambda = lambdas[i], x[1] = {1}, x_end[1], slope[1] = {-lambda}, slope_end[1], error[1],
           work[YOKE_ODE_PAIR_WORK_SIZE(1)];
    yoke_ode_pair_step step = {.slope = slope, .slope_end = slope_end, .error = error};
    yoke__ode_pair_step(decay, &lambda, 0, 1, 1, x, x_end, &step, work);
    check_near(step.h_lambda / lambda, 1, 1e-6);
    // the stability function leaves the unit circle between 3.3 and 3.4 (Hairer, Wanner II, IV.2)
    assert_true((fabs(x_end[0]) <= 1) == (lambda < 3.35));
  }
}

static void test_sizes(void** state) {
  (void)state;
  static const double error[] = {3e-6, 0}, x[] = {1, -4}, x_end[] = {2, 5}, nominals[] = {1, 0};
  // 3e-6 / (1e-6 (1 + 2)) = 1 of one element in two
  check_near(yoke__ode_error_size(2, error, x, x_end, 1e-6, nominals), sqrt(0.5), 1e-15);
  const double nothing[] = {0, 0};
  assert_true(yoke__ode_error_size(2, nothing, nothing, nothing, 1e-6, nothing) == 0);
  const double bad[] = {(double)NAN, 0};
  assert_true(isnan(yoke__ode_error_size(2, bad, x, x_end, 1e-6, nominals)));
  check_near(yoke__ode_step_factor(1), 0.9, 1e-15);
  check_near(yoke__ode_step_factor(32), 0.45, 1e-15);
  assert_true(yoke__ode_step_factor(0) == 5);
  assert_true(yoke__ode_step_factor(1e30) == 0.2);
  assert_true(yoke__ode_step_factor((double)NAN) == 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_exactness),
      cmocka_unit_test(test_h_lambda),
      cmocka_unit_test(test_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
