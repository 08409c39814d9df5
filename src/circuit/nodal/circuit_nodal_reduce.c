// From a network to the branches and unknowns of the `nodal` engine.
//
//   1 nodes at fixed nodes or held by a tree of voltage sources from them are known
//   2 a node that touches exactly two elements of resistor, inductor, capacitor, voltage source or
//     junction, and that nothing else refers to, disappears: its elements carry one current and
//     become one branch. A branch has inductors or capacitors or one junction, so that it keeps one
//     state at most.
//   3 unknowns: the other nodes, and the currents of what has no admittance or controls something
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/nodal/circuit_nodal.h"

// what a merged branch has besides resistors and voltage sources
typedef enum chain_type {
  CHAIN_PLAIN,
  CHAIN_INDUCTORS,
  CHAIN_CAPACITORS,
  CHAIN_JUNCTION
} chain_type;

typedef struct reducer {
  yoke_nodal* self;
  const yoke_network* network;
  uint32_t* parent;                      // union-find over elements
  uint8_t* type;                         // chain_type of each set
  bool *is_known, *is_merged, *is_held;  // nodes, nodes, elements
  uint32_t* stack;
} reducer;

// -------------------------------------------------------------------------------------------------
// what is referred to

// what a law reads has to exist as an unknown
static void mark_law(yoke_nodal* self, const yoke_expression* law) {
  for (uint32_t i = 0; i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_VOLTAGE) {
      self->is_kept[law->live[i].index] = true;
    } else if (law->live[i].kind == YOKE_LIVE_CURRENT) {
      self->is_sensed[law->live[i].index] = true;
    }
  }
}

static void mark_needs(yoke_nodal* self, const yoke_network* network) {
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->kind == YOKE_VCVS || element->kind == YOKE_VCCS) {
      self->is_kept[element->c] = true;
      self->is_kept[element->d] = true;
    } else if (element->kind == YOKE_CCVS || element->kind == YOKE_CCCS) {
      self->is_sensed[element->control] = true;
    }
    if (yoke__expression_has_state(element->value.law)) {
      mark_law(self, element->value.law);
    }
  }
  for (uint32_t i = 0; i < network->n_mutuals; i++) {
    self->is_coupled[network->mutuals[i].l1] = true;
    self->is_coupled[network->mutuals[i].l2] = true;
  }
}

// elements at each node, by counting sort
static void list_touching(yoke_nodal* self, const yoke_network* network) {
  uint32_t* starts = self->touch_starts;

  // starts[n + 1] counts, sums make it the place behind node n; filling in moves each start to it
  for (uint32_t e = 0; e < network->n_elements; e++) {
    starts[network->elements[e].a + 1]++;
    starts[network->elements[e].b + 1]++;
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    starts[n + 1] += starts[n];
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    self->touch[starts[network->elements[e].a]++] = e;
    self->touch[starts[network->elements[e].b]++] = e;
  }
  // every start has moved on to the next one
  memmove(starts + 1, starts, network->n_nodes * sizeof *starts);
  starts[0] = 0;
}

static uint32_t other_end(const yoke_element* element, uint32_t node) {
  return element->a == node ? element->b : element->a;
}

// -------------------------------------------------------------------------------------------------
// known nodes

static bool can_hold(const yoke_nodal* self, uint32_t e) {
  const yoke_element* element = &self->core->network->elements[e];

  // its voltage has to be known before the solution, and its current is not asked for
  return element->kind == YOKE_VOLTAGE && !yoke__expression_has_state(element->value.law) &&
         !self->is_sensed[e];
}

// Depth first, so that the nodes held through one stand in a row behind it.
static void hold_from(reducer* r, uint32_t root) {
  yoke_nodal* self = r->self;
  uint32_t n_stack = 0;
  uint32_t* next = self->node_after;  // work: next element to look at, by node

  // invariant: a node on the stack is known, and `next` is the first element not looked at yet
  r->stack[n_stack++] = root;
  next[root] = self->touch_starts[root];
  while (n_stack > 0) {
    const uint32_t node = r->stack[n_stack - 1];
    if (next[node] == self->touch_starts[node + 1]) {
      n_stack--;
      if (node != root) {
        self->held[self->node_branch[node]].end = self->n_held;
      }
      continue;
    }
    const uint32_t e = self->touch[next[node]++];
    const yoke_element* element = &r->network->elements[e];
    const uint32_t to = other_end(element, node);
    // a source closing a loop of known nodes stays a branch: its current is an unknown
    if (r->is_held[e] || r->is_known[to] || !can_hold(self, e)) {
      continue;
    }
    r->is_held[e] = true;
    r->is_known[to] = true;
    self->node_branch[to] = self->n_held;  // work: which held one it is
    self->held[self->n_held++] = (yoke_nodal_held){
        .element = e, .node = to, .from = node, .sign = element->a == to ? 1.0 : -1.0};
    next[to] = self->touch_starts[to];
    r->stack[n_stack++] = to;
  }
}

