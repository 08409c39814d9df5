// The longest published runs: BDF1 at high precision, up to 4e7 steps (CI-15, CI-20), and the
// ladder of 5000 loops (CI-10).
#include "circuit/circuit_solver.h"
#include "support/check.h"
#include "support/circuits.h"

static circuits_result run_bdf1(const circuits_problem* p, double h, int gamma,
                                yoke_circuit_startup startup) {
  const yoke_circuit_options options = {.formulation = YOKE_FORMULATION_DAE,
                                        .method = YOKE_CIRCUIT_BDF1,
                                        .startup = startup,
                                        .step = h,
                                        .iterations = gamma};
  const circuits_result result = circuits_run(p, &options);
  check_ok(result.status);
  print_message("%s bdf1 h = %g s: %.3e, %.3e in %.1f s\n", p->name, h, result.v, result.i,
                result.seconds);
  check_between(result.v, 0, p->high[0]);
  check_between(result.i, 0, p->high[1]);
  return result;
}

// published 3.0 uV, 6.3 uA
static void test_rlc_CI_20(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_RLC, 0);
  const circuits_result result = run_bdf1(&p, 2.5e-7, 1, YOKE_STARTUP_CONST);
  check_near(result.v, 3.0e-6, 0.05e-6);
  check_near(result.i, 6.3e-6, 0.05e-6);
  circuits_close(&p);
}

// published 1.5 uV, 6.5 uA
static void test_ladder_CI_20(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_LADDER, 2);
  const circuits_result result = run_bdf1(&p, 2.5e-7, 1, YOKE_STARTUP_CONST);
  check_near(result.v, 1.5e-6, 0.05e-6);
  check_near(result.i, 6.5e-6, 0.05e-6);
  circuits_close(&p);
}

// published 0.3 uV, 4.7 uA (un-swapped)
static void test_rectifier_CI_20(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_RECTIFIER, 0);
  const circuits_result result = run_bdf1(&p, 1e-7, 1, YOKE_STARTUP_TR_XI);
  check_near(result.v, 0.3e-6, 0.05e-6);
  check_near(result.i, 4.7e-6, 0.05e-6);
  circuits_close(&p);
}

static void test_pmsm_CI_15(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_PMSM, 0);
  const circuits_result result = run_bdf1(&p, 2.5e-3, 2, YOKE_STARTUP_TR_XI);
  check_relative(result.i, 0.0849, 0.01);
  circuits_close(&p);
}

static void test_ladder_of_5000_CI_10(void** state) {
  (void)state;
  yoke_network* network = circuits_ladder(5000);
  const yoke_circuit_options options = {
      .formulation = YOKE_FORMULATION_DAE, .method = YOKE_CIRCUIT_TR, .step = 2.5e-3};
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 400);
  check_near(circuits_voltage(circuit, network, "4"), -1.711763778, 1e-6);
  check_near(circuits_current(circuit, network, "L1"), -3.872353463, 1e-6);
  double* sums = calloc(network->n_nodes, sizeof *sums);
  assert_non_null(sums);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    sums[network->elements[e].a] -= yoke__circuit_current(circuit, e);
    sums[network->elements[e].b] += yoke__circuit_current(circuit, e);
  }
  double sum = 0;
  for (uint32_t v = 1; v < network->n_nodes; v++) {
    sum += sums[v] * sums[v];
  }
  check_between(sqrt(sum), 0, 1e-8);
  free(sums);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ladder_of_5000_CI_10), cmocka_unit_test(test_rlc_CI_20),
      cmocka_unit_test(test_ladder_CI_20),         cmocka_unit_test(test_rectifier_CI_20),
      cmocka_unit_test(test_pmsm_CI_15),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
