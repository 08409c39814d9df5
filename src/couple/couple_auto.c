// The method of signals that name none: a polynomial whose order is chosen while running, per signal.
//
// At every exchange the value that each order predicted for it is compared with the one that came,
//
//   E_c = 0.8 E_c + 0.2 (y - predicted by order c)^2        c = 0, 1, 2
//
// The highest order that is off by less than 0.3 of the signal's own spread serves, E_c <= 0.09 V: choosing the least E there
// would answer to noise. If none is, the signal swings from exchange to exchange, as a loop does that the coupling makes
// unstable, and the order with the least E serves: there the higher orders predict worst, so that holding takes over by
// itself. V is the variance over the last 500 exchanges. Orders that have not been compared yet (start, reset) are trusted:
// what is held there leaves an error that a weakly damped system never forgets.
//
// Where a loop grows in spite of that (YOKE_RESET_GROWTH), all its signals are held for 20 exchanges, then 40, 80, ...
// Own design. Page: docs/couple_auto.md, "Rule" and "Fallback".
#include "couple/couple_auto.h"

#include <math.h>

#include "couple/couple_image.h"
#include "couple/couple_polynomial.h"

#define N_ORDERS       3
#define KEPT           0.8
#define SPREAD         0.09   // of the variance: what an order may be off by
#define WINDOW         500    // exchanges
#define MOST           1e300  // of a squared error: sums stay finite
#define FALLBACK       20     // exchanges of the first one; each is twice as long as the one before
#define MOST_FALLBACKS 40     // that still double: 2e13 exchanges

// The ways to serve a signal: orders 0 to 2, and holding because its loop grew.
enum { BY_FALLBACK = N_ORDERS, N_WAYS };

static const char* const health_names[] = {"held", "linear", "quadratic", "fallback", "changes"};

static const char* const reasons[N_WAYS] = {
    "it swings from exchange to exchange, and holding foretells it best",
    "order 2 foretells it badly, order 1 does not",
    "order 2 foretells it well",
    "its loop grew a hundredfold",
};

typedef struct auto_signal {
  yoke_polynomial p;
  double E[N_ORDERS];      // of the orders that have been compared
  int64_t n_used[N_WAYS];  // exchanges
  int64_t n_changes;       // of the order, once all have been compared
  int64_t n_fallbacks;
  int64_t n_held;  // exchanges that are left of the last one
  double mean, variance;
  int64_t n_seen;  // samples behind them, at most WINDOW
  int order;
} auto_signal;

// Layout of self: the struct, then the signals.
typedef struct automatic {
  const yoke_coupling_sink* sinks;
  const int* orders;  // the highest that may serve
  size_t n_signals;
  double interval;
} automatic;

static auto_signal* signals_of(void* memory) {
  return (auto_signal*)((char*)memory + 64);
}

static size_t auto_size(const yoke_coupling_setup* setup) {
  _Static_assert(sizeof(automatic) <= 64, "the signals start at byte 64");
  return 64 + setup->n_signals * sizeof(auto_signal);
}

static yoke_status auto_prepare(void* memory, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  (void)sink;
  automatic* self = memory;
  *self = (automatic){setup->sinks, setup->orders, setup->n_signals, setup->interval};
  return YOKE_OK;
}

// The highest order that the samples and the signal allow.
static inline int highest(const automatic* self, const auto_signal* s, size_t i) {
  const int allowed = self->orders[i] < N_ORDERS ? self->orders[i] : N_ORDERS - 1;
  return s->p.n_samples > allowed ? allowed : (int)s->p.n_samples - 1;
}

// What the orders predicted for now, against what came. n: how many of them could.
static void compare(auto_signal* s, int n, double y) {
  // order c predicts u + d1 + .. + d_c (s = 1)
  double foretold = s->p.u;
  const double steps[N_ORDERS] = {0, s->p.d1, s->p.d2};
  for (int c = 0; c < n && c < N_ORDERS; c++) {
    foretold += steps[c];
    const double e = y - foretold;
    // the order c is compared for the first time after c + 1 samples
    // E_c = 0.8 E_c + 0.2 e^2
    const double E = s->p.n_samples == c + 1 ? e * e : KEPT * s->E[c] + (1 - KEPT) * e * e;
    s->E[c] = E < MOST ? E : MOST;
  }
}

static void spread(auto_signal* s, double y) {
  s->n_seen = s->n_seen < WINDOW ? s->n_seen + 1 : WINDOW;

  // running mean and variance with weight 1 / n, n at most 500
  const double w = 1 / (double)s->n_seen, distance = y - s->mean;
  s->mean += w * distance;
  const double variance = s->variance + w * (distance * (y - s->mean) - s->variance);
  s->variance = variance < MOST ? variance : MOST;
}

static int choose(const auto_signal* s, int n_compared, int most) {
  // the highest order whose mean square error is below 9 % of the variance
  for (int c = most; c > 0; c--) {
    if (c >= n_compared || s->E[c] <= SPREAD * s->variance) {
      return c;
    }
  }

  // none: the least error
  int best = 0;
  for (int c = 1; c <= most; c++) {
    best = s->E[c] < s->E[best] ? c : best;
  }
  return best;
}

