// The initial configuration (specification 3): x with Phi(x, t) = 0 and the states as prescribed,
// and xdot.
//
// Every capacitor and inductor puts one row in the place of its differential equation:
//
//   capacitor  V_a - V_b = v0   (prescribed)   or   I = 0           (free: operating point)
//   inductor   I = i0           (prescribed)   or   V_a - V_b = 0   (free)
//
// so the pattern of J serves. Rows on voltages must not close loops with voltage sources and each
// other, rows on currents must not form cut sets with current sources: a graph search finds those
// that would. A free one then takes the other row with 0. A prescribed one follows from the others,
// and so does its value; what is missing is how the capacitors of a loop share their current, or
// the inductors of a cut set their voltage, which only rates decide. Then x and xdot are found
// together from
//
//   Phi(x) = 0,  rows of independent states,  Phi_x xdot + Phi_t = 0,  A xdot + b(x) = 0,
//
// closed by one rate of each dependent element (I' of a capacitor, V_a' - V_b' of an inductor),
// which is free, set to 0. If that is singular too (states bound by controlled sources), capacitors
// get a series resistance and inductors a parallel conductance so small that states move by less
// than round-off in the values shown.
//
// Levels of nodes (`.ic` without uic) are no states. They hold their nodes while the operating
// point is sought (circuit_levels.c), all states are taken from it, and the above follows with
// these.
#include "circuit/circuit_start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/circuit_equations_part.h"
#include "circuit/circuit_guard.h"
#include "circuit/circuit_levels.h"
#include "circuit/circuit_projection.h"

#define MAX_ITERATIONS  100    // 50 suffice without junctions; limiting takes steps of its own
#define HELD_ITERATIONS 25     // in the loop
#define TOLERANCE       1e-12  // of the update, scaled
#define ACCEPTED        1e-8   // round-off may keep ill-conditioned circuits from the tolerance
// sources and states in a row that the first guess follows
#define GUESS_PASSES 8
#define KEPT         1e-9  // a prescribed state counts as kept
#define SMALL        1e-9  // series resistance and parallel conductance [Ohm], [S]
#define PENALTY      1e10
#define PASSES       5
#define REGULAR      1e-15  // pivots of a graded, regular matrix: cut-off junctions have 1e-14 S
#define GMIN_FIRST   1e-2   // continuation [S]
#define GMIN_STEPS   12     // decades
#define MAX_ASKED    256    // levels that are asked for their effect, one solution each

typedef enum row_kind { ROW_NONE, ROW_VOLTAGE, ROW_CURRENT, ROW_DEPENDENT } row_kind;

struct yoke_start {
  yoke_equations* equations;
  yoke_signals* signals;
  const yoke_network* network;
  yoke_arena* arena;
  yoke_sparse_kernel kernel;
  uint32_t n;
  uint8_t* rows;      // row_kind of each element
  double* target;     // what the row prescribes
  uint32_t* parents;  // graph search
  uint32_t n_dependent;
  bool is_soft;  // with the small resistances and conductances
  bool is_ready;
  yoke_sparse *matrix, *joint;
  bool has_matrix, has_joint;  // factored
  yoke_sparse_pattern wide;    // of the joint system
  // places of entries of J above and below, of Ahat, and of rates of dependent elements
  uint32_t *wide_J, *wide_J_low, *wide_ahat, *wide_rate;
  yoke_projection* projection;
  double *f, *J, *ahat, *bhat, *values, *rhs;
  double *x, *xdot, *v_limited;
  // of each node, NaN: none; NULL: nodes have none. Those that closed a loop are not in `levels`.
  const double* level;
  yoke_levels levels;
};

// ------------------------------------------------------------------------------------------
// creation

