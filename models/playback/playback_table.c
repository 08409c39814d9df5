// CSV text -> the table of a playback. Numbers come from the reader of the table; columns of other types are read again from their
// texts, cell by cell, and the first cell that does not fit is named with its line.
#include "models/playback/playback_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_number.h"
#include "base/base_os.h"
#include "models/models_support.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define MAX_FILE_SIZE ((size_t)1 << 30)  // bytes
#define MAX_ITEMS     1000

// ---- settings and the table

// One text, or the fallback if it was not given.
static yoke_status read_text(const yoke_unit_args* args, const char* name, const char* fallback,
                             const char** text, const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, name);
  *text = fallback;
  if (argument != NULL) {
    if (yoke__argument_count(argument) != 1) {
      return yoke__model_refuse(sink, "%s: expected one text, found %zu", name,
                                yoke__argument_count(argument));
    }
    *text = *(const char* const*)argument->value;
  }
  if (*text == NULL || (*text)[0] == '\0') {
    return yoke__model_refuse(sink, "%s is missing: expected the name of a %s", name,
                              strcmp(name, "file") == 0 ? "CSV file" : "column");
  }
  return YOKE_OK;
}

static yoke_status read_settings(const yoke_unit_args* args, playback_table* p,
                                 const yoke_sink* sink) {
  YOKE_TRY(read_text(args, "file", NULL, &p->file, sink));
  YOKE_TRY(read_text(args, "time", "time", &p->time, sink));
  YOKE_TRY(yoke__model_integer(args, "interpolation", INTERPOLATION_LINEAR, INTERPOLATION_LINEAR,
                               INTERPOLATION_HOLD, &p->interpolation, sink));
  YOKE_TRY(yoke__model_integer(args, "end", END_HOLD, END_HOLD, END_REPEAT, &p->end, sink));
  YOKE_TRY(yoke__model_integer(args, "gaps", GAPS_REFUSE, GAPS_REFUSE, GAPS_HOLD, &p->gaps, sink));
  p->columns = yoke__model_argument(args, "columns");
  const yoke_argument* offset = yoke__model_argument(args, "offset");
  if (offset != NULL) {
    if (yoke__argument_count(offset) != 1 || !isfinite(*(const double*)offset->value)) {
      return yoke__model_refuse(sink, "offset: expected one finite number");
    }
    p->offset = *(const double*)offset->value;
  }
  return YOKE_OK;
}

static yoke_status read_table(const yoke_unit_args* args, playback_table* p,
                              const yoke_sink* sink) {
  const bool is_relative =
      p->file[0] != '/' && args->directory != NULL && args->directory[0] != '\0';
  const int n = snprintf(p->path, sizeof p->path, "%s%s%s", is_relative ? args->directory : "",
                         is_relative ? "/" : "", p->file);
  if (n < 0 || (size_t)n >= sizeof p->path) {
    return yoke__model_refuse(sink, "file: the path is too long");
  }
  YOKE_TRY(yoke__os_read_file(p->path, MAX_FILE_SIZE, &p->bytes, &p->n_bytes, sink));
  yoke_context table;
  yoke__context_init(&table, sink, (yoke_place){.source = p->path}, NULL, (double)NAN);
  return yoke__csv_parse(p->bytes, p->n_bytes, &p->csv, &table.sink);
}

static yoke_place place_of_row(const playback_table* p, size_t row) {
  return (yoke_place){p->path, (int)yoke__csv_line(p->bytes, p->n_bytes, &p->csv, row), 0};
}

static bool is_nan(double value) {
  return isnan(value) && !yoke__csv_is_text(value);
}

bool yoke__playback_is_gap(const playback_table* p, size_t index, size_t row) {
  const yoke_csv_column* column = &p->csv.columns[index];
  switch (p->types[index]) {
  case YOKE_STRING:
    return false;
  case YOKE_ENUMERATION:
    return column->texts[row] == NULL;
  default:
    return is_nan(column->values[row]);
  }
}

