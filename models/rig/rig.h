// The virtual test rig: two motors back to back, drives, load cells, DC link, link and faults; README.md.
#ifndef YOKE_MODELS_RIG_H
#define YOKE_MODELS_RIG_H

#include "yoke/unit.h"

// "rig.bench": the rig in process; speed demand and throttle in, measured torque and speed out
extern const yoke_unit_ops yoke__model_rig_bench;
// "rig.inertia": what the rig imitates at its simplest; torque in, speed out
extern const yoke_unit_ops yoke__model_rig_inertia;

#endif
