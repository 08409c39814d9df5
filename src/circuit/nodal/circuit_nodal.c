// The `nodal` engine: node voltages with companion models on merged branches
// (docs/circuit_nodal.md).
#include "circuit/nodal/circuit_nodal.h"
#include "base/base_check.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// a0 of refresh is this over h: large against what a round leaves of the states' changes,
// small against the rounding of capacitor currents, which grows with it
#define REFRESH_RATIO 1e5
// names of floating nodes in a message
#define MAX_NAMES 6

typedef struct image_head {
  uint32_t head, set, kept_set;
  uint32_t is_shown, is_given;
  uint32_t unused[11];  // the numbers behind it start at 64 bytes
} image_head;

// -------------------------------------------------------------------------------------------------
// classes

// one list per kind; item: place of a branch in its list
static void list_kinds(yoke_nodal* self, uint32_t* room) {
  for (int kind = 0; kind <= YOKE_NODAL_COUPLED; kind++) {
    self->kind_list[kind] = room;
    room += self->n_of_kind[kind];
    self->n_of_kind[kind] = 0;
  }
  for (uint32_t b = 0; b < self->n_branches; b++) {
    yoke_nodal_branch* branch = &self->branches[b];
    branch->item = self->n_of_kind[branch->kind]++;
    self->kind_list[branch->kind][branch->item] = b;
    if (branch->emf != YOKE_NO_INDEX) {
      self->emf_branch[branch->emf] = b;
    }
    // both kinds of switches share one list
    if (yoke__nodal_first(self, branch)->kind == YOKE_SWITCH) {
      branch->item = self->n_switches;
      self->switches[self->n_switches++] = b;
    }
  }
}

// States of branches without emf come first.
static void number_states(yoke_nodal* self) {
  const uint32_t n = self->n_of_kind[YOKE_NODAL_STATE];
  const uint32_t* list = self->kind_list[YOKE_NODAL_STATE];
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < n; i++) {
      yoke_nodal_branch* branch = &self->branches[list[i]];
      if ((branch->emf != YOKE_NO_INDEX) == (pass == 1)) {
        const uint32_t k = self->n_states++;
        branch->state = k;
        self->state_p[k] = branch->p;
        self->state_q[k] = branch->q;
        self->state_emf[k] = branch->emf;
      }
    }
    if (pass == 0) {
      self->n_plain_states = self->n_states;
    }
  }
  self->n_branch_states = self->n_states;
  self->state_emf += self->n_plain_states;
}

static yoke_status lay_classes(yoke_nodal* self) {
  yoke_arena* arena = &self->core->arena;
  const size_t n_b = self->n_branches;
  const size_t n_s = self->n_of_kind[YOKE_NODAL_STATE];
  uint32_t* index = yoke__arena_array(arena, 4 * n_b + 3 * n_s + self->n_emfs, sizeof *index);
  double* reals =
      yoke__arena_array(arena, n_b + 2 * n_s + self->core->network->n_elements, sizeof *reals);
  self->is_closed = yoke__arena_array(arena, n_b, sizeof(bool));
  YOKE_TRY(yoke__arena_status(arena));
  self->state_p = index;
  self->state_q = index + n_s;
  self->state_emf = index + 2 * n_s;
  index += 3 * n_s;
  self->emf_branch = index;
  index += self->n_emfs;
  self->switches = index;
  self->moving = index + n_b;
  self->other_states = index + 2 * n_b;
  self->state_i = reals;
  self->state_v = reals + n_s;
  self->coefficient = reals + 2 * n_s;
  self->stamped = reals + 2 * n_s + n_b;
  assert(index + 4 * n_b == self->state_p + 4 * n_b + 3 * n_s + self->n_emfs);
  list_kinds(self, index + 3 * n_b);
  number_states(self);
  assert(self->n_branch_states == n_s && self->n_switches <= n_b);
  return YOKE_OK;
}

