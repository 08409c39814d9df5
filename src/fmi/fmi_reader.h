// The inside of the reader of modelDescription.xml; nobody outside src/fmi needs it.
//
// expat calls come through fmi_read.c, which finds the element in the table of fmi_schema.c, sorts its attributes into
// `values` and calls its function. Everything that points to something else (types, derivatives, structure) is kept as
// written and resolved at the end, so that the order of the sections does not matter.
#ifndef YOKE_FMI_READER_H
#define YOKE_FMI_READER_H

#include <math.h>

#include "base/base_text.h"
#include "base/base_xml.h"
#include "fmi/fmi_description.h"
#include "fmi/fmi_rules.h"

#define YOKE_FMI_NAN ((double)NAN)  // a number that is not given

// ---- vocabulary

// clang-format off
#define YOKE_FMI_ATTRIBUTE_LIST(X)                                                                 \
  X(A) X(K) X(alias) X(author) X(canBeDeactivated) X(canBeInstantiatedOnlyOncePerProcess)          \
  X(canGetAndSetFMUState) X(canGetAndSetFMUstate) X(canHandleEvents)                               \
  X(canHandleMultipleSetPerTimeInstant) X(canHandleVariableCommunicationStepSize)                  \
  X(canInterpolateInputs) X(canNotUseMemoryManagementFunctions) X(canRejectSteps)                  \
  X(canReturnEarlyAfterIntermediateUpdate) X(canRunAsynchronuously) X(canSerializeFMUState)        \
  X(canSerializeFMUstate) X(canSignalEvents) X(causality) X(cd) X(clocks)                          \
  X(completedIntegratorStepNotNeeded) X(copyright) X(declaredType) X(dependencies)                 \
  X(dependenciesKind) X(derivative) X(description) X(displayUnit) X(entryPoint) X(factor) X(file)  \
  X(fixed) X(fixedInternalStepSize) X(fmiVersion) X(gain) X(generationDateAndTime)                 \
  X(generationTool) X(guid) X(hasEventMode) X(index) X(initial) X(instantiationToken)              \
  X(intermediateUpdate) X(internalStep) X(intervalCounter) X(intervalDecimal)                      \
  X(intervalVariability) X(inverse) X(kg) X(license) X(linear) X(m) X(manualStart) X(max)          \
  X(maxOutputDerivativeOrder) X(maxSize) X(mightReturnEarlyFromDoStep) X(mimeType) X(min)          \
  X(modelIdentifier) X(modelName) X(mol) X(name) X(needsCompletedIntegratorStep)                   \
  X(needsExecutionTool) X(nominal) X(numberOfContinuousStates) X(numberOfEventIndicators)          \
  X(offset) X(previous) X(priority) X(providesAdjointDerivatives) X(providesDirectionalDerivative) \
  X(providesDirectionalDerivatives) X(providesEvaluateDiscreteStates)                              \
  X(providesIntermediateUpdate) X(providesPerElementDependencies) X(quantity) X(rad)               \
  X(recommendedIntermediateInputSmoothness) X(reinit) X(relativeQuantity) X(resolution) X(s)       \
  X(sampled) X(shiftCounter) X(shiftDecimal) X(solver) X(solverVariable) X(start) X(startTime) X(stepSize)    \
  X(stepsVariable) X(stopTime) X(supportsFraction) X(tolerance) X(type) X(unbounded) X(unit)       \
  X(value) X(valueReference) X(variability) X(variableNamingConvention) X(version)
// clang-format on

typedef enum yoke_fmi_attribute {
#define YOKE_FMI_ATTRIBUTE_ENUM(name) YOKE_FMI_AT_##name,
  YOKE_FMI_ATTRIBUTE_LIST(YOKE_FMI_ATTRIBUTE_ENUM)
#undef YOKE_FMI_ATTRIBUTE_ENUM
      YOKE_FMI_N_ATTRIBUTES,
} yoke_fmi_attribute;

#define YOKE_FMI_WORDS ((YOKE_FMI_N_ATTRIBUTES + 63) / 64)  // of a set of attributes

