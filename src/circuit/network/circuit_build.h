// A network made by a program: what the netlist reader stands on, and what a C program may use
// instead of a file. Texts, waves, tables and laws are copied into the network. Arrays grow by
// doubling; indices stay.
#ifndef YOKE_CIRCUIT_BUILD_H
#define YOKE_CIRCUIT_BUILD_H

#include "circuit/network/circuit_network.h"

// An empty network with ground as node 0 (name "0"), run settings at their defaults.
yoke_status yoke__network_create(const char* title, yoke_network** out);

// A node by name (case ignored), made if it is new. "0" and "gnd" are ground. YOKE_NO_INDEX: out of
// memory.
uint32_t yoke__network_node(yoke_network* network, const char* name, yoke_domain domain,
                            yoke_place place);
// Adds a copy of the element; YOKE_NO_INDEX: out of memory. Does not look for duplicates
// (yoke__network_find_element does).
uint32_t yoke__network_add(yoke_network* network, const yoke_element* element);
uint32_t yoke__network_add_mutual(yoke_network* network, const yoke_mutual* mutual);
uint32_t yoke__network_add_input(yoke_network* network, const yoke_circuit_input* input);
uint32_t yoke__network_add_output(yoke_network* network, const yoke_probe* probe);
uint32_t yoke__network_add_save(yoke_network* network, const yoke_probe* probe);
// The junction of a diode and, with rs > 0, its series resistance: elements "D1" and "D1#rs" with
// node "D1#1" between. Returns the junction.
uint32_t yoke__network_add_diode(yoke_network* network, const char* name, uint32_t a, uint32_t b,
                                 const yoke_junction_model* model, double rs, yoke_place place);
// Copies that live as long as the network. An element that is added with one of the last few keeps
// it without a second copy.
const yoke_wave* yoke__network_keep_wave(yoke_network* network, const yoke_wave* wave);
const yoke_expression* yoke__network_keep_law(yoke_network* network, const yoke_expression* law);

// Fixes a node at a value of any form (temperature source `name`), which is copied. Of a node that
// is fixed already the first value stays and yoke__network_check reports the second. Returns the
// node; YOKE_NO_INDEX: out of memory.
uint32_t yoke__network_fix_node(yoke_network* network, const char* name, uint32_t node,
                                const yoke_circuit_value* value, yoke_place place);

#endif
