// The cost of FMUs decides about threads: light ones stay together, heavy ones get a thread each (where there is a second
// processor), and the numbers are the same.
#include "base/base_os.h"
#include "support/check.h"
#include "support/sim.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_light_ones_stay_together),
      cmocka_unit_test(test_heavy_ones_run_in_parallel),
      cmocka_unit_test(test_when_nothing_is_tried),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
