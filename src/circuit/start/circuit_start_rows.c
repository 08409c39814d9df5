// The rows of the initial configuration (circuit_start.c): which one each state gets, by a search
// for loops and cut sets in the graph, and the equations with these rows, plain for x or joint for
// x and xdot.
#include "circuit/start/circuit_start_part.h"

#include <string.h>

#define SMALL 1e-9  // series resistance and parallel conductance [Ohm], [S]

// ------------------------------------------------------------------------------------------
// which row each state gets

// Joins two nodes; false if they were joined before.
static bool join(uint32_t parents[], uint32_t a, uint32_t b) {
  // union-find: parts connected so far
  const uint32_t x = yoke__root_of(parents, a);
  const uint32_t y = yoke__root_of(parents, b);
  parents[x] = y;
  return x != y;
}

// every node by itself, fixed ones as one
static void reset_graph(yoke_start* self) {
  uint32_t fixed = YOKE_NO_INDEX;

  // all fixed nodes are one: their voltages are known
  for (uint32_t v = 0; v < self->network->n_nodes; v++) {
    self->parents[v] = v;
    if (self->network->nodes[v].is_fixed) {
      fixed = fixed == YOKE_NO_INDEX ? v : fixed;
      self->parents[v] = fixed;
    }
  }
}

static bool is_open(const yoke_start* self, uint32_t e) {
  const yoke_element* element = &self->network->elements[e];
  return element->kind == YOKE_SWITCH && !self->equations->is_closed[e] &&
         isinf(element->switching->r_off);
}

// Gives its voltage whatever flows.
static bool is_voltage_like(const yoke_start* self, uint32_t e) {
  const yoke_element* element = &self->network->elements[e];
  switch (element->kind) {
  case YOKE_VOLTAGE:
  case YOKE_VCVS:
  case YOKE_CCVS:
    return true;
  case YOKE_SWITCH:
    return self->equations->is_closed[e] && element->switching->r_on == 0.0;
  default:
    return false;
  }
}

// Gives its current whatever stands across it.
static bool is_current_like(const yoke_start* self, uint32_t e) {
  const yoke_element* element = &self->network->elements[e];
  if (yoke__element_is_conductance(element)) {
    // a conductance of 0 passes nothing
    return self->equations->stamps[e].law == NULL && self->signals->element[e] == 0.0;
  }
  return element->kind == YOKE_CURRENT || element->kind == YOKE_VCCS ||
         element->kind == YOKE_CCCS || is_open(self, e) || self->rows[e] == YOKE_START_CURRENT;
}

// The row a state would like to have; its value.
static void choose_rows(yoke_start* self, const double state[]) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const bool is_free = isnan(state[e]);
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    self->rows[e] = YOKE_START_NONE;
    self->target[e] = is_free ? 0.0 : state[e];
    // the charge of a junction at its operating point: no row, its own equation at rest
    if (self->equations->stamps[e].is_dynamic &&
        !(is_free && self->network->elements[e].kind == YOKE_JUNCTION)) {
      // prescribed: its own quantity; free: the other one, 0 at the operating point
      self->rows[e] = is_inductor == is_free ? YOKE_START_VOLTAGE : YOKE_START_CURRENT;
    }
  }
}

// Levels that close no loop with sources and prescribed capacitors: those that hold their nodes.
static void join_levels(yoke_start* self) {
  yoke_levels* levels = &self->levels;
  levels->n = 0;
  for (uint32_t v = 0; v < self->network->n_nodes; v++) {
    if (yoke__start_has_level(self, v) && join(self->parents, v, 0)) {
      levels->nodes[levels->n] = v;
      levels->values[levels->n++] = self->level[v];
    }
  }
}

// Loops of rows on voltages: prescribed capacitors come first, then levels, then free inductors.
static void break_loops(yoke_start* self, const double state[]) {
  const yoke_network* network = self->network;

  // spanning forest of voltage sources first
  reset_graph(self);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (is_voltage_like(self, e)) {
      join(self->parents, network->elements[e].a, network->elements[e].b);
    }
  }

  // an edge inside a part would close a loop of voltages
  for (int round = 0; round < 2; round++) {
    for (uint32_t e = 0; e < network->n_elements; e++) {
      const bool is_free = isnan(state[e]);
      // prescribed states first, free ones second: what is free gives way
      if (self->rows[e] == YOKE_START_VOLTAGE && is_free == (round == 1) &&
          !join(self->parents, network->elements[e].a, network->elements[e].b)) {
        self->rows[e] = is_free ? YOKE_START_CURRENT : YOKE_START_DEPENDENT;
      }
    }
    if (round == 0 && self->level != NULL) {
      join_levels(self);
    }
  }
}

