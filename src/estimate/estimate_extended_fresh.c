// Finds out afterwards that the model was wrong. Two more filters, on the same nominal instance and the same matrices: `prior` takes
// no readings, and `fresh` starts as a copy of it at each look and takes those that follow. Where the model is right, fresh uses a
// part of the readings that the filter has used, so that
//
//   cov(q_fresh - q_filter) = P_fresh - P_filter                  (J. A. Hausman, Econometrica 46 (1978) 1251-1271)
//
// If an unknown differs by more than that, readings taken before the last look have spoilt it, because the unit was far away or not
// the same. Innovations show that late or never: the filter is sure of itself, and they are hardly larger than they should be. The
// filter then continues with what fresh knows.
#include <math.h>

#include "base/base_check.h"
#include "estimate/estimate_extended_part.h"
#include "estimate/estimate_kalman.h"

#define FIRST_LOOK 64    // steps; then after twice as many each time
#define LEAST      1e-3  // part of the variance: below it differences of variances are rounding
#define MOST       1e12  // prior variance of a reading over that of its noise: beyond it digits are lost

void yoke__fresh_start(yoke_extended* x) {
  yoke__belief_start(x, &x->prior);
  x->has_fresh = false;
  x->next_look = FIRST_LOOK;
  x->doubt = (double)NAN;
  x->n_restarts = 0;
}

void yoke__fresh_correct(yoke_extended* x, const double readings[], const bool have[]) {
  uint64_t n_gated = 0;
  if (x->has_fresh) {
    x->has_fresh = yoke__belief_correct(x, &x->fresh, readings, have, x->fresh_innovations,
                                        x->fresh_sds, &n_gated) >= 0;
    yoke__belief_keep_bounds(x, &x->fresh, NULL);
  }
}

void yoke__fresh_predict(yoke_extended* x) {
  // the prior of an unstable unit overflows: from then on there is no second filter
  if (x->next_look > 0 && yoke__belief_predict(x, &x->prior) < 0) {
    x->next_look = 0;
    x->doubt = (double)NAN;
  }
  x->has_fresh = x->has_fresh && yoke__belief_predict(x, &x->fresh) >= 0;
}

// Of the unknown that differs most.
static double compare(const yoke_extended* x) {
  double most = 0.0;
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    const size_t at = x->setup.n_states + j, diagonal = at * (x->n + 1);
    // Hausman: the variance of the difference is the difference of the variances
    const double P = x->filter.P[diagonal];
    const double variance = fmax(x->fresh.P[diagonal] - P, LEAST * P);
    if (variance > 0.0) {
      most = fmax(most, fabs(x->fresh.q[at] - x->filter.q[at]) / sqrt(variance));
    }
  }
  return most;
}

static bool is_prior_usable(const yoke_extended* x) {
  for (size_t s = 0; s < x->setup.n_sensors; s++) {
    const yoke_deviation_sensor* sensor = &x->setup.sensors[s];
    (void)yoke__belief_expect(x, &x->prior, sensor->output, x->H);
    // a prior far less certain than a reading would lose its digits in the first correction
    const double S = yoke__kalman_variance(x->n, x->prior.P, x->H, 0.0, x->PH);
    if (!(S <= MOST * sensor->sigma * sensor->sigma)) {
      return false;
    }
  }
  return true;
}

void yoke__fresh_look(yoke_extended* x) {
  if (x->k != x->next_look || x->next_look == 0) {
    return;
  }

  // looks at 64, 128, 256, ...: each judges the readings since the one before
  x->next_look *= 2;
  x->doubt = x->has_fresh ? compare(x) : (double)NAN;
  if (x->doubt > YOKE_EXTENDED_DOUBT) {
    yoke__belief_copy(x, &x->fresh, &x->filter);
    x->n_restarts++;
  }

  // for the next look
  x->has_fresh = is_prior_usable(x);
  if (x->has_fresh) {
    yoke__belief_copy(x, &x->prior, &x->fresh);
  }
}
