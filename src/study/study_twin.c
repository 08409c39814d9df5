// A twin with its data in place of the machine: the scenario with other units, built as any other.
#include "study/study_twin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_path.h"
#include "master/master.h"

#define N_DIGITS 9  // of the median interval: differences of times have fewer than times

// ---- the twin

static const yoke_scenario_unit* find_unit(const yoke_scenario* s, const char* name) {
  for (size_t i = 0; i < s->n_units; i++) {
    if (strcmp(s->units[i].name, name) == 0) {
      return &s->units[i];
    }
  }
  return NULL;
}

// "a, b"
static size_t list_twins(const yoke_scenario* s, char* to, size_t size,
                         const yoke_scenario_unit** last) {
  size_t n = 0, used = 0;
  to[0] = '\0';
  for (size_t i = 0; i < s->n_units; i++) {
    if (s->units[i].kind == YOKE_KIND_TWIN) {
      *last = &s->units[i];
      if (used < size) {
        used += (size_t)snprintf(to + used, size - used, "%s%.60s", n > 0 ? ", " : "",
                                 s->units[i].name);
      }
      n++;
    }
  }
  return n;
}

// NULL after a message.
static const yoke_scenario_unit* choose_twin(const yoke_scenario* s, const char* name,
                                             const yoke_sink* sink) {
  const yoke_scenario_unit* unit = NULL;
  const yoke_place file = {s->path, 0, 0};
  char twins[400];
  const size_t n = list_twins(s, twins, sizeof twins, &unit);
  if (n == 0) {
    yoke__fail_at(sink, YOKE_BAD_INPUT, file,
                  "no unit is a twin: write for example twin: {twin: model.cir, sensors: {t(s1): "
                  "rig.t1}}");
    return NULL;
  }
  if (name == NULL && n > 1) {
    yoke__fail_at(sink, YOKE_BAD_INPUT, file, "there are %zu twins (%s): choose one with --unit", n,
                  twins);
    return NULL;
  }
  if (name == NULL) {
    return unit;
  }
  unit = find_unit(s, name);
  if (unit == NULL || unit->kind != YOKE_KIND_TWIN) {
    yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){"--unit", 0, 0},
                  unit == NULL ? "there is no unit '%.100s'; twins: %s"
                               : "unit '%.100s' is no twin; twins: %s",
                  name, twins);
    return NULL;
  }
  return unit;
}

// ---- opening

