// Reads a number from number.txt in its resources and gives it out; without the file there is no instance.
#include "skeleton.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct values {
  double number;
} values;

static const fmu_variable variables[] = {{1, REAL, READ, offsetof(values, number), 1}};

static int instantiate(fmu* m) {
  char path[1100];
  char line[64] = "";
  (void)snprintf(path, sizeof path, "%snumber.txt", m->resources);
  FILE* file = fopen(path, "r");
  const bool is_read = file != NULL && fgets(line, sizeof line, file) != NULL;
  if (file != NULL) {
    (void)fclose(file);
  }
  if (!is_read) {
    fmu_log(m, FMU_ERROR, "logStatusError", "cannot read %s", path);
    return FMU_ERROR;
  }
  ((values*)m->values)->number = strtod(line, NULL);
  return FMU_OK;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)m, (void)t, (void)h, (void)result;
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-resources",
    .variables = variables,
    .n_variables = 1,
    .size = sizeof(values),
    .instantiate = instantiate,
    .step = step,
};
