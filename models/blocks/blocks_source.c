// Sources: signals of time, without inputs and without state.
//
//   constant  y = value
//   sine      y = offset + amplitude sin(2 pi frequency (t - t0) + phase)
//   step      y = before for t < time, after for t >= time
//   ramp      y = offset + slope clamp(t - t0, 0, duration)
//
// The output after a step is that of the end of the step; on request its integral over the step is computed exactly. Times are compared with the rounding of
// t0 + k h in mind: a step at 0.8 s happens at the eighth step of 0.1 s on every machine.
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "models/blocks/blocks.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PI           3.14159265358979323846

// one row of a table of variables: a real that lies in `struct_`
#define REAL(struct_, member_, dim_, text_, causality_, start_)                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(struct_, member_)             \
  }

// True if t is `time` or later, up to a few roundings.
static bool is_reached(double t, double time) {
  return t - time >= -4.0 * DBL_EPSILON * (fabs(t) + fabs(time));
}

// ---- integrals of the only output

typedef struct integral {
  double value;     // over the last step
  int64_t is_kept;  // somebody wants it
} integral;

static yoke_status choose(integral* kept, const size_t outputs[], size_t n) {
  if (n > 1 || (n == 1 && outputs[0] != 0)) {
    return YOKE_BAD_ARG;
  }
  kept->is_kept = n == 1;
  return YOKE_OK;
}

static yoke_status read_integral(const integral* kept, double integrals[], size_t n) {
  if (n != 1 || !kept->is_kept) {
    return YOKE_BAD_ARG;
  }
  integrals[0] = kept->value;
  return YOKE_OK;
}

// the two operations for a unit with a member `kept`
#define INTEGRAL_OPS(type_)                                                                        \
  static yoke_status type_##_choose(void* self, const size_t outputs[], size_t n) {                \
    return choose(&((type_*)self)->kept, outputs, n);                                              \
  }                                                                                                \
  static yoke_status type_##_integrals(const void* self, double integrals[], size_t n) {           \
    return read_integral(&((const type_*)self)->kept, integrals, n);                               \
  }

// ---- constant

typedef struct constant {
  double y, value;
} constant;

static const yoke_variable constant_variables[] = {
    REAL(constant, y, NULL, "value", YOKE_OUTPUT, 0.0),
    REAL(constant, value, NULL, "value of the output", YOKE_TUNABLE, 0.0),
};

static const yoke_unit_info constant_info = {
    .variables = constant_variables,
    .n_variables = COUNT(constant_variables),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT,
    .self_size = sizeof(constant),
};

static yoke_status constant_refresh(void* self, double t) {
  constant* c = self;
  (void)t;
  c->y = c->value;
  return YOKE_OK;
}

static yoke_status constant_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return constant_refresh(self, t);
}

const yoke_unit_ops yoke__model_constant = {
    .name = "constant",
    .text = "a value that does not change by itself",
    .info = &constant_info,
    .step = constant_step,
    .refresh = constant_refresh,
};

// ---- sine

typedef struct sine {
  double y;
  double offset, amplitude, frequency, t0, phase;
  integral kept;
} sine;

static const yoke_variable sine_variables[] = {
    REAL(sine, y, NULL, "signal", YOKE_OUTPUT, 0.0),
    REAL(sine, offset, NULL, "mean value", YOKE_TUNABLE, 0.0),
    REAL(sine, amplitude, NULL, "amplitude", YOKE_TUNABLE, 1.0),
    REAL(sine, frequency, "Hz", "frequency", YOKE_TUNABLE, 1.0),
    REAL(sine, t0, "s", "time of phase zero", YOKE_TUNABLE, 0.0),
    REAL(sine, phase, "rad", "phase at t0", YOKE_TUNABLE, 0.0),
};

