// One setting in the text of a system file.
//
// The place is found in libyaml's document, whose nodes know where they begin and end:
//
//   a value that is there       its text is replaced
//   a key that is missing       in {...}: before the closing brace; else a line of its own behind the last line of its map
//   "a.x -> b.y" with keys      becomes {from: a.x, to: b.y, key: value}
#include "scenario/scenario_edit.h"

#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#define MAX_KEY 1024

typedef struct editor {
  const char* bytes;
  size_t n;
  yaml_document_t document;
  const char* path;  // the whole
  const char* rest;  // of the path: not found yet
  size_t n_path;
  const char* value;
  yoke_text* out;
} editor;

// ---- places

// libyaml counts characters.
static size_t byte_of(const editor* e, yaml_mark_t mark) {
  size_t at = e->n >= 3 && memcmp(e->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  for (size_t i = 0; i < mark.index && at < e->n; i++) {
    at++;
    while (at < e->n && ((unsigned char)e->bytes[at] & 0xc0) == 0x80) {
      at++;
    }
  }
  return at;
}

static yaml_node_t* node_at(editor* e, int index) {
  return yaml_document_get_node(&e->document, index);
}

static bool is_flow(const yaml_node_t* node) {
  return node->type == YAML_SCALAR_NODE ||
         (node->type == YAML_MAPPING_NODE && node->data.mapping.style == YAML_FLOW_MAPPING_STYLE) ||
         (node->type == YAML_SEQUENCE_NODE &&
          node->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE);
}

// A block ends for libyaml where the next one begins: comments between them are not its own.
static size_t end_of(editor* e, yaml_node_t* node) {
  while (!is_flow(node)) {
    if (node->type == YAML_MAPPING_NODE) {
      if (node->data.mapping.pairs.top == node->data.mapping.pairs.start) {
        break;
      }
      node = node_at(e, node->data.mapping.pairs.top[-1].value);
    } else {
      if (node->data.sequence.items.top == node->data.sequence.items.start) {
        break;
      }
      node = node_at(e, node->data.sequence.items.top[-1]);
    }
  }
  return byte_of(e, node->end_mark);
}

static bool is_key(const yaml_node_t* node, const char* key, size_t n) {
  return node->type == YAML_SCALAR_NODE && node->data.scalar.length == n &&
         memcmp(node->data.scalar.value, key, n) == 0;
}

static yaml_node_t* find_child(editor* e, const yaml_node_t* map, const char* key, size_t n) {
  for (yaml_node_pair_t* pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
       pair++) {
    if (is_key(node_at(e, pair->key), key, n)) {
      return node_at(e, pair->value);
    }
  }
  return NULL;
}

// ---- paths

// Behind these the rest of a path is the name of a variable, dots and brackets included.
static bool is_before_name(const editor* e) {
  static const char* const keys[] = {"with.",       "start.",      "values.",     "limits.",
                                     "stop.above.", "stop.below.", "warn.above.", "warn.below."};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const size_t n = strlen(keys[i]);
    if ((size_t)(e->rest - e->path) > n && memcmp(e->rest - n, keys[i], n) == 0 &&
        e->rest[-(ptrdiff_t)n - 1] == '.') {
      return true;
    }
  }
  return false;
}

static size_t left(const editor* e) {
  return e->n_path - (size_t)(e->rest - e->path);
}

// Names may contain dots, t(x1.case): the longest that is there.
static size_t longest_name(editor* e, const yaml_node_t* map, size_t longest) {
  const size_t n = left(e);
  if (map->type != YAML_MAPPING_NODE) {
    return longest;
  }
  for (const yaml_node_pair_t* pair = map->data.mapping.pairs.start;
       pair < map->data.mapping.pairs.top; pair++) {
    const yaml_node_t* key = node_at(e, pair->key);
    const size_t length = key->type == YAML_SCALAR_NODE ? key->data.scalar.length : 0;
    if (length > longest && length <= n && is_key(key, e->rest, length) &&
        (length == n || e->rest[length] == '.' || e->rest[length] == '[')) {
      longest = length;
    }
  }
  return longest;
}

