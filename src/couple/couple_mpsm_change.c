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
//
// Noise, or random disturbances that drive the motion, are the level of r_i and hide a change. So the least squares of the last
// N_NOW blocks of 100 exchanges are compared with those of the N_BEFORE blocks before them (couple_mpsm_window.h), twice:
//
//   by exchange         two past outputs and inputs: exact for a linear unit of second order
//   means of three      four past outputs and inputs: noise enters the regressors too and biases what is learnt, by an amount
//                       that goes with the motion; means and more lags make that small
//
// Regressors of the windows are differences: of smooth motion that is sampled finely all lags are nearly the same, the ridge of
// the windows, a share of their squares, then is larger than what tells them apart, and it biases each window another way. For
// the same reason the least squares by exchange start from a variance that is large also for signals that are small.
// An output of a unit with several has more states behind it than its own past tells. What such a model is depends on what is
// excited at the time, so that only a change that is a relevant share of the motion counts there (LEAST_SEVERAL, SHARE_SEVERAL).
//
// Samples whose error is OUTLIER times the usual one, and the next two, are left out: disturbances from outside. A unit has
// moved if half of the outputs that move are above the limit of either view. It has settled, and counts as relearnt, once the
// last N_SETTLED blocks agree with the N_SETTLED before them, all behind the moment when the change was found: 400 exchanges,
// while the least squares of the coupling remember 250.
// A unit with more inputs than MOST parameters allow has fewer lags there, or is watched by its errors only.
// Nothing else follows: to start the least squares of the coupling anew at a change made the errors larger, not smaller (with
// pulses by up to 16 times, seeds 1 to 200), since what they learn next is the transient.
// Source: own, but for the test. What it finds and what it misses: test/couple/test_couple_mpsm_change.c; the constants were
// tuned on random loops with seeds 1 to 200. It does not find what shows in fewer than half of a unit's outputs; to ask for one
// output only raised 8 false alarms in 3000 exchanges of a cluster with ten outputs and smooth disturbances.
#include "couple/couple_mpsm_change.h"

#include <math.h>

#include "base/base_check.h"
#include "couple/couple_pieces.h"

enum { LAGS = 2 };
enum {
  N_WARM = 60,    // exchanges until an outlier can be told
  N_KNOWN = 200,  // until the level is known
  N_FREE = 100,   // behind the learning time
  N_HIGH = 40,
  N_FIT = 20,
  N_LOST = 1000,  // not learnt again by then: what is usual is learnt anew
};
#define FACTOR     10.0
#define LEAST      1e-3  // of a level: models that are exact miss by round-off
#define MOST_LEVEL 0.1   // from here on there is no model that could be missed
#define MEMORY     0.8   // of the motion
#define REST       1e-4  // of the largest motion so far
#define STEP_EARLY 1.05  // of the level, up or down, per exchange
#define STEP       1.02
#define FORGETTING 0.996
#define VARIANCE   1e12  // at the start; up to 1e8 alarms were left in random loops sampled finely

// units with several outputs, in place of LEAST and of the smaller least_share
#define LEAST_SEVERAL 0.03
#define SHARE_SEVERAL 1e-3

// windows
enum {
  BLOCK = 100,  // exchanges
  N_NOW = 5,
  N_BEFORE = 5,
  N_SETTLED = 2,
  MOST = 16,  // parameters of a regression
  N_SKIP = 3,
};
#define OUTLIER     5.0
#define LEVEL_STEP  1.05  // of the usual error, up or down, per sample
#define LEVEL_EARLY 1.2
#define LEVEL_FALL  0.9   // of the largest error, while it is all that is known
#define LEVEL_LEAST 1e-6  // of the largest motion so far

// every: exchanges per sample. limit, of F: without a change it was passed in 2 % of the runs with seeds 1 to 200.
typedef struct view_rule {
  int every;
  size_t n_y_lags, n_u_lags;
  double limit, least_share;
} view_rule;

static const view_rule view_rules[YOKE_MPSM_CHANGE_VIEWS] = {
    {1, LAGS, LAGS, 80, 1e-6},
    {3, 4, 4, 9, 1e-3},
};

static yoke_rls_setup setup_of(size_t n, size_t m, size_t n_y_lags, size_t n_u_lags) {
  return (yoke_rls_setup){.n = n,
                          .m = m,
                          .n_y_lags = n_y_lags,
                          .n_u_lags = n_u_lags,
                          .forgetting = FORGETTING,
                          .start_variance = VARIANCE};
}

static yoke_rls_setup fast_of(size_t n, size_t m) {
  return setup_of(n, m, LAGS, LAGS);
}