static void hold_nodes(reducer* r) {
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    // a fixed node is the root of a tree of known ones
    r->is_known[n] = r->network->nodes[n].is_fixed;
  }
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    if (r->network->nodes[n].is_fixed) {
      hold_from(r, n);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// merging

static bool can_merge(const reducer* r, uint32_t e, chain_type* type) {
  const yoke_element* element = &r->network->elements[e];

  // merging needs constant positive values: sums of R, L and 1/C
  const bool is_constant = element->value.law == NULL && element->value.constant > 0.0;
  *type = CHAIN_PLAIN;
  if (r->self->is_sensed[e] || r->is_held[e]) {
    return false;
  }
  switch (element->kind) {
  case YOKE_RESISTOR:
  case YOKE_VOLTAGE:
    return !yoke__expression_has_state(element->value.law);
  case YOKE_INDUCTOR:
    *type = CHAIN_INDUCTORS;
    return is_constant && !r->self->is_coupled[e];
  case YOKE_CAPACITOR:
    *type = CHAIN_CAPACITORS;
    return is_constant;
  case YOKE_JUNCTION:
    *type = CHAIN_JUNCTION;
    return true;
  default:
    return false;
  }
}

// Two of a kind may join unless they are junctions.
static bool can_join(uint8_t one, uint8_t two) {
  // a chain keeps one state at most
  return one == CHAIN_PLAIN || two == CHAIN_PLAIN || (one == two && one != CHAIN_JUNCTION);
}

static void merge_node(reducer* r, uint32_t node) {
  const yoke_nodal* self = r->self;
  const uint32_t* touch = self->touch + self->touch_starts[node];
  chain_type ignored;
  if (r->is_known[node] || self->is_kept[node] ||
      self->touch_starts[node + 1] - self->touch_starts[node] != 2 ||
      !can_merge(r, touch[0], &ignored) || !can_merge(r, touch[1], &ignored)) {
    return;
  }
  const uint32_t one = yoke__root_of(r->parent, touch[0]);
  const uint32_t two = yoke__root_of(r->parent, touch[1]);

  // a ring keeps one node
  if (one == two || !can_join(r->type[one], r->type[two])) {
    return;
  }
  r->parent[two] = one;

  // a chain takes the type of the one that has one: plain is the smallest
  r->type[one] = r->type[one] > r->type[two] ? r->type[one] : r->type[two];
  r->is_merged[node] = true;
}

static void merge_nodes(reducer* r) {
  for (uint32_t e = 0; e < r->network->n_elements; e++) {
    chain_type type = CHAIN_PLAIN;
    r->parent[e] = e;
    r->type[e] = can_merge(r, e, &type) ? (uint8_t)type : CHAIN_PLAIN;
  }
  if (r->self->core->options.is_unmerged) {
    return;
  }
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    merge_node(r, n);
  }
}

static uint32_t other_element(const yoke_nodal* self, uint32_t node, uint32_t e) {
  const uint32_t* touch = self->touch + self->touch_starts[node];
  return touch[0] == e ? touch[1] : touch[0];
}

// The branch that e is in, its members in order from p to q; p and q are nodes for now.
static void trace_branch(reducer* r, uint32_t e, uint32_t* n_members) {
  yoke_nodal* self = r->self;
  const yoke_element* elements = r->network->elements;
  yoke_nodal_branch* branch = &self->branches[self->n_branches];

  // back to one end of the chain, then along it
  uint32_t node = elements[e].a;
  while (r->is_merged[node]) {
    e = other_element(self, node, e);
    node = other_end(&elements[e], node);
  }
  branch->p = node;
  branch->first = *n_members;

  // the members in order, each with the sign of its direction
  for (;;) {
    const uint32_t next = other_end(&elements[e], node);
    self->element_branch[e] = self->n_branches;
    self->element_member[e] = *n_members;
    self->members[(*n_members)++] =
        (yoke_nodal_member){.element = e, .sign = elements[e].a == node ? 1 : -1};
    if (!r->is_merged[next]) {
      branch->q = next;
      break;
    }
    self->node_branch[next] = self->n_branches;
    self->node_after[next] = *n_members - branch->first;
    e = other_element(self, next, e);
    node = next;
  }
  branch->n = *n_members - branch->first;
  self->n_branches++;
}

