// resources/yoke.json -> which model this FMU is, what it was made with and what was set.
//
//   {"yoke": 1, "model": "state_space", "token": "{...}",
//    "arguments": [{"name": "A", "type": "real", "rows": 2, "columns": 2, "values": [0, 1, -1, 0]}],
//    "settings": [{"name": "micro_steps", "values": ["4"]}]}
//
// A netlist has one more member, how its solver is set; zeros and missing names are the netlist's business:
//
//    "circuit": {"file": "circuit.cir", "method": "bdf2", "step": 1e-6, "tolerance": 0, "iterations": 0, "call_step": 1e-3}
//
// Whole numbers are texts, because a JSON number is a double here; so are the reals that JSON does not have ("nan",
// "inf"). The reader is bounded (base_json_read.h); what is found is checked against the description of the model.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_json_read.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "export/runtime/runtime.h"
#include "models/models.h"
#include "unit/meter/unit_meter.h"

static const char* const type_names[] = {"real",        "integer", "boolean",
                                         "enumeration", "string",  "binary"};

// Native models, and the kinds of src/unit that need no file.
static const yoke_unit_ops* find_model(const char* name) {
  for (size_t i = 0; i < yoke__n_builtin_models; i++) {
    if (strcmp(yoke__builtin_models[i]->name, name) == 0) {
      return yoke__builtin_models[i];
    }
  }
  return strcmp(yoke__unit_meter.name, name) == 0 ? &yoke__unit_meter : NULL;
}

// ---- values

static bool read_real(const yoke_json_value* from, double* to) {
  *to = from->number;
  return from->kind == YOKE_JSON_NUMBER ||
         (from->kind == YOKE_JSON_STRING && yoke__number_parse(from->text, to));
}

static bool read_whole(const yoke_json_value* from, int64_t* to) {
  return from->kind == YOKE_JSON_STRING && yoke__number_parse_integer(from->text, to);
}

// Two hexadecimal digits per byte behind the number of bytes; false if they do not fit or are none.
static bool read_binary(const yoke_json_value* from, size_t room, char* to) {
  const size_t length = from->kind == YOKE_JSON_STRING ? strlen(from->text) : 1;
  const uint64_t n = length / 2;
  if (length % 2 != 0 || n > room) {
    return false;
  }
  memcpy(to, &n, sizeof n);
  for (size_t i = 0; i < n; i++) {
    const char digits[3] = {from->text[2 * i], from->text[2 * i + 1], '\0'};
    char* end = NULL;
    to[sizeof n + i] = (char)strtoul(digits, &end, 16);
    if (end != digits + 2) {
      return false;
    }
  }
  return true;
}

// One value in the storage form of yoke/unit.h; texts go into their room.
static bool read_element(const yoke_json_value* from, yoke_type type, size_t max_size, char* to) {
  double number = 0.0;
  int64_t whole = 0;
  switch (type) {
  case YOKE_REAL:
    if (!read_real(from, &number)) {
      return false;
    }
    memcpy(to, &number, sizeof number);
    return true;
  case YOKE_INTEGER:
  case YOKE_BOOLEAN:
  case YOKE_ENUMERATION:
    if (!read_whole(from, &whole)) {
      return false;
    }
    memcpy(to, &whole, sizeof whole);
    return true;
  case YOKE_STRING:
    if (from->kind != YOKE_JSON_STRING || strlen(from->text) >= max_size) {
      return false;
    }
    memcpy(to, from->text, strlen(from->text) + 1);
    return true;
  case YOKE_BINARY:
    return read_binary(from, max_size, to);
  }
  return false;
}

// ---- arguments

static bool find_type(const char* name, yoke_type* type) {
  for (size_t i = 0; i < YOKE_COUNT(type_names); i++) {
    if (strcmp(type_names[i], name) == 0) {
      *type = (yoke_type)i;
      return true;
    }
  }
  return false;
}

