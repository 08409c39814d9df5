// The formulation `dae`: all node voltages and all element currents, Newton's method
// (circuit_dae_step.c), and what surrounds a step: memory, factors before the run, switches,
// refreshed outputs, sensitivities, images.
#include "circuit/dae/circuit_dae.h"

#include <string.h>

// pivots of Ahat that are good enough for the direct solution
#define WELL_CONDITIONED 1e-10

// ------------------------------------------------------------------------------------------
// creation

static yoke_status take_memory(yoke_dae* self, yoke_arena* arena) {
  const size_t n = self->n;
  const yoke_method_plan* plan = &self->core->plan;
  const size_t n_rates = plan->n_stage_rates > 0 ? plan->n_stage_rates : 1;
  double* block = yoke__arena_array(arena, (plan->n_history + n_rates + 4) * n, sizeof(double));
  self->J = yoke__arena_array(arena, self->nnz, sizeof(double));
  self->v_limited = yoke__arena_array(arena, self->core->network->n_elements, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  self->next = block;
  self->c = block + n;
  self->f = block + 2 * n;
  self->floor = block + 3 * n;
  block += 4 * n;
  for (size_t j = 0; j < plan->n_history; j++, block += n) {
    self->x[j] = block;
  }
  for (size_t j = 0; j < n_rates; j++, block += n) {
    self->rate[j] = block;
  }
  return YOKE_OK;
}

// The pattern with what changes between two factorisations of a slot: with two values of a0 also
// what contains it.
static yoke_status make_matrix(yoke_dae* self, yoke_arena* arena) {
  const yoke_circuit_core* core = self->core;
  yoke_sparse_pattern pattern = core->equations->J;
  const uint8_t* dynamic = core->equations->dynamic;
  if (core->options.is_refactored) {
    pattern.varying = NULL;
  } else if (core->plan.n_slots > 1) {
    uint8_t* varying = yoke__arena_array(arena, self->nnz, sizeof *varying);
    YOKE_TRY(yoke__arena_status(arena));
    // entries with a0 in them: another a0 is another value
    for (uint32_t k = 0; k < self->nnz; k++) {
      varying[k] = pattern.varying[k] || dynamic[k];
    }
    pattern.varying = varying;
  }
  const yoke_sparse_settings settings = {.kernel = core->options.kernel,
                                         .n_slots = core->plan.n_slots};
  return yoke__sparse_create(&pattern, &settings, arena, &self->matrix);
}

static yoke_status make_projection(yoke_dae* self, yoke_arena* arena) {
  const yoke_circuit_core* core = self->core;
  const yoke_circuit_options* options = &core->options;
  yoke_circuit_projection kind = options->projection;
  if (options->method != YOKE_CIRCUIT_TR || kind == YOKE_PROJECTION_OFF) {
    return YOKE_OK;
  }
  // which junctions conduct decides the condition of Ahat, and its pivots: one set of them does not
  // serve a bridge that commutates, while the identity in the penalty form does
  if (kind == YOKE_PROJECTION_AUTO && core->equations->n_junctions > 0) {
    kind = YOKE_PROJECTION_PENALTY;
  }
  const yoke_projection_settings settings = {.kind = kind,
                                             .is_scaled =
                                                 options->projection == YOKE_PROJECTION_AUTO,
                                             .alpha = options->alpha,
                                             .n_passes = options->n_passes,
                                             .well_conditioned = WELL_CONDITIONED,
                                             .is_refactored = options->is_refactored,
                                             .kernel = options->kernel};
  return yoke__projection_create(&settings, core->equations, core->signals, arena,
                                 &self->projection);
}

static void dae_destroy(void* memory) {
  yoke_dae* self = memory;
  yoke__sparse_destroy(&self->matrix);
  yoke__projection_destroy(&self->projection);
  yoke__start_destroy(&self->holder);
}

static yoke_status build(yoke_dae* self) {
  yoke_circuit_core* core = self->core;
  const bool is_linear = core->equations->is_linear;
  const yoke_sparse_pattern* pattern = &core->equations->J;
  self->n = (uint32_t)pattern->n;
  self->nnz = (uint32_t)pattern->starts[pattern->n];

  // renewal of the matrix: each iteration if something is nonlinear, each stage if values
  // move, else only after switching
  self->renewal = !is_linear || core->options.is_refactored ? YOKE_DAE_ITERATION
                  : core->signals->is_matrix_moving         ? YOKE_DAE_STAGE
                                                            : YOKE_DAE_NEVER;
  YOKE_TRY(take_memory(self, &core->arena));
  YOKE_TRY(make_matrix(self, &core->arena));
  YOKE_TRY(make_projection(self, &core->arena));
  return yoke__start_create(core->equations, core->signals, core->network, core->options.kernel,
                            &core->arena, &self->holder);
}

static yoke_status dae_create(yoke_circuit_core* core, yoke_messages* messages, void** out) {
  (void)messages;
  yoke_dae* self = yoke__arena_take(&core->arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(&core->arena));
  self->core = core;
  const yoke_status status = build(self);
  if (status < 0) {
    dae_destroy(self);
    return status;
  }
  *out = self;
  return YOKE_OK;
}

// ------------------------------------------------------------------------------------------
// start and switches

static void say_singular(yoke_dae* self, const char* what, int32_t column) {
  char name[96] = "a value";
  if (column >= 0) {
    yoke__equations_name(self->core->equations, (uint32_t)column, name, sizeof name);
  }
  yoke__circuit_reason_set(&self->core->reason, self->core->network,
                           column < 0 ? YOKE_NO_INDEX : (uint32_t)column,
                           "%s: %s cannot be determined", what, name);
}

// The matrix of a slot at x_k, junctions at v_limited or, if that is NULL, as they are.
static void assemble(yoke_dae* self, uint32_t slot, const double v_limited[]) {
  yoke_circuit_core* core = self->core;
  const double a0 = core->plan.a0[slot];
  // rates as they are: a0 x + c = xdot
  for (uint32_t i = 0; i < self->n; i++) {
    // c = xdot - a0 x
    self->c[i] = self->rate[0][i] - a0 * self->x[0][i];
  }
  self->has_stage = false;
  yoke__equations_evaluate(core->equations, self->x[0], a0, self->c, v_limited, self->f, self->J);
}

static yoke_status factor_all(yoke_dae* self) {
  const yoke_method_plan* plan = &self->core->plan;
  int32_t column = -1;
  // pivots where every junction conducts a little, where that is possible
  yoke__equations_conduct(self->core->equations, self->v_limited);
  assemble(self, 0, self->v_limited);
  yoke_status status = yoke__sparse_factor(self->matrix, self->J, &column);
  if (status == YOKE_SINGULAR && self->core->equations->n_junctions > 0) {
    assemble(self, 0, NULL);
    status = yoke__sparse_factor(self->matrix, self->J, &column);
  }
  if (status < 0) {
    say_singular(self, "the equations of a step are singular", column);
    return status;
  }
  // factored the way they will be after a restore, so that the same bits come out; the last slot
  // first, because a failure of its pivots renews all
  for (uint32_t slot = plan->n_slots; slot-- > 0;) {
    assemble(self, slot, NULL);
    YOKE_TRY(yoke__dae_renew(self, slot));
  }
  self->core->counts.n_refactors = 0;
  return YOKE_OK;
}

static yoke_status dae_start(void* memory, const double x[], const double xdot[]) {
  yoke_dae* self = memory;
  yoke_circuit_core* core = self->core;
  for (uint32_t j = 0; j < core->plan.n_history; j++) {
    memcpy(self->x[j], x, self->n * sizeof(double));
  }
  memcpy(self->rate[0], xdot, self->n * sizeof(double));
  yoke__signals_update_rates(core->signals, core->t0);
  YOKE_TRY(factor_all(self));
  if (self->projection != NULL) {
    int32_t column = -1;
    const yoke_status status = yoke__projection_start(self->projection, x, &column);
    if (status < 0) {
      say_singular(self, "the derivatives of the equations are singular", column);
      return status;
    }
  }
  // without it refresh is not available; nothing else needs it
  const yoke_status status = yoke__start_prepare(self->holder, core->t0, x);
  yoke__signals_update(core->signals, core->t0);
  return status == YOKE_SINGULAR ? YOKE_OK : status;
}

static yoke_status dae_switched(void* memory) {
  yoke_dae* self = memory;
  yoke_circuit_core* core = self->core;
  self->is_stale[0] = true;
  self->is_stale[1] = true;
  if (self->projection != NULL) {
    yoke__projection_invalidate(self->projection);
  }
  // rates jump with a switch: methods that reuse them need those behind the jump. Where the states
  // cannot be held (capacitors switched together) the L-stable methods find the jump themselves.
  const yoke_method_plan* plan = &core->plan;
  const yoke_method_step* next = core->k < plan->n_first ? &plan->first : &plan->regular;
  if (next->stages[0].n_d > 0) {
    (void)yoke__start_hold(self->holder, yoke__core_time(core), self->x[0], self->rate[0]);
  }
  return YOKE_OK;
}

static yoke_status dae_refresh(void* memory) {
  yoke_dae* self = memory;
  yoke_circuit_core* core = self->core;
  return yoke__start_hold(self->holder, yoke__core_time(core), self->x[0], self->rate[0]);
}

// ------------------------------------------------------------------------------------------
// readings

// At the last solution; of a step that failed, where it stood then.
static double dae_law_value(const void* memory, uint32_t element) {
  const yoke_dae* self = memory;
  const yoke_circuit_core* core = self->core;
  return yoke__signals_law(core->signals, core->network->elements[element].value.law,
                           self->has_failed ? self->next : self->x[0], NULL);
}

static double dae_voltage(const void* memory, uint32_t node) {
  const yoke_dae* self = memory;
  return self->x[0][node];
}

static double dae_current(const void* memory, uint32_t element) {
  const yoke_dae* self = memory;
  return self->x[0][self->core->network->n_nodes + element];
}

static yoke_status dae_sensitivity(void* memory, uint32_t input, double dx[]) {
  yoke_dae* self = memory;
  yoke_circuit_core* core = self->core;
  const uint32_t slot = self->has_stage ? self->last_slot : 0;
  const double a0 = self->has_stage ? self->last_a0 : core->plan.a0[0];
  if (!self->has_stage || self->is_stale[slot]) {
    assemble(self, slot, NULL);
    YOKE_TRY(yoke__dae_renew(self, slot));
  }

  // J dx = -df/du
  yoke__equations_input(core->equations, self->x[0], a0, self->c, input, dx);
  for (uint32_t i = 0; i < self->n; i++) {
    dx[i] = -dx[i];
  }
  yoke__sparse_solve(self->matrix, slot, dx);
  return YOKE_OK;
}

// ------------------------------------------------------------------------------------------
// images: x_k and its history, then the rates of x_k

static size_t dae_image_size(const void* memory) {
  const yoke_dae* self = memory;
  return ((size_t)self->core->plan.n_history + 1) * self->n * sizeof(double);
}

static void dae_save(const void* memory, void* image) {
  const yoke_dae* self = memory;
  const size_t size = self->n * sizeof(double);
  char* at = image;
  for (uint32_t j = 0; j < self->core->plan.n_history; j++, at += size) {
    memcpy(at, self->x[j], size);
  }
  memcpy(at, self->rate[0], size);
}

static void dae_restore(void* memory, const void* image) {
  yoke_dae* self = memory;
  const size_t size = self->n * sizeof(double);
  const char* at = image;
  for (uint32_t j = 0; j < self->core->plan.n_history; j++, at += size) {
    memcpy(self->x[j], at, size);
  }
  memcpy(self->rate[0], at, size);
  // switches may stand otherwise
  self->is_stale[0] = true;
  self->is_stale[1] = true;
  self->has_stage = false;
  if (self->projection != NULL) {
    yoke__projection_invalidate(self->projection);
  }
}

static void dae_get_sizes(const void* memory, yoke_circuit_sizes* sizes) {
  const yoke_dae* self = memory;
  yoke__core_add_sizes(self->matrix, self->n, sizes);
}

const yoke_circuit_engine yoke__engine_dae = {
    .name = "dae",
    .create = dae_create,
    .destroy = dae_destroy,
    .start = dae_start,
    .step = yoke__dae_step,
    .switched = dae_switched,
    .refresh = dae_refresh,
    .law_value = dae_law_value,
    .voltage = dae_voltage,
    .current = dae_current,
    .sensitivity = dae_sensitivity,
    .image_size = dae_image_size,
    .save = dae_save,
    .restore = dae_restore,
    .get_sizes = dae_get_sizes,
};
