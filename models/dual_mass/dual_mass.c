// Two masses on wall springs, joined by a spring and a damper whose coefficients follow the motion:
//   left    m x'' = -k x - c x' + f + pulses
//   right   m x2'' = -k x2 - c x2' - f        f = S(x2 - x) (x2 - x) + D(x2' - v) (x2' - v)
//   S(e) = kc |e|^n within [kc_min, kc_max],  D(e') = cc |e'|^n within [cc_min, cc_max]
// Without an exponent the coefficients are constant. Pulses are rectangles of pulse_length at every
// multiple of pulse_period, of height pulse_amplitude sin(pulse_omega t) at their start; they are
// counted in internal steps, so that time cannot drift past an edge. No input shows them: to a
// coupling they are a disturbance. Explicit Euler, because the published figures depend on it.
// Source: S. Genser, thesis, Graz 2020 (nonlinear dual mass oscillator). Assumes inputs that are
// constant during a call.
#include "models/dual_mass/dual_mass.h"

#include <math.h>
#include <stddef.h>

#include "models/models_support.h"

enum { MAX_MICRO_STEPS = 1000000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(struct_, member_, dim_, text_, causality_, start_)                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(struct_, member_)             \
  }
// without it the unit is linear
#define EXPONENT(member_, text_)                                                                   \
  {                                                                                                \
    .name = #member_, .dim = "1", .text = (text_), .type = YOKE_REAL, .causality = YOKE_PARAMETER, \
    .flags = YOKE_VARIABLE_NONLINEAR, .offset = offsetof(right, member_)                           \
  }
// a state that is also an output: it has a start value
#define STATE_OUTPUT(struct_, member_, dim_, text_)                                                \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT, \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(struct_, member_)                         \
  }
#define MICRO_STEPS(struct_)                                                                       \
  {                                                                                                \
    .name = "micro_steps", .dim = "1", .text = "internal steps per call", .type = YOKE_INTEGER,    \
    .causality = YOKE_PARAMETER, .start = 1, .offset = offsetof(struct_, micro_steps)              \
  }

static yoke_status refuse(const yoke_sink* sink, const char* reason) {
  return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
}

// What both masses have; NULL if it is sound.
static const char* fault_of_mass(double m, double k, double c, int64_t micro_steps) {
  if (!(m > 0.0 && isfinite(m))) {
    return "m must be above 0";
  }
  if (!isfinite(k) || !isfinite(c)) {
    return "k and c must be finite";
  }
  return micro_steps < 1 || micro_steps > MAX_MICRO_STEPS
             ? "micro_steps must be between 1 and 1000000"
             : NULL;
}

// ---- left

typedef struct left {
  double f;
  double x, v;
  double m, k, c;
  double pulse_amplitude, pulse_omega, pulse_period, pulse_length;
  int64_t micro_steps;
} left;

enum { LEFT_F, LEFT_X, LEFT_V };

static const yoke_variable left_variables[] = {
    REAL(left, f, "N", "force of the coupling element", YOKE_INPUT, 0.0),
    STATE_OUTPUT(left, x, "m", "displacement"),
    STATE_OUTPUT(left, v, "m/s", "velocity"),
    REAL(left, m, "kg", "mass", YOKE_PARAMETER, 10.0),
    REAL(left, k, "N/m", "stiffness to the wall", YOKE_PARAMETER, 1e6),
    REAL(left, c, "N.s/m", "damping to the wall", YOKE_PARAMETER, 1.0),
    REAL(left, pulse_amplitude, "N", "largest height of a pulse; 0: none", YOKE_PARAMETER, 0.0),
    REAL(left, pulse_omega, "rad/s", "of the sine that the heights follow", YOKE_PARAMETER, 10.0),
    REAL(left, pulse_period, "s", "from pulse to pulse", YOKE_PARAMETER, 0.05),
    REAL(left, pulse_length, "s", "of a pulse", YOKE_PARAMETER, 1e-3),
    MICRO_STEPS(left),
};

