// How much of the units' outputs is fetched: what nobody reads is left where it is. Chosen between two steps, by what is recorded.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "master/master.h"

// Values of a slow unit become visible later than they are fetched, those of a unit on its own thread come when they come, and
// iterations judge all outputs: there everything is read at all times.
static yoke_reading possible(const yoke_system* system, const yoke_system_unit* su,
                             yoke_reading wanted) {
  const bool is_fixed = su->n_slots > 1 || su->is_own || yoke__system_is_iterative(system);
  return is_fixed ? YOKE_READ_ALL : wanted;
}

static bool is_fetched(const yoke_system_unit* su, yoke_reading reading, size_t variable) {
  return reading == YOKE_READ_ALL || su->unit.ops->choose_outputs == NULL ||
         su->is_read[reading][variable];
}

bool yoke__master_is_read(const yoke_system* system, const yoke_state* state, size_t unit,
                          size_t variable) {
  return is_fetched(&system->units[unit], (yoke_reading)state->unit_reading[unit], variable);
}

typedef struct job {
  const yoke_system* system;
  yoke_state* state;
  yoke_reading reading;
} job;

// Real outputs that were not fetched before. The others stay as the last exchange has made them.
static yoke_status read_news(const job* j, size_t unit, yoke_reading before) {
  const yoke_system_unit* su = &j->system->units[unit];
  yoke_state* state = j->state;
  double* y = malloc((su->unit.n_y + 1) * sizeof *y);
  YOKE_TRY_MEMORY(y);
  memcpy(y, state->y + su->y, su->unit.n_y * sizeof *y);
  const yoke_status status =
      yoke__master_get_outputs(j->system, unit, state->t, y, &state->failures[su->thread]);
  for (size_t v = 0; status >= 0 && v < su->unit.info->n_variables; v++) {
    const yoke_variable* variable = &su->unit.info->variables[v];
    const size_t at = su->unit.dense[v];
    if (variable->causality == YOKE_OUTPUT && at != YOKE_NOT_DENSE && !is_fetched(su, before, v)) {
      const size_t size = yoke__variable_count(variable) * sizeof *y;
      memcpy(state->y + su->y + at, y + at, size);
      memcpy(state->y_work + su->y + at, y + at, size);
    }
  }
  free(y);
  return status;
}

static yoke_status read_typed(const job* j, size_t unit) {
  const yoke_system_unit* su = &j->system->units[unit];
  yoke_state* state = j->state;
  const size_t n = yoke__master_n_typed(j->system, state, unit);
  if (n == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__master_get_typed(j->system, state, unit, state->t, state->y,
                                  &state->failures[su->thread]));
  for (size_t i = 0; i < n && state->v_work != state->v; i++) {
    const yoke_system_typed* typed = &su->typed_outputs[i];
    memcpy(state->v_work + typed->at, state->v + typed->at, typed->size);
  }
  return YOKE_OK;
}

static yoke_status set_unit(void* context, size_t unit) {
  const job* j = context;
  const yoke_system_unit* su = &j->system->units[unit];
  yoke_state* state = j->state;
  const yoke_reading before = (yoke_reading)state->unit_reading[unit];
  const yoke_reading now = possible(j->system, su, j->reading);
  if (now == before) {
    return YOKE_OK;
  }
  state->unit_reading[unit] = (unsigned char)now;
  yoke__master_renew_hot(j->system, state, unit);
  if (su->unit.ops->choose_outputs != NULL && su->unit.n_y > 0) {
    YOKE_TRY(su->unit.ops->choose_outputs(su->unit.self,
                                          now == YOKE_READ_ALL ? NULL : su->is_read[now]));
    YOKE_TRY(now > before ? read_news(j, unit, before) : YOKE_OK);
  }
  // also where less is read than before: the unit sees its list before the next step asks for it
  return read_typed(j, unit);
}

yoke_status yoke__master_set_reading(const yoke_system* system, yoke_state* state,
                                     yoke_reading reading) {
  job j = {system, state, reading};
  state->reading = reading;
  return yoke__master_each_unit(system, state, set_unit, &j, "its values could not be read");
}
