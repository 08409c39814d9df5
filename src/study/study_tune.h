// The best setting of a grid, and whether it is worth a change: the best points and the current setting are repeated with
// other seeds, and a change is advised only if the means differ by more than two standard deviations.
#ifndef YOKE_STUDY_TUNE_H
#define YOKE_STUDY_TUNE_H

#include "base/base_json.h"
#include "study/study_map.h"
#include "study/study_store.h"

#define YOKE_TUNE_N_BEST     5
#define YOKE_TUNE_DEVIATIONS 2.0  // by which the means must differ

// A setting and what its runs gave. The measure is the first one of the plan.
typedef struct yoke_candidate {
  size_t point;                // n_points: the current setting
  yoke_run_status status;      // of the first run
  double value;                // of the first run; NaN unless it is done
  size_t n_repeats, n_failed;  // repetitions that are done, and that are not
  double mean,
      deviation;  // of those that are done (n - 1 in the denominator); NaN if there are too few
} yoke_candidate;

typedef struct yoke_tune {
  yoke_candidate best[YOKE_TUNE_N_BEST];  // ascending by the first run, then by point
  size_t n_best;
  yoke_candidate current;
  size_t chosen;   // index into best of the lowest mean; n_best: none is usable
  bool is_change;  // advised
  char text[640];  // the advice in a sentence
} yoke_tune;

// The best points of a complete grid. Runs that were ended early by a unit do not count: measures that grow with time
// would favour them.
void yoke__tune_rank(const yoke_study* study, yoke_tune* tune);
// The repetitions 1 .. n of the best points and the current setting; room for (YOKE_TUNE_N_BEST + 1) n. Returns how many.
size_t yoke__tune_repetitions(const yoke_study* study, const yoke_tune* tune, size_t n,
                              size_t points[], size_t repeats[]);
// Means, deviations and advice, from n repetitions (0: the first runs decide).
void yoke__tune_decide(const yoke_study* study, size_t n, yoke_tune* tune);

// The value that a path has in a built system, for time.step, scheme, exchange and parameters; false if it is not known.
bool yoke__tune_setting(const yoke_system* system, const char* path, char* to, size_t size);
// "a=1, b=2" of a point, or of the current setting from its values per axis (NULL: not known).
void yoke__tune_describe(const yoke_study* study, size_t point, const char* const current[],
                         char* to, size_t size);
void yoke__tune_json(const yoke_study* study, const yoke_tune* tune, const char* const current[],
                     yoke_json* json);
// map.csv, and map.svg if there are one or two axes.
yoke_status yoke__tune_write_map(const yoke_study* study, const yoke_tune* tune,
                                 const char* const current[], const char* title,
                                 const yoke_sink* sink);

#endif
