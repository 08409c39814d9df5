// Recorded data as a unit: outputs are its columns of the data, under the names that the system file uses. Readings of sensors stay
// until the next one, and it says which is new; everything else goes straight from row to row, but
// where it jumps.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_twin.h"

const char yoke__twin_player_name[] = "record";

typedef struct player {
  yoke_unit_info info;
  yoke_variable* variables;
  const yoke_twin_column** columns;
  double t;
  double y[];
} player;

static size_t count_columns(const yoke_twin_data* data, const char* unit) {
  size_t n = 0;
  for (size_t i = 0; i < data->n_columns; i++) {
    n += strcmp(data->columns[i].unit, unit) == 0;
  }
  return n;
}

static void play(player* p, double t) {
  p->t = t;
  for (size_t i = 0; i < p->info.n_variables; i++) {
    p->y[i] = yoke__twin_data_value(p->columns[i], t, NULL);
  }
}

static void close_player(void* self) {
  player* p = self;
  if (p != NULL) {
    free(p->variables);
    free((void*)p->columns);
    free(p);
  }
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const yoke_twin_data* data = args->context;
  const size_t n = count_columns(data, args->name);
  player* p = calloc(1, sizeof *p + n * sizeof p->y[0]);
  if (p == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  p->variables = calloc(n + 1, sizeof *p->variables);
  p->columns = calloc(n + 1, sizeof(const yoke_twin_column*));
  if (p->variables == NULL || p->columns == NULL) {
    close_player(p);
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  p->info = (yoke_unit_info){.variables = p->variables, .n_variables = n};
  for (size_t i = 0, at = 0; i < data->n_columns; i++) {
    const yoke_twin_column* column = &data->columns[i];
    if (strcmp(column->unit, args->name) == 0) {
      p->columns[at] = column;
      p->variables[at] = (yoke_variable){
          .name = column->variable,
          .text = "column of the record",
          .type = YOKE_REAL,
          .causality = YOKE_OUTPUT,
          .flags = column->is_sensor ? YOKE_VARIABLE_DISCRETE : 0,
          .start = column->y[0],
          .offset = offsetof(player, y) + at * sizeof p->y[0],
      };
      p->y[at++] = column->y[0];
    }
  }
  *self = p;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const player*)self)->info;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)t_stop;
  (void)sink;
  play(self, t_start);
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)h;
  play(self, result->t_reached);
  return YOKE_OK;
}

static yoke_status refresh(void* self, double t) {
  play(self, t);
  return YOKE_OK;
}

static yoke_status sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const player* p = self;
  const yoke_twin_column* column = p->columns[output];
  size_t count = 0;
  (void)yoke__twin_data_value(column, p->t, &count);
  const double at = count == 0 || !column->is_sensor ? p->t : fmin(column->t[count - 1], p->t);
  *info = (yoke_sample_info){.time_stamp = at,
                             .age = p->t - at,
                             .sequence = (uint64_t)count,
                             .is_valid = count > 0 || !column->is_sensor};
  return YOKE_OK;
}

yoke_unit_ops yoke__twin_player_ops(const yoke_twin_data* data) {
  return (yoke_unit_ops){
      YOKE_UNIT_HEAD,
      .name = yoke__twin_player_name,
      .text = "columns of a record",
      .create = create,
      .describe = describe,
      .enter_init = enter_init,
      .step = step,
      .refresh = refresh,
      .sample_info = sample_info,
      .close = close_player,
      .context = data,
  };
}
