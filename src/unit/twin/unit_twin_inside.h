// A twin seen from inside, for studies over records: its filter, what it is set up with, and its verdict.
#ifndef YOKE_UNIT_TWIN_INSIDE_H
#define YOKE_UNIT_TWIN_INSIDE_H

#include "estimate/estimate_filter.h"
#include "estimate/estimate_innovation.h"
#include "unit/twin/unit_twin.h"

// Texts and arrays belong to the unit.
typedef struct yoke_unit_twin_inside {
  const yoke_unit_twin_sensor* sensors;
  const yoke_unit_twin_unknown* unknowns;
  size_t n_sensors, n_unknowns;
  double h;                   // step of the filter [s]
  double gate;                // standard deviations beyond which readings are left out; 0: none
  yoke_twin_verdict verdict;  // of the innovations alone
  yoke_finding why;
  // of a sensor in the last step; NaN: it had no reading
  void (*innovation)(const void* self, size_t sensor, double* innovation, double* sd);
  const yoke_estimate_setup*
      setup;          // g and c with the guesses; its unknowns are those of above, in
                      // their order. NULL: a twin of a black box
  const double* z;    // temperatures of the capacities that were given; NULL: it started at rest
  uint64_t n_start;   // steps that belong to the start and are not judged
  bool is_ambiguous;  // unknowns cannot be distinguished: their deviations may be too small
  bool is_learning;   // the noise of a sensor without sigma, before anything is judged
  bool is_doubtful;   // a black box: what was learnt first does not fit what came later
  bool is_gated;      // more readings were left out by the gate than outliers may be
  bool has_diverged, has_laws;  // a resistance follows a law
  yoke_estimate_reason reason;
  size_t far;  // unknown that is further from its guess than guess and walk allow; n_unknowns: none
  double excursion;  // of it, in standard deviations
  uint64_t n_steps;  // of the filter
} yoke_unit_twin_inside;

// Of a unit that has been initialised. False: it is no twin of a network.
bool yoke__unit_twin_inside(const yoke_unit_ops* ops, const void* self, yoke_unit_twin_inside* out);
// The same of a twin of a black box.
bool yoke__twin_black_inside(const yoke_unit_ops* ops, const void* self,
                             yoke_unit_twin_inside* out);
// Inputs of the thermal network at time t, of a unit that is not stepped, one call per step of it: v; line + slope s over the step
// that follows; before: what they did in the step before beside its line, straight from 0 to this by its end; missed: the same of the
// step before that one.
typedef struct yoke_unit_twin_inputs {
  double *v, *line, *slope, *before, *missed;
} yoke_unit_twin_inputs;
// u: all real inputs of the unit in their order. is_held: per known input, whether its source holds it.
void yoke__unit_twin_inputs(void* self, double t, const double u[], const bool is_held[],
                            const yoke_unit_twin_inputs* to);
// Value and standard deviation of the filter for unknown i as the user counts them.
double yoke__unit_twin_value(const void* self, size_t unknown, double value);
double yoke__unit_twin_deviation(const void* self, size_t unknown, double value, double sd);

#endif
