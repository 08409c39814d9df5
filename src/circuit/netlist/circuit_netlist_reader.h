// What the parts of the netlist reader share. One reading goes through these stages:
//
//   lines        bytes -> statements: comments gone, continuations joined, includes in place
//   define       statements -> definitions: subcircuits, parameters, functions, models
//   directives   .options .temp .tran .yoke; inputs: .input
//   expand       elements of the top level and of every instance -> network
//   resolve      what refers to other elements or nodes, once all are there; .ic
//   probes       .print .plot .save .probe .output
//
// each in the file circuit_netlist_<stage>.c.
//
// Texts are spans of the files' bytes, which stay in memory until the end. Nothing recurses:
// includes, subcircuits and parameters that need each other have stacks of their own.
#ifndef YOKE_CIRCUIT_NETLIST_READER_H
#define YOKE_CIRCUIT_NETLIST_READER_H

#include "base/base_text.h"
#include "circuit/expression/circuit_expression_compile.h"
#include "circuit/netlist/circuit_netlist.h"
#include "circuit/network/circuit_build.h"

#define YOKE_NETLIST_MAX_FILE      (256u << 20)  // bytes of one file
#define YOKE_NETLIST_MAX_INCLUDES  16            // files within each other
#define YOKE_NETLIST_MAX_FILES     10000         // read in all
#define YOKE_NETLIST_MAX_DEPTH     64            // subcircuits within each other
#define YOKE_NETLIST_MAX_ELEMENTS  4000000u      // after expansion
#define YOKE_NETLIST_MAX_INSTANCES 1000000u      // of subcircuits
#define YOKE_NETLIST_MAX_HINTS     20            // searches for the nearest name

// Names to numbers, case ignored; the names' texts must stay.
typedef struct yoke_names {
  struct yoke_names_slot* slots;
  size_t mask, n;
} yoke_names;

// A joined line. '\n' stands for each line break inside it, so that lines can be counted.
typedef struct yoke_statement {
  const char* text;
  uint32_t n;
  uint32_t line;
  uint32_t file;
} yoke_statement;

typedef struct yoke_netlist_file {
  const char* path;  // in the network's arena
  yoke_statement* statements;
  size_t n_statements, max_statements;
  size_t next;      // statement to give out next
  uint32_t parent;  // file that includes it
  uint32_t depth;
} yoke_netlist_file;

// `.param name = text`, or a default of `.subckt`
typedef struct yoke_parameter {
  yoke_span name, text;
  uint32_t statement;
  bool is_argument;  // may be given by an instance
} yoke_parameter;

typedef struct yoke_netlist_model {
  yoke_span name, type, text;  // text: what follows the type
  uint32_t statement;
} yoke_netlist_model;

// The top level (index 0) or a subcircuit.
typedef struct yoke_definition {
  yoke_span name;
  uint32_t statement;
  uint32_t parent;
  yoke_span* ports;
  size_t n_ports, max_ports;
  yoke_names port_names;
  yoke_parameter* parameters;
  size_t n_parameters, max_parameters;
  yoke_names parameter_names;
  yoke_user_function* functions;
  size_t n_functions, max_functions;
  yoke_names function_names;
  yoke_netlist_model* models;
  size_t n_models, max_models;
  yoke_names model_names;
  yoke_names definition_names;  // of subcircuits defined inside
  uint32_t* body;               // statements: elements and .ic
  size_t n_body, max_body;
} yoke_definition;

typedef enum yoke_value_state {
  YOKE_VALUE_NEW,
  YOKE_VALUE_BUSY,  // being computed: met again, it is a cycle
  YOKE_VALUE_DONE,
  YOKE_VALUE_FAILED,
} yoke_value_state;

// A parameter of one instance.
typedef struct yoke_frame_value {
  yoke_value_state state;
  yoke_span text;
  const struct yoke_frame* scope;  // where the text is evaluated
  uint32_t statement;
  yoke_named_value value;
} yoke_frame_value;

// The top level or one instance of a subcircuit.
typedef struct yoke_frame {
  const yoke_definition* definition;
  const struct yoke_frame* parent;  // of the instance that contains it
  const char* prefix;               // "x1.x2."
  size_t n_prefix;
  const uint32_t* ports;  // nodes
  yoke_frame_value* values;
  uint32_t depth;
  uint32_t statement;  // of the instance
} yoke_frame;

