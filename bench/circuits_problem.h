// The problems of the races of bench_circuits.c, as netlist text, with reference solutions that share no code with the
// circuit solver:
//
//   ladder     10 sin(2 pi 10 t) V; N loops of 0.1 Ohm, 1 mH and 1 mF to ground; 1 Ohm at the end; from zero
//              state equations i_k' = (v_{k-1} - R i_k - v_k)/L, v_k' = (i_k - i_{k+1})/C
//   rectifier  10 V 50 Hz, 0.5 Ohm, bridge of four diodes (1 pA, N = 1, 27 C), 1 mF and 100 Ohm; from zero
//              one state, v of the capacitor; the two other voltages from Kirchhoff's law by Newton's method
//
// Runge-Kutta of order 4 at a fixed small step; between its points cubic polynomials through values and slopes. The
// same with twice the step tells how good it is. Error of a run: root of the mean square over time divided by the largest
// value of the signal (rectifier: by 10 V), worst of the signals. What a long ladder damps below 1e-9 of its first
// signal is rounding and is not judged.
#ifndef YOKE_BENCH_CIRCUITS_PROBLEM_H
#define YOKE_BENCH_CIRCUITS_PROBLEM_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { MAX_SIGNALS = 3 };

typedef struct race_signal {
  char plus[16], minus[16];  // nodes; minus "" is ground
} race_signal;

typedef struct race_reference {
  double step;
  double scale[MAX_SIGNALS];   // what errors are divided by; 0: the signal is not judged
  size_t n;                    // intervals; arrays hold n + 1
  double* value[MAX_SIGNALS];  // and its slope
  double* slope[MAX_SIGNALS];
  double self_check;  // error of the same with twice the step, as for a run
} race_reference;

typedef struct race_problem {
  char name[32];
  int n_loops;  // 0: rectifier
  bool has_leaks;
  double stop;
  char* text;  // title and elements; no .tran, .options, .end
  race_signal signals[MAX_SIGNALS];
  int n_signals;
  race_reference reference;          // with the constants of nature of today
  race_reference ngspice_reference;  // with those of ngspice; for the ladder the same
} race_problem;

static void* bench_take(size_t n, size_t size) {
  void* block = calloc(n, size);
  if (block == NULL) {
    fprintf(stderr, "bench_circuits: out of memory\n");
    exit(1);
  }
  return block;
}

// ---------------------------------------------------------------------------------------------------------
// netlists

static void ladder_text(race_problem* problem) {
  const size_t size = 400 + 120 * (size_t)problem->n_loops;
  problem->text = bench_take(size, 1);
  char* text = problem->text;
  size_t n =
      (size_t)snprintf(text, size, "ladder of %d loops\nv1 c0 0 sin(0 10 10)\n", problem->n_loops);
  for (int k = 1; k <= problem->n_loops; k++) {
    n += (size_t)snprintf(text + n, size - n, "r%d c%d d%d 0.1\nl%d d%d c%d 1m\nc%d c%d 0 1m\n", k,
                          k - 1, k, k, k, k, k, k);
  }
  snprintf(text + n, size - n, "rload c%d 0 1\n", problem->n_loops);
}

static void rectifier_text(race_problem* problem) {
  static const char elements[] = "rectifier\nv1 in 0 sin(0 10 50)\nr1 in a 0.5\n"
                                 "d1 a p dm\nd2 0 p dm\nd3 n a dm\nd4 n 0 dm\n"
                                 "c1 p n 1m\nrload p n 100\n.model dm d(is=1p n=1)\n";
  static const char leaks[] = "rl1 a p 1meg\nrl2 0 p 1meg\nrl3 n a 1meg\nrl4 n 0 1meg\n";
  const size_t size = sizeof elements + sizeof leaks;
  problem->text = bench_take(size, 1);
  snprintf(problem->text, size, "%s%s", elements, problem->has_leaks ? leaks : "");
}

// ---------------------------------------------------------------------------------------------------------
// reference of the ladder

typedef struct ladder_work {
  int n;
  double *x, *k[4], *stage;  // currents, then voltages
} ladder_work;

static void ladder_slopes(int n, double t, const double* x, double* d) {
  const double R = 0.1, L = 1e-3, C = 1e-3, load = 1.0;
  const double *i = x, *v = x + n;
  d[0] = (10.0 * sin(2.0 * PI * 10.0 * t) - R * i[0] - v[0]) / L;
  for (int k = 1; k < n; k++) {
    d[k] = (v[k - 1] - R * i[k] - v[k]) / L;
  }
  for (int k = 0; k < n - 1; k++) {
    d[n + k] = (i[k] - i[k + 1]) / C;
  }
  d[2 * n - 1] = (i[n - 1] - v[n - 1] / load) / C;
}

