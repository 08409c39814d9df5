// Spring-damper elements between two points; equations and variables in README.md.
#ifndef YOKE_MODELS_SPRING_H
#define YOKE_MODELS_SPRING_H

#include "yoke/unit.h"

// "spring_damper": f = k (x1 - x2) + c (v1 - v2)
extern const yoke_unit_ops yoke__model_spring_damper;
// "spring_damper.nonlinear": square-root spring, quadratic damper, or one of them linear
extern const yoke_unit_ops yoke__model_spring_damper_nonlinear;

#endif