// With as many lags of inputs as MOST allows, at least one.
static yoke_rls_setup slow_of(size_t n, size_t m) {
  const view_rule* rule = &view_rules[1];
  const size_t room = m == 0 ? rule->n_u_lags : (MOST - rule->n_y_lags) / m;
  const size_t n_u_lags = room < rule->n_u_lags ? room : rule->n_u_lags;
  return setup_of(n, m, rule->n_y_lags, n_u_lags > 0 ? n_u_lags : 1);
}

// ---- memory

static size_t parameters_of(const yoke_rls_setup* setup) {
  return setup->n_y_lags + setup->n_u_lags * setup->m;
}

static void lay_view(yoke_pieces* from, const view_rule* rule, const yoke_rls_setup* setup,
                     yoke_mpsm_change_view* to) {
  const size_t q = parameters_of(setup);
  *to = (yoke_mpsm_change_view){.is_used = q <= MOST, .every = rule->every, .limit = rule->limit};
  if (!to->is_used) {
    return;
  }
  const yoke_mpsm_window_setup window = {.n = setup->n,
                                         .q = q,
                                         .n_blocks = N_NOW + N_BEFORE,
                                         .least_share =
                                             setup->n > 1 ? SHARE_SEVERAL : rule->least_share};
  to->level = yoke__take(from, setup->n, sizeof(double));
  to->rows = yoke__take(from, setup->n * (q + 1), sizeof(double));
  to->y = yoke__take(from, setup->n, sizeof(double));
  to->u = yoke__take(from, setup->m, sizeof(double));
  yoke__mpsm_window_lay(from, &window, &to->window);
}

// Blocks of its two least squares.
static void lay_unit(yoke_pieces* from, size_t n, size_t m, yoke_mpsm_change_unit* to,
                     void* blocks[2]) {
  const yoke_rls_setup fast = fast_of(n, m), slow = slow_of(n, m);
  to->motion = yoke__take(from, n, sizeof(double));
  to->largest = yoke__take(from, n, sizeof(double));
  to->level = yoke__take(from, n, sizeof(double));
  blocks[0] = yoke__take(from, yoke__rls_size(&fast), 1);
  lay_view(from, &view_rules[0], &fast, &to->views[0]);
  lay_view(from, &view_rules[1], &slow, &to->views[1]);
  blocks[1] = to->views[1].is_used ? yoke__take(from, yoke__rls_size(&slow), 1) : NULL;
}

size_t yoke__mpsm_change_size(size_t n_units, const size_t n_outputs[], const size_t n_inputs[]) {
  yoke_pieces count = {NULL, 0};
  (void)yoke__take(&count, n_units, sizeof(yoke_mpsm_change_unit));
  for (size_t k = 0; k < n_units; k++) {
    yoke_mpsm_change_unit unit;
    void* blocks[2];
    lay_unit(&count, n_outputs[k], n_inputs[k], &unit, blocks);
  }
  return count.used;
}

yoke_status yoke__mpsm_change_prepare(yoke_mpsm_change* change, size_t n_units,
                                      const size_t n_outputs[], const size_t n_inputs[],
                                      void* memory, const yoke_sink* sink) {
  yoke_pieces from = {memory, 0};
  *change = (yoke_mpsm_change){.n_units = n_units};
  change->units = yoke__take(&from, n_units, sizeof *change->units);
  size_t first_y = 0, first_u = 0;
  for (size_t k = 0; k < n_units; k++) {
    yoke_mpsm_change_unit* unit = &change->units[k];
    const yoke_rls_setup setup = fast_of(n_outputs[k], n_inputs[k]);
    const yoke_rls_setup slow = slow_of(setup.n, setup.m);
    void* blocks[2];
    *unit = (yoke_mpsm_change_unit){.first_y = first_y,
                                    .first_u = first_u,
                                    .n_compared = n_outputs[k],
                                    .first_view = k % YOKE_MPSM_CHANGE_VIEWS};
    lay_unit(&from, setup.n, setup.m, unit, blocks);
    YOKE_TRY(yoke__rls_prepare(&unit->rls, &setup, blocks[0], sink));
    if (blocks[1] != NULL) {
      YOKE_TRY(yoke__rls_prepare(&unit->slow, &slow, blocks[1], sink));
    }
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
    const double least = unit->rls.setup.n > 1 ? LEAST_SEVERAL : LEAST;
    *level = *level > 1 ? 1 : *level < least ? least : *level;
  }
  return is_high && *level <= MOST_LEVEL ? MISSED : FITS;
}

static size_t pairs_of(const yoke_mpsm_change_unit* unit) {
  return unit->rls.setup.n * YOKE_MPSM_CHANGE_VIEWS;
}

