// The resolved system as text for people and as JSON: units, wiring, feedthrough, order, steps, bonds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "system/system.h"

static const char* const scheme_names[] = {"jacobi", "gauss-seidel", "iterative-jacobi",
                                           "iterative-gauss-seidel"};

enum {
  MAX_SETTINGS = 30,  // of one unit that are shown
  MAX_ELEMENTS = 6,   // of one list
};

typedef struct text {
  char chars[YOKE_NUMBER_SIZE];
} text;

static text number(double x) {
  text t;
  yoke__number_format(x, t.chars);
  return t;
}

static text ticks(const yoke_system* system, int64_t n) {
  return number(yoke__clock_seconds(&system->clock, n));
}

static const yoke_variable* variable_of(const yoke_system* system, size_t unit, size_t variable) {
  return &system->units[unit].unit.info->variables[variable];
}

// Per variable the number of inputs it lets through; NULL: no memory. Large FMUs have a million variables, so nothing
// here may look at all pairs for each of them.
static size_t* count_feedthrough(const yoke_unit* unit) {
  size_t* n = calloc(unit->info->n_variables + 1, sizeof *n);
  for (size_t i = 0; n != NULL && i < unit->info->n_feedthrough; i++) {
    n[unit->info->feedthrough[i].output]++;
  }
  return n;
}

// ---------------------------------------------------------------------------------------------------------
// text

static void print_variables(const yoke_unit* unit, yoke_causality causality, const char* word,
                            FILE* to) {
  bool is_first = true;
  size_t* n_through = count_feedthrough(unit);
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality != causality) {
      continue;
    }
    fprintf(to, "%s%s", is_first ? word : ", ", v->name);
    is_first = false;
    if (yoke__variable_count(v) > 1) {
      fprintf(to, "[%zu]", yoke__variable_count(v));
    }
    if (v->dim != NULL && v->dim[0] != '\0') {
      fprintf(to, " [%s]", v->dim);
    }
    if (n_through != NULL && n_through[i] > 0) {
      fprintf(to, " *");
    }
  }
  if (!is_first) {
    fprintf(to, "\n");
  }
  free(n_through);
}

static void print_scalar(const yoke_node* node, FILE* to) {
  if (node->kind == YOKE_NODE_SCALAR) {
    fprintf(to, node->is_quoted ? "'%.60s'" : "%.60s", node->text);
  } else {
    fputs("[...]", to);
  }
}

static void print_row(const yoke_node* row, FILE* to) {
  fputc('[', to);
  size_t n = 0;
  for (const yoke_node* at = row->first; at != NULL && n < MAX_ELEMENTS; at = at->next, n++) {
    fputs(n == 0 ? "" : ", ", to);
    print_scalar(at, to);
  }
  fputs(n < row->n_children ? ", ...]" : "]", to);
}

// What a file sets, as it would be written: numbers, 'texts', lists, lists of lists.
static void print_value(const yoke_node* node, FILE* to) {
  if (node->kind == YOKE_NODE_SCALAR) {
    print_scalar(node, to);
    return;
  }
  if (node->first == NULL || node->first->kind == YOKE_NODE_SCALAR) {
    print_row(node, to);
    return;
  }
  fputc('[', to);
  size_t n = 0;
  for (const yoke_node* at = node->first; at != NULL && n < MAX_ELEMENTS; at = at->next, n++) {
    fputs(n == 0 ? "" : ", ", to);
    print_row(at, to);
  }
  fputs(n < node->n_children ? ", ...]" : "]", to);
}

// The settings of a unit, wherever they come from: --set, the system file, parameter sets of SSP.
static void print_settings(const yoke_scenario_unit* source, FILE* to) {
  const yoke_setting* const lists[] = {source->with, source->start, source->values};
  const size_t counts[] = {source->n_with, source->n_start, source->n_values};
  size_t n = 0;
  for (size_t k = 0; k < YOKE_COUNT(lists); k++) {
    for (size_t i = 0; i < counts[k]; i++) {
      if (lists[k][i].value != NULL && n++ < MAX_SETTINGS) {
        fprintf(to, "%s%s = ", n == 1 ? "    set  " : ", ", lists[k][i].name);
        print_value(lists[k][i].value, to);
      }
    }
  }
  if (n > MAX_SETTINGS) {
    fprintf(to, ", and %zu more", n - MAX_SETTINGS);
  }
  fputs(n == 0 ? "" : "\n", to);
}

