// Our integrators against SUNDIALS CVODE with tight tolerances on problems without a closed
// solution: two masses with cubic springs and quadratic damping, and the Robertson kinetics.
#include <stdbool.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "ode/ode.h"
#include "support/check.h"

// CVODE calls back with its own vectors; this carries our right-hand side through
typedef struct problem {
  yoke_ode_rhs f;
  sunindextype n;
} problem;

static int cvode_rhs(realtype t, N_Vector x, N_Vector dx, void* data) {
  const problem* p = data;
  p->f(NULL, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
  return 0;
}

// x := solution at t_end by BDF with dense Newton iteration
static void solve_reference(const problem* p, double t_end, double rtol, double atol, double x[]) {
  SUNContext context = NULL;
  problem copy = *p;
  assert_int_equal(SUNContext_Create(NULL, &context), 0);
  N_Vector y = N_VMake_Serial(p->n, x, context);
  SUNMatrix A = SUNDenseMatrix(p->n, p->n, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, A, context);
  void* cvode = CVodeCreate(CV_BDF, context);
  assert_non_null(cvode);
  assert_int_equal(CVodeInit(cvode, cvode_rhs, 0.0, y), CV_SUCCESS);
  assert_int_equal(CVodeSStolerances(cvode, rtol, atol), CV_SUCCESS);
  assert_int_equal(CVodeSetUserData(cvode, &copy), CV_SUCCESS);
  assert_int_equal(CVodeSetLinearSolver(cvode, solver, A), CV_SUCCESS);
  assert_int_equal(CVodeSetMaxNumSteps(cvode, 1000000), CV_SUCCESS);
  assert_int_equal(CVodeSetStopTime(cvode, t_end), CV_SUCCESS);
  realtype t = 0.0;
  assert_true(CVode(cvode, t_end, y, &t, CV_NORMAL) >= 0);
  check_near(t, t_end, 0.0);
  CVodeFree(&cvode);
  SUNLinSolFree(solver);
  SUNMatDestroy(A);
  N_VDestroy(y);
  SUNContext_Free(&context);
}

// two unit masses, springs with a cubic part, a driven ground: x = (q1, q2, v1, v2)
static void masses_acceleration(void* self, double t, const double q[], const double v[],
                                double a[]) {
  (void)self;
  const double e = q[0] - q[1], f = 10.0 * e + 5.0 * e * e * e + 0.1 * (v[0] - v[1]);
  a[0] = -4.0 * (q[0] - sin(t)) - f;
  a[1] = -q[1] - 0.2 * v[1] * fabs(v[1]) + f;
}

static void masses(void* self, double t, const double x[], double dx[]) {
  dx[0] = x[2];
  dx[1] = x[3];
  masses_acceleration(self, t, x, x + 2, dx + 2);
}

static double distance(size_t n, const double a[], const double b[]) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum = hypot(sum, a[i] - b[i]);
  }
  return sum;
}

// every method approaches CVODE's answer at its order: three halvings in both forms
static void test_masses_against_cvode(void** state) {
  (void)state;
  static const struct {
    yoke_ode_method method;
    int n_steps;
    double order;
  } cases[] = {
      {YOKE_ODE_EULER, 16000, 1.0},
      {YOKE_ODE_SEMI_IMPLICIT_EULER, 16000, 1.0},
      {YOKE_ODE_RK4, 200, 4.0},
      {YOKE_ODE_TRAPEZOIDAL, 800, 2.0},
  };
  const problem p = {masses, 4};
  const double t_end = 5.0;
  double reference[] = {1.0, -0.5, 0.0, 0.0};
  solve_reference(&p, t_end, 1e-12, 1e-14, reference);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    double coarse[2] = {0.0, 0.0};
    for (int i = 0; i < 4; i++) {
      const int n = cases[c].n_steps << i;
      const double h = t_end / n;
      double x[] = {1.0, -0.5, 0.0, 0.0}, z[] = {1.0, -0.5, 0.0, 0.0};
      double work[YOKE_ODE_WORK_SIZE(4)];
      const bool has_first_form = cases[c].method != YOKE_ODE_SEMI_IMPLICIT_EULER;
      for (int k = 0; k < n; k++) {
        check_ok(yoke__ode_step2(cases[c].method, masses_acceleration, NULL, k * h, h, 2, x, x + 2,
                                 work, NULL));
        if (has_first_form) {
          check_ok(yoke__ode_step(cases[c].method, masses, NULL, k * h, h, 4, z, work, NULL));
        }
      }
      const double fine[] = {distance(4, x, reference), distance(4, z, reference)};
      for (int form = 0; i > 0 && form < (has_first_form ? 2 : 1); form++) {
        check_near(log2(coarse[form] / fine[form]), cases[c].order, 0.15);
      }
      memcpy(coarse, fine, sizeof fine);
    }
  }
}

// Robertson's reaction (H. H. Robertson, 1966), the classical stiff test: rates 0.04, 1e4, 3e7
static void robertson(void* self, double t, const double x[], double dx[]) {
  (void)self;
  (void)t;
  dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
  dx[2] = 3e7 * x[1] * x[1];
  dx[1] = -dx[0] - dx[2];
}

static void test_robertson_against_cvode(void** state) {
  (void)state;
  const problem p = {robertson, 3};
  double reference[] = {1.0, 0.0, 0.0};
  solve_reference(&p, 40.0, 1e-11, 1e-16, reference);
  check_near(reference[0], 0.7158, 5e-5);  // the number printed with the problem for t = 40

  // the fast transient (1e-3 s) with fine steps, the rest with h = 2e-2 and 1e-2, more than ten
  // times the limit 2 / 2200 of an explicit method there
  double errors[2];
  for (int i = 0; i < 2; i++) {
    double x[] = {1.0, 0.0, 0.0}, work[YOKE_ODE_WORK_SIZE(3)];
    const double fine = 2e-5 / (1 << i), coarse = 2e-2 / (1 << i);
    const int n_fine = 1000 << i, n_coarse = 1999 << i;
    yoke_ode_corrector corrector = {.tolerance = 1e-13, .max_iterations = 20};
    for (int k = 0; k < n_fine + n_coarse; k++) {
      const double h = k < n_fine ? fine : coarse;
      check_ok(
          yoke__ode_step(YOKE_ODE_TRAPEZOIDAL, robertson, NULL, 0.0, h, 3, x, work, &corrector));
    }
    check_near(x[0] + x[1] + x[2], 1.0, 1e-9);  // mass is conserved
    errors[i] = fabs(x[0] - reference[0]);
  }
  check_between(errors[0], 0.0, 1e-4);
  check_near(log2(errors[0] / errors[1]), 2.0, 0.15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_masses_against_cvode),
      cmocka_unit_test(test_robertson_against_cvode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
