// What cannot be simulated, found from the graph of a network before anything is computed.
//
// Everything here is certain whatever the numbers are: a message says what makes the equations
// singular, or what their structure means for the solution. What depends on values (a gain of
// exactly 1, say) is left to the solver. Work: a few passes over the elements with union-find,
// nearly linear.
//
// Sources: the cut set and loop conditions are textbook circuit theory; those of the index are
// C. Tischendorf, "Topological index calculation of differential-algebraic equations in circuit
// simulation", 1999. Page: docs/circuit.md, "What is checked".
#include "circuit/topology/circuit_topology.h"

#include <math.h>
#include <string.h>

#include "circuit/network/circuit_index.h"

#define MAX_LISTED 6   // names in one message
#define MAX_SHOWN  60  // characters of a name

// ---- lists of names

void yoke__list_add(yoke_name_list* list, const char* name) {
  list->n++;
  if (list->n_shown >= MAX_LISTED || name == NULL) {
    return;
  }
  const int n = snprintf(list->text + list->used, sizeof list->text - list->used, "%s'%.*s'",
                         list->n_shown == 0 ? "" : ", ", MAX_SHOWN, name);
  list->used += n > 0 ? (size_t)n : 0;
  list->n_shown++;
}

const char* yoke__list_finish(yoke_name_list* list) {
  if (list->n > list->n_shown) {
    snprintf(list->text + list->used, sizeof list->text - list->used, "%s%u more",
             list->n_shown == 0 ? "" : " and ", list->n - list->n_shown);
  }
  return list->text;
}

// ---- union-find

void yoke__sets_reset(yoke_topology* self) {
  for (uint32_t i = 0; i < self->n_nodes; i++) {
    self->root[i] = i;
  }
}

bool yoke__sets_join(yoke_topology* self, uint32_t a, uint32_t b) {
  // the smaller root stays: the set of vertex 0 keeps the root 0
  const uint32_t p = yoke__root_of(self->root, a), q = yoke__root_of(self->root, b);
  if (p < q) {
    self->root[q] = p;
  } else {
    self->root[p] = q;
  }
  return p != q;
}

// ---- the graph

double yoke__topology_start_value(const yoke_circuit_value* value) {
  if (value->law != NULL) {
    return (double)NAN;
  }
  return value->wave == NULL ? value->constant : yoke__wave_value(value->wave, 0);
}

static uint16_t kind_of(const yoke_element* element) {
  // sources whose law looks at voltages or currents are no independent ones
  const bool is_driven = yoke__expression_has_state(element->value.law);
  switch (element->kind) {
  case YOKE_CAPACITOR:
    return YOKE_EDGE_CAPACITOR;
  case YOKE_INDUCTOR:
    return YOKE_EDGE_INDUCTOR;
  case YOKE_VOLTAGE:
    return is_driven ? YOKE_EDGE_DRIVEN_V : YOKE_EDGE_SOURCE_V;
  case YOKE_CURRENT:
    return is_driven ? YOKE_EDGE_DRIVEN_I : YOKE_EDGE_SOURCE_I;
  case YOKE_JUNCTION:
    return YOKE_EDGE_JUNCTION;
  case YOKE_VCVS:
  case YOKE_CCVS:
    return YOKE_EDGE_DRIVEN_V;
  case YOKE_VCCS:
    return yoke__element_is_conductance(element) ? YOKE_EDGE_CONDUCT : YOKE_EDGE_DRIVEN_I;
  case YOKE_CCCS:
    return YOKE_EDGE_DRIVEN_I;
  case YOKE_SWITCH: {
    const yoke_switch_model* model = element->switching;
    // open without a leak: nothing joins its ends
    return model != NULL && isinf(model->r_off) ? YOKE_EDGE_GATE : YOKE_EDGE_CONDUCT;
  }
  case YOKE_RESISTOR:
  case YOKE_ELEMENT_N_KINDS:
  default:
    return YOKE_EDGE_CONDUCT;
  }
}

// fixed nodes are one vertex
static uint32_t vertex_of(const yoke_network* network, uint32_t node) {
  return network->nodes[node].is_fixed ? 0 : node;
}

static bool has_control_nodes(const yoke_element* element) {
  return element->kind == YOKE_VCVS || element->kind == YOKE_VCCS;
}

