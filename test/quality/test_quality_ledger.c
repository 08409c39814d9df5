// The books of bonds with signals that the test makes up: residuals by hand, vectors, signs, grids, bad samples, heat, and
// every rule of the alarms.
#include <float.h>

#include "quality/ledger_bench.h"

static void fill_randomly(double numbers[], size_t n, uint64_t* seed) {
  for (size_t i = 0; i < n; i++) {
    numbers[i] = bench_random(seed);
  }
}

// ---- residuals

static void test_by_hand(void** state) {
  (void)state;
  bench b = {0};
  uint64_t seed = 1;
  const double h = 0.01;
  bench_add(&b, "one", 1, 1, h)->mu = 0.3;
  fill_randomly(b.y, 2, &seed);
  bench_start(&b);
  check_near(bench_value(&b, 0, YOKE_LEDGER_P), b.y[0] * b.y[1], 0);
  double dE = 0, ter = 0, net = 0, throughput = 0, passed = 0;
  for (int k = 0; k < 1000; k++) {
    const double action = b.y[0], rate = b.y[1];
    fill_randomly(b.y, 2, &seed);
    fill_randomly(b.u, 2, &seed);
    bench_step(&b);
    const double dP = action * b.y[1] - b.y[0] * rate;
    const double dP_ter = b.u[0] * b.y[1] - b.u[1] * b.y[0];
    dE += dP * h;
    ter += fabs(dP_ter) * h;
    net += dP_ter * h;
    throughput += fabs(b.u[0] * b.u[1]) * h;
    passed += b.y[0] * b.y[1] * h;
    check_near(bench_value(&b, 0, YOKE_LEDGER_DP), dP, 1e-15);
    check_near(bench_value(&b, 0, YOKE_LEDGER_DE), dE, 1e-13);
    check_near(bench_value(&b, 0, YOKE_LEDGER_TER), ter, 1e-13);
    check_near(bench_value(&b, 0, YOKE_LEDGER_P), b.y[0] * b.y[1], 0);
  }
  const yoke_ledger_result r = bench_result(&b, 0);
  assert_int_equal(r.n_samples, 1000);
  check_near(r.duration, 10, 1e-12);
  check_near(r.residual, dE, 1e-13);
  check_near(r.ter, ter, 1e-12);
  check_near(r.net, net, 1e-13);
  check_near(r.throughput, throughput, 1e-12);
  check_near(r.rter, ter / throughput, 1e-12);
  check_near(r.passed, passed, 1e-13);
  bench_end(&b);
}

// the signed figures of a vector are the sums of those of its components; TER takes the magnitude of the sum
static void test_vector_is_a_sum(void** state) {
  (void)state;
  bench v = {0}, s = {0};
  uint64_t seed = 2;
  bench_add(&v, "vector", 3, 1, 0.01);
  for (int i = 0; i < 3; i++) {
    bench_add(&s, "scalar", 1, 1, 0.01);
  }
  double ter = 0;
  for (int k = 0; k <= 500; k++) {
    double* const numbers[2][2] = {{v.y, s.y}, {v.u, s.u}};
    for (int part = 0; part < 2; part++) {
      fill_randomly(numbers[part][0], 6, &seed);
      for (size_t i = 0; i < 3; i++) {
        numbers[part][1][2 * i] = numbers[part][0][i];
        numbers[part][1][2 * i + 1] = numbers[part][0][3 + i];
      }
    }
    if (k == 0) {
      bench_start(&v);
      bench_start(&s);
      continue;
    }
    bench_step(&v);
    bench_step(&s);
    double power = 0;
    for (size_t i = 0; i < 3; i++) {
      power += s.u[2 * i] * s.y[2 * i + 1] - s.u[2 * i + 1] * s.y[2 * i];
    }
    ter += fabs(power) * 0.01;
    // index 3 is the total of the three
    check_near(bench_value(&v, 0, YOKE_LEDGER_P), bench_value(&s, 3, YOKE_LEDGER_P), 1e-14);
    check_near(bench_value(&v, 0, YOKE_LEDGER_DP), bench_value(&s, 3, YOKE_LEDGER_DP), 1e-14);
    check_near(bench_value(&v, 0, YOKE_LEDGER_DE), bench_value(&s, 3, YOKE_LEDGER_DE), 1e-12);
  }
  const yoke_ledger_result one = bench_result(&v, 0), all = bench_result(&s, 3);
  check_near(one.residual, all.residual, 1e-12);
  check_near(one.created, all.created, 1e-12);
  check_near(one.net, all.net, 1e-12);
  check_near(one.ter, ter, 1e-12);
  assert_true(one.ter <= all.ter);
  bench_end(&v);
  bench_end(&s);
}

