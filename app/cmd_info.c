// yoke info: the built-in models and coupling methods, one of them, an FMU, a netlist, a shared library, or what a system
// file contains.
#include <stdlib.h>
#include <string.h>

#include "app/app_circuit.h"
#include "app/app_fmu.h"
#include "app/app_method.h"
#include "app/app_sink.h"
#include "app/app_system.h"
#include "base/base_json.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "couple/couple.h"
#include "system/system.h"
#include "unit/unit_models.h"
#include "yoke/registry.h"

static const char* const causalities[] = {"input", "output", "parameter", "tunable", "state"};
static const char* const types[] = {"real",        "integer", "boolean",
                                    "enumeration", "string",  "binary"};

static int finish_json(yoke_json* json) {
  return yoke__app_print_json("info", json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// ---- list of models

static int list_models(bool is_json) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "models");
  yoke__json_begin_array(&json, "models");
  for (size_t i = 0; i < yoke__models_count(NULL); i++) {
    const yoke_unit_ops* ops = yoke__models_at(NULL, i);
    if (is_json) {
      yoke__json_begin_object(&json, NULL);
      yoke__json_string(&json, "name", ops->name);
      yoke__json_string(&json, "text", ops->text);
      yoke__json_end_object(&json);
    } else {
      printf("%-28s %s\n", ops->name, ops->text);
    }
  }
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  if (is_json) {
    return finish_json(&json);
  }
  yoke__json_free(&json);
  printf("\nCoupling methods:\n");
  yoke__app_print_methods();
  printf("\n`yoke info NAME` shows the variables of a model, the settings of a method.\n");
  return YOKE_EXIT_OK;
}

// ---- one model

// The name of the item that an enumeration starts with.
static const char* start_item(const yoke_variable* v) {
  size_t n = 0;
  while (v->items[n] != NULL) {
    n++;
  }
  return v->start >= 0 && v->start < (double)n ? v->items[(size_t)v->start] : "";
}

static void print_variable(const yoke_variable* v) {
  char start[YOKE_NUMBER_SIZE] = "";
  const bool has_start = v->causality == YOKE_PARAMETER || v->causality == YOKE_TUNABLE ||
                         v->causality == YOKE_STATE || (v->flags & YOKE_VARIABLE_HAS_START) != 0;
  if (v->type == YOKE_ENUMERATION && v->items != NULL) {
    snprintf(start, sizeof start, "%.31s", start_item(v));
  } else if (v->type == YOKE_STRING || v->type == YOKE_BINARY) {
    snprintf(start, sizeof start, "%.31s", v->start_text == NULL ? "" : v->start_text);
  } else if (v->type == YOKE_BOOLEAN) {
    snprintf(start, sizeof start, "%s", v->start != 0 ? "true" : "false");
  } else {
    yoke__number_format(v->start, start);
  }
  char name[128];
  const size_t n = (v->n_rows == 0 ? 1 : v->n_rows) * (v->n_cols == 0 ? 1 : v->n_cols);
  snprintf(name, sizeof name, n > 1 ? "%s[%zu]" : "%s", v->name, n);
  printf("  %-10s %-16s %-12s %-8s %-14s %s\n", causalities[v->causality], name, types[v->type],
         v->dim == NULL ? "" : v->dim, has_start ? start : "-", v->text == NULL ? "" : v->text);
  if (v->type == YOKE_ENUMERATION && v->items != NULL) {
    printf("  %-10s %-16s one of:", "", "");
    for (size_t i = 0; v->items[i] != NULL; i++) {
      printf(" %s", v->items[i]);
    }
    printf("\n");
  }
}

