// A twin of a black box from its settings: names of the unit's variables become sensors, unknowns and outputs.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "estimate/estimate_filter.h"
#include "unit/twin/twin_black_part.h"

#define SETS_KEPT  2  // where instances can be restored
#define SETS_FRESH 3  // where those that were used are spent
#define MOST_ROWS  64
#define HISTORY    100000  // steps that are kept to begin again with
#define HALF       0.5     // share of a guess that it is uncertain by
#define PAYS_S     20e-6   // of an instance's step, from which on threads pay
#define N_TRIED    4
#define MOST_NAME  300

// ---------------------------------------------------------------------------------------------------------
// how many instances

static bool is_offset(const char* name) {
  return strncmp(name, "offset(", 7) == 0;
}

static bool is_start(const char* name) {
  return strncmp(name, "start(", 6) == 0;
}

// Two of each unknown that acts through the unit, and two more for what it does to the start.
static size_t count_members(const yoke_twin_settings* twin) {
  size_t n = 1;
  for (size_t i = 0; i < twin->n_unknowns; i++) {
    const char* name = twin->unknowns[i].name;
    n += is_offset(name) ? 0 : is_start(name) ? 2 : 4;
  }
  return n > 1 ? n + 2 : n;
}

static bool can_restore(const yoke_unit_ops* ops) {
  const bool is_flat = ops->info != NULL && (ops->info->flags & YOKE_UNIT_FLAT) != 0;
  return is_flat || (ops->save != NULL && ops->restore != NULL);
}

static bool uses_derivatives(const yoke_twin_settings* twin) {
  return twin->filter == YOKE_ESTIMATE_EXTENDED;
}

size_t yoke__twin_black_instances(const yoke_twin_settings* twin, const yoke_unit_ops* ops) {
  const size_t n = uses_derivatives(twin) ? 1 : count_members(twin);
  return n * (n == 1 ? 1 : can_restore(ops) ? SETS_KEPT : SETS_FRESH);
}

// What is known of the unit by an instance that is thrown away.
typedef struct look {
  size_t n_fixed;  // unknowns that are fixed parameters
  double cost;     // of a step [s]; 0: not known
} look;

static double time_steps(const yoke_unit* unit, double h) {
  double least = 0;
  bool is_good =
      yoke__unit_enter_init(unit, 0, N_TRIED * h, NULL) >= 0 && yoke__unit_exit_init(unit) >= 0;
  for (int i = 0; i < N_TRIED && is_good; i++) {
    yoke_step_result result = {.t_reached = (i + 1) * h};
    const int64_t begin = yoke__os_now_ns();
    is_good = unit->ops->step(unit->self, i * h, h, &result) >= 0;
    const double cost = 1e-9 * (double)(yoke__os_now_ns() - begin);
    least = i == 0 || cost < least ? cost : least;
  }
  yoke__unit_terminate(unit);
  return is_good ? least : 0;
}

static look look_at(const black_twin* w, const yoke_unit_args* args) {
  look out = {0, 0};
  yoke_arena arena = {0};
  yoke_unit unit = {0};
  yoke_unit_args own = *args;
  own.context = w->file->inner[0]->context;
  if (yoke__unit_create(w->file->inner[0], &own, &arena, &unit, NULL) >= 0) {
    for (size_t i = 0; i < w->settings->n_unknowns; i++) {
      const size_t v = yoke__unit_find(&unit, w->settings->unknowns[i].name);
      out.n_fixed += v != YOKE_NOT_FOUND && unit.info->variables[v].causality == YOKE_PARAMETER;
    }
    out.cost = time_steps(&unit, w->h);
    yoke__unit_close(&unit);
  }
  yoke__arena_free(&arena);
  return out;
}

static int choose_threads(const black_twin* w, double cost) {
  const int n = yoke__os_n_processors();
  if (n < 2 || w->n_members < 2 || !(cost >= PAYS_S)) {
    return 1;
  }
  return (size_t)n < w->n_members ? n : (int)w->n_members;
}

static bool has_walk(const yoke_twin_settings* s) {
  for (size_t i = 0; i < s->n_unknowns; i++) {
    if (s->unknowns[i].walk > 0 && !is_offset(s->unknowns[i].name)) {
      return true;
    }
  }
  return false;
}