yoke_status yoke__start_create(yoke_equations* equations, yoke_signals* signals,
                               const yoke_network* network, yoke_sparse_kernel kernel,
                               yoke_arena* arena, yoke_start** out) {
  yoke_start* self = yoke__arena_take(arena, sizeof *self);
  if (self == NULL) {
    return YOKE_NO_MEMORY;
  }
  *out = self;
  const size_t n = equations->n;
  *self = (yoke_start){.equations = equations,
                       .signals = signals,
                       .network = network,
                       .arena = arena,
                       .kernel = kernel,
                       .n = equations->n};
  self->rows = yoke__arena_array(arena, network->n_elements, sizeof *self->rows);
  self->target = yoke__arena_array(arena, network->n_elements, sizeof(double));
  self->parents = yoke__arena_array(arena, network->n_nodes, sizeof(uint32_t));
  self->J = yoke__arena_array(arena, equations->nnz, sizeof(double));
  self->ahat = yoke__arena_array(arena, equations->ahat_nnz, sizeof(double));
  double* vectors = yoke__arena_array(arena, 6 * n, sizeof(double));
  self->v_limited = yoke__arena_array(arena, network->n_elements, sizeof(double));
  if (self->rows == NULL || self->target == NULL || self->parents == NULL || self->J == NULL ||
      self->ahat == NULL || vectors == NULL || self->v_limited == NULL) {
    return YOKE_NO_MEMORY;
  }
  self->f = vectors;
  self->bhat = vectors + n;
  self->x = vectors + 2 * n;
  self->xdot = vectors + 3 * n;
  self->rhs = vectors + 4 * n;  // 2n
  // rows of states replace differential ones: every entry may change
  const yoke_sparse_pattern pattern = {
      .n = equations->J.n, .starts = equations->J.starts, .rows = equations->J.rows};
  const yoke_sparse_settings settings = {.kernel = kernel, .n_slots = 1};
  YOKE_TRY(yoke__sparse_create(&pattern, &settings, arena, &self->matrix));
  const yoke_projection_settings projection = {.kind = YOKE_PROJECTION_AUTO,
                                               .is_scaled = true,
                                               .alpha = PENALTY,
                                               .n_passes = PASSES,
                                               .well_conditioned = REGULAR,
                                               .kernel = kernel};
  return yoke__projection_create(&projection, equations, signals, arena, &self->projection);
}

void yoke__start_destroy(yoke_start** self) {
  if (*self != NULL) {
    yoke__sparse_destroy(&(*self)->matrix);
    yoke__sparse_destroy(&(*self)->joint);
    yoke__projection_destroy(&(*self)->projection);
    yoke__levels_destroy(&(*self)->levels);
    *self = NULL;
  }
}

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
  if (starts == NULL || rows == NULL || self->wide_J == NULL || self->wide_J_low == NULL ||
      self->wide_ahat == NULL || self->wide_rate == NULL || self->values == NULL) {
    return YOKE_NO_MEMORY;
  }
  uint32_t at = 0;
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

static yoke_status make_joint(yoke_start* self) {
  if (self->joint != NULL) {
    return YOKE_OK;
  }
  YOKE_TRY(make_joint_pattern(self));
  const yoke_sparse_settings settings = {.kernel = self->kernel, .n_slots = 1};
  return yoke__sparse_create(&self->wide, &settings, self->arena, &self->joint);
}

// ------------------------------------------------------------------------------------------
// which row each state gets

static uint32_t root_of(uint32_t parents[], uint32_t node) {
  while (parents[node] != node) {
    parents[node] = parents[parents[node]];
    node = parents[node];
  }
  return node;
}

// Joins two nodes; false if they were joined before.
static bool join(uint32_t parents[], uint32_t a, uint32_t b) {
  const uint32_t x = root_of(parents, a);
  const uint32_t y = root_of(parents, b);
  parents[x] = y;
  return x != y;
}

// every node by itself, fixed ones as one
static void reset_graph(yoke_start* self) {
  uint32_t fixed = YOKE_NO_INDEX;
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
    return self->equations->stamps[e].law == NULL && self->signals->element[e] == 0.0;
  }
  return element->kind == YOKE_CURRENT || element->kind == YOKE_VCCS ||
         element->kind == YOKE_CCCS || is_open(self, e) || self->rows[e] == ROW_CURRENT;
}

// The row a state would like to have; its value.
static void choose_rows(yoke_start* self, const double state[]) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const bool is_free = isnan(state[e]);
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    self->rows[e] = ROW_NONE;
    self->target[e] = is_free ? 0.0 : state[e];
    // the charge of a junction at its operating point: no row, its own equation at rest
    if (self->equations->stamps[e].is_dynamic &&
        !(is_free && self->network->elements[e].kind == YOKE_JUNCTION)) {
      self->rows[e] = is_inductor == is_free ? ROW_VOLTAGE : ROW_CURRENT;
    }
  }
}

static bool has_level(const yoke_start* self, uint32_t node) {
  return self->level != NULL && !isnan(self->level[node]);
}