static bool has_control_element(const yoke_element* element) {
  return element->kind == YOKE_CCVS || element->kind == YOKE_CCCS;
}

static bool is_law_sound(const yoke_network* network, const yoke_expression* law) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    const yoke_live* live = &law->live[i];
    if ((live->kind == YOKE_LIVE_VOLTAGE && live->index >= network->n_nodes) ||
        (live->kind == YOKE_LIVE_CURRENT && live->index >= network->n_elements) ||
        (live->kind == YOKE_LIVE_INPUT && live->index >= network->n_inputs)) {
      return false;
    }
  }
  return true;
}

// Indices inside the network: what a program may get wrong and every later check relies on.
static bool is_element_sound(const yoke_network* network, const yoke_element* element) {
  // a switch without condition or controlling element looks at two nodes
  const uint32_t n = network->n_nodes;
  const bool is_steered = element->kind == YOKE_SWITCH && element->condition == NULL &&
                          element->control == YOKE_NO_INDEX;
  return (unsigned)element->kind < YOKE_ELEMENT_N_KINDS && element->a < n && element->b < n &&
         (!(has_control_nodes(element) || is_steered) || (element->c < n && element->d < n)) &&
         (element->control < network->n_elements ||
          (element->control == YOKE_NO_INDEX && !has_control_element(element))) &&
         (element->kind != YOKE_JUNCTION || element->junction != NULL) &&
         (element->kind != YOKE_SWITCH || element->switching != NULL) &&
         is_law_sound(network, element->value.law) && is_law_sound(network, element->condition);
}

static bool check_indices(const yoke_network* network, yoke_messages* messages) {
  const size_t n_before = messages->n_errors;
  for (uint32_t i = 0; i < network->n_elements; i++) {
    const yoke_element* element = &network->elements[i];
    if (!is_element_sound(network, element)) {
      yoke__error(messages, element->place,
                  "element '%.*s' is incomplete: a node, controlling element or model is missing",
                  MAX_SHOWN, element->name);
    }
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    if (!is_law_sound(network, network->nodes[i].fixed.law)) {
      yoke__error(messages, network->nodes[i].place,
                  "the value of node '%.*s' refers to something outside the network", MAX_SHOWN,
                  network->nodes[i].name);
    }
  }
  for (uint32_t i = 0; i < network->n_mutuals; i++) {
    const yoke_mutual* mutual = &network->mutuals[i];
    if (mutual->l1 >= network->n_elements || mutual->l2 >= network->n_elements) {
      yoke__error(messages, mutual->place, "coupling '%.*s' lacks an inductor", MAX_SHOWN,
                  mutual->name);
    }
  }
  return messages->n_errors == n_before;
}

static void add_sense(yoke_topology* self, uint32_t a, uint32_t b) {
  self->degree[a]++;
  self->degree[b]++;

  // what is sensed joins vertices as far as the level of a part is concerned
  self->senses[self->n_senses++] =
      (yoke_sense){vertex_of(self->network, a), vertex_of(self->network, b)};
}

// what a law of an equation looks at; a single voltage is one against ground
static void add_law(yoke_topology* self, const yoke_expression* law) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_VOLTAGE) {
      add_sense(self, law->live[i].index, 0);
    } else if (law->live[i].kind == YOKE_LIVE_CURRENT) {
      self->edges[law->live[i].index].is_sensed = true;
    }
  }
}

static void look_at_node(yoke_topology* self, uint32_t node) {
  if (node < self->n_nodes) {
    self->degree[node]++;
  }
}

// probes, and laws that are no equations, only count as connections: a node may be there to be
// looked at
static void look_at(yoke_topology* self, const yoke_expression* law) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_VOLTAGE) {
      look_at_node(self, law->live[i].index);
    }
  }
}

static void look_at_probes(yoke_topology* self, const yoke_probe probes[], uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const yoke_probe* probe = &probes[i];
    if (probe->kind == YOKE_PROBE_VOLTAGE || probe->kind == YOKE_PROBE_DIFFERENCE) {
      look_at_node(self, probe->index);
    }
    if (probe->kind == YOKE_PROBE_DIFFERENCE) {
      look_at_node(self, probe->other);
    }
    look_at(self, probe->law);
  }
}

