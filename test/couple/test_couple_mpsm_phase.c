// Phases of model-based pre-step stabilisation: decisions for synthetic sequences, the switch
// function, fallback and recovery.
#include "couple/couple_mpsm_phase.h"

#include "support/check.h"
#include "support/mpsm_rules.h"

enum {
  LEARN = YOKE_MPSM_LEARN,
  SIGNAL = YOKE_MPSM_SIGNAL,
  MODIFIED = YOKE_MPSM_MODIFIED,
  FULL = YOKE_MPSM_FULL
};

static yoke_mpsm_evidence good(int k, double step) {
  return (yoke_mpsm_evidence){
      .t = k * step, .step = step, .has_model = true, .is_finite = true, .condition = 10};
}

static void test_MP_12_switch_function(void** state) {
  (void)state;
  static const double want[5] = {4.53979e-5, 6.69285e-3, 0.5, 0.993307, 0.999955};
  for (int i = 0; i < 5; i++) {
    check_relative(yoke__mpsm_switch(0.25 * i), want[i], 1e-6);
  }
}

static void test_MP_12_phases_of_an_identified_run(void** state) {
  (void)state;
  yoke_mpsm_rules rules = mpsm_rules();
  yoke_mpsm_course course = {0};
  for (int k = 0; k < 400; k++) {
    yoke_mpsm_evidence now = good(k, 1e-3);
    now.e_glob = 0.01;
    const yoke_mpsm_decision d = yoke__mpsm_decide(&rules, &course, &now);
    // learning ends with step 220 although 220 * 0.001 is not 0.22 in binary; five steps of
    // blending
    if (k < 220) {
      assert_int_equal(d.phase, LEARN);
      assert_true(d.weight == 0);
    } else {
      assert_int_equal(d.phase, FULL);
      check_near(d.weight, k < 225 ? yoke__mpsm_switch((k - 220) / 5.0) : 1, 1e-9);
      assert_true(k < 225 || d.weight == 1);
    }
    assert_int_equal(d.is_change, k == 220);
  }
  assert_int_equal(course.n_steps[LEARN], 220);
  assert_int_equal(course.n_steps[FULL], 180);

  // provided Jacobians: no learning, no switch
  rules.is_identified = false;
  course = (yoke_mpsm_course){0};
  const yoke_mpsm_evidence now = good(0, 1e-3);
  const yoke_mpsm_decision d = yoke__mpsm_decide(&rules, &course, &now);
  assert_int_equal(d.phase, FULL);
  assert_true(d.weight == 1);
}

// e_glob at, just below and above both thresholds
static void test_MP_12_thresholds(void** state) {
  (void)state;
  yoke_mpsm_rules rules = mpsm_rules();
  static const double e[] = {0,   0.2099, 0.21, 0.2101, 3.5399, 3.54, 3.5401,
                             1e9, 0.21,   0.2,  3.53,   4,      0.1,  0.1};
  static const int want[] = {FULL,   FULL,     MODIFIED, MODIFIED, MODIFIED, SIGNAL, SIGNAL,
                             SIGNAL, MODIFIED, FULL,     MODIFIED, SIGNAL,   FULL,   FULL};
  yoke_mpsm_course course = {0};
  for (int k = 0; k < 14; k++) {
    yoke_mpsm_evidence now = good(300 + k, 1e-3);
    now.e_glob = e[k];
    const yoke_mpsm_decision d = yoke__mpsm_decide(&rules, &course, &now);
    assert_int_equal(d.phase, want[k]);
    assert_true(d.weight == (want[k] == SIGNAL ? 0 : 1));
    assert_int_equal(d.reason, want[k] == SIGNAL ? YOKE_MPSM_QUALITY : YOKE_MPSM_NO_REASON);
  }
  assert_int_equal(course.n_fallbacks[YOKE_MPSM_QUALITY], 2);

  // equal thresholds: never without step 3
  rules.th_modified = rules.th_signal;
  course = (yoke_mpsm_course){0};
  for (int k = 0; k < 14; k++) {
    yoke_mpsm_evidence now = good(300 + k, 1e-3);
    now.e_glob = e[k];
    assert_true(yoke__mpsm_decide(&rules, &course, &now).phase != YOKE_MPSM_MODIFIED);
  }
}

static void test_MP_12_return_after_n_back_steps(void** state) {
  (void)state;
  yoke_mpsm_rules rules = mpsm_rules();
  rules.n_back = 3;
  rules.is_blended = true;
  // good, bad, good, good, bad, good, good, good, good ...
  static const int is_bad[20] = {0, 1, 0, 0, 1};
  static const int want[20] = {FULL, SIGNAL, SIGNAL, SIGNAL, SIGNAL, SIGNAL, SIGNAL,
                               FULL, FULL,   FULL,   FULL,   FULL,   FULL,   FULL,
                               FULL, FULL,   FULL,   FULL,   FULL,   FULL};
  yoke_mpsm_course course = {0};
  for (int k = 0; k < 20; k++) {
    yoke_mpsm_evidence now = good(300 + k, 1e-3);
    now.e_glob = is_bad[k] ? 10 : 0;
    const yoke_mpsm_decision d = yoke__mpsm_decide(&rules, &course, &now);
    assert_int_equal(d.phase, want[k]);
    if (k >= 7) {
      check_near(d.weight, k < 12 ? yoke__mpsm_switch((k - 7) / 5.0) : 1, 1e-9);
    }
    if (want[k] == SIGNAL) {
      assert_int_equal(d.reason, is_bad[k] ? YOKE_MPSM_QUALITY : YOKE_MPSM_WAIT);
    }
  }
  assert_int_equal(course.n_fallbacks[YOKE_MPSM_QUALITY], 1);
  assert_false(course.is_returning);
}

// Each reason alone takes the model away, at once, and the run goes on with it behind.
static void test_MP_15_each_reason_falls_back(void** state) {
  (void)state;
  const yoke_mpsm_rules rules = mpsm_rules();
  for (int reason = YOKE_MPSM_NO_MODEL; reason <= YOKE_MPSM_GUARD; reason++) {
    for (int form = 0; form < 2; form++) {
      yoke_mpsm_course course = {0};
      yoke_mpsm_evidence now = good(300, 1e-3);
      assert_int_equal(yoke__mpsm_decide(&rules, &course, &now).phase, FULL);
      if (reason == YOKE_MPSM_NO_MODEL) {
        now.has_model = false;
      } else if (reason == YOKE_MPSM_NOT_FINITE) {
        now.is_finite = form == 1;
        now.e_glob = form == 1 ? (double)NAN : 0;
      } else if (reason == YOKE_MPSM_CONDITION) {
        now.condition = form == 1 ? (double)NAN : 2e10;
      } else if (reason == YOKE_MPSM_QUALITY) {
        now.e_glob = 3.54;
      } else {
        now.is_guarded = true;
      }
      const yoke_mpsm_decision d = yoke__mpsm_decide(&rules, &course, &now);
      assert_int_equal(d.phase, SIGNAL);
      assert_int_equal(d.reason, reason);
      assert_true(d.weight == 0 && d.is_change);
      assert_int_equal(course.n_fallbacks[reason], 1);
      now = good(302, 1e-3);
      assert_int_equal(yoke__mpsm_decide(&rules, &course, &now).phase, FULL);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_12_switch_function),
      cmocka_unit_test(test_MP_12_phases_of_an_identified_run),
      cmocka_unit_test(test_MP_12_thresholds),
      cmocka_unit_test(test_MP_12_return_after_n_back_steps),
      cmocka_unit_test(test_MP_15_each_reason_falls_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
