// Registry: built-in units and methods, those of the program, and those of shared libraries.
#include "system/system_registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_format.h"
#include "base/base_message.h"
#include "couple/couple.h"

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
    yoke__library_close(&registry->libraries[i]);
  }
  free((void*)registry->libraries);
  free((void*)registry->units.ops);
  free((void*)registry->couplings);
  free((void*)registry->results);
  yoke__arena_free(&registry->arena);
  free(registry);
  *handle = NULL;
}

// ---- tables

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
  const yoke_unit_ops* full = yoke__table_accept(&registry->arena, ops, sizeof *ops, "unit", sink);
  return full == NULL ? YOKE_BAD_ARG : yoke__models_add(&registry->units, full, sink);
}

// ---- what the engine relies on without asking again

bool yoke__registry_is_method_key(const char* key) {
  static const char* const keys[] = {"method", "members", "order", "library", "inputs"};
  for (size_t i = 0; i < YOKE_COUNT(keys); i++) {
    if (strcmp(keys[i], key) == 0) {
      return true;
    }
  }
  return false;
}

static yoke_status refuse_method(const yoke_coupling_ops* ops, const char* what, const char* name,
                                 const char* why, const yoke_sink* sink) {
  return yoke_fail(sink, YOKE_BAD_ARG, "the table of coupling method '%s' is wrong: %s '%s' %s",
                   ops->name, what, name == NULL ? "" : name, why);
}

size_t yoke__registry_n_settings(const yoke_coupling_ops* ops) {
  return ops->n_parameters + ops->n_files + ops->n_signals;
}

const char* yoke__registry_setting_name(const yoke_coupling_ops* ops, size_t i) {
  const size_t n = ops->n_parameters + ops->n_files;
  return i < ops->n_parameters ? ops->parameters[i].name
         : i < n               ? ops->files[i - ops->n_parameters].name
                               : ops->signals[i - n].name;
}

static yoke_status check_setting_names(const yoke_coupling_ops* ops, const yoke_sink* sink) {
  for (size_t i = 0; i < yoke__registry_n_settings(ops); i++) {
    const char* name = yoke__registry_setting_name(ops, i);
    if (name == NULL || name[0] == '\0') {
      return refuse_method(ops, "parameter", name, "has no name", sink);
    }
    if (yoke__registry_is_method_key(name)) {
      return refuse_method(ops, "parameter", name, "has the name of a key that every method has",
                           sink);
    }
    for (size_t k = 0; k < i; k++) {
      if (strcmp(yoke__registry_setting_name(ops, k), name) == 0) {
        return refuse_method(ops, "parameter", name, "is there twice", sink);
      }
    }
  }
  return YOKE_OK;
}

static yoke_status check_parameter(const yoke_coupling_ops* ops, const yoke_coupling_parameter* p,
                                   const yoke_sink* sink) {
  double min = p->min, max = p->max;
  if (p->items != NULL) {
    size_t n = 0;
    while (p->items[n] != NULL) {
      n++;
    }
    min = 0;
    max = (double)n - 1;
  }
  return p->start >= min && p->start <= max
             ? YOKE_OK
             : refuse_method(ops, "parameter", p->name, "has a default out of its range", sink);
}

static yoke_status check_column_names(const yoke_coupling_ops* ops, const char* what,
                                      const char* const names[], size_t n, const yoke_sink* sink) {
  for (size_t i = 0; i < n; i++) {
    if (names[i] == NULL || names[i][0] == '\0') {
      return refuse_method(ops, what, names[i], "has no name", sink);
    }
    for (size_t k = 0; k < i; k++) {
      if (strcmp(names[k], names[i]) == 0) {
        return refuse_method(ops, what, names[i], "is there twice", sink);
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__registry_check_coupling(const yoke_coupling_ops* ops, const yoke_sink* sink) {
  const bool is_usable = ops->name != NULL && ops->name[0] != '\0' && ops->size != NULL &&
                         ops->prepare != NULL && ops->observe != NULL && ops->input != NULL &&
                         (ops->n_parameters == 0 || ops->parameters != NULL) &&
                         (ops->n_files == 0 || ops->files != NULL) &&
                         (ops->n_signals == 0 || ops->signals != NULL) &&
                         (ops->n_trace == 0 || (ops->trace_names != NULL && ops->trace != NULL)) &&
                         (ops->n_health == 0 || (ops->health_names != NULL && ops->health != NULL));
  if (!is_usable) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "the table of coupling method '%s' lacks what every method needs",
                     ops->name == NULL ? "" : ops->name);
  }
  YOKE_TRY(check_setting_names(ops, sink));
  for (size_t i = 0; i < ops->n_parameters; i++) {
    YOKE_TRY(check_parameter(ops, &ops->parameters[i], sink));
  }
  YOKE_TRY(check_column_names(ops, "trace", ops->trace_names, ops->n_trace, sink));
  return check_column_names(ops, "health", ops->health_names, ops->n_health, sink);
}

yoke_status yoke_registry_add_coupling(yoke_registry* registry, const yoke_coupling_ops* ops,
                                       const yoke_sink* sink) {
  if (registry == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  const yoke_coupling_ops* full =
      yoke__table_accept(&registry->arena, ops, sizeof *ops, "coupling method", sink);
  if (full == NULL) {
    return YOKE_BAD_ARG;
  }
  YOKE_TRY(yoke__registry_check_coupling(full, sink));
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
  const yoke_result_ops* full =
      yoke__table_accept(&registry->arena, ops, sizeof *ops, "result sink", sink);
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

yoke_status yoke_registry_load(yoke_registry* registry, const char* path, const yoke_sink* sink) {
  if (registry == NULL || path == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  yoke_context about;
  yoke__context_init(&about, sink, (yoke_place){path, 0, 0}, NULL, (double)NAN);
  yoke_shared_library* library = NULL;
  YOKE_TRY(yoke__library_open(path, &library, &about.sink));
  const size_t n_units = registry->units.n, n_couplings = registry->n_couplings,
               n_results = registry->n_results;
  yoke_status status = add_tables(registry, &library->table, &about.sink);
  if (status >= 0) {
    status = append(&registry->libraries, &registry->n_libraries, library, &about.sink);
  }
  if (status < 0) {
    registry->units.n = n_units;
    registry->n_couplings = n_couplings;
    registry->n_results = n_results;
    yoke__library_close(&library);
  }
  return status == YOKE_BAD_ARG ? YOKE_BAD_INPUT : status;
}
