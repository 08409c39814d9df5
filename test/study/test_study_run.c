// Runs and batches: how they end, that their numbers do not depend on their number, and that failed ones have none.
#include "study/study_fixture.h"

static const char oscillator[] =
    "yoke: 1\ninputs: start\ncalls: 1\n"
    "time: {stop: 2, step: 1e-3}\n"
    "threads: 2\n"
    "units:\n"
    "  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
    "connections:\n"
    "  - right.x -> left.x_other\n"
    "bonds:\n"
    "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n";

// x' = k x: with k = 1e100 it leaves the numbers within a few steps
static const char runaway[] = "yoke: 1\ninputs: start\ncalls: 1\n"
                              "time: {stop: 1, step: 1e-2}\n"
                              "units:\n"
                              "  i: {model: integrator, start: {x: 1}}\n"
                              "  g: {model: gain, with: {k: -1}}\n"
                              "connections: [g.y -> i.u, i.y -> g.u]\n";

// TE-12: every failure has its status and reason, and no number
static void test_failed_points(void** state) {
  (void)state;
  static const char* const vary[] = {"units.g.with.k=-1,1e100,1,two", NULL};
  static const char* const measures[] = {"end:i.y", "max:i.y", "steps", NULL};
  static const char* const limits[] = {"max:i.y<=2", NULL};
  static const yoke_run_status want[] = {YOKE_RUN_DONE, YOKE_RUN_LIMIT, YOKE_RUN_LIMIT,
                                         YOKE_RUN_REFUSED};
  static const char* const reasons[] = {"", "limit max:i.y<=2", "limit max:i.y<=2",
                                        "--vary units.g"};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, runaway, vary, measures, limits);
  for (size_t i = 0; i < 4; i++) {
    const yoke_study_result result = fixture_run(&f, i, 0, v);
    if (result.status != want[i]) {
      fail_msg("point %zu is %s (%s), expected %s", i, yoke__run_status_names[result.status],
               result.reason, yoke__run_status_names[want[i]]);
    }
    check_contains(result.reason, reasons[i]);
    for (size_t k = 0; k < 3; k++) {
      assert_true(isnan(v[k]) == (want[i] != YOKE_RUN_DONE));
    }
  }
  // exp grows past 2 at ln 2 = 0.693: with lagged Euler a few steps later, long before the end
  const yoke_study_result early = fixture_run(&f, 2, 0, v);
  check_between(early.t, 0.69, 0.75);
  f.plan.n_limits = 0;
  const yoke_study_result lost = fixture_run(&f, 1, 0, v);
  assert_int_equal(lost.status, YOKE_RUN_DIVERGED);
  check_contains(lost.reason, "became");
  assert_true(isnan(v[0]) && lost.t < 1);
  fixture_close(&f);
}

static void test_limit_at_the_end(void** state) {
  (void)state;
  static const char* const vary[] = {"units.g.with.k=-1", NULL};
  static const char* const measures[] = {"end:i.y", NULL};
  static const char* const limits[] = {"end:i.y>=0.5", NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, runaway, vary, measures, limits);
  const yoke_study_result result = fixture_run(&f, 0, 0, v);
  assert_int_equal(result.status, YOKE_RUN_LIMIT);
  check_contains(result.reason, "at t = 1 s");
  fixture_close(&f);
}

// the system's own stop limit ends the run and says which bond
static void test_quality_stop(void** state) {
  (void)state;
  static const char* const vary[] = {"time.step=1e-3,2e-2", NULL};
  static const char* const measures[] = {"ter", NULL};
  static const char* const sets[] = {"quality.stop.rter=0.2", "quality.period=0.1"};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, oscillator, vary, measures, NULL);
  f.plan.sets = sets;
  f.plan.n_sets = 2;
  assert_int_equal(fixture_run(&f, 0, 0, v).status, YOKE_RUN_DONE);
  const yoke_study_result result = fixture_run(&f, 1, 0, v);
  if (result.status != YOKE_RUN_QUALITY) {
    fail_msg("%s: %s", yoke__run_status_names[result.status], result.reason);
  }
  check_contains(result.reason, "spring");
  assert_true(isnan(v[0]) && result.t < 2);
  fixture_close(&f);
}

// the point behind the grid is the current setting; repetitions set the seed
static void test_current_and_seed(void** state) {
  (void)state;
  static const char noise[] = "yoke: 1\ninputs: start\ncalls: 1\n"
                              "time: {stop: 1, step: 1e-2}\n"
                              "units:\n"
                              "  c: {model: constant, with: {value: 3}}\n"
                              "  n: {model: channel, with: {noise: 1, seed: 9}}\n"
                              "connections: [c.y -> n.u]\n";
  static const char* const vary[] = {"units.c.with.value=1,2", NULL};
  static const char* const measures[] = {"end:c.y", "end:n.y", NULL};
  static const char* const current[] = {"units.c.with.value=5"};
  fixture f;
  double first[FIXTURE_MAX], second[FIXTURE_MAX];
  fixture_open(&f, noise, vary, measures, NULL);
  assert_int_equal(fixture_run(&f, 2, 0, first).status, YOKE_RUN_DONE);
  check_near(first[0], 3, 0);  // the file as it is
  f.plan.current = current;
  f.plan.n_current = 1;
  f.plan.seed = "units.n.with.seed";
  assert_int_equal(fixture_run(&f, 2, 0, second).status, YOKE_RUN_DONE);
  check_near(second[0], 5, 0);
  check_near(second[1] - 5, first[1] - 3, 1e-12);  // repeat 0: the seed of the file
  assert_int_equal(fixture_run(&f, 2, 1, first).status, YOKE_RUN_DONE);
  assert_int_equal(fixture_run(&f, 2, 2, second).status, YOKE_RUN_DONE);
  assert_true(first[1] != second[1]);
  assert_int_equal(fixture_run(&f, 2, 1, second).status, YOKE_RUN_DONE);
  check_near(second[1], first[1], 0);
  fixture_close(&f);
}

