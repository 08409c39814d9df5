// Estimates on a unit of which nothing is known but what its instances do: a Kalman filter for the deviation of the truth from a
// nominal instance, which runs with the present guess `applied` of the unknowns theta. With e = theta - applied:
//
//   y = y_0 + C d + r b + ...       y_0: outputs of the nominal instance; r: how they answer to an offset that was always there,
//                                   measured beside it, by instances that run with an offset
//   d+ = A d + (B - k x+) (e - b)   A, B, C: model of low order (estimate_response.h); x: its state after an offset as old as those
//   b+ = b + k (e - b)              of the instances, x+ = A x + B
//   e+ = e - (change of applied) + walk
//
// b is the part of e that is treated as if it had always been there: what is slow goes through r, which is exact at the present
// operating point however nonlinear the unit is, and what is fast through A, B, C. Where the unit is linear, C x = r and the split
// by k changes nothing. An unknown that is constant, or drifts slowly compared with the memory of the unit, needs no A, B, C: b = e.
//
// Second order (`curve`): y has (c/2) b^2 more; its mean and variance are taken into account, c is measured by instances with
// offsets of both signs. What the model cannot say is measured too, by two more instances with offsets of opposite sign in all
// unknowns: the odd part of its errors grows with the deviation (motion), the even part with its square (products of unknowns).
// Both are added to the variance that is expected.
#ifndef YOKE_ESTIMATE_DEVIATION_H
#define YOKE_ESTIMATE_DEVIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "estimate/estimate_response.h"

#define YOKE_DEVIATION_OUTPUT SIZE_MAX
#define YOKE_DEVIATION_FAR                                                                         \
  5.0  // standard deviations of the guess and its walk: an unknown beyond is not as it was said to be

typedef struct yoke_deviation_unknown {
  double start, sd;     // first guess and its standard deviation
  double walk;          // standard deviation of its drift in a second [unit/sqrt(s)]
  double lower, upper;  // bounds of theta; -INFINITY, INFINITY: none
  bool is_fast;         // an input of the model of low order
  size_t
      sensor;  // added to what this sensor reads; YOKE_DEVIATION_OUTPUT: it acts through the unit
  bool is_start;    // acts on the state at the start alone, with which instances always begin
  size_t start_of;  // of these: the unknown that is the same number at the start, + 1; 0: none
} yoke_deviation_unknown;

// Distance of a value at time t from its guess, over what sd and walk allow.
double yoke__deviation_excursion(const yoke_deviation_unknown* u, double value, double t);

typedef struct yoke_deviation_sensor {
  size_t output;
  double sigma;  // > 0
} yoke_deviation_sensor;

typedef struct yoke_deviation_setup {
  size_t n_outputs, n_unknowns, n_sensors;
  const yoke_deviation_unknown* unknowns;
  const yoke_deviation_sensor* sensors;
  size_t max_order;  // of the models
  double h;          // step [s]
  double
      gate;  // readings further than this many standard deviations from the expected are left out; 0: none are
} yoke_deviation_setup;

// What the instances say at the present time; n_outputs x n_unknowns, rows of outputs.
typedef struct yoke_deviation_point {
  const double* y;      // n_outputs, of the nominal instance
  const double* live;   // r, per unit of offset
  const double* curve;  // c, or NULL
} yoke_deviation_point;

typedef struct yoke_deviation yoke_deviation;

// NULL: out of memory, which the arena notes. The setup is copied.
yoke_deviation* yoke__deviation_prepare(const yoke_deviation_setup* setup, yoke_arena* arena);
// applied: of the nominal instance at the start (NULL: the first guesses). What is believed of the unknowns is the same in any case.
void yoke__deviation_start(yoke_deviation* f, const double applied[]);

// ---- models of low order; their inputs are the fast unknowns, in order

// A new model, and what the filter needs to change over to it. Made beside the step path.
typedef struct yoke_deviation_renewal {
  yoke_low_model model;
  double* x;         // order x inputs: after an offset of `age` steps
  double* transfer;  // order x order of the model before
  uint64_t age;      // of the offsets of the instances, at the step in which it is taken
  uint64_t rest;     // steps after which their responses hardly move any more
  double* work;
} yoke_deviation_renewal;

yoke_deviation_renewal yoke__deviation_renewal_prepare(const yoke_response* r, size_t max_order,
                                                       yoke_arena* arena);
// After yoke__realise into out->model. before: NULL or the model that the filter has.
yoke_status yoke__deviation_renew(yoke_realise* work, const yoke_low_model* before, uint64_t age,
                                  yoke_deviation_renewal* out);
// In the step path, between correct and predict: the new model runs beside the one there is, both predict the instances that check.
void yoke__deviation_try(yoke_deviation* f, const yoke_deviation_renewal* renewal);
// Sum of squares of its errors since then over that of the model there is, worst of all outputs; NaN: nothing to compare.
double yoke__deviation_trial(const yoke_deviation* f);
// It takes over. It must have been tried, if only in this step.
void yoke__deviation_adopt(yoke_deviation* f, const yoke_deviation_renewal* renewal);
const yoke_low_model* yoke__deviation_model(const yoke_deviation* f);  // order 0: none yet

// ---- steps, without heap

// The readings that belong to the point. A reading that is not finite counts as missing. YOKE_DIVERGED: numbers are not finite.
yoke_status yoke__deviation_correct(yoke_deviation* f, const yoke_deviation_point* point,
                                    const double readings[], const bool have[]);
// To the next step, in which the instances run with applied + shift.
yoke_status yoke__deviation_predict(yoke_deviation* f, const double shift[]);

// ---- is the model right?

// Two instances with offsets of their own: offset (n_unknowns) is what the first ran with in the step that led to the point, the
// other with the same less; plus, minus (n_outputs): what their outputs differ from the nominal ones. The filter compares that
// with what it would have said.
void yoke__deviation_check(yoke_deviation* f, const yoke_deviation_point* point,
                           const double offset[], const double plus[], const double minus[]);
// Error of such predictions of an output over the size of the differences, rms of the last steps; NaN: nothing known.
double yoke__deviation_error(const yoke_deviation* f, size_t output);
// What the model may be wrong by at the present deviation: of a sensor over its noise, and of a slow unknown over its standard
// deviation.
double yoke__deviation_misfit(const yoke_deviation* f, const yoke_deviation_point* point,
                              size_t sensor);
double yoke__deviation_bias(const yoke_deviation* f, size_t unknown);

// ---- results, at the point

void yoke__deviation_output(const yoke_deviation* f, const yoke_deviation_point* point,
                            size_t output, double* value, double* sd);
void yoke__deviation_unknown_of(const yoke_deviation* f, size_t unknown, double* value, double* sd);
double yoke__deviation_applied(const yoke_deviation* f, size_t unknown);
// Both NaN if the sensor had no reading.
void yoke__deviation_innovation(const yoke_deviation* f, size_t sensor, double* innovation,
                                double* sd);
// Share of its variance that stands for the errors of the model.
double yoke__deviation_doubt(const yoke_deviation* f, size_t sensor);
uint64_t yoke__deviation_gated(const yoke_deviation* f);
uint64_t yoke__deviation_bound_hits(const yoke_deviation* f, size_t unknown);
size_t yoke__deviation_size(const yoke_deviation* f);
const double* yoke__deviation_mean(const yoke_deviation* f);
const double* yoke__deviation_covariance(const yoke_deviation* f);

#endif
