// FMI 3.0 for the model at hand; see skeleton.h.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi3.h"
#include "skeleton.h"

#define DECLARE(name, needed_for) FMU_EXPORT fmi3##name##TYPE fmi3##name;
YOKE_FMI3_FUNCTIONS(DECLARE)

enum { RUNNING = EVENT | CONTINUOUS | STEP | ACTIVATION };

const int fmu_version = 3;
static int n_instances;

// ---- messages
static void say(fmu* m, int status, const char* category, const char* text) {
  fmi3LogMessageCallback log_message = (fmi3LogMessageCallback)m->log_message;
  if (log_message != NULL) {
    log_message(m->environment, (fmi3Status)status, category, text);
  }
}

void fmu_log(fmu* m, int status, const char* category, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (m->is_logging || status >= FMU_WARNING) {
    say(m, status, category, text);
  }
}

void fmu_log_oddly(fmu* m) {
  say(m, FMU_WARNING, NULL, "50 %d of %s done at %n");
  say(m, FMU_WARNING, NULL, "finished: 100%");
}

bool fmu_tell_intermediate(fmu* m, double t) {
  fmi3IntermediateUpdateCallback update = (fmi3IntermediateUpdateCallback)m->intermediate_update;
  fmi3Boolean is_return_wanted = fmi3False;
  fmi3Float64 t_return = t;
  if (update == NULL) {
    return false;
  }
  const fmu_mode mode = m->mode;
  m->mode = INTERMEDIATE;
  m->time = t;
  m->is_fresh = false;
  update(m->environment, t, fmi3True, fmi3True, fmi3True, m->may_return_early, &is_return_wanted,
         &t_return);
  m->mode = mode;
  return m->may_return_early && is_return_wanted && t_return <= t;
}

void fmu_tell_clocks(fmu* m) {
  fmi3ClockUpdateCallback update = (fmi3ClockUpdateCallback)m->clock_update;
  m->mode = CLOCK_UPDATE;
  update(m->environment);
  m->mode = PARTITION;
}

// ---- life
const char* fmi3GetVersion(void) {
  return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean is_on, size_t n_categories,
                               const fmi3String categories[]) {
  (void)n_categories, (void)categories;
  ((fmu*)c)->is_logging = is_on;
  return fmi3OK;
}

// What both interfaces do; NULL after a log message.
static fmu* instantiate(fmi3String name, fmi3String token, fmi3String resource_path,
                        fmi3Boolean is_logging, void* environment,
                        fmi3LogMessageCallback log_message) {
  fmu* m = fmu_create(name, calloc);
  if (m == NULL) {
    return NULL;
  }
  m->environment = environment;
  m->log_message = (void (*)(void))log_message;
  m->is_logging = is_logging;
  if (resource_path != NULL) {
    (void)snprintf(m->resources, sizeof m->resources, "%s", resource_path);
  }
  const bool is_token_right = token != NULL && strcmp(token, fmu_this_model.token) == 0;
  const bool is_first = !fmu_this_model.is_only_once || n_instances == 0;
  if (!is_token_right) {
    fmu_log(m, FMU_ERROR, "logStatusError", "wrong token \"%s\", \"%s\" was expected",
            token == NULL ? "" : token, fmu_this_model.token);
  } else if (!is_first) {
    fmu_log(m, FMU_ERROR, "logStatusError", "there can be only one instance in a process");
  }
  fmu_reset(m);
  if (!is_token_right || !is_first ||
      (fmu_this_model.instantiate != NULL && fmu_this_model.instantiate(m) != FMU_OK)) {
    fmu_destroy(m, free);
    return NULL;
  }
  n_instances++;
  return m;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token,
                                          fmi3String resource_path, fmi3Boolean is_visible,
                                          fmi3Boolean is_logging,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log_message) {
  (void)is_visible;
  return instantiate(name, token, resource_path, is_logging, environment, log_message);
}

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3Boolean has_event_mode, fmi3Boolean is_early_return_allowed,
    const fmi3ValueReference intermediate_variables[], size_t n_intermediate_variables,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
    fmi3IntermediateUpdateCallback intermediate_update) {
  (void)is_visible, (void)intermediate_variables, (void)n_intermediate_variables;
  fmu* m = instantiate(name, token, resource_path, is_logging, environment, log_message);
  if (m != NULL) {
    m->is_co_simulation = true;
    m->has_event_mode = has_event_mode;
    m->may_return_early = is_early_return_allowed;
    m->intermediate_update = (void (*)(void))intermediate_update;
  }
  return m;
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
    fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
    fmi3UnlockPreemptionCallback unlock_preemption) {
  (void)is_visible;
  fmu* m = instantiate(name, token, resource_path, is_logging, environment, log_message);
  if (m != NULL) {
    m->is_scheduled = true;
    m->clock_update = (void (*)(void))clock_update;
    m->lock_preemption = lock_preemption;
    m->unlock_preemption = unlock_preemption;
  }
  return m;
}

