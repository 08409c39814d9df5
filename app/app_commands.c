// The commands: the list of all, and what their tables share. The tables (arguments, options, exit statuses and
// examples) are in app_commands_*.c; parser, help, man page and completion all read them.
#include "app/app_commands.h"

#include <string.h>

const char yoke__help_system[] =
    "A system file (YAML), an SSP archive (car.ssp; another variant in it with car.ssp#Name.ssd), "
    "an "
    "SSD file, an FMU, which is run on its own with its default experiment, or a netlist (x.cir), "
    "run on its own with its .tran.";
const char yoke__help_set[] =
    "Change one setting of the system file. For example --set units.left.with.k=20. Paths are "
    "those of the file, and the change is checked like a line of the file.";

// ---- help

static const yoke_operand help_operands[] = {
    {"COMMAND", true, YOKE_ARGUMENT_COMMAND, "The command to explain."},
};
static const yoke_exit help_exits[] = {
    {YOKE_EXIT_OK, "Printed."},
    STATUS_FAILED,
    {YOKE_EXIT_USAGE, "There is no such command."},
};
static const yoke_example help_examples[] = {
    {"yoke help compare", "The same as yoke compare --help."},
};
const yoke_command yoke__command_help = {
    "help",
    "explain a command",
    "Prints what a command does, its arguments, options and exit statuses. Without a command it "
    "lists all commands.",
    LIST(help_operands),
    NULL,
    0,
    LIST(help_exits),
    LIST(help_examples),
    yoke_cmd_help,
};

// ---- all

const yoke_command* const yoke__commands[] = {
    &yoke__command_run,     &yoke__command_check,  &yoke__command_info,    &yoke__command_circuit,
    &yoke__command_compare, &yoke__command_meter,  &yoke__command_report,  &yoke__command_sweep,
    &yoke__command_tune,    &yoke__command_advise, &yoke__command_analyse, &yoke__command_synth,
    &yoke__command_bench,   &yoke__command_twin,   &yoke__command_export,  &yoke__command_rig,
    &yoke__command_help,
};
const size_t yoke__n_commands = YOKE_COUNT(yoke__commands);

const yoke_option yoke__global_options[] = {
    {"help", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print help, also behind a command."},
    {"version", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print version, commit and build."},
};
const size_t yoke__n_global_options = YOKE_COUNT(yoke__global_options);

const yoke_command* yoke__command_find(const char* name) {
  for (size_t i = 0; i < YOKE_COUNT(yoke__commands); i++) {
    if (strcmp(yoke__commands[i]->name, name) == 0) {
      return yoke__commands[i];
    }
  }
  return NULL;
}

void yoke__command_unknown(const char* name) {
  const char* names[YOKE_COUNT(yoke__commands)];
  for (size_t i = 0; i < YOKE_COUNT(yoke__commands); i++) {
    names[i] = yoke__commands[i]->name;
  }
  char hint[YOKE_HINT_SIZE];
  yoke__app_hint(name, names, YOKE_COUNT(names), "", hint);
  yoke__app_error(NULL, "unknown command '%.80s'%s", name,
                  hint[0] != '\0' ? hint : "; see 'yoke --help'");
}
