// Finds the signals of a bond in a result, runs the meter over them (quality_replay.c), and writes the running values.
#include "study/study_meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_text.h"
#include "study/study_recorded.h"

#define DIGITS     9
#define MAX_NAME   1024
#define BLOCK_SIZE 65536u

const char* const yoke__meter_signal_names[YOKE_REPLAY_N_SIGNALS] = {
    [YOKE_E_IN] = "effort-in",
    [YOKE_F_OUT] = "flow-out",
    [YOKE_F_IN] = "flow-in",
    [YOKE_E_OUT] = "effort-out",
};

// ---- signals by name

static yoke_status make_list(yoke_meter* m, size_t n, yoke_meter_list* list) {
  list->names = yoke__arena_array(&m->arena, n, sizeof *list->names);
  list->columns = yoke__arena_array(&m->arena, n, sizeof *list->columns);
  list->scale = yoke__arena_array(&m->arena, n, sizeof *list->scale);
  const bool is_made = list->names != NULL && list->columns != NULL && list->scale != NULL;
  return is_made ? YOKE_OK : YOKE_NO_MEMORY;
}

static bool add_column(const yoke_meter* m, const char* name, double scale, yoke_meter_list* list) {
  const double* values = yoke__recorded_column(&m->result, name);
  if (values != NULL) {
    list->names[list->n] = name;
    list->columns[list->n] = values;
    list->scale[list->n++] = scale;
  }
  return values != NULL;
}

// One name: a column, or all elements of an array.
static yoke_status add_name(yoke_meter* m, const char* name, size_t n, yoke_meter_list* list,
                            const yoke_sink* sink) {
  const char* own = yoke__arena_text(&m->arena, name, n);
  YOKE_TRY_MEMORY(own);
  if (add_column(m, own, 1, list)) {
    return YOKE_OK;
  }
  const size_t n_before = list->n;
  const char* element = own;
  for (size_t i = 0; element != NULL && n < MAX_NAME - 32; i++) {
    char text[MAX_NAME];
    const int length = snprintf(text, sizeof text, "%s[%zu]", own, i);
    element = yoke__arena_text(&m->arena, text, (size_t)length);
    if (!add_column(m, element, 1, list)) {
      break;
    }
  }
  YOKE_TRY_MEMORY(element);
  if (list->n == n_before) {
    yoke__recorded_find(&m->result, own, sink);
    return YOKE_BAD_INPUT;
  }
  return YOKE_OK;
}

// Length of the first name of a list: up to a comma that stands in no brackets.
static size_t name_length(const char* text) {
  size_t n = 0;
  for (int depth = 0; text[n] != '\0' && (text[n] != ',' || depth > 0); n++) {
    depth += (text[n] == '[' || text[n] == '(') - (text[n] == ']' || text[n] == ')');
  }
  return n;
}

// "a.x" or "a.x,a.y"
static yoke_status read_names(yoke_meter* m, const char* text, yoke_meter_list* list,
                              const yoke_sink* sink) {
  // each name may be an array as wide as the table
  size_t n_names = 1;
  for (const char* at = text; *at != '\0'; at++) {
    n_names += *at == ',';
  }
  YOKE_TRY(make_list(m, m->result.csv.n_columns * n_names, list));
  if (add_column(m, text, 1, list)) {
    return YOKE_OK;
  }
  for (;;) {
    const size_t n = name_length(text);
    YOKE_TRY(add_name(m, text, n, list, sink));
    if (text[n] == '\0') {
      return YOKE_OK;
    }
    text += n + 1;
  }
}

static yoke_status read_signals(yoke_meter* m, const char* const texts[], const yoke_sink* sink) {
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS; i++) {
    if (texts[i] == NULL) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "--%s is missing; give all four signals or --bond NAME",
                       yoke__meter_signal_names[i]);
    }
    YOKE_TRY(read_names(m, texts[i], &m->lists[i], sink));
  }
  const size_t n = m->lists[YOKE_E_IN].n;
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS; i++) {
    if (m->lists[i].n != n) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "--effort-in has %zu components, --%s has %zu", n,
                       yoke__meter_signal_names[i], m->lists[i].n);
    }
  }
  return YOKE_OK;
}

