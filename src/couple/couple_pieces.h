// Pieces of one block of memory, each aligned to 64 bytes: the same walk counts them and lays them.
#ifndef YOKE_COUPLE_PIECES_H
#define YOKE_COUPLE_PIECES_H

#include <stddef.h>

// base NULL: it only counts.
typedef struct yoke_pieces {
  char* base;
  size_t used;
} yoke_pieces;

static inline size_t yoke__round_up(size_t size) {
  return (size + 63) / 64 * 64;
}

static inline void* yoke__take(yoke_pieces* from, size_t count, size_t size) {
  void* piece = from->base == NULL ? NULL : from->base + from->used;
  from->used += yoke__round_up(count * size);
  return piece;
}

#endif