// the other sign turns every signed figure and leaves magnitudes alone
static void test_sign(void** state) {
  (void)state;
  bench plus = {0}, minus = {0};
  uint64_t seed = 3;
  bench_add(&plus, "plus", 2, 1, 0.01);
  bench_add(&minus, "minus", 2, 1, 0.01);
  minus.action_scale[0][0] = minus.action_scale[0][1] = -1;
  for (int k = 0; k <= 300; k++) {
    fill_randomly(plus.y, 4, &seed);
    fill_randomly(plus.u, 4, &seed);
    memcpy(minus.y, plus.y, sizeof plus.y);
    memcpy(minus.u, plus.u, sizeof plus.u);
    if (k == 0) {
      bench_start(&plus);
      bench_start(&minus);
      continue;
    }
    bench_step(&plus);
    bench_step(&minus);
    check_near(bench_value(&plus, 0, YOKE_LEDGER_DP), -bench_value(&minus, 0, YOKE_LEDGER_DP), 0);
    check_near(bench_value(&plus, 0, YOKE_LEDGER_RHO), bench_value(&minus, 0, YOKE_LEDGER_RHO), 0);
  }
  const yoke_ledger_result p = bench_result(&plus, 0), m = bench_result(&minus, 0);
  check_near(p.residual, -m.residual, 0);
  check_near(p.created, -m.created, 0);
  check_near(p.passed, -m.passed, 0);
  check_near(p.net, -m.net, 0);
  check_near(p.ter, m.ter, 0);
  check_near(p.throughput, m.throughput, 0);
  check_near(p.eps, m.eps, 1e-15);
  bench_end(&plus);
  bench_end(&minus);
}

// bonds that exchange every 1, 3 and 10 slots in one ledger are what each is alone on its own grid
static void test_different_grids(void** state) {
  (void)state;
  static const int64_t every[] = {1, 3, 10};
  bench all = {0};
  static bench alone[3];
  uint64_t seed = 4;
  for (size_t i = 0; i < 3; i++) {
    bench_add(&all, "together", 1, every[i], 1e-3);
    bench_add(&alone[i], "alone", 1, 1, 1e-3 * (double)every[i]);
  }
  for (int64_t k = 0; k <= 3000; k++) {
    fill_randomly(all.y, 6, &seed);
    if (k > 0) {
      bench_step(&all);
    } else {
      bench_start(&all);
    }
    for (size_t i = 0; i < 3; i++) {
      alone[i].y[0] = all.y[2 * i];
      alone[i].y[1] = all.y[2 * i + 1];
      if (k == 0) {
        bench_start(&alone[i]);
      } else if (k % every[i] == 0) {
        bench_step(&alone[i]);
        check_near(bench_value(&all, i, YOKE_LEDGER_DP), bench_value(&alone[i], 0, YOKE_LEDGER_DP),
                   0);
        check_near(bench_value(&all, i, YOKE_LEDGER_DE), bench_value(&alone[i], 0, YOKE_LEDGER_DE),
                   1e-12);
        check_near(bench_value(&all, i, YOKE_LEDGER_RHO),
                   bench_value(&alone[i], 0, YOKE_LEDGER_RHO), 1e-12);
      }
    }
  }
  for (size_t i = 0; i < 3; i++) {
    const yoke_ledger_result a = bench_result(&all, i), b = bench_result(&alone[i], 0);
    assert_int_equal(a.n_samples, 3000 / every[i]);
    assert_int_equal(a.n_samples, b.n_samples);
    check_near(a.duration, 3, 1e-9);
    check_near(a.created, b.created, 1e-12);
    check_near(a.rho_mean, b.rho_mean, 1e-9);
    bench_end(&alone[i]);
  }
  bench_end(&all);
}

// the total is there from the first row on
static void test_total_at_start(void** state) {
  (void)state;
  bench b = {0};
  bench_add(&b, "a", 1, 1, 1e-3);
  bench_add(&b, "b", 1, 1, 1e-3);
  memcpy(b.y, (double[]){2, 3, 5, 7}, 4 * sizeof(double));
  bench_start(&b);
  check_near(bench_value(&b, 0, YOKE_LEDGER_P), 6, 0);
  check_near(bench_value(&b, 1, YOKE_LEDGER_P), 35, 0);
  check_near(bench_value(&b, 2, YOKE_LEDGER_P), 41, 0);
  bench_end(&b);
}

