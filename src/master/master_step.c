// One slot: units advance, time moves on, values are exchanged. Explicit Jacobi and Gauss-Seidel.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "master/master.h"

// ---------------------------------------------------------------------------------------------------------
// failures

static const char* keep(const char* text, char* to, size_t size) {
  return text == NULL || snprintf(to, size, "%s", text) < 0 ? NULL : to;
}

// where and what exactly; not what happened
static void keep_details(yoke_failure* failure, const yoke_message* from) {
  yoke_message* m = &failure->message;
  m->file = keep(from->file, failure->file, sizeof failure->file);
  m->line = from->line;
  m->column = from->column;
  m->variable = keep(from->variable, failure->variable, sizeof failure->variable);
  m->hint = keep(from->hint, failure->hint, sizeof failure->hint);
}

void yoke__failure_set(yoke_failure* failure, const yoke_message* message, size_t unit) {
  failure->unit = unit;
  failure->message = *message;
  failure->message.text = keep(message->text, failure->text, sizeof failure->text);
  keep_details(failure, message);
}

void yoke__failure_copy(yoke_failure* to, const yoke_failure* from) {
  yoke__failure_set(to, &from->message, from->unit);
}

static void keep_first(void* to, const yoke_message* message) {
  yoke_failure* failure = to;
  if (failure->message.text == NULL) {
    yoke__failure_set(failure, message, YOKE_NOT_FOUND);
  }
}

yoke_sink yoke__failure_sink(yoke_failure* failure) {
  return (yoke_sink){keep_first, failure};
}

yoke_status yoke__master_fail(yoke_failure* failure, const yoke_system* system, size_t unit,
                              yoke_status status, double t, const char* format, ...) {
  char what[sizeof failure->text];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = status,
                                .unit = unit == YOKE_NOT_FOUND ? NULL : system->units[unit].name,
                                .time = t,
                                .text = what};
  yoke__failure_set(failure, &message, unit);
  return status;
}

// The unit's own reason, or what its step said.
static void ask(const yoke_system* system, size_t unit, const char* said, yoke_failure* reason) {
  *reason = (yoke_failure){0};
  const yoke_sink sink = yoke__failure_sink(reason);
  yoke__unit_reason(&system->units[unit].unit, &sink);
  if (reason->message.text == NULL && said != NULL) {
    yoke_fail(&sink, YOKE_UNIT_FAILED, "%s", said);
  }
}

// or_else: what stands in place of a reason; NULL: nothing
static yoke_status fail_with(yoke_failure* failure, const yoke_system* system, size_t unit,
                             yoke_status status, double t, const char* what, const char* said,
                             const char* or_else) {
  yoke_failure reason;
  ask(system, unit, said, &reason);
  const char* why = reason.message.text != NULL ? reason.message.text : or_else;
  yoke__master_fail(failure, system, unit, status, t, "%s%s%s", what, why == NULL ? "" : ": ",
                    why == NULL ? "" : why);
  keep_details(failure, &reason.message);
  return status;
}

yoke_status yoke__master_fail_unit(yoke_failure* failure, const yoke_system* system, size_t unit,
                                   yoke_status status, double t, const char* format, ...) {
  char what[256];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return fail_with(failure, system, unit, status, t, what, NULL, NULL);
}

yoke_status yoke__master_collect_failures(const yoke_system* system, yoke_state* state) {
  const yoke_failure* first = NULL;
  for (int i = 0; i < system->n_threads; i++) {
    const yoke_failure* f = &state->failures[i];
    if (f->message.status < 0 && (first == NULL || f->unit < first->unit)) {
      first = f;
    }
  }
  if (first == NULL) {
    return YOKE_OK;
  }
  yoke__failure_copy(&state->failure, first);
  return first->message.status;
}

// "y", or "y[2]" if it is an array
static void name_output(const yoke_unit* unit, size_t element, char* to, size_t size) {
  snprintf(to, size, "?");
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality != YOKE_OUTPUT || unit->dense[i] == YOKE_NOT_DENSE ||
        unit->dense[i] > element) {
      continue;
    }
    if (yoke__variable_count(v) > 1) {
      snprintf(to, size, "%s[%zu]", v->name, element - unit->dense[i]);
    } else {
      snprintf(to, size, "%s", v->name);
    }
  }
}

