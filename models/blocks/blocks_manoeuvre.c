// Manoeuvres of a driver, as signals of time s = t - t0; 0 before, and after `duration` where that
// is not 0. A: amplitude.
//
//   sine        A sin(2 pi f s)
//   chirp       A sin(2 pi (f s + (f_end - f) s^2 / (2 duration)))            frequency linear in time
//   sweep       A sin(2 pi f duration / log(r) (r^(s / duration) - 1))        r = f_end / f: octaves in equal times
//   pulse       trapezium of height A with edges of `rise`, both within `duration`
//   step_steer  A min(s / rise, 1)
//   weave       A min(f s, 1) sin(2 pi f s): a sine that grows to its size during the first period
//
// The output after a step is that of the end of the step. Its integral over the step is computed on
// request, by Gauss-Legendre quadrature of five points on pieces of an eighth of a period between
// the kinks. Jumps are announced. Source: step steer and weave after ISO 7401 and
// ISO 13674-1, amplitudes being torques here.
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "models/blocks/blocks.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PI           3.14159265358979323846
#define MAX_PIECES   4096.0  // of one step, between two kinks

enum { SINE, CHIRP, SWEEP, PULSE, STEP_STEER, WEAVE };

typedef struct manoeuvre {
  double y;
  int64_t kind;
  double amplitude, frequency, frequency_end, t0, duration, rise;
  double integral;  // over the last step
  int64_t is_kept;  // somebody wants it
} manoeuvre;

static const char* const kinds[] = {"sine", "chirp", "sweep", "pulse", "step_steer", "weave", NULL};

#define REAL(member_, dim_, text_, causality_, start_)                                             \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(manoeuvre, member_)           \
  }

static const yoke_variable variables[] = {
    REAL(y, NULL, "signal", YOKE_OUTPUT, 0.0),
    {.name = "kind",
     .text = "shape of the signal",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .items = kinds,
     .offset = offsetof(manoeuvre, kind)},
    REAL(amplitude, NULL, "largest value", YOKE_PARAMETER, 1.0),
    REAL(frequency, "Hz", "frequency; of chirp and sweep the first one", YOKE_PARAMETER, 1.0),
    REAL(frequency_end, "Hz", "last frequency of chirp and sweep", YOKE_PARAMETER, 3.0),
    REAL(t0, "s", "time at which the manoeuvre starts", YOKE_PARAMETER, 0.0),
    REAL(duration, "s", "its length; 0: without end", YOKE_PARAMETER, 0.0),
    REAL(rise, "s", "length of an edge of pulse and step_steer", YOKE_PARAMETER, 0.0),
};

