// Comparing and metering recorded results as jobs of the library: which signals are found, what is told of those that are
// not, limits, components of vectors, and the running values in a file.
#include "study/study_compare.h"

#include <string.h>
#include <unistd.h>

#include "base/base_os.h"
#include "study/study_meter.h"
#include "support/check.h"
#include "support/heard.h"

#define FOLDER "test_study_compare.tmp"

static void write_file(const char* name, const char* text) {
  check_ok(yoke__os_write_into(FOLDER, name, text, strlen(text), NULL));
}

static int write_files(void** state) {
  (void)state;
  // differences of a.x: 3 and -4 on a range of 10
  write_file("results.csv", "time,a.x,a.y,b.only,note\n0,3,1,7,hi\n1,6,1,7,ho\n");
  write_file("reference.csv", "time,a.x,a.y,c.z,note\n0,0,1,0,hi\n0.5,5,1,0,hi\n1,10,1,0,hu\n");
  write_file("later.csv", "time,a.x\n5,1\n6,2\n");
  write_file("twice.csv", "time,a,a\n0,1,2\n");
  write_file("bond.csv", "time,e,f,v[0],v[1],w[0],w[1]\n0,1,2,1,2,3,4\n0.5,2,1,1,2,3,4\n1,1,1,1,2,"
                         "3,4\n");
  return 0;
}

static int remove_files(void** state) {
  (void)state;
  static const char* const files[] = {"results.csv", "reference.csv",
                                      "later.csv",   "twice.csv",
                                      "bond.csv",    ("new/folder/" YOKE_METER_TABLE)};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[256];
    yoke__os_path_join(FOLDER, files[i], path, sizeof path);
    yoke__os_file_remove(path);
  }
  rmdir(FOLDER "/new/folder");
  rmdir(FOLDER "/new");
  return rmdir(FOLDER);
}

static yoke_status compare(yoke_compare_settings settings, yoke_comparison* out, heard* told) {
  static yoke_compare_settings kept;
  kept = settings;
  kept.has_signals = true;
  kept.paths[0] = FOLDER;
  kept.paths[1] = settings.paths[1] == NULL ? FOLDER "/reference.csv" : settings.paths[1];
  return yoke__compare_open(&kept, out, &told->sink);
}

static void test_common_signals(void** state) {
  (void)state;
  HEAR(told);
  yoke_comparison c;
  check_ok(compare((yoke_compare_settings){0}, &c, &told));
  assert_int_equal(c.n_signals, 2);  // neither text nor what one of them lacks
  assert_string_equal(c.signals[0].name, "a.x");
  assert_true(c.signals[0].is_measured);
  check_near(c.signals[0].deviation.rmse, sqrt(12.5), 1e-15);
  check_near(c.signals[0].deviation.nrmse, sqrt(12.5) / 10, 1e-15);
  check_near(c.signals[0].deviation.end, -4, 0);
  assert_int_equal(told.n, 0);
  yoke__compare_free(&c);
}

static void test_wanted_signals(void** state) {
  (void)state;
  static const char *const both[] = {"a.*", "a.x"}, *const wrong[] = {"a.z", "note", "q*", "c.z"};
  HEAR(told);
  yoke_comparison c;
  check_ok(compare((yoke_compare_settings){.signals = both, .n_signals = 2}, &c, &told));
  assert_int_equal(c.n_signals, 2);  // once each
  yoke__compare_free(&c);
  assert_int_equal(compare((yoke_compare_settings){.signals = wrong, .n_signals = 4}, &c, &told),
                   YOKE_BAD_INPUT);
  assert_int_equal(told.n, 4);  // each has its reason
  check_contains(told.text, "no signal 'a.z' in " FOLDER "; did you mean 'a.");
  check_contains(told.text, "signal 'note' of " FOLDER " is text");
  check_contains(told.text, "no common signal matches 'q*'");
  check_contains(told.text, "no signal 'c.z' in " FOLDER);
  yoke__compare_free(&c);
}

