// Trust: bands and verdicts of signals and runs, bonds, alarms, step times, health of coupling methods.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "quality/quality_explain.h"

const char* yoke_verdict_text(yoke_verdict verdict) {
  return (unsigned)verdict > YOKE_WRONG ? "" : yoke__verdict_names[verdict];
}

// ---- signals

static const yoke_trust* judged(const yoke_simulation* simulation) {
  return simulation == NULL || simulation->trust == NULL || !simulation->trust->is_judged
             ? NULL
             : simulation->trust;
}

yoke_status yoke_simulation_get_trust(const yoke_simulation* simulation, yoke_run_trust* out) {
  const yoke_trust* trust = judged(simulation);
  if (trust == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  yoke_divergence divergence;
  *out = (yoke_run_trust){.verdict = trust->run.verdict,
                          .reason = trust->run.reason,
                          .is_diverged = yoke__api_is_diverged(simulation, &divergence),
                          .is_wrong = trust->run.verdict == YOKE_WRONG &&
                                      simulation->system->scenario->trust.is_status,
                          .left_out = trust->left_out,
                          .n_signals = trust->n_signals};
  return YOKE_OK;
}

yoke_status yoke_simulation_get_signal(const yoke_simulation* simulation, size_t i,
                                       yoke_signal_trust* out) {
  const yoke_trust* trust = judged(simulation);
  if (trust == NULL || out == NULL || i >= trust->n_signals) {
    return YOKE_BAD_ARG;
  }
  const yoke_trust_signal* s = &trust->signals[i];
  *out = (yoke_signal_trust){.name = s->name,
                             .dim = s->dim,
                             .verdict = s->verdict,
                             .reason = s->reason,
                             .is_wanted = s->is_wanted,
                             .band = s->band.band,
                             .band_max = s->band.band_max,
                             .at_time = yoke__trust_worst_time(trust, i),
                             .low = s->band.low,
                             .scale = s->band.scale,
                             .relative = s->band.relative,
                             .digits = s->band.digits,
                             .is_estimated = s->band.has_estimate};
  return YOKE_OK;
}

yoke_status yoke_simulation_get_band(const yoke_simulation* simulation, size_t i, double times[],
                                     double bands[], size_t n_room, size_t* n) {
  const yoke_trust* trust = judged(simulation);
  if (trust == NULL || n == NULL || i >= trust->n_signals) {
    return YOKE_BAD_ARG;
  }
  const size_t n_rows = (size_t)trust->n_rows;
  *n = 0;
  double* all = calloc(n_rows + 1, sizeof *all);
  const yoke_status status = all == NULL ? YOKE_NO_MEMORY : yoke__trust_course(trust, i, all);
  if (status >= 0 && times == NULL && bands == NULL) {
    *n = n_rows;
  } else if (status >= 0) {
    *n = n_room < n_rows ? n_room : n_rows;
    for (size_t k = 0; k < *n; k++) {
      // first and last always, the others evenly between them
      const size_t row = *n < 2 ? 0 : k * (n_rows - 1) / (*n - 1);
      if (times != NULL) {
        times[k] = yoke__trust_time(trust, (int64_t)row);
      }
      if (bands != NULL) {
        bands[k] = all[row];
      }
    }
  }
  free(all);
  return status;
}

// ---- flows

yoke_flow_check yoke__api_check_flow(const yoke_simulation* simulation, size_t i) {
  const yoke_trust* trust = simulation->trust;
  return trust != NULL && trust->is_judged ? yoke__trust_check(trust, i) : (yoke_flow_check){0};
}

yoke_status yoke_simulation_get_flow(yoke_simulation* simulation, size_t i, yoke_flow_trust* out) {
  if (simulation == NULL || out == NULL || simulation->state == NULL ||
      i >= simulation->system->n_flows) {
    return YOKE_BAD_ARG;
  }
  const yoke_system* system = simulation->system;
  const yoke_system_flow* flow = &system->flows[i];
  yoke_flow_result r;
  yoke__master_flow(system, simulation->state, i, &r);
  const yoke_flow_check check = yoke__api_check_flow(simulation, i);
  yoke__system_flow_start(system, i, simulation->flow_from, sizeof simulation->flow_from);
  yoke__system_flow_end(system, i, simulation->flow_to, sizeof simulation->flow_to);
  *out = (yoke_flow_trust){.from = simulation->flow_from,
                           .to = simulation->flow_to,
                           .dim = flow->dim,
                           .is_averaged = flow->is_averaged,
                           .sent = r.sent,
                           .arrived = r.arrived,
                           .balance = r.balance,
                           .missed = check.missed,
                           .unsettled = r.unsure,
                           .verdict = yoke__trust_judge_flow(r.balance, r.unsure, &check)};
  return YOKE_OK;
}

// ---- bonds

// Whether a flow is part of the action of a bond.
static bool is_action(const yoke_system_bond* bond, const yoke_system_flow* flow) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].link == flow->link) {
      return true;
    }
  }
  return false;
}

// A heat bond whose flows are counted: what is still on its way is not missing.
void yoke__api_explain_heat(const yoke_simulation* simulation, size_t i,
                            yoke_ledger_result* result) {
  const yoke_system* system = simulation->system;
  if (i >= system->n_bonds || system->bonds[i].ledger.kind != YOKE_BOND_HEAT) {
    return;
  }
  double sent = 0, due = 0, arrived = 0;
  size_t n = 0;
  for (size_t k = 0; k < system->n_flows; k++) {
    if (is_action(&system->bonds[i], &system->flows[k])) {
      yoke_flow_result r;
      yoke__master_flow(system, simulation->state, k, &r);
      sent += r.sent;
      due += r.due_sent;
      arrived += r.due_arrived;
      n++;
    }
  }
  if (n > 0) {
    char texts[3][32];
    snprintf(result->explanation, sizeof result->explanation,
             "heat: %s of %s due so far arrived, %s more is in transit",
             yoke__energy_text(arrived, texts[0], sizeof texts[0]),
             yoke__energy_text(due, texts[1], sizeof texts[1]),
             yoke__energy_text(sent - due, texts[2], sizeof texts[2]));
    memcpy(result->reason, result->explanation, sizeof result->reason);
  }
}

