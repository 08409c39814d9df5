// Runs that begin and end in the safe state; see study_rig.h.
#include "study/study_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "master/master_run.h"

// ---- which systems

static bool is_machine(const yoke_system_unit* unit) {
  return (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0;
}

const char* yoke__rig_machine(const yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_machine(&system->units[i])) {
      return system->units[i].name;
    }
  }
  return NULL;
}

bool yoke__rig_is_one(const yoke_system* system) {
  return yoke__rig_machine(system) != NULL || (system->n_actions > 0 && !system->is_adaptive);
}

// The other end of a port in lock-step waits for every datagram, a model for every call.
static bool is_waiting(const yoke_system_unit* unit) {
  const yoke_scenario_port* port = &unit->source->port;
  return !is_machine(unit) || (port->is_given && port->clock == YOKE_PORT_LOCKSTEP);
}

static bool follows_clock(const yoke_system* system) {
  bool is_any = false;
  for (size_t i = 0; i < system->n_units; i++) {
    is_any = is_any || !is_waiting(&system->units[i]);
  }
  return is_any && system->scenario->pacing.is_given;
}

// ---- a clock that nobody waits for

static int64_t jump_now(void* self) {
  const int64_t* now = self;
  return *now;
}

static void jump_to(void* self, int64_t time_ns) {
  int64_t* now = self;
  *now = time_ns > *now ? time_ns : *now;
}

// A unit on a thread of its own is waited for, however long it takes: no time passes here.
static void await_unit(void* self, _Atomic uint32_t* word, uint32_t value, int64_t time_ns) {
  (void)self;
  (void)time_ns;
  while (atomic_load(word) == value) {
    yoke__os_sleep_ns(20000);
  }
}

// ---- the run

// A model that failed is made anew for the next run. A machine is not: it has to be looked at.
static bool has_machine_failed(const yoke_system* system, const yoke_pace* pace,
                               const yoke_failure* failure) {
  bool has_failed = failure->message.text != NULL && failure->unit < system->n_units &&
                    is_machine(&system->units[failure->unit]);
  for (size_t i = 0; i < system->n_units; i++) {
    has_failed = has_failed || (pace->units[i].is_failed && pace->units[i].is_physical);
  }
  return has_failed;
}

static yoke_run_state settle(const yoke_system* system, const yoke_pace* pace,
                             const yoke_failure* failure) {
  const yoke_run_state state = pace->safe.now.state;
  const bool is_led = pace->safe.n_done >= system->n_actions;
  return state == YOKE_RUN_FAULT && is_led && !has_machine_failed(system, pace, failure)
             ? YOKE_RUN_SAFE
             : state;
}

static void explain_late(const yoke_pace* pace, double t, yoke_failure* failure) {
  char text[160];
  snprintf(text, sizeof text, "%lld step%s in a row ended late (overrun: %s)",
           (long long)pace->n_run_at_stop, pace->n_run_at_stop == 1 ? "" : "s",
           yoke__overrun_words[pace->overrun]);
  const yoke_message message = {
      .severity = YOKE_ERROR, .status = YOKE_LATE, .time = t, .text = text};
  yoke__failure_set(failure, &message, YOKE_NOT_FOUND);
}

static void run(const yoke_system* system, yoke_state* state, const yoke_rig_calls* calls,
                yoke_pace* pace, yoke_loop_info* info, yoke_rig_end* end) {
  static const atomic_bool always = true;
  int64_t now = 0;
  const yoke_pace_clock jumping = {jump_now, jump_to, &now, await_unit};
  const bool is_clocked = follows_clock(system);
  yoke_loop_settings settings = {.is_cancelled = &always, .pace = pace, .is_patient = !is_clocked};
  if (calls != NULL) {
    settings.is_cancelled = calls->is_cancelled;
    settings.judge = calls->judge;
    settings.to = calls->to;
  }
  yoke__master_prepare_pace(system, is_clocked ? system->scenario->pacing.factor : 1,
                            is_clocked ? &yoke__pace_monotonic : &jumping, pace);
  end->status = yoke__master_loop(system, state, &settings, info);
  end->state = settle(system, pace, &info->failure);
  if (end->status == YOKE_LATE) {
    explain_late(pace, pace->safe.t_stop, &info->failure);
  }
  yoke__failure_copy(&end->failure, &info->failure);
}

yoke_status yoke__rig_run(const yoke_system* system, yoke_state* state, const yoke_rig_calls* calls,
                          yoke_rig_end* end) {
  *end = (yoke_rig_end){.status = YOKE_OK};
  const yoke_sink sink = yoke__failure_sink(&end->failure);
  YOKE_TRY(yoke__system_check_pace(system, &sink));
  yoke_pace* pace = yoke__pace_create(system->n_units, system->n_y);
  yoke_loop_info* info = calloc(1, sizeof *info);
  const bool is_there = pace != NULL && info != NULL;
  if (is_there) {
    run(system, state, calls, pace, info, end);
  }
  free(info);
  free(pace);
  return is_there ? YOKE_OK : YOKE_NO_MEMORY;
}
