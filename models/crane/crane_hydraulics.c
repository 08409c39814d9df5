// Hydraulics of the crane: a differential cylinder fed through a valve of opening kappa.
//   p1' = beta(p1)/(a_p L1) [ +a_p s' + a_i c_d sq(2(p_P-p1)/rho) - a_o c_d sq(2(p1-p_T)/rho) ]
//   p2' = beta(p2)/(a_p L2) [ -a_p s' + a_o c_d sq(2(p_P-p2)/rho) - a_i c_d sq(2(p2-p_T)/rho) ]
//   sq(z) = sqrt(z) for z > 0, else 0          beta(p) = (1 + a p + b p^2)/(a + 2 b p)
//   a_i = a_v kappa,  a_o = a_v (1 - kappa)    L1 = l3/2 + s_start - s,  L2 = l3/2 + s - s_start
//   f_h = a_p (p2 - p1) - c s'
// Static start under the load f_start: with r = f_start/(a_p (p_P - p_T)) both chambers rest at
//   p1 = p_T + (1-r)/2 (p_P - p_T),  p2 = p_T + (1+r)/2 (p_P - p_T)
// for kappa0 = sqrt(1-r)/(sqrt(1-r) + sqrt(1+r)), the root of 2 r k^2 + (2-2r) k + (r-1) = 0 in (0,
// 1) without its cancellation. The rest position is unstable, so kappa0 is needed to full
// precision. Source: hydraulic crane benchmark of the Laboratorio de Ingenieria Mecanica, A Coruna
// (see README.md). Assumes inputs that are constant during one call of step; kappa is constant
// during one internal step.
#include "models/crane/crane.h"

#include <math.h>

#include "ode/ode.h"

enum { N_WORK = 128, MAX_MICRO_STEPS = 1000000 };
enum { MANOEUVRE_NONE, MANOEUVRE_M1, MANOEUVRE_M2, MANOEUVRE_M5 };
typedef enum fault { FAULT_NONE, FAULT_PISTON, FAULT_PRESSURE } fault;

static const char* const manoeuvre_items[] = {"none", "m1", "m2", "m5", NULL};
static const double two_pi = 6.283185307179586;

// Both units use this struct; each has its own table of the variables that it shows.
typedef struct hydraulics {
  double s, v;
  double f_h, p[2], kappa;
  double kappa0;
  double a_p, l3, c, c_d, rho, p_P, p_T, a_v, a, b;
  double f_start, s_start;
  double amplitude, frequency, offset;
  int64_t static_start, manoeuvre, solver, micro_steps;
  int64_t found;  // what went wrong inside the right-hand side (fault)
} hydraulics;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(name_, member_, dim_, text_, causality_, start_)                                      \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = (causality_), \
    .start = (start_), .offset = offsetof(hydraulics, member_)                                     \
  }
// a state that is also an output: it has a start value
#define STATE_OUTPUT(name_, member_, dim_, text_, start_)                                          \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT,  \
    .flags = YOKE_VARIABLE_HAS_START, .start = (start_), .offset = offsetof(hydraulics, member_)   \
  }
#define WHOLE(name_, member_, text_, type_, start_, items_)                                        \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = (type_), .causality = YOKE_PARAMETER,    \
    .start = (start_), .items = (items_), .offset = offsetof(hydraulics, member_)                  \
  }
#define INPUT_ROWS                                                                                 \
  REAL("s", s, "m", "length of the cylinder", YOKE_INPUT, 0.5),                                    \
      REAL("v", v, "m/s", "speed of the piston, s'", YOKE_INPUT, 0.0)
#define PRESSURE_ROWS                                                                              \
  STATE_OUTPUT("p1", p[0], "Pa", "pressure that retracts the cylinder", 3170846.1538),             \
      STATE_OUTPUT("p2", p[1], "Pa", "pressure that extends the cylinder", 4529153.8462),          \
      REAL("kappa", kappa, "1", "opening of the valve", YOKE_OUTPUT, 0.5),                         \
      REAL("kappa0", kappa0, "1", "opening at rest", YOKE_STATE, 0.45434559)
