// Stage 5: which signals are recorded.
//
// A pattern with wildcards matches outputs, and of a unit that has none its local variables; "**" matches every variable; a name
// without wildcards may be any variable (input as applied, state, parameter). The default "*" is all outputs of all units and
// laws. The name of an array takes all its elements, "u.v[0]" takes one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_format.h"
#include "system/system.h"
#include "unit/circuit/unit_circuit.h"

static bool has_wildcard(const char* pattern) {
  return strpbrk(pattern, "*?") != NULL;
}

// asks every pattern, so that one which only repeats others does not look mistyped
static bool is_wanted(yoke_system* system, const char* name, bool is_shown, bool* is_hit) {
  const yoke_scenario* s = system->scenario;
  bool is_any_hit = false;
  for (size_t i = 0; i < s->n_record_signals; i++) {
    const char* pattern = s->record_signals[i].text;
    const bool is_any = strcmp(pattern, "**") == 0;
    const bool is_eligible = is_any || is_shown || !has_wildcard(pattern);
    if (is_eligible && (is_any || yoke__glob_match(pattern, name))) {
      is_hit[i] = true;
      is_any_hit = true;
    }
  }
  return is_any_hit;
}

size_t yoke__system_fetch(yoke_system* system, yoke_system_unit* unit, size_t variable) {
  for (size_t i = 0; i < unit->n_typed_outputs; i++) {
    if (unit->typed_outputs[i].variable == variable) {
      return unit->typed_outputs[i].at;
    }
  }
  const size_t size = yoke__variable_size(&unit->unit.info->variables[variable]);
  const size_t at = system->n_typed_out;
  unit->typed_outputs[unit->n_typed_outputs++] = (yoke_system_typed){variable, at, size};
  system->n_typed_out += (size + 7) / 8 * 8;
  return at;
}

typedef struct columns {
  yoke_record_column* columns;
  yoke_system_column* sources;
  size_t n;
} columns;

void yoke__system_element_name(const yoke_system_unit* unit, const yoke_variable* v, size_t i,
                               char* to, size_t size) {
  const size_t n = yoke__variable_count(v), n_cols = v->n_cols == 0 ? 1 : v->n_cols;
  if (n == 1) {
    snprintf(to, size, "%s.%s", unit->name, v->name);
  } else if (n_cols > 1 && n > n_cols) {
    snprintf(to, size, "%s.%s[%zu,%zu]", unit->name, v->name, i / n_cols, i % n_cols);
  } else {
    snprintf(to, size, "%s.%s[%zu]", unit->name, v->name, i);
  }
}

// an enumeration whose items have numbers of their own is written with these; "low=1" tells which
static yoke_status number_items(yoke_system* system, const yoke_variable* v,
                                yoke_system_column* source, yoke_record_column* column) {
  size_t n = 0;
  while (v->items[n] != NULL) {
    n++;
  }
  const char** names = yoke__arena_array(&system->arena, n + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < n; i++) {
    char name[512];
    snprintf(name, sizeof name, "%s=%lld", v->items[i], (long long)v->item_values[i]);
    names[i] = yoke__arena_text(&system->arena, name, strlen(name));
  }
  YOKE_TRY_MEMORY(names);
  column->items = names;
  source->values = v->item_values;
  source->n_values = n;
  return YOKE_OK;
}

static yoke_status add_element(yoke_system* system, size_t unit_index, size_t variable, size_t i,
                               const char* name, columns* out) {
  yoke_system_unit* unit = &system->units[unit_index];
  const yoke_variable* v = &unit->unit.info->variables[variable];
  const size_t element_size = yoke__variable_element_size(v);
  const size_t dense = unit->unit.dense[variable];
  const char* copy = yoke__arena_text(&system->arena, name, strlen(name));
  YOKE_TRY_MEMORY(copy);
  out->columns[out->n] = (yoke_record_column){copy, v->dim == NULL ? "" : v->dim, v->type,
                                              (element_size + 7) / 8 * 8, v->items};
  yoke_system_column* source = &out->sources[out->n++];
  *source = (yoke_system_column){.unit = unit_index, .variable = variable, .element = i};
  if (v->type == YOKE_ENUMERATION && v->item_values != NULL) {
    YOKE_TRY(number_items(system, v, source, &out->columns[out->n - 1]));
  }
  if (dense == YOKE_NOT_DENSE) {
    source->source = YOKE_COLUMN_TYPED;
    source->index = yoke__system_fetch(system, unit, variable) + i * element_size;
  } else if (v->causality == YOKE_OUTPUT) {
    source->source = YOKE_COLUMN_Y;
    source->index = unit->y + dense + i;
  } else {
    source->source = YOKE_COLUMN_U;
    source->index = unit->u + dense + i;
  }
  return YOKE_OK;
}

