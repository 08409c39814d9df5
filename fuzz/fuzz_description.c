// Fuzz target: any bytes as modelDescription.xml, then as terminalsAndIcons.xml of the same FMU. What is accepted keeps
// every promise of fmi_description.h.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_description.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(bool is_true) {
  if (!is_true) {
    abort();
  }
}

static void use_variable(const yoke_fmi_description* d, size_t i) {
  const yoke_fmi_variable* v = &d->variables[i];
  double reals[3];
  int64_t integers[3];
  unsigned char raw[16];
  size_t n = 0;
  demand(v->name[0] != '\0' && v->description != NULL && v->unit != NULL);
  demand(yoke__fmi_find(d, v->name) == i);
  demand(yoke__fmi_find_reference(d, v->reference) <= i);
  demand(v->type < YOKE_FMI_N_TYPES && v->causality <= YOKE_FMI_INDEPENDENT);
  demand(v->variability <= YOKE_FMI_CONTINUOUS && v->initial <= YOKE_FMI_CALCULATED);
  demand(v->type_definition <= d->n_typedefs && v->derivative_of <= d->n_variables);
  demand(v->alias_of <= i);
  demand(v->n_dimensions == 0 || v->first_dimension + v->n_dimensions <= d->n_dimensions);
  for (size_t j = 0; j < v->n_dimensions; j++) {
    const yoke_fmi_dimension* dimension = &d->dimensions[v->first_dimension + j];
    demand(dimension->start > 0);
    demand(dimension->variable == YOKE_FMI_NONE || dimension->variable < d->n_variables);
  }
  demand(yoke__fmi_size(d, v) > 0);
  (void)yoke__fmi_items(d, v, &n);
  (void)yoke__fmi_start_real(v, reals, 3);
  (void)yoke__fmi_start_integer(v, integers, 3);
  (void)yoke__fmi_start_binary(v, raw, sizeof raw);
}

static void use_list(const yoke_fmi_description* d, const yoke_fmi_unknowns* list) {
  for (size_t i = 0; i < list->n; i++) {
    const yoke_fmi_unknown* unknown = &list->items[i];
    demand(unknown->variable < d->n_variables && unknown->first + unknown->n <= d->n_dependencies);
    for (size_t j = unknown->first; j < unknown->first + unknown->n; j++) {
      demand(d->dependencies[j] < d->n_variables);
      demand(d->dependency_kinds[j] <= YOKE_FMI_DEPENDENCY_DISCRETE);
    }
  }
}

static void use(const yoke_fmi_description* d) {
  size_t n_outputs = 0, n_aliases = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    const yoke_fmi_variable* v = &d->variables[i];
    use_variable(d, i);
    n_outputs += v->causality == YOKE_FMI_OUTPUT;
    n_aliases += v->causality == YOKE_FMI_OUTPUT && v->alias_of != 0;
  }
  // every output is listed, those aside that are another name of one
  demand(d->outputs.n <= n_outputs && d->outputs.n + n_aliases >= n_outputs);
  use_list(d, &d->outputs);
  use_list(d, &d->states_derivatives);
  use_list(d, &d->initial_unknowns);
  use_list(d, &d->event_indicators);
  use_list(d, &d->clocked_states);
  for (size_t i = 0; i < d->n_clocked; i++) {
    demand(d->variables[d->clocked[i].clock].type == YOKE_FMI_CLOCK);
  }
  demand(d->version >= 1 && d->version <= 3 && d->token != NULL && d->model_name != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  yoke_messages messages = {0};
  yoke_fmi_description* d = NULL;
  const char* text = n == 0 ? "" : (const char*)bytes;
  const yoke_status status = yoke__fmi_read(text, n, "fuzz.fmu", &messages, &d);
  demand((status == YOKE_OK) == (d != NULL));
  demand((status == YOKE_BAD_INPUT) == (messages.n_errors > 0));
  if (d != NULL) {
    use(d);
  } else {
    // the same bytes as terminals of a small FMU
    static const char small[] =
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
        "<CoSimulation modelIdentifier=\"m\"/><ModelVariables><Float64 name=\"u\" "
        "valueReference=\"0\" causality=\"independent\"/></ModelVariables><ModelStructure/>"
        "</fmiModelDescription>";
    yoke_messages ignored = {0};
    demand(yoke__fmi_read(small, sizeof small - 1, "small.fmu", &ignored, &d) == YOKE_OK);
    demand(yoke__fmi_read_terminals(d, text, n, "terminals", &ignored) == YOKE_OK);
    for (size_t i = 0; i < d->n_terminals; i++) {
      demand(d->terminals[i].parent == YOKE_FMI_NONE || d->terminals[i].parent < i);
    }
    demand(ignored.n_errors == 0);
    yoke__messages_free(&ignored);
  }
  char out[4096];
  yoke__messages_format(&messages, out, sizeof out);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
  return 0;
}
