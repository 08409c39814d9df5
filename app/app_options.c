// Reads a command line by the table of its command.
#include "app/app_options.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_number.h"

#define MAX_NAMES 64  // options of a command, --help included; choices of an option

bool yoke__app_error(const char* command, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  // one call, so that lines of several processes do not mix
  fprintf(stderr, "yoke%s%s: %s\n", command == NULL ? "" : " ", command == NULL ? "" : command,
          text);
  return false;
}

bool yoke__app_print_json(const char* command, yoke_json* json) {
  const yoke_status status = yoke__json_finish(json);
  if (status < 0) {
    yoke__app_error(command, "%s", yoke_status_text(status));
  } else {
    fwrite(json->text.bytes, 1, json->text.n, stdout);
  }
  yoke__json_free(json);
  return status >= 0;
}

const char* yoke__app_hint(const char* name, const char* const names[], size_t n,
                           const char* dashes, char to[YOKE_HINT_SIZE]) {
  const char* nearest = yoke__nearest_name(name, names, n);
  to[0] = '\0';
  if (nearest != NULL) {
    snprintf(to, YOKE_HINT_SIZE, "; did you mean '%s%.100s'?", dashes, nearest);
  }
  return to;
}

static const yoke_option* find_option(const yoke_command* command, const char* name, size_t n) {
  for (size_t i = 0; i < command->n_options; i++) {
    const char* known = command->options[i].name;
    if (strlen(known) == n && strncmp(known, name, n) == 0) {
      return &command->options[i];
    }
  }
  return NULL;
}

// A key of `time` in the system file.
static bool is_time_key(const char* name) {
  static const char* const keys[] = {"start", "stop", "step"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strcmp(name, keys[i]) == 0) {
      return true;
    }
  }
  return false;
}

// Whether --set changes a setting of a system file.
static bool takes_system(const yoke_command* command) {
  return command->n_operands > 0 && strcmp(command->operands[0].name, "SYSTEM") == 0 &&
         find_option(command, "set", 3) != NULL;
}

// Says what is wrong with an option that is not in the table.
static void report_unknown(const yoke_command* command, const char* text, size_t n) {
  const char* names[MAX_NAMES];
  size_t n_names = 0;
  for (size_t i = 0; i < command->n_options && n_names + 1 < MAX_NAMES; i++) {
    names[n_names++] = command->options[i].name;
  }
  names[n_names++] = "help";

  // one dash instead of two is a frequent slip
  char name[64];
  const size_t dashes = text[1] == '-' ? 2 : 1;
  snprintf(name, sizeof name, "%.*s", (int)(n - dashes > 60 ? 60 : n - dashes), text + dashes);
  char hint[YOKE_HINT_SIZE];
  if (dashes == 1 && find_option(command, name, strlen(name)) != NULL) {
    snprintf(hint, sizeof hint, "; did you mean '--%s'?", name);
  } else {
    yoke__app_hint(name, names, n_names, "--", hint);
  }
  if (takes_system(command) && is_time_key(name)) {
    snprintf(hint, sizeof hint, "; write --set time.%s=VALUE", name);
  }
  if (hint[0] == '\0') {
    snprintf(hint, sizeof hint, "; see 'yoke help %.40s'", command->name);
  }
  yoke__app_error(command->name, "unknown option '%.*s'%s", (int)(n > 80 ? 80 : n), text, hint);
}

// One option at argv[*i]; steps over a value that is an argument of its own.
static bool read_option(yoke_options* to, int argc, char** argv, int* i) {
  const char* text = argv[*i];
  const char* equals = strchr(text, '=');
  const size_t n = equals == NULL ? strlen(text) : (size_t)(equals - text);
  const char* command = to->command->name;
  const yoke_option* option =
      n > 2 && text[1] == '-' ? find_option(to->command, text + 2, n - 2) : NULL;
  // -o is what everybody writes, and -v
  if (n == 2 && (text[1] == 'o' || text[1] == 'v')) {
    const char* name = text[1] == 'o' ? "output" : "verbose";
    option = find_option(to->command, name, strlen(name));
    option = option == NULL && text[1] == 'o' ? find_option(to->command, "out", 3) : option;
  }
  if (option == NULL) {
    report_unknown(to->command, text, n);
    return false;
  }
  const char* value = equals == NULL ? "" : equals + 1;
  if (option->argument == NULL && equals != NULL) {
    return yoke__app_error(command, "option --%s takes no value", option->name);
  }
  if (option->argument != NULL && equals == NULL && !yoke__option_is_optional(option)) {
    // what looks like an option is one; `--out=--x` is still possible
    if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0) {
      return yoke__app_error(command, "option --%s needs a value: --%s %s", option->name,
                             option->name, option->argument);
    }
    value = argv[++*i];
  }
  if (!option->is_repeatable && yoke__options_has(to, option->name)) {
    return yoke__app_error(command, "option --%s is given twice", option->name);
  }
  to->given[to->n_given++] = (yoke_given){option, value};
  return true;
}

static bool has_right_operands(const yoke_options* options) {
  const yoke_command* command = options->command;
  for (size_t i = options->n_operands; i < command->n_operands; i++) {
    if (!command->operands[i].is_optional) {
      return yoke__app_error(command->name, "%s is missing; see 'yoke help %s'",
                             command->operands[i].name, command->name);
    }
  }
  if (options->n_operands > command->n_operands) {
    return yoke__app_error(command->name, "unexpected argument '%.200s'",
                           options->operands[command->n_operands]);
  }
  return true;
}

// Help is wanted wherever it stands, even if the rest is wrong; but not behind "--".
static bool wants_help(int argc, char** argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      return true;
    }
  }
  return false;
}

