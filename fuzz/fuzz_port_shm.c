// A peer that writes anything into the shared memory of a port: both ends of a ring stay inside of it and hand out only lengths that
// a datagram may have. The input is a list of what the peer does (5 bytes: what, and a number) between sends and receives.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/port/port_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void check(const yoke_port_datagram got[], size_t n) {
  if (n > YOKE_RING_SLOTS) {
    abort();
  }
  for (size_t i = 0; i < n; i++) {
    if (got[i].n == 0 || got[i].n > YOKE_PORT_MAX_SIZE) {
      abort();
    }
    yoke_port_frame frame;
    (void)yoke__port_read(got[i].bytes, got[i].n, &frame);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  static uint8_t room[YOKE_RING_SLOTS][YOKE_PORT_MAX_SIZE];
  static const uint8_t sent[YOKE_PORT_MAX_SIZE];
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  yoke_carrier_counts counts = {0};
  yoke_ring* ring = aligned_alloc(64, sizeof *ring);  // its own block: a step outside is seen
  if (ring == NULL) {
    return 0;
  }
  memset(ring, 0, sizeof *ring);
  yoke_ring_writer writer = yoke__ring_writer(ring);
  yoke_ring_reader reader = yoke__ring_reader(ring);
  for (size_t i = 0; i + 5 <= n; i += 5) {
    uint32_t number = 0;
    memcpy(&number, bytes + i + 1, sizeof number);
    yoke_ring_slot* slot = &ring->slots[number / 65536 % YOKE_RING_SLOTS];
    switch (bytes[i] % 9) {
    case 0:
      atomic_store(&ring->written, number);
      break;
    case 1:
      atomic_store(&ring->read, number);
      break;
    case 2:
      atomic_store(&slot->size, number);
      break;
    case 3:
      atomic_store(&slot->size, number % (YOKE_PORT_MAX_SIZE + 2));
      break;
    case 4:
      atomic_store(&ring->n_dropped, number);
      break;
    case 5:
      slot->bytes[number % sizeof slot->bytes] = bytes[i];
      break;
    case 6:
      (void)yoke__ring_write(&writer, sent, number % (YOKE_PORT_MAX_SIZE + 2), &counts);
      break;
    case 7:
      check(got, yoke__ring_read(&reader, room, got, &counts));
      break;
    default:
      writer = yoke__ring_writer(ring);
      reader = yoke__ring_reader(ring);
      break;
    }
  }
  check(got, yoke__ring_read(&reader, room, got, &counts));
  free(ring);
  return 0;
}