static void print_units(const yoke_system* system, bool are_laws, FILE* to) {
  bool has_any = false;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (unit->is_law != are_laws) {
      continue;
    }
    if (!has_any) {
      fprintf(to, "\n%s\n",
              are_laws ? "laws (evaluated at every exchange)"
                       : "units (* output with direct feedthrough)");
      has_any = true;
    }
    fprintf(to, "  %-12s %s", unit->name, unit->unit.ops->name);
    if (unit->source->kind == YOKE_KIND_LIBRARY) {
      fprintf(to, " of %s", unit->source->type);
    }
    if (!are_laws) {
      fprintf(to, ", step %s s", ticks(system, unit->period).chars);
      fprintf(to, "%s%s", unit->is_fresh ? ", fresh" : "",
              unit->source->isolation.is_given ? ", isolated" : "");
      if (system->n_threads > 1) {
        fprintf(to, ", thread %d", unit->thread);
      }
    }
    fprintf(to, "\n");
    print_variables(&unit->unit, YOKE_INPUT, "    in   ", to);
    print_variables(&unit->unit, YOKE_OUTPUT, "    out  ", to);
    print_settings(unit->source, to);
  }
}

static void print_links(const yoke_system* system, FILE* to) {
  if (system->n_links > 0) {
    fprintf(to, "\nconnections\n");
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    fprintf(to, "  %s.%s -> %s.%s, every %s s", link->source->from.unit,
            link->source->from.variable, link->source->to.unit, link->source->to.variable,
            ticks(system, link->interval).chars);
    if (link->order > 0) {
      fprintf(to, ", order %d", link->order);
    }
    if (link->gain != 1) {
      fprintf(to, ", gain %s", number(link->gain).chars);
    }
    if (link->offset != 0) {
      fprintf(to, ", offset %s", number(link->offset).chars);
    }
    if (link->delay > 0) {
      fprintf(to, ", delay %s s", ticks(system, link->delay * link->interval).chars);
    }
    if (link->method > 0) {
      fprintf(to, ", method %s", system->methods[link->method].ops->name);
    }
    fprintf(to, "\n");
  }
}

static void print_pairs(const yoke_system* system, const yoke_system_pair pairs[], size_t n,
                        const char* word, FILE* to) {
  for (size_t i = 0; i < n; i++) {
    const yoke_system_pair* p = &pairs[i];
    fprintf(to, "%s%s.%s", i == 0 ? word : ", ", system->units[p->from_unit].name,
            variable_of(system, p->from_unit, p->from_variable)->name);
    if (p->to_unit != YOKE_NOT_FOUND) {
      fprintf(to, " -> %s.%s", system->units[p->to_unit].name,
              variable_of(system, p->to_unit, p->to_variable)->name);
    }
  }
}

static const char* method_of(const yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].link != YOKE_NOT_FOUND) {
      return system->methods[system->links[bond->action[i].link].method].ops->name;
    }
  }
  return NULL;
}

// "mu 0.5" or why there is none
static void print_mu(const yoke_system_bond* bond, FILE* to) {
  static const char* const origins[] = {
      [YOKE_MU_AUTOMATIC] = "",
      [YOKE_MU_GIVEN] = " (given)",
      [YOKE_MU_BOTH_FEEDTHROUGH] = "unknown: direct feedthrough on both sides",
      [YOKE_MU_IMPLICIT] = "unknown: implicit solver",
      [YOKE_MU_GAUSS_SEIDEL] = "unknown under Gauss-Seidel",
      [YOKE_MU_ITERATIVE] = "unknown under iteration",
      [YOKE_MU_MODEL] = "unknown: inputs by models of the units",
      [YOKE_MU_NO_POWER] = "heat balance only, the product is no power",
  };
  const yoke_mu_origin origin = bond->ledger.mu_origin;
  if (origin == YOKE_MU_AUTOMATIC || origin == YOKE_MU_GIVEN) {
    fprintf(to, "mu %s%s", number(bond->ledger.mu).chars, origins[origin]);
  } else {
    fprintf(to, "%s%s", origin == YOKE_MU_NO_POWER ? "" : "mu ", origins[origin]);
  }
}

// An iteration that holds the end value makes both ends agree; else an arrow is missing.
static const char* why_no_ter(const yoke_system* system) {
  const bool is_hold_end = yoke__system_is_iterative(system) &&
                           system->scenario->iteration.mode == YOKE_ITERATE_HOLD_END;
  return is_hold_end ? ", no TER (mode: hold-end)" : ", no TER (not both are moved)";
}

