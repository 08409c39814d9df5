// The lead of recipe general: the optimum of the coupling problem (synth_plant.h), fewer states, gain 1 at frequency 0.
//
// Source: HINF specification 7.1 to 7.3 and 7.5.
#include <math.h>
#include <string.h>

#include "synth/synth_design.h"
#include "synth/synth_plant.h"
#include "synth/synth_reduce.h"

// K1 with all its states, right of -P with the poles of its loop.
static yoke_status find_optimum(yoke_arena* w, const yoke_synth_settings* s,
                                yoke_synth_general_result* found, const yoke_sink* sink) {
  const yoke_synth_coupling coupling = {s->interval, s->smoother_hz,     YOKE_SYNTH_DAMPING,
                                        s->band_hz,  YOKE_SYNTH_DAMPING, YOKE_SYNTH_PADE};
  yoke_synth_general_plant plant;
  yoke_synth_general_settings general = yoke__synth_general_default();
  general.penalty = YOKE_SYNTH_PENALTY;
  general.least_real = -s->pole;
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

static yoke_status optimise(yoke_arena* w, yoke_synth_design* d, const yoke_sink* sink) {
  yoke_synth_general_result found;
  yoke_synth_reduction less;
  YOKE_TRY(find_optimum(w, &d->settings, &found, sink));
  YOKE_TRY(yoke__synth_reduce(w, found.K, d->settings.order, 0, &less, sink));
  const double gain = creal(yoke__system_response(less.system, 0, 0, 0));
  const bool is_normal = yoke__synth_normalise_gain(w, &less.system);
  // the gain of a stable lead is a number
  if (yoke__arena_status(w) < 0 || isnan(gain)) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  if (!is_normal || less.system.A.n_rows == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe general finds no lead: the optimum sends nothing at frequency 0; take "
                     "a smaller band, or a larger P");
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
