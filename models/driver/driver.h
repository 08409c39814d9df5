// A driver: the throttle from a recording, a script, a controller that follows a speed, or from outside; README.md.
#ifndef YOKE_MODELS_DRIVER_H
#define YOKE_MODELS_DRIVER_H

#include "yoke/unit.h"

// "driver"
extern const yoke_unit_ops yoke__model_driver;

#endif
