// Any bytes as a datagram of a port: no crash, no read beyond them, and what is accepted is written back as the same bytes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/port/port_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  static uint8_t again[YOKE_PORT_MAX_SIZE];
  yoke_port_frame frame;
  if (yoke__port_read(bytes, n, &frame) != YOKE_PORT_OK) {
    if (frame.values != NULL || frame.size != 0) {
      abort();
    }
    return 0;
  }
  if (yoke__port_write(&frame, again, sizeof again) != n || memcmp(again, bytes, n) != 0) {
    abort();
  }
  return 0;
}
