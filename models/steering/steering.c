// Units made of the elements of steering_parts.h: what each receives, returns and can be set.
//
// Semi-implicit Euler with an internal step of its own (`inner_step`), inputs held during a call. Everything is one flat struct.
#include "models/steering/steering.h"

#include <math.h>
#include <stddef.h>

#include "models/steering/steering_parts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ROW(name_, member_, dim_, text_, causality_, flags_, start_)                               \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = (causality_), \
    .flags = (flags_), .start = (start_), .offset = offsetof(yoke_steering, member_)               \
  }
#define INPUT(member_, dim_, text_) ROW(#member_, member_, dim_, text_, YOKE_INPUT, 0, 0.0)
// may stay unconnected
#define OPEN_INPUT(member_, dim_, text_, start_)                                                   \
  ROW(#member_, member_, dim_, text_, YOKE_INPUT, YOKE_VARIABLE_HAS_START, start_)
#define OUTPUT(member_, dim_, text_) ROW(#member_, member_, dim_, text_, YOKE_OUTPUT, 0, 0.0)
// a state that is also an output: it has a start value
#define STATE_OUTPUT(member_, dim_, text_)                                                         \
  ROW(#member_, member_, dim_, text_, YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 0.0)
#define STATE(member_, dim_, text_) ROW(#member_, member_, dim_, text_, YOKE_STATE, 0, 0.0)
#define SETTING(member_, dim_, text_, start_)                                                      \
  ROW(#member_, member_, dim_, text_, YOKE_PARAMETER, 0, start_)

// ---- variables of each element

#define RACK_OUTPUTS                                                                               \
  STATE_OUTPUT(angle, "rad", "steering wheel"), STATE_OUTPUT(w_column, "rad/s", "its speed"),      \
      STATE_OUTPUT(x_rack, "m", "rack position"), STATE_OUTPUT(v_rack, "m/s", "rack speed"),       \
      OUTPUT(T_bar, "N.m", "torque of the torsion bar on the pinion")

#define MOTOR_OUTPUTS                                                                              \
  STATE_OUTPUT(w_motor, "rad/s", "speed of the motor"), STATE_OUTPUT(T_motor, "N.m", "its torque")

#define CHASSIS_OUTPUTS                                                                            \
  STATE_OUTPUT(yaw_rate, "rad/s", "yaw rate"), STATE_OUTPUT(v_y, "m/s", "lateral velocity"),       \
      STATE_OUTPUT(d_wheel, "rad", "steer angle of the wheels"),                                   \
      OUTPUT(v_rod, "m/s", "speed of the wheel end of the tie rod")

#define BRISTLES                                                                                   \
  STATE(z_column, "rad", "bristles of the column friction"),                                       \
      STATE(z_rack, "m", "bristles of the rack friction")

#define CHASSIS_STATES                                                                             \
  STATE(w_wheel, "rad/s", "speed of the steer angle"), STATE(alpha_f, "rad", "slip angle, front"), \
      STATE(alpha_r, "rad", "slip angle, rear")

#define FRICTION(name_, member_, force_, speed_, stiffness_, damping_, F_c_, F_s_, v_s_, s0_, s1_, \
                 s2_)                                                                              \
  ROW(name_ "_coulomb", member_.coulomb, force_, "F_c: friction of motion", YOKE_PARAMETER, 0,     \
      F_c_),                                                                                       \
      ROW(name_ "_stiction", member_.stiction, force_, "F_s: largest friction at rest",            \
          YOKE_PARAMETER, 0, F_s_),                                                                \
      ROW(name_ "_stribeck", member_.stribeck, speed_, "v_s: speed at which stiction fades",       \
          YOKE_PARAMETER, 0, v_s_),                                                                \
      ROW(name_ "_sigma0", member_.sigma0, stiffness_, "stiffness of the bristles",                \
          YOKE_PARAMETER, 0, s0_),                                                                 \
      ROW(name_ "_sigma1", member_.sigma1, damping_, "damping of the bristles", YOKE_PARAMETER, 0, \
          s1_),                                                                                    \
      ROW(name_ "_sigma2", member_.sigma2, damping_, "viscous friction", YOKE_PARAMETER, 0, s2_)

#define RACK_SETTINGS                                                                              \
  SETTING(J_column, "kg.m2", "inertia of steering wheel and column", 0.04),                        \
      SETTING(k_bar, "N.m/rad", "stiffness of the torsion bar", 143.0),                            \
      SETTING(c_bar, "N.m.s/rad", "damping of the torsion bar", 0.4),                              \
      SETTING(i_pinion, "m/rad", "way of the rack per angle of the pinion", 0.0088),               \
      FRICTION("column", column, "N.m", "rad/s", "N.m/rad", "N.m.s/rad", 0.25, 0.35, 0.1, 40.0,    \
               0.4, 0.02),                                                                         \
      FRICTION("rack", rack, "N", "m/s", "N/m", "N.s/m", 80.0, 110.0, 0.005, 4e5, 900.0, 150.0),   \
      SETTING(m_rack, "kg", "mass of the rack", 3.0)

#define BELT_SETTINGS                                                                              \
  SETTING(i_motor, "m/rad", "way of the rack per angle of the motor: belt and ball screw",         \
          4.126e-4),                                                                               \
      SETTING(k_belt, "N.m/rad", "stiffness of the belt", 1.7),                                    \
      SETTING(c_belt, "N.m.s/rad", "damping of the belt", 8e-4)

#define MOTOR_SETTINGS                                                                             \
  SETTING(J_motor, "kg.m2", "inertia of the motor", 1.5e-4),                                       \
      SETTING(lag, "s", "from torque request to torque", 2e-3)

#define CONTROLLER_SETTINGS                                                                        \
  SETTING(assist, "1", "motor torque per torque of the torsion bar; 0 with damping 0: off", 0.25), \
      SETTING(damping, "N.m.s/rad", "active damping of the motor", 0.004),                         \
      SETTING(T_max, "N.m", "largest request", 5.0)

#define SAMPLED_SETTINGS                                                                           \
  CONTROLLER_SETTINGS, SETTING(period, "s", "from sample to sample of the controller", 1e-3)

#define ROD_SETTINGS                                                                               \
  SETTING(k_rod, "N/m", "stiffness of the tie rod", 1.5e6),                                        \
      SETTING(c_rod, "N.s/m", "damping of the tie rod", 3000.0)

#define CHASSIS_SETTINGS                                                                           \
  SETTING(lever, "m", "of the tie rod about the steering axis", 0.14),                             \
      SETTING(J_wheel, "kg.m2", "inertia of the wheels about the steering axis", 3.0),             \
      SETTING(c_wheel, "N.m.s/rad", "damping of the wheels", 15.0),                                \
      SETTING(trail, "m", "lever of the lateral tyre force", 0.045),                               \
      SETTING(m, "kg", "mass of the vehicle", 2100.0),                                             \
      SETTING(I_z, "kg.m2", "its yaw inertia", 4100.0),                                            \
      SETTING(l_f, "m", "front axle before the centre of mass", 1.45),                             \
      SETTING(l_r, "m", "rear axle behind the centre of mass", 1.53),                              \
      SETTING(c_f, "N/rad", "cornering stiffness of the front axle", 150e3),                       \
      SETTING(c_r, "N/rad", "cornering stiffness of the rear axle", 190e3),                        \
      SETTING(relaxation, "m", "relaxation length of the tyres", 0.6)

#define INNER_STEP SETTING(inner_step, "s", "internal step; a call is cut into equal ones", 1e-4)

#define STEERING_TORQUE  INPUT(T_s, "N.m", "steering torque")
#define EXTERNAL_REQUEST OPEN_INPUT(T_ext, "N.m", "torque that others ask of the motor", 0.0)
#define ROD_FORCE        INPUT(F_rod, "N", "force of the tie rod against the rack")
#define SPEED            OPEN_INPUT(V, "m/s", "speed of the vehicle", 19.444)

// ---- what all units do

static const char* fault_of_friction(const yoke_steering_friction* f) {
  if (!(f->coulomb > 0.0 && f->stiction >= f->coulomb && isfinite(f->stiction))) {
    return "coulomb must be above 0 and not above stiction";
  }
  if (!(f->stribeck > 0.0 && f->sigma0 > 0.0 && isfinite(f->sigma0) && isfinite(f->stribeck))) {
    return "stribeck and sigma0 of a friction must be above 0";
  }
  return f->sigma1 >= 0.0 && f->sigma2 >= 0.0 && isfinite(f->sigma1) && isfinite(f->sigma2)
             ? NULL
             : "sigma1 and sigma2 of a friction must not be below 0";
}

static bool is_positive(double value) {
  return value > 0.0 && isfinite(value);
}

// NULL if the settings of these elements are sound.
static const char* fault_of(const yoke_steering* s, unsigned elements) {
  if (elements & YOKE_STEERING_RACK) {
    const char *column = fault_of_friction(&s->column), *rack = fault_of_friction(&s->rack);
    if (column != NULL || rack != NULL) {
      return column != NULL ? column : rack;
    }
    if (!is_positive(s->J_column) || !is_positive(s->m_rack) || !is_positive(s->i_pinion)) {
      return "J_column, m_rack and i_pinion must be above 0";
    }
  }
  if ((elements & (YOKE_STEERING_RACK | YOKE_STEERING_BELT)) && !is_positive(s->i_motor)) {
    return "i_motor must be above 0";
  }
  if ((elements & YOKE_STEERING_MOTOR) && (!is_positive(s->J_motor) || !is_positive(s->lag))) {
    return "J_motor and lag must be above 0";
  }
  if ((elements & YOKE_STEERING_CONTROLLER) &&
      (!(s->T_max >= 0.0) || ((elements & YOKE_STEERING_MOTOR) && !is_positive(s->period)))) {
    return "T_max must not be below 0, period must be above 0";
  }
  if ((elements & YOKE_STEERING_CHASSIS) && (!is_positive(s->J_wheel) || !is_positive(s->m) ||
                                             !is_positive(s->I_z) || !is_positive(s->relaxation))) {
    return "J_wheel, m, I_z and relaxation must be above 0";
  }
  const bool is_law = elements == YOKE_STEERING_CONTROLLER;
  return is_law || is_positive(s->inner_step) ? NULL : "inner_step must be above 0";
}

static yoke_status initialise(yoke_steering* s, unsigned elements, double t,
                              const yoke_sink* sink) {
  const char* fault = fault_of(s, elements);
  if (fault != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", fault);
  }
  s->t_start = t;
  s->n_requests = 0;
  yoke__steering_laws(s, elements);
  return YOKE_OK;
}

// The operations of a unit with these elements.
#define UNIT_OPS(unit_, elements_)                                                                 \
  static yoke_status unit_##_enter_init(void* self, double t_start, double t_stop,                 \
                                        const yoke_sink* sink) {                                   \
    (void)t_stop;                                                                                  \
    return initialise(self, elements_, t_start, sink);                                             \
  }                                                                                                \
  static yoke_status unit_##_step(void* self, double t, double h, yoke_step_result* result) {      \
    (void)result;                                                                                  \
    yoke__steering_step(self, elements_, t, h);                                                    \
    return YOKE_OK;                                                                                \
  }                                                                                                \
  static yoke_status unit_##_refresh(void* self, double t) {                                       \
    (void)t;                                                                                       \
    yoke__steering_laws(self, elements_);                                                          \
    return YOKE_OK;                                                                                \
  }

