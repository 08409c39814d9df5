// The part of the test FMUs that does not depend on the version of FMI.
#include "skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 8 };

// what the state image begins with
typedef struct saved {
  double time;
  int32_t mode, is_set;
} saved;

void fmu_reset(fmu* m) {
  memset(m->values, 0, fmu_this_model.size);
  m->time = m->clock_error = 0.0;
  m->mode = INSTANTIATED;
  m->is_fresh = false;
  m->is_set = false;
  m->is_end_wanted = false;
  m->last_status = FMU_OK;
  m->t_stop = HUGE_VAL;
  if (fmu_this_model.start != NULL) {
    fmu_this_model.start(m);
  }
}

// NULL: no memory. The caller sets what belongs to its version, then calls fmu_reset.
fmu* fmu_create(const char* name, void* (*allocate)(size_t, size_t)) {
  fmu* m = allocate(1, sizeof *m);
  void* values = m == NULL ? NULL : allocate(1, fmu_this_model.size + 1);
  if (values == NULL) {
    return NULL;
  }
  m->values = values;
  (void)snprintf(m->name, sizeof m->name, "%s", name == NULL ? "" : name);
  return m;
}

void fmu_destroy(fmu* m, void (*release)(void*)) {
  if (m != NULL) {
    release(m->values);
    release(m);
  }
}

bool fmu_is_in(fmu* m, unsigned modes, const char* function) {
  if (((unsigned)m->mode & modes) != 0) {
    return true;
  }
  fmu_log(m, FMU_ERROR, "logStatusError", "%s must not be called now (mode %d)", function,
          (int)m->mode);
  return false;
}

static bool may_set(const fmu* m, fmu_access access) {
  switch (m->mode) {
  case INSTANTIATED:
    return access != READ && access != STRUCTURE;
  case CONFIGURATION:
    return access == STRUCTURE;
  case INITIALISATION:
    return access == START || access == TUNE || access == INPUT || access == DISCRETE;
  case EVENT:
    return access == TUNE || access == INPUT || access == DISCRETE;
  case ACTIVATION:
    return access == INPUT || access == TUNE || access == DISCRETE;
  case STEP:
    return access == INPUT || (!m->has_event_mode && (access == TUNE || access == DISCRETE));
  case CONTINUOUS:
  case INTERMEDIATE:
    return access == INPUT;
  default:
    return false;
  }
}

static const fmu_variable* look_up(uint32_t reference) {
  const fmu_model* model = &fmu_this_model;
  if (reference > 0 && reference <= model->n_variables &&
      model->variables[reference - 1].reference == reference) {
    return &model->variables[reference - 1];
  }
  for (size_t i = 0; i < model->n_variables; i++) {
    if (model->variables[i].reference == reference) {
      return &model->variables[i];
    }
  }
  return NULL;
}

const fmu_variable* fmu_find(fmu* m, uint32_t reference, fmu_kind kind, bool is_set) {
  static const fmu_variable time = {0, REAL, READ, 0, 1};
  const fmu_variable* v = reference == 0 ? &time : look_up(reference);
  // enumerations travel as the version's integers
  const bool is_enum = v != NULL && v->kind == ENUM && kind == (fmu_version == 2 ? INT32 : INT64);
  if (v == NULL || (v->kind != kind && !is_enum)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "no variable of this type has the reference %u",
            (unsigned)reference);
    return NULL;
  }
  if (is_set && !may_set(m, v->access)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "variable %u must not be set now (mode %d)",
            (unsigned)reference, (int)m->mode);
    return NULL;
  }
  if (!is_set && m->mode == ACTIVATION && m->is_set) {
    fmu_log(m, FMU_ERROR, "logStatusError",
            "variable %u must not be read after a set: activate first", (unsigned)reference);
    return NULL;
  }
  if (is_set) {
    m->is_fresh = false;
    m->is_set = true;
  }
  return v;
}

void* fmu_at(fmu* m, const fmu_variable* variable) {
  return variable->reference == 0 ? (void*)&m->shown_time : (char*)m->values + variable->offset;
}

size_t fmu_elements(const fmu* m, const fmu_variable* variable) {
  if (fmu_this_model.elements != NULL && variable->n > 1) {
    return fmu_this_model.elements(m, variable);
  }
  return variable->n == 0 ? 1 : variable->n;
}