// Levels that close no loop with sources and prescribed capacitors: those that hold their nodes.
static void join_levels(yoke_start* self) {
  yoke_levels* levels = &self->levels;
  levels->n = 0;
  for (uint32_t v = 0; v < self->network->n_nodes; v++) {
    if (has_level(self, v) && join(self->parents, v, 0)) {
      levels->nodes[levels->n] = v;
      levels->values[levels->n++] = self->level[v];
    }
  }
}

// Loops of rows on voltages: prescribed capacitors come first, then levels, then free inductors.
static void break_loops(yoke_start* self, const double state[]) {
  const yoke_network* network = self->network;
  reset_graph(self);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (is_voltage_like(self, e)) {
      join(self->parents, network->elements[e].a, network->elements[e].b);
    }
  }
  for (int round = 0; round < 2; round++) {
    for (uint32_t e = 0; e < network->n_elements; e++) {
      const bool is_free = isnan(state[e]);
      if (self->rows[e] == ROW_VOLTAGE && is_free == (round == 1) &&
          !join(self->parents, network->elements[e].a, network->elements[e].b)) {
        self->rows[e] = is_free ? ROW_CURRENT : ROW_DEPENDENT;
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
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (!is_current_like(self, e)) {
      join(self->parents, network->elements[e].a, network->elements[e].b);
    }
  }
  for (uint32_t i = 0; self->level != NULL && i < self->levels.n; i++) {
    join(self->parents, self->levels.nodes[i], 0);
  }
  for (int round = 0; round < 2; round++) {
    for (uint32_t e = network->n_elements; e-- > 0;) {
      const bool is_free = isnan(state[e]);
      if (self->rows[e] == ROW_CURRENT && is_free == (round == 0) &&
          join(self->parents, network->elements[e].a, network->elements[e].b)) {
        self->rows[e] = is_free ? ROW_VOLTAGE : ROW_DEPENDENT;
      }
    }
  }
}

static void classify(yoke_start* self, const double state[]) {
  choose_rows(self, state);
  break_loops(self, state);
  break_cuts(self, state);
  self->n_dependent = 0;
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    self->n_dependent += self->rows[e] == ROW_DEPENDENT;
  }
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
  self->f[stamp->row] = by_v * (x[stamp->a] - x[stamp->b]) + by_i * x[stamp->i] - self->target[e];
  self->J[stamp->slot_a] += by_v;
  self->J[stamp->slot_b] -= by_v;
  self->J[stamp->slot_i] += by_i;
}

static void write_state_rows(const yoke_start* self) {
  const double soft = self->is_soft ? -SMALL : 0.0;
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    switch ((row_kind)self->rows[e]) {
    case ROW_VOLTAGE:
      write_row(self, e, 1.0, soft);
      break;
    case ROW_CURRENT:
      write_row(self, e, soft, 1.0);
      break;
    case ROW_DEPENDENT:
      if (self->is_soft) {
        write_row(self, e, is_inductor ? soft : 1.0, is_inductor ? 1.0 : soft);
      }
      break;
    case ROW_NONE:
      break;
    }
  }
}

