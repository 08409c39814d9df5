// Which units can be estimated while a run goes on, their samples, the thread beside the run, the last fit.
#include "trust/trust_online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "quality/quality_online.h"

#define MAX_BYTES    (64u << 20)  // of samples, and as much again of the judged signals
#define POLL_NS      100000000    // between two looks at what the run has added
#define LOW_PRIORITY 10
#define PROBE        1e-3  // of an input, or of 1: change that shows the feedthrough

enum {
  MIN_SAMPLES = 4,   // per exchange
  MANY_SAMPLES = 16  // more are put together
};

// A part of the error of a law's output: gain times that of an output with a model.
typedef struct term {
  size_t signal, from;
  double gain;
} term;

struct yoke_trust_online {
  yoke_arena arena;
  const yoke_system* system;
  yoke_state* state;

  size_t* first;     // per unit: its first judged signal; n_units + 1 entries
  const char** why;  // per unit: why it has no model; NULL: it has one
  bool* is_kept;     // per unit: it has one
  double** D;        // per unit
  int64_t grid;      // [ticks]
  yoke_online_unit* units;
  size_t n_units;
  yoke_online_link* links;  // through laws, as these are linear
  term* terms;              // of the judged outputs of laws
  size_t n_links, n_link_room, n_terms, n_term_room;
  // per judged signal
  size_t*
      places;  // its number among the outputs of all units with a model; YOKE_NOT_FOUND: it has none
  bool* is_known;  // it is one of these, or of a law of these
  yoke_online* estimate;

  double* e;  // errors at the rows of the trace, as these
  // of the units with a model: outputs at the start, as the others saw them, their errors
  double *start, *seen, *all;
  int64_t n_rows;  // of e, complete
  double factor;   // by which an error is bounded

  yoke_thread* worker;
  atomic_bool is_cancelled;
  _Atomic uint32_t n_wakes;  // the worker sleeps on it

  bool is_finished;
  const char* none;  // why there is no estimate at all
};

// ---------------------------------------------------------------------------------------------------------
// which units

static const char* format(yoke_arena* arena, const char* text, ...) YOKE_PRINTF(2, 3);
static const char* format(yoke_arena* arena, const char* text, ...) {
  va_list args;
  va_start(args, text);
  const char* made = yoke__arena_format(arena, text, args);
  va_end(args);
  return made;
}

// What forbids a model of a unit that is fed, or read, by this connection.
static const char* judge_link(yoke_trust_online* o, size_t unit, const yoke_system_link* link) {
  const yoke_system_unit* su = &o->system->units[unit];
  const int64_t n = su->is_law || su->period == 0 ? 0 : link->interval / su->period;
  if (!su->is_law && n < MIN_SAMPLES) {
    return format(&o->arena,
                  "'%s' is called %s per exchange, %d calls are needed: give its connections an "
                  "`exchange:` of that many of its steps (a larger `calls` alone makes "
                  "it exchange more often)",
                  su->name,
                  n <= 1   ? "once"
                  : n == 2 ? "twice"
                           : "3 times",
                  MIN_SAMPLES);
  }
  if (link->to_unit == unit && !link->is_dense) {
    return format(&o->arena, "'%s' has a connection that is not real", su->name);
  }
  if (link->to_unit == unit && link->delay > 0) {
    return format(&o->arena, "'%s' has a connection with a delay", su->name);
  }
  return NULL;
}

static const char* judge_unit(yoke_trust_online* o, size_t unit) {
  const yoke_system_unit* su = &o->system->units[unit];
  if (su->is_law && !yoke__unit_is_linear(&su->unit)) {
    return format(&o->arena, "the law '%s' is not linear", su->name);
  }
  if (su->derivative_order > 0) {
    return format(&o->arena, "'%s' uses derivatives of its inputs", su->name);
  }
  return NULL;
}

static const char not_connected[] = "nothing is connected to it";

// Both ends of every connection.
static void judge_ends(yoke_trust_online* o, bool is_judged[]) {
  for (size_t i = 0; i < o->system->n_links; i++) {
    const yoke_system_link* link = &o->system->links[i];
    const size_t ends[2] = {link->from_unit, link->to_unit};
    for (size_t e = 0; e < 2; e++) {
      if (!is_judged[ends[e]]) {
        is_judged[ends[e]] = true;
        o->why[ends[e]] = judge_unit(o, ends[e]);
      }
      o->why[ends[e]] = o->why[ends[e]] == NULL ? judge_link(o, ends[e], link) : o->why[ends[e]];
    }
  }
}

