// Errors of a coupling on a sine. The smoother runs as it does in the step; its periodic motion is found from
// s(n + 1) = Phi s(n) + Gamma v, s(n + 1) = exp(j w Dt) s(n), with Phi and Gamma by stepping.
#include "synth/synth_error.h"

#include <math.h>

#define MOST_IMPULSE 100000  // steps of an impulse response

const char* const yoke__synth_path_names[YOKE_SYNTH_N_PATHS] = {"hold", "order 1", "element"};

static double complex turn(double angle) {
  return cexp((double complex)I * angle);
}

// The smoother's two numbers after n steps with the input v held.
static void run_smoother(const yoke_synth_element* e, size_t n, double v, yoke_synth_smoother* s) {
  for (size_t i = 0; i < n; i++) {
    yoke__synth_smoother_step(e, s, v);
  }
}

// s (2) := (z I - Phi)^-1 Gamma v: where the smoother stands at the start of an interval.
static void find_periodic(const yoke_synth_element* e, size_t n, double complex z, double complex v,
                          double complex s[2]) {
  // columns of Phi from unit vectors, Gamma from an input of 1
  yoke_synth_smoother p = {{1, 0}}, q = {{0, 1}}, r = {{0, 0}};
  run_smoother(e, n, 0, &p);
  run_smoother(e, n, 0, &q);
  run_smoother(e, n, 1, &r);

  // (z I - Phi) s = Gamma v by Cramer's rule
  const double complex a = z - p.s[0], b = -q.s[0], c = -p.s[1], d = z - q.s[1];
  const double complex det = a * d - b * c;
  s[0] = (d * r.s[0] - b * r.s[1]) * v / det;
  s[1] = (a * r.s[1] - c * r.s[0]) * v / det;
}

static double complex step_smoother(const yoke_synth_element* e, double complex s[2],
                                    double complex v) {
  // transposed direct form: y = b0 v + s0
  const double complex y = e->b[0] * v + s[0];
  s[0] = e->b[1] * v - e->a[0] * y + s[1];
  s[1] = e->b[2] * v - e->a[1] * y;
  return y;
}

yoke_synth_error yoke__synth_error_at(const yoke_synth_design* design, yoke_synth_path path,
                                      double w) {
  const yoke_synth_settings* set = &design->settings;
  const yoke_synth_element* e = &design->element;
  const size_t n = (size_t)llround(set->interval / set->step);

  // one interval back on the sine, and the delay of the connection
  const double complex back = turn(-w * set->interval), late = turn(-w * set->delay);
  const double complex v = yoke__synth_response(design, w).lead;
  double complex s[2] = {0, 0}, mean = 0;
  double sum = 0;
  if (path == YOKE_SYNTH_PATH_ELEMENT) {
    find_periodic(e, n, turn(w * set->interval), v, s);
  }
  for (size_t i = 0; i < n; i++) {
    const double complex now = turn(w * (double)i * set->step);
    // hold 1, line 1 + (i / M)(1 - e^{-j w Dt}), or what the smoother makes of the lead
    const double complex g = path == YOKE_SYNTH_PATH_HOLD   ? 1
                             : path == YOKE_SYNTH_PATH_LINE ? 1 + (double)i / (double)n * (1 - back)
                                                            : step_smoother(e, s, v);
    // against the sine at this step: mean factor, and mean square distance
    const double distance = cabs(g * late - now);
    mean += g * late * conj(now);
    sum += distance * distance;
  }
  return (yoke_synth_error){cabs(1 - mean / (double)n), sqrt(sum / (double)n)};
}

double yoke__synth_noise_gain(const yoke_synth_element* element) {
  yoke_synth_lead lead;
  yoke__synth_lead_start(element, 0, &lead);
  double sum = 0, last = 0;

  // white noise of 1 gives sqrt(sum of squares of the impulse response)
  for (int i = 0; i < MOST_IMPULSE && (i < 100 || last > 1e-12 * sum); i++) {
    const double y = yoke__synth_lead_step(element, &lead, i == 0);
    last = y * y;
    sum += last;
  }
  return sqrt(sum);
}
