// An FMU: everything that its description holds, and what a run would use, as far as it can be known without loading the
// binary.
#include <stdlib.h>
#include <string.h>

#include "api/api_describe.h"
#include "fmi/fmi_library.h"
#include "fmi/fmi_package.h"

#define MAX_PATH    4200
#define MAX_MISSING 64  // libraries that are listed

// What a run would use.
typedef struct view {
  yoke_fmi_package* package;
  const yoke_fmi_description* d;
  const yoke_fmi_interface* chosen;  // NULL: nothing that Yoke can run
  bool is_model_exchange, is_scheduled;
  yoke_arena arena;
  const char* binary;                // below binaries/, NULL: none for this machine
  char obstacle[512];                // why it cannot be run here; "" if nothing is known against it
  const char* missing[MAX_MISSING];  // libraries that this machine lacks
  size_t n_missing;
  bool* is_state;   // per variable
  size_t n_states;  // numbers
} view;

// ---- what a run would use

static void choose(view* v) {
  const yoke_fmi_description* d = v->d;
  // a description without any interface is refused when it is read
  v->chosen = d->co_simulation.is_given    ? &d->co_simulation
              : d->model_exchange.is_given ? &d->model_exchange
                                           : &d->scheduled_execution;
  v->is_model_exchange = v->chosen == &d->model_exchange;
  v->is_scheduled = v->chosen == &d->scheduled_execution;
}

static void add_missing(void* to, const char* name) {
  view* v = to;
  const char* kept = yoke__arena_text(&v->arena, name, strlen(name));
  if (kept != NULL && v->n_missing < MAX_MISSING) {
    v->missing[v->n_missing++] = kept;
  }
}

// The binary of the chosen interface, looked at without loading it.
static void look_at_binary(view* v) {
  char path[MAX_PATH], kind[128] = "";
  yoke_messages faults = {0};
  if (yoke__fmi_unpack_binaries(v->package, &faults) < 0 ||
      yoke__fmi_binary_path(v->package, v->chosen, path, sizeof path) < 0) {
    snprintf(v->obstacle, sizeof v->obstacle, "%s",
             faults.n == 0 ? "no binary of this interface" : faults.all[0].text);
    yoke__messages_free(&faults);
    return;
  }
  yoke__messages_free(&faults);
  const char* below = strstr(path + strlen(v->package->directory), "binaries/");
  below = below == NULL ? path : below;
  v->binary = yoke__arena_text(&v->arena, below, strlen(below));

  FILE* file = fopen(path, "rb");
  if (file != NULL && !yoke__fmi_library_is_native(file, kind, sizeof kind)) {
    snprintf(v->obstacle, sizeof v->obstacle, "its binary cannot be loaded here: it is %s", kind);
  } else if (file != NULL) {
    yoke__fmi_library_missing(path, add_missing, v);
  }
  if (file != NULL) {
    fclose(file);
  }
}

static yoke_status mark_states(view* v) {
  const yoke_fmi_description* d = v->d;
  v->is_state = calloc(d->n_variables + 1, sizeof *v->is_state);
  if (v->is_state == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < d->states_derivatives.n; i++) {
    const yoke_fmi_variable* x = &d->variables[d->states_derivatives.items[i].variable];
    if (x->derivative_of != 0) {
      v->is_state[x->derivative_of - 1] = true;
      v->n_states += yoke__fmi_size(d, x);
    }
  }
  return YOKE_OK;
}

// ---- interfaces

static void describe_interface(yoke_json* json, const char* key, const yoke_fmi_interface* i) {
  if (!i->is_given) {
    return;
  }
  yoke__json_begin_object(json, key);
  yoke__json_string(json, "model_identifier", i->model_identifier);
  yoke__json_boolean(json, "needs_execution_tool", i->needs_execution_tool);
  yoke__json_boolean(json, "only_once_per_process", i->can_be_instantiated_only_once);
  yoke__json_boolean(json, "can_save_state", i->can_get_and_set_state);
  yoke__json_boolean(json, "can_serialise_state", i->can_serialise_state);
  yoke__json_boolean(json, "directional_derivatives", i->has_directional_derivatives);
  yoke__json_boolean(json, "adjoint_derivatives", i->has_adjoint_derivatives);
  yoke__json_boolean(json, "variable_step", i->can_handle_variable_step);
  yoke__json_boolean(json, "input_derivatives", i->can_interpolate_inputs);
  yoke__json_integer(json, "output_derivative_order", i->max_output_derivative_order);
  yoke__json_number(json, "fixed_internal_step", i->fixed_internal_step);
  yoke__json_boolean(json, "event_mode", i->has_event_mode);
  yoke__json_boolean(json, "might_return_early", i->might_return_early);
  yoke__json_boolean(json, "intermediate_update", i->has_intermediate_update);
  yoke__json_boolean(json, "in_background", i->can_run_asynchronously);
  yoke__json_end_object(json);
}

