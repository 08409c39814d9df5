// What an FMU says about itself as a whole: version, names, interfaces with their capabilities, log categories,
// experiment.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "fmi/fmi_reader.h"

// The text of an attribute, kept; "" if it is not given.
static yoke_status keep(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, const char** to) {
  const char* text = reader->values[attribute];
  *to = text == NULL ? "" : yoke__fmi_keep(reader, text);
  return *to == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

#define AT(name) YOKE_FMI_AT_##name

// ---- the root

// 1, 2 or 3; 0: none of them.
static int major_version(const char* text) {
  const bool is_known =
      text[0] >= '1' && text[0] <= '3' && (text[1] == '\0' || text[1] == '.' || text[1] == '-');
  return is_known ? text[0] - '0' : 0;
}

static yoke_status read_version(yoke_fmi_reader* reader, int line) {
  static const char* const exact[] = {"1.0", "2.0", "3.0"};
  const char* text = YOKE_FMI_VALUE(reader, fmiVersion);
  const yoke_place place = {reader->source, line, 0};
  if (text == NULL) {
    yoke__error(reader->messages, place,
                "<fmiModelDescription> has no fmiVersion: 1.0, 2.0 or 3.0 expected [fmi-version]");
    return YOKE_BAD_INPUT;
  }
  reader->d->version = major_version(text);
  if (reader->d->version == 0) {
    yoke__error(reader->messages, place,
                "FMI version '%.40s' is not known; 1.0, 2.0 and 3.0 are [fmi-version]", text);
    return YOKE_BAD_INPUT;
  }
  const char* known = exact[reader->d->version - 1];
  if (strcmp(text, known) != 0) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_VERSION_MINOR, line, 0,
                         "FMI version '%s' is newer or older than %s", text, known);
  }
  return keep(reader, AT(fmiVersion), &reader->d->version_text);
}

yoke_status yoke__fmi_open_root(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  static const char* const conventions[] = {"flat", "structured"};
  yoke_fmi_description* d = reader->d;
  YOKE_TRY(read_version(reader, line));
  YOKE_TRY(keep(reader, AT(modelName), &d->model_name));
  YOKE_TRY(keep(reader, AT(description), &d->description));
  YOKE_TRY(keep(reader, AT(author), &d->author));
  YOKE_TRY(keep(reader, AT(version), &d->model_version));
  YOKE_TRY(keep(reader, AT(copyright), &d->copyright));
  YOKE_TRY(keep(reader, AT(license), &d->license));
  YOKE_TRY(keep(reader, AT(generationTool), &d->generation_tool));
  YOKE_TRY(keep(reader, AT(generationDateAndTime), &d->generation_date));
  YOKE_TRY(keep(reader, AT(modelIdentifier), &reader->identifier_1));
  d->is_naming_structured = yoke__fmi_word(reader, AT(variableNamingConvention), conventions,
                                           YOKE_COUNT(conventions), line) == 1;
  d->n_event_indicators =
      (size_t)yoke__fmi_integer(reader, AT(numberOfEventIndicators), 0, 0, UINT32_MAX, line);

  // the name of the token is the only thing that changed about it
  const yoke_fmi_attribute token = d->version == 3 ? AT(instantiationToken) : AT(guid);
  YOKE_TRY(keep(reader, token, &d->token));
  if (reader->values[token] == NULL) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_TOKEN_MISSING, line, 0, "there is no %s",
                         yoke__fmi_attribute_name(token));
  }
  if (d->model_name[0] == '\0') {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_MODEL_NAME_MISSING, line, 0,
                         "there is no modelName");
  }
  return YOKE_OK;
}

// ---- interfaces

// A name of a file in one folder, whatever the folder is.
static bool is_safe_name(const char* text) {
  if (text[0] == '.' || strlen(text) > 200) {
    return false;
  }
  for (; *text != '\0'; text++) {
    if (*text == '/' || *text == '\\' || (unsigned char)*text < 0x20) {
      return false;
    }
  }
  return true;
}

