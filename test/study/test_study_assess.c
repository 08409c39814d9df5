// Assessments: the references against the specification's points, errors and levels of published
// configurations (CI-20), the searches, a user's own netlist and system, the figure.
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "study/assess_fixture.h"

// ---------------------------------------------------------------------------------------------------------
// references

static const yoke_assess_monitor* monitor_of(const yoke_assess_problem* problem, const char* name) {
  for (size_t i = 0; i < problem->n_monitors; i++) {
    if (strcmp(problem->monitors[i].name, name) == 0) {
      return &problem->monitors[i];
    }
  }
  fail_msg("%s has no monitor %s", problem->name, name);
  return NULL;
}

static double reference_at(const yoke_assess_problem* problem, const char* name, double t) {
  const yoke_assess_monitor* m = monitor_of(problem, name);
  for (size_t i = 0; i < problem->n_samples; i++) {
    if (fabs(problem->t[i] - t) < 1e-9 * t) {
      return m->reference[i];
    }
  }
  fail_msg("%s has no sample at %g s", problem->name, t);
  return 0;
}

static double reference_rms(const yoke_assess_problem* problem, const char* name) {
  const yoke_assess_monitor* m = monitor_of(problem, name);
  double sum = 0;
  for (size_t i = 0; i < problem->n_samples; i++) {
    sum += m->reference[i] * m->reference[i];
  }
  return sqrt(sum / (double)problem->n_samples);
}

// points that were computed elsewhere and in another way: matrix exponential, DAE with steps of 1
// us, order 8
static const struct {
  const char *problem, *signal;
  double t, value, tolerance;
} points[] = {
    {"rlc", "v(3)", 0.1, 1.026302472, 1e-9},
    {"rlc", "i(l1)", 2, 1.064844543, 1e-9},
    {"rlc", "v(3)", 10, -0.774179463, 1e-9},
    {"ladder-2", "v(6)", 0.25, 1.0086293438, 1e-10},
    {"ladder-2", "i(l2)", 1, 1.6514220803, 1e-10},
    {"ladder-2", "v(4)", 0.5, 3.740213913, 1e-9},
    {"ladder-2", "i(l1)", 0.05, 7.439675437, 1e-9},
    {"ladder-30", "v(4)", 0.01, 0.030970808, 2e-9},
    {"ladder-30", "i(l1)", 1, -3.871425713, 4e-9},
    {"ladder-1000", "v(4)", 1, -1.713286973, 4e-9},
    {"rectifier", "v(2,3)", 0.001, 1.094392880, 2e-9},
    {"rectifier", "v(2,3)", 0.101, -1.766733915, 2e-9},
    {"rectifier", "i(l1)", 0.1, 2.578832306, 2e-9},
    {"rectifier", "i(l1)", 1, 2.578945893, 2e-9},
    {"pmsm", "t(magnets)", 60, 302.289448, 1e-6},
    {"pmsm", "t(magnets)", 5000, 362.543368, 1e-6},
    {"pmsm", "i(rwater)", 1, -14643.0101, 1e-4},
    {"pmsm", "i(rwater)", 1200, 2268.1805, 1e-4},
};

static void test_references_have_the_published_points(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
    yoke_assess_problem* problem = load_problem(points[i].problem);
    check_near(reference_at(problem, points[i].signal, points[i].t), points[i].value,
               points[i].tolerance);
    yoke__assess_destroy(&problem);
  }
}

static void test_references_have_the_published_size(void** state) {
  (void)state;
  yoke_assess_problem* rlc = load_problem("rlc");
  check_near(reference_rms(rlc, "v(3)"), 0.465549834, 1e-9);
  check_near(reference_rms(rlc, "i(l1)"), 0.663341965, 1e-9);
  yoke__assess_destroy(&rlc);
  yoke_assess_problem* rectifier = load_problem("rectifier");
  check_near(reference_rms(rectifier, "v(2,3)"), 49.107996964, 2e-9);
  check_near(reference_rms(rectifier, "i(l1)"), 6.596896626, 2e-9);
  yoke__assess_destroy(&rectifier);
  yoke_assess_problem* ladder = load_problem("ladder-2");
  check_near(reference_rms(ladder, "v(6)"), 0.849754542, 1e-9);
  check_near(reference_rms(ladder, "i(l2)"), 1.5572048, 1e-7);
  yoke__assess_destroy(&ladder);
}

