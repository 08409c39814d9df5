// The ledger has short ways for what is usual: a simple bond, and samples that change nothing for alarms and worst values.
// They must give the same bits as the long ways, which are forced here.
#include <float.h>

#include "quality/ledger_bench.h"
#include "quality/quality_books.h"

enum { USUAL, GENERAL, JUDGED, N_WAYS };

// the simple bond as any bond; every sample judged closely
static void force(bench* b, int way) {
  yoke_book* book = &b->ledger->books[0];
  assert_true(way == GENERAL || book->is_simple);
  if (way == GENERAL) {
    book->is_simple = false;
    b->ledger->has_others = true;
    book->own_monitor.h = (double)NAN;  // the step seems to have changed
  } else if (way == JUDGED) {
    for (size_t i = 0; i < YOKE_N_INDICATORS; i++) {
      book->quiet[i] = -DBL_MAX;
    }
  }
}

// a swing of changing size and speed; inputs a sample late; now and then a value that is not finite
static void make_sample(int k, uint64_t* seed, double y[2], double u[2]) {
  const double phase = 0.011 * k * (k % 3000 > 2400 ? 20 : 1);
  const double size = k % 5000 < 4000 ? 3 : 0.001;
  u[0] = y[0];
  u[1] = y[1];
  y[0] = 7 + size * sin(phase) + 0.01 * bench_random(seed);
  y[1] = k % 1700 < 40 ? 0 : size * cos(phase);
  if (bench_random(seed) > 0.997) {
    y[k % 2] = k % 3 == 0 ? HUGE_VAL : (double)NAN;
  }
}

static yoke_ledger_watch watch_of(int variant) {
  yoke_ledger_watch watch = bench_watch;
  if (variant == 1) {
    watch.stop = (yoke_ledger_limits){{0.3, 0.02, 0.1}};
    watch.window = 0.2;
  } else if (variant == 2) {
    watch.warn = (yoke_ledger_limits){{0.005, 1e-4, 1e-4}};
    watch.settle = 0;
  }
  return watch;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// bit by bit, so that -0 is not 0; one NaN is as good as another
static void check_same(double usual, double other, const char* what) {
  if (bits_of(usual) != bits_of(other) && !(isnan(usual) && isnan(other))) {
    fail_msg("%s is %.17g the short way, %.17g the long way", what, usual, other);
  }
}

static void compare_results(const bench* a, const bench* b) {
  const yoke_ledger_result x = bench_result(a, 0), y = bench_result(b, 0);
  check_same(x.residual, y.residual, "residual");
  check_same(x.created, y.created, "created");
  check_same(x.eps_worst, y.eps_worst, "eps_worst");
  check_same(x.t_eps_worst, y.t_eps_worst, "t_eps_worst");
  check_same(x.rho_mean, y.rho_mean, "rho_mean");
  check_same(x.rho_worst, y.rho_worst, "rho_worst");
  check_same(x.t_rho_worst, y.t_rho_worst, "t_rho_worst");
  check_same(x.rho_share, y.rho_share, "rho_share");
  check_same(x.ter, y.ter, "ter");
  check_same(x.rter_worst, y.rter_worst, "rter_worst");
  check_same(x.passed, y.passed, "passed");
  assert_true(x.n_samples == y.n_samples && x.n_bad == y.n_bad && x.n_warnings == y.n_warnings &&
              x.n_stops == y.n_stops && x.is_persistent == y.is_persistent);
  size_t n = 0, m = 0, n_more = 0, m_more = 0;
  const yoke_alarm* p = yoke__ledger_alarms(a->ledger, &n, &n_more);
  const yoke_alarm* q = yoke__ledger_alarms(b->ledger, &m, &m_more);
  assert_true(n == m && n_more == m_more);
  for (size_t i = 0; i < n; i++) {
    assert_true(p[i].indicator == q[i].indicator && p[i].level == q[i].level);
    check_same(p[i].t, q[i].t, "begin of an alarm");
    check_same(p[i].t_end, q[i].t_end, "end of an alarm");
    check_same(p[i].worst, q[i].worst, "worst value of an alarm");
  }
}

static void test_same_bits(void** state) {
  (void)state;
  static bench ways[N_WAYS];
  for (int variant = 0; variant < 4; variant++) {
    for (int way = 0; way < N_WAYS; way++) {
      bench_end(&ways[way]);
      yoke_ledger_bond* bond = bench_add(&ways[way], "bond", 1, 1, 1e-3);
      bond->watch = watch_of(variant);
      bond->energy = variant == 3 ? 1 : 0;
      ways[way].action_scale[0][0] = variant == 3 ? -1000 : 1;
      bench_start(&ways[way]);
    }
    uint64_t seed = 5 + (uint64_t)variant;
    double y[2] = {0}, u[2] = {0};
    for (int k = 1; k <= 20000; k++) {
      make_sample(k, &seed, y, u);
      yoke_alarm_level level[N_WAYS];
      for (int way = 0; way < N_WAYS; way++) {
        memcpy(ways[way].y, y, sizeof y);
        memcpy(ways[way].u, u, sizeof u);
        force(&ways[way], way);
        level[way] = bench_step(&ways[way]);
        assert_int_equal(level[way], level[USUAL]);
        for (size_t i = 0; i < YOKE_LEDGER_N_VALUES; i++) {
          check_same(bench_value(&ways[USUAL], 0, (yoke_ledger_value)i),
                     bench_value(&ways[way], 0, (yoke_ledger_value)i), yoke__ledger_value_names[i]);
        }
      }
    }
    compare_results(&ways[USUAL], &ways[GENERAL]);
    compare_results(&ways[USUAL], &ways[JUDGED]);
    const yoke_ledger_result r = bench_result(&ways[USUAL], 0);
    print_message("variant %d: %zu warnings, %zu stops, %d left out, rho up to %.3g\n", variant,
                  r.n_warnings, r.n_stops, (int)r.n_bad, r.rho_worst);
    assert_true(r.n_bad > 10 && r.n_warnings > 1);
    assert_true(variant != 1 || r.n_stops > 1);
  }
  for (int way = 0; way < N_WAYS; way++) {
    bench_end(&ways[way]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
