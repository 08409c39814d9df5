// yoke export: a native model, a netlist, or a unit of a system, as an FMU (here); a whole system as SSP
// (app_export_ssp.c); a linear circuit as C (app_export_c.c).
//
//   MODEL    -> a system of one unit, with the values of --with
//   SYSTEM   -> the unit that --unit names, alone
//   then     -> src/export makes the unit as a run would, with the same messages, and writes it; a linear twin as C too
#include <string.h>

#include "app/app_export_c.h"
#include "app/app_export_ssp.h"
#include "app/app_system.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "base/base_status.h"
#include "export/export_system.h"

#define COMMAND   "export"
#define MAX_NAME  200
#define MAX_UNITS 1024  // names that are looked at for a hint

// What the command line asks for, and what has been made of it.
typedef struct exporting {
  const yoke_options* options;
  yoke_arena arena;
  const yoke_unit_ops* model;  // NULL: the operand is a file
  const char* what;            // the operand
  yoke_app_words words;        // --with and --step, not the settings that they become
  double step;                 // --step [s]; 0: not given
  yoke_unit_view unit;
  yoke_export_unit* made;
} exporting;

// The model of that name, or NULL and its nearest name in `hint` (NULL: not wanted).
static const yoke_unit_ops* find_model(const char* name, char* hint) {
  const char* names[MAX_UNITS];
  const yoke_unit_ops* model = NULL;
  size_t n = 0;
  for (; n < MAX_UNITS && (model = yoke_registry_unit(NULL, n)) != NULL; n++) {
    names[n] = model->name;
    if (strcmp(model->name, name) == 0) {
      return model;
    }
  }
  if (hint != NULL) {
    yoke__app_hint(name, names, n, "", hint);
  }
  return NULL;
}

// ---- the unit alone

// --set, then --with k=v and --step as changes of the system file; *n of them. NULL: out of memory.
static const char** make_sets(exporting* e, const char* part, size_t* n) {
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
  bool is_kept = true;
  char path[2 * MAX_NAME];
  const char* section = e->unit.is_law ? "laws" : "units";
  snprintf(path, sizeof path, "%s.%s.%s", section, e->unit.name, part);
  const char* const* with = yoke__options_values(e->options, "with", &n_with);
  for (size_t i = 0; i < n_with; i++) {
    sets[*n] = yoke__app_set(&e->words, &e->arena, path, "--with ", with[i]);
    is_kept = is_kept && sets[(*n)++] != NULL;
  }
  if (e->step > 0) {
    char digits[YOKE_NUMBER_SIZE], text[YOKE_NUMBER_SIZE + 8];
    yoke__number_format(e->step, digits);
    snprintf(text, sizeof text, "step=%s", digits);
    snprintf(path, sizeof path, "%s.%s.solver", section, e->unit.name);
    sets[*n] = yoke__app_set(&e->words, &e->arena, path, "--", text);
    is_kept = is_kept && sets[(*n)++] != NULL;
  }
  return is_kept ? sets : NULL;
}

// The unit that --unit names, or the only one. False after a message.
static bool find_unit(exporting* e) {
  const char* name = yoke__options_value(e->options, "unit");
  const char* names[MAX_UNITS];
  char hint[YOKE_HINT_SIZE];
  size_t n = 0;
  while (yoke__export_unit_get(e->made, n, &e->unit)) {
    if (name != NULL && strcmp(name, e->unit.name) == 0) {
      return strlen(name) < MAX_NAME;
    }
    names[n < MAX_UNITS ? n : 0] = e->unit.name;
    n++;
  }
  if (name == NULL && n == 1) {
    yoke__export_unit_get(e->made, 0, &e->unit);
    return strlen(e->unit.name) < MAX_NAME;
  }
  if (name == NULL) {
    yoke__app_error(COMMAND, "%s has %zu unit%s; name one with --unit", e->what, n,
                    yoke__plural(n));
  } else {
    yoke__app_error(COMMAND, "%s has no unit '%s'%s", e->what, name,
                    yoke__app_hint(name, names, n < MAX_UNITS ? n : MAX_UNITS, "", hint));
  }
  return false;
}