// The first cell that cannot be played is named with its line.
static yoke_status check_column(const playback_table* p, size_t index, bool has_gaps,
                                const yoke_sink* sink) {
  const yoke_csv_column* column = &p->csv.columns[index];
  size_t n_good = 0;
  for (size_t i = 0; i < p->csv.n_rows; i++) {
    const double value = column->values[i];
    n_good += isfinite(value) ? 1 : 0;
    if (!isfinite(value) && !(has_gaps && is_nan(value))) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, i), "the cell of column '%s' %s%s",
                           column->name,
                           yoke__csv_is_missing(value) ? "is empty" : "is not a finite number",
                           is_nan(value) ? "; with 'gaps: hold' the last value holds"
                           : yoke__csv_is_text(value)
                               ? "; name the column in 'booleans', 'enumerations' or 'strings' "
                                 "if it has other values"
                               : "");
    }
  }
  return n_good > 0 || p->csv.n_rows == 0
             ? YOKE_OK
             : yoke__model_refuse(sink, "%s: column '%s' has no number", p->file, column->name);
}

static yoke_status check_times(playback_table* p, const yoke_sink* sink) {
  p->time_index = yoke__csv_find(&p->csv, p->time);
  if (p->time_index == p->csv.n_columns) {
    return yoke__model_refuse(sink, "%s has no column '%s'; name its time column with 'time'",
                              p->file, p->time);
  }
  if (p->csv.n_rows == 0) {
    return yoke__model_refuse(sink, "%s has no rows", p->file);
  }
  YOKE_TRY(check_column(p, p->time_index, false, sink));
  const double* t = p->csv.columns[p->time_index].values;
  for (size_t i = 1; i < p->csv.n_rows; i++) {
    if (t[i] < t[i - 1]) {
      char now[YOKE_NUMBER_SIZE], before[YOKE_NUMBER_SIZE];
      yoke__number_format(t[i], now);
      yoke__number_format(t[i - 1], before);
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, i),
                           "time %s is before %s of the row before; expected times that increase, "
                           "or repeat for a step",
                           now, before);
    }
  }
  if (p->end == END_REPEAT && !(t[p->csv.n_rows - 1] > t[0])) {
    return yoke__model_refuse(sink, "%s: 'end: repeat' needs two rows or more with different times",
                              p->file);
  }
  return YOKE_OK;
}

// ---- types

typedef struct typed_list {
  const char* setting;
  yoke_type type;
  const char* expected;
} typed_list;

static const typed_list typed_lists[] = {
    {"integers", YOKE_INTEGER, "a whole number"},
    {"booleans", YOKE_BOOLEAN, "true, false, 1 or 0"},
    {"enumerations", YOKE_ENUMERATION, "one of 'items'"},
    {"strings", YOKE_STRING, "a text of at most 4095 bytes"},
};

static const typed_list* list_of(yoke_type type) {
  size_t i = 0;
  while (typed_lists[i].type != type) {
    i++;
  }
  return &typed_lists[i];
}

static yoke_status read_items(const yoke_unit_args* args, playback_table* p,
                              const yoke_sink* sink) {
  const yoke_argument* items = yoke__model_argument(args, "items");
  const bool has_enumerations = yoke__model_argument(args, "enumerations") != NULL;
  const size_t n = items == NULL ? 0 : yoke__argument_count(items);
  if (has_enumerations != (n > 0) || n > MAX_ITEMS) {
    return yoke__model_refuse(
        sink,
        has_enumerations ? "items: expected 1 to %d names, in the order of the inputs that "
                           "'enumerations' feed"
                         : "items: there are no 'enumerations'; at most %d",
        MAX_ITEMS);
  }
  const char* const* names = n == 0 ? NULL : items->value;
  p->items = yoke__arena_array(&p->csv.arena, n + 1, sizeof(void*));
  if (p->items == NULL) {
    return yoke__model_no_memory(sink);
  }
  p->items[n] = NULL;
  for (size_t i = 0; i < n; i++) {
    p->items[i] = yoke__arena_text(&p->csv.arena, names[i], strlen(names[i]));
    if (p->items[i] == NULL) {
      return yoke__model_no_memory(sink);
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(p->items[i], p->items[j]) == 0) {
        return yoke__model_refuse(sink, "items: '%s' is there twice", names[i]);
      }
    }
  }
  p->n_items = n;
  return YOKE_OK;
}

