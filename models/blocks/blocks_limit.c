// Blocks that protect: a signal whose slope is limited, a limit that falls with a temperature, a signal held within a limit.
//
//   rate_limit  y(t + h) = u(t), held within [y(t) - fall h, y(t) + rate h]; y = u at the start
//   derate      y = limit clamp((high - T_s) / (high - low), 0, 1),  T_s = T + sigmas sd
//   clamp       y = clamp(u, -limit, limit)
#include <math.h>
#include <stddef.h>

#include "models/blocks/blocks.h"
#include "models/models_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(struct_, member_, dim_, text_, causality_, start_)                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(struct_, member_)             \
  }

// ---- rate_limit

typedef struct rate_limit {
  double u, y, rate, fall;
  int64_t n_limited;
  int64_t is_running;  // until then y follows u at once
} rate_limit;

static const yoke_variable rate_limit_variables[] = {
    REAL(rate_limit, u, NULL, "input", YOKE_INPUT, 0.0),
    REAL(rate_limit, y, NULL, "the input, as far as its slope is allowed", YOKE_OUTPUT, 0.0),
    {.name = "n_limited",
     .dim = "1",
     .text = "steps in which the slope was limited",
     .type = YOKE_INTEGER,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(rate_limit, n_limited)},
    REAL(rate_limit, rate, NULL, "largest rise per second", YOKE_TUNABLE, 1.0),
    REAL(rate_limit, fall, NULL, "largest fall per second; below 0: the same as rate", YOKE_TUNABLE,
         -1.0),
};

static const yoke_unit_info rate_limit_info = {
    .variables = rate_limit_variables,
    .n_variables = COUNT(rate_limit_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_SAMPLED,
    .self_size = sizeof(rate_limit),
};

static bool is_slope(double x) {
  return x >= 0.0 && isfinite(x);
}

static yoke_status rate_limit_check(const rate_limit* r, const yoke_sink* sink) {
  if (!is_slope(r->rate)) {
    return yoke__model_refuse(sink, "rate is %g per second, expected 0 or more", r->rate);
  }
  if (!isfinite(r->fall)) {
    return yoke__model_refuse(
        sink, "fall is %g per second, expected 0 or more, or a negative number for that of rate",
        r->fall);
  }
  return YOKE_OK;
}

static yoke_status rate_limit_enter(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  rate_limit* r = self;
  (void)t_start;
  (void)t_stop;
  r->is_running = 0;
  r->n_limited = 0;
  return rate_limit_check(r, sink);
}

static yoke_status rate_limit_exit(void* self) {
  rate_limit* r = self;
  r->is_running = 1;
  return YOKE_OK;
}

static yoke_status rate_limit_refresh(void* self, double t) {
  rate_limit* r = self;
  (void)t;
  r->y = r->is_running ? r->y : r->u;
  return YOKE_OK;
}

static yoke_status rate_limit_step(void* self, double t, double h, yoke_step_result* result) {
  rate_limit* r = self;
  (void)t;
  (void)result;
  if (!is_slope(r->rate) || !isfinite(r->fall)) {
    return YOKE_BAD_INPUT;  // `reason` says which
  }
  const double high = r->y + r->rate * h, low = r->y - (r->fall < 0.0 ? r->rate : r->fall) * h;
  const bool is_limited = r->u > high || r->u < low;

  // a NaN is not limited: the master looks for it
  r->y = r->u > high ? high : r->u < low ? low : r->u;
  r->n_limited += is_limited && r->n_limited < INT64_MAX ? 1 : 0;
  return YOKE_OK;
}

static void rate_limit_reason(const void* self, const yoke_sink* sink) {
  (void)rate_limit_check(self, sink);
}

const yoke_unit_ops yoke__model_rate_limit = {
    .name = "rate_limit",
    .text = "follows its input with a limited slope",
    .info = &rate_limit_info,
    .enter_init = rate_limit_enter,
    .exit_init = rate_limit_exit,
    .step = rate_limit_step,
    .refresh = rate_limit_refresh,
    .reason = rate_limit_reason,
};

// ---- derate

typedef struct derate {
  double T, sd, y, limit, low, high, sigmas;
} derate;

enum { DERATE_T, DERATE_SD, DERATE_Y, DERATE_LIMIT, DERATE_LOW, DERATE_HIGH, DERATE_SIGMAS };

// The defaults of low and high are those of magnets in a traction motor: full torque up to 100 degC, none from 120 degC on.
static const yoke_variable derate_variables[] = {
    REAL(derate, T, "K", "temperature", YOKE_INPUT, 383.15),
    {.name = "sd",
     .dim = "K",
     .text = "standard deviation of T, for sigmas",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(derate, sd)},
    REAL(derate, y, NULL, "the limit at this temperature", YOKE_OUTPUT, 0.0),
    REAL(derate, limit, NULL, "the full limit, up to low", YOKE_TUNABLE, 1.0),
    REAL(derate, low, "K", "temperature from which on the limit falls", YOKE_TUNABLE, 373.15),
    REAL(derate, high, "K", "temperature from which on the limit is 0", YOKE_TUNABLE, 393.15),
    REAL(derate, sigmas, "1", "standard deviations that are added to T", YOKE_TUNABLE, 0.0),
};

static const yoke_feedthrough derate_feedthrough[] = {{DERATE_Y, DERATE_T}, {DERATE_Y, DERATE_SD}};

static const yoke_unit_info derate_info = {
    .variables = derate_variables,
    .n_variables = COUNT(derate_variables),
    .feedthrough = derate_feedthrough,
    .n_feedthrough = COUNT(derate_feedthrough),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT,
    .self_size = sizeof(derate),
};

static bool is_derate_sound(const derate* d) {
  return d->low < d->high && isfinite(d->high - d->low) && isfinite(d->limit) && d->sigmas >= 0.0 &&
         isfinite(d->sigmas);
}

static yoke_status derate_check(const derate* d, const yoke_sink* sink) {
  if (is_derate_sound(d)) {
    return YOKE_OK;
  }
  if (!(d->low < d->high) || !isfinite(d->high - d->low)) {
    return yoke__model_refuse(sink,
                              "low is %g K and high %g K, expected low below high: the limit falls "
                              "from low on and is 0 at high",
                              d->low, d->high);
  }
  return isfinite(d->limit)
             ? yoke__model_refuse(sink, "sigmas is %g, expected 0 or more", d->sigmas)
             : yoke__model_refuse(sink, "limit is %g, expected a finite number", d->limit);
}

static yoke_status derate_enter(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)t_start;
  (void)t_stop;
  return derate_check(self, sink);
}

