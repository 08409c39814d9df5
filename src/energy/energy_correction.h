// Energy correction of one bond: an extra action that removes in the next step the energy that the coupling created in
// the last one; with guards, or bare as published.
//
//   dE* = mu dP H,   b = -(dE* + k_i E_acc) / (|A| H),   corr = b A / |A|
//
// Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 5.6; the guards are ours: docs/couple_energy.md.
// Valid for explicit Jacobi and explicit solvers with rho below about 0.2; suspends itself above `gate`.
#ifndef YOKE_ENERGY_CORRECTION_H
#define YOKE_ENERGY_CORRECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "energy/energy_monitor.h"

typedef struct yoke_correction_settings {
  yoke_monitor_settings monitor;
  double mu;
  double k_i;           // weight of the accumulated error, 0..1; default 0.25
  double min_rate;      // skipped while |A| <= min_rate * peak |A|; default 0.05
  double min_rate_abs;  // skipped while |A| < min_rate_abs (bare form); default 0
  double gamma;         // |corr| <= gamma * peak change of the action; default 1; INFINITY: no clip
  bool is_clip_needed;  // that limit times 2 mu: what k tau v needs; default false
  double gate;          // suspended above this rho; default 0.5; INFINITY: never
  int n_hold;           // steps it stays suspended afterwards; default 10
  double max_action;    // |corr| never above this; default INFINITY
  double max_energy;    // |E_acc| never above this [J]; default INFINITY
  bool is_enabled;
} yoke_correction_settings;

extern const yoke_correction_settings yoke__correction_defaults;  // guarded, 10.3; mu is NaN
extern const yoke_correction_settings yoke__correction_bare;  // 10.1 without any guard; mu is NaN

// No clip, no gate and no threshold: near a rate of 0 the correction is unlimited and makes things worse.
bool yoke__correction_is_unguarded(const yoke_correction_settings* settings);

typedef struct yoke_correction_counts {
  int64_t n_steps;
  int64_t n_clips;    // limited by gamma or max_action
  int64_t n_skips;    // rate too small
  int64_t n_gates;    // steps suspended by the gate or a jump, the hold included
  int64_t n_offs;     // times it went from acting to suspended
  int64_t n_lost;     // steps suspended because a sample was lost or not finite
  int64_t n_outside;  // steps with rho above 0.2: outside the range it is meant for
  double peak;        // largest |corr|
} yoke_correction_counts;

typedef struct yoke_correction {
  yoke_correction_settings settings;
  yoke_monitor monitor;
  double* corr;        // what to add to the action now, n numbers
  double step_energy;  // dE* of the last step [J]
  double accumulated;  // E_acc [J]
  double change_peak;  // decaying peak of |B_k+1 - B_k|: the size of the error of extrapolation
  double residual;     // sum of dP~ H [J]
  double unbooked;     // made while suspended, or beyond max_energy: nobody takes it out [J]
  double clip_gain;    // gamma as it counts
  bool is_single;      // one component, switched on
  bool is_usual;       // the same, and none of the following: the short way
  bool is_suspended, is_lost, is_jump;
  int hold;
  yoke_correction_counts counts;
} yoke_correction;

size_t yoke__correction_numbers(size_t n);
// First samples. memory: yoke__correction_numbers(n) numbers that live as long as the correction.
void yoke__correction_start(yoke_correction* c, const yoke_correction_settings* settings, size_t n,
                            double memory[], const double action[], const double rate[]);
// The same with counters that live on.
void yoke__correction_restart(yoke_correction* c, const yoke_correction_settings* settings,
                              size_t n, double memory[], const double action[],
                              const double rate[]);
// The samples after a step of length h_last, before any correction; the correction for the next one, of length
// h_next, is in c->corr. Samples that are not finite count as lost.
void yoke__correction_update(yoke_correction* c, double h_last, double h_next,
                             const double action[], const double rate[]);
// The next samples are substitutes: at the next update they are not looked at, nothing new is booked and nothing
// corrected. What the last correction did is closed with the last good rate.
void yoke__correction_lose(yoke_correction* c);
// The next samples follow a jump: they are taken, but the step that ends there is not booked or corrected.
void yoke__correction_jump(yoke_correction* c);

#endif
