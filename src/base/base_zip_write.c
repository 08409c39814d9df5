// Writing archives. libzip collects the entries and writes them, when finished, into a temporary file beside the target,
// which then takes its name. Date and attributes are fixed: the same content gives the same bytes.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base_status.h"
#include "base/base_zip_part.h"

#define DOS_TIME     0                 // midnight
#define DOS_DATE     ((1u << 5) | 1u)  // 1 January 1980, the first day of the format
#define FILE_MODE    (0100644u << 16)  // a plain file
#define PROGRAM_MODE (0100755u << 16)  // an executable one
#define MAX_PATH     4096
#define LEVEL        6  // of deflate; 9 takes three times as long for 0.4 % less of a binary

struct yoke_zip_writer {
  zip_t* archive;
  yoke_arena arena;  // content of the entries
  char path[MAX_PATH];
};

static yoke_status libzip_failure(const char* path, zip_error_t* error, const yoke_sink* sink) {
  return yoke_fail(sink, yoke__zip_status(error, YOKE_IO), "cannot write %s: %s", path,
                   yoke__zip_error_text(error));
}

yoke_status yoke__zip_create(const char* path, yoke_zip_writer** out, const yoke_sink* sink) {
  *out = NULL;
  struct stat info;
  if (strlen(path) >= MAX_PATH || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) {
    return yoke_fail(sink, YOKE_IO, "cannot write %s: not a file name", path);
  }
  yoke_zip_writer* writer = calloc(1, sizeof *writer);
  if (writer == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(writer->path, sizeof writer->path, "%s", path);
  int code = 0;
  errno = 0;
  writer->archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (writer->archive == NULL) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const yoke_status status = libzip_failure(path, &error, sink);
    zip_error_fini(&error);
    free(writer);
    return status;
  }
  *out = writer;
  return YOKE_OK;
}

// Takes over the source, which may be NULL (out of memory).
static yoke_status add_source(yoke_zip_writer* writer, const char* name, zip_source_t* source,
                              zip_uint32_t mode, const yoke_sink* sink) {
  const size_t n = strlen(name);
  yoke_status status = yoke__zip_check_name(name, n, sink);
  if (status >= 0 && name[n - 1] == '/') {
    status = yoke__zip_fail(sink, YOKE_BAD_INPUT, name, n, "is a folder, a file was expected");
  }
  if (status >= 0 && zip_name_locate(writer->archive, name, ZIP_FL_ENC_GUESS) >= 0) {
    status = yoke__zip_fail(sink, YOKE_BAD_INPUT, name, n, "is in the archive twice");
  }
  if (status < 0) {
    zip_source_free(source);
    return status;
  }
  errno = source == NULL ? errno : 0;  // of whoever has made the source
  const zip_int64_t i =
      source == NULL ? -1 : zip_file_add(writer->archive, name, source, ZIP_FL_ENC_UTF_8);
  if (i < 0) {
    zip_source_free(source);
    return libzip_failure(writer->path, zip_get_error(writer->archive), sink);
  }
  const zip_uint64_t at = (zip_uint64_t)i;
  if (zip_set_file_compression(writer->archive, at, ZIP_CM_DEFLATE, LEVEL) != 0 ||
      zip_file_set_dostime(writer->archive, at, DOS_TIME, DOS_DATE, 0) != 0 ||
      zip_file_set_external_attributes(writer->archive, at, 0, ZIP_OPSYS_UNIX, mode) != 0) {
    return libzip_failure(writer->path, zip_get_error(writer->archive), sink);
  }
  return YOKE_OK;
}

yoke_status yoke__zip_add(yoke_zip_writer* writer, const char* name, const void* bytes, size_t n,
                          const yoke_sink* sink) {
  // libzip reads its sources when the archive is finished. The copy stays ours: whether libzip frees one when it runs
  // out of memory depends on where it does.
  void* copy = yoke__arena_take(&writer->arena, n);
  if (copy == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  if (n > 0) {
    memcpy(copy, bytes, n);
  }
  errno = 0;
  return add_source(writer, name, zip_source_buffer(writer->archive, copy, n, 0), FILE_MODE, sink);
}

yoke_status yoke__zip_add_file(yoke_zip_writer* writer, const char* name, const char* path,
                               const yoke_sink* sink) {
  struct stat info;
  if (stat(path, &info) != 0) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot open %s: %s", path,
                     yoke__errno_text(code));
  }
  if (!S_ISREG(info.st_mode)) {
    return yoke_fail(sink, YOKE_IO, "%s is not a file", path);
  }
  const bool is_program = (info.st_mode & S_IXUSR) != 0;
  errno = 0;
  return add_source(writer, name, zip_source_file(writer->archive, path, 0, -1),
                    is_program ? PROGRAM_MODE : FILE_MODE, sink);
}

yoke_status yoke__zip_copy(yoke_zip_writer* writer, const char* name, yoke_zip* from, size_t i,
                           const yoke_sink* sink) {
  errno = 0;
#if LIBZIP_VERSION_MAJOR > 1 || LIBZIP_VERSION_MINOR >= 10
  zip_source_t* source = zip_source_zip_file(writer->archive, from->archive, i, 0, 0, -1, NULL);
#else
  zip_source_t* source = zip_source_zip(writer->archive, from->archive, i, 0, 0, -1);
#endif
  return add_source(writer, name, source, FILE_MODE, sink);
}

yoke_status yoke__zip_finish(yoke_zip_writer** writer, const yoke_sink* sink) {
  yoke_zip_writer* own = *writer;
  yoke_status status = YOKE_OK;
  errno = 0;
  if (zip_get_num_entries(own->archive, 0) == 0) {
    // libzip would remove the file instead
    status =
        yoke_fail(sink, YOKE_BAD_ARG, "cannot write %s: an archive without entries", own->path);
  } else if (zip_close(own->archive) == 0) {
    own->archive = NULL;
  } else {
    status = libzip_failure(own->path, zip_get_error(own->archive), sink);
  }
  yoke__zip_abandon(writer);
  return status;
}

void yoke__zip_abandon(yoke_zip_writer** writer) {
  if (*writer != NULL) {
    if ((*writer)->archive != NULL) {
      zip_discard((*writer)->archive);
    }
    yoke__arena_free(&(*writer)->arena);
    free(*writer);
    *writer = NULL;
  }
}
