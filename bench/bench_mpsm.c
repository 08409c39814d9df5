// mpsm with models identified while running, against held and extrapolated signals and nepce: 200 random linear systems
// of two or three units in a loop, each stable as a whole. Prints how often it is at least as accurate as the best of the
// others, how often worse, and every system that is stable with held signals and diverges with mpsm.
//
//   bench_mpsm [N [FIRST]]     N systems from seed FIRST on (200 from 50001)
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "couple/couple_mpsm.h"
#include "linalg/linalg_dense.h"

enum { MAX_UNITS = 3, N_STEPS = 2000, N_LEARN = 220, N_JUDGED = 300, PULSE = 150, MAX_HEALTH = 32 };

typedef struct loop {
  size_t q;
  double H;
  double T[MAX_UNITS][4], G[MAX_UNITS][2], R[MAX_UNITS][2];  // x := T x + G u + R s, input u + s t
  double C[MAX_UNITS][2], L[MAX_UNITS];  // unit i gets L[i] times the output before it
  double whole[36];                      // of one step
  uint64_t seed;
} loop;

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static double between(uint64_t* seed, double low, double high) {
  return low + (high - low) * uniform(seed);
}

// A damped oscillator or two lags, gain 1 or so.
static void make_unit(loop* s, size_t i, double A[4], double B[2]) {
  const double w = exp(between(&s->seed, log(0.5), log(5.0)));
  const double zeta = exp(between(&s->seed, log(0.05), log(3.0)));
  const double companion[] = {0, 1, -w * w, -2 * zeta * w};
  memcpy(A, companion, sizeof companion);
  B[0] = 0;
  B[1] = w * w;
  s->C[i][0] = between(&s->seed, -1, 1);
  s->C[i][1] = between(&s->seed, -1, 1) / w;
}

