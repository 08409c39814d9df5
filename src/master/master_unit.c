// One unit in one slot: inputs, calls, outputs. The common unit has a short path of its own.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "couple/couple_hold.h"
#include "master/master.h"
#include "master/master_pace.h"

yoke_status yoke__master_get_outputs(const yoke_system* system, size_t unit, double t, double y[],
                                     yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  const yoke_status status = yoke__unit_get_outputs(u, y);
  if (status < 0) {
    return yoke__master_fail_unit(failure, system, unit, status, t, "outputs could not be read");
  }
  // NaN and infinity times 0 are NaN: one test for all outputs
  double sum = 0;
  for (size_t i = 0; i < u->n_y; i++) {
    sum += y[i] * 0;
  }
  return sum == 0 ? YOKE_OK : yoke__master_fail_not_finite(system, unit, t, y, failure);
}

// What a step says of itself; flags: what the others have to know of it.
static yoke_status judge_quietly(const yoke_system* system, size_t unit, double t, double h,
                                 yoke_status status, const yoke_step_result* result,
                                 uint32_t* flags, yoke_failure* failure) {
  if (status == YOKE_DIVERGED) {
    return yoke__master_fail_diverged(system, unit, t + h, result->message, failure);
  }
  if (status < 0) {
    return yoke__master_fail_with(failure, system, unit, status, t, "step failed", result->message,
                                  yoke_status_text(status));
  }
  // rounding in the unit's own clock is no early return
  const bool is_short = !(result->t_reached >= t + h - 1e-9 * h);
  if (is_short || (result->flags & (YOKE_STEP_DISCARDED | YOKE_STEP_EARLY_RETURN)) != 0) {
    return yoke__master_fail(
        failure, system, unit, YOKE_DISCARDED, t, "the step of %g s was %s%s%s", h,
        (result->flags & YOKE_STEP_DISCARDED) != 0 ? "discarded" : "not finished",
        result->message == NULL ? "" : ": ", result->message == NULL ? "" : result->message);
  }
  const yoke_unit* u = &system->units[unit].unit;
  *flags |= result->flags;
  if ((result->flags & YOKE_STEP_EVENT_NEEDED) != 0 && u->ops->event_update != NULL) {
    yoke_step_result event = {.t_reached = t + h};
    if (u->ops->event_update(u->self, t + h, &event) < 0) {
      return yoke__master_fail_with(failure, system, unit, YOKE_UNIT_FAILED, t + h,
                                    "event update failed", event.message, NULL);
    }
    *flags |= event.flags & YOKE_STEP_END_WANTED;
  }
  return YOKE_OK;
}

void yoke__master_note_flags(yoke_state* state, size_t unit, uint32_t flags) {
  if ((flags & YOKE_STEP_EVENT_NEEDED) != 0) {
    state->is_jumped[unit] = true;
    state->has_events = true;
  }
  if ((flags & YOKE_STEP_END_WANTED) != 0) {
    state->is_end_wanted = true;
  }
}

static yoke_status judge_step(const yoke_system* system, yoke_state* state, size_t unit, double t,
                              double h, yoke_status status, const yoke_step_result* result,
                              yoke_failure* failure) {
  uint32_t flags = 0;
  YOKE_TRY(judge_quietly(system, unit, t, h, status, result, &flags, failure));
  yoke__master_note_flags(state, unit, flags);
  return YOKE_OK;
}

yoke_status yoke__master_call_quietly(const yoke_system* system, size_t unit, double t, double h,
                                      uint32_t* flags, yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  yoke_step_result result = {.t_reached = t + h};
  const yoke_call_scope scope = yoke__call_begin_at(system->units[unit].name, "step", t);
  const yoke_status status = u->ops->step(u->self, t, h, &result);
  yoke__call_end(&scope);
  if (status >= 0 && result.flags == 0 && result.t_reached >= t + h) {
    return YOKE_OK;
  }
  return judge_quietly(system, unit, t, h, status, &result, flags, failure);
}

yoke_status yoke__master_call_step(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, double h, yoke_failure* failure) {
  uint32_t flags = 0;
  YOKE_TRY(yoke__master_call_quietly(system, unit, t, h, &flags, failure));
  yoke__master_note_flags(state, unit, flags);
  return YOKE_OK;
}

