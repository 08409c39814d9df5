// Ranking, repetitions and advice; see study_tune.h.
//
//   mean m = sum x_i / n          standard deviation s = sqrt(sum (x_i - m)^2 / (n - 1))
//   change if  m_current - m_best > 2 max(s_current, s_best)
//
// Repetitions are there because a map of single measurements is not smooth. Page: docs/tune.md, "Procedure".
#include "study/study_tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_map.h"
#include "base/base_number.h"
#include "master/master_safe.h"
#include "yoke/system.h"

// ---- ranking

// Of a run that is done; NaN: none.
static double value_of(const yoke_study_result* result) {
  return result != NULL && result->status == YOKE_RUN_DONE ? result->values[0] : (double)NAN;
}

static yoke_candidate first_run(const yoke_study* study, size_t point) {
  const yoke_study_result* result = yoke__study_find(study, point, 0);
  yoke_candidate c = {.point = point, .mean = (double)NAN, .deviation = (double)NAN};
  c.status = result == NULL ? YOKE_RUN_PENDING : result->status;
  c.value = value_of(result);
  return c;
}

void yoke__tune_rank(const yoke_study* study, yoke_tune* tune) {
  const size_t n_points = yoke__study_plan_of(study)->grid->n_points;
  *tune = (yoke_tune){.current = first_run(study, n_points)};
  for (size_t point = 0; point < n_points; point++) {
    const yoke_candidate c = first_run(study, point);
    if (isnan(c.value)) {
      continue;
    }
    // insertion from the end; equal values stay in the order of the grid
    size_t at = tune->n_best;
    for (; at > 0 && c.value < tune->best[at - 1].value; at--) {
      if (at < YOKE_TUNE_N_BEST) {
        tune->best[at] = tune->best[at - 1];
      }
    }
    if (at < YOKE_TUNE_N_BEST) {
      tune->best[at] = c;
      tune->n_best += tune->n_best < YOKE_TUNE_N_BEST;
    }
  }
}

size_t yoke__tune_repetitions(const yoke_study* study, const yoke_tune* tune, size_t n,
                              size_t points[], size_t repeats[]) {
  size_t n_runs = 0;
  for (size_t i = 0; i <= tune->n_best; i++) {
    for (size_t k = 1; k <= n; k++) {
      points[n_runs] =
          i < tune->n_best ? tune->best[i].point : yoke__study_plan_of(study)->grid->n_points;
      repeats[n_runs++] = k;
    }
  }
  return n_runs;
}

// ---- statistics

static void repeat_statistics(const yoke_study* study, size_t n, yoke_candidate* c) {
  double sum = 0, squares = 0;
  c->n_repeats = c->n_failed = 0;
  for (size_t k = 1; k <= n; k++) {
    const double value = value_of(yoke__study_find(study, c->point, k));
    sum += isnan(value) ? 0 : value;
    *(isnan(value) ? &c->n_failed : &c->n_repeats) += 1;
  }
  c->mean = c->n_repeats > 0 ? sum / (double)c->n_repeats : (double)NAN;
  for (size_t k = 1; k <= n; k++) {
    const double away = value_of(yoke__study_find(study, c->point, k)) - c->mean;
    squares += isnan(away) ? 0 : away * away;
  }
  c->deviation = c->n_repeats > 1 ? sqrt(squares / (double)(c->n_repeats - 1)) : (double)NAN;
}

// What a setting is judged by; NaN: a run of it failed, it cannot be advised.
static double score(const yoke_candidate* c, size_t n) {
  if (n == 0) {
    return c->value;
  }
  return c->n_failed > 0 ? (double)NAN : c->mean;
}

// ---- advice

static void advise(const yoke_study* study, size_t n, yoke_tune* tune) {
  const yoke_candidate *best = &tune->best[tune->chosen], *current = &tune->current;
  const char* measure = yoke__study_plan_of(study)->measures[0].text;
  const double to = score(best, n), from = score(current, n);
  char where[256];
  yoke__grid_describe(yoke__study_plan_of(study)->grid, best->point, where, sizeof where);
  // it runs, but the measure does not exist for it: nothing to compare with
  if (current->status == YOKE_RUN_DONE && isnan(current->value)) {
    snprintf(tune->text, sizeof tune->text,
             "no change is advised: %.80s has no value at the current setting", measure);
    return;
  }
  if (isnan(from)) {
    tune->is_change = true;
    snprintf(tune->text, sizeof tune->text,
             "change to %s: %.80s is %.6g, and the current setting %s", where, measure, to,
             current->status == YOKE_RUN_DONE ? "failed in a repetition" : "failed");
    return;
  }
  const double difference = from - to;
  const double deviation = n > 1 ? fmax(best->deviation, current->deviation) : 0;
  const double percent = from != 0 ? 100 * difference / fabs(from) : (double)NAN;
  tune->is_change = difference > YOKE_TUNE_DEVIATIONS * deviation;
  if (tune->is_change) {
    snprintf(tune->text, sizeof tune->text,
             "change to %s: %.80s is %.6g instead of %.6g (%.3g %% less)", where, measure, to, from,
             percent);
  } else if (difference <= 0) {
    snprintf(tune->text, sizeof tune->text,
             "keep the current setting: no point of the grid is better than its %.6g", from);
  } else {
    snprintf(tune->text, sizeof tune->text,
             "keep the current setting: the best mean, %.6g with %s, is lower by %.2g standard "
             "deviations, and more than %g are required for a change",
             to, where, difference / deviation, YOKE_TUNE_DEVIATIONS);
  }
}

