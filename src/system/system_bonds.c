// Bonds and couplings: which variables make a power, which connections a bond brings along, and what method serves whom.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "system/system.h"

// one side of a bond is a real output
static void check_pair(yoke_system* system, const yoke_scenario_pair* source,
                       const yoke_system_pair* pair, const char* side) {
  const yoke_variable* from =
      &system->units[pair->from_unit].unit.info->variables[pair->from_variable];
  if (from->type != YOKE_REAL || from->causality != YOKE_OUTPUT) {
    yoke__error(system->messages, source->from.place, "bond: the %s '%s.%s' is not a real output",
                side, source->from.unit, source->from.variable);
  }
}

static yoke_system_pair* resolve_pairs(yoke_system* system, const yoke_scenario_pair pairs[],
                                       size_t n, const char* side) {
  yoke_system_pair* out = yoke__arena_array(&system->arena, n + 1, sizeof *out);
  for (size_t i = 0; out != NULL && i < n; i++) {
    size_t element = 0, count = 0;
    out[i] = (yoke_system_pair){.from_unit = YOKE_NOT_FOUND, .to_unit = YOKE_NOT_FOUND};
    // an arrow is a connection too, and its ends were reported there
    const char* what = pairs[i].has_to ? NULL : "bond";
    if (yoke__system_resolve(system, &pairs[i].from, what, &out[i].from_unit, &out[i].from_variable,
                             &element, &out[i].n) &&
        !pairs[i].has_to) {
      check_pair(system, &pairs[i], &out[i], side);
    }
    if (pairs[i].has_to) {
      yoke__system_resolve(system, &pairs[i].to, what, &out[i].to_unit, &out[i].to_variable,
                           &element, &count);
    }
  }
  return out;
}

// the product of an action and its rate needs as many elements of one as of the other
static void check_sizes(yoke_system* system, const yoke_scenario_bond* source,
                        const yoke_system_bond* bond) {
  for (size_t i = 0; i < source->n_action && i < source->n_rate; i++) {
    if (bond->action[i].n != bond->rate[i].n && bond->action[i].n > 0 && bond->rate[i].n > 0) {
      yoke__error(system->messages, source->place,
                  "bond '%s': '%s.%s' has %zu elements and '%s.%s' has %zu; their product needs as "
                  "many of one as of the other",
                  source->name, source->action[i].from.unit, source->action[i].from.variable,
                  bond->action[i].n, source->rate[i].from.unit, source->rate[i].from.variable,
                  bond->rate[i].n);
    }
  }
}

// One parameter of the method `hold`: it has the order and nothing else.
static void check_hold_parameter(yoke_system* system, const yoke_node* node) {
  static const char* const keys[] = {"method", "members", "order"};
  for (size_t i = 0; i < 2; i++) {
    if (strcmp(node->key, keys[i]) == 0) {
      return;
    }
  }
  if (strcmp(node->key, keys[2]) != 0) {
    const char* nearest = yoke__nearest_name(node->key, keys, YOKE_COUNT(keys));
    yoke__error(system->messages, node->key_place, "method 'hold' has no parameter '%s'; %s%s%s",
                node->key, nearest == NULL ? "it has: " : "did you mean '",
                nearest == NULL ? keys[2] : nearest, nearest == NULL ? "" : "'?");
    return;
  }
  void* order = NULL;
  size_t n_rows = 0, n_cols = 0;
  if (yoke__node_values(node, YOKE_INTEGER, NULL, "'order'", &system->arena, system->messages,
                        &order, &n_rows, &n_cols) < 0) {
    return;
  }
  if (n_rows * n_cols != 1 || *(int64_t*)order < 0 || *(int64_t*)order > 3) {
    yoke__error(system->messages, node->place, "'order': expected an integer from 0 to 3, found %s",
                node->kind == YOKE_NODE_SCALAR ? node->text : "a list");
  }
}

// The method must be known, and so must its parameters.
static void check_method(yoke_system* system, const yoke_node* map, const char* method,
                         yoke_place place) {
  static const char* const methods[] = {"hold"};
  if (strcmp(method, methods[0]) != 0) {
    const char* nearest = yoke__nearest_name(method, methods, YOKE_COUNT(methods));
    yoke__error(system->messages, place, "unknown coupling method '%s'; %s%s%s", method,
                nearest == NULL ? "known: " : "did you mean '", methods[0],
                nearest == NULL ? "" : "'?");
    return;
  }
  for (const yoke_node* child = map->first; child != NULL; child = child->next) {
    check_hold_parameter(system, child);
  }
}

// the order that a map of method `hold` asks for; check_hold_parameter reports a wrong one
static int hold_order(const yoke_node* map) {
  const yoke_node* node = map == NULL ? NULL : yoke__node_child(map, "order");
  int64_t order = 0;
  const bool is_good = node != NULL && node->text != NULL &&
                       yoke__number_parse_integer(node->text, &order) && order >= 0 && order <= 3;
  return is_good ? (int)order : 0;
}

