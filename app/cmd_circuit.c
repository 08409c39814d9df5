// yoke circuit: a netlist on its own, from its `.tran` or from --step and --stop.
//
// The netlist becomes a system of one unit that runs as every system does;
// options become settings of that system, and columns lose the unit's name: v(out), i(l1). Messages
// name the option, not the setting, and the netlist, not the unit.
#include <string.h>

#include "app/app_run.h"
#include "base/base_number.h"
#include "base/base_path.h"

#define MAX_SETS  256
#define SET_SIZE  512
#define UNIT_SIZE 128

typedef struct sets {
  yoke_arena arena;
  char unit[UNIT_SIZE];
  const char* all[MAX_SETS];
  yoke_app_words words;
  struct yoke_app_word options[MAX_SETS];
  size_t n;
  double stop;  // 0: that of .tran
} sets;

// ---- options to settings

// units.UNIT.SECTION.NAME=VALUE; the user wrote "--" or "--set " in front of the name
static bool add(sets* s, const char* section, const char* dashes, const char* name, size_t n_name,
                const char* value) {
  char path[UNIT_SIZE + 16], text[SET_SIZE];
  if (s->n == MAX_SETS) {
    yoke__app_error("circuit", "more than %d settings", MAX_SETS);
    return false;
  }
  snprintf(path, sizeof path, "units.%s.%s", s->unit, section);
  if (snprintf(text, sizeof text, "%.*s=%s", (int)n_name, name, value) >= SET_SIZE) {
    yoke__app_error("circuit", "a setting is longer than %d characters", SET_SIZE - 1);
    return false;
  }
  s->all[s->n] = yoke__app_set(&s->words, &s->arena, path, dashes, text);
  if (s->all[s->n++] == NULL) {
    return yoke__app_no_memory("circuit");
  }
  return true;
}

static bool add_solver(sets* s, const char* name, const char* value) {
  return add(s, "solver", "--", name, strlen(name), value);
}

// A time above 0, as in a netlist (10u) or as elsewhere (1e-5); 0: not given. False after a message.
static bool read_time(const yoke_options* options, const char* name, double* to) {
  const char* value = yoke__options_value(options, name);
  *to = 0;
  if (value == NULL) {
    return true;
  }
  if (!yoke__number_parse_suffix(value, to) || !(*to > 0) || *to > 1e300) {
    yoke__app_error("circuit", "--%s: expected a time above 0 in seconds, found '%.80s'", name,
                    value);
    return false;
  }
  return true;
}

static bool add_times(const yoke_options* options, sets* s) {
  double step = 0;
  char text[YOKE_NUMBER_SIZE];
  int64_t iterations = 0;
  if (!read_time(options, "step", &step) || !read_time(options, "stop", &s->stop) ||
      !yoke__options_integer(options, "iterations", 1, 1000, &iterations)) {
    return false;
  }
  yoke__number_format(step, text);
  return (step <= 0 || add_solver(s, "step", text)) &&
         (iterations == 0 ||
          add_solver(s, "iterations", yoke__options_value(options, "iterations")));
}

// method and formulation: one of them, not several
static bool add_choice(const yoke_options* options, const char* name, sets* s) {
  const char* value = yoke__options_value(options, name);
  uint32_t bits = 0;
  if (value == NULL) {
    return true;
  }
  if (!yoke__options_choices(options, name, &bits)) {
    return false;
  }
  if ((bits & (bits - 1)) != 0) {
    yoke__app_error("circuit", "--%s: expected one, found '%.80s'", name, value);
    return false;
  }
  return add_solver(s, name, value);
}

// name=value of a parameter of the netlist
static bool add_parameter(const char* text, sets* s) {
  const char* equals = strchr(text, '=');
  double number = 0;
  char value[YOKE_NUMBER_SIZE];
  if (equals == NULL || equals == text) {
    yoke__app_error("circuit", "--set: expected NAME=VALUE, found '%.80s'", text);
    return false;
  }
  if (!yoke__number_parse_suffix(equals + 1, &number)) {
    yoke__app_error("circuit", "--set %.*s: expected a number, found '%.80s'", (int)(equals - text),
                    text, equals + 1);
    return false;
  }
  yoke__number_format(number, value);
  return add(s, "with", "--set ", text, (size_t)(equals - text), value);
}

static bool collect(const yoke_options* options, sets* s) {
  size_t n = 0;
  yoke__path_unit_name(options->operands[0], "circuit", s->unit, sizeof s->unit);
  if (!add_choice(options, "method", s) || !add_choice(options, "formulation", s) ||
      !add_times(options, s)) {
    return false;
  }
  const char* const* given = yoke__options_values(options, "set", &n);
  for (size_t i = 0; i < n; i++) {
    if (!add_parameter(given[i], s)) {
      return false;
    }
  }
  return true;
}

// ---- the system

static int run(const yoke_options* options, const sets* s) {
  char place[4096];
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    yoke__app_error("circuit", "--out: expected the name of a folder, found nothing");
    return YOKE_EXIT_USAGE;
  }
  yoke__app_results_directory(options->operands[0], place, sizeof place);
  const yoke_load_settings settings = {
      .sets = s->all, .n_sets = s->n, .netlist_stop = s->stop, .has_short_names = true};
  yoke_messages said = {0};
  yoke_system* system = yoke__app_load_with(options, &settings, &s->words,
                                            yoke__options_has(options, "strict"), &said);
  const int status =
      yoke__app_run(system, options, out == NULL ? place : out, &s->words, &said, NULL, 0);
  yoke_system_destroy(&system);
  yoke__messages_free(&said);
  return status;
}

int yoke_cmd_circuit(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_circuit, argc, argv, &options, &status)) {
    return status;
  }
  sets s = {.words.only_unit = options.operands[0]};
  s.words.options = s.options;
  status = collect(&options, &s) ? run(&options, &s) : YOKE_EXIT_USAGE;
  yoke__arena_free(&s.arena);
  yoke__options_free(&options);
  return status;
}
