// One signal that is predicted over its delay.
//
// The model is learnt from the newest sample j with the regressor at j - 1 and j - 2, and iterated to the exchange at which the
// number is used: i = k - j steps at the receiving end, k + nd - j at the sending one. Inputs beyond the present are held.
//
//   now  = y_j + w (y^_{j+i} - y_j) - kappa D / Dt            next = the same for y^_{j+i+1}
//   D   += delivered integral - true displacement             over the newest interval of which both are known
//
// What is sent at exchange k is in D nd + 1 exchanges later: D_{m+1} = D_m - kappa D_{m-nd}, which is stable up to kappa =
// 2 sin(pi / (4 nd + 2)) (0.62 at nd = 2, 0.15 at nd = 10). Half of that is the most that is used: the usual gain margin.
//
//   w: from 0 to 1 in FADE exchanges, and back where the model predicts worse than a held sample
//
// A sample that is missing, late or doubled is no newer j: the model is iterated further. A gap before a new sample is filled by
// the model, and nothing is learnt from it. In the second half of BRIDGE exchanges w goes back to 0: then the last sample is held.
//
// Invariant: rings are read and written at k - nd - 2 BRIDGE .. k + nd + 1 only.
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper IV, for prediction and line; D, w and the limits are ours:
// docs/couple_adaptive.md.
#include "couple/couple_adaptive_signal.h"

#include <math.h>

#include "base/base_check.h"
#include "couple/couple_pieces.h"

#define PI     3.14159265358979323846
#define BRIDGE 20  // exchanges: an oscillation that is predicted longer is a guess
#define FADE                                                                                       \
  10  // exchanges in which the model takes over: no jump larger than a tenth of what it changes
#define WARM_UP 20    // exchanges at the start in which it only learns
#define RECENT  0.95  // forgetting of the errors that are compared: 20 exchanges
#define WORSE                                                                                      \
  4.0  // squared error of the model over that of holding from which on it is not used; back at 1
#define TOLERATED                                                                                  \
  0.5  // of the range: at the turns of a signal a young model may miss more than holding does, and yet help
#define SETTLE 3  // exchanges before displacements are compared

static void lay(yoke_adaptive* a, yoke_pieces* pieces) {
  const size_t n = a->n_ring;
  a->state = yoke__take(pieces, 1, sizeof *a->state);
  a->u = yoke__take(pieces, n, sizeof *a->u);
  a->x = yoke__take(pieces, n, sizeof *a->x);
  a->foretold = yoke__take(pieces, n, sizeof *a->foretold);
  a->by = yoke__take(pieces, n, sizeof *a->by);
  a->integral = yoke__take(pieces, n, sizeof *a->integral);
  a->way = yoke__take(pieces, (size_t)a->setup.delay, sizeof *a->way);
}

static double correction_of(const yoke_adaptive_setup* setup) {
  // stability limit of D_{m+1} = D_m - kappa D_{m-nd}: kappa < 2 sin(pi / (4 nd + 2))
  const double critical = 2 * sin(PI / (4 * (double)setup->delay + 2));
  return fmin(setup->correction, critical / 2);
}

static size_t ring_of(const yoke_adaptive_setup* setup) {
  return 2 * ((size_t)setup->delay + BRIDGE + 2);
}

size_t yoke__adaptive_size(const yoke_adaptive_setup* setup) {
  yoke_adaptive a = {.setup = *setup, .n_ring = ring_of(setup)};
  yoke_pieces pieces = {NULL, 0};
  lay(&a, &pieces);
  return pieces.used + yoke__arx_size(&setup->arx);
}

yoke_status yoke__adaptive_prepare(yoke_adaptive* a, const yoke_adaptive_setup* setup, void* block,
                                   const yoke_sink* sink) {
  *a = (yoke_adaptive){.setup = *setup, .n_ring = ring_of(setup)};
  a->setup.correction = correction_of(setup);
  yoke_pieces pieces = {block, 0};
  lay(a, &pieces);
  return yoke__arx_prepare(&a->arx, &setup->arx, (char*)block + pieces.used, sink);
}

static inline double* at(const yoke_adaptive* a, double ring[], int64_t k) {
  return &ring[(size_t)k % a->n_ring];
}

