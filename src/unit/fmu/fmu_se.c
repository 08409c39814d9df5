// Scheduled execution of FMI 3.0: each input clock has a model partition, which is activated when the clock ticks.
//
//   t                 tick              tick              t + h
//   |-----------------|-----------------|-----------------|        at each tick: inputs of the partition and those without a
//                                                                   clock, fmi3ActivateModelPartition, outputs of the partition
//
// A step does the ticks in (t, t + h], so that its outputs are those after the ticks at its end; what ticks at the start time
// belongs to the end of initialisation; a clock that another unit triggers ticks at the start of the step. Ticks at one time
// are done in the order of their priorities, one after another: nothing preempts. While a partition runs, the binary may call
// back to say that its own clocks ticked or that a countdown began; it is asked at once, since it may be asked only then.
//
// Sources: Functional Mock-up Interface Specification 3.0.2, sections 2.2.8 (clocks) and 5 (scheduled execution).
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"
#include "unit/unit.h"

enum { FMU_MAX_TICKS = 1000000 };  // in one step

// rounding in somebody's clock is no time of its own
static double tolerance_of(double t, double h) {
  return 1e-9 * h + 4 * DBL_EPSILON * fabs(t);
}

void yoke__fmu_se_update(fmi3InstanceEnvironment environment) {
  fmu* f = environment;
  fmu_events* e = f->events;
  if (e->is_activating && e->update_status >= 0) {
    e->update_status = yoke__fmu_events_update(f, e->t_activation);
  }
}

static yoke_status activate(fmu* f, const fmu_clock* clock, double t) {
  fmu_events* e = f->events;
  YOKE_TRY(yoke__fmu_events_send(f, clock));
  e->t_activation = t;
  e->update_status = YOKE_OK;
  e->is_activating = true;
  const yoke_status status = FMU_CALL3(f, ActivateModelPartition, f->instance, clock->reference, t);
  e->is_activating = false;
  YOKE_TRY(status);
  YOKE_TRY(e->update_status);
  f->t_end = t;
  return yoke__fmu_events_fetch(f, t);
}

// All partitions that are due at t; one may bring the next. *n counts them.
static yoke_status run_at(fmu* f, double t, double tolerance, bool is_at_start, int64_t* n) {
  fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_triggers; i++) {
    e->active[i] = is_at_start && e->levels[i] != 0;
  }
  for (;;) {
    const fmu_clock* clock = NULL;
    YOKE_TRY(yoke__fmu_events_take(f, t, tolerance, e->active, &clock));
    if (clock == NULL) {
      return YOKE_OK;
    }
    if (++*n > FMU_MAX_TICKS) {
      snprintf(f->message, sizeof f->message,
               "more than %d clock ticks in one step at t = %.12g s: shorten the step",
               FMU_MAX_TICKS, t);
      f->phase = FMU_FAILED;
      return YOKE_UNIT_FAILED;
    }
    YOKE_TRY(activate(f, clock, t));
  }
}

// From tick to tick until t + h, those there included.
static yoke_status walk(fmu* f, double t, double h, yoke_step_result* result) {
  const fmu_events* e = f->events;
  const double end = t + h, tolerance = tolerance_of(t, h);
  int64_t n = 0;
  memset(e->shown_ticked, 0, e->n_shown);
  YOKE_TRY(run_at(f, t, tolerance, true, &n));
  for (double now = t; now < end;) {
    now = yoke__fmu_events_next(f, now, end, tolerance);
    YOKE_TRY(run_at(f, now, tolerance, false, &n));
  }
  result->flags |= n > 0 ? YOKE_STEP_EVENT_NEEDED : 0;
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = walk(f, t, h, result);
  yoke__fmu_guard(mode);
  result->message = status < 0 ? f->message : NULL;
  return status;
}

// The first ticks, at the start time, belong to the end of initialisation.
static yoke_status exit_init(void* self) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  yoke_status status =
      f->layout.n_u == 0 ? YOKE_OK : f->version->get_reals(f, &f->layout.inputs, f->events->u);
  status = status < 0 ? status : yoke__fmu_events_prepare(f);
  status = status < 0 ? status : yoke__fmu_exit_init(f);
  if (status >= 0) {
    int64_t n = 0;
    status = run_at(f, f->t_start, tolerance_of(f->t_start, 0), false, &n);
  }
  yoke__fmu_guard(mode);
  return status;
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status refuse_arrays(const fmu* f, const yoke_sink* sink) {
  for (size_t i = 0; i < f->layout.info.n_variables; i++) {
    if (f->layout.slots[i].type == YOKE_FMI_CLOCK && f->layout.slots[i].n != 1) {
      return yoke_fail(sink, YOKE_NO_SUPPORT,
                       "clock '%s' is an array, which scheduled execution in Yoke does not take",
                       f->layout.info.variables[i].name);
    }
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_open_se(fmu* f, const yoke_sink* sink) {
  YOKE_TRY(refuse_arrays(f, sink));
  YOKE_TRY(yoke__fmu_events_open(f, sink));
  if (f->events->n_clocks + f->events->n_triggers == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "it offers scheduled execution, but has no input clock: nothing in it would "
                     "ever run");
  }
  return YOKE_OK;
}

void yoke__fmu_fill_se(yoke_unit_ops* ops) {
  ops->set_inputs = yoke__fmu_events_set_inputs;
  ops->get_outputs = yoke__fmu_events_get_outputs;
  ops->step = step;
  ops->exit_init = exit_init;
}
