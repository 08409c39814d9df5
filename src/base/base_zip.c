// Zip archives from strangers: opened, judged, read. libzip unpacks; the rules of base_zip.h are applied to what
// base_zip_layout.c read from the bytes and to what libzip makes of them, and both must agree, so that no second
// directory hides behind the first.
//
// Bombs: the declared sizes are judged when the archive is opened (sum, and sum against the bytes of the archive), and
// unpacking stops where an entry gives more than it declared. Only the methods store and deflate are accepted, as FMI
// asks for; others can also be made to take gigabytes for their tables.
#define _POSIX_C_SOURCE 200809L
#include "base/base_zip.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base_status.h"
#include "base/base_zip_part.h"

#define MODE_KIND    0170000u
#define MODE_LINK    0120000u
#define MODE_FILE    0100000u
#define MODE_FOLDER  0040000u
#define MODE_EXECUTE 0100u

// ---------------------------------------------------------------------------------------------------------
// names and messages

const char* yoke__zip_shown(const char* name, size_t n, char to[YOKE_ZIP_SHOWN_SIZE]) {
  const size_t room = YOKE_ZIP_SHOWN_SIZE - 4;
  const size_t used = n < room ? n : room;
  for (size_t i = 0; i < used; i++) {
    to[i] = '?';
    if (name[i] >= ' ' && name[i] <= '~') {
      to[i] = name[i];
    }
  }
  snprintf(to + used, YOKE_ZIP_SHOWN_SIZE - used, "%s", n > room ? "..." : "");
  return to;
}

yoke_status yoke__zip_fail(const yoke_sink* sink, yoke_status status, const char* name, size_t n,
                           const char* format, ...) {
  char shown[YOKE_ZIP_SHOWN_SIZE], what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return yoke_fail(sink, status, "entry '%s': %s", yoke__zip_shown(name, n, shown), what);
}

yoke_status yoke__zip_status(const zip_error_t* error, yoke_status otherwise) {
  if (error->zip_err == ZIP_ER_MEMORY || errno == ENOMEM) {
    return YOKE_NO_MEMORY;
  }
  const bool is_system = zip_error_system_type(error) == ZIP_ET_SYS;
  const yoke_status status = is_system ? yoke__status_of_errno(error->sys_err) : otherwise;
  return yoke__status_is_shortage(status) ? status : otherwise;
}

const char* yoke__zip_error_text(zip_error_t* error) {
  return yoke__zip_status(error, YOKE_OK) == YOKE_NO_MEMORY ? yoke_status_text(YOKE_NO_MEMORY)
                                                            : zip_error_strerror(error);
}

// what is wrong with a part of a name between slashes, or NULL
static const char* fault_of_part(const char* part, size_t n) {
  if (n == 2 && part[0] == '.' && part[1] == '.') {
    return "leads out of the archive ('..')";
  }
  if (n == 0 || (n == 1 && part[0] == '.')) {
    return "has an empty or '.' part, a plain name was expected";
  }
  return NULL;
}

static const char* fault_of_bytes(const char* name, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)name[i];
    if (c < 0x20 || c == 0x7f) {
      return "has a control character in its name";
    }
  }
  return NULL;
}

// some Windows tools write backslashes
static bool is_slash(char c) {
  return c == '/' || c == '\\';
}

// "./x" means "x", and "./" the folder that all others are in
static size_t dot_length(const char* name, size_t n) {
  return n >= 2 && name[0] == '.' && is_slash(name[1]) ? 2 : 0;
}

static const char* fault_of_name(const char* name, size_t n) {
  if (n == 0) {
    return "has no name";
  }
  if (n > YOKE_ZIP_MAX_NAME) {
    return "has a name of more than 1024 bytes";
  }
  if (is_slash(name[0])) {
    return "is absolute, a name relative to the archive was expected";
  }
  const char letter = (char)(name[0] | 0x20);
  if (n >= 2 && name[1] == ':' && letter >= 'a' && letter <= 'z') {
    return "begins with a drive letter, a name relative to the archive was expected";
  }
  const char* fault = fault_of_bytes(name, n);
  // a folder ends in one slash
  const size_t length = is_slash(name[n - 1]) ? n - 1 : n;
  for (size_t begin = dot_length(name, n); begin <= length && fault == NULL;) {
    size_t end = begin;
    while (end < length && !is_slash(name[end])) {
      end++;
    }
    fault = fault_of_part(name + begin, end - begin);
    begin = end + 1;
  }
  return fault;
}

