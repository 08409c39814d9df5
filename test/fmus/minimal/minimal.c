// The fewest functions that a run needs, without the skeleton: the lag of trivial, y += h (u - y). Three FMUs come of it:
//   prefixed   NAME is prefixed_fmi2: functions carry the model identifier in front, as some old tools have it; functions
//              for integers, booleans, texts and states are absent
//   lacking    IS_LACKING: has no fmi2DoStep and no fmi2Terminate
//   undefined  IS_UNDEFINED: calls a function that nobody has
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi2.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define FUNCTION(x) JOIN(NAME, x)
#define EXPORT      __attribute__((visibility("default")))

typedef struct lag {
  double values[2];  // u (reference 1), y (reference 2)
} lag;

EXPORT fmi2InstantiateTYPE FUNCTION(Instantiate);
EXPORT fmi2FreeInstanceTYPE FUNCTION(FreeInstance);
EXPORT fmi2SetupExperimentTYPE FUNCTION(SetupExperiment);
EXPORT fmi2EnterInitializationModeTYPE FUNCTION(EnterInitializationMode);
EXPORT fmi2ExitInitializationModeTYPE FUNCTION(ExitInitializationMode);
EXPORT fmi2GetRealTYPE FUNCTION(GetReal);
EXPORT fmi2SetRealTYPE FUNCTION(SetReal);
#ifndef IS_LACKING
EXPORT fmi2TerminateTYPE FUNCTION(Terminate);
EXPORT fmi2DoStepTYPE FUNCTION(DoStep);
#endif

fmi2Component FUNCTION(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid,
                                    fmi2String resource_location,
                                    const fmi2CallbackFunctions* functions, fmi2Boolean is_visible,
                                    fmi2Boolean is_logging) {
  (void)name, (void)type, (void)resource_location, (void)functions;
  (void)is_visible, (void)is_logging;
  return strcmp(guid, "yoke-test-minimal") == 0 ? calloc(1, sizeof(lag)) : NULL;
}

void FUNCTION(FreeInstance)(fmi2Component c) {
  free(c);
}

fmi2Status FUNCTION(SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                     fmi2Real start_time, fmi2Boolean has_stop_time,
                                     fmi2Real stop_time) {
  (void)c, (void)has_tolerance, (void)tolerance, (void)start_time;
  (void)has_stop_time, (void)stop_time;
  return fmi2OK;
}

fmi2Status FUNCTION(EnterInitializationMode)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

fmi2Status FUNCTION(ExitInitializationMode)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

fmi2Status FUNCTION(GetReal)(fmi2Component c, const fmi2ValueReference references[], size_t n,
                             fmi2Real values[]) {
  for (size_t i = 0; i < n; i++) {
    values[i] = ((lag*)c)->values[references[i] - 1];
  }
  return fmi2OK;
}

fmi2Status FUNCTION(SetReal)(fmi2Component c, const fmi2ValueReference references[], size_t n,
                             const fmi2Real values[]) {
  for (size_t i = 0; i < n; i++) {
    ((lag*)c)->values[references[i] - 1] = values[i];
  }
  return fmi2OK;
}

#ifndef IS_LACKING
fmi2Status FUNCTION(Terminate)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

#ifdef IS_UNDEFINED
double yoke_test_nobody_has_this(double x);
#endif

fmi2Status FUNCTION(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean is_final) {
  lag* m = c;
  (void)time, (void)is_final;
  m->values[1] += step * (m->values[0] - m->values[1]);
#ifdef IS_UNDEFINED
  m->values[1] += yoke_test_nobody_has_this(step);
#endif
  return fmi2OK;
}
#endif
