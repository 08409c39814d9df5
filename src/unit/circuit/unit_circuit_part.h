// Shared by the files of this folder: an open netlist and a circuit made from it.
#ifndef YOKE_UNIT_CIRCUIT_PART_H
#define YOKE_UNIT_CIRCUIT_PART_H

#include "circuit/circuit_solver.h"
#include "circuit/netlist/circuit_netlist.h"
#include "unit/circuit/unit_circuit.h"

// An open netlist. The network and the circuit are those of the file as it stands; a unit with
// parameters of its own makes a network of its own from the same bytes.
typedef struct circuit_file {
  yoke_unit_file base;
  yoke_unit_file_settings settings;
  yoke_unit_ops ops, isolated;
  yoke_arena arena;
  yoke_netlist* read;           // NULL: somebody else has read it
  const yoke_network* network;  // of base.netlist
  yoke_circuit* circuit;        // made to find errors, taken by the first unit that can use it
  yoke_variable* structure;     // top-level parameters
  size_t n_structure;
} circuit_file;

// What stands behind a variable.
typedef struct circuit_slot {
  enum { CIRCUIT_INPUT, CIRCUIT_QUANTITY, CIRCUIT_STATE_ONLY } kind;
  uint32_t input;    // CIRCUIT_INPUT
  yoke_probe probe;  // others: how it is read
  bool has_start, is_node_start;
  uint32_t start_index;  // element or node whose start value it is
} circuit_slot;

typedef struct circuit_layout {
  yoke_unit_info info;
  circuit_slot* slots;  // per variable
  size_t n_inputs, n_outputs;
  const yoke_probe** outputs;  // n_outputs
} circuit_layout;

typedef enum circuit_phase { CIRCUIT_MADE, CIRCUIT_INITIALISING, CIRCUIT_RUNNING } circuit_phase;

typedef struct circuit_unit {
  const circuit_file* file;
  yoke_arena arena;
  yoke_network* own;            // of a unit with parameters of its own, else NULL
  const yoke_network* network;  // own or that of the file
  yoke_circuit* circuit;
  yoke_circuit_options options;
  circuit_layout layout;
  circuit_phase phase;
  double *u, *du, *ddu;  // inputs and their derivatives for the next step
  double* u_last;        // what the solver's rates belong to: inputs at the end of the last step
  double* u_started;     // inputs that the initial configuration was made with
  double* column;        // scratch of derivatives: one number per variable
  const yoke_probe** probes;
  bool uses_rates;  // the method starts from the rates at the end of the last step
  double h;         // length of the last step, and the solver's steps in it
  int64_t n_inner;
  size_t n_integrals;  // outputs of which the integrals over a step are kept
  uint64_t n_unconverged_told, n_repivots_told, n_cold_told;
  yoke_messages warnings;  // of the last initial configuration
  bool is_start_told;
  yoke_messages faults;  // why the last operation failed
} circuit_unit;

// ---- unit_circuit_layout.c: variables, feedthrough and sizes from the network. Errors go to messages.
yoke_status yoke__circuit_lay_out(const yoke_network* network, yoke_arena* arena,
                                  yoke_messages* messages, circuit_layout* out);

// ---- unit_circuit_feedthrough.c: which outputs depend on which inputs while the states are held, as pairs of
// variables (inputs are variables 0 .. n_inputs-1, outputs follow them).
yoke_status yoke__circuit_feedthrough(const yoke_network* network,
                                      const yoke_probe* const outputs[], size_t n_outputs,
                                      yoke_arena* arena, yoke_feedthrough** out, size_t* n);

// ---- unit_circuit_parameters.c: the `.param` of the top level as variables, whose texts are the network's.
yoke_status yoke__circuit_parameters(const yoke_network* network, yoke_arena* arena,
                                     yoke_variable** out, size_t* n);

// ---- unit_circuit_options.c: the solver's options from the netlist and the system file.
yoke_status yoke__circuit_choose_options(const yoke_network* network,
                                         const yoke_unit_file_settings* settings,
                                         yoke_messages* messages, yoke_circuit_options* out);

#endif
