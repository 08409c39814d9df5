// yoke export: a native model, a netlist, or a unit of a system, as an FMU (here); a whole system as SSP
// (app_export_ssp.c); a linear circuit as C (app_export_c.c).
//
//   MODEL    -> a system of one unit, with the values of --with
//   SYSTEM   -> the unit that --unit names, alone
//   then     -> the unit is made as a run would make it, with the same messages, and handed to src/export
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_export_c.h"
#include "app/app_export_ssp.h"
#include "app/app_system.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "circuit/circuit_netlist.h"
#include "export/export_fmu.h"
#include "scenario/scenario_circuit.h"
#include "unit/circuit/unit_circuit.h"

#define COMMAND  "export"
#define MAX_NAME 200

// What the command line asks for, and what has been made of it.
typedef struct exporting {
  const yoke_options* options;
  yoke_arena arena;
  yoke_messages messages;
  const yoke_unit_ops* model;  // NULL: the operand is a system file
  const char* what;            // the operand
  char unit_name[MAX_NAME];    // in the system
  yoke_app_words words;        // --with and --step, not the settings that they become
  double step;                 // --step [s]; 0: not given
  yoke_system* system;         // one unit
  yoke_export_job job;
} exporting;

static int report_memory(void) {
  yoke__app_error(COMMAND, "out of memory");
  return YOKE_EXIT_FAILED;
}

// ---- the unit alone

// --set, then --with k=v and --step as changes of the system file; *n of them. section NULL: --set alone. NULL: out of
// memory.
static const char** make_sets(exporting* e, const char* section, const char* part, size_t* n) {
  size_t n_with = 0;
  const char* const* set = yoke__options_values(e->options, "set", n);
  const size_t room = *n + e->options->n_given + 2;
  const char** sets = yoke__arena_array(&e->arena, room, sizeof *sets);
  e->words.options = yoke__arena_array(&e->arena, room, sizeof *e->words.options);
  if (sets == NULL || e->words.options == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < *n; i++) {
    sets[i] = set[i];
  }
  if (section == NULL) {
    return sets;
  }
  bool is_kept = true;
  char path[2 * MAX_NAME];
  snprintf(path, sizeof path, "%s.%s.%s", section, e->unit_name, part);
  const char* const* with = yoke__options_values(e->options, "with", &n_with);
  for (size_t i = 0; i < n_with; i++) {
    sets[*n] = yoke__app_set(&e->words, &e->arena, path, "--with ", with[i]);
    is_kept = is_kept && sets[(*n)++] != NULL;
  }
  if (e->step > 0) {
    char digits[YOKE_NUMBER_SIZE], text[YOKE_NUMBER_SIZE + 8];
    yoke__number_format(e->step, digits);
    snprintf(text, sizeof text, "step=%s", digits);
    snprintf(path, sizeof path, "%s.%s.solver", section, e->unit_name);
    sets[*n] = yoke__app_set(&e->words, &e->arena, path, "--", text);
    is_kept = is_kept && sets[(*n)++] != NULL;
  }
  return is_kept ? sets : NULL;
}

static yoke_status read_model(exporting* e, yoke_scenario** scenario) {
  char text[2 * MAX_NAME + 100];
  yoke__export_identifier(e->model->name, e->unit_name, sizeof e->unit_name);
  const int n = snprintf(text, sizeof text,
                         "yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n  %s: {model: %s}\n",
                         e->unit_name, e->model->name);
  size_t n_sets = 0;
  const char** sets = make_sets(e, "units", "values", &n_sets);
  return sets == NULL ? YOKE_NO_MEMORY
                      : yoke__scenario_read(text, (size_t)n, e->model->name, sets, n_sets,
                                            &e->messages, scenario);
}

static const yoke_scenario_unit* find_unit(const exporting* e, const yoke_scenario* scenario) {
  const char* name = yoke__options_value(e->options, "unit");
  if (name == NULL && scenario->n_units == 1) {
    return &scenario->units[0];
  }
  const char** names = calloc(scenario->n_units + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < scenario->n_units; i++) {
    names[i] = scenario->units[i].name;
    if (name != NULL && strcmp(name, names[i]) == 0) {
      free((void*)names);
      return &scenario->units[i];
    }
  }
  if (name == NULL) {
    yoke__app_error(COMMAND, "%s has %zu unit%s; name one with --unit", e->what, scenario->n_units,
                    yoke__plural(scenario->n_units));
  } else if (names != NULL) {
    char hint[YOKE_HINT_SIZE];
    yoke__app_error(COMMAND, "%s has no unit '%s'%s", e->what, name,
                    yoke__app_hint(name, names, scenario->n_units, "", hint));
  }
  free((void*)names);
  return NULL;
}

