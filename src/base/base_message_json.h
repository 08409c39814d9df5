// Messages for programs: one JSON object each.
#ifndef YOKE_BASE_MESSAGE_JSON_H
#define YOKE_BASE_MESSAGE_JSON_H

#include "base/base_json.h"
#include "yoke/message.h"

// One object (key NULL: in an array): severity ("note", "warning", "error"), status ("YOKE_IO"; errors only), file, line, column, unit,
// variable, time, text, hint. Members without a value are left out.
void yoke__message_json(const yoke_message* message, const char* key, yoke_json* json);

#endif
