// Dahlquist's test equation: x' = -k x, x(0) = 1. Model exchange only.
#include "skeleton.h"

enum { X = 1, DER_X, K };

typedef struct values {
  double x, dx, k;
} values;

static const fmu_variable variables[] = {
    {X, REAL, START, offsetof(values, x), 1},
    {DER_X, REAL, READ, offsetof(values, dx), 1},
    {K, REAL, START, offsetof(values, k), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.x = 1.0, .k = 1.0};
}

static double* states(fmu* m) {
  return &((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = -v->k * v->x;
}

static void outputs(fmu* m) {
  derivatives(m, &((values*)m->values)->dx);
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-dahlquist",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .n_states = 1,
    .states = states,
    .derivatives = derivatives,
};
