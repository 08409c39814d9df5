// yoke compare RESULT REFERENCE: error measures of all signals that two result files share.
// The measures are those of quality/quality_measure.c; this file finds the signals, prints, and
// holds limits. The measure ter is about bonds instead: app_ter.c.
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/app_result.h"
#include "app/app_ter.h"
#include "base/base_csv.h"
#include "base/base_json.h"
#include "base/base_map.h"
#include "base/base_message.h"
#include "base/base_number.h"
#include "quality/quality_measure.h"
#include "scenario/scenario.h"

#define COMMAND      "compare"
#define FIRST_SIGNAL 1   // column 0 is the time
#define MAX_LIST     20  // names in a line of the table
#define MAX_CELL     64
#define N_CELLS      10                                    // most columns of the table
#define ALL_MEASURES ((1u << YOKE_N_MEASURES) - 1)         // of signals
#define USUAL        ((1u << (YOKE_MEASURE_END + 1)) - 1)  // where none is named
#define MEASURE_TER  (1u << YOKE_N_MEASURES)               // of bonds
#define ERROR_DIGITS 6                                     // of an error; more say nothing
#define VALUE_DIGITS 9  // of times and values, which are read next to each other

// One compared signal.
typedef struct signal {
  const char* name;
  size_t columns[2];  // in result and reference
  bool is_measured;
  yoke_deviation deviation;
} signal;

typedef struct comparison {
  yoke_arena arena;
  yoke_app_result tables[2];  // result, reference
  signal* signals;
  size_t n_signals;
  uint32_t measures;  // bits, to print
  uint32_t limited;   // bits, with a limit
  double limits[YOKE_N_MEASURES];
  bool is_json;
  bool wants_all;  // no --signal
  size_t n_exceeded;
  yoke_app_ter ter;
} comparison;

static int report_memory(void) {
  yoke__app_error(COMMAND, "out of memory");
  return YOKE_EXIT_FAILED;
}

// ---- which signals

static const char* column_name(const yoke_app_result* t, size_t column) {
  return t->csv.columns[column].name;
}

// Adds the result's column if the reference has it and both hold numbers.
static bool add_signal(comparison* c, size_t column) {
  const char* name = column_name(&c->tables[0], column);
  const size_t other = yoke__map_find(&c->tables[1].names, name);
  if (other == YOKE_NOT_FOUND || c->tables[0].csv.columns[column].is_text ||
      c->tables[1].csv.columns[other].is_text) {
    return false;
  }
  // asked for twice is compared once
  for (size_t i = 0; !c->wants_all && i < c->n_signals; i++) {
    if (c->signals[i].columns[0] == column) {
      return true;
    }
  }
  c->signals[c->n_signals++] = (signal){.name = name, .columns = {column, other}};
  return true;
}

// Says which file lacks a signal and which name was probably meant.
static void report_missing(const comparison* c, const char* name) {
  for (int i = 0; i < 2; i++) {
    if (yoke__app_result_column(&c->tables[i], name) == NULL) {
      yoke__app_result_report(COMMAND, &c->tables[i], name);
      return;
    }
  }
}

// One --signal: a name first, then a pattern.
static bool add_wanted(comparison* c, const char* wanted) {
  const yoke_app_result* result = &c->tables[0];
  const size_t column = yoke__map_find(&result->names, wanted);
  if (column != YOKE_NOT_FOUND && add_signal(c, column)) {
    return true;
  }
  bool is_found = false;
  for (size_t i = FIRST_SIGNAL; strpbrk(wanted, "*?") != NULL && i < result->csv.n_columns; i++) {
    if (yoke__glob_match(wanted, column_name(result, i))) {
      is_found = add_signal(c, i) || is_found;
    }
  }
  if (!is_found && strpbrk(wanted, "*?") != NULL) {
    yoke__app_error(COMMAND, "no common signal matches '%.200s'", wanted);
  } else if (!is_found) {
    report_missing(c, wanted);
  }
  return is_found;
}

