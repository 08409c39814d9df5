// A linear model by differences of states, for units whose struct is one flat block with its states among the variables:
//
//   A = d x(t + h) / d x(t),   B = d x(t + h) / d u,   Y = d y(t + h) / d x(t) = C A,   d y(t + h) / d u = C B + D
//
// by moving one number at a time. Numbers that leave no trace behind a call, such as copies of outputs, are no states. Unlike responses over many calls this holds at one instant, also where the unit is on its way.
// What the variables show need not be all there is: a model that does not answer the first pulses as the unit does is not taken.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"
#include "study/study_difference_part.h"

#define MOVE         1e-5   // of a number, relative to its size or 1
#define CHECKED      8      // responses
#define TRUE_ENOUGH  0.01   // of these, relative
#define MOST_NUMBERS 400    // of the unit
#define STILL        1e-13  // of a number: a change below it is round-off

// Numbers of the struct that may be states, with what moving them does.
typedef struct candidates {
  size_t n;
  size_t* offsets;
  double *Phi, *B, *Y, *Y_u;  // n x n, n x m, p x n, p x m
  bool* is_needed;
} candidates;

static bool may_be_state(const yoke_variable* v) {
  return v->type == YOKE_REAL && v->offset != YOKE_NO_OFFSET &&
         (v->causality == YOKE_STATE || v->causality == YOKE_OUTPUT);
}

static bool list_candidates(const yoke_unit* unit, candidates* c) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const size_t n = may_be_state(v) ? yoke__variable_count(v) : 0;
    for (size_t k = 0; k < n; k++) {
      if (c->n == MOST_NUMBERS) {
        return false;
      }
      c->offsets[c->n++] = v->offset + k * sizeof(double);
    }
  }
  return c->n > 0;
}

static double* number_at(const yoke_trial* r, size_t offset) {
  return (double*)(void*)((char*)r->u->self + offset);
}

static double change(double high, double low, double d) {
  const double difference = high - low;
  return fabs(difference) <= STILL * (fabs(high) + fabs(low)) ? 0 : difference / d;
}

// One side of a difference: outputs and candidates after a call. From index n on no candidate is moved, but input j.
static yoke_status look(yoke_trial* r, const candidates* c, size_t index, size_t j, double d,
                        double y[], double x[]) {
  YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
  memcpy(r->moved, r->at->u, r->m * sizeof *r->moved);
  if (index < c->n) {
    *number_at(r, c->offsets[index]) += d;
  } else {
    r->moved[j] += d;
  }
  YOKE_TRY(yoke__trial_call(r, r->moved, 0, y));
  for (size_t i = 0; i < c->n; i++) {
    x[i] = *number_at(r, c->offsets[i]);
  }
  return yoke__are_finite(r->p, y) && yoke__are_finite(c->n, x) ? YOKE_OK : YOKE_NO_SUPPORT;
}

static yoke_status move_all(yoke_trial* r, candidates* c, double work[]) {
  double *y_high = work, *y_low = y_high + r->p, *x_high = y_low + r->p, *x_low = x_high + c->n;
  for (size_t k = 0; k < c->n + r->m; k++) {
    const size_t j = k < c->n ? 0 : k - c->n;
    if (k >= c->n && !r->at->is_input_used[j]) {
      continue;
    }
    YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
    const double now = k < c->n ? *number_at(r, c->offsets[k]) : r->at->u[j];
    if (!yoke__is_finite(now)) {
      continue;
    }
    const double d = MOVE * fmax(fabs(now), 1);
    YOKE_TRY(look(r, c, k, j, d, y_high, x_high));
    YOKE_TRY(look(r, c, k, j, -d, y_low, x_low));
    for (size_t i = 0; i < c->n; i++) {
      *(k < c->n ? &c->Phi[i * c->n + k] : &c->B[i * r->m + j]) =
          change(x_high[i], x_low[i], 2 * d);
    }
    for (size_t i = 0; i < r->p; i++) {
      *(k < c->n ? &c->Y[i * c->n + k] : &c->Y_u[i * r->m + j]) =
          r->at->is_output_used[i] ? change(y_high[i], y_low[i], 2 * d) : 0;
    }
  }
  return YOKE_OK;
}