// inputs that follow a polynomial, at the start of the call that begins `ticks` after the slot
void yoke__master_extrapolate(const yoke_system* system, yoke_state* state, size_t first_group,
                              size_t n_groups, int64_t ticks) {
  for (size_t g = first_group; g < first_group + n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const int64_t since = state->group_since[group->sampler] + ticks;
    const double tau = since == 0 ? 0 : yoke__clock_seconds(&system->clock, since);
    double* u = state->group_numbers + group->input;
    void* self = state->group_memory + group->self;
    if (group->is_mean) {
      group->ops->input_mean(self, group->sink, tau, system->units[group->unit].step, u);
    } else {
      group->ops->input(self, group->sink, tau, u);
    }
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      state->u[group->taps[i].to] = u[i];
    }
  }
}

// derivatives of one order of all inputs; inputs without a polynomial are constant
static void find_slopes(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                        int64_t ticks, int order) {
  memset(state->du + su->u, 0, su->unit.n_u * sizeof *state->du);
  for (size_t g = su->first_group; g < su->first_group + su->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const double tau =
        yoke__clock_seconds(&system->clock, state->group_since[group->sampler] + ticks);
    double* d = state->group_numbers + group->derivatives;
    if (group->ops->input_derivatives == NULL) {
      continue;
    }
    group->ops->input_derivatives(state->group_memory + group->self, group->sink, tau, order, d);
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      state->du[group->taps[i].to] = d[i];
    }
  }
  if (su->is_steered && state->pace != NULL) {
    yoke__master_steer(system, state, su, state->du, true);
  }
}

void yoke__master_find_derivatives(const yoke_system* system, yoke_state* state,
                                   const yoke_system_unit* su, int64_t ticks, int order) {
  double* followed = state->u_followed == NULL ? NULL : state->u_followed + su->u;
  const double* du = state->du + su->u;
  double weight = 1;
  if (followed != NULL && order == 1) {
    memcpy(followed, state->u + su->u, su->unit.n_u * sizeof *followed);
  }
  find_slopes(system, state, su, ticks, order);
  for (int i = 1; i <= order; i++) {
    weight *= su->step / i;
  }
  for (size_t i = 0; followed != NULL && i < su->unit.n_u; i++) {
    followed[i] += weight * du[i];
  }
}

// up to the highest order
static yoke_status set_derivatives(const yoke_system* system, yoke_state* state,
                                   const yoke_system_unit* su, int64_t ticks) {
  for (int order = 1; order <= su->derivative_order; order++) {
    yoke__master_find_derivatives(system, state, su, ticks, order);
    YOKE_TRY(
        su->unit.ops->set_input_derivatives(su->unit.self, order, state->du + su->u, su->unit.n_u));
  }
  return YOKE_OK;
}

// The inputs of a unit as they are at the end of call j, where its outputs belong.
static void look_to_end(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                        int64_t j) {
  for (size_t g = su->first_group; g < su->first_group + su->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const int64_t since = state->group_since[group->sampler] + (j + 1) * su->period;
    if (group->role == YOKE_GROUP_WHOLE) {
      group->ops->input(state->group_memory + group->self, group->sink,
                        yoke__clock_seconds(&system->clock, since),
                        state->group_numbers + group->derivatives);
    }
  }
}

// What these inputs add to an output, which followed those that the call was given.
static double late_part(const yoke_system* system, const yoke_state* state, size_t through) {
  const yoke_system_through* t = &system->throughs[through - 1];
  double sum = 0;
  for (size_t i = t->first; i < t->first + t->n; i++) {
    const size_t end = system->through_ends[i];
    if (end > 0) {
      sum += state->D[i] * (state->group_numbers[end - 1] - *state->hot_terms[i].u);
    }
  }
  return yoke__is_finite(sum) ? sum : 0;
}

void yoke__master_send_value(const yoke_system* system, yoke_state* state,
                             const yoke_group_send* send, int64_t count, double y) {
  const yoke_group* group = &system->groups[send->group];
  group->ops->send(state->group_memory + group->self, send->signal, count,
                   y * send->tap->gain + send->tap->offset);
}

static void keep_strips(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                        int64_t j, const double y[]) {
  for (const yoke_strip* strip = system->strips + su->first_strip;
       strip < system->strips + su->first_strip + su->n_strips; strip++) {
    double* to = state->strips + strip->at + (size_t)j * 2 * strip->n;
    for (size_t i = 0; i < strip->n; i++) {
      to[i] = state->u[strip->in[i]];
      to[strip->n + i] = y[strip->out[i]];
    }
  }
}

