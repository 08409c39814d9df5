// Limits of signals at the ends of macro steps (`quality: {stop: {above: ...}}`).
//
// A value beyond its limit is noted once, with its time; the one that is furthest beyond is kept beside it. A NaN is beyond every
// limit. A stop limit ends the run at that step; one that is exceeded at the start already ends it after the first step, so that
// a paced run goes through its safe actions.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "master/master.h"

yoke_status yoke__master_layout_limits(const yoke_system* system, yoke_state* state) {
  yoke_watch* watch = &state->watch;
  watch->limited_by = YOKE_NOT_FOUND;
  if (system->n_limits == 0) {
    return YOKE_OK;
  }
  watch->limits = yoke__arena_array(&state->arena, system->n_limits, sizeof *watch->limits);
  YOKE_TRY_MEMORY(watch->limits);
  return YOKE_OK;
}

static double read_value(const yoke_system_limit* limit, const yoke_state* state) {
  double value = 0;
  if (!limit->is_fetched) {
    return state->y[limit->at];
  }
  memcpy(&value, state->v + limit->at, sizeof value);
  return value;
}

static bool is_beyond(const yoke_system_limit* limit, double value, double other) {
  return limit->source->is_above ? !(value <= other) : !(value >= other);
}

static YOKE_NOINLINE void note(const yoke_system* system, yoke_state* state, size_t i,
                               double value) {
  const yoke_system_limit* limit = &system->limits[i];
  yoke_limit* to = &state->watch.limits[i];
  if (to->n_beyond++ == 0) {
    *to = (yoke_limit){1, state->t, value, state->t, value};
  } else if (!isnan(to->worst) && is_beyond(limit, value, to->worst)) {
    to->t_worst = state->t;
    to->worst = value;
  }
  if (limit->source->is_stop && state->watch.limited_by == YOKE_NOT_FOUND) {
    state->watch.limited_by = i;
  }
}

static void look(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_limits; i++) {
    const double value = read_value(&system->limits[i], state);
    if (is_beyond(&system->limits[i], value, system->limits[i].source->value)) {
      note(system, state, i, value);
    }
  }
}

void yoke__master_check_limits(const yoke_system* system, yoke_state* state) {
  look(system, state);
  state->is_stopped = state->is_stopped || state->watch.limited_by != YOKE_NOT_FOUND;
}

void yoke__master_start_limits(const yoke_system* system, yoke_state* state,
                               yoke_messages* messages) {
  state->watch.limited_by = YOKE_NOT_FOUND;
  for (size_t i = 0; i < system->n_limits; i++) {
    state->watch.limits[i] = (yoke_limit){0};
  }
  look(system, state);
  for (size_t i = 0; i < system->n_limits; i++) {
    char text[YOKE_MESSAGE_TEXT_SIZE];
    if (state->watch.limits[i].n_beyond > 0) {
      yoke__master_limit_text(system, state, i, text, sizeof text);
      yoke__message_add(messages, YOKE_WARNING, system->limits[i].source->signal.place, "%s", text);
    }
  }
}

bool yoke__master_is_limited(const yoke_system* system, const yoke_state* state) {
  for (size_t i = 0; i < system->n_limits; i++) {
    if (state->watch.limits[i].n_beyond > 0) {
      return true;
    }
  }
  return false;
}

// "420.31 K", "-5"
static void write_value(double value, const char* dim, char to[80]) {
  snprintf(to, 80, "%.9g%s%.40s", value, dim[0] == '\0' ? "" : " ", dim);
}

void yoke__master_limit_text(const yoke_system* system, const yoke_state* state, size_t i, char* to,
                             size_t size) {
  const yoke_system_limit* limit = &system->limits[i];
  const yoke_limit* found = &state->watch.limits[i];
  const char* side = limit->source->is_above ? "above" : "below";
  char value[80], bound[80], worst[80], more[160] = "";
  write_value(found->value, limit->dim, value);
  write_value(limit->source->value, limit->dim, bound);
  write_value(found->worst, limit->dim, worst);
  if (found->t_worst > found->t) {
    snprintf(more, sizeof more, "; %s %s at t = %.9g s",
             limit->source->is_above ? "highest" : "lowest", worst, found->t_worst);
  }
  snprintf(to, size, "%.300s is %s at %st = %.9g s, %s the %s limit of %s%s", limit->name, value,
           found->t <= system->t_start ? "the start, " : "", found->t, side,
           limit->source->is_stop ? "stop" : "warn", bound, more);
}

void yoke__master_image_limits(const yoke_system* system, yoke_state* state, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, state->watch.limited_by);
  yoke__image_part(image, state->watch.limits, system->n_limits * sizeof *state->watch.limits);
}
