// The matrix of the `nodal` engine: which branch writes where, with what coefficients, and the
// factors.
//
// Companion models for xdot = a0 x + c (circuit_method.h), R, L and 1/C being sums over the members
// of a branch:
//
//   inductors    v - E = R i + L (a0 i + c)    i = g (v - E) - g L c,       g = 1 / (R + a0 L)
//   capacitors   i = C (a0 v_C + c)            i = g (v - E) + (g / a0) c,  g = a0 C / (1 + a0 R C)
//
// Three layers of values: `base` of everything constant, `full` with the switches as they stand,
// and the values of one iteration with junctions and laws (circuit_nodal_law.c).
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/nodal/circuit_nodal.h"

// growth of the factors costs as many digits of the solution: ten are to be left
#define GROWTH_LIMIT 1e6
// factors of no more switch states than this are kept
#define MAX_ENTRIES 4096

// One place in the matrix that somebody wants to write to.
typedef struct request {
  uint32_t row, column;
  uint32_t* to;
  bool is_varying;
} request;

typedef struct layout {
  yoke_nodal* self;
  request* requests;
  size_t n, n_max;
  size_t n_unwanted;  // from the end on
} layout;

// -------------------------------------------------------------------------------------------------
// coefficients

yoke_nodal_sums yoke__nodal_sum_members(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  yoke_nodal_sums sums = {0};
  for (uint32_t i = 0; i < branch->n; i++) {
    const uint32_t e = self->members[branch->first + i].element;
    const double value = self->core->signals->element[e];
    // R, L and 1/C of a chain add up
    switch (self->core->network->elements[e].kind) {
    case YOKE_RESISTOR:
      sums.r += value;
      break;
    case YOKE_INDUCTOR:
      sums.l += value;
      break;
    case YOKE_CAPACITOR:
      sums.elastance += 1.0 / value;
      break;
    default:
      break;
    }
  }
  return sums;
}

// What the method does from one step to the next when it has one stage and one past value:
// c := w x + d xdot with xdot = a0 x + c, and j = s c.
static void condense(yoke_nodal* self, yoke_nodal_set* set, uint32_t state) {
  // j' = s c' = s (w + d a0) x + d j with x = x_v (v - E) + i j
  const yoke_method_stage* stage = &self->core->plan.regular.stages[0];
  const double d = stage->n_d > 0 ? stage->d_weight[0] : 0.0;
  const double alpha = set->s[state] * (stage->x_weight[0] + d * stage->a0);
  const double i = self->state_i[state];
  set->x_v[state] = i * set->g[state] + self->state_v[state];
  set->from_v[state] = alpha * set->x_v[state];
  set->from_j[state] = alpha * i + d;
}

static void fill_state(yoke_nodal* self, const yoke_nodal_branch* branch, yoke_nodal_sums sums) {
  const uint32_t k = branch->state;
  const bool is_inductive = sums.elastance == 0.0;

  // the state is x = v_part (v - E) + i_part i: of inductors i itself, of capacitors v - E - R i
  self->state_i[k] = is_inductive ? 1.0 : -sums.r;
  self->state_v[k] = is_inductive ? 0.0 : 1.0;
  for (uint32_t a = 0; a < self->n_sets; a++) {
    yoke_nodal_set* set = &self->sets[a];
    // g = 1 / (R + a0 L), j = -g L c
    if (is_inductive) {
      set->g[k] = 1.0 / (sums.r + set->a0 * sums.l);
      set->s[k] = -set->g[k] * sums.l;
    } else {
      // g = a0 C / (1 + a0 R C), j = (g / a0) c
      const double capacitance = 1.0 / sums.elastance;
      set->s[k] = capacitance / (1.0 + set->a0 * sums.r * capacitance);
      set->g[k] = set->a0 * set->s[k];
    }
    if (branch->emf != YOKE_NO_INDEX) {
      set->emf_g[branch->emf] = set->g[k];
    }
    condense(self, set, k);
  }
}

// g of an emf that is the same for every a0
static void fill_emf(yoke_nodal* self, const yoke_nodal_branch* branch, double g) {
  for (uint32_t a = 0; branch->emf != YOKE_NO_INDEX && a < self->n_sets; a++) {
    self->sets[a].emf_g[branch->emf] = g;
  }
}

