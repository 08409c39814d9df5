// Stage 2: connections to links, links to taps and moves. Every input has exactly one source or a start value.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "base/base_number.h"
#include "system/system.h"

#define MAX_DELAY 10000000  // samples kept by one delay: 80 MB

static const char* const type_words[] = {"real",        "integer", "boolean",
                                         "enumeration", "string",  "binary"};

// ---------------------------------------------------------------------------------------------------------
// names

const char* yoke__system_nearest_unit(const yoke_system* system, const char* name) {
  if (yoke__messages_is_full(system->messages)) {
    return NULL;
  }
  const char** names = malloc((system->n_units + 1) * sizeof *names);
  if (names == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    names[i] = system->units[i].name;
  }
  const char* nearest = yoke__nearest_name(name, names, system->n_units);
  free((void*)names);
  return nearest;
}

static const char* nearest_variable(const yoke_system* system, const yoke_unit* unit,
                                    const char* name) {
  const size_t n = unit->info->n_variables;
  const char** names =
      yoke__messages_is_full(system->messages) ? NULL : malloc((n + 1) * sizeof *names);
  if (names == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    names[i] = unit->info->variables[i].name;
  }
  const char* nearest = yoke__nearest_name(name, names, n);
  free((void*)names);
  return nearest;
}

// "v[7]" of an array that is shorter; false if the name is not of this kind
static bool report_element(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                           const char* what, const yoke_unit* unit) {
  const char* open = strrchr(endpoint->variable, '[');
  for (size_t i = 0; open != NULL && i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const size_t length = strlen(v->name);
    if (length != (size_t)(open - endpoint->variable) ||
        strncmp(v->name, endpoint->variable, length) != 0) {
      continue;
    }
    const size_t n_rows = v->n_rows == 0 ? 1 : v->n_rows, n_cols = v->n_cols == 0 ? 1 : v->n_cols;
    char size[64];
    if (n_rows > 1 && n_cols > 1) {
      snprintf(size, sizeof size, "%zu x %zu elements", n_rows, n_cols);
    } else {
      snprintf(size, sizeof size, "%zu element%s", n_rows * n_cols,
               n_rows * n_cols == 1 ? "" : "s");
    }
    yoke__error(system->messages, endpoint->place,
                "%s: there is no '%s.%s': '%s' has %s, counted from 0", what, endpoint->unit,
                endpoint->variable, v->name, size);
    return true;
  }
  return false;
}

