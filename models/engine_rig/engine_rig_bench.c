// The machine of an engine test bench with its controller and sensors, as a software stand-in (SB-1).
//
//   tau = k_s tw + d_s (wE - wD) + noise,   omega = wD + noise            measured at the shaft
//   T_cmd = K_u K_P (e + 1/T_I integral of e),  e = omega_ref - filtered omega    every T_c
//   T_d Td' = T_cmd - Td,   T_e T_ind' = alpha T_full(wE) - T_ind
//   J_E wE' = T_ind + idle - drag + ripple - shaft,   J_D wD' = shaft + Td,   tw' = wE - wD
//
// One call: controller if due, lags by forward Euler, shaft by semi-implicit Euler (engine, then
// dynamometer with the new engine speed, then twist), in this order; the reference figures depend on it.
// Source: README.md. Assumes a demand that is constant during a call, and calls well below T_d.
#include <math.h>
#include <stddef.h>

#include "models/engine_rig/engine_rig.h"
#include "models/models_random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct bench {
  double omega_ref, alpha;                             // inputs
  double tau, omega;                                   // measured
  double throttle, tau_cmd, tau_dyno, tau_ind, error;  // of the last call
  double speed_engine, speed_dyno;                     // wE, wD
  double twist, angle;                                 // tw, theta_E
  double speed_filtered, integral;                     // of the controller
  double control_age;                                  // since it ran [s]
  int64_t n_calls;                                     // counts the samples of the sensors
  double J_E, J_D, k_s, d_s, T_e;
  double tau_full, omega_full, tau_rated, omega_rated, P_rated;
  double drag_0, drag_1, ripple, ripple_base, idle_gain, idle_omega, idle_max;
  double T_d, T_max, T_c, K_P, T_I, K_u, filter;
  double noise_tau, noise_omega;
  double pulse3_start, pulse3_end;
  int64_t seed, stimulus, start_torque;
} bench;

enum { STIMULUS_INERTIA, STIMULUS_VEHICLE, STIMULUS_EXTERNAL };
enum { START_DRAG, START_ZERO };
enum { STREAM_TAU, STREAM_OMEGA };  // of random numbers

static const char* const stimulus_items[] = {"inertia", "vehicle", "external", NULL};
static const char* const start_items[] = {"drag", "zero", NULL};

#define ROW(member_, dim_, text_, type_, causality_, flags_, start_, items_)                       \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = (type_), .causality = (causality_),  \
    .flags = (flags_), .start = (start_), .items = (items_), .offset = offsetof(bench, member_)    \
  }
#define REAL(member_, dim_, text_, causality_, start_)                                             \
  ROW(member_, dim_, text_, YOKE_REAL, causality_, 0, start_, NULL)
#define SETTING(member_, dim_, text_, start_) REAL(member_, dim_, text_, YOKE_PARAMETER, start_)

static const yoke_variable bench_variables[] = {
    REAL(omega_ref, "rad/s", "speed demand", YOKE_INPUT, 157.0),
    ROW(alpha, "1", "throttle, 0 to 1, if the stimulus is external", YOKE_REAL, YOKE_INPUT,
        YOKE_VARIABLE_HAS_START, 0.0, NULL),
    REAL(tau, "N.m", "measured torque of the shaft", YOKE_OUTPUT, 0.0),
    ROW(omega, "rad/s", "measured speed of the dynamometer; starts all speeds", YOKE_REAL,
        YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 157.0, NULL),
    REAL(throttle, "1", "throttle of the last call", YOKE_OUTPUT, 0.0),
    REAL(tau_cmd, "N.m", "torque that the controller asks for", YOKE_OUTPUT, 0.0),
    REAL(tau_dyno, "N.m", "torque in the air gap of the dynamometer", YOKE_OUTPUT, 0.0),
    REAL(tau_ind, "N.m", "indicated torque of the engine", YOKE_OUTPUT, 0.0),
    REAL(error, "rad/s", "control error, filtered", YOKE_OUTPUT, 0.0),
    REAL(speed_engine, "rad/s", "speed of the engine", YOKE_OUTPUT, 0.0),
    REAL(speed_dyno, "rad/s", "speed of the dynamometer, without noise", YOKE_OUTPUT, 0.0),
    SETTING(J_E, "kg.m2", "inertia of the engine", 0.2),
    SETTING(J_D, "kg.m2", "inertia of the dynamometer", 0.2),
    SETTING(k_s, "N.m/rad", "stiffness of the shaft", 7500.0),
    SETTING(d_s, "N.m.s/rad", "damping of the shaft", 5.0),
    SETTING(T_e, "s", "lag of the indicated torque", 0.05),
    SETTING(tau_full, "N.m", "full-load torque up to omega_full", 250.0),
    SETTING(omega_full, "rad/s", "end of the constant torque", 366.0),
    SETTING(tau_rated, "N.m", "full-load torque at omega_rated", 218.6),
    SETTING(omega_rated, "rad/s", "start of the constant power", 471.0),
    SETTING(P_rated, "W", "power above omega_rated", 103e3),
    SETTING(drag_0, "N.m", "drag at rest", 12.0),
    SETTING(drag_1, "N.m.s/rad", "growth of drag with speed", 0.05),
    SETTING(ripple, "1", "amplitude of the second order over ripple_base + tau_ind", 0.3),
    SETTING(ripple_base, "N.m", "torque that ripples without load", 10.0),
    SETTING(idle_gain, "N.m.s/rad", "slope of the idle torque", 2.0),
    SETTING(idle_omega, "rad/s", "idle torque below this speed", 90.0),
    SETTING(idle_max, "N.m", "largest idle torque", 80.0),
    SETTING(T_d, "s", "lag of the dynamometer torque", 2e-3),
    SETTING(T_max, "N.m", "limit of the dynamometer torque", 500.0),
    SETTING(T_c, "s", "period of the controller, a multiple of the step", 1e-3),
    REAL(K_P, NULL, "proportional gain", YOKE_TUNABLE, 10.0),
    REAL(T_I, "s", "integral time", YOKE_TUNABLE, 0.15),
    SETTING(K_u, "N.m.s/rad", "torque per error and unit of K_P", 0.4),
    SETTING(filter, "rad/s", "bandwidth of the speed feedback", 8.0),
    SETTING(noise_tau, "N.m", "standard deviation of the torque sensor", 0.0),
    SETTING(noise_omega, "rad/s", "standard deviation of the speed sensor", 0.0),
    SETTING(pulse3_start, "s", "third pulse of the stimulus vehicle", 23.0),
    SETTING(pulse3_end, "s", "its end", 26.0),
    ROW(seed, "1", "of the noise", YOKE_INTEGER, YOKE_PARAMETER, 0, 1.0, NULL),
    ROW(stimulus, "1", "throttle programme", YOKE_ENUMERATION, YOKE_PARAMETER, 0, STIMULUS_INERTIA,
        stimulus_items),
    ROW(start_torque, "1", "shaft at the start: carries the engine's drag, or nothing",
        YOKE_ENUMERATION, YOKE_PARAMETER, 0, START_DRAG, start_items),
};