static yoke_status make_instances(black_twin* w, const yoke_unit_args* args) {
  const size_t most = uses_derivatives(w->settings) ? 1 : count_members(w->settings);
  const look seen = most > 1 ? look_at(w, args) : (look){0, 0};
  w->n_sets = w->file->n_inner / most;
  w->n_members = most - 2 * seen.n_fixed;  // the start shows what they do
  w->is_restored = can_restore(w->file->inner[0]);
  const yoke_instances_setup setup = {.ops = w->file->inner,
                                      .args = args,
                                      .n = w->n_sets * w->n_members,
                                      .n_threads = choose_threads(w, seen.cost),
                                      .h = w->h,
                                      .has_work = w->n_members > 1 && has_walk(w->settings)};
  const yoke_sink sink = yoke__messages_sink(&w->messages);
  YOKE_TRY(yoke__instances_create(&setup, &w->arena, &w->instances, &sink));
  w->unit = yoke__instances_unit(w->instances, 0);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// names

static yoke_status refuse(black_twin* w, yoke_place place, const char* role, const char* name,
                          const char* why) {
  return yoke__error(&w->messages, place, "%s '%s': %s", role, name, why);
}

// False after a message.
static bool find_variable(black_twin* w, yoke_place place, const char* role, const char* name,
                          size_t* variable, size_t* element) {
  const char* nearest = NULL;
  if (yoke__unit_find_element(w->unit, name, variable, element)) {
    return true;
  }
  for (size_t i = 0; i < w->unit->info->n_variables; i++) {
    nearest = yoke__nearer_name(name, nearest, w->unit->info->variables[i].name);
  }
  yoke__error_near(&w->messages, place, nearest, "%s '%s': the unit has no such variable", role,
                   name);
  return false;
}

// The place of a real output in the vector of outputs, or a message.
static yoke_status find_output(black_twin* w, const char* role, const char* name, yoke_place place,
                               size_t* variable, size_t* at) {
  size_t element;
  if (!find_variable(w, place, role, name, variable, &element)) {
    return YOKE_BAD_INPUT;
  }
  const yoke_variable* v = &w->unit->info->variables[*variable];
  if (v->type != YOKE_REAL || v->causality != YOKE_OUTPUT) {
    return refuse(w, place, role, name, "it is not a real output of the unit");
  }
  if (yoke__variable_count(v) > 1 && strcmp(name, v->name) == 0) {
    return refuse(w, place, role, name, "it is an array: name one element");
  }
  *at = w->unit->dense[*variable] + element;
  return YOKE_OK;
}

static size_t add_row(black_twin* w, size_t at, size_t variable) {
  for (size_t i = 0; i < w->n_rows; i++) {
    if (w->rows[i] == at) {
      return i;
    }
  }
  w->rows[w->n_rows] = at;
  w->row_variables[w->n_rows] = variable;
  return w->n_rows++;
}

static yoke_status find_sensors(black_twin* w, yoke_deviation_sensor sensors[]) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < w->n_sensors; i++) {
    const yoke_twin_sensor* given = &w->settings->sensors[i];
    size_t variable = 0, at = 0;
    if (find_output(w, "sensor", given->name, given->place, &variable, &at) < 0) {
      status = YOKE_BAD_INPUT;
      continue;
    }
    sensors[i] = (yoke_deviation_sensor){add_row(w, at, variable), given->sigma};
    if (!(given->sigma > 0)) {
      status = refuse(w, given->place, "sensor", given->name,
                      "a twin of a black box needs 'sigma', the standard deviation of its noise");
    }
  }
  return status;
}

