// Scheduled execution: the FMU `partitions` of test/fmus, whose partitions count what happens to them and are strict about
// when they are asked. Counts, values and orders against sequences that are worked out by hand.
#include "base/base_message.h"
#include "support/check.h"
#include "support/sim.h"
#include "support/trial.h"
#include "unit/unit_file.h"

typedef struct bench {
  yoke_unit_store* store;
  trial unit;
} bench;

static void open_bench(bench* b) {
  char path[4096];
  snprintf(path, sizeof path, "%s/partitions3.fmu", getenv("YOKE_FMUS"));
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_FMU, .path = path, .name = "unit"};
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&b->store));
  check_ok(yoke__unit_store_open(b->store, &settings, &messages, &ops));
  assert_int_equal(messages.n, 0);
  yoke__messages_free(&messages);
  trial_open(&b->unit, ops, NULL, 0);
}

static void start_at(bench* b, double t) {
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(&b->unit.unit, t, HUGE_VAL, &err.sink));
  check_ok(yoke__unit_exit_init(&b->unit.unit));
}

static void close_bench(bench* b) {
  trial_close(&b->unit);
  yoke__unit_store_destroy(&b->store);
}

static void set_inputs(bench* b, double u, double gain) {
  const yoke_unit* unit = &b->unit.unit;
  const double all[] = {u, gain};
  assert_int_equal(unit->n_u, 2);
  check_ok(unit->ops->set_inputs(unit->self, all, 2));
}

static const char* const names[] = {"n_fast",    "n_mid",  "n_slow",   "n_alarms",
                                    "n_delayed", "n_poke", "n_uneven", "order"};

typedef struct expected {
  double t;
  int64_t fast, mid, slow, alarms, delayed, poke, uneven, order;
} expected;

static void check_counts(const bench* b, const expected* want) {
  const int64_t all[] = {want->fast,    want->mid,  want->slow,   want->alarms,
                         want->delayed, want->poke, want->uneven, want->order};
  for (size_t i = 0; i < 8; i++) {
    const int64_t got = trial_get_whole(&b->unit, names[i]);
    if (got != all[i]) {
      fail_msg("at %g s: %s = %lld, expected %lld", want->t, names[i], (long long)got,
               (long long)all[i]);
    }
  }
}

// ms        0    10 20 30 40 50   53 60 70 80 90 100   103 110
// fast      x    x  x  x  x  x       x  x  x  x  x         x     alarm at the 4th, 8th, 12th: 30, 70, 110 ms
// mid       x       x     x          x     x     x
// slow      x                x                   x                and 3 ms later delayed: 3, 53; at the third at once: 100
// uneven: 7, 15, 24, 34, 45, 57, 70, 84, 99, 115 ms
// At one time mid is first, then fast, slow, delayed, uneven.
static void test_counts(void** state) {
  (void)state;
  static const expected rows[] = {
      {0, 1, 1, 1, 0, 0, 0, 0, 213},     {0.01, 2, 1, 1, 0, 1, 0, 1, 1},
      {0.02, 3, 2, 1, 0, 1, 0, 2, 21},   {0.03, 4, 2, 1, 1, 1, 0, 3, 1},
      {0.04, 5, 3, 1, 1, 1, 0, 4, 21},   {0.05, 6, 3, 2, 1, 1, 0, 5, 13},
      {0.06, 7, 4, 2, 1, 2, 0, 6, 21},   {0.07, 8, 4, 2, 2, 2, 0, 7, 16},
      {0.08, 9, 5, 2, 2, 2, 0, 7, 21},   {0.09, 10, 5, 2, 2, 2, 0, 8, 1},
      {0.1, 11, 6, 3, 2, 3, 0, 9, 2134}, {0.11, 12, 6, 3, 3, 3, 0, 9, 1},
      {0.12, 13, 7, 3, 3, 3, 0, 10, 21},
  };
  bench b;
  open_bench(&b);
  start_at(&b, 0);
  check_counts(&b, &rows[0]);
  for (size_t k = 1; k < sizeof rows / sizeof rows[0]; k++) {
    const yoke_step_result r = trial_step(&b.unit, 0.01 * (double)(k - 1), 0.01);
    assert_true((r.flags & YOKE_STEP_EVENT_NEEDED) != 0);
    check_counts(&b, &rows[k]);
  }
  close_bench(&b);
}