// ---- what the receiver gets

static void give(yoke_adaptive* a, int64_t k, yoke_adaptive_pair pair) {
  a->state->given = pair;
  // a line is held during each call of the unit
  // mean of tau / H over n calls: (n - 1) / (2 n)
  const double n = (double)a->setup.n_calls;
  const double mean = a->setup.is_line ? (n - 1) / (2 * n) : 0;
  *at(a, a->integral, k) = a->setup.interval * (pair.now + mean * (pair.next - pair.now));
}

// D after exchange k: the sending end knows the displacement up to now, the receiving one up to what has arrived.
static void compare_displacement(yoke_adaptive* a, int64_t k) {
  yoke_adaptive_state* s = a->state;

  // newest interval whose displacement is known at this end
  const int64_t j = a->setup.is_sender ? k : k - a->setup.delay;
  if (!a->setup.has_displacement || k < a->setup.delay + SETTLE || j < 1) {
    return;
  }

  // integral delivered less the true displacement
  const double error = *at(a, a->integral, j - 1) - (*at(a, a->x, j) - *at(a, a->x, j - 1));
  if (yoke__is_finite(error)) {
    s->D += error;
    s->counts.largest_D = fmax(s->counts.largest_D, fabs(s->D));
  }
}

// ---- predictions

static void weigh(yoke_adaptive* a, int64_t k, int64_t steps) {
  yoke_adaptive_state* s = a->state;

  // weight rises only with enough samples, a model better than holding, and a gap that is not too
  // long
  const bool is_used = k > WARM_UP && yoke__arx_is_ready(&a->arx) && !s->is_worse &&
                       steps <= a->setup.delay + BRIDGE - FADE;
  s->weight = fmin(fmax(s->weight + (is_used ? 1.0 : -1.0) / FADE, 0), 1);
}

// What is said about an exchange is compared when its sample comes.
static void remember(yoke_adaptive* a, int64_t target, double y) {
  *at(a, a->foretold, target) = y;
  *at(a, a->by, target) = a->state->value;
}

// The pair for the exchange `target`, at exchange k.
static yoke_adaptive_pair foretell(yoke_adaptive* a, int64_t k, int64_t target) {
  yoke_adaptive_state* s = a->state;
  compare_displacement(a, k);
  yoke_adaptive_pair pair = {s->value, s->value};

  // steps from the newest sample to the exchange at which the number is used
  const int64_t steps = target - s->last;
  weigh(a, k, steps);
  if (s->last >= 0 && steps <= a->setup.delay + BRIDGE) {
    yoke_arx_ahead ahead;
    yoke__arx_ahead_start(&a->arx, &ahead);
    for (int64_t i = 0; i <= steps; i++) {
      pair.now = ahead.y[0];
      // regressor beyond the present: held
      const int64_t known = s->last + i < k ? s->last + i : k;
      pair.next = yoke__arx_ahead_step(&a->arx, &ahead, *at(a, a->u, known));
    }
    if (steps > 0) {
      remember(a, target, pair.now);
    } else {
      remember(a, target + 1, pair.next);
    }
    // blend of held sample and model: v + w (v^ - v)
    pair.now = s->value + s->weight * (pair.now - s->value);
    pair.next = s->value + s->weight * (pair.next - s->value);
  }

  // kappa D / Dt is taken back per exchange
  const double back = a->setup.correction * s->D / a->setup.interval;
  return (yoke_adaptive_pair){pair.now - back, pair.next - back};
}

// ---- samples

// The model against a held sample, over the way that both had to go.
static void judge(yoke_adaptive* a, int64_t k, double y) {
  yoke_adaptive_state* s = a->state;
  const double model = y - *at(a, a->foretold, k), held = y - *at(a, a->by, k);
  *at(a, a->foretold, k) = (double)NAN;
  if (!yoke__is_finite(model) || k <= WARM_UP) {
    return;
  }

  // squared errors with a memory of 20 exchanges
  s->e_model = RECENT * s->e_model + model * model;
  s->e_held = RECENT * s->e_held + held * held;
  s->counts.model += model * model;
  s->counts.held += held * held;
  s->counts.n_compared++;

  // what errors of half the range add up to in this memory
  const double range = a->arx.state->high - a->arx.state->low;
  const double tolerated = TOLERATED * TOLERATED * range * range / (1 - RECENT);
  const bool was_worse = s->is_worse;

  // hysteresis: worse from four times the error of holding on, good again from once
  s->is_worse = s->e_model > (was_worse ? 1 : WORSE) * s->e_held + (was_worse ? 0 : tolerated);
  s->counts.n_fallbacks += s->is_worse && !was_worse;
}

