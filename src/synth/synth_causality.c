// Two causalities beside each other; see synth_causality.h.
#include "synth/synth_causality.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI       3.14159265358979323846
#define N_POINTS 2000
#define LOWEST   1e-4  // of pi / Dt
#define ALIKE    1.1   // limits that differ by less decide nothing

static yoke_status find_mobility(const yoke_synth_loop* loop, double* mobility) {
  double* w = calloc(N_POINTS, sizeof *w);
  yoke_synth_loop_point* points = calloc(N_POINTS, sizeof *points);
  yoke_status status = w != NULL && points != NULL ? YOKE_OK : YOKE_NO_MEMORY;
  *mobility = 0;
  if (status >= 0) {
    for (int i = 0; i < N_POINTS; i++) {
      // logarithmic from 1e-4 of pi / Dt to pi / Dt
      w[i] = PI / loop->step * pow(LOWEST, 1 - (double)i / (N_POINTS - 1));
    }
    status = yoke__synth_loop_sample(loop, N_POINTS, w, points);
  }
  for (int i = 0; i < N_POINTS && status >= 0; i++) {
    // largest gain of the side that takes the action
    *mobility = fmax(*mobility, points[i].side_gain[1]);
  }
  free(w);
  free(points);
  return status;
}

static yoke_status look_at(const yoke_synth_causality_case* c,
                           const yoke_synth_causality_settings* s, yoke_synth_causality* to) {
  const yoke_synth_loop loop = {.sides = {c->sides[0], c->sides[1]},
                                .step = s->step,
                                .exchange = s->exchange,
                                .holds = {s->holds[0], s->holds[1]},
                                .power = s->power};
  YOKE_TRY(yoke__synth_loop_analyse(&loop, &to->report));
  for (yoke_synth_exchange e = YOKE_SYNTH_STALE; e <= YOKE_SYNTH_FRESH; e++) {
    YOKE_TRY(yoke__synth_loop_radius_of(loop.sides, s->step, e, &to->radius[e]));
    YOKE_TRY(yoke__synth_loop_limit_of(loop.sides, e, s->resolution, s->largest, &to->limit[e]));
  }
  return find_mobility(&loop, &to->mobility);
}

// The end of the search counts as a limit, too.
static double border_of(const yoke_synth_causality* c, const yoke_synth_causality_settings* s) {
  return fmin(c->limit[s->exchange].border, s->largest);
}

static void describe_limit(const yoke_synth_causality* c, const yoke_synth_causality_settings* s,
                           char* to, size_t size) {
  const yoke_synth_loop_limit* limit = &c->limit[s->exchange];
  if (isinf(limit->border)) {
    snprintf(to, size, "stable at every step up to %.4g s", s->largest);
  } else if (limit->border > 0) {
    snprintf(to, size, "stable up to %.3g s", limit->border);
  } else {
    snprintf(to, size, "not stable at any step");
  }
}

static void explain(const yoke_synth_causality_case cases[2],
                    const yoke_synth_causality_settings* s, bool is_by_limit,
                    yoke_synth_choice* out) {
  const int b = out->better, o = 1 - b;
  const yoke_synth_causality *better = &out->of[b], *other = &out->of[o];
  char judged[200], limits[2][64];
  if (is_by_limit) {
    describe_limit(better, s, limits[0], sizeof limits[0]);
    describe_limit(other, s, limits[1], sizeof limits[1]);
    snprintf(judged, sizeof judged, "the loop is %s, in the other causality %s", limits[0],
             limits[1]);
  } else {
    snprintf(judged, sizeof judged,
             "the loop is less sensitive to the exchange (mu %.3g, in the other causality %.3g)",
             better->report.mu.value, other->report.mu.value);
  }
  snprintf(
      out->reason, sizeof out->reason,
      "send the action to '%.40s': %s; its rate per unit of action is %.3g, that of '%.40s' %.3g%s",
      cases[b].receiver, judged, better->mobility, cases[o].receiver, other->mobility,
      better->mobility <= other->mobility ? ", so it has the higher impedance"
                                          : ", although it has the lower impedance");
}

yoke_status yoke__synth_causality_compare(const yoke_synth_causality_case cases[2],
                                          const yoke_synth_causality_settings* settings,
                                          yoke_synth_choice* out) {
  for (int i = 0; i < 2; i++) {
    YOKE_TRY(look_at(&cases[i], settings, &out->of[i]));
  }
  const double a = border_of(&out->of[0], settings), b = border_of(&out->of[1], settings);

  // limits that differ by more than 10 % decide, else mu
  const bool is_by_limit = fmax(a, b) > ALIKE * fmin(a, b);
  const bool is_second =
      is_by_limit ? b > a : out->of[1].report.mu.value < out->of[0].report.mu.value;
  out->better = is_second ? 1 : 0;
  explain(cases, settings, is_by_limit, out);
  return YOKE_OK;
}
