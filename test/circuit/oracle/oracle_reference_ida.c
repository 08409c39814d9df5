// F(t, x, xdot) = [Phi ; A xdot + b] and its Jacobian dF/dx + c_j dF/dxdot come from circuit_equations.h with a0 = c_j.
// Variables whose derivatives do not occur are left out of the error test (SuppressAlg).
#include "circuit/oracle/oracle_reference_ida.h"

#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "circuit/equations/circuit_equations.h"

enum { MAX_STEPS = 1000000 };

typedef struct ida_run {
  yoke_arena arena;
  const yoke_network* network;
  yoke_signals* sources;
  yoke_equations* equations;
  const yoke_sparse_pattern* pattern;
  uint32_t n;
  double *c, *f, *J;
  SUNContext context;
  N_Vector x, xdot, id;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  void* memory;
} ida_run;

static int residual(realtype t, N_Vector x, N_Vector xdot, N_Vector f, void* data) {
  ida_run* run = data;
  yoke__signals_update(run->sources, t);
  yoke__equations_evaluate(run->equations, N_VGetArrayPointer(x), 0.0, N_VGetArrayPointer(xdot),
                           NULL, N_VGetArrayPointer(f), NULL);
  return 0;
}

static int jacobian(realtype t, realtype cj, N_Vector x, N_Vector xdot, N_Vector f, SUNMatrix J,
                    void* data, N_Vector work1, N_Vector work2, N_Vector work3) {
  (void)f, (void)work1, (void)work2, (void)work3;
  ida_run* run = data;
  const double* X = N_VGetArrayPointer(x);
  const double* D = N_VGetArrayPointer(xdot);
  for (uint32_t i = 0; i < run->n; i++) {
    run->c[i] = D[i] - cj * X[i];
  }
  yoke__signals_update(run->sources, t);
  yoke__equations_evaluate(run->equations, X, cj, run->c, NULL, run->f, run->J);
  const int32_t n_values = run->pattern->starts[run->n];
  for (uint32_t j = 0; j <= run->n; j++) {
    SUNSparseMatrix_IndexPointers(J)[j] = run->pattern->starts[j];
  }
  for (int32_t i = 0; i < n_values; i++) {
    SUNSparseMatrix_IndexValues(J)[i] = run->pattern->rows[i];
    SUNSparseMatrix_Data(J)[i] = run->J[i];
  }
  return 0;
}

// 1 for voltages across capacitors and currents of inductors
static void mark_differential(ida_run* run) {
  double* id = N_VGetArrayPointer(run->id);
  for (uint32_t e = 0; e < run->network->n_elements; e++) {
    const yoke_element* element = &run->network->elements[e];
    if (element->kind == YOKE_CAPACITOR) {
      id[element->a] = id[element->b] = 1.0;
    } else if (element->kind == YOKE_INDUCTOR) {
      id[run->network->n_nodes + e] = 1.0;
    }
  }
}

// x and xdot at t = 0
static bool configure(ida_run* run) {
  const yoke_network* network = run->network;
  double* state = yoke__arena_array(&run->arena, network->n_elements, sizeof *state);
  yoke_start_report report = {0};
  yoke_messages messages = {0};
  for (uint32_t e = 0; e < network->n_elements; e++) {
    state[e] = network->elements[e].has_start ? network->elements[e].start : 0.0;
  }
  const yoke_status status = yoke__circuit_initial(
      run->equations, run->sources, network, state, NULL, 0.0, N_VGetArrayPointer(run->x),
      N_VGetArrayPointer(run->xdot), &report, &messages);
  yoke__messages_free(&messages);
  return status >= 0;
}

static bool prepare_equations(ida_run* run) {
  const bool* is_closed = yoke__arena_array(&run->arena, run->network->n_elements, sizeof(bool));
  if (is_closed == NULL || yoke__signals_create(run->network, &run->arena, &run->sources) < 0 ||
      yoke__equations_create(run->network, run->sources, is_closed, run->network->run.gmin,
                             &run->arena, &run->equations) < 0) {
    return false;
  }
  run->n = run->equations->n;
  run->pattern = &run->equations->J;
  run->c = yoke__arena_array(&run->arena, run->n, sizeof(double));
  run->f = yoke__arena_array(&run->arena, run->n, sizeof(double));
  run->J = yoke__arena_array(&run->arena, (size_t)run->pattern->starts[run->n], sizeof(double));
  return run->c != NULL && run->f != NULL && run->J != NULL;
}

