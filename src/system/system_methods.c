// Coupling methods: which one serves which connection or bond, with which settings, and where it is refused.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "couple/couple.h"
#include "couple/couple_auto.h"
#include "couple/couple_hold.h"
#include "system/system.h"

#define MAX_METHODS 64  // of a library
#define USUAL_CALLS 10  // per exchange, of what is advised

int yoke__system_method_order(const yoke_node* map) {
  const yoke_node* node = map == NULL ? NULL : yoke__node_child(map, "order");
  int64_t order = 0;
  const bool is_good = node != NULL && node->text != NULL &&
                       yoke__number_parse_integer(node->text, &order) && order >= 0 && order <= 3;
  return is_good ? (int)order : -1;
}

// Whether a map names this method of Yoke's own.
static bool names(const yoke_node* map, const yoke_coupling_ops* ops) {
  const yoke_node* name = map == NULL ? NULL : yoke__node_child(map, "method");
  return name != NULL && name->text != NULL && yoke__coupling_find(name->text) == ops &&
         yoke__node_child(map, "library") == NULL;
}

bool yoke__system_names_auto(const yoke_node* map) {
  return names(map, &yoke__couple_auto);
}

// ---------------------------------------------------------------------------------------------------------
// settings

static void report_unknown(yoke_system* system, const yoke_coupling_ops* ops,
                           const yoke_node* node) {
  const char* names[64] = {"order"};
  size_t n = 1;
  char all[640] = "order";
  for (size_t i = 0; i < yoke__registry_n_settings(ops) && n < 64; i++) {
    names[n] = yoke__registry_setting_name(ops, i);
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, ", %s", names[n++]);
  }
  const char* nearest = yoke__nearest_name(node->key, names, n);
  yoke__error_near(system->messages, node->key_place, nearest,
                   "method '%s' has no parameter '%s'%s%s", ops->name, node->key,
                   nearest == NULL ? "; it has: " : "", nearest == NULL ? all : "");
}

