// modelDescription.xml of FMI 2.0 and 3.0.
//
// The two versions differ in words more than in content: FMI 2.0 lists one scalar per element and counts them from 1, FMI
// 3.0 lists arrays and refers to them by value reference. Everything is written out, also what would be the default:
//
//   unit         causality   variability             initial      start
//   input        input       continuous, discrete    -            yes
//   output       output      continuous, discrete    calculated   -        with a start value: exact or approx
//   parameter    parameter   fixed                   exact        yes
//   tunable      parameter   tunable                 exact        yes
//   state        local       continuous, discrete    exact        yes      read only: calculated
//   -            local       continuous              calculated   -        "der(x)", of a unit with a linear model
//
// Continuous are reals, discrete all others and outputs of units that are sampled. Outputs depend on the inputs that the unit declares as feedthrough; at the
// start they may depend on everything, so InitialUnknowns say nothing about it. A unit that tells its linear model and its
// rates (yoke/unit.h) lists its states with their derivatives: importers find A, B, C, D by directional derivatives. States
// are then among what outputs may depend on, and each output names all of them, since nobody knows better.
// Source of the rules: FMI 2.0.4, section 2.2; FMI 3.0, section 2.4.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "export/export_part.h"
#include "yoke/version.h"

#define MAX_TEXT 1200  // a name with its index

static const char* const type_names_2[] = {"Real",        "Integer", "Boolean",
                                           "Enumeration", "String",  ""};
static const char* const type_names_3[] = {"Float64",     "Int64",  "Boolean",
                                           "Enumeration", "String", "Binary"};

static const struct {
  const char *name, *text;
} categories[] = {
    {"logStatusWarning", "what should be looked at"},
    {"logStatusDiscard", "steps that were not done"},
    {"logStatusError", "why a call failed"},
    {"logStatusFatal", "why nothing can go on"},
};

static void put_flag(yoke_xml_writer* xml, const char* attribute, bool is_true) {
  yoke__xml_put(xml, attribute, is_true ? "true" : "false");
}

// ---- head

// The time is written only if the caller fixes it: the same unit must give the same file.
static void put_date(yoke_xml_writer* xml) {
  const char* epoch = getenv("SOURCE_DATE_EPOCH");
  int64_t seconds = 0;
  if (epoch == NULL || !yoke__number_parse_integer(epoch, &seconds)) {
    return;
  }
  const time_t when = (time_t)seconds;
  const struct tm* parts = gmtime(&when);
  char text[64];
  if (parts != NULL && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", parts) > 0) {
    yoke__xml_put(xml, "generationDateAndTime", text);
  }
}

static void put_head(const yoke_export_model* m, const char* token, yoke_xml_writer* xml) {
  const yoke_export_job* job = m->job;
  const char* text = job->text != NULL ? job->text : job->ops->text;
  yoke__xml_put(xml, "fmiVersion", job->fmi == 2 ? "2.0" : "3.0");
  yoke__xml_put(xml, "modelName", job->name);
  yoke__xml_put(xml, job->fmi == 2 ? "guid" : "instantiationToken", token);
  if (text != NULL && text[0] != '\0') {
    yoke__xml_put(xml, "description", text);
  }
  yoke__xml_put(xml, "generationTool", "Yoke " YOKE_VERSION);
  put_date(xml);
  yoke__xml_put(xml, "variableNamingConvention", "flat");
}

