// Text that grows: lines of journals, tables, drawings. Nothing is checked call by call: running out of memory sticks and
// is reported by yoke__text_status.
#ifndef YOKE_STUDY_TEXT_H
#define YOKE_STUDY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

// Zeroed is empty. bytes is NUL-terminated once something was added.
typedef struct yoke_text {
  char* bytes;
  size_t n, room;
  yoke_status status;
} yoke_text;

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

// FNV-1a: tells apart what was changed by accident, not by intent.
#define YOKE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t yoke__hash_bytes(uint64_t hash, const void* bytes, size_t n);
// A text with its length, so that "ab", "c" differs from "a", "bc".
uint64_t yoke__hash_text(uint64_t hash, const char* text);

#endif
