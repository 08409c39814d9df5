// Calls of FMI 3.0: co-simulation, model exchange and scheduled execution.
//
// Values travel as in yoke/unit.h: every integer type and booleans as 64 bits, texts and binaries in fixed room. What does
// not fit the binary's type is refused here, before the binary sees it. UInt64 keeps its bits.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"


// ---------------------------------------------------------------------------------------------------------
// callbacks

static void take_message(fmi3InstanceEnvironment environment, fmi3Status status,
                         fmi3String category, fmi3String message) {
  fmu* f = environment;
  if (f == NULL || message == NULL) {
    return;
  }
  const yoke_severity severity = status == fmi3OK        ? YOKE_NOTE
                                 : status == fmi3Warning ? YOKE_WARNING
                                                         : YOKE_ERROR;
  yoke__fmu_log_add(&f->log, severity, category, message);
}

// Partitions run one after another in one thread: there is nothing to lock and nothing to unlock.
static void keep_running(void) {}

// Between communication points nothing is exchanged and nothing is asked for: the binary goes on.
static void intermediate_update(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                fmi3Boolean is_set_wanted, fmi3Boolean is_get_allowed,
                                fmi3Boolean is_internal_step_finished,
                                fmi3Boolean is_early_return_possible,
                                fmi3Boolean* is_early_return_wanted,
                                fmi3Float64* early_return_time) {
  (void)environment;
  (void)is_set_wanted;
  (void)is_get_allowed;
  (void)is_internal_step_finished;
  (void)is_early_return_possible;
  if (is_early_return_wanted != NULL) {
    *is_early_return_wanted = fmi3False;
  }
  if (early_return_time != NULL) {
    *early_return_time = time;
  }
}

// ---------------------------------------------------------------------------------------------------------
// integers: the binary's type and 64 bits

typedef fmi3Status (*send_integers)(fmu* f, const fmu_slot* slot, const int64_t numbers[]);
typedef fmi3Status (*fetch_integers)(fmu* f, const fmu_slot* slot, int64_t numbers[]);

#define INTEGER_CALLS(Name)                                                                        \
  static fmi3Status send_##Name(fmu* f, const fmu_slot* slot, const int64_t numbers[]) {           \
    fmi3##Name* values = f->events->room;                                                          \
    for (size_t i = 0; i < slot->n; i++) {                                                         \
      values[i] = (fmi3##Name)numbers[i];                                                          \
    }                                                                                              \
    return f->f3->Set##Name(f->instance, &slot->reference, 1, values, slot->n);                    \
  }                                                                                                \
  static fmi3Status fetch_##Name(fmu* f, const fmu_slot* slot, int64_t numbers[]) {                \
    fmi3##Name* values = f->events->room;                                                          \
    memset(values, 0, slot->n * sizeof *values);                                                   \
    const fmi3Status status = f->f3->Get##Name(f->instance, &slot->reference, 1, values, slot->n); \
    for (size_t i = 0; i < slot->n; i++) {                                                         \
      numbers[i] = (int64_t)values[i];                                                             \
    }                                                                                              \
    return status;                                                                                 \
  }
INTEGER_CALLS(Int8)
INTEGER_CALLS(UInt8)
INTEGER_CALLS(Int16)
INTEGER_CALLS(UInt16)
INTEGER_CALLS(Int32)
INTEGER_CALLS(UInt32)
INTEGER_CALLS(Int64)
INTEGER_CALLS(UInt64)

static fmi3Status send_Boolean(fmu* f, const fmu_slot* slot, const int64_t numbers[]) {
  fmi3Boolean* values = f->events->room;
  for (size_t i = 0; i < slot->n; i++) {
    values[i] = numbers[i] != 0;
  }
  return f->f3->SetBoolean(f->instance, &slot->reference, 1, values, slot->n);
}

// a byte that is neither 0 nor 1 must not be read as a bool
static fmi3Status fetch_Boolean(fmu* f, const fmu_slot* slot, int64_t numbers[]) {
  unsigned char* bytes = f->events->room;
  memset(bytes, 0, slot->n);
  const fmi3Status status =
      f->f3->GetBoolean(f->instance, &slot->reference, 1, (fmi3Boolean*)bytes, slot->n);
  for (size_t i = 0; i < slot->n; i++) {
    numbers[i] = bytes[i] != 0;
  }
  return status;
}

