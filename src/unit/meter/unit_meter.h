// The total energy residual of a bond as a unit of the system: `model: meter`.
#ifndef YOKE_UNIT_METER_H
#define YOKE_UNIT_METER_H

#include "yoke/unit.h"

extern const yoke_unit_ops yoke__unit_meter;

#endif
