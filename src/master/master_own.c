// Units on threads of their own: a heavy one works beside the others and is waited for where its outputs are due.
//
//   start   the loop writes down the inputs of all calls of the step, and gives them to the thread
//   work    the thread calls the unit; it reads and writes nothing but its own part of this file's memory
//   join    at the exchange where the outputs are due the loop takes them over
//
// The join ends at a deadline. A unit that is not back then keeps its last outputs, marked as not valid; its next step begins
// at the first of its own grid times at which it is back, from where it stands. All of this is for runs by the clock: without
// one such a thread is one of those that step together.
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "master/master.h"
#include "master/master_pace.h"

#define N_MAIL 64  // values written from outside that wait for a step

typedef struct own_mail {
  yoke_mail all[N_MAIL];
  size_t n;
} own_mail;

typedef struct yoke_own {
  const yoke_system* system;
  const yoke_system_unit* su;
  size_t unit;
  bool takes_whole;  // what was missed is one call
  bool is_kept;      // the outputs of every call are wanted, not only those of the last one
  double* scratch;   // n_u

  // the loop's
  bool is_busy;       // it was given a step that was not taken over yet
  bool is_due;        // its outputs are wanted at the end of its interval
  bool is_held;       // they are not those of the present time
  bool has_news;      // they are newer than those that everybody sees
  int64_t tick_done;  // where the unit stands
  int64_t started_ns, due_ns;
  own_mail waiting;

  // the step: written before it begins
  yoke_pace_clock clock;  // of its own, since the loop may be gone when it comes back
  bool is_paced;
  int64_t tick;     // at which its calls begin, behind those that were missed:
  int64_t n_calls;  // 0: it only makes up for them
  int64_t n_missed;
  size_t n_steered;  // safe actions that act on it
  double* u;         // per call
  double* du;        // per call and order
  yoke_sample_info* infos;
  double* y_before;  // outputs that everybody saw then
  unsigned char* w;
  own_mail mail;

  // and what came of it
  double* y;          // per call if is_kept, else of the last one
  double* y_missed;   // when what was missed was made up for
  double* integrals;  // of that, then per call
  double* linear;
  unsigned char *v, *w_set;
  uint32_t flags;
  yoke_status status;
  int64_t end_ns;
  yoke_failure failure;
} yoke_own;

// ---- memory

static int64_t count_inputs(const yoke_system_unit* su) {
  return su->n_groups > 0 ? su->n_steps : 1;  // inputs that follow nothing are set once
}

static yoke_status lay_one(const yoke_system* system, yoke_state* state, size_t unit,
                           yoke_own* own) {
  yoke_arena* arena = &state->arena;
  const yoke_system_unit* su = &system->units[unit];
  const size_t n = (size_t)su->n_steps, n_rows = (size_t)count_inputs(su);
  const size_t n_order = (size_t)su->derivative_order;
  const uint32_t flags = su->unit.info->flags;
  *own = (yoke_own){
      .system = system,
      .su = su,
      .unit = unit,
      .is_kept = su->n_strips + su->n_sends + su->n_flows > 0,
      // for other units their step is how exact they are
      .takes_whole = su->source->kind == YOKE_KIND_FMU && (flags & YOKE_UNIT_FIXED_STEP) == 0,
      .scratch = yoke__arena_array(arena, su->unit.n_u + 1, sizeof(double)),
      .u = yoke__arena_array(arena, n_rows * su->unit.n_u + 1, sizeof(double)),
      .du = yoke__arena_array(arena, n_rows * n_order * su->unit.n_u + 1, sizeof(double)),
      .infos = yoke__arena_array(arena, su->n_sources + 1, sizeof(yoke_sample_info)),
      .y = yoke__arena_array(arena, n * su->unit.n_y + 1, sizeof(double)),
      .y_before = yoke__arena_array(arena, su->unit.n_y + 1, sizeof(double)),
      .y_missed = yoke__arena_array(arena, su->unit.n_y + 1, sizeof(double)),
      .integrals = yoke__arena_array(arena, (n + 2) * su->n_integrals + 1, sizeof(double)),
      .linear = yoke__arena_array(arena, yoke__master_count_linear(su) + 1, sizeof(double)),
      .w = yoke__arena_take(arena, system->n_typed_in + 1),
      .v = yoke__arena_take(arena, system->n_typed_out + 1),
      .w_set = state->w_set,
  };
  YOKE_TRY_MEMORY(own->scratch && own->u && own->du && own->infos && own->y && own->y_before &&
                  own->y_missed && own->integrals && own->linear && own->w && own->v);
  return YOKE_OK;
}