bool yoke__system_resolve(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                          const char* what, size_t* unit, size_t* variable, size_t* element,
                          size_t* n) {
  if (endpoint->unit == NULL || endpoint->variable == NULL) {
    return false;  // reported when the file was read
  }
  *unit = yoke__map_find(&system->unit_index, endpoint->unit);
  if (*unit == YOKE_NOT_FOUND && what == NULL) {
    return false;
  }
  if (*unit == YOKE_NOT_FOUND) {
    const char* nearest = yoke__system_nearest_unit(system, endpoint->unit);
    yoke__error(system->messages, endpoint->place, "%s: unknown unit '%s'%s%s%s", what,
                endpoint->unit, nearest == NULL ? "" : "; did you mean '",
                nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
    return false;
  }
  const yoke_unit* u = &system->units[*unit].unit;
  if (u->self == NULL) {
    return false;  // it was reported when the unit could not be made
  }
  *element = 0;
  *variable = yoke__unit_find(u, endpoint->variable);
  if (*variable != YOKE_NOT_FOUND) {
    *n = yoke__variable_count(&u->info->variables[*variable]);
    return true;
  }
  if (yoke__unit_find_element(u, endpoint->variable, variable, element)) {
    *n = 1;
    return true;
  }
  if (what == NULL || report_element(system, endpoint, what, u)) {
    return false;
  }
  const char* nearest = nearest_variable(system, u, endpoint->variable);
  yoke__error(system->messages, endpoint->place, "%s: '%s' (%s) has no variable '%s'%s%s%s", what,
              endpoint->unit, u->ops->name, endpoint->variable,
              nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
              nearest == NULL ? "" : "'?");
  return false;
}

// ---------------------------------------------------------------------------------------------------------
// time: the tick, and every interval in ticks

static yoke_status collect_durations(yoke_system* system, yoke_decimal** out, int* n_out) {
  const yoke_scenario* s = system->scenario;
  yoke_decimal* list =
      yoke__arena_array(&system->arena, 1 + s->n_units + 2 * s->n_connections, sizeof *list);
  if (list == NULL) {
    return YOKE_NO_MEMORY;
  }
  int n = 0;
  list[n++] = s->step.exact;
  for (size_t i = 0; i < s->n_units; i++) {
    if (s->units[i].step.is_given) {
      list[n++] = s->units[i].step.exact;
    }
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    if (s->connections[i].exchange.is_given) {
      list[n++] = s->connections[i].exchange.exact;
    }
    if (s->connections[i].delay.value > 0) {
      list[n++] = s->connections[i].delay.exact;
    }
  }
  *out = list;
  *n_out = n;
  return YOKE_OK;
}

// The tick of all durations; then every step in ticks. Follows the order of collect_durations.
static yoke_status fit_clock(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  if (!s->step.is_given) {
    return YOKE_BAD_INPUT;  // reported when the file was read
  }
  yoke_decimal* durations = NULL;
  int n = 0;
  YOKE_TRY(collect_durations(system, &durations, &n));
  int64_t* ticks = yoke__arena_array(&system->arena, (size_t)n, sizeof *ticks);
  if (ticks == NULL) {
    return YOKE_NO_MEMORY;
  }
  if (yoke__clock_fit(s->start.value, durations, n, &system->clock, ticks) < 0) {
    yoke__error(
        system->messages, s->step.place,
        "the steps have no common tick: they are too far apart to be counted in one integer");
    return YOKE_BAD_INPUT;
  }
  system->macro = ticks[0];
  int at = 1;
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].period = s->units[i].step.is_given ? ticks[at++] : system->macro;
    system->units[i].step = yoke__clock_seconds(&system->clock, system->units[i].period);
  }
  for (size_t i = 0; i < system->n_links; i++) {
    // absolute counts for now; choose_interval turns them into intervals
    system->links[i].interval = system->links[i].source->exchange.is_given ? ticks[at++] : 0;
    system->links[i].delay = system->links[i].source->delay.value > 0 ? ticks[at++] : 0;
  }
  return YOKE_OK;
}

static const char* seconds_text(const yoke_system* system, int64_t ticks,
                                char to[YOKE_NUMBER_SIZE]) {
  yoke__number_format(yoke__clock_seconds(&system->clock, ticks), to);
  return to;
}

static bool check_multiple(yoke_system* system, const yoke_system_link* link, int64_t interval,
                           size_t unit) {
  const yoke_system_unit* u = &system->units[unit];
  if (interval % u->period == 0) {
    return true;
  }
  char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE];
  yoke__error(
      system->messages, link->source->place,
      "%s.%s -> %s.%s: the exchange interval %s s is not a multiple of the step %s s of '%s'; the "
      "steps have no common grid",
      link->source->from.unit, link->source->from.variable, link->source->to.unit,
      link->source->to.variable, seconds_text(system, interval, a),
      seconds_text(system, u->period, b), u->name);
  return false;
}

// Iterative schemes repeat whole macro steps: everything meets at the common multiple of all steps.
static int64_t common_cycle(yoke_system* system) {
  int64_t cycle = system->macro;
  for (size_t i = 0; i < system->n_units && cycle > 0; i++) {
    cycle = yoke__lcm(cycle, system->units[i].period);
  }
  if (cycle == 0) {
    yoke__error(system->messages, system->scenario->step.place,
                "the steps have no common multiple that can be counted");
  }
  return cycle;
}

