// The resolved system: units, wiring, feedthrough, order, steps, bonds, couplings.
#include <stdio.h>
#include <stdlib.h>

#include "api/api_describe.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_text.h"
#include "unit/fmu/unit_fmu.h"

const char* const yoke__mu_words[] = {
    [YOKE_MU_AUTOMATIC] = "automatic",
    [YOKE_MU_GIVEN] = "given",
    [YOKE_MU_BOTH_FEEDTHROUGH] = "feedthrough on both sides",
    [YOKE_MU_IMPLICIT] = "implicit",
    [YOKE_MU_GAUSS_SEIDEL] = "gauss-seidel",
    [YOKE_MU_ITERATIVE] = "iterative",
    [YOKE_MU_MODEL] = "models",
    [YOKE_MU_MEANS] = "means",
    [YOKE_MU_NO_POWER] = "no power",
};

#define MAX_LISTED   1000  // parameters, states and settings of one unit
#define MAX_INPUTS   100   // that an output lists by name if it lets all of them through
#define MAX_ELEMENTS 6     // of a list that a unit is given

static double seconds(const yoke_system* system, int64_t ticks) {
  return yoke__clock_seconds(&system->clock, ticks);
}

static const yoke_variable* variable_of(const yoke_system* system, size_t unit, size_t variable) {
  return &system->units[unit].unit.info->variables[variable];
}

// ---- units

