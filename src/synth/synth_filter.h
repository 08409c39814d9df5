// A general element of one signal at run time: any stable transfer function of small order, in state space at the step h.
//
//   y = C x + D u,   x+ = A x + B u          A: real Schur form, upper triangular with 2 x 2 blocks on the diagonal
//
// The triangle halves the work of a full A: n (n + 1) / 2 multiply-adds, one more per pair of complex poles, and 2 n + 1 for B, C, D: 57 for
// n = 8. The transformation to it is orthogonal, so that nothing is lost, however close the poles are (a modal form would). As the
// cascade of synth_element.h it can be asked for an output as often as needed: `output` changes nothing. No heap.
//
// Source: Golub and Van Loan, Matrix Computations, 4th ed., section 7.4, for the Schur form; Tustin's rule is textbook. Page:
// docs/synth_general.md.
#ifndef YOKE_SYNTH_FILTER_H
#define YOKE_SYNTH_FILTER_H

#include <complex.h>

#include "synth/synth_system.h"
#include "yoke/message.h"

#define YOKE_SYNTH_ORDER_MAX 8  // states of a lead

// a b + c; a test counts them by its own definition.
#ifndef YOKE_SYNTH_MULTIPLY_ADD
#define YOKE_SYNTH_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

// The coefficients; constant during a run.
typedef struct yoke_synth_filter {
  size_t n;
  size_t first[YOKE_SYNTH_ORDER_MAX];  // column of the first element of a row that is not 0
  double A[YOKE_SYNTH_ORDER_MAX][YOKE_SYNTH_ORDER_MAX];
  double B[YOKE_SYNTH_ORDER_MAX], C[YOKE_SYNTH_ORDER_MAX], D;
  double rest[YOKE_SYNTH_ORDER_MAX];  // the state at rest for the input 1
} yoke_synth_filter;

// The memory of one scalar signal.
typedef struct yoke_synth_filter_state {
  double x[YOKE_SYNTH_ORDER_MAX];
} yoke_synth_filter_state;

// From a stable element with one input and one output: by Tustin's rule at the step h, or as it is if it is discrete (h is not
// used). Takes memory while it runs. YOKE_BAD_INPUT with a message: more signals or states (YOKE_SYNTH_ORDER_MAX), not stable, h not above 0.
yoke_status yoke__synth_filter_init(yoke_synth_filter* self, yoke_synth_system K, double h,
                                    const yoke_sink* sink);
// The transfer function at z. NaN or infinite at a pole.
double complex yoke__synth_filter_response(const yoke_synth_filter* self, double complex z);
// Multiply-adds of a step with its output.
size_t yoke__synth_filter_cost(const yoke_synth_filter* self);

// At rest: the signal has always had this value.
void yoke__synth_filter_start(const yoke_synth_filter* self, double value,
                              yoke_synth_filter_state* state);

// The output for the input u of this step, without taking the step.
static inline double yoke__synth_filter_output(const yoke_synth_filter* self,
                                               const yoke_synth_filter_state* state, double u) {
  // y = C x + D u
  double y = YOKE_SYNTH_MULTIPLY_ADD(self->D, u, 0.0);
  for (size_t i = 0; i < self->n; i++) {
    y = YOKE_SYNTH_MULTIPLY_ADD(self->C[i], state->x[i], y);
  }
  return y;
}

// Takes the step with the input u; returns the output.
static inline double yoke__synth_filter_step(const yoke_synth_filter* self,
                                             yoke_synth_filter_state* state, double u) {
  const double y = yoke__synth_filter_output(self, state, u);
  double before = 0;  // x[i - 1] of this step, which row i of a 2 x 2 block still needs
  for (size_t i = 0; i < self->n; i++) {
    const double own = state->x[i];
    // row i of T x + B u; rows above are renewed already, but only columns i - 1 and up are not 0
    double x = YOKE_SYNTH_MULTIPLY_ADD(self->B[i], u, 0.0);
    if (self->first[i] < i) {
      x = YOKE_SYNTH_MULTIPLY_ADD(self->A[i][i - 1], before, x);
    }
    for (size_t k = i; k < self->n; k++) {
      x = YOKE_SYNTH_MULTIPLY_ADD(self->A[i][k], state->x[k], x);
    }
    state->x[i] = x;
    before = own;
  }
  return y;
}

#endif