static bool is_any_done(const yoke_study* study) {
  size_t counts[YOKE_RUN_N_STATUSES];
  yoke__study_count(study, counts);
  return counts[YOKE_RUN_DONE] > 0;
}

void yoke__tune_decide(const yoke_study* study, size_t n, yoke_tune* tune) {
  tune->chosen = tune->n_best;
  tune->is_change = false;
  if (n > 0) {
    repeat_statistics(study, n, &tune->current);
  }
  for (size_t i = 0; i < tune->n_best; i++) {
    if (n > 0) {
      repeat_statistics(study, n, &tune->best[i]);
    }
    const double s = score(&tune->best[i], n);
    if (!isnan(s) && (tune->chosen == tune->n_best || s < score(&tune->best[tune->chosen], n))) {
      tune->chosen = i;
    }
  }
  if (tune->chosen == tune->n_best) {
    snprintf(tune->text, sizeof tune->text, "no setting is advised: %s",
             tune->n_best > 0     ? "each of the best points failed in a repetition"
             : is_any_done(study) ? "no point of the grid has a value of the measure"
                                  : "no point of the grid could be run to its end");
    return;
  }
  advise(study, n, tune);
}

// ---- the current setting

// "units.NAME.with.PARAMETER" or "laws.NAME.with.PARAMETER" -> the unit's number and the parameter.
static const char* split_parameter(const yoke_system* system, const char* path, size_t* unit) {
  const size_t n_group = strcspn(path, ".");
  const char* name = path[n_group] == '.' ? path + n_group + 1 : "";
  const char* with = strstr(name, ".with.");
  char text[256];
  if ((strncmp(path, "units.", 6) != 0 && strncmp(path, "laws.", 5) != 0) || with == NULL ||
      (size_t)(with - name) >= sizeof text) {
    return NULL;
  }
  memcpy(text, name, (size_t)(with - name));
  text[with - name] = '\0';
  *unit = yoke__map_find(&system->unit_index, text);
  return *unit == YOKE_NOT_FOUND ? NULL : with + strlen(".with.");
}

// A default of the model.
static bool read_parameter(const yoke_system_unit* unit, const char* name, char* to, size_t size) {
  char digits[YOKE_NUMBER_SIZE];
  const size_t variable = yoke__unit_find(&unit->unit, name);
  if (variable == YOKE_NOT_FOUND) {
    return false;
  }
  const yoke_variable* v = &unit->unit.info->variables[variable];
  double real = 0;
  int64_t whole = 0;
  if (yoke__variable_count(v) != 1) {
    return false;
  }
  if (v->type == YOKE_REAL && yoke__unit_get(&unit->unit, variable, &real, sizeof real) >= 0) {
    yoke__number_format(real, digits);
  } else if (v->type == YOKE_INTEGER &&
             yoke__unit_get(&unit->unit, variable, &whole, sizeof whole) >= 0) {
    yoke__number_format_integer(whole, digits);
  } else {
    return false;
  }
  snprintf(to, size, "%s", digits);
  return true;
}

bool yoke__tune_setting(const yoke_system* system, const char* path, char* to, size_t size) {
  yoke_system_info info;
  yoke_system_get_info(system, &info);
  if (strcmp(path, "scheme") == 0 || strcmp(path, "exchange") == 0) {
    snprintf(to, size, "%s", path[0] == 's' ? info.scheme : info.exchange);
    return true;
  }
  if (strcmp(path, "time.step") == 0) {
    char digits[YOKE_NUMBER_SIZE];
    yoke__number_format(system->scenario->step.value, digits);
    snprintf(to, size, "%s", digits);
    return true;
  }
  size_t unit = 0;
  const char* name = split_parameter(system, path, &unit);
  if (name == NULL) {
    return false;
  }
  const yoke_scenario_unit* source = system->units[unit].source;
  for (size_t i = 0; i < source->n_with; i++) {
    if (strcmp(source->with[i].name, name) == 0) {
      const yoke_node* value = source->with[i].value;
      if (value->kind != YOKE_NODE_SCALAR) {
        return false;
      }
      snprintf(to, size, "%s", value->text);
      return true;
    }
  }
  return read_parameter(&system->units[unit], name, to, size);
}