static int choose_signals(comparison* c, const yoke_options* options) {
  size_t n_wanted = 0;
  const char* const* wanted = yoke__options_values(options, "signal", &n_wanted);
  const yoke_app_result* result = &c->tables[0];
  c->wants_all = n_wanted == 0;
  c->signals = yoke__arena_array(&c->arena, result->csv.n_columns, sizeof *c->signals);
  if (c->signals == NULL) {
    return report_memory();
  }
  int status = YOKE_EXIT_OK;
  for (size_t i = 0; i < n_wanted; i++) {
    if (!add_wanted(c, wanted[i])) {
      status = YOKE_EXIT_USAGE;
    }
  }
  for (size_t i = FIRST_SIGNAL; c->wants_all && i < result->csv.n_columns; i++) {
    add_signal(c, i);
  }
  if (status == YOKE_EXIT_OK && c->n_signals == 0) {
    yoke__app_error(COMMAND, "%s and %s have no signal in common", result->path, c->tables[1].path);
    status = YOKE_EXIT_USAGE;
  }
  return status;
}

// ---- measuring

// The samples of a column; an empty cell is no sample. t and y: n_rows each, used only if cells are
// empty.
static yoke_samples take_samples(const yoke_app_result* t, size_t column, double* times,
                                 double* values) {
  const yoke_csv_column* c = &t->csv.columns[column];
  const double* all_times = t->csv.columns[0].values;
  if (c->n_missing == 0) {
    return (yoke_samples){all_times, c->values, t->csv.n_rows};
  }
  size_t n = 0;
  for (size_t i = 0; i < t->csv.n_rows; i++) {
    if (!yoke__csv_is_missing(c->values[i])) {
      times[n] = all_times[i];
      values[n++] = c->values[i];
    }
  }
  return (yoke_samples){times, values, n};
}

// Measures every signal. What cannot be compared is reported, each reason once in a row.
static int measure_signals(comparison* c) {
  double* room[4];
  for (size_t i = 0; i < 4; i++) {
    room[i] = yoke__arena_array(&c->arena, c->tables[i / 2].csv.n_rows, sizeof *room[i]);
    if (room[i] == NULL) {
      return report_memory();
    }
  }
  const yoke_samples all = {.n = c->tables[0].csv.n_rows};
  double* work = yoke__arena_array(&c->arena, yoke__deviation_work_size(&all), sizeof *work);
  if (work == NULL) {
    return report_memory();
  }
  int status = YOKE_EXIT_OK;
  YOKE_CATCH(why);
  char last[YOKE_MESSAGE_TEXT_SIZE] = "";
  for (size_t i = 0; i < c->n_signals; i++) {
    signal* s = &c->signals[i];
    const yoke_samples result = take_samples(&c->tables[0], s->columns[0], room[0], room[1]);
    const yoke_samples reference = take_samples(&c->tables[1], s->columns[1], room[2], room[3]);
    yoke_status done = yoke__deviation_compute(&result, &reference, &s->deviation, &why.sink);
    s->is_measured = done >= 0;
    // without a roughness the other measures still count
    if (done >= 0 && (c->measures & 1u << YOKE_MEASURE_ROUGHNESS) != 0) {
      done = yoke__deviation_roughness(&result, &reference, work, &s->deviation, &why.sink);
    }
    if (done >= 0) {
      continue;
    }
    if (strcmp(why.text, last) != 0) {
      yoke__app_error(COMMAND, "%.200s: %s", s->name, why.text);
      memcpy(last, why.text, sizeof last);
    }
    status = YOKE_EXIT_USAGE;
  }
  return status;
}

static bool is_exceeded(const comparison* c, const signal* s, yoke_measure measure) {
  // a NaN is not below any limit
  return s->is_measured && (c->limited & 1u << measure) != 0 &&
         !(yoke__measure_value(&s->deviation, measure) <= c->limits[measure]);
}

