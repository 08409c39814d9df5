// The outer loop: macro steps from the present state to the stop time, timed and watched.
#ifndef YOKE_MASTER_RUN_H
#define YOKE_MASTER_RUN_H

#include "base/base_histogram.h"
#include "master/master.h"
#include "master/master_pace.h"

typedef struct yoke_loop_settings {
  const atomic_bool* is_cancelled;  // asked before every macro step; NULL: never
  bool (*progress)(
      void* to);  // about ten times a second, between macro steps; false ends the loop; NULL: none
  bool (*each)(
      void* to);  // before every macro step, once it is released; false ends the loop; NULL: none
  void* to;
  yoke_pace* pace;                    // the run follows its clock; NULL: as fast as it goes
  const atomic_bool* is_stop_wanted;  // emergency stop of a paced run; NULL: never
  // after every macro step of a paced run that is not stopping yet; its answer stands for the status of the step; NULL: none
  yoke_status (*judge)(void* to, yoke_status status);
  bool
      is_patient;  // the clock of a paced run is no real one: what a method computes in its own thread is waited for
} yoke_loop_settings;

// How it went so far. Zeroed is the beginning.
typedef struct yoke_loop_info {
  yoke_status status;        // YOKE_OK, YOKE_ENDED, YOKE_STOPPED, YOKE_INTERRUPTED or a failure
  yoke_failure failure;      // what went wrong; its text is NULL if nothing did
  int64_t n_steps;           // macro steps done
  double t_reached;          // end of the last whole step [s]
  _Atomic int64_t begin_ns;  // when the first step began; read by other threads
  double wall_s;             // since then, up to the last timed step
  yoke_histogram step_ns;    // timed macro steps
  int64_t mask;              // which steps are timed: those with no common bit
  yoke_record_info record;
  yoke_iteration_info iteration;
} yoke_loop_info;

// One macro step, its time taken now and then.
yoke_status yoke__master_timed_step(const yoke_system* system, yoke_state* state,
                                    yoke_loop_info* info);
// The same by the clock (master_paced.c), once yoke__master_prepare_pace was called.
yoke_status yoke__master_paced_loop(const yoke_system* system, yoke_state* state,
                                    const yoke_loop_settings* settings, yoke_loop_info* info);
// Settings and units of a pacer, with all its figures at 0. factor: simulated seconds per second of the clock.
void yoke__master_prepare_pace(const yoke_system* system, double factor,
                               const yoke_pace_clock* clock, yoke_pace* pace);
// Macro steps to the stop time, a failure or a cancel. Returns info->status.
yoke_status yoke__master_loop(const yoke_system* system, yoke_state* state,
                              const yoke_loop_settings* settings, yoke_loop_info* info);

// Begins to record, with a row of the present values if the system records from the start.
yoke_status yoke__master_record_open(const yoke_system* system, yoke_state* state,
                                     const yoke_record_settings* settings, const yoke_sink* sink);

#endif
