// Results as named columns.
#include <stdlib.h>

#include "record/record_read.h"
#include "yoke/yoke.h"

struct yoke_result {
  yoke_csv table;
};

yoke_status yoke_result_open(const char* path, const yoke_sink* sink, yoke_result** out) {
  if (out != NULL) {
    *out = NULL;
  }
  if (path == NULL || out == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  yoke_result* result = calloc(1, sizeof *result);
  if (result == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  const yoke_status status = yoke__record_read(path, &result->table, sink);
  if (status < 0) {
    free(result);
    return status;
  }
  *out = result;
  return YOKE_OK;
}

void yoke_result_close(yoke_result** result) {
  if (result != NULL && *result != NULL) {
    yoke__csv_free(&(*result)->table);
    free(*result);
    *result = NULL;
  }
}

size_t yoke_result_n_rows(const yoke_result* result) {
  return result == NULL ? 0 : result->table.n_rows;
}

size_t yoke_result_n_columns(const yoke_result* result) {
  return result == NULL ? 0 : result->table.n_columns;
}

yoke_status yoke_result_get(const yoke_result* result, size_t i, yoke_result_column* out) {
  if (result == NULL || out == NULL || i >= result->table.n_columns) {
    return YOKE_BAD_ARG;
  }
  const yoke_csv_column* column = &result->table.columns[i];
  *out = (yoke_result_column){column->name, column->values, column->is_text};
  return YOKE_OK;
}

yoke_status yoke_result_find(const yoke_result* result, const char* name, size_t* i) {
  if (result == NULL || name == NULL || i == NULL) {
    return YOKE_BAD_ARG;
  }
  const size_t found = yoke__csv_find(&result->table, name);
  if (found == result->table.n_columns) {
    return YOKE_NO_SUCH_NAME;
  }
  *i = found;
  return YOKE_OK;
}
