// A UDP socket between two processes: whole datagrams, one peer, nobody else.
//
// One send per datagram; one `recvmmsg` takes up to 64 of them. What comes from another address is dropped and counted, and so
// is what the kernel dropped because nobody read it in time.
#ifndef YOKE_UNIT_PORT_UDP_H
#define YOKE_UNIT_PORT_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unit/port/port_datagram.h"
#include "yoke/message.h"
#include "yoke/status.h"

typedef struct yoke_udp yoke_udp;

// Addresses as numbers: "127.0.0.1:47001", "[::1]:47001". bind NULL: any free port of the peer's kind of loopback address. peer
// NULL: whoever sends first (yoke__udp_adopt). A failure sends its reason to the sink.
yoke_status yoke__udp_open(const char* bind, const char* peer, yoke_udp** out,
                           const yoke_sink* sink);
void yoke__udp_close(yoke_udp** udp);
// Where it listens, as text; "" if that is not known.
const char* yoke__udp_address(const yoke_udp* udp);

// False: it could not be sent now.
bool yoke__udp_send(yoke_udp* udp, const uint8_t bytes[], size_t n);

// Waits up to timeout_ns for the first one (0: takes what is there). Returns how many came from the peer; 0 after a timeout, or if
// only others sent.
size_t yoke__udp_receive(yoke_udp* udp, int64_t timeout_ns,
                         yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]);
// Without a peer: the sender of datagram i of the last call is the peer from now on.
void yoke__udp_adopt(yoke_udp* udp, size_t i);
// Anybody again.
void yoke__udp_forget(yoke_udp* udp);
yoke_carrier_counts yoke__udp_count(const yoke_udp* udp);

#endif
