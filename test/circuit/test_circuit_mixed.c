// Netlists that mix what is hard together: heat and electricity in one small matrix, a diode that blocks a coil, laws
// that are not defined at 0 V. Two formulations, or a closed form, must agree.
#include "circuit/circuit_solver.h"
#include "circuit/netlist/circuit_netlist.h"
#include "support/check.h"

// The value of a probe at the end of the netlist's .tran.
static double end_value(const char* text, const yoke_circuit_options* wanted,
                        const char* probe_text, uint64_t* n_unconverged) {
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  yoke_circuit* circuit = NULL;
  yoke_probe probe;
  const yoke_netlist_settings settings = {.path = "mixed.cir"};
  check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
  yoke_circuit_options options = *wanted;
  options.is_operating_point = !network->run.is_uic;
  check_ok(yoke__circuit_create(network, &options, &messages, &circuit));
  check_ok(yoke__circuit_start(circuit, 0.0, &messages));
  const uint64_t n = (uint64_t)(network->run.stop / options.step + 0.5);
  for (uint64_t k = 0; k < n; k++) {
    check_ok(yoke__circuit_step(circuit));
  }
  check_ok(yoke__network_find_probe(network, probe_text, (yoke_place){0}, &messages,
                                    &messages.arena, &probe));
  const double value = yoke__circuit_probe(circuit, &probe);
  yoke_circuit_counts counts;
  yoke__circuit_get_counts(circuit, &counts);
  *n_unconverged = counts.n_unconverged;
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
  yoke__messages_free(&messages);
  return value;
}

// A heat capacity over a microsecond is 1e9 W/K in the matrix, beside 10 Ohm.
static void test_heat_beside_electricity(void** state) {
  (void)state;
  const char* text = "RL and heat\n"
                     "V1 a 0 SIN(0 50 300)\n"
                     "L1 a b 1m\n"
                     "R1 b 0 10\n"
                     "heat_source Q1 j {p(R1)}\n"
                     "heat_capacity C1 j 1000 J/K T0=300\n"
                     "thermal_resistance Rt j amb 2\n"
                     "temperature_source Ta amb 300\n"
                     ".tran 1u 5m uic\n";
  uint64_t n_nodal = 0;
  uint64_t n_dae = 0;
  yoke_circuit_options options = {.step = 1e-6};
  const double nodal = end_value(text, &options, "i(l1)", &n_nodal);
  options.formulation = YOKE_FORMULATION_DAE;
  const double dae = end_value(text, &options, "i(l1)", &n_dae);
  check_relative(nodal, dae, 1e-9);
  assert_int_equal(n_nodal, 0);
  assert_int_equal(n_dae, 0);
}

// The projection must not pull the rate of a coil away from v/L: TR with it is TR without it.
static void test_projection_behind_a_diode(void** state) {
  (void)state;
  const char* text = "trafo rectifier\n"
                     ".model dd D(IS=1e-12 RS=0.02)\n"
                     "V1 in 0 SIN(0 24 100k)\n"
                     "R1 in d 1\n"
                     "Lp d 0 100u\n"
                     "Ls s 0 25u\n"
                     "K1 Lp Ls 0.99\n"
                     "D1 s out dd\n"
                     "C1 out 0 100u ic=5\n"
                     "R2 out 0 5\n"
                     ".tran 50n 90u uic\n";
  uint64_t n = 0;
  yoke_circuit_options options = {
      .formulation = YOKE_FORMULATION_DAE, .method = YOKE_CIRCUIT_TR, .step = 50e-9};
  const double with = end_value(text, &options, "v(out)", &n);
  options.method = YOKE_CIRCUIT_TRNP;
  const double without = end_value(text, &options, "v(out)", &n);
  options.step = 25e-9;
  const double finer = end_value(text, &options, "v(out)", &n);
  print_message("with %.9g V, without %.9g V, half the step %.9g V\n", with, without, finer);
  // less than what the step itself does
  check_near(with, without, 0.1 * fabs(without - finer));
}

// A load of constant power: v^2 - 400 v + 0.1 1000 = 0 at rest.
static void test_law_without_value_at_zero(void** state) {
  (void)state;
  const double rest = 200.0 + sqrt(200.0 * 200.0 - 100.0);
  const char* const starts[] = {" IC=400", ""};
  const char* const runs[] = {" uic", ""};
  for (size_t i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "constant power\nV1 in 0 400\nR1 in dc 0.1\nC1 dc 0 1m%s\n"
             "B1 dc 0 I=1000/v(dc)\n.tran 10u 5m%s\n",
             starts[i], runs[i]);
    for (int formulation = 0; formulation < 2; formulation++) {
      uint64_t n = 0;
      const yoke_circuit_options options = {.formulation = (yoke_circuit_formulation)formulation,
                                            .step = 1e-5};
      // 50 time constants of 0.1 ms
      check_relative(end_value(text, &options, "v(dc)", &n), rest, 1e-9);
      assert_int_equal(n, 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heat_beside_electricity),
      cmocka_unit_test(test_projection_behind_a_diode),
      cmocka_unit_test(test_law_without_value_at_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
