// What an FMU says about itself: modelDescription.xml of FMI 1.0 (co-simulation), 2.0 and 3.0 as plain tables.
//
// Names follow FMI 3.0. Everything lies in the description's own arena. Texts are as in the file; start values stay text
// until somebody needs them (yoke__fmi_start_*), since a million variables have a million of them.
#ifndef YOKE_FMI_DESCRIPTION_H
#define YOKE_FMI_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_map.h"
#include "base/base_message.h"

#define YOKE_FMI_NONE ((size_t)-1)

typedef enum yoke_fmi_type {
  YOKE_FMI_FLOAT64,  // Real of FMI 1.0 and 2.0
  YOKE_FMI_FLOAT32,
  YOKE_FMI_INT8,
  YOKE_FMI_UINT8,
  YOKE_FMI_INT16,
  YOKE_FMI_UINT16,
  YOKE_FMI_INT32,  // Integer of FMI 1.0 and 2.0
  YOKE_FMI_UINT32,
  YOKE_FMI_INT64,
  YOKE_FMI_UINT64,
  YOKE_FMI_BOOLEAN,
  YOKE_FMI_STRING,
  YOKE_FMI_BINARY,
  YOKE_FMI_ENUMERATION,  // 32 bit in FMI 2.0, 64 bit in FMI 3.0
  YOKE_FMI_CLOCK,
  YOKE_FMI_N_TYPES,
} yoke_fmi_type;

typedef enum yoke_fmi_causality {
  YOKE_FMI_PARAMETER,
  YOKE_FMI_CALCULATED_PARAMETER,
  YOKE_FMI_STRUCTURAL_PARAMETER,
  YOKE_FMI_INPUT,
  YOKE_FMI_OUTPUT,
  YOKE_FMI_LOCAL,
  YOKE_FMI_INDEPENDENT,
} yoke_fmi_causality;

typedef enum yoke_fmi_variability {
  YOKE_FMI_CONSTANT,
  YOKE_FMI_FIXED,
  YOKE_FMI_TUNABLE,
  YOKE_FMI_DISCRETE,
  YOKE_FMI_CONTINUOUS,
} yoke_fmi_variability;

typedef enum yoke_fmi_initial {
  YOKE_FMI_NO_INITIAL,  // inputs, independent
  YOKE_FMI_EXACT,
  YOKE_FMI_APPROX,
  YOKE_FMI_CALCULATED,
} yoke_fmi_initial;

typedef enum yoke_fmi_interval {  // of a clock
  YOKE_FMI_INTERVAL_CONSTANT,
  YOKE_FMI_INTERVAL_FIXED,
  YOKE_FMI_INTERVAL_CALCULATED,
  YOKE_FMI_INTERVAL_TUNABLE,
  YOKE_FMI_INTERVAL_CHANGING,
  YOKE_FMI_INTERVAL_COUNTDOWN,
  YOKE_FMI_INTERVAL_TRIGGERED,
} yoke_fmi_interval;

// <Unit>: value in SI base units = factor * value + offset.
typedef struct yoke_fmi_unit {
  const char* name;
  bool has_base;  // exponents are given
  int kg, m, s, A, K, mol, cd, rad;
  double factor, offset;
} yoke_fmi_unit;

typedef struct yoke_fmi_item {
  const char* name;
  int64_t value;
  const char* description;
} yoke_fmi_item;

// A type definition; FMI 1.0/2.0 <SimpleType>, FMI 3.0 <Float64Type> and so on.
typedef struct yoke_fmi_typedef {
  const char* name;
  yoke_fmi_type type;
  const char *quantity, *unit, *display_unit;
  const yoke_fmi_item* items;  // enumeration
  size_t n_items;
} yoke_fmi_typedef;

// One dimension of an array: a number, or the structural parameter (index) that holds it.
typedef struct yoke_fmi_dimension {
  uint64_t start;   // as written, or the start value of the parameter
  size_t variable;  // YOKE_FMI_NONE: fixed
} yoke_fmi_dimension;

// Clock attributes, of the few variables that are clocks.
typedef struct yoke_fmi_clock {
  size_t variable;
  yoke_fmi_interval interval;
  double interval_decimal;  // [s]; NaN: not given
  double shift_decimal;     // [s]
  bool has_counter;         // interval and shift as counter / resolution
  uint64_t interval_counter, shift_counter, resolution;
  uint32_t priority;
  bool can_be_deactivated;
  bool supports_fraction;
} yoke_fmi_clock;