// the file made by the tool (a Taylor series) and the one made here (a matrix exponential)
static void test_ladder_has_the_reference_of_its_file(void** state) {
  (void)state;
  const char* folder = getenv("YOKE_SOURCE_DIR");
  char path[4096];
  YOKE_CATCH(err);
  char* bytes = NULL;
  size_t n = 0;
  yoke_csv csv;
  assert_non_null(folder);
  snprintf(path, sizeof path, "%s/scenarios/circuits/ladder-2.reference.csv", folder);
  check_ok(yoke__os_read_file(path, 1 << 20, &bytes, &n, &err.sink));
  check_ok(yoke__csv_parse(bytes, n, &csv, &err.sink));
  yoke_assess_problem* ladder = load_problem("ladder-2");
  assert_int_equal(csv.n_rows, ladder->n_samples);
  for (size_t i = 0; i < ladder->n_monitors; i++) {
    const size_t column = yoke__csv_find(&csv, ladder->monitors[i].name);
    assert_true(column < csv.n_columns);
    for (size_t k = 0; k < csv.n_rows; k++) {
      check_near(ladder->monitors[i].reference[k], csv.columns[column].values[k], 2e-12);
    }
  }
  yoke__assess_destroy(&ladder);
  yoke__csv_free(&csv);
  free(bytes);
}

// ---------------------------------------------------------------------------------------------------------
// levels, steps, names

static void test_levels(void** state) {
  (void)state;
  yoke_assess_problem* pmsm = load_problem("pmsm");
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.009, 0.099}), YOKE_LEVEL_HIGH);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.011, 0.099}), YOKE_LEVEL_LOW);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.009, 0.11}), YOKE_LEVEL_LOW);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.009, 1.1}), YOKE_LEVEL_NONE);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){(double)NAN, 0}), YOKE_LEVEL_NONE);
  check_near(yoke__assess_relative(pmsm, (double[]){0.05, 0.2}, YOKE_LEVEL_LOW), 0.5, 1e-15);
  yoke__assess_set_limit(pmsm, 1e-3);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.9e-3, 0.9e-3}), YOKE_LEVEL_HIGH);
  assert_int_equal(yoke__assess_judge(pmsm, (double[]){0.9e-3, 1.1e-3}), YOKE_LEVEL_NONE);
  yoke__assess_destroy(&pmsm);

  // the last loop of a long ladder says nothing: the first one is judged
  yoke_assess_problem* ladder = load_problem("ladder-100");
  assert_int_equal(yoke__assess_judge(ladder, (double[]){1, 1, 1e-6, 1e-6}), YOKE_LEVEL_HIGH);
  assert_int_equal(yoke__assess_judge(ladder, (double[]){0, 0, 1e-6, 1e-2}), YOKE_LEVEL_NONE);
  yoke__assess_destroy(&ladder);
}

static void test_steps_divide_the_samples(void** state) {
  (void)state;
  yoke_assess_problem* rlc = load_problem("rlc");
  check_near(rlc->spacing, 0.01, 1e-12);
  check_near(rlc->stop, 10, 0);
  double last = (double)INFINITY;
  for (size_t i = 0; yoke__assess_step(rlc, i) > 0; i++) {
    const double h = yoke__assess_step(rlc, i);
    assert_true(h < last);
    assert_true(yoke__assess_fits(rlc, h));
    last = h;
  }
  assert_true(last < 1e-6);
  assert_true(yoke__assess_fits(rlc, 2.5e-3));
  assert_false(yoke__assess_fits(rlc, 3e-3));
  assert_false(yoke__assess_fits(rlc, 0.02));
  assert_false(yoke__assess_fits(rlc, 0));
  assert_false(yoke__assess_fits(rlc, -1));

  // a step that does not fit is a result with a reason, not a number
  const yoke_circuit_options options =
      configure(rlc, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, 3e-3, 1);
  yoke_assess_result result;
  check_ok(yoke__assess_run(rlc, &options, &(yoke_assess_effort){0}, &result));
  assert_true(result.status < 0);
  assert_true(isnan(result.error[0]));
  check_contains(result.reason, "does not divide");
  yoke__assess_destroy(&rlc);
}

