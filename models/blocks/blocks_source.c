// Sources: signals of time, without inputs and without state.
//
//   constant  y = value
//   sine      y = offset + amplitude sin(2 pi frequency (t - t0) + phase)
//   step      y = before for t < time, after for t >= time
//   ramp      y = offset + slope clamp(t - t0, 0, duration)
//
// The output after a step is that of the end of the step. Times are compared with the rounding of
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

static yoke_status sine_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)h;
  return sine_refresh(self, result->t_reached);
}

const yoke_unit_ops yoke__model_sine = {
    .name = "sine",
    .text = "sine wave",
    .info = &sine_info,
    .step = sine_step,
    .refresh = sine_refresh,
};

// ---- step

typedef struct step {
  double y;
  double before, after, time;
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
  (void)t;
  (void)h;
  const double before = ((step*)self)->y;
  YOKE_TRY(step_refresh(self, result->t_reached));
  result->flags |= ((step*)self)->y != before ? YOKE_STEP_EVENT_NEEDED : 0;
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_step = {
    .name = "step",
    .text = "step from one value to another",
    .info = &step_info,
    .step = step_step,
    .refresh = step_refresh,
};

// ---- ramp

typedef struct ramp {
  double y;
  double offset, slope, t0, duration;
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

static yoke_status ramp_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)h;
  return ramp_refresh(self, result->t_reached);
}

const yoke_unit_ops yoke__model_ramp = {
    .name = "ramp",
    .text = "straight rise from a given time, for a given time",
    .info = &ramp_info,
    .step = ramp_step,
    .refresh = ramp_refresh,
};
