// The system as a graph: units and laws are nodes, connections arrows, bonds thick lines between two nodes. Laying it
// out is left to the page, which knows how wide it is.
#include <stdio.h>

#include "report/report_parts.h"

static const char* const scheme_names[] = {"jacobi", "gauss-seidel", "iterative-jacobi",
                                           "iterative-gauss-seidel"};

static const char* variable_name(const yoke_system* system, size_t unit, size_t variable) {
  return system->units[unit].unit.info->variables[variable].name;
}

static void put_units(const yoke_system* system, yoke_json* json) {
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", unit->name);
    yoke__json_string(json, "model", unit->unit.ops->name);
    yoke__json_string(json, "text", unit->unit.ops->text);
    yoke__json_boolean(json, "is_law", unit->is_law);
    yoke__json_boolean(json, "is_fresh", unit->is_fresh);
    yoke__json_number(json, "step", unit->step);
    yoke__json_integer(json, "n_inputs", (int64_t)unit->unit.n_u);
    yoke__json_integer(json, "n_outputs", (int64_t)unit->unit.n_y);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

// the bond that a connection carries, or -1
static int64_t bond_of(const yoke_system* system, size_t link) {
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    for (size_t k = 0; k < bond->n_pairs; k++) {
      if (bond->action[k].link == link || bond->rate[k].link == link) {
        return (int64_t)i;
      }
    }
  }
  return -1;
}

static void put_link(const yoke_system* system, size_t i, yoke_json* json) {
  const yoke_system_link* link = &system->links[i];
  yoke__json_begin_object(json, NULL);
  yoke__json_integer(json, "from", (int64_t)link->from_unit);
  yoke__json_integer(json, "to", (int64_t)link->to_unit);
  yoke__json_string(json, "output", link->source->from.variable);
  yoke__json_string(json, "input", link->source->to.variable);
  yoke__json_number(json, "every", yoke__clock_seconds(&system->clock, link->interval));
  yoke__json_integer(json, "order", link->order);
  yoke__json_integer(json, "bond", bond_of(system, i));
  yoke__json_end_object(json);
}

// Names of the recorded columns of n elements of a variable.
static void put_columns(const yoke_system* system, size_t unit, size_t variable, size_t first,
                        size_t n, yoke_json* json) {
  for (size_t i = 0; i < system->n_columns; i++) {
    const yoke_system_column* c = &system->column_sources[i];
    if (c->unit == unit && c->variable == variable && c->element >= first &&
        c->element - first < n) {
      yoke__json_string(json, NULL, system->columns[i].name);
    }
  }
}

// One direction of a bond: what it is called, and what was recorded of it at both ends.
static void put_pairs(const yoke_system* system, const char* key, const yoke_system_pair pairs[],
                      size_t n, yoke_json* json) {
  char name[1024];
  yoke__json_begin_object(json, key);
  yoke__json_begin_array(json, "names");
  for (size_t i = 0; i < n; i++) {
    const yoke_system_pair* p = &pairs[i];
    const bool is_moved = p->to_unit != YOKE_NOT_FOUND;
    snprintf(name, sizeof name, "%s.%s%s%s%s%s", system->units[p->from_unit].name,
             variable_name(system, p->from_unit, p->from_variable),
             is_moved ? " \xe2\x86\x92 " : "", is_moved ? system->units[p->to_unit].name : "",
             is_moved ? "." : "",
             is_moved ? variable_name(system, p->to_unit, p->to_variable) : "");
    yoke__json_string(json, NULL, name);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "sent");
  for (size_t i = 0; i < n; i++) {
    put_columns(system, pairs[i].from_unit, pairs[i].from_variable, pairs[i].from_element,
                pairs[i].n, json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "received");
  for (size_t i = 0; i < n; i++) {
    if (pairs[i].to_unit != YOKE_NOT_FOUND) {
      put_columns(system, pairs[i].to_unit, pairs[i].to_variable, pairs[i].to_element, pairs[i].n,
                  json);
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// The two units of a bond: the one that gives the action and the one that gives the rate.
static void put_bond(const yoke_system* system, const yoke_system_bond* bond, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", bond->name);
  yoke__json_boolean(json, "is_found", bond->source == NULL);
  yoke__json_begin_array(json, "ends");
  yoke__json_integer(json, NULL, (int64_t)bond->action_unit);
  yoke__json_integer(json, NULL, (int64_t)bond->rate_unit);
  yoke__json_end_array(json);
  put_pairs(system, "action", bond->action, bond->n_pairs, json);
  put_pairs(system, "rate", bond->rate, bond->n_pairs, json);
  yoke__json_end_object(json);
}

void yoke__report_put_system(const yoke_report_input* input, yoke_json* json) {
  const yoke_system* system = input->system;
  const yoke_scenario* s = system->scenario;
  yoke__json_string(json, "name", s->name);
  yoke__json_string(json, "text", s->text);
  yoke__json_string(json, "file", s->path);
  yoke__json_string(json, "scheme", scheme_names[s->scheme]);
  yoke__json_string(json, "exchange", s->exchange == YOKE_FRESH ? "fresh" : "stale");
  yoke__json_number(json, "step", yoke__clock_seconds(&system->clock, system->macro));
  yoke__json_number(json, "tick", yoke__clock_seconds(&system->clock, 1));
  yoke__json_integer(json, "threads", system->n_threads);
  put_units(system, json);
  yoke__json_begin_array(json, "links");
  for (size_t i = 0; i < system->n_links; i++) {
    put_link(system, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "graph_bonds");
  for (size_t i = 0; i < system->n_bonds; i++) {
    put_bond(system, &system->bonds[i], json);
  }
  yoke__json_end_array(json);
}