static void check_order(yoke_system* system, const yoke_node* node) {
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

// "a number from 0 to 1", "a number that is 0 or greater"
static void range_text(const yoke_coupling_parameter* parameter, char* to, size_t size) {
  char low[YOKE_NUMBER_SIZE], high[YOKE_NUMBER_SIZE];
  yoke__number_format(parameter->min, low);
  yoke__number_format(parameter->max, high);
  if (yoke__is_finite(parameter->max)) {
    snprintf(to, size, "a number from %s to %s", low, high);
  } else if (parameter->min == DBL_MIN) {
    snprintf(to, size, "a number greater than 0");
  } else {
    snprintf(to, size, "a number that is %s or greater", low);
  }
}

static void read_parameter(yoke_system* system, const yoke_coupling_parameter* parameter,
                           const yoke_node* node, double* to) {
  char what[128];
  snprintf(what, sizeof what, "'%s'", parameter->name);
  void* value = NULL;
  size_t n_rows = 0, n_cols = 0;
  const yoke_type type = parameter->items == NULL ? YOKE_REAL : YOKE_ENUMERATION;
  if (yoke__node_values(node, type, parameter->items, what, &system->arena, system->messages,
                        &value, &n_rows, &n_cols) < 0) {
    return;
  }
  const double x = type == YOKE_REAL ? *(double*)value : (double)*(int64_t*)value;
  if (n_rows * n_cols != 1 ||
      (type == YOKE_REAL && !(x >= parameter->min && x <= parameter->max))) {
    char range[3 * YOKE_NUMBER_SIZE];
    range_text(parameter, range, sizeof range);
    yoke__error(system->messages, node->place, "'%s': expected %s, found %s", parameter->name,
                range, node->kind == YOKE_NODE_SCALAR ? node->text : "a list");
    return;
  }
  *to = x;
}

// The path of a file; relative ones start at the system file.
static yoke_status read_file(yoke_system* system, const yoke_node* node, const char** to) {
  if (node->kind != YOKE_NODE_SCALAR || node->text == NULL || node->text[0] == '\0') {
    yoke__error(system->messages, node->place, "'%s': expected the name of a file", node->key);
    return YOKE_OK;
  }
  const char* directory = system->scenario->directory;
  const char* from = node->text[0] == '/' || directory == NULL ? "" : directory;
  const size_t n =
      from[0] == '\0' ? strlen(node->text) + 1 : yoke__os_path_join(from, node->text, NULL, 0) + 1;
  char* path = yoke__arena_take(&system->arena, n);
  YOKE_TRY_MEMORY(path);
  if (from[0] == '\0') {
    memcpy(path, node->text, n);
  } else {
    yoke__os_path_join(from, node->text, path, n);
  }
  *to = path;
  return YOKE_OK;
}

static size_t find_parameter(const yoke_coupling_ops* ops, const char* name) {
  size_t i = 0;
  while (i < ops->n_parameters && strcmp(ops->parameters[i].name, name) != 0) {
    i++;
  }
  return i;
}

static size_t find_file(const yoke_coupling_ops* ops, const char* name) {
  size_t i = 0;
  while (i < ops->n_files && strcmp(ops->files[i].name, name) != 0) {
    i++;
  }
  return i;
}

static size_t find_signals(const yoke_coupling_ops* ops, const char* name) {
  size_t i = 0;
  while (i < ops->n_signals && strcmp(ops->signals[i].name, name) != 0) {
    i++;
  }
  return i;
}

// One output that a setting names, as `unit.variable` or `unit.variable[i]`.
static yoke_status read_signal(yoke_system* system, const yoke_node* node, const char* key,
                               yoke_system_named* to, bool* is_good) {
  const char* text = node->kind == YOKE_NODE_SCALAR && node->text != NULL ? node->text : "";
  const char* dot = strchr(text, '.');
  *is_good = false;
  if (dot == NULL || dot == text || dot[1] == '\0') {
    yoke__error(system->messages, node->place, "'%s': expected 'unit.variable', found '%s'", key,
                text);
    return YOKE_OK;
  }
  const char* unit = yoke__arena_text(&system->arena, text, (size_t)(dot - text));
  YOKE_TRY_MEMORY(unit);
  const yoke_scenario_endpoint end = {.unit = unit, .variable = dot + 1, .place = node->place};
  if (!yoke__system_resolve(system, &end, key, &to->unit, &to->variable, &to->element, &to->n)) {
    return YOKE_OK;
  }
  const yoke_variable* v = &system->units[to->unit].unit.info->variables[to->variable];
  if (v->causality != YOKE_OUTPUT || v->type != YOKE_REAL) {
    yoke__error(system->messages, node->place, "'%s': expected a real output, but '%s' is none",
                key, text);
    return YOKE_OK;
  }
  *is_good = true;
  return YOKE_OK;
}

// One or a list of them.
static yoke_status read_signals(yoke_system* system, const yoke_node* node, size_t key,
                                yoke_system_named to[], size_t* n) {
  const bool is_list = node->kind == YOKE_NODE_LIST;
  for (const yoke_node* one = is_list ? node->first : node; one != NULL;
       one = is_list ? one->next : NULL) {
    yoke_system_named found = {.key = key};
    bool is_good = false;
    YOKE_TRY(read_signal(system, one, node->key, &found, &is_good));
    if (is_good) {
      to[(*n)++] = found;
    }
  }
  return YOKE_OK;
}

static size_t count_signals(const yoke_coupling_ops* ops, const yoke_node* map) {
  size_t n = 0;
  for (const yoke_node* node = map->first; node != NULL; node = node->next) {
    n += find_signals(ops, node->key) < ops->n_signals
             ? 1 + (node->kind == YOKE_NODE_LIST ? node->n_children : 0)
             : 0;
  }
  return n;
}

// The settings of a method from its map.
static yoke_status read_settings(yoke_system* system, yoke_system_method* method,
                                 const yoke_node* map) {
  const yoke_coupling_ops* ops = method->ops;
  double* values = yoke__arena_array(&system->arena, ops->n_parameters + 1, sizeof *values);
  const char** files = yoke__arena_array(&system->arena, ops->n_files + 1, sizeof *files);
  yoke_system_named* named =
      yoke__arena_array(&system->arena, count_signals(ops, map) + 1, sizeof *named);
  YOKE_TRY_MEMORY(values && files && named);
  for (size_t i = 0; i < ops->n_parameters; i++) {
    values[i] = ops->parameters[i].start;
  }
  for (const yoke_node* node = map->first; node != NULL; node = node->next) {
    const size_t i = find_parameter(ops, node->key), f = find_file(ops, node->key);
    const size_t s = find_signals(ops, node->key);
    if (i < ops->n_parameters) {
      read_parameter(system, &ops->parameters[i], node, &values[i]);
    } else if (f < ops->n_files) {
      YOKE_TRY(read_file(system, node, &files[f]));
    } else if (s < ops->n_signals) {
      YOKE_TRY(read_signals(system, node, s, named, &method->n_named));
    } else if (strcmp(node->key, "order") == 0) {
      check_order(system, node);
    } else if (!yoke__registry_is_method_key(node->key)) {
      report_unknown(system, ops, node);
    }
  }
  method->parameters = values;
  method->files = files;
  method->named = named;
  return YOKE_OK;
}

// A method of the user's own shared library, or NULL after a message.
static const yoke_coupling_ops* find_own_method(yoke_system* system, const yoke_node* file,
                                                const char* name, yoke_place place) {
  const char* path = NULL;
  const yoke_shared_library* library = NULL;
  YOKE_CATCH(why);
  if (read_file(system, file, &path) < 0 || path == NULL) {
    return NULL;
  }
  yoke_status status = system->store == NULL ? yoke__unit_store_create(&system->store) : YOKE_OK;
  if (status >= 0) {
    status = yoke__unit_store_library(system->store, path, &library, &why.sink);
  }
  if (status < 0) {
    yoke__messages_fail(system->messages, status, file->place, "library '%.300s': %s", path,
                        why.text[0] == '\0' ? yoke_status_text(status) : why.text);
    return NULL;
  }
  const yoke_library_table* table = &library->table;
  const char* names[MAX_METHODS];
  size_t n = 0;
  for (; n < table->n_couplings && n < MAX_METHODS; n++) {
    const yoke_coupling_ops* ops = table->couplings[n];
    names[n] = ops->name == NULL ? "" : ops->name;
    if (strcmp(names[n], name) == 0) {
      const bool is_good = yoke__registry_check_coupling(ops, &why.sink) >= 0;
      if (!is_good) {
        yoke__error(system->messages, file->place, "library '%.300s': %s", path, why.text);
      }
      return is_good ? ops : NULL;
    }
  }
  const char* nearest = yoke__nearest_name(name, names, n);
  if (n == 0) {
    yoke__error(system->messages, file->place, "library '%.300s': it holds no coupling methods",
                path);
  } else {
    yoke__error_near(system->messages, place, nearest,
                     "library '%.300s': it has no coupling method '%.200s'%s%s%s", path, name,
                     nearest == NULL ? "; its first one is '" : "", nearest == NULL ? names[0] : "",
                     nearest == NULL ? "'" : "");
  }
  return NULL;
}

// the method of a map, or NULL after a message
static const yoke_coupling_ops* find_method(yoke_system* system, const yoke_node* map,
                                            const char* name, yoke_place place) {
  const yoke_node* file = yoke__node_child(map, "library");
  if (file != NULL) {
    return find_own_method(system, file, name, place);
  }
  const yoke_coupling_ops* ops = yoke__registry_find_coupling(system->registry, name);
  if (ops != NULL) {
    return ops;
  }
  const char* names[16];
  char all[256] = "";
  size_t n = 0;
  for (; n < 16 && yoke_registry_coupling(system->registry, n) != NULL; n++) {
    names[n] = yoke_registry_coupling(system->registry, n)->name;
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", n == 0 ? "" : ", ", names[n]);
  }
  const char* nearest = yoke__nearest_name(name, names, n);
  yoke__error_near(system->messages, place, nearest, "unknown coupling method '%s'%s%s", name,
                   nearest == NULL ? "; known: " : "", nearest == NULL ? all : "");
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------
// where a method is valid

static void check_scheme(yoke_system* system, const yoke_system_method* method) {
  static const char* const schemes[] = {"jacobi", "gauss-seidel", "iterative-jacobi",
                                        "iterative-gauss-seidel"};
  if ((method->ops->flags & YOKE_COUPLING_JACOBI) != 0 && system->scenario->scheme != YOKE_JACOBI) {
    yoke__error(
        system->messages, method->place,
        "%s: method '%s' is valid for scheme: jacobi only; it has not been validated under %s",
        method->owner, method->ops->name, schemes[system->scenario->scheme]);
  }
}

// A fresh unit passes its input on at the exchange, before the method has changed it.
static bool is_passed_on(const yoke_system_unit* unit, size_t input) {
  for (size_t i = 0; i < unit->unit.info->n_feedthrough; i++) {
    if (unit->is_fresh && unit->unit.info->feedthrough[i].input == input) {
      return true;
    }
  }
  return false;
}

// Whether check_link would have nothing to say.
static bool can_serve(const yoke_system* system, const yoke_coupling_ops* ops,
                      const yoke_system_link* link) {
  const yoke_system_unit* to = &system->units[link->to_unit];
  return ((ops->flags & YOKE_COUPLING_SUBSTEPS) == 0 || link->interval > to->period) &&
         ((ops->flags & YOKE_COUPLING_CLUSTER) == 0 || !to->is_fresh) &&
         (ops == &yoke__couple_hold || (ops->flags & YOKE_COUPLING_DELAYS) != 0 ||
          link->delay == 0);
}

static void check_link(yoke_system* system, const yoke_system_method* method,
                       const yoke_system_link* link) {
  const yoke_system_unit* to = &system->units[link->to_unit];
  const yoke_scenario_connection* c = link->source;
  const bool is_bond = (method->ops->flags & YOKE_COUPLING_BOND) != 0;
  if ((method->ops->flags & YOKE_COUPLING_SUBSTEPS) != 0 && link->interval <= to->period) {
    yoke__error(
        system->messages, method->place,
        "%s: method '%s' shapes the input between exchanges, but '%s' is called only once per "
        "exchange of %s.%s; give it a smaller step, such as `step: %g`, or the connection a longer "
        "`exchange`",
        method->owner, method->ops->name, to->name, c->from.unit, c->from.variable,
        yoke__clock_seconds(&system->clock, link->interval) / USUAL_CALLS);
  }
  if (is_bond && is_passed_on(to, link->to_variable)) {
    yoke__error(system->messages, method->place,
                "%s: method '%s' changes what '%s' gets for its next step, but with exchange: "
                "fresh '%s' passes %s on before that: give the unit exchange: stale, or the method "
                "to the connection behind it",
                method->owner, method->ops->name, to->name, to->name, c->to.variable);
  }
  if ((method->ops->flags & YOKE_COUPLING_CLUSTER) != 0 && to->is_fresh) {
    yoke__error(system->messages, method->place,
                "%s: method '%s' takes the outputs of all members at the same instant, but with "
                "exchange: fresh '%s' gives its own later: give the unit exchange: stale",
                method->owner, method->ops->name, to->name);
  }
  if (!is_bond && method->ops != &yoke__couple_hold &&
      (method->ops->flags & YOKE_COUPLING_DELAYS) == 0 && link->delay > 0) {
    yoke__error(system->messages, method->place,
                "%s: method '%s' does not work on the delayed connection %s.%s -> %s.%s",
                method->owner, method->ops->name, c->from.unit, c->from.variable, c->to.unit,
                c->to.variable);
  }
}

static void warn_of_settings(yoke_system* system, const yoke_system_method* method) {
  const char* danger = method->ops->warn == NULL ? NULL : method->ops->warn(method->parameters);
  if (danger != NULL) {
    yoke__message_add(system->messages, YOKE_WARNING, method->place, "%s: method '%s': %s",
                      method->owner, method->ops->name, danger);
  }
}

static size_t add_method(yoke_system* system, const yoke_system_method* method) {
  system->methods[system->n_methods] = *method;
  return system->n_methods++;
}

// No method has it, and it may get one.
static bool is_free(const yoke_system_link* link) {
  return link->method == 0 && !link->is_held && !link->is_auto && link->flow != YOKE_FLOW_AVERAGED;
}

// another method already has a part of the action
static bool is_action_taken(const yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    const size_t link = bond->action[i].link;
    if (link != YOKE_NOT_FOUND && !is_free(&system->links[link])) {
      return true;
    }
  }
  return false;
}

static void refuse_own(yoke_system* system, const yoke_system_method* method,
                       const yoke_system_link* link) {
  const yoke_scenario_connection* c = link->source;
  yoke__error(system->messages, method->place,
              "%s: method '%s' cannot be used for %s.%s -> %s.%s, which has its own 'method: %s'",
              method->owner, method->ops->name, c->from.unit, c->from.variable, c->to.unit,
              c->to.variable,
              c->coupling != NULL ? yoke__node_child(c->coupling, "method")->text
              : c->is_held        ? "hold"
                                  : "auto");
}

// the connections of a bond that a method takes: the action for those that need a bond, else both ways
static void serve_bond(yoke_system* system, yoke_system_bond* bond, size_t index,
                       yoke_system_method method, bool is_forced) {
  const bool is_action_only = (method.ops->flags & YOKE_COUPLING_BOND) != 0;
  const bool needs_mu = (method.ops->flags & YOKE_COUPLING_NEEDS_MU) != 0;
  method.bond = is_action_only ? index : YOKE_NOT_FOUND;
  const size_t id = add_method(system, &method);
  for (size_t i = 0; i < 2 * bond->n_pairs; i++) {
    const bool is_action = i < bond->n_pairs;
    const yoke_system_pair* pair = is_action ? &bond->action[i] : &bond->rate[i - bond->n_pairs];
    if (needs_mu && pair->link != YOKE_NOT_FOUND) {
      yoke_system_link* link = &system->links[pair->link];
      if (!is_action && link->source->is_auto) {
        refuse_own(system, &method, link);  // mu is that of held signals
      }
      link->is_named = true;
    }
    if (!is_action && is_action_only) {
      continue;
    }
    const bool is_law =
        pair->link != YOKE_NOT_FOUND && system->units[system->links[pair->link].to_unit].is_law;
    if (pair->link == YOKE_NOT_FOUND || is_law) {
      if (is_forced && is_action) {
        yoke__error(system->messages, method.place,
                    "%s: method '%s' needs the action to travel to the unit that returns the rate; "
                    "write it as an arrow",
                    method.owner, method.ops->name);
      }
      continue;
    }
    yoke_system_link* link = &system->links[pair->link];
    if (link->source->coupling != NULL && !is_action_only) {
      continue;  // what a connection names itself counts more
    }
    if ((link->source->is_held || link->source->is_auto || link->source->coupling != NULL) &&
        is_forced) {
      refuse_own(system, &method, link);
    }
    if (is_free(link) || is_forced) {
      link->method = id;
      check_link(system, &method, link);
    }
  }
}

// order, `method: hold` and `method: auto` of a bond, for its connections both ways; what a connection names itself counts more
static void set_bond_orders(yoke_system* system, const yoke_system_bond* bond) {
  const yoke_node* map = bond->source == NULL ? NULL : bond->source->coupling;
  const int order = yoke__system_method_order(map);
  const bool is_held = names(map, &yoke__couple_hold), is_auto = yoke__system_names_auto(map);
  for (size_t i = 0; i < 2 * bond->n_pairs; i++) {
    const yoke_system_pair* pair =
        i < bond->n_pairs ? &bond->action[i] : &bond->rate[i - bond->n_pairs];
    if (pair->link == YOKE_NOT_FOUND) {
      if (order > 0 && pair->to_unit != YOKE_NOT_FOUND && system->messages->n_errors == 0) {
        yoke__error(
            system->messages, bond->place,
            "bond '%s': %s.%s is not a real input: it cannot be extrapolated, remove 'order'",
            bond->name, system->units[pair->to_unit].name,
            system->units[pair->to_unit].unit.info->variables[pair->to_variable].name);
      }
      continue;
    }
    yoke_system_link* link = &system->links[pair->link];
    const bool is_law = system->units[link->to_unit].is_law;
    link->is_held = link->is_held || (is_held && !link->is_auto && !is_law);
    link->is_auto = link->is_auto || (is_auto && !link->is_held && !is_law);
    if (order >= 0 && !link->has_order) {
      link->order = order;
      link->has_order = true;
    }
  }
}

// False after an error in its names.
static bool has_ends(const yoke_system* system, const yoke_system_link* link) {
  return link->from_unit < system->n_units && link->to_unit < system->n_units;
}

// ---------------------------------------------------------------------------------------------------------
// `coupling` of a connection

static bool is_for_one(yoke_system* system, const yoke_system_method* method) {
  const bool is_bond = (method->ops->flags & YOKE_COUPLING_BOND) != 0;
  if (is_bond || (method->ops->flags & YOKE_COUPLING_CLUSTER) != 0) {
    yoke__error(system->messages, method->place,
                "%s: method '%s' needs more than one connection: name it in %s", method->owner,
                method->ops->name,
                is_bond ? "the 'coupling' of a bond" : "an entry of 'couplings'");
    return false;
  }
  return true;
}

static yoke_status serve_connection(yoke_system* system, yoke_system_link* link) {
  const yoke_node* map = link->source->coupling;
  const yoke_node* name = yoke__node_child(map, "method");
  const yoke_scenario_connection* c = link->source;
  const int order = yoke__system_method_order(map);
  char owner[400];
  snprintf(owner, sizeof owner, "%.90s.%.90s -> %.90s.%.90s", c->from.unit, c->from.variable,
           c->to.unit, c->to.variable);
  yoke_system_method method = {.ops = find_method(system, map, name->text, name->place),
                               .owner = yoke__arena_text(&system->arena, owner, strlen(owner)),
                               .name = c->to.variable,
                               .is_own = yoke__node_child(map, "library") != NULL,
                               .place = name->place,
                               .bond = YOKE_NOT_FOUND};
  YOKE_TRY_MEMORY(method.owner);
  if (method.ops == NULL || !is_for_one(system, &method)) {
    return YOKE_OK;
  }
  YOKE_TRY(read_settings(system, &method, map));
  check_scheme(system, &method);
  warn_of_settings(system, &method);
  if (!link->is_dense || system->units[link->to_unit].is_law) {
    yoke__error(system->messages, method.place,
                "%s: method '%s' works only for real inputs of units", method.owner,
                method.ops->name);
    return YOKE_OK;
  }
  if (order >= 0 && !link->has_order) {
    link->order = order;
    link->has_order = true;
  }
  link->is_held = method.ops == &yoke__couple_hold;
  link->is_auto = method.ops == &yoke__couple_auto;
  if (!link->is_held && !link->is_auto) {
    link->method = add_method(system, &method);
    check_link(system, &method, link);
  }
  return YOKE_OK;
}

static yoke_status serve_connections(yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_node* map = system->links[i].source->coupling;
    const yoke_node* name = map == NULL ? NULL : yoke__node_child(map, "method");
    if (name != NULL && name->text != NULL && system->links[i].is_resolved) {
      YOKE_TRY(serve_connection(system, &system->links[i]));
    }
  }
  return YOKE_OK;
}