static yoke_status read_file(exporting* e, const char* section, yoke_scenario** scenario) {
  size_t n_sets = 0;
  const char** sets = make_sets(e, section, "with", &n_sets);
  return sets == NULL ? YOKE_NO_MEMORY
                      : yoke__scenario_read_file(e->what, sets, n_sets, &e->messages, scenario);
}

// Messages name the places of a system file. Of a model there is none.
static void reword(exporting* e) {
  for (size_t i = 0; i < e->messages.n; i++) {
    yoke_message* m = &e->messages.all[i];
    yoke__app_reword(&e->words, m);
    if (e->model != NULL) {
      m->line = m->column = 0;
    }
  }
}

// The file once to find the unit, and again if --with or --step changes it.
static yoke_status read_system(exporting* e, yoke_scenario** scenario) {
  YOKE_TRY(read_file(e, NULL, scenario));
  const yoke_scenario_unit* unit = find_unit(e, *scenario);
  if (unit == NULL || strlen(unit->name) >= MAX_NAME) {
    yoke__scenario_free(scenario);
    return YOKE_BAD_ARG;
  }
  snprintf(e->unit_name, sizeof e->unit_name, "%s", unit->name);
  if (e->step > 0 && unit->kind != YOKE_KIND_CIRCUIT) {
    yoke__app_error(COMMAND, "--step with --fmi is that of a circuit's solver; '%s' is none",
                    unit->name);
    yoke__scenario_free(scenario);
    return YOKE_BAD_ARG;
  }
  if (!yoke__options_has(e->options, "with") && !(e->step > 0)) {
    return YOKE_OK;
  }
  const char* section = unit->is_law ? "laws" : "units";
  yoke__scenario_free(scenario);
  yoke__messages_free(&e->messages);
  return read_file(e, section, scenario);
}

// A system of nothing but this unit, in this process, made but not wired. Takes the scenario over.
static yoke_status make_system(exporting* e, yoke_scenario* scenario) {
  yoke_scenario_unit* alone = yoke__arena_take(&scenario->arena, sizeof *alone);
  e->system = alone == NULL ? NULL : calloc(1, sizeof *e->system);
  if (e->system == NULL) {
    yoke__scenario_free(&scenario);
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < scenario->n_units; i++) {
    if (strcmp(scenario->units[i].name, e->unit_name) == 0) {
      *alone = scenario->units[i];
    }
  }
  alone->isolation.is_given = false;
  scenario->units = alone;
  scenario->n_units = 1;
  e->system->scenario = scenario;
  e->system->messages = &e->messages;
  if (alone->kind == YOKE_KIND_FMU) {
    yoke__error(&e->messages, alone->type_place, "unit '%s' is an FMU already", alone->name);
    return YOKE_BAD_INPUT;
  }
  const yoke_status status = yoke__system_make_units(e->system);
  return status >= 0 && e->messages.n_errors > 0 ? YOKE_BAD_INPUT : status;
}

static bool has_tran(const char* path) {
  yoke_messages ignored = {0};
  yoke_network* network = NULL;
  const yoke_netlist_settings settings = {.path = path};
  const bool has =
      yoke__netlist_read_file(&settings, &ignored, &network) >= 0 && network->run.has_tran;
  yoke__network_destroy(&network);
  yoke__messages_free(&ignored);
  return has;
}

