// Verdicts, figures, alarms and the health of coupling methods, as the ledger and the methods give them: the page never
// computes them again.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "report/report_parts.h"

#define MAX_HEALTH 64

static const char* const indicator_names[YOKE_N_INDICATORS] = {"rho", "eps", "rter"};

// ---------------------------------------------------------------------------------------------------------
// the verdict on the whole run

static void judge_failed(const yoke_run_info* info, yoke_report_verdict* out) {
  yoke_message failure = info->failure.message;
  failure.file = NULL;  // among the messages
  char line[YOKE_MESSAGE_TEXT_SIZE] = "";
  yoke_message_format(&failure, line, sizeof line);
  const char* colon = strchr(line, ':');  // behind the severity
  snprintf(out->sentence, sizeof out->sentence, "The run failed: %s",
           colon == NULL ? yoke_status_text(info->status) : colon + 2);
}

void yoke__report_judge(const yoke_report_input* input, yoke_report_verdict* out) {
  const size_t n = input->ledger == NULL ? 0 : yoke__ledger_count(input->ledger);
  *out = (yoke_report_verdict){.verdict = YOKE_VERDICT_NONE};
  yoke_ledger_result worst = {.verdict = YOKE_VERDICT_NONE};
  size_t n_judged = 0;
  for (size_t i = 0; i < n; i++) {
    yoke_ledger_result one;
    yoke__ledger_result(input->ledger, i, &one);
    n_judged += one.verdict != YOKE_VERDICT_NONE;
    if (i == 0 || one.verdict > worst.verdict) {
      worst = one;
    }
  }
  out->verdict = worst.verdict;
  if (input->info->status < 0 && input->info->status != YOKE_INTERRUPTED) {
    judge_failed(input->info, out);
  } else if (n == 0 && input->is_circuit) {
    snprintf(out->sentence, sizeof out->sentence, "A circuit, run to %.6g s.",
             input->info->t_reached);
  } else if (n == 0) {
    snprintf(out->sentence, sizeof out->sentence,
             "The system has no bonds: nobody watched the energy of its coupling.");
  } else if (n_judged == 0) {
    snprintf(out->sentence, sizeof out->sentence, "No bond could be judged; bond '%s': %s.",
             worst.bond->name, worst.reason);
  } else {
    snprintf(out->sentence, sizeof out->sentence, "%s '%s': %s.",
             n_judged == 1 ? "Bond" : "The weakest bond is", worst.bond->name, worst.reason);
  }
}

// ---------------------------------------------------------------------------------------------------------
// figures

static const char* mu_text(yoke_mu_origin origin) {
  static const char* const texts[] = {
      [YOKE_MU_AUTOMATIC] = "from feedthrough, rates, orders and exchange",
      [YOKE_MU_GIVEN] = "given in the system file",
      [YOKE_MU_BOTH_FEEDTHROUGH] = "unknown: feedthrough on both sides",
      [YOKE_MU_IMPLICIT] = "unknown: a unit has an implicit solver",
      [YOKE_MU_GAUSS_SEIDEL] = "unknown under Gauss-Seidel",
      [YOKE_MU_ITERATIVE] = "unknown: the exchange is iterated",
      [YOKE_MU_MODEL] = "unknown: the inputs come from models of the units",
      [YOKE_MU_NO_POWER] = "none: the product is no power",
  };
  return (size_t)origin < YOKE_COUNT(texts) ? texts[origin] : "";
}

static void put_limits(const char* key, const yoke_ledger_limits* limits, yoke_json* json) {
  yoke__json_begin_object(json, key);
  for (size_t i = 0; i < YOKE_N_INDICATORS; i++) {
    yoke__json_number(json, indicator_names[i], limits->value[i]);
  }
  yoke__json_end_object(json);
}

static void put_bond(const yoke_ledger_bond* bond, yoke_json* json) {
  yoke__json_string(json, "name", bond->name);
  yoke__json_boolean(json, "is_heat", bond->kind == YOKE_BOND_HEAT);
  yoke__json_string(json, "convention",
                    bond->residual == YOKE_RESIDUAL_HELD ? "partner held" : "samples");
  yoke__json_integer(json, "n", (int64_t)bond->n);
  yoke__json_number(json, "interval", bond->interval);
  yoke__json_number(json, "mu", bond->mu);
  yoke__json_string(json, "mu_origin", mu_text(bond->mu_origin));
  yoke__json_number(json, "window", bond->watch.window);
  put_limits("warn", &bond->watch.warn, json);
  put_limits("stop", &bond->watch.stop, json);
}

static void put_ter(const yoke_ledger_result* r, yoke_json* json) {
  if (!r->has_ter) {
    return;
  }
  yoke__json_begin_object(json, "ter");
  yoke__json_number(json, "total", r->ter);
  yoke__json_number(json, "net", r->net);
  yoke__json_number(json, "throughput", r->throughput);
  yoke__json_number(json, "relative", r->rter);
  yoke__json_number(json, "relative_worst", r->rter_worst);
  yoke__json_number(json, "flow", r->flow);
  yoke__json_number(json, "effort", r->effort);
  yoke__json_integer(json, "n_bad", (int64_t)r->n_bad);
  yoke__json_end_object(json);
}

