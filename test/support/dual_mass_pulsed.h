// Nonlinear dual mass oscillator with impulses, coupled by method `mpsm` through its table (MPSM specification 10.2).
#ifndef YOKE_TEST_DUAL_MASS_PULSED_H
#define YOKE_TEST_DUAL_MASS_PULSED_H

#include <stdatomic.h>

#include "base/base_message.h"
#include "couple/couple_mpsm.h"
#include "support/check.h"

#define STEP    1e-3
#define MICRO   1e-5
#define N_MICRO 100
#define N_STEPS 1000

typedef struct oscillator {
  double x1, v1, x2, v2;
} oscillator;

static inline double clamp(double x, double low, double high) {
  return fmax(fmin(x, high), low);
}

static inline double coupling_force(const oscillator* o, double x, double v) {
  const double ck = clamp(5e5 * sqrt(fabs(o->x2 - x)), 2.5e4, 2.5e5);
  const double dk = clamp(1e3 * sqrt(fabs(o->v2 - v)), 5e2, 3e3);
  return ck * (o->x2 - x) + dk * (o->v2 - v);
}

// every 50 ms, for one exchange interval
static inline double impulse(int k) {
  return k % 50 == 0 ? 5e5 * sin(10 * k * STEP) : 0;
}

// One exchange interval by explicit Euler; is_whole: every unit sees the other one's present state, else f, x and v.
static inline void advance(oscillator* o, bool is_whole, double f, double x, double v,
                           double f_extern) {
  for (int j = 0; j < N_MICRO; j++) {
    const double mine = coupling_force(o, is_whole ? o->x1 : x, is_whole ? o->v1 : v);
    const double a1 = (-1e6 * o->x1 - o->v1 + (is_whole ? mine : f) + f_extern) / 10;
    const double a2 = (-1e7 * o->x2 - 2 * o->v2 - mine) / 10;
    o->x1 += MICRO * o->v1;
    o->x2 += MICRO * o->v2;
    o->v1 += MICRO * a1;
    o->v2 += MICRO * a2;
  }
}

// signals: f to the first unit, x and v to the second; outputs x, v, f
static const yoke_coupling_unit units[] = {
    {.name = "first", .n_outputs = 2, .n_signals = 1},
    {.name = "second", .first_output = 2, .n_outputs = 1, .first_signal = 1, .n_signals = 2},
};
static const double L[] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, offset[] = {0, 0, 0};
static const yoke_coupling_cluster cluster = {
    .n_units = 2, .units = units, .n_outputs = 3, .L = L, .offset = offset};
static const yoke_coupling_sink sinks[] = {{0, 1, STEP}, {1, 2, STEP}};
static const int orders[] = {0, 0, 0};
static const int64_t n_sends[] = {1, 1, 1};

// A setting of the method that is not its default.
typedef struct setting {
  const char* name;
  double value;
} setting;

// Outputs x, v, f at every exchange, and the inputs f, x, v that led there.
typedef struct pulsed_run {
  double y[N_STEPS + 1][3], u[N_STEPS + 1][3];
  oscillator o[N_STEPS + 1];
  double health[64];
  // in: for work beside the steps, the exchange before which a sample is lost, a count of heap calls; 0: none
  const yoke_coupling_worker* worker;
  int k_lost;
  const atomic_long* n_heap_calls;
  long n_heap;  // of those, in the method after the first exchange
} pulsed_run;

// With the published settings, form: published and level: end, and those given. k_bad: at this exchange an output is no
// number; -1: never.
static inline void run_pulsed(const setting settings[], size_t n, int k_bad, pulsed_run* to) {
  const yoke_coupling_ops* ops = &yoke__couple_mpsm;
  double parameters[64];
  YOKE_CATCH(err);
  for (size_t i = 0; i < ops->n_parameters; i++) {
    const char* name = ops->parameters[i].name;
    const bool is_published = strcmp(name, "form") == 0 || strcmp(name, "level") == 0;
    parameters[i] = is_published ? 1 : ops->parameters[i].start;
    for (size_t j = 0; j < n; j++) {
      parameters[i] = strcmp(settings[j].name, name) == 0 ? settings[j].value : parameters[i];
    }
  }
  const yoke_coupling_setup setup = {.n_signals = 3,
                                     .orders = orders,
                                     .n_sinks = 2,
                                     .sinks = sinks,
                                     .interval = STEP,
                                     .n_probes = 3,
                                     .parameters = parameters,
                                     .cluster = &cluster,
                                     .n_sends = n_sends};
  const size_t size = (ops->size(&setup) + 63) / 64 * 64;
  void* self = aligned_alloc(64, size);
  memset(self, 0, size);
  check_ok(ops->prepare(self, &setup, &err.sink));
  oscillator o = {.x1 = 0.1};
  double f = coupling_force(&o, o.x1, o.v1);
  double u[3] = {f, o.x1, o.v1};
  for (int k = 0; k <= N_STEPS; k++) {
    const double sample[] = {f, o.x1, o.v1, k == k_bad ? (double)NAN : o.x1, o.v1, f};
    const yoke_coupling_moment now = {
        .k = k, .h_last = k == 0 ? 0 : STEP, .h_next = STEP, .worker = to->worker};
    to->o[k] = o;
    memcpy(to->y[k], (double[]){o.x1, o.v1, f}, sizeof to->y[k]);
    memcpy(to->u[k], u, sizeof u);
    const long before = to->n_heap_calls != NULL ? atomic_load(to->n_heap_calls) : 0;
    if (k > 0 && k == to->k_lost) {
      ops->reset(self, YOKE_RESET_LOST_SAMPLE, NULL);
    }
    ops->observe(self, &now, sample, k == 0 ? NULL : u);
    ops->input(self, 0, 0, u);
    ops->input(self, 1, 0, u + 1);
    to->n_heap += to->n_heap_calls != NULL && k > 0 ? atomic_load(to->n_heap_calls) - before : 0;
    if (k == k_bad) {
      assert_memory_equal(u, sample, sizeof u);  // the signals as they are
    }
    advance(&o, false, u[0], u[1], u[2], impulse(k));
    f = coupling_force(&o, u[1], u[2]);
  }
  ops->health(self, to->health);
  ops->close(self);
  free(self);
}

#endif
