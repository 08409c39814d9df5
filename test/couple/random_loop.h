// Random linear systems of two or three units in a loop, coupled by signals or by a first-order
// model of each unit, with and without the guard.
//
// Unit: two states (a damped oscillator or two lags), one input, one output, solved exactly over a
// step. Model: y^{k+1} = a y^k + b u^{k+1} by least squares from a run coupled by signals, then
// made wrong by random factors. Excited by pulses from outside, which no model knows.
#ifndef YOKE_TEST_RANDOM_LOOP_H
#define YOKE_TEST_RANDOM_LOOP_H

#include "couple/couple_mpsm_phase.h"
#include "couple/couple_mpsm_predict.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"

enum { LOOP_MAX = 3, LOOP_LEARN = 120, LOOP_STEPS = 1600, LOOP_PULSE = 150 };

typedef struct random_loop {
  size_t q;
  double H;
  double T[LOOP_MAX][4], G[LOOP_MAX][2], C[LOOP_MAX][2];  // x := T x + G u, y = C x
  double L[LOOP_MAX * LOOP_MAX];
  double a[LOOP_MAX], b[LOOP_MAX];  // models
  double radius_hold, radius_model;
  uint64_t seed;
} random_loop;

typedef struct loop_result {
  double level;      // largest |y| of the last quarter over the largest of learning
  double error;      // rms of y - monolithic over that of the monolithic, behind learning
  int64_t n_alarms;  // of the guard
  int64_t n_signal;  // steps coupled by signals behind learning
} loop_result;

static inline double loop_uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

// Pulse on output `unit` at step k: what comes from outside, every LOOP_PULSE steps.
static inline double loop_pulse(const random_loop* s, size_t unit, int k) {
  if (k % LOOP_PULSE != 0) {
    return 0;
  }
  uint64_t seed = s->seed * 977 + (uint64_t)k * 31 + unit;
  (void)loop_uniform(&seed);
  return 2 * loop_uniform(&seed) - 1;
}

static inline void loop_units(const random_loop* s, int k, double x[LOOP_MAX][2], const double u[],
                              double y[]) {
  for (size_t i = 0; i < s->q; i++) {
    const double* T = s->T[i];
    const double x_0 = T[0] * x[i][0] + T[1] * x[i][1] + s->G[i][0] * u[i];
    const double x_1 = T[2] * x[i][0] + T[3] * x[i][1] + s->G[i][1] * u[i];
    x[i][0] = x_0 + loop_pulse(s, i, k);
    x[i][1] = x_1;
    y[i] = s->C[i][0] * x_0 + s->C[i][1] * x_1;
    y[i] += s->C[i][0] * loop_pulse(s, i, k);
  }
}

static inline yoke_mpsm* loop_cluster(random_loop* s, void** memory) {
  static const size_t one[LOOP_MAX] = {1, 1, 1};
  yoke_mpsm_setup setup = {.n_units = s->q,
                           .n_outputs = one,
                           .n_inputs = one,
                           .L = s->L,
                           .step = s->H,
                           .options = yoke__mpsm_options_default()};
  setup.options.time = YOKE_MPSM_DISCRETE;
  *memory = calloc(1, yoke__mpsm_size(&setup));
  yoke_mpsm* self;
  check_ok(yoke__mpsm_prepare(*memory, &setup, &self));
  double zero[1] = {0};
  for (size_t i = 0; i < s->q; i++) {
    const yoke_jacobian_discrete J = {1, 1, &s->a[i], zero, &s->b[i]};
    check_ok(yoke__mpsm_set_discrete(self, i, &J));
  }
  return self;
}

