// Variables of a simulation: found by name, read and written by handle.
//
// A write after the start is posted to the mailbox of the stepping loop (master/master_mail.c) and takes effect before the
// next step. Calls to a unit come from the thread it belongs to.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_check.h"
#include "base/base_hash.h"

// ---- finding

static const char* nearest_variable(const yoke_unit* unit, const char* name) {
  const size_t n = unit->info->n_variables;
  const char* best = NULL;
  for (size_t i = 0; i < n && n < 10000; i++) {
    best = yoke__nearer_name(name, best, unit->info->variables[i].name);
  }
  return best;
}

static yoke_status refuse_name(const yoke_simulation* simulation, const char* unit,
                               const char* name, const char* nearest) {
  char text[320], hint[320];
  if (unit != NULL && name[0] == '\0') {
    snprintf(text, sizeof text, "expected unit.variable, found the unit '%.200s' alone", unit);
  } else {
    snprintf(text, sizeof text, "there is no %s '%.200s'", unit == NULL ? "unit" : "variable",
             name);
  }
  snprintf(hint, sizeof hint, "did you mean '%.200s'?", nearest == NULL ? "" : nearest);
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = YOKE_NO_SUCH_NAME,
                                .unit = unit,
                                .time = yoke__api_time(simulation),
                                .text = text,
                                .hint = nearest == NULL ? NULL : hint};
  yoke_send(&simulation->outer, &message);
  return YOKE_NO_SUCH_NAME;
}

yoke_status yoke_simulation_find(const yoke_simulation* simulation, const char* name,
                                 yoke_handle* out) {
  if (out != NULL) {
    *out = (yoke_handle){0};  // n = 0: answered with YOKE_BAD_ARG everywhere
  }
  if (simulation == NULL || name == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_system* system = simulation->system;
  const char* dot = strchr(name, '.');
  char unit_name[256];
  const size_t length = dot == NULL ? strlen(name) : (size_t)(dot - name);
  snprintf(unit_name, sizeof unit_name, "%.*s", length < 255 ? (int)length : 255, name);
  const size_t i = yoke__map_find(&system->unit_index, unit_name);
  if (i == YOKE_NOT_FOUND) {
    return refuse_name(simulation, NULL, unit_name, yoke__system_nearest_unit(system, unit_name));
  }
  const yoke_unit* unit = &system->units[i].unit;
  size_t variable = dot == NULL ? YOKE_NOT_FOUND : yoke__unit_find(unit, dot + 1), element = 0;
  const bool is_whole = variable != YOKE_NOT_FOUND;
  if (!is_whole && (dot == NULL || !yoke__unit_find_element(unit, dot + 1, &variable, &element))) {
    const char* rest = dot == NULL ? "" : dot + 1;
    return refuse_name(simulation, system->units[i].name, rest, nearest_variable(unit, rest));
  }
  const size_t n = is_whole ? yoke__variable_count(&unit->info->variables[variable]) : 1;
  *out = (yoke_handle){(uint32_t)i, (uint32_t)variable, (uint32_t)element, (uint32_t)n};
  return YOKE_OK;
}

// The variable behind a handle, or NULL: nothing is taken on trust.
static const yoke_variable* look_up(const yoke_simulation* simulation, yoke_handle handle,
                                    const yoke_system_unit** unit) {
  if (simulation == NULL || handle.unit >= simulation->system->n_units || handle.n == 0) {
    return NULL;
  }
  *unit = &simulation->system->units[handle.unit];
  const yoke_unit_info* info = (*unit)->unit.info;
  if (handle.variable >= info->n_variables) {
    return NULL;
  }
  const yoke_variable* v = &info->variables[handle.variable];
  const size_t n = yoke__variable_count(v);
  return handle.element < n && handle.n <= n - handle.element ? v : NULL;
}

static yoke_status refuse_handle(const yoke_simulation* simulation, const yoke_variable* v) {
  return simulation == NULL
             ? YOKE_BAD_ARG
             : yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "%s",
                                v == NULL ? "the handle stands for no variable of this simulation"
                                          : yoke_status_text(YOKE_BAD_ARG));
}

