// The hydraulic crane cut into mechanics and hydraulics; equations and variables in README.md.
#ifndef YOKE_MODELS_CRANE_H
#define YOKE_MODELS_CRANE_H

#include "yoke/unit.h"

// "crane.arm": two-link arm; receives the force of the cylinder, returns its length and speed.
extern const yoke_unit_ops yoke__model_crane_arm;
// "crane.arm.pressure": the same arm; receives the two pressures and evaluates the force itself.
extern const yoke_unit_ops yoke__model_crane_arm_pressure;
// "crane.hydraulics": cylinder and valve; receives length and speed, returns force and pressures.
extern const yoke_unit_ops yoke__model_crane_hydraulics;
// "crane.hydraulics.pressure": the same; returns only the pressures.
extern const yoke_unit_ops yoke__model_crane_hydraulics_pressure;

#endif