static void fill_coupling(yoke_nodal* self, yoke_nodal_coupling* coupling) {
  const double* value = self->core->signals->element;
  const uint32_t one = self->members[self->branches[coupling->branch].first].element;
  const uint32_t two = self->members[self->branches[coupling->other].first].element;

  // M = k sqrt(L1 L2)
  coupling->m = one == two ? value[one] : coupling->k * sqrt(value[one] * value[two]);
}

static void fill_branch(yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
  const double* values = self->core->signals->element;
  const double value = values[self->members[branch->first].element];
  for (uint32_t i = 0; i < branch->n; i++) {
    const uint32_t e = self->members[branch->first + i].element;
    self->stamped[e] = values[e];
  }
  switch (branch->kind) {
  case YOKE_NODAL_STATE:
    fill_state(self, branch, sums);
    break;
  // a chain of resistors: i = (v - E) / R
  case YOKE_NODAL_STATIC:
    self->coefficient[b] = 1.0 / sums.r;
    fill_emf(self, branch, self->coefficient[b]);
    break;
  case YOKE_NODAL_JUNCTION:
    // the series resistance of a junction, which is solved with it
    self->junctions.rs[branch->item] = sums.r;
    fill_emf(self, branch, 0.0);
    break;
  case YOKE_NODAL_GAIN:
    self->coefficient[b] = value;
    break;
  case YOKE_NODAL_VOLTAGE:
    self->coefficient[b] = branch->c != YOKE_NO_INDEX ? value : 0.0;
    fill_emf(self, branch, -1.0);
    break;
  default:
    break;
  }
}

static void mark_stale(yoke_nodal* self) {
  for (uint32_t a = 0; a < self->n_sets; a++) {
    self->sets[a].is_base_stale = true;
    memset(self->sets[a].is_ready, 0, self->n_entries * sizeof(bool));
  }
}

void yoke__nodal_fill_coefficients(yoke_nodal* self) {
  for (uint32_t b = 0; b < self->n_branches; b++) {
    fill_branch(self, b);
  }
  for (uint32_t i = 0; i < self->n_couplings; i++) {
    fill_coupling(self, &self->couplings[i]);
  }
  mark_stale(self);
}

static bool has_changed(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  bool is_changed = false;
  for (uint32_t i = 0; i < branch->n; i++) {
    const uint32_t e = self->members[branch->first + i].element;
    const yoke_element_kind kind = self->core->network->elements[e].kind;
    is_changed |= kind != YOKE_VOLTAGE && self->stamped[e] != self->core->signals->element[e];
  }
  return is_changed;
}

void yoke__nodal_follow_values(yoke_nodal* self) {
  bool is_changed = false;
  for (uint32_t i = 0; i < self->n_moving; i++) {
    const uint32_t b = self->moving[i];
    if (has_changed(self, &self->branches[b])) {
      fill_branch(self, b);
      is_changed = true;
    }
  }
  if (is_changed) {
    for (uint32_t i = 0; i < self->n_couplings; i++) {
      fill_coupling(self, &self->couplings[i]);
    }
    mark_stale(self);
  }
}

// -------------------------------------------------------------------------------------------------
// values

static void add_pairs(double values[], const uint32_t at[4], const double sign[2], double g) {
  // current g (V_p - V_q) in the rows of both ends
  values[at[0]] += sign[0] * g;
  values[at[1]] -= sign[0] * g;
  values[at[2]] += sign[1] * g;
  values[at[3]] -= sign[1] * g;
}

// The current in Kirchhoff's law of the ends, and in its own row where that defines it as a
// current.
static void add_current(double values[], const yoke_nodal_branch* branch) {
  if (branch->current != YOKE_NO_INDEX) {
    values[branch->at_current[0]] += 1.0;
    values[branch->at_current[1]] -= 1.0;
    values[branch->at_self] += branch->kind < YOKE_NODAL_VOLTAGE ? 1.0 : 0.0;
  }
}

// v - z i = E, v - gain (V_c - V_d) = E
static void add_voltage(const yoke_nodal* self, uint32_t b, double values[]) {
  const yoke_nodal_branch* branch = &self->branches[b];
  if (yoke__nodal_first(self, branch)->kind == YOKE_SWITCH) {
    return;
  }

  // V_p - V_q - gain (V_c - V_d)
  values[branch->at[0]] += 1.0;
  values[branch->at[1]] -= 1.0;
  if (branch->law == YOKE_NO_INDEX) {
    values[branch->at_control[0]] -= self->coefficient[b];
    values[branch->at_control[1]] += self->coefficient[b];
  }
}