// ---- samples that are no numbers

static void test_bad_samples(void** state) {
  (void)state;
  static const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e200};
  for (size_t n = 1; n <= 2; n++) {  // one component has a path of its own
    for (size_t i = 0; i < COUNT(bad); i++) {
      bench good = {0}, b = {0};
      bench_add(&good, "good", n, 1, 0.01);
      bench_add(&b, "bad", n, 1, 0.01);
      for (int k = 0; k <= 300; k++) {
        const double x = sin(0.1 * k), v = cos(0.1 * k);
        for (size_t c = 0; c < n; c++) {
          b.y[c] = b.u[c] = x;
          b.y[n + c] = b.u[n + c] = v;
        }
        const bool is_bad = k == 100;
        if (is_bad) {
          b.y[0] = b.y[n] = bad[i];
          b.u[0] = bad[i];
          b.u[n] = bad[i];
        }
        if (k == 0) {
          bench_start(&b);
        } else {
          bench_step(&b);
        }
        // before the first bad sample and from the next on both are the same
        if (!is_bad) {
          memcpy(good.y, b.y, sizeof b.y);
          memcpy(good.u, b.u, sizeof b.u);
          if (k == 0) {
            bench_start(&good);
          } else if (k < 100) {
            bench_step(&good);
            check_near(bench_value(&b, 0, YOKE_LEDGER_DE), bench_value(&good, 0, YOKE_LEDGER_DE),
                       0);
          }
        }
      }
      const yoke_ledger_result r = bench_result(&b, 0);
      const double figures[] = {r.residual, r.created,    r.energy, r.eps, r.eps_worst,
                                r.rho_mean, r.rho_worst,  r.ter,    r.net, r.throughput,
                                r.rter,     r.rter_worst, r.passed};
      for (size_t f = 0; f < COUNT(figures); f++) {
        if (!isfinite(figures[f])) {
          fail_msg("sample %g, %zu components: figure %zu is %g", bad[i], n, f, figures[f]);
        }
      }
      assert_true(r.n_bad >= 1);
      // the integral of sin(10 t) cos(10 t) between its turning points is 0.05 J; two samples of at most 0.005 J
      check_near(r.energy, 0.05 * (double)n, 0.01 * (double)n);
      bench_end(&good);
      bench_end(&b);
    }
  }
}

// ---- heat: W with K

static void test_heat(void** state) {
  (void)state;
  bench b = {0};
  bench_add(&b, "power", 1, 1, 0.1);
  yoke_ledger_bond* heat = bench_add(&b, "heat", 1, 1, 0.1);
  heat->kind = YOKE_BOND_HEAT;
  heat->mu = (double)NAN;
  heat->mu_origin = YOKE_MU_NO_POWER;
  heat->watch.warn = (yoke_ledger_limits){{0, 0, 0}};
  heat->watch.stop = (yoke_ledger_limits){{0, 0, 0}};
  bench_start(&b);
  double balance = 0, sent = 0;
  for (int k = 0; k < 100; k++) {
    // a slow rise of the heat flow that arrives one step late
    b.u[2] = b.y[2];
    b.y[2] = 50.0 + k;
    b.y[3] = b.u[3] = 300;
    b.u[2] = k == 0 ? 0 : b.u[2];
    assert_int_equal(bench_step(&b), YOKE_ALARM_NONE);
    balance += (b.u[2] - b.y[2]) * 0.1;
    sent += b.y[2] * 0.1;
    check_near(bench_value(&b, 1, YOKE_LEDGER_DE), balance, 1e-10);
  }
  const yoke_ledger_result r = bench_result(&b, 1);
  assert_int_equal(r.verdict, YOKE_VERDICT_NONE);
  check_near(r.residual, balance, 1e-10);  // 14.9 J short: the last flow, and the start
  check_near(balance, -14.9, 1e-9);
  check_near(r.passed, sent, 1e-9);
  check_near(r.throughput, sent, 1e-9);
  assert_true(isnan(r.created) && isnan(r.eps));
  check_contains(r.reason, "heat balance: 14.9 J less arrived than was sent");
  check_contains(r.reason, "no verdict");
  assert_int_equal(r.n_warnings + r.n_stops, 0);

  // and joules of heat are not added to those of power
  const yoke_ledger_result total = bench_result(&b, 2);
  check_near(total.residual, 0, 0);
  check_near(bench_value(&b, 2, YOKE_LEDGER_DE), 0, 0);
  assert_int_equal(total.verdict, YOKE_VERDICT_NONE);
  bench_end(&b);
}

