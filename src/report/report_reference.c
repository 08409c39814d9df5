// A reference beside the curves: the columns that it shares with the result, and the largest difference of each, measured on
// all rows as yoke compare does.
#include <stdlib.h>

#include "base/base_map.h"
#include "quality/quality_measure.h"
#include "report/report_parts.h"

typedef struct shared {
  const yoke_csv *reference, *result;
  yoke_csv table;   // time and the shared columns of the reference
  size_t* columns;  // of the result, one per column of the table
} shared;

// The time, then what both have as numbers.
static yoke_status find_shared(shared* s, yoke_arena* arena) {
  yoke_map names;
  const yoke_csv *from = s->reference, *result = s->result;
  YOKE_TRY(yoke__map_create(result->n_columns, arena, &names));
  for (size_t i = 1; i < result->n_columns; i++) {
    if (!result->columns[i].is_text) {
      yoke__map_add(&names, result->columns[i].name, i);
    }
  }
  s->table.columns = yoke__arena_array(arena, from->n_columns, sizeof *s->table.columns);
  s->columns = yoke__arena_array(arena, from->n_columns, sizeof *s->columns);
  if (s->table.columns == NULL || s->columns == NULL) {
    return YOKE_NO_MEMORY;
  }
  s->table.columns[0] = from->columns[0];
  s->table.n_columns = 1;
  s->table.n_rows = from->n_rows;
  for (size_t i = 1; i < from->n_columns; i++) {
    const size_t own = yoke__map_find(&names, from->columns[i].name);
    if (own != YOKE_NOT_FOUND && !from->columns[i].is_text) {
      s->columns[s->table.n_columns] = own;
      s->table.columns[s->table.n_columns++] = from->columns[i];
    }
  }
  return YOKE_OK;
}

// No difference where the two have no time in common, or one has no numbers.
static yoke_status put_difference(const shared* s, size_t i, yoke_arena* arena, yoke_json* json) {
  yoke_samples result, reference;
  yoke_deviation deviation;
  YOKE_TRY(yoke__samples_of(s->result, s->columns[i], arena, &result));
  YOKE_TRY(yoke__samples_of(&s->table, i, arena, &reference));
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->table.columns[i].name);
  if (yoke__deviation_compute(&result, &reference, &deviation, NULL) >= 0) {
    yoke__json_number(json, "max", deviation.max);
    yoke__json_number(json, "t_max", deviation.t_max);
  }
  yoke__json_end_object(json);
  return YOKE_OK;
}

yoke_status yoke__report_put_reference(const char* path, const yoke_csv* reference,
                                       const yoke_csv* result, size_t n_chars, size_t* n_shared,
                                       yoke_json* json) {
  yoke_arena arena = {0};
  shared s = {.reference = reference, .result = result};
  yoke_status status = find_shared(&s, &arena);
  *n_shared = status < 0 ? 0 : s.table.n_columns - 1;
  if (*n_shared > 0) {
    yoke__json_begin_document(json, "report-reference");
    yoke__json_string(json, "path", path);
    yoke__json_begin_array(json, "signals");
    for (size_t i = 1; status >= 0 && i < s.table.n_columns; i++) {
      status = put_difference(&s, i, &arena, json);
    }
    yoke__json_end_array(json);
    if (status >= 0) {
      status = yoke__report_put_series(&s.table, NULL, n_chars, json);
    }
    yoke__json_end_object(json);
    status = status < 0 ? status : yoke__json_finish(json);
  }
  yoke__arena_free(&arena);
  return status;
}
