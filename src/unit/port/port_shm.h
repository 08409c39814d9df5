// Shared memory between two processes of one machine and one user: a ring of datagrams each way.
//
// The listening end makes the segment, with mode 0600, and removes it when it closes. Who has it is known by locks that the kernel
// drops with the process: one for the end that listens, one for the bench that is attached, of which there is one at a time. A
// segment whose owner has died is replaced. The other end attaches with its first datagram, since the listener may still be
// starting, and again until it is answered.
#ifndef YOKE_UNIT_PORT_SHM_H
#define YOKE_UNIT_PORT_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unit/port/port_datagram.h"
#include "unit/port/port_ring.h"
#include "yoke/message.h"
#include "yoke/status.h"

enum {
  YOKE_SHM_MAGIC = 0x534b4f59,  // "YOKS"
  YOKE_SHM_VERSION = 1,
  YOKE_SHM_MAX_NAME = 100,
};

// The segment.
typedef struct yoke_shm_segment {
  _Atomic uint32_t magic;  // written last
  uint32_t version;
  uint64_t size;
  yoke_ring to_listener, from_listener;
} yoke_shm_segment;

typedef struct yoke_shm yoke_shm;

// Names such as "/yoke-rig". peer NULL: this end listens at `bind` and makes the segment; else it attaches to `peer`, and bind is NULL.
// A failure sends its reason to the sink.
yoke_status yoke__shm_open(const char* bind, const char* peer, yoke_shm** out,
                           const yoke_sink* sink);
void yoke__shm_close(yoke_shm** shm);
const char* yoke__shm_address(const yoke_shm* shm);
// Why nothing can be sent now; NULL: it can.
const char* yoke__shm_trouble(const yoke_shm* shm);

bool yoke__shm_send(yoke_shm* shm, const uint8_t bytes[], size_t n);
size_t yoke__shm_receive(yoke_shm* shm, int64_t timeout_ns,
                         yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]);
yoke_carrier_counts yoke__shm_count(const yoke_shm* shm);

#endif