static bool prepare_ida(ida_run* run, double rtol) {
  if (SUNContext_Create(NULL, &run->context) != 0) {
    return false;
  }
  run->x = N_VNew_Serial(run->n, run->context);
  run->xdot = N_VNew_Serial(run->n, run->context);
  run->id = N_VNew_Serial(run->n, run->context);
  N_VConst(0.0, run->x);
  N_VConst(0.0, run->xdot);
  N_VConst(0.0, run->id);
  mark_differential(run);
  if (!configure(run)) {
    return false;
  }
  run->matrix =
      SUNSparseMatrix(run->n, run->n, run->pattern->starts[run->n], CSC_MAT, run->context);
  run->linear = SUNLinSol_KLU(run->x, run->matrix, run->context);
  run->memory = IDACreate(run->context);
  return IDAInit(run->memory, residual, 0.0, run->x, run->xdot) == IDA_SUCCESS &&
         IDASStolerances(run->memory, rtol, 0.01 * rtol) == IDA_SUCCESS &&
         IDASetUserData(run->memory, run) == IDA_SUCCESS &&
         IDASetLinearSolver(run->memory, run->linear, run->matrix) == IDA_SUCCESS &&
         IDASetJacFn(run->memory, jacobian) == IDA_SUCCESS &&
         IDASetId(run->memory, run->id) == IDA_SUCCESS &&
         IDASetSuppressAlg(run->memory, SUNTRUE) == IDA_SUCCESS &&
         IDASetErrFile(run->memory, NULL) == IDA_SUCCESS &&
         // slopes jump at corners: a small first step, and patience where it must be cut
         IDASetInitStep(run->memory, 1e-9) == IDA_SUCCESS &&
         IDASetMaxErrTestFails(run->memory, 100) == IDA_SUCCESS &&
         IDASetMaxConvFails(run->memory, 100) == IDA_SUCCESS &&
         IDASetMaxNumSteps(run->memory, MAX_STEPS) == IDA_SUCCESS;
}

static void release(ida_run* run) {
  if (run->memory != NULL) {
    IDAFree(&run->memory);
  }
  if (run->linear != NULL) {
    SUNLinSolFree(run->linear);
  }
  if (run->matrix != NULL) {
    SUNMatDestroy(run->matrix);
  }
  N_VDestroy(run->x);
  N_VDestroy(run->xdot);
  N_VDestroy(run->id);
  SUNContext_Free(&run->context);
  yoke__arena_free(&run->arena);
}

static bool solve(ida_run* run, const oracle_signals* signals, oracle_trace* trace) {
  for (size_t k = 0; k < signals->n_times; k++) {
    const double t_end = signals->times[k];
    double t = 0.0;
    int flag = IDASetStopTime(run->memory, t_end);
    flag = flag < 0 ? flag : IDASolve(run->memory, t_end, &t, run->x, run->xdot, IDA_NORMAL);
    if (flag < 0) {
      snprintf(trace->failure, sizeof trace->failure, "IDA stopped with %d before t = %g", flag,
               t_end);
      return false;
    }
    const double* x = N_VGetArrayPointer(run->x);
    for (size_t s = 0; s < signals->n; s++) {
      const oracle_signal* signal = &signals->list[s];
      trace->values[s][k] =
          x[signal->is_current ? run->network->n_nodes + signal->index : signal->index];
    }
    // corners: the history is of no use behind them
    if (IDAReInit(run->memory, t_end, run->x, run->xdot) < 0) {
      return false;
    }
  }
  return true;
}

bool oracle_reference_ida_run(const yoke_network* network, double rtol,
                              const oracle_signals* signals, oracle_trace* trace) {
  ida_run run = {.network = network};
  memset(trace, 0, sizeof *trace);
  bool is_done = false;
  if (!prepare_equations(&run) || !prepare_ida(&run, rtol)) {
    snprintf(trace->failure, sizeof trace->failure, "no start values for IDA");
  } else {
    is_done = solve(&run, signals, trace);
  }
  release(&run);
  return is_done;
}
