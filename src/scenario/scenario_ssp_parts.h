// The inside of the SSP reader, shared by the files scenario_ssp*.c.
//
//   scenario_ssp.c             the stages; units, times and the rest of the tree
//   scenario_ssp_package.c     archives: unpacking, files on disk
//   scenario_ssp_file.c        URIs, documents, what is known about FMUs
//   scenario_ssp_system.c      XML -> systems, components, connectors, signal dictionaries
//   scenario_ssp_connect.c     connections -> edges; edges followed to their real ends
//   scenario_ssp_parameters.c  parameter sets and mappings -> values of components
//   scenario_ssp_dim.c         physical units
//   scenario_ssp_merge.c       our annotation
//
// Connectors are ports, connections are edges that point along the flow of data:
//
//   component  --->  connector of a system  --->  entry of a dictionary  --->  component
//
// A port has at most one edge that leads to it, so what a component's output reaches is a tree.
#ifndef YOKE_SCENARIO_SSP_PARTS_H
#define YOKE_SCENARIO_SSP_PARTS_H

#include "base/base_map.h"
#include "base/base_xml.h"
#include "fmi/fmi_package.h"
#include "scenario/scenario_ssp.h"

enum {
  SSP_MAX_ELEMENTS = 100000,  // systems, components and references of all levels
  SSP_MAX_DOCUMENTS = 1000,   // files that are read
  SSP_MAX_DEPTH = 32,         // systems inside each other
  SSP_MAX_PATH = 4096,
  SSP_MAX_WARNED = 64,
};

// A folder with the files of one package (or of the bare SSD).
typedef struct ssp_root {
  const char* folder;  // relative to the first SSD's: "" or "../ssp-1/"
  const char* prefix;  // in messages
  bool is_closed;
} ssp_root;

typedef struct ssp_document ssp_document;

// Names of physical units are looked up here: of a whole file, or of a parameter set inside of one.
typedef struct ssp_scope {
  const ssp_document* document;
  const yoke_xml_node* owner;  // has the child Units
  const struct ssp_scope* outer;
  yoke_map map;  // name -> index into units
  const yoke_xml_node** units;
} ssp_scope;

struct ssp_document {
  ssp_document* next;
  const ssp_root* root;
  const char* path;     // within root, or within the archive
  const char* archive;  // NULL, or the FMU it lies in
  const char* folder;   // of path, with a slash behind it, or ""
  const char* source;   // in messages
  char* bytes;
  size_t n;
  const yoke_xml_node* xml;  // NULL: could not be read
  ssp_scope scope;
};

// What is known about an FMU; opened once.
typedef struct ssp_fmu {
  struct ssp_fmu* next;
  const char* path;
  yoke_fmi_package* package;  // NULL: could not be opened; whoever runs it will say why
} ssp_fmu;

typedef enum ssp_kind {
  SSP_UNKNOWN_KIND,  // not given, or unspecified
  SSP_INPUT,
  SSP_OUTPUT,
  SSP_PARAMETER,   // and structuralParameter
  SSP_CALCULATED,  // calculatedParameter, constant, local
  SSP_INOUT,
} ssp_kind;

typedef enum ssp_type {
  SSP_UNKNOWN_TYPE,
  SSP_REAL,
  SSP_INTEGER,
  SSP_BOOLEAN,
  SSP_STRING,
  SSP_ENUMERATION,
  SSP_BINARY,
} ssp_type;

typedef struct ssp_component ssp_component;
typedef struct ssp_system ssp_system;
typedef struct ssp_edge ssp_edge;

typedef struct ssp_port {
  const char* name;
  ssp_component* component;  // NULL: of a system or a dictionary
  struct ssp_port* alias;    // of a reference: the entry of its dictionary
  ssp_kind kind;
  ssp_type type;
  const char* unit;  // NULL: not given
  const ssp_scope* scope;
  ssp_edge *in, *out, *last_out;
  struct ssp_port* next;  // among those that were not declared
} ssp_port;

typedef struct ssp_ports {
  ssp_port* items;
  size_t n;
  yoke_map map;
  ssp_port* undeclared;
} ssp_ports;

