// Stage 2: connections to links. Every input has exactly one source or a start value.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "base/base_number.h"
#include "system/system.h"

#define MAX_TUNABLES 10  // named in a message

static const char* const type_words[] = {"real",        "integer", "boolean",
                                         "enumeration", "string",  "binary"};

// ---------------------------------------------------------------------------------------------------------
// links

static bool is_whole(yoke_type type) {
  return type == YOKE_INTEGER || type == YOKE_BOOLEAN || type == YOKE_ENUMERATION;
}

// can a value of type `from` go into a variable of type `to`
static bool is_assignable(yoke_type from, yoke_type to) {
  if (from == to) {
    return true;
  }
  return is_whole(from) && (to == YOKE_REAL || to == YOKE_INTEGER ||
                            (to == YOKE_ENUMERATION && from == YOKE_INTEGER));
}

// Values travel as the numbers of their items: the same number must mean the same on both sides.
static bool are_items_equal(const yoke_variable* a, const yoke_variable* b) {
  const char *const *i = a->items, *const *k = b->items;
  while (i != NULL && k != NULL && *i != NULL && *k != NULL && strcmp(*i, *k) == 0) {
    i++;
    k++;
  }
  return i != NULL && k != NULL && *i == NULL && *k == NULL;
}

static void check_types(yoke_system* system, yoke_system_link* link, const yoke_variable* from,
                        const yoke_variable* to, size_t n_from, size_t n_to) {
  const yoke_scenario_connection* c = link->source;
  if (!is_assignable(from->type, to->type)) {
    yoke__error(system->messages, c->place, "types do not match: %s.%s is %s, %s.%s is %s",
                c->from.unit, c->from.variable, type_words[from->type], c->to.unit, c->to.variable,
                type_words[to->type]);
    return;
  }
  if (from->type == YOKE_ENUMERATION && to->type == YOKE_ENUMERATION &&
      !are_items_equal(from, to)) {
    yoke__error(system->messages, c->place, "enumerations %s.%s and %s.%s have different items",
                c->from.unit, c->from.variable, c->to.unit, c->to.variable);
    return;
  }
  if (n_from != n_to) {
    yoke__error(system->messages, c->place,
                "sizes do not match: %s.%s has %zu element%s, %s.%s has %zu", c->from.unit,
                c->from.variable, n_from, n_from == 1 ? "" : "s", c->to.unit, c->to.variable, n_to);
    return;
  }
  const bool is_numeric = from->type == YOKE_REAL || to->type == YOKE_REAL;
  if (!is_numeric && (c->gain != 1 || c->offset != 0)) {
    yoke__error(system->messages, c->place, "gain and offset need real variables; %s.%s is %s",
                c->to.unit, c->to.variable, type_words[to->type]);
  }
  if (!link->is_dense && (c->order > 0 || c->delay.value > 0)) {
    yoke__error(system->messages, c->order > 0 ? c->order_place : c->delay.place,
                "%s.%s is not a real input: remove 'order' and 'delay', which need one", c->to.unit,
                c->to.variable);
  }
  if ((from->type == YOKE_STRING || from->type == YOKE_BINARY) &&
      (from->max_size > to->max_size || (n_from > 1 && from->max_size != to->max_size))) {
    yoke__error(system->messages, c->place, "%s.%s can be %zu bytes long, %s.%s only %zu",
                c->from.unit, c->from.variable, from->max_size, c->to.unit, c->to.variable,
                to->max_size);
  }
}

static void check_dimensions(yoke_system* system, const yoke_system_link* link,
                             const yoke_variable* from, const yoke_variable* to) {
  const yoke_scenario_connection* c = link->source;
  double factor = 1, offset = 0;
  const yoke_dim_kinship relation = yoke__dim_relation(from->dim, to->dim, &factor, &offset);
  // a gain that the user wrote carries a dimension of its own
  if (c->has_gain || c->gain != 1 || c->offset != 0) {
    return;
  }
  if (relation == YOKE_DIM_DIFFERENT) {
    yoke__error(system->messages, c->place, "dimensions do not match: %s.%s is in %s, %s.%s in %s",
                c->from.unit, c->from.variable, from->dim, c->to.unit, c->to.variable, to->dim);
  } else if (relation == YOKE_DIM_SCALED) {
    char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE];
    yoke__number_format(factor, a);
    yoke__number_format(offset, b);
    yoke__error(system->messages, c->place,
                "%s.%s is in %s, %s.%s in %s: write the long form with gain: %s%s%s", c->from.unit,
                c->from.variable, from->dim, c->to.unit, c->to.variable, to->dim, a,
                offset != 0 ? ", offset: " : "", offset != 0 ? b : "");
  }
}

