// An integrator that uses the derivatives of its input: over a step u(s) = u + u1 s + u2 s^2 / 2, y' = u, exactly
// integrated. It gives the derivatives of y up to order 2. Derivatives of the input hold for one step.
#include "skeleton.h"

enum { U = 1, Y };

typedef struct values {
  double u, y;
  double u1, u2;  // for the next step
  double dy[2];   // y' and y'' at the end of the last one
} values;

static const fmu_variable variables[] = {
    {U, REAL, INPUT, offsetof(values, u), 1},
    {Y, REAL, START, offsetof(values, y), 1},
};

static int set_input_derivative(fmu* m, uint32_t reference, int order, double value) {
  values* v = m->values;
  if (reference != U || order < 1 || order > 2) {
    return FMU_ERROR;
  }
  *(order == 1 ? &v->u1 : &v->u2) = value;
  return FMU_OK;
}

static int get_output_derivative(fmu* m, uint32_t reference, int order, double* value) {
  const values* v = m->values;
  if (reference != Y || order < 1 || order > 2) {
    return FMU_ERROR;
  }
  *value = v->dy[order - 1];
  return FMU_OK;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)result;
  v->y += h * (v->u + h * (v->u1 / 2.0 + h * v->u2 / 6.0));
  v->dy[0] = v->u + h * (v->u1 + h * v->u2 / 2.0);
  v->dy[1] = v->u1 + h * v->u2;
  v->u1 = v->u2 = 0.0;
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-derivatives",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .step = step,
    .set_input_derivative = set_input_derivative,
    .get_output_derivative = get_output_derivative,
};
