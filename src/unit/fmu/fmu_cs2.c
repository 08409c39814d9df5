// Co-simulation of FMI 2.0. The step path: one call to set all real inputs, one step, one call to get all real outputs.
//
// In the running phase the standard forbids a get after a set without a step in between, so outputs are those that
// the last step left, and `refresh` takes trial steps (fmu_trial.c).
#include <stdio.h>
#include <string.h>

#include "unit/fmu/fmu.h"

#define PENDING_NS 20000  // between two looks at a step that runs in a thread of the binary

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  fmu* f = self;
  if (yoke__fmu_is_dead(f, NULL)) {
    return YOKE_UNIT_FAILED;
  }
  if (n_u == 0) {
    return YOKE_OK;
  }
  const fmi2Status status =
      f->f2->SetReal(f->instance, f->layout.inputs.refs, f->layout.inputs.n_refs, u);
  return status == fmi2OK ? YOKE_OK : yoke__fmu_check(f, (int)status, "fmi2SetReal");
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  fmu* f = yoke__fmu_of(self);
  if (n_y == 0) {
    return YOKE_OK;
  }
  return f->version->get_reals(f, f->outputs, y);
}

// All derivatives of one order. The values of the inputs were set just before.
static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  fmu* f = self;
  enum { AT_ONCE = 64 };
  fmi2Integer orders[AT_ONCE];
  for (size_t i = 0; i < AT_ONCE; i++) {
    orders[i] = order;
  }
  for (size_t first = 0; first < n_u; first += AT_ONCE) {
    const size_t n = n_u - first < AT_ONCE ? n_u - first : AT_ONCE;
    YOKE_TRY(FMU_CALL2(f, SetRealInputDerivatives, f->instance, f->layout.inputs.refs + first, n,
                       orders, du + first));
  }
  return YOKE_OK;
}

// a step that goes on in a thread of the binary: not what a real-time run can use, but what an offline run can wait for
static fmi2Status wait_for(fmu* f) {
  fmi2Status status = fmi2Pending;
  const double timeout_s = f->file->settings.timeout_s > 0 ? f->file->settings.timeout_s : 60;
  const int64_t end = yoke__os_now_ns() + (int64_t)(timeout_s * 1e9);
  while (status == fmi2Pending && f->f2->GetStatus != NULL && yoke__os_now_ns() < end) {
    yoke__os_sleep_ns(PENDING_NS);
    if (f->f2->GetStatus(f->instance, fmi2DoStepStatus, &status) > fmi2Warning) {
      return fmi2Error;
    }
  }
  return status;
}

// the step was not finished: where does the unit stand, and does it want to go on
static yoke_status judge_discard(fmu* f, double t, yoke_step_result* result) {
  fmi2Real reached = t;
  fmi2Boolean is_terminated = fmi2False;
  if (f->f2->GetRealStatus != NULL) {
    f->f2->GetRealStatus(f->instance, fmi2LastSuccessfulTime, &reached);
  }
  f->t_end = reached;  // not where it was asked to go: no drift
  if (f->f2->GetBooleanStatus != NULL) {
    f->f2->GetBooleanStatus(f->instance, fmi2Terminated, &is_terminated);
  }
  if (is_terminated) {
    result->flags |= YOKE_STEP_END_WANTED;
    return YOKE_OK;
  }
  result->flags |= YOKE_STEP_DISCARDED;
  result->t_reached = reached;
  const char* why = f->log.last;
  snprintf(f->message, sizeof f->message, "%s got as far as t = %.12g s%s%.380s",
           f->description->version == 1 ? "fmiDoStep" : "fmi2DoStep", reached,
           why[0] == '\0' ? "" : ": ", why);
  result->message = f->message;
  return YOKE_OK;
}

