// The program yoke: finds the command and checks at the end that everything printed has arrived.
#include <errno.h>
#include <string.h>

#include "app/app.h"
#include "app/app_guard.h"
#include "app/app_sink.h"
#include "base/base_check.h"
#include "base/base_version.h"
#include "yoke/version.h"

static void print_version(void) {
  printf("yoke %s\ncommit %s\nbuild %s\n", yoke_version(), yoke__commit(), yoke__build());
}

// The options that stand in place of a command. --man and --completion are for packaging and not in
// the help.
static int run_global(int argc, char** argv) {
  static const char* const names[] = {"help", "version", "man", "completion"};
  const char* option = argv[1];
  if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
    yoke__help_print(stdout);
  } else if (strcmp(option, "--version") == 0) {
    print_version();
  } else if (strcmp(option, "--man") == 0) {
    yoke__man_print(stdout);
  } else if (strcmp(option, "--completion") == 0) {
    if (argc != 3 || !yoke__completion_print(argv[2], stdout)) {
      yoke__app_error(NULL, "--completion needs the name of a shell: bash, zsh or fish");
      return YOKE_EXIT_USAGE;
    }
  } else {
    char hint[YOKE_HINT_SIZE];
    yoke__app_hint(option + strspn(option, "-"), names, YOKE_COUNT(names), "--", hint);
    yoke__app_error(NULL, "unknown option '%.80s'%s", option,
                    hint[0] != '\0' ? hint : "; see 'yoke --help'");
    return YOKE_EXIT_USAGE;
  }
  return YOKE_EXIT_OK;
}

static int run_command(int argc, char** argv) {
  if (argc < 2) {
    yoke__help_print(stderr);
    return YOKE_EXIT_USAGE;
  }
  if (argv[1][0] == '-') {
    return run_global(argc, argv);
  }
  const yoke_command* command = yoke__command_find(argv[1]);
  if (command == NULL) {
    yoke__command_unknown(argv[1]);
    return YOKE_EXIT_USAGE;
  }
  yoke__app_guard_start();
  const int status = yoke__app_exit_status(command->run(argc - 1, argv + 1));
  yoke__app_guard_end();
  return status;
}

// A full disk shows at the latest when the buffer is written: no success before that.
static int close_output(const char* command, int status) {
  errno = 0;
  const int had_error = ferror(stdout);
  if (fclose(stdout) == 0 && had_error == 0) {
    return status;
  }
  yoke__app_error(command, "cannot write to standard output%s%s", errno != 0 ? ": " : "",
                  errno != 0 ? strerror(errno) : "");
  return status == YOKE_EXIT_USAGE || status == YOKE_EXIT_INTERRUPTED ? status : YOKE_EXIT_FAILED;
}

int main(int argc, char** argv) {
  const int status = run_command(argc, argv);
  const bool has_command = argc > 1 && yoke__command_find(argv[1]) != NULL;
  return close_output(has_command ? argv[1] : NULL, status);
}