// ---- alarms

// Action and rate change their sign with every sample, so that the slow mean of the action stays at 0; the action has the
// size 1 and the rate the size a: dP = a_k - a_k+1, and with a near 1 rho is |a_k - a_k+1| (within 7 %: peaks decay).
typedef struct wave {
  bench b;
  double size, sign;
} wave;

static void wave_open(wave* w, const yoke_ledger_watch* watch, double slot) {
  *w = (wave){.size = 1, .sign = 1};
  yoke_ledger_bond* bond = bench_add(&w->b, "wave", 1, 1, slot);
  bond->watch = *watch;
  bond->mu = 0;
  bench_start(&w->b);
}

// one sample with this rho; both ends agree
static yoke_alarm_level wave_step(wave* w, double rho) {
  w->size += w->size + rho <= 1 + 1e-9 ? rho : -rho;
  w->sign = -w->sign;
  w->b.y[0] = w->b.u[0] = w->sign;
  w->b.y[1] = w->b.u[1] = w->sign * w->size;
  return bench_step(&w->b);
}

// until t; the worst level on the way
static yoke_alarm_level wave_until(wave* w, double t, double rho) {
  yoke_alarm_level worst = YOKE_ALARM_NONE;
  while (w->b.t < t - 0.5 * w->b.slot) {
    const yoke_alarm_level level = wave_step(w, rho);
    worst = level > worst ? level : worst;
  }
  return worst;
}

static const yoke_alarm* alarm_of(const wave* w, size_t i, size_t n_wanted) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(w->b.ledger, &n, &n_more);
  if (n != n_wanted || i >= n) {
    fail_msg("%zu alarms, expected %zu", n, n_wanted);
  }
  return &alarms[i];
}

// begins with the first sample above the limit, survives short dips and dips that are not deep enough, ends a window after
// the last sample above 0.8 of the limit
static void test_warning(void** state) {
  (void)state;
  wave w;
  wave_open(&w, &bench_watch, 0.01);
  assert_int_equal(wave_until(&w, 2, 0.1), YOKE_ALARM_NONE);
  assert_int_equal(wave_until(&w, 2.2, 0.3), YOKE_ALARM_WARN);
  const yoke_alarm* a = alarm_of(&w, 0, 1);
  check_near(a->t, 2.01, 1e-12);
  check_between(a->value, 0.29, 0.32);
  check_near(a->limit, 0.25, 0);
  assert_int_equal(a->level, YOKE_ALARM_WARN);
  assert_int_equal(a->indicator, YOKE_INDICATOR_RHO);
  assert_int_equal(a->bond, 0);
  assert_true(isnan(a->t_end));

  // a dip of 0.9 s, then again: the same alarm, with a new worst value
  assert_int_equal(wave_until(&w, 3.1, 0.1), YOKE_ALARM_WARN);
  wave_until(&w, 3.2, 0.4);
  check_between(alarm_of(&w, 0, 1)->worst, 0.39, 0.43);
  // two seconds at 0.22, which is below the limit but not below its 0.8
  wave_until(&w, 5.2, 0.22);
  assert_true(isnan(alarm_of(&w, 0, 1)->t_end));
  // deep enough, and long enough
  wave_until(&w, 6.19, 0.15);
  assert_true(isnan(alarm_of(&w, 0, 1)->t_end));
  wave_until(&w, 6.25, 0.15);
  check_near(alarm_of(&w, 0, 1)->t_end, 5.2, 1e-9);
  assert_int_equal(wave_step(&w, 0.15), YOKE_ALARM_NONE);

  // the next one is another
  wave_until(&w, 6.5, 0.3);
  check_near(alarm_of(&w, 1, 2)->t, w.b.t - 0.23, 0.011);
  assert_int_equal(bench_result(&w.b, 0).n_warnings, 2);
  assert_int_equal(bench_result(&w.b, 0).n_stops, 0);
  bench_end(&w.b);
}

