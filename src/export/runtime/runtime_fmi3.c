// The functions of FMI 3.0 co-simulation in front of an instance: no event mode, no clocks, no intermediate update.
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
// NOLINTBEGIN(readability-non-const-parameter)

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
  (void)name;
  (void)token;
  (void)resource_path;
  (void)is_visible;
  (void)is_logging;
  refuse(callback, environment, "this FMU is for co-simulation only");
  return NULL;
}

fmi3Instance NAME(InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback callback,
    fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
    fmi3UnlockPreemptionCallback unlock_preemption) {
  (void)name;
  (void)token;
  (void)resource_path;
  (void)is_visible;
  (void)is_logging;
  (void)clock_update;
  (void)lock_preemption;
  (void)unlock_preemption;
  refuse(callback, environment, "this FMU is for co-simulation only");
  return NULL;
}

fmi3Instance NAME(InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3Boolean has_event_mode, fmi3Boolean is_early_return_allowed,
    const fmi3ValueReference intermediate_variables[], size_t n_intermediate_variables,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback callback,
    fmi3IntermediateUpdateCallback intermediate_update) {
  (void)is_visible;
  (void)is_early_return_allowed;
  (void)intermediate_variables;
  (void)intermediate_update;
  if (has_event_mode || n_intermediate_variables > 0) {
    refuse(callback, environment,
           has_event_mode ? "this FMU has no event mode" : "this FMU has no intermediate update");
    return NULL;
  }
  const yoke_runtime_host host = {.environment = environment, .function = (void (*)(void))callback};
  return yoke__runtime_create(name, token, resource_path, callback == NULL ? NULL : log_message,
                              &host, is_logging);
}

void NAME(FreeInstance)(fmi3Instance c) {
  yoke__runtime_free(c);
}

fmi3Status NAME(SetDebugLogging)(fmi3Instance c, fmi3Boolean is_on, size_t n_categories,
                                 const fmi3String categories[]) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, SetDebugLogging);
  return (fmi3Status)yoke__runtime_log_choose(rt, is_on, n_categories, categories);
}

// ---- life cycle

fmi3Status NAME(EnterInitializationMode)(fmi3Instance c, fmi3Boolean has_tolerance,
                                         fmi3Float64 tolerance, fmi3Float64 start_time,
                                         fmi3Boolean has_stop_time, fmi3Float64 stop_time) {
  yoke_runtime* rt = c;
  (void)has_tolerance;
  (void)tolerance;
  EXPECT(rt, BORN, EnterInitializationMode);
  const yoke_runtime_status status = yoke__runtime_setup(rt, start_time, has_stop_time, stop_time);
  return (fmi3Status)(status != YOKE_RUNTIME_OK ? status : yoke__runtime_enter_init(rt));
}

fmi3Status NAME(ExitInitializationMode)(fmi3Instance c) {
  yoke_runtime* rt = c;
  EXPECT(rt, INIT, ExitInitializationMode);
  return (fmi3Status)yoke__runtime_exit_init(rt);
}

fmi3Status NAME(Terminate)(fmi3Instance c) {
  yoke_runtime* rt = c;
  EXPECT(rt, STEP, Terminate);
  return (fmi3Status)yoke__runtime_terminate(rt);
}

fmi3Status NAME(Reset)(fmi3Instance c) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, Reset);
  return (fmi3Status)yoke__runtime_reset(rt);
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

fmi3Status NAME(EnterEventMode)(fmi3Instance c) {
  return refuse_call(c, TEXT(EnterEventMode), "there is no event mode");
}

fmi3Status NAME(EnterStepMode)(fmi3Instance c) {
  return refuse_call(c, TEXT(EnterStepMode), "there is no event mode");
}

fmi3Status NAME(EvaluateDiscreteStates)(fmi3Instance c) {
  return refuse_call(c, TEXT(EvaluateDiscreteStates), "there is no event mode");
}

