// libyaml events -> tree of nodes with line and column.
//
// libyaml (MIT) does the scanning; this file keeps the stack of open maps and lists itself, so
// nothing recurses and the depth limit holds on the events. Refused with a message, reading goes
// on: aliases, anchors, tags, merge keys, duplicate keys, keys that are no text. Refused and the
// end of reading: syntax errors, too deep, too many values, a second document.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"
#include "scenario/scenario_syntax.h"

#define CHUNK    128  // nodes taken from the arena at once, which aligns each piece to 64 bytes
#define FEW_KEYS 8    // maps up to here are checked for duplicates pair by pair

// One open map or list.
typedef struct level {
  yoke_node* node;
  yoke_node* last;  // child
  bool has_key;     // map: a key was read, its value comes next
  const char* key;  // NULL: the key was refused, drop the value
  yoke_place key_place;
} level;

typedef struct builder {
  yaml_parser_t parser;
  yoke_reader reader;
  yoke_place origin;
  level levels[YOKE_SCENARIO_MAX_DEPTH];
  size_t depth;
  yoke_node* root;
  yoke_node* chunk;
  size_t n_left;  // in chunk
  size_t n_nodes;
} builder;

void* yoke__reader_array(yoke_reader* reader, size_t count, size_t size) {
  void* piece = yoke__arena_array(reader->arena, count, size);
  reader->is_out_of_memory |= piece == NULL;
  return piece;
}

yoke_node* yoke__node_new(yoke_reader* reader, yoke_node_kind kind, yoke_place place) {
  yoke_node* node = yoke__reader_array(reader, 1, sizeof *node);
  if (node != NULL) {
    node->kind = kind;
    node->place = place;
    node->text = "";
  }
  return node;
}

void yoke__node_append(yoke_node* parent, yoke_node* last, yoke_node* child) {
  if (last == NULL) {
    parent->first = child;
  } else {
    last->next = child;
  }
  parent->n_children++;
}

yoke_node* yoke__node_scalar(yoke_reader* reader, const char* text, bool is_quoted,
                             yoke_place place) {
  yoke_node* node = yoke__node_new(reader, YOKE_NODE_SCALAR, place);
  const char* copy = yoke__arena_text(reader->arena, text, strlen(text));
  if (node == NULL || copy == NULL) {
    reader->is_out_of_memory = true;
    return NULL;
  }
  node->text = copy;
  node->is_quoted = is_quoted;
  return node;
}

void yoke__node_put(yoke_reader* reader, yoke_node* parent, yoke_node** last, const char* key,
                    yoke_place place, yoke_node* child) {
  if (parent == NULL || child == NULL) {
    return;
  }
  if (key != NULL) {
    child->key = yoke__arena_text(reader->arena, key, strlen(key));
    child->key_place = place;
    if (child->key == NULL) {
      reader->is_out_of_memory = true;
      return;
    }
  }
  yoke__node_append(parent, *last, child);
  *last = child;
}

const yoke_node* yoke__node_child(const yoke_node* map, const char* key) {
  if (map == NULL || map->kind != YOKE_NODE_MAP) {
    return NULL;
  }
  for (const yoke_node* child = map->first; child != NULL; child = child->next) {
    if (strcmp(child->key, key) == 0) {
      return child;
    }
  }
  return NULL;
}

static yoke_place place_at(const builder* b, yaml_mark_t mark) {
  if (b->origin.line == 0) {
    return b->origin;
  }
  return (yoke_place){b->origin.source, (int)mark.line + 1, (int)mark.column + 1};
}

static yoke_node* new_node(builder* b, yoke_node_kind kind, yaml_mark_t mark) {
  if (b->n_left == 0) {
    b->chunk = yoke__reader_array(&b->reader, CHUNK, sizeof *b->chunk);
    if (b->chunk == NULL) {
      return NULL;
    }
    b->n_left = CHUNK;
  }
  yoke_node* node = &b->chunk[CHUNK - b->n_left--];
  node->kind = kind;
  node->place = place_at(b, mark);
  node->text = "";
  b->n_nodes++;
  return node;
}

// Column of the first character of a scalar's text if it stands in one line as is, else 0.
static int verbatim_column(const builder* b, const yaml_event_t* event) {
  const yaml_mark_t *start = &event->start_mark, *end = &event->end_mark;
  if (b->origin.line == 0 || start->line != end->line) {
    return 0;
  }
  const int n_quotes = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 1;

  // an escape makes the source longer than the text
  size_t n_characters = 0;
  for (size_t i = 0; i < event->data.scalar.length; i++) {
    n_characters += (event->data.scalar.value[i] & 0xc0u) != 0x80u;
  }
  const size_t n_source = end->column - start->column;
  return n_source == n_characters + 2 * (size_t)n_quotes ? (int)start->column + 1 + n_quotes : 0;
}

