// How far to trust a result: error bands of signals in their own units, the verdict of a run, energy of bonds, alarms,
// step times, health of coupling methods.
//
//   yoke_run_settings settings = {.trust = YOKE_TRUST_AUTO};
//   yoke_simulation_run(sim, &settings, NULL);   // results are complete
//   yoke_simulation_judge(sim, NULL);            // waits for the companions
//   yoke_run_trust trust;
//   yoke_simulation_get_trust(sim, &trust);
//   printf("%s: %s\n", yoke_verdict_text(trust.verdict), trust.reason);
#ifndef YOKE_TRUST_H
#define YOKE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/simulation.h"
#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_verdict {
  YOKE_VERDICT_NONE,  // nothing to judge: no power passed, or a heat balance
  YOKE_TRUSTWORTHY,
  YOKE_DOUBTFUL,
  YOKE_WRONG,
} yoke_verdict;
// "not judged", "trustworthy", "doubtful", "wrong"; "" for another number.
YOKE_API const char* yoke_verdict_text(yoke_verdict verdict);

// ---- signals

// Waits for the companions of the last run and judges it; then summary.json is written again, with the verdict. settings:
// those of the run, for their `progress`; NULL: none. YOKE_BAD_ARG: there was no run. YOKE_INTERRUPTED: cancelled, no verdict.
// Companions of a system with models of the program itself (yoke_registry_add_unit) run in this call, one after the other and
// in a thread of their own; YOKE_TRUST_AUTO has none there.
YOKE_API yoke_status yoke_simulation_judge(yoke_simulation* simulation,
                                           const yoke_run_settings* settings);

// The run as a whole. Texts live until the next run.
typedef struct yoke_run_trust {
  yoke_verdict verdict;  // the worst of its loops
  const char* reason;    // one sentence
  bool is_diverged;      // a signal grew without bound
  bool
      is_wrong;  // the verdict is "wrong", and the system file does not say that this does not count
  const char* left_out;  // companions that `auto` left out, and how to have them; "" if none
  size_t n_signals;      // judged one by one
} yoke_run_trust;
// Of the last run, until the simulation is stepped on or goes back. YOKE_BAD_ARG before yoke_simulation_judge.
YOKE_API yoke_status yoke_simulation_get_trust(const yoke_simulation* simulation,
                                               yoke_run_trust* out);

// One exchanged signal. Unknown numbers are NaN. Errors are those of the coupling: of steps, methods and the units' solvers,
// not of models and parameters.
typedef struct yoke_signal_trust {
  const char* name;  // "unit.variable"
  const char* dim;   // physical unit such as "m/s"; "" if none
  yoke_verdict verdict;
  const char* reason;  // one sentence
  bool is_wanted;      // it counts for the verdict of the run
  double band;         // the rms error is most likely below this, in the signal's unit
  double band_max;     // the largest error is
  double at_time;      // where that is [s]
  double low;          // the rms error is most likely above this
  double scale;        // size of the signal's movement
  double relative;     // band / scale
  int digits;          // that can be trusted
  bool is_estimated;   // these come from the run itself: it has no companions
} yoke_signal_trust;
// YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_simulation_get_signal(const yoke_simulation* simulation, size_t i,
                                                yoke_signal_trust* out);
// The band of signal i over time: *n points, at most n_room of them evenly chosen. times and bands may be NULL to ask for
// their number.
YOKE_API yoke_status yoke_simulation_get_band(const yoke_simulation* simulation, size_t i,
                                              double times[], double bands[], size_t n_room,
                                              size_t* n);

// ---- flows

