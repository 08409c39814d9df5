// Interpolation for units that are called several times per exchange: instead of a polynomial that jumps at every exchange
// the unit gets a continuous ramp, and what it got too much or too little is given back.
//
//   u(tau) = e_k + (tau/H) (e_{k+1} - e_k)            e_k: where the last ramp ended
//   e_{k+1} = prediction for t_{k+1} - kappa D/H      D = integral delivered - integral of the signal, until t_k
//
// The prediction is the polynomial of order n, at least 1, through the last samples. The integral delivered is the one
// that the unit saw: the N values it held during its calls, (e_k + (N-1)/(2N) (e_{k+1} - e_k)) H, or the ramp itself if it
// takes derivatives. With d = D/H and a = (N-1)/(2N) errors die out as z^2 - (1 - a kappa) z + (1 - a) kappa = 0: inside
// the unit circle for N >= 2 and 0 < kappa <= 1; kappa = 0 keeps the error (z = 1).
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper IV, for the idea to keep the integral over a window; it prints
// no formula, the sum D is ours. Page: docs/couple_interpolate.md, "Equation".
// Assumes explicit Jacobi, equal intervals.
#include "couple/couple_interpolate.h"

#include <math.h>

#include "base/base_check.h"
#include "couple/couple_image.h"
#include "couple/couple_mean.h"
#include "couple/couple_pieces.h"
#include "couple/couple_polynomial.h"

enum { KAPPA, N_PARAMETERS };

static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [KAPPA] = {"kappa", "share of the integral's error given back per exchange", 0.2, 0, 1, NULL},
};

static const char* const health_names[] = {"defect", "peak", "lost"};

// Layout of self: the struct, one ramp_sink per sink, one ramp_signal per signal.
typedef struct ramp {
  const yoke_coupling_sink* sinks;
  const int* orders;
  const int64_t* n_sends;
  size_t n_signals, n_sinks;
  double interval, kappa;
  double defect;   // largest |D|
  double peak;     // largest correction of a value
  int64_t n_lost;  // samples that were lost or not finite
} ramp;

typedef struct ramp_sink {
  double share;  // a: mean of tau/H over the unit's calls
} ramp_sink;

typedef struct ramp_signal {
  yoke_polynomial p;
  yoke_mean mean;
  double start, end;  // of the ramp
  double d;           // D/H
  bool has_ramp;      // start and end are valid
  bool has_mean;      // the interval in hand began with a good sample
} ramp_signal;

static ramp_sink* sinks_of(void* memory) {
  return (ramp_sink*)((char*)memory + yoke__round_up(sizeof(ramp)));
}

static ramp_signal* signals_of(void* memory) {
  const ramp* self = memory;
  return (ramp_signal*)((char*)sinks_of(memory) +
                        yoke__round_up(self->n_sinks * sizeof(ramp_sink)));
}

static size_t ramp_size(const yoke_coupling_setup* setup) {
  return yoke__round_up(sizeof(ramp)) + yoke__round_up(setup->n_sinks * sizeof(ramp_sink)) +
         setup->n_signals * sizeof(ramp_signal);
}

static yoke_status ramp_prepare(void* memory, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  (void)sink;
  ramp* self = memory;
  *self = (ramp){
      .sinks = setup->sinks,
      .orders = setup->orders,
      .n_sends = setup->n_sends,
      .n_signals = setup->n_signals,
      .n_sinks = setup->n_sinks,
      .interval = setup->interval,
      .kappa = setup->parameters[KAPPA],
  };
  for (size_t s = 0; s < setup->n_sinks; s++) {
    const int64_t n_calls = llround(setup->interval / setup->sinks[s].step);
    // a = (N - 1) / (2 N)
    sinks_of(self)[s].share = yoke__polynomial_mean(n_calls > 1 ? n_calls : 1).c1;
  }
  return YOKE_OK;
}

static int64_t sends_of(const ramp* self, size_t signal) {
  return self->n_sends != NULL && self->n_sends[signal] > 1 ? self->n_sends[signal] : 1;
}

// Adds delivered - true mean of the interval that ends with y; both count from the sample at its start.
static void book_interval(ramp* self, double share, ramp_signal* r, size_t i, double y) {
  // both relative to the first sample, so that large offsets cost no digits
  const double delivered = (r->start - r->mean.start) + share * (r->end - r->start);

  // D/H += mean delivered - mean of the signal
  const double d = r->d + (delivered - yoke__mean_end(&r->mean, sends_of(self, i), y));
  if (yoke__is_finite(d)) {
    r->d = d;
    self->defect = fmax(self->defect, fabs(d) * self->interval);
  }
}