static void choose_interval(yoke_system* system, yoke_system_link* link, int64_t cycle) {
  const yoke_scenario_connection* source = link->source;
  const int64_t p = system->units[link->from_unit].period, q = system->units[link->to_unit].period;
  const int64_t given = link->interval;
  int64_t interval = system->macro;
  interval = p > interval ? p : interval;
  interval = q > interval ? q : interval;
  if (cycle > 0) {
    interval = cycle;
  }
  char a[YOKE_NUMBER_SIZE];
  if (given > 0 && cycle > 0 && given != cycle) {
    yoke__error(
        system->messages, source->exchange_place,
        "iterative schemes exchange at the end of every macro step (%s s): remove 'exchange'",
        seconds_text(system, cycle, a));
  } else if (given > 0) {
    interval = given;
  }
  if (!check_multiple(system, link, interval, link->from_unit) ||
      !check_multiple(system, link, interval, link->to_unit)) {
    return;
  }
  link->interval = interval;
  if (link->delay % interval != 0) {
    yoke__error(system->messages, source->delay_place,
                "the delay must be a multiple of the connection's exchange interval %s s",
                seconds_text(system, interval, a));
  }
  link->delay /= interval;
  if (link->delay > MAX_DELAY) {
    yoke__error(system->messages, source->delay_place,
                "the delay is %lld exchange intervals of %s s; expected at most %d",
                (long long)link->delay, seconds_text(system, interval, a), MAX_DELAY);
  }
}

// ---------------------------------------------------------------------------------------------------------
// links

static bool is_whole(yoke_type type) {
  return type == YOKE_INTEGER || type == YOKE_BOOLEAN || type == YOKE_ENUMERATION;
}

// can a value of type `from` go into a variable of type `to`
static bool is_assignable(yoke_type from, yoke_type to) {
  if (from == to) {
    return true;
  }
  return is_whole(from) && (to == YOKE_REAL || to == YOKE_INTEGER ||
                            (to == YOKE_ENUMERATION && from == YOKE_INTEGER));
}

static void check_types(yoke_system* system, yoke_system_link* link, const yoke_variable* from,
                        const yoke_variable* to, size_t n_from, size_t n_to) {
  const yoke_scenario_connection* c = link->source;
  if (!is_assignable(from->type, to->type)) {
    yoke__error(system->messages, c->place, "types do not match: %s.%s is %s, %s.%s is %s",
                c->from.unit, c->from.variable, type_words[from->type], c->to.unit, c->to.variable,
                type_words[to->type]);
    return;
  }
  if (n_from != n_to) {
    yoke__error(system->messages, c->place,
                "sizes do not match: %s.%s has %zu element%s, %s.%s has %zu", c->from.unit,
                c->from.variable, n_from, n_from == 1 ? "" : "s", c->to.unit, c->to.variable, n_to);
    return;
  }
  const bool is_numeric = from->type == YOKE_REAL || to->type == YOKE_REAL;
  if (!is_numeric && (c->gain != 1 || c->offset != 0)) {
    yoke__error(system->messages, c->place, "gain and offset need real variables; %s.%s is %s",
                c->to.unit, c->to.variable, type_words[to->type]);
  }
  if (!link->is_dense && (c->order > 0 || c->delay.value > 0)) {
    yoke__error(system->messages, c->order > 0 ? c->order_place : c->delay_place,
                "%s.%s takes values as they are: order and delay need real inputs", c->to.unit,
                c->to.variable);
  }
  if ((from->type == YOKE_STRING || from->type == YOKE_BINARY) &&
      (from->max_size > to->max_size || (n_from > 1 && from->max_size != to->max_size))) {
    yoke__error(system->messages, c->place, "%s.%s can be %zu bytes long, %s.%s only %zu",
                c->from.unit, c->from.variable, from->max_size, c->to.unit, c->to.variable,
                to->max_size);
  }
}

