// The cost of FMUs decides about threads: light ones stay together, heavy ones get a thread each (where there is a second
// processor), and the numbers are the same. And about calls.
#include <math.h>

#include "base/base_os.h"
#include "support/check.h"
#include "support/sim.h"
#include "yoke/yoke.h"

static sim open_two(const char* fmu, const char* lines) {
  const char* folder = getenv("YOKE_FMUS");
  assert_non_null(folder);
  return sim_open("yoke: 1\ntime: {stop: 10, step: 1e-3}\n%s"
                  "units: {a: {fmu: '%s/%s'}, b: {fmu: '%s/%s', start: {y: 1}}}\n"
                  "connections: [a.y -> b.u, b.y -> a.u]\n",
                  lines, folder, fmu, folder, fmu);
}

static void test_light_ones_stay_together(void** state) {
  (void)state;
  sim s = open_two("trivial2.fmu", "");
  print_message("trivial: %.3g us per step, %d thread\n", s.system->units[0].cost_s * 1e6,
                s.system->n_threads);
  assert_int_equal(s.system->n_threads, 1);
  sim_close(&s);
}

static void test_heavy_ones_run_in_parallel(void** state) {
  (void)state;
  sim s = open_two("heavy2.fmu", "");
  // a trial that got no processor for a second says nothing
  for (int chance = 0; chance < 5 && s.system->units[0].cost_s <= 0; chance++) {
    sim_close(&s);
    s = open_two("heavy2.fmu", "");
  }
  print_message("heavy: %.3g us per step, %d threads\n", s.system->units[0].cost_s * 1e6,
                s.system->n_threads);
  if (yoke__os_n_processors() < 2) {
    print_message("skipped: one processor\n");
  } else {
    assert_int_equal(s.system->n_threads, 2);
    assert_int_not_equal(s.system->units[0].thread, s.system->units[1].thread);
  }
  // both from the same file: tried once
  check_near(s.system->units[0].cost_s, s.system->units[1].cost_s, 0);
  sim one = open_two("heavy2.fmu", "threads: 1\n");
  assert_int_equal(one.system->n_threads, 1);
  sim_steps(&s, 50);
  sim_steps(&one, 50);
  check_near(sim_read(&s, "a.y"), sim_read(&one, "a.y"), 0);
  check_near(sim_read(&s, "b.y"), sim_read(&one, "b.y"), 0);
  sim_close(&s);
  sim_close(&one);
}

// nobody is asked where the answer is known or of no use
static void test_when_nothing_is_tried(void** state) {
  (void)state;
  static const char* const cases[] = {"threads: 2\n", "scheme: gauss-seidel\n"};
  for (size_t i = 0; i < 2; i++) {
    sim s = open_two("heavy2.fmu", cases[i]);
    check_near(s.system->units[0].cost_s, 0, 0);
    sim_close(&s);
  }
}

// ---- calls

// One call and ten, as multiples of 1 ms: by the rule cost(n) = one + (n - 1) (ten - one) / 9 <= 3 one.
static void test_which_calls_are_worth_it(void** state) {
  (void)state;
  static const struct {
    double one, ten;
    int64_t calls, even;
  } cases[] = {
      {1, 0.9, 10, 10},  // shorter steps converge faster
      {1, 3, 10, 10},   {1, 3.01, 5, 2}, {1, 5.5, 5, 2},
      {1, 5.51, 2, 2},  {1, 10, 2, 2},  // all calls take the same
      {1, 19, 2, 2},    {1, 19.1, 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double one = cases[i].one * 1e-3, ten = cases[i].ten * 1e-3;
    assert_int_equal(yoke__system_worth_calls(one, ten, false), cases[i].calls);
    assert_int_equal(yoke__system_worth_calls(one, ten, true), cases[i].even);
  }
  // next to nothing, whatever the ratio
  assert_int_equal(yoke__system_worth_calls(0, 90e-6, false), 10);
}

// As a program loads it: a loop of an FMU with these settings and a native unit.
static yoke_system* load(const char* settings, const char* lines, bool has_no_trials) {
  char text[2048];
  const yoke_load_settings how = {.has_no_trials = has_no_trials};
  yoke_system* system = NULL;
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 1, step: 0.01}\n%s"
           "units: {a: {fmu: '%s/heavy2.fmu'%s}, "
           "b: {model: state_space, with: {A: [[-3]], B: [[1]], x0: [1]}}}\n"
           "connections: [a.y -> b.u1, b.y1 -> a.u]\n",
           lines, getenv("YOKE_FMUS"), settings);
  assert_int_equal(yoke_system_parse(text, strlen(text), "test.yaml", &how, &system), YOKE_OK);
  return system;
}

// One trial of the FMU, and the calls that follow from it.
static int64_t try_once(const char* settings, yoke_scenario_trial* trial) {
  yoke_system* system = load(settings, "", false);
  assert_non_null(system->scenario->trials);
  *trial = system->scenario->trials[0];
  const int64_t calls = system->units[0].n_calls;
  assert_int_equal(system->units[1].n_calls, 10);
  // the two meet at every call of the one with fewer
  assert_int_equal(system->links[0].interval * calls, system->macro);
  yoke_system_destroy(&system);
  print_message("%s: one call %.3g us, ten %.3g us, %d calls\n", settings, trial->one_s * 1e6,
                trial->ten_s * 1e6, (int)calls);
  return calls;
}

// A trial that shared its processor measures something else: there are ten chances. ratio 0: one call is not even tried.
static void check_calls(const char* settings, int64_t wanted, double ratio, double within) {
  for (int chance = 0; chance < 10; chance++) {
    yoke_scenario_trial trial;
    const int64_t calls = try_once(settings, &trial);
    const bool is_near =
        ratio == 0 ? trial.one_s == 0 : fabs(trial.ten_s / trial.one_s - ratio) <= within;
    if (calls == wanted && is_near) {
      return;
    }
  }
  fail_msg("%s: never %d calls and a ratio of %g +- %g", settings, (int)wanted, ratio, within);
}

// The work is counted, in turns of a loop: ratios do not depend on the processor.
static void test_calls_by_cost(void** state) {
  (void)state;
  // each call takes the same
  check_calls(", with: {each: 200000}", 2, 10, 3);
  // the time that passes counts
  check_calls(", with: {each: 0, rate: 20e6}", 10, 1, 0.5);
  // a third of a call is its own
  check_calls(", with: {each: 100000, rate: 20e6}", 5, 4, 1.5);
  // next to nothing
  check_calls(", with: {each: 10}", 10, 0, 0);
}

static void test_when_no_calls_are_tried(void** state) {
  (void)state;
  static const struct {
    const char *settings, *lines;
    bool has_no_trials;
    int64_t calls;
  } cases[] = {
      {"", "", true, 10},
      {", calls: 5", "", false, 5},
      {"", "calls: 4\n", false, 4},
      {"", "inputs: start\n", false, 1},
      {", step: 5e-3", "", false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yoke_system* system = load(cases[i].settings, cases[i].lines, cases[i].has_no_trials);
    const yoke_scenario_trial* trials = system->scenario->trials;
    assert_int_equal(system->units[0].n_calls, cases[i].calls);
    check_near(trials == NULL ? 0 : trials[0].ten_s, 0, 0);
    yoke_system_destroy(&system);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_light_ones_stay_together),
      cmocka_unit_test(test_heavy_ones_run_in_parallel),
      cmocka_unit_test(test_when_nothing_is_tried),
      cmocka_unit_test(test_which_calls_are_worth_it),
      cmocka_unit_test(test_calls_by_cost),
      cmocka_unit_test(test_when_no_calls_are_tried),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
