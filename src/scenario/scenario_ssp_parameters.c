// Parameter sets and mappings -> values of components.
//
// Names are those of variables for a component; for a system they are names of its connectors or "element.name", at any
// depth. Bindings of outer systems win over those inside, later ones over earlier ones, so they are applied from inside to
// outside. With a mapping only what it names is applied; without one, names that match nothing are left out, as the
// standard wants it. Whether a name is a parameter or a start value is left to the unit (`values`).
#include "scenario/scenario_ssp_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

// Where a binding applies: a system, or a component.
typedef struct target {
  const ssp_system* system;
  ssp_component* component;
} target;

// ---------------------------------------------------------------------------------------------------------
// values

static size_t count_words(const char* text) {
  size_t n = 0;
  for (const char* at = text; *at != '\0';) {
    at += strspn(at, " \t\r\n");
    n += *at != '\0';
    at += strcspn(at, " \t\r\n");
  }
  return n;
}

// Splits a text at white space. texts NULL: memory is out.
static void split_words(ssp* s, const char* text, ssp_value* value) {
  value->n = count_words(text);
  value->texts = yoke__ssp_take(s, value->n, sizeof *value->texts);
  size_t n = 0;
  for (const char* at = text; value->texts != NULL && n < value->n;) {
    at += strspn(at, " \t\r\n");
    const size_t length = strcspn(at, " \t\r\n");
    value->texts[n++] = yoke__ssp_text(s, "%.*s", (int)length, at);
    at += length;
  }
}

// Values as child elements, as SSP 2.0 writes texts. The same.
static void read_children(ssp* s, const yoke_xml_node* node, ssp_value* value) {
  const yoke_xml_node* first = yoke__xml_child(node, "Value");
  value->n = yoke__ssp_count(node, "Value");
  value->texts = yoke__ssp_take(s, value->n, sizeof *value->texts);
  size_t i = 0;
  for (const yoke_xml_node* at = first; value->texts != NULL && at != NULL;
       at = yoke__xml_next(at)) {
    const char* text = yoke__xml_get(at, "value");
    value->texts[i++] = text == NULL ? at->text : text;
  }
}

// Columns of a value with dimensions; 0: it has none.
static size_t read_columns(ssp* s, const yoke_xml_node* parameter) {
  size_t n_dimensions = 0;
  int64_t last = 1;
  for (const yoke_xml_node* at = yoke__xml_child(parameter, "Dimension"); at != NULL;
       at = yoke__xml_next(at)) {
    const char* text = yoke__ssp_get(s, at, "size");
    n_dimensions++;
    if (text == NULL || !yoke__number_parse_integer(text, &last) || last < 1 || last > INT32_MAX) {
      last = 1;
    }
  }
  return n_dimensions == 0 ? 0 : n_dimensions == 1 ? 1 : (size_t)last;
}

// xs:boolean knows 0 and 1 too
static void spell_booleans(ssp_value* value) {
  for (size_t i = 0; i < value->n; i++) {
    value->texts[i] = strcmp(value->texts[i], "1") == 0   ? "true"
                      : strcmp(value->texts[i], "0") == 0 ? "false"
                                                          : value->texts[i];
  }
}

// An item that its own enumeration does not have.
static void check_item(ssp* s, const ssp_scope* scope, const yoke_xml_node* type,
                       const char* text) {
  const char* name = yoke__ssp_get(s, type, "name");
  const yoke_xml_node* list = yoke__xml_child(scope->owner, "Enumerations");
  const yoke_xml_node* at = yoke__xml_child(list, "Enumeration");
  for (; at != NULL; at = yoke__xml_next(at)) {
    const char* own = yoke__xml_get(at, "name");
    if (own != NULL && name != NULL && strcmp(own, name) == 0) {
      break;
    }
  }
  if (at == NULL) {
    return;  // it is up to the variable
  }
  for (const yoke_xml_node* item = yoke__xml_child(at, "Item"); item != NULL;
       item = yoke__xml_next(item)) {
    const char* own = yoke__xml_get(item, "name");
    if (own != NULL && strcmp(own, text) == 0) {
      return;
    }
  }
  char cut[YOKE_FOUND_SIZE], other[YOKE_FOUND_SIZE];
  yoke__ssp_error(s, scope->document, type, "the enumeration '%s' has no item '%s'",
                  yoke__text_cut(name, cut), yoke__text_cut(text, other));
}