// Per variable the inputs that it lets through. Large FMUs have a million variables, so nothing here may look at all pairs
// for each of them.
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
                 .n_through = calloc(info->n_variables + 1, sizeof(size_t)),
                 .first = calloc(info->n_variables + 1, sizeof(size_t)),
                 .inputs = calloc(info->n_feedthrough + 1, sizeof(size_t))};
  if (l->n_through == NULL || l->first == NULL || l->inputs == NULL) {
    return false;
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    l->first[info->feedthrough[i].output + 1]++;
  }
  for (size_t i = 0; i < info->n_variables; i++) {
    l->first[i + 1] += l->first[i];
    l->n_inputs += info->variables[i].causality == YOKE_INPUT;
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
static void describe_through(const listing* l, size_t variable, yoke_json* json) {
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

static void describe_variables(const yoke_unit* unit, yoke_json* json) {
  listing l;
  size_t n_listed = 0;
  if (!open_listing(unit, &l)) {
    close_listing(&l);
    json->text.status = json->text.status < 0 ? json->text.status : YOKE_NO_MEMORY;
    return;
  }
  yoke__json_begin_array(json, "variables");
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const bool is_port = v->causality == YOKE_INPUT || v->causality == YOKE_OUTPUT;
    if (!is_port && ++n_listed > MAX_LISTED) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", v->name);
    yoke__json_string(json, "causality", yoke__causality_words[v->causality]);
    yoke__json_string(json, "type", yoke__type_words[v->type]);
    yoke__json_string(json, "dimension", v->dim == NULL ? "" : v->dim);
    yoke__json_integer(json, "size", (int64_t)yoke__variable_count(v));
    describe_through(&l, i, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  if (n_listed > MAX_LISTED) {
    yoke__json_integer(json, "variables_not_listed", (int64_t)(n_listed - MAX_LISTED));
  }
  close_listing(&l);
}

// What a file sets, as it would be written: numbers, 'texts', lists, lists of lists; depth: of lists that are shown.
// NOLINTNEXTLINE(misc-no-recursion): at most `depth` deep
static void write_value(const yoke_node* node, int depth, yoke_text* to) {
  if (node->kind == YOKE_NODE_SCALAR) {
    yoke__text_add(to, node->is_quoted ? "'%.60s'" : "%.60s", node->text);
    return;
  }
  if (depth == 0) {
    yoke__text_string(to, "[...]");
    return;
  }
  size_t n = 0;
  yoke__text_string(to, "[");
  for (const yoke_node* at = node->first; at != NULL && n < MAX_ELEMENTS; at = at->next, n++) {
    yoke__text_string(to, n == 0 ? "" : ", ");
    write_value(at, depth - 1, to);
  }
  yoke__text_string(to, n < node->n_children ? ", ...]" : "]");
}

// The settings of a unit, wherever they come from: --set, the system file, parameter sets of SSP.
static void describe_settings(const yoke_scenario_unit* source, yoke_json* json) {
  const yoke_setting* const lists[] = {source->with, source->start, source->values};
  const size_t counts[] = {source->n_with, source->n_start, source->n_values};
  yoke_text value = {0};
  size_t n = 0;
  yoke__json_begin_array(json, "settings");
  for (size_t k = 0; k < YOKE_COUNT(lists); k++) {
    for (size_t i = 0; i < counts[k]; i++) {
      if (lists[k][i].value != NULL && n++ < MAX_LISTED) {
        yoke__text_clear(&value);
        write_value(lists[k][i].value, 2, &value);
        yoke__json_begin_object(json, NULL);
        yoke__json_string(json, "name", lists[k][i].name);
        yoke__json_string(json, "value", value.bytes);
        yoke__json_end_object(json);
      }
    }
  }
  yoke__json_end_array(json);
  if (n > MAX_LISTED) {
    yoke__json_integer(json, "settings_not_listed", (int64_t)(n - MAX_LISTED));
  }
  yoke__text_free(&value);
}

// Calls in a macro step, and why there are more or fewer than usual. A unit with a step of its own has none.
static void describe_calls(const yoke_system* system, const yoke_system_unit* unit,
                           yoke_json* json) {
  const yoke_scenario* s = system->scenario;
  const yoke_scenario_trial* trial = s->trials == NULL ? NULL : &s->trials[unit - system->units];
  char why[96] = "";
  if (unit->n_calls > 0) {
    yoke__json_integer(json, "calls", unit->n_calls);
  }
  if (!unit->is_paced) {
    return;
  }
  yoke__json_boolean(json, "calls_auto", true);
  if (unit->n_calls > 1 && s->pace.wanted > YOKE_AUTO_CALLS) {
    snprintf(why, sizeof why, "the fastest mode of the loops is %.3g 1/s", s->pace.fastest);
  } else if (trial != NULL && trial->calls > 0 && trial->calls < YOKE_AUTO_CALLS) {
    snprintf(why, sizeof why, "ten would take %.3g times as long as one",
             trial->ten_s / trial->one_s);
  } else if (!s->has_trials && unit->source->kind == YOKE_KIND_FMU && unit->n_calls > 1) {
    snprintf(why, sizeof why, "fewer if a run finds them expensive");
  }
  if (why[0] != '\0') {
    yoke__json_string(json, "calls_because", why);
  }
  if (trial != NULL && trial->ten_s > 0) {
    yoke__json_number(json, "ten_calls_s", trial->ten_s);
  }
  if (trial != NULL && trial->one_s > 0) {
    yoke__json_number(json, "one_call_s", trial->one_s);
  }
}

static void describe_unit(const yoke_system* system, const yoke_system_unit* unit,
                          yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", unit->name);
  yoke__json_string(json, "model", unit->unit.ops->name);
  if (unit->source->kind == YOKE_KIND_LIBRARY) {
    yoke__json_string(json, "library", unit->source->type);
  }
  yoke__json_string(json, "text", unit->unit.ops->text);
  yoke__json_boolean(json, "law", unit->is_law);
  yoke__json_boolean(json, "fresh", unit->is_fresh);
  if (yoke__system_is_fmu(unit) && yoke__fmu_trial_step(unit->unit.ops) > 0) {
    yoke__json_number(json, "trial_step", yoke__fmu_trial_step(unit->unit.ops));
  }
  yoke__json_boolean(json, "isolated", unit->source->isolation.is_given);
  yoke__json_boolean(json, "own_thread", unit->is_own);
  if (unit->source->port.is_given) {
    yoke__json_string(json, "peer", unit->source->port.peer);
  }
  yoke__json_number(json, "step", unit->step);
  describe_calls(system, unit, json);
  yoke__json_integer(json, "thread", unit->thread);
  yoke__json_integer(json, "inputs", (int64_t)unit->unit.n_u);
  yoke__json_integer(json, "outputs", (int64_t)unit->unit.n_y);
  describe_settings(unit->source, json);
  yoke__describe_twin(&unit->unit, json);
  describe_variables(&unit->unit, json);
  yoke__json_end_object(json);
}

// ---- connections and bonds

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

// The receiver gets the means of what a connection carries over its calls.
static bool is_mean(const yoke_system* system, const yoke_system_link* link) {
  return link->is_dense && system->units[link->to_unit].takes_means &&
         system->methods[link->method].ops->input_mean != NULL;
}

// Some of what it carries has feedthrough, which is brought up to date.
static bool is_up_to_date(const yoke_system* system, size_t link) {
  for (size_t i = 0; i < system->n_taps; i++) {
    if (system->taps[i].link == link && system->taps[i].through > 0) {
      return true;
    }
  }
  return false;
}

static void describe_link(const yoke_system* system, const lookup* l, size_t i, yoke_json* json) {
  const yoke_system_link* link = &system->links[i];
  char name[1024];
  yoke__json_begin_object(json, NULL);
  snprintf(name, sizeof name, "%s.%s", link->source->from.unit, link->source->from.variable);
  yoke__json_string(json, "from", name);
  snprintf(name, sizeof name, "%s.%s", link->source->to.unit, link->source->to.variable);
  yoke__json_string(json, "to", name);
  yoke__json_number(json, "exchange", seconds(system, link->interval));
  const char* why = "";
  const int order = yoke__system_acting_order(system, link, &why);
  yoke__json_integer(json, "order", link->order);
  if (link->is_dense && (link->order > 0 || !system->units[link->to_unit].is_law)) {
    yoke__json_integer(json, "acting_order", order);
    yoke__json_string(json, "order_because", why);
  }
  yoke__json_number(json, "gain", link->gain);
  yoke__json_number(json, "offset", link->offset);
  yoke__json_number(json, "delay", seconds(system, link->delay * link->interval));
  yoke__json_integer(json, "from_unit", (int64_t)link->from_unit);
  yoke__json_integer(json, "to_unit", (int64_t)link->to_unit);
  yoke__json_integer(json, "bond", (int64_t)l->bond[i] - 1);
  if (link->method > 0) {
    yoke__json_string(json, "method", system->methods[link->method].ops->name);
  }
  yoke__json_boolean(json, "mean", is_mean(system, link));
  yoke__json_boolean(json, "up_to_date", is_up_to_date(system, i));
  if (link->is_dense) {
    const yoke_through through = yoke__system_feedthrough(system, i);
    yoke__json_string(json, "feedthrough", yoke__through_kind_words[through.kind]);
    yoke__json_string(json, "feedthrough_how", yoke__through_how_words[through.how]);
  }
  yoke__json_boolean(json, "averaged", link->flow == YOKE_FLOW_AVERAGED);
  yoke__json_boolean(json, "samples_only", link->is_flow_sampled);
  yoke__json_end_object(json);
}

static void describe_name(const yoke_system* system, size_t unit, size_t variable,
                          yoke_json* json) {
  char name[1024];
  snprintf(name, sizeof name, "%s.%s", system->units[unit].name,
           variable_of(system, unit, variable)->name);
  yoke__json_string(json, NULL, name);
}

// Names of the recorded columns of n elements of a variable.
static void describe_columns(const yoke_system* system, const lookup* l, size_t unit,
                             size_t variable, size_t first, size_t n, yoke_json* json) {
  for (size_t i = l->first[unit]; i > 0; i = l->next[i - 1]) {
    const yoke_system_column* c = &system->column_sources[i - 1];
    if (c->variable == variable && c->element >= first && c->element - first < n) {
      yoke__json_string(json, NULL, system->columns[i - 1].name);
    }
  }
}

// One direction of a bond: who gives it, who receives it ("" where nothing is moved), and what is recorded at both ends.
static void describe_pairs(const yoke_system* system, const lookup* l, const char* const keys[4],
                           const yoke_system_pair pairs[], size_t n, yoke_json* json) {
  for (int k = 0; k < 4; k++) {
    yoke__json_begin_array(json, keys[k]);
    for (size_t i = 0; i < n; i++) {
      const yoke_system_pair* p = &pairs[i];
      const bool is_moved = p->to_unit != YOKE_NOT_FOUND;
      if (k == 0) {
        describe_name(system, p->from_unit, p->from_variable, json);
      } else if (k == 1 && is_moved) {
        describe_name(system, p->to_unit, p->to_variable, json);
      } else if (k == 1) {
        yoke__json_string(json, NULL, "");
      } else if (k == 2) {
        describe_columns(system, l, p->from_unit, p->from_variable, p->from_element, p->n, json);
      } else if (is_moved) {
        describe_columns(system, l, p->to_unit, p->to_variable, p->to_element, p->n, json);
      }
    }
    yoke__json_end_array(json);
  }
}

static const char* method_of(const yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].link != YOKE_NOT_FOUND) {
      return system->methods[system->links[bond->action[i].link].method].ops->name;
    }
  }
  return "";
}

