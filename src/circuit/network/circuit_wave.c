// Waves of independent sources as SPICE defines them: value and right-hand derivative.
//
//   sin    vo + va sin(phase)                                              t <= td
//          vo + va exp(-theta s) sin(2 pi freq s + phase), s = t - td      later
//   pulse  v1; from td on with period per: v1 -> v2 within tr, v2 for pw, v2 -> v1 within tf, v1
//   exp    v1; from td1 on + (v2 - v1)(1 - exp(-(t - td1)/tau1)),
//          from td2 on + (v1 - v2)(1 - exp(-(t - td2)/tau2))
//   pwl    straight lines between the points, constant before and behind them; with repeat_from the
//          stretch from there to the last point again and again
//
// Source: the ngspice manual, "Independent Sources for Voltage or Current". Where a value jumps
// (times of zero length, points of equal time) it is the one after the jump. Times are multiples of
// a step and corners sums of parameters, both rounded: a corner counts as reached from a few
// roundings before it, so that no edge comes one step late. pulse without per (0) does not repeat.
#include <float.h>
#include <math.h>

#include "circuit/network/circuit_network.h"

#define PI 3.14159265358979323846

// how near to a corner time t is at it: sums and products of a handful of rounded numbers
static double slack_of(double t, double scale) {
  return 8 * DBL_EPSILON * (fabs(t) + fabs(scale));
}

// ---- periods: t = base + tau with 0 <= tau < period, for t >= from; a tau just below period is 0
typedef struct phase {
  double base, tau;
  double slack;
} phase;

static phase phase_of(double t, double from, double period) {
  // time since the start, then since the start of the period that t lies in
  phase at = {from, t - from, slack_of(t, from)};
  if (period > 0 && at.tau + at.slack >= period) {
    // n whole periods; what the slack is of the start is that of n periods from it
    const double n = floor((at.tau + at.slack) / period);
    at.slack = slack_of(t, from + n * period);
    at.base = from + n * period;
    at.tau = t - at.base;
  }
  return at;
}

// ---- sin

static double sin_value(const double p[], double t) {
  // SPICE has the phase in degrees
  const double s = t - p[3], angle = p[5] * (PI / 180);
  if (s <= 0) {
    return p[0] + p[1] * sin(angle);
  }

  // theta 0: no decay, whatever s is
  const double decay = p[4] == 0 ? 1 : exp(-p[4] * s);
  return p[0] + p[1] * decay * sin(2 * PI * p[2] * s + angle);
}

static double sin_slope(const double p[], double t) {
  const double s = t - p[3], angle = p[5] * (PI / 180), omega = 2 * PI * p[2];
  if (s + slack_of(t, p[3]) < 0) {
    return 0;
  }
  const double decay = p[4] == 0 ? 1 : exp(-p[4] * s);

  // product rule of exp(-theta s) sin(omega s + angle)
  return p[1] * decay * (omega * cos(omega * s + angle) - p[4] * sin(omega * s + angle));
}

// ---- pulse

// ends of the four stretches since the start of a period: rise, top, fall, rest
static void pulse_ends(const double p[], double ends[4]) {
  ends[0] = p[3];
  ends[1] = p[3] + p[5];

  // rise, pulse width, fall, one after the other
  ends[2] = p[3] + p[5] + p[4];
  ends[3] = p[6] > 0 ? p[6] : HUGE_VAL;
}

// the stretch that tau lies in; -1 before the first pulse
static int pulse_stretch(const phase* at, const double ends[4]) {
  if (at->tau + at->slack < 0) {
    return -1;
  }
  int i = 0;
  while (i < 3 && at->tau + at->slack >= ends[i]) {
    i++;
  }
  return i;
}

static double pulse_value(const double p[], double t) {
  double ends[4];
  pulse_ends(p, ends);
  const phase at = phase_of(t, p[2], p[6]);
  switch (pulse_stretch(&at, ends)) {
  case 0:
    // rounding just before the corner must not go below the foot of the edge
    return p[0] + (p[1] - p[0]) * (fmax(at.tau, 0) / p[3]);
  case 1:
    return p[1];
  case 2:
    return p[1] + (p[0] - p[1]) * (fmax(at.tau - ends[1], 0) / p[4]);
  default:
    return p[0];
  }
}