static yoke_status find_outputs(black_twin* w) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < w->settings->n_outputs; i++) {
    const yoke_twin_output* given = &w->settings->outputs[i];
    size_t variable = 0, at = 0;
    if (find_output(w, "output", given->name, given->place, &variable, &at) < 0) {
      status = YOKE_BAD_INPUT;
    } else {
      (void)add_row(w, at, variable);
    }
  }
  if (w->settings->n_outputs > 0) {
    return status;
  }
  if (w->unit->n_y > MOST_ROWS) {
    return yoke__error(&w->messages, w->file->settings.place,
                       "the unit has %zu outputs: name those of interest, such as outputs: [t1]",
                       w->unit->n_y);
  }
  for (size_t i = 0; i < w->unit->info->n_variables; i++) {
    const yoke_variable* v = &w->unit->info->variables[i];
    for (size_t k = 0;
         v->type == YOKE_REAL && v->causality == YOKE_OUTPUT && k < yoke__variable_count(v); k++) {
      (void)add_row(w, w->unit->dense[i] + k, i);
    }
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// unknowns

// "offset(t1)": the sensor.
static yoke_status find_offset(black_twin* w, const yoke_twin_unknown* given, black_unknown* u) {
  const size_t n = strlen(given->name) - 8;
  u->kind = BLACK_OFFSET;
  u->what = "offset of a sensor";
  for (size_t i = 0; i < w->n_sensors; i++) {
    const char* name = w->settings->sensors[i].name;
    if (strlen(name) == n && strncmp(name, given->name + 7, n) == 0) {
      u->place = i;
      return YOKE_OK;
    }
  }
  return refuse(w, given->place, "unknown", given->name, "there is no such sensor");
}

// "start(T1)": a start value of the unit.
static yoke_status find_start(black_twin* w, const yoke_twin_unknown* given, black_unknown* u,
                              double* start) {
  char name[MOST_NAME];
  const size_t n = strlen(given->name);
  snprintf(name, sizeof name, "%.*s", (int)(n > 7 ? n - 7 : 0), given->name + 6);
  size_t variable;
  u->kind = BLACK_START;
  u->what = "start value";
  if (n >= sizeof name || given->name[n - 1] != ')' ||
      !find_variable(w, given->place, "unknown", name, &variable, &(size_t){0})) {
    return YOKE_BAD_INPUT;
  }
  const yoke_variable* v = &w->unit->info->variables[variable];
  const bool has_start = v->causality == YOKE_STATE ||
                         (v->causality == YOKE_OUTPUT && (v->flags & YOKE_VARIABLE_HAS_START) != 0);
  if (!has_start || v->type != YOKE_REAL || yoke__variable_count(v) > 1) {
    return refuse(w, given->place, "unknown", given->name,
                  "it is not one real state or output with a start value that can be given");
  }
  if (given->walk > 0) {
    return refuse(w, given->place, "unknown", given->name, "a start value has no 'walk'");
  }
  u->dim = v->dim;
  u->place = variable;
  *start = v->start;
  return YOKE_OK;
}

static yoke_status take_tunable(black_twin* w, size_t variable, black_unknown* u) {
  u->kind = BLACK_PARAMETER;
  u->what = "parameter";
  u->place = w->n_parameters;
  w->parameters[w->n_parameters++] = variable;
  return YOKE_OK;
}

// Instances keep the value with which they were initialised.
static yoke_status take_fixed(black_twin* w, const yoke_twin_unknown* given, size_t variable,
                              black_unknown* u) {
  u->kind = BLACK_START;
  u->what = "fixed parameter";
  u->place = variable;
  return given->walk > 0 ? refuse(w, given->place, "unknown", given->name,
                                  "it cannot change while the unit runs: leave out 'walk'")
                         : YOKE_OK;
}

static yoke_status find_unknown(black_twin* w, const yoke_twin_unknown* given, black_unknown* u,
                                double* start) {
  *u = (black_unknown){.given = given};
  *start = 0;
  if (is_offset(given->name)) {
    return find_offset(w, given, u);
  }
  if (is_start(given->name)) {
    return find_start(w, given, u, start);
  }
  size_t variable, element;
  if (!find_variable(w, given->place, "unknown", given->name, &variable, &element)) {
    return YOKE_BAD_INPUT;
  }
  const yoke_variable* v = &w->unit->info->variables[variable];
  const bool is_whole = yoke__variable_count(v) > 1 && strcmp(given->name, v->name) == 0;
  if (v->type != YOKE_REAL || is_whole) {
    return refuse(w, given->place, "unknown", given->name, "it is not one real number");
  }
  u->dim = v->dim;
  *start = v->start;
  if (v->causality == YOKE_INPUT) {
    u->kind = BLACK_INPUT;
    u->what = "input";
    u->place = w->unit->dense[variable] + element;
    return YOKE_OK;
  }
  if (v->causality != YOKE_TUNABLE && v->causality != YOKE_PARAMETER) {
    return refuse(w, given->place, "unknown", given->name,
                  "it is neither an input nor a parameter of the unit; a start value is written "
                  "start(NAME)");
  }
  if (yoke__variable_count(v) > 1) {
    return refuse(w, given->place, "unknown", given->name, "it is an element of an array");
  }
  return v->causality == YOKE_TUNABLE ? take_tunable(w, variable, u)
                                      : take_fixed(w, given, variable, u);
}

static double or_else(double given, double other) {
  return isnan(given) ? other : given;
}

static yoke_status choose_numbers(black_twin* w, const yoke_twin_unknown* given, black_unknown* u,
                                  double start, yoke_deviation_unknown* to) {
  const double first = or_else(given->start, start), guess = HALF * fabs(first);
  u->has_default_sd = isnan(given->sd);
  u->is_bounded = !isnan(given->lower);
  *to = (yoke_deviation_unknown){
      .start = first,
      .sd = or_else(given->sd, guess),
      .walk = or_else(given->walk, 0),
      .lower = or_else(given->lower, -(double)INFINITY),
      .upper = or_else(given->upper, (double)INFINITY),
      .sensor = u->kind == BLACK_OFFSET ? u->place : YOKE_DEVIATION_OUTPUT,
      .is_start = u->kind == BLACK_START,
  };
  to->is_fast = to->walk > 0 && u->kind == BLACK_INPUT;
  if (!(to->sd > 0)) {
    return refuse(w, given->place, "unknown", given->name,
                  "its guess is 0, which does not tell how unsure it is: give 'sd'");
  }
  if (u->kind == BLACK_INPUT && isnan(given->walk)) {
    return refuse(w, given->place, "unknown", given->name,
                  "an input needs 'walk', how much it drifts per square root of a second (0: it "
                  "is constant)");
  }
  return to->start > to->lower && to->start < to->upper
             ? YOKE_OK
             : refuse(w, given->place, "unknown", given->name,
                      "its start must lie between its bounds");
}

static yoke_status find_unknowns(black_twin* w, yoke_deviation_unknown unknowns[]) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const yoke_twin_unknown* given = &w->settings->unknowns[i];
    double start;
    if (find_unknown(w, given, &w->unknowns[i], &start) < 0 ||
        choose_numbers(w, given, &w->unknowns[i], start, &unknowns[i]) < 0) {
      status = YOKE_BAD_INPUT;
    }
    w->guesses[i] = unknowns[i].start;
    for (size_t k = 0; k < i; k++) {
      const black_unknown *a = &w->unknowns[k], *b = &w->unknowns[i];
      if (status >= 0 && a->kind == b->kind && a->place == b->place) {
        status = refuse(w, given->place, "unknown", given->name, "it is named twice");
      }
    }
  }
  return status;
}

