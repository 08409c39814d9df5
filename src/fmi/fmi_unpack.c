// The parts of an FMU that a run needs, on the disk: the binaries of this machine and the resources.
#include <stdio.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "fmi/fmi_folder.h"
#include "fmi/fmi_package_own.h"
#include "fmi/fmi_rules.h"

typedef struct yoke_fmi_package_private own_parts;

static const char* keep(own_parts* own, const char* text) {
  return yoke__arena_text(&own->arena, text, strlen(text));
}

// ---- which binary

const char* yoke__fmi_platform(int version) {
#if defined(__x86_64__)
  return version == 3 ? "x86_64-linux" : "linux64";
#elif defined(__aarch64__)
  (void)version;
  return "aarch64-linux";
#elif defined(__arm__)
  (void)version;
  return "aarch32-linux";
#else
  (void)version;
  return "unknown-linux";
#endif
}

static bool has_platform(const yoke_fmi_package* package, const char* platform) {
  for (size_t i = 0; i < package->n_platforms; i++) {
    if (strcmp(package->platforms[i], platform) == 0) {
      return true;
    }
  }
  return false;
}

// The folder of this machine's binaries, or NULL after an error. The name of the other version is as good.
static const char* choose_platform(const yoke_fmi_package* package, yoke_fmi_findings* findings,
                                   yoke_messages* messages) {
  const int version = package->description->version;
  const char* own_name = yoke__fmi_platform(version);
  const char* other = yoke__fmi_platform(version == 3 ? 2 : 3);
  if (has_platform(package, own_name)) {
    return own_name;
  }
  if (has_platform(package, other)) {
    yoke__fmi_find_fault(findings, YOKE_FMI_RULE_BINARY_FOLDER, 0, 0,
                         "binaries lie in '%s' instead of '%s'", other, own_name);
    return other;
  }
  char list[400] = "";
  for (size_t i = 0, n = 0; i < package->n_platforms && n < sizeof list - 1; i++) {
    const int wrote =
        snprintf(list + n, sizeof list - n, "%s%.60s", i == 0 ? "" : ", ", package->platforms[i]);
    n += wrote < 0 ? 0 : (size_t)wrote;
  }
  const char* rest = package->n_platforms > 0 ? "it has those of " : "it has none at all";
  const char* hint = package->has_sources && package->n_platforms == 0
                         ? ", only sources, which Yoke does not compile"
                         : "";
  yoke__error(messages, (yoke_place){package->own->file, 0, 0},
              "no binary for this machine (%s): %s%s%s [fmi-binary-missing]", own_name, rest, list,
              hint);
  return NULL;
}

static bool is_shared_object(const char* name) {
  const size_t n = strlen(name);
  return n > 3 && strcmp(name + n - 3, ".so") == 0;
}

// The library of an interface in the chosen folder; NULL if there is none that could be meant.
static const char* library_of(const yoke_fmi_package* package, const char* platform,
                              const yoke_fmi_interface* interface_type) {
  const own_parts* own = package->own;
  const size_t n = strlen(interface_type->model_identifier);
  for (size_t i = 0; i < own->n_libraries; i++) {
    const yoke_fmi_library* one = &own->libraries[i];
    if (strcmp(one->platform, platform) == 0 &&
        strncmp(one->name, interface_type->model_identifier, n) == 0 &&
        strcmp(one->name + n, ".so") == 0) {
      return one->name;
    }
  }
  const yoke_fmi_library* only = yoke__fmi_only_library(own, platform);
  return only == NULL || !is_shared_object(only->name) ? NULL : only->name;
}

// Each interface must find its library.
static yoke_status check_libraries(const yoke_fmi_package* package, const char* platform,
                                   yoke_fmi_findings* findings, yoke_messages* messages) {
  const yoke_fmi_description* d = package->description;
  const yoke_fmi_interface* const all[] = {&d->co_simulation, &d->model_exchange};
  size_t n_given = 0, n_found = 0;
  const char* wanted = "";
  for (size_t i = 0; i < 2; i++) {
    if (!all[i]->is_given) {
      continue;
    }
    const char* name = library_of(package, platform, all[i]);
    const size_t n = strlen(all[i]->model_identifier);
    n_given++;
    n_found += name != NULL;
    wanted = name == NULL ? all[i]->model_identifier : wanted;
    if (name != NULL && n > 0 && strncmp(name, all[i]->model_identifier, n) != 0) {
      yoke__fmi_find_fault(findings, YOKE_FMI_RULE_BINARY_NAME, 0, 0,
                           "binaries/%s has '%s' and no '%s.so'", platform, name,
                           all[i]->model_identifier);
    }
  }
  if (n_found == 0 && n_given > 0) {
    yoke__error(messages, (yoke_place){package->own->file, 0, 0},
                "binaries/%s has no library '%s.so' [fmi-binary-missing]", platform, wanted);
    return YOKE_BAD_INPUT;
  }
  return YOKE_OK;
}

