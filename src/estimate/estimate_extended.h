// Estimates on a unit that offers its derivatives: an extended Kalman filter around one nominal instance, which can be stepped and
// linearised but whose states cannot be written. It is corrected through its inputs alone, and the filter knows what that does.
//
//   d: states of the true unit less those of the nominal one      e: true unknown inputs less the applied ones
//
//   d' = A d + B e + noise,  y = y_0 + C d + D e     y_0: outputs of the nominal instance
//   e+ = e - (change of applied) + walk              constant within a step
//
// A, B, C and D belong to the present point of the nominal instance. A step uses the mean of A and B at its two ends, and is exact
// where these are constant. What y is at t + h follows from the inputs of the step that ends there: e of this step, not of the next
// one. Unknowns change between steps, so that e of the first step is the first guess and one walk.
//
// The nominal instance runs with the present estimates of the unknown inputs. A wrong initial state remains in it for as long as the
// unit remembers it; d has it, which estimate_black.h cannot.
//
// Of first order in d: where the unit is nonlinear and d large, the filter learns wrong values and is too sure of them. One instance
// cannot tell what the unit does d away from it, so this is found afterwards: a second filter on the same instance leaves out the
// first readings. Where the two differ by more than those explain, the filter continues with what the second one knows, and the
// verdict is `inconsistent` until they agree (estimate_extended_fresh.c). This is a test of the unknowns; d is only judged by the
// innovations. Errors of a few standard deviations may stay unnoticed, and nothing is said before step 128. It takes a step some
// three times as long.
//
// One step from t = k h to t + h:
//   yoke__extended_correct(x, known, readings, have)   readings that belong to t, known inputs for the step
//   yoke__extended_advance(x)                          instance and estimates to t + h
// Results belong to the time of the last call.
#ifndef YOKE_ESTIMATE_EXTENDED_H
#define YOKE_ESTIMATE_EXTENDED_H

#include "estimate/estimate_deviation.h"
#include "estimate/estimate_innovation.h"

// Who runs the nominal instance. theta: values of the unknown inputs (unknowns that are no offsets of sensors, in their order).
typedef struct yoke_extended_box {
  void* context;
  // One step from k to k + 1; y: n_outputs, after it.
  yoke_status (*step)(void* context, uint64_t k, const double known[], const double theta[],
                      double y[]);
  // At its present state, and with the inputs that it had in the last step (before the first one: at the start). All four are
  // filled, row by row; the columns of B and D are the unknown inputs.
  yoke_status (*linearise)(void* context, const double known[], const double theta[], double A[],
                           double B[], double C[], double D[]);
} yoke_extended_box;

typedef struct yoke_extended_setup {
  size_t n_states, n_outputs, n_known, n_unknowns, n_sensors;
  // is_fast is not read. Bounds hold for what the nominal instance runs with, too.
  const yoke_deviation_unknown* unknowns;
  const yoke_deviation_sensor* sensors;
  const double* state_start;  // standard deviations of the states at the start; NULL: 0
  const double* state_walk;   // of their disturbance in a second [unit/sqrt(s)]; NULL: 0
  double h;                   // step [s]
  double
      gate;  // readings further than this many standard deviations from the expected are left out; 0: none are
  yoke_extended_box box;
} yoke_extended_setup;

typedef struct yoke_extended yoke_extended;

// NULL: out of memory, which the arena notes. The setup is copied.
yoke_extended* yoke__extended_prepare(const yoke_extended_setup* setup, yoke_arena* arena);
// The instance is at its start, with the first guesses as its unknown inputs. y: outputs there; known: inputs that they belong to.
yoke_status yoke__extended_start(yoke_extended* x, const double known[], const double y[]);

// ---- steps, without heap

// A reading that is not finite counts as missing. YOKE_DIVERGED: numbers are not finite, now or in a step before.
yoke_status yoke__extended_correct(yoke_extended* x, const double known[], const double readings[],
                                   const bool have[]);
// Fails as the box does. YOKE_DIVERGED as above, and where A h is too large for its exponential (estimate_model.h). After that the
// nominal instance still goes on, with the inputs it has.
yoke_status yoke__extended_advance(yoke_extended* x);

// ---- results

const double* yoke__extended_nominal(const yoke_extended* x);  // outputs of the instance
void yoke__extended_output(const yoke_extended* x, size_t output, double* value, double* sd);
// Of the step that has just ended.
void yoke__extended_unknown(const yoke_extended* x, size_t unknown, double* value, double* sd);
// d; the state itself is that of the nominal instance and this.
void yoke__extended_state(const yoke_extended* x, size_t state, double* deviation, double* sd);
double yoke__extended_applied(const yoke_extended* x, size_t unknown);
// Both NaN if the sensor had no reading.
void yoke__extended_innovation(const yoke_extended* x, size_t sensor, double* innovation,
                               double* sd);
uint64_t yoke__extended_gated(const yoke_extended* x);
uint64_t yoke__extended_bound_hits(const yoke_extended* x, size_t unknown);
// At the last look (after 128, 256, 512 ... steps): distance of the two filters in standard deviations, worst of all unknowns; NaN:
// not known. And how often the filter continued with the second one.
#define YOKE_EXTENDED_DOUBT 4.0  // beyond it one of them is wrong; by chance in one of 16000 looks
double yoke__extended_doubt(const yoke_extended* x);
uint32_t yoke__extended_restarts(const yoke_extended* x);
// As yoke__black_find_far.
size_t yoke__extended_find_far(const yoke_extended* x, double* excursion);
// why (may be NULL): what the innovations say; doubt and excursion are not part of it.
yoke_twin_verdict yoke__extended_verdict(const yoke_extended* x, yoke_finding* why);

#endif
