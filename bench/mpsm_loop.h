// Random linear systems of two or three units in a loop, each stable as a whole, coupled by held or extrapolated signals,
// nepce or mpsm through its table; with noise on what the units tell, and with a unit that changes during the run.
//
//   unit     x' = A x + B u, y = C x: a damped oscillator or two lags, solved exactly over an exchange interval
//   pulses   every LOOP_PULSE exchanges on a state of every unit; no model knows them
//   drive    or, in place of them, three sines of 15 to 120 exchanges, held between exchanges and added to the signal of
//            the first unit: the models know it
//   noise    normal, standard deviation a share of the range of the output so far
//   change   the stiffness or the gain of one unit times 0.5 to 0.7 or 1.3 to 1.5, the whole still stable
//
// All is drawn from the seed of the system, so that all methods see the same.
#ifndef YOKE_BENCH_MPSM_LOOP_H
#define YOKE_BENCH_MPSM_LOOP_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "couple/couple_mpsm.h"
#include "linalg/linalg_dense.h"

enum {
  LOOP_UNITS = 3,
  LOOP_STEPS = 2000,
  LOOP_JUDGED = 300,  // from here on errors count: learning is over
  LOOP_PULSE = 150,
  LOOP_HEALTH = 64,
  LOOP_TRACE_ERROR = 2  // among what the method shows at every exchange
};

typedef struct loop {
  size_t q;
  double H;
  double A[LOOP_UNITS][4], B[LOOP_UNITS][2];
  double T[LOOP_UNITS][4], G[LOOP_UNITS][2],
      R[LOOP_UNITS][2];                    // x := T x + G u + R s, input u + s t
  double C[LOOP_UNITS][2], L[LOOP_UNITS];  // unit i gets L[i] times the output before it
  double whole[36], whole_drive[6];        // of one exchange interval
  uint64_t seed;
} loop;

static inline double loop_uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static inline double loop_between(uint64_t* seed, double low, double high) {
  return low + (high - low) * loop_uniform(seed);
}

// Gain 1 or so.
static inline void loop_make_unit(loop* s, size_t i) {
  const double w = exp(loop_between(&s->seed, log(0.5), log(5.0)));
  const double zeta = exp(loop_between(&s->seed, log(0.05), log(3.0)));
  const double companion[] = {0, 1, -w * w, -2 * zeta * w};
  memcpy(s->A[i], companion, sizeof companion);
  s->B[i][0] = 0;
  s->B[i][1] = w * w;
  s->C[i][0] = loop_between(&s->seed, -1, 1);
  s->C[i][1] = loop_between(&s->seed, -1, 1) / w;
}

// The largest real part of the whole; E: its matrix.
static inline double loop_make_whole(const loop* s, double E[36]) {
  const size_t n = 2 * s->q;
  double re[6], im[6], largest = -HUGE_VAL;
  memset(E, 0, 36 * sizeof *E);
  for (size_t i = 0; i < s->q; i++) {
    const size_t j = (i + s->q - 1) % s->q;
    for (size_t r = 0; r < 2; r++) {
      for (size_t c = 0; c < 2; c++) {
        E[(2 * i + r) * n + 2 * i + c] += s->A[i][2 * r + c];
        E[(2 * i + r) * n + 2 * j + c] += s->B[i][r] * s->L[i] * s->C[j][c];
      }
    }
  }
  if (yoke__eigenvalues(n, E, re, im) < 0) {
    return HUGE_VAL;
  }
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, re[i]);
  }
  return largest;
}

// The whole over one exchange interval, with a held drive of the first unit. E: its matrix.
static inline bool loop_discretise_whole(loop* s, double E[36]) {
  const size_t n = 2 * s->q;
  double big[49] = {0};
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      big[r * (n + 1) + c] = E[r * n + c] * s->H;
    }
    big[r * (n + 1) + n] = r < 2 ? s->B[0][r] * s->H : 0;
    for (size_t c = 0; c < n; c++) {
      E[r * n + c] *= s->H;
    }
  }
  const bool is_good = yoke__expm(n, E, s->whole) >= 0 && yoke__expm(n + 1, big, big) >= 0;
  for (size_t r = 0; r < n; r++) {
    s->whole_drive[r] = big[r * (n + 1) + n];
  }
  return is_good;
}