#define UNIT_INFO(unit_, flags_, ...)                                                              \
  static const yoke_unit_info unit_##_info = {                                                     \
      .variables = unit_##_variables,                                                              \
      .n_variables = COUNT(unit_##_variables),                                                     \
      .flags = YOKE_UNIT_FLAT | (flags_),                                                          \
      .self_size = sizeof(yoke_steering),                                                          \
      .solver = {.method = YOKE_SOLVER_SEMI_IMPLICIT_EULER, .step = 1e-4},                         \
      __VA_ARGS__}

#define UNIT(unit_, text_)                                                                         \
  const yoke_unit_ops yoke__model_steering_##unit_ = {                                             \
      .name = "steering." #unit_,                                                                  \
      .text = (text_),                                                                             \
      .info = &unit_##_info,                                                                       \
      .enter_init = unit_##_enter_init,                                                            \
      .step = unit_##_step,                                                                        \
      .refresh = unit_##_refresh,                                                                  \
  }

// ---- whole

static const yoke_variable whole_variables[] = {
    STEERING_TORQUE,
    EXTERNAL_REQUEST,
    SPEED,
    RACK_OUTPUTS,
    MOTOR_OUTPUTS,
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    OUTPUT(T_request, "N.m", "torque request of the controller"),
    OUTPUT(F_rod, "N", "force of the tie rod against the rack"),
    CHASSIS_OUTPUTS,
    STATE(a_motor, "rad", "angle of the motor"),
    STATE(x_inner, "m", "rack end of the tie rod"),
    BRISTLES,
    CHASSIS_STATES,
    RACK_SETTINGS,
    BELT_SETTINGS,
    MOTOR_SETTINGS,
    SAMPLED_SETTINGS,
    ROD_SETTINGS,
    CHASSIS_SETTINGS,
    INNER_STEP,
};
UNIT_INFO(whole, 0, .n_feedthrough = 0);
UNIT_OPS(whole, YOKE_STEERING_EPAS | YOKE_STEERING_ROD | YOKE_STEERING_CHASSIS)
UNIT(whole, "electric power steering with chassis in one unit");

