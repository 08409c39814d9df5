// Tuning over a record: readings on the grid of the twin's step, then yoke__tune and yoke__fit over the same numbers.
#include "study/study_twin_tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base_check.h"
#include "estimate/estimate_noise.h"
#include "estimate/estimate_tune.h"
#include "system/system.h"
#include "unit/twin/unit_twin_inside.h"
#include "yoke/simulation.h"

#define RELATIVE     1e-6  // change of the values between two passes that ends them
#define N_PASSES     100
#define VALUE_DIGITS 7  // of what is written
#define SD_DIGITS    3

typedef struct tuner {
  const yoke_twin_study* study;
  yoke_twin_tuning* out;
  const yoke_sink* sink;
  yoke_arena arena;
  yoke_system* system;
  yoke_simulation* simulation;
  const yoke_system_unit* unit;
  yoke_unit_twin_inside inside;
  yoke_estimate_setup setup;  // with the noise that was found
  yoke_estimate_record record;
} tuner;

static const char* copy_text(yoke_arena* arena, const char* text) {
  return text == NULL ? "" : yoke__arena_text(arena, text, strlen(text));
}

// A sensor or an unknown as it is written in the file: quantities of a netlist ignore case.
static const yoke_node* find_entry(const tuner* t, const char* list, const char* name) {
  const yoke_node* node = yoke__node_child(t->system->scenario->tree, "units");
  node = node == NULL ? NULL : yoke__node_child(node, t->study->unit);
  node = node == NULL ? NULL : yoke__node_child(node, list);
  node = node == NULL ? NULL : node->first;
  while (node != NULL && strcasecmp(node->key, name) != 0) {
    node = node->next;
  }
  return node;
}

static const char* key_of(const yoke_node* entry, const char* otherwise) {
  return entry == NULL ? otherwise : entry->key;
}

// ---- the record

static const yoke_twin_column* column_of(const tuner* t, const yoke_scenario_endpoint* from) {
  const yoke_twin_data* d = &t->study->data;
  for (size_t i = 0; i < d->n_columns; i++) {
    if (strcmp(d->columns[i].unit, from->unit) == 0 &&
        strcmp(d->columns[i].variable, from->variable) == 0) {
      return &d->columns[i];
    }
  }
  return NULL;
}

// What feeds an input; NULL: nothing from the record.
static const yoke_twin_column* source_of(const tuner* t, const char* input,
                                         const yoke_scenario_connection** connection) {
  const yoke_scenario* s = t->system->scenario;
  for (size_t i = 0; i < s->n_connections; i++) {
    *connection = &s->connections[i];
    if (strcmp((*connection)->to.unit, t->study->unit) == 0 &&
        strcmp((*connection)->to.variable, input) == 0) {
      return column_of(t, &(*connection)->from);
    }
  }
  return NULL;
}

// Inputs of the unit, in their order: the known ones of the netlist, then the readings.
typedef struct feed {
  const yoke_twin_column* column;
  const yoke_scenario_connection* connection;
  double otherwise;
  size_t sensor;  // n_sensors: none
  bool is_held;   // a known input
  size_t count;   // rows that were used
} feed;

static feed* list_feeds(tuner* t, size_t* n) {
  const yoke_unit_info* info = t->unit->unit.info;
  feed* feeds = yoke__arena_array(&t->arena, info->n_variables + 1, sizeof *feeds);
  *n = 0;
  for (size_t i = 0; feeds != NULL && i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    if (v->causality != YOKE_INPUT) {
      continue;
    }
    feed* f = &feeds[(*n)++];
    *f = (feed){.otherwise = v->start, .sensor = t->inside.n_sensors};
    f->column = source_of(t, v->name, &f->connection);
    f->is_held = f->column != NULL && (f->connection->is_held || f->column->is_sensor);
    for (size_t k = 0; k < t->inside.n_sensors; k++) {
      char name[512];
      snprintf(name, sizeof name, "sensor.%s", t->inside.sensors[k].name);
      f->sensor = strcmp(name, v->name) == 0 ? k : f->sensor;
    }
  }
  return feeds;
}

