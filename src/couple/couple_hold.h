// Method `hold`: polynomial extrapolation of order 0 to 3 from the last samples, per signal.
#ifndef YOKE_COUPLE_HOLD_H
#define YOKE_COUPLE_HOLD_H

#include "couple/couple_polynomial.h"
#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_hold;

// The signals in the memory of an instance, for a master that does observe and input_mean itself where nothing else happens.
yoke_polynomial* yoke__couple_hold_signals(void* self);

#endif