// What the unknowns do to the start, where the unit begins at rest with them.
static void add_rests(black_twin* w, yoke_deviation_unknown unknowns[]) {
  for (size_t i = 0; i < w->n_unknowns; i++) {
    if (w->unknowns[i].kind != BLACK_INPUT && w->unknowns[i].kind != BLACK_PARAMETER) {
      continue;
    }
    w->unknowns[w->n_all] = w->unknowns[i];
    w->unknowns[w->n_all].kind = BLACK_REST;
    w->unknowns[w->n_all].place = i;
    unknowns[w->n_all] = unknowns[i];
    unknowns[w->n_all].walk = 0;
    unknowns[w->n_all].is_fast = false;
    unknowns[w->n_all].is_start = true;
    unknowns[w->n_all].start_of = i + 1;
    w->n_all++;
  }
}

// Inputs of the unit that are not unknown.
static yoke_status find_known(black_twin* w) {
  size_t* known = yoke__arena_array(&w->arena, w->unit->n_u + 1, sizeof *known);
  YOKE_TRY_MEMORY(known);
  for (size_t i = 0; i < w->unit->n_u; i++) {
    bool is_known = true;
    for (size_t j = 0; j < w->n_unknowns; j++) {
      is_known = is_known && !(w->unknowns[j].kind == BLACK_INPUT && w->unknowns[j].place == i);
    }
    if (is_known) {
      known[w->n_known++] = i;
    }
  }
  w->known = known;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the estimator

static yoke_status take_memory(black_twin* w) {
  yoke_arena* arena = &w->arena;
  const size_t n_y = w->n_members * w->unit->n_y, n_u = w->n_members * w->unit->n_u;
  const size_t n_reals = 2 * (w->n_rows + w->n_unknowns) + w->n_sensors + 1;
  w->u = yoke__arena_array(arena, w->n_known + w->n_sensors + 1, sizeof(double));
  w->reals = yoke__arena_array(arena, n_reals, sizeof(double));
  w->wholes = yoke__arena_array(arena, BLACK_N_WHOLES + w->n_unknowns, sizeof(int64_t));
  w->infos = yoke__arena_array(arena, w->n_known + w->n_sensors + 1, sizeof *w->infos);
  w->sequence = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->sequence);
  w->pending = yoke__arena_array(arena, w->n_sensors + 1, sizeof(double));
  w->reading = yoke__arena_array(arena, w->n_sensors + 1, sizeof(double));
  w->have = yoke__arena_array(arena, w->n_sensors + 1, sizeof(bool));
  w->inner_u = yoke__arena_array(arena, n_u + 1, sizeof(double));
  w->inner_parameters =
      yoke__arena_array(arena, w->n_members * w->n_parameters + 1, sizeof(double));
  w->inner_y = yoke__arena_array(arena, n_y + 1, sizeof(double));
  w->start_y = yoke__arena_array(arena, n_y + 1, sizeof(double));
  w->is_idle = yoke__arena_array(arena, w->n_members + 1, sizeof(bool));
  return yoke__arena_status(arena);
}

