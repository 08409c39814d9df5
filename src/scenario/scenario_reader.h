// Shared by the files of this folder: the reader, the shape of the file, and readers of single
// values.
//
// The file is described once, by tables of yoke_key: the walk (yoke__shape_walk) takes from them
// which keys a place knows and who reads them, `--set` takes from them where a path may lead.
#ifndef YOKE_SCENARIO_READER_H
#define YOKE_SCENARIO_READER_H

#include "scenario/scenario.h"

enum {
  YOKE_SCENARIO_MAX_DEPTH = 64,               // nested maps and lists
  YOKE_SCENARIO_MAX_SIZE = 64 * 1024 * 1024,  // bytes of a file
  YOKE_SCENARIO_MAX_NODES = 2000000,          // values of a file; bounds memory to some hundred MB
};

// What every function of the walk needs. Once memory is out nothing else is reported.
typedef struct yoke_reader {
  yoke_arena* arena;  // of the scenario
  yoke_messages* messages;
  const char* label;  // how messages name a value; NULL: by its key
  bool is_out_of_memory;
} yoke_reader;

// yoke__arena_array that notes a failure in the reader.
void* yoke__reader_array(yoke_reader* reader, size_t count, size_t size);

// What may stand below a node.
typedef enum yoke_shape_kind {
  YOKE_SHAPE_VALUE,  // a value; a path ends here or indexes a list
  YOKE_SHAPE_KEYS,   // a map with the keys of a table
  YOKE_SHAPE_NAMES,  // a map whose keys are names of the user's choice, all entries of one shape
  YOKE_SHAPE_LIST,   // a list, all entries of one shape
  YOKE_SHAPE_VARIABLES,  // a map from names of variables (dots are part of the name) to values
  YOKE_SHAPE_FREE,       // a map that somebody else reads
} yoke_shape_kind;

typedef struct yoke_shape {
  yoke_shape_kind kind;
  const struct yoke_key* keys;  // KEYS
  size_t n_keys;
  const struct yoke_shape* entry;  // NAMES, LIST
  bool is_connection;              // KEYS: may also be written as the text "a.x -> b.y"
  const char* text_key;            // KEYS: a text stands for a map with this key alone; else NULL
} yoke_shape;

// One key of a map: its name, who reads its value, what is below, and where in what the map fills the value goes. The
// reader gets the address of that field, and `rule`: what it takes for a value (a range, a list of words, a shape).
typedef void yoke_key_reader(yoke_reader* reader, const yoke_node* node, void* field,
                             const void* rule);
typedef struct yoke_key {
  const char* name;
  yoke_key_reader* read;  // NULL: read when all keys are known
  const yoke_shape* shape;
  size_t offset;
  const void* rule;
} yoke_key;

#define YOKE_SHAPE_OF(table)                                                                       \
  { .kind = YOKE_SHAPE_KEYS, .keys = (table), .n_keys = YOKE_COUNT(table) }

extern const yoke_shape yoke__shape_value;
extern const yoke_shape yoke__shape_free;
extern const yoke_shape yoke__shape_units;
extern const yoke_shape yoke__shape_laws;
extern const yoke_shape yoke__shape_connections;
extern const yoke_shape yoke__shape_bonds;
extern const yoke_shape yoke__shape_couplings;
extern const yoke_shape yoke__shape_limits;
extern const yoke_shape yoke__shape_quality;
extern const yoke_shape yoke__shape_trust;
extern const yoke_shape yoke__shape_pace;
extern const yoke_shape yoke__shape_safe;
extern const yoke_shape yoke__shape_file;
extern const yoke_shape yoke__shape_signals;
extern const yoke_shape yoke__shape_inputs;  // of a port or a twin
extern const yoke_shape yoke__shape_sensors;
extern const yoke_shape yoke__shape_unknowns;
extern const yoke_shape yoke__shape_noise;
extern const yoke_shape yoke__shape_box;  // behind `twin`

// Reads all keys of a map by its table; unknown keys are errors that name the nearest known one.
// where: what the map is, for messages ("the file", "'time'"). Anything but a map is an error;
// false then.
bool yoke__shape_walk(yoke_reader* reader, const yoke_node* map, const yoke_shape* shape,
                      const char* where, void* to);
// "; did you mean 'stop'?" or "; known keys: start, stop, step" or "".
void yoke__shape_hint(const yoke_shape* shape, const char* name, char* to, size_t size);

