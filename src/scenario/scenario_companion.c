// Companions of a system: the same description with other steps and methods.
#include "scenario/scenario_companion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


typedef struct maker {
  yoke_scenario* to;
  const yoke_companion_recipe* recipe;
  bool is_too_long;  // a step has too many digits
} maker;

// ---- steps

// A step divided by a power of two: five tenths, again and again.
static void divide(maker* m, yoke_scenario_time* time, int64_t by) {
  for (; time->is_given && by > 1; by /= 2) {
    if (time->exact.mantissa > INT64_MAX / 5) {
      m->is_too_long = true;
      return;
    }
    time->exact.mantissa *= 5;
    time->exact.exponent--;
    if (time->exact.mantissa % 10 == 0) {
      time->exact.mantissa /= 10;
      time->exact.exponent++;
    }
  }
  time->value = time->is_given ? yoke__decimal_value(time->exact) : time->value;
}

// At least so many calls in an exchange, as far as the unit can.
int64_t yoke__companion_divisor(const yoke_companion_recipe* recipe,
                                const yoke_companion_unit* unit) {
  int64_t by = 1;
  while (by * unit->n_calls < recipe->n_calls) {
    by *= 2;
  }
  by = recipe->is_halved ? 2 * by : by;
  return by < unit->most ? by : unit->most;
}

static void change_unit(maker* m, yoke_scenario_unit* unit, const yoke_companion_unit* known,
                        const yoke_scenario_time* macro) {
  const yoke_companion_recipe* recipe = m->recipe;
  if (recipe->method != NULL) {
    unit->has_exchange = false;
  }
  if (unit->is_law) {
    return;
  }
  // a step that is not given is that of the exchange, which a variable one must remain
  const int64_t by = yoke__companion_divisor(recipe, known);
  if (known->calls > 1) {
    // of the macro step of the companion
    unit->calls = recipe->is_halved ? known->calls * by / 2 : known->calls * by;
    m->is_too_long = m->is_too_long || (recipe->is_halved && known->calls * by % 2 != 0);
  } else if (!unit->step.is_given && !m->to->adaptive.is_given) {
    unit->step = *macro;
  }
  divide(m, &unit->step, by);
  if (known->solver_step > 0 && recipe->is_halved && by > 1) {
    unit->solver.step = known->solver_step / 2;
  }
}

// ---- methods

static yoke_node* make_node(maker* m, yoke_node_kind kind, const char* key, const char* text) {
  yoke_node* node = yoke__arena_take(&m->to->arena, sizeof *node);
  if (node != NULL) {
    *node = (yoke_node){.kind = kind, .key = key, .text = text};
  }
  return node;
}

static void append(yoke_node* parent, yoke_node* child) {
  if (parent == NULL || child == NULL) {
    return;
  }
  yoke_node* last = parent->first;
  while (last != NULL && last->next != NULL) {
    last = last->next;
  }
  *(last == NULL ? &parent->first : &last->next) = child;
  parent->n_children++;
}

// One coupling over everything, where the method can serve.
static void replace_methods(maker* m) {
  const yoke_companion_recipe* recipe = m->recipe;
  yoke_scenario* to = m->to;
  to->scheme = recipe->scheme;
  to->exchange = YOKE_STALE;
  // `inputs` of couplings stay, their methods do not
  yoke_scenario_coupling* couplings =
      yoke__arena_array(&to->arena, to->n_couplings + 1, sizeof *couplings);
  size_t n = 0;
  for (size_t i = 0; i < to->n_couplings && couplings != NULL; i++) {
    if (to->couplings[i].has_inputs) {
      couplings[n] = to->couplings[i];
      couplings[n++].method = NULL;
    }
  }
  to->couplings = couplings;
  to->n_couplings = n;
  if (strcmp(recipe->method, "hold") == 0) {
    return;
  }
  yoke_node* map = make_node(m, YOKE_NODE_MAP, "companion", NULL);
  yoke_node* members = make_node(m, YOKE_NODE_LIST, "members", NULL);
  append(map, make_node(m, YOKE_NODE_SCALAR, "method", recipe->method));
  for (const char* const* s = recipe->settings; s != NULL && s[0] != NULL; s += 2) {
    append(map, make_node(m, YOKE_NODE_SCALAR, s[0], s[1]));
  }
  append(map, members);
  for (size_t i = 0; i < to->n_units; i++) {
    append(members, make_node(m, YOKE_NODE_SCALAR, NULL, to->units[i].name));
  }
  if (couplings != NULL) {
    couplings[to->n_couplings++] = (yoke_scenario_coupling){
        .name = "companion", .method = recipe->method, .node = map, .is_where_possible = true};
  }
}

