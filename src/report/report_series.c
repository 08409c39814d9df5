// The recorded signals for the page: all rows if they fit, else classes of rows (report_decimate.c). Numbers travel as
// base 64 of doubles, so that what the cursor reads is what the result file says.
//
//   all rows      edges = time of every row         v = one value per row
//   decimated     edges = start of every class,     v = two values per class, p = their places in it
//                 then the last time
//   constant      v = one value
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "report/report_parts.h"

#define MIN_CLASSES     150u
#define MAX_GAPS        1000u
#define CHARS_PER_BYTE  (4.0 / 3.0)
#define CHARS_PER_NAME  260.0  // JSON around the numbers of a signal
#define BYTES_PER_CLASS 20u    // of one signal: two values, two places

typedef struct series {
  const yoke_csv* table;
  const json_t* columns;  // as the summary describes them
  size_t n_classes;       // 0: every row
  double* values;         // work
  uint16_t* places;
} series;

static bool is_constant(const yoke_csv_column* column, size_t n_rows) {
  for (size_t i = 0; i < n_rows; i++) {
    if (!yoke__is_finite(column->values[i]) || column->values[i] != column->values[0]) {
      return false;
    }
  }
  return n_rows > 0;
}

static void put_encoded(yoke_json* json, const char* key, char* text) {
  if (text == NULL) {
    json->text.status = json->text.status < 0 ? json->text.status : YOKE_NO_MEMORY;
    return;
  }
  yoke__json_string(json, key, text);
  free(text);
}

// the column as the summary describes it; columns of the file stand in the same order unless a format moved them
static const json_t* describe(const json_t* columns, const char* name, size_t i) {
  const json_t* column = json_array_get(columns, i - 1);
  return strcmp(yoke__json_find_text(column, "name", ""), name) == 0
             ? column
             : yoke__json_find_named(columns, name, strlen(name));
}

static void put_description(const json_t* column, yoke_json* json) {
  json_t* items = json_object_get(column, "items");
  yoke__json_string(json, "dim", yoke__json_find_text(column, "dimension", ""));
  yoke__json_boolean(json, "is_step", json_is_false(json_object_get(column, "real")));
  if (items != NULL) {
    yoke__json_value(json, "items", items);
  }
}

static void put_range(const double t[], const double v[], size_t n, yoke_json* json) {
  size_t low = n, high = n, n_bad = 0;
  for (size_t i = 0; i < n; i++) {
    if (!yoke__is_finite(v[i])) {
      n_bad++;
      continue;
    }
    low = low == n || v[i] < v[low] ? i : low;
    high = high == n || v[i] > v[high] ? i : high;
  }
  if (low < n) {
    yoke__json_number(json, "min", v[low]);
    yoke__json_number(json, "t_min", t[low]);
    yoke__json_number(json, "max", v[high]);
    yoke__json_number(json, "t_max", t[high]);
  }
  yoke__json_integer(json, "n_bad", (int64_t)n_bad);
}

static void put_column(const series* s, size_t i, yoke_json* json) {
  const yoke_csv_column* column = &s->table->columns[i];
  const double* t = s->table->columns[0].values;
  const size_t n = s->table->n_rows;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", column->name);
  put_description(describe(s->columns, column->name, i), json);
  put_range(t, column->values, n, json);
  if (is_constant(column, n)) {
    put_encoded(json, "v", yoke__report_encode_doubles(column->values, 1));
  } else if (s->n_classes == 0) {
    put_encoded(json, "v", yoke__report_encode_doubles(column->values, n));
  } else {
    yoke__report_decimate(t, column->values, n, s->n_classes, s->values, s->places);
    put_encoded(json, "v", yoke__report_encode_doubles(s->values, 2 * s->n_classes));
    put_encoded(json, "p", yoke__report_encode_shorts(s->places, 2 * s->n_classes));
  }
  yoke__json_end_object(json);
}

