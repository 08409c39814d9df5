// summary.json through a temporary name; failures leave the old file.
#define _POSIX_C_SOURCE 200809L

#include "base/base_message.h"
#include "record/record_summary.h"

#include "record/record_fixture.h"

static void write_summary(int64_t steps, yoke_status want) {
  YOKE_CATCH(err);
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_integer(&json, "steps", steps);
  yoke__json_end_object(&json);
  assert_int_equal(yoke__record_summary_write(folder, &json, &err.sink), want);
  if (want < 0) {
    check_contains(err.text, "summary.json");
  }
  yoke__json_free(&json);
}

static void check_summary(const char* want) {
  size_t n = 0;
  char* text = fixture_read(folder, "summary.json", &n);
  assert_string_equal(text, want);
  free(text);
  assert_false(fixture_exists(folder, "summary.json.part"));
}

static void new_file_replaces_the_old(void** state) {
  (void)state;
  write_summary(1, YOKE_OK);
  check_summary("{\n  \"steps\": 1\n}\n");
  write_summary(2, YOKE_OK);
  check_summary("{\n  \"steps\": 2\n}\n");
}

static void failure_keeps_the_old(void** state) {
  (void)state;
  write_summary(1, YOKE_OK);
  char path[FIXTURE_PATH_SIZE];
  assert_int_equal(symlink("/dev/full", fixture_path(path, folder, "summary.json.part")), 0);
  write_summary(2, YOKE_SHORTAGE);
  check_summary("{\n  \"steps\": 1\n}\n");

  // JSON that is none is not written either
  YOKE_CATCH(err);
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  assert_int_equal(yoke__record_summary_write(folder, &json, &err.sink), YOKE_BAD_ARG);
  yoke__json_free(&json);
  check_summary("{\n  \"steps\": 1\n}\n");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(new_file_replaces_the_old),
      IN_FOLDER(failure_keeps_the_old),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
