// Polynomial extrapolation in Newton's backward form. With s = tau / interval and backward differences
// D1 = u_k - u_{k-1}, D2 = D1 - D1_{k-1}, D3 = D2 - D2_{k-1}:
//
//   u(s) = u_k + s D1 + s (s+1)/2 D2 + s (s+1) (s+2)/6 D3
//
// The same polynomial as through the Vandermonde system in absolute time, without its ill-conditioning: nothing here
// grows with t. At s = 0 every order returns the sample itself, bit by bit. While fewer than n + 1 samples are known
// (start, reset) order n falls back to what they allow.
#include "couple/couple_hold.h"

// Layout of self: the struct, then per signal u, D1, D2, D3 and the number of samples next to each other.
typedef struct hold {
  const yoke_coupling_sink* sinks;
  const int* orders;
  size_t n_signals;
  double interval;
} hold;

typedef struct hold_signal {
  double u, d1, d2, d3;
  int64_t n_samples;  // since the start or the last reset, at most 4
} hold_signal;

static hold_signal* signals_of(hold* self) {
  return (hold_signal*)((char*)self + 64);
}

static size_t hold_size(const yoke_coupling_setup* setup) {
  _Static_assert(sizeof(hold) <= 64, "the signals start at byte 64");
  return 64 + setup->n_signals * sizeof(hold_signal);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the contract of prepare
static yoke_status hold_prepare(void* memory, const yoke_coupling_setup* setup, char* err,
                                size_t err_size) {
  (void)err;
  (void)err_size;
  hold* self = memory;
  *self = (hold){setup->sinks, setup->orders, setup->n_signals, setup->interval};
  return YOKE_OK;
}

static void hold_observe(void* memory, int64_t k, const double y[], const double u_applied[]) {
  (void)k;
  (void)u_applied;
  hold* self = memory;
  hold_signal* signal = signals_of(self);
  for (size_t i = 0; i < self->n_signals; i++, signal++) {
    // a difference counts only once all its samples do
    const int64_t n = signal->n_samples;
    const double d1 = n >= 1 ? y[i] - signal->u : 0;
    const double d2 = n >= 2 ? d1 - signal->d1 : 0;
    signal->d3 = n >= 3 ? d2 - signal->d2 : 0;
    signal->d2 = d2;
    signal->d1 = d1;
    signal->u = y[i];
    signal->n_samples = n < 4 ? n + 1 : 4;
  }
}

static void hold_input(void* memory, size_t sink, double tau, double u[]) {
  hold* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const double s = tau / self->interval;
  const double c2 = s * (s + 1) / 2, c3 = c2 * (s + 2) / 3;
  const hold_signal* signal = signals_of(self) + first;
  const int* order = self->orders + first;
  for (size_t i = 0; i < n; i++, signal++) {
    double value = signal->u;
    if (order[i] >= 1) {
      value += s * signal->d1;
    }
    if (order[i] >= 2) {
      value += c2 * signal->d2;
    }
    if (order[i] >= 3) {
      value += c3 * signal->d3;
    }
    u[i] = value;
  }
}

// d/dt of the polynomial above: ds/dt = 1 / interval
static void hold_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  hold* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const double s = tau / self->interval, r = 1 / self->interval;
  double c1 = 0, c2 = 0, c3 = 0;
  if (order == 1) {
    c1 = r;
    c2 = r * (2 * s + 1) / 2;
    c3 = r * (3 * s * s + 6 * s + 2) / 6;
  } else if (order == 2) {
    c2 = r * r;
    c3 = r * r * (s + 1);
  } else if (order == 3) {
    c3 = r * r * r;
  }
  const hold_signal* signal = signals_of(self) + first;
  for (size_t i = 0; i < n; i++, signal++) {
    const int most = self->orders[first + i];
    du[i] = (most >= 1 ? c1 * signal->d1 : 0) + (most >= 2 ? c2 * signal->d2 : 0) +
            (most >= 3 ? c3 * signal->d3 : 0);
  }
}

static void hold_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  (void)reason;
  hold* self = memory;
  // the sample stays valid as a hold; its history does not
  hold_signal* signal = signals_of(self);
  for (size_t i = 0; i < self->n_signals; i++, signal++) {
    if (is_affected == NULL || is_affected[i]) {
      *signal = (hold_signal){.u = signal->u};
    }
  }
}

const yoke_coupling_ops yoke__couple_hold = {
    .name = "hold",
    .text = "polynomial extrapolation of order 0 to 3 from the last samples",
    .size = hold_size,
    .prepare = hold_prepare,
    .observe = hold_observe,
    .input = hold_input,
    .input_derivatives = hold_input_derivatives,
    .reset = hold_reset,
};
