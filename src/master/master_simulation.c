// The public handle: a system and its state, for programs that step it themselves.
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "master/master.h"
#include "yoke/yoke.h"

struct yoke_simulation {
  yoke_system* system;
  yoke_state* state;
};

static yoke_status load(const char* path, const yoke_load_settings* settings,
                        yoke_simulation* simulation, yoke_messages* messages) {
  yoke_scenario* scenario = NULL;
  const yoke_status status =
      yoke__scenario_read_parts(path, settings->sets, settings->n_sets, messages, &scenario);
  if (scenario == NULL) {
    return status;
  }
  YOKE_TRY(yoke__system_build(scenario, settings->models, messages, &simulation->system));
  return yoke__master_create(simulation->system, messages, &simulation->state);
}

yoke_status yoke_simulation_load(const char* path, const yoke_load_settings* settings,
                                 yoke_simulation** out) {
  static const yoke_load_settings defaults = {0};
  settings = settings == NULL ? &defaults : settings;
  if (out != NULL) {
    *out = NULL;
  }
  yoke_simulation* simulation = NULL;
  yoke_messages messages = {0};
  yoke_status status = YOKE_BAD_ARG;
  if (path != NULL && out != NULL) {
    simulation = calloc(1, sizeof *simulation);
    const uint64_t mode = yoke__os_float_mode_set();
    status = simulation == NULL ? YOKE_NO_MEMORY : load(path, settings, simulation, &messages);
    yoke__os_float_mode_restore(mode);
  }
  bool is_explained = false;
  for (size_t i = 0; i < messages.n; i++) {
    is_explained = is_explained || messages.all[i].severity == YOKE_ERROR;
    yoke_send(settings->sink, &messages.all[i]);
  }
  // without a message of its own, or without memory for it
  if (status < 0 && !is_explained) {
    yoke__fail_at(settings->sink, status, (yoke_place){path, 0, 0}, "%s", yoke_status_text(status));
  }
  yoke__messages_free(&messages);
  if (status < 0) {
    yoke_simulation_destroy(&simulation);
    return status;
  }
  *out = simulation;
  return YOKE_OK;
}

void yoke_simulation_destroy(yoke_simulation** simulation) {
  if (simulation == NULL || *simulation == NULL) {
    return;
  }
  if ((*simulation)->system != NULL) {
    yoke__master_destroy((*simulation)->system, &(*simulation)->state);
  }
  yoke__system_destroy(&(*simulation)->system);
  free(*simulation);
  *simulation = NULL;
}

yoke_status yoke_simulation_step(yoke_simulation* simulation) {
  if (simulation == NULL || yoke_simulation_is_done(simulation)) {
    return YOKE_BAD_ARG;
  }
  if (simulation->state->failure.message.status < 0) {
    return simulation->state->failure.message.status;
  }
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status = yoke__master_step(simulation->system, simulation->state);
  yoke__os_float_mode_restore(mode);
  return status;
}

void yoke_simulation_declare_discontinuity(yoke_simulation* simulation) {
  yoke__master_declare_discontinuity(simulation->system, simulation->state);
}

bool yoke_simulation_is_done(const yoke_simulation* simulation) {
  return simulation->state->n_slots >= simulation->system->n_slots ||
         simulation->state->is_end_wanted || simulation->state->is_stopped;
}

double yoke_simulation_time(const yoke_simulation* simulation) {
  return simulation->state->t;
}

const yoke_message* yoke_simulation_failure(const yoke_simulation* simulation) {
  const yoke_message* message = &simulation->state->failure.message;
  return message->status < 0 ? message : NULL;
}

yoke_status yoke_simulation_find(const yoke_simulation* simulation, const char* name,
                                 size_t* signal) {
  const yoke_system* system = simulation->system;
  const char* dot = name == NULL ? NULL : strchr(name, '.');
  char unit_name[256];
  if (dot == NULL || (size_t)(dot - name) >= sizeof unit_name || signal == NULL) {
    return YOKE_BAD_ARG;
  }
  memcpy(unit_name, name, (size_t)(dot - name));
  unit_name[dot - name] = '\0';
  const size_t unit = yoke__map_find(&system->unit_index, unit_name);
  if (unit == YOKE_NOT_FOUND) {
    return YOKE_BAD_ARG;
  }
  size_t variable = 0, element = 0;
  if (!yoke__unit_find_element(&system->units[unit].unit, dot + 1, &variable, &element)) {
    return YOKE_BAD_ARG;
  }
  const yoke_unit* u = &system->units[unit].unit;
  if (u->info->variables[variable].causality != YOKE_OUTPUT ||
      u->dense[variable] == YOKE_NOT_DENSE) {
    return YOKE_BAD_ARG;
  }
  *signal = system->units[unit].y + u->dense[variable] + element;
  return YOKE_OK;
}

double yoke_simulation_read(const yoke_simulation* simulation, size_t signal) {
  return simulation->state->y[signal];
}