static void observe_signal(ramp* self, double share, ramp_signal* r, size_t i, double y) {
  if (!yoke__is_finite(y)) {
    // go on with what is known: hold the value that was promised
    r->start = r->end;
    r->has_mean = false;
    self->n_lost++;
    return;
  }
  if (r->has_ramp && r->has_mean) {
    book_interval(self, share, r, i, y);
  }
  yoke__polynomial_observe(&r->p, y);
  yoke__mean_start(&r->mean, y);
  r->has_mean = true;

  // the next ramp begins where the last one ended
  const int order = self->orders[i] > 1 ? self->orders[i] : 1;

  // p(H), order 1 at least: a ramp to a held value would lag by an interval
  const double prediction = yoke__polynomial_sum(&r->p, order, yoke__polynomial_at(1), r->p.u);

  // kappa D / H
  const double correction = self->kappa * r->d;
  r->start = r->has_ramp ? r->end : y;
  r->end = prediction - correction;
  r->has_ramp = true;
  self->peak = fmax(self->peak, fabs(correction));
}

static void ramp_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  (void)now;
  (void)u_applied;
  ramp* self = memory;
  for (size_t s = 0; s < self->n_sinks; s++) {
    const size_t first = self->sinks[s].first, n = self->sinks[s].n;
    for (size_t i = first; i < first + n; i++) {
      observe_signal(self, sinks_of(self)[s].share, &signals_of(self)[i], i, y[i]);
    }
  }
}

static void ramp_send(void* memory, size_t signal, int64_t j, double y) {
  yoke__mean_send(&signals_of(memory)[signal].mean, j, sends_of(memory, signal), y);
}

static inline void read_ramp(void* memory, size_t sink, double s, double u[]) {
  const ramp* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const ramp_signal* r = signals_of(memory) + first;
  for (size_t i = 0; i < n; i++, r++) {
    // u = e_k + (tau / H) (e_{k+1} - e_k)
    u[i] = r->start + s * (r->end - r->start);
  }
}

static void ramp_input(void* memory, size_t sink, double tau, double u[]) {
  const ramp* self = memory;
  read_ramp(memory, sink, tau / self->interval, u);
}

// The mean of a ramp is its value in the middle of the call.
static void ramp_input_mean(void* memory, size_t sink, double tau, double h, double u[]) {
  const ramp* self = memory;

  // the mean of a ramp counts in full: a = 1/2
  sinks_of(memory)[sink].share = 0.5;
  read_ramp(memory, sink, (tau + h / 2) / self->interval, u);
}

static void ramp_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  (void)tau;
  const ramp* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const ramp_signal* r = signals_of(memory) + first;
  for (size_t i = 0; i < n; i++, r++) {
    du[i] = order == 1 ? (r->end - r->start) / self->interval : 0;
  }
  // a unit that takes the slope sees the ramp, not steps of it
  sinks_of(memory)[sink].share = 0.5;
}

static void ramp_health(const void* memory, double values[]) {
  const ramp* self = memory;
  values[0] = self->defect;
  values[1] = self->peak;
  values[2] = (double)self->n_lost;
}

// A jump keeps the books: the integral must come right all the more. A substitute says nothing about the integral.
static void ramp_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  ramp* self = memory;
  ramp_signal* r = signals_of(memory);
  for (size_t i = 0; i < self->n_signals; i++, r++) {
    if (is_affected != NULL && !is_affected[i]) {
      continue;
    }
    yoke__polynomial_reset(&r->p);
    if (reason == YOKE_RESET_LOST_SAMPLE) {
      r->has_mean = false;
      self->n_lost++;
    } else if (reason == YOKE_RESET_MODE_SWITCH) {
      r->has_ramp = r->has_mean = false;
      r->d = 0;
    }
  }
}

static void walk(void* memory, yoke_image* image) {
  ramp* self = memory;
  YOKE_IMAGE_VALUE(image, self->defect);
  YOKE_IMAGE_VALUE(image, self->peak);
  YOKE_IMAGE_VALUE(image, self->n_lost);
  yoke__image_part(image, sinks_of(self), self->n_sinks * sizeof(ramp_sink));
  yoke__image_part(image, signals_of(self), self->n_signals * sizeof(ramp_signal));
}
YOKE_COUPLING_IMAGE(ramp, walk)

const yoke_coupling_ops yoke__couple_interpolate = {
    .name = "interpolate",
    .text = "continuous ramp to the predicted next sample that keeps the integral of the signal",
    .flags = YOKE_COUPLING_JACOBI | YOKE_COUPLING_SUBSTEPS,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .health_names = health_names,
    .n_health = sizeof health_names / sizeof *health_names,
    .lead_call = 0.5,
    .size = ramp_size,
    .prepare = ramp_prepare,
    .observe = ramp_observe,
    .send = ramp_send,
    .input = ramp_input,
    .input_mean = ramp_input_mean,
    .input_derivatives = ramp_input_derivatives,
    .health = ramp_health,
    .reset = ramp_reset,
    .image_size = ramp_image_size,
    .save = ramp_save,
    .restore = ramp_restore,
};
