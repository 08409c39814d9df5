// Where the messages of the library go in a command: one line each to stderr.
#ifndef YOKE_APP_SINK_H
#define YOKE_APP_SINK_H

#include "base/base_json.h"
#include "base/base_message.h"

// Prints every message.
extern const yoke_sink yoke__app_sink;
// The same for what is about a file or an option such as "--vary"; room holds it.
const yoke_sink* yoke__app_sink_at(yoke_context* room, const char* what);
// The same for a command: its name stands before what is about no file and no unit, "yoke compare: ...". *command lives on.
yoke_sink yoke__app_command_sink(const char** command);
// The end of a command that failed: prints what `status` means, unless an error has come to the sink since the last call.
// Returns YOKE_EXIT_FAILED after a shortage (base_status.h), else YOKE_EXIT_USAGE.
int yoke__app_fail(const char* command, yoke_status status);
// Says "out of memory"; false.
bool yoke__app_no_memory(const char* command);
// The exit status of a command: a shortage that was met says nothing about the input, so status 2 becomes 1. All errors
// that come to the sinks count; note_shortage is for a status whose messages go elsewhere.
void yoke__app_note_shortage(yoke_status status);
int yoke__app_exit_status(int status);

// A command that makes a system of what the user wrote (a netlist, a model) speaks of what the user wrote. NULL in place
// of one of these: the user wrote the system.
typedef struct yoke_app_words {
  const char*
      only_unit;  // the netlist or model that is the one unit, called so; NULL: units have names
  // settings that came from options: {"--set units.rc.solver.step", "--step"}
  struct yoke_app_word {
    const char *set, *option;
  } * options;
  size_t n_options;
} yoke_app_words;
// Those of a file named on the command line.
yoke_app_words yoke__app_words(const char* path);
// The setting PATH.NAME=VALUE for an option that the user wrote as dashes ("--", "--with ") and NAME, with its word; there is
// room in words->options. NULL: out of memory.
const char* yoke__app_set(yoke_app_words* words, yoke_arena* arena, const char* path,
                          const char* dashes, const char* text);
void yoke__app_reword(const yoke_app_words* words, yoke_message* message);

// A sink that speaks of what the user wrote.
typedef struct yoke_app_voice {
  const yoke_app_words* words;
  bool is_quiet;        // warnings and errors only
  bool is_brief;        // no remarks on lines of a netlist: they are true of every run
  size_t n_warnings;    // so far
  yoke_messages* kept;  // what was printed, too; NULL: nowhere
} yoke_app_voice;
yoke_sink yoke__app_voice_sink(yoke_app_voice* voice);

// The array "messages".
void yoke__app_messages_json(const yoke_messages* messages, yoke_json* json);

#endif
