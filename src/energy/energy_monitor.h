// Residual power of one bond from the samples of its action B and rate A at exchange points (SI units):
//
//   dP_k+1 = B_k . A_k+1 - B_k+1 . A_k          > 0: the coupling creates energy
//   rho    = |dP~| / (peak |B~| peak |A|),      B~ = B - B_off, dP~ from B~
//
// B_off is a slow mean of the action (a static load carries no energy error), the peaks decay with a time constant.
// Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 5.5, for dP; rho is ours. Page: docs/ledger.md, "Two
// residuals" and "Indicators".
#ifndef YOKE_ENERGY_MONITOR_H
#define YOKE_ENERGY_MONITOR_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_MONITOR_REST                                                                          \
  1e-12  // a change of the action below this share of its offset is rounding

typedef struct yoke_monitor_settings {
  double peak_time;    // time constant of the peaks [s]; INFINITY: they never decay
  double offset_time;  // time constant of the offset [s]; INFINITY: stays where it starts
  double offset_gain;  // 1: the offset starts at the first action; 0: at zero
} yoke_monitor_settings;

typedef struct yoke_monitor {
  yoke_monitor_settings settings;
  size_t n;                            // components
  double *action, *rate, *offset;      // last samples and offset, n each
  double h, peak_decay, offset_share;  // for steps of length h [s]
  double rate_peak, action_peak;
  double power;         // dP of the last step [W]
  double power_smooth;  // the same from the action without its offset [W]
  double rho;           // 0 while a peak is 0
  double change;        // |B_k+1 - B_k|
  bool has_samples;     // false until the first samples that are finite
  bool is_lost;         // the last samples were left out
  int64_t n_missed;     // samples left out since the last good ones; 0 only if there are such
} yoke_monitor;

// Other time constants from the next step on.
void yoke__monitor_set_times(yoke_monitor* monitor, double peak_time, double offset_time);
// Numbers of memory for n components.
size_t yoke__monitor_numbers(size_t n);
// First samples. memory: yoke__monitor_numbers(n) numbers that live as long as the monitor.
void yoke__monitor_start(yoke_monitor* monitor, const yoke_monitor_settings* settings, size_t n,
                         double memory[], const double action[], const double rate[]);
// The samples after a step of length h [s]. Samples that are not finite, or whose products are not, are left out
// (yoke__monitor_miss). The samples after one lost step are compared with the last good ones, which covers both
// steps; after more than one they start anew and give dP = 0.
void yoke__monitor_update(yoke_monitor* monitor, double h, const double action[],
                          const double rate[]);
// The same where dP is computed by the caller (partner held): held is the action with the partner's old samples,
// dP = (held - action) . rate.
void yoke__monitor_update_held(yoke_monitor* monitor, double h, const double held[],
                               const double action[], const double rate[]);
// One component, all as usual (good samples before and now, the same step as before): false if it is not, then nothing
// has happened and yoke__monitor_update must be called. Same bits.
static inline bool yoke__monitor_update_one(yoke_monitor* m, double h, double action, double rate) {
  double* kept = m->action;  // action, rate and offset of one component lie side by side
  const double b = kept[0], a = kept[1], offset = kept[2], swing = action - offset;

  // dP = B_k A_k+1 - B_k+1 A_k, then the same from B - B_off
  const double power = b * rate - action * a;
  const double smooth = (b - offset) * rate - swing * a;

  // decayed peaks of |A| and |B - B_off|
  const double rate_old = m->rate_peak * m->peak_decay, rate_size = fabs(rate);
  const double action_old = m->action_peak * m->peak_decay, action_size = fabs(swing);
  const double rate_peak = rate_size > rate_old ? rate_size : rate_old;
  const double action_peak = action_size > action_old ? action_size : action_old;
  const double scale = action_peak * rate_peak;
  // at rest under a static load rho would compare rounding errors
  const bool is_moving = action_peak > YOKE_MONITOR_REST * fabs(offset) && scale > 0;

  // rho = |dP~| / (F_pk A_pk)
  const double rho = is_moving ? fabs(smooth) / scale : 0;
  // a value that is not finite spoils the first of these; without samples some are missed
  if (!(fabs(power + rho) <= DBL_MAX) || h != m->h || m->n_missed > 0) {
    return false;
  }
  // arrays first: what is stored behind them need not be read again
  kept[0] = action;
  kept[1] = rate;
  kept[2] = offset + m->offset_share * swing;
  m->rate_peak = rate_peak;
  m->action_peak = action_peak;
  m->rho = rho;
  m->power = power;
  m->power_smooth = smooth;
  m->change = fabs(action - b);
  return true;
}
// A step of length h [s] without samples: dP, rho and change are 0, the peaks decay.
void yoke__monitor_miss(yoke_monitor* monitor, double h);
// The next samples follow a jump: they are taken, but not compared with the last ones.
void yoke__monitor_jump(yoke_monitor* monitor);

#endif