// The joint system at x and xdot: values, and rhs with the residual of 2n rows.
static void assemble_joint(yoke_start* self) {
  const yoke_equations* equations = self->equations;
  const uint32_t n = self->n;
  double* low = self->rhs;       // rows of x
  double* high = self->rhs + n;  // rows of xdot
  memset(self->values, 0, (size_t)self->wide.starts[2 * (size_t)n] * sizeof(double));

  // below: Phi_x xdot + Phi_t and A xdot + b, whose dependence on x is J with the rates as they are
  yoke__equations_derivatives(self->equations, self->x, NULL, self->ahat, self->bhat);
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
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] != ROW_DEPENDENT) {
      continue;
    }
    const yoke_stamp* stamp = &equations->stamps[e];
    const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
    clear_row(self, stamp);
    self->f[stamp->row] =
        is_inductor ? self->xdot[stamp->a] - self->xdot[stamp->b] : self->xdot[stamp->i];
    if (is_inductor) {
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

static void assemble_plain(yoke_start* self) {
  yoke__equations_evaluate(self->equations, self->x, 0.0, NULL, self->v_limited, self->f, self->J);
  write_state_rows(self);
  if (self->level != NULL) {
    yoke__levels_write(&self->levels, self->equations, self->x, self->f, self->J);
  }
  memcpy(self->rhs, self->f, self->n * sizeof(double));
}

// ------------------------------------------------------------------------------------------
// Newton's method

typedef struct newton {
  bool is_joint;
  bool may_take_heap;
  int max_iterations;
  int n_iterations;
  double update;   // the last one, scaled
  uint32_t worst;  // column of the largest update
  int32_t singular_column;
} newton;

static yoke_sparse* matrix_of(const yoke_start* self, const newton* run) {
  return run->is_joint ? self->joint : self->level != NULL ? self->levels.matrix : self->matrix;
}

// With the pivots at hand; where they fail, or there are none, with new ones.
static yoke_status factor(yoke_start* self, newton* run) {
  yoke_sparse* matrix = matrix_of(self, run);
  const bool is_levelled = self->level != NULL;
  bool* has_factors = run->is_joint ? &self->has_joint
                      : is_levelled ? &self->levels.has_factors
                                    : &self->has_matrix;
  const double* values = run->is_joint ? self->values
                         : is_levelled ? self->levels.entries
                                       : self->J;
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
static void move(yoke_start* self, newton* run) {
  run->update = 0.0;
  for (uint32_t j = 0; j < self->n; j++) {
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
  for (uint32_t j = 0; run->is_joint && j < self->n; j++) {
    self->xdot[j] -= self->rhs[self->n + j];
  }
}

static yoke_status iterate(yoke_start* self, newton* run) {
  bool is_limited = false;
  yoke__equations_unlimit(self->equations, self->x, self->v_limited);
  run->update = 0.0;
  for (int i = 0; i < run->max_iterations; i++) {
    run->n_iterations++;
    if (run->is_joint) {
      assemble_joint(self);
    } else {
      assemble_plain(self);
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
    const bool is_stalled = i > 0 && run->update < ACCEPTED && run->update >= 0.5 * last;
    if (!was_limited && !is_limited && (run->update < TOLERANCE || is_stalled)) {
      return YOKE_OK;
    }
  }
  return run->update < ACCEPTED && !is_limited ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// ------------------------------------------------------------------------------------------
// the whole

// Electric nodes that prescribed states and sources lead to from known ones; the others at `rest`.
// Laws such as 1000/v(dc) are meant for values near these. xdot marks what is known meanwhile.
static void guess_voltages(yoke_start* self, double rest) {
  const yoke_network* network = self->network;
  double* is_known = self->xdot;
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    is_known[v] = network->nodes[v].is_fixed ? 1.0 : 0.0;
  }
  bool is_changed = true;
  for (int pass = 0; is_changed && pass < GUESS_PASSES; pass++) {
    is_changed = false;
    for (uint32_t e = 0; e < network->n_elements; e++) {
      const yoke_element* element = &network->elements[e];
      const bool is_source = element->kind == YOKE_VOLTAGE;
      const bool is_state = element->kind == YOKE_CAPACITOR && self->rows[e] == ROW_VOLTAGE;
      const uint32_t a = element->a;
      const uint32_t b = element->b;
      if (element->domain != YOKE_ELECTRIC || !(is_source || is_state) ||
          is_known[a] == is_known[b]) {
        continue;
      }
      const double u = is_source ? self->signals->element[e] : self->target[e];
      self->x[is_known[a] > 0.0 ? b : a] = is_known[a] > 0.0 ? self->x[a] - u : self->x[b] + u;
      is_known[a] = is_known[b] = 1.0;
      is_changed = true;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (is_known[v] == 0.0 && network->nodes[v].domain == YOKE_ELECTRIC) {
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
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->domain == YOKE_THERMAL && self->rows[e] == ROW_VOLTAGE &&
        network->nodes[element->b].is_fixed && self->target[e] != 0.0) {
      sum += self->target[e] + self->signals->node[element->b];
      n++;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (has_level(self, v) && network->nodes[v].domain == YOKE_THERMAL) {
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
static yoke_status continue_gmin(yoke_start* self, newton* run) {
  const yoke_equations* equations = self->equations;
  const double wanted = equations->stamps[equations->junctions[0]].junction.gmin;
  double gmin = GMIN_FIRST;
  yoke_status status = YOKE_OK;
  guess(self);
  for (int i = 0; status >= 0 && i < GMIN_STEPS && gmin > wanted; i++) {
    yoke__equations_set_gmin(self->equations, gmin);
    status = iterate(self, run);
    gmin *= 0.1;
  }
  yoke__equations_set_gmin(self->equations, wanted);
  return status < 0 ? status : iterate(self, run);
}

static yoke_status solve_rows(yoke_start* self, newton* run) {
  guess(self);
  yoke_status status = iterate(self, run);
  // a law may not be defined where all voltages are 0
  for (int i = 0; i < 2 && status == YOKE_SINGULAR && self->signals->n_state_elements > 0; i++) {
    guess(self);
    guess_voltages(self, (double)i);
    status = iterate(self, run);
  }
  if (status == YOKE_NO_CONVERGENCE && self->equations->n_junctions > 0) {
    status = continue_gmin(self, run);
  }
  return status;
}

// A law that has no value, whatever the nodes start from that nothing leads to: said of the
// element.
static bool blame_law(yoke_start* self, yoke_messages* messages) {
  char reason[256];
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
  const yoke_element* element = &self->network->elements[e];
  yoke__guard_explain(element, false, value, self->signals->t, reason, sizeof reason);
  yoke__error(messages, element->place, "%s", reason);
  return true;
}

static void explain(yoke_start* self, yoke_status status, const newton* run,
                    yoke_messages* messages) {
  const yoke_place place = {.source = self->network->path};
  char name[96];
  if (messages == NULL || blame_law(self, messages)) {
    return;
  }
  if (status == YOKE_SINGULAR) {
    const char* known = run->singular_column < 0 ? "a value" : name;
    yoke__equations_name(self->equations, (uint32_t)run->singular_column % self->n, name,
                         sizeof name);
    yoke__error(
        messages, place,
        "the circuit has no unique solution at the start: %s cannot be determined (a part "
        "without path to ground, a loop of voltage sources, a cut set of current sources%s)",
        known,
        self->signals->n_state_elements > 0 ? ", an expression that is not defined there" : "");
  } else if (status == YOKE_NO_CONVERGENCE) {
    yoke__equations_name(self->equations, run->worst, name, sizeof name);
    yoke__error(messages, place,
                "no initial values found: %s still changes by %.3g after %d iterations; start "
                "values (IC=) closer to the solution may help",
                name, run->update, run->n_iterations);
  }
}

// Rates where the joint system was not needed. Signals with rates are up to date.
static yoke_status find_rates(yoke_start* self) {
  memset(self->xdot, 0, self->n * sizeof(double));
  YOKE_TRY(yoke__projection_start(self->projection, self->x, NULL));
  return yoke__projection_apply(self->projection, self->x, self->xdot);
}

// Which prescribed states could not be kept, and how well Phi is satisfied.
static void fill_report(yoke_start* self, const double state[], const newton* run,
                        yoke_start_report* report, yoke_messages* messages) {
  const yoke_equations* equations = self->equations;
  double sum = 0.0;
  yoke__equations_evaluate(self->equations, self->x, 0.0, NULL, NULL, self->f, NULL);
  for (uint32_t i = 0; i < equations->m; i++) {
    sum += self->f[i] * self->f[i];
  }
  *report = (yoke_start_report){.residual = sqrt(sum),
                                .n_iterations = run->n_iterations,
                                .is_least_squares = self->n_dependent > 0 || self->is_soft};
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] == ROW_NONE || isnan(state[e])) {
      continue;
    }
    const yoke_stamp* stamp = &equations->stamps[e];
    const yoke_element* element = &self->network->elements[e];
    const double value =
        element->kind == YOKE_INDUCTOR ? self->x[stamp->i] : self->x[stamp->a] - self->x[stamp->b];
    if (fabs(value - state[e]) > KEPT * (1.0 + fabs(state[e]))) {
      report->n_moved++;
      if (messages != NULL) {
        yoke__message_add(messages, YOKE_WARNING, element->place,
                          "'%s' cannot start at %.9g: the rest of the circuit makes it %.9g",
                          element->name, state[e], value);
      }
    }
  }
}

// The states of x as what is prescribed.
static void read_states(const yoke_start* self, const double x[], double state[]) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->equations->stamps[e];
    state[e] =
        self->network->elements[e].kind == YOKE_INDUCTOR ? x[stamp->i] : x[stamp->a] - x[stamp->b];
  }
}

static void forget_factors(yoke_start* self) {
  self->is_soft = false;
  self->has_matrix = false;
  self->has_joint = false;
}

// ------------------------------------------------------------------------------------------
// levels

static void warn_level(const yoke_start* self, uint32_t node, const char* why, double value,
                       yoke_messages* messages) {
  const yoke_network_node* at = &self->network->nodes[node];
  char number[40] = "";
  if (!isnan(value)) {
    (void)snprintf(number, sizeof number, "%.9g", value);
  }
  yoke__message_add(
      messages, YOKE_WARNING, at->start_place, ".ic %s(%.60s)=%.9g has no effect: %s%s",
      at->domain == YOKE_THERMAL ? "t" : "v", at->name, self->level[node], why, number);
}

// Levels that the rest of the circuit overrules, and those that no state depends on.
static void check_levels(yoke_start* self, yoke_messages* messages) {
  const yoke_levels* levels = &self->levels;
  uint32_t i = 0;
  for (uint32_t v = 0; v < self->network->n_nodes && messages != NULL; v++) {
    if (!has_level(self, v)) {
      continue;
    }
    const bool is_held = i < levels->n && levels->nodes[i] == v;
    if (!is_held && fabs(self->x[v] - self->level[v]) > KEPT * (1.0 + fabs(self->level[v]))) {
      warn_level(self, v, "sources and other start values make it ", self->x[v], messages);
    } else if (is_held && i < MAX_ASKED &&
               !yoke__levels_has_effect(levels, self->equations, i, self->rhs)) {
      warn_level(self, v, "no capacitor, inductor or charge of a diode depends on it", (double)NAN,
                 messages);
    }
    i += is_held;
  }
}

// What follows from others needs no rates here: only voltages of capacitors and currents of
// inductors are taken from the operating point.
static void release_dependent(yoke_start* self) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] == ROW_DEPENDENT) {
      const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
      self->rows[e] = is_inductor ? ROW_VOLTAGE : ROW_CURRENT;
      self->target[e] = 0.0;
    }
  }
  self->n_dependent = 0;
}

