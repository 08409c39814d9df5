// Watches the units of a cluster for changes.
//
//   e_i = |y_i^k - (a_1 y_i^{k-1} + a_2 y_i^{k-2} + sum_j b_j1 u_j^k + b_j2 u_j^{k-1})|    before the model learns from it
//   r_i = e_i / (mean of |y_i^k - y_i^{k-1}| over the last five or so)                      whatever the scale of the motion
//
// Usual level of r_i: its median, followed by small steps, so that single outliers do not count. An exchange is high if half
// of the outputs that move miss by FACTOR times their level. A disturbance from outside makes one or two such exchanges, and
// the model does not learn from them. A unit has changed if there were N_HIGH more high exchanges than others. It is relearnt
// after N_FIT exchanges in a row that are not high.
// Nothing counts before the inputs come from models: as long as they are held signals, inputs and outputs are tied to each
// other, and what was learnt there need not hold later.
// Nothing else follows: to start the least squares of the coupling anew at a change made the errors larger, not smaller (with
// pulses by up to 16 times, seeds 1 to 200), since what they learn next is the transient.
// Source: own. What it finds and what it misses: test/couple/test_couple_mpsm_change.c; the constants were tuned on random
// loops with seeds 1 to 200. With noise of 1 %, or where random disturbances drive the motion, it finds next to
// nothing: they are the level. Nor does it find what shows in fewer than half of a unit's outputs; to ask for one output only
// raised 8 false alarms in 3000 exchanges of a cluster with ten outputs and smooth disturbances.
#include "couple/couple_mpsm_change.h"

#include <math.h>

#include "base/base_check.h"
#include "couple/couple_pieces.h"

enum { LAGS = 2 };
enum {
  N_WARM = 60,    // exchanges until an outlier can be told
  N_KNOWN = 200,  // until the level is known
  N_FREE = 100,   // behind the learning time
  N_HIGH = 20,
  N_FIT = 20,
  N_LOST = 1000,  // not learnt again by then: what is usual is learnt anew
};
#define FACTOR     10.0
#define LEAST      1e-3  // of a level: models that are exact miss by round-off
#define MEMORY     0.8   // of the motion
#define REST       1e-4  // of the largest motion so far
#define STEP_EARLY 1.05  // of the level, up or down, per exchange
#define STEP       1.02
#define FORGETTING 0.996

static yoke_rls_setup setup_of(size_t n, size_t m) {
  return (yoke_rls_setup){.n = n,
                          .m = m,
                          .n_y_lags = LAGS,
                          .n_u_lags = LAGS,
                          .forgetting = FORGETTING,
                          .start_variance = YOKE_RLS_P0};
}

// ---- memory

static void* lay_unit(yoke_pieces* from, size_t n, size_t m, yoke_mpsm_change_unit* to) {
  const yoke_rls_setup setup = setup_of(n, m);
  to->motion = yoke__take(from, n, sizeof(double));
  to->largest = yoke__take(from, n, sizeof(double));
  to->level = yoke__take(from, n, sizeof(double));
  return yoke__take(from, yoke__rls_size(&setup), 1);
}

size_t yoke__mpsm_change_size(size_t n_units, const size_t n_outputs[], const size_t n_inputs[]) {
  yoke_pieces count = {NULL, 0};
  (void)yoke__take(&count, n_units, sizeof(yoke_mpsm_change_unit));
  for (size_t k = 0; k < n_units; k++) {
    yoke_mpsm_change_unit unit;
    (void)lay_unit(&count, n_outputs[k], n_inputs[k], &unit);
  }
  return count.used;
}

yoke_status yoke__mpsm_change_prepare(yoke_mpsm_change* change, size_t n_units,
                                      const size_t n_outputs[], const size_t n_inputs[],
                                      void* memory, char* err, size_t err_size) {
  yoke_pieces from = {memory, 0};
  *change = (yoke_mpsm_change){.n_units = n_units};
  change->units = yoke__take(&from, n_units, sizeof *change->units);
  size_t first_y = 0, first_u = 0;
  for (size_t k = 0; k < n_units; k++) {
    yoke_mpsm_change_unit* unit = &change->units[k];
    const yoke_rls_setup setup = setup_of(n_outputs[k], n_inputs[k]);
    *unit = (yoke_mpsm_change_unit){.first_y = first_y, .first_u = first_u};
    void* block = lay_unit(&from, setup.n, setup.m, unit);
    YOKE_TRY(yoke__rls_prepare(&unit->rls, &setup, block, err, err_size));
    for (size_t i = 0; i < setup.n; i++) {
      unit->level[i] = 1;
    }
    first_y += setup.n;
    first_u += setup.m;
  }
  return YOKE_OK;
}

