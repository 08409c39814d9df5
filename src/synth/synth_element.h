// A coupling element at run time: what an exchanged signal passes on its way from the sender to the receiver.
//
//   u -> lead K1 -> sampled and held every Dt -> smoother K2 -> u~
//        at the sender's calls, every h            at the receiver's calls, every h
//
//   K1 = sum over i = 0 .. n of c_i (a / (s + a))^i        K2 = w2^2 / (s^2 + 2 zeta w2 s + w2^2)
//        or any stable transfer function of order n
//
// both by Tustin's rule at the step h. The lead makes up for what hold and smoother delay. Coefficients come from
// synth_design.h. Both filters are split so that they can be asked for an output as often as needed and take each step once:
// `output` is what `step` would give and changes nothing. No heap, no branches on values; n <= YOKE_SYNTH_ORDER_MAX loops.
//
//   lead, sections in a row, one number of memory each:   x_0 = u,  x_i = g x_(i-1) + w_i,  w_i+ = p x_i + g x_(i-1),
//                                                         y = sum of c_i x_i
//   lead, general:                                        synth_filter.h; used where the filter has states
//   smoother, transposed direct form:                     y = b0 u + s1,  s1+ = b1 u - a1 y + s2,  s2+ = b2 u - a2 y
//
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper III, which does not print the discrete filters. Page:
// docs/couple_hinf.md, "Equation".
#ifndef YOKE_SYNTH_ELEMENT_H
#define YOKE_SYNTH_ELEMENT_H

#include "synth/synth_filter.h"

// The coefficients; constant during a run.
typedef struct yoke_synth_element {
  size_t n;                            // order of the lead
  double g, p;                         // of one section: direct gain, pole
  double c[YOKE_SYNTH_ORDER_MAX + 1];  // n + 1
  double b[3], a[2];                   // smoother: (b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)
  yoke_synth_filter filter;  // with n states: the lead in place of g, p, c; with none: unused
} yoke_synth_element;

// The memory of one scalar signal at each end: n numbers x, w_1 to w_n of the sections or the states of the filter.
typedef yoke_synth_filter_state yoke_synth_lead;
typedef struct yoke_synth_smoother {
  double s[2];
} yoke_synth_smoother;

// Filters of pole a [rad/s], smoother frequency [Hz] and damping at the step h [s] with the coefficients c (n + 1).
void yoke__synth_element_init(yoke_synth_element* self, double step, double pole,
                              double smoother_hz, double damping, size_t n, const double c[]);
// The same smoother behind a general lead with states.
void yoke__synth_element_init_general(yoke_synth_element* self, double step,
                                      const yoke_synth_filter* lead, double smoother_hz,
                                      double damping);

// D1, D2: what a jump of the input does to the output at the same instant. A loop with feedthrough sees fresh values if
// D1 D2 = 1.
double yoke__synth_lead_gain(const yoke_synth_element* self);
static inline double yoke__synth_smoother_gain(const yoke_synth_element* self) {
  return self->b[0];
}

// At rest: the signal has always had this value.
void yoke__synth_lead_start(const yoke_synth_element* self, double value, yoke_synth_lead* lead);
void yoke__synth_smoother_start(const yoke_synth_element* self, double value,
                                yoke_synth_smoother* smoother);

// The output for the input u of this step, without taking the step.
static inline double yoke__synth_lead_output(const yoke_synth_element* self,
                                             const yoke_synth_lead* lead, double u) {
  if (self->filter.n > 0) {
    return yoke__synth_filter_output(&self->filter, lead, u);
  }

  // x_i = g x_(i-1) + memory, y = sum c_i x_i: sections in series, weighted sum of their outputs
  double x = u, y = YOKE_SYNTH_MULTIPLY_ADD(self->c[0], u, 0.0);
  for (size_t i = 0; i < self->n; i++) {
    x = YOKE_SYNTH_MULTIPLY_ADD(self->g, x, lead->x[i]);
    y = YOKE_SYNTH_MULTIPLY_ADD(self->c[i + 1], x, y);
  }
  return y;
}

// Takes the step with the input u; returns the output.
static inline double yoke__synth_lead_step(const yoke_synth_element* self, yoke_synth_lead* lead,
                                           double u) {
  if (self->filter.n > 0) {
    return yoke__synth_filter_step(&self->filter, lead, u);
  }
  double x = u, y = YOKE_SYNTH_MULTIPLY_ADD(self->c[0], u, 0.0);
  for (size_t i = 0; i < self->n; i++) {
    const double before = x;
    x = YOKE_SYNTH_MULTIPLY_ADD(self->g, before, lead->x[i]);
    // memory := p x_i + g x_(i-1): L = g (z + 1) / (z - p)
    lead->x[i] = YOKE_SYNTH_MULTIPLY_ADD(self->p, x, YOKE_SYNTH_MULTIPLY_ADD(self->g, before, 0.0));
    y = YOKE_SYNTH_MULTIPLY_ADD(self->c[i + 1], x, y);
  }
  return y;
}

// The same of the smoother.
static inline double yoke__synth_smoother_output(const yoke_synth_element* self,
                                                 const yoke_synth_smoother* smoother, double u) {
  return YOKE_SYNTH_MULTIPLY_ADD(self->b[0], u, smoother->s[0]);
}

static inline double yoke__synth_smoother_step(const yoke_synth_element* self,
                                               yoke_synth_smoother* smoother, double u) {
  // transposed direct form II: y = b0 u + s0, s0 = b1 u - a0 y + s1, s1 = b2 u - a1 y
  const double y = YOKE_SYNTH_MULTIPLY_ADD(self->b[0], u, smoother->s[0]);
  smoother->s[0] = YOKE_SYNTH_MULTIPLY_ADD(self->b[1], u,
                                           YOKE_SYNTH_MULTIPLY_ADD(-self->a[0], y, smoother->s[1]));
  smoother->s[1] =
      YOKE_SYNTH_MULTIPLY_ADD(self->b[2], u, YOKE_SYNTH_MULTIPLY_ADD(-self->a[1], y, 0.0));
  return y;
}

#endif
