// A lag like trivial, of which one process may have one instance at a time: y += h (u - y).
#include "skeleton.h"

typedef struct values {
  double u, y;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, START, offsetof(values, y), 1},
};

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)result;
  v->y += h * (v->u - v->y);
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-only_once",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .is_only_once = true,
    .step = step,
};
