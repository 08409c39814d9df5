// Every native model, one line each.
#include "models/models.h"

#include "models/blocks/blocks.h"
#include "models/car/car.h"
#include "models/channel/channel.h"
#include "models/crane/crane.h"
#include "models/driver/driver.h"
#include "models/dual_mass/dual_mass.h"
#include "models/engine_rig/engine_rig.h"
#include "models/helicopter/helicopter.h"
#include "models/oscillator/oscillator.h"
#include "models/pendulum/pendulum.h"
#include "models/playback/playback.h"
#include "models/rig/rig.h"
#include "models/rotor/rotor.h"
#include "models/spring/spring.h"
#include "models/state_space/state_space.h"
#include "models/steering/steering.h"

const yoke_unit_ops* const yoke__builtin_models[] = {
    &yoke__model_oscillator_force,
    &yoke__model_oscillator_mass,
    &yoke__model_oscillator_displacement,
    &yoke__model_pendulum_force,
    &yoke__model_pendulum_mass,
    &yoke__model_crane_arm,
    &yoke__model_crane_arm_pressure,
    &yoke__model_crane_hydraulics,
    &yoke__model_crane_hydraulics_pressure,
    &yoke__model_rotor_shaft,
    &yoke__model_rotor_load,
    &yoke__model_engine_rig_bench,
    &yoke__model_engine_rig_inertia,
    &yoke__model_engine_rig_vehicle,
    &yoke__model_rig_bench,
    &yoke__model_rig_inertia,
    &yoke__model_car_planar,
    &yoke__model_driver,
    &yoke__model_dual_mass_left,
    &yoke__model_dual_mass_right,
    &yoke__model_helicopter_airframe,
    &yoke__model_helicopter_controller,
    &yoke__model_helicopter_pilot,
    &yoke__model_spring_damper,
    &yoke__model_spring_damper_nonlinear,
    &yoke__model_state_space,
    &yoke__model_steering_whole,
    &yoke__model_steering_epas,
    &yoke__model_steering_chassis,
    &yoke__model_steering_epas_rod,
    &yoke__model_steering_wheels,
    &yoke__model_steering_rack_belt,
    &yoke__model_steering_motor,
    &yoke__model_steering_rack,
    &yoke__model_steering_motor_belt,
    &yoke__model_steering_mechanics,
    &yoke__model_steering_controller,
    &yoke__model_playback,
    &yoke__model_channel,
    &yoke__model_constant,
    &yoke__model_sine,
    &yoke__model_step,
    &yoke__model_ramp,
    &yoke__model_manoeuvre,
    &yoke__model_gain,
    &yoke__model_sum,
    &yoke__model_integrator,
    &yoke__model_delay1,
    &yoke__model_rate_limit,
    &yoke__model_derate,
    &yoke__model_clamp,
    &yoke__model_switch,
    &yoke__model_select,
    &yoke__model_counter,
    &yoke__model_label,
};

const size_t yoke__n_builtin_models = sizeof yoke__builtin_models / sizeof yoke__builtin_models[0];
