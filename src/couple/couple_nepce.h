// Method `nepce`: nearly energy-preserving coupling element.
#ifndef YOKE_COUPLE_NEPCE_H
#define YOKE_COUPLE_NEPCE_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_nepce;

#endif