// One step matrix by unit vectors on (x, y): inputs from y by signals or by the model.
static inline double loop_radius(random_loop* s, yoke_mpsm* model) {
  const size_t n = 3 * s->q;
  double M[81], radius;
  for (size_t j = 0; j < n; j++) {
    double x[LOOP_MAX][2] = {{0}}, y[LOOP_MAX] = {0}, u[LOOP_MAX] = {0};
    (j < 2 * s->q ? &x[j / 2][j % 2] : &y[j - 2 * s->q])[0] = 1;
    if (model == NULL) {
      yoke__mat_vec(s->q, s->q, s->L, y, u);
    } else {
      const yoke_mpsm_sample now = {.y = y, .u = u};
      yoke__mpsm_correct(model, &now);
      yoke__mpsm_extrapolate(model, &now);
      yoke__mpsm_pass_on(model, &now, u, NULL);
    }
    loop_units(s, 1, x, u, y);
    for (size_t i = 0; i < n; i++) {
      M[i * n + j] = i < 2 * s->q ? x[i / 2][i % 2] : y[i - 2 * s->q];
    }
  }
  check_ok(yoke__spectral_radius(n, M, &radius));
  return radius;
}

static inline void loop_unit(random_loop* s, size_t i, double A[4], double B[2]) {
  const double w = exp(log(0.3) + loop_uniform(&s->seed) * log(10.0));  // 0.3 ... 3 rad/s
  const double zeta = 0.05 + 1.2 * loop_uniform(&s->seed);
  A[0] = 0;
  A[1] = 1;
  A[2] = -w * w;
  A[3] = -2 * zeta * w;
  B[0] = 0;
  B[1] = w * w;
  s->C[i][0] = 1;
  s->C[i][1] = (loop_uniform(&s->seed) - 0.3) / w;  // relative degree 1
}

// Monolithic transition over n parts of H into E (2q x 2q); growth rate, largest real part.
static inline double loop_whole(const random_loop* s, double A[LOOP_MAX][4], double B[LOOP_MAX][2],
                                double E[36]) {
  const size_t n = 2 * s->q;
  double re[6], im[6], largest = -(double)INFINITY;
  memset(E, 0, 36 * sizeof *E);
  for (size_t i = 0; i < s->q; i++) {
    for (size_t r = 0; r < 2; r++) {
      for (size_t c = 0; c < 2; c++) {
        E[(2 * i + r) * n + 2 * i + c] += A[i][2 * r + c];
        for (size_t j = 0; j < s->q; j++) {
          E[(2 * i + r) * n + 2 * j + c] += B[i][r] * s->L[i * s->q + j] * s->C[j][c];
        }
      }
    }
  }
  check_ok(yoke__eigenvalues(n, E, re, im));
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, re[i]);
  }
  return largest;
}

// A run coupled by signals, least squares of y^{k+1} = a y^k + b u^{k+1}, then wrong by factors
// e^(+-wrong) on b and on the distance of a from 1.
static inline void loop_learn(random_loop* s, double wrong) {
  double x[LOOP_MAX][2] = {{0}}, y[LOOP_MAX] = {0}, last[LOOP_MAX] = {0}, u[LOOP_MAX];
  double m[LOOP_MAX][5] = {{0}};
  // a run that diverges is cut short: its data are a few steps
  for (int k = 0; k < 2 * LOOP_LEARN && fabs(y[0]) < 1e6; k++) {
    yoke__mat_vec(s->q, s->q, s->L, y, u);
    memcpy(last, y, sizeof y);
    loop_units(s, k, x, u, y);
    for (size_t i = 0; i < s->q && k % LOOP_PULSE != 0; i++) {
      m[i][0] += last[i] * last[i];
      m[i][1] += last[i] * u[i];
      m[i][2] += u[i] * u[i];
      m[i][3] += last[i] * y[i];
      m[i][4] += u[i] * y[i];
    }
  }
  for (size_t i = 0; i < s->q; i++) {
    const double det = m[i][0] * m[i][2] - m[i][1] * m[i][1];
    const double a = (m[i][3] * m[i][2] - m[i][4] * m[i][1]) / det;
    const double b = (m[i][4] * m[i][0] - m[i][3] * m[i][1]) / det;
    const double f = exp(wrong * (2 * loop_uniform(&s->seed) - 1));
    const double g = exp(wrong * (2 * loop_uniform(&s->seed) - 1));
    s->a[i] = 1 - (1 - a) * f;
    s->b[i] = b * g;
  }
}

