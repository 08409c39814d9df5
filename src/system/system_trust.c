// Which outputs the section `trust` means: signals that decide, and limits of signals.
//
// A pattern is one of real outputs: "u.v" takes all elements of an array, "u.v[0]" one, * and ? stand for any text and one
// character. What matches none is an error: a verdict about nothing, or a limit that nothing meets, is never wanted.
#include <math.h>
#include <stdio.h>

#include "system/system.h"

static bool is_real_output(const yoke_system_unit* unit, size_t variable) {
  return unit->unit.info->variables[variable].causality == YOKE_OUTPUT &&
         unit->unit.dense[variable] != YOKE_NOT_DENSE;
}

bool yoke__system_is_named(const yoke_system* system, const char* pattern, size_t unit,
                           size_t variable, size_t element) {
  const yoke_system_unit* u = &system->units[unit];
  const yoke_variable* v = &u->unit.info->variables[variable];
  char name[1024];
  snprintf(name, sizeof name, "%s.%s", u->name, v->name);
  if (yoke__glob_match(pattern, name)) {
    return true;
  }
  if (yoke__variable_count(v) == 1) {
    return false;
  }
  yoke__system_element_name(u, v, element, name, sizeof name);
  return yoke__glob_match(pattern, name);
}

bool yoke__system_decides(const yoke_system* system, size_t unit, size_t variable, size_t element) {
  const yoke_scenario_trust* trust = &system->scenario->trust;
  bool is_wanted = trust->n_signals == 0;
  for (size_t i = 0; i < trust->n_signals && !is_wanted; i++) {
    is_wanted = yoke__system_is_named(system, trust->signals[i].text, unit, variable, element);
  }
  return is_wanted || !isnan(yoke__system_error_limit(system, unit, variable, element));
}

double yoke__system_error_limit(const yoke_system* system, size_t unit, size_t variable,
                                size_t element) {
  const yoke_scenario_trust* trust = &system->scenario->trust;
  double limit = (double)NAN;
  for (size_t i = 0; i < trust->n_limits; i++) {
    if (yoke__system_is_named(system, trust->limits[i].signal.text, unit, variable, element)) {
      limit = trust->limits[i].value;
    }
  }
  return limit;
}

// -------------------------------------------------------------------------------------------------

// Whether some real output matches; *nearest: else the one that the user probably meant, in room.
static bool find_output(const yoke_system* system, const char* pattern, char room[1024],
                        const char** nearest) {
  *nearest = NULL;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    for (size_t k = 0; k < unit->unit.info->n_variables; k++) {
      const yoke_variable* v = &unit->unit.info->variables[k];
      const size_t n = is_real_output(unit, k) ? yoke__variable_count(v) : 0;
      for (size_t e = 0; e < n; e++) {
        if (yoke__system_is_named(system, pattern, i, k, e)) {
          return true;
        }
      }
      char name[1024];
      snprintf(name, sizeof name, "%s.%s", unit->name, v->name);
      if (n > 0 && yoke__nearer_name(pattern, *nearest, name) == name) {
        snprintf(room, 1024, "%s", name);
        *nearest = room;
      }
    }
  }
  return false;
}

static void check_pattern(yoke_system* system, const yoke_scenario_name* pattern) {
  char room[1024];
  const char* nearest = NULL;
  if (!find_output(system, pattern->text, room, &nearest)) {
    yoke__error_near(system->messages, pattern->place, nearest, "trust: '%s' is no real output",
                     pattern->text);
  }
}

yoke_status yoke__system_check_trust(yoke_system* system) {
  const yoke_scenario_trust* trust = &system->scenario->trust;
  for (size_t i = 0; i < trust->n_signals; i++) {
    check_pattern(system, &trust->signals[i]);
  }
  for (size_t i = 0; i < trust->n_limits; i++) {
    check_pattern(system, &trust->limits[i].signal);
  }
  return YOKE_OK;
}
