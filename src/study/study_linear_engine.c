// The radius of a loop by running it; see study_linear_engine.h.
//
// All states of the units start at random numbers, everything else at rest. The rows that are kept are the states once per
// period, which is the macro step, or the least common multiple of all intervals where that is longer. Time is scaled in the
// units: a system whose motions are s times as fast is one whose steps are s times as long.
#include "study/study_linear_engine.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "couple/couple.h"
#include "master/master.h"
#include "scenario/scenario_companion.h"
#include "study/study_multiplier.h"
#include "study/study_standin.h"

#define MAX_PERIOD  1000  // macro steps
#define MAX_SIGNALS 60    // kept per row; of more, random sums
#define OVERFLOW    1e120
#define ROUGH       3      // times the distance from 1, where only the growth is known
#define TRUE_MODES  1e-6   // of the residual: below it the multipliers are those of the motion
#define MOST_STEPS  20000  // macro steps of a run, unless that leaves too few rows
#define LEAST_ROWS  60
#define MOST_CALLS  2000  // of a unit in a macro step
#define STOP_STEPS  7     // decimal digits of the macro steps up to the stop time
#define N_LEVELS    3
#define RANDOM_SEED 0x9E3779B97F4A7C15u
#define WHY_SIZE    400

// Rows, and how far from 1 a radius has to be to be believed already.
static const struct {
  size_t n_rows;
  double margin;
} levels[N_LEVELS] = {{150, 2e-2}, {500, 1e-3}, {1500, 0}};

struct yoke_linear_engine {
  yoke_linear_loops* loops;
  yoke_linear_method method;
  double scale;  // for which the calls were chosen
  int64_t*
      calls;  // per unit: of a macro step, if it has a step of its own; 0: it scales with the others
  yoke_arena arena, room;  // room: of the system at hand
  yoke_registry registry;
  yoke_standin** standins;  // per unit
  yoke_system* system;
  size_t n_states, n_outputs, n_signals;
  int64_t n_steps;  // macro steps of a period
  size_t n_free;
  double *values, *mixers, *rows;
};

// ---- the description

// Connections of the loops that a method has to serve, else it is refused.
typedef enum served {
  SERVES_ALL,
  SERVES_SOME,  // of a bond only the action is shaped; `auto` decides about each signal by itself
  SERVES_ANY,   // what carries means is held as well
} served;

// What makes a row of the table out of a file.
typedef struct variant {
  const char* method;  // NULL: as in the file
  int order;
  bool has_means;
  const char* const* settings;
  served served;
} variant;

static const char* const provided[] = {"jacobians", "provided", "learning", "0", "switching",
                                       "0",         "guard",    "off",      NULL};
static const char* const with_ede[] = {"jacobians", "provided", "learning", "0",  "switching", "0",
                                       "guard",     "off",      "ede",      "on", NULL};
static const char* const of_corrector[] = {"jacobians", "provided", "learning", "0", NULL};

static bool find_variant(yoke_linear_method method, variant* to) {
  static const variant variants[YOKE_LINEAR_N_METHODS] = {
      [YOKE_LINEAR_HOLD] = {"hold", 0, false, NULL, SERVES_ANY},
      [YOKE_LINEAR_HOLD_1] = {"hold", 1, false, NULL, SERVES_ANY},
      [YOKE_LINEAR_HOLD_2] = {"hold", 2, false, NULL, SERVES_ANY},
      [YOKE_LINEAR_MEAN] = {"hold", 0, true, NULL, SERVES_ANY},
      [YOKE_LINEAR_AUTO] = {"auto", 0, true, NULL, SERVES_SOME},
      [YOKE_LINEAR_NEPCE] = {"nepce", 0, false, NULL, SERVES_ALL},
      [YOKE_LINEAR_MPSM] = {"mpsm", 0, false, provided, SERVES_ALL},
      [YOKE_LINEAR_EDE] = {"mpsm", 0, false, with_ede, SERVES_ALL},
      [YOKE_LINEAR_MBCORR] = {"mbcorr", 0, false, of_corrector, SERVES_ALL},
      [YOKE_LINEAR_INTERPOLATE] = {"interpolate", 0, false, NULL, SERVES_ALL},
      [YOKE_LINEAR_ENERGY] = {"energy", 0, false, NULL, SERVES_SOME},
      [YOKE_LINEAR_HINF] = {"hinf", 0, false, NULL, SERVES_ALL},
      [YOKE_LINEAR_ADAPTIVE] = {"adaptive", 0, false, NULL, SERVES_ALL},
  };
  *to = variants[method];
  return method == YOKE_LINEAR_FILE || to->method != NULL;
}