static void test_unknown_problem_is_named(void** state) {
  (void)state;
  static const char* const names[] = {"rcl",           "ladder-0",  "ladder-",
                                      "ladder-100001", "ladder-2x", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    yoke_messages messages = {0};
    yoke_assess_problem* problem = NULL;
    char text[512] = "";
    assert_int_equal(yoke__assess_load(names[i], &messages, &problem), YOKE_BAD_INPUT);
    assert_null(problem);
    yoke__messages_format(&messages, text, sizeof text);
    check_contains(text, "unknown problem");
    if (i == 0) {
      check_contains(text, "did you mean 'rlc'");
    }
    yoke__messages_free(&messages);
  }
}

// ---------------------------------------------------------------------------------------------------------
// published configurations

static void test_published_table(void** state) {
  (void)state;
  size_t n[YOKE_N_LEVELS] = {0};
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* p = &yoke__assess_published[i];
    yoke_assess_problem* problem = load_problem(p->problem);
    // what is in print reaches the level it is printed under
    assert_true(yoke__assess_judge(problem, (double[YOKE_ASSESS_MAX_MONITORS]){
                                                p->error[0], p->error[1]}) >= p->level);
    assert_true(yoke__assess_fits(problem, p->step));
    const yoke_circuit_options options = {.method = p->method, .step = p->step};
    assert_non_null(yoke__assess_find_published(p->problem, &options));
    n[p->level]++;
    yoke__assess_destroy(&problem);
  }
  assert_int_equal(n[YOKE_LEVEL_LOW], 20);
  assert_int_equal(n[YOKE_LEVEL_HIGH], 20);
}