yoke_status yoke__zip_check_name(const char* name, size_t n, const yoke_sink* sink) {
  const char* fault = fault_of_name(name, n);
  return fault == NULL ? YOKE_OK : yoke__zip_fail(sink, YOKE_BAD_INPUT, name, n, "%s", fault);
}

const yoke_sink* yoke__zip_context(yoke_context* context, const char* path,
                                   const yoke_sink* outer) {
  return &yoke__context_init(context, outer, (yoke_place){.source = path}, NULL, (double)NAN)->sink;
}

// ---------------------------------------------------------------------------------------------------------
// opening

static yoke_status no_memory(const yoke_sink* sink) {
  return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
}

// Links, devices and the like come from archives made on Unix; a link mark is refused whoever made it.
static yoke_status check_kind(yoke_zip* zip, size_t i, const yoke_sink* sink) {
  const yoke_zip_entry* entry = &zip->entries[i];
  const size_t n = strlen(entry->name);
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  if (zip_file_get_external_attributes(zip->archive, i, 0, &system, &attributes) != 0) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "its attributes cannot be read");
  }
  const unsigned mode = attributes >> 16, kind = mode & MODE_KIND;
  const bool is_unix = system == ZIP_OPSYS_UNIX || system == ZIP_OPSYS_OS_X;
  if (kind == MODE_LINK) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "is a link, a file was expected");
  }
  if (is_unix && kind != 0 && kind != MODE_FILE && kind != MODE_FOLDER) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "is a device, a file was expected");
  }
  if (is_unix && kind != 0 && (kind == MODE_FOLDER) != entry->is_directory) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n,
                          "is marked as a %s but its name says otherwise",
                          kind == MODE_FOLDER ? "folder" : "file");
  }
  zip->is_executable[i] = is_unix && (mode & MODE_EXECUTE) != 0;
  return YOKE_OK;
}

static yoke_status check_packing(const yoke_zip_entry* entry, const zip_stat_t* info,
                                 const yoke_sink* sink) {
  const size_t n = strlen(entry->name);
  if (info->encryption_method != ZIP_EM_NONE) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "is encrypted");
  }
  if (info->comp_method != ZIP_CM_STORE && info->comp_method != ZIP_CM_DEFLATE) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n,
                          "is packed with method %d, 'store' (0) or 'deflate' (8) was expected",
                          (int)info->comp_method);
  }
  if (entry->is_directory && info->size != 0) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "is a folder but has content");
  }
  if (info->comp_method == ZIP_CM_STORE && info->size != info->comp_size) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n,
                          "is stored unpacked but declares two sizes");
  }
  return YOKE_OK;
}

// the name as the rest of the world writes it; NULL: no memory
static const char* plain_name(const char* name, size_t* n, yoke_arena* arena) {
  const size_t dot = dot_length(name, *n);
  if (dot == 0 && strchr(name, '\\') == NULL) {
    return name;
  }
  *n -= dot;
  char* copy = yoke__arena_text(arena, name + dot, *n);
  for (char* c = copy; c != NULL && *c != '\0'; c++) {
    if (is_slash(*c)) {
      *c = '/';
    }
  }
  return copy;
}

