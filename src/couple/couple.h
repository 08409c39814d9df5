// The coupling methods that a system file may name: one line in couple.c each.
#ifndef YOKE_COUPLE_H
#define YOKE_COUPLE_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops* const yoke__coupling_methods[];
extern const size_t yoke__n_coupling_methods;

// NULL if there is none of this name.
const yoke_coupling_ops* yoke__coupling_find(const char* name);

#endif
