// JSON text (RFC 8259) that is read: jansson's tree, with our limits and messages, and members that may be missing.
//
//   json_t* root = NULL;
//   YOKE_TRY(yoke__json_parse(bytes, n, &root, sink));
//   const json_t* ledger = json_object_get(root, "ledger");
//   double ter = yoke__json_find_number(ledger, "ter", NAN);
//   json_decref(root);
#ifndef YOKE_BASE_JSON_READ_H
#define YOKE_BASE_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

#include "base/base_json.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_JSON_MAX_SIZE ((size_t)64 << 20)  // bytes of a text

// Reads n bytes, which need not end with NUL: an object or an array, at most JSON_PARSER_MAX_DEPTH deep; all numbers are
// real. YOKE_BAD_INPUT with line and column in the message (also for a key that stands twice, for numbers beyond the
// largest double, for the character U+0000 and for what is not UTF-8), YOKE_FULL beyond YOKE_JSON_MAX_SIZE, or
// YOKE_NO_MEMORY (to jansson a string without memory is a bad token, YOKE_BAD_INPUT); then *root is NULL. It is the
// caller's to json_decref.
yoke_status yoke__json_parse(const char* bytes, size_t n, json_t** root, const yoke_sink* sink);

// A member of one kind; `otherwise` if there is none, or object is NULL or no object. Texts belong to the tree.
const char* yoke__json_find_text(const json_t* object, const char* key, const char* otherwise);
double yoke__json_find_number(const json_t* object, const char* key, double otherwise);
// The first object of an array whose "name" is the first n characters of name, or NULL.
const json_t* yoke__json_find_named(const json_t* array, const char* name, size_t n);

// Writes a value that was read, with all below it.
void yoke__json_value(yoke_json* json, const char* key, json_t* value);

#endif
