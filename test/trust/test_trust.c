// Companions and verdicts of whole runs, through the public functions.
#include <unistd.h>

#include "api/api.h"
#include "support/check.h"
#include "support/heard.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static yoke_simulation* make(const char* text, const char* const sets[], size_t n_sets) {
  HEAR(told);
  yoke_system* system = NULL;
  const yoke_load_settings settings = {.sets = sets, .n_sets = n_sets, .sink = &told.sink};
  if (yoke_system_parse(text, strlen(text), "test.yaml", &settings, &system) < 0) {
    fail_msg("%s", told.text);
  }
  yoke_simulation* s = NULL;
  assert_int_equal(yoke_simulation_create(system, NULL, &s), YOKE_OK);
  s->owns_system = true;
  return s;
}

static void run_and_judge(yoke_simulation* s, yoke_trust_mode mode, yoke_run_trust* trust) {
  const yoke_run_settings settings = {.trust = mode};
  assert_true(yoke_simulation_run(s, &settings, NULL) >= 0);
  assert_int_equal(yoke_simulation_judge(s, NULL), YOKE_OK);
  assert_int_equal(yoke_simulation_get_trust(s, trust), YOKE_OK);
}

static yoke_signal_trust signal_of(const yoke_simulation* s, const char* name) {
  yoke_signal_trust signal;
  for (size_t i = 0; yoke_simulation_get_signal(s, i, &signal) >= 0; i++) {
    if (strcmp(signal.name, name) == 0) {
      return signal;
    }
  }
  fail_msg("no signal %s", name);
  return signal;
}

// x1' = a1 x1 + u1, x2' = a2 x2 + u2, u1 = k1 x2, u2 = k2 x1
static const char* loop_text(double a1, double a2, double k1, double k2, double x1, double x2,
                             double h, double stop) {
  static char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\n"
           "time: {stop: %.10g, step: %.10g}\n"
           "units:\n"
           "  one: {model: state_space, with: {A: [[%.17g]], B: [[%.17g]], inputs: [u], outputs: "
           "[x], x0: [%.17g]}}\n"
           "  two: {model: state_space, with: {A: [[%.17g]], B: [[%.17g]], inputs: [u], outputs: "
           "[x], x0: [%.17g]}}\n"
           "connections: [two.x -> one.u, one.x -> two.u]\n",
           stop, h, a1, k1, x1, a2, k2, x2);
  return text;
}

// ---- verdicts

// TR-25: a plant that is unstable by itself. The bands of A alone decide here, as they do in the golden numbers.
static void test_unstable_plant(void** state) {
  (void)state;
  yoke_run_trust trust;
  yoke_simulation* s = make(loop_text(0.3, 0.1, 0.4, 0.3, 1, 0.2, 0.01, 20), NULL, 0);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_int_equal(trust.verdict, YOKE_TRUSTWORTHY);
  assert_false(trust.is_diverged);
  check_relative(signal_of(s, "one.x").relative, 0.0185, 0.01);
  check_relative(signal_of(s, "two.x").relative, 0.0194, 0.01);
  assert_non_null(strstr(trust.reason, "grew"));
  yoke_simulation_destroy(&s);

  s = make(loop_text(0.3, 0.1, 0.4, 0.3, 1, 0.2, 0.1, 20), NULL, 0);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_int_equal(trust.verdict, YOKE_DOUBTFUL);
  check_relative(signal_of(s, "one.x").relative, 0.192, 0.01);
  check_relative(signal_of(s, "two.x").relative, 0.201, 0.01);
  yoke_simulation_destroy(&s);

  // without companions growth is all that is known
  s = make(loop_text(0.3, 0.1, 0.4, 0.3, 1, 0.2, 0.01, 20), NULL, 0);
  run_and_judge(s, YOKE_TRUST_NONE, &trust);
  assert_int_equal(trust.verdict, YOKE_WRONG);
  assert_true(trust.is_diverged);
  yoke_simulation_destroy(&s);
}

// TR-24
static void test_rest(void** state) {
  (void)state;
  yoke_run_trust trust;
  yoke_simulation* s = make(loop_text(-1, -2, -4, 1, 0, 0, 0.01, 2), NULL, 0);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
  assert_non_null(strstr(trust.reason, "at rest"));
  yoke_simulation_destroy(&s);
}

