// After the last element: everything that refers to something else finds it, or a rule says that it does not.
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_reader.h"

// ---- can it be used at all?

static yoke_status check_interfaces(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  const yoke_place place = {reader->source, 0, 0};
  if (d->version == 1 && !d->co_simulation.is_given) {
    yoke__error(reader->messages, place,
                "this is an FMI 1.0 FMU for model exchange; of FMI 1.0 only co-simulation is "
                "supported [fmi-1-model-exchange]");
    return YOKE_BAD_INPUT;
  }
  if (!d->co_simulation.is_given && !d->model_exchange.is_given &&
      !d->scheduled_execution.is_given) {
    yoke__error(reader->messages, place,
                "there is neither <CoSimulation> nor <ModelExchange>%s: nothing in it can be run "
                "[fmi-interface-none]",
                d->version == 3 ? " nor <ScheduledExecution>" : "");
    return YOKE_BAD_INPUT;
  }
  if (d->model_name[0] == '\0') {
    const yoke_fmi_interface* first = d->co_simulation.is_given    ? &d->co_simulation
                                      : d->model_exchange.is_given ? &d->model_exchange
                                                                   : &d->scheduled_execution;
    d->model_name = first->model_identifier;
  }
  return YOKE_OK;
}

// ---- types and units

static void attach_late_types(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  const yoke_fmi_late_type* late = reader->late_types.items;
  for (size_t i = 0; i < reader->late_types.n; i++) {
    yoke_fmi_variable* v = &d->variables[late[i].variable];
    const size_t found = yoke__fmi_names_find(&reader->type_names, late[i].name);
    if (found == YOKE_NOT_FOUND) {
      YOKE_FMI_FAULT(reader, TYPE_UNKNOWN, (int)v->line, "type '%s' of '%s' is not defined",
                     late[i].name, v->name);
      continue;
    }
    // its aliases stand behind it
    for (size_t j = late[i].variable;
         j < d->n_variables &&
         (j == late[i].variable || d->variables[j].alias_of == late[i].variable + 1);
         j++) {
      d->variables[j].type_definition = (uint32_t)(found + 1);
    }
  }
}

static void check_types(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  for (size_t i = 0; i < d->n_variables; i++) {
    yoke_fmi_variable* v = &d->variables[i];
    if (v->type_definition != 0) {
      const yoke_fmi_typedef* type = &d->typedefs[v->type_definition - 1];
      if (type->type != (yoke_fmi_type)v->type) {
        YOKE_FMI_FAULT(reader, TYPE_MISMATCH, (int)v->line, "type '%s' of '%s' is not for %s",
                       type->name, v->name,
                       yoke__fmi_type_word(d->version, (yoke_fmi_type)v->type));
        v->type_definition = 0;
      } else if (v->unit[0] == '\0') {
        v->unit = type->unit;
      }
    }
    if (v->type == YOKE_FMI_ENUMERATION && v->alias_of == 0 &&
        (v->type_definition == 0 || d->typedefs[v->type_definition - 1].n_items == 0)) {
      YOKE_FMI_FAULT(reader, ITEMS_MISSING, (int)v->line, "enumeration '%s' has no items", v->name);
    }
  }
}

// FMI 1.0 defines units only where it wants to convert them.
static void check_units(yoke_fmi_reader* reader) {
  if (reader->d->version == 1) {
    return;
  }
  const yoke_fmi_unit_use* uses = reader->unit_uses.items;
  for (size_t i = 0; i < reader->unit_uses.n; i++) {
    if (yoke__fmi_names_find(&reader->unit_names, uses[i].text) == YOKE_NOT_FOUND) {
      yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_UNIT_UNKNOWN, uses[i].line,
                           uses[i].n - 1, "unit '%s' of '%s' is not defined", uses[i].text,
                           uses[i].variable);
    }
  }
  const yoke_fmi_bounds* bounds = reader->bounds.items;
  for (size_t i = 0; i < reader->d->n_typedefs; i++) {
    const yoke_fmi_typedef* type = &reader->d->typedefs[i];
    if (type->unit[0] != '\0' &&
        yoke__fmi_names_find(&reader->unit_names, type->unit) == YOKE_NOT_FOUND) {
      YOKE_FMI_FAULT(reader, UNIT_UNKNOWN, bounds[i].line, "unit '%s' of type '%s' is not defined",
                     type->unit, type->name);
    }
  }
}

// ---- names and references

// Another name for the variable i, whose name the variable `first` has already. n_same counts the names tried for each
// first one, so that a million equal names take a million tries.
static yoke_status rename_variable(yoke_fmi_reader* reader, size_t i, size_t first,
                                   uint32_t n_same[]) {
  yoke_fmi_description* d = reader->d;
  yoke_fmi_variable* v = &d->variables[i];
  YOKE_FMI_FAULT(reader, NAME_REPEATED, (int)v->line,
                 "the name '%s' is given to more than one variable", v->name);
  const size_t n = strlen(v->name);
  char* name = malloc(n + 16);
  YOKE_TRY_MEMORY(name);
  size_t found = first;
  while (found != YOKE_NOT_FOUND) {
    n_same[first]++;
    snprintf(name, n + 16, "%s#%lu", v->name, (unsigned long)n_same[first] + 1);
    found = yoke__map_find(&d->names, name);
  }
  v->name = yoke__fmi_keep(reader, name);
  free(name);
  YOKE_TRY(reader->status);
  yoke__map_add(&d->names, v->name, i);
  return YOKE_OK;
}