struct ssp_edge {
  ssp_port *from, *to;
  ssp_edge* next;  // from the same port
  const yoke_xml_node* node;
  const ssp_document* document;
  double factor, offset;
  bool has_factor;      // a LinearTransformation was given
  bool is_unconverted;  // suppressUnitConversion
  bool is_reported;     // its units do not match
  size_t number;        // in the order of reading
};

// A value on its way to a component.
typedef struct ssp_value {
  ssp_type type;
  const char** texts;
  size_t n, n_cols;  // n_cols 0: one value; 1: a list; else rows of so many
  const char* unit;  // NULL: none
  const ssp_scope* scope;
  double factor, offset;  // to be applied once it is in the unit of its target
  bool is_unconverted;
  yoke_place place;
} ssp_value;

typedef struct ssp_setting {
  struct ssp_setting* next;
  const char* name;
  ssp_value value;
} ssp_setting;

struct ssp_component {
  ssp_component* next;
  const char* name;       // of the unit
  const char* full_name;  // in messages: "gearbox.pump"
  const char* path;       // of the FMU
  const char* implementation;
  const yoke_xml_node* node;
  const ssp_document* document;
  ssp_ports ports;
  ssp_fmu* fmu;  // NULL: not looked for yet
  ssp_setting *first, *last;
  size_t n_settings;
};

typedef struct ssp_dictionary {
  struct ssp_dictionary* next;
  const char* name;
  ssp_scope scope;
  ssp_ports ports;
} ssp_dictionary;

// Exactly one of component, system and dictionary is there, or none after an error.
typedef struct ssp_element {
  const char* name;
  ssp_component* component;
  ssp_system* system;
  ssp_dictionary* dictionary;
  ssp_ports ports;  // of a reference
} ssp_element;

struct ssp_system {
  ssp_system *next, *previous;  // of all, outer ones before those inside
  ssp_system* parent;
  const char* full_name;      // "" for the first
  const yoke_xml_node* node;  // NULL: a component without source
  const ssp_document* document;
  const yoke_xml_node* outer;  // the component that stands for it; has bindings too
  const ssp_document* outer_document;
  ssp_ports ports;
  ssp_element* elements;
  size_t n_elements;
  yoke_map map;
  ssp_dictionary* dictionaries;
  int depth;
};

typedef struct ssp {
  yoke_reader* reader;  // of the tree that is built
  yoke_messages* messages;
  const yoke_ssp_files* files;
  yoke_arena arena;  // of all that is gone once the tree is there
  ssp_document* documents;
  size_t n_documents;
  ssp_fmu* fmus;
  ssp_system *systems, *last_system;
  ssp_component *components, *last_component;
  size_t n_components, n_elements, n_edges;
  const char* warned[SSP_MAX_WARNED];
  size_t n_warned;
} ssp;

// ---- scenario_ssp_file.c

yoke_place yoke__ssp_place(const ssp_document* document, const yoke_xml_node* node);
void yoke__ssp_error(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                     const char* format, ...) YOKE_PRINTF(4, 5);
// One warning for each rule (a text with static storage, or an element's name).
void yoke__ssp_warn_once(ssp* s, const char* rule, yoke_place place, const char* format, ...)
    YOKE_PRINTF(4, 5);
// Children of this name; node may be NULL, here and below.
size_t yoke__ssp_count(const yoke_xml_node* node, const char* name);
// Warns of children that are not in names (NULL at its end); geometry and annotations are always known.
void yoke__ssp_check_children(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* const names[]);
void* yoke__ssp_take(ssp* s, size_t count, size_t size);
// A text put together, in s->arena; "" when memory is out.
const char* yoke__ssp_text(ssp* s, const char* format, ...) YOKE_PRINTF(2, 3);
// An attribute without white space around it, or NULL.
const char* yoke__ssp_get(ssp* s, const yoke_xml_node* node, const char* attribute);
// The same, with an error where it is missing or empty.
const char* yoke__ssp_require(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* attribute);
// The attribute `source` of what may stand inside instead; NULL: it does, the attribute is missing or empty.
const char* yoke__ssp_source(ssp* s, const yoke_xml_node* node);
// Warns of a node that has a source and the same inside of it.
void yoke__ssp_warn_two(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                        const yoke_xml_node* inside, const char* source);
// A number, `or_else` if it is not given or (reported) no number.
double yoke__ssp_number(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                        const char* attribute, double or_else);
bool yoke__ssp_is_true(ssp* s, const yoke_xml_node* node, const char* attribute);
// URI of a node -> path within the root of the document; *fragment is what stands behind '#', or NULL. NULL: reported.
const char* yoke__ssp_resolve(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* uri, const char** fragment);
// The document at a path of a root; read once. element: what its root element must be called. NULL: reported.
const ssp_document* yoke__ssp_open(ssp* s, const ssp_root* root, const char* path,
                                   const char* element, const ssp_document* from,
                                   const yoke_xml_node* node);
