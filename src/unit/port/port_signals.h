// Signals of a foreign machine: a unit that the system file describes signal by signal, with no model beside it.
#ifndef YOKE_UNIT_PORT_SIGNALS_H
#define YOKE_UNIT_PORT_SIGNALS_H

#include "base/base_arena.h"
#include "unit/port/port_wire.h"
#include "yoke/unit.h"

typedef struct yoke_port_signal {
  const char* name;
  const char* dim;  // NULL: none
  yoke_wire_signal wire;
  double start;
  bool has_start;  // an input that may stay unconnected
} yoke_port_signal;

typedef struct yoke_port_signals {
  yoke_unit_ops ops;  // variables and their values; it cannot be stepped
  yoke_unit_info info;
  const yoke_wire_signal *sent, *received;
  size_t n_sent, n_received;
  size_t sent_size, received_size;  // bytes on the wire
} yoke_port_signals;

// Inputs, then outputs, in their order. Lives in the arena; NULL: no memory.
const yoke_port_signals* yoke__port_signals_make(const yoke_port_signal inputs[], size_t n_inputs,
                                                 const yoke_port_signal outputs[], size_t n_outputs,
                                                 yoke_arena* arena);
// The fingerprint of a port continued by how its signals travel.
uint64_t yoke__port_signals_hash(const yoke_port_signals* signals, uint64_t hash);

#endif
