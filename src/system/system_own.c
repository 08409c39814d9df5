// `thread: own`: which units can work beside the others in a run by the clock. Without one it changes nothing.
#include "system/system.h"

// Why a unit must step with the others; NULL: it need not.
static const char* find_reason(const yoke_system* system, const yoke_system_unit* unit) {
  const yoke_scenario* scenario = system->scenario;
  return scenario->scheme != YOKE_JACOBI
             ? "needs 'scheme: jacobi': in other schemes units wait for each other"
         : system->is_adaptive ? "needs a fixed 'time.step', not {min, max}"
         : (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0
             ? "is not possible for a real machine, which must be called on time"
         : unit->unit.ops->sample_info != NULL
             ? "is not possible for a unit whose samples are read during the exchange"
         : !unit->is_own ? "is not possible with 'exchange: fresh', which evaluates the unit "
                           "during the exchange"
         : unit->has_through_sends && unit->n_slots > 1
             ? "is not possible with a step longer than an exchange and a method that uses the "
               "unit's feedthrough: write 'feedthrough: none'"
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
