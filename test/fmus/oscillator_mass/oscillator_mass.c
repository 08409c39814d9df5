// The mass of models/oscillator that receives a force (unit oscillator.mass) with its default solver: the same
// operations in the same order, so that a run gives the same bytes.
//   a = (-k x - c v + sign f) / m,  v += h a,  x += h v
#include "skeleton.h"

typedef struct values {
  double f, x, v, E, m, k, c, sign;
} values;

enum { F = 1, X, V, ENERGY, M, K, C, SIGN };

static const fmu_variable variables[] = {
    {F, REAL, INPUT, offsetof(values, f), 1}, {X, REAL, START, offsetof(values, x), 1},
    {V, REAL, START, offsetof(values, v), 1}, {ENERGY, REAL, READ, offsetof(values, E), 1},
    {M, REAL, START, offsetof(values, m), 1}, {K, REAL, START, offsetof(values, k), 1},
    {C, REAL, START, offsetof(values, c), 1}, {SIGN, REAL, START, offsetof(values, sign), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.m = 1.0, .k = 1000.0, .sign = 1.0};
}

static int initialise(fmu* m) {
  const values* o = m->values;
  if (!(o->m > 0.0)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "m must be above 0");
    return FMU_ERROR;
  }
  return FMU_OK;
}

static void outputs(fmu* m) {
  values* o = m->values;
  const double potential = 0.5 * o->k * o->x * o->x;
  o->E = 0.5 * o->m * o->v * o->v + potential;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* o = m->values;
  (void)t, (void)result;
  const double a = (-(o->k * o->x) - o->c * o->v + o->sign * o->f) / o->m;
  o->v += h * a;
  o->x += h * o->v;
  return FMU_OK;
}

static double slope(const fmu* m, uint32_t unknown, uint32_t known) {
  const values* o = m->values;
  if (unknown == known) {
    return 1.0;
  }
  if (unknown == ENERGY) {
    return known == X ? o->k * o->x : known == V ? o->m * o->v : 0.0;
  }
  return 0.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-oscillator_mass",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
    .slope = slope,
};