static void assemble_base(yoke_nodal* self, yoke_nodal_set* set) {
  double* values = set->base;
  memset(values, 0, ((size_t)self->n_values + 1) * sizeof(double));
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    add_current(values, branch);
    switch (branch->kind) {
    case YOKE_NODAL_STATIC:
      add_pairs(values, branch->at, branch->sign, self->coefficient[b]);
      break;
    case YOKE_NODAL_STATE:
      add_pairs(values, branch->at, branch->sign, set->g[branch->state]);
      break;
    case YOKE_NODAL_GAIN:
      add_pairs(values, branch->at_control, branch->sign, self->coefficient[b]);
      break;
    case YOKE_NODAL_VOLTAGE:
      add_voltage(self, b, values);
      break;
    case YOKE_NODAL_COUPLED:
      values[branch->at[0]] += 1.0;
      values[branch->at[1]] -= 1.0;
      break;
    default:
      break;
    }
  }
  for (uint32_t i = 0; i < self->n_couplings; i++) {
    // v - a0 (L i + M i') = ...
    values[self->couplings[i].at] -= set->a0 * self->couplings[i].m;
  }
}

static void add_switch(const yoke_nodal* self, uint32_t i, double values[]) {
  const yoke_nodal_branch* branch = &self->branches[self->switches[i]];
  const yoke_switch_model* model = yoke__nodal_first(self, branch)->switching;
  const bool is_closed = self->is_closed[i];
  if (branch->kind == YOKE_NODAL_SWITCH) {
    // conductance of the switch as it stands
    add_pairs(values, branch->at, branch->sign, 1.0 / (is_closed ? model->r_on : model->r_off));
    return;
  }
  // without resistance: V_a - V_b = R_on I or (V_a - V_b) / R_off = I
  const double g = is_closed ? 1.0 : 1.0 / model->r_off;
  values[branch->at[0]] += g;
  values[branch->at[1]] -= g;
  values[branch->at_self] -= is_closed ? model->r_on : 1.0;
}

void yoke__nodal_assemble(yoke_nodal* self, uint32_t a) {
  yoke_nodal_set* set = &self->sets[a];
  if (set->is_base_stale) {
    // constant part, made again only when an element moved
    assemble_base(self, set);
    set->is_base_stale = false;
    set->is_full_stale = true;
  }
  if (set->is_full_stale) {
    // the switches on top
    memcpy(set->full, set->base, ((size_t)self->n_values + 1) * sizeof(double));
    for (uint32_t i = 0; i < self->n_switches; i++) {
      add_switch(self, i, set->full);
    }
    // largest entry: rounding of sums of currents is measured by it
    set->largest = 0.0;
    for (uint32_t i = 0; i < self->n_values; i++) {
      set->largest = fmax(set->largest, fabs(set->full[i]));
    }
    set->is_full_stale = false;
  }
}

// -------------------------------------------------------------------------------------------------
// factors

yoke_status yoke__nodal_refactor(yoke_nodal* self, uint32_t a, size_t slot, const double values[]) {
  yoke_circuit_core* core = self->core;
  yoke_sparse* lu = self->sets[a].lu;
  core->counts.n_refactors++;

  // same pivots as before; if the factors grow, new ones
  if (self->n == 0 || yoke__sparse_refactor(lu, slot, values) >= 0) {
    return YOKE_OK;
  }
  core->counts.n_repivots++;
  const yoke_status status = yoke__sparse_repivot(lu, slot, values);
  if (status < 0) {
    yoke__circuit_reason_set(
        &core->reason, core->network, YOKE_NO_INDEX,
        "the matrix became singular at t = %.9g s: a part of the network floats or a "
        "value is not finite",
        core->signals->t);
    return status == YOKE_FULL ? YOKE_SINGULAR : status;
  }
  return YOKE_OK;
}

yoke_status yoke__nodal_ready(yoke_nodal* self, uint32_t a) {
  yoke_nodal_set* set = &self->sets[a];
  yoke__nodal_assemble(self, a);
  if (self->n == 0 || (set->is_ready[self->entry] && !self->core->options.is_refactored &&
                       yoke__sparse_is_valid(set->lu, self->entry))) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__nodal_refactor(self, a, self->entry, set->full));
  set->is_ready[self->entry] = true;
  return YOKE_OK;
}