// calls: in place of its own step; 0: none
static yoke_scenario_unit plain_unit(const yoke_system_unit* unit, const char* type,
                                     int64_t calls) {
  const yoke_scenario_unit* from = unit->source;
  yoke_scenario_unit to = {.name = from->name,
                           .place = from->place,
                           .is_law = from->is_law,
                           .kind = from->is_law ? YOKE_KIND_LAW : YOKE_KIND_MODEL,
                           .type = type,
                           .step = calls > 0 ? (yoke_scenario_time){0} : from->step,
                           .calls = calls > 0 ? calls : unit->n_calls,
                           .has_exchange = from->has_exchange,
                           .exchange = from->exchange,
                           .tolerance = from->tolerance,
                           .has_no_feedthrough = from->has_no_feedthrough,
                           .feedthrough = from->feedthrough,
                           .n_feedthrough = from->n_feedthrough};
  return to;
}

static void no_alarms(yoke_scenario_watch* watch) {
  const yoke_scenario_limits none = {(double)NAN, (double)NAN, (double)NAN};
  watch->warn = watch->stop = none;
}

static yoke_scenario_time time_of(double value) {
  yoke_scenario_time to = {.value = value, .is_given = true};
  (void)yoke__decimal_from(value, &to.exact);
  return to;
}

// Nothing but the loop is left of the file: no clock, no records, no judges.
static void strip(yoke_scenario* to, const yoke_system* system) {
  to->is_companion = true;
  to->adaptive.is_given = false;
  to->pacing = (yoke_scenario_pacing){0};
  to->n_safe = 0;
  to->n_signal_limits = 0;
  to->stops_growth = false;
  to->has_trials = false;
  to->trials = NULL;
  to->trust = (yoke_scenario_trust){.limit = to->trust.limit, .wrong = to->trust.wrong};
  to->n_record_signals = 0;
  to->n_record_formats = 0;
  to->record_from = (yoke_scenario_time){0};
  to->threads = 1;
  to->calls = 1;  // those of the units are given one by one
  // what has decayed is iterated like what has not
  to->iteration.tolerance = DBL_MIN;
  to->start = time_of(0);
  to->stop = to->step;
  to->stop.exact.exponent += STOP_STEPS;
  to->stop.value = yoke__decimal_value(to->stop.exact);
  no_alarms(&to->watch);
  (void)system;
}

// What carries means is not extrapolated.
static yoke_status change_connections(yoke_linear_engine* e, yoke_scenario* to) {
  yoke_scenario_connection* all = yoke__arena_array(&e->room, to->n_connections + 1, sizeof *all);
  YOKE_TRY_MEMORY(all);
  for (size_t i = 0; i < to->n_connections; i++) {
    all[i] = to->connections[i];
    if (all[i].average == YOKE_AVERAGE_YES) {
      all[i].order = 0;
      all[i].has_order = false;
    }
  }
  to->connections = all;
  return YOKE_OK;
}

static yoke_status change_bonds(yoke_linear_engine* e, yoke_scenario* to) {
  yoke_scenario_bond* bonds = yoke__arena_array(&e->room, to->n_bonds + 1, sizeof *bonds);
  YOKE_TRY_MEMORY(bonds);
  for (size_t i = 0; i < to->n_bonds; i++) {
    bonds[i] = to->bonds[i];
    no_alarms(&bonds[i].watch);
  }
  to->bonds = bonds;
  return YOKE_OK;
}

// Calls of a unit in a macro step, as they are chosen; 0: it is called less often.
static int64_t calls_of(const yoke_linear_engine* e, size_t unit) {
  const yoke_system* system = e->loops->system;
  const yoke_system_unit* su = &system->units[unit];
  return su->is_law || su->period <= 0 ? 0
         : e->calls[unit] > 0          ? e->calls[unit]
                                       : system->macro / su->period;
}

