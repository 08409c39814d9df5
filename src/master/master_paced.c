// The outer loop of a run that follows the clock: releases, deadlines, the way into the safe state.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "master/master_run.h"

#define SHOW_NS INT64_C(100000000)  // between two calls of `progress`
#define NS_S    1e9

// ---- what units see

void yoke__master_steer(const yoke_system* system, const yoke_state* state,
                        const yoke_system_unit* su, double u[], bool is_slope) {
  const yoke_safe* rig = &state->pace->safe;
  if (rig->now.state != YOKE_RUN_STOPPING) {
    return;
  }
  for (size_t i = 0; i <= rig->n_done && i < system->n_actions; i++) {
    const yoke_system_action* action = &system->actions[i];
    if (&system->units[action->unit] == su && !action->is_typed) {
      u[action->u] = is_slope ? 0
                     : i < rig->n_done
                         ? action->to
                         : yoke__safe_ramp(rig->from, action->to, rig->n_ramped, rig->n_ramp);
    }
  }
}

yoke_status yoke__master_steer_typed(const yoke_system* system, const yoke_state* state,
                                     const yoke_system_unit* su) {
  const yoke_safe* rig = &state->pace->safe;
  const bool is_stopping = rig->now.state == YOKE_RUN_STOPPING;
  for (size_t i = 0; is_stopping && i <= rig->n_done && i < system->n_actions; i++) {
    const yoke_system_action* action = &system->actions[i];
    if (&system->units[action->unit] == su && action->is_typed) {
      const int64_t value = (int64_t)action->to;
      YOKE_TRY(yoke__unit_set(&su->unit, action->variable, &value, sizeof value));
    }
  }
  return YOKE_OK;
}

bool yoke__master_keep_unit(const yoke_system* system, yoke_state* state, size_t unit) {
  yoke_pace* pace = state->pace;
  if (pace == NULL || !pace->is_tolerant) {
    return false;
  }
  const yoke_system_unit* su = &system->units[unit];
  const size_t size = su->unit.n_y * sizeof(double);
  memcpy(state->y_work + su->y, pace->y_last + su->y, size);
  if (state->y_work != state->y) {
    memcpy(state->y + su->y, pace->y_last + system->n_y + su->y, size);
  }
  pace->units[unit].is_failed = true;
  atomic_fetch_add(&pace->n_failed, 1);
  return true;
}

static void keep_outputs(const yoke_system* system, const yoke_state* state) {
  const size_t size = system->n_y * sizeof(double);
  memcpy(state->pace->y_last, state->y_work, size);
  if (state->y_work != state->y) {
    memcpy(state->pace->y_last + system->n_y, state->y, size);
  }
}

// ---- the loop

typedef struct loop {
  const yoke_system* system;
  yoke_state* state;
  const yoke_loop_settings* settings;
  yoke_loop_info* info;
  yoke_pace* pace;
  yoke_status end;  // with which the run ends; YOKE_OK: as it should
  int64_t shown_ns;
} loop;

static void tell_rig(const loop* l, yoke_safe_event event) {
  l->pace->safe.now = yoke__safe_next(l->pace->safe.now, event);
  atomic_store_explicit(&l->pace->shown, (int)l->pace->safe.now.state, memory_order_release);
}

static bool is_stopping(const loop* l) {
  return l->pace->safe.now.state == YOKE_RUN_STOPPING;
}

// Steps of the grid that an action takes.
static int64_t count_ramp(const loop* l, const yoke_system_action* action) {
  return (int64_t)ceil(action->over * NS_S / l->pace->grid.period_ns);
}

static void begin_action(loop* l) {
  yoke_safe* rig = &l->pace->safe;
  if (rig->n_done < l->system->n_actions) {
    const yoke_system_action* action = &l->system->actions[rig->n_done];
    rig->from = action->is_typed ? action->to : l->state->u[action->u];
    rig->n_ramp = count_ramp(l, action);
    rig->n_ramped = 1;
  }
}

// The reason is that of the first one who wants an end.
static void begin_stop(loop* l, yoke_safe_event event, yoke_status why) {
  if (l->end == YOKE_OK) {
    l->end = why;
  }
  const bool was_running = l->pace->safe.now.state == YOKE_RUN_RUN;
  tell_rig(l, event);
  if (!was_running) {
    return;
  }
  l->pace->safe.n_done = 0;
  l->pace->safe.t_stop = l->state->t;
  begin_action(l);
}

// One step of the safe actions was taken.
static void go_on_stopping(loop* l) {
  yoke_safe* rig = &l->pace->safe;
  if (rig->n_done < l->system->n_actions && rig->n_ramped++ >= rig->n_ramp) {
    rig->n_done++;
    begin_action(l);
  }
}

static yoke_status fail(const loop* l, yoke_status status, const char* text) {
  return yoke__master_fail(&l->info->failure, l->system, YOKE_NOT_FOUND, status, l->state->t, "%s",
                           text);
}

static void note_failure(loop* l) {
  if (l->info->failure.message.text == NULL) {
    (void)yoke__master_collect_failures(l->system, l->state);
    yoke__failure_copy(&l->info->failure, &l->state->failure);
  }
}

