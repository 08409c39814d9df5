// Van der Pol's oscillator: x0' = x1, x1' = mu (1 - x0^2) x1 - x0. Co-simulation takes Runge-Kutta steps of at most 1 ms.
#include "skeleton.h"

#include <math.h>

enum { X0 = 1, DER_X0, X1, DER_X1, MU };

typedef struct values {
  double x[2], dx[2], mu;
} values;

static const fmu_variable variables[] = {
    {X0, REAL, START, offsetof(values, x[0]), 1}, {DER_X0, REAL, READ, offsetof(values, dx[0]), 1},
    {X1, REAL, START, offsetof(values, x[1]), 1}, {DER_X1, REAL, READ, offsetof(values, dx[1]), 1},
    {MU, REAL, START, offsetof(values, mu), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.x = {2.0, 0.0}, .mu = 1.0};
}

static double* states(fmu* m) {
  return ((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = v->x[1];
  dx[1] = v->mu * (1.0 - v->x[0] * v->x[0]) * v->x[1] - v->x[0];
}

static void outputs(fmu* m) {
  derivatives(m, ((values*)m->values)->dx);
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  const int n = (int)ceil(h / 1e-3 - 1e-9);
  (void)result;
  for (int i = 0; i < n; i++) {
    fmu_runge_kutta(m, t + h * i / n, h / n);
  }
  return FMU_OK;
}

static double slope(const fmu* m, uint32_t unknown, uint32_t known) {
  const values* v = m->values;
  if (unknown == known) {
    return 1.0;
  }
  if (unknown == DER_X0) {
    return known == X1 ? 1.0 : 0.0;
  }
  if (unknown == DER_X1) {
    return known == X0   ? -2.0 * v->mu * v->x[0] * v->x[1] - 1.0
           : known == X1 ? v->mu * (1.0 - v->x[0] * v->x[0])
                         : 0.0;
  }
  return 0.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-vanderpol",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
    .slope = slope,
    .n_states = 2,
    .states = states,
    .derivatives = derivatives,
};