static size_t name_length(editor* e, const yaml_node_t* map) {
  const size_t n = left(e);
  size_t length = 0;
  while (length < n && e->rest[length] != '.' && e->rest[length] != '[') {
    length++;
  }
  if (!is_before_name(e)) {
    return longest_name(e, map, length);
  }
  // a list under this name, and an index behind it
  const char* bracket = memchr(e->rest, '[', n);
  const size_t n_list = bracket == NULL ? n : (size_t)(bracket - e->rest);
  const yaml_node_t* list =
      map->type == YAML_MAPPING_NODE ? find_child(e, map, e->rest, n_list) : NULL;
  return bracket != NULL && list != NULL && list->type == YAML_SEQUENCE_NODE ? n_list : n;
}

static void skip(editor* e, size_t n) {
  e->rest += n;
  if (left(e) > 0 && *e->rest == '.') {
    e->rest++;
  }
}

static yaml_node_t* find_entry(editor* e, const yaml_node_t* list) {
  size_t index = 0, n = 1;
  for (; n < left(e) && e->rest[n] >= '0' && e->rest[n] <= '9' && index < 100000000; n++) {
    index = index * 10 + (size_t)(e->rest[n] - '0');
  }
  const size_t n_items = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
  if (n >= left(e) || e->rest[n] != ']' || index >= n_items) {
    return NULL;
  }
  skip(e, n + 1);
  return node_at(e, list->data.sequence.items.start[index]);
}

// The last node of the path that is there; rest: what is not.
static yaml_node_t* find_place(editor* e) {
  yaml_node_t* node = yaml_document_get_root_node(&e->document);
  while (node != NULL && left(e) > 0) {
    yaml_node_t* next = NULL;
    if (node->type == YAML_SEQUENCE_NODE && *e->rest == '[') {
      next = find_entry(e, node);
    } else if (node->type == YAML_MAPPING_NODE) {
      const size_t n = name_length(e, node);
      next = find_child(e, node, e->rest, n);
      if (next != NULL) {
        skip(e, n);
      }
    }
    if (next == NULL) {
      return node;
    }
    node = next;
  }
  return node;
}

// ---- texts

static void append_key(yoke_text* to, const char* key, size_t n) {
  bool is_plain = n > 0;
  for (size_t i = 0; i < n; i++) {
    is_plain = is_plain &&
               (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", key[i]) != NULL ||
                (i > 0 && strchr("0123456789.-", key[i]) != NULL));
  }
  yoke__text_string(to, is_plain ? "" : "\"");
  for (size_t i = 0; i < n; i++) {
    if (!is_plain && (key[i] == '"' || key[i] == '\\')) {
      yoke__text_string(to, "\\");
    }
    yoke__text_append(to, key + i, 1);
  }
  yoke__text_string(to, is_plain ? "" : "\"");
}

// "key: value", or "key: {next: value}" where more is missing. False: a list cannot be made this way.
static bool append_entry(editor* e, const yaml_node_t* map, yoke_text* to) {
  size_t n_open = 0;
  while (left(e) > 0) {
    const size_t n = name_length(e, map);
    if (n == 0 || n > MAX_KEY) {
      return false;
    }
    append_key(to, e->rest, n);
    yoke__text_string(to, ": ");
    skip(e, n);
    if (left(e) > 0) {
      yoke__text_string(to, "{");
      n_open++;
    }
  }
  yoke__text_string(to, e->value);
  for (; n_open > 0; n_open--) {
    yoke__text_string(to, "}");
  }
  return true;
}

// The file with the bytes from..to replaced.
static void splice(editor* e, size_t from, size_t to, const char* text) {
  yoke__text_append(e->out, e->bytes, from);
  yoke__text_string(e->out, text == NULL ? "" : text);
  yoke__text_append(e->out, e->bytes + to, e->n - to);
}

// ---- changes

static bool replace(editor* e, yaml_node_t* node) {
  const size_t from = byte_of(e, node->start_mark), to = end_of(e, node);
  yoke_text text = {0};
  // nothing stands behind "key:"
  yoke__text_string(&text, from == to && from > 0 && e->bytes[from - 1] == ':' ? " " : "");
  yoke__text_string(&text, e->value);
  splice(e, from, to, text.bytes);
  yoke__text_free(&text);
  return true;
}

static const char* line_break(const editor* e) {
  const char* end = memchr(e->bytes, '\n', e->n);
  return end != NULL && end > e->bytes && end[-1] == '\r' ? "\r\n" : "\n";
}

