// Names, words and messages of the netlist reader.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define MAX_NEAREST 20000u  // more names are not searched for a similar one

// ---- names: open addressing, at most half full, FNV-1a over lower case

struct yoke_names_slot {
  yoke_span name;  // text NULL: empty
  uint32_t hash, index;
};

static uint32_t hash_name(yoke_span name) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < name.n; i++) {
    hash = (hash ^ (unsigned char)yoke__lower(name.text[i])) * 16777619u;
  }
  return hash;
}

static struct yoke_names_slot* find_slot(const yoke_names* self, yoke_span name, uint32_t hash) {
  size_t at = hash & self->mask;
  while (self->slots[at].name.text != NULL &&
         (self->slots[at].hash != hash || !yoke__span_equals(self->slots[at].name, name))) {
    at = (at + 1) & self->mask;
  }
  return &self->slots[at];
}

uint32_t yoke__names_find(const yoke_names* self, yoke_span name) {
  if (self->slots == NULL) {
    return YOKE_NO_INDEX;
  }
  const struct yoke_names_slot* slot = find_slot(self, name, hash_name(name));
  return slot->name.text == NULL ? YOKE_NO_INDEX : slot->index;
}

static bool enlarge(yoke_names* self) {
  const size_t size = self->slots == NULL ? 16 : 2 * (self->mask + 1);
  yoke_names larger = {calloc(size, sizeof *larger.slots), size - 1, self->n};
  if (larger.slots == NULL) {
    return false;
  }
  for (size_t i = 0; self->slots != NULL && i <= self->mask; i++) {
    if (self->slots[i].name.text != NULL) {
      *find_slot(&larger, self->slots[i].name, self->slots[i].hash) = self->slots[i];
    }
  }
  free(self->slots);
  *self = larger;
  return true;
}

bool yoke__names_put(yoke_names* self, yoke_span name, uint32_t index) {
  if ((self->slots == NULL || 2 * (self->n + 1) > self->mask) && !enlarge(self)) {
    return false;
  }
  const uint32_t hash = hash_name(name);
  struct yoke_names_slot* slot = find_slot(self, name, hash);
  self->n += slot->name.text == NULL;
  *slot = (struct yoke_names_slot){name, hash, index};
  return true;
}

void yoke__names_free(yoke_names* self) {
  free(self->slots);
  *self = (yoke_names){0};
}

bool yoke__reader_append(yoke_netlist_reader* reader, void* array, size_t* n, size_t* max,
                         size_t size, const void* item) {
  const bool is_done = yoke__append(array, n, max, size, item);
  reader->is_out_of_memory |= !is_done;
  return is_done;
}

// ---- messages

yoke_place yoke__statement_place(yoke_netlist_reader* reader, const yoke_statement* statement,
                                 const char* at) {
  // a place outside of the statement (a function's body, a text put together here) is its first
  // line
  yoke_place place = {reader->files[statement->file].path, (int)statement->line, 0};
  const uintptr_t first = (uintptr_t)statement->text, wanted = (uintptr_t)at;
  const size_t n = wanted >= first && wanted - first <= statement->n ? wanted - first : 0;

  // long statements ask again and again, mostly further on: counting goes on from there
  struct yoke_counted_lines* known = &reader->counted;
  if (known->text != statement->text || known->n > n) {
    *known = (struct yoke_counted_lines){statement->text, 0, 0};
  }
  for (; known->n < n; known->n++) {
    known->n_lines += statement->text[known->n] == '\n';
  }
  place.line += known->n_lines;
  return place;
}

static void add_message(yoke_netlist_reader* reader, yoke_severity severity,
                        const yoke_statement* statement, const char* at, const char* format,
                        va_list args) {
  yoke__message_addv(reader->messages, severity, yoke__statement_place(reader, statement, at),
                     format, args);

  // behind the last error that is kept, what follows would only be counted
  if (severity == YOKE_ERROR && yoke__messages_is_full(reader->messages)) {
    reader->is_stopped = true;
  }
}

void yoke__netlist_error(yoke_netlist_reader* reader, const yoke_statement* statement,
                         const char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  add_message(reader, YOKE_ERROR, statement, at, format, args);
  va_end(args);
}

