// yoke info: the built-in models and coupling methods, one of them, an FMU, a netlist, a shared library, or what a system
// file contains. All of it is a document of the library; here it becomes text.
#include <string.h>

#include "app/app.h"
#include "app/app_circuit.h"
#include "app/app_fmu.h"
#include "app/app_sink.h"
#include "app/app_system.h"
#include "app/app_view.h"
#include "base/base_check.h"
#include "yoke/system.h"

// ---- list of models

static void print_models(const json_t* models) {
  yoke__view_print_all(json_object_get(models, "models"), "{name:28} {text}\n");
  printf("\nCoupling methods:\n");
  yoke__view_print_all(json_object_get(models, "methods"), "{name:28} {text}\n");
  printf("\n`yoke info NAME` shows the variables of a model, the settings of a method.\n");
}

// ---- one model

static void print_variable(const json_t* v) {
  const json_t* items = json_object_get(v, "items");
  const char* type = yoke__view_text(v, "type");
  const json_t* start = json_object_get(v, "start");
  char room[YOKE_NUMBER_SIZE];
  const char* value = yoke__json_find_text(v, "start_text", yoke__view_value(start, room));
  if (strcmp(type, "boolean") == 0) {
    value = json_number_value(start) != 0 ? "true" : "false";
  }
  char name[128];
  const long long n = yoke__view_count(v, "rows") * yoke__view_count(v, "columns");
  snprintf(name, sizeof name, n > 1 ? "%s[%lld]" : "%s", yoke__view_text(v, "name"), n);
  printf("  %-10s %-16s %-12s %-8s %-14.31s %s\n", yoke__view_text(v, "causality"), name, type,
         yoke__view_text(v, "dimension"), yoke__view_is(v, "has_start") ? value : "-",
         yoke__view_text(v, "text"));
  for (size_t i = 0; i < json_array_size(items); i++) {
    if (i == 0) {
      printf("  %-10s %-16s one of:", "", "");
    }
    printf(" %s", json_string_value(json_array_get(items, i)));
  }
  printf("%s", items == NULL ? "" : "\n");
}

static void print_model(const json_t* model) {
  const json_t* part = NULL;
  size_t i = 0;
  yoke__view_print(model, "{name}: {text}\n\n");
  printf("  %-10s %-16s %-12s %-8s %-14s %s\n", "kind", "name", "type", "unit", "start", "meaning");
  json_array_foreach(json_object_get(model, "structure"), i, part) {
    print_variable(part);
  }
  json_array_foreach(json_object_get(model, "variables"), i, part) {
    print_variable(part);
  }
  json_array_foreach(json_object_get(model, "feedthrough"), i, part) {
    printf("%s", i == 0 ? "\nfeedthrough  " : ", ");
    yoke__view_print(part, "{output} <- {input}");
  }
  printf("%s", i == 0 ? "" : "\n");
  if (!yoke__view_is(model, "variables_known")) {
    printf("\nInputs and outputs follow from these parameters; `yoke check` shows them for a "
           "system.\n");
  }
}

// ---- one method

// "0 to 1", "1 or more", or the names
static void range_of(const json_t* setting, char* to, size_t size) {
  const json_t* items = json_object_get(setting, "items");
  const json_t *min = json_object_get(setting, "min"), *max = json_object_get(setting, "max");
  char low[YOKE_NUMBER_SIZE], high[YOKE_NUMBER_SIZE];
  size_t n = 0;
  snprintf(to, size, json_is_number(max) ? "%s to %s" : "%s or more",
           json_is_number(min) ? yoke__view_value(min, low) : "-inf", yoke__view_value(max, high));
  for (size_t i = 0; i < json_array_size(items) && n < size; i++) {
    n += (size_t)snprintf(to + n, size - n, "%s%s", i == 0 ? "" : ", ",
                          json_string_value(json_array_get(items, i)));
  }
}