// Bytes: UTF-8, no control characters, flow nesting far from where libyaml gets slow. False:
// reported.
bool yoke__bytes_check(const char* bytes, size_t n, yoke_place origin, yoke_messages* messages);
// Length of the UTF-8 sequence at bytes (n > 0 left) and its code point; 0 if it is not valid.
size_t yoke__utf8_next(const char* bytes, size_t n, uint32_t* code);
// Number of bytes of a line break at bytes as YAML counts them (CR, LF, CR LF, NEL, LS, PS), else
// 0.
size_t yoke__break_length(const char* bytes, size_t n);

// Builds the tree in arena. origin.line 0: all places are origin (text of --set), else line and
// column are counted. *root is NULL for an empty text. YOKE_BAD_INPUT: the text cannot be read on,
// one message says why. Errors that do not stop the reading (aliases, tags, duplicate keys) are
// only in messages.
yoke_status yoke__tree_read(const char* bytes, size_t n, yoke_place origin, yoke_arena* arena,
                            yoke_messages* messages, yoke_node** root);
// Zero nodes, taken one by one. NULL when memory is out.
yoke_node* yoke__node_new(yoke_reader* reader, yoke_node_kind kind, yoke_place place);
void yoke__node_append(yoke_node* parent, yoke_node* last, yoke_node* child);
// A value; the text is copied.
yoke_node* yoke__node_scalar(yoke_reader* reader, const char* text, bool is_quoted,
                             yoke_place place);
// Appends to a map (key) or a list (key NULL); *last is the last child. NULL children are skipped.
void yoke__node_put(yoke_reader* reader, yoke_node* parent, yoke_node** last, const char* key,
                    yoke_place place, yoke_node* child);

// Applies one "path=value" to the tree.
void yoke__scenario_set(yoke_reader* reader, yoke_node* root, const char* text);

// What a node is, for messages: "the text 'abc'", "a list", "1e-3", "nothing". Long texts are cut.
#define YOKE_FOUND_SIZE 96
const char* yoke__node_found(const yoke_node* node, char to[YOKE_FOUND_SIZE]);
// text cut to a length that suits a message, without control characters.
const char* yoke__text_cut(const char* text, char to[YOKE_FOUND_SIZE]);
bool yoke__node_is_null(const yoke_node* node);

// An interval of numbers and its description behind "expected".
typedef struct yoke_range {
  double low, high;
  bool excludes_low, excludes_high;
  const char* text;
} yoke_range;

extern const yoke_range yoke__range_any, yoke__range_positive, yoke__range_not_negative;

typedef struct yoke_integers {
  int64_t low, high;
} yoke_integers;

extern const char* const yoke__exchange_words[];
extern const char* const yoke__inputs_words[];  // "start", "mean", NULL

// Single values. False: reported (or memory is out) and *out is as before.
bool yoke__read_number(yoke_reader* reader, const yoke_node* node, const yoke_range* range,
                       double* out);
bool yoke__read_integer(yoke_reader* reader, const yoke_node* node, int64_t low, int64_t high,
                        int64_t* out);
bool yoke__read_time(yoke_reader* reader, const yoke_node* node, const yoke_range* range,
                     yoke_scenario_time* out);
bool yoke__read_text(yoke_reader* reader, const yoke_node* node, const char** out);
// One of some words; NULL ends the list.
bool yoke__read_choice(yoke_reader* reader, const yoke_node* node, const char* const words[],
                       size_t* out);
// One text or a list of texts.
bool yoke__read_names(yoke_reader* reader, const yoke_node* node, const yoke_scenario_name** names,
                      size_t* n);
bool yoke__expect_kind(yoke_reader* reader, const yoke_node* node, yoke_node_kind kind,
                       const char* expected);

// The same for tables of keys; what is wrong is reported and leaves the field as it was.
yoke_key_reader yoke__key_number;   // double; rule: yoke_range
yoke_key_reader yoke__key_time;     // yoke_scenario_time; yoke_range
yoke_key_reader yoke__key_calls;    // int64_t, 0 for `auto`
yoke_key_reader yoke__key_integer;  // int64_t; yoke_integers
yoke_key_reader yoke__key_choice;   // an enumeration, the rank of the word; words, the last is NULL
yoke_key_reader yoke__key_word;     // const char*, the word; the same
yoke_key_reader yoke__key_text;     // const char*
yoke_key_reader yoke__key_endpoint;  // yoke_scenario_endpoint
yoke_key_reader yoke__key_coupling;  // const yoke_node*: a map with a method (scenario_bonds.c)
yoke_key_reader yoke__key_average;   // of a yoke_scenario_connection (scenario_connections.c)
yoke_key_reader yoke__key_map;       // what the map fills; yoke_shape. Nothing is an empty map
yoke_key_reader
    yoke__key_shared;  // what the map of another shape fills: the key of that name; yoke_shape