// Exchanges in a macro step of a connection that exchanges in less: at as many of the calls of its units as it did.
static int64_t count_exchanges(const yoke_linear_engine* e, const yoke_system_link* link) {
  const yoke_system* system = e->loops->system;

  // of two units with calls of their own an exchange falls on common ones
  const int64_t wanted = system->macro / link->interval, n_from = calls_of(e, link->from_unit),
                n_to = calls_of(e, link->to_unit);
  const int64_t common =
      n_from == 0 || n_to == 0 ? (n_from > n_to ? n_from : n_to) : yoke__gcd(n_from, n_to);
  const double scale = e->scale;
  const bool is_kept = e->calls[link->from_unit] > 0 || e->calls[link->to_unit] > 0;
  int64_t n = wanted == 1 || !is_kept ? wanted : (int64_t)floor((double)wanted * scale + 0.5);

  // largest number of exchanges that divides the common calls
  while (n > 1 && common > 0 && common % n != 0) {
    n--;
  }
  return n > 1 ? n : 1;
}

// Connections as the system has made them, those that carry no reals left out. Outside of loops nothing moves.
static size_t list_connections(const yoke_linear_engine* e, yoke_scenario_connection all[]) {
  const yoke_system* system = e->loops->system;
  size_t n = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (!link->is_dense) {
      continue;
    }
    yoke_scenario_connection* c = &all[n++];
    *c = *link->source;
    c->offset = 0;
    c->average = link->flow == YOKE_FLOW_AVERAGED ? YOKE_AVERAGE_YES : YOKE_AVERAGE_NO;
    const bool is_in_loop =
        e->loops->units[link->from_unit].is_in_loop && e->loops->units[link->to_unit].is_in_loop;
    if (!is_in_loop) {
      c->exchange = (yoke_scenario_time){0};
      c->delay = (yoke_scenario_time){0};
    } else if (link->interval <= system->macro) {
      c->exchange = (yoke_scenario_time){0};
      c->exchange_parts = count_exchanges(e, link);
    }
  }
  return n;
}

static yoke_status describe(yoke_linear_engine* e, const variant* v, yoke_scenario** out) {
  const yoke_system* system = e->loops->system;
  const yoke_scenario* from = system->scenario;
  yoke_companion_unit* known = yoke__arena_array(&e->room, system->n_units, sizeof *known);
  yoke_scenario_connection* all = yoke__arena_array(&e->room, system->n_links + 1, sizeof *all);
  yoke_scenario_unit* units = yoke__arena_array(&e->room, system->n_units + 1, sizeof *units);
  YOKE_TRY_MEMORY(known && all && units);
  for (size_t i = 0; i < system->n_units; i++) {
    // calls stay as they are
    known[i] = (yoke_companion_unit){.most = 1, .n_calls = 1, .calls = system->units[i].n_calls};
    units[i] = plain_unit(&system->units[i], yoke__standin_ops(e->standins[i])->name, e->calls[i]);
  }
  const yoke_companion_recipe recipe = {
      .method = v->method, .order = v->order, .settings = v->settings, .scheme = from->scheme};
  YOKE_TRY(yoke__scenario_companion(from, known, all, list_connections(e, all), &recipe, out));
  yoke_scenario* to = *out;
  strip(to, system);
  to->units = units;
  to->exchange = from->exchange;
  if (v->method != NULL) {
    to->inputs = v->has_means ? YOKE_INPUTS_MEAN : YOKE_INPUTS_START;
    to->has_inputs = true;
  }
  YOKE_TRY(change_connections(e, to));
  return change_bonds(e, to);
}

// ---- the system

static yoke_status make_standins(yoke_linear_engine* e) {
  const yoke_system* system = e->loops->system;
  e->standins = yoke__arena_array(&e->room, system->n_units, sizeof(yoke_standin*));
  e->registry.units.ops = yoke__arena_array(&e->room, system->n_units, sizeof(yoke_unit_ops*));
  YOKE_TRY_MEMORY(e->standins && e->registry.units.ops);
  for (size_t i = 0; i < system->n_units; i++) {
    e->standins[i] = yoke__standin_make(&system->units[i], &e->loops->units[i], &e->room);
    YOKE_TRY_MEMORY(e->standins[i]);
    e->registry.units.ops[e->registry.units.n++] = yoke__standin_ops(e->standins[i]);
  }
  return YOKE_OK;
}

static const char* first_error(const yoke_messages* messages) {
  for (size_t i = 0; i < messages->n; i++) {
    if (messages->all[i].severity == YOKE_ERROR && messages->all[i].text != NULL) {
      return messages->all[i].text;
    }
  }
  return "it does not work for these loops";
}