fmi3Status NAME(UpdateDiscreteStates)(fmi3Instance c, fmi3Boolean* is_update_needed,
                                      fmi3Boolean* is_end_wanted,
                                      fmi3Boolean* have_nominals_changed,
                                      fmi3Boolean* have_states_changed, fmi3Boolean* has_next_event,
                                      fmi3Float64* next_event_time) {
  *is_update_needed = *is_end_wanted = *have_nominals_changed = fmi3False;
  *have_states_changed = *has_next_event = fmi3False;
  *next_event_time = 0.0;
  return refuse_call(c, TEXT(UpdateDiscreteStates), "there is no event mode");
}

// ---- variables

// How one element of a kind goes out to and in from an array of the standard's type, element k.
typedef yoke_runtime_status (*element_out)(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                           size_t k, void* values, size_t* sizes);
typedef yoke_runtime_status (*element_in)(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                          const void* values, const size_t* sizes,
                                          const char* function);

// What the typed functions have in common.
typedef struct access {
  const char* function;
  yoke_runtime_kind kind;
  element_out out;
  element_in in;
} access;

// The array behind a reference; its elements must fit behind the first k of n_values.
static const yoke_runtime_slot* find_array(const yoke_runtime* rt, const access* how,
                                           uint32_t reference, size_t k, size_t n_values,
                                           size_t* span) {
  const yoke_runtime_slot* slot = yoke__runtime_find(rt, reference, how->kind, how->function);
  *span = slot == NULL ? 0 : yoke__runtime_span(rt, slot, how->function);
  if (*span == 0) {
    return NULL;
  }
  if (*span > n_values - k) {
    (void)refuse_call(rt, how->function, "fewer values than the variables have elements");
    return NULL;
  }
  return slot;
}

// The time is the one variable that no unit has.
static bool is_time(const yoke_runtime* rt, const access* how, uint32_t reference) {
  return reference == rt->n_slots && how->kind == YOKE_RUNTIME_REAL;
}

static fmi3Status get(yoke_runtime* rt, const access* how, const fmi3ValueReference references[],
                      size_t n, void* values, size_t* sizes, size_t n_values) {
  yoke_runtime_status status = yoke__runtime_begin_get(rt, how->function);
  size_t k = 0;
  for (size_t i = 0; i < n && status == YOKE_RUNTIME_OK; i++) {
    if (is_time(rt, how, references[i]) && k < n_values) {
      ((fmi3Float64*)values)[k++] = rt->time;
      continue;
    }
    size_t span = 0;
    const yoke_runtime_slot* slot = find_array(rt, how, references[i], k, n_values, &span);
    status = slot == NULL ? YOKE_RUNTIME_ERROR : status;
    for (size_t j = 0; j < span && status == YOKE_RUNTIME_OK; j++, k++) {
      status = how->out(rt, slot + j, k, values, sizes);
    }
  }
  if (status == YOKE_RUNTIME_OK && k != n_values) {
    return refuse_call(rt, how->function, "more values than the variables have elements");
  }
  return (fmi3Status)status;
}

static fmi3Status set(yoke_runtime* rt, const access* how, const fmi3ValueReference references[],
                      size_t n, const void* values, const size_t* sizes, size_t n_values) {
  yoke_runtime_status status = yoke__runtime_begin_set(rt, how->function);
  size_t k = 0;
  for (size_t i = 0; i < n && status == YOKE_RUNTIME_OK; i++) {
    size_t span = 0;
    const yoke_runtime_slot* slot = find_array(rt, how, references[i], k, n_values, &span);
    status = slot == NULL ? YOKE_RUNTIME_ERROR : status;
    for (size_t j = 0; j < span && status == YOKE_RUNTIME_OK; j++, k++) {
      status = how->in(rt, slot + j, k, values, sizes, how->function);
    }
  }
  if (status == YOKE_RUNTIME_OK && k != n_values) {
    return refuse_call(rt, how->function, "more values than the variables have elements");
  }
  return (fmi3Status)status;
}

static yoke_runtime_status real_out(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                    void* values, size_t* sizes) {
  (void)sizes;
  const void* at = yoke__runtime_read(rt, slot);
  if (at == NULL) {
    return YOKE_RUNTIME_ERROR;
  }
  memcpy((fmi3Float64*)values + k, at, sizeof(fmi3Float64));
  return YOKE_RUNTIME_OK;
}

static yoke_runtime_status real_in(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                   const void* values, const size_t* sizes, const char* function) {
  (void)sizes;
  return yoke__runtime_write(rt, slot, (const fmi3Float64*)values + k, function);
}

