// Connections -> edges between ports -> connections between units.
//
// The words start and end say nothing about the flow: that follows from the kinds of the two connectors, where a connector
// of the system itself is seen from inside. A chain through connectors of systems and entries of dictionaries is followed
// to the components at its ends; on each edge a value is first brought to the unit of the end and then transformed:
//
//   x <- factor * (c * x + d) + offset,      so gain <- factor * c * gain and so on.
#include "scenario/scenario_ssp_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

// ---------------------------------------------------------------------------------------------------------
// ends

typedef enum role { ROLE_ANY, ROLE_SOURCE, ROLE_SINK } role;

// One end of a connection.
typedef struct end {
  ssp_port* port;
  role role;
  const char* label;  // in messages: "pump.p"
} end;

static role role_of(ssp_kind kind, bool is_own) {
  switch (kind) {
  case SSP_INPUT:
  case SSP_PARAMETER:
    return is_own ? ROLE_SOURCE : ROLE_SINK;
  case SSP_OUTPUT:
  case SSP_CALCULATED:
    return is_own ? ROLE_SINK : ROLE_SOURCE;
  case SSP_UNKNOWN_KIND:
  case SSP_INOUT:
    break;
  }
  return ROLE_ANY;
}

static ssp_kind kind_of_causality(uint8_t causality) {
  switch ((yoke_fmi_causality)causality) {
  case YOKE_FMI_INPUT:
    return SSP_INPUT;
  case YOKE_FMI_OUTPUT:
    return SSP_OUTPUT;
  case YOKE_FMI_PARAMETER:
  case YOKE_FMI_STRUCTURAL_PARAMETER:
    return SSP_PARAMETER;
  case YOKE_FMI_CALCULATED_PARAMETER:
  case YOKE_FMI_LOCAL:
  case YOKE_FMI_INDEPENDENT:
    break;
  }
  return SSP_CALCULATED;
}

// What the FMU says about a connector that the SSD does not say.
static ssp_kind described_kind(ssp* s, ssp_component* component, const char* name) {
  const yoke_fmi_description* description = yoke__ssp_describe(s, component);
  const size_t i = description == NULL ? YOKE_FMI_NONE : yoke__fmi_find(description, name);
  return i == YOKE_FMI_NONE ? SSP_UNKNOWN_KIND
                            : kind_of_causality(description->variables[i].causality);
}

// A variable of the FMU that no connector declares; NULL: there is none.
static ssp_port* add_undeclared(ssp* s, ssp_component* component, const char* name) {
  const ssp_kind kind = described_kind(s, component, name);
  ssp_port* port = kind == SSP_UNKNOWN_KIND ? NULL : yoke__ssp_take(s, 1, sizeof *port);
  if (port != NULL) {
    *port = (ssp_port){.name = name,
                       .component = component,
                       .kind = kind,
                       .scope = &component->document->scope,
                       .next = component->ports.undeclared};
    component->ports.undeclared = port;
  }
  return port;
}

static void report_no_port(ssp* s, const ssp_system* system, const yoke_xml_node* node,
                           const ssp_ports* ports, const char* owner, const char* name) {
  enum { MAX_NAMES = 1000 };
  const char* names[MAX_NAMES] = {0};
  const size_t n = ports->n < MAX_NAMES ? ports->n : MAX_NAMES;
  for (size_t i = 0; i < n; i++) {
    names[i] = ports->items[i].name;
  }
  char cut[YOKE_FOUND_SIZE], other[YOKE_FOUND_SIZE];
  const char* nearest = yoke__nearest_name(name, names, n);
  yoke__ssp_error(s, system->document, node, "%s has no connector '%s'%s%s%s", owner,
                  yoke__text_cut(name, cut), nearest == NULL ? "" : "; did you mean '",
                  nearest == NULL ? "" : yoke__text_cut(nearest, other),
                  nearest == NULL ? "" : "'?");
}

// A connector of the system itself.
static bool find_own(ssp* s, const ssp_system* system, const yoke_xml_node* node, const char* name,
                     end* out) {
  out->port = yoke__ssp_find_port(&system->ports, name);
  if (out->port == NULL) {
    report_no_port(s, system, node, &system->ports, "the system", name);
    return false;
  }
  out->role = role_of(out->port->kind, true);
  out->label = name;
  return true;
}

