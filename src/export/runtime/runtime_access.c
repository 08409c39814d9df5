// Variables by value reference. Values that lie in the unit's struct are read and written in place; others go through
// the unit's own operations with the whole value.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "export/runtime/runtime.h"

static yoke_runtime_kind kind_of(yoke_type type) {
  switch (type) {
  case YOKE_REAL:
    return YOKE_RUNTIME_REAL;
  case YOKE_INTEGER:
  case YOKE_ENUMERATION:
    return YOKE_RUNTIME_WHOLE;
  case YOKE_BOOLEAN:
    return YOKE_RUNTIME_BOOLEAN;
  case YOKE_STRING:
    return YOKE_RUNTIME_STRING;
  case YOKE_BINARY:
    return YOKE_RUNTIME_BINARY;
  }
  return YOKE_RUNTIME_REAL;
}

const yoke_runtime_slot* yoke__runtime_find(const yoke_runtime* rt, uint32_t reference,
                                            const yoke_runtime_access* how) {
  const size_t n_all = rt->n_slots + (rt->states.n > 0 ? 1 + rt->states.n : 0);
  if (reference == rt->n_slots || reference >= n_all) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: there is no value reference %lu",
                            how->function, (unsigned long)reference);
    return NULL;
  }
  const yoke_runtime_slot* slot = &rt->slots[reference];
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (kind_of(v->type) != how->kind) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                            "%s: '%s' (value reference %lu) is of another type", how->function,
                            v->name, (unsigned long)reference);
    return NULL;
  }
  return slot;
}

// ---- elements

// What may be set when.
static bool is_settable(const yoke_runtime* rt, const yoke_variable* v) {
  if (rt->phase == YOKE_RUNTIME_STEPPING) {
    return v->causality == YOKE_INPUT || v->causality == YOKE_TUNABLE;
  }
  return yoke__export_has_start(v);
}

// Where an element lies, in the storage form of yoke/unit.h; NULL after a message.
static const char* read_element(yoke_runtime* rt, const yoke_runtime_slot* slot) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (rt->phase == YOKE_RUNTIME_INSTANTIATED && !is_settable(rt, v)) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "'%s' has no value before the initialisation",
                            v->name);
    return NULL;
  }
  if (slot->variable >= rt->unit.info->n_variables) {
    return (const char*)yoke__runtime_rate(rt, slot->variable - rt->unit.info->n_variables);
  }
  const size_t at = slot->element * yoke__variable_element_size(v);
  if (rt->unit.ops->get == NULL && v->offset != YOKE_NO_OFFSET) {
    return (const char*)rt->unit.self + v->offset + at;
  }
  const yoke_status status =
      yoke__unit_get(&rt->unit, slot->variable, rt->value, yoke__variable_size(v));
  if (status < 0) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "'%s' cannot be read: %s", v->name,
                            yoke_status_text(status));
    return NULL;
  }
  return rt->value + at;
}

static yoke_status put(yoke_runtime* rt, const yoke_runtime_slot* slot, const yoke_variable* v,
                       const void* element) {
  const size_t size = yoke__variable_element_size(v);
  if (rt->unit.ops->set == NULL && v->offset != YOKE_NO_OFFSET) {
    memcpy((char*)rt->unit.self + v->offset + slot->element * size, element, size);
    return YOKE_OK;
  }
  const size_t whole = yoke__variable_size(v);
  if (whole > size) {
    YOKE_TRY(yoke__unit_get(&rt->unit, slot->variable, rt->value, whole));
  }
  memmove(rt->value + slot->element * size, element, size);
  return yoke__unit_set(&rt->unit, slot->variable, rt->value, whole);
}

// Copies one element in; checks that it may be set now.
static yoke_runtime_status write_element(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                         const void* element, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (!is_settable(rt, v)) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: '%s' cannot be set %s", function, v->name,
                             rt->phase == YOKE_RUNTIME_STEPPING ? "after the initialisation" : "");
  }
  if (v->causality != YOKE_INPUT) {
    const yoke_runtime_status status = yoke__runtime_rewind(rt);
    if (status != YOKE_RUNTIME_OK) {
      return status;
    }
  }
  const yoke_status status = put(rt, slot, v, element);
  if (status < 0) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: the value of '%s' is refused: %s",
                             function, v->name, yoke_status_text(status));
  }
  rt->is_dirty = true;
  return YOKE_RUNTIME_OK;
}

