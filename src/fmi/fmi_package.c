// An FMU as a file: what is inside, its description, and (fmi_unpack.c) as much of it on the disk as a run needs.
//
//   engine.fmu (zip)                          temporary folder
//     modelDescription.xml                      binaries/linux64/*   of this machine only
//     terminalsAndIcons/terminalsAndIcons.xml   resources/*          made if there is none
//     binaries/linux64/engine.so
//     resources/...  sources/...  documentation/...
//
// The archive is judged as a whole by base_zip.c before anything of it is read. A folder with a modelDescription.xml in it
// is an FMU that somebody unpacked: it is used where it is, and nothing is written into it.
#include "fmi/fmi_package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "fmi/fmi_folder.h"
#include "fmi/fmi_package_own.h"
#include "fmi/fmi_rules.h"

#define MAX_XML       ((size_t)1 << 30)  // a million variables take a quarter of it
#define MAX_TERMINALS ((size_t)64 << 20)

typedef struct yoke_fmi_package_private own_parts;

// ---- what is inside

static const char* keep(own_parts* own, const char* text) {
  return yoke__arena_text(&own->arena, text, strlen(text));
}

static bool ends_in(const char* text, const char* end) {
  const size_t n = strlen(text), n_end = strlen(end);
  return n > n_end && strcmp(text + n - n_end, end) == 0;
}

static bool is_library(const char* name) {
  return ends_in(name, ".so") || ends_in(name, ".dll") || ends_in(name, ".dylib");
}

