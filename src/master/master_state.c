// Memory of a run: everything is laid out here once; stepping takes nothing more.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_crash.h"
#include "base/base_os.h"
#include "master/master.h"

static yoke_status create_workers(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    const uint32_t wants = group->role == YOKE_GROUP_MEMBER || group->ops->wants == NULL
                               ? 0
                               : group->ops->wants(group->setup.parameters);
    if ((wants & YOKE_WANTS_WORKER) != 0) {
      state->workers[i] = yoke__master_worker_create(true);
      YOKE_TRY_MEMORY(state->workers[i]);
    }
  }
  return YOKE_OK;
}

// Threads end before the memory that they work on.
static void close_groups(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; state->workers != NULL && i < system->n_groups; i++) {
    yoke__master_worker_destroy(state->workers[i]);
  }
  for (size_t i = 0; i < state->n_prepared; i++) {
    const yoke_group* group = &system->groups[i];
    if (group->role != YOKE_GROUP_MEMBER && group->ops->close != NULL) {
      group->ops->close(state->group_memory + group->self);
    }
  }
}

static yoke_status lay_memory(const yoke_system* system, yoke_state* state) {
  yoke_arena* arena = &state->arena;
  state->y = yoke__arena_array(arena, system->n_y + system->n_linear + 1, sizeof *state->y);
  state->y_work = system->has_slow_units
                      ? yoke__arena_array(arena, system->n_y + 1, sizeof *state->y)
                      : state->y;
  state->u = yoke__arena_array(arena, system->n_u + 1, sizeof *state->u);
  state->du = yoke__arena_array(arena, system->n_u + 1, sizeof *state->du);
  state->fifo = yoke__arena_array(arena, system->n_fifo + 1, sizeof *state->fifo);
  state->v = yoke__arena_take(arena, system->n_typed_out + 8);
  state->v_work =
      system->has_slow_units ? yoke__arena_take(arena, system->n_typed_out + 8) : state->v;
  state->w = yoke__arena_take(arena, system->n_typed_in + 8);
  state->w_set = yoke__arena_take(arena, system->n_typed_in + 8);
  state->group_memory = yoke__arena_take(arena, system->n_group_bytes + 64);
  state->group_numbers = yoke__arena_array(arena, system->n_group_numbers + 1, sizeof(double));
  state->workers =
      yoke__arena_array(arena, system->n_groups + 1, sizeof(const yoke_coupling_worker*));
  state->traces = yoke__arena_array(arena, system->n_groups + 1, sizeof(const double*));
  state->intake_wait = yoke__arena_array(arena, system->n_intakes + 1, sizeof(int64_t));
  state->intake_count = yoke__arena_array(arena, system->n_intakes + 1, sizeof(int64_t));
  state->intake_due = yoke__arena_array(arena, system->n_intakes + 1, sizeof(bool));
  state->unit_wait = yoke__arena_array(arena, system->n_units + 1, sizeof(int64_t));
  state->group_since = yoke__arena_array(arena, system->n_groups + 1, sizeof(int64_t));
  state->is_jumped = yoke__arena_array(arena, system->n_units + 1, sizeof(bool));
  state->is_output_jumped = yoke__arena_array(arena, system->n_y + 1, sizeof(bool));
  state->is_tap_jumped = yoke__arena_array(arena, system->n_taps + 1, sizeof(bool));
  state->is_reset_due = yoke__arena_array(arena, system->n_signals + 1, sizeof(bool));
  state->is_lost = yoke__arena_array(arena, system->n_signals + 1, sizeof(bool));
  state->ages = yoke__arena_array(arena, system->n_signals + 1, sizeof(double));
  state->is_due_signal = yoke__arena_array(arena, system->n_signals + 1, sizeof(bool));
  state->is_seen_signal = yoke__arena_array(arena, system->n_signals + 1, sizeof(bool));
  state->is_fifo_jump = yoke__arena_array(arena, system->n_fifo + 1, sizeof(bool));
  state->unit_t = yoke__arena_array(arena, system->n_units + 1, sizeof(double));
  state->unit_reading = yoke__arena_array(arena, system->n_units + 1, 1);
  state->are_outputs_same = yoke__arena_array(arena, system->n_units + 1, sizeof(bool));
  state->are_inputs_same = yoke__arena_array(arena, system->n_units + 1, sizeof(bool));
  state->failures = yoke__arena_array(arena, (size_t)system->n_threads, sizeof *state->failures);
  YOKE_TRY_MEMORY(state->y && state->y_work && state->u && state->du && state->fifo && state->v &&
                  state->v_work && state->w && state->w_set && state->group_memory &&
                  state->group_numbers && state->workers && state->traces && state->intake_wait &&
                  state->intake_count && state->intake_due && state->unit_wait &&
                  state->group_since && state->is_jumped && state->is_output_jumped &&
                  state->is_tap_jumped && state->is_reset_due && state->is_lost && state->ages &&
                  state->is_due_signal && state->is_seen_signal && state->is_fifo_jump &&
                  state->unit_t && state->unit_reading && state->are_outputs_same &&
                  state->are_inputs_same && state->failures);
  state->reading = YOKE_READ_ALL;
  memset(state->unit_reading, YOKE_READ_ALL, system->n_units);
  state->y_seen = system->scenario->scheme == YOKE_GAUSS_SEIDEL ? state->y_work : state->y;
  yoke__master_start_step(system, state);
  YOKE_TRY(create_workers(system, state));
  YOKE_TRY(yoke__master_layout_mail(state));
  YOKE_TRY(yoke__master_lay_hot(system, state));
  YOKE_TRY(yoke__master_lay_own(system, state));
  YOKE_TRY(yoke__master_lay_ledger(system, state));
  YOKE_TRY(yoke__master_layout_flows(system, state));
  YOKE_TRY(yoke__master_layout_sources(system, state));
  YOKE_TRY(yoke__master_layout_through(system, state));
  YOKE_TRY(yoke__master_layout_watch(system, state));
  YOKE_TRY(yoke__master_layout_guard(system, state));
  return yoke__system_is_iterative(system) ? yoke__master_prepare_iteration(system, state)
                                           : YOKE_OK;
}

