// FMI 2.0 for the model at hand; see skeleton.h.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi2.h"
#include "skeleton.h"

#define DECLARE(name, needed_for) FMU_EXPORT fmi2##name##TYPE fmi2##name;
YOKE_FMI2_FUNCTIONS(DECLARE)

enum {
  LIVING = INSTANTIATED | INITIALISATION | EVENT | CONTINUOUS | STEP | TERMINATED,
  RUNNING = EVENT | CONTINUOUS | STEP,
};

const int fmu_version = 2;
static int n_instances;

// ---- messages
void fmu_log(fmu* m, int status, const char* category, const char* format, ...) {
  const fmi2CallbackFunctions* callbacks = m->callbacks;
  char text[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (callbacks->logger != NULL && (m->is_logging || status >= FMU_WARNING)) {
    callbacks->logger(callbacks->componentEnvironment, m->name, (fmi2Status)status, category, "%s",
                      text);
  }
}

void fmu_log_oddly(fmu* m) {
  const fmi2CallbackFunctions* callbacks = m->callbacks;
  callbacks->logger(callbacks->componentEnvironment, m->name, fmi2Warning, NULL,
                    "%d %% of #r1# done at %g s: %s", 50, 0.5, "half");
  // a text that was never meant as a format
  callbacks->logger(callbacks->componentEnvironment, m->name, fmi2Warning, NULL, "finished: 100%");
}

bool fmu_tell_intermediate(fmu* m, double t) {
  (void)m, (void)t;
  return false;
}

// ---- life
const char* fmi2GetTypesPlatform(void) {
  return fmi2TypesPlatform;
}

const char* fmi2GetVersion(void) {
  return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean is_on, size_t n_categories,
                               const fmi2String categories[]) {
  (void)n_categories, (void)categories;
  ((fmu*)c)->is_logging = is_on != 0;
  return fmi2OK;
}

// "file:///a/b%20c" -> "/a/b c/"
static void take_location(fmu* m, const char* uri) {
  const char* from = uri == NULL ? "" : uri;
  size_t n = 0;
  from += strncmp(from, "file:///", 8) == 0 ? 7 : strncmp(from, "file:/", 6) == 0 ? 5 : 0;
  for (; *from != '\0' && n + 2 < sizeof m->resources; from++) {
    char byte = *from;
    if (from[0] == '%' && from[1] != '\0' && from[2] != '\0') {
      const char hex[3] = {from[1], from[2], '\0'};
      byte = (char)strtol(hex, NULL, 16);
      from += 2;
    }
    m->resources[n++] = byte;
  }
  if (n > 0 && m->resources[n - 1] != '/') {
    m->resources[n++] = '/';
  }
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid,
                              fmi2String resource_location, const fmi2CallbackFunctions* functions,
                              fmi2Boolean is_visible, fmi2Boolean is_logging) {
  (void)is_visible;
  fmu* m = fmu_create(name, functions->allocateMemory);
  if (m == NULL) {
    return NULL;
  }
  m->callbacks = functions;
  m->is_logging = is_logging != 0;
  m->is_co_simulation = type == fmi2CoSimulation;
  take_location(m, resource_location);
  const bool is_token_right = guid != NULL && strcmp(guid, fmu_this_model.token) == 0;
  const bool is_first = !fmu_this_model.is_only_once || n_instances == 0;
  if (!is_token_right) {
    fmu_log(m, FMU_ERROR, "logStatusError", "wrong guid \"%s\", \"%s\" was expected",
            guid == NULL ? "" : guid, fmu_this_model.token);
  } else if (!is_first) {
    fmu_log(m, FMU_ERROR, "logStatusError", "there can be only one instance in a process");
  }
  fmu_reset(m);
  if (!is_token_right || !is_first ||
      (fmu_this_model.instantiate != NULL && fmu_this_model.instantiate(m) != FMU_OK)) {
    fmu_destroy(m, functions->freeMemory);
    return NULL;
  }
  n_instances++;
  return m;
}

void fmi2FreeInstance(fmi2Component c) {
  fmu* m = c;
  if (m == NULL) {
    return;
  }
  const fmi2CallbackFunctions* callbacks = m->callbacks;
  if (fmu_this_model.free != NULL) {
    fmu_this_model.free(m);
  }
  n_instances--;
  fmu_destroy(m, callbacks->freeMemory);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                               fmi2Real start_time, fmi2Boolean has_stop_time, fmi2Real stop_time) {
  fmu* m = c;
  (void)has_tolerance, (void)tolerance;
  if (!fmu_is_in(m, INSTANTIATED, "fmi2SetupExperiment")) {
    return fmi2Error;
  }
  m->time = start_time;
  m->t_stop = has_stop_time ? stop_time : HUGE_VAL;
  return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  fmu* m = c;
  if (!fmu_is_in(m, INSTANTIATED, "fmi2EnterInitializationMode")) {
    return fmi2Error;
  }
  m->mode = INITIALISATION;
  return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  if (!fmu_is_in(c, INITIALISATION, "fmi2ExitInitializationMode")) {
    return fmi2Error;
  }
  return (fmi2Status)fmu_end_initialisation(c);
}

fmi2Status fmi2Terminate(fmi2Component c) {
  fmu* m = c;
  if (!fmu_is_in(m, RUNNING, "fmi2Terminate")) {
    return fmi2Error;
  }
  if (fmu_this_model.terminate != NULL) {
    fmu_this_model.terminate(m);
  }
  m->mode = TERMINATED;
  return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
  fmu_reset(c);
  return fmi2OK;
}

// ---- values
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       fmi2Real values[]) {
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi2Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], REAL, false);
    if (v == NULL) {
      return fmi2Error;
    }
    values[i] = *(const double*)fmu_at(c, v);
  }
  return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference references[], size_t n,
                          fmi2Integer values[]) {
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi2Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], INT32, false);
    if (v == NULL) {
      return fmi2Error;
    }
    values[i] = v->kind == ENUM ? (fmi2Integer) * (const int64_t*)fmu_at(c, v)
                                : *(const int32_t*)fmu_at(c, v);
  }
  return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference references[], size_t n,
                          fmi2Boolean values[]) {
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi2Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], BOOLEAN, false);
    if (v == NULL) {
      return fmi2Error;
    }
    values[i] = *(const bool*)fmu_at(c, v);
  }
  return fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference references[], size_t n,
                         fmi2String values[]) {
  const int status = fmu_refresh(c);
  if (status != FMU_OK) {
    return (fmi2Status)status;
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], TEXT, false);
    if (v == NULL) {
      return fmi2Error;
    }
    // a first byte of 1 is the models' way of asking for NULL
    const char* text = ((const fmu_text*)fmu_at(c, v))->at;
    values[i] = text[0] == '\1' ? NULL : text;
  }
  return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference references[], size_t n,
                       const fmi2Real values[]) {
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], REAL, true);
    if (v == NULL) {
      return fmi2Error;
    }
    *(double*)fmu_at(c, v) = values[i];
  }
  return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference references[], size_t n,
                          const fmi2Integer values[]) {
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], INT32, true);
    if (v == NULL) {
      return fmi2Error;
    }
    if (v->kind == ENUM) {
      *(int64_t*)fmu_at(c, v) = values[i];
    } else {
      *(int32_t*)fmu_at(c, v) = values[i];
    }
  }
  return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference references[], size_t n,
                          const fmi2Boolean values[]) {
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], BOOLEAN, true);
    if (v == NULL) {
      return fmi2Error;
    }
    *(bool*)fmu_at(c, v) = values[i] != 0;
  }
  return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference references[], size_t n,
                         const fmi2String values[]) {
  for (size_t i = 0; i < n; i++) {
    const fmu_variable* v = fmu_find(c, references[i], TEXT, true);
    if (v == NULL || values[i] == NULL) {
      return fmi2Error;
    }
    fmu_text* text = fmu_at(c, v);
    (void)snprintf(text->at, sizeof text->at, "%s", values[i]);
  }
  return fmi2OK;
}

