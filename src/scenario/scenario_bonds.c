// The sections `bonds` and `couplings`: pairs of variables whose product is a power, and methods
// over named groups.
//
// A bond names its action (force, voltage, heat flow) and its rate (velocity, current,
// temperature), each as one text or, for a vector bond, as a list of equal length. A coupling
// method reads its own parameters; only `method` and `members` are checked here.

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

// One text or a list of texts "a.x -> b.y" or "a.x".
static void read_pairs(yoke_reader* reader, const yoke_node* node, const yoke_scenario_pair** out,
                       size_t* n) {
  const bool is_list = node->kind == YOKE_NODE_LIST;
  if (node->is_refused) {
    return;
  }
  if (node->kind == YOKE_NODE_MAP || yoke__node_is_null(node) ||
      (is_list && node->n_children == 0)) {
    yoke__error(reader->messages, node->place,
                "'%s': expected 'a.x -> b.y' or 'a.x', or a list of them", node->key);
    return;
  }
  const size_t count = is_list ? node->n_children : 1;
  yoke_scenario_pair* all = yoke__reader_array(reader, count, sizeof *all);
  if (all == NULL) {
    return;
  }
  const yoke_node* child = is_list ? node->first : node;
  for (size_t i = 0; i < count; i++, child = child->next) {
    yoke__read_pair(reader, child, &all[i].from, &all[i].to, &all[i].has_to);
  }
  *out = all;
  *n = count;
}

static void read_action(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_bond* bond = to;
  read_pairs(reader, node, &bond->action, &bond->n_action);
}

static void read_rate(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_bond* bond = to;
  read_pairs(reader, node, &bond->rate, &bond->n_rate);
}

static void read_sign(yoke_reader* reader, const yoke_node* node, void* to) {
  static const yoke_range range = {-1, 1, false, false, "1 or -1"};
  double sign = 0;
  if (!yoke__read_number(reader, node, &range, &sign)) {
    return;
  }
  if (sign == 1 || sign == -1) {
    ((yoke_scenario_bond*)to)->sign = sign;
  } else {
    char found[YOKE_FOUND_SIZE];
    yoke__error(reader->messages, node->place, "'sign': expected 1 or -1, found %s",
                yoke__node_found(node, found));
  }
}

// The method of a map {method: ..., parameters}; NULL if there is none (reported).
static const char* method_of(yoke_reader* reader, const yoke_node* map, yoke_place* place) {
  const yoke_node* node = yoke__node_child(map, "method");
  const char* method = NULL;
  if (node == NULL) {
    yoke__error(reader->messages, map->key_place, "'%s' has no 'method'", map->key);
    return NULL;
  }
  *place = node->place;
  return yoke__read_text(reader, node, &method) ? method : NULL;
}

static void read_bond_coupling(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_place place = node->place;
  if (yoke__node_is_null(node)) {
    return;
  }
  if (yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map such as {method: energy}") &&
      method_of(reader, node, &place) != NULL) {
    ((yoke_scenario_bond*)to)->coupling = node;
  }
}

static void read_residual(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"samples", "partner-held"};
  size_t choice = 0;
  if (yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    ((yoke_scenario_bond*)to)->residual = (yoke_bond_residual)choice;
  }
}

static void read_mu(yoke_reader* reader, const yoke_node* node, void* to) {
  static const yoke_range range = {-10, 10, false, false, "a number from -10 to 10"};
  yoke_scenario_bond* bond = to;
  bond->mu_place = node->place;
  yoke__read_number(reader, node, &range, &bond->mu);
}

static void read_energy(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_bond*)to)->energy);
}

static void read_power(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_bond*)to)->power);
}

static void read_bond_watch(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_watch(reader, node, &((yoke_scenario_bond*)to)->watch);
}

static const yoke_key bond_keys[] = {
    {"action", read_action, &yoke__shape_value},
    {"rate", read_rate, &yoke__shape_value},
    {"sign", read_sign, &yoke__shape_value},
    {"coupling", read_bond_coupling, &yoke__shape_free},
    {"residual", read_residual, &yoke__shape_value},
    {"mu", read_mu, &yoke__shape_value},
    {"energy", read_energy, &yoke__shape_value},
    {"power", read_power, &yoke__shape_value},
    {"warn", read_bond_watch, &yoke__shape_limits},
    {"stop", read_bond_watch, &yoke__shape_limits},
    {"window", read_bond_watch, &yoke__shape_value},
    {"settle", read_bond_watch, &yoke__shape_value},
    {"persist", read_bond_watch, &yoke__shape_value},
    {"hysteresis", read_bond_watch, &yoke__shape_value},
};