static void test_limits_and_failures(void** state) {
  (void)state;
  HEAR(told);
  yoke_comparison c;
  yoke_compare_settings settings = {.limited = 1u << YOKE_MEASURE_MAX | 1u << YOKE_MEASURE_END};
  settings.limits[YOKE_MEASURE_MAX] = 4;
  settings.limits[YOKE_MEASURE_END] = 3.5;
  check_ok(compare(settings, &c, &told));
  assert_int_equal(c.n_exceeded, 1);  // a limit that is met exactly holds
  assert_true(yoke__compare_is_exceeded(&c, &c.signals[0], YOKE_MEASURE_END));
  assert_false(yoke__compare_is_exceeded(&c, &c.signals[0], YOKE_MEASURE_MAX));
  check_contains(told.text, "a.x: end 4 exceeds the limit 3.5");
  yoke__compare_free(&c);

  // a signal that cannot be measured is told, and counts as neither good nor bad
  heard_clear(&told);
  settings.paths[1] = FOLDER "/later.csv";
  check_ok(compare(settings, &c, &told));
  assert_int_equal(c.n_failed, 1);
  assert_int_equal(c.n_exceeded, 0);
  check_contains(told.text, "a.x: the time ranges do not overlap");
  yoke__compare_free(&c);

  settings.paths[1] = FOLDER "/twice.csv";
  assert_int_equal(compare(settings, &c, &told), YOKE_BAD_INPUT);
  check_contains(told.text, "two columns are named 'a'");
  yoke__compare_free(&c);
}

static yoke_status open_meter(const char* e_in, const char* f_out, const char* f_in,
                              const char* e_out, yoke_meter* out, heard* told) {
  static yoke_meter_settings settings;
  settings = (yoke_meter_settings){.path = FOLDER "/bond.csv", .replay = yoke__replay_defaults};
  settings.signals[YOKE_E_IN] = e_in;
  settings.signals[YOKE_F_OUT] = f_out;
  settings.signals[YOKE_F_IN] = f_in;
  settings.signals[YOKE_E_OUT] = e_out;
  return yoke__meter_open(&settings, out, &told->sink);
}

static void test_meter(void** state) {
  (void)state;
  HEAR(told);
  yoke_meter m;
  // |e f - f f| held: |1*2 - 2*2| and |2*1 - 1*1| over half a second each
  check_ok(open_meter("e", "f", "f", "f", &m, &told));
  check_ok(yoke__meter_run(&m, FOLDER "/new/folder", &told.sink));
  check_near(m.replay.values.ter, 1.5, 1e-15);
  assert_int_equal(m.replay.n_intervals, 2);
  yoke__meter_free(&m);
  char* bytes = NULL;
  size_t n = 0;
  check_ok(yoke__os_read_file(FOLDER "/new/folder/" YOKE_METER_TABLE, 1 << 20, &bytes, &n, NULL));
  assert_int_equal(strncmp(bytes, "time,ter,dP,dE,", 15), 0);
  size_t n_lines = 0;
  for (const char* at = bytes; *at != '\0'; at++) {
    n_lines += *at == '\n';
  }
  assert_int_equal(n_lines, 4);  // titles, the start, two intervals
  free(bytes);

  // a vector by its name or by its elements
  check_ok(open_meter("v", "w[0],w[1]", "v[0],v[1]", "w", &m, &told));
  assert_int_equal(m.bond.n, 2);
  check_ok(yoke__meter_run(&m, NULL, &told.sink));
  check_near(m.replay.values.ter, 0, 0);
  yoke__meter_free(&m);
}

static void test_meter_refusals(void** state) {
  (void)state;
  HEAR(told);
  yoke_meter m;
  assert_int_equal(open_meter("e", NULL, "f", "f", &m, &told), YOKE_BAD_INPUT);
  check_contains(told.text, "--flow-out is missing; give all four signals or --bond NAME");
  yoke__meter_free(&m);
  assert_int_equal(open_meter("v", "f", "v", "w", &m, &told), YOKE_BAD_INPUT);
  check_contains(told.text, "--effort-in has 2 components, --flow-out has 1");
  yoke__meter_free(&m);
  assert_int_equal(open_meter("e", "ff", "f", "f", &m, &told), YOKE_BAD_INPUT);
  check_contains(told.text, "no signal 'ff' in " FOLDER "/bond.csv; did you mean 'f'?");
  yoke__meter_free(&m);

  // what cannot be written does not change what is measured
  check_ok(open_meter("e", "f", "f", "f", &m, &told));
  assert_int_equal(yoke__meter_run(&m, FOLDER "/bond.csv", &told.sink), YOKE_IO);
  check_contains(told.text, "a file of that name is in the way");
  check_near(m.replay.values.ter, 1.5, 1e-15);
  yoke__meter_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_common_signals),      cmocka_unit_test(test_wanted_signals),
      cmocka_unit_test(test_limits_and_failures), cmocka_unit_test(test_meter),
      cmocka_unit_test(test_meter_refusals),
  };
  return cmocka_run_group_tests(tests, write_files, remove_files);
}
