// Our annotation merged into the tree of an SSP.
//
// Maps are merged key by key. An entry of `connections` whose ends are those of a connection of the SSP adds its keys to
// it, another one is a further connection. A bond with an arrow takes that connection over. A law takes the place of the
// unit with its name, and the kind of a unit (`model`) that of the FMU with its values. Anything else replaces what was there.
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_ssp.h"

static yoke_node* find_child(yoke_node* map, const char* key) {
  for (yoke_node* child = map->first; child != NULL; child = child->next) {
    if (child->key != NULL && strcmp(child->key, key) == 0) {
      return child;
    }
  }
  return NULL;
}

static yoke_node* last_child(yoke_node* parent) {
  yoke_node* last = parent->first;
  while (last != NULL && last->next != NULL) {
    last = last->next;
  }
  return last;
}

static void remove_child(yoke_node* map, const char* key) {
  for (yoke_node** at = &map->first; *at != NULL; at = &(*at)->next) {
    if (strcmp((*at)->key, key) == 0) {
      *at = (*at)->next;
      map->n_children--;
      return;
    }
  }
}

// A copy of one node with its children, for a new place.
static yoke_node* copy_node(yoke_reader* reader, const yoke_node* node) {
  yoke_node* copy = yoke__node_new(reader, node->kind, node->place);
  if (copy != NULL) {
    *copy = *node;
    copy->next = NULL;
  }
  return copy;
}

static void append(yoke_reader* reader, yoke_node* parent, const yoke_node* node) {
  yoke_node* copy = copy_node(reader, node);
  if (copy != NULL) {
    yoke__node_append(parent, last_child(parent), copy);
  }
}

// Puts the content of node in the place of old.
static void replace(yoke_node* old, const yoke_node* node) {
  yoke_node* next = old->next;
  *old = *node;
  old->next = next;
}