static void check_limits(comparison* c) {
  for (size_t i = 0; i < c->n_signals; i++) {
    for (int m = 0; m < YOKE_N_MEASURES; m++) {
      const yoke_measure measure = (yoke_measure)m;
      if (is_exceeded(c, &c->signals[i], measure)) {
        yoke__app_error(COMMAND, "%.200s: %s %.*g exceeds the limit %.*g", c->signals[i].name,
                        yoke__measure_name(measure), ERROR_DIGITS,
                        yoke__measure_value(&c->signals[i].deviation, measure), VALUE_DIGITS,
                        c->limits[measure]);
        c->n_exceeded++;
      }
    }
  }
}

// ---- the table

typedef char cell[MAX_CELL];

static void put_error(cell to, double x) {
  snprintf(to, MAX_CELL, "%.*g", ERROR_DIGITS, x);
}

static void put_value(cell to, double x) {
  snprintf(to, MAX_CELL, "%.*g", VALUE_DIGITS, x);
}

// Cells of the wanted measures; d NULL: their titles. Returns how many.
static size_t fill_cells(uint32_t measures, const yoke_deviation* d, cell to[N_CELLS]) {
  static const char* const titles[] = {"nrmse",  "rmse",      "max",   "at time",  "end",
                                       "result", "reference", "error", "roughness"};
  const double values[] = {
      d == NULL ? 0 : d->nrmse,         d == NULL ? 0 : d->rmse,  d == NULL ? 0 : d->max,
      d == NULL ? 0 : d->t_max,         d == NULL ? 0 : d->end,   d == NULL ? 0 : d->end_result,
      d == NULL ? 0 : d->end_reference, d == NULL ? 0 : d->error, d == NULL ? 0 : d->roughness};
  static const yoke_measure owner[] = {
      YOKE_MEASURE_NRMSE, YOKE_MEASURE_RMSE,  YOKE_MEASURE_MAX,
      YOKE_MEASURE_MAX,   YOKE_MEASURE_END,   YOKE_MEASURE_END,
      YOKE_MEASURE_END,   YOKE_MEASURE_ERROR, YOKE_MEASURE_ROUGHNESS};
  static const bool is_value[] = {false, false, false, true, false, true, true, false, false};
  size_t n = 0;
  for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
    if ((measures & 1u << owner[i]) == 0) {
      continue;
    }
    if (d == NULL) {
      snprintf(to[n], MAX_CELL, "%s", titles[i]);
    } else if (is_value[i]) {
      put_value(to[n], values[i]);
    } else {
      put_error(to[n], values[i]);
    }
    n++;
  }
  return n;
}

static int max_int(int a, int b) {
  return a > b ? a : b;
}

// Columns as wide as their widest cell: names to the left, numbers to the right.
static void print_rows(const comparison* c) {
  cell cells[N_CELLS];
  int name_width = (int)strlen("signal"), widths[N_CELLS] = {0};
  const size_t n = fill_cells(c->measures, NULL, cells);
  for (size_t j = 0; j < n; j++) {
    widths[j] = (int)strlen(cells[j]);
  }
  for (size_t i = 0; i < c->n_signals; i++) {
    if (c->signals[i].is_measured) {
      name_width = max_int(name_width, (int)strlen(c->signals[i].name));
      fill_cells(c->measures, &c->signals[i].deviation, cells);
      for (size_t j = 0; j < n; j++) {
        widths[j] = max_int(widths[j], (int)strlen(cells[j]));
      }
    }
  }

  printf("%-*s", name_width, "signal");
  fill_cells(c->measures, NULL, cells);
  for (size_t j = 0; j < n; j++) {
    printf("  %*s", widths[j], cells[j]);
  }
  putchar('\n');
  for (size_t i = 0; i < c->n_signals; i++) {
    if (!c->signals[i].is_measured) {
      continue;
    }
    printf("%-*s", name_width, c->signals[i].name);
    fill_cells(c->measures, &c->signals[i].deviation, cells);
    for (size_t j = 0; j < n; j++) {
      printf("  %*s", widths[j], cells[j]);
    }
    putchar('\n');
  }
}

static void print_points(const yoke_deviation* d) {
  printf("%zu point%s from %.*g to %.*g s", d->n_points, d->n_points == 1 ? "" : "s", VALUE_DIGITS,
         d->t_first, VALUE_DIGITS, d->t_last);
  if (d->n_skipped > 0) {
    printf(", %zu skipped where the reference is not a number", d->n_skipped);
  }
}