// the same with steps that do not fit the clocks, one for all, and from a start time far from zero
static void test_steps_do_not_matter(void** state) {
  (void)state;
  static const double starts[] = {0, 1e6};
  static const int n_steps[] = {1, 3, 7, 120, 1000};
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < 5; i++) {
      bench b;
      open_bench(&b);
      start_at(&b, starts[s]);
      const double h = 0.12 / n_steps[i];
      for (int k = 0; k < n_steps[i]; k++) {
        trial_step(&b.unit, starts[s] + k * h, h);
      }
      const expected end = {0.12, 13, 7, 3, 3, 3, 0, 10, 21};
      check_counts(&b, &end);
      close_bench(&b);
    }
  }
}

// a step between two ticks moves nothing and says so
static void test_quiet_step(void** state) {
  (void)state;
  bench b;
  open_bench(&b);
  start_at(&b, 0);
  assert_int_equal(trial_step(&b.unit, 0, 0.002).flags, 0);
  const expected same = {0.002, 1, 1, 1, 0, 0, 0, 0, 213};
  check_counts(&b, &same);
  close_bench(&b);
}

// Inputs: those of a clock when it ticks, those without one at the next tick of any; outputs from then on. Steps of 25 ms hold
// fast ticks 10 20 | 30 40 50 | 60 70 | 80 90 100, mid ticks 20 | 40 | 60 | 80 100.
static void test_values(void** state) {
  (void)state;
  static const double sums[] = {2.5, 8.5, 14.5, 26.5};
  static const double mixed[] = {3 * 2 + 1, 3 * 3 + 2, 3 * 4 + 3, 3 * 6 + 4};
  bench b;
  open_bench(&b);
  start_at(&b, 0);
  assert_true(trial_get(&b.unit, "sum") == 0.5);
  assert_true(trial_get(&b.unit, "mixed") == 2 * 1 + 0);
  for (int k = 0; k < 4; k++) {
    set_inputs(&b, k + 1, 3);
    trial_set_whole(&b.unit, "k", k + 1);
    // what waits can be read, what follows from it not yet
    assert_true(trial_get(&b.unit, "u") == k + 1);
    assert_true(trial_get(&b.unit, "gain") == 3);
    assert_int_equal(trial_get_whole(&b.unit, "k"), k + 1);
    assert_true(trial_get(&b.unit, "sum") == (k == 0 ? 0.5 : sums[k - 1]));
    trial_step(&b.unit, 0.025 * k, 0.025);
    assert_true(trial_get(&b.unit, "sum") == sums[k]);
    assert_true(trial_get(&b.unit, "mixed") == mixed[k]);
    double y[2];
    check_ok(b.unit.unit.ops->get_outputs(b.unit.unit.self, y, 2));
    assert_true(y[0] == sums[k] && y[1] == mixed[k]);
  }
  close_bench(&b);
}

// a clock that another unit ticks: at the start of each step in which it is on; the FMU's own clock is shown for one step
static void test_triggered_clocks(void** state) {
  (void)state;
  bench b;
  open_bench(&b);
  start_at(&b, 0);
  trial_set_whole(&b.unit, "poke", 1);
  trial_step(&b.unit, 0, 0.002);
  assert_int_equal(trial_get_whole(&b.unit, "n_poke"), 1);
  assert_int_equal(trial_get_whole(&b.unit, "order"), 2135);
  trial_set_whole(&b.unit, "poke", 0);
  for (int k = 0; k < 12; k++) {
    trial_step(&b.unit, 0.002 + 0.0025 * k, 0.0025);
    // 30 ms lies in the step from 29.5 to 32
    assert_int_equal(trial_get_whole(&b.unit, "alarm"), k == 11);
  }
  assert_int_equal(trial_get_whole(&b.unit, "n_poke"), 1);
  close_bench(&b);
}

