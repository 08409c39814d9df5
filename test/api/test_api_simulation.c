// The life of a simulation: created, started, stepped, run with progress, cancelled, destroyed; wrong arguments answered.
#include <stdatomic.h>

#include "api/api_helper.h"
#include "base/base_os.h"

#define SIZE 4096

static const char ramp[] = "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {r: {model: ramp}}\n";
static const char endless[] = "yoke: 1\ntime: {stop: 1e6, step: 1e-3}\nunits: {r: {model: ramp}}\n";

static void test_life(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(NULL, &told.sink, ramp);
  assert_false(yoke_simulation_is_done(sim));
  check_near(yoke_simulation_time(sim), 0, 0);
  check_ok(yoke_simulation_start(sim));
  check_ok(yoke_simulation_start(sim));
  check_ok(yoke_simulation_step(sim));
  check_near(yoke_simulation_time(sim), 0.1, 1e-15);
  check_near(api_read(sim, "r.y"), 0.1, 1e-15);
  check_ok(yoke_simulation_run_to(sim, 0.45));  // the first step that is not below
  check_near(yoke_simulation_time(sim), 0.5, 1e-15);
  check_ok(yoke_simulation_run_to(sim, 0.3));  // passed already
  check_near(yoke_simulation_time(sim), 0.5, 1e-15);
  check_ok(yoke_simulation_run_to(sim, 0.6));  // 6 * 0.1 is not 0.6
  check_near(yoke_simulation_time(sim), 0.6, 1e-15);
  check_ok(yoke_simulation_declare_discontinuity(sim));
  check_ok(yoke_simulation_run_to(sim, 1e9));
  assert_true(yoke_simulation_is_done(sim));
  check_near(yoke_simulation_time(sim), 1, 1e-15);
  assert_null(yoke_simulation_failure(sim));
  assert_int_equal(told.n, 0);
  assert_int_equal(yoke_simulation_step(sim), YOKE_BAD_ARG);
  check_contains(told.text, "the run is over");
  yoke_run_info info;
  assert_int_equal(yoke_simulation_run(sim, NULL, &info), YOKE_BAD_ARG);
  assert_int_equal(info.status, YOKE_BAD_ARG);
  check_ok(yoke_simulation_run_to(sim, 1));
  api_close(&sim);
  assert_null(sim);
}

static void check_status(const yoke_simulation* sim, const char* status) {
  char* summary = NULL;
  check_ok(yoke_simulation_summary(sim, &summary));
  check_contains(summary, status);
  yoke_text_free(&summary);
}

// the summary says how far the run is; a recording that runs is not ended by one that is refused
static void test_status_and_records(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(NULL, &told.sink, ramp);
  const yoke_record_settings one = {.directory = "simulation_one"};
  const yoke_record_settings other = {.directory = "simulation_other"};
  const yoke_record_settings unknown = {.directory = "simulation_other", .formats = 0xfff0};
  yoke_record_info info;
  check_status(sim, "\"status\": \"not started\"");
  assert_int_equal(yoke_simulation_record(sim, &unknown), YOKE_BAD_ARG);
  check_contains(told.text, "unknown format of results");
  check_ok(yoke_simulation_record(sim, &one));
  check_ok(yoke_simulation_run_to(sim, 0.5));
  check_status(sim, "\"status\": \"not finished\"");
  assert_int_equal(yoke_simulation_run(sim, &(yoke_run_settings){.record = &other}, NULL),
                   YOKE_BAD_ARG);
  check_contains(told.text, "it records already");
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  check_status(sim, "\"status\": \"done\"");
  check_ok(yoke_simulation_record_stop(sim, &info));
  assert_int_equal(info.n_rows, 11);
  api_close(&sim);
}