static size_t count_senses(const yoke_network* network) {
  size_t n = 0;
  for (uint32_t i = 0; i < network->n_elements; i++) {
    const yoke_expression* law = network->elements[i].value.law;
    n += 1 + (law == NULL ? 0 : law->n_live);
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    const yoke_expression* law = network->nodes[i].fixed.law;
    n += law == NULL ? 0 : law->n_live;
  }
  return n;
}

static void add_element(yoke_topology* self, uint32_t index) {
  const yoke_element* element = &self->network->elements[index];
  yoke_edge* edge = &self->edges[index];
  edge->a = vertex_of(self->network, element->a);
  edge->b = vertex_of(self->network, element->b);
  edge->kind = kind_of(element);
  self->degree[element->a]++;
  self->degree[element->b]++;
  if (has_control_nodes(element)) {
    add_sense(self, element->c, element->d);
  } else if (has_control_element(element)) {
    self->edges[element->control].is_sensed = true;
  } else if (element->kind == YOKE_SWITCH && element->control == YOKE_NO_INDEX &&
             element->condition == NULL) {
    // controls of a switch are looked at, but are in no equation
    self->degree[element->c]++;
    self->degree[element->d]++;
  }
  add_law(self, element->value.law);
  look_at(self, element->condition);
}

static yoke_status make_graph(yoke_topology* self, const yoke_network* network) {
  self->n_nodes = network->n_nodes;
  self->n_edges = network->n_elements;
  self->edges = yoke__arena_array(&self->arena, self->n_edges, sizeof *self->edges);
  self->senses = yoke__arena_array(&self->arena, count_senses(network), sizeof *self->senses);
  self->degree = yoke__arena_array(&self->arena, self->n_nodes, sizeof *self->degree);
  self->root = yoke__arena_array(&self->arena, self->n_nodes, sizeof *self->root);
  self->is_reported = yoke__arena_array(&self->arena, self->n_nodes, sizeof *self->is_reported);
  YOKE_TRY(yoke__arena_status(&self->arena));
  for (uint32_t i = 0; i < network->n_elements; i++) {
    add_element(self, i);
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    add_law(self, network->nodes[i].fixed.law);
  }
  look_at_probes(self, network->outputs, network->n_outputs);
  look_at_probes(self, network->saves, network->n_saves);
  return YOKE_OK;
}

static void report_refixes(const yoke_network* network, yoke_messages* messages) {
  const yoke_network_index* index = network->index;
  for (uint32_t i = 0; i < index->n_refixes; i++) {
    const yoke_refix* refix = &index->refixes[i];
    const yoke_network_node* node = &network->nodes[refix->node];
    const char* first = node->fixed_name == NULL ? "ground" : node->fixed_name;
    yoke__error(messages, refix->place,
                "'%.*s' fixes node '%.*s', which is fixed by '%.*s' already", MAX_SHOWN,
                refix->name == NULL ? "" : refix->name, MAX_SHOWN, node->name, MAX_SHOWN, first);
  }
}

static yoke_status run_checks(yoke_topology* self) {
  YOKE_TRY(make_graph(self, self->network));
  YOKE_TRY(yoke__topology_check_values(self));
  YOKE_TRY(yoke__topology_check_mutuals(self));
  YOKE_TRY(yoke__topology_check_parts(self));
  return yoke__topology_check_loops(self);
}

yoke_status yoke__network_check(const yoke_network* network, yoke_messages* messages) {
  const size_t n_before = messages->n_errors;
  if (network->n_elements == 0) {
    yoke__error(messages, (yoke_place){network->path, 0, 0}, "the network has no elements");
    return YOKE_BAD_INPUT;
  }
  if (!check_indices(network, messages)) {
    return YOKE_BAD_INPUT;
  }
  report_refixes(network, messages);
  yoke_topology self = {.network = network,
                        .messages = messages,
                        .is_started = network->run.has_tran && !network->run.is_uic};
  const yoke_status status = run_checks(&self);
  yoke__arena_free(&self.arena);
  YOKE_TRY(status);
  return messages->n_errors == n_before ? YOKE_OK : YOKE_BAD_INPUT;
}
