// Problems and runs for the tests of assessments. Failures end the test.
#ifndef YOKE_TEST_ASSESS_FIXTURE_H
#define YOKE_TEST_ASSESS_FIXTURE_H

#include "study/study_assess.h"
#include "support/check.h"

static inline yoke_assess_problem* load_problem(const char* name) {
  yoke_messages messages = {0};
  yoke_assess_problem* problem = NULL;
  const yoke_status status = yoke__assess_load(name, &messages, &problem);
  if (status < 0) {
    char text[1024] = "";
    yoke__messages_format(&messages, text, sizeof text);
    fail_msg("%s: %s", name, text);
  }
  yoke__messages_free(&messages);
  return problem;
}

// The defaults of a problem with a method, a step and a number of iterations.
static inline yoke_circuit_options configure(const yoke_assess_problem* problem,
                                             yoke_circuit_formulation formulation,
                                             yoke_circuit_method method, double step,
                                             int iterations) {
  yoke_circuit_options options = {.formulation = formulation};
  yoke__assess_defaults(problem, &options);
  options.method = method;
  options.step = step;
  options.iterations = iterations;
  return options;
}

static inline yoke_assess_result run_problem(const yoke_assess_problem* problem,
                                             yoke_circuit_options options,
                                             yoke_assess_effort effort) {
  yoke_assess_result result;
  check_ok(yoke__assess_run(problem, &options, &effort, &result));
  if (result.status < 0) {
    fail_msg("%s %s %s, step %g: %s", problem->name,
             yoke__circuit_formulation_names[options.formulation],
             yoke__circuit_method_names[options.method], options.step, result.reason);
  }
  return result;
}

static inline yoke_assess_result run_published(const yoke_assess_problem* problem,
                                               const yoke_assess_published* row,
                                               yoke_assess_effort effort) {
  yoke_circuit_options options;
  yoke__assess_published_options(problem, row, &options);
  return run_problem(problem, options, effort);
}

// Times of an instrumented or emulated program say nothing.
static inline bool is_time_meaningful(void) {
  const char* instruments = getenv("YOKE_SANITIZE");
  const char* program = getenv("YOKE_PROGRAM");
  return (instruments == NULL || instruments[0] == '\0') &&
         (program == NULL || strstr(program, "-emulated") == NULL);
}

#endif