static void check_dimensions(yoke_system* system, const yoke_system_link* link,
                             const yoke_variable* from, const yoke_variable* to) {
  const yoke_scenario_connection* c = link->source;
  double factor = 1, offset = 0;
  const yoke_dim_kinship relation = yoke__dim_relation(from->dim, to->dim, &factor, &offset);
  // a gain that the user wrote carries a dimension of its own
  if (c->gain != 1 || c->offset != 0) {
    return;
  }
  if (relation == YOKE_DIM_DIFFERENT) {
    yoke__error(system->messages, c->place, "dimensions do not match: %s.%s is in %s, %s.%s in %s",
                c->from.unit, c->from.variable, from->dim, c->to.unit, c->to.variable, to->dim);
  } else if (relation == YOKE_DIM_SCALED) {
    char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE];
    yoke__number_format(factor, a);
    yoke__number_format(offset, b);
    yoke__error(system->messages, c->place,
                "%s.%s is in %s, %s.%s in %s: write the long form with gain: %s%s%s", c->from.unit,
                c->from.variable, from->dim, c->to.unit, c->to.variable, to->dim, a,
                offset != 0 ? ", offset: " : "", offset != 0 ? b : "");
  }
}

// false after a message
static bool resolve_link(yoke_system* system, const yoke_scenario_connection* source,
                         yoke_system_link* link) {
  size_t n_from = 0, n_to = 0;
  *link = (yoke_system_link){.source = source,
                             .gain = source->gain,
                             .offset = source->offset,
                             .order = source->order,
                             .interval = link->interval,
                             .delay = link->delay};
  const bool has_from = yoke__system_resolve(system, &source->from, "connection", &link->from_unit,
                                             &link->from_variable, &link->from_element, &n_from);
  const bool has_to = yoke__system_resolve(system, &source->to, "connection", &link->to_unit,
                                           &link->to_variable, &link->to_element, &n_to);
  if (!has_to) {
    return false;
  }
  // a sink counts as connected even if the rest is wrong: one mistake, one message
  const yoke_variable* to = &system->units[link->to_unit].unit.info->variables[link->to_variable];
  const bool is_sink = to->causality == YOKE_INPUT || to->causality == YOKE_TUNABLE;
  link->n = is_sink ? n_to : 0;
  if (!has_from) {
    return false;
  }
  const yoke_variable* from =
      &system->units[link->from_unit].unit.info->variables[link->from_variable];
  if (from->causality != YOKE_OUTPUT) {
    yoke__error(system->messages, source->from.place,
                "'%s.%s' is not an output: nothing can come from it", source->from.unit,
                source->from.variable);
    return false;
  }
  if (!is_sink) {
    yoke__error(system->messages, source->to.place,
                "'%s.%s' is neither an input nor a tunable parameter: nothing can go into it",
                source->to.unit, source->to.variable);
    return false;
  }
  link->is_dense = from->type == YOKE_REAL && to->type == YOKE_REAL && to->causality == YOKE_INPUT;
  const size_t n_errors = system->messages->n_errors;
  if (!link->is_dense &&
      (yoke__variable_count(from) != n_from || yoke__variable_count(to) != n_to)) {
    yoke__error(system->messages, source->place,
                "single elements can only be connected between real "
                "outputs and real inputs");
  }
  check_types(system, link, from, to, n_from, n_to);
  if (from->type == YOKE_REAL && to->type == YOKE_REAL) {
    check_dimensions(system, link, from, to);
  }
  return system->messages->n_errors == n_errors;
}

// ---------------------------------------------------------------------------------------------------------
// inputs: one source or a start value

static const yoke_setting* find_start(const yoke_system_unit* unit, const char* name) {
  for (size_t i = 0; i < unit->source->n_start; i++) {
    if (strcmp(unit->source->start[i].name, name) == 0) {
      return &unit->source->start[i];
    }
  }
  return NULL;
}