static void put_figures(const yoke_ledger_result* r, yoke_json* json) {
  yoke__json_string(json, "verdict", yoke__verdict_names[r->verdict]);
  yoke__json_string(json, "reason", r->reason);
  yoke__json_string(json, "advice", r->advice);
  yoke__json_number(json, "duration", r->duration);
  yoke__json_integer(json, "n_samples", r->n_samples);
  yoke__json_number(json, "residual", r->residual);
  yoke__json_number(json, "created", r->created);
  yoke__json_number(json, "energy", r->energy);
  yoke__json_number(json, "passed", r->passed);
  yoke__json_number(json, "eps", r->eps);
  yoke__json_number(json, "eps_worst", r->eps_worst);
  yoke__json_number(json, "t_eps_worst", r->t_eps_worst);
  yoke__json_number(json, "rho_mean", r->rho_mean);
  yoke__json_number(json, "rho_worst", r->rho_worst);
  yoke__json_number(json, "t_rho_worst", r->t_rho_worst);
  yoke__json_number(json, "rho_share", r->rho_share);
  yoke__json_integer(json, "n_warnings", (int64_t)r->n_warnings);
  yoke__json_integer(json, "n_stops", (int64_t)r->n_stops);
  put_ter(r, json);
}

// ---------------------------------------------------------------------------------------------------------
// coupling methods

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

static void put_health(const yoke_report_input* input, const yoke_group* group, yoke_json* json) {
  double values[MAX_HEALTH] = {0};
  const yoke_coupling_ops* ops = group->ops;
  const bool has_health =
      input->state != NULL && ops->health != NULL && ops->n_health <= MAX_HEALTH;
  yoke__json_begin_object(json, "health");
  if (has_health) {
    ops->health(input->state->group_memory + group->self, values);
    for (size_t i = 0; i < ops->n_health; i++) {
      yoke__json_number(json, ops->health_names[i], values[i]);
    }
  }
  yoke__json_end_object(json);
}

static void put_methods(const yoke_report_input* input, const char* name, yoke_json* json) {
  const yoke_system* system = input->system;
  yoke__json_begin_array(json, "methods");
  for (size_t b = 0; b < system->n_bonds; b++) {
    for (size_t i = 0; strcmp(system->bonds[b].name, name) == 0 && i < system->n_groups; i++) {
      const yoke_group* group = &system->groups[i];
      if (serves(group, &system->bonds[b])) {
        yoke__json_begin_object(json, NULL);
        yoke__json_string(json, "method", group->ops->name);
        yoke__json_string(json, "unit", system->units[group->unit].name);
        put_health(input, group, json);
        yoke__json_end_object(json);
      }
    }
  }
  yoke__json_end_array(json);
}

// ---------------------------------------------------------------------------------------------------------

static void put_alarms(const yoke_ledger* ledger, yoke_json* json) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(ledger, &n, &n_more);
  yoke__json_begin_array(json, "alarms");
  for (size_t i = 0; i < n; i++) {
    char text[512];
    yoke_ledger_result r;
    yoke__ledger_alarm_text(ledger, &alarms[i], text, sizeof text);
    yoke__ledger_result(ledger, alarms[i].bond, &r);
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "bond", r.bond->name);
    yoke__json_string(json, "indicator", indicator_names[alarms[i].indicator]);
    yoke__json_string(json, "level", alarms[i].level == YOKE_ALARM_STOP ? "stop" : "warn");
    yoke__json_number(json, "t", alarms[i].t);
    yoke__json_number(json, "t_end", alarms[i].t_end);
    yoke__json_number(json, "value", alarms[i].value);
    yoke__json_number(json, "limit", alarms[i].limit);
    yoke__json_number(json, "worst", alarms[i].worst);
    yoke__json_string(json, "text", text);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "n_more_alarms", (int64_t)n_more);
}

void yoke__report_put_bonds(const yoke_report_input* input, yoke_json* json) {
  yoke_report_verdict overall;
  yoke__report_judge(input, &overall);
  yoke__json_string(json, "verdict", yoke__verdict_names[overall.verdict]);
  yoke__json_string(json, "sentence", overall.sentence);
  const size_t n = input->ledger == NULL ? 0 : yoke__ledger_count(input->ledger);
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < n; i++) {
    yoke_ledger_result r;
    yoke__ledger_result(input->ledger, i, &r);
    yoke__json_begin_object(json, NULL);
    put_bond(r.bond, json);
    put_figures(&r, json);
    put_methods(input, r.bond->name, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  if (n > 0) {
    put_alarms(input->ledger, json);
  }
}
