// What the engine on the bench drives: a flywheel or a car. Torque in, speed out.
//
//   inertia  J omega' = tau
//   vehicle  J_g wg' = tau - clutch,  J_w ww' = i clutch - shaft,  m r^2 wb' = shaft - r resistance,
//            tw' = ww - wb,  clutch = sat(g (wg - i ww)),  shaft = k tw + d (ww - wb)
//            resistance = m g0 c_r tanh(v / v_soft) + rho/2 A v |v|,  v = r wb
//
// The load of a bench answers in the cycle in which the torque arrives: the output is the speed
// *after* a call with the present torque, computed ahead in refresh from the state that was last
// committed; step commits it. So omega has direct feedthrough from tau, and with `exchange: fresh`
// the demand leaves in the same cycle. In the vehicle all torques come from the old speeds and the
// twist from the new ones: semi-implicit Euler. The flywheel is half of that, a new speed from the
// torque at the start; a mean over the call would bring the answer ahead by half a call more.
// Source: README.md.
#include <math.h>
#include <stddef.h>

#include "models/engine_rig/engine_rig.h"

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define MAX_INNER_STEPS 100000

#define ROW(struct_, member_, dim_, text_, type_, causality_, flags_, start_)                      \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = (type_), .causality = (causality_),  \
    .flags = (flags_), .start = (start_), .offset = offsetof(struct_, member_)                     \
  }
#define REAL(struct_, member_, dim_, text_, causality_, start_)                                    \
  ROW(struct_, member_, dim_, text_, YOKE_REAL, causality_, 0, start_)
#define START_OUTPUT(struct_, member_, dim_, text_, start_)                                        \
  ROW(struct_, member_, dim_, text_, YOKE_REAL, YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, start_)
#define SETTING(struct_, member_, dim_, text_, start_)                                             \
  REAL(struct_, member_, dim_, text_, YOKE_PARAMETER, start_)
#define PERIOD_TEXT "time between calls; the first call corrects it"

enum { TAU, OMEGA };  // the first two variables of both
static const yoke_feedthrough omega_of_tau[] = {{OMEGA, TAU}};

static yoke_status refuse(const yoke_sink* sink, const char* why) {
  return yoke_fail(sink, YOKE_BAD_ARG, "%s", why);
}

