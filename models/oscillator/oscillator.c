// One mass tied to ground by a spring and a damper, and to a partner by a coupling element:
//   m x'' = -S(k, x) - D(c, x') - g          g = S(kc, x - x_other) + D(cc, x' - x_other')
//   S(k, e) = k e  or  k sgn(e) sqrt|e|      D(c, e') = c e'  or  c sgn(e') e'^2
// The three units differ in who evaluates g: `force` does and returns it as f, `mass` receives f in
// its place, `displacement` evaluates g and returns only its motion. Source: the two-mass
// oscillators of the explicit co-simulation literature (see README.md). Assumes inputs that are
// constant during one call of step.
#include "models/oscillator/oscillator.h"

#include <math.h>

#include "ode/ode.h"

enum { SPRING_LINEAR, SPRING_SQUARE_ROOT };
enum { DAMPER_LINEAR, DAMPER_QUADRATIC };
enum { N_WORK = 64, MAX_MICRO_STEPS = 1000000 };

static const char* const spring_items[] = {"linear", "square-root", NULL};
static const char* const damper_items[] = {"linear", "quadratic", NULL};

// All three units use this struct; each has its own table of the variables that it shows.
typedef struct oscillator {
  double x_other, v_other;
  double f;
  double x, v, E;
  double m, k, c, kc, cc, sign;
  int64_t spring, damper, solver, micro_steps;
} oscillator;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(member_, dim_, text_, causality_, start_)                                             \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(oscillator, member_)          \
  }
// a state that is also an output: it has a start value
#define STATE_OUTPUT(member_, dim_, text_, start_)                                                 \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT, \
    .flags = YOKE_VARIABLE_HAS_START, .start = (start_), .offset = offsetof(oscillator, member_)   \
  }
#define WHOLE(member_, text_, type_, start_, items_)                                               \
  {                                                                                                \
    .name = #member_, .dim = "1", .text = (text_), .type = (type_), .causality = YOKE_PARAMETER,   \
    .start = (start_), .items = (items_), .offset = offsetof(oscillator, member_)                  \
  }
#define WHOLE_ROWS                                                                                 \
  WHOLE(spring, "law of all springs", YOKE_ENUMERATION, SPRING_LINEAR, spring_items),              \
      WHOLE(damper, "law of all dampers", YOKE_ENUMERATION, DAMPER_LINEAR, damper_items),          \
      WHOLE(solver, "integrator", YOKE_ENUMERATION, YOKE_ODE_SEMI_IMPLICIT_EULER,                  \
            yoke__ode_method_names),                                                               \
      WHOLE(micro_steps, "internal steps per call", YOKE_INTEGER, 1, NULL)

static const yoke_variable force_variables[] = {
    REAL(x_other, "m", "displacement of the partner", YOKE_INPUT, 0.0),
    REAL(v_other, "m/s", "velocity of the partner", YOKE_INPUT, 0.0),
    REAL(f, "N", "force of the coupling element on the partner", YOKE_OUTPUT, 0.0),
    STATE_OUTPUT(x, "m", "displacement from equilibrium", 0.0),
    STATE_OUTPUT(v, "m/s", "velocity", 0.0),
    REAL(E, "J", "energy of the mass and its ground spring", YOKE_OUTPUT, 0.0),
    REAL(m, "kg", "mass", YOKE_PARAMETER, 1.0),
    REAL(k, "N/m", "stiffness to ground", YOKE_PARAMETER, 10.0),
    REAL(c, "N.s/m", "damping to ground", YOKE_PARAMETER, 0.0),
    REAL(kc, "N/m", "stiffness of the coupling element", YOKE_PARAMETER, 100.0),
    REAL(cc, "N.s/m", "damping of the coupling element", YOKE_PARAMETER, 0.0),
    WHOLE_ROWS,
};

static const yoke_variable mass_variables[] = {
    {.name = "f",
     .dim = "N",
     .text = "force received",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .offset = offsetof(oscillator, f)},
    STATE_OUTPUT(x, "m", "displacement from equilibrium", 0.0),
    STATE_OUTPUT(v, "m/s", "velocity", 0.0),
    REAL(E, "J", "energy of the mass and its ground spring", YOKE_OUTPUT, 0.0),
    REAL(m, "kg", "mass", YOKE_PARAMETER, 1.0),
    REAL(k, "N/m", "stiffness to ground", YOKE_PARAMETER, 1000.0),
    REAL(c, "N.s/m", "damping to ground", YOKE_PARAMETER, 0.0),
    REAL(sign, "1", "+1 or -1: the mass is pushed by sign * f", YOKE_PARAMETER, 1.0),
    WHOLE_ROWS,
};