static double pulse_slope(const double p[], double t) {
  double ends[4];
  pulse_ends(p, ends);
  const phase at = phase_of(t, p[2], p[6]);
  switch (pulse_stretch(&at, ends)) {
  case 0:
    return (p[1] - p[0]) / p[3];
  case 2:
    return (p[0] - p[1]) / p[4];
  default:
    return 0;
  }
}

// ---- exp

// 1 - exp(-s/tau), a jump for tau = 0
static double rise(double s, double tau) {
  // expm1: the start of the rise keeps its digits
  return tau > 0 ? -expm1(-s / tau) : 1;
}

static double exp_value(const double p[], double t) {
  // nothing before td1, 1 - exp(-s / tau1) behind it
  const double up = t + slack_of(t, p[2]) < p[2] ? 0 : rise(fmax(t - p[2], 0), p[3]);
  const double down = t + slack_of(t, p[4]) < p[4] ? 0 : rise(fmax(t - p[4], 0), p[5]);
  return p[0] + (p[1] - p[0]) * up + (p[0] - p[1]) * down;
}

static double exp_slope(const double p[], double t) {
  double slope = 0;
  if (t + slack_of(t, p[2]) >= p[2] && p[3] > 0) {
    slope += (p[1] - p[0]) / p[3] * exp(-fmax(t - p[2], 0) / p[3]);
  }
  if (t + slack_of(t, p[4]) >= p[4] && p[5] > 0) {
    slope += (p[0] - p[1]) / p[5] * exp(-fmax(t - p[4], 0) / p[5]);
  }
  return slope;
}

// ---- pwl

// the place of t in the table: time since t = base, and slack
static phase pwl_phase(const yoke_wave* wave, double t) {
  const double end = wave->table[2 * (size_t)(wave->n_points - 1)];
  const double from = wave->repeat_from;
  phase at = {0, t, slack_of(t, end)};
  if (from >= 0 && from < end && t + at.slack >= end) {
    const phase inner = phase_of(t, from, end - from);
    at.base = inner.base - from;
    at.tau = t - at.base;
    at.slack = inner.slack;
  }
  return at;
}

// number of points that tau has reached
static uint32_t count_reached(const yoke_wave* wave, double tau) {
  uint32_t low = 0, high = wave->n_points;

  // invariant: times below low are reached, those from high on are not
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (wave->table[2 * (size_t)middle] <= tau) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// value and slope at t
static double pwl_at(const yoke_wave* wave, double t, double* slope) {
  *slope = 0;
  if (wave->n_points == 0) {
    return 0;
  }
  const phase at = pwl_phase(wave, t);
  const uint32_t n = count_reached(wave, at.tau + at.slack);
  if (n == 0) {
    return wave->table[1];
  }
  const double* left = wave->table + 2 * (size_t)(n - 1);
  if (n == wave->n_points) {
    return left[1];
  }

  // straight line between two points; n > 0, and points of equal time have been passed together
  const double part = fmax(at.tau - left[0], 0) / (left[2] - left[0]);
  *slope = (left[3] - left[1]) / (left[2] - left[0]);
  return left[1] + (left[3] - left[1]) * part;
}

// ----

double yoke__wave_value(const yoke_wave* wave, double t) {
  double slope;
  switch (wave->kind) {
  case YOKE_WAVE_SIN:
    return sin_value(wave->p, t);
  case YOKE_WAVE_PULSE:
    return pulse_value(wave->p, t);
  case YOKE_WAVE_EXP:
    return exp_value(wave->p, t);
  case YOKE_WAVE_PWL:
    return pwl_at(wave, t, &slope);
  case YOKE_WAVE_DC:
  default:
    return wave->p[0];
  }
}

double yoke__wave_slope(const yoke_wave* wave, double t) {
  double slope = 0;
  switch (wave->kind) {
  case YOKE_WAVE_SIN:
    return sin_slope(wave->p, t);
  case YOKE_WAVE_PULSE:
    return pulse_slope(wave->p, t);
  case YOKE_WAVE_EXP:
    return exp_slope(wave->p, t);
  case YOKE_WAVE_PWL:
    pwl_at(wave, t, &slope);
    return slope;
  case YOKE_WAVE_DC:
  default:
    return 0;
  }
}
