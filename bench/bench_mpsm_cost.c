// What an exchange by mpsm costs, against the floor program in the same run: two recursive least squares of four parameters.
//
//   cost      observe and inputs through the method's table, wall time of the fastest of many batches, as for the floor. The
//             samples of a run are recorded once and played back, so that the units cost nothing
//   spread    thread CPU time of every single exchange, the least of N_PLAYS plays per exchange (the machine disturbs one play,
//             not all): median, p99.9 and worst, without the cost of the clock
//
// Only exchanges behind the learning time count; nearly all of them must be by the full method. Gates: rls with one signal each
// way at most 30 times the floor; p99.9 at most 5 times the median; subspace models: an exchange that takes over a model and
// hands a window to the worker at most a fifth of what the worker computes: the solution is not in the step. What it is in
// medians, and what it costs to wake a thread for nothing, is printed: that is system calls, and noise.
// `bench_mpsm_cost --gate` exits 1 if one is missed. `bench_mpsm_cost 1` measures case 1 only, for a profiler.
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "bench/mpsm_plant.h"
#include "master/master.h"

enum { N_PLAYS = 20, N_LEARN = 300, BATCH = 100 };

// ---------------------------------------------------------------------------------------------------------
// floor

enum { Q = 4 };

typedef struct plain_rls {
  double p[Q], P[Q * Q];
} plain_rls;

static void plain_update(plain_rls* r, const double phi[Q], double y) {
  const double lambda = 0.996;
  double g[Q], scale = lambda, error = y;
  for (int i = 0; i < Q; i++) {
    g[i] = 0;
    for (int j = 0; j < Q; j++) {
      g[i] += r->P[i * Q + j] * phi[j];
    }
    scale += phi[i] * g[i];
    error -= phi[i] * r->p[i];
  }
  const double inverse = 1 / scale;
  for (int i = 0; i < Q; i++) {
    const double gain = g[i] * inverse;
    r->p[i] += gain * error;
    for (int j = 0; j < Q; j++) {
      r->P[i * Q + j] = (r->P[i * Q + j] - gain * g[j]) * (1 / lambda);
    }
  }
}

static volatile double sink;

static double floor_batch_ns(int n, const double signal[]) {
  plain_rls a = {{0}, {0}}, b = {{0}, {0}};
  for (int i = 0; i < Q; i++) {
    a.P[i * Q + i] = b.P[i * Q + i] = 1e6;
  }
  const int64_t start = yoke__os_now_ns();
  for (int k = 0; k < n; k++) {
    plain_update(&a, signal + k, signal[k + 4]);
    plain_update(&b, signal + k + 1, signal[k + 5]);
  }
  const int64_t end = yoke__os_now_ns();
  sink = a.p[0] + b.p[3];
  return (double)(end - start) / n;
}

static double floor_ns(void) {
  enum { N = 2000 };
  static double signal[N + 8];
  uint64_t seed = 1;
  double best = HUGE_VAL;
  for (int k = 0; k < N + 8; k++) {
    signal[k] = plant_uniform(&seed) - 0.5;
  }
  for (int i = 0; i < 60; i++) {
    best = fmin(best, floor_batch_ns(N, signal));
  }
  return best;
}

// ---------------------------------------------------------------------------------------------------------
// a worker that can be waited for outside of what is timed

typedef struct patient {
  const yoke_coupling_worker* real;
  yoke_coupling_worker face;
  void (*work)(void* argument);
  void* argument;
  atomic_bool is_busy;
  bool was_started;  // since it was last looked at
  int64_t worst_ns;  // of one piece of work
} patient;

static void serve(void* context) {
  patient* w = context;
  const int64_t start = yoke__os_now_ns();
  w->work(w->argument);
  const int64_t took = yoke__os_now_ns() - start;
  w->worst_ns = took > w->worst_ns ? took : w->worst_ns;
  atomic_store(&w->is_busy, false);
}

static void start_work(void* context, void (*work)(void* argument), void* argument) {
  patient* w = context;
  w->work = work;
  w->argument = argument;
  w->was_started = true;
  atomic_store(&w->is_busy, true);
  w->real->start(w->real->context, serve, w);
}

static bool finish_work(void* context) {
  const patient* w = context;
  return w->real->finish(w->real->context);
}

static void nothing(void* argument) {
  (void)argument;
}

