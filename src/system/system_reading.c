// Which outputs of the units are read, and by whom: a value that nobody reads need not be fetched from its unit.
//
//   used      connections, probes and samples of coupling methods, flows, bonds, limits, judged signals
//   recorded  columns of the recording
//   all       whatever else a caller may look at
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

// numbers of Y that somebody reads
static void mark_numbers(const yoke_system* system, bool is_read[]) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      is_read[group->taps[i].from] = true;
    }
    for (size_t i = 0; i < group->setup.n_probes; i++) {
      // behind the outputs lie linear models
      if (group->probes[i] < system->n_y) {
        is_read[group->probes[i]] = true;
      }
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* su = &system->units[i];
    for (size_t k = su->first_strip; k < su->first_strip + su->n_strips; k++) {
      for (size_t j = 0; j < system->strips[k].n; j++) {
        is_read[system->strips[k].out[j]] = true;
      }
    }
    for (size_t k = 0; k < su->n_integrals; k++) {
      is_read[su->y + su->integrals[k]] = true;
    }
  }
  for (size_t i = 0; i < system->n_taps; i++) {
    is_read[system->taps[i].from] = true;
  }
  for (size_t i = 0; i < system->n_flows; i++) {
    is_read[system->flows[i].from] = true;
  }
  for (size_t i = 0; i < system->n_throughs; i++) {
    is_read[system->throughs[i].y] = true;
  }
  for (size_t i = 0; i < system->n_judged; i++) {
    is_read[system->judged[i].y] = true;
  }
  for (size_t i = 0; i < system->n_limits; i++) {
    if (!system->limits[i].is_fetched) {
      is_read[system->limits[i].at] = true;
    }
  }
}

static void mark_pair(const yoke_system_pair* pair, bool* const is_used[]) {
  is_used[pair->from_unit][pair->from_variable] = true;
}

// variables by what reads them, besides numbers of Y
static void mark_variables(const yoke_system* system, bool* const is_used[],
                           bool* const is_recorded[]) {
  for (size_t i = 0; i < system->n_links; i++) {
    is_used[system->links[i].from_unit][system->links[i].from_variable] = true;
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    for (size_t k = 0; k < bond->n_pairs; k++) {
      mark_pair(&bond->action[k], is_used);
      mark_pair(&bond->rate[k], is_used);
    }
  }
  for (size_t i = 0; i < system->n_columns; i++) {
    const yoke_system_column* column = &system->column_sources[i];
    if (column->source == YOKE_COLUMN_Y || column->source == YOKE_COLUMN_TYPED) {
      is_recorded[column->unit][column->variable] = true;
    }
  }
}

static bool is_limited(const yoke_system* system, const yoke_system_typed* typed) {
  for (size_t i = 0; i < system->n_limits; i++) {
    const yoke_system_limit* limit = &system->limits[i];
    if (limit->is_fetched && limit->at >= typed->at && limit->at < typed->at + typed->size) {
      return true;
    }
  }
  return false;
}

// typed outputs in the order of who reads them; within each group they stay in order
static yoke_status sort_typed(yoke_system* system, yoke_system_unit* su, const bool is_used[],
                              const bool is_recorded[]) {
  const size_t n = su->n_typed_outputs;
  yoke_system_typed* sorted = yoke__arena_array(&system->arena, n + 1, sizeof *sorted);
  YOKE_TRY_MEMORY(sorted);
  size_t at = 0;
  for (yoke_reading reading = YOKE_READ_USED; reading < YOKE_N_READINGS; reading++) {
    for (size_t i = 0; i < n; i++) {
      const yoke_system_typed* typed = &su->typed_outputs[i];
      const yoke_reading first = is_used[typed->variable] || is_limited(system, typed)
                                     ? YOKE_READ_USED
                                 : is_recorded[typed->variable] ? YOKE_READ_RECORDED
                                                                : YOKE_READ_ALL;
      if (first == reading) {
        sorted[at++] = *typed;
      }
    }
    su->n_typed_read[reading] = at;
  }
  su->typed_outputs = sorted;
  return YOKE_OK;
}

static yoke_status list_unit(yoke_system* system, size_t unit, const bool is_number_read[],
                             bool is_used[], bool is_recorded[]) {
  yoke_system_unit* su = &system->units[unit];
  for (size_t v = 0; v < su->unit.info->n_variables; v++) {
    const yoke_variable* variable = &su->unit.info->variables[v];
    const bool is_dense = variable->causality == YOKE_OUTPUT && su->unit.dense[v] != YOKE_NOT_DENSE;
    for (size_t e = 0; is_dense && e < yoke__variable_count(variable); e++) {
      is_used[v] = is_used[v] || is_number_read[su->y + su->unit.dense[v] + e];
    }
  }
  YOKE_TRY(sort_typed(system, su, is_used, is_recorded));
  for (size_t v = 0; v < su->unit.info->n_variables; v++) {
    is_recorded[v] = is_recorded[v] || is_used[v];
  }
  su->is_read[YOKE_READ_USED] = is_used;
  su->is_read[YOKE_READ_RECORDED] = is_recorded;
  return YOKE_OK;
}

yoke_status yoke__system_list_reading(yoke_system* system) {
  const size_t n = system->n_units;
  bool* is_number_read = yoke__arena_array(&system->arena, system->n_y + 1, sizeof(bool));
  bool** is_used = yoke__arena_array(&system->arena, n + 1, sizeof(bool*));
  bool** is_recorded = yoke__arena_array(&system->arena, n + 1, sizeof(bool*));
  YOKE_TRY_MEMORY(is_number_read && is_used && is_recorded);
  for (size_t i = 0; i < n; i++) {
    const size_t n_variables = system->units[i].unit.info->n_variables;
    is_used[i] = yoke__arena_array(&system->arena, n_variables + 1, sizeof(bool));
    is_recorded[i] = yoke__arena_array(&system->arena, n_variables + 1, sizeof(bool));
    YOKE_TRY_MEMORY(is_used[i] && is_recorded[i]);
  }
  mark_numbers(system, is_number_read);
  mark_variables(system, is_used, is_recorded);
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(list_unit(system, i, is_number_read, is_used[i], is_recorded[i]));
  }
  return YOKE_OK;
}
