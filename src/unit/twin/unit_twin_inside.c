// A twin seen from inside.
#include "unit/twin/unit_twin_inside.h"

#include <math.h>
#include <string.h>

#include "unit/twin/twin_part.h"

static bool has_start(const twin* w) {
  for (size_t i = 0; i < w->network.heat.n_capacities; i++) {
    if (!isnan(w->given_z[i])) {
      return true;
    }
  }
  return false;
}

static void read_innovation(const void* self, size_t sensor, double* innovation, double* sd) {
  yoke__estimate_innovation(((const twin*)self)->filter, sensor, innovation, sd);
}

bool yoke__unit_twin_inside(const yoke_unit_ops* ops, const void* self,
                            yoke_unit_twin_inside* out) {
  yoke_unit_twin_figures figures;
  const twin* w = self;
  if (!yoke__unit_twin_figures(ops, self, &figures)) {
    return false;
  }
  *out = (yoke_unit_twin_inside){
      .sensors = figures.sensors,
      .unknowns = figures.unknowns,
      .n_sensors = figures.n_sensors,
      .n_unknowns = figures.n_unknowns,
      .h = w->setup.h,
      .gate = w->setup.gate,
      .is_gated = yoke__twin_is_gated(w),
      .innovation = read_innovation,
      .setup = &w->setup,
      .z = has_start(w) ? yoke__estimate_mean(w->filter) : NULL,
      .n_start = w->n_start,
      .has_diverged = w->state->is_open != 0,
      .is_ambiguous = w->is_ambiguous || w->n_apart > 0,
      .has_laws = w->network.n_moving > 0,
      .reason = (yoke_estimate_reason)w->state->reason,
      .n_steps = figures.n_steps,
  };
  for (size_t i = 0; i < w->n_sensors; i++) {
    out->is_learning = out->is_learning || w->sensor_texts[i].is_assumed;
  }
  out->verdict = yoke__consistency_verdict(w->consistency, out->has_diverged, &out->why);
  out->far = yoke__twin_find_far(w, &out->excursion);
  return true;
}

void yoke__unit_twin_inputs(void* self, double t, const double u[], const bool is_held[],
                            const yoke_unit_twin_inputs* to) {
  twin* w = self;
  const size_t r = w->network.heat.n_inputs;
  memcpy(w->u, u, w->layout.n_inputs * sizeof *u);
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->infos[i].is_held = is_held[i];
  }
  w->has_infos = true;
  const bool has_missed = yoke__twin_find_missed(w, t), has_change = yoke__twin_find_change(w, t);
  for (size_t i = 0; i < r; i++) {
    to->before[i] = has_change ? w->change[i] : 0;
    to->missed[i] = has_missed ? w->missed[i] : 0;
  }
  yoke__twin_take_inputs(w, t);
  memcpy(to->v, w->v, r * sizeof *w->v);
  memcpy(to->line, w->line, r * sizeof *w->line);
  memcpy(to->slope, w->slope, r * sizeof *w->slope);
}

double yoke__unit_twin_value(const void* self, size_t unknown, double value) {
  return yoke__twin_value(&((const twin*)self)->unknown_texts[unknown], value);
}

double yoke__unit_twin_deviation(const void* self, size_t unknown, double value, double sd) {
  return yoke__twin_deviation(&((const twin*)self)->unknown_texts[unknown], value, sd);
}
