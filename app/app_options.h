// Command lines read by a table. One table per command gives the parser, --help, the man page and
// the completion, so that they cannot disagree.
#ifndef YOKE_APP_OPTIONS_H
#define YOKE_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base_json.h"
#include "yoke/status.h"

// What stands for an argument, for completion.
typedef enum yoke_argument_kind {
  YOKE_ARGUMENT_TEXT,  // nothing to offer
  YOKE_ARGUMENT_FILE,
  YOKE_ARGUMENT_FOLDER,
  YOKE_ARGUMENT_CHOICE,   // one or several of `choices`, with commas between them
  YOKE_ARGUMENT_COMMAND,  // the name of a command
  YOKE_ARGUMENT_MODEL,    // a file, or a built-in model
  YOKE_ARGUMENT_NAME,     // a file, a built-in model or a coupling method
} yoke_argument_kind;

// One option. The table says everything about it.
typedef struct yoke_option {
  const char* name;      // without the dashes
  const char* argument;  // name of its value ("DIR"); NULL: a switch; "[=FACTOR]": may be left out
  bool is_repeatable;
  yoke_argument_kind kind;     // of the value
  const char* const* choices;  // YOKE_ARGUMENT_CHOICE: NULL-terminated
  const char* help;            // sentences; wrapped where printed
} yoke_option;

static inline bool yoke__option_is_optional(const yoke_option* option) {
  return option->argument != NULL && option->argument[0] == '[';
}

// One argument without a name.
typedef struct yoke_operand {
  const char* name;  // "SYSTEM"
  bool is_optional;  // may be missing, like all behind it
  yoke_argument_kind kind;
  const char* help;
} yoke_operand;

typedef struct yoke_example {
  const char* line;  // "yoke run car.yaml"
  const char* help;
} yoke_example;

// One exit status and what it means for this command.
typedef struct yoke_exit {
  int status;
  const char* help;
} yoke_exit;

typedef struct yoke_command {
  const char* name;
  const char* summary;  // half a line, no full stop
  const char* text;     // what it does; paragraphs separated by an empty line
  const yoke_operand* operands;
  size_t n_operands;
  const yoke_option* options;  // without --help, which every command has
  size_t n_options;
  const yoke_exit* exits;
  size_t n_exits;
  const yoke_example* examples;
  size_t n_examples;
  int (*run)(int argc, char** argv);
} yoke_command;

// A value as it was given.
typedef struct yoke_given {
  const yoke_option* option;
  const char* value;  // "" for a switch
} yoke_given;

// A parsed command line. All texts belong to argv.
typedef struct yoke_options {
  const yoke_command* command;
  const char** operands;  // n_operands of them, then NULL
  size_t n_operands;
  yoke_given* given;  // in the order of the command line
  size_t n_given;
  const char** values;  // room for yoke__options_values
} yoke_options;

// Reads argv[1..argc-1] (argv[0] is the command's name). Knows `--name value`, `--name=value`, `--`
// (what follows are operands), `-h` and `--help`. True: go on, and free the options at the end.
// False: the command ends with *status; help went to stdout, or a message to stderr.
bool yoke__options_parse(const yoke_command* command, int argc, char** argv, yoke_options* options,
                         int* status);
void yoke__options_free(yoke_options* options);
// Reads argv and calls run with the options; returns an exit status, as a command does.
int yoke__options_run(const yoke_command* command, int argc, char** argv,
                      int (*run)(const yoke_options* options));

// Whether an option was given; its value, or NULL if it was not (the last one of a repeatable
// option).
bool yoke__options_has(const yoke_options* options, const char* name);
const char* yoke__options_value(const yoke_options* options, const char* name);
// All values of a repeatable option in their order.
const char* const* yoke__options_values(const yoke_options* options, const char* name, size_t* n);

// The choices picked by an option ("csv,mat", repeated or not) as bits in the order of its table; 0
// if it was not given. False: an unknown or empty item; the message is out.
bool yoke__options_choices(const yoke_options* options, const char* name, uint32_t* bits);
// An integer within bounds; *out stays as it is if the option was not given. False: the message is
// out.
bool yoke__options_integer(const yoke_options* options, const char* name, int64_t low, int64_t high,
                           int64_t* out);

// A finite number, not below low (0, or -INFINITY for any). *out stays as it is if the option was not given. False: the
// message is out.
bool yoke__options_number(const yoke_options* options, const char* name, double low, double* out);

// "yoke COMMAND: message" to stderr, one line; command NULL: "yoke: message". Returns false.
bool yoke__app_error(const char* command, const char* format, ...) YOKE_PRINTF(2, 3);
// Finishes a document, prints it on stdout and frees it. False after a message.
bool yoke__app_print_json(const char* command, yoke_json* json);
// "; did you mean 'nearest'?" or "" for a mistyped name.
#define YOKE_HINT_SIZE 160
const char* yoke__app_hint(const char* name, const char* const names[], size_t n,
                           const char* dashes, char to[YOKE_HINT_SIZE]);

// Help of one command (app_help.c).
void yoke__command_help_print(const yoke_command* command, FILE* to);

#endif
