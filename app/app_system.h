// Loading a system for a command: reads, builds, prints every message.
#ifndef YOKE_APP_SYSTEM_H
#define YOKE_APP_SYSTEM_H

#include "app/app.h"
#include "system/system.h"

// The system named by the first operand, with the --set options and n_extra further ones applied. NULL after messages on
// stderr. is_strict: warnings are errors.
yoke_system* yoke__app_load(const yoke_options* options, const char* const extra[], size_t n_extra,
                            bool is_strict);

#endif