// A connector of a component: declared, or at least a variable of the FMU.
static ssp_port* find_of_component(ssp* s, const ssp_system* system, const yoke_xml_node* node,
                                   ssp_component* component, const char* name) {
  ssp_port* port = yoke__ssp_find_port(&component->ports, name);
  if (port == NULL) {
    port = add_undeclared(s, component, name);
    if (port != NULL) {
      yoke__ssp_warn_once(s, "undeclared connector", yoke__ssp_place(system->document, node),
                          "the connector '%s' is not declared at '%s'; its FMU has such a variable",
                          name, component->full_name);
    }
  } else if (port->kind == SSP_UNKNOWN_KIND) {
    port->kind = described_kind(s, component, name);
  }
  return port;
}

static bool find_end(ssp* s, const ssp_system* system, const yoke_xml_node* node,
                     const char* element_key, const char* connector_key, end* out) {
  char cut[YOKE_FOUND_SIZE];
  const char* element_name = yoke__xml_get(node, element_key);
  const char* name = yoke__ssp_require(s, system->document, node, connector_key);
  if (name == NULL) {
    return false;
  }
  if (element_name == NULL || element_name[0] == '\0') {
    return find_own(s, system, node, name, out);
  }
  const ssp_element* element = yoke__ssp_find_element(system, element_name);
  if (element == NULL) {
    yoke__ssp_error(s, system->document, node, "there is no element '%s' in this system",
                    yoke__text_cut(element_name, cut));
    return false;
  }
  const ssp_ports* ports = element->component != NULL ? &element->component->ports
                           : element->system != NULL  ? &element->system->ports
                                                      : &element->ports;
  if (element->component == NULL && element->system == NULL && element->dictionary == NULL) {
    return false;  // the element was refused
  }
  out->port = element->component != NULL
                  ? find_of_component(s, system, node, element->component, name)
                  : yoke__ssp_find_port(ports, name);
  out->label = yoke__ssp_text(s, "%s.%s", element_name, name);
  if (out->port == NULL) {
    report_no_port(s, system, node, ports, yoke__ssp_text(s, "'%s'", element_name), name);
    return false;
  }
  ssp_kind kind = out->port->kind;
  if (kind == SSP_INOUT && element->component != NULL) {
    // a variable of an FMU goes one way only
    kind = described_kind(s, element->component, name);
  }
  out->role = role_of(kind, false);
  if (element->dictionary != NULL) {
    out->port = out->port->alias;
  }
  return out->port != NULL;
}

// ---------------------------------------------------------------------------------------------------------
// edges

// Mappings of values: only those that change nothing have a counterpart.
static void check_mapping(ssp* s, const ssp_system* system, const yoke_xml_node* node) {
  static const char* const names[] = {"BooleanMappingTransformation",
                                      "IntegerMappingTransformation",
                                      "EnumerationMappingTransformation"};
  for (size_t i = 0; i < YOKE_COUNT(names); i++) {
    const yoke_xml_node* mapping = yoke__xml_child(node, names[i]);
    for (const yoke_xml_node* entry = yoke__xml_child(mapping, "MapEntry"); entry != NULL;
         entry = yoke__xml_next(entry)) {
      const char* source = yoke__ssp_get(s, entry, "source");
      const char* target = yoke__ssp_get(s, entry, "target");
      if (source == NULL || target == NULL || strcmp(source, target) != 0) {
        yoke__ssp_error(s, system->document, entry,
                        "a connection cannot map single values (%s); only factor and offset",
                        names[i]);
        return;
      }
    }
  }
}

static void add_edge(ssp* s, const ssp_system* system, const yoke_xml_node* node, const end* from,
                     const end* to) {
  if (to->port->in != NULL) {
    const ssp_edge* other = to->port->in;
    yoke__ssp_error(s, system->document, node, "'%s' has two sources: this one and that in line %d",
                    to->label, other->node->line);
    return;
  }
  ssp_edge* edge = yoke__ssp_take(s, 1, sizeof *edge);
  if (edge == NULL) {
    return;
  }
  const yoke_xml_node* linear = yoke__xml_child(node, "LinearTransformation");
  *edge = (ssp_edge){
      .from = from->port,
      .to = to->port,
      .node = node,
      .document = system->document,
      .factor = linear == NULL ? 1 : yoke__ssp_number(s, system->document, linear, "factor", 1),
      .offset = linear == NULL ? 0 : yoke__ssp_number(s, system->document, linear, "offset", 0),
      .has_factor = linear != NULL,
      .is_unconverted = yoke__ssp_is_true(s, node, "suppressUnitConversion"),
      .number = s->n_edges++,
  };
  if (from->port->out == NULL) {
    from->port->out = edge;
  } else {
    from->port->last_out->next = edge;
  }
  from->port->last_out = edge;
  to->port->in = edge;
}