// A reading counts at the first step that is not before it.
static double read_feed(feed* f, bool is_reading, double at) {
  size_t count = 0;
  if (f->column == NULL) {
    return is_reading ? (double)NAN : f->otherwise;
  }
  const double delay = is_reading ? 0 : f->connection->delay.value;
  const double value = yoke__twin_data_value(f->column, at - delay, &count);
  const bool is_old = is_reading && count == f->count;
  f->count = count;
  return is_old ? (double)NAN : f->connection->gain * value + f->connection->offset;
}

static yoke_status fill_record(tuner* t) {
  const size_t n_sensors = t->inside.n_sensors, r = t->inside.setup->network->n_inputs;
  const size_t n = t->record.n;
  const double t0 = t->system->t_start;
  size_t n_feeds = 0;
  feed* feeds = list_feeds(t, &n_feeds);
  double* u = yoke__arena_array(&t->arena, n_feeds + 1, sizeof *u);
  double* v = yoke__arena_array(&t->arena, 3 * n * r + 2 * r + 1, sizeof *v);
  bool* is_held = yoke__arena_array(&t->arena, n_feeds + 1, sizeof *is_held);
  double* readings = yoke__arena_array(&t->arena, n * n_sensors + 1, sizeof *readings);
  YOKE_TRY(yoke__arena_status(&t->arena));
  double *line = v + n * r, *slope = line + n * r, *before = slope + n * r, *missed = before + r;
  for (size_t i = 0; i < n_feeds; i++) {
    is_held[i] = feeds[i].is_held;
  }
  for (size_t k = 0; k < n; k++) {
    const double at = t0 + (double)k * t->study->step;
    for (size_t i = 0; i < n_feeds; i++) {
      const bool is_reading = feeds[i].sensor < n_sensors;
      u[i] = read_feed(&feeds[i], is_reading, at);
      if (is_reading) {
        readings[k * n_sensors + feeds[i].sensor] = u[i];
        t->out->n_readings += k >= t->record.first && k < t->record.end && isfinite(u[i]);
      }
    }
    const yoke_unit_twin_inputs to = {v + k * r, line + k * r, slope + k * r, before, missed};
    yoke__unit_twin_inputs(t->unit->unit.self, at, u, is_held, &to);
    for (size_t i = 0; i < r && k > 0; i++) {
      slope[(k - 1) * r + i] += before[i] / t->study->step;
      slope[(k > 1 ? k - 2 : 0) * r + i] += missed[i] / t->study->step;
    }
  }
  t->record.v = v;
  t->record.line = line;
  t->record.slope = slope;
  t->record.readings = readings;
  t->record.z = t->inside.z;
  return YOKE_OK;
}

static yoke_twin_sigma describe_sigma(const tuner* t, const yoke_unit_twin_sensor* sensor,
                                      double sigma) {
  yoke_arena* arena = &t->out->arena;
  const yoke_node* entry = find_entry(t, "sensors", sensor->name);
  const bool is_short = entry != NULL && entry->kind == YOKE_NODE_SCALAR;
  return (yoke_twin_sigma){.name = copy_text(arena, sensor->name),
                           .dim = copy_text(arena, sensor->dim),
                           .key = copy_text(arena, key_of(entry, sensor->name)),
                           .from = is_short ? copy_text(arena, entry->text) : NULL,
                           .sigma = sigma};
}

// Sensors whose sigma nobody has given: their noise in the rows that count.
static yoke_status find_sigmas(tuner* t) {
  const size_t n_sensors = t->inside.n_sensors, n = t->record.end - t->record.first;
  yoke_sensor* sensors = yoke__arena_array(&t->arena, n_sensors + 1, sizeof *sensors);
  double* values = yoke__arena_array(&t->arena, 3 * n, sizeof *values);
  t->out->sigmas = yoke__arena_array(&t->out->arena, n_sensors + 1, sizeof *t->out->sigmas);
  YOKE_TRY_MEMORY(sensors && values && t->out->sigmas);
  t->setup = *t->inside.setup;
  memcpy(sensors, t->setup.sensors, n_sensors * sizeof *sensors);
  t->setup.sensors = sensors;
  for (size_t i = 0; i < n_sensors; i++) {
    const yoke_unit_twin_sensor* given = &t->inside.sensors[i];
    yoke_noise_level level;
    size_t n_values = 0;
    for (size_t k = t->record.first; k < t->record.end; k++) {
      const double value = t->record.readings[k * n_sensors + i];
      if (isfinite(value)) {
        values[n_values++] = value;
      }
    }
    if (given->is_assumed && yoke__noise_of_record(n_values, values, &level, values + n) >= 0 &&
        level.sigma > 0) {
      sensors[i].sigma = level.sigma;
      t->out->sigmas[t->out->n_sigmas++] = describe_sigma(t, given, level.sigma);
    }
  }
  return yoke__arena_status(&t->out->arena);
}