// The unit, made with what --with and --step say.
static yoke_status make_unit(exporting* e) {
  size_t n_sets = 0;
  const char* const* given = yoke__options_values(e->options, "set", &n_sets);
  YOKE_TRY(yoke__export_unit_open(e->what, e->model, given, n_sets, &e->made));
  if (!find_unit(e)) {
    return YOKE_BAD_ARG;
  }
  if (e->step > 0 && e->unit.kind != YOKE_KIND_CIRCUIT) {
    yoke__app_error(COMMAND, "--step with --fmi is that of a circuit's solver; '%s' is none",
                    e->unit.name);
    return YOKE_BAD_ARG;
  }
  const char** sets = NULL;
  if (yoke__options_has(e->options, "with") || e->step > 0) {
    sets = make_sets(e, e->model != NULL ? "values" : "with", &n_sets);
    YOKE_TRY_MEMORY(sets);
  }
  return yoke__export_unit_make(e->made, e->unit.name, sets, n_sets, e->step);
}

static void print_messages(exporting* e) {
  if (e->made != NULL) {
    yoke_messages* messages = yoke__export_unit_messages(e->made);
    for (size_t i = 0; i < messages->n; i++) {
      yoke__app_reword(&e->words, &messages->all[i]);
    }
    yoke__messages_print(messages, stderr);
  }
}

// ---- the file

static void print_done(const yoke_export_counts* counts, int fmi, const char* path) {
  static const char* const words[] = {"input", "output", "parameter", "tunable parameter", "state"};
  printf("%s: FMI %d.0 co-simulation", path, fmi);
  for (size_t i = 0; i < YOKE_COUNT(words); i++) {
    const size_t n = counts->causality[i];
    if (n > 0) {
      printf(", %zu %s%s", n, words[i], yoke__plural(n));
    }
  }
  if (counts->n_readable > 0) {
    printf(", %zu more variable%s to read", counts->n_readable, yoke__plural(counts->n_readable));
  }
  printf("%s\n", counts->has_sources ? "" : ", no sources");
}

static int write_fmu(exporting* e, int fmi) {
  const char* path = yoke__options_value(e->options, "out");
  char own[MAX_NAME + 8];
  if (path == NULL) {
    snprintf(own, sizeof own, "%.*s.fmu", MAX_NAME, yoke__export_unit_model(e->made));
    path = own;
  }
  if (yoke__options_has(e->options, "event-mode")) {
    yoke__export_unit_offer_events(e->made);
  }
  yoke_export_counts counts;
  const yoke_status status = yoke__export_unit_write(e->made, fmi, path, &counts, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    const bool is_input =
        status == YOKE_BAD_INPUT || status == YOKE_NO_SUPPORT || status == YOKE_BAD_ARG;
    return is_input ? YOKE_EXIT_USAGE : YOKE_EXIT_FAILED;
  }
  print_done(&counts, fmi, path);
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
  e.model = find_model(e.what, NULL);
  e.words.only_unit = e.model != NULL || yoke__path_is_netlist(e.what) ? e.what : NULL;
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
  const yoke_status status = make_unit(&e);
  print_messages(&e);
  int result = YOKE_EXIT_USAGE;
  if (status >= 0) {
    result = write_fmu(&e, strcmp(fmi, "2") == 0 ? 2 : 3);
  } else if (yoke__status_is_shortage(status)) {
    yoke__app_error(COMMAND, "%s", yoke_status_text(status));
    result = YOKE_EXIT_FAILED;
  }
  yoke__export_unit_close(&e.made);
  yoke__arena_free(&e.arena);
  return result;
}

