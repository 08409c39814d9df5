// The functions of FMI 2.0 co-simulation in front of an instance. Each checks that it may be called now, translates its
// arguments and returns. Source of all facts: FMI 2.0.4, sections 2.1 and 4.2.
//
// Where several FMUs are linked into one program from their sources, FMI2_FUNCTION_PREFIX is put in front of every name,
// as the standard asks for.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/runtime/runtime.h"
#include "fmi/fmi2.h"

#define JOIN_2(a, b) a##b
#define JOIN(a, b)   JOIN_2(a, b)
#ifdef FMI2_FUNCTION_PREFIX
#define NAME(name) JOIN(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define NAME(name) fmi2##name
#endif
#define TEXT(name) "fmi2" #name

// every definition below is checked against the type of the standard
#define DECLARE(name, needed_for) YOKE_API fmi2##name##TYPE NAME(name);
YOKE_FMI2_FUNCTIONS(DECLARE)

#define BORN  (unsigned)YOKE_RUNTIME_INSTANTIATED
#define INIT  (unsigned)YOKE_RUNTIME_INITIALISING
#define STEP  (unsigned)YOKE_RUNTIME_STEPPING
#define ENDED ((unsigned)YOKE_RUNTIME_TERMINATED | (unsigned)YOKE_RUNTIME_FAILED)

// the parameters are the standard's, whatever a function does with them
// NOLINTBEGIN(readability-non-const-parameter,misc-unused-parameters)
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

// returns an error at once if the call has no place in this phase
#define EXPECT(rt, phases, name)                                                                   \
  do {                                                                                             \
    if (!yoke__runtime_expect((rt), (phases), TEXT(name))) {                                       \
      return fmi2Error;                                                                            \
    }                                                                                              \
  } while (0)

// ---- messages and creation

static void log_message(const yoke_runtime* rt, yoke_runtime_status status, const char* category,
                        const char* text) {
  const fmi2CallbackFunctions* functions = rt->host.callbacks;
  functions->logger(rt->host.environment, rt->name, (fmi2Status)status, category, "%s", text);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "file:///tmp/a%20b/resources" -> "/tmp/a b/resources", malloc'ed; a plain path stays as it is. NULL: out of memory.
static char* path_of_uri(const char* uri) {
  const char* from = uri;
  const bool is_uri = strncmp(uri, "file:", 5) == 0;
  if (is_uri) {
    from += 5;
    if (strncmp(from, "//", 2) == 0) {
      // the host is this one, named or not
      from += 2;
      from += strcspn(from, "/");
    }
  }
  char* path = malloc(strlen(from) + 1);
  char* to = path;
  while (path != NULL && *from != '\0') {
    const int high = is_uri && *from == '%' ? hex_digit(from[1]) : -1;
    const int low = high >= 0 ? hex_digit(from[2]) : -1;
    if (low >= 0) {
      *to++ = (char)(16 * high + low);
      from += 3;
    } else {
      *to++ = *from++;
    }
  }
  if (path != NULL) {
    *to = '\0';
  }
  return path;
}

const char* NAME(GetTypesPlatform)(void) {
  return fmi2TypesPlatform;
}

const char* NAME(GetVersion)(void) {
  return fmi2Version;
}

fmi2Component NAME(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid,
                                fmi2String resource_location,
                                const fmi2CallbackFunctions* functions, fmi2Boolean is_visible,
                                fmi2Boolean is_logging) {
  if (functions == NULL || functions->logger == NULL) {
    return NULL;
  }
  const char* shown = name == NULL ? "" : name;
  if (type != fmi2CoSimulation) {
    functions->logger(functions->componentEnvironment, shown, fmi2Error, "logStatusError", "%s",
                      "this FMU is for co-simulation only");
    return NULL;
  }
  char* directory = resource_location == NULL ? NULL : path_of_uri(resource_location);
  const yoke_runtime_host host = {.environment = functions->componentEnvironment,
                                  .callbacks = functions};
  yoke_runtime* rt =
      yoke__runtime_create(shown, guid, directory, log_message, &host, is_logging != fmi2False);
  free(directory);
  return rt;
}

void NAME(FreeInstance)(fmi2Component c) {
  yoke__runtime_free(c);
}

fmi2Status NAME(SetDebugLogging)(fmi2Component c, fmi2Boolean is_on, size_t n_categories,
                                 const fmi2String categories[]) {
  EXPECT(c, BORN | INIT | STEP | ENDED, SetDebugLogging);
  return (fmi2Status)yoke__runtime_log_choose(c, is_on != fmi2False, n_categories, categories);
}

// ---- life cycle

fmi2Status NAME(SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                 fmi2Real start_time, fmi2Boolean has_stop_time,
                                 fmi2Real stop_time) {
  EXPECT(c, BORN, SetupExperiment);
  return (fmi2Status)yoke__runtime_setup(c, start_time, has_stop_time != fmi2False, stop_time);
}

fmi2Status NAME(EnterInitializationMode)(fmi2Component c) {
  yoke_runtime* rt = c;
  EXPECT(rt, BORN, EnterInitializationMode);
  if (!rt->is_experiment_set) {
    return (fmi2Status)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                                         "fmi2SetupExperiment comes before "
                                         "fmi2EnterInitializationMode");
  }
  return (fmi2Status)yoke__runtime_enter_init(rt);
}