yoke_status yoke__master_lay_own(const yoke_system* system, yoke_state* state) {
  const size_t n = (size_t)(system->n_threads - system->n_crew);
  if (n == 0) {
    return YOKE_OK;
  }
  state->owns = yoke__arena_array(&state->arena, n, sizeof *state->owns);
  YOKE_TRY_MEMORY(state->owns);
  for (size_t i = 0; i < system->n_units; i++) {
    if (system->units[i].is_own) {
      YOKE_TRY(lay_one(system, state, i, &state->owns[state->n_owns]));
      state->n_owns++;
    }
  }
  return YOKE_OK;
}

static yoke_own* find_own(const yoke_state* state, size_t unit) {
  for (size_t i = 0; i < state->n_owns; i++) {
    if (state->owns[i].unit == unit) {
      return &state->owns[i];
    }
  }
  return NULL;
}

bool yoke__master_is_held(const yoke_state* state, size_t unit) {
  const yoke_own* own = find_own(state, unit);
  return own != NULL && own->is_held;
}

bool yoke__master_post_own(yoke_state* state, const yoke_mail* mail) {
  own_mail* waiting = &find_own(state, mail->unit)->waiting;
  if (waiting->n == N_MAIL) {
    return false;
  }
  waiting->all[waiting->n++] = *mail;
  return true;
}

void yoke__master_image_own(yoke_state* state, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, state->is_behind);
  for (size_t i = 0; i < state->n_owns; i++) {
    YOKE_IMAGE_VALUE(image, state->owns[i].tick_done);
    YOKE_IMAGE_VALUE(image, state->owns[i].is_held);
    YOKE_IMAGE_VALUE(image, state->owns[i].has_news);
  }
}

// ---- on its thread

static yoke_status take_mail(yoke_own* own, const own_mail* all, double t) {
  for (size_t i = 0; i < all->n; i++) {
    const yoke_mail* mail = &all->all[i];
    const yoke_status status = yoke__master_deliver(&own->su->unit, mail);
    if (status < 0) {
      return yoke__master_fail_unit(&own->failure, own->system, own->unit, status, t,
                                    "the value written to '%s' was refused",
                                    own->su->unit.info->variables[mail->variable].name);
    }
  }
  return YOKE_OK;
}

static yoke_status take_actions(yoke_own* own, double t) {
  for (size_t i = 0; i < own->n_steered; i++) {
    const yoke_system_action* action = &own->system->actions[i];
    const int64_t value = (int64_t)action->to;
    const yoke_status status =
        action->unit == own->unit && action->is_typed
            ? yoke__unit_set(&own->su->unit, action->variable, &value, sizeof value)
            : YOKE_OK;
    if (status < 0) {
      return yoke__master_fail_unit(&own->failure, own->system, own->unit, status, t,
                                    "a safe action was refused");
    }
  }
  return YOKE_OK;
}

static yoke_status take_inputs(yoke_own* own, int64_t row, double t) {
  const yoke_unit* unit = &own->su->unit;
  const size_t n_u = unit->n_u, at = (size_t)row;
  yoke_status status = yoke__unit_set_inputs(unit, own->u + at * n_u);
  for (int k = 0; status >= 0 && k < own->su->derivative_order; k++) {
    const size_t place = at * (size_t)own->su->derivative_order + (size_t)k;
    status = unit->ops->set_input_derivatives(unit->self, k + 1, own->du + place * n_u, n_u);
  }
  if (status >= 0) {
    status = yoke__master_tell_sources(own->su, own->infos);
  }
  return status >= 0 ? YOKE_OK
                     : yoke__master_fail_unit(&own->failure, own->system, own->unit, status, t,
                                              "inputs were refused");
}

// The integrals of a call that was made up for are added to those before it.
static yoke_status add_integrals(yoke_own* own, double t) {
  const size_t n = own->su->n_integrals;
  const double* one = own->integrals + (size_t)(own->su->n_steps + 1) * n;
  YOKE_TRY(yoke__master_read_integrals(own->system, own->unit, t,
                                       own->integrals + (size_t)(own->su->n_steps + 1) * n,
                                       &own->failure));
  for (size_t i = 0; i < n; i++) {
    own->integrals[i] += one[i];
  }
  return YOKE_OK;
}