// An iteration that holds the end value makes both ends agree; else an arrow is missing.
static const char* why_no_ter(const yoke_system* system) {
  const bool is_hold_end = yoke__system_is_iterative(system) &&
                           system->scenario->iteration.mode == YOKE_ITERATE_HOLD_END;
  return is_hold_end ? "mode: hold-end" : "not both are moved";
}

static void describe_bond(const yoke_system* system, const lookup* l, const yoke_system_bond* bond,
                          yoke_json* json) {
  static const char* const action_keys[] = {"action", "action_to", "action_sent",
                                            "action_received"};
  static const char* const rate_keys[] = {"rate", "rate_to", "rate_sent", "rate_received"};
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", bond->name);
  describe_pairs(system, l, action_keys, bond->action, bond->n_pairs, json);
  describe_pairs(system, l, rate_keys, bond->rate, bond->n_pairs, json);
  yoke__json_begin_array(json, "ends");
  yoke__json_integer(json, NULL, (int64_t)bond->action_unit);
  yoke__json_integer(json, NULL, (int64_t)bond->rate_unit);
  yoke__json_end_array(json);
  yoke__json_boolean(json, "found", bond->source == NULL);
  yoke__json_boolean(json, "heat", bond->ledger.kind == YOKE_BOND_HEAT);
  yoke__json_number(json, "sign", bond->sign);
  yoke__json_number(json, "exchange", seconds(system, bond->interval));
  yoke__json_number(json, "mu", bond->ledger.mu);
  yoke__json_string(json, "mu_from", yoke__mu_words[bond->ledger.mu_origin]);
  yoke__json_boolean(json, "ter", bond->ledger.has_ter);
  if (!bond->ledger.has_ter) {
    yoke__json_string(json, "no_ter_because", why_no_ter(system));
  }
  yoke__json_string(json, "method", method_of(system, bond));
  yoke__json_end_object(json);
}

