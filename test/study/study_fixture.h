// A plan from text and a folder for its journal: what the tests of studies share. Failures end the test.
#ifndef YOKE_TEST_STUDY_FIXTURE_H
#define YOKE_TEST_STUDY_FIXTURE_H

#include <stdatomic.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "study/study_run.h"
#include "support/check.h"

#define FIXTURE_MAX 8

typedef struct fixture {
  yoke_study_plan plan;
  yoke_grid grid;
  yoke_arena arena;
  yoke_study_measure measures[FIXTURE_MAX];
  yoke_study_limit limits[FIXTURE_MAX];
} fixture;

// vary, measures and limits: texts, NULL behind the last; limits may be NULL.
static inline void fixture_open(fixture* f, const char* system, const char* const vary[],
                                const char* const measures[], const char* const limits[]) {
  YOKE_CATCH(err);
  size_t n = 0;
  *f = (fixture){.plan = {.path = "test.yaml", .bytes = system, .n_bytes = strlen(system)}};
  while (vary[n] != NULL) {
    n++;
  }
  if (yoke__grid_create(vary, n, &f->grid, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  for (size_t i = 0; measures[i] != NULL; i++) {
    if (yoke__study_measure_parse(measures[i], &f->measures[i], &err.sink) < 0) {
      fail_msg("%s", err.text);
    }
    f->plan.n_measures++;
  }
  for (size_t i = 0; limits != NULL && limits[i] != NULL; i++) {
    if (yoke__study_limit_parse(limits[i], &f->arena, &f->limits[i], &err.sink) < 0) {
      fail_msg("%s", err.text);
    }
    f->plan.n_limits++;
  }
  f->plan.grid = &f->grid;
  f->plan.measures = f->measures;
  f->plan.limits = f->limits;
}

static inline void fixture_close(fixture* f) {
  yoke__grid_free(&f->grid);
  yoke__arena_free(&f->arena);
}

// One run. values: FIXTURE_MAX numbers; the reason stays valid until the next call.
static inline yoke_study_result
fixture_run(const fixture* f, size_t point, size_t repeat,
            double values[]) {  // NOLINT(readability-non-const-parameter)
  static char reason[1024];
  atomic_bool is_cancelled = false;
  yoke_study_result result = {.values = values};
  check_ok(yoke__study_run(&f->plan, point, repeat, &is_cancelled, &result));
  snprintf(reason, sizeof reason, "%s", result.reason == NULL ? "" : result.reason);
  free(result.reason);
  result.reason = reason;
  return result;
}

#endif