static void test_cancelled(void** state) {
  (void)state;
  static const char* const vary[] = {"time.step=1e-3", NULL};
  static const char* const measures[] = {"end:left.x", NULL};
  fixture f;
  double v[FIXTURE_MAX];
  atomic_bool is_cancelled = true;
  yoke_study_result result = {.values = v};
  fixture_open(&f, oscillator, vary, measures, NULL);
  assert_int_equal(yoke__study_run(&f.plan, 0, 0, &is_cancelled, &result), YOKE_INTERRUPTED);
  fixture_close(&f);
}

// ---- batches

#define N_POINTS 12

typedef struct batch_log {
  size_t n, order[N_POINTS];
  size_t fail_at;  // finished says no at this one; 0: never
} batch_log;

static yoke_status note_end(void* context, const yoke_study_case* run) {
  batch_log* log = context;
  log->order[log->n++] = run->point;
  return log->n == log->fail_at ? YOKE_IO : YOKE_OK;
}

static bool says_stop(void) {
  return true;
}

static yoke_status run_batch(const fixture* f, int n_jobs, batch_log* log,
                             yoke_study_result results[N_POINTS],
                             double values[],  // NOLINT(readability-non-const-parameter): written
                             bool (*is_interrupted)(void)) {
  yoke_study_case cases[N_POINTS];
  for (size_t i = 0; i < N_POINTS; i++) {
    results[i] = (yoke_study_result){.values = values + i * f->plan.n_measures};
    cases[i] = (yoke_study_case){i, 0, &results[i]};
  }
  const yoke_batch_calls calls = {
      .finished = note_end, .is_interrupted = is_interrupted, .context = log};
  return yoke__study_batch(&f->plan, cases, N_POINTS, n_jobs, &calls);
}

// same bits with any number of threads, every point reported once
static void test_number_of_jobs(void** state) {
  (void)state;
  static const char* const vary[] = {"time.step=1e-3:4e-3:4", "units.left.with.kc=50,100,150",
                                     NULL};
  static const char* const measures[] = {"end:left.x", "ter", "rms:right.v", NULL};
  fixture f;
  double values[4][N_POINTS * 3];
  fixture_open(&f, oscillator, vary, measures, NULL);
  assert_int_equal(f.grid.n_points, N_POINTS);
  for (int jobs = 1; jobs <= 4; jobs++) {
    yoke_study_result results[N_POINTS];
    batch_log log = {0};
    unsigned seen = 0;
    check_ok(run_batch(&f, jobs, &log, results, values[jobs - 1], NULL));
    assert_int_equal(log.n, N_POINTS);
    for (size_t i = 0; i < N_POINTS; i++) {
      assert_int_equal(results[i].status, YOKE_RUN_DONE);
      seen |= 1u << log.order[i];
    }
    assert_int_equal(seen, (1u << N_POINTS) - 1);
    assert_memory_equal(values[jobs - 1], values[0], sizeof values[0]);
  }
  fixture_close(&f);
}

static void test_batch_ends_early(void** state) {
  (void)state;
  static const char* const vary[] = {"time.step=1e-3:4e-3:4", "units.left.with.kc=50,100,150",
                                     NULL};
  static const char* const measures[] = {"end:left.x", NULL};
  fixture f;
  double values[N_POINTS];
  yoke_study_result results[N_POINTS];
  fixture_open(&f, oscillator, vary, measures, NULL);
  batch_log log = {.fail_at = 3};
  assert_int_equal(run_batch(&f, 2, &log, results, values, NULL), YOKE_IO);
  assert_int_equal(log.n, 3);  // nothing is reported behind a failure
  log = (batch_log){0};
  assert_int_equal(run_batch(&f, 2, &log, results, values, says_stop), YOKE_INTERRUPTED);
  assert_true(log.n < N_POINTS);
  // what was not reported is as if it had never been run
  for (size_t i = 0; i < N_POINTS; i++) {
    bool is_reported = false;
    for (size_t k = 0; k < log.n; k++) {
      is_reported = is_reported || log.order[k] == i;
    }
    assert_true(is_reported == (results[i].status != YOKE_RUN_PENDING));
  }
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failed_points),    cmocka_unit_test(test_limit_at_the_end),
      cmocka_unit_test(test_quality_stop),     cmocka_unit_test(test_current_and_seed),
      cmocka_unit_test(test_cancelled),        cmocka_unit_test(test_number_of_jobs),
      cmocka_unit_test(test_batch_ends_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
