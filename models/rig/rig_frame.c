// Frames and datagrams of the test rig; layout in rig_frame.h.
//
// Length on the bus [bit]: 47 + 8 n without stuffing (1 start, 11 + 1 + 6 head, 8 n data, 16 check sum with delimiter,
// 2 acknowledge, 7 end, 3 space), and at most floor((33 + 8 n) / 4) stuff bits: one after five equal bits, of which the
// stuff bit may be the first of the next five. Source: ISO 11898-1, classical frames.
#include "models/rig/rig_frame.h"

#include <math.h>
#include <string.h>

const char* yoke__frame_reason_text(yoke_frame_reason reason) {
  static const char* const texts[YOKE_FRAME_N_REASONS] = {
      [YOKE_FRAME_OK] = "no fault",
      [YOKE_FRAME_SHORT] = "fewer bytes than its head or its count of frames asks for",
      [YOKE_FRAME_LONG] = "bytes behind its last frame",
      [YOKE_FRAME_MAGIC] = "does not begin with the mark of a rig datagram",
      [YOKE_FRAME_VERSION] = "of another version",
      [YOKE_FRAME_COUNT] = "more frames than a datagram may carry",
      [YOKE_FRAME_ID] = "a frame with an identifier that the rig does not have",
      [YOKE_FRAME_SIZE] = "a frame with the wrong number of data bytes",
      [YOKE_FRAME_PAD] = "padding that is not 0",
  };
  return (unsigned)reason < YOKE_FRAME_N_REASONS ? texts[reason] : "";
}

// ---- numbers as bytes

static void put(uint8_t at[], uint64_t value, int n) {
  for (int i = 0; i < n; i++) {
    at[i] = (uint8_t)(value >> (8 * i));
  }
}

static uint64_t get(const uint8_t at[], int n) {
  uint64_t value = 0;
  for (int i = 0; i < n; i++) {
    value |= (uint64_t)at[i] << (8 * i);
  }
  return value;
}

// two's complement without a cast that the compiler may define
static int32_t get_signed(const uint8_t at[], int n) {
  const uint64_t value = get(at, n), sign = UINT64_C(1) << (8 * n - 1);
  return (int32_t)((int64_t)(value ^ sign) - (int64_t)sign);
}

static double rounded(double value, double unit, double low, double high) {
  const double steps = nearbyint(value / unit);
  return isnan(steps) ? 0.0 : fmin(fmax(steps, low), high);
}

int16_t yoke__frame_scale16(double value, double unit) {
  return (int16_t)rounded(value, unit, INT16_MIN, INT16_MAX);
}

int32_t yoke__frame_scale32(double value, double unit) {
  return (int32_t)rounded(value, unit, INT32_MIN, INT32_MAX);
}

// ---- frames

static yoke_frame make(uint32_t kind, int node, uint8_t size) {
  return (yoke_frame){.id = kind + (uint32_t)node, .size = size};
}

yoke_frame yoke__frame_sync(void) {
  return make(YOKE_FRAME_SYNC, 0, 0);
}

// command and status have the same shape
static yoke_frame make_words(uint32_t kind, int node, uint16_t word, int16_t torque, int32_t last) {
  yoke_frame frame = make(kind, node, 8);
  put(frame.data, word, 2);
  put(frame.data + 2, (uint16_t)torque, 2);
  put(frame.data + 4, (uint32_t)last, 4);
  return frame;
}

yoke_frame yoke__frame_command(int node, yoke_frame_command content) {
  return make_words(YOKE_FRAME_COMMAND, node, content.word, content.torque, content.target);
}

yoke_frame yoke__frame_status(int node, yoke_frame_status content) {
  return make_words(YOKE_FRAME_STATUS, node, content.word, content.torque, content.speed);
}

yoke_frame yoke__frame_slow(int node, yoke_frame_slow content) {
  yoke_frame frame = make(YOKE_FRAME_SLOW, node, 8);
  put(frame.data, (uint32_t)content.position, 4);
  put(frame.data + 4, (uint32_t)content.current, 4);
  return frame;
}

yoke_frame yoke__frame_fault(int node, yoke_frame_fault content) {
  yoke_frame frame = make(YOKE_FRAME_FAULT, node, 3);
  put(frame.data, content.code, 2);
  frame.data[2] = content.error_register;
  return frame;
}

yoke_frame yoke__frame_analog(int node, uint16_t counts) {
  yoke_frame frame = make(YOKE_FRAME_ANALOG, node, 2);
  put(frame.data, counts, 2);
  return frame;
}

yoke_frame_reason yoke__frame_judge(const yoke_frame* frame, uint32_t* kind, int* node) {
  static const struct {
    uint32_t kind;
    uint8_t size;
  } kinds[] = {{YOKE_FRAME_FAULT, 3},
               {YOKE_FRAME_STATUS, 8},
               {YOKE_FRAME_COMMAND, 8},
               {YOKE_FRAME_SLOW, 8},
               {YOKE_FRAME_ANALOG, 2}};
  *kind = 0;
  *node = 0;
  if (frame->id == YOKE_FRAME_SYNC) {
    *kind = YOKE_FRAME_SYNC;
    return frame->size == 0 ? YOKE_FRAME_OK : YOKE_FRAME_SIZE;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (frame->id > kinds[i].kind && frame->id <= kinds[i].kind + YOKE_FRAME_N_NODES) {
      *kind = kinds[i].kind;
      *node = (int)(frame->id - kinds[i].kind);
      return frame->size == kinds[i].size ? YOKE_FRAME_OK : YOKE_FRAME_SIZE;
    }
  }
  return YOKE_FRAME_ID;
}

