// XML -> systems: what is in a system, which connectors it has, which signal dictionaries.
//
// A component that is another SSD or SSP, or a system of the same file by its id, becomes a system in its place. Nesting
// is bounded, and a system that contains itself is refused.
#include "scenario/scenario_ssp_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/base_check.h"

static const char fmu_type[] = "application/x-fmu-sharedlibrary";
static const char definition_type[] = "application/x-ssp-definition";
static const char package_type[] = "application/x-ssp-package";

// ---------------------------------------------------------------------------------------------------------
// connectors

typedef struct word {
  const char* text;
  int value;
} word;

static int value_of(const word words[], size_t n, const char* text) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(words[i].text, text) == 0) {
      return words[i].value;
    }
  }
  return -1;
}

const yoke_xml_node* yoke__ssp_read_type(ssp* s, const yoke_xml_node* node, ssp_type* type,
                                         const char** unit) {
  static const word types[] = {
      {"Real", SSP_REAL},       {"Float64", SSP_REAL},   {"Float32", SSP_REAL},
      {"Integer", SSP_INTEGER}, {"Int8", SSP_INTEGER},   {"UInt8", SSP_INTEGER},
      {"Int16", SSP_INTEGER},   {"UInt16", SSP_INTEGER}, {"Int32", SSP_INTEGER},
      {"UInt32", SSP_INTEGER},  {"Int64", SSP_INTEGER},  {"UInt64", SSP_INTEGER},
      {"Boolean", SSP_BOOLEAN}, {"String", SSP_STRING},  {"Enumeration", SSP_ENUMERATION},
      {"Binary", SSP_BINARY},
  };
  *type = SSP_UNKNOWN_TYPE;
  *unit = NULL;
  for (const yoke_xml_node* child = node->first; child != NULL; child = child->next) {
    const int value = value_of(types, YOKE_COUNT(types), child->name);
    if (value >= 0) {
      *type = (ssp_type)value;
      const char* text = *type == SSP_REAL ? yoke__ssp_get(s, child, "unit") : NULL;
      *unit = text == NULL || text[0] == '\0' ? NULL : text;
      return child;
    }
  }
  return NULL;
}

static ssp_kind read_kind(ssp* s, const ssp_document* document, const yoke_xml_node* node) {
  static const word kinds[] = {
      {"input", SSP_INPUT},
      {"output", SSP_OUTPUT},
      {"parameter", SSP_PARAMETER},
      {"structuralParameter", SSP_PARAMETER},
      {"calculatedParameter", SSP_CALCULATED},
      {"constant", SSP_CALCULATED},
      {"local", SSP_CALCULATED},
      {"inout", SSP_INOUT},
      {"unspecified", SSP_UNKNOWN_KIND},
  };
  const char* text = yoke__ssp_get(s, node, "kind");
  if (text == NULL) {
    return SSP_UNKNOWN_KIND;
  }
  const int kind = value_of(kinds, YOKE_COUNT(kinds), text);
  if (kind < 0) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, document, node,
                    "'kind': expected input, output, inout, parameter or calculatedParameter, "
                    "found '%s'",
                    yoke__text_cut(text, cut));
    return SSP_UNKNOWN_KIND;
  }
  return (ssp_kind)kind;
}

size_t yoke__ssp_count(const yoke_xml_node* node, const char* name) {
  size_t n = 0;
  for (const yoke_xml_node* at = yoke__xml_child(node, name); at != NULL; at = yoke__xml_next(at)) {
    n++;
  }
  return n;
}

ssp_port* yoke__ssp_find_port(const ssp_ports* ports, const char* name) {
  if (ports->map.slots == NULL) {
    return NULL;
  }
  const size_t i = yoke__map_find(&ports->map, name);
  if (i != YOKE_NOT_FOUND) {
    return &ports->items[i];
  }
  for (ssp_port* port = ports->undeclared; port != NULL; port = port->next) {
    if (strcmp(port->name, name) == 0) {
      return port;
    }
  }
  return NULL;
}