static void test_hysteresis_and_window_are_settings(void** state) {
  (void)state;
  yoke_ledger_watch watch = bench_watch;
  watch.hysteresis = 1;
  watch.window = 0.2;
  wave w;
  wave_open(&w, &watch, 0.01);
  wave_until(&w, 1, 0.1);
  wave_until(&w, 1.1, 0.3);
  wave_until(&w, 1.32, 0.22);  // below the limit is enough, and a fifth of a second
  check_near(alarm_of(&w, 0, 1)->t_end, 1.1, 1e-9);
  bench_end(&w.b);
}

static void test_settling(void** state) {
  (void)state;
  yoke_ledger_watch watch = bench_watch;
  watch.settle = 2;
  wave w;
  wave_open(&w, &watch, 0.01);
  assert_int_equal(wave_until(&w, 1.99, 0.9), YOKE_ALARM_NONE);
  wave_until(&w, 4, 0.1);
  size_t n = 1, n_more = 1;
  yoke__ledger_alarms(w.b.ledger, &n, &n_more);
  assert_int_equal(n + n_more, 0);
  // what is not judged is not counted against the run either
  const yoke_ledger_result r = bench_result(&w.b, 0);
  check_between(r.rho_worst, 0.1, 0.15);  // peaks of the steep part have to decay first
  check_between(r.rho_mean, 0.09, 0.11);
  check_near(r.rho_share, 0, 0);
  assert_false(r.is_persistent);
  bench_end(&w.b);

  // the first sample that counts is the one at the end of it
  wave_open(&w, &watch, 0.01);
  assert_int_equal(wave_until(&w, 1.99, 0.3), YOKE_ALARM_NONE);
  assert_int_equal(wave_step(&w, 0.3), YOKE_ALARM_WARN);
  check_near(alarm_of(&w, 0, 1)->t, 2, 1e-12);
  bench_end(&w.b);
}

// nor while a billionth of the busiest window passes, nor while samples change by no more than rounding
static void test_rest_is_not_judged(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    bench b = {0};
    yoke_ledger_bond* bond = bench_add(&b, "small", 1, 1, 0.01);
    bond->watch.warn.value[YOKE_INDICATOR_EPS] = HUGE_VAL;
    bond->watch.warn.value[YOKE_INDICATOR_RTER] = HUGE_VAL;
    b.y[1] = 1;
    bench_start(&b);
    for (int k = 1; k <= 2000; k++) {
      // smooth, then fast and small: 20 s later the peaks are those of the small motion
      const bool is_small = k > 200;
      const double size = !is_small ? 1 : i == 0 ? 5e-6 : 1e-4, w = is_small ? 0.9 : 0.05;
      memcpy(b.u, b.y, sizeof b.y);
      b.y[0] = size * sin(w * k);
      b.y[1] = size * cos(w * k);
      bench_step(&b);
    }
    assert_true((bench_result(&b, 0).n_warnings > 0) == (i == 1));
    bench_end(&b);
  }
  bench b = {0};
  bench_add(&b, "load", 1, 1, 0.01);
  b.y[0] = 1e3;
  b.y[1] = 1;
  bench_start(&b);
  for (int k = 1; k <= 400; k++) {
    memcpy(b.u, b.y, sizeof b.y);
    b.y[0] = 1e3 * (1 + (k % 2 == 0 ? 8 : -8) * DBL_EPSILON);
    b.y[1] = 1 + (k % 3 == 0 ? 8 : -8) * DBL_EPSILON;
    bench_step(&b);
  }
  const yoke_ledger_result r = bench_result(&b, 0);
  assert_true(r.throughput > 0);
  check_near(r.rho_mean, 0, 0);
  check_near(r.rho_worst, 0, 0);
  assert_int_equal(r.n_warnings, 0);
  bench_end(&b);
}

