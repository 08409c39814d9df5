// Passes of the filter over one record: see estimate_tune.h.
#include "estimate/estimate_tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"

yoke_tune_settings yoke__tune_default(void) {
  return (yoke_tune_settings){.absolute = 1e-10, .n_passes = 100};
}

typedef struct tuner {
  yoke_estimate_setup setup;  // with unknowns of its own
  const yoke_estimate_record* record;
  yoke_unknown* unknowns;
  double *values, *z, *v, *readings;
  bool* have;
} tuner;

static yoke_status take_memory(tuner* t, const yoke_estimate_setup* setup, yoke_arena* arena) {
  const size_t n = setup->n_unknowns;
  t->setup = *setup;
  t->unknowns = yoke__arena_array(arena, n + 1, sizeof *t->unknowns);
  t->values = yoke__arena_array(arena, n + 1, sizeof(double));
  t->z = yoke__arena_array(arena, setup->network->n_capacities + 1, sizeof(double));
  t->have = yoke__arena_array(arena, setup->n_sensors + 1, sizeof *t->have);
  YOKE_TRY(yoke__arena_status(arena));
  memcpy(t->unknowns, setup->unknowns, n * sizeof *t->unknowns);
  t->setup.unknowns = t->unknowns;
  for (size_t i = 0; i < n; i++) {
    t->values[i] = setup->unknowns[i].start;
  }
  return YOKE_OK;
}

// One pass: from the first covariance and the present values to new ones.
static yoke_status run_pass(tuner* t, yoke_tune_result* result, const yoke_sink* sink) {
  const yoke_estimate_record* record = t->record;
  const size_t r = t->setup.network->n_inputs, n_sensors = t->setup.n_sensors;
  const size_t end = record->end > 0 && record->end < record->n ? record->end : record->n;
  yoke_arena arena = {0};
  yoke_heat_run* run;
  yoke_estimate* f;

  // values of the last pass as guesses, with the covariance of the first: what is known already
  // does not count twice
  for (size_t i = 0; i < t->setup.n_unknowns; i++) {
    t->unknowns[i].start = t->values[i];
  }

  // without correction to the window
  yoke_status status = yoke__heat_run_prepare(&t->setup, record, &arena, &run, sink);
  status = status < 0 ? status : yoke__heat_run(run, t->values, NULL, t->z);
  status = status < 0 ? status : yoke__estimate_prepare(&t->setup, &arena, &f, sink);
  const double* z = record->z == NULL && record->first == 0 ? NULL : t->z;
  status = status < 0 ? status : yoke__estimate_start(f, z, record->v + record->first * r);

  for (size_t k = record->first; k < end && status >= 0; k++) {
    const double* readings = record->readings + k * n_sensors;
    for (size_t j = 0; j < n_sensors; j++) {
      t->have[j] = isfinite(readings[j]);
    }
    status = yoke__estimate_correct(f, record->v + k * r, readings, t->have);
    if (status >= 0 && k + 1 < end) {
      status = yoke__estimate_predict(f, yoke__record_line(record, r, k),
                                      yoke__record_slope(record, r, k));
    }
  }
  if (status >= 0 && yoke__estimate_state_of(f) == YOKE_ESTIMATE_DIVERGED) {
    status = YOKE_DIVERGED;
  }
  result->n_bound_hits = 0;
  for (size_t i = 0; i < t->setup.n_unknowns && status >= 0; i++) {
    yoke__estimate_unknown(f, i, &result->values[i], &result->sd[i]);
    result->n_bound_hits += yoke__estimate_bound_hits(f, i);
    status = isfinite(result->values[i]) ? status : YOKE_DIVERGED;
  }
  yoke__arena_free(&arena);
  return status;
}

// did this pass change nothing that matters?
static bool is_at_rest(const tuner* t, const yoke_tune_settings* settings,
                       const yoke_tune_result* result) {
  double sum = 0, relative = 0;
  for (size_t i = 0; i < t->setup.n_unknowns; i++) {
    const double change = result->values[i] - t->values[i];
    sum += change * change;
    // change against the values, and its length in their own units
    relative = fmax(relative, fabs(change) / fmax(fabs(t->values[i]), 1e-300));
  }
  return sqrt(sum) < settings->absolute || relative < settings->relative;
}

static yoke_status run_passes(tuner* t, const yoke_tune_settings* settings,
                              yoke_tune_result* result, const yoke_sink* sink) {
  const size_t n = t->setup.n_unknowns;
  while (result->n_passes < settings->n_passes && !result->is_converged) {
    const yoke_status status = run_pass(t, result, sink);
    if (status < 0) {
      memcpy(result->values, t->values, n * sizeof *t->values);
      return yoke_fail(sink, status, "pass %zu over the record diverged", result->n_passes + 1);
    }
    // every pass is kept for the figure
    if (result->passes != NULL) {
      memcpy(result->passes + result->n_passes * n, result->values, n * sizeof *t->values);
    }
    result->n_passes++;
    result->is_converged = is_at_rest(t, settings, result);
    memcpy(t->values, result->values, n * sizeof *t->values);
  }
  return result->is_converged ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__tune(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                       const yoke_tune_settings* settings, yoke_tune_result* result,
                       const yoke_sink* sink) {
  yoke_arena arena = {0};
  tuner t = {.record = record};
  result->n_passes = 0;
  result->is_converged = false;
  yoke_status status = take_memory(&t, setup, &arena);
  status = status < 0 ? status : run_passes(&t, settings, result, sink);
  yoke__arena_free(&arena);
  return status;
}
