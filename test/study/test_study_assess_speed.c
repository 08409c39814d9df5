// Cost of the assessment problems, CI-21 to CI-27 (CI-23 is in test_study_assess_slow.c). Times
// depend on the machine and what else runs on it: they are printed beside the published ones and
// decide nothing. Counts and ratios within one run do.
#include "study/assess_fixture.h"

static double total_ms(const yoke_assess_result* r) {
  return r->ns_per_step * (double)r->n_steps * 1e-6;
}

static const yoke_assess_effort timed = {.n_repetitions = 7, .seconds = 0.5};

// ---------------------------------------------------------------------------------------------------------
// CI-21, CI-22: times

static void test_times_CI_21_CI_22(void** state) {
  (void)state;
  static const struct {
    const char *id, *problem;
    double step;
    int iterations;
    double published_ms;
  } cases[] = {{"CI-21", "rlc", 2.5e-4, 1, 25},
               {"CI-21", "ladder-2", 2.5e-4, 1, 4.3},
               {"CI-22", "rectifier", 1e-4, 9, 125},
               {"CI-22", "pmsm", 0.5, 2, 60}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_assess_problem* problem = load_problem(cases[i].problem);
    for (int k = 0; k < 2; k++) {
      const yoke_circuit_formulation formulation =
          k == 0 ? YOKE_FORMULATION_DAE : YOKE_FORMULATION_NODAL;
      const yoke_assess_result r = run_problem(
          problem,
          configure(problem, formulation, YOKE_CIRCUIT_BDF3, cases[i].step, cases[i].iterations),
          timed);
      print_message("%s %-9s bdf3 %-5s %.3g s, %d iterations: %.3f ms, published %g ms, ratio "
                    "%.3f\n",
                    cases[i].id, cases[i].problem, yoke__circuit_formulation_names[formulation],
                    cases[i].step, cases[i].iterations, total_ms(&r), cases[i].published_ms,
                    total_ms(&r) / cases[i].published_ms);
      // what the time is the time of: the published number of iterations, and the constant matrix
      // kept
      assert_int_equal(r.counts.n_iterations, (uint64_t)cases[i].iterations * r.counts.n_stages);
      if (strcmp(cases[i].id, "CI-21") == 0) {
        assert_true(r.counts.n_refactors <= 2);
      }
      assert_int_equal(r.counts.n_repivots, 0);
    }
    yoke__assess_destroy(&problem);
  }
}

// ---------------------------------------------------------------------------------------------------------
// CI-22, CI-24: cost over size, refactored in every iteration

static const size_t loops[] = {100, 200, 500, 1000, 2000, 5000};
enum { N_LOOPS = sizeof loops / sizeof loops[0] };

// Least-squares slope of log y over log N.
static double slope_of(const double y[]) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < N_LOOPS; i++) {
    mx += log((double)loops[i]) / N_LOOPS;
    my += log(y[i]) / N_LOOPS;
  }
  for (size_t i = 0; i < N_LOOPS; i++) {
    const double x = log((double)loops[i]) - mx;
    xx += x * x;
    xy += x * (log(y[i]) - my);
  }
  return xy / xx;
}

// All sizes in turn, several rounds, so that a busy moment of the machine meets all of them.
static void time_ladders(yoke_assess_problem* const ladders[], yoke_circuit_formulation formulation,
                         bool is_refactored, double ns[]) {
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < N_LOOPS; i++) {
      yoke_circuit_options options =
          configure(ladders[i], formulation, YOKE_CIRCUIT_BDF3, 2.5e-3, is_refactored ? 2 : 1);
      double once = 0;
      options.is_refactored = is_refactored;
      check_ok(
          yoke__assess_time(ladders[i]->network, &options, loops[i] >= 1000 ? 10 : 100, 6, &once));
      ns[i] = round == 0 ? once : fmin(ns[i], once);
    }
  }
}

static void print_costs(yoke_circuit_formulation formulation, bool is_refactored,
                        const double ns[]) {
  for (size_t i = 0; i < N_LOOPS; i++) {
    const double iterations = is_refactored ? 2 : 1;
    print_message(
        "CI-22 ladder-%-4zu %-5s factored %s: %8.2f us per step, %5.2f ns per unknown and "
        "iteration%s\n",
        loops[i], yoke__circuit_formulation_names[formulation], is_refactored ? "always" : "once",
        ns[i] * 1e-3, ns[i] / (iterations * (3.0 + 5.0 * (double)loops[i])),
        is_refactored ? " (published 56 to 68, wanted <= 70)" : "");
  }
  print_message("CI-24 %s, factored %s: slope %.3f from 100 to 5000 loops\n",
                yoke__circuit_formulation_names[formulation], is_refactored ? "always" : "once",
                slope_of(ns));
}