// Pivots are chosen with all junctions blocking: then none lies on what a junction adds off the
// diagonal, and those on the diagonal only grow when it conducts.
static void block_junctions(yoke_nodal_junctions* d) {
  for (uint32_t k = 0; k < d->n; k++) {
    // g_j = Is / (n Vt) + gmin at v = 0, in series with rs
    const double g = d->law[k].is / d->law[k].nvt + d->law[k].gmin;
    d->g[k] = g / (1.0 + g * d->rs[k]);
  }
}

yoke_status yoke__nodal_factor(yoke_nodal* self, uint32_t a, const double V[], const double c[],
                               int32_t* column) {
  yoke_nodal_set* set = &self->sets[a];
  if (self->n == 0) {
    return YOKE_OK;
  }
  yoke__nodal_assemble(self, a);
  memcpy(self->values, set->full, ((size_t)self->n_values + 1) * sizeof(double));
  yoke__nodal_linearise(self, V, set->a0, c);
  block_junctions(&self->junctions);
  yoke__nodal_stamp_laws(self, V, self->values, self->work);
  const yoke_status status = yoke__sparse_factor(set->lu, self->values, column);
  memset(set->is_ready, 0, self->n_entries * sizeof(bool));
  set->is_ready[self->entry] = status >= 0;
  return status;
}

// The switch state that has not been used for longest gives way.
void yoke__nodal_choose_entry(yoke_nodal* self) {
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < self->n_switches; i++) {
    const yoke_nodal_branch* branch = &self->branches[self->switches[i]];
    self->is_closed[i] = self->core->is_closed[self->members[branch->first].element];
  }
  for (uint32_t a = 0; a < self->n_sets; a++) {
    self->sets[a].is_full_stale = true;
  }
  self->is_switching = true;
  self->clock++;
  for (uint32_t k = 0; k < self->n_entries; k++) {
    const bool* bits = self->entry_bits + (size_t)k * self->n_switches;
    if (self->entry_used[k] != 0 && memcmp(bits, self->is_closed, self->n_switches) == 0) {
      self->core->counts.n_cached += k != self->entry;
      self->entry = k;
      self->entry_used[k] = self->clock;
      return;
    }
    oldest = self->entry_used[k] < self->entry_used[oldest] ? k : oldest;
  }
  self->entry = oldest;
  self->entry_used[oldest] = self->clock;
  memcpy(self->entry_bits + (size_t)oldest * self->n_switches, self->is_closed, self->n_switches);
  for (uint32_t a = 0; a < self->n_sets; a++) {
    self->sets[a].is_ready[oldest] = false;
  }
}

// -------------------------------------------------------------------------------------------------
// pattern

// NOLINTNEXTLINE(readability-non-const-parameter): written once the pattern is known
static void ask(layout* to, uint32_t row, uint32_t column, bool is_varying, uint32_t* where) {
  const yoke_nodal* self = to->self;

  // ground and known nodes have no row; ground has no column
  const bool is_wanted = row < self->n && column != YOKE_NO_INDEX && column != self->node_place[0];
  assert(to->n + to->n_unwanted < to->n_max);
  const size_t at = is_wanted ? to->n++ : to->n_max - ++to->n_unwanted;
  to->requests[at] = (request){row, column, where, is_varying};
}

static void ask_branch(layout* to, yoke_nodal_branch* branch, bool is_moving) {
  const yoke_nodal* self = to->self;
  const bool is_switch = yoke__nodal_first(self, branch)->kind == YOKE_SWITCH;
  const bool is_junction = branch->kind == YOKE_NODAL_JUNCTION;
  const bool has_pair = branch->kind != YOKE_NODAL_SOURCE && branch->kind != YOKE_NODAL_GAIN &&
                        branch->kind != YOKE_NODAL_LAW;
  const bool is_varying = is_moving || is_switch || is_junction;
  const bool is_current = branch->current != YOKE_NO_INDEX;
  for (int i = 0; i < 4; i++) {
    uint32_t column = i % 2 == 0 ? branch->p : branch->q;
    const uint32_t control = i % 2 == 0 ? branch->c : branch->d;
    // junctions put what is known on the right-hand side themselves
    column = is_junction && column >= self->n ? YOKE_NO_INDEX : column;
    ask(to, has_pair ? branch->row[i / 2] : YOKE_NO_INDEX, column, is_varying, &branch->at[i]);
    ask(to, branch->law == YOKE_NO_INDEX ? branch->row[i / 2] : YOKE_NO_INDEX, control, is_moving,
        &branch->at_control[i]);
  }

  // a row of its own where the current is an unknown
  const bool has_self = is_current && (branch->kind < YOKE_NODAL_VOLTAGE || is_switch);
  ask(to, has_self ? branch->current : YOKE_NO_INDEX, branch->current, is_switch, &branch->at_self);
  ask(to, is_current ? branch->p : YOKE_NO_INDEX, branch->current, false, &branch->at_current[0]);
  ask(to, is_current ? branch->q : YOKE_NO_INDEX, branch->current, false, &branch->at_current[1]);
}

