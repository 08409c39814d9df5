// The linear model of a circuit at its present point: x' = A x + B u + b, y = C x + D u + d.
//
// States are capacitor voltages and inductor currents (of junctions that hold a charge: their
// voltages), as many as are independent, in the order of the elements. Where the derivative of an
// input appears (a loop of capacitors closed by a source), a state is z - shift u instead of z.
// docs/circuit_c.md has the equations.
#ifndef YOKE_CIRCUIT_LINEAR_H
#define YOKE_CIRCUIT_LINEAR_H

#include "circuit/circuit_solver.h"

// What drives the model.
typedef enum yoke_drive_kind {
  YOKE_DRIVE_INPUT,  // input of the network
  YOKE_DRIVE_WAVE,   // a source with a wave, as an input
  YOKE_DRIVE_FIXED,  // a fixed node with a wave, as an input
} yoke_drive_kind;

typedef struct yoke_drive {
  yoke_drive_kind kind;
  uint32_t index;  // input, element or node
  double value;    // at present
} yoke_drive;

// All arrays lie in the arena of the call; matrices row by row.
typedef struct yoke_circuit_linear {
  uint32_t n_states, n_inputs, n_outputs;
  const yoke_drive* inputs;
  const uint32_t* states;  // elements
  double *A, *B, *C, *D;
  double *b, *d;  // offsets; only where asked for
  double* shift;  // n_states x n_inputs
  double* x;      // present state
} yoke_circuit_linear;

typedef struct yoke_linear_settings {
  const yoke_probe* const* outputs;
  size_t n_outputs;
  // sources with waves are inputs and b, d are filled: the whole of a linear circuit, not changes
  bool is_whole;
} yoke_linear_settings;

// Off the step path: takes heap. YOKE_NO_SUPPORT: an output needs the
// derivative of an input, more than YOKE_LINEAR_MAX unknowns; YOKE_SINGULAR: no such model.
#define YOKE_LINEAR_MAX 4000
yoke_status yoke__circuit_linear_make(yoke_circuit* circuit, const yoke_linear_settings* settings,
                                      yoke_arena* arena, yoke_circuit_linear* out,
                                      const yoke_sink* sink);

// Is the network linear with constant coefficients? Every element that is not gets a message with
// its name and place; YOKE_NO_SUPPORT if there was one. Waves of sources are no obstacle.
yoke_status yoke__circuit_linear_check(const yoke_network* network, yoke_messages* messages);
// The same for a probe: its value is a linear function of voltages, currents and inputs.
bool yoke__circuit_linear_probe(const yoke_probe* probe);

// ---- circuit_linear_eliminate.c: rows r with sum_j r_j q_j = 0 over quantities q = [unknowns;
// known ones], reduced one after another. Rows are scaled to a largest entry of 1 among the
// unknowns.
typedef struct yoke_elimination {
  size_t n, n_columns;  // unknowns; all quantities
  size_t n_rows;
  double* rows;  // n x n_columns
  size_t* pivots;
} yoke_elimination;

yoke_status yoke__elimination_create(size_t n, size_t n_columns, yoke_elimination* out);
void yoke__elimination_free(yoke_elimination* self);
// Reduces the row in place. True: it was independent and is kept. False: what is left of it says
// something about the known quantities alone (its unknowns are zero).
bool yoke__elimination_add(yoke_elimination* self, double row[]);
// With n rows: unknown j = sum_k solution[j n_known + k] known_k, n_known = n_columns - n.
// solution: n x n_known.
void yoke__elimination_solve(yoke_elimination* self, double solution[]);

#endif
