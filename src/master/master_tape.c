// Samples of units after their calls, also between exchanges, for an error estimate beside the run (trust_online.c).
//
//   unit a   | y u | y u | y u | y u |      one row per sub-step of the common grid; every unit has rows of its own,
//   unit b   | y u | y u | y u | y u |      so that threads never write to the same one
//            t_k                     t_k+1
//
// All memory is there and touched before the first step. A step copies numbers and stores one counter; when the rows are full
// it goes on without. Another thread reads rows of macro steps up to the counter (release and acquire), which never change.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "master/master.h"

static size_t row_size(const yoke_tape_unit* unit) {
  return unit->n_y + unit->n_u * (unit->every > 1 ? 2 : 1);
}

void yoke__master_end_tape(yoke_state* state) {
  yoke_tape* tape = state->tape;
  state->tape = NULL;
  for (size_t i = 0; tape != NULL && i < tape->n_units; i++) {
    free(tape->units[i].y);
    free((void*)tape->units[i].from);
    free(tape->units[i].rows);
    free(tape->units[i].start);
    free(tape->units[i].sum);
  }
  if (tape != NULL) {
    free(tape->units);
    free(tape);
  }
}

// Outputs that lie in the unit's own memory are copied from there: no call of the unit is needed.
static yoke_status point_at_outputs(const yoke_system_unit* su, yoke_tape_unit* unit) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  unit->from = calloc(unit->n_y + 1, sizeof *unit->from);
  YOKE_TRY_MEMORY(unit->from);
  for (size_t i = 0; i < unit->n_y; i++) {
    const size_t at = unit->y[i] - su->y;
    for (size_t k = 0; k < su->unit.n_outputs; k++) {
      const yoke_unit_run* run = &su->unit.outputs[k];
      if (at >= run->at && at < run->at + run->n) {
        const double* first = (const double*)((const char*)su->unit.self + run->offset);
        unit->from[i] = first + (at - run->at);
      }
    }
    if (unit->from[i] == NULL) {
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

// What is kept of a unit: its judged outputs and all its inputs.
// *next: the first judged signal of this unit or a later one, then of a later one.
static yoke_status choose_signals(const yoke_system* system, size_t i, int64_t grid, size_t* next,
                                  yoke_tape_unit* unit) {
  const yoke_system_unit* su = &system->units[i];
  *unit = (yoke_tape_unit){.n_u = su->unit.n_u, .u = su->u, .every = grid / su->period};
  unit->n_left = unit->every;
  unit->y = calloc(su->unit.n_y + 1, sizeof *unit->y);
  unit->sum = calloc(unit->n_u + 1, sizeof *unit->sum);
  YOKE_TRY_MEMORY(unit->y && unit->sum);
  for (; *next < system->n_judged && system->judged[*next].unit <= i; ++*next) {
    if (system->judged[*next].unit == i) {
      unit->y[unit->n_y++] = system->judged[*next].y;
    }
  }
  return su->unit.ops->get_outputs == NULL ? point_at_outputs(su, unit) : YOKE_OK;
}

static yoke_status allocate(const yoke_state* state, int64_t n_room, yoke_tape_unit* unit) {
  const size_t size = row_size(unit), n = (size_t)n_room * size;
  unit->rows = malloc((n + 1) * sizeof *unit->rows);
  unit->start = calloc(unit->n_y + unit->n_u + 1, sizeof *unit->start);
  YOKE_TRY_MEMORY(unit->rows && unit->start);
  // every page belongs to the run before it starts
  memset(unit->rows, 0, (n + 1) * sizeof *unit->rows);
  unit->to = unit->rows;
  unit->end = unit->rows + n;
  for (size_t i = 0; i < unit->n_y; i++) {
    unit->start[i] = state->y[unit->y[i]];
  }
  for (size_t i = 0; i < unit->n_u; i++) {
    unit->start[unit->n_y + i] = state->u[unit->u + i];
  }
  return YOKE_OK;
}

// The short path of a unit has no place for samples.
static void leave_short_path(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_units - system->n_laws; i++) {
    yoke_hot* hot = &state->hot[i];
    if (state->tape->units[hot->unit].rows != NULL) {
      *hot = (yoke_hot){.unit = hot->unit, .name = hot->name};
    }
  }
}

// They live as long as the state: who watches the run may read them at any time.
static yoke_status name_signals(const yoke_system* system, yoke_state* state) {
  const char** names = yoke__arena_array(&state->arena, system->n_judged + 1, sizeof(char*));
  YOKE_TRY_MEMORY(names);
  for (size_t i = 0; i < system->n_judged; i++) {
    char name[512];
    yoke__system_signal_name(system, &system->judged[i], name, sizeof name);
    names[i] = yoke__arena_text(&state->arena, name, strlen(name));
    YOKE_TRY_MEMORY(names[i]);
  }
  state->judged_names = names;
  return YOKE_OK;
}

static yoke_status fill(const yoke_system* system, yoke_state* state, int64_t grid,
                        const bool is_kept[], size_t max_bytes) {
  yoke_tape* tape = state->tape;
  size_t n_numbers = 0, next = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_kept[i]) {
      YOKE_TRY(choose_signals(system, i, grid, &next, &tape->units[i]));
      n_numbers += row_size(&tape->units[i]);
    }
  }
  const int64_t n_most = (int64_t)(max_bytes / (n_numbers * sizeof(double) + 1));
  tape->n_rows_step = system->macro / grid;
  tape->n_room = system->n_slots / system->macro_slots * tape->n_rows_step;
  tape->n_room = tape->n_room < n_most ? tape->n_room : n_most;
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_kept[i]) {
      YOKE_TRY(allocate(state, tape->n_room, &tape->units[i]));
    }
  }
  YOKE_TRY(name_signals(system, state));
  return yoke__master_keep(system, state, NULL, 0, 1, max_bytes);
}

yoke_status yoke__master_tape(const yoke_system* system, yoke_state* state, int64_t grid,
                              const bool is_kept[], size_t max_bytes) {
  if (state->n_slots > 0 || system->is_adaptive || yoke__system_is_iterative(system) || grid <= 0) {
    return YOKE_BAD_ARG;
  }
  yoke__master_end_tape(state);
  atomic_store(&state->estimated, 0);
  state->tape = calloc(1, sizeof *state->tape);
  YOKE_TRY_MEMORY(state->tape);
  state->tape->units = calloc(system->n_units + 1, sizeof *state->tape->units);
  state->tape->n_units = state->tape->units == NULL ? 0 : system->n_units;
  const yoke_status status =
      state->tape->units == NULL ? YOKE_NO_MEMORY : fill(system, state, grid, is_kept, max_bytes);
  if (status < 0) {
    yoke__master_end_tape(state);
    return status;
  }
  leave_short_path(system, state);
  return YOKE_OK;
}