// Places where children are looked up; several elements may share one.
typedef enum yoke_fmi_place {
  YOKE_FMI_IN_FILE,
  YOKE_FMI_IN_ROOT,
  YOKE_FMI_IN_NOTHING,  // an element without children
  YOKE_FMI_IN_SKIPPED,  // whatever is inside is nobody's business
  YOKE_FMI_IN_IMPLEMENTATION,
  YOKE_FMI_IN_STAND_ALONE,
  YOKE_FMI_IN_INTERFACE,
  YOKE_FMI_IN_SOURCES,
  YOKE_FMI_IN_UNITS,
  YOKE_FMI_IN_UNIT,
  YOKE_FMI_IN_DISPLAY_UNIT,
  YOKE_FMI_IN_TYPES,
  YOKE_FMI_IN_SIMPLE_TYPE,
  YOKE_FMI_IN_TYPE,
  YOKE_FMI_IN_CATEGORIES,
  YOKE_FMI_IN_EXPERIMENT,
  YOKE_FMI_IN_VARIABLES,
  YOKE_FMI_IN_SCALAR,
  YOKE_FMI_IN_DEPENDENCY,
  YOKE_FMI_IN_VARIABLE,
  YOKE_FMI_IN_STRUCTURE,
  YOKE_FMI_IN_UNKNOWNS,
  YOKE_FMI_IN_UNKNOWN,
  YOKE_FMI_IN_ANNOTATIONS,  // from here on what tools add: what is unknown is nobody's business
  YOKE_FMI_IN_ANNOTATION,
  YOKE_FMI_IN_OWN,
  YOKE_FMI_N_PLACES,
} yoke_fmi_place;

enum { YOKE_FMI_V1 = 1u << 1, YOKE_FMI_V2 = 1u << 2, YOKE_FMI_V3 = 1u << 3 };

typedef struct yoke_fmi_reader yoke_fmi_reader;

// One element of the standard: where it may stand, in which versions, with which attributes, and who reads it.
typedef struct yoke_fmi_element {
  yoke_fmi_place parent;
  unsigned versions;
  const char* name;
  yoke_fmi_place inside;
  int kind;                // a type, a list, an interface
  const char* attributes;  // names, separated by blanks
  void (*open)(yoke_fmi_reader* reader);
  void (*close)(yoke_fmi_reader* reader);
} yoke_fmi_element;

#define YOKE_FMI_MAX_ELEMENTS 128
extern const yoke_fmi_element yoke__fmi_elements[];
extern const size_t yoke__fmi_n_elements;

// ---- growing arrays and names

typedef struct yoke_fmi_list {
  void* items;
  size_t n, room;
} yoke_fmi_list;

// A zeroed element of `size` bytes at the end; once memory is out one that nobody reads. The same size in all calls.
void* yoke__fmi_list_add(yoke_fmi_reader* reader, yoke_fmi_list* list, size_t size);
// The elements as one array of the description; the list is empty then. NULL only if memory is out.
void* yoke__fmi_list_take(yoke_fmi_reader* reader, yoke_fmi_list* list, size_t size);

// Names to numbers, growing.
typedef struct yoke_fmi_names {
  yoke_fmi_list texts;  // const char*
  size_t room;
  yoke_map map;
} yoke_fmi_names;

// ---- what is collected and resolved at the end

typedef enum yoke_fmi_list_kind {
  YOKE_FMI_OUTPUTS,
  YOKE_FMI_DERIVATIVES,
  YOKE_FMI_INITIAL_UNKNOWNS,
  YOKE_FMI_EVENT_INDICATORS,
  YOKE_FMI_CLOCKED_STATES,
  YOKE_FMI_N_LISTS,
} yoke_fmi_list_kind;

// Something that refers to a variable: by position from 1 (FMI 2.0) or by value reference (FMI 3.0).
typedef struct yoke_fmi_raw {
  uint32_t variable;  // whose it is
  uint32_t target;
  int line;
} yoke_fmi_raw;

typedef struct yoke_fmi_raw_unknown {
  uint32_t target;
  bool has_target, has_dependencies;
  size_t first, n;  // into raw_dependencies and raw_kinds
  int line;
} yoke_fmi_raw_unknown;

typedef struct yoke_fmi_bounds {  // of a type definition
  double min, max;
  int line;
} yoke_fmi_bounds;

typedef struct yoke_fmi_late_type {  // a declared type not seen yet
  uint32_t variable;
  const char* name;
} yoke_fmi_late_type;

typedef struct yoke_fmi_unit_use {
  const char* text;
  const char* variable;
  int line;
  size_t n;
} yoke_fmi_unit_use;