static bool is_c_name(const char* text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return (text[0] < '0' || text[0] > '9') && text[strspn(text, letters)] == '\0';
}

static yoke_status read_identifier(yoke_fmi_reader* reader, const char* text, int line,
                                   yoke_fmi_interface* to) {
  to->line = line;
  to->model_identifier = "";
  if (text == NULL || text[0] == '\0') {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_IDENTIFIER_MISSING, line, 0,
                         "<%s> has no modelIdentifier", reader->element);
    return YOKE_OK;
  }
  if (!is_c_name(text)) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_IDENTIFIER_ODD, line, 0,
                         "modelIdentifier '%s' is no name of C%s", text,
                         is_safe_name(text) ? "" : " and no name of a file");
  }
  if (is_safe_name(text)) {
    to->model_identifier = yoke__fmi_keep(reader, text);
  }
  return to->model_identifier == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

#define FLAG(name) yoke__fmi_flag(reader, AT(name), false, line)

// Attributes that the version does not have are not in its table, so that they are never given.
static void read_capabilities(yoke_fmi_reader* reader, int line, yoke_fmi_interface* to) {
  to->needs_execution_tool |= FLAG(needsExecutionTool);
  to->can_be_instantiated_only_once = FLAG(canBeInstantiatedOnlyOncePerProcess);
  to->can_get_and_set_state = FLAG(canGetAndSetFMUstate) || FLAG(canGetAndSetFMUState);
  to->can_serialise_state = FLAG(canSerializeFMUstate) || FLAG(canSerializeFMUState);
  to->has_directional_derivatives =
      FLAG(providesDirectionalDerivative) || FLAG(providesDirectionalDerivatives);
  to->has_adjoint_derivatives = FLAG(providesAdjointDerivatives);
  to->has_element_dependencies = FLAG(providesPerElementDependencies);

  to->can_handle_variable_step = FLAG(canHandleVariableCommunicationStepSize);
  to->can_interpolate_inputs = FLAG(canInterpolateInputs);
  to->max_output_derivative_order =
      (int)yoke__fmi_integer(reader, AT(maxOutputDerivativeOrder), 0, 0, 1000, line);
  to->can_run_asynchronously = FLAG(canRunAsynchronuously);
  const double step = yoke__fmi_number(reader, AT(fixedInternalStepSize), 0, line);
  to->fixed_internal_step = step > 0 && yoke__is_finite(step) ? step : 0;
  to->has_event_mode = FLAG(hasEventMode);
  to->might_return_early = FLAG(mightReturnEarlyFromDoStep);
  to->can_return_early = FLAG(canReturnEarlyAfterIntermediateUpdate);
  to->has_intermediate_update = FLAG(providesIntermediateUpdate);
  to->has_evaluate_discrete_states = FLAG(providesEvaluateDiscreteStates);

  to->completed_step_not_needed = FLAG(completedIntegratorStepNotNeeded);
  to->needs_completed_step = FLAG(needsCompletedIntegratorStep);
}

yoke_status yoke__fmi_open_interface(yoke_fmi_reader* reader, int kind, int line) {
  yoke_fmi_interface* const all[] = {&reader->d->co_simulation, &reader->d->model_exchange,
                                     &reader->d->scheduled_execution};
  reader->interface_now = NULL;
  if (all[kind]->is_given) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_INTERFACE_REPEATED, line, 0,
                         "there is more than one <%s>", reader->element);
    return YOKE_OK;
  }
  reader->interface_now = all[kind];
  all[kind]->is_given = true;
  read_capabilities(reader, line, all[kind]);
  return read_identifier(reader, YOKE_FMI_VALUE(reader, modelIdentifier), line, all[kind]);
}

yoke_status yoke__fmi_open_file(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  (void)line;
  if (reader->interface_now == NULL || YOKE_FMI_VALUE(reader, name) == NULL) {
    return YOKE_OK;
  }
  const char** name = yoke__fmi_list_add(&reader->files, sizeof *name);
  return name == NULL ? YOKE_NO_MEMORY : keep(reader, AT(name), name);
}