// Those that an output follows behind the call, and those that these follow.
static size_t find_needed(const yoke_trial* r, candidates* c) {
  size_t n = 0;
  for (size_t k = 0; k < c->n; k++) {
    for (size_t i = 0; i < r->p && !c->is_needed[k]; i++) {
      c->is_needed[k] = c->Y[i * c->n + k] != 0;
    }
  }
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (size_t k = 0; k < c->n; k++) {
      for (size_t i = 0; i < c->n && !c->is_needed[k]; i++) {
        if (c->is_needed[i] && c->Phi[i * c->n + k] != 0) {
          c->is_needed[k] = is_more = true;
        }
      }
    }
  }
  for (size_t k = 0; k < c->n; k++) {
    n += c->is_needed[k];
  }
  return n;
}

static void take_needed(const yoke_trial* r, const candidates* c, yoke_realisation* out) {
  const size_t n = out->rank, m = r->m;
  size_t row = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (!c->is_needed[i]) {
      continue;
    }
    size_t column = 0;
    for (size_t k = 0; k < c->n; k++) {
      if (c->is_needed[k]) {
        out->A[row * n + column++] = c->Phi[i * c->n + k];
      }
    }
    memcpy(out->B + row * m, c->B + i * m, m * sizeof *out->B);
    for (size_t y = 0; y < r->p; y++) {
      out->C[y * n + row] = c->Y[y * c->n + i];
    }
    row++;
  }
}

// C = Y A^-1: A^T C^T = Y^T, row by row. D from refresh, else what is left of the first answer.
static yoke_status find_outputs(const yoke_trial* r, const candidates* c, yoke_realisation* out) {
  const size_t n = out->rank, m = r->m, p = r->p;
  double* T = calloc(n * n + p * m + 1, sizeof *T);
  size_t* pivots = calloc(n + 1, sizeof *pivots);
  yoke_status status = T == NULL || pivots == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    for (size_t i = 0; i < n * n; i++) {
      T[i] = out->A[i % n * n + i / n];
    }
    status = yoke__lu_factor(n, T, pivots);
  }
  for (size_t i = 0; i < p && status >= 0; i++) {
    yoke__lu_solve(n, T, pivots, out->C + i * n);
  }
  if (status >= 0 && r->D != NULL) {
    memcpy(out->D, r->D, p * m * sizeof *out->D);
  } else if (status >= 0) {
    double* CB = T + n * n;
    yoke__mat_mul(p, n, m, out->C, out->B, CB);
    for (size_t i = 0; i < p * m; i++) {
      out->D[i] = c->Y_u[i] - CB[i];
    }
  }
  free(T);
  free(pivots);
  return status;
}

static yoke_status look_at_states(yoke_trial* r, candidates* c, double work[],
                                  yoke_realisation* out, bool* is_found) {
  const yoke_status status = move_all(r, c, work);
  if (status < 0) {
    return yoke__status_is_shortage(status) ? status : YOKE_OK;
  }
  out->rank = find_needed(r, c);
  if (out->rank <= YOKE_DIFFERENCE_ORDER) {
    take_needed(r, c, out);
    const yoke_status solved = find_outputs(r, c, out);
    if (solved >= 0) {
      YOKE_TRY(yoke__trial_error(r, CHECKED, out));
      *is_found = out->error <= TRUE_ENOUGH;
    } else if (yoke__status_is_shortage(solved)) {
      return solved;
    }
  }
  if (!*is_found) {
    out->rank = 0;
    out->error = 0;
  }
  return YOKE_OK;
}

yoke_status yoke__trial_states(yoke_trial* r, yoke_realisation* out, bool* is_found) {
  *is_found = false;
  if ((r->u->info->flags & YOKE_UNIT_FLAT) == 0 || (r->u->info->flags & YOKE_UNIT_ALGEBRAIC) != 0) {
    return YOKE_OK;
  }
  yoke_arena room = {0};
  candidates c = {.offsets = yoke__arena_array(&room, MOST_NUMBERS, sizeof(size_t))};
  yoke_status status = yoke__arena_status(&room);
  if (status >= 0 && list_candidates(r->u, &c)) {
    c.Phi = yoke__arena_array(&room, c.n * c.n, sizeof(double));
    c.B = yoke__arena_array(&room, c.n * r->m, sizeof(double));
    c.Y = yoke__arena_array(&room, r->p * c.n, sizeof(double));
    c.Y_u = yoke__arena_array(&room, r->p * r->m, sizeof(double));
    c.is_needed = yoke__arena_array(&room, c.n, sizeof(bool));
    double* work = yoke__arena_array(&room, 2 * (r->p + c.n), sizeof(double));
    status = yoke__arena_status(&room);
    status = status < 0 ? status : look_at_states(r, &c, work, out, is_found);
  }
  yoke__arena_free(&room);
  return status;
}
