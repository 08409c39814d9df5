// A whole run: from the present state to the stop time, with recording.
#ifndef YOKE_MASTER_RUN_H
#define YOKE_MASTER_RUN_H

#include "base/base_histogram.h"
#include "master/master.h"

typedef struct yoke_run_settings {
  yoke_record_settings record;   // formats 0: nothing is written
  bool (*is_interrupted)(void);  // asked once per macro step; NULL: never
} yoke_run_settings;

typedef struct yoke_run_info {
  yoke_status status;  // YOKE_OK, YOKE_ENDED, YOKE_STOPPED, YOKE_INTERRUPTED or a failure
  yoke_failure
      failure;       // what went wrong, or which limit stopped it; its text is NULL if nothing did
  int64_t n_steps;   // macro steps done
  double t_reached;  // [s]
  double wall_s;
  yoke_histogram step_ns;  // sampled macro steps
  yoke_record_info record;
  yoke_iteration_info iteration;
} yoke_run_info;

// Runs to the stop time, a failure or an interrupt; results are complete to the last full step in every case.
// Returns info->status, or YOKE_IO if the results could not be written.
yoke_status yoke__master_run(yoke_system* system, yoke_state* state,
                             const yoke_run_settings* settings, yoke_run_info* info);

#endif
