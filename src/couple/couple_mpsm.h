// Method `mpsm`: model-based pre-step stabilisation of a cluster of units; `mbcorr`: the model-based corrector, its rival.
#ifndef YOKE_COUPLE_MPSM_H
#define YOKE_COUPLE_MPSM_H

#include "couple/couple_mpsm_models.h"
#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_mpsm;
extern const yoke_coupling_ops yoke__couple_mbcorr;

// What the settings of either method mean, for those who look at it from outside. parameters: as in its table.
yoke_mpsm_options yoke__couple_mpsm_options(const double parameters[], bool is_corrector,
                                            bool is_provided);
// Identified models with one lag and inputs that are end values, or provided ones: a step is then one matrix.
bool yoke__couple_mpsm_is_published(const double parameters[]);
// Outputs that step 1 gets per exchange: 1, or as many as the units are called.
size_t yoke__mpsm_samples(const yoke_coupling_setup* setup);
// Models of a cluster; L is left to the caller.
yoke_mpsm_models_setup yoke__couple_mpsm_models(const yoke_coupling_setup* setup);

#endif