static yoke_status set_window(tuner* t, double from, double to) {
  const double h = t->study->step, t0 = t->system->t_start;
  const double n = floor((t->system->t_stop - t0) / h * (1 + 1e-9)) + 1;
  const double first = isnan(from) ? 0 : fmax(0, ceil((from - t0) / h - 1e-6));
  const double end = isnan(to) ? n : fmin(n, floor((to - t0) / h + 1e-6) + 1);
  if (!(first + 1 < end)) {
    return yoke_fail(t->sink, YOKE_BAD_INPUT,
                     "no readings lie between the times wanted: the record goes from %.9g s to "
                     "%.9g s",
                     t0, t->system->t_stop);
  }
  t->record = (yoke_estimate_record){.n = (size_t)n, .first = (size_t)first, .end = (size_t)end};
  t->out->from = t0 + first * h;
  t->out->to = t0 + (end - 1) * h;
  return YOKE_OK;
}

// ---- opening

static yoke_status find_unit(tuner* t) {
  for (size_t i = 0; i < t->system->n_units; i++) {
    if (strcmp(t->system->units[i].name, t->study->unit) == 0) {
      t->unit = &t->system->units[i];
    }
  }
  if (t->unit != NULL &&
      yoke__twin_black_inside(t->unit->unit.ops, t->unit->unit.self, &t->inside)) {
    return yoke_fail(t->sink, YOKE_BAD_INPUT,
                     "'%s' is the twin of a unit, and only twins of netlists can be tuned: run "
                     "without --tune, its filter restarts by itself when needed",
                     t->study->unit);
  }
  return t->unit != NULL &&
                 yoke__unit_twin_inside(t->unit->unit.ops, t->unit->unit.self, &t->inside)
             ? YOKE_OK
             : YOKE_NO_SUPPORT;
}

static yoke_status list_unknowns(tuner* t) {
  yoke_twin_tuning* out = t->out;
  size_t n_constant = 0;
  out->n = t->inside.n_unknowns;
  out->all = yoke__arena_array(&out->arena, out->n + 1, sizeof *out->all);
  YOKE_TRY_MEMORY(out->all);
  for (size_t i = 0; i < out->n; i++) {
    const yoke_unit_twin_unknown* u = &t->inside.unknowns[i];
    out->all[i] = (yoke_twin_tuned){
        .name = copy_text(&out->arena, u->name),
        .dim = copy_text(&out->arena, u->dim),
        .key = copy_text(&out->arena, key_of(find_entry(t, "unknown", u->name), u->name)),
        .start = u->start,
        .sd = u->sd,
        .pass = (double)NAN,
        .pass_sd = (double)NAN,
        .fit = (double)NAN,
        .fit_sd = (double)NAN,
        .is_constant = !(u->walk > 0)};
    n_constant += out->all[i].is_constant;
    if (!out->all[i].is_constant && out->walker == NULL) {
      out->walker = out->all[i].name;
    }
  }
  YOKE_TRY(yoke__arena_status(&out->arena));
  return n_constant > 0
             ? YOKE_OK
             : yoke_fail(t->sink, YOKE_BAD_INPUT,
                         "there is nothing to tune: '%s' has no unknown without walk, such as a "
                         "resistance or a capacity",
                         t->study->unit);
}

