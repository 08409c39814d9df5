// Initial tuning of a twin's unknowns over a record: passes of the filter, and beside them least squares from many starts, because
// a filter can end in a local optimum.
#ifndef YOKE_STUDY_TWIN_TUNE_H
#define YOKE_STUDY_TWIN_TUNE_H

#include "base/base_json.h"
#include "study/study_twin.h"

#define YOKE_TWIN_SAME_SD    3.0   // end points within so many standard deviations are the same,
#define YOKE_TWIN_GOOD_COST  2.0   // mean squares above it: the model does not describe the record
#define YOKE_TWIN_FAR        30.0  // times its guess, or sd of it: not without a second opinion
#define YOKE_TWIN_SAME_SHARE 0.01  // and within this share of the value

typedef struct yoke_twin_tuned {
  const char *name, *dim;
  const char* key;                    // in the system file
  double start, sd;                   // guess
  double pass, pass_sd, fit, fit_sd;  // where filter and least squares ended; NaN: they did not
  bool is_constant;                   // it has no walk: only these are compared, taken and written
  bool is_same;
} yoke_twin_tuned;

// Noise of a sensor that nobody has given, from the record.
typedef struct yoke_twin_sigma {
  const char *name, *dim;
  const char* key;   // in the system file
  const char* from;  // its source where that stands alone there; NULL: the sensor is a map
  double sigma;
} yoke_twin_sigma;

typedef struct yoke_twin_tuning {
  yoke_arena arena;
  yoke_twin_tuned* all;
  size_t n;
  yoke_twin_sigma* sigmas;
  size_t n_sigmas;
  bool has_laws;    // resistances that follow a law were taken as they are at the start
  double from, to;  // of the readings that count [s]
  size_t n_readings;
  size_t n_passes;
  bool is_converged;  // of the passes
  uint64_t n_hits;    // bounds in the last pass
  size_t n_starts, n_good;
  bool is_fitted;
  const char*
      walker;  // an unknown that changes during the record, so that there are no least squares; NULL: none does
  double pass_cost,
      fit_cost;  // mean square of the weighted residuals of the model at both end points
  bool is_agreed, takes_fit;
  bool is_poor;  // neither describes the record
  bool
      is_rejected;  // nothing of it is to be used: poor, or far from a guess without a second opinion
  char text[640];
} yoke_twin_tuning;

// from, to: readings outside do not count, and before `from` the model runs without correction; NaN: all. YOKE_DIVERGED or
// YOKE_NO_CONVERGENCE with a message if neither way led anywhere.
yoke_status yoke__twin_tune(const yoke_twin_study* study, double from, double to,
                            yoke_twin_tuning* out, const yoke_sink* sink);
// Settings "units.twin.unknown.r1.start=0.998", to be followed by a run or written. They belong to the tuning; NULL: out of memory.
const char* const* yoke__twin_tuning_sets(yoke_twin_tuning* tuning, const yoke_twin_study* study,
                                          size_t* n);
void yoke__twin_tuning_json(const yoke_twin_tuning* tuning, yoke_json* json);
void yoke__twin_tuning_free(yoke_twin_tuning* tuning);

#endif