// The scalar of an event, or NULL when memory is out.
static yoke_node* new_scalar(builder* b, const yaml_event_t* event) {
  const char* value = (const char*)event->data.scalar.value;
  const size_t length = event->data.scalar.length;
  yoke_node* node = new_node(b, YOKE_NODE_SCALAR, event->start_mark);
  if (node == NULL) {
    return NULL;
  }
  if (memchr(value, '\0', length) != NULL) {
    yoke__error(b->reader.messages, node->place, "a text cannot contain the character \\0");
    node->is_refused = true;
  }
  node->is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text_column = verbatim_column(b, event);
  node->text = yoke__arena_text(b->reader.arena, value, length);
  if (node->text == NULL) {
    b->reader.is_out_of_memory = true;
    return NULL;
  }
  return node;
}

// Refuses anchors and tags, which may stand at any value.
static void check_decoration(builder* b, const yaml_char_t* anchor, const yaml_char_t* tag,
                             yaml_mark_t mark) {
  char cut[YOKE_FOUND_SIZE];
  if (anchor != NULL) {
    yoke__error(b->reader.messages, place_at(b, mark), "anchors are not supported: remove '&%s'",
                yoke__text_cut((const char*)anchor, cut));
  }
  if (tag != NULL) {
    yoke__error(b->reader.messages, place_at(b, mark),
                "tags are not supported: remove the tag '%s'",
                yoke__text_cut((const char*)tag, cut));
  }
}

// Takes node as the key of the open map; refused keys leave key NULL.
static void take_key(builder* b, level* top, const yoke_node* node) {
  yoke_messages* messages = b->reader.messages;
  top->has_key = true;
  top->key = NULL;
  top->key_place = node->place;
  if (node->is_refused) {
    return;
  }
  if (node->kind != YOKE_NODE_SCALAR) {
    yoke__error(messages, node->place, "a key must be a text, found %s",
                node->kind == YOKE_NODE_LIST ? "a list" : "a map");
  } else if (!node->is_quoted && strcmp(node->text, "<<") == 0) {
    yoke__error(messages, node->place, "merge keys ('<<') are not supported: write the keys out");
  } else if (node->text[0] == '\0') {
    yoke__error(messages, node->place, "expected a key before ':'");
  } else {
    top->key = node->text;
  }
}

// Hangs a complete scalar or a just opened map or list where it belongs.
static void attach(builder* b, yoke_node* node) {
  if (b->depth == 0) {
    b->root = node;
    return;
  }
  level* top = &b->levels[b->depth - 1];
  if (top->node->kind == YOKE_NODE_MAP && !top->has_key) {
    take_key(b, top, node);
    return;
  }

  // a value, dropped if its key was refused
  if (top->node->kind == YOKE_NODE_MAP) {
    top->has_key = false;
    if (top->key == NULL) {
      return;
    }
    node->key = top->key;
    node->key_place = top->key_place;
  }
  yoke__node_append(top->node, top->last, node);
  top->last = node;
}

// False: too deep, reported.
static bool open_level(builder* b, yoke_node* node) {
  if (b->depth == YOKE_SCENARIO_MAX_DEPTH) {
    yoke__error(b->reader.messages, node->place,
                "nested too deeply: at most %d maps and lists inside each other",
                YOKE_SCENARIO_MAX_DEPTH);
    return false;
  }
  b->levels[b->depth++] = (level){.node = node};
  return true;
}

static void report_duplicate(builder* b, const yoke_node* first, yoke_node* second) {
  char cut[YOKE_FOUND_SIZE];
  yoke__text_cut(second->key, cut);
  if (b->origin.line == 0) {
    yoke__error(b->reader.messages, second->key_place, "the key '%s' is given twice", cut);
  } else {
    yoke__error(b->reader.messages, second->key_place,
                "the key '%s' was given before at line %d, column %d", cut, first->key_place.line,
                first->key_place.column);
  }
  second->is_refused = true;
}

typedef struct keyed {
  yoke_node* node;
  size_t rank;
} keyed;

static int compare_keys(const void* left, const void* right) {
  const keyed *a = left, *b = right;
  const int order = strcmp(a->node->key, b->node->key);
  return order != 0 ? order : a->rank < b->rank ? -1 : a->rank > b->rank;
}

// Large maps: sorted, equal keys are neighbours. Sorting instead of hashing: no input makes it
// quadratic.
static void find_duplicates_sorted(builder* b, const yoke_node* map) {
  keyed* all = malloc(map->n_children * sizeof *all);
  if (all == NULL) {
    b->reader.is_out_of_memory = true;
    return;
  }
  size_t n = 0;
  for (yoke_node* child = map->first; child != NULL; child = child->next) {
    all[n] = (keyed){child, n};
    n++;
  }
  qsort(all, n, sizeof *all, compare_keys);
  for (size_t i = 1, first = 0; i < n; i++) {
    if (strcmp(all[first].node->key, all[i].node->key) == 0) {
      report_duplicate(b, all[first].node, all[i].node);
    } else {
      first = i;
    }
  }
  free(all);
}

static void find_duplicates(builder* b, const yoke_node* map) {
  if (map->n_children > FEW_KEYS) {
    find_duplicates_sorted(b, map);
    return;
  }
  for (yoke_node* child = map->first; child != NULL; child = child->next) {
    for (const yoke_node* other = map->first; other != child; other = other->next) {
      if (strcmp(child->key, other->key) == 0) {
        report_duplicate(b, other, child);
        break;
      }
    }
  }
}