// False: reported, or memory is out.
static bool read_value(ssp* s, const ssp_scope* scope, const yoke_xml_node* parameter,
                       ssp_value* value) {
  *value = (ssp_value){.scope = scope, .factor = 1};
  const yoke_xml_node* node = yoke__ssp_read_type(s, parameter, &value->type, &value->unit);
  if (node == NULL) {
    yoke__ssp_error(s, scope->document, parameter, "the parameter has no value");
    return false;
  }
  value->place = yoke__ssp_place(scope->document, node);
  const bool is_text =
      value->type == SSP_STRING || value->type == SSP_ENUMERATION || value->type == SSP_BINARY;
  const char* text = is_text ? yoke__xml_get(node, "value") : yoke__ssp_get(s, node, "value");
  if (text == NULL && yoke__xml_child(node, "Value") == NULL) {
    yoke__ssp_error(s, scope->document, node, "'%s' has no 'value'", node->name);
    return false;
  }
  if (text == NULL) {
    read_children(s, node, value);
  } else if (!is_text && count_words(text) > 1) {
    split_words(s, text, value);
  } else {
    value->texts = yoke__ssp_take(s, 1, sizeof *value->texts);
    value->n = 1;
    if (value->texts != NULL) {
      value->texts[0] = text;
    }
  }
  if (value->texts == NULL) {
    return false;
  }
  value->n_cols = read_columns(s, parameter);
  if (value->n_cols == 0 && value->n > 1) {
    value->n_cols = 1;
  }
  if (value->type == SSP_BOOLEAN) {
    spell_booleans(value);
  }
  for (size_t i = 0; value->type == SSP_ENUMERATION && i < value->n; i++) {
    check_item(s, scope, node, value->texts[i]);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// to a component

// Replaces a number by gain * number + offset.
static const char* scale(ssp* s, const char* text, const ssp_flow* flow) {
  double number = 0;
  if ((flow->gain == 1 && flow->offset == 0) || !yoke__number_parse(text, &number)) {
    return text;  // what is no number is said by its reader
  }
  char to[YOKE_NUMBER_SIZE];
  yoke__number_format(flow->gain * number + flow->offset, to);
  return yoke__ssp_text(s, "%s", to);
}

// Some write enumerations as their numbers: the item of the FMU's variable with this number, else the text as it is.
static const char* name_item(ssp* s, ssp_component* component, const char* name, const char* text,
                             bool* is_item) {
  const yoke_fmi_description* d = yoke__ssp_describe(s, component);
  const size_t i = d == NULL ? YOKE_FMI_NONE : yoke__fmi_find(d, name);
  int64_t number = 0;
  if (i == YOKE_FMI_NONE || d->variables[i].type != YOKE_FMI_ENUMERATION ||
      !yoke__number_parse_integer(text, &number)) {
    return text;
  }
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(d, &d->variables[i], &n);
  for (size_t k = 0; k < n; k++) {
    if (items[k].value == number) {
      *is_item = true;
      return items[k].name;
    }
  }
  return text;
}

// Notes the value; flow: what happens to its numbers.
static void add_setting(ssp* s, ssp_component* component, const char* name, const ssp_value* value,
                        const ssp_flow* flow) {
  ssp_setting* setting = yoke__ssp_take(s, 1, sizeof *setting);
  const char** texts = yoke__ssp_take(s, value->n, sizeof *texts);
  if (setting == NULL || texts == NULL) {
    return;
  }
  *setting = (ssp_setting){.name = name, .value = *value};
  for (size_t i = 0; i < value->n; i++) {
    bool is_item = false;
    texts[i] = value->type == SSP_REAL ? scale(s, value->texts[i], flow)
               : value->type == SSP_INTEGER
                   ? name_item(s, component, name, value->texts[i], &is_item)
                   : value->texts[i];
    setting->value.type = is_item ? SSP_ENUMERATION : setting->value.type;
  }
  setting->value.texts = texts;
  if (component->last == NULL) {
    component->first = setting;
  } else {
    component->last->next = setting;
  }
  component->last = setting;
  component->n_settings++;
}

// The value brought to the unit of a port, then transformed.
static ssp_flow enter(ssp* s, const ssp_value* value, const ssp_port* port) {
  ssp_flow own = {.gain = 1, .unit = value->unit, .scope = value->scope}, at = {.gain = 1};
  yoke__ssp_port_unit(s, port, &at);
  double factor = 1, offset = 0;
  if (value->type == SSP_REAL && !value->is_unconverted &&
      !yoke__ssp_convert(s, &own, &at, &factor, &offset)) {
    yoke__error(s->messages, value->place, "units do not match: the value is in %s, '%s' in %s",
                value->unit, port->name, at.unit);
  }
  if (at.unit == NULL) {
    at = own;
  }
  at.gain = value->factor * factor;
  at.offset = value->factor * offset + value->offset;
  return at;
}

// False: the FMU has no such variable.
static bool set_component(ssp* s, ssp_component* component, const char* name,
                          const ssp_value* value) {
  const ssp_port* declared = yoke__ssp_find_port(&component->ports, name);
  const yoke_fmi_description* description = yoke__ssp_describe(s, component);
  if (declared == NULL && description != NULL &&
      yoke__fmi_find(description, name) == YOKE_FMI_NONE) {
    return false;
  }
  const ssp_port variable = {
      .name = name, .component = component, .scope = &component->document->scope};
  const ssp_flow flow = enter(s, value, declared == NULL ? &variable : declared);
  add_setting(s, component, name, value, &flow);
  return true;
}

static void take_value(ssp* s, void* context, ssp_port* sink, const ssp_edge* edge,
                       const ssp_flow* flow) {
  (void)edge;
  add_setting(s, sink->component, sink->name, context, flow);
}

// A value at a connector of a system goes where the connector leads to; at an output, where it comes from.
static void set_connector(ssp* s, ssp_port* port, ssp_value* value) {
  const ssp_flow flow = enter(s, value, port);
  yoke__ssp_follow(s, port, &flow, take_value, value);
  if (port->kind != SSP_OUTPUT) {
    return;
  }
  const ssp_port* at = port;
  size_t n_passed = 0;
  while (at->component == NULL && at->in != NULL && !at->in->has_factor &&
         n_passed++ <= s->n_edges) {
    at = at->in->from;
  }
  if (at->component != NULL) {
    set_component(s, at->component, at->name, value);
  }
}

// ---------------------------------------------------------------------------------------------------------
// names

typedef struct place_of_name {
  const ssp_system* system;
  const char* rest;
} place_of_name;

// The systems in which the rest of a name is to be looked for.
typedef struct search {
  place_of_name* items;
  size_t n, room;
} name_search;

static bool push_system(ssp* s, name_search* search, const ssp_system* system, const char* rest) {
  if (search->n == search->room) {
    const size_t larger = search->room == 0 ? 16 : 2 * search->room;
    place_of_name* grown = realloc(search->items, larger * sizeof *grown);
    if (grown == NULL) {
      s->reader->is_out_of_memory = true;
      return false;
    }
    search->items = grown;
    search->room = larger;
  }
  search->items[search->n++] = (place_of_name){system, rest};
  return true;
}

// "element.name": an element's name may contain dots itself, so every dot is tried.
static size_t set_in_elements(ssp* s, name_search* search, const place_of_name* at,
                              const ssp_value* value) {
  size_t n_set = 0;
  const size_t n_name = strlen(at->rest);
  char* name = malloc(n_name + 1);
  if (name == NULL) {
    s->reader->is_out_of_memory = true;
    return 0;
  }
  memcpy(name, at->rest, n_name + 1);
  for (char* dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
    *dot = '\0';
    const ssp_element* element = yoke__ssp_find_element(at->system, name);
    *dot = '.';
    const char* rest = at->rest + (dot + 1 - name);
    if (element == NULL || *rest == '\0') {
      continue;
    }
    if (element->component != NULL) {
      n_set += set_component(s, element->component, rest, value);
    } else if (element->system != NULL && !push_system(s, search, element->system, rest)) {
      break;
    }
  }
  free(name);
  return n_set;
}

// Returns how many variables or connectors have this name.
static size_t apply(ssp* s, const target* to, const char* name, ssp_value* value) {
  if (to->component != NULL) {
    return set_component(s, to->component, name, value);
  }
  name_search search = {0};
  size_t n_set = 0;
  bool is_good = push_system(s, &search, to->system, name);
  while (is_good && search.n > 0 && !s->reader->is_out_of_memory) {
    const place_of_name at = search.items[--search.n];
    ssp_port* port = yoke__ssp_find_port(&at.system->ports, at.rest);
    if (port != NULL) {
      set_connector(s, port, value);
      n_set++;
    }
    n_set += set_in_elements(s, &search, &at, value);
  }
  free(search.items);
  return n_set;
}

// ---------------------------------------------------------------------------------------------------------
// bindings

// A file that a binding or its mapping names, or what stands inside of it.
static const yoke_xml_node* content_of(ssp* s, const ssp_document* document, const target* to,
                                       const yoke_xml_node* node, const yoke_xml_node* holder,
                                       const char* element, const ssp_document** out) {
  char cut[YOKE_FOUND_SIZE];
  const char* source = yoke__ssp_source(s, node);
  const char* base = yoke__ssp_get(s, node, "sourceBase");
  const yoke_xml_node* content = yoke__xml_child(holder, element);
  *out = document;
  if (source == NULL) {
    return content;
  }
  if (content != NULL) {
    yoke__ssp_warn_two(s, document, node, content, source);
  }
  const ssp_document* file = NULL;
  const char* fragment = NULL;
  if (base != NULL && strcmp(base, "component") == 0 && to->component != NULL) {
    // relative to the FMU: an entry of its archive, whatever folder that is in
    const ssp_root inside = {.is_closed = true};
    const ssp_document fmu = {.root = &inside, .folder = "", .source = document->source};
    const char* entry = yoke__ssp_resolve(s, &fmu, node, source, &fragment);
    file = entry == NULL
               ? NULL
               : yoke__ssp_open_entry(s, document->root,
                                      to->component->path + strlen(document->root->folder), entry,
                                      element, document, node);
  } else if (base != NULL && strcmp(base, "SSD") != 0) {
    yoke__ssp_error(s, document, node, "'sourceBase': expected SSD or component, found '%s'",
                    yoke__text_cut(base, cut));
  } else {
    const char* path = yoke__ssp_resolve(s, document, node, source, &fragment);
    file = path == NULL ? NULL : yoke__ssp_open(s, document->root, path, element, document, node);
  }
  *out = file == NULL ? document : file;
  return file == NULL ? NULL : file->xml;
}

// The texts that a table of single values changes.
static void map_values(ssp* s, const yoke_xml_node* mapping, ssp_value* value) {
  const char** texts = yoke__ssp_take(s, value->n, sizeof *texts);
  for (size_t i = 0; texts != NULL && i < value->n; i++) {
    texts[i] = value->texts[i];
    for (const yoke_xml_node* entry = yoke__xml_child(mapping, "MapEntry"); entry != NULL;
         entry = yoke__xml_next(entry)) {
      const char* source = yoke__ssp_get(s, entry, "source");
      const char* target_text = yoke__ssp_get(s, entry, "target");
      if (source != NULL && target_text != NULL && strcmp(source, value->texts[i]) == 0) {
        texts[i] = target_text;
        break;
      }
    }
  }
  value->texts = texts == NULL ? value->texts : texts;
  if (value->type == SSP_BOOLEAN && texts != NULL) {
    spell_booleans(value);
  }
}

static void transform(ssp* s, const ssp_document* document, const yoke_xml_node* entry,
                      ssp_value* value) {
  static const char* const tables[] = {"BooleanMappingTransformation",
                                       "IntegerMappingTransformation",
                                       "EnumerationMappingTransformation"};
  const yoke_xml_node* linear = yoke__xml_child(entry, "LinearTransformation");
  value->is_unconverted = yoke__ssp_is_true(s, entry, "suppressUnitConversion");
  if (linear != NULL) {
    value->factor = yoke__ssp_number(s, document, linear, "factor", 1);
    value->offset = yoke__ssp_number(s, document, linear, "offset", 0);
    if (value->type != SSP_REAL) {
      yoke__ssp_error(s, document, linear, "factor and offset need a real parameter");
    }
  }
  for (size_t i = 0; i < YOKE_COUNT(tables); i++) {
    const yoke_xml_node* table = yoke__xml_child(entry, tables[i]);
    if (table != NULL) {
      map_values(s, table, value);
    }
  }
}

// A parameter set with the names it has in this binding.
typedef struct parameter_set {
  ssp_scope scope;
  const yoke_xml_node** items;
  const char** names;
  size_t n;
  yoke_map map;
} parameter_set;

static bool read_set(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                     const char* prefix, parameter_set* set) {
  const yoke_xml_node* list = yoke__xml_child(node, "Parameters");
  const size_t n = yoke__ssp_count(list, "Parameter");
  yoke__ssp_scope_init(s, &set->scope, document, node,
                       node == document->xml ? NULL : &document->scope);
  set->items = yoke__ssp_take(s, n, sizeof(void*));
  set->names = yoke__ssp_take(s, n, sizeof *set->names);
  if (set->items == NULL || set->names == NULL || yoke__map_create(n, &s->arena, &set->map) < 0) {
    s->reader->is_out_of_memory = true;
    return false;
  }
  for (const yoke_xml_node* at = yoke__xml_child(list, "Parameter"); at != NULL;
       at = yoke__xml_next(at)) {
    const char* name = yoke__ssp_require(s, document, at, "name");
    if (name == NULL) {
      continue;
    }
    name = prefix[0] == '\0' ? name : yoke__ssp_text(s, "%s%s", prefix, name);
    if (yoke__map_add(&set->map, name, set->n) != YOKE_NOT_FOUND) {
      char cut[YOKE_FOUND_SIZE];
      yoke__ssp_error(s, document, at, "a second parameter '%s'", yoke__text_cut(name, cut));
      continue;
    }
    set->names[set->n] = name;
    set->items[set->n++] = at;
  }
  return true;
}

// What matched nothing: one note for a whole binding.
typedef struct leftover {
  size_t n;
  const char* first;
} leftover;

static void apply_plain(ssp* s, const target* to, const parameter_set* set, leftover* left) {
  for (size_t i = 0; i < set->n; i++) {
    ssp_value value;
    if (read_value(s, &set->scope, set->items[i], &value) &&
        apply(s, to, set->names[i], &value) == 0 && left->n++ == 0) {
      left->first = set->names[i];
    }
  }
}

static void apply_mapped(ssp* s, const target* to, const parameter_set* set,
                         const ssp_document* document, const yoke_xml_node* mapping,
                         leftover* left) {
  for (const yoke_xml_node* at = yoke__xml_child(mapping, "MappingEntry"); at != NULL;
       at = yoke__xml_next(at)) {
    const char* source = yoke__ssp_require(s, document, at, "source");
    const char* name = yoke__ssp_require(s, document, at, "target");
    if (source == NULL || name == NULL) {
      continue;
    }
    const size_t i = yoke__map_find(&set->map, source);
    ssp_value value;
    if (i == YOKE_NOT_FOUND) {
      left->first = left->n++ == 0 ? source : left->first;
    } else if (read_value(s, &set->scope, set->items[i], &value)) {
      transform(s, document, at, &value);
      if (apply(s, to, name, &value) == 0 && left->n++ == 0) {
        left->first = name;
      }
    }
  }
}

static void apply_binding(ssp* s, const ssp_document* document, const target* to,
                          const yoke_xml_node* node) {
  static const char* const known[] = {"ParameterValues", "ParameterMapping", NULL};
  char cut[YOKE_FOUND_SIZE];
  yoke__ssp_check_children(s, document, node, known);
  const char* type = yoke__ssp_get(s, node, "type");
  if (type != NULL && type[0] != '\0' && strcmp(type, "application/x-ssp-parameter-set") != 0) {
    yoke__ssp_error(s, document, node, "parameters of type '%s' cannot be read",
                    yoke__text_cut(type, cut));
    return;
  }
  const ssp_document *set_document = NULL, *mapping_document = NULL;
  const yoke_xml_node* values = yoke__xml_child(node, "ParameterValues");
  const size_t n_errors = s->messages->n_errors;
  const yoke_xml_node* set_node =
      content_of(s, document, to, node, values, "ParameterSet", &set_document);
  if (set_node == NULL) {
    if (s->messages->n_errors == n_errors) {
      yoke__ssp_error(s, document, node, "the binding has neither a source nor values inside");
    }
    return;
  }
  const char* prefix = yoke__xml_get(node, "prefix");
  parameter_set* set = yoke__ssp_take(s, 1, sizeof *set);
  if (set == NULL || !read_set(s, set_document, set_node, prefix == NULL ? "" : prefix, set)) {
    return;
  }
  leftover left = {0};
  const yoke_xml_node* outer = yoke__xml_child(node, "ParameterMapping");
  if (outer == NULL) {
    apply_plain(s, to, set, &left);
  } else {
    const yoke_xml_node* mapping =
        content_of(s, document, to, outer, outer, "ParameterMapping", &mapping_document);
    // some write the entries straight into the outer element
    if (mapping == NULL && yoke__ssp_source(s, outer) == NULL) {
      mapping = outer;
      if (yoke__xml_child(outer, "MappingEntry") == NULL) {
        yoke__ssp_error(s, document, outer, "the mapping has neither a source nor entries inside");
      }
    }
    if (mapping != NULL) {
      apply_mapped(s, to, set, mapping_document, mapping, &left);
    }
  }
  if (left.n > 0) {
    yoke__message_add(s->messages, YOKE_NOTE, yoke__ssp_place(document, node),
                      "%zu parameter%s of this binding match%s nothing and %s left out: '%s'%s",
                      left.n, left.n == 1 ? "" : "s", left.n == 1 ? "es" : "",
                      left.n == 1 ? "is" : "are", yoke__text_cut(left.first, cut),
                      left.n == 1 ? "" : ", ...");
  }
}

static void apply_bindings(ssp* s, const ssp_document* document, const target* to,
                           const yoke_xml_node* element) {
  static const char* const known[] = {"ParameterBinding", NULL};
  const yoke_xml_node* list = yoke__xml_child(element, "ParameterBindings");
  yoke__ssp_check_children(s, document, list, known);
  for (const yoke_xml_node* at = yoke__xml_child(list, "ParameterBinding");
       at != NULL && !s->reader->is_out_of_memory; at = yoke__xml_next(at)) {
    apply_binding(s, document, to, at);
  }
}

void yoke__ssp_parametrise(ssp* s) {
  // what is set later wins: components, then systems from the innermost to the first
  for (ssp_component* c = s->components; c != NULL; c = c->next) {
    const target to = {.component = c};
    apply_bindings(s, c->document, &to, c->node);
  }
  for (const ssp_system* system = s->last_system; system != NULL; system = system->previous) {
    const target to = {.system = system};
    apply_bindings(s, system->document, &to, system->node);
    if (system->outer != NULL) {
      apply_bindings(s, system->outer_document, &to, system->outer);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// values of the tree

static yoke_node* text_node(ssp* s, const ssp_value* value, size_t i) {
  const bool is_quoted =
      value->type == SSP_STRING || value->type == SSP_ENUMERATION || value->type == SSP_BINARY;
  return yoke__ssp_scalar(s, value->texts[i], is_quoted, value->place);
}

static yoke_node* value_node(ssp* s, const ssp_value* value) {
  if (value->n_cols == 0 && value->n == 1) {
    return text_node(s, value, 0);
  }
  yoke_node *list = yoke__node_new(s->reader, YOKE_NODE_LIST, value->place), *last = NULL;
  yoke_node *row = NULL, *last_in_row = NULL;
  for (size_t i = 0; i < value->n; i++) {
    if (value->n_cols < 2) {
      yoke__ssp_put(s, list, &last, NULL, value->place, text_node(s, value, i));
      continue;
    }
    if (i % value->n_cols == 0) {
      row = yoke__node_new(s->reader, YOKE_NODE_LIST, value->place);
      last_in_row = NULL;
      yoke__ssp_put(s, list, &last, NULL, value->place, row);
    }
    yoke__ssp_put(s, row, &last_in_row, NULL, value->place, text_node(s, value, i));
  }
  return list;
}

yoke_node* yoke__ssp_values(ssp* s, const ssp_component* component) {
  yoke_map map = {0};
  const ssp_setting** kept = yoke__ssp_take(s, component->n_settings, sizeof(void*));
  if (component->n_settings == 0 || kept == NULL ||
      yoke__map_create(component->n_settings, &s->arena, &map) < 0) {
    return NULL;
  }
  // of several values for one name the last one counts
  size_t n = 0;
  for (const ssp_setting* at = component->first; at != NULL; at = at->next) {
    const size_t i = yoke__map_add(&map, at->name, n);
    kept[i == YOKE_NOT_FOUND ? n : i] = at;
    n += i == YOKE_NOT_FOUND;
  }
  yoke_node *values = yoke__node_new(s->reader, YOKE_NODE_MAP, kept[0]->value.place), *last = NULL;
  for (size_t i = 0; i < n; i++) {
    yoke__ssp_put(s, values, &last, kept[i]->name, kept[i]->value.place,
                  value_node(s, &kept[i]->value));
  }
  return values;
}
