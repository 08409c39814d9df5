// Helicopter, its controller and its pilot; equations and variables in README.md.
#ifndef YOKE_MODELS_HELICOPTER_H
#define YOKE_MODELS_HELICOPTER_H

#include "yoke/unit.h"

// "helicopter.airframe": 8 states; controls in, motion out.
extern const yoke_unit_ops yoke__model_helicopter_airframe;
// "helicopter.controller": 20 states; deviations in, controls out.
extern const yoke_unit_ops yoke__model_helicopter_controller;
// "helicopter.pilot": commands over time.
extern const yoke_unit_ops yoke__model_helicopter_pilot;

#endif
