// A point mass on a massless rod in the vertical plane; the angle counts from the downward
// vertical, positive towards +x:
//   tip = pin + l (sin theta, -cos theta)          P = external force - m g e_y
// Two formulations:
//   minimal:              m l^2 theta'' = P . d tip / d theta
//   augmented Lagrangian: Phi = |tip - pin|^2 - l^2,  J = dPhi/dtip = 2 (tip - pin)^T
//     (m I + alpha J^T J) a(i+1) = m a(i) - alpha J^T (J' v + 2 xi w Phi' + w^2 Phi),   m a(0) = P
//     (index 1 with stabilisation: Bayo, Garcia de Jalon and Serna 1988)
// The external force is that of a spring and damper between the two tips, F = k (tip - tip_other) +
// c (...): `force` evaluates it, feels -F and returns F; `mass` receives F. Assumes inputs that are
// constant during one call of step.
#include "models/pendulum/pendulum.h"

#include <math.h>

#include "ode/ode.h"

enum { MINIMAL, AUGMENTED_LAGRANGIAN };
enum { N_WORK = 128, MAX_MICRO_STEPS = 1000000, MAX_ITERATIONS = 1000 };

static const char* const formulation_items[] = {"minimal", "augmented-lagrangian", NULL};
static const double two_pi = 6.283185307179586;

// Both units use this struct; each has its own table of the variables that it shows.
typedef struct pendulum {
  double tip_other[2], vtip_other[2];
  double F[2];
  double tip[2], vtip[2];
  double theta, omega;
  double E, Phi;
  double m, l, pin[2], k, c, g;
  double alpha, w, xi;
  int64_t iterations, formulation, solver, micro_steps;
} pendulum;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(member_, rows_, dim_, text_, causality_, start_)                                      \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .n_rows = (rows_), .start = (start_),                               \
    .offset = offsetof(pendulum, member_)                                                          \
  }
#define WHOLE(member_, text_, type_, start_, items_)                                               \
  {                                                                                                \
    .name = #member_, .dim = "1", .text = (text_), .type = (type_), .causality = YOKE_PARAMETER,   \
    .start = (start_), .items = (items_), .offset = offsetof(pendulum, member_)                    \
  }
#define MOTION_ROWS                                                                                \
  REAL(tip, 2, "m", "position of the tip", YOKE_OUTPUT, 0.0),                                      \
      REAL(vtip, 2, "m/s", "velocity of the tip", YOKE_OUTPUT, 0.0),                               \
      REAL(E, 1, "J", "kinetic energy and height above the pin", YOKE_OUTPUT, 0.0),                \
      REAL(Phi, 1, "m2", "violation of the rod's length", YOKE_OUTPUT, 0.0),                       \
      REAL(theta, 1, "rad", "angle from the downward vertical", YOKE_STATE, 0.0),                  \
      REAL(omega, 1, "rad/s", "angular velocity", YOKE_STATE, 0.0)
#define PARAMETER_ROWS                                                                             \
  REAL(m, 1, "kg", "mass at the tip", YOKE_PARAMETER, 1.0),                                        \
      REAL(l, 1, "m", "length of the rod", YOKE_PARAMETER, 2.5),                                   \
      REAL(pin, 2, "m", "position of the pin", YOKE_PARAMETER, 0.0),                               \
      REAL(g, 1, "m/s2", "gravity along -y", YOKE_PARAMETER, 9.81),                                \
      REAL(alpha, 1, "kg/m2", "penalty", YOKE_PARAMETER, 1e7),                                     \
      REAL(w, 1, "rad/s", "frequency of the stabilisation", YOKE_PARAMETER, 10.0),                 \
      REAL(xi, 1, "1", "damping ratio of the stabilisation", YOKE_PARAMETER, 1.0),                 \
      WHOLE(iterations, "of the augmented Lagrangian", YOKE_INTEGER, 5, NULL),                     \
      WHOLE(formulation, "of the equations of motion", YOKE_ENUMERATION, MINIMAL,                  \
            formulation_items),                                                                    \
      WHOLE(solver, "integrator", YOKE_ENUMERATION, YOKE_ODE_SEMI_IMPLICIT_EULER,                  \
            yoke__ode_method_names),                                                               \
      WHOLE(micro_steps, "internal steps per call", YOKE_INTEGER, 1, NULL)

