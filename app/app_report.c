// --report: the system file and the command line as texts, then the page.
#include "app/app_report.h"

#include <stdlib.h>
#include <string.h>

#include "app/app_sink.h"
#include "base/base_os.h"
#include "record/record.h"
#include "report/report.h"

#define MAX_FILE_SIZE ((size_t)64 << 20)  // of a system file, as its reader has it

bool yoke__app_can_report(const yoke_options* options, uint32_t formats) {
  if (!yoke__options_has(options, "report") ||
      (formats & (YOKE_RECORD_CSV | YOKE_RECORD_HDF5)) != 0) {
    return true;
  }
  yoke__app_error(
      options->command->name,
      "--report reads the results back, which it can from csv and hdf5 only: add one of "
      "them to --format");
  return false;
}

// One word behind the others, in quotes if a shell would not leave it alone; cut where there is no room.
static void add_word(char* text, size_t size, const char* word) {
  const size_t used = strlen(text);
  const bool is_plain = word[0] != '\0' && strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;!#~") == NULL;
  snprintf(text + used, size - used, is_plain ? " %s" : " '%s'", word);
}

static void write_command(const yoke_options* options, char* to, size_t size) {
  char name[128];
  snprintf(to, size, "yoke %s", options->command->name);
  for (size_t i = 0; i < options->n_operands; i++) {
    add_word(to, size, options->operands[i]);
  }
  for (size_t i = 0; i < options->n_given; i++) {
    snprintf(name, sizeof name, "--%s", options->given[i].option->name);
    add_word(to, size, name);
    if (options->given[i].option->argument != NULL) {
      add_word(to, size, options->given[i].value);
    }
  }
}

// The file as a text, to be freed; NULL if it cannot be read any more or is no text.
static char* read_text(const char* path) {
  char* bytes = NULL;
  size_t n = 0;
  if (yoke__os_read_file(path, MAX_FILE_SIZE, &bytes, &n, NULL) < 0) {
    return NULL;
  }
  char* text = realloc(bytes, n + 1);
  if (text == NULL) {
    free(bytes);
    return NULL;
  }
  text[n] = '\0';
  return text;
}

// The page of an earlier run would stand beside the results of this one.
static void remove_page(const char* directory) {
  char path[4096];
  if (yoke__os_path_join(directory, "report.html", path, sizeof path) < sizeof path) {
    yoke__os_file_remove(path);
  }
}

bool yoke__app_report(const yoke_options* options, const yoke_system* system,
                      const yoke_state* state, const yoke_run_info* info, const yoke_messages* told,
                      const char* directory) {
  if (!yoke__options_has(options, "report")) {
    remove_page(directory);
    return true;
  }
  char command[4096];
  write_command(options, command, sizeof command);
  char* text = read_text(options->operands[0]);
  const yoke_report_input input = {.system = system,
                                   .info = info,
                                   .ledger = state->ledger,
                                   .state = state,
                                   .messages = told,
                                   .directory = directory,
                                   .settings_text = text,
                                   .command = command,
                                   .is_circuit = options->command == &yoke__command_circuit};
  const yoke_status status = yoke__report_write(&input, &yoke__app_sink);
  free(text);
  if (status < 0) {
    yoke__app_fail(options->command->name, status);
  }
  return status >= 0;
}