static yoke_status report_not_finite(const yoke_system* system, size_t unit, double t,
                                     const double y[], yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  size_t i = 0;
  while (i < u->n_y && yoke__is_finite(y[i])) {
    i++;
  }
  char value[YOKE_NUMBER_SIZE], name[128];
  yoke__number_format(y[i], value);
  name_output(u, i, name, sizeof name);
  yoke__master_fail(failure, system, unit, YOKE_DIVERGED, t, "output '%s' became %s", name, value);
  failure->message.variable = keep(name, failure->variable, sizeof failure->variable);
  return YOKE_DIVERGED;
}

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
  return sum == 0 ? YOKE_OK : report_not_finite(system, unit, t, y, failure);
}

// the unit noticed itself: its reason, and the first output that shows it
static yoke_status report_divergence(const yoke_system* system, size_t unit, double t,
                                     const char* said, yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  char shown[192] = "", number[YOKE_NUMBER_SIZE];
  yoke_failure reason;
  ask(system, unit, said, &reason);
  for (size_t i = 0; i < u->info->n_variables && shown[0] == '\0'; i++) {
    const yoke_variable* v = &u->info->variables[i];
    double value = 0;
    if (v->causality == YOKE_OUTPUT && v->type == YOKE_REAL && yoke__variable_count(v) == 1 &&
        yoke__unit_get(u, i, &value, sizeof value) >= 0 && !yoke__is_finite(value)) {
      yoke__number_format(value, number);
      snprintf(shown, sizeof shown, ": output '%.120s' is %s", v->name, number);
      reason.message.variable = v->name;
    }
  }
  yoke__master_fail(
      failure, system, unit, YOKE_DIVERGED, t, "%s%s",
      reason.message.text != NULL ? reason.message.text : yoke_status_text(YOKE_DIVERGED), shown);
  keep_details(failure, &reason.message);
  return YOKE_DIVERGED;
}

// ---------------------------------------------------------------------------------------------------------
// one unit

static yoke_status judge_step(const yoke_system* system, yoke_state* state, size_t unit, double t,
                              double h, yoke_status status, const yoke_step_result* result,
                              yoke_failure* failure) {
  if (status == YOKE_DIVERGED) {
    return report_divergence(system, unit, t + h, result->message, failure);
  }
  if (status < 0) {
    return fail_with(failure, system, unit, status, t, "step failed", result->message,
                     yoke_status_text(status));
  }
  // rounding in the unit's own clock is no early return
  const bool is_short = result->t_reached < t + h - 1e-9 * h;
  if (is_short || (result->flags & (YOKE_STEP_DISCARDED | YOKE_STEP_EARLY_RETURN)) != 0) {
    return yoke__master_fail(
        failure, system, unit, YOKE_DISCARDED, t, "the step of %g s was %s%s%s", h,
        (result->flags & YOKE_STEP_DISCARDED) != 0 ? "discarded" : "not finished",
        result->message == NULL ? "" : ": ", result->message == NULL ? "" : result->message);
  }
  const yoke_unit* u = &system->units[unit].unit;
  uint32_t flags = result->flags;
  if ((flags & YOKE_STEP_EVENT_NEEDED) != 0 && u->ops->event_update != NULL) {
    yoke_step_result event = {.t_reached = t + h};
    if (u->ops->event_update(u->self, t + h, &event) < 0) {
      return fail_with(failure, system, unit, YOKE_UNIT_FAILED, t + h, "event update failed",
                       event.message, NULL);
    }
    flags |= event.flags & YOKE_STEP_END_WANTED;
  }
  if ((flags & YOKE_STEP_EVENT_NEEDED) != 0) {
    state->is_jumped[unit] = true;
    state->has_events = true;
  }
  if ((flags & YOKE_STEP_END_WANTED) != 0) {
    state->is_end_wanted = true;
  }
  return YOKE_OK;
}

yoke_status yoke__master_call_step(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, double h, yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = u->ops->step(u->self, t, h, &result);
  if (status >= 0 && result.flags == 0 && result.t_reached >= t + h) {
    return YOKE_OK;
  }
  return judge_step(system, state, unit, t, h, status, &result, failure);
}

