// From a command line to a system.
#include "app/app_system.h"

#include <stdlib.h>
#include <string.h>

#include "app/app_report.h"
#include "base/base_message_json.h"
#include "base/base_status.h"

// Not every command has the option.
static bool is_given(const yoke_options* options, const char* name) {
  for (size_t i = 0; i < options->n_given; i++) {
    if (strcmp(options->given[i].option->name, name) == 0) {
      return true;
    }
  }
  return false;
}

yoke_system* yoke__app_load_with(const yoke_options* options, const yoke_load_settings* settings,
                                 const yoke_app_words* words, bool is_strict, yoke_messages* kept) {
  // remarks are for `yoke check`, `yoke info` and --verbose
  yoke_app_voice voice = {
      .words = words,
      .is_quiet = is_given(options, "quiet"),
      .is_brief = options->command != &yoke__command_check && !is_given(options, "verbose"),
      .kept = kept,
  };
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  yoke_load_settings heard = *settings;
  yoke_system* system = NULL;
  heard.sink = &sink;
  // settings of a search were tried with the usual calls
  heard.has_no_trials = options->command != &yoke__command_run || is_given(options, "within");
  yoke__app_note_shortage(yoke_system_load(options->operands[0], &heard, &system));
  if (system != NULL && is_strict && voice.n_warnings > 0) {
    char text[80];
    snprintf(text, sizeof text, "%zu warning%s, and --strict was given", voice.n_warnings,
             yoke__plural(voice.n_warnings));
    yoke__app_error(options->command->name, "%s", text);
    if (kept != NULL) {
      yoke__error(kept, (yoke_place){options->operands[0], 0, 0}, "%s", text);
    }
    yoke_system_destroy(&system);
  }
  return system;
}

yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict, yoke_messages* kept) {
  size_t n_sets = 0;
  const char* const* given = yoke__options_values(options, "set", &n_sets);
  const char** sets = calloc(n_sets + n_extra + 1, sizeof *sets);
  if (sets == NULL) {
    yoke__app_no_memory(options->command->name);
    return NULL;
  }
  for (size_t i = 0; i < n_sets + n_extra; i++) {
    sets[i] = i < n_sets ? given[i] : extra[i - n_sets];
  }
  const yoke_load_settings settings = {.sets = sets, .n_sets = n_sets + n_extra};
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  yoke_system* system = yoke__app_load_with(options, &settings, &words, is_strict, kept);
  free((void*)sets);
  return system;
}

void yoke__app_print_failed(const char* noun, const yoke_options* options,
                            const yoke_messages* messages) {
  char text[4096] = "";
  yoke_json json = {0};
  const yoke_message* failure = NULL;
  for (size_t i = 0; i < messages->n && failure == NULL; i++) {
    failure = messages->all[i].severity == YOKE_ERROR ? &messages->all[i] : NULL;
  }
  yoke__json_begin_document(&json, noun);
  yoke__json_string(&json, "name", options->operands[0] == NULL ? "" : options->operands[0]);
  yoke__json_string(&json, "status", "failed");
  if (failure != NULL) {
    yoke_message_format(failure, text, sizeof text);
    yoke__json_string(&json, "message", text);
    yoke__message_json(failure, "failure", &json);
  }
  yoke__app_command_line(options, text, sizeof text);
  yoke__json_string(&json, "yoke", yoke_version());
  yoke__json_string(&json, "command", text);
  yoke__app_messages_json(messages, &json);
  yoke__json_end_object(&json);
  yoke__app_print_json(options->command->name, &json);
}

bool yoke__app_find_machine(const yoke_system* system, yoke_unit_view* out) {
  for (size_t i = 0; yoke_system_get_unit(system, i, out) >= 0; i++) {
    if (out->info != NULL && (out->info->flags & YOKE_UNIT_PHYSICAL) != 0) {
      return true;
    }
  }
  return false;
}

int yoke__app_start_status(yoke_status started) {
  return started >= 0                       ? YOKE_EXIT_OK
         : yoke__status_is_outside(started) ? YOKE_EXIT_FAILED
                                            : YOKE_EXIT_USAGE;
}