// Cut sets of rows on currents: free capacitors give way before prescribed inductors, the last
// before the first.
static void break_cuts(yoke_start* self, const double state[]) {
  const yoke_network* network = self->network;
  reset_graph(self);

  // parts connected by all that is no current source: an edge between two of them lies in a cut set
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (!is_current_like(self, e)) {
      join(self->parents, network->elements[e].a, network->elements[e].b);
    }
  }
  for (uint32_t i = 0; self->level != NULL && i < self->levels.n; i++) {
    join(self->parents, self->levels.nodes[i], 0);
  }
  for (int round = 0; round < 2; round++) {
    // last ones first: those named first keep their values
    for (uint32_t e = network->n_elements; e-- > 0;) {
      const bool is_free = isnan(state[e]);
      // an edge between two parts is the only way across: its current is given by the others
      if (self->rows[e] == YOKE_START_CURRENT && is_free == (round == 0) &&
          join(self->parents, network->elements[e].a, network->elements[e].b)) {
        self->rows[e] = is_free ? YOKE_START_VOLTAGE : YOKE_START_DEPENDENT;
      }
    }
  }
}

void yoke__start_classify(yoke_start* self, const double state[]) {
  choose_rows(self, state);
  break_loops(self, state);
  break_cuts(self, state);
  self->n_dependent = 0;
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    self->n_dependent += self->rows[e] == YOKE_START_DEPENDENT;
  }
}

// ------------------------------------------------------------------------------------------
// the joint system

// Columns of the joint pattern, both for x and for xdot. An entry (r, j) of J stands at (r, j) and,
// if r is a differential row, at (n + r, j); one of Ahat at (n + r, n + j); rates of dependent
// elements at (r, n + j).
static yoke_status make_joint_pattern(yoke_start* self) {
  const yoke_equations* equations = self->equations;
  const yoke_sparse_pattern* J = &equations->J;
  const yoke_sparse_pattern* Ahat = &equations->Ahat;
  const uint32_t n = self->n;
  const size_t room = 3 * (size_t)equations->nnz + equations->ahat_nnz;
  int32_t* starts = yoke__arena_array(self->arena, 2 * (size_t)n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(self->arena, room, sizeof *rows);
  self->wide_J = yoke__arena_array(self->arena, equations->nnz, sizeof(uint32_t));
  self->wide_J_low = yoke__arena_array(self->arena, equations->nnz, sizeof(uint32_t));
  self->wide_ahat = yoke__arena_array(self->arena, equations->ahat_nnz, sizeof(uint32_t));
  self->wide_rate = yoke__arena_array(self->arena, equations->nnz, sizeof(uint32_t));
  self->values = yoke__arena_array(self->arena, room, sizeof(double));
  YOKE_TRY(yoke__arena_status(self->arena));
  uint32_t at = 0;

  // column of x: J on top, its differential rows again below
  for (uint32_t j = 0; j < n; j++) {
    starts[j] = (int32_t)at;
    for (int32_t k = J->starts[j]; k < J->starts[j + 1]; k++) {
      self->wide_J[k] = at;
      rows[at++] = J->rows[k];
    }
    for (int32_t k = J->starts[j]; k < J->starts[j + 1]; k++) {
      self->wide_J_low[k] = YOKE_NO_INDEX;
      if ((uint32_t)J->rows[k] >= equations->m) {
        self->wide_J_low[k] = at;
        rows[at++] = (int32_t)n + J->rows[k];
      }
    }
  }

  // column of xdot: rates of dependent elements on top, Ahat below
  for (uint32_t j = 0; j < n; j++) {
    starts[n + j] = (int32_t)at;
    for (int32_t k = J->starts[j]; k < J->starts[j + 1]; k++) {
      self->wide_rate[k] = YOKE_NO_INDEX;
      if ((uint32_t)J->rows[k] >= equations->m) {
        self->wide_rate[k] = at;
        rows[at++] = J->rows[k];
      }
    }
    for (int32_t k = Ahat->starts[j]; k < Ahat->starts[j + 1]; k++) {
      self->wide_ahat[k] = at;
      rows[at++] = (int32_t)n + Ahat->rows[k];
    }
  }
  starts[2 * (size_t)n] = (int32_t)at;
  self->wide = (yoke_sparse_pattern){.n = (int32_t)(2 * n), .starts = starts, .rows = rows};
  return YOKE_OK;
}

yoke_status yoke__start_make_joint(yoke_start* self) {
  if (self->joint != NULL) {
    return YOKE_OK;
  }
  YOKE_TRY(make_joint_pattern(self));
  const yoke_sparse_settings settings = {.kernel = self->kernel, .n_slots = 1};
  return yoke__sparse_create(&self->wide, &settings, self->arena, &self->joint);
}

// ------------------------------------------------------------------------------------------
// the equations with rows of states

static void clear_slot(double J[], uint32_t slot) {
  if (slot != YOKE_NO_INDEX) {
    J[slot] = 0.0;
  }
}

static void clear_law(double J[], const yoke_expression* law, const uint32_t slots[]) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    clear_slot(J, slots[i]);
  }
}

