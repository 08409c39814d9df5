// mpsm with noise of 1 % on all outputs, and with a unit that changes during the run: the run stays bounded, and the models
// are learnt again.
//
// Random loops (bench/mpsm_loop.h) with seeds 2001 to 2200; limits were set on seeds 1 to 200. Dual mass oscillator: below.
#include "base/base_message.h"
#include "bench/mpsm_loop.h"
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
} kind;

typedef struct figures {
  int n, n_kept;  // runs; those that do not diverge
  int n_diverged, n_diverged_held, n_lost, n_far;
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
  c.changed = s;
  loop_run(s, &c, &without);
  c.changed = changed;
  loop_run(s, &c, &with);
  c.method = LOOP_HELD;
  loop_run(s, &c, &held);
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
  print_message("%s: %d runs\n  diverging: %d (held %d, only with mpsm %d); peak over the largest "
                "of held, before, "
                "whole: at most %.2f\n",
                what->name, f.n, f.n_diverged, f.n_diverged_held, f.n_lost,
                quantile(f.excess, f.n, 1));
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
}

static void test_pulsed(void** state) {
  (void)state;
  check_kind(&(kind){"pulsed", false, 0});
}

static void test_driven(void** state) {
  (void)state;
  check_kind(&(kind){"driven", true, 0});
}

static void test_pulsed_noisy(void** state) {
  (void)state;
  check_kind(&(kind){"pulsed, 1 % noise", false, NOISE});
}

static void test_driven_noisy(void** state) {
  (void)state;
  check_kind(&(kind){"driven, 1 % noise", true, NOISE});
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
} outcome;

// factor: of the stiffness of the first unit from k_change on. is_held: signals all the time.
static void run_masses(const masses* start, double factor, int k_change, double noise, bool is_held,
                       outcome* to) {
  double parameters[64] = {0}, low[3] = {0}, high[3] = {0};
  loop_defaults(parameters);
  loop_publish(parameters);
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
  *to = (outcome){{0}, {0}, {0}, {0}};
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
  loop_close(self);
}

static double mean_of(const double x[], int from, int to) {
  double sum = 0;
  for (int k = from; k < to; k++) {
    sum += x[k] / (to - from);
  }
  return sum;
}

// Error of the models: over its former level, and over that of models that never saw another unit, in the same exchanges.
static void check_masses(const masses* start, double factor, double noise) {
  static outcome with, always, held;
  run_masses(start, factor, K_CHANGE, noise, false, &with);
  run_masses(start, factor, 0, noise, false, &always);
  run_masses(start, factor, K_CHANGE, noise, true, &held);
  const double former = mean_of(with.missed, K_CHANGE - 400, K_CHANGE);
  const double next = mean_of(with.missed, K_CHANGE, K_CHANGE + 100);
  const double after = mean_of(with.missed, K_CHANGE + 600, LOOP_STEPS);
  print_message("ck %g, stiffness times %.1f, noise %.2f\n", start->ck, factor, noise);
  print_message(
      "  error of the models over its former level: %.2f in the next 100, %.2f from 600 on; over "
      "that of a unit that was so from the start: %.2f from 600 on\n",
      next / former, after / former, after / mean_of(always.missed, K_CHANGE + 600, LOOP_STEPS));
  print_message(
      "  largest x1 after the change %.4f, whole %.4f, held %.4g; mean miss before and after "
      "%.2e %.2e, held %.2e %.2e\n",
      with.peak[1], with.whole[1], held.peak[1], with.miss[0], with.miss[1], held.miss[0],
      held.miss[1]);
  assert_true(next > former);
  check_between(with.peak[1] / with.whole[1], 0.5, 1.5);
  check_between(after / former, 0, 1.5);
}

static void test_dual_mass(void** state) {
  (void)state;
  static const masses starts[] = {{.x1 = 0.01, .ck = 2e5, .dk = 200},
                                  {.x1 = 0.01, .ck = 1e5, .dk = 100},
                                  {.x1 = 0.01, .ck = 5e4, .dk = 100},
                                  {.x1 = 0.01, .ck = 5e4, .dk = 50}};
  static const double factors[] = {0.6, 1.4};
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 2; j++) {
      check_masses(&starts[i], factors[j], 0);
      check_masses(&starts[i], factors[j], NOISE);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pulsed),       cmocka_unit_test(test_driven),
      cmocka_unit_test(test_pulsed_noisy), cmocka_unit_test(test_driven_noisy),
      cmocka_unit_test(test_lead),         cmocka_unit_test(test_dual_mass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
