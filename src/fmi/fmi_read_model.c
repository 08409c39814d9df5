// What an FMU says about itself as a whole: version, names, interfaces with their capabilities, log categories,
// experiment.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "fmi/fmi_reader.h"

#define AT(name)   YOKE_FMI_AT_##name
#define KEEP(name) yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, name))  // "" if it is not given

// ---- the root

// 1, 2 or 3; 0: none of them.
static int major_version(const char* text) {
  const bool is_known =
      text[0] >= '1' && text[0] <= '3' && (text[1] == '\0' || text[1] == '.' || text[1] == '-');
  return is_known ? text[0] - '0' : 0;
}

// False: reported.
static bool read_version(yoke_fmi_reader* reader) {
  static const char* const exact[] = {"1.0", "2.0", "3.0"};
  const char* text = YOKE_FMI_VALUE(reader, fmiVersion);
  const yoke_place place = {reader->source, reader->line, 0};
  if (text == NULL) {
    yoke__error(reader->messages, place,
                "<fmiModelDescription> has no fmiVersion: 1.0, 2.0 or 3.0 expected [fmi-version]");
    return false;
  }
  reader->d->version = major_version(text);
  if (reader->d->version == 0) {
    yoke__error(reader->messages, place,
                "FMI version '%.40s' is not known; 1.0, 2.0 and 3.0 are [fmi-version]", text);
    return false;
  }
  const char* known = exact[reader->d->version - 1];
  if (strcmp(text, known) != 0) {
    YOKE_FMI_FAULT(reader, VERSION_MINOR, reader->line,
                   "FMI version '%s' is newer or older than %s", text, known);
  }
  reader->d->version_text = KEEP(fmiVersion);
  return true;
}

