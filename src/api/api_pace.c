// Runs that follow the clock: what they take from the system while they run, their figures, their states.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "unit/port/unit_port.h"

#define LEAST_PERIOD_NS                                                                            \
  100000.0  // below it a sleep is no use, and a thread that never sleeps must not have priority
#define WATCHDOG_S        2.0  // longest step by default, at least,
#define WATCHDOG_PERIODS  100  // and this many slots
#define WATCHDOG_LOOKS    8    // in that time
#define WATCHDOG_PAUSE_NS INT64_C(50000000)

// Of one run.
typedef struct yoke_api_pace {
  double factor;
  yoke_realtime_thread* threads;  // those that step
  bool with_priority;
  int rank;  // of the first one
  void (*overdue)(void* to);
  void* to;
  yoke_thread* watchdog;
  atomic_bool is_ending;
  yoke_pace* pace;
} yoke_api_pace;

double yoke__api_pace_factor(const yoke_simulation* simulation, const yoke_run_settings* settings) {
  const yoke_scenario_pacing* pacing = &simulation->system->scenario->pacing;
  return settings->pace > 0                          ? settings->pace
         : !(settings->pace < 0) && pacing->is_given ? pacing->factor
                                                     : 0;
}

// ---- begin and end

yoke_status yoke__api_pace_need(yoke_simulation* simulation) {
  for (size_t i = 0; i < simulation->system->n_units; i++) {
    const yoke_system_unit* unit = &simulation->system->units[i];
    if (unit->source->port.is_given && unit->source->port.clock == YOKE_PORT_PACED) {
      return yoke__api_refuse(simulation, YOKE_BAD_INPUT, unit->name, NULL,
                              "'clock: paced' needs a run by the clock: --realtime, or "
                              "`time: {pace: 1}`");
    }
  }
  return YOKE_OK;
}

yoke_status yoke__api_pace_check(yoke_simulation* simulation, const yoke_run_settings* settings) {
  const yoke_system* system = simulation->system;
  const double factor = yoke__api_pace_factor(simulation, settings);
  if (!(factor <= 1e6)) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "the pace is above 1e6 times the clock");
  }
  YOKE_TRY(yoke__system_check_pace(system, &simulation->sink));
  if (simulation->pace != NULL && simulation->pace->safe.now.state == YOKE_RUN_FAULT) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "the last run ended in FAULT: it must be reset first");
  }
  if (simulation->pace == NULL) {
    simulation->pace = yoke__pace_create(system->n_units, system->n_y);
    simulation->paced = calloc(1, sizeof *simulation->paced);
    if (simulation->paced != NULL) {
      simulation->paced->threads =
          calloc((size_t)system->n_crew, sizeof *simulation->paced->threads);
    }
  }
  if (simulation->pace == NULL || simulation->paced == NULL || simulation->paced->threads == NULL) {
    yoke__api_pace_free(simulation);
    return yoke__api_refuse(simulation, YOKE_NO_MEMORY, NULL, NULL, "%s",
                            yoke_status_text(YOKE_NO_MEMORY));
  }
  simulation->paced->factor = factor;
  simulation->paced->rank = simulation->rank;
  return YOKE_OK;
}

static void enter(void* context, int thread) {
  yoke_api_pace* p = context;
  yoke__realtime_enter(&p->threads[thread], thread + p->rank, p->with_priority);
}

static void leave(void* context, int thread) {
  const yoke_api_pace* p = context;
  yoke__realtime_leave(&p->threads[thread]);
}

// What all threads got: the least of them.
static yoke_grant least(const yoke_api_pace* p, int n_threads, bool is_priority) {
  yoke_grant grant = YOKE_GRANTED;
  for (int i = 0; i < n_threads; i++) {
    const yoke_grant own = is_priority ? p->threads[i].priority : p->threads[i].affinity;
    grant = own == YOKE_GRANTED ? grant : own;
  }
  return grant;
}

