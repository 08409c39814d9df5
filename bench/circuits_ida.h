// SUNDIALS IDA with KLU on the modified nodal equations of a network, the form circuit simulators use: voltages of all
// nodes but ground, currents of voltage sources and inductors (3 N + 2 unknowns for the ladder):
//
//   node k      sum of currents leaving it: (v_a - v_b)/R, C (v_a' - v_b'), junctions, i of sources and inductors
//   source      v_a - v_b - E(t) = 0
//   inductor    v_a - v_b - L i' = 0
//
// Analytic Jacobian with a fixed pattern, algebraic variables left out of the error test, one step per call.
#ifndef YOKE_BENCH_CIRCUITS_IDA_H
#define YOKE_BENCH_CIRCUITS_IDA_H

#include "circuits_result.h"

#if YOKE_HAVE_SUNDIALS

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "base/base_os.h"
#include "circuit/network/circuit_junction.h"

// An element with its places in the equations; -1: ground or none.
typedef struct nodal_element {
  yoke_element_kind kind;
  int a, b, i;             // unknowns
  int aa, ab, ba, bb;      // slots of the Jacobian: KCL by voltage
  int ai, bi, ia, ib, ii;  // KCL by current, own row
  double value;
  const yoke_wave* wave;
  yoke_junction junction;
} nodal_element;

typedef struct nodal_model {
  nodal_element* elements;
  uint32_t n_elements;
  int n, n_nodes;  // unknowns; those that are voltages
  sunindextype *starts, *rows;
  int n_values;
} nodal_model;

// ---------------------------------------------------------------------------------------------------------
// the model

typedef struct pattern_entry {
  int column, row;
  int* slot;
} pattern_entry;

static int by_place(const void* a, const void* b) {
  const pattern_entry *x = a, *y = b;
  return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                : (x->row > y->row) - (x->row < y->row);
}

// Slots of an element: entries that fall onto ground stay -1.
static size_t list_entries(nodal_element* e, pattern_entry* to) {
  const pattern_entry all[] = {
      {e->a, e->a, &e->aa}, {e->b, e->a, &e->ab}, {e->a, e->b, &e->ba},
      {e->b, e->b, &e->bb}, {e->i, e->a, &e->ai}, {e->i, e->b, &e->bi},
      {e->a, e->i, &e->ia}, {e->b, e->i, &e->ib}, {e->i, e->i, &e->ii},
  };
  const bool has_current = e->i >= 0;
  size_t n = 0;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    *all[k].slot = -1;
    if (all[k].column >= 0 && all[k].row >= 0 && (k >= 4) == has_current) {
      to[n++] = all[k];
    }
  }
  return n;
}

static void make_pattern(nodal_model* model) {
  pattern_entry* entries = bench_take(9 * (size_t)model->n_elements, sizeof *entries);
  size_t n = 0;
  for (uint32_t e = 0; e < model->n_elements; e++) {
    n += list_entries(&model->elements[e], entries + n);
  }
  qsort(entries, n, sizeof *entries, by_place);
  model->starts = bench_take((size_t)model->n + 1, sizeof *model->starts);
  model->rows = bench_take(n, sizeof *model->rows);
  for (size_t k = 0; k < n; k++) {
    const bool is_new = k == 0 || by_place(&entries[k], &entries[k - 1]) != 0;
    if (is_new) {
      model->rows[model->n_values++] = entries[k].row;
      model->starts[entries[k].column + 1]++;
    }
    *entries[k].slot = model->n_values - 1;
  }
  for (int j = 0; j < model->n; j++) {
    model->starts[j + 1] += model->starts[j];
  }
  free(entries);
}

static bool nodal_create(const yoke_network* network, nodal_model* model) {
  *model = (nodal_model){.n_elements = network->n_elements, .n_nodes = (int)network->n_nodes - 1};
  model->elements = bench_take(network->n_elements, sizeof *model->elements);
  model->n = model->n_nodes;
  for (uint32_t k = 0; k < network->n_elements; k++) {
    const yoke_element* from = &network->elements[k];
    nodal_element* to = &model->elements[k];
    *to = (nodal_element){.kind = from->kind,
                          .a = (int)from->a - 1,
                          .b = (int)from->b - 1,
                          .i = -1,
                          .value = from->value.constant,
                          .wave = from->value.wave};
    if (from->kind == YOKE_VOLTAGE || from->kind == YOKE_INDUCTOR) {
      to->i = model->n++;
    } else if (from->kind == YOKE_JUNCTION) {
      yoke__junction_init(&to->junction, from->junction, network->run.gmin);
    } else if (from->kind != YOKE_RESISTOR && from->kind != YOKE_CAPACITOR) {
      return false;
    }
  }
  make_pattern(model);
  return true;
}

