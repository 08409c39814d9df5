// Shared libraries of the user: tried in a process of their own, loaded, and their tables checked.
#include "unit/unit_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_process.h"
#include "base/base_status.h"
#include "unit/unit.h"

#define LOAD_TIMEOUT_S 10
#define MAX_TABLES     10000  // of one kind; more is a damaged number

// ---- tables

// Complete tables in place of those of a list. list: a pointer to an array of pointers to tables, of whatever type.
static yoke_status accept_list(yoke_shared_library* library, void* list, size_t n, size_t size,
                               const char* what, const yoke_sink* sink) {
  const char* given = NULL;
  memcpy(&given, list, sizeof given);
  if (n > MAX_TABLES || (n > 0 && given == NULL)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "its table counts %zu %ss but does not list them", n,
                     what);
  }
  const void** all = yoke__arena_array(&library->arena, n + 1, sizeof *all);
  if (all == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  for (size_t i = 0; i < n; i++) {
    const void* table = NULL;
    memcpy(&table, given + i * sizeof table, sizeof table);
    all[i] = yoke__table_accept(&library->arena, table, size, what, sink);
    if (all[i] == NULL) {
      return YOKE_BAD_INPUT;
    }
  }
  memcpy(list, &all, sizeof all);
  return YOKE_OK;
}

static yoke_status read_table(yoke_shared_library* library, const yoke_sink* sink) {
  const void* symbol = dlsym(library->handle, "yoke_library");
  if (symbol == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "it exports no table `yoke_library`: it is no library of Yoke units");
  }
  yoke_library_table* table = &library->table;
  const void* whole = yoke__table_accept(&library->arena, symbol, sizeof *table, "library", sink);
  if (whole == NULL) {
    return YOKE_BAD_INPUT;
  }
  memcpy(table, whole, sizeof *table);
  YOKE_TRY(
      accept_list(library, &table->units, table->n_units, sizeof(yoke_unit_ops), "unit", sink));
  YOKE_TRY(accept_list(library, &table->couplings, table->n_couplings, sizeof(yoke_coupling_ops),
                       "coupling method", sink));
  YOKE_TRY(accept_list(library, &table->results, table->n_results, sizeof(yoke_result_ops),
                       "result sink", sink));
  for (size_t i = 0; i < table->n_units; i++) {
    const yoke_status status = yoke__models_add(&library->units, table->units[i], sink);
    if (status < 0) {
      return status == YOKE_BAD_ARG ? YOKE_BAD_INPUT : status;
    }
  }
  return YOKE_OK;
}

// ---- loading

static yoke_status load(const char* path, yoke_shared_library** out, const yoke_sink* sink) {
  yoke_shared_library* library = calloc(1, sizeof *library);
  if (library == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  errno = 0;
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const int code = errno;
  const yoke_status status =
      library->handle == NULL
          ? yoke_fail(sink, yoke__status_of_errno(code), "it cannot be loaded: %s",
                      code == ENOMEM ? yoke__errno_text(code) : dlerror())
          : read_table(library, sink);
  if (status < 0) {
    yoke__library_close(&library);
    return status;
  }
  *out = library;
  return YOKE_OK;
}

enum { TRIED = 42 };  // how the trying process ends; a constructor may choose others

static int load_in_child(const void* path) {
  yoke_shared_library* library = NULL;
  load(path, &library, NULL);
  // the process ends with it; NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
  return TRIED;  // whatever speaks against it is reported by the second try
}

static int unload_in_child(const void* path) {
  yoke_shared_library* library = NULL;
  load(path, &library, NULL);
  yoke__library_close(&library);
  return TRIED;
}

static yoke_status try_in_child(int (*run)(const void*), const char* path, const char* what,
                                const yoke_sink* sink) {
  yoke_process child;
  YOKE_TRY(yoke__process_fork(run, path, &child, sink));
  if (!yoke__process_wait(&child, LOAD_TIMEOUT_S * INT64_C(1000000000))) {
    yoke__process_kill(&child);
    return yoke_fail(sink, YOKE_IO, "it hangs while it is %s: not done after %d s", what,
                     LOAD_TIMEOUT_S);
  }
  if (child.is_known && child.signal_number != 0) {
    return yoke_fail(sink, YOKE_IO, "it crashes while it is %s (%s)", what,
                     yoke__signal_text(child.signal_number));
  }
  if (child.is_known && child.exit_status != TRIED) {
    return yoke_fail(sink, YOKE_IO, "it ends the program while it is %s (exit status %d)", what,
                     child.exit_status);
  }
  return YOKE_OK;
}

yoke_status yoke__library_open(const char* path, yoke_shared_library** out, const yoke_sink* sink) {
  *out = NULL;
  if (!yoke__os_is_file(path)) {
    return yoke_fail(sink, YOKE_IO,
                     yoke__os_is_directory(path) ? "it is a folder" : "there is no such file");
  }
  // a name without a slash would be searched for elsewhere
  char full[4096];
  yoke__os_path_absolute(path, full, sizeof full);
  // a destructor that fails would end a program whose run is done
  YOKE_TRY(try_in_child(load_in_child, full, "loaded", sink));
  YOKE_TRY(try_in_child(unload_in_child, full, "unloaded", sink));
  return load(full, out, sink);
}

void yoke__library_close(yoke_shared_library** handle) {
  yoke_shared_library* library = *handle;
  if (library == NULL) {
    return;
  }
  free((void*)library->units.ops);
  yoke__arena_free(&library->arena);
  if (library->handle != NULL) {
    dlclose(library->handle);
  }
  free(library);
  *handle = NULL;
}

// ---- units

const yoke_unit_ops* yoke__library_unit(const yoke_shared_library* library, const char* model,
                                        const yoke_sink* sink) {
  const yoke_models* units = &library->units;
  for (size_t i = 0; model != NULL && i < units->n; i++) {
    if (strcmp(units->ops[i]->name, model) == 0) {
      return units->ops[i];
    }
  }
  if (units->n == 0) {
    yoke_fail(sink, YOKE_BAD_INPUT, "it holds no units");
  } else if (model == NULL && units->n > 1) {
    yoke_fail(sink, YOKE_BAD_INPUT, "it holds %zu units: choose one with 'model', such as %s",
              units->n, units->ops[0]->name);
  } else if (model != NULL) {
    const char* nearest = NULL;
    for (size_t i = 0; i < units->n; i++) {
      nearest = yoke__nearer_name(model, nearest, units->ops[i]->name);
    }
    const bool is_near = nearest != NULL;
    yoke_fail(sink, YOKE_BAD_INPUT, "it has no unit '%.200s'; %s'%s'%s", model,
              is_near ? "did you mean " : "its first one is ",
              is_near ? nearest : units->ops[0]->name, is_near ? "?" : "");
  } else {
    return units->ops[0];
  }
  return NULL;
}
