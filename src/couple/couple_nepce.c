// Nearly energy-preserving coupling element: what the last extrapolation missed in the integral of the signal is added
// to the next one.
//
//   u = p_k(tau) + weight * c_k        c_k = mean of the signal over the last interval - mean of p_{k-1} over it, c_0 = 0
//
// p_k is the uncorrected polynomial. Measured against the total input instead, a constant signal would answer to a past
// error with an eigenvalue of -1; so c_k of a constant is 0, exactly, after one interval. The mean of p_{k-1} is what
// the receiving unit saw: the values it held during its calls, or the polynomial itself if it takes derivatives.
// Source: M. Benedikt, A. Hofer, Guidelines for the application of a coupling method for non-iterative co-simulation, 8th
// EUROSIM Congress 2013, for the idea. Page: docs/couple_nepce.md, "Equation". Assumes explicit Jacobi, equal intervals.
#include "couple/couple_nepce.h"

#include <math.h>

#include "base/base_check.h"
#include "couple/couple_image.h"
#include "couple/couple_mean.h"
#include "couple/couple_pieces.h"
#include "couple/couple_polynomial.h"

enum { WEIGHT, N_PARAMETERS };

static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [WEIGHT] = {"weight", "share of the missed mean that is added", 1, 0, 1, NULL},
};

static const char* const health_names[] = {"peak", "mean"};

// Layout of self: the struct, one nepce_sink per sink, one nepce_signal per signal.
typedef struct nepce {
  const yoke_coupling_sink* sinks;
  const int* orders;
  const int64_t* n_sends;
  size_t n_signals, n_sinks;
  double interval, weight;
  double peak, sum;  // of |c|
  int64_t n_summed;
} nepce;

typedef struct nepce_sink {
  yoke_polynomial_weights held;  // mean of what the unit holds during its calls
  int derivatives;               // highest order it asked for
} nepce_sink;

typedef struct nepce_signal {
  yoke_polynomial p;
  yoke_mean mean;
  double c;
} nepce_signal;

static nepce_sink* sinks_of(void* memory) {
  return (nepce_sink*)((char*)memory + yoke__round_up(sizeof(nepce)));
}

static nepce_signal* signals_of(void* memory) {
  const nepce* self = memory;
  return (nepce_signal*)((char*)sinks_of(memory) +
                         yoke__round_up(self->n_sinks * sizeof(nepce_sink)));
}

static size_t nepce_size(const yoke_coupling_setup* setup) {
  return yoke__round_up(sizeof(nepce)) + yoke__round_up(setup->n_sinks * sizeof(nepce_sink)) +
         setup->n_signals * sizeof(nepce_signal);
}

static yoke_status nepce_prepare(void* memory, const yoke_coupling_setup* setup,
                                 const yoke_sink* sink) {
  (void)sink;
  nepce* self = memory;
  *self = (nepce){
      .sinks = setup->sinks,
      .orders = setup->orders,
      .n_sends = setup->n_sends,
      .n_signals = setup->n_signals,
      .n_sinks = setup->n_sinks,
      .interval = setup->interval,
      .weight = setup->parameters[WEIGHT],
  };
  for (size_t s = 0; s < setup->n_sinks; s++) {
    const int64_t n_calls = llround(setup->interval / setup->sinks[s].step);
    // weights of the mean over the N values that the unit holds
    sinks_of(self)[s].held = yoke__polynomial_mean(n_calls > 1 ? n_calls : 1);
  }
  return YOKE_OK;
}

static int64_t sends_of(const nepce* self, size_t signal) {
  return self->n_sends != NULL && self->n_sends[signal] > 1 ? self->n_sends[signal] : 1;
}

// c from the interval that ends with y; both means count from the sample at its start.
static double missed_mean(const nepce* self, const nepce_sink* sink, nepce_signal* signal, size_t i,
                          double y) {
  if (signal->p.n_samples == 0) {
    return 0;  // no interval yet, or its history is not valid
  }
  const int order = self->orders[i];

  // a unit that takes all derivatives sees the polynomial itself
  const yoke_polynomial_weights w =
      sink->derivatives >= order ? yoke__polynomial_mean(0) : sink->held;

  // c_k = mean of the signal - mean of p_{k-1}, both less the first sample
  const double c = yoke__mean_end(&signal->mean, sends_of(self, i), y) -
                   yoke__polynomial_sum(&signal->p, order, w, 0);
  return yoke__is_finite(c) ? c : 0;
}

