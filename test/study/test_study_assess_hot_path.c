// CI-26: no heap call in the step loop of the assessment problems, and the same bytes every time.
#define _GNU_SOURCE

#include "study/assess_fixture.h"
#include "support/counting_heap.h"

#define N_STEPS 2000

static const char* const names[] = {"rlc", "ladder-2", "ladder-100", "rectifier", "pmsm"};
static const double steps[] = {2.5e-3, 2.5e-3, 2.5e-3, 1e-4, 0.5};
#define N_NAMES (sizeof names / sizeof names[0])

static yoke_circuit* start(const yoke_assess_problem* problem,
                           const yoke_circuit_options* options) {
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  check_ok(yoke__circuit_create(problem->network, options, &messages, &circuit));
  check_ok(yoke__circuit_start(circuit, 0, &messages));
  yoke__messages_free(&messages);
  return circuit;
}

// every problem, method, and both ways to iterate
static void for_each(void (*run)(const yoke_assess_problem*, const yoke_circuit_options*)) {
  for (size_t i = 0; i < N_NAMES; i++) {
    yoke_assess_problem* problem = load_problem(names[i]);
    for (int f = YOKE_FORMULATION_NODAL; f <= YOKE_FORMULATION_DAE; f++) {
      for (int m = YOKE_CIRCUIT_TRBDF2; m <= YOKE_CIRCUIT_ESDIRK4; m++) {
        for (int iterations = 0; iterations <= 4; iterations += 4) {
          yoke_circuit_options options = configure(problem, (yoke_circuit_formulation)f,
                                                   (yoke_circuit_method)m, steps[i], iterations);
          options.is_refactored = iterations > 0;
          run(problem, &options);
        }
      }
    }
    yoke__assess_destroy(&problem);
  }
}

static void count_calls(const yoke_assess_problem* problem, const yoke_circuit_options* options) {
  yoke_circuit* circuit = start(problem, options);
  const long before = atomic_load(&n_heap_calls);
  yoke_status status = YOKE_OK;
  double sum = 0;
  for (int k = 0; status >= 0 && k < N_STEPS; k++) {
    status = yoke__circuit_step(circuit);
    for (size_t i = 0; i < problem->n_monitors; i++) {
      sum += yoke__circuit_probe(circuit, &problem->monitors[i].probe);
    }
  }
  const long n = atomic_load(&n_heap_calls) - before;
  if (status < 0 || n != 0 || !isfinite(sum)) {
    fail_msg("%s %s %s, %d iterations: %ld heap calls, status %d (%s)", problem->name,
             yoke__circuit_formulation_names[options->formulation],
             yoke__circuit_method_names[options->method], options->iterations, n, (int)status,
             yoke__circuit_reason(circuit)->text);
  }
  yoke__circuit_destroy(&circuit);
}

static void test_no_heap_call_CI_26(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  for_each(count_calls);
  check_heap_is_counted();
}

// All monitors of a run of n steps, from the first step on.
static void trace(yoke_circuit* circuit, const yoke_assess_problem* problem, int n, double to[]) {
  for (int k = 0; k < n; k++) {
    check_ok(yoke__circuit_step(circuit));
    for (size_t i = 0; i < problem->n_monitors; i++) {
      *to++ = yoke__circuit_probe(circuit, &problem->monitors[i].probe);
    }
  }
}

// a second circuit, and the first one after going back, give the same bytes
static void repeat(const yoke_assess_problem* problem, const yoke_circuit_options* options) {
  enum { N = 300, HALF = 150 };
  const size_t n = N * problem->n_monitors, half = HALF * problem->n_monitors;
  double* first = calloc(n, sizeof *first);
  double* second = calloc(n, sizeof *second);
  yoke_circuit* a = start(problem, options);
  yoke_circuit* b = start(problem, options);
  void* image = calloc(1, yoke__circuit_image_size(a));
  if (first == NULL || second == NULL || image == NULL) {
    fail_msg("out of memory");
    return;
  }
  trace(a, problem, HALF, first);
  yoke__circuit_save(a, image);
  trace(a, problem, N - HALF, first + half);
  trace(b, problem, N, second);
  bool is_same = memcmp(first, second, n * sizeof *first) == 0;
  yoke__circuit_restore(a, image);
  trace(a, problem, N - HALF, second + half);
  const bool is_same_after = memcmp(first, second, n * sizeof *first) == 0;
  if (!is_same || !is_same_after) {
    fail_msg("%s %s %s, %d iterations: %s", problem->name,
             yoke__circuit_formulation_names[options->formulation],
             yoke__circuit_method_names[options->method], options->iterations,
             is_same ? "other bytes after a restore" : "two runs give different bytes");
  }
  free(image);
  free(first);
  free(second);
  yoke__circuit_destroy(&a);
  yoke__circuit_destroy(&b);
}

static void test_same_bytes_every_time_CI_26(void** state) {
  (void)state;
  for_each(repeat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_heap_call_CI_26),
      cmocka_unit_test(test_same_bytes_every_time_CI_26),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
