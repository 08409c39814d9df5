// Co-simulation of FMI 3.0. The step path: one call per type to set all real inputs, one step, one call per type to get
// all real outputs.
//
// With event mode a step is cut where something happens, and the unit handles it itself:
//
//   t                 early return, time event or clock tick              t + h
//   |-- DoStep -------|-- event --|-- DoStep ------------------------------| event |
//   ^ inputs that may change at events only
//
// Events at t + h belong to this step, so that its outputs are those after the event; an event at the start time belongs
// to the end of initialisation. Without event mode the binary deals with its events alone. In step mode the standard forbids
// a get after a set without a step in between: without event mode `refresh` takes trial steps (fmu_trial.c).
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"

// ---------------------------------------------------------------------------------------------------------
// one call of the binary

typedef struct outcome {
  fmi3Status status;
  bool is_event_needed, is_end_wanted, is_early;
  double t_last;  // lastSuccessfulTime
} outcome;

static outcome do_step(fmu* f, double t, double h) {
  outcome o = {.t_last = t + h};
  o.status = f->f3->DoStep(f->instance, t, h, f->no_set_prior != 0, &o.is_event_needed,
                           &o.is_end_wanted, &o.is_early, &o.t_last);
  return o;
}

// it went through to the end, and there is nothing to say
static inline bool is_plain(const outcome* o, double end) {
  return o->status == fmi3OK && !o->is_event_needed && !o->is_end_wanted && !o->is_early &&
         o->t_last == end;
}

// a binary that ends elsewhere without saying so keeps its own time
static void note_drift(fmu* f, double t_last, double t) {
  if (yoke__is_finite(t_last) && fabs(t_last - t) > fabs(f->drift)) {
    f->drift = t_last - t;
    f->drift_at = t;
  }
}

static yoke_status fail(fmu* f, yoke_step_result* result, yoke_status status) {
  result->message = f->message;
  return status;
}

static yoke_status discard(fmu* f, double t, const outcome* o, double end,
                           yoke_step_result* result) {
  const bool is_partly = o->t_last > t && o->t_last < end;
  result->flags |= YOKE_STEP_DISCARDED;
  result->t_reached = is_partly ? o->t_last : t;
  f->t_end = result->t_reached;  // not where it was asked to go: no drift
  const char* why = f->log.last;
  snprintf(f->message, sizeof f->message, "fmi3DoStep got as far as t = %.12g s%s%.380s", f->t_end,
           why[0] == '\0' ? "" : ": ", why);
  result->message = f->message;
  return YOKE_OK;
}

// What came out of a call that was to lead from *t to stop. Moves *t to where the binary stands. is_done: nothing more is to
// be done in this step.
static yoke_status judge(fmu* f, const outcome* o, double* t, double stop, double tolerance,
                         yoke_step_result* result, bool* is_done) {
  if (o->status == fmi3Discard) {
    *is_done = true;
    return discard(f, *t, o, stop, result);
  }
  if (o->status > fmi3Discard || o->status < fmi3OK) {
    return fail(f, result, yoke__fmu_check(f, (int)o->status, "fmi3DoStep"));
  }
  if (o->is_event_needed) {
    result->flags |= YOKE_STEP_EVENT_NEEDED;
  }
  if (o->is_end_wanted) {
    result->flags |= YOKE_STEP_END_WANTED;
    *is_done = true;
    f->t_end = o->t_last;
    return YOKE_OK;
  }
  if (!o->is_early) {
    note_drift(f, o->t_last, stop);
    *t = stop;
    return YOKE_OK;
  }
  if (!(o->t_last >= *t - tolerance && o->t_last <= stop + tolerance)) {
    snprintf(f->message, sizeof f->message,
             "fmi3DoStep returned early at t = %.12g s, outside of its step from %.12g to %.12g s",
             o->t_last, *t, stop);
    f->phase = FMU_FAILED;
    return fail(f, result, YOKE_UNIT_FAILED);
  }
  *t = o->t_last > stop - tolerance ? stop : fmax(o->t_last, *t);
  return YOKE_OK;
}

// rounding in somebody's clock is no time of its own
static double tolerance_of(double t, double h) {
  return 1e-9 * h + 4 * DBL_EPSILON * fabs(t);
}

