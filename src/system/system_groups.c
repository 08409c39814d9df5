// Coupling groups: the taps that one method serves together, with what the method needs to know of them.
#include <math.h>
#include <string.h>

#include "couple/couple_hold.h"
#include "system/system.h"

// A polynomial matters only to units that are called more than once per exchange or that take derivatives.
bool yoke__system_needs_group(const yoke_system* system, const yoke_system_unit* unit,
                              const yoke_tap* tap) {
  const bool is_called_between = system->links[tap->link].interval > unit->period;
  const bool takes_derivatives = unit->unit.ops->set_input_derivatives != NULL;
  if (unit->is_law || yoke__system_is_iterative(system)) {
    return false;
  }
  return system->links[tap->link].method > 0 ||
         (tap->order > 0 && (is_called_between || takes_derivatives || unit->takes_means));
}

int yoke__system_acting_order(const yoke_system* system, const yoke_system_link* link,
                              const char** why) {
  const yoke_system_unit* to = &system->units[link->to_unit];
  const yoke_coupling_ops* ops = system->methods[link->method].ops;
  const bool takes_derivatives =
      to->unit.ops->set_input_derivatives != NULL && ops->input_derivatives != NULL;
  const char* reason = !link->is_dense ? "values are passed on as they are"
                       : to->is_law    ? "a law is evaluated with the newest values"
                       : yoke__system_is_iterative(system) ? "the iteration interpolates"
                       : link->interval <= to->period && !takes_derivatives && !to->takes_means
                           ? "the unit is called once per exchange"
                           : "";
  // a ramp needs two ends
  const int least = ops->lead_call > 0 ? 1 : 0;
  const int acting = reason[0] != '\0' ? 0 : link->order > least ? link->order : least;
  *why = acting == link->order ? "" : reason[0] != '\0' ? reason : "the method makes ramps";
  return acting;
}

// the taps that one group serves, in the order of their inputs, or of the components of the bond
static size_t list_group_taps(const yoke_system* system, const yoke_system_unit* unit,
                              int64_t every, size_t method, yoke_tap taps[]) {
  size_t n = 0;
  for (size_t i = unit->first_tap; i < unit->first_tap + unit->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    if (tap->every == every && system->links[tap->link].method == method &&
        yoke__system_needs_group(system, unit, tap)) {
      taps[n++] = *tap;
    }
  }
  if (system->methods[method].bond == YOKE_NOT_FOUND) {
    return n;
  }
  const yoke_system_bond* bond = &system->bonds[system->methods[method].bond];
  size_t at = 0;
  for (size_t p = 0; p < bond->n_pairs; p++) {
    for (size_t j = 0; j < bond->action[p].n; j++, at++) {
      size_t k = at;
      while (k < n &&
             (taps[k].link != bond->action[p].link ||
              taps[k].from !=
                  system->units[bond->action_unit].y +
                      system->units[bond->action_unit].unit.dense[bond->action[p].from_variable] +
                      bond->action[p].from_element + j)) {
        k++;
      }
      if (k < n) {
        const yoke_tap swapped = taps[at];
        taps[at] = taps[k];
        taps[k] = swapped;
      }
    }
  }
  return n;
}

