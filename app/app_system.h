// Loading a system for a command: reads, builds, prints every message.
#ifndef YOKE_APP_SYSTEM_H
#define YOKE_APP_SYSTEM_H

#include "app/app.h"
#include "app/app_sink.h"
#include "yoke/yoke.h"

// The system named by the first operand, with the --set options and n_extra further ones applied. NULL after messages on
// stderr. is_strict: warnings are errors. What is printed is also added to `kept`; NULL: nowhere.
yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict, yoke_messages* kept);
// The same with settings of the caller's choice, and messages in the caller's words.
yoke_system* yoke__app_load_with(const yoke_options* options, const yoke_load_settings* settings,
                                 const yoke_app_words* words, bool is_strict, yoke_messages* kept);

// --json where nothing could be loaded: a document of that noun with status failed, why, and all messages.
void yoke__app_print_failed(const char* noun, const yoke_options* options,
                            const yoke_messages* messages);

// The first unit that is a machine: physical, or behind a port. False: there is none.
bool yoke__app_find_machine(const yoke_system* system, yoke_unit_view* out);

// The exit status for a simulation that could not start.
int yoke__app_start_status(yoke_status started);

#endif
