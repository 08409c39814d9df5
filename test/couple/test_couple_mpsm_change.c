// mpsm with noise of 1 % on all outputs, and with a unit that changes during the run: the run stays bounded, the models are
// learnt again, and the health record says so.
//
// Random loops (bench/mpsm_loop.h) with seeds 2001 to 2200; the constants of the detector (couple_mpsm_change.c) and the
// limits here were set on seeds 1 to 200: found there in 186, 197, 68 and 176 runs of 200 (pulsed, driven, the same with noise),
// false alarms in 2, 0, 1 and 3. Limits: 3 % of false alarms, and found and relearnt less three standard deviations or so.
// Dual mass oscillator: below.
// With pulses and noise only a quarter to a third of the changes is found.
#include "base/base_message.h"
#include "bench/mpsm_loop.h"
#include "couple/couple_mpsm_change.h"
#include "support/check.h"

enum { FIRST_SEED = 2001, N_SEEDS = 200, K_CHANGE = 1000 };
#define NOISE    0.01
#define DIVERGED 1e3

// ---------------------------------------------------------------------------------------------------------
// random loops

typedef struct kind {
  const char* name;
  bool is_driven;
  double noise;
  // limits
  int n_false, n_found, n_relearnt;  // runs: at most, at least, at least
} kind;

typedef struct figures {
  int n, n_kept;  // runs; those that do not diverge
  int n_false, n_found, n_relearnt, n_diverged, n_diverged_held, n_lost, n_far;
  double
      excess[N_SEEDS];  // peak after the change over that of the run held, before, and of the whole
  double missed
      [3]
      [N_SEEDS];  // error of the models over that of the run without change, parts of 300 exchanges
  double held[N_SEEDS];  // error over that of the held run, both from the change on
} figures;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double quantile(double x[], int n, double share) {
  qsort(x, (size_t)n, sizeof *x, compare);
  return x[(int)(share * (n - 1))];
}

static double mean_missed(const loop_result* r, int from, int to) {
  double sum = 0;
  for (int k = from; k < to; k++) {
    sum += r->missed[k] / (to - from);
  }
  return sum;
}

// Peak after the change over the largest of held, before, whole: so much in all runs but N_FAR. Where held signals diverge too
// the ratio only says which run overflowed first; those runs are counted apart.
// Seed 2106, pulsed, was a miss: 361 times the whole before inputs had to stay in reach of the signals (couple_mpsm_guard.c).
#define EXCESS 2.0
enum { N_FAR = 0 };

static void run_pair(const kind* what, uint64_t seed, const loop* s, const loop* changed,
                     figures* f) {
  static loop_result with, without, held;
  loop_course c = {.method = LOOP_MPSM,
                   .is_driven = what->is_driven,
                   .noise = what->noise,
                   .k_change = K_CHANGE};
  const size_t changes = loop_health_of("n_changes"), relearnt = loop_health_of("n_relearnt");
  c.changed = s;
  loop_run(s, &c, &without);
  c.changed = changed;
  loop_run(s, &c, &with);
  c.method = LOOP_HELD;
  loop_run(s, &c, &held);
  f->n_false += without.health[changes] > 0;
  f->n_found += with.health[changes] > with.health_before[changes];
  f->n_relearnt += with.health[changes] > with.health_before[changes] &&
                   with.health[relearnt] > with.health_before[relearnt];
  f->n_diverged += !(with.error < DIVERGED);
  f->n_diverged_held += !(held.error < DIVERGED);
  f->n_lost += !(with.error < DIVERGED) && held.error < DIVERGED;
  const double excess = with.peak[1] / fmax(fmax(held.peak[1], with.peak[0]), 1);
  f->excess[f->n++] = excess;
  if (excess > EXCESS && held.error < DIVERGED) {
    f->n_far++;
    print_message("%s, seed %llu: peak after the change %.3g, held %.3g (of the whole)\n",
                  what->name, (unsigned long long)seed, with.peak[1], held.peak[1]);
  }
  if (!(with.error < DIVERGED) || !(without.error < DIVERGED)) {
    return;
  }
  f->held[f->n_kept] = with.error_part[1] / held.error_part[1];
  for (int j = 0; j < 3; j++) {
    const int from = K_CHANGE + 300 * j, to = from + 300;
    f->missed[j][f->n_kept] = mean_missed(&with, from, to) / mean_missed(&without, from, to);
  }
  f->n_kept++;
}