// ---- whole numbers, texts, bytes

static yoke_runtime_status write_whole(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                       int64_t value, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (v->type == YOKE_ENUMERATION && v->items != NULL) {
    int64_t n_items = 0;
    while (v->items[n_items] != NULL) {
      n_items++;
    }
    if (value < 0 || value >= n_items) {
      return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: '%s' is %lld, expected 0 to %lld",
                               function, v->name, (long long)value, (long long)n_items - 1);
    }
  }
  return write_element(rt, slot, &value, function);
}

// A text or bytes that may be shorter than their room go in with the rest cleared: equal states are equal bytes.
static yoke_runtime_status write_room(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                      const void* head, size_t n_head, const void* bytes, size_t n,
                                      const char* function) {
  memset(rt->room, 0, yoke__variable_element_size(yoke__runtime_variable(rt, slot)));
  memcpy(rt->room, head, n_head);
  memcpy(rt->room + n_head, bytes, n);
  return write_element(rt, slot, rt->room, function);
}

static yoke_runtime_status write_text(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                      const char* text, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  const size_t n = text == NULL ? 0 : strlen(text);
  if (n >= v->max_size) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "%s: the text for '%s' is longer than %zu bytes", function, v->name,
                             v->max_size - 1);
  }
  return write_room(rt, slot, "", 0, text == NULL ? "" : text, n, function);
}

static yoke_runtime_status write_binary(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                        const void* bytes, size_t n, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  const uint64_t count = n;
  if (n > v->max_size) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: more than %zu bytes for '%s'", function,
                             v->max_size, v->name);
  }
  return write_room(rt, slot, &count, sizeof count, n == 0 ? "" : bytes, n, function);
}

// ---- the functions of the standards

// Bytes of an element of the standard's type.
static size_t size_of(const yoke_runtime_access* how) {
  static const size_t narrow[] = {sizeof(double), sizeof(int), sizeof(int), sizeof(char*),
                                  sizeof(char*)};
  static const size_t wide[] = {sizeof(double), sizeof(int64_t), sizeof(bool), sizeof(char*),
                                sizeof(char*)};
  return how->is_array ? wide[how->kind] : narrow[how->kind];
}

static yoke_runtime_status element_out(yoke_runtime* rt, const yoke_runtime_access* how,
                                       const yoke_runtime_slot* slot, size_t size, void* to,
                                       size_t* n_bytes) {
  const char* at = read_element(rt, slot);
  if (at == NULL || (how->kind == YOKE_RUNTIME_BINARY && n_bytes == NULL)) {
    memset(to, 0, size);
    return YOKE_RUNTIME_ERROR;
  }
  if (how->kind == YOKE_RUNTIME_REAL || how->kind == YOKE_RUNTIME_STRING) {
    memcpy(to, how->kind == YOKE_RUNTIME_REAL ? at : (const char*)&at, size);
    return YOKE_RUNTIME_OK;
  }
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  int64_t whole = 0;
  memcpy(&whole, at, sizeof whole);
  if (how->kind == YOKE_RUNTIME_BINARY) {
    *n_bytes = (size_t)whole;
    at += sizeof whole;
    memcpy(to, &at, size);
    return YOKE_RUNTIME_OK;
  }
  whole = how->kind == YOKE_RUNTIME_BOOLEAN ? whole != 0 : whole;
  const int narrow = (int)whole;
  const bool flag = whole != 0;
  memcpy(to,
         size == sizeof whole ? (const void*)&whole
         : size == 1          ? (const void*)&flag
                              : (const void*)&narrow,
         size);
  if (!how->is_array && (whole < INT_MIN || whole > INT_MAX)) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "'%s' is %lld, beyond the integers of FMI 2.0",
                             v->name, (long long)whole);
  }
  return YOKE_RUNTIME_OK;
}