// a system has one simulation at a time and outlives it
static void test_one_simulation_of_a_system(void** state) {
  (void)state;
  HEAR(told);
  yoke_system* system = NULL;
  check_ok(yoke_system_parse(ramp, strlen(ramp), NULL, NULL, &system));
  yoke_simulation *first = NULL, *second = (yoke_simulation*)&told;
  check_ok(yoke_simulation_create(system, NULL, &first));
  assert_int_equal(yoke_simulation_create(system, &told.sink, &second), YOKE_BAD_ARG);
  assert_null(second);
  check_contains(told.text, "the system has a simulation already");
  yoke_system* other = system;
  yoke_system_destroy(&other);  // refused: the handle stays
  assert_ptr_equal(other, system);
  check_ok(yoke_simulation_run(first, NULL, NULL));
  check_near(api_read(first, "r.y"), 1, 1e-15);
  assert_ptr_equal(yoke_simulation_system(first), system);
  yoke_simulation_destroy(&first);
  yoke_system_destroy(&system);
  assert_null(system);
}

static void test_bad_arguments(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = NULL;
  yoke_run_info info;
  yoke_progress progress;
  char* json = NULL;
  assert_int_equal(yoke_simulation_create(NULL, &told.sink, &sim), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_create(NULL, NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_load(NULL, NULL, &sim), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_load("x.yaml", NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_start(NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_step(NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_run_to(NULL, 1), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_run(NULL, NULL, &info), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_run(NULL, NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_progress(NULL, &progress), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_declare_discontinuity(NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_report(NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_summary(NULL, &json), YOKE_BAD_ARG);
  assert_true(yoke_simulation_is_done(NULL));
  assert_true(isnan(yoke_simulation_time(NULL)));
  assert_null(yoke_simulation_system(NULL));
  assert_null(yoke_simulation_failure(NULL));
  yoke_simulation_cancel(NULL);
  yoke_simulation_destroy(NULL);
  yoke_simulation_destroy(&sim);

  sim = api_open(NULL, &told.sink, ramp);
  assert_int_equal(yoke_simulation_get_progress(sim, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_summary(sim, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_run_to(sim, (double)NAN), YOKE_BAD_ARG);
  check_ok(yoke_simulation_get_progress(sim, &progress));
  check_near(progress.wall_s, 0, 0);
  assert_int_equal(yoke_simulation_declare_discontinuity(sim), YOKE_BAD_ARG);  // not started
  assert_null(yoke_simulation_failure(sim));
  api_close(&sim);
}

// ---- progress and cancel

typedef struct watcher {
  int n_calls, n_most;
  double share;
} watcher;

static bool look(void* to, const yoke_progress* progress) {
  watcher* w = to;
  assert_true(progress->share >= w->share && progress->share <= 1);
  assert_true(progress->time > 0 && progress->t_stop == 1e6 && progress->wall_s > 0);
  w->share = progress->share;
  return ++w->n_calls < w->n_most;
}

static void test_progress_ends_the_run(void** state) {
  (void)state;
  yoke_simulation* sim = api_open(NULL, NULL, endless);
  watcher w = {.n_most = 3};
  yoke_run_info info;
  assert_int_equal(
      yoke_simulation_run(sim, &(yoke_run_settings){.progress = look, .to = &w}, &info),
      YOKE_INTERRUPTED);
  assert_int_equal(w.n_calls, 3);
  assert_int_equal(info.status, YOKE_INTERRUPTED);
  check_near(info.t_reached, yoke_simulation_time(sim), 0);
  // it is not over: it can go on
  const double t = yoke_simulation_time(sim);
  assert_false(yoke_simulation_is_done(sim));
  check_ok(yoke_simulation_step(sim));
  assert_true(yoke_simulation_time(sim) > t);
  api_close(&sim);
}

static void cancel_when_moving(void* to) {
  yoke_simulation* sim = to;
  yoke_progress progress = {0};
  for (int i = 0; i < 20000 && progress.share <= 0; i++) {
    yoke__os_sleep_ns(1000000);
    if (yoke_simulation_get_progress(sim, &progress) < 0) {
      return;
    }
  }
  yoke_simulation_cancel(sim);
}

static void test_cancel_from_another_thread(void** state) {
  (void)state;
  for (int how = 0; how < 2; how++) {
    yoke_simulation* sim = api_open(NULL, NULL, endless);
    yoke_thread* thread = NULL;
    check_ok(yoke__os_thread_start(cancel_when_moving, sim, &thread));
    const yoke_status status =
        how == 0 ? yoke_simulation_run(sim, NULL, NULL) : yoke_simulation_run_to(sim, 1e6);
    yoke__os_thread_join(&thread);
    assert_int_equal(status, YOKE_INTERRUPTED);
    assert_true(yoke_simulation_time(sim) > 0 && yoke_simulation_time(sim) < 1e6);
    check_ok(yoke_simulation_step(sim));
    check_ok(yoke_simulation_run_to(sim, yoke_simulation_time(sim) + 0.01));
    api_close(&sim);
  }
}

// many simulations in one process, stepped by turns and by threads of their own, do not notice each other
static void run_alone(void* to) {
  yoke_simulation* sim = NULL;
  yoke_system* system = NULL;
  double* y = to;
  yoke_handle handle;
  *y = (double)NAN;
  if (yoke_system_parse(ramp, strlen(ramp), "ramp.yaml", NULL, &system) >= 0 &&
      yoke_simulation_create(system, NULL, &sim) >= 0 &&
      yoke_simulation_run(sim, NULL, NULL) >= 0 && yoke_simulation_find(sim, "r.y", &handle) >= 0) {
    yoke_simulation_read(sim, handle, y);
  }
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
}

static void test_several_at_once(void** state) {
  (void)state;
  yoke_thread* threads[4] = {NULL};
  double y[4];
  for (int i = 0; i < 4; i++) {
    check_ok(yoke__os_thread_start(run_alone, &y[i], &threads[i]));
  }
  for (int i = 0; i < 4; i++) {
    yoke__os_thread_join(&threads[i]);
    check_near(y[i], 1, 1e-15);
  }
}

// a failure is data: which unit, when, why; everything can still be read and destroyed
static void test_failure(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(
      NULL, &told.sink,
      "yoke: 1\ntime: {stop: 100, step: 0.1}\nunits:\n  a: {model: integrator, with: {k: 1e200}}\n"
      "  b: {model: integrator, with: {k: 1e200}, start: {x: 1}}\nconnections: [a.y -> b.u, b.y -> "
      "a.u]\n");
  yoke_run_info info;
  const yoke_status status = yoke_simulation_run(sim, NULL, &info);
  assert_int_equal(status, YOKE_DIVERGED);
  assert_int_equal(info.status, YOKE_DIVERGED);
  const yoke_message* failure = yoke_simulation_failure(sim);
  assert_non_null(failure);
  assert_int_equal(failure->status, YOKE_DIVERGED);
  assert_non_null(failure->unit);
  assert_true(failure->time > 0 && failure->time < 1);
  assert_int_equal(told.n_of[YOKE_ERROR], 1);
  assert_true(yoke_simulation_is_done(sim));
  assert_int_equal(yoke_simulation_step(sim), YOKE_DIVERGED);
  double x = 0;
  check_ok(yoke_simulation_read(sim, api_find(sim, "a.k"), &x));
  assert_int_equal(yoke_simulation_write(sim, api_find(sim, "a.k"), 1), YOKE_BAD_ARG);
  char* json = NULL;
  check_ok(yoke_simulation_summary(sim, &json));
  check_contains(json, "yoke-summary");
  yoke_text_free(&json);
  assert_null(json);
  api_close(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_life),
      cmocka_unit_test(test_status_and_records),
      cmocka_unit_test(test_one_simulation_of_a_system),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_progress_ends_the_run),
      cmocka_unit_test(test_cancel_from_another_thread),
      cmocka_unit_test(test_several_at_once),
      cmocka_unit_test(test_failure),
  };
  return cmocka_run_group_tests_name("api_simulation", tests, NULL, NULL);
}