// The values of an argument; strings are pointers there.
static yoke_status read_argument_values(const yoke_json_value* values, yoke_type type,
                                        yoke_arena* arena, const void** out) {
  const size_t size = type == YOKE_STRING ? sizeof(char*) : sizeof(double);
  char* to = yoke__arena_array(arena, values->n + 1, size);
  if (to == NULL) {
    return YOKE_NO_MEMORY;
  }
  *out = to;
  for (const yoke_json_value* v = values->first; v != NULL; v = v->next, to += size) {
    if (type == YOKE_STRING) {
      if (v->kind != YOKE_JSON_STRING) {
        return YOKE_BAD_INPUT;
      }
      memcpy(to, &v->text, sizeof v->text);
    } else if (type == YOKE_BINARY || !read_element(v, type, 0, to)) {
      return YOKE_BAD_INPUT;
    }
  }
  return YOKE_OK;
}

// A size that counts elements; (size_t)-1 if it is none.
static size_t read_size(const yoke_json_value* object, const char* key) {
  const double number = yoke__json_find_number(object, key, -1.0);
  return number >= 0.0 && number <= 1e9 && number == floor(number) ? (size_t)number : (size_t)-1;
}

static yoke_status read_argument(const yoke_json_value* from, yoke_arena* arena,
                                 yoke_argument* to) {
  const yoke_json_value* values = yoke__json_find(from, "values");
  const size_t n_rows = read_size(from, "rows"), n_cols = read_size(from, "columns");
  to->name = yoke__json_find_text(from, "name", NULL);
  to->n_rows = n_rows;
  to->n_cols = n_cols;
  if (to->name == NULL || values == NULL || values->kind != YOKE_JSON_ARRAY ||
      n_rows == (size_t)-1 || n_cols == (size_t)-1 || n_rows * n_cols != values->n ||
      !find_type(yoke__json_find_text(from, "type", ""), &to->type)) {
    return YOKE_BAD_INPUT;
  }
  return read_argument_values(values, to->type, arena, &to->value);
}

static yoke_status read_arguments(const yoke_json_value* list, yoke_arena* arena,
                                  yoke_runtime_config* config, const yoke_sink* sink) {
  const size_t n = list == NULL ? 0 : list->n;
  yoke_argument* arguments = yoke__arena_array(arena, n + 1, sizeof *arguments);
  if (arguments == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  config->arguments = arguments;
  for (const yoke_json_value* v = yoke__json_members(list); v != NULL; v = v->next) {
    const yoke_status status = read_argument(v, arena, &arguments[config->n_arguments++]);
    if (status < 0) {
      return yoke_fail(sink, status, "argument %zu cannot be read", config->n_arguments);
    }
  }
  return YOKE_OK;
}

// ---- settings

static yoke_status read_settings(const yoke_json_value* list, yoke_arena* arena,
                                 yoke_runtime_config* config, const yoke_sink* sink) {
  const size_t n = list == NULL ? 0 : list->n;
  yoke_runtime_setting* settings = yoke__arena_array(arena, n + 1, sizeof *settings);
  if (settings == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  config->settings = settings;
  for (const yoke_json_value* v = yoke__json_members(list); v != NULL; v = v->next) {
    yoke_runtime_setting* setting = &settings[config->n_settings++];
    setting->name = yoke__json_find_text(v, "name", NULL);
    setting->values = yoke__json_find(v, "values");
    if (setting->name == NULL || setting->values == NULL ||
        setting->values->kind != YOKE_JSON_ARRAY) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "setting %zu cannot be read", config->n_settings);
    }
  }
  return YOKE_OK;
}

static yoke_status apply_setting(const yoke_runtime_setting* setting, const yoke_unit* unit,
                                 yoke_arena* arena, const yoke_sink* sink) {
  const size_t index = yoke__unit_find(unit, setting->name);
  const yoke_variable* variable = index == (size_t)-1 ? NULL : &unit->info->variables[index];
  if (variable == NULL || yoke__variable_count(variable) != setting->values->n) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the model has no such variable '%s'", setting->name);
  }
  const size_t size = yoke__variable_element_size(variable);
  char* value = yoke__arena_array(arena, setting->values->n, size);
  if (value == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  char* to = value;
  for (const yoke_json_value* v = setting->values->first; v != NULL; v = v->next, to += size) {
    if (!read_element(v, variable->type, variable->max_size, to)) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the value of '%s' cannot be read", setting->name);
    }
  }
  const yoke_status status = yoke__unit_set(unit, index, value, yoke__variable_size(variable));
  if (status < 0) {
    yoke_fail(sink, status, "the value of '%s' is refused: %s", setting->name,
              yoke_status_text(status));
  }
  return status;
}

