// The search for better settings, for `yoke advise` and `yoke run --within`.
#ifndef YOKE_APP_ADVISE_H
#define YOKE_APP_ADVISE_H

#include "app/app.h"
#include "base/base_arena.h"
#include "study/study_advise.h"

typedef struct yoke_app_advise {
  yoke_arena arena;
  yoke_advise_settings settings;
  const char** sets;  // room of the settings
  yoke_advice advice;
  bool is_line;  // a line of progress stands on the terminal
} yoke_app_advise;

// The user's --set, with room for n_more. False after a message.
bool yoke__app_advise_open(yoke_app_advise* app, const yoke_options* options, size_t n_more);
void yoke__app_advise_close(yoke_app_advise* app);
// One more setting for all runs: PATH=VALUE.
bool yoke__app_advise_set(yoke_app_advise* app, const char* format, ...) YOKE_PRINTF(2, 3);
// Names of signals with commas between them as `trust.signals`. option: for messages.
bool yoke__app_advise_signals(yoke_app_advise* app, const char* option, const char* list);
// UNIT.VARIABLE=VALUE as an entry of `trust.limits`.
bool yoke__app_advise_limit(yoke_app_advise* app, const char* option, const char* text);
// Runs the search, with a line of progress on a terminal. False: the command ends with *status.
bool yoke__app_advise_run(yoke_app_advise* app, const yoke_options* options, int* status);

// ---- yoke run --within

// The wishes of --within as settings of `trust`; the search must have room for n + 3. False after a message.
bool yoke__app_within_read(yoke_app_advise* app, const char* const wishes[], size_t n);
// After a wish that is missed: "more is tried by: yoke advise FILE ...".
void yoke__app_within_command(const yoke_app_advise* app, yoke_text* to);
// Prints what the search has chosen, and by how much it misses the wishes.
void yoke__app_within_print(const yoke_app_advise* app, size_t chosen);
// A summary (text of a JSON object) with the object "within" behind its last entry.
void yoke__app_within_json(const yoke_app_advise* app, size_t chosen, const char* summary,
                           yoke_text* to);

// ---- after yoke run

// "yoke advise FILE would try 7 settings, about 3 s". has_foreign: its units are not made again to count the settings.
void yoke__app_advise_hint(const yoke_options* options, bool has_foreign, double run_s);

// "the step may be too large: yoke advise FILE", where a value left its range.
void yoke__app_advise_step_hint(const yoke_options* options);

#endif
