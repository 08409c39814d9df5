// A radio-controlled car in the plane, driven through a wheel motor (e-Car); README.md.
#ifndef YOKE_MODELS_CAR_H
#define YOKE_MODELS_CAR_H

#include "yoke/unit.h"

// "car.planar": torque of the front wheel in, wheel speed out; in three coordinates or in five with constraints
extern const yoke_unit_ops yoke__model_car_planar;

#endif
