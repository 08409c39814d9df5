// Links to taps: every number that travels has its place in Y and U, every other value in V and W.
#include <stdlib.h>

#include "system/system.h"

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
  YOKE_TRY_MEMORY(system->taps);
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
    YOKE_TRY_MEMORY(outputs && inputs);
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

yoke_status yoke__system_lay_taps(yoke_system* system) {
  lay_dense(system);
  YOKE_TRY(lay_taps(system));
  return lay_typed(system);
}

bool yoke__system_is_fed(const yoke_system* system, size_t unit, size_t variable, size_t element,
                         size_t n) {
  const yoke_system_unit* su = &system->units[unit];
  const size_t dense = su->unit.dense[variable];
  for (size_t i = su->first_tap; dense != YOKE_NOT_DENSE && i < su->first_tap + su->n_taps; i++) {
    const size_t at = system->taps[i].to - su->u - dense;  // below the variable: very large
    if (at >= element && at - element < n) {
      return true;
    }
  }
  // typed connections are few
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (!link->is_dense && link->to_unit == unit && link->to_variable == variable &&
        link->to_element < element + n && element < link->to_element + link->n) {
      return true;
    }
  }
  return false;
}