static void keep_sends(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                       int64_t j, const double y[]) {
  if (su->has_through_sends) {
    look_to_end(system, state, su, j);
  }
  for (const yoke_group_send* send = system->sends + su->first_send;
       send < system->sends + su->first_send + su->n_sends; send++) {
    if (send->late_at > 0 && j + 1 == su->n_steps) {
      continue;
    }
    const int64_t count = (state->group_since[send->group] + (j + 1) * su->period) / su->period;
    const double late = send->through > 0 ? late_part(system, state, send->through) : 0;
    yoke__master_send_value(system, state, send, count, y[send->tap->from] + late);
  }
}

void yoke__master_keep_call(const yoke_system* system, yoke_state* state,
                            const yoke_system_unit* su, int64_t j, const double y[]) {
  keep_strips(system, state, su, j, y);
  keep_sends(system, state, su, j, y);
}

void yoke__master_ask(const yoke_system* system, yoke_state* state, const yoke_group* group,
                      int64_t ticks) {
  double* u = state->group_numbers + group->derivatives;
  const int64_t since = state->group_since[group->sampler] + ticks;
  group->ops->input(state->group_memory + group->self, group->sink,
                    yoke__clock_seconds(&system->clock, since), u);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    state->u[group->taps[i].to] = u[i];
  }
}

// The outputs of a fresh unit after a call, with its inputs as they are then. The ledger keeps what the step returned.
static yoke_status refresh_call(const yoke_system* system, yoke_state* state, size_t unit,
                                int64_t j, double t, double y[], yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t g = su->first_group; g < su->first_group + su->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->is_fresh) {
      yoke__master_ask(system, state, group, (j + 1) * su->period);
    }
  }
  if (su->is_steered && state->pace != NULL) {
    yoke__master_steer(system, state, su, state->u, false);
  }
  yoke_status status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
  if (status >= 0) {
    status = su->unit.ops->refresh(su->unit.self, t);
  }
  return status < 0 ? yoke__master_fail_unit(failure, system, unit, status, t,
                                             "outputs could not be refreshed")
                    : yoke__master_get_outputs(system, unit, t, y + su->y, failure);
}

// One call goes into the row of the tape; a full one is left as it is.
static inline void tape_call(const yoke_state* state, yoke_tape_unit* tape, const double y[]) {
  const double* u = state->u + tape->u;
  double* to = tape->to;
  if (tape->every > 1) {
    for (size_t i = 0; i < tape->n_u; i++) {
      tape->sum[i] += u[i];
    }
    if (--tape->n_left > 0) {
      return;
    }
    tape->n_left = tape->every;
  }
  if (to == tape->end) {
    return;
  }
  if (tape->from != NULL) {
    for (size_t i = 0; i < tape->n_y; i++) {
      *to++ = *tape->from[i];
    }
  } else {
    for (size_t i = 0; i < tape->n_y; i++) {
      *to++ = y[tape->y[i]];
    }
  }
  if (tape->every > 1) {
    for (size_t i = 0; i < tape->n_u; i++) {
      *to++ = tape->sum[i] / (double)tape->every;
      tape->sum[i] = 0;
    }
  }
  for (size_t i = 0; i < tape->n_u; i++) {
    *to++ = u[i];
  }
  tape->to = to;
}

// The unit's linear model for who wants it; without one its first number says so.
void yoke__master_linearise(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  yoke__master_linearise_to(su, state->y + system->n_y + su->linear);
}

void yoke__master_linearise_to(const yoke_system_unit* su, double A[]) {
  const size_t n_x = su->n_states, n_u = su->unit.n_u, n_y = su->unit.n_y;
  yoke_linear model = {
      n_x, n_u, n_y, A, A + n_x * n_x, A + n_x * (n_x + n_u), A + n_x * (n_x + n_u) + n_y * n_x};
  if (su->unit.ops->linearise(su->unit.self, &model) < 0 || model.n_states != n_x) {
    for (size_t i = 0; i < (n_x + n_y) * (n_x + n_u); i++) {
      A[i] = (double)NAN;
    }
  }
}