static yoke_status open_tuning(tuner* t, double from, double to) {
  YOKE_TRY(yoke__twin_study_system(t->study, NULL, 0, (double)NAN, to, t->sink, &t->system));
  YOKE_TRY(yoke_simulation_create(t->system, t->sink, &t->simulation));
  YOKE_TRY(yoke_simulation_start(t->simulation));
  YOKE_TRY(find_unit(t));
  YOKE_TRY(list_unknowns(t));
  t->out->has_laws = t->inside.has_laws;
  YOKE_TRY(set_window(t, from, to));
  YOKE_TRY(fill_record(t));
  return find_sigmas(t);
}

// ---- the two ways

// NOLINTNEXTLINE(readability-non-const-parameter): filled in
static yoke_status run_passes(tuner* t, double values[], double sd[]) {
  yoke_tune_settings settings = yoke__tune_default();
  settings.relative = RELATIVE;
  settings.n_passes = N_PASSES;
  yoke_tune_result result = {.values = values, .sd = sd};
  const yoke_status status = yoke__tune(&t->setup, &t->record, &settings, &result, t->sink);
  t->out->n_passes = result.n_passes;
  t->out->is_converged = result.is_converged;
  t->out->n_hits = result.n_bound_hits;
  return status;
}

// NOLINTNEXTLINE(readability-non-const-parameter): filled in
static yoke_status run_fit(tuner* t, double values[], double sd[]) {
  const yoke_fit_settings settings = yoke__fit_default();
  yoke_fit_result result = {.values = values, .sd = sd};
  const yoke_status status = yoke__fit(&t->setup, &t->record, &settings, &result, t->sink);
  t->out->n_starts = result.n_starts;
  t->out->n_good = result.n_good;
  t->out->is_fitted = status >= 0;
  t->out->fit_cost = result.cost;
  return status;
}

// Mean square of the weighted residuals of the model without correction.
static double find_cost(tuner* t, const double values[]) {
  yoke_heat_run* run = NULL;
  const size_t n = (t->record.end - t->record.first) * t->inside.n_sensors;
  double* residuals = yoke__arena_array(&t->arena, n + 1, sizeof *residuals);
  double sum = 0;
  if (residuals == NULL ||
      yoke__heat_run_prepare(&t->setup, &t->record, &t->arena, &run, NULL) < 0 ||
      yoke__heat_run(run, values, residuals, NULL) < 0) {
    return (double)INFINITY;
  }
  for (size_t i = 0; i < n; i++) {
    sum += residuals[i] * residuals[i];
  }
  return t->out->n_readings > 0 ? sum / (double)t->out->n_readings : (double)NAN;
}

// ---- comparing them

static bool is_same(const yoke_twin_tuned* u) {
  const double away = fabs(u->pass - u->fit);
  return away <= YOKE_TWIN_SAME_SD * fmax(u->pass_sd, u->fit_sd) ||
         away <= YOKE_TWIN_SAME_SHARE * fabs(u->fit);
}

// Without least squares beside it the filter may run along a direction that the readings do not tell.
static const yoke_twin_tuned* find_far(const yoke_twin_tuning* out) {
  for (size_t i = 0; i < out->n; i++) {
    const yoke_twin_tuned* u = &out->all[i];
    const bool is_near = u->start > 0 && u->pass > 0
                             ? fabs(log(u->pass / u->start)) <= log(YOKE_TWIN_FAR)
                             : fabs(u->pass - u->start) <= YOKE_TWIN_FAR * u->sd;
    if (u->is_constant && !is_near) {
      return u;
    }
  }
  return NULL;
}