// Two chains of units that do not know each other, all signals of one name: what moves beside the other by rounding alone is
// at rest, whatever the unit of the amplitudes is.
static const char* two_loops(double large, double small, const char* more) {
  static char text[2048];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\n"
           "time: {stop: 4, step: 0.05}\n"
           "units:\n"
           "  one: {model: state_space, with: {A: [[-1]], B: [[-4]], inputs: [u], outputs: [x], "
           "x0: [%.17g]}}\n"
           "  two: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [x], x0: "
           "[0]}}\n"
           "  far: {model: state_space, with: {A: [[-1]], B: [[-40]], inputs: [u], outputs: [x], "
           "x0: [%.17g]}}\n"
           "  end: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [x], x0: "
           "[0]}}\n"
           "connections: [two.x -> one.u, one.x -> two.u, end.x -> far.u, far.x -> end.u]\n"
           "%s",
           large, small, more);
  return text;
}

static void test_rounding(void** state) {
  (void)state;
  static const double factors[] = {1e-20, 1, 1e20};
  yoke_run_trust trust;
  for (size_t i = 0; i < COUNT(factors); i++) {
    yoke_simulation* s = make(two_loops(factors[i], 1e-14 * factors[i], ""), NULL, 0);
    run_and_judge(s, YOKE_TRUST_BOTH, &trust);
    assert_string_equal(signal_of(s, "far.x").reason, "at rest");
    assert_string_equal(signal_of(s, "end.x").reason, "at rest");
    assert_int_equal(trust.verdict, YOKE_DOUBTFUL);
    yoke_simulation_destroy(&s);

    // large enough to be a signal: wrong at this step
    s = make(two_loops(factors[i], 1e-8 * factors[i], ""), NULL, 0);
    run_and_judge(s, YOKE_TRUST_BOTH, &trust);
    assert_int_equal(signal_of(s, "far.x").verdict, YOKE_WRONG);
    assert_int_equal(trust.verdict, YOKE_WRONG);
    yoke_simulation_destroy(&s);

    // named by the file: judged
    s = make(two_loops(factors[i], 1e-14 * factors[i], "trust: {signals: [far.x]}\n"), NULL, 0);
    run_and_judge(s, YOKE_TRUST_BOTH, &trust);
    assert_int_equal(signal_of(s, "far.x").verdict, YOKE_WRONG);
    assert_string_equal(signal_of(s, "end.x").reason, "at rest");
    yoke_simulation_destroy(&s);
  }
}

// TR-12, TR-13: bands of a loop whose times and motions are scaled.
static void test_scales(void** state) {
  (void)state;
  static const double times[] = {1e-3, 1, 1e3}, motions[] = {1e-16, 1, 1e16};
  for (size_t i = 0; i < COUNT(times); i++) {
    for (size_t k = 0; k < COUNT(motions); k++) {
      const double T = times[i], x = motions[k];
      yoke_run_trust trust;
      yoke_simulation* s =
          make(loop_text(-1 / T, -2 / T, -4 / T, 1 / T, x, 0, 0.05 * T, 4 * T), NULL, 0);
      run_and_judge(s, YOKE_TRUST_BOTH, &trust);
      static double relative;
      const double now = signal_of(s, "two.x").relative;
      relative = i == 0 && k == 0 ? now : relative;
      check_relative(now, relative, 1e-9);
      assert_int_equal(trust.verdict, YOKE_DOUBTFUL);
      yoke_simulation_destroy(&s);
    }
  }
}

// TR-14: stop times of 10, 100 and 1000 settling times.
static void test_long_tails(void** state) {
  (void)state;
  static const double stops[] = {40, 400, 4000};
  int digits = 0;
  for (size_t i = 0; i < COUNT(stops); i++) {
    yoke_run_trust trust;
    yoke_simulation* s = make(loop_text(-1, -2, -4, 1, 1, 0, 0.02, stops[i]), NULL, 0);
    run_and_judge(s, YOKE_TRUST_BOTH, &trust);
    assert_int_equal(trust.verdict, YOKE_TRUSTWORTHY);
    const int now = signal_of(s, "one.x").digits;
    digits = i == 0 ? now : digits;
    assert_int_equal(now, digits);
    yoke_simulation_destroy(&s);
  }
}

