// Model exchange: an FMU that gives derivatives, as a unit that can be stepped. See docs/fmu_model_exchange.md.
//
// Here: the operations of the table, and what reaches the FMU when. fmu_me_layout.c lays the memory, fmu_me_step.c integrates
// and finds events, fmu_me_control.c chooses steps by a tolerance, fmu_me_events.c handles events, fmu_cvode.c is the other
// solver.
//
// Between two steps the FMU is in continuous-time mode at the end of the last one. There it takes new values of continuous
// inputs at any time and computes outputs from them, so outputs may be read again with new inputs (`refresh`). Discrete
// inputs and tunable parameters may change in event mode only: they wait for the start of the next step.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fmu/fmu_solver.h"

// ---------------------------------------------------------------------------------------------------------
// inputs

yoke_status yoke__fmu_me_put_inputs(fmu* f, const double u[]) {
  return f->version->set_reals(f, &f->solver->continuous, u);
}

// a value that waits for the next event, unless the FMU has it already
static void latch_value(fmu_solver* s, size_t i, const void* value) {
  const fmu_latch* latch = &s->latches[i];
  unsigned char* kept = s->latched + latch->at;
  if (s->latch_marks[i] != FMU_UNKNOWN && memcmp(kept, value, latch->size) == 0) {
    return;
  }
  memcpy(kept, value, latch->size);
  s->latch_marks[i] = FMU_PENDING;
  s->now->is_pending = true;
}

static void forget_slopes(fmu* f) {
  fmu_solver* s = f->solver;
  if (s->now->has_slopes) {
    memset(s->slopes, 0, FMU_N_SLOPES * f->layout.n_u * sizeof *s->slopes);
    s->now->has_slopes = false;
    yoke__fmu_cvode_forget(f);
  }
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  fmu* f = self;
  fmu_solver* s = f->solver;
  if (n_u == 0) {
    return YOKE_OK;
  }
  if (f->phase != FMU_RUNNING) {
    memcpy(s->u, u, n_u * sizeof *u);
    return f->version->set_reals(f, &f->layout.inputs, u);
  }
  forget_slopes(f);
  if (memcmp(s->u, u, n_u * sizeof *u) == 0) {
    return YOKE_OK;
  }
  yoke__fmu_cvode_forget(f);
  memcpy(s->u, u, n_u * sizeof *u);
  for (size_t i = 0; i < s->n_latches; i++) {
    if (s->latches[i].dense != YOKE_FMI_NONE) {
      latch_value(s, i, u + s->latches[i].dense);
    }
  }
  return yoke__fmu_me_put_inputs(f, u);
}

static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  fmu* f = self;
  fmu_solver* s = f->solver;
  if (order < 1 || order > FMU_N_SLOPES) {
    return YOKE_NO_SUPPORT;
  }
  memcpy(s->slopes + (size_t)(order - 1) * n_u, du, n_u * sizeof *du);
  for (size_t i = 0; i < n_u && !s->now->has_slopes; i++) {
    s->now->has_slopes = du[i] != 0;
  }
  if (s->now->has_slopes) {
    yoke__fmu_cvode_forget(f);
  }
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  fmu* f = yoke__fmu_of(self);
  return n_y == 0 ? YOKE_OK : f->version->get_reals(f, f->outputs, y);
}