fmi2Status NAME(ExitInitializationMode)(fmi2Component c) {
  EXPECT(c, INIT, ExitInitializationMode);
  return (fmi2Status)yoke__runtime_exit_init(c);
}

fmi2Status NAME(Terminate)(fmi2Component c) {
  EXPECT(c, STEP, Terminate);
  return (fmi2Status)yoke__runtime_terminate(c);
}

fmi2Status NAME(Reset)(fmi2Component c) {
  EXPECT(c, BORN | INIT | STEP | ENDED, Reset);
  return (fmi2Status)yoke__runtime_reset(c);
}

// ---- variables

#define ACCESS(type, kind)                                                                         \
  fmi2Status NAME(Get##type)(fmi2Component c, const fmi2ValueReference references[], size_t n,     \
                             fmi2##type values[]) {                                                \
    static const yoke_runtime_access how = {TEXT(Get##type), kind, false};                         \
    return (fmi2Status)yoke__runtime_get(c, &how, references, n, (void*)values, NULL, n);          \
  }                                                                                                \
  fmi2Status NAME(Set##type)(fmi2Component c, const fmi2ValueReference references[], size_t n,     \
                             const fmi2##type values[]) {                                          \
    static const yoke_runtime_access how = {TEXT(Set##type), kind, false};                         \
    return (fmi2Status)yoke__runtime_set(c, &how, references, n, (const void*)values, NULL, n);    \
  }

ACCESS(Real, YOKE_RUNTIME_REAL)
ACCESS(Integer, YOKE_RUNTIME_WHOLE)
ACCESS(Boolean, YOKE_RUNTIME_BOOLEAN)
ACCESS(String, YOKE_RUNTIME_STRING)

// ---- states and derivatives

fmi2Status NAME(GetFMUstate)(fmi2Component c, fmi2FMUstate* state) {
  EXPECT(c, BORN | INIT | STEP | ENDED, GetFMUstate);
  return (fmi2Status)yoke__runtime_state_get(c, state);
}

fmi2Status NAME(SetFMUstate)(fmi2Component c, fmi2FMUstate state) {
  EXPECT(c, BORN | INIT | STEP | ENDED, SetFMUstate);
  return (fmi2Status)yoke__runtime_state_set(c, state);
}

fmi2Status NAME(FreeFMUstate)(fmi2Component c, fmi2FMUstate* state) {
  EXPECT(c, BORN | INIT | STEP | ENDED, FreeFMUstate);
  return (fmi2Status)yoke__runtime_state_free(c, state);
}

fmi2Status NAME(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t* size) {
  EXPECT(c, BORN | INIT | STEP | ENDED, SerializedFMUstateSize);
  return (fmi2Status)yoke__runtime_state_size(c, state, size);
}

fmi2Status NAME(SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                                   size_t size) {
  EXPECT(c, BORN | INIT | STEP | ENDED, SerializeFMUstate);
  return (fmi2Status)yoke__runtime_state_write(c, state, bytes, size);
}

fmi2Status NAME(DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                     fmi2FMUstate* state) {
  EXPECT(c, BORN | INIT | STEP | ENDED, DeSerializeFMUstate);
  return (fmi2Status)yoke__runtime_state_read(c, bytes, size, state);
}

fmi2Status NAME(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknowns[],
                                          size_t n_unknowns, const fmi2ValueReference knowns[],
                                          size_t n_knowns, const fmi2Real seed[],
                                          fmi2Real sensitivity[]) {
  EXPECT(c, INIT | STEP | ENDED, GetDirectionalDerivative);
  const yoke_runtime_status status = yoke__runtime_begin_get(c, TEXT(GetDirectionalDerivative));
  return (fmi2Status)(status != YOKE_RUNTIME_OK
                          ? status
                          : yoke__runtime_derivative(c, unknowns, n_unknowns, knowns, n_knowns,
                                                     seed, sensitivity));
}

// ---- co-simulation

fmi2Status NAME(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference references[],
                                         size_t n, const fmi2Integer orders[],
                                         const fmi2Real values[]) {
  EXPECT(c, INIT | STEP, SetRealInputDerivatives);
  return (fmi2Status)yoke__runtime_say(c, YOKE_RUNTIME_ERROR,
                                       "inputs are held: canInterpolateInputs is false");
}

fmi2Status NAME(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference references[],
                                          size_t n, const fmi2Integer orders[], fmi2Real values[]) {
  EXPECT(c, STEP | ENDED, GetRealOutputDerivatives);
  for (size_t i = 0; i < n; i++) {
    values[i] = 0.0;
  }
  return (fmi2Status)yoke__runtime_say(c, YOKE_RUNTIME_ERROR,
                                       "no derivatives of outputs: maxOutputDerivativeOrder is 0");
}

// A unit that wants the run to end says so by Discard, as the standard has it; its step is done then.
fmi2Status NAME(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean is_final) {
  yoke_runtime* rt = c;
  EXPECT(rt, STEP, DoStep);
  const yoke_runtime_status status = yoke__runtime_step(rt, time, step);
  return status == YOKE_RUNTIME_OK && rt->is_end_wanted ? fmi2Discard : (fmi2Status)status;
}

fmi2Status NAME(CancelStep)(fmi2Component c) {
  EXPECT(c, STEP, CancelStep);
  return (fmi2Status)yoke__runtime_say(c, YOKE_RUNTIME_ERROR, "no step is pending");
}

static fmi2Status refuse_status(const yoke_runtime* rt, const char* function) {
  return (fmi2Status)yoke__runtime_say(rt, YOKE_RUNTIME_DISCARD, "%s: nothing is known of that",
                                       function);
}

fmi2Status NAME(GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status* value) {
  EXPECT(c, STEP | ENDED, GetStatus);
  return refuse_status(c, TEXT(GetStatus));
}

fmi2Status NAME(GetRealStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Real* value) {
  const yoke_runtime* rt = c;
  EXPECT(rt, STEP | ENDED, GetRealStatus);
  if (kind != fmi2LastSuccessfulTime) {
    return refuse_status(rt, TEXT(GetRealStatus));
  }
  *value = rt->t_reached;
  return fmi2OK;
}

fmi2Status NAME(GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Integer* value) {
  EXPECT(c, STEP | ENDED, GetIntegerStatus);
  return refuse_status(c, TEXT(GetIntegerStatus));
}

fmi2Status NAME(GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean* value) {
  const yoke_runtime* rt = c;
  EXPECT(rt, STEP | ENDED, GetBooleanStatus);
  if (kind != fmi2Terminated) {
    return refuse_status(rt, TEXT(GetBooleanStatus));
  }
  *value = rt->is_end_wanted ? fmi2True : fmi2False;
  return fmi2OK;
}

fmi2Status NAME(GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String* value) {
  EXPECT(c, STEP | ENDED, GetStringStatus);
  return refuse_status(c, TEXT(GetStringStatus));
}

// ---- model exchange: not supported
// Importers bind every function of the standard when they load the binary, so each must be there.

static fmi2Status refuse_interface(const yoke_runtime* rt, const char* function) {
  if (rt == NULL) {
    return fmi2Error;
  }
  return (fmi2Status)yoke__runtime_say(
      rt, YOKE_RUNTIME_ERROR, "%s: not supported, this FMU is for co-simulation only", function);
}

fmi2Status NAME(EnterEventMode)(fmi2Component c) {
  return refuse_interface(c, TEXT(EnterEventMode));
}

fmi2Status NAME(NewDiscreteStates)(fmi2Component c, fmi2EventInfo* info) {
  *info = (fmi2EventInfo){.newDiscreteStatesNeeded = fmi2False};
  return refuse_interface(c, TEXT(NewDiscreteStates));
}

fmi2Status NAME(EnterContinuousTimeMode)(fmi2Component c) {
  return refuse_interface(c, TEXT(EnterContinuousTimeMode));
}

fmi2Status NAME(CompletedIntegratorStep)(fmi2Component c, fmi2Boolean is_final,
                                         fmi2Boolean* is_event_mode_wanted,
                                         fmi2Boolean* is_end_wanted) {
  *is_event_mode_wanted = *is_end_wanted = fmi2False;
  return refuse_interface(c, TEXT(CompletedIntegratorStep));
}

fmi2Status NAME(SetTime)(fmi2Component c, fmi2Real time) {
  return refuse_interface(c, TEXT(SetTime));
}

fmi2Status NAME(SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t n) {
  return refuse_interface(c, TEXT(SetContinuousStates));
}

fmi2Status NAME(GetDerivatives)(fmi2Component c, fmi2Real derivatives[], size_t n) {
  return refuse_interface(c, TEXT(GetDerivatives));
}

fmi2Status NAME(GetEventIndicators)(fmi2Component c, fmi2Real indicators[], size_t n) {
  return refuse_interface(c, TEXT(GetEventIndicators));
}

fmi2Status NAME(GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t n) {
  return refuse_interface(c, TEXT(GetContinuousStates));
}

fmi2Status NAME(GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominals[], size_t n) {
  return refuse_interface(c, TEXT(GetNominalsOfContinuousStates));
}

// NOLINTEND(readability-non-const-parameter,misc-unused-parameters)