static bool has_same_points(const yoke_deviation* a, const yoke_deviation* b) {
  return a->n_points == b->n_points && a->n_skipped == b->n_skipped && a->t_first == b->t_first &&
         a->t_last == b->t_last;
}

// One line of names, opened by a title with the first and closed by end_list.
typedef struct name_list {
  const char* title;
  size_t n;
} name_list;

static void add_name(name_list* list, const char* name) {
  if (list->n < MAX_LIST) {
    printf("%s%s", list->n == 0 ? list->title : ", ", name);
  }
  list->n++;
}

static void end_list(const name_list* list) {
  if (list->n > MAX_LIST) {
    printf(" and %zu more", list->n - MAX_LIST);
  }
  if (list->n > 0) {
    putchar('\n');
  }
}

// Names that a test of a deviation picks.
static void print_picked(const comparison* c, const char* title,
                         bool (*is_picked)(const yoke_deviation*)) {
  name_list list = {title, 0};
  for (size_t i = 0; i < c->n_signals; i++) {
    if (c->signals[i].is_measured && is_picked(&c->signals[i].deviation)) {
      add_name(&list, c->signals[i].name);
    }
  }
  end_list(&list);
}

static bool is_scaled_by_value(const yoke_deviation* d) {
  return d->scale_kind == YOKE_SCALE_VALUE;
}

static bool is_not_scaled(const yoke_deviation* d) {
  return d->scale_kind == YOKE_SCALE_ONE;
}

static bool is_not_finite(const yoke_deviation* d) {
  return d->n_not_finite > 0;
}

// Whether column i of a table is a signal that the other table lacks.
static bool is_alone(const comparison* c, int side, size_t i) {
  const yoke_app_result* t = &c->tables[side];
  return yoke__map_find(&c->tables[1 - side].names, column_name(t, i)) == YOKE_NOT_FOUND;
}

// Columns of text, once each: those of the result, and those of the reference that are numbers in
// the result.
static bool is_text_signal(const comparison* c, size_t i) {
  const yoke_app_result *result = &c->tables[0], *reference = &c->tables[1];
  const size_t other = yoke__map_find(&reference->names, column_name(result, i));
  return other != YOKE_NOT_FOUND &&
         (result->csv.columns[i].is_text || reference->csv.columns[other].is_text);
}

static void print_left_out(const comparison* c) {
  for (int side = 0; side < 2; side++) {
    name_list list = {side == 0 ? "only in the result: " : "only in the reference: ", 0};
    for (size_t i = FIRST_SIGNAL; i < c->tables[side].csv.n_columns; i++) {
      if (is_alone(c, side, i)) {
        add_name(&list, column_name(&c->tables[side], i));
      }
    }
    end_list(&list);
  }
  name_list texts = {"not compared, because text: ", 0};
  for (size_t i = FIRST_SIGNAL; i < c->tables[0].csv.n_columns; i++) {
    if (is_text_signal(c, i)) {
      add_name(&texts, column_name(&c->tables[0], i));
    }
  }
  end_list(&texts);
}

static void print_table(const comparison* c) {
  const yoke_deviation* first = NULL;
  for (size_t i = 0; i < c->n_signals && first == NULL; i++) {
    first = c->signals[i].is_measured ? &c->signals[i].deviation : NULL;
  }
  if (first != NULL) {
    print_points(first);
    putchar('\n');
    print_rows(c);
  }
  for (size_t i = 0; i < c->n_signals; i++) {
    const signal* s = &c->signals[i];
    if (s->is_measured && !has_same_points(&s->deviation, first)) {
      printf("%s: ", s->name);
      print_points(&s->deviation);
      putchar('\n');
    }
  }
  if ((c->measures & 1u << YOKE_MEASURE_NRMSE) != 0) {
    print_picked(c, "reference constant, nrmse relative to its value: ", is_scaled_by_value);
    print_picked(c, "reference zero, nrmse equals rmse: ", is_not_scaled);
  }
  print_picked(c, "not finite in the result: ", is_not_finite);
  if (c->wants_all) {
    print_left_out(c);
  }
}

