// Guard of model-based coupling: does the coupling error grow?
//
// The error of the models, e_glob, divides by the range of the outputs so far. In a divergence the
// range grows with the error, and after one it stays large: the measure looks good when the
// coupling is not. The guard looks at the coupling error eps = L y + g - u alone, over windows of W
// exchange points, as means over the signals of log ratios, so that neither units nor ranges enter:
//
//   growth   mean_i log(rms_j eps_i / rms_{j-1} eps_i)
//   rise     mean_i log(rms_j eps_i / normal_i)       normal: largest rms outside growth, alarms;
//                                                     halved every 256 windows
//   against  mean_i log(rms_j eps_i / rms_j d_i)      d_i = w_i^k - w_i^{k-1}: error of holding
//
// Alarm: growth of at least log(growth) in n_grow windows in a row, and then rise >= log(rise) and
// against >= log(against_hold); or, at one exchange point, |eps| above normal by log(jump). A pulse
// from outside makes one window of growth; growth below the normal level is no harm; a model that
// is good stays below what holding misses even if the motion grows. The rule runs on windows of W
// and of 8 W, for fast and for slow growth.
//
// Two things the error cannot show. Units that swing in one mode fit any model that fits this mode:
// parameters drift along it until the loop of the models, I - C~, is nearly singular, and the next
// small deviation is multiplied by a thousand. So inputs are refused before they are used if this is
// above log(reach), if they are that much farther from the signals than these moved of late:
//
//   reach    mean_i log(|u_i - w_i| / farthest_i)     farthest: largest |d_i|, halved every 256 points
//
// And a model that predicts exactly, eps = 0, is held signals with a lead of half a step in place of
// a lag. Some loops bear the lag, but not the lead: they grow while the models miss nothing. Alarm
// also if the moves d grow by log(growth) in n_swell windows of 8 W in a row while the model couples
// and are then above their normal level by log(swell).
// reach and swell: seeds 1 to 2000 of bench/mpsm_loop.h; 2 each would do more there, but refuses sound
// inputs of the nonlinear oscillator with step 1 and takes a driven oscillation for a divergence.
//
// After an alarm signals couple for n_wait windows (twice as many after each alarm that follows, as
// few as at first after calm), and longer while the error is above normal and falls. If meanwhile
// the error goes above that of the alarm by `worse` and is still growing, signals are no cure (the
// step is beyond their stability limit): the model takes over again, and for as many windows no
// alarm is raised. If the next alarm shows that this was no cure either, signals get the factor
// `worse` once more. Source: own. How the constants were found, and what they do on other systems:
// test/couple/test_couple_mpsm_guard.c.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_phase.h"

// of the normal mean square per window: a half of the amplitude after 256 windows
#define NORMAL_FADE 0.99460
// of the farthest move per exchange point: a half after 256 of them
#define FARTHEST_FADE 0.9973
// of the normal mean square per window while the model couples: an instability that is slower than
// 0.2 % per exchange point may hide behind it
#define NORMAL_CREEP 1.04
// an error falls if it is this much lower than FALL_WINDOWS windows ago
#define FALL 1.05
enum { FALL_WINDOWS = 16 };

yoke_mpsm_guard_rules yoke__mpsm_guard_rules_default(void) {
  return (yoke_mpsm_guard_rules){
      .window = 8,
      .n_grow = 4,
      .growth = 1.1,
      .rise = 2,
      .against_hold = 0.5,
      .jump = 20,
      .n_swell = 3,
      .swell = 3,
      .reach = 10,
      .worse = 4,
      .n_wait = 4,
      .n_wait_max = 64,
  };
}

size_t yoke__mpsm_guard_size(size_t s) {
  return (7 + 4 * YOKE_MPSM_GUARD_SCALES) * s;
}