// ---- state
fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
  if (*state == NULL) {
    *state = malloc(fmu_state_size());
  }
  if (*state == NULL) {
    return fmi2Error;
  }
  fmu_save(c, *state);
  return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  fmu_restore(c, state);
  return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size) {
  (void)c, (void)state;
  *size = fmu_state_size();
  return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                                 size_t size) {
  (void)c;
  if (size < fmu_state_size()) {
    return fmi2Error;
  }
  memcpy(bytes, state, fmu_state_size());
  return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate* state) {
  (void)c;
  if (size != fmu_state_size()) {
    return fmi2Error;
  }
  if (*state == NULL) {
    *state = malloc(size);
  }
  if (*state == NULL) {
    return fmi2Error;
  }
  memcpy(*state, bytes, size);
  return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[],
                                        size_t n_unknowns, const fmi2ValueReference knowns[],
                                        size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
  if (!fmu_is_in(c, INITIALISATION | RUNNING, "fmi2GetDirectionalDerivative")) {
    return fmi2Error;
  }
  return (fmi2Status)fmu_directional(c, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

// ---- model exchange
fmi2Status fmi2EnterEventMode(fmi2Component c) {
  if (!fmu_is_in(c, CONTINUOUS, "fmi2EnterEventMode")) {
    return fmi2Error;
  }
  ((fmu*)c)->mode = EVENT;
  return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
  if (!fmu_is_in(c, EVENT, "fmi2NewDiscreteStates")) {
    return fmi2Error;
  }
  fmu_event event = {0};
  if (fmu_this_model.event != NULL) {
    fmu_this_model.event(c, &event);
  }
  ((fmu*)c)->is_fresh = false;
  *info = (fmi2EventInfo){.terminateSimulation = event.is_end_wanted,
                          .valuesOfContinuousStatesChanged = event.are_states_changed,
                          .nextEventTimeDefined = event.has_next,
                          .nextEventTime = event.t_next};
  return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  if (!fmu_is_in(c, EVENT, "fmi2EnterContinuousTimeMode")) {
    return fmi2Error;
  }
  ((fmu*)c)->mode = CONTINUOUS;
  return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean is_final,
                                       fmi2Boolean* is_event_mode_wanted,
                                       fmi2Boolean* is_end_wanted) {
  (void)is_final;
  *is_event_mode_wanted = fmi2False;
  *is_end_wanted = fmi2False;
  return fmu_is_in(c, CONTINUOUS, "fmi2CompletedIntegratorStep") ? fmi2OK : fmi2Error;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  fmu* m = c;
  if (m->is_co_simulation || !fmu_is_in(m, EVENT | CONTINUOUS, "fmi2SetTime")) {
    return fmi2Error;
  }
  m->time = time;
  m->is_fresh = false;
  return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
  if (n != fmu_this_model.n_states || !fmu_is_in(c, CONTINUOUS, "fmi2SetContinuousStates")) {
    return fmi2Error;
  }
  if (n > 0) {
    memcpy(fmu_this_model.states(c), x, n * sizeof *x);
  }
  ((fmu*)c)->is_fresh = false;
  return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t n) {
  if (n != fmu_this_model.n_states ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi2GetDerivatives")) {
    return fmi2Error;
  }
  if (n > 0) {
    fmu_this_model.derivatives(c, derivatives);
  }
  return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n) {
  if (n != fmu_this_model.n_indicators ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi2GetEventIndicators")) {
    return fmi2Error;
  }
  if (n > 0) {
    fmu_this_model.indicators(c, indicators);
  }
  return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  if (n != fmu_this_model.n_states ||
      !fmu_is_in(c, INITIALISATION | EVENT | CONTINUOUS, "fmi2GetContinuousStates")) {
    return fmi2Error;
  }
  if (n > 0) {
    memcpy(x, fmu_this_model.states(c), n * sizeof *x);
  }
  return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
  (void)c;
  for (size_t i = 0; i < n; i++) {
    nominals[i] = 1.0;
  }
  return n == fmu_this_model.n_states ? fmi2OK : fmi2Error;
}

// ---- co-simulation
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference references[],
                                       size_t n, const fmi2Integer orders[],
                                       const fmi2Real values[]) {
  if (fmu_this_model.set_input_derivative == NULL ||
      !fmu_is_in(c, INSTANTIATED | INITIALISATION | STEP, "fmi2SetRealInputDerivatives")) {
    return fmi2Error;
  }
  for (size_t i = 0; i < n; i++) {
    if (fmu_this_model.set_input_derivative(c, references[i], orders[i], values[i]) != FMU_OK) {
      return fmi2Error;
    }
  }
  return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference references[],
                                        size_t n, const fmi2Integer orders[], fmi2Real values[]) {
  if (fmu_this_model.get_output_derivative == NULL ||
      !fmu_is_in(c, STEP | TERMINATED, "fmi2GetRealOutputDerivatives")) {
    return fmi2Error;
  }
  for (size_t i = 0; i < n; i++) {
    if (fmu_this_model.get_output_derivative(c, references[i], orders[i], &values[i]) != FMU_OK) {
      return fmi2Error;
    }
  }
  return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean is_final) {
  fmu* m = c;
  fmu_step result;
  (void)is_final;
  if (!m->is_co_simulation || !fmu_is_in(m, STEP, "fmi2DoStep")) {
    return fmi2Error;
  }
  const int status = fmu_do_step(m, time, step, &result);
  if (status == FMU_PENDING) {
    m->n_pending = m->n_pending == 0 ? 3 : m->n_pending;
  }
  return (fmi2Status)status;
}

fmi2Status fmi2CancelStep(fmi2Component c) {
  ((fmu*)c)->n_pending = 0;
  return fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status* value) {
  fmu* m = c;
  if (kind != fmi2DoStepStatus) {
    return fmi2Discard;
  }
  if (m->n_pending > 0) {
    m->n_pending--;
    *value = fmi2Pending;
  } else {
    *value = m->last_status == FMU_PENDING ? fmi2OK : (fmi2Status)m->last_status;
  }
  return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real* value) {
  *value = ((fmu*)c)->last_time;
  return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer* value) {
  (void)c, (void)kind;
  *value = 0;
  return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean* value) {
  *value = ((fmu*)c)->is_end_wanted;
  return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String* value) {
  (void)c;
  *value = "still computing";
  return kind == fmi2PendingStatus ? fmi2OK : fmi2Discard;
}
