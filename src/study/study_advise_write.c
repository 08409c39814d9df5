#include "study/study_advise_write.h"
yoke_status yoke__advise_write(const char* path, const char* const sets[], size_t n, const char* to,
                               const yoke_sink* sink) {
  (void)path;
  (void)sets;
  (void)n;
  (void)to;
  (void)sink;
  return YOKE_NO_SUPPORT;
}