// The first document, of which the bytes are at hand.
const ssp_document* yoke__ssp_open_bytes(ssp* s, const ssp_root* root, const yoke_ssp_names* names,
                                         const char* bytes, size_t n, const char* element);
// The same for an entry of an FMU of that root.
const ssp_document* yoke__ssp_open_entry(ssp* s, const ssp_root* root, const char* archive,
                                         const char* path, const char* element,
                                         const ssp_document* from, const yoke_xml_node* node);
// What the FMU of a component says; NULL: nothing is known.
const yoke_fmi_description* yoke__ssp_describe(ssp* s, ssp_component* component);

// ---- scenario_ssp_system.c

// All systems from the first one on, with their elements. False: the document has none (reported).
bool yoke__ssp_build(ssp* s, const ssp_document* document);
// Type and unit from the child of a connector, entry or parameter; the child, or NULL.
const yoke_xml_node* yoke__ssp_read_type(ssp* s, const yoke_xml_node* node, ssp_type* type,
                                         const char** unit);
ssp_port* yoke__ssp_find_port(const ssp_ports* ports, const char* name);
const ssp_element* yoke__ssp_find_element(const ssp_system* system, const char* name);

// ---- scenario_ssp_connect.c

// A transformation on the way from one port to others.
typedef struct ssp_flow {
  double gain, offset;
  bool is_unconverted;  // some edge suppresses conversion
  const char* unit;     // of the value as it is now; NULL: not known
  const ssp_scope* scope;
  const yoke_fmi_description* description;  // of whom the unit comes, if not of a scope
} ssp_flow;

// Reads the connections of all systems.
void yoke__ssp_connect(ssp* s);
// Calls take for every component's port that is reached from a port.
typedef void (*ssp_take)(ssp* s, void* context, ssp_port* sink, const ssp_edge* edge,
                         const ssp_flow* flow);
void yoke__ssp_follow(ssp* s, ssp_port* from, const ssp_flow* flow, ssp_take take, void* context);
// The connections of the tree, a list; NULL: none.
yoke_node* yoke__ssp_connections(ssp* s);

// ---- scenario_ssp_parameters.c

// Applies all bindings, the inner ones first.
void yoke__ssp_parametrise(ssp* s);
// The map of a component's values; NULL: none.
yoke_node* yoke__ssp_values(ssp* s, const ssp_component* component);

// ---- scenario_ssp_dim.c

// Notes the units that the child Units of owner (NULL: none) defines.
void yoke__ssp_scope_init(ssp* s, ssp_scope* scope, const ssp_document* document,
                          const yoke_xml_node* owner, const ssp_scope* outer);
// The unit of a port: declared, else that of the FMU's variable.
void yoke__ssp_port_unit(ssp* s, const ssp_port* port, ssp_flow* flow);
// factor and offset from the unit of one flow to that of another; false: N and V. Unknown units are 1 and 0.
bool yoke__ssp_convert(ssp* s, const ssp_flow* from, const ssp_flow* to, double* factor,
                       double* offset);

// ---- nodes of the tree, in the arena of the reader

static inline yoke_node* yoke__ssp_scalar(const ssp* s, const char* text, bool is_quoted,
                                          yoke_place place) {
  return yoke__node_scalar(s->reader, text, is_quoted, place);
}
static inline void yoke__ssp_put(const ssp* s, yoke_node* parent, yoke_node** last, const char* key,
                                 yoke_place place, yoke_node* child) {
  yoke__node_put(s->reader, parent, last, key, place, child);
}

#endif
