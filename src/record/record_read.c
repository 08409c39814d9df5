// Result files back to columns.
#include "record/record_read.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_hdf5.h"

// bytes; memory ends earlier on most machines
#if SIZE_MAX > UINT32_MAX
#define MAX_FILE_SIZE ((size_t)16 << 30)
#else
#define MAX_FILE_SIZE (SIZE_MAX / 2)
#endif

static bool has_ending(const char* path, const char* ending) {
  const size_t n = strlen(path), n_ending = strlen(ending);
  return n >= n_ending && strcmp(path + n - n_ending, ending) == 0;
}

static bool is_gap(const yoke_csv* table, size_t row) {
  for (size_t i = 1; i < table->n_columns; i++) {
    if (!yoke__csv_is_missing(table->columns[i].values[row])) {
      return false;
    }
  }
  return table->n_columns > 1;
}

// Takes the marks of lost rows out, in place.
static void drop_gaps(yoke_csv* table) {
  size_t n_kept = 0;
  for (size_t row = 0; row < table->n_rows; row++) {
    const bool is_dropped = is_gap(table, row);
    for (size_t i = 0; i < table->n_columns; i++) {
      yoke_csv_column* column = &table->columns[i];
      column->values[n_kept] = column->values[row];
      column->n_missing -= is_dropped && i > 0;
    }
    n_kept += !is_dropped;
  }
  table->n_rows = n_kept;
}

static yoke_status check_time(const yoke_csv* table, const yoke_sink* sink) {
  const yoke_csv_column* time = &table->columns[0];
  if (strcmp(time->name, "time") != 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the first column is not called time");
  }
  if (time->is_text || time->n_missing > 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "column time has cells that are no numbers");
  }
  return YOKE_OK;
}

static yoke_status read_csv(const char* path, yoke_csv* out, const yoke_sink* sink) {
  char* bytes = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__os_read_file_as(path, "the file", MAX_FILE_SIZE, &bytes, &n, sink));
  const yoke_status status = yoke__csv_parse(bytes, n, out, sink);
  free(bytes);
  YOKE_TRY(status);
  drop_gaps(out);
  return YOKE_OK;
}

static yoke_status read_any(const char* path, yoke_csv* out, const yoke_sink* sink) {
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){.source = path}, NULL, (double)NAN);
  if (has_ending(path, ".mat")) {
    return yoke_fail(&about.sink, YOKE_NO_SUPPORT,
                     "MAT files are written, but not read; use --format csv or hdf5");
  }
  YOKE_TRY(has_ending(path, ".h5") ? yoke__record_hdf5_read(path, out, &about.sink)
                                   : read_csv(path, out, &about.sink));
  const yoke_status status = check_time(out, &about.sink);
  if (status < 0) {
    yoke__csv_free(out);
  }
  return status;
}

yoke_status yoke__record_read(const char* path, yoke_csv* out, const yoke_sink* sink) {
  memset(out, 0, sizeof *out);
  static const char* const files[] = {"results.csv", "results.h5"};
  const size_t size = strlen(path) + 16;
  char* inside = malloc(size);
  YOKE_TRY_MEMORY(inside);

  // a folder: the first of its result files
  const char* chosen = path;
  for (size_t i = 0; chosen == path && i < sizeof files / sizeof files[0]; i++) {
    yoke__os_path_join(path, files[i], inside, size);
    chosen = yoke__os_is_file(inside) ? inside : path;
  }
  const yoke_status status = chosen == path && yoke__os_is_directory(path)
                                 ? yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){.source = path},
                                                 "the folder holds no results.csv or results.h5")
                                 : read_any(chosen, out, sink);
  free(inside);
  return status;
}
