// `--set path=value`: changes one value of the tree before it is checked.
//
// A path follows the file: time.step, units.left.with.k, connections[0].order, record.every. Behind
// `with` and `start` the rest of the path is the name of a variable, dots included. Keys that the
// file may have but has not are created on the way; names of the user's choice (units, bonds) are
// not. The value is YAML text, so lists and maps work. Messages about the new value carry the place
// "--set path".
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_reader.h"

#define WHERE_SIZE     192
#define MAX_HINT_NAMES 4096  // names compared for "did you mean"

// Where a path has got to.
typedef struct walker {
  yoke_reader* reader;
  yoke_place place;  // of all messages and new nodes
  yoke_node* node;
  const yoke_shape* shape;  // of node
  const char* path;
  const char* rest;  // of path
} walker;

static bool out_of_memory(walker* w) {
  w->reader->is_out_of_memory = true;
  return false;
}

// The part of the path that led to node, for messages: "'units'", or "the file".
static const char* where(const walker* w, char to[WHERE_SIZE]) {
  size_t n = (size_t)(w->rest - w->path);
  n -= n > 0 && w->path[n - 1] == '.';
  char cut[YOKE_FOUND_SIZE], done[YOKE_FOUND_SIZE];
  if (n == 0) {
    snprintf(to, WHERE_SIZE, "the file");
  } else {
    snprintf(done, sizeof done, "%.*s", (int)(n < sizeof done ? n : sizeof done - 1), w->path);
    snprintf(to, WHERE_SIZE, "'%s'", yoke__text_cut(done, cut));
  }
  return to;
}

static void report_not_found(const walker* w, const char* name, const char* hint) {
  char cut[YOKE_FOUND_SIZE], place[WHERE_SIZE];
  yoke__error(w->reader->messages, w->place, "'%s' not found in %s%s", yoke__text_cut(name, cut),
              where(w, place), hint);
}

static yoke_node* find_child(const yoke_node* map, const char* name) {
  for (yoke_node* child = map->first; child != NULL; child = child->next) {
    if (strcmp(child->key, name) == 0) {
      return child;
    }
  }
  return NULL;
}

// A new empty entry at the end of a map.
static yoke_node* add_child(const walker* w, yoke_node* map, const char* name) {
  yoke_node* child = yoke__node_new(w->reader, YOKE_NODE_SCALAR, w->place);
  if (child == NULL) {
    return NULL;
  }
  yoke_node* last = map->first;
  while (last != NULL && last->next != NULL) {
    last = last->next;
  }
  child->key = name;
  child->key_place = w->place;
  yoke__node_append(map, last, child);
  return child;
}

// A connection in its short form becomes the map {from, to}, so that it can take more keys.
static bool expand_connection(walker* w) {
  yoke_scenario_endpoint ends[2];
  static const char* const keys[] = {"from", "to"};
  const yoke_node before = *w->node;
  if (!yoke__read_pair(w->reader, &before, &ends[0], &ends[1], NULL)) {
    return false;
  }
  w->node->kind = YOKE_NODE_MAP;
  for (int i = 0; i < 2; i++) {
    yoke_node* end = add_child(w, w->node, keys[i]);
    const size_t n_unit = strlen(ends[i].unit), n_variable = strlen(ends[i].variable);
    char* text = yoke__reader_array(w->reader, n_unit + n_variable + 2, 1);
    if (end == NULL || text == NULL) {
      return out_of_memory(w);
    }
    memcpy(text, ends[i].unit, n_unit);
    text[n_unit] = '.';
    memcpy(text + n_unit + 1, ends[i].variable, n_variable + 1);
    end->text = text;
    end->is_quoted = true;
    end->place = end->key_place = ends[i].place;
  }
  return true;
}

// A text that stands for a map with one key becomes that map.
static bool expand_text(walker* w) {
  const yoke_node before = *w->node;
  w->node->kind = YOKE_NODE_MAP;
  w->node->first = NULL;
  w->node->n_children = 0;
  yoke_node* child = add_child(w, w->node, w->shape->text_key);
  if (child == NULL) {
    return out_of_memory(w);
  }
  yoke_node* next = child->next;
  *child = before;
  child->next = next;
  child->key = w->shape->text_key;
  return true;
}