static void ask_law(layout* to, yoke_nodal_law* law) {
  for (size_t k = 0; k < law->n; k++) {
    const uint32_t column = law->place[k] < to->self->n ? law->place[k] : YOKE_NO_INDEX;
    ask(to, law->row[0], column, true, &law->at[2 * k]);
    ask(to, law->row[1], column, true, &law->at[2 * k + 1]);
  }
}

static void ask_all(layout* to) {
  yoke_nodal* self = to->self;
  bool has_moving_coupling = false;
  uint32_t m = 0;
  for (uint32_t b = 0; b < self->n_branches; b++) {
    // the list of moving branches is in the same order
    const bool is_moving = m < self->n_moving && self->moving[m] == b;
    m += is_moving;
    has_moving_coupling |= is_moving && self->branches[b].kind == YOKE_NODAL_COUPLED;
    ask_branch(to, &self->branches[b], is_moving);
  }
  for (uint32_t i = 0; i < self->n_couplings; i++) {
    yoke_nodal_coupling* coupling = &self->couplings[i];
    ask(to, self->branches[coupling->branch].current, self->branches[coupling->other].current,
        has_moving_coupling, &coupling->at);
  }
  for (uint32_t i = 0; i < self->n_laws; i++) {
    ask_law(to, &self->laws[i]);
  }
}

static int compare_requests(const void* a, const void* b) {
  // by column, then by row: the order of the pattern
  const request* x = a;
  const request* y = b;
  if (x->column != y->column) {
    return x->column < y->column ? -1 : 1;
  }
  return x->row < y->row ? -1 : x->row > y->row;
}