yoke_status yoke__runtime_config_apply(const yoke_runtime_config* config, const yoke_unit* unit,
                                       yoke_arena* arena, const yoke_sink* sink) {
  yoke_context file;
  yoke__context_init(&file, sink, (yoke_place){.source = "yoke.json"}, NULL, (double)NAN);
  for (size_t i = 0; i < config->n_settings; i++) {
    YOKE_TRY(apply_setting(&config->settings[i], unit, arena, &file.sink));
  }
  return YOKE_OK;
}

// ---- the file

// The netlist beside yoke.json.
static yoke_status open_circuit(const yoke_json_value* from, const char* directory,
                                yoke_arena* arena, yoke_runtime_config* config,
                                const yoke_sink* sink) {
  const char* file = yoke__json_find_text(from, "file", NULL);
  const double iterations = yoke__json_find_number(from, "iterations", 0.0);
  if (file == NULL || strchr(file, '/') != NULL || !(iterations >= 0.0 && iterations <= 1e6)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the circuit cannot be read");
  }
  const size_t size = strlen(directory) + strlen(file) + 2;
  char* path = yoke__arena_take(arena, size);
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(path, size, "%s/%s", directory, file);
  const yoke_unit_file_settings settings = {
      .kind = YOKE_KIND_CIRCUIT,
      .path = path,
      .name = YOKE_EXPORT_CIRCUIT,
      .place = {.source = path},
      .solver = yoke__json_find_text(from, "method", NULL),
      .solver_formulation = yoke__json_find_text(from, "formulation", NULL),
      .solver_step = yoke__json_find_number(from, "step", 0.0),
      .solver_tolerance = yoke__json_find_number(from, "tolerance", 0.0),
      .solver_iterations = (int)iterations,
      .call_step = yoke__json_find_number(from, "call_step", 0.0),
  };
  YOKE_TRY(yoke__export_circuit_open(&settings, &config->circuit, sink));
  config->ops = yoke__export_circuit_ops(config->circuit);
  return YOKE_OK;
}

static yoke_status read_root(const yoke_json_value* root, const char* directory, yoke_arena* arena,
                             yoke_runtime_config* config, const yoke_sink* sink) {
  const char* model = yoke__json_find_text(root, "model", NULL);
  config->token = yoke__json_find_text(root, "token", NULL);
  if (yoke__json_find_number(root, "yoke", 0.0) != 1.0 || model == NULL || config->token == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "not the settings of an exported unit");
  }
  config->ops = find_model(model);
  const yoke_json_value* circuit = yoke__json_find(root, "circuit");
  if (circuit != NULL) {
    YOKE_TRY(open_circuit(circuit, directory, arena, config, sink));
  }
  if (config->ops == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "this binary has no model '%s'", model);
  }
  YOKE_TRY(read_arguments(yoke__json_find(root, "arguments"), arena, config, sink));
  return read_settings(yoke__json_find(root, "settings"), arena, config, sink);
}

yoke_status yoke__runtime_config_read(const char* directory, yoke_arena* arena,
                                      yoke_runtime_config* config, const yoke_sink* sink) {
  const size_t size = strlen(directory) + sizeof "/yoke.json";
  char* path = yoke__arena_take(arena, size);
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(path, size, "%s/yoke.json", directory);
  char* bytes = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__os_read_file(path, YOKE_JSON_MAX_SIZE, &bytes, &n, sink));
  yoke_context file;
  yoke__context_init(&file, sink, (yoke_place){.source = "yoke.json"}, NULL, (double)NAN);
  const yoke_json_value* root = NULL;
  const yoke_status status = yoke__json_parse(bytes, n, arena, &root, &file.sink);
  free(bytes);
  return status < 0 ? status : read_root(root, directory, arena, config, &file.sink);
}