static yoke_status serve_bonds_of_file(yoke_system* system) {
  for (size_t i = 0; i < system->n_bonds; i++) {
    yoke_system_bond* bond = &system->bonds[i];
    const yoke_node* map = bond->source == NULL ? NULL : bond->source->coupling;
    const yoke_node* name = map == NULL ? NULL : yoke__node_child(map, "method");
    if (name == NULL || name->text == NULL) {
      continue;
    }
    char owner[160];
    snprintf(owner, sizeof owner, "bond '%s'", bond->name);
    yoke_system_method method = {.ops = find_method(system, map, name->text, name->place),
                                 .owner = yoke__arena_text(&system->arena, owner, strlen(owner)),
                                 .name = bond->name,
                                 .is_own = yoke__node_child(map, "library") != NULL,
                                 .place = name->place,
                                 .bond = YOKE_NOT_FOUND};
    if (method.ops == NULL) {
      continue;
    }
    YOKE_TRY_MEMORY(method.owner);
    YOKE_TRY(read_settings(system, &method, map));
    check_scheme(system, &method);
    warn_of_settings(system, &method);
    if (bond->ledger.kind == YOKE_BOND_HEAT && (method.ops->flags & YOKE_COUPLING_BOND) != 0) {
      yoke__error(system->messages, name->place,
                  "bond '%s': heat flow times temperature is not a power; method '%s' cannot "
                  "correct it",
                  bond->name, method.ops->name);
      continue;
    }
    if (method.ops != &yoke__couple_hold && method.ops != &yoke__couple_auto) {
      serve_bond(system, bond, i, method, true);
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// couplings: a method over a set of units

// A member is a unit or a law. is_member: one flag per unit.
static void mark_members(yoke_system* system, const yoke_scenario_coupling* coupling,
                         bool is_member[]) {
  const yoke_node* members = yoke__node_child(coupling->node, "members");
  for (const yoke_node* name = members == NULL ? NULL : members->first; name != NULL;
       name = name->next) {
    const size_t unit = yoke__map_find(&system->unit_index, name->text == NULL ? "" : name->text);
    if (unit == YOKE_NOT_FOUND) {
      const char* nearest = yoke__system_nearest_unit(system, name->text == NULL ? "" : name->text);
      yoke__error_near(system->messages, name->place, nearest, "coupling '%s': unknown unit '%s'",
                       coupling->name, name->text == NULL ? "" : name->text);
    } else {
      is_member[unit] = true;
    }
  }
}

// the order of a coupling for all connections between its members; what one of them, or its bond, names counts more
static void set_orders(yoke_system* system, const bool is_member[], int order) {
  for (size_t i = 0; i < system->n_links && order >= 0; i++) {
    yoke_system_link* link = &system->links[i];
    if (link->is_dense && is_member[link->from_unit] && is_member[link->to_unit] &&
        !link->has_order && link->flow != YOKE_FLOW_AVERAGED) {
      link->order = order;
    }
  }
}

static void serve_links(yoke_system* system, const yoke_system_method* method,
                        const bool is_member[], const yoke_scenario_coupling* coupling) {
  const bool is_auto = method->ops == &yoke__couple_auto;
  const bool is_hold = method->ops == &yoke__couple_hold;
  const bool has_order = yoke__system_method_order(coupling->node) >= 0;
  const size_t id = is_hold || is_auto ? 0 : add_method(system, method);
  bool is_any = false;
  for (size_t i = 0; i < system->n_links; i++) {
    yoke_system_link* link = &system->links[i];
    if (!link->is_dense || !is_member[link->from_unit] || !is_member[link->to_unit]) {
      continue;
    }
    is_any = is_any || is_hold;
    link->is_named = link->is_named || is_hold;
    const bool is_served = !is_hold && is_free(link) && !system->units[link->to_unit].is_law &&
                           (!coupling->is_where_possible || can_serve(system, method->ops, link));
    is_any = is_any || is_served;
    link->is_auto = link->is_auto || (is_served && is_auto);
    link->has_order = link->has_order || (is_served && is_auto && has_order);
    if (is_served && !is_auto) {
      link->method = id;
      check_link(system, method, link);
    }
  }
  if (!is_any && system->messages->n_errors == 0) {
    yoke__message_add(
        system->messages, YOKE_WARNING, method->place,
        "%s has no effect: all connections between its members already use another method",
        method->owner);
  }
}

static yoke_status serve_coupling(yoke_system* system, const yoke_scenario_coupling* coupling) {
  bool* is_member = calloc(system->n_units + 1, sizeof *is_member);
  YOKE_TRY_MEMORY(is_member);
  mark_members(system, coupling, is_member);
  char owner[160];
  snprintf(owner, sizeof owner, "coupling '%s'", coupling->name);
  const yoke_coupling_ops* ops =
      find_method(system, coupling->node, coupling->method, coupling->method_place);
  yoke_system_method method = {.ops = ops,
                               .is_own = yoke__node_child(coupling->node, "library") != NULL,
                               .owner = yoke__arena_text(&system->arena, owner, strlen(owner)),
                               .name = coupling->name,
                               .place = coupling->method_place,
                               .bond = YOKE_NOT_FOUND};
  yoke_status status = method.owner == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (method.ops != NULL && status >= 0) {
    set_orders(system, is_member, yoke__system_method_order(coupling->node));
    status = read_settings(system, &method, coupling->node);
    check_scheme(system, &method);
    if (status >= 0) {
      warn_of_settings(system, &method);
    }
    const bool is_for_bonds = (method.ops->flags & YOKE_COUPLING_BOND) != 0;
    size_t n_served = 0, n_taken = 0;
    for (size_t i = 0; i < system->n_bonds && is_for_bonds && status >= 0; i++) {
      yoke_system_bond* bond = &system->bonds[i];
      if (is_member[bond->action_unit] && is_member[bond->rate_unit] &&
          bond->ledger.kind == YOKE_BOND_POWER) {
        const bool is_taken = is_action_taken(system, bond);
        n_taken += is_taken;
        n_served += !is_taken;
        if (!is_taken) {
          serve_bond(system, bond, i, method, false);
        }
      }
    }
    if (is_for_bonds && n_served == 0 && n_taken > 0) {
      yoke__message_add(system->messages, YOKE_WARNING, method.place,
                        "%s has no effect: the actions of all bonds between its members already "
                        "use another method",
                        method.owner);
    } else if (is_for_bonds && n_served == 0) {
      yoke__error(system->messages, method.place,
                  "%s: method '%s' needs a bond, and there is none between its members",
                  method.owner, method.ops->name);
    }
    if (status >= 0 && !is_for_bonds) {
      serve_links(system, &method, is_member, coupling);
    }
  }
  free(is_member);
  return status;
}

// ---- clusters: one exchange interval

// The shortest interval of the connections that a method serves, of one unit or of all (YOKE_NOT_FOUND); 0: it serves none.
static int64_t shortest_interval(const yoke_system* system, size_t method, size_t unit) {
  int64_t shortest = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const bool is_of_unit =
        unit == YOKE_NOT_FOUND || link->from_unit == unit || link->to_unit == unit;
    if (link->method == method && is_of_unit && (shortest == 0 || link->interval < shortest)) {
      shortest = link->interval;
    }
  }
  return shortest;
}

static void report_left_out(yoke_system* system, size_t method, const char* what, int64_t interval,
                            int64_t shortest) {
  char own[YOKE_NUMBER_SIZE], others[YOKE_NUMBER_SIZE];
  yoke__number_format(yoke__clock_seconds(&system->clock, interval), own);
  yoke__number_format(yoke__clock_seconds(&system->clock, shortest), others);
  yoke__message_add(
      system->messages, YOKE_WARNING, system->methods[method].place,
      "%s: %s exchanges every %s s, the cluster every %s s: it is left out of the cluster",
      system->methods[method].owner, what, own, others);
}

// A cluster exchanges everything at once, as often as its fastest connections. Slower ones stay outside of it: no interval
// is lengthened for the sake of a method.
static void leave_slow(yoke_system* system, size_t method) {
  const int64_t shortest = shortest_interval(system, method, YOKE_NOT_FOUND);
  char what[512];
  for (size_t i = 0; i < system->n_units; i++) {
    const int64_t own = shortest_interval(system, method, i);
    if (own > shortest) {
      snprintf(what, sizeof what, "unit '%s'", system->units[i].name);
      report_left_out(system, method, what, own, shortest);
    }
  }
  // a fast unit may have a connection that names a longer interval
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->method == method && link->interval > shortest &&
        shortest_interval(system, method, link->from_unit) == shortest &&
        shortest_interval(system, method, link->to_unit) == shortest) {
      snprintf(what, sizeof what, "%.120s.%.120s -> %.120s.%.120s", link->source->from.unit,
               link->source->from.variable, link->source->to.unit, link->source->to.variable);
      report_left_out(system, method, what, link->interval, shortest);
    }
  }
  for (size_t i = 0; i < system->n_links; i++) {
    yoke_system_link* link = &system->links[i];
    link->method = link->method == method && link->interval > shortest ? 0 : link->method;
  }
}