yoke_status yoke__fmu_judge_cs2(fmu* f, double t, fmi2Status status, yoke_step_result* result) {
  if (status == fmi2Pending) {
    status = wait_for(f);
  }
  if (status == fmi2Discard) {
    return judge_discard(f, t, result);
  }
  if (status == fmi2Pending) {
    snprintf(f->message, sizeof f->message, "the step is still 'pending'%s",
             f->f2->GetStatus == NULL ? ", and the FMU cannot say when it ends" : "");
    result->message = f->message;
    // while it computes it may only be asked to stop; one that does not is left alone
    f->phase = f->f2->CancelStep != NULL && f->f2->CancelStep(f->instance) <= fmi2Warning
                   ? FMU_FAILED
                   : FMU_DEAD;
    return YOKE_UNIT_FAILED;
  }
  const yoke_status outcome = yoke__fmu_check(f, (int)status, "fmi2DoStep");
  result->message = outcome < 0 ? f->message : NULL;
  return outcome;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  const uint64_t mode = yoke__os_float_mode();
  const fmi2Status status = f->f2->DoStep(f->instance, t, h, f->no_set_prior);
  yoke__fmu_guard(mode);
  f->t_end = t + h;
  return status == fmi2OK ? YOKE_OK : yoke__fmu_judge_cs2(f, t, status, result);
}

// the whole step as it is done in the loop: nothing but the three calls; who calls it looks after the floating-point mode
static yoke_status advance(void* self, double t, double h, const double u[], double y[],
                           yoke_step_result* result) {
  fmu* f = self;
  const fmu_near* near = &f->near;
  fmi2Status status = fmi2OK;
  const char* call = "fmi2SetReal";
  if (yoke__fmu_is_dead(f, result)) {
    return YOKE_UNIT_FAILED;
  }
  if (near->n_inputs > 0) {
    status = near->set_real(f->instance, near->inputs, near->n_inputs, u);
  }
  if (status <= fmi2Warning) {
    status = near->do_step(f->instance, t, h, f->no_set_prior);
    f->t_end = t + h;
    if (status != fmi2OK) {
      YOKE_TRY(yoke__fmu_judge_cs2(f, t, status, result));
    }
    call = "fmi2GetReal";
    double* to = near->to == NULL ? y : near->to;
    status = near->n_outputs == 0 ? fmi2OK
                                  : near->get_real(f->instance, near->outputs, near->n_outputs, to);
    if (near->to != NULL) {
      yoke__fmu_scatter(f->outputs, y);
    }
  }
  if (status <= fmi2Warning) {
    return YOKE_OK;
  }
  result->message = f->message;
  return yoke__fmu_check(f, (int)status, call);
}

// references of a few variables lie beside the calls
static const uint32_t* bring_near(const fmu_dense* dense, uint32_t room[]) {
  if (dense->n_refs > FMU_NEAR_REFS) {
    return dense->refs;
  }
  memcpy(room, dense->refs, dense->n_refs * sizeof *room);
  return room;
}

void yoke__fmu_near_outputs2(fmu* f) {
  f->near.n_outputs = f->outputs->n_refs;
  f->near.outputs = bring_near(f->outputs, f->near.refs + FMU_NEAR_REFS);
  f->near.to = f->outputs->index == NULL ? NULL : f->outputs->numbers;
}

void yoke__fmu_open_cs2(fmu* f) {
  f->outputs = &f->layout.outputs;
  f->near.set_real = f->f2->SetReal;
  f->near.get_real = f->f2->GetReal;
  f->near.do_step = f->f2->DoStep;
  f->near.n_inputs = f->layout.inputs.n_refs;
  f->near.inputs = bring_near(&f->layout.inputs, f->near.refs);
  yoke__fmu_near_outputs2(f);
}

void yoke__fmu_fill_cs2(const fmu_file* file, yoke_unit_ops* ops) {
  ops->set_inputs = set_inputs;
  ops->get_outputs = get_outputs;
  ops->step = step;
  ops->advance = advance;
  ops->set_input_derivatives =
      file->interface_type->can_interpolate_inputs ? set_input_derivatives : NULL;
}