// -------------------------------------------------------------------------------------------------
// kinds

static yoke_nodal_kind kind_of_element(const yoke_nodal* self, uint32_t e) {
  const yoke_element* element = &self->core->network->elements[e];
  const bool is_law = yoke__expression_has_state(element->value.law);
  switch (element->kind) {
  case YOKE_RESISTOR:
    // R = 0 is a source of 0 V, whose current is an unknown
    return is_law                                                         ? YOKE_NODAL_LAW
           : element->value.law == NULL && element->value.constant == 0.0 ? YOKE_NODAL_VOLTAGE
                                                                          : YOKE_NODAL_STATIC;
  case YOKE_CAPACITOR:
    return is_law ? YOKE_NODAL_LAW : YOKE_NODAL_STATE;
  case YOKE_INDUCTOR:
    return self->is_coupled[e] ? YOKE_NODAL_COUPLED : is_law ? YOKE_NODAL_LAW : YOKE_NODAL_STATE;
  case YOKE_CURRENT:
    return is_law ? YOKE_NODAL_LAW : YOKE_NODAL_SOURCE;
  case YOKE_JUNCTION:
    return YOKE_NODAL_JUNCTION;
  case YOKE_SWITCH:
    // closed without resistance there is no conductance: the current is an unknown
    return element->switching->r_on > 0.0 ? YOKE_NODAL_SWITCH : YOKE_NODAL_VOLTAGE;
  case YOKE_VCCS:
  case YOKE_CCCS:
    return is_law ? YOKE_NODAL_LAW : YOKE_NODAL_GAIN;
  default:
    return YOKE_NODAL_VOLTAGE;
  }
}

// Of several members the one that says most decides: junction, state, resistance, source.
static yoke_nodal_kind kind_of_branch(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  yoke_nodal_kind kind = kind_of_element(self, self->members[branch->first].element);
  for (uint32_t i = 1; i < branch->n; i++) {
    const yoke_nodal_kind next = kind_of_element(self, self->members[branch->first + i].element);
    // junction over state over resistance over source
    if (kind == YOKE_NODAL_VOLTAGE || (kind == YOKE_NODAL_STATIC && next != YOKE_NODAL_VOLTAGE)) {
      kind = next;
    }
  }
  return kind;
}

static bool has_source(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  for (uint32_t i = 0; i < branch->n; i++) {
    const yoke_element* element =
        &self->core->network->elements[self->members[branch->first + i].element];
    if (element->kind == YOKE_VOLTAGE && !yoke__expression_has_state(element->value.law)) {
      return true;
    }
  }
  return false;
}

static void classify(yoke_nodal* self) {
  for (uint32_t b = 0; b < self->n_branches; b++) {
    yoke_nodal_branch* branch = &self->branches[b];
    branch->kind = kind_of_branch(self, branch);
    branch->current = YOKE_NO_INDEX;
    branch->state = YOKE_NO_INDEX;
    // the sum of all sources of the chain is one emf
    branch->emf = has_source(self, branch) ? self->n_emfs++ : YOKE_NO_INDEX;
    const bool is_law = yoke__expression_has_state(yoke__nodal_first(self, branch)->value.law);
    branch->law = is_law && branch->kind != YOKE_NODAL_COUPLED ? self->n_laws++ : YOKE_NO_INDEX;
    self->n_of_kind[branch->kind]++;
  }
}

// -------------------------------------------------------------------------------------------------
// unknowns

static void number_nodes(reducer* r) {
  yoke_nodal* self = r->self;
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    if (!r->is_known[n] && !r->is_merged[n]) {
      // unknown: neither known nor inside a chain
      self->place_node[self->n] = n;
      self->node_place[n] = self->n++;
    } else {
      self->node_place[n] = YOKE_NO_INDEX;
    }
  }
}

