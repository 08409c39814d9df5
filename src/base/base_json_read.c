#include "base/base_json_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"

// Whole numbers as real: an integer has no -0.
static json_t* load(const char* bytes, size_t n, json_error_t* error) {
  *error = (json_error_t){.text = ""};
  return json_loadb(bytes, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, error);
}

// Whether memory was out. To jansson a string without memory is a bad token; a real one stays where it is.
static bool is_memory_out(const json_error_t* first, const json_error_t* second, size_t n) {
  void* probe = malloc(n + 1);
  free(probe);
  return probe == NULL || json_error_code(second) == json_error_out_of_memory ||
         second->text[0] == '\0' || second->position != first->position;
}

yoke_status yoke__json_parse(const char* bytes, size_t n, json_t** root, const yoke_sink* sink) {
  *root = NULL;
  if (n > YOKE_JSON_MAX_SIZE) {
    return yoke_fail(sink, YOKE_FULL, "more than %zu MB", YOKE_JSON_MAX_SIZE >> 20);
  }
  json_error_t error, again;
  *root = load(bytes, n, &error);
  if (*root == NULL) {
    *root = load(bytes, n, &again);
  }
  if (*root != NULL) {
    return YOKE_OK;
  }
  if (is_memory_out(&error, &again, n)) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  return yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){NULL, error.line, error.column}, "%s",
                       error.text);
}

const char* yoke__json_find_text(const json_t* object, const char* key, const char* otherwise) {
  const char* text = json_string_value(json_object_get(object, key));
  return text == NULL ? otherwise : text;
}

double yoke__json_find_number(const json_t* object, const char* key, double otherwise) {
  const json_t* v = json_object_get(object, key);
  return json_is_number(v) ? json_number_value(v) : otherwise;
}

const json_t* yoke__json_find_named(const json_t* array, const char* name, size_t n) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t* v = json_array_get(array, i);
    const char* own = yoke__json_find_text(v, "name", "");
    if (strlen(own) == n && strncmp(own, name, n) == 0) {
      return v;
    }
  }
  return NULL;
}

// NOLINTNEXTLINE(misc-no-recursion): jansson reads 2048 levels at most
void yoke__json_value(yoke_json* json, const char* key, json_t* value) {
  const char* name = NULL;
  json_t* part = NULL;
  size_t i = 0;
  if (json->text.status < 0) {
    return;
  }
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    yoke__json_begin_object(json, key);
    json_object_foreach(value, name, part) {
      yoke__json_value(json, name, part);
    }
    yoke__json_end_object(json);
    break;
  case JSON_ARRAY:
    yoke__json_begin_array(json, key);
    json_array_foreach(value, i, part) {
      yoke__json_value(json, NULL, part);
    }
    yoke__json_end_array(json);
    break;
  case JSON_STRING:
    yoke__json_string(json, key, json_string_value(value));
    break;
  case JSON_INTEGER:
  case JSON_REAL:
    yoke__json_number(json, key, json_number_value(value));
    break;
  case JSON_NULL:
    yoke__json_null(json, key);
    break;
  default:
    yoke__json_boolean(json, key, json_is_true(value));
  }
}
