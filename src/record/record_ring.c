// Single-producer single-consumer ring of rows; the invariants are in the header.
// Release on a counter makes the bytes written before it visible to the thread that acquires it.
#include "record/record_ring.h"

#include <string.h>

void yoke__ring_init(yoke_record_ring* ring, unsigned char* rows, size_t n_rows, size_t stride) {
  memset(rows, 0, n_rows * stride);
  ring->rows = rows;
  ring->n_rows = n_rows;
  ring->stride = stride;
  atomic_init(&ring->head, 0);
  atomic_init(&ring->tail, 0);
  ring->tail_seen = ring->head_seen = 0;
  ring->head_slot = ring->tail_slot = 0;
}

unsigned char* yoke__ring_slot(yoke_record_ring* ring) {
  const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  if (head - ring->tail_seen == ring->n_rows) {
    ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head - ring->tail_seen == ring->n_rows) {
      return NULL;
    }
  }
  return ring->rows + ring->head_slot * ring->stride;
}

void yoke__ring_commit(yoke_record_ring* ring) {
  // no division: the slot runs along with the counter
  ring->head_slot = ring->head_slot + 1 == ring->n_rows ? 0 : ring->head_slot + 1;
  const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

const unsigned char* yoke__ring_peek(yoke_record_ring* ring, size_t* n) {
  const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  if (ring->head_seen == tail) {
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
  }
  const size_t n_ready = (size_t)(ring->head_seen - tail);
  const size_t n_to_end = ring->n_rows - ring->tail_slot;
  *n = n_ready < n_to_end ? n_ready : n_to_end;
  return ring->rows + ring->tail_slot * ring->stride;
}

void yoke__ring_release(yoke_record_ring* ring, size_t n) {
  ring->tail_slot += n;
  ring->tail_slot -= ring->tail_slot >= ring->n_rows ? ring->n_rows : 0;
  const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
}