// What depends on a unit without a model has none.
static void spread_lack(yoke_trust_online* o) {
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < o->system->n_links; i++) {
      const yoke_system_link* link = &o->system->links[i];
      if (o->why[link->from_unit] != NULL && o->why[link->to_unit] == NULL) {
        o->why[link->to_unit] = o->why[link->from_unit];
        has_changed = true;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// grid

// Does a row every so many ticks fit the calls, exchanges and macro steps?
static bool fits(const yoke_trust_online* o, int64_t grid) {
  const yoke_system* system = o->system;
  bool is_fitting = system->macro % grid == 0;
  for (size_t i = 0; i < system->n_links && is_fitting; i++) {
    const yoke_system_link* link = &system->links[i];
    is_fitting = o->why[link->to_unit] != NULL ||
                 (link->interval % grid == 0 && link->interval >= MIN_SAMPLES * grid);
  }
  return is_fitting;
}

// Of the inputs of units with a model; it may be several macro steps long.
static int64_t shortest_exchange(const yoke_trust_online* o) {
  int64_t shortest = 0;
  for (size_t i = 0; i < o->system->n_links; i++) {
    const yoke_system_link* link = &o->system->links[i];
    if (o->why[link->to_unit] == NULL && (shortest == 0 || link->interval < shortest)) {
      shortest = link->interval;
    }
  }
  return shortest == 0 ? o->system->macro : shortest;
}

// Bytes of all samples on a grid.
static double bytes_of(const yoke_trust_online* o, int64_t grid) {
  double n = 0;
  for (size_t i = 0; i < o->system->n_units; i++) {
    const yoke_unit* unit = &o->system->units[i].unit;
    n += o->why[i] == NULL && !o->system->units[i].is_law ? (double)(unit->n_y + 2 * unit->n_u) : 0;
  }
  const int64_t n_macros = o->system->n_slots / o->system->macro_slots;
  const int64_t n_samples = o->system->macro / grid;  // in each
  return n * 8 * (double)n_macros * (double)n_samples;
}

// The step of the slowest unit with a model; several calls together where they are many or memory is short.
static void choose_grid(yoke_trust_online* o) {
  const yoke_system* system = o->system;
  int64_t step = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    if (o->why[i] == NULL && !system->units[i].is_law && system->units[i].period > step) {
      step = system->units[i].period;
    }
  }
  o->grid = 0;
  if (step == 0 || !fits(o, step)) {
    for (size_t i = 0; i < system->n_units; i++) {
      o->why[i] = o->why[i] == NULL ? "the steps of the units have no common grid" : o->why[i];
    }
    return;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    if (o->why[i] == NULL && !system->units[i].is_law && step % system->units[i].period != 0) {
      o->why[i] = format(&o->arena, "the step of '%s' does not divide that of the slowest unit",
                         system->units[i].name);
    }
  }
  o->grid = step;
  const int64_t shortest = shortest_exchange(o);
  for (int64_t c = 1; c * step * MIN_SAMPLES <= shortest; c++) {
    if (fits(o, c * step)) {
      o->grid = c * step;
      if (shortest <= MANY_SAMPLES * o->grid && bytes_of(o, o->grid) <= MAX_BYTES) {
        return;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// feedthrough

// The judged signals of a unit are side by side. Which numbers of its outputs they are.
static size_t list_outputs(const yoke_trust_online* o, size_t unit, size_t y[]) {
  size_t n = 0;
  for (size_t i = o->first[unit]; i < o->first[unit + 1]; i++) {
    y[n++] = o->system->judged[i].y - o->system->units[unit].y;
  }
  return n;
}

static bool has_feedthrough(const yoke_trust_online* o, size_t unit) {
  const yoke_unit* u = &o->system->units[unit].unit;
  for (size_t i = o->first[unit]; i < o->first[unit + 1]; i++) {
    for (size_t v = 0; v < u->info->n_variables; v++) {
      if (u->info->variables[v].causality == YOKE_INPUT && u->dense[v] != YOKE_NOT_DENSE &&
          yoke__unit_has_feedthrough(u, o->system->judged[i].variable, v)) {
        return true;
      }
    }
  }
  return false;
}

// whole: n_y x n_u of all outputs. From the unit's own linear model.
static bool linear_feedthrough(const yoke_unit* unit, double whole[]) {
  yoke_linear model = {0};
  if (unit->ops->linearise == NULL) {
    return false;
  }
  model.D = whole;
  return unit->ops->linearise(unit->self, &model) >= 0 && model.n_inputs == unit->n_u &&
         model.n_outputs == unit->n_y;
}

static bool is_scalar(const yoke_unit* unit, size_t v) {
  return yoke__variable_count(&unit->info->variables[v]) == 1;
}

// From directional derivatives of scalars.
static bool derived_feedthrough(const yoke_unit* unit, double whole[]) {
  if (unit->ops->derivative == NULL) {
    return false;
  }
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    for (size_t k = 0; k < unit->info->n_variables; k++) {
      const bool is_pair = unit->info->variables[i].causality == YOKE_OUTPUT &&
                           unit->info->variables[k].causality == YOKE_INPUT &&
                           unit->dense[i] != YOKE_NOT_DENSE && unit->dense[k] != YOKE_NOT_DENSE &&
                           yoke__unit_has_feedthrough(unit, i, k);
      const double one = 1;
      if (is_pair &&
          (!is_scalar(unit, i) || !is_scalar(unit, k) ||
           unit->ops->derivative(unit->self, &i, 1, &k, 1, &one,
                                 &whole[unit->dense[i] * unit->n_u + unit->dense[k]]) < 0)) {
        return false;
      }
    }
  }
  return true;
}

// From outputs read again with changed inputs: only where everything can be put back. A law has no state.
static bool probed_feedthrough(const yoke_unit* unit, bool is_law, const double u[], double t,
                               double whole[]) {
  const size_t size = yoke__unit_image_size(unit), n_y = unit->n_y, n_u = unit->n_u;
  if ((size == 0 && !is_law) || !yoke__unit_can_refresh(unit)) {
    return false;
  }
  void* image = calloc(1, size + 1);
  double* work = calloc(n_u + 2 * n_y + 1, sizeof *work);
  bool is_good =
      image != NULL && work != NULL && (size == 0 || yoke__unit_save(unit, image, size) >= 0);
  const bool is_saved = is_good;
  for (size_t c = 0; is_good && c < n_u; c++) {
    const double step = PROBE * fmax(1, fabs(u[c]));
    for (int side = 0; side < 2 && is_good; side++) {
      memcpy(work, u, n_u * sizeof *work);
      work[c] += side == 0 ? -step : step;
      is_good = yoke__unit_set_inputs(unit, work) >= 0 && unit->ops->refresh(unit->self, t) >= 0 &&
                yoke__unit_get_outputs(unit, work + n_u + (size_t)side * n_y) >= 0;
    }
    for (size_t r = 0; is_good && r < n_y; r++) {
      whole[r * n_u + c] = (work[n_u + n_y + r] - work[n_u + r]) / (2 * step);
    }
  }
  if (size > 0) {
    is_good = is_saved && yoke__unit_restore(unit, image, size) >= 0 && is_good;
  } else {
    is_good =
        yoke__unit_set_inputs(unit, u) >= 0 && unit->ops->refresh(unit->self, t) >= 0 && is_good;
  }
  free(image);
  free(work);
  return is_good;
}

static bool are_finite(const double x[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!yoke__is_finite(x[i])) {
      return false;
    }
  }
  return true;
}

// Called from the unit's own thread.
static yoke_status find_feedthrough(void* context, size_t unit) {
  yoke_trust_online* o = context;
  const yoke_system* system = o->system;
  const yoke_system_unit* su = &system->units[unit];
  const size_t n_y = su->unit.n_y, n_u = su->unit.n_u;
  if (o->why[unit] != NULL || n_y == 0 || n_u == 0 || !has_feedthrough(o, unit)) {
    return YOKE_OK;
  }
  double* whole = calloc(n_y * n_u + 1, sizeof *whole);
  size_t* y = calloc(n_y + 1, sizeof *y);
  bool is_known = whole != NULL && y != NULL;
  is_known = is_known &&
             (linear_feedthrough(&su->unit, whole) || derived_feedthrough(&su->unit, whole) ||
              probed_feedthrough(&su->unit, su->is_law, o->state->u + su->u, o->state->t, whole)) &&
             are_finite(whole, n_y * n_u);
  const size_t n = y == NULL ? 0 : list_outputs(o, unit, y);
  for (size_t r = 0; is_known && r < n; r++) {
    memcpy(o->D[unit] + r * n_u, whole + y[r] * n_u, n_u * sizeof *whole);
  }
  if (!is_known) {
    o->why[unit] = "";  // a text is made by the thread that asked
  }
  free(whole);
  free(y);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// layout

static yoke_status find_units(yoke_trust_online* o) {
  const yoke_system* system = o->system;
  const size_t n = system->n_units + 1;
  o->why = yoke__arena_array(&o->arena, n, sizeof(char*));
  o->is_kept = yoke__arena_array(&o->arena, n, sizeof *o->is_kept);
  o->D = yoke__arena_array(&o->arena, n, sizeof(double*));
  bool* is_judged = yoke__arena_array(&o->arena, n, sizeof *is_judged);
  o->first = yoke__arena_array(&o->arena, n + 1, sizeof *o->first);
  YOKE_TRY(yoke__arena_status(&o->arena));
  size_t first = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    o->why[i] = not_connected;
    o->first[i] = first;
    while (first < system->n_judged && system->judged[first].unit == i) {
      first++;
    }
    o->first[i + 1] = first;
  }
  judge_ends(o, is_judged);
  for (size_t i = 0; i < system->n_units; i++) {
    const size_t n_d = (o->first[i + 1] - o->first[i]) * system->units[i].unit.n_u;
    o->D[i] = o->why[i] == NULL ? yoke__arena_array(&o->arena, n_d + 1, sizeof(double)) : NULL;
  }
  YOKE_TRY(yoke__arena_status(&o->arena));
  spread_lack(o);
  YOKE_TRY(yoke__master_each_unit(system, o->state, find_feedthrough, o,
                                  "the feedthrough could not be determined"));
  for (size_t i = 0; i < system->n_units; i++) {
    if (o->why[i] != NULL && o->why[i][0] == '\0') {
      o->why[i] = format(&o->arena, "the feedthrough of '%s' is not known", system->units[i].name);
    }
  }
  spread_lack(o);
  choose_grid(o);
  spread_lack(o);
  for (size_t i = 0; i < system->n_units; i++) {
    o->is_kept[i] = o->why[i] == NULL && !system->units[i].is_law;
    o->n_units += o->is_kept[i];
  }
  return yoke__arena_status(&o->arena);
}

// Where the outputs and inputs of the units with a model are among all of them.
typedef struct places {
  size_t *y, *u;  // by index into Y and U
} places;

static yoke_status add_link(yoke_trust_online* o, const yoke_online_link* link) {
  if (o->n_links == o->n_link_room) {
    const size_t n = 2 * o->n_link_room + 16;
    yoke_online_link* more = realloc(o->links, n * sizeof *more);
    YOKE_TRY_MEMORY(more);
    o->links = more;
    o->n_link_room = n;
  }
  o->links[o->n_links++] = *link;
  return YOKE_OK;
}

static yoke_status add_term(yoke_trust_online* o, const term* t) {
  if (o->n_terms == o->n_term_room) {
    const size_t n = 2 * o->n_term_room + 16;
    term* more = realloc(o->terms, n * sizeof *more);
    YOKE_TRY_MEMORY(more);
    o->terms = more;
    o->n_term_room = n;
  }
  o->terms[o->n_terms++] = *t;
  return YOKE_OK;
}

// Where a path of connections and laws ends: an input, or, if that is YOKE_NOT_FOUND, the error of a judged signal.
typedef struct path {
  const places* at;
  size_t to, signal;
} path;

// From an output back to the outputs of units that it is made of: itself, or through laws. Each is a link, or a term.
// NOLINTNEXTLINE(misc-no-recursion): at most as deep as there are laws
static yoke_status trace_back(yoke_trust_online* o, const path* p, size_t unit, size_t y,
                              double gain, size_t depth) {
  const yoke_system* system = o->system;
  const yoke_system_unit* su = &system->units[unit];
  if (!su->is_law) {
    const yoke_online_link link = {.from = p->at->y[y], .to = p->to, .gain = gain};
    const term part = {p->signal, p->at->y[y], gain};
    return p->to == YOKE_NOT_FOUND ? add_term(o, &part) : add_link(o, &link);
  }
  if (depth > system->n_laws) {
    return YOKE_NO_SUPPORT;
  }
  size_t row = 0;
  while (system->judged[o->first[unit] + row].y != y) {
    row++;
  }
  for (size_t i = su->first_tap; i < su->first_tap + su->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    const double share = o->D[unit][row * su->unit.n_u + tap->to - su->u];
    if (share != 0) {
      YOKE_TRY(trace_back(o, p, system->links[tap->link].from_unit, tap->from,
                          gain * share * tap->gain, depth + 1));
    }
  }
  return YOKE_OK;
}

// One connection. What laws add to it shows at the start, where everything fits together.
static yoke_status connect_tap(yoke_trust_online* o, const places* at, const yoke_tap* tap) {
  const size_t first = o->n_links;
  const path p = {at, at->u[tap->to], 0};
  const size_t unit = o->system->links[tap->link].from_unit;
  YOKE_TRY(trace_back(o, &p, unit, tap->from, tap->gain, 0));
  if (o->n_links == first) {
    return YOKE_OK;
  }
  o->links[first].offset = tap->offset;
  if (o->system->units[unit].is_law) {
    double offset = tap->gain * o->state->y[tap->from] + tap->offset;
    for (size_t i = first; i < o->n_links; i++) {
      offset -= o->links[i].gain * o->start[o->links[i].from];
    }
    o->links[first].offset = offset;
  }
  return YOKE_OK;
}

static yoke_status connect_signals(yoke_trust_online* o, const places* at) {
  const yoke_system* system = o->system;
  for (size_t i = 0; i < system->n_taps; i++) {
    if (o->is_kept[system->links[system->taps[i].link].to_unit]) {
      YOKE_TRY(connect_tap(o, at, &system->taps[i]));
    }
  }
  for (size_t i = 0; i < system->n_judged; i++) {
    const yoke_system_signal* signal = &system->judged[i];
    const path p = {at, YOKE_NOT_FOUND, i};
    o->places[i] = o->is_kept[signal->unit] ? at->y[signal->y] : YOKE_NOT_FOUND;
    o->is_known[i] = o->why[signal->unit] == NULL;
    if (o->is_known[i] && !o->is_kept[signal->unit]) {
      YOKE_TRY(trace_back(o, &p, signal->unit, signal->y, 1, 0));
    }
  }
  return YOKE_OK;
}

// Places of the judged outputs and all inputs of the units with a model; what connects them.
static yoke_status connect(yoke_trust_online* o) {
  const yoke_system* system = o->system;
  const yoke_tape* tape = o->state->tape;
  const places at = {yoke__arena_array(&o->arena, system->n_y + 1, sizeof(size_t)),
                     yoke__arena_array(&o->arena, system->n_u + 1, sizeof(size_t))};
  o->units = yoke__arena_array(&o->arena, o->n_units + 1, sizeof *o->units);
  o->start = yoke__arena_array(&o->arena, system->n_judged + 1, sizeof *o->start);
  o->seen = yoke__arena_array(&o->arena, system->n_judged + 1, sizeof *o->seen);
  o->all = yoke__arena_array(&o->arena, system->n_judged + 1, sizeof *o->all);
  o->e = yoke__arena_array(&o->arena, (size_t)o->state->watch.trace->n_room * system->n_judged + 1,
                           sizeof *o->e);
  YOKE_TRY(yoke__arena_status(&o->arena));
  size_t n = 0, n_y = 0, n_u = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_tape_unit* unit = &tape->units[i];
    if (!o->is_kept[i]) {
      continue;
    }
    o->units[n++] = (yoke_online_unit){.n_y = unit->n_y,
                                       .n_u = unit->n_u,
                                       .D = o->D[i],
                                       .start = unit->start,
                                       .rows = unit->rows,
                                       .has_last = unit->every > 1};
    for (size_t k = 0; k < unit->n_y; k++) {
      o->start[n_y] = unit->start[k];
      at.y[unit->y[k]] = n_y++;
    }
    for (size_t k = 0; k < unit->n_u; k++) {
      at.u[unit->u + k] = n_u++;
    }
  }
  YOKE_TRY(connect_signals(o, &at));
  return yoke__online_create(o->units, o->n_units, o->links, o->n_links, YOKE_ONLINE_LAGS,
                             &o->estimate);
}

// ---------------------------------------------------------------------------------------------------------
// the estimate

static void choose_factor(yoke_trust_online* o) {
  o->factor = YOKE_BAND_ESTIMATE;
  for (size_t i = 0; i < o->n_units; i++) {
    if (!(yoke__online_residual(o->estimate, i) <= YOKE_ONLINE_NOISE)) {
      o->factor = YOKE_BAND_NOISY_ESTIMATE;
    }
  }
}

// Samples of the first so many macro steps.
static int64_t samples_of(const yoke_trust_online* o, int64_t n_steps) {
  const yoke_tape* tape = o->state->tape;
  const int64_t n = n_steps * tape->n_rows_step;
  return n < tape->n_room ? n : tape->n_room;
}

// Errors at the rows of the trace that the samples reach.
static void extend(yoke_trust_online* o, int64_t n_steps) {
  const yoke_trace* trace = o->state->watch.trace;
  const int64_t n_samples = samples_of(o, n_steps);
  const size_t n = o->system->n_judged;
  for (int64_t k = o->n_rows; k < trace->n_room && k * trace->thin <= n_steps; k++) {
    const int64_t j = k * trace->thin * o->state->tape->n_rows_step;
    if (j > n_samples || atomic_load_explicit(&o->is_cancelled, memory_order_relaxed)) {
      return;
    }
    yoke__online_advance(o->estimate, j);
    const double* values = trace->values + (size_t)k * n;
    for (size_t i = 0; i < n; i++) {
      if (o->places[i] != YOKE_NOT_FOUND) {
        o->seen[o->places[i]] = values[i];
      }
    }
    yoke__online_error(o->estimate, o->seen, o->all);
    double* e = o->e + (size_t)k * n;
    for (size_t i = 0; i < n; i++) {
      e[i] = o->places[i] != YOKE_NOT_FOUND ? o->all[o->places[i]]
             : o->is_known[i]               ? 0
                                            : (double)NAN;
    }
    for (size_t i = 0; i < o->n_terms; i++) {
      e[o->terms[i].signal] += o->terms[i].gain * o->all[o->terms[i].from];
    }
    o->n_rows = k + 1;
  }
}

static yoke_status fit(yoke_trust_online* o, int64_t n_steps, const atomic_bool* is_cancelled) {
  o->n_rows = 0;
  YOKE_TRY(yoke__online_fit(o->estimate, samples_of(o, n_steps), is_cancelled));
  choose_factor(o);
  extend(o, n_steps);
  return YOKE_OK;
}

// Rows of the trace that a run of so many macro steps has, for a signal exchanged every so many of them.
static void series_of(const yoke_trust_online* o, size_t i, int64_t n_steps, size_t* n,
                      size_t* n_known, size_t* every) {
  const yoke_trace* trace = o->state->watch.trace;
  *every = trace->thin > 1 ? 1 : (size_t)o->system->judged[i].every;
  const int64_t n_all = n_steps / trace->thin + 1;
  const size_t n_rows = (size_t)(n_all < trace->n_room ? n_all : trace->n_room);
  *n = (n_rows - 1) / *every + 1;
  *n_known = o->n_rows == 0 ? 0 : (size_t)(o->n_rows - 1) / *every + 1;
}

static bool band_of(const yoke_trust_online* o, size_t i, int64_t n_steps, yoke_band* out) {
  size_t n = 0, n_known = 0, every = 1;
  const size_t n_signals = o->system->n_judged;
  series_of(o, i, n_steps, &n, &n_known, &every);
  return yoke__band_estimate(o->state->watch.trace->values + i, o->e + i, n, n_known,
                             every * n_signals, o->factor, out);
}

// ---------------------------------------------------------------------------------------------------------
// beside the run

static void show_worst(yoke_trust_online* o, int64_t n_steps) {
  uint32_t signal = 0;
  float worst = -1;
  for (size_t i = 0; i < o->system->n_judged; i++) {
    yoke_band band;
    if (o->is_known[i] && band_of(o, i, n_steps, &band) && (float)band.relative > worst) {
      worst = (float)band.relative;
      signal = (uint32_t)i + 1;
    }
  }
  uint32_t bits = 0;
  memcpy(&bits, &worst, sizeof bits);
  atomic_store(&o->state->estimated, (uint64_t)signal << 32 | bits);
}

// Fits at 16, 32, 64, ... exchanges; between them the error goes on with the last models.
static void work(void* argument) {
  yoke_trust_online* o = argument;
  yoke__os_lower_priority(LOW_PRIORITY);
  yoke__os_float_mode_set();
  int64_t next = YOKE_ONLINE_EXCHANGES, n_seen = 0;
  bool has_models = false;
  while (!atomic_load(&o->is_cancelled)) {
    const int64_t n = atomic_load_explicit(&o->state->tape->n_steps, memory_order_acquire);
    if (n >= next) {
      has_models = fit(o, n, &o->is_cancelled) >= 0;
      while (next <= n) {
        next *= 2;
      }
    } else if (has_models && n > n_seen) {
      extend(o, n);
    }
    if (has_models && n > n_seen) {
      show_worst(o, n);
    }
    n_seen = n;
    yoke__os_futex_wait(&o->n_wakes, 0, POLL_NS);
  }
}

static void end_worker(yoke_trust_online* o) {
  atomic_store(&o->is_cancelled, true);
  atomic_store(&o->n_wakes, 1);
  yoke__os_futex_wake(&o->n_wakes);
  yoke__os_thread_join(&o->worker);
}

// ---------------------------------------------------------------------------------------------------------
// life

static yoke_status begin(yoke_trust_online* o) {
  const yoke_system* system = o->system;
  o->places = yoke__arena_array(&o->arena, system->n_judged + 1, sizeof *o->places);
  o->is_known = yoke__arena_array(&o->arena, system->n_judged + 1, sizeof *o->is_known);
  YOKE_TRY(yoke__arena_status(&o->arena));
  for (size_t i = 0; i < system->n_judged; i++) {
    o->places[i] = YOKE_NOT_FOUND;
  }
  if (yoke__system_is_iterative(system) || system->is_adaptive) {
    o->none = system->is_adaptive ? "the step is variable" : "the scheme is iterative";
    return YOKE_OK;
  }
  YOKE_TRY(find_units(o));
  size_t n_y = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    n_y += o->is_kept[i] ? o->first[i + 1] - o->first[i] : 0;
  }
  if (o->n_units == 0 || n_y > YOKE_ONLINE_OUTPUTS) {
    o->none = o->n_units == 0 ? NULL : "more than 400 signals are exchanged";
    return YOKE_OK;
  }
  YOKE_TRY(yoke__master_tape(system, o->state, o->grid, o->is_kept, MAX_BYTES));
  const yoke_status status = connect(o);
  if (status == YOKE_NO_SUPPORT) {
    o->none = "laws depend on each other";
    yoke__master_end_tape(o->state);
    return YOKE_OK;
  }
  YOKE_TRY(status);
  // without a thread there is no estimate while the run goes on, but one at its end
  (void)yoke__os_thread_start(work, o, &o->worker);
  return YOKE_OK;
}

yoke_status yoke__trust_online_begin(const yoke_system* system, yoke_state* state,
                                     yoke_trust_online** out) {
  *out = NULL;
  yoke_trust_online* o = calloc(1, sizeof *o);
  YOKE_TRY_MEMORY(o);
  o->system = system;
  o->state = state;
  const yoke_status status = begin(o);
  if (status < 0) {
    yoke__trust_online_destroy(&o);
    return status;
  }
  *out = o;
  return YOKE_OK;
}

static void fit_all(void* argument) {
  yoke_trust_online* o = argument;
  const uint64_t mode = yoke__os_float_mode_set();
  if (fit(o, o->state->watch.n_steps, &o->is_cancelled) < 0) {
    o->none = "models of the units could not be fitted to the run";
  }
  yoke__os_float_mode_restore(mode);
  atomic_store(&o->n_wakes, 1);
  yoke__os_futex_wake(&o->n_wakes);
}

// Waits for the last fit. False: nobody wants it any more.
static bool wait_for_fit(yoke_trust_online* o, bool (*goes_on)(void* to), void* to) {
  bool is_wanted = true;
  while (is_wanted && atomic_load(&o->n_wakes) == 0) {
    yoke__os_futex_wait(&o->n_wakes, 0, POLL_NS);
    is_wanted = goes_on == NULL || goes_on(to);
  }
  return is_wanted;
}

yoke_status yoke__trust_online_finish(yoke_trust_online* o, bool (*goes_on)(void* to), void* to) {
  end_worker(o);
  o->n_rows = 0;
  o->is_finished = true;
  if (o->estimate == NULL) {
    return YOKE_OK;
  }
  if (o->state->tape->is_broken) {
    o->none = "a saved state was restored";
    return YOKE_OK;
  }
  if (o->state->watch.n_steps < YOKE_ONLINE_EXCHANGES) {
    o->none = "there are fewer than 16 exchanges";
    return YOKE_OK;
  }
  atomic_store(&o->is_cancelled, false);
  atomic_store(&o->n_wakes, 0);
  if (yoke__os_thread_start(fit_all, o, &o->worker) < 0) {
    fit_all(o);  // no thread to be had
  }
  const bool is_wanted = wait_for_fit(o, goes_on, to);
  o->is_finished = is_wanted;
  if (!is_wanted) {
    end_worker(o);
  }
  yoke__os_thread_join(&o->worker);
  return is_wanted ? YOKE_OK : YOKE_INTERRUPTED;
}

void yoke__trust_online_destroy(yoke_trust_online** online) {
  yoke_trust_online* o = *online;
  if (o == NULL) {
    return;
  }
  end_worker(o);
  yoke__online_destroy(&o->estimate);
  free(o->links);
  free(o->terms);
  yoke__master_end_tape(o->state);
  yoke__arena_free(&o->arena);
  free(o);
  *online = NULL;
}

// ---------------------------------------------------------------------------------------------------------
// the outcome

bool yoke__trust_online_band(const yoke_trust_online* o, size_t i, yoke_band* out,
                             const char** why) {
  const size_t unit = o->system->judged[i].unit;
  *why = o->none != NULL ? o->none : o->why == NULL ? NULL : o->why[unit];
  if (!o->is_finished || *why != NULL || !o->is_known[i] || o->n_rows == 0) {
    return false;
  }
  const bool has_band = band_of(o, i, o->state->watch.n_steps, out);
  *why = has_band ? NULL : "the estimated error is more than half of the movement";
  return has_band;
}

const double* yoke__trust_online_errors(const yoke_trust_online* o, size_t i, double* factor,
                                        size_t* n, size_t* stride) {
  size_t n_all = 0, every = 1;
  *n = 0;
  if (!o->is_finished || o->n_rows == 0 || !o->is_known[i]) {
    return NULL;
  }
  series_of(o, i, o->state->watch.n_steps, &n_all, n, &every);
  *stride = every * o->system->n_judged;
  *factor = o->factor;
  return o->e + i;
}

void yoke__trust_online_info(const yoke_trust_online* o, yoke_online_info* out) {
  *out = (yoke_online_info){.n_exchanges = o->state->watch.n_steps, .n_units = o->n_units};
  if (o->estimate == NULL) {
    return;
  }
  const yoke_tape* tape = o->state->tape;
  const int64_t n_samples = samples_of(o, out->n_exchanges);
  out->n_samples = shortest_exchange(o) / o->grid;
  out->n_estimated = o->n_rows == 0 ? 0 : (o->n_rows - 1) * o->state->watch.trace->thin;
  out->n_left_out = out->n_exchanges * tape->n_rows_step - n_samples;
  for (size_t i = 0; i < o->n_units; i++) {
    out->residual = fmax(out->residual, yoke__online_residual(o->estimate, i));
  }
}
