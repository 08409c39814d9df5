// Readings that come late or out of order. A ring keeps the last steps of a filter: its state before each, inputs, readings. A late
// reading goes to the step that it belongs to, and with the next correction the steps from there on are done again: the estimates
// are the same, bit by bit, as if it had come in time.
//
// One step of the clock:
//   yoke__late_catch_up, yoke__late_ramp(l, change)   first of all, where inputs have moved in the steps before
//   yoke__late_reading(l, sensor, time, value)   as often as there are readings, in any order
//   yoke__late_correct(l, v)                     what came late, then this step
//   yoke__late_predict(l, v, slope)              to the next step
//
// Work is bounded by the length of the ring, memory fixed at preparation. Whoever changes the filter in another way (start, freeze,
// restore) calls yoke__late_start afterwards.
#ifndef YOKE_ESTIMATE_LATE_H
#define YOKE_ESTIMATE_LATE_H

#include "estimate/estimate_filter.h"

typedef enum yoke_late_reading {
  YOKE_READING_NONE,      // not finite
  YOKE_READING_IN_TIME,   // of this step, which is not corrected yet
  YOKE_READING_LATE,      // of a step that the ring still has
  YOKE_READING_TOO_LATE,  // of one before: left out
  YOKE_READING_DOUBLE,    // the sensor has one of that step already: left out
  YOKE_READING_EARLY,     // of a step that is still to come: left out
} yoke_late_reading;

typedef struct yoke_late_counts {
  uint64_t n_in_time, n_late, n_too_late, n_double, n_early;
  uint64_t n_repeated;  // steps done again
  uint64_t longest;     // delay of a reading that was taken [steps]
} yoke_late_counts;

typedef struct yoke_late yoke_late;

// n_steps: how late a reading may be. The filter was made of the setup; both belong to the arena or outlive it.
yoke_status yoke__late_prepare(const yoke_estimate_setup* setup, yoke_estimate* f, size_t n_steps,
                               yoke_arena* arena, yoke_late** out);
// The filter is at time t, before its correction. Counts stay.
void yoke__late_start(yoke_late* l, double t);

// time: when it was taken; it belongs to the nearest step.
yoke_late_reading yoke__late_reading(yoke_late* l, size_t sensor, double time, double value);
// As those of the filter, with its return values. Whatever they are, the step is done when predict returns.
yoke_status yoke__late_correct(yoke_late* l, const double v[]);
yoke_status yoke__late_predict(yoke_late* l, const double v[], const double slope[]);
yoke_status yoke__late_catch_up(yoke_late* l, const double change[]);
yoke_status yoke__late_ramp(yoke_late* l, const double change[]);
yoke_status yoke__late_set_elements(yoke_late* l, const double g[], const double c[]);

// Normalised innovations, one per sensor, of the step that left the ring with the last prediction: they are final. NULL: none did.
const double* yoke__late_settled(const yoke_late* l);
yoke_late_counts yoke__late_counts_of(const yoke_late* l);

// The ring as bytes, without the filter, whose state is saved and restored beside it.
size_t yoke__late_image_size(yoke_late* l);
void yoke__late_save(yoke_late* l, void* image);
void yoke__late_restore(yoke_late* l, const void* image);

#endif
