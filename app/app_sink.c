// Messages of the library on stderr.
#include "app/app_sink.h"

#include <stdatomic.h>
#include <string.h>

#include "app/app.h"
#include "base/base_message_json.h"
#include "base/base_path.h"
#include "base/base_status.h"

#define LINE_SIZE 4096

static atomic_bool has_error;     // printed, and not yet asked for
static atomic_bool has_shortage;  // met since the start

void yoke__app_note_shortage(yoke_status status) {
  if (yoke__status_is_shortage(status)) {
    atomic_store(&has_shortage, true);
  }
}

int yoke__app_exit_status(int status) {
  return status == YOKE_EXIT_USAGE && atomic_load(&has_shortage) ? YOKE_EXIT_FAILED : status;
}

bool yoke__app_no_memory(const char* command) {
  yoke__app_note_shortage(YOKE_NO_MEMORY);
  return yoke__app_error(command, "%s", yoke_status_text(YOKE_NO_MEMORY));
}

static void print(void* to, const yoke_message* message) {
  char line[LINE_SIZE];
  (void)to;
  yoke_message_format(message, line, sizeof line);
  // one call, so that lines of several processes do not mix
  fprintf(stderr, "%s\n", line);
  if (message->severity == YOKE_ERROR) {
    atomic_store(&has_error, true);
    yoke__app_note_shortage(message->status);
  }
}

const yoke_sink yoke__app_sink = {print, NULL};

const yoke_sink* yoke__app_sink_at(yoke_context* room, const char* what) {
  const yoke_place place = {what, 0, 0};
  return &yoke__context_init(room, &yoke__app_sink, place, NULL, (double)NAN)->sink;
}

static void print_of_command(void* to, const yoke_message* message) {
  const char* const* command = to;
  if (message->file != NULL || message->unit != NULL) {
    print(NULL, message);
    return;
  }
  yoke__app_error(*command, "%s", message->text);
  if (message->severity == YOKE_ERROR) {
    atomic_store(&has_error, true);
    yoke__app_note_shortage(message->status);
  }
}

yoke_sink yoke__app_command_sink(const char** command) {
  return (yoke_sink){print_of_command, (void*)command};
}

int yoke__app_fail(const char* command, yoke_status status) {
  yoke__app_note_shortage(status);
  if (!atomic_exchange(&has_error, false)) {
    yoke__app_error(command, "%s", yoke_status_text(status));
  }
  return yoke__status_is_shortage(status) ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
}

yoke_app_words yoke__app_words(const char* path) {
  return (yoke_app_words){.only_unit = yoke__path_is_netlist(path) ? path : NULL};
}

const char* yoke__app_set(yoke_app_words* words, yoke_arena* arena, const char* path,
                          const char* dashes, const char* text) {
  const size_t size = strlen(path) + strlen(dashes) + strlen(text) + sizeof "--set .";
  char* set = yoke__arena_take(arena, size);
  char* known = yoke__arena_take(arena, size);
  char* option = yoke__arena_take(arena, size);
  if (set == NULL || known == NULL || option == NULL) {
    return NULL;
  }
  const int n_name = (int)strcspn(text, "=");
  snprintf(set, size, "%s.%s", path, text);
  snprintf(known, size, "--set %s.%.*s", path, n_name, text);
  snprintf(option, size, "%s%.*s", dashes, n_name, text);
  words->options[words->n_options++] = (struct yoke_app_word){known, option};
  return set;
}

void yoke__app_reword(const yoke_app_words* words, yoke_message* message) {
  if (words == NULL) {
    return;
  }
  if (words->only_unit != NULL && message->unit != NULL) {
    message->unit = NULL;
    message->file = message->file == NULL ? words->only_unit : message->file;
  }
  for (size_t i = 0; message->file != NULL && i < words->n_options; i++) {
    if (strcmp(message->file, words->options[i].set) == 0) {
      message->file = words->options[i].option;
    }
  }
}

// A remark on a line of a netlist (what gmin decides, what is of index 2): true of every run, and
// of nothing that was done in this one.
static bool is_remark(const yoke_message* m) {
  return m->severity == YOKE_NOTE && m->line > 0 && m->file != NULL &&
         yoke__path_is_netlist(m->file);
}

static void print_reworded(void* to, const yoke_message* message) {
  yoke_app_voice* voice = to;
  yoke_message m = *message;
  voice->n_warnings += m.severity == YOKE_WARNING;
  if ((m.severity == YOKE_NOTE && voice->is_quiet) || (voice->is_brief && is_remark(&m))) {
    return;
  }
  yoke__app_reword(voice->words, &m);
  print(NULL, &m);
  if (voice->kept != NULL) {
    yoke__messages_add(voice->kept, &m);
  }
}

yoke_sink yoke__app_voice_sink(yoke_app_voice* voice) {
  return (yoke_sink){print_reworded, voice};
}

void yoke__app_messages_json(const yoke_messages* messages, yoke_json* json) {
  yoke__json_begin_array(json, "messages");
  for (size_t i = 0; i < messages->n; i++) {
    yoke__message_json(&messages->all[i], NULL, json);
  }
  yoke__json_end_array(json);
}
