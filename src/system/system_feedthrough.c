// What is known of direct feedthrough: zero, known or unknown, per output and input, and from where.
//
//   the file's `feedthrough`          the inputs that act, with or without a value; all others of that output are zero
//   the unit's description            pairs that are not declared are zero. FMUs: dependencies; an output that declares none
//                                     is unknown, not dependent
//   D of what is left, at the start   the unit's linear model or directional derivatives, else a probe (master_through.c)
//
// A real machine is never asked; of a unit with typed inputs that are connected these may switch what an output follows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "system/system.h"

const char* const yoke__through_kind_words[] = {"zero", "known", "unknown"};

const char* const yoke__through_how_words[] = {
    [YOKE_THROUGH_BY_FILE] = "declared by the file",
    [YOKE_THROUGH_BY_UNIT] = "declared by the unit",
    [YOKE_THROUGH_BY_DEPENDENCIES] = "no dependency declared",
    [YOKE_THROUGH_BY_EXCHANGE] = "evaluated at every exchange",
    [YOKE_THROUGH_BY_DERIVATIVES] = "derivatives at the start",
    [YOKE_THROUGH_BY_PROBE] = "measured at the start",
    [YOKE_THROUGH_NOT_SAID] = "the FMU does not say",
    [YOKE_THROUGH_OF_MACHINE] = "a real machine is not probed",
    [YOKE_THROUGH_SWITCHED] = "an input that is not real is connected",
    [YOKE_THROUGH_BENT] = "the output bends or jumps at its start value",
    [YOKE_THROUGH_REFUSED] = "the unit does not answer the probe",
    [YOKE_THROUGH_STILL] = "the output does not react while it is initialised",
    [YOKE_THROUGH_NOT_LINEAR] = "the law is not linear",
    [YOKE_THROUGH_BEHIND_LAW] = "an input comes from a law whose feedthrough is unknown",
};

yoke_through yoke__through_least(yoke_through a, yoke_through b) {
  return a.kind > b.kind ? a : b;
}

// ---------------------------------------------------------------------------------------------------------
// what the file says

typedef struct port {
  size_t variable;
  size_t first, n;  // numbers of u or y
} port;

static const char* nearest_port(const yoke_unit* unit, yoke_causality causality, const char* name) {
  const char* nearest = NULL;
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    if (unit->info->variables[i].causality == causality) {
      nearest = yoke__nearer_name(name, nearest, unit->info->variables[i].name);
    }
  }
  return nearest;
}

// A real output or input, or one element of it. False after a message.
static bool find_port(yoke_system* system, const yoke_system_unit* unit, const char* name,
                      yoke_place place, yoke_causality causality, port* out) {
  const char* word = causality == YOKE_OUTPUT ? "output" : "input";
  size_t element = 0;
  if (!yoke__unit_find_element(&unit->unit, name, &out->variable, &element)) {
    yoke__error_near(system->messages, place, nearest_port(&unit->unit, causality, name),
                     "feedthrough: '%s' (%s) has no %s '%s'", unit->name, unit->unit.ops->name,
                     word, name);
    return false;
  }
  const yoke_variable* v = &unit->unit.info->variables[out->variable];
  const size_t dense = unit->unit.dense[out->variable];
  if (v->causality != causality || dense == YOKE_NOT_DENSE) {
    const bool is_other = v->causality == YOKE_INPUT || v->causality == YOKE_OUTPUT;
    yoke__error(system->messages, place, "feedthrough: '%s.%s' is %s, not a real %s", unit->name,
                name,
                v->causality == causality    ? "of another type"
                : !is_other                  ? "neither an input nor an output"
                : v->causality == YOKE_INPUT ? "an input"
                                             : "an output",
                word);
    return false;
  }
  const bool is_whole = yoke__unit_find(&unit->unit, name) == out->variable;
  out->first = dense + element;
  out->n = is_whole ? yoke__variable_count(v) : 1;
  return true;
}

