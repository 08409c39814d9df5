// Loading a system for a command: reads, builds, prints every message.
#ifndef YOKE_APP_SYSTEM_H
#define YOKE_APP_SYSTEM_H

#include "app/app.h"
#include "master/master.h"
#include "system/system.h"

// The system named by the first operand, with the --set options and n_extra further ones applied. NULL after messages on
// stderr. is_strict: warnings are errors.
yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict);

// A loaded system with its start values. NULL after messages on stderr; *status is then YOKE_EXIT_USAGE if the system
// cannot start as it is described, YOKE_EXIT_FAILED if memory or a file was missing.
yoke_state* yoke__app_start(yoke_system* system, int* status);

#endif