static yoke_status index_names(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  uint32_t* n_same = NULL;
  yoke_status status = yoke__map_create(d->n_variables, &d->arena, &d->names);

  // names of the file go first: a made one must not take the place of a real one
  size_t n_left = 0;
  for (size_t i = 0; status >= 0 && i < d->n_variables; i++) {
    n_left += yoke__map_add(&d->names, d->variables[i].name, i) != YOKE_NOT_FOUND;
  }
  if (status >= 0 && n_left > 0) {
    n_same = calloc(d->n_variables, sizeof *n_same);
    status = n_same == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  for (size_t i = 0; status >= 0 && n_left > 0 && i < d->n_variables; i++) {
    const size_t first = yoke__map_find(&d->names, d->variables[i].name);
    if (first != i) {
      status = rename_variable(reader, i, first, n_same);
      n_left--;
    }
  }
  free(n_same);
  return status;
}

static yoke_status index_references(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  size_t n_shared = 0, shared = 0;
  YOKE_TRY(yoke__fmi_index_references(d, &n_shared, &shared));
  if (n_shared > 0) {
    const yoke_fmi_variable* v = &d->variables[shared];
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_REFERENCE_SHARED, (int)v->line,
                         n_shared - 1, "'%s' has the value reference %lu of another variable",
                         v->name, (unsigned long)v->reference);
  }
  return YOKE_OK;
}

static int compare_positions(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left, b = *(const uint32_t*)right;
  return (a > b) - (a < b);
}

