// Pacing: steps are released at the times of a fixed grid of the clock (docs/pace.md).
//
//   grid time of slot k = start + k * H / factor, from the integer k, never summed
//
//   release     the clock is read first; only what is left to the grid time is slept
//   end         the step is late if it ends behind the next grid time; the slots whose time passed meanwhile were missed
//
// One flat object: figures are written by the stepping thread alone and read when it has stopped. No heap, and one system call
// per step: the sleep. The clock is given, so that all of this can be tested with one that does not move by itself.
#ifndef YOKE_MASTER_PACE_H
#define YOKE_MASTER_PACE_H

#include <stdatomic.h>

#include "base/base_histogram.h"
#include "base/base_realtime.h"
#include "master/master_safe.h"
#include "scenario/scenario.h"
#include "yoke/status.h"

typedef struct yoke_pace_clock {
  int64_t (*now_ns)(void* self);
  void (*sleep_until_ns)(void* self, int64_t time_ns);  // returns then, or later
  void* self;
  // returns when *word is not `value` any more, or at that time
  void (*await_ns)(void* self, _Atomic uint32_t* word, uint32_t value, int64_t time_ns);
} yoke_pace_clock;

// The monotonic clock; sleeps until shortly before the time and spins for the rest.
extern const yoke_pace_clock yoke__pace_monotonic;

// The grid.
typedef struct yoke_pace_grid {
  int64_t start_ns;
  double period_ns;  // of the clock
} yoke_pace_grid;

static inline int64_t yoke__pace_time(const yoke_pace_grid* grid, int64_t slot) {
  const double ns = (double)slot * grid->period_ns;
  return grid->start_ns + (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

// How a step that was released at the time of `slot` did, by the time of its end.
typedef struct yoke_pace_outcome {
  bool is_overrun;   // it ended behind the time of slot + 1
  int64_t n_missed;  // slots whose time had passed by then, the step's own left out
} yoke_pace_outcome;

yoke_pace_outcome yoke__pace_classify(const yoke_pace_grid* grid, int64_t slot, int64_t end_ns);

// Computing time of one unit, over all its calls in a macro step.
typedef struct yoke_pace_unit {
  int64_t step_ns;    // of the present macro step so far
  int64_t budget_ns;  // 0: no limit
  int64_t n_over;     // macro steps that took longer
  bool is_physical;
  bool is_own;              // it has a thread of its own:
  int64_t n_joins, n_late;  // times at which its outputs were due, and were not there
  int64_t n_late_run, longest_late_run;
  bool is_failed;  // it is not called any more; its last outputs are held
  yoke_histogram ns;
} yoke_pace_unit;

// What was asked of the system, and what it answered.
typedef struct yoke_pace_grants {
  yoke_grant memory, priority, affinity;
  int processor;
  char why_no_priority[80];  // why it was not asked for; "" if it was
} yoke_pace_grants;

typedef struct yoke_pace {
  _Atomic int shown;  // the rig's state, for other threads; first, since it is never cleared
  yoke_pace_clock clock;
  yoke_pace_grid grid;
  double factor;
  yoke_overrun overrun;
  int64_t limit;

  int64_t slot;      // to be released next
  int64_t begin_ns;  // of the present step
  int64_t n_owed;    // skip: slots that the next step has to compute besides its own
  bool is_holding;   // such a slot is being computed: physical units are left alone

  // figures
  int64_t n_releases, n_steps;  // releases; macro steps computed
  int64_t n_overruns, n_missed;
  int64_t n_held;              // steps computed without the physical units
  int64_t n_run, longest_run;  // overruns in a row
  int64_t n_run_at_stop;       // those that made the run stop
  int64_t n_late_joins;  // outputs of units with threads of their own that were not there in time
  size_t late_unit;      // whose made the run stop; YOKE_NOT_FOUND: none
  int64_t longest_late_ns;  // end behind the deadline
  int64_t lag;              // slots by which simulated time is behind the clock
  int64_t end_ns;           // when the last step had ended
  yoke_histogram late_ns;   // release behind its grid time
  yoke_histogram step_ns;   // begin to end of a step
  yoke_pace_grants grants;

  // the watchdog's
  _Atomic int64_t busy_since_ns;  // the present step; 0: none
  _Atomic bool is_overdue;        // a step took longer than the watchdog allows
  int64_t watchdog_ns;            // 0: none

  yoke_safe safe;
  bool is_tolerant;          // the run goes on without a unit that failed, to be stopped in order
  _Atomic int64_t n_failed;  // such units
  size_t n_units, n_y;
  yoke_pace_unit* units;  // these lie behind this object in the same block
  double* y_last;         // 2 * n_y: outputs at the start of the slot, for units that fail in it
} yoke_pace;

// One block for the pacer, its units and their outputs; zeroed. NULL: no memory.
yoke_pace* yoke__pace_create(size_t n_units, size_t n_y);
// All figures at 0, and nothing is set.
void yoke__pace_clear(yoke_pace* pace);

// The grid begins now, with slot 0.
void yoke__pace_start(yoke_pace* pace);
// Waits for the time of the next slot, unless it has passed, and begins a step there.
void yoke__pace_release(yoke_pace* pace);
// The step has ended: counts, and chooses the slot of the next one by the policy. n_steps: macro steps that it computed. True
// if it was late.
bool yoke__pace_end(yoke_pace* pace, int64_t n_steps);
// The last step has been computed: waits for the end of its slot, so that simulated time and clock end together.
void yoke__pace_finish(yoke_pace* pace);
// What was missed is not computed any more: simulated time stays behind by it.
void yoke__pace_drop_owed(yoke_pace* pace);
// The policy says that the run must stop.
bool yoke__pace_must_stop(const yoke_pace* pace);
// Deadlines were missed beyond the limit.
bool yoke__pace_is_beyond(const yoke_pace* pace);

// Whether the step that is being computed has taken longer than the watchdog allows.
static inline bool yoke__pace_is_overdue(const yoke_pace* pace, int64_t now_ns) {
  const int64_t since = atomic_load_explicit(&pace->busy_since_ns, memory_order_relaxed);
  return since != 0 && pace->watchdog_ns > 0 && now_ns - since > pace->watchdog_ns;
}

// Whether a unit is not called in this slot.
static inline bool yoke__pace_leaves_out(const yoke_pace* pace, size_t unit) {
  const yoke_pace_unit* u = &pace->units[unit];
  return u->is_failed || (pace->is_holding && u->is_physical);
}

// Until when a unit with a thread of its own is waited for in the present step: to shortly before the next release, so that the
// exchange is not late, and no longer than its budget.
int64_t yoke__pace_join_time(const yoke_pace* pace, size_t unit, int64_t started_ns);
void yoke__pace_note_join(yoke_pace* pace, size_t unit, bool is_late);
// The one of those units that was late most often in a row, and is so now; YOKE_NOT_FOUND: none.
size_t yoke__pace_find_late(const yoke_pace* pace);

// Where the run stands among the grades of docs/pace.md: "kept every deadline", ...
void yoke__pace_grade(const yoke_pace* pace, char* to, size_t size);
// "paced at 1x: 10000 steps, 3 late (longest 2.1 ms): soft real time: ..."; one line.
void yoke__pace_text(const yoke_pace* pace, char* to, size_t size);

#endif