static void test_rollback(void** state) {
  (void)state;
  bench b;
  open_bench(&b);
  start_at(&b, 0);
  const yoke_unit* u = &b.unit.unit;
  unsigned char image[256] = {0}, bytes[8192];
  size_t size = sizeof bytes;
  trial_step(&b.unit, 0, 0.04);
  const expected before = {0.04, 5, 3, 1, 1, 1, 0, 4, 21},
                 after = {0.12, 13, 7, 3, 3, 3, 0, 10, 21};
  check_ok(yoke__unit_save(u, image, yoke__unit_image_size(u)));
  check_ok(u->ops->serialise(u->self, bytes, &size));
  for (int pass = 0; pass < 3; pass++) {
    trial_step(&b.unit, 0.04, 0.08);
    check_counts(&b, &after);
    check_ok(pass == 0 ? yoke__unit_restore(u, image, yoke__unit_image_size(u))
                       : u->ops->deserialise(u->self, bytes, size));
    check_counts(&b, &before);
  }
  close_bench(&b);
}

// what cannot be run says why
static void check_refused(yoke_unit_file_settings settings, const char* fmu, const char* text) {
  char path[4096], all[4096] = "";
  snprintf(path, sizeof path, "%s/%s.fmu", getenv("YOKE_FMUS"), fmu);
  settings.kind = YOKE_KIND_FMU;
  settings.path = path;
  settings.name = "unit";
  yoke_messages messages = {0};
  yoke_unit_store* store = NULL;
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&store));
  assert_true(yoke__unit_store_open(store, &settings, &messages, &ops) < 0);
  yoke__messages_format(&messages, all, sizeof all);
  check_contains(all, text);
  yoke__messages_free(&messages);
  yoke__unit_store_destroy(&store);
}

static void test_refusals(void** state) {
  (void)state;
  check_refused((yoke_unit_file_settings){.interface_type = YOKE_INTERFACE_CO_SIMULATION},
                "partitions3", "has no co-simulation interface; it has scheduled execution");
  check_refused((yoke_unit_file_settings){.interface_type = YOKE_INTERFACE_SCHEDULED_EXECUTION},
                "clocks3", "has no scheduled-execution interface; it has co-simulation");
  check_refused((yoke_unit_file_settings){.is_event_mode_off = true}, "partitions3",
                "`events: false` does not go with scheduled execution");
}

static void check_failure(int64_t fault, double h, const char* text) {
  bench b;
  open_bench(&b);
  trial_set_whole(&b.unit, "fault", fault);
  start_at(&b, 0);
  yoke_step_result result = {.t_reached = h};
  assert_true(b.unit.unit.ops->step(b.unit.unit.self, 0, h, &result) < 0);
  print_message("%s\n", result.message);
  check_contains(result.message, text);
  close_bench(&b);
}

static void test_failures(void** state) {
  (void)state;
  check_failure(1, 0.01, "clock 'delayed' asks for a second tick at t = 0.003 s");
  bench b;
  open_bench(&b);
  trial_set_whole(&b.unit, "fault", 2);
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(&b.unit.unit, 0, HUGE_VAL, &err.sink));
  assert_true(yoke__unit_exit_init(&b.unit.unit) < 0);  // slow ticks at the start
  yoke__unit_reason(&b.unit.unit, &err.sink);
  check_contains(err.text, "fmi3ActivateModelPartition returned discard");
  close_bench(&b);
}

// in a system: inputs from another unit, an exchange that fits no clock, and the refusals
static void test_system(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ntime: {stop: 0.12, step: 0.004}\nunits:\n"
                   "  drive: {model: oscillator.mass, with: {k: 0}, start: {x: 1, v: 0, f: 0}}\n"
                   "  ecu: {fmu: '%s/partitions3.fmu', interface: scheduled-execution}\n"
                   "connections:\n  - {from: drive.x, to: ecu.u, order: 0}\n",
                   getenv("YOKE_FMUS"));
  sim_run(&s);
  // thirteen fast ticks at u = 1, seven mid ones at a gain of 2
  check_near(sim_read(&s, "ecu.sum"), 13, 0);
  check_near(sim_read(&s, "ecu.mixed"), 14, 0);
  sim_close(&s);
}

int main(void) {
  if (getenv("YOKE_FMUS") == NULL) {
    print_message("skipped: YOKE_FMUS names no folder with test FMUs\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),           cmocka_unit_test(test_steps_do_not_matter),
      cmocka_unit_test(test_quiet_step),       cmocka_unit_test(test_values),
      cmocka_unit_test(test_triggered_clocks), cmocka_unit_test(test_rollback),
      cmocka_unit_test(test_refusals),         cmocka_unit_test(test_failures),
      cmocka_unit_test(test_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