// FMI 2.0 counts variables from 1, those included that had to be left out.
static size_t target_of_position(const yoke_fmi_reader* reader, uint32_t position) {
  const uint32_t* dropped = reader->dropped.items;
  size_t low = 0, high = reader->dropped.n;
  if (position == 0 || position > reader->n_elements ||
      (high > 0 && bsearch(&position, dropped, high, sizeof *dropped, compare_positions) != NULL)) {
    return YOKE_FMI_NONE;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (dropped[middle] < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return position - 1 - low;
}

size_t yoke__fmi_target(const yoke_fmi_reader* reader, uint32_t target) {
  if (reader->d->version == 1) {
    return target < reader->d->n_variables ? target : YOKE_FMI_NONE;
  }
  return reader->d->version == 3 ? yoke__fmi_find_reference(reader->d, target)
                                 : target_of_position(reader, target);
}

// ---- derivatives, dimensions, clocks

static void resolve_derivatives(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  const yoke_fmi_raw* raw = reader->derivatives.items;
  for (size_t i = 0; i < reader->derivatives.n; i++) {
    yoke_fmi_variable* v = &d->variables[raw[i].variable];
    const size_t target = yoke__fmi_target(reader, raw[i].target);
    const bool is_good = target != YOKE_FMI_NONE && target != raw[i].variable &&
                         d->variables[target].type == v->type;
    if (!is_good) {
      YOKE_FMI_FAULT(reader, DERIVATIVE_UNKNOWN, raw[i].line,
                     "'%s' is called the derivative of variable %lu, %s", v->name,
                     (unsigned long)raw[i].target,
                     target == YOKE_FMI_NONE ? "which is not there" : "which cannot be");
      continue;
    }
    v->derivative_of = (uint32_t)(target + 1);
  }
}

static void resolve_dimension(yoke_fmi_reader* reader, const yoke_fmi_variable* v,
                              yoke_fmi_dimension* dimension) {
  const yoke_fmi_description* d = reader->d;
  const size_t target = yoke__fmi_find_reference(d, (uint32_t)dimension->variable);
  const yoke_fmi_variable* size = target == YOKE_FMI_NONE ? NULL : &d->variables[target];
  int64_t start = 0;
  if (size != NULL && size->type >= YOKE_FMI_INT8 && size->type <= YOKE_FMI_UINT64 &&
      size->n_dimensions == 0 &&
      (size->causality == YOKE_FMI_STRUCTURAL_PARAMETER ||
       size->variability == YOKE_FMI_CONSTANT) &&
      yoke__fmi_start_integer(size, &start, 1) && start > 0) {
    dimension->variable = target;
    dimension->start = (uint64_t)start;
    return;
  }
  YOKE_FMI_FAULT(reader, DIMENSION_BAD, (int)v->line,
                 "a dimension of '%s' refers to %lu, which is no structural parameter with "
                 "a positive start value",
                 v->name, (unsigned long)dimension->variable);
  dimension->variable = YOKE_FMI_NONE;
  dimension->start = 1;
}

static size_t count_starts(const yoke_fmi_variable* v) {
  size_t n = 0, length = 0;
  if (v->type == YOKE_FMI_STRING || v->type == YOKE_FMI_BINARY) {
    for (const char* at = v->start; at != NULL; at = strchr(at, '\x1f')) {
      at += n > 0;
      n++;
    }
    return n;
  }
  const char* at = v->start;
  while (yoke__fmi_token(&at, &length) != NULL) {
    n++;
  }
  return n;
}

static void resolve_dimensions(yoke_fmi_reader* reader, yoke_fmi_dimension* dimensions) {
  yoke_fmi_description* d = reader->d;
  for (size_t i = 0; i < d->n_variables; i++) {
    const yoke_fmi_variable* v = &d->variables[i];

    // an alias shares the dimensions of its variable
    const yoke_fmi_variable* owner = v->alias_of == 0 ? NULL : &d->variables[v->alias_of - 1];
    const bool is_shared = owner != NULL && owner->first_dimension == v->first_dimension &&
                           owner->n_dimensions == v->n_dimensions;
    if (d->version != 3 || is_shared) {
      continue;
    }
    for (size_t j = 0; j < v->n_dimensions; j++) {
      yoke_fmi_dimension* dimension = &dimensions[v->first_dimension + j];
      if (dimension->variable != YOKE_FMI_NONE) {
        resolve_dimension(reader, v, dimension);
      }
    }
    const size_t n = v->start == NULL ? 1 : count_starts(v), size = yoke__fmi_size(d, v);
    if (n != 1 && n != 0 && n != size) {
      YOKE_FMI_FAULT(reader, START_COUNT, (int)v->line,
                     "'%s' has %zu elements and %zu start values", v->name, size, n);
    }
  }
}

static yoke_status resolve_clocks(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  const yoke_fmi_raw* raw = reader->clocked.items;
  yoke_fmi_clocked* to = yoke__arena_array(&d->arena, reader->clocked.n, sizeof *to);
  YOKE_TRY_MEMORY(to);
  d->clocked = to;
  for (size_t i = 0; i < reader->clocked.n; i++) {
    const size_t clock = yoke__fmi_find_reference(d, raw[i].target);
    if (clock == YOKE_FMI_NONE || d->variables[clock].type != YOKE_FMI_CLOCK) {
      YOKE_FMI_FAULT(reader, CLOCK_UNKNOWN, raw[i].line, "clocks of '%s': variable %lu is no clock",
                     d->variables[raw[i].variable].name, (unsigned long)raw[i].target);
      continue;
    }
    to[d->n_clocked++] = (yoke_fmi_clocked){raw[i].variable, (uint32_t)clock};
  }
  return YOKE_OK;
}

static void check_time(yoke_fmi_reader* reader) {
  if (reader->n_independent > 1 || (reader->n_independent == 0 && reader->d->version == 3)) {
    YOKE_FMI_FAULT(reader, INDEPENDENT, reader->variables_line, "%s variable is independent (time)",
                   reader->n_independent == 0 ? "no" : "more than one");
  }
}

// ---- all of it

static yoke_status take_lists(yoke_fmi_reader* reader, yoke_fmi_dimension** dimensions) {
  yoke_fmi_description* d = reader->d;
  d->n_variables = reader->variables.n;
  d->n_dimensions = reader->dimensions.n;
  d->n_clocks = reader->clocks.n;
  d->n_units = reader->units.n;
  d->n_typedefs = reader->typedefs.n;
  d->n_log_categories = reader->categories.n;
  d->variables = yoke__fmi_list_take(reader, &reader->variables, sizeof(yoke_fmi_variable));
  *dimensions = yoke__fmi_list_take(reader, &reader->dimensions, sizeof(yoke_fmi_dimension));
  d->dimensions = *dimensions;
  d->clocks = yoke__fmi_list_take(reader, &reader->clocks, sizeof(yoke_fmi_clock));
  d->units = yoke__fmi_list_take(reader, &reader->units, sizeof(yoke_fmi_unit));
  d->typedefs = yoke__fmi_list_take(reader, &reader->typedefs, sizeof(yoke_fmi_typedef));
  d->log_categories = yoke__fmi_list_take(reader, &reader->categories, sizeof(char*));
  return reader->status;
}

yoke_status yoke__fmi_resolve(yoke_fmi_reader* reader) {
  yoke_fmi_dimension* dimensions = NULL;
  YOKE_TRY(check_interfaces(reader));
  YOKE_TRY(take_lists(reader, &dimensions));
  attach_late_types(reader);
  check_types(reader);
  check_units(reader);
  YOKE_TRY(index_references(reader));
  YOKE_TRY(index_names(reader));
  resolve_derivatives(reader);
  resolve_dimensions(reader, dimensions);
  YOKE_TRY(resolve_clocks(reader));
  check_time(reader);
  return yoke__fmi_resolve_structure(reader);
}
