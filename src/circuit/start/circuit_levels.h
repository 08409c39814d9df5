// Nodes that are held at a voltage while the operating point is sought (`.ic` without uic).
#ifndef YOKE_CIRCUIT_LEVELS_H
#define YOKE_CIRCUIT_LEVELS_H

#include "circuit/equations/circuit_equations.h"

typedef struct yoke_levels {
  uint32_t n;
  uint32_t* nodes;
  double* values;  // [V], [K]
  bool has_factors;
  yoke_sparse* matrix;
  double* entries;  // of the matrix
  // inside
  uint32_t* rows;      // Kirchhoff's row of each node
  uint8_t* is_gone;    // of each row of the equations: replaced
  uint32_t* place;     // in the matrix, of each entry of J
  uint32_t* diagonal;  // in the matrix, of each node
} yoke_levels;

// n, nodes and values are set; no node is fixed. Memory comes from the arena.
yoke_status yoke__levels_create(yoke_levels* self, const yoke_equations* equations,
                                yoke_sparse_kernel kernel, yoke_arena* arena);
void yoke__levels_destroy(yoke_levels* self);
// Kirchhoff's rows of the nodes in f and J become V - value; entries are those of the matrix then.
void yoke__levels_write(yoke_levels* self, const yoke_equations* equations, const double x[],
                        double f[], const double J[]);
// Does a state change with the value of node i? The matrix is factored; work: n numbers.
bool yoke__levels_has_effect(const yoke_levels* self, const yoke_equations* equations, uint32_t i,
                             double work[]);

#endif
