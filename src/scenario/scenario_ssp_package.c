// Archives of SSP on disk: unpacked into a folder that lives as long as the scenario.
//
//   <temporary folder>/ssp/     the archive that was named; relative paths start here
//   <temporary folder>/ssp-1/   archives inside of it, in the order in which they are met
//
// base_zip checks names, sizes and links before anything is written.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "base/base_temp.h"
#include "base/base_zip.h"
#include "scenario/scenario_ssp.h"

enum {
  MAX_PACKAGES = 100,  // archives inside of archives
  PATH_SIZE = 8192,
};

// What reading on disk needs to know.
typedef struct disk {
  const char* directory;  // of the first SSD
  const char* temp;       // NULL: a bare SSD
  size_t n_packages;
  yoke_temp** owner;  // where a bare SSD that names an archive gets its folder from
} disk;

bool yoke__ssp_is_archive(const char* bytes, size_t n) {
  return n >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

bool yoke__ssp_is_xml(const char* bytes, size_t n) {
  // UTF-16 says so in its first two bytes
  if (n >= 4 && (memcmp(bytes, "\xff\xfe<\0", 4) == 0 || memcmp(bytes, "\xfe\xff\0<", 4) == 0)) {
    return true;
  }
  size_t i = n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (i < n && (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r')) {
    i++;
  }
  return i + 1 < n && bytes[i] == '<' && bytes[i + 1] != '<';
}

// Length of the file's name in "car.ssp#Variant.ssd"; a file that really has that name wins.
static size_t file_length(const char* path) {
  const char* hash = strrchr(path, '#');
  return hash == NULL || yoke__os_is_file(path) ? strlen(path) : (size_t)(hash - path);
}

// ".ssp", in any case of letters
static bool is_ending(const char* text) {
  return text[0] == '.' && (text[1] | 0x20) == 's' && (text[2] | 0x20) == 's' &&
         (text[3] | 0x20) == 'p';
}

bool yoke__ssp_is_archive_file(const char* path) {
  char file[PATH_SIZE], start[4];
  const size_t n = file_length(path), n_ending = sizeof ".ssp" - 1;

  // other names are read whole first: what comes out of a pipe can be read only once
  if (n >= sizeof file || n < n_ending || !is_ending(path + n - n_ending)) {
    return false;
  }
  memcpy(file, path, n);
  file[n] = '\0';
  FILE* opened = yoke__os_is_file(file) ? fopen(file, "rb") : NULL;
  if (opened == NULL) {
    return false;
  }
  const size_t n_read = fread(start, 1, sizeof start, opened);
  fclose(opened);

  // a name that promises an archive is held to it, unless an XML file is behind it
  return !yoke__ssp_is_xml(start, n_read);
}

// ---------------------------------------------------------------------------------------------------------
// files of an SSD

static bool full_path(const disk* d, const char* path, char to[PATH_SIZE]) {
  const int n = path[0] == '/' ? snprintf(to, PATH_SIZE, "%s", path)
                               : (int)yoke__os_path_join(d->directory, path, to, PATH_SIZE);
  return n >= 0 && n < PATH_SIZE;
}

static yoke_status read_on_disk(void* context, const char* path, char** bytes, size_t* n,
                                const yoke_sink* sink) {
  char full[PATH_SIZE];
  if (!full_path(context, path, full)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the path is too long");
  }
  // the place in the temporary folder means nothing to the reader
  const bool is_file = yoke__os_is_file(full);
  const yoke_status status =
      yoke__os_read_file(full, YOKE_SCENARIO_MAX_SIZE, bytes, n, is_file ? sink : NULL);
  if (status >= 0 || is_file) {
    return status;
  }
  return yoke__status_is_shortage(status)
             ? yoke_fail(sink, status, "%s", yoke_status_text(status))
             : yoke_fail(sink, status, "there is no file '%.200s'", path);
}

static yoke_status read_entry_on_disk(void* context, const char* path, const char* entry,
                                      char** bytes, size_t* n, const yoke_sink* sink) {
  char full[PATH_SIZE];
  yoke_zip* zip = NULL;
  if (!full_path(context, path, full)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the path is too long");
  }
  YOKE_TRY(yoke__zip_open(full, &zip, sink));
  const size_t i = yoke__zip_find(zip, entry);
  const yoke_status status =
      i == (size_t)-1
          ? yoke_fail(sink, YOKE_BAD_INPUT, "'%.200s' has no entry '%.200s'", path, entry)
          : yoke__zip_read(zip, i, YOKE_SCENARIO_MAX_SIZE, bytes, n, sink);
  yoke__zip_close(&zip);
  return status;
}

// An open archive into a new folder of the temporary one.
static yoke_status extract(yoke_zip* zip, const char* temp, const char* name,
                           const yoke_sink* sink) {
  char folder[PATH_SIZE];
  if (yoke__os_path_join(temp, name, folder, sizeof folder) >= sizeof folder) {
    return yoke_fail(sink, YOKE_IO, "the path of the temporary folder is too long");
  }
  YOKE_TRY(yoke__os_make_directory(folder, sink));
  return yoke__zip_extract(zip, "", folder, sink);
}

static yoke_status unpack_on_disk(void* context, const char* path, char* folder, size_t size,
                                  const yoke_sink* sink) {
  disk* d = context;
  char full[PATH_SIZE], name[32];
  yoke_zip* zip = NULL;
  if (d->n_packages == MAX_PACKAGES || !full_path(d, path, full)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "more than %d archives inside of this one, or a path too long", MAX_PACKAGES);
  }
  if (!yoke__os_is_file(full)) {
    return yoke_fail(sink, YOKE_IO, "there is no file '%.200s'", path);
  }
  if (d->temp == NULL) {
    YOKE_TRY(yoke__temp_create(d->owner, sink));
    d->temp = yoke__temp_path(*d->owner);
  }
  snprintf(name, sizeof name, "ssp-%zu", ++d->n_packages);
  YOKE_TRY(yoke__zip_open(full, &zip, sink));
  const yoke_status status = extract(zip, d->temp, name, sink);
  yoke__zip_close(&zip);

  // beside the folder of the first archive; a bare SSD is elsewhere
  const bool is_beside = strncmp(d->directory, d->temp, strlen(d->temp)) == 0;
  snprintf(folder, size, "%s%s/", is_beside ? "../" : "", name);
  if (!is_beside) {
    snprintf(folder, size, "%s/%s/", d->temp, name);
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// the first file

static yoke_status read_tree(disk* d, const char* bytes, size_t n, const yoke_ssp_names* names,
                             const char* const sets[], size_t n_sets, yoke_reader* reader,
                             yoke_node** root) {
  const yoke_ssp_files files = {.context = d,
                                .read = read_on_disk,
                                .read_entry = read_entry_on_disk,
                                .unpack = unpack_on_disk,
                                .directory = d->directory,
                                .is_closed = d->temp != NULL};
  return yoke__ssp_tree(bytes, n, names, &files, sets, n_sets, reader, root);
}

// Says what is there instead.
static yoke_status refuse_variant(const yoke_zip* zip, const char* variant, const yoke_sink* sink) {
  char hint[400] = "";
  const char* before = "there is ";
  size_t n = 0;
  if (yoke__zip_find(zip, "modelDescription.xml") != (size_t)-1) {
    snprintf(hint, sizeof hint, "it is an FMU, which a system file names in 'fmu'");
    n = sizeof hint;
  }
  for (size_t i = 0; i < yoke__zip_count(zip); i++) {
    const char* name = yoke__zip_entry(zip, i)->name;
    const size_t n_name = strlen(name);
    const bool is_ssd = n_name > 4 && strcmp(name + n_name - 4, ".ssd") == 0;
    if (is_ssd && strchr(name, '/') == NULL && n + n_name + 16 < sizeof hint) {
      n += (size_t)snprintf(hint + n, sizeof hint - n, "%s'%s'", before, name);
      before = ", ";
    }
  }
  return yoke_fail(sink, YOKE_BAD_INPUT, "the archive has no '%.200s'%s%s", variant,
                   hint[0] == '\0' ? "" : "; ", hint);
}

// Unpacks the archive and reads its SSD, malloc'ed.
static yoke_status load_archive(yoke_scenario* s, const char* file, const char* variant,
                                const char* bytes, size_t n, char** text, size_t* n_text,
                                const yoke_sink* sink) {
  yoke_zip* zip = NULL;
  YOKE_TRY(bytes == NULL ? yoke__zip_open(file, &zip, sink)
                         : yoke__zip_open_memory(bytes, n, &zip, sink));
  const size_t i = yoke__zip_find(zip, variant);
  yoke_status status = i == (size_t)-1
                           ? refuse_variant(zip, variant, sink)
                           : yoke__zip_read(zip, i, YOKE_SCENARIO_MAX_SIZE, text, n_text, sink);
  if (status >= 0) {
    status = yoke__temp_create(&s->temp, sink);
  }
  if (status >= 0) {
    status = extract(zip, yoke__temp_path(s->temp), "ssp", sink);
  }
  yoke__zip_close(&zip);
  return status;
}

static yoke_status read_archive(yoke_scenario* s, const char* bytes, size_t n,
                                const char* const sets[], size_t n_sets, yoke_reader* reader,
                                yoke_node** root) {
  char folder[PATH_SIZE], source[PATH_SIZE], prefix[PATH_SIZE];
  const size_t n_file = file_length(s->path);
  const char* variant =
      s->path[n_file] == '#' && s->path[n_file + 1] != '\0' ? s->path + n_file + 1 : YOKE_SSP_MAIN;
  const char* file = yoke__arena_text(reader->arena, s->path, n_file);
  YOKE_TRY_MEMORY(file);
  char* text = NULL;
  size_t n_text = 0;
  const yoke_sink sink = yoke__messages_sink(reader->messages);
  yoke_context about;
  yoke__context_init(&about, &sink, (yoke_place){s->path, 0, 0}, NULL, (double)NAN);
  yoke_status status = load_archive(s, file, variant, bytes, n, &text, &n_text, &about.sink);
  if (status >= 0) {
    yoke__os_path_join(yoke__temp_path(s->temp), "ssp", folder, sizeof folder);
    s->directory = yoke__arena_text(reader->arena, folder, strlen(folder));
    status = s->directory == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  if (status < 0) {
    free(text);
    reader->is_out_of_memory |= status == YOKE_NO_MEMORY;
    return yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT;
  }
  snprintf(source, sizeof source, "%s/%s", file, variant);
  snprintf(prefix, sizeof prefix, "%s/", file);
  disk d = {.directory = s->directory, .temp = yoke__temp_path(s->temp), .owner = &s->temp};
  const yoke_ssp_names names = {variant, source, prefix};
  status = read_tree(&d, text, n_text, &names, sets, n_sets, reader, root);
  free(text);
  return status;
}

yoke_status yoke__ssp_read(yoke_scenario* s, const char* bytes, size_t n, const char* const sets[],
                           size_t n_sets, yoke_reader* reader, yoke_node** root) {
  if (bytes == NULL || yoke__ssp_is_archive(bytes, n)) {
    return read_archive(s, bytes, n, sets, n_sets, reader, root);
  }
  char prefix[PATH_SIZE];
  const char* slash = strrchr(s->path, '/');
  const char* file = slash == NULL ? s->path : slash + 1;
  snprintf(prefix, sizeof prefix, "%.*s", (int)(file - s->path), s->path);
  disk d = {.directory = s->directory, .owner = &s->temp};
  const yoke_ssp_names names = {file, s->path, prefix};
  return read_tree(&d, bytes, n, &names, sets, n_sets, reader, root);
}
