// XML from strangers: expat underneath, bounded. Depth at most 64, no declarations inside DOCTYPE (entities), UTF-8 or what
// expat converts itself (UTF-16, ISO-8859-1). Names come without their namespace prefix ("ssd:System" is "System"), of
// attributes too; a name that is not a prefix and a name of ASCII ("a:1", "a:b:c") stays whole. xmlns and xsi attributes are
// left out. If a prefixed and a plain attribute then have one name, the plain one counts.
#ifndef YOKE_BASE_XML_H
#define YOKE_BASE_XML_H

#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_message.h"
#include "base/base_text.h"
#include "yoke/status.h"

#define YOKE_XML_MAX_DEPTH 64

// Attributes are name, value, name, value, ..., NULL; texts live until the callback returns. Callbacks may be NULL. A
// negative status ends the parsing with that status.
typedef struct yoke_xml_handler {
  yoke_status (*open)(void* context, const char* name, const char* const* attributes, int line);
  yoke_status (*close)(void* context, const char* name, int line);
  yoke_status (*text)(void* context, const char* text, size_t n, int line);
} yoke_xml_handler;

// source names the file in messages ("engine.fmu/modelDescription.xml"). Syntax errors are one message with line and
// column; YOKE_BAD_INPUT then.
yoke_status yoke__xml_parse(const char* bytes, size_t n, const char* source,
                            const yoke_xml_handler* handler, void* context,
                            yoke_messages* messages);

// The value of an attribute, or NULL.
const char* yoke__xml_attribute(const char* const* attributes, const char* name);

// Small files as a tree.
typedef struct yoke_xml_node {
  const char* name;
  const char* const* attributes;
  const char* text;  // all text directly inside, joined and trimmed; "" if none
  int line;
  struct yoke_xml_node *parent, *first, *next;
} yoke_xml_node;

yoke_status yoke__xml_tree(const char* bytes, size_t n, const char* source, yoke_arena* arena,
                           yoke_messages* messages, yoke_xml_node** root);
// The first child with this name, or NULL; and the next sibling with the same name.
const yoke_xml_node* yoke__xml_child(const yoke_xml_node* node, const char* name);
const yoke_xml_node* yoke__xml_next(const yoke_xml_node* node);
const char* yoke__xml_get(const yoke_xml_node* node, const char* attribute);

// Writing: text with <, >, &, quotes and control characters made safe, malloc'ed by the growing buffer. Zeroed is empty; the
// first element is preceded by the XML declaration (UTF-8). Numbers are the shortest text that reads back; NaN, INF and
// -INF as in XML schema. Attributes go in directly behind open.
typedef struct yoke_xml_writer {
  yoke_text
      text;  // its status is the first error: YOKE_NO_MEMORY, or YOKE_BAD_ARG for calls that make no XML
  int depth;
  int is_open;   // a start tag has no '>' yet
  int has_text;  // the innermost element ends with text so far
} yoke_xml_writer;

void yoke__xml_open(yoke_xml_writer* xml, const char* name);
void yoke__xml_put(yoke_xml_writer* xml, const char* attribute, const char* value);
void yoke__xml_put_number(yoke_xml_writer* xml, const char* attribute, double value);
void yoke__xml_put_integer(yoke_xml_writer* xml, const char* attribute, long long value);
void yoke__xml_put_text(yoke_xml_writer* xml, const char* text);
void yoke__xml_close(yoke_xml_writer* xml, const char* name);
void yoke__xml_free(yoke_xml_writer* xml);

#endif