// A line of its own behind the last one of the map.
static bool insert_line(editor* e, yaml_node_t* map) {
  const yaml_node_t* first = node_at(e, map->data.mapping.pairs.start->key);
  size_t at = end_of(e, map);
  yoke_text text = {0};
  const bool is_at_start = at > 0 && e->bytes[at - 1] == '\n';
  if (!is_at_start) {
    for (; at < e->n && e->bytes[at] != '\n' && e->bytes[at] != '\r'; at++) {
    }
    yoke__text_string(&text, line_break(e));
  }
  for (size_t i = 0; i < first->start_mark.column; i++) {
    yoke__text_string(&text, " ");
  }
  const bool is_made = append_entry(e, map, &text);
  yoke__text_string(&text, is_at_start ? line_break(e) : "");
  if (is_made) {
    splice(e, at, at, text.bytes);
  }
  yoke__text_free(&text);
  return is_made;
}

static bool insert_entry(editor* e, yaml_node_t* map) {
  const bool is_empty = map->data.mapping.pairs.top == map->data.mapping.pairs.start;
  if (!is_flow(map)) {
    return !is_empty && insert_line(e, map);
  }
  // behind the last entry, or behind the brace
  const size_t at = is_empty ? byte_of(e, map->start_mark) + 1
                             : end_of(e, node_at(e, map->data.mapping.pairs.top[-1].value));
  yoke_text text = {0};
  yoke__text_string(&text, is_empty ? "" : ", ");
  const bool is_made = append_entry(e, map, &text);
  if (is_made) {
    splice(e, at, at, text.bytes);
  }
  yoke__text_free(&text);
  return is_made;
}

static bool is_blank(const yaml_node_t* node) {
  return node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0 &&
         node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static void append_trimmed(yoke_text* to, const char* from, const char* end) {
  for (; from < end && *from == ' '; from++) {
  }
  for (; end > from && end[-1] == ' '; end--) {
  }
  yoke__text_append(to, from, (size_t)(end - from));
}

// "a.x -> b.y" as a map, with more keys; an empty value as a map.
static bool expand(editor* e, yaml_node_t* node) {
  const char* text = (const char*)node->data.scalar.value;
  const char* arrow = strstr(text, "->");
  const bool is_new = is_blank(node);
  const size_t from = byte_of(e, node->start_mark), to = end_of(e, node);
  if (!is_new && (arrow == NULL || strpbrk(text, "\"'{}[],#:") != NULL)) {
    return false;
  }
  yoke_text map = {0};
  yoke__text_string(&map, is_new && from > 0 && e->bytes[from - 1] == ':' ? " {" : "{");
  if (!is_new) {
    yoke__text_string(&map, "from: ");
    append_trimmed(&map, text, arrow);
    yoke__text_string(&map, ", to: ");
    append_trimmed(&map, arrow + 2, text + strlen(text));
    yoke__text_string(&map, ", ");
  }
  const bool is_made = append_entry(e, node, &map);
  yoke__text_string(&map, "}");
  if (is_made) {
    splice(e, from, to, map.bytes);
  }
  yoke__text_free(&map);
  return is_made;
}

static bool change(editor* e) {
  yaml_node_t* node = find_place(e);
  if (node == NULL) {
    return false;
  }
  if (left(e) == 0) {
    return replace(e, node);
  }
  return node->type == YAML_MAPPING_NODE  ? insert_entry(e, node)
         : node->type == YAML_SCALAR_NODE ? expand(e, node)
                                          : false;
}

yoke_status yoke__scenario_edit(const char* bytes, size_t n, const char* set, yoke_text* out,
                                const yoke_sink* sink) {
  const char* equals = strchr(set, '=');
  yaml_parser_t parser;
  if (equals == NULL || !yaml_parser_initialize(&parser)) {
    return equals == NULL ? YOKE_BAD_ARG : YOKE_NO_MEMORY;
  }
  editor e = {.bytes = bytes,
              .n = n,
              .path = set,
              .rest = set,
              .n_path = (size_t)(equals - set),
              .value = equals + 1,
              .out = out};
  yaml_parser_set_input_string(&parser, (const unsigned char*)bytes, n);
  const bool is_loaded = yaml_parser_load(&parser, &e.document) != 0;
  const bool is_changed = is_loaded && change(&e);
  if (is_loaded) {
    yaml_document_delete(&e.document);
  }
  yaml_parser_delete(&parser);
  if (!is_changed) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "--set %.200s: the file has no place to write this to",
                     set);
  }
  return out->status;
}