// CI-20; runs of more steps are in test_study_assess_slow.c
static void test_published_configurations_pass_CI_20(void** state) {
  (void)state;
  const yoke_assess_effort effort = {.max_steps = 60000};
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* p = &yoke__assess_published[i];
    yoke_assess_problem* problem = load_problem(p->problem);
    if (problem->stop / p->step <= (double)effort.max_steps) {
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

// CI-05, CI-06, CI-09, CI-15 through the framework, within the tolerances of the specification
static const struct {
  const char* problem;
  yoke_circuit_method method;
  double step;
  int iterations;
  double error[2], tolerance[2];
} anchors[] = {
    {"rlc", YOKE_CIRCUIT_TR, 2.5e-3, 1, {2.503e-4, 3.781e-4}, {0.01, 0.01}},
    {"rlc", YOKE_CIRCUIT_BDF2, 2.5e-3, 1, {8.423e-4, 7.566e-4}, {0.01, 0.01}},
    {"rlc", YOKE_CIRCUIT_BDF3, 2.5e-3, 1, {1.422e-4, 3.284e-4}, {0.01, 0.01}},
    {"ladder-2", YOKE_CIRCUIT_TR, 2.5e-3, 1, {4.08e-4, 9.42e-4}, {0.02, 0.02}},
    {"ladder-2", YOKE_CIRCUIT_BDF2, 1e-3, 1, {1.353e-4, 6.00e-4}, {0.02, 0.02}},
    {"ladder-2", YOKE_CIRCUIT_BDF3, 2.5e-3, 1, {3.769e-4, 5.372e-4}, {0.02, 0.02}},
    {"rectifier", YOKE_CIRCUIT_TR, 5e-4, 0, {2.87e-4, 1.70e-4}, {0.03, 0.03}},
    {"rectifier", YOKE_CIRCUIT_BDF3, 1e-4, 0, {7.94e-6, 3.95e-6}, {0.03, 0.03}},
    {"pmsm", YOKE_CIRCUIT_TR, 0.5, 2, {9.5e-7, 0.6119}, {0.03, 0.01}},
    {"pmsm", YOKE_CIRCUIT_BDF2, 0.25, 2, {9.15e-7, 0.5232}, {0.03, 0.01}},
    {"pmsm", YOKE_CIRCUIT_BDF3, 0.5, 2, {3.33e-7, 0.3884}, {0.03, 0.01}},
};

static void test_errors_are_those_of_the_specification(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
    yoke_assess_problem* problem = load_problem(anchors[i].problem);
    const yoke_assess_result r =
        run_problem(problem,
                    configure(problem, YOKE_FORMULATION_DAE, anchors[i].method, anchors[i].step,
                              anchors[i].iterations),
                    (yoke_assess_effort){0});
    print_message("%-9s %-4s: %.4g, %.4g\n", anchors[i].problem,
                  yoke__circuit_method_names[anchors[i].method], r.error[0], r.error[1]);
    check_relative(r.error[0], anchors[i].error[0], anchors[i].tolerance[0]);
    check_relative(r.error[1], anchors[i].error[1], anchors[i].tolerance[1]);
    yoke__assess_destroy(&problem);
  }
}

// both formulations solve the same equations with the same formula: their errors differ by what
// Newton leaves
static void test_formulations_agree(void** state) {
  (void)state;
  static const struct {
    const char* problem;
    double step;
  } cases[] = {{"rlc", 2.5e-3}, {"ladder-2", 2.5e-3}, {"rectifier", 1e-4}, {"pmsm", 0.5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_assess_problem* problem = load_problem(cases[i].problem);
    double error[2][2];
    for (int k = 0; k < 2; k++) {
      yoke_circuit_options options =
          configure(problem, k == 0 ? YOKE_FORMULATION_DAE : YOKE_FORMULATION_NODAL,
                    YOKE_CIRCUIT_BDF3, cases[i].step, 0);
      options.startup = YOKE_STARTUP_TR_XI;
      const yoke_assess_result r = run_problem(problem, options, (yoke_assess_effort){0});
      memcpy(error[k], r.error, sizeof error[k]);
    }
    print_message("%-9s dae %.6g, %.6g; nodal %.6g, %.6g\n", cases[i].problem, error[0][0],
                  error[0][1], error[1][0], error[1][1]);
    check_relative(error[1][0], error[0][0], 1e-3);
    check_relative(error[1][1], error[0][1], 1e-3);
    yoke__assess_destroy(&problem);
  }
}

// ---------------------------------------------------------------------------------------------------------
// what a run reports

static void test_result_is_complete(void** state) {
  (void)state;
  yoke_assess_problem* problem = load_problem("rectifier");
  const yoke_assess_effort effort = {
      .n_repetitions = 3, .seconds = 1, .has_stages = true, .has_worst = true};
  const yoke_assess_result r = run_problem(
      problem, configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, 5e-4, 8), effort);
  assert_int_equal(r.n_steps, 2000);
  assert_int_equal(r.counts.n_steps, 2000);
  assert_int_equal(r.counts.n_iterations, 16000);
  assert_int_equal(r.counts.max_iterations, 8);
  assert_int_equal(r.sizes.n, 20);
  assert_int_equal(r.sizes.m, 19);
  assert_int_equal(r.sizes.p, 1);
  assert_true(r.sizes.n_bytes > 20 * sizeof(double));
  assert_true(r.ns_per_step > 0 && isfinite(r.ns_per_step));
  check_relative(r.real_time_factor, 1 / (2000 * r.ns_per_step * 1e-9), 1e-12);
  assert_true(r.worst_ratio >= 1);
  double sum = 0;
  for (size_t i = 0; i < YOKE_COST_N; i++) {
    assert_true(r.share[i] >= 0);
    sum += r.share[i];
  }
  check_near(sum, 1, 1e-12);
  assert_true(r.share[YOKE_COST_FACTOR] > 0);
  assert_true(r.share[YOKE_COST_PROJECT] > 0);

  // too long is said, not run
  const yoke_circuit_options longer =
      configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_BDF1, 1e-7, 1);
  yoke_assess_result left_out;
  check_ok(yoke__assess_run(problem, &longer, &(yoke_assess_effort){.max_steps = 1000}, &left_out));
  assert_int_equal(left_out.status, YOKE_FULL);
  yoke__assess_destroy(&problem);
}

