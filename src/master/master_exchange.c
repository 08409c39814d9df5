// Exchange: outputs become inputs. Runs between the steps, on one thread, in fixed order.
//
// Delayed taps read the sample of `delay` exchanges ago from a ring before the present one overwrites it, so that the
// order in which units are refreshed does not matter to them.
#include <string.h>

#include "master/master.h"

double yoke__master_tap(const yoke_state* state, const yoke_tap* tap, const double y[],
                        int64_t count) {
  if (tap->delay > 0) {
    return state->fifo[tap->fifo + (size_t)(count % tap->delay)];
  }
  return y[tap->from] * tap->gain + tap->offset;
}

void yoke__master_gather(const yoke_system* system, const yoke_state* state, size_t unit,
                         const double y[], double u[]) {
  const yoke_system_unit* su = &system->units[unit];
  const yoke_tap* tap = system->taps + su->first_tap;
  for (size_t i = 0; i < su->n_taps; i++, tap++) {
    if (tap->delay > 0) {
      // all taps of iterative schemes share one count
      u[tap->to] =
          yoke__master_tap(state, tap, y, system->n_intakes > 0 ? state->intake_count[0] : 0);
    } else {
      u[tap->to] = y[tap->from] * tap->gain + tap->offset;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// typed values

// typed outputs lie beside the real ones: v belongs to y, v_work to y_work
static unsigned char* typed_beside(const yoke_state* state, const double y[]) {
  return y == state->y ? state->v : state->v_work;
}

static void run_move(yoke_state* state, const yoke_move* move, const double y[]) {
  const unsigned char* v = typed_beside(state, y);
  switch (move->kind) {
  case YOKE_MOVE_BYTES:
    memcpy(state->w + move->to, v + move->from, move->n);
    break;
  case YOKE_MOVE_REAL_TO_TYPED:
    for (size_t i = 0; i < move->n; i++) {
      const double value = y[move->from + i] * move->gain + move->offset;
      memcpy(state->w + move->to + i * sizeof value, &value, sizeof value);
    }
    break;
  case YOKE_MOVE_INTEGER_TO_REAL:
  case YOKE_MOVE_INTEGER_TO_TYPED:
    for (size_t i = 0; i < move->n; i++) {
      int64_t whole = 0;
      memcpy(&whole, v + move->from + i * sizeof whole, sizeof whole);
      const double value = (double)whole * move->gain + move->offset;
      if (move->kind == YOKE_MOVE_INTEGER_TO_REAL) {
        state->u[move->to + i] = value;
      } else {
        memcpy(state->w + move->to + i * sizeof value, &value, sizeof value);
      }
    }
    break;
  }
}

void yoke__master_run_moves(const yoke_system* system, yoke_state* state, size_t unit,
                            const double y[]) {
  for (size_t i = 0; i < system->n_intakes && system->n_moves > 0; i++) {
    for (size_t k = 0; k < system->intakes[i].n_moves; k++) {
      if (system->intakes[i].moves[k].unit == unit) {
        run_move(state, &system->intakes[i].moves[k], y);
      }
    }
  }
}

yoke_status yoke__master_set_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t i = 0; i < su->n_typed_inputs; i++) {
    const yoke_system_typed* typed = &su->typed_inputs[i];
    if (memcmp(state->w + typed->at, state->w_set + typed->at, typed->size) != 0) {
      memcpy(state->w_set + typed->at, state->w + typed->at, typed->size);
      const yoke_status status =
          yoke__unit_set(&su->unit, typed->variable, state->w + typed->at, typed->size);
      if (status < 0) {
        return yoke__master_fail(failure, system, unit, status, state->t,
                                 "the value that came for '%s' was refused",
                                 su->unit.info->variables[typed->variable].name);
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_get_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, const double y[], yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  unsigned char* v = typed_beside(state, y);
  for (size_t i = 0; i < su->n_typed_outputs; i++) {
    const yoke_system_typed* typed = &su->typed_outputs[i];
    const yoke_status status =
        yoke__unit_get(&su->unit, typed->variable, v + typed->at, typed->size);
    if (status < 0) {
      return yoke__master_fail(failure, system, unit, status, t, "'%s' could not be read",
                               su->unit.info->variables[typed->variable].name);
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// intakes

static void run_copies(const yoke_intake* intake, const double y[], double u[]) {
  const uint32_t* from = intake->from;
  const uint32_t* to = intake->to;
  for (size_t i = 0; i < intake->n_copies; i++) {
    u[to[i]] = y[from[i]];
  }
}

// inputs of one intake; samples for coupling groups go straight to the inputs too, as their value at this instant
static void run_intake(const yoke_system* system, yoke_state* state, size_t index,
                       const double y[]) {
  const yoke_intake* intake = &system->intakes[index];
  run_copies(intake, y, state->u);
  for (size_t i = 0; i < intake->n_taps; i++) {
    const yoke_tap* tap = &intake->taps[i];
    state->u[tap->to] = yoke__master_tap(state, tap, y, state->intake_count[index]);
  }
  for (size_t i = 0; i < intake->n_moves; i++) {
    run_move(state, &intake->moves[i], y);
  }
  for (size_t g = 0; g < intake->n_groups; g++) {
    const yoke_group* group = &system->groups[intake->groups[g]];
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      state->u[group->taps[i].to] =
          yoke__master_tap(state, &group->taps[i], y, state->intake_count[index]);
    }
  }
}

// A polynomial through samples on both sides of a jump would shoot over it: groups that carry a signal of a unit whose
// outputs have jumped start anew with their next sample.
static void note_jumps(const yoke_system* system, yoke_state* state) {
  // laws pass a jump on
  for (size_t k = 0; k < system->n_refresh; k++) {
    const yoke_system_unit* su = &system->units[system->refresh_order[k]];
    for (const yoke_tap* tap = system->taps + su->first_tap;
         tap < system->taps + su->first_tap + su->n_taps; tap++) {
      if (tap->delay == 0 && state->is_jumped[system->links[tap->link].from_unit]) {
        state->is_jumped[system->refresh_order[k]] = true;
      }
    }
  }
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      state->is_reset_due[g] = state->is_reset_due[g] || state->is_jumped[group->sources[i]];
    }
  }
  memset(state->is_jumped, 0, system->n_units * sizeof *state->is_jumped);
  state->has_events = false;
}

void yoke__master_declare_discontinuity(const yoke_system* system, yoke_state* state) {
  memset(state->is_jumped, true, system->n_units * sizeof *state->is_jumped);
  state->has_events = true;
}

// the coupling groups of an intake take their samples; delay lines move on
static void close_intake(const yoke_system* system, yoke_state* state, size_t index,
                         const double y[]) {
  const yoke_intake* intake = &system->intakes[index];
  const int64_t count = state->intake_count[index];
  for (size_t g = 0; g < intake->n_groups; g++) {
    const yoke_group* group = &system->groups[intake->groups[g]];
    double* sample = state->group_numbers + group->sample;
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      const yoke_tap* tap = &group->taps[i];
      sample[i] = yoke__master_tap(state, tap, y, count);
      if (tap->delay > 0) {
        state->fifo[tap->fifo + (size_t)(count % tap->delay)] =
            y[tap->from] * tap->gain + tap->offset;
      }
    }
    if (state->is_reset_due[intake->groups[g]]) {
      state->is_reset_due[intake->groups[g]] = false;
      group->ops->reset(state->group_memory + group->self, YOKE_RESET_DISCONTINUITY);
    }
    group->ops->observe(state->group_memory + group->self, count, sample,
                        count == 0 ? NULL : sample + group->setup.n_signals);
    state->group_since[intake->groups[g]] = 0;
  }
  for (size_t i = 0; i < intake->n_taps; i++) {
    const yoke_tap* tap = &intake->taps[i];
    if (tap->delay > 0) {
      state->fifo[tap->fifo + (size_t)(count % tap->delay)] =
          y[tap->from] * tap->gain + tap->offset;
    }
  }
  state->intake_count[index]++;
}

void yoke__master_mark_due(const yoke_system* system, yoke_state* state) {
  if (state->has_events) {
    note_jumps(system, state);
  }
  for (size_t i = 0; i < system->n_intakes; i++) {
    state->intake_due[i] = --state->intake_wait[i] <= 0;
    if (state->intake_due[i]) {
      state->intake_wait[i] = system->intakes[i].every;
    }
  }
  for (size_t i = 0; i < system->n_groups; i++) {
    state->group_since[i] += system->slot;
  }
}

// ---------------------------------------------------------------------------------------------------------
// laws and fresh units

static bool is_refresh_due(const yoke_system* system, const yoke_state* state, size_t unit) {
  const size_t first = system->unit_intake[unit], last = system->unit_intake[unit + 1];
  bool is_due = first == last;  // without inputs it may still depend on time
  for (size_t i = first; i < last; i++) {
    is_due = is_due || state->intake_due[i];
  }
  return is_due;
}

yoke_status yoke__master_refresh(const yoke_system* system, yoke_state* state) {
  for (size_t k = 0; k < system->n_refresh; k++) {
    const size_t unit = system->refresh_order[k];
    if (!is_refresh_due(system, state, unit)) {
      continue;
    }
    for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
      if (state->intake_due[i]) {
        run_intake(system, state, i, state->y_seen);
      }
    }
    const yoke_system_unit* su = &system->units[unit];
    YOKE_TRY(yoke__master_set_typed(system, state, unit, &state->failure));
    yoke_status status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
    if (status >= 0) {
      status = su->unit.ops->refresh(su->unit.self, state->t);
    }
    if (status < 0) {
      return yoke__master_fail(&state->failure, system, unit, status, state->t,
                               "outputs could not be refreshed");
    }
    YOKE_TRY(
        yoke__master_get_outputs(system, unit, state->t, state->y_seen + su->y, &state->failure));
    YOKE_TRY(yoke__master_get_typed(system, state, unit, state->t, state->y_seen, &state->failure));
    if (state->y_seen != state->y) {
      memcpy(state->y + su->y, state->y_seen + su->y, su->unit.n_y * sizeof(double));
      YOKE_TRY(yoke__master_get_typed(system, state, unit, state->t, state->y, &state->failure));
    }
  }
  return YOKE_OK;
}

void yoke__master_take_in(const yoke_system* system, yoke_state* state, size_t unit) {
  if (state->has_events) {
    note_jumps(system, state);
  }
  for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
    if (state->intake_due[i]) {
      run_intake(system, state, i, state->y_seen);
      close_intake(system, state, i, state->y_seen);
    }
  }
}

void yoke__master_close_laws(const yoke_system* system, yoke_state* state) {
  for (size_t unit = system->n_units - system->n_laws; unit < system->n_units; unit++) {
    for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
      if (state->intake_due[i]) {
        close_intake(system, state, i, state->y_seen);
      }
    }
  }
}

yoke_status yoke__master_exchange(const yoke_system* system, yoke_state* state) {
  if (system->is_exchange_plain) {
    run_copies(&system->intakes[0], state->y, state->u);
    return YOKE_OK;
  }
  yoke__master_mark_due(system, state);
  if (system->n_refresh > 0) {
    YOKE_TRY(yoke__master_refresh(system, state));
  }
  for (size_t i = 0; i < system->n_shared_intakes; i++) {
    if (state->intake_due[i]) {
      run_intake(system, state, i, state->y);
    }
  }
  for (size_t i = 0; i < system->n_intakes; i++) {
    if (state->intake_due[i]) {
      close_intake(system, state, i, state->y);
    }
  }
  return YOKE_OK;
}
