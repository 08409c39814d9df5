// Method `mpsm`: model-based pre-step stabilisation of a cluster of units; `mbcorr`: the model-based corrector, its rival.
#ifndef YOKE_COUPLE_MPSM_H
#define YOKE_COUPLE_MPSM_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_mpsm;
extern const yoke_coupling_ops yoke__couple_mbcorr;

#endif