// Branches whose matrix entries follow time or inputs.
static void list_moving(yoke_nodal* self) {
  const yoke_signals* signals = self->core->signals;
  bool* is_moving_element = self->is_sensed;  // no longer needed; reused
  memset(is_moving_element, 0, self->core->network->n_elements * sizeof(bool));
  for (uint32_t i = 0; i < signals->n_moving_elements; i++) {
    const uint32_t e = signals->moving_elements[i];
    const yoke_element_kind kind = self->core->network->elements[e].kind;
    // moving sources change right-hand sides only
    is_moving_element[e] = kind != YOKE_VOLTAGE && kind != YOKE_CURRENT;
  }
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    bool is_moving = false;
    for (uint32_t i = 0; i < branch->n; i++) {
      is_moving |= is_moving_element[self->members[branch->first + i].element];
    }
    if (is_moving) {
      self->moving[self->n_moving++] = b;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// coupled inductors

static yoke_status lay_couplings(yoke_nodal* self, yoke_messages* messages) {
  const yoke_network* network = self->core->network;
  const uint32_t n = self->n_of_kind[YOKE_NODAL_COUPLED];
  self->couplings = yoke__arena_array(&self->core->arena, n + 2 * (size_t)network->n_mutuals,
                                      sizeof *self->couplings);
  YOKE_TRY(yoke__arena_status(&self->core->arena));
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t b = self->kind_list[YOKE_NODAL_COUPLED][i];
    const yoke_element* element = yoke__nodal_first(self, &self->branches[b]);
    if (yoke__expression_has_state(element->value.law)) {
      yoke__error(messages, element->place,
                  "inductor '%s' is coupled and depends on voltages or currents: only formulation "
                  "'dae' can do both",
                  element->name);
      return YOKE_BAD_INPUT;
    }
    self->branches[b].state = self->n_states++;
    self->couplings[self->n_couplings++] = (yoke_nodal_coupling){.branch = b, .other = b, .k = 1.0};
  }

  // L itself on the diagonal, then M = k sqrt(L1 L2) both ways
  for (uint32_t i = 0; i < network->n_mutuals; i++) {
    const uint32_t one = self->element_branch[network->mutuals[i].l1];
    const uint32_t two = self->element_branch[network->mutuals[i].l2];
    const double k = network->mutuals[i].k;
    // the same M in both rows: the matrix of inductances is symmetric
    self->couplings[self->n_couplings++] =
        (yoke_nodal_coupling){.branch = one, .other = two, .k = k};
    self->couplings[self->n_couplings++] =
        (yoke_nodal_coupling){.branch = two, .other = one, .k = k};
  }
  return YOKE_OK;
}

static void list_other_states(yoke_nodal* self) {
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    if (branch->state != YOKE_NO_INDEX && branch->kind != YOKE_NODAL_STATE) {
      self->other_states[self->n_other_states++] = b;
      self->n_charged += branch->kind == YOKE_NODAL_JUNCTION;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// items and the rows they go to

// The rows of a branch's item: minus its sign.
static void count_rows(const yoke_nodal* self, const yoke_nodal_branch* branch, uint32_t item,
                       uint32_t counts[], uint32_t* const lists[]) {
  // a current that leaves a row lowers its right-hand side: the item with the opposite sign
  for (int i = 0; i < 2; i++) {
    const uint32_t row = branch->row[i];
    if (row < self->n) {
      if (lists != NULL) {
        lists[row][counts[row]] = branch->sign[i] > 0.0 ? self->n_items + item : item;
      }
      counts[row]++;
    }
  }
}

static void walk_items(const yoke_nodal* self, uint32_t counts[], uint32_t* const lists[]) {
  memset(counts, 0, self->n * sizeof *counts);
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    if (branch->kind == YOKE_NODAL_STATE) {
      count_rows(self, branch, branch->state, counts, lists);
    } else if (branch->kind == YOKE_NODAL_SOURCE) {
      count_rows(self, branch, self->first_source + branch->item, counts, lists);
    } else if (branch->kind == YOKE_NODAL_COUPLED) {
      count_rows(self, branch, self->first_coupled + branch->item, counts, lists);
    }
    if (branch->emf != YOKE_NO_INDEX && branch->kind != YOKE_NODAL_JUNCTION) {
      count_rows(self, branch, self->first_emf + branch->emf, counts, lists);
    }
  }
  for (uint32_t i = 0; i < self->n_known; i++) {
    const uint32_t row = self->known_row[i];
    if (lists != NULL) {
      lists[row][counts[row]] = self->first_known + i;
    }
    counts[row]++;
  }
}

// Rows with the same number of items stand together; counts: of each row.
static void group_rows(yoke_nodal* self, const uint32_t counts[], uint32_t* rows, uint32_t* items,
                       uint32_t* lists[]) {
  uint32_t most = 0;
  for (uint32_t r = 0; r < self->n; r++) {
    most = counts[r] > most ? counts[r] : most;
  }

  // rows by their number of terms: loops without a branch on the number
  for (uint32_t c = 0; c <= most; c++) {
    yoke_nodal_gather gather = {.n_terms = c, .rows = rows, .items = items};
    for (uint32_t r = 0; r < self->n; r++) {
      if (counts[r] == c) {
        *rows++ = r;
        lists[r] = items;
        items += c;
        gather.n_rows++;
      }
    }
    if (gather.n_rows > 0) {
      self->gathers[self->n_gathers++] = gather;
    }
  }
}

static yoke_status lay_items(yoke_nodal* self) {
  yoke_arena* arena = &self->core->arena;

  // items: states, emfs, sources, known columns, coupled inductors
  self->first_emf = self->n_branch_states;
  self->first_source = self->first_emf + self->n_emfs;
  self->first_known = self->first_source + self->n_of_kind[YOKE_NODAL_SOURCE];
  self->first_coupled = self->first_known + self->n_known;
  self->n_items = self->first_coupled + self->n_of_kind[YOKE_NODAL_COUPLED];
  const size_t n_max = 2 * (size_t)self->n_items;
  uint32_t* index = yoke__arena_array(arena, self->n + n_max, sizeof *index);
  uint32_t* counts = malloc(((size_t)self->n + 1) * sizeof *counts);
  uint32_t** lists = malloc(((size_t)self->n + 1) * sizeof *lists);
  yoke_status status = YOKE_NO_MEMORY;
  if (index != NULL && counts != NULL && lists != NULL) {
    walk_items(self, counts, NULL);
    // a group for each number of items that occurs: c of them hold at least c (c - 1) / 2, at most
    // n_max
    size_t n_groups = 1;
    while (n_groups * (n_groups - 1) / 2 <= n_max) {
      n_groups++;
    }
    self->gathers = yoke__arena_array(arena, n_groups, sizeof *self->gathers);
    if (self->gathers != NULL) {
      group_rows(self, counts, index, index + self->n, lists);
      walk_items(self, counts, lists);
      status = YOKE_OK;
    }
  }
  free(counts);
  free((void*)lists);
  return status;
}

// -------------------------------------------------------------------------------------------------
// the block of what changes

static bool has_merged_capacitors(const yoke_nodal* self) {
  for (uint32_t i = 0; i < self->n_of_kind[YOKE_NODAL_STATE]; i++) {
    const yoke_nodal_branch* branch = &self->branches[self->kind_list[YOKE_NODAL_STATE][i]];
    uint32_t n = 0;
    for (uint32_t k = 0; k < branch->n; k++) {
      const uint32_t e = self->members[branch->first + k].element;
      n += self->core->network->elements[e].kind == YOKE_CAPACITOR;
    }
    if (n > 1) {
      return true;
    }
  }
  return false;
}

// With at NULL only counts.
static size_t lay_block(yoke_nodal* self, double* at, bool has_offsets) {
  const yoke_method_plan* plan = &self->core->plan;
  const size_t n_s = self->n_states;
  const uint32_t n_rates = plan->n_stage_rates > 0 ? plan->n_stage_rates : 1;
  yoke_nodal_junctions* d = &self->junctions;

  // what changes from step to step lies in one piece, so that an image is one copy
  double** parts[12 + YOKE_METHOD_MAX_HISTORY + YOKE_METHOD_MAX_STAGES] = {
      &self->V, &self->J, &self->emf, &self->switch_g, &self->c,
      &d->v,    &d->i,    &d->slope,  &d->g,           &d->j};
  size_t sizes[12 + YOKE_METHOD_MAX_HISTORY + YOKE_METHOD_MAX_STAGES] = {self->n_places,
                                                                         2 * (size_t)self->n_items,
                                                                         self->n_emfs,
                                                                         self->n_switches,
                                                                         n_s,
                                                                         d->n,
                                                                         d->n,
                                                                         d->n,
                                                                         d->n,
                                                                         d->n};
  size_t n = 10;
  for (uint32_t i = 0; i < plan->n_history; i++) {
    sizes[n] = self->is_condensed ? 0 : n_s;
    parts[n++] = &self->X[i];
  }
  for (uint32_t i = 0; i < n_rates; i++) {
    sizes[n] = self->is_condensed ? 0 : n_s;
    parts[n++] = &self->D[i];
  }
  if (has_offsets) {
    sizes[n] = self->core->network->n_elements;
    parts[n++] = &self->offset;
  }
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    *parts[i] = at != NULL ? at + total : NULL;
    // whole cache lines
    total += (sizes[i] + 7u) & ~(size_t)7u;
  }
  for (uint32_t i = 0; i < self->n_laws; i++) {
    yoke_nodal_law* law = &self->laws[i];
    if (at != NULL) {
      law->phi = at + total;
      law->y = law->phi + 2;
      law->slope = law->y + law->n;
    }
    total += 2 + 2 * (size_t)law->n;
  }
  return total;
}

static yoke_status take_block(yoke_nodal* self) {
  yoke_arena* arena = &self->core->arena;
  const bool has_offsets = has_merged_capacitors(self);
  const size_t n_1 = (size_t)self->n + 1;
  self->n_block = lay_block(self, NULL, has_offsets);
  self->block = yoke__arena_array(arena, self->n_block, sizeof(double));
  self->kept = yoke__arena_array(arena, self->n_block, sizeof(double));
  double* work = yoke__arena_array(arena,
                                   3 * n_1 + self->n_states + self->n_places +
                                       self->core->network->n_elements + self->n_branches,
                                   sizeof(double));
  self->values = yoke__arena_array(arena, (size_t)self->n_values + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  const size_t n_laid = lay_block(self, self->block, has_offsets);
  assert(n_laid == self->n_block);
  (void)n_laid;
  self->rhs = work;
  self->solution = work + n_1;
  self->work = work + 2 * n_1;
  self->work_states = work + 3 * n_1;
  self->dV = self->work_states + self->n_states;
  self->d_element = self->dV + self->n_places;
  self->d_branch = self->d_element + self->core->network->n_elements;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// creation

// One stage, one past value, constant branches and nothing else with a state.
static bool can_condense(const yoke_nodal* self) {
  const yoke_method_plan* plan = &self->core->plan;
  const yoke_method_stage* stage = &plan->regular.stages[0];
  bool is_moving = false;

  // g of a branch whose value moves is not constant
  for (uint32_t i = 0; i < self->n_moving; i++) {
    is_moving |= self->branches[self->moving[i]].kind == YOKE_NODAL_STATE;
  }
  for (uint32_t i = 0; i < self->n_of_kind[YOKE_NODAL_STATE]; i++) {
    const yoke_nodal_branch* branch = &self->branches[self->kind_list[YOKE_NODAL_STATE][i]];
    const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
    is_moving |= !(sums.l > 0.0) && !(sums.elastance > 0.0 && yoke__is_finite(sums.elastance));
  }

  // trapezoidal rule or backward Euler on constant branches: x' follows from x without its rate
  return plan->n_first == 0 && plan->regular.n_stages == 1 && stage->n_x == 1 && stage->n_d <= 1 &&
         self->n_states == self->n_branch_states && !is_moving;
}

// Names of the unknowns that hang together with a column of the matrix.
static void name_part(const yoke_nodal* self, int32_t column, char* to, size_t size) {
  const yoke_network* network = self->core->network;
  bool* is_seen = calloc(self->n, sizeof *is_seen);
  uint32_t* queue = calloc(self->n, sizeof *queue);
  uint32_t n = 0;
  size_t used = 0;
  int n_names = 0;
  to[0] = '\0';
  if (is_seen != NULL && queue != NULL && column >= 0 && (uint32_t)column < self->n) {
    queue[n++] = (uint32_t)column;
    is_seen[column] = true;
  }
  for (uint32_t i = 0; i < n && n_names < MAX_NAMES; i++) {
    const uint32_t node = self->place_node[queue[i]];
    const bool is_node = node < network->n_nodes;
    const char* name =
        is_node ? network->nodes[node].name : network->elements[node - network->n_nodes].name;
    const int written = snprintf(to + used, size - used, "%s%s '%s'", n_names > 0 ? ", " : "",
                                 is_node ? "node" : "current of", name);
    used += written > 0 && (size_t)written < size - used ? (size_t)written : 0;
    n_names++;
    // breadth first along the entries of the matrix
    for (int32_t k = self->pattern.starts[queue[i]]; k < self->pattern.starts[queue[i] + 1]; k++) {
      const int32_t row = self->pattern.rows[k];
      if (!is_seen[row]) {
        is_seen[row] = true;
        queue[n++] = (uint32_t)row;
      }
    }
  }
  if (n > MAX_NAMES) {
    (void)snprintf(to + used, size - used, " and %u more", (unsigned)(n - MAX_NAMES));
  }
  free(is_seen);
  free(queue);
}

// The node or element of a column of the matrix.
static uint32_t unknown_of(const yoke_nodal* self, int32_t column) {
  return column < 0 || (uint32_t)column >= self->n ? YOKE_NO_INDEX : self->place_node[column];
}

static yoke_status explain_singular(const yoke_nodal* self, int32_t column,
                                    yoke_messages* messages) {
  yoke_circuit_core* core = self->core;
  const yoke_sink list = yoke__messages_sink(messages);
  char names[512];
  name_part(self, column, names, sizeof names);
  yoke__circuit_reason_set(
      &core->reason, core->network, unknown_of(self, column),
      "the equations are singular at %s: this part floats or is fixed twice. Give it a path "
      "to ground (a large resistor will do; gmin only helps across junctions), or break the "
      "loop of voltage sources",
      names);
  yoke__circuit_reason_send(&core->reason, YOKE_SINGULAR, &list);
  return YOKE_SINGULAR;
}

static yoke_status lay_out(yoke_nodal* self, yoke_messages* messages) {
  YOKE_TRY(yoke__nodal_reduce(self));
  YOKE_TRY(lay_classes(self));
  YOKE_TRY(yoke__nodal_lay_laws(self));
  YOKE_TRY(lay_couplings(self, messages));
  list_other_states(self);
  list_moving(self);
  self->is_linear = self->junctions.n == 0 && self->n_laws == 0;
  self->is_condensed = can_condense(self);
  YOKE_TRY(yoke__nodal_lay_matrix(self));
  for (uint32_t k = 0; k < self->junctions.n; k++) {
    memcpy(self->junctions.at + 4 * (size_t)k,
           self->branches[self->kind_list[YOKE_NODAL_JUNCTION][k]].at, 4 * sizeof(uint32_t));
  }
  YOKE_TRY(lay_items(self));
  YOKE_TRY(take_block(self));
  return yoke__nodal_create_sets(self);
}

static void nodal_destroy(void* memory) {
  yoke_nodal* self = memory;
  for (uint32_t a = 0; a < self->n_sets; a++) {
    yoke__sparse_destroy(&self->sets[a].lu);
  }
}

// Laws are only defined where the start puts them; everything else can be factored now, and
// singular matrices named.
static yoke_status factor_first(yoke_nodal* self, yoke_messages* messages) {
  // junctions at the voltages of the start, which are 0
  yoke__nodal_choose_entry(self);
  yoke__nodal_evaluate_junctions(self, 0.0, self->c);
  for (uint32_t a = 0; self->n_laws == 0 && a < self->n_sets; a++) {
    // refresh may fail later; its matrix is the last one and need not be regular
    int32_t column = -1;
    const yoke_status status = yoke__nodal_factor(self, a, self->V, self->c, &column);
    if (status == YOKE_SINGULAR && a + 1 < self->n_sets) {
      return explain_singular(self, column, messages);
    }
    if (status < 0 && status != YOKE_SINGULAR) {
      return status;
    }
  }
  return YOKE_OK;
}

static yoke_status nodal_create(yoke_circuit_core* core, yoke_messages* messages, void** out) {
  yoke_nodal* self = yoke__arena_take(&core->arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(&core->arena));
  self->core = core;
  self->n_sets = core->plan.n_slots + 1;
  for (uint32_t a = 0; a < core->plan.n_slots; a++) {
    self->sets[a].a0 = core->plan.a0[a];
  }

  // a0 of refresh: 1e5 / h
  self->sets[self->n_sets - 1].a0 = REFRESH_RATIO / core->h;
  yoke_status status = lay_out(self, messages);
  if (status >= 0) {
    status = factor_first(self, messages);
  }
  if (status < 0) {
    nodal_destroy(self);
    return status;
  }
  *out = self;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// start

static void start_places(yoke_nodal* self, const double x[]) {
  for (uint32_t i = 0; i < self->n_places; i++) {
    self->V[i] = x[self->place_node[i]];
  }
  // the first member of a branch may point the other way
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    if (branch->current != YOKE_NO_INDEX) {
      self->V[branch->current] *= (double)self->members[branch->first].sign;
    }
  }
}

// Value and rate of the state of merged inductors or capacitors, both from v and i of the branch.
static double start_branch(const yoke_nodal* self, const yoke_nodal_branch* branch,
                           const double x[], double* rate) {
  const yoke_nodal_member* first = &self->members[branch->first];

  // chain R, L or C: v = V_p - V_q - E, and the first member's current
  const double i = (double)first->sign * x[self->core->network->n_nodes + first->element];
  const double e = yoke__nodal_emf(self, branch->emf);
  const double v = self->V[branch->p] - self->V[branch->q] - e;
  const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
  if (self->state_v[branch->state] == 0.0) {
    // L i' = v - R i: the inductor has what R leaves of v
    *rate = (v - sums.r * i) / sums.l;
    return i;
  }

  // C v_C' = i, 1/C the sum over the chain
  *rate = i * sums.elastance;
  return v - sums.r * i;
}

// Of a capacitor or inductor with a law, a coupled inductor, or the charge of a junction.
static double start_other(const yoke_nodal* self, const yoke_nodal_branch* branch, const double x[],
                          const double xdot[], double* rate) {
  const yoke_network* network = self->core->network;
  const uint32_t e = branch->kind == YOKE_NODAL_JUNCTION ? yoke__nodal_junction(self, branch)
                                                         : self->members[branch->first].element;
  const yoke_element* element = &network->elements[e];
  const double v = x[element->a] - x[element->b];
  const double i = x[network->n_nodes + e];
  const bool is_law = branch->kind == YOKE_NODAL_LAW;
  const double value =
      is_law ? yoke__signals_law(self->core->signals, element->value.law, x, NULL) : 1.0;
  if (element->kind == YOKE_INDUCTOR) {
    *rate = is_law ? v / value : xdot[network->n_nodes + e];
    return i;
  }
  *rate = is_law ? i / value : xdot[element->a] - xdot[element->b];
  if (element->kind == YOKE_JUNCTION) {
    // charge: q' = C(v) v'
    double capacitance = 0.0;
    const double q = yoke__junction_charge(element->junction, v, &capacitance);
    *rate *= capacitance;
    return q;
  }
  return v;
}

static void start_states(yoke_nodal* self, const double x[], const double xdot[]) {
  const yoke_nodal_set* set = &self->sets[self->set];
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    const uint32_t k = branch->state;
    if (k == YOKE_NO_INDEX) {
      continue;
    }
    double rate = 0.0;
    const double value = branch->kind == YOKE_NODAL_STATE
                             ? start_branch(self, branch, x, &rate)
                             : start_other(self, branch, x, xdot, &rate);
    // c = xdot - a0 x: the history that the first stage continues
    self->c[k] = rate - set->a0 * value;
    for (uint32_t i = 0; !self->is_condensed && i < self->core->plan.n_history; i++) {
      self->X[i][k] = value;
    }
    if (!self->is_condensed) {
      self->D[0][k] = rate;
    }
    if (branch->kind == YOKE_NODAL_STATE) {
      // j = s c
      self->J[k] = set->s[k] * self->c[k];
      self->J[self->n_items + k] = -self->J[k];
    }
  }
}

// What a merged capacitor had at the start beyond its share of all of them stays with it.
static void start_offsets(yoke_nodal* self, const double x[]) {
  const yoke_network* network = self->core->network;
  for (uint32_t e = 0; self->offset != NULL && e < network->n_elements; e++) {
    self->offset[e] = 0.0;
    if (network->elements[e].kind == YOKE_CAPACITOR) {
      const yoke_nodal_branch* branch = &self->branches[self->element_branch[e]];
      const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
      const double v = x[network->elements[e].a] - x[network->elements[e].b];
      const double all = yoke__nodal_state(self, self->element_branch[e], NULL);
      if (branch->kind == YOKE_NODAL_STATE && branch->n > 1) {
        // v of the member less its share 1/C over the sum of all 1/C
        self->offset[e] = (double)self->members[self->element_member[e]].sign * v -
                          all / (self->stamped[e] * sums.elastance);
      }
    }
  }
}

static void start_junctions(yoke_nodal* self, const double x[]) {
  const yoke_network* network = self->core->network;
  for (uint32_t k = 0; k < self->junctions.n; k++) {
    const yoke_nodal_branch* branch = &self->branches[self->kind_list[YOKE_NODAL_JUNCTION][k]];
    const yoke_element* element = &network->elements[yoke__nodal_junction(self, branch)];
    self->junctions.v[k] = x[element->a] - x[element->b];
  }
}

static yoke_status nodal_start(void* memory, const double x[], const double xdot[]) {
  yoke_nodal* self = memory;
  yoke_circuit_core* core = self->core;
  const yoke_method_plan* plan = &core->plan;
  const yoke_method_step* step = plan->n_first > 0 ? &plan->first : &plan->regular;
  self->is_shown = false;
  self->is_given = false;
  self->head = 0;
  self->set = step->stages[0].slot;
  yoke__signals_update(core->signals, core->t0);
  yoke__nodal_follow_values(self);
  yoke__nodal_choose_entry(self);
  start_places(self, x);
  yoke__nodal_assemble(self, self->set);
  yoke__nodal_update_items(self, self->set);
  start_places(self, x);
  start_states(self, x, xdot);
  start_offsets(self, x);
  start_junctions(self, x);
  yoke__nodal_evaluate_junctions(self, self->sets[self->set].a0, self->c);

  // pivots where the run begins
  for (uint32_t a = 0; !self->is_linear && a < self->n_sets; a++) {
    int32_t column = -1;
    const yoke_status status = yoke__nodal_factor(self, a, self->V, self->c, &column);
    self->sets[a].is_factored = false;
    if (status < 0 && a + 1 < self->n_sets) {
      yoke__circuit_reason_set(
          &core->reason, core->network, unknown_of(self, column),
          "the equations are singular at the start: a part of the network floats");
      return status;
    }
  }
  yoke__nodal_linearise(self, self->V, self->sets[self->set].a0, self->c);
  core->counts.n_cached = 0;
  return YOKE_OK;
}

static yoke_status nodal_switched(void* memory) {
  yoke_nodal* self = memory;
  const yoke_method_plan* plan = &self->core->plan;
  const yoke_method_step* next = self->core->k < plan->n_first ? &plan->first : &plan->regular;
  if (self->is_shown) {
    yoke__nodal_hide(self);
  }
  yoke__nodal_choose_entry(self);

  // rates jump with a switch; a state that cannot be held (capacitors switched together) is left to
  // the method
  if (next->stages[0].n_d > 0 && yoke__nodal_refresh(self) < 0) {
    yoke__nodal_hide(self);
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// images: a head, the block, and the block kept while refresh shows another one

static size_t nodal_image_size(const void* memory) {
  const yoke_nodal* self = memory;
  return sizeof(image_head) + 2 * self->n_block * sizeof(double);
}

static void nodal_save(const void* memory, void* image) {
  const yoke_nodal* self = memory;
  const size_t size = self->n_block * sizeof(double);
  const image_head head = {.head = self->head,
                           .set = self->set,
                           .kept_set = self->kept_set,
                           .is_shown = self->is_shown,
                           .is_given = self->is_given};
  char* to = image;
  memcpy(to, &head, sizeof head);
  memcpy(to + sizeof head, self->block, size);
  if (self->is_shown) {
    memcpy(to + sizeof head + size, self->kept, size);
  } else {
    memset(to + sizeof head + size, 0, size);
  }
}

// The front has put back switches and values of sources before.
static void nodal_restore(void* memory, const void* image) {
  yoke_nodal* self = memory;
  const size_t size = self->n_block * sizeof(double);
  const uint64_t n_cached = self->core->counts.n_cached;
  image_head head;
  const char* from = image;
  memcpy(&head, from, sizeof head);
  memcpy(self->block, from + sizeof head, size);
  memcpy(self->kept, from + sizeof head + size, size);
  self->head = head.head;
  self->set = head.set;
  self->kept_set = head.kept_set;
  self->is_shown = head.is_shown != 0;
  self->is_given = head.is_given != 0;
  yoke__nodal_follow_values(self);
  yoke__nodal_choose_entry(self);
  for (uint32_t a = 0; a < self->n_sets; a++) {
    self->sets[a].is_factored = false;
  }
  self->core->counts.n_cached = n_cached;
}

static void nodal_get_sizes(const void* memory, yoke_circuit_sizes* sizes) {
  const yoke_nodal* self = memory;
  const size_t n_bytes = sizes->n_bytes;  // the factors lie in the core's arena, counted already
  yoke__core_add_sizes(self->sets[0].lu, self->n, sizes);
  sizes->n_bytes = n_bytes;
}

const yoke_circuit_engine yoke__engine_nodal = {
    .name = "nodal",
    .create = nodal_create,
    .destroy = nodal_destroy,
    .start = nodal_start,
    .step = yoke__nodal_step,
    .switched = nodal_switched,
    .refresh = yoke__nodal_refresh,
    .law_value = yoke__nodal_law_value,
    .voltage = yoke__nodal_voltage,
    .current = yoke__nodal_current,
    .sensitivity = yoke__nodal_sensitivity,
    .image_size = nodal_image_size,
    .save = nodal_save,
    .restore = nodal_restore,
    .get_sizes = nodal_get_sizes,
};
