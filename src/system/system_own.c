// `thread: own`: which units can work beside the others in a run by the clock. Without one it changes nothing.
#include "system/system.h"

// Why a unit must step with the others; NULL: it need not.
static const char* find_reason(const yoke_system* system, const yoke_system_unit* unit) {
  const yoke_scenario* scenario = system->scenario;
  return scenario->scheme != YOKE_JACOBI
             ? "needs 'scheme: jacobi': in the others units wait for each other"
         : system->is_adaptive ? "needs a fixed 'time.step', not {min, max}"
         : (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0
             ? "is not for a real machine: it must be met at its time"
         : unit->unit.ops->sample_info != NULL
             ? "is not for a unit that is asked about its samples in the exchange"
         : !unit->is_own ? "does not go with 'exchange: fresh': it is evaluated in the exchange"
         : unit->has_through_sends && unit->n_slots > 1
             ? "does not go with a step longer than an exchange and a coupling method that is told "
               "how its outputs follow its inputs: 'feedthrough: none' leaves that out"
             : NULL;
}

const yoke_system_unit* yoke__system_find_not_own(const yoke_system* system, const char** why) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    *why = unit->source->has_own_thread ? find_reason(system, unit) : NULL;
    if (*why != NULL) {
      return unit;
    }
  }
  return NULL;
}
