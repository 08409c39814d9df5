// The unit types a system may name: built-in models and those a program adds.
#ifndef YOKE_UNIT_MODELS_H
#define YOKE_UNIT_MODELS_H

#include <stddef.h>

#include "yoke/unit.h"

// Those that a program added. Zeroed is none; `ops` is freed by whoever owns it.
typedef struct yoke_models {
  const yoke_unit_ops** ops;
  size_t n;
} yoke_models;

// YOKE_BAD_ARG after a message: not usable, or the name is taken.
yoke_status yoke__models_add(yoke_models* models, const yoke_unit_ops* ops, const yoke_sink* sink);

// models NULL: the built-in ones. NULL if there is no such name.
const yoke_unit_ops* yoke__models_find(const yoke_models* models, const char* name);
size_t yoke__models_count(const yoke_models* models);
const yoke_unit_ops* yoke__models_at(const yoke_models* models, size_t i);
// The nearest known name, or NULL.
const char* yoke__models_nearest(const yoke_models* models, const char* name);

#endif