// All connectors of an element, or all entries of a dictionary. node may be NULL.
static void read_ports(ssp* s, const ssp_document* document, const ssp_scope* scope,
                       const yoke_xml_node* node, const char* child, ssp_ports* ports) {
  const size_t n_most = yoke__ssp_count(node, child);
  ports->items = yoke__ssp_take(s, n_most, sizeof *ports->items);
  if (ports->items == NULL || yoke__map_create(n_most, &s->arena, &ports->map) < 0) {
    s->reader->is_out_of_memory = true;
    return;
  }
  for (const yoke_xml_node* at = yoke__xml_child(node, child); at != NULL;
       at = yoke__xml_next(at)) {
    char cut[YOKE_FOUND_SIZE];
    const char* name = yoke__ssp_require(s, document, at, "name");
    if (name == NULL) {
      continue;
    }
    if (yoke__map_add(&ports->map, name, ports->n) != YOKE_NOT_FOUND) {
      yoke__ssp_error(s, document, at, "a second %s '%s'", at->name, yoke__text_cut(name, cut));
      continue;
    }
    ssp_port* port = &ports->items[ports->n++];
    *port = (ssp_port){.name = name, .scope = scope, .kind = read_kind(s, document, at)};
    yoke__ssp_read_type(s, at, &port->type, &port->unit);
  }
}

static void read_connectors(ssp* s, const ssp_document* document, const yoke_xml_node* element,
                            ssp_ports* ports) {
  static const char* const known[] = {"Connector", NULL};
  const yoke_xml_node* list = yoke__xml_child(element, "Connectors");
  yoke__ssp_check_children(s, document, list, known);
  read_ports(s, document, &document->scope, list, "Connector", ports);
}

// ---------------------------------------------------------------------------------------------------------
// signal dictionaries

// The node with the entries: the inner SignalDictionary, that of a file, or the outer one itself.
static const yoke_xml_node* dictionary_entries(ssp* s, const ssp_document** document,
                                               const yoke_xml_node* node) {
  const char* source = yoke__ssp_source(s, node);
  const yoke_xml_node* inner = yoke__xml_child(node, "SignalDictionary");
  if (source == NULL) {
    return inner == NULL ? node : inner;
  }
  if (inner != NULL) {
    yoke__ssp_warn_two(s, *document, node, inner, source);
  }
  const char* fragment = NULL;
  const char* path = yoke__ssp_resolve(s, *document, node, source, &fragment);
  const ssp_document* file = path == NULL ? NULL
                                          : yoke__ssp_open(s, (*document)->root, path,
                                                           "SignalDictionary", *document, node);
  if (file == NULL) {
    return NULL;
  }
  *document = file;
  return file->xml;
}

static void read_dictionary(ssp* s, ssp_system* system, const yoke_xml_node* node) {
  const char* name = yoke__ssp_require(s, system->document, node, "name");
  ssp_dictionary* dictionary = name == NULL ? NULL : yoke__ssp_take(s, 1, sizeof *dictionary);
  if (dictionary == NULL) {
    return;
  }
  const ssp_document* document = system->document;
  const yoke_xml_node* entries = dictionary_entries(s, &document, node);
  dictionary->name = name;
  yoke__ssp_scope_init(s, &dictionary->scope, document, entries, &document->scope);
  read_ports(s, document, &dictionary->scope, entries, "DictionaryEntry", &dictionary->ports);
  dictionary->next = system->dictionaries;
  system->dictionaries = dictionary;
}

// In the system of the reference, else in those around it.
static ssp_dictionary* find_dictionary(const ssp_system* system, const char* name) {
  for (const ssp_system* at = system; at != NULL; at = at->parent) {
    for (ssp_dictionary* d = at->dictionaries; d != NULL; d = d->next) {
      if (strcmp(d->name, name) == 0) {
        return d;
      }
    }
  }
  return NULL;
}

