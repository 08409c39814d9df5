// Systems: loading them, and looking at them as plain structs.
#include <stdlib.h>
#include <string.h>

#include "api/api_describe.h"
#include "base/base_check.h"
#include "base/base_os.h"
#include "master/master.h"
#include "system/system.h"
#include "yoke/yoke.h"

static const yoke_load_settings no_settings = {0};

// Builds what was read and passes all messages on. Takes the scenario over.
static yoke_status build(yoke_status read, yoke_scenario* scenario, const char* path,
                         const yoke_load_settings* settings, yoke_messages* messages,
                         yoke_system** out) {
  yoke_status status = read;
  yoke_scenario_port port;
  if (scenario != NULL && settings->only != NULL) {
    const yoke_status kept = yoke__scenario_keep_only(scenario, settings->only, messages, &port);
    if (kept < 0) {
      yoke__scenario_free(&scenario);
      status = kept;
    }
  }
  if (scenario != NULL) {
    scenario->has_trials = !settings->has_no_trials;
    status = yoke__master_build(scenario, settings->registry, messages, out);
  }
  const size_t n_errors = yoke__messages_send(messages, settings->sink);
  if (status < 0 && n_errors == 0) {
    yoke__fail_at(settings->sink, status, (yoke_place){path, 0, 0}, "%s", yoke_status_text(status));
  }
  yoke__messages_free(messages);
  return status < 0 ? status : YOKE_OK;
}