const yoke_variable* yoke_simulation_variable(const yoke_simulation* simulation,
                                              yoke_handle handle) {
  const yoke_system_unit* unit = NULL;
  return look_up(simulation, handle, &unit);
}

// ---- reading

static bool is_number(const yoke_variable* v) {
  return v->type != YOKE_STRING && v->type != YOKE_BINARY;
}

// Real inputs and outputs as the loop has them; NULL: the unit must be asked.
static const double* find_dense(const yoke_simulation* simulation, const yoke_system_unit* unit,
                                const yoke_variable* v, yoke_handle handle) {
  const yoke_state* state = simulation->state;
  const size_t dense = unit->unit.dense[handle.variable];
  if (state == NULL || dense == YOKE_NOT_DENSE) {
    return NULL;
  }
  if (v->causality != YOKE_OUTPUT) {
    return state->u + unit->u + dense + handle.element;
  }
  return yoke__master_is_read(simulation->system, state, handle.unit, handle.variable)
             ? state->y + unit->y + dense + handle.element
             : NULL;
}

// One value of a unit, asked from the thread that the unit belongs to.
typedef struct unit_call {
  const yoke_system_unit* unit;
  size_t variable;
  void* to;
  const void* from;
  size_t size;
  yoke_status status;
} unit_call;

static void get_on_thread(void* context, int thread) {
  unit_call* call = context;
  if (thread == call->unit->thread) {
    call->status = yoke__unit_get(&call->unit->unit, call->variable, call->to, call->size);
  }
}

static void set_on_thread(void* context, int thread) {
  unit_call* call = context;
  if (thread == call->unit->thread) {
    call->status = yoke__unit_set(&call->unit->unit, call->variable, call->from, call->size);
  }
}

static yoke_status ask_unit(const yoke_simulation* simulation, unit_call* call, bool is_write) {
  // by the clock nobody waits for a unit that is at work on a thread of its own
  const bool may_wait = simulation->state == NULL || simulation->state->pace == NULL;
  return yoke__pool_run_on(simulation->system->pool, call->unit->thread, may_wait,
                           is_write ? set_on_thread : get_on_thread, call)
             ? call->status
             : YOKE_BUSY;
}

// The whole value of a variable in storage form; scratch has room for `size` bytes.
static yoke_status get_whole(const yoke_simulation* simulation, const yoke_system_unit* unit,
                             yoke_handle handle, void* to, size_t size) {
  unit_call call = {.unit = unit, .variable = handle.variable, .to = to, .size = size};
  return ask_unit(simulation, &call, false);
}

#define SMALL_SIZE 4096  // bytes of a variable that fit on the stack

static yoke_status read_value(const yoke_simulation* simulation, const yoke_system_unit* unit,
                              const yoke_variable* v, yoke_handle handle, void* value) {
  const size_t each = yoke__variable_element_size(v), wanted = each * handle.n;
  // a real output stays as it is until the next step
  const bool is_real_output =
      v->causality == YOKE_OUTPUT && unit->unit.dense[handle.variable] != YOKE_NOT_DENSE;
  if (simulation->state != NULL && !is_real_output) {
    YOKE_TRY(yoke__api_take_mail(simulation));
  }
  const double* dense = find_dense(simulation, unit, v, handle);
  if (dense != NULL) {
    memcpy(value, dense, wanted);
    return YOKE_OK;
  }
  const size_t whole = yoke__variable_size(v);
  if (wanted == whole) {
    return get_whole(simulation, unit, handle, value, whole);
  }
  // an element of an array that only the unit has
  char small[SMALL_SIZE];
  char* room = whole <= sizeof small ? small : malloc(whole);
  if (room == NULL) {
    return YOKE_NO_MEMORY;
  }
  const yoke_status status = get_whole(simulation, unit, handle, room, whole);
  if (status >= 0) {
    memcpy(value, room + each * handle.element, wanted);
  }
  if (room != small) {
    free(room);
  }
  return status;
}

