// Out of memory at every single allocation of the page: a message, no half page, nothing left behind.
#define _POSIX_C_SOURCE 200809L

#include "base/base_message.h"
#include "record/record_fixture.h"
#include "report/report_parts.h"
#include "support/failing_heap.h"
#include "yoke/yoke.h"

#if HAS_OWN_MALLOC

static char reference[FIXTURE_PATH_SIZE];
static yoke_report_settings settings;

// Writes with a heap that fails at call n; true if it was never asked that often.
static bool write_with_failure(long n, bool fails_onwards) {
  YOKE_CATCH(err);
  heap = (failing_heap){.is_on = true, .fails_at = n, .fails_onwards = fails_onwards};
  const yoke_status status = yoke__report_make(&settings, &err.sink);
  heap.is_on = false;
  const bool is_done = heap.n_requests <= n;
  if (heap.n_blocks != 0) {
    fail_msg("call %ld failed: %ld blocks are left over", n, heap.n_blocks);
  }
  if (is_done || status >= 0) {
    check_ok(status);
    assert_true(fixture_exists(folder, "report.html"));
    char path[FIXTURE_PATH_SIZE];
    unlink(fixture_path(path, folder, "report.html"));
  } else {
    // opening a file takes memory too
    if (status != YOKE_NO_MEMORY && status != YOKE_IO) {
      fail_msg("call %ld failed: status %d, %s", n, status, err.text);
    }
    assert_true(status == YOKE_NO_MEMORY || err.text[0] != '\0');
    assert_false(fixture_exists(folder, "report.html"));
  }
  assert_false(fixture_exists(folder, "report.html.part"));
  return is_done;
}

static void refuse_each(void) {
  for (int mode = 0; mode < 2; mode++) {
    long n = 0;
    while (!write_with_failure(n, mode == 1)) {
      n++;
    }
    print_message("%ld allocations refused in turn\n", n);
    assert_true(n > 20);
  }
}

static void every_allocation_may_fail(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\nname: two masses\ntime: {stop: 0.02, step: 1e-3}\nunits:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
      "connections: [right.x -> left.x_other]\n"
      "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}\n";
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  check_ok(yoke_system_parse(text, strlen(text), "two.yaml", NULL, &system));
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  const yoke_record_settings record = {.directory = folder, .formats = YOKE_RECORD_CSV};
  check_ok(yoke_simulation_run(simulation, &(yoke_run_settings){.record = &record}, NULL));
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  // a page of the run alone, then one with error bands, a reference and a tab
  settings = (yoke_report_settings){.directory = folder};
  refuse_each();
  char path[FIXTURE_PATH_SIZE];
  json_t* summary = json_load_file(fixture_path(path, folder, "summary.json"), 0, NULL);
  json_t* trust = json_pack("{s:s, s:[{s:s, s:{s:[fff], s:[fff]}}]}", "verdict", "wrong", "signals",
                            "name", "left.x", "course", "t", 0., 1., 2., "band", 1., 2., 3.);
  assert_int_equal(json_object_set_new(summary, "trust", trust), 0);
  assert_int_equal(json_dump_file(summary, path, 0), 0);
  json_decref(summary);
  FILE* to = fopen(fixture_path(reference, folder, "other.csv"), "w");
  assert_non_null(to);
  fputs("time,left.x,q\n0,1,1\n0.01,,2\n0.02,2,3\n", to);
  fclose(to);
  settings.reference = reference;
  settings.before = folder;
  refuse_each();
}

#else

static void test_skipped(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if HAS_OWN_MALLOC
    cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_folder, remove_folder),
#else
    cmocka_unit_test(test_skipped),
#endif
  };
  return cmocka_run_group_tests_name("report_memory", tests, NULL, NULL);
}
