// The error estimate of runs without companions: random loops (TR-21, all of them: test_trust_online_slow.c), what it leaves
// alone, when there is none and why, that it does not depend on time.
#include "base/base_os.h"
#include "trust/online_checks.h"

enum { FIRST = 8001, COUNT = 6 };

// TR-21: 24 random loops, held, linear, fresh, gauss-seidel: coverage of 2 rms(e) at least 95 %
static void test_random_loops_TR_21(void** state) {
  (void)state;
  online_tally t = {0};
  online_study(&t, FIRST, COUNT, 2);
  online_print(&t);
  check_between((double)t.n_covered / t.n_estimates, 0.95, 1);
  check_between((double)t.n_estimates / t.n_signals, 0.6, 1);
  assert_int_equal(t.n_trusted_false, 0);
  online_free(&t);
}

// ---------------------------------------------------------------------------------------------------------
// one loop, as a file

// %s: scheme and exchange; step of the first unit; behind the connections
static const char loop_file[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %s, step: 0.1}\n%sunits:\n"
    "  a: {model: state_space, step: %s, with: {A: [[-1]], B: [[1]], C: [[1]], x0: [1], inputs: "
    "[u], "
    "outputs: [y]}}\n"
    "  b: {model: state_space, step: %s, with: {A: [[-2]], B: [[1]], C: [[1]], inputs: [u], "
    "outputs: "
    "[y]}}\n"
    "connections:\n  - {from: b.y, to: a.u, gain: -4}\n  - {from: a.y, to: b.u}\n%s";

typedef struct one_run {
  yoke_system* system;
  yoke_simulation* sim;
  yoke_run_trust trust;
} one_run;

static void parse(one_run* r, const char* text) {
  const yoke_sink sink = {.receive = study_receive};
  const yoke_load_settings settings = {.sink = &sink};
  check_ok(yoke_system_parse(text, strlen(text), "loop.yaml", &settings, &r->system));
  check_ok(yoke_simulation_create(r->system, NULL, &r->sim));
}

static void begin_run(one_run* r, const char* stop, const char* top, const char* step_a,
                      const char* step_b, const char* rest) {
  char text[2048];
  snprintf(text, sizeof text, loop_file, stop, top, step_a, step_b, rest);
  parse(r, text);
}

static void judge_run(one_run* r) {
  check_ok(yoke_simulation_run(r->sim, NULL, NULL));
  check_ok(yoke_simulation_judge(r->sim, NULL));
  check_ok(yoke_simulation_get_trust(r->sim, &r->trust));
}

static void end_run(one_run* r) {
  yoke_simulation_destroy(&r->sim);
  yoke_system_destroy(&r->system);
}

static yoke_signal_trust signal_of(const one_run* r, const char* name) {
  yoke_signal_trust s = {0};
  for (size_t i = 0; i < r->trust.n_signals; i++) {
    check_ok(yoke_simulation_get_signal(r->sim, i, &s));
    if (strcmp(s.name, name) == 0) {
      return s;
    }
  }
  fail_msg("%s is not there", name);
  return s;
}

// The golden loop of TR-20 through the whole run: rms over the active part instead of the whole, so not to 1e-8.
static void test_golden_loop(void** state) {
  (void)state;
  one_run r = {0};
  begin_run(&r, "4", "", "0.025", "0.025", "");
  judge_run(&r);
  const yoke_signal_trust a = signal_of(&r, "a.y"), b = signal_of(&r, "b.y");
  assert_true(a.is_estimated && b.is_estimated);
  check_between(a.band / (2 * 0.0265523228), 1.0, 1.1);
  check_between(b.band / (2 * 0.0129328396), 1.0, 1.2);
  check_relative(a.low, a.band / 4, 1e-12);
  assert_int_equal(a.verdict, YOKE_DOUBTFUL);
  check_contains(r.trust.reason, "estimated from the run itself");
  size_t n = 0;
  double bands[41], times[41];
  check_ok(yoke_simulation_get_band(r.sim, 0, times, bands, 41, &n));
  assert_int_equal(n, 41);
  check_relative(times[40], 4, 1e-12);
  double most = 0;
  for (size_t k = 0; k < n; k++) {
    most = fmax(most, bands[k]);
  }
  check_relative(most, a.band_max, 1e-12);
  end_run(&r);
}

