// Documents of the library, read for printing them.
#include "app/app_view.h"

#include <math.h>
#include <string.h>

#include "app/app.h"
#include "yoke/system.h"

json_t* yoke__view_open(const char* command, char** document) {
  json_error_t error = {.text = ""};
  json_t* root = json_loads(*document, 0, &error);
  yoke_text_free(document);
  if (root == NULL) {
    yoke__app_error(command, "%s", error.text[0] == '\0' ? "out of memory" : error.text);
  }
  return root;
}

const char* yoke__view_text(const json_t* object, const char* key) {
  return yoke__json_find_text(object, key, "");
}

bool yoke__view_is(const json_t* object, const char* key) {
  return json_is_true(json_object_get(object, key));
}

long long yoke__view_count(const json_t* object, const char* key) {
  return json_integer_value(json_object_get(object, key));
}

yoke_view_number yoke__view_number(const json_t* object, const char* key) {
  yoke_view_number number;
  yoke__number_format(yoke__json_find_number(object, key, (double)NAN), number.chars);
  return number;
}

const char* yoke__view_value(const json_t* value, yoke_view_number* room) {
  if (json_is_string(value)) {
    return json_string_value(value);
  }
  // JSON has no infinity: null is a bound that is not there
  yoke__number_format(json_is_number(value) ? json_number_value(value) : HUGE_VAL, room->chars);
  return room->chars;
}

void yoke__view_messages(const json_t* document, yoke_messages* to) {
  static const char* const words[] = {"note", "warning", "error"};
  size_t i = 0;
  const json_t* m = NULL;
  json_array_foreach(json_object_get(document, "messages"), i, m) {
    yoke_message message = {.file = yoke__json_find_text(m, "file", NULL),
                            .line = (int)yoke__view_count(m, "line"),
                            .column = (int)yoke__view_count(m, "column"),
                            .unit = yoke__json_find_text(m, "unit", NULL),
                            .variable = yoke__json_find_text(m, "variable", NULL),
                            .time = yoke__json_find_number(m, "time", (double)NAN),
                            .text = yoke__view_text(m, "text"),
                            .hint = yoke__json_find_text(m, "hint", NULL)};
    while (message.severity < YOKE_ERROR &&
           strcmp(words[message.severity], yoke__view_text(m, "severity")) != 0) {
      message.severity++;
    }
    yoke__messages_add(to, &message);
  }
  to->n_dropped = (size_t)yoke__view_count(document, "messages_not_listed");
}
