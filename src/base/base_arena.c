// Block arena. Pieces are cut from blocks of at least 64 KiB; a piece too large for the rest of a block gets a
// new one. Nothing is given back before yoke__arena_free.
#include "base/base_arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define YOKE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define YOKE_ASAN 1
#endif
#endif

#ifdef YOKE_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE 64u
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define RED_ZONE                                   0u
#endif

#define ALIGNMENT  64u                   // a cache line, and enough for any vector type
#define BLOCK_SIZE 65536u                // small systems need one or two blocks
#define MAX_SIZE   (PTRDIFF_MAX - 4096)  // no object is larger; the rest is for header and rounding

struct yoke_arena_block {
  struct yoke_arena_block* next;
  unsigned char* bytes;  // first aligned byte
  size_t size, used;
};

static struct yoke_arena_block* new_block(size_t size) {
  const size_t header = sizeof(struct yoke_arena_block) + ALIGNMENT;
  struct yoke_arena_block* block = calloc(1, header + size);
  if (block == NULL) {
    return NULL;
  }

  // the first aligned address behind the header
  const uintptr_t start = (uintptr_t)block + sizeof *block;
  const uintptr_t skip = (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
  block->bytes = (unsigned char*)block + sizeof *block + skip;
  block->size = size;
  ASAN_POISON_MEMORY_REGION(block->bytes, size);
  return block;
}

static void* fail(yoke_arena* arena) {
  arena->has_failed = true;
  return NULL;
}

void* yoke__arena_take(yoke_arena* arena, size_t size) {
  if (size > MAX_SIZE) {
    return fail(arena);
  }
  const size_t rounded = (size + RED_ZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct yoke_arena_block* block = arena->blocks;
  if (block == NULL || block->size - block->used < rounded) {
    block = new_block(rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE);
    if (block == NULL) {
      return fail(arena);
    }
    block->next = arena->blocks;
    arena->blocks = block;
  }
  void* piece = block->bytes + block->used;
  block->used += rounded;
  arena->used += size;
  ASAN_UNPOISON_MEMORY_REGION(piece, size);
  return piece;
}

void* yoke__arena_array(yoke_arena* arena, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) {
    return fail(arena);
  }
  return yoke__arena_take(arena, count * size);
}

char* yoke__arena_text(yoke_arena* arena, const char* text, size_t n) {
  char* copy = yoke__arena_take(arena, n + 1);
  if (copy != NULL) {
    memcpy(copy, text, n);
    copy[n] = '\0';
  }
  return copy;
}

yoke_status yoke__arena_status(const yoke_arena* arena) {
  return arena->has_failed ? YOKE_NO_MEMORY : YOKE_OK;
}

char* yoke__arena_format(yoke_arena* arena, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, format, args);
  char* text = n < 0 ? NULL : yoke__arena_take(arena, (size_t)n + 1);
  if (text != NULL) {
    vsnprintf(text, (size_t)n + 1, format, again);
  }
  va_end(again);
  return text;
}

void yoke__arena_free(yoke_arena* arena) {
  struct yoke_arena_block* block = arena->blocks;
  while (block != NULL) {
    struct yoke_arena_block* next = block->next;
    ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
    free(block);
    block = next;
  }
  *arena = (yoke_arena){0};
}
