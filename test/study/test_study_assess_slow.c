// CI-20 with the long runs: BDF1 at low precision, and at high precision where it takes up to 1e7
// steps. CI-23: the largest ladder in real time; it depends on the machine and is printed beside
// the published one.
#include "study/assess_fixture.h"

static void test_published_configurations_pass_CI_20(void** state) {
  (void)state;
  // rlc with 4e7 steps is left out
  const yoke_assess_effort effort = {.max_steps = 11000000};
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* p = &yoke__assess_published[i];
    yoke_assess_problem* problem = load_problem(p->problem);
    if (problem->stop / p->step > 60000 && problem->stop / p->step <= (double)effort.max_steps) {
      const yoke_assess_result r = run_published(problem, p, effort);
      print_message("CI-20 %-9s %-4s %-4s %8.2g s %2d: %.4g, %.4g (published %.3g, %.3g)\n",
                    p->problem, yoke__circuit_method_names[p->method],
                    yoke__assess_level_names[p->level], p->step, p->iterations, r.error[0],
                    r.error[1], p->error[0], p->error[1]);
      if (r.level < p->level) {
        fail_msg("%s %s: errors %g, %g are above level %s", p->problem,
                 yoke__circuit_method_names[p->method], r.error[0], r.error[1],
                 yoke__assess_level_names[p->level]);
      }
    }
    yoke__assess_destroy(&problem);
  }
}

// ---------------------------------------------------------------------------------------------------------
// CI-23: reach

static void test_reach_CI_23(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    double step;
    size_t wanted, published;
  } cases[] = {{YOKE_CIRCUIT_BDF3, 2.5e-3, 3600, 3661},
               {YOKE_CIRCUIT_BDF3, 2.5e-4, 440, 447},
               {YOKE_CIRCUIT_BDF2, 1e-3, 1790, 1790},
               {YOKE_CIRCUIT_BDF2, 1e-4, 186, 186}};
  if (!is_time_meaningful()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const yoke_circuit_options options = {.formulation = YOKE_FORMULATION_DAE,
                                          .method = cases[i].method,
                                          .step = cases[i].step,
                                          .iterations = 2,
                                          .startup = YOKE_STARTUP_CONST,
                                          .is_refactored = true};
    yoke_assess_reach reach;
    check_ok(yoke__assess_find_reach(&options, 12000, &reach));
    print_message("CI-23 %s %g s, refactored in every iteration: real time to N = %s%zu (wanted "
                  "%zu, published %zu), %.3g ns per unknown and iteration\n",
                  yoke__circuit_method_names[cases[i].method], cases[i].step,
                  reach.is_bounded ? "" : "> ", reach.n_loops, cases[i].wanted, cases[i].published,
                  reach.ns_per_unknown);
    // what was found is consistent with itself on any machine
    assert_true(reach.n_loops > 0);
    assert_int_equal(reach.n, 3 + 5 * reach.n_loops);
    assert_true(reach.ns_per_step < cases[i].step * 1e9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_configurations_pass_CI_20),
      cmocka_unit_test(test_reach_CI_23),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