// The operating point with nodes at their levels, into x; its states into held, where nothing else
// is prescribed.
static yoke_status solve_levels(yoke_start* self, const double state[], const double level[],
                                double held[], yoke_messages* messages) {
  const uint32_t n_nodes = self->network->n_nodes;
  uint32_t* nodes = yoke__arena_array(self->arena, n_nodes, sizeof *nodes);
  double* values = yoke__arena_array(self->arena, n_nodes, sizeof *values);
  if (nodes == NULL || values == NULL) {
    return YOKE_NO_MEMORY;
  }
  self->level = level;
  self->levels = (yoke_levels){.nodes = nodes, .values = values};
  classify(self, state);
  release_dependent(self);
  YOKE_TRY(yoke__levels_create(&self->levels, self->equations, self->kernel, self->arena));
  newton run = {.may_take_heap = true, .max_iterations = MAX_ITERATIONS, .singular_column = -1};
  yoke_status status = solve_rows(self, &run);
  if (status == YOKE_SINGULAR || status == YOKE_NO_CONVERGENCE) {
    self->is_soft = true;
    self->levels.has_factors = false;
    status = solve_rows(self, &run);
  }
  if (status < 0) {
    explain(self, status, &run, messages);
    return status;
  }
  check_levels(self, messages);
  read_states(self, self->x, held);
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    held[e] = isnan(state[e]) ? held[e] : state[e];
  }
  return YOKE_OK;
}