// A method that knows no means counts on values at the start of calls, of outputs as they were returned.
static void keep_starts(yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->method > 0 && system->methods[link->method].ops->input_mean == NULL) {
      system->units[link->from_unit].keeps_start = true;
      system->units[link->to_unit].keeps_start = true;
    }
  }
}

// `method: auto` where nothing is served by it: said once.
static void warn_of_auto(yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    if (system->links[i].is_auto && has_ends(system, &system->links[i]) &&
        !yoke__system_has_auto(system, &system->units[system->links[i].to_unit])) {
      yoke__message_add(system->messages, YOKE_WARNING, system->links[i].source->place,
                        "'method: auto' needs inputs: mean, scheme: jacobi and a fixed step; here "
                        "its signals are held, or extrapolated by the order they name");
      return;
    }
  }
}

// Whether a unit takes its inputs at an instant: nothing lies between two exchanges.
static bool is_sampled(const yoke_unit* unit) {
  return unit->info != NULL && (unit->info->flags & YOKE_UNIT_SAMPLED) != 0;
}

// Whether an output stays between the times at which it moves.
static bool is_held_by_sender(const yoke_unit* from, size_t variable) {
  return is_sampled(from) || (from->info != NULL && (from->info->variables[variable].flags &
                                                     YOKE_VARIABLE_DISCRETE) != 0);
}

