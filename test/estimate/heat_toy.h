// A unit that tests know and the estimator does not: two thermal masses, the first one heated and, if wanted, radiating.
//
//   C1 T1' = Q - (T1 - T2) / R12 - rad ((T1/300)^4 - (Ta/300)^4)
//   C2 T2' = (T1 - T2) / R12 - (T2 - Ta) / R2
#ifndef YOKE_TEST_HEAT_TOY_H
#define YOKE_TEST_HEAT_TOY_H

#include "estimate/estimate_black.h"
#include "support/check.h"
#include "support/normal_noise.h"

enum { TOY_STEP_US = 1000 };
#define TOY_H     (1e-6 * TOY_STEP_US)
#define TOY_SIGMA 0.5

typedef enum toy_value { TOY_Q, TOY_R12, TOY_R2 } toy_value;

typedef struct toy {
  double T1, T2, Q, R12, R2, Ta, rad, C1, C2;
} toy;

static const toy toy_start = {
    .T1 = 300, .T2 = 300, .Q = 10, .R12 = 2, .R2 = 3, .Ta = 300, .rad = 0, .C1 = 0.1, .C2 = 0.2};

static inline void toy_set(toy* s, toy_value what, double value) {
  double* const places[] = {&s->Q, &s->R12, &s->R2};
  *places[what] = value;
}

static inline void toy_rates(const toy* s, double T1, double T2, double rates[2]) {
  const double q = (T1 - T2) / s->R12, a = T1 / 300, b = s->Ta / 300;
  rates[0] = (s->Q - q - s->rad * (a * a * a * a - b * b * b * b)) / s->C1;
  rates[1] = (q - (T2 - s->Ta) / s->R2) / s->C2;
}

// Four steps of RK4.
static inline void toy_step(toy* s, double h) {
  const double d = h / 4;
  for (int i = 0; i < 4; i++) {
    double a[2], b[2], c[2], e[2];
    toy_rates(s, s->T1, s->T2, a);
    toy_rates(s, s->T1 + d / 2 * a[0], s->T2 + d / 2 * a[1], b);
    toy_rates(s, s->T1 + d / 2 * b[0], s->T2 + d / 2 * b[1], c);
    toy_rates(s, s->T1 + d * c[0], s->T2 + d * c[1], e);
    s->T1 += d / 6 * (a[0] + 2 * b[0] + 2 * c[0] + e[0]);
    s->T2 += d / 6 * (a[1] + 2 * b[1] + 2 * c[1] + e[1]);
  }
}

// The step of TOY_H, linear where nothing radiates: [T1, T2] := F [T1, T2, Q] + offset, F 2 x 3. Large differences: no rounding.
static inline void toy_matrix(const toy* from, double F[6], double offset[2]) {
  const double base[3] = {from->T1, from->T2, from->Q};
  toy s = *from;
  toy_step(&s, TOY_H);
  const double to[2] = {s.T1, s.T2};
  for (size_t c = 0; c < 3; c++) {
    s = *from;
    s.T1 += c == 0 ? 4096 : 0;
    s.T2 += c == 1 ? 4096 : 0;
    s.Q += c == 2 ? 4096 : 0;
    toy_step(&s, TOY_H);
    F[c] = (s.T1 - to[0]) / 4096;
    F[3 + c] = (s.T2 - to[1]) / 4096;
  }
  for (size_t i = 0; i < 2; i++) {
    offset[i] = to[i];
    for (size_t c = 0; c < 3; c++) {
      offset[i] -= F[3 * i + c] * base[c];
    }
  }
}

// ---- a study: truth, noise, estimator

enum { TOY_SETS = 4, TOY_MEMBERS = 9, TOY_UNKNOWNS = 3 };

typedef struct toy_case {
  const char* name;
  size_t n_unknowns, n_sensors;  // sensors: T2, then T1; hidden: T1
  toy_value what[TOY_UNKNOWNS];
  yoke_deviation_unknown unknowns[TOY_UNKNOWNS];
  double rad;
  bool has_pulses;  // known heat: on and off; else 10 W
  size_t n_steps;
  bool can_restore;
  double wrong_C2;   // factor in the truth; 0: 1
  double wrong_rad;  // added in the truth
} toy_case;

#define TOY_UNKNOWN(start_, sd_, walk_, lower_, upper_)                                            \
  {                                                                                                \
    .start = (start_), .sd = (sd_), .walk = (walk_), .lower = (double)(lower_),                    \
    .upper = (double)(upper_), .is_fast = (walk_) > 0, .sensor = YOKE_DEVIATION_OUTPUT             \
  }

typedef struct toy_study {
  const toy_case* of;
  toy members[TOY_SETS][TOY_MEMBERS];
  bool is_used[TOY_SETS], is_heat_unknown;
  size_t n_members;
  toy truth;
  double theta[TOY_UNKNOWNS];
  normal_noise noise;
  yoke_black* black;
  yoke_arena arena;
} toy_study;

static inline yoke_status toy_restart(void* context, size_t set, double y[]) {
  toy_study* s = context;
  if (s->is_used[set] && !s->of->can_restore) {
    return YOKE_NO_SUPPORT;
  }
  s->is_used[set] = true;
  for (size_t i = 0; i < s->n_members; i++) {
    s->members[set][i] = toy_start;
    s->members[set][i].rad = s->of->rad;
    y[2 * i] = y[2 * i + 1] = 300;
  }
  return YOKE_OK;
}

