// The smallest FMU that still computes something, for measuring what an importer adds: x += h (u - x), y = x.
// The functions called in every step are its own, with bodies of one line and no checks.
#include "skeleton.h"

#if FMI_VERSION == 2
#include "fmi/fmi2.h"
#else
#include "fmi/fmi3.h"
#endif

typedef struct values {
  double u, y;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, START, offsetof(values, y), 1},
};

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)m, (void)t, (void)h, (void)result;
  return FMU_ERROR;  // the one below is called instead
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-trivial",
    .variables = variables,
    .n_variables = 2,
    .size = sizeof(values),
    .step = step,
};

#define STRONG __attribute__((visibility("default")))

// the references are 1 and 2: values lie at 0 and 1 (reference 0, the time, in FMI 3.0 only)
static double* at(fmu* m, unsigned reference) {
  return reference == 0 ? &m->time : (double*)m->values + (reference - 1);
}

static void advance(fmu* m, double t, double h) {
  values* v = m->values;
  v->y += h * (v->u - v->y);
  m->time = t + h;
}

#if FMI_VERSION == 2
STRONG fmi2GetRealTYPE fmi2GetReal;
STRONG fmi2SetRealTYPE fmi2SetReal;
STRONG fmi2DoStepTYPE fmi2DoStep;

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       fmi2Real values_[]) {
  for (size_t i = 0; i < n; i++) {
    values_[i] = *at(c, references[i]);
  }
  return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       const fmi2Real values_[]) {
  for (size_t i = 0; i < n; i++) {
    *at(c, references[i]) = values_[i];
  }
  return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean is_final) {
  (void)is_final;
  advance(c, time, h);
  return fmi2OK;
}
#else
STRONG fmi3GetFloat64TYPE fmi3GetFloat64;
STRONG fmi3SetFloat64TYPE fmi3SetFloat64;
STRONG fmi3DoStepTYPE fmi3DoStep;

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          fmi3Float64 values_[], size_t n_values) {
  (void)n_values;
  for (size_t i = 0; i < n; i++) {
    values_[i] = *at(c, references[i]);
  }
  return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          const fmi3Float64 values_[], size_t n_values) {
  (void)n_values;
  for (size_t i = 0; i < n; i++) {
    *at(c, references[i]) = values_[i];
  }
  return fmi3OK;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 h, fmi3Boolean is_final,
                      fmi3Boolean* is_event_handling_needed, fmi3Boolean* is_end_wanted,
                      fmi3Boolean* is_early_return, fmi3Float64* last_successful_time) {
  (void)is_final;
  advance(c, time, h);
  *is_event_handling_needed = *is_end_wanted = *is_early_return = fmi3False;
  *last_successful_time = time + h;
  return fmi3OK;
}
#endif