// What waits until all elements are there.
typedef enum yoke_waiting_kind {
  YOKE_WAITING_VALUE,      // law of an element
  YOKE_WAITING_CONDITION,  // of a switch
  YOKE_WAITING_CONTROL,    // name of a controlling element
  YOKE_WAITING_MUTUAL,     // whole statement
  YOKE_WAITING_START,      // whole statement: .ic
} yoke_waiting_kind;

typedef struct yoke_waiting {
  yoke_waiting_kind kind;
  uint32_t element;
  const yoke_frame* frame;
  uint32_t statement;
  yoke_span text;
  yoke_expression_wrap wrap;
} yoke_waiting;

typedef struct yoke_netlist_reader {
  const yoke_netlist_settings* settings;
  yoke_messages* messages;
  yoke_network* network;
  yoke_arena arena;
  yoke_compiler compiler;
  bool is_out_of_memory, is_stopped;  // stopped: a limit was exceeded, nothing more is read

  yoke_netlist_file* files;
  size_t n_files, max_files;
  yoke_statement* statements;
  size_t n_statements, max_statements;
  yoke_definition* definitions;
  size_t n_definitions, max_definitions;
  uint32_t* directives;  // statements of the top level that are read later
  size_t n_directives, max_directives;
  yoke_names globals;       // nodes of .global
  yoke_names warned;        // what was warned of once
  yoke_names inputs;        // names of .input -> index
  yoke_names temperatures;  // temperature sources -> node
  yoke_names saved;         // names of probes recorded
  yoke_frame* top;
  double tnom;       // [K]
  int max_order;     // .options maxord
  yoke_span method;  // .options method

  yoke_waiting* waiting;
  size_t n_waiting, max_waiting;
  struct yoke_pending {
    const yoke_frame* frame;
    size_t index;
  } * pending;  // parameters that need each other
  size_t n_pending, max_pending;
  struct yoke_pending wanted;  // the parameter that the last compilation lacked
  struct yoke_open_frame {
    const yoke_frame* frame;
    size_t next;
  } open[YOKE_NETLIST_MAX_DEPTH + 1];  // instances being expanded
  size_t n_open;
  size_t n_instances;
  struct yoke_input_request {
    yoke_span name, dim;
    uint32_t statement;
    double start;
    bool has_start, is_parameter;
  } * requests;  // of .input
  size_t n_requests, max_requests;

  yoke_text name;  // a name with its prefix
  size_t n_hints;
  struct yoke_counted_lines {
    const char* text;
    size_t n;
    int n_lines;
  } counted;  // line ends in the first n bytes of a statement

  // of the expression being compiled
  const yoke_frame* scope_frame;
  yoke_statement scope_statement;
  const char* scope_text;  // its first byte
  const char* scope_what;  // "r1" or ".param x": whose expression it is
  bool has_references;     // v(), i(), ...: to be resolved at the end
  bool is_resolving;       // they can be resolved now
  bool is_parameter;       // no references allowed
} yoke_netlist_reader;

// ---- circuit_netlist_text.c: names, tokens, messages

uint32_t yoke__names_find(const yoke_names* self, yoke_span name);  // YOKE_NO_INDEX if unknown
// Replaces what was known under the name. False without memory.
bool yoke__names_put(yoke_names* self, yoke_span name, uint32_t index);
void yoke__names_free(yoke_names* self);

// yoke__append; without memory the reader is marked and it is false.
bool yoke__reader_append(yoke_netlist_reader* reader, void* array, size_t* n, size_t* max,
                         size_t size, const void* item);
yoke_place yoke__statement_place(yoke_netlist_reader* reader, const yoke_statement* statement,
                                 const char* at);
void yoke__netlist_error(yoke_netlist_reader* reader, const yoke_statement* statement,
                         const char* at, const char* format, ...) YOKE_PRINTF(4, 5);
void yoke__netlist_warn(yoke_netlist_reader* reader, const yoke_statement* statement,
                        const char* at, const char* format, ...) YOKE_PRINTF(4, 5);
// The same once for each key; the key's text must stay.
bool yoke__netlist_is_first(yoke_netlist_reader* reader, yoke_span key);

// A span for "%s": cut to a bearable length, no control characters.
#define YOKE_SHOWN_SIZE 68
#define YOKE_HINT_SIZE  136
const char* yoke__shown(yoke_span span, char to[YOKE_SHOWN_SIZE]);
// "; did you mean 'x'?" or "": the nearest of n names, given by name_of. Searches are few.
typedef yoke_span yoke_name_of(const void* owner, size_t i);
const char* yoke__netlist_hint(yoke_netlist_reader* reader, yoke_span name, const void* owner,
                               size_t n, yoke_name_of* name_of, char to[YOKE_HINT_SIZE]);