static bool wants_priority(yoke_pace* pace) {
  const char* why = pace->overrun == YOKE_OVERRUN_CATCH_UP
                        ? "overrun: catch-up could then block the machine"
                    : pace->grid.period_ns < LEAST_PERIOD_NS ? "the steps are shorter than 100 us"
                                                             : "";
  snprintf(pace->grants.why_no_priority, sizeof pace->grants.why_no_priority, "%s", why);
  return why[0] == '\0';
}

// Looks now and then whether the present step has ended.
static void watch(void* argument) {
  yoke_api_pace* p = argument;
  yoke_pace* pace = p->pace;
  const int64_t look = pace->watchdog_ns / WATCHDOG_LOOKS;
  while (!atomic_load(&p->is_ending)) {
    yoke__os_sleep_ns(look < WATCHDOG_PAUSE_NS ? look : WATCHDOG_PAUSE_NS);
    if (yoke__pace_is_overdue(pace, yoke__os_now_ns()) &&
        !atomic_exchange(&pace->is_overdue, true)) {
      if (p->overdue != NULL) {
        p->overdue(p->to);
      }
    }
  }
}

static void start_watchdog(yoke_simulation* simulation, const yoke_run_settings* settings) {
  yoke_api_pace* p = simulation->paced;
  yoke_pace* pace = simulation->pace;
  const double given = simulation->system->scenario->pacing.watchdog;
  const double standard = WATCHDOG_PERIODS * pace->grid.period_ns * 1e-9;
  const double longest = !isnan(given) ? given : standard > WATCHDOG_S ? standard : WATCHDOG_S;
  p->pace = pace;
  p->overdue = settings->overdue;
  p->to = settings->to;
  atomic_store(&p->is_ending, false);
  pace->watchdog_ns = longest > 1e9 ? 0 : (int64_t)(longest * 1e9);
  if (pace->watchdog_ns > 0 && yoke__os_thread_start(watch, p, &p->watchdog) < 0) {
    pace->watchdog_ns = 0;
  }
}

void yoke__api_pace_begin(yoke_simulation* simulation, const yoke_run_settings* settings) {
  const yoke_system* system = simulation->system;
  yoke_api_pace* p = simulation->paced;
  yoke_pace* pace = simulation->pace;
  yoke__master_prepare_pace(system, p->factor, &yoke__pace_monotonic, pace);
  p->with_priority = wants_priority(pace);
  // threads that are started later would inherit the priority
  start_watchdog(simulation, settings);
  // a unit with a thread of its own must never take a processor from those that keep time
  yoke__pool_run_crew(system->pool, enter, p);
  pace->grants.memory = yoke__realtime_lock_memory();
  pace->grants.priority = least(p, system->n_crew, true);
  pace->grants.affinity = least(p, system->n_crew, false);
  pace->grants.processor = p->threads[0].processor;
}

void yoke__api_pace_end(yoke_simulation* simulation) {
  yoke_api_pace* p = simulation->paced;
  for (size_t i = 0; i < simulation->system->n_units; i++) {
    const yoke_unit* unit = &simulation->system->units[i].unit;
    yoke__port_halt(unit->ops, unit->self);
  }
  yoke__realtime_unlock_memory(simulation->pace->grants.memory);
  yoke__pool_run_crew(simulation->system->pool, leave, p);
  atomic_store(&p->is_ending, true);
  yoke__os_thread_join(&p->watchdog);
  yoke__pace_grade(simulation->pace, simulation->grade, sizeof simulation->grade);
}

void yoke__api_pace_free(yoke_simulation* simulation) {
  yoke_pace* pace = simulation->pace;
  simulation->pace = NULL;
  free(pace);
  if (simulation->paced != NULL) {
    free(simulation->paced->threads);
  }
  free(simulation->paced);
  simulation->paced = NULL;
}