// What is left without a method, an order or `method: hold`, and what names `method: auto`: an order is the highest there.
static void serve_rest(yoke_system* system) {
  size_t id = 0;
  warn_of_auto(system);
  for (size_t i = 0; i < system->n_links; i++) {
    yoke_system_link* link = &system->links[i];
    if (!link->is_dense || !has_ends(system, link)) {
      continue;
    }
    const yoke_system_unit* to = &system->units[link->to_unit];
    const yoke_unit* from = &system->units[link->from_unit].unit;
    const bool is_left = !link->has_order && !link->is_named && link->order == 0;
    const bool is_held =
        link->is_held || is_held_by_sender(from, link->from_variable) || is_sampled(&to->unit);
    if (link->method == 0 && !is_held && (link->is_auto || is_left) &&
        link->flow != YOKE_FLOW_AVERAGED && !to->is_law && yoke__system_has_auto(system, to)) {
      id = id > 0 ? id
                  : add_method(system, &(yoke_system_method){.ops = &yoke__couple_auto,
                                                             .bond = YOKE_NOT_FOUND,
                                                             .owner = "",
                                                             .name = "auto"});
      link->method = id;
      if (link->has_order && link->order > 2) {
        yoke__message_add(system->messages, YOKE_WARNING, link->source->place,
                          "'order: %d' has no effect: auto goes up to order 2", link->order);
      }
      link->order = link->has_order && link->order < 2 ? link->order : 2;
    }
  }
}