yoke_status yoke__fmi_close_interface(yoke_fmi_reader* reader) {
  yoke_fmi_interface* now = reader->interface_now;
  if (now == NULL || reader->files.n == 0) {
    return YOKE_OK;
  }
  now->n_source_files = reader->files.n;
  now->source_files = yoke__fmi_list_take(&reader->files, sizeof(char*), &reader->d->arena);
  return now->source_files == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// FMI 1.0: <Implementation> makes it a co-simulation FMU; kind 1 is <CoSimulation_Tool> inside.
yoke_status yoke__fmi_open_implementation(yoke_fmi_reader* reader, int kind, int line) {
  yoke_fmi_interface* to = &reader->d->co_simulation;
  if (kind == 1) {
    to->needs_execution_tool = true;
    return YOKE_OK;
  }
  if (to->is_given) {
    return YOKE_OK;
  }
  to->is_given = true;
  reader->element = "fmiModelDescription";  // where the identifier stands in this version
  return read_identifier(reader, reader->identifier_1, line, to);
}

yoke_status yoke__fmi_open_capabilities(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  read_capabilities(reader, line, &reader->d->co_simulation);
  return YOKE_OK;
}

// ---- log categories, experiment

yoke_status yoke__fmi_open_category(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  (void)line;
  if (YOKE_FMI_VALUE(reader, name) == NULL) {
    return YOKE_OK;
  }
  const char** name = yoke__fmi_list_add(&reader->categories, sizeof *name);
  return name == NULL ? YOKE_NO_MEMORY : keep(reader, AT(name), name);
}

// A finite number of the experiment; false: not given or useless.
static bool read_time(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, bool is_positive,
                      int line, double* to) {
  const double value = yoke__fmi_number(reader, attribute, YOKE_FMI_NAN, line);
  if (reader->values[attribute] == NULL || isnan(value)) {
    return false;
  }
  if (!yoke__is_finite(value) || (is_positive && !(value > 0))) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_EXPERIMENT_BAD, line, 0,
                         "%s=\"%s\" of the default experiment makes no sense",
                         yoke__fmi_attribute_name(attribute), reader->values[attribute]);
    return false;
  }
  *to = value;
  return true;
}

yoke_status yoke__fmi_open_experiment(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  yoke_fmi_experiment* to = &reader->d->experiment;
  to->has_start = read_time(reader, AT(startTime), false, line, &to->start);
  to->has_stop = read_time(reader, AT(stopTime), false, line, &to->stop);
  to->has_tolerance = read_time(reader, AT(tolerance), true, line, &to->tolerance);
  to->has_step = read_time(reader, AT(stepSize), true, line, &to->step);
  if (to->has_stop && !(to->stop > (to->has_start ? to->start : 0))) {
    to->has_stop = false;
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_EXPERIMENT_BAD, line, 0,
                         "the default experiment stops before it starts");
  }
  return YOKE_OK;
}

// ---- what Yoke's own exports say

yoke_status yoke__fmi_open_own(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  yoke_fmi_own* to = &reader->d->own;
  const double step = yoke__fmi_number(reader, AT(internalStep), 0, line);
  to->is_linear = FLAG(linear);
  to->internal_step = step > 0 && yoke__is_finite(step) ? step : 0;
  YOKE_TRY(keep(reader, AT(solver), &to->solver));
  YOKE_TRY(keep(reader, AT(solverVariable), &to->solver_variable));
  return keep(reader, AT(stepsVariable), &to->steps_variable);
}

yoke_status yoke__fmi_open_nonlinear(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  (void)line;
  const char** name = yoke__fmi_list_add(&reader->nonlinear, sizeof *name);
  return name == NULL ? YOKE_NO_MEMORY : keep(reader, AT(name), name);
}

yoke_status yoke__fmi_close_own(yoke_fmi_reader* reader) {
  yoke_fmi_own* to = &reader->d->own;
  to->n_nonlinear = reader->nonlinear.n;
  to->nonlinear = yoke__fmi_list_take(&reader->nonlinear, sizeof(char*), &reader->d->arena);
  return to->nonlinear == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}
