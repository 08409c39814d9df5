// Registry: built-in units and methods, those of the program, and those of shared libraries.
#include "system/system_registry.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_format.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_process.h"
#include "couple/couple.h"

#define LOAD_TIMEOUT_NS ((int64_t)20 * 1000000000)

yoke_status yoke_registry_create(yoke_registry** out) {
  if (out == NULL) {
    return YOKE_BAD_ARG;
  }
  *out = calloc(1, sizeof **out);
  return *out == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

void yoke_registry_destroy(yoke_registry** handle) {
  if (handle == NULL || *handle == NULL) {
    return;
  }
  yoke_registry* registry = *handle;
  for (size_t i = 0; i < registry->n_libraries; i++) {
    dlclose(registry->libraries[i]);
  }
  free(registry->libraries);
  free((void*)registry->units.ops);
  free((void*)registry->couplings);
  free((void*)registry->results);
  yoke__arena_free(&registry->arena);
  free(registry);
  *handle = NULL;
}

// ---- tables

// The beginning that all tables share.
typedef struct table_head {
  size_t size;
  uint32_t version;
} table_head;

// The table itself, or a copy with zeros where it was made with older headers and is shorter. NULL after a message.
static const void* accept(yoke_registry* registry, const void* table, size_t size, const char* what,
                          const yoke_sink* sink) {
  if (table == NULL) {
    yoke_fail(sink, YOKE_BAD_ARG, "the table of a %s is NULL", what);
    return NULL;
  }
  table_head head;
  memcpy(&head, table, sizeof head);
  if (head.version != YOKE_CONTRACT_VERSION || head.size < sizeof head) {
    yoke_fail(sink, YOKE_BAD_ARG,
              "the table of a %s was made for version %u of the contract, this library has %u: "
              "compile it again with the present headers",
              what, head.version, YOKE_CONTRACT_VERSION);
    return NULL;
  }
  if (head.size >= size) {
    return table;
  }
  void* full = yoke__arena_take(&registry->arena, size);
  if (full == NULL) {
    yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
    return NULL;
  }
  return memcpy(full, table, head.size);
}

// One more pointer at the end of a list; list points to a pointer to them, of whatever type.
static yoke_status append(void* list, size_t* n, const void* item, const yoke_sink* sink) {
  const void** larger = NULL;
  memcpy(&larger, list, sizeof larger);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  larger = realloc((void*)larger, (*n + 1) * sizeof *larger);
  if (larger == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  larger[(*n)++] = item;
  memcpy(list, &larger, sizeof larger);
  return YOKE_OK;
}

yoke_status yoke_registry_add_unit(yoke_registry* registry, const yoke_unit_ops* ops,
                                   const yoke_sink* sink) {
  if (registry == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  const yoke_unit_ops* full = accept(registry, ops, sizeof *ops, "unit", sink);
  return full == NULL ? YOKE_BAD_ARG : yoke__models_add(&registry->units, full, sink);
}

// What the engine relies on without asking again.
static bool is_method_usable(const yoke_coupling_ops* ops) {
  return ops->name != NULL && ops->name[0] != '\0' && ops->size != NULL && ops->prepare != NULL &&
         ops->observe != NULL && ops->input != NULL &&
         (ops->n_parameters == 0 || ops->parameters != NULL) &&
         (ops->n_files == 0 || ops->files != NULL) &&
         (ops->n_trace == 0 || (ops->trace_names != NULL && ops->trace != NULL)) &&
         (ops->n_health == 0 || (ops->health_names != NULL && ops->health != NULL));
}

yoke_status yoke_registry_add_coupling(yoke_registry* registry, const yoke_coupling_ops* ops,
                                       const yoke_sink* sink) {
  if (registry == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  const yoke_coupling_ops* full = accept(registry, ops, sizeof *ops, "coupling method", sink);
  if (full == NULL) {
    return YOKE_BAD_ARG;
  }
  if (!is_method_usable(full)) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "the table of coupling method '%s' lacks what every method needs",
                     full->name == NULL ? "" : full->name);
  }
  if (yoke__registry_find_coupling(registry, full->name) != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "there is a coupling method '%s' already", full->name);
  }
  return append(&registry->couplings, &registry->n_couplings, full, sink);
}

yoke_status yoke_registry_add_result(yoke_registry* registry, const yoke_result_ops* ops,
                                     const yoke_sink* sink) {
  if (registry == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  const yoke_result_ops* full = accept(registry, ops, sizeof *ops, "result sink", sink);
  if (full == NULL) {
    return YOKE_BAD_ARG;
  }
  if (full->name == NULL || full->open == NULL || full->write == NULL || full->close == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "the table of result sink '%s' lacks what every sink needs",
                     full->name == NULL ? "" : full->name);
  }
  bool is_taken = yoke__registry_find_result(registry, full->name) != NULL;
  for (size_t i = 0; i < YOKE_N_FORMATS; i++) {
    is_taken = is_taken || strcmp(full->name, yoke__format_names[i]) == 0;
  }
  if (is_taken) {
    return yoke_fail(sink, YOKE_BAD_ARG, "there is a result sink '%s' already", full->name);
  }
  return append(&registry->results, &registry->n_results, full, sink);
}

// ---- looking up

const yoke_unit_ops* yoke_registry_unit(const yoke_registry* registry, size_t i) {
  const yoke_models* units = yoke__registry_units(registry);
  return i < yoke__models_count(units) ? yoke__models_at(units, i) : NULL;
}

const yoke_coupling_ops* yoke_registry_coupling(const yoke_registry* registry, size_t i) {
  if (i < yoke__n_coupling_methods) {
    return yoke__coupling_methods[i];
  }
  const size_t own = i - yoke__n_coupling_methods;
  return registry != NULL && own < registry->n_couplings ? registry->couplings[own] : NULL;
}

const yoke_coupling_ops* yoke__registry_find_coupling(const yoke_registry* registry,
                                                      const char* name) {
  const yoke_coupling_ops* ops = NULL;
  for (size_t i = 0; (ops = yoke_registry_coupling(registry, i)) != NULL; i++) {
    if (strcmp(ops->name, name) == 0) {
      return ops;
    }
  }
  return NULL;
}

const yoke_result_ops* yoke__registry_find_result(const yoke_registry* registry, const char* name) {
  for (size_t i = 0; registry != NULL && i < registry->n_results; i++) {
    if (strcmp(registry->results[i]->name, name) == 0) {
      return registry->results[i];
    }
  }
  return NULL;
}

// ---- shared libraries

static yoke_status add_tables(yoke_registry* registry, const yoke_library_table* table,
                              const yoke_sink* sink) {
  for (size_t i = 0; i < table->n_units; i++) {
    YOKE_TRY(yoke_registry_add_unit(registry, table->units[i], sink));
  }
  for (size_t i = 0; i < table->n_couplings; i++) {
    YOKE_TRY(yoke_registry_add_coupling(registry, table->couplings[i], sink));
  }
  for (size_t i = 0; i < table->n_results; i++) {
    YOKE_TRY(yoke_registry_add_result(registry, table->results[i], sink));
  }
  return YOKE_OK;
}

enum {
  LOADED = 42,
  NOT_LOADED = 43
};  // how the trying process ends; a constructor may choose others

static int try_in_child(const void* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL ? NOT_LOADED : LOADED;
}

// A library's constructors run while it is loaded: a process of its own shows whether they come back.
static yoke_status try_load(const char* path, const yoke_sink* sink) {
  yoke_process child;
  YOKE_TRY(yoke__process_fork(try_in_child, path, &child, sink));
  if (!yoke__process_wait(&child, LOAD_TIMEOUT_NS)) {
    yoke__process_kill(&child);
    return yoke_fail(sink, YOKE_IO, "it is not loaded after %d s",
                     (int)(LOAD_TIMEOUT_NS / 1000000000));
  }
  if (child.is_known && child.signal_number != 0) {
    return yoke_fail(sink, YOKE_IO, "it crashes while it is loaded (%s)",
                     yoke__signal_text(child.signal_number));
  }
  if (child.is_known && child.exit_status != LOADED && child.exit_status != NOT_LOADED) {
    return yoke_fail(sink, YOKE_IO, "it ends the program while it is loaded (exit status %d)",
                     child.exit_status);
  }
  return YOKE_OK;  // what the loader has against it is reported by the second try
}

yoke_status yoke_registry_load(yoke_registry* registry, const char* path, const yoke_sink* sink) {
  if (registry == NULL || path == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){path, 0, 0}, NULL, (double)NAN);
  if (!yoke__os_is_file(path)) {
    return yoke_fail(&about.sink, YOKE_IO, "there is no such file");
  }
  // a name without a slash would be searched for elsewhere
  char full[4096];
  yoke__os_path_absolute(path, full, sizeof full);
  YOKE_TRY(try_load(full, &about.sink));
  void* library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return yoke_fail(&about.sink, YOKE_IO, "it cannot be loaded: %s", dlerror());
  }
  const yoke_library_table* table = dlsym(library, "yoke_library");
  yoke_status status = YOKE_OK;
  if (table == NULL) {
    status = yoke_fail(&about.sink, YOKE_BAD_INPUT,
                       "it exports no table `yoke_library`: it is no library of Yoke units");
  } else {
    const yoke_library_table* whole =
        accept(registry, table, sizeof *table, "library", &about.sink);
    status = whole == NULL ? YOKE_BAD_INPUT : add_tables(registry, whole, &about.sink);
  }
  if (status >= 0) {
    status = append(&registry->libraries, &registry->n_libraries, library, &about.sink);
  }
  if (status < 0 && status != YOKE_BAD_ARG) {
    dlclose(library);  // none of its tables was taken
  }
  return status == YOKE_BAD_ARG ? YOKE_BAD_INPUT : status;
}
