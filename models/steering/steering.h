// Electric power steering and chassis (SE-1), whole and cut in five ways; equations and variables in README.md.
#ifndef YOKE_MODELS_STEERING_H
#define YOKE_MODELS_STEERING_H

#include "yoke/unit.h"

// Everything in one unit: the reference of the cuts.
extern const yoke_unit_ops yoke__model_steering_whole;

// Cut at the tie rod, its force on the rack: epas receives the force, chassis the rack speed.
extern const yoke_unit_ops yoke__model_steering_epas;
extern const yoke_unit_ops yoke__model_steering_chassis;

// The same cut, force on the wheels: epas_rod receives the speed of the wheel end, wheels the force.
extern const yoke_unit_ops yoke__model_steering_epas_rod;
extern const yoke_unit_ops yoke__model_steering_wheels;

// Cut at the belt, torque on the motor: rack_belt receives the motor speed, motor the torque.
extern const yoke_unit_ops yoke__model_steering_rack_belt;
extern const yoke_unit_ops yoke__model_steering_motor;

// The same cut, torque on the rack: rack receives the torque, motor_belt the rack speed.
extern const yoke_unit_ops yoke__model_steering_rack;
extern const yoke_unit_ops yoke__model_steering_motor_belt;

// Cut at the controller: mechanics receives the torque request; the controller is a law.
extern const yoke_unit_ops yoke__model_steering_mechanics;
extern const yoke_unit_ops yoke__model_steering_controller;

#endif
