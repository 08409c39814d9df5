// Bonds that the file does not name but the dimensions show: two connections in opposite directions between the same two
// units, whose product is a power of a known domain. Heat flow with temperature is a pseudo bond.
//
//   N with m/s, N.m with rad/s, V with A, Pa with m3/s        W with K (heat)
//
// Where several connections fit, they are paired in the order of the file if there are equally many each way (a vector
// bond); otherwise nothing is guessed and `yoke check` says so. Names are UNIT-UNIT, the action's unit first.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "system/system.h"

#define MAX_PAIRS 64  // connections of one domain between two units, one way

typedef struct domain {
  const char *action, *rate;
  yoke_bond_kind kind;
} domain;

static const domain domains[] = {
    {"N", "m/s", YOKE_BOND_POWER},   {"N.m", "rad/s", YOKE_BOND_POWER}, {"V", "A", YOKE_BOND_POWER},
    {"Pa", "m3/s", YOKE_BOND_POWER}, {"W", "K", YOKE_BOND_HEAT},
};

static const yoke_variable* from_variable(const yoke_system* system, const yoke_system_link* link) {
  return &system->units[link->from_unit].unit.info->variables[link->from_variable];
}

// same exponents; angles count, so that N.m and rad/s are distinguished from J and 1/s
static bool has_dim(const yoke_variable* v, const char* text) {
  yoke_dim a, b;
  if (!yoke__dim_parse(v->dim, &a) || !yoke__dim_parse(text, &b)) {
    return false;
  }
  // N.m/rad is a torque as well as N.m; a speed must be written with its angle
  const bool is_torque = strcmp(text, "N.m") == 0;
  for (size_t i = 0; i < YOKE_DIM_N_BASES; i++) {
    if (a.exponents[i] != b.exponents[i] && !(is_torque && i == YOKE_DIM_RAD)) {
      return false;
    }
  }
  return !is_torque || strchr(v->dim, 'J') == NULL;
}

static bool is_in_bond(const yoke_system* system, size_t link) {
  for (size_t b = 0; b < system->n_bonds; b++) {
    const yoke_system_bond* bond = &system->bonds[b];
    for (size_t i = 0; i < bond->n_pairs; i++) {
      if (bond->action[i].link == link || bond->rate[i].link == link) {
        return true;
      }
    }
  }
  return false;
}

// connections from one unit to another with this dimension that no bond has yet
static size_t list_links(const yoke_system* system, size_t from, size_t to, const char* dim,
                         size_t links[MAX_PAIRS]) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_links && n < MAX_PAIRS; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->is_dense && link->from_unit == from && link->to_unit == to &&
        has_dim(from_variable(system, link), dim) && !is_in_bond(system, i)) {
      links[n++] = i;
    }
  }
  return n;
}

static bool lets_through(const yoke_system* system, const yoke_system_link* out,
                         const yoke_system_link* in) {
  return yoke__unit_has_feedthrough(&system->units[out->from_unit].unit, out->from_variable,
                                    in->to_variable);
}