// What was missed is made up for with the inputs of now, since no others are known of that time.
static yoke_status make_up(yoke_own* own) {
  const yoke_clock* clock = &own->system->clock;
  const bool is_whole = own->takes_whole && own->n_missed > 1;
  const int64_t period = own->su->period * (is_whole ? own->n_missed : 1);
  const double h = is_whole ? yoke__clock_seconds(clock, period) : own->su->step;
  memset(own->integrals, 0, own->su->n_integrals * sizeof *own->integrals);
  for (int64_t tick = own->tick - own->n_missed * own->su->period; tick < own->tick;
       tick += period) {
    const double t = yoke__clock_time(clock, tick);
    YOKE_TRY(yoke__master_call_quietly(own->system, own->unit, t, h, &own->flags, &own->failure));
    YOKE_TRY(add_integrals(own, t + h));
  }
  return own->n_missed == 0 || own->su->n_flows == 0
             ? YOKE_OK
             : yoke__master_get_outputs(own->system, own->unit, yoke__clock_time(clock, own->tick),
                                        own->y_missed, &own->failure);
}

static yoke_status call_unit(yoke_own* own) {
  const yoke_system* system = own->system;
  const yoke_system_unit* su = own->su;
  double t = yoke__clock_time(&system->clock, own->tick);
  double* y = own->y;
  YOKE_TRY(take_mail(own, &own->mail, t));
  YOKE_TRY(yoke__master_set_typed_from(system, own->w, own->w_set, own->unit, t, &own->failure));
  YOKE_TRY(take_actions(own, t));
  YOKE_TRY(take_inputs(own, 0, t));
  YOKE_TRY(make_up(own));
  for (int64_t j = 0; j < own->n_calls; j++) {
    t = yoke__clock_time(&system->clock, own->tick + j * su->period);
    if (j > 0 && su->n_groups > 0) {
      YOKE_TRY(take_inputs(own, j, t));
    }
    YOKE_TRY(yoke__master_call_quietly(system, own->unit, t, su->step, &own->flags, &own->failure));
    t += su->step;
    YOKE_TRY(yoke__master_read_integrals(
        system, own->unit, t, own->integrals + (size_t)(j + 1) * su->n_integrals, &own->failure));
    if (own->is_kept && j + 1 < own->n_calls) {
      YOKE_TRY(yoke__master_get_outputs(system, own->unit, t, y, &own->failure));
      y += su->unit.n_y;
    }
  }
  YOKE_TRY(yoke__master_get_outputs(system, own->unit, t, y, &own->failure));
  if (su->n_typed_outputs > 0) {
    YOKE_TRY(yoke__master_get_typed_to(system, own->v, own->unit, su->n_typed_outputs, t,
                                       &own->failure));
  }
  if (su->has_linear) {
    yoke__master_linearise_to(su, own->linear);
  }
  return YOKE_OK;
}

// What came after its last step.
static void take_rest(void* context, int thread) {
  yoke_own* own = context;
  if (thread == own->su->thread) {
    own->status =
        take_mail(own, &own->waiting, yoke__clock_time(&own->system->clock, own->tick_done));
    own->waiting.n = 0;
  }
}

static void work(void* context, int thread) {
  (void)thread;
  yoke_own* own = context;
  own->status = call_unit(own);
  own->end_ns = own->is_paced ? own->clock.now_ns(own->clock.self) : 0;
}

// ---- start

static bool is_left_out(const yoke_state* state, const yoke_own* own) {
  return state->pace != NULL && yoke__pace_leaves_out(state->pace, own->unit);
}

// The inputs of call j, as they would be set if it were called now.
static void note_inputs(const yoke_system* system, yoke_state* state, yoke_own* own, int64_t j) {
  const yoke_system_unit* su = own->su;
  const size_t n_u = su->unit.n_u;
  if (su->n_groups > 0) {
    yoke__master_extrapolate(system, state, su->first_group, su->n_groups, j * su->period);
  }
  if (su->is_steered && state->pace != NULL) {
    yoke__master_steer(system, state, su, state->u, false);
  }
  if (j > 0 && su->n_groups == 0) {
    return;
  }
  memcpy(own->u + (size_t)j * n_u, state->u + su->u, n_u * sizeof(double));
  for (int k = 0; k < su->derivative_order; k++) {
    const size_t place = (size_t)j * (size_t)su->derivative_order + (size_t)k;
    yoke__master_find_derivatives(system, state, su, j * su->period, k + 1);
    memcpy(own->du + place * n_u, state->du + su->u, n_u * sizeof(double));
  }
}

