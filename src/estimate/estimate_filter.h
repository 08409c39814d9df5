// Estimates of a thermal network: temperatures, and what is unknown of parameters, heat and sensors.
//
// One step of the clock, from t to t + h:
//   yoke__estimate_correct(f, v, readings, have)   readings that belong to t, with the inputs at t
//   yoke__estimate_predict(f, v, slope)            to t + h; v held, or v + slope s
//   yoke__estimate_ramp(f, change)                 at t + h, if inputs turn out to have moved by then
// Known inputs may jump between any two calls.
//
// Methods, with rho the unknowns:
//   linear      q = [z; rho], rho inputs and sensor offsets: exact discretisation, also of what walks within a step; nothing is
//               approximated
//   derivative  q = [z; z'; rho] and c z' = K z + M v imposed as measurements without noise (docs/twin.md); for resistances and
//               capacities. The dependence of the motion on rho is left to these measurements.
//   extended    q = [z; rho], linearised: fails for resistances and capacities from bad guesses, which prepare says
//   unscented   q = [z; rho] by sigma points: works from worse guesses than the extended one, at many times its cost
#ifndef YOKE_ESTIMATE_FILTER_H
#define YOKE_ESTIMATE_FILTER_H

#include <stdbool.h>

#include "estimate/estimate_model.h"

typedef enum yoke_estimate_method {
  YOKE_ESTIMATE_AUTO,  // derivative if a resistance or capacity is unknown, else linear
  YOKE_ESTIMATE_LINEAR,
  YOKE_ESTIMATE_DERIVATIVE,
  YOKE_ESTIMATE_EXTENDED,
  YOKE_ESTIMATE_UNSCENTED,
} yoke_estimate_method;

typedef enum yoke_unknown_kind {
  YOKE_UNKNOWN_RESISTANCE,  // of resistors: R_e = factor_e * value
  YOKE_UNKNOWN_CONDUCTANCE,  // the same, but the filter works with 1 / value, unless the resistors lead to nodes that have no
  // other one, whose temperature is linear in R; value, bounds, sd and walk are still those of R
  YOKE_UNKNOWN_CAPACITY,  // of capacities: c_i = factor_i * value
  YOKE_UNKNOWN_INPUT,     // of inputs (heat or imposed temperatures): v_i = factor_i * value
  YOKE_UNKNOWN_OFFSET,    // added to what sensor targets[0] reads
} yoke_unknown_kind;

typedef struct yoke_unknown {
  yoke_unknown_kind kind;
  const char* name;
  const uint32_t* targets;  // resistors, capacities, inputs or a sensor
  const double* factors;    // NULL: 1
  size_t n_targets;
  double start, sd;  // first guess and its standard deviation
  double walk;       // standard deviation of its drift in a second [unit/sqrt(s)]; 0: constant
  double lower,
      upper;  // bounds; -INFINITY, INFINITY: none. Resistances and capacities stay within a factor of 1e6 of the start
              // in any case.
} yoke_unknown;

typedef struct yoke_sensor {
  const char* name;
  yoke_heat_row row;
  double sigma;  // standard deviation of its noise, > 0
} yoke_sensor;

typedef struct yoke_estimate_setup {
  const yoke_heat_network* network;
  const double *g,
      *c;  // what is not unknown, and the guesses of what is are taken from the unknowns
  const yoke_sensor* sensors;
  const yoke_unknown* unknowns;
  const yoke_heat_row* outputs;  // of interest: virtual sensors
  size_t n_sensors, n_unknowns, n_outputs;
  yoke_estimate_method method;
  double h;            // step [s]
  const double* z_sd;  // standard deviation of each temperature at the start [K]
  double rate_sd;      // derivative: of z' at the start [K/s], beside the walk of a step
  double z_walk;       // of the temperatures [K/sqrt(s)]
  double
      rate_walk;  // derivative: of z' [K/s/sqrt(s)], > 0 unless there is jitter. Walks of unknown inputs come on top.
  const double*
      rate_noise;  // derivative: spectral density of z' beyond that of rate_walk, p x p and symmetric; NULL: none
  bool
      has_loose_walks;  // derivative: walks of inputs move z' by as much as they should, but without correlation; for comparison
  double
      gate;  // readings further than this many standard deviations from the expected are left out; 0: none are
  double jitter;  // derivative: variance of the perfect measurements [W^2]
} yoke_estimate_setup;

// Counts since the start.
typedef struct yoke_estimate_counts {
  uint64_t n_steps, n_readings, n_missing,
      n_gated;  // predictions; readings with, without, and against the gate
} yoke_estimate_counts;

typedef enum yoke_estimate_state {
  YOKE_ESTIMATE_RUNNING,
  YOKE_ESTIMATE_DIVERGED,  // see yoke__estimate_reason; ends with the next start
} yoke_estimate_state;

// Why it diverged.
typedef enum yoke_estimate_reason {
  YOKE_ESTIMATE_SOUND,
  YOKE_ESTIMATE_NOT_FINITE,  // a number is not finite, or the network cannot be solved with the estimates
  YOKE_ESTIMATE_NOT_POSITIVE,  // a variance is not positive
  YOKE_ESTIMATE_AT_BOUND,  // the same resistance or capacity was at its bound for YOKE_ESTIMATE_PATIENCE corrections in a row
  YOKE_ESTIMATE_LOST,  // the readings were 10 standard deviations off, or beyond the gate, for as many
} yoke_estimate_reason;