// The largest real part of the whole; E: its matrix.
static double make_whole(const loop* s, double A[MAX_UNITS][4], double B[MAX_UNITS][2],
                         double E[36]) {
  const size_t n = 2 * s->q;
  double re[6], im[6], largest = -HUGE_VAL;
  memset(E, 0, 36 * sizeof *E);
  for (size_t i = 0; i < s->q; i++) {
    const size_t j = (i + s->q - 1) % s->q;
    for (size_t r = 0; r < 2; r++) {
      for (size_t c = 0; c < 2; c++) {
        E[(2 * i + r) * n + 2 * i + c] += A[i][2 * r + c];
        E[(2 * i + r) * n + 2 * j + c] += B[i][r] * s->L[i] * s->C[j][c];
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

static bool make_loop(loop* s, uint64_t seed) {
  *s = (loop){.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
  double A[MAX_UNITS][4], B[MAX_UNITS][2], E[36];
  do {
    s->q = uniform(&s->seed) < 0.5 ? 2 : 3;
    for (size_t i = 0; i < s->q; i++) {
      make_unit(s, i, A[i], B[i]);
      s->L[i] = between(&s->seed, -3, 3);
    }
  } while (make_whole(s, A, B, E) > -0.02);
  s->H = exp(between(&s->seed, log(0.02), log(1.0)));
  bool is_good = true;
  for (size_t i = 0; i < s->q; i++) {
    // x' = A x + B u, u' = s
    double big[16] = {0};
    for (size_t r = 0; r < 2; r++) {
      big[4 * r] = A[i][2 * r] * s->H;
      big[4 * r + 1] = A[i][2 * r + 1] * s->H;
      big[4 * r + 2] = B[i][r] * s->H;
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
  for (size_t i = 0; i < 4 * s->q * s->q; i++) {
    E[i] *= s->H;
  }
  return is_good && yoke__expm(2 * s->q, E, s->whole) >= 0;
}

static double pulse(const loop* s, size_t unit, int k) {
  uint64_t seed = s->seed * 977 + (uint64_t)k * 31 + unit;
  (void)uniform(&seed);
  return k % PULSE == 0 ? between(&seed, -1, 1) : 0;
}

static double output(const loop* s, size_t i, const double x[]) {
  return s->C[i][0] * x[2 * i] + s->C[i][1] * x[2 * i + 1];
}

typedef enum rival { HOLD, LINEAR, NEPCE, MPSM, N_RIVALS } rival;
static const char* const names[] = {"held", "linear", "nepce", "mpsm"};

typedef struct model {
  yoke_coupling_unit units[MAX_UNITS];
  yoke_coupling_sink sinks[MAX_UNITS];
  yoke_coupling_cluster cluster;
  yoke_coupling_setup setup;
  double L[MAX_UNITS * MAX_UNITS];
  double offset[MAX_UNITS], parameters[MAX_HEALTH];
  int orders[MAX_UNITS];
  int64_t n_sends[MAX_UNITS];
  void* self;
} model;

static bool open_model(model* m, const loop* s) {
  const yoke_coupling_ops* ops = &yoke__couple_mpsm;
  *m = (model){0};
  for (size_t i = 0; i < s->q; i++) {
    m->units[i] = (yoke_coupling_unit){
        .name = "unit", .first_output = i, .n_outputs = 1, .first_signal = i, .n_signals = 1};
    m->sinks[i] = (yoke_coupling_sink){i, 1, s->H};
    m->L[i * s->q + (i + s->q - 1) % s->q] = s->L[i];
    m->n_sends[i] = 1;
  }
  for (size_t i = 0; i < ops->n_parameters; i++) {
    m->parameters[i] = ops->parameters[i].start;
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
  const size_t size = (ops->size(&m->setup) + 63) / 64 * 64;
  char err[256] = "";
  m->self = aligned_alloc(64, size);
  if (m->self == NULL) {
    return false;
  }
  memset(m->self, 0, size);
  return ops->prepare(m->self, &m->setup, err, sizeof err) >= 0;
}

// Root of the mean square of y - whole over that of the whole, from N_JUDGED on; infinite if it overflows.
static double run(const loop* s, rival method) {
  model m;
  double x[2 * MAX_UNITS] = {0}, all[2 * MAX_UNITS] = {0}, next[2 * MAX_UNITS];
  double w_last[MAX_UNITS] = {0}, u[MAX_UNITS] = {0}, sum = 0, scale = 1e-300;
  if (method == MPSM && !open_model(&m, s)) {
    return HUGE_VAL;
  }
  for (int k = 0; k < N_STEPS && sum < 1e30; k++) {
    double sample[2 * MAX_UNITS];
    for (size_t i = 0; i < s->q; i++) {
      sample[s->q + i] = output(s, i, x);
      sample[i] = s->L[i] * output(s, (i + s->q - 1) % s->q, x);
    }
    if (method == MPSM) {
      const yoke_coupling_moment now = {k, k == 0 ? 0 : s->H, s->H};
      yoke__couple_mpsm.observe(m.self, &now, sample, k == 0 ? NULL : u);
    }
    for (size_t i = 0; i < s->q; i++) {
      const double w = sample[i], slope = method == LINEAR && k > 0 ? (w - w_last[i]) / s->H : 0;
      u[i] = method == NEPCE && k > 0 ? w + (w - w_last[i]) / 2 : w;
      if (method == MPSM) {
        yoke__couple_mpsm.input(m.self, i, 0, &u[i]);
      }
      w_last[i] = w;
      const double *T = s->T[i], a = x[2 * i], b = x[2 * i + 1];
      x[2 * i] = T[0] * a + T[1] * b + s->G[i][0] * u[i] + s->R[i][0] * slope + pulse(s, i, k);
      x[2 * i + 1] = T[2] * a + T[3] * b + s->G[i][1] * u[i] + s->R[i][1] * slope;
    }
    yoke__mat_vec(2 * s->q, 2 * s->q, s->whole, all, next);
    memcpy(all, next, sizeof all);
    for (size_t i = 0; i < s->q; i++) {
      all[2 * i] += pulse(s, i, k);
      const double miss = output(s, i, x) - output(s, i, all);
      sum += k >= N_JUDGED ? miss * miss : 0;
      scale += k >= N_JUDGED ? output(s, i, all) * output(s, i, all) : 0;
      sum = isfinite(miss) && fabs(miss) < 1e15 ? sum : HUGE_VAL;
    }
  }
  if (method == MPSM) {
    free(m.self);
  }
  return sum < 1e30 ? sqrt(sum / scale) : HUGE_VAL;
}

// beyond what an error can mean
#define DIVERGED 1e3

int main(int argc, char** argv) {
  const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 50001;
  int n_good = 0, n_worse = 0, n_stable[N_RIVALS] = {0}, n_lost = 0, n_saved = 0;
  for (uint64_t seed = first; seed < first + n; seed++) {
    loop s;
    double error[N_RIVALS], best = HUGE_VAL;
    if (!make_loop(&s, seed)) {
      continue;
    }
    for (int r = 0; r < N_RIVALS; r++) {
      error[r] = run(&s, (rival)r);
      n_stable[r] += error[r] < DIVERGED;
      best = r == MPSM ? best : fmin(best, error[r]);
    }
    n_good += error[MPSM] <= best && error[MPSM] < DIVERGED;
    n_worse += error[MPSM] > best;
    n_saved += error[MPSM] < DIVERGED && !(error[HOLD] < DIVERGED);
    if (error[HOLD] < DIVERGED && !(error[MPSM] < DIVERGED)) {
      n_lost++;
      printf("seed %llu: stable when held (%.3g), diverges with mpsm\n", (unsigned long long)seed,
             error[HOLD]);
    }
  }
  printf("%llu systems from seed %llu on\n", (unsigned long long)n, (unsigned long long)first);
  for (int r = 0; r < N_RIVALS; r++) {
    printf("  %-7s stable in %d\n", names[r], n_stable[r]);
  }
  printf("  mpsm at least as accurate as the best of the others in %d (%.1f %%), worse in %d\n",
         n_good, 100.0 * n_good / (double)n, n_worse);
  printf("  stable with mpsm only, not when held: %d; stable when held, diverging with mpsm: %d\n",
         n_saved, n_lost);
  return 0;
}
