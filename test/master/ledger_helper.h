// What the tests of the ledger in the loop share: oscillators with a bond, its figures, and the matrix of one macro step.
#ifndef YOKE_TEST_LEDGER_HELPER_H
#define YOKE_TEST_LEDGER_HELPER_H

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/sim.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A force-displacement oscillator: masses and springs, dampers all alike.
typedef struct oscillator {
  double m1, m2, k1, kc, k2, c;
  const char* laws;  // as in oscillator_case
} oscillator;

// Unit steps as text ("" for the macro step), extrapolation and delay of all connections one way.
typedef struct oscillator_run {
  const char *step, *h1, *h2;
  int order;
  double delay_action, delay_rate;  // [s]
  const char* more;                 // lines of the file before `units`
} oscillator_run;

static inline oscillator oscillator_of(const oscillator_case* c) {
  return (oscillator){1, 1, 10, 100, 1000, c->c, c->laws};
}

// The bond is found from the dimensions and called left-right.
static inline sim ledger_open_fd(const oscillator* o, const oscillator_run* run) {
  const bool has_h1 = run->h1 != NULL && run->h1[0] != '\0';
  const bool has_h2 = run->h2 != NULL && run->h2[0] != '\0';
  return sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1000, step: %s}\n"
      "%s"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: %.17g, k: %.17g, kc: %.17g, c: %g, cc: %g%s},"
      " start: {x: 0, v: 100}%s%s}\n"
      "  right: {model: oscillator.mass, with: {m: %.17g, k: %.17g, c: %g%s}, start: {x: 0, v: "
      "-100}%s%s}\n"
      "connections:\n"
      "  - {from: right.x, to: left.x_other, order: %d, delay: %g}\n"
      "  - {from: right.v, to: left.v_other, order: %d, delay: %g}\n"
      "  - {from: left.f, to: right.f, order: %d, delay: %g}\n",
      run->step, run->more == NULL ? "" : run->more, o->m1, o->k1, o->kc, o->c, o->c, o->laws,
      has_h1 ? ", step: " : "", has_h1 ? run->h1 : "", o->m2, o->k2, o->c, o->laws,
      has_h2 ? ", step: " : "", has_h2 ? run->h2 : "", run->order, run->delay_rate, run->order,
      run->delay_rate, run->order, run->delay_action);
}

static inline double ledger_oscillator_energy(const sim* s, const oscillator* o) {
  const double e = sim_read(s, "left.x") - sim_read(s, "right.x");
  return sim_read(s, "left.E") + sim_read(s, "right.E") + 0.5 * o->kc * e * e;
}

// A figure of a bond now.
static inline double ledger_value(const sim* s, size_t bond, yoke_ledger_value value) {
  return yoke__ledger_values(s->state->ledger)[bond * YOKE_LEDGER_N_VALUES + (size_t)value];
}

static inline size_t ledger_bond(const sim* s, const char* name) {
  for (size_t i = 0; i < s->system->n_bonds; i++) {
    if (strcmp(s->system->bonds[i].name, name) == 0) {
      return i;
    }
  }
  fail_msg("no bond '%s'", name);
  return 0;
}

static inline yoke_ledger_result ledger_result(const sim* s, const char* name) {
  yoke_ledger_result result;
  yoke__ledger_result(s->state->ledger, ledger_bond(s, name), &result);
  return result;
}

// Steps until t, which lies on the grid.
static inline void ledger_run_to(sim* s, double t) {
  while (s->state->t < t * (1 - 1e-12)) {
    sim_steps(s, 1);
  }
}

// ---- the matrix of one macro step, by moving one number at a time

// A number that lives from one step to the next: a state of a unit, or an output alone ("left.f").
typedef struct probe {
  const char* name;
  bool is_state;
} probe;

static inline void probe_set(sim* s, const probe* p, double value) {
  const size_t at = sim_index(s, p->name);
  s->state->y[at] = value;
  if (!p->is_state) {
    return;
  }
  for (size_t u = 0; u < s->system->n_units; u++) {
    const yoke_system_unit* unit = &s->system->units[u];
    if (at >= unit->y && at < unit->y + unit->unit.n_y) {
      const size_t variable = yoke__unit_find(&unit->unit, strchr(p->name, '.') + 1);
      check_ok(yoke__unit_set(&unit->unit, variable, &value, sizeof value));
    }
  }
}

// M: n x n, row by row. The system must be linear, with its equilibrium at 0, one step per unit and no history.
static inline void probe_matrix(sim* s, const probe probes[], size_t n, double M[]) {
  for (size_t column = 0; column < n; column++) {
    for (size_t i = 0; i < n; i++) {
      probe_set(s, &probes[i], i == column ? 1 : 0);
    }
    for (size_t u = 0; u < s->system->n_units; u++) {
      yoke__master_gather(s->system, s->state, u, s->state->y, s->state->u);
    }
    sim_steps(s, 1);
    for (size_t i = 0; i < n; i++) {
      M[i * n + column] = sim_read(s, probes[i].name);
    }
  }
}

#endif