void fmi3FreeInstance(fmi3Instance c) {
  if (c == NULL) {
    return;
  }
  if (fmu_this_model.free != NULL) {
    fmu_this_model.free(c);
  }
  n_instances--;
  fmu_destroy(c, free);
}

// Goes to the mode `to` if the instance is in one of `from`.
static fmi3Status go(fmu* m, unsigned from, fmu_mode to, const char* function) {
  if (!fmu_is_in(m, from, function)) {
    return fmi3Error;
  }
  m->mode = to;
  return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance,
                                       fmi3Float64 tolerance, fmi3Float64 start_time,
                                       fmi3Boolean has_stop_time, fmi3Float64 stop_time) {
  fmu* m = c;
  (void)has_tolerance, (void)tolerance;
  m->time = start_time;
  m->t_stop = has_stop_time ? stop_time : HUGE_VAL;
  return go(m, INSTANTIATED, INITIALISATION, "fmi3EnterInitializationMode");
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  if (!fmu_is_in(c, INITIALISATION, "fmi3ExitInitializationMode")) {
    return fmi3Error;
  }
  return (fmi3Status)fmu_end_initialisation(c);
}

fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  const fmu* m = c;
  return go(c, m->is_co_simulation && !m->has_event_mode ? 0 : CONTINUOUS | STEP, EVENT,
            "fmi3EnterEventMode");
}

fmi3Status fmi3EnterStepMode(fmi3Instance c) {
  return go(c, ((fmu*)c)->is_co_simulation ? EVENT : 0, STEP, "fmi3EnterStepMode");
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  return go(c, ((fmu*)c)->is_co_simulation ? 0 : EVENT, CONTINUOUS, "fmi3EnterContinuousTimeMode");
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
  return go(c, INSTANTIATED, CONFIGURATION, "fmi3EnterConfigurationMode");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
  return go(c, CONFIGURATION, INSTANTIATED, "fmi3ExitConfigurationMode");
}

fmi3Status fmi3Terminate(fmi3Instance c) {
  if (!fmu_is_in(c, RUNNING, "fmi3Terminate")) {
    return fmi3Error;
  }
  if (fmu_this_model.terminate != NULL) {
    fmu_this_model.terminate(c);
  }
  ((fmu*)c)->mode = TERMINATED;
  return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c) {
  fmu_reset(c);
  return fmi3OK;
}

