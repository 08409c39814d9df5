// One face for CVODE and ARKODE. Every requested time is a stop time: the interpolants, which have
// a lower order than the methods, are never used.
#include "support/reference_solve.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "support/check.h"

enum { MAX_STEPS = 100000000, MAX_FAILURES = 100 };

struct reference_solver {
  reference_problem problem;
  SUNContext context;
  N_Vector x;
  SUNMatrix matrix;        // stiff only
  SUNLinearSolver linear;  // stiff only
  void* memory;            // of CVODE or ARKODE
  double t;
  size_t n_breaks_passed;
};

static int call_rhs(realtype t, N_Vector x, N_Vector dx, void* data) {
  const reference_problem* p = data;
  p->f(p->data, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
  return 0;
}

static void open_stiff(reference_solver* s) {
  const reference_problem* p = &s->problem;
  s->matrix = SUNDenseMatrix((sunindextype)p->n, (sunindextype)p->n, s->context);
  s->linear = SUNLinSol_Dense(s->x, s->matrix, s->context);
  s->memory = CVodeCreate(CV_BDF, s->context);
  assert_non_null(s->memory);
  assert_int_equal(CVodeInit(s->memory, call_rhs, 0.0, s->x), CV_SUCCESS);
  assert_int_equal(CVodeSStolerances(s->memory, p->rtol, p->atol), CV_SUCCESS);
  assert_int_equal(CVodeSetUserData(s->memory, &s->problem), CV_SUCCESS);
  assert_int_equal(CVodeSetLinearSolver(s->memory, s->linear, s->matrix), CV_SUCCESS);
  assert_int_equal(CVodeSetMaxNumSteps(s->memory, MAX_STEPS), CV_SUCCESS);
  assert_int_equal(CVodeSetMaxStep(s->memory, p->max_step), CV_SUCCESS);
}

static void open_nonstiff(reference_solver* s) {
  const reference_problem* p = &s->problem;
  s->memory = ERKStepCreate(call_rhs, 0.0, s->x, s->context);
  assert_non_null(s->memory);
  assert_int_equal(ERKStepSStolerances(s->memory, p->rtol, p->atol), ARK_SUCCESS);
  assert_int_equal(ERKStepSetUserData(s->memory, &s->problem), ARK_SUCCESS);
  assert_int_equal(ERKStepSetTableNum(s->memory, ARKODE_FEHLBERG_13_7_8), ARK_SUCCESS);
  assert_int_equal(ERKStepSetMaxNumSteps(s->memory, MAX_STEPS), ARK_SUCCESS);
  assert_int_equal(ERKStepSetMaxStep(s->memory, p->max_step), ARK_SUCCESS);
  // a step that meets a kink is cut many times before it fits
  assert_int_equal(ERKStepSetMaxErrTestFails(s->memory, MAX_FAILURES), ARK_SUCCESS);
}

reference_solver* reference_solver_open(const reference_problem* problem, const double x0[]) {
  reference_solver* s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->problem = *problem;
  assert_int_equal(SUNContext_Create(NULL, &s->context), 0);
  s->x = N_VNew_Serial((sunindextype)problem->n, s->context);
  assert_non_null(s->x);
  memcpy(N_VGetArrayPointer(s->x), x0, problem->n * sizeof x0[0]);
  if (problem->is_stiff) {
    open_stiff(s);
  } else {
    open_nonstiff(s);
  }
  return s;
}

// One call of the solver: to t, or a single step that does not pass t.
static void evolve(reference_solver* s, double t, bool is_single) {
  int flag = 0;
  if (s->problem.is_stiff) {
    assert_int_equal(CVodeSetStopTime(s->memory, t), CV_SUCCESS);
    flag = CVode(s->memory, t, s->x, &s->t, is_single ? CV_ONE_STEP : CV_NORMAL);
  } else {
    assert_int_equal(ERKStepSetStopTime(s->memory, t), ARK_SUCCESS);
    flag = ERKStepEvolve(s->memory, t, s->x, &s->t, is_single ? ARK_ONE_STEP : ARK_NORMAL);
  }
  if (flag < 0) {
    fail_msg("the reference solver stopped with %d at t = %.17g", flag, s->t);
  }
}

// Without a break in between.
static void smooth_to(reference_solver* s, double t) {
  const reference_problem* p = &s->problem;
  // the solver calls two times equal when they differ by 100 roundings
  while (p->limit != NULL && t - s->t > 1e-12) {
    const double longest = p->limit(p->data, N_VGetArrayPointer(s->x));
    evolve(s, fmin(t, s->t + longest), true);
  }
  if (p->limit == NULL && s->t < t) {
    evolve(s, t, false);
  }
  check_near(s->t, t, 1e-12);
}

void reference_solver_to(reference_solver* s, double t, double x[]) {
  const reference_problem* p = &s->problem;
  while (s->n_breaks_passed < p->n_breaks && p->breaks[s->n_breaks_passed] <= t) {
    const double t_break = p->breaks[s->n_breaks_passed++];
    smooth_to(s, t_break);
    if (p->is_stiff) {
      assert_int_equal(CVodeReInit(s->memory, t_break, s->x), CV_SUCCESS);
    } else {
      assert_int_equal(ERKStepReInit(s->memory, call_rhs, t_break, s->x), ARK_SUCCESS);
    }
  }
  smooth_to(s, t);
  memcpy(x, N_VGetArrayPointer(s->x), p->n * sizeof x[0]);
}

void reference_solver_close(reference_solver* s) {
  if (s->problem.is_stiff) {
    CVodeFree(&s->memory);
    SUNLinSolFree(s->linear);
    SUNMatDestroy(s->matrix);
  } else {
    ERKStepFree(&s->memory);
  }
  N_VDestroy(s->x);
  SUNContext_Free(&s->context);
  free(s);
}
