// Descriptions of models, coupling methods and shared libraries, and the way from a name to what it describes.
#include "api/api_describe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message_json.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "couple/couple.h"
#include "unit/unit_models.h"

const char* const yoke__causality_words[] = {"input", "output", "parameter", "tunable", "state"};
const char* const yoke__type_words[] = {"real",        "integer", "boolean",
                                        "enumeration", "string",  "binary"};

// ---- parts

static const char* or_empty(const char* text) {
  return text == NULL ? "" : text;
}

static void describe_name(const char* name, const char* text, yoke_json* json) {
  yoke__json_string(json, "name", name);
  yoke__json_string(json, "text", text);
}

// With a text where JSON has no number: "inf", "-inf", "nan".
static void describe_number(double x, const char* key, const char* text_key, yoke_json* json) {
  yoke__json_number(json, key, x);
  if (!yoke__is_finite(x)) {
    char text[YOKE_NUMBER_SIZE];
    yoke__number_format(x, text);
    yoke__json_string(json, text_key, text);
  }
}

void yoke__describe_texts(const char* const texts[], size_t n, const char* key, yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; texts != NULL && i < n && (n != SIZE_MAX || texts[i] != NULL); i++) {
    yoke__json_string(json, NULL, texts[i]);
  }
  yoke__json_end_array(json);
}

void yoke__describe_messages(const yoke_messages* messages, yoke_json* json) {
  yoke__json_begin_array(json, "messages");
  for (size_t i = 0; i < messages->n; i++) {
    yoke__message_json(&messages->all[i], NULL, json);
  }
  yoke__json_end_array(json);
  if (messages->n_dropped > 0) {
    yoke__json_integer(json, "messages_not_listed", (int64_t)messages->n_dropped);
  }
}

void yoke__describe_feedthrough(const yoke_unit_info* info, yoke_json* json) {
  yoke__json_begin_array(json, "feedthrough");
  for (size_t i = 0; info != NULL && i < info->n_feedthrough; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "output", info->variables[info->feedthrough[i].output].name);
    yoke__json_string(json, "input", info->variables[info->feedthrough[i].input].name);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

yoke_status yoke__describe_finish(yoke_json* document, yoke_status status, char** json) {
  assert(json != NULL);
  const yoke_status written = status < 0 ? status : yoke__json_finish(document);
  if (written < 0) {
    yoke__json_free(document);
    return written;
  }
  *json = document->text.bytes;
  return YOKE_OK;
}

// ---- models

// The name of the item that an enumeration starts with.
static const char* start_item(const yoke_variable* v) {
  size_t n = 0;
  while (v->items[n] != NULL) {
    n++;
  }
  return v->start >= 0 && v->start < (double)n ? v->items[(size_t)v->start] : "";
}

static void describe_variable(const yoke_variable* v, yoke_json* json) {
  const bool is_set = v->causality == YOKE_PARAMETER || v->causality == YOKE_TUNABLE ||
                      v->causality == YOKE_STATE || (v->flags & YOKE_VARIABLE_HAS_START) != 0;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", v->name);
  yoke__json_string(json, "causality", yoke__causality_words[v->causality]);
  yoke__json_string(json, "type", yoke__type_words[v->type]);
  yoke__json_string(json, "dimension", or_empty(v->dim));
  yoke__json_string(json, "text", or_empty(v->text));
  yoke__json_integer(json, "rows", (int64_t)(v->n_rows == 0 ? 1 : v->n_rows));
  yoke__json_integer(json, "columns", (int64_t)(v->n_cols == 0 ? 1 : v->n_cols));
  if (v->type == YOKE_STRING) {
    yoke__json_string(json, "start", or_empty(v->start_text));
  } else if (v->type == YOKE_ENUMERATION && v->items != NULL) {
    yoke__json_string(json, "start", start_item(v));
    yoke__describe_texts(v->items, SIZE_MAX, "items", json);
  } else if (v->type == YOKE_BINARY) {
    yoke__json_number(json, "start", v->start);
    yoke__json_string(json, "start_text", or_empty(v->start_text));
  } else {
    describe_number(v->start, "start", "start_text", json);
  }
  yoke__json_boolean(json, "has_start", is_set);
  yoke__json_end_object(json);
}

static void describe_variables(const yoke_variable variables[], size_t n, const char* key,
                               yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    describe_variable(&variables[i], json);
  }
  yoke__json_end_array(json);
}

static void describe_model(const yoke_unit_ops* ops, yoke_json* json) {
  const yoke_unit_info* info = ops->info;
  describe_name(ops->name, or_empty(ops->text), json);
  describe_variables(ops->structure, ops->n_structure, "structure", json);
  describe_variables(info == NULL ? NULL : info->variables, info == NULL ? 0 : info->n_variables,
                     "variables", json);
  yoke__json_boolean(json, "variables_known", info != NULL);
  yoke__describe_feedthrough(info, json);
}

// ---- coupling methods

static void describe_setting(const yoke_coupling_parameter* p, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  describe_name(p->name, p->text, json);
  if (p->items == NULL) {
    describe_number(p->start, "default", "default_text", json);
    yoke__json_number(json, "min", p->min);
    yoke__json_number(json, "max", p->max);
  } else {
    yoke__json_string(json, "default", p->items[(size_t)p->start]);
    yoke__describe_texts(p->items, SIZE_MAX, "items", json);
  }
  yoke__json_end_object(json);
}

