// Any bytes as XML: no crash, no read beyond the input, every refusal has one message. Callbacks come in pairs and never
// deeper than the limit; the tree holds as many elements as callbacks came; written and read again it is the same tree.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(int is_true) {
  if (!is_true) {
    abort();
  }
}

typedef struct counts {
  size_t n_open, n_close, n_attributes;
  int depth, line;
} counts;

static yoke_status count_open(void* context, const char* name, const char* const* attributes,
                              int line) {
  counts* c = context;
  c->n_open++;
  c->depth++;
  demand(c->depth <= YOKE_XML_MAX_DEPTH && line >= c->line && name != NULL);
  c->line = line;
  for (; *attributes != NULL; attributes += 2) {
    demand(attributes[1] != NULL);
    c->n_attributes++;
  }
  return YOKE_OK;
}

static yoke_status count_close(void* context, const char* name, int line) {
  counts* c = context;
  c->n_close++;
  c->depth--;
  demand(c->depth >= 0 && line >= c->line && name != NULL);
  return YOKE_OK;
}

static yoke_status count_text(void* context, const char* text, size_t n, int line) {
  const counts* c = context;
  demand(c->depth > 0 && n > 0 && memchr(text, '\0', n) == NULL && line > 0);
  return YOKE_OK;
}

// Depth is bounded by the reader.
// NOLINTNEXTLINE(misc-no-recursion)
static void count_nodes(const yoke_xml_node* node, size_t* n_nodes, size_t* n_attributes) {
  for (; node != NULL; node = node->next) {
    ++*n_nodes;
    for (const char* const* at = node->attributes; *at != NULL; at += 2) {
      ++*n_attributes;
    }
    demand(node->first == NULL || node->first->parent == node);
    count_nodes(node->first, n_nodes, n_attributes);
  }
}

// In UTF-16 expat takes three letters for parts of names (ordinal signs, micro) that it refuses in UTF-8.
static int is_name_in_utf16_only(const char* name) {
  return strstr(name, "\xc2\xaa") != NULL || strstr(name, "\xc2\xb5") != NULL ||
         strstr(name, "\xc2\xba") != NULL;
}

// without their prefixes two attributes may have one name: such a tree cannot be written
// NOLINTNEXTLINE(misc-no-recursion)
static int can_be_written(const yoke_xml_node* node) {
  for (; node != NULL; node = node->next) {
    int is_good = !is_name_in_utf16_only(node->name);
    for (const char* const* at = node->attributes; *at != NULL; at += 2) {
      is_good = is_good && !is_name_in_utf16_only(at[0]);
      for (const char* const* other = at + 2; *other != NULL; other += 2) {
        is_good = is_good && strcmp(at[0], other[0]) != 0;
      }
    }
    if (!is_good || !can_be_written(node->first)) {
      return 0;
    }
  }
  return 1;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void write_nodes(yoke_xml_writer* xml, const yoke_xml_node* node) {
  for (; node != NULL; node = node->next) {
    yoke__xml_open(xml, node->name);
    for (const char* const* at = node->attributes; *at != NULL; at += 2) {
      yoke__xml_put(xml, at[0], at[1]);
    }
    if (node->text[0] != '\0') {
      yoke__xml_put_text(xml, node->text);
    }
    write_nodes(xml, node->first);
    yoke__xml_close(xml, node->name);
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
static void check_same(const yoke_xml_node* a, const yoke_xml_node* b) {
  for (; a != NULL && b != NULL; a = a->next, b = b->next) {
    demand(strcmp(a->name, b->name) == 0 && strcmp(a->text, b->text) == 0);
    const char *const *p = a->attributes, *const *q = b->attributes;
    for (; *p != NULL && *q != NULL; p++, q++) {
      demand(strcmp(*p, *q) == 0);
    }
    demand(*p == NULL && *q == NULL);
    check_same(a->first, b->first);
  }
  demand(a == NULL && b == NULL);
}

static void check_tree(const char* bytes, size_t n, yoke_status expected, const counts* c) {
  yoke_arena arena = {0};
  yoke_messages messages = {0};
  yoke_xml_node *root = NULL, *again = NULL;
  const yoke_status status = yoke__xml_tree(bytes, n, "x", &arena, &messages, &root);
  demand(status == expected && (root == NULL) == (status < 0));
  size_t n_nodes = 0, n_attributes = 0;
  count_nodes(root, &n_nodes, &n_attributes);
  demand(root == NULL || (n_nodes == c->n_open && n_attributes == c->n_attributes));
  if (root != NULL && can_be_written(root)) {
    yoke_xml_writer xml = {0};
    write_nodes(&xml, root);
    demand(xml.text.status >= 0 && xml.depth == 0);
    demand(yoke__xml_tree(xml.text.bytes, xml.text.n, "x", &arena, &messages, &again) >= 0);
    check_same(root, again);
    yoke__xml_free(&xml);
  }
  yoke__messages_free(&messages);
  yoke__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  static const yoke_xml_handler counter = {count_open, count_close, count_text};
  counts c = {0};
  yoke_messages messages = {0};
  const yoke_status status = yoke__xml_parse((const char*)bytes, n, "x", &counter, &c, &messages);
  demand(messages.n_errors == (status < 0 ? 1u : 0u));
  demand(status < 0 || (c.n_open == c.n_close && c.n_open > 0));
  yoke__messages_free(&messages);
  check_tree((const char*)bytes, n, status, &c);
  return 0;
}