static yoke_status read_types(const yoke_unit_args* args, playback_table* p,
                              const yoke_sink* sink) {
  p->types = calloc(p->csv.n_columns, sizeof *p->types);
  p->cells = calloc(p->csv.n_columns, sizeof *p->cells);
  if (p->types == NULL || p->cells == NULL) {
    return yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < p->csv.n_columns; i++) {
    p->types[i] = YOKE_REAL;
  }
  for (size_t i = 0; i < COUNT(typed_lists); i++) {
    const char* setting = typed_lists[i].setting;
    const yoke_argument* list = yoke__model_argument(args, setting);
    const char* const* names = list == NULL ? NULL : list->value;
    for (size_t k = 0; list != NULL && k < yoke__argument_count(list); k++) {
      const size_t index = yoke__csv_find(&p->csv, names[k]);
      if (index == p->csv.n_columns) {
        return yoke__model_refuse(sink, "%s: %s has no column '%s'", setting, p->file, names[k]);
      }
      if (index == p->time_index || p->types[index] != YOKE_REAL) {
        return yoke__model_refuse(sink, "%s: '%s' is %s%s", setting, names[k],
                                  index == p->time_index ? "the time" : "named before: in ",
                                  index == p->time_index ? "" : list_of(p->types[index])->setting);
      }
      p->types[index] = typed_lists[i].type;
    }
  }
  return read_items(args, p, sink);
}

static bool read_integer(const char* text, int64_t* value) {
  // a whole number with a point or an exponent, as tables of floats have it, exact up to 2^53
  double number = 0;
  if (yoke__number_parse_integer(text, value)) {
    return true;
  }
  if (!yoke__number_parse(text, &number) || !(fabs(number) <= 9007199254740992.0) ||
      number != floor(number)) {
    return false;
  }
  *value = (int64_t)number;
  return true;
}

static bool read_boolean(const char* text, int64_t* value) {
  static const char* const words[] = {"false", "true", "False", "True", "FALSE", "TRUE", "0", "1"};
  for (size_t i = 0; i < COUNT(words); i++) {
    if (strcmp(text, words[i]) == 0) {
      *value = (int64_t)(i % 2);
      return true;
    }
  }
  return false;
}

static bool read_item(const playback_table* p, const char* text, int64_t* value) {
  for (size_t i = 0; i < p->n_items; i++) {
    if (strcmp(text, p->items[i]) == 0) {
      *value = (int64_t)i;
      return true;
    }
  }
  return false;
}

// The first cell that does not fit the type of its column.
static yoke_status refuse_cell(const playback_table* p, size_t index, size_t row,
                               const yoke_sink* sink) {
  const yoke_csv_column* column = &p->csv.columns[index];
  const typed_list* list = list_of(p->types[index]);
  char items[200] = "";
  size_t used = 0;
  for (size_t i = 0; list->type == YOKE_ENUMERATION && i < p->n_items && used < sizeof items; i++) {
    const int n =
        snprintf(items + used, sizeof items - used, "%s%s", i == 0 ? ": " : ", ", p->items[i]);
    used += n < 0 ? 0 : (size_t)n;
  }
  return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, row),
                       "the cell of column '%s' is '%.60s'; expected %s%s, since '%s' names the "
                       "column",
                       column->name, column->texts[row], list->expected, items, list->setting);
}

// The cells of a column that is not real; those of gaps are left zero. The first that does not fit is named with its line.
static yoke_status read_cells(playback_table* p, size_t index, const yoke_sink* sink) {
  const yoke_csv_column* column = &p->csv.columns[index];
  const yoke_type type = p->types[index];
  const bool is_string = type == YOKE_STRING;
  int64_t* wholes =
      is_string ? NULL : yoke__arena_array(&p->csv.arena, p->csv.n_rows, sizeof *wholes);
  const char** texts =
      is_string ? yoke__arena_array(&p->csv.arena, p->csv.n_rows, sizeof(void*)) : NULL;
  size_t n_good = 0;
  if (wholes == NULL && texts == NULL) {
    return yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < p->csv.n_rows; i++) {
    const char* text = column->texts[i] == NULL ? "" : column->texts[i];
    if (yoke__playback_is_gap(p, index, i) && p->gaps == GAPS_HOLD) {
      continue;
    }
    if (column->texts[i] == NULL && !is_string) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, i),
                           "the cell of column '%s' is empty; with 'gaps: hold' the last value "
                           "holds",
                           column->name);
    }
    bool is_good = true;
    if (is_string) {
      is_good = strlen(text) < PLAYBACK_MAX_TEXT;
      texts[i] = text;
    } else {
      is_good = type == YOKE_INTEGER   ? read_integer(text, &wholes[i])
                : type == YOKE_BOOLEAN ? read_boolean(text, &wholes[i])
                                       : read_item(p, text, &wholes[i]);
    }
    if (!is_good) {
      return refuse_cell(p, index, i, sink);
    }
    n_good++;
  }
  p->cells[index] = is_string ? (void*)texts : (void*)wholes;
  return n_good > 0
             ? YOKE_OK
             : yoke__model_refuse(sink, "%s: column '%s' has no value", p->file, column->name);
}

