// Calls of FMI 2.0, co-simulation and model exchange.
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu.h"


// ---------------------------------------------------------------------------------------------------------
// callbacks

static void take_message(fmi2ComponentEnvironment environment, fmi2String instance_name,
                         fmi2Status status, fmi2String category, fmi2String message, ...) {
  (void)instance_name;
  fmu* f = environment;
  if (f == NULL || message == NULL) {
    return;
  }
  char text[1024];
  va_list args;
  va_start(args, message);
  vsnprintf(text, sizeof text, message, args);
  va_end(args);
  const yoke_severity severity = status == fmi2OK || status == fmi2Pending ? YOKE_NOTE
                                 : status == fmi2Warning                   ? YOKE_WARNING
                                                                           : YOKE_ERROR;
  yoke__fmu_log_add(&f->log, severity, category, text);
}

// ---------------------------------------------------------------------------------------------------------
// life

// The path as a URI (RFC 3986), without a '/' at the end, as most tools write it. to: 3 bytes for each of the path, and 8.
static void write_uri(const char* path, char* to) {
  static const char hex[] = "0123456789ABCDEF";
  size_t n = strlen(path);
  n -= n > 1 && path[n - 1] == '/' ? 1 : 0;
  memcpy(to, "file://", 7);
  to += 7;
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)path[i];
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || strchr("-._~/", c) != NULL;
    if (is_plain) {
      *to++ = (char)c;
    } else {
      *to++ = '%';
      *to++ = hex[c >> 4];
      *to++ = hex[c & 15u];
    }
  }
  *to = '\0';
}

static fmi2Component make(fmu* f, const char* uri, bool is_logging) {
  return f->f2->Instantiate(f->name,
                            f->file->is_model_exchange ? fmi2ModelExchange : fmi2CoSimulation,
                            f->description->token, uri, &f->callbacks2, fmi2False, is_logging);
}

// An FMU with logging off says nothing at all: what it calls warnings and errors is switched on by name, if it has names.
static void listen(fmu* f) {
  const char* names[FMU_N_STATUS_CATEGORIES];
  const size_t n = yoke__fmu_log_categories(f->description, names);
  if (!f->log.is_verbose && n > 0 && f->f2->SetDebugLogging != NULL) {
    f->f2->SetDebugLogging(f->instance, fmi2True, n, names);
  }
}

static yoke_status instantiate(fmu* f) {
  char uri[3 * sizeof f->resources + 8];
  write_uri(f->resources, uri);
  f->callbacks2 = (fmi2CallbackFunctions){take_message, calloc, free, NULL, f};
  f->instance = make(f, uri, f->log.is_verbose);
  // why not? Once more, with words
  if (f->instance == NULL && f->log.last[0] == '\0' && !f->log.is_verbose) {
    f->instance = make(f, uri, true);
  }
  if (f->instance == NULL) {
    snprintf(f->message, sizeof f->message, "fmi2Instantiate failed%s%.400s",
             f->log.last[0] == '\0' ? "" : ": ", f->log.last);
    return YOKE_UNIT_FAILED;
  }
  listen(f);
  return YOKE_OK;
}

static void free_instance(fmu* f) {
  f->f2->FreeInstance(f->instance);
}

static yoke_status enter_init(fmu* f, double t_start, double t_stop) {
  const yoke_fmi_experiment* e = &f->description->experiment;
  // a binary that adds up its steps may arrive a rounding behind the end
  const bool has_stop = yoke__is_finite(t_stop);
  const double stop = has_stop ? t_stop + 8 * DBL_EPSILON * fabs(t_stop) : 0;
  YOKE_TRY(FMU_CALL2(f, SetupExperiment, f->instance, e->has_tolerance ? fmi2True : fmi2False,
                     e->has_tolerance ? e->tolerance : 0, t_start, has_stop ? fmi2True : fmi2False,
                     stop));
  return FMU_CALL2(f, EnterInitializationMode, f->instance);
}

static yoke_status exit_init(fmu* f) {
  return FMU_CALL2(f, ExitInitializationMode, f->instance);
}

static yoke_status terminate(fmu* f) {
  return FMU_CALL2(f, Terminate, f->instance);
}

// ---------------------------------------------------------------------------------------------------------
// values; FMI 2.0 has no arrays