static void describe_experiment(yoke_json* json, const yoke_fmi_experiment* e) {
  yoke__json_begin_object(json, "experiment");
  if (e->has_start) {
    yoke__json_number(json, "start", e->start);
  }
  if (e->has_stop) {
    yoke__json_number(json, "stop", e->stop);
  }
  if (e->has_step) {
    yoke__json_number(json, "step", e->step);
  }
  if (e->has_tolerance) {
    yoke__json_number(json, "tolerance", e->tolerance);
  }
  yoke__json_end_object(json);
}

// ---- variables

// The name of the item that the start value means, or NULL.
static const char* start_item(const yoke_fmi_description* d, const yoke_fmi_variable* x) {
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(d, x, &n);
  int64_t value = 0;
  if (x->start == NULL || x->n_dimensions > 0 || !yoke__fmi_start_integer(x, &value, 1)) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    if (items[i].value == value) {
      return items[i].name;
    }
  }
  return NULL;
}

static void describe_dimensions(const yoke_fmi_description* d, const yoke_fmi_variable* x,
                                yoke_json* json) {
  yoke__json_begin_array(json, "dimensions");
  for (size_t i = 0; i < x->n_dimensions; i++) {
    const yoke_fmi_dimension* dimension = &d->dimensions[x->first_dimension + i];
    if (dimension->variable == YOKE_FMI_NONE) {
      yoke__json_integer(json, NULL, (int64_t)dimension->start);
    } else {
      yoke__json_string(json, NULL, d->variables[dimension->variable].name);
    }
  }
  yoke__json_end_array(json);
}

static void describe_variable(const view* v, size_t index, yoke_json* json) {
  const yoke_fmi_description* d = v->d;
  const yoke_fmi_variable* x = &d->variables[index];
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", x->name);
  yoke__json_integer(json, "reference", x->reference);
  yoke__json_string(json, "type", yoke__fmi_type_word(d->version, (yoke_fmi_type)x->type));
  yoke__json_string(json, "causality", yoke__fmi_causality_name((yoke_fmi_causality)x->causality));
  yoke__json_string(json, "variability",
                    yoke__fmi_variability_name((yoke_fmi_variability)x->variability));
  if (x->initial != YOKE_FMI_NO_INITIAL) {
    yoke__json_string(json, "initial", yoke__fmi_initial_name((yoke_fmi_initial)x->initial));
  }
  yoke__json_string(json, "unit", x->unit);
  yoke__json_string(json, "start", x->start);
  const char* item = start_item(d, x);
  if (item != NULL) {
    yoke__json_string(json, "start_item", item);
  }
  if (x->n_dimensions > 0) {
    describe_dimensions(d, x, json);
  }
  if (x->type_definition != 0) {
    yoke__json_string(json, "declared_type", d->typedefs[x->type_definition - 1].name);
  }
  if (v->is_state[index]) {
    yoke__json_boolean(json, "is_state", true);
  }
  if (x->derivative_of != 0) {
    yoke__json_string(json, "derivative_of", d->variables[x->derivative_of - 1].name);
  }
  if (x->alias_of != 0) {
    yoke__json_string(json, "alias_of", d->variables[x->alias_of - 1].name);
  }
  yoke__json_string(json, "description", x->description);
  yoke__json_end_object(json);
}

