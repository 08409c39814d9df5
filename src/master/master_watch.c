// What is seen of the judged signals at the end of every macro step: their growth, and on request their values. Limits of
// signals: master_limit.c.
//
// Signals that are exchanged more rarely than macro steps end are looked at when they are exchanged: those with the same
// interval make a group.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "master/master.h"

// growth since the alarm's first window that ends a run, if the file asks for it
#define STOP_FACTOR 1e12

// ---------------------------------------------------------------------------------------------------------
// growth

// Signals that are exchanged together.
struct yoke_watch_group {
  int64_t every, wait;    // macro steps
  size_t n;               // signals
  const size_t* signals;  // indices into system->judged
  const size_t* y;        // and into Y
  yoke_growth* growth;
};

static yoke_status layout_group(const yoke_system* system, yoke_state* state, int64_t every,
                                struct yoke_watch_group* group) {
  yoke_arena* arena = &state->arena;
  size_t* signals = yoke__arena_array(arena, system->n_judged + 1, sizeof *signals);
  size_t* y = yoke__arena_array(arena, system->n_judged + 1, sizeof *y);
  YOKE_TRY_MEMORY(signals && y);
  *group = (struct yoke_watch_group){.every = every, .signals = signals, .y = y};
  for (size_t i = 0; i < system->n_judged; i++) {
    if (system->judged[i].every == every) {
      state->watch.places[i] = group->n;
      signals[group->n] = i;
      y[group->n] = system->judged[i].y;
      group->n++;
    }
  }
  // a saved state fits a run with another stop time: as many levels as there may ever be
  return yoke__growth_create(arena, group->n, INT64_MAX, &group->growth);
}

static bool has_group(const yoke_watch* watch, int64_t every) {
  for (size_t i = 0; i < watch->n_groups; i++) {
    if (watch->groups[i].every == every) {
      return true;
    }
  }
  return false;
}

yoke_status yoke__master_layout_watch(const yoke_system* system, yoke_state* state) {
  yoke_watch* watch = &state->watch;
  YOKE_TRY(yoke__master_layout_limits(system, state));
  watch->groups = yoke__arena_array(&state->arena, system->n_judged + 1, sizeof *watch->groups);
  watch->t_latched = yoke__arena_array(&state->arena, system->n_judged + 1, sizeof(double));
  watch->places = yoke__arena_array(&state->arena, system->n_judged + 1, sizeof *watch->places);
  YOKE_TRY_MEMORY(watch->groups && watch->t_latched && watch->places);
  for (size_t i = 0; i < system->n_judged; i++) {
    const int64_t every = system->judged[i].every;
    if (!has_group(watch, every)) {
      YOKE_TRY(layout_group(system, state, every, &watch->groups[watch->n_groups]));
      watch->n_groups++;
    }
  }
  // what most systems need is done without a call
  const bool is_plain = watch->n_groups == 1 && watch->groups[0].every == 1 &&
                        !system->is_adaptive && !system->scenario->stops_growth &&
                        system->n_limits == 0;
  watch->plain = is_plain ? watch->groups[0].growth : NULL;
  watch->plain_y = watch->groups[0].y;
  return YOKE_OK;
}

void yoke__master_start_watch(const yoke_system* system, yoke_state* state) {
  yoke_watch* watch = &state->watch;
  watch->wait = system->macro_slots;
  watch->n_steps = 0;
  watch->stopped_by = YOKE_NOT_FOUND;
  for (size_t i = 0; i < system->n_judged; i++) {
    watch->t_latched[i] = (double)NAN;
  }
  for (size_t i = 0; i < watch->n_groups; i++) {
    struct yoke_watch_group* group = &watch->groups[i];
    group->wait = group->every;
    yoke__growth_start_at(group->growth, state->y, group->y);
  }
}

static double exchange_time(const yoke_system* system, const yoke_system_signal* signal,
                            int64_t exchange) {
  return yoke__clock_time(&system->clock, exchange * signal->every * system->macro);
}

// The times of steps that the residual chooses are kept for a while: an alarm is found soon.
static void note_alarms(const yoke_system* system, yoke_state* state,
                        struct yoke_watch_group* group) {
  yoke_watch* watch = &state->watch;
  for (size_t i = 0; system->is_adaptive && i < group->n; i++) {
    yoke_growth_alarm alarm;
    yoke__growth_result(group->growth, i, &alarm);
    double* t = &watch->t_latched[group->signals[i]];
    *t = alarm.is_latched && isnan(*t) ? watch->times[alarm.at % YOKE_GROWTH_LATE] : *t;
  }
}