static const yoke_unit_info left_info = {
    .variables = left_variables,
    .n_variables = COUNT(left_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(left),
    .solver = {.method = YOKE_SOLVER_EULER, .parts = COUNT(left_variables)},
};

static yoke_status left_enter_init(void* self, double t_start, double t_stop,
                                   const yoke_sink* sink) {
  const left* o = self;
  (void)t_start;
  (void)t_stop;
  const char* fault = fault_of_mass(o->m, o->k, o->c, o->micro_steps);
  if (fault == NULL && (!isfinite(o->pulse_amplitude) || !isfinite(o->pulse_omega))) {
    fault = "pulse_amplitude and pulse_omega must be finite";
  }
  if (fault == NULL &&
      !(o->pulse_length > 0.0 && o->pulse_length <= o->pulse_period && isfinite(o->pulse_period))) {
    fault = "pulse_length must be above 0 and not longer than pulse_period";
  }
  return fault == NULL ? YOKE_OK : refuse(sink, fault);
}

// Force from outside in the internal step number `step` since t = 0, each of length h.
static double pulse_at(const left* o, int64_t step, double h) {
  // edges in whole internal steps: the same for every call length
  const int64_t period = llround(o->pulse_period / h), length = llround(o->pulse_length / h);
  if (period < 1 || step < 0 || step % period >= (length > 1 ? length : 1)) {
    return 0.0;
  }

  // height from the sine at the start of the pulse
  const int64_t n_pulse = step / period;
  const double t = (double)n_pulse * o->pulse_period;
  return o->pulse_amplitude * sin(o->pulse_omega * t);
}

static yoke_status left_step(void* self, double t, double h, yoke_step_result* result) {
  left* o = self;
  (void)result;
  const double micro = h / (double)o->micro_steps;

  // number of the first internal step since t = 0
  const int64_t first = o->pulse_amplitude != 0.0 ? llround(t / micro) : 0;
  for (int64_t i = 0; i < o->micro_steps; i++) {
    const double pulse = o->pulse_amplitude != 0.0 ? pulse_at(o, first + i, micro) : 0.0;
    // m a = -k x - c v + f + pulse
    const double a = (-o->k * o->x - o->c * o->v + o->f + pulse) / o->m;
    // explicit Euler: x with the old v
    o->x += micro * o->v;
    o->v += micro * a;
  }
  return YOKE_OK;
}

// outputs are the state: nothing to compute
static yoke_status left_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

// outputs by the force (no feedthrough) and by the motion
static bool left_partial(const void* self, size_t unknown, size_t known, double* partial) {
  (void)self;
  *partial = unknown == known ? 1.0 : 0.0;
  return (unknown == LEFT_X || unknown == LEFT_V) && known <= LEFT_V;
}

static yoke_status left_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]) {
  return yoke__model_derivative(self, left_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static void fill(double to[], size_t n, const double values[]) {
  for (size_t i = 0; to != NULL && i < n; i++) {
    to[i] = values[i];
  }
}

static yoke_status left_linearise(void* self, yoke_linear* model) {
  const left* o = self;

  // x' = v, m v' = -k x - c v + f
  const double A[] = {0, 1, -o->k / o->m, -o->c / o->m}, B[] = {0, 1 / o->m};
  static const double C[] = {1, 0, 0, 1}, D[] = {0, 0};
  model->n_states = model->n_outputs = 2;
  model->n_inputs = 1;
  fill(model->A, COUNT(A), A);
  fill(model->B, COUNT(B), B);
  fill(model->C, COUNT(C), C);
  fill(model->D, COUNT(D), D);
  return YOKE_OK;
}

// Position and velocity of a mass as variables `first` and the next one, and their rates.
static yoke_status mass_rates(size_t first, double v, double a, size_t states[], double dx[],
                              size_t n_states) {
  if (n_states != 2) {
    return YOKE_BAD_ARG;
  }
  if (states != NULL) {
    states[0] = first;
    states[1] = first + 1;
  }
  if (dx != NULL) {
    dx[0] = v;
    dx[1] = a;
  }
  return YOKE_OK;
}

// without the pulses: they are no input
static yoke_status left_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  const left* o = self;
  const double a = (-o->k * o->x - o->c * o->v + o->f) / o->m;
  return mass_rates(LEFT_X, o->v, a, states, dx, n_states);
}

const yoke_unit_ops yoke__model_dual_mass_left = {
    .name = "dual_mass.left",
    .text = "mass on a wall spring, with pulses from outside; receives force, returns motion",
    .info = &left_info,
    .enter_init = left_enter_init,
    .step = left_step,
    .refresh = left_refresh,
    .derivative = left_derivative,
    .linearise = left_linearise,
    .rates = left_rates,
};

// ---- right

// A coefficient that follows what it multiplies.
typedef struct law {
  double scale, exponent, min, max;
} law;

typedef struct right {
  double x, v;
  double f;
  double x2, v2;
  double m, k, c;
  double kc, kc_exponent, kc_min, kc_max;
  double cc, cc_exponent, cc_min, cc_max;
  int64_t micro_steps;
} right;

enum { RIGHT_X, RIGHT_V, RIGHT_F, RIGHT_X2, RIGHT_V2 };

static const yoke_variable right_variables[] = {
    REAL(right, x, "m", "displacement of the left mass", YOKE_INPUT, 0.0),
    REAL(right, v, "m/s", "velocity of the left mass", YOKE_INPUT, 0.0),
    REAL(right, f, "N", "force of the coupling element on the left mass", YOKE_OUTPUT, 0.0),
    REAL(right, x2, "m", "displacement", YOKE_STATE, 0.0),
    REAL(right, v2, "m/s", "velocity", YOKE_STATE, 0.0),
    REAL(right, m, "kg", "mass", YOKE_PARAMETER, 10.0),
    REAL(right, k, "N/m", "stiffness to the wall", YOKE_PARAMETER, 1e7),
    REAL(right, c, "N.s/m", "damping to the wall", YOKE_PARAMETER, 2.0),
    REAL(right, kc, NULL, "stiffness of the coupling element at 1 m", YOKE_PARAMETER, 1e5),
    EXPONENT(kc_exponent, "how it follows the stretch; 0: not at all"),
    REAL(right, kc_min, "N/m", "least stiffness; only with an exponent", YOKE_PARAMETER, 2.5e4),
    REAL(right, kc_max, "N/m", "largest stiffness; only with an exponent", YOKE_PARAMETER, 2.5e5),
    REAL(right, cc, NULL, "damping of the coupling element at 1 m/s", YOKE_PARAMETER, 1e3),
    EXPONENT(cc_exponent, "how it follows the rate; 0: not at all"),
    REAL(right, cc_min, "N.s/m", "least damping; only with an exponent", YOKE_PARAMETER, 5e2),
    REAL(right, cc_max, "N.s/m", "largest damping; only with an exponent", YOKE_PARAMETER, 3e3),
    MICRO_STEPS(right),
};

static const yoke_feedthrough right_feedthrough[] = {{RIGHT_F, RIGHT_X}, {RIGHT_F, RIGHT_V}};

static const yoke_unit_info right_info = {
    .variables = right_variables,
    .n_variables = COUNT(right_variables),
    .feedthrough = right_feedthrough,
    .n_feedthrough = COUNT(right_feedthrough),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(right),
    .solver = {.method = YOKE_SOLVER_EULER, .parts = COUNT(right_variables)},
};

static law spring_of(const right* o) {
  return (law){o->kc, o->kc_exponent, o->kc_min, o->kc_max};
}

static law damper_of(const right* o) {
  return (law){o->cc, o->cc_exponent, o->cc_min, o->cc_max};
}

// The coefficient before its limits; a root is common and cheaper.
static double free_coefficient(const law* l, double e) {
  // scale |e|^n
  return l->scale * (l->exponent == 0.5 ? sqrt(fabs(e)) : pow(fabs(e), l->exponent));
}

static double coefficient(const law* l, double e) {
  return l->exponent == 0.0 ? l->scale : fmax(fmin(free_coefficient(l, e), l->max), l->min);
}

// d(coefficient(e) e)/de. At the two limits that of the side within.
static double slope(const law* l, double e) {
  const double raw = l->exponent == 0.0 ? l->scale : free_coefficient(l, e);

  // at a limit the coefficient is constant: the slope of coefficient e is the coefficient
  if (l->exponent == 0.0 || raw < l->min || raw > l->max) {
    return coefficient(l, e);
  }

  // d/de (scale |e|^n e) = (n + 1) scale |e|^n
  return (1.0 + l->exponent) * raw;
}

static double coupling_force(const right* o) {
  const law spring = spring_of(o), damper = damper_of(o);
  const double e = o->x2 - o->x, rate = o->v2 - o->v;

  // f = S(e) e + D(e') e'
  return coefficient(&spring, e) * e + coefficient(&damper, rate) * rate;
}

// NULL if it is sound.
static const char* fault_of_law(const law* l) {
  if (!isfinite(l->scale) || !(l->exponent >= 0.0 && isfinite(l->exponent))) {
    return "kc and cc must be finite, their exponents 0 or above";
  }
  return !(l->min <= l->max) || !isfinite(l->min) ? "a lower limit must not be above the upper one"
                                                  : NULL;
}

static yoke_status right_refresh(void* self, double t) {
  right* o = self;
  (void)t;
  o->f = coupling_force(o);
  return YOKE_OK;
}

static yoke_status right_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  const right* o = self;
  (void)t_stop;
  const law spring = spring_of(o), damper = damper_of(o);
  const char* fault = fault_of_mass(o->m, o->k, o->c, o->micro_steps);
  fault = fault == NULL ? fault_of_law(&spring) : fault;
  fault = fault == NULL ? fault_of_law(&damper) : fault;
  return fault == NULL ? right_refresh(self, t_start) : refuse(sink, fault);
}

