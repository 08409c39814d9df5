// The outer loop of a free-running simulation.
#include "master/master_run.h"

#include <math.h>
#include <stdio.h>

#include "base/base_os.h"

#define N_TIMED_FIRST 64    // steps timed one by one before the sampling is chosen
#define HEAVY_NS      5000  // above this every step is timed: two clock readings are 1 % of it
#define SAMPLE_MASK   63    // otherwise one in 64

static int64_t choose_mask(const yoke_run_info* info, int64_t k) {
  if (k < N_TIMED_FIRST) {
    return 0;
  }
  return yoke__histogram_quantile(&info->step_ns, 0.5) > HEAVY_NS ? 0 : SAMPLE_MASK;
}

// macro steps until the end, a failure or an interrupt
static yoke_status run_steps(const yoke_system* system, yoke_state* state,
                             const yoke_run_settings* settings, yoke_run_info* info) {
  int64_t mask = 0;
  while (state->n_slots < system->n_slots) {
    if (settings->is_interrupted != NULL && settings->is_interrupted()) {
      return YOKE_INTERRUPTED;
    }
    yoke_status status;
    if ((info->n_steps & mask) == 0) {
      const int64_t start = yoke__os_now_ns();
      status = yoke__master_step(system, state);
      yoke__histogram_add(&info->step_ns, yoke__os_now_ns() - start);
      mask = mask == 0 ? choose_mask(info, info->n_steps) : mask;
    } else {
      status = yoke__master_step(system, state);
    }
    if (status < 0) {
      return status;
    }
    info->n_steps++;
    info->t_reached = state->t;  // after a failure: the end of the last whole step
    atomic_store_explicit(&state->progress, state->n_slots, memory_order_relaxed);
    if (status == YOKE_ENDED || status == YOKE_STOPPED) {
      return status;
    }
  }
  return YOKE_OK;
}

static yoke_status open_record(const yoke_system* system, yoke_state* state,
                               const yoke_run_settings* settings, yoke_run_info* info) {
  const yoke_sink sink = yoke__failure_sink(&info->failure);
  const yoke_status status = yoke__record_open(&settings->record, system->columns,
                                               system->n_columns, &state->record, &sink);
  if (status >= 0 && system->record_from == 0) {
    return yoke__master_record(system, state);  // the initial values
  }
  return status;
}

static void close_record(yoke_state* state, yoke_run_info* info) {
  if (state->record == NULL) {
    return;
  }
  yoke_failure failure = {0};
  const yoke_sink sink = yoke__failure_sink(&failure);
  const yoke_status status = yoke__record_close(&state->record, &info->record, &sink);
  if (status < 0) {
    // the writer's own reason says more than "could not be written"
    info->status = status;
    if (failure.message.text != NULL) {
      yoke__failure_copy(&info->failure, &failure);
    }
  }
}

// which bond, when, how much, and what to try
static void report_stop(const yoke_state* state, yoke_run_info* info) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(state->ledger, &n, &n_more);
  for (size_t i = n; i-- > 0;) {
    if (alarms[i].level == YOKE_ALARM_STOP) {
      char what[480], text[512], hint[sizeof info->failure.hint];
      yoke_ledger_result result;
      yoke__ledger_result(state->ledger, alarms[i].bond, &result);
      yoke__ledger_alarm_text(state->ledger, &alarms[i], what, sizeof what);
      snprintf(text, sizeof text, "quality limit: %s", what);
      snprintf(hint, sizeof hint, "try: %s", result.advice);
      const yoke_message message = {.severity = YOKE_ERROR,
                                    .status = YOKE_STOPPED,
                                    .time = (double)NAN,
                                    .text = text,
                                    .hint = result.advice[0] == '\0' ? NULL : hint};
      yoke__failure_set(&info->failure, &message, YOKE_NOT_FOUND);
      return;
    }
  }
}

yoke_status yoke__master_run(yoke_system* system, yoke_state* state,
                             const yoke_run_settings* settings, yoke_run_info* info) {
  *info = (yoke_run_info){.t_reached = state->t};
  const uint64_t mode = yoke__os_float_mode_set();
  const int64_t start = yoke__os_now_ns();
  info->status =
      settings->record.formats != 0 ? open_record(system, state, settings, info) : YOKE_OK;
  if (info->status >= 0) {
    info->status = run_steps(system, state, settings, info);
  }
  if (info->status < 0 && info->status != YOKE_INTERRUPTED && info->failure.message.text == NULL) {
    yoke__failure_copy(&info->failure, &state->failure);
  }
  if (info->status == YOKE_STOPPED) {
    report_stop(state, info);
  }
  info->iteration = state->iteration;
  close_record(state, info);
  info->wall_s = (double)(yoke__os_now_ns() - start) * 1e-9;
  yoke__os_float_mode_restore(mode);
  return info->status;
}