static void print_bonds(const yoke_system* system, FILE* to) {
  if (system->n_links == 0) {
    return;
  }
  fprintf(to, "\nbonds (energy ledger; a step creates mu * residual power * interval)\n");
  if (system->n_bonds + system->n_hints == 0) {
    fprintf(to, "  none: nothing will say how far the result can be believed\n");
  }
  bool has_found = false;
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    const char* method = method_of(system, bond);
    fprintf(to, "  %-12s", bond->name);
    print_pairs(system, bond->action, bond->n_pairs, " action ", to);
    print_pairs(system, bond->rate, bond->n_pairs, "; rate ", to);
    fprintf(to, "%s%s\n    every %s s, ", bond->sign < 0 ? "; sign -1" : "",
            bond->source == NULL ? "; found from dimensions" : "",
            ticks(system, bond->interval).chars);
    print_mu(bond, to);
    fprintf(to, "%s", bond->ledger.has_ter ? "" : why_no_ter(system));
    fprintf(to, "%s%s\n", method == NULL ? "" : ", method ", method == NULL ? "" : method);
    has_found = has_found || bond->source == NULL;
  }
  for (size_t i = 0; i < system->n_hints; i++) {
    fprintf(to, "  ?            %s\n", system->hints[i]);
  }
  if (has_found) {
    fprintf(to,
            "  to name a found bond or fix its sign, write it under `bonds`; `NAME: false` refuses "
            "it\n");
  }
}

// settings of a method that differ from its defaults
static void print_method_settings(const yoke_system_method* method, FILE* to) {
  const yoke_coupling_ops* ops = method->ops;
  for (size_t i = 0; i < ops->n_parameters; i++) {
    const yoke_coupling_parameter* p = &ops->parameters[i];
    const double x = method->parameters[i];
    if (x != p->start) {
      fprintf(to, ", %s %s", p->name, p->items == NULL ? number(x).chars : p->items[(size_t)x]);
    }
  }
  for (size_t i = 0; i < ops->n_files; i++) {
    if (method->files[i] != NULL) {
      fprintf(to, ", %s %s", ops->files[i].name, method->files[i]);
    }
  }
}

// methods over a cluster: whom they serve, and what they see
static void print_clusters(const yoke_system* system, FILE* to) {
  bool has_any = false;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const yoke_coupling_cluster* c = group->setup.cluster;
    if (group->role != YOKE_GROUP_CLUSTER) {
      continue;
    }
    fprintf(to, "%s  %-12s %s every %s s", has_any ? "" : "\ncouplings\n",
            system->methods[group->method].name, group->ops->name,
            ticks(system, group->every * system->slot).chars);
    print_method_settings(&system->methods[group->method], to);
    fprintf(to, "\n");
    has_any = true;
    for (size_t k = 0; k < c->n_units; k++) {
      const yoke_coupling_unit* u = &c->units[k];
      fprintf(to, "    %-10s %zu in, %zu out", u->name, u->n_signals, u->n_outputs);
      if (u->n_exogenous > 0) {
        fprintf(to, ", %zu in from outside", u->n_exogenous);
      }
      if (u->has_linear) {
        fprintf(to, ", tells a linear model with %zu states", u->n_states);
      }
      fprintf(to, "\n");
    }
  }
}

static void print_orders(const yoke_system* system, FILE* to) {
  fprintf(to, "\norder\n  start   ");
  for (size_t i = 0; i < system->n_units; i++) {
    fprintf(to, " %s", system->units[system->init_order[i]].name);
  }
  fprintf(to, "\n");
  if (system->scenario->scheme == YOKE_GAUSS_SEIDEL ||
      system->scenario->scheme == YOKE_ITERATIVE_GAUSS_SEIDEL) {
    fprintf(to, "  steps   ");
    for (size_t i = 0; i < system->n_gs; i++) {
      fprintf(to, " %s", system->units[system->gs_order[i]].name);
    }
    fprintf(to, "%s\n", system->is_gs_order_given ? "" : " (proposed from feedthrough)");
  }
  for (size_t i = 0; i < system->n_loops; i++) {
    fprintf(to, "  loop    ");
    for (size_t j = 0; j < system->loops[i].n; j++) {
      const yoke_system_variable* v = &system->loops[i].variables[j];
      fprintf(to, " %s.%s", system->units[v->unit].name,
              variable_of(system, v->unit, v->variable)->name);
    }
    fprintf(to, " (iterated at the start)\n");
  }
}