// The force returned belongs to the new motion and to the inputs that were held: direct
// feedthrough.
static yoke_status right_step(void* self, double t, double h, yoke_step_result* result) {
  right* o = self;
  (void)result;
  const double micro = h / (double)o->micro_steps;
  for (int64_t i = 0; i < o->micro_steps; i++) {
    const double a = (-o->k * o->x2 - o->c * o->v2 - coupling_force(o)) / o->m;
    o->x2 += micro * o->v2;
    o->v2 += micro * a;
  }
  return right_refresh(self, t);
}

// the force by both motions
static bool right_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const right* o = self;
  const law spring = spring_of(o), damper = damper_of(o);
  const bool is_spring = known == RIGHT_X || known == RIGHT_X2;
  const double size = is_spring ? slope(&spring, o->x2 - o->x) : slope(&damper, o->v2 - o->v);
  *partial = known == RIGHT_X || known == RIGHT_V ? -size : size;
  return unknown == RIGHT_F && known <= RIGHT_V2 && known != RIGHT_F;
}

static yoke_status right_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                    const size_t knowns[], size_t n_knowns, const double seed[],
                                    double out[]) {
  return yoke__model_derivative(self, right_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static yoke_status right_linearise(void* self, yoke_linear* model) {
  const right* o = self;
  const law spring = spring_of(o), damper = damper_of(o);
  const double ks = slope(&spring, o->x2 - o->x), cs = slope(&damper, o->v2 - o->v);
  const double A[] = {0, 1, -(o->k + ks) / o->m, -(o->c + cs) / o->m};
  const double B[] = {0, 0, ks / o->m, cs / o->m}, C[] = {ks, cs}, D[] = {-ks, -cs};
  model->n_states = model->n_inputs = 2;
  model->n_outputs = 1;
  fill(model->A, COUNT(A), A);
  fill(model->B, COUNT(B), B);
  fill(model->C, COUNT(C), C);
  fill(model->D, COUNT(D), D);
  return YOKE_OK;
}

static yoke_status right_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  const right* o = self;
  const double a = (-o->k * o->x2 - o->c * o->v2 - coupling_force(o)) / o->m;
  return mass_rates(RIGHT_X2, o->v2, a, states, dx, n_states);
}

const yoke_unit_ops yoke__model_dual_mass_right = {
    .name = "dual_mass.right",
    .text =
        "mass on a wall spring with a nonlinear coupling spring; receives motion, returns force",
    .info = &right_info,
    .enter_init = right_enter_init,
    .step = right_step,
    .refresh = right_refresh,
    .derivative = right_derivative,
    .linearise = right_linearise,
    .rates = right_rates,
};