yoke_status yoke__system_choose_methods(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  const size_t n = 2 + system->n_bonds + s->n_couplings * (system->n_bonds + 1) + system->n_links;
  system->methods = yoke__arena_array(&system->arena, n, sizeof *system->methods);
  YOKE_TRY_MEMORY(system->methods);
  add_method(system,
             &(yoke_system_method){
                 .ops = &yoke__couple_hold, .bond = YOKE_NOT_FOUND, .owner = "", .name = ""});
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if ((link->source->is_held || link->source->is_auto) && has_ends(system, link) &&
        system->units[link->to_unit].is_law) {
      yoke__error(system->messages, link->source->place,
                  "'method: %s' has no effect on a connection into the law '%s', which passes on "
                  "its inputs at once: give the method to the connection behind the law",
                  link->source->is_held ? "hold" : "auto", system->units[link->to_unit].name);
    }
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    set_bond_orders(system, &system->bonds[i]);
  }
  YOKE_TRY(serve_connections(system));
  YOKE_TRY(serve_bonds_of_file(system));
  for (size_t i = 0; i < s->n_couplings; i++) {
    if (s->couplings[i].method != NULL) {
      YOKE_TRY(serve_coupling(system, &s->couplings[i]));
    }
  }
  for (size_t m = 0; m < system->n_methods && system->messages->n_errors == 0; m++) {
    if ((system->methods[m].ops->flags & YOKE_COUPLING_CLUSTER) != 0) {
      leave_slow(system, m);
    }
  }
  keep_starts(system);
  serve_rest(system);
  return YOKE_OK;
}
