// Has a unit of the cluster changed, and was it learnt again? For the health record of model-based coupling.
//
// The models of the method are of first order and miss every step by an amount that goes with the motion; a change of a unit
// hardly shows in that. So each unit is watched by models of its own:
//
//   errors    of a model with two past outputs and inputs, against their usual level: fast, without noise only
//   windows   500 exchanges against the 500 before them, by exchange and by means of three: also with noise
//
// No heap, bounded work.
#ifndef YOKE_COUPLE_MPSM_CHANGE_H
#define YOKE_COUPLE_MPSM_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "couple/couple_mpsm_window.h"
#include "identify/identify_rls.h"
#include "yoke/message.h"

// A unit as the windows see it: samples are means over some exchanges.
typedef struct yoke_mpsm_change_view {
  bool is_used;
  int every;                 // exchanges per sample
  double limit;              // of F
  double* level;             // n: usual size of what the model misses
  double* rows;              // n x (q + 1): regressors and output of one sample
  double *y, *u;             // n, m: sums for the mean
  int n_in_mean;             // exchanges in them
  int n_judged, n_skipping;  // samples so far; that are still left out behind an outlier
  yoke_mpsm_window window;
} yoke_mpsm_change_view;

enum { YOKE_MPSM_CHANGE_VIEWS = 2 };

typedef struct yoke_mpsm_change_unit {
  yoke_rls rls;
  yoke_rls slow;            // of means
  size_t first_y, first_u;  // in the vectors of the cluster
  // n each: mean |y^k - y^{k-1}| of late, the largest so far, and the usual share of it that is missed
  double *motion, *largest, *level;
  int64_t n_seen, n_free;  // exchanges; those since the inputs are not held signals
  int n_past;              // samples in the history, as far as they matter
  int n_high;              // exchanges missed by far, less the others
  int n_low;               // exchanges in a row that fit again
  int n_since;             // exchanges since the change
  bool is_changed;         // by its errors, and not yet relearnt
  bool is_moved;           // by its windows, and not yet settled
  yoke_mpsm_change_view views[YOKE_MPSM_CHANGE_VIEWS];
  int n_in_block;           // exchanges
  size_t first_view;        // that is compared
  size_t n_compared;        // pairs of output and view since the last block was whole
  size_t n_moving, n_over;  // outputs that move, that changed
  bool is_moving, is_over;  // of the output in hand
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
                                      void* memory, const yoke_sink* sink);
// At every exchange: outputs of the cluster and the inputs that led to them. is_learning: the inputs are no model's yet.
void yoke__mpsm_change_observe(yoke_mpsm_change* change, const double y[], const double u[],
                               bool is_learning);
// The sample before the next one does not fit to it.
void yoke__mpsm_change_forget(yoke_mpsm_change* change);

#endif