static void note_calls(const yoke_system* system, yoke_state* state, yoke_own* own) {
  const yoke_system_unit* su = own->su;
  for (size_t i = 0; i < su->n_typed_inputs; i++) {
    const yoke_system_typed* typed = &su->typed_inputs[i];
    memcpy(own->w + typed->at, state->w + typed->at, typed->size);
  }
  for (int64_t j = 0; j < own->n_calls || j == 0; j++) {
    note_inputs(system, state, own, j);
    const int64_t n = (j < own->n_calls) + (j == 0 ? own->n_missed : 0);
    if (su->n_inflows > 0) {
      yoke__master_receive(system, state, own->unit, su->step * (double)n);
    }
  }
  memcpy(own->infos, state->infos + su->first_source, su->n_sources * sizeof *own->infos);
  memcpy(own->y_before, state->y + su->y, su->unit.n_y * sizeof(double));
  own->mail = own->waiting;
  own->waiting.n = 0;
}

// When its outputs are due, by the grid of the clock.
static int64_t find_due(const yoke_system* system, const yoke_state* state,
                        const yoke_system_unit* su) {
  const int64_t behind = state->n_slots % system->macro_slots + su->n_slots;
  const int64_t n = (behind + system->macro_slots - 1) / system->macro_slots;
  return yoke__pace_time(&state->pace->grid, state->pace->slot + n);
}

static void give(const yoke_system* system, yoke_state* state, yoke_own* own, int64_t n_calls) {
  const yoke_pace* pace = state->pace;
  own->is_paced = pace != NULL;
  own->n_calls = n_calls;
  own->n_steered = 0;
  own->tick = state->n_slots * system->slot;
  own->n_missed = (own->tick - own->tick_done) / own->su->period;
  if (pace != NULL) {
    own->clock = pace->clock;
    own->started_ns = pace->clock.now_ns(pace->clock.self);
    own->due_ns = find_due(system, state, own->su);
    if (pace->safe.now.state == YOKE_RUN_STOPPING) {
      own->n_steered =
          pace->safe.n_done < system->n_actions ? pace->safe.n_done + 1 : system->n_actions;
    }
  }
  note_calls(system, state, own);
  own->flags = 0;
  own->is_busy = true;
  yoke__pool_start(system->pool, own->su->thread, work, own);
}

static bool is_back(const yoke_system* system, const yoke_own* own) {
  return atomic_load_explicit(yoke__pool_busy(system->pool, own->su->thread),
                              memory_order_acquire) == 0;
}

static yoke_status take_over(const yoke_system* system, yoke_state* state, yoke_own* own);

static void start_one(const yoke_system* system, yoke_state* state, yoke_own* own) {
  const yoke_system_unit* su = own->su;
  if (is_left_out(state, own)) {
    return;
  }
  if (su->n_slots > 1) {
    int64_t* wait = &state->unit_wait[own->unit];
    if (*wait > 0) {
      --*wait;
      return;
    }
    // no step beyond the end of the run
    if (state->n_slots + su->n_slots > system->n_slots) {
      return;
    }
    *wait = su->n_slots - 1;
  }
  own->is_due = true;
  // a failure is reported where the others are collected
  if (own->is_busy && is_back(system, own) && take_over(system, state, own) < 0) {
    return;
  }
  if (!own->is_busy) {
    give(system, state, own, su->n_steps);
  }
}

void yoke__master_start_own(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < state->n_owns; i++) {
    start_one(system, state, &state->owns[i]);
  }
}

// ---- join

static unsigned char* typed_target(const yoke_state* state, const yoke_system_unit* su) {
  return su->n_slots > 1 ? state->v_work : state->v;
}

// Each call as the ledger and coupling methods would have seen it. Of calls of an earlier time they have no use.
static void keep_calls(const yoke_system* system, yoke_state* state, yoke_own* own, double y[]) {
  const yoke_system_unit* su = own->su;
  const size_t n_u = su->unit.n_u, n_y = su->unit.n_y;
  const int64_t n = own->is_kept && own->n_calls > 0 ? own->n_calls : 1;
  const bool is_late = own->tick + n * su->period <= state->n_slots * system->slot;
  double* u = state->u + su->u;
  memcpy(own->scratch, u, n_u * sizeof *u);
  for (int64_t j = 0; own->is_kept && j < own->n_calls && !is_late; j++) {
    memcpy(u, own->u + (size_t)(su->n_groups > 0 ? j : 0) * n_u, n_u * sizeof *u);
    memcpy(y + su->y, own->y + (size_t)j * n_y, n_y * sizeof *y);
    yoke__master_keep_call(system, state, su, j, y);
  }
  memcpy(u, own->scratch, n_u * sizeof *u);
  memcpy(y + su->y, own->y + (size_t)(n - 1) * n_y, n_y * sizeof *y);
}