// What is left of the change in the error of the models, 600 to 900 exchanges later: at most these, in half and in nine tenths
// of the runs. The unit is another one then, so that its level need not be 1.
#define LEFT_HALF 1.1
#define LEFT_MOST 1.6

static void check_kind(const kind* what) {
  static figures f;
  memset(&f, 0, sizeof f);
  for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + N_SEEDS; seed++) {
    loop s, changed;
    if (loop_make(&s, seed) && loop_change(&s, &changed)) {
      run_pair(what, seed, &s, &changed, &f);
    }
  }
  assert_true(f.n > N_SEEDS * 9 / 10);
  print_message(
      "%s: %d runs. Changes found in %d, relearnt in %d; false alarms in %d runs without\n",
      what->name, f.n, f.n_found, f.n_relearnt, f.n_false);
  print_message(
      "  diverging: %d (held %d, only with mpsm %d); peak over the largest of held, before, "
      "whole: at most %.2f\n",
      f.n_diverged, f.n_diverged_held, f.n_lost, quantile(f.excess, f.n, 1));
  for (int j = 0; j < 3; j++) {
    print_message("  error of the models over that without change, %d to %d later: half %.2f, nine "
                  "tenths %.2f\n",
                  300 * j, 300 * j + 300, quantile(f.missed[j], f.n_kept, 0.5),
                  quantile(f.missed[j], f.n_kept, 0.9));
  }
  print_message(
      "  error from the change on over that of held signals: 10 %% %.2f, 50 %% %.2f, 90 %% "
      "%.2f\n",
      quantile(f.held, f.n_kept, 0.1), quantile(f.held, f.n_kept, 0.5),
      quantile(f.held, f.n_kept, 0.9));
  assert_int_equal(f.n_lost, 0);
  check_between(f.n_far, 0, N_FAR);
  check_between(quantile(f.missed[2], f.n_kept, 0.5), 0, LEFT_HALF);
  check_between(quantile(f.missed[2], f.n_kept, 0.9), 0, LEFT_MOST);
  check_between(f.n_false, 0, what->n_false);
  check_between(f.n_found, what->n_found, f.n);
  check_between(f.n_relearnt, what->n_relearnt, f.n);
}

static void test_pulsed(void** state) {
  (void)state;
  check_kind(&(kind){"pulsed", false, 0, 6, 170, 155});
}

static void test_driven(void** state) {
  (void)state;
  check_kind(&(kind){"driven", true, 0, 6, 187, 175});
}

static void test_pulsed_noisy(void** state) {
  (void)state;
  check_kind(&(kind){"pulsed, 1 % noise", false, NOISE, 6, 50, 45});
}

static void test_driven_noisy(void** state) {
  (void)state;
  check_kind(&(kind){"driven, 1 % noise", true, NOISE, 6, 160, 155});
}

// A loop that bears held signals, which lag, and not models that predict well, which lead: without the alarm for motion that
// swells it grows to 6e5 times the whole, while the models miss less and less. With it to 6.1, with noise to 4.4.
static void test_lead(void** state) {
  (void)state;
  static loop_result with;
  loop s;
  assert_true(loop_make(&s, 61374));
  for (int i = 0; i < 2; i++) {
    const loop_course c = {.method = LOOP_MPSM, .noise = i == 0 ? 0 : NOISE};
    loop_run(&s, &c, &with);
    print_message("seed 61374: peak %.2f of the whole, error %.2f, %g alarms\n", with.peak[0],
                  with.error, with.health[loop_health_of("n_alarms")]);
    check_between(with.peak[0], 1, 10);
    assert_true(with.health[loop_health_of("n_alarms")] >= 1);
  }
}

// ---------------------------------------------------------------------------------------------------------
// dual mass oscillator (specification 10.1, damping 200 Ns/m, so that only the force moves it for
// long), with a force on the first mass that the models know
//
//   first    x1' = v1, m v1' = -c1 x1 - d1 v1 + f + F(t)         gives x1, v1, takes f, F
//   second   x2' = v2, m v2' = -c2 x2 - d2 v2 - f                gives f = ck (x2 - x) + dk (v2 - v), takes x, v

enum { N_MICRO = 100 };
#define STEP 1e-3

