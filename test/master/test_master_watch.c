// The judged signals in the loop: growth alarms of whole systems, values kept at the ends of macro steps, saved states.
#include "support/check.h"
#include "support/sim.h"

// The signal loop of the trust specification, section 10: every unit is one exchange late.
#define LOOP(step, rest)                                                                           \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: " step "}\nunits:\n"                   \
  "  reference: {model: step, with: {time: 1}}\n"                                                  \
  "  difference: {model: sum, with: {signs: [1, -1]}}\n"                                           \
  "  gain: {model: gain, with: {k: 40}}\n"                                                         \
  "  plant: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"                                   \
  "connections: [reference.y -> difference.u1, plant.y1 -> difference.u2, difference.y -> "        \
  "gain.u, gain.y -> plant.u1]\n" rest

static yoke_signal_growth growth_of(const sim* s, const char* name) {
  yoke_signal_growth growth;
  size_t i = 0;
  while (i < s->system->n_judged && s->system->judged[i].y != sim_index(s, name)) {
    i++;
  }
  assert_true(i < s->system->n_judged);
  yoke__master_growth(s->system, s->state, i, &growth);
  return growth;
}

static void check_same_growth(const sim* a, const sim* b) {
  for (size_t i = 0; i < a->system->n_judged; i++) {
    yoke_signal_growth x, y;
    yoke__master_growth(a->system, a->state, i, &x);
    yoke__master_growth(b->system, b->state, i, &y);
    assert_true(x.alarm.is_latched == y.alarm.is_latched && x.alarm.at == y.alarm.at);
    assert_true(x.alarm.is_active == y.alarm.is_active && x.alarm.total == y.alarm.total);
    assert_true(!x.alarm.is_latched || (x.t_from == y.t_from && x.t_to == y.t_to));
    assert_true(x.alarm.factor == y.alarm.factor);
    assert_true(x.alarm.largest == y.alarm.largest);
  }
}

static void test_TR_08_signal_loop(void** state) {
  (void)state;
  sim s = sim_open(LOOP("0.05", ""));
  sim_run(&s);
  yoke_signal_growth growth = growth_of(&s, "plant.y1");
  check_relative(sim_read(&s, "plant.y1"), -1.48936e25, 1e-5);
  assert_true(growth.alarm.is_latched && growth.alarm.is_active);
  assert_int_equal(growth.alarm.at, 40);
  check_near(growth.alarm.rate, 1.4010, 5e-5);
  check_near(growth.t_from, 1, 1e-12);
  check_near(growth.t_to, 2, 1e-12);
  growth = growth_of(&s, "reference.y");
  assert_false(growth.alarm.is_latched || growth.alarm.is_active);
  sim_close(&s);

  s = sim_open(LOOP("0.01", ""));
  sim_run(&s);
  growth = growth_of(&s, "plant.y1");
  check_near(sim_read(&s, "plant.y1"), 0.97561, 5e-6);
  assert_false(growth.alarm.is_latched || growth.alarm.is_active);
  sim_close(&s);
}

static void test_TR_25_alarm(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 20, step: 0.01}\nunits:\n"
                   "  a: {model: state_space, with: {A: [[0.3]], B: [[0.4]], x0: [1]}}\n"
                   "  b: {model: state_space, with: {A: [[0.1]], B: [[0.3]], x0: [0.2]}}\n"
                   "connections: [b.y1 -> a.u1, a.y1 -> b.u1]\n");
  sim_run(&s);
  for (int i = 0; i < 2; i++) {
    const yoke_signal_growth growth = growth_of(&s, i == 0 ? "a.y1" : "b.y1");
    assert_true(growth.alarm.is_active);
    assert_int_equal(growth.alarm.at, 1280);
    check_near(growth.alarm.rate, 1.0056, 5e-5);
    check_near(growth.t_to, 12.8, 1e-9);
  }
  sim_close(&s);
}

// Every scheme is watched at the ends of macro steps, however many slots these have.
static void test_schemes_and_rates(void** state) {
  (void)state;
  static const char* const heads[] = {"scheme: gauss-seidel\n", "threads: 2\n",
                                      "scheme: iterative-jacobi\niteration: {max: 1}\n"};
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    sim s = sim_open("%s%s", LOOP("0.05", ""), heads[i]);
    sim_run(&s);
    assert_int_equal(s.state->watch.n_steps, 200);
    // less delay or none: it grows faster, slower or not at all, but on the same grid
    assert_int_equal(growth_of(&s, "plant.y1").alarm.at % 4, 0);
    sim_close(&s);
  }
  // four slots in a macro step
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 20, step: 0.1}\nunits:\n"
               "  a: {model: state_space, with: {A: [[0.3]], B: [[0.4]], x0: [1]}, step: 0.025}\n"
               "  b: {model: state_space, with: {A: [[0.1]], B: [[0.3]], x0: [0.2]}, step: 0.025}\n"
               "connections: [{from: b.y1, to: a.u1, exchange: 0.025}, a.y1 -> b.u1]\n");
  assert_int_equal(s.system->macro_slots, 4);
  sim_run(&s);
  assert_int_equal(s.state->watch.n_steps, 200);
  assert_int_equal(growth_of(&s, "a.y1").alarm.at % 4, 0);
  assert_true(growth_of(&s, "a.y1").alarm.is_active);
  sim_close(&s);
}

