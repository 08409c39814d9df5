// Loading a system for a command: reads, builds, prints every message.
#ifndef YOKE_APP_SYSTEM_H
#define YOKE_APP_SYSTEM_H

#include "app/app.h"
#include "app/app_sink.h"
#include "master/master.h"
#include "system/system.h"

// The system named by the first operand, with the --set options and n_extra further ones applied. NULL after messages on
// stderr. is_strict: warnings are errors.
yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict);

// A system from a scenario that was read with `read` as its outcome (taken over; NULL if nothing could be read). Prints and
// frees the messages. NULL after messages on stderr.
yoke_system* yoke__app_build(const yoke_options* options, yoke_status read, yoke_scenario* scenario,
                             yoke_messages* messages, bool is_strict, const yoke_app_words* words);

// A loaded system with its start values. NULL after messages on stderr; *status is then YOKE_EXIT_USAGE if the system
// cannot start as it is described, YOKE_EXIT_FAILED if memory or a file was missing.
yoke_state* yoke__app_start(yoke_system* system, const yoke_app_words* words, int* status);

// What the units report: warnings and errors to stderr, notes as well unless is_quiet. Each message once; the messages are
// also added to `kept` (NULL: not).
void yoke__app_report_units(yoke_system* system, const yoke_app_words* words, bool is_quiet,
                            yoke_messages* kept);

#endif
