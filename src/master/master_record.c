// Rows for the recorder.
#include <string.h>

#include "master/master.h"
#include "master/master_run.h"

// A row shows the inputs that the next step begins with, and methods that correct make them from the samples only then.
// Between two samples nothing is touched: slow units may be in the middle of a step.
static void show_inputs(const yoke_system* system, yoke_state* state) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->role != YOKE_GROUP_CLUSTER && state->group_since[group->sampler] == 0) {
      yoke__master_extrapolate(system, state, g, 1, 0);
    }
  }
}

// While a run stops its rows show what the safe actions have set, not what the connections say.
static void show_actions(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_actions; i++) {
    yoke__master_steer(system, state, &system->units[system->actions[i].unit], state->u, false);
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
  if (row == NULL && state->pace != NULL && !yoke__record_has_failed(state->record)) {
    yoke__record_note_lost(state->record);  // the clock does not wait for a writer
    return YOKE_OK;
  }
  while (row == NULL) {
    if (yoke__record_wait(state->record) < 0) {
      return yoke__master_fail(&state->failure, system, YOKE_NOT_FOUND, YOKE_IO, state->t,
                               "results could not be written");
    }
    row = yoke__record_row(state->record);
  }
  if (system->is_input_recorded && system->scenario->scheme == YOKE_JACOBI) {
    show_inputs(system, state);
    if (state->pace != NULL) {
      show_actions(system, state);
    }
  }
  fill_row(system, state, row);
  yoke__record_commit(state->record);
  state->n_rows++;
  return YOKE_OK;
}

yoke_status yoke__master_record_open(const yoke_system* system, yoke_state* state,
                                     const yoke_record_settings* settings, const yoke_sink* sink) {
  yoke_record_settings own = *settings;
  if (system->n_columns == 0) {
    own.formats = 0;  // without signals there are no rows, and no files for them
    own.n_sinks = 0;
  }
  YOKE_TRY(yoke__record_open(&own, system->columns, system->n_columns, &state->record, sink));
  if (system->n_columns == 0) {
    state->record_wait = INT64_MAX;
    return YOKE_OK;
  }
  const int64_t wait = system->record_from - state->n_slots;
  state->record_wait = wait > 0 ? wait : system->record_every;
  return wait > 0 ? YOKE_OK : yoke__master_record(system, state);
}
