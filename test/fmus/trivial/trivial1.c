// The same lag as trivial.c through FMI 1.0 for co-simulation: functions carry the model identifier in front. A step with
// an input above 1e9 fails.
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi1.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct lag {
  double values[2];  // u (reference 1), y (reference 2)
  double time;
  fmi1CallbackFunctions callbacks;
} lag;

EXPORT fmi1GetTypesPlatformTYPE trivial1_fmiGetTypesPlatform;
EXPORT fmi1GetVersionTYPE trivial1_fmiGetVersion;
EXPORT fmi1SetDebugLoggingTYPE trivial1_fmiSetDebugLogging;
EXPORT fmi1InstantiateSlaveTYPE trivial1_fmiInstantiateSlave;
EXPORT fmi1InitializeSlaveTYPE trivial1_fmiInitializeSlave;
EXPORT fmi1TerminateSlaveTYPE trivial1_fmiTerminateSlave;
EXPORT fmi1ResetSlaveTYPE trivial1_fmiResetSlave;
EXPORT fmi1FreeSlaveInstanceTYPE trivial1_fmiFreeSlaveInstance;
EXPORT fmi1GetRealTYPE trivial1_fmiGetReal;
EXPORT fmi1SetRealTYPE trivial1_fmiSetReal;
EXPORT fmi1DoStepTYPE trivial1_fmiDoStep;

const char* trivial1_fmiGetTypesPlatform(void) {
  return fmi1TypesPlatform;
}

const char* trivial1_fmiGetVersion(void) {
  return fmi1Version;
}

fmi1Status trivial1_fmiSetDebugLogging(fmi1Component c, fmi1Boolean is_on) {
  (void)c, (void)is_on;
  return fmi1OK;
}

fmi1Component trivial1_fmiInstantiateSlave(fmi1String name, fmi1String guid, fmi1String location,
                                           fmi1String mime_type, fmi1Real timeout,
                                           fmi1Boolean is_visible, fmi1Boolean is_interactive,
                                           fmi1CallbackFunctions functions,
                                           fmi1Boolean is_logging) {
  (void)location, (void)mime_type, (void)timeout;
  (void)is_visible, (void)is_interactive, (void)is_logging;
  if (strcmp(guid, "yoke-test-trivial") != 0) {
    functions.logger(NULL, name, fmi1Error, "error", "wrong guid \"%s\"", guid);
    return NULL;
  }
  lag* m = functions.allocateMemory(1, sizeof *m);
  if (m != NULL) {
    m->callbacks = functions;
  }
  return m;
}

fmi1Status trivial1_fmiInitializeSlave(fmi1Component c, fmi1Real start_time,
                                       fmi1Boolean has_stop_time, fmi1Real stop_time) {
  (void)has_stop_time, (void)stop_time;
  ((lag*)c)->time = start_time;
  return fmi1OK;
}

fmi1Status trivial1_fmiTerminateSlave(fmi1Component c) {
  (void)c;
  return fmi1OK;
}

fmi1Status trivial1_fmiResetSlave(fmi1Component c) {
  lag* m = c;
  m->values[0] = m->values[1] = m->time = 0.0;
  return fmi1OK;
}

void trivial1_fmiFreeSlaveInstance(fmi1Component c) {
  lag* m = c;
  if (m != NULL) {
    m->callbacks.freeMemory(m);
  }
}

fmi1Status trivial1_fmiGetReal(fmi1Component c, const fmi1ValueReference references[], size_t n,
                               fmi1Real values[]) {
  for (size_t i = 0; i < n; i++) {
    if (references[i] < 1 || references[i] > 2) {
      return fmi1Error;
    }
    values[i] = ((lag*)c)->values[references[i] - 1];
  }
  return fmi1OK;
}

fmi1Status trivial1_fmiSetReal(fmi1Component c, const fmi1ValueReference references[], size_t n,
                               const fmi1Real values[]) {
  for (size_t i = 0; i < n; i++) {
    if (references[i] < 1 || references[i] > 2) {
      return fmi1Error;
    }
    ((lag*)c)->values[references[i] - 1] = values[i];
  }
  return fmi1OK;
}

fmi1Status trivial1_fmiDoStep(fmi1Component c, fmi1Real time, fmi1Real step, fmi1Boolean is_new) {
  lag* m = c;
  (void)is_new;
  if (m->values[0] > 1e9) {
    return fmi1Error;
  }
  m->values[1] += step * (m->values[0] - m->values[1]);
  m->time = time + step;
  return fmi1OK;
}
