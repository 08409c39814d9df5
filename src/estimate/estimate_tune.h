// Parameters from a record by the filter itself: one pass over the record, the model is loaded with where it ended, again over the
// same record with the first covariance, until the values stay. Source: section "initial tuning" of the thesis named in
// estimate_network.h. Steady readings tell resistances, transients tell capacities: see the window of the record.
#ifndef YOKE_ESTIMATE_TUNE_H
#define YOKE_ESTIMATE_TUNE_H

#include "estimate/estimate_fit.h"

typedef struct yoke_tune_settings {
  double absolute,
      relative;  // passes end when the change (Euclidean norm) is below absolute, or each value's below relative
  size_t n_passes;  // at most
} yoke_tune_settings;

// 1e-10, 0 (off), 100 passes.
yoke_tune_settings yoke__tune_default(void);

typedef struct yoke_tune_result {
  double *values, *sd;  // n_unknowns, brought by the caller
  double* passes;       // n_passes x n_unknowns, values after each; NULL: not wanted
  size_t n_passes;      // done
  bool is_converged;
  uint64_t n_bound_hits;  // in the last pass
} yoke_tune_result;

// Before step `first` of the record's window the model runs without correction, with the present values. YOKE_DIVERGED with a message if a
// pass diverged; YOKE_NO_CONVERGENCE if the passes were not enough (values are the last ones).
yoke_status yoke__tune(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                       const yoke_tune_settings* settings, yoke_tune_result* result,
                       const yoke_sink* sink);

#endif