static void put_interface(const yoke_export_model* m, yoke_xml_writer* xml) {
  const bool is_2 = m->job->fmi == 2;
  const bool is_fixed = (m->unit.info->flags & YOKE_UNIT_FIXED_STEP) != 0;
  yoke__xml_open(xml, "CoSimulation");
  yoke__xml_put(xml, "modelIdentifier", m->identifier);
  put_flag(xml, "canHandleVariableCommunicationStepSize", !is_fixed);
  put_flag(xml, is_2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState", m->has_state);
  put_flag(xml, is_2 ? "canSerializeFMUstate" : "canSerializeFMUState", m->has_state);
  put_flag(xml, is_2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives",
           m->has_derivative);
  if (!is_2 && m->job->has_event_mode) {
    put_flag(xml, "hasEventMode", true);
  }
  if (is_2) {
    put_flag(xml, "canNotUseMemoryManagementFunctions", true);
  }
  if (is_2 && m->n_source_files > 0) {
    yoke__xml_open(xml, "SourceFiles");
    for (size_t i = 0; i < m->n_source_files; i++) {
      yoke__xml_open(xml, "File");
      yoke__xml_put(xml, "name", m->source_files[i]);
      yoke__xml_close(xml, "File");
    }
    yoke__xml_close(xml, "SourceFiles");
  }
  yoke__xml_close(xml, "CoSimulation");
}

static void put_categories(yoke_xml_writer* xml) {
  yoke__xml_open(xml, "LogCategories");
  for (size_t i = 0; i < YOKE_COUNT(categories); i++) {
    yoke__xml_open(xml, "Category");
    yoke__xml_put(xml, "name", categories[i].name);
    yoke__xml_put(xml, "description", categories[i].text);
    yoke__xml_close(xml, "Category");
  }
  yoke__xml_close(xml, "LogCategories");
}

static void put_experiment(const yoke_export_job* job, yoke_xml_writer* xml) {
  if (!job->has_experiment) {
    return;
  }
  yoke__xml_open(xml, "DefaultExperiment");
  yoke__xml_put_number(xml, "startTime", job->start);
  yoke__xml_put_number(xml, "stopTime", job->stop);
  if (job->step > 0.0) {
    yoke__xml_put_number(xml, "stepSize", job->step);
  }
  yoke__xml_close(xml, "DefaultExperiment");
}

// ---- type definitions

// Names of types and of variables must differ.
static void make_free(const yoke_export_model* m, char name[MAX_TEXT]) {
  while (yoke__unit_find(&m->unit, name) != (size_t)-1 && strlen(name) + 2 < MAX_TEXT) {
    memcpy(name + strlen(name), "_", 2);
  }
}

static void type_name(const yoke_export_model* m, const yoke_export_variable* v,
                      char to[MAX_TEXT]) {
  snprintf(to, MAX_TEXT, "%s_type", v->variable->name);
  make_free(m, to);
}

// Items need names of their own; a list of labels may hold one twice.
static void put_item(const yoke_variable* v, size_t item, yoke_xml_writer* xml) {
  size_t n_before = 0;
  for (size_t i = 0; i < item; i++) {
    n_before += strcmp(v->items[i], v->items[item]) == 0;
  }
  char name[MAX_TEXT];
  if (n_before > 0 || v->items[item][0] == '\0') {
    snprintf(name, sizeof name, "%.1000s (%zu)", v->items[item], item);
  }
  const bool is_own = n_before == 0 && v->items[item][0] != '\0';
  yoke__xml_open(xml, "Item");
  yoke__xml_put(xml, "name", is_own ? v->items[item] : name);
  yoke__xml_put_integer(xml, "value", (long long)item);
  yoke__xml_close(xml, "Item");
}

static void put_type(const yoke_export_model* m, const yoke_export_variable* v,
                     yoke_xml_writer* xml) {
  const int fmi = m->job->fmi;
  char name[MAX_TEXT];
  type_name(m, v, name);
  yoke__xml_open(xml, fmi == 2 ? "SimpleType" : "EnumerationType");
  yoke__xml_put(xml, "name", name);
  if (fmi == 2) {
    yoke__xml_open(xml, "Enumeration");
  }
  for (size_t i = 0; v->variable->items[i] != NULL; i++) {
    put_item(v->variable, i, xml);
  }
  if (fmi == 2) {
    yoke__xml_close(xml, "Enumeration");
  }
  yoke__xml_close(xml, fmi == 2 ? "SimpleType" : "EnumerationType");
}

static void put_types(const yoke_export_model* m, yoke_xml_writer* xml) {
  bool is_open = false;
  for (size_t i = 0; i < m->n_variables; i++) {
    if (m->variables[i].type == 0) {
      continue;
    }
    if (!is_open) {
      yoke__xml_open(xml, "TypeDefinitions");
      is_open = true;
    }
    put_type(m, &m->variables[i], xml);
  }
  if (is_open) {
    yoke__xml_close(xml, "TypeDefinitions");
  }
}

// ---- variables

static const char* causality_of(const yoke_variable* v) {
  switch (v->causality) {
  case YOKE_INPUT:
    return "input";
  case YOKE_OUTPUT:
    return "output";
  case YOKE_PARAMETER:
  case YOKE_TUNABLE:
    return "parameter";
  case YOKE_STATE:
    return "local";
  }
  return "local";
}

static const char* variability_of(const yoke_export_model* m, const yoke_variable* v) {
  if (v->causality == YOKE_PARAMETER || v->causality == YOKE_TUNABLE) {
    return v->causality == YOKE_PARAMETER ? "fixed" : "tunable";
  }
  const bool is_held =
      v->causality == YOKE_OUTPUT &&
      ((v->flags & YOKE_VARIABLE_DISCRETE) != 0 || (m->unit.info->flags & YOKE_UNIT_SAMPLED) != 0);
  return v->type == YOKE_REAL && !is_held ? "continuous" : "discrete";
}

// The attributes that all types share.
static void put_common(const yoke_export_model* m, const yoke_export_variable* v, const char* name,
                       uint32_t reference, yoke_xml_writer* xml) {
  static const char* const initials[] = {"", "exact", "approx", "calculated"};
  yoke__xml_put(xml, "name", name);
  yoke__xml_put_integer(xml, "valueReference", reference);
  if (v->variable->text != NULL && v->variable->text[0] != '\0') {
    yoke__xml_put(xml, "description", v->variable->text);
  }
  yoke__xml_put(xml, "causality", causality_of(v->variable));
  yoke__xml_put(xml, "variability", variability_of(m, v->variable));
  if (v->initial != YOKE_EXPORT_NO_INITIAL) {
    yoke__xml_put(xml, "initial", initials[v->initial]);
  }
}

// What belongs to the type: unit or type definition, size.
static void put_type_attributes(const yoke_export_model* m, const yoke_export_variable* v,
                                yoke_xml_writer* xml) {
  if (v->variable->type == YOKE_REAL && v->variable->dim != NULL && v->variable->dim[0] != '\0') {
    yoke__xml_put(xml, "unit", v->variable->dim);
  }
  if (v->type != 0) {
    char name[MAX_TEXT];
    type_name(m, v, name);
    yoke__xml_put(xml, "declaredType", name);
  }
  if (v->variable->type == YOKE_BINARY) {
    yoke__xml_put_integer(xml, "maxSize", (long long)v->variable->max_size);
  }
}

static const char* element_at(const yoke_export_variable* v, size_t i) {
  return (const char*)v->value + i * yoke__variable_element_size(v->variable);
}

// A number, boolean or enumeration as text.
static void value_text(const yoke_export_variable* v, size_t i, char to[YOKE_NUMBER_SIZE]) {
  double number = 0.0;
  int64_t whole = 0;
  switch (v->variable->type) {
  case YOKE_REAL:
    memcpy(&number, element_at(v, i), sizeof number);
    if (yoke__is_finite(number)) {
      yoke__number_format(number, to);
    } else {
      // the words of XML schema
      snprintf(to, YOKE_NUMBER_SIZE, "%s", number > 0 ? "INF" : number < 0 ? "-INF" : "NaN");
    }
    break;
  case YOKE_INTEGER:
  case YOKE_ENUMERATION:
    memcpy(&whole, element_at(v, i), sizeof whole);
    yoke__number_format_integer(whole, to);
    break;
  case YOKE_BOOLEAN:
    memcpy(&whole, element_at(v, i), sizeof whole);
    snprintf(to, YOKE_NUMBER_SIZE, "%s", whole != 0 ? "true" : "false");
    break;
  case YOKE_STRING:
  case YOKE_BINARY:
    to[0] = '\0';
    break;
  }
}

static bool is_written(const yoke_export_variable* v) {
  return v->initial != YOKE_EXPORT_CALCULATED;
}

static void put_scalar(const yoke_export_model* m, const yoke_export_variable* v, size_t i,
                       yoke_xml_writer* xml) {
  char name[MAX_TEXT], start[YOKE_NUMBER_SIZE];
  yoke__export_element_name(v, i, name, sizeof name);
  const bool is_whole = v->variable->type == YOKE_ENUMERATION && v->type == 0;
  const char* type = type_names_2[is_whole ? YOKE_INTEGER : v->variable->type];
  yoke__xml_open(xml, "ScalarVariable");
  put_common(m, v, name, v->reference + (uint32_t)i, xml);
  yoke__xml_open(xml, type);
  put_type_attributes(m, v, xml);
  if (is_written(v) && v->variable->type == YOKE_STRING) {
    yoke__xml_put(xml, "start", element_at(v, i));
  } else if (is_written(v)) {
    value_text(v, i, start);
    yoke__xml_put(xml, "start", start);
  }
  yoke__xml_close(xml, type);
  yoke__xml_close(xml, "ScalarVariable");
}

// All elements of an array in one attribute, separated by blanks.
static void put_start_list(const yoke_export_variable* v, yoke_xml_writer* xml) {
  char* text = malloc(v->n * YOKE_NUMBER_SIZE + 1);
  if (text == NULL) {
    xml->text.status = YOKE_NO_MEMORY;
    return;
  }
  char* at = text;
  for (size_t i = 0; i < v->n; i++) {
    value_text(v, i, at);
    at += strlen(at);
    *at++ = ' ';
  }
  at[-1] = '\0';
  yoke__xml_put(xml, "start", text);
  free(text);
}

// Texts and bytes stand in elements of their own.
static void put_start_elements(const yoke_export_variable* v, yoke_xml_writer* xml) {
  for (size_t i = 0; i < v->n; i++) {
    const char* at = element_at(v, i);
    yoke__xml_open(xml, "Start");
    if (v->variable->type == YOKE_STRING) {
      yoke__xml_put(xml, "value", at);
    } else {
      uint64_t n = 0;
      memcpy(&n, at, sizeof n);
      char* hex = malloc(2 * (size_t)n + 1);
      if (hex == NULL) {
        xml->text.status = YOKE_NO_MEMORY;
        return;
      }
      hex[0] = '\0';
      for (size_t j = 0; j < n; j++) {
        snprintf(hex + 2 * j, 3, "%02x", (unsigned char)at[sizeof n + j]);
      }
      yoke__xml_put(xml, "value", hex);
      free(hex);
    }
    yoke__xml_close(xml, "Start");
  }
}

static void put_dimension(size_t n, yoke_xml_writer* xml) {
  yoke__xml_open(xml, "Dimension");
  yoke__xml_put_integer(xml, "start", (long long)n);
  yoke__xml_close(xml, "Dimension");
}

static void put_array(const yoke_export_model* m, const yoke_export_variable* v,
                      yoke_xml_writer* xml) {
  const bool is_whole = v->variable->type == YOKE_ENUMERATION && v->type == 0;
  const char* type = type_names_3[is_whole ? YOKE_INTEGER : v->variable->type];
  const bool is_bytes = v->variable->type == YOKE_STRING || v->variable->type == YOKE_BINARY;
  const size_t n_rows = v->variable->n_rows, n_cols = v->variable->n_cols;
  yoke__xml_open(xml, type);
  put_common(m, v, v->variable->name, v->reference, xml);
  put_type_attributes(m, v, xml);
  if (is_written(v) && !is_bytes) {
    put_start_list(v, xml);
  }
  if (n_rows > 1 && n_cols > 1) {
    put_dimension(n_rows, xml);
    put_dimension(n_cols, xml);
  } else if (v->n > 1) {
    put_dimension(v->n, xml);
  }
  if (is_written(v) && is_bytes) {
    put_start_elements(v, xml);
  }
  yoke__xml_close(xml, type);
}

// FMI 3.0 wants the independent variable; its name must be free.
static void put_time(const yoke_export_model* m, yoke_xml_writer* xml) {
  char name[MAX_TEXT] = "time";
  make_free(m, name);
  uint32_t reference = 0;
  if (m->n_variables > 0) {
    const yoke_export_variable* last = &m->variables[m->n_variables - 1];
    reference = last->reference + (uint32_t)last->n;
  }
  yoke__xml_open(xml, "Float64");
  yoke__xml_put(xml, "name", name);
  yoke__xml_put_integer(xml, "valueReference", reference);
  yoke__xml_put(xml, "causality", "independent");
  yoke__xml_put(xml, "variability", "continuous");
  yoke__xml_put(xml, "unit", "s");
  yoke__xml_close(xml, "Float64");
}

// The derivative of a state; FMI 2.0 names the state by its place in the list, FMI 3.0 by its reference.
static void put_rate(const yoke_export_model* m, size_t state, yoke_xml_writer* xml) {
  const bool is_2 = m->job->fmi == 2;
  const yoke_export_variable* of = &m->variables[m->states.variables[state]];
  char name[MAX_TEXT];
  snprintf(name, sizeof name, "der(%s)", of->variable->name);
  make_free(m, name);
  yoke__xml_open(xml, is_2 ? "ScalarVariable" : "Float64");
  yoke__xml_put(xml, "name", name);
  yoke__xml_put_integer(xml, "valueReference", yoke__export_states_reference(m->n_elements, state));
  yoke__xml_put(xml, "causality", "local");
  yoke__xml_put(xml, "variability", "continuous");
  yoke__xml_put(xml, "initial", "calculated");
  if (is_2) {
    yoke__xml_open(xml, "Real");
  }
  if (m->rate_dims[state] != NULL) {
    yoke__xml_put(xml, "unit", m->rate_dims[state]);
  }
  yoke__xml_put_integer(xml, "derivative", is_2 ? of->row : of->reference);
  if (is_2) {
    yoke__xml_close(xml, "Real");
  }
  yoke__xml_close(xml, is_2 ? "ScalarVariable" : "Float64");
}

static void put_variables(const yoke_export_model* m, yoke_xml_writer* xml) {
  yoke__xml_open(xml, "ModelVariables");
  for (size_t i = 0; i < m->n_variables; i++) {
    const yoke_export_variable* v = &m->variables[i];
    if (m->job->fmi == 3) {
      put_array(m, v, xml);
      continue;
    }
    for (size_t j = 0; j < v->n; j++) {
      put_scalar(m, v, j, xml);
    }
  }
  if (m->job->fmi == 3) {
    put_time(m, xml);
  }
  for (size_t i = 0; i < m->states.n; i++) {
    put_rate(m, i, xml);
  }
  yoke__xml_close(xml, "ModelVariables");
}

// ---- structure

// One variable at the end of a list of dependencies, as the version counts them.
static char* put_dependency(const yoke_export_model* m, const yoke_export_variable* v,
                            const char* text, char* to) {
  const bool is_2 = m->job->fmi == 2;
  for (size_t j = 0; j < (is_2 ? v->n : 1); j++) {
    const uint32_t number = is_2 ? v->row + (uint32_t)j : v->reference;
    to += snprintf(to, 12, "%s%lu", to == text ? "" : " ", (unsigned long)number);
  }
  return to;
}

// The inputs and states that an output depends on, in the order of the variables; malloc'ed, NULL when memory is out. *at
// runs through the sorted pairs.
static char* dependencies_of(const yoke_export_model* m, size_t output, size_t* at) {
  const size_t first = *at;
  size_t n = m->states.n;
  while (*at < m->n_feedthrough && m->feedthrough[*at].output == output) {
    n += m->variables[m->feedthrough[*at].input].n;
    (*at)++;
  }
  char* text = malloc(11 * n + 1);
  if (text == NULL) {
    return NULL;
  }
  char* to = text;
  *to = '\0';
  size_t next = 0;  // variable from which on states are still to come
  for (size_t i = first; i <= *at; i++) {
    const size_t input = i < *at ? m->feedthrough[i].input : m->n_variables;
    for (; m->states.n > 0 && next < input; next++) {
      if (m->variables[next].is_state) {
        to = put_dependency(m, &m->variables[next], text, to);
      }
    }
    if (i < *at) {
      to = put_dependency(m, &m->variables[input], text, to);
    }
  }
  return text;
}

// One output, in FMI 2.0 each of its elements. dependencies NULL: nothing is said about them.
static void put_unknown(const yoke_export_model* m, const yoke_export_variable* v,
                        const char* element, const char* dependencies, yoke_xml_writer* xml) {
  const bool is_2 = m->job->fmi == 2;
  for (size_t j = 0; j < (is_2 ? v->n : 1); j++) {
    yoke__xml_open(xml, element);
    yoke__xml_put_integer(xml, is_2 ? "index" : "valueReference",
                          is_2 ? (long long)v->row + (long long)j : (long long)v->reference);
    if (dependencies != NULL) {
      yoke__xml_put(xml, "dependencies", dependencies);
    }
    yoke__xml_close(xml, element);
  }
}

static void put_outputs(const yoke_export_model* m, const char* element, yoke_xml_writer* xml) {
  size_t at = 0;
  for (size_t i = 0; i < m->n_variables; i++) {
    while (at < m->n_feedthrough && m->feedthrough[at].output < i) {
      at++;
    }
    if (m->variables[i].variable->causality == YOKE_OUTPUT) {
      char* dependencies = dependencies_of(m, i, &at);
      xml->text.status = dependencies == NULL ? YOKE_NO_MEMORY : xml->text.status;
      put_unknown(m, &m->variables[i], element, dependencies == NULL ? "" : dependencies, xml);
      free(dependencies);
    }
  }
}

static bool is_initial_unknown(const yoke_export_variable* v) {
  return (v->variable->causality == YOKE_OUTPUT || v->is_state) &&
         (v->initial == YOKE_EXPORT_CALCULATED || v->initial == YOKE_EXPORT_APPROX);
}

// Derivatives of the states; they stand behind all variables, and may depend on every input and state.
static void put_rates(const yoke_export_model* m, const char* element, yoke_xml_writer* xml) {
  const bool is_2 = m->job->fmi == 2;
  for (size_t i = 0; i < m->states.n; i++) {
    yoke__xml_open(xml, element);
    yoke__xml_put_integer(xml, is_2 ? "index" : "valueReference",
                          is_2 ? (long long)(m->n_elements + 1 + i)
                               : (long long)yoke__export_states_reference(m->n_elements, i));
    yoke__xml_close(xml, element);
  }
}

static void put_initial(const yoke_export_model* m, const char* element, yoke_xml_writer* xml) {
  for (size_t i = 0; i < m->n_variables; i++) {
    if (is_initial_unknown(&m->variables[i])) {
      put_unknown(m, &m->variables[i], element, NULL, xml);
    }
  }
  put_rates(m, element, xml);
}

typedef void (*put_entries)(const yoke_export_model* m, const char* element, yoke_xml_writer* xml);

// FMI 2.0 wants lists that are not empty.
static void put_list(const yoke_export_model* m, const char* name, bool has_any, put_entries put,
                     yoke_xml_writer* xml) {
  if (has_any) {
    yoke__xml_open(xml, name);
    put(m, "Unknown", xml);
    yoke__xml_close(xml, name);
  }
}

static void put_structure(const yoke_export_model* m, yoke_xml_writer* xml) {
  bool has_outputs = false, has_initial = m->states.n > 0;
  for (size_t i = 0; i < m->n_variables; i++) {
    has_outputs |= m->variables[i].variable->causality == YOKE_OUTPUT;
    has_initial |= is_initial_unknown(&m->variables[i]);
  }
  yoke__xml_open(xml, "ModelStructure");
  if (m->job->fmi == 2) {
    put_list(m, "Outputs", has_outputs, put_outputs, xml);
    put_list(m, "Derivatives", m->states.n > 0, put_rates, xml);
    put_list(m, "InitialUnknowns", has_initial, put_initial, xml);
  } else {
    put_outputs(m, "Output", xml);
    put_rates(m, "ContinuousStateDerivative", xml);
    put_initial(m, "InitialUnknown", xml);
  }
  yoke__xml_close(xml, "ModelStructure");
}

// ---- what Yoke knows of the unit beside FMI: yoke_unit_info

static void put_solver(const yoke_export_model* m, yoke_xml_writer* xml) {
  const yoke_unit_info* info = m->unit.info;
  const yoke_unit_solver* solver = &info->solver;
  const char* const* items = solver->choice == 0 ? NULL : info->variables[solver->choice - 1].items;
  char words[MAX_TEXT];
  size_t n = (size_t)snprintf(words, sizeof words, "%s",
                              items == NULL ? yoke_solver_text(solver->method) : "");
  for (size_t i = 0; items != NULL && items[i] != NULL && i < YOKE_MAX_CHOICES; i++) {
    n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i == 0 ? "" : " ",
                          yoke_solver_text(solver->methods[i]));
  }
  yoke__xml_put(xml, "solver", words);
  if (solver->choice > 0) {
    yoke__xml_put(xml, "solverVariable", info->variables[solver->choice - 1].name);
  }
  if (solver->parts > 0) {
    yoke__xml_put(xml, "stepsVariable", info->variables[solver->parts - 1].name);
  }
  if (solver->step > 0) {
    yoke__xml_put_number(xml, "internalStep", solver->step);
  }
}

