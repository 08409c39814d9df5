// From a file to what is exported: one unit alone (FMU), or all of a loaded system (SSP).
//
//   model, netlist, system file -> description -> the unit that was chosen, alone -> job of export_fmu.h
#include "export/export_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_path.h"
#include "circuit/netlist/circuit_netlist.h"
#include "export/export_fmu.h"
#include "export/export_ssp.h"
#include "export/export_twin_unit.h"
#include "system/system.h"
#include "unit/circuit/unit_circuit.h"
#include "unit/twin/unit_twin.h"

struct yoke_export_unit {
  const char* what;
  const yoke_unit_ops* model;  // NULL: what is a file
  char model_unit[256];        // its name as a unit
  yoke_arena arena;
  yoke_messages messages;
  yoke_scenario* scenario;  // until a unit is made
  yoke_system* system;      // of one unit, made but not wired
  yoke_export_job job;
};

static yoke_status read_file(yoke_export_unit* e, const char* const sets[], size_t n_sets) {
  if (e->model == NULL) {
    return yoke__scenario_read_file(e->what, sets, n_sets, &e->messages, &e->scenario);
  }
  yoke__export_identifier(e->model->name, e->model_unit, sizeof e->model_unit);
  return yoke__scenario_read_model(e->model->name, e->model_unit, sets, n_sets, &e->messages,
                                   &e->scenario);
}

yoke_status yoke__export_unit_open(const char* what, const yoke_unit_ops* model,
                                   const char* const sets[], size_t n_sets,
                                   yoke_export_unit** out) {
  yoke_export_unit* e = *out = calloc(1, sizeof *e);
  YOKE_TRY_MEMORY(e);
  e->what = what;
  e->model = model;
  return read_file(e, sets, n_sets);
}

void yoke__export_unit_close(yoke_export_unit** unit) {
  yoke_export_unit* e = unit == NULL ? NULL : *unit;
  if (e != NULL) {
    yoke__scenario_free(&e->scenario);
    yoke__system_destroy(&e->system);
    yoke__messages_free(&e->messages);
    yoke__arena_free(&e->arena);
    free(e);
    *unit = NULL;
  }
}

yoke_messages* yoke__export_unit_messages(yoke_export_unit* unit) {
  return &unit->messages;
}

bool yoke__export_unit_get(const yoke_export_unit* unit, size_t i, yoke_unit_view* out) {
  if (unit->scenario == NULL || i >= unit->scenario->n_units) {
    return false;
  }
  const yoke_scenario_unit* source = &unit->scenario->units[i];
  *out = (yoke_unit_view){.name = source->name, .kind = source->kind, .is_law = source->is_law};
  return true;
}

// A port is no model: what is at its other end stays there.
static yoke_status refuse_port(const yoke_scenario_unit* unit, yoke_messages* messages) {
  if (!unit->port.is_given) {
    return YOKE_OK;
  }
  yoke__error(
      messages, unit->port.place,
      "unit '%s' is at the other end of a port, which cannot be exported; with `port: none` "
      "the model that plays it can",
      unit->name);
  return YOKE_NO_SUPPORT;
}

// ---- the unit alone

// A system of nothing but this unit, in this process, made but not wired.
static yoke_status make_system(yoke_export_unit* e, const char* name) {
  yoke_scenario* scenario = e->scenario;
  yoke_scenario_unit* alone = yoke__arena_take(&scenario->arena, sizeof *alone);
  e->system = alone == NULL ? NULL : calloc(1, sizeof *e->system);
  YOKE_TRY_MEMORY(e->system);
  for (size_t i = 0; i < scenario->n_units; i++) {
    if (strcmp(scenario->units[i].name, name) == 0) {
      *alone = scenario->units[i];
    }
  }
  alone->isolation.is_given = false;
  scenario->units = alone;
  scenario->n_units = 1;
  e->system->scenario = scenario;
  e->scenario = NULL;
  e->system->messages = &e->messages;
  if (refuse_port(alone, &e->messages) < 0) {
    return YOKE_BAD_INPUT;
  }
  if (alone->kind == YOKE_KIND_FMU) {
    yoke__error(&e->messages, alone->type_place, "unit '%s' is an FMU already", alone->name);
    return YOKE_BAD_INPUT;
  }
  if (alone->kind == YOKE_KIND_TWIN &&
      (alone->twin.box != YOKE_KIND_NONE || !yoke__path_is_netlist(alone->type))) {
    yoke__error(
        &e->messages, alone->type_place,
        "unit '%s' is the twin of '%.80s', which cannot be exported: only twins of netlists "
        "can",
        alone->name, alone->type);
    return YOKE_BAD_INPUT;
  }
  const yoke_status status = yoke__system_make_units(e->system);
  return status >= 0 && e->messages.n_errors > 0 ? YOKE_BAD_INPUT : status;
}

