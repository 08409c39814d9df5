// Method `energy`: polynomial extrapolation plus an action that takes out the energy which the coupling made.
#ifndef YOKE_COUPLE_ENERGY_H
#define YOKE_COUPLE_ENERGY_H

#include "energy/energy_monitor.h"
#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_energy;

// The monitor of a prepared group whose method is this one, if it watches with the wanted settings; else NULL.
yoke_monitor* yoke__couple_energy_monitor(const yoke_coupling_ops* ops, void* self,
                                          const yoke_monitor_settings* wanted);

#endif
