// Signals of a foreign machine; see port_signals.h.
#include "unit/port/port_signals.h"

#include "base/base_hash.h"

// Each value lies in its 8 bytes of the unit's struct.
static void add(const yoke_port_signal* from, yoke_causality causality, size_t i,
                yoke_variable* variable, yoke_wire_signal* wire) {
  *variable = (yoke_variable){
      .name = from->name,
      .dim = from->dim,
      .type = from->wire.type,
      .causality = causality,
      .flags = from->has_start && causality == YOKE_INPUT ? YOKE_VARIABLE_HAS_START : 0,
      .start = from->start,
      .offset = 8 * i};
  *wire = from->wire;
}

const yoke_port_signals* yoke__port_signals_make(const yoke_port_signal inputs[], size_t n_inputs,
                                                 const yoke_port_signal outputs[], size_t n_outputs,
                                                 yoke_arena* arena) {
  const size_t n = n_inputs + n_outputs;
  yoke_port_signals* s = yoke__arena_take(arena, sizeof *s);
  yoke_variable* variables = yoke__arena_array(arena, n + 1, sizeof *variables);
  yoke_wire_signal* wires = yoke__arena_array(arena, n + 1, sizeof *wires);
  if (s == NULL || variables == NULL || wires == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    const bool is_input = i < n_inputs;
    add(is_input ? &inputs[i] : &outputs[i - n_inputs], is_input ? YOKE_INPUT : YOKE_OUTPUT, i,
        &variables[i], &wires[i]);
  }
  *s = (yoke_port_signals){
      .ops = {YOKE_UNIT_HEAD, .name = "port", .text = "signals of a machine or another program"},
      .info = {.variables = variables, .n_variables = n, .self_size = 8 * n},
      .sent = wires,
      .received = wires + n_inputs,
      .n_sent = n_inputs,
      .n_received = n_outputs,
  };
  s->ops.info = &s->info;
  s->sent_size = yoke__wire_size(s->sent, s->n_sent);
  s->received_size = yoke__wire_size(s->received, s->n_received);
  return s;
}

uint64_t yoke__port_signals_hash(const yoke_port_signals* signals, uint64_t hash) {
  for (size_t i = 0; i < signals->n_sent + signals->n_received; i++) {
    const yoke_wire_signal* wire = &signals->sent[i];  // received ones lie behind them
    const uint64_t as = (uint64_t)wire->as;
    hash = yoke__hash_bytes(hash, &as, sizeof as);
    hash = yoke__hash_bytes(hash, &wire->scale, sizeof wire->scale);
    hash = yoke__hash_bytes(hash, &wire->offset, sizeof wire->offset);
  }
  return hash;
}
