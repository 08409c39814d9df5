// The functions of FMI 3.0 co-simulation in front of an instance: no clocks, no intermediate update. Event mode is for reading
// outputs after new inputs; no event of a unit is seen outside.
// Source of all facts: FMI 3.0, sections 2.2 and 4.2.
//
// Reals are Float64, whole numbers and enumerations Int64; the other widths know no variable. Where several FMUs are
// linked into one program from their sources, FMI3_FUNCTION_PREFIX is put in front of every name.
#include <string.h>

#include "export/runtime/runtime.h"
#include "fmi/fmi3.h"

#define JOIN_2(a, b) a##b
#define JOIN(a, b)   JOIN_2(a, b)
#ifdef FMI3_FUNCTION_PREFIX
#define NAME(name) JOIN(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define NAME(name) fmi3##name
#endif
#define TEXT(name) "fmi3" #name

// every definition below is checked against the type of the standard
#define DECLARE(name, needed_for) YOKE_API fmi3##name##TYPE NAME(name);
YOKE_FMI3_FUNCTIONS(DECLARE)

#define BORN  (unsigned)YOKE_RUNTIME_INSTANTIATED
#define INIT  (unsigned)YOKE_RUNTIME_INITIALISING
#define STEP  (unsigned)YOKE_RUNTIME_STEPPING
#define ENDED ((unsigned)YOKE_RUNTIME_TERMINATED | (unsigned)YOKE_RUNTIME_FAILED)
#define ANY   (BORN | INIT | STEP | ENDED)

// the parameters are the standard's, whatever a function does with them
// NOLINTBEGIN(readability-non-const-parameter,misc-unused-parameters)
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

// returns an error at once if the call has no place in this phase
#define EXPECT(rt, phases, name)                                                                   \
  do {                                                                                             \
    if (!yoke__runtime_expect((rt), (phases), TEXT(name))) {                                       \
      return fmi3Error;                                                                            \
    }                                                                                              \
  } while (0)

// ---- messages and creation

static void log_message(const yoke_runtime* rt, yoke_runtime_status status, const char* category,
                        const char* text) {
  ((fmi3LogMessageCallback)rt->host.function)(rt->host.environment, (fmi3Status)status, category,
                                              text);
}

const char* NAME(GetVersion)(void) {
  return fmi3Version;
}

// A message where there is no instance; the callback may be missing.
static void refuse(fmi3LogMessageCallback callback, fmi3InstanceEnvironment environment,
                   const char* text) {
  if (callback != NULL) {
    callback(environment, fmi3Error, "logStatusError", text);
  }
}

fmi3Instance NAME(InstantiateModelExchange)(fmi3String name, fmi3String token,
                                            fmi3String resource_path, fmi3Boolean is_visible,
                                            fmi3Boolean is_logging,
                                            fmi3InstanceEnvironment environment,
                                            fmi3LogMessageCallback callback) {
  refuse(callback, environment, "this FMU is for co-simulation only");
  return NULL;
}

fmi3Instance NAME(InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback callback,
    fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
    fmi3UnlockPreemptionCallback unlock_preemption) {
  refuse(callback, environment, "this FMU is for co-simulation only");
  return NULL;
}

fmi3Instance NAME(InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3Boolean has_event_mode, fmi3Boolean is_early_return_allowed,
    const fmi3ValueReference intermediate_variables[], size_t n_intermediate_variables,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback callback,
    fmi3IntermediateUpdateCallback intermediate_update) {
  if (n_intermediate_variables > 0) {
    refuse(callback, environment, "this FMU has no intermediate update");
    return NULL;
  }
  const yoke_runtime_host host = {.environment = environment, .function = (void (*)(void))callback};
  yoke_runtime* rt = yoke__runtime_create(name, token, resource_path,
                                          callback == NULL ? NULL : log_message, &host, is_logging);
  if (rt != NULL && has_event_mode && !rt->config.has_event_mode) {
    refuse(callback, environment, "this FMU has no event mode");
    yoke__runtime_free(rt);
    return NULL;
  }
  if (rt != NULL) {
    rt->uses_events = has_event_mode;
  }
  return rt;
}

