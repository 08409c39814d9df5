// A netlist as `yoke info` looks at it.
#ifndef YOKE_APP_CIRCUIT_VIEW_H
#define YOKE_APP_CIRCUIT_VIEW_H

#include "base/base_json.h"
#include "base/base_number.h"
#include "circuit/circuit_netlist.h"
#include "circuit/circuit_network.h"
#include "unit/circuit/unit_circuit.h"
#include "unit/unit.h"

typedef struct yoke_circuit_view {
  const char* path;
  const yoke_network* network;
  const yoke_netlist_parameter* given;  // --set, with the names that the unit has
  size_t n_given;
  uint32_t n_nodes, n_fixed;  // without ground
  uint32_t n_of_kind[YOKE_ELEMENT_N_KINDS];
  yoke_unit unit;
  yoke_unit_circuit_figures figures;
  bool has_step;                  // the netlist gives one
  const yoke_messages* messages;  // of reader and checks
} yoke_circuit_view;

// The value of a parameter as it is written in the netlist or with --set.
const char* yoke__app_circuit_parameter(const yoke_circuit_view* view,
                                        const yoke_variable* parameter, char to[YOKE_NUMBER_SIZE]);

void yoke__app_circuit_text(const yoke_circuit_view* view);
void yoke__app_circuit_json(const yoke_circuit_view* view, yoke_json* json);

#endif