// A run may be asked before the steps since the last whole block were looked at.
static double alarm_time(const yoke_system* system, const yoke_state* state, size_t signal,
                         int64_t at) {
  const yoke_watch* watch = &state->watch;
  if (!system->is_adaptive) {
    return exchange_time(system, &system->judged[signal], at);
  }
  return isnan(watch->t_latched[signal]) ? watch->times[at % YOKE_GROWTH_LATE]
                                         : watch->t_latched[signal];
}

// The first signal that grew beyond all bounds ends the run.
static void limit_growth(const yoke_system* system, yoke_state* state,
                         struct yoke_watch_group* group) {
  const size_t found = yoke__growth_find(group->growth, STOP_FACTOR);
  if (found != YOKE_NOT_FOUND && state->watch.stopped_by == YOKE_NOT_FOUND) {
    note_alarms(system, state, group);
    state->watch.stopped_by = group->signals[found];
    state->is_stopped = true;
  }
}

void yoke__master_growth(const yoke_system* system, const yoke_state* state, size_t signal,
                         yoke_signal_growth* out) {
  *out = (yoke_signal_growth){.t_from = state->t, .t_to = state->t};
  for (size_t i = 0; i < state->watch.n_groups; i++) {
    const struct yoke_watch_group* group = &state->watch.groups[i];
    if (group->every == system->judged[signal].every) {
      yoke__growth_result(group->growth, state->watch.places[signal], &out->alarm);
    }
  }
  if (out->alarm.is_latched && out->alarm.n > 0) {
    out->t_to = alarm_time(system, state, signal, out->alarm.at);
    // steps that the residual chose cannot be counted back: as if they had been equal
    out->t_from = system->is_adaptive
                      ? system->t_start + (out->t_to - system->t_start) * (double)out->alarm.from /
                                              (double)out->alarm.at
                      : exchange_time(system, &system->judged[signal], out->alarm.from);
  }
}

// The one that grew first; of those that began together the one that grew most.
static bool is_worse(const yoke_signal_growth* a, const yoke_signal_growth* b) {
  return a->t_to < b->t_to || (a->t_to == b->t_to && a->alarm.factor > b->alarm.factor);
}

size_t yoke__master_find_diverged(const yoke_system* system, const yoke_state* state,
                                  const double relative[], yoke_signal_growth* out) {
  size_t found = YOKE_NOT_FOUND;
  for (size_t i = 0; i < system->n_judged; i++) {
    yoke_signal_growth one;
    yoke__master_growth(system, state, i, &one);
    if (yoke__growth_is_diverged(&one.alarm, relative == NULL ? (double)NAN : relative[i]) &&
        (found == YOKE_NOT_FOUND || is_worse(&one, out))) {
      found = i;
      *out = one;
    }
  }
  return found;
}

void yoke__master_growth_text(const yoke_system* system, size_t signal,
                              const yoke_signal_growth* growth, char* to, size_t size) {
  char name[256];
  yoke__system_signal_name(system, &system->judged[signal], name, sizeof name);
  yoke__growth_text(&growth->alarm, name, growth->t_from, growth->t_to, to, size);
}

// ---------------------------------------------------------------------------------------------------------
// values

static void keep_row(yoke_state* state) {
  yoke_trace* trace = state->watch.trace;
  double* row = trace->values + (size_t)trace->n_kept * trace->n;
  for (size_t i = 0; i < trace->n; i++) {
    row[i] = state->y[trace->y[i]];
  }
  if (trace->times != NULL) {
    trace->times[trace->n_kept] = state->t;
  }
  trace->n_kept++;
}

// The number of steps that the residual chooses is not known beforehand: a full trace forgets every second row.
static void thin_out(yoke_trace* trace) {
  const int64_t n = (trace->n_kept + 1) / 2;
  for (int64_t k = 1; k < n; k++) {
    memcpy(trace->values + (size_t)k * trace->n, trace->values + (size_t)(2 * k) * trace->n,
           trace->n * sizeof(double));
    trace->times[k] = trace->times[2 * k];
  }
  trace->n_kept = n;
  trace->thin *= 2;
}

static void keep(yoke_state* state) {
  yoke_trace* trace = state->watch.trace;
  if (trace->n_kept == trace->n_room && trace->times != NULL) {
    thin_out(trace);
  }
  if (state->watch.n_steps % trace->thin == 0 && trace->n_kept < trace->n_room) {
    keep_row(state);
  }
}

static void free_trace(yoke_trace* trace) {
  if (trace != NULL) {
    free(trace->y);
    free(trace->values);
    free(trace->times);
    free(trace);
  }
}