static const yoke_coupling_unit units[] = {
    {.name = "first", .n_outputs = 2, .n_signals = 1, .n_exogenous = 1},
    {.name = "second",
     .first_output = 2,
     .n_outputs = 1,
     .first_signal = 1,
     .n_signals = 2,
     .first_exogenous = 1},
};
static const double L[] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, offset[] = {0, 0, 0};
static const yoke_coupling_cluster cluster = {
    .n_units = 2, .units = units, .n_outputs = 3, .n_exogenous = 1, .L = L, .offset = offset};
static const yoke_coupling_sink sinks[] = {{0, 1, STEP}, {1, 2, STEP}};
static const int orders[] = {0, 0, 0};
static const int64_t n_sends[] = {1, 1, 1};

typedef struct masses {
  double x1, v1, x2, v2, ck, dk;
} masses;

static double force_between(const masses* o, double x, double v) {
  return o->ck * (o->x2 - x) + o->dk * (o->v2 - v);
}

static double force_outside(int k) {
  const double t = k * STEP;
  return 1e4 * (sin(70 * t) + sin(190 * t + 1) + sin(410 * t + 2));
}

// u: f, x, v; NULL: the whole.
static void advance(masses* o, double c1, double F, const double u[]) {
  const double h = STEP / N_MICRO;
  for (int j = 0; j < N_MICRO; j++) {
    const double f = force_between(o, u == NULL ? o->x1 : u[1], u == NULL ? o->v1 : u[2]);
    const double a1 = (-c1 * o->x1 - 200 * o->v1 + (u == NULL ? f : u[0]) + F) / 10;
    const double a2 = (-1e7 * o->x2 - 200 * o->v2 - f) / 10;
    o->x1 += h * o->v1;
    o->x2 += h * o->v2;
    o->v1 += h * a1;
    o->v2 += h * a2;
  }
}

typedef struct outcome {
  double peak[2], whole[2];   // largest |x1| before and after the change
  double miss[2];             // mean of |x1 - whole| [m], before and after
  double missed[LOOP_STEPS];  // error of the models
  double health[LOOP_HEALTH];
} outcome;

// factor: of the stiffness of the first unit from k_change on. is_held: signals all the time.
static void run_masses(const masses* start, double factor, int k_change, double noise, bool is_held,
                       outcome* to) {
  double parameters[64] = {0}, low[3] = {0}, high[3] = {0};
  loop_defaults(parameters);
  parameters[0] = is_held ? 1e9 : parameters[0];  // learning
  const yoke_coupling_setup setup = {.n_signals = 3,
                                     .orders = orders,
                                     .n_sinks = 2,
                                     .sinks = sinks,
                                     .interval = STEP,
                                     .n_probes = 4,
                                     .parameters = parameters,
                                     .cluster = &cluster,
                                     .n_sends = n_sends};
  void* self = loop_prepare(&setup);
  assert_non_null(self);
  masses o = *start, whole = o;
  double u[3] = {0, o.x1, o.v1};
  *to = (outcome){{0}, {0}, {0}, {0}, {0}};
  for (int k = 0; k < LOOP_STEPS; k++) {
    const int part = k >= K_CHANGE;
    const double c1 = k >= k_change ? factor * 1e6 : 1e6, F = force_outside(k);
    double y[3] = {o.x1, o.v1, force_between(&o, u[1], u[2])};
    for (size_t i = 0; i < 3; i++) {
      low[i] = fmin(low[i], y[i]);
      high[i] = fmax(high[i], y[i]);
      y[i] += noise * loop_normal(4711, i, k) * (high[i] - low[i]);
    }
    const double sample[] = {y[2], y[0], y[1], y[0], y[1], y[2], F};
    const yoke_coupling_moment now = {.k = k, .h_last = k == 0 ? 0 : STEP, .h_next = STEP};
    yoke__couple_mpsm.observe(self, &now, sample, k == 0 ? NULL : u);
    yoke__couple_mpsm.input(self, 0, 0, u);
    yoke__couple_mpsm.input(self, 1, 0, u + 1);
    to->missed[k] = yoke__couple_mpsm.trace(self)[LOOP_TRACE_ERROR];
    advance(&o, c1, F, u);
    advance(&whole, c1, F, NULL);
    if (k >= LOOP_JUDGED) {
      to->peak[part] = fmax(to->peak[part], fabs(o.x1));
      to->whole[part] = fmax(to->whole[part], fabs(whole.x1));
      to->miss[part] += fabs(o.x1 - whole.x1) / (part == 1 ? LOOP_STEPS - K_CHANGE : 700);
    }
  }
  yoke__couple_mpsm.health(self, to->health);
  loop_close(self);
}

