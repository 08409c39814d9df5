// Names in the file to units and variables, with the nearest known name where one is mistyped.
#include <stdio.h>
#include <string.h>

#include "system/system.h"

static bool wants_hint(const yoke_system* system) {
  return system->messages == NULL || !yoke__messages_is_full(system->messages);
}

const char* yoke__system_nearest_unit(const yoke_system* system, const char* name) {
  const char* nearest = NULL;
  for (size_t i = 0; i < system->n_units && wants_hint(system); i++) {
    nearest = yoke__nearer_name(name, nearest, system->units[i].name);
  }
  return nearest;
}

static const char* nearest_variable(const yoke_system* system, const yoke_unit* unit,
                                    const char* name) {
  const char* nearest = NULL;
  for (size_t i = 0; i < unit->info->n_variables && wants_hint(system); i++) {
    nearest = yoke__nearer_name(name, nearest, unit->info->variables[i].name);
  }
  return nearest;
}

// "v[7]" of an array that is shorter; false if the name is not of this kind
static bool report_element(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                           const char* what, const yoke_unit* unit) {
  const char* open = strrchr(endpoint->variable, '[');
  for (size_t i = 0; open != NULL && i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const size_t length = strlen(v->name);
    if (length != (size_t)(open - endpoint->variable) ||
        strncmp(v->name, endpoint->variable, length) != 0) {
      continue;
    }
    const size_t n_rows = v->n_rows == 0 ? 1 : v->n_rows, n_cols = v->n_cols == 0 ? 1 : v->n_cols;
    char size[64];
    if (n_rows > 1 && n_cols > 1) {
      snprintf(size, sizeof size, "%zu x %zu elements", n_rows, n_cols);
    } else {
      snprintf(size, sizeof size, "%zu element%s", n_rows * n_cols,
               n_rows * n_cols == 1 ? "" : "s");
    }
    yoke__error(system->messages, endpoint->place,
                "%s: there is no '%s.%s': '%s' has %s, counted from 0", what, endpoint->unit,
                endpoint->variable, v->name, size);
    return true;
  }
  return false;
}

void yoke__system_number_name(const yoke_system_unit* unit, yoke_causality causality, size_t at,
                              char* to, size_t size) {
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    const size_t dense = unit->unit.dense[v];
    if (variable->causality == causality && dense != YOKE_NOT_DENSE &&
        at - dense < yoke__variable_count(variable)) {
      yoke__system_element_name(unit, variable, at - dense, to, size);
      return;
    }
  }
}

void yoke__system_flow_start(const yoke_system* system, size_t flow, char* to, size_t size) {
  const yoke_system_flow* f = &system->flows[flow];
  const yoke_system_link* link = &system->links[f->link];
  const yoke_system_unit* unit = &system->units[link->from_unit];
  yoke__system_element_name(unit, &unit->unit.info->variables[link->from_variable],
                            link->from_element + f->element, to, size);
}

void yoke__system_flow_end(const yoke_system* system, size_t flow, char* to, size_t size) {
  const yoke_system_flow* f = &system->flows[flow];
  const yoke_system_link* link = &system->links[f->link];
  const yoke_system_unit* unit = &system->units[link->to_unit];
  yoke__system_element_name(unit, &unit->unit.info->variables[link->to_variable],
                            link->to_element + f->element, to, size);
}

// Settings that shape a unit are no variables of it: what would make one of a netlist an input.
static bool report_setting(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                           const char* what, const yoke_system_unit* unit) {
  const yoke_unit_ops* ops = unit->unit.ops;
  size_t i = 0;
  while (i < ops->n_structure && strcmp(ops->structure[i].name, endpoint->variable) != 0) {
    i++;
  }
  if (i == ops->n_structure) {
    return false;
  }
  if (unit->source->kind == YOKE_KIND_CIRCUIT) {
    yoke__error(system->messages, endpoint->place,
                "%s: '%s.%s' is a fixed parameter of the netlist: write .input %s there to make it "
                "an input with the same default",
                what, endpoint->unit, endpoint->variable, endpoint->variable);
  } else {
    yoke__error(system->messages, endpoint->place,
                "%s: '%s.%s' is a fixed parameter of %s, which defines the structure of the unit: "
                "it cannot change during a run",
                what, endpoint->unit, endpoint->variable, ops->name);
  }
  return true;
}

bool yoke__system_resolve(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                          const char* what, size_t* unit, size_t* variable, size_t* element,
                          size_t* n) {
  if (endpoint->unit == NULL || endpoint->variable == NULL) {
    return false;  // reported when the file was read
  }
  *unit = yoke__map_find(&system->unit_index, endpoint->unit);
  if (*unit == YOKE_NOT_FOUND && what == NULL) {
    return false;
  }
  if (*unit == YOKE_NOT_FOUND) {
    const char* nearest = yoke__system_nearest_unit(system, endpoint->unit);
    yoke__error_near(system->messages, endpoint->place, nearest, "%s: unknown unit '%s'", what,
                     endpoint->unit);
    return false;
  }
  const yoke_unit* u = &system->units[*unit].unit;
  if (u->self == NULL) {
    return false;  // it was reported when the unit could not be made
  }
  *element = 0;
  *variable = yoke__unit_find(u, endpoint->variable);
  if (*variable != YOKE_NOT_FOUND) {
    *n = yoke__variable_count(&u->info->variables[*variable]);
    return true;
  }
  if (yoke__unit_find_element(u, endpoint->variable, variable, element)) {
    *n = 1;
    return true;
  }
  if (what == NULL || report_element(system, endpoint, what, u) ||
      report_setting(system, endpoint, what, &system->units[*unit])) {
    return false;
  }
  const char* nearest = nearest_variable(system, u, endpoint->variable);
  yoke__error_near(system->messages, endpoint->place, nearest, "%s: '%s' (%s) has no variable '%s'",
                   what, endpoint->unit, u->ops->name, endpoint->variable);
  return false;
}