// Is the operand something that exists? Else a message that says what is near.
static bool is_known(const char* what) {
  if (!yoke__path_is_netlist(what) && yoke__path_is_library(what)) {
    yoke__app_error(COMMAND,
                    "'%s' is a shared library: export its unit from a system file that names it, "
                    "with --unit",
                    what);
    return false;
  }
  char hint[YOKE_HINT_SIZE];
  if (find_model(what, hint) != NULL || yoke__os_is_file(what) || strstr(what, ".ssp#") != NULL) {
    return true;
  }
  yoke__app_error(COMMAND, "'%s' is neither a model nor a netlist nor a system file%s", what, hint);
  return false;
}

static int export_ssp(const yoke_options* options, const char* fmi) {
  if (yoke__options_has(options, "unit") || yoke__options_has(options, "with")) {
    yoke__app_error(COMMAND, "--unit and --with go with --fmi alone; change the system with --set");
    return YOKE_EXIT_USAGE;
  }
  if (find_model(options->operands[0], NULL) != NULL) {
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

// ---- a twin as C

static int write_twin(exporting* e) {
  const char* directory = yoke__options_value(e->options, "out");
  directory = directory == NULL ? "." : directory;
  yoke_export_c_counts c = {0};
  const yoke_status status = yoke__export_unit_write_c(e->made, directory, "", &c, &yoke__app_sink);
  print_messages(e);
  if (status < 0) {
    const bool is_input = status == YOKE_BAD_INPUT || status == YOKE_NO_SUPPORT;
    if (!is_input) {
      yoke__app_fail(COMMAND, status);
    }
    return is_input ? YOKE_EXIT_USAGE : YOKE_EXIT_FAILED;
  }
  const char* name = yoke__export_unit_model(e->made);
  printf("%s/%s.c, %s.h: %zu state%s, %zu input%s, %zu sensor%s, %zu output%s, %zu unknown%s, %zu "
         "bytes of constants, %zu bytes per instance\n",
         directory, name, name, c.n_states, yoke__plural(c.n_states), c.n_inputs,
         yoke__plural(c.n_inputs), c.n_sensors, yoke__plural(c.n_sensors), c.n_outputs,
         yoke__plural(c.n_outputs), c.n_unknowns, yoke__plural(c.n_unknowns), c.flash, c.ram);
  return YOKE_EXIT_OK;
}

static int export_twin(const yoke_options* options) {
  static const char* const alien[] = {"step", "reduce", "order", "hold", "float"};
  for (size_t i = 0; i < YOKE_COUNT(alien); i++) {
    if (yoke__options_has(options, alien[i])) {
      yoke__app_error(COMMAND, "--%s goes with a netlist; '%s' is none", alien[i],
                      options->operands[0]);
      return YOKE_EXIT_USAGE;
    }
  }
  exporting e = {.options = options, .what = options->operands[0]};
  const yoke_status status = make_unit(&e);
  int result = YOKE_EXIT_USAGE;
  if (status >= 0) {
    result = write_twin(&e);
  } else {
    print_messages(&e);
    result = yoke__status_is_shortage(status) ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
  }
  yoke__export_unit_close(&e.made);
  yoke__arena_free(&e.arena);
  return result;
}

static int export_c(const yoke_options* options) {
  static const char* const alien[] = {"fmi", "ssp", "unit", "set"};
  const bool is_netlist = yoke__path_is_netlist(options->operands[0]);
  for (size_t i = 0; i < (is_netlist ? YOKE_COUNT(alien) : 2); i++) {
    if (yoke__options_has(options, alien[i])) {
      yoke__app_error(COMMAND, "--c and --%s do not go together", alien[i]);
      return YOKE_EXIT_USAGE;
    }
  }
  if (find_model(options->operands[0], NULL) != NULL) {
    yoke__app_error(COMMAND,
                    "--c goes with a netlist (.cir, .ckt, .net, .sp) or a twin of a system file; "
                    "'%s' is a model",
                    options->operands[0]);
    return YOKE_EXIT_USAGE;
  }
  return is_netlist ? yoke__app_export_c(options) : export_twin(options);
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
  if (yoke__options_has(options, "event-mode") &&
      (is_c || is_ssp || fmi == NULL || strcmp(fmi, "3") != 0)) {
    yoke__app_error(COMMAND, "--event-mode goes with --fmi 3");
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