static const yoke_unit_info sine_info = {
    .variables = sine_variables,
    .n_variables = COUNT(sine_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(sine),
};

static yoke_status sine_refresh(void* self, double t) {
  sine* s = self;
  s->y = s->offset + s->amplitude * sin(2.0 * PI * s->frequency * (t - s->t0) + s->phase);
  return YOKE_OK;
}

// h times the value in the middle, damped by sin(omega h/2) / (omega h/2)
static double integrate_sine(const sine* s, double t, double h) {
  const double half = PI * s->frequency * h;
  const double middle = 2.0 * PI * s->frequency * (t + 0.5 * h - s->t0) + s->phase;
  const double damping = fabs(half) < 1e-8 ? 1.0 : sin(half) / half;
  return h * (s->offset + s->amplitude * damping * sin(middle));
}

static yoke_status sine_step(void* self, double t, double h, yoke_step_result* result) {
  sine* s = self;
  if (s->kept.is_kept) {
    s->kept.value = integrate_sine(s, t, h);
  }
  return sine_refresh(self, result->t_reached);
}

INTEGRAL_OPS(sine)

const yoke_unit_ops yoke__model_sine = {
    .name = "sine",
    .text = "sine wave",
    .info = &sine_info,
    .step = sine_step,
    .refresh = sine_refresh,
    .choose_integrals = sine_choose,
    .get_integrals = sine_integrals,
};

// ---- step

typedef struct step {
  double y;
  double before, after, time;
  integral kept;
} step;

static const yoke_variable step_variables[] = {
    REAL(step, y, NULL, "signal", YOKE_OUTPUT, 0.0),
    REAL(step, before, NULL, "value before the step", YOKE_TUNABLE, 0.0),
    REAL(step, after, NULL, "value from the step on", YOKE_TUNABLE, 1.0),
    REAL(step, time, "s", "time of the step", YOKE_TUNABLE, 0.0),
};

static const yoke_unit_info step_info = {
    .variables = step_variables,
    .n_variables = COUNT(step_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(step),
};

static yoke_status step_refresh(void* self, double t) {
  step* s = self;
  s->y = is_reached(t, s->time) ? s->after : s->before;
  return YOKE_OK;
}

// The jump is announced, so that extrapolation does not shoot over it.
static yoke_status step_step(void* self, double t, double h, yoke_step_result* result) {
  step* s = self;
  const double before = s->y;
  if (s->kept.is_kept) {
    const double waiting = fmin(fmax(s->time - t, 0.0), h);
    s->kept.value = waiting * s->before + (h - waiting) * s->after;
  }
  YOKE_TRY(step_refresh(self, result->t_reached));
  result->flags |= s->y != before ? YOKE_STEP_EVENT_NEEDED : 0;
  return YOKE_OK;
}

INTEGRAL_OPS(step)

const yoke_unit_ops yoke__model_step = {
    .name = "step",
    .text = "step from one value to another",
    .info = &step_info,
    .step = step_step,
    .refresh = step_refresh,
    .choose_integrals = step_choose,
    .get_integrals = step_integrals,
};

// ---- ramp

typedef struct ramp {
  double y;
  double offset, slope, t0, duration;
  integral kept;
} ramp;

static const yoke_variable ramp_variables[] = {
    REAL(ramp, y, NULL, "signal", YOKE_OUTPUT, 0.0),
    REAL(ramp, offset, NULL, "value before the ramp", YOKE_TUNABLE, 0.0),
    REAL(ramp, slope, NULL, "rise per second", YOKE_TUNABLE, 1.0),
    REAL(ramp, t0, "s", "time at which the ramp starts", YOKE_TUNABLE, 0.0),
    REAL(ramp, duration, "s", "length of the ramp; 0: without end", YOKE_TUNABLE, 0.0),
};

static const yoke_unit_info ramp_info = {
    .variables = ramp_variables,
    .n_variables = COUNT(ramp_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(ramp),
};

static yoke_status ramp_refresh(void* self, double t) {
  ramp* r = self;
  double run = fmax(t - r->t0, 0.0);
  if (r->duration > 0.0) {
    run = fmin(run, r->duration);
  }
  r->y = r->offset + r->slope * run;
  return YOKE_OK;
}

// The step in up to three parts, over each of which the signal is straight.
static double integrate_ramp(const ramp* r, double t, double h) {
  const double rest = r->duration > 0.0 ? fmin(r->t0 + r->duration, t + h) : t + h;
  const double start = fmin(fmax(r->t0, t), t + h), end = fmax(rest, start);
  const double middle = 0.5 * (start + end) - r->t0;
  return r->offset * h + r->slope * (middle * (end - start) + r->duration * (t + h - end));
}

static yoke_status ramp_step(void* self, double t, double h, yoke_step_result* result) {
  ramp* r = self;
  if (r->kept.is_kept) {
    r->kept.value = integrate_ramp(r, t, h);
  }
  return ramp_refresh(self, result->t_reached);
}

INTEGRAL_OPS(ramp)

const yoke_unit_ops yoke__model_ramp = {
    .name = "ramp",
    .text = "straight rise from a given time, for a given time",
    .info = &ramp_info,
    .step = ramp_step,
    .refresh = ramp_refresh,
    .choose_integrals = ramp_choose,
    .get_integrals = ramp_integrals,
};
