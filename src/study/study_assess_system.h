// A system or an FMU run with one exchange interval and compared with a reference at its samples.
#ifndef YOKE_STUDY_ASSESS_SYSTEM_H
#define YOKE_STUDY_ASSESS_SYSTEM_H

#include "study/study_assess.h"

// Step (0: as the file says), steps, errors and time of a system problem. Messages say what is wrong with the file or the
// run; the result holds nothing of use then.
yoke_status yoke__assess_system(const yoke_assess_problem* problem, double step,
                                const yoke_assess_effort* effort, yoke_messages* messages,
                                yoke_assess_result* result);

#endif