// All calls of one unit that start in this slot.
yoke_status yoke__master_advance(const yoke_system* system, yoke_state* state, size_t unit,
                                 yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  if (su->n_slots > 1) {
    if (state->unit_wait[unit] > 0) {
      state->unit_wait[unit]--;
      return YOKE_OK;
    }
    // no step beyond the end of the run
    if (state->n_slots + su->n_slots > system->n_slots) {
      return YOKE_OK;
    }
    state->unit_wait[unit] = su->n_slots - 1;
  }
  if (su->n_typed_inputs > 0) {
    YOKE_TRY(yoke__master_set_typed(system, state, unit, failure));
  }
  if (su->is_steered && state->pace != NULL) {
    const yoke_status status = yoke__master_steer_typed(system, state, su);
    if (status < 0) {
      return yoke__master_fail_unit(failure, system, unit, status, state->t,
                                    "a safe action was refused");
    }
  }
  const int64_t tick = state->n_slots * system->slot;
  const double h = system->is_adaptive ? state->slot_h : su->step;
  yoke_tape_unit* tape = state->tape == NULL || state->tape->units[unit].rows == NULL
                             ? NULL
                             : &state->tape->units[unit];
  const bool is_kept =
      su->n_strips + su->n_sends + su->n_flows > 0 || (tape != NULL && tape->from == NULL);
  // slow units, and all under Gauss-Seidel with slow units, are ahead of what others may see
  double* y = su->n_slots > 1 ? state->y_work : state->y_seen;
  double t = state->t;
  for (int64_t j = 0; j < su->n_steps; j++) {
    if (j > 0) {
      t = yoke__clock_time(&system->clock, tick + j * su->period);
    }
    if (su->n_groups > 0) {
      yoke__master_extrapolate(system, state, su->first_group, su->n_groups, j * su->period);
    }
    if (su->is_steered && state->pace != NULL) {
      yoke__master_steer(system, state, su, state->u, false);
    }
    if (j == 0 || su->n_groups > 0) {
      yoke_status status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
      if (status >= 0 && su->derivative_order > 0) {
        status = set_derivatives(system, state, su, j * su->period);
      }
      if (status >= 0) {
        status = yoke__master_tell_sources(su, state->infos + su->first_source);
      }
      if (status < 0) {
        return yoke__master_fail_unit(failure, system, unit, status, t, "inputs were refused");
      }
    }
    if (su->n_inflows > 0) {
      yoke__master_receive(system, state, unit, h);
    }
    if (su->n_flows > 0) {
      // what others see at the start of the slot; a call later what the last one gave
      memcpy(state->before + su->y, (j == 0 ? state->y_seen : y) + su->y, su->unit.n_y * sizeof *y);
    }
    YOKE_TRY(yoke__master_call_step(system, state, unit, t, h, failure));
    if (is_kept) {
      YOKE_TRY(yoke__master_get_outputs(system, unit, t + h, y + su->y, failure));
      keep_strips(system, state, su, j, y);
      if (su->is_fresh_between && j + 1 < su->n_steps) {
        YOKE_TRY(refresh_call(system, state, unit, j, t + h, y, failure));
      }
      keep_sends(system, state, su, j, y);
    }
    if (su->n_flows > 0) {
      YOKE_TRY(yoke__master_send(system, state, unit, t, h, y, failure));
    }
    if (tape != NULL) {
      tape_call(state, tape, y);
    }
  }
  if (!is_kept) {
    YOKE_TRY(yoke__master_get_outputs(system, unit, t + h, y + su->y, failure));
  }
  if (yoke__master_n_typed(system, state, unit) > 0) {
    YOKE_TRY(yoke__master_get_typed(system, state, unit, t + h, y, failure));
  }
  if (su->has_linear) {
    yoke__master_linearise(system, state, unit);
  }
  state->unit_t[unit] =
      yoke__clock_time(&system->clock, tick + su->n_steps * su->period * state->stretch);
  return YOKE_OK;
}


static bool is_plain(const yoke_system_unit* su, bool has_typed) {
  const yoke_unit* u = &su->unit;
  return !su->is_law && !su->is_steered && su->n_steps == 1 && su->n_slots == 1 &&
         su->derivative_order == 0 && su->n_sends == 0 && su->n_flows == 0 && su->n_inflows == 0 &&
         su->n_sources == 0 && !su->has_linear && (!has_typed || u->ops->advance_values != NULL) &&
         (u->ops->set_inputs != NULL || u->n_inputs <= 1) &&
         (u->ops->get_outputs != NULL || u->n_outputs <= 1);
}

