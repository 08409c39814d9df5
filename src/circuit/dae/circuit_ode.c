// The formulation `ode`: the constraints enter by their derivatives only,
//
//   [Phi_x ; A] xdot = -[Phi_t ; b],
//
// and x is advanced by an explicit formula. Kept for comparison, because it is known to fail: |Phi|
// drifts, nothing sees an input that jumps, and the matrix is singular for capacitors in parallel,
// inductors in series through a node that touches nothing else, and junctions that do not conduct.
// That is reported instead of returning numbers. Source: B. Rodriguez, F. Gonzalez, M. A. Naya,
// J. Cuadrado, Energies 13 (2020) 1354. Page: docs/circuit_methods.md, "`ode`, known to fail".
#include <string.h>

#include "base/base_check.h"
#include "circuit/circuit_engine.h"
#include "circuit/start/circuit_start.h"
#include "ode/ode.h"

// smallest over largest pivot below which the rank is not believed
#define RANK_TOLERANCE 1e-14

typedef struct engine_ode {
  yoke_circuit_core* core;
  uint32_t n;
  yoke_sparse* matrix;
  yoke_start* holder;
  bool is_constant, is_stale;
  yoke_status status;  // of the right-hand sides of a step
  double *x, *next, *rate, *ahat, *bhat, *work;
} engine_ode;

// ------------------------------------------------------------------------------------------
// rank

static void say_singular(engine_ode* self, int32_t column) {
  char name[96] = "a value";
  if (column >= 0) {
    yoke__equations_name(self->core->equations, (uint32_t)column, name, sizeof name);
  }
  yoke__circuit_reason_set(
      &self->core->reason, self->core->network, column < 0 ? YOKE_NO_INDEX : (uint32_t)column,
      "the differentiated equations are singular at %.60s: formulation 'ode' cannot be used with "
      "capacitors "
      "in parallel, inductors in series or junctions that do not conduct; use 'dae' or 'nodal'",
      name);
}

// Chooses pivots at x and looks whether the rank is full.
static yoke_status factor(engine_ode* self, const double x[], double t) {
  yoke_circuit_core* core = self->core;
  int32_t column = -1;

  // [Phi_x; A] at x: a pivot below 1e-14 of the largest counts as none
  yoke__signals_update_rates(core->signals, t);
  yoke__equations_derivatives(core->equations, x, NULL, self->ahat, self->bhat);
  yoke_status status = yoke__sparse_factor(self->matrix, self->ahat, &column);
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(self->matrix, &stats);
  if (status >= 0 && !(stats.rcond > RANK_TOLERANCE)) {
    status = YOKE_SINGULAR;
  }
  if (status == YOKE_SINGULAR) {
    say_singular(self, column);
  }
  self->is_stale = false;
  return status;
}

// ------------------------------------------------------------------------------------------
// creation

static void ode_destroy(void* memory) {
  engine_ode* self = memory;
  yoke__sparse_destroy(&self->matrix);
  yoke__start_destroy(&self->holder);
}

