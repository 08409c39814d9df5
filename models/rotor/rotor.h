// The rotational two-inertia oscillator cut into units; equations and variables in README.md.
#ifndef YOKE_MODELS_ROTOR_H
#define YOKE_MODELS_ROTOR_H

#include "yoke/unit.h"

// "rotor.shaft": an inertia with the coupling shaft; receives the other side's speed, returns the
// torque.
extern const yoke_unit_ops yoke__model_rotor_shaft;
// "rotor.load": an inertia that receives the torque and returns its speed.
extern const yoke_unit_ops yoke__model_rotor_load;

#endif
