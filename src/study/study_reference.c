// A reference for one point of a study: the same system with other settings on top, such as a small step; see study_run.h.
//
// The error of a coupling over a parameter of the system needs a reference at every value of it, which no single file is.
// Of the reference run those rows are kept that the run itself will have.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/study_run.h"

void yoke__study_output_name(const yoke_system* system, size_t y, char* to, size_t size) {
  for (size_t k = 0; k < system->n_units; k++) {
    const yoke_system_unit* unit = &system->units[k];
    if (y < unit->y || y >= unit->y + unit->unit.n_y) {
      continue;
    }
    for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
      const yoke_variable* variable = &unit->unit.info->variables[v];
      const size_t n = yoke__variable_count(variable), first = unit->unit.dense[v];
      if (variable->causality == YOKE_OUTPUT && first != YOKE_NOT_DENSE && y >= unit->y + first &&
          y < unit->y + first + n) {
        const size_t i = y - unit->y - first, n_cols = variable->n_cols;
        if (n == 1) {
          snprintf(to, size, "%s.%s", unit->name, variable->name);
        } else if (n_cols > 1 && n > n_cols) {
          snprintf(to, size, "%s.%s[%zu,%zu]", unit->name, variable->name, i / n_cols, i % n_cols);
        } else {
          snprintf(to, size, "%s.%s[%zu]", unit->name, variable->name, i);
        }
        return;
      }
    }
  }
  snprintf(to, size, "output %zu", y);
}

typedef struct keeper {
  const yoke_system* system;  // of the reference
  yoke_csv* to;
  double start, every;  // rows of the run that is judged [s]
  size_t room;
} keeper;

static yoke_status lay(keeper* k, size_t n_rows) {
  const size_t n = k->system->n_y + 1;
  yoke_arena* arena = &k->to->arena;
  k->room = n_rows;
  k->to->columns = yoke__arena_array(arena, n, sizeof *k->to->columns);
  if (k->to->columns == NULL) {
    return YOKE_NO_MEMORY;
  }
  k->to->n_columns = n;
  for (size_t i = 0; i < n; i++) {
    char name[1024] = "time";
    if (i > 0) {
      yoke__study_output_name(k->system, i - 1, name, sizeof name);
    }
    k->to->columns[i].name = yoke__arena_text(arena, name, strlen(name));
    k->to->columns[i].values = yoke__arena_array(arena, n_rows, sizeof(double));
    if (k->to->columns[i].name == NULL || k->to->columns[i].values == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  return YOKE_OK;
}

static void keep(keeper* k, const yoke_state* state) {
  const double row = (state->t - k->start) / k->every;
  if (fabs(row - floor(row + 0.5)) > 1e-6 || k->to->n_rows == k->room) {
    return;
  }
  const size_t at = k->to->n_rows++;
  k->to->columns[0].values[at] = state->t;
  for (size_t i = 1; i < k->to->n_columns; i++) {
    k->to->columns[i].values[at] = state->y[i - 1];
  }
}

yoke_status yoke__study_reference(const yoke_system* judged, yoke_system* system, yoke_state* state,
                                  bool is_run, const atomic_bool* is_cancelled, yoke_csv* out) {
  keeper k = {.system = system, .to = out, .start = judged->t_start};
  const double rows = (double)judged->n_slots / (double)judged->record_every;
  k.every = (judged->t_stop - judged->t_start) / fmax(rows, 1e-9);
  YOKE_TRY(lay(&k, (size_t)rows + 2));
  keep(&k, state);
  while (is_run && state->n_slots < system->n_slots && state->t < judged->t_stop) {
    if (atomic_load_explicit(is_cancelled, memory_order_relaxed)) {
      return YOKE_INTERRUPTED;
    }
    const yoke_status status = yoke__master_step(system, state);
    YOKE_TRY(status);
    keep(&k, state);
    if (status == YOKE_ENDED || status == YOKE_STOPPED) {
      break;
    }
  }
  return YOKE_OK;
}