// Everything over one exchange interval. E: matrix of the whole; overwritten.
static inline bool loop_discretise(loop* s, double E[36]) {
  bool is_good = true;
  for (size_t i = 0; i < s->q; i++) {
    // x' = A x + B u, u' = s
    double big[16] = {0};
    for (size_t r = 0; r < 2; r++) {
      big[4 * r] = s->A[i][2 * r] * s->H;
      big[4 * r + 1] = s->A[i][2 * r + 1] * s->H;
      big[4 * r + 2] = s->B[i][r] * s->H;
    }
    big[4 * 2 + 3] = s->H;
    is_good = is_good && yoke__expm(4, big, big) >= 0;
    for (size_t r = 0; r < 2; r++) {
      s->T[i][2 * r] = big[4 * r];
      s->T[i][2 * r + 1] = big[4 * r + 1];
      s->G[i][r] = big[4 * r + 2];
      s->R[i][r] = big[4 * r + 3];
    }
  }
  return is_good && loop_discretise_whole(s, E);
}

// slowest decay of a whole [1/s]
#define LOOP_DECAY 0.02

static inline bool loop_make(loop* s, uint64_t seed) {
  *s = (loop){.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
  double E[36];
  do {
    s->q = loop_uniform(&s->seed) < 0.5 ? 2 : 3;
    for (size_t i = 0; i < s->q; i++) {
      loop_make_unit(s, i);
      s->L[i] = loop_between(&s->seed, -3, 3);
    }
  } while (loop_make_whole(s, E) > -LOOP_DECAY);
  s->H = exp(loop_between(&s->seed, log(0.02), log(1.0)));
  return loop_discretise(s, E);
}

// The same loop with one unit changed. False if no such change leaves the whole stable.
static inline bool loop_change(const loop* s, loop* to) {
  uint64_t seed = s->seed ^ UINT64_C(0x5851f42d4c957f2d);
  (void)loop_uniform(&seed);
  for (int i = 0; i < 50; i++) {
    double E[36];
    *to = *s;
    const size_t unit = (size_t)(loop_uniform(&seed) * (double)s->q);
    const double share = loop_between(&seed, 0.3, 0.5);
    const double factor = loop_uniform(&seed) < 0.5 ? 1 - share : 1 + share;
    if (loop_uniform(&seed) < 0.5) {
      to->A[unit][2] *= factor;
    } else {
      to->B[unit][1] *= factor;
    }
    if (loop_make_whole(to, E) <= -LOOP_DECAY) {
      return loop_discretise(to, E);
    }
  }
  return false;
}

static inline double loop_pulse(const loop* s, size_t unit, int k) {
  uint64_t seed = s->seed * 977 + (uint64_t)k * 31 + unit;
  (void)loop_uniform(&seed);
  return k % LOOP_PULSE == 0 ? loop_between(&seed, -1, 1) : 0;
}

// Three sines; at most 1.
static inline double loop_drive(const loop* s, int k) {
  uint64_t seed = s->seed * 7919;
  double sum = 0;
  (void)loop_uniform(&seed);
  for (int i = 0; i < 3; i++) {
    const double period = exp(loop_between(&seed, log(15.0), log(120.0)));
    const double turn = loop_uniform(&seed);
    sum += sin(2 * 3.14159265358979323846 * (k / period + turn)) / 3;
  }
  return sum;
}

// Nearly normal, mean 0, standard deviation 1: a sum of twelve uniform numbers.
static inline double loop_normal(uint64_t seed, size_t i, int k) {
  uint64_t at = (seed + (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15)) ^
                ((uint64_t)(i + 1) * 0xd1342543de82ef95);
  double sum = -6;
  (void)loop_uniform(&at);
  for (int j = 0; j < 12; j++) {
    sum += loop_uniform(&at);
  }
  return sum;
}

static inline double loop_output(const loop* s, size_t i, const double x[]) {
  return s->C[i][0] * x[2 * i] + s->C[i][1] * x[2 * i + 1];
}

// ---------------------------------------------------------------------------------------------------------
// methods

typedef enum loop_rival {
  LOOP_HELD,
  LOOP_LINEAR,
  LOOP_NEPCE,
  LOOP_MPSM,    // as published: one lag, inputs that are end values
  LOOP_MEMORY,  // with its defaults: models that remember two lags, and inputs that are means
  LOOP_RIVALS
} loop_rival;

static inline bool loop_is_mpsm(loop_rival method) {
  return method == LOOP_MPSM || method == LOOP_MEMORY;
}

typedef struct loop_course {
  loop_rival method;
  bool is_driven;       // else pulsed
  double noise;         // share of the range so far
  const loop* changed;  // the system from exchange k_change on; NULL: it stays
  int k_change;
} loop_course;

typedef struct loop_model {
  yoke_coupling_unit units[LOOP_UNITS];
  yoke_coupling_sink sinks[LOOP_UNITS];
  yoke_coupling_cluster cluster;
  yoke_coupling_setup setup;
  double L[LOOP_UNITS * LOOP_UNITS];
  double offset[LOOP_UNITS], parameters[64];
  int orders[LOOP_UNITS];
  int64_t n_sends[LOOP_UNITS];
  void* self;
} loop_model;

// Memory for a method, prepared. NULL on failure.
static inline void* loop_prepare(const yoke_coupling_setup* setup) {
  const yoke_coupling_ops* ops = &yoke__couple_mpsm;
  const size_t size = (ops->size(setup) + 63) / 64 * 64;
  YOKE_CATCH(err);
  void* self = aligned_alloc(64, size);
  if (self == NULL) {
    return NULL;
  }
  memset(self, 0, size);
  if (ops->prepare(self, setup, &err.sink) < 0) {
    free(self);
    return NULL;
  }
  return self;
}

static inline void loop_close(void* self) {
  yoke__couple_mpsm.close(self);
  free(self);
}

static inline void loop_defaults(double parameters[]) {
  const yoke_coupling_ops* ops = &yoke__couple_mpsm;
  for (size_t i = 0; i < ops->n_parameters; i++) {
    parameters[i] = ops->parameters[i].start;
  }
}

static inline void loop_set(double parameters[], const char* name, double value) {
  for (size_t i = 0; i < yoke__couple_mpsm.n_parameters; i++) {
    if (strcmp(yoke__couple_mpsm.parameters[i].name, name) == 0) {
      parameters[i] = value;
    }
  }
}

// form: published, level: end
static inline void loop_publish(double parameters[]) {
  loop_set(parameters, "form", 1);
  loop_set(parameters, "level", 1);
}

static inline bool loop_open_model(loop_model* m, const loop* s, const loop_course* c) {
  *m = (loop_model){0};
  for (size_t i = 0; i < s->q; i++) {
    m->units[i] = (yoke_coupling_unit){
        .name = "unit", .first_output = i, .n_outputs = 1, .first_signal = i, .n_signals = 1};
    m->sinks[i] = (yoke_coupling_sink){i, 1, s->H};
    m->L[i * s->q + (i + s->q - 1) % s->q] = s->L[i];
    m->n_sends[i] = 1;
  }
  m->offset[0] = c->is_driven ? (double)NAN : 0;
  loop_defaults(m->parameters);
  if (c->method == LOOP_MPSM) {
    loop_publish(m->parameters);
  }
  m->cluster = (yoke_coupling_cluster){
      .n_units = s->q, .units = m->units, .n_outputs = s->q, .L = m->L, .offset = m->offset};
  m->setup = (yoke_coupling_setup){.n_signals = s->q,
                                   .orders = m->orders,
                                   .n_sinks = s->q,
                                   .sinks = m->sinks,
                                   .interval = s->H,
                                   .n_probes = s->q,
                                   .parameters = m->parameters,
                                   .cluster = &m->cluster,
                                   .n_sends = m->n_sends};
  m->self = loop_prepare(&m->setup);
  return m->self != NULL;
}

// Index of a number of the health record.
static inline size_t loop_health_of(const char* name) {
  size_t i = 0;
  while (i < yoke__couple_mpsm.n_health && strcmp(yoke__couple_mpsm.health_names[i], name) != 0) {
    i++;
  }
  return i;
}

// ---------------------------------------------------------------------------------------------------------
// a run

typedef struct loop_result {
  double error;                // root of the mean square of y - whole over that of the whole, from
                               // LOOP_JUDGED on; infinite if it overflows
  double error_part[2];        // the same before k_change and from there on
  double peak[2];              // largest |y| over the largest of the whole, before and after
  double health[LOOP_HEALTH];  // of mpsm
  double missed[LOOP_STEPS];   // error of the models at every exchange
} loop_result;

// One exchange: what the units tell, and the inputs that follow.
static inline void loop_exchange(const loop* s, const loop_course* c, loop_model* m, int k,
                                 const double y[], double w_last[], double u[], double slope[]) {
  double sample[2 * LOOP_UNITS] = {0};
  for (size_t i = 0; i < s->q; i++) {
    sample[s->q + i] = y[i];
    sample[i] = s->L[i] * y[(i + s->q - 1) % s->q];
  }
  sample[0] += c->is_driven ? loop_drive(s, k) : 0;
  if (loop_is_mpsm(c->method)) {
    const yoke_coupling_moment now = {.k = k, .h_last = k == 0 ? 0 : s->H, .h_next = s->H};
    yoke__couple_mpsm.observe(m->self, &now, sample, k == 0 ? NULL : u);
  }
  for (size_t i = 0; i < s->q; i++) {
    const double w = sample[i];
    slope[i] = c->method == LOOP_LINEAR && k > 0 ? (w - w_last[i]) / s->H : 0;
    u[i] = c->method == LOOP_NEPCE && k > 0 ? w + (w - w_last[i]) / 2 : w;
    if (loop_is_mpsm(c->method)) {
      yoke__couple_mpsm.input(m->self, i, 0, &u[i]);
    }
    w_last[i] = w;
  }
}

static inline void loop_judge(const loop* s, const double x[], const double all[], int k, int part,
                              double sums[2][2], double tops[3][LOOP_UNITS]) {
  for (size_t i = 0; i < s->q; i++) {
    const double y = loop_output(s, i, x), want = loop_output(s, i, all), miss = y - want;
    sums[part][0] += k >= LOOP_JUDGED ? miss * miss : 0;
    sums[part][1] += k >= LOOP_JUDGED ? want * want : 0;
    sums[part][0] = isfinite(miss) && fabs(miss) < 1e15 ? sums[part][0] : HUGE_VAL;
    tops[part][i] = fmax(tops[part][i], fabs(y));
    tops[2][i] = fmax(tops[2][i], fabs(want));
  }
}

static inline void loop_conclude(const loop* s, double sums[2][2], double tops[3][LOOP_UNITS],
                                 loop_result* to) {
  const double sum = sums[0][0] + sums[1][0], scale = sums[0][1] + sums[1][1];
  to->error = sum < 1e30 ? sqrt(sum / scale) : HUGE_VAL;
  for (int part = 0; part < 2; part++) {
    to->error_part[part] = sums[part][0] < 1e30 ? sqrt(sums[part][0] / sums[part][1]) : HUGE_VAL;
    for (size_t i = 0; i < s->q; i++) {
      to->peak[part] = fmax(to->peak[part], tops[part][i] / tops[2][i]);
    }
  }
}

static inline void loop_run(const loop* first, const loop_course* c, loop_result* to) {
  loop_model m;
  double x[2 * LOOP_UNITS] = {0}, all[2 * LOOP_UNITS] = {0}, next[2 * LOOP_UNITS];
  double w_last[LOOP_UNITS] = {0}, u[LOOP_UNITS] = {0}, slope[LOOP_UNITS], y[LOOP_UNITS];
  double low[LOOP_UNITS] = {0}, high[LOOP_UNITS] = {0}, tops[3][LOOP_UNITS] = {{0}};
  double sums[2][2] = {{0, 1e-300}, {0, 1e-300}};
  *to = (loop_result){.error = HUGE_VAL, .error_part = {HUGE_VAL, HUGE_VAL}};
  if (loop_is_mpsm(c->method) && !loop_open_model(&m, first, c)) {
    return;
  }
  for (int k = 0; k < LOOP_STEPS && sums[0][0] + sums[1][0] < 1e30; k++) {
    const int part = c->changed != NULL && k >= c->k_change;
    const loop* s = part == 1 ? c->changed : first;
    for (size_t i = 0; i < s->q; i++) {
      const double exact = loop_output(s, i, x);
      low[i] = fmin(low[i], exact);
      high[i] = fmax(high[i], exact);
      const double noise = c->noise > 0 ? c->noise * loop_normal(s->seed, i, k) : 0;
      y[i] = exact + noise * (high[i] - low[i]);
    }
    loop_exchange(s, c, &m, k, y, w_last, u, slope);
    if (loop_is_mpsm(c->method)) {
      to->missed[k] = yoke__couple_mpsm.trace(m.self)[LOOP_TRACE_ERROR];
    }
    for (size_t i = 0; i < s->q; i++) {
      const double *T = s->T[i], a = x[2 * i], b = x[2 * i + 1];
      x[2 * i] = T[0] * a + T[1] * b + s->G[i][0] * u[i] + s->R[i][0] * slope[i];
      x[2 * i] += c->is_driven ? 0 : loop_pulse(s, i, k);
      x[2 * i + 1] = T[2] * a + T[3] * b + s->G[i][1] * u[i] + s->R[i][1] * slope[i];
    }
    yoke__mat_vec(2 * s->q, 2 * s->q, s->whole, all, next);
    memcpy(all, next, sizeof all);
    const double drive = c->is_driven ? loop_drive(s, k) : 0;
    for (size_t i = 0; i < s->q; i++) {
      all[2 * i] += s->whole_drive[2 * i] * drive + (c->is_driven ? 0 : loop_pulse(s, i, k));
      all[2 * i + 1] += s->whole_drive[2 * i + 1] * drive;
    }
    loop_judge(s, x, all, k, part, sums, tops);
  }
  loop_conclude(first, sums, tops, to);
  if (loop_is_mpsm(c->method)) {
    yoke__couple_mpsm.health(m.self, to->health);
    loop_close(m.self);
  }
}

#endif
