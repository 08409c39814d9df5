// The public handle: a system and its state, for programs that step it themselves.
#include <stdio.h>
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

// a failure without words of its own, or without memory for them
static void say_status(yoke_status status, const char* path, char* err, size_t err_size) {
  if (status < 0 && err != NULL && err_size > 0 && err[0] == '\0') {
    snprintf(err, err_size, "%s%serror: %s\n", path == NULL ? "" : path, path == NULL ? "" : ": ",
             yoke_status_text(status));
  }
}

yoke_status yoke_simulation_load(const char* path, const yoke_load_settings* settings,
                                 yoke_simulation** out, char* err, size_t err_size) {
  static const yoke_load_settings defaults = {0};
  if (err != NULL && err_size > 0) {
    err[0] = '\0';
  }
  if (out != NULL) {
    *out = NULL;
  }
  if (path == NULL || out == NULL) {
    say_status(YOKE_BAD_ARG, path, err, err_size);
    return YOKE_BAD_ARG;
  }
  yoke_simulation* simulation = calloc(1, sizeof *simulation);
  if (simulation == NULL) {
    say_status(YOKE_NO_MEMORY, path, err, err_size);
    return YOKE_NO_MEMORY;
  }
  yoke_messages messages = {0};
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status =
      load(path, settings == NULL ? &defaults : settings, simulation, &messages);
  yoke__os_float_mode_restore(mode);
  yoke__messages_format(&messages, err, err_size);
  yoke__messages_free(&messages);
  if (status < 0) {
    say_status(status, path, err, err_size);
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
  if (simulation->state->failure.status < 0) {
    return simulation->state->failure.status;
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

const char* yoke_simulation_message(const yoke_simulation* simulation) {
  return simulation->state->failure.text;
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
