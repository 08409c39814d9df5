// From a command line to a system.
#include "app/app_system.h"

#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_circuit.h"

// Not every command has the option.
static bool is_given(const yoke_options* options, const char* name) {
  for (size_t i = 0; i < options->n_given; i++) {
    if (strcmp(options->given[i].option->name, name) == 0) {
      return true;
    }
  }
  return false;
}

// A remark on a line of a netlist (what gmin decides, what is of index 2): true of every run, and
// of nothing that was done in this one.
static bool is_remark(const yoke_message* m) {
  return m->severity == YOKE_NOTE && m->line > 0 && m->file != NULL &&
         yoke__scenario_is_circuit(m->file);
}

// Remarks are for `yoke check`, `yoke info` and --verbose; --quiet leaves warnings and errors only.
static void drop_notes(const yoke_options* options, yoke_messages* messages) {
  const bool is_quiet = is_given(options, "quiet");
  const bool is_verbose = options->command == &yoke__command_check ||
                          options->command == &yoke__command_info || is_given(options, "verbose");
  size_t n = 0;
  for (size_t i = 0; i < messages->n; i++) {
    const yoke_message* m = &messages->all[i];
    if (!(m->severity == YOKE_NOTE && is_quiet) && (is_verbose || !is_remark(m))) {
      messages->all[n++] = *m;
    }
  }
  messages->n = n;
}

static void print(yoke_messages* messages, const yoke_app_words* words) {
  for (size_t i = 0; i < messages->n; i++) {
    yoke__app_reword(words, &messages->all[i]);
  }
  yoke__messages_print(messages, stderr);
}

yoke_system* yoke__app_build(const yoke_options* options, yoke_status read, yoke_scenario* scenario,
                             yoke_messages* messages, bool is_strict, const yoke_app_words* words) {
  yoke_system* system = NULL;
  yoke_status status = read;
  if (scenario != NULL) {
    status = yoke__system_build(scenario, NULL, messages, &system);
  }
  drop_notes(options, messages);
  print(messages, words);
  if (status < 0 && messages->n_errors == 0) {
    yoke__app_error(options->command->name, "%s: %s", options->operands[0],
                    yoke_status_text(status));
  }
  if (status >= 0 && is_strict && messages->n_warnings > 0) {
    yoke__app_error(options->command->name, "%zu warning%s, and --strict was given",
                    messages->n_warnings, messages->n_warnings == 1 ? "" : "s");
    yoke__system_destroy(&system);
  }
  yoke__messages_free(messages);
  return system;
}

yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict) {
  size_t n_sets = 0;
  const char* const* given = yoke__options_values(options, "set", &n_sets);
  const char** sets = calloc(n_sets + n_extra + 1, sizeof *sets);
  if (sets == NULL) {
    yoke__app_error(options->command->name, "out of memory");
    return NULL;
  }
  for (size_t i = 0; i < n_sets; i++) {
    sets[i] = given[i];
  }
  for (size_t i = 0; i < n_extra; i++) {
    sets[n_sets + i] = extra[i];
  }
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  const yoke_status status =
      yoke__scenario_read_parts(options->operands[0], sets, n_sets + n_extra, &messages, &scenario);
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  yoke_system* system = yoke__app_build(options, status, scenario, &messages, is_strict, &words);
  free((void*)sets);
  return system;
}

typedef struct reporting {
  const yoke_app_words* words;
  bool is_quiet;
  yoke_messages* kept;
} reporting;

static void receive(void* to, const yoke_message* message) {
  const reporting* job = to;
  yoke_message m = *message;
  yoke__app_reword(job->words, &m);
  if (m.severity != YOKE_NOTE || !job->is_quiet) {
    yoke_send(&yoke__app_sink, &m);
  }
  if (job->kept != NULL) {
    yoke__messages_add(job->kept, &m);
  }
}

void yoke__app_report_units(yoke_system* system, const yoke_app_words* words, bool is_quiet,
                            yoke_messages* kept) {
  reporting job = {words, is_quiet, kept};
  yoke__system_report(system, &(yoke_sink){receive, &job});
}

yoke_state* yoke__app_start(yoke_system* system, const yoke_app_words* words, int* status) {
  yoke_messages messages = {0};
  yoke_state* state = NULL;
  const yoke_status created = yoke__master_create(system, &messages, &state);
  yoke__app_report_units(system, words, true, NULL);
  print(&messages, words);
  if (created < 0 && messages.n_errors == 0) {
    yoke__app_error(NULL, "%s", yoke_status_text(created));
  }
  yoke__messages_free(&messages);
  const bool is_outside = created == YOKE_NO_MEMORY || created == YOKE_IO;
  *status = created >= 0 ? YOKE_EXIT_OK : is_outside ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
  return state;
}
