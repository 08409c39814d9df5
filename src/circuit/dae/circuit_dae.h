// What the two files of the engine `dae` share.
#ifndef YOKE_CIRCUIT_DAE_H
#define YOKE_CIRCUIT_DAE_H

#include "circuit/circuit_engine.h"
#include "circuit/equations/circuit_projection.h"
#include "circuit/start/circuit_start.h"

// When the matrix must be factored again.
typedef enum yoke_dae_renewal {
  YOKE_DAE_NEVER,      // constant until a switch moves
  YOKE_DAE_STAGE,      // linear, moving with time or inputs
  YOKE_DAE_ITERATION,  // depends on x, or asked for
} yoke_dae_renewal;

typedef struct yoke_dae {
  yoke_circuit_core* core;
  uint32_t n, nnz;
  yoke_dae_renewal renewal;
  yoke_sparse* matrix;
  yoke_projection* projection;               // NULL: none
  yoke_start* holder;                        // states held: after switches, and on request
  double* x[YOKE_METHOD_MAX_HISTORY];        // x_k, x_{k-1}, ...
  double* rate[YOKE_METHOD_MAX_STAGES + 1];  // xdot_0 (of x_k), then those of the stages
  double *next, *c, *f, *J, *v_limited;
  double* floor;   // of each row of f: what rounding leaves
  double last_a0;  // of the last stage, with c and the slot: sensitivities
  uint32_t last_slot;
  bool is_stale[2];  // factors of a slot do not belong to the matrix as it is
  bool has_failed;   // the last step did; `next` is where
  bool has_stage;    // c, last_a0 and last_slot hold a stage
  int64_t mark_ns;
} yoke_dae;

// ---- circuit_dae_step.c
yoke_status yoke__dae_step(void* memory);
// Factors of a slot for the values in self->J; new pivots where the old ones fail (counted).
yoke_status yoke__dae_renew(yoke_dae* self, uint32_t slot);

#endif