static bool has_outputs(const yoke_unit_info* info) {
  for (size_t i = 0; i < info->n_variables; i++) {
    if (info->variables[i].causality == YOKE_OUTPUT) {
      return true;
    }
  }
  return false;
}

// a pattern takes a whole variable by its name, or one element of an array
static yoke_status collect(yoke_system* system, columns* out, bool* is_hit) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    const bool are_locals_shown = !has_outputs(unit->unit.info);
    for (size_t k = 0; k < unit->unit.info->n_variables; k++) {
      const yoke_variable* v = &unit->unit.info->variables[k];
      const size_t n = v->type == YOKE_BINARY ? 0 : yoke__variable_count(v);
      char name[1024];
      snprintf(name, sizeof name, "%s.%s", unit->name, v->name);
      const bool is_local = v->causality == YOKE_STATE && (v->flags & YOKE_VARIABLE_CONSTANT) == 0;
      const bool is_shown = v->causality == YOKE_OUTPUT || (are_locals_shown && is_local);
      const bool is_whole = is_wanted(system, name, is_shown, is_hit);
      for (size_t e = 0; e < n; e++) {
        yoke__system_element_name(unit, v, e, name, sizeof name);
        const bool is_single = n > 1 && is_wanted(system, name, is_shown, is_hit);
        if (is_whole || is_single) {
          YOKE_TRY(add_element(system, i, k, e, name, out));
        }
      }
    }
  }
  return YOKE_OK;
}

// "bond.spring.dP" and so on; the total only where there is something to sum up
static yoke_status collect_bonds(yoke_system* system, columns* out, bool* is_hit) {
  const size_t n = system->n_bonds > 1 ? system->n_bonds + 1 : system->n_bonds;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < YOKE_LEDGER_N_VALUES; k++) {
      char name[1024];
      snprintf(name, sizeof name, "bond.%s.%s",
               i < system->n_bonds ? system->bonds[i].name : "total", yoke__ledger_value_names[k]);
      if (!is_wanted(system, name, true, is_hit)) {
        continue;
      }
      const char* copy = yoke__arena_text(&system->arena, name, strlen(name));
      YOKE_TRY_MEMORY(copy);
      out->columns[out->n] =
          (yoke_record_column){copy, yoke__ledger_value_dims[k], YOKE_REAL, sizeof(double), NULL};
      out->sources[out->n++] = (yoke_system_column){.source = YOKE_COLUMN_BOND,
                                                    .index = i * YOKE_LEDGER_N_VALUES + k,
                                                    .unit = YOKE_NOT_FOUND};
    }
  }
  return YOKE_OK;
}

// "coupling.loop.error" and so on, of methods over a cluster
static yoke_status collect_traces(yoke_system* system, columns* out, bool* is_hit) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    for (size_t k = 0; k < group->ops->n_trace && group->role == YOKE_GROUP_CLUSTER; k++) {
      char name[1024];
      snprintf(name, sizeof name, "coupling.%s.%s", system->methods[group->method].name,
               group->ops->trace_names[k]);
      if (!is_wanted(system, name, true, is_hit)) {
        continue;
      }
      const char* copy = yoke__arena_text(&system->arena, name, strlen(name));
      YOKE_TRY_MEMORY(copy);
      out->columns[out->n] = (yoke_record_column){copy, "1", YOKE_REAL, sizeof(double), NULL};
      out->sources[out->n++] = (yoke_system_column){
          .source = YOKE_COLUMN_TRACE, .index = k, .element = g, .unit = YOKE_NOT_FOUND};
    }
  }
  return YOKE_OK;
}

// a pattern without any match was probably mistyped
static void report_misses(yoke_system* system, const bool* is_hit) {
  const yoke_scenario* s = system->scenario;
  for (size_t i = 0; i < s->n_record_signals; i++) {
    if (!is_hit[i]) {
      const char* pattern = s->record_signals[i].text;
      yoke__message_add(system->messages, has_wildcard(pattern) ? YOKE_WARNING : YOKE_ERROR,
                        s->record_signals[i].place, "record: '%s' matches no variable", pattern);
    }
  }
}

static size_t find_format(const char* name) {
  size_t i = 0;
  while (i < YOKE_N_FORMATS && strcmp(name, yoke__format_names[i]) != 0) {
    i++;
  }
  return i;
}

