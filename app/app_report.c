// --report: the command line as a text for the summary, and the page.
#include "app/app_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_sink.h"
#include "base/base_os.h"
#include "report/report.h"
#include "yoke/result.h"

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

void yoke__app_command_line(const yoke_options* options, char* to, size_t size) {
  char name[128];
  snprintf(to, size, "yoke %s", options->command->name);
  for (size_t i = 0; i < options->n_operands; i++) {
    add_word(to, size, options->operands[i]);
  }
  for (size_t i = 0; i < options->n_given; i++) {
    const yoke_option* option = options->given[i].option;
    const char* value = options->given[i].value;
    const bool is_joined = option->argument != NULL && option->argument[0] == '[';  // --realtime=2
    const bool has_joined = is_joined && value[0] != '\0';
    snprintf(name, sizeof name, "--%s%s%s", option->name, has_joined ? "=" : "",
             has_joined ? value : "");
    add_word(to, size, name);
    if (option->argument != NULL && !is_joined) {
      add_word(to, size, value);
    }
  }
}

// The page of an earlier run would stand beside the results of this one.
static void remove_page(const char* directory) {
  char path[4096], text[YOKE_MESSAGE_TEXT_SIZE];
  if (yoke__os_path_join(directory, "report.html", path, sizeof path) >= sizeof path ||
      !yoke__os_is_file(path)) {
    return;
  }
  yoke__os_file_remove(path);
  snprintf(text, sizeof text,
           "removed %.400s, which showed the results of an earlier run; 'yoke report %.400s' "
           "writes the page of this one",
           path, directory);
  yoke_send(&yoke__app_sink,
            &(yoke_message){.severity = YOKE_NOTE, .time = (double)NAN, .text = text});
}

bool yoke__app_report(const yoke_options* options, const char* directory) {
  if (!yoke__options_has(options, "report")) {
    remove_page(directory);
    return true;
  }
  const yoke_status status = yoke__report_write(directory, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(options->command->name, status);
  }
  return status >= 0;
}