void yoke__mpsm_guard_prepare(yoke_mpsm_guard* guard, size_t s, double memory[]) {
  *guard = (yoke_mpsm_guard){
      .s = s,
      .w_last = memory,
      .alarm = memory + s,
      .half = memory + 2 * s,
      .half_last = memory + 3 * s,
      .move_last = memory + 4 * s,
      .move_normal = memory + 5 * s,
      .farthest = memory + 6 * s,
  };
  memset(memory, 0, yoke__mpsm_guard_size(s) * sizeof *memory);

  // four vectors of s numbers per scale
  for (size_t i = 0; i < YOKE_MPSM_GUARD_SCALES; i++) {
    double* at = memory + (7 + 4 * i) * s;
    guard->scales[i] = (yoke_mpsm_guard_scale){0, 0, at, at + s, at + 2 * s, at + 3 * s};
  }
}

// mean_i log(a_i / (share b_i)) / 2 over the signals for which both are positive; a and b are
// squares. Minus infinity if there is no such signal: nothing is known.
static double mean_log_ratio(size_t s, const double a[], double share, const double b[]) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < s; i++) {
    if (a[i] > 0 && b[i] > 0 && yoke__is_finite(a[i]) && yoke__is_finite(b[i])) {
      // squares: half the log of the ratio is the log of the ratio of amplitudes
      sum += log(a[i] / (share * b[i]));
      n++;
    }
  }

  // minus infinity is below every limit
  return n > 0 ? 0.5 * sum / (double)n : (double)-INFINITY;
}

// Ends a long window for the moves of the signals. True if they grow.
static bool end_moves(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                      const double moves[]) {
  const size_t s = guard->s;

  // log growth of the moves from window to window
  const bool grows = mean_log_ratio(s, moves, 1, guard->move_last) >= log(rules->growth);
  guard->n_swell = grows && guard->was_model ? guard->n_swell + 1 : 0;
  const bool is_swell = guard->n_swell >= rules->n_swell &&
                        mean_log_ratio(s, moves, 1, guard->move_normal) >= log(rules->swell);

  // normal is learnt in calm only: a growth that became normal would never raise an alarm
  const bool is_normal = guard->n_swell == 0 && !guard->is_alarmed && !guard->is_settling;
  for (size_t i = 0; i < s; i++) {
    // half of the amplitude is forgotten after 256 windows
    const double faded = NORMAL_FADE * guard->move_normal[i];
    if (is_normal || guard->move_normal[i] == 0) {
      guard->move_normal[i] = moves[i] > faded ? moves[i] : faded;
    }
    guard->move_last[i] = moves[i];
  }
  return is_swell;
}

// Ends a window of one scale. True if it raises an alarm.
static bool end_window(const yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                       yoke_mpsm_guard_scale* scale) {
  const size_t s = guard->s;

  // growth, rise and against of the header, as logs
  const bool grows = mean_log_ratio(s, scale->now, 1, scale->last) >= log(rules->growth);
  scale->streak = grows ? scale->streak + 1 : 0;
  const bool is_alarm = scale->streak >= rules->n_grow &&
                        mean_log_ratio(s, scale->now, 1, scale->normal) >= log(rules->rise) &&
                        mean_log_ratio(s, scale->now, 1, scale->hold) >= log(rules->against_hold);

  // what is normal is not learnt from growth, nor while the error of an alarm fades
  const bool is_normal = scale->streak == 0 && !guard->is_alarmed && !guard->is_settling;
  for (size_t i = 0; i < s; i++) {
    const double normal = scale->normal[i], faded = NORMAL_FADE * normal;
    // the model may not make its own error normal faster than by creeping
    const double limit = guard->was_model && normal > 0 ? NORMAL_CREEP * normal : scale->now[i];
    const double now = scale->now[i] < limit ? scale->now[i] : limit;
    if (is_normal || normal == 0) {
      scale->normal[i] = now > faded ? now : faded;
    }
    scale->last[i] = scale->now[i];
    scale->now[i] = scale->hold[i] = 0;
  }
  scale->n = 0;
  return is_alarm;
}