// stop.rho: a step is no instability; more than `persist` samples within the window are
static void test_stop_and_persistence(void** state) {
  (void)state;
  yoke_ledger_watch watch = bench_watch;
  watch.stop.value[YOKE_INDICATOR_RHO] = 0.5;
  wave w;
  wave_open(&w, &watch, 0.01);
  wave_until(&w, 1, 0.1);
  for (int i = 0; i < 10; i++) {
    assert_int_equal(wave_step(&w, 0.6), YOKE_ALARM_WARN);
  }
  assert_false(bench_result(&w.b, 0).is_persistent);
  assert_int_equal(wave_step(&w, 0.6), YOKE_ALARM_STOP);
  assert_true(bench_result(&w.b, 0).is_persistent);
  const yoke_alarm* a = alarm_of(&w, 1, 2);
  assert_int_equal(a->level, YOKE_ALARM_STOP);
  check_near(a->t, 1.11, 1e-9);
  check_near(a->limit, 0.5, 0);
  assert_int_equal(bench_result(&w.b, 0).n_stops, 1);
  bench_end(&w.b);

  // the same number spread over more than a window
  wave_open(&w, &watch, 0.01);
  wave_until(&w, 1, 0.1);
  for (int i = 0; i < 40; i++) {
    assert_int_not_equal(wave_step(&w, 0.6), YOKE_ALARM_STOP);
    assert_int_not_equal(wave_until(&w, w.b.t + 0.11, 0.1), YOKE_ALARM_STOP);
  }
  assert_false(bench_result(&w.b, 0).is_persistent);
  bench_end(&w.b);

  // persist: 0 stops at once
  watch.persist = 0;
  wave_open(&w, &watch, 0.01);
  wave_until(&w, 1, 0.1);
  assert_int_equal(wave_step(&w, 0.6), YOKE_ALARM_STOP);
  bench_end(&w.b);
}

// the samples that count for stop.rho are those above stop.rho, whatever it is
static void test_stop_limit_counts_its_own_samples(void** state) {
  (void)state;
  static const double limits[] = {0.3, 0.7};
  for (size_t i = 0; i < COUNT(limits); i++) {
    yoke_ledger_watch watch = bench_watch;
    watch.stop.value[YOKE_INDICATOR_RHO] = limits[i];
    wave w;
    wave_open(&w, &watch, 0.01);
    wave_until(&w, 1, 0.1);
    // just below for long: no stop
    assert_int_not_equal(wave_until(&w, 2, limits[i] - 0.05), YOKE_ALARM_STOP);
    for (int k = 0; k < 10; k++) {
      assert_int_not_equal(wave_step(&w, limits[i] + 0.05), YOKE_ALARM_STOP);
    }
    assert_int_equal(wave_step(&w, limits[i] + 0.05), YOKE_ALARM_STOP);
    bench_end(&w.b);
  }
}

// eps: energy created within the window relative to what the user gave as the bond's energy. With the partner held, and its
// action rebuilt as 0, dP = -action rate.
static void test_energy_limits(void** state) {
  (void)state;
  bench b = {0};
  yoke_ledger_bond* bond = bench_add(&b, "drift", 1, 1, 0.01);
  bond->residual = YOKE_RESIDUAL_HELD;
  bond->energy = 10;
  bond->mu = 0.5;
  bond->watch.warn.value[YOKE_INDICATOR_RHO] = HUGE_VAL;
  bond->watch.warn.value[YOKE_INDICATOR_EPS] = 0.05;
  bond->watch.stop.value[YOKE_INDICATOR_EPS] = 0.1;
  bond->watch.settle = 0;
  b.y[1] = 1;
  bench_start(&b);
  // 0.4 W: 0.2 J in a window, eps 0.02. Then 2.4 W: 0.012 J per sample
  yoke_alarm_level level = YOKE_ALARM_NONE;
  int k = 0;
  for (; k < 1000 && level != YOKE_ALARM_STOP; k++) {
    b.y[0] = b.u[0] = k < 300 ? -0.4 : -2.4;
    b.y[1] = b.u[1] = 1;
    level = bench_step(&b);
    if (k == 299) {
      const yoke_ledger_result r = bench_result(&b, 0);
      check_between(r.eps_worst, 0.02 * (1 - 1e-9), 0.02 * 65 / 64 * (1 + 1e-9));
      check_near(r.created, 0.6, 1e-9);
      check_near(r.eps, 0.06, 1e-9);
      assert_int_equal(r.n_warnings, 0);
    }
  }
  // each sample replaces 0.002 J by 0.012 J: 0.5 J after 30 samples, 1 J after 80, or up to 1.6 fewer
  print_message("stopped after %d samples\n", k - 300);
  assert_int_equal(level, YOKE_ALARM_STOP);
  check_between(k - 300, 78, 81);
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(b.ledger, &n, &n_more);
  assert_int_equal(n, 2);
  assert_int_equal(alarms[0].indicator, YOKE_INDICATOR_EPS);
  assert_int_equal(alarms[0].level, YOKE_ALARM_WARN);
  check_between(alarms[0].t, 3.28, 3.315);
  assert_int_equal(alarms[1].level, YOKE_ALARM_STOP);
  check_near(alarms[1].limit, 0.1, 0);
  bench_end(&b);
}

