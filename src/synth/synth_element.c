// Coefficients and rest of a coupling element; the steps are in the header.
#include "synth/synth_element.h"

#include <math.h>

#define PI 3.14159265358979323846

static void init_smoother(yoke_synth_element* self, double step, double hz, double damping) {
  // in units of k = 2 / h, so that nothing overflows
  // w = w2 / k with k = 2 / h: tan is not used, so the frequency is not prewarped
  const double w = PI * hz * step, den = 1 + 2 * damping * w + w * w;
  self->b[0] = w * w / den;
  self->b[1] = 2 * self->b[0];
  self->b[2] = self->b[0];
  self->a[0] = 2 * (w * w - 1) / den;
  self->a[1] = (1 - 2 * damping * w + w * w) / den;
}

void yoke__synth_element_init(yoke_synth_element* self, double step, double pole,
                              double smoother_hz, double damping, size_t n, const double c[]) {
  // Tustin of a / (s + a): gain g = x / (1 + x), pole p = (1 - x) / (1 + x), x = a h / 2
  const double x = pole * step / 2;
  *self = (yoke_synth_element){.n = n, .g = x / (1 + x), .p = (1 - x) / (1 + x)};
  for (size_t i = 0; i <= n; i++) {
    self->c[i] = c[i];
  }
  init_smoother(self, step, smoother_hz, damping);
}

void yoke__synth_element_init_general(yoke_synth_element* self, double step,
                                      const yoke_synth_filter* lead, double smoother_hz,
                                      double damping) {
  *self = (yoke_synth_element){.n = lead->n, .filter = *lead};
  init_smoother(self, step, smoother_hz, damping);
}

double yoke__synth_lead_gain(const yoke_synth_element* self) {
  const yoke_synth_lead empty = {0};
  return yoke__synth_lead_output(self, &empty, 1.0);
}

void yoke__synth_lead_start(const yoke_synth_element* self, double value, yoke_synth_lead* lead) {
  if (self->filter.n > 0) {
    yoke__synth_filter_start(&self->filter, value, lead);
    return;
  }
  *lead = (yoke_synth_lead){0};

  // at rest every section has the value: x_i = (1 - g) value
  for (size_t i = 0; i < self->n; i++) {
    lead->x[i] = value - self->g * value;
  }
}

void yoke__synth_smoother_start(const yoke_synth_element* self, double value,
                                yoke_synth_smoother* smoother) {
  // s0 = (1 - b0) value, s1 = (b2 - a1) value: the output is the value
  smoother->s[0] = value - self->b[0] * value;
  smoother->s[1] = (self->b[2] - self->a[1]) * value;
}
