// A model of second order of one signal and one input, and predictions by iterating it.
//
//   y^_{k+i} = -a1 y^_{k+i-1} - a2 y^_{k+i-2} + b1 u_{k+i-1} + b2 u_{k+i-2},   y^_k, y^_{k-1}: the last samples
//
// The model is learnt by recursive least squares, or by an extended Kalman filter whose filtered samples are then the start of
// the iteration. Guards: a signal and input that stand still teach nothing while older samples are forgotten (else the
// covariance grows until the next movement bursts the model); predictions stay within a multiple of the range that was seen;
// what is not finite starts everything anew. Covariances stay below their start value.
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper IV, for model and prediction. The guards are ours:
// docs/couple_adaptive.md, "Safety".
#include "identify/identify_arx.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

#define STILL 1e-6  // of the range: less movement between two samples is none

enum { LAGS = 2 };

static yoke_rls_setup rls_setup(const yoke_arx_setup* s) {
  return (yoke_rls_setup){.n = 1,
                          .m = s->has_input ? 1 : 0,
                          .n_y_lags = LAGS,
                          .n_u_lags = LAGS,
                          .forgetting = s->forgetting,
                          .start_variance = s->start_variance};
}

static yoke_ekf_setup ekf_setup(const yoke_arx_setup* s) {
  return (yoke_ekf_setup){s->start_variance, s->noise, s->forgetting};
}

static size_t state_size(void) {
  return (sizeof(yoke_arx_state) + 63) / 64 * 64;
}

size_t yoke__arx_size(const yoke_arx_setup* setup) {
  const yoke_rls_setup rls = rls_setup(setup);
  return state_size() + (yoke__rls_size(&rls) + 63) / 64 * 64;
}

yoke_status yoke__arx_prepare(yoke_arx* arx, const yoke_arx_setup* setup, void* block,
                              const yoke_sink* sink) {
  const yoke_rls_setup rls = rls_setup(setup);
  if (!(setup->limit >= 0) || !(setup->noise >= 0)) {
    return yoke_fail(sink, YOKE_BAD_ARG, "a predictor needs noise and limit of 0 or greater");
  }
  memset(block, 0, yoke__arx_size(setup));
  *arx = (yoke_arx){.setup = *setup, .state = block};
  YOKE_TRY(yoke__rls_prepare(&arx->rls, &rls, (char*)block + state_size(), sink));
  const yoke_ekf_setup ekf = ekf_setup(setup);
  yoke__ekf_start(&arx->state->ekf, &ekf);
  return YOKE_OK;
}

void yoke__arx_read(const yoke_arx* arx, double theta[4]) {
  if (arx->setup.model == YOKE_ARX_EKF) {
    memcpy(theta, arx->state->ekf.z + 2, 4 * sizeof *theta);
    return;
  }
  // identify_rls.h adds what is subtracted here
  double p[4] = {0};
  yoke__rls_read(&arx->rls, p);

  // least squares learns y = p1 y1 + p2 y2 + p3 u1 + p4 u2, so that a = -p
  theta[0] = -p[0];
  theta[1] = -p[1];
  theta[2] = p[2];
  theta[3] = p[3];
}

// ---- samples

static void push(yoke_arx_state* s, double y, double u1) {
  s->y[1] = s->y[0];
  s->y[0] = y;
  s->u[1] = s->u[0];
  s->u[0] = u1;
}

static void widen(yoke_arx_state* s, double y, double u1) {
  s->low = s->has_range ? fmin(s->low, y) : y;
  s->high = s->has_range ? fmax(s->high, y) : y;
  s->largest_u = fmax(s->largest_u, fabs(u1));
  s->has_range = true;
}

// Numbers overflowed: the model that did it is forgotten.
static void start_anew(yoke_arx* arx, double y) {
  const yoke_ekf_setup ekf = ekf_setup(&arx->setup);
  const double zero[4] = {0};
  yoke__ekf_start(&arx->state->ekf, &ekf);
  (void)yoke__rls_load(&arx->rls, zero, arx->setup.start_variance);
  arx->state->counts.n_restarts++;
  yoke__arx_restart(arx, y);
}

void yoke__arx_restart(yoke_arx* arx, double y) {
  yoke_arx_state* s = arx->state;
  const yoke_ekf_setup ekf = ekf_setup(&arx->setup);
  yoke__rls_forget_history(&arx->rls);
  s->counts.n_samples = 0;
  s->y[0] = s->y[1] = y;
  s->u[0] = s->u[1] = 0;
  if (yoke__is_finite(y)) {
    widen(s, y, 0);
    yoke__ekf_enter(&s->ekf, &ekf, y);
    yoke__rls_update(&arx->rls, &y, s->u);
    s->counts.n_samples = 1;
  }
}