static void test_ter_limits(void** state) {
  (void)state;
  bench b = {0};
  yoke_ledger_bond* bond = bench_add(&b, "late", 1, 1, 0.01);
  bond->watch.stop.value[YOKE_INDICATOR_RTER] = 0.2;
  bond->mu = (double)NAN;
  b.y[0] = b.y[1] = 1;
  bench_start(&b);
  // 1 W passes; the action arrives 6 % too large from 1 s on: rTER of the window rises to 0.06, the limit is 0.05
  yoke_alarm_level level = YOKE_ALARM_NONE;
  for (int k = 1; k <= 300; k++) {
    b.u[0] = k > 100 ? 1.06 : 1;
    b.u[1] = 1;
    level = bench_step(&b);
  }
  assert_int_equal(level, YOKE_ALARM_WARN);
  size_t n = 0, n_more = 0;
  const yoke_alarm* a = yoke__ledger_alarms(b.ledger, &n, &n_more);
  assert_int_equal(n, 1);
  assert_int_equal(a->indicator, YOKE_INDICATOR_RTER);
  // 0.06 s > 0.05 (W + 0.06 s), where the window W covers 1 to 65/64 s
  check_between(a->t, 1 + 0.05 / 0.057, 1 + 0.05 / 0.057 * 65 / 64 + 0.0101);
  check_near(a->worst, 0.06 / 1.06, 1e-3);
  char text[480];
  yoke__ledger_alarm_text(b.ledger, a, text, sizeof text);
  check_contains(text, "bond 'late' at t = 1.");
  check_contains(text, "rter = 0.05");
  check_contains(text, ", limit 0.05 (total energy residual within the window");

  // 30 %: the run is to end
  for (int k = 0; k < 100 && level != YOKE_ALARM_STOP; k++) {
    b.u[0] = 1.3;
    level = bench_step(&b);
  }
  assert_int_equal(level, YOKE_ALARM_STOP);
  bench_end(&b);
}

// alarms beyond the list are counted, one by one as those in it
static void test_more_alarms_than_kept(void** state) {
  (void)state;
  enum { N = 300 };
  yoke_ledger_watch watch = bench_watch;
  watch.window = 0.05;
  watch.stop.value[YOKE_INDICATOR_RHO] = 0.5;
  watch.persist = 0;
  wave w;
  wave_open(&w, &watch, 0.01);
  wave_until(&w, 1, 0.1);
  for (int i = 0; i < N; i++) {
    wave_until(&w, w.b.t + 0.1, 0.3);
    wave_until(&w, w.b.t + 0.1, 0.1);
  }
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(w.b.ledger, &n, &n_more);
  assert_int_equal(n, YOKE_LEDGER_MAX_ALARMS);
  assert_int_equal(n_more, N - YOKE_LEDGER_MAX_ALARMS);
  assert_int_equal(bench_result(&w.b, 0).n_warnings, N);
  for (size_t i = 0; i < n; i++) {
    check_near(alarms[i].t, 1.01 + 0.2 * (double)i, 1e-9);
    check_near(alarms[i].t_end, 1.10 + 0.2 * (double)i, 1e-9);
  }
  // the one that ends the run is listed all the same
  assert_int_equal(wave_step(&w, 0.6), YOKE_ALARM_STOP);
  alarms = yoke__ledger_alarms(w.b.ledger, &n, &n_more);
  assert_int_equal(alarms[n - 1].level, YOKE_ALARM_STOP);
  assert_int_equal(n_more, N - YOKE_LEDGER_MAX_ALARMS);
  assert_int_equal(bench_result(&w.b, 0).n_stops, 1);
  bench_end(&w.b);
}

// the exit status changes only where the user gave the limit that is violated: here it is that of rho
static void test_violation_needs_a_limit(void** state) {
  (void)state;
  for (int given = 0; given < YOKE_N_INDICATORS; given++) {
    yoke_ledger_watch watch = bench_watch;
    watch.is_given[given] = true;
    wave w;
    wave_open(&w, &watch, 0.01);
    wave_until(&w, 1, 0.1);
    assert_false(yoke__ledger_is_violated(w.b.ledger));
    wave_until(&w, 2, 0.3);
    assert_true(yoke__ledger_is_violated(w.b.ledger) == (given == YOKE_INDICATOR_RHO));
    size_t n = 0, n_more = 0;
    const yoke_alarm* alarms = yoke__ledger_alarms(w.b.ledger, &n, &n_more);
    assert_true(n > 0);
    assert_true(alarms[0].is_given == (given == YOKE_INDICATOR_RHO));
    bench_end(&w.b);
  }
}