static yoke_status set_integer(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                               const void* storage) {
  int64_t whole = 0;
  memcpy(&whole, storage, sizeof whole);
  if (v->type == YOKE_ENUMERATION) {
    whole = slot->values[whole];
  }
  if (whole < INT32_MIN || whole > INT32_MAX) {
    snprintf(f->message, sizeof f->message, "%lld does not fit the 32 bits of '%s'",
             (long long)whole, v->name);
    return YOKE_BAD_ARG;
  }
  const fmi2Integer value = (fmi2Integer)whole;
  if (slot->type == YOKE_FMI_BOOLEAN) {
    const fmi2Boolean flag = value != 0 ? fmi2True : fmi2False;
    return FMU_CALL2(f, SetBoolean, f->instance, &slot->reference, 1, &flag);
  }
  return FMU_CALL2(f, SetInteger, f->instance, &slot->reference, 1, &value);
}

static yoke_status set(fmu* f, const fmu_slot* slot, const yoke_variable* v, const void* storage) {
  switch ((yoke_fmi_type)slot->type) {
  case YOKE_FMI_FLOAT64:
    return FMU_CALL2(f, SetReal, f->instance, &slot->reference, 1, storage);
  case YOKE_FMI_STRING: {
    const fmi2String text = storage;
    return FMU_CALL2(f, SetString, f->instance, &slot->reference, 1, &text);
  }
  default:
    return set_integer(f, slot, v, storage);
  }
}

static yoke_status get_text(fmu* f, const fmu_slot* slot, const yoke_variable* v, char* to) {
  fmi2String text = NULL;
  YOKE_TRY(FMU_CALL2(f, GetString, f->instance, &slot->reference, 1, &text));
  const size_t n = text == NULL ? 0 : strlen(text);
  const size_t n_kept = n < v->max_size ? n : v->max_size - 1;
  f->n_cut += n_kept < n;
  memset(to, 0, v->max_size);
  if (text != NULL) {
    memcpy(to, text, n_kept);
  }
  return YOKE_OK;
}

static yoke_status get(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage) {
  if (slot->type == YOKE_FMI_FLOAT64) {
    return FMU_CALL2(f, GetReal, f->instance, &slot->reference, 1, storage);
  }
  if (slot->type == YOKE_FMI_STRING) {
    return get_text(f, slot, v, storage);
  }
  int value = 0;
  if (slot->type == YOKE_FMI_BOOLEAN) {
    YOKE_TRY(FMU_CALL2(f, GetBoolean, f->instance, &slot->reference, 1, &value));
    value = value != 0;
  } else {
    YOKE_TRY(FMU_CALL2(f, GetInteger, f->instance, &slot->reference, 1, &value));
  }
  const int64_t whole = v->type == YOKE_ENUMERATION ? yoke__fmu_find_item(slot, value) : value;
  memcpy(storage, &whole, sizeof whole);
  return YOKE_OK;
}

static yoke_status get_raw(fmu* f, yoke_fmi_type type, const uint32_t refs[], size_t n_refs,
                           void* raw, size_t n) {
  (void)n;
  switch (type) {
  case YOKE_FMI_FLOAT64:
    return FMU_CALL2(f, GetReal, f->instance, refs, n_refs, raw);
  case YOKE_FMI_BOOLEAN:
    return FMU_CALL2(f, GetBoolean, f->instance, refs, n_refs, raw);
  default:
    return FMU_CALL2(f, GetInteger, f->instance, refs, n_refs, raw);
  }
}

static yoke_status set_reals(fmu* f, const fmu_dense* dense, const double numbers[]) {
  if (dense->n_refs == 0) {
    return YOKE_OK;
  }
  yoke__fmu_gather(dense, numbers);
  return FMU_CALL2(f, SetReal, f->instance, dense->refs, dense->n_refs,
                   dense->index == NULL ? numbers : dense->numbers);
}