// Reads the entries of a section, a map or list, into an array of its own; *n: how many. Entries that were refused are left
// out. NULL: the section is empty, or no such map or list (reported, expected: "a map of bonds"), or memory is out.
void* yoke__read_entries(yoke_reader* reader, const yoke_node* node, yoke_node_kind kind,
                         const char* expected, size_t size,
                         void (*read)(yoke_reader* reader, const yoke_node* node, void* entry),
                         size_t* n);

// The first child of a map with one of these keys, the last of which is NULL. Refused ones do not count; NULL: none.
const yoke_node* yoke__node_first_of(const yoke_node* map, const char* const keys[]);

// Names of units, laws, bonds and couplings: [A-Za-z_][A-Za-z0-9_-]*.
bool yoke__name_is_valid(const char* name);
// Checks the key of node as the name of a `what` ("unit").
void yoke__name_check(yoke_reader* reader, const yoke_node* node, const char* what);
// Reports names that occur twice in a list; what: "unit".
void yoke__names_check_twice(yoke_reader* reader, const yoke_scenario_name* names, size_t n,
                             const char* what);

// "a.x -> b.y", or just "a.x" if to may be missing (has_to not NULL). False: reported.
bool yoke__read_pair(yoke_reader* reader, const yoke_node* node, yoke_scenario_endpoint* from,
                     yoke_scenario_endpoint* to, bool* has_to);
// "a.x" verbatim: everything behind the first dot is the name of the variable (long form).
bool yoke__read_endpoint(yoke_reader* reader, const yoke_node* node, yoke_scenario_endpoint* out);

// Sections.
void yoke__read_units(yoke_reader* reader, const yoke_node* units, const yoke_node* laws,
                      yoke_scenario* to);
yoke_key_reader yoke__read_connections, yoke__read_bonds, yoke__read_couplings;  // yoke_scenario
yoke_key_reader yoke__read_quality;                                              // yoke_scenario
yoke_key_reader yoke__read_trust;                 // yoke_scenario_trust
yoke_key_reader yoke__read_pace;                  // yoke_scenario_pacing
yoke_key_reader yoke__read_safe;                  // yoke_scenario
extern const yoke_scenario_pacing yoke__no_pace;  // the defaults
extern const yoke_scenario_trust yoke__no_trust;  // the defaults
extern const yoke_scenario_watch yoke__no_watch;  // nothing given

// Signals of a port without a model (scenario_signals.c).
yoke_key_reader yoke__read_signals;  // yoke_scenario_signals
// When all other keys of the unit were read: `inputs`; what there is gives it a kind, or should not be there.
void yoke__signals_read(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                        const char* where);

// Twins (scenario_twin.c).
yoke_key_reader yoke__read_unknowns, yoke__read_filter, yoke__read_reset;  // yoke_scenario_twin
extern const yoke_scenario_twin yoke__no_twin;                             // the defaults
// `twin: {fmu: motor.fmu, outputs: [t_magnet]}`: the unit behind a twin.
void yoke__read_box(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit);
// When all other keys of the unit were read: `sensors` and `inputs` of a twin; its keys at a unit that is none.
void yoke__read_twin(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                     const char* where);
void yoke__twin_keys_refuse(yoke_reader* reader, const yoke_node* node,
                            const yoke_scenario_unit* unit, const char* where);
// Connections that stand in units, behind those of the file.
void yoke__read_twin_connections(yoke_reader* reader, yoke_scenario* s);

// ---- what is said to netlists (scenario_netlist.c)

// A plain scalar with a suffix of netlists ("10k") as the number; every other node as it is.
const yoke_node* yoke__node_without_suffix(yoke_reader* reader, const yoke_node* node);
// Settings of a circuit: names without regard to case, numbers with suffixes.
void yoke__netlist_settings_read(yoke_reader* reader, yoke_scenario_unit* unit);
// v(...), i(...) of circuits in connections, bonds and `record`: without regard to case. Needs the
// units.
void yoke__netlist_signals_read(yoke_reader* reader, yoke_scenario* s);

#endif
