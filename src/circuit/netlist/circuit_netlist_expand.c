// Elements of the top level and of every instance -> network, in the order of the file. Instances
// are expanded in place, by a stack of open ones; parts of x1 are called x1.r1, its inner nodes
// x1.n1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/netlist/circuit_netlist_reader.h"

const char* yoke__netlist_full_name(yoke_netlist_reader* reader, const yoke_frame* frame,
                                    yoke_span name) {
  yoke__text_clear(&reader->name);
  yoke__text_append(&reader->name, frame->prefix, frame->n_prefix);
  yoke__text_append(&reader->name, name.text, name.n);
  reader->is_out_of_memory = reader->is_out_of_memory || reader->name.status < 0;
  return reader->name.status < 0 ? NULL : reader->name.bytes;
}

// ---- nodes

static bool is_ground(yoke_span name) {
  return (name.n == 1 && name.text[0] == '0') || (name.n == 3 && yoke__span_is(name, "gnd"));
}

// The frame whose prefix a node's name gets; a port answers *port instead.
static const yoke_frame* frame_of_node(const yoke_netlist_reader* reader, const yoke_frame* frame,
                                       yoke_span name, uint32_t* port) {
  *port = YOKE_NO_INDEX;
  if (frame->parent == NULL) {
    return frame;
  }
  const uint32_t index = yoke__names_find(&frame->definition->port_names, name);
  if (index != YOKE_NO_INDEX) {
    *port = frame->ports[index];
    return frame;
  }
  return yoke__names_find(&reader->globals, name) != YOKE_NO_INDEX ? reader->top : frame;
}

uint32_t yoke__netlist_find_node(yoke_netlist_reader* reader, const yoke_frame* frame,
                                 yoke_span name) {
  uint32_t port;
  if (is_ground(name)) {
    return 0;
  }
  const yoke_frame* owner = frame_of_node(reader, frame, name, &port);
  if (port != YOKE_NO_INDEX) {
    return port;
  }
  const char* full = yoke__netlist_full_name(reader, owner, name);
  return full == NULL ? YOKE_NO_INDEX : yoke__network_find_node(reader->network, full);
}

// A node may be electric or thermal, not both.
static void check_domain(yoke_cursor* cursor, yoke_span name, uint32_t node, yoke_domain domain) {
  const yoke_network_node* self = &cursor->reader->network->nodes[node];
  if (node == 0 || self->domain == domain) {
    return;
  }
  char cut[YOKE_SHOWN_SIZE];
  yoke__cursor_error(cursor, name.text, "the node '%s' is %s here, but %s at %s:%d",
                     yoke__shown(name, cut), domain == YOKE_THERMAL ? "thermal" : "electric",
                     domain == YOKE_THERMAL ? "electric" : "thermal",
                     self->place.source == NULL ? "" : self->place.source, self->place.line);
}

uint32_t yoke__netlist_node(yoke_cursor* cursor, yoke_span name, yoke_domain domain) {
  yoke_netlist_reader* reader = cursor->reader;
  uint32_t node;
  if (is_ground(name)) {
    return 0;
  }
  const yoke_frame* owner = frame_of_node(reader, cursor->frame, name, &node);
  if (node == YOKE_NO_INDEX) {
    const char* full = yoke__netlist_full_name(reader, owner, name);
    const yoke_place place = yoke__statement_place(reader, cursor->statement, NULL);
    node = full == NULL ? YOKE_NO_INDEX : yoke__network_node(reader->network, full, domain, place);
    if (node == YOKE_NO_INDEX) {
      reader->is_out_of_memory = true;
      return YOKE_NO_INDEX;
    }
  }

  // known from instances only: the first element decides
  yoke_network_node* self = &reader->network->nodes[node];
  if (self->place.line == 0 && node != 0) {
    self->domain = domain;
    self->place = yoke__statement_place(reader, cursor->statement, NULL);
  }
  check_domain(cursor, name, node, domain);
  return node;
}

// ---- elements

