// Bonds of the file: which variables make a power, and which connections a bond brings along.
#include <stdlib.h>
#include <string.h>

#include "base/base_dim.h"
#include "base/base_number.h"
#include "system/system.h"

static const yoke_variable* from_variable(const yoke_system* system, const yoke_system_pair* pair) {
  return &system->units[pair->from_unit].unit.info->variables[pair->from_variable];
}

// one side of a bond is a real output
static bool check_output(yoke_system* system, const yoke_scenario_pair* source,
                         const yoke_system_pair* pair, const char* side) {
  const yoke_variable* from = from_variable(system, pair);
  if (from->type == YOKE_REAL && from->causality == YOKE_OUTPUT) {
    return true;
  }
  // an arrow is a connection too, and was reported there
  if (!source->has_to) {
    yoke__error(system->messages, source->from.place, "bond: the %s '%s.%s' is not a real output",
                side, source->from.unit, source->from.variable);
  }
  return false;
}

// false after a message
static bool resolve_pair(yoke_system* system, const yoke_scenario_pair* source, const char* side,
                         yoke_system_pair* out) {
  size_t count = 0;
  *out = (yoke_system_pair){
      .from_unit = YOKE_NOT_FOUND, .to_unit = YOKE_NOT_FOUND, .link = YOKE_NOT_FOUND};
  const char* what = source->has_to ? NULL : "bond";
  if (!yoke__system_resolve(system, &source->from, what, &out->from_unit, &out->from_variable,
                            &out->from_element, &out->n)) {
    return false;
  }
  bool is_good = check_output(system, source, out, side);
  if (source->has_to) {
    is_good = yoke__system_resolve(system, &source->to, NULL, &out->to_unit, &out->to_variable,
                                   &out->to_element, &count) &&
              is_good;
  }
  return is_good;
}

static bool resolve_pairs(yoke_system* system, const yoke_scenario_pair sources[], size_t n,
                          const char* side, yoke_system_pair** out) {
  *out = yoke__arena_array(&system->arena, n + 1, sizeof **out);
  bool is_good = *out != NULL;
  for (size_t i = 0; *out != NULL && i < n; i++) {
    is_good = resolve_pair(system, &sources[i], side, &(*out)[i]) && is_good;
  }
  return is_good;
}

// the product of an action and its rate needs as many elements of one as of the other
static bool check_sizes(yoke_system* system, const yoke_scenario_bond* source,
                        yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].n != bond->rate[i].n) {
      yoke__error(system->messages, source->place,
                  "bond '%s': '%s.%s' has %zu elements and '%s.%s' has %zu; their product needs as "
                  "many of one as of the other",
                  source->name, source->action[i].from.unit, source->action[i].from.variable,
                  bond->action[i].n, source->rate[i].from.unit, source->rate[i].from.variable,
                  bond->rate[i].n);
      return false;
    }
    bond->n += bond->action[i].n;
  }
  return true;
}

// a bond joins two units
static bool check_units(yoke_system* system, const yoke_scenario_bond* source,
                        yoke_system_bond* bond) {
  bond->action_unit = bond->action[0].from_unit;
  bond->rate_unit = bond->rate[0].from_unit;
  const yoke_system_unit* units = system->units;
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].from_unit != bond->action_unit ||
        bond->rate[i].from_unit != bond->rate_unit) {
      yoke__error(system->messages, source->place,
                  "bond '%s': its components come from more than two units; write one bond for "
                  "each pair of units",
                  source->name);
      return false;
    }
  }
  if (bond->action_unit == bond->rate_unit) {
    yoke__error(system->messages, source->place,
                "bond '%s': action and rate both come from '%s'; a bond joins two units: one gives "
                "the action, the other the rate",
                source->name, units[bond->action_unit].name);
    return false;
  }
  // arrows lead from one to the other
  for (size_t i = 0; i < 2 * bond->n_pairs; i++) {
    const bool is_action = i < bond->n_pairs;
    const yoke_system_pair* pair = is_action ? &bond->action[i] : &bond->rate[i - bond->n_pairs];
    const size_t partner = is_action ? bond->rate_unit : bond->action_unit;
    if (pair->to_unit != YOKE_NOT_FOUND && pair->to_unit != partner) {
      yoke__error(
          system->messages, source->place,
          "bond '%s': the %s of '%s' goes to '%s', but the %s comes from '%s'; a bond joins "
          "two units",
          source->name, is_action ? "action" : "rate", units[pair->from_unit].name,
          units[pair->to_unit].name, is_action ? "rate" : "action", units[partner].name);
      return false;
    }
  }
  return true;
}

