// JSON text, written piece by piece into a growing buffer. Nothing is checked call by call: errors
// stick, and yoke__json_finish reports them once.
//
//   yoke_json json = {0};
//   yoke__json_begin_document(&json, "times");
//   yoke__json_integer(&json, "steps", 1000);
//   yoke__json_begin_array(&json, "limits");
//   yoke__json_number(&json, NULL, 0.25);
//   yoke__json_end_array(&json);
//   yoke__json_end_object(&json);
//   status = yoke__json_finish(&json);  // json.text
//   yoke__json_free(&json);
#ifndef YOKE_BASE_JSON_H
#define YOKE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_text.h"

#define YOKE_JSON_DEPTH 64

// Zeroed is empty. The text is for reading once finished; the rest belongs to the writer.
typedef struct yoke_json {
  yoke_text
      text;  // its status is the first error: YOKE_NO_MEMORY, or YOKE_BAD_ARG for calls that make no JSON
  int depth;
  bool has_root;
  bool is_array[YOKE_JSON_DEPTH];     // what is open at each depth
  bool has_element[YOKE_JSON_DEPTH];  // something was written into it
  bool has_container
      [YOKE_JSON_DEPTH];  // its last element was an object or array: closes on its own line
} yoke_json;

// In an object every value needs its key; in an array, and for the outermost value, key is NULL.
// Objects are written one member per line; arrays of plain values stay on one line.
void yoke__json_begin_object(yoke_json* json, const char* key);
// The outermost object of everything we write: its first members are "format": "yoke-<noun>" and "version": 1.
void yoke__json_begin_document(yoke_json* json, const char* noun);
void yoke__json_end_object(yoke_json* json);
void yoke__json_begin_array(yoke_json* json, const char* key);
void yoke__json_end_array(yoke_json* json);

// text NULL is null. Bytes that are not UTF-8 become U+FFFD.
void yoke__json_string(yoke_json* json, const char* key, const char* text);
// Shortest round-trip text; NaN and infinities, which JSON does not have, become null.
void yoke__json_number(yoke_json* json, const char* key, double value);
void yoke__json_integer(yoke_json* json, const char* key, int64_t value);
void yoke__json_boolean(yoke_json* json, const char* key, bool value);
void yoke__json_null(yoke_json* json, const char* key);

// Ends the text with a newline. YOKE_BAD_ARG if something is still open or nothing was written.
yoke_status yoke__json_finish(yoke_json* json);
void yoke__json_free(yoke_json* json);

#endif
