// The mass with the coupling element of models/oscillator (unit oscillator.force) with its default solver: the same
// operations in the same order, so that a run gives the same bytes.
//   a = (-k x - c v - g) / m,  g = kc (x - x_other) + cc (v - v_other),  v += h a,  x += h v,  f = g
#include "skeleton.h"

typedef struct values {
  double x_other, v_other, f, x, v, E, m, k, c, kc, cc;
} values;

enum { X_OTHER = 1, V_OTHER, F, X, V, ENERGY, M, K, C, KC, CC };

static const fmu_variable variables[] = {
    {X_OTHER, REAL, INPUT, offsetof(values, x_other), 1},
    {V_OTHER, REAL, INPUT, offsetof(values, v_other), 1},
    {F, REAL, READ, offsetof(values, f), 1},
    {X, REAL, START, offsetof(values, x), 1},
    {V, REAL, START, offsetof(values, v), 1},
    {ENERGY, REAL, READ, offsetof(values, E), 1},
    {M, REAL, START, offsetof(values, m), 1},
    {K, REAL, START, offsetof(values, k), 1},
    {C, REAL, START, offsetof(values, c), 1},
    {KC, REAL, START, offsetof(values, kc), 1},
    {CC, REAL, START, offsetof(values, cc), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.m = 1.0, .k = 10.0, .kc = 100.0};
}

static int initialise(fmu* m) {
  const values* o = m->values;
  if (!(o->m > 0.0)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "m must be above 0");
    return FMU_ERROR;
  }
  return FMU_OK;
}

static double coupling_force(const values* o) {
  return o->kc * (o->x - o->x_other) + o->cc * (o->v - o->v_other);
}

static void outputs(fmu* m) {
  values* o = m->values;
  o->f = coupling_force(o);
  const double potential = 0.5 * o->k * o->x * o->x;
  o->E = 0.5 * o->m * o->v * o->v + potential;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* o = m->values;
  (void)t, (void)result;
  const double g = coupling_force(o);
  const double a = (-(o->k * o->x) - o->c * o->v - g) / o->m;
  o->v += h * a;
  o->x += h * o->v;
  return FMU_OK;
}

static double slope(const fmu* m, uint32_t unknown, uint32_t known) {
  const values* o = m->values;
  const double signs[] = {[X_OTHER] = -1.0, [V_OTHER] = -1.0, [F] = 0.0, [X] = 1.0, [V] = 1.0};
  if (unknown == known) {
    return 1.0;
  }
  if (unknown == F && known <= V) {
    return signs[known] * (known == X_OTHER || known == X ? o->kc : o->cc);
  }
  if (unknown == ENERGY) {
    return known == X ? o->k * o->x : known == V ? o->m * o->v : 0.0;
  }
  return 0.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-oscillator_force",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
    .slope = slope,
};
