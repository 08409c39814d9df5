// A source without resistance holds each node at its level. Its current is known to nobody but the
// node's own Kirchhoff row, so that row is given up for
//
//   V_node - level = 0
//
// which needs one entry more than the pattern of J has. ngspice 39 does the same with `.ic`, or has
// a conductance of 1e10 S where the row holds currents of sources and coils.
#include "circuit/start/circuit_levels.h"

#include <math.h>
#include <string.h>

#include "circuit/equations/circuit_equations.h"

// a state that moves by less for 1 V or 1 K does not depend on it
#define NO_EFFECT 1e-12

// The pattern of J with the new entries, each in its place among the ascending rows of its column.
static void fill_pattern(yoke_levels* self, const yoke_equations* equations, const uint32_t of[],
                         int32_t starts[], int32_t rows[]) {
  const yoke_sparse_pattern* J = &equations->J;
  int32_t at = 0;
  for (int32_t j = 0; j < J->n; j++) {
    const uint32_t level = (uint32_t)j < equations->network->n_nodes ? of[j] : YOKE_NO_INDEX;
    bool is_open = level != YOKE_NO_INDEX;
    starts[j] = at;
    // one place behind the last row of the column, so that a new entry may come last
    for (int32_t k = J->starts[j]; k <= J->starts[j + 1]; k++) {
      const bool is_end = k == J->starts[j + 1];
      if (is_open && (is_end || (uint32_t)J->rows[k] > self->rows[level])) {
        self->diagonal[level] = (uint32_t)at;
        rows[at++] = (int32_t)self->rows[level];
        is_open = false;
      }
      if (!is_end) {
        self->place[k] = (uint32_t)at;
        rows[at++] = J->rows[k];
      }
    }
  }
  starts[J->n] = at;
}

yoke_status yoke__levels_create(yoke_levels* self, const yoke_equations* equations,
                                yoke_sparse_kernel kernel, yoke_arena* arena) {
  const uint32_t n = self->n;
  const size_t n_nodes = equations->network->n_nodes;
  const size_t nnz = (size_t)equations->nnz + n;
  self->rows = yoke__arena_array(arena, n, sizeof(uint32_t));
  self->diagonal = yoke__arena_array(arena, n, sizeof(uint32_t));
  self->is_gone = yoke__arena_array(arena, equations->n, sizeof *self->is_gone);
  self->place = yoke__arena_array(arena, equations->nnz, sizeof(uint32_t));
  self->entries = yoke__arena_array(arena, nnz, sizeof(double));
  uint32_t* of = yoke__arena_array(arena, n_nodes, sizeof *of);  // level of each node
  int32_t* starts = yoke__arena_array(arena, (size_t)equations->n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(arena, nnz, sizeof *rows);
  YOKE_TRY(yoke__arena_status(arena));
  memset(of, 0xff, n_nodes * sizeof *of);

  // the node's Kirchhoff row is given up for V - level = 0
  for (uint32_t i = 0; i < n; i++) {
    of[self->nodes[i]] = i;
    self->rows[i] = equations->kcl_rows[self->nodes[i]];
    self->is_gone[self->rows[i]] = 1;
  }
  fill_pattern(self, equations, of, starts, rows);
  const yoke_sparse_pattern pattern = {.n = equations->J.n, .starts = starts, .rows = rows};
  const yoke_sparse_settings settings = {.kernel = kernel, .n_slots = 1};
  return yoke__sparse_create(&pattern, &settings, arena, &self->matrix);
}

void yoke__levels_destroy(yoke_levels* self) {
  yoke__sparse_destroy(&self->matrix);
}

void yoke__levels_write(yoke_levels* self, const yoke_equations* equations, const double x[],
                        double f[], const double J[]) {
  // entries of rows given up are 0
  for (uint32_t k = 0; k < equations->nnz; k++) {
    self->entries[self->place[k]] = self->is_gone[equations->J.rows[k]] ? 0.0 : J[k];
  }
  for (uint32_t i = 0; i < self->n; i++) {
    self->entries[self->diagonal[i]] = 1.0;
    f[self->rows[i]] = x[self->nodes[i]] - self->values[i];
  }
}

bool yoke__levels_has_effect(const yoke_levels* self, const yoke_equations* equations, uint32_t i,
                             double work[]) {
  const yoke_network* network = equations->network;

  // dx / d level = J^-1 e: the response of all unknowns to the level
  memset(work, 0, equations->n * sizeof *work);
  work[self->rows[i]] = 1.0;
  yoke__sparse_solve(self->matrix, 0, work);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (equations->stamps[e].is_dynamic &&
        fabs(yoke__stamp_state(equations, e, work)) > NO_EFFECT) {
      return true;
    }
  }
  return false;
}
