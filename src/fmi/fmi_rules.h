// The rules a modelDescription.xml is held against, and the account of what was found: one message per rule.
#ifndef YOKE_FMI_RULES_H
#define YOKE_FMI_RULES_H

#include <stddef.h>

#include "base/base_message.h"

// X(enumerator, id, severity, what is done about it)
#define YOKE_FMI_RULE_LIST(X)                                                                      \
  X(VERSION_MINOR, "fmi-version-minor", WARNING, "read as the version before it")                  \
  X(TOKEN_MISSING, "fmi-token-missing", WARNING, "an empty one is used")                           \
  X(MODEL_NAME_MISSING, "fmi-model-name-missing", WARNING, "the model identifier is used")         \
  X(IDENTIFIER_MISSING, "fmi-identifier-missing", WARNING, "the name of the binary is used")       \
  X(IDENTIFIER_ODD, "fmi-identifier-odd", WARNING, "only its binary can be found by it")           \
  X(INTERFACE_REPEATED, "fmi-interface-repeated", WARNING, "the first one is used")                \
  X(EXPERIMENT_BAD, "fmi-experiment-bad", WARNING, "it is left out")                               \
  X(DEFINITION_REPEATED, "fmi-definition-repeated", WARNING, "the first one is used")              \
  X(ITEM_REPEATED, "fmi-item-repeated", WARNING, "the first one is found by name and value")       \
  X(ITEM_VALUE, "fmi-item-value", WARNING, "the number behind the item before it is used")         \
  X(ITEMS_MISSING, "fmi-items-missing", WARNING, "it is used by its numbers")                      \
  X(TYPE_UNKNOWN, "fmi-type-unknown", WARNING, "the variable is used without it")                  \
  X(TYPE_MISMATCH, "fmi-type-mismatch", WARNING, "the variable is used without it")                \
  X(UNIT_UNKNOWN, "fmi-unit-unknown", WARNING, "it is understood by its name, if at all")          \
  X(NAME_MISSING, "fmi-name-missing", WARNING, "it gets a name with its position")                 \
  X(NAME_ODD, "fmi-name-odd", WARNING, "these characters become '_'")                              \
  X(NAME_REPEATED, "fmi-name-repeated", WARNING, "the later one gets a number behind its name")    \
  X(REFERENCE_BAD, "fmi-reference-bad", WARNING, "the variable is left out")                       \
  X(REFERENCE_SHARED, "fmi-reference-shared", WARNING, "they are taken as one value")              \
  X(VARIABLE_TYPE, "fmi-variable-type", WARNING, "the variable is left out")                       \
  X(COMBINATION, "fmi-combination", WARNING, "the nearest legal one is used")                      \
  X(START_MISSING, "fmi-start-missing", WARNING, "0, false or an empty text is used")              \
  X(START_BAD, "fmi-start-bad", WARNING, "what can be read of it is used, else 0")                 \
  X(START_RANGE, "fmi-start-range", WARNING, "it is used as far as the type can hold it")          \
  X(START_EXTRA, "fmi-start-extra", WARNING, "it is ignored")                                      \
  X(START_COUNT, "fmi-start-count", WARNING, "missing ones are 0, further ones are ignored")       \
  X(MIN_MAX, "fmi-min-max", WARNING, "both are ignored")                                           \
  X(DERIVATIVE_UNKNOWN, "fmi-derivative-unknown", WARNING, "it is taken as an ordinary variable")  \
  X(DIMENSION_BAD, "fmi-dimension-bad", WARNING, "a size of 1 is used")                            \
  X(CLOCK_BAD, "fmi-clock-bad", WARNING, "it is taken as triggered")                               \
  X(CLOCK_UNKNOWN, "fmi-clock-unknown", WARNING, "this clock is left out")                         \
  X(INDEPENDENT, "fmi-independent", WARNING, "time is passed by the calls alone")                  \
  X(OUTPUT_UNLISTED, "fmi-output-unlisted", WARNING, "it is taken to depend on all inputs")        \
  X(STRUCTURE_UNKNOWN, "fmi-structure-unknown", WARNING, "the entry is left out")                  \
  X(STRUCTURE_WRONG, "fmi-structure-wrong", WARNING, "the variable's own attributes count")        \
  X(STRUCTURE_REPEATED, "fmi-structure-repeated", WARNING, "the first entry is used")              \
  X(DEPENDENCY_UNKNOWN, "fmi-dependency-unknown", WARNING, "this dependency is left out")          \
  X(DEPENDENCY_KINDS, "fmi-dependency-kinds", WARNING, "general dependencies are assumed")         \
  X(ATTRIBUTE_BAD, "fmi-attribute-bad", WARNING, "the default is used")                            \
  X(ATTRIBUTE_UNKNOWN, "fmi-attribute-unknown", NOTE, "it is ignored")                             \
  X(ELEMENT_UNKNOWN, "fmi-element-unknown", NOTE, "it is ignored with all that is in it")          \
  X(TERMINAL_XML, "fmi-terminal-xml", WARNING, "terminals are left out")                           \
  X(TERMINAL_NAME, "fmi-terminal-name", WARNING, "it is shown as it is")                           \
  X(TERMINAL_VARIABLE, "fmi-terminal-variable", WARNING, "this member is left out")                \
  X(BINARY_FOLDER, "fmi-binary-folder", WARNING, "it is used all the same")                        \
  X(BINARY_NAME, "fmi-binary-name", WARNING, "the only library there is used")

typedef enum yoke_fmi_rule {
#define YOKE_FMI_RULE_ENUM(name, id, severity, text) YOKE_FMI_RULE_##name,
  YOKE_FMI_RULE_LIST(YOKE_FMI_RULE_ENUM)
#undef YOKE_FMI_RULE_ENUM
      YOKE_FMI_N_RULES,
} yoke_fmi_rule;

// What was found so far. Zeroed is empty.
typedef struct yoke_fmi_findings {
  struct {
    size_t n;
    int line;  // of the first place in the file
    char text[200];
  } of[YOKE_FMI_N_RULES];
} yoke_fmi_findings;

// Notes one place (n_more further ones with it); the text is about the first place in the file only.
void yoke__fmi_find_fault(yoke_fmi_findings* findings, yoke_fmi_rule rule, int line, size_t n_more,
                          const char* format, ...) YOKE_PRINTF(5, 6);
// One message per broken rule: "text (and 3 more); what is done [id]".
void yoke__fmi_tell_faults(const yoke_fmi_findings* findings, const char* source,
                           yoke_messages* messages);

#endif