static yoke_status get_reals(fmu* f, const fmu_dense* dense, double numbers[]) {
  if (dense->n_refs == 0) {
    return YOKE_OK;
  }
  const fmi2Status status = f->f2->GetReal(f->instance, dense->refs, dense->n_refs,
                                           dense->index == NULL ? numbers : dense->numbers);
  if (status > fmi2Warning) {
    return yoke__fmu_check(f, (int)status, "fmi2GetReal");
  }
  yoke__fmu_scatter(dense, numbers);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// states and derivatives; the functions are there if the description says so (see unit_fmu.c)

static yoke_status get_state(fmu* f, void** state) {
  return FMU_CALL2(f, GetFMUstate, f->instance, state);
}

static yoke_status set_state(fmu* f, void* state) {
  return FMU_CALL2(f, SetFMUstate, f->instance, state);
}

static void free_state(fmu* f, void** state) {
  f->f2->FreeFMUstate(f->instance, state);
}

static yoke_status state_size(fmu* f, void* state, size_t* size) {
  return FMU_CALL2(f, SerializedFMUstateSize, f->instance, state, size);
}

static yoke_status write_state(fmu* f, void* state, void* bytes, size_t size) {
  return FMU_CALL2(f, SerializeFMUstate, f->instance, state, bytes, size);
}

static yoke_status read_state(fmu* f, const void* bytes, size_t size, void** state) {
  return FMU_CALL2(f, DeSerializeFMUstate, f->instance, bytes, size, state);
}

static yoke_status directional(fmu* f, const uint32_t unknowns[], size_t n_unknowns,
                               const uint32_t knowns[], size_t n_knowns, const double seed[],
                               double out[]) {
  return FMU_CALL2(f, GetDirectionalDerivative, f->instance, unknowns, n_unknowns, knowns, n_knowns,
                   seed, out);
}

// ---------------------------------------------------------------------------------------------------------
// model exchange

static yoke_status enter_event_mode(fmu* f) {
  return FMU_CALL2(f, EnterEventMode, f->instance);
}

static yoke_status update_discrete_states(fmu* f, fmu_event* event) {
  fmi2EventInfo info = {0};
  YOKE_TRY(FMU_CALL2(f, NewDiscreteStates, f->instance, &info));
  *event = (fmu_event){.is_again_needed = info.newDiscreteStatesNeeded != 0,
                       .is_end_wanted = info.terminateSimulation != 0,
                       .are_nominals_changed = info.nominalsOfContinuousStatesChanged != 0,
                       .are_states_changed = info.valuesOfContinuousStatesChanged != 0,
                       .has_next = info.nextEventTimeDefined != 0,
                       .t_next = info.nextEventTime};
  return YOKE_OK;
}

static yoke_status enter_continuous_mode(fmu* f) {
  return FMU_CALL2(f, EnterContinuousTimeMode, f->instance);
}

static yoke_status completed_step(fmu* f, bool* is_event_needed, bool* is_end_wanted) {
  fmi2Boolean event = fmi2False, end = fmi2False;
  const fmi2Status status =
      f->f2->CompletedIntegratorStep(f->instance, f->no_set_prior, &event, &end);
  *is_event_needed = event != 0;
  *is_end_wanted = end != 0;
  return yoke__fmu_check(f, (int)status, "fmi2CompletedIntegratorStep");
}

static yoke_status set_time(fmu* f, double t) {
  return FMU_CALL2(f, SetTime, f->instance, t);
}

static yoke_status set_states(fmu* f, const double x[], size_t n) {
  return FMU_CALL2(f, SetContinuousStates, f->instance, x, n);
}

static yoke_status get_states(fmu* f, double x[], size_t n) {
  return FMU_CALL2(f, GetContinuousStates, f->instance, x, n);
}

static yoke_status get_nominals(fmu* f, double x[], size_t n) {
  if (f->f2->GetNominalsOfContinuousStates == NULL) {
    for (size_t i = 0; i < n; i++) {
      x[i] = 1;
    }
    return YOKE_OK;
  }
  return FMU_CALL2(f, GetNominalsOfContinuousStates, f->instance, x, n);
}

static yoke_status get_derivatives(fmu* f, double dx[], size_t n) {
  return FMU_CALL2(f, GetDerivatives, f->instance, dx, n);
}

static yoke_status get_indicators(fmu* f, double z[], size_t n) {
  return FMU_CALL2(f, GetEventIndicators, f->instance, z, n);
}

const fmu_version yoke__fmu_version2 = {
    .instantiate = instantiate,
    .free_instance = free_instance,
    .set = set,
    .get = get,
    .get_raw = get_raw,
    .set_reals = set_reals,
    .get_reals = get_reals,
    .enter_init = enter_init,
    .exit_init = exit_init,
    .terminate = terminate,
    .get_state = get_state,
    .set_state = set_state,
    .free_state = free_state,
    .state_size = state_size,
    .write_state = write_state,
    .read_state = read_state,
    .directional = directional,
    .enter_event_mode = enter_event_mode,
    .update_discrete_states = update_discrete_states,
    .enter_continuous_mode = enter_continuous_mode,
    .completed_step = completed_step,
    .set_time = set_time,
    .set_states = set_states,
    .get_states = get_states,
    .get_nominals = get_nominals,
    .get_derivatives = get_derivatives,
    .get_indicators = get_indicators,
};