// The system of a seed; monolithically stable. wrong: 0 ... 1.
static inline void loop_open(random_loop* s, uint64_t seed, double wrong) {
  s->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 12345;
  (void)loop_uniform(&s->seed);
  double A[LOOP_MAX][4], B[LOOP_MAX][2], E[36];
  do {
    s->q = loop_uniform(&s->seed) < 0.5 ? 2 : 3;
    memset(s->L, 0, sizeof s->L);
    for (size_t i = 0; i < s->q; i++) {
      loop_unit(s, i, A[i], B[i]);
      const double gain = 5 * (2 * loop_uniform(&s->seed) - 1);
      s->L[i * s->q + (i + s->q - 1) % s->q] = gain;
    }
  } while (loop_whole(s, A, B, E) > -0.02);
  s->H = exp(log(0.03) + loop_uniform(&s->seed) * log(50.0));  // 0.03 ... 1.5 s
  for (size_t i = 0; i < s->q; i++) {
    double big[9] = {0};
    for (size_t r = 0; r < 2; r++) {
      big[3 * r] = A[i][2 * r] * s->H;
      big[3 * r + 1] = A[i][2 * r + 1] * s->H;
      big[3 * r + 2] = B[i][r] * s->H;
    }
    check_ok(yoke__expm(3, big, big));
    for (size_t r = 0; r < 2; r++) {
      s->T[i][2 * r] = big[3 * r];
      s->T[i][2 * r + 1] = big[3 * r + 1];
      s->G[i][r] = big[3 * r + 2];
    }
  }
  loop_learn(s, wrong);
  s->radius_hold = loop_radius(s, NULL);
  void* memory;
  yoke_mpsm* model = loop_cluster(s, &memory);
  s->radius_model = (double)INFINITY;
  if (yoke__mpsm_assemble(model) == YOKE_OK) {
    s->radius_model = loop_radius(s, model);
  }
  free(memory);
}

// A run; guard NULL: none. uses_model false: signals all the time.
static inline loop_result loop_run(random_loop* s, bool uses_model,
                                   const yoke_mpsm_guard_rules* rules) {
  void* memory;
  yoke_mpsm* model = loop_cluster(s, &memory);
  const bool has_model = yoke__mpsm_assemble(model) == YOKE_OK;
  double room[64], x[LOOP_MAX][2] = {{0}}, y[LOOP_MAX] = {0}, u[LOOP_MAX] = {0}, w[LOOP_MAX];
  assert_true(yoke__mpsm_guard_size(s->q) <= 64);
  yoke_mpsm_guard guard;
  yoke__mpsm_guard_prepare(&guard, s->q, room);
  yoke__mpsm_start(model, y, NULL, NULL);
  loop_result result = {0};
  double first = 1e-300, last = 0;
  bool was_model = false;
  for (int k = 0; k < LOOP_STEPS; k++) {
    const yoke_mpsm_sample now = {.y = y, .u = u};
    yoke__mat_vec(s->q, s->q, s->L, y, w);
    yoke__mpsm_error(model, &now);
    bool holds = false;
    if (rules != NULL) {
      holds = yoke__mpsm_guard_observe(&guard, rules, model->eps, w, was_model);
    }
    was_model = uses_model && has_model && k >= LOOP_LEARN && !holds;
    if (was_model) {
      yoke__mpsm_correct(model, &now);
      yoke__mpsm_extrapolate(model, &now);
      yoke__mpsm_pass_on(model, &now, u, NULL);
    } else {
      memcpy(u, w, s->q * sizeof *u);
    }
    result.n_signal += k >= LOOP_LEARN && !was_model;
    loop_units(s, k, x, u, y);
    for (size_t i = 0; i < s->q; i++) {
      const double size = fmin(fabs(y[i]), 1e200);
      first = k < LOOP_LEARN ? fmax(first, size) : first;
      last = k >= LOOP_STEPS * 3 / 4 ? fmax(last, size) : last;
      if (!(fabs(y[i]) < 1e100)) {
        last = (double)INFINITY;
        k = LOOP_STEPS;
        break;
      }
    }
  }
  result.level = last / first;
  result.n_alarms = guard.n_alarms;
  free(memory);
  return result;
}

#endif
