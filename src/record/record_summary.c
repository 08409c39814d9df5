// summary.json and other small files, through a temporary name.
#include "record/record_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"

static yoke_status write_part(const char* part, const char* text, size_t n, char* reason,
                              size_t size) {
  int file = -1;
  size_t n_done = 0;
  char ignored[8];
  YOKE_TRY(yoke__os_file_create(part, &file, reason, size));
  const yoke_status status = yoke__os_file_write(file, text, n, &n_done, reason, size);
  if (status < 0) {
    yoke__os_file_close(&file, ignored, sizeof ignored);
    return status;
  }
  return yoke__os_file_close(&file, reason, size);
}

yoke_status yoke__record_write_text(const char* directory, const char* name, const char* text,
                                    size_t n, char* err, size_t err_size) {
  YOKE_TRY(yoke__os_make_directory(directory, err, err_size));
  const size_t size = yoke__os_path_join(directory, name, NULL, 0) + sizeof ".part";
  char* part = malloc(size);
  char* path = malloc(size);
  yoke_status status = YOKE_NO_MEMORY;
  if (part == NULL || path == NULL) {
    snprintf(err, err_size, "out of memory");
  } else {
    yoke__os_path_join(directory, name, path, size);
    snprintf(part, size, "%s.part", path);
    char reason[256] = "";
    status = write_part(part, text, n, reason, sizeof reason);
    if (status < 0) {
      snprintf(err, err_size, "cannot write %s: %s", path, reason);
      yoke__os_file_remove(part);
    } else {
      status = yoke__os_rename(part, path, err, err_size);
    }
  }
  free(part);
  free(path);
  return status;
}

yoke_status yoke__record_summary_write(const char* directory, yoke_json* json, char* err,
                                       size_t err_size) {
  const yoke_status status = yoke__json_finish(json);
  if (status < 0) {
    snprintf(err, err_size, "summary.json: %s", yoke_status_text(status));
    return status;
  }
  return yoke__record_write_text(directory, "summary.json", json->text, json->n, err, err_size);
}
