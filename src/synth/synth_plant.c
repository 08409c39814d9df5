// The plant of the coupling problem, from its parts in series.
//
// The published plant has two copies of W_f, one driven by u and one by the path. The same transfer function has W_f once, driven
// by their difference: two states less, and none that the element cannot move.
#include "synth/synth_plant.h"

#include <math.h>

#include "base/base_check.h"
#include "synth/synth_norm.h"

#define PI 3.14159265358979323846

yoke_synth_coupling yoke__synth_coupling_default(double interval) {
  return (yoke_synth_coupling){.interval = interval,
                               .smoother_hz = 5 / interval,
                               .smoother_damping = 0.7071,
                               .band_hz = 0.15 / interval,
                               .band_damping = 0.7071,
                               .pade = 2};
}

yoke_synth_system yoke__synth_low_pass(yoke_arena* w, double hz, double damping) {
  const double f = 2 * PI * hz;

  // w^2 / (s^2 + 2 zeta w s + w^2)
  const double numerator[] = {0, 0, f * f}, denominator[] = {1, 2 * damping * f, f * f};
  return yoke__system_rational(w, false, 2, numerator, denominator);
}

yoke_synth_system yoke__synth_pade_hold(yoke_arena* w, double interval, size_t pade) {
  pade = pade < 1 ? 1 : pade > YOKE_SYNTH_PADE_MAX ? YOKE_SYNTH_PADE_MAX : pade;
  // N(x), highest power first: 1 + x / 2, 1 + x / 2 + x^2 / 12, 1 + x / 2 + x^2 / 10 + x^3 / 120
  static const double table[YOKE_SYNTH_PADE_MAX][YOKE_SYNTH_PADE_MAX + 1] = {
      {1.0 / 2, 1}, {1.0 / 12, 1.0 / 2, 1}, {1.0 / 120, 1.0 / 10, 1.0 / 2, 1}};
  double numerator[YOKE_SYNTH_PADE_MAX + 1] = {0};
  double denominator[YOKE_SYNTH_PADE_MAX + 1] = {0};
  double power = 1;  // Dt^i

  // H* = (N(x) - N(-x)) / (x N(x)), x = s Dt: (1 - e^{-x}) / x with Pade's e^x = N(x) / N(-x)
  for (size_t i = 0; i <= pade; i++) {
    const double N = table[pade - 1][pade - i];
    denominator[pade - i] = N * power;
    // (N(x) - N(-x)) / x: twice the odd powers, each one lower
    if (i % 2 == 1) {
      numerator[pade - i + 1] = 2 * N * power / interval;
    }
    power *= interval;
  }
  return yoke__system_rational(w, false, pade, numerator, denominator);
}

static yoke_status check_positive(const char* what, double value, const char* dimension,
                                  const yoke_sink* sink) {
  if (!(value > 0) || !yoke__is_finite(value)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected %s above 0%s, found %g", what, dimension,
                     value);
  }
  return YOKE_OK;
}

static yoke_status check(const yoke_synth_coupling* s, const yoke_sink* sink) {
  YOKE_TRY(check_positive("the exchange interval Dt", s->interval, " [s]", sink));
  YOKE_TRY(check_positive("the smoother frequency f2", s->smoother_hz, " [Hz]", sink));
  YOKE_TRY(check_positive("the smoother's damping", s->smoother_damping, "", sink));
  YOKE_TRY(check_positive("the band f_w", s->band_hz, " [Hz]", sink));
  YOKE_TRY(check_positive("the damping of the band", s->band_damping, "", sink));
  if (s->pade < 1 || s->pade > YOKE_SYNTH_PADE_MAX) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected a Pade order of the hold from 1 to %d, found %zu",
                     YOKE_SYNTH_PADE_MAX, s->pade);
  }
  return YOKE_OK;
}

// K2 H*
static yoke_synth_system path(yoke_arena* w, const yoke_synth_coupling* s) {
  return yoke__system_series(w, yoke__synth_pade_hold(w, s->interval, s->pade),
                             yoke__synth_low_pass(w, s->smoother_hz, s->smoother_damping));
}

yoke_status yoke__synth_coupling_plant(yoke_arena* w, const yoke_synth_coupling* s,
                                       yoke_synth_general_plant* plant, const yoke_sink* sink) {
  YOKE_TRY(check(s, sink));
  const yoke_matrix one = yoke__matrix_identity(w, 1, 1);

  // (u, v) to (u, K2 H* v) to (z, u)
  const yoke_synth_system both =
      yoke__system_apart(w, yoke__system_gain(w, false, one), path(w, s));

  // z = u - K2 H* v and u itself
  const double differ[] = {1, -1, 1, 0};
  const yoke_synth_system outputs = yoke__system_apart(
      w, yoke__synth_low_pass(w, s->band_hz, s->band_damping), yoke__system_gain(w, false, one));
  const yoke_synth_system difference =
      yoke__system_gain(w, false, yoke__matrix_from(w, 2, 2, differ));
  *plant = (yoke_synth_general_plant){
      yoke__system_series(w, yoke__system_series(w, both, difference), outputs), 1, 1};
  const yoke_status status = yoke__arena_status(w);
  return status < 0 ? yoke_fail(sink, status, "%s", yoke_status_text(status)) : status;
}

yoke_status yoke__synth_coupling_norm(const yoke_synth_coupling* s, yoke_synth_system K1,
                                      double* norm) {
  yoke_arena w = {0};
  yoke_synth_general_plant plant;
  bool is_singular = false;
  yoke_synth_norm found;
  yoke_status status = yoke__synth_coupling_plant(&w, s, &plant, NULL);
  if (status == YOKE_OK) {
    status = yoke__synth_norm(yoke__system_loop(&w, plant.system, K1, &is_singular), 1e-9, &found);
    *norm = found.norm;
  }
  yoke__arena_free(&w);
  return status;
}

bool yoke__synth_normalise_gain(yoke_arena* w, yoke_synth_system* K1) {
  const double gain = creal(yoke__system_response(*K1, 0, 0, K1->is_discrete ? 1 : 0));
  if (!yoke__is_finite(gain) || gain == 0) {
    return false;
  }
  K1->C = yoke__matrix_scale(w, K1->C, 1 / gain);
  K1->D = yoke__matrix_scale(w, K1->D, 1 / gain);
  return true;
}
