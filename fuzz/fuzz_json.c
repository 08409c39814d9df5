// Any bytes through the JSON reader: no crash, no read beyond the input; what it accepts is a consistent
// tree, and written and read again it is the same tree.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_json.h"
#include "base/base_json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void write_plain(const yoke_json_value* v, const char* key, yoke_json* to) {
  switch (v->kind) {
  case YOKE_JSON_NULL:
    yoke__json_null(to, key);
    break;
  case YOKE_JSON_BOOLEAN:
    yoke__json_boolean(to, key, v->is_true);
    break;
  case YOKE_JSON_NUMBER:
    yoke__json_number(to, key, v->number);
    break;
  default:
    yoke__json_string(to, key, v->text);
    break;
  }
}

// Writes v and everything behind and below it; depth is bounded by the reader.
// NOLINTNEXTLINE(misc-no-recursion)
static void write_values(const yoke_json_value* v, yoke_json* to) {
  for (; v != NULL; v = v->next) {
    if (v->kind == YOKE_JSON_ARRAY) {
      yoke__json_begin_array(to, v->key);
      write_values(v->first, to);
      yoke__json_end_array(to);
    } else if (v->kind == YOKE_JSON_OBJECT) {
      yoke__json_begin_object(to, v->key);
      write_values(v->first, to);
      yoke__json_end_object(to);
    } else {
      write_plain(v, v->key, to);
    }
  }
}

static bool is_same_text(const char* a, const char* b) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
  // the writer mends what is not UTF-8
  for (const char* at = a; *at != '\0'; at++) {
    if ((unsigned char)*at >= 0x80) {
      return true;
    }
  }
  return strcmp(a, b) == 0;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void check_same(const yoke_json_value* a, const yoke_json_value* b) {
  size_t n = 0;
  for (; a != NULL && b != NULL; a = a->next, b = b->next, n++) {
    if (a->kind != b->kind || a->n != b->n || a->is_true != b->is_true ||
        memcmp(&a->number, &b->number, sizeof a->number) != 0 || !is_same_text(a->text, b->text) ||
        !is_same_text(a->key, b->key)) {
      abort();
    }
    check_same(a->first, b->first);
  }
  if (a != NULL || b != NULL) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  char err[128] = "";
  yoke_arena arena = {0};
  const yoke_json_value *root = NULL, *again = NULL;
  const yoke_status status =
      yoke__json_parse((const char*)bytes, n, &arena, &root, err, sizeof err);
  if (status < 0) {
    if (err[0] == '\0' || root != NULL) {
      abort();
    }
    yoke__arena_free(&arena);
    return 0;
  }
  yoke_json json = {0};
  write_values(root, &json);
  if (yoke__json_finish(&json) < 0 ||
      yoke__json_parse(json.text, json.n, &arena, &again, err, sizeof err) < 0) {
    abort();
  }
  check_same(root, again);
  yoke__json_free(&json);
  yoke__arena_free(&arena);
  return 0;
}