// ---- JSON

static void json_signal(const comparison* c, const signal* s, yoke_json* json) {
  static const char* const scales[] = {"range", "value", "one"};
  const yoke_deviation* d = &s->deviation;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->name);
  yoke__json_integer(json, "points", (int64_t)d->n_points);
  yoke__json_integer(json, "skipped", (int64_t)d->n_skipped);
  yoke__json_integer(json, "not_finite", (int64_t)d->n_not_finite);
  yoke__json_number(json, "start", d->t_first);
  yoke__json_number(json, "stop", d->t_last);
  if ((c->measures & 1u << YOKE_MEASURE_NRMSE) != 0) {
    yoke__json_number(json, "nrmse", d->nrmse);
    yoke__json_number(json, "scale", d->scale);
    yoke__json_string(json, "scale_kind", scales[d->scale_kind]);
  }
  if ((c->measures & 1u << YOKE_MEASURE_RMSE) != 0) {
    yoke__json_number(json, "rmse", d->rmse);
  }
  if ((c->measures & 1u << YOKE_MEASURE_MAX) != 0) {
    yoke__json_number(json, "max", d->max);
    yoke__json_number(json, "max_time", d->t_max);
  }
  if ((c->measures & 1u << YOKE_MEASURE_END) != 0) {
    yoke__json_number(json, "end", d->end);
    yoke__json_number(json, "end_result", d->end_result);
    yoke__json_number(json, "end_reference", d->end_reference);
  }
  if ((c->measures & 1u << YOKE_MEASURE_ERROR) != 0) {
    yoke__json_number(json, "error", d->error);
  }
  if ((c->measures & 1u << YOKE_MEASURE_ROUGHNESS) != 0) {
    yoke__json_number(json, "roughness", d->roughness);
  }
  yoke__json_begin_array(json, "exceeded");
  for (int m = 0; m < YOKE_N_MEASURES; m++) {
    if (is_exceeded(c, s, (yoke_measure)m)) {
      yoke__json_string(json, NULL, yoke__measure_name((yoke_measure)m));
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static void json_comparison(const comparison* c, yoke_json* json) {
  yoke__json_begin_document(json, "comparison");
  yoke__json_string(json, "result", c->tables[0].path);
  yoke__json_string(json, "reference", c->tables[1].path);
  yoke__json_begin_object(json, "limits");
  for (int m = 0; m < YOKE_N_MEASURES; m++) {
    if ((c->limited & 1u << m) != 0) {
      yoke__json_number(json, yoke__measure_name((yoke_measure)m), c->limits[m]);
    }
  }
  yoke__json_end_object(json);
  yoke__json_begin_array(json, "signals");
  for (size_t i = 0; i < c->n_signals; i++) {
    if (c->signals[i].is_measured) {
      json_signal(c, &c->signals[i], json);
    }
  }
  yoke__json_end_array(json);
  for (int side = 0; side < 2; side++) {
    yoke__json_begin_array(json, side == 0 ? "only_in_result" : "only_in_reference");
    for (size_t i = FIRST_SIGNAL; i < c->tables[side].csv.n_columns; i++) {
      if (is_alone(c, side, i)) {
        yoke__json_string(json, NULL, column_name(&c->tables[side], i));
      }
    }
    yoke__json_end_array(json);
  }
  if ((c->measures & MEASURE_TER) != 0) {
    yoke__app_ter_json(&c->ter, "ter", json);
  }
  yoke__json_integer(json, "n_exceeded", (int64_t)c->n_exceeded);
  yoke__json_end_object(json);
}

static int print_json(const comparison* c) {
  yoke_json json = {0};
  json_comparison(c, &json);
  return yoke__app_print_json(COMMAND, &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// ---- the command

// One --limit, "measure=value".
static bool read_limit(comparison* c, const char* text) {
  const char* equals = strchr(text, '=');
  const size_t n = equals == NULL ? strlen(text) : (size_t)(equals - text);
  int found = -1;
  for (int m = 0; m < YOKE_N_MEASURES; m++) {
    const char* name = yoke__measure_name((yoke_measure)m);
    found = strlen(name) == n && strncmp(name, text, n) == 0 ? m : found;
  }
  double value = 0;
  if (found < 0 || equals == NULL) {
    yoke__app_error(COMMAND,
                    "--limit: expected MEASURE=VALUE with nrmse, rmse, max, end, error or "
                    "roughness, found '%.80s'",
                    text);
    return false;
  }
  if (!yoke__number_parse(equals + 1, &value) || !(value >= 0)) {
    yoke__app_error(COMMAND, "--limit: expected a number not below 0 behind '%.*s=', found '%.80s'",
                    (int)n, text, equals + 1);
    return false;
  }
  c->limits[found] = value;
  c->limited |= 1u << found;
  return true;
}

static int read_settings(comparison* c, const yoke_options* options) {
  c->is_json = yoke__options_has(options, "json");
  if (!yoke__options_choices(options, "measure", &c->measures)) {
    return YOKE_EXIT_USAGE;
  }
  size_t n = 0;
  const char* const* limits = yoke__options_values(options, "limit", &n);
  for (size_t i = 0; i < n; i++) {
    if (!read_limit(c, limits[i])) {
      return YOKE_EXIT_USAGE;
    }
  }
  // a limit without its number would be hard to understand
  c->measures = (c->measures == 0 ? USUAL : c->measures) | c->limited;
  if ((c->measures & ALL_MEASURES) == 0 && yoke__options_has(options, "signal")) {
    yoke__app_error(
        COMMAND,
        "--signal: ter is a measure of bonds; add nrmse, rmse, max, end, error or roughness");
    return YOKE_EXIT_USAGE;
  }
  return YOKE_EXIT_OK;
}

static int read_tables(comparison* c, const yoke_options* options) {
  int status = YOKE_EXIT_OK;
  for (int i = 0; i < 2 && status == YOKE_EXIT_OK; i++) {
    status = yoke__app_result_read(COMMAND, options->operands[i], &c->arena, &c->tables[i]);
    if (status == YOKE_EXIT_OK && (c->measures & MEASURE_TER) != 0) {
      status = yoke__app_result_read_summary(COMMAND, &c->arena, &c->tables[i]);
    }
  }
  return status;
}

static int print_comparison(const comparison* c) {
  if (c->is_json) {
    return print_json(c);
  }
  if ((c->measures & ALL_MEASURES) != 0) {
    print_table(c);
  }
  if ((c->measures & MEASURE_TER) != 0) {
    yoke__app_ter_print(&c->ter);
  }
  return YOKE_EXIT_OK;
}

static int compare(comparison* c, const yoke_options* options) {
  int status = read_settings(c, options);
  const bool has_signals = (c->measures & ALL_MEASURES) != 0;
  if (status == YOKE_EXIT_OK) {
    status = read_tables(c, options);
  }
  if (status == YOKE_EXIT_OK && (c->measures & MEASURE_TER) != 0) {
    status = yoke__app_ter_compare(COMMAND, c->tables, &c->arena, &c->ter);
  }
  if (status == YOKE_EXIT_OK && has_signals) {
    status = choose_signals(c, options);
  }
  if (status != YOKE_EXIT_OK) {
    return status;
  }

  // signals that cannot be compared do not keep the others from being printed
  if (has_signals) {
    status = measure_signals(c);
    check_limits(c);
  }
  const int printed = print_comparison(c);
  if (status == YOKE_EXIT_OK) {
    status = printed;
  }
  return status == YOKE_EXIT_OK && c->n_exceeded > 0 ? YOKE_EXIT_QUALITY : status;
}

int yoke_cmd_compare(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_compare, argc, argv, &options, &status)) {
    return status;
  }
  comparison c = {0};
  status = compare(&c, &options);
  for (int i = 0; i < 2; i++) {
    yoke__csv_free(&c.tables[i].csv);
  }
  yoke__arena_free(&c.arena);
  yoke__options_free(&options);
  return status;
}