yoke_status yoke_simulation_read_value(const yoke_simulation* simulation, yoke_handle handle,
                                       void* value, size_t size) {
  const yoke_system_unit* unit = NULL;
  const yoke_variable* v = look_up(simulation, handle, &unit);
  if (v == NULL || value == NULL) {
    return refuse_handle(simulation, v);
  }
  const size_t wanted = yoke__variable_element_size(v) * handle.n;
  if (size < wanted) {
    return yoke__api_refuse(simulation, YOKE_FULL, unit->name, v->name,
                            "'%s' needs %zu bytes, there is room for %zu", v->name, wanted, size);
  }
  YOKE_TRY(yoke__api_enter(simulation, false));
  return yoke__api_leave(simulation, read_value(simulation, unit, v, handle, value));
}

yoke_status yoke_simulation_read(const yoke_simulation* simulation, yoke_handle handle,
                                 double* value) {
  const yoke_system_unit* unit = NULL;
  const yoke_variable* v = look_up(simulation, handle, &unit);
  if (v == NULL || value == NULL) {
    return refuse_handle(simulation, v);
  }
  if (!is_number(v) || handle.n != 1) {
    return yoke__api_refuse(simulation, YOKE_WRONG_TYPE, unit->name, v->name,
                            "'%s' is not a single number", v->name);
  }
  const double* dense =
      v->causality == YOKE_OUTPUT ? find_dense(simulation, unit, v, handle) : NULL;
  if (dense != NULL) {
    *value = *dense;
    return YOKE_OK;
  }
  int64_t whole = 0;
  YOKE_TRY(yoke_simulation_read_value(
      simulation, handle, v->type == YOKE_REAL ? (void*)value : (void*)&whole, sizeof whole));
  if (v->type != YOKE_REAL) {
    *value = (double)whole;
  }
  return YOKE_OK;
}

yoke_status yoke_simulation_read_many(const yoke_simulation* simulation,
                                      const yoke_handle handles[], size_t n, double values[]) {
  if (simulation == NULL || (n > 0 && (handles == NULL || values == NULL))) {
    return YOKE_BAD_ARG;
  }
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(yoke_simulation_read(simulation, handles[i], &values[i]));
  }
  return YOKE_OK;
}

// ---- writing

// Why a variable cannot be written now; NULL: it can.
static const char* why_not(const yoke_simulation* simulation, const yoke_variable* v,
                           yoke_handle handle) {
  const bool is_started = simulation->state != NULL;
  switch (v->causality) {
  case YOKE_OUTPUT:
    return is_started || (v->flags & YOKE_VARIABLE_HAS_START) == 0 ? "it is an output" : NULL;
  case YOKE_PARAMETER:
    return is_started ? "it is a parameter that is fixed once the simulation has started" : NULL;
  case YOKE_STATE:
    return (v->flags & YOKE_VARIABLE_READ_ONLY) != 0 ? "it is a state that can only be read"
           : is_started ? "it is a state: its start value is fixed once the simulation has started"
                        : NULL;
  case YOKE_INPUT:
  case YOKE_TUNABLE:
    return yoke__system_is_fed(simulation->system, handle.unit, handle.variable, handle.element,
                               handle.n)
               ? "a connection feeds it"
               : NULL;
  }
  return "it is none that can be written";
}

// Whether it is over, as any thread may ask.
static bool is_over(const yoke_simulation* simulation) {
  const yoke_state* state = simulation->state;
  return state != NULL && (atomic_load_explicit(&simulation->is_over, memory_order_relaxed) ||
                           atomic_load_explicit(&state->progress, memory_order_relaxed) >=
                               simulation->system->n_slots);
}

static yoke_status check_write(const yoke_simulation* simulation, yoke_handle handle,
                               const yoke_system_unit** unit, const yoke_variable** v) {
  *v = look_up(simulation, handle, unit);
  if (*v == NULL) {
    return refuse_handle(simulation, NULL);
  }
  if (is_over(simulation)) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, (*unit)->name, (*v)->name,
                            "'%s' cannot be written: the run is over", (*v)->name);
  }
  const char* why = why_not(simulation, *v, handle);
  return why == NULL ? YOKE_OK
                     : yoke__api_refuse(simulation, YOKE_READ_ONLY, (*unit)->name, (*v)->name,
                                        "'%s' cannot be written: %s", (*v)->name, why);
}