static yoke_status read_scenario(const yoke_twin_task* task, const char* const more[], size_t n,
                                 yoke_arena* arena, yoke_scenario** out, const yoke_sink* sink) {
  *out = NULL;
  const char** sets = yoke__arena_array(arena, task->n_sets + n + 1, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  for (size_t i = 0; i < task->n_sets + n; i++) {
    sets[i] = i < task->n_sets ? task->sets[i] : more[i - task->n_sets];
  }
  yoke_messages messages = {0};
  const yoke_status status =
      yoke__scenario_read_file(task->path, sets, task->n_sets + n, &messages, out);
  yoke__messages_send(&messages, sink);
  yoke__messages_free(&messages);
  return status;
}

// The step of the file, else the median interval of the rows.
static void choose_step(const yoke_scenario_unit* unit, const yoke_twin_data* data,
                        yoke_scenario_time* out) {
  char text[64];
  double rounded = data->interval;
  if (unit->step.is_given) {
    *out = unit->step;
    return;
  }
  snprintf(text, sizeof text, "%.*g", N_DIGITS, data->interval);
  yoke__number_parse(text, &rounded);
  *out = (yoke_scenario_time){.value = rounded, .is_given = true, .place = {data->path, 0, 0}};
  yoke__decimal_from(rounded, &out->exact);
}

static yoke_status open_with(const yoke_scenario* s, yoke_twin_study* study,
                             const yoke_sink* sink) {
  const yoke_scenario_unit* unit = choose_twin(s, study->task.unit, sink);
  if (unit == NULL) {
    return YOKE_BAD_INPUT;
  }
  study->unit = yoke__arena_text(&study->arena, unit->name, strlen(unit->name));
  YOKE_TRY_MEMORY(study->unit);
  YOKE_TRY(
      yoke__twin_data_read(study->task.data, s, study->unit, &study->arena, &study->data, sink));
  yoke_scenario_time step;
  choose_step(unit, &study->data, &step);
  study->step = step.value;
  study->player = yoke__twin_player_ops(&study->data);
  YOKE_TRY(yoke_registry_create(&study->registry));
  return yoke_registry_add_unit(study->registry, &study->player, sink);
}

// The names of the columns live as long as the scenario.
static yoke_status keep_names(yoke_twin_study* study) {
  for (size_t i = 0; i < study->data.n_columns; i++) {
    yoke_twin_column* c = &study->data.columns[i];
    c->unit = yoke__arena_text(&study->arena, c->unit, strlen(c->unit));
    c->variable = yoke__arena_text(&study->arena, c->variable, strlen(c->variable));
    YOKE_TRY_MEMORY(c->unit && c->variable);
  }
  return YOKE_OK;
}

yoke_status yoke__twin_study_open(const yoke_twin_task* task, yoke_twin_study* out,
                                  const yoke_sink* sink) {
  *out = (yoke_twin_study){.task = *task};
  yoke_scenario* s = NULL;
  yoke_status status = read_scenario(task, NULL, 0, &out->arena, &s, sink);
  status = status < 0 ? status : open_with(s, out, sink);
  status = status < 0 ? status : keep_names(out);
  yoke__scenario_free(&s);
  if (status < 0) {
    yoke__twin_study_close(out);
  }
  return status;
}

void yoke__twin_study_close(yoke_twin_study* study) {
  yoke_registry_destroy(&study->registry);
  yoke__twin_data_free(&study->data);
  yoke__arena_free(&study->arena);
}

// ---- the system

// Times of the record in few digits: 0.1 + 0.2 is meant to be 0.3.
static void put_time(double t, yoke_place place, yoke_scenario_time* out) {
  char text[64];
  double rounded = t;
  snprintf(text, sizeof text, "%.15g", t);
  yoke__number_parse(text, &rounded);
  *out = (yoke_scenario_time){.value = rounded, .is_given = true, .place = place};
  yoke__decimal_from(rounded, &out->exact);
}

// The rows between `from` and `to`.
static yoke_status put_times(yoke_scenario* s, const yoke_twin_study* study, double from, double to,
                             const yoke_sink* sink) {
  const yoke_twin_data* d = &study->data;
  size_t first = 0, end = d->n_rows;
  while (first < end && d->t[first] < from) {
    first++;
  }
  while (end > first && d->t[end - 1] > to) {
    end--;
  }
  const yoke_place place = {d->path, 0, 0};
  if (end - first < 2) {
    return yoke__fail_at(sink, YOKE_BAD_INPUT, place,
                         "fewer than two rows lie between the times wanted: the record goes from "
                         "%.9g s to %.9g s",
                         d->t[0], d->t[d->n_rows - 1]);
  }
  if (d->t[end - 1] - d->t[first] < s->step.value * (1 - 1e-9)) {
    return yoke__fail_at(sink, YOKE_BAD_INPUT, place,
                         "the rows go from %.9g s to %.9g s, less than the step of %.9g s",
                         d->t[first], d->t[end - 1], s->step.value);
  }
  put_time(d->t[first], place, &s->start);
  put_time(d->t[end - 1], place, &s->stop);
  return YOKE_OK;
}

// The twin, and one player per unit whose variables it wants.
static yoke_status put_units(yoke_scenario* s, const yoke_twin_study* study) {
  const yoke_twin_data* d = &study->data;
  const yoke_scenario_unit* twin = find_unit(s, study->unit);
  yoke_scenario_unit* units = yoke__arena_array(&s->arena, d->n_columns + 1, sizeof *units);
  YOKE_TRY_MEMORY(units);
  size_t n = 0;
  for (size_t i = 0; i < d->n_columns; i++) {
    const char* name = d->columns[i].unit;
    bool is_new = true;
    for (size_t k = 0; k < i; k++) {
      is_new = is_new && strcmp(d->columns[k].unit, name) != 0;
    }
    if (is_new) {
      units[n++] = (yoke_scenario_unit){.name = name,
                                        .place = {d->path, 0, 0},
                                        .kind = YOKE_KIND_MODEL,
                                        .type = yoke__twin_player_name,
                                        .type_place = {d->path, 0, 0}};
    }
  }
  units[n] = *twin;
  units[n].step = (yoke_scenario_time){0};
  units[n].calls = 0;
  units[n].cost_s = 0;
  s->units = units;
  s->n_units = n + 1;
  return YOKE_OK;
}

static yoke_status put_connections(yoke_scenario* s, const char* twin) {
  yoke_scenario_connection* kept = yoke__arena_array(&s->arena, s->n_connections + 1, sizeof *kept);
  YOKE_TRY_MEMORY(kept);
  size_t n = 0;
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (c->to.unit != NULL && strcmp(c->to.unit, twin) == 0) {
      kept[n] = *c;
      kept[n++].average = YOKE_AVERAGE_NO;  // rows are samples
    }
  }
  s->connections = kept;
  s->n_connections = n;
  return YOKE_OK;
}