// Sums of one exchange point into all scales, windows that end with it. True on an alarm of any.
static bool add_point(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                      const double eps[], const double w[]) {
  bool is_alarm = false;
  size_t window = rules->window;
  guard->is_swell = false;
  for (size_t k = 0; k < YOKE_MPSM_GUARD_SCALES; k++, window *= YOKE_MPSM_GUARD_RATIO) {
    yoke_mpsm_guard_scale* scale = &guard->scales[k];
    for (size_t i = 0; i < guard->s; i++) {
      // d = w_k - w_{k-1}: what holding would have missed
      const double d = w[i] - guard->w_last[i];
      scale->now[i] += eps[i] * eps[i];
      scale->hold[i] += d * d;
    }
    scale->n++;
    if (scale->n >= window) {
      if (k + 1 == YOKE_MPSM_GUARD_SCALES) {
        guard->is_swell = end_moves(guard, rules, scale->hold);
      }
      is_alarm = end_window(guard, rules, scale) || is_alarm;
    }
  }
  return is_alarm;
}

// The model takes over from signals: what they left is what it is measured by, and growth starts
// anew. (A divergence of the signals is not the model's.)
static void take_over(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                      const double eps[]) {
  size_t window = rules->window;
  for (size_t k = 0; k < YOKE_MPSM_GUARD_SCALES; k++, window *= YOKE_MPSM_GUARD_RATIO) {
    yoke_mpsm_guard_scale* scale = &guard->scales[k];
    scale->streak = 0;
    for (size_t i = 0; i < guard->s && !guard->is_settling; i++) {
      // mean square of a window from one exchange point
      const double now = eps[i] * eps[i] * (double)window;
      const double left = now > scale->last[i] ? now : scale->last[i];
      scale->normal[i] = scale->normal[i] > left ? scale->normal[i] : left;
    }
  }
}

// One exchange point far above what is normal.
static bool is_jump(const yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                    const double eps[]) {
  const double *normal = guard->scales[0].normal, window = (double)rules->window;
  double sum = 0;
  size_t n = 0;
  // a mean is that high only if one of them is; nearly always none is, and logarithms are dear
  bool is_any = false;
  for (size_t i = 0; i < guard->s; i++) {
    is_any = is_any || eps[i] * eps[i] * window >= 0.99 * rules->jump * rules->jump * normal[i];
  }
  for (size_t i = 0; i < guard->s && is_any; i++) {
    if (normal[i] > 0 && eps[i] != 0 && yoke__is_finite(eps[i])) {
      // log(|eps| / rms_normal) with the rms per point
      sum += log(fabs(eps[i])) - 0.5 * log(normal[i] / window);
      n++;
    }
  }
  return n > 0 && sum / (double)n >= log(rules->jump);
}

static void raise_alarm(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                        const double eps[]) {
  // wait longer if the last alarm is not long ago
  const size_t least = rules->n_wait > 0 ? rules->n_wait : 1;
  if (guard->n_wait < least || guard->n_calm > 16 * guard->n_wait) {
    guard->n_wait = least;
    // calm for 16 waits: from the shortest wait again
    guard->n_in_vain = 0;
  } else {
    guard->n_wait = 2 * guard->n_wait > rules->n_wait_max ? rules->n_wait_max : 2 * guard->n_wait;
  }
  guard->is_alarmed = guard->is_settling = true;
  guard->n_waited = guard->n_calm = guard->n_in_window = 0;
  guard->n_alarms++;
  for (size_t i = 0; i < guard->s; i++) {
    // mean square per point of the window of the alarm
    const double mean = guard->scales[0].last[i] / (double)rules->window;
    guard->alarm[i] = fmax(mean, eps[i] * eps[i]);
    // signals are measured by what they miss, though the error of the model is next to nothing
    const double move = guard->move_last[i] / (double)(rules->window * YOKE_MPSM_GUARD_RATIO);
    guard->alarm[i] = guard->is_swell ? fmax(guard->alarm[i], move) : guard->alarm[i];
    guard->half[i] = guard->half_last[i] = 0;
  }
}

// By signals: the error of the last half window is above that of the alarm, and above the one
// before.
static bool is_useless(const yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                       size_t half) {
  // each time that this was not the cure either, signals are given more room for a transient
  const double worse = log(rules->worse) * (double)(1 + guard->n_in_vain);

  // error now against that of the alarm, and still growing
  return mean_log_ratio(guard->s, guard->half, (double)half, guard->alarm) >= worse &&
         mean_log_ratio(guard->s, guard->half, 1, guard->half_last) > 0;
}