// Whether a boolean, an enumeration or an integer has this value.
static bool is_item(const yoke_variable* v, int64_t value) {
  if (v->type == YOKE_BOOLEAN) {
    return value == 0 || value == 1;
  }
  int64_t n = 0;
  while (v->type == YOKE_ENUMERATION && v->items != NULL && n <= value && v->items[n] != NULL) {
    n++;
  }
  return v->type != YOKE_ENUMERATION || v->items == NULL || (value >= 0 && value < n);
}

// Whole numbers are kept as such.
static bool store_number(const yoke_variable* v, double value, int64_t* bits) {
  if (v->type == YOKE_REAL) {
    memcpy(bits, &value, sizeof value);
    return true;
  }
  if (fabs(value) >= 0x1p63) {
    return false;
  }
  *bits = (int64_t)value;
  return (double)*bits == value && is_item(v, *bits);
}

// Before the start: what a variable is given that later calls cannot change.
static yoke_status note_start(yoke_simulation* simulation, const yoke_variable* v,
                              yoke_handle handle, const void* value, size_t size) {
  if (simulation->state != NULL || v->causality == YOKE_INPUT || v->causality == YOKE_TUNABLE) {
    return YOKE_OK;
  }
  size_t i = 0;
  while (i < simulation->n_starts && (simulation->starts[i].unit != handle.unit ||
                                      simulation->starts[i].variable != handle.variable)) {
    i++;
  }
  if (i == simulation->n_starts) {
    yoke_start_value* larger = realloc(simulation->starts, (i + 1) * sizeof *larger);
    if (larger == NULL) {
      return YOKE_NO_MEMORY;
    }
    simulation->starts = larger;
    simulation->n_starts++;
  }
  const uint32_t key[] = {handle.unit, handle.variable};
  const uint64_t hash = yoke__hash_bytes(YOKE_HASH_START, key, sizeof key);
  simulation->starts[i] =
      (yoke_start_value){handle.unit, handle.variable, yoke__hash_bytes(hash, value, size)};
  return YOKE_OK;
}

// Hands a value to the unit itself, between two steps.
static yoke_status set_in_unit(yoke_simulation* simulation, const yoke_system_unit* unit,
                               const yoke_variable* v, yoke_handle handle, const void* value) {
  const size_t each = yoke__variable_element_size(v), whole = yoke__variable_size(v);
  char small[SMALL_SIZE];
  char* room = whole <= sizeof small ? small : malloc(whole);
  yoke_status status = room == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0 && handle.n < yoke__variable_count(v)) {
    status = get_whole(simulation, unit, handle, room, whole);
  }
  if (status >= 0) {
    memcpy(room + each * handle.element, value, each * handle.n);
    unit_call call = {.unit = unit, .variable = handle.variable, .from = room, .size = whole};
    status = ask_unit(simulation, &call, true);
  }
  if (status >= 0) {
    status = note_start(simulation, v, handle, room, whole);
  }
  if (room != small) {
    free(room);
  }
  if (status < 0) {
    return yoke__api_refuse(simulation, status, unit->name, v->name,
                            "the unit refused the value of '%s'", v->name);
  }
  return YOKE_OK;
}