static void number_currents(yoke_nodal* self, uint32_t n_nodes) {
  for (uint32_t b = 0; b < self->n_branches; b++) {
    yoke_nodal_branch* branch = &self->branches[b];
    const uint32_t e = self->members[branch->first].element;
    // no admittance, or its current is read by somebody
    if (branch->kind >= YOKE_NODAL_VOLTAGE || self->is_sensed[e]) {
      self->place_node[self->n] = n_nodes + e;
      branch->current = self->n++;
    }
  }
}

// Stiff branches of floating parts. Kirchhoff's law of both ends then holds g and -g, and what decides about the level
// of the part (a blocking junction, a leak) is lost in their difference: 470 uF at 20 us are 2e6 S beside 1e-12 S. With
// the current as an unknown its row is v - i/g = ..., and nothing is lost.

#define STIFF 1e12   // times gmin
#define WEAK  1e-11  // of the stiffest branch: such a conductance no longer decides about a level

// At the largest a0; 0 for branches that are no conductances or not always the same ones.
static double stiffness(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  const bool is_linear = branch->kind == YOKE_NODAL_STATIC || branch->kind == YOKE_NODAL_STATE;
  if (!is_linear || branch->law != YOKE_NO_INDEX) {
    return branch->kind == YOKE_NODAL_VOLTAGE ? (double)INFINITY : 0.0;
  }

  // 1 / |Z| of R + a0 L + 1 / (a0 C)
  const double a0 = self->sets[self->n_sets - 1].a0;
  const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
  return 1.0 / (sums.r + a0 * sums.l + sums.elastance / a0);
}

static double find_stiffest(const reducer* r) {
  double stiffest = 0.0;
  for (uint32_t b = 0; b < r->self->n_branches; b++) {
    const yoke_nodal_branch* branch = &r->self->branches[b];
    const double g = stiffness(r->self, branch);
    if (!r->is_known[branch->p] && !r->is_known[branch->q] && yoke__is_finite(g)) {
      stiffest = fmax(stiffest, g);
    }
  }
  return stiffest;
}

static yoke_status sense_floating(reducer* r) {
  yoke_nodal* self = r->self;
  const double gmin = self->core->options.gmin;

  // 1e12 gmin: beyond, gmin is below the rounding of the sum
  const double stiff = STIFF * (gmin > 0.0 ? gmin : 1e-12);
  const double stiffest = find_stiffest(r);
  if (!(stiffest > stiff)) {
    return YOKE_OK;
  }
  uint32_t* parent = yoke__arena_array(&self->core->arena, r->network->n_nodes, sizeof *parent);
  YOKE_TRY(yoke__arena_status(&self->core->arena));

  // parts that hang together by conductances that count; known nodes belong to ground
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    parent[n] = r->is_known[n] ? 0 : n;
  }
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    // infinite for sources of voltage: they always count
    if (stiffness(self, branch) > WEAK * stiffest) {
      const uint32_t one = yoke__root_of(parent, branch->p),
                     other = yoke__root_of(parent, branch->q);
      // ground stays a root
      parent[one < other ? other : one] = one < other ? one : other;
    }
  }

  // stiff branches of parts without a way to ground get a current of their own
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    const double g = stiffness(self, branch);
    if (yoke__is_finite(g) && g > stiff && yoke__root_of(parent, branch->p) != 0) {
      self->is_sensed[self->members[branch->first].element] = true;
    }
  }
  return YOKE_OK;
}

static void number_known(reducer* r) {
  yoke_nodal* self = r->self;

  // known places behind the unknowns
  self->n_places = self->n;
  for (uint32_t n = 0; n < r->network->n_nodes; n++) {
    if (r->is_known[n]) {
      self->place_node[self->n_places] = n;
      self->node_place[n] = self->n_places++;
      if (r->network->nodes[n].is_fixed && n != 0) {
        self->fixed_nodes[self->n_fixed++] = n;
      }
    }
  }
  for (uint32_t i = 0; i < self->n_held; i++) {
    // places instead of nodes
    self->held[i].place = self->node_place[self->held[i].node];
    self->held[i].from = self->node_place[self->held[i].from];
  }
}

static void place_control(yoke_nodal* self, yoke_nodal_branch* branch) {
  const yoke_element* element = yoke__nodal_first(self, branch);
  branch->c = YOKE_NO_INDEX;
  branch->d = YOKE_NO_INDEX;
  if (element->kind == YOKE_VCVS || element->kind == YOKE_VCCS) {
    branch->c = self->node_place[element->c];
    branch->d = self->node_place[element->d];
  } else if (element->kind == YOKE_CCVS || element->kind == YOKE_CCCS) {
    branch->c = self->branches[self->element_branch[element->control]].current;
  }
}

