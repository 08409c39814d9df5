// Direct feedthrough in the loop: D of each unit, measured once, and outputs brought up to date at every exchange
// (system/system_through.c).
#include <math.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "linalg/linalg_dense.h"
#include "master/master.h"

#define LEAST_PIVOT 1e-10    // of I - D L: below, the chain has no solution worth the name
#define NUDGE       0x1p-10  // of an input or of 1, if that is more: large against rounding
#define BENT        1e-3     // between the slopes on both sides: more is no number to count on

yoke_status yoke__master_layout_through(const yoke_system* system, yoke_state* state) {
  if (system->n_throughs == 0) {
    return YOKE_OK;
  }
  // behind D: outputs of a unit that is asked for it, as they are and with an input moved both ways
  const size_t n = system->n_through_terms + 3 * system->n_y + 1;
  state->D = yoke__arena_array(&state->arena, n, sizeof *state->D);
  state->ahead = yoke__arena_array(&state->arena, system->n_throughs, sizeof *state->ahead);
  YOKE_TRY_MEMORY(state->D && state->ahead);
  const size_t n_closed = system->n_throughs - system->n_ordered;
  if (n_closed > 0) {
    state->closed = yoke__arena_array(&state->arena, n_closed * n_closed, sizeof *state->closed);
    state->closed_pivots = yoke__arena_array(&state->arena, n_closed, sizeof(size_t));
    YOKE_TRY_MEMORY(state->closed && state->closed_pivots);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// D

// Outputs of a unit in its initialisation, with its inputs in state->u.
static yoke_status evaluate(const yoke_system* system, const yoke_state* state, size_t unit,
                            double y[]) {
  const yoke_system_unit* su = &system->units[unit];
  YOKE_TRY(yoke__unit_set_inputs(&su->unit, state->u + su->u));
  if (su->unit.ops->refresh != NULL) {
    YOKE_TRY(su->unit.ops->refresh(su->unit.self, system->t_start));
  }
  return yoke__unit_get_outputs(&su->unit, y);
}

// The outputs of a unit with one input moved, and by how much. False: it refuses that.
static bool is_moved(const yoke_system* system, yoke_state* state, size_t unit, size_t u,
                     double share, double* moved, double y[]) {
  const double start = state->u[u];
  state->u[u] = start + share * fmax(fabs(start), 1);
  *moved = state->u[u] - start;
  const yoke_status status = evaluate(system, state, unit, y);
  state->u[u] = start;
  return status >= 0;
}

// One number of D from both sides, so far away that odd laws show as well. A unit that bends there, or jumps, has none: its
// output is sent as it is.
static double slope_of(double before, double up, double moved_up, double down, double moved_down) {
  const double a = (up - before) / moved_up, b = (down - before) / moved_down;
  return fabs(a - b) <= BENT * fmax(fabs(a), fabs(b)) ? (a + b) / 2 : 0;
}

// The column of D that belongs to one input. y: outputs without a change, then work for two changes.
static void fill_column(const yoke_system* system, yoke_state* state, size_t unit, size_t u,
                        double* const y[3]) {
  double up = 0, down = 0;
  const bool is_known = is_moved(system, state, unit, u, NUDGE, &up, y[1]) &&
                        is_moved(system, state, unit, u, -2 * NUDGE, &down, y[2]);
  for (const yoke_system_through* t = system->throughs; t < system->throughs + system->n_throughs;
       t++) {
    const size_t at = t->y - system->units[unit].y;
    for (size_t i = t->first; t->unit == unit && i < t->first + t->n; i++) {
      if (system->through_terms[i].u == u) {
        const double d = is_known ? slope_of(y[0][at], y[1][at], up, y[2][at], down) : 0;
        state->D[i] = yoke__is_finite(d) ? d : 0;
      }
    }
  }
}

static bool is_asked(const yoke_system* system, size_t unit, size_t u) {
  for (const yoke_system_through* t = system->throughs; t < system->throughs + system->n_throughs;
       t++) {
    for (size_t i = t->first; t->unit == unit && i < t->first + t->n; i++) {
      if (system->through_terms[i].u == u) {
        return true;
      }
    }
  }
  return false;
}

yoke_status yoke__master_probe(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  double* work = state->D + system->n_through_terms;
  double* const y[3] = {work, work + system->n_y, work + 2 * system->n_y};
  bool is_known = false;
  for (size_t u = su->u; u < su->u + su->unit.n_u; u++) {
    if (!is_asked(system, unit, u)) {
      continue;
    }
    if (!is_known) {
      YOKE_TRY(evaluate(system, state, unit, y[0]));
      is_known = true;
    }
    fill_column(system, state, unit, u, y);
  }
  // as it was
  return is_known ? evaluate(system, state, unit, y[0]) : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// closed chains: with c what is added to the outputs, c = r + D L c

void yoke__master_factor_through(const yoke_system* system, yoke_state* state) {
  const size_t first = system->n_ordered, n = system->n_throughs - first;
  for (size_t k = 0; k < n; k++) {
    const yoke_system_through* t = &system->throughs[first + k];
    double* row = state->closed + k * n;
    for (size_t j = 0; j < n; j++) {
      row[j] = j == k;
    }
    for (size_t i = t->first; i < t->first + t->n; i++) {
      const yoke_tap* tap = &system->taps[system->through_terms[i].tap];
      if (tap->through > first) {
        row[tap->through - 1 - first] -= state->D[i] * tap->gain;
      }
    }
  }
  double least = (double)INFINITY;
  state->is_closed_singular = n > 0 && yoke__lu_factor(n, state->closed, state->closed_pivots) < 0;
  for (size_t k = 0; k < n && !state->is_closed_singular; k++) {
    least = fmin(least, fabs(state->closed[k * n + k]));
  }
  state->is_closed_singular = state->is_closed_singular || least < LEAST_PIVOT;
}

// ---------------------------------------------------------------------------------------------------------
// exchange

// What the new inputs of an output add to it, by the outputs as they stand. An input that gets nothing new now goes on
// as it is.
static double add_up(const yoke_system* system, const yoke_state* state,
                     const yoke_system_through* t) {
  double sum = 0;
  for (size_t i = t->first; i < t->first + t->n; i++) {
    const yoke_tap* tap = &system->taps[system->through_terms[i].tap];
    if (state->n_slots % tap->every == 0) {
      sum += state->D[i] * (yoke__master_tap(state, tap, state->y, 0) - state->u[tap->to]);
    }
  }
  return yoke__is_finite(sum) ? sum : 0;
}

// Before anything is sent: state->u still has what the last calls were given.
void yoke__master_look_ahead(const yoke_system* system, yoke_state* state) {
  const size_t first = system->n_ordered, n = system->n_throughs - first;
  for (size_t k = first; k < system->n_throughs; k++) {
    state->ahead[k] = 0;
  }
  for (size_t k = 0; k < first; k++) {
    state->ahead[k] = add_up(system, state, &system->throughs[k]);
  }
  if (n == 0 || state->is_closed_singular) {
    return;
  }
  double* r = state->D + system->n_through_terms;  // work of the initialisation
  for (size_t k = 0; k < n; k++) {
    r[k] = add_up(system, state, &system->throughs[first + k]);
  }
  yoke__lu_solve(n, state->closed, state->closed_pivots, r);
  for (size_t k = 0; k < n; k++) {
    state->ahead[first + k] = yoke__is_finite(r[k]) ? r[k] : 0;
  }
}