static yoke_status fail_endless(fmu* f, double t, yoke_step_result* result) {
  snprintf(f->message, sizeof f->message,
           "more than %d events in one step at t = %.12g s: they follow each other without end",
           FMU_MAX_EVENTS, t);
  f->phase = FMU_FAILED;
  return fail(f, result, YOKE_UNIT_FAILED);
}

// ---------------------------------------------------------------------------------------------------------
// without event mode

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  fmu* f = self;
  if (yoke__fmu_is_dead(f, NULL)) {
    return YOKE_UNIT_FAILED;
  }
  return n_u == 0 ? YOKE_OK : f->version->set_reals(f, &f->layout.inputs, u);
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  fmu* f = yoke__fmu_of(self);
  return n_y == 0 ? YOKE_OK : f->version->get_reals(f, f->outputs, y);
}

// Anything but a plain success. A binary that returns early although it was not allowed to is called again.
static yoke_status finish(fmu* f, double t, double h, outcome o, yoke_step_result* result) {
  const double end = t + h, tolerance = tolerance_of(t, h);
  bool is_done = false;
  for (int n = 0; n < FMU_MAX_EVENTS; n++) {
    YOKE_TRY(judge(f, &o, &t, end, tolerance, result, &is_done));
    if (is_done || t >= end) {
      return YOKE_OK;
    }
    o = do_step(f, t, end - t);
  }
  return fail_endless(f, t, result);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  const uint64_t mode = yoke__os_float_mode();
  const outcome o = do_step(f, t, h);
  yoke__fmu_guard(mode);
  f->t_end = t + h;
  return is_plain(&o, t + h) ? YOKE_OK : finish(f, t, h, o, result);
}

// the three calls one after another
static yoke_status advance_wide(fmu* f, double t, double h, const double u[], double y[],
                                yoke_step_result* result) {
  yoke_status status = set_inputs(f, u, f->layout.n_u);
  if (status >= 0) {
    const outcome o = do_step(f, t, h);
    f->t_end = t + h;
    YOKE_TRY(is_plain(&o, t + h) ? YOKE_OK : finish(f, t, h, o, result));
    status = get_outputs(f, y, f->layout.n_y);
  }
  return status < 0 ? fail(f, result, status) : YOKE_OK;
}

// The whole step as it is done in the loop: nothing but the calls of the binary; who calls it looks after the floating-point
// mode.
static yoke_status advance(void* self, double t, double h, const double u[], double y[],
                           yoke_step_result* result) {
  fmu* f = self;
  const fmu_near3* near = &f->events->near;
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  if (near->is_wide) {
    return advance_wide(f, t, h, u, y, result);
  }
  const char* call = "fmi3SetFloat64";
  fmi3Status status = fmi3OK;
  if (near->n_inputs > 0) {
    status = near->set_real(f->instance, near->inputs, near->n_inputs, u, near->n_u);
  }
  if (status <= fmi3Warning) {
    outcome o = {.t_last = t + h};
    o.status = near->do_step(f->instance, t, h, f->no_set_prior != 0, &o.is_event_needed,
                             &o.is_end_wanted, &o.is_early, &o.t_last);
    f->t_end = t + h;
    if (!is_plain(&o, t + h)) {
      YOKE_TRY(finish(f, t, h, o, result));
    }
    call = "fmi3GetFloat64";
    status = near->n_outputs == 0
                 ? fmi3OK
                 : near->get_real(f->instance, near->outputs, near->n_outputs, y, near->n_y);
  }
  return status <= fmi3Warning ? YOKE_OK : fail(f, result, yoke__fmu_check(f, (int)status, call));
}

// references of a few variables lie beside the calls
static const uint32_t* bring_near(const fmu_dense* dense, uint32_t room[]) {
  if (dense->n_refs > FMU_NEAR_REFS) {
    return dense->refs;
  }
  memcpy(room, dense->refs, dense->n_refs * sizeof *room);
  return room;
}

void yoke__fmu_near_outputs3(fmu* f) {
  const fmu_dense* out = f->outputs;
  fmu_near3* near = &f->events->near;
  near->n_outputs = out->n_refs;
  near->n_y = out->n;
  near->is_wide = f->layout.inputs.n_refs32 > 0 || out->n_refs32 > 0 || out->index != NULL;
  near->outputs = bring_near(out, near->refs + FMU_NEAR_REFS);
}

