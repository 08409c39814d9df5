// The meter over recorded rows, and the error energy of a bond.
//
//   TER = sum |e_in . f_out - f_in . e_out| dt
//   dE_ref = sum |p~ - p(t_k)| dt,  p~ = e_in . f_in,  p of the reference at the interval's end
//
// The sums are those of energy_ter.c, in the order of the rows, so that a recording gives the bits
// of the meter that ran. Times are read from a file, where each is rounded: t_k+1 - t_k is
// not the step h that the master used. When all rows lie on t_0 + k h for one short decimal h,
// every interval gets exactly h. Page: docs/compare.md, "Bonds judged by their energy".
// Source: S. Glumac, N. Varga, F. Raos, Z. Kovacic, Co-simulation perspective on evaluating the simulation with the
// engine test bench in the loop (2022).
#include "quality/quality_replay.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_csv.h"
#include "base/base_number.h"

enum {
  WINDOW_TER,
  WINDOW_THROUGHPUT
};  // numbers of the window that are in use, as in the meter unit

const yoke_replay_settings yoke__replay_defaults = {1, 1e-9, -HUGE_VAL, HUGE_VAL, false};

// -------------------------------------------------------------------------------------------------
// times

static yoke_status check_times(const double t[], size_t n, const yoke_sink* sink) {
  if (n < 2) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "fewer than two rows");
  }
  for (size_t i = 0; i < n; i++) {
    if (!yoke__is_finite(t[i])) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "a time is not finite");
    }
    if (i > 0 && t[i] < t[i - 1]) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "time goes back from %.9g to %.9g s", t[i - 1], t[i]);
    }
  }
  return YOKE_OK;
}

// How far two times that should be equal may lie apart: their own roundings and that of the product
// k h.
static double slack(double a, double b) {
  return 4 * DBL_EPSILON * fmax(fabs(a), fabs(b));
}

static bool explains(const double t[], size_t n, double h) {
  for (size_t i = 1; i < n; i++) {
    const double want = t[0] + (double)i * h;
    if (!(fabs(t[i] - want) <= slack(t[i], t[0]))) {
      return false;
    }
  }
  return true;
}

double yoke__replay_step(const double t[], size_t n) {
  if (n < 2 || !(t[n - 1] > t[0])) {
    return 0;
  }
  const double n_steps = (double)(n - 1), mean = (t[n - 1] - t[0]) / n_steps;
  // the ends leave this much open; a shorter decimal inside is what somebody wrote
  const double open = (slack(t[n - 1], t[0]) + slack(t[0], t[0])) / n_steps + DBL_EPSILON * mean;
  for (int n_digits = 1; n_digits <= DBL_DECIMAL_DIG; n_digits++) {
    char text[YOKE_NUMBER_SIZE];
    double h = 0;
    snprintf(text, sizeof text, "%.*e", n_digits - 1, mean);
    if (yoke__number_parse(text, &h) && fabs(h - mean) <= open && explains(t, n, h)) {
      return h;
    }
  }
  return 0;
}

// -------------------------------------------------------------------------------------------------
// values

// Empty cells: the sample before them, or a straight line to the next one. Before the first sample
// there is nothing.
static void fill_gaps(const double t[], double v[], size_t n, bool is_linear) {
  size_t last = n;  // newest row with a sample; n: none yet
  for (size_t i = 0; i < n; i++) {
    if (yoke__csv_is_missing(v[i])) {
      continue;
    }
    for (size_t k = last == n ? 0 : last + 1; k < i; k++) {
      const double share = last != n && t[i] > t[last] ? (t[k] - t[last]) / (t[i] - t[last]) : 0;
      v[k] = last == n ? (double)NAN : v[last] + (is_linear ? share * (v[i] - v[last]) : 0);
    }
    last = i;
  }
  for (size_t k = last == n ? 0 : last + 1; k < n; k++) {
    v[k] = last == n ? (double)NAN : v[last];
  }
}

static void lay_columns(yoke_replay* replay) {
  const yoke_replay_bond* bond = replay->bond;
  for (size_t s = 0; s < YOKE_REPLAY_N_SIGNALS; s++) {
    const yoke_replay_signal* signal = &bond->signals[s];
    for (size_t i = 0; i < bond->n; i++) {
      double* to = replay->columns + (s * bond->n + i) * bond->n_rows;
      memcpy(to, signal->columns[i], bond->n_rows * sizeof *to);
      fill_gaps(bond->t, to, bond->n_rows, replay->settings.is_linear);
      const double scale = signal->scale == NULL ? 1 : signal->scale[i];
      for (size_t k = 0; scale != 1 && k < bond->n_rows; k++) {
        to[k] *= scale;
      }
    }
  }
}

