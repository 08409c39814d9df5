// JSON text (RFC 8259) read into a tree: summary.json and whatever else was written with
// base_json.h.
//
//   yoke_arena arena = {0};
//   const yoke_json_value* root = NULL;
//   YOKE_TRY(yoke__json_parse(bytes, n, &arena, &root, sink));
//   const yoke_json_value* ledger = yoke__json_find(root, "ledger");
//   double ter = yoke__json_find_number(ledger, "ter", NAN);
//   yoke__arena_free(&arena);
#ifndef YOKE_BASE_JSON_READ_H
#define YOKE_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_JSON_MAX_SIZE ((size_t)64 << 20)  // bytes of a text

typedef enum yoke_json_kind {
  YOKE_JSON_NULL,
  YOKE_JSON_BOOLEAN,
  YOKE_JSON_NUMBER,
  YOKE_JSON_STRING,
  YOKE_JSON_ARRAY,
  YOKE_JSON_OBJECT,
} yoke_json_kind;

// One value. What does not belong to its kind is 0.
typedef struct yoke_json_value {
  yoke_json_kind kind;
  bool is_true;
  double number;
  const char* text;  // escapes resolved, NUL-terminated; other bytes as they stand in the text
  const char* key;   // of a member of an object, else NULL
  size_t n;          // members of an array or object
  struct yoke_json_value *first, *next;
} yoke_json_value;

// Reads n bytes, which need not end with NUL and may go afterwards; the tree belongs to the arena.
// Depth at most YOKE_JSON_DEPTH (base_json.h), no recursion. YOKE_BAD_INPUT with line
// and column in the message (also for numbers beyond the largest double and for the character
// U+0000), YOKE_FULL beyond YOKE_JSON_MAX_SIZE, or YOKE_NO_MEMORY; then *root is NULL.
yoke_status yoke__json_parse(const char* bytes, size_t n, yoke_arena* arena,
                             const yoke_json_value** root, const yoke_sink* sink);

// The first member of that name; NULL if there is none, or object is NULL or no object.
const yoke_json_value* yoke__json_find(const yoke_json_value* object, const char* key);
// The same for members of one kind; `otherwise` if there is none of that kind.
const char* yoke__json_find_text(const yoke_json_value* object, const char* key,
                                 const char* otherwise);
double yoke__json_find_number(const yoke_json_value* object, const char* key, double otherwise);
bool yoke__json_find_boolean(const yoke_json_value* object, const char* key, bool otherwise);

// for (const yoke_json_value* v = yoke__json_members(array); v != NULL; v = v->next); NULL is fine
static inline const yoke_json_value* yoke__json_members(const yoke_json_value* container) {
  return container == NULL ? NULL : container->first;
}

#endif