// "; tunable ones are k, rate" or "".
static void list_tunables(const yoke_unit_info* info, char* to, size_t size) {
  size_t used = 0, n = 0;
  to[0] = '\0';
  for (size_t i = 0; i < info->n_variables && used < size; i++) {
    if (info->variables[i].causality == YOKE_TUNABLE && n++ < MAX_TUNABLES) {
      const int length = snprintf(to + used, size - used, "%s%s",
                                  n == 1 ? "; tunable ones are " : ", ", info->variables[i].name);
      used += length < 0 ? 0 : (size_t)length;
    }
  }
  if (n > MAX_TUNABLES && used < size) {
    snprintf(to + used, size - used, " and %zu more", n - MAX_TUNABLES);
  }
}

// A fixed parameter: what would make it one that a connection can change.
static void refuse_sink(yoke_system* system, const yoke_scenario_connection* source,
                        const yoke_system_unit* unit, const yoke_variable* v) {
  const yoke_place place = source->to.place;
  char tunables[400];
  for (size_t i = 0; i < unit->source->twin.n_unknowns; i++) {
    if (strcmp(unit->source->twin.unknowns[i].name, source->to.variable) == 0) {
      yoke__error(system->messages, place,
                  "'%s' estimates '%s', which is one of its unknowns: leave it out there or here",
                  source->to.unit, source->to.variable);
      return;
    }
  }
  if (v->causality != YOKE_PARAMETER) {
    yoke__error(system->messages, place,
                "'%s.%s' is neither an input nor a tunable parameter: nothing can go into it",
                source->to.unit, source->to.variable);
    return;
  }
  list_tunables(unit->unit.info, tunables, sizeof tunables);
  if (unit->source->kind == YOKE_KIND_FMU) {
    yoke__error(system->messages, place,
                "'%s.%s' is a fixed parameter of the FMU: only one that its modelDescription.xml "
                "calls tunable can change during a run%s",
                source->to.unit, source->to.variable, tunables);
    return;
  }
  yoke__error(system->messages, place,
              "'%s.%s' is a fixed parameter of %s: only tunable ones can change during a run%s",
              source->to.unit, source->to.variable, unit->unit.ops->name, tunables);
}

// false after a message
static bool resolve_link(yoke_system* system, const yoke_scenario_connection* source,
                         yoke_system_link* link) {
  size_t n_from = 0, n_to = 0;
  *link = (yoke_system_link){.source = source,
                             .gain = source->gain,
                             .offset = source->offset,
                             .order = source->order,
                             .has_order = source->has_order,
                             .is_held = source->is_held,
                             .is_auto = source->is_auto,
                             .interval = link->interval,
                             .delay = link->delay};
  const bool has_from = yoke__system_resolve(system, &source->from, "connection", &link->from_unit,
                                             &link->from_variable, &link->from_element, &n_from);
  const bool has_to = yoke__system_resolve(system, &source->to, "connection", &link->to_unit,
                                           &link->to_variable, &link->to_element, &n_to);
  if (!has_to) {
    return false;
  }
  // a sink counts as connected even if the rest is wrong: one mistake, one message
  const yoke_variable* to = &system->units[link->to_unit].unit.info->variables[link->to_variable];
  const bool is_sink = to->causality == YOKE_INPUT || to->causality == YOKE_TUNABLE;
  link->n = is_sink ? n_to : 0;
  if (!has_from) {
    return false;
  }
  const yoke_variable* from =
      &system->units[link->from_unit].unit.info->variables[link->from_variable];
  if (from->causality != YOKE_OUTPUT) {
    yoke__error(system->messages, source->from.place,
                "'%s.%s' is not an output: nothing can come from it", source->from.unit,
                source->from.variable);
    return false;
  }
  if (!is_sink) {
    refuse_sink(system, source, &system->units[link->to_unit], to);
    return false;
  }
  link->is_resolved = true;
  link->is_dense = from->type == YOKE_REAL && to->type == YOKE_REAL && to->causality == YOKE_INPUT;
  const size_t n_errors = system->messages->n_errors;
  if (!link->is_dense &&
      (yoke__variable_count(from) != n_from || yoke__variable_count(to) != n_to)) {
    yoke__error(system->messages, source->place,
                "single elements can only be connected between real "
                "outputs and real inputs");
  }
  check_types(system, link, from, to, n_from, n_to);
  if (from->type == YOKE_REAL && to->type == YOKE_REAL) {
    check_dimensions(system, link, from, to);
  }
  return system->messages->n_errors == n_errors;
}

// ---------------------------------------------------------------------------------------------------------
// inputs: one source or a start value

