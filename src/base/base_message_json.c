// A message as a JSON object.
#include "base/base_message_json.h"

static const char* status_name(yoke_status status) {
  switch (status) {
#define STATUS_CASE(name, code, text)                                                              \
  case YOKE_##name:                                                                                \
    return "YOKE_" #name;
    YOKE_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return NULL;
}

static void put_text(yoke_json* json, const char* key, const char* text) {
  if (text != NULL) {
    yoke__json_string(json, key, text);
  }
}

void yoke__message_json(const yoke_message* message, const char* key, yoke_json* json) {
  static const char* const words[] = {"note", "warning", "error"};
  yoke__json_begin_object(json, key);
  yoke__json_string(json, "severity", words[message->severity]);
  if (message->status != YOKE_OK) {
    put_text(json, "status", status_name(message->status));
  }
  put_text(json, "file", message->file);
  if (message->line > 0) {
    yoke__json_integer(json, "line", message->line);
  }
  if (message->column > 0) {
    yoke__json_integer(json, "column", message->column);
  }
  put_text(json, "unit", message->unit);
  put_text(json, "variable", message->variable);
  if (!isnan(message->time)) {
    yoke__json_number(json, "time", message->time);
  }
  put_text(json, "text", message->text);
  put_text(json, "hint", message->hint);
  yoke__json_end_object(json);
}
