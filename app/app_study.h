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
  bool is_quiet, is_restart;
  yoke_study* study;  // once opened
  yoke_share* share;  // ranks that take part; NULL: this process alone
} yoke_app_study;

// The ranks of mpirun, if that has started this process. Zeroed is empty.
typedef struct yoke_app_share {
  yoke_link link;
  const yoke_mpi_api* api;
  yoke_share share;
} yoke_app_share;

// First of all, before options are read: *share is NULL without mpirun. In all ranks but the first
// one it waits for the first one, which speaks for all. False: the command ends with *status.
bool yoke__app_share_open(yoke_app_share* app, const char* command, yoke_share** share,
                          int* status);
void yoke__app_share_close(yoke_app_share* app);

// Reads --vary, the measures of the option `measure`, --limit, --set, --reference, --out, --jobs, --quiet and --restart.
// kind: "sweep", part of the default folder. False after a message; *status is the exit status then. Free in any case.
bool yoke__app_study_read(const yoke_options* options, const char* measure, const char* kind,
                          yoke_app_study* app, int* status);
// Tries a point of the grid, prints warnings, and opens the folder. names: files of an earlier study, NULL behind the last,
// which go when a new one begins. In all ranks but the first one: runs what the first one wants, to the end; false then.
bool yoke__app_study_open(yoke_app_study* app, const char* command, const char* const names[],
                          int* status);
// Runs what is missing. False: interrupted or failed, reported, *status set.
bool yoke__app_study_run(yoke_app_study* app, const char* command, const size_t points[],
                         const size_t repeats[], size_t n, int* status);
// "24 points: 22 done, 2 diverged; 10 of them were in the journal"
void yoke__app_study_count(const yoke_app_study* app);
void yoke__app_study_free(yoke_app_study* app);

#endif
