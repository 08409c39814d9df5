// Runs of one system with many settings, in memory, several at once. A plan says what is run and how it is judged; it is
// constant. A run is a point of the grid and the number of its repetition, and its result does not depend on how many
// others run beside it.
#ifndef YOKE_STUDY_RUN_H
#define YOKE_STUDY_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base_csv.h"
#include "study/study_measure.h"
#include "study/study_rig.h"
#include "study/study_vary.h"

typedef struct yoke_study_plan {
  const char* path;  // of the system file: for messages, and relative paths start there
  const char* bytes;
  size_t n_bytes;
  const char* const* sets;  // "path=value" of every run
  size_t n_sets;
  const yoke_grid* grid;
  const char* const* current;  // "path=value" of the point behind the last one of the grid
  size_t n_current;
  const char* seed;  // path that is set to 1, 2, ... in repetitions; NULL: there are none
  const yoke_study_measure* measures;
  size_t n_measures;
  const yoke_study_limit* limits;
  size_t n_limits;
  const yoke_csv* reference;  // NULL: none
  // "path=value" that make a reference of every point: the same system, run with these settings on top; n 0: none
  const char* const* reference_sets;
  size_t n_reference_sets;
  yoke_rig* rig;  // the machine, which one run leaves to the next; NULL: nothing is known of it
} yoke_study_plan;

// How a run ended.
#define YOKE_RUN_LIST(X)                                                                           \
  X(PENDING, "pending")   /* not run yet */                                                        \
  X(DONE, "done")         /* reached the stop time */                                              \
  X(ENDED, "ended")       /* a unit asked to end earlier */                                        \
  X(REFUSED, "refused")   /* the system cannot be built or started with these settings */          \
  X(SHORTAGE, "shortage") /* out of memory, disk, descriptors: says nothing, to be tried again */  \
  X(FAILED, "failed")     /* a unit failed */                                                      \
  X(DIVERGED, "diverged") /* a value became NaN or infinite, or a signal grows without bounds */   \
  X(LIMIT, "limit")       /* aborted: a limit of the study was violated */                         \
  X(QUALITY, "quality")   /* stopped: a limit of the system's `quality` was violated */            \
  X(LATE, "late")         /* stopped: a machine's deadlines were missed; to be tried again */      \
  X(CUT, "interrupted")   /* stopped from outside and led to SAFE; to be run again */

typedef enum yoke_run_status {
#define YOKE_RUN_ENUM(name, text) YOKE_RUN_##name,
  YOKE_RUN_LIST(YOKE_RUN_ENUM)
#undef YOKE_RUN_ENUM
      YOKE_RUN_N_STATUSES,
} yoke_run_status;
extern const char* const yoke__run_status_names[YOKE_RUN_N_STATUSES];

typedef struct yoke_study_result {
  yoke_run_status status;
  double t;  // time reached [s]
  double*
      values;  // n_measures, the caller's; NaN where there is none, and all of them unless the run is good
  char*
      reason;  // why it is not good, or why a number is missing; to be freed; NULL: nothing to say
  // of a run with a machine or with safe actions, else INIT: the state of the machine before it (of a machine only), and after
  yoke_run_state began, ended;
  bool
      is_latched;  // its machine is in FAULT: no other run may begin before somebody has looked at it
  unsigned n_faults;  // lines of the journal that say so
} yoke_study_result;

// Keeps a copy of a reason; "" is none.
yoke_status yoke__study_result_reason(yoke_study_result* result, const char* reason);
// All of a run that has ended elsewhere; values: n of them.
yoke_status yoke__study_result_set(yoke_study_result* result, yoke_run_status status, double t,
                                   const double values[], size_t n, const char* reason);

// It says nothing about the setting.
static inline bool yoke__run_is_void(yoke_run_status status) {
  return status == YOKE_RUN_SHORTAGE || status == YOKE_RUN_LATE || status == YOKE_RUN_CUT;
}

