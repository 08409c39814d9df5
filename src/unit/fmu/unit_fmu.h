// FMUs as units: FMI 2.0 and 3.0, co-simulation and model exchange. See docs/fmu.md.
#ifndef YOKE_UNIT_FMU_H
#define YOKE_UNIT_FMU_H

#include "fmi/fmi_package.h"
#include "unit/unit_file.h"

// A unit's view of a package, which must outlive it. Errors and warnings go to messages.
yoke_status yoke__fmu_file_open(yoke_fmi_package* package, const yoke_unit_file_settings* settings,
                                yoke_messages* messages, yoke_unit_file** out);

#endif