static void report_format(yoke_system* system, const yoke_scenario_name* name) {
  const yoke_registry* registry = system->registry;
  const char* nearest = yoke__nearest_name(name->text, yoke__format_names, YOKE_N_FORMATS);
  char own[400] = "";
  size_t used = 0;
  for (size_t i = 0; registry != NULL && i < registry->n_results; i++) {
    nearest = yoke__nearer_name(name->text, nearest, registry->results[i]->name);
    const int n = snprintf(own + used, sizeof own - used, ", %s", registry->results[i]->name);
    used = n < 0 || used + (size_t)n >= sizeof own ? sizeof own - 1 : used + (size_t)n;
  }
  yoke__error_near(system->messages, name->place, nearest, "expected %s%s, found the text '%s'",
                   used > 0 ? "csv, hdf5, mat" : "csv, hdf5 or mat", own, name->text);
}

// Formats of the file that are sinks of the registry.
static yoke_status choose_sinks(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  system->sinks = yoke__arena_array(&system->arena, s->n_record_formats + 1, sizeof *system->sinks);
  YOKE_TRY_MEMORY(system->sinks);
  for (size_t i = 0; i < s->n_record_formats; i++) {
    const yoke_scenario_name* name = &s->record_formats[i];
    if (find_format(name->text) < YOKE_N_FORMATS) {
      continue;
    }
    const yoke_result_ops* ops = yoke__registry_find_result(system->registry, name->text);
    if (ops == NULL) {
      report_format(system, name);
    } else {
      system->sinks[system->n_sinks++] = ops;
    }
  }
  return YOKE_OK;
}

// Columns without the unit's name; where nothing is named, without what is no node voltage or current.
static void shorten_names(const yoke_system* system, columns* out) {
  const yoke_unit* unit = &system->units[0].unit;
  const size_t skip = strlen(system->units[0].name) + 1;
  size_t n = 0;
  for (size_t i = 0; i < out->n; i++) {
    if (yoke__unit_circuit_is_quantity(unit->ops, unit->self, out->sources[i].variable)) {
      out->columns[n] = out->columns[i];
      out->columns[n].name += skip;
      out->sources[n++] = out->sources[i];
    }
  }
  out->n = n;
}

yoke_status yoke__system_lay_record(yoke_system* system) {
  YOKE_TRY(choose_sinks(system));
  size_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit_info* info = system->units[i].unit.info;
    for (size_t v = 0; v < info->n_variables; v++) {
      n += yoke__variable_count(&info->variables[v]);
    }
  }
  n += (system->n_bonds + 1) * YOKE_LEDGER_N_VALUES;
  for (size_t g = 0; g < system->n_groups; g++) {
    n += system->groups[g].ops->n_trace;
  }
  columns out = {yoke__arena_array(&system->arena, n + 1, sizeof *out.columns),
                 yoke__arena_array(&system->arena, n + 1, sizeof *out.sources), 0};
  bool* is_hit = calloc(system->scenario->n_record_signals + 1, sizeof *is_hit);
  yoke_status status = YOKE_NO_MEMORY;
  if (out.columns != NULL && out.sources != NULL && is_hit != NULL) {
    status = collect(system, &out, is_hit);
    if (status >= 0) {
      status = collect_bonds(system, &out, is_hit);
    }
    if (status >= 0) {
      status = collect_traces(system, &out, is_hit);
    }
    report_misses(system, is_hit);
  }
  if (status >= 0 && system->scenario->has_short_names) {
    shorten_names(system, &out);
  }
  free(is_hit);
  system->columns = out.columns;
  system->column_sources = out.sources;
  system->n_columns = out.n;

  // the common case begins with a plain copy of all outputs
  size_t n_plain = 0;
  while (n_plain < out.n && out.sources[n_plain].source == YOKE_COLUMN_Y &&
         out.sources[n_plain].index == n_plain && out.columns[n_plain].size == sizeof(double)) {
    n_plain++;
  }
  system->n_record_plain = n_plain;
  for (size_t i = n_plain; i < out.n; i++) {
    system->is_input_recorded = system->is_input_recorded || out.sources[i].source == YOKE_COLUMN_U;
  }
  return status;
}

uint32_t yoke__system_formats(const yoke_system* system) {
  uint32_t formats = 0;
  for (size_t i = 0; i < system->scenario->n_record_formats; i++) {
    const size_t k = find_format(system->scenario->record_formats[i].text);
    formats |= k < YOKE_N_FORMATS ? 1u << k : 0;
  }
  return formats == 0 && system->n_sinks == 0 ? YOKE_RECORD_CSV : formats;
}
