// The helicopter and its controller as one linear system of 28 states, by explicit Euler; the matrices
// come from the units (MPSM specification 10.3, appendix A).
#ifndef YOKE_TEST_HELICOPTER_WHOLE_H
#define YOKE_TEST_HELICOPTER_WHOLE_H

#include "linalg/linalg_dense.h"
#include "models/helicopter/helicopter.h"
#include "support/trial.h"

enum { HELI_N1 = 8, HELI_N2 = 20, HELI_U = 4, HELI_Y = 6, HELI_N = HELI_N1 + HELI_N2 };

#define HELI_MICRO 2e-3  // explicit Euler step of both units and of the reference [s]

// Airframe 1, controller 2; no feedthrough.
typedef struct helicopter {
  double A1[HELI_N1 * HELI_N1], B1[HELI_N1 * HELI_U], C1[HELI_Y * HELI_N1], D1[HELI_Y * HELI_U];
  double A2[HELI_N2 * HELI_N2], B2[HELI_N2 * HELI_Y], C2[HELI_U * HELI_N2], D2[HELI_U * HELI_Y];
} helicopter;

static inline void helicopter_open(helicopter* h) {
  trial airframe, controller;
  trial_open(&airframe, &yoke__model_helicopter_airframe, NULL, 0);
  trial_open(&controller, &yoke__model_helicopter_controller, NULL, 0);
  yoke_linear one = {.A = h->A1, .B = h->B1, .C = h->C1, .D = h->D1};
  yoke_linear two = {.A = h->A2, .B = h->B2, .C = h->C2, .D = h->D2};
  check_ok(airframe.unit.ops->linearise(airframe.unit.self, &one));
  check_ok(controller.unit.ops->linearise(controller.unit.self, &two));
  assert_true(one.n_states == HELI_N1 && one.n_inputs == HELI_U && one.n_outputs == HELI_Y);
  assert_true(two.n_states == HELI_N2 && two.n_inputs == HELI_Y && two.n_outputs == HELI_U);
  trial_close(&airframe);
  trial_close(&controller);
}

// u = L y: the airframe's inputs are the controls, the controller's the negative motion.
static inline void helicopter_coupling(double L[(HELI_U + HELI_Y) * (HELI_U + HELI_Y)]) {
  const size_t n = HELI_U + HELI_Y;
  memset(L, 0, n * n * sizeof L[0]);
  for (size_t i = 0; i < HELI_U; i++) {
    L[i * n + HELI_Y + i] = 1;
  }
  for (size_t i = 0; i < HELI_Y; i++) {
    L[(HELI_U + i) * n + i] = -1;
  }
}

static inline double helicopter_bump(double t, double t0, double t1, double a) {
  return t > t0 && t < t1 ? a * (1 - cos(6.283185307179586 * (t - t0) / (t1 - t0))) / 2 : 0;
}

// Version 1 of the pilot's commands.
static inline void helicopter_commands(double t, double r[HELI_U]) {
  r[0] = helicopter_bump(t, 1, 11, 1) + helicopter_bump(t, 35, 45, -1) +
         helicopter_bump(t, 81, 91, 1) + helicopter_bump(t, 115, 125, -1);
  r[1] = helicopter_bump(t, 12, 22, 0.1) - helicopter_bump(t, 92, 102, 0.1);
  r[2] = helicopter_bump(t, 23, 33, 0.1) - helicopter_bump(t, 103, 113, 0.1);
  r[3] = helicopter_bump(t, 46, 60, 0.1) - helicopter_bump(t, 126, 140, 0.1);
}

// One Euler step from t on; x: both units' states. y: motion and controls at its start.
static inline void helicopter_advance(const helicopter* h, double t, double x[HELI_N],
                                      double y[HELI_Y + HELI_U]) {
  double r[HELI_U], e[HELI_Y], dx[HELI_N];
  yoke__mat_vec(HELI_Y, HELI_N1, h->C1, x, y);
  yoke__mat_vec(HELI_U, HELI_N2, h->C2, x + HELI_N1, y + HELI_Y);
  helicopter_commands(t, r);
  for (size_t i = 0; i < HELI_Y; i++) {
    e[i] = (i < HELI_U ? r[i] : 0) - y[i];
  }
  yoke__mat_vec(HELI_N1, HELI_N1, h->A1, x, dx);
  yoke__mat_vec_add(HELI_N1, HELI_U, h->B1, y + HELI_Y, dx);
  yoke__mat_vec(HELI_N2, HELI_N2, h->A2, x + HELI_N1, dx + HELI_N1);
  yoke__mat_vec_add(HELI_N2, HELI_Y, h->B2, e, dx + HELI_N1);
  for (size_t i = 0; i < HELI_N; i++) {
    x[i] += HELI_MICRO * dx[i];
  }
}

#endif
