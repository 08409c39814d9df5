// Polynomial extrapolation from the last samples, per signal; the arithmetic is in couple_polynomial.h.
#include "couple/couple_hold.h"

#include "couple/couple_image.h"
#include "couple/couple_polynomial.h"

// Layout of self: the struct, then one polynomial per signal.
typedef struct hold {
  const yoke_coupling_sink* sinks;
  const int* orders;
  size_t n_signals, n_sinks;
  double interval;
} hold;

static yoke_polynomial* signals_of(hold* self) {
  return (yoke_polynomial*)((char*)self + 64);
}

static size_t hold_size(const yoke_coupling_setup* setup) {
  _Static_assert(sizeof(hold) <= 64, "the signals start at byte 64");
  return 64 + setup->n_signals * sizeof(yoke_polynomial);
}

static yoke_status hold_prepare(void* memory, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  (void)sink;
  hold* self = memory;
  *self = (hold){setup->sinks, setup->orders, setup->n_signals, setup->n_sinks, setup->interval};
  return YOKE_OK;
}

static void hold_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  (void)u_applied;
  hold* self = memory;
  yoke_polynomial* signal = signals_of(self);
  if (now->is_due != NULL) {
    for (size_t i = 0; i < self->n_signals; i++) {
      if (now->is_due[i]) {
        yoke__polynomial_observe(&signal[i], y[i]);
      }
    }
    return;
  }
  for (size_t i = 0; i < self->n_signals; i++, signal++) {
    yoke__polynomial_observe(signal, y[i]);
  }
}

static inline void weigh(hold* self, size_t sink, yoke_polynomial_weights w, double u[]) {
  const bool is_only = self->n_sinks == 1;
  const size_t first = is_only ? 0 : self->sinks[sink].first;
  const size_t n = is_only ? self->n_signals : self->sinks[sink].n;
  const yoke_polynomial* signal = signals_of(self) + first;
  const int* order = self->orders + first;
  for (size_t i = 0; i < n; i++, signal++) {
    u[i] = yoke__polynomial_sum(signal, order[i], w, signal->u);
  }
}

static void hold_input(void* memory, size_t sink, double tau, double u[]) {
  hold* self = memory;
  weigh(self, sink, yoke__polynomial_at(tau / self->interval), u);
}

static void hold_input_mean(void* memory, size_t sink, double tau, double h, double u[]) {
  hold* self = memory;
  weigh(self, sink, yoke__polynomial_call(tau, h, self->interval), u);
}

static void hold_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  hold* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const yoke_polynomial_weights w =
      yoke__polynomial_slope(tau / self->interval, self->interval, order);
  const yoke_polynomial* signal = signals_of(self) + first;
  for (size_t i = 0; i < n; i++, signal++) {
    du[i] = yoke__polynomial_sum(signal, self->orders[first + i], w, 0);
  }
}

static void hold_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  (void)reason;
  hold* self = memory;
  yoke_polynomial* signal = signals_of(self);
  for (size_t i = 0; i < self->n_signals; i++, signal++) {
    if (is_affected == NULL || is_affected[i]) {
      yoke__polynomial_reset(signal);
    }
  }
}

static void walk(void* memory, yoke_image* image) {
  hold* self = memory;
  yoke__image_part(image, signals_of(self), self->n_signals * sizeof(yoke_polynomial));
}
YOKE_COUPLING_IMAGE(hold, walk)

yoke_polynomial* yoke__couple_hold_signals(void* self) {
  return signals_of(self);
}

const yoke_coupling_ops yoke__couple_hold = {
    .name = "hold",
    .form = YOKE_FORM_POLYNOMIAL,
    .flags = YOKE_COUPLING_FRESH,
    .text = "polynomial extrapolation of order 0 to 3 from the last samples",
    .size = hold_size,
    .prepare = hold_prepare,
    .observe = hold_observe,
    .input = hold_input,
    .input_mean = hold_input_mean,
    .input_derivatives = hold_input_derivatives,
    .reset = hold_reset,
    .image_size = hold_image_size,
    .save = hold_save,
    .restore = hold_restore,
};