static void nodal_free(nodal_model* model) {
  free(model->elements);
  free(model->starts);
  free(model->rows);
}

static double across(const nodal_element* e, const double x[]) {
  return (e->a >= 0 ? x[e->a] : 0.0) - (e->b >= 0 ? x[e->b] : 0.0);
}

static void leave(const nodal_element* e, double current, double f[]) {
  if (e->a >= 0) {
    f[e->a] += current;
  }
  if (e->b >= 0) {
    f[e->b] -= current;
  }
}

static int nodal_residual(realtype t, N_Vector xv, N_Vector dv, N_Vector fv, void* data) {
  const nodal_model* model = data;
  const double* x = N_VGetArrayPointer(xv);
  const double* d = N_VGetArrayPointer(dv);
  double* f = N_VGetArrayPointer(fv);
  double current = 0.0, g = 0.0;
  memset(f, 0, (size_t)model->n * sizeof *f);
  for (uint32_t k = 0; k < model->n_elements; k++) {
    const nodal_element* e = &model->elements[k];
    const double v = across(e, x);
    if (e->kind == YOKE_RESISTOR) {
      leave(e, v / e->value, f);
    } else if (e->kind == YOKE_CAPACITOR) {
      leave(e, e->value * across(e, d), f);
    } else if (e->kind == YOKE_JUNCTION) {
      yoke__junction_evaluate(&e->junction, v, &current, &g);
      leave(e, current, f);
    } else {
      const double E = e->wave != NULL ? yoke__wave_value(e->wave, t) : e->value;
      leave(e, x[e->i], f);
      f[e->i] = e->kind == YOKE_VOLTAGE ? v - E : v - e->value * d[e->i];
    }
  }
  return 0;
}

static void add_to(double* values, int slot, double value) {
  if (slot >= 0) {
    values[slot] += value;
  }
}

static int nodal_jacobian(realtype t, realtype cj, N_Vector xv, N_Vector dv, N_Vector fv,
                          SUNMatrix J, void* data, N_Vector work1, N_Vector work2, N_Vector work3) {
  (void)t, (void)dv, (void)fv, (void)work1, (void)work2, (void)work3;
  const nodal_model* model = data;
  const double* x = N_VGetArrayPointer(xv);
  double* values = SUNSparseMatrix_Data(J);
  memcpy(SUNSparseMatrix_IndexPointers(J), model->starts,
         ((size_t)model->n + 1) * sizeof *model->starts);
  memcpy(SUNSparseMatrix_IndexValues(J), model->rows,
         (size_t)model->n_values * sizeof *model->rows);
  memset(values, 0, (size_t)model->n_values * sizeof *values);
  for (uint32_t k = 0; k < model->n_elements; k++) {
    const nodal_element* e = &model->elements[k];
    double g = 0.0, current = 0.0;
    if (e->i >= 0) {
      add_to(values, e->ai, 1.0);
      add_to(values, e->bi, -1.0);
      add_to(values, e->ia, 1.0);
      add_to(values, e->ib, -1.0);
      add_to(values, e->ii, e->kind == YOKE_INDUCTOR ? -cj * e->value : 0.0);
      continue;
    }
    if (e->kind == YOKE_JUNCTION) {
      yoke__junction_evaluate(&e->junction, across(e, x), &current, &g);
    } else {
      g = e->kind == YOKE_RESISTOR ? 1.0 / e->value : cj * e->value;
    }
    add_to(values, e->aa, g);
    add_to(values, e->bb, g);
    add_to(values, e->ab, -g);
    add_to(values, e->ba, -g);
  }
  return 0;
}

// ---------------------------------------------------------------------------------------------------------
// the race

typedef struct ida_solver {
  SUNContext context;
  N_Vector x, xdot, id;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  void* memory;
} ida_solver;