// Notes on what a run of the netlist would do are of no use here; what the FMU will do is said instead.
static void note_times(exporting* e, bool is_made) {
  yoke_unit_circuit_figures f;
  if (!yoke__scenario_is_circuit(e->what)) {
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
  if (!has_tran(e->what)) {
    yoke__message_add(&e->messages, YOKE_NOTE, place,
                      "no .tran: the FMU proposes to be run to %.9g s in steps of %.9g s; its "
                      "solver's step is %.9g s, and --step gives another",
                      e->job.stop, e->job.step, f.step);
  } else if (e->step > 0 && f.step < e->step * (1 - 1e-9)) {
    yoke__message_add(&e->messages, YOKE_NOTE, place,
                      "the step %.9g s does not divide the step of %.9g s that the FMU proposes: "
                      "%.9g s is taken",
                      e->step, e->job.step, f.step);
  }
}

// ---- the file

static yoke_status fill_job(exporting* e) {
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
  if (unit->source->kind == YOKE_KIND_CIRCUIT) {
    YOKE_TRY(yoke__export_starts(unit->source, job->ops, &e->arena, &e->messages, &job->starts,
                                 &job->n_starts));
  }
  return yoke__export_arguments(unit->source, job->ops, &e->arena, &e->messages, &job->arguments,
                                &job->n_arguments);
}

static void print_done(const exporting* e, const char* path) {
  static const char* const words[] = {"input", "output", "parameter", "tunable parameter", "state"};
  size_t counts[YOKE_COUNT(words)] = {0};
  const yoke_unit* unit = e->job.unit;
  const yoke_unit_info* info = unit->info;
  const bool is_netlist = e->system->units[0].source->kind == YOKE_KIND_CIRCUIT;
  for (size_t i = 0; i < info->n_variables; i++) {
    counts[info->variables[i].causality]++;
  }
  // of a netlist every voltage and current can be read, but only what stores energy is a state
  const size_t n_readable = is_netlist ? counts[YOKE_STATE] : 0;
  yoke_unit_circuit_figures figures;
  if (is_netlist && yoke__unit_circuit_figures(unit->ops, unit->self, &figures)) {
    counts[YOKE_STATE] = figures.p;
  }
  // those of a netlist shape it here and are parameters there, if they are plain numbers
  for (size_t i = 0; is_netlist && i < e->job.ops->n_structure; i++) {
    counts[YOKE_PARAMETER] += isnan(e->job.ops->structure[i].start) ? 0 : 1;
  }
  printf("%s: FMI %d.0 co-simulation", path, e->job.fmi);
  for (size_t i = 0; i < YOKE_COUNT(words); i++) {
    if (counts[i] > 0) {
      printf(", %zu %s%s", counts[i], words[i], yoke__plural(counts[i]));
    }
  }
  if (n_readable > 0) {
    printf(", %zu more variable%s to read", n_readable, yoke__plural(n_readable));
  }
  printf("%s\n", e->job.sources == NULL ? ", no sources" : "");
}

static int write_fmu(exporting* e) {
  const char* path = yoke__options_value(e->options, "out");
  char own[MAX_NAME + 8];
  if (path == NULL) {
    snprintf(own, sizeof own, "%.*s.fmu", MAX_NAME, e->job.name);
    path = own;
  }
  yoke_status status = yoke__export_find_runtime(getenv("YOKE_FMU_RUNTIME"), &e->arena,
                                                 &e->job.runtime, &e->job.sources, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    return YOKE_EXIT_FAILED;
  }
  yoke_context context;
  status = yoke__export_fmu(&e->job, path, yoke__app_sink_at(&context, e->job.name));
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    const bool is_input =
        status == YOKE_BAD_INPUT || status == YOKE_NO_SUPPORT || status == YOKE_BAD_ARG;
    return is_input ? YOKE_EXIT_USAGE : YOKE_EXIT_FAILED;
  }
  print_done(e, path);
  return YOKE_EXIT_OK;
}

// ---- the command

static bool read_step(const yoke_options* options, double* step) {
  const char* text = yoke__options_value(options, "step");
  if (text != NULL && (!yoke__number_parse_suffix(text, step) || !(*step > 0) || *step > 1e300)) {
    yoke__app_error(COMMAND, "--step %.80s: expected a number of seconds above 0", text);
    return false;
  }
  return true;
}

static int export_fmu(const yoke_options* options, const char* fmi) {
  exporting e = {.options = options, .what = options->operands[0]};
  e.job.fmi = strcmp(fmi, "2") == 0 ? 2 : 3;
  e.model = yoke__models_find(NULL, e.what);
  e.words.only_unit =
      e.model != NULL || yoke__scenario_is_circuit(e.what) ? e.what : NULL;
  const char* alien = yoke__options_has(options, "unit")  ? "--unit"
                      : yoke__options_has(options, "set") ? "--set"
                                                          : NULL;
  if (!read_step(options, &e.step)) {
    return YOKE_EXIT_USAGE;
  }
  if (e.model != NULL && e.step > 0) {
    yoke__app_error(COMMAND, "--step goes with a netlist; '%s' is a model", e.what);
    return YOKE_EXIT_USAGE;
  }
  if (e.model != NULL && alien != NULL) {
    yoke__app_error(COMMAND, "%s goes with a system file; '%s' is a model", alien, e.what);
    return YOKE_EXIT_USAGE;
  }
  yoke_scenario* scenario = NULL;
  yoke_status status = e.model != NULL ? read_model(&e, &scenario) : read_system(&e, &scenario);
  if (status >= 0) {
    status = make_system(&e, scenario);
  }
  if (status >= 0) {
    status = fill_job(&e);
  }
  reword(&e);
  note_times(&e, status >= 0);
  yoke__messages_print(&e.messages, stderr);
  int result = YOKE_EXIT_USAGE;
  if (status >= 0) {
    result = write_fmu(&e);
  } else if (status == YOKE_NO_MEMORY) {
    result = report_memory();
  }
  yoke__system_destroy(&e.system);
  yoke__messages_free(&e.messages);
  yoke__arena_free(&e.arena);
  return result;
}

