// The linear two-mass oscillator (masses 1 kg, springs 10, 100, 1000 N/m, +100 and -100 m/s, 10 kJ) in a hand-written
// Jacobi loop with a coupling method on each way: force to the right, motion to the left. The left unit owns the
// coupling spring and returns its force with feedthrough.
#ifndef YOKE_TEST_OSCILLATOR_LOOP_H
#define YOKE_TEST_OSCILLATOR_LOOP_H

#include "support/check.h"
#include "yoke/coupling.h"

// A method, the extrapolation order of its signals and its only parameter.
typedef struct loop_method {
  const yoke_coupling_ops* ops;
  int order;
  double parameter;
} loop_method;

typedef struct loop_side {
  _Alignas(64) unsigned char memory[1024];
  const yoke_coupling_ops* ops;
  double parameters[1];
  int orders[2];
  int64_t n_sends[2];
  yoke_coupling_sink sink;
  yoke_coupling_setup setup;
} loop_side;

static inline void loop_open(loop_side* s, const loop_method* m, size_t n, double H, int calls,
                             int sends) {
  memset(s, 0, sizeof *s);
  s->ops = m->ops;
  s->parameters[0] = m->parameter;
  for (size_t i = 0; i < n; i++) {
    s->orders[i] = m->order;
    s->n_sends[i] = sends;
  }
  s->sink = (yoke_coupling_sink){0, n, H / calls};
  s->setup = (yoke_coupling_setup){
      .n_signals = n,
      .orders = s->orders,
      .n_sinks = 1,
      .sinks = &s->sink,
      .interval = H,
      .parameters = s->parameters,
      .n_sends = s->n_sends,
  };
  assert_true(s->ops->size(&s->setup) <= sizeof s->memory);
  check_ok(s->ops->prepare(s->memory, &s->setup, NULL));
}

static inline void loop_send(loop_side* s, size_t signal, int j, double y) {
  if (s->ops->send != NULL) {
    s->ops->send(s->memory, signal, j, y);
  }
}

// Energy at 10 s as a multiple of the energy at the start. calls: of left and right per exchange.
static inline double loop_energy(loop_method force, loop_method motion, double H, int calls_left,
                                 int calls_right) {
  loop_side to_right, to_left;
  loop_open(&to_right, &force, 1, H, calls_right, calls_left);
  loop_open(&to_left, &motion, 2, H, calls_left, calls_right);
  double x1 = 0, v1 = 100, x2 = 0, v2 = -100, f = 0;
  const int64_t n_steps = llround(10 / H);
  for (int64_t k = 0; k < n_steps; k++) {
    const yoke_coupling_moment now = {.k = k, .h_last = k == 0 ? 0 : H, .h_next = H};
    to_right.ops->observe(to_right.memory, &now, &f, NULL);
    to_left.ops->observe(to_left.memory, &now, (const double[]){x2, v2}, NULL);
    for (int j = 0; j < calls_left; j++) {
      const double h = H / calls_left;
      double u[2];
      to_left.ops->input(to_left.memory, 0, j * h, u);
      v1 += h * (-10 * x1 - 100 * (x1 - u[0]));
      x1 += h * v1;
      f = 100 * (x1 - u[0]);
      loop_send(&to_right, 0, j + 1, f);
    }
    for (int j = 0; j < calls_right; j++) {
      const double h = H / calls_right;
      double u;
      to_right.ops->input(to_right.memory, 0, j * h, &u);
      v2 += h * (-1000 * x2 + u);
      x2 += h * v2;
      loop_send(&to_left, 0, j + 1, x2);
      loop_send(&to_left, 1, j + 1, v2);
    }
  }
  const double stretch = x1 - x2;
  return 0.5e-4 * (v1 * v1 + v2 * v2 + 10 * x1 * x1 + 1000 * x2 * x2 + 100 * stretch * stretch);
}

// The same by first-order theory. Forces that are late or early by parts of H feed the power
// kc H (age v2^2 + cross v1 v2) into the modes (10, 1) and (-1, 10), which start with 4010 and 5990 J. The ripple of the
// integrator, +- 1.2 % at 1 ms, is not in it.
static inline double loop_energy_predicted(double H, double age, double cross) {
  const double exponent = 100 * H * 10;  // kc H t / m
  return 0.4010 * exp(exponent * (age * 1 + cross * 10) / 101) +
         0.5990 * exp(exponent * (age * 100 - cross * 10) / 101);
}

#endif