// A signal that is exchanged every third macro step is counted in its own exchanges.
static void test_rare_exchange(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 60, step: 0.1}\nunits:\n"
                   "  a: {model: state_space, with: {A: [[0.5]], x0: [1]}, step: 0.3}\n"
                   "  b: {model: gain, step: 0.1}\n  c: {model: gain, step: 0.1}\n"
                   "connections: [a.y1 -> b.u, b.y -> c.u]\n");
  sim_run(&s);
  // exp(0.15) per exchange: blocks of 8 grow by 3.3 each, 120-fold in four
  const yoke_signal_growth growth = growth_of(&s, "a.y1");
  assert_true(growth.alarm.is_latched);
  check_relative(growth.alarm.rate, exp(0.15), 1e-9);
  assert_int_equal(growth.alarm.at, 40);
  check_near(growth.t_to, 12, 1e-9);
  check_near(growth.t_from, 0, 1e-9);
  sim_close(&s);
}

// ---- which signal has diverged

static void test_find_diverged(void** state) {
  (void)state;
  yoke_signal_growth growth;
  char text[512];
  sim s = sim_open(LOOP("0.05", ""));
  assert_true(yoke__master_find_diverged(s.system, s.state, NULL, &growth) == YOKE_NOT_FOUND);
  sim_run(&s);
  // three signals do, all since the same exchange: the one that grew most
  const size_t found = yoke__master_find_diverged(s.system, s.state, NULL, &growth);
  assert_true(found != YOKE_NOT_FOUND);
  yoke__master_growth_text(s.system, found, &growth, text, sizeof text);
  assert_string_equal(text, "plant.y1 diverges: it grew 220 times within 16 exchanges, from t = 1 "
                            "s to t = 2 s, and reached 5.96e+25");
  // with an error band below half of the scale growth is right
  double relative[4] = {0.1, 0.1, 0.1, 0.1};
  assert_int_equal(s.system->n_judged, 4);
  assert_true(yoke__master_find_diverged(s.system, s.state, relative, &growth) == YOKE_NOT_FOUND);
  relative[1] = 0.6;
  assert_int_equal(yoke__master_find_diverged(s.system, s.state, relative, &growth), 1);
  relative[1] = (double)NAN;
  assert_int_equal(yoke__master_find_diverged(s.system, s.state, relative, &growth), 1);
  sim_close(&s);
}

static void test_stop_on_growth(void** state) {
  (void)state;
  sim s = sim_open(LOOP("0.05", "quality: {stop: {growth: true}}\n"));
  yoke_loop_info info = {0};
  const yoke_loop_settings settings = {0};
  assert_int_equal(yoke__master_loop(s.system, s.state, &settings, &info), YOKE_STOPPED);
  assert_true(s.state->is_stopped && s.state->watch.stopped_by != YOKE_NOT_FOUND);
  assert_int_equal(s.state->watch.n_steps, 108);
  sim_close(&s);
  s = sim_open(LOOP("0.01", "quality: {stop: {growth: true}}\n"));
  info = (yoke_loop_info){0};
  assert_int_equal(yoke__master_loop(s.system, s.state, &settings, &info), YOKE_OK);
  sim_close(&s);
}

// ---- values

static void test_values_are_kept(void** state) {
  (void)state;
  sim s = sim_open(LOOP("0.01", ""));
  check_ok(yoke__master_keep(s.system, s.state, NULL, 0, 1, SIZE_MAX));
  const yoke_trace* trace = s.state->watch.trace;
  const size_t n = s.system->n_judged;
  assert_int_equal(trace->n, n);
  assert_int_equal(trace->n_room, 1001);
  for (int64_t k = 0; k <= 1000; k++) {
    assert_int_equal(trace->n_kept, k + 1);
    for (size_t i = 0; i < n; i++) {
      assert_true(trace->values[(size_t)k * n + i] == s.state->y[s.system->judged[i].y]);
    }
    if (k < 1000) {
      sim_steps(&s, 1);
    }
  }
  assert_true(trace->times == NULL && !trace->has_gap);
  assert_int_equal(yoke__master_keep(s.system, s.state, NULL, 0, 1, SIZE_MAX), YOKE_BAD_ARG);
  sim_close(&s);
}

// One signal every fourth step; a limit of memory makes it a multiple of that.
static void test_thinned_values(void** state) {
  (void)state;
  static const struct {
    size_t max_bytes;
    int64_t thin;
  } cases[] = {{SIZE_MAX, 4}, {(size_t)251 * 8, 4}, {(size_t)250 * 8, 8}, {(size_t)10 * 8, 104}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    sim s = sim_open(LOOP("0.01", ""));
    const size_t y = sim_index(&s, "plant.y1");
    check_ok(yoke__master_keep(s.system, s.state, &y, 1, 4, cases[c].max_bytes));
    const yoke_trace* trace = s.state->watch.trace;
    assert_int_equal(trace->thin, cases[c].thin);
    assert_true((size_t)trace->n_room <= cases[c].max_bytes / sizeof(double));
    double want[1001];
    for (int k = 0; k <= 1000; k++) {
      want[k] = sim_read(&s, "plant.y1");
      if (k < 1000) {
        sim_steps(&s, 1);
      }
    }
    assert_int_equal(trace->n_kept, 1000 / cases[c].thin + 1);
    for (int64_t k = 0; k < trace->n_kept; k++) {
      assert_true(trace->values[k] == want[k * trace->thin]);
    }
    sim_close(&s);
  }
}