// ---- values
// Copies all elements of the variables; width: bytes of one.
static fmi3Status get(fmu* m, fmu_kind kind, const fmi3ValueReference references[], size_t n,
                      void* values, size_t n_values, size_t width) {
  size_t done = 0;
  const int status = fmu_refresh(m);
  if (status != FMU_OK) {
    return (fmi3Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(m, references[i], kind, false);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(m, v);
    if (v == NULL || n_elements > n_values - done) {
      return fmi3Error;
    }
    memcpy((char*)values + done * width, fmu_at(m, v), n_elements * width);
    done += n_elements;
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

static fmi3Status set(fmu* m, fmu_kind kind, const fmi3ValueReference references[], size_t n,
                      const void* values, size_t n_values, size_t width) {
  size_t done = 0;
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(m, references[i], kind, true);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(m, v);
    if (v == NULL || n_elements > n_values - done) {
      return fmi3Error;
    }
    memcpy(fmu_at(m, v), (const char*)values + done * width, n_elements * width);
    done += n_elements;
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

#define ACCESS(type, kind)                                                                         \
  fmi3Status fmi3Get##type(fmi3Instance c, const fmi3ValueReference references[], size_t n,        \
                           fmi3##type values[], size_t n_values) {                                 \
    return get(c, kind, references, n, values, n_values, sizeof *values);                          \
  }                                                                                                \
  fmi3Status fmi3Set##type(fmi3Instance c, const fmi3ValueReference references[], size_t n,        \
                           const fmi3##type values[], size_t n_values) {                           \
    return set(c, kind, references, n, values, n_values, sizeof *values);                          \
  }
ACCESS(Float32, FLOAT32)
ACCESS(Float64, REAL)
ACCESS(Int8, INT8)
ACCESS(UInt8, UINT8)
ACCESS(Int16, INT16)
ACCESS(UInt16, UINT16)
ACCESS(Int32, INT32)
ACCESS(UInt32, UINT32)
ACCESS(Int64, INT64)
ACCESS(UInt64, UINT64)
ACCESS(Boolean, BOOLEAN)

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                         fmi3String values[], size_t n_values) {
  size_t done = 0;
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi3Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], TEXT, false);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(c, v);
    for (size_t j = 0; j < n_elements && done < n_values; j++) {
      // a first byte of 1 is the models' way of asking for NULL
      const char* text = ((const fmu_text*)fmu_at(c, v))[j].at;
      values[done++] = text[0] == '\1' ? NULL : text;
    }
    if (v == NULL) {
      return fmi3Error;
    }
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                         const fmi3String values[], size_t n_values) {
  size_t done = 0;
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], TEXT, true);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(c, v);
    for (size_t j = 0; j < n_elements && done < n_values; j++) {
      fmu_text* text = (fmu_text*)fmu_at(c, v) + j;
      (void)snprintf(text->at, sizeof text->at, "%s", values[done++]);
    }
    if (v == NULL) {
      return fmi3Error;
    }
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                         size_t sizes[], fmi3Binary values[], size_t n_values) {
  size_t done = 0;
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi3Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], BINARY, false);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(c, v);
    for (size_t j = 0; j < n_elements && done < n_values; j++) {
      const fmu_binary* binary = (const fmu_binary*)fmu_at(c, v) + j;
      sizes[done] = binary->size;
      values[done++] = binary->at;
    }
    if (v == NULL) {
      return fmi3Error;
    }
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t n_values) {
  size_t done = 0;
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], BINARY, true);
    const size_t n_elements = v == NULL ? 0 : fmu_elements(c, v);
    for (size_t j = 0; j < n_elements && done < n_values; j++, done++) {
      fmu_binary* binary = (fmu_binary*)fmu_at(c, v) + j;
      if (sizes[done] > sizeof binary->at) {
        return fmi3Error;
      }
      binary->size = sizes[done];
      if (sizes[done] > 0) {
        memcpy(binary->at, values[done], sizes[done]);
      }
    }
    if (v == NULL) {
      return fmi3Error;
    }
  }
  return done == n_values ? fmi3OK : fmi3Error;
}

// ---- clocks
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                        fmi3Clock values[]) {
  fmu* m = c;
  if (!fmu_is_in(m, m->is_scheduled ? CLOCK_UPDATE : EVENT, "fmi3GetClock")) {
    return fmi3Error;
  }
  const fmi3Status status = get(m, CLOCK, references, n, values, n, sizeof *values);
  // an activation is told once
  for (size_t i = 0; i < n && status == fmi3OK && m->is_scheduled; i++) {
    *(bool*)fmu_at(m, fmu_find(m, references[i], CLOCK, false)) = false;
  }
  return status;
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                        const fmi3Clock values[]) {
  if (!fmu_is_in(c, EVENT, "fmi3SetClock") ||
      set(c, CLOCK, references, n, values, n, sizeof *values) != fmi3OK) {
    return fmi3Error;
  }
  for (size_t i = 0; i < n && fmu_this_model.clock != NULL; i++) {
    fmu_this_model.clock(c, references[i], values[i]);
  }
  return fmi3OK;
}

// Intervals that the model knows, as counters of milliseconds. In scheduled execution those of a countdown are told in the
// callback only, and those of other clocks between the partitions.
static fmi3Status ask_intervals(fmu* m, const fmi3ValueReference references[], size_t n,
                                fmi3UInt64 counters[], fmi3IntervalQualifier qualifiers[]) {
  if (!fmu_is_in(m, INITIALISATION | ACTIVATION | CLOCK_UPDATE, "fmi3GetInterval")) {
    return fmi3Error;
  }
  for (size_t i = 0; i < n; i++) {
    const int qualifier = fmu_this_model.interval(m, references[i], &counters[i]);
    if (qualifier < 0) {
      fmu_log(m, FMU_ERROR, "logStatusError", "the interval of clock %u must not be asked for now",
              (unsigned)references[i]);
      return fmi3Error;
    }
    qualifiers[i] = (fmi3IntervalQualifier)qualifier;
  }
  return fmi3OK;
}