// CPU time of this thread for handing over nothing to a worker that sleeps.
static double wake_ns(patient* w, double clock) {
  double best = HUGE_VAL;
  for (int i = 0; i < 200; i++) {
    yoke__os_sleep_ns(100000);
    const int64_t start = yoke__os_cpu_ns();
    w->real->start(w->real->context, nothing, NULL);
    best = fmin(best, (double)(yoke__os_cpu_ns() - start) - clock);
    (void)w->real->finish(w->real->context);
  }
  return best;
}

// As long as a paced run has until the next exchange.
static void wait_for(patient* w) {
  while (atomic_load(&w->is_busy)) {
    yoke__os_sleep_ns(20000);
  }
}

// ---------------------------------------------------------------------------------------------------------
// record and play

static void record(plant* p, patient* worker) {
  double u[PLANT_SIGNALS] = {0};
  plant_prepare(p);
  for (int k = 0; k < p->n_exchanges; k++) {
    plant_tell(p, k);
    plant_exchange(p, k, worker == NULL ? NULL : &worker->face, u);
    if (worker != NULL) {
      wait_for(worker);
    }
    plant_advance(p, u);
  }
}

typedef struct figures {
  double batch, median, p999, worst;  // ns; without those that start work
  double handing;                     // worst of those that start work
  double full;                        // share by the full method behind learning
} figures;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double clock_cost_ns(void) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 2000; i++) {
    const int64_t start = yoke__os_cpu_ns(), cost = yoke__os_cpu_ns() - start;
    best = cost < best ? cost : best;
  }
  return (double)best;
}

// Fastest batch behind learning, per exchange.
static double batch_ns(plant* p) {
  double best = HUGE_VAL;
  for (int play = 0; play < N_PLAYS; play++) {
    double u[PLANT_SIGNALS] = {0};
    int k = 0;
    plant_prepare(p);
    for (; k < N_LEARN; k++) {
      plant_exchange(p, k, NULL, u);
    }
    while (k + BATCH <= p->n_exchanges) {
      const int64_t start = yoke__os_now_ns();
      for (int j = 0; j < BATCH; j++, k++) {
        plant_exchange(p, k, NULL, u);
      }
      best = fmin(best, (double)(yoke__os_now_ns() - start) / BATCH);
    }
    yoke__couple_mpsm.close(p->self);
  }
  return best;
}

// One play, thread CPU time of every exchange; starts: whether it started work.
static void play_once(plant* p, patient* worker, double clock, double best[], bool starts[]) {
  double u[PLANT_SIGNALS] = {0};
  plant_prepare(p);
  for (int k = 0; k < p->n_exchanges; k++) {
    if (worker != NULL) {
      wait_for(worker);
      worker->was_started = false;
    }
    const int64_t start = yoke__os_cpu_ns();
    plant_exchange(p, k, worker == NULL ? NULL : &worker->face, u);
    const double ns = (double)(yoke__os_cpu_ns() - start) - clock;
    best[k] = fmin(best[k], fmax(ns, 0));
    starts[k] = worker != NULL && worker->was_started;
  }
  if (worker != NULL) {
    wait_for(worker);
    (void)finish_work(worker);
  }
}

static figures measure(plant* p, patient* worker) {
  const double clock = clock_cost_ns();
  double* best = calloc((size_t)p->n_exchanges, sizeof *best);
  bool* starts = calloc((size_t)p->n_exchanges, sizeof *starts);
  figures f = {0};
  if (best == NULL || starts == NULL) {
    plant_fail("no memory");
  }
  record(p, worker);
  if (worker != NULL) {
    (void)finish_work(worker);
  }
  f.full = plant_health_of(p, "n_full") / (p->n_exchanges - (p->source == 2 ? 0 : 220));
  yoke__couple_mpsm.close(p->self);
  for (int k = 0; k < p->n_exchanges; k++) {
    best[k] = HUGE_VAL;
  }
  for (int play = 0; play < N_PLAYS; play++) {
    play_once(p, worker, clock, best, starts);
    yoke__couple_mpsm.close(p->self);
  }
  // exchanges that start work stand apart
  int n = 0;
  for (int k = N_LEARN; k < p->n_exchanges; k++) {
    f.handing = starts[k] ? fmax(f.handing, best[k]) : f.handing;
    best[n] = best[k];
    n += !starts[k];
  }
  qsort(best, (size_t)n, sizeof *best, compare);
  f.median = best[n / 2];
  f.p999 = best[(int)ceil(0.999 * n) - 1];
  f.worst = best[n - 1];
  free(best);
  free(starts);
  f.batch = worker == NULL ? batch_ns(p) : (double)NAN;
  return f;
}