void yoke__netlist_warn(yoke_netlist_reader* reader, const yoke_statement* statement,
                        const char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  add_message(reader, YOKE_WARNING, statement, at, format, args);
  va_end(args);
}

bool yoke__cursor_error(const yoke_cursor* cursor, const char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  add_message(cursor->reader, YOKE_ERROR, cursor->statement, at, format, args);
  va_end(args);
  return false;
}

void yoke__cursor_warn(const yoke_cursor* cursor, const char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  add_message(cursor->reader, YOKE_WARNING, cursor->statement, at, format, args);
  va_end(args);
}

void yoke__cursor_ignore(const yoke_cursor* cursor, const char* what, yoke_span key) {
  char cut[YOKE_SHOWN_SIZE];
  if (yoke__netlist_is_first(cursor->reader, key)) {
    yoke__cursor_warn(cursor, key.text, "%.*s: '%s' is ignored", YOKE_SHOWN_SIZE - 1, what,
                      yoke__shown(key, cut));
  }
}

bool yoke__netlist_is_first(yoke_netlist_reader* reader, yoke_span key) {
  if (yoke__names_find(&reader->warned, key) != YOKE_NO_INDEX) {
    return false;
  }
  if (!yoke__names_put(&reader->warned, key, 0)) {
    reader->is_out_of_memory = true;
  }
  return true;
}

const char* yoke__shown(yoke_span span, char to[YOKE_SHOWN_SIZE]) {
  const size_t n = span.n < YOKE_SHOWN_SIZE - 4 ? span.n : YOKE_SHOWN_SIZE - 4;
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)span.text[i];
    to[length++] = (char)(c < ' ' || c == 0x7f ? ' ' : c);
  }

  // a cut must not leave half of a character
  if (n < span.n) {
    while (length > 0 && ((unsigned char)span.text[length] & 0xc0u) == 0x80u) {
      length--;
    }
    memcpy(to + length, "...", 3);
    length += 3;
  }
  to[length] = '\0';
  return to;
}

const char* yoke__netlist_hint(yoke_netlist_reader* reader, yoke_span name, const void* owner,
                               size_t n, yoke_name_of* name_of, char to[YOKE_HINT_SIZE]) {
  to[0] = '\0';
  if (n == 0 || n > MAX_NEAREST || name.n >= YOKE_SHOWN_SIZE - 4 ||
      reader->n_hints >= YOKE_NETLIST_MAX_HINTS || yoke__messages_is_full(reader->messages)) {
    return to;
  }
  reader->n_hints++;

  // copies with NUL, short ones only: a long name is never the nearest of a short one
  yoke_arena arena = {0};
  const char** names = yoke__arena_array(&arena, n, sizeof *names);
  size_t n_names = 0;
  for (size_t i = 0; names != NULL && i < n; i++) {
    const yoke_span candidate = name_of(owner, i);
    if (candidate.n > 0 && candidate.n < YOKE_SHOWN_SIZE - 4) {
      names[n_names] = yoke__arena_text(&arena, candidate.text, candidate.n);
      n_names += names[n_names] != NULL;
    }
  }
  char wanted[YOKE_SHOWN_SIZE];
  const char* nearest =
      names == NULL ? NULL : yoke__nearest_name(yoke__shown(name, wanted), names, n_names);
  if (nearest != NULL) {
    snprintf(to, YOKE_HINT_SIZE, "; did you mean '%s'?", nearest);
  }
  yoke__arena_free(&arena);
  return to;
}

// ---- words

yoke_cursor yoke__cursor_open(yoke_netlist_reader* reader, const yoke_statement* statement,
                              const yoke_frame* frame) {
  return (yoke_cursor){.reader = reader,
                       .statement = statement,
                       .frame = frame,
                       .at = statement->text,
                       .end = statement->text + statement->n};
}

static bool is_separator(char c) {
  return yoke__is_blank(c) || c == ',' || c == '(' || c == ')';
}

static bool is_word_end(char c) {
  return is_separator(c) || c == '=' || c == '{' || c == '\'';
}