// A member is a unit or a law. is_member: one flag per unit.
static void mark_members(yoke_system* system, const yoke_node* members, bool is_member[]) {
  for (const yoke_node* name = members == NULL ? NULL : members->first; name != NULL;
       name = name->next) {
    const size_t unit = yoke__map_find(&system->unit_index, name->text == NULL ? "" : name->text);
    if (unit == YOKE_NOT_FOUND) {
      const char* nearest = yoke__system_nearest_unit(system, name->text == NULL ? "" : name->text);
      yoke__error(system->messages, name->place, "coupling: unknown unit '%s'%s%s%s",
                  name->text == NULL ? "" : name->text, nearest == NULL ? "" : "; did you mean '",
                  nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
    } else {
      is_member[unit] = true;
    }
  }
}

// `hold` over a set: its order serves the connections among the members that name none themselves
static yoke_status apply_coupling(yoke_system* system, const yoke_scenario_coupling* coupling) {
  bool* is_member = calloc(system->n_units + 1, sizeof *is_member);
  if (is_member == NULL) {
    return YOKE_NO_MEMORY;
  }
  mark_members(system, yoke__node_child(coupling->node, "members"), is_member);
  const int order = hold_order(coupling->node);
  for (size_t i = 0; i < system->n_links; i++) {
    yoke_system_link* link = &system->links[i];
    const bool is_inside = link->is_dense && is_member[link->from_unit] && is_member[link->to_unit];
    if (is_inside && link->source->order_place.line == 0) {
      link->order = order;
    }
  }
  free(is_member);
  return YOKE_OK;
}

yoke_status yoke__system_resolve_bonds(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  yoke_system_bond* bonds = yoke__arena_array(&system->arena, s->n_bonds + 1, sizeof *bonds);
  if (bonds == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* source = &s->bonds[i];
    bonds[i] = (yoke_system_bond){source->name,
                                  resolve_pairs(system, source->action, source->n_action, "action"),
                                  resolve_pairs(system, source->rate, source->n_rate, "rate"),
                                  source->n_action,
                                  source->n_rate,
                                  source->sign};
    if (bonds[i].action == NULL || bonds[i].rate == NULL) {
      return YOKE_NO_MEMORY;
    }
    check_sizes(system, source, &bonds[i]);
    const yoke_node* method =
        source->coupling == NULL ? NULL : yoke__node_child(source->coupling, "method");
    if (method != NULL && method->text != NULL) {
      check_method(system, source->coupling, method->text, method->place);
    }
  }
  for (size_t i = 0; i < s->n_couplings; i++) {
    if (s->couplings[i].method != NULL) {
      check_method(system, s->couplings[i].node, s->couplings[i].method,
                   s->couplings[i].method_place);
      YOKE_TRY(apply_coupling(system, &s->couplings[i]));
    }
  }
  system->bonds = bonds;
  system->n_bonds = s->n_bonds;
  return YOKE_OK;
}

static bool is_same_end(const yoke_scenario_endpoint* a, const yoke_scenario_endpoint* b) {
  return a->unit != NULL && b->unit != NULL && a->variable != NULL && b->variable != NULL &&
         strcmp(a->unit, b->unit) == 0 && strcmp(a->variable, b->variable) == 0;
}

// an arrow in a bond is a connection, unless the file lists that connection anyway
static yoke_status add_bond_link(yoke_system* system, const yoke_scenario_pair* pair, int order) {
  const yoke_scenario* s = system->scenario;
  for (size_t i = 0; i < s->n_connections; i++) {
    if (is_same_end(&s->connections[i].from, &pair->from) &&
        is_same_end(&s->connections[i].to, &pair->to)) {
      return YOKE_OK;
    }
  }
  yoke_scenario_connection* c = yoke__arena_take(&system->arena, sizeof *c);
  if (c == NULL) {
    return YOKE_NO_MEMORY;
  }
  *c = (yoke_scenario_connection){.from = pair->from,
                                  .to = pair->to,
                                  .gain = 1,
                                  .order = order,
                                  .place = pair->from.place,
                                  .order_place = pair->from.place};
  system->links[system->n_links++].source = c;
  return YOKE_OK;
}

yoke_status yoke__system_list_links(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  size_t n = s->n_connections;
  for (size_t i = 0; i < s->n_bonds; i++) {
    n += s->bonds[i].n_action + s->bonds[i].n_rate;
  }
  system->links = yoke__arena_array(&system->arena, n + 1, sizeof *system->links);
  if (system->links == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (; system->n_links < s->n_connections; system->n_links++) {
    system->links[system->n_links].source = &s->connections[system->n_links];
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* bond = &s->bonds[i];
    const int order = hold_order(bond->coupling);
    for (size_t j = 0; j < bond->n_action + bond->n_rate; j++) {
      const yoke_scenario_pair* pair =
          j < bond->n_action ? &bond->action[j] : &bond->rate[j - bond->n_action];
      if (pair->has_to) {
        YOKE_TRY(add_bond_link(system, pair, order));
      }
    }
  }
  return YOKE_OK;
}