static yoke_runtime_status element_in(yoke_runtime* rt, const yoke_runtime_access* how,
                                      const yoke_runtime_slot* slot, size_t size, const void* from,
                                      const size_t* n_bytes) {
  const char* bytes = NULL;
  int64_t whole = 0;
  int narrow = 0;
  bool flag = false;
  switch (how->kind) {
  case YOKE_RUNTIME_REAL:
    return write_element(rt, slot, from, how->function);
  case YOKE_RUNTIME_WHOLE:
    memcpy(how->is_array ? (void*)&whole : &narrow, from, size);
    return write_whole(rt, slot, how->is_array ? whole : narrow, how->function);
  case YOKE_RUNTIME_BOOLEAN:
    memcpy(how->is_array ? (void*)&flag : &narrow, from, size);
    return write_whole(rt, slot, flag || narrow != 0, how->function);
  case YOKE_RUNTIME_STRING:
    memcpy(&bytes, from, size);
    return write_text(rt, slot, bytes, how->function);
  case YOKE_RUNTIME_BINARY:
    memcpy(&bytes, from, size);
    return n_bytes == NULL ? YOKE_RUNTIME_ERROR
                           : write_binary(rt, slot, bytes, *n_bytes, how->function);
  }
  return YOKE_RUNTIME_ERROR;
}

// The elements behind a reference, which must fit behind the first k of n_values. 0 after a message.
static size_t find_span(const yoke_runtime* rt, const yoke_runtime_access* how, uint32_t reference,
                        size_t k, size_t n_values, const yoke_runtime_slot** slot) {
  *slot = yoke__runtime_find(rt, reference, how);
  if (*slot == NULL || !how->is_array) {
    return *slot == NULL ? 0 : 1;
  }
  const yoke_variable* v = yoke__runtime_variable(rt, *slot);
  const size_t span = yoke__variable_count(v);
  if ((*slot)->element != 0) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: '%s' has the value reference %lu",
                            how->function, v->name,
                            (unsigned long)(*slot - rt->slots) - (*slot)->element);
    return 0;
  }
  if (span > n_values - k) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                            "%s: fewer values than the variables have elements", how->function);
    return 0;
  }
  return span;
}

static yoke_runtime_status check_count(const yoke_runtime* rt, const yoke_runtime_access* how,
                                       yoke_runtime_status status, size_t k, size_t n_values) {
  return status != YOKE_RUNTIME_OK || k == n_values
             ? status
             : yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                                 "%s: more values than the variables have elements", how->function);
}

yoke_runtime_status yoke__runtime_get(yoke_runtime* rt, const yoke_runtime_access* how,
                                      const uint32_t references[], size_t n, void* values,
                                      size_t* sizes, size_t n_values) {
  const size_t size = size_of(how);
  yoke_runtime_status status = yoke__runtime_begin_get(rt, how->function);
  size_t k = 0;
  for (size_t i = 0; i < n && status == YOKE_RUNTIME_OK; i++) {
    // the time is the one variable that no unit has
    if (how->is_array && how->kind == YOKE_RUNTIME_REAL && references[i] == rt->n_slots &&
        k < n_values) {
      ((double*)values)[k++] = rt->time;
      continue;
    }
    const yoke_runtime_slot* slot = NULL;
    const size_t span = find_span(rt, how, references[i], k, n_values, &slot);
    status = span == 0 ? YOKE_RUNTIME_ERROR : status;
    for (size_t j = 0; j < span && status == YOKE_RUNTIME_OK; j++, k++) {
      status = element_out(rt, how, slot + j, size, (char*)values + k * size,
                           sizes == NULL ? NULL : sizes + k);
    }
  }
  return check_count(rt, how, status, k, n_values);
}

yoke_runtime_status yoke__runtime_set(yoke_runtime* rt, const yoke_runtime_access* how,
                                      const uint32_t references[], size_t n, const void* values,
                                      const size_t* sizes, size_t n_values) {
  const unsigned phases =
      YOKE_RUNTIME_INSTANTIATED | YOKE_RUNTIME_INITIALISING | YOKE_RUNTIME_STEPPING;
  const size_t size = size_of(how);
  yoke_runtime_status status =
      yoke__runtime_expect(rt, phases, how->function) ? YOKE_RUNTIME_OK : YOKE_RUNTIME_ERROR;
  size_t k = 0;
  for (size_t i = 0; i < n && status == YOKE_RUNTIME_OK; i++) {
    const yoke_runtime_slot* slot = NULL;
    const size_t span = find_span(rt, how, references[i], k, n_values, &slot);
    status = span == 0 ? YOKE_RUNTIME_ERROR : status;
    for (size_t j = 0; j < span && status == YOKE_RUNTIME_OK; j++, k++) {
      status = element_in(rt, how, slot + j, size, (const char*)values + k * size,
                          sizes == NULL ? NULL : sizes + k);
    }
  }
  return check_count(rt, how, status, k, n_values);
}
