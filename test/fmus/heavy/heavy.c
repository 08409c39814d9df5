// A lag whose step takes long: y += h (u - y) / n, n times, some 100 us on a processor of today. For the choice of threads.
#include "skeleton.h"

enum { N = 20000 };

typedef struct values {
  double u, y;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, START, offsetof(values, y), 1},
};

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)t, (void)result;
  values* v = m->values;
  for (int i = 0; i < N; i++) {
    v->y += h / N * (v->u - v->y);
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-heavy",
    .variables = variables,
    .n_variables = 2,
    .size = sizeof(values),
    .step = step,
};
