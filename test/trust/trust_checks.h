// Acceptance of the statistics of error bands and verdicts: TR-03 to TR-06, the same for any number of systems.
#ifndef YOKE_TEST_TRUST_CHECKS_H
#define YOKE_TEST_TRUST_CHECKS_H

#include "bench/trust_study.h"
#include "support/check.h"

static inline void print_set(const char* name, study_set* s) {
  for (int m = 0; m <= STUDY_METHODS; m++) {
    study_tally* t = m < STUDY_METHODS ? &s->methods[m] : &s->all;
    if (study_total(t) > 0) {
      print_message("%s, %s: %d runs, coverage %.2f %% of %d, median %.2f; trustworthy %d, %d off "
                    "by > 5 %%; wrong %d, %d off by <= 5 %%; not judged %d\n",
                    name, m < STUDY_METHODS ? study_ways[m].name : "all", study_total(t),
                    100 * study_coverage(t), t->n_bands, study_median(t),
                    study_sum(t, YOKE_TRUSTWORTHY, 0), study_sum(t, YOKE_TRUSTWORTHY, 2),
                    study_sum(t, YOKE_WRONG, 0),
                    study_sum(t, YOKE_WRONG, 0) - study_sum(t, YOKE_WRONG, 2),
                    study_sum(t, YOKE_VERDICT_NONE, 0));
    }
  }
  for (int i = 0; i < s->n_odds; i++) {
    const study_odd* o = &s->odds[i];
    print_message("%s: bench_trust show %s %" PRId64 " %g %d %d: off by %.3g\n",
                  yoke_verdict_text(o->verdict), o->family, o->seed, o->share, (int)o->method,
                  o->n_calls, o->error);
  }
}

// TR-03: the true error lies within the band, and the band is not much wider than the error.
static inline void check_bands(study_set* s) {
  for (int m = 0; m < STUDY_METHODS; m++) {
    study_tally* t = &s->methods[m];
    if (t->n_bands > 0) {
      check_between(study_coverage(t), 0.985, 1);
      check_between(study_median(t), 1.2, m == STUDY_NEPCE_FRESH ? 3 : 2.2);
    }
  }
  check_between(study_coverage(&s->all), 0.99, 1);
}

// TR-04: "trustworthy" is off by more than 5 % in at most 0.5 % of the cases, never by more than 10 %.
static inline void check_trustworthy(const study_set* s) {
  const int n = study_sum(&s->all, YOKE_TRUSTWORTHY, 0);
  check_between(study_sum(&s->all, YOKE_TRUSTWORTHY, 2), 0, 0.005 * n);
  assert_int_equal(study_sum(&s->all, YOKE_TRUSTWORTHY, 3), 0);
}

// With both companions every run is judged.
static inline void check_judged(const study_set* s) {
  check_between(study_sum(&s->all, YOKE_VERDICT_NONE, 0), 0, 0);
}

// TR-05: "wrong" is off by at most 5 % in at most 1 % of the cases.
static inline void check_wrong(const study_set* s) {
  const int n = study_sum(&s->all, YOKE_WRONG, 0);
  check_between(n - study_sum(&s->all, YOKE_WRONG, 2), 0, 0.01 * n);
}

// TR-06: of the runs off by at most 3 % at least 85 % are called trustworthy.
static inline void check_good(const study_set* s) {
  check_between((double)s->all.n_good_trusted / s->all.n_good, 0.85, 1);
}

// ---- the checks of linear systems, on as many as a test has run

static study_set linear;

static int free_linear(void** state) {
  (void)state;
  study_free_set(&linear);
  return 0;
}

static void test_bands_TR_03(void** state) {
  (void)state;
  check_bands(&linear);
  check_judged(&linear);
}

static void test_trustworthy_TR_04(void** state) {
  (void)state;
  check_trustworthy(&linear);
}

static void test_wrong_TR_05(void** state) {
  (void)state;
  check_wrong(&linear);
}

static void test_good_TR_06(void** state) {
  (void)state;
  check_good(&linear);
}

#endif
