// The state machine as a table, and the ramp of a safe action.
#include "master/master_safe.h"

const char* const yoke__safe_words[] = {
    [YOKE_RUN_INIT] = "INIT",  [YOKE_RUN_CALIBRATE] = "CALIBRATE", [YOKE_RUN_READY] = "READY",
    [YOKE_RUN_RUN] = "RUN",    [YOKE_RUN_STOPPING] = "STOPPING",   [YOKE_RUN_SAFE] = "SAFE",
    [YOKE_RUN_FAULT] = "FAULT"};

#define STAY (-1)

// [state][event]: the next state
static const int next_states[YOKE_N_RUN_STATES][YOKE_N_SAFE_EVENTS] = {
    [YOKE_RUN_INIT] = {[YOKE_SAFE_INITIALISED] = YOKE_RUN_CALIBRATE,
                       [YOKE_SAFE_CALIBRATED] = STAY,
                       [YOKE_SAFE_START] = STAY,
                       [YOKE_SAFE_STOP] = YOKE_RUN_SAFE,
                       [YOKE_SAFE_FAIL] = YOKE_RUN_FAULT,
                       [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                       [YOKE_SAFE_STOPPED] = STAY,
                       [YOKE_SAFE_RESET] = STAY},
    [YOKE_RUN_CALIBRATE] = {[YOKE_SAFE_INITIALISED] = STAY,
                            [YOKE_SAFE_CALIBRATED] = YOKE_RUN_READY,
                            [YOKE_SAFE_START] = STAY,
                            [YOKE_SAFE_STOP] = YOKE_RUN_SAFE,
                            [YOKE_SAFE_FAIL] = YOKE_RUN_FAULT,
                            [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                            [YOKE_SAFE_STOPPED] = STAY,
                            [YOKE_SAFE_RESET] = STAY},
    [YOKE_RUN_READY] = {[YOKE_SAFE_INITIALISED] = STAY,
                        [YOKE_SAFE_CALIBRATED] = STAY,
                        [YOKE_SAFE_START] = YOKE_RUN_RUN,
                        [YOKE_SAFE_STOP] = YOKE_RUN_SAFE,
                        [YOKE_SAFE_FAIL] = YOKE_RUN_FAULT,
                        [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                        [YOKE_SAFE_STOPPED] = STAY,
                        [YOKE_SAFE_RESET] = STAY},
    // actuators may be moving: only from here on there is something to lead down
    [YOKE_RUN_RUN] = {[YOKE_SAFE_INITIALISED] = STAY,
                      [YOKE_SAFE_CALIBRATED] = STAY,
                      [YOKE_SAFE_START] = STAY,
                      [YOKE_SAFE_STOP] = YOKE_RUN_STOPPING,
                      [YOKE_SAFE_FAIL] = YOKE_RUN_STOPPING,
                      [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                      [YOKE_SAFE_STOPPED] = STAY,
                      [YOKE_SAFE_RESET] = STAY},
    [YOKE_RUN_STOPPING] = {[YOKE_SAFE_INITIALISED] = STAY,
                           [YOKE_SAFE_CALIBRATED] = STAY,
                           [YOKE_SAFE_START] = STAY,
                           [YOKE_SAFE_STOP] = STAY,
                           [YOKE_SAFE_FAIL] = STAY,
                           [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                           [YOKE_SAFE_STOPPED] = YOKE_RUN_SAFE,
                           [YOKE_SAFE_RESET] = STAY},
    [YOKE_RUN_SAFE] = {[YOKE_SAFE_INITIALISED] = STAY,
                       [YOKE_SAFE_CALIBRATED] = STAY,
                       [YOKE_SAFE_START] = STAY,
                       [YOKE_SAFE_STOP] = STAY,
                       [YOKE_SAFE_FAIL] = YOKE_RUN_FAULT,
                       [YOKE_SAFE_HANG] = YOKE_RUN_FAULT,
                       [YOKE_SAFE_STOPPED] = STAY,
                       [YOKE_SAFE_RESET] = YOKE_RUN_INIT},
    [YOKE_RUN_FAULT] = {[YOKE_SAFE_INITIALISED] = STAY,
                        [YOKE_SAFE_CALIBRATED] = STAY,
                        [YOKE_SAFE_START] = STAY,
                        [YOKE_SAFE_STOP] = STAY,
                        [YOKE_SAFE_FAIL] = STAY,
                        [YOKE_SAFE_HANG] = STAY,
                        [YOKE_SAFE_STOPPED] = STAY,
                        [YOKE_SAFE_RESET] = YOKE_RUN_INIT},
};

yoke_safe_state yoke__safe_next(yoke_safe_state from, yoke_safe_event event) {
  const int found = next_states[from.state][event];
  yoke_safe_state to = from;
  to.state = found == STAY ? from.state : (yoke_run_state)found;
  // what failed on the way to the safe state is not forgotten there
  to.is_faulty = from.is_faulty || event == YOKE_SAFE_FAIL || event == YOKE_SAFE_HANG;
  if (to.state == YOKE_RUN_SAFE && to.is_faulty) {
    to.state = YOKE_RUN_FAULT;
  }
  if (to.state == YOKE_RUN_INIT && from.state != YOKE_RUN_INIT) {
    to.is_faulty = false;
  }
  return to;
}

double yoke__safe_ramp(double a, double b, int64_t n, int64_t n_all) {
  return n >= n_all ? b : a + (b - a) * ((double)n / (double)n_all);
}
