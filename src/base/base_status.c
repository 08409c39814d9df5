// Texts of the status codes, from the one list in yoke/status.h, and the statuses of failed system calls.
#include "base/base_status.h"

#include <errno.h>
#include <string.h>

const char* yoke_status_text(yoke_status status) {
  switch (status) {
#define YOKE_STATUS_CASE(name, code, text)                                                         \
  case YOKE_##name:                                                                                \
    return text;
    YOKE_STATUS_LIST(YOKE_STATUS_CASE)
#undef YOKE_STATUS_CASE
  }
  return "unknown status";
}

yoke_status yoke__status_of_errno(int code) {
  switch (code) {
  case ENOMEM:
    return YOKE_NO_MEMORY;
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE:
  case EAGAIN:  // of fork and of threads: too many processes
  case EIO:     // a device that fails says nothing about the input either
    return YOKE_SHORTAGE;
  default:
    return YOKE_IO;
  }
}

const char* yoke__errno_text(int code) {
  return code == ENOMEM ? yoke_status_text(YOKE_NO_MEMORY) : strerror(code);
}