typedef struct integer_type {
  const char *set_name, *get_name;
  send_integers send;
  fetch_integers fetch;
  int64_t low, high;
} integer_type;

#define INTEGER_ROW(Name, low_, high_)                                                             \
  { "fmi3Set" #Name, "fmi3Get" #Name, send_##Name, fetch_##Name, low_, high_ }

static const integer_type integer_types[YOKE_FMI_N_TYPES] = {
    [YOKE_FMI_INT8] = INTEGER_ROW(Int8, INT8_MIN, INT8_MAX),
    [YOKE_FMI_UINT8] = INTEGER_ROW(UInt8, 0, UINT8_MAX),
    [YOKE_FMI_INT16] = INTEGER_ROW(Int16, INT16_MIN, INT16_MAX),
    [YOKE_FMI_UINT16] = INTEGER_ROW(UInt16, 0, UINT16_MAX),
    [YOKE_FMI_INT32] = INTEGER_ROW(Int32, INT32_MIN, INT32_MAX),
    [YOKE_FMI_UINT32] = INTEGER_ROW(UInt32, 0, UINT32_MAX),
    [YOKE_FMI_INT64] = INTEGER_ROW(Int64, INT64_MIN, INT64_MAX),
    [YOKE_FMI_UINT64] = INTEGER_ROW(UInt64, INT64_MIN, INT64_MAX),
    [YOKE_FMI_BOOLEAN] = INTEGER_ROW(Boolean, INT64_MIN, INT64_MAX),
    [YOKE_FMI_ENUMERATION] = INTEGER_ROW(Int64, INT64_MIN, INT64_MAX),
};

// Numbers as they lie in storage, items of an enumeration as their values, into the second half of the room.
static int64_t* second_half(const fmu* f, const fmu_slot* slot) {
  return (int64_t*)f->events->room + slot->n;
}

static yoke_status read_integers(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                                 const void* storage, int64_t numbers[]) {
  const integer_type* type = &integer_types[slot->type];
  memcpy(numbers, storage, slot->n * sizeof *numbers);
  for (size_t i = 0; i < slot->n; i++) {
    if (v->type == YOKE_ENUMERATION) {
      if (numbers[i] < 0 || (uint64_t)numbers[i] >= slot->n_values) {
        snprintf(f->message, sizeof f->message, "'%s' has no item number %lld", v->name,
                 (long long)numbers[i]);
        return YOKE_BAD_ARG;
      }
      numbers[i] = slot->values[numbers[i]];
    } else if (numbers[i] < type->low || numbers[i] > type->high) {
      snprintf(f->message, sizeof f->message, "%lld does not fit %s of '%s'", (long long)numbers[i],
               yoke__fmi_type_name((yoke_fmi_type)slot->type), v->name);
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

static yoke_status fetch_whole(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                               void* storage) {
  const integer_type* type = &integer_types[slot->type];
  int64_t* numbers = second_half(f, slot);
  YOKE_TRY(yoke__fmu_check(f, (int)type->fetch(f, slot, numbers), type->get_name));
  for (size_t i = 0; v->type == YOKE_ENUMERATION && i < slot->n; i++) {
    numbers[i] = yoke__fmu_find_item(slot, numbers[i]);
  }
  memcpy(storage, numbers, slot->n * sizeof *numbers);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// reals

static yoke_status send_real(fmu* f, const fmu_slot* slot, const void* storage) {
  if (slot->type == YOKE_FMI_FLOAT64) {
    double* values = f->events->room;
    memcpy(values, storage, slot->n * sizeof *values);
    return FMU_CALL3(f, SetFloat64, f->instance, &slot->reference, 1, values, slot->n);
  }
  float* values = f->events->room;
  for (size_t i = 0; i < slot->n; i++) {
    double value = 0;
    memcpy(&value, (const char*)storage + i * sizeof value, sizeof value);
    values[i] = (float)value;
  }
  return FMU_CALL3(f, SetFloat32, f->instance, &slot->reference, 1, values, slot->n);
}

static yoke_status fetch_real(fmu* f, const fmu_slot* slot, void* storage) {
  if (slot->type == YOKE_FMI_FLOAT64) {
    double* values = f->events->room;
    memset(values, 0, slot->n * sizeof *values);
    YOKE_TRY(FMU_CALL3(f, GetFloat64, f->instance, &slot->reference, 1, values, slot->n));
    memcpy(storage, values, slot->n * sizeof *values);
    return YOKE_OK;
  }
  float* values = f->events->room;
  memset(values, 0, slot->n * sizeof *values);
  YOKE_TRY(FMU_CALL3(f, GetFloat32, f->instance, &slot->reference, 1, values, slot->n));
  for (size_t i = 0; i < slot->n; i++) {
    const double value = (double)values[i];
    memcpy((char*)storage + i * sizeof value, &value, sizeof value);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// texts and binaries

static yoke_status send_texts(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                              const void* storage) {
  fmi3String* texts = f->events->room;
  for (size_t i = 0; i < slot->n; i++) {
    texts[i] = (const char*)storage + i * v->max_size;
  }
  return FMU_CALL3(f, SetString, f->instance, &slot->reference, 1, texts, slot->n);
}

static yoke_status fetch_texts(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                               void* storage) {
  fmi3String* texts = f->events->room;
  memset((void*)texts, 0, slot->n * sizeof *texts);
  YOKE_TRY(FMU_CALL3(f, GetString, f->instance, &slot->reference, 1, texts, slot->n));
  for (size_t i = 0; i < slot->n; i++) {
    char* to = (char*)storage + i * v->max_size;
    const char* text = texts[i] == NULL ? "" : texts[i];
    const size_t n = strlen(text), n_kept = yoke__fmu_fitting(f, text, n, v->max_size - 1);
    f->n_cut += n_kept < n;
    memcpy(to, text, n_kept);
    memset(to + n_kept, 0, v->max_size - n_kept);
  }
  return YOKE_OK;
}

// room: sizes, then pointers
static yoke_status send_binaries(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                                 const void* storage) {
  size_t* sizes = f->events->room;
  fmi3Binary* blocks = (fmi3Binary*)(sizes + slot->n);
  for (size_t i = 0; i < slot->n; i++) {
    const char* from = (const char*)storage + i * (sizeof(uint64_t) + v->max_size);
    uint64_t size = 0;
    memcpy(&size, from, sizeof size);
    if (size > v->max_size) {
      snprintf(f->message, sizeof f->message, "%llu bytes do not fit the %zu of '%s'",
               (unsigned long long)size, v->max_size, v->name);
      return YOKE_BAD_ARG;
    }
    sizes[i] = (size_t)size;
    blocks[i] = (fmi3Binary)(from + sizeof size);
  }
  return FMU_CALL3(f, SetBinary, f->instance, &slot->reference, 1, sizes, blocks, slot->n);
}

static yoke_status fetch_binaries(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                                  void* storage) {
  size_t* sizes = f->events->room;
  fmi3Binary* blocks = (fmi3Binary*)(sizes + slot->n);
  memset(sizes, 0, slot->n * (sizeof *sizes + sizeof *blocks));
  YOKE_TRY(FMU_CALL3(f, GetBinary, f->instance, &slot->reference, 1, sizes, blocks, slot->n));
  for (size_t i = 0; i < slot->n; i++) {
    char* to = (char*)storage + i * (sizeof(uint64_t) + v->max_size);
    const size_t n = blocks[i] == NULL ? 0 : sizes[i];
    const size_t n_kept = n < v->max_size ? n : v->max_size;
    const uint64_t stored = n_kept;  // as wide on every machine
    f->n_cut += n_kept < n;
    memcpy(to, &stored, sizeof stored);
    to += sizeof stored;
    if (n_kept > 0) {
      memcpy(to, blocks[i], n_kept);
    }
    // equal values have equal bytes
    memset(to + n_kept, 0, v->max_size - n_kept);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// any variable

// Values that cannot be right are refused at once, also those that wait for an event.
static yoke_status check_value(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                               const void* storage) {
  return integer_types[slot->type].send == NULL
             ? YOKE_OK
             : read_integers(f, slot, v, storage, second_half(f, slot));
}

yoke_status yoke__fmu3_send(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                            const void* storage) {
  switch ((yoke_fmi_type)slot->type) {
  case YOKE_FMI_FLOAT64:
  case YOKE_FMI_FLOAT32:
    return send_real(f, slot, storage);
  case YOKE_FMI_STRING:
    return send_texts(f, slot, v, storage);
  case YOKE_FMI_BINARY:
    return send_binaries(f, slot, v, storage);
  case YOKE_FMI_CLOCK:
    snprintf(f->message, sizeof f->message, "clock '%s' can tick in event mode only", v->name);
    return YOKE_NO_SUPPORT;
  default: {
    const integer_type* type = &integer_types[slot->type];
    int64_t* numbers = second_half(f, slot);
    YOKE_TRY(read_integers(f, slot, v, storage, numbers));
    return yoke__fmu_check(f, (int)type->send(f, slot, numbers), type->set_name);
  }
  }
}

yoke_status yoke__fmu3_fetch(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage) {
  switch ((yoke_fmi_type)slot->type) {
  case YOKE_FMI_FLOAT64:
  case YOKE_FMI_FLOAT32:
    return fetch_real(f, slot, storage);
  case YOKE_FMI_STRING:
    return fetch_texts(f, slot, v, storage);
  case YOKE_FMI_BINARY:
    return fetch_binaries(f, slot, v, storage);
  case YOKE_FMI_CLOCK:
    // between events no clock is active
    memset(storage, 0, slot->n * sizeof(int64_t));
    return YOKE_OK;
  default:
    return fetch_whole(f, slot, v, storage);
  }
}

static yoke_status set(fmu* f, const fmu_slot* slot, const yoke_variable* v, const void* storage) {
  if (!f->events->is_used) {
    return yoke__fmu3_send(f, slot, v, storage);
  }
  yoke_status status = check_value(f, slot, v, storage);
  if (status < 0) {
    return status;
  }
  return yoke__fmu_events_keep(f, slot, storage, &status) ? status
                                                          : yoke__fmu3_send(f, slot, v, storage);
}

static yoke_status get(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage) {
  if (f->events->is_used && yoke__fmu_events_find(f, slot, storage)) {
    return YOKE_OK;
  }
  return yoke__fmu3_fetch(f, slot, v, storage);
}

// variables of one type
static yoke_status get_raw(fmu* f, yoke_fmi_type type, const uint32_t refs[], size_t n_refs,
                           void* raw, size_t n) {
  const yoke_fmi3* calls = f->f3;
  fmi3Status status = fmi3Error;
  switch (type) {
#define GET(TYPE, Name)                                                                            \
  case YOKE_FMI_##TYPE:                                                                            \
    status = calls->Get##Name(f->instance, refs, n_refs, raw, n);                                  \
    break
    GET(FLOAT64, Float64);
    GET(FLOAT32, Float32);
    GET(INT8, Int8);
    GET(UINT8, UInt8);
    GET(INT16, Int16);
    GET(UINT16, UInt16);
    GET(INT32, Int32);
    GET(UINT32, UInt32);
    GET(INT64, Int64);
    GET(UINT64, UInt64);
    GET(BOOLEAN, Boolean);
    GET(ENUMERATION, Int64);
#undef GET
  default:
    break;
  }
  return status <= fmi3Warning ? YOKE_OK : yoke__fmu_check(f, (int)status, "fmi3Get of several");
}

// ---------------------------------------------------------------------------------------------------------
// all real inputs or outputs: one call per width

static yoke_status set_reals(fmu* f, const fmu_dense* dense, const double numbers[]) {
  yoke__fmu_gather(dense, numbers);
  fmi3Status status = fmi3OK;
  if (dense->n_refs > 0) {
    status = f->f3->SetFloat64(f->instance, dense->refs, dense->n_refs,
                               dense->index == NULL ? numbers : dense->numbers, dense->n);
    if (status > fmi3Warning) {
      return yoke__fmu_check(f, (int)status, "fmi3SetFloat64");
    }
  }
  if (dense->n_refs32 > 0) {
    status = f->f3->SetFloat32(f->instance, dense->refs32, dense->n_refs32, dense->numbers32,
                               dense->n32);
  }
  return status == fmi3OK ? YOKE_OK : yoke__fmu_check(f, (int)status, "fmi3SetFloat32");
}

static yoke_status get_reals(fmu* f, const fmu_dense* dense, double numbers[]) {
  fmi3Status status = fmi3OK;
  if (dense->n_refs > 0) {
    status = f->f3->GetFloat64(f->instance, dense->refs, dense->n_refs,
                               dense->index == NULL ? numbers : dense->numbers, dense->n);
    if (status > fmi3Warning) {
      return yoke__fmu_check(f, (int)status, "fmi3GetFloat64");
    }
  }
  if (dense->n_refs32 > 0) {
    status = f->f3->GetFloat32(f->instance, dense->refs32, dense->n_refs32, dense->numbers32,
                               dense->n32);
    if (status > fmi3Warning) {
      return yoke__fmu_check(f, (int)status, "fmi3GetFloat32");
    }
  }
  yoke__fmu_scatter(dense, numbers);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// life

// Room for the largest variable: numbers in the binary's type and as 64 bits, or sizes and pointers.
static yoke_status take_room(fmu* f) {
  size_t n = f->description->n_variables + 1;  // also for one row of an adjoint derivative
  for (size_t i = 0; i < f->layout.info.n_variables; i++) {
    n = f->layout.slots[i].n > n ? f->layout.slots[i].n : n;
  }
  f->events = yoke__arena_take(&f->arena, sizeof *f->events);
  YOKE_TRY_MEMORY(f->events);
  f->events->is_used = yoke__fmu_events_wanted(f->file);
  f->events->room = yoke__arena_array(&f->arena, n, 2 * sizeof(int64_t));
  return f->events->room == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// Is the structural parameter given a value other than the one it starts with?
static bool is_shaped(const fmu* f, const yoke_fmi_variable* v, int64_t* value) {
  const yoke_argument* given = v->causality == YOKE_FMI_STRUCTURAL_PARAMETER
                                   ? yoke__fmu_find_argument(f->args, v->name)
                                   : NULL;
  if (given == NULL || given->type != YOKE_INTEGER) {
    return false;
  }
  int64_t start = 0;
  memcpy(value, given->value, sizeof *value);
  return !yoke__fmi_start_integer(v, &start, 1) || start != *value;
}

static yoke_status set_structure(fmu* f, const yoke_fmi_variable* v, int64_t value) {
  const fmu_slot slot = {.n = 1, .reference = v->reference, .type = v->type};
  const yoke_variable variable = {.name = v->name, .type = YOKE_INTEGER};
  if (v->type == YOKE_FMI_STRING || v->type == YOKE_FMI_BINARY) {
    snprintf(f->message, sizeof f->message, "'%s' is no number and cannot be set", v->name);
    return YOKE_NO_SUPPORT;
  }
  if (v->type == YOKE_FMI_FLOAT64 || v->type == YOKE_FMI_FLOAT32) {
    const double real = (double)value;
    return send_real(f, &slot, &real);
  }
  return yoke__fmu3_send(f, &slot, &variable, &value);
}

// Structural parameters shape the arrays: configuration mode, entered only if there is something to change.
static yoke_status configure(fmu* f) {
  bool is_entered = false;
  for (size_t i = 0; i < f->description->n_variables; i++) {
    const yoke_fmi_variable* v = &f->description->variables[i];
    int64_t value = 0;
    if (!is_shaped(f, v, &value)) {
      continue;
    }
    if (f->f3->EnterConfigurationMode == NULL || f->f3->ExitConfigurationMode == NULL) {
      snprintf(f->message, sizeof f->message,
               "'%s' cannot be changed: the binary has no configuration mode", v->name);
      return YOKE_NO_SUPPORT;
    }
    if (!is_entered) {
      YOKE_TRY(FMU_CALL3(f, EnterConfigurationMode, f->instance));
      is_entered = true;
    }
    YOKE_TRY(set_structure(f, v, value));
  }
  return is_entered ? FMU_CALL3(f, ExitConfigurationMode, f->instance) : YOKE_OK;
}

static fmi3Instance make(fmu* f, bool is_logging) {
  const char* resources = f->resources[0] == '\0' ? NULL : f->resources;
  const bool has_events = f->events->is_used;
  if (f->file->is_model_exchange) {
    return f->f3->InstantiateModelExchange(f->name, f->description->token, resources, fmi3False,
                                           is_logging, f, take_message);
  }
  if (f->file->is_scheduled) {
    return f->f3->InstantiateScheduledExecution(f->name, f->description->token, resources,
                                                fmi3False, is_logging, f, take_message,
                                                yoke__fmu_se_update, keep_running, keep_running);
  }
  // an early return is of use only where the event that caused it can be handled
  return f->f3->InstantiateCoSimulation(
      f->name, f->description->token, resources, fmi3False, is_logging, has_events, has_events,
      NULL, 0, f, take_message,
      f->file->interface_type->has_intermediate_update ? intermediate_update : NULL);
}

// An FMU with logging off says nothing at all: what it calls warnings and errors is switched on by name, if it has names.
static void listen(fmu* f) {
  const char* names[FMU_N_STATUS_CATEGORIES];
  const size_t n = yoke__fmu_log_categories(f->description, names);
  if (!f->log.is_verbose && n > 0 && f->f3->SetDebugLogging != NULL) {
    f->f3->SetDebugLogging(f->instance, fmi3True, n, names);
  }
}

static yoke_status instantiate(fmu* f) {
  YOKE_TRY(take_room(f));
  f->instance = make(f, f->log.is_verbose);
  // why not? Once more, with words
  if (f->instance == NULL && f->log.last[0] == '\0' && !f->log.is_verbose) {
    f->instance = make(f, true);
  }
  if (f->instance == NULL) {
    snprintf(f->message, sizeof f->message, "fmi3Instantiate%s failed%s%.400s",
             f->file->is_model_exchange ? "ModelExchange"
             : f->file->is_scheduled    ? "ScheduledExecution"
                                        : "CoSimulation",
             f->log.last[0] == '\0' ? "" : ": ", f->log.last);
    return YOKE_UNIT_FAILED;
  }
  listen(f);
  return configure(f);
}

static void free_instance(fmu* f) {
  f->f3->FreeInstance(f->instance);
}

static yoke_status enter_init(fmu* f, double t_start, double t_stop) {
  const yoke_fmi_experiment* e = &f->description->experiment;
  // a binary that adds up its steps may arrive a rounding behind the end
  const bool has_stop = yoke__is_finite(t_stop);
  const double stop = has_stop ? t_stop + 8 * DBL_EPSILON * fabs(t_stop) : 0;
  return FMU_CALL3(f, EnterInitializationMode, f->instance, e->has_tolerance,
                   e->has_tolerance ? e->tolerance : 0, t_start, has_stop, stop);
}

static yoke_status exit_init(fmu* f) {
  return FMU_CALL3(f, ExitInitializationMode, f->instance);
}

static yoke_status terminate(fmu* f) {
  return FMU_CALL3(f, Terminate, f->instance);
}

// ---------------------------------------------------------------------------------------------------------
// states; the functions are there if the description says so (see unit_fmu.c)

static yoke_status get_state(fmu* f, void** state) {
  return FMU_CALL3(f, GetFMUState, f->instance, state);
}

static yoke_status set_state(fmu* f, void* state) {
  return FMU_CALL3(f, SetFMUState, f->instance, state);
}

static void free_state(fmu* f, void** state) {
  f->f3->FreeFMUState(f->instance, state);
}

static yoke_status state_size(fmu* f, void* state, size_t* size) {
  return FMU_CALL3(f, SerializedFMUStateSize, f->instance, state, size);
}

static yoke_status write_state(fmu* f, void* state, void* bytes, size_t size) {
  return FMU_CALL3(f, SerializeFMUState, f->instance, state, bytes, size);
}

static yoke_status read_state(fmu* f, const void* bytes, size_t size, void** state) {
  return FMU_CALL3(f, DeserializeFMUState, f->instance, bytes, size, state);
}

// ---------------------------------------------------------------------------------------------------------
// derivatives

// out = J seed from the rows of J: one adjoint call per unknown
static yoke_status by_adjoint(fmu* f, const uint32_t unknowns[], size_t n_unknowns,
                              const uint32_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  double* row = f->events->room;
  if (f->f3->GetAdjointDerivative == NULL || n_knowns > f->description->n_variables) {
    return YOKE_NO_SUPPORT;
  }
  for (size_t i = 0; i < n_unknowns; i++) {
    const double one = 1;
    YOKE_TRY(FMU_CALL3(f, GetAdjointDerivative, f->instance, &unknowns[i], 1, knowns, n_knowns,
                       &one, 1, row, n_knowns));
    out[i] = 0;
    for (size_t j = 0; j < n_knowns; j++) {
      out[i] += row[j] * seed[j];
    }
  }
  return YOKE_OK;
}

static yoke_status directional(fmu* f, const uint32_t unknowns[], size_t n_unknowns,
                               const uint32_t knowns[], size_t n_knowns, const double seed[],
                               double out[]) {
  if (!f->file->interface_type->has_directional_derivatives ||
      f->f3->GetDirectionalDerivative == NULL) {
    return by_adjoint(f, unknowns, n_unknowns, knowns, n_knowns, seed, out);
  }
  return FMU_CALL3(f, GetDirectionalDerivative, f->instance, unknowns, n_unknowns, knowns, n_knowns,
                   seed, n_knowns, out, n_unknowns);
}

// ---------------------------------------------------------------------------------------------------------
// events and model exchange

static yoke_status enter_event_mode(fmu* f) {
  return FMU_CALL3(f, EnterEventMode, f->instance);
}

static yoke_status update_discrete_states(fmu* f, fmu_event* event) {
  *event = (fmu_event){0};
  return FMU_CALL3(f, UpdateDiscreteStates, f->instance, &event->is_again_needed,
                   &event->is_end_wanted, &event->are_nominals_changed, &event->are_states_changed,
                   &event->has_next, &event->t_next);
}

static yoke_status enter_continuous_mode(fmu* f) {
  return FMU_CALL3(f, EnterContinuousTimeMode, f->instance);
}

// only for binaries that want to know
static yoke_status completed_step(fmu* f, bool* is_event_needed, bool* is_end_wanted) {
  *is_event_needed = *is_end_wanted = false;
  if (!f->file->interface_type->needs_completed_step) {
    return YOKE_OK;
  }
  return FMU_CALL3(f, CompletedIntegratorStep, f->instance, f->no_set_prior != 0, is_event_needed,
                   is_end_wanted);
}

static yoke_status set_time(fmu* f, double t) {
  return FMU_CALL3(f, SetTime, f->instance, t);
}

static yoke_status set_states(fmu* f, const double x[], size_t n) {
  return FMU_CALL3(f, SetContinuousStates, f->instance, x, n);
}

static yoke_status get_states(fmu* f, double x[], size_t n) {
  return FMU_CALL3(f, GetContinuousStates, f->instance, x, n);
}

static yoke_status get_nominals(fmu* f, double x[], size_t n) {
  if (f->f3->GetNominalsOfContinuousStates == NULL) {
    for (size_t i = 0; i < n; i++) {
      x[i] = 1;
    }
    return YOKE_OK;
  }
  return FMU_CALL3(f, GetNominalsOfContinuousStates, f->instance, x, n);
}

static yoke_status get_derivatives(fmu* f, double dx[], size_t n) {
  return FMU_CALL3(f, GetContinuousStateDerivatives, f->instance, dx, n);
}

static yoke_status get_indicators(fmu* f, double z[], size_t n) {
  return FMU_CALL3(f, GetEventIndicators, f->instance, z, n);
}

const fmu_version yoke__fmu_version3 = {
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
