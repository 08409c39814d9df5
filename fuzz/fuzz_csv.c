// Any bytes through the CSV reader: no crash, no read beyond the input, and what it accepts is
// consistent.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_csv.h"
#include "base/base_message.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

// A cell has no text, or an empty one, exactly where it has no value.
static void check_texts(const yoke_csv* table) {
  for (size_t i = 0; i < table->n_columns; i++) {
    const yoke_csv_column* column = &table->columns[i];
    if ((column->texts != NULL) != (i % 2 == 0)) {
      abort();
    }
    for (size_t row = 0; column->texts != NULL && row < table->n_rows; row++) {
      const char* text = column->texts[row];
      const bool is_empty = text == NULL || text[0] == '\0';
      if (is_empty != yoke__csv_is_missing(column->values[row])) {
        abort();
      }
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_csv table;
  const yoke_status status = yoke__csv_parse((const char*)bytes, n, &table, &err.sink);
  if (status < 0) {
    if (err.text[0] == '\0' || table.columns != NULL) {
      abort();
    }
    return 0;
  }

  // every cell is there as a text, too
  bool* wanted = calloc(table.n_columns, sizeof *wanted);
  if (wanted == NULL) {
    abort();
  }
  for (size_t i = 0; i < table.n_columns; i++) {
    wanted[i] = i % 2 == 0;
  }
  if (yoke__csv_keep_texts((const char*)bytes, n, wanted, &table) < 0) {
    abort();
  }
  free(wanted);
  check_texts(&table);
  size_t line = 1;
  for (size_t row = 0; row < table.n_rows && row < 100; row++) {
    const size_t next = yoke__csv_line((const char*)bytes, n, &table, row);
    if (next <= line) {
      abort();
    }
    line = next;
  }

  // every value is readable, and the counts of missing cells agree with the marks
  for (size_t i = 0; i < table.n_columns; i++) {
    const yoke_csv_column* column = &table.columns[i];
    size_t n_missing = 0;
    for (size_t row = 0; row < table.n_rows; row++) {
      n_missing += yoke__csv_is_missing(column->values[row]);
    }
    if (n_missing != column->n_missing || yoke__csv_find(&table, column->name) > i) {
      abort();
    }
  }
  yoke__csv_free(&table);
  return 0;
}
