// Runs of a system with a machine in it or with safe actions: they begin in SAFE and end there (docs/tune.md).
//
// Such a run goes through the loop of paced runs, which alone knows the safe state. It follows the clock if the file says so
// (`time.pace`) and a machine does not wait. Elsewhere, with models and with ports in lock-step, time jumps from slot to slot:
// the run is as fast as it can be, and its numbers are those of a run without a clock.
#ifndef YOKE_STUDY_RIG_H
#define YOKE_STUDY_RIG_H

#include <stdatomic.h>

#include "master/master.h"
#include "yoke/simulation.h"

// What is known of the machine between two runs, by the one thread that runs them.
typedef struct yoke_rig {
  char machine[128];     // name of the unit; "": the study has none
  bool has_actions;      // there is something to do on the way to SAFE
  yoke_run_state state;  // in which the last run left it; INIT: nothing is known
} yoke_rig;

// The first real machine of a system; NULL: it has none.
const char* yoke__rig_machine(const yoke_system* system);
// Whether its runs have to end in the safe state.
bool yoke__rig_is_one(const yoke_system* system);

typedef struct yoke_rig_calls {
  // after every macro step before the stop; anything but YOKE_OK ends the run
  yoke_status (*judge)(void* to, yoke_status status);
  void* to;
  const atomic_bool* is_cancelled;
} yoke_rig_calls;

typedef struct yoke_rig_end {
  // YOKE_OK, what `judge` answered, YOKE_LATE, YOKE_INTERRUPTED, or a failure
  yoke_status status;
  yoke_run_state
      state;  // SAFE, or FAULT: a machine failed or the way to the safe state was not finished
  yoke_failure failure;  // of what went wrong; its text is NULL if nothing did
} yoke_rig_end;

// Runs a started system to its end, and then into the safe state. calls NULL: into the safe state at once. Negative, with
// nothing done: out of memory, or the system cannot follow a clock (end->failure says why).
yoke_status yoke__rig_run(const yoke_system* system, yoke_state* state, const yoke_rig_calls* calls,
                          yoke_rig_end* end);

#endif