static yoke_status judge(double omega, yoke_step_result* result) {
  if (!isfinite(omega)) {
    result->message = "the speed is no longer finite";
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

// ---- inertia

typedef struct inertia {
  double tau, omega;
  double speed;  // committed
  double J, period;
} inertia;

static const yoke_variable inertia_variables[] = {
    REAL(inertia, tau, "N.m", "torque of the engine", YOKE_INPUT, 0.0),
    START_OUTPUT(inertia, omega, "rad/s", "speed after a call with the present torque", 157.0),
    SETTING(inertia, J, "kg.m2", "inertia", 1.0),
    SETTING(inertia, period, "s", PERIOD_TEXT, 1e-3),
};

static const yoke_unit_info inertia_info = {
    .variables = inertia_variables,
    .n_variables = COUNT(inertia_variables),
    .feedthrough = omega_of_tau,
    .n_feedthrough = COUNT(omega_of_tau),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(inertia),
    .solver = {.method = YOKE_SOLVER_SEMI_IMPLICIT_EULER},
};

static yoke_status inertia_refresh(void* self, double t) {
  inertia* s = self;
  (void)t;

  // speed after a call with the present torque
  s->omega = s->speed + s->period * s->tau / s->J;
  return YOKE_OK;
}

static yoke_status inertia_step(void* self, double t, double h, yoke_step_result* result) {
  inertia* s = self;

  // h is the period from now on
  s->period = h;
  (void)inertia_refresh(s, t);

  // what refresh has shown is committed
  s->speed = s->omega;
  (void)inertia_refresh(s, t + h);
  return judge(s->omega, result);
}

static yoke_status inertia_enter_init(void* self, double t_start, double t_stop,
                                      const yoke_sink* sink) {
  inertia* s = self;
  (void)t_stop;
  if (!(s->J > 0.0 && isfinite(s->J) && s->period > 0.0 && isfinite(s->period))) {
    return refuse(sink, "J and period must be above 0");
  }
  s->speed = s->omega;
  return inertia_refresh(s, t_start);
}

const yoke_unit_ops yoke__model_engine_rig_inertia = {
    .name = "engine_rig.inertia",
    .text = "a flywheel as the load of an engine test bench; receives torque, returns speed",
    .info = &inertia_info,
    .enter_init = inertia_enter_init,
    .step = inertia_step,
    .refresh = inertia_refresh,
};

// ---- vehicle

// What moves: speeds of gearbox, wheel and body (as a wheel speed), twist of the drive shaft.
typedef struct motion {
  double gearbox, wheel, body, twist;
} motion;

typedef struct vehicle {
  double tau, omega, v;
  motion now;  // committed
  double J_g, clutch_gain, clutch_max, gear_1, gear_2, t_shift, final_drive;
  double J_w, k, d, m, r, c_r, v_soft, rho, area, g0;
  double period;
  int64_t inner_steps;
} vehicle;

static const yoke_variable vehicle_variables[] = {
    REAL(vehicle, tau, "N.m", "torque of the engine", YOKE_INPUT, 0.0),
    START_OUTPUT(vehicle, omega, "rad/s",
                 "speed of the gearbox input after a call with the present torque", 105.0),
    REAL(vehicle, v, "m/s", "speed of the car now", YOKE_OUTPUT, 0.0),
    SETTING(vehicle, J_g, "kg.m2", "inertia of the gearbox input", 0.1),
    SETTING(vehicle, clutch_gain, "N.m.s/rad", "clutch torque per slip", 20.0),
    SETTING(vehicle, clutch_max, "N.m", "largest clutch torque", 400.0),
    SETTING(vehicle, gear_1, "1", "ratio of the first gear", 3.5),
    SETTING(vehicle, gear_2, "1", "ratio of the second gear", 1.95),
    SETTING(vehicle, t_shift, "s", "time of the gear change", 2.0),
    SETTING(vehicle, final_drive, "1", "ratio of the final drive", 3.7),
    SETTING(vehicle, J_w, "kg.m2", "inertia of the wheels", 2.0),
    SETTING(vehicle, k, "N.m/rad", "stiffness of the drive shaft", 8000.0),
    SETTING(vehicle, d, "N.m.s/rad", "damping of the drive shaft", 150.0),
    SETTING(vehicle, m, "kg", "mass", 1530.0),
    SETTING(vehicle, r, "m", "radius of the wheels", 0.31),
    SETTING(vehicle, c_r, "1", "rolling resistance over weight", 0.012),
    SETTING(vehicle, v_soft, "m/s", "rolling resistance fades below this speed", 0.1),
    SETTING(vehicle, rho, "kg/m3", "density of air", 1.2),
    SETTING(vehicle, area, "m2", "drag coefficient times frontal area", 0.65),
    SETTING(vehicle, g0, "m/s2", "gravity", 9.81),
    SETTING(vehicle, period, "s", PERIOD_TEXT, 1e-3),
    ROW(vehicle, inner_steps, "1", "internal steps per call", YOKE_INTEGER, YOKE_PARAMETER, 0,
        10.0),
};

static const yoke_unit_info vehicle_info = {
    .variables = vehicle_variables,
    .n_variables = COUNT(vehicle_variables),
    .feedthrough = omega_of_tau,
    .n_feedthrough = COUNT(omega_of_tau),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(vehicle),
    .solver = {.method = YOKE_SOLVER_SEMI_IMPLICIT_EULER, .parts = COUNT(vehicle_variables)},
};

static double clamp(double x, double most) {
  return x > most ? most : (x < -most ? -most : x);
}

// The gear change only swaps the ratio: the clutch slips until the speeds agree.
static double ratio_at(const vehicle* s, double t) {
  const bool is_second = t + 1e-9 >= s->t_shift;  // a clock may be off by its last bit
  return (is_second ? s->gear_2 : s->gear_1) * s->final_drive;
}

static double resistance(const vehicle* s, double v) {
  // tanh: rolling resistance without a jump at standstill; v |v|: drag against the motion
  return s->m * s->g0 * s->c_r * tanh(v / s->v_soft) + 0.5 * s->rho * s->area * v * fabs(v);
}

// The motion one call after `from`, in the gear of time t.
static motion advance(const vehicle* s, double t, motion from) {
  const double h = s->period / (double)s->inner_steps, i = ratio_at(s, t);
  const double body_inertia = s->m * s->r * s->r;
  motion x = from;
  for (int64_t n = 0; n < s->inner_steps; n++) {
    // clutch: viscous up to its limit
    const double clutch = clamp(s->clutch_gain * (x.gearbox - i * x.wheel), s->clutch_max);
    const double shaft = s->k * x.twist + s->d * (x.wheel - x.body);
    const double force = resistance(s, x.body * s->r);
    // gearbox, wheel, body from old speeds; twist from the new ones
    x.gearbox += h * (s->tau - clutch) / s->J_g;
    x.wheel += h * (i * clutch - shaft) / s->J_w;
    x.body += h * (shaft - force * s->r) / body_inertia;
    x.twist += h * (x.wheel - x.body);
  }
  return x;
}

static yoke_status vehicle_refresh(void* self, double t) {
  vehicle* s = self;

  // omega one call ahead; v of the present
  s->omega = advance(s, t, s->now).gearbox;
  s->v = s->now.body * s->r;
  return YOKE_OK;
}

static yoke_status vehicle_step(void* self, double t, double h, yoke_step_result* result) {
  vehicle* s = self;
  s->period = h;
  s->now = advance(s, t, s->now);
  (void)vehicle_refresh(s, t + h);
  return judge(s->omega, result);
}

static yoke_status vehicle_enter_init(void* self, double t_start, double t_stop,
                                      const yoke_sink* sink) {
  vehicle* s = self;
  (void)t_stop;
  const double positive[] = {s->J_g, s->J_w, s->m, s->r, s->v_soft, s->period};
  for (size_t i = 0; i < COUNT(positive); i++) {
    if (!(positive[i] > 0.0 && isfinite(positive[i]))) {
      return refuse(sink, "J_g, J_w, m, r, v_soft and period must be above 0");
    }
  }
  if (s->inner_steps < 1 || s->inner_steps > MAX_INNER_STEPS) {
    return refuse(sink, "inner_steps must be between 1 and 100000");
  }
  if (ratio_at(s, t_start) == 0.0) {
    return refuse(sink, "gear_1, gear_2 and final_drive must not be 0");
  }
  // rolling without slip in the gear of the start
  const double wheel = s->omega / ratio_at(s, t_start);
  s->now = (motion){.gearbox = s->omega, .wheel = wheel, .body = wheel, .twist = 0.0};
  return vehicle_refresh(s, t_start);
}

const yoke_unit_ops yoke__model_engine_rig_vehicle = {
    .name = "engine_rig.vehicle",
    .text = "a car without engine as the load of a test bench; receives torque, returns speed",
    .info = &vehicle_info,
    .enter_init = vehicle_enter_init,
    .step = vehicle_step,
    .refresh = vehicle_refresh,
};
