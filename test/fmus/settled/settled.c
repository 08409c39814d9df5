// A lag with feedthrough that starts settled: while it is initialised x follows u, so that y moves with 1 + g there; once it runs
// it moves with g at once.
//   x' = (u - x) / T, exactly for a held input,  y = x + g u
// lazy: outputs are computed by steps only, so that nothing moves while it is initialised.
#include "skeleton.h"

#include <math.h>

typedef struct values {
  double u, y, x, g, T, lazy, d;
} values;

enum { U = 1, Y, X, G, LAG, LAZY, D };

static const fmu_variable variables[] = {
    {U, REAL, INPUT, offsetof(values, u), 1},   {Y, REAL, READ, offsetof(values, y), 1},
    {X, REAL, READ, offsetof(values, x), 1},    {G, REAL, START, offsetof(values, g), 1},
    {LAG, REAL, START, offsetof(values, T), 1}, {LAZY, REAL, START, offsetof(values, lazy), 1},
    {D, REAL, START, offsetof(values, d), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.g = 0.5, .T = 0.1, .d = 1.0};
}

static void outputs(fmu* m) {
  values* v = m->values;
  if (m->mode == INITIALISATION && v->lazy == 0.0) {
    v->x = v->u;
  }
  if (m->mode != INITIALISATION || v->lazy == 0.0) {
    v->y = v->x + v->g * v->u;
  }
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)result;
  v->x = v->u + (v->x - v->u) * exp(-h / v->T);
  return FMU_OK;
}

// d is 1 for an honest answer, 0 for one that is no number
static double slope(const fmu* m, uint32_t unknown, uint32_t known) {
  const values* v = m->values;
  return unknown == Y && known == U ? v->g / v->d : 0.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-settled",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
    .slope = slope,
};
