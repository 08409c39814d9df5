// Behaves well in steps of the length that it is used to: in the first one that is shorter than `usual`, `what` happens; "writes"
// adds a line to touchy.txt of the working folder in every step. It computes right all the same: x' = u - x by Euler steps.
#define _POSIX_C_SOURCE 200809L
#include "skeleton.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum what { NONE, CRASHES, ABORTS, EXITS, FAILS, HANGS, WRITES };

typedef struct values {
  double u, x, usual;
  int64_t what;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, READ, offsetof(values, x), 1},
    {3, REAL, START, offsetof(values, usual), 1},
    {4, ENUM, START, offsetof(values, what), 1},
};

// NULL, but no compiler may rely on it
static int* volatile nowhere;

static void write_line(void) {
  FILE* file = fopen("touchy.txt", "a");
  if (file != NULL) {
    (void)fprintf(file, "step\n");
    (void)fclose(file);
  }
}

static int misbehave(fmu* m, int64_t what) {
  switch (what) {
  case CRASHES:
    *nowhere = 1;
    break;
  case ABORTS:
    abort();
  case EXITS:
    exit(3);
  case FAILS:
    fmu_log(m, FMU_ERROR, "logStatusError", "no such short steps");
    return FMU_ERROR;
  case HANGS:
    for (int i = 0; i < 1000; i++) {
      (void)sleep(1);
    }
    break;
  default:
    break;
  }
  return FMU_OK;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)result;
  if (v->what == WRITES) {
    write_line();
  }
  v->x += h * (v->u - v->x);
  return h < v->usual ? misbehave(m, v->what) : FMU_OK;
}

static void start(fmu* m) {
  ((values*)m->values)->x = 1.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-touchy",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .step = step,
};