// owner[]: per unit and variable element, the link that feeds it
static void claim_inputs(yoke_system* system, const size_t first_element[],
                         const size_t variable_element[], size_t owner[]) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->n == 0) {
      continue;  // nothing that takes a value
    }
    const size_t at =
        variable_element[first_element[link->to_unit] + link->to_variable] + link->to_element;
    for (size_t j = 0; j < link->n; j++) {
      if (owner[at + j] != YOKE_NOT_FOUND) {
        const yoke_scenario_connection* other = system->links[owner[at + j]].source;
        yoke__error(system->messages, link->source->place,
                    "'%s.%s' has two sources: this one and '%s.%s' in line %d",
                    link->source->to.unit, link->source->to.variable, other->from.unit,
                    other->from.variable, other->place.line);
        break;
      }
      owner[at + j] = i;
    }
  }
}

static void check_unit_inputs(yoke_system* system, const yoke_system_unit* unit,
                              const size_t elements[], const size_t owner[]) {
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    if (variable->causality != YOKE_INPUT) {
      continue;
    }
    size_t n_free = 0;
    for (size_t j = 0; j < yoke__variable_count(variable); j++) {
      n_free += owner[elements[v] + j] == YOKE_NOT_FOUND;
    }
    if (n_free > 0 && (variable->flags & YOKE_VARIABLE_HAS_START) == 0 &&
        find_start(unit, variable->name) == NULL) {
      yoke__error(system->messages, unit->source->place,
                  "input '%s.%s' is not connected and has no start value; connect it or write "
                  "start: {%s: ...}",
                  unit->name, variable->name, variable->name);
    }
  }
}

static yoke_status check_inputs(yoke_system* system) {
  // number all elements of all variables of all units
  size_t n_variables = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    n_variables += system->units[i].unit.self == NULL ? 0 : system->units[i].unit.info->n_variables;
  }
  size_t* first = calloc(system->n_units + 1, sizeof *first);
  size_t* elements = calloc(n_variables + 1, sizeof *elements);
  size_t n = 0, at = 0;
  for (size_t i = 0; first != NULL && elements != NULL && i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    first[i] = at;
    for (size_t v = 0; unit->self != NULL && v < unit->info->n_variables; v++) {
      elements[at++] = n;
      n += yoke__variable_count(&unit->info->variables[v]);
    }
  }
  size_t* owner = malloc((n + 1) * sizeof *owner);
  yoke_status status = YOKE_NO_MEMORY;
  if (first != NULL && elements != NULL && owner != NULL) {
    memset(owner, 0xff, (n + 1) * sizeof *owner);  // YOKE_NOT_FOUND
    claim_inputs(system, first, elements, owner);
    for (size_t i = 0; i < system->n_units; i++) {
      // where connections could not be read, those that are missing cannot be told
      if (system->units[i].unit.self != NULL && !system->scenario->has_errors) {
        check_unit_inputs(system, &system->units[i], elements + first[i], owner);
      }
    }
    status = YOKE_OK;
  }
  free(first);
  free(elements);
  free(owner);
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// taps and typed values

static void lay_dense(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    unit->u = system->n_u;
    unit->y = system->n_y;
    system->n_u += unit->unit.n_u;
    system->n_y += unit->unit.n_y;
  }
}

static int compare_taps(const void* left, const void* right) {
  const yoke_tap* a = left;
  const yoke_tap* b = right;
  return a->to < b->to ? -1 : a->to > b->to;
}

