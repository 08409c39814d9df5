// Random networks against ngspice and SUNDIALS IDA: all 200 linear ones and 200 with diodes, with every method of both
// formulations that can run them. How differences are judged is in oracle/oracle_case.h.
#include "circuit/oracle/oracle_case.h"
#include "support/check.h"

enum { N_NETWORKS = 200 };

static const oracle_method methods[] = {
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_TRBDF2, 2},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_TR, 2},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_BDF1, 1},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_BDF2, 2},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_BDF3, 2},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_ESDIRK3, 3},
    {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_ESDIRK4, 3},
    {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TRBDF2, 2},
    {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TR, 2},
    {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TRNP, 2},
    {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_BDF3, 2},
    {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_ESDIRK4, 3},
};

static void check_networks(uint64_t first_seed, bool has_diodes, const char* title) {
  const oracle_settings settings = {.methods = methods,
                                    .n_methods = sizeof methods / sizeof methods[0],
                                    .n_halvings = 4,
                                    .n_ngspice_halvings = 5,
                                    .n_networks = N_NETWORKS};
  oracle_check(first_seed, has_diodes, title, &settings);
}

static void test_linear(void** state) {
  (void)state;
  check_networks(2000, false, "linear networks");
}

static void test_diodes(void** state) {
  (void)state;
  check_networks(6000, true, "networks with diodes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_diodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
