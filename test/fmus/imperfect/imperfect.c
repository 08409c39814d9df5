// Runs well, but its description is full of small faults (see fmi2.xml), and its text output is NULL.
//   "a b" and "der(x)" are inputs, "x[1].y" = their sum and the one with an umlaut = their product after each step
#include "skeleton.h"

typedef struct values {
  double a, b, sum, product, gain;
  fmu_text text;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, a), 1},   {2, REAL, INPUT, offsetof(values, b), 1},
    {3, REAL, READ, offsetof(values, sum), 1},  {4, REAL, READ, offsetof(values, product), 1},
    {5, TEXT, READ, offsetof(values, text), 1}, {6, REAL, START, offsetof(values, gain), 1},
};

static void start(fmu* m) {
  values* v = m->values;
  v->gain = 2.0;
  v->text.at[0] = '\1';
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)h, (void)result;
  v->sum = v->gain * (v->a + v->b);
  v->product = v->a * v->b;
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-imperfect",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .step = step,
};
