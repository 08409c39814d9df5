// The system run with each coupling, against one that exchanges everything at every call.
//
//   error of a signal = root of the mean of (y - y_ref)^2 over the calls, over the range of y_ref
//
// A result has a row per macro step, which may be an exchange interval: there held signals are right and an element stands where
// its steps are largest. So every run is made with macro steps of a call, h, and all its other times as they are.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_status.h"
#include "study/study_run.h"
#include "study/study_synth.h"

#define MOST_STEPS 50000  // calls that are run
#define LOST       1e3    // times the range of the reference: it has diverged
#define ROUND_OFF  1e-12  // of its size: a signal that moves by less stands still

typedef struct course {
  size_t n;           // signals
  size_t *at, *link;  // their outputs in Y; which of the served connections
  size_t n_steps;     // macro steps
  double* values;     // (n_steps + 1) x n of the reference
  double* low;        // n: smallest and
  double* range;      // largest - smallest
} course;

static yoke_status keep(yoke_synth_study* out, const char* text, const char** to) {
  *to = yoke__arena_text(&out->arena, text, strlen(text));
  return *to == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// The first error of a list, or what the status means.
static yoke_status keep_error(yoke_synth_study* out, const yoke_messages* messages,
                              yoke_status status, const char** to) {
  for (size_t i = 0; i < messages->n; i++) {
    if (messages->all[i].severity == YOKE_ERROR) {
      char text[YOKE_MESSAGE_TEXT_SIZE];
      yoke_message_format(&messages->all[i], text, sizeof text);
      return keep(out, text, to);
    }
  }
  return keep(out, yoke_status_text(status), to);
}

// ---- rows at every call

static bool set_time(yoke_scenario_time* time, double value) {
  time->value = value;
  time->is_given = true;
  return yoke__decimal_from(value, &time->exact);
}

// The description of a system in macro steps of h: every unit and every connection keeps its times. arrows: a system with the
// same connections that lives on.
static yoke_status refine(const yoke_system* from, const yoke_system* arrows, double step,
                          yoke_scenario* s) {
  const size_t n = from->n_links;
  yoke_scenario_unit* units = yoke__arena_array(&s->arena, s->n_units + 1, sizeof *units);
  yoke_scenario_connection* all = yoke__arena_array(&s->arena, n + 1, sizeof *all);
  YOKE_TRY_MEMORY(units && all);
  memcpy(units, s->units, s->n_units * sizeof *units);
  bool is_good = set_time(&s->step, step) && s->n_units == from->n_units;
  for (size_t i = 0; i < s->n_units && is_good; i++) {
    units[i].calls = 0;
    is_good = units[i].is_law || set_time(&units[i].step, from->units[i].step);
  }
  // arrows of bonds become connections
  for (size_t i = 0; i < n && is_good; i++) {
    all[i] = i < s->n_connections ? s->connections[i] : *arrows->links[i].source;
    is_good =
        set_time(&all[i].exchange, yoke__clock_seconds(&from->clock, from->links[i].interval));
  }
  s->calls = 1;
  s->units = units;
  s->connections = all;
  s->n_connections = n;
  return is_good ? YOKE_OK : YOKE_NO_SUPPORT;
}

// The system with these settings, in macro steps of a call.
static yoke_status open_fine(const yoke_synth_maker* maker, const char* const sets[], size_t n,
                             yoke_messages* messages, yoke_system** system, yoke_state** state) {
  yoke_scenario* scenario = NULL;
  yoke_system* usual = NULL;
  yoke_messages again = {0};
  YOKE_TRY(yoke__synth_build(maker, sets, n, messages, &usual, NULL));
  yoke_status status = yoke__synth_read(maker, sets, n, &again, &scenario);
  status = status < 0 ? status : refine(usual, maker->system, maker->out->system_step, scenario);
  if (status < 0) {
    yoke__scenario_free(&scenario);
  } else {
    status = yoke__master_build(scenario, NULL, &again, system);
    status = status < 0 ? status : yoke__master_create(*system, &again, state);
  }
  if (status < 0) {
    yoke__study_destroy(system, state);
    yoke__messages_merge(messages, &again);
  }
  yoke__system_destroy(&usual);
  yoke__messages_free(&again);
  return status;
}

// ---- the reference

static yoke_status reference_sets(const yoke_synth_maker* maker, const char* sets[], size_t* n) {
  yoke_arena* arena = &maker->out->arena;
  const yoke_system* system = maker->system;
  char number[YOKE_NUMBER_SIZE], text[640];
  yoke__number_format(maker->out->system_step, number);
  *n = 0;
  if (yoke__clock_seconds(&system->clock, system->macro) > maker->out->system_step * (1 + 1e-9)) {
    snprintf(text, sizeof text, "time.step=%s", number);
    sets[(*n)++] = yoke__arena_text(arena, text, strlen(text));
  }
  for (size_t i = 0; i < maker->n_links; i++) {
    const yoke_scenario_connection* c = system->links[maker->links[i]].source;
    for (size_t k = 0; k < system->scenario->n_connections; k++) {
      if (c == &system->scenario->connections[k] && c->exchange.is_given) {
        snprintf(text, sizeof text, "connections[%zu].exchange=%s", k, number);
        sets[(*n)++] = yoke__arena_text(arena, text, strlen(text));
      }
    }
  }
  for (size_t i = 0; i < maker->n_paths; i++) {
    snprintf(text, sizeof text, "%.500s={method: auto}", maker->paths[i]);
    sets[(*n)++] = yoke__arena_text(arena, text, strlen(text));
  }
  return yoke__arena_status(arena);
}

static void take(const course* c, const double y[], double to[]) {
  for (size_t i = 0; i < c->n; i++) {
    to[i] = y[c->at[i]];
  }
}

static yoke_status run_reference(yoke_synth_maker* maker, course* c) {
  yoke_synth_study* out = maker->out;
  const char** sets =
      yoke__arena_array(&out->arena, maker->n_links + maker->n_paths + 1, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  size_t n = 0;
  YOKE_TRY(reference_sets(maker, sets, &n));
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  yoke_messages messages = {0};
  yoke_status status = open_fine(maker, sets, n, &messages, &system, &state);
  if (status >= 0 && system->n_y != maker->system->n_y) {
    status = keep(out, "the reference has other signals", &out->no_runs);
  } else if (status >= 0) {
    take(c, state->y, c->values);
    for (size_t k = 1; k <= c->n_steps && status >= 0; k++) {
      status = yoke__master_step(system, state);
      take(c, state->y, c->values + k * c->n);
      if (status > 0 || !yoke__are_finite(c->n, c->values + k * c->n)) {
        c->n_steps = k - 1;  // a unit has ended the run
        status = c->n_steps > 0 ? YOKE_OK : YOKE_DIVERGED;
        break;
      }
    }
  }
  if (status < 0 && !yoke__status_is_shortage(status)) {
    const char* why = NULL;
    char text[640];
    status = keep_error(out, &messages, status, &why);
    if (status >= 0) {
      snprintf(text, sizeof text,
               "a run that exchanges at every call, to compare with, fails: %.500s", why);
      status = keep(out, text, &out->no_runs);
    }
  }
  yoke__study_destroy(&system, &state);
  yoke__messages_free(&messages);
  return status;
}

// False: no signal moves. One that stands still has a range of exactly 0.
static bool find_ranges(course* c) {
  bool is_any = false;
  for (size_t i = 0; i < c->n; i++) {
    double low = c->values[i], high = low;
    for (size_t k = 0; k <= c->n_steps; k++) {
      low = fmin(low, c->values[k * c->n + i]);
      high = fmax(high, c->values[k * c->n + i]);
    }
    c->low[i] = low;
    c->range[i] = high - low > ROUND_OFF * fmax(fabs(low), fabs(high)) ? high - low : 0;
    is_any = is_any || c->range[i] > 0;
  }
  return is_any;
}

// ---- one run

// Adds the squares; false: it has diverged.
static bool add_squares(const course* c, const double y[], size_t k, double squares[]) {
  for (size_t i = 0; i < c->n; i++) {
    const double value = y[c->at[i]], miss = value - c->values[k * c->n + i];
    const double size = c->range[i] + fabs(c->low[i]);
    if (!yoke__is_finite(value) || (size > 0 && fabs(miss) > LOST * size)) {
      return false;
    }
    squares[i] += miss * miss;
  }
  return true;
}

static yoke_status run_one(yoke_synth_maker* maker, const course* c, const char* const sets[],
                           size_t n, double squares[], yoke_synth_trial* trial) {
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  yoke_messages messages = {0};
  trial->worst = (double)NAN;
  memset(squares, 0, c->n * sizeof *squares);
  yoke_status status = open_fine(maker, sets, n, &messages, &system, &state);
  if (status >= 0) {
    trial->is_run = true;
    trial->has_diverged = !add_squares(c, state->y, 0, squares);
    for (size_t k = 1; k <= c->n_steps && !trial->has_diverged; k++) {
      const yoke_status stepped = yoke__master_step(system, state);
      trial->has_diverged = stepped < 0 || !add_squares(c, state->y, k, squares);
    }
  } else if (!yoke__status_is_shortage(status)) {
    status = keep_error(maker->out, &messages, status, &trial->why);
  }
  yoke__study_destroy(&system, &state);
  yoke__messages_free(&messages);
  for (size_t i = 0; i < c->n && trial->is_run && !trial->has_diverged; i++) {
    const double error = sqrt(squares[i] / (double)(c->n_steps + 1));
    const double share = error / c->range[i];
    if (c->range[i] > 0 && (isnan(trial->worst) || share > trial->worst)) {
      trial->worst = share;
      trial->signal = c->link[i];
    }
  }
  return status;
}

static yoke_status run_paths(yoke_synth_maker* maker, const course* c, double squares[]) {
  yoke_synth_study* out = maker->out;
  const char** sets =
      yoke__arena_array(&out->arena, maker->n_paths + maker->n_ordered + 1, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  YOKE_TRY(run_one(maker, c, NULL, 0, squares, &out->runs[YOKE_SYNTH_RUN_FILE]));
  for (size_t p = 0; p < 2 * (size_t)YOKE_SYNTH_N_PATHS; p++) {
    const bool is_fresh = p >= YOKE_SYNTH_N_PATHS;
    size_t n = 0;
    yoke_synth_trial* trial = &out->runs[YOKE_SYNTH_RUN_GIVEN + p];
    trial->worst = (double)NAN;
    if (is_fresh && out->is_fresh) {
      continue;  // the same again
    }
    YOKE_TRY(yoke__synth_couple(maker, (yoke_synth_path)(p % YOKE_SYNTH_N_PATHS), sets, &n));
    if (is_fresh) {
      sets[n++] = "exchange=fresh";
    }
    YOKE_TRY(run_one(maker, c, sets, n, squares, trial));
    const size_t now = YOKE_SYNTH_RUN_GIVEN + p;
    if (!isnan(trial->worst) &&
        (out->best == YOKE_SYNTH_N_RUNS || trial->worst < out->runs[out->best].worst)) {
      out->best = now;
    }
  }
  return YOKE_OK;
}

// ---- all of them

static void count_signals(const yoke_synth_maker* maker, course* c) {
  const yoke_system* system = maker->system;
  c->n = 0;
  for (size_t t = 0; t < system->n_taps; t++) {
    for (size_t i = 0; i < maker->n_links; i++) {
      if (maker->links[i] == system->taps[t].link) {
        c->link[c->n] = i;
        c->at[c->n++] = system->taps[t].from;
      }
    }
  }
}

static yoke_status run_in(yoke_synth_maker* maker, yoke_arena* arena) {
  yoke_synth_study* out = maker->out;
  const yoke_system* system = maker->system;
  const double length = system->t_stop - system->t_start;
  course c = {.n_steps = (size_t)fmin(MOST_STEPS, floor(length / out->system_step + 1e-9))};
  c.at = yoke__arena_array(arena, system->n_taps, sizeof *c.at);
  c.link = yoke__arena_array(arena, system->n_taps, sizeof *c.link);
  YOKE_TRY_MEMORY(c.at && c.link);
  count_signals(maker, &c);
  c.values = yoke__arena_array(arena, (c.n_steps + 1) * c.n, sizeof *c.values);
  c.low = yoke__arena_array(arena, c.n, sizeof *c.low);
  c.range = yoke__arena_array(arena, c.n, sizeof *c.range);
  double* squares = yoke__arena_array(arena, c.n, sizeof *squares);
  YOKE_TRY_MEMORY(c.values && c.low && c.range && squares);
  YOKE_TRY(run_reference(maker, &c));
  if (out->no_runs != NULL) {
    return YOKE_OK;
  }
  if (!find_ranges(&c)) {
    return keep(out, "none of its signals moves", &out->no_runs);
  }
  out->run_until = (double)c.n_steps * out->system_step;
  return run_paths(maker, &c, squares);
}

yoke_status yoke__synth_run_all(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  if (maker->request->is_not_run) {
    out->no_runs = "--no-run was given";
  } else if (!out->is_fitting) {
    out->no_runs = "the element is for other times than the system has";
  } else if (out->machine != NULL) {
    char text[160];
    snprintf(text, sizeof text, "unit '%.80s' is a real machine", out->machine);
    return keep(out, text, &out->no_runs);
  } else {
    yoke_arena arena = {0};
    const yoke_status status = run_in(maker, &arena);
    yoke__arena_free(&arena);
    return status;
  }
  return YOKE_OK;
}
