// Loops that grow while a method extrapolates their signals: all of them are held for a while.
//
// The growth alarm (quality_growth.h) looks at the samples of every signal inside a loop whose method can fall back, at every
// exchange: a loop that its calls make unstable is beyond all numbers before the macro steps show it. If the method predicts
// the signal badly, all signals of its loop are reset by YOKE_RESET_GROWTH, in whatever groups they are, and their alarms start
// anew.
// Page: docs/couple_auto.md, "Fallback".
#include <stdio.h>
#include <string.h>

#include "master/master.h"

// Signals that are exchanged together.
struct yoke_guard_grid {
  int64_t every, wait;  // slots
  size_t n;             // signals
  const size_t* at;     // their samples in group_numbers
  const size_t *groups, *signals, *loops;
  yoke_growth* growth;
};

// The loop that a signal of a group stays inside of; YOKE_NOT_FOUND: none.
static size_t loop_of(const yoke_system* system, const yoke_group* group, size_t signal) {
  const yoke_system_link* link = &system->links[group->taps[signal].link];
  const size_t loop = system->unit_loops[link->from_unit];
  return loop == system->unit_loops[link->to_unit] ? loop : YOKE_NOT_FOUND;
}

static bool can_fall_back(const yoke_group* group) {
  return group->role != YOKE_GROUP_MEMBER && group->ops->is_failing != NULL;
}

static bool has_grid(const yoke_guard* guard, int64_t every) {
  for (size_t i = 0; i < guard->n_grids; i++) {
    if (guard->grids[i].every == every) {
      return true;
    }
  }
  return false;
}

static yoke_status layout_grid(const yoke_system* system, yoke_state* state, int64_t every,
                               struct yoke_guard_grid* grid) {
  yoke_arena* arena = &state->arena;
  size_t* at = yoke__arena_array(arena, system->n_signals + 1, sizeof *at);
  size_t* groups = yoke__arena_array(arena, system->n_signals + 1, sizeof *groups);
  size_t* signals = yoke__arena_array(arena, system->n_signals + 1, sizeof *signals);
  size_t* loops = yoke__arena_array(arena, system->n_signals + 1, sizeof *loops);
  YOKE_TRY_MEMORY(at && groups && signals && loops);
  *grid = (struct yoke_guard_grid){
      .every = every, .at = at, .groups = groups, .signals = signals, .loops = loops};
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    for (size_t i = 0; can_fall_back(group) && group->every == every && i < group->setup.n_signals;
         i++) {
      if (loop_of(system, group, i) != YOKE_NOT_FOUND) {
        at[grid->n] = group->sample + i;
        groups[grid->n] = g;
        signals[grid->n] = i;
        loops[grid->n++] = loop_of(system, group, i);
      }
    }
  }
  return yoke__growth_create(arena, grid->n, INT64_MAX, &grid->growth);
}

yoke_status yoke__master_layout_guard(const yoke_system* system, yoke_state* state) {
  yoke_guard* guard = &state->guard;
  yoke_arena* arena = &state->arena;
  guard->grids = yoke__arena_array(arena, system->n_groups + 1, sizeof *guard->grids);
  guard->n_fallbacks =
      yoke__arena_array(arena, system->n_unit_loops + 1, sizeof *guard->n_fallbacks);
  guard->fallbacks = yoke__arena_array(arena, system->n_unit_loops * YOKE_FALLBACK_ROOM + 1,
                                       sizeof *guard->fallbacks);
  guard->is_affected = yoke__arena_array(arena, system->n_signals + 1, sizeof(bool));
  YOKE_TRY_MEMORY(guard->grids && guard->n_fallbacks && guard->fallbacks && guard->is_affected);
  for (size_t g = 0; g < system->n_groups && system->n_unit_loops > 0; g++) {
    const yoke_group* group = &system->groups[g];
    if (can_fall_back(group) && !has_grid(guard, group->every)) {
      YOKE_TRY(layout_grid(system, state, group->every, &guard->grids[guard->n_grids]));
      guard->n_grids++;
    }
  }
  return YOKE_OK;
}

void yoke__master_start_guard(yoke_state* state) {
  for (size_t i = 0; i < state->guard.n_grids; i++) {
    struct yoke_guard_grid* grid = &state->guard.grids[i];
    grid->wait = grid->every;
    yoke__growth_start_at(grid->growth, state->group_numbers, grid->at);
  }
}