// The blocks so far are of another unit.
static void clear_windows(yoke_mpsm_change_unit* unit) {
  for (int v = 0; v < YOKE_MPSM_CHANGE_VIEWS; v++) {
    if (unit->views[v].is_used) {
      yoke__mpsm_window_clear(&unit->views[v].window);
    }
  }
  unit->n_in_block = 0;
  unit->n_compared = pairs_of(unit);
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
  if (unit->is_changed) {
    // what the windows have found is the same change
    change->n_changes += !unit->is_moved;
    unit->is_moved = false;
    clear_windows(unit);
  }
  return true;
}

// ---- windows

// x[l] := l-th difference of x[0] to x[l]
static inline void difference(size_t n, double x[]) {
  if (n == 2) {
    x[1] = x[0] - x[1];
    return;
  }
  for (size_t l = 1; l < n; l++) {
    double before = x[l - 1];
    for (size_t j = l; j < n; j++) {
      const double at = x[j];
      x[j] = before - at;
      before = at;
    }
  }
}

// Regressors of output i and its motion, as differences, before the least squares take the sample in. Returns what they miss.
static double fill_row(const yoke_rls* rls, size_t i, double y, const double u[], double row[]) {
  const size_t N = rls->setup.n_y_lags, M = rls->setup.n_u_lags, m = rls->setup.m;
  const double *p = rls->parameters + i * rls->n_parameters, *outputs = rls->history + i * N;
  const double* inputs = rls->history + rls->setup.n * N;
  double miss = y;
  for (size_t j = 0; j < N; j++) {
    row[j] = outputs[j];
    miss -= p[j] * outputs[j];
  }
  difference(N, row);
  row += N;
  p += N;
  for (size_t j = 0; j < m; j++, row += M, p += M, inputs += M) {
    row[0] = u[j];
    miss -= p[0] * u[j];
    for (size_t l = 1; l < M; l++) {
      row[l] = inputs[l - 1];
      miss -= p[l] * inputs[l - 1];
    }
    difference(M, row);
  }
  *row = y - outputs[0];
  return miss;
}

// Is the sample far off? The usual size of the error follows, but for the first ones, of which the largest counts.
static bool is_outlier(yoke_mpsm_change_view* view, double miss, double least, double* level) {
  const int n_exchanges = view->n_judged * view->every;
  if (!yoke__is_finite(miss)) {
    return true;
  }
  if (n_exchanges <= N_WARM) {
    *level = fmax(miss, LEVEL_FALL * *level);
    return false;
  }
  const double step = n_exchanges < N_KNOWN + 100 ? LEVEL_EARLY : LEVEL_STEP;
  const bool is_far = miss > OUTLIER * *level;
  *level = fmax(miss > *level ? *level * step : *level / step, least);
  return is_far;
}

// A sample for the blocks of a view. True: an outlier.
static bool take_sample(yoke_mpsm_change_view* view, const yoke_rls* rls, const double largest[],
                        const double y[], const double u[], bool is_learning) {
  const size_t q = rls->n_parameters, N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  bool is_far = false;
  if (rls->counts->n_samples < (int64_t)(N > M ? N : M)) {
    return false;
  }
  view->n_judged += view->n_judged <= N_KNOWN + 100;
  for (size_t i = 0; i < rls->setup.n; i++) {
    const double miss = fill_row(rls, i, y[i], u, view->rows + i * (q + 1));
    is_far |= is_outlier(view, fabs(miss), LEVEL_LEAST * largest[i], &view->level[i]);
  }
  view->n_skipping = is_far ? N_SKIP : view->n_skipping - (view->n_skipping > 0);
  for (size_t i = 0; i < rls->setup.n && view->n_skipping == 0 && !is_learning; i++) {
    const double* row = view->rows + i * (q + 1);
    yoke__mpsm_window_add(&view->window, i, row, row[q]);
  }
  return is_far;
}

// Gathers means; the least squares of means learn from them, but not from outliers.
static void take_mean(yoke_mpsm_change_unit* unit, const double y[], const double u[],
                      bool is_learning) {
  yoke_mpsm_change_view* view = &unit->views[1];
  const double share = 1.0 / view->every;
  for (size_t i = 0; i < unit->slow.setup.n; i++) {
    view->y[i] = share * y[i] + (view->n_in_mean > 0 ? view->y[i] : 0);
  }
  for (size_t j = 0; j < unit->slow.setup.m; j++) {
    view->u[j] = share * u[j] + (view->n_in_mean > 0 ? view->u[j] : 0);
  }
  if (++view->n_in_mean < view->every) {
    return;
  }
  view->n_in_mean = 0;
  if (take_sample(view, &unit->slow, unit->largest, view->y, view->u, is_learning)) {
    yoke__rls_forget_history(&unit->slow);
  }
  yoke__rls_update(&unit->slow, view->y, view->u);
}

