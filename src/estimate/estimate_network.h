// A thermal network of lumped elements: temperatures of nodes, resistances, heat capacities, heat sources and imposed
// temperatures. Everything of it that may change lies in vectors: conductances g [W/K], capacities c [J/K] and inputs v (heat of
// the sources [W], imposed temperatures [K]).
//
//   g_e (T_a - T_b) = Q_e            resistor e, heat from a to b
//   c_i T_i' = Q_i                   capacity i, heat into it; its other end is 0 K
//   sum of heat into a node = 0      unless its temperature is imposed
//
// Source: lumped-parameter thermal model and its minimal variables, B. Rodriguez Frade, doctoral thesis, A Coruna 2021, chapter 4.
#ifndef YOKE_ESTIMATE_NETWORK_H
#define YOKE_ESTIMATE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_HEAT_FREE UINT32_MAX  // of a node: its temperature is not imposed

typedef struct yoke_heat_node {
  const char* name;
  uint32_t fixed;  // the input that is its temperature, or YOKE_HEAT_FREE
} yoke_heat_node;

typedef struct yoke_heat_resistor {
  const char* name;
  uint32_t a, b;
} yoke_heat_resistor;

typedef struct yoke_heat_capacity {
  const char* name;
  uint32_t node;
} yoke_heat_capacity;

typedef struct yoke_heat_source {
  const char* name;
  uint32_t node, input;
  double gain;  // heat into the node = gain * input
} yoke_heat_source;

// Texts and arrays belong to whoever made the network and outlive what is made from it.
typedef struct yoke_heat_network {
  const yoke_heat_node* nodes;
  const yoke_heat_resistor* resistors;
  const yoke_heat_capacity* capacities;
  const yoke_heat_source* sources;
  const char* const* input_names;
  size_t n_nodes, n_resistors, n_capacities, n_sources, n_inputs;
} yoke_heat_network;

// Sizes of the full set of equations, for reports: all variables, algebraic equations, states, inputs.
typedef struct yoke_heat_sizes {
  size_t n, m, p, r;
} yoke_heat_sizes;
yoke_heat_sizes yoke__heat_network_sizes(const yoke_heat_network* network);

// What cannot be reduced, each with the names: a free node without path to a capacity or an imposed temperature, two capacities
// on one node, a capacity on an imposed node, g negative or not finite, c not positive, no capacity at all, an index without
// element. All errors are sent; YOKE_BAD_INPUT if there was one. Takes heap.
yoke_status yoke__heat_network_check(const yoke_heat_network* network, const double g[],
                                     const double c[], const yoke_sink* sink);

// Marks in addition the nodes that resistors of a conductance above 0 connect with a marked one.
void yoke__heat_network_reach(const yoke_heat_network* network, const double g[],
                              bool is_reached[]);

// A quantity that follows from temperatures and inputs at one instant: what a sensor reads, what is asked for.
typedef enum yoke_heat_row_kind {
  YOKE_ROW_TEMPERATURE,  // of node `index` [K]
  YOKE_ROW_DIFFERENCE,   // of nodes `index` and `other` [K]
  YOKE_ROW_FLOW,         // through resistor `index` [W]
  YOKE_ROW_INPUT,        // input `index`
} yoke_heat_row_kind;

typedef struct yoke_heat_row {
  yoke_heat_row_kind kind;
  uint32_t index, other;
} yoke_heat_row;

#endif
