// `safe`: the inputs that are led to a value when a paced run stops, and what a paced run cannot be.
#include <math.h>
#include <stdio.h>

#include "system/system.h"

#define OWN_TEXT "unit '%s': by the clock 'thread: own' %s"

static bool refuse(yoke_system* system, const yoke_scenario_action* source, const char* what) {
  yoke__error(system->messages, source->input.place, "'safe': '%s.%s' %s", source->input.unit,
              source->input.variable, what);
  return false;
}

// A boolean, an integer or an item of an enumeration is set at once.
static bool resolve_typed(yoke_system* system, const yoke_scenario_action* source,
                          const yoke_variable* v, yoke_system_action* action) {
  if (v->type == YOKE_STRING || v->type == YOKE_BINARY) {
    return refuse(system, source, "is no number");
  }
  if (source->over != 0) {
    return refuse(system, source, "takes whole numbers and cannot be ramped: leave out 'over'");
  }
  if (source->to != floor(source->to) || fabs(source->to) > 1e15 ||
      (v->type == YOKE_BOOLEAN && source->to != 0 && source->to != 1)) {
    return refuse(system, source,
                  v->type == YOKE_BOOLEAN ? "is a boolean: expected 0 or 1 for 'to'"
                                          : "takes whole numbers: expected one for 'to'");
  }
  action->is_typed = true;
  return true;
}

static bool resolve_action(yoke_system* system, const yoke_scenario_action* source,
                           yoke_system_action* action) {
  size_t element = 0, n = 0;
  *action = (yoke_system_action){.to = source->to, .over = source->over, .unit = YOKE_NOT_FOUND};
  if (source->input.unit == NULL ||
      !yoke__system_resolve(system, &source->input, "'safe'", &action->unit, &action->variable,
                            &element, &n)) {
    return false;
  }
  yoke_system_unit* unit = &system->units[action->unit];
  const yoke_variable* v = &unit->unit.info->variables[action->variable];
  const bool is_real = v->type == YOKE_REAL;
  const bool is_switch = v->causality == YOKE_TUNABLE && !is_real;  // such as the enable of a drive
  if ((v->causality != YOKE_INPUT && !is_switch) || unit->is_law) {
    return refuse(system, source,
                  unit->is_law ? "is of a law; expected an input of a unit" : "is no input");
  }
  if (n != 1 || (!is_real && yoke__variable_count(v) != 1)) {
    return refuse(system, source, "is an array; expected one number, as in u[0] of reals");
  }
  if (!is_real && !resolve_typed(system, source, v, action)) {
    return false;
  }
  action->u = is_real ? unit->u + unit->unit.dense[action->variable] + element : 0;
  unit->is_steered = true;
  return true;
}

static const char* find_obstacle(const yoke_system* system, char* to, size_t size);

yoke_status yoke__system_lay_safe(yoke_system* system) {
  const yoke_scenario* scenario = system->scenario;
  yoke_system_action* actions =
      yoke__arena_array(&system->arena, scenario->n_safe + 1, sizeof *actions);
  YOKE_TRY(yoke__arena_status(&system->arena));
  for (size_t i = 0; i < scenario->n_safe; i++) {
    system->n_actions += resolve_action(system, &scenario->safe[i], &actions[system->n_actions]);
  }
  system->actions = actions;
  if (scenario->n_safe > 0 && yoke__system_is_iterative(system)) {
    yoke__error(system->messages, scenario->safe[0].place,
                "'safe' needs an explicit scheme: an iterative one repeats steps");
  }
  char text[256];
  const char* why = scenario->pacing.is_given ? find_obstacle(system, text, sizeof text) : NULL;
  if (why != NULL) {
    yoke__error(system->messages, scenario->pacing.place, "'time.pace': %s", why);
  }
  const char* what = NULL;
  const yoke_system_unit* unit =
      scenario->pacing.is_given ? yoke__system_find_not_own(system, &what) : NULL;
  if (unit != NULL) {
    yoke__error(system->messages, unit->source->place, OWN_TEXT, unit->name, what);
  }
  return YOKE_OK;
}

// Why a system cannot be paced by the clock; NULL: it can.
static const char* find_obstacle(const yoke_system* system, char* to, size_t size) {
  if (system->is_adaptive) {
    return "a paced run needs a fixed step, not {min, max}";
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (system->scenario->pacing.overrun == YOKE_OVERRUN_CATCH_UP &&
        (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
      snprintf(to, size,
               "overrun: catch-up is not possible here: unit '%s' is a real machine, which cannot "
               "take two steps at once",
               unit->name);
      return to;
    }
    if (system->scenario->pacing.overrun == YOKE_OVERRUN_SKIP && unit->source->port.is_given &&
        unit->source->port.clock == YOKE_PORT_LOCKSTEP) {
      snprintf(to, size,
               "overrun: skip is not possible here: the other end of the port of '%s' steps by "
               "datagrams, not by the clock, and would fall behind",
               unit->name);
      return to;
    }
  }
  return NULL;
}

// Work that is not bounded is for the user to know, not to be refused.
static void warn_of_solvers(const yoke_system* system, const yoke_sink* sink) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (unit->unit.info->solver.method == YOKE_SOLVER_CVODE) {
      yoke__notify(
          sink, YOKE_WARNING,
          "unit '%s' may be integrated by cvode, whose work in a step is not bounded: in a run "
          "by the clock use 'solver: dopri5'",
          unit->name);
    }
  }
}

yoke_status yoke__system_check_pace(const yoke_system* system, const yoke_sink* sink) {
  warn_of_solvers(system, sink);
  char text[256];
  const char* why = find_obstacle(system, text, sizeof text);
  if (why != NULL) {
    return yoke__fail_at(sink, YOKE_BAD_INPUT, system->scenario->pacing.place, "%s", why);
  }
  const yoke_system_unit* unit = yoke__system_find_not_own(system, &why);
  return unit == NULL
             ? YOKE_OK
             : yoke__fail_at(sink, YOKE_BAD_INPUT, unit->source->place, OWN_TEXT, unit->name, why);
}