void yoke__api_pace_settle(yoke_simulation* simulation, yoke_status status) {
  if (simulation->system->n_actions > 0 && status != YOKE_OK && simulation->trust != NULL &&
      simulation->trust->mode != YOKE_TRUST_NONE) {
    yoke__trust_give_up(simulation->trust,
                        "safe actions changed inputs, which companion runs cannot repeat");
  }
}

// ---- words

bool yoke__api_is_late(const yoke_simulation* simulation) {
  const yoke_pace* pace = simulation->pace;
  return pace != NULL && (yoke__pace_is_beyond(pace) || simulation->loop.record.n_lost > 0);
}

static void warn_of_unit(const yoke_simulation* simulation, size_t unit, const char* text) {
  const yoke_message message = {.severity = YOKE_WARNING,
                                .status = YOKE_LATE,
                                .unit = simulation->system->units[unit].name,
                                .time = (double)NAN,
                                .text = text};
  yoke_send(&simulation->sink, &message);
}

static void report_units(yoke_simulation* simulation) {
  const yoke_pace* pace = simulation->pace;
  for (size_t i = 0; i < pace->n_units; i++) {
    const yoke_pace_unit* unit = &pace->units[i];
    char text[256];
    if (unit->n_over > 0) {
      snprintf(text, sizeof text,
               "took longer than its budget of %g s in %lld of %llu steps, at most %.3g s",
               (double)unit->budget_ns * 1e-9, (long long)unit->n_over,
               (unsigned long long)unit->ns.n, (double)unit->ns.max * 1e-9);
      warn_of_unit(simulation, i, text);
    }
    if (unit->n_late > 0) {
      snprintf(text, sizeof text,
               "its outputs were not there in time at %lld of %lld exchanges, at most %lld in a "
               "row: the last ones were held",
               (long long)unit->n_late, (long long)unit->n_joins,
               (long long)unit->longest_late_run);
      warn_of_unit(simulation, i, text);
    }
  }
}

// Why the run was stopped, and how.
static void set_late(yoke_simulation* simulation) {
  const yoke_pace* pace = simulation->pace;
  const bool is_unit = pace->late_unit != YOKE_NOT_FOUND;
  char text[384], what[128] = "";
  if (is_unit) {
    snprintf(what, sizeof what, "the outputs of '%.64s' were not there in time: ",
             simulation->system->units[pace->late_unit].name);
  }
  snprintf(text, sizeof text,
           "%s%lld %s%s in a row %s late (limit %lld, overrun: %s); the run was stopped at "
           "t = %.9g s and is %s",
           what, (long long)pace->n_run_at_stop, is_unit ? "exchange" : "step",
           pace->n_run_at_stop == 1 ? "" : "s", is_unit ? "were" : "ended",
           (long long)(pace->overrun == YOKE_OVERRUN_STOP ? 1 : pace->limit),
           yoke__overrun_words[pace->overrun], pace->safe.t_stop,
           yoke__safe_words[pace->safe.now.state]);
  const yoke_message message = {
      .severity = YOKE_ERROR, .status = YOKE_LATE, .time = (double)NAN, .text = text};
  yoke__failure_set(&simulation->loop.failure, &message, YOKE_NOT_FOUND);
  yoke_send(&simulation->sink, &message);
}

void yoke__api_report_pace(yoke_simulation* simulation) {
  report_units(simulation);
  if (simulation->loop.status == YOKE_LATE) {
    set_late(simulation);
  } else if (yoke__pace_is_beyond(simulation->pace)) {
    const yoke_pace* pace = simulation->pace;
    char units[96] = "";
    if (pace->n_late_joins > 0) {
      snprintf(units, sizeof units, "; outputs of units %lld times late",
               (long long)pace->n_late_joins);
    }
    yoke__notify(&simulation->sink, YOKE_WARNING,
                 "deadlines were missed beyond the limit of %lld: %lld of %lld steps late, at most "
                 "%lld in a row; %lld slots behind the clock%s",
                 (long long)pace->limit, (long long)pace->n_overruns, (long long)pace->n_releases,
                 (long long)pace->longest_run, (long long)pace->lag, units);
  }
}