static void begin_anew(yoke_adaptive* a, double y) {
  yoke__arx_restart(&a->arx, y);
  for (size_t i = 0; i < a->n_ring; i++) {
    a->foretold[i] = (double)NAN;
  }
  a->state->weight = 0;
}

// The newest sample at exchange k of this end.
static void learn(yoke_adaptive* a, const yoke_adaptive_sample* sample, int64_t k) {
  yoke_adaptive_state* s = a->state;
  const int64_t j = sample->k;
  if (!sample->is_known || j < 0 || !yoke__is_finite(sample->y)) {
    return;
  }

  // older than the newest, or older than the bridge can reach
  if (j <= s->last || k - j > a->setup.delay + BRIDGE) {
    s->counts.n_ignored++;
    return;
  }
  if (sample->is_jump || s->last < 0 || j - s->last > BRIDGE) {
    begin_anew(a, sample->y);
  } else {
    // gaps are filled by the model itself, without learning
    for (int64_t i = s->last + 1; i < j; i++) {
      yoke__arx_skip(&a->arx, *at(a, a->u, i - 1));
    }
    judge(a, j, sample->y);
    yoke__arx_update(&a->arx, sample->y, *at(a, a->u, j - 1));
  }
  s->last = j;
  s->value = sample->y;
}

// ---- exchanges

void yoke__adaptive_start(yoke_adaptive* a, double y, double u, double x) {
  *a->state = (yoke_adaptive_state){.last = -1, .value = y};
  *at(a, a->u, 0) = u;
  *at(a, a->x, 0) = x;
  for (size_t i = 0; i < a->n_ring; i++) {
    a->foretold[i] = (double)NAN;
  }
  const yoke_adaptive_pair pair = {y, y};
  const yoke_adaptive_sample first = {.y = y, .k = 0, .is_known = true};
  for (int64_t i = 0; i < a->setup.delay; i++) {
    a->way[i] = (yoke_adaptive_slot){pair, {.y = y, .k = -1}};
  }
  if (a->setup.is_sender || a->setup.delay == 0) {
    learn(a, &first, 0);
  } else {
    a->way[0].sample = first;
  }
  give(a, 0, pair);
}

static void take(yoke_adaptive* a, const yoke_adaptive_sample* sample, int64_t k) {
  learn(a, sample, k);
  a->state->counts.n_bridged += a->state->last < k - a->setup.delay;
  give(a, k, foretell(a, k, k));
}

void yoke__adaptive_begin(yoke_adaptive* a, int64_t k, double u, double x) {
  *at(a, a->u, k) = u;
  *at(a, a->x, k) = x;
  if (a->state->k == k) {
    return;
  }
  a->state->k = k;
  if (a->setup.delay > 0) {
    const yoke_adaptive_slot* slot = &a->way[k % a->setup.delay];
    if (a->setup.is_sender) {
      give(a, k, slot->pair);
    } else {
      const yoke_adaptive_sample sample = slot->sample;
      take(a, &sample, k);
    }
  }
}

void yoke__adaptive_observe(yoke_adaptive* a, const yoke_adaptive_sample* sample) {
  const int64_t k = a->state->k, delay = a->setup.delay;
  if (a->setup.is_sender) {
    learn(a, sample, k);
    a->state->counts.n_bridged += a->state->last < k;
    const yoke_adaptive_pair pair = foretell(a, k, k + delay);
    if (delay > 0) {
      a->way[k % delay].pair = pair;
    } else {
      give(a, k, pair);
    }
  } else if (delay > 0) {
    a->way[k % delay].sample = *sample;
  } else {
    take(a, sample, k);
  }
}
