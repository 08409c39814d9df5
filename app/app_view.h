// Documents of the library (yoke_describe), and how they become text.
#ifndef YOKE_APP_VIEW_H
#define YOKE_APP_VIEW_H

#include <stdbool.h>

#include "base/base_json_read.h"
#include "base/base_message.h"
#include "base/base_number.h"
#include "base/base_text.h"

// The document as a tree, or NULL after a message; frees the text.
json_t* yoke__view_open(const char* command, char** document);

// Members of an object: a text, "" if there is none; is it true; a whole number, 0 if there is none.
const char* yoke__view_text(const json_t* object, const char* key);
bool yoke__view_is(const json_t* object, const char* key);
long long yoke__view_count(const json_t* object, const char* key);
// A text or a number as it is printed, "" for anything else; room holds the number.
const char* yoke__view_value(const json_t* value, char room[YOKE_NUMBER_SIZE]);

// Fills the members of an object into a pattern:
//   {key}        its text or number; nothing if there is none
//   {key:12}     the same, filled up with blanks to 12 columns
//   {key?text}   the text, a pattern itself, if the member is there and is not false, null, 0, "" or an empty array
//   {key!text}   the text if not
//   {key@text}   the text if the member is there and not null, whatever else it is
//   {key#}       "s" unless it is 1
//
//   yoke__view_print(link, "  {from} -> {to}, every {exchange} s{order?, order {order}}\n");
void yoke__view_write(yoke_text* to, const json_t* object, const char* pattern);
void yoke__view_print(const json_t* object, const char* pattern);
// The same for every object of a list.
void yoke__view_print_all(const json_t* list, const char* pattern);

// The array "messages" of a document.
void yoke__view_messages(const json_t* document, yoke_messages* to);

#endif
