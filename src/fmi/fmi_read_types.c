// Unit and type definitions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "fmi/fmi_reader.h"

// ---- units

// The unit that is being read, or NULL if it is a repetition.
static yoke_fmi_unit* last_unit(yoke_fmi_reader* reader) {
  yoke_fmi_unit* all = reader->units.items;
  return reader->is_unit_open ? &all[reader->units.n - 1] : NULL;
}

yoke_status yoke__fmi_open_unit(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  const char* text =
      reader->d->version == 1 ? YOKE_FMI_VALUE(reader, unit) : YOKE_FMI_VALUE(reader, name);
  const char* name = yoke__fmi_keep(reader, text == NULL ? "" : text);
  if (name == NULL) {
    return YOKE_NO_MEMORY;
  }
  size_t found = YOKE_NOT_FOUND;
  YOKE_TRY(yoke__fmi_names_add(reader, &reader->unit_names, name, &found));
  reader->is_unit_open = found == YOKE_NOT_FOUND;
  if (!reader->is_unit_open) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_DEFINITION_REPEATED, line, 0,
                         "unit '%s' is defined more than once", name);
    return YOKE_OK;
  }
  yoke_fmi_unit* unit = yoke__fmi_list_add(&reader->units, sizeof *unit);
  if (unit == NULL) {
    return YOKE_NO_MEMORY;
  }
  unit->name = name;
  unit->factor = 1;
  return YOKE_OK;
}

#define EXPONENT(name) (int)yoke__fmi_integer(reader, YOKE_FMI_AT_##name, 0, -100, 100, line)

yoke_status yoke__fmi_open_base_unit(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  yoke_fmi_unit* unit = last_unit(reader);
  if (unit == NULL) {
    return YOKE_OK;
  }
  unit->has_base = true;
  unit->kg = EXPONENT(kg);
  unit->m = EXPONENT(m);
  unit->s = EXPONENT(s);
  unit->A = EXPONENT(A);
  unit->K = EXPONENT(K);
  unit->mol = EXPONENT(mol);
  unit->cd = EXPONENT(cd);
  unit->rad = EXPONENT(rad);
  unit->factor = yoke__fmi_number(reader, YOKE_FMI_AT_factor, 1, line);
  unit->offset = yoke__fmi_number(reader, YOKE_FMI_AT_offset, 0, line);

  // a unit that cannot be converted is one without a base
  if (!yoke__is_finite(unit->factor) || unit->factor == 0 || !yoke__is_finite(unit->offset)) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_ATTRIBUTE_BAD, line, 0,
                         "factor or offset of unit '%s' cannot be calculated with", unit->name);
    unit->has_base = false;
    unit->factor = 1;
    unit->offset = 0;
  }
  return YOKE_OK;
}

// ---- types

static yoke_status begin_type(yoke_fmi_reader* reader, int line) {
  const char* text = YOKE_FMI_VALUE(reader, name);
  const char* name = yoke__fmi_keep(reader, text == NULL ? "" : text);
  if (name == NULL) {
    return YOKE_NO_MEMORY;
  }
  size_t found = YOKE_NOT_FOUND;
  YOKE_TRY(yoke__fmi_names_add(reader, &reader->type_names, name, &found));
  reader->is_typedef_open = found == YOKE_NOT_FOUND;
  if (!reader->is_typedef_open) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_DEFINITION_REPEATED, line, 0,
                         "type '%s' is defined more than once", name);
    return YOKE_OK;
  }
  yoke_fmi_typedef* type = yoke__fmi_list_add(&reader->typedefs, sizeof *type);
  yoke_fmi_bounds* bounds = yoke__fmi_list_add(&reader->bounds, sizeof *bounds);
  if (type == NULL || bounds == NULL) {
    return YOKE_NO_MEMORY;
  }
  *type = (yoke_fmi_typedef){
      .name = name, .type = YOKE_FMI_N_TYPES, .quantity = "", .unit = "", .display_unit = ""};
  *bounds = (yoke_fmi_bounds){YOKE_FMI_NAN, YOKE_FMI_NAN, line};
  return YOKE_OK;
}

yoke_status yoke__fmi_open_simple_type(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  return begin_type(reader, line);
}

static const char* keep_or_empty(yoke_fmi_reader* reader, const char* text) {
  return text == NULL ? "" : yoke__fmi_keep(reader, text);
}

