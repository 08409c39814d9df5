// Recorded data for a twin: a CSV file of `yoke run` or of anybody else, HDF5, or a folder with results.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "record/record_read.h"
#include "study/study_twin.h"

#define MAX_FILE   ((size_t)4 << 30)  // bytes
#define MAX_LISTED 12                 // columns in a message
#define JUMP       4.0                // times the steepest stretch around it
#define GAP        1.5                // times the longest interval around it
#define SENSOR     "sensor."

typedef struct reading {
  const yoke_scenario* scenario;
  const char* twin;
  yoke_arena* arena;
  yoke_twin_data* data;
  const yoke_sink* sink;
  bool has_lines;  // rows are lines of a text
  size_t n_errors;
} reading;

// ---- the file

static bool has_ending(const char* path, const char* ending) {
  const size_t n = strlen(path), n_ending = strlen(ending);
  return n >= n_ending && strcmp(path + n - n_ending, ending) == 0;
}

static yoke_status read_csv(reading* r) {
  char* bytes = NULL;
  size_t n = 0;
  yoke_context about;
  yoke__context_init(&about, r->sink, (yoke_place){.source = r->data->path}, NULL, (double)NAN);
  YOKE_TRY(yoke__os_read_file_as(r->data->path, "the file", MAX_FILE, &bytes, &n, &about.sink));
  const yoke_status status = yoke__csv_parse(bytes, n, &r->data->csv, &about.sink);
  free(bytes);
  r->has_lines = true;
  return status;
}

static yoke_status read_file(reading* r) {
  const char* path = r->data->path;
  if (!yoke__os_is_directory(path) && !has_ending(path, ".h5") && !has_ending(path, ".mat")) {
    return read_csv(r);
  }
  return yoke__record_read(path, &r->data->csv, r->sink);
}

// Line breaks inside cells would shift the lines.
static yoke_place place_of(const reading* r, size_t row) {
  return (yoke_place){r->data->path, r->has_lines ? (int)row + 2 : 0, 0};
}

static yoke_status check_times(reading* r) {
  yoke_twin_data* d = r->data;
  const yoke_place file = {d->path, 0, 0};
  const size_t index = yoke__csv_find(&d->csv, "time");
  if (index == d->csv.n_columns) {
    return yoke__fail_at(r->sink, YOKE_BAD_INPUT, file,
                         "there is no column 'time' with the time in seconds; the first column is "
                         "'%.80s'",
                         d->csv.n_columns == 0 ? "" : d->csv.columns[0].name);
  }
  if (d->csv.n_rows < 2) {
    return yoke__fail_at(r->sink, YOKE_BAD_INPUT, file, "expected two rows or more, found %zu",
                         d->csv.n_rows);
  }
  d->t = d->csv.columns[index].values;
  d->n_rows = d->csv.n_rows;
  for (size_t i = 0; i < d->n_rows; i++) {
    if (!isfinite(d->t[i])) {
      return yoke__fail_at(r->sink, YOKE_BAD_INPUT, place_of(r, i), "the cell of column 'time' %s",
                           yoke__csv_is_missing(d->t[i]) ? "is empty" : "is not a finite number");
    }
    if (i > 0 && d->t[i] <= d->t[i - 1]) {
      return yoke__fail_at(r->sink, YOKE_BAD_INPUT, place_of(r, i),
                           "time %.17g is not greater than %.17g of the line before", d->t[i],
                           d->t[i - 1]);
    }
  }
  return YOKE_OK;
}

static int compare_numbers(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static yoke_status find_interval(yoke_twin_data* d) {
  const size_t n = d->n_rows - 1;
  double* distances = malloc(n * sizeof *distances);
  YOKE_TRY_MEMORY(distances);
  for (size_t i = 0; i < n; i++) {
    distances[i] = d->t[i + 1] - d->t[i];
  }
  qsort(distances, n, sizeof *distances, compare_numbers);
  d->interval = distances[n / 2];
  free(distances);
  return YOKE_OK;
}

// ---- columns

static bool is_to_twin(const reading* r, const yoke_scenario_connection* c) {
  return c->to.unit != NULL && c->from.unit != NULL && strcmp(c->to.unit, r->twin) == 0 &&
         strcmp(c->from.unit, r->twin) != 0;
}

static bool is_same_source(const yoke_twin_column* column, const yoke_scenario_endpoint* from) {
  return strcmp(column->unit, from->unit) == 0 && strcmp(column->variable, from->variable) == 0;
}

// What the connections ask for, each once.
static yoke_status list_columns(reading* r) {
  yoke_twin_data* d = r->data;
  const yoke_scenario* s = r->scenario;
  d->columns = yoke__arena_array(r->arena, s->n_connections + 1, sizeof *d->columns);
  YOKE_TRY_MEMORY(d->columns);
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (!is_to_twin(r, c)) {
      continue;
    }
    size_t at = 0;
    while (at < d->n_columns && !is_same_source(&d->columns[at], &c->from)) {
      at++;
    }
    if (at == d->n_columns) {
      d->columns[d->n_columns++] =
          (yoke_twin_column){.unit = c->from.unit, .variable = c->from.variable};
    }
    yoke_twin_column* column = &d->columns[at];
    column->is_sensor = column->is_sensor || strncmp(c->to.variable, SENSOR, strlen(SENSOR)) == 0;
  }
  return YOKE_OK;
}

