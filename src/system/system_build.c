// description -> system: the stages of building, and the end of a system.
#include "system/system.h"

#include <math.h>
#include <stdlib.h>

#include "base/base_call.h"
#include "base/base_check.h"

typedef yoke_status (*stage)(yoke_system* system);

static void close_units(void* context, int thread) {
  yoke_system* system = context;
  for (size_t i = 0; i < system->n_units; i++) {
    if (system->units[i].thread == thread) {
      const yoke_call_scope scope =
          yoke__call_begin_at(system->units[i].name, "close", (double)NAN);
      yoke__unit_close(&system->units[i].unit);
      yoke__call_end(&scope);
    }
  }
}

typedef struct reporting {
  yoke_system* system;
  size_t unit;
  const yoke_sink* sink;
} reporting;

static void report_unit(void* context, int thread) {
  reporting* job = context;
  const yoke_system_unit* unit = &job->system->units[job->unit];
  if (unit->thread == thread && unit->unit.self != NULL) {
    yoke_context about;
    yoke__context_init(&about, job->sink, (yoke_place){0}, unit->name, (double)NAN);
    unit->unit.ops->report(unit->unit.self, &about.sink);
  }
}

void yoke__system_report(yoke_system* system, const yoke_sink* sink) {
  reporting job = {.system = system, .sink = sink};
  for (job.unit = 0; job.unit < system->n_units; job.unit++) {
    const yoke_unit_ops* ops = system->units[job.unit].unit.ops;
    if (ops != NULL && ops->report != NULL) {
      yoke__pool_run(system->pool, report_unit, &job);
    }
  }
}

void yoke__system_destroy(yoke_system** handle) {
  yoke_system* system = *handle;
  if (system == NULL) {
    return;
  }
  if (system->pool != NULL && system->units != NULL) {
    yoke__pool_run(system->pool, close_units, system);
  }
  const bool has_lost = yoke__pool_has_lost(system->pool);
  yoke__pool_destroy(&system->pool);
  if (has_lost) {
    *handle = NULL;  // a unit that has not come back still uses it
    return;
  }
  yoke__unit_store_destroy(&system->store);
  if (!system->is_scenario_lent) {
    yoke__scenario_free(&system->scenario);
  }
  yoke__arena_free(&system->arena);
  free(system);
  *handle = NULL;
}

yoke_status yoke__system_build_lent(yoke_scenario* scenario, const yoke_registry* registry,
                                    yoke_messages* messages, yoke_system** out) {
  static const stage stages[] = {
      yoke__system_make_units,   yoke__system_wire,         yoke__system_order,
      yoke__system_weigh_bonds,  yoke__system_schedule,     yoke__system_report_idle,
      yoke__system_lay_ledger,   yoke__system_lay_record,   yoke__system_list_signals,
      yoke__system_list_limits,  yoke__system_check_trust,  yoke__system_lay_safe,
      yoke__system_list_reading, yoke__system_check_layout,
  };
  *out = NULL;
  yoke_system* system = calloc(1, sizeof *system);
  YOKE_TRY_MEMORY(system);
  system->scenario = scenario;
  system->is_scenario_lent = true;
  system->registry = registry;
  system->messages = messages;

  // units and wiring report all they find before anything ends, also in a description with errors; the later stages
  // need a sound system
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < YOKE_COUNT(stages) && status >= 0; i++) {
    status = stages[i](system);
    if (status >= 0 && messages->n_errors > 0 && i >= 1) {
      status = YOKE_BAD_INPUT;
    }
  }
  if (status < 0) {
    status = yoke__messages_status(messages, status);
    if (status != YOKE_BAD_INPUT) {
      yoke__messages_fail(messages, status, (yoke_place){scenario->path, 0, 0}, "%s",
                          yoke_status_text(status));
    }
    yoke__system_destroy(&system);
    return status;
  }
  system->messages = NULL;
  *out = system;
  return YOKE_OK;
}

yoke_status yoke__system_build(yoke_scenario* scenario, const yoke_registry* registry,
                               yoke_messages* messages, yoke_system** out) {
  const yoke_status status = yoke__system_build_lent(scenario, registry, messages, out);
  if (status < 0 || *out == NULL) {
    yoke__scenario_free(&scenario);
    return status;
  }
  (*out)->is_scenario_lent = false;
  return status;
}
