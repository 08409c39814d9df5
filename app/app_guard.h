// What the command does when foreign code crashes, ends the process or hangs (docs/failures.md).
#ifndef YOKE_APP_GUARD_H
#define YOKE_APP_GUARD_H

#include <stdbool.h>

#include "yoke/yoke.h"

// The run whose results are to be completed.
typedef struct yoke_app_guarded {
  yoke_simulation* simulation;  // NULL: its results are complete, only its units are still there
  const char* place;            // folder of its results
  const char* directory;        // the same, as people call it
  bool is_json, is_quiet;
} yoke_app_guarded;

// Begins to watch, before any foreign code is loaded; without threads the command goes on without.
void yoke__app_guard_start(void);
// What is to be completed from now on; NULL: nothing. It lives until the next call.
void yoke__app_guard_set(const yoke_app_guarded* run);
// The system whose units may be to blame for a crash in a thread of their own; NULL: none.
void yoke__app_guard_system(const yoke_system* system);
// A step of a paced run does not end: says so, completes the results and ends the process.
void yoke__app_guard_overdue(void* to);
// The program is about to end as it should.
void yoke__app_guard_end(void);

#endif
