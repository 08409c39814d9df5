// Clusters: one coupling method over all connections between its members. The method sees every output that travels
// between them and every input that comes from outside, and feeds the inputs in between.
#include <stdlib.h>

#include "system/system.h"

static bool is_served(const yoke_system* system, const yoke_tap* tap, size_t method) {
  return system->links[tap->link].method == method;
}

// Taps that it serves, sorted by receiving unit as all taps are. NOT of one interval: after a message YOKE_BAD_INPUT.
static yoke_status list_taps(yoke_system* system, size_t method, yoke_tap taps[], size_t* n) {
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (!is_served(system, tap, method)) {
      continue;
    }
    if (*n > 0 && tap->every != taps[0].every) {
      yoke__error(system->messages, system->methods[method].place,
                  "%s: method '%s' needs one exchange interval for all connections that it serves",
                  system->methods[method].owner, system->methods[method].ops->name);
      return YOKE_BAD_INPUT;
    }
    taps[(*n)++] = *tap;
  }
  return YOKE_OK;
}

static size_t receiver_of(const yoke_system* system, const yoke_tap* tap) {
  return system->links[tap->link].to_unit;
}

// one sink per receiving unit
static size_t list_sinks(const yoke_system* system, const yoke_tap taps[], size_t n,
                         yoke_coupling_sink sinks[]) {
  size_t n_sinks = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t unit = receiver_of(system, &taps[i]);
    if (i == 0 || unit != receiver_of(system, &taps[i - 1])) {
      sinks[n_sinks++] = (yoke_coupling_sink){i, 0, system->units[unit].step};
    }
    sinks[n_sinks - 1].n++;
  }
  return n_sinks;
}

// The outputs of a unit that travel in the cluster, each once, behind those of the units before it.
static size_t add_outputs(const yoke_system_unit* unit, const yoke_tap taps[], size_t n,
                          size_t outputs[], size_t n_outputs) {
  const size_t first = n_outputs;
  for (size_t y = unit->y; y < unit->y + unit->unit.n_y; y++) {
    bool is_used = false;
    for (size_t i = 0; i < n; i++) {
      is_used = is_used || taps[i].from == y;
    }
    if (is_used) {
      outputs[n_outputs++] = y;
    }
  }
  return n_outputs - first;
}

typedef struct probes {
  size_t *from, n;
  double *scale, *offset;
} probes;

// Inputs from outside. What comes through a delay line is left out: its present value is another one.
static size_t add_exogenous(const yoke_system* system, const yoke_system_unit* unit, size_t method,
                            probes* to) {
  const size_t first = to->n;
  for (size_t t = unit->first_tap; t < unit->first_tap + unit->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (!is_served(system, tap, method) && tap->delay == 0) {
      to->from[to->n] = tap->from;
      to->scale[to->n] = tap->gain;
      to->offset[to->n++] = tap->offset;
    }
  }
  return to->n - first;
}

static size_t find_output(const probes* outputs, size_t y) {
  size_t i = 0;
  while (outputs->from[i] != y) {
    i++;
  }
  return i;
}