static bool read_all(yoke_options* options, int argc, char** argv) {
  bool is_end = false;
  for (int i = 1; i < argc; i++) {
    // a lone dash is an operand
    if (is_end || argv[i][0] != '-' || argv[i][1] == '\0') {
      options->operands[options->n_operands++] = argv[i];
    } else if (strcmp(argv[i], "--") == 0) {
      is_end = true;
    } else if (!read_option(options, argc, argv, &i)) {
      return false;
    }
  }
  return has_right_operands(options);
}

bool yoke__options_parse(const yoke_command* command, int argc, char** argv, yoke_options* options,
                         int* status) {
  *options = (yoke_options){.command = command};
  *status = YOKE_EXIT_OK;
  if (wants_help(argc, argv)) {
    yoke__command_help_print(command, stdout);
    return false;
  }

  // no list can be longer than the command line
  const size_t room = (size_t)(argc > 0 ? argc : 0) + 1;
  options->operands = calloc(room, sizeof *options->operands);
  options->given = calloc(room, sizeof *options->given);
  options->values = calloc(room, sizeof *options->values);
  if (options->operands == NULL || options->given == NULL || options->values == NULL) {
    yoke__app_error(command->name, "out of memory");
    *status = YOKE_EXIT_FAILED;
  } else if (!read_all(options, argc, argv)) {
    *status = YOKE_EXIT_USAGE;
  } else {
    return true;
  }
  yoke__options_free(options);
  return false;
}

void yoke__options_free(yoke_options* options) {
  free((void*)options->operands);
  free(options->given);
  free((void*)options->values);
  *options = (yoke_options){0};
}

int yoke__options_run(const yoke_command* command, int argc, char** argv,
                      int (*run)(const yoke_options* options)) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (yoke__options_parse(command, argc, argv, &options, &status)) {
    status = run(&options);
    yoke__options_free(&options);
  }
  return status;
}

const char* yoke__options_value(const yoke_options* options, const char* name) {
  // a name that is not in the table is a mistake of the programmer
  assert(find_option(options->command, name, strlen(name)) != NULL);
  const char* value = NULL;
  for (size_t i = 0; i < options->n_given; i++) {
    if (strcmp(options->given[i].option->name, name) == 0) {
      value = options->given[i].value;
    }
  }
  return value;
}

bool yoke__options_has(const yoke_options* options, const char* name) {
  return yoke__options_value(options, name) != NULL;
}

const char* const* yoke__options_values(const yoke_options* options, const char* name, size_t* n) {
  const yoke_option* option = find_option(options->command, name, strlen(name));
  assert(option != NULL);
  // every option has a part of the room to itself, in the order of the table
  const char** values = options->values;
  *n = 0;
  for (size_t i = 0; i < options->n_given; i++) {
    values += options->given[i].option < option;
  }
  for (size_t i = 0; i < options->n_given; i++) {
    if (options->given[i].option == option) {
      values[(*n)++] = options->given[i].value;
    }
  }
  return values;
}

// One item of a list of choices: its bit.
static bool read_choice(const yoke_options* options, const yoke_option* option, const char* item,
                        size_t length, uint32_t* bits) {
  size_t n = 0;
  for (; option->choices[n] != NULL; n++) {
    if (strlen(option->choices[n]) == length && strncmp(option->choices[n], item, length) == 0) {
      *bits |= (uint32_t)1 << n;
      return true;
    }
  }
  char known[256] = "", name[64], hint[YOKE_HINT_SIZE];
  for (size_t i = 0; i < n; i++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
  }
  snprintf(name, sizeof name, "%.*s", (int)(length > 60 ? 60 : length), item);
  yoke__app_hint(name, option->choices, n, "", hint);
  if (hint[0] == '\0') {
    yoke__app_error(options->command->name, "--%s: unknown '%s'; known: %s", option->name, name,
                    known);
  } else {
    yoke__app_error(options->command->name, "--%s: unknown '%s'%s", option->name, name, hint);
  }
  return false;
}

bool yoke__options_choices(const yoke_options* options, const char* name, uint32_t* bits) {
  *bits = 0;
  for (size_t i = 0; i < options->n_given; i++) {
    const yoke_option* option = options->given[i].option;
    if (strcmp(option->name, name) != 0) {
      continue;
    }
    for (const char* item = options->given[i].value; item != NULL;) {
      const char* comma = strchr(item, ',');
      const size_t length = comma == NULL ? strlen(item) : (size_t)(comma - item);
      if (!read_choice(options, option, item, length, bits)) {
        return false;
      }
      item = comma == NULL ? NULL : comma + 1;
    }
  }
  return true;
}

bool yoke__options_integer(const yoke_options* options, const char* name, int64_t low, int64_t high,
                           int64_t* out) {
  const char* value = yoke__options_value(options, name);
  int64_t number = 0;
  if (value == NULL) {
    return true;
  }
  if (!yoke__number_parse_integer(value, &number) || number < low || number > high) {
    return yoke__app_error(options->command->name,
                           "--%s: expected an integer from %lld to %lld, found '%.80s'", name,
                           (long long)low, (long long)high, value);
  }
  *out = number;
  return true;
}

bool yoke__options_number(const yoke_options* options, const char* name, double low, double* out) {
  const char* text = yoke__options_value(options, name);
  if (text != NULL && (!yoke__number_parse(text, out) || !yoke__is_finite(*out) || *out < low)) {
    return yoke__app_error(options->command->name, "--%s: expected a number%s, found '%.80s'", name,
                           low == 0 ? " from 0 on" : "", text);
  }
  return true;
}