// What is collected for one unit.
typedef struct collection {
  yoke_system* system;
  yoke_system_unit* unit;
  bool* is_given;
  yoke_system_gain* gains;
  size_t n, room;
} collection;

static yoke_status add_gain(collection* c, size_t y, size_t u, double value) {
  if (c->n == c->room) {
    const size_t room = 2 * c->room + 16;
    yoke_system_gain* more = yoke__arena_array(&c->system->arena, room, sizeof *more);
    YOKE_TRY_MEMORY(more);
    if (c->n > 0) {
      memcpy(more, c->gains, c->n * sizeof *more);
    }
    c->gains = more;
    c->room = room;
  }
  c->gains[c->n++] = (yoke_system_gain){y, u, value};
  return YOKE_OK;
}

static bool has_gain(const collection* c, size_t first, const port* output, const port* input) {
  for (size_t i = first; i < c->n; i++) {
    if (c->gains[i].y - output->first < output->n && c->gains[i].u - input->first < input->n) {
      return true;
    }
  }
  return false;
}

static yoke_status take_gain(collection* c, size_t first, const port* output,
                             const yoke_scenario_gain* gain) {
  port input;
  if (!find_port(c->system, c->unit, gain->input, gain->place, YOKE_INPUT, &input)) {
    return YOKE_OK;
  }
  if (has_gain(c, first, output, &input)) {
    yoke__error(c->system->messages, gain->place, "feedthrough: the input '%s' is named twice",
                gain->input);
    return YOKE_OK;
  }
  if (gain->has_value && output->n * input.n != 1) {
    yoke__error(
        c->system->messages, gain->place,
        "feedthrough: a number is for one output and one input, found %zu and %zu: name single "
        "elements, such as '%s[0]'",
        output->n, input.n,
        c->unit->unit.info->variables[output->n > 1 ? output->variable : input.variable].name);
    return YOKE_OK;
  }
  for (size_t i = 0; i < output->n * input.n; i++) {
    YOKE_TRY(add_gain(c, output->first + i / input.n, input.first + i % input.n,
                      gain->has_value ? gain->value : (double)NAN));
  }
  return YOKE_OK;
}

static yoke_status take_output(collection* c, const yoke_scenario_through* through) {
  port output;
  if (!find_port(c->system, c->unit, through->output, through->place, YOKE_OUTPUT, &output)) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < output.n; i++) {
    if (c->is_given[output.first + i]) {
      yoke__error(c->system->messages, through->place,
                  "feedthrough: the output '%s' is given twice", through->output);
      return YOKE_OK;
    }
    c->is_given[output.first + i] = true;
  }
  const size_t first = c->n;
  for (size_t i = 0; i < through->n; i++) {
    YOKE_TRY(take_gain(c, first, &output, &through->gains[i]));
  }
  return YOKE_OK;
}

// The variable that number `at` of u or y belongs to.
static size_t variable_of(const yoke_unit* unit, yoke_causality causality, size_t at) {
  for (size_t v = 0; v < unit->info->n_variables; v++) {
    if (unit->info->variables[v].causality == causality && unit->dense[v] != YOKE_NOT_DENSE &&
        at - unit->dense[v] < yoke__variable_count(&unit->info->variables[v])) {
      return v;
    }
  }
  return YOKE_NOT_FOUND;
}

// Does the file say everything of a variable?
static bool is_whole_given(const collection* c, size_t variable) {
  const size_t dense = c->unit->unit.dense[variable];
  bool is_whole = dense != YOKE_NOT_DENSE;
  for (size_t i = 0; is_whole && i < yoke__variable_count(&c->unit->unit.info->variables[variable]);
       i++) {
    is_whole = c->is_given[dense + i];
  }
  return is_whole;
}