// What libzip says about entry i, compared with what the bytes say.
static yoke_status take_entry(yoke_zip* zip, size_t i, const yoke_zip_record* record,
                              const yoke_sink* sink) {
  const zip_uint64_t wanted =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
  zip_stat_t info;
  errno = 0;
  const char* name = zip_get_name(zip->archive, i, ZIP_FL_ENC_GUESS);
  if (name == NULL && yoke__zip_status(zip_get_error(zip->archive), YOKE_OK) < 0) {
    return no_memory(sink);
  }
  if (name == NULL || zip_stat_index(zip->archive, i, 0, &info) != 0 ||
      (info.valid & wanted) != wanted || info.size != record->size ||
      info.comp_size != record->packed || info.crc != record->crc) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "entry %zu of the archive is described in two ways",
                     i + 1);
  }

  // an extra field may have given it another name than the one checked already
  size_t n = strlen(name);
  YOKE_TRY(yoke__zip_check_name(name, n, sink));
  name = plain_name(name, &n, &zip->arena);
  if (name == NULL) {
    return no_memory(sink);
  }
  yoke_zip_entry* entry = &zip->entries[i];
  *entry = (yoke_zip_entry){name, info.size, n == 0 || name[n - 1] == '/'};
  YOKE_TRY(check_packing(entry, &info, sink));
  YOKE_TRY(check_kind(zip, i, sink));

  // a folder and a file of one name are duplicates too; a folder may be listed again
  const bool has_slash = entry->is_directory && n > 0;
  const char* key = has_slash ? yoke__arena_text(&zip->arena, name, n - 1) : name;
  if (key == NULL) {
    return no_memory(sink);
  }
  const size_t first = yoke__map_add(&zip->map, key, i);
  const bool is_folder_again =
      first != YOKE_NOT_FOUND && entry->is_directory && zip->entries[first].is_directory;
  if (first != YOKE_NOT_FOUND && !is_folder_again) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, name, n, "is in the archive twice");
  }
  return YOKE_OK;
}

// the sum of declared sizes, by itself and against the bytes that are there
static yoke_status check_sizes(const yoke_zip_layout* layout, const yoke_sink* sink) {
  uint64_t size = 0;
  for (size_t i = 0; i < layout->n; i++) {
    const uint64_t one = layout->records[i].size;
    if (one > YOKE_ZIP_MAX_SIZE || size + one > YOKE_ZIP_MAX_SIZE) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "the archive unpacks to more than %llu bytes, the most accepted",
                       (unsigned long long)YOKE_ZIP_MAX_SIZE);
    }
    size += one;
  }
  uint64_t packed = 0;
  for (size_t i = 0; i < layout->n; i++) {
    packed += layout->records[i].packed;
  }
  if (size > YOKE_ZIP_FREE_SIZE && size / YOKE_ZIP_MAX_RATIO >= packed) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the archive unpacks from %llu to %llu bytes; more than %d times is not accepted",
        (unsigned long long)packed, (unsigned long long)size, YOKE_ZIP_MAX_RATIO);
  }
  return YOKE_OK;
}

static yoke_status take_entries(yoke_zip* zip, const yoke_zip_layout* layout,
                                const yoke_sink* sink) {
  const zip_int64_t n = zip_get_num_entries(zip->archive, 0);
  if (n < 0 || (uint64_t)n != layout->n) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the archive has two directories");
  }
  zip->n = layout->n;
  zip->entries = yoke__arena_array(&zip->arena, zip->n, sizeof *zip->entries);
  zip->is_executable = yoke__arena_array(&zip->arena, zip->n, sizeof *zip->is_executable);
  if (zip->entries == NULL || zip->is_executable == NULL ||
      yoke__map_create(zip->n, &zip->arena, &zip->map) < 0) {
    return no_memory(sink);
  }
  YOKE_TRY(check_sizes(layout, sink));
  for (size_t i = 0; i < zip->n; i++) {
    YOKE_TRY(take_entry(zip, i, &layout->records[i], sink));
  }
  return YOKE_OK;
}