#define YOKE_ESTIMATE_PATIENCE 500

typedef struct yoke_estimate yoke_estimate;

// What is wrong with the setup goes to the sink, with the names. The filter belongs to the arena.
yoke_status yoke__estimate_prepare(const yoke_estimate_setup* setup, yoke_arena* arena,
                                   yoke_estimate** out, const yoke_sink* sink);
// Temperatures z at the start (NULL: rest at v, as yoke__estimate_start_rest); z' follows from them and the guesses, so that all is
// consistent.
yoke_status yoke__estimate_start(yoke_estimate* f, const double z[], const double v[]);

// The same where `given` says NaN, or is NULL: at rest at v with the guesses. These temperatures are as wrong as the guesses make
// them, in the same direction, beside z_sd. Takes heap. YOKE_SINGULAR: there is no rest.
yoke_status yoke__estimate_start_rest(yoke_estimate* f, const double given[], const double v[]);

// The same with other values of the unknowns than the guesses, and the same deviations. z is needed.
yoke_status yoke__estimate_start_at(yoke_estimate* f, const double values[], const double z[],
                                    const double v[]);
// Noise of a sensor from now on; it is no part of a saved state.
void yoke__estimate_set_sigma(yoke_estimate* f, size_t sensor, double sigma);

// readings, have: one per sensor; have NULL: all are there; a reading that is not finite counts as missing. No heap, bounded work.
// YOKE_DIVERGED: it did, now or before; nothing is estimated until the next start. YOKE_NOT_FINITE: a known input is not finite,
// and nothing was done.
yoke_status yoke__estimate_correct(yoke_estimate* f, const double v[], const double readings[],
                                   const bool have[]);
// slope: d v / dt during the step, or NULL. Fails as correct.
yoke_status yoke__estimate_predict(yoke_estimate* f, const double v[], const double slope[]);
// What is known of inputs only when a step is over: beside what the prediction took for them they went straight from 0 to `change`
// (one per input; unknown ones are not looked at). Before anything else of the new step. The mean is that of a prediction with this
// slope; so is the covariance, but of the unscented method, whose points keep the spread that they had. Fails as correct.
yoke_status yoke__estimate_ramp(yoke_estimate* f, const double change[]);
// The same of the step before that one, where only the last one shows that it was no jump; before the ramp. What corrections have taken
// upon them since stays.
yoke_status yoke__estimate_catch_up(yoke_estimate* f, const double change[]);
// Conductances and capacities that are known and have changed; those of unknowns are not looked at. Fails as correct.
yoke_status yoke__estimate_set_elements(yoke_estimate* f, const double g[], const double c[]);

// Values and standard deviations now, with the inputs of the last call.
void yoke__estimate_output(const yoke_estimate* f, size_t output, double* value, double* sd);
void yoke__estimate_unknown(const yoke_estimate* f, size_t unknown, double* value, double* sd);
// How far the estimate of an input or offset is from its guess, over what guess and walk allow by now:
// (value - start) / sqrt(sd^2 + walk^2 t). Where as much is unknown as there are sensors, a wrong model leaves the innovations in
// order: the unknowns take the fault upon them, and only this shows it. 0 for resistances and capacities, whose guesses are rough.
double yoke__estimate_excursion(const yoke_estimate* f, size_t unknown);
#define YOKE_ESTIMATE_FAR 5.0  // more than chance, at any time of a run
uint64_t yoke__estimate_bound_hits(const yoke_estimate* f, size_t unknown);
// Of the last correction: reading less expectation, and the standard deviation that the filter expected of it; both NaN if the
// sensor had no reading. Each sensor is expected with the knowledge of those before it, so that innovations are independent.
void yoke__estimate_innovation(const yoke_estimate* f, size_t sensor, double* innovation,
                               double* sd);
yoke_estimate_counts yoke__estimate_counts_of(const yoke_estimate* f);
yoke_estimate_state yoke__estimate_state_of(const yoke_estimate* f);
yoke_estimate_reason yoke__estimate_reason_of(const yoke_estimate* f);

// The whole state as bytes.
size_t yoke__estimate_image_size(const yoke_estimate* f);
void yoke__estimate_save(const yoke_estimate* f, void* image);
void yoke__estimate_restore(yoke_estimate* f, const void* image);
// Freezes an unknown at its present value, or lets it move again from there with the variance that it had.
void yoke__estimate_freeze(yoke_estimate* f, size_t unknown, bool is_frozen);

// Mean and covariance as they are, for reports and tests. Order of q: as of the method; a conductance stands for its resistance.
size_t yoke__estimate_size(const yoke_estimate* f);
const double* yoke__estimate_mean(const yoke_estimate* f);
const double* yoke__estimate_covariance(const yoke_estimate* f);
// Puts others in their place; P must be exactly symmetric, NULL: as it is.
yoke_status yoke__estimate_set_mean(yoke_estimate* f, const double q[], const double P[]);

// What was chosen for YOKE_ESTIMATE_AUTO.
yoke_estimate_method yoke__estimate_method_of(const yoke_estimate* f);

#endif