// the connection that carries a pair to the other unit of the bond, also where the bond has no arrow
static void find_link(const yoke_system* system, yoke_system_pair* pair, size_t partner) {
  for (size_t i = 0; i < system->n_links && pair->link == YOKE_NOT_FOUND; i++) {
    const yoke_system_link* link = &system->links[i];
    const bool is_from = link->is_dense && link->from_unit == pair->from_unit &&
                         link->from_variable == pair->from_variable &&
                         link->from_element == pair->from_element && link->n == pair->n;
    const bool is_to =
        link->to_unit == partner &&
        (pair->to_unit == YOKE_NOT_FOUND ||
         (link->to_variable == pair->to_variable && link->to_element == pair->to_element));
    if (is_from && is_to) {
      pair->link = i;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// dimensions: the product must be a power, on both ends the same

// exponents of the product; false if one is not known
static bool product_of(const char* a, const char* b, int8_t exponents[YOKE_DIM_N_BASES]) {
  yoke_dim x, y;
  if (!yoke__dim_parse(a, &x) || !yoke__dim_parse(b, &y)) {
    return false;
  }
  for (size_t i = 0; i < YOKE_DIM_N_BASES; i++) {
    exponents[i] = (int8_t)(x.exponents[i] + y.exponents[i]);
  }
  return true;
}

static bool is_dim(const int8_t exponents[], const char* text) {
  yoke_dim dim;
  if (!yoke__dim_parse(text, &dim)) {
    return false;
  }
  for (size_t i = 0; i < YOKE_DIM_N_BASES; i++) {
    if (i != YOKE_DIM_RAD && exponents[i] != dim.exponents[i]) {
      return false;
    }
  }
  return true;
}

static void check_product(yoke_system* system, yoke_system_bond* bond, size_t i) {
  const yoke_variable* action = from_variable(system, &bond->action[i]);
  const yoke_variable* rate = from_variable(system, &bond->rate[i]);
  int8_t exponents[YOKE_DIM_N_BASES];
  if (!product_of(action->dim, rate->dim, exponents) || is_dim(exponents, "W")) {
    return;
  }
  const char *a = system->units[bond->action_unit].name, *r = system->units[bond->rate_unit].name;
  const bool is_heat = is_dim(exponents, "W.K");
  yoke_dim dim;
  if (is_heat && yoke__dim_parse(action->dim, &dim) && is_dim(dim.exponents, "W")) {
    bond->ledger.kind = YOKE_BOND_HEAT;
    return;
  }
  yoke__error(system->messages, bond->place,
              "bond '%s': '%s.%s' [%s] times '%s.%s' [%s] is not a power%s", bond->name, a,
              action->name, action->dim, r, rate->name, rate->dim,
              is_dim(exponents, "J") ? "; name the rate of change, not the displacement or charge"
              : is_heat ? "; name the heat flow as the action, the temperature as the rate"
                        : "");
}

double yoke__system_si_gain(const yoke_system* system, const yoke_system_link* link) {
  const yoke_variable* from =
      &system->units[link->from_unit].unit.info->variables[link->from_variable];
  const yoke_variable* to = &system->units[link->to_unit].unit.info->variables[link->to_variable];
  yoke_dim from_dim, to_dim;
  if (!yoke__dim_parse(from->dim, &from_dim) || !yoke__dim_parse(to->dim, &to_dim)) {
    return link->gain;
  }
  return link->gain * to_dim.factor / from_dim.factor;
}

// what one unit receives times what it gives must be the other's product: both gains are the same
static void check_gains(yoke_system* system, const yoke_system_bond* bond, size_t i) {
  const yoke_system_pair *action = &bond->action[i], *rate = &bond->rate[i];
  if (action->link == YOKE_NOT_FOUND || rate->link == YOKE_NOT_FOUND ||
      bond->ledger.kind == YOKE_BOND_HEAT) {
    return;
  }
  if (system->links[action->link].offset != 0 || system->links[rate->link].offset != 0) {
    yoke__error(system->messages, bond->place,
                "bond '%s': a connection with an offset carries no power that both ends agree on",
                bond->name);
  }
  const double a = yoke__system_si_gain(system, &system->links[action->link]);
  const double r = yoke__system_si_gain(system, &system->links[rate->link]);
  const double difference = a > r ? a - r : r - a;
  const double size = (a < 0 ? -a : a) + (r < 0 ? -r : r);
  if (difference > 1e-9 * size) {
    char left[YOKE_NUMBER_SIZE], right[YOKE_NUMBER_SIZE];
    yoke__number_format(a, left);
    yoke__number_format(r, right);
    yoke__error(
        system->messages, bond->place,
        "bond '%s': the action is passed on with gain %s and the rate with gain %s: the two "
        "units would exchange different powers; expected the same gain both ways",
        bond->name, left, right);
  }
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status resolve_bond(yoke_system* system, const yoke_scenario_bond* source,
                                yoke_system_bond* bond) {
  *bond = (yoke_system_bond){.name = source->name,
                             .source = source,
                             .place = source->place,
                             .n_pairs = source->n_action,
                             .sign = source->sign};
  const bool has_action =
      resolve_pairs(system, source->action, source->n_action, "action", &bond->action);
  const bool has_rate = resolve_pairs(system, source->rate, source->n_rate, "rate", &bond->rate);
  YOKE_TRY_MEMORY(bond->action && bond->rate);
  if (!has_action || !has_rate || source->n_action != source->n_rate || source->n_action == 0 ||
      !check_sizes(system, source, bond) || !check_units(system, source, bond)) {
    return YOKE_BAD_INPUT;
  }
  for (size_t i = 0; i < bond->n_pairs; i++) {
    find_link(system, &bond->action[i], bond->rate_unit);
    find_link(system, &bond->rate[i], bond->action_unit);
    check_product(system, bond, i);
    check_gains(system, bond, i);
  }
  return YOKE_OK;
}

yoke_status yoke__system_resolve_bonds(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  // every found bond takes two connections of its own
  system->bonds =
      yoke__arena_array(&system->arena, s->n_bonds + system->n_links + 1, sizeof *system->bonds);
  YOKE_TRY_MEMORY(system->bonds);
  for (size_t i = 0; i < s->n_bonds; i++) {
    if (s->bonds[i].is_refused) {
      continue;
    }
    const yoke_status status = resolve_bond(system, &s->bonds[i], &system->bonds[system->n_bonds]);
    if (status == YOKE_NO_MEMORY) {
      return status;
    }
    system->n_bonds += status >= 0;
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// arrows

static bool is_same_end(const yoke_scenario_endpoint* a, const yoke_scenario_endpoint* b) {
  return a->unit != NULL && b->unit != NULL && a->variable != NULL && b->variable != NULL &&
         strcmp(a->unit, b->unit) == 0 && strcmp(a->variable, b->variable) == 0;
}

// an arrow in a bond is a connection, unless the file lists that connection anyway
static yoke_status add_bond_link(yoke_system* system, const yoke_scenario_pair* pair) {
  const yoke_scenario* s = system->scenario;
  for (size_t i = 0; i < s->n_connections; i++) {
    if (is_same_end(&s->connections[i].from, &pair->from) &&
        is_same_end(&s->connections[i].to, &pair->to)) {
      return YOKE_OK;
    }
  }
  yoke_scenario_connection* c = yoke__arena_take(&system->arena, sizeof *c);
  YOKE_TRY_MEMORY(c);
  *c = (yoke_scenario_connection){
      .from = pair->from, .to = pair->to, .gain = 1, .place = pair->from.place};
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
  YOKE_TRY_MEMORY(system->links);
  for (; system->n_links < s->n_connections; system->n_links++) {
    system->links[system->n_links].source = &s->connections[system->n_links];
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* bond = &s->bonds[i];
    for (size_t j = 0; j < bond->n_action + bond->n_rate; j++) {
      const yoke_scenario_pair* pair =
          j < bond->n_action ? &bond->action[j] : &bond->rate[j - bond->n_action];
      if (pair->has_to) {
        YOKE_TRY(add_bond_link(system, pair));
      }
    }
  }
  return YOKE_OK;
}