uint32_t yoke__netlist_find_element(yoke_netlist_reader* reader, const yoke_frame* frame,
                                    yoke_span name) {
  const char* full = yoke__netlist_full_name(reader, frame, name);
  uint32_t found = full == NULL ? YOKE_NO_INDEX : yoke__network_find_element(reader->network, full);
  if (found == YOKE_NO_INDEX && name.n > 2 && name.text[1] == '.') {
    full = yoke__netlist_full_name(reader, frame, (yoke_span){name.text + 2, name.n - 2});
    found = full == NULL ? YOKE_NO_INDEX : yoke__network_find_element(reader->network, full);
  }
  return found;
}

bool yoke__netlist_is_taken(yoke_cursor* cursor, const char* name) {
  const yoke_network* network = cursor->reader->network;
  const uint32_t known = yoke__network_find_element(network, name);
  if (known == YOKE_NO_INDEX) {
    return false;
  }
  char cut[YOKE_SHOWN_SIZE];
  const yoke_place place = network->elements[known].place;
  yoke__cursor_error(cursor, NULL, "the name '%s' was used before at %s:%d",
                     yoke__shown((yoke_span){name, strlen(name)}, cut),
                     place.source == NULL ? "" : place.source, place.line);
  return true;
}

uint32_t yoke__netlist_add(yoke_cursor* cursor, yoke_span name, yoke_element* element) {
  yoke_netlist_reader* reader = cursor->reader;
  element->name = yoke__netlist_full_name(reader, cursor->frame, name);
  if (element->name == NULL) {
    return YOKE_NO_INDEX;
  }
  element->place = yoke__statement_place(reader, cursor->statement, NULL);
  if (yoke__netlist_is_taken(cursor, element->name)) {
    return YOKE_NO_INDEX;
  }
  const uint32_t index = yoke__network_add(reader->network, element);
  reader->is_out_of_memory = reader->is_out_of_memory || index == YOKE_NO_INDEX;
  return index;
}

void yoke__netlist_wait(yoke_cursor* cursor, yoke_waiting_kind kind, uint32_t element,
                        yoke_span text, const yoke_expression_wrap* wrap) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_waiting waiting = {.kind = kind,
                                .element = element,
                                .frame = cursor->frame,
                                .statement = (uint32_t)(cursor->statement - reader->statements),
                                .text = text,
                                .wrap =
                                    wrap != NULL ? *wrap : (yoke_expression_wrap){.factor = 1.0}};
  yoke__reader_append(reader, &reader->waiting, &reader->n_waiting, &reader->max_waiting,
                      sizeof waiting, &waiting);
}

bool yoke__netlist_expect_end(yoke_cursor* cursor) {
  const yoke_token token = yoke__cursor_next(cursor);
  char cut[YOKE_SHOWN_SIZE];
  if (token.kind == YOKE_TOKEN_END) {
    return !cursor->is_failed;
  }
  return yoke__cursor_error(cursor, token.span.text, "unexpected '%s' at the end of the line",
                            yoke__shown(token.span, cut));
}

// ---- instances: xname node ... subcircuit [params:] [name=value ...]

static yoke_span definition_name(const void* owner, size_t i) {
  return ((const yoke_netlist_reader*)owner)->definitions[i].name;
}

// Words up to the name of the subcircuit, which is the last before the parameters. Returns their
// number.
static size_t count_words(const yoke_cursor* cursor, yoke_span* last) {
  yoke_cursor ahead = *cursor;
  size_t n = 0;
  for (;;) {
    yoke_cursor key_ahead = ahead;
    yoke_span key;
    if (yoke__cursor_peek(&ahead).kind != YOKE_TOKEN_WORD ||
        yoke__cursor_take_key(&key_ahead, &key) || yoke__cursor_take(&ahead, "params:")) {
      return n;
    }
    *last = yoke__cursor_next(&ahead).span;
    n++;
  }
}