// A variable that belongs to a clock; both are indices of variables.
typedef struct yoke_fmi_clocked {
  uint32_t variable, clock;
} yoke_fmi_clocked;

typedef struct yoke_fmi_variable {
  const char* name;
  const char* description;  // "" if none
  const char*
      start;  // text; arrays: separated by white space, strings and binaries by 0x1f; NULL: none
  const char* unit;          // of the variable or of its type definition; "" if none
  uint32_t reference;        // value reference
  uint32_t line;             // in the XML
  uint32_t type_definition;  // 1 + index into typedefs; 0: none
  uint32_t derivative_of;    // 1 + index of the variable it is the time derivative of; 0: none
  uint32_t
      alias_of;  // 1 + index of an earlier variable with the same reference (FMI 1.0/2.0); 0: none
  uint32_t first_dimension;  // into dimensions
  uint32_t max_size;         // binary; 0: not given
  uint8_t n_dimensions;
  uint8_t type, causality, variability, initial;  // yoke_fmi_type and so on
  bool reinit;                                    // may be re-initialised at events
  bool is_intermediate;                           // FMI 3.0 intermediateUpdate
  bool is_multiple_set_allowed;                   // canHandleMultipleSetPerTimeInstant
  bool is_negated;                                // FMI 1.0 alias with the opposite sign
  bool has_clocks;                                // belongs to a clock
} yoke_fmi_variable;

typedef enum yoke_fmi_kind_of_dependency {
  YOKE_FMI_DEPENDENT,
  YOKE_FMI_DEPENDENCY_CONSTANT,
  YOKE_FMI_DEPENDENCY_FIXED,
  YOKE_FMI_DEPENDENCY_TUNABLE,
  YOKE_FMI_DEPENDENCY_DISCRETE,
} yoke_fmi_kind_of_dependency;

// An entry of ModelStructure.
typedef struct yoke_fmi_unknown {
  size_t variable;
  bool has_dependencies;  // false: nothing is said, so it depends on everything
  size_t first, n;        // into dependencies and dependency_kinds
  int line;
} yoke_fmi_unknown;

typedef struct yoke_fmi_unknowns {
  const yoke_fmi_unknown* items;
  size_t n;
} yoke_fmi_unknowns;

// Capabilities of one interface type; what a version does not have is false or 0.
typedef struct yoke_fmi_interface {
  bool is_given;
  const char* model_identifier;
  int line;
  bool needs_execution_tool;
  bool can_be_instantiated_only_once;
  bool can_get_and_set_state, can_serialise_state;
  bool has_directional_derivatives, has_adjoint_derivatives, has_element_dependencies;
  // co-simulation
  bool can_handle_variable_step;
  bool can_interpolate_inputs;  // FMI 1.0/2.0
  int max_output_derivative_order;
  bool can_run_asynchronously;
  double fixed_internal_step;  // [s]; 0: not given
  bool has_event_mode;
  bool might_return_early, can_return_early;
  bool has_intermediate_update;  // providesIntermediateUpdate
  bool has_evaluate_discrete_states;
  // model exchange
  bool completed_step_not_needed;
  bool needs_completed_step;        // FMI 3.0
  const char* const* source_files;  // FMI 2.0 <SourceFiles>
  size_t n_source_files;
} yoke_fmi_interface;

typedef struct yoke_fmi_experiment {
  bool has_start, has_stop, has_tolerance, has_step;
  double start, stop, tolerance, step;
} yoke_fmi_experiment;

typedef struct yoke_fmi_terminal_member {
  const char *variable, *member, *kind;
} yoke_fmi_terminal_member;

// terminalsAndIcons/terminalsAndIcons.xml of FMI 3.0: a group of variables that form one connector.
typedef struct yoke_fmi_terminal {
  const char *name, *description, *matching_rule, *kind;
  const yoke_fmi_terminal_member* members;
  size_t n_members;
  size_t parent;  // index of the terminal it is nested in, or YOKE_FMI_NONE
} yoke_fmi_terminal;

// What Yoke's own exports say about the unit inside, for yoke_unit_info; names of variables are "" if there are none.
typedef struct yoke_fmi_own {
  bool is_sampled;
  bool is_linear;
  const char* const* nonlinear;  // parameters that must be 0 for that
  size_t n_nonlinear;
  const char* solver;  // words of yoke_solver_text; several: one per item of solver_variable
  const char* solver_variable;  // chooses among them
  const char* steps_variable;   // internal steps per call
  double internal_step;         // [s]; 0: not given
} yoke_fmi_own;

