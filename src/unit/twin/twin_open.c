// The network without a filter: z' = Fc z + Gc v, exactly for inputs that are a straight line over a step. It goes on when the filter has diverged, with
// the last good estimates, so that outputs stay numbers that mean something. Deviations stay what they were.
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "unit/twin/twin_part.h"

// Elements at the values of the unknowns, the others as they are now.
static void put_elements(twin* w, const double values[]) {
  const twin_network* n = &w->network;
  yoke_heat_model* m = &w->open;
  memcpy(m->g, n->g, m->network->n_resistors * sizeof *m->g);
  memcpy(m->c, n->c, m->p * sizeof *m->c);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const yoke_unknown* u = &w->unknowns[i];
    for (size_t t = 0; t < u->n_targets; t++) {
      if (u->kind == YOKE_UNKNOWN_CAPACITY) {
        m->c[u->targets[t]] = u->factors[t] * values[i];
      } else if (u->kind == YOKE_UNKNOWN_RESISTANCE || u->kind == YOKE_UNKNOWN_CONDUCTANCE) {
        m->g[u->targets[t]] = 1 / (u->factors[t] * values[i]);
      }
    }
  }
}

// False: these elements give no model that can be stepped.
static bool renew(twin* w, const double values[]) {
  put_elements(w, values);
  return yoke__heat_model_update(&w->open) >= 0 &&
         yoke__discrete(w->open.p, w->open.Fc, w->setup.h, w->E, w->Psi1, w->Psi2, w->work) >= 0;
}

static const double* kept_values(const twin* w) {
  const size_t one = w->open.p + w->n_unknowns;
  return w->kept + (1 - (size_t)w->state->kept_newer) * one + w->open.p;
}

void yoke__twin_open_start(twin* w) {
  memcpy(w->z_open, kept_values(w) - w->open.p, w->open.p * sizeof *w->z_open);
  w->state->is_open = 1;
  w->has_open_model = false;
  const double* values = kept_values(w);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    w->reals[w->layout.n_rows + i] = yoke__twin_value(&w->unknown_texts[i], values[i]);
  }
  // there are no innovations any more
  memset(w->reals + 2 * (w->layout.n_rows + w->n_unknowns), 0,
         (w->n_sensors + 1) * sizeof *w->reals);
}

// What belongs to an unknown in place of `known`; by: 1 for values, 0 for changes.
static double input_of(const twin* w, const double values[], size_t input, double known,
                       double by) {
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const yoke_unknown* u = &w->unknowns[i];
    for (size_t t = 0; t < u->n_targets && u->kind == YOKE_UNKNOWN_INPUT; t++) {
      known = u->targets[t] == input ? by * u->factors[t] * values[i] : known;
    }
  }
  return known;
}

// to += Psi2 Gc d, d: the slopes of inputs.
static void add_slopes(const twin* w, const double slopes[], double factor, double to[]) {
  const yoke_heat_model* m = &w->open;
  double *d = w->work, *push = d + m->r;
  for (size_t i = 0; i < m->r; i++) {
    d[i] = input_of(w, kept_values(w), i, factor * slopes[i], 0);
  }
  yoke__mat_vec(m->p, m->r, m->Gc, d, push);
  yoke__mat_vec_add(m->p, m->p, w->Psi2, push, to);
}

void yoke__twin_open_ramp(twin* w, bool has_change, bool has_missed) {
  const size_t p = w->open.p;
  double *missed = w->work + w->open.r + p, *moved = missed + p;
  if (!w->has_open_model) {
    w->has_open_model = renew(w, kept_values(w));
  }
  memcpy(moved, w->z_open, p * sizeof *moved);
  if (has_missed) {
    memset(missed, 0, p * sizeof *missed);
    add_slopes(w, w->missed, 1 / w->setup.h, missed);
    yoke__mat_vec_add(p, p, w->E, missed, moved);
  }
  if (has_change) {
    add_slopes(w, w->change, 1 / w->setup.h, moved);
  }
  if (w->has_open_model && yoke__are_finite(p, moved)) {
    memcpy(w->z_open, moved, p * sizeof *moved);
  }
}

void yoke__twin_open_step(twin* w) {
  const double* known = w->has_line ? w->line : w->v;
  const yoke_heat_model* m = &w->open;
  const size_t p = m->p;
  const double* values = kept_values(w);
  bool is_solved = true;
  double *v = w->work, *push = v + m->r, *moved = push + p, *x = moved + p;
  for (size_t i = 0; i < m->r; i++) {
    v[i] = input_of(w, values, i, known[i], 1);
  }
  if (!w->has_open_model) {
    w->has_open_model = is_solved = renew(w, values);
  }
  yoke__mat_vec(p, m->r, m->Gc, v, push);
  yoke__mat_vec(p, p, w->E, w->z_open, moved);
  yoke__mat_vec_add(p, p, w->Psi1, push, moved);
  if (w->has_line) {
    add_slopes(w, w->slope, 1, moved);
    for (size_t i = 0; i < m->r; i++) {
      v[i] = input_of(w, values, i, known[i] + w->setup.h * w->slope[i], 1);
    }
  }
  if (is_solved && yoke__are_finite(p, moved)) {
    memcpy(w->z_open, moved, p * sizeof *moved);
  }
  yoke__heat_model_temperatures(m, w->z_open, v, x);
  for (size_t i = 0; i < w->layout.n_rows; i++) {
    const double y = yoke__heat_row_value(m, w->layout.rows[i], x, v);
    w->reals[i] = yoke__is_finite(y) ? y : w->reals[i];
  }
}
