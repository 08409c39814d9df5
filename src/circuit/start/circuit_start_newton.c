// Newton's method of the initial configuration (circuit_start.c): from a point, from a guess, and
// with less and less conductance across junctions where the guess is too far away.
#include "circuit/start/circuit_start_part.h"

#include <string.h>

#include "base/base_check.h"
#include "circuit/network/circuit_guard.h"

#define TOLERANCE 1e-12  // of the update, scaled
#define ACCEPTED  1e-8   // round-off may keep ill-conditioned circuits from the tolerance
// sources and states in a row that the first guess follows
#define GUESS_PASSES 8
#define GMIN_FIRST   1e-2  // continuation [S]
#define GMIN_STEPS   12    // decades

// ------------------------------------------------------------------------------------------
// Newton's method

static yoke_sparse* matrix_of(const yoke_start* self, const yoke_start_newton* run) {
  // the matrix for the rows at hand: joint, with levels, plain
  return run->is_joint ? self->joint : self->level != NULL ? self->levels.matrix : self->matrix;
}

// With the pivots at hand; where they fail, or there are none, with new ones.
static yoke_status factor(yoke_start* self, yoke_start_newton* run) {
  yoke_sparse* matrix = matrix_of(self, run);
  const bool is_levelled = self->level != NULL;
  bool* has_factors = run->is_joint ? &self->has_joint
                      : is_levelled ? &self->levels.has_factors
                                    : &self->has_matrix;
  const double* values = run->is_joint ? self->values
                         : is_levelled ? self->levels.entries
                                       : self->J;

  // same pivots first: no heap
  if (*has_factors && yoke__sparse_refactor(matrix, 0, values) >= 0) {
    return YOKE_OK;
  }
  if (!run->may_take_heap) {
    return *has_factors ? yoke__sparse_repivot(matrix, 0, values) : YOKE_SINGULAR;
  }
  *has_factors = false;
  YOKE_TRY(yoke__sparse_factor(matrix, values, &run->singular_column));
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(matrix, &stats);
  // a pivot of pure round-off is a zero that was not seen
  if (!(stats.rcond > 1e-19 || stats.weakest_pivot > 1e-15)) {
    return YOKE_SINGULAR;
  }
  *has_factors = true;
  return YOKE_OK;
}

// x -= dx; the largest scaled change of x
static void move(yoke_start* self, yoke_start_newton* run) {
  run->update = 0.0;
  for (uint32_t j = 0; j < self->n; j++) {
    // x := x - J^-1 f
    self->x[j] -= self->rhs[j];
    const double change = fabs(self->rhs[j]) / (1.0 + fabs(self->x[j]));
    // once not a number, always not a number
    if (change > run->update || !yoke__is_finite(change)) {
      run->update = change;
      run->worst = j;
    }
    if (!yoke__is_finite(change)) {
      break;
    }
  }

  // xdot is linear in the joint system: it needs no test
  for (uint32_t j = 0; run->is_joint && j < self->n; j++) {
    self->xdot[j] -= self->rhs[self->n + j];
  }
}