static void put_annotation(const yoke_export_model* m, yoke_xml_writer* xml) {
  const yoke_unit_info* info = m->unit.info;
  const bool is_2 = m->job->fmi == 2, is_linear = (info->flags & YOKE_UNIT_LINEAR) != 0;
  const bool is_sampled = (info->flags & YOKE_UNIT_SAMPLED) != 0;
  if (!is_linear && !is_sampled && info->solver.method == YOKE_SOLVER_UNKNOWN &&
      info->solver.choice == 0) {
    return;
  }
  yoke__xml_open(xml, is_2 ? "VendorAnnotations" : "Annotations");
  yoke__xml_open(xml, is_2 ? "Tool" : "Annotation");
  yoke__xml_put(xml, is_2 ? "name" : "type", is_2 ? "Yoke" : "org.yoke.unit");
  yoke__xml_open(xml, "YokeUnit");
  put_flag(xml, "linear", is_linear);
  if (is_sampled) {
    put_flag(xml, "sampled", true);
  }
  put_solver(m, xml);
  for (size_t i = 0; i < info->n_variables; i++) {
    if ((info->variables[i].flags & YOKE_VARIABLE_NONLINEAR) != 0) {
      yoke__xml_open(xml, "Nonlinear");
      yoke__xml_put(xml, "name", info->variables[i].name);
      yoke__xml_close(xml, "Nonlinear");
    }
  }
  yoke__xml_close(xml, "YokeUnit");
  yoke__xml_close(xml, is_2 ? "Tool" : "Annotation");
  yoke__xml_close(xml, is_2 ? "VendorAnnotations" : "Annotations");
}