static void note_hung(loop* l) {
  if (l->info->failure.message.text == NULL) {
    yoke__failure_copy(&l->info->failure, &l->state->failure);
  }
}

// Somebody or something says that this is no orderly end, before or while it stops.
static bool hears_alarm(loop* l) {
  const atomic_bool* is_stop_wanted = l->settings->is_stop_wanted;
  if (l->pace->safe.now.is_faulty) {
    return true;
  }
  if (is_stop_wanted != NULL && atomic_load_explicit(is_stop_wanted, memory_order_relaxed)) {
    begin_stop(l, YOKE_SAFE_FAIL, fail(l, YOKE_STOPPED, "emergency stop"));
  } else if (atomic_load_explicit(&l->pace->is_overdue, memory_order_relaxed)) {
    begin_stop(l, YOKE_SAFE_FAIL,
               fail(l, YOKE_UNIT_FAILED, "a step took longer than the watchdog allows"));
  }
  return l->pace->safe.now.is_faulty;
}

// Who wants an end, before a step or while it is waited for.
static void listen(loop* l, int64_t now_ns) {
  const yoke_loop_settings* s = l->settings;
  if (hears_alarm(l) || is_stopping(l)) {
    return;
  }
  bool is_wanted =
      s->is_cancelled == NULL || !atomic_load_explicit(s->is_cancelled, memory_order_relaxed);
  if (s->progress != NULL && now_ns - l->shown_ns > SHOW_NS) {
    l->shown_ns = now_ns;
    is_wanted = s->progress(s->to) && is_wanted;
  }
  if (!is_wanted) {
    begin_stop(l, YOKE_SAFE_STOP, YOKE_INTERRUPTED);
  }
}

// The caller's part of the step; the step itself is still done if it wants an end.
static void ask_each(loop* l) {
  const yoke_loop_settings* s = l->settings;
  if (s->each != NULL && !s->each(s->to) && !is_stopping(l)) {
    begin_stop(l, YOKE_SAFE_STOP, YOKE_INTERRUPTED);
  }
}

// All slots of one macro step; while it stops nothing but a failure ends it.
static yoke_status step(const loop* l) {
  if (!is_stopping(l)) {
    if (l->pace->is_tolerant) {
      keep_outputs(l->system, l->state);
    }
    return yoke__master_step(l->system, l->state);
  }
  for (int64_t i = 0; i < l->system->macro_slots; i++) {
    keep_outputs(l->system, l->state);
    YOKE_TRY(yoke__master_stopping_slot(l->system, l->state));
  }
  return YOKE_OK;
}

static void count_step(const loop* l) {
  if (l->state->n_slots <= l->system->n_slots) {
    l->info->n_steps++;
    l->info->t_reached = l->state->t;
    atomic_store_explicit(&l->state->progress, l->state->n_slots, memory_order_relaxed);
  }
}

static yoke_status judge(const loop* l, yoke_status status) {
  const bool is_asked = l->settings->judge != NULL && !is_stopping(l);
  return is_asked ? l->settings->judge(l->settings->to, status) : status;
}

// The macro steps of one release: those that were missed, then its own.
static yoke_status compute(const loop* l, int64_t* n) {
  yoke_pace* pace = l->pace;
  const int64_t left = l->system->n_slots - l->state->n_slots;
  const int64_t most = left / l->system->macro_slots;
  if (is_stopping(l)) {
    yoke__pace_drop_owed(pace);
  }
  const int64_t n_owed = pace->n_owed < most ? pace->n_owed : most - 1;
  yoke_status status = YOKE_OK;
  for (int64_t i = 0; i <= n_owed || i == 0; i++) {
    pace->is_holding = i < n_owed;
    status = step(l);
    pace->is_holding = false;
    if (status < 0) {
      return status;
    }
    ++*n;
    count_step(l);
    status = judge(l, status);
    if (status != YOKE_OK) {
      return status;
    }
  }
  return status;
}

static void take_outcome(loop* l, yoke_status status) {
  yoke_pace* pace = l->pace;
  if (status < 0) {
    // results that cannot be written, a value that was refused: it is stopped in order once, if there is anything to do
    note_failure(l);
    l->state->record_wait = INT64_MAX;
    begin_stop(l, pace->is_tolerant && !is_stopping(l) ? YOKE_SAFE_FAIL : YOKE_SAFE_HANG, status);
  } else if (atomic_load_explicit(&pace->n_failed, memory_order_relaxed) > 0) {
    note_failure(l);
    begin_stop(l, YOKE_SAFE_FAIL, l->info->failure.message.status);
  } else if (status != YOKE_OK) {
    begin_stop(l, YOKE_SAFE_STOP, status);
  } else if (!is_stopping(l) && yoke__pace_must_stop(pace)) {
    const size_t late = yoke__pace_find_late(pace);
    pace->n_run_at_stop = pace->n_run;
    if (late != YOKE_NOT_FOUND && pace->units[late].n_late_run >= pace->n_run) {
      pace->late_unit = late;
      pace->n_run_at_stop = pace->units[late].n_late_run;
    }
    begin_stop(l, YOKE_SAFE_STOP, YOKE_LATE);
  }
}