// Values that the instance gives; evaluated where the instance stands.
static void read_arguments(yoke_cursor* cursor, yoke_frame* frame) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_definition* definition = frame->definition;
  char cut[YOKE_SHOWN_SIZE], name[YOKE_SHOWN_SIZE];
  yoke_span key;
  yoke__cursor_take(cursor, "params:");
  while (yoke__cursor_take_key(cursor, &key)) {
    const yoke_span text = yoke__cursor_rest_of_value(cursor);
    const uint32_t index = yoke__names_find(&definition->parameter_names, key);
    if (index == YOKE_NO_INDEX || !definition->parameters[index].is_argument) {
      yoke__cursor_error(cursor, key.text, "the subcircuit '%s' has no parameter '%s'",
                         yoke__shown(definition->name, name), yoke__shown(key, cut));
    } else if (text.n == 0) {
      yoke__cursor_error(cursor, key.text, "the parameter '%s' lacks its value",
                         yoke__shown(key, cut));
    } else {
      frame->values[index].text = text;
      frame->values[index].scope = cursor->frame;
      frame->values[index].statement = (uint32_t)(cursor->statement - reader->statements);
    }
  }
  yoke__netlist_expect_end(cursor);
}

// "a -> b -> a" of the subcircuits that are open
static bool is_recursive(yoke_cursor* cursor, const yoke_definition* definition) {
  yoke_netlist_reader* reader = cursor->reader;
  char text[400] = "", cut[YOKE_SHOWN_SIZE];
  size_t n = 0;
  bool is_found = false;
  for (size_t i = 0; i < reader->n_open; i++) {
    const yoke_definition* open = reader->open[i].frame->definition;
    is_found = is_found || open == definition;
    if (is_found && n < sizeof text - 100) {
      n += (size_t)snprintf(text + n, sizeof text - n, "%s -> ", yoke__shown(open->name, cut));
    }
  }
  if (is_found) {
    yoke__cursor_error(cursor, NULL, "subcircuits contain themselves: %s%s", text,
                       yoke__shown(definition->name, cut));
  }
  return is_found;
}

static bool is_too_large(yoke_cursor* cursor) {
  yoke_netlist_reader* reader = cursor->reader;
  const size_t max = reader->settings->max_elements;
  const size_t max_instances =
      max == 0 || max > YOKE_NETLIST_MAX_INSTANCES ? YOKE_NETLIST_MAX_INSTANCES : max;
  if (reader->n_open > YOKE_NETLIST_MAX_DEPTH) {
    yoke__cursor_error(cursor, NULL, "subcircuits are nested more than %d deep",
                       YOKE_NETLIST_MAX_DEPTH);
    return true;
  }
  if (reader->n_instances >= max_instances) {
    yoke__cursor_error(cursor, NULL, "the netlist has more than %zu instances of subcircuits",
                       max_instances);
    reader->is_stopped = true;
    return true;
  }
  return false;
}

// The subcircuit that the line names, or NULL after a message.
static const yoke_definition* find_instance(yoke_cursor* cursor, yoke_span name, size_t n_words,
                                            yoke_span type) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE], other[YOKE_SHOWN_SIZE], text[YOKE_HINT_SIZE];
  if (n_words == 0) {
    yoke__cursor_error(cursor, NULL, "%s: expected '%s node ... subcircuit [name=value ...]'",
                       yoke__shown(name, cut), yoke__shown(name, other));
    return NULL;
  }
  const uint32_t index = yoke__netlist_find_definition(reader, cursor->frame->definition, type);
  if (index == YOKE_NO_INDEX) {
    yoke__cursor_error(
        cursor, type.text, "%s: unknown subcircuit '%s'%s", yoke__shown(name, cut),
        yoke__shown(type, other),
        yoke__netlist_hint(reader, type, reader, reader->n_definitions, definition_name, text));
    return NULL;
  }
  const yoke_definition* definition = &reader->definitions[index];
  if (n_words - 1 != definition->n_ports) {
    yoke__cursor_error(cursor, NULL, "%s: the subcircuit '%s' has %zu nodes, found %zu",
                       yoke__shown(name, cut), yoke__shown(type, other), definition->n_ports,
                       n_words - 1);
    return NULL;
  }
  return is_recursive(cursor, definition) || is_too_large(cursor) ? NULL : definition;
}