// ---- signals of a bond

// A recording cannot show everything: says what is missing.
static yoke_status check_bond(const yoke_meter* m, const yoke_summary_bond* bond,
                              const yoke_sink* sink) {
  if (bond->is_heat || bond->n == 0 || bond->components[0].columns[YOKE_E_IN] == NULL ||
      bond->components[0].columns[YOKE_F_IN] == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "bond '%s' %s", bond->name,
                     bond->is_heat  ? "is a heat balance: it has no power to measure"
                     : bond->n == 0 ? "has signals that are not described in summary.json"
                                    : "is not connected: no unit receives its action or rate");
  }
  if (strncmp(m->result.summary.scheme, "iterative", 9) == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "bond '%s': the inputs of an iteration's last pass are not recorded; the "
                     "ledger measured %.*g J",
                     bond->name, DIGITS, bond->ter);
  }
  for (int end = 0; end < 2; end++) {
    const yoke_summary_end* e = &bond->ends[end];
    if (e->is_fresh && !e->is_law && e->use != YOKE_FEEDTHROUGH_NONE) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "bond '%s': unit '%s' is fresh, so the recording contains its outputs after "
                       "the exchange, not those of its step; the ledger measured %.*g J",
                       bond->name, e->unit, DIGITS, bond->ter);
    }
  }
  return YOKE_OK;
}

static yoke_status report_bond(const yoke_meter* m, const char* name, const yoke_sink* sink) {
  const yoke_summary* summary = &m->result.summary;
  if (!m->result.has_summary) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "--bond needs the summary.json of the run, which %s lacks", m->result.path);
  }
  char hint[YOKE_NEAREST_SIZE] = "";
  const char** names = calloc(summary->n_bonds + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < summary->n_bonds; i++) {
    names[i] = summary->bonds[i].name;
  }
  if (names != NULL) {
    yoke__nearest_hint(name, names, summary->n_bonds, hint);
  }
  free((void*)names);
  return yoke_fail(sink, YOKE_BAD_INPUT, "%s has no bond '%.200s'%s", m->result.path, name, hint);
}

static yoke_status read_bond(yoke_meter* m, const char* name, const yoke_sink* sink) {
  const yoke_summary_bond* bond = yoke__summary_find(&m->result.summary, name);
  if (bond == NULL) {
    return report_bond(m, name, sink);
  }
  YOKE_TRY(check_bond(m, bond, sink));
  m->said = bond;
  yoke_status status = YOKE_OK;
  for (size_t s = 0; s < YOKE_REPLAY_N_SIGNALS; s++) {
    YOKE_TRY(make_list(m, bond->n, &m->lists[s]));
    for (size_t i = 0; i < bond->n; i++) {
      const yoke_summary_component* c = &bond->components[i];
      if (!add_column(m, c->columns[s], c->scale[s], &m->lists[s])) {
        status = yoke_fail(sink, YOKE_BAD_INPUT,
                           "bond '%s': %s is not recorded; add it to record.signals", name,
                           c->columns[s]);
      }
    }
  }
  // outputs belong to the step that returned them, inputs to the step that they were held over
  m->bond.signals[YOKE_E_OUT].is_at_end = m->bond.signals[YOKE_F_OUT].is_at_end = true;
  m->bond.signals[YOKE_E_IN].is_at_end = bond->ends[0].input_share == 1;
  m->bond.signals[YOKE_F_IN].is_at_end = bond->ends[1].input_share == 1;
  return status;
}

yoke_status yoke__meter_open(const yoke_meter_settings* settings, yoke_meter* out,
                             const yoke_sink* sink) {
  yoke_meter* m = out;
  *m = (yoke_meter){0};
  YOKE_TRY(
      yoke__recorded_read(settings->path, settings->bond != NULL, &m->arena, &m->result, sink));
  YOKE_TRY(settings->bond == NULL ? read_signals(m, settings->signals, sink)
                                  : read_bond(m, settings->bond, sink));
  m->bond.t = m->result.csv.columns[0].values;
  m->bond.n_rows = m->result.csv.n_rows;
  m->bond.n = m->lists[YOKE_E_IN].n;
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS; i++) {
    m->bond.signals[i].columns = m->lists[i].columns;
    m->bond.signals[i].scale = m->lists[i].scale;
  }
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){.source = settings->path}, NULL, (double)NAN);
  return yoke__replay_start(&m->replay, &m->bond, &settings->replay, &m->arena, &about.sink);
}