// ---- by derivatives

static yoke_status take_model(black_twin* w) {
  const yoke_unit_ops* ops = w->unit->ops;
  yoke_linear* m = &w->model;
  if (ops->linearise == NULL || ops->linearise(w->unit->self, m) < 0 ||
      m->n_inputs != w->unit->n_u || m->n_outputs != w->unit->n_y) {
    return yoke__error(&w->messages, w->settings->filter_place,
                       "filter: extended needs the derivatives of the unit, which '%.80s' does not "
                       "offer: leave out 'filter'",
                       ops->name);
  }
  const size_t n_x = m->n_states, n_u = m->n_inputs, n_y = m->n_outputs;
  m->A = yoke__arena_array(&w->arena, n_x * n_x + 1, sizeof(double));
  m->B = yoke__arena_array(&w->arena, n_x * n_u + 1, sizeof(double));
  m->C = yoke__arena_array(&w->arena, n_y * n_x + 1, sizeof(double));
  m->D = yoke__arena_array(&w->arena, n_y * n_u + 1, sizeof(double));
  return yoke__arena_status(&w->arena);
}

static yoke_status check_unknowns(black_twin* w) {
  yoke_status status = YOKE_OK;
  for (size_t j = 0; j < w->n_unknowns; j++) {
    const black_unknown* u = &w->unknowns[j];
    if (u->kind != BLACK_INPUT && u->kind != BLACK_OFFSET) {
      status = refuse(w, u->given->place, "unknown", u->given->name,
                      "filter: extended finds inputs and offsets of sensors, and states by "
                      "noise: {start: SD}; leave out 'filter'");
    }
  }
  return status;
}

static yoke_status make_extended(black_twin* w, const yoke_deviation_sensor sensors[],
                                 const yoke_deviation_unknown unknowns[]) {
  YOKE_TRY(check_unknowns(w));
  YOKE_TRY(take_model(w));
  const yoke_twin_settings* given = w->settings;
  const size_t n_x = w->model.n_states;
  double* state_start = yoke__arena_array(&w->arena, n_x + 1, sizeof *state_start);
  double* state_walk = yoke__arena_array(&w->arena, n_x + 1, sizeof *state_walk);
  w->y = yoke__arena_array(&w->arena, w->n_rows + 1, sizeof *w->y);
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < n_x; i++) {
    state_start[i] = or_else(given->start_sd, 0);
    state_walk[i] = or_else(given->walk, 0);
  }
  const yoke_extended_setup setup = {
      .n_states = n_x,
      .n_outputs = w->n_rows,
      .n_known = w->n_known,
      .n_unknowns = w->n_unknowns,
      .n_sensors = w->n_sensors,
      .unknowns = unknowns,
      .sensors = sensors,
      .state_start = state_start,
      .state_walk = state_walk,
      .h = w->h,
      .gate = or_else(given->gate, 0),
      .box = yoke__twin_extended_box(w),
  };
  w->extended = yoke__extended_prepare(&setup, &w->arena);
  return w->extended == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- by instances with offsets

static yoke_status make_black(black_twin* w, const yoke_deviation_sensor sensors[],
                              const yoke_deviation_unknown unknowns[]) {
  const yoke_black_setup setup = {
      .shadow = {.filter = {.n_outputs = w->n_rows,
                            .n_unknowns = w->n_all,
                            .n_sensors = w->n_sensors,
                            .unknowns = unknowns,
                            .sensors = sensors,
                            .h = w->h,
                            .gate = or_else(w->settings->gate, 0)}},
      .box = yoke__twin_black_box(w),
      .n_known = w->n_known,
      .n_sets = w->n_sets,
      .n_history = HISTORY,
  };
  w->black = yoke__black_prepare(&setup, &w->arena);
  YOKE_TRY_MEMORY(w->black);
  assert(yoke__shadow_members(yoke__black_shadow(w->black)) == w->n_members);
  return YOKE_OK;
}

