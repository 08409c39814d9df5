// One slot: units advance, time moves on, values are exchanged. Explicit Jacobi and Gauss-Seidel; iterative schemes advance
// in master_iterate.c.
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "master/master.h"
#include "master/master_pace.h"

static YOKE_INLINE yoke_status advance_all(const yoke_system* system, yoke_state* state);
static void account(yoke_state* state);
static YOKE_INLINE void move_time(const yoke_system* system, yoke_state* state);
static YOKE_INLINE yoke_status exchange(const yoke_system* system, yoke_state* state);
static yoke_status observe(const yoke_system* system, yoke_state* state);
static YOKE_INLINE yoke_status record(const yoke_system* system, yoke_state* state);

yoke_status yoke__master_slot(const yoke_system* system, yoke_state* state) {
  // 1: units that are due advance, each with its own inputs
  YOKE_TRY(advance_all(system, state));

  // 2: the ledger accounts for what was given and received, before anything changes
  account(state);

  // 3, 4: time moves on; outputs of units whose step ends here become visible
  move_time(system, state);

  // 5: laws and fresh units, copies, samples for the coupling groups
  YOKE_TRY(exchange(system, state));

  // 6: the ledger observes the samples; the residual may choose the next step; a loop that grows may fall
  // back to held signals; the watch sees the ends of macro steps
  YOKE_TRY(observe(system, state));

  // 7: a row for the recorder
  YOKE_TRY(record(system, state));
  return state->is_stopped ? YOKE_STOPPED : state->is_end_wanted ? YOKE_ENDED : YOKE_OK;
}

// What the safe actions do to inputs is neither an error of the coupling nor energy that it made: nobody accounts for it.
yoke_status yoke__master_stopping_slot(const yoke_system* system, yoke_state* state) {
  YOKE_TRY(advance_all(system, state));
  move_time(system, state);
  YOKE_TRY(exchange(system, state));
  return record(system, state);
}

yoke_status yoke__master_step(const yoke_system* system, yoke_state* state) {
  if (yoke__master_has_mail(state)) {
    YOKE_TRY(yoke__master_take_mail(system, state));
  }
  for (int64_t i = 0; i < system->macro_slots; i++) {
    const yoke_status status = yoke__master_slot(system, state);
    if (status != YOKE_OK) {
      return status;
    }
  }
  return YOKE_OK;
}

// ---- 1: units

typedef struct slot_job {
  const yoke_system* system;
  yoke_state* state;
} slot_job;

static void advance_thread(void* context, int thread) {
  const slot_job* job = context;
  // failures are collected after the barrier
  (void)yoke__master_advance_units(job->system, job->state, thread);
}

// a paced run goes on without a unit that failed, and looks at the failures itself
static yoke_status collect_failures(const yoke_system* system, yoke_state* state) {
  return state->pace != NULL && state->pace->is_tolerant
             ? YOKE_OK
             : yoke__master_collect_failures(system, state);
}

static YOKE_NOINLINE yoke_status advance_threads(const yoke_system* system, yoke_state* state) {
  slot_job job = {system, state};
  if (state->is_behind) {
    YOKE_TRY(yoke__master_catch_up(system, state));
  }
  yoke__pool_run(system->pool, advance_thread, &job);
  return collect_failures(system, state);
}

// By the clock units on threads of their own work beside the others.
static YOKE_NOINLINE yoke_status advance_beside(const yoke_system* system, yoke_state* state) {
  slot_job job = {system, state};
  yoke__master_start_own(system, state);
  yoke__pool_run_crew(system->pool, advance_thread, &job);
  (void)yoke__master_join_own(system, state);
  return collect_failures(system, state);
}

static YOKE_NOINLINE yoke_status advance_several(const yoke_system* system, yoke_state* state) {
  return state->pace != NULL && state->n_owns > 0 ? advance_beside(system, state)
                                                  : advance_threads(system, state);
}

static YOKE_INLINE yoke_status advance_jacobi(const yoke_system* system, yoke_state* state) {
  if (system->n_threads > 1) {
    return advance_several(system, state);
  }
  return yoke__master_advance_units(system, state, 0) < 0
             ? yoke__master_collect_failures(system, state)
             : YOKE_OK;
}

// one after another, each with the newest outputs
static YOKE_NOINLINE yoke_status advance_gauss_seidel(const yoke_system* system,
                                                      yoke_state* state) {
  yoke_call* call = yoke__call_here();
  for (size_t k = 0; k < system->n_gs; k++) {
    // only the laws and fresh units that this one listens to
    const size_t unit = system->gs_order[k], first = system->unit_refresh_first[unit];
    yoke_pace* pace = state->pace;
    if (pace != NULL && yoke__pace_leaves_out(pace, unit)) {
      continue;
    }
    const int64_t before = pace == NULL ? 0 : pace->clock.now_ns(pace->clock.self);
    YOKE_TRY(yoke__master_refresh(system, state, system->unit_refresh + first,
                                  system->unit_refresh_first[unit + 1] - first));
    yoke__master_take_in(system, state, unit);
    yoke__master_note_unit_sources(system, state, unit);
    yoke__call_prepare(call, "step", state->t);
    yoke__call_name(call, system->units[unit].name);
    const yoke_status status = yoke__master_advance(system, state, unit, &state->failure);
    yoke__call_name(call, NULL);
    if (pace != NULL) {
      pace->units[unit].step_ns += pace->clock.now_ns(pace->clock.self) - before;
    }
    if (status < 0 && !yoke__master_keep_unit(system, state, unit)) {
      return status;
    }
  }
  return YOKE_OK;
}