// What a connection that carries heat, power, current or another flow to a slower unit has sent and delivered, per element.
typedef struct yoke_flow_trust {
  const char *from, *to;  // "unit.variable"; both live until the next call
  const char* dim;        // of the amounts, such as "J"
  bool is_averaged;       // the mean over each exchange interval is exchanged, not a sample
  double sent, arrived;   // up to now, in SI units
  double
      balance;  // share of what had to arrive that did not, or that nobody sent; NaN: nothing to compare
  double
      missed;  // share of what it sent that its calls may not have seen, by companions; 0 without
  double
      unsettled;  // share of it that trapezoids over its calls leave open; 0: the sender integrates
  yoke_verdict verdict;  // by all three
} yoke_flow_trust;
// Up to now; once the run is judged, with what its companions say. YOKE_BAD_ARG beyond the last one, or before the start.
YOKE_API yoke_status yoke_simulation_get_flow(yoke_simulation* simulation, size_t i,
                                              yoke_flow_trust* out);

// ---- energy

// The energy ledger of one bond, or of all power bonds together, up to now. Unknown numbers are NaN.
typedef struct yoke_bond_trust {
  const char* name;  // NULL: all bonds together
  yoke_verdict verdict;
  const char* reason;          // of the verdict, one sentence; both live until the next call
  const char* explanation;     // what the figures mean, one sentence
  double passed;               // energy that went through the bond [J]
  double energy;               // what errors are compared with [J]
  double residual;             // sum of the residual power [J]
  double created;              // mu times the residual [J]: energy that the coupling created, if no
                               // other source hides it
  double given;                // to the unit that receives the action, by the inputs that acted [J]
  double eps, eps_worst;       // created / energy: over the run, and in the worst window
  double rho_mean, rho_worst;  // residual power relative to the peaks of action and rate
  double ter, rter, rter_worst;       // total energy residual [J], relative to the throughput
  double power, residual_power, rho;  // at the last exchange [W], [W], [1]
  int64_t n_samples;
  size_t n_warnings, n_stops;
} yoke_bond_trust;
// i: index of the bond; the number of bonds: all together. YOKE_BAD_ARG beyond that, or if there is no bond.
YOKE_API yoke_status yoke_simulation_get_bond(yoke_simulation* simulation, size_t i,
                                              yoke_bond_trust* out);

// A limit that was exceeded.
typedef struct yoke_alarm_view {
  size_t bond;
  const char* indicator;  // "rho", "eps", "rter"
  bool is_stop;           // it ended the run
  bool is_given;          // the limit stands in the system file
  double from, to;        // [s]; to is NaN while it lasts
  double value, worst, limit;
} yoke_alarm_view;
// Alarms in the order in which they began. YOKE_BAD_ARG beyond the last one that was kept.
YOKE_API yoke_status yoke_simulation_get_alarm(const yoke_simulation* simulation, size_t i,
                                               yoke_alarm_view* out);

// A limit of a signal (`quality: {stop: {above: {...}}}` of the system file) and what became of it.
typedef struct yoke_limit_view {
  const char* signal;  // as a column of the results has it
  const char* dim;     // its unit; "" if none is known
  double limit;
  bool is_above;       // the signal must not rise above it; else not fall below
  bool is_stop;        // it ends the run
  bool has_ended_run;  // and it did
  int64_t
      n_beyond;  // macro steps at whose end the signal was beyond it, the start included; 0: never
  double time, value;        // the first of them [s]; NaN: never
  double worst_time, worst;  // the value furthest beyond
} yoke_limit_view;
// Limits in the order of the signals. YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_simulation_get_limit(const yoke_simulation* simulation, size_t i,
                                               yoke_limit_view* out);

// Computing time of macro steps, and deadlines.
typedef struct yoke_step_times {
  uint64_t n_timed;  // steps that were timed: all of them if they are long, one in 64 otherwise
  double median_s, p99_s, max_s;
  double real_time_factor;  // simulated time / computing time
} yoke_step_times;
// Of the steps so far.
YOKE_API yoke_status yoke_simulation_get_step_times(const yoke_simulation* simulation,
                                                    yoke_step_times* out);

// Health of a coupling method: ops->n_health numbers named by ops->health_names, see yoke_system_get_coupling. i: index of the
// coupling. YOKE_NO_SUPPORT: it has none. n: room in values.
YOKE_API yoke_status yoke_simulation_get_health(const yoke_simulation* simulation, size_t i,
                                                double values[], size_t n);

#ifdef __cplusplus
}
#endif
#endif
