// Growing text; see base_text.h.
#include "base/base_text.h"

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
  // doubling keeps the copying linear in the final size
  const size_t room = (text->n + n + 128) * 2;
  char* bytes = realloc(text->bytes, room);
  if (bytes == NULL) {
    text->status = YOKE_NO_MEMORY;
    return false;
  }
  text->bytes = bytes;
  text->room = room;
  return true;
}

void yoke__text_append(yoke_text* text, const char* bytes, size_t n) {
  if (reserve(text, n)) {
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
  }
}

void yoke__text_string(yoke_text* text, const char* string) {
  yoke__text_append(text, string, strlen(string));
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
    yoke__text_append(text, cell, n);
    return;
  }
  yoke__text_append(text, "\"", 1);
  for (const char* c = cell; *c != '\0'; c++) {
    if (*c == '"') {
      yoke__text_append(text, "\"\"", 2);
    } else {
      yoke__text_append(text, *c == '\n' || *c == '\r' ? " " : c, 1);
    }
  }
  yoke__text_append(text, "\"", 1);
}

void yoke__text_number(yoke_text* text, double x) {
  char digits[YOKE_NUMBER_SIZE];
  if (yoke__is_finite(x)) {
    yoke__text_append(text, digits, yoke__number_format(x, digits));
  }
}

void yoke__text_xml(yoke_text* text, const char* plain) {
  for (const char* c = plain; *c != '\0'; c++) {
    switch (*c) {
    case '<':
      yoke__text_append(text, "&lt;", 4);
      break;
    case '>':
      yoke__text_append(text, "&gt;", 4);
      break;
    case '&':
      yoke__text_append(text, "&amp;", 5);
      break;
    case '"':
      yoke__text_append(text, "&quot;", 6);
      break;
    default:
      // control characters are not allowed in XML at all
      yoke__text_append(text, (unsigned char)*c < ' ' ? " " : c, 1);
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

size_t yoke__utf8_length(const char* at) {
  const unsigned char* s = (const unsigned char*)at;
  if (s[0] < 0x80) {
    return 1;
  }
  const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4) {
    return 0;
  }
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  const bool is_outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return is_overlong || is_outside ? 0 : n;
}
