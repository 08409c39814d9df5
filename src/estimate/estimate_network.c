// Sizes of a thermal network, and what keeps it from being reduced.
#include "estimate/estimate_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"

yoke_heat_sizes yoke__heat_network_sizes(const yoke_heat_network* network) {
  const size_t n_flows = network->n_sources + network->n_resistors + network->n_capacities;
  return (yoke_heat_sizes){
      // unknowns of the full description: node temperatures and all flows
      .n = network->n_nodes + n_flows,
      // m algebraic equations: balances of the nodes, laws of sources and resistors;
      // p differential ones: n = m + p
      .m = network->n_nodes + network->n_sources + network->n_resistors,
      .p = network->n_capacities,
      .r = network->n_inputs,
  };
}

void yoke__heat_network_reach(const yoke_heat_network* network, const double g[],
                              bool is_reached[]) {
  // at most one sweep per node: each adds at least one, or it is the last
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (size_t e = 0; e < network->n_resistors; e++) {
      const yoke_heat_resistor* r = &network->resistors[e];
      // an edge with g = 0 joins nothing; one reached end reaches the other
      if (g[e] > 0.0 && is_reached[r->a] != is_reached[r->b]) {
        is_reached[r->a] = is_reached[r->b] = true;
        has_changed = true;
      }
    }
  }
}

// ---- check: elements in themselves

typedef struct check {
  const yoke_heat_network* network;
  const yoke_sink* sink;
  size_t n_errors;
} check;

static bool has_node(check* c, const char* what, const char* name, uint32_t node) {
  if (node < c->network->n_nodes) {
    return true;
  }
  c->n_errors++;
  yoke_fail(c->sink, YOKE_BAD_INPUT, "%s '%s' is connected to node %u, which does not exist", what,
            name, (unsigned)node);
  return false;
}

static void check_input(check* c, const char* what, const char* name, uint32_t input) {
  if (input >= c->network->n_inputs) {
    c->n_errors++;
    yoke_fail(c->sink, YOKE_BAD_INPUT, "%s '%s' belongs to input %u, which does not exist", what,
              name, (unsigned)input);
  }
}

static void check_resistors(check* c, const double g[]) {
  for (size_t e = 0; e < c->network->n_resistors; e++) {
    const yoke_heat_resistor* r = &c->network->resistors[e];
    const bool has_a = has_node(c, "resistor", r->name, r->a);
    if (has_node(c, "resistor", r->name, r->b) && has_a && r->a == r->b) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT, "resistor '%s' has both ends on node '%s'", r->name,
                c->network->nodes[r->a].name);
    }
    if (!yoke__is_finite(g[e]) || g[e] < 0.0) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT,
                "conductance of resistor '%s' must be 0 or more and finite, found %g W/K", r->name,
                g[e]);
    }
  }
}

static void check_capacities(check* c, const double capacity[]) {
  for (size_t i = 0; i < c->network->n_capacities; i++) {
    const yoke_heat_capacity* one = &c->network->capacities[i];
    if (!yoke__is_finite(capacity[i]) || capacity[i] <= 0.0) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT,
                "heat capacity '%s' must be positive and finite, found %g J/K", one->name,
                capacity[i]);
    }
    if (!has_node(c, "heat capacity", one->name, one->node)) {
      continue;
    }
    const yoke_heat_node* node = &c->network->nodes[one->node];
    if (node->fixed != YOKE_HEAT_FREE) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT,
                "heat capacity '%s' sits on node '%s', whose temperature is imposed", one->name,
                node->name);
    }
    for (size_t j = 0; j < i; j++) {
      if (c->network->capacities[j].node == one->node) {
        c->n_errors++;
        yoke_fail(c->sink, YOKE_BAD_INPUT,
                  "heat capacities '%s' and '%s' sit on the same node '%s': add them to one",
                  c->network->capacities[j].name, one->name, node->name);
      }
    }
  }
  if (c->network->n_capacities == 0) {
    c->n_errors++;
    yoke_fail(c->sink, YOKE_BAD_INPUT, "the network has no heat capacity: nothing changes in time");
  }
}

static void check_inputs(check* c) {
  for (size_t i = 0; i < c->network->n_sources; i++) {
    const yoke_heat_source* s = &c->network->sources[i];
    has_node(c, "heat source", s->name, s->node);
    check_input(c, "heat source", s->name, s->input);
    if (!yoke__is_finite(s->gain)) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT, "gain of heat source '%s' is not finite", s->name);
    }
  }
  for (size_t k = 0; k < c->network->n_nodes; k++) {
    const yoke_heat_node* node = &c->network->nodes[k];
    if (node->fixed != YOKE_HEAT_FREE) {
      check_input(c, "imposed temperature of node", node->name, node->fixed);
    }
  }
}

// ---- check: how they are connected

// Heat into a free node that floats would have nowhere to go.
static void check_paths(check* c, const double g[], bool is_reached[]) {
  // states and imposed temperatures are given: every other node has to hang on one of them
  for (size_t k = 0; k < c->network->n_nodes; k++) {
    is_reached[k] = c->network->nodes[k].fixed != YOKE_HEAT_FREE;
  }
  for (size_t i = 0; i < c->network->n_capacities; i++) {
    is_reached[c->network->capacities[i].node] = true;
  }
  yoke__heat_network_reach(c->network, g, is_reached);
  for (size_t k = 0; k < c->network->n_nodes; k++) {
    if (!is_reached[k]) {
      c->n_errors++;
      yoke_fail(c->sink, YOKE_BAD_INPUT,
                "node '%s' floats: no resistors lead from it to a heat capacity or an imposed "
                "temperature",
                c->network->nodes[k].name);
    }
  }
}

yoke_status yoke__heat_network_check(const yoke_heat_network* network, const double g[],
                                     const double c[], const yoke_sink* sink) {
  check work = {network, sink, 0};
  check_resistors(&work, g);
  check_capacities(&work, c);
  check_inputs(&work);
  if (work.n_errors == 0) {
    bool* is_reached = calloc(network->n_nodes + 1, sizeof *is_reached);
    YOKE_TRY_MEMORY(is_reached != NULL);
    check_paths(&work, g, is_reached);
    free(is_reached);
  }
  return work.n_errors > 0 ? YOKE_BAD_INPUT : YOKE_OK;
}