static double mean_of(const double x[], int from, int to) {
  double sum = 0;
  for (int k = from; k < to; k++) {
    sum += x[k] / (to - from);
  }
  return sum;
}

// Without a change: false alarms. Error of the models: over its former level, and over that of models that never saw another
// unit, in the same exchanges.
static int check_masses(const masses* start, double factor, double noise) {
  static outcome with, without, always, held;
  const size_t changes = loop_health_of("n_changes"), relearnt = loop_health_of("n_relearnt");
  run_masses(start, factor, K_CHANGE, noise, false, &with);
  run_masses(start, 1, K_CHANGE, noise, false, &without);
  run_masses(start, factor, 0, noise, false, &always);
  run_masses(start, factor, K_CHANGE, noise, true, &held);
  const double former = mean_of(with.missed, K_CHANGE - 400, K_CHANGE);
  const double next = mean_of(with.missed, K_CHANGE, K_CHANGE + 100);
  const double after = mean_of(with.missed, K_CHANGE + 600, LOOP_STEPS);
  print_message(
      "ck %g, stiffness times %.1f, noise %.2f: %g changes, %g relearnt (%g without a change)\n",
      start->ck, factor, noise, with.health[changes], with.health[relearnt],
      without.health[changes]);
  print_message(
      "  error of the models over its former level: %.2f in the next 100, %.2f from 600 on; over "
      "that of a unit that was so from the start: %.2f from 600 on\n",
      next / former, after / former, after / mean_of(always.missed, K_CHANGE + 600, LOOP_STEPS));
  print_message(
      "  largest x1 after the change %.4f, whole %.4f, held %.4g; mean miss before and after "
      "%.2e %.2e, held %.2e %.2e\n",
      with.peak[1], with.whole[1], held.peak[1], with.miss[0], with.miss[1], held.miss[0],
      held.miss[1]);
  assert_true(with.health[changes] >= 1 && with.health[relearnt] >= 1);
  assert_true(next > former);
  check_between(with.peak[1] / with.whole[1], 0.5, 1.5);
  check_between(after / former, 0, 1.5);
  return without.health[changes] > 0;
}

static void test_dual_mass(void** state) {
  (void)state;
  static const masses starts[] = {{.x1 = 0.01, .ck = 2e5, .dk = 200},
                                  {.x1 = 0.01, .ck = 1e5, .dk = 100},
                                  {.x1 = 0.01, .ck = 5e4, .dk = 100},
                                  {.x1 = 0.01, .ck = 5e4, .dk = 50}};
  static const double factors[] = {0.6, 1.4};
  int n_false[2] = {0, 0};
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 2; j++) {
      n_false[0] += check_masses(&starts[i], factors[j], 0) > 0 && j == 0;
      n_false[1] += check_masses(&starts[i], factors[j], NOISE) > 0 && j == 0;
    }
  }
  print_message("false alarms in %d of 4 runs without noise, in %d with\n", n_false[0], n_false[1]);
  check_between(n_false[0], 0, 1);
  assert_int_equal(n_false[1], 0);
}

// ---------------------------------------------------------------------------------------------------------
// the detector alone: y^k = a y^{k-1} + 0.3 u^k, u a sine

typedef struct watched {
  yoke_mpsm_change change;
  void* memory;
  double y;
  int k;
} watched;

static void open_watched(watched* w) {
  static const size_t one[] = {1};
  YOKE_CATCH(err);
  const size_t size = (yoke__mpsm_change_size(1, one, one) + 63) / 64 * 64;
  *w = (watched){.memory = aligned_alloc(64, size), .y = 1};
  assert_non_null(w->memory);
  memset(w->memory, 0, size);
  check_ok(yoke__mpsm_change_prepare(&w->change, 1, one, one, w->memory, &err.sink));
}

static void watch(watched* w, int n, double a, double push) {
  for (int i = 0; i < n; i++, w->k++) {
    const double u = sin(0.3 * w->k) + sin(0.071 * w->k);
    w->y = a * w->y + 0.3 * u + (i == 0 ? push : 0);
    yoke__mpsm_change_observe(&w->change, &w->y, &u, false);
  }
}

