// A queue of rows of fixed size between one producing and one consuming thread.
//
// Invariants
//   1. head counts rows committed, tail rows released; tail <= head <= tail + n_rows.
//   2. Slot i holds row number k with k mod n_rows = i; slots tail..head-1 belong to the consumer,
//      the rest to the producer.
//   3. head is written by the producer only, tail by the consumer only; each keeps a copy of the
//      other's counter and refreshes it only when the copy says full or empty. Both lie on cache
//      lines of their own.
#ifndef YOKE_RECORD_RING_H
#define YOKE_RECORD_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_CACHE_LINE 64

typedef struct yoke_record_ring {
  unsigned char* rows;  // n_rows * stride bytes, the caller's
  size_t n_rows, stride;

  // the producer's line
  alignas(YOKE_CACHE_LINE) _Atomic uint64_t head;
  uint64_t tail_seen;
  size_t head_slot;

  // the consumer's line
  alignas(YOKE_CACHE_LINE) _Atomic uint64_t tail;
  uint64_t head_seen;
  size_t tail_slot;
} yoke_record_ring;

// Lays the ring over rows (n_rows * stride bytes) and touches every page of it.
void yoke__ring_init(yoke_record_ring* ring, unsigned char* rows, size_t n_rows, size_t stride);

// Producer: the next free slot or NULL; the same slot until it is committed.
unsigned char* yoke__ring_slot(yoke_record_ring* ring);
void yoke__ring_commit(yoke_record_ring* ring);

// Consumer: the oldest rows that lie one behind the other; *n of them, 0 if the ring is empty.
const unsigned char* yoke__ring_peek(yoke_record_ring* ring, size_t* n);
void yoke__ring_release(yoke_record_ring* ring, size_t n);

#endif
