// Surrogate engine test bench SB-1 and its two loads; equations and variables in README.md.
#ifndef YOKE_MODELS_ENGINE_RIG_H
#define YOKE_MODELS_ENGINE_RIG_H

#include "yoke/unit.h"

// "engine_rig.bench": engine, shaft, dynamometer, speed controller, sensors; speed demand in, measured
// torque and speed out
extern const yoke_unit_ops yoke__model_engine_rig_bench;
// "engine_rig.inertia": a flywheel; torque in, speed out
extern const yoke_unit_ops yoke__model_engine_rig_inertia;
// "engine_rig.vehicle": clutch, two gears, drive shaft and body of a car; torque in, speed out
extern const yoke_unit_ops yoke__model_engine_rig_vehicle;

#endif