// Its signals are neighbours in U.
static bool is_side_by_side(const yoke_group* group) {
  for (size_t i = 1; i < group->setup.n_signals; i++) {
    if (group->taps[i].to != group->taps[0].to + i) {
      return false;
    }
  }
  return group->setup.n_signals > 0;
}

static yoke_status lay_hot_group(const yoke_system* system, const yoke_group* group,
                                 yoke_state* state, yoke_hot_group* hot) {
  const size_t n = group->setup.n_signals, n_inlets = n + group->setup.n_probes;
  yoke_hot_inlet* inlets = yoke__arena_array(&state->arena, n_inlets + 1, sizeof *inlets);
  YOKE_TRY_MEMORY(inlets);
  for (size_t i = 0; i < n_inlets; i++) {
    const yoke_tap* tap = i < n ? &group->taps[i] : NULL;
    inlets[i] = tap != NULL ? (yoke_hot_inlet){tap->from, tap->gain, tap->offset}
                            : (yoke_hot_inlet){group->probes[i - n], group->probe_scale[i - n],
                                               group->probe_offset[i - n]};
  }
  const bool is_direct = group->is_mean && group->role == YOKE_GROUP_WHOLE && n > 0 &&
                         group->taps != NULL && is_side_by_side(group);
  *hot = (yoke_hot_group){
      .take_input = group->ops->input,
      .take_mean = group->is_mean ? group->ops->input_mean : NULL,
      .h = system->units[group->unit].step,
      .u = is_direct ? state->u + group->taps[0].to : NULL,
      .observe = group->ops->observe,
      .self = state->group_memory + group->self,
      .sink = group->sink,
      .input = state->group_numbers + group->input,
      .sample = state->group_numbers + group->sample,
      .inlets = inlets,
      .n_inlets = n_inlets,
      .taps = group->taps,
      .n_signals = n,
      .now = {.worker = state->workers[group->sampler],
              .h_last = group->setup.interval,
              .h_next = group->setup.interval,
              .ages = group->n_validities > 0 ? state->ages + group->first_signal : NULL},
      .group = group,
      .is_sampled = group->role != YOKE_GROUP_MEMBER,
      .has_validities = group->n_validities > 0,
  };
  // the mean over the whole interval, from samples that are all valid
  hot->is_open = group->ops == &yoke__couple_hold && is_direct && hot->is_sampled &&
                 !hot->has_validities && n == n_inlets && group->setup.n_sinks == 1 &&
                 hot->h == group->setup.interval && system->is_exchange_plain;
  state->n_opens += hot->is_open ? n : 0;
  state->n_closed += hot->is_sampled && !hot->is_open ? 1 : 0;
  return YOKE_OK;
}

static void open_signals(const yoke_hot_group* hot, yoke_open_signal to[], const double y[]) {
  yoke_polynomial* signals = yoke__couple_hold_signals(hot->self);
  for (size_t i = 0; i < hot->n_signals; i++) {
    const yoke_hot_inlet* inlet = &hot->inlets[i];
    to[i] = (yoke_open_signal){
        .signal = &signals[i],
        .from = y + inlet->from,
        .u = hot->u + i,
        .sample = hot->sample + i,
        .order = hot->group->setup.orders[i],
        .is_scaled = inlet->gain != 1 || inlet->offset != 0,
        .gain = inlet->gain,
        .offset = inlet->offset,
    };
  }
}

// Groups of a unit are neighbours, and so are its open signals: of those units that have no other group.
static yoke_status lay_open(const yoke_system* system, yoke_state* state) {
  state->opens = yoke__arena_array(&state->arena, state->n_opens + 1, sizeof *state->opens);
  YOKE_TRY_MEMORY(state->opens);
  size_t at = 0;
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_hot_group* hot = &state->hot_groups[i];
    if (hot->is_open) {
      open_signals(hot, state->opens + at, state->y);
      at += hot->n_signals;
    }
  }
  assert(at == state->n_opens);
  return YOKE_OK;
}

static void find_open(const yoke_state* state, yoke_hot* hot) {
  size_t at = 0, n = 0;
  for (const yoke_hot_group* g = state->hot_groups; g < hot->groups; g++) {
    at += g->is_open ? g->n_signals : 0;
  }
  for (size_t i = 0; i < hot->n_groups; i++) {
    if (!hot->groups[i].is_open) {
      return;
    }
    n += hot->groups[i].n_signals;
  }
  hot->opens = state->opens + at;
  hot->opens_end = hot->opens + n;
}