// The node must be a map to go on; nothing becomes an empty map. False: reported.
static bool enter_map(walker* w) {
  if (w->node->kind == YOKE_NODE_MAP) {
    return true;
  }
  if (w->node->is_refused) {
    return false;
  }
  if (yoke__node_is_null(w->node) && w->shape->kind != YOKE_SHAPE_VALUE &&
      w->shape->kind != YOKE_SHAPE_LIST) {
    w->node->kind = YOKE_NODE_MAP;
    return true;
  }
  if (w->node->kind == YOKE_NODE_SCALAR && w->shape->is_connection) {
    return expand_connection(w);
  }
  if (w->node->kind == YOKE_NODE_SCALAR && w->shape->text_key != NULL) {
    return expand_text(w);
  }
  char hint[WHERE_SIZE], found[YOKE_FOUND_SIZE];
  snprintf(hint, sizeof hint, ", which is %s", yoke__node_found(w->node, found));
  report_not_found(w, w->rest, hint);
  return false;
}

// The nearest of the names a map has.
static void names_hint(const walker* w, const char* name, char* to, size_t size) {
  const char* names[MAX_HINT_NAMES] = {0};
  size_t n = 0;
  for (const yoke_node* child = w->node->first; child != NULL && n < MAX_HINT_NAMES;
       child = child->next) {
    names[n++] = child->key;
  }
  const char* nearest = yoke__nearest_name(name, names, n);
  to[0] = '\0';
  if (nearest != NULL) {
    char cut[YOKE_FOUND_SIZE];
    snprintf(to, size, "; did you mean '%s'?", yoke__text_cut(nearest, cut));
  }
}

// The shape of the entry `name`; NULL: this place knows no such entry (reported).
static const yoke_shape* entry_shape(const walker* w, const char* name, bool exists) {
  char hint[256];
  switch (w->shape->kind) {
  case YOKE_SHAPE_KEYS:
    for (size_t i = 0; i < w->shape->n_keys; i++) {
      if (strcmp(w->shape->keys[i].name, name) == 0) {
        return w->shape->keys[i].shape == NULL ? &yoke__shape_value : w->shape->keys[i].shape;
      }
    }
    yoke__shape_hint(w->shape, name, hint, sizeof hint);
    report_not_found(w, name, hint);
    return NULL;
  case YOKE_SHAPE_NAMES:
    if (exists) {
      return w->shape->entry;
    }
    names_hint(w, name, hint, sizeof hint);
    report_not_found(w, name, hint);
    return NULL;
  case YOKE_SHAPE_FREE:
    return &yoke__shape_free;
  case YOKE_SHAPE_VALUE:
  case YOKE_SHAPE_LIST:
  case YOKE_SHAPE_VARIABLES:
    break;
  }
  return &yoke__shape_value;
}

// The same among names of the user's choice, which may contain dots themselves: the longest one that is there.
static size_t longest_name(const walker* w) {
  size_t longest = strcspn(w->rest, ".[");
  for (const yoke_node* child = w->node->first; child != NULL; child = child->next) {
    const size_t n = strlen(child->key);
    if (n > longest && strncmp(child->key, w->rest, n) == 0 &&
        (w->rest[n] == '\0' || w->rest[n] == '.' || w->rest[n] == '[')) {
      longest = n;
    }
  }
  return longest;
}

// Length of the next name of the path. Names of variables contain dots and brackets: the whole
// rest, unless only a part up to an index is known.
static size_t name_length(const walker* w) {
  if (w->shape->kind == YOKE_SHAPE_NAMES) {
    return longest_name(w);
  }
  if (w->shape->kind != YOKE_SHAPE_VARIABLES) {
    return strcspn(w->rest, ".[");
  }
  const size_t n_all = strlen(w->rest);
  if (n_all == 0 || w->rest[n_all - 1] != ']' || find_child(w->node, w->rest) != NULL) {
    return n_all;
  }
  for (const yoke_node* child = w->node->first; child != NULL; child = child->next) {
    const size_t n = strlen(child->key);
    if (child->kind == YOKE_NODE_LIST && strncmp(child->key, w->rest, n) == 0 &&
        w->rest[n] == '[') {
      return n;
    }
  }
  return n_all;
}

// Steps into the entry of a map that the path names, created where the file may have it.
static bool step_name(walker* w) {
  if (!enter_map(w)) {
    return false;
  }
  const size_t n = name_length(w);
  const char* name = yoke__arena_text(w->reader->arena, w->rest, n);
  if (name == NULL) {
    return out_of_memory(w);
  }
  if (n == 0) {
    yoke__error(w->reader->messages, w->place,
                "the path has an empty part; expected for example time.step=1e-3");
    return false;
  }
  yoke_node* child = find_child(w->node, name);
  const yoke_shape* shape = entry_shape(w, name, child != NULL);
  if (shape == NULL) {
    return false;
  }
  child = child != NULL ? child : add_child(w, w->node, name);
  if (child == NULL) {
    return out_of_memory(w);
  }
  w->node = child;
  w->shape = shape;
  w->rest += n;
  return true;
}

