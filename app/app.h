// The frame of the command line: what every command shares.
//
// A command is a function `int yoke_cmd_<name>(int argc, char** argv)` in cmd_<name>.c, with
// argv[0] its own name, and a description in app_commands_*.c. It starts with
//
//   yoke_options options;
//   int status = YOKE_EXIT_OK;
//   if (!yoke__options_parse(&yoke__command_run, argc, argv, &options, &status)) {
//     return status;  // help was wanted (and printed), or the command line is wrong (and said so)
//   }
//   const char* system = options.operands[0];
//   ...
//   yoke__options_free(&options);
//
// Results go to stdout and messages to stderr; main checks at the end that stdout could be written.
#ifndef YOKE_APP_H
#define YOKE_APP_H

#include "app/app_options.h"
#include "yoke/status.h"

// Exit statuses; with several reasons 1 goes before 4 and 4 before 3.
enum {
  YOKE_EXIT_OK = 0,
  YOKE_EXIT_FAILED = 1,         // a unit failed, diverged, output could not be written
  YOKE_EXIT_USAGE = 2,          // wrong command line or bad input file
  YOKE_EXIT_QUALITY = 3,        // done, but a quality limit was violated
  YOKE_EXIT_LATE = 4,           // done, but deadlines were missed or rows lost beyond the limit
  YOKE_EXIT_INTERRUPTED = 130,  // ended by SIGINT, outputs complete up to the last step
};

int yoke_cmd_run(int argc, char** argv);
int yoke_cmd_check(int argc, char** argv);
int yoke_cmd_info(int argc, char** argv);
int yoke_cmd_circuit(int argc, char** argv);
int yoke_cmd_compare(int argc, char** argv);
int yoke_cmd_meter(int argc, char** argv);
int yoke_cmd_report(int argc, char** argv);
int yoke_cmd_sweep(int argc, char** argv);
int yoke_cmd_tune(int argc, char** argv);
int yoke_cmd_advise(int argc, char** argv);
int yoke_cmd_twin(int argc, char** argv);
int yoke_cmd_analyse(int argc, char** argv);
int yoke_cmd_synth(int argc, char** argv);
int yoke_cmd_bench(int argc, char** argv);
int yoke_cmd_export(int argc, char** argv);
int yoke_cmd_rig(int argc, char** argv);
int yoke_cmd_help(int argc, char** argv);

// "1 step", "2 steps": what stands behind the word.
static inline const char* yoke__plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

// Descriptions of the commands (app_commands_*.c).
extern const yoke_command yoke__command_run;
extern const yoke_command yoke__command_check;
extern const yoke_command yoke__command_info;
extern const yoke_command yoke__command_circuit;
extern const yoke_command yoke__command_compare;
extern const yoke_command yoke__command_meter;
extern const yoke_command yoke__command_report;
extern const yoke_command yoke__command_sweep;
extern const yoke_command yoke__command_tune;
extern const yoke_command yoke__command_advise;
extern const yoke_command yoke__command_twin;
extern const yoke_command yoke__command_analyse;
extern const yoke_command yoke__command_synth;
extern const yoke_command yoke__command_bench;
extern const yoke_command yoke__command_export;
extern const yoke_command yoke__command_rig;
extern const yoke_command yoke__command_help;

// All of them, in the order in which help lists them.
extern const yoke_command* const yoke__commands[];
extern const size_t yoke__n_commands;
// The command of that name, or NULL.
const yoke_command* yoke__command_find(const char* name);
// Says that there is no such command and which one was probably meant.
void yoke__command_unknown(const char* name);

// The global options (--help, --version), for help, man page and completion.
extern const yoke_option yoke__global_options[];
extern const size_t yoke__n_global_options;

// "yoke --help" (app_help.c), the man page in troff (app_man.c), a completion script
// (app_completion.c). false: that shell is not known.
void yoke__help_print(FILE* to);
void yoke__man_print(FILE* to);
bool yoke__completion_print(const char* shell, FILE* to);

#endif