// Orders, loops and fresh exchange rely on the description: from here on it says what the file says.
static yoke_status describe_again(collection* c) {
  yoke_unit* unit = &c->unit->unit;
  const yoke_unit_info* before = unit->info;
  yoke_unit_info* info = yoke__arena_take(&c->system->arena, sizeof *info);
  yoke_feedthrough* pairs =
      yoke__arena_array(&c->system->arena, before->n_feedthrough + c->n + 1, sizeof *pairs);
  YOKE_TRY_MEMORY(info && pairs);
  size_t n = 0;
  for (size_t i = 0; i < before->n_feedthrough; i++) {
    if (!is_whole_given(c, before->feedthrough[i].output)) {
      pairs[n++] = before->feedthrough[i];
    }
  }
  for (size_t i = 0; i < c->n; i++) {
    const yoke_feedthrough pair = {variable_of(unit, YOKE_OUTPUT, c->gains[i].y),
                                   variable_of(unit, YOKE_INPUT, c->gains[i].u)};
    bool is_there = c->gains[i].value == 0;
    for (size_t k = 0; k < n && !is_there; k++) {
      is_there = pairs[k].output == pair.output && pairs[k].input == pair.input;
    }
    if (!is_there) {
      pairs[n++] = pair;
    }
  }
  *info = *before;
  info->feedthrough = pairs;
  info->n_feedthrough = n;
  unit->info = info;
  return YOKE_OK;
}

static yoke_status take_unit(yoke_system* system, yoke_system_unit* unit) {
  const yoke_scenario_unit* source = unit->source;
  collection c = {.system = system, .unit = unit};
  c.is_given = yoke__arena_array(&system->arena, unit->unit.n_y + 1, sizeof *c.is_given);
  YOKE_TRY_MEMORY(c.is_given);
  for (size_t i = 0; i < unit->unit.n_y; i++) {
    c.is_given[i] = source->has_no_feedthrough;
  }
  for (size_t i = 0; i < source->n_feedthrough; i++) {
    YOKE_TRY(take_output(&c, &source->feedthrough[i]));
  }
  unit->is_through_given = c.is_given;
  unit->gains = c.gains;
  unit->n_gains = c.n;
  return describe_again(&c);
}

