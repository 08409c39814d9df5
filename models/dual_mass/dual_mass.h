// Dual mass oscillator cut at its coupling spring; equations and variables in README.md.
#ifndef YOKE_MODELS_DUAL_MASS_H
#define YOKE_MODELS_DUAL_MASS_H

#include "yoke/unit.h"

// "dual_mass.left": mass on a wall spring; receives the coupling force, returns motion. Pulses from
// outside may act on it.
extern const yoke_unit_ops yoke__model_dual_mass_left;
// "dual_mass.right": mass on a wall spring with the coupling element; receives motion, returns force.
extern const yoke_unit_ops yoke__model_dual_mass_right;

#endif