int fmu_refresh(fmu* m) {
  const int status =
      fmu_this_model.may_read == NULL ? FMU_OK : fmu_this_model.may_read(m, m->is_set);
  if (status != FMU_OK) {
    return status;
  }
  if (!m->is_fresh && fmu_this_model.outputs != NULL) {
    fmu_this_model.outputs(m);
  }
  m->shown_time = m->time + m->clock_error;
  m->is_fresh = true;
  return FMU_OK;
}

size_t fmu_state_size(void) {
  return sizeof(saved) + fmu_this_model.size;
}

void fmu_save(const fmu* m, void* state) {
  const saved head = {m->time, (int32_t)m->mode, m->is_set};
  memcpy(state, &head, sizeof head);
  memcpy((char*)state + sizeof head, m->values, fmu_this_model.size);
}

void fmu_restore(fmu* m, const void* state) {
  saved head;
  memcpy(&head, state, sizeof head);
  m->time = head.time;
  m->mode = (fmu_mode)head.mode;
  m->is_set = head.is_set != 0;
  memcpy(m->values, (const char*)state + sizeof head, fmu_this_model.size);
  m->is_fresh = false;
}

int fmu_end_initialisation(fmu* m) {
  const int status = fmu_this_model.initialise == NULL ? FMU_OK : fmu_this_model.initialise(m);
  if (status <= FMU_WARNING) {
    m->mode = m->is_scheduled                             ? ACTIVATION
              : !m->is_co_simulation || m->has_event_mode ? EVENT
                                                          : STEP;
  }
  m->is_fresh = false;
  m->is_set = false;
  return status;
}

int fmu_do_step(fmu* m, double t, double h, fmu_step* result) {
  *result = (fmu_step){.t = t + h};
  // ten digits: who adds steps up instead of multiplying them is found out after some thousand
  const double allowed = 1e-10 * fmax(1.0, fmax(fabs(t), fabs(m->time)));
  if (fmu_this_model.step == NULL || !(h > 0.0) || !(fabs(t - m->time) <= allowed)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "a step from %.17g by %.17g is asked for at %.17g", t,
            h, m->time);
    return FMU_ERROR;
  }
  if (t + h > m->t_stop + allowed) {
    fmu_log(m, FMU_ERROR, "logStatusError", "the step ends at %.17g, after the stop time %.17g",
            t + h, m->t_stop);
    return FMU_ERROR;
  }
  m->time = t;
  const int status = fmu_this_model.step(m, t, h, result);
  m->is_fresh = false;
  m->is_set = false;
  m->last_status = status;
  m->last_time = result->t + m->clock_error;
  m->is_end_wanted = result->is_end_wanted;
  if (status <= FMU_WARNING || status == FMU_PENDING) {
    m->time = result->t;
  }
  return status;
}

int fmu_directional(fmu* m, const uint32_t unknowns[], size_t n_unknowns, const uint32_t knowns[],
                    size_t n_knowns, const double seed[], double out[]) {
  if (fmu_this_model.slope == NULL) {
    fmu_log(m, FMU_ERROR, "logStatusError", "there are no derivatives");
    return FMU_ERROR;
  }
  (void)fmu_refresh(m);
  for (size_t i = 0; i < n_unknowns; i++) {
    out[i] = 0.0;
    for (size_t j = 0; j < n_knowns; j++) {
      out[i] += fmu_this_model.slope(m, unknowns[i], knowns[j]) * seed[j];
    }
    if (isnan(out[i])) {
      fmu_log(m, FMU_ERROR, "logStatusError", "there is no derivative of variable %u",
              (unsigned)unknowns[i]);
      return FMU_ERROR;
    }
  }
  return FMU_OK;
}

void fmu_runge_kutta(fmu* m, double t, double h) {
  static const double part[] = {0.0, 0.5, 0.5, 1.0};
  static const double weight[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  double* x = fmu_this_model.states(m);
  double x0[MAX_STATES] = {0};
  double dx[MAX_STATES] = {0};
  double sum[MAX_STATES] = {0};
  const size_t n = fmu_this_model.n_states;
  memcpy(x0, x, n * sizeof *x);
  for (size_t stage = 0; stage < 4; stage++) {
    for (size_t i = 0; i < n; i++) {
      x[i] = x0[i] + h * part[stage] * dx[i];
    }
    m->time = t + part[stage] * h;
    fmu_this_model.derivatives(m, dx);
    for (size_t i = 0; i < n; i++) {
      sum[i] += weight[stage] * dx[i];
    }
  }
  for (size_t i = 0; i < n; i++) {
    x[i] = x0[i] + h * sum[i];
  }
}
