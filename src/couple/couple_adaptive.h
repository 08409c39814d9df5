// Coupling method `adaptive`: signals predicted over their delay by models learnt on the way (docs/couple_adaptive.md).
#ifndef YOKE_COUPLE_ADAPTIVE_H
#define YOKE_COUPLE_ADAPTIVE_H

#include "yoke/coupling.h"

extern const yoke_coupling_ops yoke__couple_adaptive;

#endif
