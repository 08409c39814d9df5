// Variables by value reference. Values that lie in the unit's struct are read and written in place; others go through
// the unit's own operations with the whole value.
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
                                            yoke_runtime_kind kind, const char* function) {
  const size_t n_all = rt->n_slots + (rt->states.n > 0 ? 1 + rt->states.n : 0);
  if (reference == rt->n_slots || reference >= n_all) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: there is no value reference %lu", function,
                            (unsigned long)reference);
    return NULL;
  }
  const yoke_runtime_slot* slot = &rt->slots[reference];
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (kind_of(v->type) != kind) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                            "%s: '%s' (value reference %lu) is of another type", function, v->name,
                            (unsigned long)reference);
    return NULL;
  }
  return slot;
}

size_t yoke__runtime_span(const yoke_runtime* rt, const yoke_runtime_slot* slot,
                          const char* function) {
  if (slot->element != 0) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: '%s' has the value reference %lu",
                            function, yoke__runtime_variable(rt, slot)->name,
                            (unsigned long)(slot - rt->slots) - slot->element);
    return 0;
  }
  return yoke__variable_count(yoke__runtime_variable(rt, slot));
}

yoke_runtime_status yoke__runtime_begin_set(const yoke_runtime* rt, const char* function) {
  const unsigned phases =
      YOKE_RUNTIME_INSTANTIATED | YOKE_RUNTIME_INITIALISING | YOKE_RUNTIME_STEPPING;
  return yoke__runtime_expect(rt, phases, function) ? YOKE_RUNTIME_OK : YOKE_RUNTIME_ERROR;
}

// ---- elements

// What may be set when.
static bool is_settable(const yoke_runtime* rt, const yoke_variable* v) {
  if (rt->phase == YOKE_RUNTIME_STEPPING) {
    return v->causality == YOKE_INPUT || v->causality == YOKE_TUNABLE;
  }
  switch (v->causality) {
  case YOKE_INPUT:
  case YOKE_PARAMETER:
  case YOKE_TUNABLE:
    return true;
  case YOKE_OUTPUT:
    return (v->flags & YOKE_VARIABLE_HAS_START) != 0;
  case YOKE_STATE:
    return (v->flags & YOKE_VARIABLE_READ_ONLY) == 0;
  }
  return false;
}

const void* yoke__runtime_read(yoke_runtime* rt, const yoke_runtime_slot* slot) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (rt->phase == YOKE_RUNTIME_INSTANTIATED && !is_settable(rt, v)) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "'%s' has no value before the initialisation",
                            v->name);
    return NULL;
  }
  if (slot->variable >= rt->unit.info->n_variables) {
    return yoke__runtime_rate(rt, slot->variable - rt->unit.info->n_variables);
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

yoke_runtime_status yoke__runtime_write(yoke_runtime* rt, const yoke_runtime_slot* slot,
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

// FMI counts the items of an enumeration from 1 on here.
static int64_t first_of(const yoke_variable* v) {
  return v->type == YOKE_ENUMERATION && v->items != NULL ? 1 : 0;
}

yoke_runtime_status yoke__runtime_read_whole(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                             int64_t* value) {
  const void* at = yoke__runtime_read(rt, slot);
  if (at == NULL) {
    return YOKE_RUNTIME_ERROR;
  }
  memcpy(value, at, sizeof *value);
  *value += first_of(yoke__runtime_variable(rt, slot));
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_write_whole(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                              int64_t value, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  if (first_of(v) == 1) {
    int64_t n_items = 0;
    while (v->items[n_items] != NULL) {
      n_items++;
    }
    if (value < 1 || value > n_items) {
      return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: '%s' is %lld, expected 1 to %lld",
                               function, v->name, (long long)value, (long long)n_items);
    }
    value--;
  }
  return yoke__runtime_write(rt, slot, &value, function);
}

// A text or bytes that may be shorter than their room go in with the rest cleared: equal states are equal bytes.
static yoke_runtime_status write_room(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                      const void* head, size_t n_head, const void* bytes, size_t n,
                                      const char* function) {
  memset(rt->room, 0, yoke__variable_element_size(yoke__runtime_variable(rt, slot)));
  memcpy(rt->room, head, n_head);
  memcpy(rt->room + n_head, bytes, n);
  return yoke__runtime_write(rt, slot, rt->room, function);
}

yoke_runtime_status yoke__runtime_write_text(yoke_runtime* rt, const yoke_runtime_slot* slot,
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

yoke_runtime_status yoke__runtime_write_binary(yoke_runtime* rt, const yoke_runtime_slot* slot,
                                               const void* bytes, size_t n, const char* function) {
  const yoke_variable* v = yoke__runtime_variable(rt, slot);
  const uint64_t count = n;
  if (n > v->max_size) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: more than %zu bytes for '%s'", function,
                             v->max_size, v->name);
  }
  return write_room(rt, slot, &count, sizeof count, n == 0 ? "" : bytes, n, function);
}