// action and rate of the bond as its units deliver them, and what the method needs to know of it
static yoke_status add_probes(yoke_system* system, yoke_group* group) {
  const yoke_system_bond* bond = &system->bonds[system->methods[group->method].bond];
  const size_t n = bond->n;
  size_t* probes = yoke__arena_array(&system->arena, 2 * n, sizeof *probes);
  double* scale = yoke__arena_array(&system->arena, 2 * n, sizeof *scale);
  double* offset = yoke__arena_array(&system->arena, 2 * n, sizeof *offset);
  double* signal_scale = yoke__arena_array(&system->arena, n, sizeof *signal_scale);
  yoke_coupling_bond* about = yoke__arena_take(&system->arena, sizeof *about);
  YOKE_TRY_MEMORY(probes && scale && offset && signal_scale && about);
  size_t at = 0;
  for (size_t side = 0; side < 2; side++) {
    const yoke_system_pair* pairs = side == 0 ? bond->action : bond->rate;
    const yoke_system_unit* unit = &system->units[side == 0 ? bond->action_unit : bond->rate_unit];
    for (size_t p = 0; p < bond->n_pairs; p++) {
      for (size_t j = 0; j < pairs[p].n; j++, at++) {
        probes[at] = unit->y + unit->unit.dense[pairs[p].from_variable] + pairs[p].from_element + j;
        scale[at] = side == 0 ? bond->ledger.action_scale[at] : bond->ledger.rate_scale[at - n];
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    signal_scale[i] = bond->ledger.action_scale[i] / group->taps[i].gain;
  }
  *about = (yoke_coupling_bond){bond->name, n, signal_scale, bond->ledger.mu};
  group->probes = probes;
  group->probe_scale = scale;
  group->probe_offset = offset;
  group->setup.n_probes = 2 * n;
  group->setup.bond = about;
  return YOKE_OK;
}

// What the settings of the method name, behind the probes that are there.
static yoke_status add_named(yoke_system* system, yoke_group* group) {
  const yoke_system_method* method = &system->methods[group->method];
  const size_t n_old = group->setup.n_probes;
  size_t n = n_old;
  for (size_t i = 0; i < method->n_named; i++) {
    n += method->named[i].n;
  }
  size_t* probes = yoke__arena_array(&system->arena, n + 1, sizeof *probes);
  double* scale = yoke__arena_array(&system->arena, n + 1, sizeof *scale);
  double* offset = yoke__arena_array(&system->arena, n + 1, sizeof *offset);
  yoke_coupling_named* named =
      yoke__arena_array(&system->arena, method->ops->n_signals + 1, sizeof *named);
  YOKE_TRY_MEMORY(probes && scale && offset && named);
  for (size_t i = 0; i < n_old; i++) {
    probes[i] = group->probes[i];
    scale[i] = group->probe_scale[i];
    offset[i] = group->probe_offset[i];
  }
  size_t at = n_old;
  for (size_t key = 0; key < method->ops->n_signals; key++) {
    named[key].first = group->setup.n_signals + at;
    for (size_t i = 0; i < method->n_named; i++) {
      const yoke_system_named* one = &method->named[i];
      const yoke_system_unit* unit = &system->units[one->unit];
      for (size_t j = 0; one->key == key && j < one->n; j++, at++) {
        probes[at] = unit->y + unit->unit.dense[one->variable] + one->element + j;
        scale[at] = 1;
      }
    }
    named[key].n = group->setup.n_signals + at - named[key].first;
  }
  group->probes = probes;
  group->probe_scale = scale;
  group->probe_offset = offset;
  group->setup.n_probes = n;
  group->setup.named = named;
  return YOKE_OK;
}

// A method that delays its signals itself gets them undelayed.
static yoke_status take_delays(yoke_system* system, yoke_group* group, yoke_tap taps[]) {
  int64_t* delays = yoke__arena_array(&system->arena, group->setup.n_signals + 1, sizeof *delays);
  YOKE_TRY_MEMORY(delays);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    delays[i] = taps[i].delay;
    taps[i].delay = 0;
  }
  group->setup.delays = delays;
  return YOKE_OK;
}

// Where in refresh_order the sample of a signal is final. What is delayed reaches the unit an exchange later at the earliest:
// it may come last.
static yoke_status find_finals(yoke_system* system, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  size_t* final_at = yoke__arena_array(&system->arena, n + 1, sizeof *final_at);
  YOKE_TRY_MEMORY(final_at);
  for (size_t i = 0; i < n; i++) {
    const yoke_system_link* link = &system->links[group->taps[i].link];
    const size_t* refresh_at = system->units[link->from_unit].refresh_at;
    const bool is_own_delay = group->setup.delays != NULL && group->setup.delays[i] > 0;
    final_at[i] = is_own_delay               ? SIZE_MAX
                  : group->taps[i].delay > 0 ? 0
                  : refresh_at == NULL       ? 0
                                             : refresh_at[link->from_variable];
  }
  group->final_at = final_at;
  group->is_fresh = true;
  return YOKE_OK;
}

// Does an output of the unit follow a signal of the group that moves between exchanges?
static bool moves_outputs(const yoke_system* system, const yoke_group* group) {
  const yoke_system_unit* unit = &system->units[group->unit];
  const bool is_hold = group->ops == &yoke__couple_hold;
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    const size_t input = system->links[group->taps[i].link].to_variable;
    for (size_t k = 0; k < unit->unit.info->n_feedthrough; k++) {
      if (unit->unit.info->feedthrough[k].input == input &&
          (!is_hold || group->setup.orders[i] > 0)) {
        return group->every * system->slot > unit->period;
      }
    }
  }
  return false;
}

