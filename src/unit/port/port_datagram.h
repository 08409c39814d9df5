// Whole datagrams as a carrier hands them out, and what it counts.
#ifndef YOKE_UNIT_PORT_DATAGRAM_H
#define YOKE_UNIT_PORT_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { YOKE_PORT_MOST_DATAGRAMS = 64 };  // in one call

typedef struct yoke_port_datagram {
  const uint8_t* bytes;  // valid until the next call
  size_t n;
} yoke_port_datagram;

// What went through a carrier.
typedef struct yoke_carrier_counts {
  uint64_t n_sent, n_received;
  uint64_t n_foreign;   // from others than the peer
  uint64_t n_cut;       // of a length that no datagram has
  uint64_t n_overflow;  // lost because nobody read them in time
  uint64_t n_unsent;    // could not be sent
} yoke_carrier_counts;

#endif