// Takes over the source. On failure *out is NULL and nothing is left.
static yoke_status open_source(zip_source_t* source, const char* path, yoke_zip** out,
                               const yoke_sink* outer) {
  yoke_context context;
  const yoke_sink* sink = yoke__zip_context(&context, path, outer);
  yoke_zip_layout layout;
  const yoke_status status = yoke__zip_layout_read(source, &layout, sink);
  if (status < 0) {
    zip_source_free(source);
    return status;
  }
  yoke_zip* zip = calloc(1, sizeof *zip);
  zip_error_t error;
  zip_error_init(&error);
  errno = 0;
  zip_t* archive = zip == NULL ? NULL : zip_open_from_source(source, ZIP_RDONLY, &error);
  yoke_status taken = YOKE_BAD_INPUT;
  if (zip == NULL) {
    taken = no_memory(sink);
  } else if (archive == NULL) {
    taken = yoke_fail(sink, yoke__zip_status(&error, taken), "the archive cannot be read: %s",
                      yoke__zip_error_text(&error));
  } else {
    zip->archive = archive;
    zip->path = path == NULL ? NULL : yoke__arena_text(&zip->arena, path, strlen(path));
    taken = take_entries(zip, &layout, sink);
  }
  zip_error_fini(&error);
  if (archive == NULL) {
    zip_source_free(source);
  }
  free(layout.records);
  *out = zip;
  if (taken < 0) {
    yoke__zip_close(out);
  }
  return taken;
}

yoke_status yoke__zip_open(const char* path, yoke_zip** out, const yoke_sink* sink) {
  *out = NULL;
  struct stat info;
  if (stat(path, &info) != 0) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot open %s: %s", path,
                     yoke__errno_text(code));
  }
  if (!S_ISREG(info.st_mode)) {
    return yoke_fail(sink, YOKE_IO, "%s is %s, a zip archive was expected", path,
                     S_ISDIR(info.st_mode) ? "a folder" : "not a file");
  }
  zip_error_t error;
  zip_error_init(&error);
  errno = 0;
  zip_source_t* source = zip_source_file_create(path, 0, -1, &error);
  if (source == NULL) {
    const yoke_status status = yoke_fail(sink, yoke__zip_status(&error, YOKE_IO),
                                         "cannot open %s: %s", path, yoke__zip_error_text(&error));
    zip_error_fini(&error);
    return status;
  }
  return open_source(source, path, out, sink);
}

yoke_status yoke__zip_open_memory(const void* bytes, size_t n, yoke_zip** out,
                                  const yoke_sink* sink) {
  *out = NULL;
  zip_source_t* source = zip_source_buffer_create(bytes, n, 0, NULL);
  return source == NULL ? no_memory(sink) : open_source(source, NULL, out, sink);
}

void yoke__zip_close(yoke_zip** zip) {
  if (*zip != NULL) {
    if ((*zip)->archive != NULL) {
      zip_discard((*zip)->archive);
    }
    yoke__arena_free(&(*zip)->arena);
    free(*zip);
    *zip = NULL;
  }
}

// ---------------------------------------------------------------------------------------------------------
// entries

size_t yoke__zip_count(const yoke_zip* zip) {
  return zip->n;
}

const yoke_zip_entry* yoke__zip_entry(const yoke_zip* zip, size_t i) {
  return i < zip->n ? &zip->entries[i] : NULL;
}

size_t yoke__zip_find(const yoke_zip* zip, const char* name) {
  char key[YOKE_ZIP_MAX_NAME + 1];
  const size_t n = strlen(name);
  if (n == 0 || n > YOKE_ZIP_MAX_NAME) {
    return YOKE_NOT_FOUND;
  }
  memcpy(key, name, n + 1);
  if (key[n - 1] == '/') {
    key[n - 1] = '\0';
  }
  const size_t i = yoke__map_find(&zip->map, key);
  return i != YOKE_NOT_FOUND && strcmp(zip->entries[i].name, name) == 0 ? i : YOKE_NOT_FOUND;
}

// libzip's error in our words
static yoke_status read_failure(const yoke_zip_entry* entry, zip_error_t* error,
                                const yoke_sink* sink) {
  const size_t n = strlen(entry->name);
  if (error->zip_err == ZIP_ER_CRC) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, n, "has a wrong CRC: it is damaged");
  }
  return yoke__zip_fail(sink, yoke__zip_status(error, YOKE_BAD_INPUT), entry->name, n,
                        "cannot be unpacked: %s", yoke__zip_error_text(error));
}