static void close_level(builder* b) {
  const level* top = &b->levels[--b->depth];
  if (top->node->kind == YOKE_NODE_MAP) {
    find_duplicates(b, top->node);
  }
}

static yoke_node* alias_node(builder* b, const yaml_event_t* event) {
  yoke_node* node = new_node(b, YOKE_NODE_SCALAR, event->start_mark);
  if (node == NULL) {
    return NULL;
  }
  char cut[YOKE_FOUND_SIZE];
  yoke__error(
      b->reader.messages, node->place,
      "aliases are not supported: replace '*%s' by the value it stands for, or put it into quotes",
      yoke__text_cut((const char*)event->data.alias.anchor, cut));
  node->is_refused = true;
  return node;
}

// One event that is or ends a node. False: reading ends here (reported, or memory is out).
static bool take_node(builder* b, const yaml_event_t* event) {
  yoke_node* node = NULL;
  switch (event->type) {
  case YAML_ALIAS_EVENT:
    node = alias_node(b, event);
    break;
  case YAML_SCALAR_EVENT:
    check_decoration(b, event->data.scalar.anchor, event->data.scalar.tag, event->start_mark);
    node = new_scalar(b, event);
    break;
  case YAML_SEQUENCE_START_EVENT:
    check_decoration(b, event->data.sequence_start.anchor, event->data.sequence_start.tag,
                     event->start_mark);
    node = new_node(b, YOKE_NODE_LIST, event->start_mark);
    break;
  case YAML_MAPPING_START_EVENT:
    check_decoration(b, event->data.mapping_start.anchor, event->data.mapping_start.tag,
                     event->start_mark);
    node = new_node(b, YOKE_NODE_MAP, event->start_mark);
    break;
  default:
    close_level(b);
    return !b->reader.is_out_of_memory;
  }
  if (node == NULL) {
    return false;
  }
  if (b->n_nodes > YOKE_SCENARIO_MAX_NODES) {
    yoke__error(b->reader.messages, node->place, "too many values: at most %d",
                YOKE_SCENARIO_MAX_NODES);
    return false;
  }
  attach(b, node);
  return node->kind == YOKE_NODE_SCALAR || open_level(b, node);
}

// The next event; false at the end of the text and when reading cannot go on. status says which.
static bool take_event(builder* b, const char* bytes, size_t n, size_t* n_documents,
                       yoke_status* status) {
  yaml_event_t event;
  if (!yaml_parser_parse(&b->parser, &event)) {
    if (b->parser.error == YAML_MEMORY_ERROR) {
      *status = YOKE_NO_MEMORY;
      return false;
    }
    yoke__syntax_report(&b->parser, bytes, n, b->origin, b->reader.messages);
    *status = YOKE_BAD_INPUT;
    return false;
  }
  bool goes_on = true;
  switch (event.type) {
  case YAML_NO_EVENT:
  case YAML_STREAM_END_EVENT:
    goes_on = false;
    break;
  case YAML_STREAM_START_EVENT:
  case YAML_DOCUMENT_END_EVENT:
    break;
  case YAML_DOCUMENT_START_EVENT:
    if (++*n_documents > 1) {
      yoke__error(b->reader.messages, place_at(b, event.start_mark),
                  "a second document starts here; a system file holds only one");
      *status = YOKE_BAD_INPUT;
      goes_on = false;
    }
    break;
  default:
    goes_on = take_node(b, &event);
    if (!goes_on) {
      *status = b->reader.is_out_of_memory ? YOKE_NO_MEMORY : YOKE_BAD_INPUT;
    }
    break;
  }
  yaml_event_delete(&event);
  return goes_on;
}

// "" and a lone "---" or comment: libyaml gives no node or an empty scalar
static bool is_empty(const yoke_node* root) {
  return root != NULL && root->kind == YOKE_NODE_SCALAR && !root->is_quoted && !root->is_refused &&
         root->text[0] == '\0';
}

yoke_status yoke__tree_read(const char* bytes, size_t n, yoke_place origin, yoke_arena* arena,
                            yoke_messages* messages, yoke_node** root) {
  *root = NULL;

  // a byte order mark is no part of the text
  if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
    bytes += 3;
    n -= 3;
  }
  if (!yoke__bytes_check(bytes, n, origin, messages)) {
    return YOKE_BAD_INPUT;
  }

  builder b = {.reader = {.arena = arena, .messages = messages}, .origin = origin};
  if (!yaml_parser_initialize(&b.parser)) {
    return YOKE_NO_MEMORY;
  }
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b.parser, (const unsigned char*)bytes, n);
  yoke_status status = YOKE_OK;
  size_t n_documents = 0;
  while (take_event(&b, bytes, n, &n_documents, &status)) {
  }
  yaml_parser_delete(&b.parser);
  *root = is_empty(b.root) ? NULL : b.root;
  return status;
}