// Room for n platforms and libraries.
static yoke_status make_room(yoke_fmi_package* package, const char*** platforms, size_t n) {
  own_parts* own = package->own;
  *platforms = yoke__arena_array(&own->arena, n, sizeof **platforms);
  own->libraries = yoke__arena_array(&own->arena, n, sizeof *own->libraries);
  package->platforms = *platforms;
  return *platforms == NULL || own->libraries == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// One file "<platform>/<rest>" below binaries/. Platforms are few, so that a search through all is short.
static yoke_status note_binary(yoke_fmi_package* package, const char** platforms, const char* path,
                               size_t* n_room) {
  own_parts* own = package->own;
  const char* slash = strchr(path, '/');
  if (slash == NULL || slash == path) {
    return YOKE_OK;
  }
  const size_t n = (size_t)(slash - path);
  const char* platform = NULL;
  for (size_t i = 0; i < package->n_platforms && platform == NULL; i++) {
    const bool is_same = strncmp(platforms[i], path, n) == 0 && platforms[i][n] == '\0';
    platform = is_same ? platforms[i] : NULL;
  }
  if (platform == NULL) {
    if (*n_room == 0) {
      return YOKE_OK;
    }
    --*n_room;
    platform = yoke__arena_text(&own->arena, path, n);
    YOKE_TRY_MEMORY(platform);
    platforms[package->n_platforms++] = platform;
  }
  if (is_library(slash + 1) && strchr(slash + 1, '/') == NULL) {
    const char* name = keep(own, slash + 1);
    YOKE_TRY_MEMORY(name);
    own->libraries[own->n_libraries++] = (yoke_fmi_library){platform, name};
  }
  return YOKE_OK;
}

static yoke_status look_into_zip(yoke_fmi_package* package) {
  static const char binaries[] = "binaries/";
  own_parts* own = package->own;
  const size_t n = yoke__zip_count(own->zip);
  const char** platforms = NULL;
  size_t n_room =
      n < 64 ? n : 64;  // more folders than there are platforms in the world are not asked for
  YOKE_TRY(make_room(package, &platforms, n));
  for (size_t i = 0; i < n; i++) {
    const yoke_zip_entry* entry = yoke__zip_entry(own->zip, i);
    package->has_sources |= strncmp(entry->name, "sources/", 8) == 0 && !entry->is_directory;
    package->has_resources |= strncmp(entry->name, "resources/", 10) == 0 && !entry->is_directory;
    package->has_documentation |=
        strncmp(entry->name, "documentation/", 14) == 0 && !entry->is_directory;
    if (strncmp(entry->name, binaries, sizeof binaries - 1) == 0 && !entry->is_directory) {
      YOKE_TRY(note_binary(package, platforms, entry->name + sizeof binaries - 1, &n_room));
    }
  }
  return YOKE_OK;
}

static bool has_part(const yoke_fmi_package* package, const char* name,
                     char path[YOKE_FMI_MAX_PATH]) {
  return yoke__os_path_join(package->path, name, path, YOKE_FMI_MAX_PATH) < YOKE_FMI_MAX_PATH &&
         yoke__os_is_directory(path);
}

static yoke_status look_into_folder(yoke_fmi_package* package) {
  own_parts* own = package->own;
  char path[YOKE_FMI_MAX_PATH], inner[YOKE_FMI_MAX_PATH], name[YOKE_FMI_MAX_PATH];
  package->has_sources = has_part(package, "sources", path);
  package->has_resources = has_part(package, "resources", path);
  package->has_documentation = has_part(package, "documentation", path);
  if (!has_part(package, "binaries", path)) {
    return YOKE_OK;
  }
  const char** folders = NULL;
  size_t n_folders = 0, n_all = 0;
  YOKE_TRY(yoke__fmi_folder_names(path, &own->arena, &folders, &n_folders));
  n_folders = n_folders < 64 ? n_folders : 64;

  // first counted, then kept
  const char** platforms = NULL;
  for (int pass = 0; pass < 2; pass++) {
    size_t n_room = 64;
    for (size_t i = 0; i < n_folders; i++) {
      const char** files = NULL;
      size_t n_files = 0;
      if (yoke__os_path_join(path, folders[i], inner, sizeof inner) >= sizeof inner) {
        continue;
      }
      YOKE_TRY(yoke__fmi_folder_names(inner, &own->arena, &files, &n_files));
      for (size_t j = 0; j < n_files && pass == 0; j++) {
        n_all++;
      }
      for (size_t j = 0; j < n_files && pass == 1 && own->n_libraries < n_all; j++) {
        snprintf(name, sizeof name, "%.2000s/%.2000s", folders[i], files[j]);
        YOKE_TRY(note_binary(package, platforms, name, &n_room));
      }
    }
    if (pass == 0) {
      YOKE_TRY(make_room(package, &platforms, n_all + 64));
    }
  }
  return YOKE_OK;
}

// ---- the description

// A part of the package as text, to be freed. YOKE_NO_SUPPORT: there is none.
static yoke_status read_part(const yoke_fmi_package* package, const char* name, size_t max_size,
                             char** bytes, size_t* n, const yoke_sink* sink) {
  const own_parts* own = package->own;
  if (own->zip != NULL) {
    const size_t at = yoke__zip_find(own->zip, name);
    return at == (size_t)-1 ? YOKE_NO_SUPPORT
                            : yoke__zip_read(own->zip, at, max_size, bytes, n, sink);
  }
  char path[YOKE_FMI_MAX_PATH];
  if (yoke__os_path_join(package->path, name, path, sizeof path) >= sizeof path ||
      !yoke__os_is_file(path)) {
    return YOKE_NO_SUPPORT;
  }
  return yoke__os_read_file(path, max_size, bytes, n, sink);
}

// An archive whose content lies one folder too deep is a frequent mistake of hand-made FMUs.
static const char* nested_description(const own_parts* own) {
  for (size_t i = 0; own->zip != NULL && i < yoke__zip_count(own->zip); i++) {
    const char* name = yoke__zip_entry(own->zip, i)->name;
    const char* slash = strchr(name, '/');
    if (slash != NULL && strcmp(slash + 1, "modelDescription.xml") == 0) {
      return name;
    }
  }
  return NULL;
}

static yoke_status read_description(yoke_fmi_package* package, yoke_messages* messages) {
  own_parts* own = package->own;
  char* bytes = NULL;
  size_t n = 0;
  const yoke_place place = {own->file, 0, 0};
  yoke_context context;
  const yoke_sink list = yoke__messages_sink(messages);
  yoke__context_init(&context, &list, place, NULL, (double)NAN);
  const yoke_status status =
      read_part(package, "modelDescription.xml", MAX_XML, &bytes, &n, &context.sink);
  if (status == YOKE_NO_SUPPORT) {
    const char* nested = nested_description(own);
    if (nested != NULL) {
      yoke__error(
          messages, place,
          "no modelDescription.xml at its top, only %.200s: its content lies one folder too "
          "deep [fmi-description-missing]",
          nested);
    } else {
      yoke__error(messages, place,
                  "no modelDescription.xml in it: this is no FMU [fmi-description-missing]");
    }
    return YOKE_BAD_INPUT;
  }
  if (status < 0) {
    return yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT;
  }
  const yoke_status read = yoke__fmi_read(bytes, n, own->source, messages, &package->description);
  free(bytes);
  return read;
}

// Terminals are an extra: nothing that is wrong with them keeps an FMU from running.
static yoke_status read_terminals(yoke_fmi_package* package, yoke_messages* messages) {
  static const char* const names[] = {"terminalsAndIcons/terminalsAndIcons.xml",
                                      "icons/terminalsAndIcons.xml"};
  own_parts* own = package->own;
  for (size_t i = 0; i < 2; i++) {
    char* bytes = NULL;
    size_t n = 0;
    char source[512];
    YOKE_CATCH(err);
    const yoke_status status = read_part(package, names[i], MAX_TERMINALS, &bytes, &n, &err.sink);
    if (status == YOKE_NO_SUPPORT) {
      continue;
    }
    snprintf(source, sizeof source, "%.400s/%s", own->file, names[i]);
    if (yoke__status_is_shortage(status)) {
      return yoke__messages_fail(messages, status, (yoke_place){.source = own->file}, "%s",
                                 err.text);
    }
    if (status < 0) {
      yoke_fmi_findings findings = {0};
      yoke__fmi_find_fault(&findings, YOKE_FMI_RULE_TERMINAL_XML, 0, 0, "%.150s", err.text);
      yoke__fmi_tell_faults(&findings, source, messages);
      return YOKE_OK;
    }
    const yoke_status read =
        yoke__fmi_read_terminals(package->description, bytes, n, source, messages);
    free(bytes);
    return read;
  }
  return YOKE_OK;
}

const yoke_fmi_library* yoke__fmi_only_library(const own_parts* own, const char* platform) {
  const yoke_fmi_library* found = NULL;
  for (size_t i = 0; i < own->n_libraries; i++) {
    if (platform == NULL || strcmp(own->libraries[i].platform, platform) == 0) {
      if (found != NULL) {
        return NULL;
      }
      found = &own->libraries[i];
    }
  }
  return found;
}

// A missing identifier is the name of the binary without its ending.
static yoke_status guess_identifiers(yoke_fmi_package* package) {
  own_parts* own = package->own;
  yoke_fmi_description* d = package->description;
  yoke_fmi_interface* const all[] = {&d->co_simulation, &d->model_exchange,
                                     &d->scheduled_execution};
  const yoke_fmi_library* found = yoke__fmi_only_library(own, yoke__fmi_platform(d->version));
  found = found == NULL ? yoke__fmi_only_library(own, NULL) : found;
  for (size_t i = 0; found != NULL && i < 3; i++) {
    if (all[i]->is_given && all[i]->model_identifier[0] == '\0') {
      const size_t n = (size_t)(strrchr(found->name, '.') - found->name);
      all[i]->model_identifier = yoke__arena_text(&d->arena, found->name, n);
      YOKE_TRY_MEMORY(all[i]->model_identifier);
    }
  }
  return YOKE_OK;
}

// ---- opening

// Last part of a path, also of "folder/".
static void file_name(const char* path, char* to, size_t size) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') {
    end--;
  }
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') {
    start--;
  }
  const size_t n = end - start < size - 1 ? end - start : size - 1;
  memcpy(to, path + start, n);
  to[n] = '\0';
}