static void put_edges(const series* s, yoke_json* json) {
  const double* t = s->table->columns[0].values;
  const size_t n = s->table->n_rows;
  if (s->n_classes == 0) {
    put_encoded(json, "edges", yoke__report_encode_doubles(t, n));
    return;
  }
  for (size_t k = 0; k < s->n_classes; k++) {
    s->values[k] = t[yoke__report_class_start(n, s->n_classes, k)];
  }
  s->values[s->n_classes] = t[n - 1];
  put_encoded(json, "edges", yoke__report_encode_doubles(s->values, s->n_classes + 1));
}

// Where a paced run lost rows the time jumps: pairs of the last time before and the first behind.
static void put_gaps(const double t[], size_t n, double n_lost, yoke_json* json) {
  double step = (double)INFINITY;
  for (size_t i = 1; i < n; i++) {
    const double h = t[i] - t[i - 1];
    step = h > 0 && h < step ? h : step;
  }
  size_t n_gaps = 0;
  yoke__json_begin_array(json, "gaps");
  for (size_t i = 1; n_lost > 0 && i < n && n_gaps < MAX_GAPS; i++) {
    if (t[i] - t[i - 1] > 1.5 * step) {
      yoke__json_number(json, NULL, t[i - 1]);
      yoke__json_number(json, NULL, t[i]);
      n_gaps++;
    }
  }
  yoke__json_end_array(json);
}

// All rows if they fit, else as many classes as do.
static size_t choose_classes(const yoke_csv* table, size_t n_chars) {
  double n_varying = 0, n_signals = 0;
  for (size_t i = 1; i < table->n_columns; i++) {
    n_signals += !table->columns[i].is_text;
    n_varying += !table->columns[i].is_text && !is_constant(&table->columns[i], table->n_rows);
  }
  const double room = ((double)n_chars - CHARS_PER_NAME * n_signals) / CHARS_PER_BYTE;
  if ((double)table->n_rows * 8 * (n_varying + 1) <= room || table->n_rows <= MIN_CLASSES) {
    return 0;
  }
  const double n = floor(room / (BYTES_PER_CLASS * n_varying + 8));
  const size_t n_classes = n < MIN_CLASSES ? MIN_CLASSES : (size_t)n;
  // all rows where they take no more than the classes
  return n_classes * BYTES_PER_CLASS < table->n_rows * 8 ? n_classes : 0;
}

static void put_columns(const series* s, yoke_json* json) {
  yoke__json_begin_array(json, "columns");
  for (size_t i = 1; i < s->table->n_columns; i++) {
    if (!s->table->columns[i].is_text) {
      put_column(s, i, json);
    }
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "skipped");
  for (size_t i = 1; i < s->table->n_columns; i++) {
    if (s->table->columns[i].is_text) {
      yoke__json_string(json, NULL, s->table->columns[i].name);
    }
  }
  yoke__json_end_array(json);
}

yoke_status yoke__report_put_series(const yoke_csv* table, const json_t* summary, size_t n_chars,
                                    yoke_json* json) {
  series s = {.table = table,
              .columns = json_object_get(summary, "columns"),
              .n_classes = choose_classes(table, n_chars)};
  s.values = malloc((2 * s.n_classes + 2) * sizeof *s.values);
  s.places = malloc((2 * s.n_classes + 2) * sizeof *s.places);
  yoke_status status = YOKE_NO_MEMORY;
  if (s.values != NULL && s.places != NULL) {
    yoke__json_integer(json, "n_rows", (int64_t)table->n_rows);
    yoke__json_integer(json, "n_classes", (int64_t)s.n_classes);
    const json_t* recorded = json_object_get(summary, "recorded");
    put_gaps(table->columns[0].values, table->n_rows, yoke__json_find_number(recorded, "lost", 0),
             json);
    put_edges(&s, json);
    put_columns(&s, json);
    status = json->text.status;
  }
  free(s.values);
  free(s.places);
  return status;
}