// Limits of what the twin gives stay.
static yoke_status keep_limits(yoke_scenario* s, const char* twin) {
  const size_t n_name = strlen(twin);
  yoke_scenario_signal_limit* kept =
      yoke__arena_array(&s->arena, s->n_signal_limits + 1, sizeof *kept);
  YOKE_TRY_MEMORY(kept);
  size_t n = 0;
  for (size_t i = 0; i < s->n_signal_limits; i++) {
    const char* signal = s->signal_limits[i].signal.text;
    if (strncmp(signal, twin, n_name) == 0 && signal[n_name] == '.') {
      kept[n++] = s->signal_limits[i];
    }
  }
  s->signal_limits = kept;
  s->n_signal_limits = n;
  return YOKE_OK;
}

// What speaks of other units or of the way they are run.
static void drop_rest(yoke_scenario* s) {
  static const yoke_scenario_name all = {"*", {NULL, 0, 0}};
  s->n_bonds = s->n_couplings = s->n_order = s->n_safe = 0;
  s->is_finding = false;
  s->scheme = YOKE_JACOBI;
  s->adaptive.is_given = false;
  s->pacing.is_given = false;
  s->inputs = YOKE_INPUTS_START;
  s->has_inputs = true;
  s->calls = 1;
  s->trust.n_signals = s->trust.n_limits = 0;
  s->record_signals = &all;
  s->n_record_signals = 1;
  s->record_every = 1;
  s->record_from = (yoke_scenario_time){0};
}

static yoke_status make(yoke_scenario* s, const yoke_twin_study* study, double from, double to,
                        const yoke_sink* sink) {
  choose_step(find_unit(s, study->unit), &study->data, &s->step);
  YOKE_TRY(put_times(s, study, from, to, sink));
  YOKE_TRY(put_units(s, study));
  YOKE_TRY(put_connections(s, study->unit));
  YOKE_TRY(keep_limits(s, study->unit));
  drop_rest(s);
  return YOKE_OK;
}

yoke_status yoke__twin_study_system(const yoke_twin_study* study, const char* const sets[],
                                    size_t n, double from, double to, const yoke_sink* sink,
                                    yoke_system** out) {
  yoke_arena arena = {0};
  yoke_scenario* s = NULL;
  *out = NULL;
  yoke_status status = read_scenario(&study->task, sets, n, &arena, &s, sink);
  yoke__arena_free(&arena);
  status = status < 0 ? status : make(s, study, from, to, sink);
  if (status < 0) {
    yoke__scenario_free(&s);
    return status;
  }
  yoke_messages messages = {0};
  status = yoke__master_build(s, study->registry, &messages, out);
  yoke__messages_send(&messages, sink);
  yoke__messages_free(&messages);
  return status < 0 ? status : YOKE_OK;
}