yoke_frame_command yoke__frame_read_command(const yoke_frame* frame) {
  return (yoke_frame_command){.word = (uint16_t)get(frame->data, 2),
                              .torque = (int16_t)get_signed(frame->data + 2, 2),
                              .target = get_signed(frame->data + 4, 4)};
}

yoke_frame_status yoke__frame_read_status(const yoke_frame* frame) {
  return (yoke_frame_status){.word = (uint16_t)get(frame->data, 2),
                             .torque = (int16_t)get_signed(frame->data + 2, 2),
                             .speed = get_signed(frame->data + 4, 4)};
}

yoke_frame_slow yoke__frame_read_slow(const yoke_frame* frame) {
  return (yoke_frame_slow){.position = get_signed(frame->data, 4),
                           .current = get_signed(frame->data + 4, 4)};
}

yoke_frame_fault yoke__frame_read_fault(const yoke_frame* frame) {
  return (yoke_frame_fault){.code = (uint16_t)get(frame->data, 2),
                            .error_register = frame->data[2]};
}

uint16_t yoke__frame_read_analog(const yoke_frame* frame) {
  return (uint16_t)get(frame->data, 2);
}

// ---- datagrams

bool yoke__datagram_add(yoke_datagram* datagram, yoke_frame frame) {
  if (datagram->n_frames >= YOKE_DATAGRAM_MAX_FRAMES) {
    return false;
  }
  datagram->frames[datagram->n_frames++] = frame;
  return true;
}

size_t yoke__datagram_write(const yoke_datagram* datagram, uint8_t bytes[], size_t room) {
  if (datagram->n_frames > YOKE_DATAGRAM_MAX_FRAMES) {
    return 0;
  }
  const size_t size =
      YOKE_DATAGRAM_HEAD_SIZE + datagram->n_frames * (size_t)YOKE_DATAGRAM_FRAME_SIZE;
  if (room < size) {
    return 0;
  }
  memset(bytes, 0, size);
  put(bytes, YOKE_DATAGRAM_MAGIC, 4);
  put(bytes + 4, YOKE_DATAGRAM_VERSION, 2);
  put(bytes + 6, datagram->n_frames, 2);
  put(bytes + 8, datagram->sequence, 4);
  put(bytes + 12, datagram->time_ns, 8);
  for (size_t i = 0; i < datagram->n_frames; i++) {
    const yoke_frame* frame = &datagram->frames[i];
    uint8_t* at = bytes + YOKE_DATAGRAM_HEAD_SIZE + i * YOKE_DATAGRAM_FRAME_SIZE;
    put(at, frame->id, 4);
    at[4] = frame->size;
    memcpy(at + 8, frame->data, YOKE_FRAME_DATA_SIZE);
  }
  return size;
}

static yoke_frame_reason read_head(const uint8_t bytes[], size_t n, size_t* n_frames) {
  if (n < YOKE_DATAGRAM_HEAD_SIZE) {
    return YOKE_FRAME_SHORT;
  }
  if (get(bytes, 4) != YOKE_DATAGRAM_MAGIC) {
    return YOKE_FRAME_MAGIC;
  }
  if (get(bytes + 4, 2) != YOKE_DATAGRAM_VERSION) {
    return YOKE_FRAME_VERSION;
  }
  *n_frames = (size_t)get(bytes + 6, 2);
  if (*n_frames > YOKE_DATAGRAM_MAX_FRAMES) {
    return YOKE_FRAME_COUNT;
  }
  const size_t size = YOKE_DATAGRAM_HEAD_SIZE + *n_frames * (size_t)YOKE_DATAGRAM_FRAME_SIZE;
  return n < size ? YOKE_FRAME_SHORT : n > size ? YOKE_FRAME_LONG : YOKE_FRAME_OK;
}

// Bytes behind the data and the padding are 0, so that a datagram has one way to be written.
static yoke_frame_reason read_frame(const uint8_t at[], yoke_frame* frame) {
  uint32_t kind = 0;
  int node = 0;
  frame->id = (uint32_t)get(at, 4);
  frame->size = at[4];
  memcpy(frame->data, at + 8, YOKE_FRAME_DATA_SIZE);
  const yoke_frame_reason reason = yoke__frame_judge(frame, &kind, &node);
  if (reason != YOKE_FRAME_OK) {
    return reason;
  }
  bool is_clean = at[5] == 0 && at[6] == 0 && at[7] == 0;
  for (size_t i = frame->size; i < YOKE_FRAME_DATA_SIZE; i++) {
    is_clean = is_clean && frame->data[i] == 0;
  }
  return is_clean ? YOKE_FRAME_OK : YOKE_FRAME_PAD;
}

yoke_frame_reason yoke__datagram_read(const uint8_t bytes[], size_t n, yoke_datagram* datagram) {
  size_t n_frames = 0;
  *datagram = (yoke_datagram){0};
  yoke_frame_reason reason = read_head(bytes, n, &n_frames);
  for (size_t i = 0; i < n_frames && reason == YOKE_FRAME_OK; i++) {
    reason = read_frame(bytes + YOKE_DATAGRAM_HEAD_SIZE + i * YOKE_DATAGRAM_FRAME_SIZE,
                        &datagram->frames[i]);
  }
  if (reason != YOKE_FRAME_OK) {
    *datagram = (yoke_datagram){0};
    return reason;
  }
  datagram->sequence = (uint32_t)get(bytes + 8, 4);
  datagram->time_ns = get(bytes + 12, 8);
  datagram->n_frames = n_frames;
  return YOKE_FRAME_OK;
}

// ---- bus load

int yoke__frame_bits(int n_bytes) {
  return 47 + 8 * n_bytes;
}

int yoke__frame_bits_worst(int n_bytes) {
  return yoke__frame_bits(n_bytes) + (33 + 8 * n_bytes) / 4;
}
