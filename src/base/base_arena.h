// Memory taken in blocks and given back all at once: everything that lives as long as its owner.
// Under ASan each piece is followed by a poisoned red zone.
#ifndef YOKE_BASE_ARENA_H
#define YOKE_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "yoke/status.h"

typedef struct yoke_arena {
  struct yoke_arena_block* blocks;  // newest first
  size_t used;                      // bytes handed out, for statistics
  bool has_failed;                  // a piece could not be given
} yoke_arena;

// size zeroed bytes, aligned to 64; NULL when memory is out. size 0 gives a valid pointer.
void* yoke__arena_take(yoke_arena* arena, size_t size);
// The same for count elements; NULL also when the product overflows.
void* yoke__arena_array(yoke_arena* arena, size_t count, size_t size);
// A copy of the first n characters of text, NUL-terminated.
char* yoke__arena_text(yoke_arena* arena, const char* text, size_t n);
// The same of a format and its arguments.
char* yoke__arena_format(yoke_arena* arena, const char* format, va_list args);
// YOKE_NO_MEMORY if one of the pieces asked for so far was not given, else YOKE_OK: one check behind
// a list of pieces.
yoke_status yoke__arena_status(const yoke_arena* arena);
// Frees everything; the arena is empty and usable again.
void yoke__arena_free(yoke_arena* arena);

#endif