static bool ida_open(nodal_model* model, double rtol, ida_solver* s) {
  *s = (ida_solver){0};
  if (SUNContext_Create(NULL, &s->context) != 0) {
    return false;
  }
  s->x = N_VNew_Serial(model->n, s->context);
  s->xdot = N_VNew_Serial(model->n, s->context);
  s->id = N_VNew_Serial(model->n, s->context);
  N_VConst(0.0, s->x);  // all sources begin at 0, so does everything else
  N_VConst(0.0, s->xdot);
  N_VConst(0.0, s->id);
  double* id = N_VGetArrayPointer(s->id);
  for (uint32_t k = 0; k < model->n_elements; k++) {
    const nodal_element* e = &model->elements[k];
    const int marked[2] = {e->kind == YOKE_INDUCTOR    ? e->i
                           : e->kind == YOKE_CAPACITOR ? e->a
                                                       : -1,
                           e->kind == YOKE_CAPACITOR ? e->b : -1};
    for (int j = 0; j < 2; j++) {
      if (marked[j] >= 0) {
        id[marked[j]] = 1.0;
      }
    }
  }
  s->matrix = SUNSparseMatrix(model->n, model->n, model->n_values, CSC_MAT, s->context);
  s->linear = SUNLinSol_KLU(s->x, s->matrix, s->context);
  s->memory = IDACreate(s->context);
  return IDAInit(s->memory, nodal_residual, 0.0, s->x, s->xdot) == IDA_SUCCESS &&
         IDASStolerances(s->memory, rtol, 0.01 * rtol) == IDA_SUCCESS &&
         IDASetUserData(s->memory, model) == IDA_SUCCESS &&
         IDASetLinearSolver(s->memory, s->linear, s->matrix) == IDA_SUCCESS &&
         IDASetJacFn(s->memory, nodal_jacobian) == IDA_SUCCESS &&
         IDASetId(s->memory, s->id) == IDA_SUCCESS &&
         IDASetSuppressAlg(s->memory, SUNTRUE) == IDA_SUCCESS &&
         IDASetErrFile(s->memory, NULL) == IDA_SUCCESS &&
         // slopes at the start are guessed as 0: a small first step, and patience where it must be cut
         IDASetInitStep(s->memory, 1e-9) == IDA_SUCCESS &&
         IDASetMaxErrTestFails(s->memory, 100) == IDA_SUCCESS &&
         IDASetMaxConvFails(s->memory, 100) == IDA_SUCCESS;
}

static void ida_close(ida_solver* s) {
  IDAFree(&s->memory);
  SUNLinSolFree(s->linear);
  SUNMatDestroy(s->matrix);
  N_VDestroy(s->x);
  N_VDestroy(s->xdot);
  N_VDestroy(s->id);
  SUNContext_Free(&s->context);
}

// one run; points go to rows of 1 + n_signals numbers
static int ida_points(ida_solver* s, const race_problem* problem, int taps[][2], double* points,
                      int max_points) {
  const double* x = N_VGetArrayPointer(s->x);
  double t = 0.0;
  int n = 0;
  IDASetStopTime(s->memory, problem->stop);
  while (t < problem->stop && n < max_points) {
    if (IDASolve(s->memory, problem->stop, &t, s->x, s->xdot, IDA_ONE_STEP) < 0) {
      return -n - 1;
    }
    double* row = points + (size_t)n++ * (MAX_SIGNALS + 1);
    row[0] = t;
    for (int k = 0; k < problem->n_signals; k++) {
      row[1 + k] = x[taps[k][0]] - (taps[k][1] >= 0 ? x[taps[k][1]] : 0.0);
    }
  }
  return n;
}

static void find_taps(const yoke_network* network, const race_problem* problem, int taps[][2]) {
  for (int s = 0; s < problem->n_signals; s++) {
    const char* minus = problem->signals[s].minus;
    taps[s][0] = (int)yoke__network_find_node(network, problem->signals[s].plus) - 1;
    taps[s][1] = minus[0] != '\0' ? (int)yoke__network_find_node(network, minus) - 1 : -1;
  }
}

static void ida_race(const race_problem* problem, const yoke_network* network, double rtol,
                     int n_runs, race_result* result) {
  enum { MAX_POINTS = 2000000 };
  *result = (race_result){.name = "IDA", .tolerance = rtol, .cost = 1e30};
  nodal_model model;
  int taps[MAX_SIGNALS][2];
  double* points = bench_take(MAX_POINTS, (MAX_SIGNALS + 1) * sizeof(double));
  result->is_failed = !nodal_create(network, &model);
  find_taps(network, problem, taps);
  for (int run = 0; run < n_runs && !result->is_failed; run++) {
    ida_solver solver;
    result->is_failed = !ida_open(&model, rtol, &solver);
    const int64_t start = yoke__os_cpu_ns();
    const int n = result->is_failed ? 0 : ida_points(&solver, problem, taps, points, MAX_POINTS);
    result->cost = fmin(result->cost, 1e-9 * (double)(yoke__os_cpu_ns() - start) / problem->stop);
    race_error error = {.reference = &problem->reference, .n_signals = problem->n_signals};
    for (int j = 0; j < n; j++) {
      const double* row = points + (size_t)j * (MAX_SIGNALS + 1);
      error_add(&error, row[0], row + 1);
    }
    if (n <= 0) {
      result->is_failed = true;
      result->t_reached = n < -1 ? points[(size_t)(-n - 2) * (MAX_SIGNALS + 1)] : 0.0;
    } else {
      result->error = error_rms(&error);
      result->n_steps = n;
    }
    ida_close(&solver);
  }
  free(points);
  nodal_free(&model);
}

#endif

#endif