static const yoke_unit_info bench_info = {
    .variables = bench_variables,
    .n_variables = COUNT(bench_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(bench),
    .solver = {.method = YOKE_SOLVER_SEMI_IMPLICIT_EULER},
};

// ---- characteristics

static double clamp(double x, double most) {
  return x > most ? most : (x < -most ? -most : x);
}

static double full_load(const bench* s, double omega) {
  // torque limit, straight line to the rated point, then constant power
  if (omega <= s->omega_full) {
    return s->tau_full;
  }
  if (omega <= s->omega_rated) {
    const double slope = (s->tau_rated - s->tau_full) / (s->omega_rated - s->omega_full);
    return s->tau_full + slope * (omega - s->omega_full);
  }
  return s->P_rated / omega;
}

static double drag(const bench* s, double omega) {
  // affine in the speed
  return s->drag_0 + s->drag_1 * omega;
}

static double idle(const bench* s, double omega) {
  // idle controller: proportional below idle_omega, limited
  return omega < s->idle_omega ? fmin(s->idle_gain * (s->idle_omega - omega), s->idle_max) : 0.0;
}

// The throttle programmes; pulses include their start and not their end.
static double throttle_at(const bench* s, double t) {
  const struct {
    int64_t stimulus;
    double start, end, alpha;
  } pulses[] = {
      {STIMULUS_INERTIA, 1.0, 2.0, 1.0},
      {STIMULUS_VEHICLE, 1.0, 2.0, 0.15},
      {STIMULUS_VEHICLE, 10.0, 13.0, 0.5},
      {STIMULUS_VEHICLE, s->pulse3_start, s->pulse3_end, 0.6},
  };
  if (s->stimulus == STIMULUS_EXTERNAL) {
    return s->alpha;
  }
  const double now = t + 1e-9;  // a clock may be off by its last bit
  double alpha = 0.0;
  for (size_t i = 0; i < COUNT(pulses); i++) {
    if (s->stimulus == pulses[i].stimulus && now >= pulses[i].start && now < pulses[i].end) {
      alpha = pulses[i].alpha;
    }
  }
  return alpha;
}

// ---- stepping

static double shaft_torque(const bench* s) {
  // k_s tw + d_s (wE - wD)
  return s->k_s * s->twist + s->d_s * (s->speed_engine - s->speed_dyno);
}

static double noise(const bench* s, double deviation, uint64_t stream) {
  return deviation > 0.0 ? deviation * yoke__random_normal(s->seed, stream, (uint64_t)s->n_calls)
                         : 0.0;
}

// What the sensors show; the same again until the next call of step.
static yoke_status bench_refresh(void* self, double t) {
  bench* s = self;
  (void)t;
  s->tau = shaft_torque(s) + noise(s, s->noise_tau, STREAM_TAU);
  s->omega = s->speed_dyno + noise(s, s->noise_omega, STREAM_OMEGA);
  return YOKE_OK;
}

// PI on the filtered speed: filter, integral (clamped), command (clamped).
static void control(bench* s) {
  const double gain = s->K_u * s->K_P;

  // first-order filter over T_c, exact for a held input
  s->speed_filtered += (1.0 - exp(-s->filter * s->T_c)) * (s->omega - s->speed_filtered);
  s->error = s->omega_ref - s->speed_filtered;

  // clamped as the command is: no windup
  s->integral = clamp(s->integral + gain * s->error * s->T_c / s->T_I, s->T_max);
  s->tau_cmd = clamp(gain * s->error + s->integral, s->T_max);
}

// Engine, shaft and dynamometer over h.
static void move(bench* s, double h) {
  // T_e T_ind' = alpha T_full - T_ind, forward Euler
  s->tau_ind += h / s->T_e * (s->throttle * full_load(s, s->speed_engine) - s->tau_ind);

  // twice per turn, as a four-cylinder engine fires
  const double ripple = s->ripple * (s->ripple_base + s->tau_ind) * sin(2.0 * s->angle);
  const double engine = s->tau_ind + idle(s, s->speed_engine) - drag(s, s->speed_engine) + ripple;

  // engine first, then the dynamometer with the new engine speed, then the twist
  s->speed_engine += h * (engine - shaft_torque(s)) / s->J_E;
  s->speed_dyno += h * (shaft_torque(s) + s->tau_dyno) / s->J_D;
  s->twist += h * (s->speed_engine - s->speed_dyno);
  s->angle += h * s->speed_engine;
}

static yoke_status bench_step(void* self, double t, double h, yoke_step_result* result) {
  bench* s = self;
  s->throttle = throttle_at(s, t);

  // the sum of the steps may fall short of the period by rounding
  if (s->control_age >= s->T_c * (1.0 - 1e-6)) {
    control(s);
    s->control_age = 0.0;
  }
  s->control_age += h;

  // T_d Td' = T_cmd - Td
  s->tau_dyno += h / s->T_d * (s->tau_cmd - s->tau_dyno);
  move(s, h);
  s->n_calls++;
  (void)bench_refresh(s, t + h);
  if (!isfinite(s->tau) || !isfinite(s->omega) || !isfinite(s->speed_engine)) {
    result->message = "the speeds are no longer finite";
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

// ---- start

static const char* find_fault(const bench* s) {
  const double positive[] = {s->J_E, s->J_D, s->k_s, s->T_e, s->T_d, s->T_c, s->T_I};
  const double others[] = {s->d_s,         s->tau_full,  s->omega_full, s->tau_rated,
                           s->omega_rated, s->P_rated,   s->drag_0,     s->drag_1,
                           s->ripple,      s->idle_gain, s->idle_omega, s->idle_max,
                           s->ripple_base, s->K_P,       s->K_u,        s->omega};
  for (size_t i = 0; i < COUNT(positive); i++) {
    if (!(positive[i] > 0.0 && isfinite(positive[i]))) {
      return "J_E, J_D, k_s, T_e, T_d, T_c and T_I must be above 0";
    }
  }
  for (size_t i = 0; i < COUNT(others); i++) {
    if (!isfinite(others[i])) {
      return "parameters and the start of omega must be finite";
    }
  }
  if (!(s->omega_rated > s->omega_full && s->omega_rated > 0.0)) {
    return "omega_rated must be above omega_full and above 0";
  }
  if (!(s->T_max >= 0.0 && s->filter >= 0.0)) {
    return "T_max and filter must not be negative";
  }
  if (!(s->noise_tau >= 0.0 && s->noise_omega >= 0.0 && isfinite(s->noise_tau) &&
        isfinite(s->noise_omega))) {
    return "noise_tau and noise_omega must be finite and not negative";
  }
  return NULL;
}

// All speeds equal, the shaft in balance with the dynamometer.
static yoke_status bench_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  bench* s = self;
  (void)t_stop;
  const char* fault = find_fault(s);
  if (fault != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", fault);
  }

  // the shaft carries what the engine drags at the start
  const double tau_0 = s->start_torque == START_DRAG ? -drag(s, s->omega) : 0.0;
  s->speed_engine = s->speed_dyno = s->speed_filtered = s->omega;

  // twist and command in balance with that torque
  s->twist = tau_0 / s->k_s;
  s->integral = s->tau_cmd = s->tau_dyno = -tau_0;
  s->angle = s->tau_ind = s->error = 0.0;
  s->throttle = throttle_at(s, t_start);
  s->control_age = s->T_c;  // it runs in the first call
  s->n_calls = 0;
  return bench_refresh(s, t_start);
}

const yoke_unit_ops yoke__model_engine_rig_bench = {
    .name = "engine_rig.bench",
    .text = "engine, dynamometer, speed controller and sensors of a test bench (SB-1)",
    .info = &bench_info,
    .enter_init = bench_enter_init,
    .step = bench_step,
    .refresh = bench_refresh,
};