// Several calls put together, units with different steps: the same error.
static void test_other_grids(void** state) {
  (void)state;
  static const char* const steps[][2] = {
      {"0.0125", "0.025"}, {"0.025", "0.005"}, {"0.001", "0.001"}, {"0.0005", "0.02"}};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    one_run r = {0};
    begin_run(&r, "4", "", steps[i][0], steps[i][1], "");
    judge_run(&r);
    const yoke_signal_trust a = signal_of(&r, "a.y"), b = signal_of(&r, "b.y");
    check_between(a.band / (2 * 0.0265523228), 1.0, 1.1);
    check_between(b.band / (2 * 0.0129328396), 1.0, 1.2);
    end_run(&r);
  }
}

// %s: macro step, scheme, exchange of both connections
static const char long_file[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 4, step: %s}\nscheme: %s\nunits:\n"
    "  a: {model: state_space, step: %s, with: {A: [[-1]], B: [[1]], C: [[1]], x0: [1], inputs: "
    "[u], outputs: [y]}}\n"
    "  b: {model: state_space, step: %s, with: {A: [[-2]], B: [[1]], C: [[1]], inputs: [u], "
    "outputs: [y]}}\n"
    "connections:\n  - {from: b.y, to: a.u, gain: -4, exchange: %s}\n"
    "  - {from: a.y, to: b.u, exchange: %s}\n";

static void begin_long(one_run* r, const char* step, const char* scheme, const char* exchange) {
  char text[2048];
  snprintf(text, sizeof text, long_file, step, scheme, step, step, exchange, exchange);
  parse(r, text);
}

// Exchanges that are several macro steps apart: the samples are counted per exchange, and the error is that against
// the same loop with exchanges 40 times as often.
static void test_long_exchanges(void** state) {
  (void)state;
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (size_t k = 0; k < 2; k++) {
    one_run r = {0}, same = {0}, fine = {0};
    double sum[2] = {0}, y = 0, y_fine = 0;
    begin_long(&r, "0.025", schemes[k], "0.1");
    begin_long(&same, "0.025", schemes[k], "0.1");
    begin_long(&fine, "0.0025", schemes[k], "0.0025");
    for (int i = 0; i < 160; i++) {
      check_ok(yoke_simulation_step(same.sim));
      for (int c = 0; c < 10; c++) {
        check_ok(yoke_simulation_step(fine.sim));
      }
      for (size_t s = 0; s < 2; s++) {
        static const char* const names[] = {"a.y", "b.y"};
        yoke_handle at = {0}, at_fine = {0};
        check_ok(yoke_simulation_find(same.sim, names[s], &at));
        check_ok(yoke_simulation_find(fine.sim, names[s], &at_fine));
        check_ok(yoke_simulation_read(same.sim, at, &y));
        check_ok(yoke_simulation_read(fine.sim, at_fine, &y_fine));
        sum[s] += (y - y_fine) * (y - y_fine);
      }
    }
    judge_run(&r);
    const yoke_signal_trust a = signal_of(&r, "a.y"), b = signal_of(&r, "b.y");
    assert_true(a.is_estimated && b.is_estimated);
    check_between(a.band / (2 * sqrt(sum[0] / 160)), 0.9, 1.3);
    check_between(b.band / (2 * sqrt(sum[1] / 160)), 0.9, 1.3);
    end_run(&r);
    end_run(&same);
    end_run(&fine);
  }
}