#define PARAMETER_ROWS                                                                             \
  REAL("a_p", a_p, "m2", "area of the piston", YOKE_PARAMETER, 65e-4),                             \
      REAL("l3", l3, "m", "length of the cylinder's inside", YOKE_PARAMETER, 0.442),               \
      REAL("c_d", c_d, "1", "discharge coefficient of the valve", YOKE_PARAMETER, 0.67),           \
      REAL("rho", rho, "kg/m3", "density of the oil", YOKE_PARAMETER, 850.0),                      \
      REAL("p_P", p_P, "Pa", "pressure of the pump", YOKE_PARAMETER, 7.6e6),                       \
      REAL("p_T", p_T, "Pa", "pressure of the tank", YOKE_PARAMETER, 0.1e6),                       \
      REAL("a_v", a_v, "m2", "area of the open valve", YOKE_PARAMETER, 5e-4),                      \
      REAL("a", a, "1/Pa", "bulk modulus, linear coefficient", YOKE_PARAMETER, 6.53e-10),          \
      REAL("b", b, "1/Pa2", "bulk modulus, quadratic coefficient", YOKE_PARAMETER, -1.19e-18),     \
      REAL("f_start", f_start, "N", "load at the static start", YOKE_PARAMETER, 8829.0),           \
      REAL("s_start", s_start, "m", "length with the piston in the middle", YOKE_PARAMETER, 0.5),  \
      WHOLE("static_start", static_start, "start at rest under f_start: sets p1, p2, kappa0",      \
            YOKE_BOOLEAN, 1, NULL),                                                                \
      WHOLE("manoeuvre", manoeuvre, "how the valve moves", YOKE_ENUMERATION, MANOEUVRE_M2,         \
            manoeuvre_items),                                                                      \
      REAL("amplitude", amplitude, "1", "of m2, relative to kappa0", YOKE_PARAMETER, 0.1),         \
      REAL("frequency", frequency, "Hz", "of m2", YOKE_PARAMETER, 2.0),                            \
      REAL("offset", offset, "1", "of m1 and m5, absolute", YOKE_PARAMETER, 0.01),                 \
      WHOLE("solver", solver, "integrator; not semi-implicit-euler", YOKE_ENUMERATION,             \
            YOKE_ODE_EULER, yoke__ode_method_names),                                               \
      WHOLE("micro_steps", micro_steps, "internal steps per call", YOKE_INTEGER, 1, NULL)

static const yoke_variable force_variables[] = {
    INPUT_ROWS,     REAL("f_h", f_h, "N", "force of the cylinder, extending it", YOKE_OUTPUT, 0.0),
    PRESSURE_ROWS,  REAL("c", c, "N.s/m", "friction of the piston", YOKE_PARAMETER, 1e5),
    PARAMETER_ROWS,
};

static const yoke_variable pressure_variables[] = {
    INPUT_ROWS,
    PRESSURE_ROWS,
    PARAMETER_ROWS,
};

// f_h (2) depends on v (1) through the friction
static const yoke_feedthrough force_feedthrough[] = {{2, 1}};

