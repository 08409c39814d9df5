// Coupling method `hinf`: a designed element on the way of each signal (docs/couple_hinf.md).
#ifndef YOKE_COUPLE_HINF_H
#define YOKE_COUPLE_HINF_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_hinf;

#endif