// Disturbances are no changes; a change is found within 60 exchanges, learnt again, and the next one is found as well.
static void test_detector(void** state) {
  (void)state;
  watched w;
  open_watched(&w);
  watch(&w, 300, 0.8, 0);
  for (int i = 0; i < 20; i++) {
    watch(&w, 25, 0.8, i % 2 == 0 ? 3 : -30);
  }
  assert_int_equal(w.change.n_changes, 0);
  watch(&w, 60, 0.6, 0);
  assert_int_equal(w.change.n_changes, 1);
  watch(&w, 200, 0.6, 0);
  assert_int_equal(w.change.n_relearnt, 1);
  watch(&w, 300, 0.6, 5);
  assert_int_equal(w.change.n_changes, 1);
  watch(&w, 300, 0.85, 0);
  assert_int_equal(w.change.n_changes, 2);
  assert_int_equal(w.change.n_relearnt, 2);
  free(w.memory);
}

// With noise of a hundredth of the range only windows see a change: not within 100 exchanges, but within 500, and it settles
// within another 600.
static void test_detector_noise(void** state) {
  (void)state;
  watched w;
  open_watched(&w);
  double change[] = {0.8, 0.8, 0.5, 0.5, 0.5};
  static const int lengths[] = {2000, 100, 500, 600, 1500};
  static const int changes[] = {0, 0, 1, 1, 1}, relearnt[] = {0, 0, 0, 1, 1};
  for (int part = 0; part < 5; part++) {
    for (int i = 0; i < lengths[part]; i++, w.k++) {
      const double u = sin(0.3 * w.k) + sin(0.071 * w.k);
      w.y = change[part] * w.y + 0.3 * u;
      const double told = w.y + 0.05 * loop_normal(99, 0, w.k);
      yoke__mpsm_change_observe(&w.change, &told, &u, false);
    }
    if (part != 2) {
      assert_int_equal(w.change.n_relearnt, relearnt[part]);
    }
    assert_int_equal(w.change.n_changes, changes[part]);
  }
  free(w.memory);
}

// Whatever the number of inputs: fewer lags, then no windows; what the errors show is found all the same.
static void test_detector_inputs(void** state) {
  (void)state;
  static const size_t n_inputs[] = {1, 3, 5, 7, 8, 13};
  for (int j = 0; j < 6; j++) {
    static const size_t one[] = {1};
    const size_t m = n_inputs[j];
    const size_t size = (yoke__mpsm_change_size(1, one, &m) + 63) / 64 * 64;
    YOKE_CATCH(err);
    yoke_mpsm_change change;
    void* memory = aligned_alloc(64, size);
    assert_non_null(memory);
    memset(memory, 0, size);
    check_ok(yoke__mpsm_change_prepare(&change, 1, one, &m, memory, &err.sink));
    double y = 1;
    for (int k = 0; k < 3000; k++) {
      double u[13], sum = 0;
      for (size_t i = 0; i < m; i++) {
        u[i] = loop_normal(5, i, k);
        sum += u[i] / (double)m;
      }
      y = (k < 1500 ? 0.9 : 0.6) * y + sum;
      yoke__mpsm_change_observe(&change, &y, u, false);
      if (k == 1499) {
        assert_int_equal(change.n_changes, 0);
      }
    }
    assert_int_equal(change.n_changes, 1);
    assert_int_equal(change.n_relearnt, 1);
    free(memory);
  }
}

// A model that is not exact seems so while nothing moves; that is not what it is measured by afterwards.
static void test_detector_rest(void** state) {
  (void)state;
  watched w;
  open_watched(&w);
  for (int k = 0; k < 6000; k++) {
    const bool is_moving = k / 1000 % 2 == 0;
    const double u = is_moving ? sin(0.3 * k) + sin(0.071 * k) : 0;
    w.y = 0.8 * w.y + 0.3 * u - 0.02 * w.y * w.y * w.y;
    yoke__mpsm_change_observe(&w.change, &w.y, &u, false);
  }
  assert_int_equal(w.change.n_changes, 0);
  free(w.memory);
}

