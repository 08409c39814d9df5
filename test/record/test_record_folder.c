// One run per folder at a time, and nothing of an earlier run left beside the new one's files.
#define _POSIX_C_SOURCE 200809L

#include "record/record_fixture.h"
#include "support/heard.h"

static void touch(const char* file) {
  char path[FIXTURE_PATH_SIZE];
  FILE* f = fopen(fixture_path(path, folder, file), "w");
  assert_non_null(f);
  fclose(f);
}

static void test_one_run_at_a_time(void** state) {
  (void)state;
  HEAR(err);
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  yoke_record *first = NULL, *second = NULL;
  check_ok(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &first, &err.sink));
  assert_int_equal(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &second, &err.sink),
      YOKE_IO);
  assert_null(second);
  check_contains(err.text, "another run is writing its results to this folder");
  check_contains(err.text, folder);
  check_ok(yoke__record_close(&first, NULL, &err.sink));

  // free again
  check_ok(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &second, &err.sink));
  check_ok(yoke__record_close(&second, NULL, &err.sink));
}

static void test_old_files_go(void** state) {
  (void)state;
  HEAR(err);
  touch("summary.json");
  touch("results.h5");
  touch("results.mat");
  touch("notes.txt");
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  yoke_record* record = NULL;
  check_ok(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink));
  assert_true(fixture_exists(folder, "results.h5"));  // until the new results are there
  check_ok(yoke__record_close(&record, NULL, &err.sink));
  assert_true(fixture_exists(folder, "results.csv"));
  assert_false(fixture_exists(folder, "results.h5"));
  assert_false(fixture_exists(folder, "results.mat"));
  assert_false(fixture_exists(folder, "summary.json"));
  assert_true(fixture_exists(folder, "notes.txt"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_one_run_at_a_time, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_old_files_go, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
