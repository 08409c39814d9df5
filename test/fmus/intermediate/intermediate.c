// Integrates its input in four parts per step, x += h/4 u, and tells the importer after each of them, so that it may set u,
// read y = x or end the step early. n_calls counts how often it told.
#include "skeleton.h"

typedef struct values {
  double u, y;
  int32_t n_calls;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, START, offsetof(values, y), 1},
    {3, INT32, READ, offsetof(values, n_calls), 1},
};

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  for (int i = 1; i <= 4; i++) {
    v->y += 0.25 * h * v->u;
    const double at = i < 4 ? t + 0.25 * (double)i * h : t + h;
    v->n_calls++;
    if (fmu_tell_intermediate(m, at) && i < 4) {
      result->is_early = true;
      result->t = at;
      return FMU_OK;
    }
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-intermediate",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .step = step,
};
