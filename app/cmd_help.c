// yoke help [COMMAND].
#include "app/app.h"

int yoke_cmd_help(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_help, argc, argv, &options, &status)) {
    return status;
  }
  if (options.n_operands == 0) {
    yoke__help_print(stdout);
  } else {
    const yoke_command* command = yoke__command_find(options.operands[0]);
    if (command == NULL) {
      yoke__command_unknown(options.operands[0]);
      status = YOKE_EXIT_USAGE;
    } else {
      yoke__command_help_print(command, stdout);
    }
  }
  yoke__options_free(&options);
  return status;
}
