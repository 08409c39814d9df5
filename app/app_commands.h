// What the tables of commands (app_commands*.c) share.
#ifndef YOKE_APP_COMMANDS_H
#define YOKE_APP_COMMANDS_H

#include "app/app.h"
#include "base/base_check.h"

#define LIST(array) array, YOKE_COUNT(array)

#define STATUS_FAILED                                                                              \
  { YOKE_EXIT_FAILED, "The output could not be written." }
#define STATUS_USAGE                                                                               \
  { YOKE_EXIT_USAGE, "The command line is wrong, or an input file is missing or has errors." }

// The operand SYSTEM and the option --set.
extern const char yoke__help_system[];
extern const char yoke__help_set[];

#endif