static void lay_unit(const yoke_system* system, yoke_state* state, size_t unit, yoke_hot* hot) {
  const yoke_system_unit* su = &system->units[unit];
  *hot = (yoke_hot){.unit = unit, .name = su->name, .h = su->step};
  const bool has_typed = su->n_typed_inputs + yoke__master_n_typed(system, state, unit) > 0;
  if (!is_plain(su, has_typed) || system->scenario->scheme != YOKE_JACOBI) {
    return;
  }
  char* self = su->unit.self;
  hot->step = su->unit.ops->step;
  hot->self = self;
  hot->first_group = su->first_group;
  hot->n_groups = su->n_groups;
  hot->groups = system->is_exchange_plain ? state->hot_groups + su->first_group : NULL;
  if (hot->groups != NULL && hot->n_groups > 0) {
    find_open(state, hot);
  }
  hot->n_u = su->unit.n_u;
  hot->n_y = su->unit.n_y;
  hot->u_from = state->u + su->u;
  hot->advance = has_typed ? NULL : su->unit.ops->advance;
  hot->advance_values = has_typed ? su->unit.ops->advance_values : NULL;
  hot->values = &state->hot_values[unit];
  *hot->values = (yoke_step_values){.inputs = su->typed_inputs,
                                    .n_inputs = su->n_typed_inputs,
                                    .given = state->w,
                                    .known = state->w_set,
                                    .outputs = su->typed_outputs,
                                    .n_outputs = yoke__master_n_typed(system, state, unit),
                                    .to = state->v,
                                    .refused = YOKE_NOT_FOUND};
  hot->set_inputs = hot->n_u == 0 ? NULL : su->unit.ops->set_inputs;
  hot->get_outputs = hot->n_y == 0 ? NULL : su->unit.ops->get_outputs;
  if (hot->n_u > 0 && hot->set_inputs == NULL) {
    hot->u_to = (double*)(self + su->unit.inputs[0].offset);
  }
  if (hot->n_y > 0 && hot->get_outputs == NULL) {
    hot->y_from = (const double*)(self + su->unit.outputs[0].offset);
  }
  hot->y_to = state->y + su->y;
}

yoke_status yoke__master_lay_hot(const yoke_system* system, yoke_state* state) {
  const size_t n = system->n_units - system->n_laws;
  state->hot = yoke__arena_array(&state->arena, n + 1, sizeof *state->hot);
  state->hot_groups =
      yoke__arena_array(&state->arena, system->n_groups + 1, sizeof *state->hot_groups);
  state->hot_values =
      yoke__arena_array(&state->arena, system->n_units + 1, sizeof *state->hot_values);
  YOKE_TRY_MEMORY(state->hot && state->hot_groups && state->hot_values);
  for (size_t i = 0; i < system->n_groups; i++) {
    YOKE_TRY(lay_hot_group(system, &system->groups[i], state, &state->hot_groups[i]));
  }
  YOKE_TRY(lay_open(system, state));
  for (size_t i = 0; i < n; i++) {
    const size_t unit = system->thread_units[i];
    state->has_foreign = state->has_foreign || system->units[unit].unit.ops->advance != NULL;
    lay_unit(system, state, unit, &state->hot[i]);
  }
  return YOKE_OK;
}

void yoke__master_renew_hot(const yoke_system* system, yoke_state* state, size_t unit) {
  const bool is_taped = state->tape != NULL && state->tape->units[unit].rows != NULL;
  for (size_t i = 0; i < system->n_units - system->n_laws && !is_taped; i++) {
    yoke_hot* hot = &state->hot[i];
    if (hot->unit == unit) {
      const double h = hot->h;  // the residual may have chosen it
      lay_unit(system, state, unit, hot);
      hot->h = h > 0 ? h : hot->h;
    }
  }
}

// inputs at the very time of the last sample, or over the call that begins there
static YOKE_NOINLINE void take_inputs(const yoke_hot_group groups[], size_t n_groups, double u[]) {
  for (const yoke_hot_group* g = groups; g < groups + n_groups; g++) {
    if (g->u != NULL) {
      g->take_mean(g->self, g->sink, 0, g->h, g->u);
      continue;
    }
    if (g->take_mean != NULL) {
      g->take_mean(g->self, g->sink, 0, g->h, g->input);
    } else {
      g->take_input(g->self, g->sink, 0, g->input);
    }
    for (size_t i = 0; i < g->n_signals; i++) {
      u[g->taps[i].to] = g->input[i];
    }
  }
}