// Members in order of units: who gives or receives something that is served.
static yoke_status describe(yoke_system* system, size_t method, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  const yoke_tap* taps = group->taps;
  const size_t n_probes = n + system->n_taps;
  yoke_arena* arena = &system->arena;
  yoke_coupling_cluster* cluster = yoke__arena_take(arena, sizeof *cluster);
  yoke_coupling_unit* units = yoke__arena_array(arena, system->n_units, sizeof *units);
  size_t* from = yoke__arena_array(arena, n, sizeof *from);
  double* gain = yoke__arena_array(arena, n, sizeof *gain);
  double* offset = yoke__arena_array(arena, n, sizeof *offset);
  probes all = {.from = yoke__arena_array(arena, n_probes, sizeof(size_t)),
                .scale = yoke__arena_array(arena, n_probes, sizeof(double)),
                .offset = yoke__arena_array(arena, n_probes, sizeof(double))};
  if (cluster == NULL || units == NULL || from == NULL || gain == NULL || offset == NULL ||
      all.from == NULL || all.scale == NULL || all.offset == NULL) {
    return YOKE_NO_MEMORY;
  }
  *cluster = (yoke_coupling_cluster){.units = units, .from = from, .gain = gain, .offset = offset};
  bool is_member[2] = {false, false};  // gives, receives
  for (size_t u = 0; u < system->n_units; u++) {
    const yoke_system_unit* unit = &system->units[u];
    is_member[0] = is_member[1] = false;
    size_t first = n, last = 0;
    for (size_t i = 0; i < n; i++) {
      is_member[0] = is_member[0] || group->sources[i] == u;
      if (receiver_of(system, &taps[i]) == u) {
        is_member[1] = true;
        first = i < first ? i : first;
        last = i + 1;
      }
    }
    if (!is_member[0] && !is_member[1]) {
      continue;
    }
    yoke_coupling_unit* about = &units[cluster->n_units++];
    *about = (yoke_coupling_unit){.name = unit->name,
                                  .first_output = all.n,
                                  .first_signal = is_member[1] ? first : n,
                                  .n_signals = is_member[1] ? last - first : 0};
    about->n_outputs = add_outputs(unit, taps, n, all.from, all.n);
    for (size_t i = all.n; i < all.n + about->n_outputs; i++) {
      all.scale[i] = 1;
    }
    all.n += about->n_outputs;
  }
  cluster->n_outputs = all.n;
  for (size_t k = 0; k < cluster->n_units; k++) {
    units[k].first_exogenous = all.n - cluster->n_outputs;
    const size_t u = yoke__map_find(&system->unit_index, units[k].name);
    units[k].n_exogenous = add_exogenous(system, &system->units[u], method, &all);
  }
  cluster->n_exogenous = all.n - cluster->n_outputs;
  for (size_t i = 0; i < n; i++) {
    from[i] = find_output(&all, taps[i].from);
    gain[i] = taps[i].gain;
    offset[i] = taps[i].offset;
  }
  group->probes = all.from;
  group->probe_scale = all.scale;
  group->probe_offset = all.offset;
  group->setup.n_probes = all.n;
  group->setup.cluster = cluster;
  return YOKE_OK;
}

yoke_status yoke__system_make_cluster(yoke_system* system, size_t method) {
  yoke_tap* taps = yoke__arena_array(&system->arena, system->n_taps, sizeof *taps);
  yoke_coupling_sink* sinks = yoke__arena_array(&system->arena, system->n_units, sizeof *sinks);
  if (taps == NULL || sinks == NULL) {
    return YOKE_NO_MEMORY;
  }
  size_t n = 0;
  YOKE_TRY(list_taps(system, method, taps, &n));
  if (n == 0) {
    return YOKE_OK;
  }
  yoke_group* group = &system->groups[system->n_groups];
  *group = (yoke_group){
      .role = YOKE_GROUP_CLUSTER,
      .taps = taps,
      .unit = receiver_of(system, &taps[0]),
      .every = taps[0].every,
      .method = method,
      .setup = {.n_signals = n, .n_sinks = list_sinks(system, taps, n, sinks), .sinks = sinks}};
  YOKE_TRY(yoke__system_fill_signals(system, group));
  YOKE_TRY(describe(system, method, group));
  return yoke__system_add_group(system, group);
}

// The part of a cluster's group that feeds one unit: `sink` of it.
yoke_status yoke__system_make_member(yoke_system* system, size_t cluster, size_t sink) {
  const yoke_group* whole = &system->groups[cluster];
  const yoke_coupling_sink* part = &whole->setup.sinks[sink];
  const size_t unit_index = receiver_of(system, &whole->taps[part->first]);
  yoke_system_unit* unit = &system->units[unit_index];
  yoke_group* group = &system->groups[system->n_groups];
  *group = *whole;
  group->role = YOKE_GROUP_MEMBER;
  group->sampler = cluster;
  group->sink = sink;
  group->unit = unit_index;
  group->taps += part->first;
  group->sources += part->first;
  group->setup.n_signals = part->n;
  group->setup.n_probes = 0;
  group->n_validities = 0;
  group->first_signal += part->first;
  // inputs and their derivatives lie in two rows of all signals
  group->input += part->first;
  if (unit->n_groups == 0) {
    unit->first_group = system->n_groups;
  }
  unit->n_groups++;
  system->n_groups++;
  return YOKE_OK;
}
