// The linear model of an FMU from its directional derivatives, column by column:
//
//   x' = A x + B u,  y = C x + D u       column j of [A; C] = d(x', y)/d(state j),  of [B; D] = d(x', y)/d(input j)
//
// States and their derivatives are what ModelStructure lists (FMI 2.0: <Derivatives>, FMI 3.0: <ContinuousStateDerivative>).
// Model exchange cannot do without that list; co-simulation may have it, and without it nobody knows which states there are:
// such an FMU has no linear model. One value reference is one number here: no arrays, no single precision.
// Source: FMI 2.0.4, sections 2.1.9, 2.2.8 and 4.2.4; FMI 3.0, sections 2.2.11 and 2.4.8.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fmu/fmu.h"

// ---------------------------------------------------------------------------------------------------------
// what the description says

// A number that moves with time by itself, not at events or ticks.
static bool is_plain(const yoke_fmi_variable* v) {
  return v->type == YOKE_FMI_FLOAT64 && v->n_dimensions == 0 &&
         v->variability == YOKE_FMI_CONTINUOUS && !v->has_clocks;
}

static bool is_real_port(const yoke_fmi_variable* v) {
  return (v->causality == YOKE_FMI_INPUT || v->causality == YOKE_FMI_OUTPUT) &&
         (v->type == YOKE_FMI_FLOAT64 || v->type == YOKE_FMI_FLOAT32);
}

// every derivative has a state, and no state has two of them; is_state: n_variables zeros
static bool are_states_sound(const yoke_fmi_description* d, unsigned char is_state[]) {
  for (size_t i = 0; i < d->states_derivatives.n; i++) {
    const yoke_fmi_variable* v = &d->variables[d->states_derivatives.items[i].variable];
    if (v->derivative_of == 0 || !is_plain(v) || !is_plain(&d->variables[v->derivative_of - 1]) ||
        is_state[v->derivative_of - 1] != 0) {
      return false;
    }
    is_state[v->derivative_of - 1] = 1;
  }
  return d->states_derivatives.n > 0;
}

bool yoke__fmu_has_linear(const yoke_fmi_description* d) {
  for (size_t i = 0; i < d->n_variables; i++) {
    if (is_real_port(&d->variables[i]) && !is_plain(&d->variables[i])) {
      return false;
    }
  }
  unsigned char* is_state = calloc(d->n_variables + 1, 1);
  const bool has_linear = is_state != NULL && d->version > 1 && are_states_sound(d, is_state);
  free(is_state);
  return has_linear;
}

// ---------------------------------------------------------------------------------------------------------
// memory

static yoke_status take_room(fmu* f, fmu_linear* l) {
  const size_t n_y = f->layout.n_y, n_u = f->layout.n_u;
  l->states = yoke__arena_array(&f->arena, l->n_x + 1, sizeof *l->states);
  l->unknowns = yoke__arena_array(&f->arena, l->n_x + n_y + 1, sizeof *l->unknowns);
  l->column = yoke__arena_array(&f->arena, l->n_x + n_y + 1, sizeof *l->column);
  l->is_continuous = yoke__arena_array(&f->arena, n_u + 1, 1);
  return l->states == NULL || l->unknowns == NULL || l->column == NULL || l->is_continuous == NULL
             ? YOKE_NO_MEMORY
             : YOKE_OK;
}

// one number per input here: place and number agree
static void mark_inputs(const fmu* f, fmu_linear* l) {
  size_t at = 0;
  for (size_t i = 0; i < f->layout.info.n_variables; i++) {
    const yoke_variable* v = &f->layout.info.variables[i];
    if (v->type == YOKE_REAL && v->causality == YOKE_INPUT) {
      l->is_continuous[at++] = yoke__fmu_is_continuous(f, i);
    }
  }
}

