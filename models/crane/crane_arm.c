// Mechanics of the hydraulic crane: a planar arm of two links in minimal coordinates q = (theta1,
// theta2), angles from the +x axis. Link 1 is uniform and hinged at the origin, link 2 is massless;
// point masses m2, m3 at their ends. The cylinder pushes between the fixed point (b, 0) and the
// middle of link 1:
//   M q'' + cor = fg + J^T f_h
//   M   = [ l1^2 (m1/3 + m2 + m3), l1 l2 m3 cos(th1-th2); sym, l2^2 m3 ]
//   cor = l1 l2 m3 sin(th1-th2) [ th2'^2; -th1'^2 ]
//   fg  = [ -l1 g (m1/2 + m2 + m3) cos th1; -l2 g m3 cos th2 ]
//   s   = sqrt(l1^2/4 + b^2 - l1 b cos th1),   J = [ l1 b sin th1 / (2 s), 0 ],   s' = J q'
// Source: hydraulic crane benchmark of the Laboratorio de Ingenieria Mecanica, A Coruna (see
// README.md). Assumes inputs that are constant during one call of step.
#include "models/crane/crane.h"

#include <math.h>

#include "ode/ode.h"

enum { N_WORK = 128, MAX_MICRO_STEPS = 1000000 };

#define PI_6    0.52359877559829887  // pi / 6
#define PI_2    1.5707963267948966   // pi / 2
#define SQRT3_2 0.86602540378443865  // sqrt(3) / 2

// Both units use this struct; each has its own table of the variables that it shows.
typedef struct crane_arm {
  double f_h, p1, p2;
  double s, v;
  double theta[2], omega[2];
  double E;
  double l1, l2, m1, m2, m3, b, g, a_p, c;
  int64_t solver, micro_steps;
} crane_arm;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(name_, member_, dim_, text_, causality_, start_)                                      \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = (causality_), \
    .start = (start_), .offset = offsetof(crane_arm, member_)                                      \
  }
// a state that is also an output: it has a start value
#define STATE_OUTPUT(name_, member_, dim_, text_, start_)                                          \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT,  \
    .flags = YOKE_VARIABLE_HAS_START, .start = (start_), .offset = offsetof(crane_arm, member_)    \
  }
#define WHOLE(name_, member_, text_, type_, start_, items_)                                        \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = (type_), .causality = YOKE_PARAMETER,    \
    .start = (start_), .items = (items_), .offset = offsetof(crane_arm, member_)                   \
  }
#define MOTION_ROWS                                                                                \
  REAL("s", s, "m", "length of the cylinder", YOKE_OUTPUT, 0.5),                                   \
      REAL("v", v, "m/s", "speed of the piston, s'", YOKE_OUTPUT, 0.0),                            \
      STATE_OUTPUT("theta1", theta[0], "rad", "angle of link 1", PI_6),                            \
      STATE_OUTPUT("theta2", theta[1], "rad", "angle of link 2", -PI_2),                           \
      REAL("E", E, "J", "mechanical energy, height above the hinge", YOKE_OUTPUT, 0.0),            \
      REAL("omega1", omega[0], "rad/s", "angular velocity of link 1", YOKE_STATE, 0.0),            \
      REAL("omega2", omega[1], "rad/s", "angular velocity of link 2", YOKE_STATE, 0.0)
#define PARAMETER_ROWS                                                                             \
  REAL("l1", l1, "m", "length of link 1", YOKE_PARAMETER, 1.0),                                    \
      REAL("l2", l2, "m", "length of link 2", YOKE_PARAMETER, 0.5),                                \
      REAL("m1", m1, "kg", "mass of link 1", YOKE_PARAMETER, 200.0),                               \
      REAL("m2", m2, "kg", "mass at the end of link 1", YOKE_PARAMETER, 250.0),                    \
      REAL("m3", m3, "kg", "mass at the end of link 2", YOKE_PARAMETER, 100.0),                    \
      REAL("b", b, "m", "position of the cylinder's foot on x", YOKE_PARAMETER, SQRT3_2),          \
      REAL("g", g, "m/s2", "gravity along -y", YOKE_PARAMETER, 9.81),                              \
      WHOLE("solver", solver, "integrator", YOKE_ENUMERATION, YOKE_ODE_SEMI_IMPLICIT_EULER,        \
            yoke__ode_method_names),                                                               \
      WHOLE("micro_steps", micro_steps, "internal steps per call", YOKE_INTEGER, 1, NULL)