// ---- tie rod, force on the rack

static const yoke_variable epas_variables[] = {
    STEERING_TORQUE,
    EXTERNAL_REQUEST,
    ROD_FORCE,
    RACK_OUTPUTS,
    MOTOR_OUTPUTS,
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    OUTPUT(T_request, "N.m", "torque request of the controller"),
    STATE(a_motor, "rad", "angle of the motor"),
    BRISTLES,
    RACK_SETTINGS,
    BELT_SETTINGS,
    MOTOR_SETTINGS,
    SAMPLED_SETTINGS,
    INNER_STEP,
};
UNIT_INFO(epas, 0, .n_feedthrough = 0);
UNIT_OPS(epas, YOKE_STEERING_EPAS)
UNIT(epas, "electric power steering; receives tie rod force, returns rack speed");

enum { CHASSIS_V_RACK, CHASSIS_V, CHASSIS_F_ROD };
static const yoke_variable chassis_variables[] = {
    INPUT(v_rack, "m/s", "rack speed"),
    SPEED,
    OUTPUT(F_rod, "N", "force of the tie rod against the rack"),
    CHASSIS_OUTPUTS,
    STATE(x_inner, "m", "integral of v_rack"),
    CHASSIS_STATES,
    ROD_SETTINGS,
    CHASSIS_SETTINGS,
    INNER_STEP,
};
static const yoke_feedthrough chassis_through[] = {{CHASSIS_F_ROD, CHASSIS_V_RACK}};
UNIT_INFO(chassis, YOKE_UNIT_AUTONOMOUS, .feedthrough = chassis_through, .n_feedthrough = 1);
UNIT_OPS(chassis, YOKE_STEERING_ROD | YOKE_STEERING_CHASSIS)
UNIT(chassis, "chassis with tie rod; receives rack speed, returns tie rod force");