// every element of every dense link, sorted by where it goes: each unit's taps lie next to each other
static yoke_status lay_taps(yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    n += system->links[i].is_dense ? system->links[i].n : 0;
  }
  system->taps = yoke__arena_array(&system->arena, n + 1, sizeof *system->taps);
  if (system->taps == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const yoke_system_unit* from = &system->units[link->from_unit];
    const yoke_system_unit* to = &system->units[link->to_unit];
    for (size_t j = 0; link->is_dense && j < link->n; j++) {
      yoke_tap* tap = &system->taps[system->n_taps++];
      *tap = (yoke_tap){.from = from->y + from->unit.dense[link->from_variable] +
                                link->from_element + j,
                        .to = to->u + to->unit.dense[link->to_variable] + link->to_element + j,
                        .gain = link->gain,
                        .offset = link->offset,
                        .order = link->order,
                        .delay = link->delay,
                        .fifo = system->n_fifo,
                        .link = i};
      system->n_fifo += (size_t)link->delay;
    }
  }
  qsort(system->taps, system->n_taps, sizeof *system->taps, compare_taps);
  size_t at = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    unit->first_tap = at;
    while (at < system->n_taps && system->taps[at].to < unit->u + unit->unit.n_u) {
      at++;
    }
    unit->n_taps = at - unit->first_tap;
  }
  return YOKE_OK;
}

static size_t padded(size_t size) {
  return (size + 7) / 8 * 8;
}