static yoke_fmi_package* new_package(const char* path) {
  yoke_fmi_package* package = calloc(1, sizeof *package);
  own_parts* own = calloc(1, sizeof *own);
  if (package == NULL || own == NULL) {
    free(package);
    free(own);
    return NULL;
  }
  char name[256], source[320];
  package->own = own;
  file_name(path, name, sizeof name);
  snprintf(source, sizeof source, "%s/modelDescription.xml", name);
  package->path = keep(own, path);
  own->file = keep(own, name);
  own->source = keep(own, source);
  if (package->path == NULL || own->file == NULL || own->source == NULL) {
    yoke__fmi_close(&package);
  }
  return package;
}

static yoke_status read_package(yoke_fmi_package* package, yoke_messages* messages) {
  YOKE_TRY(package->own->zip != NULL ? look_into_zip(package) : look_into_folder(package));
  YOKE_TRY(read_description(package, messages));
  YOKE_TRY(guess_identifiers(package));
  return read_terminals(package, messages);
}

static yoke_status open_archive(yoke_fmi_package* package, const void* bytes, size_t n,
                                yoke_messages* messages) {
  own_parts* own = package->own;
  yoke_context context;
  const yoke_sink list = yoke__messages_sink(messages);
  yoke__context_init(&context, &list, (yoke_place){own->file, 0, 0}, NULL, (double)NAN);
  own->is_memory = bytes != NULL;
  package->file_size = bytes == NULL ? yoke__fmi_file_size(package->path) : n;
  return bytes == NULL ? yoke__zip_open(package->path, &own->zip, &context.sink)
                       : yoke__zip_open_memory(bytes, n, &own->zip, &context.sink);
}