static void read_connection(ssp* s, const ssp_system* system, const yoke_xml_node* node) {
  static const char* const known[] = {"LinearTransformation", "BooleanMappingTransformation",
                                      "IntegerMappingTransformation",
                                      "EnumerationMappingTransformation", NULL};
  end start = {0}, stop = {0};
  yoke__ssp_check_children(s, system->document, node, known);
  const bool has_start = find_end(s, system, node, "startElement", "startConnector", &start);
  if (!find_end(s, system, node, "endElement", "endConnector", &stop) || !has_start) {
    return;
  }
  if (yoke__xml_get(node, "startIndices") != NULL || yoke__xml_get(node, "endIndices") != NULL) {
    yoke__ssp_error(s, system->document, node,
                    "startIndices and endIndices of SSP 2.0 are not supported");
    return;
  }
  check_mapping(s, system, node);
  if (start.role != ROLE_ANY && start.role == stop.role) {
    yoke__ssp_error(s, system->document, node,
                    start.role == ROLE_SINK
                        ? "this connection has no source: '%s' and '%s' are both inputs"
                        : "this connection has no destination: '%s' and '%s' are both outputs",
                    start.label, stop.label);
    return;
  }
  const bool is_reversed = start.role == ROLE_SINK || stop.role == ROLE_SOURCE;
  add_edge(s, system, node, is_reversed ? &stop : &start, is_reversed ? &start : &stop);
}

