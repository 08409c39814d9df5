// Estimates on a unit that is a black box: sets of instances as estimate_shadow.h wants them, and what was learnt is used to begin
// again. The filter is linear about the unknowns that the nominal instance runs with. Where the unit is not linear in them and the
// first guess was far off, what it learns is not right, and it cannot forget it. So readings and known inputs are kept, and once the
// unknowns are known better, a second set of instances runs the record from the start with these, several steps in each step, and
// takes over when it has caught up. What was believed at the start stays what it was: nothing is counted twice.
//
// This needs instances that can go back to the start (restored, or not yet used).
//
// One step from t = k h to t + h:
//   yoke__black_correct(b, known, readings, have)   readings that belong to t, known inputs for the step
//   yoke__black_advance(b)                          instances and estimates to t + h
// Results belong to the time of the last call.
#ifndef YOKE_ESTIMATE_BLACK_H
#define YOKE_ESTIMATE_BLACK_H

#include "estimate/estimate_innovation.h"
#include "estimate/estimate_shadow.h"

#define YOKE_BLACK_MAX_SETS 8

// Who runs the instances. members x n_unknowns values theta, members x n_outputs values y.
typedef struct yoke_black_box {
  void* context;
  // One step from k to k + 1; y: outputs after it. The order of the members does not matter: they may run on several threads.
  yoke_status (*step)(void* context, size_t set, uint64_t k, const double known[],
                      const double theta[], double y[]);
  // Back to the start; y: outputs there. YOKE_NO_SUPPORT: this set cannot (any more).
  yoke_status (*restart)(void* context, size_t set, double y[]);
} yoke_black_box;

typedef struct yoke_black_setup {
  yoke_shadow_setup shadow;
  yoke_black_box box;
  size_t n_known;
  size_t n_sets;       // at least 1; of one there is no beginning again
  uint64_t n_history;  // steps that are kept
  uint32_t speed;      // steps of the record in a step, at least 2; 0: 4
} yoke_black_setup;

typedef struct yoke_black yoke_black;

// NULL: out of memory, which the arena notes.
yoke_black* yoke__black_prepare(const yoke_black_setup* setup, yoke_arena* arena);
// Restarts the first set.
yoke_status yoke__black_start(yoke_black* b);

yoke_status yoke__black_correct(yoke_black* b, const double known[], const double readings[],
                                const bool have[]);
yoke_status yoke__black_advance(yoke_black* b);

// Work beside the steps (estimate_shadow.h): whose it is, NULL: there is none. Where it is not done when it is needed, the next
// correction does it.
yoke_shadow* yoke__black_wants_work(const yoke_black* b);
bool yoke__black_needs_work(const yoke_black* b);

const double* yoke__black_outputs(const yoke_black* b);      // of its nominal instance
const yoke_shadow* yoke__black_shadow(const yoke_black* b);  // of the set that counts now
yoke_twin_verdict yoke__black_verdict(const yoke_black* b, yoke_finding* why);
uint32_t yoke__black_passes(const yoke_black* b);  // 1: never begun again
// The unknown that is further from its guess than sd and walk allow (five standard deviations), n_unknowns: none. *excursion: by how
// many. Where as much is unknown as there are sensors, unknowns take the faults of the unit upon them.
size_t yoke__black_find_far(const yoke_black* b, double* excursion);
bool yoke__black_is_replaying(const yoke_black* b);
uint64_t yoke__black_start_steps(void);  // steps whose readings are not judged

#endif
