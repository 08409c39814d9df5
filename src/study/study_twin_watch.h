// What a twin has found when a run over a record ends: values of the unknowns, innovations of the sensors, temperatures, and the
// verdict in a sentence.
#ifndef YOKE_STUDY_TWIN_WATCH_H
#define YOKE_STUDY_TWIN_WATCH_H

#include "base/base_json.h"
#include "estimate/estimate_innovation.h"
#include "study/study_twin_tune.h"
#include "yoke/simulation.h"

// Of an unknown, or of a temperature that the twin gives.
typedef struct yoke_twin_value {
  const char *name, *dim;
  double value, sd;
  int64_t n_hits;  // times that it was held at a bound
} yoke_twin_value;

typedef struct yoke_twin_sensor_result {
  const char *name, *dim;
  uint64_t n;            // readings
  uint64_t n_start;      // those of the start
  uint64_t n_gated;      // left out by the gate, beside these
  double rms, expected;  // of the innovations behind the start; what the filter expected of them
} yoke_twin_sensor_result;

typedef struct yoke_twin_watch {
  yoke_arena arena;
  const yoke_twin_study* study;
  const yoke_simulation* simulation;
  yoke_twin_value *unknowns, *outputs;
  yoke_twin_sensor_result* sensors;
  size_t n_unknowns, n_outputs, n_sensors;
  double *squares, *variances;  // per sensor: sums, behind the start
  uint64_t n_start;             // steps that belong to the start
  bool is_past_start;
  bool is_black_box;  // of a unit, not of a network
  uint64_t n_steps;   // that were seen
  int64_t n_resets;
  yoke_twin_verdict verdict;
  char text[512];  // the verdict
} yoke_twin_watch;

// When the simulation has started.
yoke_status yoke__twin_watch_begin(yoke_twin_watch* watch, const yoke_twin_study* study,
                                   const yoke_simulation* simulation);
// Before every step. No heap.
void yoke__twin_watch_step(yoke_twin_watch* watch);
// When it has ended: everything else is filled in.
void yoke__twin_watch_end(yoke_twin_watch* watch);
// An object, without its key. tuning: NULL: there was none.
void yoke__twin_watch_json(const yoke_twin_watch* watch, const yoke_twin_tuning* tuning,
                           yoke_json* json);
void yoke__twin_watch_free(yoke_twin_watch* watch);

// A wrong verdict, unless the file says that it does not count.
bool yoke__twin_watch_is_wrong(const yoke_twin_watch* watch);

#endif