// ---- tie rod, force on the wheels

enum { EPAS_ROD_V_ROD = 2, EPAS_ROD_F_ROD };
static const yoke_variable epas_rod_variables[] = {
    STEERING_TORQUE,
    EXTERNAL_REQUEST,
    INPUT(v_rod, "m/s", "speed of the wheel end of the tie rod"),
    OUTPUT(F_rod, "N", "force of the tie rod against the rack"),
    RACK_OUTPUTS,
    MOTOR_OUTPUTS,
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    OUTPUT(T_request, "N.m", "torque request of the controller"),
    STATE(a_motor, "rad", "angle of the motor"),
    STATE(x_outer, "m", "integral of v_rod"),
    BRISTLES,
    RACK_SETTINGS,
    BELT_SETTINGS,
    MOTOR_SETTINGS,
    SAMPLED_SETTINGS,
    ROD_SETTINGS,
    INNER_STEP,
};
static const yoke_feedthrough epas_rod_through[] = {{EPAS_ROD_F_ROD, EPAS_ROD_V_ROD}};
UNIT_INFO(epas_rod, 0, .feedthrough = epas_rod_through, .n_feedthrough = 1);
UNIT_OPS(epas_rod, YOKE_STEERING_EPAS | YOKE_STEERING_ROD)
UNIT(epas_rod, "electric power steering with tie rod; receives wheel speed, returns its force");

