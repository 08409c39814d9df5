// Residual power and the normalised indicator of one bond, step by step:
//
//   dP   = B_k . A_k+1 - B_k+1 . A_k                 dP~ the same with B - B_off
//   A_pk = max(|A|, A_pk exp(-h/T_pk))               F_pk = max(|B - B_off|, F_pk exp(-h/T_pk))
//   rho  = |dP~| / (F_pk A_pk)                       then B_off += (h/T_off) (B - B_off)
//
// The old offset is used for everything in a step; it moves at its end. The order of operations
// matters: counters of the correction depend on it. Source: energy_monitor.h.
// Assumes samples at exchange points, before any correction.
#include "energy/energy_monitor.h"

#include <math.h>
#include <string.h>

#include "energy/energy_vector.h"

// What one pair of samples gives.
typedef struct outcome {
  double power, power_smooth, change;
  double rate_size, action_size;
} outcome;

size_t yoke__monitor_numbers(size_t n) {
  return 3 * n;
}

static void keep_samples(yoke_monitor* m, const double action[], const double rate[]) {
  for (size_t i = 0; i < m->n; i++) {
    m->action[i] = action[i];
    m->rate[i] = rate[i];
  }
}

// Takes the first samples, unless they are not finite.
static void begin(yoke_monitor* m, const double action[], const double rate[]) {
  m->has_samples = yoke__are_finite(m->n, action) && yoke__are_finite(m->n, rate);
  m->is_lost = !m->has_samples;
  if (!m->has_samples) {
    m->n_missed = m->n_missed > 0 ? m->n_missed : 1;
    return;
  }
  keep_samples(m, action, rate);

  // B_off starts at the first action or at 0
  for (size_t i = 0; i < m->n; i++) {
    m->offset[i] = m->settings.offset_gain * action[i];
  }
}

void yoke__monitor_start(yoke_monitor* monitor, const yoke_monitor_settings* settings, size_t n,
                         double memory[], const double action[], const double rate[]) {
  *monitor = (yoke_monitor){
      .settings = *settings,
      .n = n,
      .action = memory,
      .rate = memory + n,
      .offset = memory + 2 * n,
      .peak_decay = 1,
  };
  memset(memory, 0, yoke__monitor_numbers(n) * sizeof *memory);
  begin(monitor, action, rate);
}

// exp() only when the step changes; an infinite time constant gives 1 and 0
static void set_step(yoke_monitor* m, double h) {
  if (h != m->h && h >= 0) {
    m->h = h;
    // exp(-h / T_pk), and h / T_off up to 1, where the offset is the last action
    m->peak_decay = exp(-h / m->settings.peak_time);
    m->offset_share = fmin(h / m->settings.offset_time, 1);
  }
}

void yoke__monitor_set_times(yoke_monitor* monitor, double peak_time, double offset_time) {
  monitor->settings.peak_time = peak_time;
  monitor->settings.offset_time = offset_time;
  monitor->h = -1;  // no step has this length: the shares are computed with the next one
}

static void set_peaks(yoke_monitor* m, double rate_size, double action_size) {
  // max of the decayed peak and of this sample
  const double rate_old = m->rate_peak * m->peak_decay;
  const double action_old = m->action_peak * m->peak_decay;
  m->rate_peak = rate_size > rate_old ? rate_size : rate_old;
  m->action_peak = action_size > action_old ? action_size : action_old;
}

// dP and dP~ of two pairs of samples; held: see yoke__monitor_update_held, or NULL
static outcome compare(const yoke_monitor* m, const double held[], const double action[],
                       const double rate[]) {
  outcome o = {0};
  for (size_t i = 0; i < m->n; i++) {
    const double offset = m->offset[i];
    double power = 0, smooth = 0;
    if (held != NULL) {
      // partner held: dP = (B(held) - B(new)) A
      power = (held[i] - action[i]) * rate[i];
    } else {
      // dP = B_k A_k+1 - B_k+1 A_k; the same with B - B_off for dP~
      power = m->action[i] * rate[i] - action[i] * m->rate[i];
      smooth = (m->action[i] - offset) * rate[i] - (action[i] - offset) * m->rate[i];
    }
    // one component keeps its -0, as in yoke__monitor_update_one
    o.power = i == 0 ? power : o.power + power;
    o.power_smooth = i == 0 ? smooth : o.power_smooth + smooth;
  }
  // with the partner held both actions have the same offset: it drops out
  o.power_smooth = held != NULL ? o.power : o.power_smooth;
  o.change = yoke__bond_distance(m->n, action, m->action);
  o.rate_size = yoke__bond_distance(m->n, rate, NULL);
  o.action_size = yoke__bond_distance(m->n, action, m->offset);
  return o;
}

void yoke__monitor_miss(yoke_monitor* monitor, double h) {
  // peaks decay through a lost step as through any other
  set_step(monitor, h);
  set_peaks(monitor, 0, 0);
  monitor->power = monitor->power_smooth = monitor->rho = monitor->change = 0;
  monitor->is_lost = true;
  monitor->n_missed++;
}

void yoke__monitor_jump(yoke_monitor* monitor) {
  // as after a long gap: the next samples stand for themselves
  monitor->n_missed += 2;
}

// anything not finite in the samples or their products shows in one of the five numbers
static bool is_usable(const outcome* o) {
  return yoke__is_finite(o->power) && yoke__is_finite(o->power_smooth) &&
         yoke__is_finite(o->change) && yoke__is_finite(o->rate_size) &&
         yoke__is_finite(o->action_size);
}

static void update(yoke_monitor* m, double h, const double held[], const double action[],
                   const double rate[]) {
  if (!m->has_samples) {
    yoke__monitor_miss(m, h);
    begin(m, action, rate);
    m->n_missed = m->has_samples ? 0 : m->n_missed;
    return;
  }
  outcome o = compare(m, held, action, rate);
  if (!is_usable(&o)) {
    yoke__monitor_miss(m, h);
    return;
  }
  if (m->n_missed > 1) {
    // too far from the last good samples to be one step
    o.power = o.power_smooth = o.change = 0;
  }
  set_step(m, h);
  set_peaks(m, o.rate_size, o.action_size);

  // below 1e-12 of the offset a change of the action is rounding of that offset
  const double rest = YOKE_MONITOR_REST * yoke__bond_distance(m->n, m->offset, NULL);
  const double scale = m->action_peak > rest ? m->action_peak * m->rate_peak : 0;

  // rho = |dP~| / (F_pk A_pk), dimensionless
  const double rho = scale > 0 ? fabs(o.power_smooth) / scale : 0;
  m->rho = yoke__is_finite(rho) ? rho : 0;
  m->power = o.power;
  m->power_smooth = o.power_smooth;
  m->change = o.change;

  // B_off += (h / T_off) (B - B_off), after all else has used the old one
  for (size_t i = 0; i < m->n; i++) {
    m->offset[i] += m->offset_share * (action[i] - m->offset[i]);
  }
  keep_samples(m, action, rate);
  m->is_lost = false;
  m->n_missed = 0;
}

void yoke__monitor_update(yoke_monitor* monitor, double h, const double action[],
                          const double rate[]) {
  if (monitor->n != 1 || !yoke__monitor_update_one(monitor, h, action[0], rate[0])) {
    update(monitor, h, NULL, action, rate);
  }
}

void yoke__monitor_update_held(yoke_monitor* monitor, double h, const double held[],
                               const double action[], const double rate[]) {
  update(monitor, h, held, action, rate);
}
