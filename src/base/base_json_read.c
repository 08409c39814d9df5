// JSON (RFC 8259) to a tree, in one pass without recursion.
//
// Values are taken from the arena in blocks; all strings share one piece of memory as long as the
// text, which they cannot outgrow: an escape is longer than what it stands for, and the two quotes
// leave room for the NUL. So memory is bounded by the text: at most one value per two bytes.
#include "base/base_json_read.h"

#include <string.h>

#include "base/base_json.h"
#include "base/base_message.h"
#include "base/base_number.h"

#define VALUES_PER_BLOCK 256

typedef struct reader {
  const char *start, *at, *end;
  yoke_arena* arena;
  yoke_json_value* block;
  size_t n_in_block;
  char* text;                              // where the next string goes
  yoke_json_value* open[YOKE_JSON_DEPTH];  // containers, outermost first
  yoke_json_value* last[YOKE_JSON_DEPTH];  // newest member of each
  int depth;
  const char* what;  // the error
  yoke_status status;
} reader;

// Always false, so that a failing function can return it.
static bool refuse(reader* r, const char* at, const char* what) {
  r->at = at;
  r->what = what;
  r->status = YOKE_BAD_INPUT;
  return false;
}

static bool refuse_memory(reader* r) {
  r->what = "out of memory";
  r->status = YOKE_NO_MEMORY;
  return false;
}

static void skip_blanks(reader* r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) {
    r->at++;
  }
}

static bool is_next(const reader* r, char c) {
  return r->at < r->end && *r->at == c;
}

static bool is_digit(const reader* r) {
  return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

// ---- strings

// Four hexadecimal digits at `at`; -1 if there are none.
static int32_t read_hex(const reader* r, const char* at) {
  int32_t code = 0;
  if (r->end - at < 4) {
    return -1;
  }
  for (int i = 0; i < 4; i++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char* found = at[i] == '\0' ? NULL : strchr(digits, at[i]);
    if (found == NULL) {
      return -1;
    }
    code = code * 16 + (int32_t)((found - digits) % 16);
  }
  return code;
}

static void put_utf8(reader* r, int32_t code) {
  const int n_more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const int32_t marks[] = {0, 0xc0, 0xe0, 0xf0};
  *r->text++ = (char)(marks[n_more] | code >> 6 * n_more);
  for (int i = n_more - 1; i >= 0; i--) {
    *r->text++ = (char)(0x80 | (code >> 6 * i & 0x3f));
  }
}

// behind "\u"; a character beyond U+FFFF comes as two surrogates
static bool read_code(reader* r) {
  const char* start = r->at - 2;
  int32_t code = read_hex(r, r->at);
  if (code < 0) {
    return refuse(r, start, "expected four hexadecimal digits behind \\u");
  }
  if (code == 0) {
    return refuse(r, start, "the character U+0000 cannot be read");
  }
  r->at += 4;
  if (code >= 0xd800 && code < 0xe000) {
    const bool has_second = code < 0xdc00 && r->end - r->at >= 6 && memcmp(r->at, "\\u", 2) == 0;
    const int32_t second = has_second ? read_hex(r, r->at + 2) : -1;
    if (second < 0xdc00 || second >= 0xe000) {
      return refuse(r, start, "half of a surrogate pair");
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    r->at += 6;
  }
  put_utf8(r, code);
  return true;
}

static bool read_escape(reader* r) {
  static const char pairs[] = "\"\"\\\\//b\bf\fn\nr\rt\t";  // letter, what it stands for
  if (r->end - r->at < 2) {
    return refuse(r, r->end, "the string does not end");
  }
  const char letter = r->at[1];
  r->at += 2;
  if (letter == 'u') {
    return read_code(r);
  }
  for (size_t i = 0; i + 1 < sizeof pairs; i += 2) {
    if (pairs[i] == letter) {
      *r->text++ = pairs[i + 1];
      return true;
    }
  }
  return refuse(r, r->at - 2, "unknown escape");
}

static bool read_string(reader* r, const char** out) {
  *out = r->text;
  r->at++;
  while (r->at < r->end && *r->at != '"') {
    if ((unsigned char)*r->at < 0x20) {
      return refuse(r, r->at, "a control character in a string must be escaped");
    }
    if (*r->at == '\\') {
      if (!read_escape(r)) {
        return false;
      }
    } else {
      *r->text++ = *r->at++;
    }
  }
  if (r->at == r->end) {
    return refuse(r, r->end, "the string does not end");
  }
  r->at++;
  *r->text++ = '\0';
  return true;
}

// ---- numbers and words

static bool skip_digits(reader* r) {
  const char* start = r->at;
  while (is_digit(r)) {
    r->at++;
  }
  return r->at > start;
}

// JSON is stricter than the reader of numbers: no "+1", ".5", "5.", "01", "inf"
static bool read_number(reader* r, double* out) {
  const char* start = r->at;
  r->at += is_next(r, '-');
  const bool is_zero = is_next(r, '0');
  r->at += is_zero;
  bool is_good = is_zero || skip_digits(r);
  if (is_good && is_next(r, '.')) {
    r->at++;
    is_good = skip_digits(r);
  }
  if (is_good && (is_next(r, 'e') || is_next(r, 'E'))) {
    r->at++;
    r->at += is_next(r, '+') || is_next(r, '-');
    is_good = skip_digits(r);
  }
  if (!is_good) {
    return refuse(r, start, start == r->at ? "expected a value" : "not a number");
  }
  if (yoke__number_scan(start, r->at, out) != r->at) {
    return refuse(r, start, "the number is too large");
  }
  return true;
}

static bool read_word(reader* r, yoke_json_value* value) {
  static const char* const words[] = {"null", "false", "true"};
  for (size_t i = 0; i < 3; i++) {
    const size_t n = strlen(words[i]);
    if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i], n) == 0) {
      value->kind = i == 0 ? YOKE_JSON_NULL : YOKE_JSON_BOOLEAN;
      value->is_true = i == 2;
      r->at += n;
      return true;
    }
  }
  return refuse(r, r->at, "expected a value");
}