yoke_status yoke_simulation_get_bond(yoke_simulation* simulation, size_t i, yoke_bond_trust* out) {
  if (simulation == NULL || out == NULL || simulation->state == NULL ||
      simulation->state->ledger == NULL || i > simulation->system->n_bonds) {
    return YOKE_BAD_ARG;
  }
  const bool is_total = i == simulation->system->n_bonds;
  yoke_ledger_result* r = &simulation->result;
  yoke__ledger_result(simulation->state->ledger, i, r);
  yoke__api_explain_heat(simulation, i, r);
  const double* now = is_total ? NULL : simulation->state->ledger_values + i * YOKE_LEDGER_N_VALUES;
  *out = (yoke_bond_trust){
      .name = is_total ? NULL : simulation->system->bonds[i].name,
      .verdict = r->verdict,
      .reason = r->reason,
      .explanation = r->explanation,
      .passed = r->passed,
      .energy = r->energy,
      .residual = r->residual,
      .created = r->created,
      .given = r->given,
      .eps = r->eps,
      .eps_worst = r->eps_worst,
      .rho_mean = r->rho_mean,
      .rho_worst = r->rho_worst,
      .ter = r->has_ter ? r->ter : (double)NAN,
      .rter = r->has_ter ? r->rter : (double)NAN,
      .rter_worst = r->has_ter ? r->rter_worst : (double)NAN,
      .power = now == NULL ? (double)NAN : now[YOKE_LEDGER_P],
      .residual_power = now == NULL ? (double)NAN : now[YOKE_LEDGER_DP],
      .rho = now == NULL ? (double)NAN : now[YOKE_LEDGER_RHO],
      .n_samples = r->n_samples,
      .n_warnings = r->n_warnings,
      .n_stops = r->n_stops,
  };
  return YOKE_OK;
}

yoke_status yoke_simulation_get_alarm(const yoke_simulation* simulation, size_t i,
                                      yoke_alarm_view* out) {
  static const char* const indicators[] = {"rho", "eps", "rter"};
  if (simulation == NULL || out == NULL || simulation->state == NULL ||
      simulation->state->ledger == NULL) {
    return YOKE_BAD_ARG;
  }
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(simulation->state->ledger, &n, &n_more);
  if (i >= n) {
    return YOKE_BAD_ARG;
  }
  *out = (yoke_alarm_view){
      .bond = alarms[i].bond,
      .indicator = indicators[alarms[i].indicator],
      .is_stop = alarms[i].level == YOKE_ALARM_STOP,
      .is_given = alarms[i].is_given,
      .from = alarms[i].t,
      .to = alarms[i].t_end,
      .value = alarms[i].value,
      .worst = alarms[i].worst,
      .limit = alarms[i].limit,
  };
  return YOKE_OK;
}

yoke_status yoke_simulation_get_limit(const yoke_simulation* simulation, size_t i,
                                      yoke_limit_view* out) {
  if (simulation == NULL || out == NULL || i >= simulation->system->n_limits) {
    return YOKE_BAD_ARG;
  }
  const yoke_system_limit* limit = &simulation->system->limits[i];
  const yoke_state* state = simulation->state;
  *out = (yoke_limit_view){
      .signal = limit->name,
      .dim = limit->dim,
      .limit = limit->source->value,
      .is_above = limit->source->is_above,
      .is_stop = limit->source->is_stop,
      .has_ended_run = state != NULL && state->is_stopped && state->watch.limited_by == i,
      .time = (double)NAN,
      .value = (double)NAN,
      .worst_time = (double)NAN,
      .worst = (double)NAN,
  };
  if (state != NULL && state->watch.limits[i].n_beyond > 0) {
    const yoke_limit* found = &state->watch.limits[i];
    out->n_beyond = found->n_beyond;
    out->time = found->t;
    out->value = found->value;
    out->worst_time = found->t_worst;
    out->worst = found->worst;
  }
  return YOKE_OK;
}

yoke_status yoke_simulation_get_step_times(const yoke_simulation* simulation,
                                           yoke_step_times* out) {
  if (simulation == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_histogram* times = &simulation->loop.step_ns;
  const double simulated = simulation->loop.t_reached - simulation->system->t_start;
  *out = (yoke_step_times){
      .n_timed = times->n,
      .median_s = yoke__histogram_quantile(times, 0.5) * 1e-9,
      .p99_s = yoke__histogram_quantile(times, 0.99) * 1e-9,
      .max_s = (double)times->max * 1e-9,
      .real_time_factor = simulation->loop.wall_s > 0 ? simulated / simulation->loop.wall_s : 0,
  };
  return YOKE_OK;
}

yoke_status yoke_simulation_get_health(const yoke_simulation* simulation, size_t i, double values[],
                                       size_t n) {
  if (simulation == NULL || values == NULL || simulation->state == NULL ||
      i >= simulation->system->n_methods) {
    return YOKE_BAD_ARG;
  }
  const yoke_system* system = simulation->system;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->method != i || group->role == YOKE_GROUP_MEMBER || group->ops->health == NULL) {
      continue;
    }
    if (n < group->ops->n_health) {
      return YOKE_FULL;
    }
    group->ops->health(simulation->state->group_memory + group->self, values);
    return YOKE_OK;
  }
  return YOKE_NO_SUPPORT;
}
