// Netlists as units: a circuit or thermal network inside a system. See docs/circuit_unit.md.
#ifndef YOKE_UNIT_CIRCUIT_H
#define YOKE_UNIT_CIRCUIT_H

#include <stdint.h>

#include "unit/unit_file.h"

// A unit's view of a netlist. Errors and warnings of the file go to messages with their lines.
yoke_status yoke__circuit_file_open(const yoke_unit_file_settings* settings,
                                    yoke_messages* messages, yoke_unit_file** out);

// What a person wants to know of a circuit at work; texts belong to the unit.
typedef struct yoke_unit_circuit_figures {
  const char *title, *method, *formulation;
  double step;     // of the solver [s]
  int iterations;  // fixed number per stage; 0: until converged
  // sizes: all node voltages and element currents; then what is really solved
  uint32_t n, m, p, n_nonzeros, structural_rank, n_solved;
  size_t n_solved_nonzeros, n_factors, n_bytes;
  bool is_linear, is_constant;
  // counts since the start
  uint64_t n_steps, n_stages, n_iterations, n_unconverged;
  uint64_t n_refactors, n_repivots, n_switchings, n_cached;
  uint32_t max_iterations;
} yoke_unit_circuit_figures;

// False: the unit is no circuit, or it lives in a process of its own.
bool yoke__unit_circuit_figures(const yoke_unit_ops* ops, const void* self,
                                yoke_unit_circuit_figures* out);
// The variable is a node voltage, an element current or a probe that the netlist names: what is
// recorded when nothing else is said. False also for units that are no circuits.
bool yoke__unit_circuit_is_quantity(const yoke_unit_ops* ops, const void* self, size_t variable);

#endif