// Two units in a loop with held signals, in steps of 5 ms: motion so smooth that all lags are nearly the same.
//
//   first    x1' = x2, x2' = -stiffness x1 - 0.6 x2 + r - y2        gives x1
//   second   z1' = -z1 + 0.5 z2 + y1, z2' = -0.5 z1 - 1.2 z2 + 0.5 y1, y2 = z1 + 0.3 z2
typedef struct smooth {
  yoke_mpsm_change change;
  void* memory;
  double x[2], z[2], scale;
  int k;
} smooth;

static void open_smooth(smooth* s, double scale) {
  static const size_t ones[] = {1, 1};
  YOKE_CATCH(err);
  const size_t size = (yoke__mpsm_change_size(2, ones, ones) + 63) / 64 * 64;
  *s = (smooth){.memory = aligned_alloc(64, size),
                .x = {scale, 0},
                .z = {0.2 * scale, -0.5 * scale},
                .scale = scale};
  assert_non_null(s->memory);
  memset(s->memory, 0, size);
  check_ok(yoke__mpsm_change_prepare(&s->change, 2, ones, ones, s->memory, &err.sink));
}

// drive: amplitude of r over the scale of all signals, a sine of 1 rad/s that begins softly.
static void watch_smooth(smooth* s, int n, double stiffness, double drive) {
  enum { N_FINE = 20 };
  const double H = 0.005, h = H / N_FINE;
  double *x = s->x, *z = s->z;
  for (int i = 0; i < n; i++, s->k++) {
    const double r = s->scale * drive * (1 - exp(-H * i)) * sin(H * s->k);
    const double u[] = {r - z[0] - 0.3 * z[1], x[0]};
    for (int j = 0; j < N_FINE; j++) {
      const double a = -stiffness * x[0] - 0.6 * x[1] + u[0], b = -z[0] + 0.5 * z[1] + u[1];
      z[1] += h * (-0.5 * z[0] - 1.2 * z[1] + 0.5 * u[1]);
      z[0] += h * b;
      x[0] += h * x[1];
      x[1] += h * a;
    }
    const double y[] = {x[0], z[0] + 0.3 * z[1]};
    yoke__mpsm_change_observe(&s->change, y, u, false);
  }
}

// Units that stay as they are, driven, left alone until all motion has died out, and driven again; signals of 1 and of 1 / 1000.
// With lags in place of differences in the windows there were 14 and 14 alarms, with least squares that start from a variance of
// 1e6 0 and 1. A change by 40 % is still found and settles.
static void test_detector_smooth(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    smooth s;
    open_smooth(&s, i == 0 ? 1 : 1e-3);
    watch_smooth(&s, 6000, 2, 1);
    watch_smooth(&s, 6000, 2, 0);
    watch_smooth(&s, 6000, 2, 0.1);
    assert_int_equal(s.change.n_changes, 0);
    watch_smooth(&s, 800, 2.8, 0.1);
    assert_int_equal(s.change.n_changes, 1);
    watch_smooth(&s, 800, 2.8, 0.1);
    assert_int_equal(s.change.n_relearnt, 1);
    free(s.memory);
  }
}

// What is no number, and a gap, are neither.
static void test_detector_gaps(void** state) {
  (void)state;
  watched w;
  open_watched(&w);
  watch(&w, 500, 0.8, 0);
  const double bad = (double)NAN, u = 0, huge = (double)INFINITY;
  yoke__mpsm_change_observe(&w.change, &bad, &u, false);
  watch(&w, 300, 0.8, 0);
  yoke__mpsm_change_observe(&w.change, &u, &huge, false);
  watch(&w, 300, 0.8, 0);
  yoke__mpsm_change_forget(&w.change);
  w.y = 100;
  watch(&w, 300, 0.8, 0);
  assert_int_equal(w.change.n_changes, 0);
  // and it still sees
  watch(&w, 100, 0.5, 0);
  assert_int_equal(w.change.n_changes, 1);
  free(w.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pulsed),
      cmocka_unit_test(test_driven),
      cmocka_unit_test(test_pulsed_noisy),
      cmocka_unit_test(test_driven_noisy),
      cmocka_unit_test(test_lead),
      cmocka_unit_test(test_dual_mass),
      cmocka_unit_test(test_detector),
      cmocka_unit_test(test_detector_noise),
      cmocka_unit_test(test_detector_inputs),
      cmocka_unit_test(test_detector_rest),
      cmocka_unit_test(test_detector_smooth),
      cmocka_unit_test(test_detector_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
