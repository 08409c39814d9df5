// The states of a paced run: every pair of state and event, with and without a failure on the way. Said a second time here, as
// rules instead of a table.
#include "master/master_safe.h"
#include "support/check.h"

static yoke_safe_state expected(yoke_safe_state from, yoke_safe_event event) {
  const bool is_failure = event == YOKE_SAFE_FAIL || event == YOKE_SAFE_HANG;
  yoke_safe_state to = {from.state, from.is_faulty || is_failure};

  // latched: only somebody who has looked at it leaves FAULT; SAFE is left in the same way
  if (from.state == YOKE_RUN_FAULT || from.state == YOKE_RUN_SAFE) {
    if (event == YOKE_SAFE_RESET) {
      return (yoke_safe_state){YOKE_RUN_INIT, false};
    }
    to.state = is_failure ? YOKE_RUN_FAULT : from.state;
    if (from.state == YOKE_RUN_SAFE && to.is_faulty) {
      to.state = YOKE_RUN_FAULT;
    }
    return to;
  }
  // what does not come back is a fault from anywhere
  if (event == YOKE_SAFE_HANG) {
    to.state = YOKE_RUN_FAULT;
    return to;
  }
  // whatever moves is stopped in order; what does not move yet needs no stopping
  if (event == YOKE_SAFE_FAIL || event == YOKE_SAFE_STOP) {
    const bool is_moving = from.state == YOKE_RUN_RUN || from.state == YOKE_RUN_STOPPING;
    to.state = is_moving ? YOKE_RUN_STOPPING : to.is_faulty ? YOKE_RUN_FAULT : YOKE_RUN_SAFE;
    return to;
  }
  // the way up, one step at a time, and the end of stopping
  if (from.state == YOKE_RUN_INIT && event == YOKE_SAFE_INITIALISED) {
    to.state = YOKE_RUN_CALIBRATE;
  } else if (from.state == YOKE_RUN_CALIBRATE && event == YOKE_SAFE_CALIBRATED) {
    to.state = YOKE_RUN_READY;
  } else if (from.state == YOKE_RUN_READY && event == YOKE_SAFE_START) {
    to.state = YOKE_RUN_RUN;
  } else if (from.state == YOKE_RUN_STOPPING && event == YOKE_SAFE_STOPPED) {
    to.state = to.is_faulty ? YOKE_RUN_FAULT : YOKE_RUN_SAFE;
  }
  return to;
}

static void test_every_pair(void** state) {
  (void)state;
  for (int s = 0; s < YOKE_N_RUN_STATES; s++) {
    for (int e = 0; e < YOKE_N_SAFE_EVENTS; e++) {
      for (int f = 0; f < 2; f++) {
        const yoke_safe_state from = {(yoke_run_state)s, f == 1};
        const yoke_safe_state got = yoke__safe_next(from, (yoke_safe_event)e);
        const yoke_safe_state want = expected(from, (yoke_safe_event)e);
        if (got.state != want.state || got.is_faulty != want.is_faulty) {
          fail_msg("%s, event %d, faulty %d: %s (faulty %d), expected %s (faulty %d)",
                   yoke__safe_words[s], e, f, yoke__safe_words[got.state], got.is_faulty,
                   yoke__safe_words[want.state], want.is_faulty);
        }
      }
    }
  }
}

// no way leads back to RUN but through a reset
static void test_nothing_restarts_by_itself(void** state) {
  (void)state;
  for (int s = YOKE_RUN_STOPPING; s < YOKE_N_RUN_STATES; s++) {
    for (int mask = 0; mask < 1 << YOKE_N_SAFE_EVENTS; mask++) {
      yoke_safe_state now = {(yoke_run_state)s, false};
      for (int e = 0; e < YOKE_N_SAFE_EVENTS; e++) {
        if ((mask >> e & 1) != 0 && e != YOKE_SAFE_RESET) {
          now = yoke__safe_next(now, (yoke_safe_event)e);
        }
      }
      assert_true(now.state >= YOKE_RUN_STOPPING);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pair),
      cmocka_unit_test(test_nothing_restarts_by_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
