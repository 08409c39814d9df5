// Threads that run what they are given. One thread, the owner, puts runs in and takes ended ones
// out; everything but the runs themselves (journal, progress, messages) stays with the owner and
// needs no lock.
#ifndef YOKE_STUDY_CREW_H
#define YOKE_STUDY_CREW_H

#include "study/study_run.h"

typedef struct yoke_crew yoke_crew;

// n_jobs threads and room for that many runs that are waiting, under way or ended. Fewer threads
// than wanted are slower, none is a failure: YOKE_NO_MEMORY.
yoke_status yoke__crew_open(const yoke_study_plan* plan, int n_jobs, size_t room, yoke_crew** out);
// Ends the threads: waiting runs are not begun, those under way end with YOKE_INTERRUPTED. What has
// ended can still be taken.
void yoke__crew_stop(yoke_crew* crew);
void yoke__crew_close(yoke_crew** crew);  // stops; NULL is fine

// The result that the run points to must stay until the run is taken or the crew is closed.
// False: no room.
bool yoke__crew_put(yoke_crew* crew, const yoke_study_case* run);
// A run that has ended, and what yoke__study_run said of it, in the order in which they ended.
// False: none.
bool yoke__crew_take(yoke_crew* crew, yoke_study_case* run, yoke_status* status);
// Put and not taken.
size_t yoke__crew_n_left(const yoke_crew* crew);
size_t yoke__crew_n_jobs(const yoke_crew* crew);

// A number that changes when a run ends; wait sleeps while it is `seen`, at most so long.
uint32_t yoke__crew_news(const yoke_crew* crew);
void yoke__crew_wait(yoke_crew* crew, uint32_t seen, int64_t timeout_ns);

// The result of a run that nobody will hear of.
void yoke__crew_drop(const yoke_study_case* run);

#endif
