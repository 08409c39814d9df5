// States of a run that is paced by the clock, and what is done when it has to stop (docs/pace.md).
//
//   INIT -> CALIBRATE -> READY -> RUN -> STOPPING -> SAFE, and FAULT, which only a reset leaves.
//
// While STOPPING the loop goes on and the safe actions are done one after another: an input is led from its last value to
// another one.
#ifndef YOKE_MASTER_SAFE_H
#define YOKE_MASTER_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/simulation.h"

typedef enum yoke_safe_event {
  YOKE_SAFE_INITIALISED,  // all units have their start values
  YOKE_SAFE_CALIBRATED,   // all of them are calibrated
  YOKE_SAFE_START,        // the first step is released
  YOKE_SAFE_STOP,         // the end is reached or asked for, or too many deadlines were missed
  YOKE_SAFE_FAIL,         // a unit failed, or an emergency stop
  YOKE_SAFE_HANG,         // the loop does not come back: nothing can be done in an orderly way
  YOKE_SAFE_STOPPED,      // all safe actions are done
  YOKE_SAFE_RESET,        // somebody has looked at it
  YOKE_N_SAFE_EVENTS,
} yoke_safe_event;

extern const char* const yoke__safe_words[];  // "INIT", ...

// Its state, and whether the end of STOPPING is FAULT instead of SAFE.
typedef struct yoke_safe_state {
  yoke_run_state state;
  bool is_faulty;
} yoke_safe_state;

// The state that follows. Events that mean nothing in a state leave it as it is.
yoke_safe_state yoke__safe_next(yoke_safe_state from, yoke_safe_event event);

// The safe actions while they are done.
typedef struct yoke_safe {
  yoke_safe_state now;
  size_t n_done;             // actions
  int64_t n_ramped, n_ramp;  // steps of the present one: at which it is, and all of them
  double from;               // where it began
  double t_stop;             // when stopping began [s]
} yoke_safe;

// The value of a ramp from a to b after n of n_all steps; b from the last one on.
double yoke__safe_ramp(double a, double b, int64_t n, int64_t n_all);

#endif
