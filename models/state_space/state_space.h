// Linear state-space unit; equations and settings in README.md.
#ifndef YOKE_MODELS_STATE_SPACE_H
#define YOKE_MODELS_STATE_SPACE_H

#include "yoke/unit.h"

// "state_space"
extern const yoke_unit_ops yoke__model_state_space;

#endif