// sizes of the problems as netlists, CI-01
static void test_sizes_CI_01(void** state) {
  (void)state;
  static const struct {
    const char* name;
    uint32_t n, m, p;
    double step;
  } cases[] = {{"rlc", 8, 5, 3, 0.01},         {"ladder-1", 8, 6, 2, 0.01},
               {"ladder-2", 13, 9, 4, 0.01},   {"ladder-10", 53, 33, 20, 0.01},
               {"rectifier", 20, 19, 1, 1e-3}, {"pmsm", 49, 40, 9, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_assess_problem* problem = load_problem(cases[i].name);
    const yoke_assess_result r = run_problem(
        problem, configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_BDF1, cases[i].step, 0),
        (yoke_assess_effort){0});
    print_message("CI-01 %s: %u, %u, %u, structural rank %u\n", cases[i].name, r.sizes.n, r.sizes.m,
                  r.sizes.p, r.sizes.structural_rank);
    assert_int_equal(r.sizes.n, cases[i].n);
    assert_int_equal(r.sizes.m, cases[i].m);
    assert_int_equal(r.sizes.p, cases[i].p);
    assert_int_equal(r.sizes.structural_rank, cases[i].n);
    yoke__assess_destroy(&problem);
  }
}

// ---------------------------------------------------------------------------------------------------------
// searches

// the chosen step is good enough, and the next larger candidate is not (errors rise with the step
// here)
static void test_cheapest_step(void** state) {
  (void)state;
  static const int counts[] = {0, 1, 2, 3};
  yoke_assess_problem* problem = load_problem("rlc");
  const yoke_assess_search search = {YOKE_LEVEL_LOW, counts, 4, 12};
  const yoke_circuit_options options =
      configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, 0, 0);
  yoke_assess_result result;
  bool is_found = false;
  check_ok(
      yoke__assess_find(problem, &options, &search, &(yoke_assess_effort){0}, &result, &is_found));
  assert_true(is_found);
  // TR: error proportional to h^2, 3.78e-4 A at 2.5 ms, so 5 ms is just too much
  check_near(result.options.step, 2.5e-3, 1e-12);
  assert_int_equal(result.options.iterations, 1);
  assert_true(result.level >= YOKE_LEVEL_LOW);

  // an error that no step reaches
  yoke__assess_set_limit(problem, 1e-30);
  check_ok(yoke__assess_find(problem, &options, &search, &(yoke_assess_effort){.max_steps = 10000},
                             &result, &is_found));
  assert_false(is_found);
  yoke__assess_destroy(&problem);
}