// ---- the files

void yoke__export_describe(const yoke_export_model* model, const char* token,
                           yoke_xml_writer* xml) {
  yoke__xml_open(xml, "fmiModelDescription");
  put_head(model, token, xml);
  put_interface(model, xml);
  yoke__export_units(model, xml);
  put_types(model, xml);
  put_categories(xml);
  put_experiment(model->job, xml);
  if (model->job->fmi == 2) {
    put_annotation(model, xml);
  }
  put_variables(model, xml);
  put_structure(model, xml);
  if (model->job->fmi == 3) {
    put_annotation(model, xml);
  }
  yoke__xml_close(xml, "fmiModelDescription");
}

// contraction of a * b + c would change numbers between machines
void yoke__export_describe_build(const yoke_export_model* model, yoke_xml_writer* xml) {
  yoke__xml_open(xml, "fmiBuildDescription");
  yoke__xml_put(xml, "fmiVersion", "3.0");
  yoke__xml_open(xml, "BuildConfiguration");
  yoke__xml_put(xml, "modelIdentifier", model->identifier);
  yoke__xml_open(xml, "SourceFileSet");
  yoke__xml_put(xml, "language", "C11");
  yoke__xml_put(xml, "compilerOptions", "-ffp-contract=off");
  for (size_t i = 0; i < model->n_source_files; i++) {
    yoke__xml_open(xml, "SourceFile");
    yoke__xml_put(xml, "name", model->source_files[i]);
    yoke__xml_close(xml, "SourceFile");
  }
  yoke__xml_close(xml, "SourceFileSet");
  yoke__xml_open(xml, "Library");
  yoke__xml_put(xml, "name", "m");
  put_flag(xml, "external", true);
  yoke__xml_close(xml, "Library");
  yoke__xml_close(xml, "BuildConfiguration");
  yoke__xml_close(xml, "fmiBuildDescription");
}