// The only clocks of other models have intervals that the description gives.
static fmi3Status no_interval(fmu* m, const char* function) {
  fmu_log(m, FMU_ERROR, "logStatusError", "%s: the description gives the intervals", function);
  return fmi3Error;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
  for (size_t i = 0; i < n; i++) {
    intervals[i] = 0.0;
    qualifiers[i] = fmi3IntervalNotYetKnown;
  }
  if (fmu_this_model.interval != NULL && n == 1) {
    fmi3UInt64 counter = 0;
    const fmi3Status status = ask_intervals(c, references, n, &counter, qualifiers);
    intervals[0] = (double)counter / 1000.0;
    return status;
  }
  return no_interval(c, "fmi3GetIntervalDecimal");
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[]) {
  for (size_t i = 0; i < n; i++) {
    counters[i] = 0;
    resolutions[i] = 1000;
    qualifiers[i] = fmi3IntervalNotYetKnown;
  }
  if (fmu_this_model.interval != NULL) {
    return ask_intervals(c, references, n, counters, qualifiers);
  }
  return no_interval(c, "fmi3GetIntervalFraction");
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                               fmi3Float64 shifts[]) {
  (void)references;
  for (size_t i = 0; i < n; i++) {
    shifts[i] = 0.0;
  }
  return no_interval(c, "fmi3GetShiftDecimal");
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
  (void)references;
  for (size_t i = 0; i < n; i++) {
    counters[i] = 0;
    resolutions[i] = 1;
  }
  return no_interval(c, "fmi3GetShiftFraction");
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 intervals[]) {
  (void)references, (void)n, (void)intervals;
  return no_interval(c, "fmi3SetIntervalDecimal");
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
  if (fmu_this_model.set_interval != NULL && n == 1 &&
      fmu_is_in(c, INITIALISATION, "fmi3SetIntervalFraction")) {
    return (fmi3Status)fmu_this_model.set_interval(c, references[0],
                                                   (double)counters[0] / (double)resolutions[0]);
  }
  return no_interval(c, "fmi3SetIntervalFraction");
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                               const fmi3Float64 shifts[]) {
  (void)references, (void)n, (void)shifts;
  return no_interval(c, "fmi3SetShiftDecimal");
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
  (void)references, (void)n, (void)counters, (void)resolutions;
  return no_interval(c, "fmi3SetShiftFraction");
}

// ---- dependencies, state, derivatives
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference reference,
                                               size_t* n) {
  (void)c, (void)reference;
  *n = 0;
  return fmi3Error;
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent,
                                       size_t dependent_elements[],
                                       fmi3ValueReference independents[],
                                       size_t independent_elements[], fmi3DependencyKind kinds[],
                                       size_t n) {
  (void)c, (void)dependent;
  for (size_t i = 0; i < n; i++) {
    dependent_elements[i] = independent_elements[i] = 0;
    independents[i] = 0;
    kinds[i] = fmi3Independent;
  }
  return fmi3Error;
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state) {
  if (*state == NULL) {
    *state = malloc(fmu_state_size());
  }
  if (*state == NULL) {
    return fmi3Error;
  }
  fmu_save(c, *state);
  return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  fmu_restore(c, state);
  return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size) {
  (void)c, (void)state;
  *size = fmu_state_size();
  return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[],
                                 size_t size) {
  (void)c;
  if (size < fmu_state_size()) {
    return fmi3Error;
  }
  memcpy(bytes, state, fmu_state_size());
  return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState* state) {
  (void)c;
  if (size != fmu_state_size()) {
    return fmi3Error;
  }
  if (*state == NULL) {
    *state = malloc(size);
  }
  if (*state == NULL) {
    return fmi3Error;
  }
  memcpy(*state, bytes, size);
  return fmi3OK;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[],
                                        size_t n_unknowns, const fmi3ValueReference knowns[],
                                        size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                        fmi3Float64 sensitivity[], size_t n_sensitivity) {
  if (n_seed != n_knowns || n_sensitivity != n_unknowns ||
      !fmu_is_in(c, INITIALISATION | RUNNING, "fmi3GetDirectionalDerivative")) {
    return fmi3Error;
  }
  return (fmi3Status)fmu_directional(c, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[],
                                    size_t n_unknowns, const fmi3ValueReference knowns[],
                                    size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                    fmi3Float64 sensitivity[], size_t n_sensitivity) {
  if (n_seed != n_unknowns || n_sensitivity != n_knowns || fmu_this_model.slope == NULL ||
      !fmu_is_in(c, INITIALISATION | RUNNING, "fmi3GetAdjointDerivative")) {
    return fmi3Error;
  }
  (void)fmu_refresh(c);
  for (size_t j = 0; j < n_knowns; j++) {
    sensitivity[j] = 0.0;
    for (size_t i = 0; i < n_unknowns; i++) {
      sensitivity[j] += fmu_this_model.slope(c, unknowns[i], knowns[j]) * seed[i];
    }
  }
  return fmi3OK;
}

// ---- events
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  return fmu_is_in(c, INITIALISATION | EVENT, "fmi3EvaluateDiscreteStates") ? fmi3OK : fmi3Error;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* is_update_needed,
                                    fmi3Boolean* is_end_wanted, fmi3Boolean* have_nominals_changed,
                                    fmi3Boolean* have_states_changed, fmi3Boolean* has_next_event,
                                    fmi3Float64* next_event_time) {
  fmu_event event = {0};
  if (!fmu_is_in(c, EVENT, "fmi3UpdateDiscreteStates")) {
    return fmi3Error;
  }
  if (fmu_this_model.event != NULL) {
    fmu_this_model.event(c, &event);
  }
  ((fmu*)c)->is_fresh = false;
  *is_update_needed = fmi3False;
  *is_end_wanted = event.is_end_wanted;
  *have_nominals_changed = fmi3False;
  *have_states_changed = event.are_states_changed;
  *has_next_event = event.has_next;
  *next_event_time = event.t_next;
  return fmi3OK;
}

