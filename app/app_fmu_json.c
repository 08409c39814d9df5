// What yoke info says about an FMU, as JSON: everything the description holds, and what a run would use.
#include "app/app_fmu.h"
#include "app/app_sink.h"
#include "base/base_os.h"

static void put_texts(yoke_json* json, const char* key, const char* const texts[], size_t n) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_string(json, NULL, texts[i]);
  }
  yoke__json_end_array(json);
}

// ---- interfaces

static void put_interface(yoke_json* json, const char* key, const yoke_fmi_interface* i) {
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
  yoke__json_end_object(json);
}

static void put_experiment(yoke_json* json, const yoke_fmi_experiment* e) {
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

static void put_dimensions(const yoke_fmu_view* view, const yoke_fmi_variable* v, yoke_json* json) {
  yoke__json_begin_array(json, "dimensions");
  for (size_t i = 0; i < v->n_dimensions; i++) {
    const yoke_fmi_dimension* dimension = &view->d->dimensions[v->first_dimension + i];
    if (dimension->variable == YOKE_FMI_NONE) {
      yoke__json_integer(json, NULL, (int64_t)dimension->start);
    } else {
      yoke__json_string(json, NULL, view->d->variables[dimension->variable].name);
    }
  }
  yoke__json_end_array(json);
}

static void put_variable(const yoke_fmu_view* view, size_t index, yoke_json* json) {
  const yoke_fmi_description* d = view->d;
  const yoke_fmi_variable* v = &d->variables[index];
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", v->name);
  yoke__json_integer(json, "reference", v->reference);
  yoke__json_string(json, "type", yoke__fmi_type_word(view->d->version, (yoke_fmi_type)v->type));
  yoke__json_string(json, "causality", yoke__fmi_causality_name((yoke_fmi_causality)v->causality));
  yoke__json_string(json, "variability",
                    yoke__fmi_variability_name((yoke_fmi_variability)v->variability));
  if (v->initial != YOKE_FMI_NO_INITIAL) {
    yoke__json_string(json, "initial", yoke__fmi_initial_name((yoke_fmi_initial)v->initial));
  }
  yoke__json_string(json, "unit", v->unit);
  yoke__json_string(json, "start", v->start);
  const char* item = yoke__app_fmu_start_item(view, v);
  if (item != NULL) {
    yoke__json_string(json, "start_item", item);
  }
  if (v->n_dimensions > 0) {
    put_dimensions(view, v, json);
  }
  if (v->type_definition != 0) {
    yoke__json_string(json, "declared_type", d->typedefs[v->type_definition - 1].name);
  }
  if (view->is_state[index]) {
    yoke__json_boolean(json, "is_state", true);
  }
  if (v->derivative_of != 0) {
    yoke__json_string(json, "derivative_of", d->variables[v->derivative_of - 1].name);
  }
  if (v->alias_of != 0) {
    yoke__json_string(json, "alias_of", d->variables[v->alias_of - 1].name);
  }
  yoke__json_string(json, "description", v->description);
  yoke__json_end_object(json);
}

static void put_enumerations(const yoke_fmi_description* d, yoke_json* json) {
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

// ---- structure

// "inputs" is missing where the file does not say: the output may depend on all of them
static void put_feedthrough(const yoke_fmi_description* d, yoke_json* json) {
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

static void put_terminals(const yoke_fmi_description* d, yoke_json* json) {
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

static void put_use(const yoke_fmu_view* view, yoke_json* json) {
  yoke__json_begin_object(json, "use");
  yoke__json_boolean(json, "can_be_run", view->obstacle[0] == '\0' && view->n_missing == 0);
  if (view->obstacle[0] != '\0') {
    yoke__json_string(json, "obstacle", view->obstacle);
  }
  put_texts(json, "missing_libraries", view->missing, view->n_missing);
  if (view->chosen != NULL) {
    yoke__json_string(json, "interface", yoke__app_fmu_interface_name(view, view->chosen));
    yoke__json_string(json, "binary", view->binary);
    yoke__json_boolean(json, "rollback", view->chosen->can_get_and_set_state);
    yoke__json_boolean(json, "directional_derivatives", view->chosen->has_directional_derivatives);
    yoke__json_boolean(json, "event_mode", view->is_model_exchange || view->chosen->has_event_mode);
  }
  yoke__json_end_object(json);
}

void yoke__app_fmu_json(const yoke_fmu_view* view, yoke_json* json) {
  const yoke_fmi_description* d = view->d;
  yoke__json_begin_document(json, "fmu");
  yoke__json_string(json, "name", d->model_name);
  yoke__json_string(json, "kind", "fmu");
  yoke__json_string(json, "fmi_version", d->version_text);
  yoke__json_string(json, "file", view->package->path);
  yoke__json_integer(json, "file_size", (int64_t)view->package->file_size);
  yoke__json_string(json, "description", d->description);
  yoke__json_string(json, "model_version", d->model_version);
  yoke__json_string(json, "author", d->author);
  yoke__json_string(json, "copyright", d->copyright);
  yoke__json_string(json, "license", d->license);
  yoke__json_string(json, "tool", d->generation_tool);
  yoke__json_string(json, "date", d->generation_date);
  yoke__json_string(json, "token", d->token);
  put_texts(json, "platforms", view->package->platforms, view->package->n_platforms);
  yoke__json_string(json, "this_platform", yoke__fmi_platform(d->version));
  yoke__json_boolean(json, "has_sources", view->package->has_sources);
  yoke__json_boolean(json, "has_resources", view->package->has_resources);
  yoke__json_boolean(json, "has_documentation", view->package->has_documentation);
  yoke__json_begin_object(json, "interfaces");
  put_interface(json, "co_simulation", &d->co_simulation);
  put_interface(json, "model_exchange", &d->model_exchange);
  put_interface(json, "scheduled_execution", &d->scheduled_execution);
  yoke__json_end_object(json);
  put_use(view, json);
  put_experiment(json, &d->experiment);
  put_texts(json, "log_categories", d->log_categories, d->n_log_categories);
  yoke__json_integer(json, "states", (int64_t)view->n_states);
  yoke__json_integer(json, "event_indicators", (int64_t)d->n_event_indicators);
  put_enumerations(d, json);
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; i < d->n_variables; i++) {
    put_variable(view, i, json);
  }
  yoke__json_end_array(json);
  put_feedthrough(d, json);
  put_terminals(d, json);
  yoke__app_messages_json(view->messages, json);
  yoke__json_end_object(json);
}