static yoke_status fill_job(yoke_export_unit* e) {
  const yoke_system_unit* unit = &e->system->units[0];
  const yoke_scenario* scenario = e->system->scenario;
  yoke_export_job* job = &e->job;
  job->name = e->model != NULL ? e->model->name : unit->name;
  job->ops = unit->unit.ops;
  job->unit = &unit->unit;
  job->directory = scenario->directory;
  if (e->model == NULL) {
    job->has_experiment = true;
    job->start = scenario->start.value;
    job->stop = scenario->stop.value;
    job->step = unit->source->step.is_given ? unit->source->step.value : scenario->step.value;
  }
  if (unit->source->kind == YOKE_KIND_CIRCUIT || unit->source->kind == YOKE_KIND_TWIN) {
    YOKE_TRY(yoke__export_starts(unit->source, job->ops, &e->arena, &e->messages, &job->starts,
                                 &job->n_starts));
  }
  YOKE_TRY(yoke__export_library(unit->source, &e->arena, job));
  return yoke__export_arguments(unit->source, job->ops, &e->arena, &e->messages, &job->arguments,
                                &job->n_arguments);
}

// Notes on what a run of the netlist would do are of no use here; what the FMU will do is said instead.
static void note_times(yoke_export_unit* e, bool is_made, double step) {
  yoke_unit_circuit_figures f;
  if (e->model != NULL || !yoke__path_is_netlist(e->what)) {
    return;
  }
  size_t n = 0;
  for (size_t i = 0; i < e->messages.n; i++) {
    const yoke_message* m = &e->messages.all[i];
    if (m->severity != YOKE_NOTE || m->line > 0) {
      e->messages.all[n++] = *m;
    }
  }
  e->messages.n = n;
  const yoke_unit* unit = is_made ? &e->system->units[0].unit : NULL;
  if (unit == NULL || !yoke__unit_circuit_figures(unit->ops, unit->self, &f)) {
    return;
  }
  const yoke_place place = {e->what, 0, 0};
  if (!e->system->scenario->netlist->network->run.has_tran) {
    yoke__message_add(&e->messages, YOKE_NOTE, place,
                      "no .tran: the FMU proposes to be run to %.9g s in steps of %.9g s; its "
                      "solver's step is %.9g s, and --step gives another",
                      e->job.stop, e->job.step, f.step);
  } else if (step > 0 && f.step < step * (1 - 1e-9)) {
    yoke__message_add(
        &e->messages, YOKE_NOTE, place,
        "the step %.9g s does not divide the step of %.9g s that the FMU proposes: %.9g s is used",
        step, e->job.step, f.step);
  }
}

yoke_status yoke__export_unit_make(yoke_export_unit* unit, const char* name,
                                   const char* const sets[], size_t n_sets, double step) {
  yoke_status status = YOKE_OK;
  char* kept = yoke__arena_text(&unit->arena, name, strlen(name));
  YOKE_TRY_MEMORY(kept);
  if (sets != NULL) {
    yoke__scenario_free(&unit->scenario);
    yoke__messages_free(&unit->messages);
    status = read_file(unit, sets, n_sets);
  }
  if (status >= 0) {
    status = make_system(unit, kept);
  }
  if (status >= 0) {
    status = fill_job(unit);
  }
  note_times(unit, status >= 0, step);
  return status;
}

const char* yoke__export_unit_model(const yoke_export_unit* unit) {
  return unit->job.name;
}

static void count_variables(const yoke_export_unit* e, yoke_export_counts* counts) {
  const yoke_unit* unit = e->job.unit;
  const yoke_unit_info* info = unit->info;
  const yoke_unit_kind kind = e->system->units[0].source->kind;
  const bool is_netlist = kind == YOKE_KIND_CIRCUIT || kind == YOKE_KIND_TWIN;
  *counts = (yoke_export_counts){.name = e->job.name, .has_sources = e->job.sources != NULL};
  for (size_t i = 0; i < info->n_variables; i++) {
    counts->causality[info->variables[i].causality]++;
  }
  // of a netlist every voltage and current can be read, but only what stores energy is a state
  counts->n_readable = is_netlist ? counts->causality[YOKE_STATE] : 0;
  yoke_unit_circuit_figures figures;
  if (is_netlist && yoke__unit_circuit_figures(unit->ops, unit->self, &figures)) {
    counts->causality[YOKE_STATE] = figures.p;
  }
  yoke_unit_twin_figures twin;
  if (is_netlist && yoke__unit_twin_figures(unit->ops, unit->self, &twin)) {
    counts->causality[YOKE_STATE] = twin.p;
  }
  // those of a netlist shape it here and are parameters there, if they are plain numbers
  for (size_t i = 0; is_netlist && i < e->job.ops->n_structure; i++) {
    counts->causality[YOKE_PARAMETER] += isnan(e->job.ops->structure[i].start) ? 0 : 1;
  }
}