// ---- the tree

// A new value behind the others of the innermost container.
static yoke_json_value* add_value(reader* r) {
  if (r->n_in_block == VALUES_PER_BLOCK || r->block == NULL) {
    r->block = yoke__arena_array(r->arena, VALUES_PER_BLOCK, sizeof *r->block);
    r->n_in_block = 0;
    if (r->block == NULL) {
      refuse_memory(r);
      return NULL;
    }
  }
  yoke_json_value* value = &r->block[r->n_in_block++];
  if (r->depth > 0) {
    yoke_json_value* parent = r->open[r->depth - 1];
    yoke_json_value** last = &r->last[r->depth - 1];
    if (*last == NULL) {
      parent->first = value;
    } else {
      (*last)->next = value;
    }
    *last = value;
    parent->n++;
  }
  return value;
}

// "key" and the colon, where an object is open
static bool read_key(reader* r, yoke_json_value* value) {
  if (r->depth == 0 || r->open[r->depth - 1]->kind == YOKE_JSON_ARRAY) {
    return true;
  }
  if (!is_next(r, '"')) {
    return refuse(r, r->at, "expected a name in quotes");
  }
  if (!read_string(r, &value->key)) {
    return false;
  }
  skip_blanks(r);
  if (!is_next(r, ':')) {
    return refuse(r, r->at, "expected ':'");
  }
  r->at++;
  skip_blanks(r);
  return true;
}

static bool open_container(reader* r, yoke_json_value* value) {
  if (r->depth == YOKE_JSON_DEPTH) {
    return refuse(r, r->at, "nested too deeply");
  }
  value->kind = *r->at == '[' ? YOKE_JSON_ARRAY : YOKE_JSON_OBJECT;
  r->open[r->depth] = value;
  r->last[r->depth++] = NULL;
  r->at++;
  return true;
}

static bool read_plain(reader* r, yoke_json_value* value) {
  if (is_next(r, '"')) {
    value->kind = YOKE_JSON_STRING;
    return read_string(r, &value->text);
  }
  if (is_next(r, '-') || is_digit(r)) {
    value->kind = YOKE_JSON_NUMBER;
    return read_number(r, &value->number);
  }
  return read_word(r, value);
}