// Every signal of the loop, in all groups, starts to be held; their alarms start anew.
static void fall_back(const yoke_system* system, yoke_state* state, size_t loop) {
  yoke_guard* guard = &state->guard;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    bool* is_affected = guard->is_affected + group->first_signal;
    bool has_any = false;
    for (size_t i = 0; can_fall_back(group) && i < group->setup.n_signals; i++) {
      is_affected[i] = loop_of(system, group, i) == loop;
      has_any = has_any || is_affected[i];
    }
    if (has_any) {
      group->ops->reset(state->group_memory + group->self, YOKE_RESET_GROWTH, is_affected);
    }
  }
  for (size_t k = 0; k < guard->n_grids; k++) {
    const struct yoke_guard_grid* grid = &guard->grids[k];
    for (size_t i = 0; i < grid->n; i++) {
      if (grid->loops[i] == loop) {
        yoke__growth_forget(grid->growth, i);
      }
    }
  }
}

static void keep(yoke_state* state, const struct yoke_guard_grid* grid, size_t i) {
  yoke_growth_alarm alarm;
  yoke__growth_result(grid->growth, i, &alarm);
  size_t* n = &state->guard.n_fallbacks[grid->loops[i]];
  if (*n < YOKE_FALLBACK_ROOM) {
    state->guard.fallbacks[grid->loops[i] * YOKE_FALLBACK_ROOM + (*n)++] =
        (yoke_fallback){state->t, grid->groups[i], grid->signals[i], alarm.factor};
  }
}

// Signals whose alarm has come. One that is predicted well grows by itself, or with another: it is looked at again.
static void judge(const yoke_system* system, yoke_state* state,
                  const struct yoke_guard_grid* grid) {
  for (size_t i = 0; i < grid->n && grid->growth->n_latched > 0; i++) {
    const yoke_group* group = &system->groups[grid->groups[i]];
    if (!yoke__growth_is_active(grid->growth, i)) {
      continue;
    }
    if (group->ops->is_failing(state->group_memory + group->self, grid->signals[i])) {
      keep(state, grid, i);
      fall_back(system, state, grid->loops[i]);
    }
  }
}

void yoke__master_guard(const yoke_system* system, yoke_state* state) {
  for (size_t k = 0; k < state->guard.n_grids; k++) {
    struct yoke_guard_grid* grid = &state->guard.grids[k];
    if (--grid->wait > 0) {
      continue;
    }
    grid->wait = grid->every;
    (void)yoke__growth_observe_at(grid->growth, state->group_numbers, grid->at);
    if (grid->growth->n_rows < YOKE_GROWTH_BLOCK) {
      continue;
    }
    (void)yoke__growth_complete(grid->growth);
    if (grid->growth->n_latched > 0) {
      judge(system, state, grid);
    }
  }
}

size_t yoke__master_count_fallbacks(const yoke_system* system, const yoke_state* state) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_unit_loops; i++) {
    n += state->guard.n_fallbacks[i];
  }
  return n;
}

const yoke_fallback* yoke__master_fallback(const yoke_state* state, size_t loop, size_t k) {
  return k < state->guard.n_fallbacks[loop] ? &state->guard.fallbacks[loop * YOKE_FALLBACK_ROOM + k]
                                            : NULL;
}

void yoke__master_fallback_text(const yoke_system* system, const yoke_fallback* fallback, char* to,
                                size_t size) {
  const yoke_group* group = &system->groups[fallback->group];
  const yoke_scenario_connection* c = system->links[group->taps[fallback->signal].link].source;
  snprintf(to, size,
           "%s.%s -> %s.%s grew %.3g times up to t = %.9g s: its loop falls back to zero-order "
           "hold for a while",
           c->from.unit, c->from.variable, c->to.unit, c->to.variable, fallback->factor,
           fallback->t);
}

void yoke__master_image_guard(const yoke_system* system, yoke_state* state, yoke_image* image) {
  yoke_guard* guard = &state->guard;
  yoke__image_part(image, guard->n_fallbacks, system->n_unit_loops * sizeof *guard->n_fallbacks);
  yoke__image_part(image, guard->fallbacks,
                   system->n_unit_loops * YOKE_FALLBACK_ROOM * sizeof *guard->fallbacks);
  for (size_t i = 0; i < guard->n_grids; i++) {
    YOKE_IMAGE_VALUE(image, guard->grids[i].wait);
    yoke__growth_image(guard->grids[i].growth, image);
  }
}