// Why a method does not serve these loops, as far as its flags tell; else what the system says of it.
static const char* why_not(const yoke_linear_engine* e, const variant* v, const char* otherwise) {
  const yoke_coupling_ops* ops = v->method == NULL ? NULL : yoke__coupling_find(v->method);
  const uint32_t flags = ops == NULL ? 0 : ops->flags;
  const yoke_system* system = e->loops->system;
  if ((flags & YOKE_COUPLING_JACOBI) != 0 && system->scenario->scheme != YOKE_JACOBI) {
    return "for scheme: jacobi only";
  }
  if ((flags & YOKE_COUPLING_BOND) != 0 && system->n_bonds == 0) {
    return "there are no bonds";
  }
  if ((flags & YOKE_COUPLING_SUBSTEPS) != 0) {
    return "a unit is called once per exchange";
  }
  if ((flags & YOKE_COUPLING_CLUSTER) != 0) {
    return "needs stale exchange, one interval and no delays";
  }
  return otherwise;
}

static yoke_status refuse(yoke_linear_engine* e, const char* text, const char** why) {
  // it outlives the engine
  char* copy = yoke__arena_take(&e->loops->arena, WHY_SIZE);
  YOKE_TRY_MEMORY(copy);
  snprintf(copy, WHY_SIZE, "%s", text);
  *why = copy;
  return YOKE_NO_SUPPORT;
}

// Whether the method serves the connections of the loops, as it was asked to.
static bool is_served(const yoke_linear_engine* e, const variant* v) {
  const yoke_coupling_ops* ops = yoke__coupling_find(v->method);
  size_t n_served = 0, n = 0;
  for (size_t i = 0; i < e->system->n_links; i++) {
    const yoke_system_link* link = &e->system->links[i];
    if (!e->loops->units[link->from_unit].is_in_loop ||
        !e->loops->units[link->to_unit].is_in_loop || e->system->units[link->to_unit].is_law ||
        link->flow == YOKE_FLOW_AVERAGED) {
      continue;
    }
    n++;
    n_served += e->system->methods[link->method].ops == ops;
  }
  return v->served == SERVES_ANY || (v->served == SERVES_SOME ? n_served > 0 : n_served == n);
}

static yoke_status build(yoke_linear_engine* e, const variant* v, const char** why) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_status status = describe(e, v, &scenario);
  if (status >= 0) {
    status = yoke__master_build(scenario, &e->registry, &messages, &e->system);
  }
  if (status < 0 && !yoke__status_is_shortage(status)) {
    status = refuse(e, why_not(e, v, first_error(&messages)), why);
  } else if (status >= 0 && v->method != NULL && !is_served(e, v)) {
    status = refuse(e, why_not(e, v, "does not apply to all connections of the loops"), why);
  }
  yoke__messages_free(&messages);
  return status;
}

// Macro steps after which everything stands as before.
static yoke_status find_period(yoke_linear_engine* e, const char** why) {
  const yoke_system* system = e->system;

  // least common multiple of all periods and intervals
  int64_t period = system->macro;
  for (size_t i = 0; i < system->n_units && period > 0; i++) {
    period = system->units[i].is_law ? period : yoke__lcm(period, system->units[i].period);
  }
  for (size_t i = 0; i < system->n_links && period > 0; i++) {
    period = yoke__lcm(period, system->links[i].interval);
  }
  e->n_steps = period / system->macro;
  return period > 0 && e->n_steps <= MAX_PERIOD
             ? YOKE_OK
             : refuse(e, "the intervals have no common multiple within 1000 steps", why);
}

static double draw(uint64_t* seed) {
  // splitmix64
  uint64_t z = (*seed += RANDOM_SEED);
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;

  // 53 bits to [-1, 1)
  return (double)((z ^ z >> 31) >> 11) / 4503599627370496.0 - 1;
}