// Names of what is there, before anything is made with them.
static yoke_status find_all(black_twin* w, yoke_deviation_sensor** sensors,
                            yoke_deviation_unknown** unknowns) {
  yoke_arena* arena = &w->arena;
  w->n_sensors = w->settings->n_sensors;
  w->n_unknowns = w->settings->n_unknowns;
  const size_t n_rows = w->unit->n_y + w->n_sensors + 1;
  w->rows = yoke__arena_array(arena, n_rows, sizeof *w->rows);
  w->row_variables = yoke__arena_array(arena, n_rows, sizeof *w->row_variables);
  w->unknowns = yoke__arena_array(arena, 2 * w->n_unknowns + 1, sizeof *w->unknowns);
  w->parameters = yoke__arena_array(arena, w->n_unknowns + 1, sizeof *w->parameters);
  w->guesses = yoke__arena_array(arena, w->n_unknowns + 1, sizeof *w->guesses);
  *sensors = yoke__arena_array(arena, w->n_sensors + 1, sizeof **sensors);
  *unknowns = yoke__arena_array(arena, 2 * w->n_unknowns + 1, sizeof **unknowns);
  YOKE_TRY(yoke__arena_status(arena));
  w->sensors = *sensors;
  if (w->n_unknowns > YOKE_BLACK_MOST_UNKNOWNS) {
    return yoke__error(&w->messages, w->file->settings.place, "more than %d unknowns",
                       YOKE_BLACK_MOST_UNKNOWNS);
  }
  const yoke_status in_sensors = find_sensors(w, *sensors);
  const yoke_status in_outputs = find_outputs(w);
  const yoke_status in_unknowns = find_unknowns(w, *unknowns);
  YOKE_TRY(in_sensors);
  YOKE_TRY(in_outputs);
  YOKE_TRY(in_unknowns);
  w->n_all = w->n_unknowns;
  if (!uses_derivatives(w->settings)) {
    add_rests(w, *unknowns);
  }
  return find_known(w);
}

static yoke_status fill_figures(black_twin* w, const yoke_deviation_sensor sensors[],
                                const yoke_deviation_unknown unknowns[]) {
  w->sensor_figures = yoke__arena_array(&w->arena, w->n_sensors + 1, sizeof *w->sensor_figures);
  w->unknown_figures = yoke__arena_array(&w->arena, w->n_unknowns + 1, sizeof *w->unknown_figures);
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < w->n_sensors; i++) {
    const yoke_variable* v = &w->unit->info->variables[w->row_variables[sensors[i].output]];
    w->sensor_figures[i] = (yoke_unit_twin_sensor){
        .name = w->settings->sensors[i].name, .dim = v->dim, .sigma = sensors[i].sigma};
  }
  for (size_t j = 0; j < w->n_unknowns; j++) {
    const black_unknown* u = &w->unknowns[j];
    w->unknown_figures[j] = (yoke_unit_twin_unknown){.name = u->given->name,
                                                     .dim = u->dim,
                                                     .what = u->what,
                                                     .start = unknowns[j].start,
                                                     .sd = unknowns[j].sd,
                                                     .walk = unknowns[j].walk,
                                                     .lower = unknowns[j].lower,
                                                     .upper = unknowns[j].upper,
                                                     .has_default_sd = u->has_default_sd};
  }
  return YOKE_OK;
}

yoke_status yoke__twin_black_make(black_twin* w, const yoke_unit_args* args) {
  yoke_deviation_sensor* sensors = NULL;
  yoke_deviation_unknown* unknowns = NULL;
  w->h = w->file->settings.call_step;
  if (!(w->h > 0)) {
    return yoke__error(&w->messages, w->file->settings.place, "a twin needs a fixed step");
  }
  YOKE_TRY(make_instances(w, args));
  YOKE_TRY(find_all(w, &sensors, &unknowns));
  YOKE_TRY(yoke__instances_choose(w->instances, w->parameters, w->n_parameters, &w->arena));
  YOKE_TRY(take_memory(w));
  YOKE_TRY(uses_derivatives(w->settings) ? make_extended(w, sensors, unknowns)
                                         : make_black(w, sensors, unknowns));
  YOKE_TRY(fill_figures(w, sensors, unknowns));
  return yoke__twin_black_lay_out(w);
}