void yoke__fmi_open_root(yoke_fmi_reader* reader) {
  static const char* const conventions[] = {"flat", "structured", NULL};
  yoke_fmi_description* d = reader->d;
  if (!read_version(reader)) {
    reader->status = YOKE_BAD_INPUT;
    return;
  }
  d->model_name = KEEP(modelName);
  d->description = KEEP(description);
  d->author = KEEP(author);
  d->model_version = KEEP(version);
  d->copyright = KEEP(copyright);
  d->license = KEEP(license);
  d->generation_tool = KEEP(generationTool);
  d->generation_date = KEEP(generationDateAndTime);
  reader->identifier_1 = KEEP(modelIdentifier);
  d->is_naming_structured = yoke__fmi_word(reader, AT(variableNamingConvention), conventions) == 1;
  d->n_event_indicators =
      (size_t)yoke__fmi_integer(reader, AT(numberOfEventIndicators), 0, 0, UINT32_MAX);

  // the name of the token is the only thing that changed about it
  const yoke_fmi_attribute token = d->version == 3 ? AT(instantiationToken) : AT(guid);
  d->token = yoke__fmi_keep(reader, reader->values[token]);
  if (reader->values[token] == NULL) {
    YOKE_FMI_FAULT(reader, TOKEN_MISSING, reader->line, "there is no %s",
                   yoke__fmi_attribute_name(token));
  }
  if (d->model_name[0] == '\0') {
    YOKE_FMI_FAULT(reader, MODEL_NAME_MISSING, reader->line, "there is no modelName");
  }
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

static void read_identifier(yoke_fmi_reader* reader, const char* text, yoke_fmi_interface* to) {
  to->line = reader->line;
  to->model_identifier = "";
  if (text == NULL || text[0] == '\0') {
    YOKE_FMI_FAULT(reader, IDENTIFIER_MISSING, reader->line, "<%s> has no modelIdentifier",
                   reader->element);
    return;
  }
  if (!is_c_name(text)) {
    YOKE_FMI_FAULT(reader, IDENTIFIER_ODD, reader->line, "modelIdentifier '%s' is no name of C%s",
                   text, is_safe_name(text) ? "" : " and no name of a file");
  }
  if (is_safe_name(text)) {
    to->model_identifier = yoke__fmi_keep(reader, text);
  }
}

#define FLAG(name) yoke__fmi_flag(reader, AT(name), false)

// Attributes that the version does not have are not in its table, so that they are never given.
static void read_capabilities(yoke_fmi_reader* reader, yoke_fmi_interface* to) {
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
      (int)yoke__fmi_integer(reader, AT(maxOutputDerivativeOrder), 0, 0, 1000);
  to->can_run_asynchronously = FLAG(canRunAsynchronuously);
  const double step = yoke__fmi_number(reader, AT(fixedInternalStepSize), 0);
  to->fixed_internal_step = step > 0 && yoke__is_finite(step) ? step : 0;
  to->has_event_mode = FLAG(hasEventMode);
  to->might_return_early = FLAG(mightReturnEarlyFromDoStep);
  to->can_return_early = FLAG(canReturnEarlyAfterIntermediateUpdate);
  to->has_intermediate_update = FLAG(providesIntermediateUpdate);
  to->has_evaluate_discrete_states = FLAG(providesEvaluateDiscreteStates);

  to->completed_step_not_needed = FLAG(completedIntegratorStepNotNeeded);
  to->needs_completed_step = FLAG(needsCompletedIntegratorStep);
}

void yoke__fmi_open_interface(yoke_fmi_reader* reader) {
  yoke_fmi_interface* const all[] = {&reader->d->co_simulation, &reader->d->model_exchange,
                                     &reader->d->scheduled_execution};
  yoke_fmi_interface* own = all[reader->kind];
  reader->interface_now = NULL;
  if (own->is_given) {
    YOKE_FMI_FAULT(reader, INTERFACE_REPEATED, reader->line, "there is more than one <%s>",
                   reader->element);
    return;
  }
  reader->interface_now = own;
  own->is_given = true;
  read_capabilities(reader, own);
  read_identifier(reader, YOKE_FMI_VALUE(reader, modelIdentifier), own);
}

// The attribute `name` into a list of names.
static void add_name(yoke_fmi_reader* reader, yoke_fmi_list* list) {
  *(const char**)yoke__fmi_list_add(reader, list, sizeof(const char*)) = KEEP(name);
}

void yoke__fmi_open_file(yoke_fmi_reader* reader) {
  if (reader->interface_now != NULL && YOKE_FMI_VALUE(reader, name) != NULL) {
    add_name(reader, &reader->files);
  }
}

void yoke__fmi_close_interface(yoke_fmi_reader* reader) {
  yoke_fmi_interface* now = reader->interface_now;
  if (now != NULL && reader->files.n > 0) {
    now->n_source_files = reader->files.n;
    now->source_files = yoke__fmi_list_take(reader, &reader->files, sizeof(char*));
  }
}

// FMI 1.0: <Implementation> makes it a co-simulation FMU; kind 1 is <CoSimulation_Tool> inside.
void yoke__fmi_open_implementation(yoke_fmi_reader* reader) {
  yoke_fmi_interface* to = &reader->d->co_simulation;
  if (reader->kind == 1) {
    to->needs_execution_tool = true;
  } else if (!to->is_given) {
    to->is_given = true;
    reader->element = "fmiModelDescription";  // where the identifier stands in this version
    read_identifier(reader, reader->identifier_1, to);
  }
}

void yoke__fmi_open_capabilities(yoke_fmi_reader* reader) {
  read_capabilities(reader, &reader->d->co_simulation);
}

// ---- log categories, experiment

void yoke__fmi_open_category(yoke_fmi_reader* reader) {
  if (YOKE_FMI_VALUE(reader, name) != NULL) {
    add_name(reader, &reader->categories);
  }
}

// A finite number of the experiment; false: not given or useless.
static bool read_time(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, bool is_positive,
                      double* to) {
  const double value = yoke__fmi_number(reader, attribute, YOKE_FMI_NAN);
  if (reader->values[attribute] == NULL || isnan(value)) {
    return false;
  }
  if (!yoke__is_finite(value) || (is_positive && !(value > 0))) {
    YOKE_FMI_FAULT(reader, EXPERIMENT_BAD, reader->line,
                   "%s=\"%s\" of the default experiment makes no sense",
                   yoke__fmi_attribute_name(attribute), reader->values[attribute]);
    return false;
  }
  *to = value;
  return true;
}

void yoke__fmi_open_experiment(yoke_fmi_reader* reader) {
  yoke_fmi_experiment* to = &reader->d->experiment;
  to->has_start = read_time(reader, AT(startTime), false, &to->start);
  to->has_stop = read_time(reader, AT(stopTime), false, &to->stop);
  to->has_tolerance = read_time(reader, AT(tolerance), true, &to->tolerance);
  to->has_step = read_time(reader, AT(stepSize), true, &to->step);
  if (to->has_stop && !(to->stop > (to->has_start ? to->start : 0))) {
    to->has_stop = false;
    YOKE_FMI_FAULT(reader, EXPERIMENT_BAD, reader->line,
                   "the default experiment stops before it starts");
  }
}

// ---- what Yoke's own exports say

void yoke__fmi_open_own(yoke_fmi_reader* reader) {
  yoke_fmi_own* to = &reader->d->own;
  const double step = yoke__fmi_number(reader, AT(internalStep), 0);
  to->is_sampled = FLAG(sampled);
  to->is_linear = FLAG(linear);
  to->internal_step = step > 0 && yoke__is_finite(step) ? step : 0;
  to->solver = KEEP(solver);
  to->solver_variable = KEEP(solverVariable);
  to->steps_variable = KEEP(stepsVariable);
}

void yoke__fmi_open_nonlinear(yoke_fmi_reader* reader) {
  add_name(reader, &reader->nonlinear);
}

void yoke__fmi_close_own(yoke_fmi_reader* reader) {
  yoke_fmi_own* to = &reader->d->own;
  to->n_nonlinear = reader->nonlinear.n;
  to->nonlinear = yoke__fmi_list_take(reader, &reader->nonlinear, sizeof(char*));
}