static void auto_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  (void)now;
  (void)u_applied;
  automatic* self = memory;
  auto_signal* s = signals_of(self);
  for (size_t i = 0; i < self->n_signals; i++, s++) {
    // orders 0 .. highest had enough samples to predict this one
    const int n_compared = highest(self, s, i) + 1;
    compare(s, n_compared, y[i]);
    spread(s, y[i]);
    yoke__polynomial_observe(&s->p, y[i]);
    const bool is_fallback = s->n_held > 0;
    const int order = is_fallback ? 0 : choose(s, n_compared, highest(self, s, i));
    s->n_held -= is_fallback;
    s->n_changes += order != s->order && n_compared > 2;
    s->order = order;
    s->n_used[is_fallback ? BY_FALLBACK : order]++;
  }
}

static inline void weigh(automatic* self, size_t sink, yoke_polynomial_weights w, double u[]) {
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const auto_signal* s = signals_of(self) + first;
  for (size_t i = 0; i < n; i++, s++) {
    u[i] = yoke__polynomial_sum(&s->p, s->order, w, s->p.u);
  }
}

static void auto_input(void* memory, size_t sink, double tau, double u[]) {
  automatic* self = memory;
  weigh(self, sink, yoke__polynomial_at(tau / self->interval), u);
}

static void auto_input_mean(void* memory, size_t sink, double tau, double h, double u[]) {
  automatic* self = memory;
  weigh(self, sink, yoke__polynomial_call(tau, h, self->interval), u);
}

static void auto_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  automatic* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const yoke_polynomial_weights w =
      yoke__polynomial_slope(tau / self->interval, self->interval, order);
  const auto_signal* s = signals_of(self) + first;
  for (size_t i = 0; i < n; i++, s++) {
    du[i] = yoke__polynomial_sum(&s->p, s->order, w, 0);
  }
}

// Held from this exchange on. The orders go on being compared.
static void fall_back(auto_signal* s) {
  // 20, 40, 80, ... exchanges
  s->n_held = (int64_t)FALLBACK << s->n_fallbacks;
  s->n_fallbacks += s->n_fallbacks < MOST_FALLBACKS;
  s->order = 0;
}

static void auto_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  automatic* self = memory;
  auto_signal* s = signals_of(self);
  for (size_t i = 0; i < self->n_signals; i++, s++) {
    if (is_affected != NULL && !is_affected[i]) {
      continue;
    }
    if (reason == YOKE_RESET_GROWTH) {
      fall_back(s);
    } else {
      yoke__polynomial_reset(&s->p);
      s->order = 0;
    }
  }
}

// A loop that grows while its signals are predicted well does so by itself: holding them would only add an error. One that grows
// while it is held is held already.
static bool auto_is_failing(const void* memory, size_t signal) {
  const auto_signal* s = signals_of(yoke__image_memory(memory)) + signal;
  return s->n_held == 0 && s->E[N_ORDERS - 1] > SPREAD * s->variance;
}

static void auto_health(const void* memory, double values[]) {
  const automatic* self = memory;
  const auto_signal* s = signals_of(yoke__image_memory(memory));
  for (size_t i = 0; i <= N_WAYS; i++) {
    values[i] = 0;
  }
  for (size_t i = 0; i < self->n_signals; i++, s++) {
    for (int c = 0; c < N_WAYS; c++) {
      values[c] += (double)s->n_used[c];
    }
    values[N_WAYS] += (double)s->n_changes;
  }
}

static size_t auto_served(const void* memory, size_t signal, yoke_coupling_service services[],
                          size_t n) {
  const auto_signal* s = signals_of(yoke__image_memory(memory)) + signal;
  for (size_t c = 0; c < n && c < N_WAYS; c++) {
    services[c] = (yoke_coupling_service){health_names[c], s->n_used[c], reasons[c]};
  }
  return N_WAYS;
}

static void walk(void* memory, yoke_image* image) {
  automatic* self = memory;
  yoke__image_part(image, signals_of(self), self->n_signals * sizeof(auto_signal));
}
YOKE_COUPLING_IMAGE(auto, walk)

const yoke_coupling_ops yoke__couple_auto = {
    .name = "auto",
    .form = YOKE_FORM_POLYNOMIAL,
    .text = "extrapolation of the order that has lately foretold the signal best",
    .health_names = health_names,
    .n_health = sizeof health_names / sizeof health_names[0],
    .size = auto_size,
    .prepare = auto_prepare,
    .observe = auto_observe,
    .input = auto_input,
    .input_mean = auto_input_mean,
    .input_derivatives = auto_input_derivatives,
    .reset = auto_reset,
    .health = auto_health,
    .served = auto_served,
    .is_failing = auto_is_failing,
    .image_size = auto_image_size,
    .save = auto_save,
    .restore = auto_restore,
};
