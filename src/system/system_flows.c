// Flows to slower units: which connections carry the mean of their output, and of which sent and arrived amounts are counted.
//
//   u_k = (1/T) integral of y over [t_k-1, t_k], given to the receiver over [t_k, t_k+1]
//
// A connection is averaged if its sender is called, or steps inside of its calls, at least twice per exchange interval T, and
// what it carries is a flow whose amount must not get lost: W, or A, m3/s, kg/s, mol/s, 1/s outside of power bonds. `average`
// of a connection overrides. Efforts and members of power bonds keep their samples: a mean is T/2 older, which costs stability.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "couple/couple_hold.h"
#include "system/system.h"

typedef struct flow_kind {
  const char *dim, *amount;  // of the output, of its integral
  bool is_power;             // averaged in bonds too
} flow_kind;

static const flow_kind kinds[] = {
    {"W", "J", true},      {"A", "C", false},       {"m3/s", "m3", false},
    {"kg/s", "kg", false}, {"mol/s", "mol", false}, {"1/s", "1", false},
};

// Angles count: rad/s, rpm and Hz are no 1/s.
static const flow_kind* find_kind(const char* text, double* factor) {
  yoke_dim dim, known;
  for (size_t i = 0; yoke__dim_parse(text, &dim) && i < YOKE_COUNT(kinds); i++) {
    if (yoke__dim_parse(kinds[i].dim, &known) && dim.n_turns == 0 &&
        memcmp(dim.exponents, known.exponents, sizeof dim.exponents) == 0) {
      *factor = dim.factor / known.factor;
      return &kinds[i];
    }
  }
  return NULL;
}

static const yoke_variable* from_variable(const yoke_system* system, const yoke_system_link* link) {
  return &system->units[link->from_unit].unit.info->variables[link->from_variable];
}

static bool has_dimension(const yoke_variable* v) {
  return v->dim != NULL && v->dim[0] != '\0' && strcmp(v->dim, "1") != 0;
}

// What a connection carries, by the dimension of its output; where that has none, by the dimension of its input. factor: from
// the output to SI units.
static const flow_kind* find_link_kind(const yoke_system* system, const yoke_system_link* link,
                                       double* factor) {
  const yoke_variable* from = from_variable(system, link);
  const yoke_variable* to = &system->units[link->to_unit].unit.info->variables[link->to_variable];
  if (has_dimension(from)) {
    return find_kind(from->dim, factor);
  }
  const flow_kind* kind = has_dimension(to) ? find_kind(to->dim, factor) : NULL;
  *factor *= kind == NULL ? 1 : link->gain;
  return kind;
}

// ---------------------------------------------------------------------------------------------------------
// the rule

static bool is_link_of(const yoke_system_bond* bond, size_t link) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].link == link || bond->rate[i].link == link) {
      return true;
    }
  }
  return false;
}

static bool is_in_power_bond(const yoke_system* system, size_t link) {
  for (size_t i = 0; i < system->n_bonds; i++) {
    if (system->bonds[i].ledger.kind == YOKE_BOND_POWER && is_link_of(&system->bonds[i], link)) {
      return true;
    }
  }
  return false;
}

// It, or its bond, names an order or a method: what it carries is extrapolated.
static bool is_shaped(const yoke_system* system, size_t index) {
  const yoke_system_link* link = &system->links[index];
  if (link->has_order) {
    return link->order > 0;
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_scenario_bond* source = system->bonds[i].source;
    const yoke_node* map = source == NULL ? NULL : source->coupling;
    const yoke_node* name = map == NULL ? NULL : yoke__node_child(map, "method");
    const bool is_method = name != NULL && name->text != NULL &&
                           (strcmp(name->text, yoke__couple_hold.name) != 0 ||
                            yoke__node_child(map, "library") != NULL);
    if ((is_method || yoke__system_method_order(map) > 0) && is_link_of(&system->bonds[i], index)) {
      return true;
    }
  }
  return false;
}

// A law is evaluated whenever something reaches it.
static int64_t law_interval(const yoke_system* system, size_t law) {
  int64_t least = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->to_unit == law && link->interval > 0) {
      least = least == 0 || link->interval < least ? link->interval : least;
    }
  }
  return least == 0 ? system->macro : least;
}

// Calls of the sender per exchange interval.
static int64_t count_calls(const yoke_system* system, const yoke_system_link* link) {
  const yoke_system_unit* from = &system->units[link->from_unit];
  const int64_t period = from->is_law ? law_interval(system, link->from_unit) : from->period;
  return period > 0 ? link->interval / period : 1;
}