// From bytes, or from the file or folder at path if they are NULL. A failure has a message and leaves nothing behind.
static yoke_status open_package(const char* path, const void* bytes, size_t n,
                                yoke_messages* messages, yoke_fmi_package** out) {
  *out = NULL;
  const size_t n_errors = messages->n_errors;
  yoke_fmi_package* package = new_package(path);
  yoke_status status = package == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0 && (bytes != NULL || !yoke__os_is_directory(path))) {
    status = open_archive(package, bytes, n, messages);
  }
  if (status >= 0) {
    status = read_package(package, messages);
  }
  if (status == YOKE_NO_MEMORY && messages->n_errors == n_errors) {
    const yoke_place place = {package == NULL ? NULL : package->own->file, 0, 0};
    yoke__messages_fail(messages, status, place, "out of memory");
  }
  if (status < 0) {
    yoke__fmi_close(&package);
    return yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT;
  }
  *out = package;
  return YOKE_OK;
}

yoke_status yoke__fmi_open(const char* path, yoke_messages* messages, yoke_fmi_package** out) {
  return open_package(path, NULL, 0, messages, out);
}

yoke_status yoke__fmi_open_memory(const void* bytes, size_t n, const char* name,
                                  yoke_messages* messages, yoke_fmi_package** out) {
  return open_package(name, bytes == NULL ? "" : bytes, n, messages, out);
}

void yoke__fmi_close(yoke_fmi_package** package) {
  if (*package == NULL) {
    return;
  }
  own_parts* own = (*package)->own;
  yoke__fmi_free(&(*package)->description);
  yoke__zip_close(&own->zip);
  yoke__temp_remove(&own->temp);
  yoke__arena_free(&own->arena);
  free(own);
  free(*package);
  *package = NULL;
}