yoke_status yoke__system_take_feedthrough(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    const bool is_said = unit->source->has_no_feedthrough || unit->source->n_feedthrough > 0;
    // one that could not be made was reported
    if (is_said && unit->unit.info != NULL) {
      YOKE_TRY(take_unit(system, unit));
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// what is known

static yoke_through unknown(yoke_through_how how) {
  return (yoke_through){YOKE_THROUGH_UNKNOWN, how};
}

static yoke_through known(yoke_through_how how) {
  return (yoke_through){YOKE_THROUGH_KNOWN, how};
}

// How D of a pair that is not zero will be found at the start; variable: the output.
static yoke_through plan_of(const yoke_system_unit* unit, const yoke_variable* variable) {
  const yoke_unit_ops* ops = unit->unit.ops;
  if ((unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
    return unknown(YOKE_THROUGH_OF_MACHINE);
  }
  // while a unit is initialised an output may follow its start values: only derivatives tell these apart
  const bool can_refresh = yoke__unit_can_refresh(&unit->unit);
  if (ops->linearise != NULL || (ops->derivative != NULL && !can_refresh)) {
    return known(YOKE_THROUGH_BY_DERIVATIVES);
  }
  const bool is_silent = (variable->flags & YOKE_VARIABLE_FEEDTHROUGH_UNKNOWN) != 0;
  return is_silent && !can_refresh ? unknown(YOKE_THROUGH_NOT_SAID) : known(YOKE_THROUGH_BY_PROBE);
}

// What stands in the way of D, whatever it is.
static yoke_through limit(const yoke_system_unit* unit, yoke_through plan) {
  if (plan.kind == YOKE_THROUGH_ZERO) {
    return plan;
  }
  if (unit->is_law || unit->is_fresh) {
    return known(YOKE_THROUGH_BY_EXCHANGE);
  }
  return unit->n_typed_inputs > 0 ? unknown(YOKE_THROUGH_SWITCHED) : plan;
}

yoke_through yoke__through_of_output(const yoke_system_unit* unit, size_t output) {
  return limit(unit, plan_of(unit, &unit->unit.info->variables[output]));
}

yoke_through yoke__through_of_gain(const yoke_system_unit* unit, size_t output,
                                   const yoke_system_gain* gain) {
  if (!isnan(gain->value)) {
    const yoke_through_kind kind = gain->value == 0 ? YOKE_THROUGH_ZERO : YOKE_THROUGH_KNOWN;
    return limit(unit, (yoke_through){kind, YOKE_THROUGH_BY_FILE});
  }
  // named by the file: what the probe shows is no accident
  const yoke_through plan = plan_of(unit, &unit->unit.info->variables[output]);
  return limit(unit, plan.how == YOKE_THROUGH_NOT_SAID ? known(YOKE_THROUGH_BY_PROBE) : plan);
}

// Does a connection feed one of n numbers of U from `first` on? Taps into a unit are in order of U.
static bool is_fed(const yoke_system* system, const yoke_system_unit* unit, size_t first,
                   size_t n) {
  size_t low = unit->first_tap, high = unit->first_tap + unit->n_taps;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (system->taps[middle].to < first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < unit->first_tap + unit->n_taps && system->taps[low].to < first + n;
}

// An output of which the unit itself says what it follows.
static yoke_through described(const yoke_system* system, const yoke_system_unit* unit,
                              size_t output) {
  const yoke_unit_info* info = unit->unit.info;
  const bool is_fmu = unit->source->kind == YOKE_KIND_FMU;
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    if (info->feedthrough[i].output != output) {
      continue;
    }
    const size_t input = info->feedthrough[i].input, dense = unit->unit.dense[input];
    // a typed input may switch what the output follows; one that is not connected does not move
    const bool acts =
        dense == YOKE_NOT_DENSE
            ? unit->n_typed_inputs > 0
            : is_fed(system, unit, unit->u + dense, yoke__variable_count(&info->variables[input]));
    if (acts) {
      return yoke__through_of_output(unit, output);
    }
  }
  return (yoke_through){YOKE_THROUGH_ZERO,
                        is_fmu ? YOKE_THROUGH_BY_DEPENDENCIES : YOKE_THROUGH_BY_UNIT};
}

static yoke_through given(const yoke_system* system, const yoke_system_unit* unit, size_t output,
                          size_t y) {
  yoke_through all = {YOKE_THROUGH_ZERO, YOKE_THROUGH_BY_FILE};
  for (size_t i = 0; i < unit->n_gains; i++) {
    const yoke_system_gain* gain = &unit->gains[i];
    if (gain->y == y && is_fed(system, unit, unit->u + gain->u, 1)) {
      all = yoke__through_least(all, yoke__through_of_gain(unit, output, gain));
    }
  }
  return all;
}

yoke_through yoke__system_feedthrough(const yoke_system* system, size_t link) {
  const yoke_system_link* l = &system->links[link];
  const yoke_system_unit* unit = &system->units[l->from_unit];
  const size_t dense = unit->unit.dense[l->from_variable];
  yoke_through all = {YOKE_THROUGH_ZERO, YOKE_THROUGH_BY_FILE};
  bool is_described = dense == YOKE_NOT_DENSE || unit->is_through_given == NULL;
  for (size_t i = 0; !is_described && i < l->n; i++) {
    const size_t y = dense + l->from_element + i;
    if (unit->is_through_given[y]) {
      all = yoke__through_least(all, given(system, unit, l->from_variable, y));
    } else {
      is_described = true;
    }
  }
  const yoke_through rest = is_described ? described(system, unit, l->from_variable) : all;
  return all.kind > rest.kind ? all : rest;
}