// An exchange point under alarm.
static void endure(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules, const double eps[]) {
  const size_t half = rules->window > 1 ? rules->window / 2 : 1;
  for (size_t i = 0; i < guard->s; i++) {
    guard->half[i] += eps[i] * eps[i];
  }

  // judged twice per window
  if ((guard->n_in_window + 1) % half != 0) {
    return;
  }
  if (is_useless(guard, rules, half)) {
    guard->is_alarmed = false;
    guard->n_blocked = guard->n_wait;
    guard->n_useless++;
    guard->n_in_vain++;
  }
  memcpy(guard->half_last, guard->half, guard->s * sizeof *guard->half);
  memset(guard->half, 0, guard->s * sizeof *guard->half);
}

// A window under alarm is over; rise: how far its error is above normal, as a log. The wait ends
// after n_wait windows if the error is normal again. Else it goes on as long as the error falls;
// one that stays where it is under signals is not the model's: the system has changed.
static void wait_on(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules, double rise) {
  guard->n_waited++;
  if (guard->n_waited < guard->n_wait) {
    guard->rise_mark = rise;
    return;
  }

  // back to normal within the factor `rise`
  const bool is_normal = rise <= log(rules->rise);
  if ((guard->n_waited - guard->n_wait) % FALL_WINDOWS == 0) {
    guard->is_falling = guard->n_waited == guard->n_wait || rise < guard->rise_mark - log(FALL);
    guard->rise_mark = rise;
  }
  guard->is_alarmed = !is_normal && guard->is_falling;
  guard->is_settling = guard->is_alarmed || is_normal;
}

// Clocks that run in windows of the short scale.
static void count_window(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules) {
  guard->n_in_window++;
  if (guard->n_in_window < rules->window) {
    return;
  }
  guard->n_in_window = 0;
  guard->n_blocked -= guard->n_blocked > 0;
  const yoke_mpsm_guard_scale* scale = &guard->scales[0];
  const double rise = mean_log_ratio(guard->s, scale->last, 1, scale->normal);
  if (guard->is_alarmed) {
    wait_on(guard, rules, rise);
  } else {
    guard->n_calm++;
    guard->is_settling = guard->is_settling && rise > 0;
  }
}

bool yoke__mpsm_guard_observe(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                              const double eps[], const double w[], bool was_model) {
  if (!guard->has_last) {
    memcpy(guard->w_last, w, guard->s * sizeof *w);
    guard->has_last = true;
    return guard->is_alarmed;
  }
  if (was_model && !guard->was_model) {
    take_over(guard, rules, eps);
  }
  guard->was_model = was_model;
  const bool is_alarm =
      add_point(guard, rules, eps, w) || is_jump(guard, rules, eps) || guard->is_swell;
  for (size_t i = 0; i < guard->s; i++) {
    const double move = fabs(w[i] - guard->w_last[i]), faded = FARTHEST_FADE * guard->farthest[i];
    // moves w_k - w_{k-1}: the measure of how far an input can be
    guard->farthest[i] = move > faded ? move : faded;
  }
  memcpy(guard->w_last, w, guard->s * sizeof *w);
  if (guard->is_alarmed && !was_model) {
    endure(guard, rules, eps);
  } else if (!guard->is_alarmed && was_model && is_alarm && guard->n_blocked == 0) {
    raise_alarm(guard, rules, eps);
    // a new alarm only while the model couples, and not while alarms are blocked
    return true;
  }
  count_window(guard, rules);
  return guard->is_alarmed;
}

bool yoke__mpsm_guard_refuses(const yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                              const double u[]) {
  // nearly always no input goes that far, and logarithms are dear
  bool is_any = false;
  for (size_t i = 0; i < guard->s; i++) {
    is_any = is_any || fabs(u[i] - guard->w_last[i]) > rules->reach * guard->farthest[i];
  }
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < guard->s && is_any; i++) {
    const double move = fabs(u[i] - guard->w_last[i]);
    if (move > 0 && guard->farthest[i] > 0) {
      // log(|u - w| / farthest)
      sum += log(move / guard->farthest[i]);
      n++;
    }
  }
  return n > 0 && sum / (double)n > log(rules->reach);
}
