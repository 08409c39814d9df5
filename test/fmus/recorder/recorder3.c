// FMI 3.0 in front of another binary; see recorder.h. Functions that the tests never reach are not there.
#define _GNU_SOURCE
#include "recorder.h"

#include "fmi/fmi3.h"

static yoke_fmi3 inner;

__attribute__((constructor)) static void find_all(void) {
#define FIND(name, needed_for) find_inner("fmi3" #name, &inner.name);
  YOKE_FMI3_FUNCTIONS(FIND)
}

#define EXPORTED(name) __attribute__((visibility("default"))) fmi3##name##TYPE fmi3##name;

// a: what the call passes on; numbers and references: what the line says
#define FORWARD(name, params, a, number, other, references, n)                                     \
  EXPORTED(name)                                                                                   \
  fmi3Status fmi3##name params {                                                                   \
    int status = told_status("fmi3" #name);                                                        \
    status = status >= 0 ? status : (int)inner.name a;                                             \
    write_call(name_of(c), "fmi3" #name, status, (number), (other), (references), (n));            \
    return (fmi3Status)status;                                                                     \
  }
#define PLAIN(name) FORWARD(name, (fmi3Instance c), (c), 0, 0, NULL, 0)

EXPORTED(GetVersion)
const char* fmi3GetVersion(void) {
  return inner.GetVersion();
}

EXPORTED(InstantiateModelExchange)
fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean is_visible, fmi3Boolean is_logging,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log_message) {
  fmi3Instance c = told_status("fmi3InstantiateModelExchange") >= 0
                       ? NULL
                       : inner.InstantiateModelExchange(name, token, resources, is_visible,
                                                        is_logging, environment, log_message);
  keep_name(c, name);
  write_call(name, "fmi3InstantiateModelExchange", c == NULL ? 3 : 0, 0, is_logging, NULL, 0);
  return c;
}

EXPORTED(InstantiateCoSimulation)
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean is_visible, fmi3Boolean is_logging,
                                         fmi3Boolean has_event_mode, fmi3Boolean is_early_allowed,
                                         const fmi3ValueReference variables[], size_t n_variables,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log_message,
                                         fmi3IntermediateUpdateCallback update) {
  fmi3Instance c =
      told_status("fmi3InstantiateCoSimulation") >= 0
          ? NULL
          : inner.InstantiateCoSimulation(name, token, resources, is_visible, is_logging,
                                          has_event_mode, is_early_allowed, variables, n_variables,
                                          environment, log_message, update);
  keep_name(c, name);
  write_call(name, "fmi3InstantiateCoSimulation", c == NULL ? 3 : 0, has_event_mode,
             is_early_allowed, NULL, 0);
  return c;
}

EXPORTED(FreeInstance)
void fmi3FreeInstance(fmi3Instance c) {
  write_call(name_of(c), "fmi3FreeInstance", 0, 0, 0, NULL, 0);
  forget_name(c);
  inner.FreeInstance(c);
}

FORWARD(SetDebugLogging,
        (fmi3Instance c, fmi3Boolean is_on, size_t n, const fmi3String categories[]),
        (c, is_on, n, categories), is_on, (double)n, NULL, 0)
FORWARD(EnterInitializationMode,
        (fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
         fmi3Boolean has_stop, fmi3Float64 stop),
        (c, has_tolerance, tolerance, start, has_stop, stop), start, stop, NULL, 0)
PLAIN(ExitInitializationMode)
PLAIN(EnterEventMode)
PLAIN(Terminate)
PLAIN(Reset)
PLAIN(EnterConfigurationMode)
PLAIN(ExitConfigurationMode)
PLAIN(EnterContinuousTimeMode)
PLAIN(EnterStepMode)

#define ACCESS(type)                                                                               \
  FORWARD(Get##type,                                                                               \
          (fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3##type values[],         \
           size_t n_values),                                                                       \
          (c, refs, n, values, n_values), 0, 0, refs, n)                                           \
  FORWARD(Set##type,                                                                               \
          (fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3##type values[],   \
           size_t n_values),                                                                       \
          (c, refs, n, values, n_values), 0, 0, refs, n)
