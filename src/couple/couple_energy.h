// Method `energy`: polynomial extrapolation plus an action that takes out the energy which the coupling made.
#ifndef YOKE_COUPLE_ENERGY_H
#define YOKE_COUPLE_ENERGY_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_energy;

#endif