// Steps into the entry "[i]" of a list.
static bool step_index(walker* w) {
  char place[WHERE_SIZE], found[YOKE_FOUND_SIZE];
  const size_t n_digits = strspn(w->rest + 1, "0123456789");
  if (n_digits == 0 || w->rest[1 + n_digits] != ']') {
    yoke__error(w->reader->messages, w->place, "expected an index such as [0] behind %s",
                where(w, place));
    return false;
  }
  if (w->node->kind != YOKE_NODE_LIST) {
    if (!w->node->is_refused) {
      yoke__error(w->reader->messages, w->place, "%s has no entries: it is %s, not a list",
                  where(w, place), yoke__node_found(w->node, found));
    }
    return false;
  }
  size_t index = 0;
  for (size_t i = 1; i <= n_digits && index <= w->node->n_children; i++) {
    index = index * 10 + (size_t)(w->rest[i] - '0');
  }
  if (index >= w->node->n_children) {
    yoke__error(w->reader->messages, w->place,
                "%s has %zu entries, counted from 0; found the index %.*s", where(w, place),
                w->node->n_children, (int)(n_digits < 20 ? n_digits : 20), w->rest + 1);
    return false;
  }
  yoke_node* child = w->node->first;
  for (size_t i = 0; i < index; i++) {
    child = child->next;
  }
  w->node = child;
  w->shape = w->shape->kind == YOKE_SHAPE_LIST ? w->shape->entry : &yoke__shape_value;
  w->rest += n_digits + 2;
  return true;
}

// Follows the path to its end. False: reported.
static bool follow_path(walker* w) {
  do {
    const bool is_index = *w->rest == '[' && w->rest != w->path;
    if (!(is_index ? step_index(w) : step_name(w))) {
      return false;
    }
    if (*w->rest == '.') {
      w->rest++;
      if (*w->rest == '\0') {
        return step_name(w);  // reports the empty part
      }
    } else if (*w->rest != '\0' && *w->rest != '[') {
      char place[WHERE_SIZE];
      yoke__error(w->reader->messages, w->place, "expected '.' or the end of the path behind %s",
                  where(w, place));
      return false;
    }
  } while (*w->rest != '\0');
  return true;
}

// The value as a tree of its own; NULL: reported or out of memory.
static yoke_node* parse_value(yoke_reader* reader, const char* text, yoke_place place) {
  yoke_node* value = NULL;
  const yoke_status status =
      yoke__tree_read(text, strlen(text), place, reader->arena, reader->messages, &value);
  if (status == YOKE_NO_MEMORY) {
    reader->is_out_of_memory = true;
  }
  if (status < 0) {
    return NULL;
  }
  if (value == NULL) {
    yoke__error(reader->messages, place, "expected a value behind '='");
  }
  return value;
}

void yoke__scenario_set(yoke_reader* reader, yoke_node* root, const char* text) {
  const char* equals = strchr(text, '=');
  const size_t n_path = equals == NULL ? strlen(text) : (size_t)(equals - text);
  const char* path = yoke__arena_text(reader->arena, text, n_path);
  char* source = yoke__reader_array(reader, n_path + sizeof "--set ", 1);
  if (path == NULL || source == NULL) {
    reader->is_out_of_memory = true;
    return;
  }
  snprintf(source, n_path + sizeof "--set ", "--set %s", path);
  const yoke_place place = {.source = source};
  if (equals == NULL || n_path == 0) {
    yoke__error(reader->messages, place, "expected path=value, for example time.step=1e-3");
    return;
  }

  // first the place, so that a wrong path is said even if the value is wrong too
  walker w = {reader, place, root, &yoke__shape_file, path, path};
  const bool is_found = follow_path(&w);
  const yoke_node* value = reader->is_out_of_memory ? NULL : parse_value(reader, equals + 1, place);
  yoke_node* node = w.node;
  if (!is_found || value == NULL) {
    // what was created on the way is no mistake of its own
    node->is_refused |= yoke__node_is_null(node);
    return;
  }
  yoke_node* next = node->next;
  const char* key = node->key;
  const yoke_place key_place = node->key_place;
  *node = *value;
  node->next = next;
  node->key = key;
  node->key_place = key_place;
}