yoke_status yoke__start_iterate(yoke_start* self, yoke_start_newton* run) {
  bool is_limited = false;
  yoke__equations_unlimit(self->equations, self->x, self->v_limited);
  run->update = 0.0;
  for (int i = 0; i < run->max_iterations; i++) {
    run->n_iterations++;
    if (run->is_joint) {
      yoke__start_assemble_joint(self);
    } else {
      yoke__start_assemble_plain(self);
    }
    YOKE_TRY(factor(self, run));
    yoke__sparse_solve(matrix_of(self, run), 0, self->rhs);
    const double last = run->update;
    move(self, run);
    if (!yoke__is_finite(run->update)) {
      return YOKE_NO_CONVERGENCE;
    }
    // an evaluation away from x, now or next time, does not count
    const bool was_limited = is_limited;
    is_limited = yoke__equations_limit(self->equations, self->x, self->v_limited);
    // stalled at rounding: below 1e-8 and no longer halving
    const bool is_stalled = i > 0 && run->update < ACCEPTED && run->update >= 0.5 * last;
    if (!was_limited && !is_limited && (run->update < TOLERANCE || is_stalled)) {
      return YOKE_OK;
    }
  }
  return run->update < ACCEPTED && !is_limited ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// ------------------------------------------------------------------------------------------
// from a guess

// Electric nodes that prescribed states and sources lead to from known ones; the others at `rest`.
// Laws such as 1000/v(dc) are meant for values near these. xdot marks what is known meanwhile.
static void guess_voltages(yoke_start* self, double rest) {
  const yoke_network* network = self->network;
  double* is_known = self->xdot;
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    is_known[v] = network->nodes[v].is_fixed ? 1.0 : 0.0;
  }
  bool is_changed = true;

  // along sources and prescribed capacitors from known nodes, a few elements deep
  for (int pass = 0; is_changed && pass < GUESS_PASSES; pass++) {
    is_changed = false;
    for (uint32_t e = 0; e < network->n_elements; e++) {
      const yoke_element* element = &network->elements[e];
      const bool is_source = element->kind == YOKE_VOLTAGE;
      const bool is_state = element->kind == YOKE_CAPACITOR && self->rows[e] == YOKE_START_VOLTAGE;
      const uint32_t a = element->a;
      const uint32_t b = element->b;
      // exactly one end known: the other one follows
      if (element->domain != YOKE_ELECTRIC || !(is_source || is_state) ||
          is_known[a] == is_known[b]) {
        continue;
      }
      const double u = is_source ? self->signals->element[e] : self->target[e];
      // V_a - V_b = u
      self->x[is_known[a] > 0.0 ? b : a] = is_known[a] > 0.0 ? self->x[a] - u : self->x[b] + u;
      is_known[a] = is_known[b] = 1.0;
      is_changed = true;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (is_known[v] == 0.0 && network->nodes[v].domain == YOKE_ELECTRIC) {
      // a little different, so that differences are not all 0
      self->x[v] = rest * (1.0 + 0.01 * (double)(v % 100));  // no two alike
    }
    is_known[v] = 0.0;
  }
}

// Laws of temperature are meant for temperatures: heat starts from what is known around it, not
// from 0 K.
static void guess(yoke_start* self) {
  const yoke_network* network = self->network;
  double sum = 0.0;
  uint32_t n = 0;
  memset(self->x, 0, self->n * sizeof(double));
  memset(self->xdot, 0, self->n * sizeof(double));

  // mean of the known temperatures
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->domain == YOKE_THERMAL && self->rows[e] == YOKE_START_VOLTAGE &&
        network->nodes[element->b].is_fixed && self->target[e] != 0.0) {
      sum += self->target[e] + self->signals->node[element->b];
      n++;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (yoke__start_has_level(self, v) && network->nodes[v].domain == YOKE_THERMAL) {
      sum += self->level[v];
      n++;
    }
  }
  for (uint32_t v = 1; n == 0 && v < network->n_nodes; v++) {
    if (network->nodes[v].is_fixed && network->nodes[v].domain == YOKE_THERMAL) {
      sum = self->signals->node[v];
      n = 1;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (network->nodes[v].is_fixed) {
      self->x[v] = self->signals->node[v];
    } else if (network->nodes[v].domain == YOKE_THERMAL) {
      self->x[v] = n > 0 ? sum / n : network->run.temperature;
    }
  }
  for (uint32_t i = 0; self->level != NULL && i < self->levels.n; i++) {
    self->x[self->levels.nodes[i]] = self->levels.values[i];
  }
}

// Less and less conductance across junctions, each solution the start of the next.
static yoke_status continue_gmin(yoke_start* self, yoke_start_newton* run) {
  const yoke_equations* equations = self->equations;

  // gmin is the same for all junctions
  const double wanted = equations->stamps[equations->junctions[0]].junction.gmin;
  double gmin = GMIN_FIRST;
  yoke_status status = YOKE_OK;
  guess(self);

  // gmin 1e-2, 1e-3, ... down to the wanted one
  for (int i = 0; status >= 0 && i < GMIN_STEPS && gmin > wanted; i++) {
    yoke__equations_set_gmin(self->equations, gmin);
    status = yoke__start_iterate(self, run);
    gmin *= 0.1;
  }
  yoke__equations_set_gmin(self->equations, wanted);
  return status < 0 ? status : yoke__start_iterate(self, run);
}

yoke_status yoke__start_solve_rows(yoke_start* self, yoke_start_newton* run) {
  guess(self);
  yoke_status status = yoke__start_iterate(self, run);
  // a law may not be defined where all voltages are 0
  // once more with nodes at 0 and 1 V
  for (int i = 0; i < 2 && status == YOKE_SINGULAR && self->signals->n_state_elements > 0; i++) {
    guess(self);
    guess_voltages(self, (double)i);
    status = yoke__start_iterate(self, run);
  }
  if (status == YOKE_NO_CONVERGENCE && self->equations->n_junctions > 0) {
    status = continue_gmin(self, run);
  }
  return status;
}

// A law that has no value, whatever the nodes start from that nothing leads to: said of the
// element.
static bool blame_law(yoke_start* self) {
  double value = 0.0;
  uint32_t e = YOKE_NO_INDEX;
  for (int rest = 1; rest >= 0; rest--) {
    guess(self);
    guess_voltages(self, (double)rest);
    e = yoke__equations_find_undefined(self->equations, self->x, &value);
    if (e == YOKE_NO_INDEX) {
      return false;
    }
  }
  yoke__guard_explain(self->network, e, false, value, self->signals->t, &self->reason);
  return true;
}

static void name_unknown(yoke_start* self, yoke_status status, const yoke_start_newton* run) {
  char name[96];
  if (status == YOKE_SINGULAR) {
    const bool is_known = run->singular_column >= 0;
    const uint32_t column = (uint32_t)run->singular_column % self->n;
    yoke__equations_name(self->equations, column, name, sizeof name);
    yoke__circuit_reason_set(
        &self->reason, self->network, is_known ? column : YOKE_NO_INDEX,
        "the circuit has no unique solution at the start: %s cannot be determined (a part "
        "without path to ground, a loop of voltage sources, a cut set of current sources%s)",
        is_known ? name : "a value",
        self->signals->n_state_elements > 0 ? ", an expression that is not defined there" : "");
  } else if (status == YOKE_NO_CONVERGENCE) {
    yoke__equations_name(self->equations, run->worst, name, sizeof name);
    yoke__circuit_reason_set(
        &self->reason, self->network, run->worst,
        "no initial values found: %s still changes by %.3g after %d iterations; start "
        "values (IC=) closer to the solution may help",
        name, run->update, run->n_iterations);
  }
}

void yoke__start_explain(yoke_start* self, yoke_status status, const yoke_start_newton* run,
                         yoke_messages* messages) {
  if (messages == NULL) {
    return;
  }
  if (!blame_law(self)) {
    name_unknown(self, status, run);
  }
  const yoke_sink list = yoke__messages_sink(messages);
  yoke__circuit_reason_send(&self->reason, status, &list);
}
