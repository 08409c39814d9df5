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

static void read_action(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario_bond* bond = field;
  read_pairs(reader, node, &bond->action, &bond->n_action);
}

static void read_rate(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario_bond* bond = field;
  read_pairs(reader, node, &bond->rate, &bond->n_rate);
}

static void read_sign(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  double sign = 0;
  if (!yoke__read_number(reader, node, rule, &sign)) {
    return;
  }
  if (sign == 1 || sign == -1) {
    *(double*)field = sign;
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

void yoke__key_coupling(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_place place = node->place;
  if (!yoke__node_is_null(node) &&
      yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map such as {method: energy}") &&
      method_of(reader, node, &place) != NULL) {
    *(const yoke_node**)field = node;
  }
}

static const char* const residuals[] = {"samples", "partner-held", NULL};
static const yoke_range sign_range = {-1, 1, false, false, "1 or -1"};
static const yoke_range mu_range = {-10, 10, false, false, "a number from -10 to 10"};

#define OF(field) offsetof(yoke_scenario_bond, field)
#define WATCH(key, shape)                                                                          \
  { key, yoke__key_shared, shape, OF(watch), &yoke__shape_quality }
static const yoke_key bond_keys[] = {
    {"action", read_action, &yoke__shape_value, 0, NULL},
    {"rate", read_rate, &yoke__shape_value, 0, NULL},
    {"sign", read_sign, &yoke__shape_value, OF(sign), &sign_range},
    {"coupling", yoke__key_coupling, &yoke__shape_free, OF(coupling), NULL},
    {"residual", yoke__key_choice, &yoke__shape_value, OF(residual), residuals},
    {"mu", yoke__key_number, &yoke__shape_value, OF(mu), &mu_range},
    {"energy", yoke__key_number, &yoke__shape_value, OF(energy), &yoke__range_positive},
    // without what `quality` has beside the limits
    {"warn", yoke__key_map, &yoke__shape_limits, OF(watch.warn), &yoke__shape_limits},
    {"stop", yoke__key_map, &yoke__shape_limits, OF(watch.stop), &yoke__shape_limits},
    WATCH("period", &yoke__shape_value),
    WATCH("window", &yoke__shape_value),
    WATCH("settle", &yoke__shape_value),
    WATCH("persist", &yoke__shape_value),
    WATCH("hysteresis", &yoke__shape_value),
};

static const yoke_shape bond_shape = YOKE_SHAPE_OF(bond_keys);
const yoke_shape yoke__shape_bonds = {.kind = YOKE_SHAPE_NAMES, .entry = &bond_shape};
const yoke_shape yoke__shape_couplings = {.kind = YOKE_SHAPE_NAMES, .entry = &yoke__shape_free};

static void require_key(yoke_reader* reader, const yoke_node* bond, const char* key) {
  if (yoke__node_child(bond, key) == NULL) {
    yoke__error(reader->messages, bond->key_place, "the bond '%s' has no '%s'", bond->key, key);
  }
}

static void read_bond(yoke_reader* reader, const yoke_node* node, void* entry) {
  yoke_scenario_bond* bond = entry;
  *bond = (yoke_scenario_bond){.name = node->key,
                               .place = node->key_place,
                               .sign = 1,
                               .mu = (double)NAN,
                               .energy = (double)NAN,
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

void yoke__read_bonds(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario* to = field;
  to->bonds = yoke__read_entries(reader, node, YOKE_NODE_MAP, "a map of bonds", sizeof *to->bonds,
                                 read_bond, &to->n_bonds);
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

// Parameters belong to a method.
static void check_keys_without_method(yoke_reader* reader, const yoke_node* node) {
  for (const yoke_node* key = node->first; key != NULL; key = key->next) {
    if (strcmp(key->key, "inputs") != 0 && strcmp(key->key, "members") != 0) {
      yoke__error(reader->messages, key->key_place,
                  "'%s' needs a 'method': without one a coupling has 'inputs' and 'members' only",
                  key->key);
    }
  }
}

static void read_coupling(yoke_reader* reader, const yoke_node* node, void* entry) {
  yoke_scenario_coupling* coupling = entry;
  *coupling = (yoke_scenario_coupling){.name = node->key, .place = node->key_place, .node = node};
  yoke__name_check(reader, node, "coupling");
  if (!yoke__expect_kind(reader, node, YOKE_NODE_MAP,
                         "a map such as {method: mpsm, members: [a, b]}")) {
    return;
  }
  const yoke_node* inputs = yoke__node_child(node, "inputs");
  size_t choice = 0;
  if (inputs != NULL && yoke__read_choice(reader, inputs, yoke__inputs_words, &choice)) {
    coupling->has_inputs = true;
    coupling->inputs = (yoke_inputs)choice;
    coupling->inputs_place = inputs->key_place;
  }
  if (inputs == NULL || yoke__node_child(node, "method") != NULL) {
    coupling->method = method_of(reader, node, &coupling->method_place);
  } else {
    check_keys_without_method(reader, node);
  }
  check_members(reader, node);
}

void yoke__read_couplings(yoke_reader* reader, const yoke_node* node, void* field,
                          const void* rule) {
  (void)rule;
  yoke_scenario* to = field;
  to->couplings = yoke__read_entries(reader, node, YOKE_NODE_MAP, "a map of couplings",
                                     sizeof *to->couplings, read_coupling, &to->n_couplings);
}