// The rows that its current stands in: Kirchhoff's law of its ends, or the definition of its
// current.
static void place_branches(yoke_nodal* self) {
  for (uint32_t b = 0; b < self->n_branches; b++) {
    yoke_nodal_branch* branch = &self->branches[b];
    branch->p = self->node_place[branch->p];
    branch->q = self->node_place[branch->q];
    // a current as an unknown: its own row defines it; else both Kirchhoff rows of the ends
    if (branch->current != YOKE_NO_INDEX) {
      branch->row[0] = branch->current;
      branch->row[1] = YOKE_NO_INDEX;
      // a row of its own: i - (g v + j) = 0
      branch->sign[0] = -1.0;
    } else {
      branch->row[0] = branch->p < self->n ? branch->p : YOKE_NO_INDEX;
      branch->row[1] = branch->q < self->n ? branch->q : YOKE_NO_INDEX;
      // Kirchhoff's law: i leaves p and enters q
      branch->sign[0] = 1.0;
      branch->sign[1] = -1.0;
    }
    place_control(self, branch);
  }
}

static yoke_status take_memory(reducer* r) {
  yoke_nodal* self = r->self;
  yoke_arena* arena = &self->core->arena;
  const size_t n_n = r->network->n_nodes;
  const size_t n_e = r->network->n_elements;
  self->branches = yoke__arena_array(arena, n_e, sizeof *self->branches);
  self->members = yoke__arena_array(arena, n_e, sizeof *self->members);
  self->held = yoke__arena_array(arena, n_n, sizeof *self->held);
  uint32_t* index = yoke__arena_array(arena, 6 * n_n + 1 + 5 * n_e, sizeof *index);
  uint8_t* flags = yoke__arena_array(arena, 3 * n_n + 4 * n_e, sizeof *flags);
  uint32_t* work = yoke__arena_array(arena, n_e + n_n, sizeof *work);
  YOKE_TRY(yoke__arena_status(arena));
  self->node_place = index;
  self->node_branch = index + n_n;
  self->node_after = index + 2 * n_n;
  self->fixed_nodes = index + 3 * n_n;
  self->touch_starts = index + 4 * n_n;
  index += 5 * n_n + 1;
  self->place_node = index;
  index += n_n + n_e;
  self->element_branch = index;
  self->element_member = index + n_e;
  self->touch = index + 2 * n_e;
  assert(self->touch + 2 * n_e == self->node_place + 6 * n_n + 1 + 5 * n_e);
  self->is_kept = (bool*)flags;
  r->is_known = (bool*)flags + n_n;
  r->is_merged = (bool*)flags + 2 * n_n;
  flags += 3 * n_n;
  self->is_sensed = (bool*)flags;
  self->is_coupled = (bool*)flags + n_e;
  r->is_held = (bool*)flags + 2 * n_e;
  r->type = flags + 3 * n_e;
  assert(r->type + n_e == (uint8_t*)self->is_kept + 3 * n_n + 4 * n_e);
  r->parent = work;
  r->stack = work + n_e;
  return YOKE_OK;
}

yoke_status yoke__nodal_reduce(yoke_nodal* self) {
  const yoke_network* network = self->core->network;
  reducer r = {.self = self, .network = network};
  YOKE_TRY(take_memory(&r));

  // the order matters: what is referred to stays, then known nodes, then chains between the rest
  mark_needs(self, network);
  list_touching(self, network);
  hold_nodes(&r);
  merge_nodes(&r);
  uint32_t n_members = 0;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    self->element_branch[e] = YOKE_NO_INDEX;
  }
  for (uint32_t i = 0; i < self->n_held; i++) {
    self->element_member[self->held[i].element] = i;
  }
  // junctions first: their branches then point the way they do
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t e = 0; e < network->n_elements; e++) {
      if (!r.is_held[e] && self->element_branch[e] == YOKE_NO_INDEX &&
          (pass == 1 || network->elements[e].kind == YOKE_JUNCTION)) {
        trace_branch(&r, e, &n_members);
      }
    }
  }
  classify(self);
  YOKE_TRY(sense_floating(&r));
  number_nodes(&r);
  number_currents(self, network->n_nodes);
  number_known(&r);
  place_branches(self);
  return YOKE_OK;
}