// A unit that does not come back to a loop that goes on: the others are stopped in order, without it.
static void look_for_hung(loop* l) {
  if (yoke__master_find_hung(l->system, l->state, l->pace->end_ns) != YOKE_NOT_FOUND) {
    note_hung(l);
    begin_stop(l, YOKE_SAFE_FAIL, YOKE_UNIT_FAILED);
  }
}

static bool is_at_end(const loop* l) {
  return l->state->n_slots >= l->system->n_slots;
}

static bool is_moving(const loop* l) {
  return l->pace->safe.now.state == YOKE_RUN_RUN || is_stopping(l);
}

// A release that is far away: whoever wants an end need not wait for it. False: somebody does.
static bool is_awaited(loop* l) {
  const yoke_pace_clock* clock = &l->pace->clock;
  const int64_t release = yoke__pace_time(&l->pace->grid, l->pace->slot);
  for (int64_t now = clock->now_ns(clock->self); release - now > 2 * SHOW_NS && !is_stopping(l);
       now = clock->now_ns(clock->self)) {
    clock->sleep_until_ns(clock->self, now + SHOW_NS);
    listen(l, now + SHOW_NS);
    if (is_stopping(l) || !is_moving(l)) {
      return false;
    }
  }
  return true;
}

static void run(loop* l) {
  while (is_moving(l)) {
    if (is_at_end(l)) {
      (void)hears_alarm(l);
      begin_stop(l, YOKE_SAFE_STOP, YOKE_OK);
      l->state->record_wait = INT64_MAX;  // rows end with the run
    } else {
      listen(l, l->pace->end_ns);
    }
    if (is_stopping(l) && l->pace->safe.n_done >= l->system->n_actions) {
      tell_rig(l, YOKE_SAFE_STOPPED);
      return;
    }
    if (!is_awaited(l)) {
      continue;
    }
    int64_t n = 0;
    yoke__pace_release(l->pace);
    ask_each(l);
    const yoke_status status = compute(l, &n);
    yoke__pace_end(l->pace, n);
    if (is_stopping(l)) {
      go_on_stopping(l);
    }
    take_outcome(l, status);
    if (l->state->n_owns > 0) {
      look_for_hung(l);
    }
  }
}

// Units that are still at work when all is over.
static void settle(loop* l) {
  const yoke_status status = yoke__master_settle_own(l->system, l->state);
  if (status >= 0) {
    return;
  }
  if (l->state->failure.message.status < 0) {
    note_hung(l);
  } else {
    note_failure(l);
  }
  l->end = l->end >= 0 ? status : l->end;
  tell_rig(l, YOKE_SAFE_FAIL);
}

// ---- begin and end

static void let_workers_wait(const yoke_system* system, const yoke_state* state, bool may_wait) {
  for (size_t i = 0; i < system->n_groups; i++) {
    yoke__master_worker_let_wait(state->workers[i], may_wait);
  }
}

void yoke__master_prepare_pace(const yoke_system* system, double factor,
                               const yoke_pace_clock* clock, yoke_pace* pace) {
  const yoke_scenario_pacing* pacing = &system->scenario->pacing;
  yoke__pace_clear(pace);
  pace->clock = *clock;
  pace->factor = factor;
  pace->grid.period_ns = yoke__clock_seconds(&system->clock, system->macro) * NS_S / factor;
  pace->overrun = pacing->overrun;
  pace->limit = pacing->limit;
  pace->is_tolerant = system->n_actions > 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    pace->units[i].budget_ns = (int64_t)(unit->source->budget_s * NS_S);
    pace->units[i].is_physical = (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0;
    pace->units[i].is_own = unit->is_own;
  }
}

yoke_status yoke__master_paced_loop(const yoke_system* system, yoke_state* state,
                                    const yoke_loop_settings* settings, yoke_loop_info* info) {
  loop l = {system, state, settings, info, settings->pace, YOKE_OK, 0};
  if (l.pace->safe.now.state == YOKE_RUN_FAULT) {
    return fail(&l, YOKE_BAD_ARG, "the last run ended in FAULT: it must be reset first");
  }
  // the units were initialised when the state was made, and there is nothing to calibrate yet
  tell_rig(&l, YOKE_SAFE_RESET);
  tell_rig(&l, YOKE_SAFE_INITIALISED);
  tell_rig(&l, YOKE_SAFE_CALIBRATED);
  tell_rig(&l, YOKE_SAFE_START);
  let_workers_wait(system, state, settings->is_patient);
  state->pace = l.pace;
  yoke__master_open_own(system, state);
  yoke__pace_start(l.pace);
  l.shown_ns = l.pace->grid.start_ns;
  run(&l);
  settle(&l);
  if (l.end >= 0) {
    yoke__pace_finish(l.pace);
  }
  state->pace = NULL;
  let_workers_wait(system, state, true);
  info->step_ns = l.pace->step_ns;
  return l.end;
}