// Those columns that play and are not real; one that does not play is a mistake.
static yoke_status read_typed(playback_table* p, const yoke_sink* sink) {
  bool* wanted = calloc(p->csv.n_columns, sizeof *wanted);
  if (wanted == NULL) {
    return yoke__model_no_memory(sink);
  }
  bool is_any = false;
  for (size_t i = 0; i < p->n_chosen; i++) {
    wanted[p->chosen[i]] = p->types[p->chosen[i]] != YOKE_REAL;
    is_any |= wanted[p->chosen[i]];
  }
  yoke_status status = YOKE_OK;
  if (is_any && yoke__csv_keep_texts(p->bytes, p->n_bytes, wanted, &p->csv) < 0) {
    status = yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < p->csv.n_columns && status >= 0; i++) {
    if (wanted[i]) {
      status = read_cells(p, i, sink);
    } else if (p->types[i] != YOKE_REAL) {
      status = yoke__model_refuse(sink, "'%s' is in '%s', but not in 'columns'",
                                  p->csv.columns[i].name, list_of(p->types[i])->setting);
    }
  }
  free(wanted);
  return status;
}

// ---- choice of columns

// A column plays by default if its first cell is a number; then a bad cell below is an error, and
// not a reason to leave the column out silently.
static bool is_played_by_default(const playback_table* p, size_t index) {
  const yoke_csv_column* column = &p->csv.columns[index];
  if (p->types[index] != YOKE_REAL) {
    return true;
  }
  return index != p->time_index && column->name[0] != '\0' && column->n_missing < p->csv.n_rows &&
         (!column->is_text || isfinite(column->values[0]));
}

static yoke_status choose_columns(playback_table* p, const yoke_sink* sink) {
  const size_t room = p->columns != NULL ? yoke__argument_count(p->columns) : p->csv.n_columns;
  p->chosen = calloc(room + 1, sizeof *p->chosen);
  if (p->chosen == NULL) {
    return yoke__model_no_memory(sink);
  }
  const char* const* names = p->columns != NULL ? p->columns->value : NULL;
  for (size_t i = 0; i < room; i++) {
    const size_t index = names != NULL ? yoke__csv_find(&p->csv, names[i]) : i;
    if (names != NULL && index == p->csv.n_columns) {
      return yoke__model_refuse(sink, "%s has no column '%s'", p->file, names[i]);
    }
    if (names != NULL || is_played_by_default(p, index)) {
      if (p->types[index] == YOKE_REAL) {
        YOKE_TRY(check_column(p, index, p->gaps == GAPS_HOLD, sink));
      }
      p->chosen[p->n_chosen++] = index;
    }
  }
  if (p->n_chosen == 0) {
    return yoke__model_refuse(sink,
                              "%s has no column with numbers besides '%s'; name columns of other "
                              "values in 'booleans', 'enumerations' or 'strings'",
                              p->file, p->time);
  }
  return YOKE_OK;
}

static int compare_texts(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// Outputs need names of their own: sorted, equal ones are neighbours.
static yoke_status check_unique(const playback_table* p, const yoke_sink* sink) {
  const char** names = malloc(p->n_chosen * sizeof *names);
  if (names == NULL) {
    return yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < p->n_chosen; i++) {
    names[i] = p->csv.columns[p->chosen[i]].name;
  }
  qsort(names, p->n_chosen, sizeof *names, compare_texts);
  yoke_status status = YOKE_OK;
  for (size_t i = 1; i < p->n_chosen && status == YOKE_OK; i++) {
    if (strcmp(names[i - 1], names[i]) == 0) {
      status = yoke__model_refuse(sink, "%s: column '%s' is there twice", p->file, names[i]);
    }
  }
  free((void*)names);
  return status;
}

yoke_status yoke__playback_read(const yoke_unit_args* args, playback_table* p,
                                const yoke_sink* sink) {
  YOKE_TRY(read_settings(args, p, sink));
  YOKE_TRY(read_table(args, p, sink));
  YOKE_TRY(check_times(p, sink));
  YOKE_TRY(read_types(args, p, sink));
  YOKE_TRY(choose_columns(p, sink));
  YOKE_TRY(read_typed(p, sink));
  return check_unique(p, sink);
}

void yoke__playback_free(playback_table* p) {
  free(p->chosen);
  free(p->types);
  free((void*)p->cells);
  free(p->bytes);
  yoke__csv_free(&p->csv);
}