yoke_status yoke__master_keep(const yoke_system* system, yoke_state* state, const size_t y[],
                              size_t n, int64_t every, size_t max_bytes) {
  if (state->watch.n_steps > 0) {
    return YOKE_BAD_ARG;
  }
  const size_t n_signals = y == NULL ? system->n_judged : n;
  const int64_t n_steps = system->n_slots / system->macro_slots;
  const size_t row = (n_signals + (system->is_adaptive ? 1 : 0)) * sizeof(double);
  const int64_t most = row == 0 ? n_steps + 1 : (int64_t)(max_bytes / row);
  yoke_trace* trace = calloc(1, sizeof *trace);
  YOKE_TRY_MEMORY(trace);
  trace->n = n_signals;
  trace->thin = every < 1 ? 1 : every;
  // rows of an adaptive run are thinned out while it runs
  while (!system->is_adaptive && n_steps / trace->thin + 1 > most && trace->thin <= n_steps) {
    trace->thin += every < 1 ? 1 : every;
  }
  trace->n_room = n_steps / trace->thin + 1 < most ? n_steps / trace->thin + 1 : most;
  trace->n_room = trace->n_room < 2 ? 2 : trace->n_room;
  trace->y = calloc(n_signals + 1, sizeof *trace->y);
  trace->values = calloc((size_t)trace->n_room * n_signals + 1, sizeof(double));
  trace->times = system->is_adaptive ? calloc((size_t)trace->n_room, sizeof *trace->times) : NULL;
  if (trace->y == NULL || trace->values == NULL || (system->is_adaptive && trace->times == NULL)) {
    free_trace(trace);
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < n_signals; i++) {
    trace->y[i] = y == NULL ? system->judged[i].y : y[i];
  }
  free_trace(state->watch.trace);
  state->watch.trace = trace;
  const bool is_plain = y == NULL && trace->thin == 1 && trace->times == NULL;
  state->watch.plain_trace = is_plain && state->watch.plain != NULL ? trace : NULL;
  state->watch.plain = state->watch.plain_trace == NULL ? NULL : state->watch.plain;
  keep_row(state);
  return YOKE_OK;
}

void yoke__master_end_watch(yoke_state* state) {
  free_trace(state->watch.trace);
  state->watch.trace = state->watch.plain_trace = NULL;
}

// ---------------------------------------------------------------------------------------------------------

void yoke__master_watch(const yoke_system* system, yoke_state* state) {
  yoke_watch* watch = &state->watch;
  watch->wait = system->macro_slots;
  watch->n_steps++;
  watch->times[watch->n_steps % YOKE_GROWTH_LATE] = state->t;
  for (size_t i = 0; i < watch->n_groups; i++) {
    struct yoke_watch_group* group = &watch->groups[i];
    if (--group->wait == 0) {
      group->wait = group->every;
      if (yoke__growth_observe_at(group->growth, state->y, group->y)) {
        note_alarms(system, state, group);
      }
      if (system->scenario->stops_growth) {
        limit_growth(system, state, group);
      }
    }
  }
  if (system->n_limits > 0) {
    yoke__master_check_limits(system, state);
  }
  if (watch->trace != NULL) {
    keep(state);
  }
  if (state->tape != NULL) {
    atomic_store_explicit(&state->tape->n_steps, watch->n_steps, memory_order_release);
  }
}

void yoke__master_image_watch(const yoke_system* system, yoke_state* state, yoke_image* image) {
  yoke_watch* watch = &state->watch;
  YOKE_IMAGE_VALUE(image, watch->wait);
  YOKE_IMAGE_VALUE(image, watch->n_steps);
  YOKE_IMAGE_VALUE(image, watch->stopped_by);
  YOKE_IMAGE_VALUE(image, watch->times);
  yoke__image_part(image, watch->t_latched, system->n_judged * sizeof(double));
  for (size_t i = 0; i < watch->n_groups; i++) {
    struct yoke_watch_group* group = &watch->groups[i];
    YOKE_IMAGE_VALUE(image, group->wait);
    yoke__growth_image(group->growth, image);
  }
  yoke__master_image_limits(system, state, image);
  if (image->from != NULL && state->tape != NULL) {
    state->tape->is_broken = true;
  }
  // rows behind the present are forgotten, rows that were never kept leave a gap
  yoke_trace* trace = watch->trace;
  if (image->from != NULL && trace != NULL) {
    const int64_t n = watch->n_steps / trace->thin + 1;
    trace->has_gap = trace->has_gap || n > trace->n_kept;
    trace->n_kept = n < trace->n_room ? n : trace->n_room;
  }
}