static void nepce_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                          const double u_applied[]) {
  (void)now;
  (void)u_applied;
  nepce* self = memory;
  for (size_t s = 0; s < self->n_sinks; s++) {
    const size_t first = self->sinks[s].first, n = self->sinks[s].n;
    for (size_t i = first; i < first + n; i++) {
      nepce_signal* signal = &signals_of(self)[i];
      // c before the sample is taken: p is still that of the interval that ends now
      signal->c = self->weight * missed_mean(self, &sinks_of(self)[s], signal, i, y[i]);
      yoke__polynomial_observe(&signal->p, y[i]);
      yoke__mean_start(&signal->mean, y[i]);
      self->peak = fmax(self->peak, fabs(signal->c));
      self->sum += fabs(signal->c);
      self->n_summed++;
    }
  }
}

static void nepce_send(void* memory, size_t signal, int64_t j, double y) {
  yoke__mean_send(&signals_of(memory)[signal].mean, j, sends_of(memory, signal), y);
}

static inline void weigh(void* memory, size_t sink, yoke_polynomial_weights w, double u[]) {
  const nepce* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const nepce_signal* signal = signals_of(memory) + first;
  for (size_t i = 0; i < n; i++, signal++) {
    const double value = yoke__polynomial_sum(&signal->p, self->orders[first + i], w, signal->p.u);
    // u = p_k(tau) + c_k
    u[i] = value + signal->c;
  }
}

static void nepce_input(void* memory, size_t sink, double tau, double u[]) {
  const nepce* self = memory;
  weigh(memory, sink, yoke__polynomial_at(tau / self->interval), u);
}

// A unit that gets means sees the polynomial itself.
static void nepce_input_mean(void* memory, size_t sink, double tau, double h, double u[]) {
  const nepce* self = memory;
  sinks_of(memory)[sink].held = yoke__polynomial_mean(0);
  weigh(memory, sink, yoke__polynomial_call(tau, h, self->interval), u);
}

static void nepce_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  const nepce* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const yoke_polynomial_weights w =
      yoke__polynomial_slope(tau / self->interval, self->interval, order);
  const nepce_signal* signal = signals_of(memory) + first;
  for (size_t i = 0; i < n; i++, signal++) {
    du[i] = yoke__polynomial_sum(&signal->p, self->orders[first + i], w, 0);
  }
  nepce_sink* taker = &sinks_of(memory)[sink];
  taker->derivatives = order > taker->derivatives ? order : taker->derivatives;
}

static void nepce_health(const void* memory, double values[]) {
  const nepce* self = memory;
  values[0] = self->peak;
  values[1] = self->n_summed > 0 ? self->sum / (double)self->n_summed : 0;
}

static void nepce_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  (void)reason;
  const nepce* self = memory;
  nepce_signal* signal = signals_of(memory);
  for (size_t i = 0; i < self->n_signals; i++, signal++) {
    if (is_affected == NULL || is_affected[i]) {
      yoke__polynomial_reset(&signal->p);
      signal->c = 0;
    }
  }
}

static void walk(void* memory, yoke_image* image) {
  nepce* self = memory;
  YOKE_IMAGE_VALUE(image, self->peak);
  YOKE_IMAGE_VALUE(image, self->sum);
  YOKE_IMAGE_VALUE(image, self->n_summed);
  yoke__image_part(image, sinks_of(self), self->n_sinks * sizeof(nepce_sink));
  yoke__image_part(image, signals_of(self), self->n_signals * sizeof(nepce_signal));
}
YOKE_COUPLING_IMAGE(nepce, walk)

const yoke_coupling_ops yoke__couple_nepce = {
    .name = "nepce",
    .form = YOKE_FORM_MEAN_ERROR,
    .text = "extrapolation that adds what the last one missed in the integral of the signal",
    .flags = YOKE_COUPLING_JACOBI,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .health_names = health_names,
    .n_health = sizeof health_names / sizeof *health_names,
    .lead_interval = 0.5,
    .size = nepce_size,
    .prepare = nepce_prepare,
    .observe = nepce_observe,
    .send = nepce_send,
    .input = nepce_input,
    .input_mean = nepce_input_mean,
    .input_derivatives = nepce_input_derivatives,
    .health = nepce_health,
    .reset = nepce_reset,
    .image_size = nepce_image_size,
    .save = nepce_save,
    .restore = nepce_restore,
};
