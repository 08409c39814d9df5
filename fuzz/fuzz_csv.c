// Any bytes through the CSV reader: no crash, no read beyond the input, and what it accepts is
// consistent.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_csv.h"
#include "base/base_message.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

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
