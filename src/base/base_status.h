// Shortages: failures that say nothing about the input, since the same call may succeed once there is more of what ran out.
#ifndef YOKE_BASE_STATUS_H
#define YOKE_BASE_STATUS_H

#include <stdbool.h>

#include "yoke/status.h"

// The status of a failed call of the system: YOKE_NO_MEMORY, YOKE_SHORTAGE (disk, quota, descriptors, processes, a device
// that fails), else YOKE_IO. This is the one place where errno decides what a shortage is.
yoke_status yoke__status_of_errno(int code);
// The words for it: "out of memory", else those of the system.
const char* yoke__errno_text(int code);

static inline bool yoke__status_is_shortage(yoke_status status) {
  return status == YOKE_NO_MEMORY || status == YOKE_SHORTAGE;
}

// Not the input's fault: a shortage, or a file that cannot be read or written.
static inline bool yoke__status_is_outside(yoke_status status) {
  return status == YOKE_IO || yoke__status_is_shortage(status);
}

#endif
