// What a formulation is to the solver's front (circuit_solver.c). Full coordinates are x = [voltages of all nodes,
// fixed ones included; currents of all elements], the layout of circuit_equations.h.
#ifndef YOKE_CIRCUIT_ENGINE_H
#define YOKE_CIRCUIT_ENGINE_H

#include "circuit/circuit_method.h"
#include "circuit/circuit_solver.h"
#include "circuit/equations/circuit_equations.h"
#include "circuit/network/circuit_signals.h"

// Shared by the front and the engine; the front advances time and fills in what is common.
typedef struct yoke_circuit_core {
  const yoke_network* network;
  yoke_circuit_options options;  // resolved: no zeros that mean "default"
  yoke_method_plan plan;         // not for `ode`
  yoke_arena arena;              // everything that lives as long as the circuit
  yoke_signals* signals;
  yoke_equations* equations;  // full coordinates: initial configuration, linearisation, `dae`
  double t0, h;
  uint64_t k;       // steps done since start
  bool* is_closed;  // of each element: switches as decided at the last step boundary
  yoke_circuit_counts counts;
  bool is_measured;
  double cost_ns[YOKE_COST_N];
  yoke_circuit_reason reason;  // of the last failure; no text: none is known
} yoke_circuit_core;

// t0 + k h
static inline double yoke__core_time(const yoke_circuit_core* core) {
  return core->t0 + (double)core->k * core->h;
}

// For what looks at the equations from beside the front (circuit_linear.c).
yoke_circuit_core* yoke__circuit_core(yoke_circuit* circuit);

// What the matrix that is really solved adds to the sizes.
static inline void yoke__core_add_sizes(const yoke_sparse* matrix, uint32_t n,
                                        yoke_circuit_sizes* sizes) {
  yoke_sparse_stats stats = {0};
  if (matrix != NULL) {
    yoke__sparse_get_stats(matrix, &stats);
  }
  sizes->n_solved = n;
  sizes->n_solved_nonzeros = stats.n_nonzeros;
  sizes->n_factors = stats.n_factors;
  sizes->n_bytes += stats.n_bytes;
}

typedef struct yoke_circuit_engine {
  const char* name;
  yoke_status (*create)(yoke_circuit_core* core, yoke_messages* messages, void** self);
  void (*destroy)(void* self);  // what does not lie in the core's arena
  // Consistent values at core->t0 in full coordinates.
  yoke_status (*start)(void* self, const double x[], const double xdot[]);
  // From step k to k + 1 (the front counts k up afterwards): for each stage the engine calls yoke__signals_update.
  yoke_status (*step)(void* self);
  // Switch states have changed or a switch model's value has; called between steps only.
  yoke_status (*switched)(void* self);
  yoke_status (*refresh)(void* self);
  // The value of an element whose law depends on voltages or currents, as the last iteration had it; NULL: the front
  // evaluates the law at the solution.
  double (*law_value)(const void* self, uint32_t element);
  double (*voltage)(const void* self, uint32_t node);
  double (*current)(const void* self, uint32_t element);
  // dx/du over the last stage with the factor at hand, full coordinates; f_u: df/du in the rows of the equations.
  yoke_status (*sensitivity)(void* self, uint32_t input, double dx[]);
  size_t (*image_size)(const void* self);
  void (*save)(const void* self, void* image);
  void (*restore)(void* self, const void* image);
  void (*get_sizes)(const void* self, yoke_circuit_sizes* sizes);
} yoke_circuit_engine;

extern const yoke_circuit_engine yoke__engine_nodal;  // circuit_nodal.c
extern const yoke_circuit_engine yoke__engine_dae;    // circuit_dae.c
extern const yoke_circuit_engine yoke__engine_ode;    // circuit_ode.c

#endif