static const yoke_unit_info force_info = {
    .variables = force_variables,
    .n_variables = COUNT(force_variables),
    .feedthrough = force_feedthrough,
    .n_feedthrough = COUNT(force_feedthrough),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(hydraulics),
    .solver = {.choice = COUNT(force_variables) - 1,
               .parts = COUNT(force_variables),
               .methods = YOKE_ODE_SOLVERS},
};
static const yoke_unit_info pressure_info = {
    .variables = pressure_variables,
    .n_variables = COUNT(pressure_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(hydraulics),
    .solver = {.choice = COUNT(pressure_variables) - 1,
               .parts = COUNT(pressure_variables),
               .methods = YOKE_ODE_SOLVERS},
};

// 0 before t0, 1 from t0 + duration on, a straight line between.
static double ramp(double t, double t0, double duration) {
  // 0 before t0, 1 behind the ramp
  return fmin(fmax((t - t0) / duration, 0.0), 1.0);
}

// Envelope of m2: up in the first second, down in the ninth.
static double envelope(double t) {
  return t < 1.0 ? t : t < 8.0 ? 1.0 : t < 9.0 ? 9.0 - t : 0.0;
}

// kappa(t) of the chosen manoeuvre; t in seconds of simulation time.
static double opening(const hydraulics* h, double t) {
  switch (h->manoeuvre) {
  case MANOEUVRE_M1:  // to -offset at 2 s, from there to +2 offset at 6 s
    // both ramps take milliseconds: a step of the valve with a finite slope
    return h->kappa0 + h->offset * (3.0 * ramp(t, 6.0, 2e-3) - ramp(t, 2.0, 1e-3));
  case MANOEUVRE_M2:
    // relative to kappa0
    return h->kappa0 * (1.0 - h->amplitude * envelope(t) * sin(two_pi * h->frequency * t));
  case MANOEUVRE_M5:
    return h->kappa0 + h->offset * (ramp(t, 1.0, 0.2) - ramp(t, 4.0, 0.2) - ramp(t, 5.0, 0.2) +
                                    ramp(t, 8.0, 0.2));
  default:
    return h->kappa0;
  }
}

static double root(double z) {
  // a flow never turns by itself: the valve lets oil through downhill only
  return z > 0.0 ? sqrt(z) : 0.0;
}

// Net flow into a chamber at pressure p through an inlet from the pump and an outlet to the tank.
static double valve_flow(const hydraulics* h, double p, double inlet, double outlet) {
  // turbulent flow: area c_d sqrt(2 dp / rho), in from the pump, out to the tank
  return inlet * h->c_d * root(2.0 * (h->p_P - p) / h->rho) -
         outlet * h->c_d * root(2.0 * (p - h->p_T) / h->rho);
}

// p1', p2' (yoke_ode_rhs). Outside the range of the model the rates are 0 and self->found says why.
static void pressure_rates(void* self, double t, const double p[], double dp[]) {
  hydraulics* h = self;
  (void)t;

  // lengths of both oil columns
  const double L[2] = {0.5 * h->l3 + h->s_start - h->s, 0.5 * h->l3 + h->s - h->s_start};
  const double inlet = h->a_v * h->kappa;
  const double outlet = h->a_v * (1.0 - h->kappa);

  // volume rate of the piston and flow through the valve
  const double flow[2] = {h->a_p * h->v + valve_flow(h, p[0], inlet, outlet),
                          -h->a_p * h->v + valve_flow(h, p[1], outlet, inlet)};
  for (int i = 0; i < 2; i++) {
    // a diverging run leaves the cylinder or the range in which the bulk modulus is positive
    // beta(p) = (1 + a p + b p^2) / (a + 2 b p)
    const double numerator = 1.0 + h->a * p[i] + h->b * p[i] * p[i];
    const double denominator = h->a + 2.0 * h->b * p[i];
    dp[i] = 0.0;
    if (!(L[i] > 0.0)) {
      h->found = FAULT_PISTON;
    } else if (!(numerator > 0.0 && denominator > 0.0)) {
      h->found = FAULT_PRESSURE;
    } else {
      // p' = beta / V flow, V = a_p L
      dp[i] = numerator / denominator / (h->a_p * L[i]) * flow[i];
    }
  }
}

// Refuses parameters that make no cylinder.
static yoke_status check_parameters(const hydraulics* h, const yoke_sink* sink) {
  const char* reason = NULL;
  if (!(h->a_p > 0.0) || !(h->l3 > 0.0) || !(h->rho > 0.0) || !(h->a_v > 0.0) || !(h->c_d > 0.0)) {
    reason = "a_p, l3, rho, a_v and c_d must be above 0";
  } else if (!(h->p_P > h->p_T) || !(h->p_T >= 0.0)) {
    reason = "p_P must be above p_T, and p_T not below 0";
  } else if (!(h->a > 0.0) || !isfinite(h->b)) {
    reason = "a must be above 0 and b finite";
  } else if (h->micro_steps < 1 || h->micro_steps > MAX_MICRO_STEPS) {
    reason = "micro_steps must be between 1 and 1000000";
  } else if (h->solver == YOKE_ODE_SEMI_IMPLICIT_EULER) {
    reason =
        "solver semi-implicit-euler needs a second-order system; the pressures are of first order";
  } else if (h->solver < YOKE_ODE_EULER || h->solver > YOKE_ODE_TRAPEZOIDAL) {
    reason = "unknown solver";
  } else if (yoke__ode_work_size((yoke_ode_method)h->solver, 2) > N_WORK) {
    reason = "the solver needs more work space than this model has";
  }
  if (reason != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
  }
  return YOKE_OK;
}

// Rest under f_start, in closed form (see the top). YOKE_BAD_ARG if the pump cannot carry the load.
static yoke_status start_at_rest(hydraulics* h, const yoke_sink* sink) {
  const double span = h->p_P - h->p_T;

  // share of the pump's span that the load takes
  const double r = h->f_start / (h->a_p * span);
  if (!(fabs(r) < 1.0)) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "no static start: f_start = %g N is beyond a_p (p_P - p_T) = %g N", h->f_start,
                     h->a_p * span);
  }

  // kappa0 = sqrt(1 - r) / (sqrt(1 - r) + sqrt(1 + r)): no cancellation
  const double low = sqrt(1.0 - r);
  const double high = sqrt(1.0 + r);
  h->kappa0 = low / (low + high);
  h->p[0] = h->p_T + 0.5 * (1.0 - r) * span;
  h->p[1] = h->p_T + 0.5 * (1.0 + r) * span;
  return YOKE_OK;
}

