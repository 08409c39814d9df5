// The running judgement: a right model keeps its good name in runs of any length, a wrong one loses it, with the reason.
#include "base/base_os.h"
#include "estimate/estimate_innovation.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"

// ---- on noise of known properties

typedef struct fault {  // of sensor 1 from sample `from` until `to`
  size_t from, to;
  double mean, scale, lag;
} fault;

// n samples of `n_sensors` sensors; returns the verdict at the end, and whether it was inconsistent at any time.
static yoke_twin_verdict judge(yoke_consistency* c, size_t n, uint64_t seed, const fault* f,
                               bool* was_inconsistent) {
  normal_noise noise = {.seed = seed};
  double e[8], before = 0;
  *was_inconsistent = false;
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < c->n_sensors; i++) {
      e[i] = noise_next(&noise);
    }
    if (f != NULL && k >= f->from && k < f->to) {
      before = e[1] = f->lag * before + sqrt(1 - f->lag * f->lag) * e[1];
      e[1] = f->mean + f->scale * e[1];
    }
    const uint64_t n_bad = c->n_bad_looks;
    yoke__consistency_add(c, e);
    *was_inconsistent |= c->n_bad_looks > n_bad;
  }
  return yoke__consistency_verdict(c, false, NULL);
}

// 1 % are allowed in all, at any time of a run.
static void test_right_model_at_any_time(void** state) {
  (void)state;
  enum { N_RUNS = 150 };
  int n_bad = 0;
  for (uint64_t run = 0; run < N_RUNS; run++) {
    yoke_arena arena = {0};
    yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
    bool was_inconsistent;
    const yoke_twin_verdict verdict = judge(c, 5000, 100 + run, NULL, &was_inconsistent);
    n_bad += was_inconsistent || verdict != YOKE_TWIN_CONSISTENT;
    yoke__arena_free(&arena);
  }
  check_between(n_bad, 0, 3);
}

// Many windows: their shares of the chance get smaller.
static void test_long_run(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 100, &arena);
  bool was_inconsistent;
  const size_t n = getenv("YOKE_FULL") != NULL ? 30000000 : 1000000;
  assert_int_equal(judge(c, n, 5, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
  assert_false(was_inconsistent);
  assert_int_equal(c->n_bad_looks, 0);
  assert_true(c->sensors[0].window.n_windows > 50);
  yoke__arena_free(&arena);
}

// Faults that come in the middle of a long run are found within a window, and forgotten a window after they went.
static void test_faults_in_the_middle(void** state) {
  (void)state;
  static const fault faults[] = {
      {50000, 90000, 0.3, 1, 0},
      {50000, 90000, 0, 1.2, 0},
      {50000, 90000, 0, 0.8, 0},
      {50000, 90000, 0, 1, 0.25},
  };
  static const yoke_statistic reasons[] = {YOKE_STATISTIC_MEAN, YOKE_STATISTIC_VARIANCE,
                                           YOKE_STATISTIC_VARIANCE, YOKE_STATISTIC_LAG};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    yoke_arena arena = {0};
    yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
    bool was_inconsistent;
    yoke_finding why;
    assert_int_equal(judge(c, 50000, 1, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
    const fault at_once = {0, 40000, faults[i].mean, faults[i].scale, faults[i].lag};
    judge(c, 33000, 2, &at_once, &was_inconsistent);
    assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_INCONSISTENT);
    assert_int_equal(why.sensor, 1);
    // coloured noise shows in the ratio as well
    assert_true(why.statistic == reasons[i] ||
                (reasons[i] == YOKE_STATISTIC_LAG && why.statistic == YOKE_STATISTIC_LOW_HIGH));
    assert_true(why.value < why.low || why.value > why.high);
    assert_int_equal(judge(c, 50000, 3, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
    yoke__arena_free(&arena);
  }
}

static void test_starting_and_lost(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 500, &arena);
  bool was_inconsistent;
  yoke_finding why;
  // what belongs to the start-up is not judged
  const fault start_up = {0, 500, 0, 30, 0};
  assert_int_equal(judge(c, 600, 1, &start_up, &was_inconsistent), YOKE_TWIN_STARTING);
  assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_STARTING);
  assert_int_equal(why.statistic, YOKE_STATISTIC_NONE);
  assert_int_equal(yoke__consistency_verdict(c, true, NULL), YOKE_TWIN_DIVERGED);
  assert_int_equal(judge(c, 5000, 2, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);

  yoke__consistency_clear(c);
  const fault lost = {0, 5000, 0, 20, 0};
  assert_int_equal(judge(c, 2000, 3, &lost, &was_inconsistent), YOKE_TWIN_DIVERGED);
  yoke__consistency_verdict(c, false, &why);
  assert_int_equal(why.statistic, YOKE_STATISTIC_NIS);
  check_between(why.value, 150, 250);
  yoke__arena_free(&arena);
}

// A sensor that reads every tenth step is judged on its own readings.
static void test_slow_sensor(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 0, &arena);
  normal_noise noise = {.seed = 4};
  for (size_t k = 0; k < 40000; k++) {
    const double e[2] = {noise_next(&noise), k % 10 == 0 ? 0.4 + noise_next(&noise) : (double)NAN};
    yoke__consistency_add(c, e);
  }
  yoke_finding why;
  assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_INCONSISTENT);
  assert_int_equal(why.sensor, 1);
  assert_int_equal(why.statistic, YOKE_STATISTIC_MEAN);
  assert_int_equal(c->sensors[1].white.sums.n, 4000);
  yoke__arena_free(&arena);
}

// A copy goes on like the original, bit by bit, and no heap is taken.
static void test_saved_state(void** state) {
  (void)state;
  check_heap_is_counted();
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
  yoke_consistency* copy = yoke__consistency_prepare(3, 0, &arena);
  bool was_inconsistent;
  const long before = atomic_load(&n_heap_calls);
  judge(c, 3333, 1, NULL, &was_inconsistent);
  memcpy(copy, c, yoke__consistency_size(3));
  judge(c, 3333, 2, NULL, &was_inconsistent);
  judge(copy, 3333, 2, NULL, &was_inconsistent);
  assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
  assert_memory_equal(c, copy, yoke__consistency_size(3));
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_model_at_any_time),
      cmocka_unit_test(test_long_run),
      cmocka_unit_test(test_faults_in_the_middle),
      cmocka_unit_test(test_starting_and_lost),
      cmocka_unit_test(test_slow_sensor),
      cmocka_unit_test(test_saved_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
