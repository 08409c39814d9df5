// The correction, one update per exchange point:
//
//   E_acc += dE*_old + (corr_old . A) H              what the last correction missed, because the rate moved
//   dE*    = mu dP~ H                                0 while suspended: a step or an artefact is not booked
//   b      = -(dE* + k_i E_acc) / (|A| H),  |b| <= gamma * peak |B_k+1 - B_k|,  corr = b A / |A|
//
// Suspended while rho > gate and n_hold steps afterwards; skipped near |A| = 0, where the energy stays in the books.
// The accumulated error is closed one step late, because its last part needs the rate at the end of the step.
// Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, equations 5.44 to 5.48. The last step is closed before the new
// one is booked, because E_acc as printed needs a rate that is not known yet. Guards: docs/couple_energy.md, "Equation".
#include "energy/energy_correction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "energy/energy_vector.h"

// above this rho the method is outside the range it was validated in
#define RHO_VALID 0.2

const yoke_correction_settings yoke__correction_defaults = {
    .monitor = {.peak_time = 1, .offset_time = 2, .offset_gain = 1},
    .mu = (double)NAN,
    .k_i = 0.25,
    .min_rate = 0.05,
    .gamma = 1,
    .gate = 0.5,
    .n_hold = 10,
    .max_action = HUGE_VAL,
    .max_energy = HUGE_VAL,
    .is_enabled = true,
};

const yoke_correction_settings yoke__correction_bare = {
    .monitor = {.peak_time = HUGE_VAL, .offset_time = HUGE_VAL, .offset_gain = 0},
    .mu = (double)NAN,
    .gamma = HUGE_VAL,
    .gate = HUGE_VAL,
    .max_action = HUGE_VAL,
    .max_energy = HUGE_VAL,
    .is_enabled = true,
};

bool yoke__correction_is_unguarded(const yoke_correction_settings* settings) {
  return isinf(settings->gamma) && isinf(settings->max_action) && isinf(settings->gate) &&
         settings->min_rate <= 0 && settings->min_rate_abs <= 0;
}

size_t yoke__correction_numbers(size_t n) {
  return n + yoke__monitor_numbers(n);
}

void yoke__correction_start(yoke_correction* c, const yoke_correction_settings* settings, size_t n,
                            double memory[], const double action[], const double rate[]) {
  *c = (yoke_correction){
      .settings = *settings,
      .corr = memory,
      // k tau v is 2 mu times the change of an action that follows its rate directly
      .clip_gain = (settings->is_clip_needed ? 2 * settings->mu : 1) * settings->gamma,
      .is_single = n == 1 && settings->is_enabled,
  };
  c->is_usual = c->is_single;
  memset(memory, 0, n * sizeof *memory);
  yoke__monitor_start(&c->monitor, &settings->monitor, n, memory + n, action, rate);
}

void yoke__correction_restart(yoke_correction* c, const yoke_correction_settings* settings,
                              size_t n, double memory[], const double action[],
                              const double rate[]) {
  const yoke_correction_counts counts = c->counts;
  yoke__correction_start(c, settings, n, memory, action, rate);
  c->counts = counts;
}

void yoke__correction_lose(yoke_correction* c) {
  c->is_lost = true;
  c->is_usual = false;
}

void yoke__correction_jump(yoke_correction* c) {
  c->is_jump = true;
  c->is_usual = false;
}

// Books what the last step's correction left over. rate: at the end of that step.
static void close_step(yoke_correction* c, double h, const double rate[]) {
  // dE*_old + (corr_old . A) H: what the last correction was to remove, and what it did
  const double missed = c->step_energy + yoke__bond_dot(c->monitor.n, c->corr, rate) * h;
  const double limit = c->settings.max_energy;
  const double sum = c->accumulated + missed;
  if (yoke__is_finite(sum)) {
    // beyond the bound the rest is counted as made and never removed
    c->accumulated = fabs(sum) > limit ? copysign(limit, sum) : sum;
    c->unbooked += sum - c->accumulated;
  }
}

// The gate and its hold; true if this step is suspended.
static bool pass_gate(yoke_correction* c) {
  // rho above the gate: outside the range in which dE = mu dP H holds
  const bool is_gated = c->monitor.rho > c->settings.gate;
  if (is_gated) {
    c->hold = c->settings.n_hold;
  }
  const bool is_held = c->hold > 0;
  if (is_held && !is_gated) {
    c->hold--;
  }
  return is_gated || is_held || c->is_jump;
}

static void suspend(yoke_correction* c, bool is_suspended) {
  c->counts.n_offs += is_suspended && !c->is_suspended && c->settings.is_enabled;
  c->is_suspended = is_suspended;
}

// Energy and action change of the step that ended.
static void book_step(yoke_correction* c, double h) {
  // decaying peak of |B_k+1 - B_k|
  const double old_peak = c->change_peak * c->monitor.peak_decay;

  // dE* = mu dP~ H [J]
  const double energy = c->settings.mu * c->monitor.power_smooth * h;
  if (c->is_suspended) {
    c->step_energy = 0;
    c->unbooked += yoke__is_finite(energy) ? energy : 0;
    c->change_peak = old_peak;
    return;
  }
  c->step_energy = yoke__is_finite(energy) ? energy : 0;
  c->change_peak = c->monitor.change > old_peak ? c->monitor.change : old_peak;
}

// The largest correction. No limit is not the same as infinity times a peak of 0, which is not a number: max_action then.
static inline double clip_of(const yoke_correction* c) {
  const double relative = c->clip_gain * c->change_peak;
  return relative < c->settings.max_action ? relative : c->settings.max_action;
}