// The states of the operating point with levels; the matrices are as before afterwards.
static yoke_status find_levels(yoke_start* self, const double state[], const double level[],
                               const double** out, yoke_messages* messages) {
  bool has_levels = false;
  for (uint32_t v = 0; level != NULL && v < self->network->n_nodes; v++) {
    has_levels |= !isnan(level[v]);
  }
  *out = state;
  if (!has_levels) {
    return YOKE_OK;
  }
  double* held = yoke__arena_array(self->arena, self->network->n_elements, sizeof *held);
  if (held == NULL) {
    return YOKE_NO_MEMORY;
  }
  forget_factors(self);
  const yoke_status status = solve_levels(self, state, level, held, messages);
  yoke__levels_destroy(&self->levels);
  self->level = NULL;
  *out = held;
  return status;
}

// ------------------------------------------------------------------------------------------
// the initial configuration

// From the last point if there is one, else from a guess.
static yoke_status solve_from(yoke_start* self, newton* run, bool is_warm) {
  if (is_warm) {
    memset(self->xdot, 0, self->n * sizeof(double));
    const yoke_status status = iterate(self, run);
    if (status != YOKE_SINGULAR && status != YOKE_NO_CONVERGENCE) {
      return status;
    }
  }
  return solve_rows(self, run);
}