void yoke__system_print(const yoke_system* system, FILE* to) {
  const yoke_scenario* s = system->scenario;
  fprintf(to, "%s\n", s->name);
  if (s->text != NULL && s->text[0] != '\0') {
    fprintf(to, "%s\n", s->text);
  }
  fprintf(to, "\ntime        %s to %s s, macro step %s s (%lld steps)\n",
          number(system->t_start).chars, number(system->t_stop).chars,
          ticks(system, system->macro).chars, (long long)(system->n_slots / system->macro_slots));
  if (system->is_adaptive) {
    fprintf(to, "step        chosen by the residual: %s to %s s, rho about %s\n",
            ticks(system, system->slot).chars,
            ticks(system, system->slot * system->adaptive_max).chars,
            number(system->adaptive_rho).chars);
  }
  fprintf(to, "grid        tick %s s, exchange slot %s s\n", ticks(system, 1).chars,
          ticks(system, system->slot).chars);
  fprintf(to, "scheme      %s, %s exchange, %d thread%s\n", scheme_names[s->scheme],
          s->exchange == YOKE_FRESH ? "fresh" : "stale", system->n_threads,
          system->n_threads == 1 ? "" : "s");
  print_units(system, false, to);
  print_units(system, true, to);
  print_links(system, to);
  print_clusters(system, to);
  print_bonds(system, to);
  print_orders(system, to);
  fprintf(to, "\nrecorded    %zu signals every %s s\n", system->n_columns,
          ticks(system, system->record_every * system->slot).chars);
}

// ---------------------------------------------------------------------------------------------------------
// JSON

#define MAX_LISTED 1000  // parameters and states of one unit
#define MAX_INPUTS 100   // that an output lists by name if it lets all of them through

typedef struct listing {
  const yoke_unit_info* info;
  size_t* n_through;  // per variable
  size_t* first;      // where its inputs begin in inputs
  size_t* inputs;
  size_t n_inputs;  // of the unit
} listing;

static bool open_listing(const yoke_unit* unit, listing* l) {
  const yoke_unit_info* info = unit->info;
  *l = (listing){.info = info,
                 .n_through = count_feedthrough(unit),
                 .first = calloc(info->n_variables + 1, sizeof(size_t)),
                 .inputs = calloc(info->n_feedthrough + 1, sizeof(size_t))};
  if (l->n_through == NULL || l->first == NULL || l->inputs == NULL) {
    return false;
  }
  for (size_t i = 0; i < info->n_variables; i++) {
    l->first[i + 1] = l->first[i] + l->n_through[i];
    l->n_inputs += info->variables[i].causality == YOKE_INPUT;
    l->n_through[i] = 0;
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    const yoke_feedthrough* f = &info->feedthrough[i];
    l->inputs[l->first[f->output] + l->n_through[f->output]++] = f->input;
  }
  return true;
}

static void close_listing(listing* l) {
  free(l->n_through);
  free(l->first);
  free(l->inputs);
}

// the inputs that reach an output at once; "*": all of many
static void json_feedthrough(const listing* l, size_t variable, yoke_json* json) {
  yoke__json_begin_array(json, "feedthrough");
  const size_t n = l->n_through[variable];
  if (n > MAX_INPUTS && n == l->n_inputs) {
    yoke__json_string(json, NULL, "*");
  } else {
    for (size_t i = 0; i < n; i++) {
      yoke__json_string(json, NULL, l->info->variables[l->inputs[l->first[variable] + i]].name);
    }
  }
  yoke__json_end_array(json);
}