static void describe_enumerations(const yoke_fmi_description* d, yoke_json* json) {
  yoke__json_begin_array(json, "enumerations");
  for (size_t i = 0; i < d->n_typedefs; i++) {
    const yoke_fmi_typedef* type = &d->typedefs[i];
    if (type->type != YOKE_FMI_ENUMERATION) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", type->name);
    yoke__json_begin_array(json, "items");
    for (size_t j = 0; j < type->n_items; j++) {
      yoke__json_begin_object(json, NULL);
      yoke__json_string(json, "name", type->items[j].name);
      yoke__json_integer(json, "value", type->items[j].value);
      yoke__json_string(json, "description", type->items[j].description);
      yoke__json_end_object(json);
    }
    yoke__json_end_array(json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

// ---- clocks

static void describe_clocked(const yoke_fmi_description* d, size_t clock, yoke_json* json) {
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; i < d->n_clocked; i++) {
    if (d->clocked[i].clock == clock) {
      yoke__json_string(json, NULL, d->variables[d->clocked[i].variable].name);
    }
  }
  yoke__json_end_array(json);
}

// "interval" is missing where the file does not say it: it is the FMU's or another unit's
static void describe_clocks(const yoke_fmi_description* d, yoke_json* json) {
  yoke__json_begin_array(json, "clocks");
  for (size_t i = 0; i < d->n_clocks; i++) {
    const yoke_fmi_clock* c = &d->clocks[i];
    const yoke_fmi_variable* x = &d->variables[c->variable];
    const double resolution = (double)c->resolution;
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", x->name);
    yoke__json_string(json, "causality",
                      yoke__fmi_causality_name((yoke_fmi_causality)x->causality));
    yoke__json_string(json, "ticks", yoke__fmi_interval_words[c->interval]);
    if (c->has_counter) {
      yoke__json_number(json, "interval", (double)c->interval_counter / resolution);
      yoke__json_number(json, "shift", (double)c->shift_counter / resolution);
    } else if (!isnan(c->interval_decimal)) {
      yoke__json_number(json, "interval", c->interval_decimal);
      yoke__json_number(json, "shift", c->shift_decimal);
    }
    if (x->causality == YOKE_FMI_INPUT) {
      yoke__json_integer(json, "priority", (int64_t)c->priority);
    }
    describe_clocked(d, c->variable, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

// ---- structure

// "inputs" is missing where the file does not say: the output may depend on all of them
static void describe_feedthrough(const yoke_fmi_description* d, yoke_json* json) {
  yoke__json_begin_array(json, "feedthrough");
  for (size_t i = 0; i < d->outputs.n; i++) {
    const yoke_fmi_unknown* output = &d->outputs.items[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "output", d->variables[output->variable].name);
    yoke__json_boolean(json, "is_known", output->has_dependencies);
    if (output->has_dependencies) {
      yoke__json_begin_array(json, "inputs");
      for (size_t j = output->first; j < output->first + output->n; j++) {
        const yoke_fmi_variable* v = &d->variables[d->dependencies[j]];
        if (v->causality == YOKE_FMI_INPUT) {
          yoke__json_string(json, NULL, v->name);
        }
      }
      yoke__json_end_array(json);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void describe_terminals(const yoke_fmi_description* d, yoke_json* json) {
  yoke__json_begin_array(json, "terminals");
  for (size_t i = 0; i < d->n_terminals; i++) {
    const yoke_fmi_terminal* t = &d->terminals[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", t->name);
    if (t->parent != YOKE_FMI_NONE) {
      yoke__json_string(json, "inside", d->terminals[t->parent].name);
    }
    yoke__json_string(json, "matching_rule", t->matching_rule);
    yoke__json_string(json, "kind", t->kind);
    yoke__json_string(json, "description", t->description);
    yoke__json_begin_array(json, "members");
    for (size_t j = 0; j < t->n_members; j++) {
      yoke__json_begin_object(json, NULL);
      yoke__json_string(json, "variable", t->members[j].variable);
      yoke__json_string(json, "member", t->members[j].member);
      yoke__json_string(json, "kind", t->members[j].kind);
      yoke__json_end_object(json);
    }
    yoke__json_end_array(json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

// ---- the whole

// Its outputs can be read again with new inputs by a short step that is taken back.
static bool can_try_steps(const view* v) {
  return !v->is_model_exchange && v->d->version > 1 && v->chosen->can_get_and_set_state &&
         v->chosen->can_handle_variable_step && !(v->chosen->fixed_internal_step > 0);
}

static void describe_use(const view* v, yoke_json* json) {
  yoke__json_begin_object(json, "use");
  yoke__json_boolean(json, "can_be_run", v->obstacle[0] == '\0' && v->n_missing == 0);
  if (v->obstacle[0] != '\0') {
    yoke__json_string(json, "obstacle", v->obstacle);
  }
  yoke__describe_texts(v->missing, v->n_missing, "missing_libraries", json);
  if (v->chosen != NULL) {
    yoke__json_string(json, "interface",
                      v->is_model_exchange ? "model exchange"
                      : v->is_scheduled    ? "scheduled execution"
                                           : "co-simulation");
    yoke__json_string(json, "binary", v->binary);
    yoke__json_boolean(json, "rollback", v->chosen->can_get_and_set_state);
    yoke__json_boolean(json, "directional_derivatives", v->chosen->has_directional_derivatives);
    yoke__json_boolean(json, "event_mode", v->is_model_exchange || v->chosen->has_event_mode);
    yoke__json_boolean(json, "trial_steps", can_try_steps(v));
    yoke__json_boolean(json, "has_both",
                       v->d->version > 1 && v->d->co_simulation.is_given &&
                           v->d->model_exchange.is_given);
  }
  yoke__json_end_object(json);
}

static void describe_package(const view* v, const yoke_messages* messages, yoke_json* json) {
  const yoke_fmi_description* d = v->d;
  yoke__json_begin_document(json, "fmu");
  yoke__json_string(json, "name", d->model_name);
  yoke__json_string(json, "kind", "fmu");
  yoke__json_string(json, "fmi_version", d->version_text);
  yoke__json_string(json, "file", v->package->path);
  yoke__json_integer(json, "file_size", (int64_t)v->package->file_size);
  yoke__json_string(json, "description", d->description);
  yoke__json_string(json, "model_version", d->model_version);
  yoke__json_string(json, "author", d->author);
  yoke__json_string(json, "copyright", d->copyright);
  yoke__json_string(json, "license", d->license);
  yoke__json_string(json, "tool", d->generation_tool);
  yoke__json_string(json, "date", d->generation_date);
  yoke__json_string(json, "token", d->token);
  yoke__describe_texts(v->package->platforms, v->package->n_platforms, "platforms", json);
  yoke__json_string(json, "this_platform", yoke__fmi_platform(d->version));
  yoke__json_boolean(json, "has_sources", v->package->has_sources);
  yoke__json_boolean(json, "has_resources", v->package->has_resources);
  yoke__json_boolean(json, "has_documentation", v->package->has_documentation);
  yoke__json_begin_object(json, "interfaces");
  describe_interface(json, "co_simulation", &d->co_simulation);
  describe_interface(json, "model_exchange", &d->model_exchange);
  describe_interface(json, "scheduled_execution", &d->scheduled_execution);
  yoke__json_end_object(json);
  describe_use(v, json);
  describe_experiment(json, &d->experiment);
  yoke__describe_texts(d->log_categories, d->n_log_categories, "log_categories", json);
  yoke__json_integer(json, "states", (int64_t)v->n_states);
  yoke__json_integer(json, "event_indicators", (int64_t)d->n_event_indicators);
  describe_enumerations(d, json);
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; i < d->n_variables; i++) {
    describe_variable(v, i, json);
  }
  yoke__json_end_array(json);
  describe_clocks(d, json);
  describe_feedthrough(d, json);
  describe_terminals(d, json);
  yoke__describe_messages(messages, json);
  yoke__json_end_object(json);
}

yoke_status yoke__describe_fmu(const char* path, const yoke_sink* sink, yoke_json* json) {
  yoke_messages messages = {0};
  view v = {.package = NULL};
  yoke_status status = yoke__fmi_open(path, &messages, &v.package);
  if (status < 0) {
    yoke__messages_send(&messages, sink);
    yoke__messages_free(&messages);
    return status;
  }
  v.d = v.package->description;
  choose(&v);
  status = mark_states(&v);
  if (status >= 0 && v.chosen != NULL) {
    look_at_binary(&v);
  }
  if (status >= 0) {
    describe_package(&v, &messages, json);
  }
  free(v.is_state);
  yoke__arena_free(&v.arena);
  yoke__messages_free(&messages);
  yoke__fmi_close(&v.package);
  return status;
}