// samples from ports and emulated links may be missing, and those of units that came late
static bool may_be_missing(const yoke_system_unit* unit) {
  return unit->is_own || unit->unit.ops->sample_info != NULL;
}

static yoke_status list_validities(yoke_system* system, yoke_group* group) {
  const size_t bond_index = system->methods[group->method].bond;
  const yoke_system_bond* bond = bond_index == YOKE_NOT_FOUND ? NULL : &system->bonds[bond_index];
  const size_t n_rates = bond == NULL ? 0 : bond->n_pairs;
  yoke_validity* list =
      yoke__arena_array(&system->arena, group->setup.n_signals + n_rates + 1, sizeof *list);
  YOKE_TRY_MEMORY(list);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    const yoke_system_link* link = &system->links[group->taps[i].link];
    if (may_be_missing(&system->units[link->from_unit])) {
      const bool is_foretold = system->units[link->from_unit].source->on_loss == 0 &&
                               group->role == YOKE_GROUP_WHOLE && group->taps[i].delay == 0 &&
                               (group->ops->flags & YOKE_COUPLING_AGES) == 0;
      list[group->n_validities++] =
          (yoke_validity){link->from_unit, link->from_variable, i, is_foretold};
    }
  }
  for (size_t i = 0; i < n_rates; i++) {
    if (may_be_missing(&system->units[bond->rate_unit])) {
      list[group->n_validities++] =
          (yoke_validity){bond->rate_unit, bond->rate[i].from_variable, YOKE_NOT_FOUND, false};
    }
  }
  group->validities = list;
  return YOKE_OK;
}

// The limits of the ports that the signals go to.
static yoke_status fill_limits(yoke_system* system, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  double *low = NULL, *high = NULL;
  for (size_t i = 0; i < n; i++) {
    const yoke_system_link* link = &system->links[group->taps[i].link];
    const yoke_system_unit* to = &system->units[link->to_unit];
    const yoke_scenario_port* port = &to->source->port;
    const char* name = to->unit.info->variables[link->to_variable].name;
    for (size_t k = 0; k < port->n_limits; k++) {
      if (strcmp(port->limits[k].name, name) != 0) {
        continue;
      }
      if (low == NULL) {
        low = yoke__arena_array(&system->arena, n, sizeof *low);
        high = yoke__arena_array(&system->arena, n, sizeof *high);
        YOKE_TRY_MEMORY(low && high);
        for (size_t j = 0; j < n; j++) {
          low[j] = -(double)INFINITY;
          high[j] = (double)INFINITY;
        }
      }
      low[i] = port->limits[k].min;
      high[i] = port->limits[k].max;
    }
  }
  group->setup.low = low;
  group->setup.high = high;
  return YOKE_OK;
}

