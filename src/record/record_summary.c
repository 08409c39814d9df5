// summary.json and other small files, through a temporary name.
#include "record/record_summary.h"

#include <stdlib.h>

#include "base/base_os.h"

yoke_status yoke__record_write_text(const char* directory, const char* name, const char* text,
                                    size_t n, const yoke_sink* sink) {
  YOKE_TRY(yoke__os_make_directory(directory, sink));
  const size_t size = yoke__os_path_join(directory, name, NULL, 0) + 1;
  char* path = malloc(size);
  if (path == NULL) {
    return YOKE_NO_MEMORY;
  }
  yoke__os_path_join(directory, name, path, size);
  const yoke_status status = yoke__os_write_file(path, text, n, sink);
  free(path);
  return status;
}

yoke_status yoke__record_summary_write(const char* directory, yoke_json* json,
                                       const yoke_sink* sink) {
  YOKE_TRY(yoke__json_finish(json));
  return yoke__record_write_text(directory, "summary.json", json->text.bytes, json->text.n, sink);
}