// Nothing moves, and what was learnt before would only be forgotten.
static bool stands_still(const yoke_arx* arx, double y, double u1) {
  // without forgetting a sample that says nothing does no harm
  const yoke_arx_state* s = arx->state;
  return arx->setup.forgetting < 1 && fabs(y - s->y[0]) <= STILL * (s->high - s->low) &&
         fabs(s->y[0] - s->y[1]) <= STILL * (s->high - s->low) &&
         fabs(u1 - s->u[0]) <= STILL * s->largest_u;
}

static bool learn_filtered(yoke_arx* arx, double y, double u1, bool is_known) {
  yoke_arx_state* s = arx->state;
  const yoke_ekf_setup ekf = ekf_setup(&arx->setup);
  if (is_known && s->counts.n_samples < LAGS) {
    yoke__ekf_enter(&s->ekf, &ekf, y);
    push(s, y, u1);
    return true;
  }
  yoke__ekf_predict(&s->ekf, &ekf, u1, s->u[0]);
  const bool is_good =
      is_known ? yoke__ekf_update(&s->ekf, &ekf, y) : yoke__are_finite(YOKE_EKF_N, s->ekf.z) != 0;

  // filtered samples, not the noisy ones, are where the iteration starts
  push(s, s->ekf.z[1], u1);
  s->y[1] = s->ekf.z[0];
  return is_good;
}

void yoke__arx_update(yoke_arx* arx, double y, double u1) {
  yoke_arx_state* s = arx->state;
  u1 = arx->setup.has_input ? u1 : 0;
  if (!yoke__is_finite(y) || !yoke__is_finite(u1)) {
    yoke__arx_skip(arx, u1);
    return;
  }
  widen(s, y, u1);
  const bool is_still = s->counts.n_samples >= LAGS && stands_still(arx, y, u1);
  bool is_good = true;
  if (is_still) {
    // the history goes on; what is learnt starts again with the next samples that move
    s->counts.n_frozen++;
    yoke__rls_forget_history(&arx->rls);
    yoke__rls_update(&arx->rls, &y, &u1);
    push(s, y, u1);
    s->ekf.z[0] = s->y[1];
    s->ekf.z[1] = y;
  } else if (arx->setup.model == YOKE_ARX_EKF) {
    is_good = learn_filtered(arx, y, u1, true);
  } else {
    yoke__rls_update(&arx->rls, &y, &u1);
    push(s, y, u1);
  }
  s->counts.n_samples++;
  if (!is_good) {
    start_anew(arx, y);
  }
}

void yoke__arx_skip(yoke_arx* arx, double u1) {
  yoke_arx_state* s = arx->state;

  // an input that is missing is held
  u1 = arx->setup.has_input && yoke__is_finite(u1) ? u1 : arx->setup.has_input ? s->u[0] : 0;
  const double last = s->y[0];
  bool is_good = true;

  // the filter predicts without updating, least squares leaves the step out
  if (arx->setup.model == YOKE_ARX_EKF && yoke__arx_is_ready(arx)) {
    is_good = learn_filtered(arx, 0, u1, false);
  } else {
    yoke_arx_ahead ahead;
    yoke__arx_ahead_start(arx, &ahead);
    // without a model two samples in a row are needed anew
    s->counts.n_samples = ahead.is_held ? 0 : s->counts.n_samples;
    push(s, yoke__arx_ahead_step(arx, &ahead, u1), u1);
  }
  yoke__rls_forget_history(&arx->rls);
  s->counts.n_frozen++;
  if (!is_good) {
    start_anew(arx, last);
  }
}

// ---- predictions

bool yoke__arx_is_ready(const yoke_arx* arx) {
  return arx->state->counts.n_samples > LAGS;
}

void yoke__arx_ahead_start(const yoke_arx* arx, yoke_arx_ahead* ahead) {
  const yoke_arx_state* s = arx->state;
  *ahead = (yoke_arx_ahead){.y = {s->y[0], s->y[1]}, .u1 = s->u[0]};
  yoke__arx_read(arx, ahead->theta);
  ahead->is_held = !yoke__arx_is_ready(arx) || !yoke__are_finite(4, ahead->theta);
}

double yoke__arx_ahead_step(yoke_arx* arx, yoke_arx_ahead* ahead, double u) {
  yoke_arx_state* s = arx->state;
  const double* t = ahead->theta;
  u = arx->setup.has_input ? u : 0;

  // y^ = -a1 y1 - a2 y2 + b1 u1 + b2 u2
  double y = ahead->is_held
                 ? ahead->y[0]
                 : -t[0] * ahead->y[0] - t[1] * ahead->y[1] + t[2] * u + t[3] * ahead->u1;

  // range of the samples, widened by `limit` ranges on both sides
  const double reach = arx->setup.limit * (s->high - s->low);
  const double low = s->low - reach, high = s->high + reach;
  if (!yoke__is_finite(y)) {
    s->counts.n_limited++;
    y = ahead->y[0];
  } else if (!ahead->is_held && (y < low || y > high)) {
    s->counts.n_limited++;
    y = fmin(fmax(y, low), high);
  }
  ahead->y[1] = ahead->y[0];
  ahead->y[0] = y;
  ahead->u1 = u;
  return y;
}