static inline void renew_inputs(const yoke_system* system, yoke_state* state, const yoke_hot* hot) {
  if (hot->opens != NULL) {
    const yoke_polynomial_weights w = yoke__polynomial_between(0, 1);
    for (const yoke_open_signal* open = hot->opens; open < hot->opens_end; open++) {
      *open->u = yoke__polynomial_sum(open->signal, open->order, w, open->signal->u);
    }
  } else if (hot->groups != NULL) {
    take_inputs(hot->groups, hot->n_groups, state->u);
  } else {
    yoke__master_extrapolate(system, state, hot->first_group, hot->n_groups, 0);
  }
}

// What was not as usual: the floating-point mode, the step itself, an output.
static YOKE_NOINLINE yoke_status look_closer(const yoke_system* system, yoke_state* state,
                                             const yoke_hot* hot, uint64_t mode, yoke_status status,
                                             yoke_step_result* result, yoke_failure* failure) {
  const double t = state->t, h = hot->h;
  yoke__os_float_mode_keep(mode);
  if (status < 0 || result->flags != 0 || !(result->t_reached >= t + h)) {
    YOKE_TRY(judge_step(system, state, hot->unit, t, h, status, result, failure));
  }
  return yoke__are_finite(hot->n_y, hot->y_to)
             ? YOKE_OK
             : yoke__master_fail_not_finite(system, hot->unit, t + h, hot->y_to, failure);
}

// inputs, step and outputs by one call of the unit
static YOKE_INLINE yoke_status advance_whole(const yoke_system* system, yoke_state* state,
                                             const yoke_hot* hot, uint64_t mode,
                                             yoke_failure* failure) {
  if (hot->n_groups > 0) {
    renew_inputs(system, state, hot);
  }
  yoke_step_result result = {.t_reached = state->t + hot->h};
  const yoke_status status =
      hot->advance(hot->self, state->t, hot->h, hot->u_from, hot->y_to, &result);
  // NaN and infinity times 0 are NaN: one test for the mode and all outputs
  double sum = yoke__os_float_oddity();
  for (size_t i = 0; i < hot->n_y; i++) {
    sum += hot->y_to[i] * 0;
  }
  const bool is_usual =
      sum == 0 && status >= 0 && result.flags == 0 && result.t_reached >= state->t + hot->h;
  return is_usual ? YOKE_OK : look_closer(system, state, hot, mode, status, &result, failure);
}

// The same with values beside the real ones.
static YOKE_NOINLINE yoke_status advance_values(const yoke_system* system, yoke_state* state,
                                                const yoke_hot* hot, uint64_t mode,
                                                yoke_failure* failure) {
  if (hot->n_groups > 0) {
    renew_inputs(system, state, hot);
  }
  yoke_step_result result = {.t_reached = state->t + hot->h};
  yoke_step_values* values = hot->values;
  values->are_inputs_same = state->are_inputs_same[hot->unit];
  values->are_outputs_same = false;
  const yoke_status status =
      hot->advance_values(hot->self, state->t, hot->h, hot->u_from, hot->y_to, values, &result);
  state->are_inputs_same[hot->unit] = true;
  state->are_outputs_same[hot->unit] = values->are_outputs_same;
  if (values->refused != YOKE_NOT_FOUND) {
    const yoke_system_unit* su = &system->units[hot->unit];
    const size_t variable = values->inputs[values->refused].variable;
    values->refused = YOKE_NOT_FOUND;
    yoke__os_float_mode_keep(mode);
    return yoke__master_fail_unit(failure, system, hot->unit, status, state->t,
                                  "the value that came for '%s' was refused",
                                  su->unit.info->variables[variable].name);
  }
  double sum = yoke__os_float_oddity();
  for (size_t i = 0; i < hot->n_y; i++) {
    sum += hot->y_to[i] * 0;
  }
  const bool is_usual =
      sum == 0 && status >= 0 && result.flags == 0 && result.t_reached >= state->t + hot->h;
  return is_usual ? YOKE_OK : look_closer(system, state, hot, mode, status, &result, failure);
}