// TR-23: a loop with a bond and a coupling without one, which diverges.
static void test_mixed_loop(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 20, step: 0.01}\n"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 5}, start: {x: 0.1}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 10, c: 0.2}}\n"
      "  gain: {model: state_space, with: {A: [[-1]], B: [[40]], inputs: [u], outputs: [y], x0: "
      "[1]}}\n"
      "  back: {model: state_space, with: {A: [[-1]], B: [[-40]], inputs: [u], outputs: [y]}}\n"
      "connections:\n"
      "  - right.x -> left.x_other\n"
      "  - {from: gain.y, to: back.u, delay: 0.05}\n"
      "  - back.y -> gain.u\n"
      "bonds:\n"
      "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n";
  yoke_run_trust trust;
  yoke_simulation* s = make(text, NULL, 0);
  run_and_judge(s, YOKE_TRUST_NONE, &trust);
  assert_int_equal(trust.verdict, YOKE_WRONG);
  assert_true(trust.is_diverged && trust.is_wrong);
  assert_true(strstr(trust.reason, "gain.y") != NULL || strstr(trust.reason, "back.y") != NULL);
  yoke_simulation_destroy(&s);
}

// ---- companions

static const char* chain(void) {
  return loop_text(-1, -2, -4, 1, 1, 0, 0.01, 20);
}

// A run with both companions, of which one is cancelled while it runs; NULL: it had ended before.
static yoke_simulation* run_and_cancel(size_t lost) {
  yoke_simulation* s = make(chain(), NULL, 0);
  const yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH};
  assert_int_equal(yoke_simulation_start(s), YOKE_OK);
  assert_int_equal(yoke__trust_begin(s->system, s->state, YOKE_TRUST_BOTH, &s->trust), YOKE_OK);
  atomic_store(&s->trust->companions[lost].result->is_cancelled, true);
  yoke_loop_info info = {0};
  assert_int_equal(yoke__master_loop(s->system, s->state, &(yoke_loop_settings){0}, &info),
                   YOKE_OK);
  assert_int_equal(yoke_simulation_judge(s, &settings), YOKE_OK);
  const yoke_band* band = &s->trust->signals[0].band;
  if (band->has_a && band->has_b) {
    yoke_simulation_destroy(&s);
  }
  return s;
}

// TR-22: a companion that is ended in the middle of its run.
static void test_lost_companions(void** state) {
  (void)state;
  for (size_t lost = 0; lost < YOKE_N_COMPANIONS; lost++) {
    yoke_simulation* s = NULL;
    // on a busy machine it may have ended before it is cancelled
    for (int i = 0; i < 1000 && s == NULL; i++) {
      s = run_and_cancel(lost);
    }
    if (s == NULL) {
      fail_msg("companion %zu was never cancelled while it ran", lost);
      return;
    }
    const yoke_band* band = &s->trust->signals[0].band;
    yoke_run_trust trust;
    assert_int_equal(yoke_simulation_get_trust(s, &trust), YOKE_OK);
    if (lost == YOKE_COMPANION_B) {
      assert_true(band->has_a && !band->has_b);
      check_relative(band->band, 4 * band->d, 1e-12);
      assert_int_equal(trust.verdict, YOKE_TRUSTWORTHY);
    } else {
      assert_true(!band->has_a && band->has_b);
      check_relative(band->band, 3 * band->x, 1e-12);
      assert_int_equal(trust.verdict, YOKE_DOUBTFUL);
    }
    assert_non_null(strstr(s->trust->companions[lost].why, "cancelled"));
    yoke_simulation_destroy(&s);
  }
}

// The samples of A are those of a run with half the steps, bit for bit.
static void test_half_is_half(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1, step: 0.01}\n"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 100}}\n"
      "  right: {model: oscillator.mass, step: 0.005, start: {x: 1}}\n"
      "connections: [{from: right.x, to: left.x_other, order: 1}]\n"
      "bonds:\n"
      "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: {method: "
      "nepce}}\n";
  static const char* const half[] = {"time.step=0.005", "units.right.step=0.0025"};
  yoke_run_trust trust;
  yoke_simulation *s = make(text, NULL, 0), *fine = make(text, half, COUNT(half));
  run_and_judge(s, YOKE_TRUST_HALF, &trust);
  const double* a = s->trust->companions[YOKE_COMPANION_A].result->values;
  const size_t n = s->trust->n_signals;
  assert_int_equal(yoke_simulation_start(fine), YOKE_OK);
  for (int64_t k = 0; k < s->trust->n_rows; k++) {
    for (size_t i = 0; i < n; i++) {
      const double y = fine->state->y[fine->system->judged[i].y];
      assert_memory_equal(&a[(size_t)k * n + i], &y, sizeof y);
    }
    for (int step = 0; step < 2 && k + 1 < s->trust->n_rows; step++) {
      assert_int_equal(yoke_simulation_step(fine), YOKE_OK);
    }
  }
  yoke_simulation_destroy(&s);
  yoke_simulation_destroy(&fine);
}