// all entries of an element's row
static void clear_row(const yoke_start* self, const yoke_stamp* stamp) {
  clear_slot(self->J, stamp->slot_a);
  clear_slot(self->J, stamp->slot_b);
  clear_slot(self->J, stamp->slot_i);
  clear_law(self->J, stamp->law, stamp->live_slots);
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    clear_slot(self->J, stamp->couplings[i].slot);
    clear_law(self->J, self->equations->stamps[stamp->couplings[i].other].law,
              stamp->couplings[i].live_slots);
  }
}

// by_v (V_a - V_b) + by_i I - target
static void write_row(const yoke_start* self, uint32_t e, double by_v, double by_i) {
  const yoke_stamp* stamp = &self->equations->stamps[e];
  const double* x = self->x;
  clear_row(self, stamp);

  // f of the row: the state less its target, and its derivatives
  self->f[stamp->row] = by_v * (x[stamp->a] - x[stamp->b]) + by_i * x[stamp->i] - self->target[e];
  self->J[stamp->slot_a] += by_v;
  self->J[stamp->slot_b] -= by_v;
  self->J[stamp->slot_i] += by_i;
}

static void write_state_rows(const yoke_start* self) {
  // soft: 1e-9 Ohm in series, 1e-9 S in parallel
  const double soft = self->is_soft ? -SMALL : 0.0;
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    switch ((yoke_start_row)self->rows[e]) {
    case YOKE_START_VOLTAGE:
      write_row(self, e, 1.0, soft);
      break;
    case YOKE_START_CURRENT:
      write_row(self, e, soft, 1.0);
      break;
    case YOKE_START_DEPENDENT:
      if (self->is_soft) {
        // inductors keep their current, capacitors their voltage, softened
        write_row(self, e, is_inductor ? soft : 1.0, is_inductor ? 1.0 : soft);
      }
      break;
    case YOKE_START_NONE:
      break;
    }
  }
}

// The joint system at x and xdot: values, and rhs with the residual of 2n rows.
void yoke__start_assemble_joint(yoke_start* self) {
  const yoke_equations* equations = self->equations;
  const uint32_t n = self->n;
  double* low = self->rhs;       // rows of x
  double* high = self->rhs + n;  // rows of xdot
  memset(self->values, 0, (size_t)self->wide.starts[2 * (size_t)n] * sizeof(double));

  // below: Phi_x xdot + Phi_t and A xdot + b, whose dependence on x is J with the rates as they are
  yoke__equations_derivatives(self->equations, self->x, NULL, self->ahat, self->bhat);

  // Ahat xdot + bhat
  yoke__sparse_mul(&equations->Ahat, self->ahat, self->xdot, high);
  for (uint32_t i = 0; i < n; i++) {
    high[i] += self->bhat[i];
  }
  for (uint32_t k = 0; k < equations->ahat_nnz; k++) {
    self->values[self->wide_ahat[k]] = self->ahat[k];
  }
  yoke__equations_evaluate(self->equations, self->x, 0.0, self->xdot, self->v_limited, self->f,
                           self->J);
  for (uint32_t k = 0; k < equations->nnz; k++) {
    if (self->wide_J_low[k] != YOKE_NO_INDEX) {
      self->values[self->wide_J_low[k]] = self->J[k];
    }
  }

  // above: Phi and the rows of states, a charge without one at rest
  yoke__equations_evaluate(self->equations, self->x, 0.0, NULL, self->v_limited, self->f, self->J);
  write_state_rows(self);

  // a dependent element has its missing rate set to 0 in place of its row
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] != YOKE_START_DEPENDENT) {
      continue;
    }
    const yoke_stamp* stamp = &equations->stamps[e];
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    clear_row(self, stamp);
    self->f[stamp->row] =
        is_inductor ? self->xdot[stamp->a] - self->xdot[stamp->b] : self->xdot[stamp->i];
    if (is_inductor) {
      // the rate that is missing: V_a' - V_b' of an inductor, I' of a capacitor
      self->values[self->wide_rate[stamp->slot_a]] += 1.0;
      self->values[self->wide_rate[stamp->slot_b]] -= 1.0;
    } else {
      self->values[self->wide_rate[stamp->slot_i]] += 1.0;
    }
  }
  for (uint32_t k = 0; k < equations->nnz; k++) {
    self->values[self->wide_J[k]] = self->J[k];
  }
  memcpy(low, self->f, n * sizeof(double));
}

void yoke__start_assemble_plain(yoke_start* self) {
  yoke__equations_evaluate(self->equations, self->x, 0.0, NULL, self->v_limited, self->f, self->J);
  write_state_rows(self);
  if (self->level != NULL) {
    yoke__levels_write(&self->levels, self->equations, self->x, self->f, self->J);
  }
  memcpy(self->rhs, self->f, self->n * sizeof(double));
}