// ---- model exchange
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean is_final,
                                       fmi3Boolean* is_event_mode_wanted,
                                       fmi3Boolean* is_end_wanted) {
  (void)is_final;
  *is_event_mode_wanted = fmi3False;
  *is_end_wanted = fmi3False;
  return fmu_is_in(c, CONTINUOUS, "fmi3CompletedIntegratorStep") ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  fmu* m = c;
  if (m->is_co_simulation || !fmu_is_in(m, EVENT | CONTINUOUS, "fmi3SetTime")) {
    return fmi3Error;
  }
  m->time = time;
  m->is_fresh = false;
  return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n) {
  if (n != fmu_this_model.n_states || !fmu_is_in(c, CONTINUOUS, "fmi3SetContinuousStates")) {
    return fmi3Error;
  }
  if (n > 0) {
    memcpy(fmu_this_model.states(c), x, n * sizeof *x);
  }
  ((fmu*)c)->is_fresh = false;
  return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t n) {
  if (n != fmu_this_model.n_states ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi3GetContinuousStateDerivatives")) {
    return fmi3Error;
  }
  if (n > 0) {
    fmu_this_model.derivatives(c, derivatives);
  }
  return fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t n) {
  if (n != fmu_this_model.n_indicators ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi3GetEventIndicators")) {
    return fmi3Error;
  }
  if (n > 0) {
    fmu_this_model.indicators(c, indicators);
  }
  return fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n) {
  if (n != fmu_this_model.n_states ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi3GetContinuousStates")) {
    return fmi3Error;
  }
  if (n > 0) {
    memcpy(x, fmu_this_model.states(c), n * sizeof *x);
  }
  return fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t n) {
  (void)c;
  for (size_t i = 0; i < n; i++) {
    nominals[i] = 1.0;
  }
  return n == fmu_this_model.n_states ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* n) {
  (void)c;
  *n = fmu_this_model.n_indicators;
  return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* n) {
  (void)c;
  *n = fmu_this_model.n_states;
  return fmi3OK;
}

// ---- co-simulation
fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t n_values) {
  if (fmu_this_model.get_output_derivative == NULL || n != n_values) {
    return fmi3Error;
  }
  for (size_t i = 0; i < n; i++) {
    if (fmu_this_model.get_output_derivative(c, references[i], orders[i], &values[i]) != FMU_OK) {
      return fmi3Error;
    }
  }
  return fmi3OK;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean is_final,
                      fmi3Boolean* is_event_handling_needed, fmi3Boolean* is_end_wanted,
                      fmi3Boolean* is_early_return, fmi3Float64* last_successful_time) {
  fmu_step result = {.t = time};
  (void)is_final;
  *is_event_handling_needed = *is_end_wanted = *is_early_return = fmi3False;
  *last_successful_time = time;
  if (!((fmu*)c)->is_co_simulation || !fmu_is_in(c, STEP, "fmi3DoStep")) {
    return fmi3Error;
  }
  const int status = fmu_do_step(c, time, step, &result);
  *is_event_handling_needed = result.is_event_needed;
  *is_end_wanted = result.is_end_wanted;
  *is_early_return = result.is_early;
  *last_successful_time = result.t + ((fmu*)c)->clock_error;
  return (fmi3Status)status;
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time) {
  fmu* m = c;
  if (fmu_this_model.activate == NULL || !fmu_is_in(m, ACTIVATION, "fmi3ActivateModelPartition")) {
    return fmi3Error;
  }
  m->mode = PARTITION;
  m->time = time;
  const int status = fmu_this_model.activate(m, clock, time);
  m->mode = ACTIVATION;
  m->is_set = false;
  m->is_fresh = false;
  return (fmi3Status)status;
}