// inputs that follow a polynomial, at the start of the call that begins `ticks` after the slot
static void extrapolate(const yoke_system* system, yoke_state* state, size_t first_group,
                        size_t n_groups, int64_t ticks) {
  for (size_t g = first_group; g < first_group + n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const int64_t since = state->group_since[group->sampler] + ticks;
    const double tau = since == 0 ? 0 : yoke__clock_seconds(&system->clock, since);
    double* u = state->group_numbers + group->input;
    group->ops->input(state->group_memory + group->self, group->sink, tau, u);
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      state->u[group->taps[i].to] = u[i];
    }
  }
}

// derivatives of all inputs up to the highest order; inputs without a polynomial are constant
static yoke_status set_derivatives(const yoke_system* system, yoke_state* state,
                                   const yoke_system_unit* su, int64_t ticks) {
  double* du = state->du + su->u;
  for (int order = 1; order <= su->derivative_order; order++) {
    memset(du, 0, su->unit.n_u * sizeof *du);
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
    YOKE_TRY(su->unit.ops->set_input_derivatives(su->unit.self, order, du, su->unit.n_u));
  }
  return YOKE_OK;
}

// what others want to know of each call: strips for the ledger, values for coupling methods
static void keep_call(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                      int64_t j, const double y[]) {
  for (const yoke_strip* strip = system->strips + su->first_strip;
       strip < system->strips + su->first_strip + su->n_strips; strip++) {
    double* to = state->strips + strip->at + (size_t)j * 2 * strip->n;
    for (size_t i = 0; i < strip->n; i++) {
      to[i] = state->u[strip->in[i]];
      to[strip->n + i] = y[strip->out[i]];
    }
  }
  for (const yoke_group_send* send = system->sends + su->first_send;
       send < system->sends + su->first_send + su->n_sends; send++) {
    const yoke_group* group = &system->groups[send->group];
    const int64_t count = (state->group_since[send->group] + (j + 1) * su->period) / su->period;
    group->ops->send(state->group_memory + group->self, send->signal, count,
                     y[send->tap->from] * send->tap->gain + send->tap->offset);
  }
}

// The unit's linear model for who wants it; without one its first number says so.
void yoke__master_linearise(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  const size_t n_x = su->n_states, n_u = su->unit.n_u, n_y = su->unit.n_y;
  double* A = state->y + system->n_y + su->linear;
  yoke_linear model = {
      n_x, n_u, n_y, A, A + n_x * n_x, A + n_x * (n_x + n_u), A + n_x * (n_x + n_u) + n_y * n_x};
  if (su->unit.ops->linearise(su->unit.self, &model) < 0 || model.n_states != n_x) {
    for (size_t i = 0; i < (n_x + n_y) * (n_x + n_u); i++) {
      A[i] = (double)NAN;
    }
  }
}