// room for the values that are not real inputs and outputs: what units deliver (V), what connections bring (W)
static yoke_status lay_typed(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    const size_t n_variables = unit->unit.info->n_variables;
    yoke_system_typed* outputs =
        yoke__arena_array(&system->arena, n_variables + 1, sizeof *outputs);
    yoke_system_typed* inputs = yoke__arena_array(&system->arena, n_variables + 1, sizeof *inputs);
    if (outputs == NULL || inputs == NULL) {
      return YOKE_NO_MEMORY;
    }
    unit->typed_outputs = outputs;
    unit->typed_inputs = inputs;
    for (size_t v = 0; v < n_variables; v++) {
      const yoke_variable* variable = &unit->unit.info->variables[v];
      const size_t size = yoke__variable_size(variable);
      if (variable->causality == YOKE_OUTPUT && variable->type != YOKE_REAL) {
        outputs[unit->n_typed_outputs++] = (yoke_system_typed){v, system->n_typed_out, size};
        system->n_typed_out += padded(size);
      }
    }
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    yoke_system_unit* unit = &system->units[link->to_unit];
    const yoke_variable* variable = &unit->unit.info->variables[link->to_variable];
    if (link->is_dense || (variable->type == YOKE_REAL && variable->causality == YOKE_INPUT)) {
      continue;
    }
    const size_t size = yoke__variable_size(variable);
    unit->typed_inputs[unit->n_typed_inputs++] =
        (yoke_system_typed){link->to_variable, system->n_typed_in, size};
    system->n_typed_in += padded(size);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// bonds

// one side of a bond is a real output
static void check_pair(yoke_system* system, const yoke_scenario_pair* source,
                       const yoke_system_pair* pair, const char* side) {
  const yoke_variable* from =
      &system->units[pair->from_unit].unit.info->variables[pair->from_variable];
  if (from->type != YOKE_REAL || from->causality != YOKE_OUTPUT) {
    yoke__error(system->messages, source->from.place, "bond: the %s '%s.%s' is not a real output",
                side, source->from.unit, source->from.variable);
  }
}

static yoke_system_pair* resolve_pairs(yoke_system* system, const yoke_scenario_pair pairs[],
                                       size_t n, const char* side) {
  yoke_system_pair* out = yoke__arena_array(&system->arena, n + 1, sizeof *out);
  for (size_t i = 0; out != NULL && i < n; i++) {
    size_t element = 0, count = 0;
    out[i] = (yoke_system_pair){.from_unit = YOKE_NOT_FOUND, .to_unit = YOKE_NOT_FOUND};
    // an arrow is a connection too, and its ends were reported there
    const char* what = pairs[i].has_to ? NULL : "bond";
    if (yoke__system_resolve(system, &pairs[i].from, what, &out[i].from_unit,
                             &out[i].from_variable, &element, &out[i].n) &&
        !pairs[i].has_to) {
      check_pair(system, &pairs[i], &out[i], side);
    }
    if (pairs[i].has_to) {
      yoke__system_resolve(system, &pairs[i].to, what, &out[i].to_unit, &out[i].to_variable,
                           &element, &count);
    }
  }
  return out;
}

// the product of an action and its rate needs as many elements of one as of the other
static void check_sizes(yoke_system* system, const yoke_scenario_bond* source,
                        const yoke_system_bond* bond) {
  for (size_t i = 0; i < source->n_action && i < source->n_rate; i++) {
    if (bond->action[i].n != bond->rate[i].n && bond->action[i].n > 0 && bond->rate[i].n > 0) {
      yoke__error(system->messages, source->place,
                  "bond '%s': '%s.%s' has %zu elements and '%s.%s' has %zu; their product needs as "
                  "many of one as of the other",
                  source->name, source->action[i].from.unit, source->action[i].from.variable,
                  bond->action[i].n, source->rate[i].from.unit, source->rate[i].from.variable,
                  bond->rate[i].n);
    }
  }
}

// One parameter of the method `hold`: it has the order and nothing else.
static void check_hold_parameter(yoke_system* system, const yoke_node* node) {
  static const char* const keys[] = {"method", "members", "order"};
  for (size_t i = 0; i < 2; i++) {
    if (strcmp(node->key, keys[i]) == 0) {
      return;
    }
  }
  if (strcmp(node->key, keys[2]) != 0) {
    const char* nearest = yoke__nearest_name(node->key, keys, YOKE_COUNT(keys));
    yoke__error(system->messages, node->key_place, "method 'hold' has no parameter '%s'; %s%s%s",
                node->key, nearest == NULL ? "it has: " : "did you mean '",
                nearest == NULL ? keys[2] : nearest, nearest == NULL ? "" : "'?");
    return;
  }
  void* order = NULL;
  size_t n_rows = 0, n_cols = 0;
  if (yoke__node_values(node, YOKE_INTEGER, NULL, "'order'", &system->arena, system->messages,
                        &order, &n_rows, &n_cols) < 0) {
    return;
  }
  if (n_rows * n_cols != 1 || *(int64_t*)order < 0 || *(int64_t*)order > 3) {
    yoke__error(system->messages, node->place, "'order': expected an integer from 0 to 3, found %s",
                node->kind == YOKE_NODE_SCALAR ? node->text : "a list");
  }
}

// The method must be known, and so must its parameters.
static void check_method(yoke_system* system, const yoke_node* map, const char* method,
                         yoke_place place) {
  static const char* const methods[] = {"hold"};
  if (strcmp(method, methods[0]) != 0) {
    const char* nearest = yoke__nearest_name(method, methods, YOKE_COUNT(methods));
    yoke__error(system->messages, place, "unknown coupling method '%s'; %s%s%s", method,
                nearest == NULL ? "known: " : "did you mean '", methods[0],
                nearest == NULL ? "" : "'?");
    return;
  }
  for (const yoke_node* child = map->first; child != NULL; child = child->next) {
    check_hold_parameter(system, child);
  }
}

static yoke_status resolve_bonds(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  yoke_system_bond* bonds = yoke__arena_array(&system->arena, s->n_bonds + 1, sizeof *bonds);
  if (bonds == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* source = &s->bonds[i];
    bonds[i] = (yoke_system_bond){source->name,
                                  resolve_pairs(system, source->action, source->n_action, "action"),
                                  resolve_pairs(system, source->rate, source->n_rate, "rate"),
                                  source->n_action,
                                  source->n_rate,
                                  source->sign};
    if (bonds[i].action == NULL || bonds[i].rate == NULL) {
      return YOKE_NO_MEMORY;
    }
    check_sizes(system, source, &bonds[i]);
    const yoke_node* method =
        source->coupling == NULL ? NULL : yoke__node_child(source->coupling, "method");
    if (method != NULL && method->text != NULL) {
      check_method(system, source->coupling, method->text, method->place);
    }
  }
  for (size_t i = 0; i < s->n_couplings; i++) {
    if (s->couplings[i].method != NULL) {
      check_method(system, s->couplings[i].node, s->couplings[i].method,
                   s->couplings[i].method_place);
    }
  }
  system->bonds = bonds;
  system->n_bonds = s->n_bonds;
  return YOKE_OK;
}

static bool is_same_end(const yoke_scenario_endpoint* a, const yoke_scenario_endpoint* b) {
  return a->unit != NULL && b->unit != NULL && a->variable != NULL && b->variable != NULL &&
         strcmp(a->unit, b->unit) == 0 && strcmp(a->variable, b->variable) == 0;
}

// an arrow in a bond is a connection, unless the file lists that connection anyway
static yoke_status add_bond_link(yoke_system* system, const yoke_scenario_pair* pair, int order) {
  const yoke_scenario* s = system->scenario;
  for (size_t i = 0; i < s->n_connections; i++) {
    if (is_same_end(&s->connections[i].from, &pair->from) &&
        is_same_end(&s->connections[i].to, &pair->to)) {
      return YOKE_OK;
    }
  }
  yoke_scenario_connection* c = yoke__arena_take(&system->arena, sizeof *c);
  if (c == NULL) {
    return YOKE_NO_MEMORY;
  }
  *c = (yoke_scenario_connection){.from = pair->from,
                                  .to = pair->to,
                                  .gain = 1,
                                  .order = order,
                                  .place = pair->from.place,
                                  .order_place = pair->from.place};
  system->links[system->n_links++].source = c;
  return YOKE_OK;
}

// extrapolation order of a bond's own connections; check_hold_parameter reports a wrong one
static int bond_order(const yoke_scenario_bond* bond) {
  const yoke_node* node = bond->coupling == NULL ? NULL : yoke__node_child(bond->coupling, "order");
  int64_t order = 0;
  const bool is_known = node != NULL && node->text != NULL &&
                        yoke__number_parse_integer(node->text, &order) && order >= 0 && order <= 3;
  return is_known ? (int)order : 0;
}

static yoke_status list_links(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  size_t n = s->n_connections;
  for (size_t i = 0; i < s->n_bonds; i++) {
    n += s->bonds[i].n_action + s->bonds[i].n_rate;
  }
  system->links = yoke__arena_array(&system->arena, n + 1, sizeof *system->links);
  if (system->links == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (; system->n_links < s->n_connections; system->n_links++) {
    system->links[system->n_links].source = &s->connections[system->n_links];
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* bond = &s->bonds[i];
    const int order = bond_order(bond);
    for (size_t j = 0; j < bond->n_action + bond->n_rate; j++) {
      const yoke_scenario_pair* pair =
          j < bond->n_action ? &bond->action[j] : &bond->rate[j - bond->n_action];
      if (pair->has_to) {
        YOKE_TRY(add_bond_link(system, pair, order));
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__system_wire(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  YOKE_TRY(list_links(system));
  const yoke_status clock_status = fit_clock(system);
  if (clock_status < 0 && clock_status != YOKE_BAD_INPUT) {
    return clock_status;
  }
  const bool is_iterative =
      s->scheme == YOKE_ITERATIVE_JACOBI || s->scheme == YOKE_ITERATIVE_GAUSS_SEIDEL;
  const int64_t cycle = is_iterative && clock_status >= 0 ? common_cycle(system) : 0;
  for (size_t i = 0; i < system->n_links; i++) {
    if (resolve_link(system, system->links[i].source, &system->links[i]) && clock_status >= 0) {
      choose_interval(system, &system->links[i], cycle);
    }
  }
  YOKE_TRY(check_inputs(system));
  YOKE_TRY(resolve_bonds(system));
  if (system->messages->n_errors > 0) {
    return YOKE_BAD_INPUT;
  }
  if (is_iterative) {
    system->macro = cycle;
  }
  lay_dense(system);
  YOKE_TRY(lay_taps(system));
  return lay_typed(system);
}
