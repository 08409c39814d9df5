// Any bytes through the reader of rig datagrams: no crash, no read beyond the input, and what it accepts is written back
// as the same bytes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/rig/rig_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  yoke_datagram datagram;
  const yoke_frame_reason reason = yoke__datagram_read(bytes, n, &datagram);
  if (reason != YOKE_FRAME_OK) {
    if (datagram.n_frames != 0 || yoke__frame_reason_text(reason)[0] == '\0') {
      abort();
    }
    return 0;
  }
  uint8_t again[YOKE_DATAGRAM_MAX_SIZE];
  const size_t size = yoke__datagram_write(&datagram, again, sizeof again);
  if (size != n || memcmp(again, bytes, n) != 0) {
    abort();
  }

  // contents survive a second way through their own types
  for (size_t i = 0; i < datagram.n_frames; i++) {
    const yoke_frame* frame = &datagram.frames[i];
    uint32_t kind = 0;
    int node = 0;
    if (yoke__frame_judge(frame, &kind, &node) != YOKE_FRAME_OK) {
      abort();
    }
    const yoke_frame copy =
        node == 0                    ? yoke__frame_sync()
        : kind == YOKE_FRAME_COMMAND ? yoke__frame_command(node, yoke__frame_read_command(frame))
        : kind == YOKE_FRAME_STATUS  ? yoke__frame_status(node, yoke__frame_read_status(frame))
        : kind == YOKE_FRAME_SLOW    ? yoke__frame_slow(node, yoke__frame_read_slow(frame))
        : kind == YOKE_FRAME_FAULT   ? yoke__frame_fault(node, yoke__frame_read_fault(frame))
                                     : yoke__frame_analog(node, yoke__frame_read_analog(frame));
    if (copy.id != frame->id || copy.size != frame->size ||
        memcmp(copy.data, frame->data, sizeof copy.data) != 0) {
      abort();
    }
  }
  return 0;
}