typedef struct yoke_fmi_description {
  yoke_arena arena;
  const char* source;  // for messages
  int version;         // 1, 2 or 3
  const char* version_text;
  const char *model_name, *token, *description, *author, *model_version, *copyright, *license;
  const char *generation_tool, *generation_date;
  bool is_naming_structured;
  size_t n_event_indicators;  // FMI 1.0/2.0: the attribute; FMI 3.0: of ModelStructure
  const char* const* log_categories;
  size_t n_log_categories;
  yoke_fmi_interface co_simulation, model_exchange, scheduled_execution;
  yoke_fmi_experiment experiment;
  const yoke_fmi_unit* units;
  size_t n_units;
  const yoke_fmi_typedef* typedefs;
  size_t n_typedefs;
  yoke_fmi_variable* variables;
  size_t n_variables;
  yoke_map names;  // name -> index
  uint32_t*
      references;  // value reference -> 1 + index: open addressing, see yoke__fmi_find_reference
  size_t reference_mask;
  const yoke_fmi_dimension* dimensions;
  size_t n_dimensions;
  const yoke_fmi_clock* clocks;
  size_t n_clocks;
  const yoke_fmi_clocked* clocked;  // a variable of several clocks has several entries
  size_t n_clocked;
  yoke_fmi_unknowns outputs, states_derivatives, initial_unknowns, event_indicators, clocked_states;
  const uint32_t* dependencies;     // indices of variables
  const uint8_t* dependency_kinds;  // yoke_fmi_kind_of_dependency
  size_t n_dependencies;
  const yoke_fmi_terminal* terminals;
  size_t n_terminals;
  yoke_fmi_own own;
} yoke_fmi_description;

// Reads modelDescription.xml. What is wrong but can be lived with is one warning per rule, with the line of the first
// place and how many more there are; what cannot be used is an error. YOKE_BAD_INPUT after an error.
yoke_status yoke__fmi_read(const char* bytes, size_t n, const char* source, yoke_messages* messages,
                           yoke_fmi_description** out);
// Adds what terminalsAndIcons.xml says. Faults are warnings.
yoke_status yoke__fmi_read_terminals(yoke_fmi_description* description, const char* bytes, size_t n,
                                     const char* source, yoke_messages* messages);
void yoke__fmi_free(yoke_fmi_description** description);

// The variable of this name, or YOKE_FMI_NONE.
size_t yoke__fmi_find(const yoke_fmi_description* description, const char* name);
// The first variable with this value reference, or YOKE_FMI_NONE. FMI 1.0 and 2.0 number the variables of each base type on
// their own (Integer and Enumeration are one): there find_typed says which is meant.
size_t yoke__fmi_find_reference(const yoke_fmi_description* description, uint32_t reference);
size_t yoke__fmi_find_typed(const yoke_fmi_description* description, uint32_t reference,
                            yoke_fmi_type type);
// Number of elements with the start values of its dimensions; 1 for a scalar, SIZE_MAX if beyond all memory.
size_t yoke__fmi_size(const yoke_fmi_description* description, const yoke_fmi_variable* variable);
// Words for people and files: "Float64", "calculatedParameter", "continuous", ...
const char* yoke__fmi_type_name(yoke_fmi_type type);
// The same as the version calls it: "Real" and "Integer" before FMI 3.0.
const char* yoke__fmi_type_word(int version, yoke_fmi_type type);
// NULL-terminated, in the order of yoke_fmi_interval.
extern const char* const yoke__fmi_interval_words[];
const char* yoke__fmi_causality_name(yoke_fmi_causality causality);
const char* yoke__fmi_variability_name(yoke_fmi_variability variability);
const char* yoke__fmi_initial_name(yoke_fmi_initial initial);
// Items of an enumeration variable, NULL if it has none (then *n is 0).
const yoke_fmi_item* yoke__fmi_items(const yoke_fmi_description* description,
                                     const yoke_fmi_variable* variable, size_t* n);

// Start values: up to n elements from the text; a single value fills all of them. Missing ones are 0. False: the text
// is no such value (then out is 0 from there on). Booleans are 0 or 1; numbers of 64 bits without sign keep their bits.
bool yoke__fmi_start_real(const yoke_fmi_variable* variable, double out[], size_t n);
bool yoke__fmi_start_integer(const yoke_fmi_variable* variable, int64_t out[], size_t n);
// Binary start values are hexadecimal text, of an array the first one is read; returns the number of bytes, or -1. What
// does not fit is cut off; room 0 (to may be NULL) asks for the size alone.
long long yoke__fmi_start_binary(const yoke_fmi_variable* variable, unsigned char* to, size_t room);

#endif