void yoke__tune_describe(const yoke_study* study, size_t point, const char* const current[],
                         char* to, size_t size) {
  const yoke_grid* grid = yoke__study_plan_of(study)->grid;
  size_t used = 0;
  if (point < grid->n_points) {
    yoke__grid_describe(grid, point, to, size);
    return;
  }
  to[0] = '\0';
  for (size_t i = 0; i < grid->n_axes && used < size; i++) {
    const int n = snprintf(to + used, size - used, "%s%s=%s", i == 0 ? "" : ", ",
                           grid->axes[i].path, current[i] == NULL ? "?" : current[i]);
    used += n > 0 ? (size_t)n : 0;
  }
}

// ---- tune.json

static void json_candidate(const yoke_study* study, const yoke_candidate* c,
                           const char* const current[], const char* key, yoke_json* json) {
  const yoke_grid* grid = yoke__study_plan_of(study)->grid;
  yoke__json_begin_object(json, key);
  yoke__json_begin_object(json, "setting");
  for (size_t i = 0; i < grid->n_axes; i++) {
    const char* value = c->point < grid->n_points
                            ? grid->axes[i].values[yoke__grid_index(grid, c->point, i)]
                            : current[i];
    double number = 0;
    if (value != NULL && yoke__number_parse(value, &number)) {
      yoke__json_number(json, grid->axes[i].path, number);
    } else {
      yoke__json_string(json, grid->axes[i].path, value);
    }
  }
  yoke__json_end_object(json);
  const yoke_study_result* first = yoke__study_find(study, c->point, 0);
  yoke__json_string(json, "status", yoke__run_status_names[c->status]);
  if (first != NULL && first->ended != YOKE_RUN_INIT) {
    yoke__json_string(json, "ended_in", yoke__safe_words[first->ended]);
  }
  if (first != NULL && first->reason != NULL) {
    yoke__json_string(json, "reason", first->reason);
  }
  yoke__json_number(json, "value", c->value);
  if (c->n_repeats + c->n_failed > 0) {
    yoke__json_integer(json, "repetitions", (int64_t)c->n_repeats);
    yoke__json_integer(json, "failed_repetitions", (int64_t)c->n_failed);
    yoke__json_number(json, "mean", c->mean);
    yoke__json_number(json, "standard_deviation", c->deviation);
    yoke__json_begin_array(json, "values");
    for (size_t k = 1; k <= c->n_repeats + c->n_failed; k++) {
      const yoke_study_result* run = yoke__study_find(study, c->point, k);
      yoke__json_number(json, NULL, run == NULL ? (double)NAN : run->values[0]);
    }
    yoke__json_end_array(json);
  }
  yoke__json_end_object(json);
}

void yoke__tune_json(const yoke_study* study, const yoke_tune* tune, const char* const current[],
                     yoke_json* json) {
  const yoke_study_plan* plan = yoke__study_plan_of(study);
  size_t counts[YOKE_RUN_N_STATUSES];
  yoke__study_count(study, counts);
  yoke__json_begin_document(json, "tune");
  yoke__json_string(json, "system", plan->path);
  yoke__json_string(json, "minimise", plan->measures[0].text);
  yoke__json_begin_array(json, "limits");
  for (size_t i = 0; i < plan->n_limits; i++) {
    yoke__json_string(json, NULL, plan->limits[i].text);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "points", (int64_t)plan->grid->n_points);
  yoke__json_begin_object(json, "statuses");
  for (size_t i = YOKE_RUN_DONE; i < YOKE_RUN_N_STATUSES; i++) {
    yoke__json_integer(json, yoke__run_status_names[i], (int64_t)counts[i]);
  }
  yoke__json_end_object(json);
  yoke__json_begin_array(json, "best");
  for (size_t i = 0; i < tune->n_best; i++) {
    json_candidate(study, &tune->best[i], current, NULL, json);
  }
  yoke__json_end_array(json);
  json_candidate(study, &tune->current, current, "current", json);
  yoke__json_boolean(json, "change", tune->is_change);
  if (tune->chosen < tune->n_best) {
    json_candidate(study, &tune->best[tune->chosen], current, "chosen", json);
  }
  yoke__json_string(json, "advice", tune->text);
  yoke__json_end_object(json);
}

// ---- the map

yoke_status yoke__tune_write_map(const yoke_study* study, const yoke_tune* tune,
                                 const char* const current[], const char* title,
                                 const yoke_sink* sink) {
  const yoke_study_plan* plan = yoke__study_plan_of(study);
  const yoke_grid* grid = plan->grid;
  YOKE_TRY(yoke__study_write_table(study, "map.csv", sink));
  if (grid->n_axes > 2) {
    return YOKE_OK;
  }
  yoke_study_map map = {.title = title,
                        .best = tune->chosen < tune->n_best ? tune->best[tune->chosen].point
                                                            : YOKE_NOT_FOUND,
                        .current_value = tune->current.value};
  for (size_t i = 0; i < grid->n_axes; i++) {
    map.current[i] = yoke__study_map_position(&grid->axes[i], current[i]);
  }
  return yoke__study_map_write(&map, study, "map.svg", sink);
}
