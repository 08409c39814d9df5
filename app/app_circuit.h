// What commands say about a netlist.
#ifndef YOKE_APP_CIRCUIT_H
#define YOKE_APP_CIRCUIT_H

#include "app/app.h"
#include "base/base_json.h"
#include "unit/circuit/unit_circuit.h"

// Prints the netlist that is the first operand, with --set applied: sections for people or JSON. Returns the exit status.
int yoke__app_show_circuit(const yoke_options* options, bool is_json);
// The object "sizes" of a circuit.
void yoke__app_circuit_sizes_json(const yoke_unit_circuit_figures* f, yoke_json* json);

#endif