// FMI 1.0: an output with <DirectDependency> and the inputs it names.
typedef struct yoke_fmi_direct {
  uint32_t variable;
  size_t first, n;  // into late_names (const char*)
  int line;
} yoke_fmi_direct;

typedef struct yoke_fmi_alias {
  const char *name, *description;
  int line;
} yoke_fmi_alias;

// The variable that is being read: what is not yet in its final form.
typedef struct yoke_fmi_now {
  yoke_fmi_variable v;
  int line;
  bool has_type, has_reference;
  int causality, variability,
      initial;                // as written; -1: not given; FMI 1.0: its own words, see fmi_tables.c
  bool is_fixed;              // FMI 1.0
  double min, max;            // NaN: not given
  const char* declared_type;  // kept text, NULL: none
  bool has_derivative;
  uint32_t derivative;
  yoke_text starts;  // <Start> elements joined
  size_t n_starts;
  bool has_clock;
  yoke_fmi_clock clock;
  bool has_dependency;  // FMI 1.0: <DirectDependency>
} yoke_fmi_now;

struct yoke_fmi_reader {
  yoke_fmi_description* d;
  const char* source;
  yoke_messages* messages;
  yoke_fmi_findings findings;

  // vocabulary of this version
  uint8_t slots[512];  // hash of an attribute's name -> 1 + attribute
  uint64_t allowed[YOKE_FMI_MAX_ELEMENTS][YOKE_FMI_WORDS];
  const yoke_fmi_element* last_child[YOKE_FMI_N_PLACES];

  // where the parser stands
  const yoke_fmi_element* stack[YOKE_XML_MAX_DEPTH + 1];
  int depth, n_skipped;
  const char* values[YOKE_FMI_N_ATTRIBUTES];  // of the element that opens
  yoke_fmi_attribute given[YOKE_FMI_N_ATTRIBUTES];
  size_t n_given;
  const char* element;  // its name
  int kind, line;       // of the element, and where it stands
  // What went wrong: memory is out, or the file cannot be used (reported). Functions of elements go on to their end all the
  // same, then reading ends.
  yoke_status status;
  _Alignas(16) char spare[256];  // an element of a list that could not grow

  // texts
  char* chunk;
  size_t n_left;
  yoke_text line_text;  // text content of an element
  bool is_text_wanted;

  // collected
  yoke_fmi_now now;
  yoke_fmi_list variables, dimensions, clocks, clocked, units, typedefs, bounds, items, categories,
      files, aliases, direct, nonlinear;
  yoke_fmi_names unit_names, type_names, unit_texts;
  yoke_fmi_list unit_uses, late_types, derivatives, late_names, dropped;
  yoke_fmi_list unknowns[YOKE_FMI_N_LISTS], raw_dependencies, raw_kinds;
  yoke_fmi_interface* interface_now;
  const char* identifier_1;            // FMI 1.0: modelIdentifier of the root
  bool is_unit_open, is_typedef_open;  // false: a repetition, which is passed over
  int item_line;                       // of the first item of the open enumeration
  int list_now;                        // yoke_fmi_list_kind of the open list
  size_t n_elements;                   // variables as the file counts them, dropped ones included
  int variables_line;
  size_t n_independent;
};