// What it sent, in what was missed and in its own calls.
static yoke_status count_flows(const yoke_system* system, yoke_state* state, const yoke_own* own) {
  const yoke_system_unit* su = own->su;
  yoke_sent sent = {.after = own->y_before};
  for (int64_t j = -1; su->n_flows > 0 && j < own->n_calls; j++) {
    const int64_t n = j < 0 ? own->n_missed : 1;
    if (n > 0) {
      sent.before = sent.after;
      sent.after = j < 0 ? own->y_missed : own->y + (size_t)j * su->unit.n_y;
      sent.integrals = own->integrals + (size_t)(j + 1) * su->n_integrals;
      sent.ticks = n * su->period;
      sent.t = yoke__clock_time(&system->clock, own->tick + (j < 0 ? -n : j) * su->period);
      sent.h = su->step * (double)n;
      YOKE_TRY(
          yoke__master_count_sent(system, state, own->unit, &sent, &state->failures[su->thread]));
    }
  }
  return YOKE_OK;
}

static yoke_status take_over(const yoke_system* system, yoke_state* state, yoke_own* own) {
  const yoke_system_unit* su = own->su;
  double* y = su->n_slots > 1 ? state->y_work : state->y;
  own->is_busy = false;
  if (state->pace != NULL) {
    state->pace->units[own->unit].step_ns += own->end_ns - own->started_ns;
  }
  if (own->status < 0) {
    yoke__failure_copy(&state->failures[su->thread], &own->failure);
    (void)yoke__master_keep_unit(system, state, own->unit);
    return own->status;
  }
  keep_calls(system, state, own, y);
  if (count_flows(system, state, own) < 0) {
    (void)yoke__master_keep_unit(system, state, own->unit);
    return state->failures[su->thread].message.status;
  }
  memcpy(state->y + system->n_y + su->linear, own->linear,
         yoke__master_count_linear(su) * sizeof(double));
  for (size_t i = 0; i < su->n_typed_outputs; i++) {
    const yoke_system_typed* typed = &su->typed_outputs[i];
    memcpy(typed_target(state, su) + typed->at, own->v + typed->at, typed->size);
  }
  yoke__master_note_flags(state, own->unit, own->flags);
  own->tick_done = own->tick + own->n_calls * su->period;
  own->has_news = true;
  state->unit_t[own->unit] = yoke__clock_time(&system->clock, own->tick_done);
  return YOKE_OK;
}

// What everybody sees stays, unless it came back from an earlier step meanwhile.
static void hold(yoke_state* state, const yoke_own* own) {
  const yoke_system_unit* su = own->su;
  if (su->n_slots == 1 || own->has_news) {
    return;
  }
  memcpy(state->y_work + su->y, state->y + su->y, su->unit.n_y * sizeof(double));
  for (size_t i = 0; i < su->n_typed_outputs; i++) {
    const yoke_system_typed* typed = &su->typed_outputs[i];
    memcpy(state->v_work + typed->at, state->v + typed->at, typed->size);
  }
}

static void await(const yoke_system* system, const yoke_state* state, const yoke_own* own,
                  int64_t tick) {
  // one that is late already was waited for
  if (own->tick + own->su->n_steps * own->su->period == tick) {
    const yoke_pace* pace = state->pace;
    pace->clock.await_ns(pace->clock.self, yoke__pool_busy(system->pool, own->su->thread), 1,
                         yoke__pace_join_time(pace, own->unit, own->started_ns));
  }
}

static yoke_status join_one(const yoke_system* system, yoke_state* state, yoke_own* own) {
  const yoke_system_unit* su = own->su;
  const bool is_ending = (state->n_slots + 1) % su->n_slots == 0;
  if (!own->is_due || !is_ending || is_left_out(state, own)) {
    return YOKE_OK;
  }
  const int64_t end = (state->n_slots + 1) * system->slot;
  own->is_due = false;
  if (own->is_busy) {
    await(system, state, own, end);
  }
  if (own->is_busy && is_back(system, own)) {
    YOKE_TRY(take_over(system, state, own));
  }
  own->is_held = own->tick_done != end;
  if (own->is_held) {
    hold(state, own);
  }
  own->has_news = false;
  yoke__pace_note_join(state->pace, own->unit, own->is_held);
  return YOKE_OK;
}