// Is the operand something that exists? Else a message that says what is near.
static bool is_known(const char* what) {
  if (yoke__models_find(NULL, what) != NULL || yoke__os_is_file(what) ||
      strstr(what, ".ssp#") != NULL) {
    return true;
  }
  const char* nearest = yoke__models_nearest(NULL, what);
  yoke__app_error(COMMAND, "'%s' is neither a model nor a netlist nor a system file%s%s%s", what,
                  nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                  nearest == NULL ? "" : "'?");
  return false;
}

static int export_ssp(const yoke_options* options, const char* fmi) {
  if (yoke__options_has(options, "unit") || yoke__options_has(options, "with")) {
    yoke__app_error(COMMAND, "--unit and --with go with --fmi alone; change the system with --set");
    return YOKE_EXIT_USAGE;
  }
  if (yoke__models_find(NULL, options->operands[0]) != NULL) {
    yoke__app_error(COMMAND, "--ssp goes with a system file; '%s' is a model",
                    options->operands[0]);
    return YOKE_EXIT_USAGE;
  }
  return yoke__app_export_ssp(options, fmi != NULL && strcmp(fmi, "3") == 0 ? 3 : 2);
}

// --with is a name and a value?
static bool is_assigned(const yoke_options* options) {
  size_t n = 0;
  const char* const* with = yoke__options_values(options, "with", &n);
  for (size_t i = 0; i < n; i++) {
    const char* equals = strchr(with[i], '=');
    if (equals == NULL || equals == with[i] || equals[1] == '\0') {
      yoke__app_error(COMMAND, "--with %s: expected NAME=VALUE, for example k=20", with[i]);
      return false;
    }
  }
  return true;
}

static int export_c(const yoke_options* options) {
  static const char* const alien[] = {"fmi", "ssp", "unit", "set"};
  for (size_t i = 0; i < YOKE_COUNT(alien); i++) {
    if (yoke__options_has(options, alien[i])) {
      yoke__app_error(COMMAND, "--c and --%s do not go together", alien[i]);
      return YOKE_EXIT_USAGE;
    }
  }
  if (!yoke__scenario_is_circuit(options->operands[0])) {
    yoke__app_error(COMMAND, "--c goes with a netlist (.cir, .ckt, .net, .sp); '%s' is none",
                    options->operands[0]);
    return YOKE_EXIT_USAGE;
  }
  return yoke__app_export_c(options);
}

// Options of --c without it? A step may go with --fmi.
static bool is_alone(const yoke_options* options) {
  static const char* const names[] = {"reduce", "order", "hold", "float"};
  if (yoke__options_has(options, "step") && yoke__options_has(options, "ssp")) {
    yoke__app_error(COMMAND, "--step goes with --c, or with --fmi of one circuit");
    return false;
  }
  for (size_t i = 0; i < YOKE_COUNT(names); i++) {
    if (yoke__options_has(options, names[i])) {
      yoke__app_error(COMMAND, "--%s goes with --c", names[i]);
      return false;
    }
  }
  return true;
}

static int run(const yoke_options* options) {
  const bool is_c = yoke__options_has(options, "c");
  const char* fmi = yoke__options_value(options, "fmi");
  const bool is_ssp = yoke__options_has(options, "ssp");
  const bool is_version = fmi != NULL && (strcmp(fmi, "2") == 0 || strcmp(fmi, "3") == 0);
  if (!is_version && (fmi != NULL || !(is_ssp || is_c))) {
    yoke__app_error(COMMAND, "expected --fmi 2, --fmi 3, --ssp or --c");
    return YOKE_EXIT_USAGE;
  }
  if (!is_known(options->operands[0]) || !is_assigned(options) || !(is_c || is_alone(options))) {
    return YOKE_EXIT_USAGE;
  }
  if (is_c) {
    return export_c(options);
  }
  return is_ssp ? export_ssp(options, fmi) : export_fmu(options, fmi);
}

int yoke_cmd_export(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (yoke__options_parse(&yoke__command_export, argc, argv, &options, &status)) {
    status = run(&options);
    yoke__options_free(&options);
  }
  return status;
}
