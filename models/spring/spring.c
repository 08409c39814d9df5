// A massless element between two points on a line.
//
//   e = x1 - x2,  e' = v1 - v2
//   f = S(k, e) + D(c, e')
//   S = k e  or  k sgn(e) sqrt|e|,   D = c e'  or  c sgn(e') e'^2
//
// f pulls point 1 back and pushes point 2 on: the mass at point 1 gets -f, that at point 2 gets f.
// As a law it is evaluated by the master in force-force coupling; as a unit its step computes f
// from the inputs it was given, which are those of the start of the step.
// Source: the two-mass oscillators of the co-simulation benchmarks (README.md).
#include <math.h>
#include <stddef.h>

#include "models/models_support.h"
#include "models/spring/spring.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(member_, dim_, text_, causality_, start_)                                             \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(element, member_)             \
  }

// Both units use this struct; the linear one does not show the last two.
typedef struct element {
  double x1, v1, x2, v2;
  double f;
  double k, c;
  int64_t spring, damper;
} element;

enum { X1, V1, X2, V2, F };
enum { SPRING_LINEAR, SPRING_SQUARE_ROOT };
enum { DAMPER_LINEAR, DAMPER_QUADRATIC };

static const char* const spring_items[] = {"linear", "square-root", NULL};
static const char* const damper_items[] = {"linear", "quadratic", NULL};

static const yoke_variable linear_variables[] = {
    REAL(x1, "m", "position of point 1", YOKE_INPUT, 0.0),
    REAL(v1, "m/s", "velocity of point 1", YOKE_INPUT, 0.0),
    REAL(x2, "m", "position of point 2", YOKE_INPUT, 0.0),
    REAL(v2, "m/s", "velocity of point 2", YOKE_INPUT, 0.0),
    REAL(f, "N", "force on point 2; point 1 gets -f", YOKE_OUTPUT, 0.0),
    REAL(k, "N/m", "stiffness", YOKE_TUNABLE, 100.0),
    REAL(c, "N.s/m", "damping", YOKE_TUNABLE, 0.0),
};

// k and c change their dimension with the law, so none is given
static const yoke_variable nonlinear_variables[] = {
    REAL(x1, "m", "position of point 1", YOKE_INPUT, 0.0),
    REAL(v1, "m/s", "velocity of point 1", YOKE_INPUT, 0.0),
    REAL(x2, "m", "position of point 2", YOKE_INPUT, 0.0),
    REAL(v2, "m/s", "velocity of point 2", YOKE_INPUT, 0.0),
    REAL(f, "N", "force on point 2; point 1 gets -f", YOKE_OUTPUT, 0.0),
    REAL(k, NULL, "factor of the spring law", YOKE_TUNABLE, 100.0),
    REAL(c, NULL, "factor of the damper law", YOKE_TUNABLE, 0.0),
    {.name = "spring",
     .text = "law of the spring",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .start = SPRING_SQUARE_ROOT,
     .items = spring_items,
     .offset = offsetof(element, spring)},
    {.name = "damper",
     .text = "law of the damper",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .start = DAMPER_QUADRATIC,
     .items = damper_items,
     .offset = offsetof(element, damper)},
};

static const yoke_feedthrough all_inputs[] = {{F, X1}, {F, V1}, {F, X2}, {F, V2}};

static const yoke_unit_info linear_info = {
    .variables = linear_variables,
    .n_variables = COUNT(linear_variables),
    .feedthrough = all_inputs,
    .n_feedthrough = COUNT(all_inputs),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(element),
};

static const yoke_unit_info nonlinear_info = {
    .variables = nonlinear_variables,
    .n_variables = COUNT(nonlinear_variables),
    .feedthrough = all_inputs,
    .n_feedthrough = COUNT(all_inputs),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(element),
};

// The unit struct starts zeroed, so that the linear unit runs with both laws linear.
static yoke_status refresh(void* self, double t) {
  element* s = self;
  (void)t;

  // elongation and its rate
  const double e = s->x1 - s->x2, e_rate = s->v1 - s->v2;
  const double spring =
      s->spring == SPRING_SQUARE_ROOT ? s->k * copysign(sqrt(fabs(e)), e) : s->k * e;
  const double damper =
      s->damper == DAMPER_QUADRATIC ? s->c * copysign(e_rate * e_rate, e_rate) : s->c * e_rate;
  s->f = spring + damper;
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return refresh(self, t);
}

// df/de and df/de' at the present point. The square-root spring is infinitely stiff at e = 0.
static void slopes(const element* s, double* of_e, double* of_rate) {
  const double e = s->x1 - s->x2, e_rate = s->v1 - s->v2;

  // dS/de = k / (2 sqrt|e|) or k; dD/de' = 2 c |e'| or c
  *of_e = s->spring == SPRING_SQUARE_ROOT ? 0.5 * s->k / sqrt(fabs(e)) : s->k;
  *of_rate = s->damper == DAMPER_QUADRATIC ? 2.0 * s->c * fabs(e_rate) : s->c;
}

static bool partial(const void* self, size_t unknown, size_t known, double* slope) {
  double of_e = 0.0, of_rate = 0.0;
  slopes(self, &of_e, &of_rate);

  // f by x1, v1, x2, v2: the second point enters with the opposite sign
  const double all[] = {of_e, of_rate, -of_e, -of_rate};
  if (unknown != F || known > V2) {
    return false;
  }
  *slope = all[known];
  return true;
}

static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  return yoke__model_derivative(self, partial, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status linearise(void* self, yoke_linear* model) {
  model->n_states = 0;
  model->n_inputs = 4;
  model->n_outputs = 1;
  for (size_t i = 0; model->D != NULL && i < 4; i++) {
    (void)partial(self, F, i, &model->D[i]);
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_spring_damper = {
    .name = "spring_damper",
    .text = "linear spring and damper between two points",
    .info = &linear_info,
    .step = step,
    .refresh = refresh,
    .derivative = derivative,
    .linearise = linearise,
};

const yoke_unit_ops yoke__model_spring_damper_nonlinear = {
    .name = "spring_damper.nonlinear",
    .text = "square-root spring and quadratic damper between two points",
    .info = &nonlinear_info,
    .step = step,
    .refresh = refresh,
    .derivative = derivative,
    .linearise = linearise,
};