// Equal places share one value. Fills the pattern of the unknowns' columns and the list of known
// ones.
static yoke_status number_values(yoke_nodal* self, const layout* from) {
  yoke_arena* arena = &self->core->arena;
  int32_t* starts = yoke__arena_array(arena, (size_t)self->n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(arena, from->n, sizeof *rows);
  uint8_t* varying = yoke__arena_array(arena, from->n, sizeof *varying);
  self->known_row = yoke__arena_array(arena, from->n, sizeof *self->known_row);
  self->known_place = yoke__arena_array(arena, from->n, sizeof *self->known_place);
  YOKE_TRY(yoke__arena_status(arena));
  uint32_t count = 0;

  // equal places share a value; columns of known nodes go to the right-hand side
  for (size_t i = 0; i < from->n; i++) {
    const request* r = &from->requests[i];
    const bool is_new = i == 0 || compare_requests(r, r - 1) != 0;
    if (is_new && r->column < self->n) {
      rows[count] = (int32_t)r->row;
      starts[r->column + 1]++;
    } else if (is_new) {
      self->known_row[self->n_known] = r->row;
      self->known_place[self->n_known++] = r->column;
    }
    count += is_new;
    varying[count - 1] |= r->is_varying;
    *r->to = count - 1;
  }

  // starts by summing up
  for (uint32_t j = 0; j < self->n; j++) {
    starts[j + 1] += starts[j];
  }
  self->n_values = count;
  assert((uint32_t)starts[self->n] + self->n_known == count);

  // unwanted places write into one value behind the last
  for (size_t i = from->n_max - from->n_unwanted; i < from->n_max; i++) {
    *from->requests[i].to = count;  // a place that nobody reads
  }
  self->pattern = (yoke_sparse_pattern){(int32_t)self->n, starts, rows, varying};
  return YOKE_OK;
}

yoke_status yoke__nodal_lay_matrix(yoke_nodal* self) {
  layout to = {.self = self, .n_max = 11 * (size_t)self->n_branches + self->n_couplings};
  for (uint32_t i = 0; i < self->n_laws; i++) {
    to.n_max += 2 * (size_t)self->laws[i].n;
  }
  to.requests = malloc((to.n_max + 1) * sizeof *to.requests);
  YOKE_TRY_MEMORY(to.requests);
  ask_all(&to);
  qsort(to.requests, to.n, sizeof *to.requests, compare_requests);
  const yoke_status status = number_values(self, &to);
  free(to.requests);
  return status;
}

// -------------------------------------------------------------------------------------------------
// sets

// As many switch states as there are or as the memory allows.
static uint32_t count_entries(const yoke_nodal* self, size_t n_factors) {
  if (self->n_switches == 0 || !self->is_linear) {
    return 1;
  }

  // memory per switch state: factors and two vectors, for every a0
  const size_t bytes = (n_factors + 2 * (size_t)self->n) * sizeof(double) * self->n_sets;
  size_t n = self->core->options.max_factor_bytes / (bytes > 0 ? bytes : 1);
  const size_t n_states = self->n_switches < 12 ? (size_t)1 << self->n_switches : MAX_ENTRIES;
  n = n > n_states ? n_states : n;
  n = n > MAX_ENTRIES ? MAX_ENTRIES : n;
  return n > 1 ? (uint32_t)n : 1;
}

static yoke_status create_lu(const yoke_nodal* self, size_t n_slots, yoke_arena* arena,
                             yoke_sparse** out) {
  const yoke_sparse_settings settings = {
      .kernel = self->core->options.kernel, .n_slots = n_slots, .growth_limit = GROWTH_LIMIT};
  return self->n == 0 ? YOKE_OK : yoke__sparse_create(&self->pattern, &settings, arena, out);
}

// How many numbers one set of factors takes: from a trial with the values at hand.
static yoke_status count_factors(yoke_nodal* self, size_t* n_factors) {
  yoke_arena arena = {0};
  yoke_sparse* lu = NULL;
  yoke_sparse_stats stats = {0};
  yoke_status status = create_lu(self, 1, &arena, &lu);

  // a trial factorisation: fill is not known before
  if (status >= 0 && lu != NULL) {
    (void)yoke__sparse_factor(lu, self->sets[0].full, NULL);
    yoke__sparse_get_stats(lu, &stats);
  }
  yoke__sparse_destroy(&lu);
  yoke__arena_free(&arena);
  *n_factors = stats.n_factors;
  return status;
}

static yoke_status take_set(yoke_nodal* self, yoke_nodal_set* set) {
  yoke_arena* arena = &self->core->arena;
  const size_t n_s = self->n_branch_states;
  const size_t n_v = (size_t)self->n_values + 1;
  set->g = yoke__arena_array(arena, n_s, sizeof(double));
  set->s = yoke__arena_array(arena, n_s, sizeof(double));
  set->x_v = yoke__arena_array(arena, n_s, sizeof(double));
  set->from_v = yoke__arena_array(arena, n_s, sizeof(double));
  set->from_j = yoke__arena_array(arena, n_s, sizeof(double));
  set->emf_g = yoke__arena_array(arena, self->n_emfs, sizeof(double));
  set->base = yoke__arena_array(arena, n_v, sizeof(double));
  set->full = yoke__arena_array(arena, n_v, sizeof(double));
  set->is_ready = yoke__arena_array(arena, MAX_ENTRIES, sizeof(bool));
  return yoke__arena_status(arena);
}

yoke_status yoke__nodal_create_sets(yoke_nodal* self) {
  yoke_arena* arena = &self->core->arena;
  size_t n_factors = 0;
  for (uint32_t a = 0; a < self->n_sets; a++) {
    YOKE_TRY(take_set(self, &self->sets[a]));
  }
  self->n_entries = 1;
  yoke__nodal_fill_coefficients(self);
  yoke__nodal_assemble(self, 0);
  if (self->n_switches > 0 && self->is_linear) {
    YOKE_TRY(count_factors(self, &n_factors));
  }
  self->n_entries = count_entries(self, n_factors);
  self->entry_used = yoke__arena_array(arena, self->n_entries, sizeof *self->entry_used);
  self->entry_bits =
      yoke__arena_array(arena, (size_t)self->n_entries * self->n_switches, sizeof(bool));
  YOKE_TRY(yoke__arena_status(arena));
  for (uint32_t a = 0; a < self->n_sets; a++) {
    YOKE_TRY(create_lu(self, self->n_entries, arena, &self->sets[a].lu));
  }
  return YOKE_OK;
}