// k[0] holds the slopes at t on entry
static void ladder_step(ladder_work* w, double t, double h) {
  static const double c[4] = {0.0, 0.5, 0.5, 1.0};
  const int n = 2 * w->n;
  for (int s = 1; s < 4; s++) {
    for (int j = 0; j < n; j++) {
      w->stage[j] = w->x[j] + c[s] * h * w->k[s - 1][j];
    }
    ladder_slopes(w->n, t + c[s] * h, w->stage, w->k[s]);
  }
  for (int j = 0; j < n; j++) {
    w->x[j] += h / 6.0 * (w->k[0][j] + 2.0 * w->k[1][j] + 2.0 * w->k[2][j] + w->k[3][j]);
  }
}

// loop whose capacitor voltage is signal s, from 0
static int ladder_tap(int n, int s) {
  return s == 0 ? 0 : s == 1 ? (n + 1) / 2 - 1 : n - 1;
}

static void reference_create(race_reference* reference, double stop, double step, int n_signals) {
  reference->step = step;
  reference->n = (size_t)llround(stop / step);
  for (int s = 0; s < n_signals; s++) {
    reference->value[s] = bench_take(reference->n + 1, sizeof(double));
    reference->slope[s] = bench_take(reference->n + 1, sizeof(double));
  }
}

static void reference_free(race_reference* reference) {
  for (int s = 0; s < MAX_SIGNALS; s++) {
    free(reference->value[s]);
    free(reference->slope[s]);
  }
}

static void ladder_reference(const race_problem* problem, double step, race_reference* reference) {
  const int n = problem->n_loops;
  ladder_work w = {.n = n};
  w.x = bench_take(12 * (size_t)n, sizeof(double));
  for (int s = 0; s < 4; s++) {
    w.k[s] = w.x + 2 * (size_t)n * ((size_t)s + 1);
  }
  w.stage = w.x + 10 * (size_t)n;
  reference_create(reference, problem->stop, step, problem->n_signals);
  for (size_t j = 0; j <= reference->n; j++) {
    const double t = (double)j * step;
    ladder_slopes(n, t, w.x, w.k[0]);
    for (int s = 0; s < problem->n_signals; s++) {
      reference->value[s][j] = w.x[n + ladder_tap(n, s)];
      reference->slope[s][j] = w.k[0][n + ladder_tap(n, s)];
      reference->scale[s] = fmax(reference->scale[s], fabs(reference->value[s][j]));
    }
    ladder_step(&w, t, step);
  }
  for (int s = 1; s < problem->n_signals; s++) {
    reference->scale[s] =
        reference->scale[s] > 1e-9 * reference->scale[0] ? reference->scale[s] : 0.0;
  }
  free(w.x);
}

// ---------------------------------------------------------------------------------------------------------
// reference of the rectifier

typedef struct bridge {
  double vt, leak;  // thermal voltage; conductance across each diode
  double a, n;      // node voltages, start of the next iteration
} bridge;

static double bridge_diode(const bridge* b, double v, double* g) {
  const double is = 1e-12;
  const double e = exp(v / b->vt);
  *g = is / b->vt * e + b->leak;
  return is * (e - 1.0) + b->leak * v;
}

// Solves the bridge with the source at E and the capacitor at v; slope of the capacitor's voltage.
static double bridge_slope(bridge* b, double E, double v) {
  double i[4], g[4];
  for (int iteration = 0; iteration < 100; iteration++) {
    const double p = b->n + v;
    const double u[4] = {b->a - p, -p, b->n - b->a, b->n};
    for (int d = 0; d < 4; d++) {
      i[d] = bridge_diode(b, u[d], &g[d]);
    }
    // Kirchhoff's law of node a and of the direct-current side as a whole
    const double f1 = (E - b->a) / 0.5 - i[0] + i[2];
    const double f2 = i[0] + i[1] - i[2] - i[3];
    const double j11 = -2.0 - g[0] - g[2], j12 = g[0] + g[2], j21 = g[0] + g[2],
                 j22 = -g[0] - g[1] - g[2] - g[3];
    const double det = j11 * j22 - j12 * j21;
    double da = -(f1 * j22 - f2 * j12) / det, dn = -(f2 * j11 - f1 * j21) / det;
    // no more than a few thermal voltages at once
    const double cut = fmin(1.0, 4.0 * b->vt / fmax(fabs(da), fmax(fabs(dn), 1e-300)));
    b->a += cut * da;
    b->n += cut * dn;
    if (cut == 1.0 && fabs(da) + fabs(dn) < 1e-14 * (1.0 + fabs(b->a) + fabs(b->n))) {
      break;
    }
  }
  return (i[0] + i[1] - v / 100.0) / 1e-3;
}

static double rectifier_source(double t) {
  return 10.0 * sin(2.0 * PI * 50.0 * t);
}

