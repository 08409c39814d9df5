// Small general-purpose units; equations and variables in README.md.
#ifndef YOKE_MODELS_BLOCKS_H
#define YOKE_MODELS_BLOCKS_H

#include "yoke/unit.h"

// sources: no inputs
extern const yoke_unit_ops yoke__model_constant;   // "constant": y = value
extern const yoke_unit_ops yoke__model_sine;       // "sine"
extern const yoke_unit_ops yoke__model_step;       // "step"
extern const yoke_unit_ops yoke__model_ramp;       // "ramp"
extern const yoke_unit_ops yoke__model_manoeuvre;  // "manoeuvre": sine, chirp, sweep, pulse, ...

// arithmetic
extern const yoke_unit_ops yoke__model_gain;        // "gain": y = k u
extern const yoke_unit_ops yoke__model_sum;         // "sum": y = sum of s_i u_i
extern const yoke_unit_ops yoke__model_integrator;  // "integrator": y' = k u
extern const yoke_unit_ops yoke__model_delay1;      // "delay1": y = u one step ago

// protection
extern const yoke_unit_ops yoke__model_rate_limit;  // "rate_limit": y = u with a limited slope
extern const yoke_unit_ops yoke__model_derate;      // "derate": a limit that falls with T
extern const yoke_unit_ops yoke__model_clamp;       // "clamp": u within -limit and limit

// types other than real
extern const yoke_unit_ops yoke__model_counter;  // "counter": integer and boolean outputs
extern const yoke_unit_ops yoke__model_switch;   // "switch": boolean input
extern const yoke_unit_ops yoke__model_label;    // "label": string output
extern const yoke_unit_ops yoke__model_select;  // "select": real array input, enumeration parameter

#endif