static yoke_runtime_status whole_out(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                     void* values, size_t* sizes) {
  (void)sizes;
  return yoke__runtime_read_whole(rt, slot, (fmi3Int64*)values + k);
}

static yoke_runtime_status whole_in(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                    const void* values, const size_t* sizes, const char* function) {
  (void)sizes;
  return yoke__runtime_write_whole(rt, slot, ((const fmi3Int64*)values)[k], function);
}

static yoke_runtime_status boolean_out(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                       void* values, size_t* sizes) {
  (void)sizes;
  int64_t value = 0;
  const yoke_runtime_status status = yoke__runtime_read_whole(rt, slot, &value);
  ((fmi3Boolean*)values)[k] = value != 0;
  return status;
}

static yoke_runtime_status boolean_in(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                      const void* values, const size_t* sizes,
                                      const char* function) {
  (void)sizes;
  return yoke__runtime_write_whole(rt, slot, ((const fmi3Boolean*)values)[k] ? 1 : 0, function);
}

static yoke_runtime_status text_out(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                    void* values, size_t* sizes) {
  (void)sizes;
  const char* text = yoke__runtime_read(rt, slot);
  ((fmi3String*)values)[k] = text;
  return text == NULL ? YOKE_RUNTIME_ERROR : YOKE_RUNTIME_OK;
}

static yoke_runtime_status text_in(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                   const void* values, const size_t* sizes, const char* function) {
  (void)sizes;
  return yoke__runtime_write_text(rt, slot, ((const fmi3String*)values)[k], function);
}

static yoke_runtime_status binary_out(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                      void* values, size_t* sizes) {
  const char* at = yoke__runtime_read(rt, slot);
  if (at == NULL) {
    return YOKE_RUNTIME_ERROR;
  }
  uint64_t n = 0;
  memcpy(&n, at, sizeof n);
  sizes[k] = (size_t)n;
  ((fmi3Binary*)values)[k] = (const fmi3Byte*)at + sizeof n;
  return YOKE_RUNTIME_OK;
}

static yoke_runtime_status binary_in(yoke_runtime* rt, const yoke_runtime_slot* slot, size_t k,
                                     const void* values, const size_t* sizes,
                                     const char* function) {
  return yoke__runtime_write_binary(rt, slot, ((const fmi3Binary*)values)[k], sizes[k], function);
}

