// Parameters of a thermal network from a record: the model is run over it without correction, and the unknowns are those with the
// smallest squares of what the sensors read less what it says, each over the sensor's sigma. Bounded, from several starts. Beside
// the filter's own tuning (estimate_tune.h), because a filter can end in a local optimum.
//
//   minimise  sum_k sum_j ((o_jk - h_j(z_k, v_k; rho)) / sigma_j)^2,  z_{k+1} = F(rho) z_k + G(rho) v_k + G2(rho) v'_k
//
// by Levenberg and Marquardt with log(rho) for resistances and capacities. Off the step path: takes heap.
#ifndef YOKE_ESTIMATE_FIT_H
#define YOKE_ESTIMATE_FIT_H

#include "estimate/estimate_filter.h"

// What was measured, at the times k h, k = 0 .. n - 1.
typedef struct yoke_estimate_record {
  size_t n;
  const double* v;  // n x inputs; those that are unknown are not used
  // n x inputs: over the step from k h on they are line + slope s; NULL: v, held
  const double *line, *slope;
  const double* readings;  // n x sensors; NaN: no reading
  const double*
      z;  // temperatures of the capacities at the start; NULL: at rest at the first inputs
  // only readings of the steps first .. end - 1 count; end 0: all
  size_t first, end;
} yoke_estimate_record;

// Of the step from k h on, r inputs: where they begin, and their slope or NULL.
static inline const double* yoke__record_line(const yoke_estimate_record* record, size_t r,
                                              size_t k) {
  return (record->line != NULL ? record->line : record->v) + k * r;
}
static inline const double* yoke__record_slope(const yoke_estimate_record* record, size_t r,
                                               size_t k) {
  return record->slope != NULL ? record->slope + k * r : NULL;
}

typedef struct yoke_fit_settings {
  size_t n_starts;   // 1: only the guesses; more: spread around them by factors of up to `spread`
  double spread;     // 100
  double tolerance;  // of all values, relative
  size_t n_iterations;  // at most, of each start
  uint64_t seed;
} yoke_fit_settings;

// 8 starts within a factor of 100, 60 iterations, 1e-8.
yoke_fit_settings yoke__fit_default(void);

typedef struct yoke_fit_result {
  double *values,
      *sd;  // n_unknowns, brought by the caller; sd: of the linearised problem; infinite where nothing tells it
  double cost;  // mean square of the weighted residuals: about 1 if model and sigma are right
  size_t n_starts,
      n_good;           // tried; ended within 1 % of the best cost at the same values (1 % or 3 sd)
  size_t n_iterations;  // of the best
  bool is_converged, at_bound;
} yoke_fit_result;

// YOKE_BAD_ARG with a message if no reading counts or there are fewer of them than unknowns; YOKE_NO_CONVERGENCE if no start came to
// rest (values are the best that were seen).
yoke_status yoke__fit(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                      const yoke_fit_settings* settings, yoke_fit_result* result,
                      const yoke_sink* sink);

// ---- the model over a record, without correction
typedef struct yoke_heat_run yoke_heat_run;
yoke_status yoke__heat_run_prepare(const yoke_estimate_setup* setup,
                                   const yoke_estimate_record* record, yoke_arena* arena,
                                   yoke_heat_run** out, const yoke_sink* sink);
// With these values of the unknowns. residuals: (end - first) x sensors, weighted, 0 where there is no reading; NULL: not wanted. z: the
// temperatures at step `first`; NULL: not wanted. YOKE_SINGULAR or YOKE_DIVERGED: there is no such run.
yoke_status yoke__heat_run(yoke_heat_run* run, const double values[], double residuals[],
                           double z[]);

#endif