// States of the loops; where there are none, outputs. Of too many, sums with random weights.
static yoke_status layout(yoke_linear_engine* e) {
  for (size_t i = 0; i < e->system->n_units; i++) {
    size_t n = 0;
    (void)yoke__standin_outputs(e->standins[i], &n);
    e->n_states += yoke__standin_count(e->standins[i]);
    e->n_outputs += e->loops->units[i].is_in_loop ? n : 0;
  }
  const size_t n = e->n_states > 0 ? e->n_states : e->n_outputs;
  e->n_signals = n < MAX_SIGNALS ? n : MAX_SIGNALS;
  e->values = yoke__arena_array(&e->room, n + 1, sizeof(double));
  e->mixers = yoke__arena_array(&e->room, n * e->n_signals + 1, sizeof(double));
  e->rows =
      yoke__arena_array(&e->room, levels[N_LEVELS - 1].n_rows * e->n_signals + 1, sizeof(double));
  YOKE_TRY_MEMORY(e->values && e->mixers && e->rows);

  // fixed seeds: the same analysis gives the same figures
  uint64_t seed = 1;
  for (size_t i = 0; i < n * e->n_signals; i++) {
    e->mixers[i] = draw(&seed);
  }
  return YOKE_OK;
}

// A constant that is added on the way is a constant motion.
static void count_free(yoke_linear_engine* e) {
  e->n_free = e->loops->n_free;
  for (size_t i = 0; i < e->system->n_taps && e->n_free == 0; i++) {
    e->n_free = e->system->taps[i].offset != 0 ? 1 : 0;
  }
}

// Units that are called at a step of their own, several times in a macro step, keep it. True: that makes other calls.
static bool choose_calls(yoke_linear_engine* e, double scale) {
  const yoke_system* system = e->loops->system;
  bool is_other = false;
  e->scale = scale;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    int64_t n = 0;
    if (!unit->is_law && unit->source->step.is_given && unit->period < system->macro) {
      // times are scaled by `scale`: so many calls fit into a macro step
      const double calls = floor(scale * (double)system->macro / (double)unit->period + 0.5);
      n = (int64_t)fmin(fmax(calls, 1), MOST_CALLS);
    }
    is_other = is_other || n != e->calls[i];
    e->calls[i] = n;
  }
  return is_other;
}

// The system with the calls as they are chosen, in place of the one at hand.
static yoke_status make(yoke_linear_engine* e, const char** why) {
  variant v;
  yoke__system_destroy(&e->system);
  yoke__arena_free(&e->room);
  e->registry = (yoke_registry){0};
  e->n_states = e->n_outputs = 0;
  (void)find_variant(e->method, &v);
  YOKE_TRY(make_standins(e));
  YOKE_TRY(build(e, &v, why));
  YOKE_TRY(find_period(e, why));
  YOKE_TRY(layout(e));
  count_free(e);
  return YOKE_OK;
}

yoke_status yoke__linear_engine_open(yoke_linear_loops* loops, yoke_linear_method method,
                                     yoke_linear_engine** out, const char** why) {
  *out = NULL;
  *why = NULL;
  variant v;
  if (!find_variant(method, &v)) {
    *why = "a variant that only exists in this analysis";
    return YOKE_NO_SUPPORT;
  }
  yoke_linear_engine* e = calloc(1, sizeof *e);
  YOKE_TRY_MEMORY(e);
  e->loops = loops;
  e->method = method;
  e->calls = yoke__arena_array(&e->arena, loops->system->n_units, sizeof *e->calls);
  yoke_status status = e->calls == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    (void)choose_calls(e, 1);
    status = make(e, why);
  }
  if (status < 0) {
    yoke__linear_engine_close(&e);
    return status;
  }
  *out = e;
  return YOKE_OK;
}

void yoke__linear_engine_close(yoke_linear_engine** engine) {
  if (*engine != NULL) {
    yoke__system_destroy(&(*engine)->system);
    yoke__arena_free(&(*engine)->room);
    yoke__arena_free(&(*engine)->arena);
    free(*engine);
    *engine = NULL;
  }
}

// ---- a radius

static void start(yoke_linear_engine* e) {
  uint64_t seed = 2;
  for (size_t i = 0; i < e->system->n_units; i++) {
    const size_t n = yoke__standin_count(e->standins[i]);
    // random states, so that every motion takes part
    for (size_t k = 0; k < n; k++) {
      e->values[k] = draw(&seed);
    }
    yoke__standin_set(e->standins[i], e->values);
  }
}