static inline yoke_status toy_advance(void* context, size_t set, uint64_t k, const double known[],
                                      const double theta[], double y[]) {
  (void)k;
  toy_study* s = context;
  for (size_t i = 0; i < s->n_members; i++) {
    toy* m = &s->members[set][i];
    if (!s->is_heat_unknown) {
      m->Q = known[0];
    }
    for (size_t j = 0; j < s->of->n_unknowns; j++) {
      toy_set(m, s->of->what[j], theta[i * s->of->n_unknowns + j]);
    }
    toy_step(m, TOY_H);
    y[2 * i] = m->T1;
    y[2 * i + 1] = m->T2;
  }
  return YOKE_OK;
}

static inline void toy_open(toy_study* s, const toy_case* of, uint64_t seed) {
  static const yoke_deviation_sensor sensors[] = {{1, TOY_SIGMA}, {0, TOY_SIGMA}};
  memset(s, 0, sizeof *s);
  s->of = of;
  s->noise.seed = seed;
  s->n_members = 3 + 2 * of->n_unknowns;
  s->truth = toy_start;
  s->truth.rad = of->rad + of->wrong_rad;
  s->truth.C2 *= of->wrong_C2 > 0 ? of->wrong_C2 : 1;
  for (size_t j = 0; j < of->n_unknowns; j++) {
    const yoke_deviation_unknown* u = &of->unknowns[j];
    const double draw = u->start + u->sd * noise_next(&s->noise);
    s->theta[j] = fmin(fmax(draw, u->lower + 0.1 * u->sd), u->upper);
    s->is_heat_unknown = s->is_heat_unknown || of->what[j] == TOY_Q;
  }
  const yoke_black_setup setup = {
      .shadow = {.filter = {.n_outputs = 2,
                            .n_unknowns = of->n_unknowns,
                            .n_sensors = of->n_sensors,
                            .unknowns = of->unknowns,
                            .sensors = sensors,
                            .h = TOY_H}},
      .box = {s, toy_advance, toy_restart},
      .n_known = 1,
      .n_sets = of->can_restore ? 2 : TOY_SETS,
      .n_history = 40000,
  };
  s->black = yoke__black_prepare(&setup, &s->arena);
  assert_non_null(s->black);
  check_ok(yoke__black_start(s->black));
}

// To the readings of step k; the truth moves on with `toy_move`.
static inline void toy_read(toy_study* s, size_t k, double* known, double readings[2]) {
  const double t = TOY_H * (double)k;
  *known = s->of->has_pulses && fmod(t, 2) >= 1 ? 2 : 10;
  readings[0] = s->truth.T2 + TOY_SIGMA * noise_next(&s->noise);
  readings[1] = s->truth.T1 + TOY_SIGMA * noise_next(&s->noise);
}

static inline void toy_move(toy_study* s, double known) {
  for (size_t j = 0; j < s->of->n_unknowns; j++) {
    s->theta[j] += s->of->unknowns[j].walk * sqrt(TOY_H) * noise_next(&s->noise);
    toy_set(&s->truth, s->of->what[j], s->theta[j]);
  }
  if (!s->is_heat_unknown) {
    s->truth.Q = known;
  }
  toy_step(&s->truth, TOY_H);
}

typedef struct toy_result {
  yoke_twin_verdict verdict;
  yoke_finding why;
  double hidden_nees, hidden_rms;  // of T1, second half
  double nees[TOY_UNKNOWNS];       // at the end
  double error[TOY_UNKNOWNS];
  uint32_t n_passes;
} toy_result;

static inline toy_result toy_run(const toy_case* of, uint64_t seed) {
  static const bool have[2] = {true, true};
  static toy_study s;
  toy_result r = {0};
  toy_open(&s, of, seed);
  size_t n = 0;
  for (size_t k = 0; k < of->n_steps; k++) {
    double known, readings[2], value, sd;
    toy_read(&s, k, &known, readings);
    if (yoke__black_correct(s.black, &known, readings, have) < 0) {
      break;
    }
    yoke__shadow_output(yoke__black_shadow(s.black), 0, &value, &sd);
    if (2 * k > of->n_steps) {
      const double error = value - s.truth.T1;
      r.hidden_nees += error * error / (sd * sd);
      r.hidden_rms += error * error;
      n++;
    }
    toy_move(&s, known);
    check_ok(yoke__black_advance(s.black));
  }
  r.hidden_nees /= (double)n;
  r.hidden_rms = sqrt(r.hidden_rms / (double)n);
  r.verdict = yoke__black_verdict(s.black, &r.why);
  r.n_passes = yoke__black_passes(s.black);
  for (size_t j = 0; j < of->n_unknowns; j++) {
    double value, sd;
    yoke__deviation_unknown_of(yoke__shadow_filter(yoke__black_shadow(s.black)), j, &value, &sd);
    r.error[j] = value - s.theta[j];
    r.nees[j] = r.error[j] * r.error[j] / (sd * sd);
  }
  yoke__arena_free(&s.arena);
  return r;
}

#endif
