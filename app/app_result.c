// Results read back, with the summary of the run that made them.
#include "app/app_result.h"

#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/app_sink.h"
#include "base/base_json_read.h"
#include "base/base_os.h"
#include "record/record_read.h"

#define FIRST_SIGNAL 1  // column 0 is the time

static int report_memory(const char* command) {
  yoke__app_error(command, "out of memory");
  return YOKE_EXIT_FAILED;
}

int yoke__app_result_read(const char* command, const char* path, yoke_arena* arena,
                          yoke_app_result* out) {
  *out = (yoke_app_result){.path = path};
  const yoke_status status = yoke__record_read(path, &out->csv, &yoke__app_sink);
  if (status < 0) {
    return yoke__app_fail(command, status);
  }

  // index the signals: everything behind the time column
  if (yoke__map_create(out->csv.n_columns, arena, &out->names) < 0) {
    return report_memory(command);
  }
  for (size_t i = FIRST_SIGNAL; i < out->csv.n_columns; i++) {
    const char* name = out->csv.columns[i].name;
    if (yoke__map_add(&out->names, name, i) != YOKE_NOT_FOUND) {
      yoke__app_error(command, "%s: two columns are named '%.200s'", path, name);
      return YOKE_EXIT_USAGE;
    }
  }
  return YOKE_EXIT_OK;
}

// The folder that the summary of this result would be in; n 0: the current one. False: a file of
// another name, whose neighbours need not belong to it.
static bool find_folder(const char* path, size_t* n) {
  *n = strlen(path);
  if (yoke__os_is_directory(path)) {
    return true;
  }
  const char* slash = strrchr(path, '/');
  const char* file = slash == NULL ? path : slash + 1;
  *n = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  return strcmp(file, "results.csv") == 0 || strcmp(file, "results.h5") == 0;
}

static int parse_summary(const char* command, const char* file, yoke_arena* arena,
                         yoke_app_result* out) {
  yoke_context context;
  const yoke_sink* sink = yoke__app_sink_at(&context, file);
  char* bytes = NULL;
  size_t n = 0;
  yoke_status status = yoke__os_read_file(file, YOKE_JSON_MAX_SIZE, &bytes, &n, sink);
  if (status >= 0) {
    status = yoke__summary_parse(bytes, n, arena, &out->summary, sink);
  }
  free(bytes);
  if (status < 0) {
    return yoke__app_fail(command, status);
  }
  out->has_summary = true;
  return YOKE_EXIT_OK;
}

const char* yoke__app_result_summary_file(const char* path, yoke_arena* arena) {
  size_t n = 0;
  if (!find_folder(path, &n)) {
    return NULL;
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

int yoke__app_result_read_summary(const char* command, yoke_arena* arena, yoke_app_result* out) {
  size_t n = 0;
  if (!find_folder(out->path, &n)) {
    return YOKE_EXIT_OK;
  }
  const char* file = yoke__app_result_summary_file(out->path, arena);
  if (file == NULL) {
    return report_memory(command);
  }
  return yoke__os_is_file(file) ? parse_summary(command, file, arena, out) : YOKE_EXIT_OK;
}

const double* yoke__app_result_column(const yoke_app_result* result, const char* name) {
  const size_t column = name == NULL ? YOKE_NOT_FOUND : yoke__map_find(&result->names, name);
  return column == YOKE_NOT_FOUND || result->csv.columns[column].is_text
             ? NULL
             : result->csv.columns[column].values;
}

void yoke__app_result_report(const char* command, const yoke_app_result* result, const char* name) {
  if (yoke__map_find(&result->names, name) != YOKE_NOT_FOUND) {
    yoke__app_error(command, "signal '%.200s' of %s is text", name, result->path);
    return;
  }
  char hint[YOKE_HINT_SIZE] = "";
  const char** names = calloc(result->csv.n_columns + 1, sizeof *names);
  for (size_t i = FIRST_SIGNAL; names != NULL && i < result->csv.n_columns; i++) {
    names[i - FIRST_SIGNAL] = result->csv.columns[i].name;
  }
  if (names != NULL) {
    yoke__app_hint(name, names, result->csv.n_columns - FIRST_SIGNAL, "", hint);
  }
  free((void*)names);
  yoke__app_error(command, "no signal '%.200s' in %s%s", name, result->path, hint);
}