static YOKE_INLINE yoke_status advance_all(const yoke_system* system, yoke_state* state) {
  switch (system->scenario->scheme) {
  case YOKE_JACOBI:
    return advance_jacobi(system, state);
  case YOKE_GAUSS_SEIDEL:
    return advance_gauss_seidel(system, state);
  case YOKE_ITERATIVE_JACOBI:
  case YOKE_ITERATIVE_GAUSS_SEIDEL:
    break;
  }
  return yoke__master_iterate(system, state);
}

// ---- 2 to 7

static void account(yoke_state* state) {
  if (state->ledger != NULL) {
    yoke__ledger_account(state->ledger, state->slot_h, &state->view_before);
  }
}

// what becomes visible at the end of this slot: outputs of units whose step ends here
static void publish(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* su = &system->units[i];
    const bool is_ending =
        su->n_slots == 1 ? state->y_seen != state->y : state->n_slots % su->n_slots == 0;
    if (is_ending && !su->is_law) {
      memcpy(state->y + su->y, state->y_work + su->y, su->unit.n_y * sizeof(double));
    }
    for (size_t k = 0; is_ending && !su->is_law && k < su->n_typed_outputs; k++) {
      const yoke_system_typed* typed = &su->typed_outputs[k];
      memcpy(state->v + typed->at, state->v_work + typed->at, typed->size);
    }
  }
}

static YOKE_INLINE void move_time(const yoke_system* system, yoke_state* state) {
  state->n_slots += state->stretch;
  state->t = yoke__clock_time(&system->clock, state->n_slots * system->slot);
  if (state->y_work != state->y) {
    publish(system, state);
  }
}

// Under Gauss-Seidel the units have taken their inputs already: only laws and fresh units are left.
static YOKE_NOINLINE yoke_status exchange_laws(const yoke_system* system, yoke_state* state) {
  yoke__master_mark_due(system, state);
  yoke__master_open_laws(system, state);
  YOKE_TRY(yoke__master_refresh(system, state, system->refresh_order, system->n_refresh));
  yoke__master_close_laws(system, state);
  yoke__master_meter_laws(system, state);
  return YOKE_OK;
}

static YOKE_INLINE yoke_status exchange(const yoke_system* system, yoke_state* state) {
  return system->scenario->scheme != YOKE_GAUSS_SEIDEL ? yoke__master_exchange(system, state)
                                                       : exchange_laws(system, state);
}

static YOKE_NOINLINE yoke_status observe_bonds(const yoke_system* system, yoke_state* state) {
  if (state->n_held > 0) {
    YOKE_TRY(yoke__master_rebuild(system, state));
  }
  const yoke_corrected* end = state->corrected + state->n_corrected;
  for (const yoke_corrected* c = state->corrected; c < end; c++) {
    *c->to = c->remainder(c->self);
  }
  const yoke_alarm_level level = yoke__ledger_observe(state->ledger, state->t, state->slot_h,
                                                      &state->view_after, state->held_actions);
  if (level != YOKE_ALARM_NONE) {
    yoke__master_take_alarm(state, level);
  }
  if (system->is_adaptive) {
    yoke__master_choose_step(system, state);
  }
  return YOKE_OK;
}

// The judged signals of every macro step, and what another thread may read of the samples.
static inline void keep_plain(yoke_state* state, yoke_trace* trace) {
  if (trace->n_kept < trace->n_room) {
    double* row = trace->values + (size_t)trace->n_kept++ * trace->n;
    for (size_t i = 0; i < trace->n; i++) {
      row[i] = state->y[trace->y[i]];
    }
  }
  if (state->tape != NULL) {
    atomic_store_explicit(&state->tape->n_steps, state->watch.n_steps, memory_order_release);
  }
}

static YOKE_NOINLINE void watch(const yoke_system* system, yoke_state* state) {
  yoke_watch* w = &state->watch;
  if (w->plain == NULL) {
    yoke__master_watch(system, state);
    return;
  }
  w->wait = system->macro_slots;
  w->n_steps++;
  (void)yoke__growth_observe_at(w->plain, state->y, w->plain_y);
  if (w->plain_trace != NULL) {
    keep_plain(state, w->plain_trace);
  }
}

static yoke_status observe(const yoke_system* system, yoke_state* state) {
  if (state->ledger != NULL) {
    YOKE_TRY(observe_bonds(system, state));
  }
  if (state->guard.n_grids > 0) {
    yoke__master_guard(system, state);
  }
  if (--state->watch.wait == 0) {
    watch(system, state);
  }
  return YOKE_OK;
}

static YOKE_INLINE yoke_status record(const yoke_system* system, yoke_state* state) {
  if (state->record == NULL || --state->record_wait > 0) {
    return YOKE_OK;
  }
  state->record_wait = system->record_every;
  return yoke__master_record(system, state);
}