// two bonds, two indicators: each alarm says whose it is; the list is in the order of time
static void test_alarms_of_several_bonds(void** state) {
  (void)state;
  bench b = {0};
  bench_add(&b, "first", 1, 1, 0.01)->mu = 0;
  bench_add(&b, "second", 1, 1, 0.01)->mu = 0;
  b.y[1] = b.y[3] = 1;
  bench_start(&b);
  double phase[2] = {0};
  yoke_alarm_level level = YOKE_ALARM_NONE;
  for (int k = 1; k <= 400; k++) {
    for (size_t i = 0; i < 2; i++) {
      phase[i] += (i == 1 && k > 100) || (i == 0 && k > 200) ? 0.3 : 0.05;
      b.y[2 * i] = b.u[2 * i] = sin(phase[i]);
      b.y[2 * i + 1] = b.u[2 * i + 1] = cos(phase[i]);
    }
    if (k > 300) {
      b.u[0] *= 1.5;  // and the action of the first arrives wrong
    }
    level = bench_step(&b);
  }
  assert_int_equal(level, YOKE_ALARM_WARN);
  size_t n = 0, n_more = 0;
  const yoke_alarm* a = yoke__ledger_alarms(b.ledger, &n, &n_more);
  assert_int_equal(n, 3);
  assert_int_equal(a[0].bond, 1);
  assert_int_equal(a[1].bond, 0);
  assert_int_equal(a[2].bond, 0);
  assert_int_equal(a[0].indicator, YOKE_INDICATOR_RHO);
  assert_int_equal(a[1].indicator, YOKE_INDICATOR_RHO);
  assert_int_equal(a[2].indicator, YOKE_INDICATOR_RTER);
  check_near(a[0].t, 1.01, 1e-9);
  check_near(a[1].t, 2.01, 1e-9);
  check_between(a[2].t, 3.01, 3.3);
  assert_int_equal(bench_result(&b, 2).n_warnings, 3);  // the total
  bench_end(&b);
}

// a corrected bond is judged by what is left and by a tenth of what the coupling would have created
static void test_remainder(void** state) {
  (void)state;
  bench b = {0};
  yoke_ledger_bond* bond = bench_add(&b, "corrected", 1, 1, 0.01);
  bond->is_corrected = true;
  bond->energy = 10;
  b.y[1] = 1;
  bench_start(&b);
  double left = 0;
  for (int k = 1; k <= 500; k++) {
    b.y[0] = sin(0.1 * k);
    b.y[1] = cos(0.1 * k);
    left = 0.02 * sin(0.01 * k);
    *yoke__ledger_remainder(b.ledger, 0) = left;
    bench_step(&b);
  }
  const yoke_ledger_result r = bench_result(&b, 0);
  check_near(r.created, left, 1e-12);
  check_near(r.eps, (fabs(left) + 0.1 * fabs(bond->mu * r.residual)) / 10, 1e-12);
  check_near(r.residual, -500 * 0.01 * sin(0.1), 1e-9);  // the residual itself is not touched
  bench_end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_vector_is_a_sum),
      cmocka_unit_test(test_sign),
      cmocka_unit_test(test_different_grids),
      cmocka_unit_test(test_total_at_start),
      cmocka_unit_test(test_bad_samples),
      cmocka_unit_test(test_heat),
      cmocka_unit_test(test_warning),
      cmocka_unit_test(test_hysteresis_and_window_are_settings),
      cmocka_unit_test(test_settling),
      cmocka_unit_test(test_rest_is_not_judged),
      cmocka_unit_test(test_stop_and_persistence),
      cmocka_unit_test(test_stop_limit_counts_its_own_samples),
      cmocka_unit_test(test_energy_limits),
      cmocka_unit_test(test_ter_limits),
      cmocka_unit_test(test_more_alarms_than_kept),
      cmocka_unit_test(test_violation_needs_a_limit),
      cmocka_unit_test(test_alarms_of_several_bonds),
      cmocka_unit_test(test_remainder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