static yoke_status pressure_refresh(void* self, double t) {
  hydraulics* h = self;
  h->kappa = opening(h, t);
  return YOKE_OK;
}

static yoke_status pressure_enter_init(void* self, double t_start, double t_stop,
                                       const yoke_sink* sink) {
  hydraulics* h = self;
  (void)t_stop;
  YOKE_TRY(check_parameters(h, sink));
  if (h->static_start != 0) {
    YOKE_TRY(start_at_rest(h, sink));
  }
  h->found = FAULT_NONE;
  return pressure_refresh(h, t_start);
}

// Steps of length / micro_steps with held inputs; the valve opening is renewed before each.
static yoke_status pressure_step(void* self, double t, double length, yoke_step_result* result) {
  hydraulics* h = self;
  const double h_micro = length / (double)h->micro_steps;
  double work[N_WORK];
  for (int64_t i = 0; i < h->micro_steps; i++) {
    // t + i h_micro, not a sum: no drift
    const double t_micro = t + (double)i * h_micro;
    yoke_ode_corrector corrector = {0};
    h->kappa = opening(h, t_micro);
    const yoke_status status = yoke__ode_step((yoke_ode_method)h->solver, pressure_rates, h,
                                              t_micro, h_micro, 2, h->p, work, &corrector);
    if (h->found != FAULT_NONE || !isfinite(h->p[0]) || !isfinite(h->p[1])) {
      result->message = h->found == FAULT_PISTON
                            ? "the piston has left the cylinder"
                            : "a pressure has left the range of the bulk modulus";
      return YOKE_DIVERGED;
    }
    if (status < 0) {
      result->message = "the integrator failed";
      return status;
    }
  }
  h->kappa = opening(h, t + length);
  return YOKE_OK;
}

static yoke_status force_refresh(void* self, double t) {
  hydraulics* h = self;

  // f_h = a_p (p2 - p1) - c v
  h->f_h = h->a_p * (h->p[1] - h->p[0]) - h->c * h->v;
  return pressure_refresh(h, t);
}

static yoke_status force_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  YOKE_TRY(pressure_enter_init(self, t_start, t_stop, sink));
  return force_refresh(self, t_start);
}

// The force returned belongs to the new pressures and to the speed that was held: direct
// feedthrough.
static yoke_status force_step(void* self, double t, double h, yoke_step_result* result) {
  YOKE_TRY(pressure_step(self, t, h, result));
  return force_refresh(self, t + h);
}

const yoke_unit_ops yoke__model_crane_hydraulics = {
    .name = "crane.hydraulics",
    .text = "cylinder and valve; receives motion, returns the force",
    .info = &force_info,
    .enter_init = force_enter_init,
    .step = force_step,
    .refresh = force_refresh,
};

const yoke_unit_ops yoke__model_crane_hydraulics_pressure = {
    .name = "crane.hydraulics.pressure",
    .text = "cylinder and valve; receives motion, returns the pressures",
    .info = &pressure_info,
    .enter_init = pressure_enter_init,
    .step = pressure_step,
    .refresh = pressure_refresh,
};