// Messages of a method: about the coupling or bond that asked for it, or the unit that it feeds.
typedef struct method_messages {
  yoke_context about;
  char words[256];  // in front of each text
} method_messages;

static void add_words(void* to, const yoke_message* message) {
  const method_messages* messages = to;
  char text[YOKE_MESSAGE_TEXT_SIZE];
  yoke_message full = *message;
  snprintf(text, sizeof text, "%s%s", messages->words, message->text);
  full.text = text;
  yoke_send(&messages->about.sink, &full);
}

static yoke_status prepare_group(const yoke_system* system, yoke_state* state,
                                 const yoke_group* group, yoke_messages* messages) {
  const yoke_system_method* method = &system->methods[group->method];
  const yoke_system_unit* unit = &system->units[group->unit];
  const bool is_placed = method->place.line > 0;
  const size_t n_errors = messages->n_errors;
  const yoke_sink list = yoke__messages_sink(messages);
  method_messages to;
  const yoke_sink sink = {add_words, &to};
  snprintf(to.words, sizeof to.words, "%s%s '%s': ", is_placed ? method->owner : "coupling",
           is_placed ? ": method" : " method", group->ops->name);
  yoke__context_init(&to.about, &list, is_placed ? method->place : unit->source->place,
                     is_placed ? NULL : unit->name, (double)NAN);
  const yoke_status status =
      group->ops->prepare(state->group_memory + group->self, &group->setup, &sink);
  return status >= 0 || messages->n_errors > n_errors
             ? status
             : yoke_fail(&sink, status, "%s", yoke_status_text(status));
}

static yoke_status prepare_groups(const yoke_system* system, yoke_state* state,
                                  yoke_messages* messages) {
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    if (group->role == YOKE_GROUP_MEMBER) {
      state->n_prepared++;
      continue;
    }
    YOKE_TRY(prepare_group(system, state, group, messages));
    state->n_prepared++;
    if (group->ops->trace != NULL) {
      state->traces[i] = group->ops->trace(state->group_memory + group->self);
      if (state->traces[i] == NULL && group->ops->n_trace > 0) {
        return yoke__error(messages, system->methods[group->method].place,
                           "method '%s' has no trace: its operation `trace` returned NULL",
                           group->ops->name);
      }
    }
  }
  return YOKE_OK;
}

// Binaries may have changed them while they were made and initialised.
static void restore_signals(void* context, int thread) {
  (void)context, (void)thread;
  yoke__crash_restore();
}

yoke_status yoke__master_create(yoke_system* system, yoke_messages* messages, yoke_state** out) {
  *out = NULL;
  yoke_state* state = calloc(1, sizeof *state);
  YOKE_TRY_MEMORY(state);
  // worker threads flush denormals too: the first values must not depend on who computes them
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = lay_memory(system, state);
  if (status >= 0) {
    status = prepare_groups(system, state, messages);
  }
  if (status >= 0) {
    status = yoke__master_initialise(system, state, messages);
  }
  yoke__os_float_mode_restore(mode);
  yoke__pool_run(system->pool, restore_signals, NULL);
  if (status < 0) {
    status = yoke__messages_status(messages, status);
    if (messages->n_errors == 0) {
      yoke__messages_fail(messages, status, (yoke_place){system->scenario->path, 0, 0}, "%s",
                          yoke_status_text(status));
    }
    close_groups(system, state);
    yoke__arena_free(&state->arena);
    free(state);
    return status;
  }
  *out = state;
  return YOKE_OK;
}

static void terminate_units(void* context, int thread) {
  yoke_system* system = context;
  for (size_t i = 0; i < system->n_units; i++) {
    if (system->units[i].thread == thread) {
      const yoke_call_scope scope =
          yoke__call_begin_at(system->units[i].name, "terminate", (double)NAN);
      yoke__unit_terminate(&system->units[i].unit);
      yoke__call_end(&scope);
    }
  }
}

void yoke__master_destroy(yoke_system* system, yoke_state** state) {
  if (*state == NULL) {
    return;
  }
  yoke__pool_run(system->pool, terminate_units, system);
  close_groups(system, *state);
  yoke__master_end_tape(*state);
  yoke__master_end_watch(*state);
  // a unit that has not come back may still write to its own part of it
  if (!yoke__pool_has_lost(system->pool)) {
    yoke__arena_free(&(*state)->arena);
    free(*state);
  }
  *state = NULL;
}