yoke_status yoke__fmu_linear_open(fmu* f, size_t n_x) {
  const yoke_fmi_description* d = f->description;
  const size_t n_u = f->layout.n_u, n_y = f->layout.n_y;
  if (d->states_derivatives.n != n_x || f->layout.inputs.n_refs != n_u ||
      f->layout.outputs.n_refs != n_y) {
    return YOKE_OK;
  }
  fmu_linear* l = yoke__arena_take(&f->arena, sizeof *l);
  YOKE_TRY_MEMORY(l);
  l->n_x = n_x;
  YOKE_TRY(take_room(f, l));
  for (size_t i = 0; i < n_x; i++) {
    const yoke_fmi_variable* v = &d->variables[d->states_derivatives.items[i].variable];
    if (v->derivative_of == 0 || v->type != YOKE_FMI_FLOAT64) {
      return YOKE_OK;
    }
    l->unknowns[i] = v->reference;
    l->states[i] = d->variables[v->derivative_of - 1].reference;
  }
  if (n_y > 0) {
    memcpy(l->unknowns + n_x, f->layout.outputs.refs, n_y * sizeof *l->unknowns);
  }
  mark_inputs(f, l);
  f->linear = l;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the matrices

// An FMU that cannot tell its derivatives can still be stepped, so only the one that called itself dead is given up. "Discard"
// may mean this point alone; one that answered "error" is not asked again.
static yoke_status forgive(fmu* f, fmu_phase before, yoke_status status) {
  if (f->phase != FMU_FAILED) {
    return status;
  }
  f->phase = before;
  f->linear->is_refused = true;
  char line[sizeof f->message + 64], last[sizeof f->log.last];
  memcpy(last, f->log.last, sizeof last);
  snprintf(line, sizeof line, "%s; run without its linear model", f->message);
  yoke__fmu_log_add(&f->log, YOKE_WARNING, NULL, line);
  memcpy(f->log.last, last, sizeof last);  // our words are not the binary's
  return status;
}

// derivatives of all states and outputs by one known
static yoke_status take_column(fmu* f, uint32_t known, size_t n) {
  const fmu_linear* l = f->linear;
  const double seed = 1;
  const fmu_phase before = f->phase;
  if (n == 0) {
    return YOKE_OK;
  }
  const yoke_status status =
      f->version->directional(f, l->unknowns, n, &known, 1, &seed, l->column);
  return status < 0 ? forgive(f, before, status) : YOKE_OK;
}

static void put_column(double* matrix, size_t n_rows, size_t n_cols, size_t col,
                       const double values[]) {
  for (size_t i = 0; matrix != NULL && i < n_rows; i++) {
    matrix[i * n_cols + col] = values[i];
  }
}

yoke_status yoke__fmu_linearise(void* self, yoke_linear* model) {
  fmu* f = self;
  const fmu_linear* l = f->linear;
  if (l == NULL || l->is_refused) {
    return YOKE_NO_SUPPORT;
  }
  const size_t n_x = l->n_x, n_u = f->layout.n_u, n_y = f->layout.n_y;
  model->n_states = n_x;
  model->n_inputs = n_u;
  model->n_outputs = n_y;
  if (model->A == NULL && model->B == NULL && model->C == NULL && model->D == NULL) {
    return YOKE_OK;
  }
  if (f->phase != FMU_RUNNING) {
    return YOKE_NO_SUPPORT;
  }
  for (size_t j = 0; j < n_x && (model->A != NULL || model->C != NULL); j++) {
    YOKE_TRY(take_column(f, l->states[j], n_x + n_y));
    put_column(model->A, n_x, n_x, j, l->column);
    put_column(model->C, n_y, n_x, j, l->column + n_x);
  }
  for (size_t j = 0; j < n_u && (model->B != NULL || model->D != NULL); j++) {
    // nothing depends on a discrete input in between events
    memset(l->column, 0, (n_x + n_y) * sizeof *l->column);
    if (l->is_continuous[j]) {
      YOKE_TRY(take_column(f, f->layout.inputs.refs[j], n_x + n_y));
    }
    put_column(model->B, n_x, n_u, j, l->column);
    put_column(model->D, n_y, n_u, j, l->column + n_x);
  }
  return YOKE_OK;
}
