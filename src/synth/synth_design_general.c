// The lead of recipe general: the optimum of the coupling problem (synth_plant.h), fewer states, gain 1 at frequency 0.
//
// Reduction moves poles to the left. So the optimum is looked for in smaller and smaller regions, down to the poles of smoother and
// hold, until what is left of it has its poles right of -P.
//
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper III. Page: docs/synth_general.md, "The coupling problem".
#include <math.h>
#include <string.h>

#include "synth/synth_design.h"
#include "synth/synth_plant.h"
#include "synth/synth_reduce.h"

#define N_REGIONS 6

// K1 with all its states, right of -region with the poles of its loop.
static yoke_status find_optimum(yoke_arena* w, const yoke_synth_settings* s, double region,
                                yoke_synth_general_result* found, const yoke_sink* sink) {
  const yoke_synth_coupling coupling = {s->interval, s->smoother_hz,     YOKE_SYNTH_DAMPING,
                                        s->band_hz,  YOKE_SYNTH_DAMPING, YOKE_SYNTH_PADE};
  yoke_synth_general_plant plant;
  yoke_synth_general_settings general = yoke__synth_general_default();
  general.penalty = YOKE_SYNTH_PENALTY;
  general.least_real = -region;
  YOKE_TRY(yoke__synth_coupling_plant(w, &coupling, &plant, sink));
  return yoke__synth_general(w, &plant, &general, found, sink);
}

static void keep(yoke_synth_system K1, yoke_synth_model* m) {
  const size_t n = K1.A.n_rows;
  *m = (yoke_synth_model){.n = n, .D = K1.D.a[0]};
  memcpy(m->A, K1.A.a, n * n * sizeof *m->A);
  memcpy(m->B, K1.B.a, n * sizeof *m->B);
  memcpy(m->C, K1.C.a, n * sizeof *m->C);
}

// The smallest region that holds the poles of smoother and hold is at this part of P.
static double smallest_region(const yoke_synth_settings* s) {
  return fmax(YOKE_SYNTH_HOLD_POLE / s->interval, YOKE_SYNTH_SMOOTHER_POLE * s->smoother_hz) /
         s->pole;
}

static yoke_status is_inside(yoke_synth_system K1, double P, bool* is_fitting,
                             const yoke_sink* sink) {
  double re[YOKE_SYNTH_ORDER_MAX], im[YOKE_SYNTH_ORDER_MAX];
  const yoke_status status = yoke__system_poles(K1, re, im);
  *is_fitting = true;
  if (status < 0) {
    return yoke_fail(sink, status, "%s", yoke_status_text(status));
  }
  for (size_t i = 0; i < K1.A.n_rows; i++) {
    *is_fitting = *is_fitting && re[i] > -P;
  }
  return YOKE_OK;
}

// The optimum and what is left of it with the wanted states, from the first region that does; else those of P itself.
static yoke_status find_lead(yoke_arena* w, const yoke_synth_settings* s,
                             yoke_synth_general_result* found, yoke_synth_reduction* less,
                             const yoke_sink* sink) {
  bool is_fitting = false;
  YOKE_TRY(find_optimum(w, s, s->pole, found, sink));
  YOKE_TRY(yoke__synth_reduce(w, found->K, s->order, 0, less, sink));
  YOKE_TRY(is_inside(less->system, s->pole, &is_fitting, sink));

  // P, P q, P q^2, ... with q^6 = smallest region / P: room for poles that reduction moves left
  for (int i = 1; i < N_REGIONS && !is_fitting; i++) {
    const double region = s->pole * pow(smallest_region(s), (double)i / N_REGIONS);
    yoke_synth_general_result other;
    yoke_synth_reduction rest;
    yoke_status status = find_optimum(w, s, region, &other, NULL);
    status = status < 0 ? status : yoke__synth_reduce(w, other.K, s->order, 0, &rest, NULL);
    status = status < 0 ? status : is_inside(rest.system, s->pole, &is_fitting, NULL);
    if (status == YOKE_NO_MEMORY) {
      return yoke_fail(sink, status, "%s", yoke_status_text(status));
    }
    is_fitting = is_fitting && status >= 0;
    if (is_fitting) {
      *found = other;
      *less = rest;
    }
  }
  return YOKE_OK;
}

static yoke_status optimise(yoke_arena* w, yoke_synth_design* d, const yoke_sink* sink) {
  yoke_synth_general_result found;
  yoke_synth_reduction less;
  YOKE_TRY(find_lead(w, &d->settings, &found, &less, sink));
  const double gain = creal(yoke__system_response(less.system, 0, 0, 0));
  const bool is_normal = yoke__synth_normalise_gain(w, &less.system);
  // a stable lead has a gain, and if that is not 0 it can be made 1
  if (yoke__arena_status(w) < 0 || isnan(gain) || (!is_normal && gain != 0)) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  if (!is_normal || less.system.A.n_rows == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe general finds no lead: the optimum sends nothing at frequency 0; "
                     "choose a smaller band, or a larger P");
  }
  d->settings.order = less.system.A.n_rows;
  d->optimum = (yoke_synth_optimum){
      .norm = found.plant_norm, .gain = gain, .least_real = found.least_real, .bound = less.bound};
  keep(less.system, &d->model);
  return YOKE_OK;
}

yoke_status yoke__synth_optimise(yoke_synth_design* design, const yoke_sink* sink) {
  yoke_arena w = {0};
  const yoke_status status = optimise(&w, design, sink);
  yoke__arena_free(&w);
  return status;
}
