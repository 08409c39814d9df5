// Parts that float while diodes block, with capacitors beside which what decides about their level
// is nothing: 470 uF at 20 us are 2e6 S in a refresh and 50 S in a step, a blocking diode 1e-12 S.
#include "circuit/circuit_solver.h"
#include "circuit/netlist/circuit_netlist.h"
#include "support/check.h"

#define STEP    20e-6
#define N_STEPS 1500

static const char mains[] =
    "mains supply: bridge, smoothing capacitor, load; the source is grounded\n"
    ".param is=1e-14 c=470u leak=1e12\n"
    "V1 a 0 SIN(0 325 50)\n"
    "D1 a p dd\nD2 0 p dd\nD3 n a dd\nD4 n 0 dd\n"
    "C1 p n {c}\nRL p m 999\nRM m n 1\nRK p 0 {leak}\n"
    ".model dd D(IS={is} N=1 RS=0.05)\n.tran 20u 30m\n.end\n";

typedef struct trace {
  double across[N_STEPS], through[N_STEPS];
} trace;

static void run(const yoke_netlist_parameter parameters[], size_t n_parameters,
                yoke_circuit_formulation formulation, trace* to) {
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  yoke_circuit* circuit = NULL;
  yoke_probe across, through;
  const yoke_netlist_settings settings = {
      .path = "mains.cir", .parameters = parameters, .n_parameters = n_parameters};
  const yoke_circuit_options options = {
      .formulation = formulation, .step = STEP, .is_operating_point = true};
  check_ok(yoke__netlist_read_text(mains, strlen(mains), &settings, &messages, &network));
  check_ok(yoke__circuit_create(network, &options, &messages, &circuit));
  check_ok(yoke__circuit_start(circuit, 0.0, &messages));
  check_ok(yoke__network_find_probe(network, "v(p,n)", (yoke_place){0}, &messages, &messages.arena,
                                    &across));
  check_ok(yoke__network_find_probe(network, "i(v1)", (yoke_place){0}, &messages, &messages.arena,
                                    &through));
  for (int k = 0; k < N_STEPS; k++) {
    // as a unit does at every exchange
    if (formulation == YOKE_FORMULATION_NODAL) {
      check_ok(yoke__circuit_refresh(circuit));
    }
    check_ok(yoke__circuit_step(circuit));
    to->across[k] = yoke__circuit_probe(circuit, &across);
    to->through[k] = yoke__circuit_probe(circuit, &through);
  }
  yoke_circuit_counts counts;
  yoke__circuit_get_counts(circuit, &counts);
  assert_int_equal(counts.n_repivots, 0);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
  yoke__messages_free(&messages);
}

// Both formulations, to what the tolerance of the iterations leaves of 325 V and 50 A.
static void test_mains_supply(void** state) {
  (void)state;
  static trace nodal, dae;
  static const double is[] = {1e-11, 1e-14}, c[] = {47e-6, 470e-6, 4.7e-3}, leak[] = {1e12, 1e9};
  double worst_v = 0, worst_i = 0;
  for (size_t i = 0; i < 12; i++) {
    const yoke_netlist_parameter parameters[] = {
        {"is", is[i % 2]}, {"c", c[i / 2 % 3]}, {"leak", leak[i / 6]}};
    run(parameters, 3, YOKE_FORMULATION_NODAL, &nodal);
    run(parameters, 3, YOKE_FORMULATION_DAE, &dae);
    for (int k = 0; k < N_STEPS; k++) {
      worst_v = fmax(worst_v, fabs(nodal.across[k] - dae.across[k]));
      worst_i = fmax(worst_i, fabs(nodal.through[k] - dae.through[k]));
    }
    assert_true(nodal.across[N_STEPS - 1] > 250);
  }
  print_message("nodal against dae: %.1e V, %.1e A\n", worst_v, worst_i);
  assert_true(worst_v < 1e-6);
  assert_true(worst_i < 1e-5);
}

// Without a leak gmin alone holds the level: rounding moves it by more than the tolerance in every
// iteration of `dae`, and an iteration that has nothing else left is done (it ran to 50 in 1164 of
// 6000 stages, and said so).
static void test_iterations(void** state) {
  (void)state;
  static const double is[] = {1e-9, 1e-14}, c[] = {1e-6, 47e-6, 470e-6, 1e-3};
  for (size_t i = 0; i < 8; i++) {
    yoke_messages messages = {0};
    yoke_network* network = NULL;
    yoke_circuit* circuit = NULL;
    yoke_circuit_counts counts;
    char text[500];
    snprintf(text, sizeof text,
             "mains\nV1 a 0 SIN(0 325 50)\nD1 a p dd\nD2 0 p dd\nD3 n a dd\nD4 n 0 dd\nC1 p n %g\n"
             "RL p n 1k\n.model dd D(IS=%g N=1.8 RS=0.05)\n.tran 20u 30m\n",
             c[i / 2], is[i % 2]);
    const yoke_netlist_settings settings = {.path = "mains.cir"};
    const yoke_circuit_options options = {
        .formulation = YOKE_FORMULATION_DAE, .step = STEP, .is_operating_point = true};
    check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
    check_ok(yoke__circuit_create(network, &options, &messages, &circuit));
    check_ok(yoke__circuit_start(circuit, 0.0, &messages));
    for (int k = 0; k < N_STEPS; k++) {
      check_ok(yoke__circuit_step(circuit));
    }
    yoke__circuit_get_counts(circuit, &counts);
    print_message("is %g, c %g: %.2f iterations per stage, at most %u, %u not converged\n",
                  is[i % 2], c[i / 2], (double)counts.n_iterations / (double)counts.n_stages,
                  counts.max_iterations, (unsigned)counts.n_unconverged);
    assert_int_equal(counts.n_unconverged, 0);
    assert_true(counts.max_iterations <= 20);
    yoke__circuit_destroy(&circuit);
    yoke__network_destroy(&network);
    yoke__messages_free(&messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mains_supply),
                                     cmocka_unit_test(test_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