void yoke__export_unit_offer_events(yoke_export_unit* unit) {
  unit->job.has_event_mode = true;
}

yoke_status yoke__export_unit_write(yoke_export_unit* unit, int fmi, const char* path,
                                    yoke_export_counts* counts, const yoke_sink* sink) {
  yoke_context about;
  unit->job.fmi = fmi;
  YOKE_TRY(yoke__export_find_runtime(getenv("YOKE_FMU_RUNTIME"), &unit->arena, &unit->job.runtime,
                                     &unit->job.sources, sink));
  yoke__context_init(&about, sink, (yoke_place){unit->job.name, 0, 0}, NULL, (double)NAN);
  YOKE_TRY(yoke__export_fmu(&unit->job, path, &about.sink));
  count_variables(unit, counts);
  return YOKE_OK;
}

yoke_status yoke__export_unit_write_c(yoke_export_unit* unit, const char* directory,
                                      const char* settings, yoke_export_c_counts* counts,
                                      const yoke_sink* sink) {
  const char* slash = strrchr(unit->what, '/');
  const yoke_sink list = yoke__messages_sink(&unit->messages);
  yoke_export_twin_job job = {.name = unit->job.name,
                              .source = slash == NULL ? unit->what : slash + 1,
                              .settings = settings};
  yoke_export_twin_model model = {0};
  yoke_status status = yoke__export_twin_of_unit(&unit->job, &unit->arena, &unit->messages, &job);
  if (status >= 0) {
    status = yoke__export_twin_make(&job, &model, &list);
  }
  if (status >= 0) {
    status = yoke__export_twin_write(&job, &model, directory, sink);
    *counts = (yoke_export_c_counts){.n_states = model.c.n,
                                     .n_inputs = model.n_u,
                                     .n_sensors = model.c.setup->n_sensors,
                                     .n_outputs = model.n_outputs,
                                     .n_unknowns = model.c.n_rho,
                                     .flash = model.cost.flash,
                                     .ram = model.cost.ram};
  }
  yoke__export_twin_free(&model);
  return status;
}

// ---- a whole system

yoke_status yoke__export_system(const yoke_system* system, int fmi, const char* path,
                                yoke_messages* messages) {
  for (size_t i = 0; i < system->n_methods; i++) {
    const yoke_system_method* method = &system->methods[i];
    if (method->is_own) {
      yoke__error(messages, method->place,
                  "%s: method '%s' is one of a shared library, which an SSP cannot carry",
                  method->owner, method->ops->name);
      return YOKE_NO_SUPPORT;
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    // laws stay native, beside the FMUs of the units
    const yoke_scenario_unit* source = system->units[i].source;
    YOKE_TRY(refuse_port(source, messages));
    if (source->is_law && source->kind == YOKE_KIND_LIBRARY) {
      yoke__error(messages, source->type_place,
                  "law '%s' is one of a shared library, which an SSP cannot carry", source->name);
      return YOKE_NO_SUPPORT;
    }
  }
  yoke_arena arena = {0};
  const yoke_sink sink = yoke__messages_sink(messages);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const yoke_unit** units = yoke__arena_array(&arena, system->n_units, sizeof *units);
  yoke_export_ssp_job job = {.scenario = system->scenario, .units = units, .fmi = fmi};
  for (size_t i = 0; units != NULL && i < system->n_units; i++) {
    units[i] = &system->units[i].unit;
  }
  yoke_status status = units == NULL ? YOKE_NO_MEMORY
                                     : yoke__export_find_runtime(getenv("YOKE_FMU_RUNTIME"), &arena,
                                                                 &job.runtime, &job.sources, &sink);
  if (status >= 0) {
    status = yoke__export_ssp(&job, path, messages);
  }
  yoke__arena_free(&arena);
  return status;
}