static void describe_wiring(const yoke_system* system, yoke_json* json) {
  lookup l;
  if (!open_lookup(system, &l)) {
    json->text.status = json->text.status < 0 ? json->text.status : YOKE_NO_MEMORY;
    return;
  }
  yoke__json_begin_array(json, "connections");
  for (size_t i = 0; i < system->n_links; i++) {
    describe_link(system, &l, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < system->n_bonds; i++) {
    describe_bond(system, &l, &system->bonds[i], json);
  }
  yoke__json_end_array(json);
  yoke__describe_texts(system->hints, system->n_hints, "bond_hints", json);
  free(l.bond);
}

// ---- methods over a cluster: whom they serve, and what they see

// those that differ from the defaults
static void describe_method_settings(const yoke_system_method* method, yoke_json* json) {
  const yoke_coupling_ops* ops = method->ops;
  yoke__json_begin_object(json, "settings");
  for (size_t i = 0; i < ops->n_parameters; i++) {
    const yoke_coupling_parameter* p = &ops->parameters[i];
    const double x = method->parameters[i];
    char text[YOKE_NUMBER_SIZE];
    yoke__number_format(x, text);
    if (x != p->start && p->items == NULL && yoke__is_finite(x)) {
      yoke__json_number(json, p->name, x);
    } else if (x != p->start) {
      yoke__json_string(json, p->name, p->items == NULL ? text : p->items[(size_t)x]);
    }
  }
  for (size_t i = 0; i < ops->n_files; i++) {
    if (method->files[i] != NULL) {
      yoke__json_string(json, ops->files[i].name, method->files[i]);
    }
  }
  yoke__json_end_object(json);
}

static void describe_cluster(const yoke_system* system, const yoke_group* group, yoke_json* json) {
  const yoke_coupling_cluster* c = group->setup.cluster;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", system->methods[group->method].name);
  yoke__json_string(json, "method", group->ops->name);
  yoke__json_number(json, "exchange", seconds(system, group->every * system->slot));
  describe_method_settings(&system->methods[group->method], json);
  yoke__json_begin_array(json, "members");
  for (size_t k = 0; k < c->n_units; k++) {
    const yoke_coupling_unit* u = &c->units[k];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", u->name);
    yoke__json_integer(json, "inputs", (int64_t)u->n_signals);
    yoke__json_integer(json, "outputs", (int64_t)u->n_outputs);
    yoke__json_integer(json, "inputs_from_outside", (int64_t)u->n_exogenous);
    if (u->has_linear) {
      yoke__json_integer(json, "linear_states", (int64_t)u->n_states);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// ---- orders

static void describe_order(const yoke_system* system, const size_t order[], size_t n,
                           const char* key, yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_string(json, NULL, system->units[order[i]].name);
  }
  yoke__json_end_array(json);
}

static void describe_orders(const yoke_system* system, yoke_json* json) {
  describe_order(system, system->init_order, system->n_units, "start_order", json);
  describe_order(system, system->gs_order, system->n_gs, "step_order", json);
  yoke__json_boolean(json, "step_order_given", system->is_gs_order_given);
  yoke__json_begin_array(json, "loops");
  for (size_t i = 0; i < system->n_loops; i++) {
    yoke__json_begin_array(json, NULL);
    for (size_t j = 0; j < system->loops[i].n; j++) {
      const yoke_system_variable* v = &system->loops[i].variables[j];
      describe_name(system, v->unit, v->variable, json);
    }
    yoke__json_end_array(json);
  }
  yoke__json_end_array(json);
}

// ---- trust

static void describe_trust(const yoke_scenario_trust* trust, yoke_json* json) {
  yoke__json_begin_object(json, "trust");
  yoke__json_boolean(json, "given", trust->is_given);
  yoke__json_string(json, "companions", yoke__companion_words[trust->companions]);
  yoke__json_number(json, "limit", trust->limit);
  yoke__json_number(json, "wrong", trust->wrong);
  yoke__json_boolean(json, "status", trust->is_status);
  yoke__json_boolean(json, "bands", trust->is_bands);
  yoke__json_begin_array(json, "signals");
  for (size_t i = 0; i < trust->n_signals; i++) {
    yoke__json_string(json, NULL, trust->signals[i].text);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "limits");
  for (size_t i = 0; i < trust->n_limits; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "signal", trust->limits[i].signal.text);
    yoke__json_number(json, "limit", trust->limits[i].value);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// ---- limits of signals

// One entry per number, as the patterns were resolved.
static void describe_limits(const yoke_system* system, yoke_json* json) {
  const size_t n =
      system->n_limits < YOKE_MAX_LISTED_LIMITS ? system->n_limits : YOKE_MAX_LISTED_LIMITS;
  yoke__json_begin_array(json, "limits");
  for (size_t i = 0; i < n; i++) {
    const yoke_system_limit* limit = &system->limits[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "signal", limit->name);
    yoke__json_string(json, "dimension", limit->dim);
    yoke__json_string(json, "level", limit->source->is_stop ? "stop" : "warn");
    yoke__json_string(json, "side", limit->source->is_above ? "above" : "below");
    yoke__json_number(json, "limit", limit->source->value);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "limits_not_listed", (int64_t)(system->n_limits - n));
}

// ---- the whole

static void describe_times(const yoke_system* system, yoke_json* json) {
  yoke__json_number(json, "start", system->t_start);
  yoke__json_number(json, "stop", system->t_stop);
  yoke__json_number(json, "step", seconds(system, system->macro));
  yoke__json_integer(json, "steps", system->n_slots / system->macro_slots);
  yoke__json_number(json, "slot", seconds(system, system->slot));
  yoke__json_number(json, "tick", seconds(system, 1));
  if (system->is_adaptive) {
    yoke__json_begin_object(json, "adaptive");
    yoke__json_number(json, "least", seconds(system, system->slot));
    yoke__json_number(json, "most", seconds(system, system->slot * system->adaptive_max));
    yoke__json_number(json, "rho", system->adaptive_rho);
    yoke__json_end_object(json);
  }
}

// By the clock, and what is done at the end.
static void describe_pace(const yoke_system* system, yoke_json* json) {
  const yoke_scenario_pacing* pacing = &system->scenario->pacing;
  if (pacing->is_given) {
    yoke__json_begin_object(json, "pace");
    yoke__json_number(json, "factor", pacing->factor);
    yoke__json_string(json, "overrun", yoke__overrun_words[pacing->overrun]);
    yoke__json_integer(json, "limit", pacing->limit);
    yoke__json_end_object(json);
  }
  if (system->n_actions == 0) {
    return;
  }
  yoke__json_begin_array(json, "safe");
  for (size_t i = 0; i < system->scenario->n_safe; i++) {
    const yoke_scenario_action* action = &system->scenario->safe[i];
    char name[512];
    snprintf(name, sizeof name, "%s.%s", action->input.unit, action->input.variable);
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "set", name);
    yoke__json_number(json, "to", action->to);
    yoke__json_number(json, "over", action->over);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

void yoke__describe_system(const yoke_system* system, const char* key, yoke_json* json) {
  yoke_system_info info;
  yoke_system_get_info(system, &info);
  if (key == NULL) {
    yoke__json_begin_document(json, "system");
  } else {
    yoke__json_begin_object(json, key);
  }
  yoke__json_string(json, "name", info.name);
  yoke__json_string(json, "text", system->scenario->text);
  yoke__json_string(json, "file", info.path);
  yoke__json_string(json, "scheme", info.scheme);
  yoke__json_string(json, "exchange", info.exchange);
  yoke__json_string(json, "inputs",
                    system->scenario->inputs == YOKE_INPUTS_MEAN ? "mean" : "start");
  yoke__describe_iteration(system, json);
  describe_times(system, json);
  describe_pace(system, json);
  yoke__json_integer(json, "threads", system->n_threads);
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < system->n_units; i++) {
    describe_unit(system, &system->units[i], json);
  }
  yoke__json_end_array(json);
  describe_wiring(system, json);
  yoke__json_begin_array(json, "couplings");
  for (size_t g = 0; g < system->n_groups; g++) {
    if (system->groups[g].role == YOKE_GROUP_CLUSTER) {
      describe_cluster(system, &system->groups[g], json);
    }
  }
  yoke__json_end_array(json);
  describe_orders(system, json);
  if (system->n_limits > 0) {
    describe_limits(system, json);
  }
  describe_trust(&system->scenario->trust, json);
  yoke__json_begin_object(json, "recorded");
  yoke__json_integer(json, "signals", (int64_t)system->n_columns);
  yoke__json_number(json, "interval", seconds(system, system->record_every * system->slot));
  yoke__json_end_object(json);
  yoke__json_end_object(json);
}

yoke_status yoke_system_describe(const yoke_system* system, char** json) {
  if (json != NULL) {
    *json = NULL;
  }
  if (system == NULL || json == NULL) {
    return YOKE_BAD_ARG;
  }
  yoke_json document = {0};
  yoke__describe_system(system, NULL, &document);
  return yoke__describe_finish(&document, YOKE_OK, json);
}