yoke_status yoke__master_join_own(const yoke_system* system, yoke_state* state) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < state->n_owns; i++) {
    const yoke_status one = join_one(system, state, &state->owns[i]);
    status = status < 0 ? status : one;
  }
  return status;
}

// ---- units that do not come back

static bool is_overdue(const yoke_pace* pace, const yoke_own* own, int64_t now_ns) {
  return own->is_busy && pace->watchdog_ns > 0 && now_ns - own->due_ns > pace->watchdog_ns;
}

static yoke_status give_up(const yoke_system* system, yoke_state* state, yoke_own* own) {
  state->pace->units[own->unit].is_failed = true;
  own->is_held = true;
  yoke__pool_lose(system->pool, own->su->thread);
  const double t = yoke__clock_time(&system->clock, own->tick_done);
  return yoke__master_fail(&state->failure, system, own->unit, YOKE_UNIT_FAILED, state->t,
                           "has not returned from its step at t = %.9g s: its outputs are late by "
                           "more than the watchdog allows, %.3g s",
                           t, (double)state->pace->watchdog_ns * 1e-9);
}

size_t yoke__master_find_hung(const yoke_system* system, yoke_state* state, int64_t now_ns) {
  for (size_t i = 0; i < state->n_owns; i++) {
    yoke_own* own = &state->owns[i];
    if (!is_left_out(state, own) && is_overdue(state->pace, own, now_ns) && !is_back(system, own)) {
      (void)give_up(system, state, own);
      return own->unit;
    }
  }
  return YOKE_NOT_FOUND;
}

// ---- begin and end

// Where a unit stands that went with the others.
static int64_t find_tick(const yoke_system* system, const yoke_state* state, const yoke_own* own) {
  const int64_t n = own->su->n_slots;
  const int64_t done = state->n_slots / n * n;
  const bool is_ahead = done < state->n_slots || state->unit_wait[own->unit] > 0;
  return (done + (is_ahead ? n : 0)) * system->slot;
}

void yoke__master_open_own(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < state->n_owns; i++) {
    yoke_own* own = &state->owns[i];
    const int64_t tick = find_tick(system, state, own);
    own->tick_done = state->is_behind && own->tick_done < tick ? own->tick_done : tick;
    own->is_due = own->su->n_slots > 1 && own->tick_done > state->n_slots * system->slot;
  }
}

yoke_status yoke__master_catch_up(const yoke_system* system, yoke_state* state) {
  bool is_left = false;
  for (size_t i = 0; i < state->n_owns; i++) {
    yoke_own* own = &state->owns[i];
    if (own->tick_done >= find_tick(system, state, own)) {
      continue;
    }
    // a slow one between two of its steps waits for its turn
    if (state->unit_wait[own->unit] > 0) {
      is_left = true;
      continue;
    }
    give(system, state, own, 0);
    yoke__pool_join(system->pool, own->su->thread);
    YOKE_TRY(take_over(system, state, own));
    own->is_held = false;
  }
  state->is_behind = is_left;
  return YOKE_OK;
}

static yoke_status settle_one(const yoke_system* system, yoke_state* state, yoke_own* own) {
  const yoke_pace* pace = state->pace;
  if (is_left_out(state, own)) {
    return YOKE_OK;
  }
  if (!own->is_busy) {
    return YOKE_OK;
  }
  if (pace->watchdog_ns > 0) {
    pace->clock.await_ns(pace->clock.self, yoke__pool_busy(system->pool, own->su->thread), 1,
                         own->due_ns + pace->watchdog_ns + 1);
  } else {
    yoke__pool_join(system->pool, own->su->thread);
  }
  return is_back(system, own) ? take_over(system, state, own) : give_up(system, state, own);
}

yoke_status yoke__master_settle_own(const yoke_system* system, yoke_state* state) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < state->n_owns; i++) {
    yoke_own* own = &state->owns[i];
    yoke_status one = settle_one(system, state, own);
    if (own->waiting.n > 0 && !own->is_busy &&
        yoke__pool_run_on(system->pool, own->su->thread, false, take_rest, own) &&
        own->status < 0) {
      one = own->status;
      yoke__failure_copy(&state->failures[own->su->thread], &own->failure);
    }
    status = status < 0 ? status : one;
    state->is_behind = state->is_behind || own->tick_done < find_tick(system, state, own);
  }
  return status < 0 ? status : YOKE_OK;
}
