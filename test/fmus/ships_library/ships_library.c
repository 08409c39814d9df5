// A lag like trivial with a library beside its binary and no word where to look for it: y += h part(u - y).
#include "skeleton.h"

double yoke_test_part(double x);

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
  v->y += h * (yoke_test_part(v->u - v->y));
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-ships_library",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .step = step,
};