// All four signals over the interval that begins at `row`, held.
static void take_held(const yoke_replay* replay, size_t row, double to[]) {
  const yoke_replay_bond* bond = replay->bond;
  for (size_t s = 0; s < YOKE_REPLAY_N_SIGNALS; s++) {
    const size_t at = bond->signals[s].is_at_end ? row + 1 : row;
    for (size_t i = 0; i < bond->n; i++) {
      to[s * bond->n + i] = replay->columns[(s * bond->n + i) * bond->n_rows + at];
    }
  }
}

// The same at time t of that interval, on straight lines.
static void take_line(const yoke_replay* replay, size_t row, double t, double to[]) {
  const yoke_replay_bond* bond = replay->bond;
  const double a = bond->t[row], b = bond->t[row + 1];
  for (size_t c = 0; c < YOKE_REPLAY_N_SIGNALS * bond->n; c++) {
    const double* v = replay->columns + c * bond->n_rows + row;
    to[c] = t <= a ? v[0] : t >= b ? v[1] : v[0] + (t - a) / (b - a) * (v[1] - v[0]);
  }
}

static yoke_ter_sample sample_of(const double values[], size_t n) {
  return (yoke_ter_sample){.e_in = values + YOKE_E_IN * n,
                           .f_out = values + YOKE_F_OUT * n,
                           .f_in = values + YOKE_F_IN * n,
                           .e_out = values + YOKE_E_OUT * n};
}

// -------------------------------------------------------------------------------------------------
// the meter

static yoke_status check_settings(const yoke_replay_settings* settings, const double t[], size_t n,
                                  const yoke_sink* sink) {
  if (!(settings->window > 0) || !(settings->floor > 0)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "window and floor must be above 0");
  }
  YOKE_TRY(check_times(t, n, sink));
  const double first = fmax(settings->from, t[0]), last = fmin(settings->to, t[n - 1]);
  if (!(first < last)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "nothing to measure: the rows reach from %.9g to %.9g s",
                     t[0], t[n - 1]);
  }
  return YOKE_OK;
}

yoke_status yoke__replay_start(yoke_replay* replay, const yoke_replay_bond* bond,
                               const yoke_replay_settings* settings, yoke_arena* arena,
                               const yoke_sink* sink) {
  *replay = (yoke_replay){.bond = bond, .settings = *settings};
  YOKE_TRY(check_settings(settings, bond->t, bond->n_rows, sink));
  const size_t n = YOKE_REPLAY_N_SIGNALS * bond->n;
  replay->columns = yoke__arena_array(arena, n * bond->n_rows, sizeof(double));
  replay->left = yoke__arena_array(arena, n, sizeof(double));
  replay->right = yoke__arena_array(arena, n, sizeof(double));
  YOKE_TRY_MEMORY(replay->columns && replay->left && replay->right);
  lay_columns(replay);
  yoke__window_start(&replay->recent, settings->window);
  replay->step = yoke__replay_step(bond->t, bond->n_rows);
  replay->t_first = replay->t = fmax(settings->from, bond->t[0]);
  replay->t_ter_window_worst = replay->t_rter_window_worst = replay->t_first;
  return YOKE_OK;
}

// The meter's outputs from its sums, in the words of the meter unit.
static void show(yoke_replay* replay) {
  yoke_replay_values* v = &replay->values;
  const yoke_ter* sums = &replay->sums;
  const double floor = replay->settings.floor;
  v->ter = yoke__ter_total(sums);
  v->dP = sums->power;
  v->dE = yoke__sum_value(&sums->net);
  v->throughput = yoke__ter_throughput(sums);
  v->rter = v->ter / fmax(v->throughput, floor);
  v->ter_window = replay->recent.sums[WINDOW_TER];
  v->rter_window = v->ter_window / fmax(replay->recent.sums[WINDOW_THROUGHPUT], floor);
  v->flow_part = sums->flow;
  v->effort_part = sums->effort;
  v->flow_defect = sums->flow_defect;
  v->effort_defect = sums->effort_defect;
  v->n_bad = sums->n_bad;
  if (v->ter_window > replay->ter_window_worst) {
    replay->ter_window_worst = v->ter_window;
    replay->t_ter_window_worst = replay->t;
  }
  // before any power has passed the ratio only shows the floor
  if (v->rter_window > replay->rter_window_worst &&
      replay->recent.sums[WINDOW_THROUGHPUT] > floor) {
    replay->rter_window_worst = v->rter_window;
    replay->t_rter_window_worst = replay->t;
  }
}