static yoke_status take_memory(engine_ode* self, yoke_arena* arena, uint32_t nnz) {
  const size_t n = self->n;
  const size_t n_work = yoke__ode_work_size(YOKE_ODE_RK4, n);
  double* block = yoke__arena_array(arena, 4 * n + nnz + n_work, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  self->x = block;
  self->next = block + n;
  self->rate = block + 2 * n;
  self->bhat = block + 3 * n;
  self->ahat = block + 4 * n;
  self->work = block + 4 * n + nnz;
  return YOKE_OK;
}

static yoke_status build(engine_ode* self, yoke_messages* messages) {
  yoke_circuit_core* core = self->core;
  const yoke_sparse_pattern* pattern = &core->equations->Ahat;
  self->n = (uint32_t)pattern->n;
  self->is_constant = core->equations->is_linear && !core->signals->is_matrix_moving;
  YOKE_TRY(take_memory(self, &core->arena, (uint32_t)pattern->starts[pattern->n]));
  const yoke_sparse_settings settings = {.kernel = core->options.kernel, .n_slots = 1};
  YOKE_TRY(yoke__sparse_create(pattern, &settings, &core->arena, &self->matrix));
  YOKE_TRY(yoke__start_create(core->equations, core->signals, core->network, core->options.kernel,
                              &core->arena, &self->holder));
  // a constant matrix can be judged at once
  if (core->equations->is_constant) {
    const yoke_status status = factor(self, self->x, core->t0);
    if (status == YOKE_SINGULAR) {
      const yoke_sink list = yoke__messages_sink(messages);
      yoke__circuit_reason_send(&core->reason, status, &list);
    }
    return status;
  }
  return YOKE_OK;
}

static yoke_status ode_create(yoke_circuit_core* core, yoke_messages* messages, void** out) {
  engine_ode* self = yoke__arena_take(&core->arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(&core->arena));
  self->core = core;
  const yoke_status status = build(self, messages);
  if (status < 0) {
    ode_destroy(self);
    return status;
  }
  *out = self;
  return YOKE_OK;
}

static yoke_status ode_start(void* memory, const double x[], const double xdot[]) {
  engine_ode* self = memory;
  memcpy(self->x, x, self->n * sizeof(double));
  memcpy(self->rate, xdot, self->n * sizeof(double));
  YOKE_TRY(factor(self, x, self->core->t0));
  const yoke_status status = yoke__start_prepare(self->holder, self->core->t0, x);
  return status == YOKE_SINGULAR ? YOKE_OK : status;
}

// ------------------------------------------------------------------------------------------
// steps

static yoke_status renew(engine_ode* self) {
  // constant matrix: factored once
  if (self->is_constant && !self->is_stale && !self->core->options.is_refactored) {
    return YOKE_OK;
  }
  self->core->counts.n_refactors++;

  // the pivots of before as long as they hold: new numbers on the old
  // structure; else pivots are chosen anew
  yoke_status status = yoke__sparse_refactor(self->matrix, 0, self->ahat);
  if (status < 0) {
    self->core->counts.n_repivots++;
    status = yoke__sparse_repivot(self->matrix, 0, self->ahat);
  }
  self->is_stale = status < 0;
  return status;
}

static void right_hand_side(void* memory, double t, const double x[], double dx[]) {
  engine_ode* self = memory;
  yoke_circuit_core* core = self->core;
  yoke__signals_update_rates(core->signals, t);
  yoke__equations_derivatives(core->equations, x, NULL, self->ahat, self->bhat);
  const yoke_status status = renew(self);

  // xdot = -Ahat^-1 bhat
  for (uint32_t i = 0; i < self->n; i++) {
    // the right-hand side is the place of the solution
    dx[i] = status < 0 ? 0.0 : -self->bhat[i];
  }
  if (status < 0) {
    self->status = status;
    return;
  }
  yoke__sparse_solve(self->matrix, 0, dx);
  core->counts.n_iterations++;
}

static yoke_status ode_step(void* memory) {
  engine_ode* self = memory;
  yoke_circuit_core* core = self->core;
  const yoke_ode_method method =
      core->options.method == YOKE_CIRCUIT_RK4 ? YOKE_ODE_RK4 : YOKE_ODE_EULER;
  self->status = YOKE_OK;
  memcpy(self->next, self->x, self->n * sizeof(double));
  yoke_status status = yoke__ode_step(method, right_hand_side, self, yoke__core_time(core), core->h,
                                      self->n, self->next, self->work, NULL);

  // rate at the end of the step, for refresh and images
  right_hand_side(self, core->t0 + (double)(core->k + 1) * core->h, self->next, self->rate);
  status = self->status < 0 ? self->status : status;
  uint32_t i = 0;
  for (; status >= 0 && i < self->n; i++) {
    status = yoke__is_finite(self->next[i]) ? status : YOKE_DIVERGED;
  }
  if (status == YOKE_SINGULAR) {
    say_singular(self, -1);
  } else if (status < 0) {
    yoke__circuit_reason_set(&core->reason, core->network, i - 1,
                             "a value is not finite at t = %.9g s", core->signals->t);
  }
  YOKE_TRY(status);
  core->counts.n_stages++;

  // the old values become the place of the next step
  double* last = self->x;
  self->x = self->next;
  self->next = last;
  return YOKE_OK;
}

static yoke_status ode_refresh(void* memory) {
  engine_ode* self = memory;
  return yoke__start_hold(self->holder, yoke__core_time(self->core), self->x, self->rate);
}

static yoke_status ode_switched(void* memory) {
  engine_ode* self = memory;
  self->is_stale = true;
  (void)ode_refresh(self);
  return YOKE_OK;
}

// ------------------------------------------------------------------------------------------
// readings and images

static double ode_voltage(const void* memory, uint32_t node) {
  const engine_ode* self = memory;
  return self->x[node];
}

static double ode_current(const void* memory, uint32_t element) {
  const engine_ode* self = memory;
  return self->x[self->core->network->n_nodes + element];
}

// NOLINTNEXTLINE(readability-non-const-parameter): the contract of an engine
static yoke_status ode_sensitivity(void* memory, uint32_t input, double dx[]) {
  (void)memory;
  (void)input;
  (void)dx;
  return YOKE_NO_SUPPORT;
}

static size_t ode_image_size(const void* memory) {
  const engine_ode* self = memory;
  return 2 * (size_t)self->n * sizeof(double);
}

static void ode_save(const void* memory, void* image) {
  const engine_ode* self = memory;
  const size_t size = self->n * sizeof(double);
  memcpy(image, self->x, size);
  memcpy((char*)image + size, self->rate, size);
}

static void ode_restore(void* memory, const void* image) {
  engine_ode* self = memory;
  const size_t size = self->n * sizeof(double);
  memcpy(self->x, image, size);
  memcpy(self->rate, (const char*)image + size, size);
  self->is_stale = true;
}

static void ode_get_sizes(const void* memory, yoke_circuit_sizes* sizes) {
  const engine_ode* self = memory;
  yoke__core_add_sizes(self->matrix, self->n, sizes);
}

const yoke_circuit_engine yoke__engine_ode = {
    .name = "ode",
    .create = ode_create,
    .destroy = ode_destroy,
    .start = ode_start,
    .step = ode_step,
    .switched = ode_switched,
    .refresh = ode_refresh,
    .voltage = ode_voltage,
    .current = ode_current,
    .sensitivity = ode_sensitivity,
    .image_size = ode_image_size,
    .save = ode_save,
    .restore = ode_restore,
    .get_sizes = ode_get_sizes,
};
