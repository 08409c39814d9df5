// The table of native models: one line in models.c per model.
#ifndef YOKE_MODELS_H
#define YOKE_MODELS_H

#include "yoke/unit.h"

extern const yoke_unit_ops* const yoke__builtin_models[];
extern const size_t yoke__n_builtin_models;

#endif