static void open_near(fmu* f) {
  const fmu_dense* in = &f->layout.inputs;
  fmu_near3* near = &f->events->near;
  near->set_real = f->f3->SetFloat64;
  near->do_step = f->f3->DoStep;
  near->get_real = f->f3->GetFloat64;
  near->n_inputs = in->n_refs;
  near->n_u = in->n;
  near->inputs = bring_near(in, near->refs);
  yoke__fmu_near_outputs3(f);
}

// ---------------------------------------------------------------------------------------------------------
// with event mode

// Continuous inputs at once; discrete ones wait for an event, if they changed; clocked ones for their clock.
yoke_status yoke__fmu_events_set_inputs(void* self, const double u[], size_t n_u) {
  fmu* f = self;
  fmu_events* e = f->events;
  if (yoke__fmu_is_dead(f, NULL)) {
    return YOKE_UNIT_FAILED;
  }
  if (n_u == 0) {
    return YOKE_OK;
  }
  if (f->phase != FMU_RUNNING) {
    memcpy(e->u, u, n_u * sizeof *u);
    return f->version->set_reals(f, &f->layout.inputs, u);
  }
  YOKE_TRY(f->version->set_reals(f, &e->continuous, u));
  const fmu_dense* d = &e->discrete;
  for (size_t i = 0; i < d->n; i++) {
    e->live->is_changed = e->live->is_changed || e->u[d->index[i]] != u[d->index[i]];
    e->u[d->index[i]] = u[d->index[i]];
  }
  for (size_t i = 0; i < d->n32; i++) {
    e->live->is_changed = e->live->is_changed || e->u[d->index32[i]] != u[d->index32[i]];
    e->u[d->index32[i]] = u[d->index32[i]];
  }
  for (size_t i = 0; i < e->n_real_inputs; i++) {
    const size_t at = e->real_inputs[i].at;
    memcpy(e->u + at, u + at, e->real_inputs[i].size);
  }
  return e->live->is_in_event_mode ? yoke__fmu_events_enter(f) : YOKE_OK;
}

// An FMU that offers event mode must compute its outputs there.
static yoke_status blame_event_mode(fmu* f, yoke_status status) {
  if (status < 0 && f->events->live->is_in_event_mode) {
    const size_t n = strlen(f->message);
    snprintf(f->message + n, sizeof f->message - n,
             "; it was read in event mode: use events: false, and exchange: stale, for this unit");
  }
  return status;
}

yoke_status yoke__fmu_events_get_outputs(const void* self, double y[], size_t n_y) {
  fmu* f = yoke__fmu_of(self);
  const fmu_events* e = f->events;
  if (n_y == 0) {
    return YOKE_OK;
  }
  if (f->phase != FMU_RUNNING) {
    return f->version->get_reals(f, &f->layout.outputs, y);
  }
  YOKE_TRY(blame_event_mode(f, f->version->get_reals(f, e->plain_read, y)));
  for (size_t i = 0; i < e->n_real_outputs; i++) {
    const size_t at = e->real_outputs[i].at;
    memcpy(y + at, e->y + at, e->real_outputs[i].size);
  }
  return YOKE_OK;
}

// After initialisation the binary is in event mode: the first event, with the clocks that tick at the start.
static yoke_status exit_event_init(void* self) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  yoke_status status = yoke__fmu_events_prepare(f);
  status = status < 0 ? status : yoke__fmu_exit_init(f);
  if (status >= 0) {
    f->events->live->is_in_event_mode = true;
    status = yoke__fmu_events_handle(f, f->t_start, tolerance_of(f->t_start, 0), false,
                                     &f->events->live->is_end_wanted);
  }
  yoke__fmu_guard(mode);
  return status;
}

// A step on its way.
typedef struct journey {
  double now, end, tolerance;
  int n_events;
  bool is_done;  // nothing more is to be done
  yoke_step_result* result;
} journey;

static yoke_status count(fmu* f, journey* j) {
  return ++j->n_events > FMU_MAX_EVENTS ? fail_endless(f, j->now, j->result) : YOKE_OK;
}