static const yoke_unit_info info = {
    .variables = variables,
    .n_variables = COUNT(variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(manoeuvre),
};

// ---- the signal

// Within the manoeuvre, s from 0 to its end.
static double shape(const manoeuvre* m, double s) {
  const double f = m->frequency, f_end = m->frequency_end, T = m->duration;
  switch (m->kind) {
  case CHIRP:
    return m->amplitude * sin(2.0 * PI * (f * s + (f_end - f) * s * s / (2.0 * T)));
  case SWEEP: {
    const double octaves = log(f_end / f);
    // integral of (f_end / f)^(s / T): T / log r (r^(s / T) - 1); expm1 keeps its digits, and
    // with equal frequencies it is s
    const double ratio =
        fabs(octaves) < 1e-9 ? s : T / octaves * expm1(octaves * s / T);  // of phase to f
    return m->amplitude * sin(2.0 * PI * f * ratio);
  }
  case PULSE: {
    // distance from the nearer end over the length of an edge
    const double edge = m->rise > 0.0 ? fmin(s, T - s) / m->rise : 1.0;
    return m->amplitude * fmin(edge, 1.0);
  }
  case STEP_STEER:
    return m->amplitude * (m->rise > 0.0 ? fmin(s / m->rise, 1.0) : 1.0);
  case WEAVE:
    return m->amplitude * fmin(f * s, 1.0) * sin(2.0 * PI * f * s);
  default:
    return m->amplitude * sin(2.0 * PI * f * s);
  }
}

// True if t is `time` or later, up to a few roundings.
static bool is_reached(double t, double time) {
  return t - time >= -4.0 * DBL_EPSILON * (fabs(t) + fabs(time));
}

static bool is_running(const manoeuvre* m, double t) {
  return is_reached(t, m->t0) && !(m->duration > 0.0 && is_reached(t, m->t0 + m->duration));
}

static double value(const manoeuvre* m, double t) {
  return is_running(m, t) ? shape(m, fmax(t - m->t0, 0.0)) : 0.0;
}

// True if the signal jumps where the manoeuvre starts (s = 0) or ends (s = duration).
static bool jumps_at(const manoeuvre* m, double s) {
  // a jump is a value other than 0 at the start or the end
  return fabs(shape(m, s)) > 1e-9 * fabs(m->amplitude);
}

static bool has_jumped(const manoeuvre* m, double t, double t_end) {
  const double end = m->t0 + m->duration;
  const bool is_start = !is_reached(t, m->t0) && is_reached(t_end, m->t0);
  const bool is_end = m->duration > 0.0 && !is_reached(t, end) && is_reached(t_end, end);
  return (is_start && jumps_at(m, 0.0)) || (is_end && jumps_at(m, m->duration));
}

// ---- its integral

static double fastest(const manoeuvre* m) {
  switch (m->kind) {
  case CHIRP:
  case SWEEP:
    return fmax(fabs(m->frequency), fabs(m->frequency_end));
  case SINE:
  case WEAVE:
    return fabs(m->frequency);
  default:
    return 0.0;  // straight lines
  }
}

// From s = a to s = b, without a kink between them.
static double integrate_smooth(const manoeuvre* m, double a, double b) {
  // roots and weights of the Legendre polynomial of degree 5: exact for polynomials up to degree 9
  static const double nodes[] = {0.0, 0.538469310105683091, 0.906179845938663993};
  static const double weights[] = {0.568888888888888889, 0.478628670499366468,
                                   0.236926885056189088};

  // eight pieces per period of the highest frequency
  const double pieces = fmin(floor(8.0 * fastest(m) * (b - a)) + 1.0, MAX_PIECES);
  const double half = (b - a) / pieces / 2.0;
  double sum = 0.0;
  for (int k = 0; k < (int)pieces; k++) {
    const double middle = a + (2.0 * k + 1.0) * half;
    sum += weights[0] * shape(m, middle);
    for (int i = 1; i < 3; i++) {
      const double offset = half * nodes[i];
      sum += weights[i] * (shape(m, middle - offset) + shape(m, middle + offset));
    }
  }
  return sum * half;
}

static double integrate(const manoeuvre* m, double t, double h) {
  // only the part of the step in which the manoeuvre runs
  const double s0 = fmax(t - m->t0, 0.0);
  double s1 = fmax(t + h - m->t0, 0.0), kinks[2] = {0.0, 0.0};
  if (m->duration > 0.0) {
    s1 = fmin(s1, m->duration);
  }
  if (m->kind == PULSE || m->kind == STEP_STEER) {
    kinks[0] = m->rise;
    kinks[1] = m->kind == PULSE ? m->duration - m->rise : m->rise;
  } else if (m->kind == WEAVE) {
    kinks[0] = kinks[1] = 1.0 / m->frequency;
  }
  double from = s0, sum = 0.0;

  // pieces end at kinks, where the quadrature would lose its order
  for (int i = 0; i < 2 && from < s1; i++) {
    if (kinks[i] > from && kinks[i] < s1) {
      sum += integrate_smooth(m, from, kinks[i]);
      from = kinks[i];
    }
  }
  return from < s1 ? sum + integrate_smooth(m, from, s1) : sum;
}

// ---- the operations

static const char* fault_of(const manoeuvre* m) {
  if (!isfinite(m->amplitude) || !isfinite(m->t0)) {
    return "amplitude and t0 must be finite";
  }
  if (!(m->duration >= 0.0 && isfinite(m->duration) && m->rise >= 0.0 && isfinite(m->rise))) {
    return "duration and rise must be 0 or above";
  }
  if (!isfinite(m->frequency) || !isfinite(m->frequency_end) ||
      ((m->kind == SWEEP || m->kind == WEAVE) && !(m->frequency > 0.0)) ||
      (m->kind == SWEEP && !(m->frequency_end > 0.0))) {
    return "frequencies must be finite; of sweep and weave above 0";
  }
  if ((m->kind == CHIRP || m->kind == SWEEP || m->kind == PULSE) && m->duration == 0.0) {
    return "chirp, sweep and pulse need a duration above 0";
  }
  return m->kind == PULSE && 2.0 * m->rise > m->duration
             ? "the two edges of a pulse must not be longer than its duration"
             : NULL;
}

static yoke_status refresh(void* self, double t) {
  manoeuvre* m = self;
  m->y = value(m, t);
  return YOKE_OK;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)t_stop;
  const char* fault = fault_of(self);
  return fault == NULL ? refresh(self, t_start) : yoke_fail(sink, YOKE_BAD_ARG, "%s", fault);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  manoeuvre* m = self;
  if (m->is_kept) {
    m->integral = integrate(m, t, h);
  }
  result->flags |= has_jumped(m, t, result->t_reached) ? YOKE_STEP_EVENT_NEEDED : 0;
  return refresh(self, result->t_reached);
}

static yoke_status choose_integrals(void* self, const size_t outputs[], size_t n) {
  manoeuvre* m = self;
  if (n > 1 || (n == 1 && outputs[0] != 0)) {
    return YOKE_BAD_ARG;
  }
  m->is_kept = n == 1;
  return YOKE_OK;
}

static yoke_status get_integrals(const void* self, double integrals[], size_t n) {
  const manoeuvre* m = self;
  if (n != 1 || !m->is_kept) {
    return YOKE_BAD_ARG;
  }
  integrals[0] = m->integral;
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_manoeuvre = {
    .name = "manoeuvre",
    .text = "steering manoeuvres: sine, chirp, sweep, pulse, step steer, weave",
    .info = &info,
    .enter_init = enter_init,
    .step = step,
    .refresh = refresh,
    .choose_integrals = choose_integrals,
    .get_integrals = get_integrals,
};