static const yoke_shape bond_shape = {
    .kind = YOKE_SHAPE_KEYS, .keys = bond_keys, .n_keys = YOKE_COUNT(bond_keys)};
const yoke_shape yoke__shape_bonds = {.kind = YOKE_SHAPE_NAMES, .entry = &bond_shape};
const yoke_shape yoke__shape_couplings = {.kind = YOKE_SHAPE_NAMES, .entry = &yoke__shape_free};

static void require_key(yoke_reader* reader, const yoke_node* bond, const char* key) {
  if (yoke__node_child(bond, key) == NULL) {
    yoke__error(reader->messages, bond->key_place, "the bond '%s' has no '%s'", bond->key, key);
  }
}

static void read_bond(yoke_reader* reader, const yoke_node* node, yoke_scenario_bond* bond) {
  *bond = (yoke_scenario_bond){.name = node->key,
                               .place = node->key_place,
                               .sign = 1,
                               .mu = (double)NAN,
                               .energy = (double)NAN,
                               .power = (double)NAN,
                               .watch = yoke__no_watch};
  yoke__name_check(reader, node, "bond");
  if (strcmp(node->key, "total") == 0) {
    yoke__error(reader->messages, node->key_place,
                "a bond cannot be called 'total': that is the sum of all");
  }
  // `left-right: false` refuses a bond that would be found
  if (node->kind == YOKE_NODE_SCALAR && !node->is_quoted && node->text != NULL &&
      strcmp(node->text, "false") == 0) {
    bond->is_refused = true;
    return;
  }
  if (!yoke__shape_walk(reader, node, &bond_shape, "the bond", bond)) {
    return;
  }
  require_key(reader, node, "action");
  require_key(reader, node, "rate");
  if (bond->n_action > 0 && bond->n_rate > 0 && bond->n_action != bond->n_rate) {
    yoke__error(
        reader->messages, node->key_place,
        "the bond '%s' has %zu variables in 'action' but %zu in 'rate'; expected equally many",
        bond->name, bond->n_action, bond->n_rate);
  }
}

void yoke__read_bonds(yoke_reader* reader, const yoke_node* node, yoke_scenario* to) {
  if (yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map of bonds")) {
    return;
  }
  yoke_scenario_bond* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  if (all == NULL) {
    return;
  }
  size_t n = 0;
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    if (!child->is_refused) {
      read_bond(reader, child, &all[n++]);
    }
  }
  to->bonds = all;
  to->n_bonds = n;
}

static void check_members(yoke_reader* reader, const yoke_node* node) {
  const yoke_node* members = yoke__node_child(node, "members");
  const yoke_scenario_name* names = NULL;
  size_t n = 0;
  if (members == NULL) {
    yoke__error(reader->messages, node->key_place, "the coupling '%s' has no 'members'", node->key);
    return;
  }
  if (!yoke__expect_kind(reader, members, YOKE_NODE_LIST, "a list of names") ||
      !yoke__read_names(reader, members, &names, &n)) {
    return;
  }
  if (n == 0) {
    yoke__error(reader->messages, members->place,
                "'members': expected at least one name, found an empty list");
  }
  yoke__names_check_twice(reader, names, n, "member");
}

static void read_coupling(yoke_reader* reader, const yoke_node* node,
                          yoke_scenario_coupling* coupling) {
  *coupling = (yoke_scenario_coupling){.name = node->key, .place = node->key_place, .node = node};
  yoke__name_check(reader, node, "coupling");
  if (!yoke__expect_kind(reader, node, YOKE_NODE_MAP,
                         "a map such as {method: mpsm, members: [a, b]}")) {
    return;
  }
  coupling->method = method_of(reader, node, &coupling->method_place);
  check_members(reader, node);
}

void yoke__read_couplings(yoke_reader* reader, const yoke_node* node, yoke_scenario* to) {
  if (yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map of couplings")) {
    return;
  }
  yoke_scenario_coupling* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  if (all == NULL) {
    return;
  }
  size_t n = 0;
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    if (!child->is_refused) {
      read_coupling(reader, child, &all[n++]);
    }
  }
  to->couplings = all;
  to->n_couplings = n;
}
