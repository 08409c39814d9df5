// Start values of a loaded system, for commands that look into its state.
#ifndef YOKE_APP_START_H
#define YOKE_APP_START_H

#include "app/app_system.h"
#include "master/master.h"
#include "system/system.h"

// A loaded system with its start values. NULL after messages on stderr; *status is then YOKE_EXIT_USAGE if the system
// cannot start as it is described, YOKE_EXIT_FAILED if memory or a file was missing.
yoke_state* yoke__app_start(yoke_system* system, const yoke_app_words* words, int* status);

#endif
