// What is said of an iterative scheme: its settings, what it needed, and whether it changed anything.
#include <stdio.h>

#include "api/api.h"
#include "api/api_describe.h"
#include "base/base_message.h"

static const char* const mode_words[] = {
    [YOKE_ITERATE_MEAN] = "mean",
    [YOKE_ITERATE_INTERPOLATE] = "interpolate",
    [YOKE_ITERATE_HOLD_END] = "hold-end",
};
static const char* const update_words[] = {
    [YOKE_UPDATE_FIXED_POINT] = "fixed-point",
    [YOKE_UPDATE_RELAXATION] = "relaxation",
    [YOKE_UPDATE_AITKEN] = "aitken",
    [YOKE_UPDATE_QUASI_NEWTON] = "quasi-newton",
};

void yoke__describe_iteration(const yoke_system* system, yoke_json* json) {
  const yoke_scenario_iteration* settings = &system->scenario->iteration;
  if (!yoke__system_is_iterative(system)) {
    return;
  }
  yoke__json_begin_object(json, "iteration");
  yoke__json_string(json, "mode", mode_words[settings->mode]);
  yoke__json_string(json, "update", update_words[settings->update]);
  yoke__json_number(json, "tolerance", settings->tolerance);
  yoke__json_integer(json, "max", settings->max);
  yoke__json_boolean(json, "idle", yoke__system_is_iteration_idle(system));
  yoke__json_end_object(json);
}

// Why no input changed.
static void write_reason(const yoke_system* system, const yoke_iteration_info* info, char to[],
                         size_t size) {
  if (yoke__system_is_iteration_idle(system)) {
    snprintf(to, size,
             "every unit is called once per exchange, with its inputs at the start of the call; "
             "iteration: {mode: mean} changes them");
  } else {
    snprintf(to, size, "they stayed within the tolerance in %.3g %% of the steps",
             100 * (double)info->n_unchanged / (double)info->n_steps);
  }
}

void yoke__api_iteration_json(const yoke_system* system, const yoke_iteration_info* info,
                              yoke_json* json) {
  if (info->n_steps == 0) {
    return;
  }
  yoke__json_begin_object(json, "iteration");
  yoke__json_number(json, "mean", (double)info->n_iterations / (double)info->n_steps);
  yoke__json_integer(json, "max", info->most);
  yoke__json_integer(json, "steps_not_converged", info->n_not_converged);
  yoke__json_boolean(json, "effective", yoke__iteration_is_effective(info));
  if (!yoke__iteration_is_effective(info)) {
    char reason[256];
    write_reason(system, info, reason, sizeof reason);
    yoke__json_string(json, "not_effective_because", reason);
  }
  yoke__json_end_object(json);
}

void yoke__api_report_iteration(yoke_simulation* simulation) {
  const yoke_iteration_info* info = &simulation->loop.iteration;
  char reason[256];
  if (info->n_steps == 0 || yoke__iteration_is_effective(info)) {
    return;
  }
  write_reason(simulation->system, info, reason, sizeof reason);
  yoke__notify(&simulation->sink, YOKE_WARNING,
               "iteration: the inputs did not change: the result is that of scheme: jacobi (%s)",
               reason);
}
