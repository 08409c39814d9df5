// Method `mpsm`: model-based pre-step stabilisation of a cluster of units.
#ifndef YOKE_COUPLE_MPSM_H
#define YOKE_COUPLE_MPSM_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_mpsm;

#endif
