// Has a unit of the cluster changed, and was it learnt again? For the health record of model-based coupling.
//
// The models of the method are of first order and miss every step by an amount that goes with the motion; a change of a unit
// hardly shows in that. So each unit is watched by a model of its own, with two past outputs and two past inputs.
// No heap, bounded work.
#ifndef YOKE_COUPLE_MPSM_CHANGE_H
#define YOKE_COUPLE_MPSM_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identify/identify_rls.h"

typedef struct yoke_mpsm_change_unit {
  yoke_rls rls;
  size_t first_y, first_u;  // in the vectors of the cluster
  // n each: mean |y^k - y^{k-1}| of late, the largest so far, and the usual share of it that is missed
  double *motion, *largest, *level;
  int64_t n_seen, n_free;  // exchanges; those since the inputs are not held signals
  int n_past;              // samples in the history, as far as they matter
  int n_high;              // exchanges missed by far, less the others
  int n_low;               // exchanges in a row that fit again
  int n_since;             // exchanges since the change
  bool is_changed;
} yoke_mpsm_change_unit;

// n_units 0: nothing is watched.
typedef struct yoke_mpsm_change {
  size_t n_units;
  yoke_mpsm_change_unit* units;
  int64_t n_changes, n_relearnt;
} yoke_mpsm_change;

// Bytes of the block; n_outputs, n_inputs: of each unit.
size_t yoke__mpsm_change_size(size_t n_units, const size_t n_outputs[], const size_t n_inputs[]);
// Lays everything into memory (zeroed, aligned to 64).
yoke_status yoke__mpsm_change_prepare(yoke_mpsm_change* change, size_t n_units,
                                      const size_t n_outputs[], const size_t n_inputs[],
                                      void* memory, char* err, size_t err_size);
// At every exchange: outputs of the cluster and the inputs that led to them. is_learning: the inputs are no model's yet.
void yoke__mpsm_change_observe(yoke_mpsm_change* change, const double y[], const double u[],
                               bool is_learning);
// The sample before the next one does not fit to it.
void yoke__mpsm_change_forget(yoke_mpsm_change* change);

#endif
