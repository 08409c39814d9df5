// A user's own unit: its shared library lies in the resources and is loaded where that is possible. It was tried when the
// FMU was made; what is checked here is that it is the same kind of library and has the unit.
#include "unit/unit_library.h"

#include <stdio.h>
#include <string.h>

#include "base/base_message.h"
#include "export/runtime/runtime.h"

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>

static yoke_status find_unit(const char* model, yoke_arena* arena, yoke_runtime_config* config,
                             const yoke_sink* sink) {
  const void* symbol = dlsym(config->library, "yoke_library");
  const yoke_library_table* table =
      yoke__table_accept(arena, symbol, sizeof *table, "library", sink);
  if (table == NULL) {
    return YOKE_BAD_INPUT;
  }
  for (size_t i = 0; i < table->n_units; i++) {
    const yoke_unit_ops* unit =
        yoke__table_accept(arena, table->units[i], sizeof *unit, "unit", sink);
    if (unit == NULL) {
      return YOKE_BAD_INPUT;
    }
    if (unit->name != NULL && strcmp(unit->name, model) == 0) {
      config->ops = unit;
      return YOKE_OK;
    }
  }
  return yoke_fail(sink, YOKE_BAD_INPUT, "the library has no unit '%.200s'", model);
}

yoke_status yoke__runtime_library_open(const char* directory, const char* file, const char* model,
                                       yoke_arena* arena, yoke_runtime_config* config,
                                       const yoke_sink* sink) {
  const size_t size = strlen(directory) + strlen(file) + 2;
  char* path = yoke__arena_take(arena, size);
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  (void)snprintf(path, size, "%s/%s", directory, file);
  config->ops = NULL;
  config->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return config->library == NULL
             ? yoke_fail(sink, YOKE_IO, "the library of the unit cannot be loaded: %s", dlerror())
             : find_unit(model, arena, config, sink);
}

void yoke__runtime_library_close(yoke_runtime_config* config) {
  if (config->library != NULL) {
    (void)dlclose(config->library);
    config->library = NULL;
  }
}

#else

yoke_status yoke__runtime_library_open(const char* directory, const char* file, const char* model,
                                       yoke_arena* arena, yoke_runtime_config* config,
                                       const yoke_sink* sink) {
  (void)directory;
  (void)file;
  (void)arena;
  (void)config;
  return yoke_fail(sink, YOKE_NO_SUPPORT,
                   "shared libraries, such as that of '%.200s', cannot be "
                   "loaded here",
                   model);
}

void yoke__runtime_library_close(yoke_runtime_config* config) {
  (void)config;
}

#endif