fmi3Status NAME(GetFloat64)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                            fmi3Float64 values[], size_t n_values) {
  static const access how = {TEXT(GetFloat64), YOKE_RUNTIME_REAL, real_out, NULL};
  return get(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(SetFloat64)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                            const fmi3Float64 values[], size_t n_values) {
  static const access how = {TEXT(SetFloat64), YOKE_RUNTIME_REAL, NULL, real_in};
  return set(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(GetInt64)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          fmi3Int64 values[], size_t n_values) {
  static const access how = {TEXT(GetInt64), YOKE_RUNTIME_WHOLE, whole_out, NULL};
  return get(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(SetInt64)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          const fmi3Int64 values[], size_t n_values) {
  static const access how = {TEXT(SetInt64), YOKE_RUNTIME_WHOLE, NULL, whole_in};
  return set(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(GetBoolean)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                            fmi3Boolean values[], size_t n_values) {
  static const access how = {TEXT(GetBoolean), YOKE_RUNTIME_BOOLEAN, boolean_out, NULL};
  return get(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(SetBoolean)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                            const fmi3Boolean values[], size_t n_values) {
  static const access how = {TEXT(SetBoolean), YOKE_RUNTIME_BOOLEAN, NULL, boolean_in};
  return set(c, &how, references, n, values, NULL, n_values);
}

fmi3Status NAME(GetString)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           fmi3String values[], size_t n_values) {
  static const access how = {TEXT(GetString), YOKE_RUNTIME_STRING, text_out, NULL};
  return get(c, &how, references, n, (void*)values, NULL, n_values);
}

fmi3Status NAME(SetString)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           const fmi3String values[], size_t n_values) {
  static const access how = {TEXT(SetString), YOKE_RUNTIME_STRING, NULL, text_in};
  return set(c, &how, references, n, (const void*)values, NULL, n_values);
}

fmi3Status NAME(GetBinary)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           size_t sizes[], fmi3Binary values[], size_t n_values) {
  static const access how = {TEXT(GetBinary), YOKE_RUNTIME_BINARY, binary_out, NULL};
  return get(c, &how, references, n, (void*)values, sizes, n_values);
}

fmi3Status NAME(SetBinary)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                           const size_t sizes[], const fmi3Binary values[], size_t n_values) {
  static const access how = {TEXT(SetBinary), YOKE_RUNTIME_BINARY, NULL, binary_in};
  return set(c, &how, references, n, (const void*)values, sizes, n_values);
}

// Types that no variable of this FMU has: fine for no variables, an error for any.
static fmi3Status no_variable(const yoke_runtime* rt, const char* function, size_t n) {
  return rt != NULL && n == 0 ? fmi3OK
                              : refuse_call(rt, function, "there is no variable of this type");
}

#define NO_TYPE(type)                                                                              \
  fmi3Status NAME(Get##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             fmi3##type values[], size_t n_values) {                               \
    (void)references;                                                                              \
    (void)values;                                                                                  \
    (void)n_values;                                                                                \
    return no_variable(c, TEXT(Get##type), n);                                                     \
  }                                                                                                \
  fmi3Status NAME(Set##type)(fmi3Instance c, const fmi3ValueReference references[], size_t n,      \
                             const fmi3##type values[], size_t n_values) {                         \
    (void)references;                                                                              \
    (void)values;                                                                                  \
    (void)n_values;                                                                                \
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
  (void)references;
  (void)values;
  return no_variable(c, TEXT(GetClock), n);
}

fmi3Status NAME(SetClock)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                          const fmi3Clock values[]) {
  (void)references;
  (void)values;
  return no_variable(c, TEXT(SetClock), n);
}

fmi3Status NAME(GetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
  (void)references;
  (void)intervals;
  (void)qualifiers;
  return no_variable(c, TEXT(GetIntervalDecimal), n);
}

fmi3Status NAME(GetIntervalFraction)(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                     fmi3IntervalQualifier qualifiers[]) {
  (void)references;
  (void)counters;
  (void)resolutions;
  (void)qualifiers;
  return no_variable(c, TEXT(GetIntervalFraction), n);
}

fmi3Status NAME(GetShiftDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                 fmi3Float64 shifts[]) {
  (void)references;
  (void)shifts;
  return no_variable(c, TEXT(GetShiftDecimal), n);
}

fmi3Status NAME(GetShiftFraction)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
  (void)references;
  (void)counters;
  (void)resolutions;
  return no_variable(c, TEXT(GetShiftFraction), n);
}

fmi3Status NAME(SetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    const fmi3Float64 intervals[]) {
  (void)references;
  (void)intervals;
  return no_variable(c, TEXT(SetIntervalDecimal), n);
}

fmi3Status NAME(SetIntervalFraction)(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, const fmi3UInt64 counters[],
                                     const fmi3UInt64 resolutions[]) {
  (void)references;
  (void)counters;
  (void)resolutions;
  return no_variable(c, TEXT(SetIntervalFraction), n);
}

fmi3Status NAME(SetShiftDecimal)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                 const fmi3Float64 shifts[]) {
  (void)references;
  (void)shifts;
  return no_variable(c, TEXT(SetShiftDecimal), n);
}

fmi3Status NAME(SetShiftFraction)(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
  (void)references;
  (void)counters;
  (void)resolutions;
  return no_variable(c, TEXT(SetShiftFraction), n);
}

fmi3Status NAME(GetNumberOfVariableDependencies)(fmi3Instance c, fmi3ValueReference reference,
                                                 size_t* n) {
  (void)reference;
  *n = 0;
  return refuse_call(c, TEXT(GetNumberOfVariableDependencies),
                     "providesPerElementDependencies is false");
}