static void print_method(const json_t* method) {
  static const char line[] = "  %-20s %-10s %-30s %s\n";
  const json_t* setting = NULL;
  size_t i = 0;
  yoke__view_print(method,
                   "{name}: {text}\n  applies to {serves}{jacobi_only?, scheme jacobi only}\n\n");
  printf(line, "setting", "default", "values", "meaning");
  printf(line, "order", "0", "0 to 3", "of the extrapolation");
  json_array_foreach(json_object_get(method, "settings"), i, setting) {
    char range[256], room[YOKE_NUMBER_SIZE];
    range_of(setting, range, sizeof range);
    const char* start = yoke__view_value(json_object_get(setting, "default"), room);
    printf(line, yoke__view_text(setting, "name"),
           yoke__json_find_text(setting, "default_text", start), range,
           yoke__view_text(setting, "text"));
  }
  yoke__view_print_all(json_object_get(method, "files"),
                       "  {name:20} -          a file                         {text}\n");
}

// ---- a shared library, a system

static void print_library(const json_t* library) {
  const json_t* part = NULL;
  const char* between = "";
  size_t i = 0;
  json_array_foreach(json_object_get(library, "models"), i, part) {
    printf("%s", between);
    print_model(part);
    between = "\n";
  }
  json_array_foreach(json_object_get(library, "methods"), i, part) {
    printf("%s", between);
    print_method(part);
    between = "\n";
  }
}

static void print_system(const json_t* system) {
  const json_t* units = json_object_get(system, "units");
  const json_t* unit = NULL;
  size_t i = 0, n_laws = 0;
  json_array_foreach(units, i, unit) {
    n_laws += yoke__view_is(unit, "law");
  }
  printf("%s: %zu units, %zu laws, %zu connections, %zu bonds\n", yoke__view_text(system, "name"),
         json_array_size(units) - n_laws, n_laws,
         json_array_size(json_object_get(system, "connections")),
         json_array_size(json_object_get(system, "bonds")));
  yoke__view_print_all(units, "  {name:16} {model}\n");
  printf("`yoke check` prints the whole resolved system.\n");
}

// ---- the command

static const struct view {
  const char* format;
  void (*print)(const json_t* document);
} views[] = {
    {"yoke-models", print_models},   {"yoke-model", print_model},
    {"yoke-method", print_method},   {"yoke-circuit", yoke__app_print_circuit},
    {"yoke-library", print_library}, {"yoke-system", print_system},
};

static int print_document(char** document, bool is_all) {
  json_t* root = yoke__view_open("info", document);
  const char* format = yoke__view_text(root, "format");
  if (strcmp(format, "yoke-fmu") == 0) {
    yoke__app_print_fmu(root, is_all);
  }
  for (size_t i = 0; i < YOKE_COUNT(views); i++) {
    if (strcmp(format, views[i].format) == 0) {
      views[i].print(root);
    }
  }
  json_decref(root);
  return root == NULL ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

// What is wrong with the command line is said by the command, what is wrong with a file by the file.
static void receive(void* to, const yoke_message* m) {
  yoke__messages_add(to, m);
  const bool is_argument = m->file == NULL || m->file[0] == '-';
  if (is_argument && (m->status == YOKE_NO_SUCH_NAME || m->status == YOKE_BAD_ARG)) {
    yoke__app_error("info", "%s%s%s%s%s", m->file == NULL ? "" : m->file,
                    m->file == NULL ? "" : ": ", m->text, m->hint == NULL ? "" : "; ",
                    m->hint == NULL ? "" : m->hint);
  } else {
    yoke_send(&yoke__app_sink, m);
  }
}

int yoke_cmd_info(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_info, argc, argv, &options, &status)) {
    return status;
  }
  yoke_messages messages = {0};
  const yoke_sink sink = {receive, &messages};
  yoke_load_settings settings = {.sink = &sink};
  settings.sets = yoke__options_values(&options, "set", &settings.n_sets);
  char* document = NULL;
  const yoke_status described = yoke_describe(options.operands[0], &settings, &document);
  if (described < 0) {
    status = described == YOKE_NO_MEMORY ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
    if (messages.n_errors == 0) {
      yoke__app_error("info", "%s", yoke_status_text(described));
    }
    if (yoke__options_has(&options, "json")) {
      yoke__app_print_failed("failure", &options, &messages);
    }
  } else if (yoke__options_has(&options, "json")) {
    fputs(document, stdout);
  } else {
    status = print_document(&document, yoke__options_has(&options, "all"));
  }
  yoke_text_free(&document);
  yoke__messages_free(&messages);
  yoke__options_free(&options);
  return status;
}