// ---- at an exchange

// y_i^k as the model has it before it learns from it.
static double predicted(const yoke_rls* rls, size_t i, const double u[]) {
  const double *p = rls->parameters + i * rls->n_parameters, *y = rls->history + i * LAGS;
  const double* inputs = rls->history + rls->setup.n * LAGS;
  double sum = p[0] * y[0] + p[1] * y[1];
  for (size_t j = 0; j < rls->setup.m; j++) {
    sum += p[LAGS + j * LAGS] * u[j] + p[LAGS + j * LAGS + 1] * inputs[j * LAGS];
  }
  return sum;
}

typedef enum verdict { RESTS, FITS, MISSED } verdict;

// Is an output missed by far? Its level follows, but not while a change is being learnt, and not while it rests: the model
// would seem exact there.
static verdict judge(yoke_mpsm_change_unit* unit, size_t i, double y, const double u[]) {
  const double miss = fabs(y - predicted(&unit->rls, i, u));
  const double moved = fabs(y - unit->rls.history[i * LAGS]);
  if (!yoke__is_finite(miss) || !yoke__is_finite(moved)) {
    unit->n_past = -1;
    return RESTS;
  }
  double *motion = &unit->motion[i], *largest = &unit->largest[i], *level = &unit->level[i];
  *motion = MEMORY * *motion + (1 - MEMORY) * moved;
  *largest = *motion > *largest ? *motion : *largest;
  if (!(*motion > REST * *largest)) {
    return RESTS;
  }
  const bool is_high = miss > FACTOR * *level * *motion;
  if (!unit->is_changed) {
    const double step = unit->n_seen < N_KNOWN + 100 ? STEP_EARLY : STEP;
    *level = miss > *level * *motion ? *level * step : *level / step;
    *level = *level > 1 ? 1 : *level < LEAST ? LEAST : *level;
  }
  return is_high ? MISSED : FITS;
}

// True: what was learnt of it holds no longer.
static bool count(yoke_mpsm_change* change, yoke_mpsm_change_unit* unit, bool is_high) {
  if (unit->is_changed) {
    unit->n_since++;
    unit->n_low = is_high ? 0 : unit->n_low + 1;
    const bool is_lost = unit->n_since >= N_LOST;
    change->n_relearnt += unit->n_low >= N_FIT;
    unit->n_seen = is_lost ? 0 : unit->n_seen;
    unit->is_changed = unit->n_low < N_FIT && !is_lost;
    return false;
  }
  if (unit->n_seen <= N_WARM) {
    return false;
  }
  unit->n_high += is_high ? 1 : -1;
  unit->n_high = unit->n_high < 0 ? 0 : unit->n_high;
  if (unit->n_high < N_HIGH) {
    return false;
  }
  // too early to tell: it learns anew, and that is all
  unit->is_changed = unit->n_seen >= N_KNOWN && unit->n_free >= N_FREE;
  unit->n_high = unit->n_low = unit->n_since = 0;
  change->n_changes += unit->is_changed;
  return true;
}

void yoke__mpsm_change_observe(yoke_mpsm_change* change, const double y[], const double u[],
                               bool is_learning) {
  for (size_t k = 0; k < change->n_units; k++) {
    yoke_mpsm_change_unit* unit = &change->units[k];
    const double *y_k = y + unit->first_y, *u_k = u + unit->first_u;
    size_t n_moving = 0, n_missed = 0;
    for (size_t i = 0; i < unit->rls.setup.n && unit->n_past >= LAGS; i++) {
      const verdict one = judge(unit, i, y_k[i], u_k);
      n_moving += one != RESTS;
      n_missed += one == MISSED;
    }
    const bool is_high = n_moving > 0 && 2 * n_missed >= n_moving;
    unit->n_past += unit->n_past < LAGS;
    unit->n_seen += n_moving > 0;
    unit->n_free = is_learning ? 0 : unit->n_free + 1;
    if (n_moving > 0 && count(change, unit, is_high)) {
      yoke__rls_restart(&unit->rls, YOKE_RLS_P0);
    } else if (is_high && unit->n_seen > N_WARM && (!unit->is_changed || unit->n_low > 0)) {
      // an outlier: it goes into the history, but nothing is learnt from it and the next one
      yoke__rls_forget_history(&unit->rls);
    }
    yoke__rls_update(&unit->rls, y_k, u_k);
  }
}

void yoke__mpsm_change_forget(yoke_mpsm_change* change) {
  for (size_t k = 0; k < change->n_units; k++) {
    yoke__rls_forget_history(&change->units[k].rls);
    change->units[k].n_past = 0;
  }
}
