// FMI 2.0 in front of another binary; see recorder.h.
#define _GNU_SOURCE
#include "recorder.h"

#include "fmi/fmi2.h"

#define DECLARE(name, needed_for)                                                                  \
  __attribute__((visibility("default"))) fmi2##name##TYPE fmi2##name;
YOKE_FMI2_FUNCTIONS(DECLARE)

static yoke_fmi2 inner;

__attribute__((constructor)) static void find_all(void) {
#define FIND(name, needed_for) find_inner("fmi2" #name, &inner.name);
  YOKE_FMI2_FUNCTIONS(FIND)
}

// a: what the call passes on; numbers and references: what the line says
#define FORWARD(name, params, a, number, other, references, n)                                     \
  fmi2Status fmi2##name params {                                                                   \
    int status = told_status("fmi2" #name);                                                        \
    status = status >= 0 ? status : (int)inner.name a;                                             \
    write_call(name_of(c), "fmi2" #name, status, (number), (other), (references), (n));            \
    return (fmi2Status)status;                                                                     \
  }
#define PLAIN(name) FORWARD(name, (fmi2Component c), (c), 0, 0, NULL, 0)

const char* fmi2GetTypesPlatform(void) {
  return inner.GetTypesPlatform();
}

const char* fmi2GetVersion(void) {
  return inner.GetVersion();
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions* functions, fmi2Boolean is_visible,
                              fmi2Boolean is_logging) {
  fmi2Component c =
      told_status("fmi2Instantiate") >= 0
          ? NULL
          : inner.Instantiate(name, type, guid, resources, functions, is_visible, is_logging);
  keep_name(c, name);
  write_call(name, "fmi2Instantiate", c == NULL ? 3 : 0, (double)type, is_logging, NULL, 0);
  return c;
}

void fmi2FreeInstance(fmi2Component c) {
  write_call(name_of(c), "fmi2FreeInstance", 0, 0, 0, NULL, 0);
  forget_name(c);
  inner.FreeInstance(c);
}

FORWARD(SetDebugLogging,
        (fmi2Component c, fmi2Boolean is_on, size_t n, const fmi2String categories[]),
        (c, is_on, n, categories), is_on, (double)n, NULL, 0)
FORWARD(SetupExperiment,
        (fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
         fmi2Boolean has_stop, fmi2Real stop),
        (c, has_tolerance, tolerance, start, has_stop, stop), start, stop, NULL, 0)
PLAIN(EnterInitializationMode)
PLAIN(ExitInitializationMode)
PLAIN(Terminate)
PLAIN(Reset)
PLAIN(EnterEventMode)
PLAIN(EnterContinuousTimeMode)
PLAIN(CancelStep)

#define ACCESS(type)                                                                               \
  FORWARD(Get##type,                                                                               \
          (fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2##type values[]),       \
          (c, refs, n, values), 0, 0, refs, n)                                                     \
  FORWARD(Set##type,                                                                               \
          (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2##type values[]), \
          (c, refs, n, values), 0, 0, refs, n)
ACCESS(Real)
ACCESS(Integer)
ACCESS(Boolean)
ACCESS(String)

FORWARD(GetFMUstate, (fmi2Component c, fmi2FMUstate* state), (c, state), number_of(*state), 0, NULL,
        0)
FORWARD(SetFMUstate, (fmi2Component c, fmi2FMUstate state), (c, state), number_of(state), 0, NULL,
        0)
FORWARD(FreeFMUstate, (fmi2Component c, fmi2FMUstate* state), (c, state), 0, 0, NULL, 0)
FORWARD(SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t* size),
        (c, state, size), 0, 0, NULL, 0)
FORWARD(SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size),
        (c, state, bytes, size), 0, 0, NULL, 0)
FORWARD(DeSerializeFMUstate,
        (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state),
        (c, bytes, size, state), 0, 0, NULL, 0)
FORWARD(GetDirectionalDerivative,
        (fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns,
         const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
         fmi2Real sensitivity[]),
        (c, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity), 0, 0, unknowns, n_unknowns)

FORWARD(NewDiscreteStates, (fmi2Component c, fmi2EventInfo* info), (c, info), 0, 0, NULL, 0)
FORWARD(CompletedIntegratorStep,
        (fmi2Component c, fmi2Boolean is_final, fmi2Boolean* is_event, fmi2Boolean* is_end),
        (c, is_final, is_event, is_end), is_final, 0, NULL, 0)
FORWARD(SetTime, (fmi2Component c, fmi2Real time), (c, time), time, 0, NULL, 0)
FORWARD(SetContinuousStates, (fmi2Component c, const fmi2Real x[], size_t n), (c, x, n), 0, 0, NULL,
        0)
FORWARD(GetDerivatives, (fmi2Component c, fmi2Real dx[], size_t n), (c, dx, n), 0, 0, NULL, 0)
FORWARD(GetEventIndicators, (fmi2Component c, fmi2Real z[], size_t n), (c, z, n), 0, 0, NULL, 0)
FORWARD(GetContinuousStates, (fmi2Component c, fmi2Real x[], size_t n), (c, x, n), 0, 0, NULL, 0)
FORWARD(GetNominalsOfContinuousStates, (fmi2Component c, fmi2Real x[], size_t n), (c, x, n), 0, 0,
        NULL, 0)

FORWARD(SetRealInputDerivatives,
        (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Integer orders[],
         const fmi2Real values[]),
        (c, refs, n, orders, values), 0, 0, refs, n)
FORWARD(GetRealOutputDerivatives,
        (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Integer orders[],
         fmi2Real values[]),
        (c, refs, n, orders, values), 0, 0, refs, n)
FORWARD(DoStep, (fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean is_final),
        (c, time, step, is_final), time, step, is_final ? (const uint32_t[]){1} : NULL,
        is_final ? 1 : 0)
FORWARD(GetStatus, (fmi2Component c, fmi2StatusKind kind, fmi2Status* value), (c, kind, value),
        (double)kind, 0, NULL, 0)
FORWARD(GetRealStatus, (fmi2Component c, fmi2StatusKind kind, fmi2Real* value), (c, kind, value),
        (double)kind, 0, NULL, 0)
FORWARD(GetIntegerStatus, (fmi2Component c, fmi2StatusKind kind, fmi2Integer* value),
        (c, kind, value), (double)kind, 0, NULL, 0)
FORWARD(GetBooleanStatus, (fmi2Component c, fmi2StatusKind kind, fmi2Boolean* value),
        (c, kind, value), (double)kind, 0, NULL, 0)
FORWARD(GetStringStatus, (fmi2Component c, fmi2StatusKind kind, fmi2String* value),
        (c, kind, value), (double)kind, 0, NULL, 0)
