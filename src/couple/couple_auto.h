// What serves a signal that names no method: extrapolation of the order that has lately predicted it best.
#ifndef YOKE_COUPLE_AUTO_H
#define YOKE_COUPLE_AUTO_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_auto;

#endif
