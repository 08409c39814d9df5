// What a system file may give the rig besides numbers: a pedal, a list of faults, a script of faults.
#ifndef YOKE_MODELS_RIG_ARGUMENTS_H
#define YOKE_MODELS_RIG_ARGUMENTS_H

#include "models/rig/rig_core.h"
#include "yoke/unit.h"

// `pedal`, `faults` and `script` of a unit. YOKE_BAD_INPUT with entry, or file and line.
yoke_status yoke__rig_read_arguments(const yoke_unit_args* args, yoke_rig_pedal* pedal,
                                     yoke_rig_faults* faults, const yoke_sink* sink);

#endif