// Adds the part [a, b] of the interval at `row`, dt long.
static void add_interval(yoke_replay* replay, size_t row, double a, double b, double dt) {
  const size_t n = replay->bond->n;
  const double ter = yoke__ter_total(&replay->sums);
  const double throughput = yoke__ter_throughput(&replay->sums);
  const uint64_t n_bad = replay->sums.n_bad;
  double energy[YOKE_WINDOW_NUMBERS] = {0};
  if (replay->settings.is_linear) {
    take_line(replay, row, a, replay->left);
    take_line(replay, row, b, replay->right);
    const yoke_ter_sample left = sample_of(replay->left, n), right = sample_of(replay->right, n);
    yoke__ter_add_linear(&replay->sums, dt, n, &left, &right);
    energy[WINDOW_TER] = yoke__ter_total(&replay->sums) - ter;
    energy[WINDOW_THROUGHPUT] = yoke__ter_throughput(&replay->sums) - throughput;
  } else {
    take_held(replay, row, replay->left);
    const yoke_ter_sample sample = sample_of(replay->left, n);
    yoke__ter_add(&replay->sums, dt, n, &sample);
    // as the meter unit does, bit by bit; an interval that was left out still passes through the
    // window
    const bool is_good = replay->sums.n_bad == n_bad;
    energy[WINDOW_TER] = is_good ? dt * fabs(replay->sums.power) : 0;
    energy[WINDOW_THROUGHPUT] = is_good ? dt * fabs(replay->sums.passed) : 0;
  }
  yoke__window_add(&replay->recent, dt, energy);
}

bool yoke__replay_next(yoke_replay* replay) {
  const double* t = replay->bond->t;
  const double from = replay->settings.from, to = replay->settings.to;
  while (replay->row + 1 < replay->bond->n_rows) {
    const size_t row = replay->row++;
    const double a = fmax(t[row], from), b = fmin(t[row + 1], to);
    // two rows at one time are a jump: no time passes, the later one goes on
    if (!(a < b)) {
      continue;
    }
    const bool is_whole = a == t[row] && b == t[row + 1];
    add_interval(replay, row, a, b, is_whole && replay->step > 0 ? replay->step : b - a);
    replay->t = b;
    replay->n_intervals++;
    show(replay);
    return true;
  }
  return false;
}

// -------------------------------------------------------------------------------------------------
// error energy

// The polygon at t, which lies inside it; *at: a row not behind t, moved on. At a jump the value
// before it counts: the interval ends there.
static double interpolate(const yoke_power_reference* reference, size_t* at, double t) {
  const double *times = reference->t, *p = reference->p;
  while (*at + 1 < reference->n && times[*at + 1] < t) {
    ++*at;
  }
  if (t <= times[*at] || *at + 1 == reference->n) {
    return p[*at];
  }
  const double a = times[*at], b = times[*at + 1];
  return t >= b ? p[*at + 1] : p[*at] + (t - a) / (b - a) * (p[*at + 1] - p[*at]);
}

yoke_status yoke__replay_error_energy(const double t[], size_t n_rows, const double power[],
                                      const yoke_power_reference* reference, yoke_error_energy* out,
                                      const yoke_sink* sink) {
  *out = (yoke_error_energy){0};
  YOKE_TRY(check_times(t, n_rows, sink));
  YOKE_TRY(check_times(reference->t, reference->n, sink));
  const double step = yoke__replay_step(t, n_rows);
  const double first = reference->t[0], last = reference->t[reference->n - 1];
  yoke_sum sum = {0};
  size_t at = 0;
  for (size_t k = 0; k + 1 < n_rows; k++) {
    const double dt = step > 0 ? step : t[k + 1] - t[k];
    // a clock that adds meets one that multiplies: a billionth of a step is no difference
    if (!(dt > 0) || t[k] < first - 1e-9 * dt || t[k + 1] > last + 1e-9 * dt) {
      continue;
    }
    const double term = fabs(power[k] - interpolate(reference, &at, t[k + 1])) * dt;
    if (!yoke__is_finite(term)) {
      out->n_bad++;
      continue;
    }
    yoke__sum_add(&sum, term);
    out->t_first = out->n_intervals == 0 ? t[k] : out->t_first;
    out->t_last = t[k + 1];
    out->n_intervals++;
  }
  out->total = yoke__sum_value(&sum);
  if (out->n_intervals == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     out->n_bad > 0 ? "no power is finite" : "no step in common");
  }
  return YOKE_OK;
}