static const yoke_setting* find_start(const yoke_system_unit* unit, const char* name) {
  for (size_t i = 0; i < unit->source->n_start; i++) {
    if (strcmp(unit->source->start[i].name, name) == 0) {
      return &unit->source->start[i];
    }
  }
  for (size_t i = 0; i < unit->source->n_values; i++) {
    if (strcmp(unit->source->values[i].name, name) == 0) {
      return &unit->source->values[i];
    }
  }
  return NULL;
}

// owner[]: per unit and variable element, the link that feeds it
static void claim_inputs(yoke_system* system, const size_t first_element[],
                         const size_t variable_element[], size_t owner[]) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->n == 0) {
      continue;  // nothing that takes a value
    }
    const size_t at =
        variable_element[first_element[link->to_unit] + link->to_variable] + link->to_element;
    for (size_t j = 0; j < link->n; j++) {
      if (owner[at + j] != YOKE_NOT_FOUND) {
        const yoke_scenario_connection* other = system->links[owner[at + j]].source;
        yoke__error(system->messages, link->source->place,
                    "'%s.%s' has two sources: this one and '%s.%s' in line %d",
                    link->source->to.unit, link->source->to.variable, other->from.unit,
                    other->from.variable, other->place.line);
        break;
      }
      owner[at + j] = i;
    }
  }
}

static void check_unit_inputs(yoke_system* system, const yoke_system_unit* unit,
                              const size_t elements[], const size_t owner[]) {
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    if (variable->causality != YOKE_INPUT) {
      continue;
    }
    size_t n_free = 0;
    for (size_t j = 0; j < yoke__variable_count(variable); j++) {
      n_free += owner[elements[v] + j] == YOKE_NOT_FOUND;
    }
    if (n_free > 0 && (variable->flags & YOKE_VARIABLE_HAS_START) == 0 &&
        find_start(unit, variable->name) == NULL) {
      yoke__error(system->messages, unit->source->place,
                  "input '%s.%s' is not connected and has no start value; connect it or write "
                  "start: {%s: ...}",
                  unit->name, variable->name, variable->name);
    }
  }
}

static yoke_status check_inputs(yoke_system* system) {
  // number all elements of all variables of all units
  size_t n_variables = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    n_variables += system->units[i].unit.self == NULL ? 0 : system->units[i].unit.info->n_variables;
  }
  size_t* first = calloc(system->n_units + 1, sizeof *first);
  size_t* elements = calloc(n_variables + 1, sizeof *elements);
  size_t n = 0, at = 0;
  for (size_t i = 0; first != NULL && elements != NULL && i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    first[i] = at;
    for (size_t v = 0; unit->self != NULL && v < unit->info->n_variables; v++) {
      elements[at++] = n;
      n += yoke__variable_count(&unit->info->variables[v]);
    }
  }
  size_t* owner = malloc((n + 1) * sizeof *owner);
  yoke_status status = YOKE_NO_MEMORY;
  if (first != NULL && elements != NULL && owner != NULL) {
    memset(owner, 0xff, (n + 1) * sizeof *owner);  // YOKE_NOT_FOUND
    claim_inputs(system, first, elements, owner);
    for (size_t i = 0; i < system->n_units; i++) {
      // where connections could not be read, those that are missing are not known
      if (system->units[i].unit.self != NULL && !system->scenario->has_errors &&
          !system->scenario->is_alone) {
        check_unit_inputs(system, &system->units[i], elements + first[i], owner);
      }
    }
    status = YOKE_OK;
  }
  free(first);
  free(elements);
  free(owner);
  return status;
}

yoke_status yoke__system_wire(yoke_system* system) {
  YOKE_TRY(yoke__system_list_links(system));
  const yoke_status clock_status = yoke__system_fit_clock(system);
  if (clock_status < 0 && clock_status != YOKE_BAD_INPUT) {
    return clock_status;
  }
  const bool is_iterative = yoke__system_is_iterative(system);
  const int64_t cycle = is_iterative && clock_status >= 0 ? yoke__system_common_cycle(system) : 0;
  for (size_t i = 0; i < system->n_links; i++) {
    if (resolve_link(system, system->links[i].source, &system->links[i]) && clock_status >= 0) {
      yoke__system_choose_interval(system, &system->links[i], cycle);
    }
  }
  YOKE_TRY(check_inputs(system));
  YOKE_TRY(yoke__system_resolve_bonds(system));
  YOKE_TRY(yoke__system_find_bonds(system));
  YOKE_TRY(yoke__system_choose_flows(system));
  YOKE_TRY(yoke__system_choose_methods(system));
  if (system->messages->n_errors > 0) {
    return YOKE_BAD_INPUT;
  }
  if (is_iterative) {
    system->macro = cycle;
  }
  YOKE_TRY(yoke__system_lay_taps(system));
  return yoke__system_layout_flows(system);
}