static const yoke_variable wheels_variables[] = {
    ROD_FORCE, SPEED, CHASSIS_OUTPUTS, CHASSIS_STATES, CHASSIS_SETTINGS, INNER_STEP,
};
UNIT_INFO(wheels, YOKE_UNIT_AUTONOMOUS, .n_feedthrough = 0);
UNIT_OPS(wheels, YOKE_STEERING_CHASSIS)
UNIT(wheels, "chassis without tie rod; receives its force, returns the speed of its end");

// ---- belt, torque on the motor

enum { RACK_BELT_W_MOTOR = 2, RACK_BELT_T_BELT };
static const yoke_variable rack_belt_variables[] = {
    STEERING_TORQUE,
    ROD_FORCE,
    INPUT(w_motor, "rad/s", "speed of the motor"),
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    RACK_OUTPUTS,
    STATE(a_motor, "rad", "integral of w_motor"),
    BRISTLES,
    RACK_SETTINGS,
    BELT_SETTINGS,
    INNER_STEP,
};
static const yoke_feedthrough rack_belt_through[] = {{RACK_BELT_T_BELT, RACK_BELT_W_MOTOR}};
UNIT_INFO(rack_belt, YOKE_UNIT_AUTONOMOUS, .feedthrough = rack_belt_through, .n_feedthrough = 1);
UNIT_OPS(rack_belt, YOKE_STEERING_RACK | YOKE_STEERING_BELT)
UNIT(rack_belt, "column, rack and belt; receives motor speed, returns belt torque");

static const yoke_variable motor_variables[] = {
    INPUT(T_belt, "N.m", "torque of the belt against the motor"),
    INPUT(T_bar, "N.m", "torque of the torsion bar"),
    EXTERNAL_REQUEST,
    MOTOR_OUTPUTS,
    OUTPUT(T_request, "N.m", "torque request of the controller"),
    STATE(a_motor, "rad", "angle of the motor"),
    MOTOR_SETTINGS,
    SAMPLED_SETTINGS,
    INNER_STEP,
};
UNIT_INFO(motor, 0, .n_feedthrough = 0);
UNIT_OPS(motor, YOKE_STEERING_MOTOR | YOKE_STEERING_CONTROLLER)
UNIT(motor, "motor with controller; receives belt torque, returns motor speed");

// ---- belt, torque on the rack

