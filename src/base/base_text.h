// Text that grows: documents, tables, drawings, lines of journals. Nothing is checked call by call: once memory has run out
// nothing more is appended, and `status` keeps YOKE_NO_MEMORY.
#ifndef YOKE_BASE_TEXT_H
#define YOKE_BASE_TEXT_H

#include <stddef.h>

#include "yoke/status.h"

// Zeroed is empty. bytes is NUL-terminated once something was appended; whoever owns the text may keep it and free it.
typedef struct yoke_text {
  char* bytes;
  size_t n, room;
  yoke_status status;
} yoke_text;

void yoke__text_append(yoke_text* text, const char* bytes, size_t n);
void yoke__text_string(yoke_text* text, const char* string);
void yoke__text_add(yoke_text* text, const char* format, ...) YOKE_PRINTF(2, 3);
// A cell of a table (RFC 4180), quoted where it must be; line ends become blanks, so that a row is one line.
void yoke__text_cell(yoke_text* text, const char* cell);
// The shortest digits that read back to the same double; nothing for what is not finite.
void yoke__text_number(yoke_text* text, double x);
// Text inside XML.
void yoke__text_xml(yoke_text* text, const char* plain);
// Forgets the content, keeps the memory.
void yoke__text_clear(yoke_text* text);
void yoke__text_free(yoke_text* text);

// Bytes of the UTF-8 character at s, 0 if it is none (overlong, surrogate, beyond U+10FFFF, cut off). Reads no further than
// a NUL.
size_t yoke__utf8_length(const char* at);

#endif