// A variable step: companions are compared at the points in time that the run has chosen.
static void test_variable_step(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 2, step: {min: 1e-4, max: 1e-3}}\n"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 1}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -1}}\n"
      "connections: [right.x -> left.x_other]\n"
      "bonds:\n"
      "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n";
  yoke_run_trust trust;
  yoke_simulation* s = make(text, NULL, 0);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_true(s->trust->companions[YOKE_COMPANION_A].is_usable);
  assert_true(s->trust->companions[YOKE_COMPANION_B].is_usable);
  // undamped, held signals: the run is off by a few percent
  assert_int_equal(trust.verdict, YOKE_DOUBTFUL);
  const yoke_signal_trust v = signal_of(s, "right.v");
  assert_true(v.relative > 0.01 && v.relative < 0.1);
  yoke_simulation_destroy(&s);
}

// The band over time covers the differences, and asks for room.
static void test_band_over_time(void** state) {
  (void)state;
  yoke_run_trust trust;
  yoke_simulation* s = make(chain(), NULL, 0);
  size_t n = 0;
  double times[11], bands[11];
  assert_int_equal(yoke_simulation_get_band(s, 0, NULL, NULL, 0, &n), YOKE_BAD_ARG);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_int_equal(yoke_simulation_get_band(s, 0, NULL, NULL, 0, &n), YOKE_OK);
  assert_int_equal(n, 2001);
  assert_int_equal(yoke_simulation_get_band(s, 0, times, bands, COUNT(times), &n), YOKE_OK);
  assert_int_equal(n, 11);
  check_near(times[0], 0, 0);
  check_near(times[10], 20, 1e-12);
  assert_true(bands[0] > bands[10]);
  assert_int_equal(yoke_simulation_get_band(s, trust.n_signals, times, bands, 11, &n),
                   YOKE_BAD_ARG);
  yoke_simulation_destroy(&s);
}

// Values written from outside are unknown to companions.
static void test_written_values(void** state) {
  (void)state;
  yoke_run_trust trust;
  yoke_simulation* s = make(chain(), NULL, 0);
  yoke_handle x;
  assert_int_equal(yoke_simulation_find(s, "one.x1", &x), YOKE_OK);
  assert_int_equal(yoke_simulation_write(s, x, 2), YOKE_OK);
  run_and_judge(s, YOKE_TRUST_BOTH, &trust);
  assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
  yoke_simulation_destroy(&s);
}

// Cancelled while it is judged: no verdict, and nothing is lost.
static void test_cancelled(void** state) {
  (void)state;
  yoke_simulation* s = make(loop_text(-1, -2, -4, 1, 1, 0, 0.001, 400), NULL, 0);
  const yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH};
  yoke_run_trust trust;
  assert_int_equal(yoke_simulation_judge(s, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_run(s, &settings, NULL), YOKE_OK);
  yoke_simulation_cancel(s);
  assert_int_equal(yoke_simulation_judge(s, NULL), YOKE_INTERRUPTED);
  assert_int_equal(yoke_simulation_get_trust(s, &trust), YOKE_BAD_ARG);
  yoke_simulation_destroy(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unstable_plant), cmocka_unit_test(test_rest),
      cmocka_unit_test(test_scales),         cmocka_unit_test(test_long_tails),
      cmocka_unit_test(test_mixed_loop),     cmocka_unit_test(test_lost_companions),
      cmocka_unit_test(test_half_is_half),   cmocka_unit_test(test_band_over_time),
      cmocka_unit_test(test_written_values), cmocka_unit_test(test_cancelled),
      cmocka_unit_test(test_variable_step),  cmocka_unit_test(test_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
