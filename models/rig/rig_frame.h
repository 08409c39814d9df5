// Frames and datagrams of the test rig: what travels between the bench and the drives, byte by byte, little endian.
//
//   command 0x200+n  controlword u16, torque i16 [0.1 % of nominal], speed i32 [mrpm]; mode position: [counts]
//   status  0x180+n  statusword u16, torque i16 [0.1 % of nominal], speed i32 [mrpm]
//   slow    0x280+n  position i32 [counts], current i32 [mA]; every tenth cycle
//   fault   0x080+n  code u16, register u8
//   SYNC    0x080    empty; the sequence number stands in the datagram
//   analog  0x380+n  cell u16 [counts of the converter]; the acquisition card, not on the CAN bus
//
//   datagram  magic u32, version u16, count u16, sequence u32, time u64 [ns],
//             count x (id u32, dlc u8, 3 pad, 8 data)
//
// Nodes are 1 (motor under test) and 2 (load motor). The controlword carries the mode in its upper four bits, which
// CiA 402 leaves to the maker; the statusword echoes it there. The layout is ours; README.md, "Frames".
#ifndef YOKE_MODELS_RIG_FRAME_H
#define YOKE_MODELS_RIG_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  YOKE_FRAME_SYNC = 0x080,
  YOKE_FRAME_FAULT = 0x080,  // + node
  YOKE_FRAME_STATUS = 0x180,
  YOKE_FRAME_COMMAND = 0x200,
  YOKE_FRAME_SLOW = 0x280,
  YOKE_FRAME_ANALOG = 0x380,
  YOKE_FRAME_N_NODES = 2,
  YOKE_FRAME_DATA_SIZE = 8,
};

// one frame as the bus carries it
typedef struct yoke_frame {
  uint32_t id;
  uint8_t size;  // bytes of data in use, 0 to 8
  uint8_t data[YOKE_FRAME_DATA_SIZE];
} yoke_frame;

typedef struct yoke_frame_command {
  uint16_t word;
  int16_t torque;  // [0.1 % of nominal]
  int32_t target;  // [mrpm] or [counts]
} yoke_frame_command;

typedef struct yoke_frame_status {
  uint16_t word;
  int16_t torque;  // [0.1 % of nominal]
  int32_t speed;   // [mrpm]
} yoke_frame_status;

typedef struct yoke_frame_slow {
  int32_t position;  // [counts]
  int32_t current;   // [mA]
} yoke_frame_slow;

typedef struct yoke_frame_fault {
  uint16_t code;
  uint8_t error_register;
} yoke_frame_fault;

// Why a frame or datagram is refused.
typedef enum yoke_frame_reason {
  YOKE_FRAME_OK,
  YOKE_FRAME_SHORT,    // fewer bytes than its head or its count asks for
  YOKE_FRAME_LONG,     // more
  YOKE_FRAME_MAGIC,    // not one of these datagrams
  YOKE_FRAME_VERSION,  // of another version
  YOKE_FRAME_COUNT,    // more frames than a datagram may carry, or than there is room for
  YOKE_FRAME_ID,       // no frame of this rig
  YOKE_FRAME_SIZE,     // the frame of this id has another number of bytes
  YOKE_FRAME_PAD,      // bytes that must be 0 are not
  YOKE_FRAME_N_REASONS,
} yoke_frame_reason;

// "fewer bytes than ..."; "" for any other value.
const char* yoke__frame_reason_text(yoke_frame_reason reason);

// Frames from their content; node 1 or 2.
yoke_frame yoke__frame_sync(void);
yoke_frame yoke__frame_command(int node, yoke_frame_command content);
yoke_frame yoke__frame_status(int node, yoke_frame_status content);
yoke_frame yoke__frame_slow(int node, yoke_frame_slow content);
yoke_frame yoke__frame_fault(int node, yoke_frame_fault content);
yoke_frame yoke__frame_analog(int node, uint16_t counts);

// The kind of a frame (YOKE_FRAME_COMMAND, ...) and its node (0: SYNC). Refuses ids and sizes that the rig does not have.
yoke_frame_reason yoke__frame_judge(const yoke_frame* frame, uint32_t* kind, int* node);
// Content of a frame that was judged to be of that kind.
yoke_frame_command yoke__frame_read_command(const yoke_frame* frame);
yoke_frame_status yoke__frame_read_status(const yoke_frame* frame);
yoke_frame_slow yoke__frame_read_slow(const yoke_frame* frame);
yoke_frame_fault yoke__frame_read_fault(const yoke_frame* frame);
uint16_t yoke__frame_read_analog(const yoke_frame* frame);

// Physical values in the resolution of the frames: rounded to nearest, held at the ends of the range. NaN becomes 0.
int16_t yoke__frame_scale16(double value, double unit);
int32_t yoke__frame_scale32(double value, double unit);

// ---- datagrams

enum {
  YOKE_DATAGRAM_MAGIC = 0x454b4f59,  // "YOKE"
  YOKE_DATAGRAM_VERSION = 1,
  YOKE_DATAGRAM_HEAD_SIZE = 20,
  YOKE_DATAGRAM_FRAME_SIZE = 16,
  YOKE_DATAGRAM_MAX_FRAMES = 16,
  YOKE_DATAGRAM_MAX_SIZE =
      YOKE_DATAGRAM_HEAD_SIZE + YOKE_DATAGRAM_MAX_FRAMES * YOKE_DATAGRAM_FRAME_SIZE,
};

typedef struct yoke_datagram {
  uint32_t sequence;
  uint64_t time_ns;
  size_t n_frames;
  yoke_frame frames[YOKE_DATAGRAM_MAX_FRAMES];
} yoke_datagram;

// Adds a frame; false if there is no room.
bool yoke__datagram_add(yoke_datagram* datagram, yoke_frame frame);
// Bytes written; 0 if `room` is too small or there are too many frames.
size_t yoke__datagram_write(const yoke_datagram* datagram, uint8_t bytes[], size_t room);
// Reads exactly n bytes. Every frame in it belongs to the rig. Refused: *datagram is empty.
yoke_frame_reason yoke__datagram_read(const uint8_t bytes[], size_t n, yoke_datagram* datagram);

// ---- load of a classical CAN bus with 11-bit identifiers

// Bits of a frame with n data bytes (0 to 8), interframe space included: without stuffing, and stuffed at worst.
int yoke__frame_bits(int n_bytes);
int yoke__frame_bits_worst(int n_bytes);

#endif
