// summary.json: what was run, how it ended, how long it took, what the ledger found. The report is made from it and from the
// rows alone.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/api_describe.h"
#include "base/base_message_json.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "base/base_version.h"
#include "circuit/netlist/circuit_netlist.h"
#include "quality/quality_explain.h"
#include "record/record_summary.h"
#include "unit/port/unit_port.h"

#define MESSAGE_SIZE  2048
#define MAX_FILE_SIZE ((size_t)64 << 20)  // of a system file, as its reader has it
#define MAX_TEXT_SIZE ((size_t)1 << 20)   // of one that is repeated

static void json_times(const yoke_loop_info* info, yoke_json* json) {
  yoke__json_begin_object(json, "step_time");
  yoke__json_number(json, "median_us", yoke__histogram_quantile(&info->step_ns, 0.5) * 1e-3);
  yoke__json_number(json, "p99_us", yoke__histogram_quantile(&info->step_ns, 0.99) * 1e-3);
  yoke__json_number(json, "max_us", (double)info->step_ns.max * 1e-3);
  yoke__json_integer(json, "n_timed", (int64_t)info->step_ns.n);
  yoke__json_number(json, "min_us", (double)info->step_ns.min * 1e-3);
  yoke__json_number(json, "p90_us", yoke__histogram_quantile(&info->step_ns, 0.9) * 1e-3);
  yoke__json_number(json, "p999_us", yoke__histogram_quantile(&info->step_ns, 0.999) * 1e-3);
  // of every class that is not empty: from, to, how many
  yoke__json_begin_array(json, "classes_ns");
  for (int i = 0; i < YOKE_HISTOGRAM_SIZE - 1; i++) {
    if (info->step_ns.counts[i] > 0) {
      yoke__json_number(json, NULL, yoke__histogram_bound(i));
      yoke__json_number(json, NULL, yoke__histogram_bound(i + 1));
      yoke__json_integer(json, NULL, info->step_ns.counts[i]);
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static void json_columns(const yoke_system* system, yoke_json* json) {
  yoke__json_begin_array(json, "columns");
  for (size_t i = 0; i < system->n_columns; i++) {
    const yoke_record_column* column = &system->columns[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", column->name);
    yoke__json_string(json, "dimension", column->dim == NULL ? "" : column->dim);
    yoke__json_boolean(json, "real", column->type == YOKE_REAL);
    if (column->items != NULL) {
      yoke__json_begin_array(json, "items");
      for (size_t k = 0; column->items[k] != NULL; k++) {
        yoke__json_string(json, NULL, column->items[k]);
      }
      yoke__json_end_array(json);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_run(const yoke_system* system, const yoke_loop_info* info, yoke_json* json) {
  const double simulated = info->t_reached - system->t_start;
  yoke__json_integer(json, "steps", info->n_steps);
  yoke__json_number(json, "t_reached", info->t_reached);
  yoke__json_number(json, "wall_s", info->wall_s);
  yoke__json_number(json, "real_time_factor", info->wall_s > 0 ? simulated / info->wall_s : 0);
  json_times(info, json);
  yoke__json_begin_object(json, "recorded");
  yoke__json_integer(json, "rows", (int64_t)info->record.n_rows);
  yoke__json_integer(json, "lost", (int64_t)info->record.n_lost);
  yoke__json_integer(json, "waits", (int64_t)info->record.n_waits);
  yoke__json_integer(json, "signals", (int64_t)system->n_columns);
  yoke__json_end_object(json);
  yoke__api_iteration_json(system, &info->iteration, json);
}

// ---- the ledger

static const char* const indicator_keys[] = {"rho", "eps", "rter"};
static const char* const level_words[] = {"none", "warn", "stop"};
static void json_health(const yoke_group* group, const yoke_state* state, yoke_json* json) {
  double values[32] = {0};
  group->ops->health(state->group_memory + group->self, values);
  for (size_t i = 0; i < group->ops->n_health && i < 32; i++) {
    yoke__json_number(json, group->ops->health_names[i], values[i]);
  }
}

static void json_method(const yoke_system* system, const yoke_state* state, size_t bond,
                        yoke_json* json) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (system->methods[group->method].bond != bond || group->ops->health == NULL) {
      continue;
    }
    yoke__json_begin_object(json, "method");
    yoke__json_string(json, "name", group->ops->name);
    json_health(group, state, json);
    yoke__json_end_object(json);
    return;
  }
}

// a group serves a bond if one of its taps carries the bond's action or rate
static bool serves(const yoke_group* group, const yoke_system_bond* bond) {
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    for (size_t k = 0; k < bond->n_pairs; k++) {
      if (group->taps[i].link == bond->action[k].link ||
          group->taps[i].link == bond->rate[k].link) {
        return true;
      }
    }
  }
  return false;
}

// all that serve the bond, those of a whole cluster included
static void json_methods(const yoke_system* system, const yoke_state* state,
                         const yoke_system_bond* bond, yoke_json* json) {
  yoke__json_begin_array(json, "methods");
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (!serves(group, bond)) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "method", group->ops->name);
    yoke__json_string(json, "unit", system->units[group->unit].name);
    yoke__json_begin_object(json, "health");
    if (group->ops->health != NULL) {
      json_health(group, state, json);
    }
    yoke__json_end_object(json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_limits(const char* key, const yoke_ledger_limits* limits, yoke_json* json) {
  yoke__json_begin_object(json, key);
  for (size_t i = 0; i < YOKE_N_INDICATORS; i++) {
    yoke__json_number(json, indicator_keys[i], limits->value[i]);
  }
  yoke__json_end_object(json);
}

static void json_result(const yoke_ledger_result* r, yoke_json* json) {
  yoke__json_string(json, "verdict", yoke__verdict_names[r->verdict]);
  yoke__json_string(json, "reason", r->reason);
  yoke__json_string(json, "explanation", r->explanation);
  yoke__json_integer(json, "samples", r->n_samples);
  yoke__json_number(json, "dE", r->residual);
  yoke__json_number(json, "created", r->created);
  yoke__json_boolean(json, "proven", r->is_proven);
  yoke__json_number(json, "given", r->given);
  yoke__json_number(json, "energy", r->energy);
  yoke__json_number(json, "eps", r->eps);
  yoke__json_number(json, "eps_worst", r->eps_worst);
  yoke__json_number(json, "rho_mean", r->rho_mean);
  yoke__json_number(json, "rho_worst", r->rho_worst);
  yoke__json_number(json, "rho_share", r->rho_share);
  yoke__json_number(json, "passed", r->passed);
  if (r->has_ter) {
    yoke__json_number(json, "ter", r->ter);
    yoke__json_number(json, "net", r->net);
    yoke__json_number(json, "throughput", r->throughput);
    yoke__json_number(json, "rter", r->rter);
    yoke__json_number(json, "rter_worst", r->rter_worst);
    yoke__json_number(json, "flow_part", r->flow);
    yoke__json_number(json, "effort_part", r->effort);
    yoke__json_number(json, "flow_defect", r->flow_defect);
    yoke__json_number(json, "effort_defect", r->effort_defect);
  }
  yoke__json_integer(json, "bad_samples", (int64_t)r->n_bad);
  yoke__json_integer(json, "warnings", (int64_t)r->n_warnings);
  yoke__json_integer(json, "stops", (int64_t)r->n_stops);
  yoke__json_number(json, "duration", r->duration);
  yoke__json_number(json, "t_eps_worst", r->t_eps_worst);
  yoke__json_number(json, "t_rho_worst", r->t_rho_worst);
}

static void json_alarms(const yoke_ledger* ledger, const yoke_system* system, yoke_json* json) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(ledger, &n, &n_more);
  yoke__json_begin_array(json, "alarms");
  for (size_t i = 0; i < n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "bond", system->bonds[alarms[i].bond].name);
    yoke__json_string(json, "indicator", indicator_keys[alarms[i].indicator]);
    yoke__json_string(json, "level", level_words[alarms[i].level]);
    yoke__json_number(json, "from", alarms[i].t);
    yoke__json_number(json, "to", alarms[i].t_end);
    yoke__json_number(json, "value", alarms[i].value);
    yoke__json_number(json, "worst", alarms[i].worst);
    yoke__json_number(json, "limit", alarms[i].limit);
    char text[512];
    yoke__ledger_alarm_text(ledger, &alarms[i], text, sizeof text);
    yoke__json_string(json, "text", text);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "alarms_not_listed", (int64_t)n_more);
}

// Limits of signals and what became of them: those that were exceeded, and as many of the others as there is room for.
static void json_signal_limits(const yoke_system* system, const yoke_state* state,
                               yoke_json* json) {
  size_t n_held = 0;
  yoke__json_begin_array(json, "limits");
  for (size_t i = 0; i < system->n_limits; i++) {
    const yoke_system_limit* limit = &system->limits[i];
    const yoke_limit* found = &state->watch.limits[i];
    if (found->n_beyond == 0 && ++n_held > YOKE_MAX_LISTED_LIMITS) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "signal", limit->name);
    yoke__json_string(json, "dimension", limit->dim);
    yoke__json_string(json, "level", limit->source->is_stop ? "stop" : "warn");
    yoke__json_string(json, "side", limit->source->is_above ? "above" : "below");
    yoke__json_number(json, "limit", limit->source->value);
    yoke__json_integer(json, "steps_beyond", found->n_beyond);
    yoke__json_boolean(json, "ended_run", state->is_stopped && i == state->watch.limited_by);
    if (found->n_beyond > 0) {
      char text[512];
      yoke__json_number(json, "time", found->t);
      yoke__json_number(json, "value", found->value);
      yoke__json_number(json, "worst_time", found->t_worst);
      yoke__json_number(json, "worst", found->worst);
      yoke__master_limit_text(system, state, i, text, sizeof text);
      yoke__json_string(json, "text", text);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "limits_not_listed",
                     n_held > YOKE_MAX_LISTED_LIMITS ? (int64_t)(n_held - YOKE_MAX_LISTED_LIMITS)
                                                     : 0);
}

// Where the same run with half the steps is known, what that says of the energy is the better explanation.
static double explain(const yoke_simulation* simulation, size_t i, yoke_ledger_result* result) {
  const yoke_trust* trust = simulation->trust;
  const yoke_system_bond* bond = &simulation->system->bonds[i];
  yoke__api_explain_heat(simulation, i, result);
  if (trust == NULL || !trust->is_judged || result->bond->kind != YOKE_BOND_POWER ||
      !result->has_ter) {
    return (double)NAN;
  }
  char text[sizeof result->explanation];
  const double change = yoke__ledger_explain_given(
      bond->name, simulation->system->units[bond->rate_unit].name, result->given,
      yoke__trust_given_half(trust, i), result->throughput, text, sizeof text);
  if (!isnan(change)) {
    memcpy(result->explanation, text, sizeof text);
  }
  return change;
}

// sent and arrived: up to the end; balance: of what had to arrive by the last exchange
static void json_flows(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_system* system = simulation->system;
  yoke__json_begin_array(json, "flows");
  for (size_t i = 0; i < system->n_flows; i++) {
    yoke_flow_result r;
    char name[512];
    yoke__master_flow(system, simulation->state, i, &r);
    const yoke_flow_check check = yoke__api_check_flow(simulation, i);
    yoke__json_begin_object(json, NULL);
    yoke__system_flow_start(system, i, name, sizeof name);
    yoke__json_string(json, "from", name);
    yoke__system_flow_end(system, i, name, sizeof name);
    yoke__json_string(json, "to", name);
    yoke__json_string(json, "unit", system->flows[i].dim);
    yoke__json_boolean(json, "averaged", system->flows[i].is_averaged);
    yoke__json_number(json, "sent", r.sent);
    yoke__json_number(json, "arrived", r.arrived);
    yoke__json_number(json, "balance", r.balance);
    yoke__json_number(json, "missed", check.missed);
    yoke__json_number(json, "unsettled", r.unsure);
    yoke__json_string(json, "verdict",
                      yoke__verdict_names[yoke__trust_judge_flow(r.balance, r.unsure, &check)]);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_ledger(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_system* system = simulation->system;
  const yoke_state* state = simulation->state;
  yoke_ledger_result result;
  yoke__json_begin_object(json, "ledger");
  yoke__json_string(json, "residual", "B_k A_k+1 - B_k+1 A_k of outputs at exchange points");
  yoke__json_string(json, "ter", "inputs held during a step, outputs at its end");
  yoke__json_string(json, "exchange", system->scenario->exchange == YOKE_FRESH ? "fresh" : "stale");
  // false where the errors of the signals are estimated: then the words of the bonds count for nothing
  yoke__json_boolean(json, "decides",
                     simulation->trust == NULL || !simulation->trust->is_judged ||
                         !yoke__trust_has_bands(simulation->trust));
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < system->n_bonds; i++) {
    yoke__ledger_result(state->ledger, i, &result);
    const double change = explain(simulation, i, &result);
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", system->bonds[i].name);
    yoke__json_number(json, "dW", change);
    yoke__json_number(json, "mu", result.bond->mu);
    yoke__json_string(json, "mu_from", yoke__mu_words[result.bond->mu_origin]);
    json_result(&result, json);
    yoke__json_string(json, "convention",
                      result.bond->residual == YOKE_RESIDUAL_HELD ? "partner held" : "samples");
    yoke__json_number(json, "period", result.period);
    yoke__json_number(json, "window", result.window);
    json_limits("warn", &result.bond->watch.warn, json);
    json_limits("stop", &result.bond->watch.stop, json);
    json_method(system, state, i, json);
    json_methods(system, state, &system->bonds[i], json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__ledger_result(state->ledger, system->n_bonds, &result);
  yoke__json_begin_object(json, "total");
  json_result(&result, json);
  yoke__json_end_object(json);
  json_alarms(state->ledger, system, json);
  yoke__json_end_object(json);
}

// ---- methods over a cluster

#define CLUSTER_TEXT 1024

static void add_text(void* to, const yoke_message* message) {
  char* text = to;
  const size_t n = strlen(text);
  snprintf(text + n, CLUSTER_TEXT - n, "%s%s", n == 0 ? "" : "; ", message->text);
}

static void json_clusters(const yoke_system* system, const yoke_state* state, yoke_json* json) {
  bool has_any = false;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->role != YOKE_GROUP_CLUSTER || group->ops->health == NULL) {
      continue;
    }
    if (!has_any) {
      yoke__json_begin_array(json, "clusters");
    }
    has_any = true;
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", system->methods[group->method].owner);
    yoke__json_string(json, "coupling", system->methods[group->method].name);
    yoke__json_string(json, "method", group->ops->name);
    if (group->ops->report != NULL) {
      char text[CLUSTER_TEXT] = "";
      group->ops->report(state->group_memory + group->self, &(yoke_sink){add_text, text});
      yoke__json_string(json, "text", text);
    }
    yoke__json_begin_array(json, "members");
    for (size_t i = 0; i < group->setup.cluster->n_units; i++) {
      yoke__json_string(json, NULL, group->setup.cluster->units[i].name);
    }
    yoke__json_end_array(json);
    json_health(group, state, json);
    yoke__json_end_object(json);
  }
  if (has_any) {
    yoke__json_end_array(json);
  }
}

// ---- methods that choose

static void json_service(const yoke_system* system, const yoke_state* state,
                         const yoke_group* group, size_t signal, yoke_json* json) {
  const yoke_system_link* link = &system->links[group->taps[signal].link];
  const yoke_scenario_connection* c = link->source;
  yoke_coupling_service services[8];
  const size_t n = group->ops->served(state->group_memory + group->self, signal, services, 8);
  char name[1024];
  yoke__json_begin_object(json, NULL);
  snprintf(name, sizeof name, "%s.%s", c->from.unit, c->from.variable);
  yoke__json_string(json, "from", name);
  snprintf(name, sizeof name, "%s.%s", c->to.unit, c->to.variable);
  yoke__json_string(json, "to", name);
  yoke__json_string(json, "method", group->ops->name);
  yoke__json_begin_array(json, "by");
  for (size_t i = 0; i < n && i < 8; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "what", services[i].by);
    yoke__json_integer(json, "exchanges", services[i].n);
    if (services[i].why != NULL) {
      yoke__json_string(json, "why", services[i].why);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static void json_fallback(const yoke_system* system, const yoke_fallback* fallback,
                          yoke_json* json) {
  const yoke_group* group = &system->groups[fallback->group];
  const yoke_scenario_connection* c = system->links[group->taps[fallback->signal].link].source;
  char name[1024];
  yoke__json_begin_object(json, NULL);
  snprintf(name, sizeof name, "%s.%s", c->from.unit, c->from.variable);
  yoke__json_string(json, "from", name);
  snprintf(name, sizeof name, "%s.%s", c->to.unit, c->to.variable);
  yoke__json_string(json, "to", name);
  yoke__json_number(json, "t", fallback->t);
  yoke__json_number(json, "factor", fallback->factor);
  char text[YOKE_MESSAGE_TEXT_SIZE];
  yoke__master_fallback_text(system, fallback, text, sizeof text);
  yoke__json_string(json, "text", text);
  yoke__json_end_object(json);
}

// Loops that grew while a method served them that can fall back to holding.
static void json_fallbacks(const yoke_system* system, const yoke_state* state, yoke_json* json) {
  if (state->guard.n_grids == 0) {
    return;
  }
  yoke__json_begin_object(json, "fallbacks");
  yoke__json_integer(json, "count", (int64_t)yoke__master_count_fallbacks(system, state));
  yoke__json_begin_array(json, "list");
  for (size_t loop = 0; loop < system->n_unit_loops; loop++) {
    const yoke_fallback* fallback = NULL;
    for (size_t k = 0; (fallback = yoke__master_fallback(state, loop, k)) != NULL; k++) {
      json_fallback(system, fallback, json);
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// What has served each signal, and for how long.
static void json_services(const yoke_system* system, const yoke_state* state, yoke_json* json) {
  bool has_any = false;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->ops->served == NULL || group->role == YOKE_GROUP_MEMBER) {
      continue;
    }
    if (!has_any) {
      yoke__json_begin_array(json, "served");
    }
    has_any = true;
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      json_service(system, state, group, i, json);
    }
  }
  if (has_any) {
    yoke__json_end_array(json);
  }
}

// ---- circuits

static void json_circuit(const yoke_unit_circuit_figures* f, yoke_json* json) {
  yoke__json_string(json, "title", f->title);
  yoke__json_string(json, "formulation", f->formulation);
  yoke__json_string(json, "method", f->method);
  yoke__json_number(json, "step", f->step);
  yoke__json_integer(json, "fixed_iterations", f->iterations);
  yoke__describe_sizes(f, json);
  yoke__json_integer(json, "steps", (int64_t)f->n_steps);
  yoke__json_integer(json, "stages", (int64_t)f->n_stages);
  yoke__json_number(json, "iterations_mean",
                    f->n_stages > 0 ? (double)f->n_iterations / (double)f->n_stages : 0);
  yoke__json_integer(json, "iterations_worst", f->max_iterations);
  yoke__json_integer(json, "unconverged", (int64_t)f->n_unconverged);
  yoke__json_integer(json, "refactors", (int64_t)f->n_refactors);
  yoke__json_integer(json, "repivots", (int64_t)f->n_repivots);
  yoke__json_integer(json, "switchings", (int64_t)f->n_switchings);
  yoke__json_integer(json, "factors_kept_used", (int64_t)f->n_cached);
}

// "circuits" with the names of the units; a netlist on its own is also "circuit"
static void json_circuits(const yoke_system* system, bool is_netlist, yoke_json* json) {
  yoke_unit_circuit_figures f;
  bool has_any = false;
  if (is_netlist &&
      yoke__unit_circuit_figures(system->units[0].unit.ops, system->units[0].unit.self, &f)) {
    yoke__json_begin_object(json, "circuit");
    yoke__json_string(json, "unit", system->units[0].name);
    json_circuit(&f, json);
    yoke__json_end_object(json);
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (!yoke__unit_circuit_figures(unit->unit.ops, unit->unit.self, &f)) {
      continue;
    }
    if (!has_any) {
      yoke__json_begin_array(json, "circuits");
    }
    has_any = true;
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "unit", unit->name);
    json_circuit(&f, json);
    yoke__json_end_object(json);
  }
  if (has_any) {
    yoke__json_end_array(json);
  }
}

// ---- feedthrough

#define MAX_GAINS 1000  // numbers of D that are listed

// What was found at the start: one entry per output and connected input that it may follow at once.
static void json_feedthrough(const yoke_system* system, const yoke_state* state, yoke_json* json) {
  yoke__json_begin_array(json, "feedthrough");
  for (size_t k = 0, n = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    const yoke_system_unit* unit = &system->units[t->unit];
    for (size_t i = t->first; i < t->first + t->n && n < MAX_GAINS; i++, n++) {
      char name[512] = "";
      yoke__json_begin_object(json, NULL);
      yoke__system_number_name(unit, YOKE_OUTPUT, t->y - unit->y, name, sizeof name);
      yoke__json_string(json, "output", name);
      yoke__system_number_name(unit, YOKE_INPUT, system->through_terms[i].u - unit->u, name,
                               sizeof name);
      yoke__json_string(json, "input", name);
      yoke__json_string(json, "kind", yoke__through_kind_words[state->known[i].kind]);
      yoke__json_string(json, "how", yoke__through_how_words[state->known[i].how]);
      if (state->known[i].kind != YOKE_THROUGH_UNKNOWN) {
        yoke__json_number(json, "value", state->D[i]);
      }
      yoke__json_boolean(json, "singular", t->loop > 0 && state->is_closed_singular[t->loop - 1]);
      yoke__json_end_object(json);
    }
  }
  yoke__json_end_array(json);
}

// ---- the verdict on the whole run

// "unit 'pump' at t = 0.25 s: output 'p' became nan": the place in a file is left to the messages
static void describe_failure(const yoke_message* failure, char* to, size_t size) {
  yoke_message bare = *failure;
  bare.file = NULL;
  bare.severity = YOKE_ERROR;
  char line[YOKE_MESSAGE_TEXT_SIZE] = "";
  yoke_message_format(&bare, line, sizeof line);
  snprintf(to, size, "The run failed: %s", line + strlen("error: "));
}

// A sentence that begins with a capital letter, or with the name of a signal, and ends with a full stop.
static void write_sentence(const char* text, char* to, size_t size) {
  snprintf(to, size, "%s.", text);
  const bool is_name = memchr(text, '.', strcspn(text, " ")) != NULL;
  if (!is_name) {
    to[0] = (char)toupper((unsigned char)to[0]);
  }
}

// that of the run once it is judged, and a sentence about it
static void json_verdict(const yoke_simulation* simulation, const yoke_message* failure,
                         const yoke_divergence* divergence, yoke_json* json) {
  const yoke_trust* trust =
      simulation->trust != NULL && simulation->trust->is_judged ? simulation->trust : NULL;
  char text[1536];
  if (failure != NULL) {
    describe_failure(failure, text, sizeof text);
  } else if (divergence != NULL) {
    write_sentence(divergence->text, text, sizeof text);
  } else if (simulation->is_netlist) {
    snprintf(text, sizeof text, "A circuit, run to %.6g s.", simulation->loop.t_reached);
  } else if (trust == NULL) {
    snprintf(text, sizeof text, "The run was not judged.");
  } else {
    write_sentence(trust->run.reason, text, sizeof text);
  }
  yoke__json_string(json, "verdict",
                    yoke__verdict_names[divergence != NULL ? YOKE_WRONG
                                        : trust == NULL    ? YOKE_VERDICT_NONE
                                                           : trust->run.verdict]);
  yoke__json_string(json, "sentence", text);
}

// ---- the whole

// The first error of that status, else the first one at all, that is not `known` itself; NULL: there is none.
static const yoke_message* find_error(const yoke_simulation* simulation, yoke_status status,
                                      const yoke_message* known) {
  const yoke_message* found = NULL;
  for (size_t i = 0; i < simulation->messages.n; i++) {
    const yoke_message* said = &simulation->messages.all[i];
    const bool is_new = known == NULL || strcmp(said->text, known->text) != 0;
    if (said->severity == YOKE_ERROR && is_new && (found == NULL || found->status != status)) {
      found = said;
    }
  }
  return found;
}

// How it ended: "message" for people, "failure" with its parts.
static void json_end(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_status status = simulation->loop.status;
  const bool is_failed = simulation->loop.status < 0 && simulation->loop.status != YOKE_INTERRUPTED;
  const yoke_message nameless = {.severity = YOKE_ERROR,
                                 .status = status,
                                 .time = (double)NAN,
                                 .text = yoke_status_text(status)};
  const yoke_message* known = yoke_simulation_failure(simulation);
  // of results that could not be written the loop knows no more than that: what the writer said of it is the reason
  if (is_failed && (known == NULL || yoke__status_is_outside(status))) {
    const yoke_message* reason = find_error(simulation, status, known);
    known = reason == NULL ? known : reason;
  }
  yoke_divergence divergence = {.text = ""};
  const bool is_diverged = !is_failed && yoke__api_is_diverged(simulation, &divergence);
  const yoke_message diverging = yoke__api_divergence_message(&divergence);
  known = known == NULL && is_diverged ? &diverging : known;
  const yoke_message failure = known == NULL ? nameless : yoke__api_reword(simulation, known);
  char message[MESSAGE_SIZE] = "";
  if (known != NULL) {
    yoke_message_format(&failure, message, sizeof message);
  }
  yoke__json_string(json, "message", message);
  if (known != NULL || is_failed) {
    yoke__message_json(&failure, "failure", json);
  }
  json_verdict(simulation, is_failed ? &failure : NULL, is_diverged ? &divergence : NULL, json);
}

// The system file as it stands there, if it is a text. A netlist was kept when it was read.
static void json_file(const yoke_system* system, yoke_json* json) {
  const yoke_scenario* scenario = system->scenario;
  const yoke_netlist_source* source =
      scenario->netlist == NULL ? NULL : scenario->netlist->network->sources;
  char* read = NULL;
  size_t n = 0;
  while (source != NULL && source->next != NULL) {
    source = source->next;
  }
  if (source == NULL && scenario->path != NULL && !system->is_from_memory) {
    (void)yoke__os_read_file(scenario->path, MAX_FILE_SIZE, &read, &n, NULL);
  }
  const char* text = source == NULL ? read : source->bytes;
  n = source == NULL ? n : source->n;
  if (text != NULL && strlen(text) == n) {
    yoke__json_integer(json, "file_size", (int64_t)n);
    yoke__json_string(json, "file_text", n > MAX_TEXT_SIZE ? "" : text);
  }
  free(read);
}

// What the ports of units have seen.
static void json_ports(const yoke_system* system, yoke_json* json) {
  bool is_first = true;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    yoke_port_info p;
    if (unit->unit.self == NULL || !yoke__port_look(unit->unit.ops, unit->unit.self, &p)) {
      continue;
    }
    if (is_first) {
      yoke__json_begin_object(json, "ports");
    }
    is_first = false;
    yoke__json_begin_object(json, unit->name);
    yoke__json_string(json, "address", p.address);
    yoke__json_string(json, "peer", unit->source->port.peer);
    yoke__json_integer(json, "sent", (int64_t)p.n_sent);
    yoke__json_integer(json, "received", (int64_t)p.n_received);
    yoke__json_integer(json, "lost", (int64_t)p.n_lost);
    yoke__json_integer(json, "stale", (int64_t)p.n_stale);
    yoke__json_integer(json, "duplicate", (int64_t)p.n_duplicate);
    yoke__json_integer(json, "refused", (int64_t)p.n_refused);
    yoke__json_integer(json, "foreign", (int64_t)p.n_foreign);
    yoke__json_integer(json, "overflow", (int64_t)p.n_overflow);
    yoke__json_integer(json, "clipped", (int64_t)p.n_clipped);
    yoke__json_integer(json, "missing", (int64_t)p.n_missing);
    yoke__json_begin_object(json, "jitter_s");
    yoke__json_number(json, "median", p.jitter_s);
    yoke__json_number(json, "p99", p.jitter_p99_s);
    yoke__json_number(json, "max", p.jitter_max_s);
    yoke__json_end_object(json);
    yoke__json_begin_object(json, "round_trip_s");
    yoke__json_number(json, "median", p.round_trip_s);
    yoke__json_number(json, "p99", p.round_trip_p99_s);
    yoke__json_number(json, "max", p.round_trip_max_s);
    yoke__json_end_object(json);
    yoke__json_end_object(json);
  }
  if (!is_first) {
    yoke__json_end_object(json);
  }
}

static void json_summary(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_system* system = simulation->system;
  const yoke_state* state = simulation->state;
  const yoke_loop_info* info = &simulation->loop;
  yoke__json_begin_document(json, "summary");
  yoke__json_string(json, "name", system->scenario->name);
  yoke__json_string(json, "status", yoke__api_status_word(simulation));
  json_end(simulation, json);
  yoke__json_string(json, "yoke", yoke_version());
  yoke__json_string(json, "commit", yoke__commit());
  yoke__json_string(json, "build", yoke__build());
  yoke__json_boolean(json, "denormals_flushed", true);
  yoke__json_string(json, "command", simulation->command == NULL ? "" : simulation->command);
  json_run(system, info, json);
  yoke__api_json_pace(simulation, json);
  if (state != NULL && system->is_adaptive) {
    yoke__json_begin_object(json, "steps_chosen");
    yoke__json_number(json, "least", state->h_least);
    yoke__json_number(json, "most", state->h_most);
    yoke__json_end_object(json);
  }
  if (simulation->trust != NULL && simulation->trust->is_judged) {
    yoke__api_json_trust(simulation->trust, json);
  }
  if (state != NULL && simulation->system->n_flows > 0) {
    json_flows(simulation, json);
  }
  if (state != NULL && state->ledger != NULL) {
    json_ledger(simulation, json);
  }
  if (state != NULL && system->n_limits > 0) {
    json_signal_limits(system, state, json);
  }
  if (state != NULL) {
    json_clusters(system, state, json);
    json_services(system, state, json);
    json_fallbacks(system, state, json);
  }
  if (state != NULL && system->n_throughs > 0) {
    json_feedthrough(system, state, json);
  }
  json_circuits(system, simulation->is_netlist, json);
  json_ports(system, json);
  yoke__describe_messages(&simulation->messages, json);
  json_columns(system, json);
  json_file(system, json);
  yoke__describe_system(system, "system", json);
  yoke__json_end_object(json);
}

yoke_status yoke_simulation_summary(const yoke_simulation* simulation, char** json) {
  if (json != NULL) {
    *json = NULL;
  }
  if (simulation == NULL || json == NULL) {
    return YOKE_BAD_ARG;
  }
  yoke_json document = {0};
  json_summary(simulation, &document);
  return yoke__describe_finish(&document, YOKE_OK, json);
}

// ---- files

// "loop.models.json"
static void name_models(const yoke_system* system, const yoke_group* group, char* to, size_t size) {
  snprintf(to, size, "%.200s.models.json", system->methods[group->method].name);
  for (char* c = to; *c != '\0'; c++) {
    if (*c == '/') {
      *c = '_';
    }
  }
}

static yoke_status write_models(const yoke_simulation* simulation, const yoke_group* group,
                                const char* directory, const yoke_sink* sink) {
  char name[256], path[4096];
  name_models(simulation->system, group, name, sizeof name);
  yoke__os_path_join(directory, name, path, sizeof path);
  yoke_messages messages = {0};
  const yoke_sink list = yoke__messages_sink(&messages);
  const yoke_status status =
      group->ops->write(simulation->state->group_memory + group->self, path, &list);
  // models of an earlier run do not belong to these results
  if (status < 0) {
    yoke__os_file_remove(path);
  }
  // numbers that are not finite come from a run that ended badly, which was reported
  const bool is_expected = status == YOKE_NO_SUPPORT || status == YOKE_BAD_ARG;
  if (status < 0 && !is_expected) {
    yoke__messages_send(&messages, sink);
  }
  yoke__messages_free(&messages);
  return is_expected ? YOKE_OK : status;
}

yoke_status yoke__api_write_summary(const yoke_simulation* simulation, const char* directory,
                                    const yoke_sink* sink) {
  yoke_json json = {0};
  json_summary(simulation, &json);
  const yoke_status status = yoke__record_summary_write(directory, &json, sink);
  yoke__json_free(&json);
  return status;
}

yoke_status yoke__api_write_files(yoke_simulation* simulation, const char* directory,
                                  const yoke_sink* sink) {
  yoke_status worst = YOKE_OK;
  for (size_t g = 0; g < simulation->system->n_groups; g++) {
    const yoke_group* group = &simulation->system->groups[g];
    if (group->role == YOKE_GROUP_CLUSTER && group->ops->write != NULL) {
      const yoke_status status = write_models(simulation, group, directory, sink);
      worst = status < 0 ? status : worst;
    }
  }
  // those of an earlier run in the same folder; this one's come with its verdict
  char bands[4096];
  if (snprintf(bands, sizeof bands, "%s/bands.csv", directory) < (int)sizeof bands) {
    yoke__os_file_remove(bands);
  }
  const yoke_status status = yoke__api_write_summary(simulation, directory, sink);
  return status < 0 ? status : worst;
}