static const yoke_variable displacement_variables[] = {
    REAL(x_other, "m", "displacement of the partner", YOKE_INPUT, 0.0),
    REAL(v_other, "m/s", "velocity of the partner", YOKE_INPUT, 0.0),
    STATE_OUTPUT(x, "m", "displacement from equilibrium", 0.0),
    STATE_OUTPUT(v, "m/s", "velocity", 0.0),
    REAL(E, "J", "energy of the mass and its ground spring", YOKE_OUTPUT, 0.0),
    REAL(m, "kg", "mass", YOKE_PARAMETER, 1.0),
    REAL(k, "N/m", "stiffness to ground", YOKE_PARAMETER, 10.0),
    REAL(c, "N.s/m", "damping to ground", YOKE_PARAMETER, 0.0),
    REAL(kc, "N/m", "stiffness of the coupling element", YOKE_PARAMETER, 100.0),
    REAL(cc, "N.s/m", "damping of the coupling element", YOKE_PARAMETER, 0.0),
    WHOLE_ROWS,
};

// f (2) depends on x_other (0) and v_other (1)
static const yoke_feedthrough force_feedthrough[] = {{2, 0}, {2, 1}};

static const yoke_unit_info force_info = {
    .variables = force_variables,
    .n_variables = COUNT(force_variables),
    .feedthrough = force_feedthrough,
    .n_feedthrough = COUNT(force_feedthrough),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(oscillator),
    .solver = {.choice = COUNT(force_variables) - 1,
               .parts = COUNT(force_variables),
               .methods = YOKE_ODE_SOLVERS},
};
static const yoke_unit_info mass_info = {
    .variables = mass_variables,
    .n_variables = COUNT(mass_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(oscillator),
    .solver = {.choice = COUNT(mass_variables) - 1,
               .parts = COUNT(mass_variables),
               .methods = YOKE_ODE_SOLVERS},
};
static const yoke_unit_info displacement_info = {
    .variables = displacement_variables,
    .n_variables = COUNT(displacement_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(oscillator),
    .solver = {.choice = COUNT(displacement_variables) - 1,
               .parts = COUNT(displacement_variables),
               .methods = YOKE_ODE_SOLVERS},
};

// S(k, e).
static double spring_force(const oscillator* o, double k, double e) {
  // copysign keeps the law odd: the force always pulls back
  return o->spring == SPRING_SQUARE_ROOT ? k * copysign(sqrt(fabs(e)), e) : k * e;
}

// D(c, e').
static double damper_force(const oscillator* o, double c, double rate) {
  // c e'^2 with the sign of e'
  return o->damper == DAMPER_QUADRATIC ? c * (rate * fabs(rate)) : c * rate;
}

// dS/de; infinite where the square-root spring is relaxed.
static double spring_slope(const oscillator* o, double k, double e) {
  return o->spring == SPRING_SQUARE_ROOT ? 0.5 * k / sqrt(fabs(e)) : k;
}

// dD/de'.
static double damper_slope(const oscillator* o, double c, double rate) {
  return o->damper == DAMPER_QUADRATIC ? 2.0 * c * fabs(rate) : c;
}

// g: the force of the coupling element on the partner; its opposite acts on this mass.
static double coupling_force(const oscillator* o, double x, double v) {
  return spring_force(o, o->kc, x - o->x_other) + damper_force(o, o->cc, v - o->v_other);
}

// x'' with the coupling element inside.
static double accelerate_coupled(const oscillator* o, double x, double v) {
  const double g = coupling_force(o, x, v);
  return (-spring_force(o, o->k, x) - damper_force(o, o->c, v) - g) / o->m;
}

// x'' under the force received.
static double accelerate_free(const oscillator* o, double x, double v) {
  return (-spring_force(o, o->k, x) - damper_force(o, o->c, v) + o->sign * o->f) / o->m;
}

// The same as yoke_ode_acceleration.
static void coupled_acceleration(void* self, double t, const double q[], const double v[],
                                 double a[]) {
  (void)t;
  a[0] = accelerate_coupled(self, q[0], v[0]);
}

static void free_acceleration(void* self, double t, const double q[], const double v[],
                              double a[]) {
  (void)t;
  a[0] = accelerate_free(self, q[0], v[0]);
}

static void update_energy(oscillator* o) {
  // integral of S over the elongation: 2/3 k |x|^{3/2} or 1/2 k x^2
  const double potential = o->spring == SPRING_SQUARE_ROOT
                               ? 2.0 / 3.0 * o->k * fabs(o->x) * sqrt(fabs(o->x))
                               : 0.5 * o->k * o->x * o->x;
  o->E = 0.5 * o->m * o->v * o->v + potential;
}

// Refuses parameters that make no oscillator.
static yoke_status check_parameters(const oscillator* o, const yoke_sink* sink) {
  const char* reason = NULL;
  if (!(o->m > 0.0 && isfinite(o->m))) {
    reason = "m must be above 0";
  } else if (!isfinite(o->k) || !isfinite(o->c) || !isfinite(o->kc) || !isfinite(o->cc)) {
    reason = "k, c, kc and cc must be finite";
  } else if (o->micro_steps < 1 || o->micro_steps > MAX_MICRO_STEPS) {
    reason = "micro_steps must be between 1 and 1000000";
  } else if (o->solver < YOKE_ODE_EULER || o->solver > YOKE_ODE_TRAPEZOIDAL) {
    reason = "unknown solver";
  } else if (yoke__ode_work_size((yoke_ode_method)o->solver, 1) > N_WORK) {
    reason = "the solver needs more work space than this model has";
  }
  if (reason != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
  }
  return YOKE_OK;
}

// Steps of h / micro_steps with held inputs.
static yoke_status advance(oscillator* o, yoke_ode_acceleration a, double t, double h,
                           yoke_step_result* result) {
  // inputs are held over all of them
  const double h_micro = h / (double)o->micro_steps;
  double work[N_WORK];
  for (int64_t i = 0; i < o->micro_steps; i++) {
    yoke_ode_corrector corrector = {0};
    const yoke_status status =
        yoke__ode_step2((yoke_ode_method)o->solver, a, o, t + (double)i * h_micro, h_micro, 1,
                        &o->x, &o->v, work, &corrector);
    if (status < 0) {
      result->message = "the integrator failed";
      return status;
    }
  }
  update_energy(o);
  return YOKE_OK;
}

// The default, one semi-implicit Euler step per call, is written out for speed: the same operations
// in the same order as yoke__ode_step2.
static bool is_default(const oscillator* o) {
  return o->solver == YOKE_ODE_SEMI_IMPLICIT_EULER && o->micro_steps == 1;
}

static void move(oscillator* o, double acceleration, double h) {
  // semi-implicit Euler: v first, x with the new v
  o->v += h * acceleration;
  o->x += h * o->v;
  update_energy(o);
}

static yoke_status force_refresh(void* self, double t) {
  oscillator* o = self;
  (void)t;
  o->f = coupling_force(o, o->x, o->v);
  update_energy(o);
  return YOKE_OK;
}

static yoke_status force_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  (void)t_stop;
  YOKE_TRY(check_parameters(self, sink));
  return force_refresh(self, t_start);
}

// The force returned belongs to the new motion and to the inputs that were held: direct
// feedthrough.
static yoke_status force_step(void* self, double t, double h, yoke_step_result* result) {
  oscillator* o = self;
  if (is_default(o)) {
    move(o, accelerate_coupled(o, o->x, o->v), h);
  } else {
    YOKE_TRY(advance(o, coupled_acceleration, t, h, result));
  }
  o->f = coupling_force(o, o->x, o->v);
  return YOKE_OK;
}

static yoke_status plain_refresh(void* self, double t) {
  (void)t;
  update_energy(self);
  return YOKE_OK;
}

static yoke_status mass_enter_init(void* self, double t_start, double t_stop,
                                   const yoke_sink* sink) {
  const oscillator* o = self;
  (void)t_stop;
  YOKE_TRY(check_parameters(self, sink));

  // which way the force received acts on this mass
  if (fabs(o->sign) != 1.0) {
    return yoke_fail(sink, YOKE_BAD_ARG, "sign must be 1 or -1");
  }
  return plain_refresh(self, t_start);
}

static yoke_status mass_step(void* self, double t, double h, yoke_step_result* result) {
  oscillator* o = self;
  if (!is_default(o)) {
    return advance(o, free_acceleration, t, h, result);
  }
  move(o, accelerate_free(o, o->x, o->v), h);
  return YOKE_OK;
}

static yoke_status displacement_enter_init(void* self, double t_start, double t_stop,
                                           const yoke_sink* sink) {
  (void)t_stop;
  YOKE_TRY(check_parameters(self, sink));
  return plain_refresh(self, t_start);
}

static yoke_status displacement_step(void* self, double t, double h, yoke_step_result* result) {
  oscillator* o = self;
  if (!is_default(o)) {
    return advance(o, coupled_acceleration, t, h, result);
  }
  move(o, accelerate_coupled(o, o->x, o->v), h);
  return YOKE_OK;
}

// d(output at offset `of`) / d(input or motion at offset `by`).
static double output_slope(const oscillator* o, size_t of, size_t by) {
  // a state that is an output too
  if (of == by) {
    return 1.0;
  }
  if (of == offsetof(oscillator, f)) {
    // the coupling element sees differences: own motion and the partner's enter with opposite signs
    const double ks = spring_slope(o, o->kc, o->x - o->x_other);
    const double cs = damper_slope(o, o->cc, o->v - o->v_other);
    switch (by) {
    case offsetof(oscillator, x):
      return ks;
    case offsetof(oscillator, v):
      return cs;
    case offsetof(oscillator, x_other):
      return -ks;
    case offsetof(oscillator, v_other):
      return -cs;
    default:
      return 0.0;
    }
  }
  if (of == offsetof(oscillator, E)) {
    // dE/dx = S(k, x), dE/dv = m v
    return by == offsetof(oscillator, x)   ? spring_force(o, o->k, o->x)
           : by == offsetof(oscillator, v) ? o->m * o->v
                                           : 0.0;
  }
  return 0.0;
}

// d(x'') / d(input or motion at offset `by`); has_coupling: the unit evaluates g itself.
static double acceleration_slope(const oscillator* o, bool has_coupling, size_t by) {
  const double ks = has_coupling ? spring_slope(o, o->kc, o->x - o->x_other) : 0.0;
  const double cs = has_coupling ? damper_slope(o, o->cc, o->v - o->v_other) : 0.0;
  switch (by) {
  case offsetof(oscillator, x):
    // own springs pull back, the partner's motion pulls along
    return -(spring_slope(o, o->k, o->x) + ks) / o->m;
  case offsetof(oscillator, v):
    return -(damper_slope(o, o->c, o->v) + cs) / o->m;
  case offsetof(oscillator, x_other):
    return ks / o->m;
  case offsetof(oscillator, v_other):
    return cs / o->m;
  case offsetof(oscillator, f):
    return has_coupling ? 0.0 : o->sign / o->m;
  default:
    return 0.0;
  }
}

static bool is_motion(size_t offset) {
  return offset == offsetof(oscillator, x) || offset == offsetof(oscillator, v);
}

// Directional derivative of outputs by inputs and by the motion x, v. Fails with YOKE_BAD_ARG for
// other variables and with YOKE_NO_SUPPORT where a square-root spring is relaxed (no derivative
// there).
static yoke_status derivative(const oscillator* o, const yoke_unit_info* info,
                              const size_t unknowns[], size_t n_unknowns, const size_t knowns[],
                              size_t n_knowns, const double seed[], double out[]) {
  for (size_t i = 0; i < n_unknowns; i++) {
    if (unknowns[i] >= info->n_variables || info->variables[unknowns[i]].causality != YOKE_OUTPUT) {
      return YOKE_BAD_ARG;
    }
    out[i] = 0.0;
    for (size_t j = 0; j < n_knowns; j++) {
      if (knowns[j] >= info->n_variables) {
        return YOKE_BAD_ARG;
      }
      const yoke_variable* by = &info->variables[knowns[j]];
      if (by->causality != YOKE_INPUT && !is_motion(by->offset)) {
        return YOKE_BAD_ARG;
      }
      out[i] += output_slope(o, info->variables[unknowns[i]].offset, by->offset) * seed[j];
    }
    // an infinite slope: the square-root spring is relaxed
    if (!isfinite(out[i])) {
      return YOKE_NO_SUPPORT;
    }
  }
  return YOKE_OK;
}

// Linear model at the present point; states x, v. YOKE_NO_SUPPORT where a slope is infinite.
static yoke_status linearise(const oscillator* o, const yoke_unit_info* info, bool has_coupling,
                             yoke_linear* model) {
  static const size_t states[] = {offsetof(oscillator, x), offsetof(oscillator, v)};
  size_t inputs[4];
  size_t outputs[4];
  size_t n_u = 0;
  size_t n_y = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    if (info->variables[i].causality == YOKE_INPUT) {
      inputs[n_u++] = info->variables[i].offset;
    } else if (info->variables[i].causality == YOKE_OUTPUT) {
      outputs[n_y++] = info->variables[i].offset;
    }
  }
  model->n_states = 2;
  model->n_inputs = n_u;
  model->n_outputs = n_y;

  // x' = v and the slopes of x''
  for (size_t j = 0; j < 2 && model->A != NULL; j++) {
    model->A[j] = j == 1 ? 1.0 : 0.0;
    model->A[2 + j] = acceleration_slope(o, has_coupling, states[j]);
    if (!isfinite(model->A[2 + j])) {
      return YOKE_NO_SUPPORT;
    }
  }
  for (size_t j = 0; j < n_u && model->B != NULL; j++) {
    model->B[j] = 0.0;
    model->B[n_u + j] = acceleration_slope(o, has_coupling, inputs[j]);
  }
  for (size_t i = 0; i < n_y && model->C != NULL; i++) {
    for (size_t j = 0; j < 2; j++) {
      model->C[2 * i + j] = output_slope(o, outputs[i], states[j]);
    }
  }
  for (size_t i = 0; i < n_y && model->D != NULL; i++) {
    for (size_t j = 0; j < n_u; j++) {
      model->D[n_u * i + j] = output_slope(o, outputs[i], inputs[j]);
    }
  }
  return YOKE_OK;
}