yoke_status yoke__start_solve(yoke_start* self, const double wanted[], const double level[],
                              double t, double x[], double xdot[], yoke_start_report* report,
                              yoke_messages* messages) {
  const double* state = wanted;
  yoke__signals_update_rates(self->signals, t);
  YOKE_TRY(find_levels(self, wanted, level, &state, messages));
  const bool is_warm = state != wanted;
  classify(self, state);
  forget_factors(self);
  newton run = {.is_joint = self->n_dependent > 0,
                .may_take_heap = true,
                .max_iterations = MAX_ITERATIONS,
                .singular_column = -1};
  if (run.is_joint) {
    YOKE_TRY(make_joint(self));
  }
  yoke_status status = solve_from(self, &run, is_warm);
  if (status == YOKE_SINGULAR || status == YOKE_NO_CONVERGENCE) {
    // bound by more than loops and cut sets
    self->is_soft = true;
    run.is_joint = false;
    status = solve_rows(self, &run);
  }
  if (status >= 0 && !run.is_joint) {
    status = find_rates(self);
  }
  if (status < 0) {
    explain(self, status, &run, messages);
    return status;
  }
  fill_report(self, state, &run, report, messages);
  memcpy(x, self->x, self->n * sizeof(double));
  memcpy(xdot, self->xdot, self->n * sizeof(double));
  return YOKE_OK;
}

yoke_status yoke__start_prepare(yoke_start* self, double t, const double x[]) {
  self->is_ready = false;
  yoke__signals_update_rates(self->signals, t);
  read_states(self, x, self->v_limited);
  classify(self, self->v_limited);
  forget_factors(self);
  newton run = {.is_joint = self->n_dependent > 0, .may_take_heap = true, .max_iterations = 1};
  if (run.is_joint) {
    YOKE_TRY(make_joint(self));
  }
  memcpy(self->x, x, self->n * sizeof(double));
  memset(self->xdot, 0, self->n * sizeof(double));
  yoke_status status = iterate(self, &run);
  if (status == YOKE_SINGULAR) {
    self->is_soft = true;
    run.is_joint = false;
    status = iterate(self, &run);
  }
  if (status < 0 && status != YOKE_NO_CONVERGENCE) {
    return status;
  }
  if (!run.is_joint) {
    YOKE_TRY(yoke__projection_start(self->projection, x, NULL));
  }
  self->is_ready = true;
  return YOKE_OK;
}

yoke_status yoke__start_hold(yoke_start* self, double t, double x[], double xdot[]) {
  if (!self->is_ready) {
    return YOKE_SINGULAR;
  }
  yoke__signals_update_rates(self->signals, t);
  read_states(self, x, self->v_limited);
  memcpy(self->target, self->v_limited, self->network->n_elements * sizeof(double));
  newton run = {.is_joint = self->n_dependent > 0 && !self->is_soft,
                .max_iterations = HELD_ITERATIONS};
  memcpy(self->x, x, self->n * sizeof(double));
  memset(self->xdot, 0, self->n * sizeof(double));
  YOKE_TRY(iterate(self, &run));
  if (xdot != NULL && !run.is_joint) {
    yoke__projection_invalidate(self->projection);
    YOKE_TRY(yoke__projection_apply(self->projection, self->x, self->xdot));
  }
  memcpy(x, self->x, self->n * sizeof(double));
  if (xdot != NULL) {
    memcpy(xdot, self->xdot, self->n * sizeof(double));
  }
  return YOKE_OK;
}

yoke_status yoke__circuit_initial(yoke_equations* equations, yoke_signals* signals,
                                  const yoke_network* network, const double state[],
                                  const double level[], double t, double x[], double xdot[],
                                  yoke_start_report* report, yoke_messages* messages) {
  yoke_arena arena = {0};
  yoke_start* self = NULL;
  yoke_status status =
      yoke__start_create(equations, signals, network, YOKE_SPARSE_AUTO, &arena, &self);
  if (status >= 0) {
    status = yoke__start_solve(self, state, level, t, x, xdot, report, messages);
  }
  yoke__start_destroy(&self);
  yoke__arena_free(&arena);
  return status;
}
