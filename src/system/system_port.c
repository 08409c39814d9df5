// Ports of the system file; see system_port.h.
#include "system/system_port.h"

static yoke_port_signal* convert(const yoke_scenario_signals* from, yoke_arena* arena) {
  yoke_port_signal* to = yoke__arena_array(arena, from->n + 1, sizeof *to);
  for (size_t i = 0; to != NULL && i < from->n; i++) {
    const yoke_scenario_signal* s = &from->all[i];
    to[i] = (yoke_port_signal){
        .name = s->name,
        .dim = s->dim,
        .wire = {s->type, (yoke_wire_type)s->as, s->scale, s->offset},
        .start = s->start,
        .has_start = s->has_start,
    };
  }
  return to;
}

const yoke_port_signals* yoke__system_port_signals(const yoke_scenario_port* port,
                                                   yoke_arena* arena) {
  const yoke_port_signal* inputs = convert(&port->inputs, arena);
  const yoke_port_signal* outputs = convert(&port->outputs, arena);
  return inputs == NULL || outputs == NULL
             ? NULL
             : yoke__port_signals_make(inputs, port->inputs.n, outputs, port->outputs.n, arena);
}
