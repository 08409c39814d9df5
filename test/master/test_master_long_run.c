// Time is exact over long runs: 2e7 steps (FMUs: 2e6), with YOKE_FULL five times as many, with decimated recording end at the
// right step, with every row and no other. YOKE_LONG_STEPS changes the number (make soak: 1e9); sanitizer builds take 1e6.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"
#include "unit/fmu/fmu.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_STEPS     1000000
#define N_STEPS_FMU 1000000
#else
#define N_STEPS     20000000
#define N_STEPS_FMU 2000000
#endif

// all steps of a run with these units, then the rows of its file
static void check_rows(const char* units, int64_t n_default) {
  const char* text = getenv("YOKE_LONG_STEPS");
  const int64_t n_own = getenv("YOKE_FULL") != NULL ? 5 * n_default : n_default;
  const int64_t n = text == NULL ? n_own : strtoll(text, NULL, 10), n_rows = 1000;
  assert_true(n >= n_rows && n % n_rows == 0);
  sim s = sim_open("yoke: 1\ntime: {start: 0, stop: %lld, step: 1e-4}\n%s\nrecord: {every: %lld}\n",
                   (long long)(n / 10000), units, (long long)(n / n_rows));
  char folder[] = "/tmp/yoke_long_XXXXXX";
  assert_non_null(mkdtemp(folder));
  static yoke_loop_info info;
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  check_ok(sim_record(&s, &settings, &info));
  print_message("%lld steps, %.1f ns each\n", (long long)info.n_steps,
                info.wall_s * 1e9 / (double)n);
  assert_int_equal(info.n_steps, n);
  const int64_t stop = n / 10000, every = n / n_rows;
  assert_true(info.t_reached == (double)stop);
  assert_int_equal(info.record.n_rows, n_rows + 1);
  // what the FMUs were told last
  for (size_t i = 0; i < s.system->n_units; i++) {
    if (s.system->units[i].source->kind == YOKE_KIND_FMU) {
      const fmu* f = s.system->units[i].unit.self;
      assert_true(f->t_end == (double)(n - 1) / 1e4 + 1e-4);
    }
  }
  sim_close(&s);

  char path[128], *bytes = NULL;

  YOKE_CATCH(err);
  size_t n_bytes = 0;
  snprintf(path, sizeof path, "%s/results.csv", folder);
  check_ok(yoke__os_read_file(path, 1 << 24, &bytes, &n_bytes, &err.sink));
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

static void test_no_row_lost_or_doubled(void** state) {
  (void)state;
  check_rows("units: {a: {model: ramp, with: {slope: 1}}}", N_STEPS);
}

static void test_fmus_too(void** state) {
  (void)state;
  char units[1024];
  const char* folder = getenv("YOKE_FMUS");
  assert_non_null(folder);
  snprintf(units, sizeof units,
           "threads: 1\nunits: {a: {fmu: '%s/trivial2.fmu'}, b: {fmu: '%s/trivial3.fmu'}}\n"
           "connections: [a.y -> b.u, b.y -> a.u]",
           folder, folder);
  check_rows(units, N_STEPS_FMU);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_row_lost_or_doubled),
                                     cmocka_unit_test(test_fmus_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
