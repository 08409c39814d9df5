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
  return m->severity == YOKE_NOTE && m->place.line > 0 && m->place.source != NULL &&
         yoke__scenario_is_circuit(m->place.source);
}

// Remarks are for `yoke check`, `yoke info` and --verbose; --quiet leaves warnings and errors only.
static void drop_notes(const yoke_options* options, yoke_messages* messages) {
  const bool is_quiet = is_given(options, "quiet");
  const bool is_verbose = options->command == &yoke__command_check ||
                          options->command == &yoke__command_info || is_given(options, "verbose");
  yoke_message** link = &messages->first;
  messages->last = NULL;
  while (*link != NULL) {
    const bool is_note = (*link)->severity == YOKE_NOTE;
    if ((is_note && is_quiet) || (is_remark(*link) && !is_verbose)) {
      *link = (*link)->next;
    } else {
      messages->last = *link;
      link = &(*link)->next;
    }
  }
}

yoke_system* yoke__app_build(const yoke_options* options, yoke_status read, yoke_scenario* scenario,
                             yoke_messages* messages, bool is_strict, const yoke_app_voice* voice) {
  yoke_system* system = NULL;
  yoke_status status = read;
  if (scenario != NULL) {
    status = yoke__system_build(scenario, NULL, messages, &system);
  }
  if (voice != NULL) {
    voice->retell(voice, messages);
  }
  drop_notes(options, messages);
  yoke__messages_print(messages, stderr);
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
  yoke_system* system = yoke__app_build(options, status, scenario, &messages, is_strict, NULL);
  free((void*)sets);
  return system;
}

typedef struct telling {
  const yoke_app_voice* voice;
  bool is_quiet;
  yoke_messages* kept;
} telling;

// "line 4: text" of a unit that is a file of its own: the file with the line, and the text behind it
static const char* take_line(const char* text, char* name, size_t size) {
  static const char line[] = "line ";
  const size_t n_line = strlen(line);
  if (strncmp(text, line, n_line) != 0) {
    return text;
  }
  const size_t n_digits = strspn(text + n_line, "0123456789");
  if (n_digits == 0 || strncmp(text + n_line + n_digits, ": ", 2) != 0) {
    return text;
  }
  const size_t n = strlen(name);
  snprintf(name + n, size - n, ":%.*s", (int)n_digits, text + n_line);
  return text + n_line + n_digits + 2;
}

static void tell(void* to, const char* unit, int level, const char* text) {
  static const char* const words[] = {"note", "warning", "error"};
  const telling* job = to;
  const bool is_own = job->voice != NULL;
  const char *before = is_own ? "" : "unit '", *behind = is_own ? "" : "'";
  char name[1024];
  snprintf(name, sizeof name, "%s", is_own ? job->voice->name : unit);
  if (is_own) {
    text = take_line(text, name, sizeof name);
  }
  if (level > 0 || !job->is_quiet) {
    fprintf(stderr, "%s%s%s: %s: %s\n", before, name, behind, words[level], text);
  }
  if (job->kept != NULL) {
    yoke__message_add(job->kept, (yoke_severity)level, (yoke_place){0}, "%s%s%s: %s", before, name,
                      behind, text);
  }
}

void yoke__app_tell_units(yoke_system* system, const yoke_app_voice* voice, bool is_quiet,
                          yoke_messages* kept) {
  telling job = {voice, is_quiet, kept};
  yoke__system_report(system, tell, &job);
}

yoke_state* yoke__app_start(yoke_system* system, const yoke_app_voice* voice, int* status) {
  yoke_messages messages = {0};
  yoke_state* state = NULL;
  const yoke_status created = yoke__master_create(system, &messages, &state);
  yoke__app_tell_units(system, voice, true, NULL);
  if (voice != NULL) {
    voice->retell(voice, &messages);
  }
  yoke__messages_print(&messages, stderr);
  if (created < 0 && messages.n_errors == 0) {
    yoke__app_error(NULL, "%s", yoke_status_text(created));
  }
  yoke__messages_free(&messages);
  if (created < 0) {
    const bool is_outside = created == YOKE_NO_MEMORY || created == YOKE_IO;
    *status = is_outside ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
    return NULL;
  }
  *status = YOKE_EXIT_OK;
  return state;
}
