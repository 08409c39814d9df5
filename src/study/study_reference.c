// A reference for one point of a study: the same system with other settings on top, such as a small step; see study_run.h.
//
// The error of a coupling over a parameter of the system needs a reference at every value of it, which no single file is.
// Of the reference run all rows are kept that `yoke run` would write of it, so that it serves as its result file would:
// between rows it is a polygon. Of its outputs those are kept that a measure or limit asks for.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base_status.h"
#include "study/study_run.h"

void yoke__study_output_name(const yoke_system* system, size_t y, char* to, size_t size) {
  for (size_t k = 0; k < system->n_units; k++) {
    const yoke_system_unit* unit = &system->units[k];
    if (y < unit->y || y >= unit->y + unit->unit.n_y) {
      continue;
    }
    for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
      const yoke_variable* variable = &unit->unit.info->variables[v];
      const size_t n = yoke__variable_count(variable), first = unit->unit.dense[v];
      if (variable->causality == YOKE_OUTPUT && first != YOKE_NOT_DENSE && y >= unit->y + first &&
          y < unit->y + first + n) {
        yoke__system_element_name(unit, variable, y - unit->y - first, to, size);
        return;
      }
    }
  }
  snprintf(to, size, "output %zu", y);
}

// memory of one reference; as many of them are there at once as there are jobs
#define MAX_NUMBERS (INT64_C(1) << 26)  // 512 MB

typedef struct keeper {
  const yoke_study_plan* plan;
  const yoke_system* system;  // of the reference
  yoke_messages* messages;
  yoke_csv* to;
  size_t* outputs;  // index into Y of column i + 1
  size_t n_outputs;
  size_t room;  // rows
  int64_t n_steps;
} keeper;

static bool is_wanted_by(const yoke_study_measure* measure, const char* name) {
  return yoke__study_needs_reference(measure) &&
         (measure->argument == NULL || strcmp(measure->argument, name) == 0);
}

static bool is_wanted(const yoke_study_plan* plan, const char* name) {
  for (size_t i = 0; i < plan->n_measures; i++) {
    if (is_wanted_by(&plan->measures[i], name)) {
      return true;
    }
  }
  for (size_t i = 0; i < plan->n_limits; i++) {
    if (is_wanted_by(&plan->limits[i].measure, name)) {
      return true;
    }
  }
  return false;
}

// Rows until the run that is judged has ended, the start and one behind its end included.
static double count_rows(const keeper* k, const yoke_system* judged) {
  const yoke_system* system = k->system;
  const int64_t n_rows = system->n_slots / system->record_every + 1;

  // time between rows of the reference
  const double every = (system->t_stop - system->t_start) * (double)system->record_every /
                       fmax((double)system->n_slots, 1);
  return fmin((double)n_rows, fmax((judged->t_stop - system->t_start) / every, 0) + 3);
}

static yoke_status check_room(const keeper* k, double rows) {
  const double numbers = rows * (double)(k->n_outputs + 1);
  if (numbers <= (double)MAX_NUMBERS) {
    return YOKE_OK;
  }

  // every n-th row, n such that the rest has room
  const double every =
      (double)k->system->scenario->record_every * ceil(numbers / (double)MAX_NUMBERS);
  return yoke__error(
      k->messages, (yoke_place){.source = "--reference-set"},
      "the reference of this point has %.0f rows of %zu output%s, %.3g GB; expected at most "
      "%.3g GB. Keep fewer rows, for example --reference-set record.every=%.0f",
      rows, k->n_outputs, k->n_outputs == 1 ? "" : "s", 8e-9 * numbers, 8e-9 * (double)MAX_NUMBERS,
      every);
}

static yoke_status choose_outputs(keeper* k, yoke_csv_column columns[]) {
  yoke_arena* arena = &k->to->arena;
  columns[0].name = "time";
  for (size_t y = 0; y < k->system->n_y; y++) {
    char name[1024];
    yoke__study_output_name(k->system, y, name, sizeof name);
    if (is_wanted(k->plan, name)) {
      k->outputs[k->n_outputs++] = y;
      columns[k->n_outputs].name = yoke__arena_text(arena, name, strlen(name));
      YOKE_TRY_MEMORY(columns[k->n_outputs].name);
    }
  }
  return YOKE_OK;
}

static yoke_status lay(keeper* k, const yoke_system* judged, bool is_run) {
  yoke_arena* arena = &k->to->arena;
  yoke_csv_column* columns = yoke__arena_array(arena, k->system->n_y + 1, sizeof *columns);
  k->outputs = yoke__arena_array(arena, k->system->n_y + 1, sizeof *k->outputs);
  YOKE_TRY_MEMORY(columns && k->outputs);
  YOKE_TRY(choose_outputs(k, columns));
  const double rows = count_rows(k, judged);
  YOKE_TRY(check_room(k, rows));
  k->room = is_run ? (size_t)rows : 1;
  for (size_t i = 0; i <= k->n_outputs; i++) {
    columns[i].values = yoke__arena_array(arena, k->room, sizeof(double));
    YOKE_TRY_MEMORY(columns[i].values);
  }
  k->to->columns = columns;
  k->to->n_columns = k->n_outputs + 1;
  return YOKE_OK;
}

// After the start and every macro step: the rows of results.csv.
static void keep(keeper* k, const yoke_state* state) {
  // a row after so many macro steps, as results.csv has it
  const int64_t steps_per_row = k->system->record_every / k->system->macro_slots;
  if (k->n_steps++ % steps_per_row != 0 || k->to->n_rows == k->room) {
    return;
  }
  const size_t at = k->to->n_rows++;
  k->to->columns[0].values[at] = state->t;
  for (size_t i = 0; i < k->n_outputs; i++) {
    k->to->columns[i + 1].values[at] = state->y[k->outputs[i]];
  }
}

static double last_time(const keeper* k) {
  return k->to->columns[0].values[k->to->n_rows - 1];
}

yoke_status yoke__study_reference(const yoke_study_plan* plan, const yoke_system* judged,
                                  yoke_system* system, yoke_state* state, bool is_run,
                                  const atomic_bool* is_cancelled, yoke_messages* messages,
                                  yoke_csv* out) {
  keeper k = {.plan = plan, .system = system, .messages = messages, .to = out};
  YOKE_TRY(lay(&k, judged, is_run));
  keep(&k, state);

  // to the end of the run that is judged, and one row behind: the last one is read between two
  while (is_run && state->n_slots < system->n_slots && last_time(&k) < judged->t_stop) {
    if (atomic_load_explicit(is_cancelled, memory_order_relaxed)) {
      return YOKE_INTERRUPTED;
    }
    const yoke_status status = yoke__master_step(system, state);
    if (status < 0 && !yoke__status_is_shortage(status)) {
      yoke_message why = state->failure.message;
      char text[YOKE_MESSAGE_TEXT_SIZE];
      snprintf(text, sizeof text, "the reference of this point failed: %s", why.text);
      why.text = text;
      why.file = why.file == NULL ? "--reference-set" : why.file;
      yoke__messages_add(messages, &why);
    }
    YOKE_TRY(status);
    keep(&k, state);
    if (status == YOKE_ENDED || status == YOKE_STOPPED) {
      break;
    }
  }
  return YOKE_OK;
}