// fewer iterations than the converged run are found for the rectifier, and they keep the level
static void test_fewest_iterations(void** state) {
  (void)state;
  static const int counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30};
  yoke_assess_problem* problem = load_problem("rectifier");
  const yoke_assess_search search = {YOKE_LEVEL_LOW, counts, sizeof counts / sizeof counts[0], 5};
  const yoke_circuit_options options =
      configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_BDF2, 0, 0);
  yoke_assess_result result;
  bool is_found = false;
  check_ok(
      yoke__assess_find(problem, &options, &search, &(yoke_assess_effort){0}, &result, &is_found));
  assert_true(is_found);
  print_message("rectifier, bdf2, low: step %g, %d iterations: %g, %g\n", result.options.step,
                result.options.iterations, result.error[0], result.error[1]);
  assert_true(result.options.iterations > 0);
  assert_true(result.error[0] < 1e-3 && result.error[1] < 1e-3);
  // published: 0.25 ms with 7 iterations, 28000 in all
  assert_true(result.counts.n_iterations <= 28000);
  // one iteration less is not enough
  if (result.options.iterations > 1) {
    yoke_circuit_options fewer = result.options;
    fewer.iterations = result.options.iterations - 1;
    yoke_assess_result other;
    check_ok(yoke__assess_run(problem, &fewer, &(yoke_assess_effort){0}, &other));
    assert_true(other.status < 0 || other.level < YOKE_LEVEL_LOW);
  }
  yoke__assess_destroy(&problem);
}

// ---------------------------------------------------------------------------------------------------------
// a user's own

static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

// an RC circuit with its closed form, samples at t = 0 too, which do not count
static void test_own_netlist(void** state) {
  (void)state;
  char netlist[64], reference[64];
  snprintf(netlist, sizeof netlist, "assess-%d.cir", (int)getpid());
  snprintf(reference, sizeof reference, "assess-%d.csv", (int)getpid());
  write_file(netlist, "RC\nV1 in 0 1\nR1 in out 1k\nC1 out 0 1u IC=0\n.tran 1e-4 1e-2 uic\n.end\n");
  FILE* file = fopen(reference, "w");
  assert_non_null(file);
  fprintf(file, "time,v(out)\n");
  for (int i = 0; i <= 100; i++) {
    fprintf(file, "%.17g,%.17g\n", i * 1e-4, 1 - exp(-i * 0.1));
  }
  assert_int_equal(fclose(file), 0);

  yoke_messages messages = {0};
  yoke_assess_problem* problem = NULL;
  static const char* const limits[] = {"v(out)=1e-5"};
  check_ok(yoke__assess_read(netlist, reference, limits, 1, &messages, &problem));
  assert_int_equal(problem->n_samples, 100);
  check_near(problem->spacing, 1e-4, 1e-12);
  double last = (double)INFINITY;
  for (int i = 0; i < 3; i++) {
    const yoke_assess_result r =
        run_problem(problem,
                    configure(problem, YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_TRBDF2,
                              i == 0   ? 1e-4
                              : i == 1 ? 5e-5
                                       : 2.5e-5,
                              1),
                    (yoke_assess_effort){0});
    if (i > 0) {
      // order 2: halving the step divides the error by 4
      check_between(last / r.error[0], 3.6, 4.4);
    }
    last = r.error[0];
  }
  yoke__assess_destroy(&problem);

  // what is wrong is said
  static const char* const unknown[] = {"v(oot)=1e-3"};
  char text[512] = "";
  assert_int_equal(yoke__assess_read(netlist, reference, unknown, 1, &messages, &problem),
                   YOKE_BAD_INPUT);
  assert_null(problem);
  yoke__messages_format(&messages, text, sizeof text);
  check_contains(text, "did you mean 'v(out)'");
  write_file(reference, "time,v(nowhere)\n1e-3,0\n");
  assert_true(yoke__assess_read(netlist, reference, NULL, 0, &messages, &problem) < 0);
  write_file(reference, "time,v(out)\n2e-3,0\n1e-3,0\n");
  assert_true(yoke__assess_read(netlist, reference, NULL, 0, &messages, &problem) < 0);
  write_file(reference, "time,v(out)\n0,0\n");
  assert_true(yoke__assess_read(netlist, reference, NULL, 0, &messages, &problem) < 0);
  yoke__messages_free(&messages);
  unlink(netlist);
  unlink(reference);
}

