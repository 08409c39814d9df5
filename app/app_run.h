// A loaded system from start to stop, for commands that run one.
#ifndef YOKE_APP_RUN_H
#define YOKE_APP_RUN_H

#include "app/app_advise.h"
#include "app/app_system.h"

// "results/" and the name of the file without its ending: where results go without --out.
void yoke__app_results_directory(const char* path, char* to, size_t size);
// The factor of --realtime; *pace stays as it is without it. False after a message.
bool yoke__app_read_pace(const yoke_options* options, double* pace);
// Runs with results, summary, report, progress line and messages as --format, --report, --quiet and
// --out say. place: the folder of the results, when the program started. Returns the exit status.
// words: what messages call the units; NULL: their names. system NULL: it could not be loaded, and `loading` is why.
// search: the settings come from it, and `chosen` of them was taken; NULL: from the user.
int yoke__app_run(yoke_system* system, const yoke_options* options, const char* place,
                  const yoke_app_words* words, const yoke_messages* loading,
                  const yoke_app_advise* search, size_t chosen);

#endif