void yoke__meter_free(yoke_meter* meter) {
  yoke__csv_free(&meter->result.csv);
  yoke__arena_free(&meter->arena);
}

// ---- the running values

static void add_row(yoke_text* csv, double t, const yoke_replay_values* v) {
  const double numbers[] = {t,
                            v->ter,
                            v->dP,
                            v->dE,
                            v->throughput,
                            v->rter,
                            v->ter_window,
                            v->rter_window,
                            v->flow_part,
                            v->effort_part,
                            v->flow_defect,
                            v->effort_defect,
                            (double)v->n_bad};
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    char text[YOKE_NUMBER_SIZE];
    yoke__text_append(csv, text, yoke__number_format(numbers[i], text));
    yoke__text_append(csv, i + 1 < YOKE_COUNT(numbers) ? "," : "\n", 1);
  }
}

// All intervals; file -1: nothing is written. After a failure the rest is accounted all the same.
static yoke_status account(yoke_replay* replay, int file, const yoke_sink* sink) {
  yoke_text csv = {0};
  yoke_status status = YOKE_OK;
  yoke__text_string(&csv, "time,ter,dP,dE,throughput,rter,ter_window,rter_window,flow_part,"
                          "effort_part,flow_defect,effort_defect,n_bad\n");
  // as the stepping thread does, so that the bits are the same
  const uint64_t mode = yoke__os_float_mode_set();
  for (bool goes_on = true; goes_on;) {
    const bool is_written = file >= 0 && status >= 0;
    if (is_written) {
      add_row(&csv, replay->t, &replay->values);
    }
    goes_on = yoke__replay_next(replay);
    if (is_written && (csv.n > BLOCK_SIZE || !goes_on)) {
      size_t n_done = 0;
      status = csv.status < 0 ? yoke_fail(sink, csv.status, "%s", yoke_status_text(csv.status))
                              : yoke__os_file_write(file, csv.bytes, csv.n, &n_done, sink);
      yoke__text_clear(&csv);
    }
  }
  yoke__os_float_mode_restore(mode);
  yoke__text_free(&csv);
  return status;
}

// Under path.part first.
static yoke_status write_table(yoke_meter* m, const char* path, const char* part,
                               const yoke_sink* sink) {
  int file = -1;
  YOKE_CATCH(why);
  const yoke_status created = yoke__os_file_create(part, &file, &why.sink);
  yoke_status status = account(&m->replay, file, &why.sink);
  const yoke_status closed = yoke__os_file_close(&file, status < 0 ? NULL : &why.sink);
  status = created < 0 ? created : status < 0 ? status : closed;
  if (status >= 0) {
    return yoke__os_rename(part, path, sink);
  }
  if (created >= 0) {
    yoke__os_file_remove(part);
  }
  return yoke__fail_at(sink, status, (yoke_place){.source = path}, "cannot be written: %s",
                       why.text);
}

yoke_status yoke__meter_run(yoke_meter* meter, const char* directory, const yoke_sink* sink) {
  if (directory == NULL) {
    return account(&meter->replay, -1, sink);
  }
  const size_t size = yoke__os_path_join(directory, YOKE_METER_TABLE, NULL, 0) + sizeof ".part";
  char *path = yoke__arena_take(&meter->arena, size), *part = yoke__arena_take(&meter->arena, size);
  yoke_status status =
      path == NULL || part == NULL ? YOKE_NO_MEMORY : yoke__os_make_directory(directory, sink);
  if (status < 0) {
    (void)account(&meter->replay, -1, sink);  // what is measured holds all the same
    return status;
  }
  yoke__os_path_join(directory, YOKE_METER_TABLE, path, size);
  snprintf(part, size, "%s.part", path);
  return write_table(meter, path, part, sink);
}
