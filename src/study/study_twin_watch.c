// Watching a twin while it runs: innovations are read from its filter before every step, where those of the step before still are.
#include "study/study_twin_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "system/system.h"
#include "unit/twin/unit_twin_inside.h"

#define DEVIATION "sd."
#define HITS      "hits."

// Innovations this many times as large as expected, over so many readings, are no chance: rms of ten standard normal numbers beyond 5 has
// a probability of 5e-48.
#define MUCH         5.0
#define FEW_READINGS 10

static const yoke_system_unit* find_twin(const yoke_twin_watch* w) {
  const yoke_system* system = yoke_simulation_system(w->simulation);
  for (size_t i = 0; i < system->n_units; i++) {
    if (strcmp(system->units[i].name, w->study->unit) == 0) {
      return &system->units[i];
    }
  }
  return NULL;
}

static bool look_inside(const yoke_twin_watch* w, yoke_unit_twin_inside* inside) {
  const yoke_system_unit* unit = find_twin(w);
  return unit != NULL && (yoke__unit_twin_inside(unit->unit.ops, unit->unit.self, inside) ||
                          yoke__twin_black_inside(unit->unit.ops, unit->unit.self, inside));
}

static const yoke_variable* find_variable(const yoke_unit_info* info, const char* prefix,
                                          const char* name) {
  const size_t n = strlen(prefix);
  for (size_t i = 0; i < info->n_variables; i++) {
    const char* other = info->variables[i].name;
    if (info->variables[i].causality == YOKE_OUTPUT && strncmp(other, prefix, n) == 0 &&
        strcmp(other + n, name) == 0) {
      return &info->variables[i];
    }
  }
  return NULL;
}

static double read_value(const yoke_twin_watch* w, const char* prefix, const char* name) {
  char whole[512];
  yoke_handle handle;
  double value = (double)NAN;
  snprintf(whole, sizeof whole, "%s.%s%s", w->study->unit, prefix, name);
  if (find_variable(find_twin(w)->unit.info, prefix, name) != NULL &&
      yoke_simulation_find(w->simulation, whole, &handle) >= 0) {
    (void)yoke_simulation_read(w->simulation, handle, &value);
  }
  return value;
}

// ---- beginning

