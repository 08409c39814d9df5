// Method `interpolate`: a continuous ramp towards the predicted next sample that keeps the integral of the signal.
#ifndef YOKE_COUPLE_INTERPOLATE_H
#define YOKE_COUPLE_INTERPOLATE_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_interpolate;

#endif