void yoke__ssp_connect(ssp* s) {
  static const char* const known[] = {"Connection", NULL};
  for (const ssp_system* system = s->systems; system != NULL; system = system->next) {
    const yoke_xml_node* list = yoke__xml_child(system->node, "Connections");
    yoke__ssp_check_children(s, system->document, list, known);
    for (const yoke_xml_node* at = yoke__xml_child(list, "Connection");
         at != NULL && !s->reader->is_out_of_memory; at = yoke__xml_next(at)) {
      read_connection(s, system, at);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// following

// The flow behind an edge.
static ssp_flow pass(ssp* s, ssp_edge* edge, const ssp_flow* flow) {
  ssp_flow after = *flow, end_unit = {0};
  yoke__ssp_port_unit(s, edge->to, &end_unit);
  if (!edge->is_unconverted) {
    double factor = 1, offset = 0;
    if (!yoke__ssp_convert(s, flow, &end_unit, &factor, &offset) && !edge->has_factor &&
        !edge->is_reported) {
      edge->is_reported = true;
      yoke__ssp_error(s, edge->document, edge->node,
                      "units do not match: '%s' is in %s, '%s' in %s", edge->from->name, flow->unit,
                      edge->to->name, end_unit.unit);
    }
    after.gain *= factor;
    after.offset = after.offset * factor + offset;
  }
  after.is_unconverted |= edge->is_unconverted;
  after.gain *= edge->factor;
  after.offset = after.offset * edge->factor + edge->offset;
  if (end_unit.unit != NULL || edge->is_unconverted) {
    after.unit = end_unit.unit;
    after.scope = end_unit.scope;
    after.description = end_unit.description;
  }
  return after;
}

typedef struct pending {
  ssp_edge* edge;
  ssp_flow flow;  // in front of it
} pending;

// Puts all edges that leave a port on the stack, the first one on top.
static bool push_edges(ssp* s, const ssp_port* port, const ssp_flow* flow, pending** stack,
                       size_t* n, size_t* room) {
  size_t n_new = 0;
  for (const ssp_edge* edge = port->out; edge != NULL; edge = edge->next) {
    n_new++;
  }
  if (*n + n_new > *room) {
    const size_t larger = 2 * (*n + n_new);
    pending* grown = realloc(*stack, larger * sizeof *grown);
    if (grown == NULL) {
      s->reader->is_out_of_memory = true;
      return false;
    }
    *stack = grown;
    *room = larger;
  }
  *n += n_new;
  size_t i = *n;
  for (ssp_edge* edge = port->out; edge != NULL; edge = edge->next) {
    (*stack)[--i] = (pending){edge, *flow};
  }
  return true;
}

void yoke__ssp_follow(ssp* s, ssp_port* from, const ssp_flow* flow, ssp_take take, void* context) {
  pending* stack = NULL;
  size_t n = 0, room = 0;
  bool is_good = push_edges(s, from, flow, &stack, &n, &room);

  // a ring of connectors, fed by nobody, would not end: no edge is passed twice otherwise
  for (size_t n_passed = 0; is_good && n > 0 && n_passed <= s->n_edges; n_passed++) {
    const pending top = stack[--n];
    const ssp_flow after = pass(s, top.edge, &top.flow);
    if (top.edge->to->component != NULL) {
      take(s, context, top.edge->to, top.edge, &after);
    } else {
      is_good = push_edges(s, top.edge->to, &after, &stack, &n, &room);
    }
  }
  free(stack);
}

// ---------------------------------------------------------------------------------------------------------
// connections of the tree

// One connection between components, found.
typedef struct found {
  const ssp_port *from, *to;
  const ssp_edge* edge;  // the last one
  double gain, offset;
  bool is_unconverted;
} found;

typedef struct finds {
  const ssp_port* from;
  found* items;
  size_t n;
} finds;

static void keep(ssp* s, void* context, ssp_port* sink, const ssp_edge* edge,
                 const ssp_flow* flow) {
  finds* all = context;

  // a sink has one edge, so there are never more connections than edges
  if (all->n < s->n_edges) {
    all->items[all->n++] =
        (found){all->from, sink, edge, flow->gain, flow->offset, flow->is_unconverted};
  }
}

static int compare_found(const void* left, const void* right) {
  const found *a = left, *b = right;
  return a->edge->number < b->edge->number ? -1 : a->edge->number > b->edge->number;
}

static void follow_component(ssp* s, ssp_component* component, finds* all) {
  for (size_t i = 0; i < component->ports.n; i++) {
    ssp_flow flow = {.gain = 1};
    all->from = &component->ports.items[i];
    if (all->from->out != NULL) {
      yoke__ssp_port_unit(s, all->from, &flow);
      yoke__ssp_follow(s, &component->ports.items[i], &flow, keep, all);
    }
  }
  for (ssp_port* port = component->ports.undeclared; port != NULL; port = port->next) {
    ssp_flow flow = {.gain = 1};
    all->from = port;
    yoke__ssp_port_unit(s, port, &flow);
    yoke__ssp_follow(s, port, &flow, keep, all);
  }
}

static yoke_node* number_node(ssp* s, double value, yoke_place place) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format(value, text);
  return yoke__ssp_scalar(s, text, false, place);
}

static yoke_node* connection_node(ssp* s, const found* f) {
  const yoke_place place = yoke__ssp_place(f->edge->document, f->edge->node);
  yoke_node* map = yoke__node_new(s->reader, YOKE_NODE_MAP, place);
  yoke_node* last = NULL;
  const char* from = yoke__ssp_text(s, "%s.%s", f->from->component->name, f->from->name);
  const char* to = yoke__ssp_text(s, "%s.%s", f->to->component->name, f->to->name);
  yoke__ssp_put(s, map, &last, "from", place, yoke__ssp_scalar(s, from, true, place));
  yoke__ssp_put(s, map, &last, "to", place, yoke__ssp_scalar(s, to, true, place));
  // a gain that is written stands for all that happens to the value: units are not compared again
  if (f->gain != 1 || f->is_unconverted) {
    yoke__ssp_put(s, map, &last, "gain", place, number_node(s, f->gain, place));
  }
  if (f->offset != 0) {
    yoke__ssp_put(s, map, &last, "offset", place, number_node(s, f->offset, place));
  }
  return map;
}

yoke_node* yoke__ssp_connections(ssp* s) {
  finds all = {.items = yoke__ssp_take(s, s->n_edges, sizeof *all.items)};
  if (all.items == NULL || s->n_edges == 0) {
    return NULL;
  }
  for (ssp_component* c = s->components; c != NULL; c = c->next) {
    follow_component(s, c, &all);
  }
  qsort(all.items, all.n, sizeof *all.items, compare_found);
  const yoke_place place = {.source = s->systems->document->source, .line = 1};
  yoke_node* list = all.n == 0 ? NULL : yoke__node_new(s->reader, YOKE_NODE_LIST, place);
  yoke_node* last = NULL;
  for (size_t i = 0; list != NULL && i < all.n; i++) {
    yoke__ssp_put(s, list, &last, NULL, place, connection_node(s, &all.items[i]));
  }
  return list;
}