// The end of a braced or quoted text that starts at `at`: its closing mark; NULL if there is none.
static const char* find_close(const char* at, const char* end) {
  if (*at == '\'') {
    return memchr(at + 1, '\'', (size_t)(end - at - 1));
  }
  int depth = 0;
  for (; at < end; at++) {
    depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    if (depth == 0) {
      return at;
    }
  }
  return NULL;
}

static yoke_token read_token(const yoke_cursor* cursor, const char** next, bool* is_open) {
  const char *at = cursor->at, *end = cursor->end;
  while (at < end && is_separator(*at)) {
    at++;
  }
  yoke_token token = {YOKE_TOKEN_END, {at, 0}};
  *is_open = false;
  *next = at;
  if (at == end) {
    return token;
  }
  if (*at == '=') {
    token = (yoke_token){YOKE_TOKEN_EQUALS, {at, 1}};
    *next = at + 1;
  } else if (*at == '{' || *at == '\'') {
    const char* close = find_close(at, end);
    *is_open = close == NULL;
    token.kind = YOKE_TOKEN_EXPRESSION;
    token.span = (yoke_span){at + 1, (size_t)((close != NULL ? close : end) - at - 1)};
    *next = close != NULL ? close + 1 : end;
  } else {
    while (at < end && !is_word_end(*at)) {
      at++;
    }
    token.kind = YOKE_TOKEN_WORD;
    token.span.n = (size_t)(at - token.span.text);
    *next = at;
  }
  return token;
}

yoke_token yoke__cursor_next(yoke_cursor* cursor) {
  bool is_open;
  const yoke_token token = read_token(cursor, &cursor->at, &is_open);
  if (is_open && !cursor->is_failed) {
    cursor->is_failed = true;
    yoke__cursor_error(cursor, token.span.text - 1, "'%c' is not closed", token.span.text[-1]);
  }
  return token;
}

yoke_token yoke__cursor_peek(const yoke_cursor* cursor) {
  const char* next;
  bool is_open;
  return read_token(cursor, &next, &is_open);
}

bool yoke__cursor_take(yoke_cursor* cursor, const char* word) {
  const yoke_token token = yoke__cursor_peek(cursor);
  if (token.kind != YOKE_TOKEN_WORD || !yoke__span_is(token.span, word)) {
    return false;
  }
  yoke__cursor_next(cursor);
  return true;
}

bool yoke__cursor_take_key(yoke_cursor* cursor, yoke_span* key) {
  yoke_cursor ahead = *cursor;
  const yoke_token token = yoke__cursor_peek(&ahead);
  if (token.kind != YOKE_TOKEN_WORD) {
    return false;
  }
  yoke__cursor_next(&ahead);
  if (yoke__cursor_peek(&ahead).kind != YOKE_TOKEN_EQUALS) {
    return false;
  }
  yoke__cursor_next(&ahead);
  cursor->at = ahead.at;
  *key = token.span;
  return true;
}

// True if "name =" starts here, but not "name ==".
static bool is_key(const char* at, const char* end) {
  if (at == end || !yoke__is_name_start(*at)) {
    return false;
  }
  while (at < end && yoke__is_name_part(*at)) {
    at++;
  }
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  return at < end && *at == '=' && !(end - at > 1 && at[1] == '=');
}

yoke_span yoke__cursor_rest_of_value(yoke_cursor* cursor) {
  const char *at = cursor->at, *end = cursor->end;
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  const char* start = at;
  int depth = 0;
  for (bool is_free = false; at < end; at++) {
    // a key starts only behind a blank or comma outside of brackets
    if (depth == 0 && is_free && is_key(at, end)) {
      break;
    }
    is_free = yoke__is_blank(*at) || *at == ',' || *at == '}' || *at == '\'';
    depth += *at == '(' || *at == '{' ? 1 : *at == ')' || *at == '}' ? -1 : 0;
    if (*at == '\'') {
      const char* close = find_close(at, end);
      at = close != NULL ? close : end - 1;
    }
  }
  cursor->at = at;
  while (at > start && (yoke__is_blank(at[-1]) || at[-1] == ',')) {
    at--;
  }
  yoke_span span = {start, (size_t)(at - start)};
  if (span.n >= 2 && span.text[0] == '\'' && span.text[span.n - 1] == '\'') {
    span = (yoke_span){span.text + 1, span.n - 2};
  }
  return span;
}
