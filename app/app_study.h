// What `yoke sweep` and `yoke tune` share: from a command line to a plan, and the runs with a progress line.
#ifndef YOKE_APP_STUDY_H
#define YOKE_APP_STUDY_H

#include "app/app.h"
#include "app/app_sink.h"
#include "study/study_share.h"
#include "study/study_share_mpi.h"
#include "study/study_store.h"

#define YOKE_MAX_PATH 4096

// A plan with everything it points to. Zeroed is empty.
typedef struct yoke_app_study {
  yoke_study_plan plan;
  yoke_grid grid;
  yoke_csv reference;
  yoke_arena arena;
  char* bytes;
  char directory[YOKE_MAX_PATH];
  int64_t n_jobs;
  bool is_jobs_given;
  yoke_rig rig;  // the machine of the system, if it has one
  bool is_quiet, is_restart;
  yoke_study* study;  // once opened
  yoke_share* share;  // ranks that take part; NULL: this process alone
  const char* command;
  int status;  // with which the command ends
} yoke_app_study;

// Reads argv and calls run, which returns false after a failure: bad input unless app->status says otherwise. is_shared: the ranks of
// mpirun take part; else only the first one says that they cannot.
int yoke__app_study_command(const yoke_command* command, int argc, char** argv, bool is_shared,
                            bool (*run)(yoke_app_study* app, const yoke_options* options));

// The steps of a command. False: it ends with app->status; the reason is out.
// Reads --vary, the measures of the option `measure`, --limit, --set, --reference, --out, --jobs, --quiet and --restart.
bool yoke__app_study_read(const yoke_options* options, const char* measure, yoke_app_study* app);
// Tries a point of the grid, prints warnings, and opens the folder. names: files of an earlier study, NULL behind the last,
// which go when a new one begins. In all ranks but the first one: runs what the first one wants, to the end; false then.
bool yoke__app_study_open(yoke_app_study* app, const char* const names[]);
// Runs what is missing of these points (NULL: the first n) and repetitions (NULL: the first runs).
bool yoke__app_study_run(yoke_app_study* app, const size_t points[], const size_t repeats[],
                         size_t n);
// False, with a message, if some of these were run but say nothing (yoke__run_is_void): the command ends with status 1, and the
// same command again tries them again.
bool yoke__app_study_is_whole(yoke_app_study* app, const size_t points[], const size_t repeats[],
                              size_t n);
// The command ends with that status; false.
bool yoke__app_study_fail(yoke_app_study* app, int status);
// "24 points: 22 done, 2 diverged; 10 of them were in the journal"
void yoke__app_study_count(const yoke_app_study* app);

#endif