// Closes what ends here. True: another member follows, or all is closed.
static bool close_containers(reader* r) {
  while (r->depth > 0) {
    const yoke_json_value* inner = r->open[r->depth - 1];
    const bool is_array = inner->kind == YOKE_JSON_ARRAY;
    skip_blanks(r);
    if (is_next(r, ',') && inner->n > 0) {
      r->at++;
      return true;
    }
    if (!is_next(r, is_array ? ']' : '}')) {
      return refuse(r, r->at, is_array ? "expected ',' or ']'" : "expected ',' or '}'");
    }
    r->at++;
    r->depth--;
  }
  return true;
}

// One value and, if it is a container without members, its end; then all containers that end behind
// it.
static bool read_value(reader* r, yoke_json_value** out) {
  skip_blanks(r);
  *out = add_value(r);
  if (*out == NULL || !read_key(r, *out)) {
    return false;
  }
  if (!is_next(r, '[') && !is_next(r, '{')) {
    return read_plain(r, *out) && close_containers(r);
  }
  const char end = *r->at == '[' ? ']' : '}';
  if (!open_container(r, *out)) {
    return false;
  }
  skip_blanks(r);
  return is_next(r, end) ? close_containers(r) : true;
}

static bool read_all(reader* r, yoke_json_value** root) {
  yoke_json_value* value = NULL;
  do {
    if (!read_value(r, &value)) {
      return false;
    }
    *root = *root == NULL ? value : *root;
  } while (r->depth > 0);
  skip_blanks(r);
  return r->at == r->end || refuse(r, r->at, "something stands behind the value");
}

static yoke_place find_place(const reader* r) {
  yoke_place place = {NULL, 1, 1};
  for (const char* at = r->start; at < r->at; at++) {
    place.line += *at == '\n';
    place.column = *at == '\n' ? 1 : place.column + 1;
  }
  return place;
}

yoke_status yoke__json_parse(const char* bytes, size_t n, yoke_arena* arena,
                             const yoke_json_value** root, const yoke_sink* sink) {
  *root = NULL;
  if (n > YOKE_JSON_MAX_SIZE) {
    return yoke_fail(sink, YOKE_FULL, "more than %zu MB", YOKE_JSON_MAX_SIZE >> 20);
  }
  reader r = {.start = bytes, .at = bytes, .end = bytes + n, .arena = arena};
  yoke_json_value* first = NULL;
  r.text = yoke__arena_take(arena, n + 1);
  const bool is_read = r.text == NULL ? refuse_memory(&r) : read_all(&r, &first);
  if (is_read) {
    *root = first;
    return YOKE_OK;
  }
  const yoke_place place = r.status == YOKE_NO_MEMORY ? (yoke_place){0} : find_place(&r);
  return yoke__fail_at(sink, r.status, place, "%s", r.what);
}

// ---- looking things up

const yoke_json_value* yoke__json_find(const yoke_json_value* object, const char* key) {
  if (object == NULL || object->kind != YOKE_JSON_OBJECT) {
    return NULL;
  }
  for (const yoke_json_value* v = object->first; v != NULL; v = v->next) {
    if (strcmp(v->key, key) == 0) {
      return v;
    }
  }
  return NULL;
}

const char* yoke__json_find_text(const yoke_json_value* object, const char* key,
                                 const char* otherwise) {
  const yoke_json_value* v = yoke__json_find(object, key);
  return v != NULL && v->kind == YOKE_JSON_STRING ? v->text : otherwise;
}

double yoke__json_find_number(const yoke_json_value* object, const char* key, double otherwise) {
  const yoke_json_value* v = yoke__json_find(object, key);
  return v != NULL && v->kind == YOKE_JSON_NUMBER ? v->number : otherwise;
}

bool yoke__json_find_boolean(const yoke_json_value* object, const char* key, bool otherwise) {
  const yoke_json_value* v = yoke__json_find(object, key);
  return v != NULL && v->kind == YOKE_JSON_BOOLEAN ? v->is_true : otherwise;
}