static void json_unit(const yoke_system* system, const yoke_system_unit* unit, yoke_json* json) {
  static const char* const causalities[] = {"input", "output", "parameter", "tunable", "state"};
  static const char* const types[] = {"real",        "integer", "boolean",
                                      "enumeration", "string",  "binary"};
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", unit->name);
  yoke__json_string(json, "model", unit->unit.ops->name);
  if (unit->source->kind == YOKE_KIND_LIBRARY) {
    yoke__json_string(json, "library", unit->source->type);
  }
  yoke__json_string(json, "text", unit->unit.ops->text);
  yoke__json_boolean(json, "law", unit->is_law);
  yoke__json_boolean(json, "fresh", unit->is_fresh);
  yoke__json_number(json, "step", unit->step);
  yoke__json_integer(json, "thread", unit->thread);
  yoke__json_integer(json, "inputs", (int64_t)unit->unit.n_u);
  yoke__json_integer(json, "outputs", (int64_t)unit->unit.n_y);
  listing l;
  const bool is_open = open_listing(&unit->unit, &l);
  size_t n_listed = 0, n_left_out = 0;
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; is_open && i < unit->unit.info->n_variables; i++) {
    const yoke_variable* v = &unit->unit.info->variables[i];
    const bool is_port = v->causality == YOKE_INPUT || v->causality == YOKE_OUTPUT;
    if (!is_port && ++n_listed > MAX_LISTED) {
      n_left_out++;
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", v->name);
    yoke__json_string(json, "causality", causalities[v->causality]);
    yoke__json_string(json, "type", types[v->type]);
    yoke__json_string(json, "dimension", v->dim == NULL ? "" : v->dim);
    yoke__json_integer(json, "size", (int64_t)yoke__variable_count(v));
    json_feedthrough(&l, i, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  if (n_left_out > 0) {
    yoke__json_integer(json, "variables_not_listed", (int64_t)n_left_out);
  }
  close_listing(&l);
  yoke__json_end_object(json);
  (void)system;
}

// Who carries and records what: large systems have too many connections and columns to look at all of them for each bond.
typedef struct lookup {
  size_t* bond;   // per connection: 1 + the bond that it carries; 0: none
  size_t* first;  // per unit: 1 + its first column; 0: none
  size_t* next;   // per column: 1 + the next one of the same unit; 0: none
} lookup;

static bool open_lookup(const yoke_system* system, lookup* l) {
  l->bond = calloc(system->n_links + system->n_units + system->n_columns + 1, sizeof *l->bond);
  if (l->bond == NULL) {
    return false;
  }
  l->first = l->bond + system->n_links;
  l->next = l->first + system->n_units;
  for (size_t i = system->n_bonds; i-- > 0;) {
    const yoke_system_bond* bond = &system->bonds[i];
    for (size_t k = 0; k < bond->n_pairs; k++) {
      const size_t carriers[] = {bond->action[k].link, bond->rate[k].link};
      for (size_t c = 0; c < YOKE_COUNT(carriers); c++) {
        if (carriers[c] < system->n_links) {
          l->bond[carriers[c]] = i + 1;
        }
      }
    }
  }
  for (size_t i = system->n_columns; i-- > 0;) {
    const size_t unit = system->column_sources[i].unit;
    if (unit < system->n_units) {
      l->next[i] = l->first[unit];
      l->first[unit] = i + 1;
    }
  }
  return true;
}

static void json_link(const yoke_system* system, const lookup* l, size_t i, yoke_json* json) {
  const yoke_system_link* link = &system->links[i];
  char name[1024];
  yoke__json_begin_object(json, NULL);
  snprintf(name, sizeof name, "%s.%s", link->source->from.unit, link->source->from.variable);
  yoke__json_string(json, "from", name);
  snprintf(name, sizeof name, "%s.%s", link->source->to.unit, link->source->to.variable);
  yoke__json_string(json, "to", name);
  yoke__json_number(json, "exchange", yoke__clock_seconds(&system->clock, link->interval));
  yoke__json_integer(json, "order", link->order);
  yoke__json_number(json, "gain", link->gain);
  yoke__json_number(json, "offset", link->offset);
  yoke__json_number(json, "delay",
                    yoke__clock_seconds(&system->clock, link->delay * link->interval));
  yoke__json_integer(json, "from_unit", (int64_t)link->from_unit);
  yoke__json_integer(json, "to_unit", (int64_t)link->to_unit);
  yoke__json_integer(json, "bond", (int64_t)l->bond[i] - 1);
  yoke__json_end_object(json);
}

static void json_variable(const yoke_system* system, size_t unit, size_t variable,
                          yoke_json* json) {
  char name[1024];
  snprintf(name, sizeof name, "%s.%s", system->units[unit].name,
           variable_of(system, unit, variable)->name);
  yoke__json_string(json, NULL, name);
}

// Names of the recorded columns of n elements of a variable.
static void json_columns(const yoke_system* system, const lookup* l, size_t unit, size_t variable,
                         size_t first, size_t n, yoke_json* json) {
  for (size_t i = l->first[unit]; i > 0; i = l->next[i - 1]) {
    const yoke_system_column* c = &system->column_sources[i - 1];
    if (c->variable == variable && c->element >= first && c->element - first < n) {
      yoke__json_string(json, NULL, system->columns[i - 1].name);
    }
  }
}

// One direction of a bond: who gives it, who receives it ("" where nothing is moved), and what is recorded at both ends.
static void json_pairs(const yoke_system* system, const lookup* l, const char* const keys[4],
                       const yoke_system_pair pairs[], size_t n, yoke_json* json) {
  for (int k = 0; k < 4; k++) {
    yoke__json_begin_array(json, keys[k]);
    for (size_t i = 0; i < n; i++) {
      const yoke_system_pair* p = &pairs[i];
      const bool is_moved = p->to_unit != YOKE_NOT_FOUND;
      if (k == 0) {
        json_variable(system, p->from_unit, p->from_variable, json);
      } else if (k == 1 && is_moved) {
        json_variable(system, p->to_unit, p->to_variable, json);
      } else if (k == 1) {
        yoke__json_string(json, NULL, "");
      } else if (k == 2) {
        json_columns(system, l, p->from_unit, p->from_variable, p->from_element, p->n, json);
      } else if (is_moved) {
        json_columns(system, l, p->to_unit, p->to_variable, p->to_element, p->n, json);
      }
    }
    yoke__json_end_array(json);
  }
}

void yoke__system_json(const yoke_system* system, const char* key, yoke_json* json) {
  static const char* const action_keys[] = {"action", "action_to", "action_sent",
                                            "action_received"};
  static const char* const rate_keys[] = {"rate", "rate_to", "rate_sent", "rate_received"};
  const yoke_scenario* s = system->scenario;
  lookup l;
  if (!open_lookup(system, &l)) {
    json->text.status = json->text.status < 0 ? json->text.status : YOKE_NO_MEMORY;
    return;
  }
  if (key == NULL) {
    yoke__json_begin_document(json, "system");
  } else {
    yoke__json_begin_object(json, key);
  }
  yoke__json_string(json, "name", s->name);
  yoke__json_string(json, "text", s->text);
  yoke__json_string(json, "file", s->path);
  yoke__json_string(json, "scheme", scheme_names[s->scheme]);
  yoke__json_string(json, "exchange", s->exchange == YOKE_FRESH ? "fresh" : "stale");
  yoke__json_number(json, "start", system->t_start);
  yoke__json_number(json, "stop", system->t_stop);
  yoke__json_number(json, "step", yoke__clock_seconds(&system->clock, system->macro));
  yoke__json_number(json, "slot", yoke__clock_seconds(&system->clock, system->slot));
  yoke__json_number(json, "tick", yoke__clock_seconds(&system->clock, 1));
  yoke__json_integer(json, "threads", system->n_threads);
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < system->n_units; i++) {
    json_unit(system, &system->units[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "connections");
  for (size_t i = 0; i < system->n_links; i++) {
    json_link(system, &l, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < system->n_bonds; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", system->bonds[i].name);
    const yoke_system_bond* bond = &system->bonds[i];
    json_pairs(system, &l, action_keys, bond->action, bond->n_pairs, json);
    json_pairs(system, &l, rate_keys, bond->rate, bond->n_pairs, json);
    yoke__json_begin_array(json, "ends");
    yoke__json_integer(json, NULL, (int64_t)bond->action_unit);
    yoke__json_integer(json, NULL, (int64_t)bond->rate_unit);
    yoke__json_end_array(json);
    yoke__json_boolean(json, "found", bond->source == NULL);
    yoke__json_boolean(json, "heat", bond->ledger.kind == YOKE_BOND_HEAT);
    yoke__json_number(json, "sign", bond->sign);
    yoke__json_number(json, "exchange", yoke__clock_seconds(&system->clock, bond->interval));
    yoke__json_number(json, "mu", bond->ledger.mu);
    yoke__json_boolean(json, "ter", bond->ledger.has_ter);
    const char* method = method_of(system, bond);
    yoke__json_string(json, "method", method == NULL ? "" : method);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "start_order");
  for (size_t i = 0; i < system->n_units; i++) {
    yoke__json_string(json, NULL, system->units[system->init_order[i]].name);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "step_order");
  for (size_t i = 0; i < system->n_gs; i++) {
    yoke__json_string(json, NULL, system->units[system->gs_order[i]].name);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "loops");
  for (size_t i = 0; i < system->n_loops; i++) {
    yoke__json_begin_array(json, NULL);
    for (size_t j = 0; j < system->loops[i].n; j++) {
      const yoke_system_variable* v = &system->loops[i].variables[j];
      json_variable(system, v->unit, v->variable, json);
    }
    yoke__json_end_array(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
  free(l.bond);
}