static const yoke_variable force_variables[] = {
    REAL(tip_other, 2, "m", "position of the partner's tip", YOKE_INPUT, 0.0),
    REAL(vtip_other, 2, "m/s", "velocity of the partner's tip", YOKE_INPUT, 0.0),
    REAL(F, 2, "N", "force of the spring on the partner", YOKE_OUTPUT, 0.0),
    MOTION_ROWS,
    REAL(k, 1, "N/m", "stiffness between the tips", YOKE_PARAMETER, 6.0),
    REAL(c, 1, "N.s/m", "damping between the tips", YOKE_PARAMETER, 0.0),
    PARAMETER_ROWS,
};

static const yoke_variable mass_variables[] = {
    {.name = "F",
     .dim = "N",
     .text = "force at the tip",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .n_rows = 2,
     .offset = offsetof(pendulum, F)},
    MOTION_ROWS,
    PARAMETER_ROWS,
};

// F (2) depends on tip_other (0) and vtip_other (1)
static const yoke_feedthrough force_feedthrough[] = {{2, 0}, {2, 1}};

static const yoke_unit_info force_info = {
    .variables = force_variables,
    .n_variables = COUNT(force_variables),
    .feedthrough = force_feedthrough,
    .n_feedthrough = COUNT(force_feedthrough),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(pendulum),
    .solver = {.choice = COUNT(force_variables) - 1,
               .parts = COUNT(force_variables),
               .methods = YOKE_ODE_SOLVERS},
};
static const yoke_unit_info mass_info = {
    .variables = mass_variables,
    .n_variables = COUNT(mass_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(pendulum),
    .solver = {.choice = COUNT(mass_variables) - 1,
               .parts = COUNT(mass_variables),
               .methods = YOKE_ODE_SOLVERS},
};

// The external force on the tip at (tip, v); out: 2. One for each unit.
typedef void (*tip_force)(const pendulum* p, const double tip[2], const double v[2], double P[2]);

// k (tip - tip_other) + c (v - vtip_other): the force of the spring on the partner.
static void spring_force(const pendulum* p, const double tip[2], const double v[2], double F[2]) {
  for (int i = 0; i < 2; i++) {
    // k (tip - tip_other) + c (v - vtip_other), per component
    F[i] = p->k * (tip[i] - p->tip_other[i]) + p->c * (v[i] - p->vtip_other[i]);
  }
}

static void reaction_of_spring(const pendulum* p, const double tip[2], const double v[2],
                               double P[2]) {
  spring_force(p, tip, v, P);
  P[0] = -P[0];
  P[1] = -P[1];
}

static void force_received(const pendulum* p, const double tip[2], const double v[2], double P[2]) {
  (void)tip;
  (void)v;
  P[0] = p->F[0];
  P[1] = p->F[1];
}

static void tip_of_angle(const pendulum* p, double theta, double omega, double tip[2],
                         double v[2]) {
  const double sine = sin(theta);
  const double cosine = cos(theta);

  // tip = pin + l (sin theta, -cos theta), and its rate
  tip[0] = p->pin[0] + p->l * sine;
  tip[1] = p->pin[1] - p->l * cosine;
  v[0] = p->l * omega * cosine;
  v[1] = p->l * omega * sine;
}

// theta''; d tip / d theta = l (cos, sin).
static double angular_acceleration(const pendulum* p, tip_force external, double theta,
                                   double omega) {
  double tip[2];
  double v[2];
  double P[2];
  tip_of_angle(p, theta, omega, tip, v);
  external(p, tip, v, P);

  // m l^2 theta'' = (P - m g e_y) . l (cos theta, sin theta)
  return (P[0] * cos(theta) + (P[1] - p->m * p->g) * sin(theta)) / (p->m * p->l);
}

// tip'' by the augmented Lagrangian. With the mass matrix m I the 2 x 2 solve splits: along the rod
// a scalar iteration, across it nothing changes. That avoids the cancellation of a solve with m
// beside alpha |J|^2.
static void tip_acceleration(const pendulum* p, tip_force external, const double tip[2],
                             const double v[2], double a[2]) {
  double P[2];
  external(p, tip, v, P);

  // a(0) = P / m
  const double free_x = P[0] / p->m;
  const double free_y = (P[1] - p->m * p->g) / p->m;

  // constraint, its rate, and the direction of the rod
  const double d[2] = {tip[0] - p->pin[0], tip[1] - p->pin[1]};
  const double length = hypot(d[0], d[1]);
  const double n[2] = {d[0] / length, d[1] / length};
  const double J = 2.0 * length;
  const double Phi = d[0] * d[0] + d[1] * d[1] - p->l * p->l;
  const double dPhi = 2.0 * (d[0] * v[0] + d[1] * v[1]);

  // J' v + 2 xi w Phi' + w^2 Phi with J' v = 2 |v|^2
  const double drift =
      2.0 * (v[0] * v[0] + v[1] * v[1]) + 2.0 * p->xi * p->w * dPhi + p->w * p->w * Phi;

  const double along_free = free_x * n[0] + free_y * n[1];
  double along = along_free;
  for (int64_t i = 0; i < p->iterations; i++) {
    // (m + alpha J^2) a(i+1) = m a(i) - alpha J drift, along the rod
    along = (p->m * along - p->alpha * J * drift) / (p->m + p->alpha * J * J);
  }

  // across the rod the free acceleration stays
  a[0] = free_x + (along - along_free) * n[0];
  a[1] = free_y + (along - along_free) * n[1];
}

// the four right-hand sides (yoke_ode_acceleration)
static void force_minimal(void* self, double t, const double q[], const double v[], double a[]) {
  (void)t;
  a[0] = angular_acceleration(self, reaction_of_spring, q[0], v[0]);
}

static void force_augmented(void* self, double t, const double q[], const double v[], double a[]) {
  (void)t;
  tip_acceleration(self, reaction_of_spring, q, v, a);
}

static void mass_minimal(void* self, double t, const double q[], const double v[], double a[]) {
  (void)t;
  a[0] = angular_acceleration(self, force_received, q[0], v[0]);
}

static void mass_augmented(void* self, double t, const double q[], const double v[], double a[]) {
  (void)t;
  tip_acceleration(self, force_received, q, v, a);
}

// Refuses parameters that make no pendulum.
static yoke_status check_parameters(const pendulum* p, const yoke_sink* sink) {
  const char* reason = NULL;
  if (!(p->m > 0.0 && isfinite(p->m)) || !(p->l > 0.0 && isfinite(p->l))) {
    reason = "m and l must be above 0";
  } else if (!isfinite(p->k) || !isfinite(p->c) || !isfinite(p->g) || !isfinite(p->pin[0]) ||
             !isfinite(p->pin[1])) {
    reason = "k, c, g and pin must be finite";
  } else if (!(p->alpha > 0.0) || !(p->w >= 0.0) || !(p->xi >= 0.0)) {
    reason = "alpha must be above 0, w and xi not below 0";
  } else if (p->iterations < 1 || p->iterations > MAX_ITERATIONS) {
    reason = "iterations must be between 1 and 1000";
  } else if (p->micro_steps < 1 || p->micro_steps > MAX_MICRO_STEPS) {
    reason = "micro_steps must be between 1 and 1000000";
  } else if (p->solver < YOKE_ODE_EULER || p->solver > YOKE_ODE_TRAPEZOIDAL) {
    reason = "unknown solver";
  } else if (yoke__ode_work_size((yoke_ode_method)p->solver, 2) > N_WORK) {
    reason = "the solver needs more work space than this model has";
  }
  if (reason != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
  }
  return YOKE_OK;
}

// Energy and constraint from tip and vtip.
static void update_measures(pendulum* p) {
  const double d[2] = {p->tip[0] - p->pin[0], p->tip[1] - p->pin[1]};
  const double speed2 = p->vtip[0] * p->vtip[0] + p->vtip[1] * p->vtip[1];

  // 1/2 m v^2 + m g (height above the pin)
  p->E = 0.5 * p->m * speed2 + p->m * p->g * d[1];
  p->Phi = d[0] * d[0] + d[1] * d[1] - p->l * p->l;
}

// Angle and angular velocity from tip and vtip; the angle goes on counting beyond half a turn.
static void update_angle(pendulum* p) {
  const double d[2] = {p->tip[0] - p->pin[0], p->tip[1] - p->pin[1]};

  // remainder keeps the turns counted so far
  p->theta += remainder(atan2(d[0], -d[1]) - p->theta, two_pi);

  // omega = (d x v) / |d|^2
  p->omega = (d[0] * p->vtip[1] - d[1] * p->vtip[0]) / (d[0] * d[0] + d[1] * d[1]);
}

// One internal step in the coordinates of the formulation.
static yoke_status micro_step(pendulum* p, yoke_ode_acceleration minimal,
                              yoke_ode_acceleration augmented, double t, double h) {
  double work[N_WORK];
  yoke_ode_corrector corrector = {0};
  const yoke_ode_method method = (yoke_ode_method)p->solver;

  // two coordinates of the tip, or one angle
  return p->formulation == AUGMENTED_LAGRANGIAN
             ? yoke__ode_step2(method, augmented, p, t, h, 2, p->tip, p->vtip, work, &corrector)
             : yoke__ode_step2(method, minimal, p, t, h, 1, &p->theta, &p->omega, work, &corrector);
}

// Steps of h / micro_steps with held inputs; brings tip, angle, energy and constraint up to date.
static yoke_status advance(pendulum* p, yoke_ode_acceleration minimal,
                           yoke_ode_acceleration augmented, double t, double h,
                           yoke_step_result* result) {
  const double h_micro = h / (double)p->micro_steps;
  yoke_status status = YOKE_OK;
  for (int64_t i = 0; i < p->micro_steps && status >= 0; i++) {
    status = micro_step(p, minimal, augmented, t + (double)i * h_micro, h_micro);
  }
  if (p->formulation == AUGMENTED_LAGRANGIAN) {
    update_angle(p);
  } else {
    tip_of_angle(p, p->theta, p->omega, p->tip, p->vtip);
  }
  update_measures(p);
  if (!isfinite(p->theta) || !isfinite(p->omega) || !isfinite(p->E)) {
    result->message = "the motion of the pendulum is no longer finite";
    return YOKE_DIVERGED;
  }
  if (status < 0) {
    result->message = "the integrator failed";
  }
  return status;
}

static yoke_status force_refresh(void* self, double t) {
  pendulum* p = self;
  (void)t;
  spring_force(p, p->tip, p->vtip, p->F);
  return YOKE_OK;
}

// The tip follows from the start values of theta and omega in both formulations.
static yoke_status mass_enter_init(void* self, double t_start, double t_stop,
                                   const yoke_sink* sink) {
  pendulum* p = self;
  (void)t_start;
  (void)t_stop;
  YOKE_TRY(check_parameters(p, sink));
  tip_of_angle(p, p->theta, p->omega, p->tip, p->vtip);
  update_measures(p);
  return YOKE_OK;
}

static yoke_status force_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  YOKE_TRY(mass_enter_init(self, t_start, t_stop, sink));
  return force_refresh(self, t_start);
}

// The force returned belongs to the new motion and to the inputs that were held: direct
// feedthrough.
static yoke_status force_step(void* self, double t, double h, yoke_step_result* result) {
  YOKE_TRY(advance(self, force_minimal, force_augmented, t, h, result));
  return force_refresh(self, t + h);
}

static yoke_status mass_step(void* self, double t, double h, yoke_step_result* result) {
  return advance(self, mass_minimal, mass_augmented, t, h, result);
}

// Nothing depends on the input at the same instant.
static yoke_status mass_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_pendulum_force = {
    .name = "pendulum.force",
    .text = "pendulum with the spring at its tip; receives motion, returns force",
    .info = &force_info,
    .enter_init = force_enter_init,
    .step = force_step,
    .refresh = force_refresh,
};

const yoke_unit_ops yoke__model_pendulum_mass = {
    .name = "pendulum.mass",
    .text = "pendulum; receives the force at its tip, returns motion",
    .info = &mass_info,
    .enter_init = mass_enter_init,
    .step = mass_step,
    .refresh = mass_refresh,
};