static void compare(yoke_twin_tuning* out, bool is_passed) {
  const yoke_twin_tuned* worst = NULL;
  if (out->walker != NULL) {
    const yoke_twin_tuned* far = find_far(out);
    out->is_agreed = far == NULL;
    out->is_rejected = far != NULL;
    if (far != NULL) {
      snprintf(out->text, sizeof out->text,
               "'%.100s' changes during the record (it has a walk), which least squares does not "
               "support, and the filter alone went to %.4g for %.100s, whose guess is %.4g: the "
               "readings do not determine it",
               out->walker, far->pass, far->name, far->start);
      return;
    }
    snprintf(out->text, sizeof out->text,
             "'%.100s' changes during the record (it has a walk), which least squares does not "
             "support: the values are those of the filter alone",
             out->walker);
    return;
  }
  out->is_agreed = is_passed && out->is_fitted;
  for (size_t i = 0; i < out->n; i++) {
    yoke_twin_tuned* u = &out->all[i];
    u->is_same = !u->is_constant || is_same(u);
    if (!u->is_same && worst == NULL) {
      worst = u;
    }
    out->is_agreed = out->is_agreed && u->is_same;
  }
  out->takes_fit =
      !out->is_agreed && out->is_fitted && (!is_passed || !(out->pass_cost <= out->fit_cost));
  out->is_poor = fmin(out->pass_cost, out->fit_cost) > YOKE_TWIN_GOOD_COST;
  out->is_rejected = out->is_poor;
  if (out->is_agreed) {
    snprintf(out->text, sizeof out->text,
             "filter and least squares end at the same values; those of the filter are used");
  } else if (!is_passed || !out->is_fitted) {
    snprintf(out->text, sizeof out->text, "%s did not converge: the values are those of %s alone",
             is_passed ? "the least squares" : "the passes of the filter",
             is_passed ? "the filter" : "the least squares");
  } else {
    snprintf(
        out->text, sizeof out->text,
        "they end at different values: %.100s is %.4g by the filter, %.4g by least squares; the "
        "mean squared residual of the model is %.4g and %.4g: %s, and the values of %s are used",
        worst->name, worst->pass, worst->fit, out->pass_cost, out->fit_cost,
        out->takes_fit ? "the filter ended in a local optimum"
                       : "the least squares did not find the best values",
        out->takes_fit ? "the least squares" : "the filter");
  }
}

static yoke_status tune(tuner* t) {
  const size_t n = t->out->n;
  double* values = yoke__arena_array(&t->arena, 4 * n + 1, sizeof *values);
  YOKE_TRY_MEMORY(values);
  double *sd = values + n, *fit = sd + n, *fit_sd = fit + n;
  const yoke_status passed = run_passes(t, values, sd);
  const bool is_passed = passed >= 0 || passed == YOKE_NO_CONVERGENCE;
  if (!is_passed && passed != YOKE_DIVERGED && passed != YOKE_SINGULAR) {
    return passed;
  }
  // least squares know nothing of what changes during the record
  const yoke_status fitted = t->out->walker == NULL ? run_fit(t, fit, fit_sd) : YOKE_NO_SUPPORT;
  if (!is_passed && fitted < 0) {
    return t->out->walker == NULL ? fitted : passed;
  }
  const void* self = t->unit->unit.self;
  for (size_t i = 0; i < n; i++) {
    yoke_twin_tuned* u = &t->out->all[i];
    if (is_passed) {
      u->pass = yoke__unit_twin_value(self, i, values[i]);
      u->pass_sd = yoke__unit_twin_deviation(self, i, values[i], sd[i]);
    }
    if (fitted >= 0) {
      u->fit = yoke__unit_twin_value(self, i, fit[i]);
      u->fit_sd = yoke__unit_twin_deviation(self, i, fit[i], fit_sd[i]);
    }
  }
  t->out->pass_cost = fitted >= 0 && is_passed ? find_cost(t, values) : (double)NAN;
  compare(t->out, is_passed);
  return YOKE_OK;
}

yoke_status yoke__twin_tune(const yoke_twin_study* study, double from, double to,
                            yoke_twin_tuning* out, const yoke_sink* sink) {
  *out = (yoke_twin_tuning){.pass_cost = (double)NAN, .fit_cost = (double)NAN};
  tuner t = {.study = study, .out = out, .sink = sink};
  yoke_status status = open_tuning(&t, from, to);
  status = status < 0 ? status : tune(&t);
  yoke_simulation_destroy(&t.simulation);
  yoke_system_destroy(&t.system);
  yoke__arena_free(&t.arena);
  return status;
}

void yoke__twin_tuning_free(yoke_twin_tuning* tuning) {
  yoke__arena_free(&tuning->arena);
}

// ---- what comes of it