static const yoke_variable arm_variables[] = {
    REAL("f_h", f_h, "N", "force of the cylinder, extending it", YOKE_INPUT, 0.0),
    MOTION_ROWS,
    PARAMETER_ROWS,
};

static const yoke_variable pressure_variables[] = {
    REAL("p1", p1, "Pa", "pressure that retracts the cylinder", YOKE_INPUT, 0.0),
    REAL("p2", p2, "Pa", "pressure that extends the cylinder", YOKE_INPUT, 0.0),
    MOTION_ROWS,
    REAL("f_h", f_h, "N", "force at the end of the last step", YOKE_STATE, 0.0),
    REAL("a_p", a_p, "m2", "area of the piston", YOKE_PARAMETER, 65e-4),
    REAL("c", c, "N.s/m", "friction of the piston", YOKE_PARAMETER, 1e5),
    PARAMETER_ROWS,
};

static const yoke_unit_info arm_info = {
    .variables = arm_variables,
    .n_variables = COUNT(arm_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(crane_arm),
    .solver = {.choice = COUNT(arm_variables) - 1,
               .parts = COUNT(arm_variables),
               .methods = YOKE_ODE_SOLVERS},
};
static const yoke_unit_info pressure_info = {
    .variables = pressure_variables,
    .n_variables = COUNT(pressure_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(crane_arm),
    .solver = {.choice = COUNT(pressure_variables) - 1,
               .parts = COUNT(pressure_variables),
               .methods = YOKE_ODE_SOLVERS},
};

// Length of the cylinder and its derivative by theta1.
static double cylinder_length(const crane_arm* arm, double theta1, double* slope) {
  // cosine rule: s^2 = (l1/2)^2 + b^2 - l1 b cos theta1; ds/dtheta1 = l1 b sin theta1 / (2 s)
  const double half = 0.5 * arm->l1;
  const double s = sqrt(half * half + arm->b * arm->b - arm->l1 * arm->b * cos(theta1));
  *slope = half * arm->b * sin(theta1) / s;
  return s;
}

static double piston_force(const crane_arm* arm, double speed) {
  // f_h = a_p (p2 - p1) - c s'
  return arm->a_p * (arm->p2 - arm->p1) - arm->c * speed;
}

// q'' under a force of the cylinder; J: ds/dtheta1.
static void arm_acceleration(const crane_arm* arm, const double q[2], const double w[2], double J,
                             double f_h, double a[2]) {
  // M = [M11 M12; M12 M22]
  const double cross = arm->l1 * arm->l2 * arm->m3;
  const double M11 = arm->l1 * arm->l1 * (arm->m1 / 3.0 + arm->m2 + arm->m3);
  const double M12 = cross * cos(q[0] - q[1]);
  const double M22 = arm->l2 * arm->l2 * arm->m3;

  // generalised forces minus the velocity terms
  const double lever = cross * sin(q[0] - q[1]);
  const double weight1 = arm->l1 * arm->g * (0.5 * arm->m1 + arm->m2 + arm->m3);
  const double weight2 = arm->l2 * arm->g * arm->m3;
  const double r1 = -weight1 * cos(q[0]) + J * f_h - lever * w[1] * w[1];
  const double r2 = -weight2 * cos(q[1]) + lever * w[0] * w[0];

  // 2 x 2 and well conditioned: M12^2 stays below M11 M22 whatever the angles
  const double det = M11 * M22 - M12 * M12;

  // Cramer's rule
  a[0] = (M22 * r1 - M12 * r2) / det;
  a[1] = (M11 * r2 - M12 * r1) / det;
}

// q'' under the force received (yoke_ode_acceleration).
static void force_rhs(void* self, double t, const double q[], const double v[], double a[]) {
  const crane_arm* arm = self;
  double J = 0.0;
  (void)t;
  (void)cylinder_length(arm, q[0], &J);
  arm_acceleration(arm, q, v, J, arm->f_h, a);
}

// q'' under the pressures received; the friction follows the arm's own motion
// (yoke_ode_acceleration).
static void pressure_rhs(void* self, double t, const double q[], const double v[], double a[]) {
  const crane_arm* arm = self;
  double J = 0.0;
  (void)t;
  (void)cylinder_length(arm, q[0], &J);
  arm_acceleration(arm, q, v, J, piston_force(arm, J * v[0]), a);
}

// s, v and E from the angles.
static void update_outputs(crane_arm* arm) {
  const double* q = arm->theta;
  const double* w = arm->omega;
  double J = 0.0;
  arm->s = cylinder_length(arm, q[0], &J);

  // s' = J theta1'
  arm->v = J * w[0];

  const double M11 = arm->l1 * arm->l1 * (arm->m1 / 3.0 + arm->m2 + arm->m3);
  const double M12 = arm->l1 * arm->l2 * arm->m3 * cos(q[0] - q[1]);
  const double M22 = arm->l2 * arm->l2 * arm->m3;

  // 1/2 w' M w, then potential energy of the centres of mass
  const double kinetic = 0.5 * M11 * w[0] * w[0] + 0.5 * M22 * w[1] * w[1] + M12 * w[0] * w[1];
  arm->E = kinetic + arm->l1 * arm->g * (0.5 * arm->m1 + arm->m2 + arm->m3) * sin(q[0]) +
           arm->l2 * arm->g * arm->m3 * sin(q[1]);
}

// Refuses parameters that make no arm.
static yoke_status check_parameters(const crane_arm* arm, const yoke_sink* sink) {
  const char* reason = NULL;
  if (!(arm->l1 > 0.0) || !(arm->l2 > 0.0) || !(arm->b > 0.0)) {
    reason = "l1, l2 and b must be above 0";
  } else if (arm->b == 0.5 * arm->l1) {
    reason = "b must differ from l1 / 2, else the cylinder can have no length";
  } else if (!(arm->m1 >= 0.0) || !(arm->m2 >= 0.0) || !(arm->m3 > 0.0) ||
             !(arm->m1 + arm->m2 > 0.0)) {
    reason = "m1 and m2 must not be below 0 nor both 0, m3 must be above 0";
  } else if (arm->micro_steps < 1 || arm->micro_steps > MAX_MICRO_STEPS) {
    reason = "micro_steps must be between 1 and 1000000";
  } else if (arm->solver < YOKE_ODE_EULER || arm->solver > YOKE_ODE_TRAPEZOIDAL) {
    reason = "unknown solver";
  } else if (yoke__ode_work_size((yoke_ode_method)arm->solver, 2) > N_WORK) {
    reason = "the solver needs more work space than this model has";
  }
  if (reason != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
  }
  return YOKE_OK;
}

// Steps of h / micro_steps with held inputs; says so when the motion is lost.
static yoke_status advance(crane_arm* arm, yoke_ode_acceleration rhs, double t, double h,
                           yoke_step_result* result) {
  const double h_micro = h / (double)arm->micro_steps;
  double work[N_WORK];
  yoke_status status = YOKE_OK;
  for (int64_t i = 0; i < arm->micro_steps && status >= 0; i++) {
    yoke_ode_corrector corrector = {0};
    status = yoke__ode_step2((yoke_ode_method)arm->solver, rhs, arm, t + (double)i * h_micro,
                             h_micro, 2, arm->theta, arm->omega, work, &corrector);
  }
  update_outputs(arm);
  if (!isfinite(arm->s) || !isfinite(arm->v) || !isfinite(arm->E)) {
    result->message = "the motion of the arm is no longer finite";
    return YOKE_DIVERGED;
  }
  if (status < 0) {
    result->message = "the integrator failed";
  }
  return status;
}

static yoke_status arm_enter_init(void* self, double t_start, double t_stop,
                                  const yoke_sink* sink) {
  (void)t_start;
  (void)t_stop;
  YOKE_TRY(check_parameters(self, sink));
  update_outputs(self);
  return YOKE_OK;
}

static yoke_status arm_step(void* self, double t, double h, yoke_step_result* result) {
  return advance(self, force_rhs, t, h, result);
}

// Nothing depends on the input at the same instant.
static yoke_status arm_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static yoke_status pressure_step(void* self, double t, double h, yoke_step_result* result) {
  crane_arm* arm = self;
  YOKE_TRY(advance(arm, pressure_rhs, t, h, result));
  arm->f_h = piston_force(arm, arm->v);
  return YOKE_OK;
}

// No output moves; the force kept for reading does.
static yoke_status pressure_refresh(void* self, double t) {
  crane_arm* arm = self;
  (void)t;
  arm->f_h = piston_force(arm, arm->v);
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_crane_arm = {
    .name = "crane.arm",
    .text = "two-link arm; receives the force of the cylinder, returns its motion",
    .info = &arm_info,
    .enter_init = arm_enter_init,
    .step = arm_step,
    .refresh = arm_refresh,
};

const yoke_unit_ops yoke__model_crane_arm_pressure = {
    .name = "crane.arm.pressure",
    .text = "two-link arm; receives the pressures of the cylinder, returns its motion",
    .info = &pressure_info,
    .enter_init = arm_enter_init,
    .step = pressure_step,
    .refresh = pressure_refresh,
};