typedef enum yoke_token_kind {
  YOKE_TOKEN_END,
  YOKE_TOKEN_WORD,
  YOKE_TOKEN_EXPRESSION,  // {..} or '..'; the span is what is inside
  YOKE_TOKEN_EQUALS,
} yoke_token_kind;

typedef struct yoke_token {
  yoke_token_kind kind;
  yoke_span span;
} yoke_token;

// Words of a statement. Blanks, commas and round brackets separate.
typedef struct yoke_cursor {
  yoke_netlist_reader* reader;
  const yoke_statement* statement;
  const yoke_frame* frame;
  const char *at, *end;
  bool is_failed;  // a quote or brace is not closed; reported
} yoke_cursor;

// Messages at the cursor's statement, on the line of `at`; an error is always false.
bool yoke__cursor_error(const yoke_cursor* cursor, const char* at, const char* format, ...)
    YOKE_PRINTF(3, 4);
void yoke__cursor_warn(const yoke_cursor* cursor, const char* at, const char* format, ...)
    YOKE_PRINTF(3, 4);
// Warns once of a key that has no meaning here; its text must stay.
void yoke__cursor_ignore(const yoke_cursor* cursor, const char* what, yoke_span key);
yoke_cursor yoke__cursor_open(yoke_netlist_reader* reader, const yoke_statement* statement,
                              const yoke_frame* frame);
yoke_token yoke__cursor_next(yoke_cursor* cursor);
yoke_token yoke__cursor_peek(const yoke_cursor* cursor);
// The next word if it is this one (lower case): taken, true.
bool yoke__cursor_take(yoke_cursor* cursor, const char* word);
// If a key and '=' follow, they are taken.
bool yoke__cursor_take_key(yoke_cursor* cursor, yoke_span* key);
// What follows up to the end or up to the next "name =", as one span: values of .param.
yoke_span yoke__cursor_rest_of_value(yoke_cursor* cursor);

// ---- circuit_netlist_lines.c

// Reads the main text into reader->statements, with everything it includes. The title becomes the
// network's.
void yoke__netlist_read_lines(yoke_netlist_reader* reader, char* bytes, size_t n, const char* path);

// ---- circuit_netlist.c

// The bytes of a file in the reader's arena: from settings->known, else from the disk, and then kept in the network.
yoke_status yoke__netlist_read_source(yoke_netlist_reader* self, const char* path, char** bytes,
                                      size_t* n, const yoke_sink* sink);

// ---- circuit_netlist_define.c

void yoke__netlist_define(yoke_netlist_reader* reader);
// Seen from a definition, outwards; NULL or YOKE_NO_INDEX if there is none.
const yoke_netlist_model* yoke__netlist_find_model(const yoke_netlist_reader* reader,
                                                   const yoke_definition* from, yoke_span name);
uint32_t yoke__netlist_find_definition(const yoke_netlist_reader* reader,
                                       const yoke_definition* from, yoke_span name);

// ---- circuit_netlist_parameters.c

typedef struct yoke_netlist_value {
  bool is_constant;
  double number;
  bool has_references;         // compile again when all elements are there
  const yoke_expression* law;  // else; kept in the network
  yoke_span text;
} yoke_netlist_value;

// A frame with its parameters not yet computed; NULL without memory.
yoke_frame* yoke__frame_create(yoke_netlist_reader* reader, const yoke_definition* definition,
                               const yoke_frame* parent, yoke_span instance);
// Compiles a token: a number, an expression, or the name of a parameter. what: for messages. False
// after a message.
bool yoke__netlist_value(yoke_cursor* cursor, yoke_token token, const char* what,
                         const yoke_expression_wrap* wrap, yoke_netlist_value* out);
// The same for an expression's text.
bool yoke__netlist_compile(yoke_netlist_reader* reader, const yoke_statement* statement,
                           const yoke_frame* frame, yoke_span text, const char* what,
                           const yoke_expression_wrap* wrap, yoke_netlist_value* out);
// Must be constant; false after a message.
bool yoke__netlist_number(yoke_cursor* cursor, yoke_token token, const char* what, double* out);

