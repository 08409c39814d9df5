// Out of memory at every single allocation of a grid, a run and a journal: said so, or done as well, and nothing left
// behind. The n-th call fails, and in a second round all calls from the n-th on.
#include <unistd.h>

#include "base/base_message.h"
#include "study/study_anova.h"
#include "study/study_best.h"
#include "study/study_fixture.h"
#include "study/study_store.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

static const char system_text[] = "yoke: 1\n"
                                  "time: {stop: 0.1, step: 1e-2}\n"
                                  "units: {i: {model: integrator, start: {x: 1, u: 0}}}\n";
static const char* const measures[] = {"end:i.y", "rms:i.y", "steps", NULL};
static const char* const limits[] = {"max:i.y<=2", NULL};

static char folder[64];
static fixture shared;

// What is tried: returns its status and frees everything.
static yoke_status try_grid(void) {
  static const char* const vary[] = {"units.i.start.x=1:3:5", "scheme=jacobi,'a,b'"};
  YOKE_CATCH(err);
  yoke_grid grid;
  const yoke_status status = yoke__grid_create(vary, 2, &grid, &err.sink);
  yoke__grid_free(&grid);
  return status;
}

// a good point, one that violates the limit, one that cannot be built; without memory each is one to try again, not refused
static yoke_status try_runs(void) {
  static const yoke_run_status want[] = {YOKE_RUN_DONE, YOKE_RUN_LIMIT, YOKE_RUN_REFUSED};
  yoke_status worst = YOKE_OK;
  for (size_t i = 0; i < 3; i++) {
    double values[FIXTURE_MAX];
    atomic_bool is_cancelled = false;
    yoke_study_result result = {.values = values};
    const yoke_status status = yoke__study_run(&shared.plan, i, 0, &is_cancelled, &result);
    assert_int_equal(status, YOKE_OK);
    if (result.status != YOKE_RUN_SHORTAGE && result.status != want[i]) {
      heap.is_on = false;
      fail_msg("call %ld failed: point %zu is %s (%s)", heap.fails_at, i,
               yoke__run_status_names[result.status], result.reason == NULL ? "" : result.reason);
    }
    worst = result.status == YOKE_RUN_SHORTAGE ? YOKE_NO_MEMORY : worst;
    free(result.reason);
  }
  return worst;
}

static yoke_status try_journal(void) {
  YOKE_CATCH(err);
  yoke_study* study = NULL;
  yoke_status status = yoke__study_open(&shared.plan, folder, false, &study, &err.sink);
  if (status >= 0) {
    status = yoke__study_write_table(study, "table.csv", &err.sink);
  }
  yoke__study_close(&study);
  return status;
}

static yoke_status try_analyses(void) {
  static const double values[] = {1, 3, 2};
  yoke_anova anova;
  yoke_best best;
  yoke_status status = yoke__anova_compute(&shared.grid, values, &anova);
  yoke__anova_free(&anova);
  if (status >= 0) {
    status = yoke__best_compute(&shared.grid, values, 0.1, 2, &best);
    yoke__best_free(&best);
  }
  return status;
}

static void try_all(yoke_status (*try)(void)) {
  for (int mode = 0; mode < 2; mode++) {
    bool is_done = false;
    for (long n = 0; !is_done; n++) {
      heap = (failing_heap){.is_on = true, .fails_onwards = mode == 1, .fails_at = n};
      const yoke_status status = try();
      is_done = heap.n_requests <= n;
      heap.is_on = false;
      if (heap.n_blocks != 0) {
        fail_msg("call %ld failed: %ld blocks are left over", n, heap.n_blocks);
      }
      if (status != YOKE_OK && (is_done || status != YOKE_NO_MEMORY)) {
        fail_msg("call %ld failed: status %d (%s)", n, (int)status, yoke_status_text(status));
      }
    }
  }
}

static void test_grid(void** state) {
  (void)state;
  try_all(try_grid);
}

static void test_runs(void** state) {
  (void)state;
  try_all(try_runs);
}

static void test_analyses(void** state) {
  (void)state;
  try_all(try_analyses);
}

static void test_journal(void** state) {
  (void)state;
  const size_t points[] = {0, 1, 2}, repeats[] = {0, 0, 0};
  const yoke_study_calls calls = {0};
  YOKE_CATCH(err);
  char path[128];
  yoke_study* study = NULL;
  snprintf(folder, sizeof folder, "memory-%ld", (long)getpid());
  check_ok(yoke__study_open(&shared.plan, folder, true, &study, &err.sink));
  check_ok(yoke__study_complete(study, points, repeats, 3, 1, &calls, &err.sink));
  yoke__study_close(&study);
  try_all(try_journal);
  static const char* const names[] = {"journal.csv", "table.csv"};
  for (size_t i = 0; i < 2; i++) {
    yoke__os_path_join(folder, names[i], path, sizeof path);
    yoke__os_file_remove(path);
  }
  rmdir(folder);
}

int main(void) {
  static const char* const vary[] = {"units.i.start.x=1,3,no", NULL};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_runs),
      cmocka_unit_test(test_analyses),
      cmocka_unit_test(test_journal),
  };
  fixture_open(&shared, system_text, vary, measures, limits);
  const int status = cmocka_run_group_tests(tests, NULL, NULL);
  fixture_close(&shared);
  return status;
}

#else

int main(void) {
  puts("skipped: the sanitizer has its own allocator");
  return 77;
}

#endif