// Steps of the sender's solver per exchange interval; 0: not known.
static double count_inner(const yoke_system* system, const yoke_system_link* link) {
  const yoke_system_unit* from = &system->units[link->from_unit];
  double step = 0;
  const yoke_solver_method method = yoke__unit_solver(&from->unit, from->step, &step);
  const double interval = yoke__clock_seconds(&system->clock, link->interval);
  return step > 0 ? interval / step : method == YOKE_SOLVER_EXACT ? 1 : 0;
}

static bool gives_integrals(const yoke_unit* unit) {
  return unit->ops->choose_integrals != NULL && unit->ops->get_integrals != NULL;
}

static bool is_twice(double n) {
  return n > 2 - 1e-6;
}

// Is more known of the output than its samples?
static bool is_seen_between(const yoke_system* system, const yoke_system_link* link) {
  const yoke_system_unit* from = &system->units[link->from_unit];
  if (count_calls(system, link) >= 2) {
    return true;
  }
  const double n = from->is_law ? 1 : count_inner(system, link);
  return gives_integrals(&from->unit) && (n == 0 || is_twice(n));
}

// May it change between the samples? A law hears of its sources.
static bool may_be_fast(const yoke_system* system, const yoke_system_link* link) {
  if (!system->units[link->from_unit].is_law) {
    const double n = count_inner(system, link);
    return n == 0 || is_twice(n);
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* source = &system->links[i];
    if (source->to_unit == link->from_unit && !system->units[source->from_unit].is_law &&
        (count_calls(system, source) >= 2 || is_seen_between(system, source))) {
      return true;
    }
  }
  return false;
}

// Why `average: true` cannot be; NULL: it can.
static const char* find_obstacle(const yoke_system* system, size_t index) {
  const yoke_system_link* link = &system->links[index];
  return !link->is_dense                       ? "its values are passed on unchanged"
         : system->units[link->to_unit].is_law ? "a law passes on its inputs at once"
         : yoke__system_is_iterative(system)   ? "iterative schemes exchange samples, not means"
         : is_shaped(system, index)            ? "a mean is held, not extrapolated"
         : link->gain == 0                     ? "its gain is 0"
                                               : NULL;
}

static void warn_of_samples(yoke_system* system, const yoke_system_link* link, bool is_iterative) {
  const yoke_scenario_connection* c = link->source;
  const bool is_law = system->units[link->from_unit].is_law;
  yoke__message_add(system->messages, YOKE_WARNING, c->place,
                    "%s.%s -> %s.%s: samples of a fast signal: %s, so values between two exchanges "
                    "are lost; %s%s%s, or write 'average: false' to accept this",
                    c->from.unit, c->from.variable, c->to.unit, c->to.variable,
                    is_iterative ? "iterative schemes exchange samples, not means"
                    : is_law     ? "the law is evaluated once per exchange"
                                 : "the sender is called once per exchange and gives no integral",
                    is_iterative ? "use another scheme" : "shorten the step of '",
                    is_iterative ? "" : c->from.unit, is_iterative ? "" : "'");
}

static void choose(yoke_system* system, size_t index) {
  yoke_system_link* link = &system->links[index];
  const yoke_scenario_connection* c = link->source;
  const char* obstacle = find_obstacle(system, index);
  if (c->average == YOKE_AVERAGE_YES) {
    if (obstacle != NULL) {
      yoke__error(system->messages, c->average_place, "%s.%s -> %s.%s: 'average: true': %s",
                  c->from.unit, c->from.variable, c->to.unit, c->to.variable, obstacle);
    }
    link->flow = YOKE_FLOW_AVERAGED;
    return;
  }
  double factor = 1;
  const flow_kind* kind = link->is_dense && !system->units[link->to_unit].is_law && link->gain != 0
                              ? find_link_kind(system, link, &factor)
                              : NULL;
  if (kind == NULL || (!kind->is_power && is_in_power_bond(system, index))) {
    return;
  }
  const bool is_iterative = yoke__system_is_iterative(system);
  const bool is_seen = is_seen_between(system, link);
  if (is_seen && !is_iterative) {
    const bool is_by_rule = c->average == YOKE_AVERAGE_BY_RULE && obstacle == NULL;
    link->flow = is_by_rule ? YOKE_FLOW_AVERAGED : YOKE_FLOW_METERED;
  } else if (c->average == YOKE_AVERAGE_BY_RULE && (is_seen || may_be_fast(system, link))) {
    link->is_flow_sampled = true;
    warn_of_samples(system, link, is_iterative);
  }
}