// The number of steps is not known: rows are thinned out when there are too many.
static void test_adaptive_values(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: {min: 1e-4, max: 1e-2}}\nunits:\n"
      "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
      "connections: [right.x -> left.x_other]\n"
      "bonds: {s: {action: left.f -> right.f, rate: right.v -> left.v_other}}\n");
  const size_t y = sim_index(&s, "right.x");
  check_ok(yoke__master_keep(s.system, s.state, &y, 1, 1, (size_t)100 * 2 * sizeof(double)));
  const yoke_trace* trace = s.state->watch.trace;
  static double t[100001], x[100001];
  int64_t n = 0;
  t[0] = s.state->t;
  x[0] = sim_read(&s, "right.x");
  while (s.state->n_slots < s.system->n_slots) {
    sim_steps(&s, 1);
    n++;
    t[n] = s.state->t;
    x[n] = sim_read(&s, "right.x");
  }
  assert_int_equal(s.state->watch.n_steps, n);
  assert_true(trace->thin > 1 && trace->n_kept <= 100 && trace->n_kept >= 50);
  assert_int_equal(trace->n_kept, n / trace->thin + 1);
  for (int64_t k = 0; k < trace->n_kept; k++) {
    assert_true(trace->times[k] == t[k * trace->thin] && trace->values[k] == x[k * trace->thin]);
  }
  sim_close(&s);
}

// ---- saved states

static void save(const sim* s, unsigned char** bytes) {
  yoke_image count = {0};
  yoke__master_image_watch(s->system, s->state, &count);
  *bytes = malloc(count.used);
  assert_non_null(*bytes);
  yoke_image image = {.to = *bytes};
  yoke__master_image_watch(s->system, s->state, &image);
  assert_int_equal(image.used, count.used);
}

// What is saved belongs to any simulation of the system, also one with another stop time.
static void test_image(void** state) {
  (void)state;
  sim a = sim_open(LOOP("0.05", "")), b = sim_open(LOOP("0.05", ""));
  sim longer =
      sim_open("%s", "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1000, step: 0.05}\nunits:\n"
                     "  reference: {model: step, with: {time: 1}}\n"
                     "  difference: {model: sum, with: {signs: [1, -1]}}\n"
                     "  gain: {model: gain, with: {k: 40}}\n"
                     "  plant: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
                     "connections: [reference.y -> difference.u1, plant.y1 -> "
                     "difference.u2, difference.y -> gain.u, gain.y -> plant.u1]\n");
  check_ok(yoke__master_keep(a.system, a.state, NULL, 0, 1, SIZE_MAX));
  check_ok(yoke__master_keep(b.system, b.state, NULL, 0, 1, SIZE_MAX));
  sim_steps(&a, 77);
  unsigned char* bytes = NULL;
  save(&a, &bytes);
  yoke_image image = {.from = bytes};
  yoke__master_image_watch(b.system, b.state, &image);
  assert_int_equal(b.state->watch.n_steps, 77);
  check_same_growth(&a, &b);
  yoke_image count = {0};
  yoke__master_image_watch(longer.system, longer.state, &count);
  assert_int_equal(count.used, image.used);
  // b never saw the rows before
  assert_true(b.state->watch.trace->has_gap);

  // back in time: later rows are forgotten and written again
  sim_steps(&a, 50);
  image = (yoke_image){.from = bytes};
  yoke__master_image_watch(a.system, a.state, &image);
  assert_int_equal(a.state->watch.trace->n_kept, 78);
  assert_false(a.state->watch.trace->has_gap);
  free(bytes);
  sim_close(&a);
  sim_close(&b);
  sim_close(&longer);
}

// A system in which nothing is connected is watched for nothing.
static void test_nothing_to_watch(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits: {a: {model: sine}}\n");
  check_ok(yoke__master_keep(s.system, s.state, NULL, 0, 1, 1));
  sim_run(&s);
  assert_int_equal(s.state->watch.n_steps, 100);
  assert_int_equal(s.state->watch.trace->n, 0);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_TR_08_signal_loop), cmocka_unit_test(test_TR_25_alarm),
      cmocka_unit_test(test_schemes_and_rates), cmocka_unit_test(test_rare_exchange),
      cmocka_unit_test(test_values_are_kept),   cmocka_unit_test(test_thinned_values),
      cmocka_unit_test(test_adaptive_values),   cmocka_unit_test(test_image),
      cmocka_unit_test(test_nothing_to_watch),  cmocka_unit_test(test_find_diverged),
      cmocka_unit_test(test_stop_on_growth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
