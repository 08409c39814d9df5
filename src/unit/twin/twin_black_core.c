// One face for the two estimators on black boxes: instances that run with offsets (estimate_black.h), or derivatives that the unit offers
// (estimate_extended.h).
#include "base/base_check.h"
#include "unit/twin/twin_black_part.h"

yoke_status yoke__twin_core_start(black_twin* w) {
  if (w->extended != NULL) {
    for (size_t i = 0; i < w->n_rows; i++) {
      w->y[i] = w->start_y[w->rows[i]];
    }
    return yoke__extended_start(w->extended, w->u, w->y);
  }
  return yoke__black_start(w->black);
}

yoke_status yoke__twin_core_correct(black_twin* w) {
  return w->extended != NULL ? yoke__extended_correct(w->extended, w->u, w->reading, w->have)
                             : yoke__black_correct(w->black, w->u, w->reading, w->have);
}

yoke_status yoke__twin_core_advance(black_twin* w) {
  return w->extended != NULL ? yoke__extended_advance(w->extended) : yoke__black_advance(w->black);
}

const double* yoke__twin_core_nominal(const black_twin* w) {
  return w->extended != NULL ? yoke__extended_nominal(w->extended) : yoke__black_outputs(w->black);
}

void yoke__twin_core_output(const black_twin* w, size_t row, double* value, double* sd) {
  if (w->extended != NULL) {
    yoke__extended_output(w->extended, row, value, sd);
  } else {
    yoke__shadow_output(yoke__black_shadow(w->black), row, value, sd);
  }
}

void yoke__twin_core_unknown(const black_twin* w, size_t unknown, double* value, double* sd) {
  if (w->extended != NULL) {
    yoke__extended_unknown(w->extended, unknown, value, sd);
  } else {
    yoke__deviation_unknown_of(yoke__shadow_filter(yoke__black_shadow(w->black)), unknown, value,
                               sd);
  }
}

void yoke__twin_core_innovation(const black_twin* w, size_t sensor, double* innovation,
                                double* sd) {
  if (w->extended != NULL) {
    yoke__extended_innovation(w->extended, sensor, innovation, sd);
  } else {
    yoke__deviation_innovation(yoke__shadow_filter(yoke__black_shadow(w->black)), sensor,
                               innovation, sd);
  }
}

uint64_t yoke__twin_core_hits(const black_twin* w, size_t unknown) {
  return w->extended != NULL ? yoke__extended_bound_hits(w->extended, unknown)
                             : yoke__deviation_bound_hits(
                                   yoke__shadow_filter(yoke__black_shadow(w->black)), unknown);
}

uint32_t yoke__twin_core_passes(const black_twin* w) {
  return w->extended != NULL ? 1 + yoke__extended_restarts(w->extended)
                             : yoke__black_passes(w->black);
}

size_t yoke__twin_core_find_far(const black_twin* w, double* excursion) {
  return w->extended != NULL ? yoke__extended_find_far(w->extended, excursion)
                             : yoke__black_find_far(w->black, excursion);
}

yoke_twin_verdict yoke__twin_core_verdict(const black_twin* w, yoke_finding* why) {
  return w->extended != NULL ? yoke__extended_verdict(w->extended, why)
                             : yoke__black_verdict(w->black, why);
}

bool yoke__twin_core_is_doubtful(const black_twin* w) {
  return w->extended != NULL && yoke__extended_doubt(w->extended) > YOKE_EXTENDED_DOUBT;
}
