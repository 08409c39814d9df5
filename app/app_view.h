// Documents of the library (yoke_describe), read for printing them.
#ifndef YOKE_APP_VIEW_H
#define YOKE_APP_VIEW_H

#include <stdbool.h>

#include "base/base_json_read.h"
#include "base/base_message.h"
#include "base/base_number.h"

// The document as a tree, or NULL after a message; frees the text.
json_t* yoke__view_open(const char* command, char** document);

// Members of an object: a text, "" if there is none; is it true; a whole number, 0 if there is none.
const char* yoke__view_text(const json_t* object, const char* key);
bool yoke__view_is(const json_t* object, const char* key);
long long yoke__view_count(const json_t* object, const char* key);

// A number as it is printed.
typedef struct yoke_view_number {
  char chars[YOKE_NUMBER_SIZE];
} yoke_view_number;
yoke_view_number yoke__view_number(const json_t* object, const char* key);
// A text or a number as it is printed; room holds the number.
const char* yoke__view_value(const json_t* value, yoke_view_number* room);

// The array "messages" of a document.
void yoke__view_messages(const json_t* document, yoke_messages* to);

#endif
