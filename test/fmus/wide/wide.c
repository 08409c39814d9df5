// Up to 1024 real inputs and as many outputs, y[i] = u[i] after each step; how many the importer sees is up to the
// description (narrow 16, wide 64, broad 256). References: u[i] is 1 + i, y[i] is 2001 + i.
#include "fmi/fmi2.h"
#include "skeleton.h"

#include <string.h>

enum { MAX = 1024, FIRST_OUTPUT = 2001 };

typedef struct values {
  double u[MAX], y[MAX];
} values;

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)h, (void)result;
  memcpy(v->y, v->u, sizeof v->y);
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-wide",
    .size = sizeof(values),
    .step = step,
};

// by arithmetic, so that the cost of a value does not depend on their number
#define STRONG __attribute__((visibility("default")))
STRONG fmi2GetRealTYPE fmi2GetReal;
STRONG fmi2SetRealTYPE fmi2SetReal;

static double* at(fmu* m, unsigned reference) {
  values* v = m->values;
  if (reference >= 1 && reference <= MAX) {
    return &v->u[reference - 1];
  }
  return reference >= FIRST_OUTPUT && reference < FIRST_OUTPUT + MAX
             ? &v->y[reference - FIRST_OUTPUT]
             : NULL;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       fmi2Real out[]) {
  for (size_t i = 0; i < n; i++) {
    const double* value = at(c, references[i]);
    if (value == NULL) {
      return fmi2Error;
    }
    out[i] = *value;
  }
  return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       const fmi2Real in[]) {
  for (size_t i = 0; i < n; i++) {
    double* value = at(c, references[i]);
    if (value == NULL) {
      return fmi2Error;
    }
    *value = in[i];
  }
  return fmi2OK;
}
