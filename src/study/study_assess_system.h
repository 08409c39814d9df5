// A system or an FMU run with one exchange interval and compared with a reference at its samples.
// Knows nothing of circuits; the problem around it is in study_assess.h.
#ifndef YOKE_STUDY_ASSESS_SYSTEM_H
#define YOKE_STUDY_ASSESS_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/base_message.h"

typedef struct yoke_assess_task {
  const char* path;          // of the system file, SSP or FMU
  const char* const* names;  // n: unit.variable; of a system with one unit also the variable alone
  const double* const* reference;  // n times n_samples
  size_t n;
  const double* t;  // n_samples, ascending, above the start
  size_t n_samples;
  double step;  // 0: as the file says
  int n_repetitions;
  double seconds;  // no further repetition after this much time
} yoke_assess_task;

typedef struct yoke_assess_outcome {
  double step;         // as run
  uint64_t n_steps;    // macro steps
  double ns_per_step;  // wall time, the least of the repetitions
  double t_reached;
} yoke_assess_outcome;

// error: n. Messages say what is wrong with the file or the run.
yoke_status yoke__assess_system(const yoke_assess_task* task, yoke_messages* messages,
                                double error[], yoke_assess_outcome* outcome);

#endif