// Notes one case of a rule; the text of the first one is shown.
#define YOKE_FMI_FAULT(reader, rule, line, ...)                                                    \
  yoke__fmi_find_fault(&(reader)->findings, YOKE_FMI_RULE_##rule, (line), 0, __VA_ARGS__)

#define YOKE_FMI_VALUE(reader, name) ((reader)->values[YOKE_FMI_AT_##name])

// A copy that lives as long as the description; "" is shared, and stands for NULL and once memory is out.
const char* yoke__fmi_keep(yoke_fmi_reader* reader, const char* text);
const char* yoke__fmi_keep_n(yoke_fmi_reader* reader, const char* text, size_t n);
// The number stored under this name, or YOKE_NOT_FOUND after it was added or memory is out.
size_t yoke__fmi_names_add(yoke_fmi_reader* reader, yoke_fmi_names* names, const char* kept);
size_t yoke__fmi_names_find(const yoke_fmi_names* names, const char* name);

// Attributes of the open element as values; a bad one is a finding and gives the default.
bool yoke__fmi_flag(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, bool otherwise);
double yoke__fmi_number(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, double otherwise);
int64_t yoke__fmi_integer(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, int64_t otherwise,
                          int64_t low, int64_t high);
// Position of the attribute's word among words, the last of which is NULL; -1 if it is not given.
int yoke__fmi_word(yoke_fmi_reader* reader, yoke_fmi_attribute attribute,
                   const char* const words[]);
// By yoke_fmi_causality, yoke_fmi_variability; those of initial without NO_INITIAL.
extern const char* const yoke__fmi_causality_words[];
extern const char* const yoke__fmi_variability_words[];
extern const char* const yoke__fmi_initial_words[];
const char* yoke__fmi_attribute_name(yoke_fmi_attribute attribute);

// White space separated words: the next one, or NULL; *at moves behind it.
const char* yoke__fmi_token(const char** at, size_t* n);
// Digits with an optional sign; false: no such number. has_overflow: beyond 64 bits.
bool yoke__fmi_scan_integer(const char* text, size_t n, bool* is_negative, uint64_t* magnitude,
                            bool* has_overflow);
bool yoke__fmi_scan_reference(const char* text, size_t n, uint32_t* out);

// fmi_read_model.c
void yoke__fmi_open_root(yoke_fmi_reader* reader);
void yoke__fmi_open_interface(yoke_fmi_reader* reader);
void yoke__fmi_open_implementation(yoke_fmi_reader* reader);
void yoke__fmi_open_capabilities(yoke_fmi_reader* reader);
void yoke__fmi_open_file(yoke_fmi_reader* reader);
void yoke__fmi_close_interface(yoke_fmi_reader* reader);
void yoke__fmi_open_category(yoke_fmi_reader* reader);
void yoke__fmi_open_experiment(yoke_fmi_reader* reader);
void yoke__fmi_open_own(yoke_fmi_reader* reader);
void yoke__fmi_open_nonlinear(yoke_fmi_reader* reader);
void yoke__fmi_close_own(yoke_fmi_reader* reader);
// fmi_read_types.c
void yoke__fmi_open_unit(yoke_fmi_reader* reader);
void yoke__fmi_open_base_unit(yoke_fmi_reader* reader);
void yoke__fmi_open_simple_type(yoke_fmi_reader* reader);
void yoke__fmi_open_type(yoke_fmi_reader* reader);
void yoke__fmi_close_type(yoke_fmi_reader* reader);
void yoke__fmi_open_item(yoke_fmi_reader* reader);
// fmi_read_variables.c
void yoke__fmi_open_variables(yoke_fmi_reader* reader);
void yoke__fmi_open_scalar(yoke_fmi_reader* reader);
void yoke__fmi_open_scalar_type(yoke_fmi_reader* reader);
void yoke__fmi_open_variable(yoke_fmi_reader* reader);
void yoke__fmi_open_dimension(yoke_fmi_reader* reader);
void yoke__fmi_open_start(yoke_fmi_reader* reader);
void yoke__fmi_open_alias(yoke_fmi_reader* reader);
void yoke__fmi_open_dependency(yoke_fmi_reader* reader);
void yoke__fmi_open_dependency_name(yoke_fmi_reader* reader);
void yoke__fmi_close_dependency_name(yoke_fmi_reader* reader);
void yoke__fmi_close_variable(yoke_fmi_reader* reader);
// fmi_tables.c: defaults and legal combinations, start values
void yoke__fmi_settle(yoke_fmi_reader* reader);
void yoke__fmi_check_start(yoke_fmi_reader* reader);
// fmi_read_structure.c
void yoke__fmi_open_unknowns(yoke_fmi_reader* reader);
void yoke__fmi_open_unknown(yoke_fmi_reader* reader);
yoke_status yoke__fmi_resolve_structure(yoke_fmi_reader* reader);
// fmi_resolve.c: after the last element
yoke_status yoke__fmi_resolve(yoke_fmi_reader* reader);
// Fills the table of value references and alias_of. shared: the first of n_shared variables of FMI 3.0 with the number of
// another one.
yoke_status yoke__fmi_index_references(yoke_fmi_description* d, size_t* n_shared, size_t* shared);
// Index of the variable that a number of the file means (FMI 1.0: the index itself), or YOKE_FMI_NONE.
size_t yoke__fmi_target(const yoke_fmi_reader* reader, uint32_t target);

#endif