// The states x, v as variables, and x', v' at the present point; acceleration: of the unit at hand.
static yoke_status rates(const oscillator* o, const yoke_unit_info* info, double acceleration,
                         size_t states[], double dx[], size_t n_states) {
  if (n_states != 2) {
    return YOKE_BAD_ARG;
  }
  for (size_t i = 0; states != NULL && i < info->n_variables; i++) {
    const size_t offset = info->variables[i].offset;
    if (is_motion(offset)) {
      states[offset == offsetof(oscillator, x) ? 0 : 1] = i;
    }
  }
  if (dx != NULL) {
    dx[0] = o->v;
    dx[1] = acceleration;
  }
  return YOKE_OK;
}

static yoke_status force_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                    const size_t knowns[], size_t n_knowns, const double seed[],
                                    double out[]) {
  return derivative(self, &force_info, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status mass_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]) {
  return derivative(self, &mass_info, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status displacement_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                           const size_t knowns[], size_t n_knowns,
                                           const double seed[], double out[]) {
  return derivative(self, &displacement_info, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status force_linearise(void* self, yoke_linear* model) {
  return linearise(self, &force_info, true, model);
}

static yoke_status mass_linearise(void* self, yoke_linear* model) {
  return linearise(self, &mass_info, false, model);
}

static yoke_status displacement_linearise(void* self, yoke_linear* model) {
  return linearise(self, &displacement_info, true, model);
}

static yoke_status force_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  const oscillator* o = self;
  return rates(o, &force_info, accelerate_coupled(o, o->x, o->v), states, dx, n_states);
}

static yoke_status mass_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  const oscillator* o = self;
  return rates(o, &mass_info, accelerate_free(o, o->x, o->v), states, dx, n_states);
}

static yoke_status displacement_rates(const void* self, size_t states[], double dx[],
                                      size_t n_states) {
  const oscillator* o = self;
  return rates(o, &displacement_info, accelerate_coupled(o, o->x, o->v), states, dx, n_states);
}

const yoke_unit_ops yoke__model_oscillator_force = {
    .name = "oscillator.force",
    .text = "mass with the coupling element; receives motion, returns force",
    .info = &force_info,
    .enter_init = force_enter_init,
    .step = force_step,
    .refresh = force_refresh,
    .derivative = force_derivative,
    .linearise = force_linearise,
    .rates = force_rates,
};

const yoke_unit_ops yoke__model_oscillator_mass = {
    .name = "oscillator.mass",
    .text = "mass on a spring and a damper; receives force, returns motion",
    .info = &mass_info,
    .enter_init = mass_enter_init,
    .step = mass_step,
    .refresh = plain_refresh,
    .derivative = mass_derivative,
    .linearise = mass_linearise,
    .rates = mass_rates,
};

const yoke_unit_ops yoke__model_oscillator_displacement = {
    .name = "oscillator.displacement",
    .text = "mass with the coupling element; receives motion, returns motion",
    .info = &displacement_info,
    .enter_init = displacement_enter_init,
    .step = displacement_step,
    .refresh = plain_refresh,
    .derivative = displacement_derivative,
    .linearise = displacement_linearise,
    .rates = displacement_rates,
};
