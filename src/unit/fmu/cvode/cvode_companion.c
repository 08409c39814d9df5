// CVODE behind the interface of fmu_cvode.h: backward differentiation with a dense Newton iteration, roots, stop times.
//
// Built as `yoke-cvode.so` where SUNDIALS is there. Source: Hindmarsh et al., SUNDIALS: suite of nonlinear and
// differential/algebraic equation solvers, ACM TOMS 31 (2005).
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "unit/fmu/fmu_cvode.h"

#if SUNDIALS_VERSION_MAJOR >= 7
#define NO_COMM SUN_COMM_NULL
#else
#define NO_COMM NULL
#endif

typedef struct companion {
  yoke_cvode_problem problem;
  SUNContext context;
  N_Vector x, tolerances;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  void* cvode;
  char why[256];
} companion;

static int call_rhs(sunrealtype t, N_Vector x, N_Vector dx, void* data) {
  const companion* c = data;
  return c->problem.rhs(c->problem.self, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
}

static int call_roots(sunrealtype t, N_Vector x, sunrealtype* z, void* data) {
  const companion* c = data;
  return c->problem.roots(c->problem.self, t, N_VGetArrayPointer(x), z);
}

#if SUNDIALS_VERSION_MAJOR < 7
// instead of printing on the console
static void take_message(int code, const char* module, const char* function, char* text, void* to) {
  (void)module;
  (void)function;
  companion* c = to;
  if (code < 0) {
    snprintf(c->why, sizeof c->why, "%s", text);
  }
}
#endif

static void close_companion(void* solver) {
  companion* c = solver;
  CVodeFree(&c->cvode);
  if (c->linear != NULL) {
    SUNLinSolFree(c->linear);
  }
  if (c->matrix != NULL) {
    SUNMatDestroy(c->matrix);
  }
  if (c->x != NULL) {
    N_VDestroy(c->x);
  }
  if (c->tolerances != NULL) {
    N_VDestroy(c->tolerances);
  }
  if (c->context != NULL) {
    SUNContext_Free(&c->context);
  }
  free(c);
}

// absolute tolerances: the relative one times the size a state usually has
static void set_tolerances(companion* c) {
  double* absolute = N_VGetArrayPointer(c->tolerances);
  for (size_t i = 0; i < c->problem.n_x; i++) {
    const double nominal = fabs(c->problem.nominals[i]);
    absolute[i] = c->problem.tolerance * (nominal > 0 ? nominal : 1);
  }
}

// N_VClone of SUNDIALS 6 writes through the result of this operation without a look at it. While a solver is made, a vector
// that cannot be had leaves through `escape`.
static _Thread_local jmp_buf* escape;

static N_Vector clone_or_leave(N_Vector from) {
  N_Vector vector = N_VClone_Serial(from);
  if (vector == NULL && escape != NULL) {
    longjmp(*escape, 1);
  }
  return vector;
}

static int make(companion* c) {
  const sunindextype n = (sunindextype)c->problem.n_x;
  int flag = SUNContext_Create(NO_COMM, &c->context);
  if (flag != 0) {
    return flag;
  }
#if SUNDIALS_VERSION_MAJOR >= 7
  SUNContext_ClearErrHandlers(c->context);
#endif
  c->x = N_VNew_Serial(n, c->context);
  c->tolerances = N_VNew_Serial(n, c->context);
  c->matrix = SUNDenseMatrix(n, n, c->context);
  if (c->x == NULL || c->tolerances == NULL || c->matrix == NULL) {
    return CV_MEM_FAIL;
  }
  c->x->ops->nvclone = c->tolerances->ops->nvclone = clone_or_leave;
  N_VConst(0, c->x);
  set_tolerances(c);
  c->linear = SUNLinSol_Dense(c->x, c->matrix, c->context);
  c->cvode = CVodeCreate(CV_BDF, c->context);
  if (c->linear == NULL || c->cvode == NULL) {
    return CV_MEM_FAIL;
  }
#if SUNDIALS_VERSION_MAJOR < 7
  flag = CVodeSetErrHandlerFn(c->cvode, take_message, c);
#endif
  flag = flag != 0 ? flag : CVodeInit(c->cvode, call_rhs, 0, c->x);
  flag = flag != 0 ? flag : CVodeSVtolerances(c->cvode, c->problem.tolerance, c->tolerances);
  flag = flag != 0 ? flag : CVodeSetUserData(c->cvode, c);
  flag = flag != 0 ? flag : CVodeSetLinearSolver(c->cvode, c->linear, c->matrix);
  flag = flag != 0 ? flag : CVodeSetNoInactiveRootWarn(c->cvode);
  if (flag == 0 && c->problem.n_z > 0) {
    flag = CVodeRootInit(c->cvode, (int)c->problem.n_z, call_roots);
  }
  return flag;
}

static yoke_cvode_outcome fail(companion* c, int flag, const yoke_sink* sink) {
  char* name = CVodeGetReturnFlagName(flag);
  yoke_fail(sink, YOKE_UNIT_FAILED, "%s%s%s", name, c->why[0] == '\0' ? "" : ": ", c->why);
  free(name);
  return YOKE_CVODE_FAILED;
}

static int make_or_leave(companion* c) {
  jmp_buf here;
  escape = &here;
  const int flag = setjmp(here) == 0 ? make(c) : CV_MEM_FAIL;
  escape = NULL;
  return flag;
}

static yoke_status open_companion(const yoke_cvode_problem* problem, void** out,
                                  const yoke_sink* sink) {
  companion* c = calloc(1, sizeof *c);
  if (c == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  c->problem = *problem;
  const int flag = make_or_leave(c);
  if (flag == 0) {
    *out = c;
    return YOKE_OK;
  }
  if (flag == CV_ILL_INPUT) {
    fail(c, flag, sink);
  } else {
    yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
    c->cvode = NULL;  // half made, SUNDIALS cannot free it
  }
  close_companion(c);
  return flag == CV_ILL_INPUT ? YOKE_UNIT_FAILED : YOKE_NO_MEMORY;
}

static yoke_cvode_outcome restart(void* solver, double t, const double x[], const yoke_sink* sink) {
  companion* c = solver;
  memcpy(N_VGetArrayPointer(c->x), x, c->problem.n_x * sizeof *x);
  set_tolerances(c);
  int flag = CVodeReInit(c->cvode, t, c->x);
  flag = flag != 0 ? flag : CVodeSVtolerances(c->cvode, c->problem.tolerance, c->tolerances);
  return flag != 0 ? fail(c, flag, sink) : YOKE_CVODE_STEP;
}

static yoke_cvode_outcome advance(void* solver, double t_stop, double longest, double* t,
                                  double x[], const yoke_sink* sink) {
  companion* c = solver;
  c->why[0] = '\0';
  int flag = CVodeSetStopTime(c->cvode, t_stop);
  flag = flag != CV_SUCCESS ? flag : CVodeSetMaxStep(c->cvode, longest);
  if (flag == CV_SUCCESS) {
    flag = CVode(c->cvode, t_stop, c->x, t, CV_ONE_STEP);
  }
  if (flag < 0) {
    return fail(c, flag, sink);
  }
  memcpy(x, N_VGetArrayPointer(c->x), c->problem.n_x * sizeof *x);
  return flag == CV_ROOT_RETURN    ? YOKE_CVODE_ROOT
         : flag == CV_TSTOP_RETURN ? YOKE_CVODE_STOP
                                   : YOKE_CVODE_STEP;
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const yoke_cvode_api yoke_cvode;

const yoke_cvode_api yoke_cvode = {
    .version = YOKE_CVODE_VERSION,
    .sundials = SUNDIALS_VERSION,
    .open = open_companion,
    .restart = restart,
    .advance = advance,
    .close = close_companion,
};
