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

// The name of a definition; false: a repetition, which is noted, or memory is out.
static bool define(yoke_fmi_reader* reader, yoke_fmi_names* names, const char* text,
                   const char* what, const char** name) {
  *name = yoke__fmi_keep(reader, text);
  const bool is_new = yoke__fmi_names_add(reader, names, *name) == YOKE_NOT_FOUND;
  if (!is_new) {
    YOKE_FMI_FAULT(reader, DEFINITION_REPEATED, reader->line, "%s '%s' is defined more than once",
                   what, *name);
  }
  return is_new && reader->status >= 0;
}

void yoke__fmi_open_unit(yoke_fmi_reader* reader) {
  const char* text =
      reader->d->version == 1 ? YOKE_FMI_VALUE(reader, unit) : YOKE_FMI_VALUE(reader, name);
  const char* name = "";
  reader->is_unit_open = define(reader, &reader->unit_names, text, "unit", &name);
  if (reader->is_unit_open) {
    yoke_fmi_unit* unit = yoke__fmi_list_add(reader, &reader->units, sizeof *unit);
    unit->name = name;
    unit->factor = 1;
  }
}

#define EXPONENT(name) (int)yoke__fmi_integer(reader, YOKE_FMI_AT_##name, 0, -100, 100)

void yoke__fmi_open_base_unit(yoke_fmi_reader* reader) {
  yoke_fmi_unit* unit = last_unit(reader);
  if (unit == NULL) {
    return;
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
  unit->factor = yoke__fmi_number(reader, YOKE_FMI_AT_factor, 1);
  unit->offset = yoke__fmi_number(reader, YOKE_FMI_AT_offset, 0);

  // a unit that cannot be converted is one without a base
  if (!yoke__is_finite(unit->factor) || unit->factor == 0 || !yoke__is_finite(unit->offset)) {
    YOKE_FMI_FAULT(reader, ATTRIBUTE_BAD, reader->line,
                   "factor or offset of unit '%s' cannot be calculated with", unit->name);
    unit->has_base = false;
    unit->factor = 1;
    unit->offset = 0;
  }
}

// ---- types

void yoke__fmi_open_simple_type(yoke_fmi_reader* reader) {
  const char* name = "";
  reader->is_typedef_open =
      define(reader, &reader->type_names, YOKE_FMI_VALUE(reader, name), "type", &name);
  if (reader->is_typedef_open) {
    yoke_fmi_typedef* type = yoke__fmi_list_add(reader, &reader->typedefs, sizeof *type);
    *type = (yoke_fmi_typedef){
        .name = name, .type = YOKE_FMI_N_TYPES, .quantity = "", .unit = "", .display_unit = ""};
    yoke_fmi_bounds* bounds = yoke__fmi_list_add(reader, &reader->bounds, sizeof *bounds);
    *bounds = (yoke_fmi_bounds){YOKE_FMI_NAN, YOKE_FMI_NAN, reader->line};
  }
}

void yoke__fmi_open_type(yoke_fmi_reader* reader) {
  if (reader->d->version == 3) {
    yoke__fmi_open_simple_type(reader);
  }
  if (!reader->is_typedef_open || reader->status < 0) {
    return;
  }
  yoke_fmi_typedef* type = (yoke_fmi_typedef*)reader->typedefs.items + reader->typedefs.n - 1;
  yoke_fmi_bounds* bounds = (yoke_fmi_bounds*)reader->bounds.items + reader->bounds.n - 1;
  type->type = (yoke_fmi_type)reader->kind;
  type->quantity = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, quantity));
  type->unit = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, unit));
  type->display_unit = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, displayUnit));
  bounds->min = yoke__fmi_number(reader, YOKE_FMI_AT_min, YOKE_FMI_NAN);
  bounds->max = yoke__fmi_number(reader, YOKE_FMI_AT_max, YOKE_FMI_NAN);
  if (bounds->min > bounds->max) {
    YOKE_FMI_FAULT(reader, MIN_MAX, reader->line, "type '%s' has a min above its max", type->name);
    *bounds = (yoke_fmi_bounds){YOKE_FMI_NAN, YOKE_FMI_NAN, reader->line};
  }
  reader->items.n = 0;
}

// ---- items of an enumeration

void yoke__fmi_open_item(yoke_fmi_reader* reader) {
  if (!reader->is_typedef_open) {
    return;
  }
  const yoke_fmi_item* all = reader->items.items;
  const size_t n = reader->items.n;
  const bool is_first = n == 0;
  const int64_t before = is_first ? 0 : all[n - 1].value;
  const int64_t next = before == INT64_MAX ? before : before + 1;

  // FMI 1.0 counts from 1 and writes no values
  if (reader->d->version != 1 && YOKE_FMI_VALUE(reader, value) == NULL) {
    YOKE_FMI_FAULT(reader, ITEM_VALUE, reader->line, "item '%s' of an enumeration has no value",
                   YOKE_FMI_VALUE(reader, name) == NULL ? "" : YOKE_FMI_VALUE(reader, name));
  }
  const int64_t value = yoke__fmi_integer(reader, YOKE_FMI_AT_value, next, -INT64_MAX, INT64_MAX);
  yoke_fmi_item* item = yoke__fmi_list_add(reader, &reader->items, sizeof *item);
  item->value = value;
  item->name = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, name));
  item->description = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, description));
  reader->item_line = is_first ? reader->line : reader->item_line;
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
static void check_items(yoke_fmi_reader* reader, const yoke_fmi_typedef* type,
                        const yoke_fmi_item* items, size_t n) {
  int64_t* values = malloc(n * sizeof *values);
  const char** names = malloc(n * sizeof *names);
  if (values == NULL || names == NULL) {
    reader->status = YOKE_NO_MEMORY;
    n = 0;
  }
  for (size_t i = 0; i < n; i++) {
    values[i] = items[i].value;
    names[i] = items[i].name;
  }
  if (n > 0) {
    qsort(values, n, sizeof *values, compare_values);
    qsort(names, n, sizeof *names, compare_texts);
  }
  for (size_t i = 1; i < n; i++) {
    if (strcmp(names[i], names[i - 1]) == 0) {
      YOKE_FMI_FAULT(reader, ITEM_REPEATED, reader->item_line, "type '%s' has two items named '%s'",
                     type->name, names[i]);
    }
    if (values[i] == values[i - 1]) {
      YOKE_FMI_FAULT(reader, ITEM_REPEATED, reader->item_line,
                     "type '%s' has two items with the value %lld", type->name,
                     (long long)values[i]);
    }
  }
  free(values);
  free(names);
}

void yoke__fmi_close_type(yoke_fmi_reader* reader) {
  const size_t n = reader->items.n;
  if (!reader->is_typedef_open || reader->typedefs.n == 0 || n == 0) {
    return;
  }
  yoke_fmi_typedef* type = (yoke_fmi_typedef*)reader->typedefs.items + reader->typedefs.n - 1;
  check_items(reader, type, reader->items.items, n);
  type->n_items = n;
  type->items = yoke__fmi_list_take(reader, &reader->items, sizeof *type->items);
}
