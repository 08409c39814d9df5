// Running judgement of all sensors of a filter.
#include <math.h>
#include <string.h>

#include "estimate/estimate_innovation_part.h"

// 256, 512, .. 16384 samples of a window; a segment that ends with the last of them is transformed some samples later
enum { N_LOOKS = 7, TRANSFORM = 16 };

size_t yoke__consistency_size(size_t n_sensors) {
  return sizeof(yoke_consistency) + n_sensors * sizeof(yoke_consistency_sensor);
}

yoke_consistency* yoke__consistency_prepare(size_t n_sensors, uint64_t n_skip, yoke_arena* arena) {
  yoke_consistency* c = yoke__arena_take(arena, yoke__consistency_size(n_sensors));
  if (c != NULL) {
    c->n_sensors = n_sensors;
    c->n_skip = n_skip;
    yoke__consistency_clear(c);
  }
  return c;
}

void yoke__consistency_clear(yoke_consistency* c) {
  const size_t n_sensors = c->n_sensors;
  const uint64_t n_skip = c->n_skip;
  memset(c, 0, yoke__consistency_size(n_sensors));
  c->n_sensors = n_sensors;
  c->n_skip = n_skip;
  c->window.look = YOKE_CONSISTENCY_FIRST_LOOK;
  for (size_t i = 0; i < n_sensors; i++) {
    yoke__white_clear(&c->sensors[i].white);
    c->sensors[i].window.look = YOKE_CONSISTENCY_FIRST_LOOK;
  }
}

// The share of the window and of the look that comes: sum over k of 6 / (pi k)^2 = 1.
static double chance_of(const yoke_consistency* c, const yoke_consistency_window* window) {
  const double k = (double)window->n_windows + 1, pi = 3.14159265358979323846;

  // the total chance of a false alarm, shared by sensors (and the sum of all), by looks of a
  // window, and by windows
  return YOKE_CONSISTENCY_CHANCE / (double)(c->n_sensors + 1) / N_LOOKS * 6 / (pi * pi * k * k);
}

// The next look comes after twice as many samples. True: the window is full.
static bool note(yoke_consistency* c, yoke_consistency_window* window, yoke_finding finding) {
  c->n_looks++;
  c->n_bad_looks += finding.excess > 1;
  window->now = finding;

  // looks at 256, 512, ... samples: early for gross errors, late for small ones
  window->look *= 2;
  if (window->look <= YOKE_CONSISTENCY_WINDOW) {
    return false;
  }
  window->last = window->now;
  window->now = (yoke_finding){.statistic = YOKE_STATISTIC_NONE};
  window->n_windows++;
  window->look = YOKE_CONSISTENCY_FIRST_LOOK;
  return true;
}

static void look_at_sensor(yoke_consistency* c, size_t i) {
  yoke_consistency_sensor* s = &c->sensors[i];

  // sums of this window: all less those at its start
  yoke_white_sums sums = s->white.sums;
  sums.n -= s->start.n;
  sums.n_segments -= s->start.n_segments;
  sums.sum -= s->start.sum;
  sums.sum_squares -= s->start.sum_squares;
  sums.sum_lag -= s->start.sum_lag;
  for (size_t k = 0; k < YOKE_WHITE_BINS; k++) {
    sums.spectrum[k] -= s->start.spectrum[k];
  }
  const yoke_white_report report = yoke__white_report_of_sums(&sums);
  yoke_finding finding = yoke__white_judge(&report, chance_of(c, &s->window));
  finding.sensor = i;
  if (note(c, &s->window, finding)) {
    s->start = s->white.sums;
  }
}

static void look_at_all(yoke_consistency* c) {
  yoke_finding finding = {.statistic = YOKE_STATISTIC_NONE};
  double squares = 0;
  for (size_t i = 0; i < c->n_sensors; i++) {
    squares += c->sensors[i].white.sums.sum_squares;
  }
  const double n = (double)(c->n - c->n_start);

  // NIS over all sensors: mean square of e / sqrt(S), expected 1
  yoke__white_judge_square(&finding, YOKE_STATISTIC_NIS, (squares - c->squares_start) / n, n,
                           log(2 / chance_of(c, &c->window)));
  if (note(c, &c->window, finding)) {
    c->n_start = c->n;
    c->squares_start = squares;
  }
}

void yoke__consistency_add(yoke_consistency* c, const double e[]) {
  for (size_t i = 0; i < c->n_sensors; i++) {
    yoke_consistency_sensor* s = &c->sensors[i];
    if (!isfinite(e[i])) {
      continue;
    }
    if (s->n_skipped < c->n_skip) {
      s->n_skipped++;
      continue;
    }
    yoke__white_add(&s->white, e[i]);
    c->n++;
    if (s->white.sums.n - s->start.n >= s->window.look + TRANSFORM) {
      look_at_sensor(c, i);
    }
  }
  if (c->n - c->n_start >= c->window.look) {
    look_at_all(c);
  }
}

// The worse of the two findings of a window and of what was found before.
static void keep_worst(const yoke_consistency_window* window, yoke_finding* worst) {
  const yoke_finding* findings[2] = {&window->last, &window->now};
  for (size_t i = 0; i < 2; i++) {
    if (findings[i]->statistic != YOKE_STATISTIC_NONE &&
        (worst->statistic == YOKE_STATISTIC_NONE || findings[i]->excess > worst->excess)) {
      *worst = *findings[i];
    }
  }
}

static bool is_lost(const yoke_finding* nis) {
  return nis->statistic == YOKE_STATISTIC_NIS && !(nis->value <= YOKE_CONSISTENCY_LOST);
}

yoke_twin_verdict yoke__consistency_verdict(const yoke_consistency* c, bool has_diverged,
                                            yoke_finding* why) {
  yoke_finding worst = {.statistic = YOKE_STATISTIC_NONE};
  for (size_t i = 0; i < c->n_sensors; i++) {
    keep_worst(&c->sensors[i].window, &worst);
  }
  // NIS names no sensor: a reason only where no sensor alone is one
  if (!(worst.excess > 1)) {
    keep_worst(&c->window, &worst);
  }

  // the finding of the running window, else of the last full one
  const yoke_finding* nis =
      c->window.now.statistic != YOKE_STATISTIC_NONE ? &c->window.now : &c->window.last;
  if (is_lost(nis)) {
    worst = *nis;
  }
  if (why != NULL) {
    *why = worst;
  }
  return has_diverged || is_lost(nis)             ? YOKE_TWIN_DIVERGED
         : worst.statistic == YOKE_STATISTIC_NONE ? YOKE_TWIN_STARTING
         : worst.excess > 1                       ? YOKE_TWIN_INCONSISTENT
                                                  : YOKE_TWIN_CONSISTENT;
}

const char* yoke__statistic_text(yoke_statistic statistic) {
  static const char* const texts[] = {
      [YOKE_STATISTIC_NONE] = "none",
      [YOKE_STATISTIC_MEAN] = "mean",
      [YOKE_STATISTIC_VARIANCE] = "variance",
      [YOKE_STATISTIC_LAG] = "correlation with the sample before",
      [YOKE_STATISTIC_LOW_HIGH] = "spectrum, low over high frequencies",
      [YOKE_STATISTIC_FLATNESS] = "flatness of the spectrum",
      [YOKE_STATISTIC_NIS] = "mean square of all sensors",
  };
  return texts[statistic];
}
