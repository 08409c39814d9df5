// What the system file says of a twin, for the unit.
#ifndef YOKE_SYSTEM_TWIN_H
#define YOKE_SYSTEM_TWIN_H

#include "system/system.h"
#include "unit/twin/unit_twin.h"

// In the system's arena. NULL: no memory.
const yoke_twin_settings* yoke__system_twin_settings(yoke_system* system,
                                                     const yoke_scenario_unit* unit);

#endif