static const char* format_set(yoke_twin_tuning* tuning, const char* unit, const char* key,
                              const char* field, int n_digits, double value) {
  char text[1024];
  const int n =
      snprintf(text, sizeof text, "units.%s.unknown.%s.%s=%.*g", unit, key, field, n_digits, value);
  return n < 0 || (size_t)n >= sizeof text ? NULL
                                           : yoke__arena_text(&tuning->arena, text, (size_t)n);
}

// A sensor whose source stands alone becomes a map.
static const char* format_sigma(yoke_twin_tuning* tuning, const char* unit,
                                const yoke_twin_sigma* s) {
  char text[1024];
  const int n = s->from == NULL
                    ? snprintf(text, sizeof text, "units.%s.sensors.%s.sigma=%.*g", unit, s->key,
                               SD_DIGITS, s->sigma)
                    : snprintf(text, sizeof text, "units.%s.sensors.%s={from: \"%s\", sigma: %.*g}",
                               unit, s->key, s->from, SD_DIGITS, s->sigma);
  return n < 0 || (size_t)n >= sizeof text ? NULL
                                           : yoke__arena_text(&tuning->arena, text, (size_t)n);
}

const char* const* yoke__twin_tuning_sets(yoke_twin_tuning* tuning, const yoke_twin_study* study,
                                          size_t* n) {
  const char** sets =
      yoke__arena_array(&tuning->arena, 2 * tuning->n + tuning->n_sigmas + 1, sizeof *sets);
  *n = 0;
  if (sets == NULL || tuning->is_rejected) {
    return sets;
  }
  for (size_t i = 0; i < tuning->n; i++) {
    const yoke_twin_tuned* u = &tuning->all[i];
    const double value = tuning->takes_fit ? u->fit : u->pass;
    const double sd = tuning->takes_fit ? u->fit_sd : u->pass_sd;
    if (!u->is_constant || !isfinite(value)) {
      continue;
    }
    sets[(*n)++] = format_set(tuning, study->unit, u->key, "start", VALUE_DIGITS, value);
    if (isfinite(sd) && sd > 0) {
      sets[(*n)++] = format_set(tuning, study->unit, u->key, "sd", SD_DIGITS, sd);
    }
  }
  for (size_t i = 0; i < tuning->n_sigmas; i++) {
    sets[(*n)++] = format_sigma(tuning, study->unit, &tuning->sigmas[i]);
  }
  return yoke__arena_status(&tuning->arena) < 0 ? NULL : sets;
}

void yoke__twin_tuning_json(const yoke_twin_tuning* tuning, yoke_json* json) {
  yoke__json_begin_object(json, "tuning");
  yoke__json_number(json, "from", tuning->from);
  yoke__json_number(json, "to", tuning->to);
  yoke__json_integer(json, "readings", (int64_t)tuning->n_readings);
  yoke__json_integer(json, "passes", (int64_t)tuning->n_passes);
  yoke__json_boolean(json, "converged", tuning->is_converged);
  yoke__json_integer(json, "bound_hits", (int64_t)tuning->n_hits);
  yoke__json_integer(json, "starts", (int64_t)tuning->n_starts);
  yoke__json_integer(json, "good_starts", (int64_t)tuning->n_good);
  yoke__json_number(json, "filter_cost", tuning->pass_cost);
  yoke__json_number(json, "fit_cost", tuning->fit_cost);
  yoke__json_boolean(json, "agreed", tuning->is_agreed);
  yoke__json_boolean(json, "rejected", tuning->is_rejected);
  yoke__json_string(json, "taken", tuning->takes_fit ? "fit" : "filter");
  yoke__json_string(json, "sentence", tuning->text);
  yoke__json_begin_array(json, "unknowns");
  for (size_t i = 0; i < tuning->n; i++) {
    const yoke_twin_tuned* u = &tuning->all[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", u->name);
    yoke__json_string(json, "dim", u->dim);
    yoke__json_number(json, "start", u->start);
    yoke__json_number(json, "filter", u->pass);
    yoke__json_number(json, "filter_sd", u->pass_sd);
    yoke__json_number(json, "fit", u->fit);
    yoke__json_number(json, "fit_sd", u->fit_sd);
    yoke__json_boolean(json, "agreed", u->is_same);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}