static void describe_method(const yoke_coupling_ops* ops, yoke_json* json) {
  describe_name(ops->name, ops->text, json);
  yoke__json_string(json, "serves",
                    (ops->flags & YOKE_COUPLING_CLUSTER) != 0 ? "a cluster of units as a whole"
                    : (ops->flags & YOKE_COUPLING_BOND) != 0  ? "bonds"
                                                              : "connections");
  yoke__json_boolean(json, "jacobi_only", (ops->flags & YOKE_COUPLING_JACOBI) != 0);
  yoke__json_begin_array(json, "settings");
  for (size_t i = 0; i < ops->n_parameters; i++) {
    describe_setting(&ops->parameters[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "files");
  for (size_t i = 0; i < ops->n_files; i++) {
    yoke__json_begin_object(json, NULL);
    describe_name(ops->files[i].name, ops->files[i].text, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

// ---- lists

// "models" and "methods" of a registry: what was added to it, or the names of all of them.
static void describe_parts(const yoke_registry* registry, bool is_own_only, yoke_json* json) {
  const yoke_unit_ops* unit = NULL;
  const yoke_coupling_ops* method = NULL;
  size_t i = is_own_only ? yoke__models_count(NULL) : 0;
  yoke__json_begin_array(json, "models");
  for (; (unit = yoke_registry_unit(registry, i)) != NULL; i++) {
    yoke__json_begin_object(json, NULL);
    is_own_only ? describe_model(unit, json) : describe_name(unit->name, unit->text, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  i = is_own_only ? yoke__n_coupling_methods : 0;
  yoke__json_begin_array(json, "methods");
  for (; (method = yoke_registry_coupling(registry, i)) != NULL; i++) {
    yoke__json_begin_object(json, NULL);
    is_own_only ? describe_method(method, json) : describe_name(method->name, method->text, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static yoke_status describe_library(const char* path, const yoke_sink* sink, yoke_json* json) {
  yoke_registry* registry = NULL;
  yoke_status status = yoke_registry_create(&registry);
  status = status < 0 ? status : yoke_registry_load(registry, path, sink);
  if (status >= 0) {
    yoke__json_begin_document(json, "library");
    yoke__json_string(json, "file", path);
    describe_parts(registry, true, json);
    yoke__json_end_object(json);
  }
  yoke_registry_destroy(&registry);
  return status;
}

// ---- from a name to what it describes

// A file that exists, or a name that was probably meant as one.
static bool looks_like_file(const char* text) {
  static const char* const parts[] = {"/", ".yaml", ".yml", ".ssp", ".ssd"};
  bool is_file = yoke__os_is_file(text);
  for (size_t i = 0; i < YOKE_COUNT(parts); i++) {
    is_file = is_file || strstr(text, parts[i]) != NULL;
  }
  return is_file;
}

static yoke_status describe_file(const char* path, const yoke_load_settings* settings,
                                 yoke_json* json) {
  yoke_system* system = NULL;
  YOKE_TRY(yoke_system_load(path, settings, &system));
  yoke__describe_system(system, NULL, json);
  yoke__system_destroy(&system);
  return YOKE_OK;
}

static yoke_status refuse(const char* what, const yoke_load_settings* settings) {
  const char* nearest = yoke__models_nearest(yoke__registry_units(settings->registry), what);
  const yoke_coupling_ops* method = NULL;
  for (size_t i = 0; (method = yoke_registry_coupling(settings->registry, i)) != NULL; i++) {
    nearest = yoke__nearer_name(what, nearest, method->name);
  }
  char text[YOKE_MESSAGE_TEXT_SIZE], hint[256];
  snprintf(text, sizeof text,
           "'%s' is neither a model nor a coupling method nor a system file nor an FMU", what);
  snprintf(hint, sizeof hint, "did you mean '%s'?", or_empty(nearest));
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = YOKE_NO_SUCH_NAME,
                                .time = (double)NAN,
                                .text = text,
                                .hint = nearest == NULL ? NULL : hint};
  yoke_send(settings->sink, &message);
  return YOKE_NO_SUCH_NAME;
}

static yoke_status describe(const char* what, const yoke_load_settings* settings, yoke_json* json) {
  const yoke_registry* registry = settings->registry;
  const yoke_unit_ops* unit =
      what == NULL ? NULL : yoke__models_find(yoke__registry_units(registry), what);
  const yoke_coupling_ops* method =
      what == NULL ? NULL : yoke__registry_find_coupling(registry, what);
  if (what == NULL) {
    yoke__json_begin_document(json, "models");
    describe_parts(registry, false, json);
    yoke__json_end_object(json);
  } else if (unit != NULL) {
    yoke__json_begin_document(json, "model");
    describe_model(unit, json);
    yoke__json_end_object(json);
  } else if (method != NULL) {
    yoke__json_begin_document(json, "method");
    describe_method(method, json);
    yoke__json_end_object(json);
  } else if (yoke__path_is_fmu(what) && !yoke__os_is_file(what) && !yoke__os_is_directory(what)) {
    return yoke__fail_at(settings->sink, YOKE_IO, (yoke_place){.source = what},
                         "there is no such file");
  } else if (yoke__path_is_fmu(what)) {
    return yoke__describe_fmu(what, settings->sink, json);
  } else if (yoke__path_is_netlist(what)) {
    return yoke__describe_circuit(what, settings, json);
  } else if (yoke__path_is_library(what)) {
    return describe_library(what, settings->sink, json);
  } else if (looks_like_file(what)) {
    return describe_file(what, settings, json);
  } else {
    return refuse(what, settings);
  }
  return YOKE_OK;
}

yoke_status yoke_describe(const char* what, const yoke_load_settings* settings, char** json) {
  if (json != NULL) {
    *json = NULL;
  }
  const yoke_status checked = yoke__api_check_settings(&settings, json != NULL);
  if (checked < 0 || json == NULL) {
    return checked;
  }
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_json document = {0};
  const yoke_status status = describe(what, settings, &document);
  yoke__os_float_mode_restore(mode);
  return yoke__describe_finish(&document, status, json);
}
