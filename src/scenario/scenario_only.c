// One unit of a system alone: what the other end of its port runs.
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario.h"

#define MOST_STEPS 9  // as a power of ten

// Its file says what is at the other end.
static bool is_played(const yoke_scenario_unit* unit) {
  return unit->port.is_given && unit->kind != YOKE_KIND_PORT;
}

// NULL after a message.
static const yoke_scenario_unit* choose(const yoke_scenario* s, const char* name,
                                        yoke_messages* messages) {
  const yoke_scenario_unit *found = NULL, *machine = NULL;
  size_t n_ports = 0;
  for (size_t i = 0; i < s->n_units; i++) {
    const yoke_scenario_unit* unit = &s->units[i];
    n_ports += is_played(unit);
    machine = machine == NULL && unit->kind == YOKE_KIND_PORT ? unit : machine;
    if (name[0] == '\0' ? is_played(unit) : strcmp(unit->name, name) == 0) {
      found = found == NULL ? unit : found;
    }
  }
  found = name[0] == '\0' && n_ports == 0 ? machine : found;
  if (found != NULL && found->kind == YOKE_KIND_PORT) {
    yoke__error(messages, found->place,
                "unit '%s' has no model to run here: a real machine or your own program is at the "
                "other end",
                found->name);
    return NULL;
  }
  const yoke_place place = {s->path, 0, 0};
  if (name[0] == '\0' && n_ports != 1) {
    yoke__error(messages, place,
                n_ports == 0 ? "no unit has a port: write port: udp at the one that runs elsewhere"
                             : "several units have a port: name one of them");
    return NULL;
  }
  if (found == NULL) {
    yoke__error(messages, place, "unknown unit '%s'", name);
  } else if (!found->port.is_given) {
    yoke__error(messages, found->place, "unit '%s' has no port", name);
    found = NULL;
  }
  return found;
}

// Its own safe actions, for the time when nobody tells it anything.
static yoke_status keep_safe(yoke_scenario* s, const char* name) {
  yoke_scenario_action* own = yoke__arena_array(&s->arena, s->n_safe + 1, sizeof *own);
  YOKE_TRY_MEMORY(own);
  size_t n = 0;
  for (size_t i = 0; i < s->n_safe; i++) {
    if (s->safe[i].input.unit != NULL && strcmp(s->safe[i].input.unit, name) == 0) {
      own[n++] = s->safe[i];
    }
  }
  s->safe = own;
  s->n_safe = n;
  return YOKE_OK;
}

yoke_status yoke__scenario_keep_only(yoke_scenario* s, const char* name, yoke_messages* messages,
                                     yoke_scenario_port* port) {
  const yoke_scenario_unit* unit = choose(s, name, messages);
  yoke_scenario_unit* alone = yoke__arena_take(&s->arena, sizeof *alone);
  YOKE_TRY_MEMORY(alone);
  if (unit == NULL) {
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(keep_safe(s, unit->name));
  *alone = *unit;
  *port = unit->port;
  alone->port.is_given = false;
  alone->calls = 1;
  s->step = unit->step.is_given ? unit->step : s->step;
  // it ends when the other end says so, which may go on behind its stop time
  s->stop = s->step;
  s->stop.exact.exponent += MOST_STEPS;
  s->stop.value = yoke__decimal_value(s->stop.exact);
  s->units = alone;
  s->n_units = 1;
  s->n_connections = s->n_bonds = s->n_couplings = s->n_order = s->n_signal_limits = 0;
  s->scheme = YOKE_JACOBI;
  s->adaptive.is_given = false;
  s->calls = 1;
  s->is_alone = true;
  s->trust.n_signals = s->trust.n_limits = 0;
  // a machine stays with the clock, however late this process is
  s->pacing.overrun = YOKE_OVERRUN_SKIP;
  s->pacing.limit = INT64_MAX;
  static const yoke_scenario_name all = {"*", {NULL, 0, 0}};
  s->record_signals = &all;
  s->n_record_signals = 1;
  return YOKE_OK;
}