static bool is_unknown(const yoke_unit_twin_inside* inside, const char* name) {
  for (size_t i = 0; i < inside->n_unknowns; i++) {
    if (strcmp(inside->unknowns[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

// Outputs with a deviation are estimates.
static void list_outputs(yoke_twin_watch* w, const yoke_unit_info* info,
                         const yoke_unit_twin_inside* inside) {
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    if (v->causality == YOKE_OUTPUT && !is_unknown(inside, v->name) &&
        find_variable(info, DEVIATION, v->name) != NULL) {
      w->outputs[w->n_outputs++] = (yoke_twin_value){.name = v->name, .dim = v->dim};
    }
  }
}

yoke_status yoke__twin_watch_begin(yoke_twin_watch* w, const yoke_twin_study* study,
                                   const yoke_simulation* simulation) {
  *w = (yoke_twin_watch){.study = study, .simulation = simulation};
  yoke_unit_twin_inside inside;
  if (!look_inside(w, &inside)) {
    return YOKE_NO_SUPPORT;
  }
  const yoke_unit_info* info = find_twin(w)->unit.info;
  w->n_start = inside.n_start;
  w->is_black_box = inside.setup == NULL;
  w->unknowns = yoke__arena_array(&w->arena, inside.n_unknowns + 1, sizeof *w->unknowns);
  w->sensors = yoke__arena_array(&w->arena, inside.n_sensors + 1, sizeof *w->sensors);
  w->outputs = yoke__arena_array(&w->arena, info->n_variables + 1, sizeof *w->outputs);
  w->squares = yoke__arena_array(&w->arena, inside.n_sensors + 1, sizeof(double));
  w->variances = yoke__arena_array(&w->arena, inside.n_sensors + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < inside.n_unknowns; i++) {
    w->unknowns[w->n_unknowns++] =
        (yoke_twin_value){.name = inside.unknowns[i].name, .dim = inside.unknowns[i].dim};
  }
  for (size_t i = 0; i < inside.n_sensors; i++) {
    w->sensors[w->n_sensors++] =
        (yoke_twin_sensor_result){.name = inside.sensors[i].name, .dim = inside.sensors[i].dim};
  }
  list_outputs(w, info, &inside);
  return YOKE_OK;
}

// ---- stepping

void yoke__twin_watch_step(yoke_twin_watch* w) {
  yoke_unit_twin_inside inside;
  if (!look_inside(w, &inside) || inside.n_steps == w->n_steps) {
    return;
  }
  w->n_steps = inside.n_steps;

  // without what was learnt first, unless there is nothing else
  const bool is_past = inside.n_steps > w->n_start;
  if (is_past && !w->is_past_start) {
    for (size_t i = 0; i < w->n_sensors; i++) {
      w->sensors[i].n_start = w->sensors[i].n;
    }
  }
  w->is_past_start = is_past;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double innovation = 0, sd = 0;
    inside.innovation(find_twin(w)->unit.self, i, &innovation, &sd);
    if (inside.gate > 0 && fabs(innovation) > inside.gate * sd) {
      w->sensors[i].n_gated++;
    } else if (isfinite(innovation) && isfinite(sd)) {
      if (w->sensors[i].n++ == w->sensors[i].n_start) {
        w->squares[i] = w->variances[i] = 0;
      }
      w->squares[i] += innovation * innovation;
      w->variances[i] += sd * sd;
    }
  }
}

// ---- the verdict

static const char* cause_of(yoke_statistic statistic, bool is_above) {
  switch (statistic) {
  case YOKE_STATISTIC_MEAN:
    return "an offset of the sensor, or heat that the model lacks";
  case YOKE_STATISTIC_VARIANCE:
  case YOKE_STATISTIC_NIS:
    return is_above ? "sigma is too small or the model is wrong" : "sigma or a walk is too large";
  case YOKE_STATISTIC_LAG:
  case YOKE_STATISTIC_LOW_HIGH:
    return is_above ? "the model is wrong or its walks are too small" : "the walks are too large";
  case YOKE_STATISTIC_FLATNESS:
    return "the walks are too large, or there is a periodic disturbance that the model lacks";
  case YOKE_STATISTIC_NONE:
    break;
  }
  return "the model is wrong";
}

static const char* reason_text(yoke_estimate_reason reason) {
  switch (reason) {
  case YOKE_ESTIMATE_NOT_FINITE:
    return "a number is not finite, or the network cannot be solved with the estimates";
  case YOKE_ESTIMATE_NOT_POSITIVE:
    return "a variance is not positive";
  case YOKE_ESTIMATE_AT_BOUND:
    return "a resistance or capacity stays at its bound";
  case YOKE_ESTIMATE_LOST:
    return "the readings are ten standard deviations away";
  case YOKE_ESTIMATE_SOUND:
    break;
  }
  return "the innovations are more than ten times what is expected";
}

// No verdict yet is not silence: a record in another unit is far off long before the tests of innovations have their readings.
static void add_doubt(yoke_twin_watch* w) {
  const yoke_twin_sensor_result* worst = NULL;
  double largest = MUCH;
  for (size_t i = 0; i < w->n_sensors; i++) {
    const yoke_twin_sensor_result* s = &w->sensors[i];
    if (s->n >= FEW_READINGS && s->rms > largest * s->expected) {
      largest = s->rms / s->expected;
      worst = s;
    }
  }
  const size_t used = strlen(w->text);
  if (worst != NULL) {
    snprintf(w->text + used, sizeof w->text - used,
             "; so far the innovations of %.100s are %.3g times as large as expected: look at its "
             "unit, its sigma and the start",
             worst->name, largest);
  }
}

static void write_verdict(yoke_twin_watch* w, const yoke_unit_twin_inside* inside) {
  const yoke_finding why = inside->why;
  uint64_t n = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    n += w->sensors[i].n;
  }
  w->verdict = inside->verdict;
  const bool is_above = why.value > why.high, has_sensor = why.statistic != YOKE_STATISTIC_NIS;
  const bool is_clear =
      w->verdict >= YOKE_TWIN_INCONSISTENT && why.statistic != YOKE_STATISTIC_NONE;
  if (inside->far < inside->n_unknowns && !is_clear) {
    const yoke_unit_twin_unknown* far = &inside->unknowns[inside->far];
    w->verdict = YOKE_TWIN_INCONSISTENT;
    snprintf(w->text, sizeof w->text,
             "inconsistent: the estimate of %.100s is %.0f standard deviations from its guess %.6g "
             "%.20s: the model is wrong, or its sd and walk are too small",
             far->name, inside->excursion, far->start, far->dim);
    return;
  }
  uint64_t n_gated = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    n_gated += w->sensors[i].n_gated;
  }
  if (inside->is_gated && w->verdict != YOKE_TWIN_DIVERGED) {
    w->verdict = YOKE_TWIN_INCONSISTENT;
    snprintf(w->text, sizeof w->text,
             "inconsistent: the gate left out %llu of %llu readings: the model is wrong, or its "
             "noise and gate are too small",
             (unsigned long long)n_gated, (unsigned long long)(n + n_gated));
    return;
  }
  switch (w->verdict) {
  case YOKE_TWIN_STARTING:
    if (w->is_black_box) {
      snprintf(w->text, sizeof w->text,
               "no verdict: too few readings could be judged, because the response of the unit is "
               "too uncertain compared with the noise; give more readings, or better guesses with "
               "a smaller sd");
      add_doubt(w);
      return;
    }
    snprintf(w->text, sizeof w->text,
             "no verdict: the first %.4g s are the start-up%s, and %d more readings are needed",
             (double)w->n_start * inside->h,
             inside->is_learning ? ", and 1000 readings to the noise of sensors without sigma" : "",
             YOKE_CONSISTENCY_FIRST_LOOK);
    add_doubt(w);
    return;
  case YOKE_TWIN_CONSISTENT:
    snprintf(w->text, sizeof w->text,
             "consistent: the innovations of %llu readings agree with the model and the noise of "
             "the sensors%s",
             (unsigned long long)n,
             inside->is_ambiguous ? "; but the sensors cannot distinguish some unknowns (see "
                                    "above): their error may exceed their standard deviation"
                                  : "");
    return;
  case YOKE_TWIN_INCONSISTENT:
    if (inside->is_doubtful) {
      snprintf(w->text, sizeof w->text,
               "inconsistent: the first readings contradict the later ones: the guesses were too "
               "far off for a nonlinear unit, or the unit is wrong");
      return;
    }
    snprintf(w->text, sizeof w->text,
             "inconsistent: of the innovations%s%.100s the %s is %.3g, expected %.3g to %.3g: %s",
             has_sensor ? " of " : "", has_sensor ? w->sensors[why.sensor].name : "",
             yoke__statistic_text(why.statistic), why.value, why.low, why.high,
             cause_of(why.statistic, is_above));
    return;
  case YOKE_TWIN_DIVERGED:
    break;
  }
  snprintf(w->text, sizeof w->text, "diverged: %s; its values are invalid",
           reason_text(inside->reason));
}

void yoke__twin_watch_end(yoke_twin_watch* w) {
  yoke_unit_twin_inside inside;
  yoke__twin_watch_step(w);
  if (!look_inside(w, &inside)) {
    return;
  }
  for (size_t i = 0; i < w->n_unknowns; i++) {
    yoke_twin_value* u = &w->unknowns[i];
    const double hits = read_value(w, HITS, u->name);
    u->value = read_value(w, "", u->name);
    u->sd = read_value(w, DEVIATION, u->name);
    u->n_hits = isfinite(hits) ? (int64_t)hits : 0;
  }
  for (size_t i = 0; i < w->n_outputs; i++) {
    w->outputs[i].value = read_value(w, "", w->outputs[i].name);
    w->outputs[i].sd = read_value(w, DEVIATION, w->outputs[i].name);
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    yoke_twin_sensor_result* s = &w->sensors[i];
    const double n = (double)(s->n > s->n_start ? s->n - s->n_start : s->n);
    s->rms = n > 0 ? sqrt(w->squares[i] / n) : (double)NAN;
    s->expected = n > 0 ? sqrt(w->variances[i] / n) : (double)NAN;
  }
  const double resets = read_value(w, "", "resets");
  w->n_resets = isfinite(resets) ? (int64_t)resets : 0;
  write_verdict(w, &inside);
}

bool yoke__twin_watch_is_wrong(const yoke_twin_watch* w) {
  return (w->verdict == YOKE_TWIN_INCONSISTENT || w->verdict == YOKE_TWIN_DIVERGED) &&
         yoke_simulation_system(w->simulation)->scenario->trust.is_status;
}

void yoke__twin_watch_free(yoke_twin_watch* w) {
  yoke__arena_free(&w->arena);
}

// ---- JSON

static void values_json(const char* key, const yoke_twin_value values[], size_t n, bool has_hits,
                        yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", values[i].name);
    yoke__json_string(json, "dim", values[i].dim == NULL ? "" : values[i].dim);
    yoke__json_number(json, "value", values[i].value);
    yoke__json_number(json, "sd", values[i].sd);
    if (has_hits) {
      yoke__json_integer(json, "bound_hits", values[i].n_hits);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void data_json(const yoke_twin_data* d, yoke_json* json) {
  yoke__json_begin_object(json, "data");
  yoke__json_string(json, "path", d->path);
  yoke__json_integer(json, "rows", (int64_t)d->n_rows);
  yoke__json_number(json, "interval", d->interval);
  yoke__json_begin_array(json, "columns");
  for (size_t i = 0; i < d->n_columns; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", d->columns[i].name);
    yoke__json_boolean(json, "is_sensor", d->columns[i].is_sensor);
    yoke__json_integer(json, "values", (int64_t)d->columns[i].n);
    yoke__json_integer(json, "missing", (int64_t)d->columns[i].n_missing);
    yoke__json_integer(json, "gaps", (int64_t)d->columns[i].n_gaps);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

void yoke__twin_watch_json(const yoke_twin_watch* w, const yoke_twin_tuning* tuning,
                           yoke_json* json) {
  static const char* const words[] = {"starting", "consistent", "inconsistent", "diverged"};
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "unit", w->study->unit);
  yoke__json_string(json, "verdict", words[w->verdict]);
  yoke__json_string(json, "sentence", w->text);
  data_json(&w->study->data, json);
  values_json("unknowns", w->unknowns, w->n_unknowns, true, json);
  values_json("outputs", w->outputs, w->n_outputs, false, json);
  yoke__json_begin_array(json, "sensors");
  for (size_t i = 0; i < w->n_sensors; i++) {
    const yoke_twin_sensor_result* s = &w->sensors[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", s->name);
    yoke__json_string(json, "dim", s->dim == NULL ? "" : s->dim);
    yoke__json_integer(json, "readings", (int64_t)s->n);
    yoke__json_integer(json, "left_out", (int64_t)s->n_gated);
    yoke__json_number(json, "rms", s->rms);
    yoke__json_number(json, "expected", s->expected);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "resets", w->n_resets);
  if (tuning != NULL) {
    yoke__twin_tuning_json(tuning, json);
  }
  yoke__json_end_object(json);
}
