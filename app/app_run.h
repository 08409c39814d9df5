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

// Who looks on while a system runs, and adds an object to its summary. Called in this order.
typedef struct yoke_app_onlooker {
  const char* name;                                            // key of the object
  void (*begin)(void* to, const yoke_simulation* simulation);  // it has started
  bool (*each)(void* to);                   // before every macro step; false ends the run
  void (*json)(void* to, yoke_json* json);  // it has ended: the object
  int (*end)(void* to, int status);         // its results are complete; returns the exit status
  void* to;
} yoke_app_onlooker;
// yoke__app_run with somebody who looks on.
int yoke__app_run_watched(yoke_system* system, const yoke_options* options, const char* place,
                          const yoke_app_words* words, const yoke_messages* loading,
                          const yoke_app_onlooker* onlooker);
// A summary (text of a JSON object) with the object `key` behind its last entry; it is finished here.
void yoke__app_summary_with(const char* summary, const char* key, yoke_json* object, yoke_text* to);

#endif
