// A study in a folder: the results that are known, the journal they are kept in, and the runs that are missing.
#ifndef YOKE_STUDY_STORE_H
#define YOKE_STUDY_STORE_H

#include "study/study_run.h"

typedef struct yoke_study yoke_study;

// How far a study is.
typedef struct yoke_study_progress {
  size_t n_known;  // runs that were in the journal already
  size_t n_done;   // ended now
  size_t n_cases;  // wanted now
  double elapsed;  // [s]
} yoke_study_progress;

typedef struct yoke_study_calls {
  void (*progress)(void* context, const yoke_study_progress* progress);  // NULL: nobody looks
  void* context;
  bool (*is_interrupted)(void);  // NULL: never
  struct yoke_share* share;      // ranks that take part, begun (study_share.h); NULL: none
} yoke_study_calls;

// Opens or makes the folder and its journal for a plan, which must outlive the study. A journal of the same plan is read,
// one of another plan is refused (YOKE_BAD_INPUT) unless is_restart, which begins a new one. YOKE_IO: the folder is in use
// or cannot be written.
yoke_status yoke__study_open(const yoke_study_plan* plan, const char* directory, bool is_restart,
                             yoke_study** out, const yoke_sink* sink);
void yoke__study_close(yoke_study** study);

// A run that the study knows, or NULL. Point n_points is the current setting.
const yoke_study_result* yoke__study_find(const yoke_study* study, size_t point, size_t repeat);
// Runs of these points (NULL: the first n) and repetitions (NULL: the first runs) that are not known yet, on n_jobs threads. They are in the journal as soon as they
// end. YOKE_INTERRUPTED: call again to go on. YOKE_IO: the journal could not be written. YOKE_BAD_INPUT: a rank has another
// study.
yoke_status yoke__study_complete(yoke_study* study, const size_t points[], const size_t repeats[],
                                 size_t n, int n_jobs, const yoke_study_calls* calls,
                                 const yoke_sink* sink);

// Runs of the first repetition by status: n_by_status[YOKE_RUN_...].
void yoke__study_count(const yoke_study* study, size_t n_by_status[YOKE_RUN_N_STATUSES]);
// First runs, that of the current setting included, by the state in which they left a machine or a simulated one.
void yoke__study_count_states(const yoke_study* study, size_t* n_safe, size_t* n_fault);
// What the journal held when it was opened: sound and damaged lines.
void yoke__study_resumed(const yoke_study* study, size_t* n_known, size_t* n_damaged);
const char* yoke__study_directory(const yoke_study* study);
const yoke_study_plan* yoke__study_plan_of(const yoke_study* study);

// All points in the order of the grid: values of the axes, status, t_reached, measures, reason. Into directory/name.
yoke_status yoke__study_write_table(const yoke_study* study, const char* name,
                                    const yoke_sink* sink);

#endif