// ---- figures

static yoke_times times_of(const yoke_histogram* h) {
  return (yoke_times){.n = (int64_t)h->n,
                      .p50 = yoke__histogram_quantile(h, 0.5) * 1e-9,
                      .p99 = yoke__histogram_quantile(h, 0.99) * 1e-9,
                      .p999 = yoke__histogram_quantile(h, 0.999) * 1e-9,
                      .max = (double)h->max * 1e-9};
}

yoke_status yoke_simulation_get_pace(const yoke_simulation* simulation, yoke_pace_info* out) {
  if (simulation == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_pace* pace = simulation->pace;
  *out = (yoke_pace_info){.grade = ""};
  if (pace != NULL && pace->n_releases > 0) {
    *out = (yoke_pace_info){.factor = pace->factor,
                            .period = pace->grid.period_ns * 1e-9,
                            .n_steps = pace->n_steps,
                            .n_late = pace->n_overruns,
                            .n_missed = pace->n_missed,
                            .n_held = pace->n_held,
                            .longest_run = pace->longest_run,
                            .n_behind = pace->lag,
                            .longest = (double)pace->longest_late_ns * 1e-9,
                            .release = times_of(&pace->late_ns),
                            .step = times_of(&pace->step_ns),
                            .is_beyond = yoke__pace_is_beyond(pace),
                            .has_priority = pace->grants.priority == YOKE_GRANTED,
                            .has_memory = pace->grants.memory == YOKE_GRANTED,
                            .has_processor = pace->grants.affinity == YOKE_GRANTED,
                            .grade = simulation->grade};
  }
  return YOKE_OK;
}

yoke_status yoke_simulation_get_unit_pace(const yoke_simulation* simulation, size_t i,
                                          yoke_unit_pace* out) {
  if (simulation == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_pace* pace = simulation->pace;
  *out = (yoke_unit_pace){0};
  if (i >= simulation->system->n_units) {
    return YOKE_NO_SUCH_NAME;
  }
  if (pace != NULL) {
    const yoke_pace_unit* unit = &pace->units[i];
    *out = (yoke_unit_pace){.step = times_of(&unit->ns),
                            .n_over = unit->n_over,
                            .n_due = unit->n_joins,
                            .n_late = unit->n_late,
                            .longest_run = unit->longest_late_run,
                            .has_own_thread = unit->is_own};
  }
  return YOKE_OK;
}

yoke_run_state yoke_simulation_state(const yoke_simulation* simulation) {
  const yoke_pace* pace = simulation == NULL ? NULL : simulation->pace;
  if (pace != NULL) {
    const yoke_run_state state =
        (yoke_run_state)atomic_load_explicit(&pace->shown, memory_order_acquire);
    const bool is_moving = state == YOKE_RUN_RUN || state == YOKE_RUN_STOPPING;
    return is_moving && atomic_load(&pace->is_overdue) ? YOKE_RUN_FAULT : state;
  }
  return simulation == NULL || simulation->state == NULL ? YOKE_RUN_INIT : YOKE_RUN_READY;
}

void yoke_simulation_emergency_stop(yoke_simulation* simulation) {
  if (simulation != NULL) {
    atomic_store(&simulation->is_stop_wanted, true);
    // a run that does not follow the clock asks for this one only
    const yoke_run_state state = yoke_simulation_state(simulation);
    if (state != YOKE_RUN_RUN && state != YOKE_RUN_STOPPING) {
      atomic_store(&simulation->is_cancelled, true);
    }
  }
}

yoke_status yoke_simulation_reset(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  yoke_pace* pace = simulation->pace;
  if (pace == NULL || pace->safe.now.state != YOKE_RUN_FAULT) {
    return yoke__api_leave(simulation, YOKE_BAD_ARG);
  }
  pace->safe.now = yoke__safe_next(pace->safe.now, YOKE_SAFE_RESET);
  atomic_store(&pace->shown, (int)pace->safe.now.state);
  return yoke__api_leave(simulation, YOKE_OK);
}

// ---- the summary

static void json_times(const char* key, const yoke_histogram* h, yoke_json* json) {
  yoke__json_begin_object(json, key);
  yoke__json_integer(json, "n", (int64_t)h->n);
  yoke__json_number(json, "p50_us", yoke__histogram_quantile(h, 0.5) * 1e-3);
  yoke__json_number(json, "p99_us", yoke__histogram_quantile(h, 0.99) * 1e-3);
  yoke__json_number(json, "p999_us", yoke__histogram_quantile(h, 0.999) * 1e-3);
  yoke__json_number(json, "max_us", (double)h->max * 1e-3);
  yoke__json_end_object(json);
}

static void json_units(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_pace* pace = simulation->pace;
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < pace->n_units; i++) {
    const yoke_pace_unit* unit = &pace->units[i];
    if (unit->ns.n == 0 && !unit->is_own) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", simulation->system->units[i].name);
    yoke__json_boolean(json, "physical", unit->is_physical);
    yoke__json_string(json, "thread", unit->is_own ? "own" : "shared");
    json_times("step_time", &unit->ns, json);
    if (unit->budget_ns > 0) {
      yoke__json_number(json, "budget_us", (double)unit->budget_ns * 1e-3);
      yoke__json_integer(json, "over_budget", unit->n_over);
    }
    if (unit->is_own) {
      yoke__json_integer(json, "n_due", unit->n_joins);
      yoke__json_integer(json, "n_late", unit->n_late);
      yoke__json_integer(json, "longest_late_run", unit->longest_late_run);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

void yoke__api_json_pace(const yoke_simulation* simulation, yoke_json* json) {
  const yoke_pace* pace = simulation->pace;
  if (pace == NULL) {
    return;
  }
  char text[512];
  yoke__json_begin_object(json, "pace");
  yoke__pace_grade(pace, text, sizeof text);
  yoke__json_string(json, "grade", text);
  yoke__pace_text(pace, text, sizeof text);
  yoke__json_string(json, "text", text);
  yoke__json_string(json, "state", yoke__safe_words[pace->safe.now.state]);
  yoke__json_number(json, "factor", pace->factor);
  yoke__json_number(json, "period_us", pace->grid.period_ns * 1e-3);
  yoke__json_string(json, "overrun", yoke__overrun_words[pace->overrun]);
  yoke__json_integer(json, "limit", pace->limit);
  yoke__json_boolean(json, "beyond_limit", yoke__pace_is_beyond(pace));
  yoke__json_integer(json, "releases", pace->n_releases);
  yoke__json_integer(json, "steps", pace->n_steps);
  yoke__json_integer(json, "late", pace->n_overruns);
  yoke__json_integer(json, "missed_slots", pace->n_missed);
  yoke__json_integer(json, "held_steps", pace->n_held);
  yoke__json_integer(json, "longest_run", pace->longest_run);
  yoke__json_number(json, "longest_late_us", (double)pace->longest_late_ns * 1e-3);
  yoke__json_integer(json, "slots_behind", pace->lag);
  yoke__json_integer(json, "late_outputs", pace->n_late_joins);
  json_times("release", &pace->late_ns, json);
  json_times("step_time", &pace->step_ns, json);
  json_units(simulation, json);
  yoke__json_begin_object(json, "system");
  yoke__json_string(json, "memory_locked", yoke__grant_words[pace->grants.memory]);
  yoke__json_string(json, "sched_fifo", yoke__grant_words[pace->grants.priority]);
  yoke__json_string(json, "sched_fifo_note", pace->grants.why_no_priority);
  yoke__json_string(json, "processor", yoke__grant_words[pace->grants.affinity]);
  yoke__json_integer(json, "processor_number", pace->grants.processor);
  yoke__json_number(json, "watchdog_s", (double)pace->watchdog_ns * 1e-9);
  yoke__json_end_object(json);
  yoke__json_end_object(json);
}