yoke_status yoke__api_check_settings(const yoke_load_settings** settings, bool is_good) {
  *settings = *settings == NULL ? &no_settings : *settings;
  const yoke_load_settings* s = *settings;
  is_good = is_good && (s->n_sets == 0 || s->sets != NULL) && yoke__is_finite(s->netlist_stop) &&
            s->netlist_stop >= 0;
  for (size_t i = 0; is_good && i < s->n_sets; i++) {
    is_good = s->sets[i] != NULL;
  }
  if (!is_good) {
    yoke_fail(s->sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
    return YOKE_BAD_ARG;
  }
  return YOKE_OK;
}

yoke_status yoke_system_load(const char* path, const yoke_load_settings* settings,
                             yoke_system** out) {
  if (out != NULL) {
    *out = NULL;
  }
  YOKE_TRY(yoke__api_check_settings(&settings, path != NULL && out != NULL));
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = yoke__scenario_read_parts(path, settings->sets, settings->n_sets,
                                                 settings->netlist_stop, &messages, &scenario);
  if (scenario != NULL) {
    scenario->has_short_names = scenario->netlist != NULL && settings->has_short_names;
  }
  status = build(status, scenario, path, settings, &messages, out);
  yoke__os_float_mode_restore(mode);
  return status;
}

yoke_status yoke_system_parse(const char* bytes, size_t n, const char* path,
                              const yoke_load_settings* settings, yoke_system** out) {
  if (out != NULL) {
    *out = NULL;
  }
  path = path == NULL ? "system" : path;
  YOKE_TRY(yoke__api_check_settings(&settings, (bytes != NULL || n == 0) && out != NULL));
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = yoke__scenario_read(bytes == NULL ? "" : bytes, n, path, settings->sets,
                                           settings->n_sets, &messages, &scenario);
  status = build(status, scenario, path, settings, &messages, out);
  yoke__os_float_mode_restore(mode);
  if (out != NULL && *out != NULL) {
    (*out)->is_from_memory = true;
  }
  return status;
}

void yoke_system_destroy(yoke_system** system) {
  if (system != NULL && *system != NULL && !(*system)->is_running) {
    (*system)->is_running = true;  // for units that call back when they are closed
    yoke__system_destroy(system);
  }
}

// ---- looking at it

yoke_status yoke_system_get_info(const yoke_system* system, yoke_system_info* out) {
  static const char* const schemes[] = {
      [YOKE_JACOBI] = "jacobi",
      [YOKE_GAUSS_SEIDEL] = "gauss-seidel",
      [YOKE_ITERATIVE_JACOBI] = "iterative-jacobi",
      [YOKE_ITERATIVE_GAUSS_SEIDEL] = "iterative-gauss-seidel",
  };
  if (system == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_scenario* scenario = system->scenario;
  *out = (yoke_system_info){
      .name = scenario->name,
      .path = scenario->path,
      .text = scenario->text == NULL ? "" : scenario->text,
      .t_start = system->t_start,
      .t_stop = system->t_stop,
      .step = yoke__clock_seconds(&system->clock, system->macro),
      .scheme = schemes[scenario->scheme],
      .exchange = scenario->exchange == YOKE_FRESH ? "fresh" : "stale",
      .n_threads = system->n_threads,
      .formats = yoke__system_formats(system),
      .n_units = system->n_units,
      .n_laws = system->n_laws,
      .n_connections = system->n_links,
      .n_bonds = system->n_bonds,
      .n_couplings = system->n_methods,
      .n_columns = system->n_columns,
      .pace = system->scenario->pacing.is_given ? system->scenario->pacing.factor : 0,
  };
  return YOKE_OK;
}

yoke_status yoke_system_get_unit(const yoke_system* system, size_t i, yoke_unit_view* out) {
  if (system == NULL || out == NULL || i >= system->n_units) {
    return YOKE_BAD_ARG;
  }
  const yoke_system_unit* unit = &system->units[i];
  *out = (yoke_unit_view){
      .name = unit->name,
      .type = unit->source->type,
      .kind = unit->source->kind,
      .is_law = unit->is_law,
      .is_fresh = unit->is_fresh,
      .is_isolated = unit->source->isolation.is_given,
      .peer = unit->source->port.is_given ? unit->source->port.peer : NULL,
      .is_paced = unit->source->port.is_given && unit->source->port.clock != 0,
      .step = unit->step,
      .thread = unit->thread,
      .file = unit->source->place.source,
      .line = unit->source->place.line,
      .column = unit->source->place.column,
      .info = unit->unit.info,
      .n_calls = unit->n_calls,
      .has_auto_calls = unit->is_paced,
  };
  return YOKE_OK;
}

// Connections of a bond are made from it and do not lie in the list of the file.
static bool is_listed(const yoke_scenario* scenario, const yoke_scenario_connection* source) {
  const uintptr_t first = (uintptr_t)scenario->connections, at = (uintptr_t)source;
  return at >= first && at < first + scenario->n_connections * sizeof *source;
}

yoke_status yoke_system_get_connection(const yoke_system* system, size_t i,
                                       yoke_connection_view* out) {
  if (system == NULL || out == NULL || i >= system->n_links) {
    return YOKE_BAD_ARG;
  }
  const yoke_system_link* link = &system->links[i];
  *out = (yoke_connection_view){
      .from_unit = link->from_unit,
      .from_variable = link->from_variable,
      .from_element = link->from_element,
      .to_unit = link->to_unit,
      .to_variable = link->to_variable,
      .to_element = link->to_element,
      .n = link->n,
      .gain = link->gain,
      .offset = link->offset,
      .order = link->order,
      .interval = yoke__clock_seconds(&system->clock, link->interval),
      .delay = yoke__clock_seconds(&system->clock, link->delay * link->interval),
      .coupling = link->method,
      .is_from_bond = !is_listed(system->scenario, link->source),
      .is_averaged = link->flow == YOKE_FLOW_AVERAGED,
  };
  return YOKE_OK;
}

yoke_status yoke_system_get_bond(const yoke_system* system, size_t i, yoke_bond_view* out) {
  if (system == NULL || out == NULL || i >= system->n_bonds) {
    return YOKE_BAD_ARG;
  }
  const yoke_system_bond* bond = &system->bonds[i];
  *out = (yoke_bond_view){
      .name = bond->name,
      .action_unit = bond->action_unit,
      .rate_unit = bond->rate_unit,
      .n = bond->n,
      .sign = bond->sign,
      .interval = yoke__clock_seconds(&system->clock, bond->interval),
      .is_found = bond->source == NULL,
      .is_heat = bond->ledger.kind == YOKE_BOND_HEAT,
  };
  return YOKE_OK;
}

yoke_status yoke_system_get_coupling(const yoke_system* system, size_t i, yoke_coupling_view* out) {
  if (system == NULL || out == NULL || i >= system->n_methods) {
    return YOKE_BAD_ARG;
  }
  const yoke_system_method* method = &system->methods[i];
  *out = (yoke_coupling_view){
      .name = method->name == NULL ? "" : method->name,
      .owner = method->owner == NULL ? "" : method->owner,
      .ops = method->ops,
      .parameters = method->parameters,
      .files = method->files,
  };
  return YOKE_OK;
}

void yoke_text_free(char** text) {
  if (text != NULL) {
    free(*text);
    *text = NULL;
  }
}
