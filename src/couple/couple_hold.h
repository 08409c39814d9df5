// Method `hold`: polynomial extrapolation of order 0 to 3 from the last samples, per signal.
#ifndef YOKE_COUPLE_HOLD_H
#define YOKE_COUPLE_HOLD_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_hold;

#endif
