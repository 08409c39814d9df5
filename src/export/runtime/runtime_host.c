// What a circuit would need to run in a process of its own, which inside an FMU it never does:
// these stand in for src/unit/host.
#include "unit/host/unit_host.h"

yoke_status yoke__host_create(const yoke_host_plan* plan, const yoke_unit_args* args, void** self,
                              const yoke_sink* sink) {
  (void)plan;
  (void)args;
  *self = NULL;
  return yoke_fail(sink, YOKE_NO_SUPPORT, "no processes inside an FMU");
}

void yoke__host_fill_ops(const yoke_unit_ops* inner, yoke_unit_ops* out) {
  *out = *inner;
}
