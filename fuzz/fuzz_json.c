// Any bytes through the JSON reader: no crash, no read beyond the input; what it accepts is a
// consistent tree, and written and read again it is the same tree. What is taken for a summary.json
// names columns for every component of its bonds.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_json.h"
#include "base/base_json_read.h"
#include "base/base_message.h"
#include "quality/quality_summary.h"

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

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void check_same(const yoke_json_value* a, const yoke_json_value* b) {
  for (; a != NULL && b != NULL; a = a->next, b = b->next) {
    if (a->kind != b->kind || a->n != b->n || a->is_true != b->is_true ||
        bits_of(a->number) != bits_of(b->number) || !is_same_text(a->text, b->text) ||
        !is_same_text(a->key, b->key)) {
      abort();
    }
    check_same(a->first, b->first);
  }
  if (a != NULL || b != NULL) {
    abort();
  }
}

static void check_summary(const char* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  yoke_summary summary;
  const yoke_status status = yoke__summary_parse(bytes, n, &arena, &summary, &err.sink);
  if (status < 0 && err.text[0] == '\0') {
    abort();
  }
  for (size_t i = 0; status >= 0 && i < summary.n_bonds; i++) {
    const yoke_summary_bond* bond = &summary.bonds[i];
    for (size_t k = 0; k < bond->n; k++) {
      if (strlen(bond->components[k].columns[YOKE_E_OUT]) == 0 ||
          strlen(bond->components[k].columns[YOKE_F_OUT]) == 0) {
        abort();
      }
    }
  }
  yoke__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  const yoke_json_value *root = NULL, *again = NULL;
  const yoke_status status = yoke__json_parse((const char*)bytes, n, &arena, &root, &err.sink);
  if (status < 0) {
    if (err.text[0] == '\0' || root != NULL) {
      abort();
    }
    yoke__arena_free(&arena);
    return 0;
  }
  yoke_json json = {0};
  write_values(root, &json);
  if (yoke__json_finish(&json) < 0 ||
      yoke__json_parse(json.text, json.n, &arena, &again, &err.sink) < 0) {
    abort();
  }
  check_same(root, again);
  check_summary((const char*)bytes, n);
  yoke__json_free(&json);
  yoke__arena_free(&arena);
  return 0;
}
