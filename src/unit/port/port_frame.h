// Datagrams of a port that carries the signals of a unit: a head, then the values as they lie in memory, 8 bytes each.
//
//   0  magic u32 "YKPT"      24  t f64 [s]              56  signals u64: fingerprint of names and types
//   4  version u16           32  h f64 [s]              64  size u32: bytes of values
//   6  kind u16              40  sent u64 [ns]          68  check u32
//   8  session u64           48  echo u64 [ns]          72  values
//  16  sequence u64
//
// Little endian. `sent` is the clock of the sender; `echo` is that of the datagram which is answered, so that a round trip
// needs one clock only; of a hello a fingerprint of the parameters. `check` is a sum over everything else: UDP on loopback has none.
#ifndef YOKE_UNIT_PORT_FRAME_H
#define YOKE_UNIT_PORT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  YOKE_PORT_MAGIC = 0x54504b59,  // "YKPT"
  YOKE_PORT_VERSION = 1,
  YOKE_PORT_HEAD_SIZE = 72,
  YOKE_PORT_MAX_VALUES = 1000,  // numbers in one datagram
  YOKE_PORT_MAX_SIZE = YOKE_PORT_HEAD_SIZE + 8 * YOKE_PORT_MAX_VALUES,
};

typedef enum yoke_port_kind {
  YOKE_PORT_HELLO = 1,  // a run begins: inputs at its start; t is its start, h its stop
  YOKE_PORT_STEP,       // advance from t by h with these inputs
  YOKE_PORT_ANSWER,     // outputs after that, or at the start
  YOKE_PORT_STOP,       // the run is over
  YOKE_PORT_FAULT,      // cannot: the values are a text
  YOKE_PORT_N_KINDS,
} yoke_port_kind;

typedef struct yoke_port_frame {
  yoke_port_kind kind;
  uint64_t session, sequence;
  double t, h;
  uint64_t sent_ns, echo_ns;
  uint64_t signals;
  const uint8_t* values;  // in the datagram that was read, or to be written
  size_t size;            // bytes
} yoke_port_frame;

typedef enum yoke_port_reason {
  YOKE_PORT_OK,
  YOKE_PORT_SHORT,    // fewer bytes than its head or its size asks for
  YOKE_PORT_LONG,     // more
  YOKE_PORT_STRANGE,  // not one of these datagrams
  YOKE_PORT_OTHER_VERSION,
  YOKE_PORT_BAD_KIND,
  YOKE_PORT_DAMAGED,     // its sum is wrong
  YOKE_PORT_NOT_FINITE,  // a time that is no number
  YOKE_PORT_N_REASONS,
} yoke_port_reason;

// Bytes written to `room`; 0 if it is too small.
size_t yoke__port_write(const yoke_port_frame* frame, uint8_t bytes[], size_t room);
// Reads exactly n bytes; frame->values points into them. Refused: the frame is all zero.
yoke_port_reason yoke__port_read(const uint8_t bytes[], size_t n, yoke_port_frame* frame);

#endif