static void json_variable(const yoke_variable* v, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", v->name);
  yoke__json_string(json, "causality", causalities[v->causality]);
  yoke__json_string(json, "type", types[v->type]);
  yoke__json_string(json, "dimension", v->dim == NULL ? "" : v->dim);
  yoke__json_string(json, "text", v->text == NULL ? "" : v->text);
  yoke__json_integer(json, "rows", (int64_t)(v->n_rows == 0 ? 1 : v->n_rows));
  yoke__json_integer(json, "columns", (int64_t)(v->n_cols == 0 ? 1 : v->n_cols));
  if (v->type == YOKE_STRING) {
    yoke__json_string(json, "start", v->start_text == NULL ? "" : v->start_text);
  } else if (v->type == YOKE_ENUMERATION && v->items != NULL) {
    yoke__json_string(json, "start", start_item(v));
    yoke__json_begin_array(json, "items");
    for (size_t i = 0; v->items[i] != NULL; i++) {
      yoke__json_string(json, NULL, v->items[i]);
    }
    yoke__json_end_array(json);
  } else {
    yoke__json_number(json, "start", v->start);
  }
  yoke__json_end_object(json);
}

static void json_model(const yoke_unit_ops* ops, yoke_json* json) {
  const yoke_unit_info* info = ops->info;
  yoke__json_string(json, "name", ops->name);
  yoke__json_string(json, "text", ops->text == NULL ? "" : ops->text);
  yoke__json_begin_array(json, "structure");
  for (size_t i = 0; i < ops->n_structure; i++) {
    json_variable(&ops->structure[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; info != NULL && i < info->n_variables; i++) {
    json_variable(&info->variables[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "feedthrough");
  for (size_t i = 0; info != NULL && i < info->n_feedthrough; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "output", info->variables[info->feedthrough[i].output].name);
    yoke__json_string(json, "input", info->variables[info->feedthrough[i].input].name);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void print_model(const yoke_unit_ops* ops) {
  const yoke_unit_info* info = ops->info;
  printf("%s: %s\n\n", ops->name, ops->text == NULL ? "" : ops->text);
  printf("  %-10s %-16s %-12s %-8s %-14s %s\n", "kind", "name", "type", "unit", "start", "meaning");
  for (size_t i = 0; i < ops->n_structure; i++) {
    print_variable(&ops->structure[i]);
  }
  for (size_t i = 0; info != NULL && i < info->n_variables; i++) {
    print_variable(&info->variables[i]);
  }
  for (size_t i = 0; info != NULL && i < info->n_feedthrough; i++) {
    printf("%s%s <- %s", i == 0 ? "\nfeedthrough  " : ", ",
           info->variables[info->feedthrough[i].output].name,
           info->variables[info->feedthrough[i].input].name);
  }
  if (info == NULL) {
    printf("\nInputs and outputs follow from these parameters; `yoke check` shows them for a "
           "system.\n");
  } else if (info->n_feedthrough > 0) {
    printf("\n");
  }
}

static int show_model(const yoke_unit_ops* ops, bool is_json) {
  if (!is_json) {
    print_model(ops);
    return YOKE_EXIT_OK;
  }
  yoke_json json = {0};
  yoke__json_begin_document(&json, "model");
  json_model(ops, &json);
  yoke__json_end_object(&json);
  return finish_json(&json);
}

// ---- one method

static int show_method(const yoke_coupling_ops* ops, bool is_json) {
  if (!is_json) {
    yoke__app_print_method(ops);
    return YOKE_EXIT_OK;
  }
  yoke_json json = {0};
  yoke__json_begin_document(&json, "method");
  yoke__app_method_json(ops, &json);
  yoke__json_end_object(&json);
  return finish_json(&json);
}

// ---- a shared library

static void print_library(const yoke_registry* registry) {
  const yoke_unit_ops* unit = NULL;
  const yoke_coupling_ops* method = NULL;
  const char* between = "";
  for (size_t i = yoke__models_count(NULL); (unit = yoke_registry_unit(registry, i)) != NULL; i++) {
    printf("%s", between);
    print_model(unit);
    between = "\n";
  }
  for (size_t i = yoke__n_coupling_methods; (method = yoke_registry_coupling(registry, i)) != NULL;
       i++) {
    printf("%s", between);
    yoke__app_print_method(method);
    between = "\n";
  }
}

static int json_library(const yoke_registry* registry, const char* path) {
  const yoke_unit_ops* unit = NULL;
  const yoke_coupling_ops* method = NULL;
  yoke_json json = {0};
  yoke__json_begin_document(&json, "library");
  yoke__json_string(&json, "file", path);
  yoke__json_begin_array(&json, "models");
  for (size_t i = yoke__models_count(NULL); (unit = yoke_registry_unit(registry, i)) != NULL; i++) {
    yoke__json_begin_object(&json, NULL);
    json_model(unit, &json);
    yoke__json_end_object(&json);
  }
  yoke__json_end_array(&json);
  yoke__json_begin_array(&json, "methods");
  for (size_t i = yoke__n_coupling_methods; (method = yoke_registry_coupling(registry, i)) != NULL;
       i++) {
    yoke__json_begin_object(&json, NULL);
    yoke__app_method_json(method, &json);
    yoke__json_end_object(&json);
  }
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  return finish_json(&json);
}

static int show_library(const char* path, bool is_json) {
  yoke_registry* registry = NULL;
  yoke_status status = yoke_registry_create(&registry);
  if (status >= 0) {
    status = yoke_registry_load(registry, path, &yoke__app_sink);
  }
  int result = YOKE_EXIT_OK;
  if (status < 0) {
    result = yoke__app_fail("info", status);
  } else if (is_json) {
    result = json_library(registry, path);
  } else {
    print_library(registry);
  }
  yoke_registry_destroy(&registry);
  return result;
}

// ---- a system file

static int show_system(const yoke_options* options, bool is_json) {
  yoke_system* system = yoke__app_load(options, NULL, 0, false);
  if (system == NULL) {
    return YOKE_EXIT_USAGE;
  }
  int status = YOKE_EXIT_OK;
  if (is_json) {
    yoke_json json = {0};
    yoke__system_json(system, NULL, &json);
    status = finish_json(&json);
  } else {
    printf("%s: %zu units, %zu laws, %zu connections, %zu bonds\n", system->scenario->name,
           system->n_units - system->n_laws, system->n_laws, system->n_links, system->n_bonds);
    for (size_t i = 0; i < system->n_units; i++) {
      printf("  %-16s %s\n", system->units[i].name, system->units[i].unit.ops->name);
    }
    printf("`yoke check` prints the whole resolved system.\n");
  }
  yoke__system_destroy(&system);
  return status;
}

// A name that is no model's: a file that exists, or one that was probably meant as such.
static bool looks_like_file(const char* text) {
  return yoke__os_is_file(text) || strchr(text, '/') != NULL || strstr(text, ".yaml") != NULL ||
         strstr(text, ".yml") != NULL || strstr(text, ".ssp") != NULL ||
         strstr(text, ".ssd") != NULL;
}

int yoke_cmd_info(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_info, argc, argv, &options, &status)) {
    return status;
  }
  const bool is_json = yoke__options_has(&options, "json");
  const char* what = options.operands[0];
  const yoke_unit_ops* ops = what == NULL ? NULL : yoke__models_find(NULL, what);
  if (what == NULL) {
    status = list_models(is_json);
  } else if (ops != NULL) {
    status = show_model(ops, is_json);
  } else if (yoke__coupling_find(what) != NULL) {
    status = show_method(yoke__coupling_find(what), is_json);
  } else if (yoke__path_is_fmu(what)) {
    status = yoke__app_show_fmu(what, is_json, yoke__options_has(&options, "all"));
  } else if (yoke__path_is_netlist(what)) {
    status = yoke__app_show_circuit(&options, is_json);
  } else if (yoke__path_is_library(what)) {
    status = show_library(what, is_json);
  } else if (looks_like_file(what)) {
    status = show_system(&options, is_json);
  } else {
    const char* nearest = yoke__models_nearest(NULL, what);
    yoke__app_error(
        "info", "'%s' is neither a model nor a coupling method nor a system file nor an FMU%s%s%s",
        what, nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
        nearest == NULL ? "" : "'?");
    status = YOKE_EXIT_USAGE;
  }
  yoke__options_free(&options);
  return status;
}