void NAME(FreeInstance)(fmi3Instance c) {
  yoke__runtime_free(c);
}

fmi3Status NAME(SetDebugLogging)(fmi3Instance c, fmi3Boolean is_on, size_t n_categories,
                                 const fmi3String categories[]) {
  EXPECT(c, ANY, SetDebugLogging);
  return (fmi3Status)yoke__runtime_log_choose(c, is_on, n_categories, categories);
}

// ---- life cycle

fmi3Status NAME(EnterInitializationMode)(fmi3Instance c, fmi3Boolean has_tolerance,
                                         fmi3Float64 tolerance, fmi3Float64 start_time,
                                         fmi3Boolean has_stop_time, fmi3Float64 stop_time) {
  EXPECT(c, BORN, EnterInitializationMode);
  const yoke_runtime_status status = yoke__runtime_setup(c, start_time, has_stop_time, stop_time);
  return (fmi3Status)(status != YOKE_RUNTIME_OK ? status : yoke__runtime_enter_init(c));
}

fmi3Status NAME(ExitInitializationMode)(fmi3Instance c) {
  EXPECT(c, INIT, ExitInitializationMode);
  return (fmi3Status)yoke__runtime_exit_init(c);
}

fmi3Status NAME(Terminate)(fmi3Instance c) {
  EXPECT(c, STEP, Terminate);
  return (fmi3Status)yoke__runtime_terminate(c);
}

fmi3Status NAME(Reset)(fmi3Instance c) {
  EXPECT(c, ANY, Reset);
  return (fmi3Status)yoke__runtime_reset(c);
}

// what this FMU has not, by its own description
static fmi3Status refuse_call(const yoke_runtime* rt, const char* function, const char* why) {
  if (rt == NULL) {
    return fmi3Error;
  }
  return (fmi3Status)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: %s", function, why);
}

fmi3Status NAME(EnterConfigurationMode)(fmi3Instance c) {
  return refuse_call(c, TEXT(EnterConfigurationMode), "there are no structural parameters");
}

fmi3Status NAME(ExitConfigurationMode)(fmi3Instance c) {
  return refuse_call(c, TEXT(ExitConfigurationMode), "there are no structural parameters");
}

// ---- event mode

// In a phase of stepping, in the mode or out of it, by an importer that asked for it. False after a message.
static bool expect_mode(const yoke_runtime* rt, bool is_in_event_mode, const char* function) {
  if (!yoke__runtime_expect(rt, STEP, function)) {
    return false;
  }
  if (!rt->uses_events || rt->is_in_event_mode != is_in_event_mode) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: the instance %s", function,
                            !rt->uses_events       ? "was made without event mode"
                            : rt->is_in_event_mode ? "is in event mode already"
                                                   : "is not in event mode");
    return false;
  }
  return true;
}

fmi3Status NAME(EnterEventMode)(fmi3Instance c) {
  yoke_runtime* rt = c;
  if (!expect_mode(rt, false, TEXT(EnterEventMode))) {
    return fmi3Error;
  }
  rt->is_in_event_mode = true;
  return fmi3OK;
}

fmi3Status NAME(EnterStepMode)(fmi3Instance c) {
  yoke_runtime* rt = c;
  if (!expect_mode(rt, true, TEXT(EnterStepMode))) {
    return fmi3Error;
  }
  rt->is_in_event_mode = false;
  return fmi3OK;
}

fmi3Status NAME(EvaluateDiscreteStates)(fmi3Instance c) {
  return refuse_call(c, TEXT(EvaluateDiscreteStates), "providesEvaluateDiscreteStates is false");
}