yoke_status yoke__fmi_open_type(yoke_fmi_reader* reader, int kind, int line) {
  if (reader->d->version == 3) {
    YOKE_TRY(begin_type(reader, line));
  }
  if (!reader->is_typedef_open) {
    return YOKE_OK;
  }
  yoke_fmi_typedef* type = (yoke_fmi_typedef*)reader->typedefs.items + reader->typedefs.n - 1;
  yoke_fmi_bounds* bounds = (yoke_fmi_bounds*)reader->bounds.items + reader->bounds.n - 1;
  type->type = (yoke_fmi_type)kind;
  type->quantity = keep_or_empty(reader, YOKE_FMI_VALUE(reader, quantity));
  type->unit = keep_or_empty(reader, YOKE_FMI_VALUE(reader, unit));
  type->display_unit = keep_or_empty(reader, YOKE_FMI_VALUE(reader, displayUnit));
  if (type->quantity == NULL || type->unit == NULL || type->display_unit == NULL) {
    return YOKE_NO_MEMORY;
  }
  bounds->min = yoke__fmi_number(reader, YOKE_FMI_AT_min, YOKE_FMI_NAN, line);
  bounds->max = yoke__fmi_number(reader, YOKE_FMI_AT_max, YOKE_FMI_NAN, line);
  if (bounds->min > bounds->max) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_MIN_MAX, line, 0,
                         "type '%s' has a min above its max", type->name);
    *bounds = (yoke_fmi_bounds){YOKE_FMI_NAN, YOKE_FMI_NAN, line};
  }
  reader->items.n = 0;
  return YOKE_OK;
}

// ---- items of an enumeration

yoke_status yoke__fmi_open_item(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  if (!reader->is_typedef_open) {
    return YOKE_OK;
  }
  const yoke_fmi_item* all = reader->items.items;
  const size_t n = reader->items.n;
  const bool is_first = n == 0;
  const int64_t before = is_first ? 0 : all[n - 1].value;
  const int64_t next = before == INT64_MAX ? before : before + 1;

  // FMI 1.0 counts from 1 and writes no values
  if (reader->d->version != 1 && YOKE_FMI_VALUE(reader, value) == NULL) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_ITEM_VALUE, line, 0,
                         "item '%s' of an enumeration has no value",
                         YOKE_FMI_VALUE(reader, name) == NULL ? "" : YOKE_FMI_VALUE(reader, name));
  }
  const int64_t value =
      yoke__fmi_integer(reader, YOKE_FMI_AT_value, next, -INT64_MAX, INT64_MAX, line);
  yoke_fmi_item* item = yoke__fmi_list_add(&reader->items, sizeof *item);
  if (item == NULL) {
    return YOKE_NO_MEMORY;
  }
  item->value = value;
  item->name = keep_or_empty(reader, YOKE_FMI_VALUE(reader, name));
  item->description = keep_or_empty(reader, YOKE_FMI_VALUE(reader, description));
  if (item->name == NULL || item->description == NULL) {
    return YOKE_NO_MEMORY;
  }
  reader->item_line = is_first ? line : reader->item_line;
  return YOKE_OK;
}

static int compare_values(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

static int compare_texts(const void* left, const void* right) {
  const char *a = *(const char*const*)left, *b = *(const char*const*)right;
  return strcmp(a, b);
}

// Names and values must be unique; sorting finds repetitions of long lists in time.
static yoke_status check_items(yoke_fmi_reader* reader, const yoke_fmi_typedef* type,
                               const yoke_fmi_item* items, size_t n) {
  int64_t* values = malloc(n * sizeof *values);
  const char** names = malloc(n * sizeof *names);
  if (values == NULL || names == NULL) {
    free(values);
    free(names);
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < n; i++) {
    values[i] = items[i].value;
    names[i] = items[i].name;
  }
  qsort(values, n, sizeof *values, compare_values);
  qsort(names, n, sizeof *names, compare_texts);
  for (size_t i = 1; i < n; i++) {
    if (strcmp(names[i], names[i - 1]) == 0) {
      yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_ITEM_REPEATED, reader->item_line, 0,
                           "type '%s' has two items named '%s'", type->name, names[i]);
    }
    if (values[i] == values[i - 1]) {
      yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_ITEM_REPEATED, reader->item_line, 0,
                           "type '%s' has two items with the value %lld", type->name,
                           (long long)values[i]);
    }
  }
  free(values);
  free(names);
  return YOKE_OK;
}

yoke_status yoke__fmi_close_type(yoke_fmi_reader* reader) {
  if (!reader->is_typedef_open || reader->typedefs.n == 0) {
    return YOKE_OK;
  }
  yoke_fmi_typedef* type = (yoke_fmi_typedef*)reader->typedefs.items + reader->typedefs.n - 1;
  const yoke_fmi_item* items = reader->items.items;
  const size_t n = reader->items.n;
  if (n == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(check_items(reader, type, items, n));
  yoke_fmi_item* kept = yoke__arena_array(&reader->d->arena, n, sizeof *kept);
  if (kept == NULL) {
    return YOKE_NO_MEMORY;
  }
  memcpy(kept, items, n * sizeof *kept);
  type->items = kept;
  type->n_items = n;
  reader->items.n = 0;
  return YOKE_OK;
}
