// The functions of the operating system that models and the runtime need, with the C library alone: they stand in for
// base_os.c in an FMU, so that its sources build everywhere.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"

// The costs of a circuit's steps are not measured in an FMU.
int64_t yoke__os_now_ns(void) {
  return 0;
}

static yoke_status refuse(FILE* file, char* bytes, const char* path, yoke_status status,
                          const char* why, const yoke_sink* sink) {
  free(bytes);
  if (file != NULL) {
    (void)fclose(file);
  }
  return yoke__fail_at(sink, status, (yoke_place){.source = path}, "%s", why);
}

yoke_status yoke__os_read_file_as(const char* path, const char* name, size_t max_size, char** bytes,
                                  size_t* n, const yoke_sink* sink) {
  (void)name;
  *bytes = NULL;
  *n = 0;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    const int code = errno;
    return refuse(NULL, NULL, path, yoke__status_of_errno(code), yoke__errno_text(code), sink);
  }

  // doubled room: the length of what is no plain file is not known before it is read
  char* buffer = NULL;
  size_t used = 0, room = 0;
  do {
    if (used + 1 >= room) {
      room = room == 0 ? 65536 : 2 * room;
      char* larger = realloc(buffer, room);
      if (larger == NULL) {
        return refuse(file, buffer, path, YOKE_NO_MEMORY, "out of memory", sink);
      }
      buffer = larger;
    }
    used += fread(buffer + used, 1, room - used - 1, file);
    if (ferror(file) != 0) {
      return refuse(file, buffer, path, YOKE_IO, "cannot be read", sink);
    }
    if (used > max_size) {
      return refuse(file, buffer, path, YOKE_IO, "the file is too large", sink);
    }
  } while (feof(file) == 0);
  (void)fclose(file);
  buffer[used] = '\0';
  *bytes = buffer;
  *n = used;
  return YOKE_OK;
}