static bool is_only_one(const yoke_twin_data* d, const char* variable) {
  size_t n = 0;
  for (size_t i = 0; i < d->n_columns; i++) {
    n += strcmp(d->columns[i].variable, variable) == 0;
  }
  return n == 1;
}

// "; did you mean 'rig.t1'? Columns: rig.t1, rig.t2, ..."
static void report_missing(reading* r, const char* name) {
  const yoke_csv* csv = &r->data->csv;
  char hint[YOKE_NEAREST_SIZE] = "", list[700] = "";
  const char** names = calloc(csv->n_columns + 1, sizeof *names);
  size_t n = 0, used = 0;
  for (size_t i = 0; names != NULL && i < csv->n_columns; i++) {
    if (strcmp(csv->columns[i].name, "time") != 0) {
      names[n++] = csv->columns[i].name;
    }
  }
  if (names != NULL) {
    yoke__nearest_hint(name, names, n, hint);
  }
  for (size_t i = 0; names != NULL && i < n && i < MAX_LISTED && used < sizeof list; i++) {
    used +=
        (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", i > 0 ? ", " : "", names[i]);
  }
  free((void*)names);
  yoke__fail_at(r->sink, YOKE_BAD_INPUT, (yoke_place){r->data->path, 0, 0},
                "there is no column '%.200s'%s%s the columns are time%s%s%s", name, hint,
                hint[0] == '\0' ? ";" : "", n > 0 ? ", " : "", list, n > MAX_LISTED ? ", ..." : "");
  r->n_errors++;
}

// A result of one element is written without its index.
static size_t find_name(const yoke_csv* csv, const char* name) {
  static const char first[] = "[0]";
  const size_t size = strlen(name), cut = size - (sizeof first - 1);
  char bare[256];
  const size_t index = yoke__csv_find(csv, name);
  if (index < csv->n_columns || size < sizeof first || cut >= sizeof bare ||
      strcmp(name + cut, first) != 0) {
    return index;
  }
  memcpy(bare, name, cut);
  bare[cut] = '\0';
  return yoke__csv_find(csv, bare);
}

// The column 'U.V', or 'V' where no other source is called so.
static size_t find_column(reading* r, const yoke_twin_column* column) {
  const yoke_csv* csv = &r->data->csv;
  const size_t size = strlen(column->unit) + strlen(column->variable) + 2;
  char* name = yoke__arena_take(r->arena, size);
  if (name == NULL) {
    r->n_errors++;
    return csv->n_columns;
  }
  snprintf(name, size, "%s.%s", column->unit, column->variable);
  size_t index = find_name(csv, name);
  if (index == csv->n_columns && is_only_one(r->data, column->variable)) {
    index = find_name(csv, column->variable);
  }
  if (index == csv->n_columns) {
    report_missing(r, name);
  }
  return index;
}

// Two columns of one name: which one is meant?
static yoke_status refuse_twice(const reading* r, size_t index) {
  const yoke_csv* csv = &r->data->csv;
  for (size_t i = index + 1; i < csv->n_columns; i++) {
    if (strcmp(csv->columns[i].name, csv->columns[index].name) == 0) {
      return yoke__fail_at(r->sink, YOKE_BAD_INPUT, (yoke_place){r->data->path, 1, 0},
                           "columns %zu and %zu are both called '%.200s'", index + 1, i + 1,
                           csv->columns[index].name);
    }
  }
  return YOKE_OK;
}

static void note_gap(yoke_twin_column* column, size_t n) {
  column->n_gaps += n > 0;
  column->n_missing += n;
  column->longest_gap = n > column->longest_gap ? n : column->longest_gap;
}

static yoke_status fill_column(reading* r, yoke_twin_column* column, size_t index) {
  const yoke_twin_data* d = r->data;
  const double* values = d->csv.columns[index].values;
  column->name = d->csv.columns[index].name;
  column->t = yoke__arena_array(r->arena, d->n_rows, sizeof *column->t);
  column->y = yoke__arena_array(r->arena, d->n_rows, sizeof *column->y);
  YOKE_TRY_MEMORY(column->t && column->y);
  if (refuse_twice(r, index) < 0) {
    r->n_errors++;
    return YOKE_BAD_INPUT;
  }
  size_t gap = 0;
  for (size_t i = 0; i < d->n_rows; i++) {
    if (yoke__csv_is_text(values[i]) || isinf(values[i])) {
      r->n_errors++;
      return yoke__fail_at(r->sink, YOKE_BAD_INPUT, place_of(r, i),
                           "the cell of column '%.200s' is not a finite number", column->name);
    }
    if (isnan(values[i])) {
      gap++;
      continue;
    }
    note_gap(column, gap);
    gap = 0;
    column->t[column->n] = d->t[i];
    column->y[column->n++] = values[i];
  }
  note_gap(column, gap);
  if (column->n == 0) {
    r->n_errors++;
    return yoke__fail_at(r->sink, YOKE_BAD_INPUT, (yoke_place){d->path, 0, 0},
                         "column '%.200s' has no values", column->name);
  }
  return YOKE_OK;
}

static yoke_status read_columns(reading* r) {
  YOKE_TRY(list_columns(r));
  for (size_t i = 0; i < r->data->n_columns; i++) {
    const size_t index = find_column(r, &r->data->columns[i]);
    if (index < r->data->csv.n_columns) {
      const yoke_status status = fill_column(r, &r->data->columns[i], index);
      if (status < 0 && status != YOKE_BAD_INPUT) {
        return status;
      }
    }
  }
  return r->n_errors > 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

yoke_status yoke__twin_data_read(const char* path, const yoke_scenario* s, const char* twin,
                                 yoke_arena* arena, yoke_twin_data* out, const yoke_sink* sink) {
  *out = (yoke_twin_data){.path = path};
  reading r = {.scenario = s, .twin = twin, .arena = arena, .data = out, .sink = sink};
  yoke_status status = read_file(&r);
  status = status < 0 ? status : check_times(&r);
  status = status < 0 ? status : find_interval(out);
  status = status < 0 ? status : read_columns(&r);
  if (status < 0) {
    yoke__twin_data_free(out);
  }
  return status;
}

void yoke__twin_data_free(yoke_twin_data* data) {
  yoke__csv_free(&data->csv);
  *data = (yoke_twin_data){0};
}

// ---- values

// The last value that is not after t; 0 before the first.
static size_t find_row(const yoke_twin_column* c, double t) {
  size_t low = 0, high = c->n;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (c->t[middle] <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// per second, behind a row
static double rate_behind(const yoke_twin_column* c, size_t row) {
  return (c->y[row + 1] - c->y[row]) / (c->t[row + 1] - c->t[row]);
}

// How fast an input goes to the next row. At a jump, much steeper than all around it, it goes on as before, as in the twin
// (unit/twin/twin_inputs.c); across a gap straight.
static double find_rate(const yoke_twin_column* c, size_t row) {
  const double rate = rate_behind(c, row), interval = c->t[row + 1] - c->t[row];
  double largest = 0, longest = 0, before[2] = {0, 0};
  for (size_t k = 1; k <= 2; k++) {
    if (row >= k) {
      before[k - 1] = rate_behind(c, row - k);
      largest = fmax(largest, fabs(before[k - 1]));
      longest = fmax(longest, c->t[row - k + 1] - c->t[row - k]);
    }
    if (row + k + 1 < c->n) {
      largest = fmax(largest, fabs(rate_behind(c, row + k)));
      longest = fmax(longest, c->t[row + k + 1] - c->t[row + k]);
    }
  }
  if (!(fabs(rate) > JUMP * largest) || interval > GAP * longest) {
    return rate;
  }
  const double least = fabs(before[0]) < fabs(before[1]) ? before[0] : before[1];
  return before[0] * before[1] > 0 ? least : 0;
}

double yoke__twin_data_value(const yoke_twin_column* c, double t, size_t* count) {
  // t0 + k h misses a row by its rounding
  const double at = t + 1e-9 * (c->t[c->n - 1] - c->t[0]) / (double)c->n;
  const size_t row = find_row(c, at);
  if (count != NULL) {
    *count = at >= c->t[0] ? row + 1 : 0;
  }
  if (c->is_sensor || row + 1 == c->n || t <= c->t[row]) {
    return c->y[row];
  }
  return c->y[row] + find_rate(c, row) * (t - c->t[row]);
}
