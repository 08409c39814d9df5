// Growing text; see study_text.h.
#include "study/study_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

// Room for n more bytes and a NUL. False: out of memory.
static bool reserve(yoke_text* text, size_t n) {
  if (text->status < 0) {
    return false;
  }
  if (text->room - text->n > n) {
    return true;
  }
  const size_t room = (text->n + n + 1) * 2 < 256 ? 256 : (text->n + n + 1) * 2;
  char* bytes = realloc(text->bytes, room);
  if (bytes == NULL) {
    text->status = YOKE_NO_MEMORY;
    return false;
  }
  text->bytes = bytes;
  text->room = room;
  return true;
}

static void add_bytes(yoke_text* text, const char* bytes, size_t n) {
  if (reserve(text, n)) {
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
  }
}

void yoke__text_add(yoke_text* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n > 0 && reserve(text, (size_t)n)) {
    vsnprintf(text->bytes + text->n, (size_t)n + 1, format, again);
    text->n += (size_t)n;
  }
  va_end(again);
}

void yoke__text_cell(yoke_text* text, const char* cell) {
  const size_t n = strlen(cell);
  const bool has_blank_end = n > 0 && (cell[0] == ' ' || cell[n - 1] == ' ');
  if (!has_blank_end && strpbrk(cell, ",\"\r\n") == NULL) {
    add_bytes(text, cell, n);
    return;
  }
  add_bytes(text, "\"", 1);
  for (const char* c = cell; *c != '\0'; c++) {
    if (*c == '"') {
      add_bytes(text, "\"\"", 2);
    } else {
      add_bytes(text, *c == '\n' || *c == '\r' ? " " : c, 1);
    }
  }
  add_bytes(text, "\"", 1);
}

void yoke__text_number(yoke_text* text, double x) {
  char digits[YOKE_NUMBER_SIZE];
  if (yoke__is_finite(x)) {
    add_bytes(text, digits, yoke__number_format(x, digits));
  }
}

void yoke__text_xml(yoke_text* text, const char* plain) {
  for (const char* c = plain; *c != '\0'; c++) {
    switch (*c) {
    case '<':
      add_bytes(text, "&lt;", 4);
      break;
    case '>':
      add_bytes(text, "&gt;", 4);
      break;
    case '&':
      add_bytes(text, "&amp;", 5);
      break;
    case '"':
      add_bytes(text, "&quot;", 6);
      break;
    default:
      // control characters are not allowed in XML at all
      add_bytes(text, (unsigned char)*c < ' ' ? " " : c, 1);
    }
  }
}

void yoke__text_clear(yoke_text* text) {
  text->n = 0;
}

void yoke__text_free(yoke_text* text) {
  free(text->bytes);
  *text = (yoke_text){0};
}

uint64_t yoke__hash_bytes(uint64_t hash, const void* bytes, size_t n) {
  const unsigned char* from = bytes;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ from[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

uint64_t yoke__hash_text(uint64_t hash, const char* text) {
  const uint64_t n = strlen(text);
  return yoke__hash_bytes(yoke__hash_bytes(hash, &n, sizeof n), text, (size_t)n);
}