static YOKE_INLINE yoke_status advance_plain(const yoke_system* system, yoke_state* state,
                                             const yoke_hot* hot, yoke_failure* failure) {
  const double t = state->t;
  if (hot->n_groups > 0) {
    renew_inputs(system, state, hot);
  }
  if (hot->set_inputs != NULL) {
    const yoke_status taken = hot->set_inputs(hot->self, hot->u_from, hot->n_u);
    if (taken < 0) {
      return yoke__master_fail_unit(failure, system, hot->unit, taken, t, "inputs were refused");
    }
  } else {
    for (size_t i = 0; i < hot->n_u; i++) {
      hot->u_to[i] = hot->u_from[i];
    }
  }
  yoke_step_result result = {.t_reached = t + hot->h};
  const yoke_status status = hot->step(hot->self, t, hot->h, &result);
  if (status < 0 || result.flags != 0 || !(result.t_reached >= t + hot->h)) {
    YOKE_TRY(judge_step(system, state, hot->unit, t, hot->h, status, &result, failure));
  }
  if (hot->get_outputs != NULL) {
    return yoke__master_get_outputs(system, hot->unit, t + hot->h, hot->y_to, failure);
  }
  // NaN and infinity times 0 are NaN: one test for all outputs
  double sum = 0;
  for (size_t i = 0; i < hot->n_y; i++) {
    const double y = hot->y_from[i];
    hot->y_to[i] = y;
    sum += y * 0;
  }
  return sum == 0 ? YOKE_OK
                  : yoke__master_fail_not_finite(system, hot->unit, t + hot->h, hot->y_to, failure);
}

static YOKE_INLINE yoke_status advance_hot(const yoke_system* system, yoke_state* state,
                                           const yoke_hot* hot, uint64_t mode,
                                           yoke_failure* failure) {
  return hot->advance != NULL          ? advance_whole(system, state, hot, mode, failure)
         : hot->advance_values != NULL ? advance_values(system, state, hot, mode, failure)
         : hot->step != NULL           ? advance_plain(system, state, hot, failure)
                                       : yoke__master_advance(system, state, hot->unit, failure);
}

// The same in a paced run: every unit is timed, some are left out.
static YOKE_NOINLINE yoke_status advance_paced(const yoke_system* system, yoke_state* state,
                                               int thread, uint64_t mode, yoke_call* call) {
  yoke_failure* failure = &state->failures[thread];
  const yoke_hot* end = state->hot + system->thread_first[thread + 1];
  yoke_pace* pace = state->pace;
  int64_t before = pace->clock.now_ns(pace->clock.self);
  for (const yoke_hot* hot = state->hot + system->thread_first[thread]; hot < end; hot++) {
    if (yoke__pace_leaves_out(pace, hot->unit)) {
      continue;
    }
    yoke__call_name(call, hot->name);
    const yoke_status status = advance_hot(system, state, hot, mode, failure);
    const int64_t now = pace->clock.now_ns(pace->clock.self);
    pace->units[hot->unit].step_ns += now - before;
    before = now;
    if (status < 0 && !yoke__master_keep_unit(system, state, hot->unit)) {
      return status;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_advance_units(const yoke_system* system, yoke_state* state, int thread) {
  yoke_failure* failure = &state->failures[thread];
  const yoke_hot* hot = state->hot + system->thread_first[thread];
  const yoke_hot* end = state->hot + system->thread_first[thread + 1];
  yoke_call* call = yoke__call_here();
  if (call->float_mode == 0) {
    call->float_mode = yoke__os_float_mode();
  }
  const uint64_t mode = call->float_mode;
  yoke__call_prepare(call, "step", state->t);
  yoke_status status = YOKE_OK;
  if (state->pace != NULL) {
    status = advance_paced(system, state, thread, mode, call);
    hot = end;
  }
  for (; hot < end && status >= 0; hot++) {
    yoke__call_name(call, hot->name);  // one store: who is to blame should it not come back
    status = advance_hot(system, state, hot, mode, failure);
  }
  yoke__call_name(call, NULL);
  // What arithmetic does not show, exceptions that would raise a signal, can wait: reading the mode costs as much as a
  // trivial FMU.
  if (state->has_foreign && (call->n_slots++ & 15u) == 0) {
    yoke__os_float_mode_keep(mode);
  }
  return status < 0 ? status : YOKE_OK;
}
