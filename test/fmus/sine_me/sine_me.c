// An undamped oscillator with an input and direct feedthrough: x1' = w x2, x2' = -w x1 + u, y = x1 + u.
// With u = 0: x1 = sin(w t), x2 = cos(w t). Model exchange only.
#include "skeleton.h"

enum { U = 1, Y, X1, DER_X1, X2, DER_X2, W };

typedef struct values {
  double u, y, x[2], dx[2], w;
} values;

static const fmu_variable variables[] = {
    {U, REAL, INPUT, offsetof(values, u), 1},     {Y, REAL, READ, offsetof(values, y), 1},
    {X1, REAL, START, offsetof(values, x[0]), 1}, {DER_X1, REAL, READ, offsetof(values, dx[0]), 1},
    {X2, REAL, START, offsetof(values, x[1]), 1}, {DER_X2, REAL, READ, offsetof(values, dx[1]), 1},
    {W, REAL, START, offsetof(values, w), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.x = {0.0, 1.0}, .w = 1.0};
}

static double* states(fmu* m) {
  return ((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = v->w * v->x[1];
  dx[1] = -v->w * v->x[0] + v->u;
}

static void outputs(fmu* m) {
  values* v = m->values;
  derivatives(m, v->dx);
  v->y = v->x[0] + v->u;
}

static double slope(const fmu* m, uint32_t unknown, uint32_t known) {
  const values* v = m->values;
  if (unknown == known) {
    return 1.0;
  }
  switch (unknown) {
  case Y:
    return known == X1 || known == U ? 1.0 : 0.0;
  case DER_X1:
    return known == X2 ? v->w : 0.0;
  case DER_X2:
    return known == X1 ? -v->w : known == U ? 1.0 : 0.0;
  default:
    return 0.0;
  }
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-sine_me",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .slope = slope,
    .n_states = 2,
    .states = states,
    .derivatives = derivatives,
};