// False: it has overflown.
static bool keep_row(yoke_linear_engine* e, double row[]) {
  size_t n = 0;
  bool is_finite = true;
  for (size_t i = 0; i < e->system->n_units; i++) {
    size_t m = yoke__standin_count(e->standins[i]);
    const double* from = yoke__standin_states(e->standins[i]);
    if (e->n_states == 0) {
      from = yoke__standin_outputs(e->standins[i], &m);
      m = e->loops->units[i].is_in_loop ? m : 0;
    }
    for (size_t k = 0; k < m; k++) {
      is_finite = is_finite && fabs(from[k]) < OVERFLOW;
      e->values[n++] = from[k];
    }
  }
  for (size_t i = 0; i < e->n_signals; i++) {
    row[i] = n == e->n_signals ? e->values[i] : 0;
    for (size_t k = 0; k < n && n > e->n_signals; k++) {
      // of more than 60 signals random sums: they contain the same multipliers
      row[i] += e->mixers[i * n + k] * e->values[k];
    }
  }
  return is_finite;
}

static bool is_still(const double row[], size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(row[i]));
  }
  return largest < 1 / OVERFLOW;
}

// Rows up to n_rows of them. False: the loop has overflown, or nothing moves any more.
static bool run_to(yoke_linear_engine* e, yoke_state* state, size_t n_rows, size_t* n) {
  while (*n < n_rows) {
    for (int64_t k = 0; k < e->n_steps; k++) {
      if (yoke__master_step(e->system, state) < 0) {
        return false;
      }
    }
    double* row = e->rows + *n * e->n_signals;
    if (!keep_row(e, row)) {
      return false;
    }
    ++*n;
    if (is_still(row, e->n_signals)) {
      return false;
    }
  }
  return true;
}

static size_t count_rows(const yoke_linear_engine* e, size_t level) {
  const size_t most = (size_t)(MOST_STEPS / e->n_steps), wanted = levels[level].n_rows;
  return most >= wanted ? wanted : most > LEAST_ROWS ? most : LEAST_ROWS;
}

static yoke_status measure(yoke_linear_engine* e, yoke_state* state, double* radius) {
  size_t n = 0;
  for (size_t level = 0; level < N_LEVELS; level++) {
    const bool goes_on = run_to(e, state, count_rows(e, level), &n);
    yoke_multiplier found;
    // multipliers that explain the rows; see study_multiplier.h
    const yoke_status status = yoke__multiplier(e->n_signals, n, e->rows, e->n_free, &found);
    if (status == YOKE_BAD_ARG) {
      // too few rows: it has overflown, or died out
      *radius =
          n > 0 && is_still(e->rows + (n - 1) * e->n_signals, e->n_signals) ? 0 : (double)INFINITY;
      return YOKE_OK;
    }
    YOKE_TRY(status);
    // of a motion that has died away by the end its modes tell more than its growth
    const bool is_true = (found.residual < TRUE_MODES || found.growth == 0) && !found.is_full;
    // below the residual of true modes the multipliers themselves, else the growth of the rows
    *radius = is_true ? found.radius : found.growth;
    const double margin = (is_true ? 1 : ROUGH) * levels[level].margin;
    // far enough from 1 to be believed with so few rows
    if (!goes_on || fabs(*radius - 1) > margin) {
      break;
    }
  }

  // per macro step: the period-th root
  *radius = pow(*radius, 1 / (double)e->n_steps);
  return YOKE_OK;
}

yoke_status yoke__linear_engine_radius(yoke_linear_engine* engine, double scale, double* radius) {
  yoke_messages messages = {0};
  yoke_state* state = NULL;
  *radius = (double)NAN;
  const char* why = NULL;
  if (choose_calls(engine, scale)) {
    const yoke_status status = make(engine, &why);
    if (status == YOKE_NO_SUPPORT) {
      // with so few calls the method cannot serve
      (void)choose_calls(engine, 1);
      YOKE_TRY(make(engine, &why));
      *radius = (double)INFINITY;
      return YOKE_OK;
    }
    YOKE_TRY(status);
  }
  for (size_t i = 0; i < engine->system->n_units; i++) {
    yoke__standin_scale(engine->standins[i], scale);
    yoke__standin_clear(engine->standins[i]);
  }
  yoke_status status = yoke__master_create(engine->system, &messages, &state);
  if (status >= 0) {
    start(engine);
    status = measure(engine, state, radius);
  } else if (!yoke__status_is_shortage(status)) {
    *radius = (double)INFINITY;  // no consistent start: it overflows
    status = YOKE_OK;
  }
  yoke__master_destroy(engine->system, &state);
  yoke__messages_free(&messages);
  return status;
}