// Share of the limit that is left, not yet held between 0 and 1.
static double derate_share(const derate* d) {
  return (d->high - (d->T + d->sigmas * d->sd)) / (d->high - d->low);
}

static yoke_status derate_refresh(void* self, double t) {
  derate* d = self;
  (void)t;
  if (!is_derate_sound(d)) {
    return YOKE_BAD_INPUT;  // `reason` says why
  }
  const double share = derate_share(d);

  // fmin and fmax would swallow a NaN
  d->y = share >= 1.0 ? d->limit : share <= 0.0 ? 0.0 : d->limit * share;
  return YOKE_OK;
}

static yoke_status derate_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return derate_refresh(self, t);
}

static bool derate_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const derate* d = self;
  const double share = derate_share(d);
  const double slope = share > 0.0 && share < 1.0 ? -d->limit / (d->high - d->low) : 0.0;
  *partial = known == DERATE_T    ? slope
             : known == DERATE_SD ? slope * d->sigmas
                                  : fmin(fmax(share, 0.0), 1.0);
  return unknown == DERATE_Y && (known == DERATE_T || known == DERATE_SD || known == DERATE_LIMIT);
}

static yoke_status derate_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                     const size_t knowns[], size_t n_knowns, const double seed[],
                                     double out[]) {
  return yoke__model_derivative(self, derate_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static void derate_reason(const void* self, const yoke_sink* sink) {
  (void)derate_check(self, sink);
}

const yoke_unit_ops yoke__model_derate = {
    .name = "derate",
    .text = "a limit that falls to 0 between two temperatures",
    .info = &derate_info,
    .enter_init = derate_enter,
    .step = derate_step,
    .refresh = derate_refresh,
    .derivative = derate_derivative,
    .reason = derate_reason,
};

// ---- clamp

typedef struct clamp {
  double u, limit, y;
} clamp;

enum { CLAMP_U, CLAMP_LIMIT, CLAMP_Y };

static const yoke_variable clamp_variables[] = {
    REAL(clamp, u, NULL, "what is asked for", YOKE_INPUT, 1.0),  // where both inputs act
    {.name = "limit",
     .text = "most that is allowed, both ways",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .start = 1.0,
     .offset = offsetof(clamp, limit)},
    REAL(clamp, y, NULL, "u, as far as it is allowed", YOKE_OUTPUT, 0.0),
};

static const yoke_feedthrough clamp_feedthrough[] = {{CLAMP_Y, CLAMP_U}, {CLAMP_Y, CLAMP_LIMIT}};

static const yoke_unit_info clamp_info = {
    .variables = clamp_variables,
    .n_variables = COUNT(clamp_variables),
    .feedthrough = clamp_feedthrough,
    .n_feedthrough = COUNT(clamp_feedthrough),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT,
    .self_size = sizeof(clamp),
};

static yoke_status clamp_refresh(void* self, double t) {
  clamp* c = self;
  (void)t;
  if (c->limit < 0.0) {
    return YOKE_BAD_INPUT;  // `reason` says why
  }

  // a NaN of either comes through: the master looks for it
  c->y = isnan(c->limit) || c->u > c->limit ? c->limit : c->u < -c->limit ? -c->limit : c->u;
  return YOKE_OK;
}

static yoke_status clamp_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return clamp_refresh(self, t);
}

static bool clamp_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const clamp* c = self;
  const bool is_inside = fabs(c->u) <= c->limit;
  *partial = known == CLAMP_U ? (is_inside ? 1.0 : 0.0) : is_inside ? 0.0 : c->u > 0.0 ? 1.0 : -1.0;
  return unknown == CLAMP_Y && (known == CLAMP_U || known == CLAMP_LIMIT);
}

static yoke_status clamp_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                    const size_t knowns[], size_t n_knowns, const double seed[],
                                    double out[]) {
  return yoke__model_derivative(self, clamp_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static void clamp_reason(const void* self, const yoke_sink* sink) {
  const clamp* c = self;
  if (c->limit < 0.0) {
    (void)yoke__model_refuse(sink, "limit is %g, expected 0 or more", c->limit);
  }
}

const yoke_unit_ops yoke__model_clamp = {
    .name = "clamp",
    .text = "holds a signal within a limit, both ways",
    .info = &clamp_info,
    .step = clamp_step,
    .refresh = clamp_refresh,
    .derivative = clamp_derivative,
    .reason = clamp_reason,
};