// All calls of one unit that start in this slot.
static yoke_status advance(const yoke_system* system, yoke_state* state, size_t unit,
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
  const int64_t tick = state->n_slots * system->slot;
  const double h = system->is_adaptive ? state->slot_h : su->step;
  const bool is_kept = su->n_strips + su->n_sends > 0;
  // slow units, and all under Gauss-Seidel with slow units, are ahead of what others may see
  double* y = su->n_slots > 1 ? state->y_work : state->y_seen;
  double t = state->t;
  for (int64_t j = 0; j < su->n_steps; j++) {
    if (j > 0) {
      t = yoke__clock_time(&system->clock, tick + j * su->period);
    }
    if (su->n_groups > 0) {
      extrapolate(system, state, su->first_group, su->n_groups, j * su->period);
    }
    if (j == 0 || su->n_groups > 0) {
      yoke_status status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
      if (status >= 0 && su->derivative_order > 0) {
        status = set_derivatives(system, state, su, j * su->period);
      }
      if (status < 0) {
        return yoke__master_fail_unit(failure, system, unit, status, t, "inputs were refused");
      }
    }
    YOKE_TRY(yoke__master_call_step(system, state, unit, t, h, failure));
    if (is_kept) {
      YOKE_TRY(yoke__master_get_outputs(system, unit, t + h, y + su->y, failure));
      keep_call(system, state, su, j, y);
    }
  }
  if (!is_kept) {
    YOKE_TRY(yoke__master_get_outputs(system, unit, t + h, y + su->y, failure));
  }
  if (su->n_typed_outputs > 0) {
    YOKE_TRY(yoke__master_get_typed(system, state, unit, t + h, y, failure));
  }
  if (su->has_linear) {
    yoke__master_linearise(system, state, unit);
  }
  state->unit_t[unit] =
      yoke__clock_time(&system->clock, tick + su->n_steps * su->period * state->stretch);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the common unit: one call per slot, values in its own struct or moved by two operations, nothing typed, no derivatives

static bool is_plain(const yoke_system_unit* su) {
  const yoke_unit* u = &su->unit;
  return !su->is_law && su->n_steps == 1 && su->n_slots == 1 && su->derivative_order == 0 &&
         su->n_sends == 0 && !su->has_linear && su->n_typed_inputs == 0 &&
         su->n_typed_outputs == 0 && (u->ops->set_inputs != NULL || u->n_inputs <= 1) &&
         (u->ops->get_outputs != NULL || u->n_outputs <= 1);
}

static void lay_hot_group(const yoke_group* group, const yoke_state* state, yoke_hot_group* hot) {
  *hot = (yoke_hot_group){
      .ops = group->ops,
      .self = state->group_memory + group->self,
      .sample = state->group_numbers + group->sample,
      .input = state->group_numbers + group->input,
      .taps = group->taps,
      .n_signals = group->setup.n_signals,
      .probes = group->probes,
      .probe_scale = group->probe_scale,
      .probe_offset = group->probe_offset,
      .n_probes = group->setup.n_probes,
      .group = group,
      .sink = group->sink,
      .worker = state->workers[group->sampler],
      .is_sampled = group->role != YOKE_GROUP_MEMBER,
  };
}

yoke_status yoke__master_lay_hot(const yoke_system* system, yoke_state* state) {
  const size_t n = system->n_units - system->n_laws;
  state->hot = yoke__arena_array(&state->arena, n + 1, sizeof *state->hot);
  state->hot_groups =
      yoke__arena_array(&state->arena, system->n_groups + 1, sizeof *state->hot_groups);
  if (state->hot == NULL || state->hot_groups == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < system->n_groups; i++) {
    lay_hot_group(&system->groups[i], state, &state->hot_groups[i]);
  }
  for (size_t i = 0; i < n; i++) {
    const size_t unit = system->thread_units[i];
    const yoke_system_unit* su = &system->units[unit];
    yoke_hot* hot = &state->hot[i];
    *hot = (yoke_hot){.unit = unit};
    if (is_plain(su) && system->scenario->scheme == YOKE_JACOBI) {
      char* self = su->unit.self;
      hot->step = su->unit.ops->step;
      hot->self = self;
      hot->h = su->step;
      hot->first_group = su->first_group;
      hot->n_groups = su->n_groups;
      hot->groups = system->is_exchange_plain ? state->hot_groups + su->first_group : NULL;
      hot->n_u = su->unit.n_u;
      hot->n_y = su->unit.n_y;
      hot->u_from = state->u + su->u;
      hot->advance = su->unit.ops->advance;
      state->has_foreign = state->has_foreign || hot->advance != NULL;
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
  }
  return YOKE_OK;
}

// inputs at the very time of the last sample
static inline void take_inputs(const yoke_hot_group groups[], size_t n_groups, double u[]) {
  for (const yoke_hot_group* g = groups; g < groups + n_groups; g++) {
    g->ops->input(g->self, g->sink, 0, g->input);
    for (size_t i = 0; i < g->n_signals; i++) {
      u[g->taps[i].to] = g->input[i];
    }
  }
}

static inline void renew_inputs(const yoke_system* system, yoke_state* state, const yoke_hot* hot) {
  if (hot->groups != NULL) {
    take_inputs(hot->groups, hot->n_groups, state->u);
  } else {
    extrapolate(system, state, hot->first_group, hot->n_groups, 0);
  }
}

// inputs, step and outputs by one call of the unit
static inline yoke_status advance_whole(const yoke_system* system, yoke_state* state,
                                        const yoke_hot* hot, uint64_t mode, yoke_failure* failure) {
  const double t = state->t, h = hot->h;
  if (hot->n_groups > 0) {
    renew_inputs(system, state, hot);
  }
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = hot->advance(hot->self, t, h, hot->u_from, hot->y_to, &result);
  if (yoke__os_float_mode() != mode) {
    yoke__os_float_mode_restore(mode);
  }
  if (status < 0 || result.flags != 0 || result.t_reached < t + h) {
    YOKE_TRY(judge_step(system, state, hot->unit, t, h, status, &result, failure));
  }
  double sum = 0;
  for (size_t i = 0; i < hot->n_y; i++) {
    sum += hot->y_to[i] * 0;
  }
  return sum == 0 ? YOKE_OK : report_not_finite(system, hot->unit, t + h, hot->y_to, failure);
}

static inline yoke_status advance_plain(const yoke_system* system, yoke_state* state,
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
  if (status < 0 || result.flags != 0 || result.t_reached < t + hot->h) {
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
  return sum == 0 ? YOKE_OK : report_not_finite(system, hot->unit, t + hot->h, hot->y_to, failure);
}

// ---------------------------------------------------------------------------------------------------------
// schemes

typedef struct slot_job {
  const yoke_system* system;
  yoke_state* state;
} slot_job;

static yoke_status advance_units(const yoke_system* system, yoke_state* state, int thread) {
  yoke_failure* failure = &state->failures[thread];
  const yoke_hot* hot = state->hot + system->thread_first[thread];
  const yoke_hot* end = state->hot + system->thread_first[thread + 1];
  const uint64_t mode = state->has_foreign ? yoke__os_float_mode() : 0;
  for (; hot < end; hot++) {
    YOKE_TRY(hot->advance != NULL ? advance_whole(system, state, hot, mode, failure)
             : hot->step != NULL  ? advance_plain(system, state, hot, failure)
                                  : advance(system, state, hot->unit, failure));
  }
  return YOKE_OK;
}

static void advance_thread(void* context, int thread) {
  const slot_job* job = context;
  (void)advance_units(job->system, job->state, thread);  // failures are collected after the barrier
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

static void move_time(const yoke_system* system, yoke_state* state) {
  state->n_slots += state->stretch;
  state->t = yoke__clock_time(&system->clock, state->n_slots * system->slot);
  if (state->y_work != state->y) {
    publish(system, state);
  }
}

static void account(yoke_state* state) {
  if (state->ledger != NULL) {
    yoke__ledger_account(state->ledger, state->slot_h, &state->view_before);
  }
}

static yoke_status slot_jacobi(const yoke_system* system, yoke_state* state) {
  if (system->n_threads == 1) {
    if (advance_units(system, state, 0) < 0) {
      return yoke__master_collect_failures(system, state);
    }
  } else {
    slot_job job = {system, state};
    yoke__pool_run(system->pool, advance_thread, &job);
    YOKE_TRY(yoke__master_collect_failures(system, state));
  }
  account(state);
  move_time(system, state);
  return yoke__master_exchange(system, state);
}

static yoke_status slot_gauss_seidel(const yoke_system* system, yoke_state* state) {
  for (size_t k = 0; k < system->n_gs; k++) {
    // only the laws and fresh units that this one listens to
    const size_t unit = system->gs_order[k], first = system->unit_refresh_first[unit];
    YOKE_TRY(yoke__master_refresh(system, state, system->unit_refresh + first,
                                  system->unit_refresh_first[unit + 1] - first));
    yoke__master_take_in(system, state, unit);
    YOKE_TRY(advance(system, state, unit, &state->failure));
  }
  account(state);
  move_time(system, state);
  yoke__master_mark_due(system, state);
  yoke__master_open_laws(system, state);
  YOKE_TRY(yoke__master_refresh(system, state, system->refresh_order, system->n_refresh));
  yoke__master_close_laws(system, state);
  return YOKE_OK;
}

// the ledger after the exchange
static inline yoke_status observe(const yoke_system* system, yoke_state* state) {
  if (state->n_held > 0) {
    YOKE_TRY(yoke__master_rebuild(system, state));
  }
  for (size_t i = 0; i < state->n_corrected; i++) {
    const yoke_corrected* c = &state->corrected[i];
    yoke__ledger_set_remainder(state->ledger, c->bond, c->remainder(c->self));
  }
  const yoke_alarm_level level = yoke__ledger_observe(state->ledger, state->t, state->slot_h,
                                                      &state->view_after, state->held_actions);
  if (level != YOKE_ALARM_NONE) {
    yoke__master_take_alarm(state, level);
  }
  return YOKE_OK;
}

yoke_status yoke__master_slot(const yoke_system* system, yoke_state* state) {
  switch (system->scenario->scheme) {
  case YOKE_JACOBI:
    YOKE_TRY(slot_jacobi(system, state));
    break;
  case YOKE_GAUSS_SEIDEL:
    YOKE_TRY(slot_gauss_seidel(system, state));
    break;
  case YOKE_ITERATIVE_JACOBI:
  case YOKE_ITERATIVE_GAUSS_SEIDEL:
    YOKE_TRY(yoke__master_iterate(system, state));
    account(state);
    move_time(system, state);
    YOKE_TRY(yoke__master_exchange(system, state));
    break;
  }
  if (state->ledger != NULL) {
    YOKE_TRY(observe(system, state));
    if (system->is_adaptive) {
      yoke__master_choose_step(system, state);
    }
  }
  if (state->record != NULL && --state->record_wait == 0) {
    state->record_wait = system->record_every;
    YOKE_TRY(yoke__master_record(system, state));
  }
  if (state->is_stopped) {
    return YOKE_STOPPED;
  }
  return state->is_end_wanted ? YOKE_ENDED : YOKE_OK;
}

yoke_status yoke__master_step(const yoke_system* system, yoke_state* state) {
  for (int64_t i = 0; i < system->macro_slots; i++) {
    const yoke_status status = yoke__master_slot(system, state);
    if (status != YOKE_OK) {
      return status;
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// recording

// A row shows the inputs that the next step begins with, and methods that correct make them from the samples only then.
// Between two samples nothing is touched: slow units may be in the middle of a step.
static void show_inputs(const yoke_system* system, yoke_state* state) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->role != YOKE_GROUP_CLUSTER && state->group_since[group->sampler] == 0) {
      extrapolate(system, state, g, 1, 0);
    }
  }
}

// the item of an enumeration as its number
static void write_item(const yoke_system_column* source, char* row) {
  int64_t item = 0;
  memcpy(&item, row, sizeof item);
  if (item >= 0 && (size_t)item < source->n_values) {
    memcpy(row, &source->values[item], sizeof item);
  }
}

static void fill_row(const yoke_system* system, const yoke_state* state, char* row) {
  memcpy(row, &state->t, sizeof state->t);
  row += sizeof(double);
  memcpy(row, state->y, system->n_record_plain * sizeof(double));
  row += system->n_record_plain * sizeof(double);
  for (size_t i = system->n_record_plain; i < system->n_columns; i++) {
    const yoke_system_column* source = &system->column_sources[i];
    const size_t size = system->columns[i].size;
    switch (source->source) {
    case YOKE_COLUMN_Y:
      memcpy(row, &state->y[source->index], sizeof(double));
      break;
    case YOKE_COLUMN_U:
      memcpy(row, &state->u[source->index], sizeof(double));
      break;
    case YOKE_COLUMN_TYPED:
      memcpy(row, state->v + source->index, size);
      if (source->values != NULL) {
        write_item(source, row);
      }
      break;
    case YOKE_COLUMN_BOND:
      memcpy(row, &state->ledger_values[source->index], sizeof(double));
      break;
    case YOKE_COLUMN_TRACE:
      memcpy(row, &state->traces[source->element][source->index], sizeof(double));
      break;
    }
    row += size;
  }
}

yoke_status yoke__master_record(const yoke_system* system, yoke_state* state) {
  // nobody wants a run whose results are lost: a full disk ends it
  void* row = yoke__record_has_failed(state->record) ? NULL : yoke__record_row(state->record);
  while (row == NULL) {
    if (yoke__record_wait(state->record) < 0) {
      return yoke__master_fail(&state->failure, system, YOKE_NOT_FOUND, YOKE_IO, state->t,
                               "results could not be written");
    }
    row = yoke__record_row(state->record);
  }
  if (system->is_input_recorded && system->scenario->scheme == YOKE_JACOBI) {
    show_inputs(system, state);
  }
  fill_row(system, state, row);
  yoke__record_commit(state->record);
  state->n_rows++;
  return YOKE_OK;
}
