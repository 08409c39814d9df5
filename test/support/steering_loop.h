// The steering surrogate SE-1 cut at the tie rod with a delay each way, as a plain loop without the engine: what the method
// `adaptive` is compared with (HINF specification 10.4, 11.4). Every 0.1 ms; least squares by the formulas of the source.
#ifndef YOKE_TEST_STEERING_LOOP_H
#define YOKE_TEST_STEERING_LOOP_H

#include <stdbool.h>

#include "support/steering_run.h"

typedef struct steering_loop {
  int ratio;  // internal steps per exchange
  int delay;  // exchanges, each way
  bool is_foretold;
  double forgetting;
  double correction;  // kappa; 0: none
  int fade;           // exchanges in which the models take over behind the first 20
} steering_loop;

// The whole system, then the loop; x as steering_run gives it.
void steering_loop_whole(steering_manoeuvre manoeuvre, steering_signals* to);
void steering_loop_run(const steering_loop* loop, steering_manoeuvre manoeuvre,
                       steering_signals* to);

#endif
