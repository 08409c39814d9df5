#include "system/system_twin.h"

#include <string.h>

#include "base/base_check.h"
#include "system/system_registry.h"
#include "unit/unit_models.h"

static bool is_reading(const yoke_scenario_connection* c) {
  static const char prefix[] = "sensor.";
  return c->to.variable != NULL && strncmp(c->to.variable, prefix, strlen(prefix)) == 0;
}

// How late readings may be: as the file says, else as late as its own connections make them.
static double late_of(const yoke_scenario_twin* twin) {
  double late = twin->late.is_given ? twin->late.value : 0;
  for (size_t i = 0; i < twin->n_connections && !twin->late.is_given; i++) {
    const yoke_scenario_connection* c = &twin->connections[i];
    late = is_reading(c) && c->delay.value > late ? c->delay.value : late;
  }
  return late;
}

// Inputs that the file says to hold.
static const char* const* list_held(yoke_system* system, const yoke_scenario_unit* unit,
                                    size_t* n) {
  const yoke_scenario* s = system->scenario;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const char** held = yoke__arena_array(&system->arena, s->n_connections + 1, sizeof *held);
  for (size_t i = 0; i < s->n_connections && held != NULL; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (c->is_held && c->to.unit != NULL && strcmp(c->to.unit, unit->name) == 0 && !is_reading(c)) {
      held[(*n)++] = c->to.variable;
    }
  }
  return held;
}

const yoke_twin_settings* yoke__system_twin_settings(yoke_system* system,
                                                     const yoke_scenario_unit* unit) {
  const yoke_scenario_twin* from = &unit->twin;
  yoke_twin_settings* to = yoke__arena_take(&system->arena, sizeof *to);
  yoke_twin_sensor* sensors =
      yoke__arena_array(&system->arena, from->n_sensors + 1, sizeof *sensors);
  yoke_twin_unknown* unknowns =
      yoke__arena_array(&system->arena, from->n_unknowns + 1, sizeof *unknowns);
  size_t n_held = 0;
  const char* const* held = list_held(system, unit, &n_held);
  if (to == NULL || sensors == NULL || unknowns == NULL || held == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < from->n_sensors; i++) {
    const yoke_scenario_sensor* s = &from->sensors[i];
    sensors[i] = (yoke_twin_sensor){s->name, s->place, s->sigma};
  }
  for (size_t i = 0; i < from->n_unknowns; i++) {
    const yoke_scenario_unknown* u = &from->unknowns[i];
    unknowns[i] = (yoke_twin_unknown){.name = u->name,
                                      .place = u->place,
                                      .as_place = u->as_place,
                                      .as = (yoke_twin_as)u->as,
                                      .start = u->start,
                                      .sd = u->sd,
                                      .walk = u->walk,
                                      .lower = u->lower,
                                      .upper = u->upper};
  }
  yoke_twin_output* outputs =
      yoke__arena_array(&system->arena, from->n_outputs + 1, sizeof *outputs);
  if (outputs == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < from->n_outputs; i++) {
    outputs[i] = (yoke_twin_output){from->outputs[i].name, from->outputs[i].place};
  }
  *to = (yoke_twin_settings){.sensors = sensors,
                             .unknowns = unknowns,
                             .n_sensors = from->n_sensors,
                             .n_unknowns = from->n_unknowns,
                             .held = held,
                             .n_held = n_held,
                             .filter = from->filter,
                             .filter_place = from->filter_place,
                             .walk = from->walk,
                             .rate_walk = from->rate_walk,
                             .start_sd = from->start_sd,
                             .rate_sd = from->rate_sd,
                             .gate = from->gate,
                             .jitter = from->jitter,
                             .late_s = late_of(from),
                             .most_resets = from->most_resets,
                             .box = from->box,
                             .outputs = outputs,
                             .n_outputs = from->n_outputs};
  if (from->box == YOKE_KIND_MODEL) {
    to->box_ops = yoke__models_find(yoke__registry_units(system->registry), unit->type);
  }
  return to;
}
