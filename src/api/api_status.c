// How a run ended: done, diverged, failed. One place decides whether it has diverged (rule 1 of the verdict).
#include <math.h>
#include <stdio.h>

#include "api/api.h"

// The signal that ended the run.
static void describe_stop(const yoke_simulation* simulation, yoke_divergence* out) {
  const yoke_system* system = simulation->system;
  const size_t signal = simulation->state->watch.stopped_by;
  yoke_signal_growth growth;
  char name[256];
  yoke__master_growth(system, simulation->state, signal, &growth);
  yoke__system_signal_name(system, &system->judged[signal], name, sizeof name);
  snprintf(
      out->text, sizeof out->text,
      "%s diverges: it grew %.3g times from t = %.9g s to t = %.9g s, where quality.stop.growth "
      "ended the run",
      name, growth.alarm.total, growth.t_from, simulation->state->t);
  out->hint = NULL;
}

// The first signal that counts and that rule 1 calls wrong. False: none.
static bool describe_judged(const yoke_trust* trust, yoke_divergence* out) {
  const yoke_trust_signal* s = yoke__trust_find_diverged(trust);
  if (s != NULL) {
    snprintf(out->text, sizeof out->text, "%s", s->reason);
    out->hint = NULL;
  }
  return s != NULL;
}

bool yoke__api_is_growing(const yoke_simulation* simulation) {
  yoke_signal_growth growth;
  return simulation->state != NULL && simulation->loop.status >= 0 &&
         yoke__master_find_diverged(simulation->system, simulation->state, NULL, &growth) !=
             YOKE_NOT_FOUND;
}

bool yoke__api_is_diverged(const yoke_simulation* simulation, yoke_divergence* out) {
  const yoke_state* state = simulation->state;
  if (state == NULL || simulation->loop.status < 0 || !yoke_simulation_is_done(simulation)) {
    return false;
  }
  const yoke_system* system = simulation->system;
  if (state->watch.stopped_by != YOKE_NOT_FOUND) {
    describe_stop(simulation, out);
    return true;
  }
  const yoke_trust* trust = simulation->trust;
  if (trust != NULL && trust->n_companions > 0) {
    // a plant that is unstable by itself grows and is right: its bands decide, once they are known
    return trust->is_judged && describe_judged(trust, out);
  }
  yoke_signal_growth growth;
  const size_t signal = yoke__master_find_diverged(system, state, NULL, &growth);
  if (signal == YOKE_NOT_FOUND) {
    return false;
  }
  yoke__master_growth_text(system, signal, &growth, out->text, sizeof out->text);
  out->hint = growth.alarm.largest > YOKE_GROWTH_LARGEST
                  ? NULL
                  : "if the plant is unstable by itself this is right: run with --trust both";
  return true;
}

yoke_message yoke__api_divergence_message(const yoke_divergence* divergence) {
  return (yoke_message){.severity = YOKE_ERROR,
                        .status = YOKE_DIVERGED,
                        .time = (double)NAN,
                        .text = divergence->text,
                        .hint = divergence->hint};
}

const char* yoke__api_status_word(const yoke_simulation* simulation) {
  yoke_divergence divergence;
  if (yoke__api_is_diverged(simulation, &divergence) &&
      (simulation->loop.status != YOKE_STOPPED ||
       simulation->state->watch.stopped_by != YOKE_NOT_FOUND)) {
    return "diverged";
  }
  switch (simulation->loop.status) {
  case YOKE_OK:
    return simulation->state == NULL             ? "not started"
           : yoke_simulation_is_done(simulation) ? "done"
                                                 : "not finished";
  case YOKE_ENDED:
    return "ended by a unit";
  case YOKE_STOPPED:
    return simulation->state->is_stopped ? "stopped by a quality limit" : "emergency stop";
  case YOKE_LATE:
    return "stopped by missed deadlines";
  case YOKE_INTERRUPTED:
    return "interrupted";
  default:
    return "failed";
  }
}