// All events at this time: one may bring the next.
static yoke_status handle(fmu* f, journey* j, bool is_at_start) {
  do {
    bool is_end_wanted = false;
    YOKE_TRY(count(f, j));
    const yoke_status status =
        yoke__fmu_events_handle(f, j->now, j->tolerance, is_at_start, &is_end_wanted);
    if (status < 0) {
      return fail(f, j->result, status);
    }
    if (is_end_wanted) {
      j->result->flags |= YOKE_STEP_END_WANTED;
      j->is_done = true;
      f->t_end = j->now;
    }
    is_at_start = false;
  } while (!j->is_done && yoke__fmu_events_is_due(f, j->now, j->tolerance));
  return YOKE_OK;
}

// What came in since the last step. A look at the outputs (refresh) leaves the binary in event mode: that alone is no jump.
static yoke_status start_step(fmu* f, journey* j) {
  const fmu_events* e = f->events;
  const bool has_reason =
      yoke__fmu_events_has_inputs(f) || yoke__fmu_events_is_due(f, j->now, j->tolerance);
  memset(e->shown_ticked, 0, e->n_shown);
  if (e->live->is_end_wanted) {
    j->result->flags |= YOKE_STEP_END_WANTED;
    j->is_done = true;
    f->t_end = j->now;
    return YOKE_OK;
  }
  if (has_reason) {
    j->result->flags |= YOKE_STEP_EVENT_NEEDED;
  }
  return has_reason || e->live->is_in_event_mode ? handle(f, j, true) : YOKE_OK;
}

// From event to event until t + h, the event there included.
static yoke_status walk(fmu* f, double t, double h, yoke_step_result* result) {
  journey j = {.now = t, .end = t + h, .tolerance = tolerance_of(t, h), .result = result};
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  YOKE_TRY(start_step(f, &j));
  while (!j.is_done && j.now < j.end) {
    const double stop = yoke__fmu_events_next(f, j.now, j.end, j.tolerance);
    // a step that nothing cuts keeps its length to the last bit
    const outcome o = do_step(f, j.now, j.now == t && stop == j.end ? h : stop - j.now);
    YOKE_TRY(judge(f, &o, &j.now, stop, j.tolerance, result, &j.is_done));
    if (j.is_done) {
      return YOKE_OK;
    }
    if (o.is_event_needed || yoke__fmu_events_is_due(f, j.now, j.tolerance)) {
      result->flags |= YOKE_STEP_EVENT_NEEDED;
      YOKE_TRY(handle(f, &j, false));
    } else if (o.is_early) {
      YOKE_TRY(count(f, &j));
    }
  }
  return YOKE_OK;
}

static yoke_status step_events(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  f->t_end = t + h;
  const yoke_status status = walk(f, t, h, result);
  yoke__fmu_guard(mode);
  return status;
}

static yoke_status advance_events(void* self, double t, double h, const double u[], double y[],
                                  yoke_step_result* result) {
  fmu* f = self;
  yoke_status status = yoke__fmu_events_set_inputs(f, u, f->layout.n_u);
  if (status >= 0) {
    f->t_end = t + h;
    YOKE_TRY(walk(f, t, h, result));
    status = yoke__fmu_events_get_outputs(f, y, f->layout.n_y);
  }
  return status < 0 ? fail(f, result, status) : YOKE_OK;
}

// In event mode outputs follow the inputs at once, and nothing else moves until the discrete states are updated: that is
// left to the next step, when the inputs are final.
static yoke_status refresh(void* self, double t) {
  fmu* f = self;
  (void)t;
  return f->phase == FMU_RUNNING ? yoke__fmu_events_enter(f) : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------

void yoke__fmu_fill_cs3(const fmu_file* file, yoke_unit_ops* ops) {
  const bool has_events = yoke__fmu_events_wanted(file);
  ops->set_inputs = has_events ? yoke__fmu_events_set_inputs : set_inputs;
  ops->get_outputs = has_events ? yoke__fmu_events_get_outputs : get_outputs;
  ops->step = has_events ? step_events : step;
  ops->advance = has_events ? advance_events : advance;
  ops->refresh = has_events ? refresh : NULL;
  ops->exit_init = has_events ? exit_event_init : ops->exit_init;
}

yoke_status yoke__fmu_open_cs3(fmu* f, const yoke_sink* sink) {
  f->outputs = &f->layout.outputs;
  f->is_set_late = f->events->is_used;
  open_near(f);
  return f->events->is_used ? yoke__fmu_events_open(f, sink) : YOKE_OK;
}

// everything lies in the instance's arena
void yoke__fmu_close_cs3(fmu* f) {
  f->events = NULL;
}