// taken by a bond of the file, or refused there
static bool is_name_taken(yoke_system* system, const char* name, bool* is_refused) {
  for (size_t i = 0; i < system->scenario->n_bonds; i++) {
    if (strcmp(system->scenario->bonds[i].name, name) == 0) {
      *is_refused = system->scenario->bonds[i].is_refused;
      system->is_refusal_met[i] = true;
      return true;
    }
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    if (strcmp(system->bonds[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

// "left-right", or "left-right-2" where that is taken; NULL if the file refuses it
static yoke_status name_bond(yoke_system* system, const char* a, const char* b, const char** out) {
  char name[600];
  bool is_refused = false;
  snprintf(name, sizeof name, "%s-%s", a, b);
  for (int i = 2; is_name_taken(system, name, &is_refused) && !is_refused; i++) {
    snprintf(name, sizeof name, "%s-%s-%d", a, b, i);
  }
  *out = is_refused ? NULL : yoke__arena_text(&system->arena, name, strlen(name));
  return *out == NULL && !is_refused ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_system_pair pair_of(const yoke_system* system, size_t index) {
  const yoke_system_link* link = &system->links[index];
  return (yoke_system_pair){.from_unit = link->from_unit,
                            .from_variable = link->from_variable,
                            .from_element = link->from_element,
                            .to_unit = link->to_unit,
                            .to_variable = link->to_variable,
                            .to_element = link->to_element,
                            .n = link->n,
                            .link = index};
}

static yoke_status add_bond(yoke_system* system, const domain* d, const size_t actions[],
                            const size_t rates[], size_t n) {
  const yoke_system_link *action = &system->links[actions[0]], *rate = &system->links[rates[0]];
  yoke_system_bond* bond = &system->bonds[system->n_bonds];
  *bond = (yoke_system_bond){.n_pairs = n,
                             .sign = 1,
                             .place = action->source->place,
                             .action_unit = action->from_unit,
                             .rate_unit = rate->from_unit};
  YOKE_TRY(name_bond(system, system->units[bond->action_unit].name,
                     system->units[bond->rate_unit].name, &bond->name));
  if (bond->name == NULL) {
    return YOKE_OK;
  }
  bond->action = yoke__arena_array(&system->arena, n, sizeof *bond->action);
  bond->rate = yoke__arena_array(&system->arena, n, sizeof *bond->rate);
  YOKE_TRY_MEMORY(bond->action && bond->rate);
  for (size_t i = 0; i < n; i++) {
    bond->action[i] = pair_of(system, actions[i]);
    bond->rate[i] = pair_of(system, rates[i]);
    bond->n += bond->action[i].n;
  }
  bond->ledger.kind = d->kind;
  system->n_bonds++;
  return YOKE_OK;
}

static yoke_status add_hint(yoke_system* system, const domain* d, size_t a, size_t b, size_t n_a,
                            size_t n_b) {
  char text[900];
  snprintf(text, sizeof text,
           "%s and %s exchange %zu signals in %s and %zu in %s: write in `bonds` which of them "
           "belong together",
           system->units[a].name, system->units[b].name, n_a, d->action, n_b, d->rate);
  const char* copy = yoke__arena_text(&system->arena, text, strlen(text));
  const char** hints = yoke__arena_array(&system->arena, system->n_hints + 1, sizeof *hints);
  YOKE_TRY_MEMORY(copy && hints);
  for (size_t i = 0; i < system->n_hints; i++) {
    hints[i] = system->hints[i];
  }
  hints[system->n_hints++] = copy;
  system->hints = hints;
  return YOKE_OK;
}

static bool has_same_shape(const yoke_system* system, const domain* d, const size_t actions[],
                           const size_t rates[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    const yoke_system_link *a = &system->links[actions[i]], *r = &system->links[rates[i]];
    if (a->n != r->n || a->offset != 0) {
      return false;
    }
    // gains that do not agree, beyond a change of units, are no power that both ends know; the file may say more
    const double gain = yoke__system_si_gain(system, a);
    const double difference = yoke__system_si_gain(system, r) - gain;
    if (d->kind == YOKE_BOND_POWER && (r->offset != 0 || fabs(difference) > 1e-9 * fabs(gain))) {
      return false;
    }
  }
  return true;
}

// the action of an electric bond is what follows the other without delay; voltage if neither does
static bool is_swapped(const yoke_system* system, const domain* d, size_t action, size_t rate) {
  const yoke_system_link *a = &system->links[action], *r = &system->links[rate];
  return strcmp(d->action, "V") == 0 && lets_through(system, r, a) && !lets_through(system, a, r);
}

// all bonds of one domain whose action goes from a to b
static yoke_status find_between(yoke_system* system, const domain* d, size_t a, size_t b) {
  size_t actions[MAX_PAIRS], rates[MAX_PAIRS];
  const size_t n_actions = list_links(system, a, b, d->action, actions);
  const size_t n_rates = n_actions == 0 ? 0 : list_links(system, b, a, d->rate, rates);
  if (n_actions == 0 || n_rates == 0) {
    return YOKE_OK;
  }
  if (n_actions != n_rates || !has_same_shape(system, d, actions, rates, n_actions)) {
    return add_hint(system, d, a, b, n_actions, n_rates);
  }
  if (is_swapped(system, d, actions[0], rates[0])) {
    return add_bond(system, d, rates, actions, n_actions);
  }
  return add_bond(system, d, actions, rates, n_actions);
}

// a name that would not have been found: `left-rigth: false`, or the action's unit second
static void check_refusals(yoke_system* system) {
  for (size_t i = 0; i < system->scenario->n_bonds; i++) {
    const yoke_scenario_bond* bond = &system->scenario->bonds[i];
    if (!bond->is_refused || system->is_refusal_met[i]) {
      continue;
    }
    const char* nearest = NULL;
    for (size_t b = 0; b < system->n_bonds; b++) {
      if (system->bonds[b].source == NULL) {
        nearest = yoke__nearer_name(bond->name, nearest, system->bonds[b].name);
      }
    }
    yoke__message_add(system->messages, YOKE_WARNING, bond->place,
                      "bond '%s' is refused, but none of that name is found%s%s%s", bond->name,
                      nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                      nearest == NULL ? "" : "'?");
  }
}

yoke_status yoke__system_find_bonds(yoke_system* system) {
  if (!system->scenario->is_finding || system->messages->n_errors > 0) {
    return YOKE_OK;
  }
  system->is_refusal_met =
      yoke__arena_array(&system->arena, system->scenario->n_bonds + 1, sizeof(bool));
  YOKE_TRY_MEMORY(system->is_refusal_met);
  // the first connection between two units stands for all of them
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const char* dim = link->is_dense ? from_variable(system, link)->dim : NULL;
    if (dim == NULL || dim[0] == '\0' || link->from_unit == link->to_unit ||
        is_in_bond(system, i)) {
      continue;
    }
    for (size_t d = 0; d < YOKE_COUNT(domains); d++) {
      if (has_dim(from_variable(system, link), domains[d].action)) {
        size_t same[MAX_PAIRS];
        // only once per pair of units: at the first of its connections
        if (list_links(system, link->from_unit, link->to_unit, domains[d].action, same) > 0 &&
            same[0] == i) {
          YOKE_TRY(find_between(system, &domains[d], link->from_unit, link->to_unit));
        }
      }
    }
  }
  check_refusals(system);
  return YOKE_OK;
}
