// The two-mass oscillator cut into units; equations and variables in README.md.
#ifndef YOKE_MODELS_OSCILLATOR_H
#define YOKE_MODELS_OSCILLATOR_H

#include "yoke/unit.h"

// "oscillator.force": a mass with the coupling element; receives the partner's motion, returns the
// force.
extern const yoke_unit_ops yoke__model_oscillator_force;
// "oscillator.mass": a mass that receives the force.
extern const yoke_unit_ops yoke__model_oscillator_mass;
// "oscillator.displacement": a mass that receives the partner's motion and returns its own.
extern const yoke_unit_ops yoke__model_oscillator_displacement;

#endif