// corr along the rate for a step of length h; 0 where the rate is too small to act with.
static void set_correction(yoke_correction* c, double h, const double rate[]) {
  const yoke_correction_settings* s = &c->settings;
  const size_t n = c->monitor.n;
  const double size = yoke__bond_distance(n, rate, NULL);
  const bool is_small = size <= s->min_rate * c->monitor.rate_peak || size < s->min_rate_abs;

  // b = -(dE* + k_i E_acc) / (|A| H)
  double b = -(c->step_energy + s->k_i * c->accumulated) / (size * h);

  // near |A| = 0 a finite energy would need an infinite action
  if (is_small || !yoke__is_finite(b)) {
    c->counts.n_skips++;
    return;
  }
  const double clip = clip_of(c);

  // clipped to the size of what extrapolation can miss: more would be an artefact
  if (fabs(b) > clip) {
    b = copysign(clip, b);
    c->counts.n_clips++;
  }
  for (size_t i = 0; i < n; i++) {
    c->corr[i] = b * (rate[i] / size);  // this way round one component is b or -b, to the bit
  }
  c->counts.peak = fabs(b) > c->counts.peak ? fabs(b) : c->counts.peak;
}

// A step without samples: the last correction is closed, no other begins.
static void pass_lost_step(yoke_correction* c, double h) {
  // the last good rate stands for the one that was lost
  close_step(c, h, c->monitor.rate);
  c->step_energy = 0;
  c->change_peak *= c->monitor.peak_decay;
  memset(c->corr, 0, c->monitor.n * sizeof *c->corr);
  c->counts.n_lost++;
  suspend(c, true);
}

// The same as `act` for one component while all is usual, with no limit of energy, a rate to act with, and all finite. Same
// bits; false: nothing has happened.
static inline bool correct_one(yoke_correction* c, double h_last, double h_next, double rate) {
  const yoke_correction_settings* s = &c->settings;
  const yoke_monitor* m = &c->monitor;

  // E_acc + dE*_old + corr_old A H, then dE* = mu dP~ H, as in close_step and book_step
  const double sum = c->accumulated + (c->step_energy + c->corr[0] * rate * h_last);
  const double smooth = m->power_smooth, energy = s->mu * smooth * h_last;
  const double size = fabs(rate);
  double corr = -(energy + s->k_i * sum) / (rate * h_next);  // b times the sign of the rate
  // a value that is not finite spoils the first of these
  if (!(fabs(sum + energy + corr) <= DBL_MAX) || m->rho > s->gate || fabs(sum) > s->max_energy ||
      size <= s->min_rate * m->rate_peak || size < s->min_rate_abs) {
    return false;
  }

  // from here on nothing can fail: state is only changed now
  c->residual += smooth * h_last;
  if (m->rho > RHO_VALID) {
    c->counts.n_outside++;
  }
  c->accumulated = sum;
  c->step_energy = energy;
  const double old_peak = c->change_peak * m->peak_decay;
  c->change_peak = m->change > old_peak ? m->change : old_peak;
  const double clip = clip_of(c);
  if (fabs(corr) > clip) {
    corr = copysign(clip, corr);
    c->counts.n_clips++;
  }
  c->counts.peak = fabs(corr) > c->counts.peak ? fabs(corr) : c->counts.peak;
  c->corr[0] = corr;
  return true;
}

// What follows from the samples that the monitor has taken, for any number of components.
static YOKE_NOINLINE void act(yoke_correction* c, double h_last, double h_next,
                              const double rate[]) {
  c->is_usual = false;
  if (c->monitor.is_lost) {
    pass_lost_step(c, h_last);
    return;
  }

  // meters go on while the correction is suspended
  c->residual += c->monitor.power_smooth * h_last;
  c->counts.n_outside += c->monitor.rho > RHO_VALID;

  suspend(c, pass_gate(c));
  c->is_jump = false;
  c->is_usual = c->is_single && !c->is_suspended;

  // close the last step, book this one, then correct
  close_step(c, h_last, rate);
  book_step(c, h_last);
  c->counts.n_gates += c->is_suspended;
  for (size_t i = 0; i < c->monitor.n; i++) {
    c->corr[i] = 0;
  }
  if (!c->is_suspended && c->settings.is_enabled) {
    set_correction(c, h_next, rate);
  }
}

// Whatever has happened, and for any number of components.
static YOKE_NOINLINE void update_any(yoke_correction* c, double h_last, double h_next,
                                     const double action[], const double rate[]) {
  if (c->is_jump) {
    yoke__monitor_jump(&c->monitor);
  }
  if (c->is_lost) {
    yoke__monitor_miss(&c->monitor, h_last);
  } else {
    yoke__monitor_update(&c->monitor, h_last, action, rate);
  }
  c->is_lost = false;
  act(c, h_last, h_next, rate);
}

void yoke__correction_update(yoke_correction* c, double h_last, double h_next,
                             const double action[], const double rate[]) {
  c->counts.n_steps++;
  if (!c->is_usual) {
    update_any(c, h_last, h_next, action, rate);
    return;
  }
  const double a = rate[0];
  if (!yoke__monitor_update_one(&c->monitor, h_last, action[0], a)) {
    update_any(c, h_last, h_next, action, rate);
  } else if (!correct_one(c, h_last, h_next, a)) {
    act(c, h_last, h_next, rate);
  }
}
