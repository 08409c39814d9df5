// A ring of whole datagrams in memory that two processes share: one writes, one reads, nobody locks.
//
//   written -> number of datagrams ever written, modulo 2^32; the word that a sleeping reader waits for
//   read    -> number of those that were taken; slot of datagram k: k modulo 64
//
// Each end believes only its own copy of its own number. What the other end owns (its number, lengths, contents) is taken once,
// checked, and copied out before anybody looks at it: whatever it writes there, nothing is read or written outside of the ring.
#ifndef YOKE_UNIT_PORT_RING_H
#define YOKE_UNIT_PORT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unit/port/port_datagram.h"
#include "unit/port/port_frame.h"

enum {
  YOKE_RING_SLOTS = 64,       // a power of two, so that numbers may wrap around
  YOKE_RING_SLOT_SIZE = 8128  // length and bytes, whole cache lines
};

typedef struct yoke_ring_slot {
  _Atomic uint32_t size;
  uint32_t spare;
  uint8_t bytes[YOKE_RING_SLOT_SIZE - 8];
} yoke_ring_slot;

// In shared memory. What the two ends write lies in different cache lines.
typedef struct yoke_ring {
  _Alignas(64) _Atomic uint32_t written;
  _Atomic uint32_t n_dropped;  // by the writer: the ring was full
  _Alignas(64) _Atomic uint32_t read;
  _Atomic uint32_t is_asleep;  // the reader waits for `written`
  _Alignas(64) yoke_ring_slot slots[YOKE_RING_SLOTS];
} yoke_ring;

_Static_assert((int)YOKE_PORT_MAX_SIZE <= (int)YOKE_RING_SLOT_SIZE - 8,
               "a slot holds every datagram");
_Static_assert((int)YOKE_RING_SLOTS <= (int)YOKE_PORT_MOST_DATAGRAMS, "one call takes all of them");
_Static_assert(sizeof(yoke_ring) == 128 + (size_t)YOKE_RING_SLOTS * YOKE_RING_SLOT_SIZE,
               "the same layout in every process");

typedef struct yoke_ring_writer {
  yoke_ring* ring;
  uint32_t written;
} yoke_ring_writer;

typedef struct yoke_ring_reader {
  yoke_ring* ring;
  uint32_t read, dropped_seen;
  uint32_t n_vain, n_to_skip;  // spins
} yoke_ring_reader;

// Goes on behind what is there; a reader leaves it unread.
yoke_ring_writer yoke__ring_writer(yoke_ring* ring);
yoke_ring_reader yoke__ring_reader(yoke_ring* ring);

// Never waits. False: the ring is full, or n is no length of a datagram. Counts n_sent, n_overflow, n_unsent.
bool yoke__ring_write(yoke_ring_writer* writer, const uint8_t bytes[], size_t n,
                      yoke_carrier_counts* counts);
// Copies all that is there to `room`, one after another. Counts n_received, n_cut (no length of a datagram, or a number that cannot
// be) and n_overflow (as the writer says).
size_t yoke__ring_read(yoke_ring_reader* reader, uint8_t room[][YOKE_PORT_MAX_SIZE],
                       yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS],
                       yoke_carrier_counts* counts);
// Until something may be there, at most timeout_ns (> 0); may return early. A short while by spinning, then asleep.
void yoke__ring_wait(yoke_ring_reader* reader, int64_t timeout_ns);

#endif
