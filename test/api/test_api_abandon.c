// A run that does not come back is ended by another thread: rows, final names, summary. What was abandoned is not freed, so
// each case has a process of its own.
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api_helper.h"
#include "base/base_os.h"

// the writer of an abandoned run is not joined, as nothing of it is freed; NOLINTNEXTLINE(bugprone-reserved-identifier)
__attribute__((visibility("default"))) const char* __tsan_default_options(void);
const char* __tsan_default_options(void) {  // NOLINT(bugprone-reserved-identifier)
  return "report_thread_leaks=0";
}

static atomic_bool is_stuck, is_released;

// Counts its steps; the one at t = 0.5 s comes back when it is released.
static yoke_status stick(void* self, double t, double h, yoke_step_result* result) {
  (void)h, (void)result;
  plant* p = self;
  p->x += 1;
  if (t > 0.5 - 1e-9 && !atomic_load(&is_released)) {
    atomic_store(&is_stuck, true);
    while (!atomic_load(&is_released)) {
      yoke__os_sleep_ns(1000000);
    }
  }
  return YOKE_OK;
}

static const yoke_unit_ops sticky = {YOKE_UNIT_HEAD, .name = "sticky", .info = &plant_info,
                                     .step = stick, .refresh = plant_refresh};

typedef struct job {
  yoke_simulation* simulation;
  yoke_run_info info;
  atomic_bool is_back;
} job;

static void run(void* context) {
  job* j = context;
  const yoke_record_settings record = {.directory = "abandoned"};
  const yoke_run_settings settings = {.record = &record, .trust = YOKE_TRUST_NONE};
  yoke_simulation_run(j->simulation, &settings, &j->info);
  atomic_store(&j->is_back, true);
}

static size_t count_lines(const char* path) {
  char* bytes = NULL;
  size_t n = 0, lines = 0;
  check_ok(yoke__os_read_file(path, 1 << 20, &bytes, &n, NULL));
  for (size_t i = 0; i < n; i++) {
    lines += bytes[i] == '\n';
  }
  free(bytes);
  return lines;
}

static void check_summary(const char* what) {
  char* bytes = NULL;
  size_t n = 0;
  check_ok(yoke__os_read_file("abandoned/summary.json", 1 << 20, &bytes, &n, NULL));
  check_contains(bytes, what);
  free(bytes);
}

static void abandon(yoke_status status, const char* word) {
  yoke_registry* registry = NULL;
  check_ok(yoke_registry_create(&registry));
  check_ok(yoke_registry_add_unit(registry, &sticky, NULL));
  HEAR(told);
  static job j;
  j.simulation = api_open(registry, &told.sink,
                          "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {s: {model: sticky}}\n");
  const yoke_message nothing = {.severity = YOKE_ERROR, .status = YOKE_OK, .text = "none"};
  assert_int_equal(yoke_simulation_abandon(NULL, &nothing, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_abandon(j.simulation, &nothing, NULL), YOKE_BAD_ARG);
  yoke_thread* thread = NULL;
  check_ok(yoke__os_thread_start(run, &j, &thread));
  while (!atomic_load(&is_stuck)) {
    yoke__os_sleep_ns(1000000);
  }
  const yoke_message why = {
      .severity = YOKE_ERROR, .status = status, .unit = "s", .time = 0.5, .text = "is stuck"};
  check_ok(yoke_simulation_abandon(j.simulation, &why, &told.sink));
  assert_int_equal(count_lines("abandoned/results.csv"), 7);  // header, start, five steps
  assert_false(yoke__os_is_file("abandoned/results.csv.part"));
  check_summary(word);
  check_summary("unit 's' at t = 0.5 s: is stuck");
  assert_false(atomic_load(&j.is_back));
  assert_int_equal(yoke_simulation_abandon(j.simulation, &why, NULL), YOKE_BUSY);

  // it comes back all the same, and leaves everything as it is
  atomic_store(&is_released, true);
  yoke__os_thread_join(&thread);
  assert_int_equal(j.info.status, YOKE_INTERRUPTED);
  assert_int_equal(count_lines("abandoned/results.csv"), 7);
  check_summary(word);
}

static void in_child(yoke_status status, const char* word) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    abandon(status, word);
    _exit(0);
  }
  int end = 0;
  assert_int_equal(waitpid(child, &end, 0), child);
  assert_true(WIFEXITED(end));
  assert_int_equal(WEXITSTATUS(end), 0);
}

static void test_failed(void** state) {
  (void)state;
  in_child(YOKE_UNIT_FAILED, "\"status\": \"failed\"");
}

static void test_interrupted(void** state) {
  (void)state;
  in_child(YOKE_INTERRUPTED, "\"status\": \"interrupted\"");
}

// A run that has ended keeps its results; an interrupt after it changes nothing.
static void test_over(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(
      NULL, &told.sink, "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {r: {model: ramp}}\n");
  const yoke_record_settings record = {.directory = "abandoned"};
  const yoke_run_settings settings = {.record = &record, .trust = YOKE_TRUST_NONE};
  check_ok(yoke_simulation_run(sim, &settings, NULL));
  const yoke_message why = {
      .severity = YOKE_ERROR, .status = YOKE_INTERRUPTED, .time = (double)NAN, .text = "late"};
  check_ok(yoke_simulation_abandon(sim, &why, NULL));
  check_summary("\"status\": \"done\"");
  api_close(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failed),
      cmocka_unit_test(test_interrupted),
      cmocka_unit_test(test_over),
  };
  return cmocka_run_group_tests_name("api_abandon", tests, NULL, NULL);
}
