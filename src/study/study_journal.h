// The journal of a study: one line per run that has ended, written at once, so that a killed study goes on where it was.
//
//   yoke-study,2,version=5f..,system=a0..,files=..,set=..,vary=..,measure=..,limit=..,reference=..,current=..,seed=..
//   point,repeat,time.step,status,t_reached,ter,reason,began,ended,check
//   3,0,0.001,done,10,1523.25,,SAFE,SAFE,9f3b11c2
//
// `began` and `ended` are the states of a machine before and after the run (study_rig.h), empty without one.
// The first line tells studies apart: a hash of everything that decides the numbers. `check` is a hash of the line before
// it: a line that was torn by a kill or a full disk does not count, and its run is done again.
#ifndef YOKE_STUDY_JOURNAL_H
#define YOKE_STUDY_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/base_text.h"
#include "study/study_run.h"

#define YOKE_JOURNAL_NAME "journal.csv"
#if SIZE_MAX > UINT32_MAX
#define YOKE_JOURNAL_MAX_SIZE ((size_t)4 << 30)
#else
#define YOKE_JOURNAL_MAX_SIZE (SIZE_MAX / 2)
#endif

// A fingerprint of the content of all files that the system file, --set and --vary name (study_files.c).
uint64_t yoke__study_hash_files(const yoke_study_plan* plan);
// The first line for a plan, without its end.
void yoke__journal_identity(const yoke_study_plan* plan, yoke_text* line);
// Says in what two first lines differ: "the system file has changed", "--vary is another". "" if they are equal.
void yoke__journal_difference(const char* mine, const char* theirs, char* to, size_t size);

// Titles and cells of a table of runs: values of the axes (none of the current setting), status, t_reached, measures,
// reason. Without a line's end.
void yoke__journal_titles(const yoke_study_plan* plan, yoke_text* line);
void yoke__journal_cells(const yoke_study_plan* plan, size_t point, const yoke_study_result* result,
                         yoke_text* line);
// The second line and the line of one run, ends included.
void yoke__journal_header(const yoke_study_plan* plan, yoke_text* line);
void yoke__journal_line(const yoke_study_plan* plan, size_t point, size_t repeat,
                        const yoke_study_result* result, yoke_text* line);

// One line read back. values: n_measures numbers, NaN where the cell is empty; reason: "" if there is none.
typedef struct yoke_journal_row {
  size_t point, repeat;
  yoke_run_status status;
  double t;
  const double* values;
  const char* reason;
  yoke_run_state began, ended;
} yoke_journal_row;

typedef struct yoke_journal_info {
  size_t n_rows;     // sound ones
  size_t n_damaged;  // left out
} yoke_journal_info;

// Reads n bytes of a journal with that many axes and measures; calls row for every sound line. *identity: the first line,
// to be freed. YOKE_BAD_INPUT if this is no journal, YOKE_NO_MEMORY, or the first negative status of row.
yoke_status yoke__journal_parse(const char* bytes, size_t n, size_t n_axes, size_t n_measures,
                                yoke_status (*row)(void* context, const yoke_journal_row* row),
                                void* context, char** identity, yoke_journal_info* info,
                                const yoke_sink* sink);

#endif