// %s: laws between b and a that are the connection with gain -4
static const char law_file[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 4, step: 0.1}\nunits:\n"
    "  a: {model: state_space, step: 0.025, with: {A: [[-1]], B: [[1]], C: [[1]], x0: [1], inputs: "
    "[u], outputs: [y]}}\n"
    "  b: {model: state_space, step: 0.025, with: {A: [[-2]], B: [[1]], C: [[1]], inputs: [u], "
    "outputs: [y]}}\n"
    "%s";

// Linear laws are part of the connection, and their outputs have the error of what they are made of.
static void test_laws(void** state) {
  (void)state;
  static const char laws[] =
      "laws: {g: {law: gain, with: {k: -4}}, s: {law: sum, with: {signs: [2, -1]}, start: {u2: "
      "0}}}\nconnections: [b.y -> g.u, a.y -> b.u, {from: g.y, to: s.u1}, {from: s.y, to: a.u, "
      "gain: 0.5}]\n";
  char text[2048];
  one_run r = {0}, direct = {0};
  snprintf(text, sizeof text, law_file, laws);
  parse(&r, text);
  begin_run(&direct, "4", "", "0.025", "0.025", "");
  judge_run(&r);
  judge_run(&direct);
  const yoke_signal_trust b = signal_of(&r, "b.y"), g = signal_of(&r, "g.y"),
                          s = signal_of(&r, "s.y");
  assert_true(b.is_estimated && g.is_estimated && s.is_estimated);
  check_relative(signal_of(&r, "a.y").band, signal_of(&direct, "a.y").band, 1e-9);
  check_relative(b.band, signal_of(&direct, "b.y").band, 1e-9);
  check_relative(g.band, 4 * b.band, 1e-9);
  check_relative(s.band, 8 * b.band, 1e-9);
  end_run(&r);
  end_run(&direct);
}

// TR-21: units called once per exchange, or otherwise out of reach, have no estimate, and the reason names the unit.
static void test_no_estimate(void** state) {
  (void)state;
  static const struct {
    const char *stop, *top, *step, *rest, *why;
  } cases[] = {
      {"4", "", "0.1", "",
       "'b' is called once per exchange, 4 calls are needed: give its connections an `exchange:` "
       "of that many of its steps (a larger `calls` alone makes it exchange more often)"},
      {"4", "", "0.05", "",
       "'b' is called twice per exchange, 4 calls are needed: give its connections an `exchange:` "
       "of that many of its steps (a larger `calls` alone makes it exchange more often)"},
      {"1.5", "", "0.025", "", "there are fewer than 16 exchanges"},
      {"4", "scheme: iterative-jacobi\n", "0.025", "", "the scheme is iterative"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    one_run r = {0};
    begin_run(&r, cases[i].stop, cases[i].top, "0.025", cases[i].step, cases[i].rest);
    judge_run(&r);
    const yoke_signal_trust a = signal_of(&r, "a.y");
    assert_int_equal(r.trust.verdict, YOKE_VERDICT_NONE);
    assert_false(a.is_estimated);
    assert_true(isnan(a.band));
    check_contains(a.reason,
                   "no error estimate: run with --trust both; none from the run itself: ");
    check_contains(a.reason, cases[i].why);
    end_run(&r);
  }
}

// The values of the run are the same with and without samples, in every scheme.
static void test_same_results(void** state) {
  (void)state;
  static const char* const tops[] = {"", "scheme: gauss-seidel\n", "exchange: fresh\n",
                                     "threads: 2\n"};
  for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
    one_run r = {0}, bare = {0};
    begin_run(&r, "4", tops[i], "0.025", "0.0125", "");
    begin_run(&bare, "4", tops[i], "0.025", "0.0125", "");
    judge_run(&r);
    assert_true(signal_of(&r, "a.y").is_estimated);
    const yoke_state* kept = r.sim->state;
    const yoke_trace* trace = kept->watch.trace;
    check_ok(yoke_simulation_start(bare.sim));
    assert_null(bare.sim->state->tape);
    for (int64_t k = 0; k <= 40; k++) {
      assert_true(k == 0 || yoke_simulation_step(bare.sim) >= 0);
      for (size_t s = 0; s < trace->n; s++) {
        assert_memory_equal(&trace->values[(size_t)k * trace->n + s],
                            &bare.sim->state->y[trace->y[s]], sizeof(double));
      }
    }
    end_run(&r);
    end_run(&bare);
  }
}