// ---- circuit_netlist_expand.c

void yoke__netlist_expand(yoke_netlist_reader* reader);
// A node by its name in a frame, made if it is new. YOKE_NO_INDEX: out of memory.
uint32_t yoke__netlist_node(yoke_cursor* cursor, yoke_span name, yoke_domain domain);
// The same without making it.
uint32_t yoke__netlist_find_node(yoke_netlist_reader* reader, const yoke_frame* frame,
                                 yoke_span name);
// An element by its name in a frame; also in ngspice's way, "v.x1.v1" for x1.v1.
uint32_t yoke__netlist_find_element(yoke_netlist_reader* reader, const yoke_frame* frame,
                                    yoke_span name);
// prefix + name in reader->name; NULL without memory.
const char* yoke__netlist_full_name(yoke_netlist_reader* reader, const yoke_frame* frame,
                                    yoke_span name);
// True if an element or temperature source of this name (reader->name) exists already; then it is
// reported.
bool yoke__netlist_is_taken(yoke_cursor* cursor, const char* name);
// Adds an element under its name in the frame. YOKE_NO_INDEX after a message, or out of memory.
uint32_t yoke__netlist_add(yoke_cursor* cursor, yoke_span name, yoke_element* element);
void yoke__netlist_wait(yoke_cursor* cursor, yoke_waiting_kind kind, uint32_t element,
                        yoke_span text, const yoke_expression_wrap* wrap);
// Reports what is left on the line. False if there is something.
bool yoke__netlist_expect_end(yoke_cursor* cursor);

// ---- circuit_netlist_elements.c, _models.c, _sources.c, _thermal.c

// One element line: name is its first word.
void yoke__netlist_element(yoke_cursor* cursor, yoke_span name);
// Two nodes at the cursor; form: what the line should look like behind its name. False after a
// message.
bool yoke__netlist_nodes(yoke_cursor* cursor, yoke_span name, yoke_domain domain, const char* form,
                         uint32_t* a, uint32_t* b);
// Adds an element with a value: a law that refers to others waits until they are there.
uint32_t yoke__netlist_add_value(yoke_cursor* cursor, yoke_span name, yoke_element* element,
                                 const yoke_netlist_value* value, const yoke_expression_wrap* wrap);
void yoke__netlist_diode(yoke_cursor* cursor, yoke_span name);
void yoke__netlist_switch(yoke_cursor* cursor, yoke_span name);
// Value of a V or I line and of thermal sources: DC, wave or law. False after a message.
typedef struct yoke_source_value {
  yoke_netlist_value value;
  bool has_wave;
  yoke_wave wave;  // its table lies in the reader's arena
} yoke_source_value;
bool yoke__netlist_source(yoke_cursor* cursor, const char* what, yoke_source_value* out);
// SIN, PULSE, PWL, EXP at the cursor: read into out->wave. False if none stands there.
bool yoke__netlist_is_wave(yoke_token token);
bool yoke__netlist_wave(yoke_cursor* cursor, const char* what, yoke_source_value* out);
// True if the word is a thermal keyword; then the statement has been read.
bool yoke__netlist_thermal(yoke_cursor* cursor, yoke_span word);
// A number with an optional dimension behind it, in SI of `dim`. False after a message.
bool yoke__netlist_quantity(yoke_cursor* cursor, const char* what, const char* dim,
                            bool is_reciprocal, yoke_netlist_value* out);

// ---- circuit_netlist_directives.c, _probes.c, _resolve.c

void yoke__netlist_directives(yoke_netlist_reader* reader);
// .input: parameters and new quantities before the elements are read, values of elements behind.
void yoke__netlist_inputs(yoke_netlist_reader* reader);
void yoke__netlist_element_inputs(yoke_netlist_reader* reader);
// Values that the caller gives for parameters of the top level.
void yoke__netlist_override(yoke_netlist_reader* reader);
void yoke__netlist_resolve(yoke_netlist_reader* reader);
void yoke__netlist_probes(yoke_netlist_reader* reader);
// .ic of a frame
void yoke__netlist_start_values(yoke_netlist_reader* reader, const yoke_statement* statement,
                                const yoke_frame* frame);
// v(), t(), i(), p() for expressions and probes.
yoke_name_answer yoke__netlist_find_live(yoke_netlist_reader* reader, const yoke_frame* frame,
                                         char letter, yoke_span a, yoke_span b,
                                         yoke_live_terms* out);

#endif