static const yoke_variable rack_variables[] = {
    STEERING_TORQUE,
    ROD_FORCE,
    INPUT(T_belt, "N.m", "torque of the belt against the motor"),
    RACK_OUTPUTS,
    BRISTLES,
    RACK_SETTINGS,
    SETTING(i_motor, "m/rad", "way of the rack per angle of the motor: belt and ball screw",
            4.126e-4),
    INNER_STEP,
};
UNIT_INFO(rack, YOKE_UNIT_AUTONOMOUS, .n_feedthrough = 0);
UNIT_OPS(rack, YOKE_STEERING_RACK)
UNIT(rack, "column and rack; receives belt torque, returns rack speed");

enum { MOTOR_BELT_V_RACK, MOTOR_BELT_T_BAR, MOTOR_BELT_T_EXT, MOTOR_BELT_T_BELT };
static const yoke_variable motor_belt_variables[] = {
    INPUT(v_rack, "m/s", "rack speed"),
    INPUT(T_bar, "N.m", "torque of the torsion bar"),
    EXTERNAL_REQUEST,
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    MOTOR_OUTPUTS,
    OUTPUT(T_request, "N.m", "torque request of the controller"),
    STATE(a_motor, "rad", "angle of the motor"),
    STATE(x_rack, "m", "integral of v_rack"),
    BELT_SETTINGS,
    MOTOR_SETTINGS,
    SAMPLED_SETTINGS,
    INNER_STEP,
};
static const yoke_feedthrough motor_belt_through[] = {{MOTOR_BELT_T_BELT, MOTOR_BELT_V_RACK}};
UNIT_INFO(motor_belt, 0, .feedthrough = motor_belt_through, .n_feedthrough = 1);
UNIT_OPS(motor_belt, YOKE_STEERING_BELT | YOKE_STEERING_MOTOR | YOKE_STEERING_CONTROLLER)
UNIT(motor_belt, "motor with controller and belt; receives rack speed, returns belt torque");

// ---- controller

static const yoke_variable mechanics_variables[] = {
    STEERING_TORQUE,
    INPUT(T_request, "N.m", "torque request"),
    ROD_FORCE,
    RACK_OUTPUTS,
    MOTOR_OUTPUTS,
    OUTPUT(T_belt, "N.m", "torque of the belt against the motor"),
    STATE(a_motor, "rad", "angle of the motor"),
    BRISTLES,
    RACK_SETTINGS,
    BELT_SETTINGS,
    MOTOR_SETTINGS,
    INNER_STEP,
};
UNIT_INFO(mechanics, YOKE_UNIT_AUTONOMOUS, .n_feedthrough = 0);
UNIT_OPS(mechanics, YOKE_STEERING_RACK | YOKE_STEERING_BELT | YOKE_STEERING_MOTOR)
UNIT(mechanics, "electric power steering without controller; receives the torque request");

enum { CONTROLLER_T_BAR, CONTROLLER_W_MOTOR, CONTROLLER_T_EXT, CONTROLLER_T_REQUEST };
static const yoke_variable controller_variables[] = {
    INPUT(T_bar, "N.m", "torque of the torsion bar"),
    INPUT(w_motor, "rad/s", "speed of the motor"),
    EXTERNAL_REQUEST,
    OUTPUT(T_request, "N.m", "torque request"),
    CONTROLLER_SETTINGS,
};
static const yoke_feedthrough controller_through[] = {{CONTROLLER_T_REQUEST, CONTROLLER_T_BAR},
                                                      {CONTROLLER_T_REQUEST, CONTROLLER_W_MOTOR},
                                                      {CONTROLLER_T_REQUEST, CONTROLLER_T_EXT}};
static const yoke_unit_info controller_info = {
    .variables = controller_variables,
    .n_variables = COUNT(controller_variables),
    .feedthrough = controller_through,
    .n_feedthrough = COUNT(controller_through),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(yoke_steering),
};
UNIT_OPS(controller, YOKE_STEERING_CONTROLLER)
UNIT(controller, "controller of the power steering: torque request from its sensors");
