// Time is exact over long runs: 1e8 steps with decimated recording end at the right step, with every row and no other.
// YOKE_LONG_STEPS changes the number (make soak: 1e9); sanitizer builds take 1e6.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "base/base_os.h"
#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_STEPS_DEFAULT "1000000"
#else
#define N_STEPS_DEFAULT "100000000"
#endif

static void test_no_row_lost_or_doubled(void** state) {
  (void)state;
  const char* text = getenv("YOKE_LONG_STEPS");
  text = text == NULL ? N_STEPS_DEFAULT : text;
  const int64_t n = strtoll(text, NULL, 10), n_rows = 1000;
  assert_true(n >= n_rows && n % n_rows == 0);
  sim s = sim_open("yoke: 1\ntime: {start: 0, stop: %lld, step: 1e-4}\nunits: {a: {model: ramp, "
                   "with: {slope: 1}}}\n"
                   "record: {every: %lld}\n",
                   (long long)(n / 10000), (long long)(n / n_rows));
  char folder[] = "/tmp/yoke_long_XXXXXX";
  assert_non_null(mkdtemp(folder));
  static yoke_run_info info;
  const yoke_run_settings settings = {.record = {.directory = folder, .formats = YOKE_RECORD_CSV}};
  check_ok(yoke__master_run(s.system, s.state, &settings, &info));
  print_message("%lld steps, %.1f ns each\n", (long long)info.n_steps,
                info.wall_s * 1e9 / (double)n);
  assert_int_equal(info.n_steps, n);
  const int64_t stop = n / 10000, every = n / n_rows;
  assert_true(info.t_reached == (double)stop);
  assert_int_equal(info.record.n_rows, n_rows + 1);
  sim_close(&s);

  char path[128], err[256] = "", *bytes = NULL;
  size_t n_bytes = 0;
  snprintf(path, sizeof path, "%s/results.csv", folder);
  check_ok(yoke__os_read_file(path, 1 << 24, &bytes, &n_bytes, err, sizeof err));
  const char* line = strchr(bytes, '\n') + 1;
  int64_t k = 0;
  for (; *line != '\0'; k++) {
    char* end = NULL;
    const double t = strtod(line, &end);
    assert_true(t == (double)(k * every) / 1e4);  // bitwise: one correctly rounded quotient
    assert_true(*end == ',');
    line = strchr(line, '\n') + 1;
  }
  assert_int_equal(k, n_rows + 1);
  free(bytes);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_row_lost_or_doubled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
