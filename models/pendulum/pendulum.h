// Two pendula joined at their tips, cut into units; equations and variables in README.md.
#ifndef YOKE_MODELS_PENDULUM_H
#define YOKE_MODELS_PENDULUM_H

#include "yoke/unit.h"

// "pendulum.force": a pendulum with the spring; receives the partner's tip, returns the force.
extern const yoke_unit_ops yoke__model_pendulum_force;
// "pendulum.mass": a pendulum that receives the force at its tip.
extern const yoke_unit_ops yoke__model_pendulum_mass;

#endif
