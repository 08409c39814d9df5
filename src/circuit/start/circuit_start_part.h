// What the files of the initial configuration share: its record, and what each of them gives.
#ifndef YOKE_CIRCUIT_START_PART_H
#define YOKE_CIRCUIT_START_PART_H

#include <math.h>

#include "circuit/equations/circuit_equations.h"
#include "circuit/equations/circuit_projection.h"
#include "circuit/start/circuit_levels.h"
#include "circuit/start/circuit_start.h"

typedef enum yoke_start_row {
  YOKE_START_NONE,
  YOKE_START_VOLTAGE,
  YOKE_START_CURRENT,
  YOKE_START_DEPENDENT
} yoke_start_row;

struct yoke_start {
  yoke_equations* equations;
  yoke_signals* signals;
  const yoke_network* network;
  yoke_arena* arena;
  yoke_sparse_kernel kernel;
  uint32_t n;
  uint8_t* rows;      // yoke_start_row of each element
  double* target;     // what the row prescribes
  uint32_t* parents;  // graph search
  uint32_t n_dependent;
  bool is_soft;  // with the small resistances and conductances
  bool is_ready;
  yoke_sparse *matrix, *joint;
  bool has_matrix, has_joint;  // factored
  yoke_sparse_pattern wide;    // of the joint system
  // places of entries of J above and below, of Ahat, and of rates of dependent elements
  uint32_t *wide_J, *wide_J_low, *wide_ahat, *wide_rate;
  yoke_projection* projection;
  double *f, *J, *ahat, *bhat, *values, *rhs;
  double *x, *xdot, *v_limited;
  // of each node, NaN: none; NULL: nodes have none. Those that closed a loop are not in `levels`.
  const double* level;
  yoke_levels levels;
  yoke_circuit_reason reason;  // why there is no solution
};

typedef struct yoke_start_newton {
  bool is_joint;
  bool may_take_heap;
  int max_iterations;
  int n_iterations;
  double update;   // the last one, scaled
  uint32_t worst;  // column of the largest update
  int32_t singular_column;
} yoke_start_newton;

static inline bool yoke__start_has_level(const yoke_start* self, uint32_t node) {
  return self->level != NULL && !isnan(self->level[node]);
}

// ---- circuit_start_rows.c
// The row of each state and its value; n_dependent. NaN in `state`: free.
void yoke__start_classify(yoke_start* self, const double state[]);
// The joint matrix, once. Takes heap.
yoke_status yoke__start_make_joint(yoke_start* self);
// The equations with these rows at x (and xdot): J or values, and rhs with the residual.
void yoke__start_assemble_plain(yoke_start* self);
void yoke__start_assemble_joint(yoke_start* self);

// ---- circuit_start_newton.c
// From x and xdot as they are.
yoke_status yoke__start_iterate(yoke_start* self, yoke_start_newton* run);
// From a guess, by continuation where that is needed.
yoke_status yoke__start_solve_rows(yoke_start* self, yoke_start_newton* run);
// Says why there is no solution. NULL is fine for the messages.
void yoke__start_explain(yoke_start* self, yoke_status status, const yoke_start_newton* run,
                         yoke_messages* messages);

#endif