yoke_status yoke__system_fill_signals(yoke_system* system, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  const yoke_system_method* method = &system->methods[group->method];
  int* orders = yoke__arena_array(&system->arena, n, sizeof *orders);
  size_t* sources = yoke__arena_array(&system->arena, n, sizeof *sources);
  int64_t* n_sends = yoke__arena_array(&system->arena, n, sizeof *n_sends);
  YOKE_TRY_MEMORY(orders && sources && n_sends);
  for (size_t i = 0; i < n; i++) {
    const yoke_tap* tap = &group->taps[i];
    const yoke_system_link* link = &system->links[tap->link];
    const yoke_system_unit* source = &system->units[link->from_unit];
    yoke_system_unit* sink = &system->units[link->to_unit];
    sources[i] = link->from_unit;
    orders[i] = tap->order;
    n_sends[i] = source->is_law ? 1 : group->every * system->slot / source->period;
    if (sink->unit.ops->set_input_derivatives != NULL && method->ops->input_derivatives != NULL &&
        tap->order > sink->derivative_order) {
      sink->derivative_order = tap->order;
    }
  }
  group->ops = method->ops;
  group->is_mean = system->units[group->unit].takes_means && method->ops->input_mean != NULL &&
                   group->role != YOKE_GROUP_CLUSTER;
  group->sources = sources;
  group->setup.orders = orders;
  group->setup.n_sends = n_sends;
  group->setup.is_companion = system->scenario->is_companion;
  group->setup.parameters = method->parameters;
  group->setup.files = method->files;
  group->setup.interval = yoke__clock_seconds(&system->clock, group->every * system->slot);
  return fill_limits(system, group);
}

yoke_status yoke__system_add_group(yoke_system* system, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  YOKE_TRY(list_validities(system, group));
  group->sampler = system->n_groups++;
  group->first_signal = system->n_signals;
  system->n_signals += n;
  group->self = system->n_group_bytes;
  group->self_size = group->ops->size(&group->setup);
  // the number may come from a method of the user
  if (group->self_size > PTRDIFF_MAX - 64 - system->n_group_bytes) {
    return YOKE_NO_MEMORY;
  }
  system->n_group_bytes += (group->self_size + 63) / 64 * 64;
  group->sample = system->n_group_numbers;
  group->input = group->sample + n + group->setup.n_probes;
  group->derivatives = group->input + n;
  system->n_group_numbers = group->derivatives + n;
  return YOKE_OK;
}

static yoke_status make_group(yoke_system* system, size_t unit_index, int64_t every,
                              size_t method) {
  yoke_system_unit* unit = &system->units[unit_index];
  yoke_tap* taps = yoke__arena_array(&system->arena, unit->n_taps, sizeof *taps);
  yoke_coupling_sink* sink = yoke__arena_take(&system->arena, sizeof *sink);
  YOKE_TRY_MEMORY(taps && sink);
  const size_t n = list_group_taps(system, unit, every, method, taps);
  *sink = (yoke_coupling_sink){0, n, unit->step};
  yoke_group* group = &system->groups[system->n_groups];
  *group = (yoke_group){.setup = {.n_signals = n, .n_sinks = 1, .sinks = sink},
                        .taps = taps,
                        .method = method,
                        .unit = unit_index,
                        .every = every};
  if ((system->methods[method].ops->flags & YOKE_COUPLING_DELAYS) != 0) {
    YOKE_TRY(take_delays(system, group, taps));
  }
  YOKE_TRY(yoke__system_fill_signals(system, group));
  if (system->methods[method].bond != YOKE_NOT_FOUND) {
    YOKE_TRY(add_probes(system, group));
  }
  if (group->ops->n_signals > 0) {
    YOKE_TRY(add_named(system, group));
  }
  if (unit->is_fresh && (group->ops->flags & YOKE_COUPLING_FRESH) != 0 &&
      system->scenario->scheme == YOKE_JACOBI) {
    YOKE_TRY(find_finals(system, group));
    unit->is_fresh_between = unit->is_fresh_between || moves_outputs(system, group);
  }
  if (unit->n_groups++ == 0) {
    unit->first_group = system->n_groups;
  }
  return yoke__system_add_group(system, group);
}

static bool wants_sends(const yoke_group* group) {
  return group->ops->send != NULL &&
         (group->ops->wants == NULL ||
          (group->ops->wants(group->setup.parameters) & YOKE_WANTS_SENDS) != 0);
}