static yoke_status refuse_length(const yoke_zip_entry* entry, const char* word,
                                 const yoke_sink* sink) {
  return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, strlen(entry->name),
                        "unpacks to %s bytes than the %llu it declares", word,
                        (unsigned long long)entry->size);
}

static yoke_status stream_file(yoke_zip* zip, const yoke_zip_entry* entry, zip_file_t* file,
                               yoke_zip_write write, void* context, const yoke_sink* sink) {
  uint64_t total = 0;
  for (;;) {
    errno = 0;
    const zip_int64_t got = zip_fread(file, zip->chunk, sizeof zip->chunk);
    zip_error_t* error = zip_file_get_error(file);
    // at the end of the data libzip compares length and CRC; longer data ends here before
    if ((got == 0 && total < entry->size) || (got < 0 && error->zip_err == ZIP_ER_INCONS)) {
      return refuse_length(entry, "fewer", sink);
    }
    if (got < 0) {
      return read_failure(entry, error, sink);
    }
    if (got == 0) {
      return YOKE_OK;
    }
    total += (uint64_t)got;
    if (total > entry->size) {
      return refuse_length(entry, "more", sink);
    }
    YOKE_TRY(write(context, zip->chunk, (size_t)got, sink));
  }
}

yoke_status yoke__zip_stream(yoke_zip* zip, size_t i, yoke_zip_write write, void* context,
                             const yoke_sink* sink) {
  const yoke_zip_entry* entry = &zip->entries[i];
  errno = 0;
  zip_file_t* file = zip_fopen_index(zip->archive, i, 0);
  if (file == NULL) {
    return read_failure(entry, zip_get_error(zip->archive), sink);
  }
  const yoke_status status = stream_file(zip, entry, file, write, context, sink);
  zip_fclose(file);
  return status;
}

// a block that grows as bytes come, so that a large claim alone takes no memory
typedef struct growing {
  char* bytes;
  size_t n, room, size;
} growing;

static yoke_status append(void* context, const char* bytes, size_t n, const yoke_sink* sink) {
  growing* to = context;
  while (to->room - to->n < n) {
    const size_t room = to->room > to->size / 2 ? to->size : 2 * to->room;
    char* larger = realloc(to->bytes, room + 1);
    if (larger == NULL) {
      return no_memory(sink);
    }
    to->bytes = larger;
    to->room = room;
  }
  memcpy(to->bytes + to->n, bytes, n);
  to->n += n;
  return YOKE_OK;
}

yoke_status yoke__zip_read(yoke_zip* zip, size_t i, size_t max_size, char** bytes, size_t* n,
                           const yoke_sink* sink) {
  yoke_context context;
  sink = yoke__zip_context(&context, zip->path, sink);
  *bytes = NULL;
  *n = 0;
  if (i >= zip->n) {
    return yoke_fail(sink, YOKE_BAD_ARG, "the archive has no entry %zu", i + 1);
  }
  const yoke_zip_entry* entry = &zip->entries[i];
  if (entry->size > max_size) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, entry->name, strlen(entry->name),
                          "has %llu bytes, at most %zu are accepted",
                          (unsigned long long)entry->size, max_size);
  }
  const size_t size = (size_t)entry->size;
  growing to = {NULL, 0, size < YOKE_ZIP_CHUNK ? size : YOKE_ZIP_CHUNK, size};
  to.bytes = malloc(to.room + 1);
  if (to.bytes == NULL) {
    return no_memory(sink);
  }
  const yoke_status status = yoke__zip_stream(zip, i, append, &to, sink);
  if (status < 0) {
    free(to.bytes);
    return status;
  }
  to.bytes[to.n] = '\0';
  *bytes = to.bytes;
  *n = to.n;
  return YOKE_OK;
}