static bool is_dropped(const char* const* dropped, const char* key) {
  for (; dropped != NULL && *dropped != NULL; dropped++) {
    if (key != NULL && strcmp(*dropped, key) == 0) {
      return true;
    }
  }
  return false;
}

// A map without the keys that are left out.
static const yoke_node* thin_map(maker* m, const yoke_node* map) {
  if (map == NULL || m->recipe->dropped == NULL) {
    return map;
  }
  yoke_node* copy = yoke__arena_take(&m->to->arena, sizeof *copy);
  if (copy == NULL) {
    return map;
  }
  *copy = *map;
  copy->first = NULL;
  copy->n_children = 0;
  for (const yoke_node* child = map->first; child != NULL; child = child->next) {
    yoke_node* kept = is_dropped(m->recipe->dropped, child->key)
                          ? NULL
                          : yoke__arena_take(&m->to->arena, sizeof *kept);
    if (kept != NULL) {
      *kept = *child;
      kept->next = NULL;
      append(copy, kept);
    }
  }
  return copy;
}

static void no_stop(yoke_scenario_watch* watch) {
  watch->stop = (yoke_scenario_limits){(double)NAN, (double)NAN, (double)NAN};
}

// ---- the whole

static void* copy_array(yoke_arena* arena, const void* from, size_t n, size_t size) {
  void* to = yoke__arena_array(arena, n + 1, size);
  if (to != NULL && n > 0) {
    memcpy(to, from, n * size);
  }
  return to;
}

static void change(maker* m, const yoke_scenario* from, const yoke_companion_unit known[],
                   const yoke_scenario_connection all[], size_t n_all) {
  yoke_scenario* to = m->to;
  const yoke_companion_recipe* recipe = m->recipe;
  yoke_scenario_unit* units = copy_array(&to->arena, from->units, from->n_units, sizeof *units);
  yoke_scenario_connection* connections = copy_array(&to->arena, all, n_all, sizeof *connections);
  yoke_scenario_bond* bonds = copy_array(&to->arena, from->bonds, from->n_bonds, sizeof *bonds);
  yoke_scenario_coupling* couplings =
      copy_array(&to->arena, from->couplings, from->n_couplings, sizeof *couplings);
  to->directory = from->home;
  if (yoke__arena_status(&to->arena) < 0) {
    return;
  }
  const int64_t by = recipe->is_halved ? 2 : 1;
  // another method works with the shortest step
  to->adaptive.is_given = to->adaptive.is_given && recipe->method == NULL;
  for (size_t i = 0; i < from->n_units; i++) {
    change_unit(m, &units[i], &known[i], &from->step);
    units[i].has_own_thread = false;  // it knows no clock
  }
  divide(m, &to->step, by);
  divide(m, &to->adaptive.min, by);
  divide(m, &to->adaptive.max, by);
  for (size_t i = 0; i < n_all; i++) {
    divide(m, &connections[i].exchange, by);
    connections[i].coupling = recipe->method != NULL ? NULL : thin_map(m, connections[i].coupling);
    if (recipe->method != NULL) {
      connections[i].order = recipe->order;
      connections[i].has_order = recipe->order > 0;
      connections[i].is_held = strcmp(recipe->method, "hold") == 0;
      connections[i].is_auto = false;
    }
  }
  for (size_t i = 0; i < from->n_bonds; i++) {
    bonds[i].coupling = recipe->method != NULL ? NULL : thin_map(m, bonds[i].coupling);
    no_stop(&bonds[i].watch);
  }
  for (size_t i = 0; i < from->n_couplings; i++) {
    couplings[i].node = thin_map(m, couplings[i].node);
  }
  no_stop(&to->watch);
  to->n_signal_limits = 0;
  to->units = units;
  to->connections = connections;
  to->n_connections = n_all;
  to->bonds = bonds;
  to->couplings = couplings;
  to->threads = 1;
  if (recipe->method != NULL) {
    replace_methods(m);
  }
}

yoke_status yoke__scenario_companion(const yoke_scenario* original,
                                     const yoke_companion_unit units[],
                                     const yoke_scenario_connection connections[],
                                     size_t n_connections, const yoke_companion_recipe* recipe,
                                     yoke_scenario** out) {
  *out = NULL;
  maker m = {.to = calloc(1, sizeof *m.to), .recipe = recipe};
  if (m.to == NULL) {
    return YOKE_NO_MEMORY;
  }
  *m.to = *original;
  m.to->is_companion = true;
  m.to->arena = (yoke_arena){0};
  m.to->netlist = NULL;
  m.to->temp = NULL;
  change(&m, original, units, connections, n_connections);
  const yoke_status status = m.is_too_long ? YOKE_NO_SUPPORT : yoke__arena_status(&m.to->arena);
  if (status < 0) {
    yoke__scenario_free(&m.to);
    return status;
  }
  *out = m.to;
  return YOKE_OK;
}
