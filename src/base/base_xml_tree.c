// Small XML files as a tree in an arena. Every node is one piece of memory: the node, its list of attributes and all
// their texts.
#include <string.h>

#include "base/base_check.h"
#include "base/base_xml.h"

// Text of open elements lies on one stack: a child puts its own above the text of its parent and takes it away when it
// closes, so that the pieces of the parent come together.
//
//   | text of the root so far | text of its open child so far | ... |
//   starts[0]                 starts[1]
typedef struct building {
  yoke_arena* arena;
  yoke_messages* messages;
  const char* source;
  yoke_xml_node *root, *current;
  yoke_xml_node* last[YOKE_XML_MAX_DEPTH + 1];  // youngest child of each open element
  size_t starts[YOKE_XML_MAX_DEPTH + 1];
  yoke_text text;
  int depth;
} building;

static yoke_status no_memory(const building* b, int line) {
  yoke__error(b->messages, (yoke_place){b->source, line, 0}, "out of memory");
  return YOKE_NO_MEMORY;
}

// name and attributes behind the node, in one piece
static yoke_xml_node* new_node(yoke_arena* arena, const char* name, const char* const* attributes) {
  size_t n_texts = 0, n_bytes = strlen(name) + 1;
  for (; attributes[n_texts] != NULL; n_texts++) {
    n_bytes += strlen(attributes[n_texts]) + 1;
  }
  const size_t list_size = (n_texts + 1) * sizeof(char*);
  char* piece = yoke__arena_take(arena, sizeof(yoke_xml_node) + list_size + n_bytes);
  if (piece == NULL) {
    return NULL;
  }
  yoke_xml_node* node = (void*)piece;
  const char** list = (void*)(piece + sizeof *node);
  char* at = piece + sizeof *node + list_size;
  for (size_t i = 0; i <= n_texts; i++) {
    const char* text = i < n_texts ? attributes[i] : name;
    const size_t length = strlen(text) + 1;
    memcpy(at, text, length);
    *(i < n_texts ? &list[i] : &node->name) = at;
    at += length;
  }
  node->attributes = list;
  node->text = "";
  return node;
}

static yoke_status tree_open(void* context, const char* name, const char* const* attributes,
                             int line) {
  building* b = context;
  yoke_xml_node* node = new_node(b->arena, name, attributes);
  if (node == NULL) {
    return no_memory(b, line);
  }
  node->line = line;
  node->parent = b->current;
  if (b->current == NULL) {
    b->root = node;
  } else if (b->last[b->depth] == NULL) {
    b->current->first = node;
  } else {
    b->last[b->depth]->next = node;
  }
  b->last[b->depth] = node;
  b->current = node;
  b->depth++;
  b->last[b->depth] = NULL;
  b->starts[b->depth] = b->text.n;
  return YOKE_OK;
}

static yoke_status tree_close(void* context, const char* name, int line) {
  (void)name;
  building* b = context;
  size_t begin = b->starts[b->depth], end = b->text.n;
  while (begin < end && yoke__is_blank(b->text.bytes[begin])) {
    begin++;
  }
  while (end > begin && yoke__is_blank(b->text.bytes[end - 1])) {
    end--;
  }
  if (end > begin) {
    b->current->text = yoke__arena_text(b->arena, b->text.bytes + begin, end - begin);
    if (b->current->text == NULL) {
      b->current->text = "";
      return no_memory(b, line);
    }
  }
  b->text.n = b->starts[b->depth];
  b->depth--;
  b->current = b->current->parent;
  return YOKE_OK;
}

static yoke_status tree_text(void* context, const char* text, size_t n, int line) {
  building* b = context;
  yoke__text_append(&b->text, text, n);
  return b->text.status < 0 ? no_memory(b, line) : YOKE_OK;
}

yoke_status yoke__xml_tree(const char* bytes, size_t n, const char* source, yoke_arena* arena,
                           yoke_messages* messages, yoke_xml_node** root) {
  static const yoke_xml_handler handler = {tree_open, tree_close, tree_text};
  building b = {.arena = arena, .messages = messages, .source = source};
  const yoke_status status = yoke__xml_parse(bytes, n, source, &handler, &b, messages);
  yoke__text_free(&b.text);
  *root = status < 0 ? NULL : b.root;
  return status;
}

static const yoke_xml_node* find_name(const yoke_xml_node* node, const char* name) {
  while (node != NULL && strcmp(node->name, name) != 0) {
    node = node->next;
  }
  return node;
}

const yoke_xml_node* yoke__xml_child(const yoke_xml_node* node, const char* name) {
  return node == NULL ? NULL : find_name(node->first, name);
}

const yoke_xml_node* yoke__xml_next(const yoke_xml_node* node) {
  return node == NULL ? NULL : find_name(node->next, node->name);
}

const char* yoke__xml_get(const yoke_xml_node* node, const char* attribute) {
  return node == NULL ? NULL : yoke__xml_attribute(node->attributes, attribute);
}