// ---------------------------------------------------------------------------------------------------------

#define LIMIT  30  // floors that an exchange with one signal each way may cost
#define SPREAD 5   // p99.9 over the median

typedef struct bench_case {
  const char* name;
  size_t n, m;
  int source, n_exchanges;
} bench_case;

static const bench_case cases[] = {
    {"rls, one signal each way", 1, 1, 0, 5300},
    {"rls, 4 and 6 outputs", 4, 6, 0, 5300},
    {"provided, one signal each way", 1, 1, 2, 5300},
    {"provided, 4 and 6 outputs", 4, 6, 2, 5300},
    {"moesp beside it, one signal each way", 1, 1, 1, 900},
    {"moesp beside it, 4 and 6 outputs", 4, 6, 1, 500},
    {"rls as published, one signal each way", 1, 1, 3, 5300},
    {"rls as published, 4 and 6 outputs", 4, 6, 3, 5300},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static void better(figures* to, const figures* from) {
  to->batch = fmin(to->batch, from->batch);
  to->median = fmin(to->median, from->median);
  to->p999 = fmin(to->p999, from->p999);
  to->worst = fmin(to->worst, from->worst);
  to->handing = fmin(to->handing, from->handing);
}

int main(int argc, char** argv) {
  const bool is_gate = argc > 1 && strcmp(argv[1], "--gate") == 0;
  const long only = argc > 1 && !is_gate ? strtol(argv[1], NULL, 10) : 0;  // from 1
  static plant p;
  patient worker = {.real = yoke__master_worker_create(true)};
  worker.face = (yoke_coupling_worker){&worker, start_work, finish_work};
  if (worker.real == NULL) {
    plant_fail("no thread");
  }
  yoke__os_float_mode_set();
  double best_floor = HUGE_VAL;
  const double wake = wake_ns(&worker, clock_cost_ns());
  bool is_missed = false;
  printf(
      "                                        batch    floors   CPU time of an exchange [us]\n");
  printf(
      "                                        [us]              median   p99.9  (x)    worst\n");
  for (int i = 0; i < N_CASES; i++) {
    const bench_case* c = &cases[i];
    const bool is_beside = c->source == 1;
    if (only > 0 && only != i + 1) {
      continue;
    }
    figures f = {0};
    bool is_good = false;
    // a gate waits for a quiet moment, within bounds
    for (int round = 0; round < (is_gate ? 8 : 1) && !is_good; round++) {
      best_floor = fmin(best_floor, floor_ns());
      plant_open(&p, c->name, c->n, c->m, c->source, c->n_exchanges);
      worker.worst_ns = 0;
      const figures now = measure(&p, is_beside ? &worker : NULL);
      plant_close(&p);
      if (round == 0) {
        f = now;
      }
      better(&f, &now);
      best_floor = fmin(best_floor, floor_ns());
      is_good = f.p999 <= SPREAD * f.median && (i > 0 || f.batch <= LIMIT * best_floor) &&
                (!is_beside || f.handing <= 0.2 * (double)worker.worst_ns) && f.full > 0.9;
    }
    is_missed = is_missed || !is_good;
    printf("%-38s ", c->name);
    if (is_beside) {
      printf("%6s  %7s", "", "");
    } else {
      printf("%6.3f  %7.1f", f.batch * 1e-3, f.batch / best_floor);
    }
    printf("  %7.3f  %6.3f  (%.2f) %6.3f%s\n", f.median * 1e-3, f.p999 * 1e-3, f.p999 / f.median,
           f.worst * 1e-3, is_good ? "" : "  MISSED");
    if (f.full <= 0.9) {
      printf("  only %.0f %% of the exchanges are by the full method\n", 100 * f.full);
    }
    if (is_beside) {
      printf("  takes over a model and hands over the next: at most %.3f us (%.2f medians); the "
             "worker takes up to %.2f ms\n",
             f.handing * 1e-3, f.handing / f.median, (double)worker.worst_ns * 1e-6);
    }
  }
  printf("floor, two least squares of four parameters: %.1f ns; to wake a thread: %.0f ns\n",
         best_floor, wake);
  yoke__master_worker_destroy(worker.real);
  if (is_gate && is_missed) {
    fprintf(stderr, "bench_mpsm_cost: a ratio is above its limit\n");
    return 1;
  }
  return 0;
}