// the linear oscillator: its deviation from the undivided system falls with the exchange interval,
// first order
static void test_own_system(void** state) {
  (void)state;
  const char* folder = getenv("YOKE_SOURCE_DIR");
  char system[4096], reference[4096];
  assert_non_null(folder);
  snprintf(system, sizeof system, "%s/scenarios/linear-oscillator/jacobi.yaml", folder);
  snprintf(reference, sizeof reference, "%s/scenarios/linear-oscillator/reference.csv", folder);
  yoke_messages messages = {0};
  yoke_assess_problem* problem = NULL;
  static const char* const limits[] = {"left.x=0.01"};
  check_ok(yoke__assess_read_system(system, reference, limits, 1, &messages, &problem));
  assert_int_equal(problem->n_monitors, 5);
  yoke_assess_result coarse, fine;
  const yoke_assess_effort effort = {.n_repetitions = 1};
  check_ok(yoke__assess_run_system(problem, 1e-4, &effort, &coarse));
  check_ok(yoke__assess_run_system(problem, 5e-5, &effort, &fine));
  if (coarse.status < 0 || fine.status < 0) {
    fail_msg("%s %s", coarse.reason, fine.reason);
  }
  print_message("oscillator, left.x: %g at 1e-4 s, %g at 5e-5 s\n", coarse.error[0], fine.error[0]);
  check_between(coarse.error[0] / fine.error[0], 1.8, 2.2);
  assert_true(fine.n_steps == 2 * coarse.n_steps);
  assert_true(fine.ns_per_step > 0 && fine.real_time_factor > 0);
  yoke__assess_destroy(&problem);
  yoke__messages_free(&messages);
}

// ---------------------------------------------------------------------------------------------------------
// the figure

static size_t count(const char* text, const char* part) {
  size_t n = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

static void test_figure(void** state) {
  (void)state;
  yoke_assess_problem* problem = load_problem("rlc");
  const yoke_assess_effort effort = {.n_repetitions = 1};
  yoke_assess_result results[5];
  for (size_t i = 0; i < 2; i++) {
    const double step = i == 0 ? 5e-3 : 2.5e-3;
    results[2 * i] = run_problem(
        problem, configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, step, 1), effort);
    results[2 * i + 1] = run_problem(
        problem, configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_BDF2, step, 1), effort);
  }
  // a failed run is no point
  const yoke_circuit_options bad =
      configure(problem, YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, 3e-3, 1);
  check_ok(yoke__assess_run(problem, &bad, &effort, &results[4]));
  yoke_text svg = {0};
  yoke__assess_draw_begin(1, &svg);
  yoke__assess_draw(problem, results, 5, 0, &svg);
  yoke__assess_draw_end(&svg);
  check_ok(svg.status);
  assert_int_equal(count(svg.bytes, "<polyline"), 2);
  assert_int_equal(count(svg.bytes, "<circle"), 4);
  assert_int_equal(count(svg.bytes, "nan"), 0);
  assert_int_equal(count(svg.bytes, "inf"), 0);
  check_contains(svg.bytes, "dae tr");
  check_contains(svg.bytes, "dae bdf2, const");
  check_contains(svg.bytes, "</svg>");
  yoke__text_free(&svg);
  yoke__assess_destroy(&problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_references_have_the_published_points),
      cmocka_unit_test(test_references_have_the_published_size),
      cmocka_unit_test(test_ladder_has_the_reference_of_its_file),
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_steps_divide_the_samples),
      cmocka_unit_test(test_unknown_problem_is_named),
      cmocka_unit_test(test_published_table),
      cmocka_unit_test(test_sizes_CI_01),
      cmocka_unit_test(test_published_configurations_pass_CI_20),
      cmocka_unit_test(test_errors_are_those_of_the_specification),
      cmocka_unit_test(test_formulations_agree),
      cmocka_unit_test(test_result_is_complete),
      cmocka_unit_test(test_cheapest_step),
      cmocka_unit_test(test_fewest_iterations),
      cmocka_unit_test(test_own_netlist),
      cmocka_unit_test(test_own_system),
      cmocka_unit_test(test_figure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
