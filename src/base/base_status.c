// Texts of the status codes, from the one list in yoke/status.h.
#include "yoke/status.h"

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
