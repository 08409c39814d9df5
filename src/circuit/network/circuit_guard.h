// What must hold while a circuit runs: resistances, capacitances and inductances that are laws keep
// away from 0 and stay numbers, temperatures stay above absolute zero.
#ifndef YOKE_CIRCUIT_GUARD_H
#define YOKE_CIRCUIT_GUARD_H

#include "circuit/network/circuit_network.h"

typedef struct yoke_guard {
  uint32_t *elements, n_elements;  // R, C and L with a law
  int8_t* signs;                   // of their values at the start; 0: not known yet
  double* values;                  // as last accepted
  uint32_t *nodes, n_nodes;        // thermal nodes that may be the coldest
} yoke_guard;

yoke_status yoke__guard_create(const yoke_network* network, yoke_arena* arena, yoke_guard* out);
// A new run: signs are those of the first values that are checked.
void yoke__guard_start(yoke_guard* self);
// Is `value` possible for the element of the list at `index`? If not, the reason says why.
bool yoke__guard_accepts(yoke_guard* self, const yoke_network* network, uint32_t index,
                         double value, double t, yoke_circuit_reason* reason);
// A step did not converge: does the value of this element fall or rise steeply in it? Then the
// reason says so.
bool yoke__guard_suspects(const yoke_guard* self, const yoke_network* network, uint32_t index,
                          double value, double t, yoke_circuit_reason* reason);
// What is wrong with the value of an element that has a law, or with its slope if the value is
// possible. is_turned: its sign has changed.
void yoke__guard_explain(const yoke_network* network, uint32_t index, bool is_turned, double value,
                         double t, yoke_circuit_reason* reason);

#endif
