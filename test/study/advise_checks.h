// Advice on random linear loops, checked against the undivided systems: TR-19.
#ifndef YOKE_TEST_ADVISE_CHECKS_H
#define YOKE_TEST_ADVISE_CHECKS_H

#include <unistd.h>

#include "bench/trust_study.h"
#include "study/study_advise.h"
#include "support/check.h"
#include "support/heard.h"

// A system file that lives as long as the test wants it.
static inline const char* write_system(const char* text, size_t n) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/yoke-advise-%ld.yaml", (long)getpid());
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
  return path;
}

// The system as `yoke run` loads it with a setting.
static inline yoke_system* load_setting(const yoke_advise_settings* settings,
                                        const yoke_advised* setting) {
  HEAR(told);
  yoke_arena arena = {0};
  size_t n = 0;
  yoke_system* system = NULL;
  const char** sets = yoke__advise_sets(settings, setting, &arena, &n);
  const yoke_load_settings load = {.sets = sets, .n_sets = n, .sink = &told.sink};
  if (yoke_system_load(settings->path, &load, &system) < 0) {
    fail_msg("%s: %s", setting->name, told.text);
  }
  yoke__arena_free(&arena);
  return system;
}

// The true error of the worst signal of a setting, over its movement.
static inline double true_error(const study_problem* p, const yoke_advise_settings* settings,
                                const yoke_advised* setting) {
  yoke_system* system = load_setting(settings, setting);
  yoke_simulation* sim = NULL;
  assert_true(yoke_simulation_create(system, NULL, &sim) >= 0);
  assert_true(yoke_simulation_start(sim) >= 0);
  const size_t ny = p->n_signals;
  yoke_handle handles[STUDY_SIGNALS];
  double* y = study_allocate((size_t)(p->n + 1) * ny);
  double worst = 0;
  bool is_good = true;
  for (size_t i = 0; i < ny; i++) {
    assert_true(yoke_simulation_find(sim, p->names[i], &handles[i]) >= 0);
  }
  for (int64_t k = 0; k <= p->n; k++) {
    is_good = is_good && (k == 0 || yoke_simulation_step(sim) >= 0);
    if (!is_good) {
      worst = HUGE_VAL;
      break;
    }
    double row[STUDY_SIGNALS];
    assert_true(yoke_simulation_read_many(sim, handles, ny, row) >= 0);
    for (size_t i = 0; i < ny; i++) {
      y[i * (size_t)(p->n + 1) + (size_t)k] = row[i];
    }
  }
  for (size_t i = 0; i < ny && is_good; i++) {
    study_signal signal;
    study_true_error(p, i, &y[i * (size_t)(p->n + 1)], &signal);
    worst = fmax(worst, signal.relative_error);
  }
  free(y);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
  return worst;
}

typedef struct advise_count {
  int n, n_near;            // choices; within 1.5 times the best true error
  int n_bare, n_bare_near;  // the same among settings without `exchange: fresh`
} advise_count;

// Of the settings at the given step.
static inline void count_choice(const yoke_advice* advice, const double errors[], bool has_fresh,
                                int* n, int* n_near) {
  size_t chosen = YOKE_NOT_FOUND;
  double best = HUGE_VAL;
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    if (s->status != YOKE_ADVISED_JUDGED || s->step != advice->all[0].step ||
        (!has_fresh && strstr(s->name, "fresh") != NULL)) {
      continue;
    }
    best = fmin(best, errors[i]);
    chosen = chosen == YOKE_NOT_FOUND || s->score < advice->all[chosen].score ? i : chosen;
  }
  if (chosen != YOKE_NOT_FOUND && isfinite(best)) {
    *n += 1;
    *n_near += errors[chosen] <= 1.5 * best;
  }
}

static inline void advise_system(int64_t seed, double share, advise_count* count) {
  static study_text text;
  static loop s;
  study_problem p;
  loop_make(&s, seed, study_units(seed));
  study_make_linear(&p, &s, share, 10);
  loop_print_system(&s, STUDY_HELD, p.n, p.H, study_divide(p.H, 10), &text);
  // the budget ends the search before the steps get small
  const yoke_advise_settings settings = {
      .path = write_system(text.bytes, text.n), .budget = 45, .keep = (double)INFINITY};
  yoke_advice advice;
  assert_int_equal(yoke__advise(&settings, &advice, NULL), YOKE_OK);
  double errors[256] = {0};
  for (size_t i = 0; i < advice.n; i++) {
    if (advice.all[i].status == YOKE_ADVISED_JUDGED && advice.all[i].step == advice.all[0].step) {
      errors[i] = true_error(&p, &settings, &advice.all[i]);
    }
  }
  count_choice(&advice, errors, true, &count->n, &count->n_near);
  count_choice(&advice, errors, false, &count->n_bare, &count->n_bare_near);
  yoke__advise_free(&advice);
  study_free(&p);
  unlink(settings.path);
}

// Systems from a seed on, each at the steps `shares` of the limit of held signals.
static inline void check_choices(int64_t first, int n_systems, const double shares[],
                                 int n_shares) {
  advise_count count = {0};
  for (int i = 0; i < n_systems; i++) {
    for (int k = 0; k < n_shares; k++) {
      advise_system(first + i, shares[k], &count);
    }
  }
  print_message("TR-19: chosen within 1.5 of the best: %d of %d, without fresh %d of %d\n",
                count.n_near, count.n, count.n_bare_near, count.n_bare);
  assert_true(count.n >= n_systems * n_shares * 0.8);
  check_between((double)count.n_near / count.n, 0.90, 1);
  check_between((double)count.n_bare_near / count.n_bare, 0.75, 1);
}

#endif
