// Results read back.
#include "study/study_recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_json_read.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_read.h"

#define FIRST_SIGNAL 1  // column 0 is the time

static const char* summary_file(const char* path, yoke_arena* arena) {
  size_t n = strlen(path);
  if (!yoke__os_is_directory(path)) {
    const char* slash = strrchr(path, '/');
    const char* file = slash == NULL ? path : slash + 1;
    n = (size_t)(file - path);
    if (strcmp(file, "results.csv") != 0 && strcmp(file, "results.h5") != 0) {
      return NULL;
    }
  }
  const char* folder = n == 0 ? "." : yoke__arena_text(arena, path, n);
  const size_t size = n + sizeof "./" YOKE_SUMMARY_FILE + 1;
  char* file = yoke__arena_take(arena, size);
  if (folder == NULL || file == NULL) {
    return NULL;
  }
  yoke__os_path_join(folder, YOKE_SUMMARY_FILE, file, size);
  return file;
}

yoke_status yoke__recorded_summary_bytes(const char* path, yoke_arena* arena, const char** file,
                                         char** bytes, size_t* n, const yoke_sink* sink) {
  *file = summary_file(path, arena);
  if (*file == NULL || !yoke__os_is_file(*file)) {
    return YOKE_OK;
  }
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){.source = *file}, NULL, (double)NAN);
  return yoke__os_read_file(*file, YOKE_JSON_MAX_SIZE, bytes, n, &about.sink);
}

static yoke_status read_summary(yoke_arena* arena, yoke_recorded* out, const yoke_sink* sink) {
  const char* file = NULL;
  char* bytes = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__recorded_summary_bytes(out->path, arena, &file, &bytes, &n, sink));
  if (bytes == NULL) {
    return YOKE_OK;
  }
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){.source = file}, NULL, (double)NAN);
  const yoke_status status = yoke__summary_parse(bytes, n, arena, &out->summary, &about.sink);
  free(bytes);
  out->has_summary = status >= 0;
  return status;
}

yoke_status yoke__recorded_read(const char* path, bool has_summary, yoke_arena* arena,
                                yoke_recorded* out, const yoke_sink* sink) {
  *out = (yoke_recorded){.path = path};
  YOKE_TRY(yoke__record_read(path, &out->csv, sink));
  YOKE_TRY(yoke__map_create(out->csv.n_columns, arena, &out->names));
  for (size_t i = FIRST_SIGNAL; i < out->csv.n_columns; i++) {
    const char* name = out->csv.columns[i].name;
    if (yoke__map_add(&out->names, name, i) != YOKE_NOT_FOUND) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "%s: two columns are named '%.200s'", path, name);
    }
  }
  return has_summary ? read_summary(arena, out, sink) : YOKE_OK;
}

const double* yoke__recorded_find(const yoke_recorded* result, const char* name,
                                  const yoke_sink* sink) {
  const double* values = yoke__recorded_column(result, name);
  if (values != NULL) {
    return values;
  }
  if (yoke__map_find(&result->names, name) != YOKE_NOT_FOUND) {
    yoke_fail(sink, YOKE_BAD_INPUT, "signal '%.200s' of %s is text", name, result->path);
    return NULL;
  }
  const size_t n = result->csv.n_columns - FIRST_SIGNAL;
  char hint[YOKE_NEAREST_SIZE] = "";
  const char** names = calloc(n + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < n; i++) {
    names[i] = result->csv.columns[i + FIRST_SIGNAL].name;
  }
  if (names != NULL) {
    yoke__nearest_hint(name, names, n, hint);
  }
  free((void*)names);
  yoke_fail(sink, YOKE_BAD_INPUT, "no signal '%.200s' in %s%s", name, result->path, hint);
  return NULL;
}