// one variable while the FMU runs
static yoke_status set_running(fmu* f, size_t variable, const void* value) {
  fmu_solver* s = f->solver;
  const size_t latch = s->latch_of[variable];
  if (latch == 0 && s->dense_of[variable] == YOKE_FMI_NONE) {
    return YOKE_NO_SUPPORT;
  }
  if (s->dense_of[variable] != YOKE_FMI_NONE) {
    memcpy(s->u + s->dense_of[variable], value, f->layout.slots[variable].n * sizeof(double));
    yoke__fmu_cvode_forget(f);
  }
  if (latch > 0) {
    latch_value(s, latch - 1, value);
    return YOKE_OK;
  }
  return yoke__fmu_me_put_inputs(f, s->u);
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  (void)size;
  fmu* f = self;
  fmu_solver* s = f->solver;
  const yoke_variable* v = &f->layout.info.variables[variable];
  if (f->phase == FMU_FAILED || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  if (f->phase == FMU_RUNNING) {
    return set_running(f, variable, value);
  }
  if ((v->flags & YOKE_VARIABLE_READ_ONLY) != 0) {
    return YOKE_NO_SUPPORT;
  }
  const size_t latch = s->latch_of[variable];
  if (latch > 0) {
    memcpy(s->latched + s->latches[latch - 1].at, value, s->latches[latch - 1].size);
    s->latch_marks[latch - 1] = FMU_KNOWN;
  }
  if (s->dense_of[variable] != YOKE_FMI_NONE) {
    memcpy(s->u + s->dense_of[variable], value, f->layout.slots[variable].n * sizeof(double));
  }
  YOKE_TRY(yoke__fmu_remember(f, variable, value));
  return f->version->set(f, &f->layout.slots[variable], v, value);
}

// ---------------------------------------------------------------------------------------------------------
// life

static yoke_status exit_init(void* self) {
  fmu* f = self;
  fmu_solver* s = f->solver;
  YOKE_TRY(yoke__fmu_exit_init(f));
  s->now->t_now = f->t_start;
  // real inputs that wait for events have now the value the initialisation gave them
  for (size_t i = 0; i < s->n_latches; i++) {
    if (s->latches[i].dense != YOKE_FMI_NONE) {
      memcpy(s->latched + s->latches[i].at, s->u + s->latches[i].dense, s->latches[i].size);
      s->latch_marks[i] = FMU_KNOWN;
    }
  }
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = yoke__fmu_me_first_event(f);
  yoke__fmu_guard(mode);
  return status;
}

// With continuous time the FMU computes outputs when they are asked for; new inputs are there already.
static yoke_status refresh(void* self, double t) {
  (void)t;
  const fmu* f = self;
  return f->phase == FMU_FAILED || f->phase == FMU_DEAD ? YOKE_UNIT_FAILED : YOKE_OK;
}

// do parameters alone wait? They are no jump of the inputs.
static bool are_parameters_pending(const fmu* f) {
  const fmu_solver* s = f->solver;
  for (size_t i = 0; i < s->n_latches; i++) {
    const yoke_variable* v = &f->layout.info.variables[s->latches[i].variable];
    if (s->latch_marks[i] == FMU_PENDING && v->causality == YOKE_INPUT) {
      return false;
    }
  }
  return true;
}

// values that waited become known at the start of the step
static yoke_status take_pending(fmu* f) {
  fmu_solver* s = f->solver;
  const bool is_quiet = are_parameters_pending(f);
  if (s->n_x > 0) {
    memcpy(s->x_start, s->x, s->n_x * sizeof *s->x);
  }
  YOKE_TRY(yoke__fmu_me_event(f, s->now->t_now));
  // a parameter that moves a little at each exchange must not make others forget their history
  if (is_quiet && (s->n_x == 0 || memcmp(s->x_start, s->x, s->n_x * sizeof *s->x) == 0)) {
    s->flags &= ~(uint32_t)YOKE_STEP_EVENT_NEEDED;
  }
  return YOKE_OK;
}

// The FMU at the start of the step with its new inputs.
static yoke_status begin(fmu* f, double t, double h) {
  fmu_solver* s = f->solver;
  s->t_step = t;
  s->h = h;
  s->n_events = s->n_trials = s->n_looked_at = 0;
  s->h_lambda_sum = 0;
  s->is_at_bound = false;
  s->failure = YOKE_OK;
  s->has_slope = false;  // inputs may have jumped
  YOKE_TRY(yoke__fmu_me_plan(f, h));
  s->tolerance_s = 4 * DBL_EPSILON * fabs(t) + fmin(1e-12, 1e-9 * s->longest);
  // the FMU may stand a rounding further than the caller's t, and no time may be told that lies before an event
  const double ahead = s->now->t_now - t;
  s->t_floor = ahead > 0 && ahead <= s->tolerance_s ? s->now->t_now : t;
  YOKE_TRY(yoke__fmu_me_put(f, 0, s->x));
  if (s->now->is_pending) {
    return take_pending(f);
  }
  // an input that jumped may have carried an indicator across
  YOKE_TRY(yoke__fmu_me_indicators(f, s->z));
  return yoke__fmu_me_is_crossed(s, s->z) ? yoke__fmu_me_event(f, s->now->t_now) : YOKE_OK;
}

// the inputs at the end are those that the outputs belong to
static void end(fmu* f) {
  fmu_solver* s = f->solver;
  if (s->now->has_slopes) {
    memcpy(s->u, s->u_now, f->layout.n_u * sizeof *s->u);
    memset(s->slopes, 0, FMU_N_SLOPES * f->layout.n_u * sizeof *s->slopes);
    s->now->has_slopes = false;
    yoke__fmu_cvode_forget(f);
  }
}

static yoke_status advance(fmu* f, double t, double h) {
  fmu_solver* s = f->solver;
  s->flags = 0;
  if (f->phase != FMU_RUNNING) {
    return yoke__fmu_me_fail(f, YOKE_UNIT_FAILED, "the FMU failed before");
  }
  // the event at the start of the run may have asked for its end: the first step says so
  if (s->now->is_over && s->h == 0) {
    s->flags = YOKE_STEP_END_WANTED;
    return YOKE_OK;
  }
  if (s->now->is_over) {
    return yoke__fmu_me_fail(f, YOKE_UNIT_FAILED, "the FMU asked to end the simulation before");
  }
  YOKE_TRY(begin(f, t, h));
  const bool is_cvode = s->cvode != NULL && (s->kind == FMU_CVODE || s->now->is_stiff);
  YOKE_TRY(is_cvode ? yoke__fmu_me_run_cvode(f, 0) : yoke__fmu_me_run_own(f));
  end(f);
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = advance(f, t, h);
  yoke__fmu_guard(mode);
  const bool is_whole = status >= 0 && !f->solver->now->is_over;
  f->t_end = is_whole ? t + h : f->solver->now->t_now;
  result->flags |= f->solver->flags;
  result->message = status < 0 ? f->message : NULL;
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// the table

yoke_status yoke__fmu_open_me(fmu* f, const yoke_sink* sink) {
  f->outputs = &f->layout.outputs;
  f->solver = yoke__arena_take(&f->arena, sizeof *f->solver);
  yoke_status status = f->solver == NULL ? YOKE_NO_MEMORY : yoke__fmu_me_lay_out(f, sink);
  if (status >= 0 && f->solver->cvode != NULL) {
    status = yoke__fmu_cvode_open(f, sink);
  }
  return status;
}

void yoke__fmu_close_me(fmu* f) {
  if (f->solver != NULL) {
    yoke__fmu_cvode_close(f);
    f->solver = NULL;
  }
}

void yoke__fmu_fill_me(const fmu_file* file, yoke_unit_ops* ops) {
  ops->set = set;
  ops->exit_init = exit_init;
  ops->set_inputs = set_inputs;
  ops->get_outputs = get_outputs;
  ops->set_input_derivatives = set_input_derivatives;
  ops->step = step;
  ops->refresh = refresh;
  if (file->interface_type->has_directional_derivatives) {
    ops->linearise = yoke__fmu_linearise;
  }
}