ACCESS(Float32)
ACCESS(Float64)
ACCESS(Int8)
ACCESS(UInt8)
ACCESS(Int16)
ACCESS(UInt16)
ACCESS(Int32)
ACCESS(UInt32)
ACCESS(Int64)
ACCESS(UInt64)
ACCESS(Boolean)
ACCESS(String)
FORWARD(GetBinary,
        (fmi3Instance c, const fmi3ValueReference refs[], size_t n, size_t sizes[],
         fmi3Binary values[], size_t n_values),
        (c, refs, n, sizes, values, n_values), 0, 0, refs, n)
FORWARD(SetBinary,
        (fmi3Instance c, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
         const fmi3Binary values[], size_t n_values),
        (c, refs, n, sizes, values, n_values), 0, 0, refs, n)
FORWARD(GetClock, (fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3Clock values[]),
        (c, refs, n, values), 0, 0, refs, n)
FORWARD(SetClock,
        (fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3Clock values[]),
        (c, refs, n, values), 0, 0, refs, n)

FORWARD(GetFMUState, (fmi3Instance c, fmi3FMUState* state), (c, state), number_of(*state), 0, NULL,
        0)
FORWARD(SetFMUState, (fmi3Instance c, fmi3FMUState state), (c, state), number_of(state), 0, NULL, 0)
FORWARD(FreeFMUState, (fmi3Instance c, fmi3FMUState* state), (c, state), 0, 0, NULL, 0)
FORWARD(GetDirectionalDerivative,
        (fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
         const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
         size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity),
        (c, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity), 0, 0,
        unknowns, n_unknowns)

FORWARD(UpdateDiscreteStates,
        (fmi3Instance c, fmi3Boolean* is_again, fmi3Boolean* is_end, fmi3Boolean* nominals,
         fmi3Boolean* states, fmi3Boolean* has_next, fmi3Float64* next),
        (c, is_again, is_end, nominals, states, has_next, next), 0, 0, NULL, 0)
FORWARD(CompletedIntegratorStep,
        (fmi3Instance c, fmi3Boolean is_final, fmi3Boolean* is_event, fmi3Boolean* is_end),
        (c, is_final, is_event, is_end), is_final, 0, NULL, 0)
FORWARD(SetTime, (fmi3Instance c, fmi3Float64 time), (c, time), time, 0, NULL, 0)
FORWARD(SetContinuousStates, (fmi3Instance c, const fmi3Float64 x[], size_t n), (c, x, n), 0, 0,
        NULL, 0)
FORWARD(GetContinuousStateDerivatives, (fmi3Instance c, fmi3Float64 dx[], size_t n), (c, dx, n), 0,
        0, NULL, 0)
FORWARD(GetEventIndicators, (fmi3Instance c, fmi3Float64 z[], size_t n), (c, z, n), 0, 0, NULL, 0)
FORWARD(GetContinuousStates, (fmi3Instance c, fmi3Float64 x[], size_t n), (c, x, n), 0, 0, NULL, 0)
FORWARD(GetNominalsOfContinuousStates, (fmi3Instance c, fmi3Float64 x[], size_t n), (c, x, n), 0, 0,
        NULL, 0)
FORWARD(GetNumberOfContinuousStates, (fmi3Instance c, size_t* n_states), (c, n_states), 0, 0, NULL,
        0)
FORWARD(GetNumberOfEventIndicators, (fmi3Instance c, size_t* n_indicators), (c, n_indicators), 0, 0,
        NULL, 0)
FORWARD(DoStep,
        (fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean is_final,
         fmi3Boolean* is_event, fmi3Boolean* is_end, fmi3Boolean* is_early, fmi3Float64* last),
        (c, time, step, is_final, is_event, is_end, is_early, last), time, step,
        is_final ? (const uint32_t[]){1} : NULL, is_final ? 1 : 0)