// k_q: Boltzmann's constant over the elementary charge [V/K]
static void rectifier_reference(const race_problem* problem, double step, double k_q,
                                race_reference* reference) {
  // ngspice and we put 1e-12 S across every junction
  bridge b = {.vt = k_q * 300.15, .leak = (problem->has_leaks ? 1e-6 : 0.0) + 1e-12};
  double v = 0.0;
  reference_create(reference, problem->stop, step, 1);
  reference->scale[0] = 10.0;
  for (size_t j = 0; j <= reference->n; j++) {
    const double t = (double)j * step;
    const double middle = rectifier_source(t + 0.5 * step);
    const double k1 = bridge_slope(&b, rectifier_source(t), v);
    reference->value[0][j] = v;
    reference->slope[0][j] = k1;
    const double k2 = bridge_slope(&b, middle, v + 0.5 * step * k1);
    const double k3 = bridge_slope(&b, middle, v + 0.5 * step * k2);
    const double k4 = bridge_slope(&b, rectifier_source(t + step), v + step * k3);
    v += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
}

// ---------------------------------------------------------------------------------------------------------
// errors

static double reference_at(const race_reference* reference, int signal, double t) {
  const double at = t / reference->step;
  size_t j = at > 0.0 ? (size_t)at : 0;
  j = j < reference->n ? j : reference->n - 1;
  const double s = at - (double)j;
  const double* v = reference->value[signal] + j;
  const double* d = reference->slope[signal] + j;
  const double r = 1.0 - s;
  return r * r * (1.0 + 2.0 * s) * v[0] + s * s * (3.0 - 2.0 * s) * v[1] +
         reference->step * s * r * (r * d[0] - s * d[1]);
}

typedef struct race_error {
  const race_reference* reference;
  int n_signals;
  double t, last[MAX_SIGNALS], sum[MAX_SIGNALS];
} race_error;

// The next point of a run; times rise from above 0. At 0 the error is taken as 0.
static void error_add(race_error* error, double t, const double v[]) {
  for (int s = 0; s < error->n_signals; s++) {
    const double e = v[s] - reference_at(error->reference, s, t);
    error->sum[s] += 0.5 * (t - error->t) * (e * e + error->last[s]);
    error->last[s] = e * e;
  }
  error->t = t;
}

// Root of the mean square of the worst signal, relative. NaN if a value was.
static double error_rms(const race_error* error) {
  double worst = 0.0;
  for (int s = 0; s < error->n_signals; s++) {
    const double scale = error->reference->scale[s];
    const double rms = scale > 0.0 ? sqrt(error->sum[s] / error->t) / scale : 0.0;
    worst = rms <= worst ? worst : rms;
  }
  return worst;
}

// of the reference: the one with twice the step against it
static void check_reference(race_reference* reference, race_reference* coarse, int n_signals) {
  race_error error = {.reference = reference, .n_signals = n_signals};
  for (size_t j = 1; j <= coarse->n; j++) {
    double v[MAX_SIGNALS];
    for (int s = 0; s < n_signals; s++) {
      v[s] = coarse->value[s][j];
    }
    error_add(&error, (double)j * coarse->step, v);
  }
  reference->self_check = error_rms(&error);
  reference_free(coarse);
}

// ---------------------------------------------------------------------------------------------------------
// problems

#define K_Q_EXACT   (1.380649e-23 / 1.602176634e-19)     // SI of 2019
#define K_Q_NGSPICE (1.38064852e-23 / 1.6021766208e-19)  // CODATA 2014, as in ngspice 39

static void ladder_create(race_problem* problem, int n_loops, double stop) {
  *problem = (race_problem){.n_loops = n_loops, .stop = stop, .n_signals = 3};
  snprintf(problem->name, sizeof problem->name, "ladder %d", n_loops);
  ladder_text(problem);
  for (int s = 0; s < 3; s++) {
    snprintf(problem->signals[s].plus, sizeof problem->signals[s].plus, "c%d",
             ladder_tap(n_loops, s) + 1);
  }
  race_reference coarse = {0};
  ladder_reference(problem, 1e-5, &problem->reference);
  ladder_reference(problem, 2e-5, &coarse);
  check_reference(&problem->reference, &coarse, 3);
}

static void rectifier_create(race_problem* problem, bool has_leaks, double stop) {
  *problem = (race_problem){.has_leaks = has_leaks, .stop = stop, .n_signals = 1};
  snprintf(problem->name, sizeof problem->name, has_leaks ? "rectifier" : "rectifier, no leaks");
  rectifier_text(problem);
  problem->signals[0] = (race_signal){.plus = "p", .minus = "n"};
  race_reference coarse = {0};
  rectifier_reference(problem, 1e-6, K_Q_EXACT, &problem->reference);
  rectifier_reference(problem, 2e-6, K_Q_EXACT, &coarse);
  check_reference(&problem->reference, &coarse, 1);
  rectifier_reference(problem, 1e-6, K_Q_NGSPICE, &problem->ngspice_reference);
}

static void problem_free(race_problem* problem) {
  free(problem->text);
  reference_free(&problem->reference);
  reference_free(&problem->ngspice_reference);
}

#endif