static void test_cost_grows_like_size_CI_24(void** state) {
  (void)state;
  if (!is_time_meaningful()) {
    skip();
  }
  yoke_assess_problem* ladders[N_LOOPS];
  for (size_t i = 0; i < N_LOOPS; i++) {
    char name[32];
    snprintf(name, sizeof name, "ladder-%zu", loops[i]);
    ladders[i] = load_problem(name);
  }
  double slope = 0;
  for (int k = 0; k < 4; k++) {
    double ns[N_LOOPS];
    const yoke_circuit_formulation formulation =
        k < 2 ? YOKE_FORMULATION_DAE : YOKE_FORMULATION_NODAL;
    time_ladders(ladders, formulation, k % 2 == 0, ns);
    print_costs(formulation, k % 2 == 0, ns);
    slope = k == 0 ? slope_of(ns) : slope;
  }
  // what is asked for is the refactoring solution of all equations; a bad moment gets two more
  // chances
  for (int again = 0; again < 2 && !(slope >= 0.9 && slope <= 1.15); again++) {
    double ns[N_LOOPS];
    time_ladders(ladders, YOKE_FORMULATION_DAE, true, ns);
    slope = slope_of(ns);
  }
  check_between(slope, 0.9, 1.15);
  for (size_t i = 0; i < N_LOOPS; i++) {
    yoke__assess_destroy(&ladders[i]);
  }
}

// memory and factors: the same growth, on any machine
static void test_fill_grows_like_size_CI_24(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    const yoke_circuit_formulation formulation =
        k == 0 ? YOKE_FORMULATION_DAE : YOKE_FORMULATION_NODAL;
    double factors[N_LOOPS], bytes[N_LOOPS];
    for (size_t i = 0; i < N_LOOPS; i++) {
      char name[32];
      snprintf(name, sizeof name, "ladder-%zu", loops[i]);
      yoke_assess_problem* ladder = load_problem(name);
      const yoke_assess_result r =
          run_problem(ladder, configure(ladder, formulation, YOKE_CIRCUIT_BDF3, 0.01, 1),
                      (yoke_assess_effort){0});
      factors[i] = (double)r.sizes.n_factors;
      bytes[i] = (double)r.sizes.n_bytes;
      yoke__assess_destroy(&ladder);
    }
    print_message("CI-24 %s: slope of the factors %.4f (%.1f per loop), of the memory %.3f (%.0f "
                  "bytes per loop)\n",
                  yoke__circuit_formulation_names[formulation], slope_of(factors),
                  factors[N_LOOPS - 1] / (double)loops[N_LOOPS - 1], slope_of(bytes),
                  bytes[N_LOOPS - 1] / (double)loops[N_LOOPS - 1]);
    check_between(slope_of(factors), 0.98, 1.02);
    // a fixed part is allowed, growth beyond the size is not
    assert_true(slope_of(bytes) <= 1.05);
  }
}

// ---------------------------------------------------------------------------------------------------------
// CI-25: what a projection costs

typedef struct timing {
  yoke_circuit_method method;
  int iterations;
  yoke_circuit_projection projection;
  double ns;  // the least so far
} timing;

// The configurations in turn, several rounds, so that a busy moment of the machine meets all of
// them.
static void time_in_turn(const yoke_assess_problem* problem, double step, timing t[], size_t n) {
  for (int round = 0; round < 12; round++) {
    for (size_t i = 0; i < n; i++) {
      yoke_circuit_options options =
          configure(problem, YOKE_FORMULATION_DAE, t[i].method, step, t[i].iterations);
      double ns = 0;
      options.projection = t[i].projection;
      check_ok(yoke__assess_time(problem->network, &options, 400, 8, &ns));
      t[i].ns = round == 0 ? ns : fmin(t[i].ns, ns);
    }
  }
}

// The larger one of both problems, in iterations.
static double measure_projection(void) {
  static const struct {
    const char* problem;
    double step;
  } cases[] = {{"rectifier", 5e-5}, {"pmsm", 0.5}};
  double worst = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_assess_problem* problem = load_problem(cases[i].problem);
    timing t[] = {{YOKE_CIRCUIT_TRNP, 2, YOKE_PROJECTION_OFF, 0},
                  {YOKE_CIRCUIT_TRNP, 6, YOKE_PROJECTION_OFF, 0},
                  {YOKE_CIRCUIT_TR, 2, YOKE_PROJECTION_AUTO, 0},
                  {YOKE_CIRCUIT_TR, 2, YOKE_PROJECTION_PENALTY, 0},
                  {YOKE_CIRCUIT_TR, 2, YOKE_PROJECTION_DIRECT, 0}};
    time_in_turn(problem, cases[i].step, t, sizeof t / sizeof t[0]);
    const double iteration = (t[1].ns - t[0].ns) / 4;
    for (size_t k = 2; k < sizeof t / sizeof t[0]; k++) {
      print_message("CI-25 %-9s iteration %.0f ns, projection (%s) %.0f ns: %.2f iterations "
                    "(published 1.6 to 2.2)\n",
                    cases[i].problem, iteration, yoke__circuit_projection_names[t[k].projection],
                    t[k].ns - t[0].ns, (t[k].ns - t[0].ns) / iteration);
    }
    worst = fmax(worst, (t[2].ns - t[0].ns) / iteration);
    yoke__assess_destroy(&problem);
  }
  return worst;
}