// ---- onto the disk

// A folder of our own; for an unpacked FMU only if it has no resources.
static yoke_status make_temp(own_parts* own, const yoke_sink* sink) {
  YOKE_TRY(yoke__temp_create(&own->temp, sink));
  char path[YOKE_FMI_MAX_PATH];
  yoke__os_path_join(yoke__temp_path(own->temp), "resources", path, sizeof path);
  return yoke__os_make_directory(path, sink);
}

static yoke_status extract(yoke_fmi_package* package, const char* platform, const yoke_sink* sink) {
  own_parts* own = package->own;
  char prefix[300];
  YOKE_TRY(make_temp(own, sink));
  const char* to = yoke__temp_path(own->temp);
  snprintf(prefix, sizeof prefix, "binaries/%.255s/", platform);
  YOKE_TRY(yoke__zip_extract(own->zip, prefix, to, sink));
  if (!own->is_without_resources) {
    YOKE_TRY(yoke__zip_extract(own->zip, "resources/", to, sink));
  }
  package->directory = keep(own, to);
  yoke__zip_close(&own->zip);
  return package->directory == NULL ? yoke_fail(sink, YOKE_NO_MEMORY, "out of memory") : YOKE_OK;
}

static yoke_status use_folder(yoke_fmi_package* package, const yoke_sink* sink) {
  own_parts* own = package->own;
  package->directory = yoke__fmi_folder_real(package->path, &own->arena);
  if (package->directory == NULL) {
    return yoke_fail(sink, YOKE_IO, "the folder is gone");
  }
  return package->has_resources ? YOKE_OK : make_temp(own, sink);
}

static yoke_status place_parts(yoke_fmi_package* package, const char* platform,
                               const yoke_sink* sink) {
  own_parts* own = package->own;
  YOKE_TRY(own->zip != NULL ? extract(package, platform, sink) : use_folder(package, sink));
  char path[YOKE_FMI_MAX_PATH];
  const char* base = own->temp == NULL ? package->directory : yoke__temp_path(own->temp);
  yoke__os_path_join(base, "resources/", path, sizeof path);
  own->resources = keep(own, path);
  return own->resources == NULL ? yoke_fail(sink, YOKE_NO_MEMORY, "out of memory") : YOKE_OK;
}

yoke_status yoke__fmi_unpack(yoke_fmi_package* package, yoke_messages* messages) {
  own_parts* own = package->own;
  const yoke_place place = {own->file, 0, 0};
  if (package->directory != NULL) {
    return YOKE_OK;
  }
  if (own->is_memory) {
    yoke__error(messages, place, "an FMU in memory cannot be unpacked");
    return YOKE_BAD_INPUT;
  }
  yoke_fmi_findings findings = {0};
  const char* platform = choose_platform(package, &findings, messages);
  if (platform == NULL) {
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(check_libraries(package, platform, &findings, messages));
  yoke__fmi_tell_faults(&findings, own->source, messages);

  // the folder goes at once if it cannot be filled
  yoke_context context;
  const yoke_sink list = yoke__messages_sink(messages);
  yoke__context_init(&context, &list, place, NULL, (double)NAN);
  const yoke_status status = place_parts(package, platform, &context.sink);
  if (status < 0) {
    yoke__temp_remove(&own->temp);
    package->directory = NULL;
    return yoke__status_is_outside(status) ? status : YOKE_BAD_INPUT;
  }
  own->platform = platform;
  return YOKE_OK;
}

yoke_status yoke__fmi_unpack_binaries(yoke_fmi_package* package, yoke_messages* messages) {
  package->own->is_without_resources = true;
  return yoke__fmi_unpack(package, messages);
}

// ---- where it lies

yoke_status yoke__fmi_binary_path(const yoke_fmi_package* package,
                                  const yoke_fmi_interface* interface_type, char* to, size_t size) {
  const own_parts* own = package->own;
  const char* name = package->directory == NULL || !interface_type->is_given
                         ? NULL
                         : library_of(package, own->platform, interface_type);
  if (name == NULL) {
    return YOKE_BAD_ARG;
  }
  const int n = snprintf(to, size, "%s/binaries/%s/%s", package->directory, own->platform, name);
  return n < 0 || (size_t)n >= size ? YOKE_FULL : YOKE_OK;
}

void yoke__fmi_resources_path(const yoke_fmi_package* package, char* to, size_t size) {
  snprintf(to, size, "%s", package->own->resources == NULL ? "" : package->own->resources);
}