static void read_reference(ssp* s, const ssp_system* system, const yoke_xml_node* node,
                           ssp_element* element) {
  const char* name = yoke__ssp_require(s, system->document, node, "dictionary");
  if (name == NULL) {
    return;
  }
  char cut[YOKE_FOUND_SIZE];
  element->dictionary = find_dictionary(system, name);
  if (element->dictionary == NULL) {
    yoke__ssp_error(s, system->document, node, "there is no signal dictionary '%s'",
                    yoke__text_cut(name, cut));
    return;
  }
  read_connectors(s, system->document, node, &element->ports);
  for (size_t i = 0; i < element->ports.n; i++) {
    ssp_port* port = &element->ports.items[i];
    port->alias = yoke__ssp_find_port(&element->dictionary->ports, port->name);
    if (port->alias == NULL) {
      yoke__ssp_error(s, system->document, node, "the signal dictionary '%s' has no entry '%s'",
                      name, yoke__text_cut(port->name, cut));
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// components

// A system at the end of the list, to be filled later. NULL: reported.
static ssp_system* add_system(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              ssp_system* parent, const char* full_name) {
  const int depth = parent == NULL ? 0 : parent->depth + 1;
  if (depth > SSP_MAX_DEPTH) {
    yoke__ssp_error(s, document, node,
                    "systems are nested too deeply: at most %d inside each other", SSP_MAX_DEPTH);
    return NULL;
  }
  ssp_system* system = yoke__ssp_take(s, 1, sizeof *system);
  if (system == NULL) {
    return NULL;
  }
  *system = (ssp_system){.previous = s->last_system,
                         .parent = parent,
                         .full_name = full_name,
                         .node = node,
                         .document = document,
                         .depth = depth};
  if (s->last_system == NULL) {
    s->systems = system;
  } else {
    s->last_system->next = system;
  }
  s->last_system = system;
  return system;
}

// A system that stands for a component: that of another file, or of this one by its id.
static ssp_system* include(ssp* s, ssp_system* parent, const yoke_xml_node* component,
                           const ssp_document* document, const yoke_xml_node* node,
                           const char* full_name) {
  // what stands for itself would never end
  for (const ssp_system* at = parent; at != NULL; at = at->parent) {
    if (at->node == node) {
      yoke__ssp_error(s, parent->document, component, "'%s' contains itself",
                      yoke__xml_get(component, "name"));
      return NULL;
    }
  }
  ssp_system* system = add_system(s, document, node, parent, full_name);
  if (system != NULL) {
    system->outer = component;
    system->outer_document = parent->document;
  }
  return system;
}

static const yoke_xml_node* find_id(ssp* s, const yoke_xml_node* node, const char* id) {
  // pre-order without recursion
  for (const yoke_xml_node* at = node; at != NULL;) {
    const char* own = strcmp(at->name, "System") == 0 ? yoke__ssp_get(s, at, "id") : NULL;
    if (own != NULL && strcmp(own, id) == 0) {
      return at;
    }
    if (at->first != NULL) {
      at = at->first;
      continue;
    }
    while (at != node && at->next == NULL) {
      at = at->parent;
    }
    at = at == node ? NULL : at->next;
  }
  return NULL;
}

// The system of a document; NULL: reported.
static const yoke_xml_node* system_of(ssp* s, const ssp_document* document) {
  const yoke_xml_node* node = yoke__xml_child(document->xml, "System");
  if (node == NULL) {
    yoke__ssp_error(s, document, document->xml, "'%s' has no element 'System'",
                    document->xml->name);
  }
  return node;
}

// Unpacks an archive inside of this one and opens its SSD.
static const ssp_document* open_package(ssp* s, const ssp_document* from, const yoke_xml_node* node,
                                        const char* path, const char* variant) {
  char folder[SSP_MAX_PATH] = "";
  const yoke_ssp_files* files = s->files;
  const char* prefix = yoke__ssp_text(s, "%s%s/", from->root->prefix, path);
  variant = variant == NULL ? YOKE_SSP_MAIN : variant;

  // several components may be the same archive
  for (const ssp_document* d = s->documents; d != NULL; d = d->next) {
    if (strcmp(d->root->prefix, prefix) == 0) {
      return yoke__ssp_open(s, d->root, variant, "SystemStructureDescription", from, node);
    }
  }
  if (files->unpack == NULL) {
    yoke__ssp_error(s, from, node, "an archive is not allowed here");
    return NULL;
  }
  const char* full = yoke__ssp_text(s, "%s%s", from->root->folder, path);
  YOKE_CATCH(why);
  const yoke_status status = files->unpack(files->context, full, folder, sizeof folder, &why.sink);
  s->reader->is_out_of_memory |= status == YOKE_NO_MEMORY;
  if (status < 0) {
    yoke__ssp_error(s, from, node, "%s", why.text);
    return NULL;
  }
  ssp_root* root = yoke__ssp_take(s, 1, sizeof *root);
  if (root == NULL) {
    return NULL;
  }
  *root =
      (ssp_root){.folder = yoke__ssp_text(s, "%s", folder), .prefix = prefix, .is_closed = true};
  return yoke__ssp_open(s, root, variant, "SystemStructureDescription", from, node);
}

// A component that is a system. type: its MIME type.
static ssp_system* read_nested(ssp* s, ssp_system* parent, const yoke_xml_node* node,
                               const char* type, const char* source, const char* full_name) {
  const ssp_document* document = parent->document;
  const char* fragment = NULL;
  if (source[0] == '#') {
    char cut[YOKE_FOUND_SIZE];
    const yoke_xml_node* system = find_id(s, document->xml, source + 1);
    if (system == NULL) {
      yoke__ssp_error(s, document, node, "there is no system with the id '%s'",
                      yoke__text_cut(source + 1, cut));
      return NULL;
    }
    return include(s, parent, node, document, system, full_name);
  }
  const char* path = yoke__ssp_resolve(s, document, node, source, &fragment);
  if (path == NULL) {
    return NULL;
  }
  if (parent->depth >= SSP_MAX_DEPTH) {
    yoke__ssp_error(s, document, node,
                    "systems are nested too deeply: at most %d inside each other", SSP_MAX_DEPTH);
    return NULL;
  }
  const ssp_document* file =
      strcmp(type, package_type) == 0
          ? open_package(s, document, node, path, fragment)
          : yoke__ssp_open(s, document->root, path, "SystemStructureDescription", document, node);
  const yoke_xml_node* system = file == NULL ? NULL : system_of(s, file);
  return system == NULL ? NULL : include(s, parent, node, file, system, full_name);
}

// A name for the unit: the path, joined by '_', in letters that names may have.
static const char* unit_name(ssp* s, const char* full_name) {
  const char* text = yoke__ssp_text(s, "_%s", full_name);
  const size_t n = strlen(text);
  char* name = yoke__ssp_take(s, n + 2, 1);  // room for one more '_'
  if (name == NULL) {
    return "";
  }
  memcpy(name, text, n + 1);
  for (char* at = name; *at != '\0'; at++) {
    const bool is_letter = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z');
    const bool is_digit = *at >= '0' && *at <= '9';
    if (!is_letter && !is_digit && *at != '-') {
      *at = '_';
    }
  }

  // the '_' in front stays where the name would not start with a letter
  const bool is_kept =
      !((name[1] >= 'A' && name[1] <= 'Z') || (name[1] >= 'a' && name[1] <= 'z') || name[1] == '_');
  const char* start = is_kept ? name : name + 1;
  if (strcmp(start, "bond") == 0) {
    name[n] = '_';
  }
  return start;
}

static void add_component(ssp* s, const ssp_system* system, const yoke_xml_node* node,
                          const char* full_name, const char* path, ssp_element* element) {
  ssp_component* component = yoke__ssp_take(s, 1, sizeof *component);
  if (component == NULL) {
    return;
  }
  *component = (ssp_component){.name = unit_name(s, full_name),
                               .full_name = full_name,
                               .path = path,
                               .implementation = yoke__ssp_get(s, node, "implementation"),
                               .node = node,
                               .document = system->document};
  read_connectors(s, system->document, node, &component->ports);
  for (size_t i = 0; i < component->ports.n; i++) {
    component->ports.items[i].component = component;
  }
  if (s->last_component == NULL) {
    s->components = component;
  } else {
    s->last_component->next = component;
  }
  s->last_component = component;
  s->n_components++;
  element->component = component;
}

// The MIME type without its parameters.
static const char* type_of(ssp* s, const yoke_xml_node* node, const char* or_else) {
  const char* type = yoke__ssp_get(s, node, "type");
  if (type == NULL || type[0] == '\0') {
    return or_else;
  }
  return yoke__ssp_text(s, "%.*s", (int)strcspn(type, "; "), type);
}

// True if a path ends in ending, in any case of letters.
static bool has_ending(const char* path, const char* ending) {
  const size_t n_path = strcspn(path, "#"), n = strlen(ending);
  for (size_t i = 0; i < n; i++) {
    if (n_path < n || (path[n_path - n + i] | 0x20) != (ending[i] | 0x20)) {
      return false;
    }
  }
  return true;
}

static void read_component(ssp* s, ssp_system* system, const yoke_xml_node* node,
                           const char* full_name, ssp_element* element) {
  static const char* const known[] = {"Connectors", "ParameterBindings", NULL};
  const ssp_document* document = system->document;
  yoke__ssp_check_children(s, document, node, known);
  const char* source = yoke__ssp_get(s, node, "source");
  if (source == NULL) {
    yoke__message_add(s->messages, YOKE_WARNING, yoke__ssp_place(document, node),
                      "the component '%s' has no source and is left out", full_name);
    element->system = add_system(s, document, NULL, system, full_name);
    if (element->system != NULL) {
      read_connectors(s, document, node, &element->system->ports);
    }
    return;
  }
  if (source[0] == '\0') {
    yoke__ssp_error(s, document, node,
                    "the component '%s' has an empty 'source', which means this file itself; "
                    "expected a file, or no 'source' if there is no implementation",
                    full_name);
    return;
  }

  // a missing type is an FMU, unless the file says otherwise
  const char* type = type_of(s, node, NULL);
  if (type == NULL) {
    type = has_ending(source, ".ssp")                       ? package_type
           : has_ending(source, ".ssd") || source[0] == '#' ? definition_type
                                                            : fmu_type;
  }
  if (strcmp(type, definition_type) == 0 || strcmp(type, package_type) == 0) {
    element->system = read_nested(s, system, node, type, source, full_name);
  } else if (strcmp(type, fmu_type) == 0) {
    const char* fragment = NULL;
    const char* path = yoke__ssp_resolve(s, document, node, source, &fragment);
    if (path != NULL) {
      const char* folder = path[0] == '/' ? "" : document->root->folder;
      add_component(s, system, node, full_name, yoke__ssp_text(s, "%s%s", folder, path), element);
    }
  } else {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, document, node, "a component of type '%s' cannot be run; expected %s",
                    yoke__text_cut(type, cut), fmu_type);
  }
}

// ---------------------------------------------------------------------------------------------------------
// systems

const ssp_element* yoke__ssp_find_element(const ssp_system* system, const char* name) {
  const size_t i = system->map.slots == NULL ? YOKE_NOT_FOUND : yoke__map_find(&system->map, name);
  return i == YOKE_NOT_FOUND ? NULL : &system->elements[i];
}

static void read_element(ssp* s, ssp_system* system, const yoke_xml_node* node,
                         ssp_element* element) {
  const char* full_name = system->full_name[0] == '\0'
                              ? element->name
                              : yoke__ssp_text(s, "%s.%s", system->full_name, element->name);
  if (strcmp(node->name, "System") == 0) {
    element->system = add_system(s, system->document, node, system, full_name);
  } else if (strcmp(node->name, "Component") == 0) {
    read_component(s, system, node, full_name, element);
  } else {
    read_reference(s, system, node, element);
  }
}

// True if there is room for one more element; otherwise reported once.
static bool count_element(ssp* s, const ssp_document* document, const yoke_xml_node* node) {
  if (s->n_elements == SSP_MAX_ELEMENTS) {
    yoke__ssp_error(s, document, node, "too many elements: at most %d", SSP_MAX_ELEMENTS);
  }
  return s->n_elements++ < SSP_MAX_ELEMENTS;
}

static void read_elements(ssp* s, ssp_system* system) {
  static const char* const known[] = {"Component", "System", "SignalDictionaryReference", NULL};
  const yoke_xml_node* list = yoke__xml_child(system->node, "Elements");
  if (list == NULL) {
    return;
  }
  yoke__ssp_check_children(s, system->document, list, known);
  const size_t n_most = yoke__ssp_count(list, "Component") + yoke__ssp_count(list, "System") +
                        yoke__ssp_count(list, "SignalDictionaryReference");
  system->elements = yoke__ssp_take(s, n_most, sizeof *system->elements);
  if (system->elements == NULL || yoke__map_create(n_most, &s->arena, &system->map) < 0) {
    s->reader->is_out_of_memory = true;
    return;
  }
  for (const yoke_xml_node* at = list->first; at != NULL && !s->reader->is_out_of_memory;
       at = at->next) {
    char cut[YOKE_FOUND_SIZE];
    const bool is_element = strcmp(at->name, known[0]) == 0 || strcmp(at->name, known[1]) == 0 ||
                            strcmp(at->name, known[2]) == 0;
    const char* name = is_element ? yoke__ssp_require(s, system->document, at, "name") : NULL;
    if (name == NULL) {
      continue;
    }
    if (!count_element(s, system->document, at)) {
      return;
    }
    if (yoke__map_add(&system->map, name, system->n_elements) != YOKE_NOT_FOUND) {
      yoke__ssp_error(s, system->document, at, "a second element '%s' in this system",
                      yoke__text_cut(name, cut));
      continue;
    }
    ssp_element* element = &system->elements[system->n_elements++];
    element->name = name;
    read_element(s, system, at, element);
  }
}

// Connectors, dictionaries and elements of a system that is in the list. node: where they are, NULL: nowhere.
static void fill_system(ssp* s, ssp_system* system) {
  static const char* const known[] = {"Connectors",  "ParameterBindings",  "Elements",
                                      "Connections", "SignalDictionaries", NULL};
  const yoke_xml_node* node = system->node;
  if (node == NULL) {
    return;
  }
  yoke__ssp_check_children(s, system->document, node, known);
  read_connectors(s, system->document, node, &system->ports);
  const yoke_xml_node* dictionaries = yoke__xml_child(node, "SignalDictionaries");
  for (const yoke_xml_node* at = yoke__xml_child(dictionaries, "SignalDictionary"); at != NULL;
       at = yoke__xml_next(at)) {
    read_dictionary(s, system, at);
  }
  read_elements(s, system);
}

bool yoke__ssp_build(ssp* s, const ssp_document* document) {
  const yoke_xml_node* node = system_of(s, document);
  if (node == NULL || add_system(s, document, node, NULL, "") == NULL) {
    return false;
  }
  // what a system contains goes to the end of the list, so nothing recurses
  for (ssp_system* at = s->systems; at != NULL && !s->reader->is_out_of_memory; at = at->next) {
    fill_system(s, at);
  }
  return true;
}