// A busy machine may spoil one measurement, not five.
static void test_projection_costs_three_iterations_CI_25(void** state) {
  (void)state;
  if (!is_time_meaningful()) {
    skip();
  }
  double worst = measure_projection();
  for (int chance = 1; chance < 5 && !(worst <= 3); chance++) {
    worst = measure_projection();
  }
  if (!(worst <= 3)) {
    fail_msg("a projection costs %.2f iterations", worst);
  }
}

// ---------------------------------------------------------------------------------------------------------
// CI-26: each step like the others

static void test_steps_cost_the_same_CI_26(void** state) {
  (void)state;
  yoke_assess_problem* problem = load_problem("rectifier");
  for (int k = 0; k < 2; k++) {
    const yoke_circuit_formulation formulation =
        k == 0 ? YOKE_FORMULATION_DAE : YOKE_FORMULATION_NODAL;
    const yoke_assess_result r =
        run_problem(problem, configure(problem, formulation, YOKE_CIRCUIT_BDF3, 1e-4, 9),
                    (yoke_assess_effort){.has_worst = true});
    print_message("CI-26 rectifier %s, 9 iterations: slowest step over median %.2f (wanted <= 2 on "
                  "an isolated core)\n",
                  yoke__circuit_formulation_names[formulation], r.worst_ratio);
    // the same work in every step: that much does not depend on the machine
    assert_int_equal(r.counts.n_iterations, 9 * r.counts.n_steps);
    assert_int_equal(r.counts.max_iterations, 9);
    assert_int_equal(r.counts.n_repivots, 0);
  }
  yoke__assess_destroy(&problem);
}

// ---------------------------------------------------------------------------------------------------------
// CI-27: ranking at equal precision, by iterations (which cost the same in every method) and by
// time

typedef struct ranking {
  double bdf1, bdf3, best;
} ranking;

static void note(ranking* r, yoke_circuit_method method, double cost) {
  r->best = fmin(r->best, cost);
  if (method == YOKE_CIRCUIT_BDF1) {
    r->bdf1 = cost;
  } else if (method == YOKE_CIRCUIT_BDF3) {
    r->bdf3 = cost;
  }
}

static void rank(const char* name, yoke_assess_level level, uint64_t max_steps) {
  const yoke_assess_effort effort = {
      .n_repetitions = is_time_meaningful() ? 5 : 1, .seconds = 0.2, .max_steps = max_steps};
  yoke_assess_problem* problem = load_problem(name);
  ranking work = {0, 0, (double)INFINITY}, time = work;
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* p = &yoke__assess_published[i];
    if (strcmp(p->problem, name) != 0 || p->level != level) {
      continue;
    }
    const yoke_assess_result r = run_published(problem, p, effort);
    assert_true(r.level >= level);
    note(&work, p->method, (double)r.counts.n_iterations);
    note(&time, p->method, total_ms(&r));
  }
  print_message(
      "CI-27 %-9s %s: bdf1 needs %.1f times the iterations and %.1f times the time of the "
      "best; bdf3 %.2f times the iterations and %.2f times the time\n",
      name, yoke__assess_level_names[level], work.bdf1 / work.best, time.bdf1 / time.best,
      work.bdf3 / work.best, time.bdf3 / time.best);
  assert_true(work.bdf1 / work.best >= 8);
  if (strcmp(name, "pmsm") == 0) {
    assert_true(work.bdf3 / work.best <= 1.1);
  }
  yoke__assess_destroy(&problem);
}

static void test_ranking_CI_27(void** state) {
  (void)state;
  for (size_t i = 0; i < YOKE_ASSESS_N_PROBLEMS; i++) {
    rank(yoke__assess_names[i], YOKE_LEVEL_LOW, 500000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_CI_21_CI_22),
      cmocka_unit_test(test_cost_grows_like_size_CI_24),
      cmocka_unit_test(test_fill_grows_like_size_CI_24),
      cmocka_unit_test(test_projection_costs_three_iterations_CI_25),
      cmocka_unit_test(test_steps_cost_the_same_CI_26),
      cmocka_unit_test(test_ranking_CI_27),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