yoke_status yoke_simulation_write(yoke_simulation* simulation, yoke_handle handle, double value) {
  const yoke_system_unit* unit = NULL;
  const yoke_variable* v = NULL;
  YOKE_TRY(check_write(simulation, handle, &unit, &v));
  int64_t bits = 0;
  if (!is_number(v) || handle.n != 1 ||
      (yoke__is_finite(value) && !store_number(v, value, &bits))) {
    return yoke__api_refuse(simulation, YOKE_WRONG_TYPE, unit->name, v->name,
                            "'%s' does not take the number %g", v->name, value);
  }
  if (!yoke__is_finite(value)) {
    return yoke__api_refuse(simulation, YOKE_NOT_FINITE, unit->name, v->name,
                            "'%s' cannot be set to %g", v->name, value);
  }
  atomic_store_explicit(&simulation->is_written, true, memory_order_relaxed);
  if (simulation->state == NULL) {
    YOKE_TRY(yoke__api_enter(simulation, false));
    return yoke__api_leave(simulation, set_in_unit(simulation, unit, v, handle, &bits));
  }
  const size_t whole = yoke__variable_size(v);
  if (unit->unit.dense[handle.variable] == YOKE_NOT_DENSE && whole > YOKE_MAIL_ROOM) {
    return yoke__api_refuse(simulation, YOKE_NO_SUPPORT, unit->name, v->name,
                            "'%s' has more than %d elements: write it as a whole", v->name,
                            (int)(YOKE_MAIL_ROOM / sizeof bits));
  }
  const yoke_mail mail = {handle.unit, handle.variable, handle.element, bits};
  const yoke_status status = yoke__master_post(simulation->state, &mail);
  return status >= 0 ? status
                     : yoke__api_refuse(simulation, status, unit->name, v->name,
                                        "'%s' cannot be written: %d writes wait for the next step",
                                        v->name, YOKE_MAIL_SIZE);
}

// The values of a storage form that no unit should see.
static yoke_status check_value(const yoke_variable* v, size_t n, const void* value) {
  for (size_t i = 0; i < n && v->type == YOKE_REAL; i++) {
    double number = 0;
    memcpy(&number, (const char*)value + i * sizeof number, sizeof number);
    if (!yoke__is_finite(number)) {
      return YOKE_NOT_FINITE;
    }
  }
  for (size_t i = 0; i < n && is_number(v) && v->type != YOKE_REAL; i++) {
    int64_t number = 0;
    memcpy(&number, (const char*)value + i * sizeof number, sizeof number);
    if (!is_item(v, number)) {
      return YOKE_WRONG_TYPE;
    }
  }
  for (size_t i = 0; i < n && v->type == YOKE_STRING; i++) {
    if (memchr((const char*)value + i * v->max_size, '\0', v->max_size) == NULL) {
      return YOKE_BAD_ARG;
    }
  }
  for (size_t i = 0; i < n && v->type == YOKE_BINARY; i++) {
    uint64_t used = 0;
    memcpy(&used, (const char*)value + i * yoke__variable_element_size(v), sizeof used);
    if (used > v->max_size) {
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

static yoke_status write_value(yoke_simulation* simulation, const yoke_system_unit* unit,
                               const yoke_variable* v, yoke_handle handle, const void* value) {
  if (simulation->state != NULL) {
    YOKE_TRY(yoke__api_take_mail(simulation));  // what was written before it stays before it
  }
  atomic_store_explicit(&simulation->is_written, true, memory_order_relaxed);
  const size_t dense = unit->unit.dense[handle.variable];
  if (simulation->state != NULL && dense != YOKE_NOT_DENSE) {
    memcpy(simulation->state->u + unit->u + dense + handle.element, value,
           handle.n * sizeof(double));
    return YOKE_OK;
  }
  return set_in_unit(simulation, unit, v, handle, value);
}

yoke_status yoke_simulation_write_value(yoke_simulation* simulation, yoke_handle handle,
                                        const void* value, size_t size) {
  const yoke_system_unit* unit = NULL;
  const yoke_variable* v = NULL;
  YOKE_TRY(check_write(simulation, handle, &unit, &v));
  assert(unit != NULL && v != NULL);
  const size_t each = yoke__variable_element_size(v);
  if (value == NULL || size != each * handle.n) {
    return yoke__api_refuse(simulation, YOKE_WRONG_TYPE, unit->name, v->name,
                            "'%s' takes %zu bytes, got %zu", v->name, each * handle.n,
                            value == NULL ? 0 : size);
  }
  const yoke_status status = check_value(v, handle.n, value);
  if (status < 0) {
    return yoke__api_refuse(simulation, status, unit->name, v->name, "'%s' cannot be written: %s",
                            v->name,
                            status == YOKE_NOT_FINITE   ? yoke_status_text(status)
                            : status == YOKE_WRONG_TYPE ? "a value is none of its items"
                                                        : "the text or its length does not fit");
  }
  YOKE_TRY(yoke__api_enter(simulation, false));
  return yoke__api_leave(simulation, write_value(simulation, unit, v, handle, value));
}