static void open_instance(yoke_cursor* cursor, yoke_span name) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_span type = {NULL, 0};
  const size_t n_words = count_words(cursor, &type);
  const yoke_definition* definition = find_instance(cursor, name, n_words, type);
  if (definition == NULL) {
    return;
  }
  yoke_frame* frame = yoke__frame_create(reader, definition, cursor->frame, name);
  uint32_t* ports = yoke__arena_array(&reader->arena, definition->n_ports, sizeof *ports);
  if (frame == NULL || ports == NULL) {
    reader->is_out_of_memory = true;
    return;
  }
  for (size_t i = 0; i < definition->n_ports; i++) {
    const yoke_span node = yoke__cursor_next(cursor).span;
    const char* full = NULL;
    uint32_t port;
    const yoke_frame* owner = frame_of_node(reader, cursor->frame, node, &port);
    if (is_ground(node)) {
      port = 0;
    } else if (port == YOKE_NO_INDEX) {
      // electric or thermal is decided by the first element: until then the node has no place
      full = yoke__netlist_full_name(reader, owner, node);
      port = full == NULL ? YOKE_NO_INDEX
                          : yoke__network_node(reader->network, full, YOKE_ELECTRIC,
                                               (yoke_place){NULL, 0, 0});
      reader->is_out_of_memory = reader->is_out_of_memory || port == YOKE_NO_INDEX;
    }
    ports[i] = port;
  }
  yoke__cursor_next(cursor);
  frame->ports = ports;
  frame->statement = (uint32_t)(cursor->statement - reader->statements);
  read_arguments(cursor, frame);
  reader->n_instances++;
  reader->open[reader->n_open].frame = frame;
  reader->open[reader->n_open++].next = 0;
}

// ---- all statements

static void read_statement(yoke_netlist_reader* reader, const yoke_statement* statement,
                           const yoke_frame* frame) {
  yoke_cursor cursor = yoke__cursor_open(reader, statement, frame);
  const yoke_token word = yoke__cursor_next(&cursor);
  if (word.kind != YOKE_TOKEN_WORD) {
    char cut[YOKE_SHOWN_SIZE];
    yoke__netlist_error(reader, statement, NULL, "expected an element or a command, found '%s'",
                        yoke__shown((yoke_span){statement->text, statement->n}, cut));
  } else if (word.span.text[0] == '.') {
    yoke__netlist_wait(&cursor, YOKE_WAITING_START, 0, word.span, NULL);
  } else if (yoke__netlist_thermal(&cursor, word.span)) {
    return;
  } else if (yoke__lower(word.span.text[0]) == 'x') {
    open_instance(&cursor, word.span);
  } else {
    yoke__netlist_element(&cursor, word.span);
  }
}

static bool has_room(yoke_netlist_reader* reader, const yoke_statement* statement) {
  const size_t max = reader->settings->max_elements != 0 ? reader->settings->max_elements
                                                         : YOKE_NETLIST_MAX_ELEMENTS;
  if (reader->network->n_elements < max && reader->n_waiting < 2 * max) {
    return true;
  }
  yoke__netlist_error(reader, statement, NULL, "the netlist has more than %zu elements", max);
  reader->is_stopped = true;
  return false;
}

void yoke__netlist_expand(yoke_netlist_reader* reader) {
  reader->open[0].frame = reader->top;
  reader->open[0].next = 0;
  reader->n_open = 1;
  while (reader->n_open > 0 && !reader->is_out_of_memory && !reader->is_stopped) {
    struct yoke_open_frame* open = &reader->open[reader->n_open - 1];
    const yoke_definition* definition = open->frame->definition;
    if (open->next == definition->n_body) {
      reader->n_open--;
      continue;
    }
    const yoke_statement* statement = &reader->statements[definition->body[open->next++]];
    if (has_room(reader, statement)) {
      read_statement(reader, statement, open->frame);
    }
  }
}
