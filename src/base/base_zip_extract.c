// Unpacking into a folder. Every part of a name is opened by itself below its parent and never through a link, files are
// created only where nothing stands: even a folder that changes meanwhile does not lead out.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "base/base_zip_part.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define OPEN_FILE   (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

// errno as a message about an entry; what cannot be placed because of its name is the archive's fault
static yoke_status place_failure(const char* name, const yoke_sink* sink) {
  const int code = errno;
  const char* text = code == EEXIST || code == ENOTDIR || code == ELOOP
                         ? "something of that name, or of a part of it, is there already"
                         : yoke__errno_text(code);
  const bool is_name = code == EEXIST || code == ENOTDIR || code == ELOOP || code == ENAMETOOLONG;
  return yoke__zip_fail(sink, is_name ? YOKE_BAD_INPUT : yoke__status_of_errno(code), name,
                        strlen(name), "cannot be placed: %s", text);
}

// Opens the folder that holds the last part of name, with all folders on the way made. *last is that part, empty for a
// folder entry. Returns a descriptor, or -1 with errno set.
static int open_parents(int root, const char* name, const char** last) {
  int folder = fcntl(root, F_DUPFD_CLOEXEC, 0);
  const char* slash = NULL;
  while (folder >= 0 && (slash = strchr(name, '/')) != NULL) {
    char part[YOKE_ZIP_MAX_NAME + 1];
    const size_t n = (size_t)(slash - name);
    memcpy(part, name, n);
    part[n] = '\0';
    int next = -1;
    if (mkdirat(folder, part, 0755) == 0 || errno == EEXIST) {
      next = openat(folder, part, OPEN_FOLDER);
    }
    const int code = errno;
    close(folder);
    errno = code;
    folder = next;
    name = slash + 1;
  }
  *last = name;
  return folder;
}

typedef struct target {
  int file;
  const char* name;  // of the entry
} target;

static yoke_status write_failure(const char* name, yoke_status status, const char* why,
                                 const yoke_sink* sink) {
  return yoke__zip_fail(sink, status, name, strlen(name), "cannot be written: %s", why);
}

static yoke_status write_piece(void* context, const char* bytes, size_t n, const yoke_sink* sink) {
  const target* to = context;
  size_t n_done = 0;
  YOKE_CATCH(why);
  const yoke_status status = yoke__os_file_write(to->file, bytes, n, &n_done, &why.sink);
  return status < 0 ? write_failure(to->name, status, why.text, sink) : YOKE_OK;
}

static yoke_status extract_entry(yoke_zip* zip, size_t i, int root, const yoke_sink* sink) {
  const yoke_zip_entry* entry = &zip->entries[i];
  const char* last = NULL;
  const int folder = open_parents(root, entry->name, &last);
  if (folder < 0) {
    return place_failure(entry->name, sink);
  }
  if (entry->is_directory) {
    close(folder);
    return YOKE_OK;
  }
  target to = {openat(folder, last, OPEN_FILE, zip->is_executable[i] ? 0755 : 0644), entry->name};
  const int code = errno;
  close(folder);
  if (to.file < 0) {
    errno = code;
    return place_failure(entry->name, sink);
  }
  YOKE_CATCH(why);
  const yoke_status status = yoke__zip_stream(zip, i, write_piece, &to, sink);
  const yoke_status closed = yoke__os_file_close(&to.file, &why.sink);
  return status >= 0 && closed < 0 ? write_failure(entry->name, closed, why.text, sink) : status;
}

yoke_status yoke__zip_extract(yoke_zip* zip, const char* prefix, const char* directory,
                              const yoke_sink* sink) {
  yoke_context context;
  sink = yoke__zip_context(&context, zip->path, sink);
  const int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot open folder %s: %s", directory,
                     yoke__errno_text(code));
  }
  const size_t n_prefix = strlen(prefix);
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < zip->n && status >= 0; i++) {
    if (strncmp(zip->entries[i].name, prefix, n_prefix) == 0) {
      status = extract_entry(zip, i, root, sink);
    }
  }
  close(root);
  return status;
}