// Where `input` of the groups that feed a unit is put to know what is coming (master_unit.c): their room for derivatives, which
// are with the unit by then.
static yoke_status list_ends(yoke_system* system) {
  size_t* ends = yoke__arena_array(&system->arena, system->n_through_terms + 1, sizeof *ends);
  YOKE_TRY_MEMORY(ends);
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    for (size_t i = 0; group->role == YOKE_GROUP_WHOLE && i < group->setup.n_signals; i++) {
      for (size_t t = 0; t < system->n_through_terms; t++) {
        if (system->through_terms[t].u == group->taps[i].to) {
          ends[t] = 1 + group->derivatives + i;
        }
      }
    }
  }
  system->through_ends = ends;
  return YOKE_OK;
}

// units whose values a method wants after every step
static yoke_status list_sends(yoke_system* system) {
  yoke_group_send* sends = yoke__arena_array(&system->arena, system->n_signals + 1, sizeof *sends);
  YOKE_TRY_MEMORY(sends);
  size_t n = 0;
  for (size_t u = 0; u < system->n_units; u++) {
    yoke_system_unit* unit = &system->units[u];
    unit->first_send = n;
    for (size_t g = 0; g < system->n_groups && !unit->is_law; g++) {
      const yoke_group* group = &system->groups[g];
      const bool is_told = wants_sends(group) && group->role != YOKE_GROUP_MEMBER;
      for (size_t i = 0; is_told && i < group->setup.n_signals; i++) {
        if (group->sources[i] == u) {
          // the models of a cluster are made of outputs as they were returned
          const size_t through = group->role == YOKE_GROUP_WHOLE ? group->taps[i].through : 0;
          const bool is_late = unit->is_fresh && (group->ops->flags & YOKE_COUPLING_FRESH) != 0 &&
                               system->scenario->scheme == YOKE_JACOBI;
          const yoke_system_link* link = &system->links[group->taps[i].link];
          const size_t late_at = is_late ? unit->refresh_at[link->from_variable] : 0;
          sends[n++] = (yoke_group_send){g, i, &group->taps[i], through, late_at};
          unit->has_late_sends = unit->has_late_sends || late_at > 0;
          unit->has_through_sends = unit->has_through_sends || through > 0;
        }
      }
    }
    unit->n_sends = n - unit->first_send;
  }
  system->sends = sends;
  return YOKE_OK;
}

// The group of a unit's tap: one that is there, a part of a cluster, or a new one.
static yoke_status place_tap(yoke_system* system, size_t unit_index, const yoke_tap* tap) {
  const yoke_system_unit* unit = &system->units[unit_index];
  const size_t method = system->links[tap->link].method;
  for (size_t g = unit->first_group; g < unit->first_group + unit->n_groups; g++) {
    if (system->groups[g].every == tap->every && system->groups[g].method == method) {
      return YOKE_OK;
    }
  }
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* cluster = &system->groups[g];
    for (size_t k = 0; cluster->role == YOKE_GROUP_CLUSTER && cluster->method == method &&
                       k < cluster->setup.n_sinks;
         k++) {
      if (system->links[cluster->taps[cluster->setup.sinks[k].first].link].to_unit == unit_index) {
        return yoke__system_make_member(system, g, k);
      }
    }
  }
  return make_group(system, unit_index, tap->every, method);
}

yoke_status yoke__system_make_groups(yoke_system* system) {
  const size_t n_most = system->n_taps + system->n_methods + 1;
  system->groups = yoke__arena_array(&system->arena, n_most, sizeof *system->groups);
  YOKE_TRY_MEMORY(system->groups);
  for (size_t m = 0; m < system->n_methods && !yoke__system_is_iterative(system); m++) {
    if ((system->methods[m].ops->flags & YOKE_COUPLING_CLUSTER) != 0) {
      YOKE_TRY(yoke__system_make_cluster(system, m));
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    for (size_t t = unit->first_tap; t < unit->first_tap + unit->n_taps; t++) {
      if (yoke__system_needs_group(system, unit, &system->taps[t])) {
        YOKE_TRY(place_tap(system, i, &system->taps[t]));
      }
    }
  }
  YOKE_TRY(list_ends(system));
  return list_sends(system);
}