// All keys of one map into another, which may be given in its own tree: names of units, of bonds, keys of `time`.
static void merge_keys(yoke_reader* reader, yoke_node* to, const yoke_node* from) {
  for (const yoke_node* child = from->first; child != NULL; child = child->next) {
    yoke_node* old = find_child(to, child->key);
    if (old == NULL) {
      append(reader, to, child);
    } else {
      replace(old, child);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// units

// A unit of the annotation: values one by one, other keys as they are.
static void merge_unit(yoke_reader* reader, yoke_node* unit, const yoke_node* from) {
  if (unit->kind != YOKE_NODE_MAP || from->kind != YOKE_NODE_MAP) {
    replace(unit, from);
    return;
  }
  if (yoke__node_child(from, "model") != NULL) {
    remove_child(unit, "fmu");
    remove_child(unit, "interface");
    remove_child(unit, "values");
  }
  for (const yoke_node* child = from->first; child != NULL; child = child->next) {
    yoke_node* old = find_child(unit, child->key);
    if (old == NULL) {
      append(reader, unit, child);
    } else if (old->kind == YOKE_NODE_MAP && child->kind == YOKE_NODE_MAP) {
      merge_keys(reader, old, child);
    } else {
      replace(old, child);
    }
  }
}

static void merge_units(yoke_reader* reader, yoke_node* to, const yoke_node* from) {
  for (const yoke_node* child = from->first; child != NULL; child = child->next) {
    yoke_node* old = find_child(to, child->key);
    if (old == NULL) {
      append(reader, to, child);
    } else {
      merge_unit(reader, old, child);
    }
  }
}

// Laws of the annotation are units of the SSP, for those who know no laws.
static void drop_units_of_laws(yoke_node* root, const yoke_node* laws) {
  yoke_node* units = find_child(root, "units");
  if (units == NULL || units->kind != YOKE_NODE_MAP || laws->kind != YOKE_NODE_MAP) {
    return;
  }
  for (const yoke_node* law = laws->first; law != NULL; law = law->next) {
    remove_child(units, law->key);
  }
}

// ---------------------------------------------------------------------------------------------------------
// connections

// The ends of a connection of the annotation, in either form; false: they cannot be read, and the walk will say so.
static bool read_ends(yoke_reader* reader, const yoke_node* node, yoke_scenario_endpoint ends[2]) {
  const yoke_node* from = yoke__node_child(node, "from");
  const yoke_node* to = yoke__node_child(node, "to");
  if (node->kind == YOKE_NODE_MAP) {
    return from != NULL && to != NULL && from->kind == YOKE_NODE_SCALAR &&
           to->kind == YOKE_NODE_SCALAR && yoke__read_endpoint(reader, from, &ends[0]) &&
           yoke__read_endpoint(reader, to, &ends[1]);
  }
  return node->kind == YOKE_NODE_SCALAR && yoke__read_pair(reader, node, &ends[0], &ends[1], NULL);
}

static bool is_end(const yoke_node* node, const yoke_scenario_endpoint* end) {
  const size_t n = strlen(end->unit);
  return node != NULL && strncmp(node->text, end->unit, n) == 0 && node->text[n] == '.' &&
         strcmp(node->text + n + 1, end->variable) == 0;
}

// Looks from `first` on and then from the start: annotations name connections in the order they have.
static yoke_node* find_connection(yoke_node* list, yoke_node* first,
                                  const yoke_scenario_endpoint ends[2]) {
  yoke_node* at = first == NULL ? list->first : first;
  for (size_t i = 0; at != NULL && i < list->n_children; i++) {
    if (is_end(yoke__node_child(at, "to"), &ends[1]) &&
        is_end(yoke__node_child(at, "from"), &ends[0])) {
      return at;
    }
    at = at->next == NULL ? list->first : at->next;
  }
  return NULL;
}

static void merge_connections(yoke_reader* reader, yoke_node* list, const yoke_node* from) {
  yoke_node* next = list->first;
  for (const yoke_node* child = from->first; child != NULL; child = child->next) {
    yoke_scenario_endpoint ends[2] = {{0}};
    yoke_messages ignored = {0};
    yoke_reader quiet = {.arena = reader->arena, .messages = &ignored};
    yoke_node* old = read_ends(&quiet, child, ends) ? find_connection(list, next, ends) : NULL;
    next = old == NULL ? next : old->next;
    reader->is_out_of_memory |= quiet.is_out_of_memory;
    yoke__messages_free(&ignored);
    if (old == NULL) {
      append(reader, list, child);
    } else if (child->kind == YOKE_NODE_MAP) {
      merge_keys(reader, old, child);
    }
  }
}

static void remove_connection(yoke_node* list, const yoke_node* connection) {
  for (yoke_node** at = &list->first; *at != NULL; at = &(*at)->next) {
    if (*at == connection) {
      *at = connection->next;
      list->n_children--;
      return;
    }
  }
}

// One "a.x -> b.y" of a bond.
static void drop_arrow(yoke_reader* reader, yoke_node* list, const yoke_node* pair) {
  yoke_scenario_endpoint ends[2] = {{0}};
  yoke_messages ignored = {0};
  yoke_reader quiet = {.arena = reader->arena, .messages = &ignored};
  bool has_to = false;
  if (pair->kind == YOKE_NODE_SCALAR &&
      yoke__read_pair(&quiet, pair, &ends[0], &ends[1], &has_to) && has_to) {
    const yoke_node* old = find_connection(list, NULL, ends);
    if (old != NULL) {
      remove_connection(list, old);
    }
  }
  reader->is_out_of_memory |= quiet.is_out_of_memory;
  yoke__messages_free(&ignored);
}

// An arrow of a bond is a connection already: the SSP has it for those who know no bonds.
static void drop_arrows_of_bonds(yoke_reader* reader, yoke_node* root, const yoke_node* bonds) {
  static const char* const sides[] = {"action", "rate"};
  yoke_node* list = find_child(root, "connections");
  if (list == NULL || list->kind != YOKE_NODE_LIST || bonds->kind != YOKE_NODE_MAP) {
    return;
  }
  for (const yoke_node* bond = bonds->first; bond != NULL; bond = bond->next) {
    for (size_t i = 0; i < YOKE_COUNT(sides); i++) {
      const yoke_node* side = yoke__node_child(bond, sides[i]);
      if (side != NULL && side->kind != YOKE_NODE_LIST) {
        drop_arrow(reader, list, side);
      }
      for (const yoke_node* at = side == NULL ? NULL : side->first; at != NULL; at = at->next) {
        drop_arrow(reader, list, at);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the top

static bool is_key(const yoke_node* node, const char* key) {
  return strcmp(node->key, key) == 0;
}

void yoke__ssp_merge(yoke_reader* reader, yoke_node* root, const yoke_node* annotation) {
  for (const yoke_node* child = annotation->first; child != NULL; child = child->next) {
    yoke_node* old = find_child(root, child->key);
    if (is_key(child, "laws")) {
      drop_units_of_laws(root, child);
    } else if (is_key(child, "bonds")) {
      drop_arrows_of_bonds(reader, root, child);
    }
    if (old == NULL) {
      append(reader, root, child);
    } else if (is_key(child, "units") && child->kind == YOKE_NODE_MAP) {
      merge_units(reader, old, child);
    } else if (is_key(child, "connections") && child->kind == YOKE_NODE_LIST) {
      merge_connections(reader, old, child);
    } else if (old->kind == YOKE_NODE_MAP && child->kind == YOKE_NODE_MAP) {
      merge_keys(reader, old, child);
    } else {
      replace(old, child);
    }
  }
}
