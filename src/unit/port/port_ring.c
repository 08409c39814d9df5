// A ring of whole datagrams in shared memory; see port_ring.h.
//
// The flag of a sleeping reader and `written` follow Dekker's pattern: the reader sets its flag, then looks at the number once more;
// the writer raises the number, then looks at the flag. Both pairs are sequentially consistent, so at least one sees the other.
#include "unit/port/port_ring.h"

#include <string.h>

#include "base/base_os.h"
#include "base/base_process.h"

#define SPIN_NS    INT64_C(30000)  // about what it costs to fall asleep and to be woken
#define SPIN_CHECK 32              // looks at the number per look at the clock
#define MAX_VAIN   3               // spins in vain, after which it sleeps at once
#define SKIP       64              // waits until it spins again

yoke_ring_writer yoke__ring_writer(yoke_ring* ring) {
  return (yoke_ring_writer){.ring = ring, .written = atomic_load(&ring->written)};
}

yoke_ring_reader yoke__ring_reader(yoke_ring* ring) {
  const yoke_ring_reader reader = {.ring = ring,
                                   .read = atomic_load(&ring->written),
                                   .dropped_seen = atomic_load(&ring->n_dropped)};
  atomic_store(&ring->read, reader.read);
  atomic_store(&ring->is_asleep, 0);
  return reader;
}

bool yoke__ring_write(yoke_ring_writer* writer, const uint8_t bytes[], size_t n,
                      yoke_carrier_counts* counts) {
  yoke_ring* ring = writer->ring;
  if (n == 0 || n > YOKE_PORT_MAX_SIZE) {
    counts->n_unsent++;
    return false;
  }
  // a number that cannot be counts as a full ring, too
  const uint32_t n_used = writer->written - atomic_load_explicit(&ring->read, memory_order_acquire);
  if (n_used >= YOKE_RING_SLOTS) {
    atomic_fetch_add_explicit(&ring->n_dropped, 1, memory_order_relaxed);
    counts->n_overflow++;
    counts->n_unsent++;
    return false;
  }
  yoke_ring_slot* slot = &ring->slots[writer->written % YOKE_RING_SLOTS];
  memcpy(slot->bytes, bytes, n);
  atomic_store_explicit(&slot->size, (uint32_t)n, memory_order_relaxed);
  writer->written++;
  atomic_store(&ring->written, writer->written);
  if (atomic_load(&ring->is_asleep) != 0) {
    yoke__shared_wake(&ring->written);
  }
  counts->n_sent++;
  return true;
}

static void note_dropped(yoke_ring_reader* reader, yoke_carrier_counts* counts) {
  const uint32_t dropped = atomic_load_explicit(&reader->ring->n_dropped, memory_order_relaxed);
  counts->n_overflow += dropped - reader->dropped_seen;
  reader->dropped_seen = dropped;
}

size_t yoke__ring_read(yoke_ring_reader* reader, uint8_t room[][YOKE_PORT_MAX_SIZE],
                       yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS],
                       yoke_carrier_counts* counts) {
  yoke_ring* ring = reader->ring;
  const uint32_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
  uint32_t n_there = written - reader->read;
  if (n_there > YOKE_RING_SLOTS) {
    // no writer gets there: begin anew behind it
    counts->n_cut++;
    reader->read = written;
    n_there = 0;
  }
  size_t n_out = 0;
  for (; n_there > 0; n_there--, reader->read++) {
    const yoke_ring_slot* slot = &ring->slots[reader->read % YOKE_RING_SLOTS];
    const uint32_t size = atomic_load_explicit(&slot->size, memory_order_relaxed);
    if (size == 0 || size > YOKE_PORT_MAX_SIZE) {
      counts->n_cut++;
      continue;
    }
    memcpy(room[n_out], slot->bytes, size);
    out[n_out] = (yoke_port_datagram){room[n_out], size};
    n_out++;
  }
  atomic_store_explicit(&ring->read, reader->read, memory_order_release);
  note_dropped(reader, counts);
  counts->n_received += n_out;
  return n_out;
}

static bool is_there(const yoke_ring_reader* reader) {
  return atomic_load_explicit(&reader->ring->written, memory_order_acquire) != reader->read;
}

static bool spin(const yoke_ring_reader* reader, int64_t timeout_ns) {
  const int64_t end = yoke__os_now_ns() + (timeout_ns < SPIN_NS ? timeout_ns : SPIN_NS);
  do {
    for (int i = 0; i < SPIN_CHECK; i++) {
      if (is_there(reader)) {
        return true;
      }
      yoke__os_relax();
    }
  } while (yoke__os_now_ns() < end);
  return false;
}

// The other end is slow, or all processors are busy: spinning would only keep it from running.
static bool is_spinning_worth(yoke_ring_reader* reader) {
  if (reader->n_to_skip > 0) {
    reader->n_to_skip--;
    return false;
  }
  return true;
}

void yoke__ring_wait(yoke_ring_reader* reader, int64_t timeout_ns) {
  if (is_there(reader)) {
    return;
  }
  if (is_spinning_worth(reader)) {
    if (spin(reader, timeout_ns)) {
      reader->n_vain = 0;
      return;
    }
    if (++reader->n_vain >= MAX_VAIN) {
      reader->n_vain = MAX_VAIN - 1;  // one try after the pause
      reader->n_to_skip = SKIP;
    }
  }
  atomic_store(&reader->ring->is_asleep, 1);
  if (atomic_load(&reader->ring->written) == reader->read) {
    yoke__shared_wait(&reader->ring->written, reader->read, timeout_ns);
  }
  atomic_store(&reader->ring->is_asleep, 0);
}