fmi3Status NAME(UpdateDiscreteStates)(fmi3Instance c, fmi3Boolean* is_update_needed,
                                      fmi3Boolean* is_end_wanted,
                                      fmi3Boolean* have_nominals_changed,
                                      fmi3Boolean* have_states_changed, fmi3Boolean* has_next_event,
                                      fmi3Float64* next_event_time) {
  *is_update_needed = *is_end_wanted = *have_nominals_changed = fmi3False;
  *have_states_changed = *has_next_event = fmi3False;
  *next_event_time = 0.0;
  return expect_mode(c, true, TEXT(UpdateDiscreteStates)) ? fmi3OK : fmi3Error;
}

// ---- variables

#define ACCESS(type, kind)                                                                         \
  fmi3Status NAME(Get##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             fmi3##type values[], size_t n_values) {                               \
    static const yoke_runtime_access how = {TEXT(Get##type), kind, true};                          \
    return (fmi3Status)yoke__runtime_get(c, &how, references, n, (void*)values, NULL, n_values);   \
  }                                                                                                \
  fmi3Status NAME(Set##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             const fmi3##type values[], size_t n_values) {                         \
    static const yoke_runtime_access how = {TEXT(Set##type), kind, true};                          \
    return (fmi3Status)yoke__runtime_set(c, &how, references, n, (const void*)values, NULL,        \
                                         n_values);                                                \
  }

ACCESS(Float64, YOKE_RUNTIME_REAL)
ACCESS(Int64, YOKE_RUNTIME_WHOLE)
ACCESS(Boolean, YOKE_RUNTIME_BOOLEAN)
ACCESS(String, YOKE_RUNTIME_STRING)

fmi3Status NAME(GetBinary)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           size_t sizes[], fmi3Binary values[], size_t n_values) {
  static const yoke_runtime_access how = {TEXT(GetBinary), YOKE_RUNTIME_BINARY, true};
  return (fmi3Status)yoke__runtime_get(c, &how, references, n, (void*)values, sizes, n_values);
}

fmi3Status NAME(SetBinary)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           const size_t sizes[], const fmi3Binary values[], size_t n_values) {
  static const yoke_runtime_access how = {TEXT(SetBinary), YOKE_RUNTIME_BINARY, true};
  return (fmi3Status)yoke__runtime_set(c, &how, references, n, (const void*)values, sizes,
                                       n_values);
}

// Types that no variable of this FMU has: fine for no variables, an error for any.
static fmi3Status no_variable(const yoke_runtime* rt, const char* function, size_t n) {
  return rt != NULL && n == 0 ? fmi3OK
                              : refuse_call(rt, function, "there is no variable of this type");
}

#define NO_TYPE(type)                                                                              \
  fmi3Status NAME(Get##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             fmi3##type values[], size_t n_values) {                               \
    return no_variable(c, TEXT(Get##type), n);                                                     \
  }                                                                                                \
  fmi3Status NAME(Set##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             const fmi3##type values[], size_t n_values) {                         \
    return no_variable(c, TEXT(Set##type), n);                                                     \
  }

NO_TYPE(Float32)
NO_TYPE(Int8)
NO_TYPE(UInt8)
NO_TYPE(Int16)
NO_TYPE(UInt16)
NO_TYPE(Int32)
NO_TYPE(UInt32)
NO_TYPE(UInt64)

fmi3Status NAME(GetClock)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          fmi3Clock values[]) {
  return no_variable(c, TEXT(GetClock), n);
}

fmi3Status NAME(SetClock)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          const fmi3Clock values[]) {
  return no_variable(c, TEXT(SetClock), n);
}

fmi3Status NAME(GetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
  return no_variable(c, TEXT(GetIntervalDecimal), n);
}

fmi3Status NAME(GetIntervalFraction)(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                     fmi3IntervalQualifier qualifiers[]) {
  return no_variable(c, TEXT(GetIntervalFraction), n);
}

fmi3Status NAME(GetShiftDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                 fmi3Float64 shifts[]) {
  return no_variable(c, TEXT(GetShiftDecimal), n);
}

fmi3Status NAME(GetShiftFraction)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
  return no_variable(c, TEXT(GetShiftFraction), n);
}

fmi3Status NAME(SetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    const fmi3Float64 intervals[]) {
  return no_variable(c, TEXT(SetIntervalDecimal), n);
}

fmi3Status NAME(SetIntervalFraction)(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, const fmi3UInt64 counters[],
                                     const fmi3UInt64 resolutions[]) {
  return no_variable(c, TEXT(SetIntervalFraction), n);
}

fmi3Status NAME(SetShiftDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                 const fmi3Float64 shifts[]) {
  return no_variable(c, TEXT(SetShiftDecimal), n);
}

fmi3Status NAME(SetShiftFraction)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
  return no_variable(c, TEXT(SetShiftFraction), n);
}

fmi3Status NAME(GetNumberOfVariableDependencies)(fmi3Instance c, fmi3ValueReference reference,
                                                 size_t* n) {
  *n = 0;
  return refuse_call(c, TEXT(GetNumberOfVariableDependencies),
                     "providesPerElementDependencies is false");
}

fmi3Status NAME(GetVariableDependencies)(fmi3Instance c, fmi3ValueReference dependent,
                                         size_t dependent_elements[],
                                         fmi3ValueReference independents[],
                                         size_t independent_elements[], fmi3DependencyKind kinds[],
                                         size_t n) {
  return refuse_call(c, TEXT(GetVariableDependencies), "providesPerElementDependencies is false");
}

// ---- states and derivatives

fmi3Status NAME(GetFMUState)(fmi3Instance c, fmi3FMUState* state) {
  EXPECT(c, ANY, GetFMUState);
  return (fmi3Status)yoke__runtime_state_get(c, state);
}

fmi3Status NAME(SetFMUState)(fmi3Instance c, fmi3FMUState state) {
  EXPECT(c, ANY, SetFMUState);
  return (fmi3Status)yoke__runtime_state_set(c, state);
}

fmi3Status NAME(FreeFMUState)(fmi3Instance c, fmi3FMUState* state) {
  EXPECT(c, ANY, FreeFMUState);
  return (fmi3Status)yoke__runtime_state_free(c, state);
}

fmi3Status NAME(SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t* size) {
  EXPECT(c, ANY, SerializedFMUStateSize);
  return (fmi3Status)yoke__runtime_state_size(c, state, size);
}

fmi3Status NAME(SerializeFMUState)(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[],
                                   size_t size) {
  EXPECT(c, ANY, SerializeFMUState);
  return (fmi3Status)yoke__runtime_state_write(c, state, bytes, size);
}

fmi3Status NAME(DeserializeFMUState)(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                     fmi3FMUState* state) {
  EXPECT(c, ANY, DeserializeFMUState);
  return (fmi3Status)yoke__runtime_state_read(c, bytes, size, state);
}

fmi3Status NAME(GetDirectionalDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[],
                                          size_t n_unknowns, const fmi3ValueReference knowns[],
                                          size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                          fmi3Float64 sensitivity[], size_t n_sensitivity) {
  EXPECT(c, INIT | STEP | ENDED, GetDirectionalDerivative);
  if (n_seed != n_knowns || n_sensitivity != n_unknowns) {
    return refuse_call(c, TEXT(GetDirectionalDerivative), "one number per variable is expected");
  }
  const yoke_runtime_status status = yoke__runtime_begin_get(c, TEXT(GetDirectionalDerivative));
  return (fmi3Status)(status != YOKE_RUNTIME_OK
                          ? status
                          : yoke__runtime_derivative(c, unknowns, n_unknowns, knowns, n_knowns,
                                                     seed, sensitivity));
}

fmi3Status NAME(GetAdjointDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[],
                                      size_t n_unknowns, const fmi3ValueReference knowns[],
                                      size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                      fmi3Float64 sensitivity[], size_t n_sensitivity) {
  return refuse_call(c, TEXT(GetAdjointDerivative), "providesAdjointDerivatives is false");
}

// ---- co-simulation

fmi3Status NAME(GetOutputDerivatives)(fmi3Instance c, const fmi3ValueReference references[],
                                      size_t n, const fmi3Int32 orders[], fmi3Float64 values[],
                                      size_t n_values) {
  return refuse_call(c, TEXT(GetOutputDerivatives), "maxOutputDerivativeOrder is 0");
}

fmi3Status NAME(DoStep)(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean is_final,
                        fmi3Boolean* is_event_handling_needed, fmi3Boolean* is_end_wanted,
                        fmi3Boolean* is_early_return, fmi3Float64* last_successful_time) {
  yoke_runtime* rt = c;
  *is_event_handling_needed = *is_end_wanted = *is_early_return = fmi3False;
  EXPECT(rt, STEP, DoStep);
  const yoke_runtime_status status = yoke__runtime_step(rt, time, step);
  *is_end_wanted = rt->is_end_wanted;
  *last_successful_time = rt->t_reached;
  return (fmi3Status)status;
}

// ---- model exchange and scheduled execution: not supported
// Importers bind every function of the standard when they load the binary, so each must be there.

static fmi3Status refuse_interface(const yoke_runtime* rt, const char* function) {
  return refuse_call(rt, function, "not supported, this FMU is for co-simulation only");
}

fmi3Status NAME(EnterContinuousTimeMode)(fmi3Instance c) {
  return refuse_interface(c, TEXT(EnterContinuousTimeMode));
}

fmi3Status NAME(CompletedIntegratorStep)(fmi3Instance c, fmi3Boolean is_final,
                                         fmi3Boolean* is_event_mode_wanted,
                                         fmi3Boolean* is_end_wanted) {
  *is_event_mode_wanted = *is_end_wanted = fmi3False;
  return refuse_interface(c, TEXT(CompletedIntegratorStep));
}

fmi3Status NAME(SetTime)(fmi3Instance c, fmi3Float64 time) {
  return refuse_interface(c, TEXT(SetTime));
}

fmi3Status NAME(SetContinuousStates)(fmi3Instance c, const fmi3Float64 x[], size_t n) {
  return refuse_interface(c, TEXT(SetContinuousStates));
}

fmi3Status NAME(GetContinuousStateDerivatives)(fmi3Instance c, fmi3Float64 derivatives[],
                                               size_t n) {
  return refuse_interface(c, TEXT(GetContinuousStateDerivatives));
}

fmi3Status NAME(GetEventIndicators)(fmi3Instance c, fmi3Float64 indicators[], size_t n) {
  return refuse_interface(c, TEXT(GetEventIndicators));
}

fmi3Status NAME(GetContinuousStates)(fmi3Instance c, fmi3Float64 x[], size_t n) {
  return refuse_interface(c, TEXT(GetContinuousStates));
}

fmi3Status NAME(GetNominalsOfContinuousStates)(fmi3Instance c, fmi3Float64 nominals[], size_t n) {
  return refuse_interface(c, TEXT(GetNominalsOfContinuousStates));
}

fmi3Status NAME(GetNumberOfEventIndicators)(fmi3Instance c, size_t* n) {
  *n = 0;
  return refuse_interface(c, TEXT(GetNumberOfEventIndicators));
}

fmi3Status NAME(GetNumberOfContinuousStates)(fmi3Instance c, size_t* n) {
  *n = 0;
  return refuse_interface(c, TEXT(GetNumberOfContinuousStates));
}

fmi3Status NAME(ActivateModelPartition)(fmi3Instance c, fmi3ValueReference clock,
                                        fmi3Float64 time) {
  return refuse_interface(c, TEXT(ActivateModelPartition));
}

// NOLINTEND(readability-non-const-parameter,misc-unused-parameters)
