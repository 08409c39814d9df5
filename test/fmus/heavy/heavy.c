// A lag whose step takes long: y += h (u - y) / n, n times, some 100 us on a processor of today. For the choice of threads and
// of calls: n has a part of every step and one of every second that passes.
#include "skeleton.h"

typedef struct values {
  double u, y;
  double each, rate;  // n = each + rate h
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, START, offsetof(values, y), 1},
    {3, REAL, START, offsetof(values, each), 1},
    {4, REAL, START, offsetof(values, rate), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.each = 20000};
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)t, (void)result;
  values* v = m->values;
  const int n = 1 + (int)(v->each + v->rate * h - 0.5);
  for (int i = 0; i < n; i++) {
    v->y += h / n * (v->u - v->y);
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-heavy",
    .variables = variables,
    .n_variables = 4,
    .size = sizeof(values),
    .start = start,
    .step = step,
};
