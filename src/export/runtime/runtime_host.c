// What a circuit would need to run in a process of its own, which inside an FMU it never does:
// these stand in for src/unit/host.
#include <stdio.h>

#include "unit/host/unit_host.h"

yoke_status yoke__host_create(const yoke_host_plan* plan, const yoke_unit_args* args, void** self,
                              char* err, size_t err_size) {
  (void)plan;
  (void)args;
  *self = NULL;
  snprintf(err, err_size, "no processes inside an FMU");
  return YOKE_NO_SUPPORT;
}

void yoke__host_fill_ops(const yoke_unit_ops* inner, yoke_unit_ops* out) {
  *out = *inner;
}