fmi3Status NAME(GetVariableDependencies)(fmi3Instance c, fmi3ValueReference dependent,
                                         size_t dependent_elements[],
                                         fmi3ValueReference independents[],
                                         size_t independent_elements[], fmi3DependencyKind kinds[],
                                         size_t n) {
  (void)dependent;
  (void)dependent_elements;
  (void)independents;
  (void)independent_elements;
  (void)kinds;
  (void)n;
  return refuse_call(c, TEXT(GetVariableDependencies), "providesPerElementDependencies is false");
}

// ---- states and derivatives

fmi3Status NAME(GetFMUState)(fmi3Instance c, fmi3FMUState* state) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, GetFMUState);
  return (fmi3Status)yoke__runtime_state_get(rt, state);
}

fmi3Status NAME(SetFMUState)(fmi3Instance c, fmi3FMUState state) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, SetFMUState);
  return (fmi3Status)yoke__runtime_state_set(rt, state);
}

fmi3Status NAME(FreeFMUState)(fmi3Instance c, fmi3FMUState* state) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, FreeFMUState);
  return (fmi3Status)yoke__runtime_state_free(rt, state);
}

fmi3Status NAME(SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t* size) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, SerializedFMUStateSize);
  return (fmi3Status)yoke__runtime_state_size(rt, state, size);
}

fmi3Status NAME(SerializeFMUState)(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[],
                                   size_t size) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, SerializeFMUState);
  return (fmi3Status)yoke__runtime_state_write(rt, state, bytes, size);
}

fmi3Status NAME(DeserializeFMUState)(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                     fmi3FMUState* state) {
  yoke_runtime* rt = c;
  EXPECT(rt, ANY, DeserializeFMUState);
  return (fmi3Status)yoke__runtime_state_read(rt, bytes, size, state);
}

fmi3Status NAME(GetDirectionalDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[],
                                          size_t n_unknowns, const fmi3ValueReference knowns[],
                                          size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                          fmi3Float64 sensitivity[], size_t n_sensitivity) {
  yoke_runtime* rt = c;
  EXPECT(rt, INIT | STEP | ENDED, GetDirectionalDerivative);
  if (n_seed != n_knowns || n_sensitivity != n_unknowns) {
    return refuse_call(rt, TEXT(GetDirectionalDerivative), "one number per variable is expected");
  }
  const yoke_runtime_status status = yoke__runtime_begin_get(rt, TEXT(GetDirectionalDerivative));
  return (fmi3Status)(status != YOKE_RUNTIME_OK
                          ? status
                          : yoke__runtime_derivative(rt, unknowns, n_unknowns, knowns, n_knowns,
                                                     seed, sensitivity));
}

fmi3Status NAME(GetAdjointDerivative)(fmi3Instance c, const fmi3ValueReference unknowns[],
                                      size_t n_unknowns, const fmi3ValueReference knowns[],
                                      size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                      fmi3Float64 sensitivity[], size_t n_sensitivity) {
  (void)unknowns;
  (void)n_unknowns;
  (void)knowns;
  (void)n_knowns;
  (void)seed;
  (void)n_seed;
  (void)sensitivity;
  (void)n_sensitivity;
  return refuse_call(c, TEXT(GetAdjointDerivative), "providesAdjointDerivatives is false");
}

// ---- co-simulation

fmi3Status NAME(GetOutputDerivatives)(fmi3Instance c, const fmi3ValueReference references[],
                                      size_t n, const fmi3Int32 orders[], fmi3Float64 values[],
                                      size_t n_values) {
  (void)references;
  (void)n;
  (void)orders;
  (void)values;
  (void)n_values;
  return refuse_call(c, TEXT(GetOutputDerivatives), "maxOutputDerivativeOrder is 0");
}

fmi3Status NAME(DoStep)(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean is_final,
                        fmi3Boolean* is_event_handling_needed, fmi3Boolean* is_end_wanted,
                        fmi3Boolean* is_early_return, fmi3Float64* last_successful_time) {
  yoke_runtime* rt = c;
  (void)is_final;
  *is_event_handling_needed = *is_end_wanted = *is_early_return = fmi3False;
  EXPECT(rt, STEP, DoStep);
  const yoke_runtime_status status = yoke__runtime_step(rt, time, step);
  *is_end_wanted = rt->is_end_wanted;
  *last_successful_time = rt->t_reached;
  return (fmi3Status)status;
}

// NOLINTEND(readability-non-const-parameter)
