// The parameters that a system file may set: what stands in `.param` lines outside of subcircuits,
// in the netlist or in the files that it includes. Their values are texts; one that is a plain
// number is the start of the variable, an expression gives none, so that it goes on following what
// it depends on. The reader of netlists (circuit/netlist/circuit_netlist.h) takes new values by their names.
#include <math.h>

#include "base/base_number.h"
#include "unit/circuit/unit_circuit_part.h"

yoke_status yoke__circuit_parameters(const yoke_network* network, yoke_arena* arena,
                                     yoke_variable** out, size_t* n) {
  *n = network->n_parameters;
  *out = yoke__arena_array(arena, network->n_parameters, sizeof **out);
  YOKE_TRY(yoke__arena_status(arena));
  for (uint32_t i = 0; i < network->n_parameters; i++) {
    const yoke_circuit_parameter* parameter = &network->parameters[i];
    double start = 0;
    if (!yoke__number_parse_suffix(parameter->text, &start)) {
      start = (double)NAN;
    }
    (*out)[i] = (yoke_variable){.name = parameter->name,
                                .text = parameter->text,
                                .type = YOKE_REAL,
                                .causality = YOKE_PARAMETER,
                                .start = start,
                                .offset = YOKE_NO_OFFSET};
  }
  return YOKE_OK;
}