// A run that is stepped by hand, is judged with companions, or belongs to a sweep keeps no samples.
static void test_no_samples_with_companions(void** state) {
  (void)state;
  one_run r = {0};
  begin_run(&r, "4", "", "0.025", "0.025", "trust: {companions: half}\n");
  const yoke_run_settings settings = {.trust = YOKE_TRUST_FILE};
  check_ok(yoke_simulation_run(r.sim, &settings, NULL));
  assert_null(r.sim->state->tape);
  check_ok(yoke_simulation_judge(r.sim, NULL));
  check_ok(yoke_simulation_get_trust(r.sim, &r.trust));
  assert_false(signal_of(&r, "a.y").is_estimated);
  end_run(&r);
  begin_run(&r, "4", "", "0.025", "0.025", "trust: {companions: none}\n");
  check_ok(yoke_simulation_run(r.sim, &settings, NULL));
  check_ok(yoke_simulation_judge(r.sim, NULL));
  check_ok(yoke_simulation_get_trust(r.sim, &r.trust));
  assert_true(signal_of(&r, "a.y").is_estimated);
  end_run(&r);
}

// ---------------------------------------------------------------------------------------------------------
// beside the run

typedef struct watcher {
  one_run* run;
  int n_seen;
  double last;
} watcher;

// Slow enough for the thread beside the run to show something; bounded, whatever the machine does.
static bool wait_for_band(void* to, const yoke_progress* now) {
  watcher* w = to;
  yoke_progress later = *now;
  for (int i = 0; i < 2000 && w->n_seen == 0 && later.signal == NULL && later.share > 0.1; i++) {
    yoke__os_sleep_ns(5000000);
    check_ok(yoke_simulation_get_progress(w->run->sim, &later));
  }
  if (later.signal != NULL) {
    w->n_seen++;
    w->last = later.relative;
    assert_true(strcmp(later.signal, "a.y") == 0 || strcmp(later.signal, "b.y") == 0);
  }
  return true;
}

// The band is there while the run goes on; the verdict at the end is the same whether anybody looked or not.
static void test_progress(void** state) {
  (void)state;
  yoke_signal_trust signals[2];
  for (int i = 0; i < 2; i++) {
    one_run r = {0};
    begin_run(&r, "400", "", "0.0001", "0.0001", "");
    watcher w = {.run = &r};
    const yoke_run_settings settings = {.progress = i == 0 ? wait_for_band : NULL, .to = &w};
    check_ok(yoke_simulation_run(r.sim, &settings, NULL));
    check_ok(yoke_simulation_judge(r.sim, NULL));
    check_ok(yoke_simulation_get_trust(r.sim, &r.trust));
    signals[i] = signal_of(&r, "a.y");
    signals[i].name = signals[i].dim = signals[i].reason = NULL;
    if (i == 0) {
      print_message("the band was seen %d times, last %.3g\n", w.n_seen, w.last);
    }
    end_run(&r);
  }
  assert_true(signals[0].band == signals[1].band && signals[0].band_max == signals[1].band_max);
  assert_true(signals[0].at_time == signals[1].at_time);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_loop),    cmocka_unit_test(test_other_grids),
      cmocka_unit_test(test_laws),           cmocka_unit_test(test_no_estimate),
      cmocka_unit_test(test_same_results),   cmocka_unit_test(test_no_samples_with_companions),
      cmocka_unit_test(test_progress),       cmocka_unit_test(test_random_loops_TR_21),
      cmocka_unit_test(test_long_exchanges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