// Its measures count.
static inline bool yoke__run_is_good(yoke_run_status status) {
  return status == YOKE_RUN_DONE || status == YOKE_RUN_ENDED;
}

// One run: point n_points is the current setting; repeat 0 leaves the seed alone. Failures of the run are part of the
// result, shortages too. YOKE_INTERRUPTED once is_cancelled is true, unless there was something to be led to the safe state, or
// if the machine of an earlier run is in FAULT: nothing is known about the run.
yoke_status yoke__study_run(const yoke_study_plan* plan, size_t point, size_t repeat,
                            const atomic_bool* is_cancelled, yoke_study_result* result);

// Reads the system file of a plan and, unless it is NULL, the result that is its reference. bytes and table are to be freed,
// also after a failure.
yoke_status yoke__study_read_files(const char* path, const char* reference, char** bytes,
                                   yoke_csv* table, yoke_study_plan* plan, const yoke_sink* sink);

// The description of a plan's system with settings of its own.
yoke_status yoke__study_read_scenario(const yoke_study_plan* plan, const char* const sets[],
                                      size_t n, yoke_messages* messages, yoke_scenario** out);
// Starts a system that was loaded. What units report and every message go to the sink.
yoke_status yoke__study_start(yoke_system* system, const yoke_sink* sink, yoke_state** state);
// Macro steps until t is reached. A failure is sent to the sink.
yoke_status yoke__study_step_to(const yoke_system* system, yoke_state* state, double t,
                                const yoke_sink* sink);
// A system with its state; either may be NULL, both become so.
void yoke__study_destroy(yoke_system** system, yoke_state** state);

// Reads, builds and starts the system of a run without stepping it. Messages go to `messages`. On failure both are NULL;
// else yoke__study_destroy.
yoke_status yoke__study_build(const yoke_study_plan* plan, size_t point, size_t repeat,
                              yoke_messages* messages, yoke_system** system, yoke_state** state);
// Whether a run can be started and has what the measures and limits name; plan->rig gets the machine that is found. All
// messages go to `messages`.
yoke_status yoke__study_check(const yoke_study_plan* plan, size_t point, size_t repeat,
                              yoke_messages* messages);

typedef struct yoke_study_case {
  size_t point, repeat;
  yoke_study_result* result;
} yoke_study_case;

// Called in the thread that runs the batch.
typedef struct yoke_batch_calls {
  // a run has ended; negative ends the batch
  yoke_status (*finished)(void* context, const yoke_study_case* run);
  // several times per second; n_done of the batch
  void (*progress)(void* context, size_t n_done);
  bool (*is_interrupted)(void);
  void* context;
  // other ranks that take part, after yoke__share_begin (study_share.h); NULL: none
  struct yoke_share* share;
  // why a rank cannot take part; the batch ends with YOKE_BAD_INPUT
  const yoke_sink* sink;
} yoke_batch_calls;

// All cases on n_jobs threads, and on as many of every other rank. `finished` sees them in the order in which they end.
// YOKE_INTERRUPTED, what `finished` returned, or YOKE_NO_MEMORY: the cases that were not reported are not run, and the
// other ranks have stopped.
yoke_status yoke__study_batch(const yoke_study_plan* plan, const yoke_study_case cases[],
                              size_t n_cases, int n_jobs, const yoke_batch_calls* calls);

// "unit.variable" of an output (index into Y) as a recording names it.
void yoke__study_output_name(const yoke_system* system, size_t y, char* to, size_t size);

// Runs the reference system of a point, which was started, and keeps what a result file of it would hold: all rows until the
// system that is judged has ended, of the outputs that the plan's measures and limits compare. is_run false: only the start.
// out: to be freed by yoke__csv_free in any case. YOKE_BAD_INPUT and others with a message: the run failed, or would not fit
// into memory.
yoke_status yoke__study_reference(const yoke_study_plan* plan, const yoke_system* judged,
                                  yoke_system* system, yoke_state* state, bool is_run,
                                  const atomic_bool* is_cancelled, yoke_messages* messages,
                                  yoke_csv* out);

#endif
