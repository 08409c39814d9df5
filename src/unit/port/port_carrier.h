// What carries the datagrams of a port from one process to the other: one peer, whole datagrams, nobody waits without a bound.
//
// Both ends of a port know only this; the kinds are in port_udp.h and port_shm.h. A carrier has one thread at a time.
#ifndef YOKE_UNIT_PORT_CARRIER_H
#define YOKE_UNIT_PORT_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unit/port/port_datagram.h"
#include "yoke/message.h"
#include "yoke/status.h"

typedef enum yoke_carrier_kind {
  YOKE_CARRIER_UDP,  // a socket; addresses such as 127.0.0.1:47001
  YOKE_CARRIER_SHM,  // shared memory of this machine; names such as /yoke-rig
} yoke_carrier_kind;

typedef struct yoke_carrier yoke_carrier;

// peer: the other end, NULL: this end listens and takes whoever comes (yoke__carrier_adopt). bind: where this end is, NULL: where it
// likes. A failure sends its reason to the sink.
yoke_status yoke__carrier_open(yoke_carrier_kind kind, const char* bind, const char* peer,
                               yoke_carrier** out, const yoke_sink* sink);
void yoke__carrier_close(yoke_carrier** carrier);
// Where it listens, as text; "" if that is not known.
const char* yoke__carrier_address(const yoke_carrier* carrier);

// Never waits. False: it could not be sent now.
bool yoke__carrier_send(yoke_carrier* carrier, const uint8_t bytes[], size_t n);
// Waits up to timeout_ns for the first one (0: takes what is there). Returns how many came from the peer; 0 after a timeout, or if
// only others sent.
size_t yoke__carrier_receive(yoke_carrier* carrier, int64_t timeout_ns,
                             yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]);
// Without a peer: the sender of datagram i of the last call is the peer from now on.
void yoke__carrier_adopt(yoke_carrier* carrier, size_t i);
// Why nothing can be sent now, where that is known; NULL else.
const char* yoke__carrier_trouble(const yoke_carrier* carrier);
// Anybody again.
void yoke__carrier_forget(yoke_carrier* carrier);
yoke_carrier_counts yoke__carrier_count(const yoke_carrier* carrier);

#endif