yoke_status yoke__system_choose_flows(yoke_system* system) {
  const bool is_sound = system->messages->n_errors == 0;
  for (size_t i = 0; i < system->n_links && is_sound; i++) {
    choose(system, i);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// memory

static const char* amount_of(yoke_system* system, const yoke_system_link* link, double* scale) {
  const yoke_variable* from = from_variable(system, link);
  const flow_kind* kind = find_link_kind(system, link, scale);
  if (kind != NULL) {
    return kind->amount;
  }
  char text[256];
  const bool has_dim = has_dimension(from);
  snprintf(text, sizeof text, "%.200s%s", has_dim ? from->dim : "", has_dim ? ".s" : "s");
  *scale = 1;
  return yoke__arena_text(&system->arena, text, strlen(text));
}

static yoke_status add_flow(yoke_system* system, yoke_tap* tap, size_t at) {
  const yoke_system_link* link = &system->links[tap->link];
  const yoke_system_unit* from = &system->units[link->from_unit];
  yoke_system_flow* flow = &system->flows[at];
  *flow = (yoke_system_flow){.link = tap->link,
                             .from = tap->from,
                             .to = tap->to,
                             .element = tap->from - from->y -
                                        from->unit.dense[link->from_variable] - link->from_element,
                             .delay = tap->delay,
                             .gain = tap->gain,
                             .offset = tap->offset,
                             .scale = 1,
                             .integral = YOKE_NOT_FOUND,
                             .is_averaged = link->flow == YOKE_FLOW_AVERAGED,
                             .is_from_law = from->is_law};
  flow->dim = amount_of(system, link, &flow->scale);
  YOKE_TRY_MEMORY(flow->dim);
  tap->mean = flow->is_averaged ? at + 1 : 0;
  system->has_law_flows = system->has_law_flows || from->is_law;
  return YOKE_OK;
}

// what a unit is to integrate itself: every output once
static yoke_status list_integrals(yoke_system* system, yoke_system_unit* unit) {
  if (unit->is_law || unit->n_flows == 0 || !gives_integrals(&unit->unit)) {
    return YOKE_OK;
  }
  size_t* outputs = yoke__arena_array(&system->arena, unit->n_flows, sizeof *outputs);
  YOKE_TRY_MEMORY(outputs);
  for (size_t i = unit->first_flow; i < unit->first_flow + unit->n_flows; i++) {
    yoke_system_flow* flow = &system->flows[i];
    size_t at = 0;
    while (at < unit->n_integrals && outputs[at] != flow->from - unit->y) {
      at++;
    }
    outputs[at] = flow->from - unit->y;
    unit->n_integrals += at == unit->n_integrals;
    flow->integral = at;
  }
  unit->integrals = outputs;
  return YOKE_OK;
}

// where those of each sender start
static void count_flows(yoke_system* system) {
  for (size_t i = 0; i < system->n_taps; i++) {
    const yoke_system_link* link = &system->links[system->taps[i].link];
    if (link->flow != YOKE_FLOW_NONE) {
      system->units[link->from_unit].n_flows++;
      system->units[link->to_unit].n_inflows++;
      system->n_flows++;
    }
  }
  size_t at = 0, into = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].first_flow = at;
    system->units[i].first_inflow = into;
    at += system->units[i].n_flows;
    into += system->units[i].n_inflows;
    system->units[i].n_flows = system->units[i].n_inflows = 0;
  }
}

yoke_status yoke__system_layout_flows(yoke_system* system) {
  count_flows(system);
  system->flows = yoke__arena_array(&system->arena, system->n_flows + 1, sizeof *system->flows);
  size_t* inflows = yoke__arena_array(&system->arena, system->n_flows + 1, sizeof *inflows);
  YOKE_TRY_MEMORY(system->flows && inflows);
  for (size_t i = 0; i < system->n_taps; i++) {
    const yoke_system_link* link = &system->links[system->taps[i].link];
    if (link->flow != YOKE_FLOW_NONE) {
      yoke_system_unit *from = &system->units[link->from_unit], *to = &system->units[link->to_unit];
      const size_t at = from->first_flow + from->n_flows++;
      YOKE_TRY(add_flow(system, &system->taps[i], at));
      inflows[to->first_inflow + to->n_inflows++] = at;
    }
  }
  system->inflows = inflows;
  for (size_t i = 0; i < system->n_flows; i++) {
    system->flows[i].lag = system->n_lags;
    system->n_lags += (size_t)system->flows[i].delay + 1;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    YOKE_TRY(list_integrals(system, &system->units[i]));
  }
  return YOKE_OK;
}