// Compares the next output in the next view, so that no exchange has much to do. Units with many outputs: the next few. One
// unit begins with its short regression, the next one with its long one.
static void compare_next(yoke_mpsm_change_unit* unit, size_t n_now, size_t n_before) {
  const size_t n_pairs = pairs_of(unit), to = unit->n_compared + n_pairs / BLOCK + 1;
  for (; unit->n_compared < n_pairs && unit->n_compared < to; unit->n_compared++) {
    const size_t i = unit->n_compared / YOKE_MPSM_CHANGE_VIEWS;
    const size_t turn = unit->n_compared % YOKE_MPSM_CHANGE_VIEWS;
    const yoke_mpsm_change_view* view =
        &unit->views[(turn + unit->first_view) % YOKE_MPSM_CHANGE_VIEWS];
    const double F =
        view->is_used ? yoke__mpsm_window_compare(&view->window, i, n_now, n_before) : -1;
    // an output counts once, whichever view it is seen in
    unit->is_moving = F >= 0 || (turn > 0 && unit->is_moving);
    unit->is_over = F > view->limit || (turn > 0 && unit->is_over);
    if (turn == YOKE_MPSM_CHANGE_VIEWS - 1) {
      unit->n_moving += unit->is_moving;
      unit->n_over += unit->is_over;
    }
  }
}

static void conclude(yoke_mpsm_change* change, yoke_mpsm_change_unit* unit) {
  const bool is_over = unit->n_over > 0 && 2 * unit->n_over >= unit->n_moving;
  if (!unit->is_changed && !unit->is_moved) {
    unit->is_moved = is_over;
    change->n_changes += is_over;
    if (is_over) {
      clear_windows(unit);
    }
    return;
  }
  if (!is_over && unit->n_moving > 0) {
    // settled; what is usual for the errors is learnt anew if they have not come back to it
    unit->n_seen = unit->is_changed ? 0 : unit->n_seen;
    unit->is_changed = unit->is_moved = false;
    change->n_relearnt++;
  }
}

static void watch_windows(yoke_mpsm_change* change, yoke_mpsm_change_unit* unit) {
  const bool is_other = unit->is_changed || unit->is_moved;
  const size_t n_now = is_other ? N_SETTLED : N_NOW, n_before = is_other ? N_SETTLED : N_BEFORE;
  const yoke_mpsm_window* any = &unit->views[unit->views[0].is_used ? 0 : 1].window;
  if (unit->n_compared < pairs_of(unit)) {
    compare_next(unit, n_now, n_before);
    if (unit->n_compared == pairs_of(unit)) {
      conclude(change, unit);
    }
  }
  if (++unit->n_in_block < BLOCK) {
    return;
  }
  unit->n_in_block = 0;
  for (int v = 0; v < YOKE_MPSM_CHANGE_VIEWS; v++) {
    if (unit->views[v].is_used) {
      yoke__mpsm_window_next(&unit->views[v].window);
    }
  }
  if (any->n_whole >= n_now + n_before) {
    unit->n_compared = unit->n_moving = unit->n_over = 0;
  }
}

// Before the least squares of the unit take the sample in.
static void take_views(yoke_mpsm_change_unit* unit, const double y[], const double u[],
                       bool is_learning) {
  if (unit->views[0].is_used) {
    (void)take_sample(&unit->views[0], &unit->rls, unit->largest, y, u, is_learning);
  }
  if (unit->views[1].is_used) {
    take_mean(unit, y, u, is_learning);
  }
}

// ---- all of it

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
    take_views(unit, y_k, u_k, is_learning);
    const bool is_high = n_moving > 0 && 2 * n_missed >= n_moving;
    unit->n_past += unit->n_past < LAGS;
    unit->n_seen += n_moving > 0;
    unit->n_free = is_learning ? 0 : unit->n_free + 1;
    if (n_moving > 0 && count(change, unit, is_high)) {
      yoke__rls_restart(&unit->rls, VARIANCE);
    } else if (is_high && unit->n_seen > N_WARM && (!unit->is_changed || unit->n_low > 0)) {
      // an outlier: it goes into the history, but nothing is learnt from it and the next one
      yoke__rls_forget_history(&unit->rls);
    }
    yoke__rls_update(&unit->rls, y_k, u_k);
    if (!is_learning && (unit->views[0].is_used || unit->views[1].is_used)) {
      watch_windows(change, unit);
    }
  }
}

void yoke__mpsm_change_forget(yoke_mpsm_change* change) {
  for (size_t k = 0; k < change->n_units; k++) {
    yoke__rls_forget_history(&change->units[k].rls);
    change->units[k].n_past = 0;
    if (change->units[k].views[1].is_used) {
      yoke__rls_forget_history(&change->units[k].slow);
      change->units[k].views[1].n_in_mean = 0;
    }
  }
}
